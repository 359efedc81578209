package coverage

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"sayso/business"
)

// Conclusion is what a reader may tell people from one verified answer (X§5): sentences of this reader's own, made of the members of the envelope by rules that
// hold whatever agent_instruction says (XP-COVERAGE-011).
//
// Every text of the publisher's or the caller's stands in quotation marks, escaped as a Go string is, and shortened: it is data, cannot close its
// quotation, and holds no control or direction character (XP-COVERAGE-012). What the caller said is always introduced as asked (XP-COVERAGE-008).
type Conclusion struct {
	Status      Status
	Sentence    string   // what the status permits, and who says so
	Statements  []string // what the publisher stated; none while it is withheld
	NotAnswered []string // what is not established, each with why
	Choices     []Choice // the values that would settle it
	Notes       []string // what goes with it: ages, assumptions, evidence
}

// Choice is one value the answer waits for. The options are not answers (X§5.1).
type Choice struct {
	Missing
	Ask string // which value, in words
}

// ErrUnusable says that a careful reader may not rely on the document, so that there is nothing to conclude from it.
var ErrUnusable = errors.New("the answer is not usable: nothing may be concluded from it")

// signedEnvelope has the member that sealing adds and people ask for.
type signedEnvelope struct {
	Envelope
	ExpiresAt time.Time `json:"expires_at"`
}

// Conclude reads a verified envelope. v is the verdict of business.Verify about the same document; ErrUnusable when it does not say usable. Any other error
// is a *business.FormatError: members that have another form, or contradict the status, are not guessed at (XP-COVERAGE-010).
func Conclude(document []byte, v *business.Verdict) (*Envelope, *Conclusion, error) {
	if v.Kind != business.KindEnvelope || v.Usable.Value != "yes" {
		return nil, nil, ErrUnusable
	}
	var e signedEnvelope
	if err := business.Decode(document, &e); err != nil {
		return nil, nil, formatError("the answer has a member of another form than this protocol gives it")
	}
	c := e.Coverage
	switch {
	case c == nil:
		return nil, nil, formatError("the answer has no coverage")
	case !c.Status.withholds() && !c.Covered, c.Status.withholds() && c.Covered:
		return nil, nil, formatError("coverage.covered contradicts coverage.status")
	case c.Status == NeedsContext && (e.Clarification == nil || len(e.Clarification.Missing) == 0):
		return nil, nil, formatError("the answer needs context and does not say which")
	}
	r, err := readResult(e.Result)
	if err != nil {
		return nil, nil, formatError("the result has a member of another form than this protocol gives it")
	}
	x := &concluding{signedEnvelope: &e, verdict: v, result: r}
	return &e.Envelope, x.conclude(), nil
}

func formatError(message string) error {
	return &business.FormatError{Code: business.CodeUnsupported, Rule: "XP-COVERAGE-010", Message: message}
}

// Text is the conclusion as lines of plain text, the sentence first.
func (c *Conclusion) Text() string {
	lines := []string{c.Sentence}
	list := func(title string, items []string) {
		if len(items) == 0 {
			return
		}
		if title != "" {
			lines = append(lines, title)
		}
		for _, item := range items {
			lines = append(lines, "- "+item)
		}
	}
	list("", c.Statements)
	if c.Status.withholds() {
		list("Why:", c.NotAnswered) // the sentence has said that nothing is answered
	} else {
		list("Not answered:", c.NotAnswered)
	}
	for _, choice := range c.Choices {
		lines = append(lines, choice.Ask)
	}
	list("Notes:", c.Notes)
	return strings.Join(lines, "\n")
}

type concluding struct {
	*signedEnvelope
	verdict *business.Verdict
	result  *readableResult
}

func (x *concluding) conclude() *Conclusion {
	status := x.Coverage.Status
	out := &Conclusion{Status: status, Sentence: x.sentence(), NotAnswered: x.notAnswered()}
	if !status.withholds() {
		if out.Statements = x.statements(); len(out.Statements) == 0 {
			out.Statements = x.found()
		}
	}
	if x.Clarification != nil && (status == NeedsContext || status == Partial) {
		for _, m := range x.Clarification.Missing {
			out.Choices = append(out.Choices, Choice{m, asksFor(m)})
		}
	}
	out.Notes = x.notes()
	return out
}

