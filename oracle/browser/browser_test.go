package browser

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sayso/facts"
	"sayso/facts/dataset"
	"sayso/facts/factshttp"
	"sayso/facts/factstest"
	"sayso/internal/web"
	"sayso/oracle/tools"
)

var today = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// serve runs the sample dataset, signed under the address it is served from; tamper may change a body on its way out.
func serve(t *testing.T, tamper func(path string, body string) string) string {
	t.Helper()
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if tamper == nil {
			handler.ServeHTTP(w, r)
			return
		}
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, r)
		for name, values := range rec.Header() {
			if name != "Content-Length" {
				w.Header()[name] = values
			}
		}
		w.WriteHeader(rec.Code)
		w.Write([]byte(tamper(r.URL.RequestURI(), rec.Body.String())))
	}))
	t.Cleanup(server.Close)
	ds := factstest.Sample()
	ds.Publisher.URL = server.URL + "/"
	var err error
	if ds.Changes, err = facts.AppendEntries(nil, []facts.Entry{
		{Area: "policy-rates", Key: "bank-rate", FactKey: "uk/bank-rate", Label: "Bank Rate", From: facts.Null, To: "4", Unit: "%",
			EffectiveFrom: factstest.Day("2025-08-07"), Source: "https://www.bankofengland.co.uk/", VerifiedDate: factstest.Day("2025-11-30")},
		{Area: "policy-rates", Key: "bank-rate", FactKey: "uk/bank-rate", Label: "Bank Rate", From: "4", To: "3.75", Unit: "%",
			EffectiveFrom: factstest.Day("2025-12-18"), Source: "https://www.bankofengland.co.uk/", VerifiedDate: factstest.Day("2026-10-20")},
	}); err != nil {
		t.Fatal(err)
	}
	factstest.Sign(ds)
	s, err := facts.NewSnapshot(ds, facts.Options{Origin: server.URL, Conformance: "L3"})
	if err != nil {
		t.Fatal(err)
	}
	handler = factshttp.Handler(factshttp.HandlerOptions{
		Snapshot: func() *facts.Snapshot { return s }, Clock: func() time.Time { return today }, Pages: web.Pages(),
	})
	return server.URL
}

// tab opens a browser tab and collects the addresses it asks for.
func tab(t *testing.T) (ctx context.Context, asked func() []string) {
	t.Helper()
	chromium := tools.Chromium(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true))...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex // guards urls
	var urls []string
	err := chromedp.Listen(ctx, func(ev any) {
		if e, ok := ev.(*network.EventRequestWillBeSent); ok {
			mu.Lock()
			defer mu.Unlock()
			urls = append(urls, e.Request.URL)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return ctx, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), urls...)
	}
}

func do(t *testing.T, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

func evaluate[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", strings.SplitN(expression, "\n", 2)[0], err)
	}
	return v
}

var pages = []string{
	"/f", "/f?namespace=uk", "/f/uk/bank-rate", "/f/uk/income-tax/personal-allowance?max_age=30d", "/f/zz-smp/withdrawn/undated",
	"/f/zz-smp/version/18.19", "/f/zz-smp/ended/figure", "/f/uk/nothing-here", "/f/resolve?q=base+rate&format=html", "/f/uk/bank-rate,uk/passport/fee",
	"/changes", "/protocol/facts", "/f/uk/bank-rate?asof=2026",
}

type violation struct {
	ID, Impact, Help string
	Nodes            []struct{ HTML string }
}

