package profile

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"sayso/gidp"
)

// Prior is the declared assumption about a quantity under which the cells have equal mass.
type Prior struct {
	Kind      string  `json:"kind"`   // log_normal or uniform
	Median    float64 `json:"median"` // of log_normal
	Sigma     float64 `json:"sigma"`  // of log_normal, of the natural logarithm
	Statement string  `json:"statement"`
}

// The kinds of priors.
const (
	LogNormal = "log_normal"
	Uniform   = "uniform"
)

// Partition is a public partition with what follows from its prior.
type Partition struct {
	gidp.Partition
	Unit      string
	Prior     Prior
	Masses    []float64 // of the cells, conditional on the domain; they sum to 1
	WorstBits float64   // the most that answers tell about one point or bound: -log2 of the least mass
	Outputs   Outputs
}

// Outputs counts what answers can distinguish.
type Outputs struct {
	Point int `json:"point"` // K, of a point or a bound
	Range int `json:"range"` // K(K+1)/2
}

const (
	maxCells = 64
	// stated figures have four decimals for a mass and two for bits
	massGrain = 0.5e-4 + 1e-9
	bitsGrain = 0.5e-2 + 1e-9
)

func (p Prior) check() error {
	switch {
	case p.Statement == "":
		return errors.New("prior: the statement says what is assumed")
	case p.Kind == Uniform && p.Median == 0 && p.Sigma == 0:
		return nil
	case p.Kind == LogNormal && p.Median >= 1 && p.Median < 1<<53 && p.Sigma > 0 && p.Sigma <= 5:
		return nil
	}
	return errors.New("prior: it is uniform, or log_normal with a median from 1 and a sigma above 0 up to 5")
}

// below is the mass of the values less than v, without regard to the domain.
func (p Prior) below(v float64) float64 {
	switch {
	case p.Kind == Uniform:
		return v
	case v <= 0:
		return 0
	}
	return math.Erfc(-math.Log(v/p.Median)/p.Sigma/math.Sqrt2) / 2
}

// at is the value that a mass lies below.
func (p Prior) at(mass float64) float64 {
	if p.Kind == Uniform {
		return mass
	}
	return p.Median * math.Exp(p.Sigma*math.Sqrt2*math.Erfinv(2*mass-1))
}

// span is the mass below the domain and below its end. A value v stands for the unit that begins at v.
func (p Prior) span(domain gidp.Partition) (from, to float64) {
	return p.below(float64(domain.Min)), p.below(float64(domain.Max) + 1)
}

// Masses returns the mass of each cell given that the value lies in the domain.
func (p Prior) Masses(of gidp.Partition) []float64 {
	from, to := p.span(of)
	out := make([]float64, of.Cells())
	last := from
	for i := range out {
		next := to
		if i < len(of.Edges) {
			next = p.below(float64(of.Edges[i]))
		}
		out[i] = (next - last) / (to - from)
		last = next
	}
	return out
}

// WorstBits is the most that a definite cell tells: -log2 of the least mass.
func WorstBits(masses []float64) float64 { return -math.Log2(slices.Min(masses)) }

// Edges returns the edges that divide a domain into cells of equal mass, each snapped to the nearest round figure.
func (p Prior) Edges(domain gidp.Partition, cells int) []int64 {
	out := make([]int64, 0, cells-1)
	for cell := 1; cell < cells; cell++ {
		out = append(out, Snap(p.quantile(domain, cell, cells)))
	}
	return out
}

// Quantile returns where the edge before a cell lies when all cells of the domain have equal mass, before it is snapped.
func (p Prior) Quantile(domain gidp.Partition, cell int) float64 {
	return p.quantile(domain, cell, domain.Cells())
}

func (p Prior) quantile(domain gidp.Partition, cell, cells int) float64 {
	from, to := p.span(domain)
	return p.at(from + (to-from)*float64(cell)/float64(cells))
}

// round are the round figures of one decade, in tenths.
var round = [...]int64{10, 12, 15, 18, 20, 25, 30, 40, 50, 60, 70, 80, 100}

// Snap returns the whole number of the form {1, 1.2, 1.5, 1.8, 2, 2.5, 3, 4, 5, 6, 7, 8}·10^n that is nearest to a value by ratio. Below 1 it returns 1.
func Snap(v float64) int64 {
	best, least := int64(1), math.Abs(math.Log(max(v, math.SmallestNonzeroFloat64)))
	for decade := int64(1); decade <= 1_000_000_000_000_000; decade *= 10 {
		for _, tenths := range round {
			if tenths*decade%10 != 0 {
				continue
			}
			figure := tenths * decade / 10
			if away := math.Abs(math.Log(v / float64(figure))); away < least {
				best, least = figure, away
			}
		}
	}
	return best
}

// check holds a partition to Q-1: every edge is the quantile of its place, to a whole number or to a round figure.
func (p *Partition) check() error {
	if err := p.Partition.Check(); err != nil {
		return err
	}
	if n := p.Cells(); n < 2 || n > maxCells {
		return fmt.Errorf("partition %q: it has 2 to %d cells", p.ID, maxCells)
	}
	if err := p.Prior.check(); err != nil {
		return fmt.Errorf("partition %q: %w", p.ID, err)
	}
	for i, e := range p.Edges {
		if q := p.Prior.Quantile(p.Partition, i+1); e != Snap(q) && !(math.Abs(float64(e)-q) <= 1) {
			return fmt.Errorf("partition %q: edge %d is %d, and cells of equal mass have it at %.0f, round %d (Q-1)", p.ID, i+1, e, q, Snap(q))
		}
	}
	return nil
}

// measure computes what follows from the edges, and holds the stated figures to it.
func (p *Partition) measure(masses []float64, worst float64, outputs Outputs) error {
	p.Masses = p.Prior.Masses(p.Partition)
	if least := slices.Min(p.Masses); !(least > 0) {
		return fmt.Errorf("partition %q: a cell has no mass under the prior (Q-2)", p.ID)
	}
	p.WorstBits = WorstBits(p.Masses)
	p.Outputs = Outputs{Point: p.Cells(), Range: p.Cells() * (p.Cells() + 1) / 2}
	off := len(masses) != len(p.Masses)
	for i := 0; !off && i < len(masses); i++ {
		off = math.Abs(masses[i]-p.Masses[i]) > massGrain
	}
	if off || math.Abs(worst-p.WorstBits) > bitsGrain || outputs != p.Outputs {
		return fmt.Errorf("partition %q: masses are %.4f, worst_bits %.2f and outputs %d and %d; the file states others (Q-2)", p.ID, p.Masses, p.WorstBits, p.Outputs.Point, p.Outputs.Range)
	}
	return nil
}

// same reports whether two descriptions under one id agree.
func (p *Partition) same(q *Partition) bool {
	return p.Unit == q.Unit && p.Prior == q.Prior && p.Min == q.Min && p.Max == q.Max && slices.Equal(p.Edges, q.Edges)
}

// Nested reports whether one of two partitions refines the other, so that both together tell no more than the finer one.
func Nested(p, q *Partition) bool {
	if p.Unit != q.Unit || p.Min != q.Min || p.Max != q.Max {
		return false
	}
	coarse, fine := p.Edges, q.Edges
	if len(coarse) > len(fine) {
		coarse, fine = fine, coarse
	}
	return !slices.ContainsFunc(coarse, func(e int64) bool { return !slices.Contains(fine, e) })
}
