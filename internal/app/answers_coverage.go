package app

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"sayso/business"
	"sayso/business/answer"
	"sayso/business/coverage"
	"sayso/jcs"
)

// MaxCoverage is how many questions one report takes.
const MaxCoverage = 1000

// CoverageQuestion is one question that customers ask, as they ask it.
type CoverageQuestion struct {
	Query    string `json:"query"`
	Language string `json:"language,omitempty"` // BCP 47; found out when absent
}

// CoverageReport says which questions the content of a publisher answers.
type CoverageReport struct {
	Publisher  string             `json:"publisher"`
	Generation uint64             `json:"generation"` // of the content that was asked
	Handler    string             `json:"handler"`    // knowledge.search, or hybrid.resolve where the publisher has live tools
	Totals     CoverageTotals     `json:"totals"`
	Answers    []CoverageAnswer   `json:"answers"` // in the order of the questions
	Publish    []CoverageUnstated `json:"publish"` // what is not covered and the publisher could state, by how many questions it stands in
}

// CoverageTotals counts the questions.
type CoverageTotals struct {
	Questions    int `json:"questions"`
	Resolved     int `json:"resolved"`
	Partial      int `json:"partial"`
	NeedsContext int `json:"needs_context"`
	NotCovered   int `json:"not_covered"`
	Refused      int `json:"refused"` // no question that the engine takes: empty, or too long
}

// CoverageAnswer is how far one question is answered. One that was refused has no status.
type CoverageAnswer struct {
	CoverageQuestion
	Status     coverage.Status `json:"status,omitempty"`
	Polarity   string          `json:"polarity,omitempty"` // positive, negative or mixed
	Unresolved []CoverageGap   `json:"unresolved"`
	Missing    []string        `json:"missing"` // what the caller has to say: record, variant, location, date, caller_location
	Refused    string          `json:"refused,omitempty"`
}

// CoverageGap is a word, or a field, that is not established, and why: one of the reasons of answers §8.
type CoverageGap struct {
	Text     string `json:"text,omitempty"` // as it was asked; with the reason language, the language
	Field    string `json:"field,omitempty"`
	Location string `json:"location,omitempty"`
	Reason   string `json:"reason"`
}

// CoverageUnstated is a word or a field that questions ask and nothing covers.
type CoverageUnstated struct {
	Text      string `json:"text,omitempty"` // in lower case
	Field     string `json:"field,omitempty"`
	Reason    string `json:"reason"`
	Questions int    `json:"questions"`
}

// notTheirs are the reasons that no publisher can do away with: they lie in the question.
var notTheirs = []string{"missing_value", "quantifier", "subjective", "unit_mismatch", "unit_missing", "unsupported_question_form"}

// theirs reports whether the publisher could state it. The words of a question in a language that is not published are no vocabulary that is missing, and
// nor are words of grammar, or a question that has no other.
func (u CoverageUnstated) theirs(compiled *answer.Compiled, foreign bool) bool {
	switch {
	case u.Text+u.Field == "", slices.Contains(notTheirs, u.Reason):
		return false
	case u.Field != "" || u.Reason == "language":
		return true
	case u.Reason == "unknown_word":
		return !foreign && !compiled.Grammar(u.Text)
	}
	return u.Reason != "not_published"
}

// Coverage asks the questions of the content as it is stored, in every lifecycle state, by the engine that answers customers. Nothing is signed or shown of
// what the publisher states: it is a report about gaps. At most MaxCoverage questions are taken.
func (r *Registry) Coverage(ctx context.Context, actor Actor, slug string, questions []CoverageQuestion) (*CoverageReport, error) {
	if err := actor.may(OpCoverage, slug); err != nil {
		return nil, err
	}
	switch {
	case len(questions) == 0:
		return nil, invalid("no_questions", "there is no question").next("give at least one")
	case len(questions) > MaxCoverage:
		return nil, invalid("too_many_questions", "a report takes at most %d questions, these are %d", MaxCoverage, len(questions)).next("ask in several parts")
	}
	compiled, publication, err := r.draft(ctx, actor, slug)
	if err != nil {
		return nil, err
	}
	report := &CoverageReport{Publisher: slug, Generation: publication.State.Generation, Handler: "knowledge.search", Answers: make([]CoverageAnswer, 0, len(questions))}
	if slices.ContainsFunc(publication.Profile.Tools, func(t business.Tool) bool { return slices.Contains(liveHandlers, t.Handler) }) {
		report.Handler = "hybrid.resolve"
	}
	readings := &storedReadings{ctx: ctx, store: r.store, slug: slug, generation: publication.State.Generation}
	for _, q := range questions {
		if err := ctx.Err(); err != nil {
			return nil, storeError(err)
		}
		a, err := r.coverageOf(compiled, readings, report.Handler, q)
		if errors.Is(err, errMoved) {
			return nil, refusal(KindConflict, "content_changed", "the content was changed while it was asked").next("ask again")
		}
		if err != nil {
			return nil, r.fault(act{op: OpCoverage, slug: slug}, err)
		}
		report.add(a)
	}
	report.rank(compiled)
	return report, nil
}

