package gidp

import (
	"errors"
	"math/big"
	"slices"

	"sayso/gidp/wire"
	"sayso/jcs"
)

// Interval is a range of numbers; a nil end is unbounded. Both ends belong to it (§14.2).
type Interval struct{ Min, Max *big.Rat }

// Value is a value in a form that claims can be compared with: scalars, or one range.
type Value struct {
	scalars []scalar
	span    *Interval
}

// scalar is one JSON string, number or boolean.
type scalar struct {
	text  string   // canonical JSON
	label string   // of a string
	num   *big.Rat // of a number
}

// maxScalars bounds the scalars of one value, held or asked, and so the work of one comparison.
const maxScalars = 64

var errValue = errors.New("a value is a string, a number, a boolean, a list of at most 64 of these, or {min, max} with numbers")

// ParseValue reads a held value.
func ParseValue(raw jcs.Raw) (Value, error) {
	if span, ok := parseInterval(raw); ok {
		return Value{span: &span}, nil
	}
	scalars, ok := parseScalars(raw)
	if !ok || len(scalars) == 0 {
		return Value{}, errValue
	}
	return Value{scalars: scalars}, nil
}

// Labels returns the strings among the scalars.
func (v Value) Labels() []string {
	var out []string
	for _, s := range v.scalars {
		if s.kind() == 's' {
			out = append(out, s.label)
		}
	}
	return out
}

// OnlyLabels reports whether a value holds strings and nothing else.
func (v Value) OnlyLabels() bool { return v.span == nil && len(v.Labels()) == len(v.scalars) }

// Integers returns a value as a shape over whole numbers: a point, a bound or a range. It reports false for anything else.
func (v Value) Integers() (shape Shape, low, high int64, ok bool) {
	if v.span == nil {
		if len(v.scalars) != 1 || v.scalars[0].num == nil {
			return 0, 0, 0, false
		}
		low, ok = whole(v.scalars[0].num)
		return Point, low, low, ok
	}
	switch {
	case v.span.Max == nil:
		low, ok = whole(v.span.Min)
		return Floor, low, 0, ok
	case v.span.Min == nil:
		high, ok = whole(v.span.Max)
		return Ceiling, 0, high, ok
	}
	low, ok = whole(v.span.Min)
	high, also := whole(v.span.Max)
	return Range, low, high, ok && also
}

func whole(r *big.Rat) (int64, bool) {
	if !r.IsInt() || !r.Num().IsInt64() {
		return 0, false
	}
	return r.Num().Int64(), true
}

// Names reports whether a claim's value says this value, an element of it, or a range collapsed on it (§14.3).
func (v Value) Names(asked jcs.Raw) bool {
	if span, ok := parseInterval(asked); ok {
		if v.span != nil {
			return sameEnd(span.Min, v.span.Min) && sameEnd(span.Max, v.span.Max) || collapsedOn(span, v.span.Min) || collapsedOn(span, v.span.Max)
		}
		return slices.ContainsFunc(v.scalars, func(s scalar) bool { return collapsedOn(span, s.num) })
	}
	scalars, ok := parseScalars(asked)
	if !ok {
		return namesDeep(v, asked)
	}
	return slices.ContainsFunc(scalars, v.hasScalar)
}

func (v Value) hasScalar(asked scalar) bool {
	if v.span != nil {
		return asked.num != nil && (sameEnd(v.span.Min, asked.num) || sameEnd(v.span.Max, asked.num)) // a bound is a value too
	}
	return slices.ContainsFunc(v.scalars, func(s scalar) bool { return s.text == asked.text })
}

// namesDeep looks for the value anywhere inside an argument of a predicate.
func namesDeep(v Value, asked jcs.Raw) bool {
	if members, err := jcs.Members(asked); err == nil {
		return slices.ContainsFunc(members, func(m jcs.Member) bool { return v.Names(m.Value) })
	}
	var items []jcs.Raw
	if jcs.Decode(asked, &items) != nil {
		return false
	}
	return slices.ContainsFunc(items, v.Names)
}

func sameEnd(a, b *big.Rat) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Cmp(b) == 0
}

func collapsedOn(span Interval, v *big.Rat) bool {
	return v != nil && span.Min != nil && span.Max != nil && span.Min.Cmp(v) == 0 && span.Max.Cmp(v) == 0
}

func (s scalar) kind() byte {
	switch {
	case s.num != nil:
		return 'n'
	case s.text[0] == '"':
		return 's'
	}
	return 'b'
}

func parseScalar(raw jcs.Raw) (scalar, bool) {
	text, err := jcs.Canonical(raw)
	if err != nil || len(text) > wire.MaxText {
		return scalar{}, false
	}
	s := scalar{text: string(text)}
	switch c := text[0]; {
	case c == '"':
		s.label, _ = jcs.Text(jcs.Raw(text))
	case c == '-' || c >= '0' && c <= '9':
		s.num, _ = new(big.Rat).SetString(s.text) // a canonical number: its exponent is that of a double
	case s.text == "true" || s.text == "false":
	default:
		return scalar{}, false
	}
	return s, true
}

// parseScalars reads one scalar or a list of them.
func parseScalars(raw jcs.Raw) ([]scalar, bool) {
	if s, ok := parseScalar(raw); ok {
		return []scalar{s}, true
	}
	var items []jcs.Raw
	if len(raw) == 0 || jcs.Check(raw) != nil || jcs.Decode(raw, &items) != nil || len(items) > maxScalars {
		return nil, false
	}
	out := make([]scalar, 0, len(items))
	for _, item := range items {
		s, ok := parseScalar(item)
		if !ok {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}

// parseInterval reads {min?, max?}. {}, other members, ends that are no numbers, and min > max are none.
func parseInterval(raw jcs.Raw) (Interval, bool) {
	members, err := jcs.Members(raw)
	if err != nil || len(members) == 0 {
		return Interval{}, false
	}
	var out Interval
	for _, m := range members {
		s, ok := parseScalar(m.Value)
		if !ok || s.num == nil {
			return Interval{}, false
		}
		switch m.Name {
		case "min":
			out.Min = s.num
		case "max":
			out.Max = s.num
		default:
			return Interval{}, false
		}
	}
	if out.Min != nil && out.Max != nil && out.Min.Cmp(out.Max) > 0 {
		return Interval{}, false
	}
	return out, true
}

// upTo reports whether the interval reaches v from below.
func (i Interval) upTo(v *big.Rat) bool { return i.Max == nil || i.Max.Cmp(v) >= 0 }

// from reports whether the interval begins at v or below it.
func (i Interval) from(v *big.Rat) bool { return i.Min == nil || i.Min.Cmp(v) <= 0 }

// rat is an integer as an exact number.
func rat(v int64) *big.Rat { return new(big.Rat).SetInt64(v) }
