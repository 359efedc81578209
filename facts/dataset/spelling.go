package dataset

import (
	"html"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"sayso/facts"
)

var straight = strings.NewReplacer("\u2018", "'", "\u2019", "'", "\u02bc", "'", "\u201c", `"`, "\u201d", `"`, "\u00ab", `"`, "\u00bb", `"`, "\u00ad", "")

// normalText is text as F§10.5 compares it: NFKC, straight quotes, runs of white space as one blank.
func normalText(s string) string {
	return strings.Join(strings.Fields(straight.Replace(norm.NFKC.String(s))), " ")
}

var (
	hidden    = regexp.MustCompile(`(?is)<(script|style|template)\b.*?</(script|style|template)\s*>|<!--.*?-->`)
	inlineTag = regexp.MustCompile(`(?i)</?(a|abbr|b|bdi|cite|code|data|em|i|mark|small|span|strong|sub|sup|time|u)(\s[^<>]*)?>`)
	anyTag    = regexp.MustCompile(`<[^<>]*>`)
)

// pageText is the readable text of an HTML or text page, normalised.
func pageText(body []byte) string {
	s := strings.ToValidUTF8(string(body), "\ufffd")
	s = hidden.ReplaceAllString(s, " ")
	s = inlineTag.ReplaceAllString(s, "")
	s = anyTag.ReplaceAllString(s, " ")
	return normalText(html.UnescapeString(s))
}

// spellings lists how pages write a value: the digits alone, and with each usual grouping and decimal mark.
func spellings(v facts.Value) []string {
	text := v.Text()
	if v.Kind() != "number" || strings.Contains(text, "e") {
		return []string{normalText(text)}
	}
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	var out []string
	for _, marks := range [][2]string{{"", "."}, {",", "."}, {"", ","}, {".", ","}, {" ", ","}, {" ", "."}, {"'", "."}} {
		for _, f := range fractions(fraction) {
			s := group(whole, marks[0])
			if f != "" {
				s += marks[1] + f
			}
			out = append(out, s)
		}
	}
	return out
}

// fractions are the decimals as they stand and, for amounts, with a closing zero or two.
func fractions(f string) []string {
	switch len(f) {
	case 0:
		return []string{"", "00"}
	case 1:
		return []string{f, f + "0"}
	}
	return []string{f}
}

func group(digits, mark string) string {
	if mark == "" {
		return digits
	}
	var b strings.Builder
	for i, c := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteString(mark)
		}
		b.WriteRune(c)
	}
	return b.String()
}

// containsValue reports whether normalised text holds a spelling of the value that no digit continues.
func containsValue(text string, v facts.Value) bool {
	for _, s := range spellings(v) {
		for from := 0; ; {
			i := strings.Index(text[from:], s)
			if i < 0 {
				break
			}
			start, end := from+i, from+i+len(s)
			if v.Kind() != "number" || !continues(text, start, end) {
				return true
			}
			from = start + 1
		}
	}
	return false
}

// continues reports whether the number at text[start:end] is part of a longer one.
func continues(text string, start, end int) bool {
	digit := func(i int) bool { return i >= 0 && i < len(text) && unicode.IsDigit(rune(text[i])) }
	mark := func(i int) bool { return i >= 0 && i < len(text) && (text[i] == '.' || text[i] == ',') }
	return digit(start-1) || digit(end) || mark(start-1) && digit(start-2) || mark(end) && digit(end+1)
}
