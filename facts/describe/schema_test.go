package describe_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"sayso/facts"
	"sayso/facts/describe"
	"sayso/facts/factstest"
)

// TestDocumentsAreValid_F8_6 validates every document that has a schema, made from every variant.
func TestDocumentsAreValid_F8_6(t *testing.T) {
	today := factstest.Today
	for _, v := range variants() {
		t.Run(v.name, func(t *testing.T) {
			s := v.snapshot
			mustValidate(t, "well-known-facts.v0.json", describe.FactsJSON(s))
			mustValidate(t, "well-known-changes.v0.json", describe.ChangesDiscovery(s, today))
			var index bytes.Buffer
			if err := s.WriteIndex(&index, "", today); err != nil {
				t.Fatal(err)
			}
			mustValidate(t, "facts-index.v0.json", index.Bytes())
			validateChanges(t, s, today)
			if s.Info().Static {
				validateRecords(t, s, []facts.Selection{{MaxAge: facts.NoMaxAge}}, today)
				return
			}
			validateRecords(t, s, []facts.Selection{
				{MaxAge: facts.NoMaxAge}, {MaxAge: 0}, {MaxAge: 36500},
				{MaxAge: facts.NoMaxAge, AsOf: factstest.Day("2025-04-05")}, {MaxAge: 30, AsOf: factstest.Day("2027-06-01")},
				{MaxAge: facts.NoMaxAge, Period: "2025-26"}, {MaxAge: facts.NoMaxAge, Period: "2026"},
			}, today)
			validateQuestions(t, s, today)
		})
	}
}

func validateRecords(t *testing.T, s *facts.Snapshot, selections []facts.Selection, today facts.Date) {
	t.Helper()
	for key := range s.Keys() {
		for _, selection := range selections {
			answer, err := s.Get(key, selection, today)
			if err != nil {
				t.Fatal(err)
			}
			schema := "fact.v0.json"
			if answer.Outcome == facts.OutcomeNotHeld {
				schema = "fact.v0.json#/$defs/periodNotHeld"
			}
			mustValidate(t, schema, answer.AppendJSON(nil))
		}
	}
}

func validateChanges(t *testing.T, s *facts.Snapshot, today facts.Date) {
	t.Helper()
	since := factstest.Day("2024-01-01")
	for _, query := range []facts.ChangesQuery{{}, {Since: since, Limit: 50, Given: true}, {Since: since, Limit: 1, Given: true}, {Since: today, Limit: 1, Given: true}} {
		doc, err := s.AppendChanges(nil, query, today)
		if err != nil {
			t.Fatal(err)
		}
		mustValidate(t, "changes.v0.json", doc)
	}
}

func validateQuestions(t *testing.T, s *facts.Snapshot, today facts.Date) {
	t.Helper()
	for _, question := range []string{"personal allowance", "rate", "the", "no such thing 2024", "uk/bank-rate"} {
		resolution, err := s.Resolve(question, "", 20, today)
		if err != nil {
			t.Fatal(err)
		}
		mustValidate(t, "fact.v0.json#/$defs/resolution", resolution.AppendJSON(nil))
		answer, err := s.Get(question, facts.Selection{MaxAge: facts.NoMaxAge}, today)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Outcome == facts.OutcomeUnknown {
			mustValidate(t, "fact.v0.json#/$defs/unknownKey", answer.AppendJSON(nil))
		}
	}
	keys := append(slices.Collect(s.Keys()), "no/such/key")
	batch, err := s.Batch(keys[max(0, len(keys)-facts.MaxBatch):], facts.Selection{MaxAge: 30}, today)
	if err != nil {
		t.Fatal(err)
	}
	mustValidate(t, "facts-batch.v0.json", batch.AppendJSON(nil))
}

// broken is a document with one edit that makes it invalid.
type broken struct {
	schema, name string
	edit         func(m map[string]any)
}

func set(path string, value any) func(map[string]any) {
	return func(m map[string]any) {
		target, last := walk(m, path)
		target[last] = value
	}
}

func drop(path string) func(map[string]any) {
	return func(m map[string]any) {
		target, last := walk(m, path)
		delete(target, last)
	}
}

// walk follows a dotted path through objects and the first element of arrays.
func walk(m map[string]any, path string) (map[string]any, string) {
	parts := strings.Split(path, ".")
	for _, part := range parts[:len(parts)-1] {
		switch next := m[part].(type) {
		case map[string]any:
			m = next
		case []any:
			m = next[0].(map[string]any)
		}
	}
	return m, parts[len(parts)-1]
}

