package hours

import (
	"math/bits"
	"slices"
	"strings"
	"time"

	"sayso/business/hours"
)

// readings are the points at which npm opening_hours reads the notation differently, one bit each. Ours is none of them.
var readings = []string{
	"off keeps the day",            // "Mo 08:00-18:00; Mo 12:00-13:00 off" is open at 14:00 there; here the later rule replaces the day
	"spill of a replaced day",      // "Mo-Su 20:00-02:00; Su 10:00-12:00" is open on Monday at 01:00 there; here Sunday's evening was replaced
	"no days, no replacement",      // "Mo 08:00-10:00; 14:00-16:00" is open on Monday at 09:00 there; here the later rule is about every day
	"closed is no match",           // "Mo off || open" is open there; here "off" is an answer
	"a comma continues a fallback", // in "A || B, C" C too is for what nothing else matched there; here it adds
	"a fallback spills as a rule",  // past midnight a fallback decides over earlier rules there; here it stays one
}

const (
	offKeeps = 1 << iota
	spillKeeps
	datelessKeeps
	closedNoMatch
	fallbackGoesOn
	fallbackSpills
	allReadings = 1<<iota - 1
)

// model evaluates rules under a set of readings, with known holidays. Under none it has to agree with the package.
type model struct {
	rules   []hours.Rule
	holiday func(hours.Holiday, time.Time) bool
}

func (m *model) state(local time.Time, set int) hours.State {
	day := local.Truncate(24 * time.Hour)
	before := day.AddDate(0, 0, -1)
	minute := int(local.Sub(day) / time.Minute)
	cut, cutBefore := m.cut(day, set), m.cut(before, set)
	if set&spillKeeps != 0 {
		cutBefore = 0
	}
	state, matched := hours.Closed, false
	fallback := false
	for i := range m.rules {
		r := &m.rules[i]
		if fallback = r.Sep == hours.Fallback || fallback && set&fallbackGoesOn != 0 && r.Sep == hours.Add; i < cut {
			continue
		}
		own := covers(r, minute) && m.matches(r, day)
		spilt := i >= cutBefore && covers(r, minute+1440) && m.matches(r, before)
		decides := own || spilt
		if fallback && matched {
			decides = spilt && set&fallbackSpills != 0
		}
		if decides {
			state = r.State()
			matched = state != hours.Closed || set&closedNoMatch == 0
		}
	}
	return state
}

// cut is the first rule that is not replaced on the day.
func (m *model) cut(day time.Time, set int) (cut int) {
	for i := range m.rules {
		r := &m.rules[i]
		if i == 0 || r.Sep != hours.Replace || !m.matches(r, day) || set&offKeeps != 0 && r.State() == hours.Closed {
			continue
		}
		if set&datelessKeeps != 0 && dateless(r) && (r.State() != hours.Open || !dateless(&m.rules[i-1])) {
			continue
		}
		cut = i
	}
	return cut
}

func dateless(r *hours.Rule) bool { return len(r.Dates) == 0 && len(r.Days) == 0 }

func covers(r *hours.Rule, minute int) bool {
	return len(r.Spans) == 0 && minute < 1440 ||
		slices.ContainsFunc(r.Spans, func(s hours.Span) bool { return s.Start <= minute && minute < s.Until() })
}

func (m *model) matches(r *hours.Rule, day time.Time) bool {
	return (len(r.Dates) == 0 || slices.ContainsFunc(r.Dates, func(d hours.DateRange) bool { return within(d, day) })) &&
		(len(r.Days) == 0 || slices.ContainsFunc(r.Days, func(d hours.DayRange) bool {
			if d.Holiday != "" {
				return m.holiday(d.Holiday, day)
			}
			return (day.Weekday()-d.From+7)%7 <= (d.To-d.From+7)%7 && (len(d.Nth) == 0 || slices.ContainsFunc(d.Nth, func(n int) bool { return nth(day, n) }))
		}))
}

// nth reports that the day is the n-th of its weekday in its month.
func nth(day time.Time, n int) bool {
	if n < 0 {
		return day.AddDate(0, 0, -7*n).Month() != day.Month() && day.AddDate(0, 0, -7*(n+1)).Month() == day.Month()
	}
	return day.AddDate(0, 0, -7*n).Month() != day.Month() && day.AddDate(0, 0, -7*(n-1)).Month() == day.Month()
}

// within tries the range in each year it could have begun in.
func within(r hours.DateRange, day time.Time) bool {
	last := r.To
	if last.Month == 0 {
		last = r.From
	}
	for year := day.Year() - 1; year <= day.Year(); year++ {
		if r.From.Year != 0 {
			year = r.From.Year
		}
		begin := time.Date(year, r.From.Month, max(r.From.Day, 1), 0, 0, 0, 0, time.UTC)
		end := ending(year, last)
		if last.Year != 0 {
			end = ending(last.Year, last)
		} else if end.Before(begin) {
			end = ending(year+1, last)
		}
		if !day.Before(begin) && !day.After(end) {
			return true
		}
		if r.From.Year != 0 {
			return false
		}
	}
	return false
}

func ending(year int, d hours.Date) time.Time {
	if d.Day == 0 {
		return time.Date(year, d.Month+1, 0, 0, 0, 0, 0, time.UTC)
	}
	return time.Date(year, d.Month, d.Day, 0, 0, 0, 0, time.UTC)
}

// explain names the fewest readings under which the model says what the oracle says. All of them together do.
func (m *model) explain(local time.Time, theirs hours.State) string {
	best := allReadings
	for set := range allReadings {
		if bits.OnesCount(uint(set)) < bits.OnesCount(uint(best)) && m.state(local, set) == theirs {
			best = set
		}
	}
	var names []string
	for i, name := range readings {
		if best>>i&1 == 1 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " + ")
}
