package answer

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"time"

	"sayso/business"
	"sayso/business/coverage"
	"sayso/business/hours"
	"sayso/jcs"
)

// method is how distances are measured: along the surface of a sphere of radius 6371.0088 km, whole metres.
const method = "great_circle"

// reach is what both handlers of nearness are asked: from where, how far and how many.
type reach struct {
	from  *business.Position
	bound *big.Rat // metres, nil without a bound
	km    jcs.Raw  // the bound as it was stated
	limit int
}

// readReach reads caller_location, as an argument or from bound, max_distance_km and limit. The position of a caller is never taken from anywhere else.
func readReach(a, bound object) reach {
	r := reach{limit: a.whole("limit", 3, 1, 20)}
	if raw, at := a.either("caller_location", bound, "caller_location"); raw != nil {
		r.from = a.position(at, raw)
	}
	if r.km = a.get("max_distance_km"); r.km != nil {
		km, ok := decimal(r.km)
		if !ok || km.Sign() <= 0 {
			a.fail("max_distance_km", "a number above 0 is expected")
			return r
		}
		r.bound = km.Mul(km, big.NewRat(1000, 1))
	}
	return r
}

// request is the criterion of the bound. The position itself is repeated nowhere but in the signed echo of the arguments.
func (r *reach) request() []coverage.Criterion {
	if r.km == nil {
		return nil
	}
	return []coverage.Criterion{{Field: "distance", Op: "le", Value: r.km, Unit: "km"}}
}

// far is a place with its distance.
type far struct {
	*place
	metres int64
}

// around lists the places within reach by distance, then id, and those whose distance is not known.
func (x *index) around(r reach) (near []far, unplaced []*place) {
	most := int64(math.MaxInt64) // distances are whole metres, so a bound is as good as the whole metres in it
	if r.bound != nil {
		if metres := new(big.Int).Quo(r.bound.Num(), r.bound.Denom()); metres.IsInt64() {
			most = metres.Int64()
		}
	}
	for i := range x.places {
		p := &x.places[i]
		if p.position == nil {
			unplaced = append(unplaced, p)
			continue
		}
		if metres := r.from.Distance(*p.position); metres <= most {
			near = append(near, far{p, metres})
		}
	}
	slices.SortStableFunc(near, func(a, b far) int { return cmp.Compare(a.metres, b.metres) })
	return near, unplaced
}

// placed reports whether any place has coordinates: otherwise no position of a caller would help.
func (x *index) placed() bool {
	return slices.ContainsFunc(x.places, func(p place) bool { return p.position != nil })
}

// unplacedGaps names the places without coordinates, as far as a list of options goes.
func unplacedGaps(unplaced []*place) (gaps []coverage.Gap) {
	for _, p := range unplaced[:min(len(unplaced), maxOptions)] {
		gaps = append(gaps, coverage.Gap{Field: "distance", Reason: coverage.ReasonNoCoordinates, Location: p.ID})
	}
	return gaps
}

// nowhere is the outcome of a publisher without any place that has coordinates.
func (x *index) nowhere(call coverage.Call, e coverage.Evidence) *coverage.Outcome {
	e.Propositions = []coverage.Proposition{{Shape: call.Handler, Subject: x.subject(nil), Field: "distance", Verdict: coverage.VerdictUnknown}}
	gaps := []coverage.Gap{{Field: "address", Reason: coverage.ReasonNotPublished}}
	if len(x.places) > 0 {
		_, unplaced := x.around(reach{})
		gaps = unplacedGaps(unplaced)
	}
	return &coverage.Outcome{Coverage: e.Finish(call.Handler, false, gaps), Result: coverage.WithheldResult()}
}

// askPosition asks where the caller is.
func askPosition(call coverage.Call, e coverage.Evidence) *coverage.Outcome {
	return ask(call, e, coverage.Missing{Name: "caller_location", Type: "geo"}, 1)
}

// nearBranch is one entry of the result of branches.nearest. Open is absent when it was not asked.
type nearBranch struct {
	Location  string  `json:"location"`
	DistanceM int64   `json:"distance_m"`
	Open      jcs.Raw `json:"open,omitempty"` // true | false | "unknown"
}

