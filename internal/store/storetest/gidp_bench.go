package storetest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/internal/agent/durable"
)

// stepper makes one step of a session after another, as an agent does for one message: the reads, the new state, one message, one or two objects sent, one or
// two audit entries, every other time a row of the ledger, and the next deadline.
type stepper struct {
	session, lineage string
	step, sent       int
	body             []byte
	took             []time.Duration
}

// sealed is a body as large as one of its kind.
func sealed(n int) []byte { return bytes.Repeat([]byte{0x5a}, n) }

var steppers atomic.Int64

func openStepper(ctx context.Context, s durable.Store) (*stepper, error) {
	n := steppers.Add(1)
	p := &stepper{session: fmt.Sprintf("session-%032d", n), lineage: fmt.Sprintf("lineage-%024d", n%100), body: sealed(2048)}
	return p, s.Update(ctx, func(w durable.Writer) error {
		if err := w.PutLedger(ctx, durable.LedgerRow{Key: gidp.LedgerKey{Lineage: p.lineage, Quantity: "price"}, Body: sealed(300)}); err != nil {
			return err
		}
		return w.AddSession(ctx, durable.SessionRow{
			ID: p.session, Interest: p.lineage, Ref: fmt.Sprintf("%032d", n), Peer: fmt.Sprintf("peer-%038d", n), PeerKey: sealed(120), Phase: "PROBE",
			OpenedAt: day, EndsAt: day.Add(time.Hour), Body: p.body,
		})
	})
}

func (p *stepper) run(ctx context.Context, s durable.Store) error {
	p.step++
	twice := 1 + p.step%2
	began := time.Now()
	defer func() { p.took, p.sent = append(p.took, time.Since(began)), p.sent+twice }()
	return s.Update(ctx, func(w durable.Writer) error {
		row, err := w.Session(ctx, p.session)
		if err != nil {
			return err
		}
		key := fmt.Sprintf("message-%032d", p.step)
		if _, err := w.Received(ctx, p.session, key); err != durable.ErrNotFound {
			return fmt.Errorf("a message that is new: %w", err)
		}
		ledger, err := w.Ledger(ctx, p.lineage)
		if err != nil {
			return err
		}
		sequence, hash, err := w.TrailHead(ctx, p.lineage)
		if err != nil {
			return err
		}
		at := day.Add(time.Duration(p.step) * time.Second)
		if err := w.AddReceived(ctx, p.session, key, hash); err != nil {
			return err
		}
		if err := w.PutSession(ctx, row); err != nil {
			return err
		}
		for i := range twice {
			if err := w.AddSent(ctx, durable.SentRow{Session: p.session, Number: p.sent + i + 1, At: at, Body: sealed(1024)}); err != nil {
				return fmt.Errorf("sent: %w", err)
			}
			hash[0]++
			if err := w.AddAudit(ctx, durable.AuditRow{Lineage: p.lineage, Sequence: sequence + int64(i) + 1, At: at, Kind: "decision", Body: sealed(512), Hash: hash}); err != nil {
				return fmt.Errorf("audit: %w", err)
			}
		}
		if twice == 2 {
			if err := w.PutLedger(ctx, ledger[0]); err != nil {
				return err
			}
		}
		return w.Schedule(ctx, durable.WorkSession, p.session, at.Add(time.Minute))
	})
}

// BenchStep measures a step of a session against bare, a commit of one row into the same database by turns with it, and many sessions at once. The step of one
// session may take twice as long as the bare commit.
func BenchStep(b *testing.B, s durable.Store, bare func() error) {
	ctx := context.Background()
	b.Run("one", func(b *testing.B) {
		p, err := openStepper(ctx, s)
		ok(b, err)
		const block = 25 // in a row, because a commit by another connection makes the next one read its pages anew
		var bares []time.Duration
		pair := func() {
			for range block {
				ok(b, p.run(ctx, s))
			}
			for range block {
				began := time.Now()
				ok(b, bare())
				bares = append(bares, time.Since(began))
			}
		}
		pair()
		p.took, bares = nil, nil
		for b.Loop() {
			pair()
		}
		ours, theirs := undisturbed(p.took), undisturbed(bares)
		b.ReportMetric(float64(ours)/float64(theirs), "x-of-bare-commit")
		b.ReportMetric(float64(p.took[len(p.took)/2])/float64(bares[len(bares)/2]), "x-by-median")
		b.ReportMetric(float64(ours.Microseconds()), "µs/step")
		b.ReportMetric(float64(theirs.Microseconds()), "µs/bare")
		if b.N >= 10 && ours > 2*theirs {
			b.Errorf("a step takes %v, a bare commit %v", ours, theirs)
		}
	})
	b.Run("1000", func(b *testing.B) {
		const sessions, together = 1000, 32
		all := make([]*stepper, sessions)
		for i := range all {
			var err error
			all[i], err = openStepper(ctx, s)
			ok(b, err)
		}
		var next, failed atomic.Int64
		var group sync.WaitGroup
		b.ResetTimer()
		for i := range together { // every goroutine has sessions of its own
			group.Go(func() {
				for n := 0; next.Add(1) <= int64(b.N); n++ {
					if err := all[(i+n*together)%(sessions/together*together)].run(ctx, s); err != nil && failed.Add(1) == 1 {
						b.Error(err)
					}
				}
			})
		}
		group.Wait()
		b.StopTimer()
		var took []time.Duration
		for _, p := range all {
			took = append(took, p.took...)
		}
		slices.Sort(took)
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "µs-p99")
	})
}

// undisturbed is the first decile: what one took while other programs left the processor alone.
func undisturbed(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/10]
}
