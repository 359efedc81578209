package facts_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"sayso/facts/resolvetest"
)

// BenchmarkResolve asks a fixed mix of questions (F§6.12). p50 and p99 are over the questions, each with its best time, so that a busy machine does not
// show as a slow question.
func BenchmarkResolve(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			in := resolvetest.Catalogue(1, n)
			r := newRanker(b, in)
			queries := resolvetest.Queries(2, resolvetest.Labels(in), 2_000)
			best := make([]time.Duration, len(queries))
			for i, q := range queries {
				start := time.Now()
				r.Rank(q, "", 20)
				best[i] = time.Since(start)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				at := i % len(queries)
				start := time.Now()
				r.Rank(queries[at], "", 20)
				best[at] = min(best[at], time.Since(start))
			}
			b.StopTimer()
			slices.Sort(best)
			b.ReportMetric(float64(best[len(best)/2].Nanoseconds()), "p50-ns")
			b.ReportMetric(float64(best[len(best)*99/100].Nanoseconds()), "p99-ns")
		})
	}
}

// BenchmarkRankerBuild reports what the index keeps per entry.
func BenchmarkRankerBuild(b *testing.B) {
	in := resolvetest.Catalogue(1, 100_000)
	b.ReportAllocs()
	for b.Loop() {
		newRanker(b, in)
	}
}
