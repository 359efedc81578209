package facts

import (
	"fmt"
	"strings"
)

// MaxDurationDays is the longest max_age: a century of years of 365 days.
const MaxDurationDays = 36_500

// Days of the units of F§4.2, in the order in which ISO 8601 writes them. Months and years are fixed numbers of days, whatever the calendar.
const (
	daysPerYear  = 365
	daysPerMonth = 30
	daysPerWeek  = 7
	maxDigits    = 5
)

// ParseDuration reads a max_age in days: a number with d, w, m or y (30d, 12w, 6m, 1y), or an ISO 8601 duration of whole years, months and days or of
// weeks (P30D, P1Y6M, P12W), of at most MaxDurationDays. The error is a sentence fragment that begins with the text.
func ParseDuration(s string) (int, error) {
	days, problem := scanDuration(s)
	switch {
	case problem != "":
		return 0, fmt.Errorf("%s is not a duration: %s", quote(s), problem)
	case days > MaxDurationDays:
		return 0, fmt.Errorf("%s is longer than %d days", quote(s), MaxDurationDays)
	}
	return days, nil
}

func scanDuration(s string) (days int, problem string) {
	const forms = "write whole days, weeks, months or years such as 30d, 12w, 6m, 1y, or P30D"
	if s == "" {
		return 0, "it is empty; " + forms
	}
	if s[0] == 'P' {
		return scanISODuration(s[1:], forms)
	}
	n, rest, ok := scanDigits(s)
	if !ok || len(rest) != 1 {
		return 0, forms
	}
	switch rest[0] {
	case 'd':
		return n, ""
	case 'w':
		return n * daysPerWeek, ""
	case 'm':
		return n * daysPerMonth, ""
	case 'y':
		return n * daysPerYear, ""
	}
	return 0, forms
}

// scanISODuration reads what follows the P.
func scanISODuration(s, forms string) (days int, problem string) {
	if strings.IndexByte(s, 'T') >= 0 {
		return 0, "a time part is not allowed, freshness is counted in days; " + forms
	}
	if s == "" {
		return 0, "nothing follows P; " + forms
	}
	units := "YMD"
	for s != "" {
		n, rest, ok := scanDigits(s)
		if !ok || rest == "" {
			return 0, forms
		}
		if rest[0] == 'W' {
			if units != "YMD" || len(rest) > 1 {
				return 0, "weeks stand alone; " + forms
			}
			return n * daysPerWeek, ""
		}
		i := strings.IndexByte(units, rest[0])
		if i < 0 {
			return 0, forms
		}
		switch rest[0] {
		case 'Y':
			days += n * daysPerYear
		case 'M':
			days += n * daysPerMonth
		case 'D':
			days += n
		}
		units, s = units[i+1:], rest[1:]
		if units == "" && s != "" {
			return 0, forms
		}
	}
	return days, ""
}

// scanDigits reads one to five leading digits.
func scanDigits(s string) (n int, rest string, ok bool) {
	i := 0
	for i < len(s) && isDigit(s[i]) {
		if i == maxDigits {
			return 0, s, false
		}
		n = n*10 + int(s[i]-'0')
		i++
	}
	return n, s[i:], i > 0
}
