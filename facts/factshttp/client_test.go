package factshttp_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sayso/facts"
	"sayso/facts/factshttp"
	"sayso/jwk"
	"sayso/report"
	"sayso/safefetch"
)

func TestClientGetVerifies(t *testing.T) {
	for _, static := range []bool{false, true} {
		p := newPublisher(t, static)
		got, err := p.client(factshttp.Pin{}).Get(t.Context(), "uk/bank-rate", plain)
		if err != nil {
			t.Fatal(err)
		}
		if !got.OK() || got.Record.Value != "4.25" || got.Verification.Signature.Value != "valid" || got.Verification.KeyAcceptable.Value != "yes" || len(got.Findings) != 0 {
			t.Errorf("static %v: %+v", static, got.Verification)
		}
		if got.Status != "fresh" || got.AgeDays != 5 || got.MaxAgeDays != facts.NoMaxAge {
			t.Errorf("static %v: %s %d %d", static, got.Status, got.AgeDays, got.MaxAgeDays)
		}
	}
}

// F§4.6 item 7: the record says fresh, the reader computes.
func TestClientRecomputesStatus(t *testing.T) {
	p := newPublisher(t, false)
	got, err := p.client(factshttp.Pin{}).Get(t.Context(), "uk/bank-rate", facts.Selection{MaxAge: 4})
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != "stale" || got.Verification.ClaimCurrent.Value != "stale" || got.OK() {
		t.Errorf("%s %+v", got.Status, got.Verification)
	}
	if p.times("/f/uk/bank-rate?max_age=4d") != 1 {
		t.Errorf("asked %v", p.asked)
	}
	p.facts[0]["nextScheduledRefresh"] = "2026-06-07"
	if got, _ = p.client(factshttp.Pin{}).Get(t.Context(), "uk/bank-rate", plain); got.Status != "stale" {
		t.Errorf("eight days overdue: %s", got.Status)
	}
	p.facts[0]["nextScheduledRefresh"] = "2026-06-08"
	if got, _ = p.client(factshttp.Pin{}).Get(t.Context(), "uk/bank-rate", plain); got.Status != "fresh" {
		t.Errorf("seven days due: %s", got.Status)
	}
}

func TestClientRefusesAnotherKey(t *testing.T) {
	p := newPublisher(t, false)
	other := p.record(p.facts[1])
	serve := func(r object) {
		p.replace("/f/uk/bank-rate", 200, string(encode(r)))
	}
	serve(other)
	var wrong *factshttp.AnswerError
	if _, err := p.client(factshttp.Pin{}).Get(t.Context(), "uk/bank-rate", plain); !errors.As(err, &wrong) {
		t.Errorf("another key: %v", err)
	}
	other["requestedKey"] = "uk/something-else"
	serve(other)
	if _, err := p.client(factshttp.Pin{}).Get(t.Context(), "uk/bank-rate", plain); !errors.As(err, &wrong) {
		t.Errorf("another requestedKey: %v", err)
	}
	other["requestedKey"] = "UK/Bank Rate"
	serve(other)
	if got, err := p.client(factshttp.Pin{}).Get(t.Context(), "uk/bank-rate", plain); err != nil || !got.OK() {
		t.Errorf("with requestedKey: %v", err)
	}
	serve(p.record(p.facts[0]))
	if _, err := p.client(factshttp.Pin{}).Get(t.Context(), "uk/bank-rate", facts.Selection{MaxAge: facts.NoMaxAge, Period: "2024-25"}); !errors.As(err, &wrong) {
		t.Errorf("another period: %v", err)
	}
}

func TestClientTampering(t *testing.T) {
	p := newPublisher(t, false)
	for member, value := range map[string]any{"value": 5, "unit": "GBP", "period": "2026", "effectiveFrom": "2026-01-01", "source": "https://www.gov.uk/x",
		"effectiveTo": "2030-01-01", "verifiedDate": "2026-06-11", "label": "Base rate", "quote": "q"} {
		r := p.record(p.facts[0])
		r[member] = value
		p.replace("/f/uk/bank-rate", 200, string(encode(r)))
		got, err := p.client(factshttp.Pin{}).Get(t.Context(), "uk/bank-rate", plain)
		if err != nil {
			t.Fatal(err)
		}
		claimed := slices.Contains([]string{"value", "unit", "period", "effectiveFrom", "source"}, member)
		attested := claimed || member == "effectiveTo" || member == "verifiedDate"
		if (got.Verification.Hash.Value == "valid") == claimed || (got.Verification.Signature.Value == "valid") == attested {
			t.Errorf("%s: %+v", member, got.Verification)
		}
	}
}

