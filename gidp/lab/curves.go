package lab

import (
	"fmt"
	"math"

	"sayso/gidp"
	"sayso/gidp/wire"
)

func curveExperiments() []Experiment {
	return []Experiment{{
		ID: "curves", About: "leakage against the share of honest questions that are answered, by mechanism",
		Assumes: "Domain 1000; questions f ≤ m, unaligned, as the model of the figure draws them. x is the worst case for any number of questions, sessions " +
			"and identities. Equal mass: K = 2^bits cells, production answers, exact sums. Budget: the arithmetic of the production ledger, where values " +
			"count by their mass; first asker and second to tenth over 4,000 streams, drained by a bisecting adversary over 1,500. Lattice: only questions " +
			"on an edge of the same cells are answered, and the asker does not round.",
		Formula: "Independent questions: the prior's shape at 1.1 times its scale, what lies beyond the domain at its last value, smoothed over three " +
			"neighbours. round25: those at multiples of 25. Near: x·exp(N(.05,.15)), drawn again beyond the domain, with x = f+1.",
		Shows: "Quantised beats the lattice: the same leakage, more answers, no rounding. Against the budget it is at least as good from the second asker " +
			"on and under attack, at the bits that are quoted, and never depletes.",
		Refuses: "That quantised is best for everybody: it loses to the first asker when questions are close to the value (.19 against .50 at 2 bits).",
		run:     curves,
	}, {
		ID: "pairs", About: "what aligned claims in both directions qualify, against what is feasible",
		Assumes: "Domain 1000; a floor f from the prior, a ceiling c from the question model; the deal is feasible when f ≤ c. Each side asks the edges of " +
			"its own cell, rounded outward; conservative asks inward.",
		Formula: "Qualified iff cell(f) ≤ cell(c), by the production answer to the claim that production proposes. Exact sums. Borderline: the cells are " +
			"the same. The shares of the feasible among the borderline are those of independent and near questions; at multiples of 25 they fall to .41.",
		Shows: "Recall 1, and the precision of a truthful responder to the same claims, at log2 K instead of log2 N bits. A definite yes is feasible.",
		Refuses: "Recall and precision of the price as if they were those of a session. If discovery has already matched scale, two or three bits of price " +
			"say little.",
		run: pairs,
	}}
}

// bitsOfCurves are the leakages at which the curves are measured, with their number of equal cells.
var bitsOfCurves = []struct {
	bits  float64
	cells int
}{{1, 2}, {1.585, 3}, {2, 4}, {2.322, 5}, {3, 8}, {4, 16}, {5, 32}}

// curvePoint is what one prior and question model gives at one leakage.
type curvePoint struct{ mass, first, later, drained, lattice float64 }

func curves(b *bench) {
	b.columns("prior", "questions", "bits", "equal mass", "budget first", "budget second to tenth", "budget drained", "lattice",
		"equal width", "equal width worst bits")
	want := map[string][2]curveWant{
		"uniform independent": {{".759", ".495", ".580", ".763", ".003"}, {".880", ".728", ".772", ".878", ".007"}},
		"price independent":   {{".753", ".495", ".575", ".515", ".011"}, {".878", ".740", ".770", ".761", ".021"}},
		"price round25":       {{".751", ".516", ".627", ".516", "0"}, {".875", ".757", ".805", ".755", "0"}},
		"salary independent":  {{".753", ".479", ".568", ".523", ".012"}, {".878", ".722", ".770", ".805", ".024"}},
		"price near":          {{".192", ".501", ".195", ".083", ".010"}, {".387", ".747", ".339", ".197", ".023"}},
		"uniform near":        {{".190", ".503", ".193", ".193", ".003"}, {".393", ".762", ".342", ".421", ".007"}},
		"salary near":         {{".382", ".463", ".290", ".163", ".011"}, {".609", ".703", ".505", ".476", ".023"}},
	}
	r := b.Seeds(11, 4)
	for _, p := range priors() {
		owners, held := weigh(p.mass, finely), cumulative(p.mass)
		var parts, flats []*gidp.Partition
		var byMass, byWidth []replies
		for _, at := range bitsOfCurves {
			flat := even(size, size/at.cells)
			flat.Edges = flat.Edges[:at.cells-1] // the last cell takes what is left
			parts, flats = append(parts, p.equalMass(at.cells)), append(flats, flat)
		}
		for i := range parts {
			byMass, byWidth = append(byMass, quantised(parts[i])), append(byWidth, quantised(flats[i]))
		}
		for _, kind := range []string{independent, round25, near} {
			q := p.asking(kind)
			figure := Figure{Name: p.name + "-" + kind, Title: figureTitle(p.name, kind),
				X: Axis{"worst-case leakage, bits", 0, 5.2}, Y: Axis{"share of honest unaligned claims answered", 0, 1}}
			figure.Series = make([]Series, 5)
			for i, name := range []string{"quantised, equal mass", "budget, first asker", "budget, askers 2 to 10", "budget, drained", "lattice, asker not rounding"} {
				figure.Series[i].Name = name
			}
			for n, at := range bitsOfCurves {
				var c curvePoint
				c.mass = p.answered(byMass[n], q)
				c.lattice = p.onEdges(parts[n], q)
				c.first, c.later, c.drained = b.budgets(r, owners, held, q, math.Log2(float64(at.cells)))
				b.row(p.name, kind, at.bits, c.mass, c.first, c.later, c.drained, c.lattice, p.answered(byWidth[n], q), p.worst(flats[n]))
				for i, y := range []float64{c.mass, c.first, c.later, c.drained, c.lattice} {
					figure.Series[i].X = append(figure.Series[i].X, at.bits)
					figure.Series[i].Y = append(figure.Series[i].Y, y)
				}
				if w, ok := want[p.name+" "+kind]; ok && (at.cells == 4 || at.cells == 8) {
					i := 0
					if at.cells == 8 {
						i = 1
					}
					c.accept(b, fmt.Sprintf("%s, %s, %g bits: ", p.name, kind, at.bits), w[i])
				}
			}
			b.result.Figures = append(b.result.Figures, figure)
		}
	}
	for _, c := range []struct {
		prior, want string
		cells       int
	}{{"price", "7.634", 5}, {"salary", "10.95", 5}, {"salary", "23.5", 16}} {
		p := priorOf(c.prior)
		flat := even(size, size/c.cells)
		flat.Edges = flat.Edges[:c.cells-1]
		b.accept("curves", fmt.Sprintf("%s, %d cells of equal width: worst bits", c.prior, c.cells), p.worst(flat), c.want, Exact)
	}
}

