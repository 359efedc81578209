package answertest

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"sayso/business/coverage"
	"sayso/jcs"
)

// Class is how an answer compares with what the oracle knows.
type Class string

// The classes; the first four are failures of the gate.
const (
	FalseResolved Class = "false resolved"
	Leak          Class = "leak"
	Broken        Class = "broken outcome"
	Failed        Class = "fault"
	WrongLabel    Class = "wrong label"
	UnderClaim    Class = "under-claim"
	Right         Class = "right"
)

// Verdict is one judged answer.
type Verdict struct {
	Class  Class
	Reason string
	Status coverage.Status
}

// Judge asks a question and compares the answer with what the oracle knows.
func Judge(q *Question) Verdict {
	out, err := q.World.Ask(q.Text(), q.Language())
	if err != nil {
		return Verdict{Failed, err.Error(), ""}
	}
	v := Verdict{Right, "", out.Coverage.Status}
	v.Class, v.Reason = judge(q, out)
	return v
}

func judge(q *Question, out *coverage.Outcome) (Class, string) {
	if leaks := Leaks(q.World, out); len(leaks) > 0 {
		return Leak, leaks[0]
	}
	if flaws := Flaws(q.Text(), out); len(flaws) > 0 {
		return Broken, flaws[0]
	}
	status := out.Coverage.Status
	if status == coverage.Resolved {
		return judgeResolved(q, out)
	}
	if q.Want.Rule == Absent && (status == coverage.Partial || !withheld(out)) {
		return FalseResolved, "content for something absent"
	}
	if q.Want.Rule == Resolve {
		return UnderClaim, string(status) + " " + gaps(out)
	}
	if q.Want.Status != "" && status != q.Want.Status {
		return WrongLabel, fmt.Sprintf("%s, want %s: %s", status, q.Want.Status, gaps(out))
	}
	for _, word := range q.Want.Unknown {
		if !Named(out, word) {
			return WrongLabel, fmt.Sprintf("%q is not named: %s", word, gaps(out))
		}
	}
	return Right, ""
}

func judgeResolved(q *Question, out *coverage.Outcome) (Class, string) {
	polarity := Polarity(out)
	switch {
	case q.Want.Rule == Never || q.Want.Rule == Absent:
		return FalseResolved, "resolved " + polarity
	case q.Want.Polarity != "" && polarity != "" && polarity != q.Want.Polarity:
		return FalseResolved, fmt.Sprintf("polarity %q, want %q", polarity, q.Want.Polarity)
	case q.Want.Polarity != "" && polarity == "":
		return WrongLabel, "no polarity, want " + q.Want.Polarity
	}
	if q.Want.Rule == Open {
		return Right, ""
	}
	text := Bytes(out)
	if q.Want.Text != "" && !bytes.Contains(text, jcs.AppendString(nil, q.Want.Text)) {
		return FalseResolved, "resolved without the value " + q.Want.Text
	}
	stated := planted(text)
	for _, v := range q.Want.Values {
		if !slices.Contains(stated, v) {
			return FalseResolved, fmt.Sprintf("resolved without the value %s", v)
		}
	}
	for _, v := range stated {
		if !slices.Contains(q.Want.Values, v) {
			return WrongLabel, fmt.Sprintf("states %s, which nothing asked uses", v)
		}
	}
	return Right, ""
}

// Polarity is the polarity of an outcome, "" without one.
func Polarity(out *coverage.Outcome) string {
	if out.Coverage.Answer == nil {
		return ""
	}
	return out.Coverage.Answer.Polarity
}

// Named reports whether unresolved names a word, a phrase, or "field:" and a field.
func Named(out *coverage.Outcome, want string) bool {
	if field, ok := strings.CutPrefix(want, "field:"); ok {
		return slices.ContainsFunc(out.Coverage.Unresolved, func(g coverage.Gap) bool { return g.Field == field })
	}
	phrase := strings.Join(wordsOf(want), " ")
	return slices.ContainsFunc(out.Coverage.Unresolved, func(g coverage.Gap) bool {
		return strings.Contains(" "+strings.Join(wordsOf(g.Text), " ")+" ", " "+phrase+" ")
	})
}

// gaps are the unresolved entries in short.
func gaps(out *coverage.Outcome) string {
	var b strings.Builder
	for _, g := range out.Coverage.Unresolved {
		fmt.Fprintf(&b, "[%s%s %s]", g.Text, g.Field, g.Reason)
	}
	return b.String()
}

// Bytes are the parts of an outcome that reach the envelope.
func Bytes(out *coverage.Outcome) []byte {
	text, err := jcs.Encode(struct {
		Result        jcs.Raw                 `json:"result"`
		Coverage      coverage.Coverage       `json:"coverage"`
		Clarification *coverage.Clarification `json:"clarification,omitempty"`
		Locations     []string                `json:"locations"`
	}{out.Result, out.Coverage, out.Clarification, out.Locations})
	if err != nil {
		panic("answertest: an outcome that cannot be written: " + err.Error())
	}
	return text
}

