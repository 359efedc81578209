package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"sayso/internal/store"
)

// A transaction takes at most batchActs acts and begins none after batchTime, so that none waits long for the commit of another.
const (
	batchActs = 128
	batchTime = 20 * time.Millisecond
)

// batch runs short acts one after the other, those that wait for each other in one transaction: they share one wait for the disk. Each act is told that it
// is durable, or that it is not, when the commit is over; an act that fails is undone alone. It has a connection of its own, made for the first act, whose
// statements are read once: reading one takes as long as running it.
type batch struct {
	path    string
	waiting atomic.Int64 // acts that came and did not begin: the last of them commits

	running sync.Mutex // held by one act; guards what follows
	conn    *lasting   // nil before the first act
	open    *shared
	closed  bool
}

// shared is one transaction of several acts.
type shared struct {
	acts  int // that succeeded
	began time.Time
	lost  error         // why the transaction is no longer there
	done  chan struct{} // closed after err is set
	err   error
}

// errShared makes an act run again after the transaction was lost through another one.
var errShared = errors.New("the transaction ended with another act")

func (b *batch) exec(query string) error {
	_, err := b.conn.exec(query)
	return err
}

// connect makes the connection unless it is there.
func (b *batch) connect() (err error) {
	if b.conn != nil {
		return nil
	}
	// What a savepoint may take back is a few pages: they need no file of their own.
	b.conn, err = connect(b.path, "_pragma=temp_store(MEMORY)", fmt.Sprintf("_pragma=journal_size_limit(%d)", walLimit))
	return err
}

// drop ends the connection, and with it whatever was open on it; the next act makes a new one.
func (b *batch) drop() error {
	if b.conn == nil {
		return nil
	}
	conn := b.conn
	b.conn = nil
	return conn.close()
}

// close waits for the act under way and commits what succeeded. An act that comes later finds the batch closed.
func (b *batch) close() error {
	b.running.Lock()
	defer b.running.Unlock()
	b.closed = true
	if b.open != nil {
		b.finish(b.open)
	}
	return b.drop()
}

// run runs an act and returns when it is durable or has failed; fromDatabase is what store.Retry asks for. An act that was lost through another one, which
// will not be there again, runs again at once.
func (b *batch) run(ctx context.Context, act func(*session) (fromDatabase bool, err error)) (fromDatabase bool, err error) {
	for range batchActs {
		if fromDatabase, err = b.once(ctx, act); !errors.Is(err, errShared) {
			break
		}
	}
	return fromDatabase, err
}

func (b *batch) once(ctx context.Context, act func(*session) (bool, error)) (fromDatabase bool, err error) {
	if err := ctx.Err(); err != nil {
		return true, store.Fail(ctx, "begin to write", err, classify)
	}
	b.waiting.Add(1)
	b.running.Lock()
	b.waiting.Add(-1)
	t, fromDatabase, err := b.join(ctx, act)
	if t == nil {
		return fromDatabase, err
	}
	// What an act said, an error too, may rest on what acts before it wrote: it is true when they are durable.
	<-t.done
	if t.err != nil {
		return true, t.err
	}
	return fromDatabase, err
}

// join runs an act in the transaction under way, or in a new one, and commits when no other act waits; it returns the transaction that the answer rests on. It
// is entered with the lock and gives it back, also when the act panics.
func (b *batch) join(ctx context.Context, act func(*session) (bool, error)) (_ *shared, fromDatabase bool, err error) {
	defer b.running.Unlock()
	t, err := b.begin()
	if err != nil {
		return nil, true, store.Fail(ctx, "begin to write", err, classify)
	}
	defer b.settle(t)
	kept := false
	defer func() {
		if !kept {
			b.undo(t)
		}
	}()
	if t.acts > 0 {
		if err := b.mark(t, "SAVEPOINT act"); err != nil {
			return nil, true, store.Fail(ctx, "begin to write", err, classify)
		}
	}
	if fromDatabase, err = act(&session{lasting: b.conn}); err != nil {
		if t.acts == 0 {
			return nil, fromDatabase, err
		}
		return t, fromDatabase, err
	}
	if err := ctx.Err(); err != nil {
		return nil, true, store.Fail(ctx, "commit", err, classify)
	}
	if t.acts > 0 {
		if err := b.mark(t, "RELEASE act"); err != nil {
			return nil, true, store.Fail(ctx, "commit", err, classify)
		}
	}
	kept = true
	t.acts++
	return t, true, nil
}

// begin returns the transaction under way, or a new one. It outlives the context of the act that began it.
func (b *batch) begin() (*shared, error) {
	if b.open != nil {
		return b.open, nil
	}
	if b.closed {
		return nil, sql.ErrConnDone
	}
	if err := b.connect(); err != nil {
		return nil, err
	}
	if err := b.exec("BEGIN IMMEDIATE"); err != nil {
		if classify(err) != store.Busy {
			err = errors.Join(err, b.drop())
		}
		return nil, err
	}
	b.open = &shared{began: time.Now(), done: make(chan struct{})}
	return b.open, nil
}

func (b *batch) mark(t *shared, statement string) error {
	err := b.exec(statement)
	if err != nil {
		t.lost = err
	}
	return err
}

// undo takes back the act that failed. SQLite may have ended the whole transaction with it, on a full disk for one; then it is lost to the others too.
func (b *batch) undo(t *shared) {
	if t.lost != nil || t.acts == 0 {
		return
	}
	if b.mark(t, "ROLLBACK TO act") == nil {
		b.mark(t, "RELEASE act")
	}
}

// settle commits unless another act is about to join.
func (b *batch) settle(t *shared) {
	if t.acts > 0 && t.lost == nil && b.waiting.Load() > 0 && t.acts < batchActs && time.Since(t.began) < batchTime {
		return
	}
	b.finish(t)
}

// finish commits what succeeded and tells all who wait for it.
func (b *batch) finish(t *shared) {
	b.open = nil
	failed := t.lost != nil || t.acts == 0
	switch {
	case t.lost != nil:
		t.err = &store.Failure{What: "commit", Class: store.Conflict, Cause: errors.Join(errShared, t.lost)}
	case t.acts > 0:
		if err := b.exec("COMMIT"); err != nil {
			failed = true
			t.err = store.Fail(context.Background(), "commit", err, classify)
		}
	}
	// SQLite may have taken the transaction back already: then another one can begin.
	if failed && b.exec("ROLLBACK") != nil && (b.exec("BEGIN") != nil || b.exec("ROLLBACK") != nil) {
		b.drop()
	}
	close(t.done)
}
