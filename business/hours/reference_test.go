package hours_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sayso/business/hours"
)

// someRules draws rules the notation can say; rarely a comma joins what it would read as one list, which New refuses.
func someRules(t *rapid.T) []hours.Rule {
	n := rapid.IntRange(1, 4).Draw(t, "rules")
	rules := make([]hours.Rule, n)
	for i := range rules {
		rules[i] = someRule(t)
		rules[i].Sep = hours.Replace
		if i > 0 {
			rules[i].Sep = rapid.SampledFrom([]hours.Separator{hours.Replace, hours.Replace, hours.Add, hours.Add, hours.Fallback}).Draw(t, "sep")
		}
	}
	return rules
}

func someRule(t *rapid.T) (r hours.Rule) {
	if rapid.IntRange(0, 19).Draw(t, "always") == 0 {
		return hours.Rule{Always: true}
	}
	for range rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "dates") {
		r.Dates = append(r.Dates, someDates(t))
	}
	for range rapid.SampledFrom([]int{0, 1, 1, 2, 3}).Draw(t, "days") {
		r.Days = append(r.Days, someDays(t))
	}
	for range rapid.SampledFrom([]int{0, 1, 1, 1, 2}).Draw(t, "spans") {
		start, end := 30*rapid.IntRange(0, 47).Draw(t, "start"), 30*rapid.IntRange(0, 52).Draw(t, "end")
		if start == end {
			end += 7
		}
		r.Spans = append(r.Spans, hours.Span{Start: start, End: end})
	}
	r.Modifier = rapid.SampledFrom([]hours.Modifier{"", "", "", "", hours.ModOpen, hours.ModOff, hours.ModClosed, hours.ModUnknown}).Draw(t, "modifier")
	r.Comment = rapid.SampledFrom([]string{"", "", "", "", "by phone", "für alle; || ,"}).Draw(t, "comment")
	if len(r.Spans) == 0 && r.Modifier == "" && (r.Comment == "" || len(r.Dates) > 0 && len(r.Days) == 0) {
		r.Modifier = hours.ModOff
	}
	return r
}

func someDates(t *rapid.T) (r hours.DateRange) {
	day := rapid.SampledFrom([]int{0, 1, 28}).Draw(t, "day")
	month := func(label string) time.Month { return time.Month(rapid.IntRange(1, 12).Draw(t, label)) }
	r.From = hours.Date{Month: month("from"), Day: day, Year: rapid.SampledFrom([]int{0, 0, 2026}).Draw(t, "year")}
	if rapid.Bool().Draw(t, "range") {
		r.To = hours.Date{Month: month("to"), Day: day}
		if r.From.Year != 0 {
			r.To.Year = rapid.SampledFrom([]int{0, 2027}).Draw(t, "last year")
		}
		if r.To.Month == r.From.Month {
			r.To.Month = r.To.Month%12 + 1
		}
	}
	return r
}

func someDays(t *rapid.T) hours.DayRange {
	from := time.Weekday(rapid.IntRange(0, 6).Draw(t, "weekday"))
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		return hours.DayRange{Holiday: hours.PublicHoliday}
	case 1:
		return hours.DayRange{Holiday: hours.SchoolHoliday}
	case 2:
		return hours.DayRange{From: from, To: from, Nth: rapid.SliceOfN(rapid.SampledFrom([]int{1, 2, 3, 4, 5, -1, -2, -5}), 1, 2).Draw(t, "nth")}
	case 3, 4:
		return hours.DayRange{From: from, To: from}
	}
	return hours.DayRange{From: from, To: (from + time.Weekday(rapid.IntRange(1, 6).Draw(t, "more"))) % 7}
}

// layer is one rule that covers a minute, from a span that began on a day.
type layer struct {
	rule  int
	begun int
}

