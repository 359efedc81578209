package lab

import (
	"fmt"
	"math"
	"slices"

	"sayso/gidp"
)

func partitionExperiments() []Experiment {
	return []Experiment{{
		ID: "redrawn", About: "what a partition tells that is drawn anew with each version",
		Assumes: "A value in 0..1000 in steps of .001, uniform; K=5 cells of width 200 at a fresh random offset for each version. 4,000 draws of a value " +
			"and 50 offsets, read after each number of versions.",
		Formula: "log2(1000 / the width that lies in the value's cell of every version). The law is log2(K(v+1)/2).",
		Shows:   "A partition that moves tells more with every version; one that stays tells log2 K for ever.",
		Refuses: "That a random offset hides an edge.",
		run:     redrawn,
	}, {
		ID: "offset", About: "what the end fragments of a randomly offset partition tell",
		Assumes: "1,000 values, uniform; cells of width 200. Mean over 2,000 random offsets, the most over all of them. Merged: a fragment narrower than " +
			"100 joins its neighbour.",
		Formula: "log2(1000 / width of the cell), mean over values.",
		Shows:   "A fragment of one value tells everything: 9.97 bits against 2.32 aligned.",
		Refuses: "That secrecy of the edges helps.",
		run:     offset,
	}, {
		ID: "crossings", About: "what a watcher knows of a moving value from cells alone",
		Assumes: "1,000 values, K=5; the value starts at 500 and moves by a whole number in −d..d in each of 1,500 periods, reflected at the ends. The " +
			"watcher sees the cell in every period and filters by Bayes.",
		Formula: "Perplexity 2^H of the posterior after each period; median and minimum over the path. The rate law at r=2 is 2d/3.",
		Shows:   "Inside a cell the value stays hidden among about .87 of it; a crossing shows where it is, to about the step.",
		Refuses: "That log2 K bounds what is known of a moving value at one moment: it bounds each version.",
		run:     crossings,
	}, {
		ID: "exact", About: "exact comparisons against the quantiser",
		Assumes: "1,000 values, uniform; n comparisons by a bisecting querent; K=5 cells; one comparison inside the cell afterwards.",
		Formula: "Mean of log2(1000 / what remains).",
		Shows:   "One exact comparison after the quantiser costs one bit more.",
		Refuses: "That exact comparisons are bounded by anything but their number.",
		run:     exactly,
	}, {
		ID: "snapped", About: "cells snapped to where questions fall, and cells that a dynamic programme chooses",
		Assumes: "Price prior; independent questions moved to multiples of 25. Snapped: each edge of equal mass goes to the nearest multiple of 25. " +
			"Programme: the cells that leave least unanswered, none lighter than .93 of 2^-bits.",
		Formula: "Exact share of the questions answered; worst bits −log2 of the lightest cell.",
		Shows:   "Edges where people ask answer more, for a worst case that has to be computed and stated.",
		Refuses: "That snapped cells still tell log2 K.",
		run:     snapped,
	}, {
		ID: "demand", About: "a quantiser whose cells are cut where the first askers ask",
		Assumes: "Domain 1000; 4,000 streams. A question cuts the cell it falls into at the admissible edge nearest to it, both parts keeping a mass of " +
			"2^-bits; then cells answer.",
		Formula: "Share answered of the first, the second to tenth and the fiftieth asker.",
		Shows:   "It serves the first asker better. Its cells depend on who asked first, and can be steered.",
		Refuses: "Use: it is a comparison and no recommendation.",
		run:     demand,
	}}
}

// shifted is the partition of 0..999 into cells of width 200 whose first inner edge lies at offset, or at 200 for 0.
func shifted(offset int) *gidp.Partition { return shiftedIn(1, offset) }

// shiftedIn is the same in finer steps: the domain, the width and the offset count parts of a unit.
func shiftedIn(parts, offset int) *gidp.Partition {
	p := &gidp.Partition{ID: "shifted", Max: int64(size*parts - 1)}
	for e := offset; e < size*parts; e += 200 * parts {
		if e > 0 {
			p.Edges = append(p.Edges, int64(e))
		}
	}
	return p
}

