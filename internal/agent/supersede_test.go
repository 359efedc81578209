package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
	"sayso/internal/app"
	"sayso/jcs"
)

// continued lets a party's interest go on under a changed document.
func (p *party) continued(doc *interest.Interest) Continuation {
	p.t.Helper()
	c, err := p.agent.Continue(p.t.Context(), p.interest, doc)
	if err != nil {
		p.t.Fatal(err)
	}
	p.interest = c.Interest.ID
	return c
}

func (n *node) continued(doc *interest.Interest) Continuation {
	n.t.Helper()
	c, err := n.agent.Continue(n.t.Context(), n.doc, doc)
	if err != nil {
		n.t.Fatal(err)
	}
	n.doc = c.Interest.ID
	return c
}

func overlaps(key, value string) wire.Claim {
	return wire.Claim{Key: key, Operator: wire.OpOverlaps, Value: jcs.Raw(value)}
}

func TestSessionsGoOnUnderANewVersion(t *testing.T) {
	w, id := qualified(t)
	old := w.seller.interest
	store := &commits{Store: w.seller.options.Store}
	w.seller.options.Store = store
	w.seller.restart()
	if c := w.seller.continued(sellerDocument(t)); c.Sessions != 1 || len(c.Changed) != 0 || c.Interest.Version != 2 || c.Interest.State != "ACTIVE" || store.n != 1 {
		t.Fatalf("%+v in %d commits", c, store.n)
	}
	v := w.seller.one()
	if v.State != string(session.Qualified) || v.Interest != w.seller.interest || v.BeganUnder != old || v.Lead == nil || v.Lead.Interest != w.seller.interest {
		t.Errorf("%+v", v)
	}
	if _, err := w.buyer.agent.Request(t.Context(), id, LeadRequest{Action: RequestIdentity}); err != nil {
		t.Fatal(err)
	}
	w.pump(4)
	entry := w.seller.inbox()[0]
	if entry.Interest != w.seller.interest || entry.Note == "" || entry.Principal != "somebody" {
		t.Errorf("%+v", entry)
	}
	w.seller.decide(Decision{Grant: true})
	w.pump(4)
	w.seller.decide(Decision{Grant: true})
	w.pump(6)
	if v := w.buyer.one(); len(v.Values) != 1 || string(v.Values[0].Value) != `"`+sellerName+`"` {
		t.Errorf("%+v", v.Values)
	}
	// The reference from before takes no other session, and the one of the new version does.
	if w.open(); true {
		w.pump(3)
	}
	if list := w.seller.sessions(); len(list) != 1 {
		t.Errorf("%d sessions", len(list))
	}
	list, err := w.seller.agent.Audit(t.Context(), w.seller.interest)
	if err != nil || !slices.ContainsFunc(list, func(e AuditView) bool { return e.Kind == auditContinued && strings.Contains(string(e.Body), old) }) {
		t.Errorf("no entry tells of it: %v", err)
	}
	w.checkTrail()
	if _, err := w.seller.agent.Revoke(t.Context(), w.seller.interest); err != nil {
		t.Fatal(err)
	}
	if v := w.seller.one(); v.State != string(session.Closed) {
		t.Errorf("the end of the new version leaves its session %s", v.State)
	}
}

func TestWhatCannotGoOn(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*interest.Interest)
		code string
	}{
		"profile":   {func(i *interest.Interest) { i.Profile = "core" }, "another_interest"},
		"action":    {func(i *interest.Interest) { i.Wants.Action = "other" }, "another_interest"},
		"object":    {func(i *interest.Interest) { i.Wants.Object = "other" }, "another_interest"},
		"principal": {func(i *interest.Interest) { i.PrincipalRef = "another" }, "another_principal"},
		"not yet":   {func(i *interest.Interest) { i.NotBefore = worldStart.AddDate(0, 0, 2) }, "not_valid_now"},
		"over": {func(i *interest.Interest) {
			i.ExpiresAt = worldStart.Add(-time.Hour)
			i.NotBefore = worldStart.AddDate(0, -1, 0)
		}, "not_valid_now"},
		"inferred": {func(i *interest.Interest) { i.Origin = interest.Inferred }, "unconfirmed"},
	} {
		w, _ := qualified(t)
		doc := sellerDocument(t)
		c.edit(doc)
		_, err := w.seller.agent.Continue(t.Context(), w.seller.interest, doc)
		wantKind(t, err, app.KindRefused, c.code)
		if v := w.seller.one(); v.State != string(session.Qualified) || v.Interest != w.seller.interest {
			t.Errorf("%s: a refused version changed the session: %+v", name, v)
		}
	}
	w, _ := qualified(t)
	if _, err := w.seller.agent.Suspend(t.Context(), w.seller.interest); err != nil {
		t.Fatal(err)
	}
	_, err := w.seller.agent.Continue(t.Context(), w.seller.interest, sellerDocument(t))
	wantKind(t, err, app.KindRefused, "not_active")
	doc := sellerDocument(t)
	doc.PrincipalRef = "another"
	_, err = w.seller.agent.Supersede(t.Context(), w.seller.interest, doc)
	wantKind(t, err, app.KindRefused, "another_principal")
}

