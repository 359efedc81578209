package answer

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"sayso/business/answer/language"
	"sayso/business/coverage"
	"sayso/business/hours"
	"sayso/jcs"
)

// placesOf finds the locations of an assignment: those named, narrowed by every name, or all. ok is false when none is left.
func (a *asking) placesOf(as *assignment, r *result) (places []int, ok bool) {
	named := as.parts(slotPlace)
	for n, p := range named {
		var of []int
		for _, t := range p.targets {
			if n == 0 || slices.Contains(places, int(t)) {
				of = append(of, int(t))
			}
		}
		places = of
	}
	if len(named) == 0 {
		for i := range a.places {
			places = append(places, i)
		}
	}
	if len(places) == 0 {
		if len(named) > 1 {
			last := named[len(named)-1]
			a.gapAt(r, last.from, last.to, coverage.ReasonRelationNotPublished)
		} else {
			r.gap(coverage.Gap{Field: "location", Reason: coverage.ReasonNotPublished})
		}
		return nil, false
	}
	slices.Sort(places)
	return places, true
}

// pickPlace narrows several locations to the one that bound names. ok is false when the clause waits.
func (a *asking) pickPlace(places []int, word *part, r *result) ([]int, bool) {
	if id, bound := a.request.bound["location"]; bound {
		a.request.taken["location"] = true
		for _, p := range places {
			if a.places[p].ID == id {
				return []int{p}, true
			}
		}
		a.request.refuse("location")
		return places, false
	}
	if span := a.asked(word); span != nil {
		r.references = append(r.references, coverage.Reference{Span: *span, Clause: r.clause, Kind: "location_word"})
	}
	r.need(a.placeDimension(places))
	return places, false
}

func (a *asking) placeDimension(places []int) dimension {
	return dimension{name: "location", kind: "enum", places: places[:min(len(places), maxCandidates)]}
}

// placeFields is shape S5: fields of locations, or whether they are open.
func (a *asking) placeFields(as *assignment, r *result) {
	places, ok := a.placesOf(as, r)
	if !ok {
		return
	}
	if as.part(slotState) != nil {
		a.openness(as, places, r)
		return
	}
	fields := fieldsOf(append(as.parts(slotPlaceField), as.parts(slotHoursField)...))
	if len(places) > 1 && !a.placesAlike(places, fields) {
		if places, ok = a.pickPlace(places, as.part(slotPlace), r); !ok {
			return
		}
	}
	for _, p := range places {
		for _, f := range fields {
			a.statePlace(as, p, f, r)
		}
	}
}

// placeValue is what a location states about a field, nil when it does not.
func (a *asking) placeValue(p int, field string) jcs.Raw {
	l := a.places[p].Location
	text := map[string]string{"hours": l.OpeningHours, "phone": l.Phone, "email": l.Email, "address": cmp.Or(l.Address, l.StreetAddress)}[field]
	if text == "" {
		return nil
	}
	raw, err := jcs.Encode(text)
	if err != nil {
		return nil
	}
	return raw
}

func (a *asking) placesAlike(places []int, fields []string) bool {
	if a.tooMany(places) {
		return false
	}
	for _, f := range fields {
		first := string(a.placeValue(places[0], f))
		if slices.ContainsFunc(places, func(p int) bool { return string(a.placeValue(p, f)) != first }) {
			return false
		}
	}
	return true
}

// tooMany reports whether more locations are meant than an answer lists: then nothing is the same for all of them.
func (a *asking) tooMany(places []int) bool {
	return a.publication.Incomplete || len(places) > a.request.limit
}

