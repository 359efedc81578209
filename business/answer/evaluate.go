package answer

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"sayso/business"
	"sayso/business/answer/language"
	"sayso/business/coverage"
)

// asking is one call of knowledge.search while it is answered.
type asking struct {
	*Compiled
	call    coverage.Call
	request request
	l       *language.Language
	query   string
	tokens  []language.Token
	results []*result
	claimed map[string]int // record and variant: which clause has the bare name
	live    *liveSource    // nil when readings are not asked for
}

// dimension is something a clause needs and the call does not say.
type dimension struct {
	name    string
	kind    string // enum | date | geo
	records []int  // of an enum: its options, as many as are shown and one more that says that there are more
	places  []int
}

// result is what one clause comes to. A clause with an open dimension keeps nothing of what it found.
type result struct {
	clause       int
	shape        string
	span         coverage.Span
	established  bool
	propositions []coverage.Proposition
	fields       []coverage.RequestedField
	facts        []coverage.Fact
	criteria     []coverage.Criterion
	references   []coverage.Reference
	gaps         []coverage.Gap
	open         []dimension // in the fixed order; more than one may be open
	usage        usage
	incomplete   bool // not all candidates were seen
	polarity     []string
}

// usage is what of the snapshot the propositions used. Most clauses use one kind, so each map is made when it is first written.
type usage struct {
	records  map[int][]string        // attribute keys by record
	scoped   map[int]map[string]bool // locations of scoped attributes
	places   map[int][]string        // fields by place
	lists    map[string][]string     // term ids by list; nil list for the whole
	profile  []string
	distance map[int]int64
}

func (u *usage) record(i int, facts ...coverage.Fact) {
	keys := u.records[i]
	for _, f := range facts {
		if !slices.Contains(keys, f.Field) {
			keys = append(keys, f.Field)
		}
		if f.Subject.Location != "" {
			u.scope(i, f.Subject.Location)
		}
	}
	set(&u.records, i, keys)
}

func (u *usage) scope(i int, location string) {
	places := u.scoped[i]
	set(&places, location, true)
	set(&u.scoped, i, places)
}

func (u *usage) place(i int, field string) {
	if !slices.Contains(u.places[i], field) {
		set(&u.places, i, append(u.places[i], field))
	}
}

// set writes to a map that may not be made yet.
func set[K comparable, V any](m *map[K]V, k K, v V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[k] = v
}

// gap adds why something of the clause is not established.
func (r *result) gap(g coverage.Gap) {
	g.Clause = r.clause
	r.gaps = append(r.gaps, g)
}

// need opens a dimension.
func (r *result) need(d dimension) { r.open = append(r.open, d) }

// order is the fixed order of the dimensions.
var order = []string{"record", "variant", "location", "date", "caller_location"}

// evaluate answers one clause.
func (a *asking) evaluate(cl *clause) *result {
	r := &result{clause: cl.index}
	if cl.to > cl.from {
		r.span = a.spanOf(cl.from, cl.to)
	}
	as := a.assign(cl)
	if as != nil && as.part(slotType) != nil && !as.onlyWords() {
		as = a.withoutType(cl) // a type word beside something else is no evidence
	}
	if as != nil {
		r.shape = as.shape.name
		evaluators[as.shape.name](a, as, r)
	}
	a.account(cl, as, r)
	if len(cl.parts) > 0 && !r.established && len(r.gaps) == 0 && len(r.open) == 0 {
		a.gapAt(r, cl.from, cl.to, coverage.ReasonNotPublished) // understood, and there is no such record
	}
	if len(r.open) > 0 {
		r.close()
	}
	return r
}

// withoutType assigns a clause whose type words are left over.
func (a *asking) withoutType(cl *clause) *assignment {
	reduced := *cl
	reduced.parts = slices.Clone(cl.parts)
	for i := range reduced.parts {
		if reduced.parts[i].kind == language.KindType {
			reduced.parts[i].kind = language.KindCategory
		}
	}
	return a.assign(&reduced)
}

// close takes back what a clause with an open dimension found.
func (r *result) close() {
	r.propositions, r.fields, r.facts, r.polarity, r.criteria = nil, nil, nil, nil, nil
	r.usage, r.established = usage{}, false
}

var evaluators map[string]func(*asking, *assignment, *result)

