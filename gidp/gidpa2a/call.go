package gidpa2a

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"sayso/gidp/wire"
	"sayso/jcs"
)

// The methods of A2A 1.0 as JSON-RPC names them.
const (
	methodSend      = "SendMessage"
	methodStream    = "SendStreamingMessage"
	methodGet       = "GetTask"
	methodList      = "ListTasks"
	methodCancel    = "CancelTask"
	methodSubscribe = "SubscribeToTask"
	methodExtended  = "GetExtendedAgentCard"
	methodPushGet   = "GetTaskPushNotificationConfig"
	methodPushList  = "ListTaskPushNotificationConfigs"
	methodPushSet   = "CreateTaskPushNotificationConfig"
	methodPushDrop  = "DeleteTaskPushNotificationConfig"
)

// restMethod says which method a request below /v1 means. The query is not looked at: no signature covers it, and nothing here depends on one.
func restMethod(verb, path string) (method, task string, ok bool) {
	path, below := strings.CutPrefix(path, "v1/")
	if !below {
		return "", "", false
	}
	switch verb + " " + path {
	case "POST message:send":
		return methodSend, "", true
	case "POST message:stream":
		return methodStream, "", true
	case "GET tasks":
		return methodList, "", true
	case "GET extendedAgentCard":
		return methodExtended, "", true
	}
	task, below = strings.CutPrefix(path, "tasks/")
	if !below {
		return "", "", false
	}
	task, config, push := strings.Cut(task, "/")
	if push {
		name, one, _ := strings.Cut(config, "/")
		switch {
		case name != "pushNotificationConfigs":
		case verb == http.MethodPost && one == "":
			return methodPushSet, task, true
		case verb == http.MethodGet && one == "":
			return methodPushList, task, true
		case verb == http.MethodGet:
			return methodPushGet, task, true
		case verb == http.MethodDelete && one != "":
			return methodPushDrop, task, true
		}
		return "", "", false
	}
	if id, ok := strings.CutSuffix(task, ":subscribe"); ok && (verb == http.MethodGet || verb == http.MethodPost) {
		return methodSubscribe, id, true
	}
	if id, ok := strings.CutSuffix(task, ":cancel"); ok && verb == http.MethodPost {
		return methodCancel, id, true
	}
	return methodGet, task, verb == http.MethodGet
}

// call is one request as it was understood.
type call struct {
	ref      string
	rpc      bool // JSON-RPC, else REST
	id       string
	method   string
	task     string // of a method that names one
	params   jcs.Raw
	active   bool // the extension was asked for
	received time.Time
	request  *http.Request
	body     []byte
	done     func() // ends the context of the call
}

// read takes the body apart under the strict profile, so that no second reader of it can see something else (G6).
func (c *call) read() *failure {
	if len(c.body) == 0 && !c.rpc {
		return nil
	}
	members, err := jcs.Members(c.body)
	switch {
	case err != nil && jcs.Check(c.body) != nil:
		return failParse
	case err != nil:
		return failInvalidRequest
	case !c.rpc:
		c.params = c.body
		return nil
	}
	version, valid := "", true
	for _, m := range members {
		switch m.Name {
		case "id":
			c.id, valid = requestID(m.Value)
		case "jsonrpc":
			version, _ = jcs.Text(m.Value)
		case "method":
			c.method, _ = jcs.Text(m.Value)
		case "params":
			c.params = m.Value
		}
	}
	if !valid || version != "2.0" || c.method == "" {
		return failInvalidRequest
	}
	switch c.method {
	case methodGet, methodSubscribe, methodCancel:
		var params struct {
			ID string `json:"id"`
		}
		if len(c.params) == 0 || jcs.Decode(c.params, &params) != nil || params.ID == "" {
			return failInvalidParams
		}
		c.task = params.ID
	}
	return nil
}

// requestID takes the id of a JSON-RPC request when it is a short text, a whole number or null.
func requestID(raw jcs.Raw) (id string, ok bool) {
	if text, isText := jcs.Text(raw); isText {
		return string(raw), len(text) <= maxName
	}
	if _, err := strconv.ParseInt(string(raw), 10, 64); err == nil || string(raw) == "null" {
		return string(raw), true
	}
	return "", false
}

// message is what counts of an A2A Message. Role, parts and everything else in it are not looked at.
type message struct {
	task, context    string
	object, evidence []byte // canonical
	key              []byte
	signature        string
	open             bool // the object is a SessionOpen
}

// readMessage takes a message out of the parameters of a sending method. Metadata is looked at only when the extension is in force.
func readMessage(params jcs.Raw, n names, active bool) (m message, ok bool) {
	var in struct {
		Message *struct {
			ID       string             `json:"messageId"`
			Context  string             `json:"contextId"`
			Task     string             `json:"taskId"`
			Metadata map[string]jcs.Raw `json:"metadata"`
		} `json:"message"`
	}
	if len(params) == 0 || jcs.Decode(params, &in) != nil || in.Message == nil || in.Message.ID == "" || len(in.Message.ID) > maxName {
		return m, false
	}
	m.task, m.context = in.Message.Task, in.Message.Context
	if m.task != "" && !identifier(m.task) || m.context != "" && !identifier(m.context) {
		return m, false
	}
	if !active {
		return m, true
	}
	meta := in.Message.Metadata
	for name, into := range map[string]*[]byte{n.object: &m.object, n.evidence: &m.evidence, n.key: &m.key} {
		raw, there := meta[name]
		if !there {
			continue
		}
		if *into, ok = object(raw); !ok {
			return m, false
		}
	}
	if raw, there := meta[n.signature]; there {
		if m.signature, ok = jcs.Text(raw); !ok || m.signature == "" || len(m.signature) > maxSignature || !visible(m.signature) {
			return m, false
		}
	}
	if m.object == nil {
		return m, true
	}
	kind, session, ok := about(m.object)
	if !ok || m.context != "" && m.context != session {
		return m, false
	}
	m.context, m.open = session, kind == wire.TypeSessionOpen
	return m, true
}

const maxSignature = 1024 // bytes of a detached JWS over an object

// object returns the canonical form of one JSON object within the bound.
func object(raw jcs.Raw) ([]byte, bool) {
	if len(raw) > maxRequest || len(raw) == 0 || raw[0] != '{' {
		return nil, false
	}
	data, err := jcs.Canonical(raw)
	return data, err == nil && len(data) <= maxObject
}

// about reads type and session of an object. A type that GIDP does not send, and one without a session, have no business here.
func about(object []byte) (kind wire.Type, session string, ok bool) {
	var head struct {
		Type    wire.Type `json:"type"`
		Session string    `json:"session_id"`
	}
	if jcs.Decode(object, &head) != nil || !identifier(head.Session) {
		return "", "", false
	}
	for _, t := range wire.Types() {
		if t == head.Type && t != wire.TypeDiscoveryProjection {
			return t, head.Session, true
		}
	}
	return "", "", false
}

// hello reports a message that brings nothing: it asks whether the extension is in force.
func (m *message) hello() bool { return m.task == "" && m.object == nil && m.evidence == nil }

// fits reports whether the parts of a message belong together: an open names no task and brings its key, everything else names a task and brings none.
func (m *message) fits() bool {
	if m.open {
		return m.task == "" && m.key != nil
	}
	return m.task != "" && m.key == nil && (m.object != nil || m.evidence != nil)
}
