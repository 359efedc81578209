package gidpcheck

import (
	"slices"
	"testing"

	"sayso/gidp/session"
	"sayso/gidp/wire"
)

// Two sides whose cells do not meet learn that and nothing more: the session closes, and neither side's value was on the wire.
func TestCellsThatDoNotMeet(t *testing.T) {
	w := NewWorld(market(), party("a", map[string]string{"price": `{"max":250}`}), party("b", map[string]string{"price": `{"min":301}`}))
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
	w := NewWorld(market(), party("a", map[string]string{"price": `{"max":250}`}), party("b", map[string]string{"price": `{"min":200}`, "field": `"optics"`}))
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
