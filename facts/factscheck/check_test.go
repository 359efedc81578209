package factscheck_test

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sayso/facts/factscheck"
	"sayso/report"
	"sayso/safefetch"
)

// pages stands for the source pages, none of which a test may fetch.
type pages map[string]int

func (p pages) Do(_ context.Context, r safefetch.Request) (*safefetch.Response, error) {
	status, ok := p[r.URL]
	if !ok {
		status = 200
	}
	if status == 0 {
		return nil, &safefetch.FetchError{Kind: safefetch.KindTimeout, URL: r.URL}
	}
	return &safefetch.Response{Status: status, FinalURL: r.URL}, nil
}

func check(t *testing.T, s *site, o factscheck.Options) *report.Report {
	t.Helper()
	return checkWith(t, s, o, pages{})
}

func checkWith(t *testing.T, s *site, o factscheck.Options, p pages) *report.Report {
	t.Helper()
	o.Origin = cmp.Or(s.typed, s.origin)
	o.Fetch = safefetch.New(safefetch.Policy{Loopback: []string{safefetch.LoopbackOf(s.origin)}})
	o.Clock = func() time.Time { return now }
	if o.Sleep == nil {
		o.Sleep = func(context.Context, time.Duration) error { return nil }
	}
	return factscheck.RunWith(t.Context(), o, p)
}

// of lists the rules with an outcome.
func of(r *report.Report, o report.Outcome) []string {
	var out []string
	for _, f := range r.Findings {
		if f.Outcome == o && !slices.Contains(out, f.Rule) {
			out = append(out, f.Rule)
		}
	}
	return out
}

func dump(r *report.Report) string {
	var b strings.Builder
	r.WriteText(&b, report.TextOptions{})
	return b.String()
}

// Every rule comes up in every run, as something; a conforming publisher fails none.
func TestConformingPublishers(t *testing.T) {
	for _, c := range []struct {
		level   string
		static  bool
		verdict string
		pass    []string // levels whose rules were looked at
	}{
		{"L1", true, "The origin claims L1, and L1 holds.", []string{"L1"}},
		{"L2", false, "The origin claims L2, and L2 holds.", []string{"L1", "L2"}},
		{"L3", false, "The origin claims L3, and L3 holds.", []string{"L1", "L2", "L3"}},
		{"L3", true, "The origin claims L3, and L3 holds.", []string{"L1", "L3"}},
	} {
		r := check(t, newSite(t, c.level, c.static), factscheck.Options{})
		if r.Failed() || r.Verdict != c.verdict {
			t.Errorf("%s static %v: %s", c.level, c.static, dump(r))
		}
		passed := of(r, report.Pass)
		warned := of(r, report.Warning)
		for _, rule := range factscheck.Rules() {
			found := slices.ContainsFunc(r.Findings, func(f report.Finding) bool { return f.Rule == rule.ID })
			looked := slices.Contains(passed, rule.ID) || slices.Contains(warned, rule.ID)
			optional := rule.ID == "VF-L1-001d" || rule.ID == "VF-L1-003f"
			if !found || looked != slices.Contains(c.pass, rule.ID[3:5]) && !optional {
				t.Errorf("%s static %v: %s found %v, looked at %v\n%s", c.level, c.static, rule.ID, found, looked, dump(r))
			}
		}
		// The two facts with one label, and nothing else, deserve a warning.
		if want := []string{"VF-L2-009e"}; c.static && len(warned) != 0 || !c.static && !slices.Equal(warned, want) {
			t.Errorf("%s static %v: warnings %v", c.level, c.static, warned)
		}
	}
}

func TestRuleTable(t *testing.T) {
	rules := factscheck.Rules()
	if !slices.IsSortedFunc(rules, func(a, b report.Rule) int { return strings.Compare(a.ID, b.ID) }) {
		t.Error("the table is not sorted")
	}
	for i, r := range rules {
		if r.Title == "" || !strings.HasPrefix(r.Section, "F§12 item ") || (i > 0 && r.ID == rules[i-1].ID) {
			t.Errorf("%+v", r)
		}
	}
}

// at spoils the answers of one path.
func at(path string, change func(body object, a *reply)) func(*http.Request, *reply) {
	return func(r *http.Request, a *reply) {
		if r.URL.Path == path {
			body, ok := a.body.(object)
			if !ok {
				body = object{} // the change goes nowhere
			}
			change(body, a)
		}
	}
}

