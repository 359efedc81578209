package factshttp

import (
	"net/http"
	"strconv"
	"strings"

	"sayso/facts"
)

// form is a representation of an answer.
type form uint8

const (
	formJSON form = iota
	formText
	formHTML
)

var formTypes = [...][]string{formJSON: typeJSON, formText: typeText, formHTML: typeHTML}

// formSuffix keeps the entity tags of a record's forms apart (F§4.6 rule 3).
var formSuffix = [...]string{formJSON: `"`, formText: `;txt"`, formHTML: `;html"`}

// negotiate reads Accept for a route without a format parameter and records the choice for error answers.
func (h *handler) negotiate(x *exchange, html bool) form {
	x.w.Header()["Vary"] = varyAccept
	x.form = acceptedForm(x.r.Header["Accept"], html)
	return x.form
}

// chooseForm is negotiate with the format parameter, which wins over Accept (F§4.1).
func (h *handler) chooseForm(x *exchange, p facts.Params, html bool) (form, error) {
	h.negotiate(x, html)
	format, given := p["format"]
	if !given {
		return x.form, nil
	}
	switch {
	case format == "json":
		x.form = formJSON
	case format == "txt":
		x.form = formText
	case format == "html" && html:
		x.form = formHTML
	case format == "html":
		return 0, &facts.ParameterError{Parameter: "format", Message: "this server offers no html form; use json or txt"}
	default:
		return 0, &facts.ParameterError{Parameter: "format", Message: "format must be json, txt or html"}
	}
	return x.form, nil
}

// acceptedForm applies RFC 9110 section 12.5.1 to the three forms: the most specific range decides the quality of a form, the highest quality wins, and on
// a tie JSON comes before text before HTML. Nothing acceptable is JSON.
func acceptedForm(accept []string, html bool) form {
	if len(accept) == 0 || len(accept) == 1 && (accept[0] == "*/*" || accept[0] == "" || accept[0] == "application/json") {
		return formJSON
	}
	var quality, specificity [3]int
	for _, line := range accept {
		for element := range strings.SplitSeq(line, ",") {
			mediaRange, parameters, _ := strings.Cut(element, ";")
			q, ok := parseQuality(parameters)
			if !ok {
				continue
			}
			mediaRange = strings.ToLower(strings.TrimSpace(mediaRange))
			for f := formJSON; f <= formHTML; f++ {
				if s := rangeSpecificity(mediaRange, f); s > specificity[f] || s == specificity[f] && s > 0 && q > quality[f] {
					specificity[f], quality[f] = s, q
				}
			}
		}
	}
	best := formJSON
	if quality[formText] > quality[best] {
		best = formText
	}
	if html && quality[formHTML] > quality[best] {
		best = formHTML
	}
	return best
}

// rangeSpecificity is 3 for a type, 2 for type/*, 1 for */*, 0 when the range does not cover the form.
func rangeSpecificity(mediaRange string, f form) int {
	kind, subtype, _ := strings.Cut(mediaRange, "/")
	switch {
	case kind == "*" && subtype == "*":
		return 1
	case f == formJSON && kind == "application" && (subtype == "json" || strings.HasSuffix(subtype, "+json")),
		f == formText && kind == "text" && subtype == "plain",
		f == formHTML && (kind == "text" && subtype == "html" || kind == "application" && subtype == "xhtml+xml"):
		return 3
	case subtype == "*" && (f == formJSON && kind == "application" || f != formJSON && kind == "text"):
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

// acceptsGzip reports whether Accept-Encoding takes gzip with a weight above zero.
func acceptsGzip(r *http.Request) bool {
	wildcard := false
	for _, line := range r.Header["Accept-Encoding"] {
		for element := range strings.SplitSeq(line, ",") {
			coding, parameters, _ := strings.Cut(element, ";")
			q, ok := parseQuality(parameters)
			switch coding = strings.TrimSpace(coding); {
			case strings.EqualFold(coding, "gzip"):
				return ok && q > 0
			case coding == "*":
				wildcard = ok && q > 0
			}
		}
	}
	return wildcard
}
