package mcpserve_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sayso/facts"
	"sayso/facts/describe"
	"sayso/facts/factstest"
	"sayso/internal/mcpserve"
)

func revisionHeader(revision string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Mcp-Protocol-Version", revision) }
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Del(name)
		if value != "" {
			r.Header.Set(name, value)
		}
	}
}

const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// TestEdges has one row or more for every row of the table of HTTP edges: what is asked, the status, the JSON-RPC code
// (0: a result, -1: not JSON-RPC) and text the answer must contain.
func TestEdges(t *testing.T) {
	h := mcpserve.NewFacts(options(generated()))
	deep := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}}`
	tests := []struct {
		name, body   string
		edit         func(*http.Request)
		status, code int
		contains     string
	}{
		{"list", list, nil, 200, 0, `"get_fact"`},
		{"list at 2025-06-18", list, revisionHeader("2025-06-18"), 200, 0, `"get_fact"`},
		{"list without a revision", list, header("Mcp-Protocol-Version", ""), 200, 0, `"get_fact"`},
		{"ping", `{"jsonrpc":"2.0","id":"p","method":"ping"}`, nil, 200, 0, `"id":"p"`},
		{"notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, 202, -1, ""},
		{"answer to nothing", `{"jsonrpc":"2.0","id":1,"result":{}}`, nil, 202, -1, ""},

		{"malformed JSON", `{"jsonrpc":`, nil, 400, -32700, `"id":null`},
		{"empty body", ``, nil, 400, -32700, `"id":null`},
		{"not JSON", `hello`, nil, 400, -32700, `"id":null`},
		{"byte order mark", "\ufeff" + list, nil, 400, -32700, `"id":null`},
		{"trailing value", list + ` {}`, nil, 400, -32700, `"id":null`},
		{"trailing bracket", list + `]`, nil, 400, -32700, `"id":null`},
		{"duplicate member", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}`, nil, 400, -32700, "duplicate"},
		{"duplicate by escape", `{"jsonrpc":"2.0","id":1,"method":"ping","\u006dethod":"tools/list"}`, nil, 400, -32700, "duplicate"},
		{"two arguments members", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_fact","arguments":{"key":"a/b"},"arguments":{"key":"c/d"}}}`, nil, 400, -32700, "duplicate"},
		{"duplicate inside arguments", call("1", "get_fact", `{"key":"a/b","key":"c/d"}`), nil, 400, -32700, "duplicate"},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"get_fact\",\"arguments\":{\"key\":\"\xff\"}}}", nil, 400, -32700, "UTF-8"},
		{"lone surrogate", call("1", "get_fact", `{"key":"\ud800"}`), nil, 400, -32700, "UTF-8"},
		{"depth", deep, nil, 400, -32700, "depth"},
		{"broken number deep inside", call("1", "get_fact", `{"key":01}`), nil, 400, -32700, "not acceptable JSON"},

		{"batch", `[` + list + `]`, nil, 400, -32600, "batches"},
		{"batch without a revision", " \n[" + list + `]`, header("Mcp-Protocol-Version", ""), 400, -32600, "batches"},
		{"empty batch", `[]`, nil, 400, -32600, "batches"},
		{"scalar", `7`, nil, 400, -32600, "JSON object"},
		{"no version", `{"id":1,"method":"ping"}`, nil, 400, -32600, "jsonrpc"},
		{"other version", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, nil, 400, -32600, "jsonrpc"},
		{"no method", `{"jsonrpc":"2.0"}`, nil, 400, -32600, "method is missing"},
		{"method of another case", `{"jsonrpc":"2.0","id":1,"Method":"tools/list"}`, nil, 400, -32600, "method is missing"},
		{"method with a NUL", `{"jsonrpc":"2.0","id":1,"method\u0000":"tools/list"}`, nil, 400, -32600, "method is missing"},
		{"empty method", `{"jsonrpc":"2.0","id":1,"method":""}`, nil, 400, -32600, "method"},
		{"method is a number", `{"jsonrpc":"2.0","id":1,"method":5}`, nil, 400, -32600, "method"},
		{"params is an array", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}`, nil, 400, -32602, "params"},
		{"params is missing", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, nil, 400, -32602, "params"},

		{"id null", `{"jsonrpc":"2.0","id":null,"method":"tools/list"}`, nil, 400, -32600, `"id":null`},
		{"id missing", `{"jsonrpc":"2.0","method":"tools/list"}`, nil, 400, -32600, "id is missing"},
		{"id beyond 2^53", `{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/list"}`, nil, 400, -32600, "id must be"},
		{"id at 2^53", `{"jsonrpc":"2.0","id":9007199254740992,"method":"tools/list"}`, nil, 400, -32600, "id must be"},
		{"id at the edge", `{"jsonrpc":"2.0","id":9007199254740991,"method":"ping"}`, nil, 200, 0, `"id":9007199254740991`},
		{"id at the other edge", `{"jsonrpc":"2.0","id":-9007199254740991,"method":"ping"}`, nil, 200, 0, `"id":-9007199254740991`},
		{"id is a fraction", `{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}`, nil, 400, -32600, "id must be"},
		{"id with an exponent", `{"jsonrpc":"2.0","id":1e3,"method":"tools/list"}`, nil, 400, -32600, "id must be"},
		{"id minus zero", `{"jsonrpc":"2.0","id":-0,"method":"tools/list"}`, nil, 400, -32600, "id must be"},
		{"id is an object", `{"jsonrpc":"2.0","id":{},"method":"tools/list"}`, nil, 400, -32600, "id must be"},
		{"id is a boolean", `{"jsonrpc":"2.0","id":true,"method":"tools/list"}`, nil, 400, -32600, "id must be"},
		{"id is empty text", `{"jsonrpc":"2.0","id":"","method":"ping"}`, nil, 200, 0, `"id":""`},
		{"notification with an id", `{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}`, nil, 400, -32600, "notification"},

		{"unknown method, handshake revision", `{"jsonrpc":"2.0","id":1,"method":"tools/guess"}`, nil, 200, -32601, "tools/guess"},
		{"unknown method, 2026-07-28", `{"jsonrpc":"2.0","id":1,"method":"tools/guess","params":{` + statelessMeta + `}}`, stateless("tools/guess", ""), 404, -32601, "tools/guess"},
		{"unknown tool", call("1", "guess_fact", `{}`), nil, 200, -32602, "guess_fact"},
		{"revision header of old", list, revisionHeader("2025-03-26"), 400, -32022, `"supported":["2026-07-28"`},
		{"revision header of the future", list, revisionHeader("2027-01-01"), 400, -32022, `"requested":"2027-01-01"`},
		{"revision header without sense", list, revisionHeader("zz"), 400, -32022, "zz"},
		{"2026-07-28 without _meta", list, stateless("tools/list", ""), 400, -32602, "_meta"},
		{"2026-07-28 with another Mcp-Method", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + statelessMeta + `}}`, stateless("tools/call", ""), 400, -32020, "Mcp-Method"},

		{"GET", ``, func(r *http.Request) { r.Method = http.MethodGet }, 405, -1, "POST"},
		{"DELETE", ``, func(r *http.Request) { r.Method = http.MethodDelete }, 405, -1, "POST"},
		{"PUT", list, func(r *http.Request) { r.Method = http.MethodPut }, 405, -1, "POST"},
		{"no content type", list, header("Content-Type", ""), 415, -1, "application/json"},
		{"text", list, header("Content-Type", "text/plain"), 415, -1, "application/json"},
		{"form", list, header("Content-Type", "application/x-www-form-urlencoded"), 415, -1, "application/json"},
		{"json with charset", list, header("Content-Type", "Application/JSON; charset=utf-8"), 200, 0, ""},
		{"too large", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("a", 1<<20) + `"}}`, nil, 413, -1, "1048576"},
		{"accept JSON alone", list, header("Accept", "application/json"), 200, 0, ""},
		{"no accept", list, header("Accept", ""), 200, 0, ""},
		{"accept anything", list, header("Accept", "*/*"), 200, 0, ""},
		{"accept pages only", list, header("Accept", "text/html"), 406, -1, "application/json"},
		{"accept streams only", list, header("Accept", "text/event-stream"), 406, -1, "application/json"},
		{"accept JSON not", list, header("Accept", "application/json;q=0, text/html"), 406, -1, "application/json"},
		{"resumed stream", list, header("Last-Event-ID", "7"), 200, 0, ""},

		{"foreign host", list, func(r *http.Request) { r.Host = "evil.example" }, 403, -1, "origin"},
		{"no host", list, func(r *http.Request) { r.Host = "" }, 403, -1, "origin"},
		{"loopback host on a public origin", list, func(r *http.Request) { r.Host = "127.0.0.1:8470" }, 403, -1, "origin"},
		{"host with a port", list, func(r *http.Request) { r.Host = "Figures.Example:8443" }, 200, 0, ""},
		{"page of another site", list, header("Origin", "https://elsewhere.example"), 200, 0, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := send(t, h, test.body, test.edit)
			if a.status != test.status || !strings.Contains(string(a.body), test.contains) {
				t.Fatalf("%d %s, want %d with %q", a.status, a.body, test.status, test.contains)
			}
			if a.header.Get("Access-Control-Allow-Origin") != "*" || a.header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("headers %v", a.header)
			}
			if test.status == 202 {
				return
			}
			if got := a.header.Get("Content-Type"); got != "application/json" {
				t.Errorf("content type %q", got)
			}
			if test.code == -1 {
				if !regexp.MustCompile(`^\{"error":"[a-z ]+","message":"[^"]+"\}$`).Match(a.body) {
					t.Errorf("body %s", a.body)
				}
				return
			}
			r := a.rpc(t)
			switch {
			case test.code == 0 && r.Error != nil:
				t.Errorf("error %+v", r.Error)
			case test.code != 0 && (r.Error == nil || r.Error.Code != test.code):
				t.Errorf("%s, want code %d", a.body, test.code)
			}
		})
	}
}

