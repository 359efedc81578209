package session

import (
	"slices"
	"sync"
	"testing"
)

// walker is one of the goroutines of a search.
type walker struct {
	m *model
	f *findings
	s *search
	// next are the nodes that were found and not yet followed.
	next []*node
}

// search is what the walkers of one run share.
type search struct {
	shards [64]struct {
		sync.Mutex // guards seen
		seen       map[hash]struct{}
	}

	mu    sync.Mutex // guards what follows
	more  sync.Cond  // there are nodes, or nobody is busy
	nodes []*node
	busy  int
}

// fresh notes a node; it is false when the node is known.
func (s *search) fresh(k hash) bool {
	shard := &s.shards[k[0]%64]
	shard.Lock()
	defer shard.Unlock()
	_, known := shard.seen[k]
	shard.seen[k] = struct{}{}
	return !known
}

// portion is how many nodes a walker takes at once; it follows at most forty times as many before it gives back what it has found.
const portion = 64

// get takes nodes; there are none when the search is at its end.
func (s *search) get() []*node {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.nodes) == 0 && s.busy > 0 {
		s.more.Wait()
	}
	from := max(0, len(s.nodes)-portion)
	mine := slices.Clone(s.nodes[from:])
	clear(s.nodes[from:])
	s.nodes = s.nodes[:from]
	if len(mine) > 0 {
		s.busy++
	}
	return mine
}

func (s *search) put(nodes []*node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes = append(s.nodes, nodes...)
	s.busy--
	s.more.Broadcast()
}

func (w *walker) run() {
	for w.next = w.s.get(); len(w.next) > 0; w.next = w.s.get() {
		for range 40 * portion {
			last := len(w.next) - 1
			if last < 0 {
				break
			}
			n := w.next[last]
			w.next[last] = nil
			w.next = w.next[:last]
			w.follow(n)
		}
		w.s.put(w.next)
	}
}

// run walks the model to its end with some goroutines.
func (m *model) run(t *testing.T, walkers int) *findings {
	if m.step == nil {
		m.step = Step
	}
	s := &search{}
	s.more.L = &s.mu
	for i := range s.shards {
		s.shards[i].seen = map[hash]struct{}{}
	}
	first := m.start(t)
	s.fresh(m.key(first))
	s.nodes = []*node{first}
	all := newFindings()
	each := make([]*findings, walkers)
	var group sync.WaitGroup
	for i := range each {
		each[i] = newFindings()
		if m.keep {
			each[i].seen, each[i].shapes = map[hash]bool{}, map[string]bool{}
		}
		w := &walker{m: m, f: each[i], s: s}
		group.Go(w.run)
	}
	group.Wait()
	for _, f := range each {
		all.add(f)
	}
	for i := range s.shards {
		all.nodes += len(s.shards[i].seen)
	}
	return all
}
