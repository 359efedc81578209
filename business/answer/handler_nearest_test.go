package answer

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sayso/business"
	"sayso/business/coverage"
	"sayso/jcs"
)

// branchesOf prints the branches of a result: location, metres and open.
func branchesOf(t testing.TB, out *coverage.Outcome) string {
	t.Helper()
	var result struct {
		Branches []struct {
			Location  string          `json:"location"`
			DistanceM int64           `json:"distance_m"`
			Open      json.RawMessage `json:"open"`
		} `json:"branches"`
		Method string `json:"method"`
	}
	if err := json.Unmarshal(out.Result, &result); err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, b := range result.Branches {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s %d %s", b.Location, b.DistanceM, b.Open)))
	}
	if out.Coverage.Covered && result.Method != "great_circle" {
		t.Errorf("method %q", result.Method)
	}
	return strings.Join(parts, ", ")
}

func TestBranchesNearest(t *testing.T) {
	lost := lake()
	lost.Publication.Profile.Locations[1].Latitude, lost.Publication.Profile.Locations[1].Longitude = nil, nil
	nowhere := lake()
	for i := range nowhere.Publication.Profile.Locations {
		nowhere.Publication.Profile.Locations[i].Latitude, nowhere.Publication.Profile.Locations[i].Longitude = nil, nil
	}
	here := `"caller_location":{"latitude":0,"longitude":0.5}`
	for _, tt := range []struct {
		name      string
		snapshot  Snapshot
		arguments string
		status    coverage.Status
		gaps      string
		branches  string
	}{
		{"all", lake(), `{` + here + `}`, coverage.Resolved, "", "one 55598, two 166793, three 277988"},
		{"bound by resume", lake(), `{"bound":{` + here + `},"limit":1}`, coverage.Resolved, "", "one 55598"},
		{"the bound is included", lake(), `{` + here + `,"max_distance_km":166.793}`, coverage.Resolved, "", "one 55598, two 166793"},
		{"a metre less", lake(), `{` + here + `,"max_distance_km":166.792}`, coverage.Resolved, "", "one 55598"},
		{"none that near", lake(), `{` + here + `,"max_distance_km":1}`, coverage.Resolved, "", ""},
		{"no position", lake(), ``, coverage.NeedsContext, "caller_location missing_value", ""},
		{"a branch without coordinates", lost, `{` + here + `}`, coverage.Partial, "distance two no_coordinates", "one 55598, three 277988"},
		{"none near, one unknown", lost, `{` + here + `,"max_distance_km":1}`, coverage.NotCovered, "distance two no_coordinates", ""},
		{"no coordinates at all", nowhere, `{}`, coverage.NotCovered, "distance one no_coordinates; distance three no_coordinates; distance two no_coordinates", ""},
		{"open now", lake(), `{` + here + `,"open_at":"now"}`, coverage.Partial, "hours three zone_not_published", `one 55598 true, two 166793 false, three 277988 "unknown"`},
		{"open now, the unknown one not asked", lake(), `{` + here + `,"open_at":"now","limit":2}`, coverage.Resolved, "", "one 55598 true, two 166793 false"},
		{"open at an instant", lake(), `{` + here + `,"open_at":"2026-06-10T22:00:00+09:00","limit":2}`, coverage.Resolved, "", "one 55598 true, two 166793 true"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := must(t, indexed(t, tt.snapshot), "branches.nearest", tt.arguments, nil)
			if out.Coverage.Status != tt.status || gapsOf(out) != tt.gaps {
				t.Errorf("got %s (%s), want %s (%s)", out.Coverage.Status, gapsOf(out), tt.status, tt.gaps)
			}
			if got := branchesOf(t, out); got != tt.branches {
				t.Errorf("branches %q, want %q", got, tt.branches)
			}
			if negated := out.Coverage.Answer != nil && out.Coverage.Answer.Polarity == coverage.Negative; negated != (tt.status == coverage.Resolved && tt.branches == "") {
				t.Errorf("polarity %v", out.Coverage.Answer)
			}
			if text, _ := json.Marshal(out.Coverage); strings.Contains(string(text), "0.5") {
				t.Errorf("the caller's position stands in %s", text)
			}
		})
	}
}

