package proof_test

import (
	"bufio"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
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

func TestCase25ExactPage(t *testing.T) {
	ch := challengeOf(proof.WellKnown)
	var asked []string
	c, s, d := onWeb(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.UserAgent()+" "+r.URL.Path)
		if r.Host != host || r.Method != "GET" || r.Header.Get("Accept-Encoding") != "identity" {
			t.Errorf("%s %s %v", r.Method, r.Host, r.Header)
		}
		text(ch.Token)(rw, r)
	}))
	ev, _ := want(t, c, ch, proof.Proven)
	if ev.Place != "https://shop.example/.well-known/sayso-challenge" || !strings.HasPrefix(ev.AnswerHash, "sha256:") || len(ev.Points) != 2 || ev.Points[1].AnswerHash != ev.AnswerHash ||
		len(ev.Resolvers) != 1 || ev.Resolvers[0] != d.Addr().String() {
		t.Errorf("%+v", ev)
	}
	if len(asked) != 3 || asked[0] != "sayso/test "+proof.Path || !strings.HasPrefix(asked[1], "sayso/test "+proof.Path+"-") || !strings.HasSuffix(asked[2], " "+proof.Path) ||
		strings.Contains(asked[2], "sayso/test") {
		t.Errorf("asked %q", asked)
	}
	if s.connections.Load() == 0 {
		t.Error("the site was not reached")
	}
	before := asked[1]
	asked = nil
	want(t, c, ch, proof.Proven)
	if asked[1] == before {
		t.Error("the control path is the same twice")
	}
}

func TestCase26Bodies(t *testing.T) {
	ch := challengeOf(proof.WellKnown)
	for body, code := range map[string]string{
		"\ufeff" + ch.Token: proof.Proven, ch.Token + "\r\n": proof.Proven, ch.Token + "\n": proof.Proven, "\ufeff" + ch.Token + "\r\n\r\n": proof.Proven,
		"<html><body>" + ch.Token + "</body></html>": proof.CodeWrongBody, " " + ch.Token: proof.CodeWrongBody, ch.Token + " ": proof.CodeWrongBody, "\n" + ch.Token: proof.CodeWrongBody,
		"\ufeff\ufeff" + ch.Token: proof.CodeWrongBody, strings.ToUpper(ch.Token): proof.CodeWrongBody, "token=" + ch.Token: proof.CodeWrongBody, ch.Token + "\n" + ch.Token: proof.CodeWrongBody, "": proof.CodeWrongBody,
	} {
		c, _, _ := onWeb(t, text(body))
		if _, f := want(t, c, ch, code); f != nil && !f.Counts {
			t.Errorf("%q does not count", body)
		}
	}
	for _, kind := range []string{"text/html", "application/octet-stream", "", "text/plainer", "text/plain; ;"} {
		c, _, _ := onWeb(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			rw.Header()["Content-Type"] = []string{kind}
			io.WriteString(rw, ch.Token)
		}))
		want(t, c, ch, proof.CodeWrongBody)
	}
}