// sentence is what each status permits (X§5.1). Where nobody pinned a root, it promises no more than that somebody says so (XP-COVERAGE-013).
func (x *concluding) sentence() string {
	who, says := x.who(), " states"
	if x.verdict.Identity.Value != "confirmed" {
		who, says = "somebody who signs as "+x.who(), " states, and who that is was not confirmed"
	}
	switch x.Coverage.Status {
	case Resolved:
		return "The whole question is answered; " + who + says + ":"
	case Partial:
		return "A part of the question is answered; " + who + says + ":"
	case NeedsContext:
		return "Not answered yet: " + who + " publishes something about this, and what applies depends on a value that was not given. The options are no answer."
	default:
		return "Not answered: nothing that " + who + " publishes answers this. Whether the business offers it or not is not known from here."
	}
}

func (x *concluding) who() string {
	slug := x.Publisher.Tenant
	if !business.ValidSlug(slug) {
		slug = cited(slug)
	}
	return cited(x.Publisher.DisplayName) + " (" + slug + ")"
}

// notes are the ages, kept apart (XP-FRESHNESS-005), the assumptions, and what the findings leave open.
func (x *concluding) notes() []string {
	var out []string
	if !x.Coverage.Status.withholds() {
		if x.Freshness.AnyStale {
			out = append(out, "Stale: a reading is older than the business itself allows"+budget(x.Freshness.SLASeconds)+"; it does not say what is so now.")
		}
		for _, assumed := range x.assumptions() {
			out = append(out, "Assumed: "+assumed+".")
		}
		out = append(out, "The signature shows who said this, not that it is true.")
	}
	if !x.Coverage.EvidenceComplete {
		out = append(out, "Not everything that the business publishes about this was looked through.")
	}
	out = append(out, x.authority())
	if x.verdict.Revocation.Value != "clean" {
		out = append(out, "Whether the answer was withdrawn is not known in full.")
	}
	times := "Answered at " + instantText(x.ServedAt)
	if !x.ExpiresAt.IsZero() {
		times += ", to be relied on until " + instantText(x.ExpiresAt)
	}
	if !x.Freshness.StaticSourceAsOf.IsZero() {
		times += "; what the business publishes last changed at " + instantText(x.Freshness.StaticSourceAsOf)
	}
	return append(out, times+".")
}

// authority says what was shown about the publisher: the proven host, never the website that it claims (XP-AUTHORITY-002).
func (x *concluding) authority() string {
	p := x.Publisher
	switch {
	case x.verdict.Authority.Value != "current" || p.AuthorityVerifiedAt.IsZero():
		return "That the publisher may speak for this business is not proven."
	case p.ProvenDomain != "":
		return "Control of the host " + cited(p.ProvenDomain) + " was last shown at " + instantText(p.AuthorityVerifiedAt) + "; that is no proof of a legal identity."
	}
	return "The registry last confirmed at " + instantText(p.AuthorityVerifiedAt) + " that the publisher may speak for this business."
}

// assumptions are what propositions take for granted, each once.
func (x *concluding) assumptions() []string {
	var out []string
	for _, p := range x.Coverage.Propositions {
		for _, code := range p.Assumes {
			words := cited(code)
			if code == "no_public_holiday" {
				words = "the day is no public holiday"
			}
			if !slices.Contains(out, words) {
				out = append(out, words)
			}
		}
	}
	return out
}

// whyNot words the reasons of a Gap for people. None of them says that a business does not have something (XP-COVERAGE-004).
var whyNot = map[string]string{
	"unknown_word":               "found nowhere in what the business publishes",
	"relation_not_published":     "nothing published relates this to the rest of the question",
	"not_published":              "not published",
	"unknown_value":              "what is published does not decide it",
	"out_of_domain":              "outside of what the published list is about",
	"narrower_only":              "only something narrower is published",
	"unit_mismatch":              "published in another unit or currency, and nothing is converted",
	"unit_missing":               "a number without its unit or currency cannot be compared",
	"subjective":                 "a matter of judgement",
	"quantifier":                 "a matter of number that published data does not settle",
	"unsupported_question_form":  "this form of question is not answered from published data",
	"holiday_rule_not_published": "hours on public holidays are not published",
	"zone_not_published":         "the time zone of the place is not published, so that now and today cannot be judged there",
	"stale":                      "the last reading is older than the business itself allows",
	"no_coordinates":             "the position of a place is not published",
	"missing_value":              "depends on a value that was not given",
	"language":                   "asked in a language that the business does not publish in",
}

