package answer

import (
	"bytes"
	"cmp"
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
	plain  []jcs.Member                  // in the order of their names
	scoped map[string]map[string]jcs.Raw // nil without any
}

// readValues reads the attributes of a record.
func readValues(schema *business.Schema, r *business.Record) (v values, err error) {
	if r.Attributes == nil {
		return v, nil
	}
	if v.plain, err = business.Members(r.Attributes); err != nil {
		return v, fmt.Errorf("attributes of %s/%s: %w", r.Type, r.ID, err)
	}
	plain := v.plain[:0]
	for _, m := range v.plain {
		if schema.Attributes[m.Name].ScopedBy == "" {
			plain = append(plain, m)
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
		if v.scoped == nil {
			v.scoped = map[string]map[string]jcs.Raw{}
		}
		v.scoped[m.Name] = byPlace
	}
	v.plain = plain
	slices.SortFunc(v.plain, func(a, b jcs.Member) int { return strings.Compare(a.Name, b.Name) })
	return v, nil
}

// of is the value of an attribute without scope, nil without one.
func (v *values) of(key string) jcs.Raw {
	i, ok := slices.BinarySearchFunc(v.plain, key, func(m jcs.Member, key string) int { return strings.Compare(m.Name, key) })
	if !ok {
		return nil
	}
	return v.plain[i].Value
}

// interval is the numbers that a published value may be. Without a bound an end is open.
type interval struct {
	stated    bool // a value bounds it
	low, high bound
	unit      string
	money     bool
	mixed     bool // its ends are in different units: nothing is compared with it
}

// bound is an end of an interval.
type bound struct {
	amount
	closed bool
}

// stated is what a record says about one field, at one location when the field holds per location.
type stated struct {
	status  string // published, stated_in_text, deferred or not_published
	facts   []coverage.Fact
	value   jcs.Raw // for the proposition: the literal, or an object {"from":…,"to":…} of literals
	unit    string  // of value: a currency or a unit, "" where none is published
	span    interval
	truth   string       // of a bool or a count: verdict
	live    string       // the stream that the field is bound to
	reading *observation // that says so, nil for a record
	brief   bool         // without facts and value: only the verdict is wanted
}

// attribute is an attribute of the schema with its key.
type attribute struct {
	key string
	*business.SchemaAttribute
}

// fieldsOfSchema are the attributes that state each field: those bound to it, or the attribute of that name.
func fieldsOfSchema(s *business.Schema) map[string][]attribute {
	out := map[string][]attribute{}
	for _, k := range sortedKeys(s.Attributes) {
		a := s.Attributes[k]
		field := cmp.Or(a.Field, k)
		out[field] = append(out[field], attribute{k, &a})
	}
	return out
}

// scopedField reports whether a field holds per location.
func (c *Compiled) scopedField(field string) bool {
	return slices.ContainsFunc(c.fields[field], func(a attribute) bool { return a.ScopedBy != "" })
}

// state reads what a record states about a field; location is "" when none is asked, and then a scoped attribute states nothing.
func (c *Compiled) state(record int, field, location string) stated {
	s := stated{}
	c.read(&s, record, field, location)
	return s
}

// glance is state for a question over many records.
func (c *Compiled) glance(record int, field string) stated {
	s := stated{brief: true}
	c.read(&s, record, field, "")
	return s
}

func (c *Compiled) read(s *stated, record int, field, location string) {
	s.status, s.truth = coverage.VerdictNotPublished, coverage.VerdictUnknown
	v := &c.values[record]
	var currency jcs.Raw
	if c.ownCurrency {
		currency = v.of("currency")
	}
	for _, a := range c.fields[field] {
		if a.Source != "" {
			s.live = strings.TrimPrefix(a.Source, "stream:")
			continue // what is bound to a stream is answered by a reading
		}
		raw, at := v.of(a.key), ""
		if a.ScopedBy != "" {
			raw, at = v.scoped[a.key][location], location
		}
		if raw == nil {
			continue
		}
		unit := c.unitOf(a.SchemaAttribute, currency)
		if !s.brief {
			subject := c.recordSubject(record)
			subject.Location = at
			s.facts = append(s.facts, coverage.Fact{Subject: subject, Field: a.key, Value: raw, Unit: unit, Source: "record"})
		}
		s.take(a.SchemaAttribute, raw, unit)
	}
}

// unitOf is what the value of an attribute is measured in, "" where nothing says so. A record may state the currency of its prices itself; own is what stands in
// its member currency.
func (x *index) unitOf(a *business.SchemaAttribute, own jcs.Raw) string {
	switch a.Kind {
	case "money", "money_from", "money_to":
		if currency, ok := jcs.Text(own); ok && x.ownCurrency {
			return currency
		}
		return a.Currency
	case "quantity", "count":
		return a.Unit
	}
	return ""
}

// rank orders the ways to state a field, the strongest first.
var rank = []string{coverage.VerdictPublished, coverage.VerdictStatedInText, coverage.VerdictDeferred, coverage.VerdictNotPublished}

// take adds one attribute to what is stated.
func (s *stated) take(a *business.SchemaAttribute, raw jcs.Raw, unit string) {
	status := coverage.VerdictPublished
	switch a.Kind {
	case "money":
		s.bounds(raw, raw, unit, true)
	case "money_from":
		s.bounds(raw, nil, unit, true)
	case "money_to":
		s.bounds(nil, raw, unit, true)
	case "quantity":
		s.bounds(raw, raw, unit, false)
	case "count":
		s.bounds(raw, raw, unit, false)
		if n, ok := readAmount(raw); ok {
			s.truth = truthOf(n.cmp(amount{den: 1}) > 0)
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
		if status != coverage.VerdictPublished || !s.span.stated {
			s.value, s.unit = raw, ""
		}
	}
}

// bounds narrows the interval and keeps the literal that the proposition shows.
func (s *stated) bounds(low, high jcs.Raw, unit string, money bool) {
	if v := &s.span; !v.stated {
		*v = interval{stated: true, unit: unit, money: money}
		v.low = bound{amount{den: 1}, money} // no price is below 0
	} else if v.unit != unit {
		v.mixed = true
	}
	if n, ok := readAmount(low); ok && (!s.span.low.closed || n.cmp(s.span.low.amount) > 0) {
		s.span.low = bound{n, true}
	}
	if n, ok := readAmount(high); ok && (!s.span.high.closed || n.cmp(s.span.high.amount) < 0) {
		s.span.high = bound{n, true}
	}
	if s.brief {
		return
	}
	switch {
	case low != nil && high != nil:
		s.value, s.unit = low, unit
	case low != nil:
		s.join("from", low, unit)
	case high != nil:
		s.join("to", high, unit)
	}
}

// join adds an end to the object of a value with open ends. An exact price beside it stays what it is. Ends in different units have none in common.
func (s *stated) join(name string, literal jcs.Raw, unit string) {
	member := `"` + name + `":` + string(literal) + `}`
	switch {
	case s.value == nil:
		s.value, s.unit = jcs.Raw(`{`+member), unit
	case s.value[0] == '{':
		s.value = jcs.Raw(string(s.value[:len(s.value)-1]) + `,` + member)
		if s.unit != unit {
			s.unit = ""
		}
	}
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
		if s.facts[i].Field != o.facts[i].Field || !bytes.Equal(s.facts[i].Value, o.facts[i].Value) || s.facts[i].Unit != o.facts[i].Unit {
			return false
		}
	}
	return s.span.stated == o.span.stated && s.span.unit == o.span.unit
}

// convert brings a number of one unit to another; false when they measure different things.
func convert(n *big.Rat, from, to string) (*big.Rat, bool) {
	factor, ok := unitFactor(from, to)
	if !ok {
		return nil, false
	}
	return factor.Mul(factor, n), true
}

// comparing is a comparison with its literals in the unit of the last value compared: a type is compared with one conversion.
type comparing struct {
	*language.Comparison
	unit      string
	converted bool
	a, b      amount
	fitsA     bool // a converts
	fitsB     bool
	vacant    bool // the word may ask whether the thing is vacant ("is the double room free"): it is no denial of a price of nothing
}

// in converts the literals to a unit.
func (c *comparing) in(unit string) {
	if c.converted && c.unit == unit {
		return
	}
	c.unit, c.converted, c.fitsB = unit, true, false
	a, ok := convert(c.Literal.Value, c.Literal.Unit, unit)
	if c.fitsA = ok; ok {
		c.a = amountOf(a)
	}
	if c.Op != "between" {
		return
	}
	if b, ok := convert(c.Upper.Value, c.Upper.Unit, unit); ok {
		c.b, c.fitsB = amountOf(b), true
	}
}

// judge compares an interval with a literal: true when all its points satisfy the comparison, false when none does, else unknown with the reason.
func (v *interval) judge(c *comparing) (verdict, reason string) {
	if !v.stated {
		return coverage.VerdictUnknown, coverage.ReasonUnknownValue
	}
	if c.Free {
		if !v.money {
			return coverage.VerdictUnknown, coverage.ReasonUnitMismatch
		}
		return decide(v, "le", amount{den: 1}, amount{})
	}
	if c.Literal.Unit == "" && v.unit != "" {
		return coverage.VerdictUnknown, coverage.ReasonUnitMissing
	}
	if c.Literal.Money != v.money || v.mixed {
		return coverage.VerdictUnknown, coverage.ReasonUnitMismatch
	}
	c.in(v.unit)
	if !c.fitsA {
		return coverage.VerdictUnknown, coverage.ReasonUnitMismatch
	}
	if c.Op != "between" {
		return decide(v, c.Op, c.a, amount{})
	}
	if c.Upper.Unit == "" && v.unit != "" {
		return coverage.VerdictUnknown, coverage.ReasonUnitMissing
	}
	if !c.fitsB || c.Upper.Money != v.money {
		return coverage.VerdictUnknown, coverage.ReasonUnitMismatch
	}
	return decide(v, c.Op, c.a, c.b)
}

// decide settles low <= x <= high against x op a (between: a <= x <= b).
func decide(v *interval, op string, a, b amount) (verdict, reason string) {
	lowAtLeast := func(n amount, strict bool) bool {
		return v.low.closed && (v.low.cmp(n) > 0 || !strict && v.low.cmp(n) == 0)
	}
	highAtMost := func(n amount, strict bool) bool {
		return v.high.closed && (v.high.cmp(n) < 0 || !strict && v.high.cmp(n) == 0)
	}
	var yes, no bool
	if v.low.closed && v.high.closed && v.low.cmp(v.high.amount) > 0 {
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
		if a.cmp(b) > 0 {
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