// reference paints rules over the minutes of consecutive days, rule by rule, and removes what is replaced. Holidays are answered by a function.
type reference struct {
	rules   []hours.Rule
	days    []time.Time
	holiday func(hours.Holiday, time.Time) bool
	minutes [][]layer
}

func (f *reference) paint() {
	f.minutes = make([][]layer, (len(f.days)+2)*1440)
	for i, r := range f.rules {
		for d := range f.days {
			if !f.matches(r, f.days[d]) {
				continue
			}
			if i > 0 && r.Sep == hours.Replace {
				for m := range f.minutes {
					f.minutes[m] = slices.DeleteFunc(f.minutes[m], func(l layer) bool { return l.rule < i && (l.begun == d || m/1440 == d) })
				}
			}
			spans := r.Spans
			if len(spans) == 0 {
				spans = []hours.Span{{Start: 0, End: 1440}}
			}
			for _, s := range spans {
				if s.End < s.Start {
					s.End += 1440 // the day after
				}
				for m := s.Start; m < s.End; m++ {
					f.minutes[d*1440+m] = append(f.minutes[d*1440+m], layer{i, d})
				}
			}
		}
	}
}

func (f *reference) state(minute int) hours.State {
	state := hours.Closed
	decided := false
	for _, l := range f.minutes[minute] {
		r := f.rules[l.rule]
		if r.Sep == hours.Fallback && decided && l.rule > 0 {
			continue
		}
		decided = true
		switch {
		case r.Modifier == hours.ModOff || r.Modifier == hours.ModClosed:
			state = hours.Closed
		case r.Modifier == hours.ModUnknown || r.Modifier == "" && r.Comment != "":
			state = hours.Unknown
		default:
			state = hours.Open
		}
	}
	return state
}

func (f *reference) matches(r hours.Rule, day time.Time) bool {
	return (len(r.Dates) == 0 || slices.ContainsFunc(r.Dates, func(d hours.DateRange) bool { return onDates(d, day) })) &&
		(len(r.Days) == 0 || slices.ContainsFunc(r.Days, func(d hours.DayRange) bool {
			if d.Holiday != "" {
				return f.holiday(d.Holiday, day)
			}
			return onDays(d, day)
		}))
}

// onDates walks from each possible beginning, day by day, to the end.
func onDates(r hours.DateRange, day time.Time) bool {
	isDate := func(d hours.Date, t time.Time) bool {
		return (d.Year == 0 || d.Year == t.Year()) && d.Month == t.Month() && (d.Day == 0 || d.Day == t.Day())
	}
	if r.To == (hours.Date{}) {
		return isDate(r.From, day)
	}
	// Backwards from the day: whichever end of the range is met first decides.
	for t := day; t.After(day.AddDate(-3, 0, 0)); t = t.AddDate(0, 0, -1) {
		if isDate(r.From, t) {
			// The range began; with a year it began once and ends at the first end after it.
			for u := t; !u.After(day); u = u.AddDate(0, 0, 1) {
				if isDate(r.To, u.AddDate(0, 0, -1)) && !isDate(r.To, u) && u.After(t) {
					return false
				}
			}
			return true
		}
	}
	return false
}

func onDays(r hours.DayRange, day time.Time) bool {
	for w := r.From; ; w = (w + 1) % 7 {
		if w == day.Weekday() {
			break
		}
		if w == r.To {
			return false
		}
	}
	return len(r.Nth) == 0 || slices.ContainsFunc(r.Nth, func(n int) bool {
		t := day
		for range max(n, -n) - 1 { // n-1 such weekdays lie between the day and the end of the month, and no more
			if t = t.AddDate(0, 0, map[bool]int{true: -7, false: 7}[n > 0]); t.Month() != day.Month() {
				return false
			}
		}
		return t.AddDate(0, 0, map[bool]int{true: -7, false: 7}[n > 0]).Month() != day.Month()
	})
}

