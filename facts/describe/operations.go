package describe

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"sayso/facts"
	"sayso/jcs"
)

// Param is one input of an operation, whatever the transport.
type Param struct {
	Name, Type, Description string // Type: string | integer
	Format, Pattern         string
	Required                bool // for the tool; HTTP asks for less (see OptionalOverHTTP)
	OptionalOverHTTP        bool // required by the tool only
	Minimum, Maximum        int
	Default                 int
}

// Operation is one read operation: an MCP tool and an OpenAPI operation at once (F§9.1, F§9.2).
type Operation struct {
	Tool, OperationID, Title, Description string
	Params                                []Param
	// Schema is the whole input schema of a tool whose arguments Params cannot describe; nil for those of this protocol.
	Schema []byte
}

// The tool names of F§9.1.
const (
	ToolGet     = "get_fact"
	ToolResolve = "resolve_fact"
	ToolChanges = "what_changed_since"
)

// Limits of the generated text, in bytes as they stand in a JSON string. They hold for every dataset and keep the
// tool list within the budget of F§15.
const (
	maxExampleKeys   = 3
	maxExampleBytes  = 110
	maxQuestionBytes = 36
	maxNamesBytes    = 50
	maxAreasBytes    = 50
	maxCoverageBytes = 112
	minShareBytes    = 24 // a namespace with less of the coverage sentence is named without description
	maxNameBytes     = 40
)

// maxAgePattern admits every duration of F§4.2; the exact grammar is checked where the value is read.
const maxAgePattern = `^(\d{1,5}[dwmy]|P[\dYMWD]+)$`

// Catalogue is what the generated descriptions say about a dataset. A reader that asks several publishers fills it
// from their discovery documents; [CatalogueOf] fills it from a snapshot.
type Catalogue struct {
	Publisher  string            // name, for the instructions
	Count      int               // keys in all
	Examples   []string          // keys; the first few that fit are named
	Question   string            // words that find the first example, such as its label
	Namespaces []facts.Namespace // Name and Description are used
	Areas      []string          // names of the changelog areas
}

// CatalogueOf is the catalogue of a snapshot. Without authored examples it takes the first key of each namespace.
func CatalogueOf(s *facts.Snapshot) Catalogue {
	info := s.Info()
	c := Catalogue{Publisher: info.Publisher.Name, Count: info.Count, Examples: info.Examples, Namespaces: info.Namespaces}
	if len(c.Examples) == 0 {
		c.Examples = firstKeys(s)
	}
	if len(c.Examples) > 0 {
		if fact, _, ok := s.History(c.Examples[0]); ok {
			c.Question = fact.Label
		}
	}
	for _, a := range info.Areas {
		c.Areas = append(c.Areas, a.Name)
	}
	return c
}

// firstKeys finds up to maxExampleKeys keys of different namespaces.
func firstKeys(s *facts.Snapshot) []string {
	var keys []string
	last := ""
	for key := range s.Keys() {
		if namespace := facts.KeyNamespace(key); namespace != last {
			keys, last = append(keys, key), namespace
		}
		if len(keys) == maxExampleKeys {
			break
		}
	}
	return keys
}

// Operations returns get_fact, resolve_fact, what_changed_since with descriptions generated from the snapshot.
func Operations(s *facts.Snapshot) []Operation { return OperationsOf(CatalogueOf(s)) }