func figureTitle(prior, kind string) string {
	names := map[string]string{"uniform": "Uniform prior", "price": "Price prior, log-normal(150, .7)", "salary": "Salary prior, log-normal(300, .3)"}
	asks := map[string]string{independent: "independent questions", round25: "questions at multiples of 25", near: "questions near the value"}
	return names[prior] + "; " + asks[kind]
}

type curveWant [5]string

func (c curvePoint) accept(b *bench, name string, w curveWant) {
	for i, v := range []struct {
		what  string
		value float64
		class Class
	}{
		{"equal mass", c.mass, Exact}, {"budget, first asker", c.first, MonteCarlo}, {"budget, second to tenth", c.later, MonteCarlo},
		{"budget, drained", c.drained, Drained}, {"lattice", c.lattice, Exact},
	} {
		b.accept("curves", name+v.what, v.value, w[i], v.class)
	}
}

// answered is the exact share of questions that production answers from cells.
func (p prior) answered(r replies, q questions) float64 {
	share := 0.0
	for f, mass := range p.mass {
		inner := 0.0
		for m, w := range q.of[f] {
			if definite(r.answer(f, m)) {
				inner += w
			}
		}
		share += mass * inner
	}
	return share
}

// onEdges is the exact share of questions that fall on an inner edge.
func (p prior) onEdges(part *gidp.Partition, q questions) float64 {
	share := 0.0
	for f, mass := range p.mass {
		for _, e := range part.Edges {
			share += mass * q.of[f][e-1]
		}
	}
	return share
}

// drawer draws questions; models that share one distribution share its sums.
type drawer struct {
	q     questions
	shown map[*float64][]float64
}

func (d *drawer) draw(r Random, f int) int {
	first := &d.q.of[f][0]
	sums, ok := d.shown[first]
	if !ok {
		sums = cumulative(d.q.of[f])
		d.shown[first] = sums
	}
	return draw(r, sums)
}

// budgets is how a ledger of some bits serves the first asker, those from the second to the tenth, and the one after a bisecting adversary.
func (b *bench) budgets(r Random, owners weighted, held []float64, q questions, bits float64) (first, later, drained float64) {
	d := drawer{q, map[*float64][]float64{}}
	fresh := owners.open(bits)
	streams, attacks := b.samples(4000), b.samples(1500)
	for range streams {
		f := draw(r, held)
		t := fresh
		for i := range 10 {
			if _, admitted := t.ask(f, d.draw(r, f)); !admitted {
				continue
			}
			if i == 0 {
				first++
			} else {
				later++
			}
		}
	}
	for range attacks {
		f := draw(r, held)
		t := fresh
		t.bisect(f)
		if _, admitted := t.ask(f, d.draw(r, f)); admitted {
			drained++
		}
	}
	return first / float64(streams), later / float64(9*streams), drained / float64(attacks)
}