// statePlace states one field of one location. Opening hours of a day are stated whole, with the day when it is known.
func (a *asking) statePlace(as *assignment, p int, field string, r *result) {
	value := a.placeValue(p, field)
	prop := coverage.Proposition{Clause: r.clause, Shape: "S5", Asked: a.asked(as.part(slotPlaceField, slotHoursField)), Subject: a.at(a.places[p].ID), Field: field, PublisherValue: value, Verdict: coverage.VerdictPublished}
	if value == nil {
		prop.Verdict = coverage.VerdictNotPublished
		r.fieldGap(field)
	} else {
		r.established = true
		r.facts = append(r.facts, coverage.Fact{Subject: prop.Subject, Field: field, Value: value, Source: "location"})
		r.usage.place(p, field)
	}
	r.fields = append(r.fields, coverage.RequestedField{Clause: r.clause, Field: field, Subject: prop.Subject, Status: prop.Verdict})
	if day := as.part(slotDay); day != nil && value != nil {
		prop.RequestValue = a.text(day)
		w, reason := a.when(as, &a.places[p])
		if reason != "" {
			a.gapAt(r, day.from, day.to, reason)
		}
		prop.Date, prop.Assumes = dateText(w.date), a.places[p].assumes(w)
	}
	if h := as.part(slotHoliday); h != nil && value != nil {
		a.holiday(h, p, r)
	}
	if h := as.part(slotHoursField, slotPlaceField); h != nil && h.pair >= 0 && field == "hours" && as.clause != nil && (as.clause.caller || as.clause.modal) {
		a.gapAt(r, h.from, h.to, coverage.ReasonRelationNotPublished) // "when could you open"
	}
	if t := as.part(slotTime); t != nil {
		a.gapAt(r, t.from, t.to, coverage.ReasonRelationNotPublished) // a time of day asks whether, not when
	}
	r.propositions = append(r.propositions, prop)
}

// holiday says why a question about holidays is not answered: a named holiday has no date here.
func (a *asking) holiday(h *part, p int, r *result) {
	if a.places[p].holidayRule() {
		a.gapAt(r, h.from, h.to, coverage.ReasonUnknownValue)
	} else {
		a.gapAt(r, h.from, h.to, coverage.ReasonHolidayRuleNotPublished)
	}
}

// holidayRule reports whether hours say anything about public holidays.
func (p *place) holidayRule() bool {
	return p.hours != nil && slices.ContainsFunc(p.hours.Rules(), func(r hours.Rule) bool {
		return slices.ContainsFunc(r.Days, func(d hours.DayRange) bool { return d.Holiday == hours.PublicHoliday })
	})
}

// moment is the time that a question is about.
type moment struct {
	weekday time.Weekday
	byDay   bool       // a weekday without a date
	date    hours.Date // a day, zero without
	minute  int        // -1 for the whole day
	now     bool       // an instant
}

// when reads the time of an assignment at a location. The reason says why it is not known there.
func (a *asking) when(as *assignment, p *place) (m moment, reason string) {
	m = moment{minute: -1}
	if t := as.part(slotTime); t != nil {
		m.minute = t.minute
	}
	day := as.part(slotDay)
	switch {
	case day == nil && m.minute >= 0:
		if raw, bound := a.request.bound["date"]; bound {
			m.date, _ = parseDate(raw)
			a.request.taken["date"] = true
			return m, a.past(m.date, p)
		}
		return m, ""
	case day == nil:
		m.now = true
	case day.kind == language.KindWeekday:
		m.weekday, m.byDay = time.Weekday(slices.Index(language.Weekdays, day.values[0])), true
		if raw, bound := a.request.bound["date"]; bound {
			a.request.taken["date"] = true
			if d, ok := parseDate(raw); ok && weekdayOf(d) == m.weekday {
				m.date, m.byDay = d, false
				return m, a.past(d, p)
			}
			a.request.refuse("date")
		}
		return m, ""
	case day.kind == language.KindDate:
		m.date = day.date
		if m.date.Year == 0 {
			m.date = nextDate(day.date, a.local(p))
		}
		if reason := a.past(m.date, p); reason != "" {
			return m, reason
		}
		if len(day.values) > 0 && weekdayOf(m.date) != time.Weekday(slices.Index(language.Weekdays, day.values[0])) {
			return m, coverage.ReasonUnknownValue // the date is another day of the week
		}
		return m, ""
	default:
		if m.now = day.values[0] == "now"; m.now && m.minute >= 0 {
			return m, coverage.ReasonRelationNotPublished
		}
	}
	if p.zone == nil {
		return m, coverage.ReasonZoneNotPublished
	}
	today := a.local(p)
	if day != nil && day.values[0] == "tomorrow" {
		today = today.AddDate(0, 0, 1)
	}
	m.date = hours.Date{Year: today.Year(), Month: today.Month(), Day: today.Day()}
	return m, ""
}

