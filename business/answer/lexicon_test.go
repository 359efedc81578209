package answer_test

import (
	"testing"

	"sayso/business"
	"sayso/business/answer"
	"sayso/business/coverage"
	"sayso/jcs"
)

// A title is found in every language that is published, however many there are and wherever their heads stand.
func TestTitlesInFourLanguages(t *testing.T) {
	languages := []string{"en", "de", "es", "fr"}
	for first := range languages {
		order := append(append([]string{}, languages[first:]...), languages[:first]...)
		c, err := answer.Compile(answer.Snapshot{
			Publication: &business.Publication{Slug: "shop", Profile: business.Profile{DisplayName: "Four", ContentLanguages: order}},
			Records: []business.Record{
				{Type: "item", ID: "1", Title: "Jacket wash"}, {Type: "item", ID: "2", Title: "Check-up kit"}, {Type: "item", ID: "3", Title: "Pegs"},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, language := range languages {
			for _, title := range []string{"Jacket wash", "Check-up kit", "Checkup kit", "Pegs"} {
				arguments, err := jcs.Encode(map[string]string{"query": title, "language": language})
				if err != nil {
					t.Fatal(err)
				}
				out, err := c.Answer(coverage.Call{Tool: "ask", Handler: "knowledge.search", Arguments: arguments}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if out.Coverage.Status != coverage.Resolved {
					t.Errorf("published in %v, %q asked in %s: %s, %+v", order, title, language, out.Coverage.Status, out.Coverage.Unresolved)
				}
			}
		}
	}
}

// A record in an answer names its publisher, which a store keeps beside it.
func TestGetNamesThePublisher(t *testing.T) {
	c, err := answer.Compile(answer.Snapshot{
		Publication: &business.Publication{Slug: "shop", Profile: business.Profile{DisplayName: "Shop", ContentLanguages: []string{"en"}}},
		Records:     []business.Record{{Type: "item", ID: "1", Title: "Pegs"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.Answer(coverage.Call{Tool: "get", Handler: "knowledge.get", Arguments: jcs.Raw(`{"records":[{"type":"item","id":"1"}]}`)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var result struct {
		Records []business.Record `json:"records"`
	}
	if err := business.Decode(out.Result, &result); err != nil || len(result.Records) != 1 || result.Records[0].Publisher != "shop" {
		t.Errorf("%s, %v", out.Result, err)
	}
}
