package lab

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sayso/gidp"
	"sayso/gidp/wire"
)

// onRow puts the claim f ≤ m to a production row over the points of a weighted domain.
func onRow(row *gidp.Row, w weighted, f, m int) (holds, admitted bool) {
	return put(row, w.at[f], func(point int64) bool { return w.at[m+1] > int(point) })
}

// thresholds answer as the production ledger does, to every sequence of three claims and every secret of small domains with uneven mass.
func TestThresholdsAreTheLedgerOnAllSmallDomains(t *testing.T) {
	for _, masses := range [][]int{{1, 1, 1, 1, 1, 1}, {4, 1, 0, 2, 1, 8}, {0, 3, 3, 0, 9, 1}, {16}, {1, 31}} {
		at := []int{0}
		for _, m := range masses {
			at = append(at, at[len(at)-1]+m)
		}
		w, n := weighted{at}, len(masses)
		for _, bits := range []float64{0, .5, 1, 1.5, 2, math.Log2(3), 2.5, 3, 5} {
			for f, mass := range masses {
				if mass == 0 {
					continue // a value without mass has no point that could be the secret
				}
				for sequence := range n * n * n {
					fast, row := w.open(bits), newRow(at[n], bits)
					for _, m := range []int{sequence % n, sequence / n % n, sequence / n / n} {
						a, ok := fast.ask(f, m)
						b, want := onRow(&row, w, f, m)
						if bits == 0 { // production answers nothing at all from an empty budget
							if want {
								t.Fatal("an empty budget answers")
							}
							continue
						}
						if ok != want || ok && a != b || fast.mass(fast.lo, fast.hi) != remaining(&row) {
							t.Fatalf("%v, %g bits, secret %d, claims %d: %v %v, the ledger %v %v; %d points remain, %d", masses, bits, f, sequence, a, ok, b, want, fast.mass(fast.lo, fast.hi), remaining(&row))
						}
					}
				}
			}
		}
	}
}

// The same for random sequences on as many points as a production row may have, under the priors of the curves.
func TestThresholdsAreTheLedgerOnPriors(t *testing.T) {
	var domains []weighted
	for _, p := range priors() {
		domains = append(domains, weigh(p.mass, gidp.MaxDomain))
	}
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.SampledFrom(domains).Draw(t, "prior")
		bits := rapid.SampledFrom([]float64{1, 1.585, 2, math.Log2(5), 3, 4, 5}).Draw(t, "bits")
		f := rapid.IntRange(0, size-1).Filter(func(f int) bool { return w.at[f+1] > w.at[f] }).Draw(t, "secret")
		fast, row := w.open(bits), newRow(gidp.MaxDomain, bits)
		for range rapid.IntRange(1, 12).Draw(t, "claims") {
			m := rapid.IntRange(0, size-1).Draw(t, "m")
			a, ok := fast.ask(f, m)
			b, want := onRow(&row, w, f, m)
			if ok != want || ok && a != b {
				t.Fatalf("f ≤ %d: %v %v, the ledger %v %v", m, a, ok, b, want)
			}
		}
		fast.bisect(f)
		again := fast
		again.bisect(f)
		if again.lo != fast.lo || again.hi != fast.hi {
			t.Fatal("a drained budget was drained further")
		}
	})
}

// smallest is what the production ledger admits, wherever the part lies in the domain.
func TestSmallestPartIsTheLedgers(t *testing.T) {
	for _, n := range []int{2, 3, 31, 32, 33, 41, 64} {
		for _, bits := range []float64{.5, 1, 2, 3} {
			least := smallest(n, bits)
			for lo := range n {
				for hi := lo + 1; hi <= n; hi++ {
					row, part := newRow(n, bits), min(hi-lo, n-hi+lo)
					_, admitted := put(&row, 0, func(v int64) bool { return v >= int64(lo) && v < int64(hi) })
					if admitted != (part == 0 || part >= least) {
						t.Fatalf("%d values, %g bits: a part of %d is admitted %v, the least is %d", n, bits, part, admitted, least)
					}
				}
			}
		}
	}
}

// planning is the best of all adaptive querents: a search over what a production row has left, all thresholds tried, finds no more.
func TestPlanningIsBest(t *testing.T) {
	for n := 2; n <= 13; n++ {
		for _, bits := range []float64{1, 1.5, 2, 3} {
			least := smallest(n, bits)
			_, leak := planning(n, least)
			if found := searched(newRow(n, bits)); math.Abs(found-leak) > 1e-9 {
				t.Errorf("%d values, %g bits: planned %g, found %g", n, bits, leak, found)
			}
			if g := greedyLeak(n, least); g > leak+1e-9 {
				t.Errorf("%d values, %g bits: greedy %g beats %g", n, bits, g, leak)
			}
		}
	}
}

// searched is the most expected leak over all sequences of thresholds on a row, by production alone.
func searched(row gidp.Row) float64 {
	best, left := 0.0, float64(remaining(&row))
	for edge := 1; edge < row.Domain.Size(); edge++ {
		test := func(v int64) bool { return v < int64(edge) }
		yes, _, admitted := row.Reserve(test, func(func(int64) bool) bool { return true })
		no, _, _ := row.Reserve(test, func(func(int64) bool) bool { return false })
		a, c := float64(remaining(&yes)), float64(remaining(&no))
		if !admitted || a == 0 || c == 0 {
			continue
		}
		best = max(best, a/left*(math.Log2(left/a)+searched(yes))+c/left*(math.Log2(left/c)+searched(no)))
	}
	return best
}

