package gidpcheck

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/jcs"
)

func TestX01ClaimIDReuseDoesNotOverwrite(t *testing.T) {
	w := pair(t)
	out, err := inject(t, w, w.B, question(w, "q-1", claim("c1", "absent", wire.OpEquals, `"x"`)))
	only[*wire.CompatibilityResponse](t, out, err)
	before := state(t, w.B)
	out, err = inject(t, w, w.B, question(w, "q-2", claim("c1", "field", wire.OpEquals, `"optics"`)))
	refused(t, err, session.CodeMalformed)
	if len(out) > 0 || state(t, w.B) != before {
		t.Error("a reused claim_id had an effect")
	}
	out, err = inject(t, w, w.B, question(w, "q-3", claim("c2", "field", wire.OpEquals, `"acoustics"`)))
	if err != nil || len(out) != 2 || out[1].(*wire.SessionClose).Reason != wire.ReasonIncompatible {
		t.Fatalf("%v %v: a contradiction is answered and closes", out, err)
	}
	_, err = inject(t, w, w.B, question(w, "q-4", claim("c3", "field", wire.OpEquals, `"optics"`, "c2")))
	refused(t, err, session.CodeClosed)
	if session.Status(w.Env(w.B), w.B.State) != wire.StatusIncompatible {
		t.Error("the status survives the close")
	}
}

func TestX02LateConsentIsJudgedAgain(t *testing.T) {
	w := qualified(t)
	w.B.Interest.Authority[gidp.Introduce] = gidp.Approval
	out, err := inject(t, w, w.B, consent(w, "q-1", wire.ActIdentity, gidp.PrincipalIdentity))
	if only[*wire.ConsentResponse](t, out, err).Status != wire.Pending {
		t.Fatal("INTRODUCE waits for the Principal")
	}
	w.B.Interest.Authority[gidp.Introduce] = gidp.No
	must(t, w, w.B, session.Decide{Ref: "q-1", Granted: true})
	if got := last[*wire.ConsentResponse](t, w.B); got.Status != wire.Refused || len(got.GrantedScope) > 0 {
		t.Errorf("%v: an approval resurrects nothing", got)
	}
	if len(w.B.State.Grants) > 0 || w.B.State.Phase != session.Qualified {
		t.Error("a refusal grants nothing")
	}
}

func TestX03LateDisclosureEndsAndFreesTheSlot(t *testing.T) {
	for _, granted := range []bool{true, false} {
		w := pair(t)
		if got := disclosed(t, w, w.B, "q-1", "guarded"); got != wire.Pending {
			t.Fatalf("%s, want a provisional answer", got)
		}
		_, err := inject(t, w, w.B, wants(w, "q-2", "deep"))
		refused(t, err, session.CodeNoMatch)
		if err := w.Do(w.B, session.Decide{Ref: "q-1", Granted: granted}); err != nil {
			t.Fatal(err)
		}
		got := last[*wire.DisclosureResponse](t, w.B)
		if (got.Status == wire.Granted) != granted || !got.Status.Terminal() || got.RequestRef != "q-1" || granted && string(got.Value) != `"guarded-b"` {
			t.Errorf("%+v, want a terminal answer", got)
		}
		w.ToA = nil
		if got := disclosed(t, w, w.B, "q-3", "deep"); got != wire.Granted {
			t.Errorf("%s: the slot is free", got)
		}
		if err := w.Do(w.B, session.Decide{Ref: "q-1", Granted: true}); err == nil {
			t.Error("a decision is made once")
		}
	}
}

func TestX04HandoffNeedsOurConsent(t *testing.T) {
	w := qualified(t)
	handoff := &wire.Handoff{Head: head(w), Target: wire.Target{Kind: wire.TargetProtocol, ProtocolRef: "urn:desk"}, RequiresPresence: true}
	out, err := inject(t, w, w.B, handoff)
	if end := only[*wire.SessionClose](t, out, err); end.Reason != wire.ReasonUnsupported {
		t.Errorf("%s, want unsupported", end.Reason)
	}
}

