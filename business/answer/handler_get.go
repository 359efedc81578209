package answer

import (
	"cmp"
	"slices"
	"strconv"

	"sayso/business"
	"sayso/business/coverage"
	"sayso/jcs"
)

// getCall is the arguments of knowledge.get.
type getCall struct {
	keys    []coverage.Key
	fields  []string
	content bool
}

func readGet(call coverage.Call) (getCall, error) {
	a := readArguments(call, "records", "fields", "include")
	var g getCall
	for i, raw := range a.list("records", a.need("records"), 20) {
		at := pointer("/records", strconv.Itoa(i))
		k := a.key(at, raw)
		if slices.Contains(g.keys, k) {
			a.failAt(at, "the record stands twice")
		}
		g.keys = append(g.keys, k)
	}
	g.fields = a.texts("fields", 32, maxName)
	for i, s := range a.texts("include", 1, maxName) {
		if g.content = s == "content"; !g.content {
			a.failAt(pointer("/include", strconv.Itoa(i)), "content is expected")
		}
	}
	return g, a.err()
}

// get is the handler knowledge.get: records by key, in the order asked for. A record that was withdrawn and one that never existed look the same.
func (c *Compiled) get(call coverage.Call) (*coverage.Outcome, error) {
	g, err := readGet(call)
	if err != nil {
		return nil, err
	}
	x := c.index
	e := coverage.Evidence{Complete: !x.publication.Incomplete, Scope: "record"}
	var gaps []coverage.Gap
	found := []business.Record{}
	for _, k := range g.keys {
		proposition := coverage.Proposition{Shape: call.Handler, Subject: x.subject(&k), RequestValue: k.String(), Verdict: coverage.VerdictNotPublished}
		i, ok := x.record[k]
		if !ok {
			e.Propositions = append(e.Propositions, proposition)
			gaps = append(gaps, coverage.Gap{Text: k.String(), Reason: coverage.ReasonNotPublished})
			continue
		}
		proposition.Verdict, proposition.Match = coverage.VerdictPublished, "exact"
		e.Propositions = append(e.Propositions, proposition)
		record := x.records[i]
		record.Publisher = cmp.Or(record.Publisher, x.publication.Slug) // a store keeps it beside the record
		if !g.content {
			record.Content = ""
		}
		if g.fields != nil {
			var missing []coverage.Gap
			record.Attributes, missing = x.pick(&e, k, record.Attributes, g.fields)
			gaps = append(gaps, missing...)
		}
		found = append(found, record)
	}
	out := &coverage.Outcome{Coverage: e.Finish(call.Handler, len(found) > 0, gaps), Result: coverage.WithheldResult()}
	if len(found) > 0 {
		out.Result, err = jcs.Encode(struct {
			Records []business.Record `json:"records"`
		}{found})
	}
	return out, err
}

// pick keeps of a record's attributes those that answer the fields asked for, and states of each field whether it is published.
func (x *index) pick(e *coverage.Evidence, k coverage.Key, attributes jcs.Raw, fields []string) (jcs.Raw, []coverage.Gap) {
	var members, kept []jcs.Member
	if attributes != nil {
		members, _ = business.Members(attributes) // an object: it was checked when it was published
	}
	var currency jcs.Raw
	for _, m := range members {
		if m.Name == "currency" {
			currency = m.Value
		}
	}
	var gaps []coverage.Gap
	for _, field := range fields {
		status := coverage.VerdictNotPublished
		for _, m := range members {
			answers := x.answers(m, field)
			if answers == "" {
				continue
			}
			status = strongest(status, answers)
			if !slices.ContainsFunc(kept, func(have jcs.Member) bool { return have.Name == m.Name }) {
				kept = append(kept, m)
				declared := x.schema.Attributes[m.Name]
				e.Facts = append(e.Facts, coverage.Fact{Subject: x.subject(&k), Field: m.Name, Value: m.Value, Unit: x.unitOf(&declared, currency), Source: "record"})
			}
		}
		e.RequestedFields = append(e.RequestedFields, coverage.RequestedField{Field: field, Subject: x.subject(&k), Status: status})
		if status == coverage.VerdictNotPublished {
			gaps = append(gaps, coverage.Gap{Text: k.String(), Field: field, Reason: coverage.ReasonNotPublished})
		}
	}
	return joinMembers(kept), gaps
}

// answers says how an attribute answers a field, which is a canonical field or the attribute's own name; "" when it does not. A field that is bound to a
// stream is answered by readings only.
func (x *index) answers(m jcs.Member, field string) string {
	declared := x.schema.Attributes[m.Name]
	switch {
	case m.Name != field && declared.Field != field, declared.Source != "", len(m.Value) == 2 && (m.Value[0] == '{' || m.Value[0] == '['):
		return ""
	case declared.Kind == "mode":
		mode, _ := jcs.Text(m.Value)
		if slices.Contains(declared.Deferred, mode) {
			return coverage.VerdictDeferred
		}
		if m.Name != field {
			return ""
		}
	case declared.Kind == "text":
		return coverage.VerdictStatedInText
	}
	return coverage.VerdictPublished
}

// strongest is the better of two states of a field.
func strongest(a, b string) string {
	order := []string{coverage.VerdictNotPublished, coverage.VerdictDeferred, coverage.VerdictStatedInText, coverage.VerdictPublished}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}

// joinMembers writes members as an object with their literals, nil for none.
func joinMembers(members []jcs.Member) jcs.Raw {
	if len(members) == 0 {
		return nil
	}
	return jcs.AppendMembers(nil, members)
}
