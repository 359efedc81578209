package importer

import (
	"fmt"
	"strings"

	"sayso/facts"
	"sayso/report"
)

// Finding is one refusal or one note.
type Finding struct {
	Rule    string     // an id of Rules
	Path    string     // upstream path of the parameter; "" when a whole file is meant
	Key     string     // "" when no key is meant
	From    facts.Date // first day of the value, zero when the whole parameter is meant
	File    string     // upstream file
	Line    int        // 0 when no line is meant
	Message string     // what was seen, one sentence
	Next    string     // what to do
}

// Report says how many parameters were taken and refused, and why.
type Report struct {
	Kind     Kind
	Mapped   int       // upstream parameters that the mapping names (CSV: keys in the file)
	Taken    int       // of these, parameters of which at least one value became a candidate
	Held     int       // of these, parameters all of whose values the folder holds already
	Values   int       // candidate values written
	Unmapped int       // upstream parameters that the mapping does not name
	Excluded int       // upstream parameters in folders that the mapping refuses
	Refused  []Finding // mapped values and parameters that were not taken
	Notes    []Finding // what a person should look at in what was taken
}

// Report converts to findings: a refusal fails, a note warns, and a rule without either passes. subject names what was imported.
func (r *Report) Report(subject string) *report.Report {
	out := &report.Report{Subject: subject, Protocol: facts.Protocol, Verdict: r.Verdict(), Rules: Rules()}
	seen := map[string]bool{}
	add := func(list []Finding, outcome report.Outcome) {
		for _, f := range list {
			seen[f.Rule] = true
			out.Add(report.Finding{Rule: f.Rule, Outcome: outcome, Place: f.place(), Message: f.text(), Next: f.Next})
		}
	}
	add(r.Refused, report.Fail)
	add(r.Notes, report.Warning)
	for _, rule := range rules {
		if !seen[rule.ID] {
			out.Add(report.Finding{Rule: rule.ID, Outcome: report.Pass, Message: rule.Title})
		}
	}
	out.Sort()
	return out
}

// Verdict is the report in one sentence.
func (r *Report) Verdict() string {
	s := fmt.Sprintf("taken %d of %s with %s", r.Taken, count(r.Mapped, "mapped parameter"), count(r.Values, "value"))
	if r.Held > 0 {
		s += fmt.Sprintf(", %d held already", r.Held)
	}
	if refused := r.Mapped - r.Taken - r.Held; refused > 0 {
		s += fmt.Sprintf(", %d refused", refused)
	}
	if r.Unmapped > 0 {
		s += "; not mapped: " + count(r.Unmapped, "upstream parameter")
	}
	if r.Excluded > 0 {
		s += fmt.Sprintf("; in refused folders: %d", r.Excluded)
	}
	return s
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func (f *Finding) place() string {
	if f.File == "" || f.Line == 0 {
		return f.File
	}
	return fmt.Sprintf("%s:%d", f.File, f.Line)
}

func (f *Finding) text() string {
	var b strings.Builder
	if f.Path != "" {
		b.WriteString(f.Path)
		if !f.From.IsZero() {
			b.WriteString(" from " + f.From.String())
		}
		b.WriteString(": ")
	}
	b.WriteString(f.Message)
	return b.String()
}

// problem is a refusal before it is known whose: the rule that is broken, what was seen and what to do.
type problem struct{ rule, message, next string }

func shapeProblem(format string, args ...any) *problem {
	return &problem{ruleShape, fmt.Sprintf(format, args...), "only numbers, texts, true or false, and whole lists or scales of these are taken; leave the path out of the mapping"}
}

func dateProblem(name, text string) *problem {
	return &problem{ruleShape, fmt.Sprintf("%s %q is no date", name, clip(text)), "write a day of the calendar as YYYY-MM-DD"}
}

// clip shortens foreign text for a message.
func clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
