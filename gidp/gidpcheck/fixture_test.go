package gidpcheck

import (
	"errors"
	"slices"
	"testing"

	"sayso/gidp/session"
	"sayso/gidp/wire"
)

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
