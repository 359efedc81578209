package agent

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/internal/app"
)

// The whole walk: questions, a lead, an identity by two decisions, an attribute under consent, and the hand-over. The seller's agent is another one after each
// decision, so nothing of it was in memory.
func TestAWalkToTheHandOver(t *testing.T) {
	w, id := qualified(t)
	if leaked := w.leaked(append(sellerPrivate, buyerName, buyerCeiling)...); len(leaked) > 0 {
		t.Fatalf("questions alone tell %v", leaked)
	}
	leads, err := w.buyer.agent.Leads(t.Context())
	if err != nil || len(leads) != 1 || leads[0].ID != id || leads[0].EvaluatedDimensions != 3 || leads[0].CompatibleDimensions != 3 {
		t.Fatalf("%+v %v", leads, err)
	}
	leads[0].Statement = "" // the profile's own words
	if text, _ := json.Marshal(leads); strings.Contains(string(text), "match") || strings.Contains(string(text), "agree") {
		t.Errorf("%s", text)
	}

	request := func(r LeadRequest) {
		t.Helper()
		if _, err := w.buyer.agent.Request(t.Context(), id, r); err != nil {
			t.Fatal(err)
		}
		w.pump(4)
	}
	request(LeadRequest{Action: RequestIdentity, Retention: "session_only"})
	entry := w.seller.inbox()[0]
	if entry.Kind != entryConsent || entry.Action != "reveal_identity" || !slices.Equal(entry.Keys, []string{gidp.PrincipalIdentity}) || len(entry.Reveals) != 1 ||
		!strings.Contains(string(entry.Reveals[0].Value), sellerName) || entry.Peer.Finding != "evidenced by pairwise key" || entry.Notice == "" || entry.Stays == "" {
		t.Errorf("%+v", entry)
	}
	w.seller.restart()
	w.seller.decide(Decision{Grant: true})
	if leaked := w.leaked(sellerName); len(leaked) > 0 {
		t.Fatal("a consent carries the value")
	}
	w.pump(4)
	entry = w.seller.inbox()[0]
	if entry.Kind != entryDisclosure || entry.IntendedUse != "identity_verification" || entry.Retention != "session_only" || len(entry.Reveals) != 1 || entry.Purpose == "" {
		t.Errorf("%+v", entry)
	}
	if _, err := w.buyer.agent.Request(t.Context(), id, LeadRequest{Action: RequestDisclosure, Key: "plans"}); app.AsError(err).Kind != app.KindConflict {
		t.Errorf("a second request under way: %v", err)
	}
	w.seller.restart()
	w.seller.decide(Decision{Grant: true})
	w.pump(4)
	got := w.buyer.one()
	if len(got.Values) != 1 || string(got.Values[0].Value) != `"`+sellerName+`"` || got.Order != "" || len(got.Peer.Names) != 1 || !strings.Contains(string(got.Peer.Names[0].Value), sellerName) {
		t.Fatalf("%+v", got)
	}

	request(LeadRequest{Action: RequestDisclosure, Key: "reference_clients"}) // gate consent: declined, then consent, then the value
	w.pump(8)
	if got = w.buyer.one(); len(got.Values) != 2 || string(got.Values[1].Value) != `"`+sellerRef+`"` {
		t.Fatalf("%+v", got)
	}
	request(LeadRequest{Action: RequestDisclosure, Key: "secret"})
	w.pump(8)
	if got = w.buyer.one(); len(got.Values) != 2 || got.Order != "" || len(w.leaked(sellerSecret)) > 0 {
		t.Fatalf("%+v", got)
	}

	request(LeadRequest{Action: RequestContact, Target: "email"})
	if entry = w.seller.inbox()[0]; entry.Action != "establish_direct_contact" || len(entry.Reveals) != 0 {
		t.Errorf("%+v", entry)
	}
	w.seller.decide(Decision{Grant: true})
	w.pump(4)

	request(LeadRequest{Action: RequestHandoff, Target: "human:desk-4"})
	w.seller.decide(Decision{Grant: true})
	w.pump(6)
	seller, buyer := w.seller.one(), w.buyer.one()
	if seller.Reason != "completed" || buyer.Reason != "completed" || seller.Handoff == nil || seller.Handoff.Target != "human:desk-4" || seller.Handoff.By != "theirs" || buyer.Handoff.By != "ours" {
		t.Fatalf("%+v\n%+v", seller, buyer)
	}
	for _, l := range seller.Handoff.Levels {
		if !l.Evidenced || l.Level == "COMMIT" {
			t.Errorf("%+v", seller.Handoff.Levels)
		}
	}
	for _, s := range slices.Concat(seller.Signatures, buyer.Signatures) {
		if s.Finding != signatureVerified {
			t.Errorf("%+v", s)
		}
	}
	if len(seller.Signatures) != 2 || len(buyer.Signatures) != 5 { // Opportunity and Handoff; five terminal answers to consents
		t.Errorf("%+v %+v", seller.Signatures, buyer.Signatures)
	}
	if v := buyer.Values[0]; !v.Forgotten || v.Value != nil || buyer.Values[1].Forgotten {
		t.Errorf("retention: %+v", buyer.Values)
	}
	if leaked := w.leaked(sellerPlans, sellerSecret, sellerFloor, buyerName, buyerCeiling); len(leaked) > 0 {
		t.Errorf("told without a decision: %v", leaked)
	}
	w.checkTrail()
	for _, p := range []*party{w.buyer, w.seller} {
		list, _ := p.agent.Audit(t.Context(), "")
		for _, e := range list {
			for _, token := range append(sellerPrivate, buyerName, buyerCeiling) {
				if strings.Contains(string(e.Body), token) {
					t.Errorf("the trail holds a value: %s", e.Body)
				}
			}
		}
	}
	if _, err := w.buyer.agent.Request(t.Context(), id, LeadRequest{Action: RequestContact}); app.AsError(err).Code != "session_over" {
		t.Errorf("after the end: %v", err)
	}
}

