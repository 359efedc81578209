package lab

import (
	"maps"
	"math"
	"slices"

	"sayso/gidp/profile"
)

// Partitions recomputes the partitions of a profile (sec. 13): for each the edges that lie where its prior puts them, the sum of the masses, the worst bits of
// a point or a bound, and the outputs of a point and of a range. The masses come from the density of the prior and not from its distribution function, which
// the loader uses, so that a slip in either shows.
func Partitions(p *profile.Profile) []Row {
	var out []Row
	for _, id := range slices.Sorted(maps.Keys(p.Partitions)) {
		part := p.Partitions[id]
		row := func(name string, value float64, ok bool) {
			out = append(out, Row{Claim: id + " " + name, Value: value, OK: ok})
		}
		round, placed := part.Prior.Edges(part.Partition, part.Cells()), 0
		for i, e := range part.Edges {
			if e == round[i] || math.Abs(part.Prior.Quantile(part.Partition, i+1)-float64(e)) <= 1 {
				placed++
			}
		}
		row("edges", float64(placed), placed == part.Cells()-1)
		masses := densities(part)
		sum, same := 0.0, len(masses) == len(part.Masses)
		for i, m := range masses {
			sum += m
			same = same && math.Abs(m-part.Masses[i]) <= 1e-4
		}
		row("mass", sum, same && math.Abs(sum-1) <= 1e-4)
		worst := profile.WorstBits(masses)
		row("worst_bits", worst, math.Abs(worst-part.WorstBits) <= .005 && worst >= part.Bits())
		k := part.Cells()
		row("outputs point", float64(part.Outputs.Point), part.Outputs.Point == k)
		row("outputs range", float64(part.Outputs.Range), part.Outputs.Range == k*(k+1)/2)
	}
	return out
}

// densities sums the density of the prior over each cell.
func densities(part *profile.Partition) []float64 {
	out := make([]float64, part.Cells())
	for cell := range out {
		lo, hi := part.Bounds(cell)
		from, to := float64(lo), float64(hi)+1
		if part.Prior.Kind == profile.Uniform {
			out[cell] = (to - from) / (float64(part.Max) + 1 - float64(part.Min))
			continue
		}
		z := func(v float64) float64 { return math.Log(max(v, 1e-9)/part.Prior.Median) / part.Prior.Sigma }
		out[cell] = simpson(max(z(from), -12), min(z(to), 12))
	}
	return out
}

// simpson integrates the standard normal density.
func simpson(from, to float64) float64 {
	const steps = 2_000
	if to <= from {
		return 0
	}
	density := func(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }
	h := (to - from) / steps
	sum := density(from) + density(to)
	for i := 1; i < steps; i++ {
		sum += density(from+float64(i)*h) * float64(2+2*(i%2))
	}
	return sum * h / 3
}