func init() {
	evaluators = map[string]func(*asking, *assignment, *result){
		"S1": (*asking).exists, "S2": (*asking).profileAttribute, "S3": (*asking).listTerm, "S4": (*asking).recordFields, "S5": (*asking).placeFields,
		"S6": (*asking).recordAttribute, "S7": (*asking).comparison, "S8": (*asking).presence, "S9": (*asking).nearestPlace, "S10": (*asking).listValues,
		"S11": (*asking).selection,
	}
}

// account gives every content token of a clause that no proposition used a reason. A verb of existence beside something unresolved is used by the question about
// that ("do you have a yacht"): it has an entry of its own only where nothing else has.
func (a *asking) account(cl *clause, as *assignment, r *result) {
	var verb *part
	for i := range cl.parts {
		p := &cl.parts[i]
		switch {
		case as != nil && as.used[i]:
		case as == nil && p.exists() && !p.inherited:
			verb = p
		case p.inherited:
			r.inheritedGap(p)
		case p.kind == language.KindAnaphor:
			a.gapAt(r, p.from, p.to, cmp.Or(cl.reason, coverage.ReasonRelationNotPublished))
		case p.kind == language.KindContent, p.kind == language.KindQuestion:
			for k := p.from; k < p.to; k++ {
				a.gapAt(r, k, k+1, p.values[0])
			}
		case p.kind == language.KindSelector:
			a.gapAt(r, p.from, p.to, coverage.ReasonUnsupportedForm)
		case as == nil && p.kind == language.KindType, p.kind == language.KindCategory, p.kind == language.KindListNoun, p.kind == language.KindVerb:
			a.gapAt(r, p.from, p.to, coverage.ReasonUnknownWord)
		default:
			a.gapAt(r, p.from, p.to, coverage.ReasonRelationNotPublished)
		}
	}
	for _, i := range cl.loose {
		a.gapAt(r, i, i+1, coverage.ReasonUnknownWord)
	}
	if verb != nil && len(r.gaps) == 0 {
		a.gapAt(r, verb.from, verb.to, coverage.ReasonUnknownWord)
	}
	slices.SortStableFunc(r.gaps, func(x, y coverage.Gap) int { return cmp.Compare(start(x), start(y)) })
}

func start(g coverage.Gap) int {
	if g.Start == nil {
		return 1 << 20
	}
	return *g.Start
}

// inheritedGap says that what a clause takes from another is not published about it.
func (r *result) inheritedGap(p *part) {
	switch p.kind {
	case language.KindField:
		r.gap(coverage.Gap{Field: p.values[0], Reason: coverage.ReasonRelationNotPublished})
	case language.KindComparison, language.KindFree:
		r.gap(coverage.Gap{Field: cmp.Or(p.compare.Field, "comparison"), Reason: coverage.ReasonRelationNotPublished})
	case language.KindNegation:
	default:
		r.gap(coverage.Gap{Field: "relation", Reason: coverage.ReasonRelationNotPublished})
	}
}

// gapAt adds a gap for tokens, unless the same words have one: the words of a contraction share their place.
func (a *asking) gapAt(r *result, from, to int, reason string) {
	s := a.spanOf(from, to)
	for _, g := range r.gaps {
		if g.Start != nil && *g.Start == s.Start && *g.End == s.End {
			return
		}
	}
	r.gap(coverage.Gap{Text: s.Text, Start: &s.Start, End: &s.End, Reason: reason})
}

// spanOf is the part of the query from one token to before another.
func (a *asking) spanOf(from, to int) coverage.Span {
	first, last := a.tokens[from], a.tokens[to-1]
	return coverage.Span{Text: a.query[first.From:last.To], Start: first.Start, End: last.End}
}

// asked is the span of a piece, nil for a criterion.
func (a *asking) asked(p *part) *coverage.Span {
	if p == nil || p.to == 0 {
		return nil
	}
	s := a.spanOf(p.from, p.to)
	return &s
}

// text is what the caller wrote for a piece.
func (a *asking) text(p *part) string {
	if s := a.asked(p); s != nil {
		return s.Text
	}
	if p == nil {
		return ""
	}
	return p.raw
}

// keyOf names a record.
func (c *Compiled) keyOf(i int) coverage.Key {
	return coverage.Key{Type: c.records[i].Type, ID: c.records[i].ID}
}

func (c *Compiled) recordSubject(i int) coverage.Subject {
	k := c.keyOf(i)
	return c.subject(&k)
}

// subjects are the records a clause is about.
type subjects struct {
	records []int
	match   match
	span    *part
	typ     string // set when a type stands for all its records
	chosen  bool   // by the caller, in bound
	single  bool   // one record that is only narrower than what was asked, or without its type word: never whole
}

