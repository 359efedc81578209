package bizcheck_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"sayso/business"
	"sayso/business/bizcheck"
	"sayso/report"
)

// What could not be read says nothing: the rules about it are not tested, and nothing is broken.
func TestTechnicalFailureIsNoFinding(t *testing.T) {
	for path, rule := range map[string]string{
		"/.well-known/x-protocol/registry-keys.json":                       "XP-INTEGRITY-006",
		"/.well-known/x-protocol/revocations.json":                         "XP-INTEGRITY-009",
		"/.well-known/x-protocol/discovery.json":                           "XP-DISCOVERY-003",
		"/discovery/query":                                                 "XP-MANIFEST-001",
		"/t/no-such-publisher-4f1c9b/.well-known/x-protocol/manifest.json": "XP-DISCOVERY-004",
		"/t/shop/.well-known/x-protocol/manifest.json":                     "XP-MANIFEST-001",
		"/t/shop/.well-known/x-protocol/registry.json":                     "XP-MANIFEST-004",
		"/t/shop/.well-known/x-protocol/jwks.json":                         "XP-INTEGRITY-014",
		"/t/shop/.well-known/x-protocol/revocations.json":                  "XP-INTEGRITY-010",
		"/de/koeln/business/shop":                                          "XP-SCHEMA-001",
		"/b/shop":                                                          "XP-DISCOVERY-001",
		"/de/koeln/business/shop/dump.jsonl":                               "XP-EXPORT-001",
		"/de/koeln/business/shop/product/frame":                            "XP-IDENTITY-002",
	} {
		s := newSite()
		s.spoil = func(r *http.Request, a *reply) {
			if r.URL.Path == path {
				a.status, a.body = http.StatusServiceUnavailable, []byte(`{"error":"publisher_unavailable"}`)
				a.header.Set("Content-Type", "application/json")
				a.header.Set("Retry-After", "5")
			}
		}
		r := s.check(t, origin)
		untested := slices.ContainsFunc(r.Findings, func(f report.Finding) bool { return f.Rule == rule && f.Outcome == report.NotTested })
		if b := broken(r.Findings); len(b) > 0 || !untested {
			t.Errorf("%s: broken %v, %s not tested: %t\n%s", path, b, rule, untested, show(r))
		}
		complete(t, r)
	}
}

// A client that follows no redirects sees the same.
func TestWithoutRedirects(t *testing.T) {
	s := newSite()
	o := s.options(t)
	o.Fetch = s.clientOf(t, func(p policy) policy { p.MaxRedirects = 0; return p })
	if r := bizcheck.Check(t.Context(), origin, o); len(broken(r.Findings)) > 0 {
		t.Errorf("%s", show(r))
	}
	o.Fetch = s.clientOf(t, func(p policy) policy { p.MaxRequests = 4; return p })
	r := bizcheck.Check(t.Context(), origin, o)
	if b := broken(r.Findings); len(b) > 0 {
		t.Errorf("with few requests: broken %v", b)
	}
	complete(t, r)
}

func TestAddressesThatLeadNowhere(t *testing.T) {
	for _, target := range []string{origin + "/b/nobody", origin + "/de/koeln/business/shop/dump.jsonl", origin + "/elsewhere/than/here"} {
		r := newSite().check(t, target)
		if bizcheck.Reached(r) || r.Failed() || finding(r, "XP-MANIFEST-001").Reason == "" {
			t.Errorf("%s: %s", target, r.Verdict)
		}
		complete(t, r)
	}
}

// A document that redirects to another origin is that origin's.
func TestAnotherOriginIsAnotherSource(t *testing.T) {
	s := newSite()
	s.spoil = func(r *http.Request, a *reply) {
		if r.URL.Path == "/t/shop/.well-known/x-protocol/manifest.json" && r.Host != "other.example.com" {
			a.status = http.StatusFound
			a.header.Set("Location", "https://other.example.com"+r.URL.Path)
		}
	}
	r := s.check(t, origin)
	if f := finding(r, "XP-MANIFEST-001"); f.Outcome != report.Fail || !strings.Contains(f.Message, "a different source") {
		t.Errorf("%+v", f)
	}
}

// An entry that readers cannot match leaves the check of everything incomplete, and both rules say so.
func TestUnknownScope(t *testing.T) {
	s := newSite()
	s.list = func(slug string, l object) {
		if slug == "shop" {
			l["entries"] = []any{object{"scope": "galaxy", "reason": "error", "created_at": noon}, object{"scope": "publisher", "subject": "shop", "reason": "error", "created_at": noon}, object{"scope": "key", "created_at": noon}}
		}
	}
	r := s.check(t, origin)
	if b := broken(r.Findings); !slices.Equal(b, []string{"XP-INTEGRITY-009", "XP-INTEGRITY-016"}) {
		t.Errorf("broken %v", b)
	}
	s = newSite()
	s.revoked["shop"] = []business.RevocationEntry{{Scope: business.ScopeKey, Kid: "shop-1", Reason: "superseded", CreatedAt: "2026-11-29T11:00:00Z", RevokedFrom: "2026-11-29T11:00:00Z"}}
	if r := s.check(t, origin); len(broken(r.Findings)) > 0 || finding(r, "XP-INTEGRITY-016").Outcome != report.Pass {
		t.Errorf("%s", show(r))
	}
}

// Each line breaks the header in another way.
func TestExportHeaders(t *testing.T) {
	for note, c := range map[string]struct {
		rule string
		edit func(m object)
	}{
		"no claim":         {"XP-EXPORT-002", func(m object) { delete(m, "website") }},
		"number":           {"XP-EXPORT-002", func(m object) { m["legal_name"] = 1 }},
		"flag":             {"XP-EXPORT-002", func(m object) { m["website_verified"] = "yes" }},
		"time":             {"XP-EXPORT-002", func(m object) { m["generated_at"] = "today" }},
		"format":           {"XP-EXPORT-002", func(m object) { m["format"] = "lines" }},
		"of another":       {"XP-EXPORT-002", func(m object) { m["publisher"] = "shut" }},
		"null evidence":    {"XP-EXPORT-004", func(m object) { m["authority"] = nil }},
		"empty evidence":   {"XP-EXPORT-004", func(m object) { m["authority"] = []any{object{}} }},
		"evidence, zero":   {"XP-EXPORT-004", func(m object) { m["authority"] = []any{object{"verified_at": "0001-01-01T00:00:00Z"}} }},
		"evidence, object": {"", func(m object) { m["authority"] = object{"methods": []any{"dns_txt"}} }},
		"no evidence":      {"", func(m object) { delete(m, "authority") }},
	} {
		s := newSite()
		firstLine(c.edit)(s)
		got := strings.Join(broken(s.check(t, origin).Findings), " ")
		if got != c.rule {
			t.Errorf("%s: broken %q, want %q", note, got, c.rule)
		}
	}
}
