package mcpserve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sayso/business"
	"sayso/business/answer"
	"sayso/business/bizhttp"
	"sayso/facts"
	"sayso/facts/describe"
	"sayso/internal/app"
	"sayso/jcs"
)

// The registry's own tools at its front door.
const (
	toolFind = "find_publishers"
	toolAsk  = "ask_business"
)

// frontDoor keeps the definitions that follow from the current snapshot of facts.
type frontDoor struct{ facts atomic.Pointer[doorFacts] }

type doorFacts struct {
	snapshot *facts.Snapshot
	tools    []*mcp.Tool
}

// snapshot is the current one, nil without facts.
func (t *RegistryTools) snapshot() *facts.Snapshot {
	if t.Facts == nil {
		return nil
	}
	return t.Facts()
}

// doorDefinitions are the registry's tools and, while facts are served, theirs.
func (t *RegistryTools) doorDefinitions() []*mcp.Tool {
	return append([]*mcp.Tool{
		readOnly(toolFind, "Find businesses", "Which businesses of this registry match? Filters by category, place, language, name or capability. "+
			"The results are places to ask, not facts, and are not signed.", json.RawMessage(business.QuerySchema())),
		readOnly(toolAsk, "Ask a business", "Asks one business a question in plain words and returns its signed envelope. find_publishers names the businesses.", askSchema),
	}, t.factsDefinitions()...)
}

func (t *RegistryTools) factsDefinitions() []*mcp.Tool {
	s := t.snapshot()
	if s == nil {
		return nil
	}
	if known := t.door.facts.Load(); known != nil && known.snapshot == s {
		return known.tools
	}
	made := &doorFacts{snapshot: s}
	for _, op := range describe.Operations(s) {
		made.tools = append(made.tools, definition(&op))
	}
	t.door.facts.Store(made)
	return made.tools
}

func (t *RegistryTools) doorInstructions() string {
	text := "Businesses that publish through this registry. find_publishers finds them, ask_business asks one of them." + howToRead
	if s := t.snapshot(); s != nil {
		text += " " + describe.Instructions(s)
	}
	return text
}

// callDoor answers a call at the front door.
func (t *RegistryTools) callDoor(ctx context.Context, r *http.Request, c toolCall) (outcome, error) {
	switch c.name {
	case toolFind:
		return t.findPublishers(ctx, c)
	case toolAsk:
		return t.askBusiness(ctx, r, c)
	}
	if s := t.snapshot(); s != nil {
		if result, ok := describe.Call(s, c.name, c.arguments, t.Today()); ok {
			return outcome{result: result}, nil
		}
	}
	return outcome{fault: unknownTool(c.name)}, nil
}

// findPublishers answers with the JSON of /discovery/query (B§13).
func (t *RegistryTools) findPublishers(ctx context.Context, c toolCall) (outcome, error) {
	values, fault := parameters(c.arguments)
	if fault != nil {
		return outcome{fault: fault}, nil
	}
	q, err := business.ParseQuery(values)
	if refused, ok := errors.AsType[*business.ParameterError](err); ok {
		return outcome{fault: refusedCall("invalid_arguments", pointerTo(refused.Parameter), refused.Error())}, nil
	}
	all, err := t.Registry.Publications(ctx)
	if err != nil {
		return outcome{}, err
	}
	text, err := jcs.Encode(q.Answer(t.Registry.Site(), all, t.Registry.Now()))
	if err != nil {
		return outcome{}, err
	}
	return outcome{result: describe.Result{JSON: text}}, nil
}

// parameters turns arguments into the parameters of the query: a string stands for its text, a number for its literal.
func parameters(arguments jcs.Raw) (map[string][]string, *rpcError) {
	values := map[string][]string{}
	if arguments == nil {
		return values, nil
	}
	members, err := form.Members(arguments)
	if err != nil {
		return nil, refusedCall("invalid_arguments", "", "arguments cannot be read")
	}
	for _, m := range members {
		text, isText := jcs.Text(m.Value)
		switch kind := business.QueryParameterType(m.Name); {
		case kind == "", kind == "string" && isText: // ParseQuery refuses an unknown name and tells the known ones
		case kind != "string" && (m.Value[0] == '-' || m.Value[0] >= '0' && m.Value[0] <= '9'):
			text = string(m.Value)
		case kind == "integer":
			return nil, refusedCall("invalid_arguments", pointerTo(m.Name), "parameter "+shorten(m.Name)+": an integer is expected")
		default:
			return nil, refusedCall("invalid_arguments", pointerTo(m.Name), "parameter "+shorten(m.Name)+": a "+kind+" is expected")
		}
		values[m.Name] = []string{text}
	}
	return values, nil
}

// asked is the answer of ask_business: unsigned, and it holds no fact of its own (answers §14.8).
type asked struct {
	Publisher string  `json:"publisher"`
	Call      made    `json:"call"`
	Envelope  jcs.Raw `json:"envelope"`
}

