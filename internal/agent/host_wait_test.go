package agent

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sayso/gidp/session"
	"sayso/internal/agent/durable"
)

// counted counts what is read of sessions.
type counted struct {
	durable.Store
	reads atomic.Int64
}

type countedReader struct {
	durable.Reader
	s *counted
}

func (s *counted) View(ctx context.Context, f func(durable.Reader) error) error {
	return s.Store.View(ctx, func(r durable.Reader) error { return f(countedReader{r, s}) })
}

func (r countedReader) Session(ctx context.Context, id string) (durable.SessionRow, error) {
	r.s.reads.Add(1)
	return r.Reader.Session(ctx, id)
}

func (r countedReader) Sessions(ctx context.Context, interest string, open bool, after string, limit int) ([]durable.SessionRow, error) {
	r.s.reads.Add(1)
	return r.Reader.Sessions(ctx, interest, open, after, limit)
}

// Many who wait read as little as one does, and each of them sees what another process commits, a close too.
func TestManyWhoWaitReadAsOne(t *testing.T) {
	const between = 40 * time.Millisecond
	for _, streams := range []int{1, 5, 100} {
		w := newWorld(t)
		store := &counted{Store: w.seller.options.Store}
		ids := w.hold(streams, crowded)
		other := w.seller.agent
		w.seller.options.Store = store
		w.seller.restart()
		a := w.seller.agent
		a.watchers.between = between
		ctx, stop := context.WithCancel(t.Context())
		var waiting sync.WaitGroup
		var woken atomic.Int64
		for _, id := range ids {
			waiting.Go(func() {
				if a.Wait(ctx, id, 1) == nil {
					woken.Add(1)
				}
			})
		}
		for int(store.reads.Load()) < streams { // each has looked once
			time.Sleep(time.Millisecond)
		}
		before, began := store.reads.Load(), time.Now()
		time.Sleep(8 * between)
		looks := int64(time.Since(began)/(between*7/8)) + 1
		if got := store.reads.Load() - before; got == 0 || got > looks*min(int64(streams), waitFew) {
			t.Errorf("%d streams: %d reads in %d looks", streams, got, looks)
		}
		// Another process closes the first and moves the last on; nobody else is woken.
		changed := ids[:1]
		if streams > 1 {
			changed = []string{ids[0], ids[streams-1]}
		}
		for i, id := range changed {
			err := other.Store.Update(t.Context(), func(tx durable.Writer) error {
				row, err := tx.Session(t.Context(), id)
				if err != nil {
					return err
				}
				if i == 0 {
					row.Closed, row.Phase, row.ForgetAt = true, string(session.Closed), row.EndsAt
				}
				return tx.PutSession(t.Context(), row)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		want := int64(len(changed))
		for until := time.Now().Add(5 * time.Second); woken.Load() < want && time.Now().Before(until); {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(2 * between)
		if woken.Load() != want {
			t.Errorf("%d streams: %d were woken", streams, woken.Load())
		}
		stop()
		waiting.Wait()
		if woken.Load() != want || len(a.watchers.list) != 0 {
			t.Errorf("%d streams: %d were woken, %d are left", streams, woken.Load(), len(a.watchers.list))
		}
	}
}
