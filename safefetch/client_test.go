package safefetch_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sayso/safefetch"
)

var public = netip.MustParseAddr("93.184.216.34")

// world is a TLS service that answers for example.com at a public address, without leaving the machine.
type world struct {
	server *httptest.Server
	dials  []netip.AddrPort
	mu     sync.Mutex
	script safefetch.Script
}

func newWorld(t *testing.T, h http.Handler) *world {
	t.Helper()
	w := &world{server: httptest.NewUnstartedServer(h)}
	w.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	w.server.StartTLS()
	t.Cleanup(w.server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(w.server.Certificate())
	w.script = safefetch.Script{
		Lookup: func(context.Context, string) ([]netip.Addr, error) { return []netip.Addr{public}, nil },
		Roots:  roots,
		Connect: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			w.mu.Lock()
			w.dials = append(w.dials, to)
			w.mu.Unlock()
			if to.Addr() != public {
				return nil, errBlocked
			}
			return (&net.Dialer{}).DialContext(ctx, "tcp", w.server.Listener.Addr().String())
		},
	}
	return w
}

func (w *world) client(p safefetch.Policy) *safefetch.Client {
	return safefetch.NewScripted(p, w.script)
}

func kindOf(err error) string {
	var f *safefetch.FetchError
	if errors.As(err, &f) {
		return f.Kind
	}
	return ""
}

func TestFetchOverTLS(t *testing.T) {
	w := newWorld(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(rw, "%s %s %s|%s|%s|%s", r.Method, r.Host, r.URL, r.UserAgent(), r.Header.Get("Accept-Encoding"), r.Header.Get("Accept"))
	}))
	c := w.client(safefetch.Policy{UserAgent: "t/1"})
	got, err := c.Do(t.Context(), safefetch.Request{URL: "HTTPS://example.com:443/a%2Fb?q=1", Header: http.Header{"accept": {"text/plain"}}})
	if err != nil {
		t.Fatal(err)
	}
	if want := "GET example.com:443 /a%2Fb?q=1|t/1|identity|text/plain"; string(got.Body) != want {
		t.Errorf("got %q, want %q", got.Body, want)
	}
	if _, err := c.Get(t.Context(), "https://other.test/"); kindOf(err) != safefetch.KindTLS {
		t.Errorf("foreign certificate: %v", err)
	}
	head, err := c.Do(t.Context(), safefetch.Request{Method: "HEAD", URL: "https://example.com/"})
	if err != nil || len(head.Body) != 0 {
		t.Errorf("head: %v %q", err, head.Body)
	}
}

func TestURLShape(t *testing.T) {
	w := newWorld(t, http.NotFoundHandler())
	c := w.client(safefetch.Policy{Loopback: []string{"127.0.0.1:8470", "example.com:80", "10.0.0.1:80"}})
	for _, u := range []string{
		"", "example.com", "//example.com/", "/path", "https:", "https://", "https:///x", "https:example.com", "mailto:a@example.com",
		"http://example.com/", "HTTP://example.com/", "ftp://example.com/", "file:///etc/passwd", "FILE:///etc/passwd", "gopher://example.com/",
		"https://u:p@93.184.216.34/", "https://u@example.com/", "https://@example.com/", "https://example.com/#f", "https://example.com/#",
		"https://93.184.216.34:22/", "https://example.com:80/", "https://example.com:8443/", "https://[fe80::1%25lo]/", "https://[2606:4700::1111%25eth0]/",
		"http://127.0.0.1:8471/", "http://127.0.0.1/", "http://localhost:8470/", "http://10.0.0.1/", "https://127.0.0.1:8470/",
		"https://example.com/\x00", "https://exa mple.com/", "https://[::1/", "https://example.com/" + strings.Repeat("a", 9000),
	} {
		_, err := c.Get(t.Context(), u)
		if !errors.Is(err, safefetch.ErrRefused) || kindOf(err) != "" {
			t.Errorf("%.60q: %v, want a refusal by shape", u, err)
		}
	}
	if len(w.dials) != 0 {
		t.Errorf("dialled %v", w.dials)
	}
}

