package lab

import (
	"fmt"
	"math"

	"sayso/gidp/wire"
)

func latticeExperiment() Experiment {
	return Experiment{
		ID: "lattice", Claims: []string{"A3a", "A3b", "A3c"}, About: "answers only to claims whose edges are multiples of w",
		Assumes: "32 or 41 values, uniform. The responder is truthful and answers a claim t ≥ m only where w divides m. A3b: a point, and closed bands that " +
			"meet on a multiple of w.",
		Formula: "Values with the same answers to all admitted claims stay together: log2(n / how many) for each of them. A3c: share of (t, m) whose answer " +
			"changes when m is rounded down to the lattice.",
		Shows:   "The lattice holds under half of the secret without state; its price is precision, and a short last cell or two closed bands undo it.",
		Refuses: "That the mean is the worst case: the last cell of 41 values holds one.",
		run:     lattice,
	}
}

// grouped returns for each of n secrets how many have the same answers.
func grouped(n int, answers func(secret int) string) []int {
	of, count := make([]string, n), map[string]int{}
	for t := range n {
		of[t] = answers(t)
		count[of[t]]++
	}
	out := make([]int, n)
	for t := range n {
		out[t] = count[of[t]]
	}
	return out
}

// told is the mean and the most that secrets of groups tell, and what a secret in the largest group tells, in bits.
func told(groups []int) (full, mean, most float64) {
	full = math.Inf(1)
	for _, g := range groups {
		bits := math.Log2(float64(len(groups)) / float64(g))
		full, most = min(full, bits), max(most, bits)
		mean += bits / float64(len(groups))
	}
	return full, mean, most
}

func lattice(b *bench) {
	b.columns("values", "width", "bands", "full cell bits", "mean bits", "most bits", "changed by rounding")
	for _, c := range []struct {
		n, w                      int
		full, mean, most, changed string
	}{{32, 6, "2.415", "2.514", "4.000", ".077"}, {32, 7, "2.193", "2.294", "3.000", ".091"}, {32, 8, "2.000", "2.000", "2.000", ".113"}, {41, 8, "2.36", "2.43", "5.36", ""}} {
		full, mean, most := told(grouped(c.n, func(t int) string {
			out, h := "", openValue(atMost(t))
			for m := c.w; m < c.n; m += c.w {
				out += string(evaluate(h, wire.OpOverlaps, atLeast(m))) + " "
			}
			return out
		}))
		name := fmt.Sprintf("%d values, w=%d: ", c.n, c.w)
		b.accept("A3a", name+"bits in a full cell", full, c.full, Exact)
		b.accept("A3a", name+"mean bits", mean, c.mean, Exact)
		b.accept("A3a", name+"most bits", most, c.most, Exact)
		changed := changedByRounding(c.n, c.w)
		b.row(c.n, c.w, "half-open", full, mean, most, changed)
		if c.changed != "" {
			b.accept("A3c", name+"answers changed by rounding", changed, c.changed, Exact)
		}
	}
	for _, w := range []int{6, 7, 8} {
		full, mean, most := told(grouped(domain, func(t int) string {
			out, h := "", openValue(fmt.Sprint(t))
			for lo := 0; lo < domain; lo += w {
				out += string(evaluate(h, wire.OpOverlaps, fmt.Sprintf(`{"max":%d,"min":%d}`, lo+w, lo))) + " "
			}
			return out
		}))
		b.row(domain, w, "closed", full, mean, most, "")
		b.accept("A3b", fmt.Sprintf("closed bands, w=%d: most bits", w), most, "5.000", Exact)
	}
}

func changedByRounding(n, w int) float64 {
	changed := 0
	for t := range n {
		h := openValue(atMost(t))
		for m := 1; m < n; m++ {
			if evaluate(h, wire.OpOverlaps, atLeast(m)) != evaluate(h, wire.OpOverlaps, atLeast(m-m%w)) {
				changed++
			}
		}
	}
	return float64(changed) / float64(n*(n-1))
}
