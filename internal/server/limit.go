package server

import (
	"crypto/sha256"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// maxCounted bounds the memory of a limiter. Callers beyond it share one allowance until the minute ends.
const maxCounted = 1 << 16

// limiter counts requests by caller within the running minute.
type limiter[K comparable] struct {
	allowance int

	mu     sync.Mutex // held while one request is counted
	minute int64
	counts map[K]int
}

func newLimiter[K comparable](allowance int) *limiter[K] {
	return &limiter[K]{allowance: allowance, counts: map[K]int{}}
}

// take counts one request. When the allowance is used up it returns the seconds until the next minute.
func (l *limiter[K]) take(k K, now time.Time) (wait int, ok bool) {
	return l.count(k, now, 1)
}

// left is take without counting.
func (l *limiter[K]) left(k K, now time.Time) (wait int, ok bool) {
	return l.count(k, now, 0)
}

func (l *limiter[K]) count(k K, now time.Time, n int) (wait int, ok bool) {
	seconds := now.Unix()
	l.mu.Lock()
	defer l.mu.Unlock()
	if minute := seconds / 60; minute != l.minute {
		l.minute = minute
		clear(l.counts)
	}
	if _, known := l.counts[k]; !known && len(l.counts) >= maxCounted {
		var shared K
		k = shared
	}
	if l.counts[k] >= l.allowance {
		return int(60 - seconds%60), false
	}
	if n > 0 {
		l.counts[k] += n
	}
	return 0, true
}

// limits are the counts of the public listener. A request with a credential on a route that is counted by key does not use up what its address has, so that
// callers behind one address do not refuse each other; credentials that turned out not to be good are counted by address, so that inventing new ones gains nothing.
type limits struct {
	addresses *limiter[netip.Addr]
	keys      *limiter[[sha256.Size]byte]
	failures  *limiter[netip.Addr]
}

func newLimits(allowance int) *limits {
	return &limits{addresses: newLimiter[netip.Addr](allowance), keys: newLimiter[[sha256.Size]byte](allowance), failures: newLimiter[netip.Addr](allowance)}
}

// take counts one request. who says whose allowance was used up.
func (l *limits) take(r *http.Request, client netip.Addr, byKey bool, now time.Time) (who string, wait int, ok bool) {
	client = subscriber(client)
	credential := r.Header.Get("Authorization")
	if !byKey || credential == "" {
		wait, ok = l.addresses.take(client, now)
		return "from this address", wait, ok
	}
	if wait, ok = l.failures.left(client, now); !ok {
		return "with credentials that are not good", wait, false
	}
	wait, ok = l.keys.take(sha256.Sum256([]byte(credential)), now)
	return "with this credential", wait, ok
}

// failed counts a credential that was not good.
func (l *limits) failed(client netip.Addr, now time.Time) { l.failures.take(subscriber(client), now) }

// subscriber is the address that is counted: one subscriber usually holds a /64.
func subscriber(a netip.Addr) netip.Addr {
	if a.Is6() {
		p, _ := a.Prefix(64)
		return p.Addr()
	}
	return a
}