func TestX05NoHandoffAfterAContradiction(t *testing.T) {
	w := qualified(t)
	must(t, w, w.A, session.AskConsent{Action: wire.ActHandoff, Scope: []string{"urn:desk"}})
	if w.A.State.Phase != session.Consented {
		t.Fatalf("%s, want CONSENTED", w.A.State.Phase)
	}
	ask(t, w, w.A, claim("c2", "deep", wire.OpEquals, `"other"`))
	target := wire.Target{Kind: wire.TargetProtocol, ProtocolRef: "urn:desk"}
	for _, s := range []*Side{w.A, w.B} {
		if err := w.Do(s, session.HandOff{Target: target}); err == nil {
			t.Errorf("side %s hands over a contradicted session", s.Name)
		}
		_, err := inject(t, w, s, &wire.Handoff{Head: head(w), Target: target, RequiresPresence: true})
		refused(t, err, session.CodeClosed)
	}
}

func TestX06ConsentGrantsNoMoreThanThereIs(t *testing.T) {
	w := pairAt(t, wire.DepthNetwork)
	out, err := inject(t, w, w.B, consent(w, "q-1", wire.ActDisclose, "asked", "absent", "barred", "hidden"))
	if got := only[*wire.ConsentResponse](t, out, err); got.Status != wire.Refused {
		t.Errorf("%v: nothing of this scope may be granted at network depth", got)
	}
	w = pair(t)
	out, err = inject(t, w, w.B, consent(w, "q-1", wire.ActDisclose, "asked", "absent", "barred", "hidden"))
	if got := only[*wire.ConsentResponse](t, out, err); got.Status != wire.Granted || !slices.Equal(got.GrantedScope, []string{"asked"}) {
		t.Errorf("%v, want a narrower grant", got)
	}
	if got := disclosed(t, w, w.B, "q-2", "asked"); got != wire.Granted {
		t.Errorf("%s: the consent opens the gate", got)
	}
}

func TestX07NetworkIsForMembers(t *testing.T) {
	w := pair(t)
	if got := disclosed(t, w, w.B, "q-1", "circle"); got != wire.Refused {
		t.Errorf("%s for a peer that is no member", got)
	}
	w.B.Peer.Member = []string{"guild"}
	if got := disclosed(t, w, w.B, "q-2", "circle"); got != wire.Granted {
		t.Errorf("%s for a member", got)
	}
}

func TestX08OnlyAllowedResults(t *testing.T) {
	w := pair(t)
	q := question(w, "q-1", claim("c1", "field", wire.OpEquals, `"optics"`), claim("c2", "field", wire.OpEquals, `"acoustics"`))
	q.AllowedResults = []wire.Result{wire.Declined}
	out, err := inject(t, w, w.B, q)
	got := only[*wire.CompatibilityResponse](t, out, err)
	for _, r := range got.Results {
		if r.Result != wire.Declined {
			t.Errorf("%s is not allowed", r.Result)
		}
	}
	out, err = inject(t, w, w.B, question(w, "q-2", claim("c3", "field", wire.OpEquals, `"optics"`, "c1", "c2")))
	if got := only[*wire.CompatibilityResponse](t, out, err); got.SessionStatus == wire.StatusPotential {
		t.Error("the own evaluation vetoes, said or not")
	}
}

func TestX09ExpiryIsEnforced(t *testing.T) {
	w := pair(t)
	old := question(w, "q-1", claim("c1", "field", wire.OpEquals, `"optics"`))
	old.ExpiresAt = w.Now.Add(-2 * time.Minute)
	_, err := inject(t, w, w.B, old)
	refused(t, err, session.CodeExpired)
	old.ExpiresAt = w.Now.Add(-30 * time.Second) // within the allowance for clocks
	if _, err := inject(t, w, w.B, old); err != nil {
		t.Error(err)
	}
	if err := w.Pass(8 * 24 * time.Hour); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Side{w.A, w.B} {
		if s.State.Phase != session.Closed || s.State.Reason != wire.ReasonExpired {
			t.Errorf("side %s: %s %s, want an expired session", s.Name, s.State.Phase, s.State.Reason)
		}
		if len(s.Objects(wire.TypeSessionClose)) > 0 {
			t.Error("both sides know the time, so nothing is sent")
		}
	}
}

