package answer

import (
	"cmp"

	"sayso/business/coverage"
	"sayso/jcs"
)

// profileAttribute is shape S2.
func (a *asking) profileAttribute(as *assignment, r *result) {
	p := as.part(slotProfile)
	if len(p.values) != 1 {
		a.gapAt(r, p.from, p.to, coverage.ReasonRelationNotPublished)
		return
	}
	a.profileVerdict(r, "S2", p.values[0], p, p.negated && p.opposite)
	if p.aside || p.acted || p.article && as.clause.equates && as.part(slotExist) == nil {
		a.gapAt(r, p.from, p.to, coverage.ReasonRelationNotPublished) // "are you in the sauna", "can I deliver", "are you a walk-in"
	}
}

// profileVerdict states a yes/no attribute of the business.
func (a *asking) profileVerdict(r *result, shape, key string, p *part, negated bool) {
	raw := a.profile[key]
	verdict := coverage.VerdictUnknown
	switch string(raw) {
	case "true", "false":
		verdict = truthOf(string(raw) == "true")
	default:
		raw = nil
	}
	prop := coverage.Proposition{Clause: r.clause, Shape: shape, Asked: a.asked(p), Subject: coverage.Subject{Publisher: a.publication.Slug}, Field: key, PublisherValue: raw, Verdict: verdict, Match: p.match.String()}
	if negated {
		prop.Verdict, prop.Op, prop.RequestValue = negate(verdict), "is", "false"
	}
	r.propositions = append(r.propositions, prop)
	r.polarity = append(r.polarity, prop.Verdict)
	if raw == nil {
		if s := a.asked(p); s != nil {
			a.gapAt(r, p.from, p.to, coverage.ReasonNotPublished)
		} else {
			r.gap(coverage.Gap{Field: key, Reason: coverage.ReasonNotPublished})
		}
		return
	}
	r.established = true
	r.facts = append(r.facts, coverage.Fact{Subject: prop.Subject, Field: key, Value: raw, Source: "profile"})
	r.usage.profile = append(r.usage.profile, key)
}

// listTerm is shape S3.
func (a *asking) listTerm(as *assignment, r *result) {
	p := as.part(slotTerm)
	list := a.listsOf(as)[0]
	var of []int32
	for _, t := range p.targets {
		if a.terms[t].list == list {
			of = append(of, t)
		}
	}
	a.membership(r, list, of, p)
	noun, verb := as.part(slotListNoun), as.part(slotOwnVerb, slotListVerb, slotTypeVerb)
	if !as.named() || p.aside || noun != nil && verb == nil && as.clause.equates && noun.from > p.from { // "is BMW a brand"
		a.gapAt(r, p.from, p.to, coverage.ReasonRelationNotPublished)
	}
}

// membership says whether terms are in a list. Several terms under one word agree or are unknown.
func (a *asking) membership(r *result, list string, of []int32, p *part) {
	if span := a.asked(p); span != nil {
		value, _ := jcs.Encode(span.Text)
		r.criteria = append(r.criteria, coverage.Criterion{Field: list, Op: "contains", Value: value, Span: span})
	}
	verdict, listed := "", []string{}
	for _, t := range of {
		v := coverage.VerdictUnknown
		switch {
		case a.terms[t].listed:
			v = coverage.VerdictTrue
			listed = append(listed, a.terms[t].id)
		case a.schema.Lists[list].Closed && !a.publication.Incomplete:
			v = coverage.VerdictExcluded
		}
		if verdict != "" && verdict != v {
			v = coverage.VerdictUnknown
		}
		verdict = v
	}
	prop := coverage.Proposition{Clause: r.clause, Shape: "S3", Asked: a.asked(p), Subject: coverage.Subject{Publisher: a.publication.Slug}, Field: list, Op: "contains", RequestValue: a.text(p), Verdict: cmp.Or(verdict, coverage.VerdictUnknown), Match: p.match.String()}
	if verdict == coverage.VerdictUnknown || verdict == "" {
		reason := coverage.ReasonNotPublished
		if verdict == "" {
			reason = coverage.ReasonOutOfDomain
		}
		if a.asked(p) != nil {
			a.gapAt(r, p.from, p.to, reason)
		} else {
			r.gap(coverage.Gap{Field: list, Reason: reason})
		}
		r.propositions = append(r.propositions, prop)
		return
	}
	r.established = true
	for _, id := range listed {
		raw, _ := jcs.Encode(id)
		prop.PublisherValue = raw
		r.facts = append(r.facts, coverage.Fact{Subject: prop.Subject, Field: list, Value: raw, Source: "list"})
	}
	set(&r.usage.lists, list, append(r.usage.lists[list], listed...))
	r.propositions = append(r.propositions, prop)
	r.polarity = append(r.polarity, prop.Verdict)
}

// listValues is shape S10. An open list is never the whole answer, nor are the first values of one longer than options are.
func (a *asking) listValues(as *assignment, r *result) {
	p := as.part(slotListNoun)
	key := p.values[0]
	list := a.schema.Lists[key]
	var ids []string
	for _, t := range list.Values[:min(len(list.Values), maxOptions)] {
		ids = append(ids, t.ID)
	}
	r.incomplete = len(ids) < len(list.Values)
	raw, err := jcs.Encode(ids)
	if err != nil || len(ids) == 0 {
		r.gap(coverage.Gap{Field: key, Reason: coverage.ReasonNotPublished})
		return
	}
	subject := coverage.Subject{Publisher: a.publication.Slug}
	r.established = true
	r.propositions = append(r.propositions, coverage.Proposition{Clause: r.clause, Shape: "S10", Asked: a.asked(p), Subject: subject, Field: key, PublisherValue: raw, Verdict: coverage.VerdictPublished, Match: p.match.String()})
	r.fields = append(r.fields, coverage.RequestedField{Clause: r.clause, Field: key, Subject: subject, Status: coverage.VerdictPublished})
	r.facts = append(r.facts, coverage.Fact{Subject: subject, Field: key, Value: raw, Source: "list"})
	set(&r.usage.lists, key, ids)
	if !list.Closed || a.publication.Incomplete || r.incomplete {
		r.gap(coverage.Gap{Field: "complete_list", Reason: coverage.ReasonNotPublished})
	}
}
