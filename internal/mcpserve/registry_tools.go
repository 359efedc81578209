package mcpserve

import (
	"encoding/json"
	"net/url"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sayso/business"
	"sayso/business/answer"
)

// Bounds of the publisher's own texts in definitions, in code points: what a list costs an assistant does not depend on how much a publisher writes.
const (
	maxDescription = 240
	maxTitle       = 80
)

// handlerText is what is said about the tools of a handler, besides what the publisher says itself.
var handlerText = map[string]struct{ title, description string }{
	"knowledge.search":    {"Ask a question", "Answers a question in plain words, or structured criteria, from what the business published."},
	"knowledge.get":       {"Get records", "Returns records by type and id."},
	"knowledge.neighbors": {"Follow links", "Returns the records that a record links to, or that link to it."},
	"live.query":          {"Read a live value", "Returns the latest reading of a stream, such as stock, with its age."},
	"live.nearest":        {"Find the nearest branch by a live value", "Returns the nearest branches whose latest reading meets a predicate."},
	"branches.nearest":    {"Find the nearest branch", "Returns branches by distance from a position, open at a time when asked."},
	"hybrid.resolve":      {"Ask a question, live values included", "Answers a question in plain words, or structured criteria, from what the business published and from its latest readings."},
}

// definitions are the tools of the endpoint.
func (x *exchange) definitions() []*mcp.Tool {
	if x.p == nil {
		return x.tools.doorDefinitions()
	}
	schema := x.p.Vocabulary()
	tools := make([]*mcp.Tool, len(x.p.Profile.Tools))
	for i, t := range x.p.Profile.Tools {
		text := handlerText[t.Handler]
		description := text.description
		if own := oneLine(t.Description, maxDescription); own != "" {
			description += " The business says: " + own
		}
		tools[i] = readOnly(t.Name, text.title, description, json.RawMessage(answer.InputSchema(t.Handler, schema)))
	}
	return tools
}

// readOnly defines a tool that changes nothing and reaches nobody else.
func readOnly(name, title, description string, schema json.RawMessage) *mcp.Tool {
	no := false
	return &mcp.Tool{
		Name: name, Title: title, Description: description, InputSchema: schema,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: &no, IdempotentHint: true, OpenWorldHint: &no},
	}
}

// identity names the endpoint: the host of its address and the publisher's slug, or that it is the front door.
func (x *exchange) identity() Identity {
	site := x.tools.Registry.Site()
	id := Identity{Version: x.tools.Version}
	at, name := site.Origin, "front_door" // no slug has an underscore
	if x.p != nil {
		at, name = site.Locators(x.p).Manifest, x.p.Slug
	}
	host := ""
	if u, err := url.Parse(at); err == nil {
		host = u.Hostname()
	}
	if id.Title = "Business registry at " + host; x.p != nil {
		id.Title = oneLine(x.p.Profile.DisplayName, maxTitle)
	}
	id.Name = strings.Map(cardLetter, host) + "/" + name
	return id
}

// cardLetter keeps the alphabet of the first half of a Server Card's name.
func cardLetter(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
		return r
	}
	return '-'
}

// howToRead is what an assistant must know of an envelope before it concludes anything.
const howToRead = " Read coverage.status first. resolved: the question is answered. partial: only what the propositions say; unresolved names the rest. " +
	"needs_context: ask the user for what clarification names, then call clarification.resume. not_covered: nothing is known, which does not mean no. " +
	"Errors say nothing about the business."

// instructions tell an assistant what the tools are for.
func (x *exchange) instructions() string {
	if x.p == nil {
		return x.tools.doorInstructions()
	}
	return "Answers about " + oneLine(x.p.Profile.DisplayName, maxTitle) + ", from what it published, in signed envelopes." + howToRead
}

// oneLine makes a publisher's text fit for a definition: printable, on one line, at most limit code points.
func oneLine(text string, limit int) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return text
}

// searchTool is the publisher's first tool of knowledge.search, "" when it has none.
func searchTool(p *business.Publication) string {
	for _, t := range p.Profile.Tools {
		if t.Handler == "knowledge.search" {
			return t.Name
		}
	}
	return ""
}
