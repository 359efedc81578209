package gidpcheck

import (
	"errors"
	"fmt"
	"maps"
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

// a budget is a row that the caller commits; it is not part of any session. Two sessions of one interest share it.
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

// are the evaluation's and the contingency's.
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

// The rows of the decision order: a request that two rows refuse is answered by the earlier one. All refusals of a disclosure have the same body.
func TestDecisionOrder(t *testing.T) {
	bodies := map[string]bool{}
	set := func(level gidp.Level, p gidp.Permission) func(*World) {
		return func(w *World) { w.B.Interest.Authority[level] = p }
	}
	for _, c := range []struct {
		name, key, surface string
		depth              wire.Depth
		do                 func(*World)
		want               wire.Grant
		row                string
	}{
		{"D2 before D5", "guarded", "session", "", set(gidp.Disclose, gidp.No), wire.Refused, "D2"},
		{"D2 before D2a", gidp.PrincipalIdentity, "session", "", set(gidp.Introduce, gidp.No), wire.Refused, "D2"},
		{"D2a before D4", gidp.PrincipalIdentity, "session", wire.DepthNetwork, nil, wire.Refused, "D2a"},
		{"D2a before D5", gidp.PrincipalIdentity, "session", "", set(gidp.Disclose, gidp.Approval), wire.Refused, "D2a"},
		{"D3 before D4b", "circle", "public", "", nil, wire.Refused, "D3"},
		{"D3 before D5", "circle", "session", "", set(gidp.Disclose, gidp.Approval), wire.Refused, "D3"},
		{"D4 before D4b", "deep", "public", wire.DepthNetwork, nil, wire.Refused, "D4"},
		{"D4 before D5", "guarded", "session", wire.DepthNetwork, nil, wire.Refused, "D4"},
		{"D4a before D4b", "hidden", "public", "", nil, wire.Refused, "D4a"},
		{"D4a before D5", "absent", "session", "", set(gidp.Disclose, gidp.Approval), wire.Refused, "D4a"},
		{"D4a never", "barred", "session", "", set(gidp.Disclose, gidp.Approval), wire.Refused, "D4a"},
		{"D4b before D5", "guarded", "network", "", nil, wire.Refused, "D4b"},
		{"D5 before D5a", "asked", "session", "", set(gidp.Disclose, gidp.Approval), wire.Pending, "D5"},
		{"D5 before D5b", "swap", "session", "", set(gidp.Disclose, gidp.Approval), wire.Pending, "D5"},
		{"D5 gate", "guarded", "session", "", nil, wire.Pending, "D5"},
		{"D5a", "asked", "session", "", nil, wire.Refused, "D5a"},
		{"D5b reciprocal", "swap", "session", "", nil, wire.GrantedIfReciprocal, "D5b"},
		{"D5b verified", "proof", "session", "", nil, wire.GrantedIfVerified, "D5b"},
		{"D6", "deep", "session", "", nil, wire.Granted, "D6"},
	} {
		w := pairAt(t, c.depth)
		if c.do != nil {
			c.do(w)
		}
		q := wants(w, "q-1", c.key)
		q.RequestedSurface = c.surface
		_, out, _, err := session.Step(w.Env(w.B), w.B.State, session.Receive{Object: q})
		if err != nil || len(out) != 1 {
			t.Errorf("%s: %v %v", c.name, out, err)
			continue
		}
		got := out[0].Object.(*wire.DisclosureResponse)
		if got.Status != c.want || out[0].Row != c.row {
			t.Errorf("%s: %s by %s, want %s by %s", c.name, got.Status, out[0].Row, c.want, c.row)
		}
		if got.Status == wire.Refused {
			got.Attribute = "x"
			body, err := wire.Encode(got)
			if err != nil {
				t.Fatal(err)
			}
			bodies[string(body)] = true
		}
	}
	if len(bodies) != 1 {
		t.Errorf("%d different refusals: %v", len(bodies), slices.Collect(maps.Keys(bodies)))
	}
}

func TestReciprocityEndsBothWays(t *testing.T) {
	w := pair(t) // both demand it: the initiator goes first
	must(t, w, w.A, session.AskDisclosure{Attribute: "swap"})
	if w.B.State.Recv.Provisional != wire.GrantedIfReciprocal {
		t.Fatalf("%+v, want a conditional answer", w.B.State.Recv)
	}
	must(t, w, w.B, session.AskDisclosure{Attribute: "swap"})
	for _, s := range []*Side{w.A, w.B} {
		if s.State.Sent.Kind != session.SlotEmpty || s.State.Recv.Kind != session.SlotEmpty || !slices.Contains(s.State.Disclosed, "swap") {
			t.Errorf("side %s: %s", s.Name, state(t, s))
		}
	}
	w = pair(t) // nobody goes on: the answer is due before the deadline
	must(t, w, w.A, session.AskDisclosure{Attribute: "swap"})
	if err := w.Pass(7*24*time.Hour - 90*time.Second); err != nil {
		t.Fatal(err)
	}
	if got := last[*wire.DisclosureResponse](t, w.B); got.Status != wire.Refused || w.A.State.Sent.Kind != session.SlotEmpty {
		t.Errorf("%s: an unmet condition ends in declined", got.Status)
	}
}

func TestCredentialEndsTheWait(t *testing.T) {
	w := pair(t)
	must(t, w, w.A, session.AskDisclosure{Attribute: "proof"})
	must(t, w, w.B, session.Show{References: []string{"urn:other"}})
	if w.B.State.Recv.Kind == session.SlotEmpty {
		t.Fatal("another credential is not the one that was named")
	}
	must(t, w, w.B, session.Show{References: []string{"urn:card"}})
	if got := last[*wire.DisclosureResponse](t, w.B); got.Status != wire.Granted || string(got.Value) != `"proof-b"` {
		t.Errorf("%+v, want the value", got)
	}
}

func TestHeldAskIsSilent(t *testing.T) {
	w := pair(t)
	w.B.Interest.Authority[gidp.Probe] = gidp.Approval
	for i, granted := range []bool{true, false} {
		id := fmt.Sprintf("q-%d", i)
		out, err := inject(t, w, w.B, question(w, id, claim("c"+id, "absent", wire.OpEquals, `"x"`)))
		if err != nil || len(out) > 0 {
			t.Fatalf("%v %v: silence is the only signal", out, err)
		}
		if err := w.Approve(w.B, id, granted); err != nil {
			t.Fatal(err)
		}
		want := map[bool]wire.Result{true: wire.Unknown, false: wire.Declined}[granted]
		if got := last[*wire.CompatibilityResponse](t, w.B).Results[0].Result; got != want {
			t.Errorf("granted %v: %s, want %s", granted, got, want)
		}
	}
	if _, err := inject(t, w, w.B, question(w, "q-9", claim("c9", "absent", wire.OpEquals, `"x"`))); err != nil {
		t.Fatal(err)
	}
	w.B.Interest.Authority[gidp.Probe] = gidp.No
	if err := w.Approve(w.B, "q-9", true); err != nil {
		t.Fatal(err)
	}
	if end := last[*wire.SessionClose](t, w.B); end.Reason != wire.ReasonDeclined || end.RequestRef != "q-9" {
		t.Errorf("%+v: PROBE was withdrawn", end)
	}
}

func TestLeavingActiveAnswersThenCloses(t *testing.T) {
	w := pair(t)
	if got := disclosed(t, w, w.B, "q-1", "guarded"); got != wire.Pending {
		t.Fatal(got)
	}
	before := len(w.B.Sent)
	if err := w.Do(w.B, session.Leave{}); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, data := range w.B.Sent[before:] {
		o, err := wire.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, string(o.Type()))
	}
	if want := []string{"DisclosureResponse", "SessionClose"}; !slices.Equal(kinds, want) {
		t.Errorf("%v, want %v", kinds, want)
	}
}