// Distances over the antimeridian and at the poles, equal ones by id, and the edges of both ranges.
func TestNearestOnTheSphere(t *testing.T) {
	place := func(id, latitude, longitude string) business.Location {
		return business.Location{ID: id, Latitude: jcs.Raw(latitude), Longitude: jcs.Raw(longitude)}
	}
	const half = "20015114" // half the way around: π · 6371008.8 m
	for _, tt := range []struct {
		name                string
		latitude, longitude string
		places              []business.Location
		want                string
	}{
		{"over the antimeridian", "0", "179.5", []business.Location{place("fiji", "0", "-179.5"), place("west", "0", "178")}, "fiji 111195, west 166793"},
		{"the antimeridian is one line", "10", "180", []business.Location{place("east", "10", "-180")}, "east 0"},
		{"over the north pole", "89", "0", []business.Location{place("beyond", "89", "180"), place("beside", "86", "0")}, "beyond 222390, beside 333585"},
		{"at the south pole every longitude is the same", "-90", "0", []business.Location{place("b", "-89", "-120"), place("a", "-89", "77"), place("c", "-90", "5")}, "c 0, a 111195, b 111195"},
		{"the other end of the world", "0", "0", []business.Location{place("antipode", "0", "180"), place("again", "-0.0", "-180")}, "again " + half + ", antipode " + half},
		{"antipode off the equator", "37.123456789", "-122.5", []business.Location{place("x", "-37.123456789", "57.5")}, "x " + half},
		{"ties by id", "0", "0", []business.Location{place("z", "0", "1"), place("y", "1", "0"), place("x", "0", "-1")}, "x 111195, y 111195, z 111195"},
	} {
		s := lake()
		s.Publication.Profile.Locations = tt.places
		out := must(t, indexed(t, s), "branches.nearest", `{"caller_location":{"latitude":`+tt.latitude+`,"longitude":`+tt.longitude+`}}`, nil)
		if got := branchesOf(t, out); got != tt.want || out.Coverage.Status != coverage.Resolved {
			t.Errorf("%s: %s %q, want %q", tt.name, out.Coverage.Status, got, tt.want)
		}
	}
}

// The day an instant falls on is that of the place: on the two sides of the date line it is not the same one.
func TestOpenAtTheDateLine(t *testing.T) {
	s := lake()
	s.Publication.Profile.Locations = []business.Location{
		{ID: "kiritimati", Latitude: jcs.Raw("1.9"), Longitude: jcs.Raw("-157.4"), TimeZone: "Pacific/Kiritimati", OpeningHours: "Th 00:00-24:00"},
		{ID: "pago", Latitude: jcs.Raw("-14.3"), Longitude: jcs.Raw("-170.7"), TimeZone: "Pacific/Pago_Pago", OpeningHours: "We 00:00-24:00"},
		{ID: "south", Latitude: jcs.Raw("-90"), Longitude: jcs.Raw("0"), TimeZone: "Antarctica/South_Pole", OpeningHours: "Th 00:00-24:00"},
	}
	out := must(t, indexed(t, s), "branches.nearest", `{"caller_location":{"latitude":0,"longitude":180},"open_at":"now"}`, nil) // noon on Wednesday in UTC
	if got := branchesOf(t, out); got != "pago 1890884 true, kiritimati 2521410 true, south 10007557 true" {
		t.Errorf("branches %q", got)
	}
	var days []string
	for _, p := range out.Coverage.Propositions {
		if p.Field == "hours" {
			days = append(days, p.Subject.Location+" "+p.Date)
		}
	}
	if got := strings.Join(days, ", "); got != "pago 2026-06-10, kiritimati 2026-06-11, south 2026-06-11" {
		t.Errorf("days %s", got)
	}
}

