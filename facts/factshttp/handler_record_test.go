package factshttp_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sayso/facts"
	"sayso/facts/factshttp"
)

func TestRecordHeaders(t *testing.T) { // F§4.5, F§4.6
	s := newSite(t)
	w := s.get(allowance)
	record := servedObject(t, w)
	want := map[string]string{
		"Etag":                          `"` + record["hash"].(string) + `"`,
		"Last-Modified":                 "Sun, 04 Oct 2026 00:00:00 GMT",
		"X-Facts-Status":                record["status"].(string),
		"Cache-Control":                 "public, max-age=0, s-maxage=3600, stale-while-revalidate=39600",
		"Content-Type":                  "application/json; charset=utf-8",
		"Vary":                          "Accept",
		"Link":                          `<https://figures.example/schema/fact.v0.json>; rel="describedby", <https://figures.example` + allowance + `>; rel="canonical"`,
		"Access-Control-Allow-Origin":   "*",
		"Access-Control-Expose-Headers": "ETag, Last-Modified, X-Facts-Status, Link, Retry-After",
		"X-Content-Type-Options":        "nosniff",
	}
	for name, value := range want {
		if got := w.Header().Get(name); got != value {
			t.Errorf("%s = %q, want %q", name, got, value)
		}
	}
	if w.Code != 200 || record["key"] != "uk/income-tax/personal-allowance" || record["ageDays"] != 56.0 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestSpellingsOfAKey(t *testing.T) {
	s := newSite(t)
	for _, target := range []string{
		allowance, allowance + "/", allowance + ".json", "/facts/uk/income-tax/personal-allowance", "//f//uk/income-tax//personal-allowance",
		"/f/uk%2Fincome-tax%2Fpersonal-allowance", "/f%2Fuk/income-tax/personal-allowance", "/f/UK/Income-Tax/Personal_Allowance",
		"/f/uk-rates:income-tax/personal-allowance", "/f/gb/income-tax/personal-allowance", "/f/uk/personal-allowance",
		"/f/uk-rates%3Aincome-tax/personal-allowance", "/f//uk/income-tax/personal-allowance//",
	} {
		w := s.get(target)
		if w.Code != 200 {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
			continue
		}
		if key := servedObject(t, w)["key"]; key != "uk/income-tax/personal-allowance" {
			t.Errorf("%s: key %v", target, key)
		}
		if link := w.Header().Get("Link"); !strings.Contains(link, "<https://figures.example"+allowance+`>; rel="canonical"`) {
			t.Errorf("%s: Link %q", target, link)
		}
	}
	if w := s.get("/f/eol/ubuntu/18.19"); w.Code != 200 {
		t.Errorf("dotted key: %d", w.Code)
	}
}

func TestFormsOfARecord(t *testing.T) {
	s := newSite(t)
	browser := "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"
	for _, c := range []struct{ query, accept, contentType, tagSuffix string }{
		{"", "", "application/json", `"`}, {"", "*/*", "application/json", `"`}, {"", "application/ld+json", "application/json", `"`},
		{"", browser, "text/html", `;html"`}, {"", "text/plain", "text/plain", `;txt"`}, {"", "text/*", "text/plain", `;txt"`},
		{"", "text/html;q=0.4, text/plain;q=0.5", "text/plain", `;txt"`}, {"", "text/html;q=0", "application/json", `"`},
		{"", "image/png", "application/json", `"`}, {"", "text/html, application/json;q=0.9", "text/html", `;html"`},
		{"", "application/json, text/html", "application/json", `"`}, {"", "text/html;q=x, text/plain;q=0.1", "text/plain", `;txt"`},
		{"?format=txt", browser, "text/plain", `;txt"`}, {"?format=json", browser, "application/json", `"`}, {"?format=html", "*/*", "text/html", `;html"`},
	} {
		w := s.get(allowance+c.query, "Accept", c.accept)
		if !strings.HasPrefix(w.Header().Get("Content-Type"), c.contentType) || !strings.HasSuffix(w.Header().Get("Etag"), c.tagSuffix) {
			t.Errorf("%q %q: %q %q", c.query, c.accept, w.Header().Get("Content-Type"), w.Header().Get("Etag"))
		}
		if html := c.contentType == "text/html"; html != (w.Header().Get("Content-Security-Policy") != "") {
			t.Errorf("%q %q: policy on html only", c.query, c.accept)
		}
	}
	if got, want := s.get(allowance+"?format=txt").Body.String(), "12570 GBP/year (2026-27, from 2026-04-06 to 2027-04-05) verified 2026-10-04 stale https://www.gov.uk/income-tax-rates\n"; got != want {
		t.Errorf("text = %q, want %q", got, want)
	}
}

func TestRecordIsNever304(t *testing.T) {
	s := newSite(t)
	s.clock.set(t, "2026-10-12T23:59:59Z")
	before := s.get(allowance + "?max_age=8d")
	tag := before.Header().Get("Etag")
	s.clock.set(t, "2026-10-13T00:00:01Z")
	after := s.get(allowance+"?max_age=8d", "If-None-Match", tag, "If-Modified-Since", before.Header().Get("Last-Modified"))
	if after.Code != 200 || after.Header().Get("Etag") != tag {
		t.Fatalf("%d, tag %s, want 200 under %s", after.Code, after.Header().Get("Etag"), tag)
	}
	a, b := servedObject(t, before), servedObject(t, after)
	if a["ageDays"] != 8.0 || a["status"] != "fresh" || b["ageDays"] != 9.0 || b["status"] != "stale" {
		t.Errorf("%v %v, then %v %v", a["ageDays"], a["status"], b["ageDays"], b["status"])
	}
	if after.Header().Get("X-Facts-Status") != "stale" {
		t.Error("the header does not say stale")
	}
	for _, target := range []string{"/f?keys=uk/income-tax/basic-rate", "/f/resolve?q=basic+rate"} {
		if w := s.get(target, "If-None-Match", "*"); w.Code != 200 || w.Header().Get("Etag") != "" {
			t.Errorf("%s: %d with tag %q", target, w.Code, w.Header().Get("Etag"))
		}
	}
}

func TestReconfirmationMovesLastModifiedAlone(t *testing.T) {
	s := newSite(t)
	before := s.get(allowance)
	ds := servedDataset(t)
	ds.Facts[3].Values[0].Verified = servedDay(t, "2026-11-20")
	s.current = servedSnapshot(t, ds)
	after := s.get(allowance)
	if after.Header().Get("Etag") != before.Header().Get("Etag") {
		t.Error("the tag moved although the claim is the same")
	}
	if after.Header().Get("Last-Modified") != "Fri, 20 Nov 2026 00:00:00 GMT" || bytes.Equal(before.Body.Bytes(), after.Body.Bytes()) {
		t.Error("the new verification does not show")
	}
}

func TestCacheEndsAtMidnight(t *testing.T) {
	s := newSite(t)
	start := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	for second := range 86400 {
		for _, nanos := range []int{0, 999_999_999} {
			if nanos > 0 && second%3600 != 3599 && second%997 != 0 {
				continue
			}
			s.clock.t = start.Add(time.Duration(second)*time.Second + time.Duration(nanos))
			header := s.get(allowance).Header().Get("Cache-Control")
			var shared, stale int
			if n, _ := fmt.Sscanf(header, "public, max-age=0, s-maxage=%d, stale-while-revalidate=%d", &shared, &stale); n == 0 {
				t.Fatalf("second %d: %q", second, header)
			}
			left := 24*time.Hour - s.clock.t.Sub(start)
			if sum := time.Duration(shared+stale) * time.Second; sum > left || left-sum >= time.Second || shared > 3600 {
				t.Fatalf("second %d: %q with %v left", second, header, left)
			}
			if strings.HasSuffix(header, "stale-while-revalidate=0") {
				t.Fatalf("second %d: %q", second, header)
			}
		}
	}
}

func TestMissesAreNotStored(t *testing.T) { // F§5.3
	s := newSite(t)
	for target, status := range map[string]int{"/f/uk/no-such/thing": 404, allowance + "?as_of=1999-01-01": 200, allowance + "?period=1999-00": 200} {
		w := s.get(target)
		if body := servedObject(t, w); w.Code != status || body["covered"] != false {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
		if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Etag") != "" || w.Header().Get("X-Facts-Status") != "" {
			t.Errorf("%s: %v", target, w.Header())
		}
	}
}

func TestSingleSegmentIsAMiss(t *testing.T) {
	s := newSite(t)
	w := s.get("/f/personal-allowance")
	candidates, _ := servedObject(t, w)["candidates"].([]any)
	if w.Code != 404 || len(candidates) == 0 || candidates[0].(map[string]any)["key"] != "uk/income-tax/personal-allowance" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if text := s.get("/f/personal-allowance?format=txt").Body.String(); !strings.HasPrefix(text, "unknown key personal-allowance; try: uk/income-tax/personal-allowance") {
		t.Errorf("%q", text)
	}
	w = s.get("/f/uk/tax/personal-allowance")
	if record := servedObject(t, w); w.Code != 200 || record["resolved"] == nil || record["requestedKey"] != "uk/tax/personal-allowance" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestWithdrawn(t *testing.T) { // F§5.4
	w := newSite(t).get("/f/uk/gov/fee")
	record := servedObject(t, w)
	value, present := record["value"]
	if w.Code != 200 || !present || value != nil || record["withdrawn"] != "2026-09-01" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestBatch(t *testing.T) { // F§5.2
	s := newSite(t)
	two := "uk/income-tax/basic-rate,uk/income-tax/personal-allowance"
	for _, w := range []*httptest.ResponseRecorder{
		s.get("/f?keys=" + two), s.get("/f/" + two), s.get("/facts/" + strings.ReplaceAll(two, ",", "%2C")),
		s.ask("POST", "/f", `{"keys":["uk/income-tax/basic-rate","uk/income-tax/personal-allowance"]}`, "Content-Type", "application/json; charset=UTF-8"),
		s.ask("POST", "/facts/", `{"keys":["uk/income-tax/basic-rate","uk/income-tax/personal-allowance"]}`, "Content-Type", "application/json"),
	} {
		body := servedObject(t, w)
		results, _ := body["results"].([]any)
		if w.Code != 200 || len(results) != 2 || results[0].(map[string]any)["key"] != "uk/income-tax/basic-rate" {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if w.Header().Get("Etag") != "" || w.Header().Get("X-Facts-Status") != body["status"] {
			t.Errorf("%v", w.Header())
		}
	}
	if cache := s.get("/f?keys=" + two).Header().Get("Cache-Control"); !strings.HasPrefix(cache, "public") {
		t.Errorf("whole batch: %q", cache)
	}
	if cache := s.get("/f?keys=" + two + ",uk/no/thing").Header().Get("Cache-Control"); cache != "no-store" {
		t.Errorf("batch with a miss: %q", cache)
	}
	if w := s.ask("POST", "/f", `{"keys":["uk/income-tax/basic-rate"]}`, "Content-Type", "application/json"); w.Header().Get("Cache-Control") != "no-store" {
		t.Error("POST is stored")
	}
	if w := s.get("/f?keys=uk/income-tax/basic-rate"); servedObject(t, w)["count"] != 1.0 {
		t.Error("keys= with one key is a batch")
	}
	if lines := strings.Count(s.get("/f?format=txt&keys="+two).Body.String(), "\n"); lines != 2 {
		t.Errorf("%d text lines", lines)
	}
}

// While snapshots are swapped, every answer is wholly of one of them, documents included.
func TestSwapIsWhole(t *testing.T) {
	s := newSite(t)
	other := servedDataset(t)
	other.Facts[2].Values[0].Value, other.Facts[2].Values[0].Verified = "21", servedDay(t, "2026-11-01")
	both := [2]*facts.Snapshot{s.current, servedSnapshot(t, other)}
	var turn atomic.Int64
	s.handler = factshttp.Handler(factshttp.HandlerOptions{Snapshot: func() *facts.Snapshot { return both[turn.Add(1)%2] }, Clock: s.clock.now})
	modified := map[string]string{"20": "Sun, 04 Oct 2026 00:00:00 GMT", "21": "Sun, 01 Nov 2026 00:00:00 GMT"}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 200 {
				w := s.get("/f/uk/income-tax/basic-rate")
				value, _, _ := strings.Cut(strings.SplitAfter(w.Body.String(), `"value":`)[1], ",")
				if w.Header().Get("Last-Modified") != modified[value] {
					t.Errorf("value %s under %s", value, w.Header().Get("Last-Modified"))
				}
				index := s.get("/f")
				sum := sha256.Sum256(index.Body.Bytes())
				if want := `"` + hex.EncodeToString(sum[:16]) + `"`; index.Header().Get("Etag") != want {
					t.Errorf("index under a foreign tag")
				}
			}
		})
	}
	group.Wait()
}
