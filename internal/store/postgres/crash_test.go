package postgres_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sayso/internal/app"
	"sayso/internal/store"
	"sayso/internal/store/pgtest"
)

// The server crashes and comes back while writers go on: each operation takes place once, whether its answer was lost or not. A writer that was told that
// the server is away for longer asks again under the same operation.
func TestServerCrash(t *testing.T) {
	ctx := t.Context()
	s := open(t, pgtest.Database(t))
	var stop atomic.Bool
	var acknowledged atomic.Int64
	var writers sync.WaitGroup
	for i := range 4 {
		writers.Go(func() {
			for n := 0; !stop.Load(); n++ {
				for {
					err := s.Update(ctx, fmt.Sprintf("op-%d-%d", i, n), func(w app.Writer) error {
						revision, err := w.Advance(ctx, "")
						if err == nil {
							err = w.AppendAudit(ctx, &app.AuditRow{Target: fmt.Sprint(revision)})
						}
						return err
					})
					if err == nil {
						break
					}
					var failure *store.Failure
					if !errors.As(err, &failure) || failure.Class != store.Lost {
						t.Error(err)
						return
					}
				}
				acknowledged.Add(1)
			}
		})
	}
	for range 2 {
		time.Sleep(100 * time.Millisecond)
		pgtest.Crash(t)
	}
	before := acknowledged.Load()
	for deadline := time.Now().Add(60 * time.Second); acknowledged.Load() < before+8 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	stop.Store(true)
	writers.Wait()
	heads, err := s.Heads(ctx)
	if err != nil || heads[""] != uint64(acknowledged.Load()) || acknowledged.Load() < before+8 {
		t.Errorf("%d acts were acknowledged, %d before the last crash was over; the head is %d, %v", acknowledged.Load(), before, heads[""], err)
	}
	if err := s.Check(ctx); err != nil {
		t.Error(err)
	}
}