// A restriction of the new version holds for the very next question, and what it answers with is what it answers with to everything that it keeps.
func TestARestrictionBitesAtOnce(t *testing.T) {
	for _, key := range []string{"enterprise_value_eur", "sector", "reference_clients", "sites"} {
		n := newNode(t, sellerDocument(t))
		c := newCaller(t, "peer", n.refs[0])
		c.open(n)
		claim := wire.Claim{Key: key, Operator: wire.OpIntersects, Value: jcs.Raw(`["enterprise_software"]`)}
		switch key {
		case "enterprise_value_eur":
			claim = overlaps(key, `{"max":49999999}`)
		case "sites":
			claim = overlaps(key, `{"max":16}`)
			claim.Value = jcs.Raw(`{"max":24}`)
		}
		if got, ok := c.ask(n, claim); !ok || key != "reference_clients" && got == wire.Declined {
			t.Fatalf("%s before: %s %v", key, got, ok)
		}
		doc := sellerDocument(t)
		doc.Policy.Entries[key] = worldClass(t, "never")
		n.continued(doc)
		before := n.ledger("sites")
		for range 2 { // the same question, and the same again
			if got, ok := c.ask(n, claim); !ok || got != wire.Declined {
				t.Errorf("%s: %s %v", key, got, ok)
			}
		}
		if got, ok := c.ask(n, overlaps("secret", `{"max":1}`)); !ok || got != wire.Declined {
			t.Errorf("what was never: %s %v", got, ok)
		}
		if key == "sites" && n.ledger("sites").Spent() != before.Spent() {
			t.Error("a refusal was charged")
		}
	}
}

// ledger is the row of a quantity of the node's interest.
func (n *node) ledger(quantity string) gidp.Row {
	n.t.Helper()
	var row gidp.Row
	n.view(func(r durable.Reader) error {
		h, _, err := n.agent.holding(context.Background(), r, n.doc)
		if err != nil {
			return err
		}
		led, err := n.agent.ledger(context.Background(), r, h)
		row = led[gidp.LedgerKey{Lineage: h.Lineage(), Quantity: quantity}]
		return err
	})
	return row
}

// What was answered from another value is not repeated from memory: the answer would be false. It is evaluated, and charged where there is a budget; a contradiction ends the
// session on both sides, so that no two answers that exclude each other stand in one.
func TestAnotherValueIsNotAnsweredFromMemory(t *testing.T) {
	claim := overlaps("enterprise_value_eur", `{"max":49999999}`)
	for name, c := range map[string]struct {
		value string
		want  wire.Result
	}{
		"the same cell": {`{"min":29000000}`, wire.Compatible}, // 21 before
		"a higher cell": {`{"min":60000000}`, wire.Incompatible},
		"the edge":      {`{"min":31000000}`, wire.Conditionally},
	} {
		n := newNode(t, sellerDocument(t))
		p := newCaller(t, "peer", n.refs[0])
		p.open(n)
		if got, _ := p.ask(n, claim); got != wire.Compatible {
			t.Fatalf("before: %s", got)
		}
		doc := sellerDocument(t)
		doc.Attributes["enterprise_value_eur"] = jcs.Raw(c.value)
		if v := n.continued(doc); !slices.Equal(v.Changed, []string{"enterprise_value_eur"}) {
			t.Fatalf("%+v", v)
		}
		got, ok := p.ask(n, claim)
		list, err := n.agent.Sessions(t.Context(), n.doc)
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v %v", list, err)
		}
		if !ok || got != c.want || (list[0].State == string(session.Closed)) != (c.want == wire.Incompatible) {
			t.Errorf("%s: %s %v, %s", name, got, ok, list[0].State)
		}
		if first := list[0].Questions[0]; first.Result != string(wire.Compatible) || first.Superseded {
			t.Errorf("%s: what was answered before is %+v", name, first)
		}
	}
	// With a budget: what was told of the old value stays spent, and asking again costs what it costs.
	n := newNode(t, sellerDocument(t))
	p := newCaller(t, "peer", n.refs[0])
	p.open(n)
	sites := overlaps("sites", `{"max":16}`)
	if got, _ := p.ask(n, overlaps("sites", `{"max":24}`)); got != wire.Compatible {
		t.Fatal(got)
	}
	told := n.ledger("sites").Spent()
	doc := sellerDocument(t)
	doc.Attributes["sites"] = jcs.Raw(`3`)
	n.continued(doc)
	if row := n.ledger("sites"); row.Epoch != 1 || row.Spent() != told || row.Burned != told {
		t.Errorf("%+v", row)
	}
	if got, _ := p.ask(n, sites); got != wire.Compatible || n.ledger("sites").Spent() <= told {
		t.Errorf("%s, %v of %v bits", got, n.ledger("sites").Spent(), told)
	}
	again := n.ledger("sites").Spent()
	if got, _ := p.ask(n, sites); got != wire.Compatible || n.ledger("sites").Spent() != again {
		t.Errorf("what is remembered of the new version is charged: %s", got)
	}
}

