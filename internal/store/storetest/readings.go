package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/internal/app"
	"sayso/jcs"
)

func reading(stream, subject, location, value string, observed time.Duration) *app.ReadingRow {
	typ, id, _ := strings.Cut(subject, "/")
	return &app.ReadingRow{Stream: stream, Type: typ, ID: id, Location: location, Value: jcs.Raw(value), ObservedAt: day.Add(observed), ReceivedAt: day.Add(observed + time.Second)}
}

func fillReadings(ctx context.Context, w app.Writer) error {
	bare := reading("queue", "", "", `false`, 0)
	for _, row := range []*app.ReadingRow{bare, reading("stock", "service/ünïcode/ id 😀", "one", `1.50`, time.Hour), reading("stock", "service/b", "two", `"a\u0000b"`, time.Minute)} {
		if _, err := w.PutReading(ctx, "full", row); err != nil {
			return err
		}
	}
	return nil
}

// show is what tells readings apart.
func show(rows []app.ReadingRow) string {
	var out []string
	for _, row := range rows {
		out = append(out, fmt.Sprintf("%s:%s/%s@%s=%s", row.Stream, row.Type, row.ID, row.Location, row.Value))
	}
	return strings.Join(out, " ")
}

func readings(t *testing.T, s app.Store) {
	With(t, s, "shop", "other")
	put := func(want bool, row *app.ReadingRow) {
		t.Helper()
		update(t, s, func(ctx context.Context, w app.Writer) { same(t, must(w.PutReading(ctx, "shop", row))(t), want) })
	}
	standing := func() app.ReadingRow {
		var rows []app.ReadingRow
		view(t, s, func(ctx context.Context, r app.Reader) { rows = must(r.Readings(ctx, "shop", "stock", "", "", ""))(t) })
		if len(rows) != 1 {
			t.Fatalf("%d readings: %s", len(rows), show(rows))
		}
		return rows[0]
	}
	first := reading("stock", "product/a", "one", `1.50`, time.Second)
	put(true, first)
	same(t, standing(), *first)
	// Older, and of the same instant: nothing changes, not even the time it was received. What a store cuts off makes no instant.
	put(false, reading("stock", "product/a", "one", `2`, time.Second-time.Microsecond))
	put(false, reading("stock", "product/a", "one", `3`, time.Second))
	put(false, reading("stock", "product/a", "one", `4`, time.Second+time.Nanosecond))
	same(t, standing(), *first)
	newer := reading("stock", "product/a", "one", `{"note":"5"}`, time.Second+time.Microsecond)
	put(true, newer)
	same(t, standing(), *newer)
	update(t, s, func(ctx context.Context, w app.Writer) {
		// Each of stream, subject, location and publisher makes a reading of its own; within a transaction it is seen at once.
		for _, row := range []*app.ReadingRow{reading("stock", "product/a", "two", `6`, 0), reading("stock", "product/B", "one", `7`, 0), reading("stock", "offer/a", "one", `8`, 0),
			reading("stock", "", "", `9`, 0), reading("price", "product/a", "one", `10`, 0), reading("stock", "", "one", `11`, 0)} {
			same(t, must(w.PutReading(ctx, "shop", row))(t), true)
		}
		same(t, must(w.PutReading(ctx, "other", reading("stock", "product/a", "one", `12`, 0)))(t), true)
		same(t, must(w.CountReadings(ctx, "shop"))(t), 7)
	})
	view(t, s, func(ctx context.Context, r app.Reader) {
		for _, c := range []struct{ stream, typ, id, location, want string }{
			{"stock", "", "", "", `stock:/@=9 stock:/@one=11 stock:offer/a@one=8 stock:product/B@one=7 stock:product/a@one={"note":"5"} stock:product/a@two=6`},
			{"stock", "product", "a", "", `stock:product/a@one={"note":"5"} stock:product/a@two=6`},
			{"stock", "product", "", "one", `stock:product/B@one=7 stock:product/a@one={"note":"5"}`},
			{"stock", "", "", "two", `stock:product/a@two=6`},
			{"stock", "product", "a", "two", `stock:product/a@two=6`},
			{"", "product", "a", "one", `price:product/a@one=10 stock:product/a@one={"note":"5"}`},
			{"stock", "product", "c", "", ""}, {"stock", "", "", "three", ""}, {"none", "", "", "", ""}, {"stock", "product\x00", "", "", ""},
		} {
			same(t, show(must(r.Readings(ctx, "shop", c.stream, c.typ, c.id, c.location))(t)), c.want)
		}
		for _, c := range []struct {
			stream, typ, id string
			limit           int
			want            string
		}{
			{"stock", "", "", 9, `stock:/@=9 stock:/@one=11 stock:offer/a@one=8 stock:product/B@one=7 stock:product/a@one={"note":"5"} stock:product/a@two=6`},
			{"stock", "offer", "a", 2, `stock:offer/a@one=8 stock:product/B@one=7`},
			{"stock", "offer", "b", 2, `stock:product/B@one=7 stock:product/a@one={"note":"5"}`},
			{"stock", "product", "a", 1, `stock:product/a@one={"note":"5"}`},
			{"price", "", "", 9, `price:product/a@one=10`},
			{"stock", "product", "b", 9, ""}, {"stock", "", "", 0, ""}, {"stock", "", "", -1, ""}, {"", "", "", 9, ""}, {"none", "", "", 9, ""}, {"stock", "\x00", "", 9, ""},
		} {
			same(t, show(must(r.ReadingsFrom(ctx, "shop", c.stream, c.typ, c.id, c.limit))(t)), c.want)
		}
		same(t, show(must(r.Readings(ctx, "other", "", "", "", ""))(t)), "stock:product/a@one=12")
		same(t, len(must(r.Readings(ctx, "nobody", "", "", "", ""))(t))+len(must(r.Readings(ctx, "", "stock", "", "", ""))(t)), 0)
		same(t, must(r.CountReadings(ctx, "nobody"))(t), 0)
	})
}

