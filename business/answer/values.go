package answer

import (
	"bytes"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"sayso/business"
	"sayso/business/answer/language"
	"sayso/business/coverage"
	"sayso/jcs"
)

// values are the attributes of a record, those that hold per location split by location.
type values struct {
	plain  map[string]jcs.Raw
	scoped map[string]map[string]jcs.Raw
}

// readValues reads the attributes of a record.
func readValues(schema *business.Schema, r *business.Record) (values, error) {
	v := values{plain: map[string]jcs.Raw{}, scoped: map[string]map[string]jcs.Raw{}}
	if r.Attributes == nil {
		return v, nil
	}
	members, err := business.Members(r.Attributes)
	if err != nil {
		return v, fmt.Errorf("attributes of %s/%s: %w", r.Type, r.ID, err)
	}
	for _, m := range members {
		if schema.Attributes[m.Name].ScopedBy == "" {
			v.plain[m.Name] = m.Value
			continue
		}
		places, err := business.Members(m.Value)
		if err != nil {
			return v, fmt.Errorf("attribute %s of %s/%s: %w", m.Name, r.Type, r.ID, err)
		}
		byPlace := make(map[string]jcs.Raw, len(places))
		for _, p := range places {
			byPlace[p.Name] = p.Value
		}
		v.scoped[m.Name] = byPlace
	}
	return v, nil
}

// interval is the numbers that a published value may be; a nil end is open.
type interval struct {
	low, high *big.Rat
	unit      string
	money     bool
}

// stated is what a record says about one field, at one location when the field holds per location.
type stated struct {
	status  string // published, stated_in_text, deferred or not_published
	facts   []coverage.Fact
	value   jcs.Raw // for the proposition: the literal, or an object {"from":…,"to":…} of literals
	span    *interval
	truth   string       // of a bool or a count: verdict
	live    string       // the stream that the field is bound to
	reading *observation // that says so, nil for a record
}

// attributesOf are the keys of the schema that state a field: those bound to it, or the attribute of that name.
func (c *Compiled) attributesOf(field string) []string {
	var out []string
	for _, k := range sortedKeys(c.schema.Attributes) {
		if a := c.schema.Attributes[k]; a.Field == field || a.Field == "" && k == field {
			out = append(out, k)
		}
	}
	return out
}

// scopedField reports whether a field holds per location.
func (c *Compiled) scopedField(field string) bool {
	return slices.ContainsFunc(c.attributesOf(field), func(k string) bool { return c.schema.Attributes[k].ScopedBy != "" })
}

// state reads what a record states about a field; location is "" when none is asked, and then a scoped attribute states nothing.
func (c *Compiled) state(record int, field, location string) stated {
	s := stated{status: coverage.VerdictNotPublished, truth: coverage.VerdictUnknown}
	v := &c.values[record]
	subject := c.subject(&coverage.Key{Type: c.records[record].Type, ID: c.records[record].ID})
	for _, key := range c.attributesOf(field) {
		a := c.schema.Attributes[key]
		raw := v.plain[key]
		own := subject
		if a.ScopedBy != "" {
			raw, own.Location = v.scoped[key][location], location
		}
		if a.Source != "" {
			s.live = strings.TrimPrefix(a.Source, "stream:")
			continue // what is bound to a stream is answered by a reading
		}
		if raw == nil {
			continue
		}
		s.facts = append(s.facts, coverage.Fact{Subject: own, Field: key, Value: raw, Source: "record"})
		s.take(&a, raw, c.currency(v, &a))
	}
	return s
}

// currency is what a price is in: a record may state its own.
func (c *Compiled) currency(v *values, a *business.SchemaAttribute) string {
	if _, declared := c.schema.Attributes["currency"]; !declared {
		if own, ok := jcs.Text(v.plain["currency"]); ok {
			return own
		}
	}
	return a.Currency
}

// rank orders the ways to state a field, the strongest first.
var rank = []string{coverage.VerdictPublished, coverage.VerdictStatedInText, coverage.VerdictDeferred, coverage.VerdictNotPublished}

// take adds one attribute to what is stated.
func (s *stated) take(a *business.SchemaAttribute, raw jcs.Raw, currency string) {
	status := coverage.VerdictPublished
	switch a.Kind {
	case "money":
		s.bounds(raw, raw, currency, true)
	case "money_from":
		s.bounds(raw, nil, currency, true)
	case "money_to":
		s.bounds(nil, raw, currency, true)
	case "quantity":
		s.bounds(raw, raw, a.Unit, false)
	case "count":
		s.bounds(raw, raw, a.Unit, false)
		if n, ok := decimal(raw); ok {
			s.truth = truthOf(n.Sign() > 0)
		}
	case "bool":
		if string(raw) == "true" || string(raw) == "false" {
			s.truth = truthOf(string(raw) == "true")
		}
	case "mode":
		text, _ := jcs.Text(raw)
		if !slices.Contains(a.Deferred, text) {
			return // another mode says nothing about the value
		}
		status = coverage.VerdictDeferred
	case "text":
		status = coverage.VerdictStatedInText
	}
	if slices.Index(rank, status) < slices.Index(rank, s.status) {
		s.status = status
		if status != coverage.VerdictPublished || s.span == nil {
			s.value = raw
		}
	}
}

