package describe

import (
	"sayso/facts"
)

type openAPI struct {
	OpenAPI       string        `json:"openapi"`
	Info          openAPIInfo   `json:"info"`
	Servers       []serverEntry `json:"servers"`
	Paths         ordered       `json:"paths"`
	VerifiedFacts string        `json:"x-verified-facts"`
}

type openAPIInfo struct {
	Title       string       `json:"title"`
	Description string       `json:"description"`
	Version     string       `json:"version"`
	Contact     *contactInfo `json:"contact,omitempty"`
	License     *licenseInfo `json:"license,omitempty"`
}

type contactInfo struct {
	URL string `json:"url"`
}

type licenseInfo struct {
	Name string `json:"name"`
}

type serverEntry struct {
	URL string `json:"url"`
}

type endpoint struct {
	OperationID string      `json:"operationId,omitempty"`
	Summary     string      `json:"summary"`
	Description string      `json:"description,omitempty"`
	Parameters  []parameter `json:"parameters,omitempty"`
	RequestBody *body       `json:"requestBody,omitempty"`
	Responses   ordered     `json:"responses"`
}

type parameter struct {
	Name        string      `json:"name"`
	In          string      `json:"in"`
	Required    bool        `json:"required,omitzero"`
	Description string      `json:"description,omitempty"`
	Schema      paramSchema `json:"schema"`
	Example     string      `json:"example,omitempty"`
}

type body struct {
	Required    bool    `json:"required,omitzero"`
	Description string  `json:"description,omitempty"`
	Content     ordered `json:"content,omitempty"`
}

type media struct {
	Schema any `json:"schema"`
}

type reference struct {
	Ref string `json:"$ref"`
}

type anyOf struct {
	AnyOf []reference `json:"anyOf"`
}

type typeOnly struct {
	Type string `json:"type"`
}

type batchRequest struct {
	Type                 string   `json:"type"`
	Properties           ordered  `json:"properties"`
	Required             []string `json:"required"`
	AdditionalProperties bool     `json:"additionalProperties"`
}

type keysSchema struct {
	Type        string   `json:"type"`
	Items       typeOnly `json:"items"`
	MinItems    int      `json:"minItems"`
	MaxItems    int      `json:"maxItems"`
	Description string   `json:"description"`
	Examples    []any    `json:"examples,omitempty"`
}

// formats is the media type parameter of the routes that negotiate (F§4.1).
var formats = parameter{
	Name: "format", In: "query",
	Description: "json, txt or html; it wins over Accept",
	Schema:      paramSchema{Type: "string", Pattern: "^(json|txt|html)$"},
}

// api builds the OpenAPI document of one snapshot.
type api struct {
	info    *facts.Info
	example string // a key to try
	since   string // a day to try
	label   string // words to try
}

// OpenAPI is /openapi.json (F§9.2), made from the same table as the tools; nil for a static snapshot, which has no
// operations.
func OpenAPI(s *facts.Snapshot) []byte {
	info := s.Info()
	if info.Static {
		return nil
	}
	catalogue := CatalogueOf(s)
	a := &api{info: info, label: plain(catalogue.Question)}
	if len(catalogue.Examples) > 0 {
		a.example = catalogue.Examples[0]
	}
	if entries := s.Entries(); len(entries) > 0 {
		a.since = max(entries[0].VerifiedDate-1, 1).String()
	}
	operations := OperationsOf(catalogue)
	doc := openAPI{
		OpenAPI: "3.1.0",
		Info: openAPIInfo{
			Title:       plain(info.Publisher.Name) + ": verified facts",
			Description: about(catalogue),
			Version:     "0.2.0",
		},
		Servers:       []serverEntry{{URL: info.Origin}},
		Paths:         a.paths(&operations[0], &operations[1], &operations[2]),
		VerifiedFacts: "0.2",
	}
	if info.Contact != "" {
		doc.Info.Contact = &contactInfo{URL: info.Contact}
	}
	if info.Licence != "" {
		doc.Info.License = &licenseInfo{Name: info.Licence}
	}
	return encode(doc)
}