// TestAgainstReference compares every minute of a week with the painted one, with a calendar that knows and with none. Without one, a minute is unknown
// exactly when holidays on even and odd days, in all sixteen combinations, give more than one state.
func TestAgainstReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := someRules(t)
		h, _, err := hours.New(rules)
		if err != nil {
			t.Skip("the notation cannot say it")
		}
		first := time.Date(2026, time.Month(rapid.IntRange(1, 24).Draw(t, "month")), rapid.IntRange(1, 31).Draw(t, "day"), 0, 0, 0, 0, time.UTC)
		days := make([]time.Time, 9) // a week, the day before it and the day after
		for i := range days {
			days[i] = first.AddDate(0, 0, i)
		}
		kinds := []hours.Holiday{hours.PublicHoliday, hours.SchoolHoliday}
		var cal *hours.Calendar
		var worlds []*reference
		if rapid.Bool().Draw(t, "calendar") {
			bits := rapid.SliceOfN(rapid.Bool(), 18, 18).Draw(t, "holidays")
			is := func(kind hours.Holiday, day time.Time) bool {
				return bits[2*int(day.Sub(first).Hours()/24)+slices.Index(kinds, kind)]
			}
			cal = fullCalendar(t, days, is)
			worlds = []*reference{{rules: rules, days: days, holiday: is}}
		} else {
			for w := range 16 {
				is := func(kind hours.Holiday, day time.Time) bool {
					return w>>(2*(int(day.Sub(first).Hours()/24)%2)+slices.Index(kinds, kind))&1 == 1
				}
				worlds = append(worlds, &reference{rules: rules, days: days, holiday: is})
			}
		}
		for _, w := range worlds {
			w.paint()
		}
		for m := 1440; m < 8*1440; m++ {
			want := worlds[0].state(m)
			for _, w := range worlds[1:] {
				if w.state(m) != want {
					want = hours.Unknown
				}
			}
			if got := h.At(first.Add(time.Duration(m)*time.Minute), time.UTC, cal); got.State != want {
				t.Fatalf("%s at %s: %+v, want %s", h, first.Add(time.Duration(m)*time.Minute), got, want)
			}
		}
	})
}

// fullCalendar knows both kinds in the years of the days, by a holiday in each that is not one of the days.
func fullCalendar(t *rapid.T, days []time.Time, is func(hours.Holiday, time.Time) bool) *hours.Calendar {
	text := `{`
	for i, kind := range []hours.Holiday{hours.PublicHoliday, hours.SchoolHoliday} {
		text += []string{`"public_holidays":[`, `],"school_holidays":[`}[i]
		for year := days[0].Year(); year <= days[8].Year(); year++ {
			other := time.Date(year, 1, 20, 0, 0, 0, 0, time.UTC)
			if !other.Before(days[0]) && !other.After(days[8]) {
				other = other.AddDate(0, 6, 0)
			}
			text += `"` + other.Format(time.DateOnly) + `",`
		}
		for _, d := range days {
			if is(kind, d) {
				text += `"` + d.Format(time.DateOnly) + `",`
			}
		}
		text = text[:len(text)-1]
	}
	cal, err := hours.ParseCalendar([]byte(text + "]}"))
	if err != nil {
		t.Fatal(err)
	}
	return cal
}

// TestRulesAreTheValue: printing, reading and rebuilding are inverse to each other.
func TestRulesAreTheValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, _, err := hours.New(someRules(t))
		if err != nil {
			t.Skip("the notation cannot say it")
		}
		again, warnings, err := hours.Parse(h.String())
		if err != nil || again.String() != h.String() {
			t.Fatalf("%s: %v, %v", h, again, err)
		}
		for _, w := range warnings {
			if w.Code[:4] != "lint" {
				t.Fatalf("%s: %v", h, w)
			}
		}
		rebuilt, _, err := hours.New(again.Rules())
		if err != nil || rebuilt.String() != h.String() {
			t.Fatalf("%s: %v, %v", h, rebuilt, err)
		}
	})
}
