package factshttp_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/facts"
	"sayso/facts/factshttp"
)

func TestRefusals(t *testing.T) { // F§4.1, F§4.5, F§5.2; T1, T13, T17
	s := newSite(t)
	fiftyOne := strings.Repeat("uk/a/b,", 50) + "uk/a/b"
	manyKeys, _ := json.Marshal(map[string]any{"keys": strings.Split(fiftyOne, ",")})
	for _, c := range []struct {
		method, target, body, contentType string
		status                            int
		code, parameter                   string
	}{
		{"GET", allowance + "?asOf=2026-01-01", "", "", 400, "invalid parameter", "asOf"},
		{"GET", allowance + "?as_of=2026-02-30", "", "", 400, "invalid parameter", "as_of"},
		{"GET", allowance + "?as_of=2026-01-01&period=2025-26", "", "", 400, "invalid parameter", ""},
		{"GET", allowance + "?max_age=30", "", "", 400, "invalid parameter", "max_age"},
		{"GET", allowance + "?max_age=", "", "", 400, "invalid parameter", "max_age"},
		{"GET", allowance + "?max_age=1d&max_age=2d", "", "", 400, "invalid parameter", "max_age"},
		{"GET", allowance + "?format=xml", "", "", 400, "invalid parameter", "format"},
		{"GET", allowance + "?max_age=%zz", "", "", 400, "invalid parameter", "query"},
		{"GET", allowance + "?as_of=2026-01-01;period=x", "", "", 400, "invalid parameter", "query"},
		{"GET", "/f/" + strings.Repeat("a", 401), "", "", 400, "invalid parameter", "key"},
		{"GET", "/f?keys=" + fiftyOne, "", "", 400, "invalid parameter", "keys"},
		{"GET", "/f?keys=", "", "", 400, "invalid parameter", "keys"},
		{"GET", "/f?keys=uk/a/b,,uk/a/c", "", "", 400, "invalid parameter", "keys"},
		{"GET", "/f/uk/a/b,", "", "", 400, "invalid parameter", "keys"},
		{"GET", "/f/" + fiftyOne, "", "", 400, "invalid parameter", "keys"},
		{"GET", "/f?keys=uk/a/b&namespace=uk", "", "", 400, "invalid parameter", "namespace"},
		{"GET", "/f?as_of=2026-01-01", "", "", 400, "invalid parameter", "as_of"},
		{"GET", "/f/resolve", "", "", 400, "invalid parameter", "q"},
		{"GET", "/f/resolve?q=rate&namespace=%ff", "", "", 400, "invalid parameter", "namespace"},
		{"GET", "/f/resolve?q=rate&limit=0", "", "", 400, "invalid parameter", "limit"},
		{"GET", "/f/resolve?q=rate&limit=21", "", "", 400, "invalid parameter", "limit"},
		{"GET", "/f/resolve?q=rate&format=html", "", "", 400, "invalid parameter", "format"},
		{"GET", "/changes.json?since=2026-11-30", "", "", 400, "invalid parameter", "since"},
		{"GET", "/changes.json?area=nowhere", "", "", 400, "invalid parameter", "area"},
		{"POST", "/f?max_age=1d", `{"keys":["uk/a/b"]}`, "application/json", 400, "invalid parameter", "max_age"},
		{"POST", "/f?format=txt", `{"keys":["uk/a/b"]}`, "application/json", 400, "invalid parameter", "format"},
		{"POST", "/f", string(manyKeys), "application/json", 400, "invalid parameter", "keys"},
		{"POST", "/f", `{"keys":[]}`, "application/json", 400, "invalid parameter", "keys"},
		{"POST", "/f", `{}`, "application/json", 400, "invalid parameter", "keys"},
		{"POST", "/f", `{"keys":["uk/a/b",1]}`, "application/json", 400, "invalid parameter", "keys"},
		{"POST", "/f", `{"keys":["uk/a/b"],"maxAge":"1d"}`, "application/json", 400, "invalid parameter", "maxAge"},
		{"POST", "/f", `{"keys":["uk/a/b"],"max_age":30}`, "application/json", 400, "invalid parameter", "max_age"},
		{"POST", "/f", `{"keys":["uk/a/b"],"as_of":null}`, "application/json", 400, "invalid parameter", "as_of"},
		{"POST", "/f", `{"keys":["uk/a/b"],"keys":["uk/a/c"]}`, "application/json", 400, "invalid parameter", "keys"},
		{"POST", "/f", `{"keys":["uk/a/b"],"as_of":"2026-01-01","as\u005fof":"2026-01-02"}`, "application/json", 400, "invalid parameter", "as_of"},
		{"POST", "/f", `{"keys":["uk/a/b"],"x":{"a":1,"a":2}}`, "application/json", 400, "invalid body", ""},
		{"POST", "/f", `{"keys":["uk/a/b"]} {}`, "application/json", 400, "invalid body", ""},
		{"POST", "/f", `["uk/a/b"]`, "application/json", 400, "invalid body", ""},
		{"POST", "/f", ``, "application/json", 400, "invalid body", ""},
		{"POST", "/f", `{"keys":["` + strings.Repeat("a", 16<<10) + `"]}`, "application/json", 413, "body too large", ""},
		{"POST", "/f", `{"keys":["uk/a/b"]}`, "text/plain", 415, "unsupported media type", ""},
		{"POST", "/f", `{"keys":["uk/a/b"]}`, "", 415, "unsupported media type", ""},
		{"POST", "/f", `{"keys":["uk/a/b"]}`, "application/json; charset=latin1", 415, "unsupported media type", ""},
		{"POST", allowance, `{}`, "application/json", 405, "method not allowed", ""},
		{"POST", "/f/index", `{"keys":["uk/a/b"]}`, "application/json", 405, "method not allowed", ""},
		{"POST", "/f/index.json", `{"keys":["uk/a/b"]}`, "application/json", 405, "method not allowed", ""},
		{"DELETE", "/f", "", "", 405, "method not allowed", ""},
		{"PUT", "/openapi.json", "", "", 405, "method not allowed", ""},
		{"GET", "/nowhere", "", "", 404, "not found", ""},
		{"GET", "/schema/nothing.json", "", "", 404, "not found", ""},
		{"GET", "/sitemap-9.xml", "", "", 404, "not found", ""},
		{"GET", "/assets/../handler.go", "", "", 404, "not found", ""},
		{"GET", "/livez", "", "", 404, "not found", ""},
		{"GET", "/metrics", "", "", 404, "not found", ""},
	} {
		name := c.method + " " + c.target
		if len(name) > 60 {
			name = name[:60]
		}
		t.Run(name, func(t *testing.T) {
			w := s.ask(c.method, c.target, c.body, "Content-Type", c.contentType)
			body := servedObject(t, w)
			if w.Code != c.status || body["error"] != c.code || body["protocol"] != facts.Protocol {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			if message, _ := body["message"].(string); message == "" || c.parameter != "" && body["parameter"] != c.parameter {
				t.Errorf("body %s", w.Body)
			}
			if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Access-Control-Allow-Origin") != "*" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("headers %v", w.Header())
			}
			if (w.Code == 405) != (w.Header().Get("Allow") != "") {
				t.Errorf("Allow = %q", w.Header().Get("Allow"))
			}
		})
	}
	if len(s.faults) > 0 {
		t.Errorf("refusals were reported as faults: %v", s.faults)
	}
}

