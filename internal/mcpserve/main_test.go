package mcpserve_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sayso/facts"
	"sayso/facts/factstest"
	"sayso/internal/mcpserve"
)

var sample = sync.OnceValue(func() *facts.Snapshot { return factstest.Snapshot(factstest.Sample()) })

// generated is unsigned, so it is quick to make.
var generated = sync.OnceValue(func() *facts.Snapshot {
	return factstest.Snapshot(factstest.Generate(factstest.Options{Facts: 60, Seed: 7, Values: 3, Unsigned: true}))
})

func options(s *facts.Snapshot) mcpserve.FactsOptions {
	return mcpserve.FactsOptions{
		Snapshot:     func() *facts.Snapshot { return s },
		Today:        func() facts.Date { return factstest.Today },
		Version:      "1.2.3",
		PublicOrigin: factstest.Origin,
	}
}

// settled waits until no more goroutines run than before: one that has said it is done may still be leaving.
func settled(t *testing.T, before int) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
	}
}

// answer is what came back over HTTP.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// rpc is the body as a JSON-RPC response.
func (a answer) rpc(t *testing.T) (r struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
}) {
	t.Helper()
	if err := json.Unmarshal(a.body, &r); err != nil || r.JSONRPC != "2.0" {
		t.Fatalf("not a JSON-RPC response (%d): %v: %s", a.status, err, a.body)
	}
	return r
}

// send makes one request; edit may change it before it is served.
func send(t *testing.T, h http.Handler, body string, edit func(*http.Request)) answer {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, factstest.Origin+"/api/mcp/facts", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	if edit != nil {
		edit(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	got, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{w.Code, w.Header(), got}
}

// call is a tools/call message with raw argument text.
func call(id, tool, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, args)
}

// toolResult is the result of a call.
type toolResult struct {
	Content []struct {
		Type, Text string
	} `json:"content"`
	StructuredContent json.RawMessage `json:"structuredContent"`
	IsError           bool            `json:"isError"`
}

func result(t *testing.T, a answer) toolResult {
	t.Helper()
	r := a.rpc(t)
	if r.Error != nil {
		t.Fatalf("error %d %s", r.Error.Code, r.Error.Message)
	}
	var out toolResult
	if err := json.Unmarshal(r.Result, &out); err != nil {
		t.Fatal(err)
	}
	if len(out.Content) != 1 || out.Content[0].Type != "text" {
		t.Fatalf("content: %s", r.Result)
	}
	return out
}

// statelessMeta makes the params members and headers of revision 2026-07-28.
const statelessMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

func stateless(method, name string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", method)
		if name != "" {
			r.Header.Set("Mcp-Name", name)
		}
	}
}

func compact(t *testing.T, raw []byte) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Compact(&out, raw); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// holder is a snapshot that can be swapped under the handler.
type holder struct {
	p atomic.Pointer[facts.Snapshot]
}

func withOrigin(o mcpserve.FactsOptions, origin string) mcpserve.FactsOptions {
	o.PublicOrigin = origin
	return o
}

// post makes one request over a connection.
func post(t *testing.T, url, body string) answer {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, got}
}
