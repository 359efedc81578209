package bizcheck_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/business"
	"sayso/business/bizcheck"
	"sayso/report"
)

func finding(r *report.Report, rule string) report.Finding {
	i := slices.IndexFunc(r.Findings, func(f report.Finding) bool { return f.Rule == rule })
	if i < 0 {
		return report.Finding{}
	}
	return r.Findings[i]
}

// complete fails where a rule does not come up, or something without its reason.
func complete(t *testing.T, r *report.Report) {
	t.Helper()
	for _, rule := range bizcheck.Rules() {
		if finding(r, rule.ID).Rule == "" {
			t.Errorf("%s does not come up", rule.ID)
		}
	}
	for _, f := range r.Findings {
		switch {
		case f.Message == "", f.Outcome == report.NotTested && f.Reason == "", f.Outcome == report.Fail && f.Next == "":
			t.Errorf("%+v says too little", f)
		case strings.ContainsAny(f.Place, "?#"), f.Message != report.Clean(f.Message), f.Place != report.Clean(f.Place):
			t.Errorf("%+v is not clean", f)
		}
	}
	text := strings.ToLower(string(r.AppendJSON(nil)))
	for _, word := range []string{"verified business", "ai ready", "ai readiness", "score"} {
		if strings.Contains(strings.ReplaceAll(text, "the report has no score", ""), word) {
			t.Errorf("the report says %q", word)
		}
	}
}

func TestRuleTable(t *testing.T) {
	groups := map[string]int{"VERSION": 4, "DISCOVERY": 7, "MANIFEST": 9, "IDENTITY": 8, "EXPORT": 4, "COVERAGE": 13, "AUTHORITY": 5, "INTEGRITY": 16, "FRESHNESS": 7, "TRANSPORT": 4,
		"NET": 7, "RIGHTS": 3, "SCHEMA": 1, "SCOPE": 4}
	seen, titles := map[string]bool{}, map[string]bool{}
	for _, r := range bizcheck.Rules() {
		if seen[r.ID] || titles[r.Title] || r.Title == "" || !strings.HasPrefix(r.Section, "X§") {
			t.Errorf("%+v", r)
		}
		seen[r.ID], titles[r.Title] = true, true
		groups[strings.Split(r.ID, "-")[1]]--
	}
	if len(seen) != 92 {
		t.Errorf("%d rules", len(seen))
	}
	for name, n := range groups {
		if n != 0 {
			t.Errorf("%s is off by %d", name, n)
		}
	}
}

// Whatever way a conforming publisher is named, nothing is broken and the same rules are looked at.
func TestConformingPublishers(t *testing.T) {
	never := []string{"XP-INTEGRITY-015", "XP-INTEGRITY-016", "XP-MANIFEST-008", "XP-TRANSPORT-004"}
	for _, target := range []string{
		origin, origin + "/", "registry.example.com", "https://" + shopHost, origin + "/t/shop/.well-known/x-protocol/manifest.json?token=secret", origin + "/de/koeln/business/shop",
		origin + "/b/shop", origin + "/b/shop/service/exam", origin + "/t/shop/mcp", origin + "/t/shut",
	} {
		s := newSite()
		r := s.check(t, target)
		if b := broken(r.Findings); len(b) > 0 || r.Failed() || !bizcheck.Reached(r) {
			t.Errorf("%s: broken %v\n%s", target, b, show(r))
		}
		complete(t, r)
		got := passed(r.Findings)
		for _, rule := range bizcheck.Rules() {
			want := bizcheck.Looked(rule.ID) && !slices.Contains(never, rule.ID)
			switch {
			case strings.HasSuffix(target, "/t/shut"):
				continue
			case rule.ID == "XP-MANIFEST-009" || rule.ID == "XP-FRESHNESS-007":
				continue // needs a publisher that is not published, and discovery
			case rule.ID == "XP-SCOPE-001":
				want = true
			}
			if want != slices.Contains(got, rule.ID) {
				t.Errorf("%s: %s passed %t", target, rule.ID, !want)
			}
		}
		if strings.Contains(string(r.AppendJSON(nil)), "secret") {
			t.Errorf("%s: the report holds the query string", target)
		}
	}
}

