package hours

import (
	"slices"
	"time"
)

// NextWithin is how many local days [Hours.Next] looks ahead.
const NextWithin = 400

// Next is the first instant after the one given at which the state is another one, and the result from then on. ok is false when there is none on the
// day of the instant or the [NextWithin] days after it, or when zone is nil. Changes of the clocks are taken into account.
func (h *Hours) Next(instant time.Time, zone *time.Location, c *Calendar) (change time.Time, r Result, ok bool) {
	if zone == nil {
		return time.Time{}, Result{}, false
	}
	now := h.At(instant, zone, c).State
	minutes := h.edges()
	first := civilOf(instant.In(zone))
	for n := range NextWithin + 1 {
		day := first.plus(n)
		for _, t := range moments(day, minutes, zone) {
			if !t.After(instant) {
				continue
			}
			if r = h.At(t, zone, c); r.State != now {
				return t, r, true
			}
		}
	}
	return time.Time{}, Result{}, false
}

// edges are the minutes of a day at which the state can change, in order.
func (h *Hours) edges() []int {
	edges := []int{0}
	for _, r := range h.rules {
		for _, s := range r.Spans {
			edges = append(edges, s.Start, s.Until()%dayMinutes)
		}
	}
	slices.Sort(edges)
	return slices.Compact(edges)
}

// moments are the instants of a local day at which its clock shows one of the minutes or is changed, in order.
func moments(day civil, minutes []int, zone *time.Location) []time.Time {
	midnight := time.Date(day.year, day.month, day.day, 0, 0, 0, 0, time.UTC)
	var out []time.Time
	for _, m := range minutes {
		out = append(out, localInstants(midnight.Add(time.Duration(m)*time.Minute), zone)...)
	}
	_, end := out[0].In(zone).ZoneBounds()
	if last := localInstants(midnight.Add(24*time.Hour), zone)[0]; !end.IsZero() && end.Before(last) {
		out = append(out, end.UTC())
		slices.SortFunc(out, time.Time.Compare)
	}
	return out
}
