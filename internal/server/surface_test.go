package server_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"sayso/business/bizhttp"
	"sayso/internal/app"
	"sayso/internal/app/apptest"
	"sayso/internal/server"
	"sayso/internal/web"
)

// get asks the public listener under a Host.
func get(t *testing.T, base, path, host string, headers ...string) reply {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return exchange(t, &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, r)
}

// One origin serves facts and businesses: each path has one owner, and a business's own host has no facts.
func TestSurfacesShareAnOrigin(t *testing.T) {
	w := apptest.NewWorld(t)
	w.Publisher(t, "shop")
	if _, err := w.Registry.SetHost(t.Context(), apptest.Operator(t, "ops"), "shop", "shop.localhost", ""); err != nil {
		t.Fatal(err)
	}
	facts := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		io.WriteString(w, "facts")
	})
	classify := func(string) (string, bool) { return "/f/{key}", false }
	both := start(t, server.Options{Registry: w.Registry, Pages: web.BusinessPages(), Public: facts, Classify: classify})
	alone := start(t, server.Options{Registry: w.Registry, Pages: web.BusinessPages()})
	without := start(t, server.Options{Public: facts, Classify: classify})
	for _, c := range []struct {
		path, host  string
		both, alone int // 418 = the facts surface
	}{
		{"/", "registry.example", 418, 200}, {"/llms.txt", "registry.example", 418, 200}, {"/sitemap.xml", "registry.example", 418, 200},
		{"/f/uk/bank-rate", "registry.example", 418, 404}, {"/nothing", "registry.example", 418, 404}, {"//", "registry.example", 418, 404},
		{"/b", "registry.example", 200, 200}, {"/b/shop", "registry.example", 200, 200}, {"/t/shop/.well-known/x-protocol/manifest.json", "registry.example", 200, 200},
		{"/.well-known/x-protocol/registry-keys.json", "other.example:8080", 200, 200}, {"/discovery/query?name=shop", "registry.example", 200, 200},
		{"/.well-known/facts.json", "registry.example", 418, 404},
		{"/", "shop.localhost", 301, 301}, {"/f/uk/bank-rate", "SHOP.localhost.:8470", 404, 404}, {"/.well-known/facts.json", "shop.localhost", 404, 404},
		{"/.well-known/x-protocol/manifest.json", "shop.localhost", 200, 200}, {"/nothing", "shop.localhost", 404, 404},
		{"/livez", "registry.example", 418, 404}, {"/api/v1/publishers", "registry.example", 418, 404},
	} {
		if a := get(t, both.public, c.path, c.host); a.status != c.both {
			t.Errorf("both: %s of %s: %d %.200s, want %d", c.path, c.host, a.status, a.text, c.both)
		}
		a := get(t, alone.public, c.path, c.host)
		if a.status != c.alone {
			t.Errorf("registry alone: %s of %s: %d %.200s, want %d", c.path, c.host, a.status, a.text, c.alone)
		}
		if a.status == 404 && (a.code() != "not_found" || a.value["request_id"] == nil) {
			t.Errorf("registry alone: %s of %s: another shape: %s", c.path, c.host, a.text)
		}
		if a := get(t, without.public, c.path, c.host); a.status != 418 {
			t.Errorf("facts alone: %s of %s: %d", c.path, c.host, a.status)
		}
	}
	if a := get(t, alone.public, "/", "registry.example", "Accept", "text/html"); !strings.Contains(a.text, "shop") || !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
		t.Errorf("the front page does not list the publishers: %s", a.text)
	}
	// While the database cannot be read, a name that may be a business's own gets no facts; the registry's own goes on serving them.
	broken := func() error { return errors.New("away") }
	w.Store.Fail.Store(&broken)
	w.Clock.Move(time.Minute)
	for host, want := range map[string]int{"registry.example": 418, "127.0.0.1": 418, "localhost": 418, "shop.localhost": 404, "unknown.example": 404} {
		if a := get(t, both.public, "/f/uk/bank-rate", host); a.status != want {
			t.Errorf("unreadable: %s: %d, want %d", host, a.status, want)
		}
	}
	if a := get(t, both.public, "/b/shop", "registry.example"); a.status != 503 {
		t.Errorf("unreadable: %d %s", a.status, a.text)
	}
	if r, body := fetch(t, both.private+"/readyz"); r.StatusCode != 503 || !strings.Contains(body, `"id":"registry","level":"failed"`) {
		t.Errorf("%d %s", r.StatusCode, body)
	}
}

