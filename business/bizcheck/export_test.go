package bizcheck

import "sayso/jcs"

// Looked reports whether this checker can ever look at a rule.
func Looked(id string) bool { return ruleOf[id].why == "" }

// Answered reports whether a rule shows in answers only.
func Answered(id string) bool { return ruleOf[id].answer }

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
