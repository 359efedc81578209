package agent

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
	"sayso/internal/app"
	"sayso/jcs"
	"sayso/jws"
)

// amend changes an interest in place, as nobody can by the commands: it stands for an authority that is withdrawn while a decision waits.
func (p *party) amend(change func(*interest.Interest)) {
	p.t.Helper()
	err := p.agent.Store.Update(p.t.Context(), func(tx durable.Writer) error {
		h, row, err := p.agent.holding(p.t.Context(), tx, p.interest)
		if err != nil {
			return err
		}
		doc := h.Document()
		change(doc)
		if row.Body, err = p.agent.Vault.Hold(doc); err != nil {
			return err
		}
		return tx.PutInterest(p.t.Context(), row)
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// A second decision is refused, whoever makes it and whatever it says.
func TestADecisionIsMadeOnce(t *testing.T) {
	w, id := qualified(t)
	if _, err := w.buyer.agent.Request(t.Context(), id, LeadRequest{Action: RequestIdentity}); err != nil {
		t.Fatal(err)
	}
	w.pump(3)
	entry := w.seller.inbox()[0].ID
	if !slices.Contains(w.seller.notified, entry) {
		t.Error("nobody was told")
	}
	if v := w.seller.one(); !slices.Equal(v.Entries, []string{entry}) || v.State != "CONSENT_PENDING" {
		t.Errorf("%+v", v)
	}
	for code, d := range map[string]Decision{"not_asked_for": {Grant: true, Scope: []string{"plans"}}} {
		if _, err := w.seller.agent.Decide(t.Context(), entry, d); app.AsError(err).Code != code {
			t.Errorf("%s: %v", code, err)
		}
	}
	v := w.seller.decide(Decision{})
	if v.State != "declined" || v.DecidedAt.IsZero() || len(v.Reveals) != 1 {
		t.Errorf("%+v", v)
	}
	w.seller.restart()
	for _, d := range []Decision{{Grant: true}, {}} {
		if _, err := w.seller.agent.Decide(t.Context(), entry, d); app.AsError(err).Code != "decided_before" {
			t.Errorf("%v", err)
		}
	}
	if _, err := w.seller.agent.Decide(t.Context(), "none", Decision{}); refusedWith(err) != app.KindNotFound {
		t.Errorf("%v", err)
	}
	if _, err := w.seller.agent.Entry(t.Context(), "none"); refusedWith(err) != app.KindNotFound {
		t.Errorf("%v", err)
	}
	w.pump(3)
	if v := w.buyer.one(); v.Order != "" || len(v.Grants) != 0 || v.State != "QUALIFIED" {
		t.Errorf("%+v", v)
	}
	if all, err := w.seller.agent.Inbox(t.Context(), true); err != nil || len(all) != 1 || len(w.seller.inbox()) != 0 {
		t.Errorf("%+v %v", all, err)
	}
	w.checkTrail()
}

// What is forgotten of a session takes nothing else with it: inbox, sessions and trail can still be read.
func TestAForgottenSession(t *testing.T) {
	w, id := qualified(t)
	if _, err := w.buyer.agent.Request(t.Context(), id, LeadRequest{Action: RequestIdentity}); err != nil {
		t.Fatal(err)
	}
	w.pump(3)
	w.seller.decide(Decision{})
	if _, err := w.seller.agent.CloseSession(t.Context(), w.seller.one().ID); err != nil {
		t.Fatal(err)
	}
	if v := w.seller.one(); v.Lead == nil {
		t.Error("a closed session is forgotten at once")
	}
	for _, after := range []time.Duration{keepClosed - time.Hour, 2 * time.Hour, 24 * time.Hour} {
		w.clock.advance(after)
		if err := w.seller.agent.Store.Update(t.Context(), func(tx durable.Writer) error { return tx.Forget(t.Context(), w.clock.read(), 1000) }); err != nil {
			t.Fatal(err)
		}
		if _, err := w.seller.agent.Inbox(t.Context(), true); err != nil {
			t.Error(err)
		}
	}
	if n := len(w.seller.sessions()); n != 0 {
		t.Errorf("%d sessions are kept", n)
	}
	w.checkTrail()
}

// A Principal can grant a part of a consent; the rest is declined.
func TestAConsentIsNarrowed(t *testing.T) {
	w := newWorld(t)
	s := w.stranger("s-1")
	s.open()
	task, err := s.send(&wire.ConsentRequest{Head: s.head(time.Hour), RequestID: "q-1", Action: wire.ActDisclose, Scope: []string{"reference_clients", "plans", "secret"}})
	if err != nil || last(t, task).(*wire.ConsentResponse).Status != wire.Pending {
		t.Fatalf("%+v %v", task, err)
	}
	entry := w.seller.inbox()[0]
	if len(entry.Reveals) != 2 { // what is classed never is not among what a grant would open
		t.Errorf("%+v", entry.Reveals)
	}
	w.seller.decide(Decision{Grant: true, Scope: []string{"plans", "secret"}})
	task, err = w.seller.agent.Task(t.Context(), s.ref, s.task, s.key.Kid())
	if err != nil {
		t.Fatal(err)
	}
	if c := last(t, task).(*wire.ConsentResponse); c.Status != wire.Granted || !slices.Equal(c.GrantedScope, []string{"plans"}) {
		t.Errorf("%+v", c)
	}
	w.checkTrail()
}

// What was withdrawn while a decision waited is declined, although the Principal grants (C-42, X-02).
func TestALateApprovalIsCheckedAgain(t *testing.T) {
	for name, withdraw := range map[string]func(*interest.Interest){
		"introduce": func(i *interest.Interest) { i.Authority[gidp.Introduce] = gidp.No },
		"never":     func(i *interest.Interest) { i.Policy.Entries[gidp.PrincipalIdentity] = gidp.Entry{"": gidp.Never} },
		"not held":  func(i *interest.Interest) { delete(i.Attributes, gidp.PrincipalIdentity) },
	} {
		t.Run(name, func(t *testing.T) {
			w, id := qualified(t)
			if _, err := w.buyer.agent.Request(t.Context(), id, LeadRequest{Action: RequestIdentity}); err != nil {
				t.Fatal(err)
			}
			w.pump(3)
			w.seller.amend(withdraw)
			w.seller.decide(Decision{Grant: true})
			w.pump(6)
			if v := w.buyer.one(); len(v.Grants) != 0 || len(v.Values) != 0 || v.Order != "" {
				t.Errorf("%+v", v)
			}
			if leaked := w.leaked(sellerName); len(leaked) > 0 {
				t.Error("the identity left")
			}
			w.checkTrail()
		})
	}
}

// A grant given earlier opens nothing once INTRODUCE is withdrawn (scenario 17), and the mandate shows no name any more.
func TestAWithdrawnIntroductionClosesTheDoors(t *testing.T) {
	w, id := qualified(t)
	if _, err := w.buyer.agent.Request(t.Context(), id, LeadRequest{Action: RequestIdentity}); err != nil {
		t.Fatal(err)
	}
	w.pump(3)
	w.seller.decide(Decision{Grant: true})
	w.seller.amend(func(i *interest.Interest) { i.Authority[gidp.Introduce] = gidp.No })
	w.pump(6)
	if v := w.buyer.one(); len(v.Values) != 0 || len(w.seller.inbox()) != 0 || len(w.leaked(sellerName)) != 0 {
		t.Errorf("%+v", v)
	}
	w.checkTrail()
}

// Nobody decides: the request is declined in time, and the entry is settled (S-26).
func TestAnEntryEndsByTheClock(t *testing.T) {
	w := newWorld(t)
	s := w.stranger("s-1")
	s.open()
	if _, err := s.send(&wire.ConsentRequest{Head: s.head(10 * time.Minute), RequestID: "q-1", Action: wire.ActDisclose, Scope: []string{"plans"}}); err != nil {
		t.Fatal(err)
	}
	entry := w.seller.inbox()[0]
	if want := worldStart.Add(9 * time.Minute); !entry.Deadline.Equal(want) {
		t.Errorf("deadline %v", entry.Deadline)
	}
	w.clock.advance(9*time.Minute - 2*time.Second)
	w.pump(1)
	if len(w.seller.inbox()) != 1 {
		t.Fatal("settled too early")
	}
	w.clock.advance(3 * time.Second)
	w.pump(1)
	task, err := w.seller.agent.Task(t.Context(), s.ref, s.task, s.key.Kid())
	if err != nil {
		t.Fatal(err)
	}
	if c := last(t, task).(*wire.ConsentResponse); c.Status != wire.Refused || len(w.seller.inbox()) != 0 {
		t.Errorf("%+v", c)
	}
	if _, err := w.seller.agent.Decide(t.Context(), entry.ID, Decision{Grant: true}); refusedWith(err) != app.KindConflict {
		t.Errorf("%v", err)
	}
	w.checkTrail()
}

// Under PROBE approval_required the Principal decides about each question. Its entry shows what is asked and not what the answer would be; until the decision
// nothing is shown to the peer, and a refusal is declined on every claim.
func TestHeldQuestions(t *testing.T) {
	probing := buyerSeller{seller: func(i *interest.Interest) { i.Authority[gidp.Probe] = gidp.Approval }}
	for _, grant := range []bool{true, false} {
		w := newWorld(t, probing)
		s := w.stranger("s-1")
		s.open()
		task, err := s.ask(wire.Claim{Key: "sector", Operator: wire.OpIntersects, Value: jcs.Raw(`"enterprise_software"`)}, w.sites(`{"min":16}`))
		if err != nil || len(task.Artifacts) != 1 || task.Awaiting != 0 {
			t.Fatalf("%+v %v", task, err)
		}
		entry := w.seller.inbox()[0]
		if entry.Kind != entryQuestion || len(entry.Questions) != 2 || entry.Questions[0].Result != "" || len(entry.Reveals) != 0 {
			t.Errorf("%+v", entry)
		}
		if w.spentOn(w.seller) != 0 {
			t.Error("a held question was charged")
		}
		w.seller.restart()
		w.seller.decide(Decision{Grant: grant})
		if task, err = w.seller.agent.Task(t.Context(), s.ref, s.task, s.key.Kid()); err != nil {
			t.Fatal(err)
		}
		want := wire.Declined
		if grant {
			want = wire.Compatible
		}
		if c := last(t, task).(*wire.CompatibilityResponse); c.Results[0].Result != want || c.Results[1].Result != want {
			t.Errorf("%+v", c)
		}
		if (w.spentOn(w.seller) > 0) != grant {
			t.Error("charged without an answer, or the reverse")
		}
		w.checkTrail()
	}
}

// Own opens and own questions wait for the Principal where PROBE says so, each by itself.
func TestOwnActsWaitForApproval(t *testing.T) {
	w := newWorld(t, buyerSeller{buyer: func(i *interest.Interest) { i.Authority[gidp.Probe] = gidp.Approval }})
	id := w.open()
	w.pump(3)
	if v := w.buyer.one(); v.State != "WAITING" || len(w.wires.log) != 0 || !slices.Equal(w.buyer.notified, v.Entries) {
		t.Fatalf("%+v, told of %v", v, w.buyer.notified)
	}
	if v := w.buyer.decide(Decision{Grant: true}); v.Kind != entryOpen || v.Effect == "" {
		t.Errorf("%+v", v)
	}
	w.pump(3)
	entry := w.buyer.inbox()[0]
	if entry.Kind != entryOwn || len(entry.Questions) != 3 || entry.Questions[0].From != "ours" {
		t.Fatalf("%+v", entry)
	}
	if len(w.seller.one().Questions) != 0 {
		t.Error("asked without approval")
	}
	w.buyer.decide(Decision{Grant: true})
	w.pump(4)
	if v := w.buyer.one(); v.ID != id || v.State != "QUALIFIED" {
		t.Errorf("%+v", v)
	}
	w.checkTrail()

	declined := newWorld(t, buyerSeller{buyer: func(i *interest.Interest) { i.Authority[gidp.Probe] = gidp.Approval }})
	declined.open()
	declined.buyer.decide(Decision{})
	if v := declined.buyer.one(); v.State != "CLOSED" || v.Reason != "declined" || len(declined.wires.log) != 0 {
		t.Errorf("%+v", v)
	}
	ignored := newWorld(t, buyerSeller{buyer: func(i *interest.Interest) { i.Authority[gidp.Probe] = gidp.Approval }})
	ignored.open()
	ignored.clock.advance(8 * 24 * time.Hour)
	ignored.pump(1)
	if v := ignored.buyer.one(); v.State != "CLOSED" || len(ignored.buyer.inbox()) != 0 {
		t.Errorf("%+v", v)
	}
}

// A value that needs the peer's own, or a credential, is promised, and given once that came (sec. 6, D5b).
func TestConditions(t *testing.T) {
	w, id := qualified(t, buyerSeller{
		seller: func(i *interest.Interest) {
			i.Policy.Entries["plans"] = gidp.Entry{"": {Surface: gidp.InSession}}
			i.Policy.Conditions = map[string]interest.Condition{"plans": {Verify: []string{"mandate:principal_name"}}}
		},
		buyer: func(i *interest.Interest) {
			i.Policy.Entries[gidp.PrincipalIdentity] = gidp.Entry{"": {Surface: gidp.InSession}}
		},
	})
	if _, err := w.buyer.agent.Request(t.Context(), id, LeadRequest{Action: RequestDisclosure, Key: "plans"}); err != nil {
		t.Fatal(err)
	}
	w.pump(3)
	if v := w.buyer.one(); v.Order == "" || len(v.Values) != 0 {
		t.Fatalf("%+v", v)
	}
	if _, err := w.seller.agent.Request(t.Context(), w.seller.one().ID, LeadRequest{Action: RequestIdentity}); err != nil {
		t.Fatal(err)
	}
	w.pump(3)
	w.buyer.decide(Decision{Grant: true}) // INTRODUCE asks for it; the value itself needs no further decision
	w.pump(8)
	if v := w.seller.one(); len(v.Values) != 1 || len(v.Peer.Names) != 1 {
		t.Fatalf("%+v", v)
	}
	if v := w.buyer.one(); len(v.Values) != 1 || !strings.Contains(string(v.Values[0].Value), sellerPlans) {
		t.Errorf("%+v", v)
	}
	w.checkTrail()
}

// A Handoff that no consent covers is not acted on.
func TestAnUncoveredHandoff(t *testing.T) {
	w, _ := qualified(t)
	peer := w.asBuyer()
	task, err := peer.send(&wire.Handoff{Head: peer.head(time.Hour), Target: wire.Target{Kind: wire.TargetProtocol, ProtocolRef: "x"}, AuthorizedScope: []wire.Scope{}, RequiresPresence: true, ContingentOn: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	if c := last(t, task).(*wire.SessionClose); c.Reason != wire.ReasonUnsupported || w.seller.one().Handoff != nil {
		t.Errorf("%+v", c)
	}
}

// asBuyer speaks with the buyer's key in the buyer's session.
func (w *world) asBuyer() *stranger {
	w.t.Helper()
	s := w.stranger("")
	err := w.buyer.agent.Store.View(w.t.Context(), func(r durable.Reader) error {
		row, err := r.Session(w.t.Context(), w.buyer.one().ID)
		if err != nil {
			return err
		}
		t, err := w.buyer.agent.look(w.t.Context(), r, row)
		if err != nil {
			return err
		}
		s.session, s.task = t.body.State.ID, t.body.Task
		s.key, err = t.ownKey()
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// A signature is a finding of its own: a wrong one changes nothing that the object says, and an object that ends with its session has none.
func TestSignaturesAreFindings(t *testing.T) {
	w := newWorld(t)
	s, other := w.stranger("s-1"), w.stranger("s-2")
	data := []byte(`{"a":1}`)
	for want, c := range map[string]struct {
		key       jcs.Raw
		signature string
	}{
		signatureVerified:     {publicJWK(s.key), jws.SignDetached(s.key, data)},
		signatureAbsent:       {publicJWK(s.key), ""},
		signatureWrong:        {publicJWK(other.key), jws.SignDetached(s.key, data)},
		signatureUnverifiable: {nil, jws.SignDetached(s.key, data)},
	} {
		if got := findingOf(c.key, data, c.signature); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := findingOf(publicJWK(s.key), []byte(`{"a":2}`), jws.SignDetached(s.key, data)); got != signatureWrong {
		t.Errorf("another object: %s", got)
	}

	s.open()
	o := &wire.Opportunity{Head: s.head(time.Hour), Structure: "x", OpenConditions: []string{}, ContingentOn: []string{}, IdentityStatus: map[string]wire.IdentityStatus{}}
	m := s.message(s.bytes(o))
	m.Signature = jws.SignDetached(other.key, m.Object)
	if _, err := w.seller.agent.Receive(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if v := w.seller.one(); v.Reason != "unspecified" || len(v.Signatures) != 1 || v.Signatures[0].Finding != signatureWrong || v.Lead != nil {
		t.Errorf("%+v", v)
	}
}
