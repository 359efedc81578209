package answer

import (
	"errors"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"sayso/business"
	"sayso/business/coverage"
	"sayso/jcs"
)

func schemaOf(t testing.TB, handler string) *jsonschema.Schema {
	t.Helper()
	declared, err := business.ParseSchema([]byte(lakeSchema))
	if err != nil {
		t.Fatal(err)
	}
	text := InputSchema(handler, declared)
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatalf("%s: %v", handler, err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("input.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("input.json")
	if err != nil {
		t.Fatalf("%s: %v", handler, err)
	}
	return s
}

func accepts(t testing.TB, s *jsonschema.Schema, arguments string) bool {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(arguments))
	if err != nil {
		t.Fatalf("%s: %v", arguments, err)
	}
	return s.Validate(doc) == nil
}

func TestInputSchemas(t *testing.T) {
	for _, handler := range business.Handlers {
		schemaOf(t, handler)
		text := InputSchema(handler, nil)
		if err := jcs.Check(text); err != nil {
			t.Errorf("%s: %v", handler, err)
		}
		if !strings.Contains(string(text), `"additionalProperties":false`) || !strings.Contains(string(text), `"type":"object"`) {
			t.Errorf("%s: %s", handler, text)
		}
		if string(text) != string(InputSchema(handler, nil)) {
			t.Errorf("%s: two texts of one schema", handler)
		}
	}
	if InputSchema("knowledge.guess", nil) != nil {
		t.Error("a schema of a handler that does not exist")
	}
	search := schemaOf(t, "knowledge.search")
	for arguments, want := range map[string]bool{
		`{"query":"eye exam"}`: true, `{}`: false, `{"query":""}`: false, `{"query":"a","live":true}`: false, `{"query":"a","bound":{"record.1":"service/x"}}`: true,
		`{"query":"a","bound":{"record.x":"service/x"}}`: false, `{"criteria":[{"field":"price","op":"le","value":50.0,"unit":"EUR"}]}`: true,
		`{"criteria":[{"field":"price","op":"eq","value":50}]}`: false, `{"query":"` + strings.Repeat("é", 512) + `"}`: true, `{"query":"` + strings.Repeat("é", 513) + `"}`: false,
	} {
		if got := accepts(t, search, arguments); got != want {
			t.Errorf("%s: accepted %t", arguments, got)
		}
	}
	if !accepts(t, schemaOf(t, "hybrid.resolve"), `{"query":"a","live":true}`) {
		t.Error("hybrid.resolve does not take live")
	}
}

// The schema of a handler and the handler agree: what the schema refuses the handler refuses. The other way round only what a schema cannot say may differ.
func TestInputSchemasAgree(t *testing.T) {
	c := indexed(t, lake())
	for _, handler := range business.Handlers {
		s := schemaOf(t, handler)
		for _, arguments := range argumentCorpus {
			_, err := run(c, handler, arguments, &stored{})
			var call *coverage.CallError
			if refused := errors.As(err, &call); !accepts(t, s, arguments) && !refused {
				t.Errorf("%s %s: the schema refuses it, the handler does not", handler, arguments)
			}
		}
	}
	for handler, arguments := range map[string]string{ // in order for both
		"knowledge.search":    `{"query":"skiff","language":"en","bound":{"record.1":"boat/punt"},"include":["content"],"limit":1}`,
		"hybrid.resolve":      `{"criteria":[{"type":"boat","id":"skiff","field":"price","op":"le","value":50.0,"unit":"EUR"}],"live":false}`,
		"knowledge.get":       `{"records":[{"type":"boat","id":"skiff"}],"fields":["price"],"include":["content"]}`,
		"knowledge.neighbors": `{"type":"boat","id":"skiff","rel":["x-stored-with"],"direction":"in","limit":5}`,
		"live.query":          `{"stream":"free_boats","subject":{"type":"boat","id":"skiff"},"bound":{"location":"one"},"limit":50}`,
		"live.nearest":        `{"stream":"hire","predicate":{"op":"between","value":[1,2.50],"unit":"EUR"},"bound":{"caller_location":{"latitude":-90,"longitude":180}},"max_distance_km":0.5}`,
		"branches.nearest":    `{"caller_location":{"latitude":1.50,"longitude":-180.0},"open_at":"now","limit":20}`,
	} {
		if !accepts(t, schemaOf(t, handler), arguments) {
			t.Errorf("%s: the schema refuses %s", handler, arguments)
		}
		must(t, c, handler, arguments, &stored{})
	}
}

// argumentCorpus are arguments of all kinds, in order and not; each is tried on each handler.
var argumentCorpus = []string{
	`{}`, `[]`, `7`, `""`, `{"records":[{"type":"boat","id":"skiff"}]}`, `{"records":[{"type":"boat","id":"skiff"}],"fields":[]}`, `{"records":[{"type":"boat","id":"ski\u0007ff"}]}`,
	`{"records":[{"type":"boat","id":"skiff"}],"include":["content","content"]}`, `{"records":{"type":"boat","id":"skiff"}}`, `{"type":"boat","id":"skiff"}`, `{"type":"boat","id":""}`,
	`{"type":"boat","id":"skiff","rel":["part_of","part_of"]}`, `{"type":"boat","id":"skiff","rel":["x-"]}`, `{"type":"boat","id":"skiff","limit":1.0}`, `{"type":"boat","id":"skiff","limit":50.5}`,
	`{"stream":"free_boats"}`, `{"stream":"notice"}`, `{"stream":"flag_up","location":"two"}`, `{"stream":"tide"}`, `{"stream":"flag_up","bound":{}}`, `{"stream":"flag_up","bound":{"date":"2026-01-01"}}`,
	`{"stream":"flag_up","caller_location":{"latitude":0,"longitude":0}}`, `{"stream":"flag_up","predicate":{"op":"is","value":[true]}}`, `{"stream":"wait","predicate":{"op":"lt","value":5,"unit":""}}`,
	`{"stream":"flag_up","max_distance_km":-1}`, `{"caller_location":{"latitude":0,"longitude":0}}`, `{"caller_location":{"latitude":90.00000001,"longitude":0}}`, `{"caller_location":[0,0]}`,
	`{"caller_location":{"latitude":0,"longitude":0},"max_distance_km":1e3,"limit":3,"open_at":"now"}`, `{"open_at":""}`, `{"limit":null}`, `{"limit":21}`,
	`{"query":"skiff"}`, `{"query":7}`, `{"query":"a","criteria":[]}`, `{"criteria":[{"field":"price"}]}`, `{"criteria":[{"type":"boat","field":"price","op":"exists"}]}`, `{"query":"a","live":true}`,
	`{"query":"a","live":1}`, `{"query":"a","bound":{"variant.0":"boat/a"}}`, `{"query":"a","language":"e"}`, `{"query":"a","include":[]}`, `{"criteria":[{"field":"price","op":"le","value":[1,2,3]}]}`,
	`{"criteria":[{"field":"price","op":"le","value":{"a":1}}]}`, `{"query":"skiff","bound":{"location":""}}`, `{"bound":{"caller_location":{"latitude":0,"longitude":-180.1}}}`,
}

// FuzzHandlerArguments gives every handler any text: it answers, or it says that the caller is at fault, and every answer is sound.
func FuzzHandlerArguments(f *testing.F) {
	handlers := business.Handlers
	for i := range handlers {
		for _, arguments := range argumentCorpus {
			f.Add(byte(i), arguments)
		}
	}
	c := indexed(f, lake())
	r := readings(f, "free_boats boat/skiff one 4 30s", "free_boats boat/skiff two 5 30s", "flag_up - one true 1s", "flag_up - two false 61s", "wait - one 5 1s", "hire - three 5.50 1s", `notice - - "calm" 1s`)
	f.Fuzz(func(t *testing.T, which byte, arguments string) {
		handler := handlers[int(which)%len(handlers)]
		out, err := run(c, handler, arguments, r)
		if err != nil {
			var call *coverage.CallError
			if !errors.As(err, &call) || len(call.Message) > 600 {
				t.Fatalf("%s %q: %v", handler, arguments, err)
			}
			return
		}
		sound(t, out)
	})
}
