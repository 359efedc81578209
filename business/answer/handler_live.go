package answer

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"sayso/business"
	"sayso/business/coverage"
	"sayso/jcs"
)

// errNoReadings is a fault of this side: without the readings nothing can be said about them, least of all that there are none (XP-COVERAGE-009).
var errNoReadings = errors.New("a live handler was called without readings")

// maxOptions is how many options a missing dimension offers.
const maxOptions = 50

// observation is a reading of a declared stream with its age at the moment of the call.
type observation struct {
	Reading
	stream *business.SchemaStream
	ageMS  int64 // rounded up, so that an age that passes the bound by less than a millisecond is shown as past it
}

// stale reports whether the reading no longer says what is so now.
func (o *observation) stale() bool { return past(o.ageMS, o.stream.SLASeconds) }

// past compares an age with a bound that is any int64 of seconds.
func past(ageMS, seconds int64) bool { return seconds <= math.MaxInt64/1000 && ageMS > seconds*1000 }

// shownReading is a reading in a result.
type shownReading struct {
	Stream     string        `json:"stream"`
	Subject    *coverage.Key `json:"subject,omitempty"`
	Location   string        `json:"location,omitempty"`
	Value      jcs.Raw       `json:"value"`
	Unit       string        `json:"unit,omitempty"`
	ObservedAt time.Time     `json:"observed_at"`
	ReceivedAt time.Time     `json:"received_at"`
	AgeMS      int64         `json:"age_ms"`
	SLASeconds int64         `json:"sla_seconds"`
	Stale      bool          `json:"stale"`
}

func (o *observation) shown() shownReading {
	return shownReading{
		o.Stream, o.Subject, o.Location, o.Value, o.stream.Unit, o.ObservedAt.UTC(), o.ReceivedAt.UTC(), o.ageMS, o.stream.SLASeconds, o.stale(),
	}
}

// observe reads the latest readings of a stream and keeps those that may be shown: of the declared kind, about the subject, at a published location when the
// stream is scoped, and not older than max_age_seconds. They stand in the order of their locations. subject is nil for a stream that has none.
func (x *index) observe(readings Readings, stream *business.SchemaStream, subject *coverage.Key, now time.Time) ([]observation, error) {
	if readings == nil {
		return nil, errNoReadings
	}
	latest, err := readings.Latest(stream.Key, subject, "")
	if err != nil {
		return nil, err
	}
	var out []observation
	for _, r := range latest {
		_, published := x.place[r.Location]
		sameSubject := subject == nil && r.Subject == nil || subject != nil && r.Subject != nil && *r.Subject == *subject
		if r.Stream != stream.Key || !sameSubject || published != (stream.ScopedBy != "") || r.Location != "" && !published || !Fits(stream.Kind, r.Value) {
			continue
		}
		age := min(max(0, now.Sub(r.ObservedAt)), math.MaxInt64/2)
		o := observation{Reading: r, stream: stream, ageMS: int64((age + time.Millisecond - 1) / time.Millisecond)}
		if !past(o.ageMS, stream.MaxAgeSeconds) {
			out = append(out, o)
		}
	}
	slices.SortStableFunc(out, func(a, b observation) int {
		return cmp.Or(cmp.Compare(a.Location, b.Location), b.ObservedAt.Compare(a.ObservedAt))
	})
	return slices.CompactFunc(out, func(a, b observation) bool { return a.Location == b.Location }), nil
}

// Fits reports whether a value is of a stream's kind (bool, count, quantity, money, text): what a declaration of another day took is not shown under today's.
func Fits(kind string, value jcs.Raw) bool {
	switch kind {
	case "bool":
		return string(value) == "true" || string(value) == "false"
	case "text":
		s, ok := jcs.Text(value)
		return ok && s != ""
	}
	n, ok := decimal(value)
	return ok && (kind == "quantity" || n.Sign() >= 0) && (kind != "count" || n.IsInt())
}

// sla is the stream's budget; one beyond what a duration holds is the longest duration.
func (o *observation) sla() time.Duration {
	return time.Duration(min(o.stream.SLASeconds, math.MaxInt64/int64(time.Second))) * time.Second
}

// age is the age as it is shown.
func (o *observation) age() time.Duration { return time.Duration(o.ageMS) * time.Millisecond }

// addFreshness fills an outcome's members about readings: used are all that the answer depends on, shown those in its result.
func addFreshness(out *coverage.Outcome, used, shown []observation) {
	for i := range used {
		o := &used[i]
		life := max(coverage.MinLife, min(coverage.StandardLife, o.sla()-o.age()))
		if out.Expires == 0 || life < out.Expires {
			out.Expires = life
		}
		out.AnyStale = out.AnyStale || o.stale()
	}
	for i := range shown {
		o := &shown[i]
		out.MaxAge = max(out.MaxAge, o.age())
		if out.SLA == 0 || o.sla() < out.SLA {
			out.SLA = o.sla()
		}
	}
}