// made is the inner call, which the envelope echoes.
type made struct {
	Tool      string  `json:"tool"`
	Arguments jcs.Raw `json:"arguments"`
}

// askNames are the arguments of ask_business: publisher and those of knowledge.search.
var askNames = []string{"publisher", "query", "language", "criteria", "bound", "include", "limit"}

// askSchema is the schema of knowledge.search with the publisher.
var askSchema = func() json.RawMessage {
	var schema map[string]any
	if err := json.Unmarshal(answer.InputSchema("knowledge.search", nil), &schema); err != nil {
		panic("mcpserve: the schema of knowledge.search: " + err.Error())
	}
	schema["properties"].(map[string]any)["publisher"] = map[string]any{
		"type": "string", "pattern": "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", "description": "publisher, as find_publishers names it",
	}
	required, _ := schema["required"].([]any)
	schema["required"] = append([]any{"publisher"}, required...)
	out, err := json.Marshal(schema)
	if err != nil {
		panic("mcpserve: the schema of " + toolAsk + ": " + err.Error())
	}
	return out
}()

// askBusiness asks the publisher's own knowledge.search tool. A publisher that cannot be read is a fault of this side: the front door itself is there.
func (t *RegistryTools) askBusiness(ctx context.Context, r *http.Request, c toolCall) (outcome, error) {
	slug, arguments, fault := splitAsk(c.arguments)
	if fault != nil {
		return outcome{fault: fault}, nil
	}
	p, err := t.published(ctx, slug)
	if err != nil {
		return t.notAsked(r, c, slug, err)
	}
	tool := searchTool(p)
	if tool == "" {
		return outcome{fault: refusedCall("no_search_tool", "/publisher", slug+" offers no search; its manifest names the endpoint with the tools it has")}, nil
	}
	envelope, err := t.Registry.Ask(ctx, slug, tool, arguments)
	if err != nil {
		return t.notAsked(r, c, slug, err)
	}
	text, err := jcs.Encode(asked{slug, made{tool, arguments}, envelope})
	if err != nil {
		return outcome{}, err
	}
	return outcome{result: describe.Result{JSON: text}}, nil
}

// published is a publisher that may be asked at this moment.
func (t *RegistryTools) published(ctx context.Context, slug string) (*business.Publication, error) {
	if !business.ValidSlug(slug) {
		return nil, bizhttp.ErrUnknown
	}
	p, err := t.Registry.Publication(ctx, slug)
	if err == nil && !p.Standing.IsPublished(t.Registry.Now()) {
		err = bizhttp.ErrUnknown
	}
	return p, err
}

// notAsked words why a business was not asked. That no answer can be signed is a status of its own, as at every endpoint (B§2).
func (t *RegistryTools) notAsked(r *http.Request, c toolCall, slug string, err error) (outcome, error) {
	switch {
	case errors.Is(err, bizhttp.ErrKeysUnavailable):
		return outcome{}, err
	case errors.Is(err, bizhttp.ErrUnknown):
		message := "no publisher " + shorten(slug) + " is published here; find_publishers names those that are"
		return outcome{fault: refusedCall("unknown_publisher", "/publisher", message)}, nil
	case errors.Is(err, bizhttp.ErrUnavailable), errors.Is(err, app.ErrNoTool): // the tool was there a moment ago; the caller named none
		const message = "the publisher could not be read; this says nothing about it, try again"
		return outcome{fault: &rpcError{Code: codeInternal, Message: message, Data: callData{Code: "publisher_unavailable"}}}, nil
	}
	return outcome{fault: t.faultOf(r, c, err)}, nil
}

// splitAsk takes publisher out of the arguments; what remains is the inner call's, in the order and with the literals received.
func splitAsk(arguments jcs.Raw) (slug string, inner jcs.Raw, fault *rpcError) {
	var members []jcs.Member
	if arguments != nil {
		var err error
		if members, err = form.Members(arguments); err != nil {
			return "", nil, refusedCall("invalid_arguments", "", "arguments cannot be read")
		}
	}
	named := false
	var rest []jcs.Member
	for _, m := range members {
		if m.Name == "publisher" {
			if slug, named = jcs.Text(m.Value); !named {
				break
			}
			continue
		}
		if !slices.Contains(askNames, m.Name) {
			return "", nil, refusedCall("invalid_arguments", pointerTo(m.Name), "the member "+shorten(m.Name)+" is not known; use "+strings.Join(askNames, ", "))
		}
		rest = append(rest, m)
	}
	if !named {
		return "", nil, refusedCall("invalid_arguments", "/publisher", "publisher must be the name of a publisher, as find_publishers gives it")
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, jcs.AppendMembers(nil, rest)); err != nil {
		return "", nil, refusedCall("invalid_arguments", "", "arguments cannot be read")
	}
	return slug, compact.Bytes(), nil
}

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// pointerTo is the JSON pointer to a member of the arguments (RFC 6901).
func pointerTo(name string) string { return "/" + pointerEscaper.Replace(name) }
