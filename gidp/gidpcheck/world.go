package gidpcheck

import (
	"errors"
	"fmt"
	"time"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/gidp/session"
	"sayso/gidp/wire"
)

// Side is one agent with its interest, its session and its outbox.
type Side struct {
	Name     string
	Interest *interest.Interest
	Profile  *gidp.Profile
	Peer     gidp.Counterparty
	Required []string
	Active   bool
	Config   session.Config
	State    session.State
	Ledger   gidp.Ledger
	Sent     [][]byte // everything that left, in order
	Rows     []string // the row of the decision order, or the transition, that justifies each object of Sent
	Effects  []session.Effect
	held     map[string]*wire.CompatibilityRequest
}

// World is two sides and what is between them.
type World struct {
	Now   time.Time
	A, B  *Side
	ToA   [][]byte
	ToB   [][]byte
	Watch func(from *Side, data []byte) error // looks at every object that leaves; an error ends the run
}

// Epoch is where the clock of a scenario starts.
var Epoch = time.Date(2031, 1, 2, 3, 4, 5, 0, time.UTC)

// NewWorld puts two interests under a profile opposite each other. A opens.
func NewWorld(p *gidp.Profile, a, b *interest.Interest) *World {
	side := func(name string, i *interest.Interest) *Side {
		return &Side{Name: name, Interest: i, Profile: p, Active: true, Config: session.Defaults(p.ID), Ledger: gidp.Ledger{}, held: map[string]*wire.CompatibilityRequest{}}
	}
	return &World{Now: Epoch, A: side("A", a), B: side("B", b)}
}

// Other is the side opposite.
func (w *World) Other(s *Side) *Side {
	if s == w.A {
		return w.B
	}
	return w.A
}

// Env is the moment of a side.
func (w *World) Env(s *Side) session.Env {
	return session.Env{Now: w.Now, Config: s.Config, View: s.View()}
}

// Towards is whom the side faces.
func (s *Side) Towards() interest.Towards {
	return interest.Towards{Active: s.Active, Peer: s.Peer, Depth: s.State.Depth, Revealed: s.State.Revealed()}
}

// View is what the side's session knows now.
func (s *Side) View() gidp.View {
	v := s.Interest.View(s.Profile, s.Towards())
	v.Required = s.Required
	return v
}

// Do lets an event of the own side happen. What is sent waits in the peer's queue.
func (w *World) Do(s *Side, ev session.Event) error {
	if ask, ok := ev.(session.AskClaims); ok {
		if err := s.Interest.Vet(s.Profile, s.Towards(), ask.Claims); err != nil {
			return err
		}
	}
	next, messages, effects, err := session.Step(w.Env(s), s.State, ev)
	if err != nil {
		return err
	}
	return w.commit(s, session.Outcome{State: next, Ledger: s.Ledger, Messages: messages, Effects: effects})
}

// Deliver hands bytes to a side, whoever made them.
func (w *World) Deliver(s *Side, data []byte) error {
	return w.deliver(s, session.Delivery{Data: data, Self: "responder-" + s.Name})
}

func (w *World) deliver(s *Side, d session.Delivery) error {
	out, err := session.Deliver(w.Env(s), s.Ledger, s.State, d)
	if err != nil {
		return err
	}
	if o, err := wire.Decode(d.Data); err == nil {
		if ask, ok := o.(*wire.CompatibilityRequest); ok {
			s.held[ask.RequestID] = ask
		}
	}
	return w.commit(s, out)
}

// Approve is the Principal's decision on a held ask.
func (w *World) Approve(s *Side, id string, granted bool) error {
	ask, ok := s.held[id]
	if !ok {
		return errors.New("no such ask")
	}
	out, err := session.DecideAsk(w.Env(s), s.Ledger, s.State, ask, granted)
	if err != nil {
		return err
	}
	return w.commit(s, out)
}

// commit is the transaction: state and ledger are replaced, values are added, and objects leave as bytes.
func (w *World) commit(s *Side, out session.Outcome) error {
	s.State, s.Ledger = out.State, out.Ledger
	s.Effects = append(s.Effects, out.Effects...)
	for _, m := range out.Messages {
		if m.Release != "" {
			value, ok := s.Interest.Value(m.Release)
			if !ok {
				return fmt.Errorf("%s releases %q, which it does not hold", s.Name, m.Release)
			}
			m.Object.(*wire.DisclosureResponse).Value = value
		}
		data, err := wire.Encode(m.Object)
		if err != nil {
			return fmt.Errorf("%s sends what cannot be written: %w", s.Name, err)
		}
		if w.Watch != nil {
			if err := w.Watch(s, data); err != nil {
				return err
			}
		}
		s.Sent, s.Rows = append(s.Sent, data), append(s.Rows, m.Row)
		if s == w.A {
			w.ToB = append(w.ToB, data)
		} else {
			w.ToA = append(w.ToA, data)
		}
	}
	return nil
}

// queue is what waits for a side.
func (w *World) queue(s *Side) *[][]byte {
	if s == w.A {
		return &w.ToA
	}
	return &w.ToB
}

// Next hands a side the oldest object that waits for it. What the side refuses is dropped: an operational outcome is the transport's.
func (w *World) Next(s *Side) error {
	q := w.queue(s)
	data := (*q)[0]
	*q = (*q)[1:]
	err := w.Deliver(s, data)
	var refused *session.Refusal
	if errors.As(err, &refused) {
		return nil
	}
	return err
}

// Drain delivers until nothing is under way.
func (w *World) Drain() error {
	for n := 0; len(w.ToA)+len(w.ToB) > 0; n++ {
		if n > 1000 {
			return errors.New("the two sides never come to rest")
		}
		side := w.B
		if len(w.ToB) == 0 {
			side = w.A
		}
		if err := w.Next(side); err != nil {
			return err
		}
	}
	return nil
}

// Pass lets time go by, on both sides.
func (w *World) Pass(d time.Duration) error {
	w.Now = w.Now.Add(d)
	for _, s := range []*Side{w.A, w.B} {
		if err := w.Do(s, session.Tick{}); err != nil {
			return err
		}
	}
	return w.Drain()
}

// Open opens the session and delivers everything.
func (w *World) Open(purpose string, depth wire.Depth) error {
	if err := w.Do(w.A, session.Open{SessionID: "session-1", Self: "initiator-A", Purpose: purpose, MaxDepth: depth}); err != nil {
		return err
	}
	return w.Drain()
}

// Objects are the objects of one type that a side has sent.
func (s *Side) Objects(kind wire.Type) (out [][]byte) {
	for _, data := range s.Sent {
		if o, err := wire.Decode(data); err == nil && o.Type() == kind {
			out = append(out, data)
		}
	}
	return out
}
