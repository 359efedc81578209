package server_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"sayso/business/answer"
	"sayso/internal/app"
	"sayso/internal/app/apptest"
	"sayso/internal/mcpserve"
	"sayso/internal/server"
)

// toolServer is a registry with tools behind both listeners. The publisher shop sells an eye exam.
type toolServer struct {
	*running
	*apptest.World
	log *lines
}

// lines keeps a log.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func newToolServer(t *testing.T, o server.Options) *toolServer {
	t.Helper()
	s := &toolServer{World: apptest.NewWorld(t), log: &lines{}}
	options := s.Options()
	options.Site.ToolsServed, options.Site.InputSchema = true, answer.InputSchema
	s.Registry = app.New(options)
	if err := s.Registry.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.World.Publisher(t, "shop")
	o.Registry, o.Log = s.Registry, slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	o.Call = mcpserve.NewRegistry(mcpserve.RegistryOptions{Registry: s.Registry, Version: "test"}).ServeCall
	s.running = start(t, o)
	_, token := s.Owner(t, "shop", app.ScopeImport)
	for path, body := range map[string]string{
		"PUT profile": `{"display_name":"Corner Shop","business_category":"optician","content_languages":["en"],"tools":[{"name":"ask","handler":"knowledge.search"},{"name":"get","handler":"knowledge.get"}]}`,
		"POST import": `{"id":"exam","type":"service","title":"Eye exam"}`,
	} {
		method, path, _ := strings.Cut(path, " ")
		kind := "application/json"
		if path == "import" {
			kind = "application/x-ndjson"
		}
		if a := send(t, s.private, request{method: method, path: "/api/v1/publishers/shop/" + path, token: token, kind: kind, body: body}); a.status != 200 {
			t.Fatalf("%s: %d %s", path, a.status, a.text)
		}
	}
	return s
}

// call makes one tools/call, of the registry's own host.
func (s *toolServer) call(t *testing.T, path, tool, args, token string) reply {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, args)
	r, err := http.NewRequest(http.MethodPost, s.public+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "registry.example"
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return exchange(t, http.DefaultClient, r)
}

// envelope is the text of a result, at path in it.
func (a reply) envelope(t *testing.T, path ...string) map[string]any {
	t.Helper()
	var out struct {
		Result struct{ Content []struct{ Text string } }
	}
	var v map[string]any
	if err := json.Unmarshal([]byte(a.text), &out); err != nil || len(out.Result.Content) != 1 || json.Unmarshal([]byte(out.Result.Content[0].Text), &v) != nil {
		t.Fatalf("no result: %d %s", a.status, a.text)
	}
	for _, name := range path {
		v, _ = v[name].(map[string]any)
	}
	return v
}

// A question is answered at the publisher's endpoint and at the front door, signed, and the manifest names the endpoint.
func TestMCPEndToEnd(t *testing.T) {
	s := newToolServer(t, server.Options{})
	a := s.call(t, "/t/shop/mcp", "ask", `{"query":"Do you do an eye exam?","limit":5.0}`, "")
	if e := a.envelope(t); a.status != 200 || a.envelope(t, "coverage")["status"] != "resolved" || e["attestation"] == nil || !strings.Contains(a.text, `\"limit\":5.0`) {
		t.Errorf("%d %s", a.status, a.text)
	}
	a = s.call(t, "/mcp", "ask_business", `{"publisher":"shop","query":"Do you do an eye exam?"}`, "")
	if a.envelope(t, "envelope", "coverage")["status"] != "resolved" || a.envelope(t, "call")["tool"] != "ask" {
		t.Errorf("%d %s", a.status, a.text)
	}
	a = s.call(t, "/mcp", "find_publishers", `{"handler":"knowledge.get"}`, "")
	if found, _ := a.envelope(t)["results"].([]any); len(found) != 1 || found[0].(map[string]any)["mcp"] != apptest.Origin+"/t/shop/mcp" {
		t.Errorf("%d %s", a.status, a.text)
	}
	m := get(t, s.public, "/t/shop/.well-known/x-protocol/manifest.json", "registry.example")
	if at, _ := m.value["endpoints"].(map[string]any); at["mcp"] != apptest.Origin+"/t/shop/mcp" || !strings.Contains(m.text, `"capabilities":["knowledge.get","knowledge.search"]`) {
		t.Errorf("manifest: %s", m.text)
	}
	if a := s.call(t, "/t/nobody/mcp", "ask", `{}`, ""); a.status != 404 || a.code() != "unknown_publisher" {
		t.Errorf("%d %s", a.status, a.text)
	}
	if _, err := s.Registry.Pause(t.Context(), apptest.Operator(t, "ops"), "shop", app.ActInput{}); err != nil {
		t.Fatal(err)
	}
	if a := s.call(t, "/t/shop/mcp", "ask", `{"query":"x"}`, ""); a.status != 404 || a.code() != "unknown_publisher" {
		t.Errorf("paused: %d %s", a.status, a.text)
	}
	if a := s.call(t, "/mcp", "ask_business", `{"publisher":"shop","query":"x"}`, ""); a.status != 200 || !strings.Contains(a.text, "-32602") || !strings.Contains(a.text, "unknown_publisher") {
		t.Errorf("paused, front door: %d %s", a.status, a.text)
	}
}

