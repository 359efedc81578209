package provider_test

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"sync"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/provider"
	"sayso/gidp/wire"
	"sayso/jcs"
)

var start = time.Date(2026, 5, 4, 10, 20, 0, 0, time.UTC)

// stream is a repeatable source of randomness for several readers at once.
type stream struct {
	mu sync.Mutex
	r  *rand.ChaCha8
}

func newStream(seed uint64) io.Reader {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	return &stream{r: rand.NewChaCha8(key)}
}

func (s *stream) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.r.Read(p)
}

func tree(t testing.TB, containers map[string]string) *gidp.Tree {
	t.Helper()
	out, err := gidp.NewTree(containers)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func geography(t testing.TB) *gidp.Tree {
	return tree(t, map[string]string{"germany": "europe", "france": "europe", "munich": "germany", "berlin": "germany", "paris": "france", "japan": "asia", "tokyo": "japan"})
}

func domains(t testing.TB) *gidp.Tree {
	return tree(t, map[string]string{"enterprise_software": "technology", "biotechnology": "life_science", "coal_mining": "mining"})
}

func config(t testing.TB) provider.Config {
	return provider.Config{
		Dimensions: []provider.Dimension{
			{Name: provider.Geography, Tree: geography(t), Hierarchy: "geo-1"},
			{Name: provider.Domain, Tree: domains(t), Hierarchy: "domain-1"},
			{Name: "stage"},
		},
		Secret: sha256.Sum256([]byte("a secret of tests")),
		Random: newStream(1),
	}
}

func open(t testing.TB, cfg provider.Config) *provider.Provider {
	t.Helper()
	p, err := provider.New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func caller(n int) provider.Caller {
	return provider.Caller{Key: sha256.Sum256(fmt.Append(nil, "key", n)), Addr: netip.MustParseAddr("127.0.0.1")}
}

// projection is one that every rule lets pass; n makes its identifiers.
func projection(n int, geographies ...string) *wire.DiscoveryProjection {
	h := sha256.Sum256(fmt.Append(nil, "endpoint", n))
	return &wire.DiscoveryProjection{
		ExpiresAt: start.Truncate(24 * time.Hour).Add(30 * 24 * time.Hour), ProjectionID: fmt.Sprintf("p%x", h[:8]),
		Endpoint:   fmt.Sprintf("https://agents.example.org/a2a/%x", h[16:]),
		Categories: []string{"company_sale"}, Geographies: geographies, Relation: []string{wire.Complementary},
	}
}

func publication(o *wire.DiscoveryProjection) *provider.Publication {
	return &provider.Publication{Projection: o}
}

// publish takes a publication all the way.
func publish(t testing.TB, p *provider.Provider, n int, o *wire.DiscoveryProjection) provider.Ref {
	t.Helper()
	row, err := p.Publish(start, caller(n), publication(o))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(row); err != nil {
		t.Fatal(err)
	}
	return row.Ref
}

func withdraw(t testing.TB, p *provider.Provider, n int, ref provider.Ref) provider.Row {
	t.Helper()
	row, change, _, err := p.Withdraw(start, caller(n), ref)
	if err != nil || !change {
		t.Fatal(change, err)
	}
	if err := p.Apply(row); err != nil {
		t.Fatal(err)
	}
	return row
}

func query(geographies ...string) *provider.Query {
	o := projection(-1, geographies...)
	o.Categories = nil
	return &provider.Query{Projection: o, Limit: provider.MaxLimit}
}

// all pages through a query and refuses a candidate that comes twice.
func all(t testing.TB, p *provider.Provider, now time.Time, c provider.Caller, q provider.Query) map[provider.Ref]bool {
	t.Helper()
	out := map[provider.Ref]bool{}
	for {
		page, err := p.Candidates(now, c, &q)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Candidates) > q.Limit {
			t.Fatalf("%d candidates on a page of %d", len(page.Candidates), q.Limit)
		}
		for _, c := range page.Candidates {
			if out[c.Ref] {
				t.Fatal("a candidate twice")
			}
			out[c.Ref] = true
		}
		if q.Cursor = page.Cursor; q.Cursor == "" {
			return out
		}
	}
}

func code(t testing.TB, err error) provider.Code {
	t.Helper()
	var e *provider.Error
	if err == nil {
		return ""
	}
	if !errors.As(err, &e) {
		t.Fatalf("%v is no refusal", err)
	}
	return e.Code
}

// free is a tier without limits, for tests of other things.
func free(cfg provider.Config) provider.Config {
	const much = 1 << 30
	cfg.Tiers = map[string]provider.Limits{"": {much, much, much, much}}
	return cfg
}

func encode(t testing.TB, o *wire.DiscoveryProjection) jcs.Raw {
	t.Helper()
	b, err := wire.Encode(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
