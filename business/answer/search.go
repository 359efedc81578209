package answer

import (
	"fmt"
	"slices"
	"strings"

	"sayso/business/answer/language"
	"sayso/business/coverage"
)

// search is the handler knowledge.search and, with live, hybrid.resolve: a question in words, structured criteria, or both.
func (c *Compiled) search(call coverage.Call, readings Readings, live bool) (*coverage.Outcome, error) {
	req, err := readSearch(call, live)
	if err != nil {
		return nil, err
	}
	a := &asking{Compiled: c, call: call, request: req, query: req.query, claimed: map[string]int{}}
	if req.live {
		a.live = &liveSource{readings: readings}
	}
	var reference []coverage.Span
	var extra []coverage.Gap
	words := language.Scan(a.query)
	a.l, extra = c.languageOf(&a.request, words)
	if req.asked {
		if reference, err = a.answerQuery(words); err != nil {
			return nil, err
		}
	}
	if err := a.answerCriteria(); err != nil {
		return nil, err
	}
	if a.live != nil && a.live.fault != nil {
		return nil, a.live.fault
	}
	if err := a.checkBound(); err != nil {
		return nil, err
	}
	return a.outcome(reference, extra)
}

// languageOf is the language a question is read in, and a gap when it is asked in one that is not published (XP-IDENTITY-005).
func (c *Compiled) languageOf(r *request, words []language.Token) (*language.Language, []coverage.Gap) {
	gap := func(asked string) []coverage.Gap {
		return []coverage.Gap{{Reason: coverage.ReasonLanguage, Asked: asked, Published: c.publication.Profile.ContentLanguages}}
	}
	if r.language != "" {
		asked := primarySubtag(r.language)
		for _, l := range c.languages {
			if l.Pack.Language == asked {
				return l, nil
			}
		}
		if c.publishes(asked) {
			return c.languages[0], nil
		}
		return c.languages[0], gap(asked)
	}
	best, hits := c.languages[0], c.languages[0].Understood(words)
	for _, l := range c.languages[1:] {
		if n := l.Understood(words); n > hits {
			best, hits = l, n
		}
	}
	for _, l := range c.foreign {
		if best != wordless && l.Understood(words) > hits {
			return best, gap(l.Pack.Language)
		}
	}
	return best, nil
}

// answerQuery reads the question, of which words are the scan, and evaluates its clauses.
func (a *asking) answerQuery(words []language.Token) (reference []coverage.Span, err error) {
	a.tokens = a.l.TokensOf(a.query, words)
	if len(a.tokens) > maxTokens {
		return nil, errTooComplex
	}
	if len(a.tokens) == 0 {
		n := len([]rune(a.query))
		start := 0
		r := &result{span: coverage.Span{Text: a.query, End: n}}
		r.gap(coverage.Gap{Text: a.query, Start: &start, End: &n, Reason: coverage.ReasonUnsupportedForm})
		a.results = append(a.results, r)
		return nil, nil
	}
	r := &reader{c: a.Compiled, l: a.l, tokens: a.tokens}
	chosen, err := r.read()
	if err != nil {
		return nil, err
	}
	clauses := r.clauses(chosen)
	for _, p := range r.leading {
		reference = append(reference, a.spanOf(p.from, p.to))
	}
	for i := range clauses {
		cl := &clauses[i]
		res := a.coordinated(cl, distributed(clauses, i))
		for _, p := range cl.self {
			if len(cl.parts) > 0 || len(cl.loose) > 0 {
				reference = append(reference, a.spanOf(p.from, p.to))
			} else {
				a.gapAt(res, p.from, p.to, coverage.ReasonRelationNotPublished)
			}
		}
		if len(cl.parts) == 0 && len(cl.loose) == 0 && len(res.gaps) == 0 {
			a.gapAt(res, cl.from, cl.to, coverage.ReasonUnsupportedForm)
		}
		a.results = append(a.results, res)
	}
	if len(clauses) == 0 {
		res := &result{span: a.spanOf(0, len(a.tokens))}
		a.gapAt(res, 0, len(a.tokens), coverage.ReasonUnsupportedForm)
		a.results = append(a.results, res)
	}
	slices.SortFunc(reference, func(x, y coverage.Span) int { return x.Start - y.Start })
	return reference, nil
}

