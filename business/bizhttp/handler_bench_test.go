package bizhttp_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"sayso/business/bizhttp"
)

// ready is a registry whose manifest is signed already, as it is while it has 600 s of its life left.
type ready struct {
	*registry
	manifest *bizhttp.Document
}

func (r *ready) Manifest(context.Context, string) (*bizhttp.Document, error) { return r.manifest, nil }

func newReady(b *testing.B) (*ready, http.Handler) {
	r := &ready{registry: newRegistry(b)}
	var err error
	if r.manifest, err = r.registry.Manifest(b.Context(), "published"); err != nil {
		b.Fatal(err)
	}
	return r, bizhttp.Handler(bizhttp.HandlerOptions{Source: r})
}

const manifestPath = "/t/published/.well-known/x-protocol/manifest.json"

// BenchmarkManifest is the handler alone, without a connection.
func BenchmarkManifest(b *testing.B) {
	_, h := newReady(b)
	r := httptest.NewRequest(http.MethodGet, manifestPath, nil)
	w := &discard{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		clear(w.header)
		h.ServeHTTP(w, r)
	}
}

type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(int)             {}

// BenchmarkManifestServed asks over connections, in turn with a bare handler that sends the same bytes; ratio is our throughput over its own.
func BenchmarkManifestServed(b *testing.B) {
	source, h := newReady(b)
	body := source.manifest.Body
	ours := httptest.NewServer(h)
	defer ours.Close()
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(body)
	}))
	defer bare.Close()
	ask := func(at string) time.Duration {
		begin := time.Now()
		resp, err := http.Get(at)
		if err != nil {
			b.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, resp.Body); err != nil || n != int64(len(body)) {
			b.Fatalf("%d bytes, %v", n, err)
		}
		resp.Body.Close()
		return time.Since(begin)
	}
	var own, other []time.Duration
	for b.Loop() {
		own = append(own, ask(ours.URL+manifestPath))
		other = append(other, ask(bare.URL+manifestPath))
	}
	b.ReportMetric(float64(median(other))/float64(median(own)), "ratio")
}

// median keeps a busy machine from deciding a ratio.
func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