func TestPreflight(t *testing.T) {
	h := mcpserve.NewFacts(options(generated()))
	a := send(t, h, "", func(r *http.Request) {
		r.Method = http.MethodOptions
		r.Header.Set("Origin", "https://elsewhere.example")
		r.Header.Set("Access-Control-Request-Method", "POST")
	})
	if a.status != 204 || a.header.Get("Access-Control-Allow-Methods") != "POST, OPTIONS" {
		t.Fatalf("%d %v", a.status, a.header)
	}
	allowed := strings.Split(a.header.Get("Access-Control-Allow-Headers"), ", ")
	for _, name := range []string{"Content-Type", "Accept", "Authorization", "Mcp-Protocol-Version", "Mcp-Session-Id", "Mcp-Method", "Mcp-Name", "Last-Event-ID"} {
		if !slices.Contains(allowed, name) {
			t.Errorf("%s is not allowed: %v", name, allowed)
		}
	}
	if got := a.header.Get("Access-Control-Expose-Headers"); got != "Mcp-Session-Id, ETag" {
		t.Errorf("exposed: %s", got)
	}
}

func TestMethodNotAllowedNamesTheMethods(t *testing.T) {
	a := send(t, mcpserve.NewFacts(options(generated())), "", func(r *http.Request) { r.Method = http.MethodGet })
	if a.header.Get("Allow") != "POST, OPTIONS" {
		t.Errorf("Allow: %q", a.header.Get("Allow"))
	}
}

