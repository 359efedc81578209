package mcpserve

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"sayso/business"
	"sayso/business/bizhttp"
	"sayso/business/coverage"
	"sayso/facts"
	"sayso/facts/describe"
	"sayso/internal/app"
	"sayso/jcs"
)

// Registry is what the endpoints of a registry ask. All methods may be called at the same time.
type Registry interface {
	// Now is the clock of every answer.
	Now() time.Time
	// Site says which origins the deployment answers for.
	Site() business.Site
	// Publication returns a publisher in whatever state, bizhttp.ErrUnknown or bizhttp.ErrUnavailable.
	Publication(ctx context.Context, slug string) (*business.Publication, error)
	// Publications lists every publisher, published or not.
	Publications(ctx context.Context) ([]*business.Publication, error)
	// Ask answers a call of a published publisher with its signed envelope. Errors are *coverage.CallError, app.ErrNoTool, bizhttp.ErrUnknown,
	// bizhttp.ErrUnavailable, bizhttp.ErrKeysUnavailable and those of ctx; any other one is a fault of this side.
	Ask(ctx context.Context, slug, tool string, arguments jcs.Raw) ([]byte, error)
}

// RegistryOptions configures [NewRegistry]. Registry is required.
type RegistryOptions struct {
	Registry Registry
	// Facts returns the snapshot whose tools the front door offers beside its own, nil while none is loaded. A nil function means that no facts are served.
	Facts func() *facts.Snapshot
	// Today is the current day in UTC; it is needed with Facts.
	Today func() facts.Date
	// Version of the running program.
	Version string
	// Report receives the cause of every fault that a client is told without its cause. Nil drops it.
	Report func(r *http.Request, cause error)
}

// RegistryTools answers MCP messages about a registry's publishers and at its front door.
type RegistryTools struct {
	RegistryOptions
	sdk  http.Handler
	door frontDoor
}

// NewRegistry makes the endpoints of a registry: one for each publisher and one for the registry itself. They share one SDK server, which holds no tools;
// whose tools a request sees is decided by the publication that comes with it.
func NewRegistry(o RegistryOptions) *RegistryTools {
	if o.Report == nil {
		o.Report = func(*http.Request, error) {}
	}
	t := &RegistryTools{RegistryOptions: o}
	t.sdk = newRegistrySDK(o.Version)
	return t
}

// ServeCall implements bizhttp.HandlerOptions.Call.
func (t *RegistryTools) ServeCall(w http.ResponseWriter, r *http.Request, p *business.Publication) error {
	return t.serve(w, r, p, framingOf)
}

func (t *RegistryTools) serve(w http.ResponseWriter, r *http.Request, p *business.Publication, choose func(http.Header, message, toolCall, outcome) framing) error {
	header := w.Header()
	header["Access-Control-Expose-Headers"] = exposed
	header["Cache-Control"] = noStore
	m, body, refused := accept(w, r)
	if refused != nil {
		if refused.rpc == nil {
			return &bizhttp.Refusal{Status: refused.status, Code: strings.ReplaceAll(refused.code, " ", "_"), Message: refused.sentence}
		}
		refuseRPC(w, refused.status, refused.rpc)
		return nil
	}
	x := &exchange{tools: t, p: p}
	if m.method == "tools/call" {
		c := readCall(m)
		var err error
		if x.outcome, err = t.call(r, p, c); err != nil {
			return err
		}
		if as := choose(r.Header, m, c, x.outcome); as != bySDK {
			x.frame(w, m, as)
			return nil
		}
	}
	ctx, cancel := context.WithTimeout(context.WithValue(r.Context(), exchangeKey{}, x), streamTimeout)
	defer cancel()
	forward(t.sdk, w, r.Clone(ctx), m, body)
	return nil
}

// exchange is one message on its way through: whose endpoint it came to and, of a call, what is answered.
type exchange struct {
	tools   *RegistryTools
	p       *business.Publication // nil at the front door
	outcome outcome
}

type exchangeKey struct{}

// outcome is the answer of a tool call, made once, whoever frames it: a result or a JSON-RPC error.
type outcome struct {
	result describe.Result
	fault  *rpcError // without an id
}

// toolCall is what a tools/call asks.
type toolCall struct {
	name      string
	arguments jcs.Raw // an object as received, nil when absent or null
	meta      jcs.Raw // nil when absent
	extra     bool    // params holds more than these
	fault     *rpcError
}

// callData is the machine-readable part of a refused call: a code and, for an argument, the JSON pointer to it.
type callData struct {
	Code string `json:"code"`
	Path string `json:"path,omitempty"`
}

func refusedCall(code, path, message string) *rpcError {
	return &rpcError{Code: codeInvalidParams, Message: message, Data: callData{code, path}}
}

// readCall reads the params of a tools/call, which were checked as JSON before.
func readCall(m message) toolCall {
	var c toolCall
	members, err := form.Members(m.params)
	if err != nil {
		c.fault = refusedCall("invalid_params", "", "params cannot be read")
		return c
	}
	named := false
	for _, member := range members {
		switch member.Name {
		case "name":
			c.name, named = jcs.Text(member.Value)
		case "arguments":
			switch member.Value[0] {
			case '{':
				c.arguments = member.Value
			case 'n':
			default:
				c.fault = refusedCall("invalid_arguments", "", "arguments must be a JSON object")
			}
		case "_meta":
			c.meta = member.Value
		default:
			c.extra = true
		}
	}
	if !named {
		c.fault = refusedCall("invalid_params", "", "params.name must be the name of a tool")
	}
	return c
}

// call answers a tool call. An error is one for the whole request: the publisher cannot be served at all, which is a status and no answer (X§5.4).
func (t *RegistryTools) call(r *http.Request, p *business.Publication, c toolCall) (outcome, error) {
	if c.fault != nil {
		return outcome{fault: c.fault}, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), callTimeout)
	defer cancel()
	if p == nil {
		return t.callDoor(ctx, r, c)
	}
	text, err := t.Registry.Ask(ctx, p.Slug, c.name, c.arguments)
	if err == nil {
		return outcome{result: describe.Result{JSON: text}}, nil
	}
	if errors.Is(err, bizhttp.ErrUnknown) || errors.Is(err, bizhttp.ErrUnavailable) || errors.Is(err, bizhttp.ErrKeysUnavailable) {
		return outcome{}, err
	}
	return outcome{fault: t.faultOf(r, c, err)}, nil
}

// faultOf is the JSON-RPC error of a call that Ask did not answer. What is no fault of the caller's is reported and not told.
func (t *RegistryTools) faultOf(r *http.Request, c toolCall, err error) *rpcError {
	refused, ok := errors.AsType[*coverage.CallError](err)
	switch {
	case ok:
		return refusedCall(refused.Code, refused.Path, refused.Message)
	case errors.Is(err, app.ErrNoTool):
		return unknownTool(c.name)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &rpcError{Code: codeInternal, Message: "the answer took too long; ask again", Data: callData{Code: "timeout"}}
	}
	t.Report(r, err)
	return &rpcError{Code: codeInternal, Message: "this call could not be answered; the fault is on the side of the server", Data: callData{Code: "internal_error"}}
}

func unknownTool(name string) *rpcError {
	return refusedCall("unknown_tool", "", "unknown tool "+shorten(name)+"; tools/list names the tools that there are")
}

// Header values that never change, as package bizhttp keeps its own: under canonical names, of exact capacity, shared by all answers.
var (
	exposed  = []string{"ETag, Mcp-Session-Id, Retry-After, X-Request-Id"}
	noStore  = []string{"no-store"}
	typeJSON = []string{"application/json"}
)
