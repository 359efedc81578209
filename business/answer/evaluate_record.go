package answer

import (
	"cmp"
	"slices"

	"sayso/business/answer/language"
	"sayso/business/coverage"
	"sayso/jcs"
)

// recordFields is shape S4: what a record states about fields.
func (a *asking) recordFields(as *assignment, r *result) {
	s, ok := a.candidates(as, r)
	if !ok {
		return
	}
	fields := fieldsOf(as.parts(slotField))
	if as.part(slotScoped) != nil {
		a.scopedFields(as, s, fieldsOf(as.parts(slotScoped)), r)
		return
	}
	if len(s.records) == 1 && a.silentAbout(s.records[0], fields) {
		if variants := a.variants(s.records[0]); len(variants) > 0 {
			s.records = variants
		}
	}
	if len(s.records) > 1 && (r.incomplete || !a.alike(s.records, fields, "")) {
		if s, ok = a.pick(s, r); !ok {
			return
		}
	}
	a.stateFields(s, fields, "", r)
}

// fieldsOf are the distinct fields of pieces, in order.
func fieldsOf(parts []*part) []string {
	var out []string
	for _, p := range parts {
		if !slices.Contains(out, p.values[0]) {
			out = append(out, p.values[0])
		}
	}
	return out
}

// silentAbout reports whether a record states none of the fields.
func (a *asking) silentAbout(record int, fields []string) bool {
	for _, f := range fields {
		if a.about(record, f, "").status != coverage.VerdictNotPublished {
			return false
		}
	}
	return true
}

// alike reports whether all records state the fields with the same literals. Nothing is the same for more records than an answer lists.
func (a *asking) alike(records []int, fields []string, location string) bool {
	if a.publication.Incomplete || len(records) > a.request.limit {
		return false
	}
	for _, f := range fields {
		first := a.about(records[0], f, location)
		for _, i := range records[1:] {
			if other := a.about(i, f, location); !first.same(&other) {
				return false
			}
		}
	}
	return true
}

// stateFields makes one proposition for each field of each record.
func (a *asking) stateFields(s subjects, fields []string, location string, r *result) {
	a.narrowed(s, r)
	r.established = r.established || s.typ == "" && s.span != nil || s.chosen
	for n, i := range s.records {
		if n == a.request.limit {
			r.incomplete = true
			break
		}
		r.usage.record(i)
		for _, f := range fields {
			a.stateField(s, i, f, location, r)
		}
	}
}

func (a *asking) stateField(s subjects, record int, field, location string, r *result) {
	v := a.about(record, field, location)
	subject := a.recordSubject(record)
	subject.Location = location
	r.propositions = append(r.propositions, coverage.Proposition{
		Clause: r.clause, Shape: r.shape, Asked: a.asked(s.span), Subject: subject, Field: field, PublisherValue: v.value, Unit: v.unit, Verdict: v.status, Match: s.matchName(),
	})
	r.fields = append(r.fields, coverage.RequestedField{Clause: r.clause, Field: field, Subject: subject, Status: v.status})
	if v.status == coverage.VerdictNotPublished {
		r.fieldGap(field)
		return
	}
	r.established = true
	r.facts = append(r.facts, v.facts...)
	r.usage.record(record, v.facts...)
	a.keepReading(&v, field, r)
}

// keepReading notes the reading that says what is stated.
func (a *asking) keepReading(v *stated, field string, r *result) {
	if v.reading != nil {
		a.live.keep(v.reading, field, r)
	}
}

// fieldGap says once that a field is not published.
func (r *result) fieldGap(field string) {
	r.fieldReason(field, coverage.ReasonNotPublished)
}

// fieldReason adds a gap of a field once.
func (r *result) fieldReason(field, reason string) {
	if !slices.ContainsFunc(r.gaps, func(g coverage.Gap) bool { return g.Field == field && g.Reason == reason }) {
		r.gap(coverage.Gap{Field: field, Reason: reason})
	}
}