func redrawn(b *bench) {
	b.columns("versions", "bits", "law")
	r := b.Seeds(1, 9)
	versions := []int{1, 2, 3, 5, 10, 20, 50}
	want := []string{"2.464", "3.147", "3.56", "4.205", "5.145", "6.116", "7.402"}
	n := b.samples(4000)
	const parts = 1000
	sums := make([]float64, versions[len(versions)-1]+1)
	for range n {
		value, lo, hi := int64(r.IntN(size*parts)), int64(0), int64(size*parts-1)
		for v := 1; v < len(sums); v++ {
			p := shiftedIn(parts, r.IntN(200*parts))
			cell, _ := p.Cell(value)
			from, to := p.Bounds(cell)
			lo, hi = max(lo, from), min(hi, to)
			sums[v] += math.Log2(size * parts / float64(hi-lo+1))
		}
	}
	var measured, law Series
	measured.Name, law.Name = "measured", "log2(K(v+1)/2)"
	for i, v := range versions {
		bits, expected := sums[v]/float64(n), math.Log2(5*float64(v+1)/2)
		b.row(v, bits, expected)
		b.accept("redrawn", fmt.Sprintf("%d versions: bits", v), bits, want[i], Redrawn)
		measured.X, measured.Y = append(measured.X, float64(v)), append(measured.Y, bits)
		law.X, law.Y = append(law.X, float64(v)), append(law.Y, expected)
	}
	fixed := shifted(0).Bits()
	b.row("fixed", fixed, math.Log2(5))
	b.accept("redrawn", "fixed: bits", fixed, "2.322", Exact)
	still := Series{"fixed partition", []float64{1, 50}, []float64{fixed, fixed}}
	b.result.Figures = []Figure{{
		Title: "A partition redrawn with each version, uniform prior, K=5", X: Axis{"versions", 0, 51},
		Y: Axis{"leakage, bits", 0, 10}, Series: []Series{measured, law, still},
	}}
}

// cellBits is the mean and the most that the cells of a partition tell under a uniform prior.
func cellBits(p *gidp.Partition) (mean, most float64) {
	n := float64(p.Max + 1)
	for cell := range p.Cells() {
		lo, hi := p.Bounds(cell)
		width := float64(hi - lo + 1)
		mean += width / n * math.Log2(n/width)
		most = max(most, math.Log2(n/width))
	}
	return mean, most
}

func offset(b *bench) {
	b.columns("partition", "mean bits", "most bits")
	r := b.Seeds(1, 9)
	mean, most := cellBits(shifted(0))
	b.row("aligned", mean, most)
	b.accept("offset", "aligned: bits", most, "2.322", Exact)
	merged := func(offset int) *gidp.Partition {
		p := shifted(offset)
		if offset > 0 && offset < 100 {
			p.Edges = p.Edges[1:]
		}
		if offset >= 100 {
			p.Edges = p.Edges[:len(p.Edges)-1]
		}
		return p
	}
	n := b.samples(2000)
	offsets := make([]int, n)
	for i := range offsets {
		offsets[i] = r.IntN(200)
	}
	for _, c := range []struct {
		name, mean, most string
		make             func(int) *gidp.Partition
	}{{"random offset", "2.468", "9.966", shifted}, {"fragments merged", "2.299", "3.322", merged}} {
		sum, most := 0.0, 0.0
		for _, o := range offsets {
			mean, _ := cellBits(c.make(o))
			sum += mean
		}
		for o := range 200 {
			_, worst := cellBits(c.make(o))
			most = max(most, worst)
		}
		b.row(c.name, sum/float64(n), most)
		b.accept("offset", c.name+": mean bits", sum/float64(n), c.mean, MonteCarlo)
		b.accept("offset", c.name+": most bits", most, c.most, Exact)
	}
}

