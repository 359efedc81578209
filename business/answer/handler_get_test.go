package answer

import (
	"fmt"
	"strings"
	"testing"

	"sayso/business"
	"sayso/business/coverage"
	"sayso/jcs"
)

func TestGet(t *testing.T) {
	c := indexed(t, lake())
	for _, tt := range []struct {
		name, arguments string
		status          coverage.Status
		gaps            string
		fields          string // status of every requested field
	}{
		{"one", `{"records":[{"type":"boat","id":"skiff"}]}`, coverage.Resolved, "", ""},
		{"some", `{"records":[{"type":"boat","id":"skiff"},{"type":"boat","id":"raft"}]}`, coverage.Partial, "boat/raft not_published", ""},
		{"none", `{"records":[{"type":"boat","id":"raft"}]}`, coverage.NotCovered, "boat/raft not_published", ""},
		{"unknown type is not published", `{"records":[{"type":"unicorn","id":"skiff"}]}`, coverage.NotCovered, "unicorn/skiff not_published", ""},
		{"withdrawn looks like never", `{"records":[{"id":"withdrawn","type":"boat"}]}`, coverage.NotCovered, "boat/withdrawn not_published", ""},
		{"published field", `{"records":[{"type":"boat","id":"skiff"}],"fields":["price"]}`, coverage.Resolved, "", "published"},
		{"attribute key", `{"records":[{"type":"boat","id":"skiff"}],"fields":["sail","stock"]}`, coverage.Resolved, "", "published published"},
		{"deferred answers", `{"records":[{"type":"boat","id":"punt"}],"fields":["price"]}`, coverage.Resolved, "", "deferred"},
		{"stated in text", `{"records":[{"type":"boat","id":"oar"}],"fields":["price"]}`, coverage.Resolved, "", "stated_in_text"},
		{"mode by its own key", `{"records":[{"type":"boat","id":"oar"}],"fields":["price_mode"]}`, coverage.Resolved, "", "published"},
		{"empty object states nothing", `{"records":[{"type":"boat","id":"oar"}],"fields":["stock"]}`, coverage.Partial, "boat/oar stock not_published", "not_published"},
		{"a stream-bound attribute is no record fact", `{"records":[{"type":"boat","id":"punt"}],"fields":["seats"]}`, coverage.Partial, "boat/punt seats not_published", "not_published"},
		{"field of one of two", `{"records":[{"type":"boat","id":"skiff"},{"type":"boat","id":"punt"}],"fields":["sail"]}`, coverage.Partial, "boat/punt sail not_published", "published not_published"},
		{"unknown field", `{"records":[{"type":"boat","id":"skiff"}],"fields":["colour"]}`, coverage.Partial, "boat/skiff colour not_published", "not_published"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := must(t, c, "knowledge.get", tt.arguments, nil)
			if out.Coverage.Status != tt.status || gapsOf(out) != tt.gaps {
				t.Errorf("got %s (%s), want %s (%s)", out.Coverage.Status, gapsOf(out), tt.status, tt.gaps)
			}
			var fields []string
			for _, f := range out.Coverage.RequestedFields {
				fields = append(fields, f.Status)
			}
			if got := strings.Join(fields, " "); tt.status != coverage.NotCovered && got != tt.fields {
				t.Errorf("requested fields %q, want %q", got, tt.fields)
			}
		})
	}
}

func TestGetKeepsOrderAndLiterals(t *testing.T) {
	c := indexed(t, lake())
	out := must(t, c, "knowledge.get", `{"records":[{"type":"boat","id":"skiff"},{"type":"boat","id":"punt"}]}`, nil)
	got := string(out.Result)
	want := `{"records":[{"id":"skiff","type":"boat","title":"Skiff","url":"https://sayso.example/b/lake/boat/skiff","publisher":"lake","attributes":{"price":50.0,"sail":false,"stock":{"one":2}},"aliases":["dinghy"],"links":`
	if !strings.HasPrefix(got, want) || !strings.Contains(got, `"id":"punt"`) || strings.Contains(got, "Long text") {
		t.Errorf("got %s", got)
	}
	out = must(t, c, "knowledge.get", `{"records":[{"type":"boat","id":"skiff"}],"include":["content"],"fields":["price"]}`, nil)
	if got := string(out.Result); !strings.Contains(got, `"content":"Long text."`) || !strings.Contains(got, `"attributes":{"price":50.0}`) {
		t.Errorf("got %s", got)
	}
	if f := out.Coverage.PublisherFacts; len(f) != 1 || string(f[0].Value) != "50.0" || f[0].Field != "price" {
		t.Errorf("publisher facts %+v", f)
	}
}