// scopedFields states fields that hold per location.
func (a *asking) scopedFields(as *assignment, s subjects, fields []string, r *result) {
	places, ok := a.placesOf(as, r)
	if !ok {
		return
	}
	if len(s.records) > 1 {
		if s, ok = a.pick(s, r); !ok {
			a.mayNeedPlace(places, r)
			return
		}
	}
	if len(places) > 1 && !a.alikeAt(s.records[0], fields, places) {
		if places, ok = a.pickPlace(places, as.part(slotPlace), r); !ok {
			return
		}
	}
	for _, p := range places {
		a.stateFields(s, fields, a.places[p].ID, r)
	}
}

// mayNeedPlace counts the location as open too, while the record that decides it is open.
func (a *asking) mayNeedPlace(places []int, r *result) {
	if _, bound := a.request.bound["location"]; len(places) > 1 && !bound {
		r.need(a.placeDimension(places))
	}
}

func (a *asking) alikeAt(record int, fields []string, places []int) bool {
	if a.tooMany(places) {
		return false
	}
	for _, f := range fields {
		first := a.about(record, f, a.places[places[0]].ID)
		for _, p := range places[1:] {
			if other := a.about(record, f, a.places[p].ID); !first.same(&other) {
				return false
			}
		}
	}
	return true
}

// judging judges a record by a yes/no attribute or a comparison. full is what an answer shows; brief is its verdict alone, for a question over a whole type.
type judging struct {
	full  func(record int) (coverage.Proposition, stated, string)
	brief func(record int) string
}

// verdicts settles a yes/no question over candidates: existential over a type, else the same for all or one that is chosen.
func (a *asking) verdicts(s subjects, r *result, existential bool, j judging) {
	if existential && s.typ != "" && !s.chosen {
		a.existential(s, r, j)
		return
	}
	if len(s.records) > 1 {
		differ := func() bool {
			first := j.brief(s.records[0])
			return slices.ContainsFunc(s.records, func(i int) bool { return j.brief(i) != first })
		}
		if r.incomplete || a.publication.Incomplete || differ() {
			var ok bool
			if s, ok = a.pick(s, r); !ok {
				return
			}
		}
	}
	a.narrowed(s, r)
	r.established = r.established || s.typ == "" && s.span != nil || s.chosen
	for n, i := range s.records {
		if n == a.request.limit {
			r.incomplete = true
			break
		}
		a.judgeRecord(s, i, r, j)
	}
}

// judgeRecord adds the judgement of one record.
func (a *asking) judgeRecord(s subjects, i int, r *result, j judging) {
	p, v, reason := j.full(i)
	p.Clause, p.Shape, p.Subject = r.clause, r.shape, cmp.Or(p.Subject, a.recordSubject(i))
	p.Match = s.matchName()
	if s.single {
		p.Verdict = coverage.VerdictUnknown
	}
	r.propositions = append(r.propositions, p)
	r.polarity = append(r.polarity, p.Verdict)
	r.usage.record(i, v.facts...)
	r.facts = append(r.facts, v.facts...)
	a.keepReading(&v, p.Field, r)
	if p.Verdict != coverage.VerdictUnknown {
		r.established = true
	} else if reason != "" {
		r.unknown(p, reason)
	}
}

// unknown says why a yes/no question has no answer.
func (r *result) unknown(p coverage.Proposition, reason string) {
	g := coverage.Gap{Field: p.Field, Reason: reason}
	if p.Asked != nil {
		g = coverage.Gap{Text: p.Asked.Text, Start: &p.Asked.Start, End: &p.Asked.End, Reason: reason}
	}
	for _, have := range r.gaps {
		if have.Text == g.Text && have.Field == g.Field && start(have) == start(g) {
			return
		}
	}
	r.gap(g)
}

// oneOf reports whether a type asks for one record that fits: "is there a room with a balcony". What is said of "your rooms", and of rooms in front of the verb
// ("do rooms have a balcony"), is said of all of them.
func (a *asking) oneOf(as *assignment) bool {
	typ, exist := as.part(slotType), as.part(slotExist)
	if exist == nil || typ == nil {
		return !as.whole()
	}
	if typ.from > 0 && a.l.Definites[a.tokens[typ.from-1].Plain] {
		return false
	}
	if !as.whole() {
		return true
	}
	anyOf := typ.from > as.clause.from && a.filler(typ.from-1) && !a.l.Auxiliaries[a.tokens[typ.from-1].Plain] // "do any rooms have"
	return exist.from < typ.from || anyOf
}

