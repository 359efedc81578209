package jcs

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendString appends s as an RFC 8785 string. s must be valid UTF-8.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		dst = appendEscape(dst, c)
		from = i + 1
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

// appendEscape appends the one escape RFC 8785 section 3.2.2.2 allows for c.
func appendEscape(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\t':
		return append(dst, '\\', 't')
	case '\n':
		return append(dst, '\\', 'n')
	case '\f':
		return append(dst, '\\', 'f')
	case '\r':
		return append(dst, '\\', 'r')
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// hasSeparator reports whether valid UTF-8 text holds U+2028 or U+2029, which are E2 80 A8 and E2 80 A9.
func hasSeparator(text []byte) bool {
	for {
		i := bytes.IndexByte(text, 0xE2)
		if i < 0 {
			return false
		}
		if text[i+1] == 0x80 && text[i+2]|1 == 0xA9 {
			return true
		}
		text = text[i+3:]
	}
}

// appendSeparated is AppendString with U+2028 and U+2029 written as escapes.
func appendSeparated(dst []byte, s string) []byte {
	start := len(dst)
	dst = AppendString(dst, s)
	raw := string(dst[start:])
	return append(dst[:start], separatorEscaper.Replace(raw)...)
}

var separatorEscaper = strings.NewReplacer("\u2028", `\u2028`, "\u2029", `\u2029`)

// str reads the string at pos, appends its canonical form and leaves its unescaped text in s.name.
func (s *scanner) str(dst []byte) ([]byte, *Error) {
	start := s.pos
	end, err := plain(s.data, start+1)
	if err != nil {
		return dst, err
	}
	if s.data[end] == '"' {
		// Nothing is escaped, so nothing needs to be: the canonical form is the received one.
		s.name = s.data[start+1 : end]
		s.pos = end + 1
		if s.form.EscapeSeparators && hasSeparator(s.name) {
			return appendSeparated(dst, string(s.name)), nil
		}
		return append(dst, s.data[start:s.pos]...), nil
	}
	text := append([]byte(nil), s.data[start+1:end]...)
	for s.data[end] != '"' {
		if text, end, err = unescape(text, s.data, end); err != nil {
			return dst, err
		}
		from := end
		if end, err = plain(s.data, from); err != nil {
			return dst, err
		}
		text = append(text, s.data[from:end]...)
	}
	s.pos = end + 1
	s.name = text
	if s.form.EscapeSeparators && hasSeparator(text) {
		return appendSeparated(dst, string(text)), nil
	}
	return AppendString(dst, string(text)), nil
}

// plain returns the offset of the first quotation mark or reverse solidus at or after i, having checked everything
// before it. It does not return the end of the text: a string that is not closed is an error.
func plain(data []byte, i int) (int, *Error) {
	for {
		for i+8 <= len(data) {
			w := special(binary.LittleEndian.Uint64(data[i:]))
			if w != 0 {
				i += bits.TrailingZeros64(w) / 8
				break
			}
			i += 8
		}
		if i >= len(data) {
			return i, fail(KindSyntax, i, "the text ends inside a string")
		}
		switch c := data[i]; {
		case c == '"' || c == '\\':
			return i, nil
		case c < 0x20:
			return i, fail(KindSyntax, i, "a control character stands unescaped in a string")
		case c < 0x80:
			i++
		default:
			r, size := utf8.DecodeRune(data[i:])
			if r == utf8.RuneError && size == 1 {
				return i, fail(KindUTF8, i, "these bytes are not UTF-8")
			}
			i += size
		}
	}
}

// special sets the top bit of every byte of w that is a control character, a quotation mark, a reverse solidus or
// beyond ASCII. A byte below n sets the top bit of (x - n) & ^x; the borrow of such a byte may set the bit of a higher
// byte falsely, so only the lowest bit set is to be relied on.
func special(w uint64) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote := w ^ ones*'"'
	slash := w ^ ones*'\\'
	return (w | (w-ones*0x20)&^w | (quote-ones)&^quote | (slash-ones)&^slash) & tops
}

// unescape appends the character whose escape begins at data[i] and returns the offset after it.
func unescape(text, data []byte, i int) ([]byte, int, *Error) {
	if i+1 >= len(data) {
		return text, i, fail(KindSyntax, i, "the text ends inside a string")
	}
	switch c := data[i+1]; c {
	case '"', '\\', '/':
		return append(text, c), i + 2, nil
	case 'b':
		return append(text, '\b'), i + 2, nil
	case 'f':
		return append(text, '\f'), i + 2, nil
	case 'n':
		return append(text, '\n'), i + 2, nil
	case 'r':
		return append(text, '\r'), i + 2, nil
	case 't':
		return append(text, '\t'), i + 2, nil
	case 'u':
	default:
		return text, i, fail(KindSyntax, i, "a reverse solidus must be followed by one of \" \\ / b f n r t u")
	}
	r, ok := hex4(data, i+2)
	if !ok {
		return text, i, fail(KindSyntax, i, "\\u must be followed by four hexadecimal digits")
	}
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(text, r), i + 6, nil
	}
	if i+7 < len(data) && data[i+6] == '\\' && data[i+7] == 'u' {
		low, ok := hex4(data, i+8)
		if pair := utf16.DecodeRune(r, low); ok && pair != utf8.RuneError {
			return utf8.AppendRune(text, pair), i + 12, nil
		}
	}
	return text, i, fail(KindUTF8, i, "a surrogate escape stands without its other half")
}

// hex4 reads four hexadecimal digits.
func hex4(data []byte, i int) (rune, bool) {
	if i+4 > len(data) {
		return 0, false
	}
	var r rune
	for _, c := range data[i : i+4] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
