package hours

import "fmt"

// lint finds what reads as one thing and means another. Nothing here changes the value.
func lint(rules []Rule) []Warning {
	var out []Warning
	note := func(code, format string, args ...any) {
		out = append(out, Warning{Code: code, Message: fmt.Sprintf(format, args...)})
	}
	for i, r := range rules {
		for _, s := range r.Spans {
			if s.End > dayMinutes {
				note("lint_past_midnight", "%s: ends after 24:00; %s-%s says the same", s, clock(s.Start), clock(s.End-dayMinutes))
			}
		}
		for k := 1; k < len(r.Dates); k++ {
			if r.Dates[k].From.Year == 0 && r.Dates[k-1].From.Year != 0 {
				note("lint_year_missing", "%s has no year and is meant every year; the date before it is meant in one year only", r.Dates[k])
			}
		}
		if len(r.Spans) > 0 && r.Modifier == "" && r.Comment != "" {
			note("lint_comment_unknown", "%q is unknown because of its comment: write open before a comment that is a remark only", clip(r.String()))
		}
		if i == 0 {
			continue
		}
		if r.Sep == Replace && r.State() == Closed && len(r.Spans) > 0 {
			note("lint_off_replaces_day", `%q closes the whole of each day it matches, not those hours only: write ", " before it to take away hours`, clip(r.String()))
		}
		if earlier := rules[i-1]; r.Sep == Add && len(earlier.Dates) > 0 && len(r.Dates) == 0 && r.State() != Closed {
			note("lint_season_missing", "%q has no dates of its own and holds all year, although it follows %q", clip(r.String()), clip(earlier.String()))
		}
		for _, earlier := range rules[:i] {
			if onHoliday(earlier, r) {
				note("lint_holiday_overlap", "on a holiday both %q and %q match, and the later one decides", clip(earlier.String()), clip(r.String()))
				break // one clash is enough to look at the rule again, and keeps the list as short as the value
			}
		}
	}
	return out
}

// onHoliday reports two rules of which only one is about holidays and the other decides on holidays too, by what it says of the weekday. That is as meant
// when the later one is about holidays and replaces the day or takes hours away.
func onHoliday(earlier, later Rule) bool {
	if later.Sep == Fallback || earlier.holidays() == later.holidays() {
		return false
	}
	holiday, weekday := earlier, later
	if later.holidays() {
		if later.Sep == Replace || later.State() == Closed {
			return false
		}
		holiday, weekday = later, earlier
	}
	return weekday.weekdays()&^holiday.weekdays() != 0
}

// weekdays is the set of weekdays the rule matches by name, bit time.Weekday; every day when it names none.
func (r *Rule) weekdays() (set uint8) {
	if len(r.Days) == 0 {
		return 1<<7 - 1
	}
	for _, d := range r.Days {
		for n := 0; d.Holiday == "" && n <= int(d.To-d.From+7)%7; n++ {
			set |= 1 << ((int(d.From) + n) % 7)
		}
	}
	return set
}
