package gidp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
	"sayso/gidp/wire"
)

// holder answers from one value and one row.
type holder struct {
	row   Row
	value int64
	shape Shape
}

func (h *holder) ask(op wire.Operator, value string) wire.Result {
	key := LedgerKey{"line", "k"}
	v := View{Attributes: map[string]Attribute{"k": {Held: true, Holding: Audited{Row: key, Shape: h.shape, Truth: func(test func(int64) bool) bool { return test(h.value) }}}}}
	before := Ledger{key: h.row}
	out, after := Evaluate(v, before, Query{Claims: []wire.Claim{ask("k", op, value)}, Allowed: wire.AllResults()})
	h.row = after[key]
	return out[0].Result
}

func row(t testing.TB, d Domain, bits float64) Row {
	t.Helper()
	r, err := NewRow(d, bits)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// leak is what is known of the value, in bits.
func leak(r Row) float64 { return math.Log2(float64(r.Domain.Size()) / float64(r.count())) }

// A bisecting asker gets exactly the budget where sizes halve.
func TestBudgetCapsABisection(t *testing.T) {
	for _, n := range []int64{32, 64, 128, 1024} {
		worst := 0.0
		for v := range n {
			if n == 1024 && v%64 != 0 {
				continue
			}
			h := &holder{row: row(t, Domain{0, n - 1, 1}, 2), value: v, shape: Floor}
			lo, hi := int64(0), n-1
			for lo < hi {
				mid := (lo + hi) / 2
				switch h.ask(wire.OpOverlaps, fmt.Sprintf(`{"max":%d}`, mid)) {
				case wire.Compatible:
					hi = mid
				case wire.Incompatible:
					lo = mid + 1
				default:
					lo = hi
				}
			}
			worst = max(worst, leak(h.row))
		}
		if worst != 2 {
			t.Errorf("%d values: %v bits, want exactly 2", n, worst)
		}
	}
}

// The published population of 41 values: what an adversary learns under each budget, and how many of 40 one-claim askers are served who share it.
func TestBudgetOverFortyOneValues(t *testing.T) {
	d := Domain{0, 200, 5}
	honest := []int64{120, 150, 45, 185, 115, 55, 90, 75, 155, 190, 115, 160, 70, 115, 40, 105, 170, 125, 95, 160, 90, 60, 80, 180, 80, 80, 40, 40, 105, 105, 90, 90, 130, 140, 100, 105, 95, 100, 160, 135}
	for _, c := range []struct {
		bits   float64
		leak   float64
		served int
	}{{1, 0, 0}, {2, .97, 35}, {3, 1.90, 37}, {4, 3.04, 37}} {
		served := 0
		shared := &holder{row: row(t, d, c.bits), value: 45, shape: Floor}
		for _, ceiling := range honest {
			if shared.ask(wire.OpOverlaps, fmt.Sprintf(`{"min":0,"max":%d}`, ceiling)) != wire.Declined {
				served++
			}
		}
		h := &holder{row: row(t, d, c.bits), value: 45, shape: Floor}
		for {
			var left []int64
			for i := range d.Size() {
				if h.row.Remaining[i/64]>>(i%64)&1 == 1 {
					left = append(left, d.Min+int64(i)*d.Step)
				}
			}
			if len(left) == 1 || h.ask(wire.OpOverlaps, fmt.Sprintf(`{"min":%d,"max":%d}`, left[(len(left)-1)/2], left[(len(left)-1)/2])) == wire.Declined {
				break
			}
		}
		t.Logf("%v bits: %d of 40 served, %.2f bits to a bisecting asker", c.bits, served, leak(h.row))
		if math.Abs(leak(h.row)-c.leak) > .006 || served != c.served {
			t.Errorf("%v bits: leak %.3f and %d served, want %.2f and %d", c.bits, leak(h.row), served, c.leak, c.served)
		}
	}
}

// Spent never falls and never exceeds the limit, whatever is asked, changed, restored or approved; a refusal does not depend on the value.
func TestLedgerProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Domain{0, rapid.Int64Range(0, 60).Draw(t, "max"), 1}
		limit := rapid.Float64Range(0, 6).Draw(t, "limit")
		start, err := NewRow(d, limit)
		if err != nil {
			t.Fatal(err)
		}
		shape := Shape(rapid.IntRange(0, 2).Draw(t, "shape"))
		h := &holder{row: start, value: rapid.Int64Range(d.Min, d.Max).Draw(t, "value"), shape: shape}
		spent := 0.0
		for range rapid.IntRange(1, 20).Draw(t, "events") {
			switch rapid.IntRange(0, 9).Draw(t, "event") {
			case 0:
				h.row = h.row.Changed()
				h.value = rapid.Int64Range(d.Min, d.Max).Draw(t, "new value")
			case 1:
				h.row = h.row.Restored()
				if h.ask(wire.OpOverlaps, `{"min":-5}`) != wire.Declined {
					t.Fatal("a restored row answers")
				}
			case 2:
				h.row = h.row.Approved(limit)
			default:
				lo := rapid.Int64Range(-2, 62).Draw(t, "lo")
				hi := rapid.Int64Range(lo, 62).Draw(t, "hi")
				before := h.row
				got := h.ask(wire.OpOverlaps, fmt.Sprintf(`{"min":%d,"max":%d}`, lo, hi))
				for v := d.Min; v <= d.Max; v++ { // every value that is still possible is refused alike
					if i := v - d.Min; before.Remaining[i/64]>>(i%64)&1 == 0 {
						continue
					}
					other := &holder{row: before, value: v, shape: shape}
					if (other.ask(wire.OpOverlaps, fmt.Sprintf(`{"min":%d,"max":%d}`, lo, hi)) == wire.Declined) != (got == wire.Declined) {
						t.Fatalf("the refusal of [%d,%d] depends on the value", lo, hi)
					}
				}
				again := h.row
				if r := h.ask(wire.OpOverlaps, fmt.Sprintf(`{"min":%d,"max":%d}`, lo, hi)); r != got || again.Spent() != h.row.Spent() {
					t.Fatalf("a repeated question is answered alike and free: %s then %s", got, r)
				}
			}
			if h.row.Spent() < spent-1e-9 || h.row.told() > max(limit, 0)+1e-9 {
				t.Fatalf("%v bits spent after %v, limit %v", h.row.Spent(), spent, limit)
			}
			spent = h.row.Spent()
		}
	})
}