// TestBrokenDocumentsAreInvalid_F8_6 is the other half: a schema that admits everything proves nothing.
func TestBrokenDocumentsAreInvalid_F8_6(t *testing.T) {
	documents := map[string][]byte{}
	served, static := variants()[0].snapshot, variants()[1].snapshot
	today := factstest.Today
	get := func(s *facts.Snapshot, key string, selection facts.Selection) []byte {
		answer, err := s.Get(key, selection, today)
		if err != nil {
			t.Fatal(err)
		}
		return answer.AppendJSON(nil)
	}
	none := facts.Selection{MaxAge: facts.NoMaxAge}
	documents["fact.v0.json"] = get(served, "uk/income-tax/personal-allowance", none)
	documents["static"] = get(static, "uk/income-tax/personal-allowance", none)
	documents["withdrawn"] = get(served, "zz-smp/withdrawn/undated", none)
	documents["fact.v0.json#/$defs/unknownKey"] = get(served, "allowance/personal/nothing", none)
	documents["fact.v0.json#/$defs/periodNotHeld"] = get(served, "uk/income-tax/personal-allowance", facts.Selection{MaxAge: facts.NoMaxAge, Period: "1999-00"})
	documents["well-known-facts.v0.json"] = describe.FactsJSON(served)
	documents["static discovery"] = describe.FactsJSON(static)
	documents["well-known-changes.v0.json"] = describe.ChangesDiscovery(served, today)
	var index bytes.Buffer
	if err := served.WriteIndex(&index, "", today); err != nil {
		t.Fatal(err)
	}
	documents["facts-index.v0.json"] = index.Bytes()
	batch, err := served.Batch([]string{"uk/bank-rate", "no/such"}, none, today)
	if err != nil {
		t.Fatal(err)
	}
	documents["facts-batch.v0.json"] = batch.AppendJSON(nil)
	if documents["changes.v0.json"], err = served.AppendChanges(nil, facts.ChangesQuery{}, today); err != nil {
		t.Fatal(err)
	}

	tests := []broken{
		{"fact.v0.json", "impossible day", set("verifiedDate", "2026-02-30")},
		{"fact.v0.json", "time of day", set("effectiveFrom", "2026-02-03T00:00:00Z")},
		{"fact.v0.json", "no unit", drop("unit")},
		{"fact.v0.json", "no effectiveTo", drop("effectiveTo")},
		{"fact.v0.json", "no hash", drop("hash")},
		{"fact.v0.json", "hash in capitals", set("hash", "sha256:"+strings.Repeat("A", 64))},
		{"fact.v0.json", "null without withdrawal", set("value", nil)},
		{"fact.v0.json", "http source", set("source", "http://www.gov.uk/")},
		{"fact.v0.json", "one segment", set("key", "uk")},
		{"fact.v0.json", "key in capitals", set("key", "uk/Income-tax")},
		{"fact.v0.json", "age without status", drop("status")},
		{"fact.v0.json", "status without bar", drop("maxAgeDays")},
		{"fact.v0.json", "other status", set("status", "ok")},
		{"fact.v0.json", "fraction of a day", set("ageDays", 1.5)},
		{"fact.v0.json", "another major version", set("protocol", "verified-facts/1.0")},
		{"fact.v0.json", "other protocol", set("protocol", "verified-changes/0.1")},
		{"fact.v0.json", "long label", set("label", strings.Repeat("x", 121))},
		{"fact.v0.json", "long quote", set("quote", strings.Repeat("x", 501))},
		{"fact.v0.json", "no aliases in the list", set("aliases", []any{})},
		{"fact.v0.json", "publisher as text", set("publisher", "https://figures.example/")},
		{"fact.v0.json", "publisher without url", drop("publisher.url")},
		{"fact.v0.json", "attached payload", set("signature.jws", "e30.e30."+strings.Repeat("A", 86))},
		{"fact.v0.json", "short signature", set("signature.jws", "e30.."+strings.Repeat("A", 85))},
		{"fact.v0.json", "other algorithm", set("signature.alg", "none")},
		{"fact.v0.json", "kid with a space", set("signature.kid", "a b")},
		{"fact.v0.json", "source type", set("sourceType", "hearsay")},
		{"fact.v0.json", "score above one", set("resolved", map[string]any{"score": 1.1, "matched": []any{}})},
		{"static", "static age", set("ageDays", 3)},
		{"withdrawn", "withdrawn without a day", drop("withdrawn")},
		{"withdrawn", "superseded by no key", set("supersededBy", "nothing")},
		{"fact.v0.json#/$defs/unknownKey", "covered", set("covered", true)},
		{"fact.v0.json#/$defs/unknownKey", "no candidates member", drop("candidates")},
		{"fact.v0.json#/$defs/unknownKey", "index missing", drop("index")},
		{"fact.v0.json#/$defs/periodNotHeld", "other reason", set("reason", "unknown")},
		{"fact.v0.json#/$defs/periodNotHeld", "period as text", set("periodsHeld", []any{"2026-27"})},
		{"facts-index.v0.json", "negative count", set("count", -1)},
		{"facts-index.v0.json", "no date over entries", set("generated", nil)},
		{"facts-index.v0.json", "entry without hash", drop("facts.hash")},
		{"facts-batch.v0.json", "no results", set("results", []any{})},
		{"facts-batch.v0.json", "record without hash", drop("results.hash")},
		{"facts-batch.v0.json", "miss of no kind", set("results", []any{map[string]any{"covered": false}})},
		{"well-known-facts.v0.json", "other level", set("conformance", "L4")},
		{"well-known-facts.v0.json", "get without key", set("facts.get", "https://figures.example/f/")},
		{"well-known-facts.v0.json", "served without resolve", drop("facts.resolve")},
		{"well-known-facts.v0.json", "served without OpenAPI", drop("openapi")},
		{"well-known-facts.v0.json", "L3 without keys", drop("keys")},
		{"well-known-facts.v0.json", "no date over facts", set("updated", nil)},
		{"well-known-facts.v0.json", "namespace without authorities", drop("namespaces.authorities")},
		{"well-known-facts.v0.json", "other hash", set("hash", "md5")},
		{"well-known-facts.v0.json", "no changes", drop("changes")},
		{"static discovery", "L2 that filters nothing", set("conformance", "L2")},
		{"static discovery", "filtering unknown", set("facts.filtering", "none")},
		{"well-known-changes.v0.json", "no areas member", drop("areas")},
		{"well-known-changes.v0.json", "area without name", drop("areas.name")},
		{"well-known-changes.v0.json", "cadence type", set("areas.cadenceType", "sometimes")},
		{"well-known-changes.v0.json", "no endpoint", drop("endpoints.json")},
		{"well-known-changes.v0.json", "other protocol", set("protocol", "verified-facts/0.2")},
		{"changes.v0.json", "entry without factKey", drop("entries.factKey")},
		{"changes.v0.json", "entry without from", drop("entries.from")},
		{"changes.v0.json", "impossible day", set("entries.verifiedDate", "2025-02-29")},
		{"changes.v0.json", "head is no hash", set("chainHead", "none")},
		{"changes.v0.json", "negative seq", set("entries.seq", -1)},
		{"changes.v0.json", "correction false", set("entries.correction", false)},
		{"changes.v0.json", "count missing", drop("count")},
	}
	schemaOf := map[string]string{"static": "fact.v0.json", "withdrawn": "fact.v0.json", "static discovery": "well-known-facts.v0.json"}
	for name, doc := range documents {
		mustValidate(t, cmpOr(schemaOf[name], name), doc)
	}
	for _, test := range tests {
		m := object(t, documents[test.schema])
		test.edit(m)
		doc, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if validate(cmpOr(schemaOf[test.schema], test.schema), doc) == nil {
			t.Errorf("%s, %s: valid", test.schema, test.name)
		}
	}
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// TestAdditionalMembersAreAllowed: publishers may add members anywhere.
func TestAdditionalMembersAreAllowed_F8_6(t *testing.T) {
	s := variants()[0].snapshot
	for schema, doc := range map[string][]byte{
		"well-known-facts.v0.json":   describe.FactsJSON(s),
		"well-known-changes.v0.json": describe.ChangesDiscovery(s, factstest.Today),
	} {
		m := object(t, doc)
		m["somethingNew"] = true
		for _, section := range m {
			if inner, ok := section.(map[string]any); ok {
				inner["somethingNew"] = map[string]any{}
			}
		}
		edited, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		mustValidate(t, schema, edited)
	}
}

func TestSchemaFiles(t *testing.T) {
	want := []string{"changes.v0.json", "fact.v0.json", "facts-batch.v0.json", "facts-index.v0.json", "well-known-changes.v0.json", "well-known-facts.v0.json"}
	if got := slices.Sorted(slices.Values(describe.SchemaNames())); !slices.Equal(got, want) {
		t.Errorf("names %v", got)
	}
	for _, name := range want {
		doc, ok := describe.Schema(name, "http://127.0.0.1:8470")
		m := object(t, doc)
		if !ok || m["$id"] != "http://127.0.0.1:8470/schema/"+name || m["$schema"] != "https://json-schema.org/draft/2020-12/schema" {
			t.Errorf("%s: $id %v", name, m["$id"])
		}
		if m["title"] == "" || m["description"] == "" || bytes.Contains(doc, []byte("{origin}")) {
			t.Errorf("%s lacks a title or description, or keeps its template", name)
		}
	}
	for _, name := range []string{"", "fact.v1.json", "../schema.go", "schema/fact.v0.json"} {
		if doc, ok := describe.Schema(name, factstest.Origin); ok || doc != nil {
			t.Errorf("%q has a schema", name)
		}
	}
	if len(slices.Collect(maps.Keys(schemas()))) < len(want) {
		t.Error("not all schemas compile")
	}
}
