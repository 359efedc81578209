package bizhttp_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sayso/business"
	"sayso/business/bizhttp"
	"sayso/jcs"
	"sayso/safefetch"
)

// online is a registry behind a loopback server whose answers can be replaced by path.
type online struct {
	*registry
	url string

	mu       sync.Mutex
	asked    []string
	override map[string]http.HandlerFunc
}

func newOnline(t testing.TB) *online {
	o := &online{registry: newRegistry(t), override: map[string]http.HandlerFunc{}}
	h := bizhttp.Handler(bizhttp.HandlerOptions{Source: o.registry})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		o.asked = append(o.asked, r.URL.RequestURI())
		f := o.override[r.URL.Path]
		o.mu.Unlock()
		if f != nil {
			f(w, r)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	o.url, o.site.Origin = s.URL, s.URL
	return o
}

// serve replaces the answers at a path.
func (o *online) serve(path string, f http.HandlerFunc) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.override[path] = f
}

// requests are those since the last call.
func (o *online) requests() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	asked := o.asked
	o.asked = nil
	return asked
}

// options is a reader that pinned the root and may reach the server on loopback.
func (o *online) options() bizhttp.Options {
	policy := bizhttp.Bounds()
	policy.Loopback = []string{safefetch.LoopbackOf(o.url)}
	return bizhttp.Options{Fetch: safefetch.New(policy), Clock: o.Now, Root: o.pin()}
}

// envelope is an answer of a publisher, signed for real.
func (o *online) envelope(slug string) []byte {
	p := o.pubs[slug]
	text := fmt.Sprintf(`{"registry":"x-protocol/v1","publisher":{"tenant":%q,"display_name":"x","website_verified":true,"proven_domain":"x.example","verification_method":"dns_txt",
		"authority_verified_at":"2026-11-29T11:00:00Z","trust_tier":"domain_verified"},"tool":"search","arguments":{"query":"exam"},"result":{"records":[]},
		"coverage":{"status":"resolved","covered":true,"answers_request":true,"evidence_complete":true,"unresolved":[]},"served_at":"2026-11-29T12:00:00Z","revocation_url":%q}`,
		slug, o.site.Locators(p).Revocations)
	out, err := business.SignDocument([]byte(text), business.Signing{Signer: o.key(slug), SignedAt: noon, ExpiresAt: noon.Add(time.Minute), KeysURL: o.site.Locators(p).JWKS, KeysName: "jwks_url"})
	if err != nil {
		o.t.Fatal(err)
	}
	return out
}

func verdictOf(v *business.Verdict) string {
	return strings.Join([]string{v.Signature.Value, v.Identity.Value, v.Authority.Value, v.Revocation.Value, v.Mirror.Value, v.Usable.Value}, " ")
}

const good = "valid confirmed current clean ok yes"

func TestVerifyURL(t *testing.T) {
	o := newOnline(t)
	for _, at := range []string{
		o.url + "/b/published", o.url + "/b/published/service/exam?token=secret", o.url + berlin + "published", o.url + "/germany/berlin/business/published/verify",
		o.url + "/t/published/mcp", o.url + "/t/published/.well-known/x-protocol/manifest.json?x=secret", o.url + "/t/published", o.url + "/t/published/",
		strings.TrimPrefix(o.url, "http://") + "/b/published", " " + o.url + "/b/published ",
	} {
		r, err := bizhttp.VerifyURL(t.Context(), at, o.options())
		if err != nil {
			t.Errorf("%s: %v", at, err)
			continue
		}
		if got := verdictOf(r.Verdict); got != good || r.Verdict.Publisher != "published" || r.Verdict.Kind != "manifest" {
			t.Errorf("%s: %s %+v", at, got, r.Verdict)
		}
		if asked := o.requests(); strings.Contains(r.Source.Asked+r.Source.URL, "secret") || len(asked) != 4 {
			t.Errorf("%s: source %+v after %q", at, r.Source, asked)
		}
	}
}

