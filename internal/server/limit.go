package server

import (
	"net/netip"
	"sync"
	"time"
)

// maxAddresses bounds the memory of the limiter. Addresses beyond it share one allowance until the minute ends.
const maxAddresses = 1 << 16

// limiter counts requests by address within the running minute.
type limiter struct {
	allowance int

	mu     sync.Mutex // held while one request is counted
	minute int64
	counts map[netip.Addr]int
}

func newLimiter(allowance int) *limiter {
	return &limiter{allowance: allowance, counts: map[netip.Addr]int{}}
}

// take counts one request. When the allowance is used up it returns the seconds until the next minute.
func (l *limiter) take(a netip.Addr, now time.Time) (wait int, ok bool) {
	if a.Is6() {
		// One subscriber usually holds a /64.
		p, _ := a.Prefix(64)
		a = p.Addr()
	}
	seconds := now.Unix()
	l.mu.Lock()
	defer l.mu.Unlock()
	if minute := seconds / 60; minute != l.minute {
		l.minute = minute
		clear(l.counts)
	}
	if _, known := l.counts[a]; !known && len(l.counts) >= maxAddresses {
		a = netip.Addr{}
	}
	if l.counts[a] >= l.allowance {
		return int(60 - seconds%60), false
	}
	l.counts[a]++
	return 0, true
}