// A consent was given for a value. Another value under the same key needs another one; the other keys of the consent stay.
func TestAConsentIsForTheValueItWasGivenFor(t *testing.T) {
	w, id := qualified(t)
	for _, key := range []string{"plans", "reference_clients"} {
		if _, err := w.buyer.agent.Request(t.Context(), id, LeadRequest{Action: RequestDisclosure, Key: key}); err != nil {
			t.Fatal(err)
		}
		w.pump(8)
		for len(w.seller.inbox()) > 0 {
			w.seller.decide(Decision{Grant: true})
			w.pump(8)
		}
	}
	scope := func() (out []string) {
		for _, g := range w.seller.one().Grants {
			if g.By == "ours" {
				out = append(out, g.Scope...)
			}
		}
		return out
	}
	if !slices.Contains(scope(), "reference_clients") {
		t.Fatalf("%v", scope())
	}
	doc := sellerDocument(t)
	doc.Attributes["reference_clients"] = jcs.Raw(`"canary-other-4e4e"`)
	w.seller.continued(doc)
	if slices.Contains(scope(), "reference_clients") {
		t.Errorf("%v", scope())
	}
	if got := w.leaked("canary-other-4e4e"); len(got) > 0 {
		t.Errorf("%v", got)
	}
	w.checkTrail()
}

// The inbox of a session that goes on is decided by the version in force.
func TestWaitingEntriesAreDecidedByTheNewVersion(t *testing.T) {
	w, id := qualified(t)
	if _, err := w.buyer.agent.Request(t.Context(), id, LeadRequest{Action: RequestDisclosure, Key: "plans"}); err != nil {
		t.Fatal(err)
	}
	w.pump(4)
	if len(w.seller.inbox()) != 1 {
		t.Fatalf("%+v", w.seller.inbox())
	}
	doc := sellerDocument(t)
	doc.Policy.Entries["plans"] = worldClass(t, "never")
	w.seller.continued(doc)
	if v := w.seller.inbox()[0]; len(v.Reveals) != 0 {
		t.Errorf("a grant would send %+v", v.Reveals)
	}
	w.seller.decide(Decision{Grant: true})
	w.pump(6)
	if got := w.leaked(sellerPlans); len(got) > 0 || len(w.buyer.one().Values) != 0 {
		t.Errorf("%v crossed", got)
	}
	w.checkTrail()
}

