package hours_test

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"sayso/business/hours"
	"sayso/jcs"
)

func parse(t testing.TB, s string) *hours.Hours {
	t.Helper()
	h, _, err := hours.Parse(s)
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return h
}

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func at(t testing.TB, value, instant string, z *time.Location, c *hours.Calendar) hours.Result {
	t.Helper()
	r, err := parse(t, value).AtText(instant, z, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func calendar(t testing.TB, text string) *hours.Calendar {
	t.Helper()
	c, err := hours.ParseCalendar([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func codes(warnings []hours.Warning) (out []string) {
	for _, w := range warnings {
		out = append(out, w.Code)
	}
	return out
}

func lines(t testing.TB, name string) []string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// TestReading holds what the notation refuses, warns of and prints.
func TestReading(t *testing.T) {
	for _, c := range []struct {
		name, value, token string // token of the refusal, "" when accepted
		canonical          string // "" when it is the value itself
		codes              []string
	}{
		{"1 names of another notation", "Mon: 10-9; Tue: 10-9", "Mon", "", nil},
		{"1 hours without minutes", "Mo 10-9", "10", "", nil},
		{"1 midnight to midnight", "Mon: 0-11:59", "Mon", "", nil},
		{"2 past midnight", "Mo,We 09:00-25:00", "", "", []string{"lint_past_midnight"}},
		{"2 the latest end", "Mo 09:00-26:00", "", "", []string{"lint_past_midnight"}},
		{"2 too late", "Mo,We 09:00-27:00", "27:00", "", nil},
		{"2 a minute too late", "Mo 09:00-26:01", "26:01", "", nil},
		{"3 zero or a whole day", "Mo 09:00-09:00", "09:00", "", nil},
		{"3 midnight twice", "Mo-Su 00:00-00:00", "00:00", "", nil},
		{"4 no separator", "Mo-Fr 09:00-17:00 Sa 10:00-12:00", "Sa", "", nil},
		{"5 a month in another language", "Jan-Mai Mo 09:00-10:00", "Mai", "", nil},
		{"6 a comment", `"nach Vereinbarung"`, "", "", nil},
		{"7 both rules on a holiday", "Tu-Th,Su,PH 12:00-23:00, Fr,Sa 12:00-24:00", "", "", []string{"lint_holiday_overlap"}},
		{"7 replaced on a holiday", "PH off; Mo-Fr 09:00-17:00", "", "", []string{"lint_holiday_overlap"}},
		{"7 an added rule for holidays", "Mo-Fr 09:00-17:00, PH 10:00-12:00", "", "", []string{"lint_holiday_overlap"}},
		{"7 holidays taken away", "Mo-Fr 09:00-17:00, PH off", "", "", nil},
		{"7 holidays replaced", "Mo-Fr 09:00-17:00; PH 10:00-12:00", "", "", nil},
		{"8 seven days", "Mo-Sa 10:00-02:00; Su 09:00-02:00", "", "", nil},
		{"13 no season", "Jan 02-Mar 30 Tu-Fr 09:00-16:00, Sa 09:00-13:00", "", "", []string{"lint_season_missing"}},

		{"case", "TU,sa 08:00-13:00; ph off", "", "Tu,Sa 08:00-13:00; PH off", []string{"repair_case", "repair_case", "repair_case"}},
		{"one digit", "Mo 8:00-9:30", "", "Mo 08:00-09:30", []string{"repair_time", "repair_time"}},
		{"spaces", " Mo , Tu  08:00 - 13:00 ;We[ -1 ] 08:00-09:00||off ", "", "Mo,Tu 08:00-13:00; We[-1] 08:00-09:00 || off", []string{"repair_space"}},
		{"colon", "Apr-Oct: Fr 07:30-13:00 || Nov: Fr 08:00-13:00", "", "Apr-Oct Fr 07:30-13:00 || Nov Fr 08:00-13:00", []string{"repair_colon"}},
		{"colon without space", "Apr:08:00-13:00", "", "Apr 08:00-13:00", []string{"repair_colon", "repair_space"}},
		{"spans of one rule", "We 08:00-13:00, 15:00-19:00", "", "We 08:00-13:00,15:00-19:00", []string{"repair_space"}},
		{"rules without a space", "tu 8:00-13:00,th 8:00-13:00", "", "Tu 08:00-13:00, Th 08:00-13:00", []string{"repair_case", "repair_time", "repair_case", "repair_space"}},
		{"dates in a list", "2017 Apr 08, 2017 May 13 08:00-16:00", "", "2017 Apr 08,2017 May 13 08:00-16:00", []string{"repair_space"}},
		{"off with times", "Mo-Fr 08:00-18:00; Mo 12:00-13:00 off", "", "", []string{"lint_off_replaces_day"}},
		{"year missing", "2017 Apr 08,May 13 08:00-16:00", "", "", []string{"lint_year_missing"}},
		{"everything", `2026 Nov 29-2027 Jan 06 Mo-Fr,Sa[1,-1],PH,SH 09:00-12:00,22:00-02:00 open "Büro"`, "", "", nil},
		{"days and comment", `Dec 24 Mo-Fr "by phone"`, "", "", nil},
		{"times and comment", `Mo 10:00-12:00 "by appointment"`, "", "", []string{"lint_comment_unknown"}},
		{"24/7", "24/7; Dec 25 off", "", "", nil},
		{"a comment may hold separators", `"a; b, c || d"`, "", "", nil},

		{"empty", "", "", "", []string{"error"}},
		{"separator at the end", "Mo 09:00-10:00;", "", "", []string{"error"}},
		{"unknown word", "Mo 09:00-10:00 Off", "Off", "", nil},
		{"bare words", "by appointment", "by", "", nil},
		{"no times", "Mo-Fr", "", "", []string{"error"}},
		{"comment for dates", `Dec "x"`, `"x"`, "", nil},
		{"comment not closed", `Mo "x`, `"x`, "", nil},
		{"empty comment", `""`, `""`, "", nil},
		{"control character", "\"a\nb\"", "\"a\nb\"", "", nil},
		{"control character outside", "Mo\n09:00-10:00", "\n", "", nil},
		{"no space", "Mo09:00-10:00", "09:00", "", nil},
		{"no space after the days", `Mo"by phone"`, `"by phone"`, "", nil},
		{"no space after dates", "Apr 08Mo 09:00-10:00", "Mo", "", nil},
		{"no space after a month", "AprMo 09:00-10:00", "AprMo", "", nil},
		{"no space after times", "Mo 09:00-10:00off", "off", "", nil},
		{"no space before a comment", `Mo off"x"`, `"x"`, "", nil},
		{"no space after a year", "2027Jan 02 09:00-10:00", "Jan", "", nil},
		{"three digits of a year", "999 Jan 02 09:00-10:00", "999", "", nil},
		{"five digits of a year", "10000 Jan 02 09:00-10:00", "10000", "", nil},
		{"a time alone", "Mo 09:00", "", "", []string{"error"}},
		{"a time and a day", "Mo 09:00-Tu", "Tu", "", nil},
		{"a day and a time", "Mo-09:00", "09:00", "", nil},
		{"a day of two months", "Jan 02-09:00", "09:00", "", nil},
		{"bracket not closed", "Mo[1 09:00-10:00", "09:00", "", nil},
		{"no space in a date", "Jan02 09:00-10:00", "02", "", nil},
		{"three digits", "Tu 07:00-016:00", "016:00", "", nil},
		{"sixty minutes", "Tu 07:60-08:00", "07:60", "", nil},
		{"start at 24:00", "Tu 24:00-25:00", "24:00", "", nil},
		{"open end", "Tu 18:00+", "+", "", nil},
		{"dash of typographers", "Mo–Fr 09:00-10:00", "–", "", nil},
		{"a letter that folds to s", "ſu 09:00-10:00", "ſu", "", nil},
		{"same weekday", "Mo-Mo 09:00-10:00", "Mo", "", nil},
		{"weekday list in brackets", "Mo-We[1] 09:00-10:00", "[", "", nil},
		{"sixth weekday", "Mo[6] 09:00-10:00", "6", "", nil},
		{"range in brackets", "Mo[1-2] 09:00-10:00", "-", "", nil},
		{"no such day", "Feb 30 09:00-10:00", "30", "", nil},
		{"no such day in that year", "2027 Feb 29 09:00-10:00", "29", "", nil},
		{"one digit day", "Feb 3 09:00-10:00", "3", "", nil},
		{"second end without month", "Jan 02-05 09:00-10:00", "05", "", nil},
		{"day to month", "Jan 02-Mar 09:00-10:00", "Mar", "", nil},
		{"year at the end only", "Jan 02-2027 Mar 03 09:00-10:00", "Jan", "", nil},
		{"backwards", "2027 Jan 02-2026 Jan 03 09:00-10:00", "2026", "", nil},
		{"same month", "Jan-Jan 09:00-10:00", "Jan", "", nil},
		{"year alone", "2027 09:00-10:00", "2027", "", nil},
		{"24/7 with more", "24/7 open", "open", "", nil},
		{"not UTF-8", "Mo \xff", "Mo \uFFFD", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, warnings, err := hours.Parse(c.value)
			if c.token != "" || slices.Equal(c.codes, []string{"error"}) {
				var refused *hours.Error
				if !errors.As(err, &refused) || refused.Token != c.token || c.token != "" && !strings.HasPrefix(refused.Message, strconv.Quote(c.token)) {
					t.Fatalf("%q: token %q expected, got %+v", c.value, c.token, err)
				}
				if end := refused.Offset + len(c.token); c.name != "not UTF-8" && (end > len(c.value) || c.value[refused.Offset:end] != c.token) {
					t.Errorf("%q: offset %d is not that of %q", c.value, refused.Offset, c.token)
				}
				return
			}
			if err != nil {
				t.Fatalf("%q: %v", c.value, err)
			}
			want := c.canonical
			if want == "" {
				want = c.value
			}
			if h.String() != want {
				t.Errorf("%q is printed %q, want %q", c.value, h, want)
			}
			if got := codes(warnings); !slices.Equal(got, c.codes) {
				t.Errorf("%q: %v, want %v", c.value, warnings, c.codes)
			}
		})
	}
	if _, _, err := hours.Parse(`"` + strings.Repeat("x", hours.MaxLength) + `"`); err == nil || len(err.Error()) > 200 {
		t.Errorf("a value that is too long: %v", err)
	}
}

// TestMeaning holds the state with its reason. 2026-11-30 is a Monday, 2026-12-25 a Friday.
func TestMeaning(t *testing.T) {
	const known = `{"public_holidays":["2026-12-25"],"school_holidays":["2026-07-01"]}`
	for _, c := range []struct {
		name, value, local, calendar string
		want                         string // state, reason and rule
	}{
		{"6 a comment is no hours", `"nach Vereinbarung"`, "2026-11-30T10:00", "", `unknown comment "nach Vereinbarung"`},
		{"7 the later end wins", "Tu-Th,Su,PH 12:00-23:00, Fr,Sa 12:00-24:00", "2026-12-25T23:30", known, "open rule Fr,Sa 12:00-24:00"},
		{"8 ; cancels what spills over", "Mo-Sa 10:00-02:00; Su 09:00-02:00", "2026-11-29T01:00", "", "closed no_rule"},
		{"8 , does not", "Mo-Sa 10:00-02:00, Su 09:00-02:00", "2026-11-29T01:00", "", "open rule Mo-Sa 10:00-02:00"},
		{"8 its own spills over", "Mo-Sa 10:00-02:00; Su 09:00-02:00", "2026-11-30T01:00", "", "open rule Su 09:00-02:00"},
		{"8 a replaced evening does not spill", "Mo-Su 20:00-02:00; Su off", "2026-11-30T01:00", "", "closed no_rule"},
		{"9 24/7 includes holidays", "24/7", "2026-12-25T10:00", known, "open rule 24/7"},
		{"10 no calendar", "Mo-Fr 09:00-17:00; PH off", "2026-12-24T10:00", "", "unknown holiday_unknown PH off"},
		{"10 a holiday", "Mo-Fr 09:00-17:00; PH off", "2026-12-25T10:00", known, "closed rule PH off"},
		{"10 no holiday", "Mo-Fr 09:00-17:00; PH off", "2026-12-24T10:00", known, "open rule Mo-Fr 09:00-17:00"},
		{"10 another year", "Mo-Fr 09:00-17:00; PH off", "2027-01-04T10:00", known, "unknown holiday_unknown PH off"},
		{"10 an empty list states nothing", "Mo-Fr 09:00-17:00; PH off", "2026-12-24T10:00", `{"public_holidays":[]}`, "unknown holiday_unknown PH off"},
		{"10 closed either way", "Mo-Fr 09:00-17:00; PH off", "2026-12-24T20:00", "", "closed no_rule"},
		{"10 no rule about it", "Mo-Fr 09:00-17:00", "2026-12-25T10:00", "", "open rule Mo-Fr 09:00-17:00"},
		{"10 the day before may be one", "Mo-Fr 09:00-17:00; PH 20:00-02:00", "2026-12-24T01:00", "", "unknown holiday_unknown PH 20:00-02:00"},
		{"school", "Mo-Fr 09:00-17:00; SH 10:00-12:00", "2026-07-01T09:30", known, "closed no_rule"},
		{"school, no holiday", "Mo-Fr 09:00-17:00; SH 10:00-12:00", "2026-07-02T09:30", known, "open rule Mo-Fr 09:00-17:00"},
		{"the end is not included", "Mo 09:00-17:00", "2026-11-30T17:00", "", "closed no_rule"},
		{"the last second is", "Mo 09:00-17:00", "2026-11-30T16:59:59", "", "open rule Mo 09:00-17:00"},
		{"off", "Mo off", "2026-11-30T10:00", "", "closed rule Mo off"},
		{"unknown", "Mo 10:00-12:00 unknown", "2026-11-30T10:00", "", "unknown stated_unknown Mo 10:00-12:00 unknown"},
		{"times with a comment", `Mo 10:00-12:00 "by appointment"`, "2026-11-30T10:00", "", `unknown comment Mo 10:00-12:00 "by appointment"`},
		{"outside them", `Mo 10:00-12:00 "by appointment"`, "2026-11-30T12:00", "", "closed no_rule"},
		{"times with a remark", `Mo 10:00-12:00 open "side door"`, "2026-11-30T10:00", "", `open rule Mo 10:00-12:00 open "side door"`},
		{"fallback", `Mo 10:00-12:00 || "call us"`, "2026-11-30T13:00", "", `unknown comment "call us"`},
		{"no fallback", `Mo 10:00-12:00 || "call us"`, "2026-11-30T11:00", "", "open rule Mo 10:00-12:00"},
		{"off is a match", `Mo off || "call us"`, "2026-11-30T11:00", "", "closed rule Mo off"},
		{"; after a fallback", `Tu 10:00-12:00 || "call us"; Mo off`, "2026-11-30T11:00", "", "closed rule Mo off"},
		{"taken away", "Mo 08:00-18:00, Mo 12:00-13:00 off", "2026-11-30T12:30", "", "closed rule Mo 12:00-13:00 off"},
		{"off replaces the day", "Mo 08:00-18:00; Mo 12:00-13:00 off", "2026-11-30T15:00", "", "closed no_rule"},
		{"second Monday", "Mo[2] 08:00-18:00", "2026-12-14T09:00", "", "open rule Mo[2] 08:00-18:00"},
		{"last Monday", "Mo[-1] 08:00-18:00", "2026-11-30T09:00", "", "open rule Mo[-1] 08:00-18:00"},
		{"last but one", "Mo[-1] 08:00-18:00", "2026-11-23T09:00", "", "closed no_rule"},
		{"season wraps", "Oct-Mar Mo 08:00-18:00", "2026-11-30T09:00", "", "open rule Oct-Mar Mo 08:00-18:00"},
		{"out of season", "Oct-Mar Mo 08:00-18:00", "2026-06-01T09:00", "", "closed no_rule"},
		{"days wrap", "Sa-Mo 08:00-18:00", "2026-11-30T09:00", "", "open rule Sa-Mo 08:00-18:00"},
		{"year, first end only", "2026 Nov 30-Jan 06 08:00-18:00", "2027-01-06T09:00", "", "open rule 2026 Nov 30-Jan 06 08:00-18:00"},
		{"the year after", "2026 Nov 30-Jan 06 08:00-18:00", "2027-11-30T09:00", "", "closed no_rule"},
		{"months of one year", "2026 Nov-Dec 08:00-18:00", "2026-12-31T09:00", "", "open rule 2026 Nov-Dec 08:00-18:00"},
		{"leap day in a common year", "Feb 29-Mar 10 08:00-18:00", "2027-03-01T09:00", "", "open rule Feb 29-Mar 10 08:00-18:00"},
		{"14 open overnight", "Mo-Su 19:00-02:00", "2026-11-30T22:46", "", "open rule Mo-Su 19:00-02:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var cal *hours.Calendar
			if c.calendar != "" {
				cal = calendar(t, c.calendar)
			}
			r := at(t, c.value, c.local, zone(t, "Europe/Paris"), cal)
			if got := strings.TrimSpace(string(r.State) + " " + r.Reason + " " + r.Rule); got != c.want {
				t.Errorf("%s at %s: %s, want %s", c.value, c.local, got, c.want)
			}
		})
	}
}

// 11: what clocks do on the last Sundays of March and October.
func TestClockChanges(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	for _, c := range []struct {
		text string
		zone *time.Location
		want string
	}{
		{"2026-03-29T02:30", berlin, "2026-03-29T01:00:00Z"},
		{"2026-03-29T01:59:59", berlin, "2026-03-29T00:59:59Z"},
		{"2026-03-29T03:00", berlin, "2026-03-29T01:00:00Z"},
		{"2026-10-25T02:30", berlin, "2026-10-25T00:30:00Z 2026-10-25T01:30:00Z"},
		{"2026-10-25T03:00", berlin, "2026-10-25T02:00:00Z"},
		{"2026-10-25T02:30:00+01:00", berlin, "2026-10-25T01:30:00Z"},
		{"2026-10-25T02:30:00+01:00", nil, "2026-10-25T01:30:00Z"},
		{"2026-10-25T02:30", nil, ""},
		{"2011-12-30T12:00", zone(t, "Pacific/Apia"), "2011-12-30T10:00:00Z"},                           // the day was left out
		{"2018-11-04T00:30", zone(t, "America/Sao_Paulo"), "2018-11-04T03:00:00Z"},                      // skipped at midnight
		{"2018-02-17T23:30", zone(t, "America/Sao_Paulo"), "2018-02-18T01:30:00Z 2018-02-18T02:30:00Z"}, // set back at midnight
		{"2026-07-01T12:00", time.UTC, "2026-07-01T12:00:00Z"},
	} {
		instants, err := hours.Instants(c.text, c.zone)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, i := range instants {
			got = append(got, i.Format(time.RFC3339))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s in %s: %v, want %s", c.text, c.zone, got, c.want)
		}
	}
	for _, text := range []string{"", "now", "2026-02-30T10:00", "2026-02-03 10:00", "2026-02-03", "2026-02-03T24:00", "2026-02-03T10:00:00,5", "2026-02-03T10:00Z", "2026-02-03T1:00:00Z", "2026-02-03T10:00:00+24:00", "2026-02-03T10:00:00.5"} {
		if i, err := hours.Instants(text, berlin); err == nil {
			t.Errorf("%q is read as %v", text, i)
		}
	}
	if _, err := parse(t, "24/7").AtText("now", berlin, nil); err == nil {
		t.Error("now is no time")
	}
	h := parse(t, "Su 02:00-03:00")
	for instant, want := range map[string]hours.State{
		"2026-03-29T02:30":     hours.Closed, // no such time: the next one is 03:00
		"2026-10-25T02:30":     hours.Open,   // both
		"2026-10-25T00:00:00Z": hours.Open,   // the first 02:00
		"2026-10-25T01:59:00Z": hours.Open,   // the second 02:59
		"2026-10-25T02:00:00Z": hours.Closed,
	} {
		if r := at(t, h.String(), instant, berlin, nil); r.State != want {
			t.Errorf("%s: %+v, want %s", instant, r, want)
		}
	}
	if r := h.At(time.Unix(0, 0), nil, nil); r.Reason != hours.ReasonNoZone {
		t.Errorf("no zone: %+v", r)
	}
	// Instants that disagree are not reconciled.
	two, _ := hours.Instants("2026-10-25T02:30", berlin)
	two[1] = two[1].Add(time.Hour)
	if r := h.AtAll(two, berlin, nil); r != (hours.Result{State: hours.Unknown, Reason: hours.ReasonAmbiguous}) {
		t.Errorf("one open, one closed: %+v", r)
	}
}

// 12, 14, 15: the place's own zone decides, and without one nothing does (Yelp/yelp-fusion#25, organicmaps/organicmaps#1642).
func TestZone(t *testing.T) {
	const value, instant = "Mo-Su 19:00-02:00", "2026-07-01T20:46:00Z" // 22:46 in Paris
	home := time.Local
	defer func() { time.Local = home }()
	var answers []string
	for _, name := range []string{"Asia/Tokyo", "UTC", "America/New_York"} {
		time.Local = zone(t, name)
		r := at(t, value, instant, zone(t, "Europe/Paris"), nil)
		text, err := jcs.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, string(text))
		for _, without := range []string{instant, "2026-07-01T22:46"} {
			if r := at(t, value, without, nil, nil); r != (hours.Result{State: hours.Unknown, Reason: "zone_not_published"}) {
				t.Errorf("no zone: %+v", r)
			}
		}
	}
	if answers[0] != `{"state":"open","reason":"rule","rule":"Mo-Su 19:00-02:00"}` || answers[1] != answers[0] || answers[2] != answers[0] {
		t.Errorf("the reader's zone matters: %q", answers)
	}
}

// Midnight to midnight is neither a whole day nor none as a text (alltheplaces/alltheplaces#9796).
func TestMidnightToMidnightIsRefused(t *testing.T) {
	if _, _, err := hours.Parse("Mo-Su 00:00-00:00"); err == nil || !strings.Contains(err.Error(), "00:00-24:00") {
		t.Errorf("%v", err)
	}
	if r := at(t, "Mo-Su 00:00-24:00", "2026-07-01T00:00", time.UTC, nil); r.State != hours.Open {
		t.Errorf("%+v", r)
	}
}

// Rules about holidays are reported where they clash and never guessed (streetcomplete/StreetComplete#1026, osmandapp/OsmAnd#20627).
func TestHolidaysAreNotMisread(t *testing.T) {
	_, warnings, err := hours.Parse("Tu-Th,Su,PH 12:00-23:00, Fr,Sa 12:00-24:00")
	if err != nil || !slices.Equal(codes(warnings), []string{"lint_holiday_overlap"}) {
		t.Errorf("%v %v", warnings, err)
	}
	h := parse(t, "Mo-Fr 09:00-17:00; PH off")
	if r, ok := h.On(hours.Date{Year: 2026, Month: time.December, Day: 24}, 600, nil); !ok || r.State != hours.Unknown {
		t.Errorf("a date without a calendar: %+v", r)
	}
	if r, ok := h.Weekday(time.Thursday, 600, hours.Date{Year: 2026, Month: time.December, Day: 24}); !ok || r.State != hours.Open {
		t.Errorf("a weekday assumes no holiday: %+v", r)
	}
}

func TestWeekday(t *testing.T) {
	from := hours.Date{Year: 2026, Month: time.November, Day: 30}
	for _, c := range []struct {
		value  string
		day    time.Weekday
		minute int
		want   string
	}{
		{"Mo 09:00-17:00", time.Monday, 540, "open rule"},
		{"Apr-Sep We 08:00-15:00; Oct-Mar We 09:00-15:00", time.Wednesday, 600, "open rule"},
		{"Apr-Sep We 08:00-15:00; Oct-Mar We 09:00-15:00", time.Wednesday, 500, "unknown date_needed"},
		{"Sa[1] 09:00-14:00", time.Saturday, 600, "unknown date_needed"},
		{"Sa 09:00-14:00; 2017 Dec 02 off", time.Saturday, 600, "open rule"}, // long past
		{"Sa 09:00-14:00; 2027 Nov 20 off", time.Saturday, 600, "unknown date_needed"},
	} {
		r, ok := parse(t, c.value).Weekday(c.day, c.minute, from)
		if got := string(r.State) + " " + r.Reason; !ok || got != c.want {
			t.Errorf("%s: %s, want %s", c.value, got, c.want)
		}
	}
	h := parse(t, "24/7")
	for _, bad := range []hours.Date{{}, {Year: 2026, Month: 2}, {Year: 2027, Month: 2, Day: 29}, {Month: 2, Day: 1}} {
		if _, ok := h.On(bad, 0, nil); ok {
			t.Errorf("%v is taken for a day", bad)
		}
		if _, ok := h.Weekday(time.Monday, 0, bad); ok {
			t.Errorf("%v is taken for a day", bad)
		}
	}
	if _, ok := h.On(from, 1440, nil); ok {
		t.Error("24:00 is taken for a minute of the day")
	}
}

func TestDeferred(t *testing.T) {
	for value, want := range map[string]bool{
		`"nach Vereinbarung"`: true, `Mo "by phone"; Tu "by mail"`: true, `Mo 10:00-12:00 || "by phone"`: false,
		`off "closed for good"`: false, `Mo 10:00-12:00 "by phone"`: false, "24/7": false,
	} {
		if parse(t, value).Deferred() != want {
			t.Errorf("%s: %v", value, !want)
		}
	}
}

// TestRealValues: of 445 values people wrote 444 are read, 252 of them as they are; of 65 in another notation none.
func TestRealValues(t *testing.T) {
	accepted, canonical := 0, 0
	for _, value := range lines(t, "de_hours.txt") {
		h, warnings, err := hours.Parse(value)
		if err != nil {
			if value != "Tu 07:00-016:00" {
				t.Errorf("%q: %v", value, err)
			}
			continue
		}
		accepted++
		repaired := slices.ContainsFunc(warnings, func(w hours.Warning) bool { return strings.HasPrefix(w.Code, "repair_") })
		if repaired == (h.String() == value) {
			t.Errorf("%q is printed %q with %v", value, h, warnings)
		}
		if !repaired {
			canonical++
		}
		again, warnings, err := hours.Parse(h.String())
		if err != nil || again.String() != h.String() || slices.ContainsFunc(warnings, func(w hours.Warning) bool { return strings.HasPrefix(w.Code, "repair_") }) {
			t.Errorf("%q: %q is not a fixed point: %v %v", value, h, warnings, err)
		}
	}
	if accepted != 444 || canonical != 252 {
		t.Errorf("%d accepted, %d canonical, want 444 and 252", accepted, canonical)
	}
	other := lines(t, "bestbuy_hours.txt")
	for _, value := range other {
		if h, _, err := hours.Parse(value); err == nil {
			t.Errorf("%q is read as %q", value, h)
		}
	}
	if len(other) != 65 {
		t.Errorf("%d values, want 65", len(other))
	}
}

func TestCalendarRefusals(t *testing.T) {
	for _, text := range []string{
		``, `[]`, `null`, `{"public_holidays":null}`, `{"public_holidays":[null]}`, `{"public_holidays":"2026-12-25"}`, `{"public_holidays":["2026-02-30"]}`, `{"public_holidays":["2026-12-25T00:00:00Z"]}`,
		`{"public_holidays":["26-12-25"]}`, `{"public_holidays":["2026-12-25","2026-12-25"]}`, `{"holidays":[]}`, `{"public_holidays":[],"public_holidays":[]}`, `{"school_holidays":[""]}`,
	} {
		if _, err := hours.ParseCalendar([]byte(text)); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}

// TestNew: only rules that the notation says exactly are taken.
func TestNew(t *testing.T) {
	monday := []hours.DayRange{{From: time.Monday, To: time.Monday}}
	morning := []hours.Span{{Start: 480, End: 720}}
	for _, c := range []struct {
		want  string // "" for a refusal
		rules []hours.Rule
	}{
		{"Mo 08:00-12:00", []hours.Rule{{Sep: hours.Replace, Days: monday, Spans: morning}}},
		{"2026 Dec 24-2026 Dec 26 off; Mo 08:00-12:00", []hours.Rule{
			{Sep: hours.Replace, Dates: []hours.DateRange{{From: hours.Date{Year: 2026, Month: 12, Day: 24}, To: hours.Date{Year: 2026, Month: 12, Day: 26}}}, Modifier: hours.ModOff},
			{Sep: hours.Replace, Days: monday, Spans: morning}}},
		{"", nil},
		{"", []hours.Rule{{Days: monday, Spans: morning}}},
		{"", []hours.Rule{{Sep: hours.Add, Days: monday, Spans: morning}}},
		{"", []hours.Rule{{Sep: hours.Replace, Days: monday}}},
		{"", []hours.Rule{{Sep: hours.Replace, Days: monday, Spans: []hours.Span{{Start: 480, End: 480}}}}},
		{"", []hours.Rule{{Sep: hours.Replace, Days: monday, Spans: []hours.Span{{Start: -1, End: 480}}}}},
		{"", []hours.Rule{{Sep: hours.Replace, Days: monday, Spans: []hours.Span{{Start: 480, End: 1561}}}}},
		{"", []hours.Rule{{Sep: hours.Replace, Days: []hours.DayRange{{From: 7, To: 7}}, Spans: morning}}},
		{"", []hours.Rule{{Sep: hours.Replace, Dates: []hours.DateRange{{From: hours.Date{Month: 13}}}, Spans: morning}}},
		{"", []hours.Rule{{Sep: hours.Replace, Dates: []hours.DateRange{{From: hours.Date{Year: 2027, Month: 2, Day: 29}}}, Spans: morning}}},
		{"", []hours.Rule{{Sep: hours.Replace, Comment: `a" || "b`}}},
		{"", []hours.Rule{{Sep: hours.Replace, Comment: "a\nb"}}},
		{"", []hours.Rule{{Sep: hours.Replace, Modifier: "Mo off"}}},
		{"", []hours.Rule{{Sep: hours.Replace, Modifier: "maybe"}}},
		{"", []hours.Rule{{Sep: " ", Days: monday, Spans: morning}}},
		{"", []hours.Rule{{Sep: hours.Replace, Always: true, Spans: morning}}},
		{"", []hours.Rule{{Sep: hours.Replace, Days: monday, Spans: morning}, {Sep: hours.Add, Spans: []hours.Span{{Start: 900, End: 960}}}}}, // would be Monday's
	} {
		h, _, err := hours.New(c.rules)
		var refused *hours.Error
		switch {
		case c.want == "" && !errors.As(err, &refused):
			t.Errorf("%+v is taken as %q (%v)", c.rules, h, err)
		case c.want != "" && (err != nil || h.String() != c.want):
			t.Errorf("%s: %v, %v", c.want, h, err)
		}
	}
	// What is handed out is a copy.
	h := parse(t, "Mo[1] 08:00-12:00")
	h.Rules()[0].Days[0].Nth[0] = 2
	if h.Rules()[0].Days[0].Nth[0] != 1 {
		t.Error("the rules can be changed from outside")
	}
}
