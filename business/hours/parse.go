package hours

import (
	"fmt"
	"slices"
	"time"
)

// parser reads tokens by the grammar of the package comment, one token ahead of what it has accepted.
type parser struct {
	tokens []token
	pos    int
}

func (p *parser) peek() *token { return &p.tokens[p.pos] }

// ahead is the token k places further on, or the end.
func (p *parser) ahead(k int) *token { return &p.tokens[min(p.pos+k, len(p.tokens)-1)] }

func (p *parser) next() *token {
	t := p.peek()
	if t.kind != kindEnd {
		p.pos++
	}
	return t
}

// symbol accepts the sign if it comes next.
func (p *parser) symbol(sign string) bool {
	if t := p.peek(); t.kind == kindSymbol && t.text == sign {
		p.pos++
		return true
	}
	return false
}

func (t *token) unexpected(format string, args ...any) *Error {
	if t.kind == kindEnd {
		return &Error{Offset: t.offset, Message: fmt.Sprintf("the value ends at byte %d: ", t.offset) + fmt.Sprintf(format, args...)}
	}
	return refuse(t.offset, t.raw, format, args...)
}

func (p *parser) hours() ([]Rule, *Error) {
	var rules []Rule
	for sep := Replace; ; {
		r, err := p.rule()
		if err != nil {
			return nil, err
		}
		r.Sep = sep
		rules = append(rules, r)
		switch t := p.peek(); {
		case t.kind == kindEnd:
			return rules, nil
		case p.symbol(";"):
			sep = Replace
		case p.symbol(","):
			sep = Add
		case p.symbol("||"):
			sep = Fallback
		default:
			return nil, t.unexpected(`nothing of this kind can stand here: if it begins another rule, write "; " or ", " before it`)
		}
	}
}

// rule reads one rule up to what cannot belong to it.
func (p *parser) rule() (r Rule, err *Error) {
	if p.peek().kind == kindAlways {
		p.next()
		return Rule{Always: true}, nil
	}
	start := p.pos
	if r.Dates, err = list(p, p.dateAhead, p.dateRange); err != nil {
		return r, err
	}
	p.colon(r.Dates)
	if err := p.space(start); err != nil {
		return r, err
	}
	if r.Days, err = list(p, p.dayAhead, p.dayRange); err != nil {
		return r, err
	}
	if err := p.space(start); err != nil {
		return r, err
	}
	if r.Spans, err = list(p, p.timeAhead, p.span); err != nil {
		return r, err
	}
	if t := p.peek(); t.kind == kindWord {
		if r.Modifier = Modifier(t.text); !slices.Contains([]Modifier{ModOpen, ModOff, ModClosed, ModUnknown}, r.Modifier) {
			return r, t.unexpected("not a day (Mo, Tu, We, Th, Fr, Sa, Su, PH, SH), a month (Jan to Dec), open, off, closed or unknown; other text goes into quotation marks")
		}
		if err := p.space(start); err != nil {
			return r, err
		}
		p.next()
	}
	if t := p.peek(); t.kind == kindComment {
		if err := p.space(start); err != nil {
			return r, err
		}
		r.Comment = p.next().text
	}
	switch {
	case len(r.Spans) > 0 || r.Modifier != "":
	case r.Comment == "":
		return r, p.peek().unexpected("times, open, off, closed, unknown or a comment must stand here")
	case len(r.Dates) > 0 && len(r.Days) == 0:
		return r, p.tokens[p.pos-1].unexpected("a comment for dates alone is not read: name the days or write unknown before it")
	}
	return r, nil
}

// colon takes away a colon after a month or a range of months.
func (p *parser) colon(dates []DateRange) {
	if len(dates) > 0 && dates[len(dates)-1].From.Day == 0 && p.symbol(":") {
		p.tokens[p.pos-1].colon = true
	}
}

// space wants a space before the next token, unless the rule begins with it or a colon has just been taken away.
func (p *parser) space(start int) *Error {
	t := p.peek()
	if p.pos == start || t.gap || t.kind == kindEnd || t.kind == kindSymbol || p.tokens[p.pos-1].colon {
		return nil
	}
	return t.unexpected("a space must stand before it")
}

// list reads items separated by commas as long as ahead(k) says that another one begins k tokens further on.
func list[T any](p *parser, ahead func(k int) bool, item func() (T, *Error)) ([]T, *Error) {
	if !ahead(0) {
		return nil, nil
	}
	for out := []T(nil); ; {
		x, err := item()
		if err != nil {
			return nil, err
		}
		out = append(out, x)
		if t := p.peek(); t.kind != kindSymbol || t.text != "," || !ahead(1) {
			return out, nil
		}
		p.next()
	}
}

func (p *parser) dateAhead(k int) bool {
	return p.ahead(k).kind == kindMonth || p.ahead(k).kind == kindNumber && p.ahead(k+1).kind == kindMonth
}