func TestX10OpportunityIsChecked(t *testing.T) {
	good := wire.Opportunity{Structure: "anything", EvaluatedDimensions: 1, CompatibleDimensions: 1, ContingentOn: []string{"more"}}
	for name, edit := range map[string]func(*wire.Opportunity){
		"as it is": func(*wire.Opportunity) {}, "evaluated": func(o *wire.Opportunity) { o.EvaluatedDimensions = 2 }, "compatible": func(o *wire.Opportunity) { o.CompatibleDimensions = 0 },
		"conditions": func(o *wire.Opportunity) { o.OpenConditions = []string{"field"} },
		"identity": func(o *wire.Opportunity) {
			o.IdentityStatus = map[string]wire.IdentityStatus{"responder": wire.IdentityGranted}
		},
	} {
		w := pair(t)
		out, err := inject(t, w, w.B, question(w, "q-1", claim("c1", "field", wire.OpEquals, `"optics"`)))
		only[*wire.CompatibilityResponse](t, out, err)
		o := good
		o.Head = head(w)
		edit(&o)
		out, err = inject(t, w, w.B, &o)
		if name == "as it is" {
			if err != nil || len(out) > 0 || w.B.State.Phase != session.Qualified {
				t.Errorf("%s: %v %v %s", name, out, err, w.B.State.Phase)
			}
			continue
		}
		if end := only[*wire.SessionClose](t, out, err); end.Reason != wire.ReasonUnspecified {
			t.Errorf("%s: %s, want unspecified", name, end.Reason)
		}
	}
	w := pair(t) // before any report of ours
	o := good
	o.Head, o.EvaluatedDimensions, o.CompatibleDimensions = head(w), 0, 0
	out, err := inject(t, w, w.B, &o)
	only[*wire.SessionClose](t, out, err)
}

func TestX11AcceptIsChecked(t *testing.T) {
	for name, edit := range map[string]func(*wire.SessionAccept){
		"depth": func(o *wire.SessionAccept) { o.MaxDepth = "local" }, "profile": func(o *wire.SessionAccept) { o.Profile = "other" },
		"features": func(o *wire.SessionAccept) { o.Features = []wire.Feature{wire.FeatureMultiParty} },
	} {
		w := NewWorld(Core(), holder("a"), holder("b"))
		if err := w.Do(w.A, session.Open{SessionID: "session-1", Self: "x", Purpose: "trade"}); err != nil {
			t.Fatal(err)
		}
		o := &wire.SessionAccept{Head: head(w), RequestRef: "r-1", Responder: "y", MaxDepth: wire.DepthSession, Profile: "core"}
		data, err := wire.Encode(o)
		if err != nil {
			t.Fatal(err)
		}
		edit(o)
		if name == "depth" { // our own codec does not write it
			data = []byte(strings.Replace(string(data), `"max_depth":"session"`, `"max_depth":"local"`, 1))
		} else if data, err = wire.Encode(o); err != nil {
			t.Fatal(err)
		}
		if err := w.Deliver(w.A, data); err != nil {
			t.Fatal(err)
		}
		if end := last[*wire.SessionClose](t, w.A); end.Reason != wire.ReasonUnsupported {
			t.Errorf("%s: %s, want unsupported", name, end.Reason)
		}
	}
}

// X-12 is the codec's: see TestWhatBreaksARuleIsRefusedWhole in package wire.

func TestX13OneProvisionalAnswer(t *testing.T) {
	w := pair(t)
	if err := w.Do(w.A, session.AskDisclosure{Attribute: "guarded"}); err != nil {
		t.Fatal(err)
	}
	w.ToB = nil
	answer := &wire.DisclosureResponse{Head: head(w), RequestRef: w.A.State.Sent.ID, Attribute: "guarded", Status: wire.Pending}
	if _, err := inject(t, w, w.A, answer); err != nil {
		t.Fatal(err)
	}
	before := state(t, w.A)
	for _, status := range []wire.Grant{wire.Pending, wire.GrantedIfReciprocal} {
		answer.Status = status
		_, err := inject(t, w, w.A, answer)
		refused(t, err, session.CodeNoMatch)
	}
	if state(t, w.A) != before {
		t.Error("a second provisional answer had an effect")
	}
}

func TestX14EmptyGrantIsADecline(t *testing.T) {
	w := qualified(t)
	if err := w.Do(w.A, session.AskConsent{Action: wire.ActIdentity, Scope: []string{gidp.PrincipalIdentity}}); err != nil {
		t.Fatal(err)
	}
	w.ToB = nil
	if _, err := inject(t, w, w.A, &wire.ConsentResponse{Head: head(w), RequestRef: w.A.State.Sent.ID, Status: wire.Granted}); err != nil {
		t.Fatal(err)
	}
	if w.A.State.Phase != session.Qualified || len(w.A.State.Grants) > 0 {
		t.Error("an empty grant grants")
	}
}