func TestLiveNearest(t *testing.T) {
	lost := lake()
	lost.Publication.Profile.Locations[1].Latitude, lost.Publication.Profile.Locations[1].Longitude = nil, nil
	here := `"caller_location":{"latitude":0,"longitude":0.5}`
	flag := func(states ...string) []string {
		var lines []string
		for i, s := range states {
			if s != "" {
				lines = append(lines, "flag_up - "+[]string{"one", "two", "three"}[i]+" "+s)
			}
		}
		return lines
	}
	for _, tt := range []struct {
		name      string
		snapshot  Snapshot
		arguments string
		readings  []string
		status    coverage.Status
		gaps      string
		branches  string
		complete  bool
	}{
		{"the nearest", lake(), `{"stream":"flag_up",` + here + `,"limit":1}`, flag("true 1s", "true 1s", "true 1s"), coverage.Resolved, "", "one 55598", false},
		{"all", lake(), `{"stream":"flag_up",` + here + `}`, flag("true 1s", "true 1s", "true 1s"), coverage.Resolved, "", "one 55598, two 166793, three 277988", true},
		{"past a known no", lake(), `{"stream":"flag_up",` + here + `}`, flag("false 1s", "true 1s", "false 1s"), coverage.Resolved, "", "two 166793", true},
		{"past a stale no", lake(), `{"stream":"flag_up",` + here + `}`, flag("false 61s", "true 1s", "false 1s"), coverage.Partial, "flag_up one stale", "two 166793", true},
		{"a stale yes is no winner", lake(), `{"stream":"flag_up",` + here + `}`, flag("true 61s", "true 1s", "false 1s"), coverage.Partial, "flag_up one stale", "two 166793", true},
		{"past a branch without a reading", lake(), `{"stream":"flag_up",` + here + `}`, flag("", "true 1s", "false 1s"), coverage.Partial, "flag_up one missing_value", "two 166793", true},
		{"a reading too old to be shown", lake(), `{"stream":"flag_up",` + here + `}`, flag("false 2h", "true 1s", "false 1s"), coverage.Partial, "flag_up one missing_value", "two 166793", true},
		{"what is farther does not matter", lake(), `{"stream":"flag_up",` + here + `}`, flag("true 1s", "true 61s", ""), coverage.Resolved, "", "one 55598", false},
		{"none", lake(), `{"stream":"flag_up",` + here + `}`, flag("false 1s", "false 1s", "false 1s"), coverage.Resolved, "", "", true},
		{"none known", lake(), `{"stream":"flag_up",` + here + `}`, flag("false 1s", "false 61s", "false 1s"), coverage.Partial, "flag_up two stale", "", false},
		{"none within the bound", lake(), `{"stream":"flag_up",` + here + `,"max_distance_km":100}`, flag("false 1s", "true 1s", "true 1s"), coverage.Resolved, "", "", true},
		{"only stale ones", lake(), `{"stream":"flag_up",` + here + `}`, flag("true 61s"), coverage.NotCovered, "flag_up stale", "", true},
		{"no reading", lake(), `{"stream":"flag_up",` + here + `}`, nil, coverage.NotCovered, "flag_up not_published", "", true},
		{"a branch without coordinates", lost, `{"stream":"flag_up",` + here + `}`, flag("true 1s", "false 1s", "false 1s"), coverage.Partial, "distance two no_coordinates", "one 55598", true},
		{"the only reading at one of those", lost, `{"stream":"flag_up",` + here + `}`, flag("", "true 1s", ""), coverage.NotCovered, "flag_up not_published", "", true},
		{"no position", lake(), `{"stream":"flag_up"}`, flag("true 1s"), coverage.NeedsContext, "caller_location missing_value", "", true},
		{"a no asked for", lake(), `{"stream":"flag_up","predicate":{"op":"is","value":false},` + here + `}`, flag("true 1s", "false 1s", "true 1s"), coverage.Resolved, "", "two 166793", true},
		{"count above 0", lake(), `{"stream":"free_seats",` + here + `}`, []string{"free_seats - one 0 1s", "free_seats - two 1 1s", "free_seats - three 0 1s"}, coverage.Resolved, "", "two 166793", true},
		{"count of at least", lake(), `{"stream":"free_seats","predicate":{"op":"ge","value":2.0},` + here + `}`, []string{"free_seats - one 1 1s", "free_seats - two 2 1s", "free_seats - three 3 1s"}, coverage.Resolved, "", "two 166793, three 277988", true},
		{"another unit", lake(), `{"stream":"wait","predicate":{"op":"lt","value":0.1,"unit":"h"},` + here + `}`, []string{"wait - one 6 1s", "wait - two 5.9 1s", "wait - three 6.1 1s"}, coverage.Resolved, "", "two 166793", true},
		{"no unit", lake(), `{"stream":"wait","predicate":{"op":"lt","value":10},` + here + `}`, []string{"wait - one 6 1s"}, coverage.NotCovered, "wait unit_missing", "", true},
		{"a unit of another dimension", lake(), `{"stream":"wait","predicate":{"op":"lt","value":10,"unit":"kg"},` + here + `}`, []string{"wait - one 6 1s"}, coverage.NotCovered, "wait unit_mismatch", "", true},
		{"another currency", lake(), `{"stream":"hire","predicate":{"op":"le","value":10,"unit":"GBP"},` + here + `}`, []string{"hire - one 6 1s"}, coverage.NotCovered, "hire unit_mismatch", "", true},
		{"money between", lake(), `{"stream":"hire","predicate":{"op":"between","value":[6.00,7],"unit":"EUR"},` + here + `}`, []string{"hire - one 5.99 1s", "hire - two 6 1s", "hire - three 7.01 1s"}, coverage.Resolved, "", "two 166793", true},
		{"of a record", lake(), `{"stream":"free_boats","subject":{"type":"boat","id":"punt"},` + here + `}`, []string{"free_boats boat/skiff one 1 1s", "free_boats boat/punt one 0 1s", "free_boats boat/punt two 1 1s", "free_boats boat/punt three 0 1s"}, coverage.Resolved, "", "two 166793", true},
		{"of which record", lake(), `{"stream":"free_boats",` + here + `}`, []string{"free_boats boat/punt one 1 1s"}, coverage.NeedsContext, "record missing_value", "", true},
		{"of a record that is not published", lake(), `{"stream":"free_boats","subject":{"type":"boat","id":"raft"},` + here + `}`, []string{"free_boats boat/raft one 1 1s"}, coverage.NotCovered, "boat/raft free_boats not_published", "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := must(t, indexed(t, tt.snapshot), "live.nearest", tt.arguments, readings(t, tt.readings...))
			if out.Coverage.Status != tt.status || gapsOf(out) != tt.gaps || out.Coverage.EvidenceComplete != tt.complete {
				t.Errorf("got %s (%s), complete %t, want %s (%s), %t", out.Coverage.Status, gapsOf(out), out.Coverage.EvidenceComplete, tt.status, tt.gaps, tt.complete)
			}
			if got := branchesOf(t, out); got != tt.branches {
				t.Errorf("branches %q, want %q", got, tt.branches)
			}
			if negated := out.Coverage.Answer != nil && out.Coverage.Answer.Polarity == coverage.Negative; negated != (tt.status == coverage.Resolved && tt.branches == "") {
				t.Errorf("polarity %v", out.Coverage.Answer)
			}
		})
	}
}

