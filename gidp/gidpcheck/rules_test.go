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

func TestDecisionOrder(t *testing.T) {
	if err := decisionOrder(); err != nil {
		t.Error(err)
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

// A close stands in place of a response only where one is due.
func TestCloseInPlaceOfAnAnswer(t *testing.T) {
	w := pair(t)
	if got := disclosed(t, w, w.B, "q-1", "guarded"); got != wire.Pending {
		t.Fatal(got)
	}
	refused(t, w.Do(w.B, session.Hang{RequestRef: "q-2"}), session.CodeLocal)
	if err := w.Do(w.B, session.Hang{Reason: wire.ReasonDeclined, RequestRef: "q-1"}); err != nil {
		t.Fatal(err)
	}
	if end := last[*wire.SessionClose](t, w.B); end.RequestRef != "q-1" || end.Reason != wire.ReasonDeclined {
		t.Errorf("%+v", end)
	}
	refused(t, w.Do(w.B, session.Hang{}), session.CodeLocal)
}

// What is not listed for a phase has no effect.
func TestOutOfPhase(t *testing.T) {
	w := pair(t)
	before := state(t, w.B)
	for name, o := range map[string]wire.Object{
		"a second open":     &wire.SessionOpen{Head: head(w), RequestID: "r-9", Initiator: "x", MaxDepth: wire.DepthSession, Profile: "core"},
		"an accept":         &wire.SessionAccept{Head: head(w), RequestRef: "r-1", Responder: "x", MaxDepth: wire.DepthSession, Profile: "core"},
		"an answer":         &wire.CompatibilityResponse{Head: head(w), RequestRef: "r-1", Results: []wire.Outcome{{ClaimID: "c", Key: "k", Result: wire.Compatible}}, SessionStatus: wire.StatusPotential},
		"a value":           &wire.DisclosureResponse{Head: head(w), RequestRef: "r-1", Attribute: "deep", Status: wire.Granted, Value: jcs.Raw(`1`)},
		"a consent":         &wire.ConsentResponse{Head: head(w), RequestRef: "r-1", Status: wire.Granted, GrantedScope: []string{"x"}},
		"another session":   &wire.SessionClose{Head: wire.Head{SessionID: "other", ExpiresAt: w.Now.Add(time.Hour)}, Reason: wire.ReasonUnspecified},
		"no session at all": &wire.DiscoveryProjection{ExpiresAt: w.Now.Add(time.Hour), ProjectionID: "p", Endpoint: "https://one.example", Domains: []string{"x"}},
	} {
		out, err := inject(t, w, w.B, o)
		if err == nil || len(out) > 0 || state(t, w.B) != before {
			t.Errorf("%s: %v %v", name, out, err)
		}
	}
	w = qualified(t)
	out, err := inject(t, w, w.A, &wire.Opportunity{Head: head(w), EvaluatedDimensions: 1, CompatibleDimensions: 1})
	if end := only[*wire.SessionClose](t, out, err); end.Reason != wire.ReasonUnspecified {
		t.Errorf("%s: the responder emits no Opportunity", end.Reason)
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

func TestOnlyAnswersAreCharged(t *testing.T) {
	b := trader(t)
	b.Attributes["stock"] = jcs.Raw(`12`)
	domain := gidp.Domain{Min: 0, Max: 31, Step: 1}
	b.Budgets = map[string]interest.Budget{"stock": {Bits: 2, Domain: domain}}
	row, err := gidp.NewRow(domain, 2)
	if err != nil {
		t.Fatal(err)
	}
	key := gidp.LedgerKey{Lineage: b.Lineage, Quantity: "stock"}
	w := NewWorld(market(), holder("a"), b)
	w.B.Ledger = gidp.Ledger{key: row}
	if err := w.Open("trade", wire.DepthSession); err != nil {
		t.Fatal(err)
	}
	b.Authority[gidp.Probe] = gidp.Approval
	asked := claim("c1", "stock", wire.OpOverlaps, `{"max":15}`)
	for _, id := range []string{"q-1", "q-1"} { // the second is a reused id
		_, _ = inject(t, w, w.B, question(w, id, asked))
		if spent := w.B.Ledger[key].Spent(); spent != 0 {
			t.Fatalf("%v bits for a question that nobody answered", spent)
		}
	}
	if err := w.Approve(w.B, "q-1", true); err != nil {
		t.Fatal(err)
	}
	if spent := w.B.Ledger[key].Spent(); spent != 1 {
		t.Errorf("%v bits for one answer, want 1", spent)
	}
}

func TestExpiredQuestion(t *testing.T) {
	for _, keep := range []bool{false, true} {
		w := pair(t)
		w.A.Config.KeepExpired, w.B.Config.KeepExpired = keep, keep
		w.B.Interest.Authority[gidp.Probe] = gidp.Approval
		must(t, w, w.A, session.AskClaims{Claims: []wire.Claim{claim("c1", "field", wire.OpEquals, `"optics"`)}})
		if err := w.Do(w.A, session.AskClaims{Claims: []wire.Claim{claim("c2", "field", wire.OpEquals, `"optics"`, "c1")}}); err == nil {
			t.Error("an open question was superseded")
		}
		if err := w.Pass(16 * time.Minute); err != nil {
			t.Fatal(err)
		}
		w.B.Interest.Authority[gidp.Probe] = gidp.Yes
		if err := w.Approve(w.B, "r-2", true); err == nil {
			t.Error("an expired ask was answered")
		}
		err := w.Do(w.A, session.AskClaims{Claims: []wire.Claim{claim("c3", "field", wire.OpEquals, `"optics"`, "c1")}})
		if (err != nil) != keep {
			t.Errorf("keep %v: %v", keep, err)
		}
		if err := w.Drain(); err != nil {
			t.Fatal(err)
		}
		if (w.A.State.Phase == session.Qualified) == keep {
			t.Errorf("keep %v: %s", keep, w.A.State.Phase)
		}
	}
}

func TestOtherCounterparties(t *testing.T) {
	domain := gidp.Domain{Min: 0, Max: 31, Step: 1}
	row, err := gidp.NewRow(domain, 2)
	if err != nil {
		t.Fatal(err)
	}
	// after is what a counterparty is answered after others have asked their questions, each in a session of its own.
	after := func(key, observed string, others ...string) wire.Result {
		b := trader(t)
		b.Attributes["stock"] = jcs.Raw(`12`)
		b.Budgets = map[string]interest.Budget{"stock": {Bits: 2, Domain: domain}}
		ledger := gidp.Ledger{{Lineage: b.Lineage, Quantity: "stock"}: row}
		var result wire.Result
		for _, asked := range append(others, observed) {
			w := NewWorld(market(), holder("a"), b)
			w.B.Ledger = ledger
			if err := w.Open("trade", wire.DepthSession); err != nil {
				t.Fatal(err)
			}
			out, err := inject(t, w, w.B, question(w, "q-1", claim("c1", key, wire.OpOverlaps, asked)))
			if err != nil {
				t.Fatal(err)
			}
			result, ledger = out[0].(*wire.CompatibilityResponse).Results[0].Result, w.B.Ledger
		}
		return result
	}
	if alone, later := after("price", `{"max":599}`), after("price", `{"max":599}`, `{"max":299}`, `{"min":100}`, `{"max":150}`); alone != later || alone != wire.Compatible {
		t.Errorf("cells: %s alone, %s after others", alone, later)
	}
	if alone, later := after("stock", `{"max":14}`), after("stock", `{"max":14}`, `{"max":15}`, `{"min":8}`); alone != wire.Compatible || later != wire.Declined {
		t.Errorf("a budget: %s alone, %s after others; the threat model says that they differ", alone, later)
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