// coordinated evaluates a clause. With what stands behind a later noun it may have another reading: where it is no question by itself that is the one, and
// otherwise both must come to the same, or what stands there is unresolved ("a massage and a suite with breakfast").
func (a *asking) coordinated(cl, other *clause) *result {
	if other == nil {
		return a.evaluate(cl)
	}
	distributed := a.evaluate(other)
	if distributed.clean() || !cl.has((*part).exists) {
		return distributed
	}
	alone := a.evaluate(cl)
	if len(alone.gaps) == 0 {
		p := other.parts[len(cl.parts)]
		a.gapAt(alone, p.from, p.to, coverage.ReasonRelationNotPublished)
	}
	return alone
}

// clean reports whether everything asked is stated and nothing denied.
func (r *result) clean() bool {
	denied := func(p coverage.Proposition) bool {
		return p.Verdict == coverage.VerdictFalse || p.Verdict == coverage.VerdictExcluded || p.Verdict == coverage.VerdictUnknown
	}
	return r.established && len(r.gaps) == 0 && len(r.open) == 0 && !slices.ContainsFunc(r.propositions, denied)
}

// checkBound refuses values that are no option. A value that no clause waits for any more must still name something.
func (a *asking) checkBound() error {
	fault := func(name string) error {
		at := pointer("/bound", name)
		return &coverage.CallError{Code: coverage.InvalidArguments, Path: at, Message: at + ": the value is none of the options; ask again without it"}
	}
	if a.request.refused != "" {
		return fault(a.request.refused)
	}
	for _, name := range sortedKeys(a.request.bound) {
		value := a.request.bound[name]
		switch dimension, _, _ := strings.Cut(name, "."); {
		case a.request.taken[name] || name == "date":
		case name == "location":
			if _, ok := a.place[value]; !ok {
				return fault(name)
			}
		default:
			typ, id, _ := strings.Cut(value, "/")
			if _, ok := a.record[coverage.Key{Type: typ, ID: id}]; !ok {
				return fault(dimension)
			}
		}
	}
	return nil
}

// outcome joins what the clauses came to.
func (a *asking) outcome(reference []coverage.Span, gaps []coverage.Gap) (*coverage.Outcome, error) {
	e := coverage.Evidence{Complete: !a.publication.Incomplete, PublisherReference: reference}
	var all usage
	var verdicts []string
	established := 0
	var open []openDimension
	unresolved := gaps
	scopes := make([]string, 0, len(a.results))
	for _, r := range a.results {
		e.Complete = e.Complete && !r.incomplete
		e.Propositions = append(e.Propositions, r.propositions...)
		e.RequestedFields = append(e.RequestedFields, r.fields...)
		e.Facts = appendFacts(e.Facts, r.facts)
		e.References = append(e.References, r.references...)
		e.Request = append(e.Request, r.criteria...)
		verdicts = append(verdicts, r.polarity...)
		scope := scopeOf(r.shape)
		scopes = append(scopes, scope)
		c := coverage.Clause{Index: r.clause, Text: r.span.Text, Start: r.span.Start, End: r.span.End, Shape: r.shape, Scope: scope, Missing: []int{}, Unresolved: []int{}}
		for _, g := range r.gaps {
			// What a clause takes from another is unresolved once.
			at := slices.IndexFunc(unresolved, func(h coverage.Gap) bool {
				return g.Start != nil && h.Start != nil && *g.Start == *h.Start && *g.End == *h.End
			})
			if at < 0 {
				at = len(unresolved)
				unresolved = append(unresolved, g)
			}
			c.Unresolved = append(c.Unresolved, at)
		}
		for _, d := range r.open {
			open = append(open, openDimension{d, r.clause, len(e.Clauses)})
			c.Unresolved = append(c.Unresolved, len(unresolved))
			unresolved = append(unresolved, coverage.Gap{Field: d.name, Clause: r.clause, Reason: coverage.ReasonMissingValue})
		}
		if r.established && len(r.open) == 0 {
			established++
		}
		c.Answered = r.established && len(r.gaps) == 0 && len(r.open) == 0
		e.Clauses = append(e.Clauses, c)
		all.join(&r.usage)
	}
	e.Polarity = coverage.PolarityOf(verdicts...)
	if !e.Complete && e.Polarity == coverage.Negative {
		e.Polarity = ""
	}
	e.Scope = joinScopes(scopes)
	return a.finish(e, all, established, open, unresolved)
}

