package bizhttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"sayso/business"
	"sayso/jcs"
	"sayso/safefetch"
)

// The bounds of one connection, beside those of its safefetch client.
const (
	MaxTools     = 500 // over all pages of tools/list
	maxToolPages = 20
	maxSession   = 256 // bytes of a session id
)

// RPCError is a JSON-RPC error of the server: what was sent is at fault (-32602) or the server is (-32603). It says nothing about a business
// (XP-COVERAGE-009).
type RPCError struct {
	Code    int
	Message string  // the server's own words: hostile text
	Data    jcs.Raw // nil when the error has none
}

func (e *RPCError) Error() string { return fmt.Sprintf("JSON-RPC error %d: %.200q", e.Code, e.Message) }

// Connection is a handshake with one MCP endpoint (Streamable HTTP, revision 2025-11-25 or an older one of business.MCPVersions). It is not safe for
// concurrent use. Each request takes part in the bounds of its client; a POST is never redirected.
type Connection struct {
	Server   string // serverInfo.name, "" when not stated: hostile text
	Revision string // the one the server chose

	endpoint string
	fetch    *safefetch.Client
	owned    bool // Close drops the client's connections
	session  string
	sent     int // the id of the last request
}

// ToolInfo is one tool of tools/list. All of it is the server's text.
type ToolInfo struct {
	Name        string
	Title       string
	Description string
	InputSchema jcs.Raw // nil when not stated
	ReadOnly    bool    // annotations.readOnlyHint
}

// Called is the result of one tool call.
type Called struct {
	Text       []byte  // content[0].text, exactly; nil when the first item is no text
	Items      int     // how many items content has
	Structured jcs.Raw // structuredContent as received, nil when there is none
	IsError    bool
}

