package crash

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/gidpa2a"
	"sayso/gidp/wire"
	"sayso/internal/agent"
	"sayso/internal/store/pgtest"
	"sayso/jcs"
)

// eachEngine runs a test over two replicas on one database.
func eachEngine(t *testing.T, test func(*testing.T, [2]*node)) {
	for name, database := range map[string]func(*testing.T) string{
		"SQLite":     func(*testing.T) string { return "" },
		"PostgreSQL": func(t *testing.T) string { return pgtest.Database(t) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t, database(t))
			var both [2]*node
			for i := range both {
				both[i] = f.open(t, nil)
				t.Cleanup(func() { must(t, both[i].db.Close()) })
			}
			test(t, both)
		})
	}
}

// open opens the session of an asker at a replica.
func (p *asker) open(t *testing.T, n *node) {
	t.Helper()
	task, err := n.Receive(t.Context(), p.message(p.opening))
	must(t, err)
	p.task = task.ID
	must(t, p.see(task.Artifacts))
}

// Many sessions claim one row of the ledger at two replicas at once. All answers are those of one order, which the trail tells: each claim is admitted or declined
// exactly as the row says that the claims before it have left (L-3, I13).
func TestReplicasShareOneLedger(t *testing.T) {
	eachEngine(t, func(t *testing.T, both [2]*node) {
		id, ref := both[0].activate(t, document(t, gidp.Yes, `{"min":21234567}`))
		var peers []*asker
		bySession := map[string]*asker{}
		for range 16 {
			p := newAsker(t, ref)
			p.open(t, both[0])
			peers, bySession[p.task] = append(peers, p), p
		}
		var asking sync.WaitGroup
		for i, p := range peers {
			random := rand.New(rand.NewPCG(uint64(i), rand.Uint64()))
			asking.Go(func() {
				for k := range 6 {
					a, err := p.draw(random.IntN, false)
					if err != nil {
						t.Error(err)
						return
					}
					task, err := both[(i+k)%2].Receive(t.Context(), p.message(a.object))
					if err != nil {
						t.Errorf("%v, %v", err, err.(*gidpa2a.Refusal).Cause)
						return
					}
					if err := p.see(task.Artifacts); err != nil {
						t.Error(err)
					}
				}
			})
		}
		asking.Wait()
		both[1].checkLedger(t, id, peers)
		replay(t, both[0].checkTrail(t, id), bySession)
	})
}

// replay follows the trail with a ledger of its own.
func replay(t *testing.T, trail []agent.AuditView, peers map[string]*asker) {
	t.Helper()
	rows := map[string]gidp.Row{}
	for _, key := range audited {
		row, err := gidp.NewRow(gidp.Domain{Max: auditedMax, Step: 1}, auditedBits)
		must(t, err)
		rows[key] = row
	}
	answered, declined := 0, 0
	for _, e := range trail {
		var said struct {
			Session string    `json:"session"`
			Type    wire.Type `json:"type"`
			Ref     string    `json:"request"`
		}
		must(t, jcs.Decode(e.Body, &said))
		p := peers[said.Session]
		if e.Kind != "emission" || said.Type != wire.TypeCompatibilityResponse || p == nil {
			continue
		}
		response := p.answers(t)[said.Ref]
		for _, a := range p.asks {
			if a.id != said.Ref {
				continue
			}
			for i, c := range a.claims {
				row, ok := rows[c.Key]
				if !ok {
					continue
				}
				after, holdsTrue, admitted := row.Reserve(func(v int64) bool { return holds(t, c, int(v)) }, func(test func(v int64) bool) bool { return test(auditedTruth) })
				want := wire.Declined
				if rows[c.Key] = after; admitted {
					if want = wire.Incompatible; holdsTrue {
						want = wire.Compatible
					}
				}
				if got := response.Results[i].Result; got != want {
					t.Fatalf("entry %d: %s %s was answered %s, in this order it is %s", e.Sequence, c.Key, c.Value, got, want)
				}
				if answered++; !admitted {
					declined++
				}
			}
		}
	}
	if answered == 0 || declined == 0 || declined == answered {
		t.Errorf("%d claims, %d declined: nothing was contended", answered, declined)
	}
}

// Messages of one session reach both replicas interleaved: what it shows is one sequence without a gap, the same wherever one looks (B-07).
func TestReplicasShareOneSession(t *testing.T) {
	eachEngine(t, func(t *testing.T, both [2]*node) {
		_, ref := both[0].activate(t, document(t, gidp.Yes, `{"min":21234567}`))
		p := newAsker(t, ref)
		p.open(t, both[1])
		const asks = 24
		for range asks {
			_, err := p.draw(rand.IntN, false)
			must(t, err)
		}
		shown := make([][]gidpa2a.Artifact, 2*asks)
		var sending sync.WaitGroup
		for i, a := range append(p.asks[:asks:asks], p.asks...) { // each is sent to both
			sending.Go(func() {
				task, err := both[(i+i/asks)%2].Receive(t.Context(), p.message(a.object))
				if err != nil {
					t.Errorf("%v, %v", err, err.(*gidpa2a.Refusal).Cause)
				}
				shown[i] = task.Artifacts
			})
		}
		sending.Wait()
		for _, n := range both {
			task, err := n.Task(t.Context(), ref, p.task, p.key.Kid())
			must(t, err)
			must(t, p.see(task.Artifacts))
		}
		if len(p.shown) != asks+1 || len(p.answers(t)) != asks {
			t.Fatalf("%d artifacts for %d questions", len(p.shown), asks)
		}
		for _, list := range shown {
			for i, a := range list {
				if a.Number != i+1 || string(a.Object) != string(p.shown[i]) {
					t.Fatalf("artifact %d was another one for a moment", i+1)
				}
			}
		}
	})
}

// A Principal decides at one replica, and whoever listens at the other one is shown the answer.
func TestReplicasShareTheInbox(t *testing.T) {
	eachEngine(t, func(t *testing.T, both [2]*node) {
		_, ref := both[0].activate(t, document(t, gidp.Approval, `{"min":21234567}`))
		p := newAsker(t, ref)
		p.open(t, both[0])
		for range 5 {
			a, err := p.draw(rand.IntN, false)
			must(t, err)
			task, err := both[0].Receive(t.Context(), p.message(a.object))
			must(t, err)
			heard := make(chan error, 1)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			go func() { heard <- both[0].Wait(ctx, p.task, task.Version) }()
			waiting, err := both[1].Inbox(t.Context(), false)
			must(t, err)
			if len(waiting) != 1 {
				t.Fatalf("%d entries wait", len(waiting))
			}
			_, err = both[1].Decide(t.Context(), waiting[0].ID, agent.Decision{Grant: true})
			must(t, err)
			began := time.Now()
			must(t, <-heard)
			cancel()
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("the other replica heard of it after %v", took)
			}
			task, err = both[0].Task(t.Context(), ref, p.task, p.key.Kid())
			must(t, err)
			must(t, p.see(task.Artifacts))
			if p.answers(t)[a.id] == nil {
				t.Fatal("the answer is not there")
			}
		}
	})
}