func set(path, member string, value any) func(*http.Request, *reply) {
	return at(path, func(body object, _ *reply) { body[member] = value })
}

const (
	factsDoc   = "/.well-known/facts.json"
	changesDoc = "/.well-known/changes.json"
	bank       = "/f/uk/bank-rate"
	allowance  = "/f/uk/income-tax/personal-allowance"
)

// first is the first element of a list member.
func first(body object, member string) object { return body[member].([]any)[0].(object) }

type broken struct {
	rule  string
	name  string
	spoil func(*http.Request, *reply)
	with  func(*site) func(*http.Request, *reply) // makes spoil when it needs the site
	also  []string                                // rules that cannot but fail with it
	warn  bool                                    // a warning is due, not a failure
}

var brokenSites = []broken{
	{rule: "VF-L1-001a", name: "content type", spoil: at(factsDoc, func(_ object, a *reply) { a.header.Set("Content-Type", "text/html") })},
	{rule: "VF-L1-001a", name: "not found", spoil: at(factsDoc, func(_ object, a *reply) { a.status = 404 })},
	{rule: "VF-L1-001a", name: "duplicate member", spoil: at(factsDoc, func(_ object, a *reply) { a.body = `{"protocol":"verified-facts/0.2","protocol":"verified-facts/0.2"}` })},
	{rule: "VF-L1-001b", name: "no hash member", spoil: at(factsDoc, func(b object, _ *reply) { delete(b, "hash") })},
	{rule: "VF-L1-001c", name: "another major", spoil: set(factsDoc, "protocol", "verified-facts/1.0"), also: []string{"VF-L1-001b"}},
	{rule: "VF-L1-001e", name: "count", spoil: at(factsDoc, func(b object, _ *reply) { first(b, "namespaces")["count"] = 2 })},
	{rule: "VF-L1-001f", name: "another origin", warn: true, spoil: set(factsDoc, "openapi", "https://docs.example/openapi.json")},
	{rule: "VF-L1-002a", name: "entry without label", spoil: at("/f", func(b object, _ *reply) {
		if b["facts"] != nil {
			delete(first(b, "facts"), "label")
		}
	})},
	{rule: "VF-L1-002b", name: "count", spoil: at("/f", func(b object, _ *reply) {
		if b["facts"] != nil {
			b["count"] = 5
		}
	})},
	{rule: "VF-L1-002c", name: "hash form", spoil: at("/f", func(b object, _ *reply) {
		if b["facts"] != nil {
			first(b, "facts")["hash"] = "sha256:ABC"
		}
	}), also: []string{"VF-L1-002a", "VF-L1-003d"}},
	{rule: "VF-L1-002d", name: "facts.count", spoil: at(factsDoc, func(b object, _ *reply) {
		b["facts"].(object)["count"] = 7
		first(b, "namespaces")["count"] = 2
	})},
	{rule: "VF-L1-003a", name: "missing record", spoil: func(r *http.Request, a *reply) {
		if r.URL.Path == bank && r.Method == "GET" {
			a.status, a.body = 500, object{}
		}
	}, also: []string{"VF-L2-013c"}},
	{rule: "VF-L1-003b", name: "another key", spoil: func(r *http.Request, a *reply) {
		if b, ok := a.body.(object); ok && r.URL.Path == bank && b["hash"] != nil {
			b["key"] = "uk/base-rate"
		}
	}, also: []string{"VF-L1-003c", "VF-L3-015a", "VF-L3-015b"}},
	{rule: "VF-L1-003c", name: "tampered value", spoil: func(r *http.Request, a *reply) {
		if b, ok := a.body.(object); ok && r.URL.Path == bank && b["hash"] != nil {
			b["value"] = 3
		}
	}, also: []string{"VF-L2-012c", "VF-L3-015a", "VF-L3-015b"}},
	{rule: "VF-L1-003d", name: "index hash", spoil: at("/f", func(b object, _ *reply) {
		if b["facts"] != nil {
			first(b, "facts")["hash"] = "sha256:" + strings.Repeat("0", 64)
		}
	})},
	{rule: "VF-L1-003e", name: "nullable member absent", spoil: func(r *http.Request, a *reply) {
		if b, ok := a.body.(object); ok && r.URL.Path == bank {
			delete(b, "effectiveTo")
		}
	}},
	{rule: "VF-L1-004a", name: "http source", spoil: set(bank, "source", "http://www.gov.uk/"), also: []string{"VF-L1-003c", "VF-L1-003e"}},
	{rule: "VF-L1-004b", name: "not an authority", spoil: at(factsDoc, func(b object, _ *reply) { first(b, "namespaces")["authorities"] = []any{"example.org"} })},
	{rule: "VF-L1-005a", name: "no areas", spoil: at(changesDoc, func(b object, _ *reply) { b["areas"] = "none" })},
	{rule: "VF-L1-005b", name: "does not name facts", spoil: at(changesDoc, func(b object, _ *reply) { delete(b, "facts") })},
	{rule: "VF-L1-005c", name: "undeclared area", spoil: at(changesDoc, func(b object, _ *reply) { b["areas"] = []any{object{"name": "other"}} })},
	{rule: "VF-L1-005c", name: "oldest first", spoil: at("/changes.json", func(b object, _ *reply) { slices.Reverse(b["entries"].([]any)) }), also: []string{"VF-L3-017b"}},
	{rule: "VF-L1-005c", name: "no such day", spoil: at("/changes.json", func(b object, _ *reply) { first(b, "entries")["verifiedDate"] = "2026-02-30" }), also: []string{"VF-L3-017b"}},
	{rule: "VF-L1-005d", name: "unknown factKey", spoil: at("/changes.json", func(b object, _ *reply) { first(b, "entries")["factKey"] = "uk/vat/gone" }), also: []string{"VF-L3-017a", "VF-L3-017b"}},
	{rule: "VF-L1-006a", name: "grammar", spoil: at("/f", func(b object, _ *reply) {
		if b["facts"] != nil {
			first(b, "facts")["key"] = "fr/smic/Hourly"
		}
	}), also: []string{"VF-L1-002a", "VF-L1-003a"}},
	{rule: "VF-L1-006b", name: "listed twice", spoil: at("/f", func(b object, _ *reply) {
		if list, ok := b["facts"].([]any); ok {
			list[0] = list[1]
		}
	}), also: []string{"VF-L1-002b", "VF-L1-007a", "VF-L2-009d"}},
	{rule: "VF-L1-006c", name: "alias without requestedKey", spoil: at("/f/uk/personal-allowance", func(b object, _ *reply) { delete(b, "requestedKey") })},
	{rule: "VF-L1-007a", name: "build stamp", spoil: at("/f", func(b object, _ *reply) {
		if b["facts"] != nil {
			b["generated"] = "2026-06-14"
		}
	})},
	{rule: "VF-L1-007b", name: "random order", spoil: func() func(*http.Request, *reply) {
		var n atomic.Int64
		return at(factsDoc, func(b object, _ *reply) { b["built"] = n.Add(1) })
	}()},
	{rule: "VF-L2-008b", name: "no age", spoil: at(bank, func(b object, _ *reply) {
		delete(b, "status")
		delete(b, "ageDays")
		delete(b, "maxAgeDays")
	}), also: []string{"VF-L2-008c"}},
	{rule: "VF-L2-008c", name: "always fresh", spoil: at(bank, func(b object, _ *reply) {
		if b["status"] != nil {
			b["status"] = "fresh"
		}
	})},
	{rule: "VF-L2-009a", name: "no candidates member", spoil: at("/f/resolve", func(b object, _ *reply) { delete(b, "query") })},
	{rule: "VF-L2-009b", name: "unsorted", spoil: at("/f/resolve", func(b object, _ *reply) {
		if list := b["candidates"].([]any); len(list) > 2 {
			list[1], list[2] = list[2], list[1]
			list[1].(object)["score"], list[2].(object)["score"] = 0.1, 0.2
		}
	})},
	{rule: "VF-L2-009c", name: "alias scores 1", spoil: at("/f/resolve", func(b object, _ *reply) {
		if list := b["candidates"].([]any); len(list) > 0 && list[0].(object)["score"] == 0.95 {
			list[0].(object)["score"] = 1.0
		}
	})},
	{rule: "VF-L2-010a", name: "cut", spoil: func(r *http.Request, a *reply) {
		if b, ok := a.body.(object); ok && b["results"] != nil && len(b["results"].([]any)) > 20 {
			b["results"], b["count"] = b["results"].([]any)[:20], 20
		}
	}},
	{rule: "VF-L2-010b", name: "takes 51", spoil: func(r *http.Request, a *reply) {
		if r.URL.Path == "/f" && a.status == 400 {
			a.status = 200
		}
	}},
	{rule: "VF-L2-010c", name: "miss at the end", spoil: func(r *http.Request, a *reply) {
		if b, ok := a.body.(object); ok && b["results"] != nil && strings.Contains(r.URL.Query().Get("keys"), "zz/") {
			list := b["results"].([]any)
			list[1], list[2] = list[2], list[1]
		}
	}},
	{rule: "VF-L2-010d", name: "sorted", spoil: func(r *http.Request, a *reply) {
		if b, ok := a.body.(object); ok && b["results"] != nil && len(b["results"].([]any)) == 6 {
			slices.Reverse(b["results"].([]any))
		}
	}},
	{rule: "VF-L2-010e", name: "fresh batch", spoil: func(r *http.Request, a *reply) {
		if b, ok := a.body.(object); ok && b["results"] != nil {
			b["status"] = "fresh"
		}
	}},
	{rule: "VF-L2-011a", name: "200", spoil: func(r *http.Request, a *reply) {
		if strings.HasPrefix(r.URL.Path, "/f/zz/") {
			a.status = 200
		}
	}},
	{rule: "VF-L2-011b", name: "stored", spoil: func(r *http.Request, a *reply) {
		if strings.HasPrefix(r.URL.Path, "/f/zz/") {
			a.header.Set("Cache-Control", "public, max-age=60")
		}
	}},
	{rule: "VF-L2-011c", name: "isError", spoil: at("/mcp", func(b object, _ *reply) {
		if result, ok := b["result"].(object); ok && result["content"] != nil {
			result["isError"] = true
		}
	})},
	{rule: "VF-L2-012a", name: "weak tag", spoil: at(bank, func(_ object, a *reply) { a.header.Set("ETag", `"abc"`) })},
	{rule: "VF-L2-012a", name: "tag with suffix", warn: true, spoil: at(bank, func(_ object, a *reply) { a.header.Set("ETag", strings.TrimSuffix(a.header.Get("ETag"), `"`)+`;json"`) })},
	{rule: "VF-L2-012b", name: "modified now", spoil: at(bank, func(_ object, a *reply) { a.header.Set("Last-Modified", now.Format(http.TimeFormat)) })},
	{rule: "VF-L2-012c", name: "JSON only", spoil: func(r *http.Request, a *reply) {
		if r.Header.Get("Accept") == "text/html" {
			a.header.Set("Content-Type", "application/json")
		}
	}},
	{rule: "VF-L2-012c", name: "other digits", spoil: func(r *http.Request, a *reply) {
		if r.Header.Get("Accept") == "text/plain" && r.URL.Path == bank {
			a.body = "4.00 % verified"
		}
	}},
	{rule: "VF-L2-012d", name: "304", warn: true, spoil: func(r *http.Request, a *reply) {
		if r.Header.Get("If-None-Match") != "" {
			a.status, a.body = 304, ""
		}
	}},
	{rule: "VF-L2-012e", name: "a day", warn: true, spoil: at(bank, func(_ object, a *reply) {
		a.header.Set("Cache-Control", "public, s-maxage=3600, stale-while-revalidate=86400")
	})},
	{rule: "VF-L2-012f", name: "404 without CORS", spoil: func(r *http.Request, a *reply) {
		if a.status == 404 {
			a.header.Del("Access-Control-Allow-Origin")
		}
	}},
	{rule: "VF-L2-013a", name: "swagger", spoil: set("/openapi.json", "openapi", "2.0")},
	{rule: "VF-L2-013b", name: "no batch", spoil: at("/openapi.json", func(b object, _ *reply) { delete(b["paths"].(object), "/f") })},
	{rule: "VF-L2-013c", name: "dead path", spoil: at("/openapi.json", func(b object, _ *reply) {
		b["paths"].(object)["/f/all"] = object{"get": object{"operationId": "x"}}
	})},
	{rule: "VF-L2-014a", name: "two tools", spoil: at("/mcp", func(b object, _ *reply) {
		if result, ok := b["result"].(object); ok && result["tools"] != nil {
			result["tools"] = result["tools"].([]any)[:2]
		}
	})},
	{rule: "VF-L2-014a", name: "no MCP there", spoil: at("/mcp", func(_ object, a *reply) { a.status, a.body = 404, "nothing" })},
	{rule: "VF-L2-014b", name: "no annotations", spoil: at("/mcp", func(b object, _ *reply) {
		if result, ok := b["result"].(object); ok && result["tools"] != nil {
			delete(first(result, "tools"), "annotations")
		}
	})},
	{rule: "VF-L2-014c", name: "no card", spoil: at("/mcp/server-card", func(_ object, a *reply) { a.status = 404 })},
	{rule: "VF-L2-014d", name: "long", warn: true, spoil: at("/mcp", func(b object, _ *reply) {
		if result, ok := b["result"].(object); ok && result["tools"] != nil {
			first(result, "tools")["description"] = strings.Repeat("word ", 600)
		}
	})},
	{rule: "VF-L3-015b", name: "no signature", spoil: at(bank, func(b object, _ *reply) { delete(b, "signature") })},
	{rule: "VF-L3-015b", name: "verified later", spoil: at(bank, func(b object, _ *reply) { b["effectiveTo"] = "2030-01-01" }), also: []string{"VF-L2-008d"}},
	{rule: "VF-L3-015c", name: "keys elsewhere", spoil: at(bank, func(b object, _ *reply) {
		if s, ok := b["signature"].(object); ok {
			s["keys"] = "https://keys.example/jwks.json"
		}
	})},
	{rule: "VF-L3-016a", name: "wrong curve", spoil: at("/.well-known/jwks.json", func(b object, _ *reply) { b["keys"].([]object)[0]["crv"] = "X25519" }), also: []string{"VF-L3-015c"}},
	{rule: "VF-L3-015c", name: "another publisher", with: func(s *site) func(*http.Request, *reply) {
		return func(r *http.Request, a *reply) {
			if b, ok := a.body.(object); ok && r.URL.Path == bank && b["hash"] != nil {
				b["publisher"] = object{"name": "Other", "url": "https://other.example/"}
				s.sign(b)
			}
		}
	}},
	{rule: "VF-L3-016b", name: "no validFrom", spoil: at("/.well-known/jwks.json", func(b object, _ *reply) { delete(b["keys"].([]object)[0], "validFrom") })},
	{rule: "VF-L3-016c", name: "one kid twice", spoil: at("/.well-known/jwks.json", func(b object, _ *reply) { b["keys"] = append(b["keys"].([]object), b["keys"].([]object)[0]) }), also: []string{"VF-L3-015c"}},
	{rule: "VF-L3-016d", name: "private", spoil: at("/.well-known/jwks.json", func(b object, _ *reply) { b["keys"].([]object)[0]["d"] = "AA" })},
	{rule: "VF-L3-017a", name: "edited", spoil: at("/changes.json", func(b object, _ *reply) { first(b, "entries")["to"] = 5 }), also: []string{"VF-L3-017b"}},
	{rule: "VF-L3-017b", name: "edited label", spoil: at("/changes.json", func(b object, _ *reply) { b["entries"].([]any)[2].(object)["label"] = "new" })},
	{rule: "VF-L3-017b", name: "oldest dropped", spoil: at("/changes.json", func(b object, _ *reply) { b["entries"], b["count"] = b["entries"].([]any)[:2], 2 })},
	{rule: "VF-L3-017b", name: "no head", spoil: at("/changes.json", func(b object, _ *reply) { delete(b, "chainHead") })},
	{rule: "VF-L3-018b", name: "long ago", warn: true, spoil: set(factsDoc, "selfCheck", object{"schedule": "weekly", "last": "2026-01-01"})},
}

