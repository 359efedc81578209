package app_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/internal/app"
	"sayso/internal/app/apptest"
	"sayso/internal/store/sqlite"
)

// BenchmarkPush is one call until its readings are durable in SQLite and a reader has seen the last of them: one reading, and a full batch; in a store where
// nothing else stands, and where a publisher has as many readings as it may.
func BenchmarkPush(b *testing.B) {
	for _, c := range []struct{ lines, standing int }{{1, 0}, {1, 99_000}, {1000, 0}, {app.MaxReadings, 0}} {
		b.Run(fmt.Sprintf("%d lines beside %d", c.lines, c.standing), func(b *testing.B) {
			w := apptest.NewWorld(b)
			store, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "sayso.db"))
			if err != nil {
				b.Fatal(err)
			}
			defer store.Close()
			data := b.TempDir()
			if _, err := app.Init(b.Context(), store, app.InitInput{Data: data, Operator: "first", Now: w.Clock.Now()}); err != nil {
				b.Fatal(err)
			}
			options := w.Options()
			options.Store, options.Data = store, data
			if options.Keys, err = app.OpenKeys(data, nil); err != nil {
				b.Fatal(err)
			}
			r, ops := app.New(options), apptest.Operator(b, "ops")
			if _, err := r.CreatePublisher(b.Context(), ops, app.CreateInput{Slug: "shop", Name: "Shop", Delegated: true}); err != nil {
				b.Fatal(err)
			}
			furnish(b, r)
			var lines []string
			for i := range app.MaxReadings {
				lines = append(lines, line(fmt.Sprint(i), "A"))
			}
			if _, err := r.Import(b.Context(), ops, "shop", app.ImportInput{Bundle: records(lines...)}); err != nil {
				b.Fatal(err)
			}
			send := func(from, n int, members string) {
				text := make([]string, n)
				for i := range text {
					text[i] = body(w, fmt.Sprintf(members, from+i), 0)
				}
				in, err := app.ReadReadings([]byte(strings.Join(text, "\n")))
				if err != nil {
					b.Fatal(err)
				}
				if out, err := r.PushReadings(b.Context(), ops, "shop", in, ""); err != nil || out.Accepted != n {
					b.Fatal(out, err)
				}
			}
			for from := 0; from < c.standing; from += 1000 {
				fill(b, store, from, 1000)
			}
			var took []time.Duration
			for b.Loop() {
				w.Clock.Move(time.Second)
				begin := time.Now()
				send(0, c.lines, `"stream":"price","subject":{"type":"service","id":"%d"},"value":1.50`)
				seen := false
				err := store.View(b.Context(), func(rd app.Reader) error {
					rows, err := rd.Readings(b.Context(), "shop", "price", "service", fmt.Sprint(c.lines-1), "")
					seen = len(rows) == 1 && rows[0].ReceivedAt.Equal(r.Now())
					return err
				})
				if err != nil || !seen {
					b.Fatal(seen, err)
				}
				took = append(took, time.Since(begin))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2])/1e6, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100])/1e6, "p99-ms")
		})
	}
}

// fill lets n readings stand that no schema was asked about.
func fill(b *testing.B, store app.Store, from, n int) {
	err := store.Update(b.Context(), "", func(w app.Writer) error {
		for i := range n {
			row := app.ReadingRow{Stream: "other", Type: "service", ID: fmt.Sprint(from + i), Value: []byte("1"), ObservedAt: time.Unix(1, 0), ReceivedAt: time.Unix(1, 0)}
			if _, err := w.PutReading(b.Context(), "shop", &row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}
