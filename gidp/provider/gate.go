package provider

import (
	"errors"
	"net/netip"
	"sync"
	"time"
)

// Op is what a quota counts.
type Op uint8

// The operations. Candidates counts what queries return: it bounds what one querent sees of the index (P-8).
const (
	Write Op = iota
	Search
	Resolving
	Candidates
	ops
)

// Limits is how much of each operation one key has in one hour of the clock.
type Limits [ops]int

// DefaultLimits are those of P-10, and 1,200 candidates.
var DefaultLimits = Limits{Write: 120, Search: 1200, Resolving: 600, Candidates: 1200}

// prefixFactor is how many keys' worth one network has: keys cost nothing, networks do.
const prefixFactor = 20

// Allows is the decision: whether n more fit beside what was used in this hour.
func (l Limits) Allows(used Limits, op Op, n int) bool { return n <= l[op]-used[op] }

// Caller is who asks: a key that the carrier of the request has verified, and the network it came from. No account stands behind it.
type Caller struct {
	Key  Thumbprint
	Addr netip.Addr // not the loopback: counted by its /24 or /48
	Tier string     // quota class of a membership token, "" without one
}

// Network is the prefix by which an address is counted; false for the loopback, which is not.
func Network(a netip.Addr) (netip.Prefix, bool) {
	a = a.Unmap().WithZone("")
	if !a.IsValid() || a.IsLoopback() {
		return netip.Prefix{}, false
	}
	bits := 48
	if a.Is4() {
		bits = 24
	}
	p, err := a.Prefix(bits)
	return p, err == nil
}

// ErrBans says that no further ban fits.
var ErrBans = errors.New("the list of bans is full")

const maxBans = 1 << 16

// gate counts and shuts out. It forgets every count when the hour ends, and never holds more than callers of them.
type gate struct {
	mu       sync.Mutex
	tiers    map[string]Limits
	callers  int
	hour     int64
	keys     map[Thumbprint]Limits
	networks map[netip.Prefix]Limits
	banned   bans[Thumbprint]
	shut     bans[netip.Prefix]
}

// bans holds until when somebody is shut out; an entry ends by itself.
type bans[K comparable] map[K]time.Time

func (b bans[K]) holds(k K, now time.Time) bool { return now.Before(b[k]) }

func (b bans[K]) add(k K, now, until time.Time) error {
	if _, ok := b[k]; !ok && len(b) >= maxBans {
		for old, end := range b {
			if !now.Before(end) {
				delete(b, old)
			}
		}
		if len(b) >= maxBans {
			return ErrBans
		}
	}
	b[k] = until
	return nil
}

func (g *gate) turn(now time.Time) {
	// A clock that steps back starts no new hour.
	if hour := now.Unix() / 3600; hour > g.hour || g.keys == nil {
		g.hour, g.keys, g.networks = hour, map[Thumbprint]Limits{}, map[netip.Prefix]Limits{}
	}
}

// admit refuses the banned, and charges n of an operation to the key and to the network, or to neither. It returns how many were charged: of Candidates, what
// is left of n; of the others all or an error.
func (g *gate) admit(now time.Time, c Caller, op Op, n int) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.turn(now)
	network, counted := Network(c.Addr)
	if g.banned.holds(c.Key, now) || counted && g.shut.holds(network, now) {
		return 0, refuse(CodeBanned, "", "shut out for abuse")
	}
	limits := g.tiers[c.Tier]
	wide := limits
	for i := range wide {
		wide[i] *= prefixFactor
	}
	if op == Candidates {
		n = min(n, limits[op]-g.keys[c.Key][op])
		if counted {
			n = min(n, wide[op]-g.networks[network][op])
		}
	}
	_, seen := g.keys[c.Key]
	if n < 1 || !limits.Allows(g.keys[c.Key], op, n) || counted && !wide.Allows(g.networks[network], op, n) || !seen && len(g.keys) >= g.callers {
		wait := time.Unix((g.hour+1)*3600, 0).Sub(now)
		return 0, &Error{Code: CodeQuota, Detail: "asked too often in this hour", RetryAfter: (wait + time.Second - 1).Truncate(time.Second)}
	}
	g.charge(c.Key, network, counted, op, n)
	return n, nil
}

// refund gives back what a query was charged and did not return.
func (g *gate) refund(now time.Time, c Caller, op Op, n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now.Unix()/3600 != g.hour {
		return
	}
	network, counted := Network(c.Addr)
	g.charge(c.Key, network, counted, op, -n)
}

func (g *gate) charge(key Thumbprint, network netip.Prefix, counted bool, op Op, n int) {
	used := g.keys[key]
	used[op] += n
	g.keys[key] = used
	if counted {
		used = g.networks[network]
		used[op] += n
		g.networks[network] = used
	}
}

// bars reports which of the owners are banned.
func (g *gate) bars(now time.Time) func(Thumbprint) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.banned) == 0 {
		return func(Thumbprint) bool { return false }
	}
	return func(k Thumbprint) bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.banned.holds(k, now)
	}
}
