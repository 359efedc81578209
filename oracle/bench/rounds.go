package main

import (
	"cmp"
	"runtime"
	"slices"
	"time"
)

// pair holds what the rounds took on both sides.
type pair struct{ ours, theirs []time.Duration }

// alternate runs both sides once for warmth and then in turn; which one begins changes from round to round. Garbage is collected before each side, so that
// neither pays for the other's.
func alternate(rounds int, ours, theirs func() (time.Duration, error)) (pair, error) {
	var p pair
	for i := -1; i < rounds; i++ {
		var took [2]time.Duration
		for k := range 2 {
			side := (i + k) & 1
			runtime.GC()
			var err error
			if took[side], err = [2]func() (time.Duration, error){ours, theirs}[side](); err != nil {
				return p, err
			}
		}
		if i >= 0 {
			p.ours, p.theirs = append(p.ours, took[0]), append(p.theirs, took[1])
		}
	}
	return p, nil
}

// ratio is the median of ours through theirs.
func (p pair) ratio() float64 {
	ratios := make([]float64, len(p.ours))
	for i := range ratios {
		ratios[i] = float64(p.ours[i]) / float64(p.theirs[i])
	}
	return median(ratios)
}

func median[T cmp.Ordered](list []T) T {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}

// quantile expects a sorted list; q is in percent.
func quantile(sorted []time.Duration, q int) time.Duration {
	return sorted[min(len(sorted)-1, len(sorted)*q/100)]
}

// perOperation repeats an operation for a stretch of time and returns what one took.
func perOperation(stretch time.Duration, operation func() error) func() (time.Duration, error) {
	return func() (time.Duration, error) {
		begin := time.Now()
		for n := time.Duration(1); ; n++ {
			if err := operation(); err != nil {
				return 0, err
			}
			if took := time.Since(begin); took >= stretch {
				return took / n, nil
			}
		}
	}
}