func TestClosedPublisher(t *testing.T) {
	got := passed(newSite().check(t, closed).Findings)
	for _, rule := range []string{"XP-MANIFEST-009", "XP-FRESHNESS-007", "XP-INTEGRITY-009"} {
		if !slices.Contains(got, rule) {
			t.Errorf("%s did not pass: %v", rule, got)
		}
	}
	if slices.Contains(got, "XP-EXPORT-001") {
		t.Error("an export was looked at")
	}
}

// An operator's verification is other evidence than a domain proof, and no fault (XP-AUTHORITY-005).
func TestIdentityVerified(t *testing.T) {
	s := newSite()
	s.pubs["shop"].Standing.Proof = nil
	s.pubs["shop"].Standing.Verification = &business.OperatorVerification{Decision: "7", ConfirmedAt: noon.Add(-time.Hour)}
	if b := broken(s.check(t, origin).Findings); len(b) > 0 {
		t.Errorf("broken %v", b)
	}
}

// Without a pinned root the chain is unconfirmed and nothing else changes.
func TestNoPinnedRoot(t *testing.T) {
	s := newSite()
	o := s.options(t)
	o.Root = nil
	r := bizcheck.Check(t.Context(), origin, o)
	if b := broken(r.Findings); len(b) > 0 || finding(r, "XP-INTEGRITY-006").Outcome != report.NotTested || !slices.Contains(passed(r.Findings), "XP-INTEGRITY-004") {
		t.Errorf("broken %v, %+v", b, finding(r, "XP-INTEGRITY-006"))
	}
}

func TestMCPHandshake(t *testing.T) {
	s := newSite()
	speaks(func(string) string { return "2025-11-25" })(s)
	body("registry.json", func(o object) { delete(o, "mcp_versions") })(s) // no document says that an older one is spoken
	r := s.check(t, origin)
	if b := broken(r.Findings); len(b) > 0 || finding(r, "XP-TRANSPORT-002").Outcome != report.Pass {
		t.Errorf("broken %v\n%s", b, show(r))
	}
	s = newSite()
	s.spoil = func(r *http.Request, a *reply) {
		if r.Method == http.MethodPost {
			a.status, a.body = 401, []byte(`{"error":"unauthorized"}`)
		}
	}
	r = s.check(t, origin)
	for _, rule := range []string{"XP-TRANSPORT-002", "XP-COVERAGE-001"} {
		if f := finding(r, rule); f.Outcome != report.NotTested || !strings.Contains(f.Message+f.Reason, "initialize was not answered") {
			t.Errorf("%+v", f)
		}
	}
}

// The report says what was looked at and what was not (XP-SCOPE-001), and the verdict is one sentence about it.
func TestScopeAndVerdict(t *testing.T) {
	s := newSite()
	s.add("store", "published")
	o := s.options(t)
	o.MaxPublishers = 1
	var stages []string
	o.Progress = func(done, total int, what string) {
		if done > total {
			t.Errorf("%d of %d", done, total)
		}
		stages = append(stages, what)
	}
	r := bizcheck.Check(t.Context(), origin, o)
	scope := finding(r, "XP-SCOPE-001")
	for _, part := range []string{"registry-keys.json", "/t/shop/.well-known/x-protocol/manifest.json", "dump.jsonl", "Not looked at: publishers beyond the first 1"} {
		if !strings.Contains(scope.Message, part) {
			t.Errorf("the scope does not name %q: %s", part, scope.Message)
		}
	}
	if strings.Contains(scope.Message, "/t/store/") || len(stages) < 3 {
		t.Errorf("scope %s, stages %v", scope.Message, stages)
	}
	if strings.Count(r.Verdict, ".") != 1 || !strings.HasSuffix(r.Verdict, ".") {
		t.Errorf("verdict %q", r.Verdict)
	}
	s = newSite()
	firstLine(func(m object) { m["license"] = "CC0" })(s)
	if r := s.check(t, origin); !r.Failed() || !strings.HasPrefix(r.Verdict, "1 rule is broken (XP-RIGHTS-001); ") {
		t.Errorf("verdict %q", r.Verdict)
	}
}

