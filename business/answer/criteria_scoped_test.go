package answer_test

import (
	"testing"

	"sayso/business"
	"sayso/business/answer"
	"sayso/business/coverage"
	"sayso/jcs"
)

// Criteria about a field that holds per location are settled at the locations, as the words of a question are (S8, S7).
func TestScopedCriteria(t *testing.T) {
	c, err := answer.Compile(answer.Snapshot{
		Publication: &business.Publication{
			Slug: "shop",
			Profile: business.Profile{DisplayName: "Shop", ContentLanguages: []string{"en"}, Locations: []business.Location{
				{ID: "north", Primary: true, Name: "North Street"}, {ID: "south", Name: "South Street"}, {ID: "west", Name: "West Street"},
			}},
			Schema: jcs.Raw(`{"types":{"product":{}},"attributes":{"stock":{"field":"stock","kind":"count","scoped_by":"location"},
				"price":{"field":"price","kind":"money","currency":"EUR","scoped_by":"location"},"here":{"field":"available","kind":"bool","scoped_by":"location"}}}`),
		},
		Records: []business.Record{
			{Type: "product", ID: "drill", Title: "Drill", Attributes: jcs.Raw(`{"stock":{"north":4,"south":0},"price":{"north":9,"south":12},"here":{"north":true,"south":false}}`)},
			{Type: "product", ID: "saw", Title: "Saw", Attributes: jcs.Raw(`{"stock":{"north":2,"south":2,"west":2}}`)},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		criterion, bound string
		status           coverage.Status
		polarity         string
		missing          string
	}{
		{`"id":"drill","field":"stock","op":"exists"`, `"location":"north"`, coverage.Resolved, "positive", ""},
		{`"id":"drill","field":"stock","op":"exists"`, `"location":"south"`, coverage.Resolved, "negative", ""},
		{`"id":"drill","field":"stock","op":"exists"`, `"location":"west"`, coverage.Partial, "", ""},
		{`"id":"drill","field":"stock","op":"exists"`, ``, coverage.NeedsContext, "", "location"},
		{`"id":"saw","field":"stock","op":"exists"`, ``, coverage.Resolved, "positive", ""},
		{`"field":"stock","op":"exists"`, `"location":"north"`, coverage.NeedsContext, "", "record"},
		{`"id":"drill","field":"stock","op":"gt","value":3`, `"location":"north"`, coverage.Resolved, "positive", ""},
		{`"id":"drill","field":"stock","op":"gt","value":4`, `"location":"north"`, coverage.Resolved, "negative", ""},
		{`"id":"drill","field":"stock","op":"gt","value":3`, ``, coverage.NeedsContext, "", "location"},
		{`"id":"saw","field":"stock","op":"gt","value":1`, ``, coverage.Resolved, "positive", ""},
		{`"id":"drill","field":"price","op":"lt","value":10,"unit":"EUR"`, `"location":"north"`, coverage.Resolved, "positive", ""},
		{`"id":"drill","field":"price","op":"lt","value":10,"unit":"EUR"`, `"location":"west"`, coverage.Partial, "", ""},
		{`"id":"drill","field":"price","op":"lt","value":10,"unit":"GBP"`, `"location":"north"`, coverage.Partial, "", ""},
		{`"id":"drill","field":"price","op":"exists"`, `"location":"south"`, coverage.Resolved, "", ""},
		{`"id":"drill","field":"available","op":"is","value":true`, `"location":"south"`, coverage.Resolved, "negative", ""},
		{`"id":"drill","field":"available","op":"is","value":false`, `"location":"south"`, coverage.Resolved, "positive", ""},
		{`"id":"axe","field":"stock","op":"exists"`, `"location":"north"`, coverage.NotCovered, "", ""},
	} {
		arguments := `{"criteria":[{"type":"product",` + test.criterion + `}],"bound":{` + test.bound + `}}`
		out, err := c.Answer(coverage.Call{Tool: "ask", Handler: "knowledge.search", Arguments: jcs.Raw(arguments)}, nil)
		if err != nil {
			t.Errorf("%s: %v", arguments, err)
			continue
		}
		polarity, missing := "", ""
		if out.Coverage.Answer != nil {
			polarity = out.Coverage.Answer.Polarity
		}
		if out.Clarification != nil {
			missing = out.Clarification.Missing[0].Name
		}
		if out.Coverage.Status != test.status || polarity != test.polarity || missing != test.missing {
			t.Errorf("%s: %s %q %q, want %s %q %q: %+v", arguments, out.Coverage.Status, polarity, missing, test.status, test.polarity, test.missing, out.Coverage.Unresolved)
		}
	}
}
