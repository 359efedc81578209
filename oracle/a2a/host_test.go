package a2a

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"testing"
	"time"

	"sayso/gidp/gidpa2a"
	"sayso/gidp/wire"
	"sayso/jwk"
)

const tick = 20 * time.Millisecond

// host accepts one kind of session: it answers the first ask and asks back as soon as somebody listens.
type host struct {
	t       *testing.T
	mu      sync.Mutex // guards what follows
	tasks   map[string]*task
	keys    map[string]ed25519.PublicKey
	changed chan struct{}
}

type task struct {
	gidpa2a.Task
	caller string
	seen   map[[32]byte]bool
	asked  bool
}

func newHost(t *testing.T) *host {
	return &host{t: t, tasks: map[string]*task{}, keys: map[string]ed25519.PublicKey{}, changed: make(chan struct{})}
}

func (h *host) Receive(_ context.Context, m gidpa2a.Message) (gidpa2a.Task, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	object, err := wire.Decode(m.Object)
	if err != nil {
		return gidpa2a.Task{}, &gidpa2a.Refusal{Code: gidpa2a.Invalid, Cause: err}
	}
	id := m.Task
	if _, opens := object.(*wire.SessionOpen); opens {
		sum := sha256.Sum256([]byte(m.Ref + m.Context))
		id = hex.EncodeToString(sum[:16])
		if h.tasks[id] == nil {
			if h.keys[m.Caller], err = jwk.ParsePublic(m.Key); err != nil {
				return gidpa2a.Task{}, err
			}
			h.tasks[id] = &task{Task: gidpa2a.Task{ID: id, Session: m.Context}, caller: m.Caller, seen: map[[32]byte]bool{}}
		}
	}
	k := h.tasks[id]
	if k == nil || k.caller != m.Caller {
		return gidpa2a.Task{}, &gidpa2a.Refusal{Code: gidpa2a.NotFound}
	}
	sum := sha256.Sum256(m.Object)
	switch {
	case k.seen[sum] && !k.Closed:
		return k.Task, nil
	case k.Closed:
		return gidpa2a.Task{}, &gidpa2a.Refusal{Code: gidpa2a.Closed}
	}
	k.seen[sum] = true
	head := wire.Head{SessionID: m.Context, ExpiresAt: m.ReceivedAt.Add(time.Hour)}
	switch o := object.(type) {
	case *wire.SessionOpen:
		h.add(k, m, &wire.SessionAccept{Head: head, RequestRef: o.RequestID, Responder: "responder-1", MaxDepth: o.MaxDepth, Profile: o.Profile, Features: []wire.Feature{}})
	case *wire.CompatibilityRequest:
		h.add(k, m, &wire.CompatibilityResponse{Head: head, RequestRef: o.RequestID, Results: []wire.Outcome{{ClaimID: o.Claims[0].ID, Key: o.Claims[0].Key, Result: wire.Compatible}},
			SessionStatus: wire.StatusPotential, Permitted: []wire.NextAction{}, Requires: []string{}, ContingentOn: []string{}})
	case *wire.ConsentResponse:
		k.Awaiting = 0
	case *wire.SessionClose:
		k.Closed = true
	}
	k.Version++
	close(h.changed)
	h.changed = make(chan struct{})
	return k.Task, nil
}

func (h *host) add(k *task, m gidpa2a.Message, o wire.Object) {
	data, err := wire.Encode(o)
	if err != nil {
		h.t.Error(err)
	}
	k.Artifacts = append(k.Artifacts, gidpa2a.Artifact{Number: len(k.Artifacts) + 1, Object: data, Release: gidpa2a.Release(m.ReceivedAt, time.Now(), tick)})
}

func (h *host) Task(_ context.Context, _, id, caller string) (gidpa2a.Task, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := h.tasks[id]
	if k == nil || k.caller != caller {
		return gidpa2a.Task{}, &gidpa2a.Refusal{Code: gidpa2a.NotFound}
	}
	return k.Task, nil
}

func (h *host) Wait(ctx context.Context, id string, seen uint64) error {
	for {
		h.mu.Lock()
		k, changed := h.tasks[id], h.changed
		if !k.asked { // somebody listens: the agent has a request of its own
			k.asked = true
			h.add(k, gidpa2a.Message{ReceivedAt: time.Now()}, &wire.ConsentRequest{
				Head: wire.Head{SessionID: k.Session, ExpiresAt: time.Now().Add(time.Hour)}, RequestID: "r-1", Action: wire.ActDisclose, Scope: []string{"sector"},
			})
			k.Awaiting = len(k.Artifacts)
			k.Version++
		}
		other := k.Version != seen
		h.mu.Unlock()
		if other {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (h *host) Key(_ context.Context, thumbprint string) (ed25519.PublicKey, bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	pub, ok := h.keys[thumbprint]
	return pub, ok, nil
}