func TestCase27StatusesAndSoft404(t *testing.T) {
	ch := challengeOf(proof.WellKnown)
	for status, counts := range map[int]bool{404: true, 410: true, 500: false, 503: false, 403: false, 206: false, 304: false} {
		c, _, _ := onWeb(t, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "text/plain")
			rw.WriteHeader(status)
			if status != 304 {
				io.WriteString(rw, ch.Token)
			}
		}))
		if _, f := want(t, c, ch, proof.CodeHTTPStatus); f != nil && f.Counts != counts {
			t.Errorf("%d counts %v", status, f.Counts)
		}
	}
	for name, elsewhere := range map[string]http.HandlerFunc{
		"every path":         func(rw http.ResponseWriter, _ *http.Request) { io.WriteString(rw, ch.Token) },
		"in a page":          func(rw http.ResponseWriter, _ *http.Request) { io.WriteString(rw, "<p>"+ch.Token+"</p>") },
		"as a 404":           func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(404); io.WriteString(rw, ch.Token) },
		"prefix of the path": func(rw http.ResponseWriter, _ *http.Request) { io.WriteString(rw, ch.Token+"\n") },
	} {
		c, _, _ := onWeb(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == proof.Path {
				text(ch.Token)(rw, r)
				return
			}
			elsewhere(rw, r)
		}))
		if _, f := want(t, c, ch, proof.CodeSoft404); f != nil && f.Counts {
			t.Errorf("%s counts", name)
		}
	}
	// A host that sends strangers to its front page, or breaks at paths it does not know, gives nothing away.
	for _, elsewhere := range []http.HandlerFunc{
		func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, "/", http.StatusFound) },
		func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusInternalServerError) },
		func(rw http.ResponseWriter, _ *http.Request) { rw.Write(make([]byte, 20000)) },
	} {
		c, _, _ := onWeb(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == proof.Path {
				text(ch.Token)(rw, r)
				return
			}
			elsewhere(rw, r)
		}))
		want(t, c, ch, proof.Proven)
	}
}

func redirecting(location string) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Location", location)
		rw.WriteHeader(http.StatusFound)
	}
}

func TestCase28Redirects(t *testing.T) {
	ch := challengeOf(proof.WellKnown)
	// Up from http to https, on the same host: http is spoken under the loopback allowance alone.
	c, s, _ := onWeb(t, text(ch.Token))
	plain := newSite(t, false, nil, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, "https://"+host+r.URL.Path, http.StatusMovedPermanently)
	}))
	c.Loopback.Origins = map[string]string{host: plain.url}
	want(t, c, ch, proof.Proven)
	if plain.connections.Load() == 0 || s.connections.Load() == 0 {
		t.Errorf("%d and %d connections", plain.connections.Load(), s.connections.Load())
	}
	// The demonstration serves the page over plain http.
	direct := newSite(t, false, nil, text(ch.Token))
	c.Loopback.Origins[host] = direct.url
	want(t, c, ch, proof.Proven)

	elsewhere := newSite(t, true, nil, text(ch.Token))
	for _, location := range []string{
		"https://www.shop.example" + proof.Path, "https://other.example" + proof.Path, "//other.example" + proof.Path, "http://shop.example" + proof.Path, "/somewhere", "https://shop.example/",
		"/t/hammer-and-nail" + proof.Path, "https://shop.example." + proof.Path, proof.Path + "/", proof.Path + "#x", "", "http://[::1", "/.well-known/%73ayso-challenge", "/x/../.well-known/../sayso-challenge",
	} {
		c, _, d := onWeb(t, redirecting(location))
		put(t, d, "www.shop.example. 60 IN A 93.184.216.35", "other.example. 60 IN A 93.184.216.35")
		c.Loopback.StandIns[netip.MustParseAddrPort("93.184.216.35:443")] = elsewhere.address
		if _, f := want(t, c, ch, proof.CodeRedirectRefused); f != nil && f.Counts {
			t.Errorf("%q counts", location)
		}
		for _, q := range d.Questions() {
			if q.Name != host+"." {
				t.Errorf("%q: %s was looked up", location, q.Name)
			}
		}
	}
	if n := elsewhere.connections.Load(); n != 0 {
		t.Errorf("%d connections to another host", n)
	}
	// Three hops are followed, a fourth one is not.
	for hops, code := range map[int]string{1: proof.Proven, 3: proof.Proven, 4: proof.CodeRedirectLimit, 1000: proof.CodeRedirectLimit} {
		requests := 0
		c, _, _ := onWeb(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			requests++
			n := len(r.URL.Query().Get("n"))
			if r.URL.Path == proof.Path && n < hops {
				redirecting("https://SHOP.example:443"+proof.Path+"?n="+strings.Repeat("x", n+1))(rw, r)
				return
			}
			text(ch.Token)(rw, r)
		}))
		want(t, c, ch, code)
		if code == proof.CodeRedirectLimit && requests != 4 {
			t.Errorf("%d hops: %d requests", hops, requests)
		}
	}
}

