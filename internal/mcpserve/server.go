package mcpserve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sayso/facts/describe"
)

// listTTL is how long, in milliseconds, a client may keep the tool list and the discovery answer: they change only
// when the dataset does.
const listTTL = 300_000

// callTimeout bounds one tool call; it lies below the 60 s after which clients give up.
const callTimeout = 25 * time.Second

// newServer makes an SDK server over tools. Handlers get the arguments as received: the generic registration would
// pass them through float64.
func newServer(id Identity, tools Tools, timeout time.Duration) *mcp.Server {
	server := mcp.NewServer(
		&mcp.Implementation{Name: id.Name, Title: id.Title, Version: id.Version},
		&mcp.ServerOptions{
			Instructions: tools.Instructions(),
			Logger:       slog.New(slog.DiscardHandler),
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
			SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) {
				c.TTLMs, c.CacheScope = listTTL, "public"
			},
			SupportedProtocolVersions: slices.Clone(describe.ProtocolVersions),
		})
	for _, op := range tools.Definitions() {
		server.AddTool(definition(&op), handler(op.Tool, tools, timeout))
	}
	return server
}

func definition(op *describe.Operation) *mcp.Tool {
	no := false
	return &mcp.Tool{
		Name:        op.Tool,
		Title:       op.Title,
		Description: op.Description,
		InputSchema: json.RawMessage(op.InputSchema()),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: &no, IdempotentHint: true, OpenWorldHint: &no},
	}
}

func handler(name string, tools Tools, timeout time.Duration) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		args := bytes.TrimSpace(req.Params.Arguments)
		if len(args) > 0 && args[0] != '{' && !bytes.Equal(args, []byte("null")) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "arguments must be a JSON object"}
		}
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		result, ok := tools.Call(ctx, name, args)
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the answer took too long; ask again"}
		}
		if !ok {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown tool %q", name)}
		}
		return toolResult(result), nil
	}
}

// toolResult puts the whole document into both channels: some clients drop the one, some the other.
func toolResult(r describe.Result) *mcp.CallToolResult {
	if r.IsError {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: r.Text}}}
	}
	return &mcp.CallToolResult{
		Content:           []mcp.Content{&mcp.TextContent{Text: string(r.JSON)}},
		StructuredContent: json.RawMessage(r.JSON),
	}
}
