package language

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"sayso/business/hours"
)

// Literal is a typed value in a question. The number is exact.
type Literal struct {
	Value *big.Rat
	Unit  string // a unit code or a currency, "" for a bare number
	Money bool
	Next  int // the token after it
}

// The forms are compiled at the first number: together they cost 3 ms, which a start of the program that reads no question need not pay.
//
// numberForm is a number as one token; its group and decimal signs depend on the language.
var numberForm = compiled(`^[-\x{2212}\x{2010}\x{2011}\x{2013}]?[0-9]{1,15}(?:[.,][0-9]{1,15})*$`)

// attachedForm is a number with its unit in one token: 30min, 18v, 9am, 17h30.
var attachedForm = compiled(`^([-\x{2212}]?[0-9]{1,15}(?:[.,][0-9]{1,15})?)(\p{L}+)$`)

func compiled(form string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(form) })
}

// numeric reports whether a word starts as a number may: most do not, and need no look at the forms.
func numeric(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return '0' <= r && r <= '9' || minus(r)
}

// Attached parts a number from the unit in the same token; ok is false for another word.
func Attached(word string) (number, unit string, ok bool) {
	if !numeric(word) {
		return "", "", false
	}
	m := attachedForm().FindStringSubmatch(word)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

// ParseNumber reads the digits of a token exactly. A number that the language could mean in two ways is none.
func (l *Language) ParseNumber(word string) (*big.Rat, bool) {
	if !numeric(word) || !numberForm().MatchString(word) {
		return nil, false
	}
	if r, size := utf8.DecodeRuneInString(word); minus(r) {
		n, ok := l.ParseNumber(word[size:])
		if ok {
			n.Neg(n)
		}
		return n, ok
	}
	whole, fraction, decimal := word, "", false
	if d := l.Pack.Decimal; d != "" {
		whole, fraction, decimal = strings.Cut(word, d)
	}
	if strings.ContainsAny(fraction, ".,") {
		return nil, false
	}
	groups := strings.Split(whole, l.Pack.Group)
	if l.Pack.Group == "" {
		groups = []string{whole}
	}
	for i, g := range groups {
		if i > 0 && len(g) != 3 || strings.ContainsAny(g, ".,") {
			return l.otherPoint(word, i, groups, decimal)
		}
	}
	if decimal && (fraction == "" || len(fraction) == 3 && len(groups) == 1 && whole != "0") {
		return nil, false // 1.500 is one and a half here and fifteen hundred elsewhere
	}
	text := strings.Join(groups, "")
	if decimal {
		text += "." + fraction
	}
	return new(big.Rat).SetString(text)
}

// otherPoint reads 7.50 in a language that writes 7,50: two digits behind a single sign are no group.
func (l *Language) otherPoint(word string, i int, groups []string, decimal bool) (*big.Rat, bool) {
	if decimal || len(groups) != 2 || i != 1 || len(groups[1]) > 2 {
		return nil, false
	}
	return new(big.Rat).SetString(groups[0] + "." + groups[1])
}

// MarkAt is the longest phrase of a kind at a position, and the token after it.
func (l *Language) MarkAt(tokens []Token, i int, k Kind) (m Mark, next int) {
	if i >= len(tokens) {
		return Mark{}, 0
	}
	for p := range l.PhrasesAt(tokens, i) {
		if p.Mark.Kind == k && p.Tail == nil {
			return p.Mark, i + len(p.Words)
		}
	}
	return Mark{}, 0
}

// markOf is the meaning of one word alone.
func (l *Language) markOf(word string, k Kind) (Mark, bool) {
	for _, p := range l.phrases[word] {
		if len(p.Words) == 1 && p.Mark.Kind == k {
			return p.Mark, true
		}
	}
	return Mark{}, false
}

// LiteralAt reads the value at position i: an amount, a quantity, a percentage or a bare number.
func (l *Language) LiteralAt(tokens []Token, i int) (Literal, bool) {
	if i >= len(tokens) || tokens[i].Opaque {
		return Literal{}, false
	}
	if m, next := l.MarkAt(tokens, i, KindCurrency); next > 0 {
		if next >= len(tokens) || tokens[next].Breaks != 0 {
			return Literal{}, false
		}
		if n, ok := l.ParseNumber(tokens[next].Word); ok {
			return Literal{Value: n, Unit: m.Value, Money: true, Next: next + 1}, true
		}
		return Literal{}, false
	}
	if number, unit, is := Attached(tokens[i].Word); is {
		n, ok := l.ParseNumber(number)
		if !ok {
			return Literal{}, false
		}
		if u, is := l.markOf(l.Fold(unit), KindUnit); is {
			return Literal{Value: n, Unit: u.Value, Next: i + 1}, true
		}
		if u, is := l.markOf(l.Fold(unit), KindCurrency); is {
			return Literal{Value: n, Unit: u.Value, Money: true, Next: i + 1}, true
		}
		return Literal{}, false
	}
	n, ok := l.ParseNumber(tokens[i].Word)
	inWords := false
	if !ok {
		var digits string
		if digits, inWords = l.numbers[tokens[i].Plain]; !inWords {
			return Literal{}, false
		}
		n, _ = new(big.Rat).SetString(digits)
	}
	if i+1 < len(tokens) && tokens[i+1].Breaks == 0 {
		if u, next := l.MarkAt(tokens, i+1, KindUnit); next > 0 {
			return Literal{Value: n, Unit: u.Value, Next: next}, true
		}
		if u, next := l.MarkAt(tokens, i+1, KindCurrency); next > 0 {
			return Literal{Value: n, Unit: u.Value, Money: true, Next: next}, true
		}
	}
	return Literal{Value: n, Next: i + 1}, !inWords
}

// Comparison is a comparator with its literal: one piece.
type Comparison struct {
	Op      string
	Field   string // implied by the comparator, "" for none
	Literal Literal
	Upper   Literal // of between
	Free    bool    // costs nothing: price <= 0 in any currency
}

// ComparisonAt reads a comparison at position i, and the token after it.
func (l *Language) ComparisonAt(tokens []Token, i int) (c Comparison, next int) {
	for p := range l.PhrasesAt(tokens, i) {
		at := i + len(p.Words)
		if p.Mark.Kind != KindComparator || at >= len(tokens) || tokens[at].Breaks != 0 {
			continue
		}
		a, ok := l.LiteralAt(tokens, at)
		if !ok {
			continue
		}
		c = Comparison{Op: p.Mark.Value, Field: p.Mark.Field, Literal: a}
		if c.Op != "between" {
			return c, a.Next
		}
		if a.Next >= len(tokens) || !l.And[tokens[a.Next].Plain] {
			continue
		}
		b, ok := l.LiteralAt(tokens, a.Next+1)
		if !ok {
			continue
		}
		if a.Unit == "" {
			c.Literal.Unit, c.Literal.Money = b.Unit, b.Money
		}
		c.Upper = b
		return c, b.Next
	}
	return Comparison{}, 0
}

// TimeAt reads a time of day in minutes after midnight: 17:30, 9am, 9 o'clock. The twelve-hour clock needs its ending, so a bare number is no time.
func (l *Language) TimeAt(tokens []Token, i int) (minute, next int) {
	word, next := tokens[i].Word, i+1
	ending := Kind(0)
	if number, unit, is := Attached(word); is {
		for _, k := range []Kind{KindMorning, KindAfternoon, KindHour} {
			if _, ok := l.markOf(l.Fold(unit), k); ok {
				word, ending = number, k
			}
		}
	}
	if ending == 0 && next < len(tokens) && tokens[next].Breaks == 0 {
		for _, k := range []Kind{KindMorning, KindAfternoon, KindHour} {
			if _, after := l.MarkAt(tokens, next, k); after > 0 {
				next, ending = after, k
				break
			}
		}
	}
	hour, min, exact := l.clock(word, ending != 0)
	if hour < 0 || ending == 0 && !exact {
		return 0, 0
	}
	switch {
	case ending == KindMorning || ending == KindAfternoon:
		if hour < 1 || hour > 12 {
			return 0, 0
		}
		hour %= 12
		if ending == KindAfternoon {
			hour += 12
		}
	}
	if ending == KindHour && min == 0 && !exact && l.Pack.Decimal == "." {
		return 0, 0 // nine o'clock may be either half of the day
	}
	return hour*60 + min, next
}

// clock reads the digits of a time. exact says that they are a time by themselves: two digits of minutes after a colon.
func (l *Language) clock(word string, ending bool) (hour, minute int, exact bool) {
	h, m, colon := strings.Cut(word, ":")
	if !colon {
		for _, s := range l.Pack.Clock.Separators {
			if a, b, ok := strings.Cut(word, s); ok && (ending || s != "." && s != ",") && len(b) == 2 {
				h, m, colon = a, b, s != "." && s != ","
				break
			}
		}
	}
	if h == "" || len(h) > 2 {
		return -1, 0, false // most words: an error that nobody reads would be made for each
	}
	hour, err := strconv.Atoi(h)
	if err != nil || hour > 24 {
		return -1, 0, false
	}
	if m != "" || colon {
		if minute, err = strconv.Atoi(m); err != nil || len(m) != 2 || minute > 59 {
			return -1, 0, false
		}
	}
	if hour == 24 {
		return -1, 0, false
	}
	return hour, minute, colon
}

// DateAt reads a date at position i: 2026-12-24, 24.12.2026 where the language writes a decimal comma, 24 December, December 24th 2026. The year is 0 when none
// is stated.
func (l *Language) DateAt(tokens []Token, i int) (d hours.Date, next int) {
	if i+2 < len(tokens) && len(tokens[i].Word) == 4 && tokens[i+1].Hyphen && tokens[i+2].Hyphen {
		y, m, day := Digits(tokens[i].Word, 4), Digits(tokens[i+1].Word, 2), Digits(tokens[i+2].Word, 2)
		return validDate(y, m, day, true, i+3)
	}
	if l.Pack.Decimal == "," && strings.Count(tokens[i].Word, ".") == 2 {
		parts := strings.Split(tokens[i].Word, ".")
		return validDate(Digits(parts[2], 4), Digits(parts[1], 2), Digits(parts[0], 2), true, i+1)
	}
	if day := l.dayNumber(tokens[i].Plain); day > 0 {
		at := i + 1
		for at < len(tokens) && (l.ordinal(tokens[at].Plain) || l.Links[tokens[at].Plain]) {
			at++
		}
		if at < len(tokens) && (tokens[at].Breaks == 0 || tokens[at].Breaks == '.') {
			if m, after := l.month(tokens, at); after > 0 {
				return l.withYear(tokens, m, day, after)
			}
		}
	}
	if m, at := l.month(tokens, i); at > 0 && at < len(tokens) && tokens[at].Breaks == 0 {
		if day := l.dayNumber(tokens[at].Plain); day > 0 {
			after := at + 1
			if after < len(tokens) && tokens[after].Breaks == 0 && l.ordinal(tokens[after].Plain) {
				after++
			}
			return l.withYear(tokens, m, day, after)
		}
	}
	return hours.Date{}, 0
}

func (l *Language) ordinal(word string) bool {
	for _, o := range l.Pack.Ordinals {
		if o != "" && o == word {
			return true
		}
	}
	return false
}

// dayNumber reads 24 or 24th; 0 for another word.
func (l *Language) dayNumber(word string) int {
	for _, o := range l.Pack.Ordinals {
		if rest, ok := strings.CutSuffix(word, o); ok && o != "" {
			word = rest
			break
		}
	}
	if n := Digits(word, 2); n >= 1 && n <= 31 {
		return n
	}
	return 0
}

func (l *Language) month(tokens []Token, i int) (time.Month, int) {
	m, next := l.MarkAt(tokens, i, KindMonth)
	if next == 0 {
		return 0, 0
	}
	return time.Month(m.Value[0]-'a') + 1, next
}

// withYear takes a year of four digits behind a date.
func (l *Language) withYear(tokens []Token, m time.Month, day, next int) (hours.Date, int) {
	at := next
	for at < len(tokens) && l.Links[tokens[at].Plain] && tokens[at].Breaks == 0 {
		at++
	}
	if at < len(tokens) && len(tokens[at].Word) == 4 {
		if y := Digits(tokens[at].Word, 4); y >= 1000 {
			return validDate(y, int(m), day, true, at+1)
		}
	}
	return validDate(0, int(m), day, false, next)
}

// validDate refuses days that no calendar has.
func validDate(y, m, day int, stated bool, next int) (hours.Date, int) {
	check := y
	if !stated {
		check = 2024 // a leap year: 29 February is a day of some year
	}
	t := time.Date(check, time.Month(m), day, 0, 0, 0, 0, time.UTC)
	if m < 1 || day < 1 || stated && y < 1000 || t.Day() != day || int(t.Month()) != m {
		return hours.Date{}, 0
	}
	return hours.Date{Year: y, Month: time.Month(m), Day: day}, next
}

// Digits reads a decimal number of at most n ASCII digits, -1 for anything else.
func Digits(s string, n int) int {
	if s == "" || len(s) > n {
		return -1
	}
	for _, r := range s {
		if r < '0' || r > '9' {
			return -1
		}
	}
	v, _ := strconv.Atoi(s)
	return v
}
