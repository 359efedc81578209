package bizhttp_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sayso/business"
	"sayso/business/bizhttp"
)

func TestCaching(t *testing.T) {
	s := newSurface(t)
	for target, cache := range map[string]string{
		"/t/published/.well-known/x-protocol/manifest.json":    "public, max-age=300",
		"/t/published/.well-known/x-protocol/jwks.json":        "public, max-age=300",
		"/t/published/.well-known/x-protocol/revocations.json": "public, max-age=300",
		"/.well-known/x-protocol/registry-keys.json":           "public, max-age=300",
		"/.well-known/x-protocol/revocations.json":             "public, max-age=300",
		berlin + "published":                                   "public, max-age=300",
		berlin + "published/service/exam":                      "public, max-age=300",
		berlin + "published/verify":                            "public, max-age=300",
		berlin + "published/llms.txt":                          "public, max-age=300",
		berlin + "published/sitemap.xml":                       "public, max-age=300",
		berlin + "published/dump.jsonl":                        "public, max-age=900",
		"/discovery/query":                                     "no-store",
		"/b":                                                   "public, max-age=300",
		"/assets/js/verify.js":                                 "public, max-age=3600",
	} {
		w := s.get(target)
		if got := w.Header().Get("Cache-Control"); w.Code != 200 || got != cache {
			t.Errorf("%s: %d %q, want %q", target, w.Code, got, cache)
		}
		tag := w.Header().Get("Etag")
		if weak := strings.HasPrefix(tag, "W/"); weak != strings.HasSuffix(target, ".jsonl") {
			t.Errorf("%s: tag %s", target, tag)
		}
		for _, listed := range []string{tag, `"other", ` + tag, "W/" + strings.TrimPrefix(tag, "W/"), "*"} {
			again := s.get(target, "If-None-Match", listed)
			if again.Code != 304 || again.Body.Len() > 0 || again.Header().Get("Etag") != tag || again.Header().Get("Cache-Control") != cache {
				t.Errorf("%s with %s: %d %v", target, listed, again.Code, again.Header())
			}
		}
		if again := s.get(target, "If-None-Match", `"other"`); again.Code != 200 || again.Body.String() != w.Body.String() {
			t.Errorf("%s with another tag: %d", target, again.Code)
		}
		head := s.ask("HEAD", target)
		if head.Code != 200 || head.Header().Get("Etag") != tag || head.Header().Get("Content-Type") != w.Header().Get("Content-Type") {
			t.Errorf("HEAD %s: %d %v", target, head.Code, head.Header())
		}
	}
}

func TestNegotiation(t *testing.T) {
	s := newSurface(t)
	page := berlin + "published"
	for accept, want := range map[string]string{
		"": "text/html; charset=utf-8", "*/*": "text/html; charset=utf-8", "image/png": "text/html; charset=utf-8", "text/*": "text/html; charset=utf-8",
		"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": "text/html; charset=utf-8",
		"application/json": "application/json", "application/*": "application/json", "application/json, text/plain, */*": "application/json",
		"text/html;q=0.4, application/json;q=0.5": "application/json", "text/html;q=0.5, application/json;q=0.5": "text/html; charset=utf-8",
		"application/json;q=0": "text/html; charset=utf-8", "text/html;q=0, */*": "application/json", "application/json;q=2": "text/html; charset=utf-8",
		"APPLICATION/JSON ; Q=1": "application/json", "application/ld+json": "text/html; charset=utf-8", ";;,,;q=": "text/html; charset=utf-8",
	} {
		for _, target := range []string{page, page + "/service/exam", page + "/verify", "/b"} {
			w := s.get(target, "Accept", accept)
			if got := w.Header().Get("Content-Type"); w.Code != 200 || got != want || w.Header().Get("Vary") != "Accept" {
				t.Errorf("%s, Accept %q: %d %q %v", target, accept, w.Code, got, w.Header()["Vary"])
			}
			if html := strings.HasPrefix(want, "text/html"); html != (w.Header().Get("Content-Security-Policy") != "") {
				t.Errorf("%s: policy %q", target, w.Header().Get("Content-Security-Policy"))
			}
		}
	}
	s.handler = bizhttp.Handler(bizhttp.HandlerOptions{Source: s.registry})
	for _, target := range []string{page, page + "/service/exam", page + "/verify", "/b", "/b/nobody"} {
		if w := s.get(target, "Accept", "text/html"); w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s without pages: %d %v", target, w.Code, w.Header())
		}
	}
}

