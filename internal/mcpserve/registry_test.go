package mcpserve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sayso/business"
	"sayso/business/bizhttp"
	"sayso/business/coverage"
	"sayso/facts/describe"
	"sayso/jcs"
)

// TestEndpointRefusals goes through who gets no answer at all, in the order of B§2, each before any JSON-RPC: the body of the refused requests is none.
func TestEndpointRefusals(t *testing.T) {
	bearer := func(token string) func(*http.Request) { return header("Authorization", "Bearer "+token) }
	for _, c := range []struct {
		name    string
		edit    func(*http.Request)
		status  int
		code    string
		prepare func(*fakeRegistry)
	}{
		{"unknown", to("/t/nobody/mcp"), 404, "unknown_publisher", nil},
		{"no slug", to("/t/NOT_A_SLUG/mcp"), 404, "unknown_publisher", nil},
		{"not published", to("/t/shut/mcp"), 404, "unknown_publisher", nil},
		{"not published, to its owner", to("/t/shut/mcp", bearer("owner-shut")), 404, "unknown_publisher", nil},
		{"not published, another's credential", to("/t/shut/mcp", bearer("owner-north")), 401, "unauthorized", nil},
		{"another's credential", to("/t/north/mcp", bearer("owner-south")), 401, "unauthorized", nil},
		{"credential of another scheme", to("/t/north/mcp", header("Authorization", "Basic eA==")), 401, "unauthorized", nil},
		{"any credential at the front door", to("/mcp", bearer("owner-north")), 401, "unauthorized", nil},
		{"suspended", to("/t/north/mcp"), 404, "unknown_publisher", func(f *fakeRegistry) { f.pubs["north"].Standing.Suspended = true }},
		{"suspended, to its owner", to("/t/north/mcp", bearer("owner-north")), 403, "publisher_suspended", func(f *fakeRegistry) { f.pubs["north"].Standing.Suspended = true }},
		{"proof lapsed", to("/t/north/mcp"), 404, "unknown_publisher", func(f *fakeRegistry) { f.pubs["north"].Standing.Proof.ValidUntil = noon }},
		{"cannot be read", to("/t/north/mcp"), 503, "publisher_unavailable", func(f *fakeRegistry) { f.unread = bizhttp.ErrUnavailable }},
		{"cannot be read, front door", to("/mcp"), 503, "publisher_unavailable", func(f *fakeRegistry) { f.unread = bizhttp.ErrUnavailable }},
		{"no origin", to("/t/north/mcp"), 503, "no_anchor", func(f *fakeRegistry) { f.site.Origin = "" }},
		{"no origin, front door", to("/mcp"), 503, "no_anchor", func(f *fakeRegistry) { f.site.Origin = "" }},
		{"host of nobody", to("/mcp", host("rebound.example.net")), 404, "unknown_publisher", nil},
		{"path under a host of nobody", to("/t/north/mcp", host("rebound.example.net")), 403, "host_not_allowed", nil},
		{"path under a loopback host of a public origin", to("/t/north/mcp", host("127.0.0.1:8470")), 403, "host_not_allowed", nil},
		{"path under another publisher's host", to("/t/north/mcp", host("south.example")), 403, "host_not_allowed", nil},
		{"GET", to("/t/north/mcp", func(r *http.Request) { r.Method = http.MethodGet }), 405, "method_not_allowed", nil},
		{"DELETE at the front door", to("/mcp", func(r *http.Request) { r.Method = http.MethodDelete }), 405, "method_not_allowed", nil},
		{"no JSON", to("/t/north/mcp", header("Content-Type", "text/plain")), 415, "unsupported_media_type", nil},
		{"accepts pages only", to("/mcp", header("Accept", "image/png")), 406, "not_acceptable", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFakeRegistry()
			if c.prepare != nil {
				c.prepare(f)
			}
			a := send(t, f.surface(), `{"jsonrpc":`, c.edit)
			var body struct {
				Error, Message string
				RequestID      string `json:"request_id"`
			}
			if err := json.Unmarshal(a.body, &body); err != nil || a.status != c.status || body.Error != c.code || body.Message == "" || body.RequestID == "" {
				t.Errorf("%d %s, want %d %s", a.status, a.body, c.status, c.code)
			}
			if (a.header.Get("Retry-After") != "") != (c.code == "publisher_unavailable") {
				t.Errorf("Retry-After: %q", a.header.Get("Retry-After"))
			}
			if a.header.Get("Access-Control-Allow-Origin") != "*" || a.header.Get("Cache-Control") != "no-store" {
				t.Errorf("headers: %v", a.header)
			}
			if len(f.calls()) > 0 {
				t.Errorf("asked %q", f.calls())
			}
		})
	}
}

