package answer

import (
	"slices"

	"sayso/business/coverage"
)

// liveSource answers fields that the schema binds to a stream (hybrid.resolve).
type liveSource struct {
	readings Readings
	used     []observation
	fault    error // the readings could not be read: no status follows
}

// stated is what the latest reading says about a field of a record at a location.
func (s *liveSource) stated(a *asking, record int, field, location, key string) stated {
	out := stated{status: coverage.VerdictNotPublished, truth: coverage.VerdictUnknown, live: key}
	stream := a.streams[key]
	if stream == nil || s.fault != nil || (location == "") != (stream.ScopedBy == "") {
		return out
	}
	var subject *coverage.Key
	if stream.Subject != "" {
		k := a.keyOf(record)
		if k.Type != stream.Subject {
			return out
		}
		subject = &k
	}
	found, err := a.observe(s.readings, stream, subject, a.call.Now)
	if err != nil {
		s.fault = err
		return out
	}
	for i := range found {
		o := found[i]
		if o.Location != location {
			continue
		}
		out.status, out.value = coverage.VerdictPublished, o.Value
		switch stream.Kind {
		case "bool":
			out.truth = truthOf(string(o.Value) == "true")
		case "text":
			out.status = coverage.VerdictStatedInText
		default:
			n, ok := readAmount(o.Value)
			if !ok {
				continue
			}
			out.span = interval{stated: true, low: bound{n, true}, high: bound{n, true}, unit: stream.Unit, money: stream.Kind == "money"}
			out.unit = stream.Unit
			if stream.Kind == "count" {
				out.truth = truthOf(n.cmp(amount{den: 1}) > 0)
			}
		}
		if o.stale() {
			out.truth, out.span = coverage.VerdictUnknown, interval{} // it does not establish the present
		}
		out.reading = &o
	}
	return out
}

// keep notes a reading that a proposition used. A stale one does not establish the present.
func (s *liveSource) keep(o *observation, field string, r *result) {
	if !slices.ContainsFunc(s.used, func(u observation) bool { return sameReading(&u, o) }) {
		s.used = append(s.used, *o)
	}
	if o.stale() {
		r.fieldReason(field, coverage.ReasonStale)
	}
}

func sameReading(a, b *observation) bool {
	same := a.Subject == nil && b.Subject == nil || a.Subject != nil && b.Subject != nil && *a.Subject == *b.Subject
	return same && a.Stream == b.Stream && a.Location == b.Location
}
