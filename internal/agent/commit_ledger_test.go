package agent

import (
	"context"
	"fmt"
	"path"
	"strings"
	"testing"

	"sayso/gidp"
	"sayso/internal/agent/durable"
	"sayso/internal/store/storetest"
)

// named is a store as a program before this one wrote it: rows of the ledger lie under the names of their quantities.
type named struct {
	*storetest.Agents
	agent func() *Agent
}

func (s named) Update(ctx context.Context, f func(durable.Writer) error) error {
	return s.Agents.Update(ctx, func(w durable.Writer) error { return f(namedWriter{w, s.agent()}) })
}

type namedWriter struct {
	durable.Writer
	a *Agent
}

func (w namedWriter) PutLedger(ctx context.Context, row durable.LedgerRow) error {
	var f ledgerRow
	if err := w.a.unseal(ledgerPlace(row.Key), row.Body, &f); err != nil {
		return err
	}
	row.Key.Quantity, f.Quantity = f.Quantity, ""
	body, err := w.a.seal(ledgerPlace(row.Key), f)
	if err != nil {
		return err
	}
	return w.Writer.PutLedger(ctx, durable.LedgerRow{Key: row.Key, Body: body})
}

// oldLedger is a world whose seller was set up by a program that wrote names, and whose row was charged by it.
func oldLedger(t *testing.T) (w *world, under *storetest.Agents, spent float64) {
	t.Helper()
	w = newWorld(t)
	under = storetest.NewAgents()
	w.seller.options.Store = named{under, func() *Agent { return w.seller.agent }}
	w.seller.restart()
	added, err := w.seller.agent.Add(t.Context(), sellerDocument(t))
	if err != nil {
		t.Fatal(err)
	}
	w.seller.interest = added.ID
	active, err := w.seller.agent.Activate(t.Context(), added.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	w.ref = path.Base(active.Projections[0].Endpoint)
	s := w.stranger("s-1")
	s.open()
	if _, err := s.ask(w.sites(`{"min":16}`)); err != nil {
		t.Fatal(err)
	}
	w.seller.options.Store = under
	w.seller.restart()
	return w, under, w.spentOn(w.seller)
}

// quantities are what the rows lie under.
func (w *world) quantities() (out []durable.LedgerRow) {
	w.t.Helper()
	err := w.seller.agent.Store.View(w.t.Context(), func(r durable.Reader) error {
		row, err := r.Interest(w.t.Context(), w.seller.interest)
		if err != nil {
			return err
		}
		out, err = r.Ledger(w.t.Context(), row.Lineage)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// A row under the name of its quantity counts, and goes on counting where it lies afterwards: nothing is refunded.
func TestALedgerThatHasNamesGoesOnCounting(t *testing.T) {
	fresh := newWorld(t) // the same questions on rows that never had a name
	s := fresh.stranger("s-1")
	s.open()
	if _, err := s.ask(fresh.sites(`{"min":16}`)); err != nil {
		t.Fatal(err)
	}
	w, _, spent := oldLedger(t)
	if spent <= 0 || spent != fresh.spentOn(fresh.seller) {
		t.Fatalf("%v is charged, %v on a new row", spent, fresh.spentOn(fresh.seller))
	}
	if rows := w.quantities(); len(rows) != 1 || rows[0].Key.Quantity != "sites" {
		t.Fatalf("%+v", rows)
	}
	for i, question := range []string{`{"min":24}`, `{"min":20}`, `{"min":17}`, `{"max":16}`} {
		a, b := w.stranger(fmt.Sprint("s-", i+2)), fresh.stranger(fmt.Sprint("s-", i+2))
		a.open()
		b.open()
		if _, err := a.ask(w.sites(question)); err != nil {
			t.Fatal(err)
		}
		if _, err := b.ask(fresh.sites(question)); err != nil {
			t.Fatal(err)
		}
		w.seller.restart()
		now := w.spentOn(w.seller)
		if now < spent || now != fresh.spentOn(fresh.seller) {
			t.Fatalf("%s: %v, then %v; on a new row %v", question, spent, now, fresh.spentOn(fresh.seller))
		}
		spent = now
	}
	rows := w.quantities()
	if len(rows) != 1 || !strings.HasPrefix(rows[0].Key.Quantity, "q-") {
		t.Fatalf("%+v", rows)
	}
	w.checkTrail()
}

// No row counts in the place of another.
func TestALedgerRowCountsInItsPlaceAlone(t *testing.T) {
	w, under, _ := oldLedger(t)
	old := w.quantities()[0]
	s := w.stranger("s-2")
	s.open()
	if _, err := s.ask(w.sites(`{"min":24}`)); err != nil {
		t.Fatal(err)
	}
	row := w.quantities()[0]
	for _, place := range []string{"q-elsewhere", old.Key.Quantity} {
		copied := under.Copy()
		moved := durable.LedgerRow{Key: gidp.LedgerKey{Lineage: old.Key.Lineage, Quantity: place}, Body: row.Body}
		if err := copied.Update(t.Context(), func(tx durable.Writer) error { return tx.PutLedger(t.Context(), moved) }); err != nil {
			t.Fatal(err)
		}
		w.seller.options.Store = copied
		w.seller.restart()
		if _, err := w.seller.agent.Interest(t.Context(), w.seller.interest); err == nil {
			t.Errorf("a row counts under %s", place)
		}
	}
}