func TestHeadersAndMethods(t *testing.T) {
	w := newWorld(t, http.NotFoundHandler())
	c := w.client(safefetch.Policy{})
	for _, h := range []string{"Authorization", "cookie", "REFERER", "Host", "Accept-Encoding", "Proxy-Authorization", "Connection", "User-Agent"} {
		if _, err := c.Do(t.Context(), safefetch.Request{URL: "https://example.com/", Header: http.Header{h: {"x"}}}); !errors.Is(err, safefetch.ErrRefused) {
			t.Errorf("header %s: %v", h, err)
		}
	}
	for _, m := range []string{"PATCH", "CONNECT", "get", "TRACE"} {
		if _, err := c.Do(t.Context(), safefetch.Request{Method: m, URL: "https://example.com/"}); !errors.Is(err, safefetch.ErrRefused) {
			t.Errorf("method %s: %v", m, err)
		}
	}
}

// The first answer is public, the second one loopback: a check-then-fetch client would reach the second.
func TestDNSRebinding(t *testing.T) {
	var inside atomic.Int64
	internal := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inside.Add(1) }))
	defer internal.Close()
	loop := netip.MustParseAddr("127.0.0.1")
	w := newWorld(t, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { io.WriteString(rw, "public") }))
	w.script.Lookup = newDNS(t, map[string][][]netip.Addr{"example.com.": {{public}, {loop}}})
	c := w.client(safefetch.Policy{})
	got, err := c.Get(t.Context(), "https://example.com/")
	if err != nil || string(got.Body) != "public" {
		t.Fatalf("first: %v", err)
	}
	c.Close()
	if _, err = c.Get(t.Context(), "https://example.com/"); !errors.Is(err, safefetch.ErrRefused) {
		t.Errorf("second: %v, want a refusal", err)
	}
	for _, d := range w.dials {
		if d.Addr() != public {
			t.Errorf("dialled %v", d)
		}
	}
	if inside.Load() != 0 {
		t.Error("the internal service was reached")
	}
}

func TestMixedAnswersRefuseTheName(t *testing.T) {
	loop, mapped := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::ffff:127.0.0.1")
	for name, list := range map[string][]netip.Addr{
		"public first": {public, loop}, "private first": {loop, public}, "over two families": {public, netip.MustParseAddr("fd00::1")}, "mapped": {public, mapped},
	} {
		w := newWorld(t, http.NotFoundHandler())
		w.script.Lookup = newDNS(t, map[string][][]netip.Addr{"example.com.": {list}})
		_, err := w.client(safefetch.Policy{}).Get(t.Context(), "https://example.com/")
		if !errors.Is(err, safefetch.ErrRefused) || len(w.dials) != 0 {
			t.Errorf("%s: %v, dialled %v", name, err, w.dials)
		}
	}
}

func TestSecondAddressIsTried(t *testing.T) {
	w := newWorld(t, http.NotFoundHandler())
	w.script.Lookup = newDNS(t, map[string][][]netip.Addr{"example.com.": {{netip.MustParseAddr("2606:4700::1111"), public}}})
	got, err := w.client(safefetch.Policy{}).Get(t.Context(), "https://example.com/")
	if err != nil || got.Status != http.StatusNotFound {
		t.Errorf("%v %v", got, err)
	}
}

// Refused, unreachable and unknown hosts read the same to whoever sees only the text.
func TestErrorTextIsNoOracle(t *testing.T) {
	w := newWorld(t, http.NotFoundHandler())
	w.script.Lookup = newDNS(t, map[string][][]netip.Addr{
		"inside.test.": {{netip.MustParseAddr("10.0.0.1")}}, "down.test.": {{netip.MustParseAddr("1.1.1.1")}},
	})
	c := w.client(safefetch.Policy{})
	texts := map[string]bool{}
	for _, host := range []string{"inside.test", "down.test", "nowhere.test"} {
		_, err := c.Get(t.Context(), "https://"+host+"/p?secret=1")
		if err == nil {
			t.Fatal(host)
		}
		texts[strings.ReplaceAll(err.Error(), host, "HOST")] = true
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("the query is shown: %v", err)
		}
	}
	if len(texts) != 1 {
		t.Errorf("texts differ: %v", texts)
	}
}

