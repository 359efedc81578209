package gidpcheck

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// Core is the core profile as the scenarios use it: no partition, no hierarchy, no minimum claim.
func Core() *gidp.Profile { return &gidp.Profile{ID: "core"} }

// Build makes the world of a scenario.
func (s *Scenario) Build() *World {
	w := NewWorld(Core(), s.Setup["A"].interest("A"), s.Setup["B"].interest("B"))
	w.A.Required, w.B.Required = s.Setup["A"].Required, s.Setup["B"].Required
	for _, side := range []*Side{w.A, w.B} {
		side.Config.SessionLife = 24 * time.Hour
	}
	return w
}

func (s Setup) interest(name string) *interest.Interest {
	i := &interest.Interest{ID: name, Lineage: name, Profile: "core", Attributes: s.Conditions, ConditionalOn: s.Conditional, Authority: map[gidp.Level]gidp.Permission{},
		Policy: interest.Policy{Entries: map[string]gidp.Entry{}}, Origin: interest.Stated, ExpiresAt: Epoch.AddDate(1, 0, 0)}
	for level := gidp.Observe; level <= gidp.Commit; level++ {
		i.Authority[level] = s.Authority[level]
	}
	for key, class := range s.Policy {
		i.Policy.Entries[key] = gidp.Entry{"": class}
	}
	return i
}

// Run plays a scenario in a world that was built for it. The error names the first step that is not as expected.
func (s *Scenario) Run(w *World) error {
	r := &runner{w: w, steps: s.Steps}
	for i, a := range s.Steps {
		r.at = i
		if err := r.step(a); err != nil {
			return fmt.Errorf("step %d, %s: %w", i+1, a.Name, err)
		}
	}
	return nil
}

type runner struct {
	w       *World
	steps   []Action
	at      int
	foreign int
	held    []byte // a disclosure request that is not handed over
	heldFor *Side
}

func (r *runner) side(raw jcs.Raw) (*Side, error) {
	switch text(raw) {
	case "A":
		return r.w.A, nil
	case "B":
		return r.w.B, nil
	}
	return nil, errors.New("a side is A or B")
}

func (r *runner) step(a Action) error {
	who := a.Args["from"]
	if who == nil {
		who = a.Args["role"]
	}
	side := r.w.A
	if who != nil {
		var err error
		if side, err = r.side(who); err != nil {
			return err
		}
	}
	switch a.Name {
	case "open":
		return r.w.Open(text(a.Args["purpose"]), wire.Depth(text(a.Args["max_depth"])))
	case "ask":
		return r.ask(side, a)
	case "expire_ask":
		return r.w.Pass(16 * time.Minute)
	case "request_disclosure":
		return r.disclosure(side, a)
	case "release_disclosure":
		data := r.held
		if data == nil {
			return errors.New("no disclosure request is held")
		}
		r.held = nil
		return r.answered(r.heldFor, data, a)
	case "request_consent":
		return r.request(side, session.AskConsent{Action: wire.Action(text(a.Args["action"])), Scope: texts(a.Args["scope"])}, a)
	case "principal_answers":
		before := len(side.Sent)
		if err := r.w.Do(side, session.Decide{Ref: side.State.Recv.ID, Granted: truth(a.Args["granted"])}); err != nil {
			return err
		}
		if err := r.expect(side.Sent[before:], a); err != nil {
			return err
		}
		return r.w.Drain()
	case "set_authority":
		level, ok := gidp.ParseLevel(text(a.Args["level"]))
		permission, fits := parsePermission(a.Args["value"])
		if !ok || !fits {
			return errors.New("no such level or value")
		}
		side.Interest.Authority[level] = permission
		return nil
	case "handoff":
		return r.handoff(side, a)
	}
	return r.look(side, a)
}

// look is an action that only asks.
func (r *runner) look(s *Side, a Action) error {
	var got string
	switch a.Name {
	case "qualify":
		got = strconv.FormatBool(slices.Contains([]session.Phase{session.Qualified, session.Consented, session.HandedOff}, s.State.Phase))
	case "opportunities":
		got = strconv.Itoa(len(s.Objects(wire.TypeOpportunity)))
	case "state":
		got = s.State.WireState()
	case "status":
		got = string(session.Status(r.w.Env(s), s.State))
	case "opportunity":
		list := s.Objects(wire.TypeOpportunity)
		if len(list) == 0 {
			return errors.New("none was emitted")
		}
		return r.expect(list[len(list)-1:], a)
	}
	want := texts(a.Args["expect"])
	if want == nil {
		want = []string{string(a.Args["expect"])}
	}
	if !slices.Contains(want, got) {
		return fmt.Errorf("side %s: %s, want %s", s.Name, got, a.Args["expect"])
	}
	return nil
}

