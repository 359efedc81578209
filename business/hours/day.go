package hours

import (
	"fmt"
	"time"

	"sayso/jcs"
)

// civil is one calendar day of some place.
type civil struct {
	year    int
	month   time.Month
	day     int
	weekday time.Weekday
}

func civilOf(t time.Time) civil {
	year, month, day := t.Date()
	return civil{year, month, day, t.Weekday()}
}

// plus is the day n days later.
func (c civil) plus(n int) civil {
	return civilOf(time.Date(c.year, c.month, c.day+n, 0, 0, 0, 0, time.UTC))
}

// key orders days: year, month and day as decimal digits.
func (c civil) key() int { return (c.year*100+int(c.month))*100 + c.day }

// key is civil's key of a day; of a month it sorts before its days.
func (d Date) key() int { return (d.Year*100+int(d.Month))*100 + d.Day }

func monthDays(year int, month time.Month) int {
	return time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// civil is the day a Date names; ok is false when it is a month, of every year, or no day of the calendar.
func (d Date) civil() (c civil, ok bool) {
	if d.Year < 1 || d.Year > 9999 || d.Month < time.January || d.Month > time.December || d.Day < 1 || d.Day > monthDays(d.Year, d.Month) {
		return civil{}, false
	}
	return civilOf(time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC)), true
}

const wholeMonth = 31 // no key of a day lies between this one and the next month

// contains reports whether the range holds the day.
func (r DateRange) contains(c civil) bool {
	from, to, key := r.From, r.To, c.key()
	if to == (Date{}) {
		to = from
	}
	if from.Year == 0 {
		key %= 10000
	} else if to.Year == 0 {
		if to.Year = from.Year; to.key() < from.key() {
			to.Year++
		}
	}
	if to.Day == 0 {
		to.Day = wholeMonth
	}
	if first, last := from.key(), to.key(); first <= last {
		return first <= key && key <= last
	} else {
		return first <= key || key <= last
	}
}

// contains reports whether the range holds the day, which is a holiday of the kinds given.
func (r DayRange) contains(c civil, public, school bool) bool {
	switch {
	case r.Holiday == PublicHoliday:
		return public
	case r.Holiday == SchoolHoliday:
		return school
	case (c.weekday-r.From+7)%7 > (r.To-r.From+7)%7:
		return false
	case len(r.Nth) == 0:
		return true
	}
	front := (c.day-1)/7 + 1
	back := -((monthDays(c.year, c.month)-c.day)/7 + 1)
	for _, n := range r.Nth {
		if n == front || n == back {
			return true
		}
	}
	return false
}

// Calendar holds the publisher's holidays; nil means that it has none. It is immutable.
type Calendar struct{ public, school dayList }

// dayList is the days of one kind of holiday and the years they lie in, which are the years that are known.
type dayList struct{ days, years map[int]bool }

// ParseCalendar reads calendar.json:
//
//	{"public_holidays": ["2026-12-25"], "school_holidays": ["2026-07-01"]}
//
// Both members are lists of days, each stated once; an absent or empty list states nothing. null and other members are refused. Errors are *jcs.Error for the
// JSON text, and otherwise name the day.
func ParseCalendar(data []byte) (*Calendar, error) {
	var doc struct {
		Public []string `json:"public_holidays"`
		School []string `json:"school_holidays"`
	}
	if err := jcs.DecodeKnown(data, &doc); err != nil {
		return nil, err
	}
	members, err := jcs.Members(data)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		if string(m.Value) == "null" {
			return nil, fmt.Errorf("%s is null: leave it out when no days are stated", m.Name)
		}
	}
	public, err := newDayList("public_holidays", doc.Public)
	if err != nil {
		return nil, err
	}
	school, err := newDayList("school_holidays", doc.School)
	if err != nil {
		return nil, err
	}
	return &Calendar{public, school}, nil
}

func newDayList(member string, texts []string) (dayList, error) {
	list := dayList{days: map[int]bool{}, years: map[int]bool{}}
	for _, text := range texts {
		t, err := time.Parse(time.DateOnly, text)
		if err != nil {
			return list, fmt.Errorf("%s: %q is not a day: write YYYY-MM-DD", member, clip(text))
		}
		c := civilOf(t)
		if list.days[c.key()] {
			return list, fmt.Errorf("%s: %s stands twice: state each day once", member, text)
		}
		list.days[c.key()], list.years[c.year] = true, true
	}
	return list, nil
}

// fate is what is known about a day being a holiday.
type fate uint8

const (
	no fate = iota
	yes
	maybe
)

func (l dayList) fate(c civil) fate {
	switch {
	case !l.years[c.year]:
		return maybe
	case l.days[c.key()]:
		return yes
	}
	return no
}

func (c *Calendar) fates(day civil) (public, school fate) {
	if c == nil {
		return maybe, maybe
	}
	return c.public.fate(day), c.school.fate(day)
}