func pairs(b *bench) {
	b.columns("prior", "questions", "cells", "base", "precision", "truthful precision", "recall", "conservative recall", "borderline",
		"feasible when borderline", "feasible when definite")
	precisionUniform := []string{".694", ".820", ".851", ".901", ".949", ".974"}
	conservative := []string{".500", ".749", ".799", ".874", ".937", ".968"}
	precisionNear := []string{".654", ".678", ".690", ".724", ".794", ".865"}
	borderline := []string{".949", ".863", ".822", ".708", ".511", ".333"}
	var recalls, same, definites, low, high = 0, 0, 0, 1.0, 0.0
	kinds := []string{independent, round25, near}
	for _, p := range priors() {
		models := map[string]questions{}
		for _, kind := range kinds {
			models[kind] = p.asking(kind)
		}
		for i, k := range []int{2, 4, 5, 8, 16, 32} {
			a := aligned(p.equalMass(k))
			for _, kind := range kinds {
				if kind == round25 && p.name != "price" {
					continue
				}
				m := p.match(a, models[kind])
				b.row(p.name, kind, k, m.base, m.precision, m.truthful, m.recall, m.conservative, m.borderline, m.coin, m.certain)
				name := fmt.Sprintf("%s, %s, K=%d: ", p.name, kind, k)
				switch p.name + " " + kind {
				case "uniform independent":
					b.accept("pairs", name+"precision", m.precision, precisionUniform[i], Exact)
					b.accept("pairs", name+"conservative recall", m.conservative, conservative[i], Exact)
				case "price near":
					b.accept("pairs", name+"precision", m.precision, precisionNear[i], Exact)
					b.accept("pairs", name+"borderline share of qualified", m.borderline, borderline[i], Exact)
				}
				if i == 0 && p.name+" "+kind == "uniform independent" {
					b.accept("pairs", "uniform, independent: base", m.base, ".531", Exact)
				}
				if i == 0 && p.name+" "+kind == "price near" {
					b.accept("pairs", "price, near: base", m.base, ".640", Exact)
				}
				if math.Abs(m.recall-1) < 1e-9 {
					recalls++
				}
				if math.Abs(m.precision-m.truthful) < 1e-9 {
					same++
				}
				if math.Abs(m.certain-1) < 1e-9 {
					definites++
				}
				if kind != round25 {
					low, high = min(low, m.coin), max(high, m.coin)
				}
			}
		}
	}
	b.accept("pairs", "rows with recall 1", float64(recalls), "42", Exact)
	b.accept("pairs", "rows whose precision is that of a truthful responder", float64(same), "42", Exact)
	b.accept("pairs", "rows whose definite yes is always feasible", float64(definites), "42", Exact)
	b.between("pairs", "least share of the feasible among the borderline", low, .51, .64, Exact)
	b.between("pairs", "greatest share of the feasible among the borderline", high, .51, .64, Exact)
}

// matching is what qualifies when both sides ask aligned claims.
type matching struct {
	base, precision, truthful, recall, conservative, borderline, coin, certain float64
}

// answers is what production says to aligned claims, by the cells of the floor and the ceiling: the ceiling's holder sends the claim that its cell proposes
// ([gidp.Cells.Asks]), the floor's holder answers it from its own cell, and the same the other way round.
type answers struct {
	cell            []int // of each value
	qualifies, soft [][]bool
	truthful        [][]bool // the exact floor against the edge asked, by the ceiling's cell and the floor
}

func aligned(part *gidp.Partition) answers {
	k := part.Cells()
	out := answers{make([]int, size), make([][]bool, k), make([][]bool, k), make([][]bool, k)}
	for v := range out.cell {
		out.cell[v], _ = part.Cell(int64(v))
	}
	yes := func(r wire.Result) bool { return r == wire.Compatible || r == wire.Conditionally }
	for i := range k {
		out.qualifies[i], out.soft[i] = make([]bool, k), make([]bool, k)
		floor := gidp.Cells{Partition: part, Shape: gidp.Floor, Low: i}
		for j := range k {
			ceiling := gidp.Cells{Partition: part, Shape: gidp.Ceiling, High: j}
			there := evaluate(floor, wire.OpOverlaps, string(ceiling.Asks()))
			back := evaluate(ceiling, wire.OpOverlaps, string(floor.Asks()))
			out.qualifies[i][j] = yes(there) && yes(back)
			out.soft[i][j] = there == wire.Conditionally || back == wire.Conditionally
		}
	}
	asks := make([]wire.Claim, k)
	for j := range k {
		out.truthful[j] = make([]bool, size)
		asks[j] = claim(wire.OpOverlaps, string(gidp.Cells{Partition: part, Shape: gidp.Ceiling, High: j}.Asks()))
	}
	for f := range size {
		for j, a := range evaluateAll(openValue(atLeast(f)), asks) {
			out.truthful[j][f] = a.Result == wire.Compatible
		}
	}
	return out
}

// match sums over all pairs of a floor and a ceiling.
func (p prior) match(a answers, q questions) matching {
	var feasible, qualified, both, strict, border, borderFeasible, honest, honestFeasible float64
	for f, mass := range p.mass {
		for c, w := range q.of[f] {
			w *= mass
			ok := f <= c
			i, j := a.cell[f], a.cell[c]
			if ok {
				feasible += w
			}
			if a.truthful[j][f] {
				honest += w
				if ok {
					honestFeasible += w
				}
			}
			if !a.qualifies[i][j] {
				continue
			}
			qualified += w
			if ok {
				both += w
			}
			switch {
			case a.soft[i][j]:
				border += w
				if ok {
					borderFeasible += w
				}
			case ok:
				strict += w
			}
		}
	}
	return matching{
		base: feasible, precision: both / qualified, truthful: honestFeasible / honest, recall: both / feasible, conservative: strict / feasible,
		borderline: border / qualified, coin: borderFeasible / border, certain: strict / (qualified - border),
	}
}
