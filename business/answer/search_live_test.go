package answer

import (
	"testing"
	"time"

	"sayso/business"
	"sayso/business/coverage"
	"sayso/jcs"
)

type latest []Reading

func (l latest) Latest(string, *coverage.Key, string) ([]Reading, error) { return l, nil }

// hybrid.resolve answers a field that is bound to a stream from its reading: fresh up to the last millisecond of its SLA, stale and partial after it, gone after
// its greatest age. knowledge.search never reads one.
func TestHybridReadings(t *testing.T) {
	at := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	c, err := Compile(Snapshot{
		Publication: &business.Publication{
			Slug: "shop",
			Profile: business.Profile{DisplayName: "Shop", ContentLanguages: []string{"en"}, Locations: []business.Location{
				{ID: "north", Primary: true, Name: "North Street"}, {ID: "south", Name: "South Street"},
			}},
			Schema: jcs.Raw(`{"types":{"product":{}},"attributes":{"stock":{"field":"stock","kind":"count","scoped_by":"location","source":"stream:shelf"}},
				"streams":[{"key":"shelf","subject":"product","scoped_by":"location","kind":"count","sla_seconds":60,"max_age_seconds":600}]}`),
		},
		Records: []business.Record{{Type: "product", ID: "drill", Title: "Drill", Attributes: jcs.Raw(`{"stock":{"north":9,"south":9}}`)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(handler, arguments string, age time.Duration) *coverage.Outcome {
		t.Helper()
		r := latest{{Stream: "shelf", Subject: &coverage.Key{Type: "product", ID: "drill"}, Location: "north", Value: jcs.Raw("0"), ObservedAt: at, ReceivedAt: at}}
		out, err := c.Answer(coverage.Call{Tool: "t", Handler: handler, Arguments: jcs.Raw(arguments), Now: at.Add(age)}, r)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	const question = `{"query":"Is the drill in stock at North Street?"}`
	fresh := ask("hybrid.resolve", question, time.Minute)
	if fresh.Coverage.Status != coverage.Resolved || fresh.Coverage.Answer.Polarity != coverage.Negative || fresh.AnyStale || fresh.MaxAge != time.Minute || fresh.SLA != time.Minute {
		t.Errorf("fresh: %+v", fresh)
	}
	stale := ask("hybrid.resolve", question, time.Minute+time.Millisecond)
	if stale.Coverage.Status != coverage.Partial || !stale.AnyStale || stale.Coverage.Unresolved[0].Reason != coverage.ReasonStale ||
		stale.Coverage.Answer != nil || stale.Coverage.Propositions[0].Verdict != coverage.VerdictUnknown {
		t.Errorf("stale: %+v", stale)
	}
	for name, out := range map[string]*coverage.Outcome{
		"too old": ask("hybrid.resolve", question, 601*time.Second), "not live": ask("hybrid.resolve", question[:len(question)-1]+`,"live":false}`, 0),
		"static": ask("knowledge.search", question, 0), "never": ask("hybrid.resolve", `{"query":"Is the drill in stock at South Street?"}`, 0),
	} {
		if out.Coverage.Status != coverage.Partial || out.Coverage.Unresolved[0].Field != "stock" || out.Coverage.Unresolved[0].Reason != coverage.ReasonNotPublished || out.MaxAge != 0 {
			t.Errorf("%s: %+v", name, out.Coverage)
		}
	}
}