// existential is true when one candidate is and none is unknown, false when all are.
func (a *asking) existential(s subjects, r *result, j judging) {
	verdict, told := coverage.VerdictFalse, false
	for _, i := range s.records {
		switch j.brief(i) {
		case coverage.VerdictUnknown:
			if verdict = coverage.VerdictUnknown; !told { // the words are the same for each record
				p, _, reason := j.full(i)
				r.unknown(p, cmp.Or(reason, coverage.ReasonUnknownValue))
				told = true
			}
		case coverage.VerdictTrue:
			if verdict == coverage.VerdictFalse {
				verdict = coverage.VerdictTrue
			}
		}
	}
	if verdict == coverage.VerdictFalse && (r.incomplete || a.publication.Incomplete || len(s.records) > a.request.limit) {
		verdict = coverage.VerdictUnknown
		r.incomplete = true
		r.fieldReason("complete_list", coverage.ReasonNotPublished)
	}
	shown := 0
	for _, i := range s.records {
		if verdict == coverage.VerdictTrue && j.brief(i) != coverage.VerdictTrue {
			continue
		}
		if shown == a.request.limit {
			r.incomplete = true
			break
		}
		shown++
		gaps := len(r.gaps)
		a.judgeRecord(s, i, r, j)
		r.gaps = r.gaps[:gaps] // each unknown was told above
	}
	r.polarity = []string{verdict}
}

// recordAttribute is shape S6.
func (a *asking) recordAttribute(as *assignment, r *result) {
	s, ok := a.candidates(as, r)
	if !ok {
		return
	}
	a.verdicts(s, r, a.oneOf(as), a.byBool(as.part(slotBool)))
}

// byBool judges by the yes/no attributes of records that a word names.
func (a *asking) byBool(p *part) judging {
	keys := p.values
	if p.kind == language.KindProfile {
		keys = p.bools
	}
	return a.byKeys(keys, p)
}

func (a *asking) byKeys(keys []string, p *part) judging {
	return judging{
		full: func(i int) (coverage.Proposition, stated, string) { return a.boolOf(i, keys, p) },
		brief: func(i int) string {
			truth := a.glance(i, keys[0]).truth
			for _, key := range keys[1:] {
				if a.glance(i, key).truth != truth {
					return coverage.VerdictUnknown
				}
			}
			if p.negated && p.opposite {
				return negate(truth)
			}
			return truth
		},
	}
}

// boolOf judges yes/no attributes of a record that one word names: they agree or are unknown.
func (a *asking) boolOf(i int, keys []string, p *part) (coverage.Proposition, stated, string) {
	out := stated{truth: coverage.VerdictUnknown}
	for n, key := range keys {
		v := a.state(i, key, "")
		out.facts = append(out.facts, v.facts...)
		if n == 0 || v.truth == out.truth {
			out.truth, out.value = v.truth, v.value
		} else {
			out.truth = coverage.VerdictUnknown
		}
	}
	prop := coverage.Proposition{Asked: a.asked(p), Field: keys[0], PublisherValue: out.value, Verdict: out.truth}
	if p.negated && p.opposite {
		prop.Verdict, prop.Op, prop.RequestValue = negate(out.truth), "is", "false"
	}
	return prop, out, coverage.ReasonNotPublished
}

// comparison is shape S7.
func (a *asking) comparison(as *assignment, r *result) {
	s, ok := a.candidates(as, r)
	if !ok {
		return
	}
	p, field := as.part(slotComparison), a.comparedField(as)
	a.criterion(p, field, r)
	a.verdicts(s, r, a.oneOf(as), a.byComparison(field, p))
}

// byComparison judges by a comparison with a field.
func (a *asking) byComparison(field string, p *part) judging {
	c := &comparing{Comparison: &p.compare, vacant: p.compare.Free && p.to == p.from+1 && a.l.Vacant[a.tokens[p.from].Plain]}
	return judging{
		full: func(i int) (coverage.Proposition, stated, string) { return a.compared(i, field, "", p, c) },
		brief: func(i int) string {
			v := a.glance(i, field)
			if a.live != nil && v.live != "" {
				v = a.about(i, field, "")
			}
			verdict, _ := v.compare(c)
			return verdict
		},
	}
}

