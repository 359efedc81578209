package proof

import "time"

// The states of a proof. A lapsed one is history: its token is never accepted again.
const (
	Pending = "pending"
	Proven  = "proven"
	Lapsed  = "lapsed"
)

const (
	// Validity is how long one successful check proves a host.
	Validity = 90 * 24 * time.Hour
	// graceDays is how many days with a counted failure end a proof.
	graceDays = 3
	day       = 24 * time.Hour
)

// State is what is remembered about one attempt.
type State struct {
	Status       string
	TokenExpires time.Time // of the token, for the first proof
	VerifiedAt   time.Time // newest successful check; zero while pending
	ValidUntil   time.Time
	NextCheck    time.Time // when the registry looks again by itself; zero: never
	FailedDays   int       // days with a counted failure since the newest success
	LastFailure  time.Time // newest failure that was counted as a day
}

// NewState is the state of a challenge made at now.
func NewState(now time.Time) State {
	return State{Status: Pending, TokenExpires: now.Add(TokenLife)}
}

// Until is when the token of this attempt stops being accepted: the life of the token before it is proven, valid_until afterwards, and the zero time once
// it has lapsed. A token that is published again after a lapse proves nothing; the domain may have another owner now.
func (s State) Until() time.Time {
	switch s.Status {
	case Pending:
		return s.TokenExpires
	case Proven:
		return s.ValidUntil
	}
	return time.Time{}
}

// After returns the state after a check at now that ended with f, nil for success.
//
// A success holds for Validity and is checked again at half of it. A failure of a proven host is looked at again a day later; failures that count are
// counted once in 24 hours, whoever asked for the check, and the third such day is the lapse. A failure that does not count neither adds to them nor takes
// any back. Nothing keeps a proof beyond its valid_until. A failure before the first success changes nothing: the business tries again.
func (s State) After(f *Failure, now time.Time) State {
	s = s.At(now)
	switch {
	case s.Status == Lapsed, !now.Before(s.Until()):
		return s
	case f == nil:
		return State{Status: Proven, TokenExpires: s.TokenExpires, VerifiedAt: now, ValidUntil: now.Add(Validity), NextCheck: now.Add(Validity / 2)}
	case s.Status == Pending:
		return s
	}
	if f.Counts && (s.LastFailure.IsZero() || now.Sub(s.LastFailure) >= day) {
		s.FailedDays++
		s.LastFailure = now
		if s.FailedDays >= graceDays {
			return s.lapse()
		}
	}
	// A check that the business asked for between two of ours does not put ours off.
	if next := earlier(now.Add(day), s.ValidUntil); !s.NextCheck.After(now) || next.Before(s.NextCheck) {
		s.NextCheck = next
	}
	return s
}

// At returns the state at now without a check: a proof whose valid_until has passed is lapsed.
func (s State) At(now time.Time) State {
	if s.Status == Proven && !now.Before(s.ValidUntil) {
		return s.lapse()
	}
	return s
}

// lapse ends a proof and keeps its history.
func (s State) lapse() State {
	s.Status, s.NextCheck = Lapsed, time.Time{}
	return s
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