func TestRefreshEndsAHang(t *testing.T) {
	w := pair(t)
	must(t, w, w.B, session.AskDisclosure{Attribute: "guarded"}) // A's slot waits for A's Principal, so B's report is open
	c := claim("c1", "field", wire.OpEquals, `"optics"`)
	if got := ask(t, w, w.A, c); got.SessionStatus != wire.StatusOpen {
		t.Fatalf("%s, want open while a request is pending", got.SessionStatus)
	}
	must(t, w, w.A, session.Decide{Ref: w.A.State.Recv.ID, Granted: true})
	if w.A.State.Phase != session.Probing || !session.WantsRefresh(w.Env(w.A), w.A.State) {
		t.Fatalf("%s: a stale report does not qualify", w.A.State.Phase)
	}
	if err := w.Do(w.A, session.Refresh{Claim: claim("", "field", wire.OpEquals, `"acoustics"`)}); err == nil {
		t.Error("a new question is no refresh")
	}
	must(t, w, w.A, session.Refresh{Claim: c})
	if w.A.State.Phase != session.Qualified || w.B.State.Phase != session.Qualified {
		t.Errorf("%s and %s, want QUALIFIED", w.A.State.Phase, w.B.State.Phase)
	}
	if got := last[*wire.Opportunity](t, w.A); got.EvaluatedDimensions != 1 || got.CompatibleDimensions != 1 {
		t.Errorf("%+v: a repeated question counts once", got)
	}
}

