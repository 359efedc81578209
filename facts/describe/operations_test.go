package describe_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sayso/facts"
	"sayso/facts/describe"
)

func TestDescriptionsNameWhatIsHeld_F9_1(t *testing.T) {
	c := describe.Catalogue{
		Publisher: "Example", Count: 664, Question: "Personal Allowance",
		Examples: []string{"uk/income-tax/personal-allowance", "fr/age-majorite", "eol/python/3.14", "uk/bank-rate"},
		Namespaces: []facts.Namespace{
			{Name: "uk", Description: "Tax, benefit and wage figures of the United Kingdom, converted for demonstration"},
			{Name: "fr", Description: "Parameters of French tax and benefit law, converted for demonstration"},
			{Name: "eol", Description: "Software"},
		},
		Areas: []string{"uk-rates", "eol-dates"},
	}
	get, resolve, changed := describe.OperationsOf(c)[0], describe.OperationsOf(c)[1], describe.OperationsOf(c)[2]
	for _, part := range []string{
		"uk/income-tax/personal-allowance, fr/age-majorite, eol/python/3.14.", "Covers 664 figures: uk (Tax, benefit and wage...), fr (Parameters of French tax...", "eol (Software).",
	} {
		if !strings.Contains(get.Description, part) {
			t.Errorf("%q lacks %q", get.Description, part)
		}
	}
	if !strings.Contains(resolve.Description, `("Personal Allowance")`) || !strings.Contains(resolve.Params[1].Description, "uk, fr, eol") {
		t.Errorf("%+v", resolve)
	}
	if !strings.Contains(changed.Params[1].Description, "uk-rates, eol-dates") {
		t.Errorf("%+v", changed)
	}
	if text := describe.InstructionsOf(c); !strings.HasPrefix(text, "An official figure") || !strings.Contains(text, "Publisher: Example.") {
		t.Error(text)
	}
	for _, rule := range []string{"never", "always", "must", "use this"} {
		for _, op := range describe.OperationsOf(c) {
			if strings.Contains(strings.ToLower(op.Description), rule) {
				t.Errorf("%s gives orders: %q", op.Tool, op.Description)
			}
		}
	}
}

func TestInputSchemas_F9_1(t *testing.T) {
	want := map[string]string{
		describe.ToolGet:     `key:string! max_age:string as_of:string period:string`,
		describe.ToolResolve: `q:string! namespace:string limit:integer`,
		describe.ToolChanges: `since:string! area:string limit:integer cursor:string`,
	}
	for _, op := range describe.OperationsOf(describe.Catalogue{}) {
		var schema struct {
			Type                 string
			Properties           map[string]struct{ Type string }
			Required             []string
			AdditionalProperties *bool
		}
		if err := json.Unmarshal(op.InputSchema(), &schema); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range op.Params {
			text := p.Name + ":" + schema.Properties[p.Name].Type
			if p.Required {
				text += "!"
			}
			got = append(got, text)
		}
		if strings.Join(got, " ") != want[op.Tool] || len(schema.Properties) != len(op.Params) || schema.Type != "object" ||
			schema.AdditionalProperties == nil || *schema.AdditionalProperties || len(schema.Required) != 1 || schema.Required[0] != op.Params[0].Name {
			t.Errorf("%s: %v, schema %s", op.Tool, got, op.InputSchema())
		}
	}
}

// A tool whose arguments no list of parameters describes brings its schema.
func TestInputSchemaOfItsOwn(t *testing.T) {
	const own = `{"type":"object","anyOf":[{"required":["a"]}]}`
	op := describe.Operation{Tool: "t", Params: []describe.Param{{Name: "p", Type: "string"}}, Schema: []byte(own)}
	if got := string(op.InputSchema()); got != own {
		t.Errorf("schema %s", got)
	}
}
