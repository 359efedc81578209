package importer

import (
	"fmt"
	"strconv"

	"sayso/facts"
	"sayso/facts/dataset"
)

// year is a calendar of labelled years that begin on one day.
type year struct {
	calendar facts.Calendar
	start    string // MM-DD
}

// yearOf is the calendar of a namespace. The uk starts wages and National Insurance classes on 1 April and everything else on 6 April (F§10.6,
// VF-D-009); a mapping can say so with yearStarts.
func yearOf(calendar facts.Calendar, key, starts string) year {
	switch {
	case calendar != facts.CalendarUKTaxYear:
		return year{calendar, "01-01"}
	case starts != "":
		return year{calendar, starts}
	case dataset.StartsInApril(key):
		return year{calendar, "04-01"}
	}
	return year{calendar, "04-06"}
}

// first is the first day of a year.
func (y year) first(n int) facts.Date {
	d, err := facts.ParseDate(fmt.Sprintf("%04d-%s", n, y.start))
	if err != nil {
		return facts.MaxDate
	}
	return d
}

// number is the year that a day lies in.
func (y year) number(d facts.Date) int {
	n, _, _ := d.Civil()
	if d < y.first(n) {
		n--
	}
	return n
}

// label is the period label of a value, "" for a standing one: a value that goes beyond the year in which it began, whether it has ended or not.
func (y year) label(from, to, today facts.Date) string {
	if y.calendar == facts.CalendarNone || y.calendar == "" || from.IsZero() {
		return ""
	}
	n := y.number(from)
	last := y.first(n + 1).AddDays(-1)
	if n < 1 || !to.IsZero() && to > last || to.IsZero() && today > last {
		return ""
	}
	if y.calendar == facts.CalendarUKTaxYear {
		return fmt.Sprintf("%04d-%02d", n, (n+1)%100)
	}
	return fmt.Sprintf("%04d", n)
}

// parse is the year that a label names; ok is false for a label that is not of the calendar.
func (y year) parse(label string) (n int, ok bool) {
	if len(label) < 4 {
		return 0, false
	}
	n, err := strconv.Atoi(label[:4])
	if err != nil || n < 1 {
		return 0, false
	}
	return n, y.label(y.first(n), y.first(n), y.first(n)) == label
}