var plantedNumber = regexp.MustCompile(`\d+\.\d*0{9}`)

// planted lists the planted literals in a text.
func planted(text []byte) []string {
	var out []string
	for _, m := range plantedNumber.FindAll(text, -1) {
		if !slices.Contains(out, string(m)) {
			out = append(out, string(m))
		}
	}
	return out
}

// withheld reports that an outcome states nothing of the publisher.
func withheld(out *coverage.Outcome) bool {
	return string(out.Result) == `{"records":[]}` && len(out.Coverage.PublisherFacts) == 0 && len(out.Locations) == 0
}

// Leaks says what needs_context or not_covered states although it withholds; none for the other statuses (XP-COVERAGE-002).
func Leaks(w *World, out *coverage.Outcome) []string {
	if s := out.Coverage.Status; s != coverage.NeedsContext && s != coverage.NotCovered {
		return nil
	}
	var found []string
	if !withheld(out) {
		found = append(found, fmt.Sprintf("%s with result %s, %d facts, locations %v", out.Coverage.Status, out.Result, len(out.Coverage.PublisherFacts), out.Locations))
	}
	if out.Coverage.Answer != nil {
		found = append(found, "a polarity")
	}
	for _, p := range out.Coverage.Propositions {
		if p.PublisherValue != nil || p.Verdict == "asserted_true" || p.Verdict == "asserted_false" || p.Verdict == "excluded_by_closed_list" {
			found = append(found, fmt.Sprintf("a proposition %s with verdict %s and value %s", p.Shape, p.Verdict, p.PublisherValue))
		}
	}
	text := Bytes(out)
	if bytes.Contains(text, []byte(Marker)) {
		found = append(found, "a planted text")
	}
	if list := planted(text); len(list) > 0 {
		found = append(found, "planted numbers "+strings.Join(list, " "))
	}
	for _, l := range w.Snapshot.Publication.Profile.Locations {
		if l.OpeningHours != "" && bytes.Contains(text, []byte(`"`+l.OpeningHours+`"`)) {
			found = append(found, "opening hours of "+l.ID)
		}
	}
	return found
}

// Flaws says what is wrong with an outcome by itself: the invariants of every answer.
func Flaws(query string, out *coverage.Outcome) []string {
	c := &out.Coverage
	var found []string
	bad := func(format string, a ...any) { found = append(found, fmt.Sprintf(format, a...)) }
	if resolved, whole := c.Status == coverage.Resolved, c.Covered && c.AnswersRequest && len(c.Unresolved) == 0; resolved != whole {
		bad("I1: %s with covered %v, answers_request %v, %d unresolved", c.Status, c.Covered, c.AnswersRequest, len(c.Unresolved))
	}
	if c.AgentInstruction == "" {
		bad("no agent_instruction")
	}
	if (c.Status == coverage.NeedsContext) != (out.Clarification != nil) && c.Status != coverage.Partial {
		bad("%s with clarification %v", c.Status, out.Clarification != nil)
	}
	if c.Status == coverage.Resolved && Polarity(out) == "negative" && !c.EvidenceComplete {
		bad("I15: a negative without complete evidence")
	}
	spans := spansOf(out)
	for _, s := range spans {
		if got, ok := slice(query, s.Start, s.End); !ok || got != s.Text {
			bad("I9: %q at %d:%d is %q", s.Text, s.Start, s.End, got)
		}
	}
	owned := spans[:len(c.PublisherReference)+placed(c.Unresolved)]
	for i, a := range owned {
		for _, b := range owned[:i] {
			if a.Start < b.End && b.Start < a.End {
				bad("I9: %q and %q overlap", a.Text, b.Text)
			}
		}
	}
	return found
}

// spansOf are the spans of an outcome: those that own their tokens first.
func spansOf(out *coverage.Outcome) []coverage.Span {
	c := &out.Coverage
	spans := slices.Clone(c.PublisherReference)
	for _, g := range c.Unresolved {
		if g.Start != nil && g.End != nil {
			spans = append(spans, coverage.Span{Text: g.Text, Start: *g.Start, End: *g.End})
		}
	}
	for _, p := range c.Propositions {
		if p.Asked != nil {
			spans = append(spans, *p.Asked)
		}
	}
	for _, r := range c.UnresolvedReferences {
		spans = append(spans, r.Span)
	}
	for _, cl := range c.Clauses {
		spans = append(spans, coverage.Span{Text: cl.Text, Start: cl.Start, End: cl.End})
	}
	return spans
}

func placed(list []coverage.Gap) (n int) {
	for _, g := range list {
		if g.Start != nil && g.End != nil {
			n++
		}
	}
	return n
}

// slice cuts code points out of a text.
func slice(text string, start, end int) (string, bool) {
	if start < 0 || end < start || end > utf8.RuneCountInString(text) {
		return "", false
	}
	return string([]rune(text)[start:end]), true
}
