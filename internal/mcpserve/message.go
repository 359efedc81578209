package mcpserve

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"sayso/jcs"
)

// JSON-RPC error codes.
const (
	codeParse              = -32700
	codeInvalidRequest     = -32600
	codeMethodNotFound     = -32601
	codeInvalidParams      = -32602
	codeInternal           = -32603
	codeUnsupportedVersion = -32022
)

// maxID bounds an integer id: beyond it a number does not survive the SDK's float64.
const maxID = 1<<53 - 1

// rpcError is a JSON-RPC error response. ID is the request's id as received, null when it is not known.
type rpcError struct {
	ID      jcs.Raw
	Code    int
	Message string
	Data    any
}

// JSON is the response as one line.
func (e *rpcError) JSON() []byte {
	type detail struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    any    `json:"data,omitempty"`
	}
	out, err := jcs.Encode(struct {
		JSONRPC string  `json:"jsonrpc"`
		ID      jcs.Raw `json:"id"`
		Error   detail  `json:"error"`
	}{"2.0", e.ID, detail{e.Code, strings.ToValidUTF8(e.Message, "\uFFFD"), e.Data}})
	if err != nil {
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"the error could not be written"}}`)
	}
	return out
}

// message is what is known of a checked JSON-RPC message.
type message struct {
	id     jcs.Raw // nil for a notification
	method string  // "" for a response
	params jcs.Raw // an object, nil when absent
	extra  bool    // it has members that no request has
}

// methods are the names the SDK answers; true marks those whose params may be absent. A name outside is refused here,
// because the SDK answers it with plain text under the handshake revisions.
var methods = map[string]bool{
	"initialize":               false,
	"ping":                     true,
	"server/discover":          true,
	"tools/list":               true,
	"tools/call":               false,
	"resources/list":           true,
	"resources/templates/list": true,
	"resources/read":           false,
	"resources/subscribe":      false,
	"resources/unsubscribe":    false,
	"prompts/list":             true,
	"prompts/get":              false,
	"completion/complete":      false,
	"logging/setLevel":         false,
	methodListen:               false,
}

// methodListen opens a stream that stays open; it never has a final answer.
const methodListen = "subscriptions/listen"

const notificationPrefix = "notifications/"

// parseMessage checks one message as foreign input: strict JSON, one object, the envelope of JSON-RPC 2.0. Numbers
// inside params are left to the tool.
func parseMessage(data []byte) (message, *rpcError) {
	members, err := envelope(data)
	if err != nil {
		return message{}, err
	}
	var m message
	var version, method, params, id jcs.Raw
	answer := false
	for _, member := range members {
		switch member.Name {
		case "jsonrpc":
			version = member.Value
		case "id":
			id = member.Value
		case "method":
			method = member.Value
		case "params":
			params = member.Value
		default:
			m.extra = true
			answer = answer || member.Name == "result" || member.Name == "error"
		}
	}
	if id != nil {
		if !validID(id) {
			return m, &rpcError{Code: codeInvalidRequest, Message: "id must be a string or an integer within ±(2^53-1)"}
		}
		m.id = id
	}
	if string(version) != `"2.0"` {
		return m, &rpcError{ID: m.id, Code: codeInvalidRequest, Message: `jsonrpc must be "2.0"`}
	}
	if method == nil && answer && m.id != nil {
		return m, nil // nothing was asked, so the SDK drops it
	}
	if method == nil {
		return m, &rpcError{ID: m.id, Code: codeInvalidRequest, Message: "method is missing"}
	}
	if jcs.Decode(method, &m.method) != nil || method[0] != '"' || m.method == "" {
		return m, &rpcError{ID: m.id, Code: codeInvalidRequest, Message: "method must be a name"}
	}
	m.params = params
	return m, m.checkRequest(params)
}

func (m *message) checkRequest(params jcs.Raw) *rpcError {
	switch notification := strings.HasPrefix(m.method, notificationPrefix); {
	case notification && m.id != nil:
		return &rpcError{ID: m.id, Code: codeInvalidRequest, Message: "a notification has no id"}
	case !notification && m.id == nil:
		return &rpcError{Code: codeInvalidRequest, Message: "id is missing"}
	case params != nil && params[0] != '{':
		return &rpcError{ID: m.id, Code: codeInvalidParams, Message: "params must be an object"}
	}
	if optional, known := methods[m.method]; known && !optional && params == nil {
		return &rpcError{ID: m.id, Code: codeInvalidParams, Message: "params is missing"}
	}
	return nil
}

// unknown reports a method no revision of ours has.
func (m *message) unknown() bool {
	_, known := methods[m.method]
	return m.method != "" && !known && !strings.HasPrefix(m.method, notificationPrefix)
}

func (m *message) notFound() *rpcError {
	return &rpcError{ID: m.id, Code: codeMethodNotFound, Message: fmt.Sprintf("method %s is not offered here", shorten(m.method))}
}

// form is the strict profile with number literals as they stand: a number inside params is its tool's to judge.
var form = jcs.Form{LiteralNumbers: true}

// envelope reads the members of the outer object.
func envelope(data []byte) ([]jcs.Member, *rpcError) {
	members, err := form.Members(data)
	refused, ok := errors.AsType[*jcs.Error](err)
	switch {
	case err == nil:
		return members, nil
	case ok && refused.Kind == jcs.KindType && isBatch(data):
		return nil, &rpcError{Code: codeInvalidRequest, Message: "batches are not accepted; send one message"}
	case ok && refused.Kind == jcs.KindType:
		return nil, &rpcError{Code: codeInvalidRequest, Message: "a message must be a JSON object"}
	}
	return nil, &rpcError{Code: codeParse, Message: "not acceptable JSON: " + err.Error()}
}

func isBatch(data []byte) bool {
	text := strings.TrimLeft(string(data[:min(len(data), 64)]), " \t\r\n")
	return strings.HasPrefix(text, "[")
}

// validID reports whether an id comes back as it was sent: any string, or an integer in plain digits.
func validID(id jcs.Raw) bool {
	if id[0] == '"' {
		return true
	}
	n, err := strconv.ParseInt(string(id), 10, 64)
	return err == nil && n >= -maxID && n <= maxID && strconv.FormatInt(n, 10) == string(id)
}

// shorten quotes foreign text for a message.
func shorten(text string) string {
	if runes := []rune(text); len(runes) > 64 {
		text = string(runes[:64]) + "..."
	}
	return strconv.Quote(text)
}
