package lab

import (
	"fmt"
	"math"

	"sayso/gidp"
)

// floor45 is the index of the reference's private floor of 45M in a domain of steps of 5M.
const floor45 = 9

func referenceExperiments() []Experiment {
	return []Experiment{{
		ID: "reference41", Claims: []string{"A8"}, About: "the published budget figures, and how far they depend on floor and population",
		Assumes: "Floor v in 0..200M in steps of 5M, uniform, 45M where nothing else is said. 40 honest counterparties each ask {min: 0, max: c} once, c in " +
			"a fixed list. The adversary bisects with {t, t}, t the lower median of what remains. On a lattice of width w both snap down " +
			"to multiples of w; in cells of width w both ask {max: t+w−1}, t snapped down. Adversary and honest parties each find a fresh ledger. " +
			"Populations draw c from 40M..200M.",
		Formula: "v ≤ b decides a claim {min: a, max: b}. Leak: log2(41 / what remains). Refusals by gidp.Row.Reserve. The least and the most of 50 " +
			"populations are extremes of a sample: over sixty seeds the most lay between 24 and 33.",
		Shows:   "The published figures hold for one floor and one population; over floors and populations the same rule refuses 1 to 31 of 40.",
		Refuses: "Refuses one in eight, without floor, population and seed.",
		run:     reference,
	}}
}

// ceilings are the honest claims, in M.
var ceilings = []int{120, 150, 45, 185, 115, 55, 90, 75, 155, 190, 115, 160, 70, 115, 40, 105, 170, 125, 95,
	160, 90, 60, 80, 180, 80, 80, 40, 40, 105, 105, 90, 90, 130, 140, 100, 105, 95, 100, 160, 135}

// responder is one policy over the domain 41: a ledger, a number of claims, and how both sides snap what they ask.
type responder struct {
	bits   float64 // of the budget; 6 is none, since the domain has 5.36
	claims int     // answered at most; 0 is any number
	width  int     // of lattice or cells, in M; 0 is none
	cells  bool
}

const unlimited = 6

// ask is what a side that would ask for max: t asks under the policy.
func (p responder) ask(t int) int {
	if p.width == 0 {
		return t
	}
	t -= t % p.width
	if p.cells {
		t += p.width - 1
	}
	return t
}

func (p responder) row() gidp.Row {
	row, _ := gidp.NewRow(gidp.Domain{Max: 200, Step: 5}, p.bits)
	return row
}

// probe is the adversary's leak in bits.
func (p responder) probe(floor int) float64 {
	row := p.row()
	for answered := 0; p.claims == 0 || answered < p.claims; answered++ {
		left := remaining(&row)
		m := p.ask(median(&row))
		_, admitted := put(&row, floor, func(v int64) bool { return v <= int64(m) })
		if !admitted || remaining(&row) == left {
			break
		}
	}
	return math.Log2(41 / float64(remaining(&row)))
}

// median is the lower median of what remains.
func median(row *gidp.Row) int {
	skip := (remaining(row) - 1) / 2
	for i := range row.Domain.Size() {
		if row.Remaining[i/64]>>(i%64)&1 == 1 {
			if skip == 0 {
				return int(row.Domain.Min) + i*int(row.Domain.Step)
			}
			skip--
		}
	}
	return int(row.Domain.Max)
}

// serve is how many of a population are answered.
func (p responder) serve(floor int, population []int) int {
	row, served := p.row(), 0
	for _, c := range population {
		m := p.ask(c)
		if p.claims > 0 && served == p.claims {
			break
		}
		if _, admitted := put(&row, floor, func(v int64) bool { return v <= int64(m) }); admitted {
			served++
		}
	}
	return served
}

func reference(b *bench) {
	b.columns("policy", "leak", "served of 40")
	for _, c := range []struct {
		name         string
		p            responder
		leak, served string
	}{
		{"none", responder{bits: unlimited}, "5.36", "40"},
		{"2 questions", responder{bits: unlimited, claims: 2}, "1.90", "2"},
		{"4 questions", responder{bits: unlimited, claims: 4}, "4.36", "4"},
		{"8 questions", responder{bits: unlimited, claims: 8}, "5.36", "8"},
		{"1 bit", responder{bits: 1}, "0", "0"},
		{"2 bits", responder{bits: 2}, ".97", "35"},
		{"3 bits", responder{bits: 3}, "1.90", "37"},
		{"4 bits", responder{bits: 4}, "3.04", "37"},
		{"lattice 10M", responder{bits: unlimited, width: 10}, "4.36", "40"},
		{"lattice 20M", responder{bits: unlimited, width: 20}, "3.36", "40"},
		{"lattice 40M", responder{bits: unlimited, width: 40}, "2.36", "40"},
		{"lattice 20M and 3 bits", responder{bits: 3, width: 20}, "1.77", "36"},
		{"cells 20M and 3 bits", responder{bits: 3, width: 20, cells: true}, "1.77", "40"},
		{"cells 20M and 2 bits", responder{bits: 2, width: 20, cells: true}, "1.77", "40"},
	} {
		leak, served := c.p.probe(5*floor45), c.p.serve(5*floor45, ceilings)
		b.row(c.name, leak, served)
		b.accept("A8", c.name+": leak", leak, c.leak, Exact)
		b.accept("A8", c.name+": served", float64(served), c.served, Exact)
	}

	two := responder{bits: 2}
	for _, span := range []struct {
		from, to int
		want     string
	}{{0, 55, "5"}, {60, 120, "22"}, {125, 200, "13"}} {
		fewest, most := len(ceilings), 0
		for floor := span.from; floor <= span.to; floor += 5 {
			refused := len(ceilings) - two.serve(floor, ceilings)
			fewest, most = min(fewest, refused), max(most, refused)
		}
		name := fmt.Sprintf("2 bits, floors %d-%dM", span.from, span.to)
		b.row(name, "", 40-most)
		b.accept("A8", name+": fewest refused", float64(fewest), span.want, Exact)
		b.accept("A8", name+": most refused", float64(most), span.want, Exact)
	}

	r := b.Seeds(1, 2)
	populations := make([][]int, b.samples(50))
	for i := range populations {
		for range ceilings {
			populations[i] = append(populations[i], 40+5*r.IntN(33))
		}
	}
	for _, c := range []struct {
		name, refused string
		p             responder
	}{
		{"2 bits", ".354", two}, {"cells 20M and 2 bits", ".302", responder{bits: 2, width: 20, cells: true}}, {"cells 20M and 3 bits", ".176", responder{bits: 3, width: 20, cells: true}},
		{"cells 20M and 3.46 bits", ".026", responder{bits: 3.46, width: 20, cells: true}}, {"cells 20M and 5.4 bits", "0", responder{bits: 5.4, width: 20, cells: true}},
	} {
		refused, fewest, most := 0, len(ceilings), 0
		for floor := 0; floor <= 200; floor += 5 {
			for _, population := range populations {
				n := len(population) - c.p.serve(floor, population)
				refused += n
				fewest, most = min(fewest, n), max(most, n)
			}
		}
		share := float64(refused) / float64(41*len(populations)*len(ceilings))
		b.row(c.name+", all floors, "+Cell(len(populations))+" populations, refused", "", share)
		b.accept("A8", c.name+", all floors and populations: share refused", share, c.refused, MonteCarlo)
		if c.name == "2 bits" {
			b.accept("A8", "2 bits, all floors and populations: fewest refused of 40", float64(fewest), "1", Extreme)
			b.accept("A8", "2 bits, all floors and populations: most refused of 40", float64(most), "31", Extreme)
		}
	}
}
