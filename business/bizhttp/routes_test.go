package bizhttp_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"sayso/business/bizhttp"
)

const berlin = "/de/berlin/business/"

// class says how a route answers for each state and caller.
type class string

const (
	document class = "document" // everybody, whatever the standing
	content  class = "content"  // strangers while published, the owner as a preview
	moved    class = "moved"    // content that redirects
	call     class = "call"     // content without any tool behind it
	general  class = "general"  // about the registry: no publisher's credential is good there
	static   class = "static"   // no credential is looked at
)

// table is the golden table: one row for each route, or the test fails. Targets hold {p} where the state's name goes; a row with host is asked under it.
var table = map[string]struct {
	class  class
	target string // "" = the pattern
	host   bool
}{
	"/.well-known/x-protocol/registry-keys.json": {class: general},
	"/.well-known/x-protocol/revocations.json":   {class: general},
	"/.well-known/x-protocol/discovery.json":     {class: general},
	"/discovery/query":                           {class: general},

	"/.well-known/x-protocol/manifest.json":     {class: document, host: true},
	"/.well-known/protocol-x-manifest.json":     {class: document, host: true},
	"/.well-known/x-protocol/registry.json":     {class: document, host: true},
	"/.well-known/knowledge-core/registry.json": {class: document, host: true},
	"/.well-known/x-protocol/jwks.json":         {class: document, host: true},
	"/.well-known/knowledge-core/jwks.json":     {class: document, host: true},
	"/mcp":                                      {class: call, host: true},

	"/t/{p}/.well-known/x-protocol/manifest.json":    {class: document},
	"/t/{p}/.well-known/x-protocol/registry.json":    {class: document},
	"/t/{p}/.well-known/x-protocol/jwks.json":        {class: document},
	"/t/{p}/.well-known/x-protocol/revocations.json": {class: document},
	"/t/{p}/mcp": {class: call},

	"/{country}/{city}/business/{p}":             {class: content, target: berlin + "{p}"},
	"/{country}/{city}/business/{p}/dump.jsonl":  {class: content, target: berlin + "{p}/dump.jsonl"},
	"/{country}/{city}/business/{p}/llms.txt":    {class: content, target: berlin + "{p}/llms.txt"},
	"/{country}/{city}/business/{p}/sitemap.xml": {class: content, target: berlin + "{p}/sitemap.xml"},
	"/{country}/{city}/business/{p}/verify":      {class: content, target: berlin + "{p}/verify"},
	"/{country}/{city}/business/{p}/{type}/{id}": {class: content, target: berlin + "{p}/service/a%2Fb%20c"},
	"/b/{p}":             {class: moved},
	"/b/{p}/dump.jsonl":  {class: moved},
	"/b/{p}/llms.txt":    {class: moved},
	"/b/{p}/sitemap.xml": {class: moved},
	"/b/{p}/verify":      {class: moved},
	"/b/{p}/{type}/{id}": {class: moved, target: "/b/{p}/service/exam"},

	"/b":             {class: general},
	"/":              {class: moved, host: true},
	"/llms.txt":      {class: moved, host: true},
	"/sitemap.xml":   {class: moved, host: true},
	"/assets/{file}": {class: static, target: "/assets/style.css"},
}

// expected is the status and, of a refusal, the code. Callers are stranger, owner and wrong: a token of another publisher.
func expected(c class, state, caller string) (status int, code string) {
	if c == static {
		return 200, ""
	}
	if caller == "wrong" || c == general && caller == "owner" {
		return 401, "unauthorized"
	}
	if c == document || c == general {
		return 200, ""
	}
	switch {
	case state == "published", caller == "owner" && state != "suspended":
		switch c {
		case moved:
			return 301, ""
		case call:
			return 404, "not_found"
		}
		return 200, ""
	case caller == "owner":
		return 403, "publisher_suspended"
	}
	return 404, "unknown_publisher"
}