// target is what a live call is about: a stream and, where the stream needs them, a record and a location.
type target struct {
	stream   *business.SchemaStream
	subject  *coverage.Key
	location string
}

// readTarget reads stream, subject and location, as arguments or from bound. located says whether the handler takes a location.
func (x *index) readTarget(a, bound object, located bool) target {
	var t target
	key := a.text("/stream", a.need("stream"), maxName)
	if t.stream = x.streams[key]; t.stream == nil {
		a.fail("stream", "the publisher declares no stream of this name")
		return t
	}
	raw, at := a.either("subject", bound, "record")
	switch {
	case raw == nil:
	case t.stream.Subject == "":
		a.failAt(at, "the stream is about no record; leave the subject out")
	case at == "/subject":
		k := a.key(at, raw)
		t.subject = &k
	default:
		t.subject = x.boundRecord(a, at, raw, t.stream.Subject)
	}
	if !located {
		return t
	}
	raw, at = a.either("location", bound, "location")
	switch {
	case raw == nil:
	case t.stream.ScopedBy == "":
		a.failAt(at, "the stream is not stated by location; leave the location out")
	default:
		t.location = a.text(at, raw, maxID)
		if _, ok := x.place[t.location]; !ok && at != "/location" {
			a.failAt(at, quoted(t.location)+" is not one of the options")
		}
	}
	return t
}

// boundRecord reads an option of the dimension record: type/id of a published record of the type asked about.
func (x *index) boundRecord(a object, at string, raw jcs.Raw, typ string) *coverage.Key {
	s := a.text(at, raw, maxID+maxName)
	t, id, _ := strings.Cut(s, "/")
	k := coverage.Key{Type: t, ID: id}
	if _, ok := x.record[k]; !ok || t != typ {
		a.failAt(at, quoted(s)+" is not one of the options")
	}
	return &k
}

// liveQuery is the handler live.query: the latest readings of one stream.
func (c *Compiled) liveQuery(call coverage.Call, readings Readings) (*coverage.Outcome, error) {
	x := c.index
	a := readArguments(call, "stream", "subject", "location", "bound", "limit")
	t := x.readTarget(a, a.bound("record", "location"), true)
	limit := a.whole("limit", 10, 1, 50)
	if err := a.err(); err != nil {
		return nil, err
	}
	if t.stream.Subject != "" && t.subject == nil {
		here := func(o observation) bool { return t.location == "" || o.Location == t.location }
		return x.askRecord(call, readings, t, here, limit, 0)
	}
	found, err := x.readingsOf(readings, t, call.Now)
	if err != nil {
		return nil, err
	}
	e := coverage.Evidence{Complete: !x.publication.Incomplete, Scope: x.scopeOf(t)}
	if len(found) == 0 {
		e.Propositions = []coverage.Proposition{x.stated(call, t, nil)}
		return &coverage.Outcome{Coverage: e.Finish(call.Handler, false, []coverage.Gap{t.gap(coverage.ReasonNotPublished)}), Result: coverage.WithheldResult()}, nil
	}
	if t.stream.ScopedBy != "" && t.location == "" && x.apart(found, limit) {
		return x.askLocation(call, t, found, limit), nil
	}
	return x.answerReadings(call, e, t, found)
}

// answerReadings returns readings that are the same everywhere, or those of one place.
func (x *index) answerReadings(call coverage.Call, e coverage.Evidence, t target, found []observation) (*coverage.Outcome, error) {
	out := &coverage.Outcome{}
	var gaps []coverage.Gap
	shown := make([]shownReading, len(found))
	for i := range found {
		o := &found[i]
		shown[i] = o.shown()
		e.Propositions = append(e.Propositions, x.stated(call, t, o))
		e.Facts = append(e.Facts, coverage.Fact{Subject: e.Propositions[i].Subject, Field: o.Stream, Value: o.Value, Unit: o.stream.Unit, Source: "stream"})
		if o.Location != "" {
			out.Locations = append(out.Locations, o.Location)
		}
		if o.stale() {
			g := t.gap(coverage.ReasonStale)
			g.Location = o.Location
			gaps = append(gaps, g)
		}
	}
	if t.stream.ScopedBy != "" && t.location == "" {
		gaps = append(gaps, x.silent(t, found)...)
	}
	addFreshness(out, found, found)
	out.Coverage = e.Finish(call.Handler, true, gaps)
	var err error
	out.Result, err = jcs.Encode(struct {
		Readings []shownReading `json:"readings"`
	}{shown})
	return out, err
}