// inside are the addresses a host may not lead to, as they stand in a URL, with the address that would be dialled.
var inside = map[string]string{
	"127.0.0.1": "127.0.0.1", "169.254.169.254": "169.254.169.254", "[::ffff:127.0.0.1]": "::ffff:127.0.0.1", "0.0.0.0": "0.0.0.0", "2130706433": "127.0.0.1", "0177.0.0.1": "127.0.0.1",
	"0x7f000001": "127.0.0.1", "127.1": "127.0.0.1", "[::1]": "::1", "user@127.0.0.1": "127.0.0.1", "127.0.0.1:8080": "127.0.0.1",
	"user@shop.example": "93.184.216.34", "user:pass@shop.example": "93.184.216.34", "shop.example:8080": "93.184.216.34", "shop.example@127.0.0.1": "127.0.0.1",
}

func TestCase29RedirectsInside(t *testing.T) {
	ch := challengeOf(proof.WellKnown)
	target := newSite(t, true, nil, text(ch.Token))
	for to, address := range inside {
		for hop := range 4 { // at every hop
			requests := 0
			c, _, d := onWeb(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				requests++
				if n := len(r.URL.Query().Get("n")); n < hop {
					redirecting(proof.Path+"?n="+strings.Repeat("x", n+1))(rw, r)
					return
				}
				redirecting("https://"+to+proof.Path)(rw, r)
			}))
			// Whoever dialled or resolved the target would reach the counting site.
			for _, port := range []uint16{80, 443, 8080} {
				if a := netip.AddrPortFrom(netip.MustParseAddr(address), port); a != web {
					c.Loopback.StandIns[a] = target.address
				}
			}
			for _, name := range []string{"2130706433.", "0177.0.0.1.", "0x7f000001.", "127.1."} {
				put(t, d, name+" 60 IN A 127.0.0.1")
			}
			want(t, c, ch, proof.CodeRedirectRefused)
			if requests != hop+1 {
				t.Errorf("%s at hop %d: %d requests", to, hop, requests)
			}
		}
	}
	if n := target.connections.Load(); n != 0 {
		t.Errorf("%d connections inside", n)
	}
}

// The host itself may resolve to the inside, alone or beside a public address.
func TestHostThatResolvesInside(t *testing.T) {
	ch := challengeOf(proof.WellKnown)
	target := newSite(t, true, nil, text(ch.Token))
	for _, records := range [][]string{
		{"A 127.0.0.1"}, {"A 10.0.0.1"}, {"A 169.254.169.254"}, {"A 0.0.0.0"}, {"A 100.64.0.1"}, {"AAAA ::1"}, {"AAAA fd00::1"}, {"AAAA fe80::1"}, {"AAAA ::ffff:127.0.0.1"}, {"AAAA 64:ff9b::7f00:1"},
		{"A 93.184.216.34", "A 127.0.0.1"}, {"A 93.184.216.34", "AAAA ::1"}, {"AAAA 2606:4700::1111", "A 192.168.1.1"},
	} {
		c, public, d := onWeb(t, text(ch.Token))
		d.Remove(host, "A")
		for _, r := range records {
			put(t, d, "shop.example. 60 IN "+r)
			address := netip.MustParseAddr(r[strings.IndexByte(r, ' ')+1:])
			c.Loopback.StandIns[netip.AddrPortFrom(address, 443)] = target.address
			c.Loopback.StandIns[netip.AddrPortFrom(address.Unmap(), 443)] = target.address
		}
		if _, f := want(t, c, ch, proof.CodeNetRefused); f != nil && f.Counts {
			t.Errorf("%v counts", records)
		}
		if n := public.connections.Load(); n != 0 {
			t.Errorf("%v: %d connections", records, n)
		}
	}
	if n := target.connections.Load(); n != 0 {
		t.Errorf("%d connections inside", n)
	}
}

