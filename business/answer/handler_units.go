package answer

import "math/big"

// units are the exact factors to the base of their dimension; only units of one dimension convert.
var units = map[string]struct {
	dimension string
	factor    *big.Rat
}{
	"s": {"time", big.NewRat(1, 1)}, "min": {"time", big.NewRat(60, 1)}, "h": {"time", big.NewRat(3600, 1)}, "day": {"time", big.NewRat(86400, 1)},
	"mm": {"length", big.NewRat(1, 1000)}, "cm": {"length", big.NewRat(1, 100)}, "m": {"length", big.NewRat(1, 1)}, "km": {"length", big.NewRat(1000, 1)},
	"mg": {"mass", big.NewRat(1, 1000)}, "g": {"mass", big.NewRat(1, 1)}, "kg": {"mass", big.NewRat(1000, 1)},
	"ml": {"volume", big.NewRat(1, 1000)}, "cl": {"volume", big.NewRat(1, 100)}, "l": {"volume", big.NewRat(1, 1)},
}

// unitFactor is how many of the unit to are one of the unit from; false when they do not convert.
func unitFactor(from, to string) (*big.Rat, bool) {
	if from == to {
		return big.NewRat(1, 1), true
	}
	a, b := units[from], units[to]
	if a.factor == nil || b.factor == nil || a.dimension != b.dimension {
		return nil, false
	}
	return new(big.Rat).Quo(a.factor, b.factor), true
}
