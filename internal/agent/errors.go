package agent

import (
	"context"
	"errors"
	"fmt"

	"sayso/gidp/interest"
	"sayso/internal/agent/durable"
	"sayso/internal/app"
	"sayso/internal/vault"
)

// refuse makes a refusal. None of its parts may hold a private value or text of a peer.
func refuse(kind app.Kind, code, message, next string) *app.Error {
	return &app.Error{Kind: kind, Code: code, Message: message, Next: next}
}

// fault is a refusal together with what it followed from, for the log and for errors.Is.
type fault struct {
	refusal *app.Error
	cause   error
}

func (f *fault) Error() string { return f.refusal.Message }

func (f *fault) Unwrap() []error { return []error{f.refusal, f.cause} }

func because(e *app.Error, cause error) error { return &fault{e, cause} }

func unknownInterest() error {
	return refuse(app.KindNotFound, "unknown_interest", "no interest has this id", "list the interests: sayso interest list")
}

// outward turns an error into what a caller sees. Refusals pass; what a store or the vault says becomes a sentence of ours with the cause behind it.
func outward(err error) error {
	var e *app.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return because(refuse(app.KindUnavailable, "interrupted", "the act was interrupted", "ask for the state before trying again"), err)
	case errors.Is(err, vault.ErrProfile):
		return because(refuse(app.KindRefused, "unknown_profile", vault.ErrProfile.Error(), "load the profile and try again"), err)
	case errors.Is(err, vault.ErrSeal):
		return because(refuse(app.KindUnavailable, "not_readable", "what is kept does not open with the keys of this data folder", "use the keys folder that belongs to the database, or restore both from one backup"), err)
	case errors.Is(err, interest.ErrNoTransition):
		return because(refuse(app.KindRefused, "wrong_state", interest.ErrNoTransition.Error(), "look at its state: sayso interest list"), err)
	case errors.Is(err, interest.ErrUnconfirmed):
		return because(refuse(app.KindRefused, "unconfirmed", interest.ErrUnconfirmed.Error(), "read it and confirm it: sayso interest confirm ID"), err)
	case errors.Is(err, interest.ErrNotValid):
		return because(refuse(app.KindRefused, "not_valid_now", interest.ErrNotValid.Error(), "supersede it by a version that is valid now: sayso interest supersede ID FILE"), err)
	case errors.Is(err, interest.ErrNothing):
		return because(refuse(app.KindRefused, "nothing_public", interest.ErrNothing.Error(), "supersede it by a version that lets something coarse appear"), err)
	case errors.Is(err, interest.ErrNotAllowed):
		return because(refuse(app.KindRefused, "not_permitted", interest.ErrNotAllowed.Error(), "supersede it by a version with another authority"), err)
	case errors.Is(err, durable.ErrNotFound):
		return because(refuse(app.KindNotFound, "not_found", "nothing is kept under this id", ""), err)
	}
	return because(refuse(app.KindUnavailable, "store_unavailable", "the database could not be used; nothing was changed", "try again; sayso doctor looks at it"), err)
}

// inside says where an error of the inside came from, for the log.
func inside(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