func crossings(b *bench) {
	b.columns("d", "median perplexity", "least perplexity", "rate law at r=2")
	for _, c := range []struct {
		d           int
		median, min string
	}{{1, "187", "182"}, {4, "175", "175"}, {16, "168", "12.4"}, {64, "191", "42.4"}} {
		path := watched(b.Seeds(1, 9), c.d, 1500)
		slices.Sort(path)
		median := path[len(path)/2]
		b.row(c.d, median, path[0], 2*float64(c.d)/3)
		b.accept("crossings", fmt.Sprintf("d=%d: median perplexity", c.d), median, c.median, Tenth)
		b.accept("crossings", fmt.Sprintf("d=%d: least perplexity", c.d), path[0], c.min, Tenth)
	}
}

// watched is the perplexity of the watcher's posterior after each period.
func watched(r Random, d, periods int) []float64 {
	part, value := shifted(0), size/2
	reflect := func(x int) int {
		if x < 0 {
			x = -x - 1
		}
		if x >= size {
			x = 2*size - 1 - x
		}
		return x
	}
	belief, next := make([]float64, size), make([]float64, size)
	for i := range belief {
		belief[i] = 1. / size
	}
	see := func() {
		cell, _ := part.Cell(int64(value))
		lo, hi := part.Bounds(cell)
		clear(belief[:lo])
		clear(belief[hi+1:])
		normalised(belief)
	}
	see()
	out := make([]float64, 0, periods)
	for range periods {
		value = reflect(value + r.IntN(2*d+1) - d)
		clear(next)
		for i, w := range belief {
			if w == 0 {
				continue
			}
			w /= float64(2*d + 1)
			for to := i - d; to <= i+d; to++ {
				next[reflect(to)] += w
			}
		}
		belief, next = next, belief
		see()
		out = append(out, math.Exp2(entropy(belief)))
	}
	return out
}

// compared is the mean leak in bits after n comparisons by bisection of a domain.
func compared(domain, n int) float64 {
	if n == 0 || domain == 1 {
		return 0
	}
	a := float64(domain/2) / float64(domain)
	return a*(compared(domain/2, n-1)-math.Log2(a)) + (1-a)*(compared(domain-domain/2, n-1)-math.Log2(1-a))
}

func exactly(b *bench) {
	b.columns("mechanism", "comparisons", "bits")
	for _, c := range []struct {
		n    int
		want string
	}{{1, "1.000"}, {2, "2.000"}, {3, "3.000"}, {4, "4.000"}, {5, "5.000"}, {8, "7.996"}, {10, "9.966"}} {
		bits := compared(size, c.n)
		b.row("exact comparisons", c.n, bits)
		b.accept("exact", fmt.Sprintf("%d comparisons: bits", c.n), bits, c.want, Exact)
	}
	k := shifted(0).Bits()
	b.row("quantiser, K=5", 0, k)
	b.row("quantiser, then in the cell", 1, k+compared(200, 1))
	b.accept("exact", "quantiser: bits", k, "2.322", Exact)
	b.accept("exact", "quantiser, then one comparison in the cell: bits", k+compared(200, 1), "3.322", Exact)
}

func snapped(b *bench) {
	b.columns("cells", "bits", "answered", "worst bits")
	p := priorOf("price")
	q := p.asking(round25)
	for _, c := range []struct {
		k                                              int
		before, share, worst, chosenShare, chosenWorst string
	}{{4, ".751", ".812", "2.198", ".780", "2.103"}, {8, ".875", ".936", "3.531", ".909", "3.057"}} {
		bits := math.Log2(float64(c.k))
		mass := p.equalMass(c.k)
		snap := &gidp.Partition{ID: "snapped", Max: size - 1}
		for _, e := range mass.Edges {
			snap.Edges = append(snap.Edges, (e-1+12)/25*25+1) // the last value of the cell before is the multiple
		}
		chosen := p.programme(q.of[0], .93/float64(c.k))
		for _, v := range []struct {
			name, share, worst string
			part               *gidp.Partition
		}{{"equal mass", c.before, "", mass}, {"snapped", c.share, c.worst, snap}, {"programme", c.chosenShare, c.chosenWorst, chosen}} {
			share, worst := p.answered(quantised(v.part), q), p.worst(v.part)
			b.row(v.name, bits, share, worst)
			b.accept("snapped", fmt.Sprintf("%s, %g bits: answered", v.name, bits), share, v.share, Exact)
			if v.worst != "" {
				b.accept("snapped", fmt.Sprintf("%s, %g bits: worst bits", v.name, bits), worst, v.worst, Exact)
			}
		}
	}
}