// readingsOf observes a target. A record or a location that is not published has no readings, whatever the store still holds.
func (x *index) readingsOf(readings Readings, t target, now time.Time) ([]observation, error) {
	if t.subject != nil {
		if _, ok := x.record[*t.subject]; !ok || t.subject.Type != t.stream.Subject {
			return nil, nil
		}
	}
	found, err := x.observe(readings, t.stream, t.subject, now)
	if t.location != "" {
		found = slices.DeleteFunc(found, func(o observation) bool { return o.Location != t.location })
	}
	return found, err
}

// stated is the proposition about one reading, or about none.
func (x *index) stated(call coverage.Call, t target, o *observation) coverage.Proposition {
	p := coverage.Proposition{Shape: call.Handler, Subject: x.subject(t.subject), Field: t.stream.Key, Verdict: coverage.VerdictNotPublished}
	p.Subject.Location = t.location
	if o != nil {
		p.Subject.Location, p.PublisherValue, p.Unit, p.Verdict = o.Location, o.Value, o.stream.Unit, coverage.VerdictPublished
	}
	return p
}

// gap names the stream, and the record that was asked about.
func (t *target) gap(reason string) coverage.Gap {
	g := coverage.Gap{Field: t.stream.Key, Reason: reason, Location: t.location}
	if t.subject != nil {
		g.Text = t.subject.String()
	}
	return g
}

// scopeOf is the level of evidence a live question needs.
func (x *index) scopeOf(t target) string {
	if t.stream.Subject != "" {
		return "record"
	}
	return "publisher"
}

// apart reports whether readings of several places cannot be given as one answer: their values differ as literals, they are more than asked for, or what is
// published may not be complete.
func (x *index) apart(found []observation, limit int) bool {
	differ := slices.ContainsFunc(found, func(o observation) bool { return string(o.Value) != string(found[0].Value) })
	return differ || len(found) > limit || len(found) > 1 && x.publication.Incomplete
}

// silent lists the places without a reading: that the others agree says nothing about them.
func (x *index) silent(t target, found []observation) (gaps []coverage.Gap) {
	for _, p := range x.places {
		if !slices.ContainsFunc(found, func(o observation) bool { return o.Location == p.ID }) && len(gaps) < maxOptions {
			g := t.gap(coverage.ReasonNotPublished)
			g.Location = p.ID
			gaps = append(gaps, g)
		}
	}
	return gaps
}

// askRecord asks which record a stream is wanted of: those of its type with a reading that counts. Without any the stream is not covered. open is the number of
// other dimensions that are open for certain; limit is how many readings the call takes, 0 when it is not about one location.
func (x *index) askRecord(call coverage.Call, readings Readings, t target, counts func(observation) bool, limit, open int) (*coverage.Outcome, error) {
	var options []coverage.Option
	several := false
	for _, r := range x.records {
		if r.Type != t.stream.Subject {
			continue
		}
		k := coverage.Key{Type: r.Type, ID: r.ID}
		found, err := x.observe(readings, t.stream, &k, call.Now)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(found, counts) {
			continue
		}
		if options = append(options, coverage.Option{Value: k.String(), Label: r.Title}); len(options) > maxOptions {
			break
		}
		several = several || limit > 0 && t.stream.ScopedBy != "" && t.location == "" && x.apart(found, limit)
	}
	if open++; several {
		open++
	}
	e := coverage.Evidence{Complete: !x.publication.Incomplete, Scope: "record"}
	if options == nil {
		e.Propositions = []coverage.Proposition{x.stated(call, t, nil)}
		return &coverage.Outcome{Coverage: e.Finish(call.Handler, false, []coverage.Gap{t.gap(coverage.ReasonNotPublished)}), Result: coverage.WithheldResult()}, nil
	}
	return ask(call, e, coverage.Missing{Name: "record", Type: "enum", Options: options}, open), nil
}

// askLocation asks at which location a stream is wanted.
func (x *index) askLocation(call coverage.Call, t target, found []observation, limit int) *coverage.Outcome {
	var options []coverage.Option
	for _, o := range found {
		p := &x.places[x.place[o.Location]]
		options = append(options, coverage.Option{Value: p.ID, Label: p.label()})
	}
	e := coverage.Evidence{Complete: !x.publication.Incomplete && len(found) <= limit, Scope: x.scopeOf(t)}
	return ask(call, e, coverage.Missing{Name: "location", Type: "enum", Options: options}, 1)
}

// ask is the outcome of a call that waits for a value: everything found is withheld.
func ask(call coverage.Call, e coverage.Evidence, missing coverage.Missing, open int) *coverage.Outcome {
	if len(missing.Options) > maxOptions {
		missing.Options, missing.Truncated = missing.Options[:maxOptions], true
		e.Complete = false
	}
	e.Clauses = coverage.ClauseOf(call.Handler, e.Scope, 1, 1)
	gap := coverage.Gap{Field: missing.Name, Reason: coverage.ReasonMissingValue}
	return &coverage.Outcome{Result: coverage.WithheldResult(), Coverage: e.NeedsContext(gap), Clarification: coverage.Clarify(call, missing, open)}
}