// An initiator asks anew about what has changed, in place of what it asked before, and about nothing else.
func TestAnInitiatorAsksAnewAboutWhatChanged(t *testing.T) {
	for name, c := range map[string]struct {
		under time.Duration // how long after the open the version comes
		edit  func(*interest.Interest)
		state session.Phase
		anew  []string
	}{
		"nothing":            {3 * time.Second, func(*interest.Interest) {}, session.Probing, nil},
		"another cell":       {3 * time.Second, func(i *interest.Interest) { i.Attributes["enterprise_value_eur"] = jcs.Raw(`{"max":60000000}`) }, session.Probing, []string{"enterprise_value_eur"}},
		"the same cell":      {3 * time.Second, func(i *interest.Interest) { i.Attributes["enterprise_value_eur"] = jcs.Raw(`{"max":45000000}`) }, session.Probing, nil},
		"too low":            {3 * time.Second, func(i *interest.Interest) { i.Attributes["enterprise_value_eur"] = jcs.Raw(`{"max":10000000}`) }, session.Closed, []string{"enterprise_value_eur"}},
		"while it is asking": {0, func(i *interest.Interest) { i.Attributes["enterprise_value_eur"] = jcs.Raw(`{"max":10000000}`) }, session.Closed, []string{"enterprise_value_eur"}},
	} {
		t.Run(name, func(t *testing.T) {
			// The seller's own minimum is not asked about, so that the pair probes on: a key that the buyer asks about is answered unknown for ever.
			w := newWorld(t, buyerSeller{buyer: func(i *interest.Interest) {
				i.Attributes["management_continuity"], i.Policy.Entries["management_continuity"] = jcs.Raw("true"), worldClass(t, "session")
			}})
			w.open()
			if c.under == 0 { // the question is on its way
				w.pump(1)
			} else {
				w.pump(8)
			}
			asked := len(w.buyer.one().Questions)
			doc := buyerDocument(t)
			doc.Attributes["management_continuity"], doc.Policy.Entries["management_continuity"] = jcs.Raw("true"), worldClass(t, "session")
			c.edit(doc)
			w.buyer.continued(doc)
			w.pump(10)
			v := w.buyer.one()
			var anew []string
			for _, q := range v.Questions[asked:] {
				if q.Key != "management_continuity" {
					anew = append(anew, q.Key)
				}
			}
			if v.State != string(c.state) || !slices.Equal(anew, c.anew) {
				t.Errorf("%s, asked anew %v", v.State, anew)
			}
			for _, p := range []*party{w.buyer, w.seller} {
				for _, q := range p.one().Questions[:asked] {
					if q.Key == "enterprise_value_eur" && c.state == session.Probing && q.Superseded != (c.anew != nil) {
						t.Errorf("%s: %+v", p.options.Origin, q)
					}
				}
			}
			w.checkTrail()
		})
	}
}

// An answer that comes to a question of an earlier version lets nothing qualify before the new version has asked.
func TestNothingQualifiesOnWhatAnEarlierVersionAsked(t *testing.T) {
	w := newWorld(t)
	w.open()
	for len(w.buyer.one().Questions) == 0 {
		w.pump(1)
	}
	if v := w.buyer.one(); v.Questions[0].Result != "" {
		t.Fatalf("the question has an answer already: %+v", v.Questions)
	}
	doc := buyerDocument(t)
	doc.Attributes["enterprise_value_eur"] = jcs.Raw(`{"max":10000000}`)
	w.buyer.continued(doc)
	w.pump(10)
	for _, p := range []*party{w.buyer, w.seller} {
		if v := p.one(); v.State != string(session.Closed) || v.Lead != nil || v.Reason != string(wire.ReasonIncompatible) {
			t.Errorf("%s: %s %s %+v", p.options.Origin, v.State, v.Reason, v.Lead)
		}
	}
	w = newWorld(t) // what the new version cannot ask any more stands for nothing
	w.open()
	for len(w.buyer.one().Questions) == 0 {
		w.pump(1)
	}
	doc = buyerDocument(t)
	doc.Attributes["enterprise_value_eur"], doc.Policy.Entries["enterprise_value_eur"] = jcs.Raw(`{"max":10000000}`), worldClass(t, "never")
	w.buyer.continued(doc)
	w.pump(10)
	for _, p := range []*party{w.buyer, w.seller} {
		if v := p.one(); v.Lead != nil || v.State == string(session.Qualified) {
			t.Errorf("%s: %s %+v", p.options.Origin, v.State, v.Lead)
		}
	}
	w = newWorld(t) // with nothing changed it does
	w.open()
	for len(w.buyer.one().Questions) == 0 {
		w.pump(1)
	}
	w.buyer.continued(buyerDocument(t))
	w.pump(10)
	if v := w.buyer.one(); v.State != string(session.Qualified) {
		t.Errorf("%s %+v", v.State, v.Questions)
	}
	w.checkTrail()
}

