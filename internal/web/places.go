package web

import (
	"strconv"
	"strings"
	"time"

	"sayso/business"
	"sayso/business/bizhttp"
	"sayso/business/hours"
)

// places are the locations that a profile page shows.
type places struct {
	Total, First, Last int // First and Last count from 1
	Folded             bool
	Shown              []place
	Previous, Next     string // pages of locations, "" where there is none
	Cut                bool   // more are stated than can be reached from this page
}

// place is one location. Phone, email and hours are its own: what it leaves out is not stated, and never taken from the
// primary location (XP-IDENTITY-007).
type place struct {
	ID, Name     string
	Primary      bool
	Address      []string
	Phone, Email string
	Hours        []hoursRow
	HoursText    string // the notation as stated
	Zone         string
	Position     string
}

// newPlaces takes the page of locations that was asked for; a surface without such pages shows the first ones.
func newPlaces(p *bizhttp.Page) places {
	all := p.Info.Locations
	out := places{Total: len(all)}
	last := max(1, (len(all)+maxPlaces-1)/maxPlaces)
	page := min(max(1, p.PlacesPage), last)
	from := (page - 1) * maxPlaces
	to := min(len(all), from+maxPlaces)
	if p.PlacesPage > 0 {
		link := func(n int) string { return p.Publication.Base() + "?places=" + strconv.Itoa(n) + "#places" }
		if page > 1 {
			out.Previous = link(page - 1)
		}
		if page < last {
			out.Next = link(page + 1)
		}
	}
	out.Cut = p.PlacesPage == 0 && to < len(all)
	out.First, out.Last, out.Folded = from+1, to, len(all) > maxOpenPlaces
	for i := range all[from:to] {
		out.Shown = append(out.Shown, newPlace(&all[from+i]))
	}
	return out
}

func newPlace(l *business.Location) place {
	p := place{ID: l.ID, Name: nameOf(l), Primary: l.Primary, Phone: l.Phone, Email: l.Email, HoursText: l.OpeningHours, Zone: l.TimeZone}
	lines := []string{l.Address, countryOf(l)}
	if l.Address == "" {
		lines = []string{l.StreetAddress, joined(" ", l.PostalCode, l.Locality), countryOf(l)}
	}
	for _, line := range lines {
		if line != "" {
			p.Address = append(p.Address, line)
		}
	}
	if l.Latitude != nil && l.Longitude != nil {
		p.Position = string(l.Latitude) + ", " + string(l.Longitude)
	}
	p.Hours = hoursRows(l.OpeningHours)
	return p
}

func nameOf(l *business.Location) string {
	if l.Name != "" {
		return l.Name
	}
	return l.ID
}

func countryOf(l *business.Location) string {
	if l.Country != "" {
		return l.Country
	}
	return l.CountryCode
}

// shortPlace is where a location is in a few words, its name when it states neither town nor country.
func shortPlace(l *business.Location) string {
	if where := joined(", ", l.Locality, countryOf(l)); where != "" {
		return where
	}
	return l.Name
}

// hoursRow is one rule of opening hours in words.
type hoursRow struct {
	When, What string
	Spans      []string
	Remark     string
}

// hoursRows words the rules in the order they are stated: a later one replaces the earlier ones on its days. Text that is not in
// the notation gives none, and is shown as it stands.
func hoursRows(text string) []hoursRow {
	if text == "" {
		return nil
	}
	h, _, err := hours.Parse(text)
	if err != nil {
		return nil
	}
	var out []hoursRow
	for i, r := range h.Rules() {
		row := hoursRow{When: whenOf(&r), What: whatOf(&r), Spans: spansOf(&r), Remark: r.Comment}
		if i > 0 && r.Sep == hours.Add {
			row.When = "Also " + row.When
		}
		if i > 0 && r.Sep == hours.Fallback {
			row.When = "Otherwise"
		}
		out = append(out, row)
	}
	return out
}

func whenOf(r *hours.Rule) string {
	var dates, days []string
	for _, d := range r.Dates {
		words := dateWords(d.From)
		if d.To != (hours.Date{}) {
			words += " to " + dateWords(d.To)
		}
		dates = append(dates, words)
	}
	for _, d := range r.Days {
		days = append(days, dayWords(d))
	}
	if len(dates)+len(days) == 0 {
		return "Every day"
	}
	return joined(": ", strings.Join(dates, ", "), strings.Join(days, ", "))
}

func dateWords(d hours.Date) string {
	var parts []string
	if d.Day != 0 {
		parts = append(parts, strconv.Itoa(d.Day))
	}
	parts = append(parts, d.Month.String())
	if d.Year != 0 {
		parts = append(parts, strconv.Itoa(d.Year))
	}
	return strings.Join(parts, " ")
}

func dayWords(d hours.DayRange) string {
	switch {
	case d.Holiday == hours.PublicHoliday:
		return "public holidays"
	case d.Holiday == hours.SchoolHoliday:
		return "school holidays"
	case len(d.Nth) > 0:
		nth := make([]string, len(d.Nth))
		for i, n := range d.Nth {
			nth[i] = ordinal(n)
		}
		return strings.Join(nth, " and ") + " " + d.From.String() + " of the month"
	case d.From == d.To:
		return d.From.String()
	case (d.From+1)%7 == d.To:
		return d.From.String() + ", " + d.To.String()
	case d.From == time.Monday && d.To == time.Sunday:
		return "Every day"
	}
	return d.From.String() + " to " + d.To.String()
}

func ordinal(n int) string {
	switch {
	case n == -1:
		return "last"
	case n < 0:
		return ordinal(-n) + " to last"
	}
	return []string{"", "first", "second", "third", "fourth", "fifth"}[n]
}

// whatOf says what holds then, "" when the times alone say it.
func whatOf(r *hours.Rule) string {
	switch state := r.State(); {
	case state == hours.Closed:
		return "closed"
	case state == hours.Unknown && r.Comment == "":
		return "not certain"
	case state == hours.Open && len(r.Spans) == 0:
		return "open all day"
	}
	return ""
}

func spansOf(r *hours.Rule) []string {
	var out []string
	for _, s := range r.Spans {
		text := strings.Replace(s.String(), "-", "–", 1)
		if s.Until() > 24*60 {
			text += " (next day)"
		}
		out = append(out, text)
	}
	return out
}
