package safefetch_test

import (
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sayso/safefetch"
)

// A stand-in is dialled for a public address only; the guard judges the address that it replaces.
func TestStandIns(t *testing.T) {
	var hits atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		io.WriteString(rw, r.Host)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	local := netip.MustParseAddrPort(s.Listener.Addr().String())
	answer := public
	p := safefetch.Policy{
		Roots:  roots,
		Lookup: func(context.Context, string) ([]netip.Addr, error) { return []netip.Addr{answer}, nil },
		StandIns: map[netip.AddrPort]netip.AddrPort{
			netip.AddrPortFrom(public, 443):                             local,
			netip.MustParseAddrPort("127.0.0.1:443"):                    local,
			netip.MustParseAddrPort("10.0.0.1:443"):                     local,
			netip.MustParseAddrPort("[2606:4700::1111]:443"):            netip.MustParseAddrPort("192.0.2.1:443"),
			netip.AddrPortFrom(netip.MustParseAddr("169.254.0.1"), 443): local,
		},
	}
	got, err := safefetch.New(p).Get(t.Context(), "https://example.com/")
	if err != nil || string(got.Body) != "example.com" {
		t.Fatalf("%v %+v", err, got)
	}
	before := hits.Load()
	for _, a := range []string{"127.0.0.1", "10.0.0.1", "169.254.0.1", "2606:4700::1111"} {
		answer = netip.MustParseAddr(a)
		if _, err := safefetch.New(p).Get(t.Context(), "https://example.com/"); err == nil || (a != "2606:4700::1111" && !errors.Is(err, safefetch.ErrRefused)) {
			t.Errorf("%s: %v, want a refusal", a, err)
		}
	}
	if hits.Load() != before {
		t.Error("a forbidden address was replaced instead of refused")
	}
}

func TestUndecodedAndHeaderBound(t *testing.T) {
	w := newWorld(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/gzip":
			rw.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(rw)
			z.Write([]byte("small"))
			z.Close()
		case "/header":
			rw.Header().Set("X-Big", strings.Repeat("a", 9<<10))
		}
	}))
	c := w.client(safefetch.Policy{Undecoded: true, MaxHeader: 8 << 10})
	for path, want := range map[string]string{"/": "", "/gzip": safefetch.KindProtocol, "/header": safefetch.KindProtocol} {
		if _, err := c.Get(t.Context(), "https://example.com"+path); kindOf(err) != want {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

// When the time is over the connection is closed, and a server that notices may end its body as if it were whole. That is no answer.
func TestBodyEndedByTheTimeout(t *testing.T) {
	w := newWorld(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		io.WriteString(rw, "half")
		rw.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	for range 30 {
		c := w.client(safefetch.Policy{Timeout: 30 * time.Millisecond})
		if got, err := c.Get(t.Context(), "https://example.com/"); kindOf(err) != safefetch.KindTimeout {
			t.Fatalf("%v %+v, want a timeout", err, got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		if got, err := w.client(safefetch.Policy{}).Get(ctx, "https://example.com/"); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%v %+v, want the end of the caller's time", err, got)
		}
		cancel()
	}
}

func TestPublic(t *testing.T) {
	for _, l := range literals {
		if a, err := netip.ParseAddr(l.addr); err == nil && safefetch.Public(a) != l.permit {
			t.Errorf("%s: public %v, want %v", a, !l.permit, l.permit)
		}
	}
}
