package server_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"sayso/internal/app/apptest"
	"sayso/internal/server"
	"sayso/internal/web"
)

// naming answers with its name and the client's address.
func naming(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s for %s", name, server.ClientAddress(r))
	})
}

// Each surface of GIDP has its paths on its own listener, and what is not there is not served.
func TestGIDPSurfaces(t *testing.T) {
	all := start(t, server.Options{Agents: naming("agents"), Provider: naming("provider"), Inbox: naming("inbox"), Public: naming("facts")})
	alone := start(t, server.Options{Provider: naming("provider")})
	for _, c := range []struct{ base, path, want string }{
		{all.public, "/a2a/00112233445566778899aabbccddeeff/rpc", "agents for 127.0.0.1"},
		{all.public, "/gidp/v1/", "provider for 127.0.0.1"}, {all.public, "/gidp/v1", "provider for 127.0.0.1"}, {all.public, "/gidp/v1/candidates/a%2Fb/resolve", "provider for 127.0.0.1"},
		{all.public, "/a2a", "facts for invalid IP"}, {all.public, "/gidp/v2/", "facts for invalid IP"}, {all.public, "/inbox", "facts for invalid IP"},
		{all.private, "/inbox", "inbox for invalid IP"}, {all.private, "/inbox/1", "inbox for invalid IP"}, {all.private, "/inbox//1/../2", "inbox for invalid IP"},
		{all.private, "/inboxes", `"error":"not found"`}, {all.private, "/a2a/x", `"error":"not found"`}, {all.private, "/gidp/v1/", `"error":"not found"`},
		{alone.public, "/gidp/v1/candidates", "provider for 127.0.0.1"}, {alone.public, "/a2a/x", `"error":"not found"`}, {alone.public, "/", `"error":"not found"`}, {alone.private, "/inbox", `"error":"not found"`},
	} {
		if a := get(t, c.base, c.path, "127.0.0.1"); !strings.Contains(a.text, c.want) || a.header.Get("X-Request-Id") == "" && c.base != all.private && c.base != alone.private {
			t.Errorf("%s: %d %q, want %q", c.path, a.status, a.text, c.want)
		}
	}
	if a := get(t, all.private, "/inbox", "evil.example"); a.status != 403 || strings.Contains(a.text, "inbox for") {
		t.Errorf("the inbox answers under another page's name: %d %s", a.status, a.text)
	}
	if a := get(t, alone.public, "/", "127.0.0.1"); a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("other pages may read it")
	}
}

// A business's own host has no agents and no provider: what they say would speak for the business.
func TestGIDPStaysOffTheHostsOfBusinesses(t *testing.T) {
	w := apptest.NewWorld(t)
	w.Publisher(t, "shop")
	if _, err := w.Registry.SetHost(t.Context(), apptest.Operator(t, "ops"), "shop", "shop.localhost", ""); err != nil {
		t.Fatal(err)
	}
	s := start(t, server.Options{Registry: w.Registry, Pages: web.BusinessPages(), Agents: naming("agents"), Provider: naming("provider")})
	for host, want := range map[string]int{"registry.example": 200, "shop.localhost": 404} {
		for _, path := range []string{"/a2a/x/rpc", "/gidp/v1/"} {
			if a := get(t, s.public, path, host); a.status != want {
				t.Errorf("%s of %s: %d %s", path, host, a.status, a.text)
			}
		}
	}
}

func TestClientAddressBehindProxies(t *testing.T) {
	s := start(t, server.Options{Agents: naming("agents"), TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("192.0.2.0/24")}})
	for forwarded, want := range map[string]string{"": "127.0.0.1", "203.0.113.9": "203.0.113.9", "198.51.100.1, 203.0.113.9, 192.0.2.4": "203.0.113.9", "::ffff:203.0.113.9": "203.0.113.9", "nonsense": "127.0.0.1"} {
		if a := get(t, s.public, "/a2a/x", "h", "X-Forwarded-For", forwarded); a.text != "agents for "+want {
			t.Errorf("%q: %s", forwarded, a.text)
		}
	}
	direct := start(t, server.Options{Agents: naming("agents")})
	if a := get(t, direct.public, "/a2a/x", "h", "X-Forwarded-For", "203.0.113.9"); a.text != "agents for 127.0.0.1" {
		t.Error(a.text)
	}
}

