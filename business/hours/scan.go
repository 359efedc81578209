package hours

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

type kind uint8

const (
	kindEnd     kind = iota
	kindMonth        // n is the month, 1 to 12
	kindWeekday      // n is the time.Weekday
	kindHoliday      // PH, SH
	kindWord         // any other word
	kindNumber       // digits
	kindTime         // HH:MM, n in minutes
	kindAlways       // 24/7
	kindComment      // text is without quotation marks
	kindSymbol       // - , ; : [ ] ||
)

// token is one word or sign. text is its canonical spelling, raw the spelling as given.
type token struct {
	kind   kind
	text   string
	raw    string
	n      int
	offset int
	gap    bool // spaces stand before it
	colon  bool // a colon that the parser read as the end of a range of months
}

func refuse(offset int, raw, format string, args ...any) *Error {
	return &Error{Offset: offset, Token: clip(raw), Message: fmt.Sprintf("%q at byte %d: ", clip(raw), offset) + fmt.Sprintf(format, args...)}
}

// scan splits a value into tokens with their canonical spelling. The last one is kindEnd.
func scan(s string) ([]token, *Error) {
	if len(s) > MaxLength {
		return nil, refuse(0, s, "the value has %d bytes: write at most %d", len(s), MaxLength)
	}
	if !utf8.ValidString(s) {
		return nil, refuse(0, strings.ToValidUTF8(s, "\uFFFD"), "the value is not UTF-8")
	}
	var tokens []token
	for at := 0; ; {
		rest := strings.TrimLeft(s[at:], " ")
		t := token{offset: len(s) - len(rest), gap: len(rest) < len(s)-at}
		if rest == "" {
			return append(tokens, t), nil
		}
		if err := t.read(rest); err != nil {
			return nil, err
		}
		tokens = append(tokens, t)
		at = t.offset + len(t.raw)
	}
}

// read fills the token from the front of rest, which is not empty.
func (t *token) read(rest string) *Error {
	first, size := utf8.DecodeRuneInString(rest)
	switch {
	case first == '"':
		return t.comment(rest)
	case strings.HasPrefix(rest, "||"):
		t.kind, t.raw = kindSymbol, "||"
	case strings.ContainsRune("-,;:[]", first):
		t.kind, t.raw = kindSymbol, rest[:1]
	case digit(rest[0]):
		return t.digits(rest)
	case unicode.IsLetter(first):
		t.raw = rest[:prefix(rest, unicode.IsLetter)]
		t.word()
		return nil
	default:
		return refuse(t.offset, rest[:size], "this sign has no meaning here")
	}
	t.text = t.raw
	return nil
}

// prefix is the length of the longest prefix whose characters all fit.
func prefix(s string, fits func(rune) bool) int {
	if end := strings.IndexFunc(s, func(r rune) bool { return !fits(r) }); end >= 0 {
		return end
	}
	return len(s)
}

func digit(b byte) bool     { return '0' <= b && b <= '9' }
func digitRune(r rune) bool { return '0' <= r && r <= '9' }
func isControl(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }
func number(digits string) (n int) {
	for i := range len(digits) {
		n = n*10 + int(digits[i]-'0')
	}
	return n
}

func (t *token) comment(rest string) *Error {
	end := strings.IndexByte(rest[1:], '"')
	if end < 0 {
		return refuse(t.offset, rest, "the comment is not closed: end it with a quotation mark")
	}
	t.kind, t.raw, t.text = kindComment, rest[:end+2], rest[1:end+1]
	if strings.TrimSpace(t.text) == "" || strings.ContainsFunc(t.text, isControl) {
		return refuse(t.offset, t.raw, "a comment is not empty and has no control characters")
	}
	return nil
}

// digits reads 24/7, a time or a number.
func (t *token) digits(rest string) *Error {
	if strings.HasPrefix(rest, "24/7") {
		t.kind, t.raw, t.text = kindAlways, "24/7", "24/7"
		return nil
	}
	end := prefix(rest, digitRune)
	minutes := ""
	if after, ok := strings.CutPrefix(rest[end:], ":"); ok {
		minutes = after[:prefix(after, digitRune)]
	}
	if minutes == "" {
		t.kind, t.raw, t.text = kindNumber, rest[:end], rest[:end]
		return nil
	}
	hour := rest[:end]
	t.kind, t.raw = kindTime, rest[:end+1+len(minutes)]
	if len(hour) > 2 || len(minutes) != 2 || minutes > "59" {
		return refuse(t.offset, t.raw, "not a time: write HH:MM")
	}
	t.n = number(hour)*60 + number(minutes)
	t.text = clock(t.n)
	return nil
}

// word recognises names of months, weekdays and holidays in any case; everything else is kept as it is.
func (t *token) word() {
	t.kind, t.text = kindWord, t.raw
	for i, m := range monthNames {
		if same(t.raw, m) {
			t.kind, t.text, t.n = kindMonth, m, i+1
		}
	}
	for i, d := range weekdayNames {
		if same(t.raw, d) {
			t.kind, t.text, t.n = kindWeekday, d, i
		}
	}
	for _, h := range []Holiday{PublicHoliday, SchoolHoliday} {
		if same(t.raw, string(h)) {
			t.kind, t.text = kindHoliday, string(h)
		}
	}
}

// same compares ASCII names in any case. Letters beyond ASCII that fold to one are longer, and no spelling of it.
func same(word, name string) bool { return len(word) == len(name) && strings.EqualFold(word, name) }

// repairs compares the value as given with its canonical text: first word by word, then, with those repaired, the spaces between them.
func repairs(s string, tokens []token, canonical string) []Warning {
	var out []Warning
	seen := map[Warning]bool{}
	note := func(code, format string, args ...any) {
		if w := (Warning{Code: code, Message: fmt.Sprintf(format, args...)}); !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	var spelled strings.Builder
	end := 0
	for _, t := range tokens {
		if t.colon {
			note("repair_colon", "the colon after the month was taken away")
		} else {
			spelled.WriteString(s[end:t.offset])
		}
		end = t.offset + len(t.raw)
		switch {
		case t.colon:
		case t.kind == kindComment:
			spelled.WriteString(t.raw)
		default:
			spelled.WriteString(t.text)
			if t.kind == kindTime && t.text != t.raw {
				note("repair_time", "%s was written as %s", t.raw, t.text)
			} else if t.text != t.raw {
				note("repair_case", "%s was written as %s", t.raw, t.text)
			}
		}
	}
	if spelled.String() != canonical {
		note("repair_space", "the spaces were put in order: %s", clip(canonical))
	}
	return out
}