// Each publisher breaks one rule: that rule is found, and no other that it does not drag along.
func TestEachRuleCatchesItsFault(t *testing.T) {
	for _, b := range brokenSites {
		t.Run(b.rule+" "+b.name, func(t *testing.T) {
			s := newSite(t, "L3", false)
			if s.spoil = b.spoil; b.with != nil {
				s.spoil = b.with(s)
			}
			expectBroken(t, check(t, s, factscheck.Options{}), b)
		})
	}
}

func expectBroken(t *testing.T, r *report.Report, b broken) {
	t.Helper()
	want := report.Fail
	if b.warn {
		want = report.Warning
	}
	if !slices.Contains(of(r, want), b.rule) {
		t.Errorf("%s was not found:\n%s", b.rule, dump(r))
	}
	for _, rule := range of(r, report.Fail) {
		if rule != b.rule && !slices.Contains(b.also, rule) {
			t.Errorf("%s failed too:\n%s", rule, dump(r))
		}
	}
	if r.Failed() == strings.Contains(r.Verdict, "and L3 holds") {
		t.Errorf("verdict %q", r.Verdict)
	}
}

func TestFaultsOfBehaviour(t *testing.T) {
	for name, c := range map[string]struct {
		broken
		change func(s *site)
	}{
		"as_of exclusive at the end": {broken{rule: "VF-L2-008d"}, func(s *site) {
			s.spoil = func(r *http.Request, a *reply) {
				if r.URL.Query().Get("as_of") == "2027-04-05" {
					a.body, _ = s.one("uk/none", nil)
				}
			}
		}},
		"as_of ignored": {broken{rule: "VF-L2-008d"}, func(s *site) {
			s.spoil = func(r *http.Request, a *reply) {
				if r.URL.Query().Has("as_of") && a.status == 200 {
					q := r.URL.Query()
					q.Del("as_of")
					a.body, a.status = s.one(r.URL.Path[3:], q)
				}
			}
		}},
		"period ignored": {broken{rule: "VF-L2-008e"}, func(s *site) {
			s.spoil = func(r *http.Request, a *reply) {
				if r.URL.Query().Has("period") && a.status == 200 {
					a.body, a.status = s.one(r.URL.Path[3:], nil)
				}
			}
		}},
		"lenient": {broken{rule: "VF-L2-008f", warn: true}, func(s *site) {
			s.spoil = func(r *http.Request, a *reply) {
				if a.status == 400 && r.URL.Path == "/f/fr/smic/hourly" {
					a.body, a.status = s.one("fr/smic/hourly", nil)
				}
			}
		}},
		"guesses": {broken{rule: "VF-L2-009d", also: []string{"VF-L2-009e"}}, func(s *site) {
			s.spoil = at("/f/resolve", func(b object, _ *reply) {
				if b["query"] == "Higher rate" {
					b["best"] = s.record(s.facts[2], s.facts[2]["values"].([]object)[0], -1)
				}
			})
		}},
		"resolves elsewhere": {broken{rule: "VF-L2-009e"}, func(s *site) {
			s.spoil = at("/f/resolve", func(b object, _ *reply) {
				if b["query"] == "Bank Rate" {
					b["best"] = s.record(s.facts[0], s.facts[0]["values"].([]object)[0], -1)
				}
			})
		}},
		"resolves elsewhere without its last middle segment": {broken{rule: "VF-L2-009e"}, func(s *site) {
			s.facts[0]["key"] = "fr/smic/adult/hourly"
			s.spoil = at("/f/resolve", func(b object, _ *reply) {
				if b["query"] == "fr/smic/hourly" {
					b["best"] = s.record(s.facts[1], s.facts[1]["values"].([]object)[0], -1)
				}
			})
		}},
		"verified tomorrow": {broken{rule: "VF-L3-015d", also: []string{"VF-L1-007a"}}, func(s *site) {
			s.facts[1]["values"].([]object)[0]["verifiedDate"] = "2026-06-16"
		}},
		"L1 claims server": {broken{rule: "VF-L1-001d"}, func(s *site) { s.level = "L1" }},
		"filtering":        {broken{rule: "VF-L2-008a", also: []string{"VF-L1-001b", "VF-L2-008b"}}, func(s *site) { s.level, s.static = "L2", true }},
		"revoked key":      {broken{rule: "VF-L3-015c"}, func(s *site) { s.keys[0]["revoked"] = "2026-01-01" }},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, "L3", false)
			c.change(s)
			expectBroken(t, check(t, s, factscheck.Options{}), c.broken)
		})
	}
}

