package answer

import (
	"cmp"
	"math/big"

	"sayso/jcs"
)

// amount is an exact number. One whose numerator and denominator are below 2³¹ is held as they are, so that whole types are compared without allocation.
type amount struct {
	num, den int64
	exact    *big.Rat // any other number
}

// amountOf is a number as an amount.
func amountOf(n *big.Rat) amount {
	const limit = 1 << 31
	if n.Num().IsInt64() && n.Denom().IsInt64() {
		if num, den := n.Num().Int64(), n.Denom().Int64(); -limit < num && num < limit && den < limit {
			return amount{num: num, den: den}
		}
	}
	return amount{exact: n}
}

// readAmount reads what decimal reads.
func readAmount(raw jcs.Raw) (amount, bool) {
	if a, ok := shortAmount(raw); ok {
		return a, true
	}
	n, ok := decimal(raw)
	if !ok {
		return amount{}, false
	}
	return amountOf(n), true
}

// shortAmount reads a JSON number of at most nine digits without an exponent.
func shortAmount(raw jcs.Raw) (amount, bool) {
	a, digits, point := amount{den: 1}, raw, -1
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > 10 || digits[0] == '0' && len(digits) > 1 && digits[1] != '.' {
		return a, false
	}
	for i, d := range digits {
		switch {
		case '0' <= d && d <= '9':
			if a.num = a.num*10 + int64(d-'0'); point >= 0 {
				a.den *= 10
			}
		case d == '.' && point < 0 && i > 0 && i < len(digits)-1:
			point = i
		default:
			return a, false
		}
	}
	if len(digits) > 9 && point < 0 {
		return a, false
	}
	if len(digits) < len(raw) {
		a.num = -a.num
	}
	return a, true
}

// cmp is -1, 0 or 1 as a is below, equal to or above b.
func (a amount) cmp(b amount) int {
	if a.exact == nil && b.exact == nil {
		return cmp.Compare(a.num*b.den, b.num*a.den)
	}
	return a.rat().Cmp(b.rat())
}

func (a amount) rat() *big.Rat {
	if a.exact != nil {
		return a.exact
	}
	return big.NewRat(a.num, a.den)
}
