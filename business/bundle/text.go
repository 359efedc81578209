package bundle

import (
	"bytes"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sayso/jcs"
)

// The functions on jcs.Raw below take values out of a text that was checked as a whole; they do not check again.

// elements splits an array. ok is false for another value.
func elements(raw jcs.Raw) (list []jcs.Raw, ok bool) {
	if len(raw) == 0 || raw[0] != '[' {
		return nil, false
	}
	for i := space(raw, 1); raw[i] != ']'; {
		end := skip(raw, i)
		list = append(list, raw[i:end:end])
		if i = space(raw, end); raw[i] == ',' {
			i = space(raw, i+1)
		}
	}
	return list, true
}

// members splits an object. ok is false for another value.
func members(raw jcs.Raw) (list []jcs.Member, ok bool) {
	if len(raw) == 0 || raw[0] != '{' {
		return nil, false
	}
	for i := space(raw, 1); raw[i] != '}'; {
		colon := skip(raw, i)
		name, _ := text(raw[i:colon])
		from := space(raw, space(raw, colon)+1)
		end := skip(raw, from)
		list = append(list, jcs.Member{Name: name, Value: raw[from:end:end]})
		if i = space(raw, end); raw[i] == ',' {
			i = space(raw, i+1)
		}
	}
	return list, true
}

// commas counts the values of a text but one for each array or object that has any.
func commas(raw jcs.Raw) (n int) {
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i = skipString(raw, i) - 1
		case ',':
			n++
		}
	}
	return n
}

// text returns the characters of a string. ok is false for another value.
func text(raw jcs.Raw) (s string, ok bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	return jcs.Text(raw)
}

func isNumber(raw jcs.Raw) bool { return len(raw) > 0 && (raw[0] == '-' || raw[0]-'0' <= 9) }

func isBool(raw jcs.Raw) bool { return string(raw) == "true" || string(raw) == "false" }

func isNull(raw jcs.Raw) bool { return string(raw) == "null" }

// isEmpty reports whether a value says nothing: "", [] or {}.
func isEmpty(raw jcs.Raw) bool {
	switch raw[0] {
	case '"':
		return len(raw) == 2
	case '[', '{':
		return space(raw, 1) == len(raw)-1
	}
	return false
}

// kindOf names the JSON type of a value for a message.
func kindOf(raw jcs.Raw) string {
	switch raw[0] {
	case '"':
		return "a string"
	case '[':
		return "an array"
	case '{':
		return "an object"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

func space(raw jcs.Raw, i int) int {
	for raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\n' || raw[i] == '\r' {
		i++
	}
	return i
}

// skip returns the end of the value that begins at i.
func skip(raw jcs.Raw, i int) int {
	switch raw[i] {
	case '"':
		return skipString(raw, i)
	case '{', '[':
		for depth := 0; ; i++ {
			switch raw[i] {
			case '"':
				i = skipString(raw, i) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
	}
	for i < len(raw) && strings.IndexByte(",]} \t\r\n:", raw[i]) < 0 {
		i++
	}
	return i
}

func skipString(raw jcs.Raw, i int) int {
	for i++; raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i + 1
}

var numberPattern = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// isLiteral reports whether s is a JSON number literal.
func isLiteral(s string) bool {
	return s != "" && (s[0] == '-' || s[0]-'0' <= 9) && numberPattern.MatchString(s)
}

// tame reports whether a number literal can be computed with: no reader has to hold more than a few hundred digits.
func tame(literal string) bool {
	mantissa, exponent, ok := strings.Cut(strings.ToLower(literal), "e")
	return len(mantissa) <= 64 && (!ok || len(strings.TrimLeft(exponent, "+-0")) <= 2)
}

// plain reports whether a name has no control character, no separator of lines and nothing that turns the direction of the text after it.
func plain(s string) bool {
	for _, c := range s {
		switch {
		case c < utf8.RuneSelf:
			if c < 0x20 || c == 0x7f {
				return false
			}
		case unicode.IsControl(c), c == '\u2028', c == '\u2029', c >= '\u202a' && c <= '\u202e', c >= '\u2066' && c <= '\u2069':
			return false
		}
	}
	return true
}

// word reads a string member; "" is not stated.
func (r *row) word(field string, raw jcs.Raw) string {
	s, ok := text(raw)
	if !ok {
		r.fail(ruleForm, field, "write a string, or leave the member out", "%s is %s where a string is expected", field, kindOf(raw))
	}
	return s
}

// name reads a string that people see beside others: it must not disturb them.
func (r *row) name(field string, raw jcs.Raw) string {
	s := r.word(field, raw)
	r.checkName(field, s)
	return s
}

func (r *row) checkName(field, s string) {
	if !plain(s) {
		r.fail(ruleName, field, "take the character out", "%s %q holds a control character or turns the direction of text", field, clip(s))
	}
}

// names reads an array of strings; empty ones are not stated.
func (r *row) names(field string, raw jcs.Raw) (out []string) {
	list, ok := elements(raw)
	if !ok {
		r.fail(ruleForm, field, "write an array of strings, or leave the member out", "%s is %s where an array is expected", field, kindOf(raw))
	}
	for _, e := range list {
		if s := r.name(field, e); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// instant reads RFC 3339; the offset is used and not kept.
func (r *row) instant(field, s string) (t time.Time) {
	if s == "" {
		return t
	}
	const next = "write it as 2026-11-30T09:00:00Z, with at most six decimals of a second"
	if err := t.UnmarshalText([]byte(s)); err != nil {
		r.fail(ruleInstant, field, next, "%s %q is not an instant of RFC 3339 with an offset", field, clip(s))
		return time.Time{}
	}
	if t = t.UTC(); t.IsZero() || t.Year() < 1 || t.Year() > 9999 || t.Nanosecond()%1000 != 0 {
		r.fail(ruleInstant, field, next, "%s %q is outside the years 1 to 9999, or finer than microseconds", field, clip(s))
		return time.Time{}
	}
	return t
}
