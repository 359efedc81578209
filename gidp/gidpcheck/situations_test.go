package gidpcheck

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// party is an interest with protected conditions: what it holds is evaluated and never told.
func party(t *testing.T, name string, hold map[string]string, edit func(*interest.Interest)) *interest.Interest {
	t.Helper()
	i := holder(name)
	i.Attributes = map[string]jcs.Raw{gidp.PrincipalIdentity: jcs.Raw(`"person-` + name + `"`)}
	for key, value := range hold {
		i.Attributes[key] = jcs.Raw(value)
	}
	i.Policy = interest.Policy{Entries: map[string]gidp.Entry{gidp.PrincipalIdentity: i.Policy.Entries[gidp.PrincipalIdentity], "field": i.Policy.Entries["field"]}}
	if edit != nil {
		edit(i)
	}
	p := market(t)
	if r := i.Check(p); r.Failed() {
		t.Fatalf("%s: %+v", name, r.Findings)
	}
	return i
}

// K1: latent interest, confidential demand, private offer and interdependent interest run on the same objects and rules; only the interests differ.
func TestFourSituations(t *testing.T) {
	seller := map[string]string{"price": `{"min":250}`, "place": `"harbour"`, "field": `"optics"`}
	buyer := map[string]string{"price": `{"max":400}`, "place": `"north"`, "field": `"optics"`}
	told := func(class string, set func(*interest.Interest)) func(*interest.Interest) {
		return func(i *interest.Interest) {
			set(i)
			c, err := gidp.ParseClass(class)
			if err != nil {
				t.Fatal(err)
			}
			for _, key := range []string{gidp.Provides, gidp.Requires, gidp.ConditionalOn} {
				i.Policy.Entries[key] = gidp.Entry{"": c}
			}
		}
	}
	for name, c := range map[string]struct {
		a, b       *interest.Interest
		contingent []string
	}{
		"latent interest":     {party(t, "a", buyer, nil), party(t, "b", seller, nil), nil},
		"private offer":       {party(t, "a", seller, nil), party(t, "b", buyer, nil), nil},
		"confidential demand": {party(t, "a", map[string]string{"price": `310`, "field": `"optics"`}, nil), party(t, "b", map[string]string{"price": `{"min":0,"max":999}`, "field": `"optics"`}, nil), nil},
		"interdependent": {party(t, "a", buyer, told("evaluation_only", func(i *interest.Interest) { i.ConditionalOn = []string{"anchor"} })),
			party(t, "b", seller, told("session", func(i *interest.Interest) { i.ConditionalOn, i.Provides = []string{"licence"}, []string{"press"} })), []string{"licence", wire.Undisclosed}},
	} {
		w := NewWorld(market(t), c.a, c.b)
		w.A.Required, w.B.Required = []string{"price"}, []string{"price"}
		w.Watch = func(_ *Side, data []byte) error { // private values are rare strings, whatever object would carry them
			for _, secret := range []string{"250", "400", "harbour", "person-", "anchor", `:310`} {
				if bytes.Contains(data, []byte(secret)) {
					return fmt.Errorf("%s left in %s", secret, data)
				}
			}
			return nil
		}
		if err := w.Open("trade", wire.DepthSession); err != nil {
			t.Fatal(name, err)
		}
		claims := c.a.Asks(w.A.Profile, w.A.Towards())
		claims = append(claims, wire.Claim{Key: "field", Operator: wire.OpIntersects, Value: jcs.Raw(`"optics"`)})
		if name == "interdependent" {
			claims = append(claims, wire.Claim{Key: gidp.Provides, Operator: wire.OpIntersects, Value: jcs.Raw(`["press"]`)})
		}
		must(t, w, w.A, session.AskClaims{Claims: claims})
		for _, s := range []*Side{w.A, w.B} {
			if s.State.Phase != session.Qualified {
				t.Fatalf("%s: side %s is %s: %s", name, s.Name, s.State.Phase, s.Sent)
			}
		}
		if got := last[*wire.Opportunity](t, w.A); !slices.Equal(got.ContingentOn, append([]string{}, c.contingent...)) || got.EvaluatedDimensions != len(claims) {
			t.Errorf("%s: %+v after %d questions", name, got, len(claims))
		}
	}
}

// Two sides whose cells do not meet learn that and nothing more: the session closes, and neither side's value was on the wire.
func TestCellsThatDoNotMeet(t *testing.T) {
	w := NewWorld(market(t), party(t, "a", map[string]string{"price": `{"max":250}`}, nil), party(t, "b", map[string]string{"price": `{"min":301}`}, nil))
	if err := w.Open("trade", wire.DepthSession); err != nil {
		t.Fatal(err)
	}
	must(t, w, w.A, session.AskClaims{Claims: w.A.Interest.Asks(w.A.Profile, w.A.Towards())})
	for _, s := range []*Side{w.A, w.B} {
		if s.State.Phase != session.Closed || s.State.Reason != wire.ReasonIncompatible {
			t.Errorf("side %s: %s %s", s.Name, s.State.Phase, s.State.Reason)
		}
	}
}

// A claim whose only answer is borderline does not qualify by itself (E2).
func TestBorderlineAloneDoesNotQualify(t *testing.T) {
	w := NewWorld(market(t), party(t, "a", map[string]string{"price": `{"max":250}`}, nil), party(t, "b", map[string]string{"price": `{"min":200}`, "field": `"optics"`}, nil))
	if err := w.Open("trade", wire.DepthSession); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, w, w.A, w.A.Interest.Asks(w.A.Profile, w.A.Towards())...); got.Results[0].Result != wire.Conditionally || got.SessionStatus != wire.StatusOpen {
		t.Fatalf("%+v", got)
	}
	ask(t, w, w.A, claim("", "field", wire.OpEquals, `"optics"`))
	if got := last[*wire.Opportunity](t, w.A); !slices.Equal(got.OpenConditions, []string{"price"}) || got.EvaluatedDimensions != 2 || got.CompatibleDimensions != 1 {
		t.Errorf("%+v", got)
	}
}
