package interest

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"time"
)

// State is the state of an interest (§17.1).
type State string

// The states.
const (
	Draft      State = "DRAFT"
	Active     State = "ACTIVE"
	Suspended  State = "SUSPENDED"
	Expired    State = "EXPIRED"
	Revoked    State = "REVOKED"
	Superseded State = "SUPERSEDED"
)

// Change is what happens to an interest.
type Change string

// The changes. Expire is a tick on the validity.
const (
	Activate  Change = "activate"
	Suspend   Change = "suspend"
	Resume    Change = "resume"
	Expire    Change = "expire"
	Revoke    Change = "revoke"
	Supersede Change = "supersede"
	Continue  Change = "continue" // supersede, and sessions go on under the new version
)

// Duty is what a change obliges to, in the order in which it is done (K11).
type Duty string

// The duties. Withdrawals are retried until they are acknowledged; sessions that are directed to go on are left open.
const (
	WithdrawProjections Duty = "withdraw_projections"
	CloseSessions       Duty = "close_sessions"
	DiscardInbox        Duty = "discard_inbox"
	PublishAnew         Duty = "publish_anew" // with new ids and endpoints
)

// Errors of a change.
var (
	ErrNoTransition = errors.New("this interest cannot change like that in the state it is in")
	ErrUnconfirmed  = errors.New("an inferred interest is confirmed by its Principal before it becomes active")
	ErrNotValid     = errors.New("the interest is outside of its validity")
)

// Next is the transition of an interest. It returns what has to be done, in order.
func (i *Interest) Next(from State, c Change, now time.Time) (State, []Duty, error) {
	leave := []Duty{WithdrawProjections, CloseSessions, DiscardInbox}
	switch {
	case c == Activate && from == Draft, c == Resume && from == Suspended:
		switch {
		case i.Origin != Stated && !i.Confirmed:
			return from, nil, ErrUnconfirmed
		case now.Before(i.NotBefore) || !now.Before(i.ExpiresAt):
			return from, nil, ErrNotValid
		case c == Resume:
			return Active, []Duty{PublishAnew}, nil
		}
		return Active, nil, nil
	case c == Suspend && from == Active:
		return Suspended, leave, nil
	case c == Expire && (from == Active || from == Suspended || from == Draft):
		if now.Before(i.ExpiresAt) {
			return from, nil, ErrNoTransition
		}
		return Expired, duties(from, leave), nil
	case c == Revoke && (from == Active || from == Suspended || from == Draft):
		return Revoked, duties(from, leave), nil
	case c == Supersede && (from == Active || from == Suspended || from == Draft):
		return Superseded, duties(from, leave), nil
	case c == Continue && from == Active:
		return Superseded, []Duty{WithdrawProjections}, nil
	}
	return from, nil, ErrNoTransition
}

// ErrOther says that no session can go on under a version.
var ErrOther = errors.New("a session was opened for one profile, action and object of one principal, and goes on under a version with the same")

// Continues refuses a version under which the sessions of an earlier one cannot go on.
func (i *Interest) Continues(old *Interest) error {
	if i.Profile != old.Profile || i.Wants.Action != old.Wants.Action || i.Wants.Object != old.Wants.Object || i.PrincipalRef != old.PrincipalRef {
		return ErrOther
	}
	return nil
}

// Changed lists the keys behind which another version has another value, a value where there was none, none any more, or the same in other places, in order.
func (i *Interest) Changed(old *Interest) []string {
	var out []string
	for _, key := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(i.keys(), old.keys())))) {
		a, held := i.Value(key)
		b, also := old.Value(key)
		if held != also || !bytes.Equal(a, b) || !maps.Equal(i.Placements[key], old.Placements[key]) {
			out = append(out, key)
		}
	}
	return out
}

// duties of leaving a state: only what is active has projections and sessions.
func duties(from State, leave []Duty) []Duty {
	if from == Active {
		return leave
	}
	return nil
}