// notAnswered says what is not established and why; words of one clause with one reason stand together.
func (x *concluding) notAnswered() []string {
	var out []string
	gaps := x.Coverage.Unresolved
	for i := 0; i < len(gaps); {
		g := gaps[i]
		subjects := []string{x.gapSubject(g)}
		for i++; i < len(gaps) && g.Text != "" && gaps[i].Text != "" && gaps[i].Reason == g.Reason && gaps[i].Clause == g.Clause && gaps[i].Field == g.Field; i++ {
			subjects = append(subjects, strings.TrimPrefix(x.gapSubject(gaps[i]), "asked "))
		}
		why := whyNot[g.Reason]
		switch {
		case why == "":
			why = "for a reason this reader does not know, " + cited(g.Reason)
		case g.Reason == "language" && g.Asked != "" && len(g.Published) > 0:
			why = "asked in " + cited(g.Asked) + ", published in " + citedList(g.Published)
		case g.Reason == ReasonMissingValue && g.Location != "":
			why = "no reading is published for it" // the value of a place, not one of the caller's
		case g.Field == "complete_list":
			why = "whether the list is complete is not stated"
		}
		subject := strings.Join(subjects, ", ")
		if subject != "" {
			subject += ": "
		}
		out = append(out, subject+why)
	}
	return capped(out)
}

// gapSubject is what a gap is about: words asked, a record or a field, and where.
func (x *concluding) gapSubject(g Gap) string {
	var parts []string
	switch clauses := x.Coverage.Clauses; {
	case g.Reason == ReasonMissingValue && g.Location == "" && g.Clause >= 0 && g.Clause < len(clauses) && clauses[g.Clause].Text != "":
		return "asked " + cited(clauses[g.Clause].Text)
	case g.Text != "" && g.Start != nil:
		parts = append(parts, "asked "+cited(g.Text))
	case g.Text != "":
		parts = append(parts, cited(g.Text))
	}
	if g.Field != "" && g.Field != "complete_list" {
		parts = append(parts, fieldName(g.Field))
	}
	if g.Location != "" {
		parts = append(parts, "at "+x.placeName(g.Location))
	}
	return strings.Join(parts, ", ")
}

// asksFor names a missing value and its options, as data.
func asksFor(m Missing) string {
	base, _, _ := strings.Cut(m.Name, ".")
	what := map[string]string{
		"record": "which of these is meant", "variant": "which variant is meant", "location": "which branch is meant", "date": "the date, as 2026-12-01",
		"caller_location": "your position, as latitude,longitude",
	}[base]
	if what == "" {
		what = "a value for " + cited(m.Name)
	}
	out := "To go on, say " + what
	if len(m.Options) > 0 {
		var options []string
		for _, o := range m.Options[:min(len(m.Options), maxLines)] {
			options = append(options, cited(o.Label)+" ["+cited(o.Value)+"]")
		}
		out += ": " + strings.Join(options, ", ")
		if m.Truncated || len(m.Options) > maxLines {
			out += ", and more"
		}
	}
	if len(m.DidYouMean) > 0 {
		out += "; did you mean " + citedList(m.DidYouMean) + "?"
	}
	return out
}

// The bounds of what is shown: a conclusion is read by people and by models that pay for each word.
const (
	maxLines = 40
	maxCited = 240 // code points
)

func capped(lines []string) []string {
	if n := len(lines) - maxLines; n > 0 {
		lines = append(lines[:maxLines:maxLines], fmt.Sprintf("and %d more, in the answer itself", n))
	}
	return lines
}

// cited is text from outside as data. strconv.Quote escapes quotation marks, control characters and those that change the direction of writing.
func cited(s string) string {
	if r := []rune(s); len(r) > maxCited {
		return strconv.Quote(string(r[:maxCited])) + "…"
	}
	return strconv.Quote(s)
}

func citedList(list []string) string {
	out := make([]string, min(len(list), maxLines))
	for i := range out {
		out[i] = cited(list[i])
	}
	return strings.Join(out, ", ")
}

func instantText(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// budget is the age that a publisher allows its readings, "" when it states none.
func budget(seconds int64) string {
	if seconds <= 0 {
		return ""
	}
	return " (" + strconv.FormatInt(seconds, 10) + " s)"
}