// What cannot be requested says why.
func TestRequestsThatAreRefused(t *testing.T) {
	w, id := qualified(t)
	for code, r := range map[string]LeadRequest{
		"unknown_request": {Action: "marry"}, "no_identity": {Action: RequestIdentity, Key: "plans"}, "key_needed": {Action: RequestDisclosure},
		"identity": {Action: RequestDisclosure, Key: gidp.PrincipalIdentity}, "unknown_channel": {Action: RequestContact, Target: "pigeon"},
		"target_needed": {Action: RequestHandoff, Target: "a b"}, "bad_retention": {Action: RequestDisclosure, Key: "plans", Retention: "for_ever"},
	} {
		_, err := w.buyer.agent.Request(t.Context(), id, r)
		var refused *app.Error
		if !errors.As(err, &refused) || refused.Code != code || refused.Next == "" {
			t.Errorf("%+v: %v", r, err)
		}
	}
	if _, err := w.buyer.agent.Request(t.Context(), "none", LeadRequest{Action: RequestContact}); app.AsError(err).Kind != app.KindNotFound {
		t.Errorf("%v", err)
	}
	if w.buyer.one().Order != "" {
		t.Error("a refused request is under way")
	}
}

// A responder's Principal can ask as well, and hand over: both slots exist in both directions.
func TestTheResponderRequests(t *testing.T) {
	w, _ := qualified(t)
	id := w.seller.one().ID
	if _, err := w.seller.agent.Request(t.Context(), id, LeadRequest{Action: RequestIdentity}); err != nil {
		t.Fatal(err)
	}
	w.pump(4)
	w.buyer.decide(Decision{Grant: true})
	w.pump(6)
	w.buyer.decide(Decision{Grant: true})
	w.pump(4)
	if v := w.seller.one(); len(v.Values) != 1 || string(v.Values[0].Value) != `"`+buyerName+`"` {
		t.Fatalf("%+v", v)
	}
	if _, err := w.seller.agent.Request(t.Context(), id, LeadRequest{Action: RequestHandoff, Target: "workflow:w-1"}); err != nil {
		t.Fatal(err)
	}
	w.pump(4)
	w.buyer.decide(Decision{Grant: true})
	w.pump(6)
	if b, s := w.buyer.one(), w.seller.one(); b.Reason != "completed" || s.Reason != "completed" || b.Handoff == nil || b.Handoff.Kind != "workflow" {
		t.Fatalf("%+v\n%+v", b, s)
	}
	w.checkTrail()
}

