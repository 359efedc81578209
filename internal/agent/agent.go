// Package agent holds the use cases of GIDP for principals: interests and their life, projections, sessions as responder and as initiator, the inbox of decisions,
// leads, the ledger at rest and the audit trail. The command line, the inbox page and the A2A endpoint call exactly this.
//
// # What happens when
//
// An act changes rows in one transaction and schedules what has to follow: a projection to publish or to withdraw, a provider to ask, a session to drive, the end
// of a validity. [Agent.Run] does that work, here or in another process on the same store; work that was claimed by a process that died is claimed again. So an act
// is done when it returns, and its effects on others happen once somebody with a network runs.
//
// # What is kept
//
// Bodies are JSON sealed by the vault, each for its own place: interest/ID, projection/REF, exploration/ID and so on. In the clear lie ids, states, times and the
// name of a profile. No private value reaches a session: it is given a gidp.View, and the vault adds the value that a session has decided to release.
//
// # What a backup hides
//
// What was told after a backup is not in it. When the database is older than the keys folder has seen, everything that an attribute with a budget could still tell counts
// as told, until its Principal says otherwise ([Agent.Budget]); restored.go says what is noticed and what is not. After the whole data folder was put back nothing can
// tell: [Agent.FreezeLedger] says it.
package agent

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"sayso/gidp/profile"
	"sayso/gidp/session"
	"sayso/internal/agent/durable"
	"sayso/internal/vault"
	"sayso/jcs"
)

// Options are what an agent is made of. Store, Vault and Random are required.
type Options struct {
	Store    durable.Store
	Vault    *vault.Vault
	Profiles *profile.Set // nil: those that are shipped
	Origin   string       // endpoints are Origin/a2a/REF; "" makes none
	// Peers and Providers reach others; nil leaves this process without a network: then a running server, or nobody, does that work.
	Peers     Peers
	Providers Providers
	Session   *session.Config // nil: the defaults
	Tick      time.Duration   // of released answers; 0: 250 ms; below 0: none
	Now       func() time.Time
	Random    io.Reader // cryptographic, safe for concurrent use
	Log       *slog.Logger
	// Notify is called after a decision began to wait for a Principal. It gets no more than the id of the entry.
	Notify func(entry string)
	// MultiParty offers and accepts the feature multi_party, and lets named dependencies be searched for (experimental).
	MultiParty bool
}

const defaultTick = 250 * time.Millisecond

// Agent answers for the principals of one data folder. It is safe for concurrent use, beside others on the same store.
type Agent struct {
	Options

	kicked   chan struct{} // work may have become due; holds at most one
	watchers watchers      // who waits for a session of this process
	marked   *marked       // the store, watched for being older than it was
	opened   openCache     // what steps left open for the next ones
	networks networks      // who holds the open sessions
	returned returned      // what was shown in return for what peers have shown
	patience time.Duration // of Activate

	mu   sync.Mutex
	held map[string]cached // guarded by mu; by interest id
}

// cached is an opened interest with the sealed bytes it was opened from, so that a changed row is never served from here.
type cached struct {
	sealed []byte
	h      *vault.Holding
}

// maxHeld bounds the interests that are kept open in memory.
const maxHeld = 1024

// New makes an agent. It reads and starts nothing.
func New(o Options) (*Agent, error) {
	switch {
	case o.Store == nil, o.Vault == nil, o.Random == nil:
		return nil, errors.New("agent: a store, a vault and randomness are required")
	case o.Profiles == nil:
		o.Profiles = profile.Shipped()
	}
	if o.Session == nil {
		config := session.Defaults(o.Profiles.IDs()...)
		o.Session = &config
	}
	o.Session = offered(*o.Session, o.MultiParty)
	if o.Tick == 0 {
		o.Tick = defaultTick
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Origin = strings.TrimSuffix(o.Origin, "/")
	a := &Agent{Options: o, kicked: make(chan struct{}, 1), patience: defaultPatience, held: map[string]cached{}}
	a.marked = &marked{Store: o.Store, agent: a}
	a.Store = a.marked
	return a, nil
}

// kick tells a running loop that work may be due.
func (a *Agent) kick() {
	select {
	case a.kicked <- struct{}{}:
	default:
	}
}

// seal writes a value as JSON, sealed for a place.
func (a *Agent) seal(place string, v any) ([]byte, error) {
	text, err := jcs.Encode(v)
	if err != nil {
		return nil, inside("seal "+kindOfPlace(place), err)
	}
	return a.Vault.Seal(place, text)
}

// unseal opens what [Agent.seal] wrote for the same place. A member that into does not declare is refused.
func (a *Agent) unseal(place string, sealed []byte, into any) error {
	text, err := a.Vault.Unseal(place, sealed)
	if err != nil {
		return inside("open "+kindOfPlace(place), err)
	}
	if jcs.DecodeKnown(text, into) != nil { // what it says quotes the text
		return fmt.Errorf("open %s: %w", kindOfPlace(place), vault.ErrSeal)
	}
	return nil
}

// kindOfPlace is the part of a place before its id, which errors do not repeat.
func kindOfPlace(place string) string {
	kind, _, _ := strings.Cut(place, "/")
	return kind
}

// holding returns an interest with its private values behind methods, and its row.
func (a *Agent) holding(ctx context.Context, r durable.Reader, id string) (*vault.Holding, durable.InterestRow, error) {
	row, err := r.Interest(ctx, id)
	if errors.Is(err, durable.ErrNotFound) {
		return nil, row, unknownInterest()
	}
	if err != nil {
		return nil, row, inside("read interest", err)
	}
	h, err := a.open(row)
	return h, row, err
}

// open opens the body of a row, or finds it opened.
func (a *Agent) open(row durable.InterestRow) (*vault.Holding, error) {
	a.mu.Lock()
	found, ok := a.held[row.ID]
	a.mu.Unlock()
	if ok && bytes.Equal(found.sealed, row.Body) {
		return found.h, nil
	}
	h, err := a.Vault.Held(row.ID, row.Body, a.Profiles)
	if err != nil {
		return nil, inside("open interest", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.held) >= maxHeld {
		clear(a.held)
	}
	a.held[row.ID] = cached{bytes.Clone(row.Body), h}
	return h, nil
}

// newID draws an id that says nothing but its kind: 80 random bits behind a prefix.
func (a *Agent) newID(prefix string) (string, error) {
	text, err := a.draw(10)
	return prefix + text, err
}

// draw returns n random bytes in hex.
func (a *Agent) draw(n int) (string, error) {
	raw := make([]byte, n)
	if _, err := io.ReadFull(a.Random, raw); err != nil {
		return "", inside("draw", err)
	}
	return hex.EncodeToString(raw), nil
}