// TestEndpointHosts: a publisher is reached by path under the registry's host and its own, and at /mcp of its own.
func TestEndpointHosts(t *testing.T) {
	f := newFakeRegistry()
	f.site.HostOrigins = map[string]string{"south.example": "https://mcp.south.example:8443"}
	h := f.surface()
	for _, c := range []struct{ path, host, slug string }{
		{"/t/north/mcp", "registry.example", "north"}, {"/t/north/mcp", "REGISTRY.example.:443", "north"}, {"/t/north/mcp", "north.example", "north"}, {"/mcp", "North.example:80", "north"},
		{"/mcp", "south.example", "south"}, {"/t/south/mcp", "mcp.south.example:8443", "south"}, {"/mcp", "registry.example", ""},
	} {
		a := send(t, h, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, to(c.path, host(c.host)))
		want := "Business registry at registry.example"
		if c.slug != "" {
			want = "The " + c.slug + " shop"
		}
		if !strings.Contains(string(a.body), `"title":"`+want+`"`) {
			t.Errorf("%s of %s: %d %s", c.path, c.host, a.status, a.body)
		}
	}
	f.site.Origin = "http://127.0.0.1:8470"
	for _, name := range []string{"localhost:8470", "[::1]:8470", "[::1]", "127.0.0.1"} {
		for _, path := range []string{"/mcp", "/t/north/mcp"} {
			if a := send(t, h, list, to(path, host(name))); a.status != 200 {
				t.Errorf("%s of %s: %d %s", path, name, a.status, a.body)
			}
		}
	}
	if a := send(t, h, list, to("/t/north/mcp", host("rebound.example"))); a.status != 403 {
		t.Errorf("a name that was rebound to a loopback server: %d", a.status)
	}
	preflight := send(t, h, "", to("/t/north/mcp", func(r *http.Request) { r.Method = http.MethodOptions }))
	for _, name := range []string{"Content-Type", "Accept", "Authorization", "Mcp-Protocol-Version", "Mcp-Session-Id", "Mcp-Method", "Mcp-Name", "Last-Event-ID"} {
		if !slices.Contains(strings.Split(preflight.header.Get("Access-Control-Allow-Headers"), ", "), name) {
			t.Errorf("a page may not send %s: %v", name, preflight.header)
		}
	}
}

// TestPublisherTools: what tools/list says is what registry.json and the manifest say (XP-MANIFEST-003, XP-MANIFEST-004), at every revision.
func TestPublisherTools(t *testing.T) {
	f := newFakeRegistry()
	h := f.surface()
	for _, slug := range []string{"north", "south"} {
		p := f.pubs[slug]
		var doc struct {
			Tools []struct {
				Name, Handler string
				InputSchema   json.RawMessage `json:"input_schema"`
			}
			Endpoint string   `json:"mcp_endpoint"`
			Versions []string `json:"mcp_versions"`
		}
		if err := json.Unmarshal(p.RegistryDocument(f.site, noon), &doc); err != nil {
			t.Fatal(err)
		}
		manifest := p.Manifest(f.site, noon)
		if doc.Endpoint != registryOrigin+"/t/"+slug+"/mcp" || manifest.Endpoints.MCP != doc.Endpoint {
			t.Errorf("endpoints %q and %q", doc.Endpoint, manifest.Endpoints.MCP)
		}
		for _, v := range doc.Versions {
			if !slices.Contains(describe.ProtocolVersions, v) {
				t.Errorf("registry.json names %s, which the endpoint does not speak", v)
			}
		}
		var handlers []string
		for _, revision := range revisions {
			tools := listed(t, h, "/t/"+slug+"/mcp", revision)
			if len(tools) != len(doc.Tools) {
				t.Fatalf("%s: %d tools, registry.json has %d", slug, len(tools), len(doc.Tools))
			}
			handlers = nil
			for i, tool := range tools {
				if tool.Name != doc.Tools[i].Name || compact(t, tool.InputSchema) != compact(t, doc.Tools[i].InputSchema) {
					t.Errorf("%s: tool %s %s, registry.json has %s %s", slug, tool.Name, tool.InputSchema, doc.Tools[i].Name, doc.Tools[i].InputSchema)
				}
				if tool.Title == "" || !strings.HasSuffix(tool.Description, " The business says: Of "+slug+".") {
					t.Errorf("%s: %q, %q", tool.Name, tool.Title, tool.Description)
				}
				if a := tool.Annotations; !a["readOnlyHint"] || !a["idempotentHint"] || a["destructiveHint"] || a["openWorldHint"] || len(a) != 4 {
					t.Errorf("%s: annotations %v", tool.Name, a)
				}
				handlers = append(handlers, doc.Tools[i].Handler)
			}
		}
		slices.Sort(handlers)
		if !slices.Equal(handlers, manifest.Capabilities) {
			t.Errorf("handlers %q, capabilities %q", handlers, manifest.Capabilities)
		}
	}
	if text := string(send(t, h, list, to("/t/north/mcp")).body); !strings.Contains(text, "north-stock") || strings.Contains(text, "south") {
		t.Errorf("the stream of the publisher: %s", text)
	}
	for _, cursor := range []string{`"x"`, `"MTA="`} {
		if r := send(t, h, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":`+cursor+`}}`, to("/t/north/mcp")).rpc(t); r.Error == nil || r.Error.Code != -32602 {
			t.Errorf("a cursor of nobody: %+v", r)
		}
	}
}