// label is what an option shows of a record: its title, or its id when the title repeats a published value.
func (a *asking) label(i int) string {
	if !strings.ContainsAny(a.records[i].Title, "0123456789") {
		return a.records[i].Title
	}
	for _, t := range language.Scan(a.records[i].Title) {
		digits := t.Word
		if number, _, is := language.Attached(t.Word); is {
			digits = number
		}
		n, ok := a.l.ParseNumber(digits)
		if !ok {
			continue
		}
		for _, m := range a.values[i].plain {
			if v, is := readAmount(m.Value); is && v.cmp(amountOf(n)) == 0 {
				return a.records[i].ID
			}
		}
	}
	return a.records[i].Title
}

// candidates finds the records of an assignment. ok is false when the clause waits for one.
func (a *asking) candidates(as *assignment, r *result) (s subjects, ok bool) {
	p := as.part(slotRecord, slotType, slotAnaphor)
	switch {
	case p == nil || p.kind == language.KindAnaphor:
		return a.unnamed(as, p, r)
	case p.kind == language.KindType:
		s = subjects{typ: p.values[0], span: p, records: a.byType[p.values[0]]}
		for _, t := range p.values[1:] {
			s.records = slices.Concat(s.records, a.byType[t])
		}
	default:
		s = subjects{match: p.match, span: p}
		for _, t := range p.targets {
			s.records = append(s.records, int(t))
		}
		slices.Sort(s.records)
		s.single = !p.match.full() && len(s.records) == 1 || p.match == matchElided
	}
	if len(s.records) == 0 {
		return s, false
	}
	r.incomplete = r.incomplete || len(s.records) >= maxCandidates || len(s.records) > a.request.limit
	return s, true
}

// unnamed is the subject of a clause that asks about a record and names none: the caller has to.
func (a *asking) unnamed(as *assignment, p *part, r *result) (s subjects, ok bool) {
	if as.clause.reason != "" || !as.whole() {
		if p != nil && as.clause.reason != "" {
			a.gapAt(r, p.from, p.to, as.clause.reason)
		}
		return s, false
	}
	if len(a.records) == 0 {
		return s, false
	}
	s.span = p
	if chosen, ok := a.choose("record", r, func(int) bool { return true }); ok {
		return subjects{records: []int{chosen}, span: p, chosen: true}, true
	}
	for i := range min(len(a.records), maxCandidates) {
		s.records = append(s.records, i)
	}
	if p != nil {
		r.references = append(r.references, coverage.Reference{Span: *a.asked(p), Clause: r.clause, Kind: "anaphor"})
	}
	r.need(a.recordDimension("record", r, s.records))
	return s, false
}

// name is the name of a dimension that belongs to one clause: the lowest clause has the bare one.
func (a *asking) name(dimension string, clause int) string {
	if first, ok := a.claimed[dimension]; ok && first != clause {
		return dimension + "." + strconv.Itoa(clause)
	}
	a.claimed[dimension] = clause
	return dimension
}

// choose is the record that bound names for a dimension. One that is no option is a fault of the caller's.
func (a *asking) choose(dimension string, r *result, option func(record int) bool) (int, bool) {
	name := a.name(dimension, r.clause)
	value, ok := a.request.bound[name]
	if !ok {
		return 0, false
	}
	a.request.taken[name] = true
	typ, id, _ := strings.Cut(value, "/")
	if i, ok := a.record[coverage.Key{Type: typ, ID: id}]; ok && option(i) {
		return i, true
	}
	a.request.refuse(name)
	return 0, false
}

// recordDimension asks for one of several records.
func (a *asking) recordDimension(name string, r *result, among []int) dimension {
	return dimension{name: a.name(name, r.clause), kind: "enum", records: among[:min(len(among), maxCandidates)]}
}

// options are the options of a dimension.
func (a *asking) options(d *dimension) (out []coverage.Option) {
	for _, i := range d.records {
		out = append(out, coverage.Option{Value: a.keyOf(i).String(), Label: a.label(i)})
	}
	for _, p := range d.places {
		out = append(out, coverage.Option{Value: a.places[p].ID, Label: a.places[p].label()})
	}
	return out
}