func TestPagesAreAccessible(t *testing.T) {
	axe, err := os.ReadFile(filepath.Join(tools.Package(t, "axe-core"), "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	origin := serve(t, nil)
	ctx, asked := tab(t)
	for _, scheme := range []string{"light", "dark"} {
		if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}); err != nil {
			t.Fatal(err)
		}
		for _, width := range []int64{320, 1000} {
			do(t, ctx, chromedp.EmulateViewport(width, 900))
			for _, path := range pages {
				do(t, ctx, chromedp.Navigate(origin+path))
				if overflow := evaluate[int](t, ctx, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); overflow > 0 {
					t.Errorf("%s at %d px is %d px too wide", path, width, overflow)
				}
				evaluate[bool](t, ctx, string(axe)+"; true")
				found := evaluate[[]violation](t, ctx, `axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'best-practice']}).then(r => r.violations)`)
				for _, v := range found {
					t.Errorf("%s (%s, %d px): %s, %s: %s: %s", path, scheme, width, v.ID, v.Impact, v.Help, v.Nodes[0].HTML)
				}
			}
		}
	}
	for _, url := range asked() {
		if !strings.HasPrefix(url, origin+"/") {
			t.Errorf("a page asked for %s", url)
		}
	}
}

// steps clicks the verify button and returns what it shows.
func steps(t *testing.T, ctx context.Context, url string) (ok, bad []string) {
	t.Helper()
	do(t, ctx, chromedp.Navigate(url), chromedp.WaitVisible(".verify button"), chromedp.Click(".verify button"))
	evaluate[bool](t, ctx, `new Promise(done => { const b = document.querySelector(".verify button"); (function look() { b.disabled ? setTimeout(look, 20) : done(true) })() })`)
	return evaluate[[]string](t, ctx, `[...document.querySelectorAll(".steps .ok")].map(e => e.textContent)`),
		evaluate[[]string](t, ctx, `[...document.querySelectorAll(".steps .bad")].map(e => e.textContent)`)
}

func TestVerifyInTheBrowser(t *testing.T) {
	origin := serve(t, nil)
	ctx, _ := tab(t)
	for _, key := range []string{"uk/income-tax/personal-allowance", "uk/bank-rate", "uk/passport/fee", "zz-smp/withdrawn/dated", "zz-smp/version/18.19"} {
		ok, bad := steps(t, ctx, origin+"/f/"+key)
		if len(bad) > 0 || len(ok) != 6 {
			t.Errorf("%s: ok %q, bad %q", key, ok, bad)
		}
	}
}

func TestVerifyInTheBrowserRefuses(t *testing.T) {
	swap := func(from, to string) func(string, string) string {
		return func(path, body string) string {
			if strings.HasPrefix(path, "/f/uk/bank-rate") && strings.HasPrefix(body, "{") {
				return strings.Replace(body, from, to, 1)
			}
			return body
		}
	}
	for _, c := range []struct {
		name   string
		tamper func(string, string) string
		want   string
	}{
		{"value", swap(`"value":3.75`, `"value":3.5`), "hash invalid"},
		{"verifiedDate", swap(`"verifiedDate":"2026-10-20"`, `"verifiedDate":"2026-10-21"`), "signature invalid"},
		{"effectiveTo", swap(`"effectiveTo":null`, `"effectiveTo":"2026-12-31"`), "signature invalid"},
		{"foreign key set", swap(`/.well-known/jwks.json"`, `/elsewhere.json"`), "the record names the publisher's own key set"},
		{"revoked key", func(path, body string) string {
			if path == "/.well-known/jwks.json" {
				return strings.Replace(body, `"retired":null`, `"retired":null,"revoked":"2026-01-01"`, 1)
			}
			return body
		}, "was revoked"},
	} {
		t.Run(c.name, func(t *testing.T) {
			origin := serve(t, c.tamper)
			ctx, _ := tab(t)
			_, bad := steps(t, ctx, origin+"/f/uk/bank-rate")
			if len(bad) != 1 || !strings.Contains(bad[0], c.want) {
				t.Errorf("refused with %q, want one step saying %q", bad, c.want)
			}
		})
	}
}