func TestX15PrematureConsentIsAnswered(t *testing.T) {
	for _, action := range []wire.Action{wire.ActIdentity, wire.ActContact, wire.ActHandoff} {
		w := pair(t)
		out, err := inject(t, w, w.B, consent(w, "q-1", action, "urn:x"))
		if got := only[*wire.ConsentResponse](t, out, err); got.Status != wire.Refused {
			t.Errorf("%s: %s, want declined", action, got.Status)
		}
		if !slices.ContainsFunc(w.B.Effects, func(e session.Effect) bool { return e.Kind == session.EffectViolation }) {
			t.Errorf("%s: no violation is noted", action)
		}
	}
}

func TestX16RequestedSurfaceIsRead(t *testing.T) {
	for surface, want := range map[string]wire.Grant{"session": wire.Granted, "network": wire.Refused, "discovery": wire.Refused, "public": wire.Refused, "local": wire.Refused} {
		w := pair(t)
		q := wants(w, "q-1", "deep")
		q.RequestedSurface = surface
		out, err := inject(t, w, w.B, q)
		if got := only[*wire.DisclosureResponse](t, out, err); got.Status != want {
			t.Errorf("%s: %s, want %s", surface, got.Status, want)
		}
	}
}

func TestX17RoutingIsChecked(t *testing.T) {
	w := NewWorld(Core(), holder("a"), holder("b"))
	open := &wire.SessionOpen{Head: head(w), RequestID: "r-1", Initiator: "x", MaxDepth: wire.DepthSession, Profile: "core", ProjectionRef: "guess"}
	data, err := wire.Encode(open)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.deliver(w.B, session.Delivery{Data: data, Self: "y", Unroutable: true}); err != nil {
		t.Fatal(err)
	}
	if end := last[*wire.SessionClose](t, w.B); end.Reason != wire.ReasonUnsupported || end.RequestRef != "r-1" {
		t.Errorf("%+v, want unsupported", end)
	}
}

func TestX18TheLedgerOutlivesSessions(t *testing.T) {
	budgeted := func() *interest.Interest {
		i := holder("b")
		i.Attributes["price"] = jcs.Raw(`17`)
		i.Budgets = map[string]interest.Budget{"price": {Bits: 2, Domain: gidp.Domain{Min: 0, Max: 31, Step: 1}}}
		return i
	}
	row, err := gidp.NewRow(gidp.Domain{Min: 0, Max: 31, Step: 1}, 2)
	if err != nil {
		t.Fatal(err)
	}
	ledger := gidp.Ledger{{Lineage: "line-b", Quantity: "price"}: row}
	var answers []wire.Result
	for _, value := range []string{`{"min":16}`, `{"min":24}`, `{"min":20}`, `{"min":16}`} {
		w := NewWorld(Core(), holder("a"), budgeted())
		w.B.Ledger = ledger
		if err := w.Open("trade", wire.DepthSession); err != nil {
			t.Fatal(err)
		}
		out, err := inject(t, w, w.B, question(w, "q-1", claim("c1", "price", wire.OpOverlaps, value)))
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, out[0].(*wire.CompatibilityResponse).Results[0].Result)
		ledger = w.B.Ledger
	}
	if want := []wire.Result{wire.Compatible, wire.Incompatible, wire.Declined, wire.Compatible}; !slices.Equal(answers, want) {
		t.Errorf("%v, want %v", answers, want)
	}
	for key, row := range ledger {
		if row.Spent() != 2 {
			t.Errorf("%v: %v bits spent, want 2", key, row.Spent())
		}
	}
}

func TestX19ShapeMismatchIsUnknown(t *testing.T) {
	w := pair(t)
	for i, c := range []wire.Claim{claim("c0", "width", wire.OpEquals, `5`), claim("c1", "width", wire.OpIntersects, `[5]`), claim("c2", "field", wire.OpEquals, `5`),
		claim("c3", "field", wire.OpEquals, `["optics"]`), claim("c4", "field", wire.OpOverlaps, `{"min":1}`), claim("c5", "width", wire.OpOverlaps, `{}`),
		claim("c6", "width", wire.OpOverlaps, `{"min":9,"max":3}`), claim("c7", "width", wire.OpOverlaps, `"bucket"`), claim("c8", "field", wire.OpCompatibleWith, `"optics"`)} {
		out, err := inject(t, w, w.B, question(w, fmt.Sprintf("q-%d", i), c))
		if got := only[*wire.CompatibilityResponse](t, out, err); got.Results[0].Result != wire.Unknown {
			t.Errorf("%s %s %s: %s, want unknown", c.Key, c.Operator, c.Value, got.Results[0].Result)
		}
	}
}