// criterion repeats a comparison with the caller's values.
func (a *asking) criterion(p *part, field string, r *result) {
	c := coverage.Criterion{Field: field, Op: p.compare.Op, Span: a.asked(p), Unit: p.compare.Literal.Unit}
	if c.Span != nil {
		c.Value, _ = jcs.Encode(c.Span.Text)
		r.criteria = append(r.criteria, c)
	}
}

// compared judges one record against a comparison, at a location where the field holds per location.
func (a *asking) compared(i int, field, location string, p *part, c *comparing) (coverage.Proposition, stated, string) {
	v := a.about(i, field, location)
	verdict, reason := v.compare(c)
	subject := a.recordSubject(i)
	subject.Location = location
	return coverage.Proposition{Asked: a.asked(p), Subject: subject, Field: field, Op: p.compare.Op, RequestValue: a.text(p), PublisherValue: v.value, Unit: v.unit, Verdict: verdict}, v, reason
}

// compare judges what is stated about a field against a comparison.
func (s *stated) compare(c *comparing) (verdict, reason string) {
	switch {
	case s.reading != nil && s.reading.stale():
		return coverage.VerdictUnknown, coverage.ReasonStale
	case s.status == coverage.VerdictPublished:
		verdict, reason = s.span.judge(c)
		if verdict == coverage.VerdictFalse && c.vacant {
			return coverage.VerdictUnknown, coverage.ReasonUnknownValue
		}
		return verdict, reason
	case s.status == coverage.VerdictNotPublished:
		return coverage.VerdictUnknown, coverage.ReasonNotPublished
	}
	return coverage.VerdictUnknown, coverage.ReasonUnknownValue
}

// selection is shape S11: all records of a type, or those that a filter holds for. Each candidate must be known.
func (a *asking) selection(as *assignment, r *result) {
	s, ok := a.candidates(as, r)
	if !ok {
		return
	}
	var filters []judging
	if p := as.part(slotBool); p != nil {
		kept := *p
		kept.opposite = p.negated // "which rooms do not have a balcony" asks for those without
		filters = append(filters, a.byBool(&kept))
	}
	if p := as.part(slotComparison); p != nil {
		field := a.comparedField(as)
		a.criterion(p, field, r)
		filters = append(filters, a.byComparison(field, p))
	}
	shown, told := 0, make([]bool, len(filters))
	for _, i := range s.records {
		if !a.passes(i, filters, told, r) {
			continue
		}
		if shown == a.request.limit {
			r.incomplete = true
			break
		}
		shown++
		r.usage.record(i)
		for _, f := range filters {
			a.judgeRecord(s, i, r, f)
		}
		if len(filters) == 0 {
			r.propositions = append(r.propositions, coverage.Proposition{Clause: r.clause, Shape: "S11", Asked: a.asked(s.span), Subject: a.recordSubject(i), Verdict: coverage.VerdictTrue})
		}
	}
	r.polarity = nil
	if r.incomplete {
		r.fieldReason("complete_list", coverage.ReasonNotPublished)
	}
	if shown == 0 && len(filters) > 0 && !r.incomplete {
		a.noneSelected(s, filters, r)
	}
	r.established = r.established || shown > 0
}

// noneSelected states that no record passes: each candidate's filters are shown.
func (a *asking) noneSelected(s subjects, filters []judging, r *result) {
	for _, i := range s.records[:min(len(s.records), a.request.limit)] {
		for _, f := range filters {
			gaps := len(r.gaps)
			a.judgeRecord(s, i, r, f)
			r.gaps = r.gaps[:gaps]
		}
	}
	r.polarity = nil
}

// passes reports whether a record passes all filters. One that is not known either way is a gap, told once for each filter.
func (a *asking) passes(i int, filters []judging, told []bool, r *result) bool {
	open := -1
	for n, f := range filters {
		switch f.brief(i) {
		case coverage.VerdictFalse:
			return false
		case coverage.VerdictUnknown:
			open = n
		}
	}
	if open >= 0 && !told[open] {
		p, _, reason := filters[open].full(i)
		r.unknown(p, cmp.Or(reason, coverage.ReasonUnknownValue))
		told[open] = true
	}
	return open < 0
}