type listedTool struct {
	Name, Title, Description string
	InputSchema              json.RawMessage
	Annotations              map[string]bool
}

// listed is the tool list of an endpoint.
func listed(t *testing.T, h http.Handler, path, revision string) []listedTool {
	t.Helper()
	body, edit := list, revisionHeader(revision)
	if revision == "2026-07-28" {
		body, edit = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+statelessMeta+`}}`, stateless("tools/list", "")
	}
	a := send(t, h, body, to(path, edit))
	text := compact(t, a.rpc(t).Result)
	if !strings.Contains(text, `"ttlMs":300000,"cacheScope":"public"`) {
		t.Errorf("%s at %s: not cacheable: %.200s", path, revision, text)
	}
	var parsed struct{ Tools []listedTool }
	if err := json.Unmarshal([]byte(text), &parsed); err != nil {
		t.Fatalf("%v: %d %s", err, a.status, a.body)
	}
	return parsed.Tools
}

// TestToolListBytes bounds what a list costs an assistant, whatever a publisher writes: about 300 bytes of text and the schemas.
func TestToolListBytes(t *testing.T) {
	f := newFakeRegistry()
	for name, text := range map[string]string{"words": "All about our shop. ", "quotes": `"\`, "four bytes": "\U0001F600", "hidden": "a\u202e\u200b\x00", "lines": "a\n\n\tb"} {
		p := f.add("loud", business.Handlers...)
		p.Profile.DisplayName = strings.Repeat(text, 40)
		for i := range p.Profile.Tools {
			p.Profile.Tools[i].Description = strings.Repeat(text, 400)
		}
		h := f.surface()
		body := send(t, h, list, to("/t/loud/mcp")).body
		t.Logf("%s: %d bytes for %d tools", name, len(body), len(business.Handlers))
		if len(body) > 18_000 {
			t.Errorf("%s: tools/list has %d bytes", name, len(body))
		}
		for _, tool := range listed(t, h, "/t/loud/mcp", "2025-11-25") {
			if strings.ContainsAny(tool.Description, "\u202e\u200b\x00\n\t") {
				t.Errorf("%s: %q", name, tool.Description)
			}
		}
	}
	const doorBytes = 6_500
	if body := send(t, f.surface(), list, to("/mcp")).body; len(body) > doorBytes {
		t.Errorf("the front door lists %d bytes, at most %d", len(body), doorBytes)
	} else {
		t.Logf("front door: %d bytes", len(body))
	}
}

// TestIdentity: handshake and discovery name the publisher, not the program.
func TestIdentity(t *testing.T) {
	f := newFakeRegistry()
	f.pubs["south"].Profile.DisplayName = "South\u202e " + strings.Repeat("x", 300)
	h := f.surface()
	for path, want := range map[string][2]string{"/t/north/mcp": {"registry.example/north", "The north shop"}, "/mcp": {"registry.example/front_door", "Business registry at registry.example"}} {
		var hello struct {
			ServerInfo   struct{ Name, Title, Version string }
			Instructions string
			Meta         map[string]struct{ Name, Title, Version string } `json:"_meta"`
		}
		read := func(body string, edit func(*http.Request)) {
			hello.ServerInfo.Name, hello.Instructions, hello.Meta = "", "", nil
			if err := json.Unmarshal(send(t, h, body, to(path, edit)).rpc(t).Result, &hello); err != nil {
				t.Fatal(err)
			}
		}
		read(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2026-07-28","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, header("Mcp-Protocol-Version", ""))
		if got := hello.ServerInfo; got.Name != want[0] || got.Title != want[1] || got.Version != "1.2.3" || !strings.Contains(hello.Instructions, "not_covered") || len(hello.Instructions) > 1500 {
			t.Errorf("%s: initialize: %+v", path, hello)
		}
		for _, method := range []string{"server/discover", "tools/list", "prompts/list"} {
			read(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+statelessMeta+`}}`, stateless(method, ""))
			if got := hello.Meta["io.modelcontextprotocol/serverInfo"]; got.Name != want[0] || got.Title != want[1] {
				t.Errorf("%s: %s: %+v", path, method, hello)
			}
		}
	}
	if text := string(send(t, h, `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{`+statelessMeta+`}}`, to("/t/south/mcp", stateless("server/discover", ""))).body); strings.Contains(text, "\u202e") || strings.Contains(text, strings.Repeat("x", 100)) {
		t.Errorf("the name is passed on as it is: %s", text)
	}
}

// TestEnvelopeBytes: both channels hold the envelope byte for byte, and Ask gets the arguments byte for byte (XP-INTEGRITY-013).
func TestEnvelopeBytes(t *testing.T) {
	f := newFakeRegistry()
	h := f.surface()
	for _, args := range []string{
		`{"query":"x"}`, `{"n":50.0}`, `{"n":1E2}`, `{"n":-0}`, `{"n":43.85630}`, `{"n":12345678901234567890123}`, `{"n":1e400}`, `{"s":"\u00e9\u0000"}`, `{ "a" :  [ 1 ,2 ] }`, `{}`,
	} {
		for _, revision := range revisions {
			if revision == "2026-07-28" && args == `{"n":1e400}` {
				continue // the SDK does not see the metadata beside such a number, and says so
			}
			body, edit := at(revision, `"é"`, "north.search", args)
			a := send(t, h, body, to("/t/north/mcp", edit))
			got := result(t, a)
			want, err := f.answer("north", "north.search", jcs.Raw(args))
			if err != nil {
				t.Fatal(err)
			}
			if got.IsError || got.Content[0].Text != string(want) || value(got.StructuredContent) == nil || same(answer{body: got.StructuredContent}, answer{body: want}) != nil {
				t.Errorf("%s at %s: %s", args, revision, a.body)
			}
			if calls := f.calls(); calls[len(calls)-1] != "north north.search "+args {
				t.Errorf("%s at %s: Ask got %s", args, revision, calls[len(calls)-1])
			}
			if string(a.rpc(t).ID) != `"é"` {
				t.Errorf("id %s", a.rpc(t).ID)
			}
			if revision != "2026-07-28" && !strings.Contains(string(a.body), `"structuredContent":`+string(want)+`}}`) {
				t.Errorf("%s at %s: the channels hold different bytes: %s", args, revision, a.body)
			}
		}
	}
	for _, body := range []string{call("1", "north.search", "null"), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"north.search"}}`} {
		if got := result(t, send(t, h, body, to("/t/north/mcp"))); !strings.Contains(got.Content[0].Text, `"arguments":{}`) {
			t.Errorf("%s: %s", body, got.Content[0].Text)
		}
	}
}

