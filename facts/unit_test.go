package facts_test

import (
	"testing"

	"sayso/facts"
)

func TestCheckUnit(t *testing.T) {
	for _, unit := range []string{"", "%", "GBP", "GBP/year", "EUR/month", "USD/hour", "GBP/week", "JPY/day", "hour", "day", "week", "month", "year", "date", "rule", "FRF/hour", "SLE"} {
		if !facts.CheckUnit(unit) {
			t.Errorf("%q is refused", unit)
		}
	}
	for _, unit := range []string{"/1", "GBP/", "GBP/Jahr", "gbp", "GBP/hours", "%/year", "ABC", "AB", "D A", "ED ", "GBP/year/day", "currency", "days", " GBP", "null"} {
		if facts.CheckUnit(unit) {
			t.Errorf("%q is accepted", unit)
		}
	}
}
