package mcpserve_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sayso/facts/describe"
	"sayso/facts/factstest"
	"sayso/internal/mcpserve"
)

// calls is the corpus of the differential tests: argument texts per tool.
var calls = []struct{ tool, args string }{
	{describe.ToolGet, `{"key":"uk/income-tax/personal-allowance"}`},
	{describe.ToolGet, `{"key":"uk/income-tax/personal-allowance","max_age":"30d"}`},
	{describe.ToolGet, `{"key":"uk/income-tax/personal-allowance","max_age":"0d"}`},
	{describe.ToolGet, `{"key":"uk/income-tax/personal-allowance","as_of":"2025-04-05"}`},
	{describe.ToolGet, `{"key":"uk/income-tax/personal-allowance","period":"1999-00"}`},
	{describe.ToolGet, `{"key":"uk/income-tax/personal-allowance, uk/bank-rate ,no/such"}`},
	{describe.ToolGet, `{"key":"Personal Allowance"}`},
	{describe.ToolGet, `{"key":"no/such/key"}`},
	{describe.ToolGet, `{"key":"\u0075k/bank-rate"}`},
	{describe.ToolGet, `{"key":"a\u0000b"}`},
	{describe.ToolGet, `{"key":""}`},
	{describe.ToolGet, `{"key":"a,,b"}`},
	{describe.ToolGet, `{}`},
	{describe.ToolGet, `null`},
	{describe.ToolGet, `{"key":"uk/bank-rate","max_age":30}`},
	{describe.ToolGet, `{"key":["uk/bank-rate"]}`},
	{describe.ToolGet, `{"key":"uk/bank-rate","asOf":"2026-01-01"}`},
	{describe.ToolGet, `{"key":"uk/bank-rate","as_of":"2026-02-30"}`},
	{describe.ToolGet, `{"key":"uk/bank-rate","as_of":"2026-01-01","period":"2026"}`},
	{describe.ToolGet, `{"key":"uk/bank-rate","max_age":123456789012345678901234567890}`},
	{describe.ToolResolve, `{"q":"personal allowance"}`},
	{describe.ToolResolve, `{"q":"rate","namespace":"uk","limit":1}`},
	{describe.ToolResolve, `{"q":"rate","limit":1.0}`},
	{describe.ToolResolve, `{"q":"rate","limit":1e1}`},
	{describe.ToolResolve, `{"q":"rate","limit":0}`},
	{describe.ToolResolve, `{"q":"rate","limit":21}`},
	{describe.ToolResolve, `{"q":"rate","limit":"5"}`},
	{describe.ToolResolve, `{"q":"rate & <b>\u2028</b>"}`},
	{describe.ToolResolve, `{"q":""}`},
	{describe.ToolChanges, `{"since":"2026-01-01"}`},
	{describe.ToolChanges, `{"since":"2026-01-01","limit":1}`},
	{describe.ToolChanges, `{"since":"2199-01-01"}`},
	{describe.ToolChanges, `{"since":"2026-01-01","area":"nowhere"}`},
	{describe.ToolChanges, `{}`},
}

// TestCallEqualsHTTP: the text of a tools/call is what describe.Call makes, which is what HTTP serves, at every
// revision; the structured content is the same value; refusals are results with the sentence.
func TestCallEqualsHTTP(t *testing.T) {
	h := mcpserve.NewFacts(options(sample()))
	for _, c := range calls {
		want, ok := describe.Call(sample(), c.tool, []byte(c.args), factstest.Today)
		if !ok {
			t.Fatalf("%s is no tool", c.tool)
		}
		for _, revision := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
			body, edit := call("1", c.tool, c.args), revisionHeader(revision)
			if revision == "2026-07-28" {
				body, edit = strings.Replace(body, `"params":{`, `"params":{`+statelessMeta+`,`, 1), stateless("tools/call", c.tool)
			}
			got := result(t, send(t, h, body, edit))
			if got.IsError != want.IsError {
				t.Errorf("%s %s at %s: isError %v: %s", c.tool, c.args, revision, got.IsError, got.Content[0].Text)
			}
			if want.IsError {
				if got.Content[0].Text != want.Text || want.Text == "" || got.StructuredContent != nil {
					t.Errorf("%s %s at %s: %q, want %q", c.tool, c.args, revision, got.Content[0].Text, want.Text)
				}
				continue
			}
			if got.Content[0].Text != string(want.JSON) {
				t.Errorf("%s %s at %s:\n%s\nwant\n%s", c.tool, c.args, revision, got.Content[0].Text, want.JSON)
			}
			if structured := compact(t, got.StructuredContent); unescapeHTML(structured) != compact(t, want.JSON) {
				t.Errorf("%s %s at %s: structured content\n%s\nwant\n%s", c.tool, c.args, revision, structured, want.JSON)
			}
		}
	}
}

