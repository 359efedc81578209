package report

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// AppendJSON appends the report as one JSON value. The foundations do not import each other, so the writer is here; it needs strings and small integers only.
func (r *Report) AppendJSON(dst []byte) []byte {
	dst = appendMembers(append(dst, '{'), "subject", r.Subject, "protocol", r.Protocol, "verdict", r.Verdict)
	counts := r.Counts()
	dst = append(dst, `,"counts":{`...)
	for i, o := range []Outcome{Pass, Fail, Warning, NotTested} {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, string(o)), ':')
		dst = strconv.AppendInt(dst, int64(counts[o]), 10)
	}
	dst = append(dst, '}')
	if rules := r.occurring(); len(rules) > 0 {
		dst = append(dst, `,"rules":[`...)
		for i, rule := range rules {
			dst = open(dst, i)
			dst = append(appendMembers(dst, "id", rule.ID, "title", rule.Title, "section", rule.Section), '}')
		}
		dst = append(dst, ']')
	}
	dst = append(dst, `,"findings":[`...)
	for i, f := range r.Findings {
		dst = open(dst, i)
		dst = appendMembers(dst, "rule", f.Rule, "outcome", string(f.Outcome))
		for _, m := range [][2]string{{"place", f.Place}, {"message", f.Message}, {"reason", f.Reason}, {"next", f.Next}} {
			if m[1] != "" || m[0] == "message" {
				dst = appendMembers(append(dst, ','), m[0], m[1])
			}
		}
		dst = append(dst, '}')
	}
	return append(dst, "]}"...)
}

// MarshalJSON is AppendJSON, so that a report inside another document has its counts too.
func (r *Report) MarshalJSON() ([]byte, error) { return r.AppendJSON(nil), nil }

func open(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return append(dst, '{')
}

func appendMembers(dst []byte, pairs ...string) []byte {
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, pairs[i]), ':')
		dst = appendString(dst, pairs[i+1])
	}
	return dst
}

// appendString escapes what JSON requires and the other control characters, which a terminal obeys; bytes that are not UTF-8 become U+FFFD.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, c := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', byte(c))
		case c < 0x20 || c >= 0x7f && c < 0xa0:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			dst = utf8.AppendRune(dst, c)
		}
	}
	return append(dst, '"')
}