func TestRefusalForms(t *testing.T) {
	s := newSurface(t)
	w := s.get("/b/nobody", "Accept", "text/html,*/*;q=0.8")
	id := w.Header().Get("X-Request-Id")
	if w.Code != 404 || w.Body.String() != "<h1>problem 404 unknown_publisher "+id+"</h1>" || w.Header().Get("Content-Security-Policy") == "" {
		t.Errorf("browser: %d %s", w.Code, w.Body)
	}
	for _, accept := range []string{"", "*/*", "application/json", "application/json, text/html;q=0.9", "text/html;q=0"} {
		w := s.get("/b/nobody", "Accept", accept)
		m := decoded(t, w.Body.Bytes())
		if w.Header().Get("Content-Type") != "application/json" || len(m) != 3 || m["error"] != "unknown_publisher" || m["message"] == "" || m["request_id"] != w.Header().Get("X-Request-Id") {
			t.Errorf("Accept %q: %v %s", accept, w.Header(), w.Body)
		}
	}
	r := httptest.NewRequest("GET", "/b/nobody", nil)
	front := httptest.NewRecorder()
	front.Header().Set("X-Request-Id", "from-the-front")
	s.handler.ServeHTTP(front, r)
	if decoded(t, front.Body.Bytes())["request_id"] != "from-the-front" {
		t.Error(front.Body)
	}
}

// XP-DISCOVERY-001: one canonical form; tail and query are kept, and no tail can lead to another host.
func TestRedirects(t *testing.T) {
	s := newSurface(t)
	to := berlin + "published"
	for target, want := range map[string]string{
		"/b/published": to, "/b/published/": to, "/b/published?a=1&b=%2F%2Fevil": to + "?a=1&b=%2F%2Fevil", "/b/published/service/a%2Fb%20c?x": to + "/service/a%2Fb%20c?x",
		"/fr/berlin/business/published": to, "/DE/Berlin/business/published/dump.jsonl?n=1": to + "/dump.jsonl?n=1", "/de/m%C3%BCnchen/business/published/verify": to + "/verify",
		to + "/": to, "/b/published/service/%2F%2Fevil.example": to + "/service/%2F%2Fevil.example", "/b/published?u=\xc3\xbc\"<": to + `?u=%C3%BC"<`,
		"/d%65/berlin/business/published": "", "/b/published//evil.example/x": "", "/b/published//evil.example": "",
	} {
		r := httptest.NewRequest("GET", "/", nil)
		path, query, _ := strings.Cut(target, "?")
		if err := setPath(r, path); err != nil {
			t.Fatal(err)
		}
		r.URL.RawQuery = query
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		if want == "" && w.Code == 404 {
			continue
		}
		if got := w.Header().Get("Location"); w.Code != 301 || got != want {
			t.Errorf("%s: %d to %q, want %q", target, w.Code, got, want)
		}
	}
	s.pubs["published"].Profile.Locations = nil
	for target, want := range map[string]string{to + "/verify?x=1": "/b/published/verify?x=1", "/b/published/": "/b/published"} {
		if w := s.get(target); w.Code != 301 || w.Header().Get("Location") != want {
			t.Errorf("%s: %d %v", target, w.Code, w.Header())
		}
	}
	if w := s.get("/b/published"); w.Code != 200 {
		t.Errorf("without a city: %d", w.Code)
	}
}

func setPath(r *http.Request, path string) error {
	u, err := r.URL.Parse(path)
	if err == nil {
		r.URL = u
	}
	return err
}

