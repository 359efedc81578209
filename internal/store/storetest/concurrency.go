package storetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"sayso/internal/app"
)

// together runs n goroutines and waits for all.
func together(n int, f func(i int) error) error {
	errs := make(chan error, n)
	for i := range n {
		go func() { errs <- f(i) }()
	}
	var first error
	for range n {
		if err := <-errs; err != nil && first == nil {
			first = err
		}
	}
	return first
}

// isolation moves two publishers in lock-step while readers look: they see both as they were or both as they are, however long they look.
func isolation(t *testing.T, s app.Store) {
	With(t, s, "a", "b")
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	see := func(r app.Reader) (uint64, error) {
		a, err := r.Publisher(ctx, "a")
		if err != nil {
			return 0, err
		}
		n := 0
		for _, err := range r.Records(ctx, "b", "", "", "") {
			if err != nil {
				return 0, err
			}
			n++
		}
		b, err := r.Publisher(ctx, "b")
		if err != nil {
			return 0, err
		}
		if a.Generation != b.Generation || b.Revision != a.Revision || n != int(a.Generation) {
			return 0, fmt.Errorf("half an act is seen: generations %d and %d, heads %d and %d, %d records", a.Generation, b.Generation, a.Revision, b.Revision, n)
		}
		return a.Generation, nil
	}
	const acts = 60
	var readers sync.WaitGroup
	failures := make(chan error, 3)
	for range cap(failures) {
		readers.Go(func() {
			for last := uint64(0); last < acts; {
				err := s.View(ctx, func(r app.Reader) error {
					first, err := see(r)
					if err != nil {
						return err
					}
					again, err := see(r)
					if err == nil && again != first || first < last {
						return fmt.Errorf("a reader saw %d, then %d; before it %d", first, again, last)
					}
					last = first
					return err
				})
				if err != nil {
					failures <- err
					return
				}
			}
		})
	}
	for i := range uint64(acts) {
		update(t, s, func(_ context.Context, w app.Writer) {
			for _, slug := range []string{"a", "b"} {
				must(w.Advance(ctx, slug))(t)
				row := publisher(slug)
				row.Generation = i + 1
				ok(t, w.UpdatePublisher(ctx, row))
			}
			must(w.PutRecords(ctx, "b", each(record("service", fmt.Sprint(i), `{}`))))(t)
		})
	}
	readers.Wait()
	close(failures)
	for err := range failures {
		t.Error(err)
	}
	// A reader that began before an act does not see it.
	view(t, s, func(_ context.Context, r app.Reader) {
		before := must(see(r))(t)
		update(t, s, func(_ context.Context, w app.Writer) {
			ok(t, w.UpdatePublisher(ctx, publisher("a")))
			ok(t, w.UpdatePublisher(ctx, publisher("b")))
			ok(t, w.DeleteRecords(ctx, "b", slices.Values([]app.RecordKey{{Type: "service", ID: "1"}})))
		})
		same(t, must(see(r))(t), before)
	})
}

// gapless lets 32 writers take one head: every number once, in the order of commits.
func gapless(t *testing.T, s app.Store) {
	With(t, s, "shop")
	ctx := context.Background()
	const writers, acts = 32, 8
	ok(t, together(writers, func(i int) error {
		for n := range acts {
			err := s.Update(ctx, "", func(w app.Writer) error {
				revision, err := w.Advance(ctx, "shop")
				if err != nil {
					return err
				}
				_, err = w.PutRecords(ctx, "shop", each(record("service", fmt.Sprintf("%d.%d", i, n), fmt.Sprintf(`{"revision":%d}`, revision))))
				if err == nil {
					err = w.AppendAudit(ctx, &app.AuditRow{Publisher: "shop", Target: fmt.Sprint(revision)})
				}
				return err
			})
			if err != nil {
				return fmt.Errorf("writer %d, act %d: %w", i, n, err)
			}
		}
		return nil
	}))
	same(t, must(s.Heads(ctx))(t)["shop"], uint64(writers*acts))
	view(t, s, func(ctx context.Context, r app.Reader) {
		seen := map[string]bool{}
		for _, row := range collect(t, r.Records(ctx, "shop", "", "", "")) {
			seen[string(row.Body)] = true
		}
		for n := 1; n <= writers*acts; n++ {
			if !seen[fmt.Sprintf(`{"revision":%d}`, n)] {
				t.Errorf("revision %d is missing", n)
			}
		}
		for i, row := range must(r.Audit(ctx, "shop", 0, 1000))(t) {
			if row.Target != fmt.Sprint(i+1) {
				t.Fatalf("audit row %d belongs to revision %s", i+1, row.Target)
			}
		}
	})
}

// writeSkew: each act removes one of two rows if both are there. One after the other, in any order, one row is left.
func writeSkew(t *testing.T, s app.Store) {
	With(t, s, "shop")
	ctx := context.Background()
	for round := range 20 {
		update(t, s, func(ctx context.Context, w app.Writer) {
			must(w.PutRecords(ctx, "shop", each(record("service", "0", `{}`), record("service", "1", `{}`))))(t)
		})
		ok(t, together(2, func(i int) error {
			return s.Update(ctx, "", func(w app.Writer) error {
				counts, err := w.RecordCounts(ctx, "shop")
				if err != nil || counts[0].Count < 2 {
					return err
				}
				return w.DeleteRecords(ctx, "shop", slices.Values([]app.RecordKey{{Type: "service", ID: fmt.Sprint(i)}}))
			})
		}))
		view(t, s, func(ctx context.Context, r app.Reader) {
			if n := len(collect(t, r.Leaves(ctx, "shop"))); n != 1 {
				t.Fatalf("round %d: %d rows are left", round, n)
			}
		})
	}
}

// oneOperation is sent by many at once and takes place once.
func oneOperation(t *testing.T, s app.Store) {
	ctx := context.Background()
	for round := range uint64(5) {
		ok(t, together(8, func(int) error {
			return s.Update(ctx, fmt.Sprint("op-", round), func(w app.Writer) error { _, err := w.Advance(ctx, ""); return err })
		}))
		same(t, must(s.Heads(ctx))(t)[""], round+1)
	}
}

// severalHeads are taken in different orders, which must not end in waiting for each other.
func severalHeads(t *testing.T, s app.Store) {
	slugs := []string{"", "a", "b", "c"}
	With(t, s, slugs[1:]...)
	ctx := context.Background()
	var acts atomic.Int64
	ok(t, together(12, func(i int) error {
		for n := range 4 {
			err := s.Update(ctx, "", func(w app.Writer) error {
				for j := range slugs {
					if _, err := w.Advance(ctx, slugs[(i*(j+1)+n+j)%len(slugs)]); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			acts.Add(int64(len(slugs)))
		}
		return nil
	}))
	sum := uint64(0)
	for _, revision := range must(s.Heads(ctx))(t) {
		sum += revision
	}
	same(t, sum, uint64(acts.Load()))
}
