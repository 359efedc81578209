package factscheck

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"sayso/jcs"
	"sayso/safefetch"
)

// mcpRevision is what the checker offers at initialize; a server may answer with another one it speaks.
const mcpRevision = "2025-06-18"

// mcpClient posts JSON-RPC to one MCP endpoint (Streamable HTTP).
type mcpClient struct {
	url, session, revision string
	id                     int
}

type tool struct {
	Name        string `json:"name"`
	Annotations struct {
		ReadOnlyHint    *bool `json:"readOnlyHint"`
		DestructiveHint *bool `json:"destructiveHint"`
	} `json:"annotations"`
}

var toolNames = []string{"get_fact", "resolve_fact", "what_changed_since"}

// checkMCP is item 14 and 011c, when mcp is declared.
func (c *checker) checkMCP() {
	if c.discovery.MCP == nil {
		for _, rule := range []string{"VF-L2-011c", "VF-L2-014a", "VF-L2-014b", "VF-L2-014c", "VF-L2-014d"} {
			c.untested(rule, c.factsURL, "facts.json declares no mcp", "MCP is optional")
		}
		return
	}
	c.checkCard()
	at := c.discovery.MCP.URL
	c.mcp = &mcpClient{url: at}
	if _, err := c.call("initialize", map[string]any{"protocolVersion": mcpRevision, "capabilities": map[string]any{}, "clientInfo": map[string]string{"name": "sayso-check", "version": "0"}}); err != nil {
		c.mcpProblem("VF-L2-014a", "initialize", err)
		return
	}
	if err := c.notify("notifications/initialized"); err != nil {
		c.mcpProblem("VF-L2-014a", "notifications/initialized", err)
		return
	}
	result, err := c.call("tools/list", map[string]any{})
	if err != nil {
		c.mcpProblem("VF-L2-014a", "tools/list", err)
		return
	}
	c.checkTools(at, result)
	c.checkMissOverMCP(at)
}

// mcpProblem records a call that gave no result: what could not be sent is not tested, what was refused is a failure.
func (c *checker) mcpProblem(rule, method string, err error) {
	var refused *rpcError
	if errors.As(err, &refused) {
		c.fail(rule, c.mcp.url, method+": "+refused.text, "answer JSON-RPC over POST")
		return
	}
	c.unanswered(rule, c.mcp.url, method+" could not be sent", err)
}

// checkTools is 014 a, b and d.
func (c *checker) checkTools(at string, result []byte) {
	var list struct {
		Tools []tool `json:"tools"`
	}
	if err := jcs.Decode(result, &list); err != nil {
		c.fail("VF-L2-014a", at, "the result of tools/list cannot be read: "+err.Error(), "list tools as MCP describes")
		return
	}
	for _, name := range toolNames {
		i := slices.IndexFunc(list.Tools, func(t tool) bool { return t.Name == name })
		if !c.expect(i >= 0, "VF-L2-014a", at, "there is no tool "+name, "offer get_fact, resolve_fact and what_changed_since") {
			continue
		}
		a := list.Tools[i].Annotations
		readOnly := a.ReadOnlyHint != nil && *a.ReadOnlyHint && (a.DestructiveHint == nil || !*a.DestructiveHint)
		c.expect(readOnly, "VF-L2-014b", at, name+" is not annotated as read-only", "set readOnlyHint true and destructiveHint false")
	}
	canonical, err := jcs.Canonical(result)
	if err != nil {
		return
	}
	if len(canonical) > toolsBudget {
		c.warn("VF-L2-014d", at, fmt.Sprintf("the result of tools/list is %d bytes", len(canonical)), "every assistant pays for it in each conversation: shorten the descriptions")
	} else {
		c.pass("VF-L2-014d")
	}
}

