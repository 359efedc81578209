package bundle_test

import (
	"io"
	"strings"
	"testing"

	"sayso/business"
	"sayso/business/bundle"
)

// read collects what a file of records gives.
func read(r io.Reader, name string, o bundle.Options) (records []*business.Record, problems []bundle.Problem) {
	format, _ := bundle.FormatOf(name)
	for rec, p := range bundle.Records(r, name, format, o) {
		if rec != nil {
			records = append(records, rec)
		}
		if p != nil {
			problems = append(problems, *p)
		}
	}
	return records, problems
}

func schema(t testing.TB) *business.Schema {
	t.Helper()
	s, problems := bundle.Schema([]byte(`{"types":{"service":{"words":{"en":["service"]}}},
	 "attributes":{"price":{"field":"price","kind":"money","currency":"GBP"},"price_from":{"field":"price","kind":"money_from","currency":"GBP"},
	 "price_to":{"field":"price","kind":"money_to","currency":"GBP"},
	 "price_mode":{"field":"price","kind":"mode","deferred":["on_request"]},"duration":{"field":"duration","kind":"quantity","unit":"min"},
	 "stock":{"field":"stock","kind":"count","scoped_by":"location"},"available":{"field":"available","kind":"bool","scoped_by":"location"},
	 "balcony":{"kind":"bool","words":{"en":["balcony"]}},"note":{"kind":"text"},"colours":{"kind":"list"}},
	 "profile":{"parking":{"kind":"bool","words":{"en":["parking"]}}}}`), "schema.json")
	if problems != nil {
		t.Fatal(problems)
	}
	return s
}

func options(t testing.TB) bundle.Options {
	return bundle.Options{Publisher: "shop", BaseURL: "https://registry.example/b/shop", Schema: schema(t), Locations: []string{"northgate", "harbour"}}
}

// rulesOf lists rule and field of every problem, warnings with a w.
func rulesOf(problems []bundle.Problem) string {
	var out []string
	for _, p := range problems {
		s := p.Rule + " " + p.Field
		if p.Warning {
			s += " w"
		}
		out = append(out, strings.TrimSpace(s))
	}
	return strings.Join(out, ", ")
}
