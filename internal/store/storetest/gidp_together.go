package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/provider"
	"sayso/gidp/providerhttp"
	"sayso/internal/agent/durable"
)

// RunGIDPTogether holds two stores over one database, as two processes have them, to what must be true of them together. Each call of open gives two over an
// empty database of their own.
func RunGIDPTogether(t *testing.T, open func(testing.TB) [2]GIDP) {
	for _, c := range []struct {
		name string
		test func(*testing.T, [2]GIDP)
	}{
		{"no step is lost", noStepLost}, {"work is claimed once", claimedOnce}, {"a limit of open sessions holds", limitHolds}, {"one decision", oneDecision},
		{"the feed misses nothing", feedMissesNothing}, {"one endpoint", oneEndpoint}, {"one secret", oneSecret}, {"a failure undoes its own act", failsAlone},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := open(t)
			c.test(t, g)
			ok(t, g[0].Check(context.Background()))
		})
	}
}

// noStepLost lets writers of both stores count in a session, in the ledger and in the trail of one interest.
func noStepLost(t *testing.T, g [2]GIDP) {
	ctx := context.Background()
	key := gidp.LedgerKey{Lineage: "l", Quantity: "q"}
	write(t, g[0].Agents, func(ctx context.Context, w durable.Writer) {
		ok(t, w.PutLedger(ctx, durable.LedgerRow{Key: key, Body: []byte("0")}))
		for _, id := range []string{"s0", "s1"} {
			row := sessionRow(id, 1)
			row.Body = []byte("0")
			ok(t, w.AddSession(ctx, row))
		}
	})
	plus := func(b []byte) []byte {
		var n int
		fmt.Sscan(string(b), &n)
		return fmt.Append(nil, n+1)
	}
	const writers, acts = 8, 8
	ok(t, together(writers, func(i int) error {
		for range acts {
			err := g[i%2].Agents.Update(ctx, func(w durable.Writer) error {
				row, err := w.Session(ctx, fmt.Sprint("s", i/2%2))
				if err != nil {
					return err
				}
				row.Body = plus(row.Body)
				if err := w.PutSession(ctx, row); err != nil {
					return err
				}
				if err := w.AddSent(ctx, durable.SentRow{Session: row.ID, Number: int(row.Version), Body: row.Body}); err != nil {
					return err
				}
				rows, err := w.Ledger(ctx, "l")
				if err != nil {
					return err
				}
				rows[0].Body = plus(rows[0].Body)
				if err := w.PutLedger(ctx, rows[0]); err != nil {
					return err
				}
				n, hash, err := w.TrailHead(ctx, "l")
				if err != nil {
					return err
				}
				hash[0]++
				return w.AddAudit(ctx, durable.AuditRow{Lineage: "l", Sequence: n + 1, Kind: "k", Body: rows[0].Body, Hash: hash})
			})
			if err != nil {
				return err
			}
		}
		return nil
	}))
	read(t, g[0].Agents, func(ctx context.Context, r durable.Reader) {
		same(t, string(must(r.Ledger(ctx, "l"))(t)[0].Body), fmt.Sprint(writers*acts))
		for _, id := range []string{"s0", "s1"} {
			row := must(r.Session(ctx, id))(t)
			same(t, row.Version, uint64(writers*acts/2+1))
			same(t, string(row.Body), fmt.Sprint(writers*acts/2))
		}
		for i, row := range must(r.Trail(ctx, "l", 0, 9999))(t) {
			if row.Sequence != int64(i+1) || string(row.Body) != fmt.Sprint(i+1) || row.Hash[0] != byte(i+1) {
				t.Fatalf("entry %d of the trail: %+v", i+1, row)
			}
		}
	})
}

func claimedOnce(t *testing.T, g [2]GIDP) {
	ctx := context.Background()
	const pieces = 60
	write(t, g[0].Agents, func(ctx context.Context, w durable.Writer) {
		for i := range pieces {
			ok(t, w.Schedule(ctx, durable.WorkSession, fmt.Sprint(i), after(i%7)))
		}
	})
	var claimed [pieces]atomic.Int64
	ok(t, together(6, func(i int) error {
		for {
			var got []durable.Work
			err := g[i%2].Agents.Update(ctx, func(w durable.Writer) (err error) {
				got, err = w.Claim(ctx, after(10), after(100), 4)
				return err
			})
			if err != nil || len(got) == 0 {
				return err
			}
			for _, w := range got {
				var n int
				fmt.Sscan(w.ID, &n)
				claimed[n].Add(1)
			}
		}
	}))
	for i := range claimed {
		if n := claimed[i].Load(); n != 1 {
			t.Errorf("piece %d was claimed %d times", i, n)
		}
	}
}

// limitHolds opens sessions at one reference while there are fewer than a limit.
func limitHolds(t *testing.T, g [2]GIDP) {
	ctx := context.Background()
	const limit = 5
	ok(t, together(12, func(i int) error {
		return g[i%2].Agents.Update(ctx, func(w durable.Writer) error {
			n, err := w.CountOpen(ctx, "r0", "")
			if err != nil || n >= limit {
				return err
			}
			row := sessionRow(fmt.Sprint("s", i), i)
			row.Ref = "r0"
			return w.AddSession(ctx, row)
		})
	}))
	read(t, g[1].Agents, func(ctx context.Context, r durable.Reader) { same(t, must(r.CountOpen(ctx, "r0", ""))(t), limit) })
}

