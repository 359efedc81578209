package hours

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Instants reads a time as a person types it: RFC 3339 with an offset, or a local time of the zone without one, "2026-03-29T02:30" with optional seconds.
// A local time that occurs twice when clocks are set back gives both instants, the earlier one first. One that clocks set forward skip gives the next
// valid instant, which is that of the change. Without a zone a local time names no instant and the list is empty. The error says what to write.
func Instants(text string, zone *time.Location) ([]time.Time, error) {
	if t, ok := rfc3339(text); ok {
		return []time.Time{t.UTC()}, nil
	}
	local := text
	if len(local) == len("2006-01-02T15:04") {
		local += ":00"
	}
	wall, ok := rfc3339(local + "Z")
	if !ok || len(local) != len("2006-01-02T15:04:05") {
		return nil, fmt.Errorf("%q is not a time: write RFC 3339 such as 2026-03-29T02:30:00+02:00, or a local time such as 2026-03-29T02:30", clip(text))
	}
	if zone == nil {
		return nil, nil
	}
	return localInstants(wall, zone), nil
}

// rfc3339 is time.Parse without what that takes beyond the RFC: an hour of one digit, a comma before fractions, offsets that are no time of day.
func rfc3339(text string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || text[len("2006-01-02T15")] != ':' || strings.Contains(text, ",") {
		return time.Time{}, false
	}
	offset := text[len(text)-len("07:00"):]
	return t, strings.HasSuffix(text, "Z") || offset[:2] <= "23" && offset[3:] <= "59"
}

// AtText evaluates at a time read by [Instants]. The error is that of Instants; a zone that is nil gives unknown, zone_not_published.
func (h *Hours) AtText(text string, zone *time.Location, c *Calendar) (Result, error) {
	instants, err := Instants(text, zone)
	if err != nil {
		return Result{}, err
	}
	return h.AtAll(instants, zone, c), nil
}

// localInstants gives the instants at which clocks in the zone show what wall shows in UTC, or that of the change that skips it.
func localInstants(wall time.Time, zone *time.Location) []time.Time {
	year, month, day := wall.Date()
	guess := time.Date(year, month, day, wall.Hour(), wall.Minute(), wall.Second(), 0, zone)
	start, end := guess.ZoneBounds()
	near := []time.Time{guess}
	if !start.IsZero() {
		near = append(near, start.Add(-time.Second))
	}
	if !end.IsZero() {
		near = append(near, end)
	}
	var out []time.Time
	for _, t := range near {
		candidate := wall.Add(-offset(t)).UTC()
		if offset(candidate.In(zone)) == offset(t) && !slices.ContainsFunc(out, candidate.Equal) {
			out = append(out, candidate)
		}
	}
	if len(out) > 0 {
		slices.SortFunc(out, time.Time.Compare)
		return out
	}
	// The guess lies on one side of the change: after it when its clock has passed the time that was skipped.
	if guess.Add(offset(guess)).After(wall) {
		return []time.Time{start.UTC()}
	}
	return []time.Time{end.UTC()}
}

// offset is how far clocks are ahead of UTC at t in its location.
func offset(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}