// A replica without its store, a missing row and the zero Row tell nothing.
func TestNoRowNoAnswer(t *testing.T) {
	h := &holder{value: 3}
	for _, q := range []string{`{"min":0}`, `{"min":2,"max":4}`} {
		if got := h.ask(wire.OpOverlaps, q); got != wire.Declined {
			t.Errorf("%s: %s, want declined", q, got)
		}
	}
	for _, d := range []Domain{{0, 1, 0}, {1, 0, 1}, {0, 5000, 1}, {math.MinInt64, math.MaxInt64, 1}} {
		if _, err := NewRow(d, 1); err == nil {
			t.Errorf("%+v was accepted", d)
		}
	}
	if _, err := NewRow(Domain{0, 1, 1}, math.NaN()); err == nil {
		t.Error("a limit that is no number was accepted")
	}
	r := row(t, Domain{0, 63, 1}, 2)
	ledger := Ledger{{"l", "k"}: r}
	v := View{Attributes: map[string]Attribute{"k": {Held: true, Holding: Audited{Row: LedgerKey{"l", "k"}, Truth: func(test func(int64) bool) bool { return test(7) }}}}}
	_, after := Evaluate(v, ledger, Query{Claims: []wire.Claim{ask("k", wire.OpOverlaps, `{"max":31}`)}, Allowed: wire.AllResults()})
	if ledger[LedgerKey{"l", "k"}].Spent() != 0 || after[LedgerKey{"l", "k"}].Spent() != 1 {
		t.Error("charging changes another value, never the argument")
	}
}

// Cells need no ledger: a budget of log2 K in whole cells never refuses (sec. 8, L-11).
func TestBudgetOverCellsNeverRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 2_000 {
		k := int64(1 + rng.IntN(16))
		h := &holder{row: row(t, Domain{0, k - 1, 1}, math.Log2(float64(k))+1e-9), value: rng.Int64N(k), shape: Shape(rng.IntN(3))}
		for range 30 {
			lo := rng.Int64N(k)
			if h.ask(wire.OpOverlaps, fmt.Sprintf(`{"min":%d,"max":%d}`, lo, lo+rng.Int64N(k))) == wire.Declined && k > 1 {
				t.Fatalf("%d cells: a question was refused", k)
			}
		}
	}
}
