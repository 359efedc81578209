package bizhttp

import (
	"strconv"
	"strings"
)

// form is a representation of a page.
type form uint8

const (
	formHTML form = iota
	formJSON
)

// choose negotiates a page and records the choice. HTML is offered when the deployment renders that page.
func (x *exchange) choose(html bool) form {
	x.w.Header()["Vary"] = varyAccept
	if !html {
		return formJSON
	}
	f, _ := acceptedForm(x.r.Header["Accept"])
	return f
}

// acceptedForm applies RFC 9110 section 12.5.1 to the two forms: the most specific range decides the quality of a form, the highest quality wins, on a tie the
// form that is named more specifically, then HTML. Nothing acceptable is HTML. named says that the client asked for HTML rather than merely taking it: a browser.
func acceptedForm(accept []string) (f form, named bool) {
	var quality, specificity [2]int
	for _, line := range accept {
		for element := range strings.SplitSeq(line, ",") {
			mediaRange, parameters, _ := strings.Cut(element, ";")
			q, ok := parseQuality(parameters)
			if !ok {
				continue
			}
			mediaRange = strings.ToLower(strings.TrimSpace(mediaRange))
			for f := formHTML; f <= formJSON; f++ {
				if s := rangeSpecificity(mediaRange, f); s > specificity[f] || s == specificity[f] && s > 0 && q > quality[f] {
					specificity[f], quality[f] = s, q
				}
			}
		}
	}
	switch d := quality[formJSON] - quality[formHTML]; {
	case d > 0, d == 0 && quality[formJSON] > 0 && specificity[formJSON] > specificity[formHTML]:
		return formJSON, false
	}
	return formHTML, quality[formHTML] > 0 && specificity[formHTML] > 1
}

// rangeSpecificity is 3 for a type, 2 for type/*, 1 for */*, 0 when the range does not cover the form.
func rangeSpecificity(mediaRange string, f form) int {
	kind, subtype, _ := strings.Cut(mediaRange, "/")
	switch {
	case kind == "*" && subtype == "*":
		return 1
	case f == formJSON && kind == "application" && subtype == "json",
		f == formHTML && (kind == "text" && subtype == "html" || kind == "application" && subtype == "xhtml+xml"):
		return 3
	case subtype == "*" && (f == formJSON && kind == "application" || f == formHTML && kind == "text"):
		return 2
	}
	return 0
}

// parseQuality reads the q parameter in thousandths; absent is 1000. ok is false for a malformed weight: that element is then ignored.
func parseQuality(parameters string) (q int, ok bool) {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(parameter), "=")
		if !strings.EqualFold(name, "q") {
			continue
		}
		f, err := strconv.ParseFloat(value, 64)
		if err != nil || !(f >= 0 && f <= 1) || len(value) > 5 {
			return 0, false
		}
		return int(f*1000 + 0.5), true
	}
	return 1000, true
}