// bounds narrows the interval and keeps the literal that the proposition shows.
func (s *stated) bounds(low, high jcs.Raw, unit string, money bool) {
	if s.span == nil {
		s.span = &interval{unit: unit, money: money}
		if money {
			s.span.low = new(big.Rat)
		}
	}
	if n, ok := decimal(low); ok && (s.span.low == nil || n.Cmp(s.span.low) > 0) {
		s.span.low = n
	}
	if n, ok := decimal(high); ok && (s.span.high == nil || n.Cmp(s.span.high) < 0) {
		s.span.high = n
	}
	switch {
	case low != nil && high != nil:
		s.value = low
	case low != nil:
		s.value = joinBounds(s.value, "from", low)
	case high != nil:
		s.value = joinBounds(s.value, "to", high)
	}
}

// joinBounds adds an end to the object of a value with open ends. An exact price beside it stays what it is.
func joinBounds(have jcs.Raw, name string, literal jcs.Raw) jcs.Raw {
	switch {
	case have == nil:
		return jcs.Raw(`{"` + name + `":` + string(literal) + `}`)
	case have[0] != '{':
		return have
	}
	return jcs.Raw(string(have[:len(have)-1]) + `,"` + name + `":` + string(literal) + `}`)
}

func truthOf(b bool) string {
	if b {
		return coverage.VerdictTrue
	}
	return coverage.VerdictFalse
}

// negate flips a verdict; unknown stays unknown.
func negate(verdict string) string {
	switch verdict {
	case coverage.VerdictTrue:
		return coverage.VerdictFalse
	case coverage.VerdictFalse, coverage.VerdictExcluded:
		return coverage.VerdictTrue
	}
	return verdict
}

// same reports whether two records state a field alike: the same literals, units and kinds.
func (s *stated) same(o *stated) bool {
	if s.status != o.status || len(s.facts) != len(o.facts) {
		return false
	}
	for i := range s.facts {
		if s.facts[i].Field != o.facts[i].Field || !bytes.Equal(s.facts[i].Value, o.facts[i].Value) {
			return false
		}
	}
	return s.span == nil && o.span == nil || s.span != nil && o.span != nil && s.span.unit == o.span.unit
}

// convert brings a number of one unit to another; false when they measure different things.
func convert(n *big.Rat, from, to string) (*big.Rat, bool) {
	factor, ok := unitFactor(from, to)
	if !ok {
		return nil, false
	}
	return factor.Mul(factor, n), true
}

// judge compares an interval with a literal: true when all its points satisfy the comparison, false when none does, else unknown with the reason.
func (v *interval) judge(c *language.Comparison) (verdict, reason string) {
	if v == nil {
		return coverage.VerdictUnknown, coverage.ReasonUnknownValue
	}
	if c.Free {
		if !v.money {
			return coverage.VerdictUnknown, coverage.ReasonUnitMismatch
		}
		return decide(v, "le", new(big.Rat), nil)
	}
	if c.Literal.Unit == "" && v.unit != "" {
		return coverage.VerdictUnknown, coverage.ReasonUnitMissing
	}
	if c.Literal.Money != v.money {
		return coverage.VerdictUnknown, coverage.ReasonUnitMismatch
	}
	a, ok := convert(c.Literal.Value, c.Literal.Unit, v.unit)
	if !ok {
		return coverage.VerdictUnknown, coverage.ReasonUnitMismatch
	}
	if c.Op != "between" {
		return decide(v, c.Op, a, nil)
	}
	if c.Upper.Unit == "" && v.unit != "" {
		return coverage.VerdictUnknown, coverage.ReasonUnitMissing
	}
	b, ok := convert(c.Upper.Value, c.Upper.Unit, v.unit)
	if !ok || c.Upper.Money != v.money {
		return coverage.VerdictUnknown, coverage.ReasonUnitMismatch
	}
	return decide(v, c.Op, a, b)
}

// decide settles low <= x <= high against x op a (between: a <= x <= b).
func decide(v *interval, op string, a, b *big.Rat) (verdict, reason string) {
	lowAtLeast := func(n *big.Rat, strict bool) bool {
		return v.low != nil && (v.low.Cmp(n) > 0 || !strict && v.low.Cmp(n) == 0)
	}
	highAtMost := func(n *big.Rat, strict bool) bool {
		return v.high != nil && (v.high.Cmp(n) < 0 || !strict && v.high.Cmp(n) == 0)
	}
	var yes, no bool
	if v.low != nil && v.high != nil && v.low.Cmp(v.high) > 0 {
		return coverage.VerdictUnknown, coverage.ReasonUnknownValue // the published bounds contradict each other
	}
	switch op {
	case "lt":
		yes, no = highAtMost(a, true), lowAtLeast(a, false)
	case "le":
		yes, no = highAtMost(a, false), lowAtLeast(a, true)
	case "gt":
		yes, no = lowAtLeast(a, true), highAtMost(a, false)
	case "ge":
		yes, no = lowAtLeast(a, false), highAtMost(a, true)
	case "between":
		if a.Cmp(b) > 0 {
			return coverage.VerdictUnknown, coverage.ReasonUnknownValue // between 150 and 100: nothing, or what is between 100 and 150
		}
		yes, no = lowAtLeast(a, false) && highAtMost(b, false), highAtMost(a, true) || lowAtLeast(b, true)
	}
	switch {
	case no:
		return coverage.VerdictFalse, ""
	case yes:
		return coverage.VerdictTrue, ""
	}
	return coverage.VerdictUnknown, coverage.ReasonUnknownValue
}
