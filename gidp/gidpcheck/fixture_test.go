package gidpcheck

import (
	"errors"
	"slices"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// holder is an interest with everything the tests below ask about.

func holder(name string) *interest.Interest {
	raw := func(s string) jcs.Raw { return jcs.Raw(s) }
	class := func(s string) gidp.Entry {
		c, err := gidp.ParseClass(s)
		if err != nil {
			panic(err)
		}
		return gidp.Entry{"": c}
	}
	a, _ := gidp.Delegation("moderate")
	authority := map[gidp.Level]gidp.Permission{gidp.Commit: gidp.No}
	for level := gidp.Observe; level < gidp.Commit; level++ {
		authority[level] = a[level]
	}
	authority[gidp.Introduce] = gidp.Yes
	return &interest.Interest{
		ID: name, Version: 1, Lineage: "line-" + name, Profile: "core", Authority: authority, Origin: interest.Stated, ExpiresAt: Epoch.AddDate(1, 0, 0),
		Attributes: map[string]jcs.Raw{
			"field": raw(`"optics"`), "deep": raw(`"deep-` + name + `"`), "circle": raw(`"circle-` + name + `"`), "asked": raw(`"asked-` + name + `"`), "guarded": raw(`"guarded-` + name + `"`),
			"swap": raw(`"swap-` + name + `"`), "proof": raw(`"proof-` + name + `"`), "hidden": raw(`"hidden-` + name + `"`), "barred": raw(`"barred-` + name + `"`), "width": raw(`{"min":3,"max":9}`),
			gidp.PrincipalIdentity: raw(`"person-` + name + `"`),
		},
		Policy: interest.Policy{
			Entries: map[string]gidp.Entry{"field": class("discovery"), "deep": class("session"), "circle": class("network"), "asked": class("session/consent"), "guarded": class("session/principal_approval"),
				"swap": class("session"), "proof": class("session"), "barred": class("never"), "width": class("session"), gidp.PrincipalIdentity: class("session")},
			Networks:   []string{"guild"},
			Conditions: map[string]interest.Condition{"swap": {Reciprocal: true}, "proof": {Verify: []string{"urn:card"}}},
		},
	}
}

// pair is two holders with an open session.

func pair(t *testing.T) *World {
	t.Helper()
	return pairAt(t, wire.DepthSession)
}

func pairAt(t *testing.T, depth wire.Depth) *World {
	t.Helper()
	w := NewWorld(Core(), holder("a"), holder("b"))
	if err := w.Open("trade", depth); err != nil {
		t.Fatal(err)
	}
	return w
}

// qualified is a pair after its Opportunity.

func qualified(t *testing.T) *World {
	t.Helper()
	w := pair(t)
	ask(t, w, w.A, claim("c1", "field", wire.OpEquals, `"optics"`))
	if w.A.State.Phase != session.Qualified || w.B.State.Phase != session.Qualified {
		t.Fatalf("%s and %s, want QUALIFIED", w.A.State.Phase, w.B.State.Phase)
	}
	return w
}

func claim(id, key string, op wire.Operator, value string, supersedes ...string) wire.Claim {
	return wire.Claim{ID: id, Key: key, Operator: op, Value: jcs.Raw(value), Supersedes: supersedes}
}

// must lets an event happen and delivers everything.

func must(t *testing.T, w *World, s *Side, ev session.Event) {
	t.Helper()
	if err := w.Do(s, ev); err != nil {
		t.Fatal(err)
	}
	if err := w.Drain(); err != nil {
		t.Fatal(err)
	}
}

func ask(t *testing.T, w *World, s *Side, claims ...wire.Claim) *wire.CompatibilityResponse {
	t.Helper()
	must(t, w, s, session.AskClaims{Claims: claims})
	return last[*wire.CompatibilityResponse](t, w.Other(s))
}

// last is the newest object of a type that a side sent.

func last[T wire.Object](t *testing.T, s *Side) T {
	t.Helper()
	for _, data := range slices.Backward(s.Sent) {
		o, err := wire.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if typed, ok := o.(T); ok {
			return typed
		}
	}
	var none T
	t.Fatalf("side %s sent no %T", s.Name, none)
	return none
}

// inject delivers an object as a foreign implementation would send it, and returns what is answered.

func inject(t *testing.T, w *World, to *Side, o wire.Object) ([]wire.Object, error) {
	t.Helper()
	data, err := wire.Encode(o)
	if err != nil {
		t.Fatal(err)
	}
	before := len(to.Sent)
	err = w.Deliver(to, data)
	var out []wire.Object
	for _, data := range to.Sent[before:] {
		o, err := wire.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, o)
	}
	*w.queue(w.Other(to)) = nil
	return out, err
}

func head(w *World) wire.Head {
	return wire.Head{SessionID: "session-1", ExpiresAt: w.Now.Add(10 * time.Minute)}
}

func question(w *World, id string, claims ...wire.Claim) *wire.CompatibilityRequest {
	return &wire.CompatibilityRequest{Head: head(w), RequestID: id, Claims: claims, AllowedResults: wire.AllResults()}
}

func wants(w *World, id, attribute string) *wire.DisclosureRequest {
	return &wire.DisclosureRequest{Head: head(w), RequestID: id, Attribute: attribute, RequestedSurface: "session", IntendedUse: wire.UseEvaluation}
}

func consent(w *World, id string, action wire.Action, scope ...string) *wire.ConsentRequest {
	return &wire.ConsentRequest{Head: head(w), RequestID: id, Action: action, Scope: scope}
}

// only is the one object that was answered.

func only[T wire.Object](t *testing.T, out []wire.Object, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if len(out) != 1 {
		t.Fatalf("%d objects were answered, want one", len(out))
	}
	o, ok := out[0].(T)
	if !ok {
		t.Fatalf("%T was answered, want %T", out[0], o)
	}
	return o
}

func disclosed(t *testing.T, w *World, to *Side, id, attribute string) wire.Grant {
	t.Helper()
	out, err := inject(t, w, to, wants(w, id, attribute))
	return only[*wire.DisclosureResponse](t, out, err).Status
}

func refused(t *testing.T, err error, code session.Code) {
	t.Helper()
	var r *session.Refusal
	if !errors.As(err, &r) || r.Code != code {
		t.Errorf("%v, want a refusal with %s", err, code)
	}
}

func state(t *testing.T, s *Side) string {
	t.Helper()
	data, err := s.State.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// a budget is a row that the caller commits; it is not part of any session. Two sessions of one interest share it.

// are the evaluation's and the contingency's.

// The rows of the decision order: a request that two rows refuse is answered by the earlier one. All refusals of a disclosure have the same body.

// An agent's own grant does not stand in for the Principal once the Principal has to decide.

// What one peer sends is bounded, and what cannot be answered in one object is refused.

// The rows of a consent, each before the later ones.

// The Principal may narrow a consent, and never widen it.

// A question that is held, and one that is refused, is charged to nobody; a held one is charged when it is answered.

// By the 0.1 text an expired question blocks for ever; by default its sender may supersede it (C-03).

// I19: what one counterparty sees does not depend on the sessions of another, where answers come from cells. A shared budget breaks this by design.
