package answer_test

import (
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sayso/business"
	"sayso/business/answer"
	"sayso/business/coverage"
	"sayso/jcs"
)

// crowd is a publisher whose parts are all alike: what a question may hit has n owners.
func crowd(n int) answer.Snapshot {
	terms := make([]string, n)
	for i := range terms {
		terms[i] = fmt.Sprintf(`"method %d"`, i)
	}
	list := "[" + strings.Join(terms, ",") + "]"
	s := answer.Snapshot{Publication: &business.Publication{
		Slug:    "crowd",
		Profile: business.Profile{DisplayName: "Acme Optics", ContentLanguages: []string{"en"}},
		Schema: jcs.Raw(`{"types":{"service":{"words":{"en":["service"]}},"exam":{"words":{"en":["checkup"]}}},"attributes":{
			"price":{"field":"price","kind":"money","currency":"EUR"},"walkin":{"kind":"bool","words":{"en":["walk-in"]}},
			"stock":{"field":"stock","kind":"count","scoped_by":"location"}},
			"lists":{"payment_methods":{"nouns":{"en":["payment methods"]},"verbs":{"en":["pay"]},"values":` + list + `,"closed":true,"domain":{"terms":` + list + `}}}}`),
	}}
	for i := range min(n, 1565) {
		s.Publication.Profile.Locations = append(s.Publication.Profile.Locations, business.Location{
			ID: fmt.Sprintf("l%04d", i), Name: fmt.Sprintf("Branch %d", i), Locality: "Springfield", OpeningHours: fmt.Sprintf("Mo-Fr 09:%02d-18:00", i%60), Phone: fmt.Sprint("+1", i),
		})
	}
	for i := range n {
		attributes := jcs.Raw(fmt.Sprintf(`{"price":%d.50,"stock":{"l0000":%d},"walkin":false}`, 10+i%400, i%3))
		s.Records = append(s.Records,
			business.Record{Type: "service", ID: fmt.Sprintf("s%05d", i), Title: fmt.Sprintf("Service number %d", i), Attributes: attributes, Aliases: []string{"Tune"}},
			business.Record{Type: "exam", ID: fmt.Sprintf("e%05d", i), Title: fmt.Sprintf("Eye exam %d", i), Attributes: attributes, Aliases: []string{"Vision test"}})
	}
	return s
}

// crowded are questions that hit what everything in a crowd shares.
var crowded = map[string]string{
	"type field":     "How much is a service?",
	"head field":     "How much is an eye exam?",
	"head exists":    "Do you have exams?",
	"alias field":    "How much is a tune?",
	"set field":      "What does the test of vision cost?",
	"anaphor":        "How much is it?",
	"type exists":    "Do you have services?",
	"type none":      "Is there a service under 5 EUR?",
	"type some":      "Is there a service under 100 EUR?",
	"type which":     "Which services are under 100 EUR?",
	"type bool":      "Do your services have walk-in?",
	"stock":          "Is the eye exam in stock?",
	"list":           "What payment methods do you have?",
	"term":           "Can I pay with method 7?",
	"hours":          "What are your opening hours?",
	"open":           "Is Springfield open on Sunday?",
	"phone":          "What is the phone number in Springfield?",
	"every word":     strings.TrimSpace(strings.Repeat("eye exam test vision ", 16)),
	"every clause":   "How much is an eye exam" + strings.Repeat(" and a tune and an exam", 9),
	"every sentence": strings.TrimSpace(strings.Repeat("How much is a service? ", 12)),
}

