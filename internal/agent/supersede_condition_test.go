package agent

import (
	"slices"
	"testing"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/gidp/mandate"
	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
	"sayso/jcs"
)

// A value that was promised on a condition is released without a person. Under a version that wants a person to decide, meeting the condition releases nothing.
func TestAConditionMetUnderANewVersion(t *testing.T) {
	const room = "canary-annex-77"
	for name, c := range map[string]struct {
		edit     func(*interest.Interest)
		released bool
	}{
		"as it was":      {func(*interest.Interest) {}, true},
		"a person asked": {func(i *interest.Interest) { i.Policy.Entries["annex"] = worldClass(t, "session/principal_approval") }, false},
		"a level asked":  {func(i *interest.Interest) { i.Authority[gidp.Disclose] = gidp.Approval }, false},
		"a level less":   {func(i *interest.Interest) { i.Authority[gidp.Disclose] = gidp.No }, false},
		"another class":  {func(i *interest.Interest) { i.Policy.Entries["annex"] = worldClass(t, "evaluation_only") }, false},
		"more to show": {func(i *interest.Interest) {
			i.Policy.Conditions["annex"] = interest.Condition{Verify: []string{guild, "verified_agent"}}
		}, false},
	} {
		annex := func(doc *interest.Interest) {
			doc.Attributes["annex"] = jcs.Raw(`"` + room + `"`)
			doc.Policy.Entries["annex"] = worldClass(t, "session")
			doc.Policy.Conditions = map[string]interest.Condition{"annex": {Verify: []string{guild}}}
		}
		w, id := qualified(t, buyerSeller{seller: annex})
		by := issuer(t, "guild")
		w.seller.trust(by, guild)
		w.buyer.attest(by, guild, 1)
		if _, err := w.buyer.agent.Request(t.Context(), id, LeadRequest{Action: RequestDisclosure, Key: "annex"}); err != nil {
			t.Fatal(err)
		}
		w.buyer.work()
		doc := sellerDocument(t)
		annex(doc)
		c.edit(doc)
		w.seller.continued(doc)
		w.pump(10)
		if got := len(w.buyer.one().Values) == 1; got != c.released || (len(w.leaked(room)) > 0) != c.released {
			t.Errorf("%s: %+v, crossed %v", name, w.buyer.one().Values, w.leaked(room))
		}
		if w.buyer.left() != 0 {
			t.Errorf("%s: the condition was not met", name)
		}
		w.checkTrail()
	}
}

// What is said about levels is what the mandate of the session shows, also under a version that has another authority.
func TestLevelsAreThoseOfTheMandate(t *testing.T) {
	w, _ := qualified(t)
	doc := sellerDocument(t)
	doc.Authority[gidp.NegotiateNonbinding] = gidp.Yes
	w.seller.continued(doc)
	view := func(f func(t *turn)) {
		t.Helper()
		err := w.seller.agent.Store.View(t.Context(), func(r durable.Reader) error {
			rows, err := r.Sessions(t.Context(), w.seller.interest, true, "", 10)
			if err != nil {
				return err
			}
			turn, err := w.seller.agent.look(t.Context(), r, rows[0])
			if err == nil {
				f(turn)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	view(func(own *turn) {
		said := own.levels(allLevels())
		key, err := own.ownKey()
		if err != nil || len(said.Credentials) != 1 {
			t.Fatalf("%v %v", said.Credentials, err)
		}
		v, err := mandate.Verify(said.Credentials[0], mandate.Expect{Audience: mandate.Audience(own.body.State.ID), SessionKey: key.Kid(), Now: own.now, MaxExpires: own.row.EndsAt})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range allLevels() {
			l, _ := gidp.ParseLevel(name)
			if got := said.Levels[name] == "evidenced"; got != slices.Contains(v.Levels, l) {
				t.Errorf("%s is said to be %s", name, said.Levels[name])
			}
		}
	})
}

// A row of the ledger is about the value that it was charged for. A value that changed while there was no budget begins anew, and what was told stays told.
func TestAValueThatChangedWithoutABudget(t *testing.T) {
	n := newNode(t, sellerDocument(t))
	p := newCaller(t, "peer", n.refs[0])
	p.open(n)
	below := overlaps("sites", `{"max":15}`)
	if got, _ := p.ask(n, overlaps("sites", `{"max":24}`)); got != wire.Compatible {
		t.Fatal(got)
	}
	told := n.ledger("sites").Spent()
	doc := sellerDocument(t)
	doc.Attributes["sites"], doc.Budgets = jcs.Raw(`30`), nil
	n.continued(doc)
	if got, _ := p.ask(n, below); got != wire.Declined {
		t.Errorf("without a budget: %s", got)
	}
	doc = sellerDocument(t)
	doc.Attributes["sites"] = jcs.Raw(`30`)
	n.continued(doc)
	if row := n.ledger("sites"); row.Epoch != 1 || row.Burned != told || told == 0 {
		t.Errorf("%+v, told was %v", row, told)
	}
	if got, _ := p.ask(n, overlaps("sites", `{"min":25}`)); got != wire.Compatible {
		t.Errorf("what is true now: %s", got)
	}
}