// past says that a day is over: the hours published now are not what it had.
func (a *asking) past(d hours.Date, p *place) string {
	if today := a.local(p); time.Date(d.Year, d.Month, d.Day, 23, 59, 59, 0, today.Location()).Before(today) {
		return coverage.ReasonUnknownValue
	}
	return ""
}

// local is the time of the call at a location; in UTC where it has no zone.
func (a *asking) local(p *place) time.Time {
	if p.zone == nil {
		return a.call.Now.UTC()
	}
	return a.call.Now.In(p.zone)
}

// nextDate is the first such day from today on.
func nextDate(d hours.Date, today time.Time) hours.Date {
	for y := today.Year(); y < today.Year()+9; y++ {
		t := time.Date(y, d.Month, d.Day, 23, 59, 59, 0, today.Location())
		if t.Day() == d.Day && !t.Before(today) {
			return hours.Date{Year: y, Month: d.Month, Day: d.Day}
		}
	}
	return d
}

func weekdayOf(d hours.Date) time.Weekday {
	return time.Date(d.Year, d.Month, d.Day, 12, 0, 0, 0, time.UTC).Weekday()
}

func parseDate(text string) (hours.Date, bool) {
	t, err := time.Parse(time.DateOnly, text)
	return hours.Date{Year: t.Year(), Month: t.Month(), Day: t.Day()}, err == nil
}

// assumes is what an answer about a day takes for granted.
func (p *place) assumes(m moment) []string {
	if m.now || !m.byDay && (m.date.Day == 0 || p.holidayRule()) {
		return nil
	}
	return []string{"no_public_holiday"}
}

// opening is whether one location is open at the time asked.
type opening struct {
	moment  moment
	verdict string
	reason  string // why it is unknown; date_needed when a date would tell
}

const dateNeeded = "date"

// openness answers whether locations are open.
func (a *asking) openness(as *assignment, places []int, r *result) {
	if day := as.part(slotDay); day != nil && len(day.values) > 1 {
		a.gapAt(r, day.from, day.to, coverage.ReasonRelationNotPublished)
		return
	}
	judged := make([]opening, len(places))
	for n, p := range places {
		judged[n] = a.judgeOpen(as, &a.places[p])
	}
	differ := slices.ContainsFunc(judged, func(o opening) bool { return o.verdict != judged[0].verdict || o.reason != judged[0].reason })
	needsDate := slices.ContainsFunc(judged, func(o opening) bool { return o.reason == dateNeeded })
	if len(places) > 1 && (differ || needsDate || judged[0].verdict == coverage.VerdictUnknown || a.tooMany(places)) {
		picked, ok := a.pickPlace(places, as.part(slotPlace), r)
		if !ok {
			if needsDate {
				r.need(dimension{name: "date", kind: "date"})
			}
			return
		}
		places, judged = picked, []opening{a.judgeOpen(as, &a.places[picked[0]])}
	}
	if judged[0].reason == dateNeeded {
		r.need(dimension{name: "date", kind: "date"})
		return
	}
	for n, p := range places {
		a.stateOpen(as, p, judged[n], r)
	}
}

