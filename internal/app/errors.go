package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Kind classifies a refusal; callers act on it.
type Kind string

// The closed list of kinds.
const (
	KindInvalid      Kind = "invalid"      // the input breaks a rule
	KindNotFound     Kind = "not_found"    // no such thing
	KindUnauthorized Kind = "unauthorized" // the credential is not good here; the reason is never said
	KindForbidden    Kind = "forbidden"    // the credential is good here, but not for this
	KindConflict     Kind = "conflict"     // it exists already, or was changed meanwhile
	KindRefused      Kind = "refused"      // the state of the publisher or the registry does not allow it
	KindLimit        Kind = "limit"        // a quota or a rate
	KindUnavailable  Kind = "unavailable"  // something could not be reached or read; trying again may help
)

// kinds is the one table from kinds to what a caller sees: HTTP status of the admin API and exit code of the command line.
var kinds = map[Kind]struct{ status, exit int }{
	KindInvalid:      {http.StatusBadRequest, 1},
	KindNotFound:     {http.StatusNotFound, 3},
	KindUnauthorized: {http.StatusUnauthorized, 4},
	KindForbidden:    {http.StatusForbidden, 4},
	KindConflict:     {http.StatusConflict, 4},
	KindRefused:      {http.StatusConflict, 4},
	KindLimit:        {http.StatusTooManyRequests, 4},
	KindUnavailable:  {http.StatusServiceUnavailable, 5},
}

// Status is the HTTP status of a kind.
func (k Kind) Status() int { return kinds[k].status }

// ExitCode is the exit code of a kind: 1 failed, 3 not found, 4 refused, 5 unavailable.
func (k Kind) ExitCode() int { return kinds[k].exit }

// Error is every refusal of this package. Code is for machines, Message for people; Next says what to do and may be "". None of them holds internals,
// secrets, or anything about another publisher.
type Error struct {
	Kind       Kind
	Code       string
	Message    string
	Next       string
	RetryAfter time.Duration // for KindLimit and KindUnavailable, 0 when waiting does not help
	cause      error         // for the log; errors.Is finds it
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns what the refusal followed from, for the log and for context.Canceled.
func (e *Error) Unwrap() error { return e.cause }

// AsError finds the refusal in an error. Anything else, which would be a fault of the program, becomes KindUnavailable with code internal.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e := (*Error)(nil); errors.As(err, &e) {
		return e
	}
	return &Error{Kind: KindUnavailable, Code: "internal", Message: "an internal fault; the log has the cause", RetryAfter: retryAfter, cause: err}
}

const retryAfter = 5 * time.Second

func refusal(kind Kind, code, format string, args ...any) *Error {
	return &Error{Kind: kind, Code: code, Message: fmt.Sprintf(format, args...)}
}

func invalid(code, format string, args ...any) *Error {
	return refusal(KindInvalid, code, format, args...)
}

func (e *Error) next(format string, args ...any) *Error {
	e.Next = fmt.Sprintf(format, args...)
	return e
}

// unauthorized is one value for every reason, so that the answer discloses none.
func unauthorized() *Error {
	return refusal(KindUnauthorized, "unauthorized", "the credential is not good here")
}

func unknownPublisher() *Error {
	return refusal(KindNotFound, "unknown_publisher", "no publisher has this name").next("list the publishers, or create it")
}

// storeError passes refusals through and turns everything else a store says into unavailable.
func storeError(err error) error {
	var e *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		e = refusal(KindUnavailable, "interrupted", "the act was interrupted; ask for the state before trying again")
	case errors.Is(err, ErrNewerSchema):
		e = refusal(KindUnavailable, "newer_schema", "%v", ErrNewerSchema).next("run the newer version")
	default:
		e = refusal(KindUnavailable, "store_unavailable", "the database could not be used; nothing was changed")
	}
	e.RetryAfter, e.cause = retryAfter, err
	return e
}