// pick narrows several records to the one that is meant, when bound says so. ok is false when the clause waits.
func (a *asking) pick(s subjects, r *result) (subjects, bool) {
	name := a.dimensionOf(s.records)
	if chosen, ok := a.choose(name, r, func(i int) bool { return slices.Contains(s.records, i) }); ok {
		return subjects{records: []int{chosen}, span: s.span, chosen: true, match: s.match}, true
	}
	r.references = append(r.references, a.recordWord(s, r)...)
	r.need(a.recordDimension(name, r, s.records))
	return s, false
}

func (a *asking) recordWord(s subjects, r *result) []coverage.Reference {
	if span := a.asked(s.span); span != nil {
		return []coverage.Reference{{Span: *span, Clause: r.clause, Kind: "record_word"}}
	}
	return nil
}

// dimensionOf is variant when each of the records is one record or published as a variant of it, else record. The record itself need not be among them.
func (a *asking) dimensionOf(records []int) string {
	family := func(parent coverage.Key) bool {
		return !slices.ContainsFunc(records, func(i int) bool { return a.keyOf(i) != parent && !a.variantOf(i, parent) })
	}
	first := a.keyOf(records[0])
	if family(first) {
		return "variant"
	}
	for _, l := range a.records[records[0]].Links { // the first record is the parent or a variant of it
		if parent := (coverage.Key{Type: l.Type, ID: l.ID}); l.Rel == "variant_of" && family(parent) {
			return "variant"
		}
	}
	return "record"
}

func (a *asking) variantOf(record int, parent coverage.Key) bool {
	return slices.ContainsFunc(a.records[record].Links, func(l business.Link) bool { return l.Rel == "variant_of" && l.Type == parent.Type && l.ID == parent.ID })
}

// variants are the records that are published as variants of a record.
func (a *asking) variants(record int) []int {
	var out []int
	for _, e := range a.incoming[a.keyOf(record)] {
		if i, ok := a.record[e.from]; ok && e.rel == "variant_of" && i != record {
			out = append(out, i)
		}
	}
	slices.Sort(out)
	return out
}

// narrowed says that a record is only narrower than what was asked: found, and not what settles the question.
func (a *asking) narrowed(s subjects, r *result) {
	if s.single && s.span != nil && !s.span.inherited {
		for k := s.span.from; k < s.span.to; k++ {
			if !a.filler(k) {
				a.gapAt(r, k, k+1, coverage.ReasonNarrowerOnly)
			}
		}
	} else if s.single {
		r.gap(coverage.Gap{Field: "record", Reason: coverage.ReasonNarrowerOnly})
	}
}

func (a *asking) filler(i int) bool {
	return a.l.Function[a.tokens[i].Plain] && !a.lexicon.content[a.l.Pack.Language][a.tokens[i].Plain]
}

// matchName is the match of a proposition about a record.
func (s *subjects) matchName() string {
	if s.typ != "" || s.chosen || s.span == nil {
		return ""
	}
	return s.match.String()
}

// exists is shape S1.
func (a *asking) exists(as *assignment, r *result) {
	s, ok := a.candidates(as, r)
	if !ok {
		return
	}
	r.established = true
	a.narrowed(s, r)
	verdict := coverage.VerdictTrue
	if s.single {
		verdict = coverage.VerdictUnknown
	}
	p := s.span
	plain := as.part(slotExist, slotTypeVerb) == nil && !p.inherited && (as.clause.caller || p.equated)
	verb := as.clause.helped && p.address && p.to == p.from+1
	if !s.single && (plain || verb || p.aside) {
		// Without a verb, what the caller may do and what something is are no questions about existence ("can I change tyres"), nor is what one word alone in
		// the place of the verb says ("do you paint"), nor where or what for something is ("are you at the massage").
		verdict = coverage.VerdictUnknown
		a.gapAt(r, p.from, p.to, coverage.ReasonRelationNotPublished)
	}
	if s.typ != "" {
		r.propositions = append(r.propositions, coverage.Proposition{Clause: r.clause, Shape: "S1", Asked: a.asked(s.span), Subject: coverage.Subject{Publisher: a.publication.Slug, Type: s.typ}, Verdict: verdict})
	}
	for n, i := range s.records {
		if n == a.request.limit {
			r.incomplete = true
			break
		}
		r.usage.record(i)
		if s.typ == "" {
			r.propositions = append(r.propositions, coverage.Proposition{
				Clause: r.clause, Shape: "S1", Asked: a.asked(s.span), Subject: a.recordSubject(i), Verdict: verdict, Match: s.matchName(),
			})
		}
	}
	r.polarity = append(r.polarity, verdict)
}