// draft compiles the content of a publisher as it is stored, without making it resident: nobody else may be asking about it.
func (r *Registry) draft(ctx context.Context, actor Actor, slug string) (compiled *answer.Compiled, p *business.Publication, err error) {
	var records []business.Record
	if err := r.resident.slot(ctx); err != nil {
		return nil, nil, storeError(err)
	}
	defer r.resident.leave()
	err = r.view(ctx, actor, OpCoverage, slug, func(rd Reader) error {
		row, err := rd.Publisher(ctx, slug)
		if err != nil {
			return notPublisher(err)
		}
		if p, _, err = readPublication(ctx, rd, row, nil, nil); err != nil {
			return err
		}
		if compiled = r.served.compiled(slug, storedIn(row)); compiled != nil {
			return nil
		}
		records, err = allRecords(ctx, rd, slug)
		return unreadable(err)
	})
	if err == nil && compiled == nil {
		if compiled, err = compileSnapshot(answer.Snapshot{Publication: p, Records: records, Site: r.site}); err != nil {
			err = r.fault(act{op: OpCoverage, slug: slug}, unreadable(err))
		}
	}
	return compiled, p, err
}

// unreadable tells stored content that cannot be compiled from a database that cannot be read.
func unreadable(err error) error {
	if errors.Is(err, errRows) {
		return &Error{
			Kind: KindUnavailable, Code: "content_unreadable", Message: "the stored content cannot be compiled, so nothing is answered from it", Next: "import it again", cause: err,
		}
	}
	return err
}

// coverageOf asks one question. An error is a fault of this side.
func (r *Registry) coverageOf(compiled *answer.Compiled, readings answer.Readings, handler string, q CoverageQuestion) (CoverageAnswer, error) {
	out := CoverageAnswer{CoverageQuestion: q, Unresolved: []CoverageGap{}, Missing: []string{}}
	if !utf8.ValidString(q.Query) || !utf8.ValidString(q.Language) {
		out.Query, out.Language, out.Refused = strings.ToValidUTF8(q.Query, "\uFFFD"), strings.ToValidUTF8(q.Language, "\uFFFD"), "the question is no text in UTF-8"
		return out, nil
	}
	arguments, err := jcs.Encode(q)
	if err != nil {
		return out, err
	}
	got, err := compiled.Answer(coverage.Call{Tool: handler, Handler: handler, Arguments: arguments, Now: r.Now()}, readings)
	var refused *coverage.CallError
	if errors.As(err, &refused) {
		out.Refused = refused.Message
		return out, nil
	}
	if err != nil {
		return out, err
	}
	out.Status = got.Coverage.Status
	if got.Coverage.Answer != nil {
		out.Polarity = got.Coverage.Answer.Polarity
	}
	for _, g := range got.Coverage.Unresolved {
		out.Unresolved = append(out.Unresolved, CoverageGap{Text: cmp.Or(g.Text, g.Asked), Field: g.Field, Location: g.Location, Reason: g.Reason})
	}
	if got.Clarification != nil {
		for _, m := range got.Clarification.Missing {
			name, _, _ := strings.Cut(m.Name, ".") // record.1 is a record
			out.Missing = append(out.Missing, name)
		}
	}
	return out, nil
}

// add counts one answer.
func (report *CoverageReport) add(a CoverageAnswer) {
	t := &report.Totals
	t.Questions++
	switch {
	case a.Refused != "":
		t.Refused++
	case a.Status == coverage.Resolved:
		t.Resolved++
	case a.Status == coverage.Partial:
		t.Partial++
	case a.Status == coverage.NeedsContext:
		t.NeedsContext++
	default:
		t.NotCovered++
	}
	report.Answers = append(report.Answers, a)
}

// rank lists what questions ask and nothing covers, that of most questions first.
func (report *CoverageReport) rank(compiled *answer.Compiled) {
	count := map[CoverageUnstated]int{}
	for _, a := range report.Answers {
		here := map[CoverageUnstated]bool{}
		foreign := slices.ContainsFunc(a.Unresolved, func(g CoverageGap) bool { return g.Reason == "language" })
		for _, g := range a.Unresolved {
			u := CoverageUnstated{Text: strings.ToLower(g.Text), Field: g.Field, Reason: g.Reason}
			if g.Field != "" {
				u.Text = "" // the field says what is missing, of whichever record
			}
			if here[u] || !u.theirs(compiled, foreign) {
				continue
			}
			here[u] = true
			count[u]++
		}
	}
	report.Publish = make([]CoverageUnstated, 0, len(count))
	for u, n := range count {
		u.Questions = n
		report.Publish = append(report.Publish, u)
	}
	slices.SortFunc(report.Publish, func(a, b CoverageUnstated) int {
		return cmp.Or(cmp.Compare(b.Questions, a.Questions), strings.Compare(a.Field, b.Field), strings.Compare(a.Text, b.Text), strings.Compare(a.Reason, b.Reason))
	})
}
