package facts

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of a record (F§3.1, F§3.2).
const (
	maxRecord     = 8 << 10
	maxDayMembers = 128 // the room status, ageDays, maxAgeDays and notice need at most
	maxLabel      = 120
	maxQuote      = 500
	maxScope      = 200
	maxSource     = 2048
	maxLine       = 1024 // unit, period, method, withdrawnReason: one line each
	maxExamples   = 8
)

// checkFact checks what all values of a fact share, and that they agree on one JSON type (F§3.2).
func (w *valueWorker) checkFact(i int, f *Fact) bool {
	before := len(w.problems)
	if problem := checkText("label", f.Label, maxLabel, true); problem != "" {
		w.report(i, "", "%s", problem)
	}
	if problem := checkText("scope", f.Scope, maxScope, false); problem != "" {
		w.report(i, "", "%s", problem)
	}
	for _, alias := range f.Aliases {
		if err := CheckAlias(alias); err != nil {
			w.report(i, "", "%v", err)
		}
	}
	kind := ""
	for j := range f.Values {
		v := &f.Values[j]
		switch k := v.Value.Kind(); {
		case !v.Withdrawn.IsZero() && j > 0:
			w.report(i, v.Place, "only the newest value of a fact can be a withdrawal")
		case v.Withdrawn.IsZero() == (k == "null"):
			w.report(i, v.Place, "the value is null exactly when the fact is withdrawn")
		case k == "null":
		case kind == "":
			kind = k
		case k != kind:
			w.report(i, v.Place, "the value is of type %s, a newer one of type %s: one key has one JSON type", k, kind)
		}
	}
	if p := f.Previous; p != nil {
		if problem := checkPrevious(p); problem != "" {
			w.report(i, "", "previous: %s", problem)
		}
	}
	return len(w.problems) == before
}

// checkValue returns the first rule of F§3.1 a dated value breaks.
func checkValue(v *DatedValue) string {
	if v.Verified.IsZero() {
		return "the value has no verifiedDate"
	}
	if problem := checkJSON(v.Value); problem != "" {
		return problem
	}
	if problem := checkSource(v.Source); problem != "" {
		return problem
	}
	if !slices.Contains([]string{"", "authority", "methodology", "derived"}, v.SourceType) {
		return fmt.Sprintf("sourceType %q is none of authority, methodology, derived", v.SourceType)
	}
	for _, text := range []struct {
		name, text string
		max        int
	}{
		{"unit", v.Unit, maxLine}, {"period", v.Period, maxLine}, {"method", v.Method, maxLine},
		{"sourceFile", v.SourceFile, maxSource}, {"withdrawnReason", v.WithdrawnReason, maxLine},
	} {
		if problem := checkText(text.name, text.text, text.max, false); problem != "" {
			return problem
		}
	}
	switch {
	case !utf8.ValidString(v.Quote):
		return "quote is not UTF-8"
	case utf8.RuneCountInString(v.Quote) > maxQuote:
		return fmt.Sprintf("quote is over %d characters long", maxQuote)
	case v.Withdrawn.IsZero() && (v.WithdrawnReason != "" || v.SupersededBy != ""):
		return "withdrawnReason and supersededBy belong to a withdrawn fact"
	}
	return ""
}

// checkPublisher: the name is shown, the URL is signed, and both are part of every record.
func checkPublisher(p Publisher) error {
	if p.Name == "" || !utf8.ValidString(p.Name) {
		return errors.New("publisher name is empty or not UTF-8")
	}
	if problem := checkText("publisher url", p.URL, maxSource, true); problem != "" {
		return errors.New(problem)
	}
	return nil
}

func checkPrevious(p *Previous) string {
	if problem := checkJSON(p.Value); problem != "" {
		return problem
	}
	if problem := checkText("period", p.Period, maxLine, false); problem != "" {
		return problem
	}
	return checkSource(p.Source)
}

// checkJSON makes sure that a value put into a record verbatim is one canonical JSON value.
func checkJSON(v Value) string {
	canonical, err := ParseValue([]byte(v))
	switch {
	case err != nil:
		return fmt.Sprintf("value: %v", err)
	case canonical != v:
		return "value: not in canonical form"
	}
	return ""
}

func checkSource(source string) string {
	switch {
	case !strings.HasPrefix(source, "https://"):
		return fmt.Sprintf("source %q is not an https URL", source)
	case len(source) > maxSource:
		return fmt.Sprintf("source is over %d bytes long", maxSource)
	case strings.ContainsRune(source, ' '):
		return "source contains a space"
	}
	return checkText("source", source, maxSource, true)
}

// checkText accepts one line of at most limit characters without control characters.
func checkText(name, text string, limit int, required bool) string {
	switch {
	case text == "" && required:
		return name + " is empty"
	case !utf8.ValidString(text):
		return name + " is not UTF-8"
	case utf8.RuneCountInString(text) > limit:
		return fmt.Sprintf("%s is over %d characters long", name, limit)
	case strings.ContainsFunc(text, breaksLine):
		return name + " contains a control character or line end"
	}
	return ""
}