// TestAskErrors: a fault is never a result and never a coverage status, and tells nothing of its cause (X§5.4, XP-COVERAGE-009).
func TestAskErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		err    error
		status int
		rpc    int // 0 = the body of a status
		code   string
	}{
		{"caller", &coverage.CallError{Code: "query_too_complex", Path: "/query", Message: "too many words"}, 200, -32602, "query_too_complex"},
		{"wrapped", fmt.Errorf("ask: %w", &coverage.CallError{Code: "invalid_arguments", Message: "no"}), 200, -32602, "invalid_arguments"},
		{"gone meanwhile", bizhttp.ErrUnknown, 404, 0, "unknown_publisher"},
		{"unread", fmt.Errorf("store: %w", bizhttp.ErrUnavailable), 503, 0, "publisher_unavailable"},
		{"unsigned", bizhttp.ErrKeysUnavailable, 503, 0, "key_set_unavailable"},
		{"late", context.DeadlineExceeded, 200, -32603, "timeout"},
		{"fault", errBoom, 200, -32603, "internal_error"},
	} {
		for _, revision := range revisions {
			t.Run(c.name+" "+revision, func(t *testing.T) {
				f := newFakeRegistry()
				f.ask = func(context.Context, string, string, jcs.Raw) ([]byte, error) { return nil, c.err }
				body, edit := at(revision, "5", "north.search", `{"query":"x"}`)
				a := send(t, f.surface(), body, to("/t/north/mcp", edit))
				text := string(a.body)
				if strings.Contains(text, "secret") || strings.Contains(text, "result") || strings.Contains(text, "coverage") {
					t.Errorf("%s", text)
				}
				if !strings.Contains(text, `"`+c.code+`"`) {
					t.Errorf("%d %s, want %s", a.status, text, c.code)
				}
				if c.rpc == 0 {
					if a.status != c.status || strings.Contains(text, "jsonrpc") || (a.header.Get("Retry-After") != "") != (c.status == 503) {
						t.Errorf("%d %v %s", a.status, a.header, text)
					}
				} else if r := a.rpc(t); r.Error == nil || r.Error.Code != c.rpc || string(r.ID) != "5" || revision != "2026-07-28" && a.status != c.status {
					t.Errorf("%d %s", a.status, text)
				}
				if reported := slices.ContainsFunc(f.causes, func(err error) bool { return errors.Is(err, errBoom) }); reported != (c.err == errBoom) {
					t.Errorf("reported: %v", f.causes)
				}
			})
		}
	}
}

