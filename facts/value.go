package facts

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"sayso/jcs"
)

// Value is one JSON value in its RFC 8785 text: `12570`, `"text"`, `true`, `null`, `[…]`, `{…}`. Two values are equal iff their texts are.
type Value string

// Null is the value of a withdrawn fact and of a first "from".
const Null Value = "null"

// Limits of a published value (F§3.2).
const (
	MaxValueBytes = 4096 // in RFC 8785 form
	MaxValueDepth = 4    // nested arrays and objects
)

// ParseValue canonicalises JSON text under the limits of F§3.2: at most MaxValueBytes and MaxValueDepth, every number survives binary64, no negative
// zero. Text that is not strict JSON gives a *jcs.Error. It is the reader of authored values; ParseRecord takes received ones without these limits.
func ParseValue(json []byte) (Value, error) {
	canonical, err := jcs.Canonical(json)
	if err != nil {
		return "", err
	}
	if len(canonical) > MaxValueBytes {
		return "", fmt.Errorf("value of %d bytes: at most %d are allowed", len(canonical), MaxValueBytes)
	}
	depth, negativeZero := scanValue(json)
	if depth > MaxValueDepth {
		return "", fmt.Errorf("value nested %d deep: at most %d levels are allowed", depth, MaxValueDepth)
	}
	if negativeZero {
		return "", errors.New("negative zero: write 0")
	}
	return Value(canonical), nil
}

// scanValue walks well-formed JSON text and reports its nesting and whether it holds a negative zero, which the canonical form no longer shows.
func scanValue(json []byte) (depth int, negativeZero bool) {
	level := 0
	for i := 0; i < len(json); i++ {
		switch json[i] {
		case '"':
			i = skipString(json, i) - 1
		case '[', '{':
			level++
			depth = max(depth, level)
		case ']', '}':
			level--
		case '-':
			if i > 0 && json[i-1]|0x20 == 'e' {
				continue // the sign of an exponent
			}
			start := i
			for i+1 < len(json) && strings.IndexByte("0123456789.eE+-", json[i+1]) >= 0 {
				i++
			}
			// An underflow never gets here as zero: it does not survive binary64.
			f, err := strconv.ParseFloat(string(json[start:i+1]), 64)
			negativeZero = negativeZero || err == nil && f == 0
		}
	}
	return depth, negativeZero
}

// StringValue is the JSON string of s, which must be valid UTF-8.
func StringValue(s string) Value { return Value(jcs.AppendString(nil, s)) }

// Kind is "number", "string", "boolean", "null", "array" or "object".
func (v Value) Kind() string {
	if v == "" {
		return "null"
	}
	switch v[0] {
	case '"':
		return "string"
	case '[':
		return "array"
	case '{':
		return "object"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// Text is the value as F§3.3 prints it: numbers and booleans as JSON, strings bare on one line, objects and arrays as JCS.
func (v Value) Text() string {
	if v == "" {
		return string(Null)
	}
	if v[0] != '"' {
		return string(v)
	}
	return oneLine(checkedText(jcs.Raw(v)))
}

// oneLine turns every run of control characters and line ends into one space, so that text from outside cannot forge a line or drive a terminal.
func oneLine(s string) string {
	if strings.IndexFunc(s, breaksLine) < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	inRun := false
	for _, r := range s {
		broke := breaksLine(r)
		if broke && !inRun {
			b.WriteByte(' ')
		} else if !broke {
			b.WriteRune(r)
		}
		inRun = broke
	}
	return b.String()
}

func breaksLine(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// MarshalJSON writes the text unchanged ("null" for the zero Value).
func (v Value) MarshalJSON() ([]byte, error) {
	if v == "" {
		return []byte("null"), nil
	}
	return []byte(v), nil
}

// quote shows text from outside in a message: escaped, and cut so that a message stays a sentence.
func quote(s string) string { return strconv.Quote(clip(s)) }

// clip cuts a text to at most 80 bytes and an ellipsis, between code points.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