func TestProxyIsNeverUsed(t *testing.T) {
	var used atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { used.Add(1) }))
	defer proxy.Close()
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	w := newWorld(t, http.NotFoundHandler())
	if _, err := w.client(safefetch.Policy{}).Get(t.Context(), "https://example.com/"); err != nil {
		t.Fatal(err)
	}
	if used.Load() != 0 || len(w.dials) != 1 {
		t.Errorf("proxy used %d times, dials %v", used.Load(), w.dials)
	}
}

func TestRedirects(t *testing.T) {
	var inside atomic.Int64
	internal := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inside.Add(1) }))
	defer internal.Close()
	w := newWorld(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Referer") != "" {
			t.Error("a Referer was sent")
		}
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(rw, r, to, http.StatusFound)
			return
		}
		io.WriteString(rw, "end")
	}))
	follow := safefetch.Policy{MaxRedirects: 2, Loopback: []string{internal.Listener.Addr().String()}}
	for _, to := range []string{
		internal.URL, "https://127.0.0.1/", "https://[::1]/", "https://169.254.169.254/latest", "http://example.com/", "https://u:p@example.com/", "https://example.com:8443/",
		"https://example.com/#x", "ftp://example.com/", "file:///etc/passwd", "//127.0.0.1/", "https://[fe80::1%25lo]/", "javascript:alert(1)",
	} {
		_, err := w.client(follow).Get(t.Context(), "https://example.com/?to="+strings.ReplaceAll(strings.ReplaceAll(to, "%", "%25"), "#", "%23"))
		if !errors.Is(err, safefetch.ErrRefused) {
			t.Errorf("to %s: %v, want a refusal", to, err)
		}
	}
	if inside.Load() != 0 {
		t.Error("the internal service was reached")
	}
	got, err := w.client(safefetch.Policy{MaxRedirects: 1}).Get(t.Context(), "https://example.com/?to=/end")
	if err != nil || string(got.Body) != "end" || got.FinalURL != "https://example.com/end" {
		t.Errorf("within the limit: %v %+v", err, got)
	}
	if _, err = w.client(safefetch.Policy{MaxRedirects: 1}).Get(t.Context(), "https://example.com/?to=/%3Fto=/end"); !errors.Is(err, safefetch.ErrRefused) {
		t.Errorf("beyond the limit: %v", err)
	}
	if got, err = w.client(safefetch.Policy{}).Get(t.Context(), "https://example.com/?to=/end"); err != nil || got.Status != http.StatusFound {
		t.Errorf("off: %v", err)
	}
	got, err = w.client(follow).Do(t.Context(), safefetch.Request{Method: "POST", URL: "https://example.com/?to=/end", Body: strings.NewReader("x")})
	if err != nil || got.Status != http.StatusFound {
		t.Errorf("a POST was redirected: %v", err)
	}
}

func TestBodyBounds(t *testing.T) {
	bomb := func() []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write(make([]byte, 4<<20))
		z.Close()
		return b.Bytes()
	}()
	w := newWorld(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/exact":
			rw.Write(make([]byte, 1000))
		case "/over":
			rw.Write(make([]byte, 1001))
		case "/stream":
			for i := 0; i < 100; i++ {
				rw.Write(make([]byte, 100))
				rw.(http.Flusher).Flush()
			}
		case "/bomb":
			rw.Header().Set("Content-Encoding", "gzip")
			rw.Write(bomb[:min(len(bomb), 900)])
		case "/gzip":
			rw.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(rw)
			z.Write([]byte("small"))
			z.Close()
		case "/gzip304":
			rw.Header().Set("Content-Encoding", "gzip")
			rw.WriteHeader(http.StatusNotModified)
		case "/gzipcut":
			rw.Header().Set("Content-Encoding", "gzip")
			rw.Write([]byte{0x1f})
		case "/br":
			rw.Header().Set("Content-Encoding", "br")
			rw.Write([]byte("x"))
		case "/short":
			rw.Header().Set("Content-Length", "50")
			rw.Write([]byte("x"))
		case "/header":
			rw.Header().Set("X-Big", strings.Repeat("a", 70<<10))
		}
	}))
	c := w.client(safefetch.Policy{MaxBytes: 1000})
	for path, want := range map[string]string{
		"/exact": "", "/gzip": "", "/gzip304": "", "/gzipcut": safefetch.KindProtocol, "/over": safefetch.KindTooLarge, "/stream": safefetch.KindTooLarge, "/bomb": safefetch.KindTooLarge,
		"/br": safefetch.KindProtocol, "/short": safefetch.KindProtocol, "/header": safefetch.KindProtocol,
	} {
		got, err := c.Get(t.Context(), "https://example.com"+path)
		if kindOf(err) != want || (want == "") != (err == nil) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
		if path == "/gzip" && string(got.Body) != "small" {
			t.Errorf("gzip: %q", got.Body)
		}
	}
}