// readingsGo with what they belong to.
func readingsGo(t *testing.T, s app.Store) {
	With(t, s, "shop", "other")
	update(t, s, func(ctx context.Context, w app.Writer) {
		must(w.PutRecords(ctx, "shop", each(record("product", "a", `{}`), record("product", "b", `{}`))))(t)
		must(w.PutRecords(ctx, "other", each(record("product", "c", `{}`))))(t)
		for _, slug := range []string{"shop", "other"} {
			for _, row := range []*app.ReadingRow{reading("stock", "product/a", "one", `1`, 0), reading("stock", "product/b", "two", `2`, 0), reading("stock", "product/c", "one", `3`, 0),
				reading("queue", "", "one", `4`, 0), reading("open", "", "", `5`, 0)} {
				must(w.PutReading(ctx, slug, row))(t)
			}
		}
	})
	left := func(slug, want string) {
		t.Helper()
		view(t, s, func(ctx context.Context, r app.Reader) {
			same(t, show(must(r.Readings(ctx, slug, "", "", "", ""))(t)), want)
		})
	}
	update(t, s, func(ctx context.Context, w app.Writer) {
		ok(t, w.PruneReadings(ctx, "shop")) // c is another publisher's
		ok(t, w.DeleteRecords(ctx, "shop", slices.Values([]app.RecordKey{{Type: "product", ID: "b"}})))
	})
	left("shop", "open:/@=5 queue:/@one=4 stock:product/a@one=1 stock:product/b@two=2")
	update(t, s, func(ctx context.Context, w app.Writer) { ok(t, w.PruneReadings(ctx, "shop")) })
	left("shop", "open:/@=5 queue:/@one=4 stock:product/a@one=1")
	update(t, s, func(ctx context.Context, w app.Writer) { ok(t, w.DeleteReadings(ctx, "shop", "stock", "two")) })
	left("shop", "open:/@=5 queue:/@one=4 stock:product/a@one=1")
	update(t, s, func(ctx context.Context, w app.Writer) { ok(t, w.DeleteReadings(ctx, "shop", "", "one")) })
	left("shop", "open:/@=5")
	is(t, s.Update(context.Background(), "", func(w app.Writer) error {
		ok(t, w.DeleteReadings(context.Background(), "shop", "", ""))
		return errEarly
	}), errEarly)
	left("shop", "open:/@=5")
	update(t, s, func(ctx context.Context, w app.Writer) {
		ok(t, w.DeleteReadings(ctx, "shop", "open", ""))
		ok(t, w.DeleteReadings(ctx, "", "", ""))
	})
	left("shop", "")
	left("other", "open:/@=5 queue:/@one=4 stock:product/a@one=1 stock:product/b@two=2 stock:product/c@one=3")
}

