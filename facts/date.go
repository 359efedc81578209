package facts

import (
	"errors"
	"fmt"
	"time"
)

// Date is a civil day of the proleptic Gregorian calendar, counted from 0001-01-01 = 1. The zero Date means "no date" and is written as null. Dates
// compare with < and subtract to days.
type Date int32

const (
	// MaxDate is 9999-12-31, the last day that can be written.
	MaxDate Date = 3_652_059

	unixEpoch  = 719_163 // 1970-01-01
	marchShift = 305     // from 0001-01-01 = 1 to days since 0000-03-01, the start of a leap cycle
	cycleDays  = 146_097 // days in 400 years
)

// daysBefore[m] counts the days of a common year before month m.
var daysBefore = [...]int{1: 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365}

// ParseDate reads YYYY-MM-DD, a real calendar day of the years 0001 to 9999.
func ParseDate(s string) (Date, error) {
	d, shaped := scanDate(s)
	switch {
	case !shaped:
		return 0, fmt.Errorf("%s is not a date: write YYYY-MM-DD", quote(s))
	case d == 0:
		return 0, fmt.Errorf("%s is not a calendar day", quote(s))
	}
	return d, nil
}

// scanDate is ParseDate without an error value: d is zero for what is no day, shaped reports the form YYYY-MM-DD.
func scanDate(s string) (d Date, shaped bool) {
	if len(s) != 10 || s[4] != '-' || s[7] != '-' {
		return 0, false
	}
	var n [10]int
	for i := range n {
		if i == 4 || i == 7 {
			continue
		}
		if n[i] = int(s[i]) - '0'; n[i] < 0 || n[i] > 9 {
			return 0, false
		}
	}
	year, month, day := n[0]*1000+n[1]*100+n[2]*10+n[3], n[5]*10+n[6], n[8]*10+n[9]
	if year < 1 || month < 1 || month > 12 || day < 1 || day > monthDays(year, month) {
		return 0, true
	}
	y := year - 1
	days := y*365 + y/4 - y/100 + y/400 + daysBefore[month] + day
	if month > 2 && leap(year) {
		days++
	}
	return Date(days), true
}

func leap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

func monthDays(year, month int) int {
	if month == 2 && leap(year) {
		return 29
	}
	if month == 12 {
		return 31
	}
	return daysBefore[month+1] - daysBefore[month]
}

// DateOf is the UTC civil day of an instant. Instants outside the years 0001 to 9999 give the zero Date.
func DateOf(t time.Time) Date {
	sec := t.Unix()
	days := sec / 86_400
	if sec%86_400 < 0 {
		days--
	}
	if days += unixEpoch; days < 1 || days > int64(MaxDate) {
		return 0
	}
	return Date(days)
}

// IsZero reports the absence of a date.
func (d Date) IsZero() bool { return d == 0 }

// AddDays is the day n days later, kept within 0001-01-01 and MaxDate; the zero Date stays zero.
func (d Date) AddDays(n int) Date {
	if d == 0 {
		return 0
	}
	return Date(min(max(int64(d)+int64(n), 1), int64(MaxDate)))
}

// String writes YYYY-MM-DD, "" for the zero Date.
func (d Date) String() string {
	var buf [16]byte
	return string(d.Append(buf[:0]))
}

// Append appends what String writes.
func (d Date) Append(dst []byte) []byte {
	if d == 0 {
		return dst
	}
	if d < 0 || d > MaxDate { // made by arithmetic, not by this package: still readable
		return d.Time().AppendFormat(dst, time.DateOnly)
	}
	year, month, day := d.Civil()
	return append(dst,
		'0'+byte(year/1000), '0'+byte(year/100%10), '0'+byte(year/10%10), '0'+byte(year%10), '-',
		'0'+byte(month/10), '0'+byte(month%10), '-',
		'0'+byte(day/10), '0'+byte(day%10))
}

// appendJSON appends the date as a JSON string, null for the zero Date.
func (d Date) appendJSON(dst []byte) []byte {
	if d == 0 {
		return append(dst, "null"...)
	}
	return append(d.Append(append(dst, '"')), '"')
}

// Time is 00:00:00 UTC of the day.
func (d Date) Time() time.Time {
	return time.Unix((int64(d)-unixEpoch)*86_400, 0).UTC()
}

// Civil is the year, month and day of the date. Years are counted from a first of March, so that the leap day is the last of its year.
func (d Date) Civil() (year int, month time.Month, day int) {
	if d < 1 {
		return d.Time().Date()
	}
	z := int(d) + marchShift
	era, doe := z/cycleDays, z%cycleDays
	yoe := (doe - doe/1460 + doe/36_524 - doe/146_096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day = doy - (153*mp+2)/5 + 1
	year = era*400 + yoe
	if mp < 10 {
		return year, time.Month(mp + 3), day
	}
	return year + 1, time.Month(mp - 9), day
}

// MarshalJSON writes the date as a JSON string, null for the zero Date.
func (d Date) MarshalJSON() ([]byte, error) {
	if d < 0 || d > MaxDate {
		return nil, errors.New("a date outside the years 0001 to 9999 cannot be written")
	}
	return d.appendJSON(nil), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (d *Date) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*d = 0
		return nil
	}
	if len(b) < 2 || b[0] != '"' || b[len(b)-1] != '"' {
		return errors.New("a date is a JSON string YYYY-MM-DD or null")
	}
	parsed, err := ParseDate(string(b[1 : len(b)-1]))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}
