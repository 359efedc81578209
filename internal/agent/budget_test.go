package agent

import (
	"context"
	"math"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/gidp/profile"
	"sayso/internal/agent/durable"
	"sayso/internal/app"
	"sayso/jcs"
)

func (o *office) budget(id string) BudgetView {
	o.t.Helper()
	v, err := o.Budget(context.Background(), id, "depth", -1, false)
	if err != nil {
		o.t.Fatal(err)
	}
	return v
}

// spend lets a question that halves what is left be answered, if the row admits it.
func (o *office) spend(id string) (admitted bool) {
	o.t.Helper()
	ctx := context.Background()
	h, _ := o.holdingOf(id)
	at, _, _ := h.Row("depth")
	err := o.Store.Update(ctx, func(w durable.Writer) error {
		led, err := o.ledger(ctx, w, h)
		if err != nil {
			return err
		}
		row := led[at]
		low := int64(math.MaxInt64)
		n := 0
		for i := range row.Domain.Size() {
			if row.Remaining[i/64]>>(i%64)&1 == 1 {
				low = min(low, int64(i))
				n++
			}
		}
		var after gidp.Row
		after, _, admitted = row.Reserve(func(v int64) bool { return v < low+int64(n/2) }, func(test func(int64) bool) bool { return test(9) })
		if !admitted {
			return nil
		}
		next := gidp.Ledger{}
		for k, v := range led {
			next[k] = v
		}
		next[at] = after
		return o.saveLedger(ctx, w, led, next)
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return admitted
}

// spendAll counts the halvings that are admitted.
func (o *office) spendAll(id string) (n int) {
	for o.spend(id) {
		n++
	}
	return n
}

func TestBudget(t *testing.T) {
	ctx := context.Background()
	o := newOffice(t)
	id := o.active("")
	if v := o.budget(id); v.Limit != 2 || v.Spent != 0 || v.Left != 2 || v.Values != 32 || v.Quantity != "depth" || v.Note == "" || v.Added != 0 {
		t.Errorf("%+v", v)
	}
	if n := o.spendAll(id); n != 2 {
		t.Errorf("two bits are two halvings, not %d", n)
	}
	o.restart(nil)
	if v := o.budget(id); v.Spent != 2 || v.Left != 0 {
		t.Errorf("after a restart: %+v", v)
	}
	v, err := o.Budget(ctx, id, "depth", 3, false)
	if err != nil || v.Limit != 3 || v.Spent != 2 || v.Added != 1 {
		t.Errorf("%+v %v", v, err)
	}
	if !o.spend(id) || o.spend(id) {
		t.Error("one bit more is one halving more")
	}
	if v, err := o.Budget(ctx, id, "depth", 0, false); err != nil || v.Limit != 0 || v.Spent != 3 || v.Left != 0 || v.Added != 0 {
		t.Errorf("lowered: %+v %v", v, err)
	}
	if got := slices.DeleteFunc(o.trail(id), func(kind string) bool { return kind != "budget_change" }); len(got) != 2 {
		t.Errorf("%d changes in the trail", len(got))
	}
	_, err = o.Budget(ctx, id, "sector", 1, false)
	wantKind(t, err, app.KindNotFound, "no_budget")
	for _, bits := range []float64{math.NaN(), math.Inf(1), 40} {
		_, err = o.Budget(ctx, id, "depth", bits, false)
		wantKind(t, err, app.KindInvalid, "bits")
	}
}

// L-7: after a restore nothing more is told until the Principal approves, and what could have been told since the backup counts as told.
func TestRestoreFreezesTheLedger(t *testing.T) {
	ctx := context.Background()
	o := newOffice(t)
	id := o.active("")
	o.spend(id)
	for range 2 {
		if err := o.FreezeLedger(ctx); err != nil {
			t.Fatal(err)
		}
		if v := o.budget(id); !v.Frozen || v.Spent != 2 || v.Left != 0 || o.spend(id) {
			t.Errorf("%+v", v)
		}
	}
	if got := slices.DeleteFunc(o.trail(id), func(kind string) bool { return kind != "ledger_restore" }); len(got) != 1 {
		t.Errorf("%d restores in the trail", len(got))
	}
	_, err := o.Budget(ctx, id, "depth", 5, false)
	wantKind(t, err, app.KindRefused, "frozen")
	v, err := o.Budget(ctx, id, "depth", -1, true)
	if err != nil || v.Frozen || v.Limit != 4 || v.Spent != 2 || v.Added != 2 {
		t.Errorf("%+v %v", v, err)
	}
	if n := o.spendAll(id); n != 2 {
		t.Errorf("the approval is worth the budget of the interest once more, not %d", n)
	}
	if err := o.FreezeLedger(ctx); err != nil {
		t.Fatal(err)
	}
	if v, err := o.Budget(ctx, id, "depth", 1, true); err != nil || v.Limit != 1 || v.Left != 0 || v.Added != 0 {
		t.Errorf("approved below what was told: %+v %v", v, err)
	}
}

// L-6: a new version refunds nothing.
func TestBudgetsOverVersions(t *testing.T) {
	ctx := context.Background()
	o := newOffice(t)
	id := o.active("")
	o.spend(id)
	same, err := o.Supersede(ctx, id, officeInterest())
	if err != nil {
		t.Fatal(err)
	}
	if v := o.budget(same.ID); v.Spent != 1 || v.Limit != 2 {
		t.Errorf("the same value: %+v", v)
	}
	moved := officeInterest()
	moved.Attributes["depth"] = jcs.Raw(`20`)
	budget := moved.Budgets["depth"]
	budget.Bits = 8
	moved.Budgets["depth"] = budget
	changed, err := o.Supersede(ctx, same.ID, moved)
	if err != nil {
		t.Fatal(err)
	}
	if v := o.budget(changed.ID); v.Spent != 1 || v.Limit != 2 {
		t.Errorf("another value, and more bits by a file alone: %+v", v)
	}
	if !o.spend(changed.ID) || o.spend(changed.ID) {
		t.Error("one bit of two is left")
	}
	wider := officeInterest()
	budget.Bits, budget.Domain = 1.5, gidp.Domain{Min: 0, Max: 63, Step: 1}
	wider.Budgets["depth"] = budget
	last, err := o.Supersede(ctx, changed.ID, wider)
	if err != nil {
		t.Fatal(err)
	}
	if v := o.budget(last.ID); v.Spent != 2 || v.Limit != 1.5 || v.Values != 64 || o.spend(last.ID) {
		t.Errorf("another domain: %+v", v)
	}
	if err := o.FreezeLedger(ctx); err != nil {
		t.Fatal(err)
	}
	frozen, err := o.Supersede(ctx, last.ID, officeInterest())
	if err != nil || !o.budget(frozen.ID).Frozen {
		t.Errorf("a new version thawed the ledger: %v", err)
	}
}

// Attributes of one quantity share one row (L-1), and cannot do so over different domains.
func TestOneBudgetOfOneQuantity(t *testing.T) {
	ctx := context.Background()
	set, err := profile.Shipped().With(nil, [][]byte{[]byte(`{"id":"test/depths/1","version":1,"extends":"core","keys":{
		"keel":{"type":"integer","unit":"m","meaning":"fact_held","quantity":"depth","default_class":"evaluation_only"},
		"draught":{"type":"integer","unit":"m","meaning":"fact_held","quantity":"depth","default_class":"evaluation_only"}},
		"minimum_claims":[],"structures":[],"purposes":[],"relation":["complementary_counterparty"],"lead_statement":"x"}`)})
	if err != nil {
		t.Fatal(err)
	}
	o := newOffice(t)
	o.restart(func(options *Options) { options.Profiles = set })
	doc := officeInterest()
	doc.Profile = "test/depths/1"
	doc.Attributes = map[string]jcs.Raw{"keel": jcs.Raw(`3`), "draught": jcs.Raw(`9`)}
	doc.Policy = interest.Policy{Entries: map[string]gidp.Entry{gidp.PrincipalIdentity: officeClass(gidp.InSession, 0)}}
	doc.Budgets = map[string]interest.Budget{"keel": {Bits: 2, Domain: gidp.Domain{Min: 0, Max: 31, Step: 1}}, "draught": {Bits: 2, Domain: gidp.Domain{Min: 0, Max: 31, Step: 1}}}
	id := o.add(doc)
	if _, err := o.Budget(ctx, id, "keel", 1, false); err != nil {
		t.Fatal(err)
	}
	if v, err := o.Budget(ctx, id, "draught", -1, false); err != nil || v.Limit != 1 || v.Quantity != "depth" {
		t.Errorf("%+v %v", v, err)
	}
	doc.Budgets["keel"] = interest.Budget{Bits: 2, Domain: gidp.Domain{Min: 0, Max: 63, Step: 1}}
	_, err = o.Add(ctx, doc)
	wantKind(t, err, app.KindInvalid, "interest_invalid")
}

// Two agents on one store, as two replicas are: together they never tell more than the limit.
func TestReplicasShareTheLedger(t *testing.T) {
	o := newOffice(t)
	id := o.active("")
	first := o.Agent
	o.restart(nil)
	second := o.Agent
	var wait sync.WaitGroup
	var mu sync.Mutex
	admitted := 0
	for _, a := range []*Agent{first, second, first, second} {
		wait.Go(func() {
			mine := &office{t: t, clock: o.clock, store: o.store, vault: o.vault, provider: o.provider, Agent: a}
			if mine.spend(id) {
				mu.Lock()
				admitted++
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	if v := o.budget(id); admitted != 2 || v.Spent != 2 {
		t.Errorf("%d questions admitted, %+v", admitted, v)
	}
}

// I13: whatever happens in whatever order, what was told is never less than before, and what is left is never more unless the Principal said so.
func TestSpentNeverFalls(t *testing.T) {
	folder := newOffice(t).vault
	rapid.Check(t, func(rt *rapid.T) {
		ctx := context.Background()
		o := newOfficeOf(t, folder)
		id := o.active("")
		before := o.budget(id)
		for range rapid.IntRange(1, 8).Draw(rt, "acts") {
			raised := false
			switch rapid.SampledFrom([]string{"ask", "ask", "restart", "freeze", "supersede", "move", "budget", "approve", "suspend"}).Draw(rt, "act") {
			case "ask":
				o.spend(id)
			case "restart":
				o.restart(nil)
			case "freeze":
				if err := o.FreezeLedger(ctx); err != nil {
					rt.Fatal(err)
				}
			case "supersede", "move":
				doc := officeInterest()
				doc.Attributes["depth"] = jcs.Raw([]string{"3", "9", "30"}[rapid.IntRange(0, 2).Draw(rt, "value")])
				b := doc.Budgets["depth"]
				b.Bits = float64(rapid.IntRange(0, 5).Draw(rt, "bits"))
				doc.Budgets["depth"] = b
				v, err := o.Supersede(ctx, id, doc)
				if err != nil {
					rt.Fatal(err)
				}
				id = v.ID
			case "budget":
				if _, err := o.Budget(ctx, id, "depth", float64(rapid.IntRange(0, 5).Draw(rt, "limit")), false); err == nil {
					raised = true
				}
			case "approve":
				if _, err := o.Budget(ctx, id, "depth", -1, true); err != nil {
					rt.Fatal(err)
				}
				raised = true
			case "suspend":
				if _, err := o.Suspend(ctx, id); err != nil {
					rt.Fatal(err)
				}
				if _, err := o.Resume(ctx, id); err != nil {
					rt.Fatal(err)
				}
			}
			after := o.budget(id)
			if after.Left > before.Left+1e-9 && !raised {
				rt.Fatalf("%+v after %+v", after, before)
			}
			if !before.Frozen && after.Spent < before.Spent-1e-9 {
				rt.Fatalf("spent fell: %+v after %+v", after, before)
			}
			before = after
		}
	})
}