// The keys of a publisher are those that its own origin names, wherever its records are found.
func TestKeysBelongToThePublisher(t *testing.T) {
	home, mirror := newSite(t, "L3", false), newSite(t, "L3", false)
	mirror.home = home.origin
	run := func() *report.Report {
		fetch := safefetch.New(safefetch.Policy{Loopback: []string{safefetch.LoopbackOf(home.origin), safefetch.LoopbackOf(mirror.origin)}, MaxRedirects: 3})
		return factscheck.RunWith(t.Context(), factscheck.Options{Origin: mirror.origin, Fetch: fetch, Clock: func() time.Time { return now }}, pages{})
	}
	if failed := of(run(), report.Fail); !slices.Contains(failed, "VF-L3-015c") {
		t.Errorf("a key set that the publisher does not name: %v", failed)
	}
	home.spoil = set(factsDoc, "keys", mirror.origin+"/.well-known/jwks.json")
	if r := run(); r.Failed() {
		t.Errorf("a key set that the publisher names: %s", dump(r))
	}
	mirror.spoil = at("/.well-known/jwks.json", func(_ object, a *reply) {
		a.status = 302
		a.header.Set("Location", home.origin+"/.well-known/jwks.json")
	})
	if r := run(); slices.Contains(of(r, report.Pass), "VF-L3-015c") || !slices.Contains(of(r, report.Fail), "VF-L3-016a") {
		t.Errorf("a key set that moves elsewhere: %s", dump(r))
	}
	mirror.spoil = nil
	home.spoil = at(factsDoc, func(_ object, a *reply) { a.status, a.header = 503, http.Header{"Retry-After": {"999"}} })
	if r := run(); r.Failed() || !slices.Contains(of(r, report.NotTested), "VF-L3-015c") {
		t.Errorf("the publisher does not answer: %s", dump(r))
	}
}

