package answer

import (
	"fmt"
	"slices"

	"sayso/business"
	"sayso/business/answer/language"
	"sayso/business/coverage"
	"sayso/jcs"
)

// answerCriteria evaluates the structured criteria as propositions of the shapes they correspond to.
func (a *asking) answerCriteria() error {
	for i := range a.request.criteria {
		c := &a.request.criteria[i]
		r := &result{clause: len(a.results)}
		if err := a.answerCriterion(c, r); err != nil {
			return err
		}
		if len(r.open) > 0 {
			r.close()
		}
		r.criteria = []coverage.Criterion{c.Criterion}
		a.results = append(a.results, r)
	}
	return nil
}

// fault is a criterion that cannot be evaluated as it is written.
func (c *criterionAsked) fault(member, message string) error {
	at := pointer(c.at, member)
	return &coverage.CallError{Code: coverage.InvalidArguments, Path: at, Message: at + ": " + message}
}

func (a *asking) answerCriterion(c *criterionAsked, r *result) error {
	if c.Type == "" {
		return a.businessCriterion(c, r)
	}
	s := subjects{chosen: c.ID != ""}
	if c.ID == "" {
		s.typ, s.records = c.Type, a.byType[c.Type]
	} else if i, ok := a.record[coverage.Key{Type: c.Type, ID: c.ID}]; ok {
		s.records = []int{i}
	}
	r.incomplete = len(s.records) > a.request.limit
	if len(s.records) == 0 {
		text := c.Type
		if c.ID != "" {
			text = coverage.Key{Type: c.Type, ID: c.ID}.String()
		}
		r.gap(coverage.Gap{Text: text, Reason: coverage.ReasonNotPublished})
		return nil
	}
	if a.scopedField(c.Field) {
		return a.scopedCriterion(c, s, r)
	}
	switch c.Op {
	case "exists":
		r.shape = "S4"
		if len(s.records) > 1 && !a.alike(s.records, []string{c.Field}, "") {
			var ok bool
			if s, ok = a.pick(s, r); !ok {
				return nil
			}
		}
		a.stateFields(s, []string{c.Field}, "", r)
	case "is":
		want, err := c.truth()
		if err != nil {
			return err
		}
		r.shape = "S6"
		p := &part{piece: piece{raw: string(c.Value)}, negated: !want, opposite: !want}
		a.verdicts(s, r, true, a.byKeys([]string{c.Field}, p))
	case "contains":
		return c.fault("op", "contains asks about a list of the business; leave out type")
	default:
		p, err := c.compare()
		if err != nil {
			return err
		}
		r.shape = "S7"
		a.verdicts(s, r, true, a.byComparison(c.Field, p))
	}
	return nil
}

// scopedCriterion asks about a field of a record that holds per location: whether the record is there (S8), what is stated, or a comparison.
func (a *asking) scopedCriterion(c *criterionAsked, s subjects, r *result) error {
	as := &assignment{} // no words: all places, or the one that is bound
	r.shape = "S8"
	there := func(i int, location string) (coverage.Proposition, stated, string) {
		return a.present(i, c.Field, location, as)
	}
	switch c.Op {
	case "exists":
		if c.Field != "stock" && c.Field != "available" {
			r.shape = "S4"
			a.scopedFields(as, s, []string{c.Field}, r)
			return nil
		}
		a.presentAtPlaces(as, s, c.Field, r, there)
	case "is":
		want, err := c.truth()
		if err != nil {
			return err
		}
		a.presentAtPlaces(as, s, c.Field, r, func(i int, location string) (coverage.Proposition, stated, string) {
			p, v, reason := there(i, location)
			p.Op, p.RequestValue = "is", string(c.Value)
			if !want {
				p.Verdict = negate(p.Verdict)
			}
			return p, v, reason
		})
	case "contains":
		return c.fault("op", "contains asks about a list of the business; leave out type")
	default:
		p, err := c.compare()
		if err != nil {
			return err
		}
		to := &comparing{Comparison: &p.compare}
		a.atPlaces(as, s, r, func(i int, location string) (coverage.Proposition, stated, string) {
			return a.compared(i, c.Field, location, p, to)
		})
	}
	return nil
}

// businessCriterion asks about the business: a yes/no attribute, a list, or a field of its locations.
func (a *asking) businessCriterion(c *criterionAsked, r *result) error {
	_, isList := a.schema.Lists[c.Field]
	switch {
	case c.Op == "contains" && isList:
		id, ok := jcs.Text(c.Value)
		if !ok {
			return c.fault("value", "a term of the list is expected")
		}
		r.shape = "S3"
		var of []int32
		for n, t := range a.terms {
			if t.list == c.Field && t.id == id {
				of = append(of, int32(n))
			}
		}
		a.membership(r, c.Field, of, &part{piece: piece{raw: id}})
	case c.Op == "contains":
		r.gap(coverage.Gap{Field: c.Field, Reason: coverage.ReasonNotPublished})
	case c.Op == "is":
		want, err := c.truth()
		if err != nil {
			return err
		}
		r.shape = "S2"
		a.profileVerdict(r, "S2", c.Field, &part{piece: piece{raw: string(c.Value)}}, !want)
	case c.Op == "exists" && isList:
		r.shape = "S10"
		a.listValues(alone(slotListNoun, piece{kind: language.KindListNoun, values: []string{c.Field}}), r)
	case c.Op == "exists" && placeField(c.Field):
		r.shape = "S5"
		a.placeFields(alone(slotPlaceField, piece{kind: language.KindField, values: []string{c.Field}}), r)
	case c.Op == "exists":
		r.shape = "S2"
		a.profileVerdict(r, "S2", c.Field, &part{}, false)
	default:
		return c.fault("type", "a comparison is about records: state their type")
	}
	return nil
}

// truth is the value of a criterion with op is.
func (c *criterionAsked) truth() (bool, error) {
	switch string(c.Value) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, c.fault("value", "true or false is expected; there is no equality of other values")
}

// compare is the comparison of a criterion, with its numbers as they were written.
func (c *criterionAsked) compare() (*part, error) {
	var values []jcs.Raw
	if c.Op == "between" {
		if c.Value[0] != '[' || business.Decode(c.Value, &values) != nil || len(values) != 2 {
			return nil, c.fault("value", "a list of two numbers is expected")
		}
	} else {
		values = []jcs.Raw{c.Value}
	}
	p := &part{piece: piece{kind: language.KindComparison, raw: string(c.Value), compare: language.Comparison{Op: c.Op}}}
	for i, raw := range values {
		n, ok := decimal(raw)
		if !ok {
			return nil, c.fault("value", fmt.Sprintf("a number is expected where %s stands", quoted(string(raw))))
		}
		_, measured := units[c.Unit]
		l := language.Literal{Value: n, Unit: c.Unit, Money: c.Unit != "" && !measured && currencyCode(c.Unit)}
		if i == 0 {
			p.compare.Literal = l
		} else {
			p.compare.Upper = l
		}
	}
	return p, nil
}

// currencyCode reports whether s has the form of an ISO 4217 code.
func currencyCode(s string) bool {
	return len(s) == 3 && !slices.ContainsFunc([]byte(s), func(b byte) bool { return b < 'A' || b > 'Z' })
}