func readingsRefused(t *testing.T, s app.Store) {
	With(t, s, "shop")
	ctx := context.Background()
	whole := reading("stock", "product/a", "one", `1`, 0)
	for name, change := range map[string]func(*app.ReadingRow){
		"no stream":        func(r *app.ReadingRow) { r.Stream = "" },
		"a long stream":    func(r *app.ReadingRow) { r.Stream = strings.Repeat("x", 65) },
		"half a subject":   func(r *app.ReadingRow) { r.ID = "" },
		"the other half":   func(r *app.ReadingRow) { r.Type = "" },
		"a long id":        func(r *app.ReadingRow) { r.ID = strings.Repeat("x", 1025) },
		"a long location":  func(r *app.ReadingRow) { r.Location = strings.Repeat("x", 1025) },
		"no value":         func(r *app.ReadingRow) { r.Value = nil },
		"never observed":   func(r *app.ReadingRow) { r.ObservedAt = time.Time{} },
		"never received":   func(r *app.ReadingRow) { r.ReceivedAt = time.Time{} },
		"U+0000 in an id":  func(r *app.ReadingRow) { r.ID = "a\x00" },
		"no UTF-8 in one":  func(r *app.ReadingRow) { r.ID = "a\xff" },
		"an odd type":      func(r *app.ReadingRow) { r.Type = "\x00" },
		"an odd location":  func(r *app.ReadingRow) { r.Location = "\xff" },
		"an odd stream":    func(r *app.ReadingRow) { r.Stream = "a\x00" },
		"a type too large": func(r *app.ReadingRow) { r.Type = strings.Repeat("x", 256) },
	} {
		row := *whole
		change(&row)
		if err := s.Update(ctx, "", func(w app.Writer) error { _, err := w.PutReading(ctx, "shop", &row); return err }); err == nil {
			t.Errorf("%s was stored", name)
		}
	}
	// The longest key that is accepted is one that every engine can index; incompressible, because PostgreSQL compresses what it indexes.
	long := *whole
	long.Stream, long.Type, long.ID, long.Location = noise(64), noise(255), noise(1024), noise(1024)
	slug := noise(255)
	With(t, s, slug)
	update(t, s, func(ctx context.Context, w app.Writer) { same(t, must(w.PutReading(ctx, slug, &long))(t), true) })
	view(t, s, func(ctx context.Context, r app.Reader) {
		same(t, must(r.Readings(ctx, slug, long.Stream, long.Type, long.ID, long.Location))(t), []app.ReadingRow{long})
		same(t, must(r.CountReadings(ctx, "shop"))(t), 0)
	})
}

// noise is a text of n bytes in which nothing repeats.
func noise(n int) string {
	out := make([]byte, n)
	for x, i := uint32(n)|1, 0; i < n; i++ {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		out[i] = '!' + byte(x>>8)%94
	}
	return string(out)
}

// hold takes a head and leaves its number; whoever holds it is one after the other with all acts on the publisher.
func hold(t *testing.T, s app.Store) {
	With(t, s, "shop")
	ctx := context.Background()
	is(t, s.Update(ctx, "", func(w app.Writer) error { _, err := w.Hold(ctx, "nobody"); return err }), app.ErrNotFound)
	update(t, s, func(ctx context.Context, w app.Writer) {
		_, err := w.Hold(ctx, "nobody") // an answer: the transaction stays usable, and makes no head
		is(t, err, app.ErrNotFound)
		same(t, must(w.Advance(ctx, "shop"))(t), uint64(1))
		same(t, must(w.Hold(ctx, "shop"))(t), uint64(1))
		same(t, must(w.Hold(ctx, ""))(t), uint64(0))
	})
	const writers, acts = 8, 6
	ok(t, together(writers, func(i int) error {
		for n := range acts {
			err := s.Update(ctx, "", func(w app.Writer) error {
				take := w.Hold
				if i%2 == 0 {
					take = w.Advance
				}
				revision, err := take(ctx, "shop")
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
	same(t, must(s.Heads(ctx))(t), map[string]uint64{"": 0, "shop": 1 + writers/2*acts})
	view(t, s, func(ctx context.Context, r app.Reader) {
		last, trail := uint64(0), must(r.Audit(ctx, "shop", 0, 1000))(t)
		same(t, len(trail), writers*acts)
		for _, row := range trail {
			var revision uint64
			must(fmt.Sscan(row.Target, &revision))(t)
			if revision < last {
				t.Fatalf("an act that saw revision %d stands behind one that saw %d", revision, last)
			}
			last = revision
		}
	})
}

// newestWins lets two clients push one after the other's instants at once: the newest stands, and each saw true only for what was newer than all before it.
func newestWins(t *testing.T, s app.Store) {
	With(t, s, "shop")
	ctx := context.Background()
	const clients, pushes = 4, 12
	ok(t, together(clients, func(i int) error {
		for n := range pushes {
			at := time.Duration(n*clients+i+1) * time.Second
			if i%2 == 1 { // every other client goes backwards
				at = time.Duration((pushes-1-n)*clients+i+1) * time.Second
			}
			row := reading("stock", "product/a", "", fmt.Sprint(int(at/time.Second)), at)
			err := s.Update(ctx, "", func(w app.Writer) error {
				if _, err := w.Hold(ctx, "shop"); err != nil {
					return err
				}
				stood, err := w.Readings(ctx, "shop", "stock", "product", "a", "")
				if err != nil {
					return err
				}
				kept, err := w.PutReading(ctx, "shop", row)
				if newer := len(stood) == 0 || stood[0].ObservedAt.Before(row.ObservedAt); err == nil && kept != newer {
					return errors.Join(errEarly, fmt.Errorf("kept %v where %s stood before %s", kept, show(stood), row.Value))
				}
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	}))
	view(t, s, func(ctx context.Context, r app.Reader) {
		same(t, show(must(r.Readings(ctx, "shop", "", "", "", ""))(t)), fmt.Sprintf("stock:product/a@=%d", clients*pushes))
	})
}