// Leaving ACTIVE answers what is open, then closes, and settles the inbox (K11).
func TestAnInterestThatLeavesClosesItsSessions(t *testing.T) {
	w, id := qualified(t)
	if _, err := w.buyer.agent.Request(t.Context(), id, LeadRequest{Action: RequestIdentity}); err != nil {
		t.Fatal(err)
	}
	w.pump(3)
	entry := w.seller.inbox()[0]
	if _, err := w.seller.agent.Revoke(t.Context(), w.seller.interest); err != nil {
		t.Fatal(err)
	}
	if _, err := w.seller.agent.Decide(t.Context(), entry.ID, Decision{Grant: true}); app.AsError(err).Kind != app.KindConflict {
		t.Errorf("a decision after the end: %v", err)
	}
	w.pump(3)
	if v := w.seller.one(); v.State != "CLOSED" || v.Reason != "unspecified" {
		t.Errorf("%+v", v)
	}
	if v := w.buyer.one(); v.State != "CLOSED" || v.Reason != "unspecified" || len(v.Grants) != 0 {
		t.Errorf("%+v", v)
	}
	again := w.open()
	w.pump(3)
	for _, v := range w.buyer.sessions() {
		if v.ID == again && (v.State != "CLOSED" || v.Reason != "unsupported") {
			t.Errorf("%+v", v)
		}
	}
	if v, err := w.seller.agent.Entry(t.Context(), entry.ID); err != nil || v.State != "settled" {
		t.Errorf("%+v %v", v, err)
	}
	w.checkTrail()
}

func TestClosingASession(t *testing.T) {
	w, id := qualified(t)
	v, err := w.buyer.agent.CloseSession(t.Context(), id)
	if err != nil || v.State != "CLOSED" {
		t.Fatalf("%+v %v", v, err)
	}
	w.pump(3)
	if v := w.seller.one(); v.State != "CLOSED" || v.Reason != "unspecified" {
		t.Errorf("%+v", v)
	}
	if _, err := w.buyer.agent.CloseSession(t.Context(), id); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	if _, err := w.buyer.agent.CloseSession(t.Context(), "none"); app.AsError(err).Kind != app.KindNotFound {
		t.Errorf("%v", err)
	}
	g, err := w.seller.agent.Gauges(t.Context())
	if err != nil || g != (Gauges{Interests: 1, Active: 1}) {
		t.Errorf("%+v %v", g, err)
	}
}

// A contradiction ends the session on both sides, with the reason.
func TestAContradiction(t *testing.T) {
	w := newWorld(t, buyerSeller{buyer: func(i *interest.Interest) { i.Attributes["enterprise_value_eur"] = []byte(`{"max":7000000}`) }})
	w.open()
	w.pump(6)
	if b, s := w.buyer.one(), w.seller.one(); b.State != "CLOSED" || s.State != "CLOSED" || b.Status != "incompatible" || s.Status != "incompatible" || b.Lead != nil {
		t.Errorf("%+v\n%+v", b, s)
	}
	w.checkTrail()
}

// A session that nobody closes ends at its time, without a word.
func TestASessionEndsAtItsTime(t *testing.T) {
	w, _ := qualified(t)
	w.clock.advance(8 * 24 * time.Hour)
	w.pump(2)
	if b, s := w.buyer.one(), w.seller.one(); b.Reason != "expired" || s.Reason != "expired" {
		t.Errorf("%+v\n%+v", b, s)
	}
}
