package app

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"sayso/business/answer"
)

// DefaultAnswers bounds the compiled snapshots of a process when Options.Answers does not.
const DefaultAnswers = 512 << 20

// resident bounds what the compiled snapshots of a process hold: over the limit the one that was not asked for the longest time leaves. One that is larger
// than the limit stays alone.
type resident struct {
	limit int64
	tick  atomic.Uint64
	slots chan struct{} // taken by compiles for a caller: each holds a publisher's records twice

	mu    sync.Mutex
	sizes map[*content]int64
	total int64
}

func newResident(limit int64) *resident {
	return &resident{limit: limit, slots: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)), sizes: map[*content]int64{}}
}

// use is the compiled snapshot of a content, nil while it is not resident. It takes no lock.
func (m *resident) use(c *content) *answer.Compiled {
	compiled := c.compiled.Load()
	if compiled != nil {
		c.used.Store(m.tick.Add(1))
	}
	return compiled
}

// add makes a snapshot resident. A content that is not served any more stays out: nobody would ask for it again.
func (m *resident) add(c *content, compiled *answer.Compiled) {
	size := compiled.Size()
	m.mu.Lock()
	defer m.mu.Unlock()
	if c.gone {
		return
	}
	m.total += size - m.sizes[c]
	m.sizes[c] = size
	c.used.Store(m.tick.Add(1))
	c.compiled.Store(compiled)
}

// drop takes a content out that is not served any more. Calls that have it already end with it.
func (m *resident) drop(c *content) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c.gone = true
	m.remove(c)
}

func (m *resident) remove(c *content) {
	c.compiled.Store(nil)
	m.total -= m.sizes[c]
	delete(m.sizes, c)
}

// shrink makes room.
func (m *resident) shrink() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.total > m.limit && len(m.sizes) > 1 {
		var last *content
		for c := range m.sizes {
			if last == nil || c.used.Load() < last.used.Load() {
				last = c
			}
		}
		m.remove(last)
		last.wanted.Store(false)
	}
}

// slot waits until one more compile may run.
func (m *resident) slot(ctx context.Context) error {
	select {
	case m.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m *resident) leave() { <-m.slots }