func TestX20ContingencyMayBeWithdrawn(t *testing.T) {
	w := NewWorld(Core(), holder("a"), holder("b"))
	w.B.Interest.ConditionalOn = []string{"anchor"}
	if err := w.Open("trade", wire.DepthSession); err != nil {
		t.Fatal(err)
	}
	ask(t, w, w.A, claim("c1", "absent", wire.OpEquals, `"x"`))
	w.B.Interest.ConditionalOn = nil
	ask(t, w, w.A, claim("c2", "field", wire.OpEquals, `"optics"`, "c1"))
	if w.B.State.Phase != session.Qualified {
		t.Fatalf("%s: a stated contingency does not hold for ever", w.B.State.Phase)
	}
	if got := last[*wire.Opportunity](t, w.A).ContingentOn; !slices.Equal(got, []string{wire.Undisclosed}) {
		t.Errorf("contingent on %v: the initiator emits the union", got)
	}
	// A foreign initiator leaves out what was withdrawn. It is measured by the latest list.
	w = NewWorld(Core(), holder("a"), holder("b"))
	w.B.Interest.ConditionalOn = []string{"anchor"}
	if err := w.Open("trade", wire.DepthSession); err != nil {
		t.Fatal(err)
	}
	asks := func(id string, c wire.Claim) wire.Object {
		return &wire.CompatibilityRequest{Head: head(w), RequestID: id, Claims: []wire.Claim{c}, AllowedResults: wire.AllResults()}
	}
	for _, o := range []wire.Object{asks("q-1", claim("c1", "absent", wire.OpEquals, `"x"`)), asks("q-2", claim("c2", "field", wire.OpEquals, `"optics"`, "c1")),
		&wire.Opportunity{Head: head(w), Structure: "unspecified", EvaluatedDimensions: 1, CompatibleDimensions: 1}} {
		if _, err := inject(t, w, w.B, o); err != nil {
			t.Fatal(err)
		}
		w.B.Interest.ConditionalOn = nil
	}
	if w.B.State.Phase != session.Qualified {
		t.Errorf("%s: what was withdrawn is asked of an Opportunity", w.B.State.Phase)
	}
}

func TestX21UnknownExpectationsFail(t *testing.T) {
	const frame = `{"scenario":"x","notes":"","spec":[],"setup":{"A":{},"B":{}},"steps":[%s]}`
	for step, ok := range map[string]bool{
		`{"open":{"purpose":"x"}}`: true, `{"open":{"purpose":"x"},"_comment":"any"}`: true, `{"open":{"purpose":"x"},"expect_results":[]}`: false, `{"open":{"porpoise":"x"}}`: false,
		`{"release_disclosure":{"expect_disclosure":"granted"}}`: true, `{"release_disclosure":{},"expect_disclosure":"granted"}`: true, `{"release_disclosure":{"expect_disclosure":"granted"},"expect_disclosure":"granted"}`: false,
		`{"open":{},"state":{}}`: false, `{"dance":{}}`: false,
	} {
		if _, err := Load(fmt.Appendf(nil, frame, step)); (err == nil) != ok {
			t.Errorf("%s: %v, want accepted %v", step, err, ok)
		}
	}
}

func TestX22NoHoldingOutsideOfTheDomain(t *testing.T) {
	p := Core()
	partition := &gidp.Partition{ID: "x", Min: 0, Max: 99, Edges: []int64{10, 50}}
	p.Keys = map[string]gidp.Key{"price": {Partition: partition}}
	i := holder("b")
	i.Attributes["price"] = jcs.Raw(`100`)
	if !i.Check(p).Failed() {
		t.Error("a value outside of the domain is refused before it is used")
	}
	if _, closed := i.View(p, interest.Towards{Active: true, Depth: wire.DepthSession}).Attributes["price"].Holding.(gidp.Closed); !closed {
		t.Error("a value outside of the domain is never evaluated")
	}
	i.Attributes["price"] = jcs.Raw(`99`)
	if r := i.Check(p); r.Failed() {
		t.Errorf("%+v", r.Findings)
	}
}
