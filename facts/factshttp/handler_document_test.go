package factshttp_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"testing"

	"sayso/facts"
)

func TestDocuments(t *testing.T) {
	s := newSite(t)
	for target, c := range map[string]struct{ contentType, cache string }{
		"/.well-known/facts.json":      {"application/json", "public, max-age=3600"},
		"/.well-known/changes.json":    {"application/json", "s-maxage"},
		"/.well-known/jwks.json":       {"application/json", "public, max-age=86400"},
		"/.well-known/ai-catalog.json": {"application/ai-catalog+json", "public, max-age=3600"},
		"/api/mcp/facts/server-card":   {"application/mcp-server-card+json", "public, max-age=3600"},
		"/changes.json":                {"application/json", "s-maxage"},
		"/changes.json?limit=1":        {"application/json", "s-maxage"},
		"/changes.atom":                {"application/atom+xml", "s-maxage"},
		"/changes":                     {"text/html", "s-maxage"},
		"/openapi.json":                {"application/json", "public, max-age=3600"},
		"/schema/fact.v0.json":         {"application/schema+json", "public, max-age=3600"},
		"/protocol/facts":              {"text/plain", "s-maxage"},
		"/llms.txt":                    {"text/plain", "public, max-age=3600"},
		"/sitemap.xml":                 {"application/xml", "public, max-age=3600"},
		"/assets/style.css":            {"text/css", "public, max-age=3600"},
		"/f":                           {"application/json", "s-maxage"},
		"/f/":                          {"application/json", "s-maxage"},
		"/f/index":                     {"application/json", "s-maxage"},
		"/f/index.json":                {"application/json", "s-maxage"},
		"/facts/index?namespace=uk":    {"application/json", "s-maxage"},
		"/":                            {"application/json", "s-maxage"},
	} {
		w := s.get(target)
		if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), c.contentType) || !strings.Contains(w.Header().Get("Cache-Control"), c.cache) {
			t.Errorf("%s: %d %q %q\n%.200s", target, w.Code, w.Header().Get("Content-Type"), w.Header().Get("Cache-Control"), w.Body)
			continue
		}
		sum := sha256.Sum256(w.Body.Bytes())
		tag := `"` + hex.EncodeToString(sum[:16]) + `"`
		if w.Header().Get("Etag") != tag {
			t.Errorf("%s: tag %s, the bytes have %s", target, w.Header().Get("Etag"), tag)
		}
		for _, condition := range []string{tag, "W/" + tag, `"x", ` + tag, "*"} {
			again := s.get(target, "If-None-Match", condition)
			if again.Code != 304 || again.Body.Len() > 0 || again.Header().Get("Etag") != tag || again.Header().Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("%s with %s: %d", target, condition, again.Code)
			}
		}
		if other := s.get(target, "If-None-Match", `"0"`); other.Code != 200 {
			t.Errorf("%s with another tag: %d", target, other.Code)
		}
		if head := s.ask("HEAD", target, ""); head.Code != 200 || head.Body.Len() > 0 || head.Header().Get("Content-Length") != fmt.Sprint(w.Body.Len()) {
			t.Errorf("HEAD %s: %d %q", target, head.Code, head.Header().Get("Content-Length"))
		}
	}
}

func TestIndexIsCompressedAndNothingElse(t *testing.T) {
	s := newSite(t)
	ds := servedDataset(t)
	for i := range 1000 {
		ds.Facts = append(ds.Facts, facts.Fact{Key: fmt.Sprintf("uk/zz/figure-%04d", i), Label: fmt.Sprintf("Figure number %d", i), Topic: -1, Values: []facts.DatedValue{
			{Value: "1", From: servedDay(t, "2020-01-01"), Source: "https://www.gov.uk/x", Verified: servedDay(t, "2026-10-01")}}})
	}
	s.current = servedSnapshot(t, ds)
	plain := s.get("/f")
	coded := s.get("/f", "Accept-Encoding", "br, gzip;q=0.5")
	if coded.Header().Get("Content-Encoding") != "gzip" || coded.Header().Get("Vary") != "Accept, Accept-Encoding" || !strings.HasSuffix(coded.Header().Get("Etag"), `;gzip"`) {
		t.Fatalf("%v", coded.Header())
	}
	r, err := gzip.NewReader(coded.Body)
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(unpacked, plain.Body.Bytes()) {
		t.Fatalf("the two codings differ: %v", err)
	}
	if n := servedObject(t, plain)["count"]; n != 1004.0 {
		t.Errorf("count = %v", n)
	}
	if w := s.get("/f", "Accept-Encoding", "gzip", "If-None-Match", plain.Header().Get("Etag")); w.Code != 200 {
		t.Error("the tag of one coding matched the other")
	}
	if w := s.get("/f", "Accept-Encoding", "gzip;q=0"); w.Header().Get("Content-Encoding") != "" {
		t.Error("a refused coding was used")
	}
	for _, target := range []string{allowance, "/sitemap.xml", "/changes.json"} {
		if w := s.get(target, "Accept-Encoding", "gzip"); w.Header().Get("Content-Encoding") != "" {
			t.Errorf("%s is content-encoded", target)
		}
	}
}

func TestNamespaceFilter(t *testing.T) {
	s := newSite(t)
	for ns, count := range map[string]float64{"uk": 3, "eol": 1, "zz": 0} {
		if got := servedObject(t, s.get("/f?namespace="+ns))["count"]; got != count {
			t.Errorf("%s: %v", ns, got)
		}
	}
	if text := s.get("/f?namespace=uk&format=txt").Body.String(); !strings.Contains(text, "uk/income-tax/basic-rate\tBasic rate <b>&\n") {
		t.Errorf("text index %q", text)
	}
}
