package factscheck

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"sayso/facts/describe"
	"sayso/jcs"
)

// The schemas and the parts of them that answers are validated against.
const (
	schemaFacts      = "well-known-facts.v0.json"
	schemaIndex      = "facts-index.v0.json"
	schemaFact       = "fact.v0.json"
	schemaBatch      = "facts-batch.v0.json"
	schemaChanges    = "changes.v0.json"
	schemaWellKnown  = "well-known-changes.v0.json"
	schemaUnknownKey = "fact.v0.json#/$defs/unknownKey"
	schemaNotHeld    = "fact.v0.json#/$defs/periodNotHeld"
	schemaResolution = "fact.v0.json#/$defs/resolution"
)

type schemas map[string]*jsonschema.Schema

// noLoader keeps a schema reference from being fetched: all schemas are embedded.
type noLoader struct{}

func (noLoader) Load(string) (any, error) {
	return nil, errors.New("schemas are embedded, none is loaded")
}

// schemaOrigin is the origin under which the schemas are compiled. It is never the checked one, which may be no URL at all.
const schemaOrigin = "https://publisher.example"

// compiledSchemas compiles the published schemas. They are part of the program, so an error is a fault of the build.
var compiledSchemas = sync.OnceValue(func() schemas {
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(noLoader{})
	compiler.AssertFormat()
	for _, name := range describe.SchemaNames() {
		text, _ := describe.Schema(name, schemaOrigin)
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err == nil {
			err = compiler.AddResource(schemaOrigin+"/schema/"+name, doc)
		}
		if err != nil {
			panic(fmt.Sprintf("factscheck: embedded schema %s: %v", name, err))
		}
	}
	out := schemas{}
	for _, name := range []string{schemaFacts, schemaIndex, schemaFact, schemaBatch, schemaChanges, schemaWellKnown, schemaUnknownKey, schemaNotHeld, schemaResolution} {
		s, err := compiler.Compile(schemaOrigin + "/schema/" + name)
		if err != nil {
			panic(fmt.Sprintf("factscheck: embedded schema %s: %v", name, err))
		}
		out[name] = s
	}
	return out
})

// check validates a document and says what does not fit, "" when everything does. Text that is not strict JSON does not fit anything.
func (s schemas) check(name string, data []byte) string {
	if err := jcs.Check(data); err != nil {
		return "not strict JSON: " + err.Error()
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return "not JSON"
	}
	if err := s[name].Validate(doc); err != nil {
		return problems(err)
	}
	return ""
}

// problems shortens a validation error to its first three places.
func problems(err error) string {
	var lines []string
	for line := range strings.Lines(err.Error()) {
		if at, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok {
			lines = append(lines, at)
		}
	}
	more := ""
	if len(lines) > 3 {
		lines, more = lines[:3], "; and more"
	}
	return strings.Join(lines, "; ") + more
}
