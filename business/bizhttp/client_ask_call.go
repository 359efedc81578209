package bizhttp

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sayso/business"
	"sayso/jcs"
)

// searchHandlers answer a question in words, the first choice first.
var searchHandlers = []string{"knowledge.search", "hybrid.resolve"}

// ErrBinding says that a value cannot bind the dimension it is given for.
var ErrBinding = errors.New("caller_location is latitude,longitude in degrees, such as 52.5,13.4")

// Binding reads a value as a person gives it for a dimension of a clarification: location=northgate, date=2026-12-01, record=service/exam, variant=item/red,
// caller_location=52.5,13.4. Coordinates keep their digits. Whether the publisher knows the value is for it to say.
func Binding(name, value string) (jcs.Raw, error) {
	if name != "caller_location" {
		raw, err := jcs.Encode(value)
		if err != nil {
			return nil, fmt.Errorf("the value for %s is no text", name)
		}
		return raw, nil
	}
	latitude, longitude, ok := strings.Cut(value, ",")
	latitude, longitude = strings.TrimSpace(latitude), strings.TrimSpace(longitude)
	if _, err := jcs.Number(latitude); err != nil || !ok {
		return nil, ErrBinding
	}
	if _, err := jcs.Number(longitude); err != nil {
		return nil, ErrBinding
	}
	return jcs.Raw(`{"latitude":` + latitude + `,"longitude":` + longitude + `}`), nil
}

// arguments are the members of a question in a fixed order, or the arguments given as they are.
func (q *Question) arguments() (jcs.Raw, error) {
	if q.Arguments != nil {
		if _, err := business.Members(q.Arguments); err != nil {
			return nil, fmt.Errorf("the arguments are no JSON object: %w", err)
		}
		return q.Arguments, nil
	}
	text, err := jcs.Encode(struct {
		Query    string   `json:"query"`
		Language string   `json:"language,omitempty"`
		Criteria jcs.Raw  `json:"criteria,omitempty"`
		Bound    jcs.Raw  `json:"bound,omitempty"`
		Include  []string `json:"include,omitempty"`
		Limit    int      `json:"limit,omitzero"`
	}{q.Query, q.Language, q.Criteria, q.Bound, q.Include, q.Limit})
	if err != nil {
		return nil, fmt.Errorf("the question: %w", err)
	}
	return text, nil
}

// tool is the name to call: the one that was asked for, or the one that searches. tools/list alone says which names there are; registry.json, unsigned,
// only says what stands behind them (XP-MANIFEST-003).
func (s *session) tool(c *Connection, asked, manifestURL string) (string, error) {
	listed, err := c.Tools(s.ctx)
	if err != nil {
		return "", err
	}
	names := make([]string, len(listed))
	for i, t := range listed {
		names[i] = t.Name
	}
	if asked != "" {
		if !slices.Contains(names, asked) {
			return "", &ToolError{Tool: asked, Offered: names}
		}
		return asked, nil
	}
	handlers, err := s.handlers(manifestURL)
	if err != nil {
		return "", err
	}
	for _, handler := range searchHandlers {
		if i := slices.IndexFunc(names, func(name string) bool { return handlers[name] == handler }); i >= 0 {
			return names[i], nil
		}
	}
	return "", ErrNoSearch
}

// handlers are the handlers by tool name that registry.json states. X§2.1 puts it beside the manifest, whose endpoints do not name it.
func (s *session) handlers(manifestURL string) (map[string]string, error) {
	at, ok := strings.CutSuffix(manifestURL, "manifest.json")
	if !ok {
		return nil, &TransportError{URL: manifestURL, Problem: "the manifest names itself in a way that does not lead to registry.json; name a tool"}
	}
	f, err := s.get(at + "registry.json")
	if err != nil {
		return nil, err
	}
	var doc struct {
		Tools []struct {
			Name    string `json:"name"`
			Handler string `json:"handler"`
		} `json:"tools"`
	}
	if err := business.Decode(f.Body, &doc); err != nil {
		return nil, &TransportError{URL: f.URL, Problem: "registry.json is none; name a tool"}
	}
	out := map[string]string{}
	for _, t := range doc.Tools {
		out[t.Name] = t.Handler
	}
	return out, nil
}