func (r *runner) ask(s *Side, a Action) error {
	list, err := claims(a.Args["claims"])
	if err != nil {
		return err
	}
	peer := r.w.Other(s)
	hold := truth(a.Args["hold"])
	before := len(peer.Sent)
	err = r.w.Do(s, session.AskClaims{Claims: list})
	done, err := r.localOutcome(a, err, "expect_results", "expect_status")
	if err != nil {
		return err
	}
	var data []byte
	switch {
	case done: // our side refused, and that is all there is to see
		return nil
	case len(*r.w.queue(peer)) == 0: // our side refused, and an answer is expected: foreign bytes
		r.foreign++
		data, err = wire.Encode(&wire.CompatibilityRequest{Head: r.head(s), RequestID: fmt.Sprintf("x-%d", r.foreign), Claims: list, AllowedResults: wire.AllResults()})
		if err != nil {
			return err
		}
		if err := r.w.Deliver(peer, data); err != nil {
			return err
		}
		answer := peer.Sent[before:]
		*r.w.queue(s) = nil
		return r.expect(answer, a)
	}
	for len(*r.w.queue(peer)) > 0 {
		if err := r.w.Next(peer); err != nil {
			return err
		}
	}
	if asks := peer.State.AsksIn; !hold && len(asks) > 0 && asks[len(asks)-1].Held {
		if err := r.w.Approve(peer, asks[len(asks)-1].ID, true); err != nil {
			return err
		}
	}
	if err := r.expect(peer.Sent[before:], a); err != nil {
		return err
	}
	if !hold && r.heldAskFollows(s) {
		return nil // the answer waits until that one is sent
	}
	return r.w.Drain()
}

// heldAskFollows reports whether the same side's next step is an ask that is held.
func (r *runner) heldAskFollows(s *Side) bool {
	if r.at+1 >= len(r.steps) {
		return false
	}
	next := r.steps[r.at+1]
	return next.Name == "ask" && truth(next.Args["hold"]) && text(next.Args["from"]) == s.Name
}

// localOutcome judges what the own side said to a request. done: there is nothing more to see.
func (r *runner) localOutcome(a Action, err error, onWire ...string) (done bool, problem error) {
	if want, ok := a.Expect["expect_error"]; ok {
		if (err != nil) != truth(want) {
			return true, fmt.Errorf("the own side said %v, want a refusal: %s", err, want)
		}
	}
	if err == nil {
		return false, nil
	}
	for _, name := range onWire {
		if _, ok := a.Expect[name]; ok {
			return false, nil
		}
	}
	return true, nil
}

func (r *runner) head(s *Side) wire.Head {
	return wire.Head{SessionID: s.State.ID, ExpiresAt: r.w.Now.Add(15 * time.Minute)}
}

func (r *runner) disclosure(s *Side, a Action) error {
	peer := r.w.Other(s)
	q := r.w.queue(peer)
	ev := session.AskDisclosure{Attribute: text(a.Args["attribute"]), Purpose: text(a.Args["purpose"])}
	hold, lost := truth(a.Args["hold"]), truth(a.Args["undelivered"])
	if !hold && !lost {
		return r.request(s, ev, a)
	}
	if err := r.w.Do(s, ev); err != nil {
		return err
	}
	if hold {
		r.held, r.heldFor = (*q)[len(*q)-1], peer
	}
	*q = (*q)[:len(*q)-1]
	return nil
}

// request sends a disclosure or consent request and looks at the answer.
func (r *runner) request(s *Side, ev session.Event, a Action) error {
	peer := r.w.Other(s)
	err := r.w.Do(s, ev)
	done, problem := r.localOutcome(a, err, "expect_consent", "expect_disclosure")
	if problem != nil || done {
		return problem
	}
	if err == nil {
		q := r.w.queue(peer)
		data := (*q)[len(*q)-1]
		*q = (*q)[:len(*q)-1]
		return r.answered(peer, data, a)
	}
	data, err := wire.Encode(r.foreignRequest(s, ev))
	if err != nil {
		return err
	}
	before := len(peer.Sent)
	if err := r.w.Deliver(peer, data); err != nil {
		return err
	}
	*r.w.queue(s) = nil
	return r.expect(peer.Sent[before:], a)
}

