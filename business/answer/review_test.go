package answer_test

import (
	"testing"
	"time"

	"sayso/business"
	"sayso/business/answer"
	"sayso/business/coverage"
	"sayso/jcs"
)

// threeBranches is a shop with a list, a stream and titles that hold words of another language.
func threeBranches(t *testing.T) *answer.Compiled {
	t.Helper()
	c, err := answer.Compile(answer.Snapshot{
		Publication: &business.Publication{
			Slug: "shop",
			Profile: business.Profile{DisplayName: "Shop", ContentLanguages: []string{"en", "de"}, Locations: []business.Location{
				{ID: "north", Primary: true, Name: "North Street"}, {ID: "south", Name: "South Street"}, {ID: "west", Name: "West Street"},
			}},
			Schema: jcs.Raw(`{"types":{"room":{}},"attributes":{"price":{"field":"price","kind":"money","currency":"EUR"}},
				"lists":{"cards":{"nouns":{"en":["cards"]},"verbs":{"en":["accept"]},"values":["visa"],"closed":true,"domain":{"terms":["visa","amex"]}}},
				"streams":[{"key":"free","scoped_by":"location","kind":"count","sla_seconds":60,"max_age_seconds":600}]}`),
		},
		Records: []business.Record{{Type: "room", ID: "double", Title: "Double room", Attributes: jcs.Raw(`{"price":90}`)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// request repeats what was compared with a list, as it repeats what was compared with a field (X§5.3).
func TestRequestHoldsMemberships(t *testing.T) {
	out, err := threeBranches(t).Answer(coverage.Call{Tool: "ask", Handler: "knowledge.search", Arguments: jcs.Raw(`{"query":"Is a double room under 100 EUR and do you accept amex?"}`)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r := out.Coverage.Request; len(r) != 2 || r[0].Op != "lt" || r[1].Op != "contains" || r[1].Field != "cards" || r[1].Span == nil || r[1].Span.Text != "amex" {
		t.Errorf("%+v", r)
	}
}

// A word that is always content stands in the titles of other languages too: it does not decide in which language a question is asked.
func TestLanguageByGrammar(t *testing.T) {
	out, err := threeBranches(t).Answer(coverage.Call{Tool: "ask", Handler: "knowledge.search", Arguments: jcs.Raw(`{"query":"Was kostet Double room?"}`)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if out.Coverage.Status != coverage.Resolved {
		t.Errorf("%s %+v", out.Coverage.Status, out.Coverage.Unresolved)
	}
}

type threeReadings struct{}

func (threeReadings) Latest(string, *coverage.Key, string) (out []answer.Reading, err error) {
	for _, place := range []string{"north", "south", "west"} {
		out = append(out, answer.Reading{Stream: "free", Location: place, Value: jcs.Raw("4")})
	}
	return out, nil
}

// What exceeds the limit was not looked at (I15).
func TestLimitOfReadings(t *testing.T) {
	for limit, complete := range map[string]bool{"1": false, "2": false, "3": true} {
		out, err := threeBranches(t).Answer(coverage.Call{Tool: "live", Handler: "live.query", Arguments: jcs.Raw(`{"stream":"free","limit":` + limit + `}`), Now: time.Time{}.Add(time.Second)}, threeReadings{})
		if err != nil {
			t.Fatal(err)
		}
		if out.Coverage.EvidenceComplete != complete || (out.Coverage.Status == coverage.Resolved) != complete {
			t.Errorf("limit %s: %s, evidence_complete %v", limit, out.Coverage.Status, out.Coverage.EvidenceComplete)
		}
	}
}

// Variants of one record are told apart as variants, also when the record itself states no value.
func TestVariantIsAsked(t *testing.T) {
	variant := []business.Link{{Rel: "variant_of", Type: "item", ID: "tent"}}
	c, err := answer.Compile(answer.Snapshot{
		Publication: &business.Publication{
			Slug: "shop", Profile: business.Profile{DisplayName: "Shop", ContentLanguages: []string{"en"}},
			Schema: jcs.Raw(`{"types":{"item":{}},"attributes":{"price":{"field":"price","kind":"money","currency":"EUR"}}}`),
		},
		Records: []business.Record{
			{Type: "item", ID: "tent", Title: "Tent"},
			{Type: "item", ID: "tent3", Title: "Tent for three", Attributes: jcs.Raw(`{"price":300}`), Links: variant},
			{Type: "item", ID: "tent4", Title: "Tent for four", Attributes: jcs.Raw(`{"price":400}`), Links: variant},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(arguments string) *coverage.Outcome {
		t.Helper()
		out, err := c.Answer(coverage.Call{Tool: "ask", Handler: "knowledge.search", Arguments: jcs.Raw(arguments)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	open := ask(`{"query":"How much is the tent?"}`)
	if open.Coverage.Status != coverage.NeedsContext || open.Clarification.Missing[0].Name != "variant" || len(open.Clarification.Missing[0].Options) != 2 {
		t.Fatalf("%+v %+v", open.Coverage.Status, open.Clarification)
	}
	bound := ask(`{"query":"How much is the tent?","bound":{"variant":"item/tent3"}}`)
	if bound.Coverage.Status != coverage.Resolved || len(bound.Coverage.PublisherFacts) != 1 || string(bound.Coverage.PublisherFacts[0].Value) != "300" {
		t.Errorf("%+v", bound.Coverage)
	}
}