func (p *parser) dayAhead(k int) bool {
	return p.ahead(k).kind == kindWeekday || p.ahead(k).kind == kindHoliday
}

func (p *parser) timeAhead(k int) bool { return p.ahead(k).kind == kindTime }

func (p *parser) dateRange() (r DateRange, err *Error) {
	first := p.peek()
	if r.From, err = p.date(); err != nil || !p.symbol("-") {
		return r, err
	}
	second := p.peek()
	if !p.dateAhead(0) {
		return r, second.unexpected("a month must stand here: write both ends of a range in full, such as Jan 02-Mar 30")
	}
	if r.To, err = p.date(); err != nil {
		return r, err
	}
	switch {
	case (r.From.Day == 0) != (r.To.Day == 0):
		return r, second.unexpected("a range goes from a day to a day or from a month to a month")
	case r.From.Year == 0 && r.To.Year != 0:
		return r, first.unexpected("the range has a year at its end only: write it at the start too")
	case r.From == r.To:
		return r, second.unexpected("the range begins and ends with the same %s: write it once", map[bool]string{true: "month", false: "day"}[r.To.Day == 0])
	case r.To.Year != 0 && r.To.key() < r.From.key():
		return r, second.unexpected("the range ends before it begins")
	}
	return r, nil
}

// date reads [year] month [day].
func (p *parser) date() (d Date, err *Error) {
	if t := p.peek(); t.kind == kindNumber {
		if len(t.text) != 4 || t.text[0] == '0' {
			return d, t.unexpected("not a year: write four digits")
		}
		d.Year = number(t.text)
		if p.next(); !p.peek().gap {
			return d, p.peek().unexpected("a space must stand before it")
		}
	}
	d.Month = time.Month(p.next().n)
	t := p.peek()
	if t.kind != kindNumber || p.dateAhead(0) {
		return d, nil
	}
	year := d.Year
	if year == 0 {
		year = 2000 // a leap year: Feb 29 is a day of some years
	}
	if d.Day = number(t.text[:min(2, len(t.text))]); len(t.text) != 2 || d.Day < 1 || d.Day > monthDays(year, d.Month) {
		return d, t.unexpected("not a day of %s: write two digits, 01 to %d", d.Month, monthDays(year, d.Month))
	}
	if !t.gap {
		return d, t.unexpected("a space must stand before it")
	}
	p.next()
	return d, nil
}

func (p *parser) dayRange() (r DayRange, err *Error) {
	first := p.next()
	if first.kind == kindHoliday {
		return DayRange{Holiday: Holiday(first.text)}, nil
	}
	r.From, r.To = time.Weekday(first.n), time.Weekday(first.n)
	switch {
	case p.symbol("-"):
		t := p.next()
		if t.kind != kindWeekday {
			return r, t.unexpected("a weekday must stand here: Mo, Tu, We, Th, Fr, Sa or Su")
		}
		if t.n == first.n {
			return r, t.unexpected("the range begins and ends with the same day: write it once, or Mo-Su for every day")
		}
		r.To = time.Weekday(t.n)
	case p.symbol("["):
		r.Nth, err = p.nth()
	}
	return r, err
}

// nth reads the numbers up to the closing bracket.
func (p *parser) nth() ([]int, *Error) {
	for out := []int(nil); ; {
		sign := 1
		if p.symbol("-") {
			sign = -1
		}
		t := p.next()
		if t.kind != kindNumber || len(t.text) != 1 || t.text < "1" || t.text > "5" {
			return nil, t.unexpected("a number of the weekday in its month must stand here: 1 to 5, or -1 to -5 from the end")
		}
		out = append(out, sign*number(t.text))
		if p.symbol("]") {
			return out, nil
		}
		if !p.symbol(",") {
			return nil, p.peek().unexpected(`"," or "]" must stand here`)
		}
	}
}

// The latest minutes a span may start and end at.
const (
	lastStart = dayMinutes - 1
	lastEnd   = 26 * 60
)

func (p *parser) span() (s Span, err *Error) {
	from := p.next()
	if from.n > lastStart {
		return s, from.unexpected("a span starts at 23:59 at the latest")
	}
	if !p.symbol("-") {
		return s, p.peek().unexpected(`"-" and the end of the span must stand here`)
	}
	to := p.next()
	switch {
	case to.kind != kindTime:
		return s, to.unexpected("a time must stand here: write HH:MM")
	case to.n > lastEnd:
		return s, to.unexpected("a span ends at 26:00 at the latest")
	case to.n == from.n:
		return s, to.unexpected("the span ends when it starts, which may mean nothing or a whole day: write 00:00-24:00, or off")
	}
	return Span{Start: from.n, End: to.n}, nil
}