// A key whose last value has ended stays in the index; a server says that it holds nothing for today, a file shows the last value.
func TestKeyWithoutValueInForce(t *testing.T) {
	for _, static := range []bool{false, true} {
		s := newSite(t, "L3", static)
		s.facts = slices.Insert(s.facts, 5, object{"key": "uk/vat/hospitality-rate", "label": "Temporary hospitality charge", "values": []object{
			{"value": 12.5, "unit": "%", "period": nil, "effectiveFrom": "2021-10-01", "effectiveTo": "2022-03-31", "verifiedDate": "2026-01-10"}}})
		r := check(t, s, factscheck.Options{})
		if r.Failed() || static != slices.Contains(of(r, report.Warning), "VF-L3-015d") {
			t.Errorf("static %v: %s", static, dump(r))
		}
	}
	s := newSite(t, "L3", true)
	s.spoil = func(r *http.Request, a *reply) {
		if r.URL.Path == bank+".json" {
			a.body = object{"protocol": "verified-facts/0.2", "key": "uk/bank-rate", "label": "x", "covered": false, "reason": "period not held", "periodsHeld": []any{}, "publisher": s.publisher()}
		}
	}
	if r := check(t, s, factscheck.Options{}); !slices.Equal(of(r, report.Fail), []string{"VF-L1-003e"}) {
		t.Errorf("a file with a miss: %s", dump(r))
	}
}

