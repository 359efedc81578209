package answer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sayso/business"
	"sayso/business/coverage"
	"sayso/jcs"
)

func TestLiveQuery(t *testing.T) {
	c := indexed(t, lake())
	r := readings(t,
		"free_boats boat/skiff one 4 30s", "free_boats boat/skiff two 5 30s", "free_boats boat/punt one 3 30s", "free_boats boat/punt two 3 30s", "free_boats boat/punt three 3 10s",
		"free_boats boat/raft one 9 1s", "free_boats boat/oar harbour 7 1s", "free_seats - one 8 90s", "flag_up - one true 1s", "flag_up - two 1 1s", `notice - - "calm" 1s`,
		"wait - one 5 2h", "charge boat/skiff - 80 1s",
	)
	for _, tt := range []struct {
		name, arguments string
		status          coverage.Status
		gaps, missing   string
		shows           string // locations of the readings
	}{
		{"fresh at a branch", `{"stream":"free_boats","subject":{"type":"boat","id":"skiff"},"location":"two"}`, coverage.Resolved, "", "", "two"},
		{"equal everywhere", `{"stream":"free_boats","subject":{"type":"boat","id":"punt"}}`, coverage.Resolved, "", "", "one three two"},
		{"equal but more than the limit", `{"stream":"free_boats","subject":{"type":"boat","id":"punt"},"limit":2}`, coverage.NeedsContext, "location missing_value", "location", ""},
		{"different", `{"stream":"free_boats","subject":{"type":"boat","id":"skiff"}}`, coverage.NeedsContext, "location missing_value", "location", ""},
		{"different, bound", `{"stream":"free_boats","subject":{"type":"boat","id":"skiff"},"bound":{"location":"one"}}`, coverage.Resolved, "", "", "one"},
		{"record bound", `{"stream":"charge","bound":{"record":"boat/skiff"}}`, coverage.Resolved, "", "", ""},
		{"record needed", `{"stream":"free_boats"}`, coverage.NeedsContext, "record missing_value", "record", ""},
		{"record needed at a branch", `{"stream":"free_boats","location":"three"}`, coverage.NeedsContext, "record missing_value", "record", ""},
		{"record needed where there is no reading", `{"stream":"free_boats","location":"nowhere"}`, coverage.NotCovered, "free_boats nowhere not_published", "", ""},
		{"a record that is not published", `{"stream":"free_boats","subject":{"type":"boat","id":"raft"},"location":"one"}`, coverage.NotCovered, "boat/raft free_boats one not_published", "", ""},
		{"a place that is not published", `{"stream":"free_boats","subject":{"type":"boat","id":"oar"}}`, coverage.NotCovered, "boat/oar free_boats not_published", "", ""},
		{"a record of another type", `{"stream":"free_boats","subject":{"type":"ship","id":"skiff"}}`, coverage.NotCovered, "ship/skiff free_boats not_published", "", ""},
		{"stale and silent branches", `{"stream":"free_seats"}`, coverage.Partial, "free_seats one stale; free_seats three not_published; free_seats two not_published", "", "one"},
		{"stale at the branch", `{"stream":"free_seats","location":"one"}`, coverage.Partial, "free_seats one stale", "", "one"},
		{"a value of another kind is not shown", `{"stream":"flag_up","location":"two"}`, coverage.NotCovered, "flag_up two not_published", "", ""},
		{"too old", `{"stream":"wait","location":"one"}`, coverage.NotCovered, "wait one not_published", "", ""},
		{"without subject or branch", `{"stream":"notice"}`, coverage.Resolved, "", "", ""},
		{"none ever", `{"stream":"hire"}`, coverage.NotCovered, "hire not_published", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := must(t, c, "live.query", tt.arguments, r)
			missing := ""
			if out.Clarification != nil {
				missing = out.Clarification.Missing[0].Name
			}
			if out.Coverage.Status != tt.status || gapsOf(out) != tt.gaps || missing != tt.missing {
				t.Errorf("got %s (%s) %q, want %s (%s) %q", out.Coverage.Status, gapsOf(out), missing, tt.status, tt.gaps, tt.missing)
			}
			if got := strings.Join(out.Locations, " "); got != tt.shows {
				t.Errorf("readings at %q, want %q", got, tt.shows)
			}
		})
	}
}

