package dataset

import (
	"strings"

	"sayso/facts"
)

// Excerpt is the text of a page around a quote or, when the page lacks it, around the first spelling of a value: what a person who is about to confirm
// should read (F§10.4 rule 1). It is at most width characters longer than what was found, on one line, and "" when neither is there.
func Excerpt(page []byte, quote string, v facts.Value, width int) string {
	text := pageText(page)
	wanted := spellings(v)
	if q := normalText(quote); q != "" {
		wanted = append([]string{q}, wanted...)
	}
	for _, s := range wanted {
		at := indexWhole(text, s, v.Kind() == "number" && s != normalText(quote))
		if at < 0 {
			continue
		}
		before, after := []rune(text[:at]), []rune(text[at+len(s):])
		cutBefore, cutAfter := max(len(before)-width/2, 0), min(width/2, len(after))
		out := string(before[cutBefore:]) + s + string(after[:cutAfter])
		if cutBefore > 0 {
			out = "…" + out
		}
		if cutAfter < len(after) {
			out += "…"
		}
		return out
	}
	return ""
}

// indexWhole finds a text; a number only where no digit continues it.
func indexWhole(text, s string, number bool) int {
	for from := 0; s != ""; {
		i := strings.Index(text[from:], s)
		if i < 0 {
			return -1
		}
		if at := from + i; !number || !continues(text, at, at+len(s)) {
			return at
		}
		from += i + 1
	}
	return -1
}
