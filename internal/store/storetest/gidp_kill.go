package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/provider"
	"sayso/internal/agent/durable"
)

// gidpChildOf is the variable that makes a test binary an agent that writes without an end: where its store is.
const gidpChildOf = "SAYSO_STORETEST_GIDP_CHILD"

// killWriters is how many write at once.
const killWriters = 4

// GIDPChild turns a test binary that GIDPKill started into writers that never end by themselves; in any other it does nothing. TestMain calls it first.
func GIDPChild(open func(ctx context.Context, where string) (GIDP, error)) {
	where := os.Getenv(gidpChildOf)
	if where == "" {
		return
	}
	ctx := context.Background()
	g, err := open(ctx, where)
	var printing sync.Mutex
	if err == nil {
		err = together(killWriters, func(i int) error {
			for {
				n, err := killStep(ctx, g, i)
				if err != nil {
					return err
				}
				printing.Lock()
				fmt.Println(n*killWriters + i) // the acknowledgement
				printing.Unlock()
			}
		})
	}
	fmt.Println("failed:", err)
	os.Exit(1)
}

// killStep is one step of a session and one revision of a projection; all rows carry its number, so that half a step shows.
func killStep(ctx context.Context, g GIDP, i int) (n int, err error) {
	id := fmt.Sprint("s", i)
	err = g.Agents.Update(ctx, func(w durable.Writer) error {
		row, err := w.Session(ctx, id)
		if err != nil {
			return err
		}
		n = int(row.Version)
		body := fmt.Append(nil, n)
		row.Body = body
		hash := [32]byte{byte(n), byte(n >> 8)}
		for _, f := range []func() error{
			func() error { return w.PutSession(ctx, row) },
			func() error { return w.PutPart(ctx, durable.PartRow{Session: id, Part: 1, Body: body}) },
			func() error { return w.AddReceived(ctx, id, fmt.Sprint(n), hash) },
			func() error { return w.AddSent(ctx, durable.SentRow{Session: id, Number: n, Body: body}) },
			func() error {
				return w.AddAudit(ctx, durable.AuditRow{Lineage: id, Sequence: int64(n), Kind: "k", Body: body, Hash: hash})
			},
			func() error {
				return w.PutLedger(ctx, durable.LedgerRow{Key: gidp.LedgerKey{Lineage: id, Quantity: "q"}, Body: body})
			},
			func() error { return w.Schedule(ctx, durable.WorkSession, id, after(n)) },
		} {
			if err := f(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, g.Provider.Commit(ctx, placedRow(byte(i+1), byte(i+1), uint32(n)+1, fmt.Sprint("https://e.example/", i)))
}

// GIDPKill starts writers in another process, kills it at a random moment, and opens the store again, many times: whatever was acknowledged is there, nothing is
// there by half, and the store goes on from there.
func GIDPKill(t *testing.T, where string, rounds int, open func(testing.TB) (g GIDP, closed func() error)) {
	g, closed := open(t)
	ctx := context.Background()
	for i := range killWriters {
		write(t, g.Agents, func(ctx context.Context, w durable.Writer) {
			ok(t, w.AddSession(ctx, sessionRow(fmt.Sprint("s", i), i)))
		})
		ok(t, g.Provider.Commit(ctx, placedRow(byte(i+1), byte(i+1), 1, fmt.Sprint("https://e.example/", i))))
	}
	ok(t, closed())
	var acknowledged [killWriters]int
	total := 0
	for round := range rounds {
		child, lines := start(t, gidpChildOf, where)
		for n := acknowledgement(t, lines); n > 0; n = acknowledgement(t, lines) {
			if total++; acknowledged[n%killWriters] == 0 || total%8 == 1 {
				time.AfterFunc(rand.N(20*time.Millisecond), func() { child.Process.Kill() })
			}
			acknowledged[n%killWriters] = int(n / killWriters)
		}
		child.Wait()
		g, closed := open(t)
		for i := range killWriters {
			settleProjection(t, g, i)
			if kept := wholeSession(t, g, i); kept < acknowledged[i] {
				t.Fatalf("round %d: step %d of session %d was acknowledged, %d is there", round, acknowledged[i], i, kept)
			}
		}
		ok(t, g.Check(ctx))
		ok(t, closed())
	}
	if total < rounds {
		t.Errorf("only %d steps were acknowledged in %d rounds", total, rounds)
	}
}

// settleProjection brings a projection to the step of its session: the kill came between the two.
func settleProjection(t *testing.T, g GIDP, i int) {
	t.Helper()
	ctx := context.Background()
	row, _, err := g.Provider.Projection(ctx, provider.Ref{byte(i + 1)})
	ok(t, err)
	read(t, g.Agents, func(ctx context.Context, r durable.Reader) {
		version := must(r.Session(ctx, fmt.Sprint("s", i)))(t).Version
		if uint64(row.Revision)+1 == version {
			row.Revision++
			ok(t, g.Provider.Commit(ctx, row))
		} else if uint64(row.Revision) != version {
			t.Fatalf("revision %d of projection %d beside version %d", row.Revision, i, version)
		}
	})
}

// wholeSession checks that every step is there whole and returns how many there are.
func wholeSession(t *testing.T, g GIDP, i int) (kept int) {
	t.Helper()
	id := fmt.Sprint("s", i)
	read(t, g.Agents, func(ctx context.Context, r durable.Reader) {
		kept = int(must(r.Session(ctx, id))(t).Version) - 1
		sequence, hash, err := r.TrailHead(ctx, id)
		ok(t, err)
		same(t, sequence, int64(kept))
		same(t, len(must(r.Sent(ctx, id, 0))(t)), kept)
		same(t, len(must(r.Trail(ctx, id, 0, 1<<30))(t)), kept)
		if kept == 0 {
			return
		}
		same(t, hash, must(r.Received(ctx, id, fmt.Sprint(kept)))(t))
		same(t, string(must(r.Ledger(ctx, id))(t)[0].Body), fmt.Sprint(kept))
		same(t, string(must(r.Parts(ctx, id))(t)[0].Body), fmt.Sprint(kept))
		_, err = r.Received(ctx, id, fmt.Sprint(kept+1))
		is(t, err, durable.ErrNotFound)
	})
	return kept
}