// OperationsOf returns the same three operations for a catalogue that has no snapshot here.
func OperationsOf(c Catalogue) []Operation {
	return []Operation{
		{
			Tool: ToolGet, OperationID: "getFact", Title: "Get a verified fact",
			Description: "What is an official figure? The value in force with unit, period, source URL, verification day, " +
				"fresh or stale, and signature." + exampleSentence(c) +
				" A loose key resolves when one clearly fits, else candidates come back." + coverageSentence(c),
			Params: []Param{
				{Name: "key", Type: "string", Required: true, Description: "One key, or up to 50 with commas"},
				{Name: "max_age", Type: "string", Pattern: maxAgePattern, Description: "30d or P6M; older is stale"},
				{Name: "as_of", Type: "string", Format: "date", Description: "In force that day; not with period"},
				{Name: "period", Type: "string", Description: "Label, such as 2026-27"},
			},
		},
		{
			Tool: ToolResolve, OperationID: "resolveFact", Title: "Find the key of a fact",
			Description: "Which key answers a question? Ranked keys for plain words or a guessed key" + questionExample(c) +
				" with label, unit and period, and the full record when one clearly fits.",
			Params: []Param{
				{Name: "q", Type: "string", Required: true, Description: "Question or loose key"},
				{Name: "namespace", Type: "string", Description: "Only this namespace" + listSuffix(namespaceNames(c), maxNamesBytes)},
				{Name: "limit", Type: "integer", Minimum: 1, Maximum: facts.MaxCandidates, Default: facts.DefaultCandidates},
			},
		},
		{
			Tool: ToolChanges, OperationID: "whatChangedSince", Title: "What changed since",
			Description: "Which figures changed after a day? Entries, newest first, with old and new value, first day in force, " +
				"source and the factKey for get_fact.",
			Params: []Param{
				{Name: "since", Type: "string", Format: "date", Required: true, OptionalOverHTTP: true, Description: "Strictly after this day"},
				{Name: "area", Type: "string", Description: "Only this area" + listSuffix(c.Areas, maxAreasBytes)},
				{Name: "limit", Type: "integer", Minimum: 1, Maximum: facts.MaxChanges, Default: facts.DefaultChanges},
				{Name: "cursor", Type: "string", Description: "next of the page before"},
			},
		},
	}
}

// Instructions is the MCP initialize text.
func Instructions(s *facts.Snapshot) string { return InstructionsOf(CatalogueOf(s)) }

// InstructionsOf is the MCP initialize text for a catalogue that has no snapshot here.
func InstructionsOf(c Catalogue) string {
	text := "An official figure (a rate, threshold, fee, allowance, deadline) is better asked than remembered: get_fact answers " +
		"with the value, its source and the day it was verified; resolve_fact finds the key."
	if name := clip(c.Publisher, maxNameBytes); name != "" {
		text += " Publisher: " + name + "."
	}
	return text + coverageSentence(c)
}

// about says in a sentence or two what the publisher offers.
func about(c Catalogue) string {
	return "Official figures by key, each with its source, the day it was verified and a hash." + coverageSentence(c)
}

// exampleSentence names example keys, nothing without any.
func exampleSentence(c Catalogue) string {
	keys, _ := fitting(c.Examples[:min(len(c.Examples), maxExampleKeys)], maxExampleBytes)
	if len(keys) == 0 {
		return ""
	}
	return " Keys look like " + strings.Join(keys, ", ") + "."
}

// coverageSentence says how many figures there are and what about: every namespace with its description, shortened
// evenly where they are too long together, or as many names as fit.
func coverageSentence(c Catalogue) string {
	sentence := " Covers " + strconv.Itoa(c.Count) + " figures"
	if c.Count == 1 {
		sentence = " Covers 1 figure"
	}
	parts, left := fitting(described(c, maxCoverageBytes), maxCoverageBytes)
	if share := maxCoverageBytes / max(1, len(c.Namespaces)); left > 0 && share >= minShareBytes {
		parts, left = fitting(described(c, share), maxCoverageBytes)
	}
	if left > 0 {
		parts, left = fitting(namespaceNames(c), maxCoverageBytes)
	}
	if len(parts) > 0 {
		sentence += ": " + strings.Join(parts, ", ")
	}
	if left > 0 {
		sentence += " and " + strconv.Itoa(left) + " more namespaces"
	}
	return sentence + "."
}

// described writes every namespace as "name (description)" within so many bytes each, the separator included.
func described(c Catalogue, budget int) []string {
	out := make([]string, len(c.Namespaces))
	for i, n := range c.Namespaces {
		out[i] = n.Name
		if room := budget - escapedLen(n.Name) - len(" (), "); n.Description != "" && room > 0 {
			out[i] += " (" + clip(n.Description, room) + ")"
		}
	}
	return out
}