// XP-DISCOVERY-003: the Host selects, and nothing of it is ever said.
func TestHostNeverAppears(t *testing.T) {
	s := newSurface(t)
	for pattern, row := range table {
		target := row.target
		if target == "" {
			target = pattern
		}
		for _, host := range []string{"evil-canary.test", "published.example.evil-canary.test", `evil-canary.test/<script>`, "registry.example:evil-canary", "[::evil-canary]", "published.example:99evil-canary"} {
			w := s.get(strings.ReplaceAll(target, "{p}", "published"), "Host", host, "X-Forwarded-Host", "evil-canary.test", "Forwarded", "host=evil-canary.test")
			var all strings.Builder
			w.Header().Write(&all)
			if strings.Contains(all.String()+w.Body.String(), "evil-canary") {
				t.Errorf("%s under %s: %s %s", target, host, all.String(), w.Body)
			}
		}
	}
	for _, host := range []string{"published.example", "Published.Example.", "published.example.:8443"} {
		if w := s.get("/.well-known/x-protocol/manifest.json", "Host", host); w.Code != 200 {
			t.Errorf("%s: %d", host, w.Code)
		}
	}
	if w := s.get("/.well-known/x-protocol/manifest.json", "Host", "unknown.test"); codeOf(w) != "unknown_publisher" {
		t.Errorf("unknown host: %d %s", w.Code, w.Body)
	}
}