// The quantiser's rule on classes is the production rule where a class is an interval.
func TestConstantIsTheProductionRule(t *testing.T) {
	for lo := range few {
		for hi := lo; hi < few; hi++ {
			part := &gidp.Partition{ID: "class", Max: few - 1}
			if lo > 0 {
				part.Edges = append(part.Edges, int64(lo))
			}
			if hi < few-1 {
				part.Edges = append(part.Edges, int64(hi+1))
			}
			cell, _ := part.Cell(int64(lo))
			class := uint16(1<<(hi+1) - 1<<lo)
			for m := range few {
				got := evaluate(gidp.Cells{Partition: part, Shape: gidp.Floor, Low: cell}, wire.OpOverlaps, atMost(m))
				if definite(got) != constant(class, 1<<(m+1)-1) {
					t.Errorf("%d..%d, f ≤ %d: %s", lo, hi, m, got)
				}
			}
		}
	}
}

func TestPriorsAndQuestionsAreDistributions(t *testing.T) {
	sum := func(mass []float64) (out float64) {
		for _, m := range mass {
			out += m
			if m < 0 {
				t.Fatal("a negative mass")
			}
		}
		return out
	}
	for _, p := range priors() {
		if math.Abs(sum(p.mass)-1) > 1e-9 {
			t.Errorf("%s sums to %g", p.name, sum(p.mass))
		}
		for _, kind := range []string{independent, round25, near} {
			for f, q := range p.asking(kind).of {
				if f%97 == 0 && math.Abs(sum(q)-1) > 1e-9 {
					t.Errorf("%s, %s, f=%d sums to %g", p.name, kind, f, sum(q))
				}
			}
		}
		for _, k := range []int{2, 3, 4, 5, 8, 16, 32} {
			part := p.equalMass(k)
			if err := part.Check(); err != nil || part.Cells() != k {
				t.Errorf("%s, %d cells: %d, %v", p.name, k, part.Cells(), err)
			}
		}
	}
	counts, r := make([]int, 3), rand.New(rand.NewPCG(1, 1))
	for range 10_000 {
		counts[draw(r, cumulative([]float64{.5, 0, .5}))]++
	}
	if counts[1] != 0 || counts[0] < 4700 || counts[2] < 4700 {
		t.Errorf("drawn %v", counts)
	}
}

// A subject whose answers tell more than its bound is found out, by the programme and in sessions; one whose truth is turned round counts as untrue.
func TestAdaptiveLeaksAreSeen(t *testing.T) {
	s := on("point", "point", even(8, 2))
	s.rules = &gidp.Profile{ID: "lab", Keys: map[string]gidp.Key{"k": {Partition: even(8, 1)}}} // finer than the bound was computed for
	moves, _ := s.moves()
	g := newGame(moves, len(s.secrets), false)
	if leak := g.leak(g.everything()); leak <= s.bits+.5 || len(g.weight) <= s.outputs {
		t.Errorf("the programme learns %g bits of %g", leak, s.bits)
	}
	for _, tactic := range tactics {
		if distinct, bits, err := s.play(g, tactic); err != nil || distinct <= s.outputs || bits <= s.bits+.5 {
			t.Errorf("%s: %d transcripts, %g bits, %v", tactic.name, distinct, bits, err)
		}
	}
	for i := range s.asked["k"] {
		truth := s.asked["k"][i].truth
		s.asked["k"][i].truth = func(h held) bool { return !truth(h) }
	}
	if _, untruthful := s.moves(); untruthful == 0 {
		t.Error("untrue answers go unseen")
	}
	other := on("point", "point", even(8, 4))
	if _, _, err := other.play(g, tactics[0]); err == nil {
		t.Error("sessions that answer other than the evaluator go unseen")
	}
}

// Each tactic does what it is named for: counted over all secrets, they differ in sessions, claims or in what the responder says.
func TestTactics(t *testing.T) {
	s := on("point", "point", even(32, 4))
	moves, _ := s.moves()
	g := newGame(moves, len(s.secrets), false)
	sessions, claims, said := map[string]int{}, map[string]int{}, map[string]string{}
	for _, tactic := range tactics {
		for secret := range s.secrets {
			p := &probe{subject: &s, secret: s.interest(secret)}
			for set := g.everything(); ; {
				m, ok := g.next(set)
				if !ok {
					break
				}
				r, err := tactic.ask(p, g.moves[m].claim)
				if err != nil {
					t.Fatalf("%s: %v", tactic.name, err)
				}
				set = g.after(set, m, r)
			}
			sessions[tactic.name] += p.sessions
			claims[tactic.name] += p.asked
			said[tactic.name] += string(p.transcript)
		}
	}
	const plain = "one session while it lasts"
	if sessions["restart and repeat"] <= sessions["many identities"] || sessions["many identities"] <= sessions[plain] {
		t.Errorf("sessions: %v", sessions)
	}
	if claims["restart and repeat"] != 2*claims[plain] || claims["supersede and repeat"] <= claims[plain] || claims["reused claim ids"] <= claims[plain] {
		t.Errorf("claims: %v", claims)
	}
	if strings.Contains(said[plain], "CompatibilityRequest") || !strings.Contains(said["mixed roles"], "CompatibilityRequest") {
		t.Error("the responder asks in mixed roles, and only there")
	}
	if !strings.Contains(said["reused claim ids"], "malformed") || strings.Contains(said["supersede and repeat"], "malformed") {
		t.Error("a reused id is malformed, superseding is not")
	}
}