// stateOpen adds the proposition about one location. Its hours are published even where the verdict is unknown.
func (a *asking) stateOpen(as *assignment, p int, o opening, r *result) {
	state := as.part(slotState)
	value := a.placeValue(p, "hours")
	prop := coverage.Proposition{
		Clause: r.clause, Shape: "S5", Asked: a.asked(state), Subject: a.at(a.places[p].ID), Field: "hours", PublisherValue: value,
		Verdict: o.verdict, Date: dateText(o.moment.date),
	}
	if day := as.part(slotDay, slotTime); day != nil {
		prop.RequestValue = a.text(day)
	}
	if value == nil {
		r.fieldGap("hours")
	} else {
		r.established = true
		r.facts = append(r.facts, coverage.Fact{Subject: prop.Subject, Field: "hours", Value: value, Source: "location"})
		r.usage.place(p, "hours")
		if h := as.part(slotHoliday); h != nil {
			a.holiday(h, p, r)
		}
	}
	if as.clause.caller || as.clause.modal {
		a.gapAt(r, state.from, state.to, coverage.ReasonRelationNotPublished) // "can I open a shop at Harbour", "could you open on Sunday"
	} else if o.verdict == coverage.VerdictUnknown && value != nil && o.reason != "" {
		word := as.part(slotDay, slotTime, slotState)
		if o.moment.minute >= 0 && o.reason == coverage.ReasonRelationNotPublished {
			word = as.part(slotTime)
		}
		a.gapAt(r, word.from, word.to, o.reason)
	}
	if o.verdict != coverage.VerdictUnknown {
		prop.Assumes = a.places[p].assumes(o.moment)
	}
	r.fields = append(r.fields, coverage.RequestedField{Clause: r.clause, Field: "hours", Subject: prop.Subject, Status: map[bool]string{true: coverage.VerdictNotPublished, false: coverage.VerdictPublished}[value == nil]})
	r.propositions = append(r.propositions, prop)
	r.polarity = append(r.polarity, prop.Verdict)
}

// judgeOpen evaluates the hours of one location.
func (a *asking) judgeOpen(as *assignment, p *place) opening {
	o := opening{verdict: coverage.VerdictUnknown}
	if p.hours == nil {
		return o
	}
	if as.part(slotHoliday) != nil {
		return o // holiday gives the reason
	}
	if o.moment, o.reason = a.when(as, p); o.reason != "" {
		return o
	}
	result := a.stateAt(p, o.moment)
	switch result.State {
	case hours.Open:
		o.verdict = coverage.VerdictTrue
	case hours.Closed:
		o.verdict = coverage.VerdictFalse
	default:
		o.reason = map[string]string{hours.ReasonDateNeeded: dateNeeded, hours.ReasonHolidayUnknown: coverage.ReasonHolidayRuleNotPublished, hours.ReasonNoZone: coverage.ReasonZoneNotPublished}[result.Reason]
		o.reason = cmp.Or(o.reason, coverage.ReasonUnknownValue)
	}
	if as.part(slotState).values[0] == "closed" {
		o.verdict = negate(o.verdict)
	}
	if before := o.moment; o.verdict == coverage.VerdictTrue && as.part(slotState).moment && before.minute >= 0 {
		before.minute--
		if before.minute < 0 || a.stateAt(p, before).State == result.State {
			o.verdict, o.reason = coverage.VerdictUnknown, coverage.ReasonRelationNotPublished // it is open then, and does not open then
		}
	}
	return o
}

// stateAt is whether a location is open at a moment.
func (a *asking) stateAt(p *place, m moment) (result hours.Result) {
	switch {
	case m.now:
		result = p.hours.At(a.call.Now, p.zone, a.calendar)
	case m.minute >= 0 && m.byDay:
		result, _ = p.hours.Weekday(m.weekday, m.minute, a.today(p))
	case m.minute >= 0 && m.date.Day == 0:
		result = a.everyDay(p, m.minute)
	case m.minute >= 0:
		result, _ = p.hours.On(m.date, m.minute, a.calendar)
	default:
		result = a.openDay(p, m)
	}
	return result
}

