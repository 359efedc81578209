package answer

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/business"
	"sayso/business/coverage"
	"sayso/jcs"
)

// noon is the moment of every call in the tests of the handlers: a Wednesday.
var noon = time.Date(2026, 6, 10, 12, 0, 0, 0, time.UTC)

const lakeSchema = `{
 "attributes": {
  "price": {"field":"price","kind":"money","currency":"EUR"},
  "price_mode": {"field":"price","kind":"mode","deferred":["on_request"]},
  "price_text": {"field":"price","kind":"text"},
  "stock": {"field":"stock","kind":"count","scoped_by":"location"},
  "seats": {"kind":"count","source":"stream:free_seats"},
  "sail": {"kind":"bool"}
 },
 "links_closed": ["part_of"],
 "streams": [
  {"key":"free_boats","subject":"boat","scoped_by":"location","kind":"count","sla_seconds":60,"max_age_seconds":3600},
  {"key":"free_seats","scoped_by":"location","kind":"count","sla_seconds":60,"max_age_seconds":3600},
  {"key":"flag_up","scoped_by":"location","kind":"bool","sla_seconds":60,"max_age_seconds":3600},
  {"key":"wait","scoped_by":"location","kind":"quantity","unit":"min","sla_seconds":60,"max_age_seconds":3600},
  {"key":"hire","scoped_by":"location","kind":"money","unit":"EUR","sla_seconds":60,"max_age_seconds":3600},
  {"key":"notice","kind":"text","sla_seconds":60,"max_age_seconds":3600},
  {"key":"charge","subject":"boat","kind":"quantity","unit":"%","sla_seconds":60,"max_age_seconds":3600}
 ]}`

// lake is a publisher with three branches along the equator, at 1°, 2° and 3° east, the last one without a time zone.
func lake() Snapshot {
	locations := []business.Location{
		{ID: "one", Primary: true, Name: "Pier One", Latitude: jcs.Raw("0"), Longitude: jcs.Raw("1"), TimeZone: "Europe/Berlin", OpeningHours: "Mo-Fr 09:00-17:00"},
		{ID: "two", Name: "Pier Two", Latitude: jcs.Raw("0.0"), Longitude: jcs.Raw("2"), TimeZone: "America/New_York", OpeningHours: "Mo-Fr 09:00-17:00"},
		{ID: "three", Latitude: jcs.Raw("0"), Longitude: jcs.Raw("3"), OpeningHours: "Mo-Fr 09:00-17:00"},
	}
	records := []business.Record{
		{ID: "skiff", Type: "boat", Title: "Skiff", Attributes: jcs.Raw(`{"price":50.0,"sail":false,"stock":{"one":2}}`), Aliases: []string{"dinghy"}, Content: "Long text.", Links: []business.Link{
			{Rel: "alternative_to", Type: "boat", ID: "punt"}, {Rel: "requires", Type: "boat", ID: "withdrawn"}, {Rel: "x-stored-with", Type: "boat", ID: "oar"},
		}},
		{ID: "punt", Type: "boat", Title: "Punt", Attributes: jcs.Raw(`{"price_mode":"on_request","seats":4}`)},
		{ID: "oar", Type: "boat", Title: "Oar", Attributes: jcs.Raw(`{"price_text":"ask at the pier","price_mode":"fixed","stock":{}}`), Links: []business.Link{
			{Rel: "accessory_for", Type: "boat", ID: "skiff"}, {Rel: "accessory_for", Type: "boat", ID: "skiff"}, {Rel: "accessory_for", Type: "boat", ID: "punt"},
		}},
	}
	for i := range records {
		records[i].Publisher = "lake"
	}
	return Snapshot{
		Publication: &business.Publication{Slug: "lake", Profile: business.Profile{DisplayName: "Lake Boats", ContentLanguages: []string{"en"}, Locations: locations}, Schema: jcs.Raw(lakeSchema)},
		Records:     records, Site: business.Site{Origin: "https://sayso.example"},
	}
}