// A reading is fresh at exactly sla_seconds, stale from a millisecond later on, shown at exactly max_age_seconds and withheld from a millisecond later on.
func TestLiveQueryBounds(t *testing.T) {
	c := indexed(t, lake())
	for _, tt := range []struct {
		age     string
		status  coverage.Status
		stale   bool
		ageMS   int64
		expires time.Duration
	}{
		{"0s", coverage.Resolved, false, 0, time.Minute},
		{"-30s", coverage.Resolved, false, 0, time.Minute}, // observed after the call by a clock that is ahead
		{"1ms", coverage.Resolved, false, 1, 59999 * time.Millisecond},
		{"59999ms", coverage.Resolved, false, 59999, coverage.MinLife},
		{"60s", coverage.Resolved, false, 60000, coverage.MinLife},
		{"60000.001ms", coverage.Partial, true, 60001, coverage.MinLife}, // shown as past the bound, because it is
		{"60001ms", coverage.Partial, true, 60001, coverage.MinLife},
		{"1h", coverage.Partial, true, 3600000, coverage.MinLife},
		{"3600001ms", coverage.NotCovered, false, 0, 0},
		{"2000000h", coverage.NotCovered, false, 0, 0},
	} {
		out := must(t, c, "live.query", `{"stream":"flag_up","location":"one"}`, readings(t, "flag_up - one true "+tt.age))
		if out.Coverage.Status != tt.status || out.AnyStale != tt.stale || out.Expires != tt.expires || out.MaxAge != time.Duration(tt.ageMS)*time.Millisecond {
			t.Errorf("age %s: %s, stale %t, expires %s, age %s", tt.age, out.Coverage.Status, out.AnyStale, out.Expires, out.MaxAge)
		}
		if tt.status != coverage.NotCovered {
			if want := fmt.Sprintf(`"age_ms":%d,"sla_seconds":60,"stale":%t`, tt.ageMS, tt.stale); !strings.Contains(string(out.Result), want) || out.SLA != time.Minute {
				t.Errorf("age %s: %s, want %s", tt.age, out.Result, want)
			}
		} else if out.SLA != 0 {
			t.Errorf("age %s: sla %s without a reading", tt.age, out.SLA)
		}
	}
}

// Budgets as large as a schema allows neither overflow nor make anything stale.
func TestLiveQueryLargeBounds(t *testing.T) {
	s := lake()
	s.Publication.Schema = jcs.Raw(`{"streams":[{"key":"flag_up","scoped_by":"location","kind":"bool","sla_seconds":9007199254740991,"max_age_seconds":9007199254740991}]}`)
	r := &stored{all: []Reading{{Stream: "flag_up", Location: "one", Value: jcs.Raw("true")}}} // observed at the zero time
	out := must(t, indexed(t, s), "live.query", `{"stream":"flag_up","location":"one"}`, r)
	if out.Coverage.Status != coverage.Resolved || out.AnyStale || out.Expires != coverage.StandardLife || out.MaxAge < 0 {
		t.Errorf("%s, stale %t, expires %s, age %s", out.Coverage.Status, out.AnyStale, out.Expires, out.MaxAge)
	}
}

func TestLiveQueryWithholds(t *testing.T) {
	c := indexed(t, lake())
	r := readings(t, "free_boats boat/skiff one 424242 30s", "free_boats boat/skiff two 373737 30s", "wait - one 515151 2h")
	for _, arguments := range []string{`{"stream":"free_boats"}`, `{"stream":"free_boats","subject":{"type":"boat","id":"skiff"}}`, `{"stream":"wait"}`} {
		out := must(t, c, "live.query", arguments, r)
		text, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		for _, canary := range []string{"424242", "373737", "515151"} {
			if strings.Contains(string(text), canary) {
				t.Errorf("XP-COVERAGE-002: %s: %s stands in %s", arguments, canary, text)
			}
		}
		if out.MaxAge != 0 || out.SLA != 0 || out.AnyStale {
			t.Errorf("%s tells of readings it withholds: age %s, sla %s, stale %t", arguments, out.MaxAge, out.SLA, out.AnyStale)
		}
	}
}

// Every option of every question in turn ends in an answer, each step has less open, and what is said of the bound values is kept.
func TestLiveResumeEnds(t *testing.T) {
	c := indexed(t, lake())
	r := readings(t, "free_boats boat/skiff one 4 30s", "free_boats boat/skiff two 5 30s", "free_boats boat/punt one 3 90s")
	answered := 0
	var follow func(handler string, arguments jcs.Raw, open, depth int)
	follow = func(handler string, arguments jcs.Raw, open, depth int) {
		out := must(t, c, handler, string(arguments), r)
		q := out.Clarification
		if q == nil {
			if out.Coverage.Status == coverage.Resolved || out.Coverage.Status == coverage.Partial {
				answered++
			}
			return
		}
		if q.RemainingUnbound >= open || depth == 5 || len(q.Missing) != 1 || q.Resume.Tool != "tool" {
			t.Fatalf("step %d of %s: %d open after %d, %+v", depth, handler, q.RemainingUnbound, open, q)
		}
		values := []jcs.Raw{jcs.Raw(`{"latitude":0.0,"longitude":1.50}`)}
		if q.Missing[0].Type == "enum" {
			values = nil
			for _, o := range q.Missing[0].Options {
				values = append(values, jcs.AppendString(nil, o.Value))
			}
		}
		for _, v := range values {
			var next map[string]json.RawMessage
			if err := json.Unmarshal(q.Resume.Arguments, &next); err != nil {
				t.Fatal(err)
			}
			bound := map[string]json.RawMessage{}
			if next[q.Resume.AddTo] != nil {
				if err := json.Unmarshal(next[q.Resume.AddTo], &bound); err != nil {
					t.Fatal(err)
				}
			}
			bound[q.Missing[0].Name] = json.RawMessage(v)
			next[q.Resume.AddTo], _ = json.Marshal(bound)
			text, _ := json.Marshal(next)
			follow(handler, text, q.RemainingUnbound, depth+1)
		}
	}
	for handler, want := range map[string]int{"live.query": 3, "live.nearest": 1} {
		answered = 0
		follow(handler, jcs.Raw(`{"stream":"free_boats","limit":3}`), 4, 0)
		if answered != want {
			t.Errorf("%s: %d answers, want %d", handler, answered, want)
		}
	}
}

