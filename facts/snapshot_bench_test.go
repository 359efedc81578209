package facts_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"

	"sayso/facts"
	"sayso/facts/factstest"
)

var benchSizes = []int{10_000, 100_000, 1_000_000}

// perFact compiles n facts and returns the snapshot with what the heap grew by, divided by n, once the dataset is gone.
func perFact(tb testing.TB, o factstest.Options) (*facts.Snapshot, float64) {
	tb.Helper()
	level := "L3"
	if o.Unsigned {
		level = "L2"
	}
	heap := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	before := heap()
	ds := factstest.Generate(o)
	s, err := facts.NewSnapshot(ds, facts.Options{Origin: factstest.Origin, Conformance: level})
	if err != nil {
		tb.Fatal(err)
	}
	ds = nil
	after := heap()
	runtime.KeepAlive(ds)
	return s, (after - before) / float64(o.Facts)
}

// TestMemoryPerFact holds the budget of a signed fact with one value, resolve index included.
func TestMemoryPerFact(t *testing.T) {
	const n, budget = 10_000, 2500
	s, bytes := perFact(t, factstest.Options{Facts: n, Seed: 1})
	runtime.KeepAlive(s)
	t.Logf("%.0f bytes per signed fact at %d facts", bytes, n)
	if bytes > budget {
		t.Errorf("%.0f bytes per fact, over %d", bytes, budget)
	}
}

// BenchmarkGet asks for random keys at three sizes and prints the resident bytes per fact. SAYSO_BENCH_SIGNED=1 signs the values, which takes minutes at the
// largest size; the records are 300 bytes longer then.
func BenchmarkGet(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, bytes := perFact(b, factstest.Options{Facts: n, Seed: 1, Unsigned: os.Getenv("SAYSO_BENCH_SIGNED") == ""})
			keys := slices.Collect(s.Keys())
			rnd := rand.New(rand.NewPCG(1, 2))
			rnd.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
			buf := make([]byte, 0, 16<<10)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				a, err := s.Get(keys[i], current, factstest.Today)
				if err != nil {
					b.Fatal(err)
				}
				buf = a.AppendJSON(buf[:0])
				if i++; i == len(keys) {
					i = 0
				}
			}
			b.ReportMetric(bytes, "B/fact")
		})
	}
}

// BenchmarkNewSnapshot compiles signed facts; most of the time is Ed25519.
func BenchmarkNewSnapshot(b *testing.B) {
	ds := factstest.Generate(factstest.Options{Facts: 10_000, Seed: 1})
	unsigned := factstest.Generate(factstest.Options{Facts: 10_000, Seed: 1, Unsigned: true})
	for _, row := range []struct {
		name  string
		ds    *facts.Dataset
		level string
	}{{"signed", ds, "L3"}, {"unsigned", unsigned, "L2"}} {
		b.Run(row.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := facts.NewSnapshot(row.ds, facts.Options{Origin: factstest.Origin, Conformance: row.level}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10_000, "ns/fact")
		})
	}
}

// BenchmarkWriteIndex streams the whole index.
func BenchmarkWriteIndex(b *testing.B) {
	s, _ := perFact(b, factstest.Options{Facts: 100_000, Seed: 1, Unsigned: true})
	b.ReportAllocs()
	for b.Loop() {
		if err := s.WriteIndex(io.Discard, "", factstest.Today); err != nil {
			b.Fatal(err)
		}
	}
}
