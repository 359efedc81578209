package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sayso/facts"
	"sayso/report"
)

// Severity of a rule.
type Severity string

// The severities. A rule of EitherSeverity fails on what is wrong and warns about what is doubtful.
const (
	ErrorSeverity   Severity = "error"
	WarningSeverity Severity = "warning"
	EitherSeverity  Severity = "error or warning"
)

// Rule is one rule of Lint (F§10.6).
type Rule struct {
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
	Title    string   `json:"title"`
}

// Rules lists every rule in order.
func Rules() []Rule { return slices.Clone(rules) }

// The rule ids of F§10.6.
const (
	ruleShape         = "VF-D-001"
	ruleKey           = "VF-D-002"
	ruleAlias         = "VF-D-003"
	ruleNumber        = "VF-D-004"
	ruleType          = "VF-D-005"
	ruleSpan          = "VF-D-006"
	ruleSource        = "VF-D-007"
	ruleVerified      = "VF-D-008"
	ruleCalendar      = "VF-D-009"
	ruleUnit          = "VF-D-010"
	ruleChangelog     = "VF-D-011"
	ruleSignature     = "VF-D-012"
	rulePrivateKey    = "VF-D-013"
	ruleResolves      = "VF-D-014"
	ruleQuote         = "VF-D-015"
	ruleSynonym       = "VF-D-016"
	ruleOpenEnd       = "VF-D-017"
	maxFindingsOfRule = 1000
)

var rules = []Rule{
	{ruleShape, EitherSeverity, "files are well-formed: YAML profile, known members, types, limits"},
	{ruleKey, ErrorSeverity, "keys follow the grammar, are unique and lie in a declared namespace"},
	{ruleAlias, ErrorSeverity, "aliases have one target and supersededBy exists"},
	{ruleNumber, ErrorSeverity, "numbers survive as binary64"},
	{ruleType, EitherSeverity, "a key has one JSON type through its history, and one unit"},
	{ruleSpan, EitherSeverity, "values do not overlap and no gap is bridged"},
	{ruleSource, EitherSeverity, "sources are https pages of a declared authority, in normal form"},
	{ruleVerified, ErrorSeverity, "every verifiedDate has its confirmation and is not in the future"},
	{ruleCalendar, WarningSeverity, "period label and first day fit the namespace calendar"},
	{ruleUnit, WarningSeverity, "units are in the list and numbers are plausible in them"},
	{ruleChangelog, ErrorSeverity, "the changelog is a whole chain and agrees with the held values"},
	{ruleSignature, EitherSeverity, "every served value is signed with a listed key (L3)"},
	{rulePrivateKey, ErrorSeverity, "no private key material in the folder"},
	{ruleResolves, EitherSeverity, "labels, aliases and short forms resolve to their own key"},
	{ruleQuote, WarningSeverity, "the quote is there and contains the value"},
	{ruleSynonym, WarningSeverity, "synonyms have one meaning and lead to a key segment"},
	{ruleOpenEnd, WarningSeverity, "annual figures say when they end"},
}

// place writes file:line:column, or the file alone.
func place(file string, at Position) string {
	if at.Line == 0 {
		return file
	}
	return file + ":" + strconv.Itoa(int(at.Line)) + ":" + strconv.Itoa(int(max(at.Col, 1)))
}

// findings collects what one worker sees.
type findings struct{ list []report.Finding }

func (f *findings) fail(rule, place, message, reason, next string) {
	f.list = append(f.list, report.Finding{Rule: rule, Outcome: report.Fail, Place: place, Message: message, Reason: reason, Next: next})
}

func (f *findings) warn(rule, place, message, reason, next string) {
	f.list = append(f.list, report.Finding{Rule: rule, Outcome: report.Warning, Place: place, Message: message, Reason: reason, Next: next})
}

// sortFindings orders by file, line, column, rule and message, so that a report does not depend on scheduling.
func sortFindings(list []report.Finding) {
	type sortKey struct {
		file      string
		line, col int
	}
	parse := func(place string) sortKey {
		k := sortKey{file: place}
		if i := strings.LastIndexByte(place, ':'); i > 0 {
			if j := strings.LastIndexByte(place[:i], ':'); j > 0 {
				k.line, _ = strconv.Atoi(place[j+1 : i])
				k.col, _ = strconv.Atoi(place[i+1:])
				k.file = place[:j]
			}
		}
		return k
	}
	slices.SortStableFunc(list, func(a, b report.Finding) int {
		ka, kb := parse(a.Place), parse(b.Place)
		return cmp.Or(cmp.Compare(ka.file, kb.file), cmp.Compare(ka.line, kb.line), cmp.Compare(ka.col, kb.col), cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Message, b.Message))
	})
}

// newReport makes the sorted report with its verdict; a rule that was checked without a finding passes when passes is set.
func newReport(list []report.Finding, passes bool) *report.Report {
	list = slices.Clone(list)
	sortFindings(list)
	seen, dropped := map[string]int{}, map[string]int{}
	list = slices.DeleteFunc(list, func(f report.Finding) bool {
		k := f.Rule + string(f.Outcome)
		seen[f.Rule]++
		if dropped[k]++; dropped[k] > maxFindingsOfRule {
			return true
		}
		return false
	})
	for _, r := range rules {
		for _, o := range []report.Outcome{report.Fail, report.Warning} {
			if n := dropped[r.ID+string(o)] - maxFindingsOfRule; n > 0 {
				list = append(list, report.Finding{Rule: r.ID, Outcome: o, Message: fmt.Sprintf("%d more findings of this rule are not listed", n),
					Next: "mend those listed and run lint again"})
			}
		}
		if passes && seen[r.ID] == 0 {
			list = append(list, report.Finding{Rule: r.ID, Outcome: report.Pass, Message: r.Title})
		}
	}
	r := &report.Report{Protocol: facts.Protocol, Rules: titles(), Findings: list}
	c := r.Counts()
	switch {
	case c[report.Fail] > 0:
		r.Verdict = fmt.Sprintf("%s and %s: the folder cannot be published", count(c[report.Fail], "error"), count(c[report.Warning], "warning"))
	case c[report.Warning] > 0:
		r.Verdict = fmt.Sprintf("no error and %s: the folder can be published", count(c[report.Warning], "warning"))
	default:
		r.Verdict = "no error and no warning: the folder can be published"
	}
	return r
}

// titles are the rules as a report shows them.
func titles() []report.Rule {
	out := make([]report.Rule, len(rules))
	for i, r := range rules {
		out[i] = report.Rule{ID: r.ID, Title: r.Title, Section: "F§10.6"}
	}
	return out
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