func TestRegistryReadinessAndGauges(t *testing.T) {
	r := newRegistry(t)
	r.Publisher(t, "shop")
	if a, body := fetch(t, r.private+"/readyz"); a.StatusCode != 200 || !strings.Contains(body, `"id":"registry","level":"ok"`) {
		t.Errorf("%d %s", a.StatusCode, body)
	}
	_, metrics := fetch(t, r.private+"/metrics")
	for _, line := range []string{
		"sayso_registry_publishers 1", "sayso_registry_publishers_published 1", "sayso_registry_proofs_expiring 0", "sayso_registry_proofs_lapsed 0", "sayso_registry_key_seconds 3.15", "sayso_registry_heads_age_seconds ",
	} {
		if !strings.Contains(metrics, "\n"+line) {
			t.Errorf("no line %q", line)
		}
	}
	if strings.Contains(metrics, "shop") {
		t.Error("a publisher's name is in the metrics")
	}
	for _, c := range []struct {
		move time.Duration
		want string
	}{{app.RegistryKeyLife - 10*24*time.Hour, "ends in 10 days"}, {20 * 24 * time.Hour, "no registry key can sign"}} {
		r.Move(t, c.move)
		if a, body := fetch(t, r.private+"/readyz"); a.StatusCode != 200 || !strings.Contains(body, `"level":"warning"`) || !strings.Contains(body, c.want) {
			t.Errorf("%d %s, want %s", a.StatusCode, body, c.want)
		}
	}
	r.admin(request{method: "GET", path: "/publishers/shop", token: r.operator})
	if _, metrics = fetch(t, r.private+"/metrics"); !strings.Contains(metrics, `route="/api/v1/publishers/{slug}"`) {
		t.Error("admin requests are not counted by their pattern")
	}
}

// wholeMinute waits until the running minute, by which requests are counted, has enough left for what follows.
func wholeMinute(t *testing.T) {
	t.Helper()
	for time.Now().Second() > 50 {
		time.Sleep(100 * time.Millisecond)
	}
}

// Nothing that is the registry's own business reaches a public byte, on any route, in any state, whoever searches for it.
func TestXPIDENTITY006CanaryOverHTTP(t *testing.T) {
	r := newRegistry(t)
	const canary = "CANARY"
	r.must(request{method: "POST", path: "/publishers", token: r.operator, body: `{"slug":"shop","display_name":"Shop","region":"GB","delegated":true,"account":{"email":"CANARY@shop.example","phone":"CANARY"}}`})
	second := r.must(request{method: "POST", path: "/tokens", token: r.operator, body: `{"name":"CANARY-second"}`})
	third, err := r.Registry.CreateOperatorToken(t.Context(), apptest.Operator(t, canary+"-machine"), canary+"-third", "")
	if err != nil {
		t.Fatal(err)
	}
	token := r.owner("shop", app.Scopes...)
	shop := func(method, path, who, body string) {
		r.must(request{method: method, path: "/publishers/shop" + path, token: who, body: body})
	}
	shop("POST", "/verification", r.operator, `{"decision":"CANARY-decision","reason":"CANARY reason"}`)
	shop("POST", "/verification/CANARY-decision/confirm", third.Token, `{"reason":"CANARY reason"}`)
	shop("PUT", "/hosts/shop.localhost", r.operator, "")
	shop("PUT", "/profile", token, `{"display_name":"Shop","business_category":"optician","locations":[{"id":"main","primary":true,"locality":"Leeds","country_code":"GB"}]}`)
	r.must(request{method: "POST", path: "/publishers/shop/import", token: token, kind: "application/x-ndjson", body: oneRecord})
	shop("POST", "/revocations", token, `{"entity":{"type":"service","id":"gone"},"reason":"error","note":"CANARY note"}`)
	secrets := []string{canary, strings.ToLower(canary), token, r.operator, r.Init.TokenID, third.ID, second.value["id"].(string)}
	paths := publicPaths(canary)
	found := 0
	for _, step := range []struct{ path, who, body string }{
		{"", "", ""}, {"/publish", token, `{"reason":"CANARY"}`}, {"/pause", token, `{"reason":"CANARY"}`}, {"/resume", token, `{"reason":"CANARY"}`},
		{"/suspend", r.operator, `{"reason":"CANARY suspension"}`}, {"/withdraw", r.operator, `{"reason":"CANARY withdrawal"}`},
	} {
		if step.path != "" {
			shop("POST", step.path, step.who, step.body)
		}
		for _, path := range paths {
			for _, host := range []string{"registry.example", "shop.localhost"} {
				for _, accept := range []string{"application/json", "text/html"} {
					a := get(t, r.public, path, host, "Accept", accept)
					if a.status == 200 {
						found++
					}
					text := fmt.Sprint(a.header) + a.text
					for _, secret := range secrets {
						// A search may repeat its own words.
						if strings.Contains(text, secret) && !(strings.EqualFold(secret, canary) && strings.Contains(path, canary)) {
							t.Errorf("after %q: %s of %s holds %s: %s", step.path, path, host, secret, text)
						}
					}
					if strings.Contains(path, "/discovery/query") && strings.Contains(path, "CANARY") && strings.Contains(a.text, `"tenant":"shop"`) {
						t.Errorf("a search finds the publisher by %s: %s", path, a.text)
					}
				}
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d answers had content", found)
	}
}

// publicPaths are all routes of the public surface for one publisher, and searches for a word.
func publicPaths(word string) (paths []string) {
	for _, route := range bizhttp.Routes() {
		path := strings.NewReplacer("{country}", "gb", "{city}", "leeds", "{p}", "shop", "{type}", "service", "{id}", "a", "{file}", "x.css").Replace(route.Pattern)
		paths = append(paths, path)
	}
	for _, name := range []string{"name", "category", "city", "country", "language", "handler"} {
		paths = append(paths, "/discovery/query?"+url.Values{name: {word}}.Encode(), "/discovery/query?"+url.Values{name: {"Shop"}}.Encode())
	}
	return paths
}