func TestLiveOptions(t *testing.T) {
	s := lake()
	var all []Reading
	for i := range 60 {
		r := business.Record{ID: fmt.Sprintf("b%02d", i), Type: "boat", Title: "Boat"}
		s.Records = append(s.Records, r)
		all = append(all, Reading{Stream: "charge", Subject: &coverage.Key{Type: "boat", ID: r.ID}, Value: jcs.Raw("5"), ObservedAt: noon})
	}
	out := must(t, indexed(t, s), "live.query", `{"stream":"charge"}`, &stored{all: all})
	if m := out.Clarification.Missing[0]; len(m.Options) != 50 || !m.Truncated || out.Coverage.EvidenceComplete {
		t.Errorf("%d options, truncated %t, complete %t", len(m.Options), m.Truncated, out.Coverage.EvidenceComplete)
	}
	out = must(t, indexed(t, lake()), "live.query", `{"stream":"free_boats","subject":{"type":"boat","id":"skiff"}}`, readings(t, "free_boats boat/skiff three 4 1s", "free_boats boat/skiff two 5 1s"))
	if o := out.Clarification.Missing[0].Options; len(o) != 2 || o[0] != (coverage.Option{Value: "three", Label: "three"}) || o[1] != (coverage.Option{Value: "two", Label: "Pier Two"}) {
		t.Errorf("options %v", o)
	}
	if got := string(out.Clarification.Resume.Arguments); got != `{"stream":"free_boats","subject":{"type":"boat","id":"skiff"}}` {
		t.Errorf("resume %s", got)
	}
}

// What cannot be read is a fault of this side and never a status (I16).
func TestLiveFaults(t *testing.T) {
	c := indexed(t, lake())
	for _, r := range []Readings{nil, &stored{broken: true}} {
		for handler, arguments := range map[string][]string{
			"live.query":   {`{"stream":"notice"}`, `{"stream":"free_boats"}`, `{"stream":"free_boats","subject":{"type":"boat","id":"skiff"}}`},
			"live.nearest": {`{"stream":"flag_up","caller_location":{"latitude":0,"longitude":0}}`, `{"stream":"flag_up"}`, `{"stream":"free_boats"}`},
		} {
			for _, a := range arguments {
				out, err := run(c, handler, a, r)
				var call *coverage.CallError
				if err == nil || errors.As(err, &call) {
					t.Errorf("%s %s: outcome %v, error %v", handler, a, out, err)
				}
			}
		}
	}
}

func TestLiveQueryRefuses(t *testing.T) {
	c := indexed(t, lake())
	for _, tt := range []struct{ arguments, at, word string }{
		{`{}`, "/stream", "required"},
		{`{"stream":"tide"}`, "/stream", "no stream"},
		{`{"stream":7}`, "/stream", "string"},
		{`{"stream":"notice","subject":{"type":"boat","id":"skiff"}}`, "/subject", "no record"},
		{`{"stream":"notice","bound":{"record":"boat/skiff"}}`, "/bound/record", "no record"},
		{`{"stream":"notice","location":"one"}`, "/location", "not stated by location"},
		{`{"stream":"flag_up","bound":{"location":"nowhere"}}`, "/bound/location", "options"},
		{`{"stream":"flag_up","location":"one","bound":{"location":"one"}}`, "/bound/location", "already"},
		{`{"stream":"free_boats","bound":{"record":"boat/raft"}}`, "/bound/record", "options"},
		{`{"stream":"free_boats","bound":{"record":"skiff"}}`, "/bound/record", "options"},
		{`{"stream":"free_boats","bound":{"variant":"boat/skiff"}}`, "/bound/variant", `"variant"`},
		{`{"stream":"free_boats","bound":[]}`, "/bound", "object"},
		{`{"stream":"free_boats","limit":"3"}`, "/limit", "integer"},
		{`{"stream":"free_boats","at":"now"}`, "/at", `"at"`},
	} {
		refused(t, c, "live.query", tt.arguments, tt.at, tt.word)
	}
}
