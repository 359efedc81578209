package store

import (
	"context"
	"crypto/rand"
	"time"
)

// NewOperation draws the identity of an act that has none of its own.
func NewOperation() string { return rand.Text() }

// Act is one run of the function given to Update within an open transaction. operation "" records none.
type Act struct {
	Operation string
	Own       bool // the store drew the operation
	Run       func(*Writer) error
}

// Do runs an act. When it returns nil the caller commits, unless done says that the operation was committed before. fromDatabase is what Retry asks for.
func (a *Act) Do(ctx context.Context, s Session) (done, fromDatabase bool, err error) {
	w := NewWriter(s)
	if a.Operation != "" {
		if done, err := w.Begin(ctx, a.Operation, a.Own, time.Now()); done || err != nil {
			return done, true, err
		}
	}
	err = a.Run(w)
	// A failed statement decides, even where the function swallowed it or made another error of it: the transaction is lost.
	if failed := w.Failed(); failed != nil && (err == nil || again(failed)) {
		return false, true, failed
	}
	if err != nil {
		return false, false, err
	}
	return false, true, w.Finish(ctx)
}
