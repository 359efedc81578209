package report

import (
	"cmp"
	"io"
	"slices"
)

// Outcome of one check.
type Outcome string

// The four outcomes. Unknown is never shown as no: what could not be looked at is NotTested.
const (
	Pass      Outcome = "pass"
	Fail      Outcome = "fail"
	Warning   Outcome = "warning"
	NotTested Outcome = "not_tested"
)

// Outcomes in the order in which reports show them.
var outcomes = []Outcome{Fail, Warning, NotTested, Pass}

// Rule is one entry of a checker's rule table.
type Rule struct {
	ID      string `json:"id"`      // VF-L1-003b
	Title   string `json:"title"`   // what holds when the rule passes, a few words
	Section string `json:"section"` // where the rule comes from
}

// Finding is the outcome of one check at one place.
type Finding struct {
	Rule    string  `json:"rule"` // VF-L1-003b, VF-D-004, …
	Outcome Outcome `json:"outcome"`
	Place   string  `json:"place,omitempty"`  // URL, or file:line:column, or key
	Message string  `json:"message"`          // what was seen, one sentence
	Reason  string  `json:"reason,omitempty"` // why that is so, or why it could not be tested
	Next    string  `json:"next,omitempty"`   // what to do
}

// Report is the result of one run of a checker over one subject.
type Report struct {
	Subject  string    `json:"subject"`         // origin, folder or file
	Protocol string    `json:"protocol"`        // verified-facts/0.2, …
	Verdict  string    `json:"verdict"`         // one sentence
	Rules    []Rule    `json:"rules,omitempty"` // titles for the ids in Findings; rules that do not occur are left out of every form
	Findings []Finding `json:"findings"`
}

// Add appends a finding.
func (r *Report) Add(f Finding) { r.Findings = append(r.Findings, f) }

// Sort orders the findings by rule, then place; findings of one rule at one place keep their order.
func (r *Report) Sort() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Place, b.Place))
	})
}

// Counts of findings by outcome; all four outcomes are present.
func (r *Report) Counts() map[Outcome]int {
	n := make(map[Outcome]int, len(outcomes))
	for _, o := range outcomes {
		n[o] = 0
	}
	for _, f := range r.Findings {
		n[f.Outcome]++
	}
	return n
}

// Failed reports whether any finding failed.
func (r *Report) Failed() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Outcome == Fail })
}

// occurring returns the rules that findings name, in the order of the table.
func (r *Report) occurring() []Rule {
	seen := map[string]bool{}
	for _, f := range r.Findings {
		seen[f.Rule] = true
	}
	return slices.DeleteFunc(slices.Clone(r.Rules), func(rule Rule) bool { return !seen[rule.ID] })
}

// title of a rule, "" when the table has none.
func (r *Report) title(id string) string {
	for _, rule := range r.Rules {
		if rule.ID == id {
			return rule.Title
		}
	}
	return ""
}

// group is the findings of one outcome.
type group struct {
	Outcome  Outcome
	Findings []Finding
}

// groups splits the findings by outcome, failures first; outcomes without a finding are left out.
func (r *Report) groups() []group {
	var out []group
	for _, o := range outcomes {
		var fs []Finding
		for _, f := range r.Findings {
			if f.Outcome == o {
				fs = append(fs, f)
			}
		}
		if fs != nil {
			out = append(out, group{o, fs})
		}
	}
	return out
}

// WriteJSON prints the report as one JSON value with a counts member.
func (r *Report) WriteJSON(w io.Writer) error {
	_, err := w.Write(append(r.AppendJSON(nil), '\n'))
	return err
}
