package gidpa2a

import (
	"crypto/sha256"
	"sync"
	"time"
)

// maxCounted bounds what each guard remembers.
const maxCounted = 1 << 16

// rate counts opens by network within the running minute. Networks beyond the bound share one allowance.
type rate struct {
	allowance int // 0: none is counted

	mu     sync.Mutex // guards what follows
	minute int64
	counts map[string]int
}

// take counts one open. When the allowance is used up it returns how long the minute lasts.
func (l *rate) take(network string, now time.Time) (wait time.Duration, ok bool) {
	if l.allowance <= 0 || network == "" {
		return 0, true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if minute := now.Unix() / 60; minute != l.minute || l.counts == nil {
		l.minute, l.counts = minute, map[string]int{}
	}
	if _, known := l.counts[network]; !known && len(l.counts) >= maxCounted {
		network = ""
	}
	if l.counts[network] >= l.allowance {
		return time.Duration(60-now.Unix()%60) * time.Second, false
	}
	l.counts[network]++
	return 0, true
}

// nonces remembers the nonces of opens for at least as long as their signatures would be taken. Two maps stand for two periods, so that forgetting costs nothing.
type nonces struct {
	mu       sync.Mutex // guards what follows
	since    time.Time  // when the running period began
	now, old map[[sha256.Size]byte]struct{}
}

// period is the longest time between the first and the last instant at which one signature is taken.
const period = 2 * window

// use records a nonce. fresh is false when it was used before; room is false when nothing more can be remembered in this period, so that nothing may be taken.
func (n *nonces) use(keyID, nonce string, now time.Time) (fresh, room bool) {
	// A thumbprint has one length, so that no two pairs are one text.
	sum := sha256.Sum256([]byte(keyID + nonce))
	n.mu.Lock()
	defer n.mu.Unlock()
	if age := now.Sub(n.since); n.now == nil || age >= period {
		n.old = n.now
		if age >= 2*period {
			n.old = nil
		}
		n.now, n.since = map[[sha256.Size]byte]struct{}{}, now
	}
	_, used := n.now[sum]
	if _, before := n.old[sum]; used || before {
		return false, true
	}
	if len(n.now) >= maxCounted {
		return true, false
	}
	n.now[sum] = struct{}{}
	return true, true
}

// maxStreams bounds the streams of all tasks together.
const maxStreams = 1 << 12

// streams counts who is listening, by task.
type streams struct {
	each int // of one task

	mu    sync.Mutex // guards what follows
	all   int
	tasks map[string]int
}

// enter counts one stream; leave is nil when there are too many.
func (s *streams) enter(task string) (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= maxStreams || s.tasks[task] >= s.each {
		return nil
	}
	if s.tasks == nil {
		s.tasks = map[string]int{}
	}
	s.all++
	s.tasks[task]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all--
		if s.tasks[task]--; s.tasks[task] == 0 {
			delete(s.tasks, task)
		}
	}
}