// A host is enough: the server stands for the publisher's own host here.
func TestVerifyHost(t *testing.T) {
	o := newOnline(t)
	for _, path := range []string{"/.well-known/x-protocol/manifest.json", "/.well-known/protocol-x-manifest.json"} {
		o.override[path] = func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/t/published/.well-known/x-protocol/manifest.json", http.StatusFound)
		}
	}
	for _, at := range []string{strings.TrimPrefix(o.url, "http://"), o.url, o.url + "/", o.url + "/mcp", o.url + "/.well-known/protocol-x-manifest.json"} {
		f, err := bizhttp.Discover(t.Context(), at, o.options())
		if err != nil {
			t.Errorf("%s: %v", at, err)
			continue
		}
		m, err := f.Manifest()
		if err != nil || m.Publisher.Tenant != "published" || m.Endpoints.PublicProfile != o.url+berlin+"published" || f.Moved() {
			t.Errorf("%s: %+v %v", at, m, err)
		}
	}
	for _, at := range []string{"", "https://", "http://user@127.0.0.1/", "::", "https://exa mple/"} {
		if _, err := bizhttp.Discover(t.Context(), at, o.options()); !errors.Is(err, bizhttp.ErrAddress) {
			t.Errorf("%q: %v", at, err)
		}
	}
	for _, at := range []string{o.url + "/b/published/dump.jsonl", o.url + berlin + "published/llms.txt", o.url + "/sitemap", o.url + "/discovery/query", o.url + "/b/published/service/exam/more"} {
		var e *business.FormatError
		if _, err := bizhttp.Discover(t.Context(), at, o.options()); !errors.As(err, &e) {
			t.Errorf("%q: %v", at, err)
		}
	}
}

// The slug in the address is what the document is held to: a registry cannot answer with somebody else's manifest.
func TestVerifyURLHoldsToTheSlug(t *testing.T) {
	o := newOnline(t)
	other, err := o.Manifest(t.Context(), "paused")
	if err != nil {
		t.Fatal(err)
	}
	o.serve("/t/published/.well-known/x-protocol/manifest.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(other.Body)
	})
	r, err := bizhttp.VerifyURL(t.Context(), o.url+"/b/published", o.options())
	if err != nil || r.Verdict.Identity.Value != "mismatch" || r.Verdict.Usable.Value != "no" {
		t.Errorf("%+v %v", r, err)
	}
}

func TestVerifyEnvelope(t *testing.T) {
	o := newOnline(t)
	document := o.envelope("published")
	r, err := bizhttp.VerifyDocument(t.Context(), document, o.options())
	if err != nil {
		t.Fatal(err)
	}
	if got, asked := verdictOf(r.Verdict), o.requests(); got != good || r.Verdict.Kind != "envelope" || len(asked) != 4 {
		t.Errorf("%s after %q: %+v", got, asked, r.Verdict)
	}
	with := o.options()
	with.Call = &business.Call{Tool: "search", Arguments: []byte(`{"query":"laser"}`)}
	if r, err = bizhttp.VerifyDocument(t.Context(), document, with); err != nil || r.Verdict.Call.Value != "mismatch" || r.Verdict.Usable.Value != "no" {
		t.Errorf("another call: %+v %v", r, err)
	}
	// The same envelope found at an address that is no entry point.
	o.serve("/answer.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Write(document)
	})
	if r, err = bizhttp.VerifyURL(t.Context(), o.url+"/answer.json", o.options()); err != nil || verdictOf(r.Verdict) != good || r.Source.URL != o.url+"/answer.json" {
		t.Errorf("%+v %v", r, err)
	}
	// A list is judged too.
	if r, err = bizhttp.VerifyURL(t.Context(), o.url+"/t/published/.well-known/x-protocol/revocations.json", o.options()); err != nil || r.Verdict.Kind != "revocations" || r.Verdict.Signature.Value != "valid" ||
		r.Verdict.Identity.Value != "confirmed" {
		t.Errorf("%+v %v", r, err)
	}
	o.revoked["published"] = []business.RevocationEntry{{Scope: "tenant", Reason: "withdrawn", CreatedAt: noon.Format(time.RFC3339)}}
	if r, err = bizhttp.VerifyDocument(t.Context(), document, o.options()); err != nil || r.Verdict.Revocation.Value != "revoked" {
		t.Errorf("%+v %v", r, err)
	}
}

