package profile

import (
	"fmt"
	"maps"
	"slices"

	"sayso/gidp"
	"sayso/jcs"
)

// Predicate is a joint condition for compatible_with: the weighted sum of own numbers against the whole number that the claim asks. A weighted sum is monotone
// in each number, in the direction of the sign of its weight, so that it can be decided on cells.
type Predicate struct {
	Weights map[string]int64 `json:"weights"` // by integer key, not 0, at most 100 in size
	Holds   string           `json:"holds"`   // at_most or at_least: of the sum, compared with the asked number
	Needs   []string         `json:"needs"`   // keys that the asker must have disclosed
	Tests   string           `json:"tests"`   // what it says about the configuration, one sentence
}

const (
	atMost, atLeast = "at_most", "at_least"
	maxArgs         = 6
	maxWeight       = 100 // 6 numbers within ±(2^53-1) times 100 stay within 63 bits
)

func (p *Profile) checkPredicate(key string, f Predicate) error {
	_, taken := p.Keys[key]
	switch {
	case !isLabel(key) || taken || isReserved(key):
		return fmt.Errorf("predicate %.60q: its name is a label that no key has", key)
	case len(f.Weights) == 0 || len(f.Weights) > maxArgs:
		return fmt.Errorf("predicate %q: it has 1 to %d weights", key, maxArgs)
	case f.Holds != atMost && f.Holds != atLeast:
		return fmt.Errorf("predicate %q: holds is %s or %s", key, atMost, atLeast)
	case f.Tests == "":
		return fmt.Errorf("predicate %q: tests says what it tests", key)
	}
	for arg, weight := range f.Weights {
		k, ok := p.Keys[arg]
		if !ok || k.Type != Integer || k.Identifying || weight == 0 || weight > maxWeight || weight < -maxWeight {
			return fmt.Errorf("predicate %q: %.60q is no number of the profile, or its weight is 0 or beyond %d", key, arg, maxWeight)
		}
	}
	for _, needed := range f.Needs {
		if _, ok := p.Keys[needed]; !ok {
			return fmt.Errorf("predicate %q: it needs %.60q, which is no key of the profile", key, needed)
		}
	}
	return nil
}

// core is the predicate as the core evaluates it.
func (f Predicate) core() gidp.Predicate {
	args := slices.Sorted(maps.Keys(f.Weights))
	weights := make([]int64, len(args))
	for i, arg := range args {
		weights[i] = f.Weights[arg]
	}
	least := f.Holds == atLeast
	return gidp.Predicate{Args: args, Needs: slices.Clone(f.Needs), Test: func(at []int64, asked jcs.Raw) (holds, fits bool) {
		value, err := gidp.ParseValue(asked)
		if err != nil {
			return false, false
		}
		shape, limit, _, whole := value.Integers()
		if !whole || shape != gidp.Point {
			return false, false
		}
		sum := int64(0)
		for i, v := range at {
			sum += weights[i] * v
		}
		if least {
			return sum >= limit, true
		}
		return sum <= limit, true
	}}
}