// One question costs what its words and its answer cost, however many things it hits; only a yes/no question over a type looks at each record, and allocates
// nothing for it.
func TestCostOfCrowdedQuestions(t *testing.T) {
	allocated := func(c *answer.Compiled, call coverage.Call) uint64 {
		least := uint64(math.MaxUint64)
		var before, after runtime.MemStats
		for range 3 {
			runtime.ReadMemStats(&before)
			if _, err := c.Answer(call, nil); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			least = min(least, after.TotalAlloc-before.TotalAlloc)
		}
		return least
	}
	few, err := answer.Compile(crowd(1000))
	if err != nil {
		t.Fatal(err)
	}
	many, err := answer.Compile(crowd(10_000))
	if err != nil {
		t.Fatal(err)
	}
	for name, question := range crowded {
		call := coverage.Call{Tool: "search", Handler: "knowledge.search", Arguments: jcs.Raw(fmt.Sprintf(`{"query":%q,"limit":50}`, question)), Now: now}
		a, b := allocated(few, call), allocated(many, call)
		if b > a+a/4+16<<10 || b > 1<<20 {
			t.Errorf("%s: %d bytes at 1,000 and %d at 10,000", name, a, b)
		}
		out, err := many.Answer(call, nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := jcs.Encode(struct {
			Coverage *coverage.Coverage
			Result   jcs.Raw
			Ask      *coverage.Clarification
		}{&out.Coverage, out.Result, out.Clarification})
		if err != nil || len(text) > 64<<10 {
			t.Errorf("%s: an answer of %d bytes (%v)", name, len(text), err)
		}
	}
}

// §10, §11: what has more candidates than an answer lists is the same for all of them never, and denied never.
func TestCrowdIsNotComplete(t *testing.T) {
	c, err := answer.Compile(crowd(60))
	if err != nil {
		t.Fatal(err)
	}
	alike := crowd(60)
	for i := range alike.Records {
		alike.Records[i].Attributes = jcs.Raw(`{"price":30,"walkin":false}`)
	}
	same, err := answer.Compile(alike)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		of        *answer.Compiled
		arguments string
		status    coverage.Status
		complete  bool
	}{
		{same, `{"query":"How much is a service?","limit":50}`, coverage.NeedsContext, false},
		{same, `{"query":"How much is an eye exam?","limit":50}`, coverage.NeedsContext, false},
		{same, `{"query":"How much is a tune?","limit":50}`, coverage.NeedsContext, false},
		{same, `{"query":"Do your services have walk-in?","limit":50}`, coverage.NeedsContext, false},
		{same, `{"criteria":[{"type":"service","field":"price","op":"exists"}],"limit":50}`, coverage.NeedsContext, false},
		{same, `{"criteria":[{"type":"service","field":"price","op":"lt","value":5,"unit":"EUR"}],"limit":50}`, coverage.Partial, false},
		{same, `{"query":"Is there a service under 5 EUR?","limit":50}`, coverage.Partial, false},
		{same, `{"query":"Is there a service under 50 EUR?","limit":50}`, coverage.Resolved, false},
		{same, `{"query":"Which services are under 5 EUR?","limit":50}`, coverage.NotCovered, false},
		{c, `{"query":"How much is it?"}`, coverage.NeedsContext, false},
		{c, `{"query":"How much is it?","bound":{"record":"service/s00059"}}`, coverage.Resolved, true},
		{c, `{"query":"How much is a service?","bound":{"record":"service/s00059"}}`, coverage.Resolved, false},
		{c, `{"query":"What payment methods do you have?"}`, coverage.Partial, false},
		{c, `{"query":"Is Springfield open on Sunday?","limit":50}`, coverage.NeedsContext, false},
	} {
		out, err := tt.of.Answer(coverage.Call{Tool: "search", Handler: "knowledge.search", Arguments: jcs.Raw(tt.arguments), Now: now}, nil)
		if err != nil {
			t.Fatalf("%s: %v", tt.arguments, err)
		}
		if got := out.Coverage; got.Status != tt.status || got.EvidenceComplete != tt.complete || got.Answer != nil && got.Answer.Polarity == coverage.Negative {
			t.Errorf("%s: %s, complete %t, %+v", tt.arguments, got.Status, got.EvidenceComplete, got.Answer)
		}
		if ask := out.Clarification; ask != nil && (len(ask.Missing[0].Options) != 50 || !ask.Missing[0].Truncated) {
			t.Errorf("%s: %d options, truncated %t", tt.arguments, len(ask.Missing[0].Options), ask.Missing[0].Truncated)
		}
	}
	if _, err := c.Answer(coverage.Call{Tool: "search", Handler: "knowledge.search", Arguments: jcs.Raw(`{"query":"How much is a service?","bound":{"record":"exam/e00001"}}`), Now: now}, nil); err == nil {
		t.Error("a record that is no option is taken")
	}
}