// An agent's own grant does not stand in for the Principal once the Principal has to decide.
func TestRevealingAloneEndsWithTheAuthorityForIt(t *testing.T) {
	w := qualified(t)
	out, err := inject(t, w, w.B, consent(w, "q-1", wire.ActIdentity, gidp.PrincipalIdentity))
	if only[*wire.ConsentResponse](t, out, err).Status != wire.Granted {
		t.Fatal("INTRODUCE is true")
	}
	claimed := func(id string) wire.Result {
		out, err := inject(t, w, w.B, question(w, id, claim("c"+id, gidp.PrincipalIdentity, wire.OpEquals, `"person-b"`)))
		return only[*wire.CompatibilityResponse](t, out, err).Results[0].Result
	}
	if got := claimed("q-2"); got != wire.Compatible {
		t.Fatalf("%s under the grant", got)
	}
	w.B.Interest.Authority[gidp.Introduce] = gidp.Approval
	if got := claimed("q-3"); got != wire.Declined {
		t.Errorf("%s: an agent's grant stands in for a person", got)
	}
	if got := disclosed(t, w, w.B, "q-4", gidp.PrincipalIdentity); got != wire.Pending {
		t.Errorf("%s: a person decides now", got)
	}
	must(t, w, w.B, session.Decide{Ref: "q-4", Granted: true})
	if got := last[*wire.DisclosureResponse](t, w.B); got.Status != wire.Granted || string(got.Value) != `"person-b"` {
		t.Errorf("%+v", got)
	}
}

func TestNoAnswerWhenTheInterestIsNotActive(t *testing.T) {
	w := pair(t)
	w.B.Active = false
	if err := w.Do(w.B, session.AskDisclosure{Attribute: "deep"}); err == nil {
		t.Error("an interest that is not active asks")
	}
	out, err := inject(t, w, w.B, question(w, "q-1", claim("c1", "field", wire.OpEquals, `"optics"`)))
	if end := only[*wire.SessionClose](t, out, err); end.Reason != wire.ReasonUnspecified {
		t.Errorf("%s, want unspecified", end.Reason)
	}
}

