package facts_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sayso/facts"
)

func date(t testing.TB, s string) facts.Date {
	t.Helper()
	if s == "" {
		return 0
	}
	d, err := facts.ParseDate(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Every day of the calendar, against package time.
func TestDateEveryDay(t *testing.T) {
	day := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	var got, want []byte
	for d := facts.Date(1); d <= facts.MaxDate; d++ {
		got, want = d.Append(got[:0]), day.AppendFormat(want[:0], time.DateOnly)
		if string(got) != string(want) {
			t.Fatalf("day %d is written %s, want %s", d, got, want)
		}
		if parsed, err := facts.ParseDate(string(want)); err != nil || parsed != d {
			t.Fatalf("%s is read as %d (%v), want %d", want, parsed, err, d)
		}
		day = day.AddDate(0, 0, 1)
	}
	if day.Year() != 10000 {
		t.Fatalf("MaxDate is the day before %v", day)
	}
}

func TestDateOfIsTheUTCDay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone := time.FixedZone("", rapid.IntRange(-14*3600, 14*3600).Draw(t, "offset"))
		instant := time.Unix(rapid.Int64Range(-62_135_596_800, 253_402_300_799).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanos")).In(zone)
		d := facts.DateOf(instant)
		year, month, day := instant.UTC().Date()
		if y, m, dd := d.Civil(); y != year || m != month || dd != day {
			t.Fatalf("DateOf(%v) = %v", instant, d)
		}
		if at := d.Time(); at.Location() != time.UTC || !at.Equal(instant.UTC().Truncate(24*time.Hour)) {
			t.Fatalf("Time of %v is %v", d, at)
		}
	})
}

// T2 of F§14: clocks far apart give one answer.
func TestDateT2Zones(t *testing.T) {
	west := time.Date(2026, 4, 5, 23, 30, 0, 0, time.FixedZone("", -5*3600))
	east := time.Date(2026, 4, 6, 17, 30, 0, 0, time.FixedZone("", 13*3600))
	if a, b := facts.DateOf(west), facts.DateOf(east); a != b || a.String() != "2026-04-06" {
		t.Fatalf("one instant is %v and %v", a, b)
	}
	for _, outside := range []time.Time{time.Date(0, 12, 31, 23, 59, 59, 0, time.UTC), time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), {}} {
		want := facts.Date(0)
		if outside.IsZero() {
			want = 1
		}
		if got := facts.DateOf(outside); got != want {
			t.Errorf("DateOf(%v) = %d, want %d", outside, got, want)
		}
	}
}

func TestParseDateRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "write YYYY-MM-DD",
		"2026-02-29":               "not a calendar day",
		"1900-02-29":               "not a calendar day",
		"2026-04-31":               "not a calendar day",
		"2026-13-01":               "not a calendar day",
		"2026-00-10":               "not a calendar day",
		"2026-01-00":               "not a calendar day",
		"0000-01-01":               "not a calendar day",
		"2026-1-01":                "write YYYY-MM-DD",
		"2026-01-1":                "write YYYY-MM-DD",
		"20260101":                 "write YYYY-MM-DD",
		"2026/01/01":               "write YYYY-MM-DD",
		" 2026-01-01":              "write YYYY-MM-DD",
		"2026-01-01T00:00:00Z":     "write YYYY-MM-DD",
		"-026-01-01":               "write YYYY-MM-DD",
		"+026-01-01":               "write YYYY-MM-DD",
		"2026-01-0\n":              "write YYYY-MM-DD",
		"２０２６-01-01":               "write YYYY-MM-DD",
		strings.Repeat("9", 10000): "…",
	} {
		d, err := facts.ParseDate(text)
		if err == nil || d != 0 || !strings.Contains(err.Error(), want) || len(err.Error()) > 200 {
			t.Errorf("ParseDate(%.20q) = %v, %v; want an error with %q", text, d, err, want)
		}
	}
}

func TestDateJSON(t *testing.T) {
	for text, want := range map[string]facts.Date{"null": 0, `"0001-01-01"`: 1, `"2024-02-29"`: date(t, "2024-02-29"), `"9999-12-31"`: facts.MaxDate} {
		var d facts.Date
		if err := d.UnmarshalJSON([]byte(text)); err != nil || d != want {
			t.Errorf("%s is read as %v, %v", text, d, err)
		}
		if out, err := want.MarshalJSON(); err != nil || string(out) != text {
			t.Errorf("%d is written %s, %v", want, out, err)
		}
	}
	for _, text := range []string{``, `"`, `""`, `1`, `true`, `"2026-02-30"`, `2026-01-01`} {
		d := facts.Date(7)
		if err := d.UnmarshalJSON([]byte(text)); err == nil || d != 7 {
			t.Errorf("%s is read as %v, %v", text, d, err)
		}
	}
	for _, d := range []facts.Date{-1, facts.MaxDate + 1} {
		if out, err := d.MarshalJSON(); err == nil {
			t.Errorf("%d is written %s", d, out)
		}
		if d.String() == "" {
			t.Errorf("%d prints nothing", d)
		}
	}
}

func TestDateAddDaysSaturates(t *testing.T) {
	d := date(t, "2026-12-31")
	for n, want := range map[int]string{0: "2026-12-31", 1: "2027-01-01", -365: "2025-12-31", 1 << 40: "9999-12-31", -1 << 40: "0001-01-01"} {
		if got := d.AddDays(n).String(); got != want {
			t.Errorf("AddDays(%d) = %s, want %s", n, got, want)
		}
	}
	if got := facts.Date(0).AddDays(5); got != 0 {
		t.Errorf("no date and five days is %v", got)
	}
}

func FuzzParseDate(f *testing.F) {
	for _, seed := range []string{"2026-04-06", "2024-02-29", "1900-02-29", "0000-01-01", "9999-12-31", "2026-1-1", "2026-04-06T00:00:00Z", "2026-04-0\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := facts.ParseDate(text)
		at, timeErr := time.Parse(time.DateOnly, text)
		if wanted := timeErr == nil && at.Year() > 0; (err == nil) != wanted {
			t.Fatalf("%q: %v, package time says %v", text, err, timeErr)
		}
		if err == nil && (d.String() != text || !d.Time().Equal(at)) {
			t.Fatalf("%q is read as %v", text, d)
		}
	})
}
