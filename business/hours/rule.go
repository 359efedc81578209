package hours

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Separator says how a rule relates to the rules before it.
type Separator string

// The separators, as they are printed.
const (
	Replace  Separator = "; "
	Add      Separator = ", "
	Fallback Separator = " || "
)

// Modifier is the state a rule states in words.
type Modifier string

// The modifiers; the empty one means that none is stated. ModOff and ModClosed mean the same and are kept apart as written.
const (
	ModOpen    Modifier = "open"
	ModOff     Modifier = "off"
	ModClosed  Modifier = "closed"
	ModUnknown Modifier = "unknown"
)

// Holiday is a kind of holiday as a day selector.
type Holiday string

// The kinds of holidays.
const (
	PublicHoliday Holiday = "PH"
	SchoolHoliday Holiday = "SH"
)

// Rule is one rule of a value. Always is "24/7" and stands alone. Empty lists mean that the rule states none: no dates is all year, no days is every day,
// no spans is the whole day.
type Rule struct {
	Sep      Separator
	Always   bool
	Dates    []DateRange
	Days     []DayRange
	Spans    []Span
	Modifier Modifier
	Comment  string // without quotation marks
}

// Date is a day, or a month when Day is 0; of every year when Year is 0. Years have four digits.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// DateRange is From to To, both included and either both days or both months; To is zero for a single day or month. Without years it may wrap.
type DateRange struct{ From, To Date }

// DayRange is the weekdays From to To, both included, equal for a single day; it may wrap. Nth narrows a single weekday to those of a month, 1 to 5 from
// the front and -1 to -5 from the end. When Holiday is set the other members are zero.
type DayRange struct {
	From, To time.Weekday
	Nth      []int
	Holiday  Holiday
}

// Span is minutes after midnight as written: Start 0 to 1439, End up to 1560 (26:00).
type Span struct{ Start, End int }

// Until is the minute the span ends, counted from midnight of the day it starts on: more than Start, and more than 1440 when it passes midnight.
func (s Span) Until() int {
	if s.End < s.Start {
		return s.End + dayMinutes
	}
	return s.End
}

const dayMinutes = 24 * 60

// State is what the rule says about the minutes it covers.
func (r *Rule) State() State {
	switch {
	case r.Modifier == ModOff || r.Modifier == ModClosed:
		return Closed
	case r.Modifier == ModUnknown || r.Modifier == "" && r.Comment != "":
		return Unknown
	}
	return Open
}

func (r *Rule) names(kind Holiday) bool {
	return slices.ContainsFunc(r.Days, func(d DayRange) bool { return d.Holiday == kind })
}

func (r *Rule) holidays() bool { return r.names(PublicHoliday) || r.names(SchoolHoliday) }

func (r *Rule) clone() Rule {
	c := *r
	c.Dates, c.Days, c.Spans = slices.Clone(r.Dates), slices.Clone(r.Days), slices.Clone(r.Spans)
	for i := range c.Days {
		c.Days[i].Nth = slices.Clone(c.Days[i].Nth)
	}
	return c
}

// equal compares rules; an empty list is the same as none.
func equal(a, b []Rule) bool {
	return slices.EqualFunc(a, b, func(a, b Rule) bool {
		return a.Sep == b.Sep && a.Always == b.Always && a.Modifier == b.Modifier && a.Comment == b.Comment &&
			slices.Equal(a.Dates, b.Dates) && slices.Equal(a.Spans, b.Spans) &&
			slices.EqualFunc(a.Days, b.Days, func(a, b DayRange) bool {
				return a.From == b.From && a.To == b.To && a.Holiday == b.Holiday && slices.Equal(a.Nth, b.Nth)
			})
	})
}

// String prints the canonical text of the rule without its separator.
func (r Rule) String() string {
	var parts []string
	if r.Always {
		parts = append(parts, "24/7")
	}
	if len(r.Dates) > 0 {
		parts = append(parts, join(r.Dates))
	}
	if len(r.Days) > 0 {
		parts = append(parts, join(r.Days))
	}
	if len(r.Spans) > 0 {
		parts = append(parts, join(r.Spans))
	}
	if r.Modifier != "" {
		parts = append(parts, string(r.Modifier))
	}
	if r.Comment != "" {
		parts = append(parts, `"`+r.Comment+`"`)
	}
	return strings.Join(parts, " ")
}

func join[T fmt.Stringer](list []T) string {
	texts := make([]string, len(list))
	for i, x := range list {
		texts[i] = x.String()
	}
	return strings.Join(texts, ",")
}

var (
	monthNames   = []string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}
	weekdayNames = []string{"Su", "Mo", "Tu", "We", "Th", "Fr", "Sa"}
)

// name is a name of the list; what has none is printed so that it cannot be read back.
func name(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return "?"
	}
	return names[i]
}

func (d Date) String() string {
	text := name(monthNames, int(d.Month)-1)
	if d.Year != 0 {
		text = fmt.Sprintf("%04d %s", d.Year, text)
	}
	if d.Day != 0 {
		text += fmt.Sprintf(" %02d", d.Day)
	}
	return text
}

func (r DateRange) String() string {
	if r.To == (Date{}) {
		return r.From.String()
	}
	return r.From.String() + "-" + r.To.String()
}

func (r DayRange) String() string {
	if r.Holiday != "" {
		return string(r.Holiday)
	}
	text := name(weekdayNames, int(r.From))
	if r.To != r.From {
		text += "-" + name(weekdayNames, int(r.To))
	}
	if len(r.Nth) > 0 {
		text += strings.ReplaceAll(fmt.Sprint(r.Nth), " ", ",")
	}
	return text
}

func (s Span) String() string { return clock(s.Start) + "-" + clock(s.End) }

func clock(minutes int) string { return fmt.Sprintf("%02d:%02d", minutes/60, minutes%60) }