// Connect shakes hands: initialize, then notifications/initialized. Errors are *TransportError, for an answer that is no MCP as well, and *RPCError. Of the
// options it uses Fetch and Offline.
func Connect(ctx context.Context, endpoint string, o Options) (*Connection, error) {
	c := &Connection{endpoint: endpoint, fetch: o.Fetch, owned: o.Fetch == nil}
	if o.Offline {
		return nil, c.broken("not called, because this reader works offline")
	}
	if c.owned {
		c.fetch = safefetch.New(Bounds())
	}
	if err := c.handshake(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Close drops the idle connections of a client that Connect made itself. There is no session to end that holds anything.
func (c *Connection) Close() {
	if c.owned {
		c.fetch.Close()
	}
}

func (c *Connection) handshake(ctx context.Context) error {
	const client = `{"protocolVersion":"` + business.APIVersion + `","capabilities":{},"clientInfo":{"name":"sayso","version":"` + business.Version + `"}}`
	result, header, err := c.request(ctx, "initialize", []byte(client))
	if err != nil {
		return err
	}
	var hello struct {
		ProtocolVersion string `json:"protocolVersion"`
		ServerInfo      struct {
			Name string `json:"name"`
		} `json:"serverInfo"`
	}
	if err := business.Decode(result, &hello); err != nil {
		return c.broken("the answer to initialize has not the form of one")
	}
	if !slices.Contains(business.MCPVersions, hello.ProtocolVersion) {
		return c.broken(fmt.Sprintf("the server speaks MCP revision %.40q, this reader %s", hello.ProtocolVersion, strings.Join(business.MCPVersions, " and ")))
	}
	c.Server, c.Revision = hello.ServerInfo.Name, hello.ProtocolVersion
	if c.session = header.Get("Mcp-Session-Id"); len(c.session) > maxSession || strings.ContainsFunc(c.session, func(r rune) bool { return r < '!' || r > '~' }) {
		return c.broken("the session id is no short visible ASCII")
	}
	resp, err := c.post(ctx, []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	if err != nil {
		return err
	}
	if resp.Status/100 != 2 {
		return refused(c.at(), resp)
	}
	return nil
}

// Tools reads tools/list to its end. Errors are those of Connect.
func (c *Connection) Tools(ctx context.Context) ([]ToolInfo, error) {
	var tools []ToolInfo
	seen := map[string]bool{}
	params := []byte(`{}`)
	for range maxToolPages {
		result, _, err := c.request(ctx, "tools/list", params)
		if err != nil {
			return nil, err
		}
		var page struct {
			Tools []struct {
				Name        string  `json:"name"`
				Title       string  `json:"title"`
				Description string  `json:"description"`
				InputSchema jcs.Raw `json:"inputSchema"`
				Annotations struct {
					ReadOnly bool `json:"readOnlyHint"`
				} `json:"annotations"`
			} `json:"tools"`
			NextCursor string `json:"nextCursor"`
		}
		if err := business.Decode(result, &page); err != nil {
			return nil, c.broken("the answer to tools/list has not the form of one")
		}
		for _, t := range page.Tools {
			tools = append(tools, ToolInfo{Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.InputSchema, ReadOnly: t.Annotations.ReadOnly})
		}
		switch {
		case len(tools) > MaxTools:
			return nil, c.broken("tools/list has more than " + strconv.Itoa(MaxTools) + " tools")
		case page.NextCursor == "":
			return tools, nil
		case seen[page.NextCursor]:
			return nil, c.broken("tools/list repeats a cursor")
		}
		seen[page.NextCursor] = true
		params = append(jcs.AppendString([]byte(`{"cursor":`), page.NextCursor), '}')
	}
	return nil, c.broken("tools/list has more than " + strconv.Itoa(maxToolPages) + " pages")
}

// Call calls a tool with these arguments, every token of them as it stands; nil sends none. Arguments that are not one strict JSON value, or a tool name that
// is not UTF-8, are an error before anything is sent; other errors are those of Connect. What the result says is not judged here.
func (c *Connection) Call(ctx context.Context, tool string, arguments jcs.Raw) (*Called, error) {
	name, err := jcs.Encode(tool)
	if err != nil {
		return nil, fmt.Errorf("the name of the tool: %w", err)
	}
	params := append([]byte(`{"name":`), name...)
	if arguments != nil {
		if _, err := business.Canon(arguments); err != nil {
			return nil, fmt.Errorf("the arguments: %w", err)
		}
		params = append(append(params, `,"arguments":`...), arguments...)
	}
	result, _, err := c.request(ctx, "tools/call", append(params, '}'))
	if err != nil {
		return nil, err
	}
	var called struct {
		Content []struct {
			Type string  `json:"type"`
			Text *string `json:"text"`
		} `json:"content"`
		Structured jcs.Raw `json:"structuredContent"`
		IsError    bool    `json:"isError"`
	}
	if err := business.Decode(result, &called); err != nil {
		return nil, c.broken("the answer to tools/call has not the form of one")
	}
	out := &Called{Items: len(called.Content), Structured: called.Structured, IsError: called.IsError}
	if len(called.Content) > 0 && called.Content[0].Type == "text" && called.Content[0].Text != nil {
		out.Text = []byte(*called.Content[0].Text)
	}
	return out, nil
}

// request sends one request and returns its result with the header of the answer.
func (c *Connection) request(ctx context.Context, method string, params []byte) (jcs.Raw, http.Header, error) {
	c.sent++
	id := strconv.Itoa(c.sent)
	body := append([]byte(`{"jsonrpc":"2.0","id":`+id+`,"method":"`+method+`","params":`), params...)
	resp, err := c.post(ctx, append(body, '}'))
	if err != nil {
		return nil, nil, err
	}
	reply, err := c.reply(resp, id)
	switch {
	case err == nil && reply.failure != nil && (resp.Status == http.StatusOK || resp.Status == http.StatusBadRequest || resp.Status == http.StatusNotFound):
		return nil, nil, reply.failure
	case resp.Status != http.StatusOK:
		return nil, nil, refused(c.at(), resp)
	case err != nil:
		return nil, nil, err
	}
	return reply.result, resp.Header, nil
}

func (c *Connection) post(ctx context.Context, body []byte) (*safefetch.Response, error) {
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if c.Revision != "" {
		header["Mcp-Protocol-Version"] = []string{c.Revision}
	}
	if c.session != "" {
		header["Mcp-Session-Id"] = []string{c.session}
	}
	ctx, cancel := context.WithTimeout(ctx, MaxTime)
	defer cancel()
	resp, err := c.fetch.Do(ctx, safefetch.Request{Method: http.MethodPost, URL: c.endpoint, Header: header, Body: strings.NewReader(string(body))})
	if err != nil {
		return nil, unreached(c.at(), err)
	}
	return resp, nil
}

// at is the endpoint as errors may show it.
func (c *Connection) at() string { return safefetch.WithoutQuery(c.endpoint) }

// broken is an answer that is no MCP.
func (c *Connection) broken(problem string) *TransportError {
	return &TransportError{URL: c.at(), Problem: problem}
}

// reply is one JSON-RPC response: a result or a failure.
type reply struct {
	result  jcs.Raw
	failure *RPCError
}

// reply finds the response to a request: the body, or the one event of a stream that answers it.
func (c *Connection) reply(resp *safefetch.Response, id string) (*reply, error) {
	media := mediaOf(resp)
	if isJSON(media) {
		r, err := readReply(resp.Body, id)
		if err != nil {
			return nil, c.broken(err.Error())
		}
		if r == nil {
			return nil, c.broken("the answer is a message of another kind")
		}
		return r, nil
	}
	if media != "text/event-stream" {
		return nil, &TransportError{URL: c.at(), Status: resp.Status, Problem: fmt.Sprintf("the content type is %.100q, neither JSON nor an event stream", media)}
	}
	var found *reply
	for _, message := range events(resp.Body) {
		r, err := readReply(message, id)
		switch {
		case err != nil:
			return nil, c.broken(err.Error())
		case r != nil && found != nil:
			return nil, c.broken("the stream answers one request twice")
		case r != nil:
			found = r
		}
	}
	if found == nil {
		return nil, c.broken("the stream ended without the answer")
	}
	return found, nil
}

// readReply reads one JSON-RPC message. A request or notification of the server's is nil: this client offers nothing that a server could ask for.
func readReply(message []byte, id string) (*reply, error) {
	var m struct {
		Version string  `json:"jsonrpc"`
		ID      jcs.Raw `json:"id"`
		Method  *string `json:"method"`
		Result  jcs.Raw `json:"result"`
		Error   *struct {
			Code    int     `json:"code"`
			Message string  `json:"message"`
			Data    jcs.Raw `json:"data"`
		} `json:"error"`
	}
	if err := business.Decode(message, &m); err != nil {
		return nil, errors.New("the answer is no strict JSON-RPC: " + plainJSON(err))
	}
	switch {
	case m.Version != "2.0":
		return nil, errors.New(`the answer is no JSON-RPC 2.0`)
	case m.Method != nil:
		return nil, nil
	case (m.Result == nil) == (m.Error == nil):
		return nil, errors.New("the answer has not exactly one of result and error")
	case m.Error != nil && string(m.ID) == "null": // what the server could not read has no id
	case string(m.ID) != id:
		return nil, errors.New("the answer carries the id of another request")
	}
	if m.Error != nil {
		return &reply{failure: &RPCError{Code: m.Error.Code, Message: m.Error.Message, Data: m.Error.Data}}, nil
	}
	return &reply{result: m.Result}, nil
}

// plainJSON says which gate a text broke, without the text.
func plainJSON(err error) string {
	if e, ok := errors.AsType[*jcs.Error](err); ok {
		return string(e.Kind)
	}
	return "unreadable"
}

// events are the data of the message events of a stream, in order. An event that the end of the stream cuts off is none, as the format of server-sent events
// has it.
func events(stream []byte) [][]byte {
	var out [][]byte
	var data []string
	kind := ""
	text := strings.TrimPrefix(string(stream), "\ufeff")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	for line, rest, more := strings.Cut(text, "\n"); more; line, rest, more = strings.Cut(rest, "\n") {
		if line == "" {
			if len(data) > 0 && (kind == "" || kind == "message") {
				if event := strings.Join(data, "\n"); event != "" { // an event without data primes the client to resume
					out = append(out, []byte(event))
				}
			}
			data, kind = nil, ""
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "data":
			data = append(data, value)
		case "event":
			kind = value
		}
	}
	return out
}
