package bizcheck_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/business"
	"sayso/business/bizcheck"
	"sayso/report"
	"sayso/vectors"
)

// file is one answer of a conforming registry.
func file(t testing.TB, path string) []byte {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, origin+path, nil)
	r.Header.Set("Accept", "application/json")
	newSite().handler.ServeHTTP(w, r)
	if w.Code != 200 {
		t.Fatalf("%s: %d", path, w.Code)
	}
	return w.Body.Bytes()
}

const (
	tenant   = "/t/shop/.well-known/x-protocol/"
	rootPath = "/.well-known/x-protocol/"
)

// holding brings all the evidence there is.
func holding(t testing.TB) bizcheck.Options {
	root := signerOf("root-1")
	return bizcheck.Options{
		Clock: func() time.Time { return noon.Add(time.Minute) }, Root: &business.Root{Kid: root.kid, Public: root.Public()},
		RegistryKeys: file(t, rootPath+"registry-keys.json"), PublisherKeys: file(t, tenant+"jwks.json"),
		Revocations: file(t, rootPath+"revocations.json"), PublisherList: file(t, tenant+"revocations.json"),
	}
}

// Each kind of document is told by its members, judged, and never asked for anything.
func TestDocuments(t *testing.T) {
	o := holding(t)
	for path, rules := range map[string][]string{
		tenant + "manifest.json":               {"XP-MANIFEST-001", "XP-INTEGRITY-001", "XP-INTEGRITY-006", "XP-INTEGRITY-009", "XP-DISCOVERY-004"},
		tenant + "revocations.json":            {"XP-INTEGRITY-010", "XP-INTEGRITY-011", "XP-INTEGRITY-006"},
		rootPath + "revocations.json":          {"XP-INTEGRITY-010", "XP-INTEGRITY-011"},
		rootPath + "registry-keys.json":        {"XP-INTEGRITY-006"},
		tenant + "jwks.json":                   {"XP-INTEGRITY-001", "XP-INTEGRITY-014"},
		tenant + "registry.json":               {"XP-VERSION-001"},
		rootPath + "discovery.json":            {"XP-VERSION-001"},
		"/de/koeln/business/shop/dump.jsonl":   {"XP-EXPORT-001", "XP-EXPORT-002", "XP-EXPORT-004", "XP-RIGHTS-001", "XP-IDENTITY-001"},
		"/de/koeln/business/shop/service/exam": nil,
	} {
		r := bizcheck.CheckDocument("file.json", file(t, path), o)
		got := passed(r.Findings)
		for _, rule := range rules {
			if !slices.Contains(got, rule) {
				t.Errorf("%s: %s did not pass: %v", path, rule, got)
			}
		}
		if b := broken(r.Findings); len(b) > 0 && rules != nil {
			t.Errorf("%s: broken %v\n%s", path, b, show(r))
		}
		complete(t, r)
	}
}

// A record, and what is no JSON, are no documents that could be judged.
func TestOtherDocuments(t *testing.T) {
	for _, text := range []string{"", "{", "[]", "{}", `{"protocol_x_version":"3"}`, "<html>", string(file(t, "/de/koeln/business/shop/service/exam"))} {
		if r := bizcheck.CheckDocument("x", []byte(text), bizcheck.Options{}); !r.Failed() {
			t.Errorf("%.40q fails nothing", text)
		}
	}
}

func TestExportIsReadInPart(t *testing.T) {
	lines := bytes.SplitAfter(file(t, "/de/koeln/business/shop/dump.jsonl"), []byte("\n"))
	out := slices.Clone(lines[0])
	for i := range 6000 {
		out = append(out, bytes.ReplaceAll(lines[1], []byte("frame"), fmt.Appendf(nil, "frame-%d", i))...)
	}
	r := bizcheck.CheckDocument("dump.jsonl", out, bizcheck.Options{})
	if b := broken(r.Findings); len(b) > 0 || !strings.Contains(finding(r, "XP-SCOPE-001").Message, "lines beyond the first 5000") {
		t.Errorf("broken %v, %s", b, finding(r, "XP-SCOPE-001").Message)
	}
	r = bizcheck.CheckDocument("dump.jsonl", append(out[:len(lines[0]):len(lines[0])], bytes.Repeat([]byte("{}\n"), 100)...), bizcheck.Options{})
	n := 0
	for _, f := range r.Findings {
		if f.Rule == "XP-EXPORT-001" && f.Outcome == report.Fail {
			n++
		}
	}
	if n != 21 {
		t.Errorf("%d findings of one rule", n)
	}
}

func FuzzCheckDocument(f *testing.F) {
	for _, path := range []string{tenant + "manifest.json", tenant + "revocations.json", rootPath + "registry-keys.json", tenant + "jwks.json", "/de/koeln/business/shop/dump.jsonl"} {
		f.Add(file(f, path))
	}
	f.Add([]byte(vectors.TampersXP()[0].Document))
	o := holding(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		complete(t, bizcheck.CheckDocument("file", data, o))
	})
}