// foreignRequest is a request that our own side would not send.
func (r *runner) foreignRequest(s *Side, ev session.Event) wire.Object {
	r.foreign++
	id := fmt.Sprintf("x-%d", r.foreign)
	if consent, ok := ev.(session.AskConsent); ok {
		return &wire.ConsentRequest{Head: r.head(s), RequestID: id, Action: consent.Action, Scope: consent.Scope}
	}
	e := ev.(session.AskDisclosure)
	return &wire.DisclosureRequest{Head: r.head(s), RequestID: id, Attribute: e.Attribute, Purpose: e.Purpose, RequestedSurface: "session", IntendedUse: wire.UseEvaluation}
}

// answered delivers a request and looks at what comes back.
func (r *runner) answered(peer *Side, data []byte, a Action) error {
	before := len(peer.Sent)
	if err := r.w.Deliver(peer, data); err != nil {
		return err
	}
	if err := r.expect(peer.Sent[before:], a); err != nil {
		return err
	}
	return r.w.Drain()
}

func (r *runner) handoff(s *Side, a Action) error {
	target, err := object(a.Args["target"], "kind", "protocol_ref")
	if err != nil {
		return err
	}
	peer := r.w.Other(s)
	before := len(peer.Sent)
	err = r.w.Do(s, session.HandOff{Target: wire.Target{Kind: wire.TargetKind(text(target["kind"])), ProtocolRef: text(target["protocol_ref"])}})
	done, err := r.localOutcome(a, err)
	if err != nil || done {
		return err
	}
	if err := r.w.Drain(); err != nil {
		return err
	}
	if want, ok := a.Expect["expect_recipient_error"]; ok {
		refused := slices.ContainsFunc(peer.Sent[before:], func(data []byte) bool {
			o, err := wire.Decode(data)
			end, ok := o.(*wire.SessionClose)
			return err == nil && ok && end.Reason == wire.ReasonUnsupported
		})
		if refused != truth(want) {
			return fmt.Errorf("the recipient refused: %v, want %s", refused, want)
		}
	}
	return nil
}

// expect compares the objects that a side sent with what a step expects of the wire.
func (r *runner) expect(sent [][]byte, a Action) error {
	for _, word := range texts(a.Expect["forbid_substrings"]) {
		for _, data := range sent {
			if bytes.Contains(data, []byte(word)) {
				return fmt.Errorf("%q is on the wire: %s", word, data)
			}
		}
	}
	for name, raw := range a.Expect {
		var err error
		switch name {
		case "expect_results":
			err = expectResults(sent, raw)
		case "expect_status":
			err = expectOne(sent, raw, func(o wire.Object) (string, bool) {
				answer, ok := o.(*wire.CompatibilityResponse)
				if !ok {
					return "", false
				}
				return string(answer.SessionStatus), true
			})
		case "expect_disclosure":
			err = expectOne(sent, raw, func(o wire.Object) (string, bool) {
				answer, ok := o.(*wire.DisclosureResponse)
				if !ok {
					return "", false
				}
				return string(answer.Status), true
			})
		case "expect_consent":
			err = expectOne(sent, raw, func(o wire.Object) (string, bool) {
				answer, ok := o.(*wire.ConsentResponse)
				if !ok {
					return "", false
				}
				return string(answer.Status), true
			})
		case "expect_contingent_on":
			o, bad := wire.Decode(sent[0])
			if bad != nil {
				return bad
			}
			if got := o.(*wire.Opportunity).ContingentOn; !slices.Equal(got, texts(raw)) && len(got)+len(texts(raw)) > 0 {
				err = fmt.Errorf("contingent on %q, want %s", got, raw)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// expectOne compares the first object of a kind.
func expectOne(sent [][]byte, want jcs.Raw, read func(wire.Object) (string, bool)) error {
	for _, data := range sent {
		o, err := wire.Decode(data)
		if err != nil {
			return err
		}
		if got, ok := read(o); ok {
			if !slices.Contains(texts(want), got) {
				return fmt.Errorf("%s, want %s", got, want)
			}
			return nil
		}
	}
	return fmt.Errorf("no answer, want %s", want)
}

func expectResults(sent [][]byte, raw jcs.Raw) error {
	var want []struct {
		ID     string `json:"claim_id"`
		Result string `json:"result"`
	}
	if err := jcs.DecodeKnown(raw, &want); err != nil {
		return err
	}
	got := map[string]string{}
	for _, data := range sent {
		o, err := wire.Decode(data)
		if err != nil {
			return err
		}
		if answer, ok := o.(*wire.CompatibilityResponse); ok {
			for _, result := range answer.Results {
				got[result.ClaimID] = string(result.Result)
			}
		}
	}
	for _, w := range want {
		if got[w.ID] != w.Result {
			return fmt.Errorf("claim %s: %q, want %s", w.ID, got[w.ID], w.Result)
		}
	}
	return nil
}