// The unit of a value stands beside it, wherever it is published (X§9), and nowhere else.
func TestUnits(t *testing.T) {
	s := answer.Snapshot{Publication: &business.Publication{
		Slug: "units", Profile: business.Profile{DisplayName: "Units", ContentLanguages: []string{"en"}},
		Schema: jcs.Raw(`{"types":{"service":{"words":{"en":["service"]}}},"attributes":{"price":{"field":"price","kind":"money","currency":"GBP"},
			"price_from":{"field":"price","kind":"money_from","currency":"GBP"},"price_to":{"field":"price","kind":"money_to","currency":"EUR"},
			"price_text":{"field":"price","kind":"text"},"duration":{"field":"duration","kind":"quantity","unit":"min"}}}`),
	}}
	for id, attributes := range map[string]string{
		"polish": `{"price":30,"duration":45}`, "rinse": `{"price":30,"currency":"CHF"}`, "wash": `{"price_from":20}`, "trim": `{"price_from":20,"price_to":60}`, "wrap": `{"price_text":"ask us"}`,
	} {
		s.Records = append(s.Records, business.Record{Type: "service", ID: id, Title: id, Attributes: jcs.Raw(attributes)})
	}
	c, err := answer.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ query, value, unit, verdict string }{
		{"How much is the polish?", "30", "GBP", coverage.VerdictPublished},
		{"How much is the rinse?", "30", "CHF", coverage.VerdictPublished},
		{"How much is the wash?", `{"from":20}`, "GBP", coverage.VerdictPublished},
		{"How much is the trim?", `{"from":20,"to":60}`, "", coverage.VerdictPublished},
		{"How much is the wrap?", `"ask us"`, "", coverage.VerdictStatedInText},
		{"How long does the polish take?", "45", "min", coverage.VerdictPublished},
		{"Is the polish under 40 GBP?", "30", "GBP", coverage.VerdictTrue},
		{"Is the rinse under 40 GBP?", "30", "CHF", coverage.VerdictUnknown},
		{"Is the trim under 70 EUR?", `{"from":20,"to":60}`, "", coverage.VerdictUnknown}, // its ends are in two currencies
		{"Is the trim over 10 GBP?", `{"from":20,"to":60}`, "", coverage.VerdictUnknown},
	} {
		out, err := c.Answer(coverage.Call{Tool: "search", Handler: "knowledge.search", Arguments: jcs.Raw(fmt.Sprintf(`{"query":%q}`, tt.query)), Now: now}, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := out.Coverage.Propositions
		if len(p) != 1 || string(p[0].PublisherValue) != tt.value || p[0].Unit != tt.unit || p[0].Verdict != tt.verdict {
			t.Errorf("%s: %+v", tt.query, p)
		}
		for _, f := range out.Coverage.PublisherFacts {
			if want := tt.unit; f.Field == "price_to" && f.Unit != "EUR" || f.Field != "price_to" && f.Field != "price_from" && f.Unit != want || f.Field == "price_from" && f.Unit != "GBP" {
				t.Errorf("%s: the fact %s is in %q", tt.query, f.Field, f.Unit)
			}
		}
	}
}

// BenchmarkCrowd asks what is hit by everything that a publisher publishes.
func BenchmarkCrowd(b *testing.B) {
	for _, n := range []int{10, 1000, 10000} {
		c, err := answer.Compile(crowd(n))
		if err != nil {
			b.Fatal(err)
		}
		for _, name := range slices.Sorted(maps.Keys(crowded)) {
			call := coverage.Call{Tool: "search", Handler: "knowledge.search", Arguments: jcs.Raw(fmt.Sprintf(`{"query":%q}`, crowded[name])), Now: now}
			b.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(name, " ", "_"), n), func(b *testing.B) {
				b.ReportAllocs()
				out := 0
				for b.Loop() {
					o, err := c.Answer(call, nil)
					if err != nil {
						b.Fatal(err)
					}
					out = len(o.Result)
				}
				b.ReportMetric(float64(out), "result-B")
			})
		}
	}
}