// B§2: per key and per address are counted apart, on both kinds of endpoint; what is over is a status with Retry-After and never an answer
// (XP-TRANSPORT-004, XP-COVERAGE-009).
func TestRateLimitByCredential(t *testing.T) {
	const allowance = 5
	for _, c := range []struct {
		path, tool, args string
		good             int // what a publisher's key is answered: the front door takes none
	}{{"/t/shop/mcp", "ask", `{"query":"eye exam"}`, 200}, {"/mcp", "ask_business", `{"publisher":"shop","query":"eye exam"}`, 401}} {
		t.Run(c.path, func(t *testing.T) {
			s := newToolServer(t, server.Options{RateLimit: allowance, LimitLoopback: true})
			_, one := s.Owner(t, "shop", app.ScopeLive)
			_, two := s.Owner(t, "shop", app.ScopeLive)
			ask := func(token string) reply { return s.call(t, c.path, c.tool, c.args, token) }
			wholeMinute(t)
			count := func(token string, n int) (limited int, last reply) {
				for range n {
					if a := ask(token); a.status == http.StatusTooManyRequests {
						limited++
						last = a
					}
				}
				return limited, last
			}
			limited, last := count("", allowance+2)
			if limited != 2 || last.code() != "rate_limited" || last.header.Get("Retry-After") == "" || last.header.Get("Access-Control-Allow-Origin") != "*" ||
				last.value["request_id"] != last.header.Get("X-Request-Id") || last.header.Get("Cache-Control") != "no-store" || strings.Contains(last.text, "jsonrpc") {
				t.Errorf("by address: %d limited, %v %s", limited, last.header, last.text)
			}
			if a := ask(one); a.status != c.good {
				t.Errorf("a key behind an address that is used up: %d %s", a.status, a.text)
			}
			if c.good == 200 {
				if limited, last = count(one, allowance+1); limited != 2 || !strings.Contains(last.text, "with this credential") {
					t.Errorf("by key: %d limited, %s", limited, last.text)
				}
				if a := ask(two); a.status != c.good {
					t.Errorf("another key: %d %s", a.status, a.text)
				}
			}
			refused := 0
			for i := range allowance + 3 { // each invented key is a new one
				if a := ask(fmt.Sprintf("invented-%d", i)); a.status == http.StatusTooManyRequests {
					refused++
				} else if a.status != http.StatusUnauthorized {
					t.Errorf("invented key: %d %s", a.status, a.text)
				}
			}
			if want := map[int]int{200: 3, 401: 4}[c.good]; refused != want { // at the front door the good key was one of those that failed
				t.Errorf("invented keys: %d refused, want %d", refused, want)
			}
		})
	}
}

// Calls are counted by their route alone, and no word of a question is in metrics or log, whether it is answered or not.
func TestMCPIsCountedAndNotQuoted(t *testing.T) {
	s := newToolServer(t, server.Options{})
	for _, args := range []string{`{"query":"CANARY question"}`, `{"query":"x","CANARY":1}`, `{"CANARY`, `[]`} {
		s.call(t, "/t/shop/mcp", "ask", args, "")
		s.call(t, "/mcp", "CANARY", args, "")
		s.call(t, "/t/CANARY/mcp", "ask", args, "")
	}
	s.call(t, "/mcp", "find_publishers", `{"latitude":47.1234567,"longitude":8.7654321}`, "")
	_, metrics := fetch(t, s.private+"/metrics")
	for _, line := range []string{`sayso_requests_total{class="2xx",route="/t/{p}/mcp"}`, `sayso_requests_total{class="4xx",route="/t/{p}/mcp"}`, `sayso_requests_total{class="2xx",route="/mcp"}`} {
		if !strings.Contains(metrics, line) {
			t.Errorf("no line %s", line)
		}
	}
	if strings.Contains(metrics, "CANARY") || strings.Contains(metrics, "shop") {
		t.Error("a name of the caller's or of a publisher is in the metrics")
	}
	if log := s.log.String(); !strings.Contains(log, "/t/{p}/mcp") || strings.Contains(log, "CANARY") || strings.Contains(log, "47.12") {
		t.Errorf("log: %.2000s", log)
	}
}

// A server of facts alone has its tools at their own address: nothing is at /mcp.
func TestMCPWithoutRegistry(t *testing.T) {
	facts := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusTeapot) })
	s := start(t, server.Options{Public: facts, Classify: func(string) (string, bool) { return "unknown", false }})
	if a := send(t, s.public, request{method: "POST", path: "/mcp", body: "{}"}); a.status != http.StatusTeapot {
		t.Errorf("%d %s", a.status, a.text)
	}
}

// A publisher whose content cannot be read is a status at its endpoint and a fault at the front door, never an answer (XP-COVERAGE-009).
func TestMCPUnreadable(t *testing.T) {
	s := newToolServer(t, server.Options{})
	broken := func() error { return errors.New("away") }
	s.Store.Fail.Store(&broken)
	if a := s.call(t, "/t/shop/mcp", "ask", `{"query":"eye exam"}`, ""); a.status != 503 || a.code() != "publisher_unavailable" || a.header.Get("Retry-After") == "" || strings.Contains(a.text, "coverage") {
		t.Errorf("%d %v %s", a.status, a.header, a.text)
	}
	if a := s.call(t, "/mcp", "ask_business", `{"publisher":"shop","query":"eye exam"}`, ""); a.status != 200 || !strings.Contains(a.text, "-32603") || strings.Contains(a.text, "coverage") {
		t.Errorf("front door: %d %s", a.status, a.text)
	}
}
