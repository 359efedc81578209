package bizhttp_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sayso/business"
	"sayso/business/bizhttp"
)

// A call reaches the tools with the publication it is for, after everybody who gets no answer has been refused; what the tools refuse is a refusal like any
// other, and tells nothing of its cause.
func TestCall(t *testing.T) {
	r := newRegistry(t)
	var got []*business.Publication
	var answer error
	var reported []error
	h := bizhttp.Handler(bizhttp.HandlerOptions{
		Source: r,
		Call: func(w http.ResponseWriter, _ *http.Request, p *business.Publication) error {
			got = append(got, p)
			if answer == nil {
				w.WriteHeader(http.StatusAccepted)
			}
			return answer
		},
		Report: func(_ *http.Request, cause error) { reported = append(reported, cause) },
	})
	ask := func(path, host, bearer string) *httptest.ResponseRecorder {
		q := httptest.NewRequest(http.MethodPost, testOrigin+path, strings.NewReader("{}"))
		q.Host = host
		if bearer != "" {
			q.Header.Set("Authorization", "Bearer "+bearer)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, q)
		return w
	}
	for _, c := range []struct {
		path, host, bearer string
		slug               string // "" = the front door
	}{
		{"/t/published/mcp", "registry.example", "", "published"}, {"/t/published/mcp", "published.example:8443", "owner-published", "published"},
		{"/mcp", "Published.example.", "", "published"}, {"/mcp", "REGISTRY.example:443", "", ""},
	} {
		got = nil
		w := ask(c.path, c.host, c.bearer)
		if w.Code != http.StatusAccepted || len(got) != 1 || (got[0] == nil) != (c.slug == "") || got[0] != nil && got[0].Slug != c.slug || w.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s of %s: %d %s, %v", c.path, c.host, w.Code, w.Body, got)
		}
	}
	got = nil
	for _, c := range []struct {
		path, host, bearer string
		status             int
		code               string
	}{
		{"/t/paused/mcp", "registry.example", "", 404, "unknown_publisher"}, {"/t/paused/mcp", "registry.example", "owner-paused", 404, "unknown_publisher"},
		{"/t/draft/mcp", "registry.example", "owner-draft", 404, "unknown_publisher"}, {"/t/lapsed/mcp", "registry.example", "", 404, "unknown_publisher"},
		{"/t/suspended/mcp", "registry.example", "owner-suspended", 403, "publisher_suspended"}, {"/t/published/mcp", "registry.example", "owner-paused", 401, "unauthorized"},
		{"/t/published/mcp", "elsewhere.net", "", 403, "host_not_allowed"}, {"/t/published/mcp", "elsewhere.net", "owner-paused", 403, "host_not_allowed"},
		{"/mcp", "elsewhere.net", "", 404, "unknown_publisher"}, {"/mcp", "registry.example", "owner-published", 401, "unauthorized"}, {"/t/none/mcp", "elsewhere.net", "", 404, "unknown_publisher"},
	} {
		if w := ask(c.path, c.host, c.bearer); w.Code != c.status || !strings.Contains(w.Body.String(), `{"error":"`+c.code+`"`) || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s of %s as %q: %d %s, want %s", c.path, c.host, c.bearer, w.Code, w.Body, c.code)
		}
	}
	if w := ask("/t/paused/mcp", "registry.example", "owner-paused"); !strings.Contains(w.Body.String(), "publish it first") {
		t.Errorf("the owner is not told why: %s", w.Body)
	}
	if len(got) > 0 {
		t.Errorf("called for %v", got)
	}
	for _, c := range []struct {
		err    error
		status int
		body   string
	}{
		{bizhttp.ErrKeysUnavailable, 503, "key_set_unavailable"}, {bizhttp.ErrUnknown, 404, "unknown_publisher"}, {&bizhttp.Refusal{Status: 415, Code: "unsupported_media_type", Message: "send JSON"}, 415, "send JSON"},
		{errors.New("secret cause"), 500, "internal_error"},
	} {
		answer = c.err
		if w := ask("/t/published/mcp", "registry.example", ""); w.Code != c.status || !strings.Contains(w.Body.String(), c.body) || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%v: %d %s", c.err, w.Code, w.Body)
		}
	}
	if len(reported) != 1 || reported[0].Error() != "secret cause" {
		t.Errorf("reported: %v", reported)
	}
	r.site.Origin = ""
	if w := ask("/mcp", "registry.example", ""); w.Code != 503 || !strings.Contains(w.Body.String(), "no_anchor") {
		t.Errorf("without an origin: %d %s", w.Code, w.Body)
	}
}