func TestClientMisses(t *testing.T) {
	p := newPublisher(t, false)
	c := p.client(factshttp.Pin{})
	got, err := c.Get(t.Context(), "uk/No Such Rate", plain)
	if err != nil || got.Outcome != facts.OutcomeUnknown || len(got.Candidates) != 1 || got.Candidates[0].Score != 466 {
		t.Fatalf("%v %+v", err, got)
	}
	p.replace("/f/uk/bank-rate", 200, `{"protocol":"verified-facts/0.2","key":"uk/bank-rate","label":"Bank Rate","covered":false,"reason":"period not held","requested":{"period":"2019"},
		"periodsHeld":[{"period":null,"effectiveFrom":"2026-05-08","effectiveTo":null}],"publisher":{"name":"Test","url":"x"}}`)
	got, err = c.Get(t.Context(), "uk/bank-rate", facts.Selection{MaxAge: facts.NoMaxAge, Period: "2019"})
	if err != nil || got.Outcome != facts.OutcomeNotHeld || got.Reason != "period not held" || len(got.Held) != 1 || got.Held[0].From != onDay("2026-05-08") || got.OK() {
		t.Errorf("%v %+v", err, got)
	}
	for _, key := range []string{"", "  ", "a/b,c/d", "resolve", "/Index.json"} {
		var bad *facts.ParameterError
		if _, err := c.Get(t.Context(), key, plain); !errors.As(err, &bad) {
			t.Errorf("%q: %v", key, err)
		}
	}
}

func TestClientErrors(t *testing.T) {
	p := newPublisher(t, false)
	c := p.client(factshttp.Pin{})
	p.replace("/f/uk/bank-rate", 400, `{"error":"invalid parameter","parameter":"as_of","message":"as_of \u001b[31mred"}`)
	var bad *facts.ParameterError
	if _, err := c.Get(t.Context(), "uk/bank-rate", plain); !errors.As(err, &bad) || bad.Parameter != "as_of" || strings.Contains(bad.Message, "\x1b") {
		t.Errorf("400: %v", err)
	}
	p.override["/f/uk/bank-rate"] = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(429)
	}
	var status *factshttp.StatusError
	if _, err := c.Get(t.Context(), "uk/bank-rate", plain); !errors.As(err, &status) || status.RetryAfter != 7*time.Second {
		t.Errorf("429: %v", err)
	}
	for what, body := range map[string]string{"html": "<html>", "empty": "", "no record": "{}", "duplicate": `{"covered":false,"covered":false}`, "deep": strings.Repeat("[", 100)} {
		p.replace("/f/uk/bank-rate", 200, body)
		var wrong *factshttp.AnswerError
		if _, err := c.Get(t.Context(), "uk/bank-rate", plain); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, contentType := range []string{"text/html", "text/plain", "application/jsonp", ""} {
		p.override["/f/uk/bank-rate"] = func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{contentType}
			w.Write(encode(p.record(p.facts[0])))
		}
		var wrong *factshttp.AnswerError
		if _, err := c.Get(t.Context(), "uk/bank-rate", plain); !errors.As(err, &wrong) {
			t.Errorf("content type %q: %v", contentType, err)
		}
	}
	p.replace("/f/uk/bank-rate", 404, "<html>not here</html>")
	if _, err := c.Get(t.Context(), "uk/bank-rate", plain); !errors.As(err, &status) || status.Status != 404 {
		t.Errorf("a 404 that is no miss: %v", err)
	}
}

