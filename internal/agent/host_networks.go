package agent

import (
	"context"
	"sync"
	"time"

	"sayso/gidp/gidpa2a"
	"sayso/internal/agent/durable"
)

// One network may hold a share of the open sessions, so that it cannot keep the others out until its own end. Networks are told apart by a keyed digest, which an
// open session has in its sealed body and a closed one no longer: no address is kept. The count is of this process. It is made anew from the store when the first
// open of a process comes, from time to time after that, and before anybody is refused on old numbers; so neither a restart nor another process on the store
// gives a network a second share for long.

// maxOpenOfNetwork is the share of one network, a /24 or a /48 of IPv6. The own machine has none.
const maxOpenOfNetwork = maxOpen / 4

const (
	networksEvery = 30 * time.Second // how old a count may be
	networksAgain = 5 * time.Second  // and how old one by which somebody is refused
)

// networks counts the open sessions of each network. The zero value is ready.
type networks struct {
	mu    sync.Mutex
	at    time.Time           // guarded by mu; when the store was last counted; zero: never
	of    map[string]string   // guarded by mu; digest of the network by session; "" of one that came over the own machine
	open  map[string]int      // guarded by mu; sessions by digest
	begun map[string]struct{} // guarded by mu; sessions whose open has not committed yet
}

func (n *networks) stale(digest string, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	age := now.Sub(n.at)
	return n.at.IsZero() || age < 0 || age >= networksEvery || n.open[digest] >= maxOpenOfNetwork && age >= networksAgain
}

// enter counts a session that is about to open. Doing it again changes nothing. ok is false when the network has its share.
func (n *networks) enter(id, digest string) (ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, counted := n.of[id]; counted {
		return true
	}
	if n.open[digest] >= maxOpenOfNetwork {
		return false
	}
	n.add(id, digest)
	if n.begun == nil {
		n.begun = map[string]struct{}{}
	}
	n.begun[id] = struct{}{}
	return true
}

// add counts a session. The caller holds mu.
func (n *networks) add(id, digest string) {
	if n.of == nil {
		n.of, n.open = map[string]string{}, map[string]int{}
	}
	n.of[id] = digest
	if digest != "" {
		n.open[digest]++
	}
}

// remove forgets a session. The caller holds mu.
func (n *networks) remove(id string) {
	digest, counted := n.of[id]
	if !counted {
		return
	}
	delete(n.of, id)
	if n.open[digest]--; n.open[digest] <= 0 {
		delete(n.open, digest)
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
func (a *Agent) countNetworks(ctx context.Context, digest string) error {
	n, now := &a.networks, a.Now()
	if digest == "" || !n.stale(digest, now) {
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
	found := map[string]string{}
	for _, row := range open {
		n.mu.Lock()
		known, counted := n.of[row.ID]
		n.mu.Unlock()
		if !counted {
			var body sessionBody
			if a.unseal(sessionPlace(row.ID), row.Body, &body) == nil { // one that is damaged is no reason to answer nobody
				known = body.Network
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
	for id, digest := range found {
		n.add(id, digest)
	}
	return nil
}

// admitNetwork refuses an open of a network that has its share, before the interest is looked at and alike for every reference.
func (a *Agent) admitNetwork(id string, m gidpa2a.Message) error {
	digest := a.networkDigest(m.Remote)
	if digest == "" || a.networks.enter(id, digest) {
		return nil
	}
	return limited()
}
