package providerhttp_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sayso/gidp/httpsig"
	"sayso/gidp/provider"
	"sayso/gidp/providerhttp"
	"sayso/gidp/wire"
	"sayso/jcs"
	"sayso/jwk"
	"sayso/safefetch"
)

var start = time.Date(2026, 5, 4, 10, 20, 0, 0, time.UTC)

// rows is providerhttp.Rows in memory, with faults. Its contract is tested where the stores are.
type rows struct {
	mu      sync.Mutex // guards everything below
	byRef   map[provider.Ref]provider.Row
	log     []provider.Row
	reports []providerhttp.Report
	bans    map[string]providerhttp.Ban
	secret  *[32]byte
	down    error
	before  func(provider.Row) // called before a commit, without the lock
}

func newRows() *rows {
	return &rows{byRef: map[provider.Ref]provider.Row{}, bans: map[string]providerhttp.Ban{}}
}

func (s *rows) fail(err error) { s.mu.Lock(); defer s.mu.Unlock(); s.down = err }

func (s *rows) All(context.Context) (iter.Seq2[provider.Row, error], int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	live := slices.DeleteFunc(slices.Collect(maps.Values(s.byRef)), func(r provider.Row) bool { return r.Withdrawn })
	return func(yield func(provider.Row, error) bool) {
		for _, r := range live {
			if !yield(r, nil) {
				return
			}
		}
	}, int64(len(s.log)), s.down
}

func (s *rows) Commit(_ context.Context, row provider.Row) error {
	if s.before != nil {
		s.before(row)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, ok := s.byRef[row.Ref]
	switch {
	case s.down != nil:
		return s.down
	case ok && (kept.Withdrawn || kept.Owner != row.Owner || row.Revision != kept.Revision+1), !ok && row.Revision != 1:
		return providerhttp.ErrStale
	}
	for ref, other := range s.byRef {
		if ref != row.Ref && !other.Withdrawn && (other.Owner == row.Owner || other.Endpoint == row.Endpoint) {
			return providerhttp.ErrStale
		}
	}
	s.byRef[row.Ref] = row
	s.log = append(s.log, row)
	return nil
}

func (s *rows) Projection(_ context.Context, ref provider.Ref) (provider.Row, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.byRef[ref]
	return r, ok, s.down
}

func (s *rows) OfKey(_ context.Context, key provider.Thumbprint) (provider.Row, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.byRef {
		if r.Owner == key {
			return r, true, s.down
		}
	}
	return provider.Row{}, false, s.down
}

func (s *rows) Changes(_ context.Context, position int64, limit int) ([]provider.Row, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down != nil {
		return nil, position, s.down
	}
	out := s.log[min(position, int64(len(s.log))):]
	out = slices.Clone(out[:min(len(out), limit)])
	return out, position + int64(len(out)), nil
}

func (s *rows) Expire(_ context.Context, before time.Time, limit int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.byRef, func(_ provider.Ref, r provider.Row) bool { return r.Expires.Before(before) })
	return s.down
}

func (s *rows) AddReport(_ context.Context, r providerhttp.Report) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reports = append(s.reports, r)
	return s.down
}

func (s *rows) Reports(_ context.Context, limit int) ([]providerhttp.Report, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.reports), s.down
}

func (s *rows) PutBan(_ context.Context, b providerhttp.Ban) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bans[fmt.Sprint(b.Key, b.Network)] = b; !b.Until.After(b.At) {
		delete(s.bans, fmt.Sprint(b.Key, b.Network))
	}
	return s.down
}

func (s *rows) Bans(context.Context) ([]providerhttp.Ban, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.bans)), s.down
}

func (s *rows) Secret(_ context.Context, fresh [32]byte) ([32]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secret = cmp.Or(s.secret, &fresh)
	return *s.secret, s.down
}

// clock is the time of a test; every replica and every caller reads it.
type clock struct {
	mu sync.Mutex // guards at
	at time.Time
}

func (c *clock) now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.at }

func (c *clock) step(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.at = c.at.Add(d) }

// origin is that of a provider on the public internet.
const origin = "https://provider.example"

// options are those of a provider to which everything is public.
func options(r providerhttp.Rows, now func() time.Time) providerhttp.Options {
	return providerhttp.Options{Rows: r, Origin: origin, Now: now, Random: rand.Reader, Lookup: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
	}}
}

