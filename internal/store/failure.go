package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"sayso/internal/app"
)

// Class sorts what engines report by what a caller can do about it.
type Class int

// The classes. Conflict, Busy and Lost are worth another attempt; the text of each is what people read.
const (
	Other    Class = iota
	Conflict       // another transaction came first
	Busy           // another process holds the write lock
	Lost           // the connection broke, or the server is not up
	Missing        // a row that must exist does not
	Full
	Damaged
	IO
	Stopped // the context ended
)

var sentences = map[Class]string{
	Other:    "the database did not accept it; the log has its words",
	Conflict: "other writers came first each time; try again",
	Busy:     "another process kept the database locked; try again",
	Lost:     "the database cannot be reached",
	Missing:  "what it belongs to does not exist",
	Full:     "the disk is full; make room and try again",
	Damaged:  "the database is damaged; stop the server and restore a backup",
	IO:       "the disk reported an error",
	Stopped:  "it was cancelled",
}

// Failure is a database that could not be used. Its text is fit for people outside: it says what could not be done and why, and holds no SQL, address or
// file name. Detail holds what the engine said.
type Failure struct {
	What  string
	Class Class
	Cause error
}

func (f *Failure) Error() string { return f.What + ": " + sentences[f.Class] }

// Detail is the text for the log: what the engine said.
func (f *Failure) Detail() string { return fmt.Sprintf("%s: %v", f.What, f.Cause) }

// Unwrap gives the cause, and app.ErrNotFound where a reference points at nothing.
func (f *Failure) Unwrap() []error {
	if f.Class == Missing {
		return []error{app.ErrNotFound, f.Cause}
	}
	return []error{f.Cause}
}

// Fail makes the failure of one step. An error after the end of ctx is the end of ctx, whatever the engine made of it.
func Fail(ctx context.Context, what string, err error, classify func(error) Class) *Failure {
	if stop := ctx.Err(); stop != nil {
		return &Failure{What: what, Class: Stopped, Cause: fmt.Errorf("%w (%w)", stop, err)}
	}
	return &Failure{What: what, Class: classify(err), Cause: err}
}

// again reports whether a new attempt may succeed where this error came from the database.
func again(err error) bool {
	var f *Failure
	return errors.As(err, &f) && (f.Class == Conflict || f.Class == Busy || f.Class == Lost)
}

const (
	firstPause = 2 * time.Millisecond
	lastPause  = 60 * time.Millisecond
)

// Retry runs attempt until it succeeds, fails for good, or has run attempts times. Pauses double and are drawn at random, so that two losers do not meet
// again. attempt says whether its error came from the database; only such an error is a reason to run again.
func Retry(ctx context.Context, attempts int, attempt func() (fromDatabase bool, err error)) error {
	pause := firstPause
	for n := 1; ; n++ {
		fromDatabase, err := attempt()
		if err == nil || !fromDatabase || !again(err) || n == attempts {
			return err
		}
		select {
		case <-ctx.Done():
			return &Failure{What: "wait for the database", Class: Stopped, Cause: fmt.Errorf("%w (%w)", ctx.Err(), err)}
		case <-time.After(rand.N(pause) + firstPause/2):
		}
		pause = min(2*pause, lastPause)
	}
}
