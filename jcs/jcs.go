package jcs

import (
	"strconv"
	"strings"
)

// Kind classifies why a text was refused.
type Kind string

// The closed list of refusals.
const (
	KindSyntax    Kind = "syntax"         // not JSON, or empty
	KindTrailing  Kind = "trailing data"  // something follows the value
	KindDuplicate Kind = "duplicate name" // a member name stands twice in one object, also by escape
	KindUTF8      Kind = "invalid UTF-8"  // bytes that are not UTF-8, or a lone surrogate escape
	KindNumber    Kind = "number"         // not finite, beyond ±(2^53-1), or it loses precision as binary64
	KindDepth     Kind = "depth"          // nested deeper than MaxDepth
	KindSize      Kind = "size"           // longer than the form's MaxBytes
	KindUnknown   Kind = "unknown member" // only DecodeKnown
	KindType      Kind = "type"           // the value does not fit the Go target
)

// MaxDepth is the deepest nesting that is read.
const MaxDepth = 64

// Error says which rule a text broke and where.
type Error struct {
	Kind    Kind
	Offset  int    // byte offset into the text, -1 when unknown
	Pointer string // RFC 6901 pointer of the offending value or member, "" for the root
	Detail  string // one sentence fragment, lower case, without internals
}

// Error reads "duplicate name at /a/role (byte 17): …". Text from outside is quoted and shortened.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(string(e.Kind))
	if e.Pointer != "" {
		b.WriteString(" at ")
		b.WriteString(printable(e.Pointer))
	}
	if e.Offset >= 0 {
		b.WriteString(" (byte ")
		b.WriteString(strconv.Itoa(e.Offset))
		b.WriteByte(')')
	}
	b.WriteString(": ")
	b.WriteString(e.Detail)
	return b.String()
}

// Raw is one JSON value as text. It is read verbatim and written with insignificant white space removed.
type Raw []byte

// MarshalJSON returns the text unchanged, null when there is none.
func (r Raw) MarshalJSON() ([]byte, error) {
	if len(r) == 0 {
		return []byte("null"), nil
	}
	return r, nil
}

// UnmarshalJSON keeps a copy of the text.
func (r *Raw) UnmarshalJSON(b []byte) error { *r = append((*r)[:0], b...); return nil }

// Member is one member of an object, in received order.
type Member struct {
	Name  string
	Value Raw // the value's text as received, without white space around it; it shares the memory of the input
}

// Check reports whether data is exactly one JSON value under the strict profile. Errors are *Error.
func Check(data []byte) error { return Form{}.Check(data) }

// Canonical checks data and returns its RFC 8785 form. Errors are *Error.
func Canonical(data []byte) ([]byte, error) { return Form{}.Append(nil, data) }

// AppendCanonical checks data and appends its RFC 8785 form to dst, whose spare capacity must not overlap data.
// On an error, which is an *Error, it returns dst as it was.
func AppendCanonical(dst, data []byte) ([]byte, error) { return Form{}.Append(dst, data) }

// Members checks data, which must be an object, and returns its members in received order. Errors are *Error, with
// [KindType] when data is another JSON value.
func Members(data []byte) ([]Member, error) { return Form{}.Members(data) }

// AppendMembers appends an object with these members in their order, as [Members] read them: each value is written as its text stands, unchecked. The names are
// valid UTF-8.
func AppendMembers(dst []byte, members []Member) []byte {
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(AppendString(dst, m.Name), ':'), m.Value...)
	}
	return append(dst, '}')
}

// Elements checks data, which must be an array, and returns its elements in order. They share its memory. Errors are *Error, with [KindType] when data is another JSON
// value.
func Elements(data []byte) ([]Raw, error) { return Form{}.Elements(data) }

// Text returns the characters of a JSON string; false when raw is not exactly one string under the strict profile.
func Text(raw Raw) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	s := newScanner(raw, Form{})
	defer s.release()
	out, err := s.str(s.spare[:0])
	s.spare = out
	if err != nil || s.pos != len(raw) {
		return "", false
	}
	return string(s.name), true
}

// Number returns the ECMAScript text of a JSON number literal, or an *Error when the literal is not one
// ([KindSyntax]) or would not survive binary64 ([KindNumber], with the text it would become in Detail).
// It serves loaders of source figures: unlike in a JSON text, -0 is refused here, because its sign would be lost.
func Number(literal string) (string, error) {
	n := scanNumber([]byte(literal), 0)
	if n.bad != "" || n.end != len(literal) {
		return "", &Error{Kind: KindSyntax, Offset: -1, Detail: quoted(literal) + " is not a JSON number"}
	}
	text, err := appendLiteral(nil, []byte(literal), n)
	if err != nil {
		err.Offset = -1
		return "", err
	}
	if literal[0] == '-' && string(text) == "0" {
		return "", &Error{Kind: KindNumber, Offset: -1, Detail: quoted(literal) + " would become 0; write 0"}
	}
	return string(text), nil
}

// quoted makes hostile text fit to print: one line, escapes visible, at most 60 bytes of it.
func quoted(s string) string {
	const limit = 60
	if len(s) <= limit {
		return strconv.QuoteToASCII(s)
	}
	return strconv.QuoteToASCII(strings.ToValidUTF8(s[:limit], "")) + "…"
}

// printable is s itself when it is plain and short, otherwise quoted.
func printable(s string) string {
	q := quoted(s)
	if q == `"`+s+`"` {
		return s
	}
	return q
}

// valueWord names a JSON value by the first byte of its text.
func valueWord(first byte) string {
	switch first {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
