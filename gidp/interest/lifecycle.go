package interest

import (
	"errors"
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
	}
	return from, nil, ErrNoTransition
}

// duties of leaving a state: only what is active has projections and sessions.
func duties(from State, leave []Duty) []Duty {
	if from == Active {
		return leave
	}
	return nil
}