// The rate limit, a panic and a large body are answered in the shape of the surface, and nothing of a reference becomes a label or a line of the log.
func TestGIDPLimits(t *testing.T) {
	var log safeBuffer
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "panic") {
			panic("fault")
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		}
	})
	s := start(t, server.Options{Agents: handler, Provider: handler, RateLimit: 6, LimitLoopback: true, Log: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	const ref = "00112233445566778899aabbccddeeff"
	for _, path := range []string{"/a2a/" + ref + "/rpc", "/a2a/" + ref + "/v1/message:send", "/gidp/v1/projections/" + ref} {
		if a := get(t, s.public, path, "h"); a.status != 200 {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	r, err := http.Post(s.public+"/a2a/"+ref+"/rpc", "application/json", bytes.NewReader(make([]byte, 2<<20)))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("2 MiB: %d", r.StatusCode)
	}
	if a := get(t, s.public, "/a2a/"+ref+"/panic", "h"); a.status != 500 || !strings.Contains(a.text, `"error":"internal error"`) || a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%d %s", a.status, a.text)
	}
	if a := get(t, s.public, "/gidp/v1/projections/panic", "h"); a.status != 500 || !strings.Contains(a.text, `"error":"internal"`) {
		t.Errorf("%d %s", a.status, a.text)
	}
	if a := get(t, s.public, "/gidp/v1/", "h"); a.status != 429 || !strings.Contains(a.text, `{"error":"quota","message":`) || a.header.Get("Retry-After") == "" {
		t.Errorf("%d %s", a.status, a.text)
	}
	_, metrics := fetch(t, s.private+"/metrics")
	for _, line := range []string{`route="/a2a/{ref}/rpc"`, `route="/a2a/{ref}/v1"`, `route="/gidp/v1/projections/{ref}"`} {
		if !strings.Contains(metrics, line) {
			t.Errorf("no series with %s", line)
		}
	}
	if strings.Contains(metrics, ref) || strings.Contains(log.String(), ref) {
		t.Error("a reference stands in metrics or log")
	}
}

// An event stream outlives the timeouts of an exchange; any other answer does not.
func TestStreamsLast(t *testing.T) {
	const limit = 300 * time.Millisecond
	var canceled atomic.Bool
	s := startWith(t, server.Options{Agents: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if strings.HasSuffix(r.URL.Path, "stream") {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		for range 6 {
			fmt.Fprint(w, "data: part\n\n")
			http.NewResponseController(w).Flush()
			time.Sleep(limit / 3)
		}
		canceled.Store(r.Context().Err() != nil)
	})}, func(s *server.Server) { s.SetTimeouts(limit) })
	parts := func(path string) (n int) {
		r, err := http.Post(s.public+path, "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		for lines := bufio.NewScanner(r.Body); lines.Scan(); {
			if lines.Text() == "data: part" {
				n++
			}
		}
		return n
	}
	if n := parts("/a2a/x/stream"); n != 6 || canceled.Load() {
		t.Errorf("%d of 6 parts came; canceled: %v", n, canceled.Load())
	}
	if n := parts("/a2a/x/other"); n == 6 {
		t.Error("an ordinary answer outlived the write timeout")
	}
}

func TestGIDPSchemas(t *testing.T) {
	s := start(t, server.Options{Agents: naming("agents"), Provider: naming("provider")})
	list := get(t, s.public, "/schema/gidp/", "h")
	names, ok := list.value["schemas"].([]any)
	if !ok || len(names) != 12+11 {
		t.Fatalf("%d names: %s", len(names), list.text)
	}
	for _, name := range names {
		a := get(t, s.public, "/schema/gidp/"+name.(string), "h")
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(a.text))
		if err != nil || a.header.Get("Content-Type") != "application/schema+json" || a.header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %d %v %v", name, a.status, a.header, err)
		}
		if c := jsonschema.NewCompiler(); c.AddResource("x.json", doc) != nil {
			t.Errorf("%s is no schema", name)
		}
	}
	for path, want := range map[string]int{"/schema/gidp/Nothing.json": 404, "/schema/gidp/..%2f": 404, "/schema/gidp/SessionOpen.json": 200} {
		if a := get(t, s.public, path, "h"); a.status != want {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	r, err := http.Post(s.public+"/schema/gidp/SessionOpen.json", "text/plain", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != 405 || r.Header.Get("Allow") == "" {
		t.Error(r.StatusCode)
	}
	alone := start(t, server.Options{Provider: naming("provider")})
	if a := get(t, alone.public, "/schema/gidp/", "h"); strings.Contains(a.text, "SessionOpen") || !strings.Contains(a.text, "DiscoveryProjection") {
		t.Errorf("a provider alone: %s", a.text)
	}
}

func TestBackgroundWork(t *testing.T) {
	ended := make(chan struct{})
	s := start(t, server.Options{Agents: naming("agents"), Background: []func(context.Context) error{func(ctx context.Context) error {
		<-ctx.Done()
		close(ended)
		return ctx.Err()
	}}})
	s.stop()
	<-ended
	if err := <-s.done; err != nil {
		t.Errorf("an orderly end: %v", err)
	}
	s.done <- nil
	fault := errors.New("cannot go on")
	s = start(t, server.Options{Agents: naming("agents"), Background: []func(context.Context) error{func(context.Context) error { return fault }}})
	if err := <-s.done; !errors.Is(err, fault) {
		t.Errorf("%v", err)
	}
	s.done <- nil
}

func TestOwnGauges(t *testing.T) {
	s := start(t, server.Options{Agents: naming("agents"), Gauges: []server.Gauge{{Name: "decisions_waiting", Help: "Decisions that wait for a person.", Value: func() float64 { return 3 }}}})
	if _, metrics := fetch(t, s.private+"/metrics"); !strings.Contains(metrics, "\nsayso_decisions_waiting 3\n") {
		t.Error("the gauge is not there")
	}
}