func indexed(t testing.TB, s Snapshot) *Compiled {
	t.Helper()
	c, err := Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// stored are readings as a store gives them; broken makes it fail.
type stored struct {
	all    []Reading
	broken bool
}

func (s *stored) Latest(stream string, subject *coverage.Key, location string) (out []Reading, err error) {
	if s.broken {
		return nil, errors.New("the readings cannot be read")
	}
	for _, r := range s.all {
		if r.Stream == stream && (subject == nil || r.Subject != nil && *r.Subject == *subject) && (location == "" || r.Location == location) {
			out = append(out, r)
		}
	}
	return out, nil
}

// readings builds a store from "stream subject location value age" lines; - stands for none.
func readings(t testing.TB, lines ...string) *stored {
	t.Helper()
	s := &stored{}
	for _, line := range lines {
		f := strings.Fields(line)
		age, err := time.ParseDuration(f[4])
		if err != nil {
			t.Fatal(err)
		}
		r := Reading{Stream: f[0], Value: jcs.Raw(f[3]), ObservedAt: noon.Add(-age), ReceivedAt: noon.Add(-age)}
		if f[1] != "-" {
			typ, id, _ := strings.Cut(f[1], "/")
			r.Subject = &coverage.Key{Type: typ, ID: id}
		}
		if f[2] != "-" {
			r.Location = f[2]
		}
		s.all = append(s.all, r)
	}
	return s
}

// run calls a handler by its name.
func run(c *Compiled, handler, arguments string, r Readings) (*coverage.Outcome, error) {
	return c.Answer(coverage.Call{Tool: "tool", Handler: handler, Arguments: jcs.Raw(arguments), Now: noon}, r)
}

// must is run for a call that is in order; the outcome is held to what is true of every outcome.
func must(t testing.TB, c *Compiled, handler, arguments string, r Readings) *coverage.Outcome {
	t.Helper()
	out, err := run(c, handler, arguments, r)
	if err != nil {
		t.Fatalf("%s %s: %v", handler, arguments, err)
	}
	sound(t, out)
	return out
}

// sound checks what holds of every outcome: I1, withholding, and that indexes point at something.
func sound(t testing.TB, out *coverage.Outcome) {
	t.Helper()
	v := out.Coverage
	if err := jcs.Check(out.Result); err != nil {
		t.Errorf("the result is no JSON: %v", err)
	}
	if full := v.Covered && v.AnswersRequest && len(v.Unresolved) == 0; full != (v.Status == coverage.Resolved) {
		t.Errorf("I1: status %s with covered %t, answers_request %t, %d unresolved", v.Status, v.Covered, v.AnswersRequest, len(v.Unresolved))
	}
	if v.Status != coverage.Resolved && len(v.Unresolved) == 0 {
		t.Errorf("%s without an unresolved entry", v.Status)
	}
	if withheld := v.Status == coverage.NeedsContext || v.Status == coverage.NotCovered; withheld {
		if string(out.Result) != `{"records":[]}` || len(v.PublisherFacts) > 0 || v.Answer != nil || len(out.Locations) > 0 {
			t.Errorf("I2: %s shows result %s, facts %v, answer %v, locations %v", v.Status, out.Result, v.PublisherFacts, v.Answer, out.Locations)
		}
		for _, p := range v.Propositions {
			if p.PublisherValue != nil || p.Verdict != coverage.VerdictUnknown && p.Verdict != coverage.VerdictNotPublished {
				t.Errorf("I2: %s shows the proposition %+v", v.Status, p)
			}
		}
	}
	if (v.Status == coverage.NeedsContext) != (out.Clarification != nil) {
		t.Errorf("%s with clarification %v", v.Status, out.Clarification)
	}
	if v.Answer != nil && v.Answer.Polarity != coverage.Positive && !v.EvidenceComplete {
		t.Errorf("XP-COVERAGE-005: polarity %s without complete evidence", v.Answer.Polarity)
	}
	for _, c := range v.Constraints {
		if !slices.Contains([]string{coverage.VerdictTrue, coverage.VerdictFalse, coverage.VerdictExcluded, coverage.VerdictUnknown}, c.Verdict) || v.Propositions[c.Proposition].Verdict != c.Verdict {
			t.Errorf("XP-COVERAGE-007: constraint %+v", c)
		}
	}
	if v.AgentInstruction != v.Status.Instruction() || v.AgentInstruction == "" {
		t.Errorf("agent_instruction %q", v.AgentInstruction)
	}
}

// gapsOf prints the unresolved entries in short.
func gapsOf(out *coverage.Outcome) string {
	var parts []string
	for _, g := range out.Coverage.Unresolved {
		parts = append(parts, strings.Join(slices.DeleteFunc([]string{g.Text, g.Field, g.Location, g.Reason}, func(s string) bool { return s == "" }), " "))
	}
	return strings.Join(parts, "; ")
}

// refused runs a call that must be the caller's fault, at a place.
func refused(t testing.TB, c *Compiled, handler, arguments, at string, words ...string) {
	t.Helper()
	out, err := run(c, handler, arguments, &stored{})
	var call *coverage.CallError
	switch {
	case !errors.As(err, &call):
		t.Errorf("%s %s: outcome %v, error %v; want a CallError", handler, arguments, out, err)
	case call.Code != coverage.InvalidArguments || call.Path != at:
		t.Errorf("%s %s: %s at %q: %s; want invalid_arguments at %q", handler, arguments, call.Code, call.Path, call.Message, at)
	default:
		for _, w := range words {
			if !strings.Contains(call.Message, w) {
				t.Errorf("%s %s: %q does not name %q", handler, arguments, call.Message, w)
			}
		}
	}
}