// programme is the partition that leaves least of the questions unanswered, with no cell of less than a mass.
func (p prior) programme(q []float64, least float64) *gidp.Partition {
	mass, asks := append([]float64{0}, cumulative(p.mass)...), append([]float64{0}, cumulative(q)...)
	cost, from := make([]float64, size+1), make([]int, size+1)
	for hi := 1; hi <= size; hi++ {
		cost[hi] = math.Inf(1)
		for lo := range hi {
			m := mass[hi] - mass[lo]
			if m < least || math.IsInf(cost[lo], 1) {
				continue
			}
			// A question on the last value of a cell is answered.
			if c := cost[lo] + m*(asks[hi-1]-asks[lo]); c < cost[hi]-1e-15 {
				cost[hi], from[hi] = c, lo
			}
		}
	}
	out := &gidp.Partition{ID: "programme", Max: size - 1}
	for at := from[size]; at > 0; at = from[at] {
		out.Edges = append(out.Edges, int64(at))
	}
	slices.Reverse(out.Edges)
	return out
}

func demand(b *bench) {
	b.columns("prior", "questions", "bits", "first", "second to tenth", "fiftieth")
	r := b.Seeds(11, 4)
	for _, c := range []struct {
		prior, kind        string
		bits               float64
		first, later, last string
	}{
		{"uniform", independent, 2, ".883", ".706", ".691"}, {"uniform", independent, 3, ".968", ".882", ".843"},
		{"price", near, 2, ".546", ".203", ""}, {"price", near, 3, ".786", ".368", ""},
	} {
		p := priorOf(c.prior)
		held, d := cumulative(p.mass), drawer{p.asking(c.kind), map[*float64][]float64{}}
		sums := append([]float64{0}, held...)
		least := math.Exp2(-c.bits) - 1e-12
		var answered [51]int
		n := b.samples(4000)
		for range n {
			f, edges := draw(r, held), []int{0, size}
			for i := 1; i < len(answered); i++ {
				e := d.draw(r, f) + 1
				edges = cutNear(edges, sums, e, least)
				at, _ := slices.BinarySearch(edges, f+1)
				if e <= edges[at-1] || e >= edges[at] {
					answered[i]++
				}
			}
		}
		share := func(from, to int) float64 {
			sum := 0
			for _, a := range answered[from : to+1] {
				sum += a
			}
			return float64(sum) / float64(n*(to-from+1))
		}
		b.row(c.prior, c.kind, c.bits, share(1, 1), share(2, 10), share(50, 50))
		name := fmt.Sprintf("%s, %s, %g bits: ", c.prior, c.kind, c.bits)
		b.accept("demand", name+"first", share(1, 1), c.first, MonteCarlo)
		b.accept("demand", name+"second to tenth", share(2, 10), c.later, MonteCarlo)
		if c.last != "" {
			b.accept("demand", name+"fiftieth", share(50, 50), c.last, MonteCarlo)
		}
	}
}

// cutNear cuts the cell around an edge at the admissible edge nearest to it, where there is one.
func cutNear(edges []int, sums []float64, e int, least float64) []int {
	at, on := slices.BinarySearch(edges, e)
	if on || at == 0 || at == len(edges) {
		return edges
	}
	lo, hi := edges[at-1], edges[at]
	from, to := lo+1, hi-1 // the span of admissible edges
	for from < hi && sums[from]-sums[lo] < least {
		from++
	}
	for to > lo && sums[hi]-sums[to] < least {
		to--
	}
	if from > to {
		return edges
	}
	return slices.Insert(edges, at, min(max(e, from), to))
}
