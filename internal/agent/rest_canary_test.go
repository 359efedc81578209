package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"testing"

	"sayso/internal/agent/durable"
)

// keptStore notes everything that lies in a store outside of sealed bodies, as a thief of the database would read it.
type keptStore struct {
	durable.Store
	mu   sync.Mutex
	open bytes.Buffer // guarded by mu
	sums [][32]byte   // guarded by mu
}

type keptWriter struct {
	durable.Writer
	s *keptStore
}

func (s *keptStore) Update(ctx context.Context, f func(durable.Writer) error) error {
	return s.Store.Update(ctx, func(w durable.Writer) error { return f(keptWriter{w, s}) })
}

func (s *keptStore) note(parts ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintln(&s.open, parts...)
}

func (w keptWriter) AddReceived(ctx context.Context, session, key string, sum [32]byte) error {
	w.s.note(session, key)
	w.s.mu.Lock()
	w.s.sums = append(w.s.sums, sum)
	w.s.mu.Unlock()
	return w.Writer.AddReceived(ctx, session, key, sum)
}

// bare is a row without its sealed body.
func (w keptWriter) AddSession(ctx context.Context, row durable.SessionRow) error {
	bare := row
	bare.Body = nil
	w.s.note(fmt.Sprintf("%+v", bare))
	return w.Writer.AddSession(ctx, row)
}

func (w keptWriter) PutSession(ctx context.Context, row durable.SessionRow) error {
	bare := row
	bare.Body = nil
	w.s.note(fmt.Sprintf("%+v", bare))
	return w.Writer.PutSession(ctx, row)
}

func (w keptWriter) AddEntry(ctx context.Context, row durable.EntryRow) error {
	bare := row
	bare.Body = nil
	w.s.note(fmt.Sprintf("%+v", bare))
	return w.Writer.AddEntry(ctx, row)
}

func (w keptWriter) PutLedger(ctx context.Context, row durable.LedgerRow) error {
	w.s.note("ledger", row.Key.Lineage, row.Key.Quantity)
	return w.Writer.PutLedger(ctx, row)
}

// Whoever has the database and not the keys reads neither what was answered nor, by trying, what was told: nothing beside the sealed bodies follows from an object
// without the key of the folder, and what a Principal has a number of does not stand there either.
func TestAThiefOfTheDatabase(t *testing.T) {
	w, lead := qualified(t)
	buyer := &keptStore{Store: w.buyer.options.Store}
	seller := &keptStore{Store: w.seller.options.Store}
	w.buyer.options.Store, w.seller.options.Store = buyer, seller
	w.buyer.restart()
	w.seller.restart()
	if _, err := w.buyer.agent.Request(t.Context(), lead, LeadRequest{Action: RequestDisclosure, Key: "plans"}); err != nil {
		t.Fatal(err)
	}
	w.pump(4)
	w.seller.decide(Decision{Grant: true})
	w.pump(6)
	if v := w.buyer.one(); len(v.Values) != 1 || !strings.Contains(string(v.Values[0].Value), sellerPlans) {
		t.Fatalf("%+v", v)
	}
	curious := w.stranger("s-budget")
	curious.open()
	if _, err := curious.ask(w.sites(`{"min":16}`)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(seller.open.String(), "ledger") {
		t.Fatal("nothing was charged")
	}
	guesses := map[[32]byte]bool{}
	w.wires.mu.Lock()
	for _, object := range w.wires.log { // somebody who guesses right has the very bytes
		guesses[sha256.Sum256(object)] = true
	}
	w.wires.mu.Unlock()
	for name, s := range map[string]*keptStore{"buyer": buyer, "seller": seller} {
		if len(s.sums) == 0 {
			t.Fatalf("%s: nothing was received", name)
		}
		for _, sum := range s.sums {
			if guesses[sum] {
				t.Errorf("%s: the digest of an object can be tried", name)
			}
		}
		for _, word := range append(sellerPrivate, "granted", "declined", "Disclosure", "Consent", "Handoff", "plans", "sites") {
			if strings.Contains(s.open.String(), word) {
				t.Errorf("%s: %s lies in the clear", name, word)
			}
		}
	}
}
