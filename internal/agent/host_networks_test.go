package agent

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sayso/gidp/gidpa2a"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
)

const (
	crowded = "203.0.113.0/24"
	calm    = "2001:db8::/48"
)

// hold puts open sessions of a network into the store, as an earlier process left them.
func (w *world) hold(n int, network string) (ids []string) {
	w.t.Helper()
	a := w.seller.agent
	err := a.Store.Update(w.t.Context(), func(tx durable.Writer) error {
		ids = nil
		for i := range n {
			id := fmt.Sprintf("held-%s-%d", a.networkDigest(network), i)
			body, err := a.seal(sessionPlace(id), sessionBody{Network: a.networkDigest(network)})
			if err != nil {
				return err
			}
			row := durable.SessionRow{ID: id, Interest: w.seller.interest, Ref: fmt.Sprintf("%032x", i), Peer: "somebody", PeerKey: []byte(`{}`), Phase: string(session.Probing), Version: 1,
				OpenedAt: w.clock.read(), EndsAt: w.clock.read().AddDate(0, 0, 7), Body: body}
			if err := tx.AddSession(w.t.Context(), row); err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return ids
}

// from opens a session at a reference over a network.
func (w *world) from(ref, network, name string) (*stranger, gidpa2a.Task, error) {
	s := w.stranger(name)
	s.ref = ref
	m := s.message(s.bytes(s.openObject()))
	m.Remote = network
	task, err := w.seller.agent.Receive(w.t.Context(), m)
	s.task = task.ID
	return s, task, err
}

// A network that holds its share opens no more, after a restart too; what it is told is the same for every reference. Others are not in its way.
func TestANetworkHoldsAShareOfTheSessions(t *testing.T) {
	w := newWorld(t)
	held := w.hold(maxOpenOfNetwork-1, crowded)
	w.seller.restart()
	if _, _, err := w.from(w.ref, crowded, "s-last"); err != nil {
		t.Fatal(err)
	}
	for _, again := range []bool{false, true} {
		if again {
			w.seller.restart()
		}
		var told []string
		for _, ref := range []string{w.ref, strings.Repeat("0", 32)} {
			_, task, err := w.from(ref, crowded, "s-more")
			var refused *gidpa2a.Refusal
			if !errors.As(err, &refused) || refused.Code != gidpa2a.Limited || refused.Cause != nil || task.ID != "" {
				t.Fatalf("%s: %+v %v", ref, task, err)
			}
			told = append(told, fmt.Sprintf("%+v", *refused))
		}
		if told[0] != told[1] {
			t.Errorf("%q", told)
		}
		for i, other := range []string{calm, ""} {
			if _, task, err := w.from(w.ref, other, fmt.Sprintf("s-%d-%t", i, again)); err != nil || task.Closed {
				t.Errorf("from %q: %+v %v", other, task, err)
			}
		}
	}
	// Another process closes one; a count by which somebody is refused is not older than a few seconds.
	err := w.seller.options.Store.Update(t.Context(), func(tx durable.Writer) error {
		row, err := tx.Session(t.Context(), held[0])
		if err != nil {
			return err
		}
		row.Closed, row.Phase, row.ForgetAt = true, string(session.Closed), row.EndsAt
		return tx.PutSession(t.Context(), row)
	})
	if err != nil {
		t.Fatal(err)
	}
	w.clock.advance(networksAgain)
	if _, _, err := w.from(w.ref, crowded, "s-room"); err != nil {
		t.Error(err)
	}
}

// What one network opens at a reference leaves room there for others, after a restart too, whatever keys it makes.
func TestANetworkHoldsAShareOfAReference(t *testing.T) {
	w := newWorld(t)
	for i := range maxOpenOfNetworkAtRef {
		if _, task, err := w.from(w.ref, crowded, fmt.Sprint("s-", i)); err != nil || task.Closed {
			t.Fatalf("%d: %+v %v", i, task, err)
		}
	}
	for range 2 {
		if _, _, err := w.from(w.ref, crowded, "s-more"); code(err) != gidpa2a.Limited {
			t.Errorf("one more: %v", err)
		}
		w.seller.restart()
	}
	if _, task, err := w.from(w.ref, calm, "s-calm"); err != nil || task.Closed {
		t.Errorf("another network: %+v %v", task, err)
	}
	if _, task, err := w.from(strings.Repeat("0", 32), crowded, "s-elsewhere"); err != nil || !task.Closed {
		t.Errorf("another reference: %+v %v", task, err)
	}
}

// A session counts from its open to its close; an open that is not accepted, or not committed, counts for nobody.
func TestANetworkHoldsWhatIsOpen(t *testing.T) {
	w := newWorld(t)
	w.hold(maxOpenOfNetwork-1, crowded)
	for i := range 3 {
		if _, task, err := w.from(strings.Repeat("0", 32), crowded, fmt.Sprint("u-", i)); err != nil || !task.Closed {
			t.Fatalf("%+v %v", task, err)
		}
		s, _, err := w.from(w.ref, crowded, fmt.Sprint("s-", i))
		if err != nil {
			t.Fatal(err)
		}
		m := s.message(s.bytes(s.openObject()))
		m.Task, m.Remote = "", crowded
		if again, err := w.seller.agent.Receive(t.Context(), m); err != nil || again.ID != s.task {
			t.Errorf("an open that came before: %v", err)
		}
		if _, _, err := w.from(w.ref, crowded, "full"); code(err) != gidpa2a.Limited {
			t.Errorf("%v", err)
		}
		var body sessionBody
		look := func() {
			t.Helper()
			err := w.seller.agent.Store.View(t.Context(), func(r durable.Reader) error {
				row, err := r.Session(t.Context(), s.task)
				if err != nil {
					return err
				}
				body = sessionBody{}
				return w.seller.agent.unseal(sessionPlace(row.ID), row.Body, &body)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if look(); body.Network == "" || strings.Contains(body.Network, "203") {
			t.Errorf("%q", body.Network)
		}
		if _, err := s.send(&wire.SessionClose{Head: s.head(time.Hour), Reason: wire.ReasonUnspecified}); err != nil {
			t.Fatal(err)
		}
		if look(); body.Network != "" {
			t.Error("a closed session says where it came from")
		}
	}
}