// Offline nothing is sent; what was given is used.
func TestVerifyOffline(t *testing.T) {
	o := newOnline(t)
	manifest, _ := o.Manifest(t.Context(), "published")
	keys, _ := o.RegistryKeys(t.Context())
	list, _ := o.RegistryRevocations(t.Context())
	own, _ := o.PublisherRevocations(t.Context(), "published")
	with := o.options()
	with.Offline = true
	r, err := bizhttp.VerifyDocument(t.Context(), manifest.Body, with)
	if err != nil || r.Verdict.Revocation.Value != "not_checked" || r.Evidence.RegistryKeys != nil {
		t.Errorf("%+v %v", r, err)
	}
	with.RegistryKeys, with.Revocations, with.PublisherList = keys.Body, list.Body, own.Body
	if r, err = bizhttp.VerifyDocument(t.Context(), manifest.Body, with); err != nil || verdictOf(r.Verdict) != good {
		t.Errorf("%+v %v", r, err)
	}
	var e *bizhttp.TransportError
	if _, err = bizhttp.VerifyURL(t.Context(), o.url+"/b/published", with); !errors.As(err, &e) {
		t.Errorf("%v", err)
	}
	if asked := o.requests(); len(asked) > 0 {
		t.Errorf("offline, and yet asked for %q", asked)
	}
}

// T53: what happens on the way is a transport outcome, with Retry-After kept, and never a statement about a business.
func TestTransportOutcomes(t *testing.T) {
	o := newOnline(t)
	at := "/t/published/.well-known/x-protocol/manifest.json"
	answer := func(status int, contentType, body string, headers ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			for i := 0; i+1 < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.WriteHeader(status)
			w.Write([]byte(body))
		}
	}
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		want  bizhttp.TransportError
	}{
		"429":         {answer(429, "application/json", `{"error":"rate_limited"}`, "Retry-After", "7"), bizhttp.TransportError{Status: 429, Code: "rate_limited", RetryAfter: 7 * time.Second}},
		"503":         {answer(503, "application/json", `{"error":"no_anchor","message":"<b>"}`), bizhttp.TransportError{Status: 503, Code: "no_anchor"}},
		"404":         {answer(404, "application/json", `{"error":"unknown_publisher"}`), bizhttp.TransportError{Status: 404, Code: "unknown_publisher"}},
		"500 page":    {answer(500, "text/html", `{"error":"x"}`, "Retry-After", "Sun, 29 Nov 2026 12:00:09 GMT", "Date", "Sun, 29 Nov 2026 12:00:00 GMT"), bizhttp.TransportError{Status: 500, RetryAfter: 9 * time.Second}},
		"long code":   {answer(500, "application/json", `{"error":"`+strings.Repeat("a", 41)+`"}`), bizhttp.TransportError{Status: 500}},
		"forged code": {answer(500, "application/json", `{"error":"<script>"}`), bizhttp.TransportError{Status: 500}},
		"html":        {answer(200, "text/html", "<html>"), bizhttp.TransportError{Status: 200}},
		"no type":     {answer(200, "", "{}"), bizhttp.TransportError{Status: 200}},
		"huge":        {answer(200, "application/json", strings.Repeat(" ", bizhttp.MaxBytes+1)), bizhttp.TransportError{}},
		"long wait":   {answer(503, "text/plain", "", "Retry-After", "99999999"), bizhttp.TransportError{Status: 503, RetryAfter: 24 * time.Hour}},
		"loop": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, at+"?again=secret", http.StatusFound)
		}, bizhttp.TransportError{}},
		"hang up": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, bizhttp.TransportError{}},
		"to the inside": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		}, bizhttp.TransportError{}},
	} {
		o.serve(at, c.serve)
		_, err := bizhttp.VerifyURL(t.Context(), o.url+at+"?token=secret", o.options())
		var got *bizhttp.TransportError
		if !errors.As(err, &got) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.Status != c.want.Status || got.Code != c.want.Code || got.RetryAfter != c.want.RetryAfter || got.URL != o.url+at || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if refused := name == "to the inside" || name == "loop"; refused != errors.Is(err, business.ErrNetRefused) {
			t.Errorf("%s: refused is %t, %v", name, !refused, err)
		}
	}
	o.serve(at, answer(200, "application/json", `{"protocol_x_version":"2.0"}`))
	var format *business.FormatError
	if _, err := bizhttp.VerifyURL(t.Context(), o.url+at, o.options()); !errors.As(err, &format) || format.Code != "unsupported_format" {
		t.Errorf("another version: %v", err)
	}
}

