package bizcheck

import (
	"slices"

	"sayso/business"
	"sayso/jcs"
	"sayso/report"
)

// Looked reports whether this checker can ever look at a rule.
func Looked(id string) bool { return ruleOf[id].why == "" }

// LinkedNames are the names in the JSON-LD of a page.
func LinkedNames(page []byte) []string {
	var out []string
	for _, o := range linkedData(page) {
		out = append(out, o.text("name"))
	}
	return out
}

// Scalars are the scalars of a text that the strict reader accepts, ok false for any other text.
func Scalars(text []byte) (out []string, ok bool) {
	if _, err := objectOf(text); err != nil {
		return nil, false
	}
	scalars(text, func(string) bool { return false }, func(_ string, raw jcs.Raw) { out = append(out, string(raw)) })
	return out, true
}

// MaxCalls and MaxCallsAll bound the calls of tools.
const (
	MaxCalls    = maxCalls
	MaxCallsAll = maxCallsAll
)

// Forgeries is how many ways there are to alter an answer.
var Forgeries = len(forgeries)

// ForgedRules are the rules that altered copies are looked at for, sorted.
func ForgedRules() (out []string) {
	for _, f := range forgeries {
		out = append(out, f.rule)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Tampered alters an answer in every way and lets verify judge each copy.
func Tampered(document []byte, e business.Evidence, verify func([]byte, business.Evidence) (*business.Verdict, error)) []report.Finding {
	c := newRecorder()
	c.checkTampered("answer", document, e, verify)
	return c.findings()
}

// WithBound is the arguments of a resumed call.
func WithBound(arguments, addTo, name, value string) string {
	return string(withBound(jcs.Raw(arguments), addTo, name, value))
}