func TestSources(t *testing.T) {
	s := newSite(t, "L1", true)
	outcomes := func(p pages, o factscheck.Options) (out []report.Outcome) {
		for _, f := range checkWith(t, s, o, p).Findings {
			if f.Rule == "VF-L1-004c" {
				out = append(out, f.Outcome)
			}
		}
		return out
	}
	page := "https://www.gov.uk/uk/bank-rate"
	for status, want := range map[int]report.Outcome{200: report.Pass, 404: report.Fail, 410: report.Fail, 301: report.Warning, 403: report.NotTested, 500: report.NotTested, 0: report.NotTested} {
		if got := outcomes(pages{page: status}, factscheck.Options{}); !slices.Equal(got, []report.Outcome{want}) {
			t.Errorf("%d: %v, want %v", status, got, want)
		}
	}
	if got := outcomes(pages{page: 404}, factscheck.Options{NoSources: true}); !slices.Equal(got, []report.Outcome{report.NotTested}) {
		t.Errorf("without sources: %v", got)
	}
}

func TestPatience(t *testing.T) {
	s := newSite(t, "L2", false)
	var refusals atomic.Int64
	s.spoil = func(r *http.Request, a *reply) {
		if strings.HasPrefix(r.URL.Path, "/f/uk/") && refusals.Add(1)%3 == 1 && refusals.Load() < 20 {
			a.status, a.body = 429, object{}
			a.header.Set("Retry-After", "2")
		}
	}
	var slept time.Duration
	r := check(t, s, factscheck.Options{Sleep: func(_ context.Context, d time.Duration) error { slept += d; return nil }})
	if r.Failed() || slept == 0 || slept > time.Minute {
		t.Errorf("slept %v: %s", slept, dump(r))
	}
	s.spoil = func(r *http.Request, a *reply) {
		if r.URL.Path == bank {
			a.status, a.body = 503, object{}
			a.header.Set("Retry-After", "3600")
		}
	}
	r = check(t, s, factscheck.Options{})
	if !slices.Contains(of(r, report.NotTested), "VF-L1-003a") || slices.Contains(of(r, report.Fail), "VF-L1-003a") {
		t.Errorf("without patience left: %s", dump(r))
	}
}