// unescapeHTML undoes the escapes the SDK's encoder adds; they change no value.
func unescapeHTML(s string) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\u2028`, "\u2028", `\u2029`, "\u2029").Replace(s)
}

// recorder is a set of one tool that keeps the argument bytes it gets.
type recorder struct {
	mu   sync.Mutex
	args [][]byte
}

func (r *recorder) Definitions() []describe.Operation {
	return []describe.Operation{{Tool: "record", Title: "Record", Description: "Keeps what it gets."}}
}

func (r *recorder) Instructions() string { return "" }

func (r *recorder) Call(_ context.Context, name string, args []byte) (describe.Result, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if args == nil {
		r.args = append(r.args, nil)
	} else {
		r.args = append(r.args, append([]byte{}, args...))
	}
	return describe.Result{JSON: []byte(`{"n":50.0,"big":12345678901234567890123}`)}, name == "record"
}

// TestArgumentFidelity: the tool sees the argument bytes as sent, and number literals of the answer survive.
func TestArgumentFidelity(t *testing.T) {
	tools := new(recorder)
	h := mcpserve.NewTools(factstest.Origin, tools, mcpserve.Identity{Name: "x/y", Version: "1"}, time.Minute)
	for _, args := range []string{
		`{"a":50.0}`, `{"a":1E2}`, `{"a":43.85630}`, `{"a":12345678901234567890123}`, `{"a":-0}`, `{"a":1e400}`,
		`{"a":"\u00e9\u0000"}`, `{ "a" :  [ 1 ,2 ] }`, `{}`, `null`,
	} {
		tools.args = nil
		got := result(t, send(t, h, call("1", "record", args), nil))
		if len(tools.args) != 1 || string(tools.args[0]) != args {
			t.Errorf("sent %s, the tool got %q", args, tools.args)
		}
		if text := `{"n":50.0,"big":12345678901234567890123}`; got.Content[0].Text != text || string(got.StructuredContent) != text {
			t.Errorf("answer %s and %s", got.Content[0].Text, got.StructuredContent)
		}
	}
	tools.args = nil
	result(t, send(t, h, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"record"}}`, nil))
	if len(tools.args) != 1 || len(tools.args[0]) != 0 {
		t.Errorf("absent arguments: %q", tools.args)
	}
	for _, args := range []string{`[]`, `7`, `"x"`, `true`} {
		tools.args = nil
		a := send(t, h, call("1", "record", args), nil)
		if r := a.rpc(t); r.Error == nil || r.Error.Code != -32602 || tools.args != nil {
			t.Errorf("arguments %s: %s", args, a.body)
		}
	}
}

// TestDeadline: a tool that hangs is given up before the client gives up, with an error that says so.
func TestDeadline(t *testing.T) {
	tools := &slowTools{delay: time.Minute}
	h := mcpserve.NewTools(factstest.Origin, tools, mcpserve.Identity{Name: "x/y", Version: "1"}, 50*time.Millisecond)
	a := send(t, h, call("1", "record", `{}`), nil)
	if r := a.rpc(t); r.Error == nil || r.Error.Code != -32603 || string(r.ID) != "1" {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestSDKClient makes the round trip with the official client at each revision.
func TestSDKClient(t *testing.T) {
	for _, revision := range describe.ProtocolVersions {
		t.Run(revision, func(t *testing.T) {
			o := options(sample())
			server := httptest.NewServer(mcpserve.NewFacts(withOrigin(o, "http://127.0.0.1")))
			defer server.Close()
			client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
			session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
				Endpoint: server.URL, HTTPClient: http.DefaultClient, DisableStandaloneSSE: true,
			}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			if got := session.InitializeResult(); got.ProtocolVersion != revision || !strings.Contains(got.Instructions, "get_fact") {
				t.Errorf("negotiated %+v", got)
			}
			list, err := session.ListTools(t.Context(), nil)
			if err != nil || len(list.Tools) != 3 {
				t.Fatalf("%v %+v", err, list)
			}
			got, err := session.CallTool(t.Context(), &mcp.CallToolParams{
				Name: describe.ToolGet, Arguments: map[string]any{"key": "uk/bank-rate", "max_age": "30d"},
			})
			if err != nil || got.IsError {
				t.Fatalf("%v %+v", err, got)
			}
			want, _ := describe.Call(sample(), describe.ToolGet, []byte(`{"key":"uk/bank-rate","max_age":"30d"}`), factstest.Today)
			if text := got.Content[0].(*mcp.TextContent).Text; text != string(want.JSON) {
				t.Errorf("%s\nwant\n%s", text, want.JSON)
			}
			refused, err := session.CallTool(t.Context(), &mcp.CallToolParams{
				Name: describe.ToolGet, Arguments: map[string]any{"key": "uk/bank-rate", "date": "2026-01-01"},
			})
			if err != nil || !refused.IsError {
				t.Errorf("unknown argument: %v %+v", err, refused)
			}
		})
	}
}

// TestCardAgreesWithDiscovery compares the static Server Card with what the running server says of itself.
func TestCardAgreesWithDiscovery(t *testing.T) {
	o := options(sample())
	a := send(t, mcpserve.NewFacts(o), `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{`+statelessMeta+`}}`, stateless("server/discover", ""))
	var discovered struct {
		SupportedVersions []string `json:"supportedVersions"`
		Meta              map[string]struct {
			Name, Title, Version string
		} `json:"_meta"`
	}
	if err := json.Unmarshal(a.rpc(t).Result, &discovered); err != nil {
		t.Fatal(err)
	}
	var card struct {
		Name, Title, Version string
		Remotes              []struct {
			SupportedProtocolVersions []string
		}
	}
	if err := json.Unmarshal(describe.ServerCard(sample(), o.Version), &card); err != nil {
		t.Fatal(err)
	}
	info := discovered.Meta["io.modelcontextprotocol/serverInfo"]
	if info.Name != card.Name || info.Title != card.Title || info.Version != card.Version {
		t.Errorf("discover says %+v, the card %+v", info, card)
	}
	if got, want := strings.Join(discovered.SupportedVersions, " "), strings.Join(card.Remotes[0].SupportedProtocolVersions, " "); got != want {
		t.Errorf("discover offers %s, the card %s", got, want)
	}
}