// Without the allowance nothing on the own machine is reached, whatever stands in the DNS (XP-NET-006).
func TestNoLoopbackWithoutAllowance(t *testing.T) {
	ch := challengeOf(proof.WellKnown)
	s := newSite(t, true, nil, text(ch.Token))
	d := newDNS(t, zone, "shop.example. 60 IN A 127.0.0.1")
	c := newChecker(d)
	c.Loopback = nil
	want(t, c, ch, proof.CodeNetRefused)
	// An origin of the allowance outside loopback grants nothing.
	c.Loopback = &proof.Loopback{Origins: map[string]string{host: "http://93.184.216.34"}}
	want(t, c, ch, proof.CodeNetRefused)
	if s.connections.Load() != 0 {
		t.Error("the own machine was reached")
	}
}

// The name changes to the inside as soon as it has been asked for once.
func TestCase30Rebinding(t *testing.T) {
	ch := challengeOf(proof.WellKnown)
	target := newSite(t, true, nil, text("inside"))
	c, s, d := onWeb(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Connection", "close") // the next fetch resolves again
		text(ch.Token)(rw, r)
	}))
	c.Loopback.StandIns[netip.MustParseAddrPort("127.0.0.1:443")] = target.address
	d.SetNotify(func(q loopdns.Question) {
		if q.Type == "A" {
			d.Remove(host, "A")
			put(t, d, "shop.example. 60 IN A 127.0.0.1")
		}
	})
	// The first fetch dials the address that was judged; the second one is refused.
	want(t, c, ch, proof.CodeNetRefused)
	if s.connections.Load() != 1 || target.connections.Load() != 0 {
		t.Errorf("%d connections to the judged address, %d inside", s.connections.Load(), target.connections.Load())
	}
}

func TestCase31Bounds(t *testing.T) {
	ch := challengeOf(proof.WellKnown)
	release := make(chan struct{})
	defer close(release)
	var sent atomic.Int64
	for name, c := range map[string]struct {
		code string
		h    http.HandlerFunc
	}{
		"slow body": {proof.CodeTimeout, func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Type", "text/plain")
			io.WriteString(rw, ch.Token[:5])
			rw.(http.Flusher).Flush()
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}},
		"slow header": {proof.CodeTimeout, func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}},
		"gzip bomb": {proof.CodeBadResponse, func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "text/plain")
			rw.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(rw)
			z.Write(make([]byte, 3<<20))
			z.Close()
		}},
		"compressed token": {proof.CodeBadResponse, func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "text/plain")
			rw.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(rw)
			io.WriteString(z, ch.Token)
			z.Close()
		}},
		"10 MB": {proof.CodeTooLarge, func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Type", "text/plain")
			for range 10 << 10 {
				n, err := rw.Write(make([]byte, 1<<10))
				if sent.Add(int64(n)); err != nil {
					return
				}
			}
		}},
		"4 KiB and one": {proof.CodeTooLarge, func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "text/plain")
			io.WriteString(rw, ch.Token+strings.Repeat("\n", 4<<10-31))
		}},
		"headers over 16 KiB": {proof.CodeBadResponse, func(rw http.ResponseWriter, r *http.Request) {
			for i := range 20 {
				rw.Header().Set(fmt.Sprint("X-", i), strings.Repeat("x", 1<<10))
			}
			text(ch.Token)(rw, r)
		}},
		"15 KiB of headers": {proof.Proven, func(rw http.ResponseWriter, r *http.Request) {
			for i := range 14 {
				rw.Header().Set(fmt.Sprint("X-", i), strings.Repeat("x", 1<<10))
			}
			text(ch.Token)(rw, r)
		}},
		"4 KiB": {proof.Proven, func(rw http.ResponseWriter, r *http.Request) { text(ch.Token+strings.Repeat("\n", 4<<10-32))(rw, r) }},
	} {
		t.Run(name, func(t *testing.T) {
			checker, _, _ := onWeb(t, c.h)
			if c.code == proof.CodeTimeout {
				checker.Timeout = 200 * time.Millisecond
			}
			if _, f := want(t, checker, ch, c.code); f != nil && f.Counts {
				t.Error("counts")
			}
		})
	}
	if sent.Load() > 8<<20 {
		t.Errorf("%d bytes of an endless body were taken", sent.Load())
	}
}