func TestClientDiscovery(t *testing.T) {
	for name, change := range map[string]func(object){
		"major 1":       func(d object) { d["protocol"] = "verified-facts/1.0" },
		"no version":    func(d object) { d["protocol"] = "verified-facts/0." },
		"no publisher":  func(d object) { d["publisher"] = object{"name": "x"} },
		"no template":   func(d object) { d["facts"].(object)["get"] = "https://example.com/f" },
		"no index":      func(d object) { delete(d["facts"].(object), "index") },
		"odd filtering": func(d object) { d["facts"].(object)["filtering"] = "both" },
	} {
		p := newPublisher(t, false)
		d := p.discovery()
		change(d)
		p.replace("/.well-known/facts.json", 200, string(encode(d)))
		var wrong *factshttp.AnswerError
		if _, err := p.client(factshttp.Pin{}).Discovery(t.Context()); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p := newPublisher(t, false)
	now := noon
	c := factshttp.NewClient(p.origin+"/", factshttp.ClientOptions{Fetch: p.fetcher(), Clock: func() time.Time { return now }})
	for _, step := range []struct {
		after time.Duration
		want  int
	}{{0, 1}, {59 * time.Minute, 1}, {time.Minute, 2}} {
		now = now.Add(step.after)
		if _, err := c.Discovery(t.Context()); err != nil || p.times("/.well-known/facts.json") != step.want {
			t.Errorf("after %v: %v, %d requests", step.after, err, p.times("/.well-known/facts.json"))
		}
	}
}

func TestClientKeys(t *testing.T) {
	p := newPublisher(t, false)
	now := noon
	c := factshttp.NewClient(p.origin, factshttp.ClientOptions{Fetch: p.fetcher(), Clock: func() time.Time { return now }})
	get := func() facts.Verification {
		t.Helper()
		r, err := c.Get(t.Context(), "uk/bank-rate", plain)
		if err != nil {
			t.Fatal(err)
		}
		return r.Verification
	}
	const jwks = "/.well-known/jwks.json"
	get()
	now = now.Add(23 * time.Hour)
	get()
	if p.times(jwks) != 1 {
		t.Errorf("%d fetches of the key set within a day", p.times(jwks))
	}
	now = now.Add(time.Hour)
	get()
	if p.times(jwks) != 2 {
		t.Errorf("%d fetches after a day", p.times(jwks))
	}
	// A new key signs: the set is looked at once more and found.
	p.key, p.kid = keyOf(2), "test-2026-06"
	p.set = append(p.set, jwkOf(p.key, p.kid))
	if v := get(); v.Signature.Value != "valid" || p.times(jwks) != 3 {
		t.Errorf("new key: %+v, %d fetches", v, p.times(jwks))
	}
	// Invented kids do not make the client fetch on and on.
	for _, p.kid = range []string{"x-2026-01", "x-2026-02", "x-2026-03"} {
		if v := get(); v.KeyAcceptable.Value != "no" || !strings.Contains(v.KeyAcceptable.Reason, "unknown key") || v.Signature.Value != "not_tested" {
			t.Errorf("%s: %+v", p.kid, v)
		}
	}
	if p.times(jwks) != 3 {
		t.Errorf("invented kids: %d fetches", p.times(jwks))
	}
}

func TestClientKeysThatCannotBeUsed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(p *publisher, d object)
		key    string
	}{
		"another URL":   {func(p *publisher, d object) { d["keys"] = p.origin + "/other.json" }, "no"},
		"no set named":  {func(p *publisher, d object) { delete(d, "keys") }, "no"},
		"set missing":   {func(p *publisher, d object) { p.replace("/.well-known/jwks.json", 503, "") }, "not_tested"},
		"set broken":    {func(p *publisher, d object) { p.replace("/.well-known/jwks.json", 200, `{"keys":`) }, "no"},
		"duplicate kid": {func(p *publisher, d object) { p.set = append(p.set, jwkOf(keyOf(3), p.kid)) }, "no"},
		"private key":   {func(p *publisher, d object) { p.set[0]["d"] = "AA" }, "no"},
		"revoked":       {func(p *publisher, d object) { p.set[0]["revoked"] = "2026-06-09" }, "no"},
		"revoked later": {func(p *publisher, d object) { p.set[0]["revoked"] = "2026-06-10" }, "yes"},
		"retired":       {func(p *publisher, d object) { p.set[0]["retired"] = "2026-06-09" }, "yes"},
		"foreign URL": {func(p *publisher, d object) {
			p.url = "https://127.0.0.1/"
			d["publisher"] = object{"name": "x", "url": p.url}
		}, "not_tested"},
		"no URL": {func(p *publisher, d object) { p.url = "example"; d["publisher"] = object{"name": "x", "url": p.url} }, "no"},
	} {
		p := newPublisher(t, false)
		d := p.discovery()
		c.change(p, d)
		p.replace("/.well-known/facts.json", 200, string(encode(d)))
		got, err := p.client(factshttp.Pin{}).Get(t.Context(), "uk/bank-rate", plain)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if v := got.Verification; v.KeyAcceptable.Value != c.key || (c.key != "yes" && got.OK()) || v.Hash.Value != "valid" {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// A record that names another publisher than the origin it came from is reported, and its keys are looked for at its publisher.
func TestClientRelayedRecord(t *testing.T) {
	home, relay := newPublisher(t, false), newPublisher(t, false)
	relay.replace("/f/uk/bank-rate", 200, string(encode(home.record(home.facts[0]))))
	fetch := safefetch.New(safefetch.Policy{Loopback: []string{safefetch.LoopbackOf(home.origin), safefetch.LoopbackOf(relay.origin)}})
	c := factshttp.NewClient(relay.origin, factshttp.ClientOptions{Fetch: fetch, Clock: func() time.Time { return noon }})
	got, err := c.Get(t.Context(), "uk/bank-rate", plain)
	if err != nil || !got.OK() {
		t.Fatalf("%v %+v", err, got)
	}
	if len(got.Findings) != 1 || got.Findings[0].Rule != factshttp.RulePublisher || got.Findings[0].Outcome != report.Warning {
		t.Errorf("%+v", got.Findings)
	}
}

func TestClientTemplatesS13(t *testing.T) {
	p := newPublisher(t, false)
	c := p.client(factshttp.Pin{})
	for _, key := range []string{"uk/bank-rate", "uk-rates:bank-rate", "what is the bank rate?", "50% off/é"} {
		if _, err := c.Get(t.Context(), key, facts.Selection{MaxAge: 30, AsOf: onDay("2026-06-01")}); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	if _, err := c.Resolve(t.Context(), "a&b=c/d e", "uk", 3); err != nil {
		t.Error(err)
	}
	if _, err := c.Batch(t.Context(), []string{"uk/bank-rate", "no/such&key"}, plain); err != nil {
		t.Error(err)
	}
	for _, want := range []string{
		"/f/uk/bank-rate?max_age=30d&as_of=2026-06-01", "/f/uk-rates:bank-rate?", "/f/what%20is%20the%20bank%20rate%3F?", "/f/50%25%20off/%C3%A9?",
		"/f/resolve?q=a%26b%3Dc%2Fd%20e&namespace=uk&limit=3", "/f?keys=uk/bank-rate,no/such%26key",
	} {
		if p.times(want) != 1 {
			t.Errorf("%s was not asked; asked %v", want, p.asked)
		}
	}
}

func TestClientStaticSelections(t *testing.T) {
	p := newPublisher(t, true)
	c := p.client(factshttp.Pin{})
	for _, s := range []struct {
		key  string
		sel  facts.Selection
		held bool
	}{
		{"uk/income-tax/personal-allowance", facts.Selection{MaxAge: facts.NoMaxAge, AsOf: onDay("2026-04-06")}, true},
		{"uk/income-tax/personal-allowance", facts.Selection{MaxAge: facts.NoMaxAge, AsOf: onDay("2027-04-05")}, true},
		{"uk/income-tax/personal-allowance", facts.Selection{MaxAge: facts.NoMaxAge, AsOf: onDay("2026-04-05")}, false},
		{"uk/income-tax/personal-allowance", facts.Selection{MaxAge: facts.NoMaxAge, AsOf: onDay("2027-04-06")}, false},
		{"uk/income-tax/personal-allowance", facts.Selection{MaxAge: facts.NoMaxAge, Period: "2026/27"}, true},
		{"uk/income-tax/personal-allowance", facts.Selection{MaxAge: facts.NoMaxAge, Period: " 2026\u201327 "}, true},
		{"uk/income-tax/personal-allowance", facts.Selection{MaxAge: facts.NoMaxAge, Period: "2025-26"}, false},
		{"uk/bank-rate", facts.Selection{MaxAge: facts.NoMaxAge, Period: "2026"}, false},
		{"uk/bank-rate", facts.Selection{MaxAge: facts.NoMaxAge, AsOf: onDay("2026-05-07")}, false},
		{"uk/vat/old-rate", plain, true},
		{"uk/vat/old-rate", facts.Selection{MaxAge: facts.NoMaxAge, AsOf: onDay("2026-01-31")}, false},
	} {
		got, err := c.Get(t.Context(), s.key, s.sel)
		if err != nil {
			t.Errorf("%s %+v: %v", s.key, s.sel, err)
			continue
		}
		want := facts.OutcomeNotHeld
		if s.held {
			want = facts.OutcomeRecord
		}
		if got.Outcome != want || (!s.held && (got.Reason != "period not held" || got.Hint == "" || len(got.Held) != 1)) {
			t.Errorf("%s %+v: %+v", s.key, s.sel, got)
		}
	}
	p.facts[1]["effectiveTo"] = "2026-06-14"
	if got, err := c.Get(t.Context(), "uk/income-tax/personal-allowance", plain); err != nil || got.Outcome != facts.OutcomeNotHeld {
		t.Errorf("a value that ended yesterday was served as current: %v %+v", err, got)
	}
}

func TestClientStaticResolves(t *testing.T) {
	p := newPublisher(t, true)
	c := p.client(factshttp.Pin{})
	for asked, want := range map[string]string{
		"UK/Bank_Rate": "uk/bank-rate", "uk/personal-allowance": "uk/income-tax/personal-allowance", "uk/tax free amount": "uk/income-tax/personal-allowance",
	} {
		got, err := c.Get(t.Context(), asked, plain)
		if err != nil || got.Outcome != facts.OutcomeRecord || got.Record.Key != want {
			t.Errorf("%s: %v %+v", asked, err, got)
		}
	}
	got, err := c.Get(t.Context(), "bank rate", plain)
	if err != nil || got.Outcome != facts.OutcomeUnknown || len(got.Candidates) == 0 || got.Candidates[0].Key != "uk/bank-rate" {
		t.Errorf("one segment is a miss with candidates: %v %+v", err, got)
	}
	got, err = c.Get(t.Context(), "uk/speed-limit/motorway", plain)
	if err != nil || got.Outcome != facts.OutcomeUnknown {
		t.Errorf("unknown: %v %+v", err, got)
	}
	r, err := c.Resolve(t.Context(), "bank rate", "", 5)
	if err != nil || r.Best == nil || !r.Best.OK() || r.Candidates[0].Key != "uk/bank-rate" || r.Candidates[0].Verified != onDay("2026-06-10") {
		t.Errorf("resolve: %v %+v", err, r)
	}
	if n := p.times("/f/index.json"); n != 1 {
		t.Errorf("the index was read %d times", n)
	}
	for _, bad := range []func() error{
		func() error { _, err := c.Resolve(t.Context(), " ", "", 5); return err },
		func() error { _, err := c.Resolve(t.Context(), "x", "", 21); return err },
	} {
		var wrong *facts.ParameterError
		if err := bad(); !errors.As(err, &wrong) {
			t.Errorf("%v", err)
		}
	}
}

func TestClientBatchAndIndex(t *testing.T) {
	for _, static := range []bool{false, true} {
		p := newPublisher(t, static)
		c := p.client(factshttp.Pin{})
		keys := []string{"uk/vat/old-rate", "uk/bank-rate", "uk/speed-limit/motorway", "uk/bank-rate"}
		b, err := c.Batch(t.Context(), keys, facts.Selection{MaxAge: 30})
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Results) != 4 || b.Status != "stale" || b.Results[1].Record.Key != keys[1] || b.Results[2].Outcome != facts.OutcomeUnknown || b.Results[3].Record.Key != keys[3] {
			t.Errorf("static %v: %+v", static, b)
		}
		for _, n := range []int{0, 51} {
			var wrong *facts.ParameterError
			if _, err := c.Batch(t.Context(), make([]string, n), plain); !errors.As(err, &wrong) {
				t.Errorf("%d keys: %v", n, err)
			}
		}
		i, err := c.Index(t.Context(), "")
		if err != nil || len(i.Entries) != 3 || i.Entries[0].Hash != digest(canonical(pick(p.record(p.facts[0]), "key", "value", "unit", "period", "effectiveFrom", "source"))) {
			t.Errorf("static %v: %v %+v", static, err, i)
		}
		if i, err = c.Index(t.Context(), "u"); err != nil || len(i.Entries) != 0 {
			t.Errorf("static %v: a namespace is not a prefix: %v", static, i)
		}
	}
}

func TestClientBatchRefusesAnotherOrder(t *testing.T) {
	p := newPublisher(t, false)
	p.override["/f"] = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(encode(object{"count": 2, "results": []any{p.record(p.facts[1]), p.record(p.facts[0])}}))
	}
	var wrong *factshttp.AnswerError
	if _, err := p.client(factshttp.Pin{}).Batch(t.Context(), []string{"uk/bank-rate", "uk/income-tax/personal-allowance"}, plain); !errors.As(err, &wrong) {
		t.Errorf("%v", err)
	}
}

// Whatever the page size, paging over a client-filtered changelog gives every entry after since exactly once, newest first.
func TestClientPagesChanges(t *testing.T) {
	p := newPublisher(t, true)
	days := []string{"2026-01-01", "2026-01-01", "2026-02-01", "2026-02-01", "2026-02-01", "2026-03-01", "2026-04-01"}
	for i, d := range days {
		p.log = append(p.log, entry("uk/a"+string(rune('a'+i)), nil, i, d))
	}
	c := p.client(factshttp.Pin{})
	whole, err := c.Changes(t.Context(), facts.ChangesQuery{})
	if err != nil || len(whole.Entries) != len(days) || whole.ChainHead != whole.Entries[0].Link {
		t.Fatalf("%v %+v", err, whole)
	}
	rapid.Check(t, func(rt *rapid.T) {
		q := facts.ChangesQuery{Given: true, Limit: rapid.IntRange(1, 8).Draw(rt, "limit"), Since: onDay(rapid.SampledFrom(append(days, "2025-12-31", "2026-05-01")).Draw(rt, "since"))}
		var got []string
		for pages := 0; ; pages++ {
			page, err := c.Changes(t.Context(), q)
			if err != nil || pages > len(days) || len(page.Entries) > q.Limit {
				rt.Fatalf("%v, page %d", err, pages)
			}
			for _, e := range page.Entries {
				got = append(got, e.FactKey)
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				break
			}
		}
		var want []string
		for _, e := range whole.Entries {
			if e.VerifiedDate > q.Since {
				want = append(want, e.FactKey)
			}
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("%+v: %v, want %v", q, got, want)
		}
	})
	early, err := c.Changes(t.Context(), facts.ChangesQuery{Given: true, Since: onDay("2020-01-01")})
	if err != nil || early.Note == "" {
		t.Errorf("before the coverage: %v %+v", err, early)
	}
	var wrong *facts.ParameterError
	if _, err := c.Changes(t.Context(), facts.ChangesQuery{Given: true, Cursor: "99"}); !errors.As(err, &wrong) {
		t.Errorf("foreign cursor: %v", err)
	}
}

func TestClientAsksServersToFilter(t *testing.T) {
	p := newPublisher(t, false)
	if _, err := p.client(factshttp.Pin{}).Changes(t.Context(), facts.ChangesQuery{Given: true, Since: onDay("2026-01-01"), Area: "uk", Limit: 7}); err != nil {
		t.Fatal(err)
	}
	if p.times("/changes.json?since=2026-01-01&area=uk&limit=7") != 1 {
		t.Errorf("asked %v", p.asked)
	}
}

func TestClientPins(t *testing.T) {
	p := newPublisher(t, true)
	for _, d := range []string{"2026-01-01", "2026-02-01", "2026-03-01"} {
		p.log = append(p.log, entry("uk/bank-rate", nil, d, d))
	}
	print := jwk.Thumbprint(p.key.Public().(ed25519.PublicKey))
	whole, err := p.client(factshttp.Pin{}).Changes(t.Context(), facts.ChangesQuery{})
	if err != nil {
		t.Fatal(err)
	}
	pin := factshttp.Pin{Keys: []string{print}, ChainHead: whole.Entries[1].Link} // an older head is an ancestor
	outcomes := func(pin factshttp.Pin) (out []report.Outcome) {
		t.Helper()
		found, err := p.client(pin).CheckPin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			out = append(out, f.Outcome)
		}
		return out
	}
	fails := func(got []report.Outcome, n int) bool {
		return len(slices.DeleteFunc(got, func(o report.Outcome) bool { return o != report.Fail })) == n
	}
	if got := outcomes(pin); !slices.Equal(got, []report.Outcome{report.Pass, report.Pass}) {
		t.Errorf("fits: %v", got)
	}
	if got := outcomes(factshttp.Pin{}); len(got) != 0 {
		t.Errorf("nothing pinned: %v", got)
	}
	p.log[0]["label"] = "edited"
	if got := outcomes(pin); !fails(got, 1) {
		t.Errorf("an old label was edited: %v", got)
	}
	delete(p.log[0], "label")
	p.log = p.log[1:]
	if got := outcomes(pin); !fails(got, 1) {
		t.Errorf("the oldest entry was dropped: %v", got)
	}
	doc, err := p.client(pin).Changes(t.Context(), facts.ChangesQuery{})
	if err != nil || len(doc.Findings) != 1 || doc.Findings[0].Rule != factshttp.RulePinnedChain {
		t.Errorf("changes: %v %+v", err, doc.Findings)
	}
	pin.ChainHead = ""
	p.set = append(p.set, jwkOf(keyOf(2), "test-2026-06"))
	if got := outcomes(pin); !fails(got, 1) {
		t.Errorf("a key was added: %v", got)
	}
	r, err := p.client(pin).Get(t.Context(), "uk/bank-rate", plain)
	if err != nil || len(r.Findings) != 1 || r.Findings[0].Rule != factshttp.RulePinnedKeys {
		t.Errorf("get: %v %+v", err, r.Findings)
	}
	p.set = p.set[1:]
	if got := outcomes(pin); !fails(got, 2) {
		t.Errorf("the key was replaced: %v", got)
	}
}