func credentialOf(state, caller string) []string {
	switch caller {
	case "owner":
		return []string{"Authorization", "Bearer owner-" + state}
	case "wrong":
		return []string{"Authorization", "bearer owner-somebody-else"}
	}
	return nil
}

func TestEveryRouteStateAndCaller(t *testing.T) {
	s := newSurface(t)
	for _, route := range bizhttp.Routes() {
		row, ok := table[route.Pattern]
		if !ok {
			t.Errorf("%s has no row in the table", route.Pattern)
			continue
		}
		pattern := row.target
		if pattern == "" {
			pattern = route.Pattern
		}
		for _, state := range states {
			target := strings.ReplaceAll(pattern, "{p}", state)
			if got, ok := bizhttp.Match(target); !ok || got.Pattern != route.Pattern {
				t.Errorf("%s matches %q, want %q", target, got.Pattern, route.Pattern)
			}
			for _, caller := range []string{"stranger", "owner", "wrong"} {
				headers := credentialOf(state, caller)
				if row.host {
					headers = append(headers, "Host", strings.ToUpper(state)+".example:8443")
				}
				for _, method := range []string{"GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE", "TRACE", "QUERY"} {
					s.judge(t, route, method, target, row.class, state, caller, headers)
				}
			}
		}
	}
	if len(s.faults) > 0 {
		t.Errorf("faults reported: %v", s.faults)
	}
}

func (s *surface) judge(t *testing.T, route bizhttp.Route, method, target string, c class, state, caller string, headers []string) {
	t.Helper()
	w := s.ask(method, target, headers...)
	status, code := expected(c, state, caller)
	switch {
	case method == "OPTIONS":
		status, code = 204, ""
	case !slices.Contains(route.Methods, method):
		status, code = 405, "method_not_allowed"
		if got := w.Header().Get("Allow"); got != strings.Join(route.Methods, ", ") {
			t.Errorf("%s %s: Allow %q", method, target, got)
		}
	}
	if w.Code != status || method != "HEAD" && codeOf(w) != code {
		t.Errorf("%s %s for %s of %s: %d %q, want %d %q", method, target, caller, state, w.Code, codeOf(w), status, code)
	}
	if method == "HEAD" && w.Body.Len() > 0 {
		t.Errorf("HEAD %s has a body", target)
	}
	h := w.Header()
	if h.Get("Access-Control-Allow-Origin") != "*" || h.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s %s: headers %v", method, target, h)
	}
	cache := h.Get("Cache-Control")
	switch {
	case status >= 400:
		if cache != "no-store" || h.Get("Etag") != "" || h.Get("X-Request-Id") == "" || status == 401 && h.Get("Www-Authenticate") != "Bearer" {
			t.Errorf("%s %s: refused with %v", method, target, h)
		}
	case status == 204:
	case (c == content || c == moved) && state != "published":
		if cache != "private, no-store" || h.Get("Etag") != "" {
			t.Errorf("%s %s: a preview with %v", method, target, h)
		}
	case !strings.HasPrefix(cache, "public, max-age=") && target != "/discovery/query":
		t.Errorf("%s %s: Cache-Control %q", method, target, cache)
	}
	if status == 200 && (c != content || state == "published") && h.Get("Etag") == "" {
		t.Errorf("%s %s: no ETag", method, target)
	}
}

// XP-FRESHNESS-007: one commit closes every channel that a stranger has.
func TestPauseClosesEveryChannel(t *testing.T) {
	s := newSurface(t)
	open := func(want bool) {
		t.Helper()
		for pattern, row := range table {
			if row.class != content && row.class != moved {
				continue
			}
			target := strings.ReplaceAll(row.target, "{p}", "published")
			if row.target == "" {
				target = strings.ReplaceAll(pattern, "{p}", "published")
			}
			if w := s.get(target, "Host", "published.example"); (w.Code < 400) != want {
				t.Errorf("%s: %d %s %v", target, w.Code, w.Body, s.faults)
			}
		}
		for _, target := range []string{"/b", "/", "/llms.txt", "/sitemap.xml", "/discovery/query", "/.well-known/x-protocol/discovery.json"} {
			body := s.get(target, "Accept", "application/json").Body.String()
			told := strings.Contains(body, "/t/published/") || strings.Contains(body, berlin+"published") || strings.Contains(body, `"published_count":1`)
			if told != want {
				t.Errorf("%s: %s", target, body)
			}
		}
	}
	open(true)
	s.pubs["published"].Standing.Lifecycle = "paused"
	open(false)
	manifest := s.get("/t/published/.well-known/x-protocol/manifest.json").Body.String()
	if strings.Contains(manifest, "dump.jsonl") || strings.Contains(manifest, "GmbH") || !strings.Contains(manifest, `"published":false`) {
		t.Error(manifest)
	}
}