// Header lines without end come from a server that is no HTTP server at all.
func TestCase31EndlessHeaders(t *testing.T) {
	ch := challengeOf(proof.WellKnown)
	certificate, roots := certify(t, host, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate}})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan int)
	go func() {
		defer close(done)
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		bufio.NewReader(conn).ReadString('\n')
		io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
		for i := 0; ; i++ {
			if _, err := fmt.Fprintf(conn, "X-%d: x\r\n", i); err != nil {
				done <- i
				return
			}
		}
	}()
	d := newDNS(t, zone, "shop.example. 60 IN A "+web.Addr().String())
	c := newChecker(d)
	c.Roots = roots
	c.Loopback.StandIns[web] = netip.MustParseAddrPort(listener.Addr().String())
	want(t, c, ch, proof.CodeBadResponse)
	listener.Close()
	if lines := <-done; lines == 0 {
		t.Error("the header never began")
	}
}

func TestCase32Certificates(t *testing.T) {
	ch := challengeOf(proof.WellKnown)
	now := time.Now()
	wrong, wrongRoots := certify(t, "other.example", now.Add(-time.Hour), now.Add(time.Hour))
	expired, expiredRoots := certify(t, host, now.Add(-2*time.Hour), now.Add(-time.Hour))
	early, earlyRoots := certify(t, host, now.Add(time.Hour), now.Add(2*time.Hour))
	foreign, _ := certify(t, host, now.Add(-time.Hour), now.Add(time.Hour))
	for name, c := range map[string]struct {
		certificate tls.Certificate
		roots       *x509.CertPool
	}{"another name": {wrong, wrongRoots}, "expired": {expired, expiredRoots}, "not yet": {early, earlyRoots}, "issuer unknown": {foreign, wrongRoots}} {
		var requests atomic.Int64
		s := newSite(t, true, &tls.Config{Certificates: []tls.Certificate{c.certificate}}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
		checker := newChecker(newDNS(t, zone, "shop.example. 60 IN A "+web.Addr().String()))
		checker.Roots = c.roots
		checker.Loopback.StandIns[web] = s.address
		if _, f := want(t, checker, ch, proof.CodeTLS); f != nil && f.Counts {
			t.Errorf("%s counts", name)
		}
		if requests.Load() != 0 {
			t.Errorf("%s: a request was sent", name)
		}
	}
	// The certificate of httptest signs itself.
	s := httptest.NewUnstartedServer(text(ch.Token))
	s.Config.ErrorLog = quiet
	s.StartTLS()
	defer s.Close()
	checker := newChecker(newDNS(t, zone, "shop.example. 60 IN A "+web.Addr().String()))
	checker.Loopback.StandIns[web] = netip.MustParseAddrPort(s.Listener.Addr().String())
	want(t, checker, ch, proof.CodeTLS)
}

func TestCase33Cloaking(t *testing.T) {
	ch := challengeOf(proof.WellKnown)
	for _, others := range []http.HandlerFunc{
		func(rw http.ResponseWriter, r *http.Request) { http.NotFound(rw, r) },
		text("something else"),
		func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusForbidden) },
	} {
		c, _, _ := onWeb(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.UserAgent(), "sayso") {
				text(ch.Token)(rw, r)
				return
			}
			others(rw, r)
		}))
		ev, f := want(t, c, ch, proof.CodeCloaking)
		if f != nil && (f.Counts || len(ev.Points) != 2 || ev.Points[0].Outcome != proof.Proven || ev.Points[1].Outcome != proof.CodeCloaking) {
			t.Errorf("%+v %+v", f, ev)
		}
	}
}