func TestGetRefuses(t *testing.T) {
	c := indexed(t, lake())
	key := `{"type":"boat","id":"skiff"}`
	many := strings.TrimSuffix(strings.Repeat(key+",", 21), ",")
	for _, tt := range []struct{ arguments, at, word string }{
		{``, "/records", "required"},
		{`null`, "/records", "required"},
		{`[]`, "", "object"},
		{`{"records":[]}`, "/records", "1 to 20"},
		{`{"records":[` + many + `]}`, "/records", "1 to 20"},
		{`{"records":[` + key + `,` + key + `]}`, "/records/1", "twice"},
		{`{"records":[{"type":"boat"}]}`, "/records/0/id", "required"},
		{`{"records":[{"type":"boat","id":""}]}`, "/records/0/id", "code points"},
		{`{"records":[{"type":"boat","id":7}]}`, "/records/0/id", "code points"},
		{`{"records":[{"type":"boat","id":"a","rev":1}]}`, "/records/0/rev", `"rev"`},
		{`{"records":[` + key + `],"field":["price"]}`, "/field", `"field"`},
		{`{"records":[` + key + `],"fields":["price","price"]}`, "/fields/1", "twice"},
		{`{"records":[` + key + `],"fields":null}`, "/fields", "null"},
		{`{"records":[` + key + `],"include":["summary"]}`, "/include/0", "content"},
		{`{"records":[` + key + `],"records":[` + key + `]}`, "", "object"},
	} {
		refused(t, c, "knowledge.get", tt.arguments, tt.at, tt.word)
	}
}

func TestNeighbors(t *testing.T) {
	c := indexed(t, lake())
	for _, tt := range []struct {
		name, arguments string
		status          coverage.Status
		gaps, polarity  string
		neighbours      string // rel direction id
	}{
		{"all, the unpublished left out", `{"type":"boat","id":"skiff"}`, coverage.Resolved, "", coverage.Positive, "accessory_for in oar, alternative_to out punt, x-stored-with out oar"},
		{"out", `{"type":"boat","id":"skiff","direction":"out"}`, coverage.Resolved, "", coverage.Positive, "alternative_to out punt, x-stored-with out oar"},
		{"in", `{"type":"boat","id":"skiff","direction":"in"}`, coverage.Resolved, "", coverage.Positive, "accessory_for in oar"},
		{"a relation", `{"type":"boat","id":"oar","rel":["accessory_for"]}`, coverage.Resolved, "", coverage.Positive, "accessory_for out punt, accessory_for out skiff"},
		{"the same for one who asks otherwise", `{"rel":["accessory_for"],"direction":"both","limit":20,"id":"oar","type":"boat"}`, coverage.Resolved, "", coverage.Positive, "accessory_for out punt, accessory_for out skiff"},
		{"one of two relations", `{"type":"boat","id":"skiff","rel":["alternative_to","same_as"]}`, coverage.Partial, "same_as links not_published", coverage.Positive, "alternative_to out punt"},
		{"only a hidden link", `{"type":"boat","id":"skiff","rel":["requires"]}`, coverage.Partial, "requires links not_published", "", ""},
		{"closed relation without a link is a no", `{"type":"boat","id":"skiff","rel":["part_of"]}`, coverage.Resolved, "", coverage.Negative, ""},
		{"a yes and a no", `{"type":"boat","id":"skiff","rel":["part_of","alternative_to"]}`, coverage.Resolved, "", coverage.Mixed, "alternative_to out punt"},
		{"no link at all", `{"type":"boat","id":"punt","direction":"out"}`, coverage.Partial, "links not_published", "", ""},
		{"no such record", `{"type":"boat","id":"withdrawn"}`, coverage.NotCovered, "boat/withdrawn not_published", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := must(t, c, "knowledge.neighbors", tt.arguments, nil)
			polarity := ""
			if out.Coverage.Answer != nil {
				polarity = out.Coverage.Answer.Polarity
			}
			if out.Coverage.Status != tt.status || gapsOf(out) != tt.gaps || polarity != tt.polarity {
				t.Errorf("got %s (%s) %q, want %s (%s) %q", out.Coverage.Status, gapsOf(out), polarity, tt.status, tt.gaps, tt.polarity)
			}
			if got := shownNeighbours(t, out); got != tt.neighbours {
				t.Errorf("neighbours %q, want %q", got, tt.neighbours)
			}
			if strings.Contains(string(out.Result), "withdrawn") {
				t.Errorf("an unpublished record is named: %s", out.Result)
			}
		})
	}
}