// branchesNearest is the handler branches.nearest: the places nearest to the caller. It takes no service: no relation between a service and a place is
// published (XP-IDENTITY-008).
func (c *Compiled) branchesNearest(call coverage.Call) (*coverage.Outcome, error) {
	x := c.index
	a := readArguments(call, "caller_location", "bound", "limit", "max_distance_km", "open_at")
	r := readReach(a, a.bound("caller_location"))
	when, openAt := readOpenAt(a, call.Now)
	if err := a.err(); err != nil {
		return nil, err
	}
	e := coverage.Evidence{Complete: !x.publication.Incomplete, Scope: "publisher", Request: r.request()}
	if openAt != nil {
		e.Request = append(e.Request, coverage.Criterion{Field: "hours", Op: "is", Value: openAt})
	}
	switch {
	case !x.placed():
		return x.nowhere(call, e), nil
	case r.from == nil:
		return askPosition(call, e), nil
	}
	near, unplaced := x.around(r)
	gaps := unplacedGaps(unplaced)
	e.Complete = e.Complete && len(near) <= r.limit && len(unplaced) <= maxOptions
	out, branches := &coverage.Outcome{}, []nearBranch{}
	for _, p := range near[:min(len(near), r.limit)] {
		b := nearBranch{Location: p.ID, DistanceM: p.metres}
		e.Propositions = append(e.Propositions, coverage.Proposition{Shape: call.Handler, Subject: x.at(p.ID), Field: "distance", Verdict: coverage.VerdictPublished})
		if openAt != nil {
			proposition, reason := x.openProposition(call, p.place, when, openAt)
			e.Propositions = append(e.Propositions, proposition)
			b.Open = openLiteral(proposition.Verdict)
			if reason != "" {
				gaps = append(gaps, coverage.Gap{Field: "hours", Reason: reason, Location: p.ID})
			}
			if p.OpeningHours != "" {
				e.Facts = append(e.Facts, coverage.Fact{Subject: x.at(p.ID), Field: "hours", Value: text(p.OpeningHours), Source: "location"})
			}
		}
		branches = append(branches, b)
		out.Locations = append(out.Locations, p.ID)
	}
	if len(near) == 0 {
		gaps = append(gaps, x.none(&e, call, "distance", "le", len(gaps) == 0)...)
	}
	out.Coverage = e.Finish(call.Handler, len(branches) > 0, gaps)
	return x.branchResult(out, branches)
}

// branchResult writes the branches with the method, or nothing where the status withholds.
func (x *index) branchResult(out *coverage.Outcome, branches any) (*coverage.Outcome, error) {
	if !out.Coverage.Covered {
		out.Result, out.Locations = coverage.WithheldResult(), nil
		return out, nil
	}
	var err error
	out.Result, err = jcs.Encode(struct {
		Branches any    `json:"branches"`
		Method   string `json:"method"`
	}{branches, method})
	return out, err
}

// none states that no branch is found: a no when everything about the branches is known and complete, not known otherwise.
func (x *index) none(e *coverage.Evidence, call coverage.Call, field, op string, known bool) (gaps []coverage.Gap) {
	p := coverage.Proposition{Shape: call.Handler, Subject: x.subject(nil), Field: field, Op: op, Verdict: coverage.VerdictUnknown}
	switch {
	case known && e.Complete:
		p.Verdict = coverage.VerdictFalse
	case known:
		gaps = []coverage.Gap{{Field: field, Reason: coverage.ReasonMissingValue}}
	}
	e.Propositions = append(e.Propositions, p)
	e.Polarity = coverage.PolarityOf(p.Verdict)
	return gaps
}

// readOpenAt reads "now" or an instant; the literal is nil when opening was not asked.
func readOpenAt(a object, now time.Time) (time.Time, jcs.Raw) {
	raw := a.get("open_at")
	if raw == nil {
		return now, nil
	}
	s, ok := jcs.Text(raw)
	if ok && s == "now" {
		return now, raw
	}
	when, err := time.Parse(time.RFC3339, s)
	if !ok || err != nil {
		a.fail("open_at", "now, or an instant of RFC 3339 such as 2026-03-29T09:30:00+02:00, is expected")
	}
	return when, raw
}

// openProposition says whether a place is open at an instant, by its own clock, and why it is not known.
func (x *index) openProposition(call coverage.Call, p *place, when time.Time, asked jcs.Raw) (coverage.Proposition, string) {
	requested, _ := jcs.Text(asked)
	out := coverage.Proposition{Shape: call.Handler, Subject: x.at(p.ID), Field: "hours", Op: "is", RequestValue: requested, Verdict: coverage.VerdictUnknown}
	if p.hours == nil {
		return out, coverage.ReasonNotPublished
	}
	out.PublisherValue = text(p.OpeningHours)
	if p.zone != nil {
		out.Date = when.In(p.zone).Format(time.DateOnly)
	}
	r := p.hours.At(when, p.zone, x.calendar)
	switch {
	case r.State == hours.Open:
		out.Verdict = coverage.VerdictTrue
	case r.State == hours.Closed:
		out.Verdict = coverage.VerdictFalse
	case r.Reason == hours.ReasonNoZone:
		return out, coverage.ReasonZoneNotPublished
	case r.Reason == hours.ReasonHolidayUnknown:
		return out, coverage.ReasonHolidayRuleNotPublished
	default:
		return out, coverage.ReasonUnknownValue
	}
	return out, ""
}

// openLiteral is a verdict as the member open.
func openLiteral(verdict string) jcs.Raw {
	switch verdict {
	case coverage.VerdictTrue:
		return jcs.Raw("true")
	case coverage.VerdictFalse:
		return jcs.Raw("false")
	}
	return jcs.Raw(`"unknown"`)
}

// text is a string as JSON.
func text(s string) jcs.Raw { return jcs.AppendString(nil, s) }
