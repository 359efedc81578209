package mcpserve

import (
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
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