// openDimension is a dimension with the clause that waits for it.
type openDimension struct {
	dimension
	clause int
	at     int // position among the clauses
}

// finish chooses the status (X§5.1): nothing established and nothing missing is not covered, nothing established and something missing needs context, any
// gap is partial, and only what has none is resolved.
func (a *asking) finish(e coverage.Evidence, all usage, established int, open []openDimension, gaps []coverage.Gap) (*coverage.Outcome, error) {
	out := &coverage.Outcome{Result: coverage.WithheldResult()}
	if len(open) > 0 {
		first := 0
		for i, d := range open {
			if rankOf(d.name) < rankOf(open[first].name) {
				first = i
			}
		}
		chosen := open[first]
		missing := coverage.Missing{Name: chosen.name, Clause: chosen.clause, Type: chosen.kind, Options: a.options(&chosen.dimension)}
		if len(missing.Options) > maxOptions {
			missing.Options, missing.Truncated = missing.Options[:maxOptions], true
			e.Complete = false
		}
		for i := range open {
			if open[i].name == chosen.name {
				e.Clauses[open[i].at].Missing = []int{0}
			}
		}
		if established == 0 || !slices.ContainsFunc(gaps, func(g coverage.Gap) bool { return g.Reason != coverage.ReasonMissingValue }) {
			out.Clarification = coverage.Clarify(a.call, missing, countOpen(open))
		}
	}
	switch {
	case established == 0 && len(open) > 0:
		out.Coverage = e.NeedsContext(gaps[0], gaps[1:]...)
	case established == 0:
		if len(gaps) == 0 {
			return nil, fmt.Errorf("a question without evidence has no gap")
		}
		out.Coverage = e.NotCovered(gaps[0], gaps[1:]...)
	case len(gaps) > 0:
		out.Coverage = e.Partial(gaps[0], gaps[1:]...)
	default:
		out.Coverage = e.Resolved()
	}
	if established == 0 {
		return out, nil
	}
	for _, p := range sortedKeys(all.places) {
		out.Locations = append(out.Locations, a.places[p].ID)
	}
	for _, f := range e.Facts {
		if f.Subject.Location != "" && !slices.Contains(out.Locations, f.Subject.Location) {
			out.Locations = append(out.Locations, f.Subject.Location)
		}
	}
	slices.Sort(out.Locations)
	var err error
	out.Result, err = a.result(&all)
	if a.live != nil {
		addFreshness(out, a.live.used, a.live.used)
	}
	return out, err
}

// countOpen counts the open dimensions: location, date and caller_location hold for every clause and count once.
func countOpen(open []openDimension) int {
	names := map[string]bool{}
	for _, d := range open {
		names[d.name] = true
	}
	return len(names)
}

func rankOf(name string) int {
	dimension, clause, _ := strings.Cut(name, ".")
	return slices.Index(order, dimension)*100 + max(0, language.Digits(clause, 2))
}

// appendFacts keeps each fact once.
func appendFacts(have, more []coverage.Fact) []coverage.Fact {
	for _, f := range more {
		if !slices.ContainsFunc(have, func(h coverage.Fact) bool {
			return h.Subject == f.Subject && h.Field == f.Field && string(h.Value) == string(f.Value)
		}) {
			have = append(have, f)
		}
	}
	return have
}

// scopeOf is whether a shape is about the business or about records.
func scopeOf(shape string) string {
	switch shape {
	case "S2", "S3", "S5", "S9", "S10":
		return "publisher"
	case "":
		return "mixed"
	}
	return "record"
}

// joinScopes is the scope of all clauses, mixed when they differ or there is none.
func joinScopes(scopes []string) string {
	if scopes = slices.Compact(scopes); len(scopes) == 1 {
		return scopes[0]
	}
	return "mixed"
}

// join adds another clause's usage.
func (u *usage) join(o *usage) {
	for i, more := range o.records {
		keys := u.records[i]
		for _, k := range more {
			if !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
		set(&u.records, i, keys)
	}
	for i, places := range o.scoped {
		for p := range places {
			u.scope(i, p)
		}
	}
	for p, fields := range o.places {
		for _, f := range fields {
			u.place(p, f)
		}
	}
	for l, ids := range o.lists {
		set(&u.lists, l, merge(u.lists[l], ids))
	}
	u.profile = merge(u.profile, o.profile)
	for p, m := range o.distance {
		set(&u.distance, p, m)
	}
}
