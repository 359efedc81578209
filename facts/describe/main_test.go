package describe_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"sayso/facts"
	"sayso/facts/describe"
	"sayso/facts/factstest"
)

// variant is one snapshot of the matrix every document is made from.
type variant struct {
	name     string
	snapshot *facts.Snapshot
}

// variants are the datasets in every form they can be published in.
var variants = sync.OnceValue(func() []variant {
	small := factstest.Generate(factstest.Options{Facts: 300, Seed: 5, Values: 3, Unsigned: true})
	small.KeyPolicy, small.History = factstest.Origin+"/keys", factstest.Origin+"/history"
	small.SelfCheck = &facts.SelfCheck{Schedule: "every Monday", Last: "2026-11-23"}
	return []variant{
		{"signed, served", snapshot(withChanges(factstest.Sample()), "L3", false)},
		{"signed, static", snapshot(withChanges(factstest.Sample()), "L3", true)},
		{"unsigned, served", snapshot(unsigned(), "L2", false)},
		{"unsigned, static", snapshot(unsigned(), "L1", true)},
		{"generated, served", snapshot(small, "L2", false)},
		{"empty, served", snapshot(factstest.Generate(factstest.Options{Unsigned: true}), "L2", false)},
		{"empty, static", snapshot(factstest.Generate(factstest.Options{Unsigned: true}), "L1", true)},
	}
})

// unsigned is the sample of a publisher without keys.
func unsigned() *facts.Dataset {
	ds := factstest.Sample()
	ds.Signed, ds.Keys = false, nil
	for i := range ds.Facts {
		for j := range ds.Facts[i].Values {
			ds.Facts[i].Values[j].Signature = nil
		}
	}
	return ds
}

func snapshot(ds *facts.Dataset, level string, static bool) *facts.Snapshot {
	s, err := facts.NewSnapshot(ds, facts.Options{Origin: factstest.Origin, Conformance: level, Static: static})
	if err != nil {
		panic(err)
	}
	return s
}

// withChanges adds a chain of three entries for the personal allowance and one withdrawal.
func withChanges(ds *facts.Dataset) *facts.Dataset {
	entry := facts.Entry{
		Area: "uk-rates", Key: "income-tax/personal-allowance", FactKey: "uk/income-tax/personal-allowance", Label: "Personal Allowance",
		From: facts.Null, To: "12500", Unit: "GBP/year", Period: "2020-21", EffectiveFrom: factstest.Day("2020-04-06"),
		Source: "https://www.gov.uk/income-tax-rates", VerifiedDate: factstest.Day("2025-03-02"),
	}
	second := entry
	second.From, second.To, second.Period = "12500", "12570", "2025-26"
	second.EffectiveFrom, second.VerifiedDate = factstest.Day("2025-04-06"), factstest.Day("2026-03-02")
	third := second
	third.From, third.Period, third.Quote = "12570", "2026-27", "£12,570"
	third.EffectiveFrom, third.VerifiedDate = factstest.Day("2026-04-06"), factstest.Day("2026-10-04")
	gone := facts.Entry{
		Area: "samples", Key: "withdrawn/dated", FactKey: "zz-smp/withdrawn/dated", From: "7", To: facts.Null, Unit: "EUR", Period: "2026",
		EffectiveFrom: factstest.Day("2026-05-01"), Source: "https://authority.example/figures", VerifiedDate: factstest.Day("2026-10-04"),
		Withdrawn: factstest.Day("2026-05-02"), SupersededBy: "zz-smp/ended/figure", Seq: 1,
	}
	var chain []facts.Entry
	for _, batch := range [][]facts.Entry{{entry}, {second}, {third, gone}} {
		var err error
		if chain, err = facts.AppendEntries(chain, batch); err != nil {
			panic(err)
		}
	}
	ds.Changes = chain
	return ds
}

// schemas compiles the published schemas as a reader would: fetched from the origin, dates checked as calendar days.
var schemas = sync.OnceValue(func() map[string]*jsonschema.Schema {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	for _, name := range describe.SchemaNames() {
		doc, _ := describe.Schema(name, factstest.Origin)
		parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
		if err == nil {
			err = c.AddResource(factstest.Origin+"/schema/"+name, parsed)
		}
		if err != nil {
			panic(err)
		}
	}
	compiled := map[string]*jsonschema.Schema{}
	for _, name := range append(describe.SchemaNames(), "fact.v0.json#/$defs/unknownKey", "fact.v0.json#/$defs/periodNotHeld",
		"fact.v0.json#/$defs/resolution", "fact.v0.json#/$defs/problem") {
		compiled[name] = c.MustCompile(factstest.Origin + "/schema/" + name)
	}
	return compiled
})

// validate checks a document against a published schema.
func validate(schema string, doc []byte) error {
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return err
	}
	return schemas()[schema].Validate(parsed)
}

func mustValidate(t *testing.T, schema string, doc []byte) {
	t.Helper()
	if err := validate(schema, doc); err != nil {
		t.Errorf("%s: %v\n%.2000s", schema, err, doc)
	}
}

// object parses a JSON object for inspection.
func object(t *testing.T, doc []byte) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(doc, &m); err != nil {
		t.Fatalf("%v: %s", err, doc)
	}
	return m
}

// names are the members of a compact JSON object in the order they are written.
func names(t *testing.T, doc []byte) []string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(doc))
	var out []string
	depth := 0
	expectName := false
	for {
		token, err := d.Token()
		if err != nil {
			return out
		}
		switch v := token.(type) {
		case json.Delim:
			if strings.ContainsRune("{[", rune(v)) {
				depth++
			} else {
				depth--
			}
			expectName = depth == 1
		case string:
			if depth == 1 && expectName {
				out = append(out, v)
				expectName = false
				continue
			}
			expectName = depth == 1
		default:
			expectName = depth == 1
		}
	}
}

// inOrder reports whether the members stand in the order of a specification table.
func inOrder(got, table []string) bool {
	last := -1
	for _, name := range got {
		i := slices.Index(table, name)
		if i <= last {
			return false
		}
		last = i
	}
	return true
}
