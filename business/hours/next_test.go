package hours_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"sayso/business/hours"
)

func TestNext(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	for _, c := range []struct{ value, from, want string }{
		{"Mo-Fr 09:00-17:00", "2026-11-30T10:00", "2026-11-30T16:00:00Z closed"},
		{"Mo-Fr 09:00-17:00", "2026-11-27T17:00", "2026-11-30T08:00:00Z open"},
		{"Mo-Su 22:00-02:00", "2026-11-30T23:00", "2026-12-01T01:00:00Z closed"},
		{"Su 00:00-02:30", "2026-03-29T01:00", "2026-03-29T01:00:00Z closed"},     // 02:30 is skipped
		{"Su 00:00-02:30", "2026-10-25T00:30", "2026-10-25T00:30:00Z closed"},     // the first 02:30
		{"Su 00:00-02:30", "2026-10-25T00:45:00Z", "2026-10-25T01:00:00Z open"},   // 02:45 and then 02:00 again
		{"Su 00:00-02:30", "2026-10-25T01:15:00Z", "2026-10-25T01:30:00Z closed"}, // the second 02:30
		{"24/7", "2026-11-30T10:00", ""},
		{"2017 Apr 06 08:00-18:00", "2026-11-30T10:00", ""},
		{"Mo-Fr 09:00-17:00; PH off", "2026-11-30T08:00", "2026-11-30T08:00:00Z unknown"},
	} {
		from, err := hours.Instants(c.from, berlin)
		if err != nil {
			t.Fatal(err)
		}
		change, r, ok := parse(t, c.value).Next(from[0], berlin, nil)
		got := ""
		if ok {
			got = change.Format(time.RFC3339) + " " + string(r.State)
		}
		if got != c.want {
			t.Errorf("%s from %s: %q, want %q", c.value, c.from, got, c.want)
		}
	}
	if _, _, ok := parse(t, "24/7; Mo off").Next(time.Unix(0, 0), nil, nil); ok {
		t.Error("a change without a zone")
	}
}

// TestNextIsTheFirstChange walks minute by minute, through clock changes too.
func TestNextIsTheFirstChange(t *testing.T) {
	zones := []*time.Location{zone(t, "Europe/Berlin"), zone(t, "America/Sao_Paulo"), zone(t, "Australia/Lord_Howe"), time.UTC}
	starts := []string{"2026-03-28T20:00:00Z", "2026-10-24T20:00:00Z", "2018-02-17T20:00:00Z", "2018-11-03T20:00:00Z", "2026-04-04T06:00:00Z", "2026-10-03T06:00:00Z"}
	rapid.Check(t, func(t *rapid.T) {
		h, _, err := hours.New(someRules(t))
		if err != nil {
			t.Skip("the notation cannot say it")
		}
		z := rapid.SampledFrom(zones).Draw(t, "zone")
		from, _ := time.Parse(time.RFC3339, rapid.SampledFrom(starts).Draw(t, "start"))
		from = from.Add(time.Duration(rapid.IntRange(0, 600).Draw(t, "minutes")) * time.Minute)
		change, r, ok := h.Next(from, z, nil)
		state := h.At(from, z, nil).State
		for n := 1; n <= 2*24*60; n++ {
			instant := from.Add(time.Duration(n) * time.Minute)
			if now := h.At(instant, z, nil); now.State != state {
				if !ok || !change.Equal(instant) || r != now {
					t.Fatalf("%s in %s from %s: %v %s %+v, want %s %+v", h, z, from, ok, change, r, instant, now)
				}
				return
			}
		}
		if ok && change.Before(from.Add(2*24*time.Hour)) {
			t.Fatalf("%s in %s from %s: nothing changes at %s", h, z, from, change)
		}
	})
}
