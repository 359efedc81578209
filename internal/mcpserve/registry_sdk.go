package mcpserve

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sayso/facts/describe"
)

// newRegistrySDK is the SDK behind all endpoints of a registry: one server for all publishers, because one for each costs a millisecond and a megabyte to
// build. It holds one tool, which is never listed: every call ends there, because the SDK finishes only the results of its own tools. What is answered stands in
// the exchange in the context, which only ServeCall sets.
func newRegistrySDK(version string) http.Handler {
	server := mcp.NewServer(
		&mcp.Implementation{Name: "sayso", Version: version},
		&mcp.ServerOptions{
			Logger:                    slog.New(slog.DiscardHandler),
			Capabilities:              &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
			SetCacheable:              func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { *c = listed },
			SupportedProtocolVersions: slices.Clone(describe.ProtocolVersions),
		})
	server.AddTool(&mcp.Tool{Name: outcomeTool, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return ctx.Value(exchangeKey{}).(*exchange).sdkResult()
	})
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			return ctx.Value(exchangeKey{}).(*exchange).receive(ctx, next, method, req)
		}
	})
	return newSDKHandler(func(*http.Request) *mcp.Server { return server })
}

// outcomeTool answers with the outcome of the exchange.
const outcomeTool = "outcome"

// listed is how long lists and discovery answers may be kept, and by whom: as long as the documents that name the endpoint.
var listed = mcp.Cacheable{TTLMs: listTTL, CacheScope: "public"}

// receive answers what depends on the endpoint and leaves the rest to the SDK.
func (x *exchange) receive(ctx context.Context, next mcp.MethodHandler, method string, req mcp.Request) (result mcp.Result, err error) {
	switch method {
	case "tools/list":
		result, err = x.list(req)
	case "tools/call":
		if call, ok := req.(*mcp.CallToolRequest); ok {
			call.Params.Name = outcomeTool
		}
		result, err = next(ctx, method, req)
	default:
		result, err = next(ctx, method, req)
	}
	if err != nil {
		return nil, err
	}
	id := x.identity()
	server := &mcp.Implementation{Name: id.Name, Title: id.Title, Version: id.Version}
	switch r := result.(type) {
	case *mcp.InitializeResult:
		r.ServerInfo, r.Instructions = server, x.instructions()
	case *mcp.DiscoverResult:
		r.Instructions = x.instructions()
		nameServer(r, server)
	case *mcp.ListToolsResult, *mcp.CallToolResult, *mcp.ListResourcesResult, *mcp.ListResourceTemplatesResult, *mcp.ListPromptsResult:
		if spoken, ok := req.(interface{ ProtocolVersion() string }); ok && spoken.ProtocolVersion() >= firstStateless {
			nameServer(result, server)
		}
	}
	return result, nil
}

// nameServer says in a result who gave it, as revision 2026-07-28 asks. The SDK would name its one server.
func nameServer(result mcp.Result, server *mcp.Implementation) {
	meta := result.GetMeta()
	if meta == nil {
		meta = map[string]any{}
	}
	meta[mcp.MetaKeyServerInfo] = server
	result.SetMeta(meta)
}

// list is the whole tool list: there is one page.
func (x *exchange) list(req mcp.Request) (mcp.Result, error) {
	if params, ok := req.GetParams().(*mcp.ListToolsParams); ok && params != nil && params.Cursor != "" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the list has one page, so no cursor is known"}
	}
	return &mcp.ListToolsResult{Tools: x.definitions(), Cacheable: listed}, nil
}

// sdkResult is the outcome as the SDK takes it.
func (x *exchange) sdkResult() (*mcp.CallToolResult, error) {
	fault := x.outcome.fault
	if fault == nil {
		return toolResult(x.outcome.result), nil
	}
	data, err := json.Marshal(fault.Data)
	if err != nil {
		return nil, err
	}
	return nil, &jsonrpc.Error{Code: int64(fault.Code), Message: fault.Message, Data: data}
}
