package lab

import (
	"math"
	"sort"

	"sayso/gidp"
)

// newRow opens a production ledger row over 0..n-1.
func newRow(n int, bits float64) gidp.Row {
	row, _ := gidp.NewRow(gidp.Domain{Max: int64(n - 1), Step: 1}, bits)
	return row
}

// put puts a claim to a row whose secret is known.
func put(row *gidp.Row, secret int, test func(v int64) bool) (answer, admitted bool) {
	*row, answer, admitted = row.Reserve(test, func(test func(int64) bool) bool { return test(int64(secret)) })
	return answer, admitted
}

// remaining counts the values of a row that are still possible.
func remaining(row *gidp.Row) int {
	n := 0
	for i := range row.Domain.Size() {
		n += int(row.Remaining[i/64] >> (i % 64) & 1)
	}
	return n
}

// smallest is the least part that a budget of bits lets a question cut off a domain of n values, as the production ledger decides it.
func smallest(n int, bits float64) int {
	return sort.Search(n, func(c int) bool {
		if c == 0 {
			return false
		}
		row := newRow(n, bits)
		_, admitted := put(&row, 0, func(v int64) bool { return v < int64(c) })
		return admitted
	})
}

// querent is how many values of n an attacker lets a claim hold for, when no part may be smaller than least; 0 asks no more.
type querent func(n, least int) int

// greedy takes the split that tells most now.
func greedy(n, least int) int {
	if half := n / 2; half >= max(least, 1) {
		return half
	}
	return 0
}

// planning is the querent that maximises what it will know in the end, by a dynamic programme over the sizes of what remains: after thresholds it is an interval,
// and which interval makes no difference. It also returns the expected final leak of a domain of n values in bits.
func planning(n, least int) (ask querent, leak float64) {
	best, value := make([]int, n+1), make([]float64, n+1)
	least = max(least, 1)
	for size := range n + 1 {
		for part := least; part <= size/2; part++ {
			a, c := float64(part)/float64(size), float64(size-part)/float64(size)
			v := a*(value[part]-math.Log2(a)) + c*(value[size-part]-math.Log2(c))
			if v > value[size]+1e-12 {
				best[size], value[size] = part, v
			}
		}
	}
	return func(size, _ int) int { return best[size] }, value[n]
}

// drain lets a querent ask a production row until it gives up, and returns the number of claims. An admitted answer narrows the row; a refusal ends it.
func drain(row *gidp.Row, secret, least int, ask querent) (claims int) {
	lo, hi := 0, row.Domain.Size() // what remains after thresholds
	for {
		part := ask(hi-lo, least)
		if part == 0 {
			return claims
		}
		edge := lo + part
		below, admitted := put(row, secret, func(v int64) bool { return v < int64(edge) })
		if !admitted {
			return claims
		}
		claims++
		if below {
			hi = edge
		} else {
			lo = edge
		}
	}
}

// weighted is a domain whose values have mass: value v owns the points from at[v] to at[v+1]. Production counts values, so a value of much mass stands for
// many points of a row's domain.
type weighted struct{ at []int }

// finely is the number of points that a domain of the curves is shared out into: finer than any mass that decides.
const finely = 1 << 40

func weigh(mass []float64, points int) weighted {
	at := make([]int, 1, len(mass)+1)
	for _, c := range cumulative(mass) {
		at = append(at, int(math.Round(c*float64(points))))
	}
	return weighted{at}
}

// thresholds is [gidp.Row] for claims f ≤ m on a weighted domain, where what remains is an interval of values: the same admission and the same narrowing, without
// a list of points. A test compares the two on every question of all sequences of a small domain and of random ones on 4,096 points.
type thresholds struct {
	weighted
	least  int // mass of the smallest part that may be cut off
	lo, hi int // values from lo to hi-1 remain
}

// open is a ledger nothing was asked of. The smallest part that may be cut off is found by the comparison that production makes.
func (w weighted) open(bits float64) thresholds {
	all := w.at[len(w.at)-1]
	least := 1 + sort.Search(all, func(i int) bool { return !(math.Log2(float64(all)/float64(i+1)) > bits) })
	return thresholds{w, least, 0, len(w.at) - 1}
}

func (t *thresholds) mass(lo, hi int) int { return t.at[hi] - t.at[lo] }

// ask answers whether f ≤ m, where the budget admits the question.
func (t *thresholds) ask(f, m int) (holds, admitted bool) {
	edge := min(max(m+1, t.lo), t.hi)
	yes, no := t.mass(t.lo, edge), t.mass(edge, t.hi)
	if yes > 0 && no > 0 && min(yes, no) < t.least {
		return false, false
	}
	if f <= m {
		t.hi = edge
	} else {
		t.lo = edge
	}
	return f <= m, true
}

// bisect asks the admissible split nearest to equal mass until there is none.
func (t *thresholds) bisect(f int) {
	for {
		total, best, least := t.mass(t.lo, t.hi), 0, math.MaxInt
		for edge := t.lo + 1; edge < t.hi; edge++ {
			yes := t.mass(t.lo, edge)
			if apart := max(2*yes-total, total-2*yes); apart < least && min(yes, total-yes) >= t.least {
				best, least = edge, apart
			}
		}
		if best == 0 {
			return
		}
		t.ask(f, best-1)
	}
}