// checkMissOverMCP is 011c.
func (c *checker) checkMissOverMCP(at string) {
	result, err := c.call("tools/call", map[string]any{"name": "get_fact", "arguments": map[string]string{"key": noKey}})
	if err != nil {
		c.mcpProblem("VF-L2-011c", "tools/call get_fact", err)
		return
	}
	var answer struct {
		IsError bool `json:"isError"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	var miss struct {
		Covered *bool `json:"covered"`
	}
	err = jcs.Decode(result, &answer)
	if err == nil && len(answer.Content) > 0 {
		err = jcs.Decode([]byte(answer.Content[0].Text), &miss)
	}
	c.expect(err == nil && !answer.IsError && miss.Covered != nil && !*miss.Covered, "VF-L2-011c", at,
		fmt.Sprintf("isError is %v, the text is no miss with covered false", answer.IsError), "answer with the same document as over HTTP; a miss is no tool error")
}

var cardName = regexp.MustCompile(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`)

// checkCard is 014c.
func (c *checker) checkCard() {
	at := c.discovery.MCP.ServerCard
	if at == "" {
		at = strings.TrimRight(c.discovery.MCP.URL, "/") + "/server-card"
	}
	resp, err := c.get(at, "application/mcp-server-card+json, application/json")
	if err != nil {
		c.unanswered("VF-L2-014c", at, "the card could not be fetched", err)
		return
	}
	if !c.expect(resp.Status == http.StatusOK, "VF-L2-014c", at, "the answer is "+status(resp), "serve the server card there") {
		return
	}
	var card map[string]jcs.Raw
	if err := jcs.Decode(resp.Body, &card); err != nil {
		c.fail("VF-L2-014c", at, "the card cannot be read: "+err.Error(), "serve one JSON object")
		return
	}
	for _, member := range []string{"$schema", "name", "version", "description"} {
		c.expect(plainString(card[member]) != "", "VF-L2-014c", at, member+" is missing", "a card has $schema, name, version and description")
	}
	c.expect(cardName.MatchString(plainString(card["name"])), "VF-L2-014c", at, fmt.Sprintf("name is %.100q", plainString(card["name"])), "write the name as host/server")
	c.expect(card["tools"] == nil, "VF-L2-014c", at, "the card lists tools", "tools are listed by tools/list alone")
	c.expect(resp.Header.Get("Access-Control-Allow-Origin") == "*", "VF-L2-014c", at, "the card may not be read from web pages", "send Access-Control-Allow-Origin: *")
	if t := mediaType(resp.Header); t != "application/mcp-server-card+json" {
		c.warn("VF-L2-014c", at, fmt.Sprintf("the content type is %q", t), "serve it as application/mcp-server-card+json")
	}
}

// rpcError is an answer that carries no result.
type rpcError struct{ text string }

func (e *rpcError) Error() string { return e.text }

// call sends one request and returns its result.
func (c *checker) call(method string, params map[string]any) ([]byte, error) {
	m := c.mcp
	m.id++
	resp, err := c.post(map[string]any{"jsonrpc": "2.0", "id": m.id, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		m.session = id
	}
	body := resp.Body
	if mediaType(resp.Header) == "text/event-stream" {
		body = lastEvent(body)
	}
	var answer struct {
		ID     int     `json:"id"`
		Result jcs.Raw `json:"result"`
		Error  *struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	switch err := jcs.Decode(body, &answer); {
	case err != nil:
		return nil, &rpcError{"the answer (" + status(resp) + ") is no JSON-RPC message"}
	case answer.Error != nil:
		return nil, &rpcError{fmt.Sprintf("error %d: %.200s", answer.Error.Code, answer.Error.Message)}
	case answer.Result == nil || answer.ID != m.id:
		return nil, &rpcError{"the answer has no result for the request"}
	}
	if method == "initialize" {
		var hello struct {
			ProtocolVersion string `json:"protocolVersion"`
		}
		if jcs.Decode(answer.Result, &hello) == nil {
			m.revision = hello.ProtocolVersion
		}
	}
	return answer.Result, nil
}

// notify sends a notification, which has no answer.
func (c *checker) notify(method string) error {
	resp, err := c.post(map[string]any{"jsonrpc": "2.0", "method": method})
	if err == nil && resp.Status >= 300 {
		err = &rpcError{"the answer is " + status(resp)}
	}
	return err
}

func (c *checker) post(message map[string]any) (*safefetch.Response, error) {
	body, err := jcs.Encode(message)
	if err != nil {
		return nil, err
	}
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if c.mcp.session != "" {
		h.Set("Mcp-Session-Id", c.mcp.session)
	}
	if c.mcp.revision != "" {
		h.Set("Mcp-Protocol-Version", c.mcp.revision)
	}
	return c.do(c.fetch, safefetch.Request{Method: http.MethodPost, URL: c.mcp.url, Header: h, Body: bytes.NewReader(body)})
}

// lastEvent is the data of the last event of a stream: the answer comes after what was said on the way.
func lastEvent(stream []byte) []byte {
	var data, last []byte
	for line := range bytes.Lines(append(stream, '\n', '\n')) {
		line = bytes.TrimRight(line, "\r\n")
		if rest, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(append(data, bytes.TrimPrefix(rest, []byte(" "))...), '\n')
		} else if len(line) == 0 && len(data) > 0 {
			last, data = data, nil
		}
	}
	return last
}
