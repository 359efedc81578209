package agent

import (
	"context"
	"sync"
	"time"

	"sayso/gidp/gidpa2a"
	"sayso/internal/agent/durable"
)

// One network may hold a share of the open sessions, of all and of those at one reference, so that it cannot keep the others out until its own end. Networks are told apart by a keyed digest, which an
// open session has in its sealed body and a closed one no longer: no address is kept. The count is of this process. It is made anew from the store when the first
// open of a process comes, from time to time after that, and before anybody is refused on old numbers; so neither a restart nor another process on the store
// gives a network a second share for long.

// The shares of one network, a /24 or a /48 of IPv6. The own machine has none.
const (
	maxOpenOfNetwork      = maxOpen / 4
	maxOpenOfNetworkAtRef = maxOpenAtRef / 4
)

const (
	networksEvery = 30 * time.Second // how old a count may be
	networksAgain = 5 * time.Second  // and how old one by which somebody is refused
)

// networks counts the open sessions of each network. The zero value is ready.
type networks struct {
	mu    sync.Mutex
	at    time.Time           // guarded by mu; when the store was last counted; zero: never
	of    map[string]origin   // guarded by mu; by session
	open  map[origin]int      // guarded by mu; sessions of a network at each reference, and at all of them under ""
	begun map[string]struct{} // guarded by mu; sessions whose open has not committed yet
}

// origin is where a session came from and to.
type origin struct {
	network string // digest; "" over the own machine, which is not counted
	ref     string // agent_ref
}

func (n *networks) stale(at origin, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	age := now.Sub(n.at)
	return n.at.IsZero() || age < 0 || age >= networksEvery || n.full(at) && age >= networksAgain
}

// full reports whether a network has one of its shares. The caller holds mu.
func (n *networks) full(at origin) bool {
	return n.open[origin{network: at.network}] >= maxOpenOfNetwork || n.open[at] >= maxOpenOfNetworkAtRef
}

// enter counts a session that is about to open. Doing it again changes nothing. ok is false when the network has its share.
func (n *networks) enter(id string, at origin) (ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, counted := n.of[id]; counted {
		return true
	}
	if n.full(at) {
		return false
	}
	n.add(id, at)
	if n.begun == nil {
		n.begun = map[string]struct{}{}
	}
	n.begun[id] = struct{}{}
	return true
}

// add counts a session. The caller holds mu.
func (n *networks) add(id string, at origin) {
	if n.of == nil {
		n.of, n.open = map[string]origin{}, map[origin]int{}
	}
	n.of[id] = at
	if at.network != "" {
		n.open[at]++
		n.open[origin{network: at.network}]++
	}
}

// remove forgets a session. The caller holds mu.
func (n *networks) remove(id string) {
	at, counted := n.of[id]
	if !counted {
		return
	}
	delete(n.of, id)
	for _, at := range []origin{at, {network: at.network}} {
		if n.open[at]--; n.open[at] <= 0 {
			delete(n.open, at)
		}
	}
}

// began ends what enter began. kept says whether the session is open now.
func (n *networks) began(id string, kept bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, begun := n.begun[id]; !begun {
		return
	}
	delete(n.begun, id)
	if !kept {
		n.remove(id)
	}
}

// left forgets a session that has closed.
func (n *networks) left(id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.remove(id)
}

// networkDigest names a network in memory and in sealed bodies; "" for the own machine.
func (a *Agent) networkDigest(remote string) string {
	if remote == "" {
		return ""
	}
	return truncated(a.Vault.MAC("network", remote))
}

// countNetworks compares the count with the store when it is too old to admit a network by. A body is opened once in a process.
func (a *Agent) countNetworks(ctx context.Context, at origin) error {
	n, now := &a.networks, a.Now()
	if at.network == "" || !n.stale(at, now) {
		return nil
	}
	var open []durable.SessionRow
	err := a.Store.View(ctx, func(r durable.Reader) error {
		open = open[:0]
		return sessions(ctx, r, "", true, func(row durable.SessionRow) error {
			if !row.Initiator {
				open = append(open, row)
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	found := map[string]origin{}
	for _, row := range open {
		n.mu.Lock()
		known, counted := n.of[row.ID]
		n.mu.Unlock()
		if !counted {
			var body sessionBody
			if a.unseal(sessionPlace(row.ID), row.Body, &body) == nil { // one that is damaged is no reason to answer nobody
				known = origin{body.Network, row.Ref}
			}
		}
		found[row.ID] = known
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for id := range n.begun { // not in the store yet, or since a moment ago
		found[id] = n.of[id]
	}
	n.at, n.of, n.open = now, nil, nil
	for id, at := range found {
		n.add(id, at)
	}
	return nil
}

// admitNetwork refuses an open of a network that has its share, before the interest is looked at and alike for every reference.
func (a *Agent) admitNetwork(id string, m gidpa2a.Message) error {
	at := a.origin(m)
	if at.network == "" || a.networks.enter(id, at) {
		return nil
	}
	return limited()
}

func (a *Agent) origin(m gidpa2a.Message) origin { return origin{a.networkDigest(m.Remote), m.Ref} }