// While own questions of the new version wait for the Principal nothing qualifies on those of the old one, however the rest goes on.
func TestNothingQualifiesWhileOwnQuestionsWait(t *testing.T) {
	w := newWorld(t)
	id := w.open()
	for len(w.buyer.one().Questions) == 0 {
		w.pump(1)
	}
	doc := buyerDocument(t)
	doc.Authority[gidp.Probe], doc.Attributes["enterprise_value_eur"] = gidp.Approval, jcs.Raw(`{"max":10000000}`)
	w.buyer.continued(doc)
	w.pump(10)
	if v := w.buyer.one(); v.ID != id || v.State != string(session.Probing) || len(v.Entries) != 1 {
		t.Fatalf("%s, %d entries: %+v", v.State, len(v.Entries), v.Questions)
	}
	w.buyer.decide(Decision{Grant: true})
	w.pump(6)
	if v := w.buyer.one(); v.State != string(session.Closed) || v.Lead != nil {
		t.Errorf("%s %+v", v.State, v.Lead)
	}
}

// Own questions that wait for the Principal are those of the version that made them.
func TestWaitingOwnQuestionsAreMadeAnew(t *testing.T) {
	careful := func(i *interest.Interest) { i.Authority[gidp.Probe] = gidp.Approval }
	w := newWorld(t, buyerSeller{buyer: careful})
	w.open()
	w.buyer.decide(Decision{Grant: true}) // the open
	w.pump(4)
	first := w.buyer.inbox()
	doc := buyerDocument(t)
	careful(doc)
	doc.Attributes["enterprise_value_eur"] = jcs.Raw(`{"max":90000000}`)
	w.buyer.continued(doc)
	second := w.buyer.inbox()
	if len(first) != 1 || len(second) != 1 || first[0].ID == second[0].ID || second[0].Kind != entryOwn {
		t.Fatalf("%+v\n%+v", first, second)
	}
	_, err := w.buyer.agent.Decide(t.Context(), first[0].ID, Decision{Grant: true})
	wantKind(t, err, app.KindConflict, "decided_before")
	w.buyer.decide(Decision{Grant: true})
	w.pump(6)
	if v := w.buyer.one(); v.State != string(session.Qualified) {
		t.Errorf("%+v", v)
	}
	for _, line := range w.wires.log {
		if strings.Contains(string(line), `"max":49999999`) {
			t.Errorf("a question of the old version left: %s", line)
		}
	}
}