func TestRefusalsHaveTheAskedForm(t *testing.T) { // F§4.1: format wins over Accept
	s := newSite(t)
	for _, target := range []string{allowance + "?format=json&asOf=2026-01-01", allowance + "?format=json&as_of=2026-02-30", "/f?format=json&q=x"} {
		if w := s.get(target, "Accept", "text/html"); w.Code != 400 || servedObject(t, w)["error"] != "invalid parameter" {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
	if w := s.get(allowance + "?format=txt&asOf=1"); w.Code != 400 || w.Header().Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if w := s.get(allowance + "?format=html&asOf=1"); w.Code != 400 || !strings.Contains(w.Body.String(), "problem 400") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := s.get(allowance+"?x=1", "Accept", "text/html"); w.Code != 400 || !strings.Contains(w.Body.String(), "problem 400") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := s.get(allowance+"?x=1", "Accept", "text/plain"); w.Code != 400 || !strings.HasPrefix(w.Body.String(), `unknown parameter "x"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := s.get("/f/uk/no-such/thing", "Accept", "text/html"); w.Code != 404 || !strings.Contains(w.Body.String(), "miss uk/no-such/thing") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := s.get("/nowhere", "Accept", "text/html"); w.Code != 404 || !strings.Contains(w.Body.String(), "problem 404") {
		t.Errorf("a path without a page: %d %s", w.Code, w.Body)
	}
	if w := s.get("/f/uk/no-such/thing?format=txt"); w.Code != 404 || !strings.HasPrefix(w.Body.String(), "unknown key uk/no-such/thing") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestRefusalsAdviseWhatIsPossible: no message sends the reader to a place where the same thing is refused (F§4.1, F§5.2).
func TestRefusalsAdviseWhatIsPossible(t *testing.T) {
	s := newSite(t)
	for _, c := range []struct{ method, target, body, has, hasNot string }{
		{"GET", "/f/resolve", "", "missing", "leave it out"},
		{"POST", "/f?format=txt", `{}`, "none are taken here", "JSON body"},
		{"POST", "/f?as_of=2026-01-01", `{}`, "JSON body", "allowed:"},
		{"POST", "/f?x=1", `{}`, "none are taken here", "allowed:"},
		{"POST", "/f", `{"keys":[]}`, "names no key", "key 1"},
	} {
		w := s.ask(c.method, c.target, c.body, "Content-Type", "application/json")
		message, _ := servedObject(t, w)["message"].(string)
		if w.Code != 400 || !strings.Contains(message, c.has) || strings.Contains(message, c.hasNot) {
			t.Errorf("%s %s: %d %q", c.method, c.target, w.Code, message)
		}
	}
}

func TestPreflightAndTracking(t *testing.T) { // T13, S20
	s := newSite(t)
	for _, target := range []string{"/f", allowance, "/changes.json", "/openapi.json", "/nowhere"} {
		w := s.ask("OPTIONS", target, "")
		if w.Code != 204 || w.Header().Get("Access-Control-Allow-Methods") != "GET, HEAD, POST, OPTIONS" || w.Header().Get("Access-Control-Allow-Headers") != "Content-Type, Accept" || w.Header().Get("Access-Control-Max-Age") != "86400" {
			t.Errorf("%s: %d %v", target, w.Code, w.Header())
		}
	}
	for _, target := range []string{allowance + "?utm_source=x&gclid=1", "/f?fbclid=2", "/changes.json?msclkid=3", "/openapi.json?anything=1"} {
		if w := s.get(target); w.Code != 200 {
			t.Errorf("%s: %d", target, w.Code)
		}
	}
	if w := s.ask("OPTIONS", "/api/mcp/facts", ""); w.Body.String() != "mcp OPTIONS" {
		t.Error("the preflight of the MCP endpoint is its own")
	}
	if w := s.ask("POST", "/api/mcp/facts/", "{}"); w.Body.String() != "mcp POST" {
		t.Error("the MCP endpoint is not reached")
	}
}

func TestNoSnapshot(t *testing.T) {
	s := newSite(t)
	s.current = nil
	for _, target := range []string{allowance, "/f", "/openapi.json", "/changes"} {
		w := s.get(target)
		if w.Code != 503 || w.Header().Get("Retry-After") == "" || servedObject(t, w)["error"] != "unavailable" || w.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %d %v", target, w.Code, w.Header())
		}
	}
}

func TestPageFaultIs500WithoutCause(t *testing.T) {
	s := newSite(t)
	broken := servedPages()
	broken.Fact = func(w io.Writer, _ *facts.Snapshot, _ *facts.Answer, _ facts.Date) error {
		io.WriteString(w, "half a page")
		return errors.New("secret detail")
	}
	s.handler = factshttp.Handler(factshttp.HandlerOptions{Snapshot: func() *facts.Snapshot { return s.current }, Clock: s.clock.now, Pages: broken,
		Report: func(_ *http.Request, cause error) { s.faults = append(s.faults, cause) }})
	w := s.get(allowance, "Accept", "text/html")
	if w.Code != 500 || strings.Contains(w.Body.String(), "half") || strings.Contains(w.Body.String(), "secret") || w.Header().Get("Etag") != "" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	if len(s.faults) != 1 {
		t.Errorf("%d faults reported", len(s.faults))
	}
}

func TestWithoutPagesAndMCP(t *testing.T) {
	s := newSite(t)
	s.handler = factshttp.Handler(factshttp.HandlerOptions{Snapshot: func() *facts.Snapshot { return s.current }, Clock: s.clock.now})
	for target, status := range map[string]int{
		allowance: 200, "/": 200, "/f": 200, "/protocol/facts": 200, "/changes": 404, "/api/mcp/facts": 404,
		"/api/mcp/facts/server-card": 404, "/.well-known/ai-catalog.json": 404, allowance + "?format=html": 400, "/f/uk/no/thing": 404,
	} {
		if w := s.get(target, "Accept", "text/html"); w.Code != status || strings.Contains(w.Header().Get("Content-Type"), "html") {
			t.Errorf("%s: %d %s", target, w.Code, w.Header().Get("Content-Type"))
		}
	}
}

func TestEveryRouteEveryMethod(t *testing.T) {
	s := newSite(t)
	for _, route := range factshttp.Routes() {
		target := strings.NewReplacer("{key}", "uk/income-tax/basic-rate", "{name}", "fact.v0.json", "{file}", "style.css").Replace(route.Pattern)
		if got, ok := factshttp.Match(target); !ok || got.Pattern != route.Pattern {
			t.Errorf("%s matches %q", target, got.Pattern)
		}
		if route.Pattern == "/api/mcp/facts" {
			continue // the endpoint owns its answers
		}
		for _, method := range []string{"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "QUERY"} {
			w := s.ask(method, target, "")
			if w.Header().Get("Access-Control-Allow-Origin") != "*" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s %s: headers %v", method, target, w.Header())
			}
			if allowed := slices.Contains(route.Methods, method); allowed == (w.Code == 405) {
				t.Errorf("%s %s: %d", method, target, w.Code)
			}
			if w.Code == 405 && w.Header().Get("Allow") != strings.Join(route.Methods, ", ") {
				t.Errorf("%s %s: Allow %q", method, target, w.Header().Get("Allow"))
			}
		}
	}
}

func FuzzHandler(f *testing.F) {
	for _, seed := range []string{"/f/uk/income-tax/personal-allowance", "/f/a,b?max_age=1d", "/f/resolve?q=basic+rate", "/f?keys=a,b", "/changes.json?since=2026-01-01", "//f//x", "/f/%ff%fe", "/f/%00"} {
		f.Add(seed, "text/html;q=0.5,*/*;q=0.1")
	}
	s := &site{clock: &servedClock{t: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)}, current: servedSnapshot(f, servedDataset(f))}
	s.handler = factshttp.Handler(factshttp.HandlerOptions{Snapshot: func() *facts.Snapshot { return s.current }, Clock: s.clock.now, Pages: servedPages()})
	f.Fuzz(func(t *testing.T, target, accept string) {
		r, err := http.NewRequest(http.MethodGet, target, nil)
		if err != nil || r.URL.Path == "" {
			return
		}
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		if w.Code >= 500 || w.Code >= 300 && w.Code < 400 {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
		if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s: invalid JSON %s", target, w.Body)
		}
	})
}