func (a *asking) today(p *place) hours.Date {
	t := a.local(p)
	return hours.Date{Year: t.Year(), Month: t.Month(), Day: t.Day()}
}

// everyDay answers for a time of day without a day: the same on each day of the week, or a date is needed.
func (a *asking) everyDay(p *place, minute int) hours.Result {
	var first hours.Result
	for w := range 7 {
		result, _ := p.hours.Weekday(time.Weekday(w), minute, a.today(p))
		if w == 0 {
			first = result
		}
		if result.State != first.State || result.Reason == hours.ReasonDateNeeded {
			return hours.Result{State: hours.Unknown, Reason: hours.ReasonDateNeeded}
		}
	}
	return first
}

// openDay answers for a whole day: open when an interval starts on it. A rule that starts at a minute and decides it there starts an interval; a rule without
// times starts one at midnight.
func (a *asking) openDay(p *place, m moment) hours.Result {
	at := func(minute int) hours.Result {
		var r hours.Result
		if m.byDay {
			r, _ = p.hours.Weekday(m.weekday, minute, a.today(p))
		} else {
			r, _ = p.hours.On(m.date, minute, a.calendar)
		}
		return r
	}
	out := hours.Result{State: hours.Closed}
	for _, rule := range p.hours.Rules() {
		starts := []int{0}
		if len(rule.Spans) > 0 {
			starts = starts[:0]
			for _, s := range rule.Spans {
				starts = append(starts, s.Start)
			}
		}
		for _, minute := range starts {
			switch r := at(minute); {
			case r.State == hours.Open && r.Rule == rule.String():
				return r
			case r.State == hours.Unknown && (r.Reason == hours.ReasonDateNeeded || r.Reason == hours.ReasonHolidayUnknown || r.Rule == rule.String()):
				out = r
			}
		}
	}
	return out
}

// nearestPlace is shape S9: from where the caller is, which only the caller can say.
func (a *asking) nearestPlace(as *assignment, r *result) {
	if !a.placed() {
		r.gap(coverage.Gap{Field: "coordinates", Reason: coverage.ReasonNoCoordinates})
		return
	}
	if a.request.from == nil {
		r.need(dimension{name: "caller_location", kind: "geo"})
		return
	}
	a.request.taken["caller_location"] = true
	reach := reach{from: a.request.from}
	if p := as.part(slotDistance); p != nil {
		if p.compare.Op != "le" {
			a.gapAt(r, p.from, p.to, coverage.ReasonRelationNotPublished)
			return
		}
		reach.bound, _ = convert(p.compare.Literal.Value, p.compare.Literal.Unit, "m")
		a.criterion(p, "distance", r)
	}
	near, unplaced := a.around(reach)
	for range unplaced {
		r.gap(coverage.Gap{Field: "coordinates", Reason: coverage.ReasonNoCoordinates})
		break
	}
	limit := a.request.limit
	if as.part(slotNearest) != nil {
		limit = 1
		for limit < min(len(near), maxOptions) && near[limit].metres == near[0].metres {
			limit++ // equally near
		}
	}
	for n, f := range near {
		if n == limit {
			r.incomplete = r.incomplete || as.part(slotNearest) == nil || f.metres == near[0].metres
			break
		}
		i := a.place[f.ID]
		r.usage.place(i, "")
		set(&r.usage.distance, i, f.metres)
		r.propositions = append(r.propositions, coverage.Proposition{Clause: r.clause, Shape: "S9", Asked: a.asked(as.part(slotNearest, slotDistance)), Subject: a.at(f.ID), Field: "distance", Verdict: coverage.VerdictPublished})
	}
	r.established = true
}

// dateText is a day as answers echo it.
func dateText(d hours.Date) string {
	if d.Month == 0 {
		return ""
	}
	return fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day)
}
