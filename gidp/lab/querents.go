package lab

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/gidp/session"
	"sayso/gidp/wire"
)

// epoch is the moment of every session of the lab.
var epoch = time.Unix(2_000_000_000, 0).UTC()

// tactic is how a querent gets one claim answered.
type tactic struct {
	name string
	ask  func(p *probe, c wire.Claim) (wire.Result, error)
}

// tactics are the ways of gidp-lab.md sec. 6.5.
var tactics = []tactic{
	{"one session while it lasts", func(p *probe, c wire.Claim) (wire.Result, error) { return p.ask(c) }},
	{"restart and repeat", func(p *probe, c wire.Claim) (wire.Result, error) {
		for range 2 {
			if err := p.restart(); err != nil {
				return "", err
			}
			if _, err := p.ask(c); err != nil {
				return "", err
			}
		}
		return p.last, nil
	}},
	{"many identities", func(p *probe, c wire.Claim) (wire.Result, error) {
		p.peer = gidp.Counterparty{Verified: p.sessions%2 == 0}
		p.state = session.State{}
		return p.ask(c)
	}},
	{"supersede and repeat", func(p *probe, c wire.Claim) (wire.Result, error) {
		if _, err := p.ask(c); err != nil {
			return "", err
		}
		if p.state.Phase != session.Probing { // incompatible is final
			return p.last, nil
		}
		c.Supersedes = []string{p.claimID}
		return p.ask(c)
	}},
	{"reused claim ids", func(p *probe, c wire.Claim) (wire.Result, error) {
		if _, err := p.ask(c); err != nil {
			return "", err
		}
		got := p.last
		if p.state.Phase == session.Probing {
			c.ID = p.claimID
			if _, err := p.ask(c); err != nil {
				return "", err
			}
		}
		return got, nil
	}},
	{"mixed roles", func(p *probe, c wire.Claim) (wire.Result, error) {
		p.mixed = true
		return p.ask(c)
	}},
}

// probe is a querent opposite one secret, with everything that the responder has sent.
type probe struct {
	subject    *subject
	secret     *interest.Interest
	peer       gidp.Counterparty
	state      session.State
	sessions   int
	asked      int
	claimID    string
	last       wire.Result
	mixed      bool // the responder asks its own claims when a session opens
	transcript []byte
}

func (p *probe) towards() interest.Towards {
	return interest.Towards{Active: true, Peer: p.peer, Depth: wire.DepthSession}
}

func (p *probe) env() session.Env {
	return session.Env{Now: epoch, Config: session.Defaults(p.subject.rules.ID), View: p.secret.View(p.subject.rules, p.towards())}
}

// keep takes what the responder sends into the transcript.
func (p *probe) keep(messages []session.Message) error {
	for _, m := range messages {
		data, err := wire.Encode(m.Object)
		if err != nil {
			return fmt.Errorf("the responder sends what cannot be written: %w", err)
		}
		p.transcript = append(append(p.transcript, data...), '\n')
		if response, ok := m.Object.(*wire.CompatibilityResponse); ok {
			p.last = response.Results[0].Result
		}
	}
	return nil
}

// deliver hands the responder one object. A refusal is part of what the querent sees.
func (p *probe) deliver(o wire.Object) error {
	data, err := wire.Encode(o)
	if err != nil {
		return fmt.Errorf("the querent asks what cannot be written: %w", err)
	}
	out, err := session.Deliver(p.env(), nil, p.state, session.Delivery{Data: data, Self: fmt.Sprintf("responder-%d", p.sessions)})
	var refused *session.Refusal
	if errors.As(err, &refused) {
		p.transcript = append(append(p.transcript, refused.Error()...), '\n')
		return nil
	}
	if err != nil {
		return err
	}
	p.state = out.State
	return p.keep(out.Messages)
}

func (p *probe) head() wire.Head {
	return wire.Head{SessionID: fmt.Sprintf("session-%d", p.sessions), ExpiresAt: epoch.Add(10 * time.Minute)}
}

// open begins another session.
func (p *probe) open() error {
	p.sessions++
	p.state = session.State{}
	err := p.deliver(&wire.SessionOpen{Head: p.head(), RequestID: "r-1", Initiator: fmt.Sprintf("initiator-%d", p.sessions), Purpose: "lab",
		MaxDepth: wire.DepthSession, Profile: p.subject.rules.ID})
	if err != nil || !p.mixed {
		return err
	}
	claims := p.secret.Asks(p.subject.rules, p.towards())
	if len(claims) == 0 {
		return nil
	}
	if err := p.secret.Vet(p.subject.rules, p.towards(), claims); err != nil {
		return err
	}
	next, messages, _, err := session.Step(p.env(), p.state, session.AskClaims{Claims: claims})
	if err != nil {
		return err
	}
	p.state = next
	return p.keep(messages)
}

// restart writes the state, reads it again, and leaves the session for a new one.
func (p *probe) restart() error {
	if p.sessions > 0 {
		data, err := p.state.Append(nil)
		if err != nil {
			return err
		}
		if p.state, err = session.Parse(data); err != nil {
			return err
		}
	}
	return p.open()
}

// ask asks one claim, in a new session when there is none that would answer.
func (p *probe) ask(c wire.Claim) (wire.Result, error) {
	if p.state.Phase != session.Probing {
		if err := p.open(); err != nil {
			return "", err
		}
	}
	p.asked++
	if c.ID == "" {
		c.ID = fmt.Sprintf("c-%d", p.asked)
	}
	p.claimID = c.ID
	err := p.deliver(&wire.CompatibilityRequest{Head: p.head(), RequestID: fmt.Sprintf("r-%d", p.asked+1), Claims: []wire.Claim{c}, AllowedResults: wire.AllResults()})
	return p.last, err
}

// play lets a querent with a strategy and a tactic meet every secret, and counts what the responder sent in all sessions together.
func (s *subject) play(g *game, t tactic) (distinct int, bits float64, err error) {
	seen := map[string]float64{}
	for secret := range s.secrets {
		p := &probe{subject: s, secret: s.interest(secret)}
		set := g.everything()
		for {
			m, ok := g.next(set)
			if !ok {
				break
			}
			r, err := t.ask(p, g.moves[m].claim)
			if err != nil {
				return 0, 0, err
			}
			set = g.after(set, m, r)
			if set == 0 {
				return 0, 0, errors.New("a session answers other than the evaluator")
			}
		}
		seen[string(p.transcript)]++
	}
	return len(seen), entropy(slices.Sorted(maps.Values(seen))), nil
}

// after is what remains of a set when a move was answered.
func (g *game) after(set uint64, m int, r wire.Result) uint64 {
	if i := slices.Index(wire.AllResults(), r); i >= 0 {
		return g.split(set, m)[i]
	}
	return 0
}