// T38, T55: evidence that cannot be had is missing evidence, and no connection is made to an address that policy forbids.
func TestHostileLocators(t *testing.T) {
	o := newOnline(t)
	var reached atomic.Int64
	inside, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer inside.Close()
	go func() {
		for {
			conn, err := inside.Accept()
			if err != nil {
				return
			}
			reached.Add(1)
			conn.Close()
		}
	}()
	port := strings.TrimPrefix(inside.Addr().String(), "127.0.0.1:")
	o.serve("/away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+inside.Addr().String()+"/", http.StatusFound)
	})
	for _, jwks := range []string{
		"http://127.0.0.1:" + port + "/jwks.json", "https://127.0.0.1:" + port + "/", "https://127.0.0.1/jwks.json", "https://169.254.169.254/latest", "https://[::ffff:127.0.0.1]/", "https://[::1]/",
		"https://0.0.0.0/", "https://10.0.0.1/", "https://user:pass@127.0.0.1/", "http://localhost:" + port + "/", "file:///etc/passwd", "//127.0.0.1/", "/jwks.json",
		o.url + "/away",
	} {
		document, err := business.SignDocument([]byte(`{"registry":"x-protocol/v1","publisher":{"tenant":"published"},"tool":"search","arguments":{},"result":{},
			"coverage":{"status":"not_covered","evidence_complete":true},"revocation_url":"`+jwks+`"}`),
			business.Signing{Signer: o.key("published"), SignedAt: noon, ExpiresAt: noon.Add(time.Minute), KeysURL: jwks, KeysName: "jwks_url"})
		if err != nil {
			t.Fatal(err)
		}
		r, err := bizhttp.VerifyDocument(t.Context(), document, o.options())
		if err != nil {
			t.Errorf("%s: %v", jwks, err)
			continue
		}
		v := r.Verdict
		if strings.Contains(r.Evidence.PublisherKeys.Err.Error(), "pass") && !strings.Contains(jwks, "passwd") {
			t.Errorf("%s: the report tells a password: %v", jwks, r.Evidence.PublisherKeys.Err)
		}
		if v.Identity.Value != "broken_chain" || v.Identity.Reason != "net_refused" || v.Revocation.Value != "not_checked" || v.Usable.Value != "no" || !errors.Is(r.Evidence.PublisherKeys.Err, business.ErrNetRefused) {
			t.Errorf("%s: %+v, %v", jwks, v, r.Evidence.PublisherKeys.Err)
		}
	}
	if reached.Load() > 0 {
		t.Errorf("%d connections were made to the inside", reached.Load())
	}
}

// A list or key set that redirects to another origin is a different source (XP-DISCOVERY-006).
func TestEvidenceMustNotMove(t *testing.T) {
	o, other := newOnline(t), newOnline(t)
	path := "/.well-known/x-protocol/revocations.json"
	o.override[path] = func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.url+path, http.StatusFound) }
	with := o.options()
	policy := bizhttp.Bounds()
	policy.Loopback = []string{safefetch.LoopbackOf(o.url), safefetch.LoopbackOf(other.url)}
	with.Fetch = safefetch.New(policy)
	r, err := bizhttp.VerifyURL(t.Context(), o.url+"/b/published", with)
	if err != nil || r.Verdict.Revocation.Value != "not_checked" || r.Evidence.Revocations.Err == nil || r.Evidence.Revocations.Body != nil {
		t.Errorf("%+v %v", r, err)
	}
	o.serve("/t/published/.well-known/x-protocol/manifest.json", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.url+r.URL.Path, http.StatusFound)
	})
	with.Fetch = safefetch.New(policy)
	f, err := bizhttp.Discover(t.Context(), o.url+"/b/published", with)
	if err != nil || !f.Moved() {
		t.Errorf("%+v %v", f, err)
	}
}

