package mcpserve

import (
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sayso/business"
)

// NewTools serves any tools behind the same reader as NewFacts, each call within timeout.
func NewTools(origin string, t Tools, id Identity, timeout time.Duration) http.Handler {
	server := newServer(id, t, timeout)
	return newEndpoint(origin, func() *mcp.Server { return server })
}

// ParseMessage is parseMessage for the fuzz test: whether a message is admitted, else the error's line.
func ParseMessage(data []byte) (ok bool, refusal []byte) {
	if _, refused := parseMessage(data); refused != nil {
		return false, refused.JSON()
	}
	return true, nil
}

// ServeSDK is ServeCall with every answer framed by the SDK.
func (t *RegistryTools) ServeSDK(w http.ResponseWriter, r *http.Request, p *business.Publication) error {
	return t.serve(w, r, p, func(http.Header, message, toolCall, outcome) framing { return bySDK })
}

// ServeCounted is ServeCall that counts the calls it frames itself.
func (t *RegistryTools) ServeCounted(framed *int) func(http.ResponseWriter, *http.Request, *business.Publication) error {
	return func(w http.ResponseWriter, r *http.Request, p *business.Publication) error {
		return t.serve(w, r, p, func(h http.Header, m message, c toolCall, o outcome) framing {
			as := framingOf(h, m, c, o)
			if as != bySDK {
				*framed++
			}
			return as
		})
	}
}

// SplitAsk is splitAsk for the fuzz test.
func SplitAsk(arguments []byte) (slug string, inner []byte, ok bool) {
	slug, inner, fault := splitAsk(arguments)
	return slug, inner, fault == nil
}
