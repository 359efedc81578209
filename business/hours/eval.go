package hours

import "time"

// At evaluates at an instant in the place's own zone; zone nil gives unknown, zone_not_published.
func (h *Hours) At(instant time.Time, zone *time.Location, c *Calendar) Result {
	if zone == nil {
		return Result{State: Unknown, Reason: ReasonNoZone}
	}
	local := instant.In(zone)
	return h.on(civilOf(local), local.Hour()*60+local.Minute(), c)
}

// AtAll evaluates at each of several instants that may be meant (see [Instants]). When their states differ the result is unknown, ambiguous; without a
// zone it is that of [Hours.At]. There must be an instant when there is a zone.
func (h *Hours) AtAll(instants []time.Time, zone *time.Location, c *Calendar) Result {
	if zone == nil {
		return Result{State: Unknown, Reason: ReasonNoZone}
	}
	first := h.At(instants[0], zone, c)
	for _, instant := range instants[1:] {
		if h.At(instant, zone, c).State != first.State {
			return Result{State: Unknown, Reason: ReasonAmbiguous}
		}
	}
	return first
}

// On evaluates at a local minute (0 to 1439) of a day, which needs no zone. ok is false when d is no day with a year or minute is out of range.
func (h *Hours) On(d Date, minute int, c *Calendar) (r Result, ok bool) {
	day, ok := d.civil()
	if !ok || minute < 0 || minute >= dayMinutes {
		return Result{}, false
	}
	return h.on(day, minute, c), true
}

// Weekday evaluates at a local minute (0 to 1439) of a weekday without a date and assumes that it is no holiday. The result holds for every such weekday
// of the 366 days from the day from; when they are not all the same it is unknown, date_needed. ok is as for [Hours.On].
func (h *Hours) Weekday(w time.Weekday, minute int, from Date) (r Result, ok bool) {
	day, ok := from.civil()
	if !ok || minute < 0 || minute >= dayMinutes || w < time.Sunday || w > time.Saturday {
		return Result{}, false
	}
	day = day.plus(int(w-day.weekday+7) % 7)
	r = h.decide(day, minute, world{})
	for n := 7; n < 366; n += 7 {
		if other := h.decide(day.plus(n), minute, world{}); other.State != r.State {
			return Result{State: Unknown, Reason: ReasonDateNeeded}, true
		}
	}
	return r, true
}

// world says which of the two days that matter are holidays: [0] is the day itself, [1] the day before.
type world struct{ public, school [2]bool }

// on evaluates in every world that the calendar leaves possible.
func (h *Hours) on(day civil, minute int, c *Calendar) Result {
	if !h.public && !h.school {
		return h.decide(day, minute, world{})
	}
	worlds := make([]world, 1, 16)
	for i, d := range []civil{day, day.plus(-1)} {
		public, school := c.fates(d)
		if h.public {
			worlds = branch(worlds, public, func(w *world) *bool { return &w.public[i] })
		}
		if h.school {
			worlds = branch(worlds, school, func(w *world) *bool { return &w.school[i] })
		}
	}
	first := h.decide(day, minute, worlds[0])
	for _, w := range worlds[1:] {
		if other := h.decide(day, minute, w); other.State != first.State {
			return Result{State: Unknown, Reason: ReasonHolidayUnknown, Rule: h.holidayRule()}
		}
	}
	return first
}

// branch sets the place in every world to what is known, and doubles the worlds when nothing is.
func branch(worlds []world, f fate, place func(*world) *bool) []world {
	if f == no {
		return worlds
	}
	n := len(worlds)
	if f == maybe {
		worlds = append(worlds, worlds...)
	}
	for i := len(worlds) - n; i < len(worlds); i++ {
		*place(&worlds[i]) = true
	}
	return worlds
}

// holidayRule is the text of the last rule about holidays.
func (h *Hours) holidayRule() (text string) {
	for i := range h.rules {
		if h.rules[i].holidays() {
			text = h.rules[i].text
		}
	}
	return text
}

// decide gives the state in one world. Only the day before can spill into a day, because no span is longer than 26 hours.
func (h *Hours) decide(day civil, minute int, w world) Result {
	before := day.plus(-1)
	cut, cutBefore := h.replaced(day, w, 0), h.replaced(before, w, 1)
	decided := -1
	for i := cut; i < len(h.rules); i++ {
		r := &h.rules[i]
		if r.Sep == Fallback && decided >= 0 {
			continue
		}
		if r.covers(minute) && r.matches(day, w, 0) || i >= cutBefore && r.covers(minute+dayMinutes) && r.matches(before, w, 1) {
			decided = i
		}
	}
	if decided < 0 {
		return Result{State: Closed, Reason: ReasonNoRule}
	}
	return h.rules[decided].result()
}

// replaced is the number of rules at the front that a later rule replaces on the day.
func (h *Hours) replaced(day civil, w world, i int) int {
	for k := len(h.rules) - 1; k > 0; k-- {
		if r := &h.rules[k]; r.Sep == Replace && r.matches(day, w, i) {
			return k
		}
	}
	return 0
}

func (r *rule) matches(day civil, w world, i int) bool {
	found := len(r.Dates) == 0
	for _, d := range r.Dates {
		found = found || d.contains(day)
	}
	if !found || len(r.Days) == 0 {
		return found
	}
	for _, d := range r.Days {
		if d.contains(day, w.public[i], w.school[i]) {
			return true
		}
	}
	return false
}

// covers reports whether the rule covers a minute counted from midnight of a day that it matches.
func (r *rule) covers(minute int) bool {
	if len(r.Spans) == 0 {
		return minute < dayMinutes
	}
	for _, s := range r.Spans {
		if s.Start <= minute && minute < s.Until() {
			return true
		}
	}
	return false
}

func (r *rule) result() Result {
	out := Result{State: r.State(), Reason: ReasonRule, Rule: r.text}
	if out.State == Unknown {
		out.Reason = ReasonStatedUnknown
		if r.Modifier == "" {
			out.Reason = ReasonComment
		}
	}
	return out
}