func TestSearchAsYouType(t *testing.T) {
	origin := serve(t, nil)
	ctx, _ := tab(t)
	do(t, ctx, chromedp.Navigate(origin+"/f"), chromedp.Focus("#q"), chromedp.SendKeys("#q", "base rate"), chromedp.WaitVisible(".suggestions a"))
	if got := evaluate[string](t, ctx, `document.querySelector(".suggestions a").pathname`); got != "/f/uk/bank-rate" {
		t.Errorf("the first suggestion leads to %s", got)
	}
	// The keyboard alone reaches it: past the button, then Enter.
	do(t, ctx, chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".figure"))
	if got := evaluate[string](t, ctx, `location.pathname`); got != "/f/uk/bank-rate" {
		t.Errorf("the keyboard led to %s", got)
	}
}

func TestWithoutScripts(t *testing.T) {
	origin := serve(t, nil)
	ctx, asked := tab(t)
	if _, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	do(t, ctx, chromedp.Navigate(origin+"/f"), chromedp.SendKeys("#q", "base rate"), chromedp.Submit("#q"), chromedp.WaitVisible(".best"))
	text, err := chromedp.Run(ctx, chromedp.Text("main"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "3.75") {
		t.Errorf("without scripts the search shows %q", text)
	}
	do(t, ctx, chromedp.Navigate(origin+"/f/uk/bank-rate"), chromedp.WaitVisible(".figure"))
	if shown := evaluate[bool](t, ctx, `document.querySelector(".verify").checkVisibility()`); shown {
		t.Error("a button that does nothing without scripts is shown")
	}
	for _, url := range asked() {
		if !strings.HasPrefix(url, origin+"/") {
			t.Errorf("a page asked for %s", url)
		}
	}
}

// T18: the same civil date everywhere on earth.
func TestT18DatesDoNotMove(t *testing.T) {
	origin := serve(t, nil)
	ctx, _ := tab(t)
	for _, zone := range []string{"America/Los_Angeles", "Pacific/Auckland"} {
		if _, err := chromedp.Call(ctx, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: zone}); err != nil {
			t.Fatal(err)
		}
		do(t, ctx, chromedp.Navigate(origin+"/f/uk/income-tax/personal-allowance"))
		text := evaluate[string](t, ctx, `document.querySelector("article").innerText`)
		for _, want := range []string{"2026-04-06", "2027-04-05", "2026-10-04"} {
			if !strings.Contains(text, want) {
				t.Errorf("in %s the page does not show %s", zone, want)
			}
		}
		if got := evaluate[string](t, ctx, `JSON.parse(document.querySelector('script[type="application/ld+json"]').textContent).datePublished`); got != "2026-10-04" {
			t.Errorf("in %s the JSON-LD says %s", zone, got)
		}
	}
}

// A static site verifies in the browser and searches without a server behind it.
func TestStaticSite(t *testing.T) {
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	folder, loaded := dataset.Load(os.DirFS(filepath.Join(tools.Root(), "facts", "dataset", "testdata", "sample")))
	if loaded.Failed() {
		t.Fatal(loaded.Findings)
	}
	out := filepath.Join(t.TempDir(), "site")
	built, err := dataset.Build(t.Context(), folder, dataset.BuildOptions{
		Origin: server.URL, Out: out, Today: facts.DateOf(today), AsOf: facts.DateOf(today), Pages: web.Pages()})
	if err != nil {
		t.Fatal(err)
	}
	if built.Level != "L3" {
		t.Fatalf("the sample builds as %s", built.Level)
	}
	handler = http.FileServer(http.Dir(out))
	ctx, asked := tab(t)
	do(t, ctx, chromedp.Navigate(server.URL+"/"), chromedp.WaitVisible("#q"), chromedp.SendKeys("#q", "personal allowance"), chromedp.WaitVisible(".suggestions a"))
	page := evaluate[string](t, ctx, `document.querySelector(".suggestions a").href`)
	ok, bad := steps(t, ctx, page)
	if len(bad) > 0 || len(ok) != 6 {
		t.Errorf("%s: ok %q, bad %q", page, ok, bad)
	}
	for _, url := range asked() {
		if !strings.HasPrefix(url, server.URL+"/") {
			t.Errorf("a page asked for %s", url)
		}
	}
}
