package lab

import (
	"fmt"
	"math"
	"sort"

	"sayso/gidp"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// size is the number of values of the domain of the curves.
const size = 1000

// prior is what is believed about a value before anything is asked: mass by value, summing to 1.
type prior struct {
	name string
	mass []float64
}

// priors are the three of the curves. The value i stands for the amount x = i+1.
func priors() []prior {
	flat := func(int) float64 { return 1 }
	logNormal := func(median, sigma float64) func(int) float64 {
		return func(i int) float64 {
			x := float64(i + 1)
			z := math.Log(x/median) / sigma
			return math.Exp(-z*z/2) / x
		}
	}
	var out []prior
	for _, p := range []struct {
		name    string
		density func(int) float64
	}{{"uniform", flat}, {"price", logNormal(150, .7)}, {"salary", logNormal(300, .3)}} {
		mass := make([]float64, size)
		for i := range mass {
			mass[i] = p.density(i)
		}
		out = append(out, prior{p.name, normalised(mass)})
	}
	return out
}

func priorOf(name string) prior {
	for _, p := range priors() {
		if p.name == name {
			return p
		}
	}
	return prior{}
}

func normalised(mass []float64) []float64 {
	sum := 0.0
	for _, m := range mass {
		sum += m
	}
	for i := range mass {
		mass[i] /= sum
	}
	return mass
}

// questions are the claims f ≤ m that honest parties make: for each value of the secret the mass of each m. Models that do not depend on it share one slice.
type questions struct {
	name string
	of   [][]float64
}

// The question models.
const (
	independent = "independent"
	round25     = "round25"
	near        = "near"
)

// asking is a question model under a prior.
//
// independent is the shape of the prior at 1.1 times the scale, what lies beyond the domain at its last value, smoothed over three neighbours. round25 moves it to
// multiples of 25. near is x·exp(N(.05,.15)) for a secret x, drawn again when it lies beyond the domain.
func (p prior) asking(name string) questions {
	shared := func(q []float64) questions {
		out := questions{name, make([][]float64, size)}
		for f := range out.of {
			out.of[f] = q
		}
		return out
	}
	switch name {
	case near:
		out := questions{name, make([][]float64, size)}
		for f := range out.of {
			out.of[f] = around(float64(f + 1))
		}
		return out
	case round25:
		rounded := make([]float64, size)
		for m, w := range p.scaled() {
			rounded[min((m+12)/25*25, size-1)] += w
		}
		return shared(rounded)
	}
	return shared(p.scaled())
}

func (p prior) scaled() []float64 {
	at := make([]float64, size)
	for i, w := range p.mass {
		at[min(i*11/10, size-1)] += w
	}
	out := make([]float64, size)
	for i, w := range at {
		for j := max(i-1, 0); j <= min(i+1, size-1); j++ {
			out[j] += w / 3
		}
	}
	return normalised(out)
}

// around is the distribution of a question near the amount x.
func around(x float64) []float64 {
	below := func(y float64) float64 { return math.Erfc(-(math.Log(y/x)-.05)/.15/math.Sqrt2) / 2 }
	out := make([]float64, size)
	before := 0.0
	for m := range out {
		upTo := below(float64(m) + 1.5)
		out[m], before = upTo-before, upTo
	}
	return normalised(out)
}

// cumulative sums masses from the left, for drawing.
func cumulative(mass []float64) []float64 {
	out := make([]float64, len(mass))
	sum := 0.0
	for i, m := range mass {
		sum += m
		out[i] = sum
	}
	return out
}

func draw(r Random, cumulative []float64) int {
	at := r.Float64() * cumulative[len(cumulative)-1]
	return min(sort.Search(len(cumulative), func(i int) bool { return cumulative[i] > at }), len(cumulative)-1)
}

// even is a partition of 0..n-1 into cells of width w; the last may be narrower.
func even(n, w int) *gidp.Partition {
	p := &gidp.Partition{ID: "even", Max: int64(n - 1)}
	for e := w; e < n; e += w {
		p.Edges = append(p.Edges, int64(e))
	}
	return p
}

// equalMass is the partition into k cells of equal mass: a cell ends with the value that brings the mass so far to its share.
func (p prior) equalMass(k int) *gidp.Partition {
	out := &gidp.Partition{ID: "mass", Max: size - 1}
	sum, next := 0.0, 1
	for i, m := range p.mass[:size-1] {
		if sum += m; next < k && sum >= float64(next)/float64(k)-1e-12 {
			out.Edges = append(out.Edges, int64(i+1))
			next++
		}
	}
	return out
}

// cellMasses are the masses of the cells of a partition.
func (p prior) cellMasses(part *gidp.Partition) []float64 {
	out := make([]float64, part.Cells())
	for i, m := range p.mass {
		cell, _ := part.Cell(int64(i))
		out[cell] += m
	}
	return out
}

// worst is the most that a definite cell tells, in bits.
func (p prior) worst(part *gidp.Partition) float64 {
	worst := 0.0
	for _, m := range p.cellMasses(part) {
		worst = max(worst, -math.Log2(m))
	}
	return worst
}

// evaluate is the production answer of a holding to one claim.
func evaluate(h gidp.Holding, op wire.Operator, value string) wire.Result {
	return evaluateAll(h, []wire.Claim{claim(op, value)})[0].Result
}

func claim(op wire.Operator, value string) wire.Claim {
	return wire.Claim{ID: "c", Key: "k", Operator: op, Value: jcs.Raw(value)}
}

// evaluateAll is the production answer to several claims, each for itself.
func evaluateAll(h gidp.Holding, claims []wire.Claim) []gidp.Answer {
	v := gidp.View{Authority: gidp.Authority{gidp.Probe: gidp.Yes}, Attributes: map[string]gidp.Attribute{"k": {Holding: h, Held: true}}}
	out, _ := gidp.Evaluate(v, nil, gidp.Query{Claims: claims, Allowed: wire.AllResults()})
	return out
}

// openValue is an open value; the texts are this package's own.
func openValue(text string) gidp.Open {
	v, _ := gidp.ParseValue(jcs.Raw(text))
	return gidp.Open{Value: v}
}

// atMost and atLeast are the two one-sided claims.
func atMost(m int) string  { return fmt.Sprintf(`{"max":%d}`, m) }
func atLeast(m int) string { return fmt.Sprintf(`{"min":%d}`, m) }

// definite reports an answer that says something about the value.
func definite(r wire.Result) bool {
	return r == wire.Compatible || r == wire.Conditionally || r == wire.Incompatible
}

// replies holds the production answers of a quantised floor {min: f} to every claim f ≤ m, by cell and m.
type replies struct {
	cell []int // of each value
	of   [][]wire.Result
}

// quantised asks the production evaluator everything once.
func quantised(part *gidp.Partition) replies {
	n := int(part.Max) + 1
	out := replies{make([]int, n), make([][]wire.Result, part.Cells())}
	claims := make([]wire.Claim, n)
	for f := range out.cell {
		out.cell[f], _ = part.Cell(int64(f))
		claims[f] = claim(wire.OpOverlaps, atMost(f))
	}
	for cell := range out.of {
		for _, a := range evaluateAll(gidp.Cells{Partition: part, Shape: gidp.Floor, Low: cell}, claims) {
			out.of[cell] = append(out.of[cell], a.Result)
		}
	}
	return out
}

func (r replies) answer(f, m int) wire.Result { return r.of[r.cell[f]][m] }
