package answer

import (
	"math/big"
	"slices"
	"strings"

	"sayso/business"
	"sayso/business/coverage"
	"sayso/jcs"
)

// predicate is a condition on the value of a reading.
type predicate struct {
	op    string
	value jcs.Raw // as stated, nil for the default
	unit  string
	low   *big.Rat // of a number; of between the lower end
	high  *big.Rat // of between
	text  string
	truth bool
}

// numeric are the kinds of streams whose values are compared as numbers.
func numeric(kind string) bool { return kind == "count" || kind == "quantity" || kind == "money" }

// readPredicate reads the condition for a stream; without one a bool must be true and a count above 0.
func readPredicate(a object, stream *business.SchemaStream) predicate {
	raw := a.get("predicate")
	if raw == nil {
		switch stream.Kind {
		case "bool":
			return predicate{op: "is", truth: true}
		case "count":
			return predicate{op: "gt", low: new(big.Rat)}
		}
		a.fail("predicate", "the member is required for a stream of kind "+stream.Kind)
		return predicate{}
	}
	o := a.open("/predicate", raw, "op", "value", "unit")
	o.need("op")
	ops := []string{"is"}
	switch {
	case numeric(stream.Kind):
		ops = []string{"is", "lt", "le", "gt", "ge", "between"}
	case stream.Kind == "text":
		ops = []string{"is", "contains"}
	}
	p := predicate{op: o.oneOf("op", "", ops...), value: o.need("value")}
	if unit := o.get("unit"); unit != nil {
		p.unit = o.text("/predicate/unit", unit, maxName)
		if stream.Kind == "bool" || stream.Kind == "text" {
			o.fail("unit", "a stream of kind "+stream.Kind+" has no unit")
		}
	}
	p.operand(o, stream.Kind)
	return p
}

// operand reads the value the predicate compares with.
func (p *predicate) operand(o object, kind string) {
	if p.value == nil {
		return
	}
	ok := false
	switch {
	case kind == "bool":
		p.truth = string(p.value) == "true"
		ok = p.truth || string(p.value) == "false"
	case kind == "text":
		p.text = o.text("/predicate/value", p.value, maxID)
		return
	case p.op == "between":
		ends := o.list("value", p.value, 2)
		if len(ends) == 2 {
			var ok1, ok2 bool
			p.low, ok1 = decimal(ends[0])
			p.high, ok2 = decimal(ends[1])
			ok = ok1 && ok2 && p.low.Cmp(p.high) <= 0
		}
	default:
		p.low, ok = decimal(p.value)
	}
	switch {
	case ok:
	case p.op == "between":
		o.fail("value", "two numbers, the lower one first, are expected")
	default:
		o.fail("value", "a value of the stream's kind, "+kind+", is expected")
	}
}

// unitGap says why the values of a stream cannot be compared with the predicate; "" when they can. Currencies never convert.
func (p *predicate) unitGap(stream *business.SchemaStream) string {
	if !numeric(stream.Kind) || p.unit == stream.Unit || p.value == nil {
		return ""
	}
	if p.unit == "" {
		if stream.Kind == "count" {
			return ""
		}
		return coverage.ReasonUnitMissing
	}
	if _, ok := unitFactor(p.unit, stream.Unit); !ok || stream.Kind == "money" {
		return coverage.ReasonUnitMismatch
	}
	return ""
}

// holds compares a value that fits the stream; its units must be comparable.
func (p *predicate) holds(stream *business.SchemaStream, value jcs.Raw) bool {
	switch stream.Kind {
	case "bool":
		return (string(value) == "true") == p.truth
	case "text":
		s, _ := jcs.Text(value)
		return s == p.text || p.op == "contains" && strings.Contains(s, p.text)
	}
	n, _ := decimal(value)
	if p.unit != "" && p.unit != stream.Unit {
		factor, _ := unitFactor(stream.Unit, p.unit)
		n.Mul(n, factor)
	}
	sign := n.Cmp(p.low)
	switch p.op {
	case "lt":
		return sign < 0
	case "le":
		return sign <= 0
	case "gt":
		return sign > 0
	case "ge":
		return sign >= 0
	case "between":
		return sign >= 0 && n.Cmp(p.high) <= 0
	}
	return sign == 0
}

// liveBranch is one entry of the result of live.nearest.
type liveBranch struct {
	Location  string       `json:"location"`
	DistanceM int64        `json:"distance_m"`
	Reading   shownReading `json:"reading"`
}