func open(t testing.TB, o providerhttp.Options) *providerhttp.Service {
	t.Helper()
	s, err := providerhttp.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newKey(t testing.TB) *jwk.PrivateKey {
	t.Helper()
	k, err := jwk.Generate("k", rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func thumb(t testing.TB, k *jwk.PrivateKey) provider.Thumbprint {
	t.Helper()
	b, err := jwk.DecodeBase64URL(jwk.Thumbprint(k.Public().Public))
	if err != nil {
		t.Fatal(err)
	}
	return provider.Thumbprint(b)
}

// token is 128 random bits in hex.
func token(t testing.TB) string {
	t.Helper()
	var b [16]byte
	if _, err := io.ReadFull(rand.Reader, b[:]); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", b)
}

// projection is one that every rule lets pass.
func projection(t testing.TB, now time.Time, geographies ...string) *wire.DiscoveryProjection {
	t.Helper()
	return &wire.DiscoveryProjection{
		ExpiresAt: now.UTC().Truncate(24 * time.Hour).Add(30 * 24 * time.Hour), ProjectionID: token(t), Endpoint: "https://agents.example.org/a2a/" + token(t),
		Categories: []string{"company_sale"}, Geographies: geographies, Relation: []string{wire.Complementary},
	}
}

// reply is what a handler answered.
type reply struct {
	status int
	header http.Header
	body   string
}

// call is one signed request to a handler, and what a test does to it on the way.
type call struct {
	method, path, body string
	key                *jwk.PrivateKey // nil: unsigned
	authority          string          // "": the provider's
	at                 time.Time
	nonce              string
	remote             string
	change             func(r *http.Request)
}

func (c call) send(t testing.TB, h http.Handler) reply {
	t.Helper()
	return answer(h, c.request(t))
}

func (c call) request(t testing.TB) *http.Request {
	t.Helper()
	r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
	r.Header.Set("Content-Type", "application/json")
	if r.RemoteAddr = "127.0.0.1:4711"; c.remote != "" {
		r.RemoteAddr = c.remote
	}
	if c.key != nil {
		m := httpsig.Message{Method: c.method, Authority: cmp.Or(c.authority, "provider.example"), Path: r.URL.EscapedPath(), Body: []byte(c.body)}
		fields, err := httpsig.Sign(httpsig.Provider, m, c.key, httpsig.Params{Created: c.at, Nonce: cmp.Or(c.nonce, token(t))})
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range fields {
			r.Header.Set(name, value)
		}
	}
	if c.change != nil {
		c.change(r)
	}
	return r
}

func answer(h http.Handler, r *http.Request) reply {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return reply{w.Code, w.Header(), w.Body.String()}
}

// said decodes an answer.
func said[T any](t testing.TB, r reply, status int) (out T) {
	t.Helper()
	if r.status != status {
		t.Fatalf("%d %s, want %d", r.status, r.body, status)
	}
	if err := jcs.Decode([]byte(r.body), &out); err != nil {
		t.Fatalf("%s: %v", r.body, err)
	}
	return out
}

func keyText(k *jwk.PrivateKey) string { return string(jwk.EncodePublic(k.Public().Public)) }

func object(t testing.TB, p *wire.DiscoveryProjection) string {
	t.Helper()
	b, err := wire.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func publishing(t testing.TB, k *jwk.PrivateKey, now time.Time, p *wire.DiscoveryProjection) call {
	t.Helper()
	return call{method: "POST", path: "/gidp/v1/projections", key: k, at: now, body: `{"key":` + keyText(k) + `,"projection":` + object(t, p) + `}`}
}

func updating(t testing.TB, k *jwk.PrivateKey, now time.Time, ref string, p *wire.DiscoveryProjection) call {
	t.Helper()
	c := publishing(t, k, now, p)
	c.method, c.path = "PUT", "/gidp/v1/projections/"+ref
	return c
}

func withdrawing(k *jwk.PrivateKey, now time.Time, ref string) call {
	return call{method: "DELETE", path: "/gidp/v1/projections/" + ref, key: k, at: now, body: `{"key":` + keyText(k) + `}`}
}

type receipt struct {
	Ref     string `json:"projection_ref"`
	Latency int    `json:"withdraw_latency_s"`
}

func publish(t testing.TB, s *providerhttp.Service, k *jwk.PrivateKey, now time.Time, p *wire.DiscoveryProjection) string {
	t.Helper()
	return said[receipt](t, publishing(t, k, now, p).send(t, s.Handler()), 201).Ref
}

func querying(t testing.TB, k *jwk.PrivateKey, now time.Time, geographies ...string) call {
	t.Helper()
	p := projection(t, now, geographies...)
	p.Categories = nil
	return call{method: "POST", path: "/gidp/v1/candidates", key: k, at: now, body: `{"key":` + keyText(k) + `,"projection":` + object(t, p) + `}`}
}

// found are the references that one fresh querent finds.
func found(t testing.TB, s *providerhttp.Service, now time.Time, geographies ...string) []string {
	t.Helper()
	page := said[providerhttp.Page](t, querying(t, newKey(t), now, geographies...).send(t, s.Handler()), 200)
	var out []string
	for _, c := range page.Candidates {
		out = append(out, c.ProjectionRef)
	}
	return out
}

func refused(t testing.TB, r reply, status int, code provider.Code) string {
	t.Helper()
	out := said[struct {
		Error   provider.Code `json:"error"`
		Message string        `json:"message"`
	}](t, r, status)
	if out.Error != code || out.Message == "" {
		t.Fatalf("%s, want %s", r.body, code)
	}
	if (status == 429 || status == 503) != (r.header.Get("Retry-After") != "") {
		t.Errorf("%s with Retry-After %q", r.body, r.header.Get("Retry-After"))
	}
	return out.Message
}

// pair is a provider on loopback behind a real server, and the client for it.
type pair struct {
	*providerhttp.Service
	origin string
	client *providerhttp.Client
}

func serve(t testing.TB, r providerhttp.Rows, now func() time.Time, change func(*providerhttp.Options)) *pair {
	t.Helper()
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	o := options(r, now)
	o.Origin, o.Lookup = server.URL, nil
	if change != nil {
		change(&o)
	}
	s := open(t, o)
	handler = s.Handler()
	fetch := safefetch.New(safefetch.Policy{Loopback: []string{safefetch.LoopbackOf(server.URL)}})
	t.Cleanup(fetch.Close)
	return &pair{s, server.URL, providerhttp.NewClient(providerhttp.ClientOptions{Fetch: fetch, Now: now, Random: rand.Reader})}
}

func refusal(t testing.TB, err error, code provider.Code) {
	t.Helper()
	var e *providerhttp.Refusal
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("%v, want %s", err, code)
	}
}

// run runs a service until the test ends.
func run(t testing.TB, s *providerhttp.Service) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func reader(text string) io.Reader { return bytes.NewReader([]byte(text)) }
