package hours_test

import (
	"testing"
	"time"

	"sayso/business/hours"
)

func BenchmarkAt(b *testing.B) {
	berlin := zone(b, "Europe/Berlin")
	for _, c := range []struct{ name, value string }{
		{"week", "Mo-Fr 09:00-17:00; Sa 10:00-12:00"},
		{"seasons", "Apr-Sep Mo,We,Fr 08:00-14:00; Oct-Mar Mo,We 08:00-14:00; Oct-Mar Fr 08:00-18:00"},
		{"holidays without a calendar", "Mo-Fr 09:00-17:00; PH,SH off"},
	} {
		b.Run(c.name, func(b *testing.B) {
			h := parse(b, c.value)
			instant := time.Date(2026, 12, 24, 10, 0, 0, 0, time.UTC)
			for b.Loop() {
				h.At(instant, berlin, nil)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	values := lines(b, "de_hours.txt")
	for b.Loop() {
		for _, v := range values {
			_, _, _ = hours.Parse(v)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	berlin := zone(b, "Europe/Berlin")
	for _, value := range []string{"Mo-Fr 09:00-17:00", "24/7"} {
		b.Run(value, func(b *testing.B) {
			h := parse(b, value)
			for b.Loop() {
				h.Next(time.Date(2026, 12, 24, 10, 0, 0, 0, time.UTC), berlin, nil)
			}
		})
	}
}
