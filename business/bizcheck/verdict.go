package bizcheck

import (
	"fmt"
	"slices"
	"strings"

	"sayso/report"
	"sayso/safefetch"
)

// Protocol names what a report is about.
const Protocol = "x-protocols-business-data/1.0"

// NotLookedAt is the message of a rule that did not come up; the finding's reason says why.
const NotLookedAt = "not looked at"

// scopeRule carries the list of what was looked at.
const scopeRule = "XP-SCOPE-001"

// report puts the findings together: every rule comes up, with the reason where there was nothing to look at.
func (c *checker) report(subject string) *report.Report {
	c.scope(subject)
	r := &report.Report{Subject: clip(report.Clean(subject), maxMessage), Protocol: Protocol, Rules: Rules(), Findings: c.findings()}
	seen := map[string]bool{}
	for _, f := range r.Findings {
		seen[f.Rule] = true
	}
	for _, one := range rules {
		if !seen[one.id] {
			r.Add(report.Finding{Rule: one.id, Outcome: report.NotTested, Place: r.Subject, Message: NotLookedAt, Reason: c.whyNothing(one)})
		}
	}
	r.Verdict = verdict(r)
	r.Sort()
	return r
}

// whyNothing is the reason of a rule that did not come up.
func (c *checker) whyNothing(r rule) string {
	switch {
	case r.why != "":
		return r.why
	case c.file:
		return "the document is not of the kind this rule is about, or the rule needs the server behind it"
	case c.ctx.Err() != nil:
		return "the check was ended before this was come to"
	case r.answer && c.unasked != "":
		return "no answer of the kind was seen: " + c.unasked
	case r.answer && c.mcp:
		return "no answer that was seen is of the kind this rule is about"
	case r.answer, r.id == "XP-TRANSPORT-002":
		return "no manifest that was read names an mcp endpoint, so there was no answer to look at"
	case r.id == "XP-TRANSPORT-004":
		return "no answer was a 429, and this check provokes none"
	case len(c.looked) == 0:
		return "nothing could be read"
	}
	return "nothing that was read is of the kind this rule is about"
}

// scope is XP-SCOPE-001: which documents and scenarios were looked at, and which were not.
func (c *checker) scope(subject string) {
	left := append(slices.Clone(c.left), "what readers do with the documents", "what happens when a publisher is changed", "whether what the business states is true")
	message := "looked at: " + joined(c.looked) + ". Not looked at: " + joined(left)
	f := report.Finding{Rule: scopeRule, Outcome: report.Pass, Place: subject, Message: message}
	if len(c.looked) == 0 {
		f.Outcome, f.Reason = report.NotTested, "nothing could be read"
	}
	f.Place, f.Message = safefetch.WithoutQuery(f.Place), clip(report.Clean(f.Message), maxScope)
	c.found = append(c.found, f)
}

const maxScope = 4000

func joined(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, "; ")
}

// verdict is one sentence: what failed, what holds, what was not looked at. It judges documents and server, never the business.
func verdict(r *report.Report) string {
	if !Reached(r) {
		return "Nothing could be checked: no document of the protocol could be read."
	}
	by := map[report.Outcome][]string{}
	state := map[string]report.Outcome{}
	for _, f := range r.Findings {
		if f.Rule != scopeRule && heavier(f.Outcome, state[f.Rule]) {
			state[f.Rule] = f.Outcome
		}
	}
	for _, one := range rules {
		if o := state[one.id]; o != "" {
			by[o] = append(by[o], one.id)
		}
	}
	text := count(len(by[report.Pass]), "rule holds where it was looked at", "rules hold where they were looked at")
	if failed := by[report.Fail]; len(failed) > 0 {
		text = count(len(failed), "rule is broken", "rules are broken") + " (" + strings.Join(failed, ", ") + "); " + text
	}
	if warned := by[report.Warning]; len(warned) > 0 {
		text += "; " + count(len(warned), "rule deserves a warning", "rules deserve a warning") + " (" + strings.Join(warned, ", ") + ")"
	}
	return text + "; " + count(len(by[report.NotTested]), "rule was not looked at, for the reason stated there", "rules were not looked at, each for the reason stated there") + "."
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// heavier orders the outcomes of one rule: what is broken at one place is not mended by another, and a rule that held somewhere was looked at.
func heavier(a, b report.Outcome) bool {
	order := []report.Outcome{"", report.NotTested, report.Pass, report.Warning, report.Fail}
	return slices.Index(order, a) > slices.Index(order, b)
}

// Reached reports whether anything could be looked at. When it could not, nothing failed: there was nothing to check.
func Reached(r *report.Report) bool {
	return slices.ContainsFunc(r.Findings, func(f report.Finding) bool { return f.Outcome != report.NotTested })
}