// The sound winner rule against its definition, on random branches: when the status is resolved, every branch that is nearer than the last one reported and
// not reported has a fresh reading that says no; no branch without a fresh yes is ever reported; a no is said only when everything is known.
func TestLiveNearestIsSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := lake()
		s.Publication.Profile.Locations = nil
		r := &stored{}
		type truth struct {
			id              string
			placed, ok, yes bool
			metres          int64
		}
		caller := business.Position{Latitude: float64(rapid.IntRange(-90, 90).Draw(t, "lat")), Longitude: float64(rapid.IntRange(-180, 180).Draw(t, "lon"))}
		var all []truth
		for i := range rapid.IntRange(1, 8).Draw(t, "n") {
			b := truth{id: fmt.Sprint("b", i), placed: rapid.IntRange(0, 9).Draw(t, "placed") > 0}
			l := business.Location{ID: b.id}
			if b.placed {
				p := business.Position{Latitude: float64(rapid.IntRange(-90, 90).Draw(t, "lat")), Longitude: float64(rapid.IntRange(-180, 180).Draw(t, "lon"))}
				l.Latitude, l.Longitude = jcs.Raw(fmt.Sprint(p.Latitude)), jcs.Raw(fmt.Sprint(p.Longitude))
				b.metres = caller.Distance(p)
			}
			s.Publication.Profile.Locations = append(s.Publication.Profile.Locations, l)
			if age := rapid.SampledFrom([]int{-1, 1, 1, 1, 60, 61, 3601}).Draw(t, "age"); age >= 0 {
				yes := rapid.Bool().Draw(t, "yes")
				r.all = append(r.all, Reading{Stream: "flag_up", Location: b.id, Value: jcs.Raw(fmt.Sprint(yes)), ObservedAt: noon.Add(-time.Duration(age) * time.Second)})
				b.ok, b.yes = age <= 60, yes
			}
			all = append(all, b)
		}
		limit := rapid.IntRange(1, 4).Draw(t, "limit")
		c, err := Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		out, err := run(c, "live.nearest", fmt.Sprintf(`{"stream":"flag_up","limit":%d,"caller_location":{"latitude":%g,"longitude":%g}}`, limit, caller.Latitude, caller.Longitude), r)
		if err != nil {
			t.Fatal(err)
		}
		reported := map[string]bool{}
		for _, id := range out.Locations {
			reported[id] = true
		}
		last := int64(-1)
		for _, b := range all {
			if reported[b.id] {
				last = max(last, b.metres)
				if !b.placed || !b.ok || !b.yes {
					t.Fatalf("%s is reported: %+v", b.id, b)
				}
			}
		}
		for _, b := range all {
			known := b.placed && b.ok
			if out.Coverage.Status == coverage.Resolved && !reported[b.id] && (!b.placed || b.metres < last && (!known || b.yes)) {
				t.Fatalf("resolved past %+v, reported %v", b, out.Locations)
			}
			if out.Coverage.Status == coverage.Resolved && len(reported) == 0 && (!known || b.yes) {
				t.Fatalf("a no in spite of %+v", b)
			}
		}
	})
}