func shownNeighbours(t *testing.T, out *coverage.Outcome) string {
	t.Helper()
	var result struct {
		Neighbours []neighbour `json:"neighbours"`
	}
	if err := jcs.Decode(out.Result, &result); err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, n := range result.Neighbours {
		parts = append(parts, n.Rel+" "+n.Direction+" "+n.Record.ID)
		if n.Record.Title == "" || n.Record.URL == "" {
			t.Errorf("the neighbour %+v has no title or url", n)
		}
	}
	return strings.Join(parts, ", ")
}

// A relation that was answered is never cut from the result by the limit, and a result that was cut says so and denies nothing.
func TestNeighborsLimit(t *testing.T) {
	c := indexed(t, lake())
	out := must(t, c, "knowledge.neighbors", `{"type":"boat","id":"oar","limit":2}`, nil)
	if got := shownNeighbours(t, out); got != "accessory_for out punt, x-stored-with in skiff" || out.Coverage.EvidenceComplete {
		t.Errorf("neighbours %q, complete %t", got, out.Coverage.EvidenceComplete)
	}
	out = must(t, c, "knowledge.neighbors", `{"type":"boat","id":"oar","limit":2,"rel":["accessory_for","part_of"]}`, nil)
	if out.Coverage.Status != coverage.Resolved || !out.Coverage.EvidenceComplete || out.Coverage.Answer.Polarity != coverage.Mixed {
		t.Errorf("both shown: %s, complete %t", out.Coverage.Status, out.Coverage.EvidenceComplete)
	}
	s := lake()
	s.Publication.Incomplete = true
	out = must(t, indexed(t, s), "knowledge.neighbors", `{"type":"boat","id":"skiff","rel":["part_of"]}`, nil)
	if out.Coverage.Status != coverage.Partial || out.Coverage.EvidenceComplete {
		t.Errorf("XP-COVERAGE-005: after a partial import: %s, complete %t", out.Coverage.Status, out.Coverage.EvidenceComplete)
	}
	for i := range 60 {
		s.Records = append(s.Records, business.Record{ID: fmt.Sprint("n", i), Type: "buoy", Title: "Buoy", Links: []business.Link{{Rel: "part_of", Type: "boat", ID: "punt"}}})
	}
	out = must(t, indexed(t, s), "knowledge.neighbors", `{"type":"boat","id":"punt","rel":["part_of"],"limit":50}`, nil)
	if got := strings.Count(shownNeighbours(t, out), ","); got != 49 || out.Coverage.EvidenceComplete {
		t.Errorf("%d neighbours, complete %t", got+1, out.Coverage.EvidenceComplete)
	}
}

func TestNeighborsRefuses(t *testing.T) {
	c := indexed(t, lake())
	for _, tt := range []struct{ arguments, at, word string }{
		{`{}`, "/type", "required"},
		{`{"type":"boat"}`, "/id", "required"},
		{`{"type":"boat","id":"skiff","rel":["friend_of"]}`, "/rel/0", "friend_of"},
		{`{"type":"boat","id":"skiff","rel":[]}`, "/rel", "1 to 16"},
		{`{"type":"boat","id":"skiff","rel":"part_of"}`, "/rel", "list"},
		{`{"type":"boat","id":"skiff","direction":"up"}`, "/direction", "out, in, both"},
		{`{"type":"boat","id":"skiff","limit":0}`, "/limit", "1 to 50"},
		{`{"type":"boat","id":"skiff","limit":51}`, "/limit", "1 to 50"},
		{`{"type":"boat","id":"skiff","limit":1.5}`, "/limit", "integer"},
		{`{"type":"boat","id":"skiff","limit":1e99999}`, "/limit", "integer"},
		{`{"type":"boat","id":"skiff","limit":1,"rel":["part_of","requires"]}`, "/limit", "at least 2"},
		{`{"type":"boat","id":"skiff","depth":2}`, "/depth", `"depth"`},
	} {
		refused(t, c, "knowledge.neighbors", tt.arguments, tt.at, tt.word)
	}
}
