package proof_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sayso/internal/proof"
	"sayso/internal/proof/loopdns"
)

const (
	host      = "shop.example"
	challenge = "_sayso-challenge.shop.example."
	publisher = "hammer-and-nail"
)

var (
	secret = []byte("secret of the registry in a test")
	nonce  = []byte("0123456789abcdef")
	start  = time.Date(2031, 5, 4, 12, 0, 0, 0, time.UTC)

	// refused leaves out .example, under which the hosts of these tests stand.
	refused = []string{"local", "internal", "onion", "test", "invalid", "localhost"}

	web     = netip.MustParseAddrPort("93.184.216.34:443")
	web6    = netip.MustParseAddrPort("[2606:4700::1111]:443")
	remotes = []netip.AddrPort{netip.MustParseAddrPort("9.9.9.9:53"), netip.MustParseAddrPort("1.1.1.1:53"), netip.MustParseAddrPort("8.8.8.8:53")}
	quiet   = log.New(io.Discard, "", 0)
	nsAddr  = netip.MustParseAddrPort("93.184.216.53:53")
)

func newDNS(t *testing.T, lines ...string) *loopdns.Server {
	t.Helper()
	s, err := loopdns.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	put(t, s, lines...)
	return s
}

func put(t *testing.T, s *loopdns.Server, lines ...string) {
	t.Helper()
	if err := s.Put(lines...); err != nil {
		t.Fatal(err)
	}
}

// zone is the SOA record of the zone of the tests.
const zone = "shop.example. 60 IN SOA ns.shop.example. hostmaster.shop.example. 1 7200 900 1209600 300"

func txt(name, value string) string { return name + ` 60 IN TXT "` + value + `"` }

func challengeOf(method string) proof.Challenge {
	return proof.Challenge{Host: host, Method: method, Token: proof.Token(secret, publisher, host, method, nonce), Until: start.Add(proof.TokenLife)}
}

func newChecker(servers ...*loopdns.Server) *proof.Checker {
	c := &proof.Checker{
		RefusedTLDs: refused, Now: func() time.Time { return start }, QueryTimeout: 2 * time.Second, Timeout: 10 * time.Second, UserAgent: "sayso/test",
		Loopback: &proof.Loopback{OneResolver: true, StandIns: map[netip.AddrPort]netip.AddrPort{}},
	}
	for _, s := range servers {
		c.Resolvers = append(c.Resolvers, proof.Resolver{Address: s.Addr()})
	}
	return c
}

// remote makes the servers stand at public addresses over plain DNS, as three vantage points do, without the allowance of one resolver.
func remote(servers ...*loopdns.Server) *proof.Checker {
	c := newChecker()
	c.Loopback.OneResolver = false
	for i, s := range servers {
		c.Resolvers = append(c.Resolvers, proof.Resolver{Address: remotes[i]})
		c.Loopback.StandIns[remotes[i]] = s.Addr()
	}
	return c
}

func codeOf(f *proof.Failure) string {
	if f == nil {
		return proof.Proven
	}
	return f.Code
}

// want checks a challenge and fails the test unless it ends with this code.
func want(t *testing.T, c *proof.Checker, ch proof.Challenge, code string) (proof.Evidence, *proof.Failure) {
	t.Helper()
	ev, f := c.Check(t.Context(), ch)
	if codeOf(f) != code || ev.Outcome != code {
		t.Errorf("%s, evidence %s, want %s (%+v)", codeOf(f), ev.Outcome, code, f)
	}
	if f != nil && (f.Message == "" || f.Next == "") {
		t.Errorf("%s has no message or no next step: %+v", code, f)
	}
	return ev, f
}

// site is a web server on loopback that counts connections.
type site struct {
	address     netip.AddrPort
	url         string
	connections atomic.Int64
	certificate *x509.Certificate
}

func newSite(t *testing.T, secure bool, config *tls.Config, h http.Handler) *site {
	t.Helper()
	s := &site{}
	server := httptest.NewUnstartedServer(h)
	server.Config.ErrorLog = quiet
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	server.TLS = config
	if secure {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	s.address, s.url, s.certificate = netip.MustParseAddrPort(server.Listener.Addr().String()), server.URL, server.Certificate()
	return s
}

// onWeb is a checker whose DNS and web server answer for the host at a public address. The certificate is made for the host.
func onWeb(t *testing.T, h http.Handler) (*proof.Checker, *site, *loopdns.Server) {
	t.Helper()
	certificate, roots := certify(t, host, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	s := newSite(t, true, &tls.Config{Certificates: []tls.Certificate{certificate}}, h)
	d := newDNS(t, zone, "shop.example. 60 IN A "+web.Addr().String())
	c := newChecker(d)
	c.Roots = roots
	c.Loopback.StandIns[web] = s.address
	return c, s, d
}

// text serves one text at the path of the challenge and 404 elsewhere.
func text(body string) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path != proof.Path {
			http.NotFound(rw, r)
			return
		}
		rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
		io.WriteString(rw, body)
	}
}

func split(value string, at int) string {
	var parts []string
	for len(value) > at {
		parts, value = append(parts, `"`+value[:at]+`"`), value[at:]
	}
	return strings.Join(append(parts, `"`+value+`"`), " ")
}