// liveNearest is the handler live.nearest: the nearest places at which a condition on a live reading holds.
func (c *Compiled) liveNearest(call coverage.Call, readings Readings) (*coverage.Outcome, error) {
	x := c.index
	a := readArguments(call, "stream", "subject", "predicate", "caller_location", "bound", "max_distance_km", "limit")
	bound := a.bound("caller_location", "record")
	t := x.readTarget(a, bound, false)
	r := readReach(a, bound)
	var p predicate
	if t.stream != nil {
		if t.stream.ScopedBy == "" {
			a.fail("stream", "the stream is not stated by location, so no branch is nearest")
		}
		p = readPredicate(a, t.stream)
	}
	if err := a.err(); err != nil {
		return nil, err
	}
	e := coverage.Evidence{Complete: !x.publication.Incomplete, Scope: x.scopeOf(t), Request: append([]coverage.Criterion{p.request(t.stream)}, r.request()...)}
	if !x.placed() {
		return x.nowhere(call, e), nil
	}
	decides := func(o observation) bool { return !o.stale() && x.places[x.place[o.Location]].position != nil }
	if t.stream.Subject != "" && t.subject == nil {
		open := 0
		if r.from == nil {
			open = 1
		}
		return x.askRecord(call, readings, t, decides, 0, open)
	}
	found, err := x.readingsOf(readings, t, call.Now)
	if err != nil {
		return nil, err
	}
	reason := p.unitGap(t.stream)
	if reason == "" && !slices.ContainsFunc(found, decides) {
		reason = coverage.ReasonNotPublished
		if slices.ContainsFunc(found, func(o observation) bool { return o.stale() }) {
			reason = coverage.ReasonStale
		}
	}
	if reason != "" {
		e.Propositions = []coverage.Proposition{x.condition(call, t, &p, nil, coverage.VerdictUnknown)}
		return &coverage.Outcome{Coverage: e.Finish(call.Handler, false, []coverage.Gap{t.gap(reason)}), Result: coverage.WithheldResult()}, nil
	}
	if r.from == nil {
		return askPosition(call, e), nil
	}
	return x.searchNearest(call, e, t, r, &p, found)
}

// searchNearest walks outwards. A branch may be called nearest only when it is known of every nearer one: a nearer branch whose reading is stale or missing,
// and any branch without coordinates, is a gap.
func (x *index) searchNearest(call coverage.Call, e coverage.Evidence, t target, r reach, p *predicate, found []observation) (*coverage.Outcome, error) {
	near, unplaced := x.around(r)
	reading := make(map[string]*observation, len(found))
	for i := range found {
		reading[found[i].Location] = &found[i]
	}
	gaps := unplacedGaps(unplaced)
	out, branches := &coverage.Outcome{}, []liveBranch{}
	var open []coverage.Gap // the branches not known of that are nearer than the next one found
	var used, shown []observation
	decided := false
	for _, place := range near {
		o := reading[place.ID]
		if o != nil {
			used = append(used, *o)
		}
		if o == nil || o.stale() {
			open = append(open, t.unknownAt(place.ID, o))
			continue
		}
		decided = true
		if !p.holds(t.stream, o.Value) {
			continue
		}
		if len(branches) == r.limit {
			e.Complete = false
			break
		}
		gaps, open = append(gaps, open...), nil
		e.Propositions = append(e.Propositions, x.condition(call, t, p, o, coverage.VerdictTrue))
		e.Facts = append(e.Facts, coverage.Fact{Subject: e.Propositions[len(branches)].Subject, Field: o.Stream, Value: o.Value, Unit: o.stream.Unit, Source: "stream"})
		branches = append(branches, liveBranch{place.ID, place.metres, o.shown()})
		shown, out.Locations = append(shown, *o), append(out.Locations, place.ID)
	}
	e.Complete = e.Complete && len(open) == 0
	if len(branches) == 0 {
		gaps = append(gaps, open...)
		gaps = append(gaps, x.none(&e, call, t.stream.Key, p.op, len(gaps) == 0)...)
	} else {
		e.Polarity = coverage.Positive
	}
	addFreshness(out, used, shown)
	out.Coverage = e.Finish(call.Handler, decided, gaps[:min(len(gaps), maxOptions)])
	return x.branchResult(out, branches)
}

// unknownAt is the gap of a branch without a fresh reading.
func (t *target) unknownAt(location string, o *observation) coverage.Gap {
	g := t.gap(coverage.ReasonMissingValue)
	if o != nil {
		g.Reason = coverage.ReasonStale
	}
	g.Location = location
	return g
}

// condition is the proposition that the predicate holds at a reading, or anywhere.
func (x *index) condition(call coverage.Call, t target, p *predicate, o *observation, verdict string) coverage.Proposition {
	out := x.stated(call, t, o)
	out.Op, out.RequestValue, out.Verdict = p.op, string(p.value), verdict
	if s, ok := jcs.Text(p.value); ok {
		out.RequestValue = s
	}
	return out
}

// request is the predicate as it was evaluated; a default states its own value.
func (p *predicate) request(stream *business.SchemaStream) coverage.Criterion {
	c := coverage.Criterion{Type: stream.Subject, Field: stream.Key, Op: p.op, Value: p.value, Unit: p.unit}
	switch {
	case p.value != nil:
	case p.truth:
		c.Value = jcs.Raw("true")
	default:
		c.Value = jcs.Raw("0")
	}
	return c
}