// What one peer sends is bounded, and what cannot be answered in one object is refused.
func TestOnePeerIsBounded(t *testing.T) {
	w := pair(t)
	var long []wire.Claim
	for i := range 16 {
		long = append(long, claim(fmt.Sprintf("l%d", i), strings.Repeat("\u0001", 0)+strings.Repeat("k", 3500), wire.OpEquals, `1`))
	}
	_, err := inject(t, w, w.B, question(w, "long", long...))
	refused(t, err, session.CodeMalformed)
	n := 0
	for ; n < 2*session.MaxPeer; n++ {
		if _, err = inject(t, w, w.B, wants(w, fmt.Sprintf("q-%d", n), "absent")); err != nil {
			break
		}
	}
	refused(t, err, session.CodeNoMatch)
	if n >= session.MaxPeer {
		t.Errorf("%d requests were taken", n)
	}
	w = pair(t) // contingencies beyond what an Opportunity carries
	for i := range 3 {
		if err := w.Do(w.A, session.AskClaims{Claims: []wire.Claim{claim("", "field", wire.OpEquals, `"optics"`)}}); err != nil {
			t.Fatal(err)
		}
		w.ToB = nil
		a := w.A.State.AsksOut[0]
		var names []string
		for j := range 3 {
			names = append(names, fmt.Sprintf("%d.%d.%s", i, j, strings.Repeat("n", 3000)))
		}
		_, err := inject(t, w, w.A, &wire.CompatibilityResponse{Head: head(w), RequestRef: a.ID, Results: []wire.Outcome{{ClaimID: a.Claims[0], Key: "field", Result: wire.Compatible}},
			SessionStatus: wire.StatusOpen, ContingentOn: names})
		if err != nil {
			t.Fatal(err)
		}
		if w.A.State.Phase == session.Closed {
			return
		}
	}
	t.Error("a peer states contingencies without end")
}

// The rows of a consent, each before the later ones.
func TestConsentOrder(t *testing.T) {
	for name, c := range map[string]struct {
		action wire.Action
		scope  []string
		do     func(*World)
		want   wire.Grant
		left   []string
		row    string
	}{
		"false before pending":   {wire.ActHandoff, []string{"urn:x"}, func(w *World) { w.B.Interest.Authority[gidp.Introduce] = gidp.No }, wire.Refused, nil, "D2"},
		"smuggled identity":      {wire.ActDisclose, []string{"deep", gidp.PrincipalIdentity}, func(w *World) { w.B.Interest.Authority[gidp.Disclose] = gidp.Approval }, wire.Refused, nil, "D2a"},
		"network before depth":   {wire.ActDisclose, []string{"circle"}, nil, wire.Refused, nil, "D3"},
		"never, local, not held": {wire.ActDisclose, []string{"barred", "hidden", "absent"}, func(w *World) { w.B.Interest.Authority[gidp.Disclose] = gidp.Approval }, wire.Refused, nil, "D4a"},
		"level waits":            {wire.ActDisclose, []string{"deep"}, func(w *World) { w.B.Interest.Authority[gidp.Disclose] = gidp.Approval }, wire.Pending, nil, "D5"},
		"gate waits":             {wire.ActDisclose, []string{"deep", "guarded"}, nil, wire.Pending, nil, "D5"},
		"no identity to reveal":  {wire.ActIdentity, []string{"deep"}, nil, wire.Refused, nil, "sec. 9.2"},
		"identity and another":   {wire.ActIdentity, []string{"deep", gidp.PrincipalIdentity}, nil, wire.Granted, []string{gidp.PrincipalIdentity}, "D6"},
		"two targets":            {wire.ActHandoff, []string{"urn:x", "urn:y"}, nil, wire.Refused, nil, "sec. 9.2"},
		"channels":               {wire.ActContact, []string{"phone", "pigeon"}, nil, wire.Granted, []string{"phone"}, "D6"},
		"no such channel":        {wire.ActContact, []string{"pigeon"}, nil, wire.Refused, nil, "sec. 9.2"},
		"any channel":            {wire.ActContact, nil, nil, wire.Granted, nil, "D6"},
	} {
		w := qualified(t)
		w.B.Profile = &gidp.Profile{ID: "core", Channels: []string{"phone"}}
		if c.do != nil {
			c.do(w)
		}
		_, out, _, err := session.Step(w.Env(w.B), w.B.State, session.Receive{Object: consent(w, "q-1", c.action, c.scope...)})
		if err != nil || len(out) != 1 {
			t.Errorf("%s: %v %v", name, out, err)
			continue
		}
		got := out[0].Object.(*wire.ConsentResponse)
		if got.Status != c.want || !slices.Equal(got.GrantedScope, append([]string{}, c.left...)) || out[0].Row != c.row {
			t.Errorf("%s: %s %v by %s, want %s %v by %s", name, got.Status, got.GrantedScope, out[0].Row, c.want, c.left, c.row)
		}
	}
}