// presence is shape S8: whether a record is in stock or available, at a location where that is stated per location.
func (a *asking) presence(as *assignment, r *result) {
	s, ok := a.candidates(as, r)
	if !ok {
		if len(r.open) > 0 && a.scopedField(presenceField(as)) {
			if places, ok := a.placesOf(as, r); ok {
				a.mayNeedPlace(places, r)
			}
		}
		return
	}
	field := presenceField(as)
	if !a.scopedField(field) {
		a.verdicts(s, r, false, judging{
			full:  func(i int) (coverage.Proposition, stated, string) { return a.present(i, field, "", as) },
			brief: func(i int) string { return a.about(i, field, "").truth },
		})
		a.statedField(field, "", s, r)
		return
	}
	a.presentAtPlaces(as, s, field, r, func(i int, location string) (coverage.Proposition, stated, string) {
		return a.present(i, field, location, as)
	})
}

// presentAtPlaces is atPlaces for a field that says whether the record is there, and records whether the field is published.
func (a *asking) presentAtPlaces(as *assignment, s subjects, field string, r *result, judge judgement) {
	s, places := a.atPlaces(as, s, r, judge)
	for _, p := range places {
		a.statedField(field, a.places[p].ID, s, r)
	}
}

// judgement judges a record at a location. The last value is the reason of an unknown verdict, "" when the field itself is not stated.
type judgement func(record int, location string) (coverage.Proposition, stated, string)

// atPlaces settles a yes/no question about one record at the places that are asked about: at all of them where they agree, else at the one that is chosen.
// It returns what was settled, no place while the clause waits.
func (a *asking) atPlaces(as *assignment, s subjects, r *result, judge judgement) (subjects, []int) {
	places, ok := a.placesOf(as, r)
	if !ok {
		return s, nil
	}
	if len(s.records) > 1 {
		if s, ok = a.pick(s, r); !ok {
			a.mayNeedPlace(places, r)
			return s, nil
		}
	}
	if len(places) > 1 && !a.agree(places, func(location string) string { p, _, _ := judge(s.records[0], location); return p.Verdict }) {
		if places, ok = a.pickPlace(places, as.part(slotPlace), r); !ok {
			return s, nil
		}
	}
	a.narrowed(s, r)
	r.established = true
	for _, p := range places {
		id := a.places[p].ID
		a.judgeRecord(s, s.records[0], r, judging{full: func(i int) (coverage.Proposition, stated, string) { return judge(i, id) }})
		r.usage.place(p, "")
	}
	return s, places
}

// presenceField is the field of shape S8: the one named, else available.
func presenceField(as *assignment) string {
	if p := as.part(slotPresence); p != nil {
		return p.values[0]
	}
	return "available"
}

// present judges whether a record is there. What is not stated is the field, not the words.
func (a *asking) present(i int, field, location string, as *assignment) (coverage.Proposition, stated, string) {
	v := a.about(i, field, location)
	subject := a.recordSubject(i)
	subject.Location = location
	return coverage.Proposition{Asked: a.asked(as.part(slotPresence, slotPlace)), Subject: subject, Field: field, PublisherValue: v.value, Unit: v.unit, Verdict: v.truth}, v, ""
}

// statedField records the field of a presence question and whether it is published.
func (a *asking) statedField(field, location string, s subjects, r *result) {
	if len(r.open) > 0 {
		return
	}
	for _, i := range s.records {
		v := a.about(i, field, location)
		subject := a.recordSubject(i)
		subject.Location = location
		r.fields = append(r.fields, coverage.RequestedField{Clause: r.clause, Field: field, Subject: subject, Status: v.status})
		if v.truth == coverage.VerdictUnknown {
			r.fieldGap(field)
		}
	}
}

// agree reports whether a verdict is known and the same at all places.
func (a *asking) agree(places []int, verdict func(location string) string) bool {
	if a.tooMany(places) {
		return false
	}
	first := verdict(a.places[places[0]].ID)
	return first != coverage.VerdictUnknown && !slices.ContainsFunc(places, func(p int) bool { return verdict(a.places[p].ID) != first })
}

// about is what is stated about a field of a record, from the record or, where readings are asked for, from the stream it is bound to.
func (a *asking) about(record int, field, location string) stated {
	v := a.state(record, field, location)
	if a.live != nil && v.live != "" {
		return a.live.stated(a, record, field, location, v.live)
	}
	return v
}