// Whoever has a path of a shared host controls that path and not the host.
func TestCase34SharedHosting(t *testing.T) {
	ch := challengeOf(proof.WellKnown)
	c, _, _ := onWeb(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/t/"+publisher+"/") {
			rw.Header().Set("Content-Type", "text/plain")
			io.WriteString(rw, ch.Token)
			return
		}
		http.NotFound(rw, r)
	}))
	if _, f := want(t, c, ch, proof.CodeHTTPStatus); f != nil && !f.Counts {
		t.Errorf("%+v", f)
	}
	// Also when the shared host sends the request on into the path.
	c, _, _ = onWeb(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == proof.Path {
			http.Redirect(rw, r, "/t/"+publisher+proof.Path, http.StatusFound)
			return
		}
		io.WriteString(rw, ch.Token)
	}))
	want(t, c, ch, proof.CodeRedirectRefused)
	ch.Host = host + "/t/" + publisher
	want(t, c, ch, proof.CodeHostNotAllowed)
}

func TestCase35AddressFamilies(t *testing.T) {
	ch := challengeOf(proof.WellKnown)
	dead := deadPort(t)
	for name, c := range map[string]struct {
		records []string
		fault   loopdns.Fault
		code    string
	}{
		"IPv6 only":                {[]string{"AAAA 2606:4700::1111"}, loopdns.None, proof.Proven},
		"broken AAAA, good A":      {[]string{"AAAA 2606:4700::2222", "A 93.184.216.34"}, loopdns.None, proof.Proven},
		"broken AAAA, broken A":    {[]string{"AAAA 2606:4700::2222", "A 93.184.216.99", "A 93.184.216.34"}, loopdns.None, proof.CodeUnreachable},
		"behind an alias":          {[]string{"CNAME web.platform.example."}, loopdns.None, proof.Proven},
		"no address":               {[]string{"MX 10 mail.shop.example."}, loopdns.None, proof.CodeUnreachable},
		"the DNS does not know it": {nil, loopdns.ServFail, proof.CodeUnreachable},
	} {
		checker, s, d := onWeb(t, text(ch.Token))
		d.Remove(host, "")
		d.SetFault(host, c.fault)
		put(t, d, "web.platform.example. 60 IN A 93.184.216.34")
		for _, r := range c.records {
			put(t, d, "shop.example. 60 IN "+r)
		}
		checker.Loopback.StandIns[web6] = s.address
		for _, broken := range []string{"[2606:4700::2222]:443", "93.184.216.99:443"} {
			checker.Loopback.StandIns[netip.MustParseAddrPort(broken)] = dead
		}
		if _, f := want(t, checker, ch, c.code); f != nil && f.Counts {
			t.Errorf("%s counts", name)
		}
	}
}

// A resolver that fails for one family, or altogether, does not hide what the others know.
func TestLookupFallsBack(t *testing.T) {
	ch := challengeOf(proof.WellKnown)
	c, _, good := onWeb(t, text(ch.Token))
	bad := newDNS(t)
	bad.SetFault(host, loopdns.ServFail)
	c.Resolvers = []proof.Resolver{{Address: bad.Addr()}, {Address: good.Addr()}}
	want(t, c, ch, proof.Proven)
	if len(bad.Questions()) == 0 {
		t.Error("the first resolver was not asked")
	}
}

// deadPort is a loopback address on which nobody listens.
func deadPort(t *testing.T) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return netip.MustParseAddrPort(l.Addr().String())
}