// The Principal may narrow a consent, and never widen it.
func TestNarrowedConsent(t *testing.T) {
	for name, c := range map[string]struct {
		narrow []string
		left   []string
	}{"all": {nil, []string{"deep", "guarded"}}, "one": {[]string{"guarded"}, []string{"guarded"}}, "none": {[]string{}, nil}, "another": {[]string{"swap"}, nil}} {
		w := pair(t)
		must(t, w, w.A, session.AskConsent{Action: wire.ActDisclose, Scope: []string{"deep", "guarded"}})
		must(t, w, w.B, session.Decide{Ref: w.B.State.Recv.ID, Granted: true, Scope: c.narrow})
		got := last[*wire.ConsentResponse](t, w.B)
		if !slices.Equal(got.GrantedScope, append([]string{}, c.left...)) || (got.Status == wire.Granted) != (len(c.left) > 0) {
			t.Errorf("%s: %+v", name, got)
		}
		if w.A.State.Sent.Kind != session.SlotEmpty || w.A.State.Phase != session.Probing {
			t.Errorf("%s: a consent before qualification does not advance the session", name)
		}
	}
}

func TestOtherVersionIsUnsupported(t *testing.T) {
	w := NewWorld(Core(), holder("a"), holder("b"))
	data, err := wire.Encode(&wire.SessionOpen{Head: head(w), RequestID: "r-1", Initiator: "x", MaxDepth: wire.DepthSession, Profile: "core"})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Deliver(w.B, []byte(strings.Replace(string(data), wire.Version, "gidp/7", 1))); err != nil {
		t.Fatal(err)
	}
	if end := last[*wire.SessionClose](t, w.B); end.Reason != wire.ReasonUnsupported {
		t.Errorf("%s, want unsupported", end.Reason)
	}
}

func TestCrossingClosesAndHandoffs(t *testing.T) {
	w := qualified(t)
	for _, s := range []*Side{w.A, w.B} {
		must(t, w, s, session.AskConsent{Action: wire.ActHandoff, Scope: []string{"urn:desk"}})
	}
	target := wire.Target{Kind: wire.TargetProtocol, ProtocolRef: "urn:desk"}
	for _, s := range []*Side{w.A, w.B} {
		if err := w.Do(s, session.HandOff{Target: target}); err != nil {
			t.Fatal(err)
		}
		if err := w.Do(s, session.AskDisclosure{Attribute: "deep"}); err == nil {
			t.Error("nothing is asked after a hand-over")
		}
	}
	if err := w.Drain(); err != nil {
		t.Fatal(err)
	}
	acted := func(s *Side) bool {
		return slices.ContainsFunc(s.Effects, func(e session.Effect) bool { return e.Kind == session.EffectHandoff })
	}
	if acted(w.A) || !acted(w.B) {
		t.Error("of two hand-overs that cross, the initiator's is acted on")
	}
	for _, s := range []*Side{w.A, w.B} {
		if s.State.Phase != session.Closed || s.State.Reason != wire.ReasonCompleted {
			t.Errorf("side %s: %s %s", s.Name, s.State.Phase, s.State.Reason)
		}
	}
	w = pair(t)
	for _, s := range []*Side{w.A, w.B} {
		if err := w.Do(s, session.Hang{Reason: wire.ReasonUnspecified}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Drain(); err != nil {
		t.Fatal(err)
	}
}