// XP-DISCOVERY-004: without an origin no document with a locator is made.
func TestNoAnchor(t *testing.T) {
	s := newSurface(t)
	s.site.Origin = ""
	for pattern, row := range table {
		target := row.target
		if target == "" {
			target = pattern
		}
		method := "GET"
		if row.class == call {
			method = "POST"
		}
		w := s.ask(method, strings.ReplaceAll(target, "{p}", "nobody"), "Host", "published.example", "Authorization", "Bearer bad")
		if row.class == static {
			continue
		}
		if w.Code != 503 || codeOf(w) != "no_anchor" || w.Header().Get("Retry-After") != "" {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
}

// A read that did not finish says nothing: 503 with Retry-After, never 404.
func TestUnreadable(t *testing.T) {
	s := newSurface(t)
	s.fault = bizhttp.ErrUnavailable
	for pattern, row := range table {
		target := row.target
		if target == "" {
			target = pattern
		}
		method := "GET"
		if row.class == call {
			method = "POST"
		}
		if row.class == static || strings.HasSuffix(target, "registry-keys.json") || target == "/.well-known/x-protocol/revocations.json" {
			continue
		}
		w := s.ask(method, strings.ReplaceAll(target, "{p}", "published"), "Host", "published.example")
		if w.Code != 503 || codeOf(w) != "publisher_unavailable" || w.Header().Get("Retry-After") != "5" {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
	s.fault = nil
	for name, c := range map[string]struct {
		err    error
		target string
		code   string
	}{
		"keys":     {bizhttp.ErrKeysUnavailable, "/t/paused/.well-known/x-protocol/jwks.json", "key_set_unavailable"},
		"lists":    {bizhttp.ErrListUnavailable, "/t/paused/.well-known/x-protocol/revocations.json", "revocation_list_unavailable"},
		"manifest": {bizhttp.ErrUnavailable, "/t/paused/.well-known/x-protocol/manifest.json", "publisher_unavailable"},
	} {
		s.broken[name] = c.err
		if w := s.get(c.target); w.Code != 503 || codeOf(w) != c.code || w.Header().Get("Retry-After") != "5" {
			t.Errorf("%s: %d %s", c.target, w.Code, w.Body)
		}
		if name == "lists" {
			if w := s.get("/.well-known/x-protocol/revocations.json"); codeOf(w) != c.code {
				t.Errorf("registry list: %s", w.Body)
			}
		}
	}
	if len(s.faults) > 0 {
		t.Errorf("reported: %v", s.faults)
	}
	s.broken["manifest"] = errors.New("secret detail")
	w := s.get("/t/paused/.well-known/x-protocol/manifest.json")
	if w.Code != 500 || codeOf(w) != "internal_error" || strings.Contains(w.Body.String(), "secret") || len(s.faults) != 1 {
		t.Errorf("internal: %d %s, reported %v", w.Code, w.Body, s.faults)
	}
}

func TestCredentialForms(t *testing.T) {
	s := newSurface(t)
	for _, h := range [][]string{
		{"Authorization", ""}, {"Authorization", "Basic b3duZXI="}, {"Authorization", "Bearer"}, {"Authorization", "Bearer  "},
		{"Authorization", "Bearer owner-published", "Authorization", "Bearer owner-published"}, {"Authorization", "owner-published"},
	} {
		for _, target := range []string{"/t/published/.well-known/x-protocol/manifest.json", berlin + "published/dump.jsonl", "/b", "/t/published/.well-known/x-protocol/registry.json"} {
			if w := s.get(target, h...); w.Code != 401 || codeOf(w) != "unauthorized" {
				t.Errorf("%v on %s: %d %s", h, target, w.Code, w.Body)
			}
		}
	}
	// exists comes before credential
	if w := s.get("/b/nobody", "Authorization", "Bearer bad"); codeOf(w) != "unknown_publisher" {
		t.Errorf("nobody: %s", w.Body)
	}
	if w := s.get("/b/Published"); codeOf(w) != "unknown_publisher" {
		t.Errorf("no slug: %s", w.Body)
	}
}

// A preview shows what will be published, with the proofs as they are, and tells so.
func TestPreview(t *testing.T) {
	s := newSurface(t)
	for _, state := range []string{"draft", "paused", "lapsed", "withdrawn"} {
		w := s.get(berlin+state, "Authorization", "Bearer owner-"+state, "Accept", "application/json")
		m := decoded(t, w.Body.Bytes())
		publisher := m["publisher"].(object)
		if publisher["legal_name"] != "Shop GmbH" || publisher["locations"] == nil || m["publication"].(object)["published"] != false || m["endpoints"].(object)["public_profile"] != nil {
			t.Errorf("%s: %s", state, w.Body)
		}
		if proven := publisher["website_verified"] == true && publisher["proven_domain"] == state+".example"; proven == (state == "lapsed") {
			t.Errorf("%s: %s", state, w.Body)
		}
		if html := s.get(berlin+state, "Authorization", "Bearer owner-"+state); !strings.Contains(html.Body.String(), "preview=true") {
			t.Errorf("%s: %s", state, html.Body)
		}
	}
}

// A page that cannot be rendered is a clean refusal.
func TestBrokenPage(t *testing.T) {
	s := newSurface(t)
	pages := testPages()
	pages.Verify = func(w io.Writer, _ bizhttp.Page) error {
		io.WriteString(w, "half a page")
		return errors.New("secret detail")
	}
	pages.Problem = func(io.Writer, int, string, string, string) error { return errors.New("this one too") }
	var faults []error
	s.handler = bizhttp.Handler(bizhttp.HandlerOptions{Source: s.registry, Pages: pages, Report: func(_ *http.Request, cause error) { faults = append(faults, cause) }})
	w := s.get(berlin+"published/verify", "Accept", "text/html")
	if w.Code != 500 || codeOf(w) != "internal_error" || strings.Contains(w.Body.String(), "half") || w.Header().Get("Etag") != "" || w.Header().Get("Link") != "" || len(faults) != 1 {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
}

// XP-IDENTITY-002: the url of a record gives that record.
func TestRecordURLs(t *testing.T) {
	s := newSurface(t)
	ids := []string{"a/b c", "%2F", "..%2f", "ü", "日本", "?q=1#f", "a;b", "a+b", "~", "a%b", "::", strings.Repeat("x", 256), "&<>\"'"}
	records := []business.Record{}
	for _, id := range ids {
		records = append(records, business.Record{ID: id, Type: "item", Title: id})
	}
	s.setRecords("published", records)
	for _, id := range ids {
		at := s.site.RecordURL(s.pubs["published"], "item", id)
		w := s.get(strings.TrimPrefix(at, testOrigin), "Accept", "application/json")
		m := decoded(t, w.Body.Bytes())
		if w.Code != 200 || m["id"] != id || m["url"] != at || m["publisher"] != "published" {
			t.Errorf("%q at %s: %d %s", id, at, w.Code, w.Body)
		}
	}
	for _, path := range []string{"/item/none", "/item/%00", "/item/%zz", "/Item/x", "/item/%ff", "/item/a/b%20c"} {
		if w := s.get(berlin + "published" + strings.ReplaceAll(path, "%zz", "%25zz")); codeOf(w) != "not_found" {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

func TestLinkNamesTheManifest(t *testing.T) {
	s := newSurface(t)
	want := `<` + testOrigin + `/t/published/.well-known/x-protocol/manifest.json>; rel="describedby"; type="application/json"`
	for _, tail := range []string{"", "/verify", "/service/exam"} {
		if got := s.get(berlin + "published" + tail).Header().Get("Link"); got != want {
			t.Errorf("%s: %q", tail, got)
		}
	}
}
