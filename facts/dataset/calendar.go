package dataset

import (
	"fmt"
	"strconv"

	"sayso/facts"
)

// periodYear is the year in which a labelled period begins; ok is false for a label that is not of the calendar.
func periodYear(calendar facts.Calendar, label string) (year int, ok bool) {
	digits := len(label) >= 4
	for i := 0; digits && i < 4; i++ {
		digits = label[i] >= '0' && label[i] <= '9'
	}
	if !digits {
		return 0, false
	}
	year, _ = strconv.Atoi(label[:4])
	switch calendar {
	case facts.CalendarYear:
		return year, len(label) == 4 && year > 0
	case facts.CalendarUKTaxYear:
		return year, year > 0 && label == fmt.Sprintf("%04d-%02d", year, (year+1)%100)
	}
	return 0, false
}

// periodStart is the first day of the period that begins in a year.
func periodStart(calendar facts.Calendar, year int) facts.Date {
	day := "01-01"
	if calendar == facts.CalendarUKTaxYear {
		day = "04-06"
	}
	d, err := facts.ParseDate(fmt.Sprintf("%04d-%s", year, day))
	if err != nil {
		return facts.MaxDate
	}
	return d
}