func TestTimeAndCancel(t *testing.T) {
	hold := make(chan struct{})
	w := newWorld(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			rw.Write([]byte("x"))
			rw.(http.Flusher).Flush()
		}
		<-hold
	}))
	defer close(hold)
	c := w.client(safefetch.Policy{Timeout: 100 * time.Millisecond})
	for _, path := range []string{"/head", "/body"} {
		if _, err := c.Get(t.Context(), "https://example.com"+path); kindOf(err) != safefetch.KindTimeout {
			t.Errorf("%s: %v, want a timeout", path, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := w.client(safefetch.Policy{}).Get(ctx, "https://example.com/"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestMaxRequests(t *testing.T) {
	w := newWorld(t, http.NotFoundHandler())
	c := w.client(safefetch.Policy{MaxRequests: 3})
	for i := range 5 {
		_, err := c.Get(t.Context(), "https://example.com/")
		if (i < 3) != (err == nil) || (err != nil && !errors.Is(err, safefetch.ErrRefused)) {
			t.Errorf("request %d: %v", i, err)
		}
	}
}

func TestPerHostConcurrency(t *testing.T) {
	var now, most atomic.Int64
	both := make(chan struct{}) // the first request is held until a second one is there
	meet := sync.OnceFunc(func() { close(both) })
	w := newWorld(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		if n == 2 {
			meet()
		}
		select {
		case <-both:
		case <-r.Context().Done():
		}
		time.Sleep(10 * time.Millisecond) // a third one would come now
		now.Add(-1)
	}))
	c := w.client(safefetch.Policy{PerHost: 2})
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if _, err := c.Get(t.Context(), "https://example.com/"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if most.Load() != 2 {
		t.Errorf("at most %d requests at once, want 2", most.Load())
	}
}

func TestLoopbackException(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(rw, r, "http://127.0.0.1:1/", http.StatusFound)
			return
		}
		io.WriteString(rw, "here")
	}))
	defer s.Close()
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	if got := safefetch.LoopbackOf(s.URL); got != "127.0.0.1:"+port {
		t.Errorf("LoopbackOf %q", got)
	}
	for _, o := range []string{"https://127.0.0.1", "http://example.com", "http://10.0.0.1", "http://u@localhost", "http://localhost.example.com", "http://[::ffff:127.0.0.1]", "x"} {
		if got := safefetch.LoopbackOf(o); got != "" {
			t.Errorf("LoopbackOf(%q) = %q", o, got)
		}
	}
	for _, host := range []string{"127.0.0.1:", "localhost:", "LOCALHOST:"} {
		c := safefetch.New(safefetch.Policy{Loopback: []string{host + port}, MaxRedirects: 3})
		got, err := c.Get(t.Context(), "http://"+host+port+"/x")
		if err != nil || string(got.Body) != "here" {
			t.Errorf("%s: %v", host, err)
		}
		if _, err := c.Get(t.Context(), "http://"+host+port+"/away"); !errors.Is(err, safefetch.ErrRefused) {
			t.Errorf("%s: a redirect to another port: %v", host, err)
		}
	}
	if _, err := safefetch.New(safefetch.Policy{}).Get(t.Context(), s.URL); !errors.Is(err, safefetch.ErrRefused) {
		t.Errorf("without the exception: %v", err)
	}
	if _, err := safefetch.New(safefetch.Policy{Loopback: []string{"127.0.0.1:1"}}).Get(t.Context(), "http://127.0.0.1:1/"); kindOf(err) != safefetch.KindConnect || errors.Is(err, safefetch.ErrRefused) {
		t.Errorf("nothing listens: %v", err)
	}
}
