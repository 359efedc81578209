package bundle

import (
	"slices"
	"strings"
	"time"

	"sayso/jcs"
)

// hoursOf is what a place says about its hours, as text for the strict parser: openingHours, or the specifications. Both at once are refused.
func (r *row) hoursOf(at string, n node) string {
	texts := n.all("openingHours")
	specs := slices.Concat(n.all("openingHoursSpecification"), n.all("specialOpeningHoursSpecification"))
	switch {
	case len(texts)+len(specs) > maxProperties:
		r.fail(ruleLimit, at+"openingHours", "write fewer rules", "the place has more than %d statements of its hours", maxProperties)
	case len(texts) > 0 && len(specs) > 0:
		r.fail(ruleHours, at+"openingHours", "keep one of them", "openingHours and openingHoursSpecification stand together")
	case len(texts) > 0:
		return r.hoursText(at+"openingHours", texts)
	case len(specs) > 0:
		return r.hoursSpecs(at+"openingHoursSpecification", specs)
	}
	return ""
}

// hoursText joins texts: several add to each other, so none of them may hold more than one rule.
func (r *row) hoursText(field string, texts []jcs.Raw) string {
	list := make([]string, len(texts))
	for i, raw := range texts {
		list[i] = r.word(field, raw)
		if len(texts) > 1 && strings.ContainsAny(list[i], ";|") {
			r.fail(ruleHours, field, "write one text with all rules, or one rule for each text", "%q holds several rules beside other texts", clip(list[i]))
		}
	}
	return strings.Join(list, ", ")
}

// specDays are the days of schema.org and those of an opening_hours text.
var specDays = map[string]string{
	"Monday": "Mo", "Tuesday": "Tu", "Wednesday": "We", "Thursday": "Th", "Friday": "Fr", "Saturday": "Sa", "Sunday": "Su", "PublicHolidays": "PH",
}

// period is the specifications that hold on the same dates.
type period struct {
	dates        string // "" for always
	open, closed []string
	openDays     map[string]bool // "" for a specification that names no day
	closedDays   map[string]bool
}

// text joins the rules of a period. A closed day comes first, so that the hours of a night before it are not cut off; where opening hours name no day, it
// comes last, since they would open it again.
func (p *period) text() string {
	rules := slices.Clone(p.closed)
	if len(p.open) > 0 {
		at := len(rules)
		if p.openDays[""] {
			at = 0
		}
		rules = slices.Insert(rules, at, strings.Join(p.open, ", "))
	}
	return strings.Join(rules, "; ")
}

// hoursSpecs writes specifications as rules. Those of the same dates add to each other, and dated ones replace what holds always on the days they name.
func (r *row) hoursSpecs(field string, specs []jcs.Raw) string {
	var periods []*period
	for _, raw := range specs {
		n, _ := r.node(raw)
		dates, datesOK := r.specDates(field, n)
		days, daysOK := r.specDays(field, n)
		span, closed, timesOK := r.specTimes(field, n)
		if !datesOK || !daysOK || !timesOK {
			return ""
		}
		i := slices.IndexFunc(periods, func(p *period) bool { return p.dates == dates })
		if i < 0 {
			i = len(periods)
			periods = append(periods, &period{dates: dates, openDays: map[string]bool{}, closedDays: map[string]bool{}})
		}
		periods[i].add(strings.TrimSpace(dates+" "+days), days, span, closed)
	}
	slices.SortStableFunc(periods, func(a, b *period) int { return min(len(a.dates), 1) - min(len(b.dates), 1) })
	var all []string
	for _, p := range periods {
		for d := range p.closedDays {
			if p.openDays[d] {
				r.fail(ruleHours, field, "state each day of the same dates as open or as closed", "a day is open and closed at once")
				return ""
			}
		}
		all = append(all, p.text())
	}
	return strings.Join(all, "; ")
}

func (p *period) add(rule, days, span string, closed bool) {
	named := p.openDays
	if closed {
		named = p.closedDays
		p.closed = append(p.closed, strings.TrimSpace(rule+" off"))
	} else {
		p.open = append(p.open, strings.TrimSpace(rule+" "+span))
	}
	for d := range strings.SplitSeq(days, ",") {
		named[d] = true
	}
}

func (r *row) specDays(field string, n node) (string, bool) {
	var days []string
	for _, raw := range n.all("dayOfWeek") {
		s, _ := text(raw)
		day, ok := specDays[local(s)]
		if !ok {
			r.fail(ruleHours, field, "use Monday to Sunday and PublicHolidays of schema.org", "dayOfWeek %s is not understood", clip(string(raw)))
			return "", false
		}
		days = append(days, day)
	}
	return strings.Join(days, ","), true
}

// specTimes reads opens and closes. No opens, and 00:00 to 00:00, say closed; 23:59 as the end of a day that begins at 00:00 is its end.
func (r *row) specTimes(field string, n node) (span string, closed, ok bool) {
	opens, okOpens := clock(n.get("opens"))
	closes, okCloses := clock(n.get("closes"))
	switch {
	case !okOpens || !okCloses || opens != "" && closes == "" || opens == "" && closes != "" && closes != "00:00":
		r.fail(ruleHours, field, "write both as HH:MM, or neither for a closed day", "opens %s and closes %s are not understood", clip(string(n.get("opens"))), clip(string(n.get("closes"))))
		return "", false, false
	case opens == "", opens == "00:00" && closes == "00:00":
		return "", true, true
	case opens == "00:00" && closes == "23:59":
		closes = "24:00"
	}
	return opens + "-" + closes, false, true
}

// clock reads HH:MM or HH:MM:00; "" when nothing is stated.
func clock(raw jcs.Raw) (string, bool) {
	if raw == nil {
		return "", true
	}
	s, ok := text(raw)
	if !ok {
		return "", false
	}
	if len(s) == len("15:04:05") {
		s = strings.TrimSuffix(s, ":00")
	}
	_, err := time.Parse("15:04", s)
	return s, err == nil && len(s) == len("15:04")
}

// specDates reads validFrom and validThrough: both or neither.
func (r *row) specDates(field string, n node) (string, bool) {
	from, through := n.get("validFrom"), n.get("validThrough")
	if from == nil && through == nil {
		return "", true
	}
	a, okA := day(from)
	b, okB := day(through)
	switch {
	case !okA || !okB:
		r.fail(ruleHours, field, "write both as YYYY-MM-DD, or neither", "validFrom %s and validThrough %s are not understood", clip(string(from)), clip(string(through)))
		return "", false
	case b.Before(a):
		r.fail(ruleHours, field, "write the first day as validFrom", "validThrough is before validFrom")
		return "", false
	case a.Equal(b):
		return a.Format("2006 Jan 02"), true
	}
	return a.Format("2006 Jan 02") + "-" + b.Format("2006 Jan 02"), true
}

func day(raw jcs.Raw) (time.Time, bool) {
	s, ok := text(raw)
	if !ok {
		return time.Time{}, false
	}
	t, err := time.Parse(time.DateOnly, s)
	return t, err == nil
}
