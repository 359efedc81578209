package facts_test

import (
	"runtime"
	"testing"

	"sayso/facts/resolvetest"
)

// F§6.12: the index stays flat; beside the caller's entries a ranker keeps at most 200 bytes for each.
func TestRankerMemory(t *testing.T) {
	const entries, most = 50_000, 200
	in := resolvetest.Catalogue(1, entries)
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	r := newRanker(t, in)
	after := heap()
	per := (float64(after) - float64(before)) / entries
	t.Logf("%.0f bytes per entry", per)
	if per > most {
		t.Errorf("%.0f bytes per entry, at most %d", per, most)
	}
	runtime.KeepAlive(r)
	runtime.KeepAlive(in.Entries)
}
