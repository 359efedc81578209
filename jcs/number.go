package jcs

import (
	"bytes"
	"math"
	"strconv"
)

// maxSafe is the largest integer up to which binary64 tells every integer from its neighbours.
const maxSafe = 1<<53 - 1

// AppendNumber appends f in ECMAScript form. f must be finite.
func AppendNumber(dst []byte, f float64) []byte {
	if f == math.Trunc(f) && math.Abs(f) <= maxSafe {
		return strconv.AppendInt(dst, int64(f), 10) // also -0, which is written 0
	}
	// d[.ddd]e±dd with the shortest digits that read back, as ECMAScript wants them.
	var buf [32]byte
	text := strconv.AppendFloat(buf[:0], f, 'e', -1, 64)
	if text[0] == '-' {
		dst = append(dst, '-')
		text = text[1:]
	}
	e := bytes.IndexByte(text, 'e')
	exp, _ := strconv.Atoi(string(text[e+1:]))
	digits := append(text[:1:1], text[min(2, e):e]...)
	return appendDecimal(dst, digits, exp+1)
}

// appendDecimal lays out 0.digits x 10^point as Number::toString does (ECMA-262, steps 6 to 12).
func appendDecimal(dst, digits []byte, point int) []byte {
	n := len(digits)
	switch {
	case n <= point && point <= 21:
		dst = append(dst, digits...)
		return appendZeros(dst, point-n)
	case 0 < point && point <= 21:
		dst = append(dst, digits[:point]...)
		dst = append(dst, '.')
		return append(dst, digits[point:]...)
	case -6 < point && point <= 0:
		dst = append(dst, '0', '.')
		dst = appendZeros(dst, -point)
		return append(dst, digits...)
	}
	dst = append(dst, digits[0])
	if n > 1 {
		dst = append(dst, '.')
		dst = append(dst, digits[1:]...)
	}
	dst = append(dst, 'e')
	if point > 0 {
		dst = append(dst, '+')
	}
	return strconv.AppendInt(dst, int64(point-1), 10)
}

func appendZeros(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, '0')
	}
	return dst
}

// number is the shape of a literal of the JSON grammar: [-] whole [. fraction] [e exponent].
type number struct {
	end      int    // offset after the literal, or of the fault
	bad      string // why it is not a number, "" when it is
	whole    int    // digits before the point
	fraction int    // digits after the point
	exponent bool   // an exponent is written
}

// scanNumber reads the longest number literal at data[i:].
func scanNumber(data []byte, i int) (n number) {
	digits := func() int {
		from := i
		for i < len(data) && data[i]-'0' <= 9 {
			i++
		}
		return i - from
	}
	if i < len(data) && data[i] == '-' {
		i++
	}
	whole := i
	if n.whole = digits(); n.whole == 0 {
		return number{end: i, bad: "a digit must follow the minus sign"}
	}
	if n.whole > 1 && data[whole] == '0' {
		return number{end: whole, bad: "a number does not begin with 0 and another digit"}
	}
	if i < len(data) && data[i] == '.' {
		i++
		if n.fraction = digits(); n.fraction == 0 {
			return number{end: i, bad: "a digit must follow the decimal point"}
		}
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		n.exponent = true
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		if digits() == 0 {
			return number{end: i, bad: "a digit must follow the exponent sign e"}
		}
	}
	n.end = i
	return n
}

// appendLiteral appends the ECMAScript text of a literal of shape n, or says why it is refused.
func appendLiteral(dst, lit []byte, n number) ([]byte, *Error) {
	if out, ok := appendShort(dst, lit, n); ok {
		return out, nil
	}
	f, err := strconv.ParseFloat(string(lit), 64)
	if err != nil || math.IsInf(f, 0) {
		return dst, fail(KindNumber, 0, quoted(string(lit))+" is beyond the largest binary64 number; write it as a string")
	}
	start := len(dst)
	out := AppendNumber(dst, f)
	text := out[start:]
	wantDigits, wantPoint := decimal(lit)
	gotDigits, gotPoint := decimal(text)
	if wantPoint != gotPoint || !bytes.Equal(wantDigits, gotDigits) {
		return dst, fail(KindNumber, 0, quoted(string(lit))+" would become "+string(text)+"; write it as a string or with fewer digits")
	}
	if math.Abs(f) > maxSafe && bytes.IndexByte(text, 'e') < 0 && bytes.IndexByte(text, '.') < 0 {
		return dst, fail(KindNumber, 0, quoted(string(lit))+" is an integer beyond ±9007199254740991; write it as a string")
	}
	return out, nil
}

// appendShort handles literals without exponent of at most 15 digits that are not smaller than 1e-6. Such a decimal
// always survives binary64, and no shorter decimal reads back as the same value, because two decimals of at most 15
// digits never share one. So the ECMAScript text is the literal without the zeros that end its fraction.
func appendShort(dst, lit []byte, n number) ([]byte, bool) {
	if n.exponent || n.whole+n.fraction > 15 {
		return dst, false
	}
	if n.fraction > 0 {
		lit = bytes.TrimRight(lit, "0")
		lit = bytes.TrimSuffix(lit, []byte{'.'})
	}
	abs := bytes.TrimPrefix(lit, []byte{'-'})
	if len(abs) == 1 && abs[0] == '0' {
		return append(dst, '0'), true
	}
	if bytes.HasPrefix(abs, []byte("0.000000")) {
		return dst, false
	}
	return append(dst, lit...), true
}

// decimal returns the significant digits of a literal and the power of ten of the place before the first of them:
// the literal denotes 0.digits x 10^point. Zero is no digits and point 0.
func decimal(lit []byte) (digits []byte, point int64) {
	lit = bytes.TrimPrefix(lit, []byte{'-'})
	mantissa := lit
	if e := bytes.IndexAny(lit, "eE"); e >= 0 {
		mantissa = lit[:e]
		point = exponent(lit[e+1:])
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte{'.'})
	digits = append(append(make([]byte, 0, len(mantissa)), whole...), fraction...)
	point += int64(len(whole))
	trimmed := bytes.TrimLeft(digits, "0")
	point -= int64(len(digits) - len(trimmed))
	digits = bytes.TrimRight(trimmed, "0")
	if len(digits) == 0 {
		return nil, 0
	}
	return digits, point
}

// exponent reads the digits after e. It stops growing far beyond any exponent that digits could bring back into the
// range of binary64.
func exponent(text []byte) int64 {
	const limit = 1 << 50
	negative := text[0] == '-'
	if negative || text[0] == '+' {
		text = text[1:]
	}
	var n int64
	for _, c := range text {
		if n < limit {
			n = n*10 + int64(c-'0')
		}
	}
	if negative {
		return -n
	}
	return n
}
