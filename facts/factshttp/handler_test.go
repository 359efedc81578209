package factshttp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"sayso/facts"
	"sayso/facts/factshttp"
)

const testOrigin = "https://figures.example"

func servedDay(t testing.TB, text string) facts.Date {
	t.Helper()
	d, err := facts.ParseDate(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// servedDataset is a small publisher: two periods of an allowance, a rate with a hyphenated name, a withdrawn fee, a dotted key, and a changelog of two entries.
func servedDataset(t testing.TB) *facts.Dataset {
	t.Helper()
	ds := &facts.Dataset{
		Publisher: facts.Publisher{Name: "Example Figures", URL: testOrigin + "/"},
		KidPrefix: "ex", Licence: "Free to reuse", Contact: testOrigin + "/contact",
		Examples: []string{"uk/income-tax/personal-allowance"},
		Namespaces: []facts.Namespace{
			{Name: "eol", Description: "Software support", Calendar: facts.CalendarNone, Authorities: []string{"ubuntu.example"}},
			{Name: "uk", Description: "UK thresholds", Calendar: facts.CalendarUKTaxYear, Authorities: []string{"www.gov.uk"}},
		},
		Areas: []facts.Area{
			{Name: "uk-rates", Namespace: "uk", Description: "Rates", Cadence: "Every 6 April", CadenceType: "scheduled", EveryDays: 45, GraceDays: 7},
		},
		Topics: []facts.Topic{{Prefix: "uk/income-tax", Title: "Income Tax", Area: "uk-rates", Synonyms: map[string]string{"pa": "personal-allowance"}}},
		Facts: []facts.Fact{
			{Key: "eol/ubuntu/18.19", Label: "Ubuntu 18.19 end of support", Topic: -1, Values: []facts.DatedValue{
				{Value: `"2023-05-31"`, Unit: "date", From: servedDay(t, "2018-04-26"), Source: "https://ubuntu.example/releases", Verified: servedDay(t, "2026-10-01")}}},
			{Key: "uk/gov/fee", Label: "Old fee", Topic: -1, Values: []facts.DatedValue{
				{Value: facts.Null, Unit: "GBP", Source: "https://www.gov.uk/fee", Verified: servedDay(t, "2026-09-01"), Withdrawn: servedDay(t, "2026-09-01"), SupersededBy: "uk/income-tax/personal-allowance"}}},
			{Key: "uk/income-tax/basic-rate", Label: "Basic rate <b>&", Topic: 0, Values: []facts.DatedValue{
				{Value: "20", Unit: "%", From: servedDay(t, "2008-04-06"), Source: "https://www.gov.uk/income-tax-rates", Verified: servedDay(t, "2026-10-04")}}},
			{Key: "uk/income-tax/personal-allowance", Label: "Personal Allowance", Topic: 0, Aliases: []string{"uk/personal-allowance"}, Values: []facts.DatedValue{
				{Value: "12570", Unit: "GBP/year", Period: "2026-27", From: servedDay(t, "2026-04-06"), To: servedDay(t, "2027-04-05"), ToExplicit: true, Source: "https://www.gov.uk/income-tax-rates", Verified: servedDay(t, "2026-10-04")},
				{Value: "12500", Unit: "GBP/year", Period: "2025-26", From: servedDay(t, "2025-04-06"), To: servedDay(t, "2026-04-05"), Source: "https://www.gov.uk/income-tax-rates", Verified: servedDay(t, "2026-03-02")}}},
		},
	}
	entries := []facts.Entry{
		{Area: "uk-rates", Key: "income-tax/personal-allowance", FactKey: "uk/income-tax/personal-allowance", Label: "Personal Allowance", From: facts.Null, To: "12500",
			Unit: "GBP/year", Period: "2025-26", EffectiveFrom: servedDay(t, "2025-04-06"), Source: "https://www.gov.uk/income-tax-rates", VerifiedDate: servedDay(t, "2026-03-02")},
		{Area: "uk-rates", Key: "income-tax/personal-allowance", FactKey: "uk/income-tax/personal-allowance", Label: "Personal Allowance", From: "12500", To: "12570",
			Unit: "GBP/year", Period: "2026-27", EffectiveFrom: servedDay(t, "2026-04-06"), Source: "https://www.gov.uk/income-tax-rates", VerifiedDate: servedDay(t, "2026-10-04")},
	}
	for i := range entries {
		entries[i].Hash = entries[i].ClaimHash()
	}
	var err error
	if ds.Changes, err = facts.AppendEntries(nil, entries); err != nil {
		t.Fatal(err)
	}
	return ds
}

func servedSnapshot(t testing.TB, ds *facts.Dataset) *facts.Snapshot {
	t.Helper()
	s, err := facts.NewSnapshot(ds, facts.Options{Origin: testOrigin, Conformance: "L2"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// servedClock is a settable instant.
type servedClock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *servedClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *servedClock) set(t *testing.T, text string) {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = at
}

// servedPages writes recognisable HTML for every form.
func servedPages() *facts.Pages {
	say := func(w io.Writer, format string, args ...any) error {
		_, err := fmt.Fprintf(w, format, args...)
		return err
	}
	return &facts.Pages{
		Fact: func(w io.Writer, _ *facts.Snapshot, a *facts.Answer, today facts.Date) error {
			return say(w, "<h1>fact %s on %s</h1>", a.Key, today)
		},
		Batch: func(w io.Writer, _ *facts.Snapshot, b *facts.Batch, _ facts.Date) error {
			return say(w, "<h1>batch %d</h1>", len(b.Answers))
		},
		Index: func(w io.Writer, _ *facts.Snapshot, ns string, _ facts.Date) error {
			return say(w, "<h1>index %q</h1>", ns)
		},
		Changes: func(w io.Writer, _ *facts.Snapshot, _ facts.Date) error { return say(w, "<h1>changes</h1>") },
		Resolve: func(w io.Writer, _ *facts.Snapshot, r *facts.Resolution, _ facts.Date) error {
			return say(w, "<h1>resolve %d</h1>", len(r.Candidates))
		},
		Miss: func(w io.Writer, _ *facts.Snapshot, a *facts.Answer, _ facts.Date) error {
			return say(w, "<h1>miss %s</h1>", a.RequestedKey)
		},
		Problem: func(w io.Writer, _ *facts.Snapshot, status int, title, _ string) error {
			return say(w, "<h1>problem %d %s</h1>", status, title)
		},
		Protocol: func(w io.Writer, _ *facts.Snapshot, _ facts.Date) error { return say(w, "<h1>protocol</h1>") },
		Assets:   map[string][]byte{"style.css": []byte("body{}")},
		CSP:      "default-src 'self'",
	}
}

type site struct {
	handler http.Handler
	clock   *servedClock
	current *facts.Snapshot
	faults  []error
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{clock: &servedClock{}, current: servedSnapshot(t, servedDataset(t))}
	s.clock.set(t, "2026-11-29T12:00:00Z")
	s.handler = factshttp.Handler(factshttp.HandlerOptions{
		Snapshot: func() *facts.Snapshot { return s.current }, Clock: s.clock.now, Pages: servedPages(), ServerCardVersion: "1.0.0",
		MCP:    http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "mcp "+r.Method) }),
		Report: func(_ *http.Request, cause error) { s.faults = append(s.faults, cause) },
	})
	return s
}

// ask sends one request; headers alternate name and value.
func (s *site) ask(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

func (s *site) get(target string, headers ...string) *httptest.ResponseRecorder {
	return s.ask(http.MethodGet, target, "", headers...)
}

func servedObject(t *testing.T, w *httptest.ResponseRecorder) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil {
		t.Fatalf("not a JSON object: %v\n%s", err, w.Body)
	}
	return m
}

const allowance = "/f/uk/income-tax/personal-allowance"

// T11: spellings of one address answer without a redirect.
// F§4.6 rule 2 and its tests: a record is 200 with today's body whatever tag comes back.
// F§4.6 rule 4: no shared cache may show yesterday's status, at any second of a day.
// F§2.1: a single segment is reserved, so it is a miss with candidates even where a longer path would resolve by itself.
// Documents without day-dependent members carry a tag over their bytes and answer 304; those with them do so too, for the day (F§4.6 rule 5).
// Without pages every route still answers; only HTML itself is refused by name.
// Every answer of the surface, for every method, is CORS-open and sniff-proof; a route added to Routes is covered by itself.
