package lab

import (
	"fmt"
	"math"
)

func driftExperiments() []Experiment {
	return []Experiment{latticeExperiment(), {
		ID: "drift", Claims: []string{"A5", "A5b"}, About: "a value that moves against a querent with r claims a period",
		Assumes: "The value moves by a whole number in −d..d each period, d=16, without bounds. The aware querent widens its interval by d on both sides " +
			"and then halves it r times; the naive one does not widen. 4,000 periods, the first 200 left out.",
		Formula: "The width after the claims of a period is the fixed point of W ← (W+2d)/2^r, which is 2d/(2^r − 1); before the claims it is 2d larger.",
		Shows:   "A rate of questions bounds what is known of a moving value, exponentially in r and linearly in d; who ignores the drift is confident and wrong.",
		Refuses: "That drift protects a value that does not move, or bounds anything without a limit on the rate.",
		run:     drift,
	}}
}

func drift(b *bench) {
	b.columns("claims a period", "law", "continuous", "integers", "naive outside")
	const d = 16
	want := []string{"32.0", "10.67", "4.571", "2.133", "1.032"}
	for r := 1; r <= 5; r++ {
		law := 2 * d / (math.Exp2(float64(r)) - 1)
		width := 0.0
		for range 200 {
			width = (width + 2*d) / math.Exp2(float64(r))
		}
		mean, outside := follow(b.Seeds(3, uint64(r)), d, r, b.samples(4000), 200)
		b.row(r, law, width, mean, outside)
		b.judge("A5", fmt.Sprintf("r=%d: width", r), width, law, law/1000, Exact)
		b.accept("A5", fmt.Sprintf("r=%d: width as quoted", r), width, want[r-1], Exact)
		if law > 2 {
			b.between("A5", fmt.Sprintf("r=%d: whole numbers over the law", r), mean/law-1, 0, .06, MonteCarlo)
		} else {
			b.between("A5", fmt.Sprintf("r=%d: whole numbers, at the floor of 1", r), mean, 1, 2, MonteCarlo)
		}
		b.between("A5b", fmt.Sprintf("r=%d: share outside", r), outside, .973, 1, MonteCarlo)
	}
}

// follow returns the mean width of the aware querent's interval after the claims of a period, and how often the naive querent's interval misses the value.
func follow(r Random, d, claims, periods, dropped int) (width, outside float64) {
	const start = 1024
	value := start / 2
	lo, hi := 0, start // the aware querent's values, hi not included
	naiveLo, naiveHi := 0, start
	halve := func(lo, hi int) (int, int) {
		if m := (lo + hi) / 2; hi-lo > 1 {
			if value >= m {
				lo = m
			} else {
				hi = m
			}
		}
		return lo, hi
	}
	for period := range periods {
		value += r.IntN(2*d+1) - d
		lo, hi = lo-d, hi+d
		for range claims {
			lo, hi = halve(lo, hi)
			naiveLo, naiveHi = halve(naiveLo, naiveHi)
		}
		if period >= dropped {
			width += float64(hi - lo)
			if value < naiveLo || value >= naiveHi {
				outside++
			}
		}
	}
	n := float64(periods - dropped)
	return width / n, outside / n
}