func TestNoSnapshot(t *testing.T) {
	o := options(nil)
	o.Snapshot = func() *facts.Snapshot { return nil }
	a := send(t, mcpserve.NewFacts(o), list, nil)
	if a.status != 503 || a.header.Get("Retry-After") == "" {
		t.Errorf("%d %v %s", a.status, a.header, a.body)
	}
}

func TestHosts(t *testing.T) {
	tests := []struct {
		origin  string
		host    string
		allowed bool
	}{
		{"http://127.0.0.1:8470", "localhost:8470", true},
		{"http://127.0.0.1:8470", "[::1]:8470", true},
		{"http://localhost:8470", "127.0.0.1", true},
		{"http://127.0.0.1:8470", "rebound.example:8470", false},
		{"https://figures.example", "localhost", false},
		{"https://figures.example", "FIGURES.example:443", true},
		{"https://figures.example", "www.figures.example", false},
		{"https://figures.example", "127.0.0.1:1", false},
		{"", "", false},
		{"https://figures.example", "figures.example.evil.example", false},
		{"https://figures.example", "figures.example@evil.example", false},
	}
	for _, test := range tests {
		o := options(generated())
		o.PublicOrigin = test.origin
		a := send(t, mcpserve.NewFacts(o), list, func(r *http.Request) { r.Host = test.host })
		if (a.status == 200) != test.allowed {
			t.Errorf("%s on %s: %d", test.host, test.origin, a.status)
		}
		if !test.allowed && !strings.Contains(string(a.body), "--origin") {
			t.Errorf("%s on %s: the refusal does not name the setting: %s", test.host, test.origin, a.body)
		}
	}
}