// A mandate holds the levels and the names of the version that it was made for.
func TestTheMandateOfAnEarlierVersion(t *testing.T) {
	for name, c := range map[string]struct {
		edit  func(*interest.Interest)
		stays bool
	}{
		"the same levels": {func(i *interest.Interest) { i.Attributes["organisation_name"] = jcs.Raw(`"canary-other-org"`) }, true},
		"a level less":    {func(i *interest.Interest) { i.Authority[gidp.Disclose] = gidp.Approval }, false},
		"a level more":    {func(i *interest.Interest) { i.Authority[gidp.NegotiateNonbinding] = gidp.Yes }, true},
	} {
		w, id := qualified(t)
		doc := sellerDocument(t)
		c.edit(doc)
		w.seller.continued(doc)
		var body sessionBody
		err := w.seller.agent.Store.View(t.Context(), func(r durable.Reader) error {
			rows, err := r.Sessions(t.Context(), w.seller.interest, true, "", 10)
			if err != nil {
				return err
			}
			body, err = w.seller.agent.sessionBody(t.Context(), r, rows[0])
			return err
		})
		if err != nil || (body.Mandate != "") != c.stays {
			t.Errorf("%s: %q %v", name, body.Mandate, err)
		}
		if _, err := w.buyer.agent.Request(t.Context(), id, LeadRequest{Action: RequestIdentity}); err != nil {
			t.Fatal(err)
		}
		w.pump(6)
		for len(w.seller.inbox()) > 0 {
			w.seller.decide(Decision{Grant: true})
			w.pump(6)
		}
		if v := w.buyer.one(); len(v.Values) != 1 || len(v.Peer.Names) != 0 {
			t.Errorf("%s: %+v %+v", name, v.Values, v.Peer.Names)
		}
		if got := w.leaked("canary-other-org"); len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The time of a session is what was agreed, and no longer than the new version is valid.
func TestContinuedSessionsEndWithTheNewVersion(t *testing.T) {
	w, _ := qualified(t)
	ends := w.seller.one().EndsAt
	doc := sellerDocument(t)
	doc.ExpiresAt = w.clock.read().Add(time.Hour)
	w.seller.continued(doc)
	if v := w.seller.one(); !v.EndsAt.Equal(ends) {
		t.Errorf("%v, agreed was %v", v.EndsAt, ends)
	}
	w.clock.advance(time.Hour)
	if err := w.seller.agent.tendInterest(t.Context(), w.seller.interest); err != nil {
		t.Fatal(err)
	}
	if v := w.seller.one(); v.State != string(session.Closed) {
		t.Errorf("%s after the end of the version", v.State)
	}
}

// What was found for the old version is not approached again for the new one, and a search under way ends.
func TestSearchesOfAContinuedInterest(t *testing.T) {
	o := newOffice(t)
	id := o.active("")
	found, err := o.Explore(t.Context(), id, officeProvider)
	if err != nil {
		t.Fatal(err)
	}
	c, err := o.Continue(t.Context(), id, officeInterest())
	if err != nil {
		t.Fatal(err)
	}
	v, err := o.Exploration(t.Context(), found.ID)
	if err != nil || v.Interest != c.Interest.ID || v.State != failed || v.Problem != "superseded" {
		t.Errorf("%+v %v", v, err)
	}
	if err := o.work(durable.WorkExploration); err != nil {
		t.Error(err)
	}
}

// Two versions that a peer may not tell apart are told apart by no answer of a session that goes from one to the other (gidp-lab.md sec. 6.3).
func TestPairsOfContinuedSessions(t *testing.T) {
	traces(t, 40, func(rt *rapid.T) {
		cell := pick(rt, cellsOfValue...)
		next := pick(rt, cell, cell, pick(rt, cellsOfValue...))
		value := func(cell [2]int, name string) func(*interest.Interest) {
			return sets("enterprise_value_eur", floor(rapid.IntRange(cell[0], cell[1]).Draw(rt, name)))
		}
		name := func(name string) func(*interest.Interest) {
			return sets(gidp.PrincipalIdentity, fmt.Sprintf("%q", "n"+rapid.StringMatching(`[a-z]{9}`).Draw(rt, name)))
		}
		authority, later := authorities(rt), authorities(rt)
		tr := &trace{t: rt, a: newNode(t, amended(t, authority, value(cell, "a"), name("of a"))), b: newNode(t, amended(t, authority, value(cell, "b"), name("of b"))), identity: true}
		tr.a.edit, tr.b.edit = withoutDigests, withoutDigests
		tr.c = newCaller(t, "peer", tr.a.refs[0])
		steps, at := rapid.IntRange(2, 12).Draw(rt, "steps"), 0
		when := rapid.IntRange(1, steps).Draw(rt, "when")
		tr.between = func() {
			if at++; at == when {
				tr.a.continued(amended(t, later, value(next, "next of a"), name("next name of a")))
				tr.b.continued(amended(t, later, value(next, "next of b"), name("next name of b")))
			}
		}
		tr.run(t, steps)
	})
}

// Another exclusion of the same kind is another question, which takes the place of the one before.
func TestANewExclusionIsAskedAnew(t *testing.T) {
	unanswered := func(i *interest.Interest) { // a key that the other side does not hold keeps the pair probing
		excludingBuyer(i)
		i.Attributes["note"] = jcs.Raw(`"x"`)
		i.Excludes, i.Placements["geography"] = append(i.Excludes, "canary_south"), map[string]string{"canary_south": "asia"}
	}
	w := newWorld(t, buyerSeller{buyer: unanswered, seller: func(i *interest.Interest) {
		i.Profile = "core"
		delete(i.Attributes, "geography")
		i.Attributes["domain"] = jcs.Raw(`"textiles"`)
	}})
	w.open()
	w.pump(8)
	if v := w.buyer.one(); v.State != string(session.Probing) {
		t.Fatalf("%+v", v)
	}
	doc := buyerDocument(t)
	unanswered(doc)
	doc.Excludes, doc.Placements = []string{"canary_other"}, map[string]map[string]string{"domain": {"canary_other": "textiles"}}
	w.buyer.continued(doc)
	w.pump(8)
	if v := w.seller.one(); v.State != string(session.Closed) || v.Reason != string(wire.ReasonIncompatible) {
		t.Errorf("%+v", v)
	}
	if got := w.leaked("canary_other", "canary_south", excludedName); len(got) > 0 {
		t.Errorf("%v crossed", got)
	}
}