func TestMatch(t *testing.T) {
	for path, want := range map[string]string{
		"/b/": "/b", "/b/x/": "/b/{p}", "/b//": "", "/b/x//": "", "/b/x/a": "", "/b/x/a/b/c": "", "/b/x/a/": "", "/b/x//b": "", "/t/x": "", "/t//mcp": "", "/t/x/mcp/": "",
		"/t/x/.well-known/x-protocol/discovery.json": "", "/de//business/x": "", "/deu/berlin/business/x": "", "/de/berlin/shop/x": "", "/de/berlin/business": "",
		"/DE/Berlin/business/x/verify": "/{country}/{city}/business/{p}/verify", "/b/x/a/%2e%2e": "/b/{p}/{type}/{id}", "": "", "//": "", "/b/{p}": "/b/{p}",
		"/t/{p}/mcp": "/t/{p}/mcp", "/assets/": "", "/assets/js/verify.js": "/assets/{file}", "/f/uk/business/rate": "", "/mcp/": "", "/unknown": "", "unknown": "",
		"/b/x/verify/y": "/b/{p}/{type}/{id}", "/b/x/{type}/{id}": "/b/{p}/{type}/{id}",
	} {
		got, ok := bizhttp.Match(path)
		if !ok {
			got.Pattern = ""
		}
		if got.Pattern != want {
			t.Errorf("%q: %q, want %q", path, got.Pattern, want)
		}
	}
}

func TestBelongs(t *testing.T) {
	for path, want := range map[string]bool{
		"/": false, "/llms.txt": false, "/sitemap.xml": false, "/assets/style.css": false, "/f/a/b": false, "/.well-known/facts.json": false,
		"/b": true, "/b/x": true, "/mcp": true, "/t/x/mcp": true, "/discovery/query": true, "/.well-known/x-protocol/registry-keys.json": true, "/de/berlin/business/x": true,
	} {
		if bizhttp.Belongs(path, false) != want || !bizhttp.Belongs(path, true) {
			t.Errorf("%s: want %t on the registry's host, true on a publisher's own", path, want)
		}
	}
}

// A hostile path, Accept or query never makes a server fault, a redirect to another host or invalid JSON.
func FuzzHandler(f *testing.F) {
	for _, seed := range []string{"/b/published//evil.example/x", "/b/published/a/%2e%2e?x=//evil", "/discovery/query?latitude=NaN&longitude=1", "/de/x/business/published/", "//b", "/t/%70ublished/mcp", "/%ff"} {
		f.Add(seed, "text/html;q=0.5,*/*;q=0.1", "registry.example")
	}
	s := newSurface(f)
	f.Fuzz(func(t *testing.T, target, accept, host string) {
		r, err := http.NewRequest(http.MethodGet, target, nil)
		if err != nil || r.URL.Path == "" {
			return
		}
		r.Header.Set("Accept", accept)
		r.Host = host
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Errorf("%s: %d %s %v", target, w.Code, w.Body, s.faults)
		}
		if at := w.Header().Get("Location"); (w.Code == 301) != (at != "") || at != "" && !strings.HasPrefix(at, berlin+"published") {
			t.Errorf("%s: %d to %q", target, w.Code, at)
		}
		if w.Header().Get("Content-Type") == "application/json" {
			decoded(t, w.Body.Bytes())
		}
	})
}