func (a *api) paths(get, resolve, changes *Operation) ordered {
	batch := *get
	batch.OperationID, batch.Title = "getFacts", "Get several verified facts"
	batch.Description = "One record or miss per key, in the order asked. Without keys the same path lists the index."
	byPost := batch
	byPost.OperationID = ""
	byPost.Description = "The same with the keys in the body, for lists too long for a URL."
	return ordered{
		{"/f/{key}", ordered{{"get", a.endpoint(get, a.getParameters(get), ordered{
			{"200", a.negotiated("A record, or the periods that are held when none fits what was asked.",
				a.schema("fact.v0.json"), a.schema("fact.v0.json#/$defs/periodNotHeld"), a.schema("facts-batch.v0.json"))},
			{"400", a.problem("A parameter is unknown, repeated, empty or malformed; the message names it.")},
			{"404", a.json("The key is unknown; candidates lists what may be meant.", a.schema("fact.v0.json#/$defs/unknownKey"))},
		})}}},
		{"/f", ordered{
			{"get", a.endpoint(&batch, a.batchParameters(get), a.batchResponses())},
			{"post", a.post(&byPost)},
		}},
		{"/f/resolve", ordered{{"get", a.endpoint(resolve, a.query(resolve, "q", a.label), ordered{
			{"200", a.json("Ranked keys, best first.", a.schema("fact.v0.json#/$defs/resolution"))},
			{"400", a.problem("q is missing, or a parameter is unknown or malformed.")},
		})}}},
		{pathChanges, ordered{{"get", a.endpoint(changes, a.query(changes, "since", a.since), ordered{
			{"200", a.json("Entries, newest first; the whole document when no parameter is given.", a.schema("changes.v0.json"))},
			{"400", a.problem("since lies after today, the area is unknown, or a parameter is malformed.")},
		})}}},
	}
}

func (a *api) endpoint(o *Operation, parameters []parameter, responses ordered) endpoint {
	return endpoint{
		OperationID: o.OperationID, Summary: o.Title, Description: o.Description,
		Parameters: parameters, Responses: responses,
	}
}

// getParameters puts the key into the path and the rest into the query.
func (a *api) getParameters(o *Operation) []parameter {
	parameters := a.query(o, "key", a.example)
	parameters[0].In = "path"
	parameters[0].Description += "; its slashes stay as they are"
	return append(parameters, formats)
}

func (a *api) batchParameters(o *Operation) []parameter {
	parameters := a.query(o, "key", a.example)
	parameters[0].Name = "keys"
	parameters[0].Description = "Keys separated by commas, at most 50"
	return append(parameters, formats)
}

// query writes the parameters of an operation as query parameters, with an example for one of them.
func (a *api) query(o *Operation, exampleOf, example string) []parameter {
	var parameters []parameter
	for _, p := range o.Params {
		schema := p.schema()
		schema.Description = ""
		out := parameter{
			Name: p.Name, In: "query", Required: p.Required && !p.OptionalOverHTTP,
			Description: p.Description, Schema: schema,
		}
		if p.Name == exampleOf {
			out.Example = example
		}
		parameters = append(parameters, out)
	}
	return parameters
}

func (a *api) post(o *Operation) endpoint {
	keys := keysSchema{
		Type: "array", Items: typeOnly{"string"}, MinItems: 1, MaxItems: facts.MaxBatch,
		Description: "Keys, answered in this order",
	}
	if a.example != "" {
		keys.Examples = []any{[]string{a.example}}
	}
	properties := ordered{{"keys", keys}}
	for _, p := range o.Params {
		if p.Name != "key" {
			properties = append(properties, property{p.Name, p.schema()})
		}
	}
	request := batchRequest{Type: "object", Properties: properties, Required: []string{"keys"}}
	responses := append(a.batchResponses(),
		property{"413", a.problem("The body is larger than 16 KiB.")},
		property{"415", a.problem("The body is not application/json.")})
	out := a.endpoint(o, nil, responses)
	out.RequestBody = &body{Required: true, Content: ordered{{"application/json", media{request}}}}
	return out
}

func (a *api) batchResponses() ordered {
	return ordered{
		{"200", a.negotiated("A record or miss per key.", a.schema("facts-batch.v0.json"))},
		{"400", a.problem("A parameter is unknown or malformed, or there are more than 50 keys.")},
	}
}

func (a *api) schema(name string) reference { return reference{a.info.Origin + pathSchema + name} }

func (a *api) problem(description string) body {
	return a.json(description, a.schema("fact.v0.json#/$defs/problem"))
}

func (a *api) json(description string, schemas ...reference) body {
	var schema any = anyOf{schemas}
	if len(schemas) == 1 {
		schema = schemas[0]
	}
	return body{Description: description, Content: ordered{{"application/json", media{schema}}}}
}

// negotiated is a response that is also offered as text and as a page.
func (a *api) negotiated(description string, schemas ...reference) body {
	response := a.json(description, schemas...)
	text := media{typeOnly{"string"}}
	response.Content = append(response.Content, property{"text/plain", text}, property{"text/html", text})
	return response
}
