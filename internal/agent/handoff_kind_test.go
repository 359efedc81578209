package agent

import (
	"testing"
	"time"

	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// A consent to a hand-over covers the target that its entry names, and only as the kind that it names: what was granted to a person reaches no machine under that name.
func TestAHandoffConsentCoversOneKindOfTarget(t *testing.T) {
	for _, granted := range []string{"human:x", "workflow:x", "protocol:x", "urn:example:x", "x"} {
		for _, to := range []struct {
			kind wire.TargetKind
			ref  string
		}{
			{wire.TargetHuman, granted}, {wire.TargetWorkflow, granted}, {wire.TargetProtocol, granted}, {wire.TargetHuman, "x"}, {wire.TargetWorkflow, "x"},
		} {
			w, _ := qualified(t)
			s := w.asBuyer()
			if _, err := s.send(&wire.ConsentRequest{Head: s.head(time.Hour), RequestID: "k-1", Action: wire.ActHandoff, Scope: []string{granted}}); err != nil {
				t.Fatal(err)
			}
			w.seller.decide(Decision{Grant: true})
			o := &wire.Handoff{Head: s.head(time.Hour), Target: wire.Target{Kind: to.kind}, AuthorizedScope: []wire.Scope{}, ContingentOn: []string{}}
			if to.kind == wire.TargetProtocol {
				o.Target.ProtocolRef = to.ref
			}
			m := s.message(s.bytes(o))
			if to.kind != wire.TargetProtocol {
				m.Evidence = jcs.Raw(`{"target_ref":"` + to.ref + `"}`)
			}
			task, err := w.seller.agent.Receive(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			want := wire.ReasonUnsupported
			if to.ref == granted && to.kind == map[string]wire.TargetKind{"human:x": wire.TargetHuman, "workflow:x": wire.TargetWorkflow}[granted] ||
				to.ref == granted && to.kind == wire.TargetProtocol && granted != "human:x" && granted != "workflow:x" {
				want = wire.ReasonCompleted
			}
			v := w.seller.one()
			if c, is := last(t, task).(*wire.SessionClose); !is || c.Reason != want || v.State != string(session.Closed) || (v.Handoff != nil) != (want == wire.ReasonCompleted) {
				t.Errorf("%q was granted, %s %q: %+v, %+v", granted, to.kind, to.ref, c, v.Handoff)
			}
			w.checkTrail()
		}
	}
}

// A reference that names no kind is a person's when this side hands over, and the consent that is asked for says so.
func TestABareTargetIsAPersons(t *testing.T) {
	w, id := qualified(t)
	if _, err := w.buyer.agent.Request(t.Context(), id, LeadRequest{Action: RequestHandoff, Target: "desk-4"}); err != nil {
		t.Fatal(err)
	}
	w.pump(4)
	if list := w.seller.inbox(); len(list) != 1 || len(list[0].Keys) != 1 || list[0].Keys[0] != "human:desk-4" {
		t.Fatalf("%+v", list)
	}
	w.seller.decide(Decision{Grant: true})
	w.pump(8)
	if v := w.seller.one(); v.Handoff == nil || v.Handoff.Kind != "human" || v.Handoff.Target != "human:desk-4" {
		t.Errorf("%+v", v.Handoff)
	}
}