func TestNothingReached(t *testing.T) {
	for target, why := range map[string]string{"": "no URL", "https://": "no URL", "https://user@registry.example.com": "no URL", "http://registry.example.com": "nothing could be read", "https://127.0.0.1": "nothing could be read"} {
		r := newSite().check(t, target)
		if bizcheck.Reached(r) || r.Failed() || !strings.HasPrefix(r.Verdict, "Nothing could be checked") {
			t.Errorf("%q: %s\n%s", target, r.Verdict, show(r))
		}
		if f := finding(r, "XP-SCOPE-001"); !strings.Contains(f.Message+f.Reason, why) {
			t.Errorf("%q: %+v", target, f)
		}
		complete(t, r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := bizcheck.Check(ctx, origin, newSite().options(t)); bizcheck.Reached(r) {
		t.Errorf("a cancelled check: %s", r.Verdict)
	}
}

// Without a client of the caller's the own machine is reached only because it was typed, and nothing else is.
func TestOwnMachine(t *testing.T) {
	s := newSite()
	server := httptest.NewServer(s)
	defer server.Close()
	s.origin = server.URL
	r := bizcheck.Check(t.Context(), strings.TrimPrefix(server.URL, "http://"), bizcheck.Options{Clock: func() time.Time { return noon.Add(time.Minute) }})
	if b := broken(r.Findings); len(b) > 0 || !bizcheck.Reached(r) {
		t.Errorf("broken %v\n%s", b, show(r))
	}
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("another port was reached") }))
	defer other.Close()
	s = newSite()
	s.origin = other.URL
	moved := httptest.NewServer(s)
	defer moved.Close()
	complete(t, bizcheck.Check(t.Context(), moved.URL, bizcheck.Options{Clock: func() time.Time { return noon }}))
}

// A long export is read in part, and the report says so.
func TestLongExport(t *testing.T) {
	s := newSite()
	s.spoil = func(r *http.Request, a *reply) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/dump.jsonl") {
			if r.Header.Get("Range") == "" {
				t.Error("the export was asked for whole")
			}
			a.status, a.body = http.StatusPartialContent, a.body[:len(a.body)-20]
		}
	}
	r := s.check(t, origin)
	if b := broken(r.Findings); len(b) > 0 || !strings.Contains(finding(r, "XP-SCOPE-001").Message, "beyond the first 16 MiB") {
		t.Errorf("broken %v, %s", b, finding(r, "XP-SCOPE-001").Message)
	}
	s = newSite()
	on("/dump.jsonl", func(a *reply) { a.body = make([]byte, bizcheck.MaxBytes+1) })(s)
	r = s.check(t, origin)
	if f := finding(r, "XP-EXPORT-001"); f.Outcome != report.NotTested || !strings.Contains(f.Reason, "more than 16 MiB") {
		t.Errorf("%+v", f)
	}
}

// Whatever a hostile registry serves, the outcome is a report of clean findings within the bounds.
func TestHostileRegistry(t *testing.T) {
	many := []byte(`{"results":[` + strings.Repeat(`{"manifest":"https://registry.example.com/t/shop/.well-known/x-protocol/manifest.json?t=secret"},`, 5000) + `{}],"keys":[` + strings.Repeat(`{"kid":"\u202e\u0007","kty":"OKP"},`, 5000) + `{}]}`)
	for name, body := range map[string][]byte{
		"nothing": nil, "null": []byte("null"), "array": []byte("[[[[]]]]"), "deep": []byte(strings.Repeat("[", 100000)), "binary": {0xff, 0xfe, 0}, "controls": []byte(`{"protocol_x_version":"\u001b[31m\u202e"}`),
		"text": []byte("<script>"), "members": []byte(`{"publisher":1,"endpoints":[],"verification":"x","keys":{},"entries":3,"attestation":[],"state":null,"coverage":0,"_meta":7}`), "many": many,
		"long names": []byte(`{"` + strings.Repeat("n", 1<<20) + `":[` + strings.Repeat("[],", 50000) + `[]]}`),
		"lines":      bytes.Repeat([]byte("{\"_meta\":{}}\n"), 20000),
	} {
		s := newSite()
		s.spoil = func(_ *http.Request, a *reply) { a.body = body }
		r := s.check(t, origin)
		complete(t, r)
		if len(r.Findings) > 92*2*20 || len(s.seen) > bizcheck.MaxRequests || strings.Contains(string(r.AppendJSON(nil)), "secret") {
			t.Errorf("%s: %d findings, %d requests", name, len(r.Findings), len(s.seen))
		}
	}
	s := newSite()
	s.spoil = func(r *http.Request, a *reply) {
		a.status = http.StatusFound
		a.header.Set("Location", r.URL.Path+"/x")
	}
	if complete(t, s.check(t, origin)); len(s.seen) > bizcheck.MaxRequests {
		t.Errorf("%d requests", len(s.seen))
	}
}