func TestHandshakeRevisions(t *testing.T) {
	h := mcpserve.NewFacts(options(generated()))
	for asked, want := range map[string]string{
		"2025-11-25": "2025-11-25", "2025-06-18": "2025-06-18", "2025-03-26": "2025-11-25",
		"2024-11-05": "2025-11-25", "2026-07-28": "2025-11-25", "1999-01-01": "2025-11-25",
	} {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, asked)
		a := send(t, h, body, header("Mcp-Protocol-Version", ""))
		text := compact(t, a.rpc(t).Result)
		for _, part := range []string{
			`"protocolVersion":"` + want + `"`, `"capabilities":{"tools":{}}`, `"name":"figures.example/facts"`, `"version":"1.2.3"`,
		} {
			if !strings.Contains(text, part) {
				t.Errorf("asked for %s: %s lacks %s", asked, text, part)
			}
		}
	}
}

func TestListIsCacheable(t *testing.T) {
	a := send(t, mcpserve.NewFacts(options(generated())), list, nil)
	if text := compact(t, a.rpc(t).Result); !strings.Contains(text, `"ttlMs":300000,"cacheScope":"public"`) {
		t.Error(text)
	}
}

// TestDefinitionsFollowTheSnapshot swaps the dataset under a running handler.
func TestDefinitionsFollowTheSnapshot(t *testing.T) {
	var current holder
	current.p.Store(factstest.Snapshot(factstest.Generate(factstest.Options{Facts: 3, Seed: 1, Unsigned: true})))
	o := options(nil)
	o.Snapshot = current.p.Load
	h := mcpserve.NewFacts(o)
	first := string(send(t, h, list, nil).body)
	if !strings.Contains(first, "Covers 3 figures") {
		t.Fatal(first)
	}
	current.p.Store(factstest.Snapshot(factstest.Generate(factstest.Options{Facts: 5, Seed: 1, Unsigned: true})))
	if second := string(send(t, h, list, nil).body); !strings.Contains(second, "Covers 5 figures") {
		t.Error(second)
	}
}

// TestConcurrentClients lets clients call while the snapshot changes under them: every answer is of one of the two.
func TestConcurrentClients(t *testing.T) {
	snapshots := []*facts.Snapshot{
		factstest.Snapshot(factstest.Generate(factstest.Options{Facts: 20, Seed: 1, Unsigned: true})),
		factstest.Snapshot(factstest.Generate(factstest.Options{Facts: 20, Seed: 2, Unsigned: true})),
	}
	var current holder
	current.p.Store(snapshots[0])
	o := options(nil)
	o.Snapshot = current.p.Load
	server := httptest.NewServer(mcpserve.NewFacts(withOrigin(o, "http://127.0.0.1")))
	t.Cleanup(server.Close)
	args := `{"q":"rate"}`
	var want []string
	for _, s := range snapshots {
		r, _ := describe.Call(s, describe.ToolResolve, []byte(args), factstest.Today)
		want = append(want, string(r.JSON))
	}
	for client := range 2 {
		t.Run(fmt.Sprint("client ", client), func(t *testing.T) {
			t.Parallel()
			for i := range 30 {
				id := fmt.Sprint(client*1000 + i)
				a := post(t, server.URL, call(id, describe.ToolResolve, args))
				if r := result(t, a); !slices.Contains(want, r.Content[0].Text) {
					t.Errorf("answer of neither snapshot: %s", a.body)
				}
				if string(a.rpc(t).ID) != id {
					t.Errorf("id %s, want %s", a.rpc(t).ID, id)
				}
				if client == 0 {
					current.p.Store(snapshots[i%2])
				}
			}
		})
	}
}

// TestGoroutinesReturn asks, refuses and drops requests, and counts goroutines before and after.
func TestGoroutinesReturn(t *testing.T) {
	h := mcpserve.NewFacts(options(generated()))
	send(t, h, list, nil)
	before := runtime.NumGoroutine()
	for range 50 {
		send(t, h, list, nil)
		send(t, h, call("1", "get_fact", `{"key":"no/such/key"}`), nil)
		send(t, h, `{"jsonrpc":`, nil)
		send(t, h, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil)
	}
	settled(t, before)
}

// TestListenStream: the one method whose answer is a stream gets through, and ends with its client.
func TestListenStream(t *testing.T) {
	server := httptest.NewServer(mcpserve.NewFacts(withOrigin(options(generated()), "http://127.0.0.1")))
	defer server.Close()
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(t.Context())
	body := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + statelessMeta + `}}`
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	stateless("subscriptions/listen", "")(r)
	client := &http.Client{Transport: new(http.Transport)}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 5)
	if _, err := io.ReadFull(resp.Body, first); err != nil || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("%v %d %s %q", err, resp.StatusCode, resp.Header.Get("Content-Type"), first)
	}
	cancel()
	resp.Body.Close()
	client.CloseIdleConnections()
	settled(t, before)
}