// The bounds hold for the whole verification: 12 requests, redirects counted, and the total time.
func TestBounds(t *testing.T) {
	o := newOnline(t)
	wander := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Path+"?"+r.URL.RawQuery+"x", http.StatusFound)
	}
	for _, path := range []string{"/.well-known/x-protocol/registry-keys.json", "/.well-known/x-protocol/revocations.json", "/t/published/.well-known/x-protocol/revocations.json"} {
		o.serve(path, wander)
	}
	r, err := bizhttp.VerifyURL(t.Context(), o.url+"/b/published", o.options())
	if asked := o.requests(); err != nil || r.Verdict.Usable.Value != "no" || len(asked) > bizhttp.MaxRequests {
		t.Errorf("%d requests, %+v %v", len(asked), r, err)
	}
	ctx, cancel := context.WithCancel(t.Context()) // ends while the last document is on its way
	defer cancel()
	o.serve("/t/published/.well-known/x-protocol/revocations.json", func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	if r, err = bizhttp.VerifyURL(ctx, o.url+"/b/published", o.options()); err != nil || r.Evidence.PublisherList.Err == nil || r.Verdict.Revocation.Value != "not_checked" {
		t.Errorf("%+v %v", r, err)
	}
}

// Evidence for documents that are no documents, and for hostile ones, asks for nothing.
func TestGatherOfNonsense(t *testing.T) {
	o := newOnline(t)
	for _, text := range []string{"", "null", "[]", "{}", `{"registry_keys_url":7}`, `{"endpoints":"x","registry_keys_url":"` + o.url + `/"}`, `{"a":1,"a":2}`, "\xff"} {
		e := bizhttp.Gather(t.Context(), []byte(text), o.options())
		if e.RegistryKeys != nil || e.Revocations != nil || e.PublisherKeys != nil || e.PublisherList != nil || e.At != noon {
			t.Errorf("%q: %+v", text, e)
		}
	}
	if asked := o.requests(); len(asked) > 0 {
		t.Errorf("asked for %q", asked)
	}
	// jwks.json is hostile too
	for _, jwks := range []string{`[]`, `{"keys":7}`, `{"keys":[{"kid":"k","x_protocol_attestation":null}]}`, `{"keys":[{"kid":"other","x_protocol_attestation":{"registry_keys_url":"` + o.url + `/x"}}]}`} {
		with := o.options()
		with.PublisherKeys = []byte(jwks)
		text, _ := jcs.Encode(object{"signing_kid": "k", "jwks_url": o.url})
		if e := bizhttp.Gather(t.Context(), text, with); e.RegistryKeys != nil || len(o.requests()) > 0 {
			t.Errorf("%s: %+v", jwks, e)
		}
	}
}

func FuzzDiscover(f *testing.F) {
	for _, seed := range []string{"registry.example", "https://registry.example/de/berlin/business/x/service/a%2Fb?q#f", "http://[::1]:80/t/x/mcp", "HTTPS://A@b", "x://", "/b/x", "%"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, at string) {
		_, err := bizhttp.Discover(t.Context(), at, bizhttp.Options{Offline: true})
		var transport *bizhttp.TransportError
		var format *business.FormatError
		if !errors.As(err, &transport) && !errors.As(err, &format) && !errors.Is(err, bizhttp.ErrAddress) {
			t.Errorf("%q: %v", at, err)
		}
		if transport != nil && strings.ContainsAny(transport.URL, "?#") {
			t.Errorf("%q: %q", at, transport.URL)
		}
	})
}
