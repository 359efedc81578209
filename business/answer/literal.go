package answer

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"sayso/business/hours"
)

// literal is a typed value in a question. The number is exact.
type literal struct {
	value *big.Rat
	unit  string // a unit code or a currency, "" for a bare number
	money bool
	next  int // the token after it
}

// numberForm is a number as one token; its group and decimal signs depend on the language.
var numberForm = regexp.MustCompile(`^[-\x{2212}\x{2010}\x{2011}\x{2013}]?[0-9]{1,15}(?:[.,][0-9]{1,15})*$`)

// attachedForm is a number with its unit in one token: 30min, 18v, 9am, 17h30.
var attachedForm = regexp.MustCompile(`^([-\x{2212}]?[0-9]{1,15}(?:[.,][0-9]{1,15})?)(\p{L}+)$`)

// parseNumber reads the digits of a token exactly. A number that the language could mean in two ways is none.
func (l *language) parseNumber(word string) (*big.Rat, bool) {
	if !numberForm.MatchString(word) {
		return nil, false
	}
	if r, size := utf8.DecodeRuneInString(word); minus(r) {
		n, ok := l.parseNumber(word[size:])
		if ok {
			n.Neg(n)
		}
		return n, ok
	}
	whole, fraction, decimal := word, "", false
	if d := l.pack.Decimal; d != "" {
		whole, fraction, decimal = strings.Cut(word, d)
	}
	if strings.ContainsAny(fraction, ".,") {
		return nil, false
	}
	groups := strings.Split(whole, l.pack.Group)
	if l.pack.Group == "" {
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
func (l *language) otherPoint(word string, i int, groups []string, decimal bool) (*big.Rat, bool) {
	if decimal || len(groups) != 2 || i != 1 || len(groups[1]) > 2 {
		return nil, false
	}
	return new(big.Rat).SetString(groups[0] + "." + groups[1])
}

// markAt is the longest phrase of a kind at a position, and the token after it.
func (l *language) markAt(tokens []token, i int, k kind) (m mark, next int) {
	if i >= len(tokens) {
		return mark{}, 0
	}
	for p := range l.phrasesAt(tokens, i) {
		if p.mark.kind == k && p.tail == nil {
			return p.mark, i + len(p.words)
		}
	}
	return mark{}, 0
}

// markOf is the meaning of one word alone.
func (l *language) markOf(word string, k kind) (mark, bool) {
	for _, p := range l.phrases[word] {
		if len(p.words) == 1 && p.mark.kind == k {
			return p.mark, true
		}
	}
	return mark{}, false
}

// literalAt reads the value at position i: an amount, a quantity, a percentage or a bare number.
func (l *language) literalAt(tokens []token, i int) (literal, bool) {
	if i >= len(tokens) || tokens[i].opaque {
		return literal{}, false
	}
	if m, next := l.markAt(tokens, i, kindCurrency); next > 0 {
		if next >= len(tokens) || tokens[next].breaks != 0 {
			return literal{}, false
		}
		if n, ok := l.parseNumber(tokens[next].word); ok {
			return literal{value: n, unit: m.value, money: true, next: next + 1}, true
		}
		return literal{}, false
	}
	if m := attachedForm.FindStringSubmatch(tokens[i].word); m != nil {
		n, ok := l.parseNumber(m[1])
		if !ok {
			return literal{}, false
		}
		if u, is := l.markOf(l.fold(m[2]), kindUnit); is {
			return literal{value: n, unit: u.value, next: i + 1}, true
		}
		if u, is := l.markOf(l.fold(m[2]), kindCurrency); is {
			return literal{value: n, unit: u.value, money: true, next: i + 1}, true
		}
		return literal{}, false
	}
	n, ok := l.parseNumber(tokens[i].word)
	inWords := false
	if !ok {
		var digits string
		if digits, inWords = l.numbers[tokens[i].plain]; !inWords {
			return literal{}, false
		}
		n, _ = new(big.Rat).SetString(digits)
	}
	if i+1 < len(tokens) && tokens[i+1].breaks == 0 {
		if u, next := l.markAt(tokens, i+1, kindUnit); next > 0 {
			return literal{value: n, unit: u.value, next: next}, true
		}
		if u, next := l.markAt(tokens, i+1, kindCurrency); next > 0 {
			return literal{value: n, unit: u.value, money: true, next: next}, true
		}
	}
	return literal{value: n, next: i + 1}, !inWords
}

// comparison is a comparator with its literal: one piece.
type comparison struct {
	op      string
	field   string // implied by the comparator, "" for none
	literal literal
	upper   literal // of between
	free    bool    // costs nothing: price <= 0 in any currency
}

// comparisonAt reads a comparison at position i, and the token after it.
func (l *language) comparisonAt(tokens []token, i int) (c comparison, next int) {
	for p := range l.phrasesAt(tokens, i) {
		at := i + len(p.words)
		if p.mark.kind != kindComparator || at >= len(tokens) || tokens[at].breaks != 0 {
			continue
		}
		a, ok := l.literalAt(tokens, at)
		if !ok {
			continue
		}
		c = comparison{op: p.mark.value, field: p.mark.field, literal: a}
		if c.op != "between" {
			return c, a.next
		}
		if a.next >= len(tokens) || !l.and[tokens[a.next].plain] {
			continue
		}
		b, ok := l.literalAt(tokens, a.next+1)
		if !ok {
			continue
		}
		if a.unit == "" {
			c.literal.unit, c.literal.money = b.unit, b.money
		}
		c.upper = b
		return c, b.next
	}
	return comparison{}, 0
}

// timeAt reads a time of day in minutes after midnight: 17:30, 9am, 9 o'clock. The twelve-hour clock needs its ending, so a bare number is no time.
func (l *language) timeAt(tokens []token, i int) (minute, next int) {
	word, next := tokens[i].word, i+1
	ending := kind(0)
	if m := attachedForm.FindStringSubmatch(word); m != nil {
		for _, k := range []kind{kindMorning, kindAfternoon, kindHour} {
			if _, ok := l.markOf(l.fold(m[2]), k); ok {
				word, ending = m[1], k
			}
		}
	}
	if ending == 0 && next < len(tokens) && tokens[next].breaks == 0 {
		for _, k := range []kind{kindMorning, kindAfternoon, kindHour} {
			if _, after := l.markAt(tokens, next, k); after > 0 {
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
	case ending == kindMorning || ending == kindAfternoon:
		if hour < 1 || hour > 12 {
			return 0, 0
		}
		hour %= 12
		if ending == kindAfternoon {
			hour += 12
		}
	}
	if ending == kindHour && min == 0 && !exact && l.pack.Decimal == "." {
		return 0, 0 // nine o'clock may be either half of the day
	}
	return hour*60 + min, next
}

// clock reads the digits of a time. exact says that they are a time by themselves: two digits of minutes after a colon.
func (l *language) clock(word string, ending bool) (hour, minute int, exact bool) {
	h, m, colon := strings.Cut(word, ":")
	if !colon {
		for _, s := range l.pack.Clock.Separators {
			if a, b, ok := strings.Cut(word, s); ok && (ending || s != "." && s != ",") && len(b) == 2 {
				h, m, colon = a, b, s != "." && s != ","
				break
			}
		}
	}
	hour, err := strconv.Atoi(h)
	if err != nil || len(h) > 2 || hour > 24 || h == "" {
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

// dateAt reads a date at position i: 2026-12-24, 24.12.2026 where the language writes a decimal comma, 24 December, December 24th 2026. The year is 0 when none
// is stated.
func (l *language) dateAt(tokens []token, i int) (d hours.Date, next int) {
	if i+2 < len(tokens) && len(tokens[i].word) == 4 && tokens[i+1].hyphen && tokens[i+2].hyphen {
		y, m, day := digits(tokens[i].word, 4), digits(tokens[i+1].word, 2), digits(tokens[i+2].word, 2)
		return validDate(y, m, day, true, i+3)
	}
	if parts := strings.Split(tokens[i].word, "."); len(parts) == 3 && l.pack.Decimal == "," {
		return validDate(digits(parts[2], 4), digits(parts[1], 2), digits(parts[0], 2), true, i+1)
	}
	if day := l.dayNumber(tokens[i].plain); day > 0 {
		at := i + 1
		for at < len(tokens) && (l.ordinal(tokens[at].plain) || l.links[tokens[at].plain]) {
			at++
		}
		if at < len(tokens) && (tokens[at].breaks == 0 || tokens[at].breaks == '.') {
			if m, after := l.month(tokens, at); after > 0 {
				return l.withYear(tokens, m, day, after)
			}
		}
	}
	if m, at := l.month(tokens, i); at > 0 && at < len(tokens) && tokens[at].breaks == 0 {
		if day := l.dayNumber(tokens[at].plain); day > 0 {
			after := at + 1
			if after < len(tokens) && tokens[after].breaks == 0 && l.ordinal(tokens[after].plain) {
				after++
			}
			return l.withYear(tokens, m, day, after)
		}
	}
	return hours.Date{}, 0
}

func (l *language) ordinal(word string) bool {
	for _, o := range l.pack.Ordinals {
		if o != "" && o == word {
			return true
		}
	}
	return false
}

// dayNumber reads 24 or 24th; 0 for another word.
func (l *language) dayNumber(word string) int {
	for _, o := range l.pack.Ordinals {
		if rest, ok := strings.CutSuffix(word, o); ok && o != "" {
			word = rest
			break
		}
	}
	if n := digits(word, 2); n >= 1 && n <= 31 {
		return n
	}
	return 0
}

func (l *language) month(tokens []token, i int) (time.Month, int) {
	m, next := l.markAt(tokens, i, kindMonth)
	if next == 0 {
		return 0, 0
	}
	return time.Month(m.value[0]-'a') + 1, next
}

// withYear takes a year of four digits behind a date.
func (l *language) withYear(tokens []token, m time.Month, day, next int) (hours.Date, int) {
	at := next
	for at < len(tokens) && l.links[tokens[at].plain] && tokens[at].breaks == 0 {
		at++
	}
	if at < len(tokens) && len(tokens[at].word) == 4 {
		if y := digits(tokens[at].word, 4); y >= 1000 {
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

// digits reads a decimal number of at most n ASCII digits, -1 for anything else.
func digits(s string, n int) int {
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