func TestNearestRefuses(t *testing.T) {
	c := indexed(t, lake())
	here := `"caller_location":{"latitude":0,"longitude":0}`
	for _, tt := range []struct{ handler, arguments, at, word string }{
		{"branches.nearest", `{"caller_location":{"latitude":90.0001,"longitude":0}}`, "/caller_location/latitude", "-90 to 90"},
		{"branches.nearest", `{"caller_location":{"latitude":-91,"longitude":0}}`, "/caller_location/latitude", "-90 to 90"},
		{"branches.nearest", `{"caller_location":{"latitude":0,"longitude":180.5}}`, "/caller_location/longitude", "-180 to 180"},
		{"branches.nearest", `{"caller_location":{"latitude":1e999,"longitude":0}}`, "/caller_location/latitude", "number"},
		{"branches.nearest", `{"caller_location":{"latitude":"0","longitude":0}}`, "/caller_location/latitude", "number"},
		{"branches.nearest", `{"caller_location":{"latitude":0}}`, "/caller_location/longitude", "required"},
		{"branches.nearest", `{"caller_location":{"latitude":0,"longitude":0,"accuracy":5}}`, "/caller_location/accuracy", `"accuracy"`},
		{"branches.nearest", `{"caller_location":{"latitude":NaN,"longitude":0}}`, "", "object"},
		{"branches.nearest", `{` + here + `,"bound":{` + here + `}}`, "/bound/caller_location", "already"},
		{"branches.nearest", `{` + here + `,"service":"repair"}`, "/service", `"service"`},
		{"branches.nearest", `{` + here + `,"limit":21}`, "/limit", "1 to 20"},
		{"branches.nearest", `{` + here + `,"max_distance_km":0}`, "/max_distance_km", "above 0"},
		{"branches.nearest", `{` + here + `,"max_distance_km":-0}`, "/max_distance_km", "above 0"},
		{"branches.nearest", `{` + here + `,"open_at":"2026-06-10"}`, "/open_at", "RFC 3339"},
		{"branches.nearest", `{` + here + `,"open_at":"2026-06-10T10:00:00"}`, "/open_at", "RFC 3339"},
		{"branches.nearest", `{` + here + `,"open_at":5}`, "/open_at", "RFC 3339"},
		{"live.nearest", `{` + here + `}`, "/stream", "required"},
		{"live.nearest", `{"stream":"notice",` + here + `}`, "/stream", "not stated by location"},
		{"live.nearest", `{"stream":"wait",` + here + `}`, "/predicate", "required"},
		{"live.nearest", `{"stream":"wait",` + here + `,"predicate":{"op":"lt"}}`, "/predicate/value", "required"},
		{"live.nearest", `{"stream":"wait",` + here + `,"predicate":{"op":"near","value":1}}`, "/predicate/op", "is, lt"},
		{"live.nearest", `{"stream":"wait",` + here + `,"predicate":{"op":"lt","value":true}}`, "/predicate/value", "quantity"},
		{"live.nearest", `{"stream":"wait",` + here + `,"predicate":{"op":"between","value":[2,1]}}`, "/predicate/value", "lower one first"},
		{"live.nearest", `{"stream":"wait",` + here + `,"predicate":{"op":"between","value":[1]}}`, "/predicate/value", "lower one first"},
		{"live.nearest", `{"stream":"flag_up",` + here + `,"predicate":{"op":"is","value":true,"unit":"h"}}`, "/predicate/unit", "no unit"},
		{"live.nearest", `{"stream":"flag_up",` + here + `,"predicate":{"op":"gt","value":1}}`, "/predicate/op", "is is expected"},
		{"live.nearest", `{"stream":"flag_up",` + here + `,"location":"one"}`, "/location", `"location"`},
	} {
		refused(t, c, tt.handler, tt.arguments, tt.at, tt.word)
	}
}

