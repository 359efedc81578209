package facts_test

import (
	"regexp"
	"strings"
	"testing"

	"sayso/facts"
)

// The table of F§4.2, row by row.
func TestParseDuration(t *testing.T) {
	for text, want := range map[string]int{
		"30d": 30, "P30D": 30, "12w": 84, "P12W": 84, "6m": 180, "P6M": 180, "1y": 365, "P1Y": 365, "P1Y6M": 545, "0d": 0, "P0D": 0,
		"P1Y6M10D": 555, "P1Y1D": 366, "36500d": 36500, "100y": 36500, "00030d": 30, "P0Y0M0D": 0,
	} {
		if got, err := facts.ParseDuration(text); err != nil || got != want {
			t.Errorf("%s is %d days, %v; want %d", text, got, err, want)
		}
	}
}

func TestParseDurationRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"PT24H": "time part", "P1DT0H": "time part", "P1DT": "time part",
		"2w3d": "whole days", "1.5d": "whole days", "P0.5D": "whole days", "-1d": "whole days", "+1d": "whole days", "P-1D": "whole days", "-P1D": "whole days",
		"30": "whole days", "30D": "whole days", "30 d": "whole days", " 30d": "whole days", "30d ": "whole days", "P": "nothing follows P", "": "empty",
		"36501d": "longer than 36500 days", "101y": "longer than", "P100Y1D": "longer than", "99999y": "longer than", "1000000d": "whole days",
		"P1M1Y": "whole days", "P1D1D": "whole days", "P1Y1W": "weeks stand alone", "P1W1D": "weeks stand alone", "P1": "whole days", "PD": "whole days", "p30d": "whole days", "P30d": "whole days",
		"1h": "whole days", "d": "whole days", "1dd": "whole days", "１d": "whole days", "30d\n": "whole days", strings.Repeat("1", 1000) + "d": "…",
	} {
		_, err := facts.ParseDuration(text)
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 250 {
			t.Errorf("%.20q: %v, want an error with %q", text, err, want)
		}
	}
}

// The grammar as the specification writes it.
var durations = []*regexp.Regexp{
	regexp.MustCompile(`^[0-9]{1,5}[dwmy]$`),
	regexp.MustCompile(`^P([0-9]{1,5}Y)?([0-9]{1,5}M)?([0-9]{1,5}D)?$`),
	regexp.MustCompile(`^P[0-9]{1,5}W$`),
}

func FuzzParseDuration(f *testing.F) {
	for _, seed := range []string{"30d", "P1Y6M", "P12W", "PT24H", "P", "1000000d", "99999y", "P1D1Y", "2w3d", "P0.5D"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		days, err := facts.ParseDuration(text)
		shaped := false
		for _, grammar := range durations {
			shaped = shaped || grammar.MatchString(text) && text != "P"
		}
		switch {
		case err == nil && (!shaped || days < 0 || days > facts.MaxDurationDays):
			t.Fatalf("%q is %d days", text, days)
		case err != nil && shaped && !strings.Contains(err.Error(), "longer than"):
			t.Fatalf("%q is refused: %v", text, err)
		}
	})
}