// TestPublishersAreApart: callers of two publishers in parallel get their own tools and answers, also while the SDK answers some of them.
func TestPublishersAreApart(t *testing.T) {
	f := newFakeRegistry()
	server := httptest.NewServer(f.surface())
	defer server.Close()
	f.site.Origin = server.URL
	var callers sync.WaitGroup
	for i, slug := range []string{"north", "south", "north", "south"} {
		other := map[string]string{"north": "south", "south": "north"}[slug]
		callers.Go(func() {
			for n := range 40 {
				id := fmt.Sprint(i*1000 + n)
				tool := f.pubs[slug].Profile.Tools[n%2].Name
				args := fmt.Sprintf(`{"query":"of %s %d"}`, slug, n)
				body := call(id, tool, args)
				if n%3 == 0 { // not ordinary: the SDK frames it
					body = strings.Replace(body, `"params":{`, `"params":{"_meta":{"x/y":1},`, 1)
				}
				a := post(t, server.URL+"/t/"+slug+"/mcp", body)
				if r := result(t, a); !strings.Contains(r.Content[0].Text, `"publisher":"`+slug+`"`) || !strings.Contains(r.Content[0].Text, fmt.Sprintf("of %s %d", slug, n)) || string(a.rpc(t).ID) != id {
					t.Errorf("%s %d: %s", slug, n, a.body)
				}
				if text := string(post(t, server.URL+"/t/"+slug+"/mcp", list).body); !strings.Contains(text, slug+".") || strings.Contains(text, other) {
					t.Errorf("%s: the list of %s: %s", slug, other, text)
				}
			}
		})
	}
	callers.Wait()
}

// TestNoGoroutineStays over a thousand calls, by both ways of framing.
func TestNoGoroutineStays(t *testing.T) {
	f := newFakeRegistry()
	h := f.surface()
	send(t, h, list, to("/t/north/mcp"))
	before := runtime.NumGoroutine()
	for n := range 1000 {
		body := call(fmt.Sprint(n), "north.search", `{}`)
		if n%4 == 0 {
			body = strings.Replace(body, `"params":{`, `"params":{"_meta":{"x/y":1},`, 1)
		}
		if a := send(t, h, body, to("/t/north/mcp")); a.status != 200 {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	settled(t, before)
}

// TestRegistryClient makes the round trip with the official client at each revision.
func TestRegistryClient(t *testing.T) {
	f := newFakeRegistry()
	server := httptest.NewServer(f.surface())
	defer server.Close()
	f.site.Origin = server.URL
	for _, revision := range describe.ProtocolVersions {
		client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
		session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: server.URL + "/t/north/mcp", DisableStandaloneSSE: true}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
		if err != nil {
			t.Fatal(err)
		}
		hello := session.InitializeResult()
		if hello.ProtocolVersion != revision || hello.ServerInfo.Name != "127.0.0.1/north" || !strings.Contains(hello.Instructions, "The north shop") {
			t.Errorf("%s: %+v", revision, hello)
		}
		tools, err := session.ListTools(t.Context(), nil)
		if err != nil || len(tools.Tools) != 3 {
			t.Errorf("%s: %v %+v", revision, err, tools)
		}
		got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "north.search", Arguments: json.RawMessage(`{"query":"x","limit":5.0}`)})
		if err != nil || got.IsError || !strings.Contains(got.Content[0].(*mcp.TextContent).Text, `"arguments":{"query":"x","limit":5.0}`) {
			t.Errorf("%s: %v %+v", revision, err, got)
		}
		if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "nope"}); err == nil || !strings.Contains(err.Error(), "unknown tool") {
			t.Errorf("%s: %v", revision, err)
		}
		session.Close()
	}
}