func TestClientVerify(t *testing.T) {
	p, other := newPublisher(t, false), newPublisher(t, false)
	fetch := safefetch.New(safefetch.Policy{Loopback: []string{safefetch.LoopbackOf(p.origin), safefetch.LoopbackOf(other.origin)}})
	o := factshttp.VerifyOptions{Fetch: fetch, Clock: func() time.Time { return noon }, MaxAge: facts.NoMaxAge}
	data := encode(p.record(p.facts[0]))
	got, err := factshttp.Verify(t.Context(), data, o)
	if err != nil || !got.Verification.OK(true) || got.Unavailable || got.AgeDays != 5 {
		t.Fatalf("%v %+v", err, got)
	}
	o.Live, o.Also = true, []string{other.origin, "http://127.0.0.1:1"}
	p.facts[0]["value"], p.facts[0]["effectiveFrom"] = 4, "2026-06-14"
	got, err = factshttp.Verify(t.Context(), data, o)
	if err != nil || got.Verification.ClaimCurrent.Value != "superseded" || !got.Unavailable {
		t.Errorf("%v %+v", err, got)
	}
	var outcomes []report.Outcome
	for _, f := range got.Findings {
		outcomes = append(outcomes, f.Outcome)
	}
	if !slices.Equal(outcomes, []report.Outcome{report.Warning, report.Pass, report.NotTested}) {
		t.Errorf("%+v", got.Findings)
	}
	if _, err := factshttp.Verify(t.Context(), []byte(`{"key":"uk/x"}`), o); !errors.Is(err, factshttp.ErrNotRecord) {
		t.Errorf("no record: %v", err)
	}
	if got, err = factshttp.VerifyURL(t.Context(), p.origin+"/f/uk/income-tax/personal-allowance", o); err != nil || !got.Verification.OK(true) {
		t.Errorf("by URL: %v %+v", err, got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err = factshttp.Verify(ctx, data, o); err != nil || got.Verification.KeyAcceptable.Value != "not_tested" || !got.Unavailable {
		t.Errorf("cancelled: %v %+v", err, got)
	}
}
