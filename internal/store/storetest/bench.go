package storetest

import (
	"context"
	"fmt"
	"iter"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sayso/internal/app"
)

// imported is how many records the benchmarks write and read.
const imported = 100_000

// Rows are the records of the benchmarks, about 1 KB each, made one by one.
func Rows() iter.Seq2[app.RecordRow, error] {
	return func(yield func(app.RecordRow, error) bool) {
		pad := strings.Repeat("x", 900)
		for i := range imported {
			if !yield(record("service", fmt.Sprintf("item-%06d", (i*7919)%imported), fmt.Sprintf(`{"id":"item-%06d","title":"Item %d","content":"%s"}`, i, i, pad)), nil) {
				return
			}
		}
	}
}

// BenchImport compares PutRecords with bare, a loop that inserts the same rows one by one with a prepared statement in one transaction of the same engine.
// It reports the time of both as a ratio, and the most memory of the Go heap and of the process.
func BenchImport(b *testing.B, open func(testing.TB) app.Store, bare func(testing.TB, app.Store)) {
	var ours, theirs time.Duration
	var most uint64
	for b.Loop() {
		s := open(b)
		With(b, s, "shop")
		began := time.Now()
		bare(b, s)
		theirs += time.Since(began)
		s = open(b)
		With(b, s, "shop")
		stop := watchHeap()
		began = time.Now()
		update(b, s, func(ctx context.Context, w app.Writer) {
			if n := must(w.PutRecords(ctx, "shop", Rows()))(b); n != imported {
				b.Fatalf("%d rows", n)
			}
		})
		ours += time.Since(began)
		most = max(most, stop())
	}
	b.ReportMetric(float64(ours)/float64(theirs), "x-of-bare-inserts")
	b.ReportMetric(float64(imported)*float64(b.N)/ours.Seconds(), "rows/s")
	b.ReportMetric(float64(most)/(1<<20), "heap-MB")
	b.ReportMetric(residentMB(), "process-MB")
	if most > 200<<20 {
		b.Errorf("the heap grew to %d MB", most>>20)
	}
}

// BenchRead reads single records, and streams all of them.
func BenchRead(b *testing.B, s app.Store) {
	With(b, s, "shop")
	update(b, s, func(ctx context.Context, w app.Writer) { must(w.PutRecords(ctx, "shop", Rows()))(b) })
	ctx := context.Background()
	b.Run("point", func(b *testing.B) {
		i := 0
		for b.Loop() {
			i++
			ok(b, s.View(ctx, func(r app.Reader) error {
				_, err := r.Record(ctx, "shop", "service", fmt.Sprintf("item-%06d", (i*31)%imported))
				return err
			}))
		}
	})
	b.Run("stream", func(b *testing.B) {
		runtime.GC()
		stop := watchHeap()
		for b.Loop() {
			view(b, s, func(ctx context.Context, r app.Reader) {
				n := 0
				for _, err := range r.Records(ctx, "shop", "", "", "") {
					ok(b, err)
					n++
				}
				if n != imported {
					b.Fatalf("%d rows", n)
				}
			})
		}
		b.ReportMetric(float64(imported)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		b.ReportMetric(float64(stop())/(1<<20), "heap-MB")
	})
	b.Run("commit", func(b *testing.B) {
		for b.Loop() {
			ok(b, s.Update(ctx, "", func(w app.Writer) error { _, err := w.Advance(ctx, "shop"); return err }))
		}
	})
}

// watchHeap samples the Go heap until the returned function is called, which says how large it was at most.
func watchHeap() func() uint64 {
	var most atomic.Uint64
	done := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most.Store(max(most.Load(), m.HeapAlloc))
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() uint64 {
		close(done)
		<-stopped
		return most.Load()
	}
}

// residentMB is the most memory that the process had in all, 0 where the system does not say.
func residentMB() float64 {
	text, _ := os.ReadFile("/proc/self/status")
	_, line, _ := strings.Cut(string(text), "VmHWM:")
	var kb float64
	fmt.Sscan(line, &kb)
	return kb / 1024
}