func oneDecision(t *testing.T, g [2]GIDP) {
	ctx := context.Background()
	for round := range 5 {
		id := fmt.Sprint("e", round)
		write(t, g[0].Agents, func(ctx context.Context, w durable.Writer) {
			ok(t, w.AddEntry(ctx, durable.EntryRow{ID: id, Interest: "i", State: durable.Waiting, Body: []byte("x")}))
		})
		var granted atomic.Int64
		ok(t, together(4, func(i int) error {
			err := g[i%2].Agents.Update(ctx, func(w durable.Writer) error { return w.Decide(ctx, id, durable.Granted, after(i+1)) })
			if err == nil {
				granted.Add(1)
			} else if !errors.Is(err, durable.ErrExists) {
				return err
			}
			return nil
		}))
		same(t, granted.Load(), int64(1))
	}
}

// feedMissesNothing publishes, updates and withdraws through both stores while a replica follows through each.
func feedMissesNothing(t *testing.T, g [2]GIDP) {
	ctx := context.Background()
	const writers, refs = 4, 6
	var written atomic.Bool
	seen := [2]map[provider.Ref]provider.Row{{}, {}}
	positions := [2]int64{}
	followed := make(chan error, 2)
	for i := range 2 {
		go func() {
			for {
				last := written.Load()
				rows, next, err := g[i].Provider.Changes(ctx, positions[i], 3)
				if err != nil || last && len(rows) == 0 {
					followed <- err
					return
				}
				for _, row := range rows {
					if old := seen[i][row.Ref]; row.Revision <= old.Revision || old.Withdrawn {
						followed <- fmt.Errorf("revision %d came after %d", row.Revision, old.Revision)
						return
					}
					seen[i][row.Ref] = row
				}
				positions[i] = next
			}
		}()
	}
	err := together(writers, func(i int) error {
		p := g[i%2].Provider
		for n := range refs {
			id := byte(1 + i*refs + n)
			row := placedRow(id, id, 1, fmt.Sprint("https://e.example/", id))
			if err := p.Commit(ctx, row); err != nil {
				return err
			}
			row.Revision = 2
			if err := p.Commit(ctx, row); err != nil {
				return err
			}
			if n%2 == 0 {
				if err := p.Commit(ctx, withdrawn(row)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	written.Store(true)
	ok(t, errors.Join(err, <-followed, <-followed))
	for i := range 2 {
		same(t, positions[i], int64(writers*refs*2+writers*refs/2))
		same(t, len(seen[i]), writers*refs)
		for ref, row := range seen[i] {
			kept, _, err := g[1-i].Provider.Projection(ctx, ref)
			ok(t, err)
			same(t, row, kept)
		}
	}
}

func oneEndpoint(t *testing.T, g [2]GIDP) {
	ctx := context.Background()
	for round := range byte(5) {
		var kept atomic.Int64
		ok(t, together(4, func(i int) error {
			id := 1 + round*4 + byte(i)
			err := g[i%2].Provider.Commit(ctx, placedRow(id, id, 1, fmt.Sprint("https://e.example/", round)))
			if err == nil {
				kept.Add(1)
			} else if !errors.Is(err, providerhttp.ErrStale) {
				return err
			}
			return nil
		}))
		same(t, kept.Load(), int64(1))
	}
}

func oneSecret(t *testing.T, g [2]GIDP) {
	var got [8][32]byte
	ok(t, together(len(got), func(i int) (err error) {
		got[i], err = g[i%2].Provider.Secret(context.Background(), [32]byte{byte(i + 1)})
		return err
	}))
	for i := range got {
		same(t, got[i], got[0])
	}
}

// failsAlone mixes acts that succeed with acts that fail, panic or are cancelled half-way: each of the former is there, nothing of the latter.
func failsAlone(t *testing.T, g [2]GIDP) {
	const acts = 120
	ok(t, together(acts, func(i int) (err error) {
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		defer func() {
			if p := recover(); p != nil && p != "early" {
				err = fmt.Errorf("panic: %v", p)
			}
		}()
		err = g[i%2].Agents.Update(ctx, func(w durable.Writer) error {
			if err := w.AddSession(ctx, sessionRow(fmt.Sprintf("s%03d", i), i)); err != nil {
				return err
			}
			switch i % 5 {
			case 1:
				return errEarly
			case 2:
				panic("early")
			case 3:
				stop()
				_, err := w.Session(ctx, "s")
				return err
			}
			return w.AddSent(ctx, durable.SentRow{Session: fmt.Sprintf("s%03d", i), Number: 1, At: time.Time{}, Body: []byte("x")})
		})
		switch {
		case i%5 == 1 && errors.Is(err, errEarly), i%5 == 3 && errors.Is(err, context.Canceled):
			return nil
		case i%5 == 1 || i%5 == 3:
			return fmt.Errorf("act %d: %v", i, err)
		}
		return err
	}))
	read(t, g[0].Agents, func(ctx context.Context, r durable.Reader) {
		rows := must(r.Sessions(ctx, "", false, "", acts))(t)
		same(t, len(rows), acts/5*2)
		for _, row := range rows {
			var n int
			fmt.Sscanf(row.ID, "s%d", &n)
			if sent := must(r.Sent(ctx, row.ID, 0))(t); n%5 != 0 && n%5 != 4 || len(sent) != 1 {
				t.Errorf("session %s is there, with %d sent", row.ID, len(sent))
			}
		}
	})
}