// questionExample quotes words that lead to the first example.
func questionExample(c Catalogue) string {
	question := clip(c.Question, maxQuestionBytes)
	if question == "" {
		return ""
	}
	return ` ("` + question + `")`
}

func namespaceNames(c Catalogue) []string {
	var names []string
	for _, n := range c.Namespaces {
		names = append(names, n.Name)
	}
	return names
}

// listSuffix is ": a, b, ..." within a budget, nothing for an empty list.
func listSuffix(items []string, budget int) string {
	fit, left := fitting(items, budget)
	if len(fit) == 0 {
		return ""
	}
	suffix := ": " + strings.Join(fit, ", ")
	if left > 0 {
		suffix += ", ..."
	}
	return suffix
}

// fitting returns the leading items that fit a budget, separators included, and how many are left over.
func fitting(items []string, budget int) (fit []string, left int) {
	used := 0
	for i, item := range items {
		item = plain(item)
		used += escapedLen(item) + 2
		if used > budget {
			return fit, len(items) - i
		}
		fit = append(fit, item)
	}
	return fit, 0
}

// clip shortens text to a budget, between words where it can, and marks the cut.
func clip(text string, budget int) string {
	text = plain(text)
	if escapedLen(text) <= budget {
		return text
	}
	used := len("...")
	for i, r := range text {
		used += escapedRuneLen(r)
		if used > budget {
			cut := text[:i]
			if space := strings.LastIndexByte(cut, ' '); space > len(cut)/2 {
				cut = cut[:space]
			}
			return cut + "..."
		}
	}
	return text
}

// plain puts publisher text on one line: control, format and invalid characters become single spaces.
func plain(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError
	}), " ")
}

// escapedLen is the most bytes text takes in a JSON string, whichever encoder writes it.
func escapedLen(text string) int {
	n := 0
	for _, r := range text {
		n += escapedRuneLen(r)
	}
	return n
}

func escapedRuneLen(r rune) int {
	switch {
	case r == '"' || r == '\\':
		return 2
	case r == '<' || r == '>' || r == '&' || r < ' ' || r == 0x2028 || r == 0x2029:
		return 6
	}
	return utf8.RuneLen(r)
}

type inputSchema struct {
	Type                 string   `json:"type"`
	Properties           ordered  `json:"properties"`
	Required             []string `json:"required,omitempty"`
	AdditionalProperties bool     `json:"additionalProperties"`
}

type paramSchema struct {
	Type        string `json:"type"`
	Format      string `json:"format,omitempty"`
	Pattern     string `json:"pattern,omitempty"`
	Minimum     int    `json:"minimum,omitzero"`
	Maximum     int    `json:"maximum,omitzero"`
	Default     int    `json:"default,omitzero"`
	Description string `json:"description,omitempty"`
}

// InputSchema is the JSON Schema of an operation's arguments (additionalProperties false).
func (o *Operation) InputSchema() []byte {
	if o.Schema != nil {
		return o.Schema
	}
	schema := inputSchema{Type: "object"}
	for _, p := range o.Params {
		schema.Properties = append(schema.Properties, property{p.Name, p.schema()})
		if p.Required {
			schema.Required = append(schema.Required, p.Name)
		}
	}
	return encode(schema)
}

func (p *Param) schema() paramSchema {
	return paramSchema{
		Type: p.Type, Format: p.Format, Pattern: p.Pattern,
		Minimum: p.Minimum, Maximum: p.Maximum, Default: p.Default, Description: p.Description,
	}
}

// ordered is a JSON object whose members keep their order.
type ordered []property

type property struct {
	name  string
	value any
}

// MarshalJSON writes the members in order.
func (o ordered) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, p := range o {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(jcs.AppendString(out, p.name), ':')
		value, err := jcs.Encode(p.value)
		if err != nil {
			return nil, err
		}
		out = append(out, value...)
	}
	return append(out, '}'), nil
}

// encode writes a document of this package. Its types hold nothing that cannot be written, so an error is a fault here.
func encode(v any) []byte {
	out, err := jcs.Encode(v)
	if err != nil {
		panic("describe: " + err.Error())
	}
	return out
}