// A comparison in another unit is the comparison in the stream's own unit (I13), exactly.
func TestPredicateUnits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pairs := [][2]string{{"min", "h"}, {"h", "min"}, {"m", "km"}, {"kg", "mg"}, {"ml", "l"}, {"day", "s"}, {"cl", "ml"}}
		pair := rapid.SampledFrom(pairs).Draw(t, "units")
		factor, ok := unitFactor(pair[0], pair[1])
		if !ok {
			t.Fatalf("%v do not convert", pair)
		}
		value := big.NewRat(int64(rapid.IntRange(0, 5000).Draw(t, "value")), 100)
		bound := big.NewRat(int64(rapid.IntRange(0, 5000).Draw(t, "bound")), 100)
		op := rapid.SampledFrom([]string{"lt", "le", "gt", "ge", "is"}).Draw(t, "op")
		stream := &business.SchemaStream{Kind: "quantity", Unit: pair[0]}
		same := (&predicate{op: op, low: bound, unit: pair[0]}).holds(stream, jcs.Raw(value.FloatString(2)))
		other := (&predicate{op: op, low: new(big.Rat).Mul(bound, factor), unit: pair[1]}).holds(stream, jcs.Raw(value.FloatString(2)))
		if same != other {
			t.Fatalf("%s %s %s %s: %t in %s, %t in %s", value, pair[0], op, bound, same, pair[0], other, pair[1])
		}
	})
}

func TestSnapshotsThatMustNotBeServed(t *testing.T) {
	for name, spoil := range map[string]func(*Snapshot){
		"no publication":    func(s *Snapshot) { s.Publication = nil },
		"schema":            func(s *Snapshot) { s.Publication.Schema = jcs.Raw(`{"streams":7}`) },
		"calendar":          func(s *Snapshot) { s.Publication.Calendar = jcs.Raw(`[]`) },
		"a record twice":    func(s *Snapshot) { s.Records = append(s.Records, s.Records[0]) },
		"a place twice":     func(s *Snapshot) { s.Publication.Profile.Locations[1].ID = "one" },
		"zone of a machine": func(s *Snapshot) { s.Publication.Profile.Locations[0].TimeZone = "Local" },
		"unknown zone":      func(s *Snapshot) { s.Publication.Profile.Locations[0].TimeZone = "Lake/Middle" },
		"hours":             func(s *Snapshot) { s.Publication.Profile.Locations[0].OpeningHours = "whenever" },
		"half a position":   func(s *Snapshot) { s.Publication.Profile.Locations[0].Longitude = nil },
		"no position":       func(s *Snapshot) { s.Publication.Profile.Locations[0].Latitude = jcs.Raw("90.1") },
		"a fraction":        func(s *Snapshot) { s.Publication.Profile.Locations[0].Latitude = jcs.Raw("1/2") },
	} {
		s := lake()
		spoil(&s)
		if _, err := Compile(s); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
