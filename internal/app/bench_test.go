package app_test

import (
	"bytes"
	"fmt"
	"iter"
	"testing"
	"testing/fstest"
	"time"

	"sayso/business"
	"sayso/internal/app"
	"sayso/internal/app/apptest"
)

// BenchmarkManifest is the hot path of the documents: all callers get one signed manifest.
func BenchmarkManifest(b *testing.B) {
	w := apptest.NewWorld(b)
	w.Publisher(b, "shop")
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := w.Registry.Manifest(b.Context(), "shop"); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkSignManifest is what one caller in 240 s pays.
func BenchmarkSignManifest(b *testing.B) {
	w := apptest.NewWorld(b)
	w.Publisher(b, "shop")
	for b.Loop() {
		w.Move(b, 300*time.Second)
		if _, err := w.Registry.Manifest(b.Context(), "shop"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkImport reads, hashes and commits records into a store in memory, at sizes that are 100 times apart.
func BenchmarkImport(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		var text bytes.Buffer
		for i := range n {
			fmt.Fprintf(&text, `{"id":"r%d","type":"product","title":"Product number %d","summary":"One of the things that are sold here",`+
				`"updated_at":"2026-01-02T03:04:05Z","attributes":{"price":%d.50,"currency":"GBP"},"aliases":["thing %d"]}`+"\n", i, i, i, i)
		}
		records, err := app.OpenRecords(fstest.MapFS{"r.jsonl": {Data: text.Bytes()}}, "r.jsonl")
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				w := apptest.NewWorld(b)
				w.Publisher(b, "shop")
				if _, err := w.Registry.Import(b.Context(), apptest.Operator(b, "ops"), "shop", app.ImportInput{Bundle: records}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/record")
		})
	}
}

// BenchmarkDump reads and writes the export of 10,000 records.
func BenchmarkDump(b *testing.B) {
	w := apptest.NewWorld(b)
	w.Publisher(b, "shop")
	lines := make([]string, 10_000)
	for i := range lines {
		lines[i] = line(fmt.Sprint(i), "x")
	}
	if _, err := w.Registry.Import(b.Context(), apptest.Operator(b, "ops"), "shop", app.ImportInput{Bundle: records(lines...)}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		err := w.Registry.Dump(b.Context(), "shop", func(p *business.Publication, seq iter.Seq2[*business.Record, error]) error {
			var text []byte
			for rec, err := range seq {
				if err != nil {
					return err
				}
				text = business.AppendRecordLine(text[:0], w.Registry.Site(), p, rec)
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// examWorld is a registry whose publisher shop has n records that share their first words.
func examWorld(b *testing.B, n int) *apptest.World {
	b.Helper()
	w, _ := shopWorld(b)
	lines := make([]string, n)
	for i := range lines {
		lines[i] = line(fmt.Sprint(i), fmt.Sprintf("Eye exam %x", i*7919))
	}
	stock(b, w.Registry, "shop", lines...)
	return w
}

// BenchmarkAsk is the hot path of answers: one question of a publisher whose snapshot is compiled, signature included.
func BenchmarkAsk(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := examWorld(b, n)
			question := []byte(`{"query":"Do you offer eye exams?"}`)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := w.Registry.Ask(b.Context(), "shop", "ask", question); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFirstAsk is what the first question of a publisher waits for: reading and compiling 100 or 10,000 records.
func BenchmarkFirstAsk(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := examWorld(b, n)
			for b.Loop() {
				if _, err := w.Replica(b).Ask(b.Context(), "shop", "get", []byte(`{"records":[{"type":"service","id":"7"}]}`)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
