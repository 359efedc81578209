package describe

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"sayso/facts"
	"sayso/jcs"
)

// Result of a tool call. JSON is the answer: over a snapshot the bytes HTTP serves, a miss included. IsError says that there is none and Text why: refused
// arguments, or, where the tools read foreign publishers, one that is out of reach or does not verify.
type Result struct {
	JSON    []byte
	IsError bool
	Text    string
}

// Refusal is the result of an argument or parameter error: the sentence a model can act on.
func Refusal(err error) Result {
	if parameter, ok := errors.AsType[*facts.ParameterError](err); ok {
		return Result{IsError: true, Text: parameter.Message}
	}
	return Result{IsError: true, Text: "the call could not be answered"}
}

// tools is the table without descriptions: names and types are all a call needs.
var tools = OperationsOf(Catalogue{})

// Call runs one tool against a snapshot. args is the raw arguments object (nil or null = {}). An unknown tool is (Result{}, false).
func Call(s *facts.Snapshot, tool string, args []byte, today facts.Date) (Result, bool) {
	params, known, err := Arguments(tool, args)
	if !known {
		return Result{}, false
	}
	var doc []byte
	if err == nil {
		switch tool {
		case ToolGet:
			doc, err = get(s, params, today)
		case ToolResolve:
			doc, err = resolve(s, params, today)
		case ToolChanges:
			doc, err = changes(s, params, today)
		}
	}
	if err != nil {
		return Refusal(err), true
	}
	return Result{JSON: doc}, true
}

func get(s *facts.Snapshot, p facts.Params, today facts.Date) ([]byte, error) {
	selection, err := p.Selection()
	if err != nil {
		return nil, err
	}
	if strings.Contains(p["key"], ",") {
		keys, err := facts.SplitKeys(p["key"], "key")
		if err != nil {
			return nil, err
		}
		batch, err := s.Batch(keys, selection, today)
		if err != nil {
			return nil, err
		}
		return batch.AppendJSON(nil), nil
	}
	answer, err := s.Get(p["key"], selection, today)
	if err != nil {
		return nil, err
	}
	return answer.AppendJSON(nil), nil
}

func resolve(s *facts.Snapshot, p facts.Params, today facts.Date) ([]byte, error) {
	limit, err := p.Limit(facts.DefaultCandidates, facts.MaxCandidates)
	if err != nil {
		return nil, err
	}
	resolution, err := s.Resolve(p["q"], p["namespace"], limit, today)
	if err != nil {
		return nil, err
	}
	return resolution.AppendJSON(nil), nil
}

func changes(s *facts.Snapshot, p facts.Params, today facts.Date) ([]byte, error) {
	query, err := facts.ParseChangesQuery(p, true)
	if err != nil {
		return nil, err
	}
	return s.AppendChanges(nil, query, today)
}

// Arguments reads the raw arguments of a tool (nil or null = {}) into parameters: strict JSON, known names, declared
// types. Whether a required one is there and what its text may be is judged where it is read, by the function that
// serves HTTP too. known is false for an unknown tool; err is a *facts.ParameterError. An integer is passed on as its
// shortest decimal text.
func Arguments(tool string, args []byte) (params facts.Params, known bool, err error) {
	for i := range tools {
		if tools[i].Tool == tool {
			params, err = tools[i].arguments(args)
			return params, true, err
		}
	}
	return nil, false, nil
}

func (o *Operation) arguments(args []byte) (facts.Params, error) {
	if text := strings.TrimSpace(string(args)); text == "" || text == "null" {
		args = []byte("{}")
	}
	members, err := jcs.Members(args)
	if err != nil {
		return nil, malformed(err)
	}
	given := make([]string, 0, len(members))
	for _, m := range members {
		given = append(given, m.Name)
	}
	if err := facts.CheckNames(o.names(), given); err != nil {
		return nil, err
	}
	values := make(url.Values, len(members))
	for _, m := range members {
		text, err := o.param(m.Name).read(m.Value)
		if err != nil {
			return nil, err
		}
		values.Set(m.Name, text)
	}
	return o.checked(values)
}

// checked applies the rules of the HTTP route to the values, so that one sentence serves both transports. The key is
// part of the path there, so the function that reads it judges it.
func (o *Operation) checked(values url.Values) (facts.Params, error) {
	key, withKey := values.Get("key"), values.Has("key")
	values.Del("key")
	params, err := facts.CheckQuery(o.route(), values)
	if err == nil && withKey {
		params["key"] = key
	}
	return params, err
}

func (o *Operation) route() facts.Route {
	switch o.Tool {
	case ToolResolve:
		return facts.RouteResolve
	case ToolChanges:
		return facts.RouteChanges
	}
	return facts.RouteGet
}

func (o *Operation) names() []string {
	names := make([]string, len(o.Params))
	for i := range o.Params {
		names[i] = o.Params[i].Name
	}
	return names
}

// param finds a parameter by a name CheckNames has let pass.
func (o *Operation) param(name string) *Param {
	for i := range o.Params {
		if o.Params[i].Name == name {
			return &o.Params[i]
		}
	}
	return nil
}

// read turns a JSON value of the declared type into parameter text.
func (p *Param) read(value jcs.Raw) (string, error) {
	kind, wanted := kindOf(value), "a string"
	if p.Type == "integer" {
		wanted = "an integer"
	}
	switch {
	case wanted == "a string" && kind == "a string":
		var text string
		err := jcs.Decode(value, &text)
		return text, err
	case wanted == "an integer" && kind == "a number":
		if text, err := jcs.Number(string(value)); err == nil {
			return text, nil
		}
	}
	return "", refuse(p.Name, "must be %s, not %s", wanted, kind)
}

// refuse words a refused argument as package facts words a refused parameter.
func refuse(name, format string, args ...any) error {
	return &facts.ParameterError{Parameter: name, Message: fmt.Sprintf("parameter %q "+format, append([]any{name}, args...)...)}
}

// kindOf names the type of a JSON value that has been checked.
func kindOf(value jcs.Raw) string {
	switch value[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// malformed words a failure of the strict reader for the caller of a tool.
func malformed(err error) error {
	refused, ok := errors.AsType[*jcs.Error](err)
	if !ok {
		return err
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(refused.Pointer, "/"), "/")
	if refused.Kind == jcs.KindType {
		return &facts.ParameterError{Message: "arguments must be a JSON object"}
	}
	return &facts.ParameterError{Parameter: name, Message: "arguments are not acceptable JSON: " + refused.Error()}
}