func TestUnreachableIsNotFailed(t *testing.T) {
	s := newSite(t, "L1", true)
	s.origin = "http://127.0.0.1:1"
	r := check(t, s, factscheck.Options{})
	if r.Failed() || factscheck.Reached(r) || len(r.Findings) != len(factscheck.Rules()) {
		t.Errorf("%s", dump(r))
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if r := factscheck.Run(ctx, factscheck.Options{Origin: newSite(t, "L1", true).origin}); r.Failed() || factscheck.Reached(r) {
		t.Errorf("interrupted: %s", dump(r))
	}
}

func TestSampleIsBoundedAndSeeded(t *testing.T) {
	s := newSite(t, "L1", true)
	s.facts = nil
	for i := range 2001 {
		s.facts = append(s.facts, object{"key": "uk/n/x" + strings.Repeat("0", 4-len(itoa(i))) + itoa(i), "label": "Figure " + itoa(i), "values": []object{
			{"value": i, "unit": "%", "period": nil, "effectiveFrom": "2026-01-01", "effectiveTo": nil, "verifiedDate": today}}})
	}
	s.log = nil
	run := func(seed uint64) (asked []string) {
		var mu = make(chan struct{}, 1)
		s.spoil = func(r *http.Request, a *reply) {
			if strings.HasPrefix(r.URL.Path, "/f/uk/") {
				mu <- struct{}{}
				asked = append(asked, r.URL.Path)
				<-mu
			}
			if d, ok := a.body.(object); ok && r.URL.Path == factsDoc {
				first(d, "namespaces")["count"] = 1
			}
		}
		var total int
		check(t, s, factscheck.Options{Seed: seed, Progress: func(done, n int, what string) {
			if what == "records" {
				total = max(total, n)
			}
		}})
		slices.Sort(asked)
		if len(asked) != 500 || total != 500 {
			t.Errorf("%d keys were asked, %d announced", len(asked), total)
		}
		return asked
	}
	if one := run(1); !slices.Equal(one, run(1)) || slices.Equal(one, run(2)) {
		t.Error("the same seed draws the same keys, another one others")
	}
}

func itoa(i int) string {
	return strings.TrimSpace(strings.Join(strings.Fields(string(encode(i))), ""))
}

func TestLongListsAreBounded(t *testing.T) {
	s := newSite(t, "L1", true)
	s.facts, s.log = nil, nil
	for i := range 50 {
		s.facts = append(s.facts, object{"key": "uk/n/x" + itoa(100+i), "label": "Figure", "values": []object{
			{"value": i, "unit": "%", "period": nil, "effectiveFrom": "2026-01-01", "effectiveTo": nil, "verifiedDate": today}}})
	}
	s.spoil = func(r *http.Request, a *reply) {
		if b, ok := a.body.(object); ok && strings.HasPrefix(r.URL.Path, "/f/uk/") {
			b["key"] = "uk/another"
		}
	}
	n := 0
	r := check(t, s, factscheck.Options{})
	for _, f := range r.Findings {
		if f.Rule == "VF-L1-003b" {
			n++
		}
	}
	if n != 21 || !strings.Contains(r.Verdict, "failures: 10") {
		t.Errorf("%d findings, %s", n, r.Verdict)
	}
}

func TestLastEvent(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "data: {}\n\n": "{}", "event: message\ndata: {\"a\":1}\n\ndata: {\"b\":\ndata: 2}\n\n": "{\"b\":\n2}", "data:x": "x", ": note\r\ndata: y\r\n\r\n": "y",
	} {
		if got := strings.TrimSuffix(string(factscheck.LastEvent([]byte(in))), "\n"); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
