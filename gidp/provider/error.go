package provider

import "time"

// Code classifies a refusal.
type Code string

// The refusals.
const (
	CodeMalformed Code = "malformed" // the request cannot be read
	CodeRefused   Code = "refused"   // a readable projection that this provider does not hold (P-4)
	CodeBroad     Code = "too_broad" // a query that names nothing below the root of a hierarchy (P-8)
	CodeUnknown   Code = "unknown"   // nothing under this reference that this key may use
	CodeStale     Code = "stale"     // a cursor or candidate reference that is not the caller's or no longer valid: query again
	CodeQuota     Code = "quota"     // asked too often; RetryAfter says when it works again (P-10)
	CodeBanned    Code = "banned"    // the key or the network is shut out for abuse
	CodeBehind    Code = "behind"    // this replica may not know the latest withdrawals and answers nothing until it does (P-5)
	CodeInternal  Code = "internal"  // no randomness
)

// Error is a refusal: what, where, and what helps. Its text repeats nothing of the request.
type Error struct {
	Code       Code
	Place      string // member, as projection/endpoint; "" for the whole
	Detail     string // one sentence fragment
	RetryAfter time.Duration
	cause      error
}

// Error reads "refused at projection/endpoint: not an https URL".
func (e *Error) Error() string {
	text := string(e.Code)
	if e.Place != "" {
		text += " at " + e.Place
	}
	return text + ": " + e.Detail
}

// Unwrap returns what a lower layer said.
func (e *Error) Unwrap() error { return e.cause }

func refuse(code Code, place, detail string) *Error {
	return &Error{Code: code, Place: place, Detail: detail}
}
