package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"sayso/internal/server"
)

// running is a server on free ports.
type running struct {
	*server.Server
	public, private string
	stop            context.CancelFunc
	done            chan error
}

func start(t *testing.T, o server.Options) *running {
	t.Helper()
	return startWith(t, o, func(*server.Server) {})
}

// startWith lets a test change the server before it runs.
func startWith(t *testing.T, o server.Options, change func(*server.Server)) *running {
	t.Helper()
	listen := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	o.PublicListener, o.PrivateListener = listen(), listen()
	if o.Public == nil && o.Registry == nil && o.Agents == nil && o.Provider == nil {
		o.Public = http.NotFoundHandler()
	}
	if o.Classify == nil {
		o.Classify = func(path string) (string, bool) { return "/x", path == "/dynamic" }
	}
	ctx, stop := context.WithCancel(context.Background())
	r := &running{Server: server.New(o), public: "http://" + o.PublicListener.Addr().String(), private: "http://" + o.PrivateListener.Addr().String(), stop: stop, done: make(chan error, 1)}
	change(r.Server)
	go func() { r.done <- r.Run(ctx) }()
	t.Cleanup(func() { stop(); <-r.done; r.done <- nil })
	return r
}

func fetch(t *testing.T, url string, headers ...string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

func TestPrivateRoutesAreNotPublic(t *testing.T) {
	s := start(t, server.Options{})
	for _, path := range []string{"/livez", "/readyz", "/metrics"} {
		if r, _ := fetch(t, s.public+path); r.StatusCode != 404 {
			t.Errorf("public %s: %d", path, r.StatusCode)
		}
		if r, _ := fetch(t, s.private+path); r.StatusCode != 200 {
			t.Errorf("private %s: %d", path, r.StatusCode)
		}
	}
	if r, body := fetch(t, s.private+"/other"); r.StatusCode != 404 || !strings.Contains(body, `"error":"not found"`) {
		t.Errorf("%d %s", r.StatusCode, body)
	}
}

func TestReadinessNamesTheFailingCheck(t *testing.T) {
	level := server.LevelOK
	s := start(t, server.Options{Checks: []server.Check{func(context.Context) server.Status {
		return server.Status{ID: "disk", Level: level, Message: "as it is"}
	}}})
	for _, c := range []struct {
		level  server.Level
		status int
	}{{server.LevelOK, 200}, {server.LevelWarning, 200}, {server.LevelFailed, 503}} {
		level = c.level
		r, body := fetch(t, s.private+"/readyz")
		if r.StatusCode != c.status || !strings.Contains(body, `{"id":"disk","level":"`+string(c.level)+`","message":"as it is"}`) {
			t.Errorf("%s: %d %s", c.level, r.StatusCode, body)
		}
	}
}

func TestPanicIs500WithRequestID(t *testing.T) {
	var log safeBuffer
	s := start(t, server.Options{Log: slog.New(slog.NewJSONHandler(&log, nil)), Public: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"left behind"`)
		panic("secret detail")
	})})
	r, body := fetch(t, s.public)
	var problem struct{ Error, Message string }
	if err := json.Unmarshal([]byte(body), &problem); err != nil || r.StatusCode != 500 || problem.Error != "internal error" {
		t.Fatalf("%d %s", r.StatusCode, body)
	}
	id := r.Header.Get("X-Request-Id")
	if id == "" || !strings.Contains(problem.Message, id) || strings.Contains(body, "secret") || r.Header.Get("Etag") != "" || r.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("id %q, headers %v, body %s", id, r.Header, body)
	}
	if !strings.Contains(log.String(), id) || !strings.Contains(log.String(), "secret detail") {
		t.Errorf("the log does not tell the cause: %s", log.String())
	}
	if r, _ := fetch(t, s.public); r.StatusCode != 500 {
		t.Error("the server did not survive the panic")
	}
}

// An answer that breaks off must not look finished: the connection is closed in the middle of the body.
func TestPanicInsideAnAnswerCutsIt(t *testing.T) {
	var log safeBuffer
	s := start(t, server.Options{Log: slog.New(slog.NewJSONHandler(&log, nil)), Public: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"value":1`)
		http.NewResponseController(w).Flush()
		panic("in the middle")
	})})
	r, err := http.Get(s.public)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if body, err := io.ReadAll(r.Body); err == nil {
		t.Errorf("%q was read as a whole answer", body)
	}
	if !strings.Contains(log.String(), "in the middle") {
		t.Errorf("the log does not tell the cause: %s", log.String())
	}
	if _, metrics := fetch(t, s.private+"/metrics"); !strings.Contains(metrics, "sayso_panics_total 1") || !strings.Contains(metrics, "sayso_requests_in_flight 0") {
		t.Error("the metrics do not tell")
	}
}

// DNS rebinding: the private listener answers for addresses, localhost and the names it was given.
func TestPrivateHosts(t *testing.T) {
	s := start(t, server.Options{PrivateHosts: []string{"admin.internal"}})
	port := s.private[strings.LastIndexByte(s.private, ':'):]
	for host, want := range map[string]int{
		"127.0.0.1" + port: 200, "localhost" + port: 200, "LOCALHOST": 200, "localhost.": 200, "[::1]" + port: 200, "10.1.2.3:9": 200, "admin.internal" + port: 200, "Admin.Internal": 200,
		"rebind.example": 403, "rebind.example" + port: 403, "127.0.0.1.rebind.example": 403, "localhost.rebind.example": 403, "admin.internal.rebind.example": 403, "2130706433": 403, "x": 403,
	} {
		for _, path := range []string{"/livez", "/readyz", "/metrics", "/other"} {
			want := want
			if path == "/other" && want == 200 {
				want = 404
			}
			request, err := http.NewRequest(http.MethodGet, s.private+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Host = host
			r, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(r.Body)
			r.Body.Close()
			if r.StatusCode != want || r.Header.Get("Access-Control-Allow-Origin") != "" || want == 403 && !strings.Contains(string(body), `"error":"host not allowed"`) {
				t.Errorf("%s of host %s: %d %s, want %d", path, host, r.StatusCode, body, want)
			}
		}
	}
	if status := raw(t, s.private, "GET /livez HTTP/1.0\r\n\r\n"); status != 403 {
		t.Errorf("without a host: %d", status)
	}
}

func TestRateLimit(t *testing.T) {
	ok := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "ok") })
	t.Run("loopback is free unless asked", func(t *testing.T) {
		s := start(t, server.Options{Public: ok, RateLimit: 1})
		for range 5 {
			if r, _ := fetch(t, s.public+"/dynamic"); r.StatusCode != 200 {
				t.Fatal(r.Status)
			}
		}
	})
	t.Run("dynamic routes only", func(t *testing.T) {
		s := start(t, server.Options{Public: ok, RateLimit: 3, LimitLoopback: true})
		limited := 0
		for range 8 { // a minute may end in between, so at least eight requests meet two allowances
			r, body := fetch(t, s.public+"/dynamic")
			if r.StatusCode == 429 {
				limited++
				if r.Header.Get("Retry-After") == "" || r.Header.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(body, `"error":"rate limited"`) {
					t.Errorf("%v %s", r.Header, body)
				}
			}
			if r, _ := fetch(t, s.public+"/static"); r.StatusCode != 200 {
				t.Errorf("a static route was limited: %s", r.Status)
			}
		}
		if limited < 2 {
			t.Errorf("%d of 8 requests limited, allowance 3", limited)
		}
		if _, metrics := fetch(t, s.private+"/metrics"); !strings.Contains(metrics, fmt.Sprintf("sayso_rate_limited_total %d", limited)) {
			t.Error("the metric disagrees")
		}
	})
	t.Run("behind a trusted proxy by client", func(t *testing.T) {
		s := start(t, server.Options{Public: ok, RateLimit: 1, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
		for i := range 20 {
			if r, _ := fetch(t, s.public+"/dynamic", "X-Forwarded-For", fmt.Sprintf("198.51.100.%d", i)); r.StatusCode != 200 {
				t.Fatalf("client %d: %s", i, r.Status)
			}
		}
		limited := 0
		for i := range 4 { // what a client writes in front of the proxy's entry does not matter
			if r, _ := fetch(t, s.public+"/dynamic", "X-Forwarded-For", fmt.Sprintf("203.0.113.%d, 198.51.100.99", i)); r.StatusCode == 429 {
				limited++
			}
		}
		if limited < 2 {
			t.Errorf("%d of 4 limited", limited)
		}
	})
}

// An oversized header is 431, an oversized body stops at the cap.
func TestOversizedRequests(t *testing.T) {
	s := start(t, server.Options{Public: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			w.WriteHeader(413)
		}
	})})
	for name, request := range map[string]string{
		"header": "GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + strings.Repeat("a", 40<<10) + "\r\n\r\n",
		"url":    "GET /" + strings.Repeat("a", 40<<10) + " HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		if status := raw(t, s.public, request); status != 431 {
			t.Errorf("%s: %d", name, status)
		}
	}
	r, err := http.Post(s.public, "application/json", io.LimitReader(zeros{}, 2<<20))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != 413 {
		t.Errorf("body: %s", r.Status)
	}
}

// A client that never finishes its header is cut off, and others are served meanwhile.
func TestSlowHeaderIsCutOff(t *testing.T) {
	s := start(t, server.Options{Public: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {})})
	var slow []net.Conn
	for range 100 {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.public, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
		slow = append(slow, c)
	}
	if r, _ := fetch(t, s.public); r.StatusCode != 200 {
		t.Error(r.Status)
	}
	for _, c := range slow {
		c.SetReadDeadline(time.Now().Add(15 * time.Second))
		_, err := io.ReadAll(c)
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			t.Fatal("a connection without a complete header is still open")
		}
	}
}

func raw(t *testing.T, base, request string) int {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	go io.WriteString(c, request)
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// What is in flight is finished, what comes later is refused, and Run returns nil.
func TestDrain(t *testing.T) {
	entered, finish := make(chan struct{}), make(chan struct{})
	s := start(t, server.Options{Public: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(entered)
		<-finish
		io.WriteString(w, "finished")
	})})
	answer := make(chan string, 1)
	go func() {
		r, err := http.Get(s.public)
		if err != nil {
			answer <- err.Error()
			return
		}
		defer r.Body.Close()
		body, _ := io.ReadAll(r.Body)
		answer <- string(body)
	}()
	<-entered
	s.stop()
	for {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.public, "http://"))
		if err != nil {
			break
		}
		c.Close()
	}
	close(finish)
	if got := <-answer; got != "finished" {
		t.Errorf("the request in flight got %q", got)
	}
	err := <-s.done
	s.done <- nil
	if err != nil {
		t.Errorf("Run: %v", err)
	}
}

// A request that does not end is cut, so that the process ends within five seconds.
func TestDrainIsBounded(t *testing.T) {
	entered := make(chan struct{})
	s := start(t, server.Options{Public: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
	})})
	go http.Get(s.public)
	<-entered
	begin := time.Now()
	s.stop()
	err := <-s.done
	s.done <- nil
	if took := time.Since(begin); err != nil || took > 5*time.Second {
		t.Errorf("Run returned %v after %v", err, took)
	}
}

// counting is a Reloader whose state the test sets.
type counting struct {
	mu      sync.Mutex
	loaded  string
	print   string
	blind   error // of Fingerprint
	err     error
	panics  bool
	reloads int
}

func (c *counting) Loaded() string { return c.loaded }

func (c *counting) Fingerprint() (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.print, c.blind
}

func (c *counting) Reload(context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reloads++
	if c.panics {
		panic("in the loader")
	}
	return "reloaded", c.err
}

func (c *counting) set(print string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.print, c.err = print, err
}

func (c *counting) look(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.blind = err
}

func (c *counting) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reloads
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

func TestReload(t *testing.T) {
	c := &counting{loaded: "a", print: "a"}
	s := start(t, server.Options{Reloader: c, PollInterval: 10 * time.Millisecond})
	readyz := func() string { _, body := fetch(t, s.private+"/readyz"); return body }
	time.Sleep(60 * time.Millisecond)
	if n := c.count(); n != 0 {
		t.Fatalf("%d reloads without a change", n)
	}
	c.set("b", errors.New("topics/x.yaml:3:5: wrong figure"))
	eventually(t, "refusal shown", func() bool { return strings.Contains(readyz(), "topics/x.yaml:3:5: wrong figure") })
	if body := readyz(); !strings.Contains(body, `"ready":true`) || !strings.Contains(body, `"level":"warning"`) {
		t.Errorf("a refused reload is a warning: %s", body)
	}
	time.Sleep(60 * time.Millisecond)
	if n := c.count(); n != 1 {
		t.Errorf("a refused folder was read %d times without a change", n)
	}
	c.set("c", nil)
	eventually(t, "recovery shown", func() bool { return strings.Contains(readyz(), "the newest state is served") })
	before := c.count()
	s.Reload()
	eventually(t, "reload on request", func() bool { return c.count() == before+1 })
	if _, metrics := fetch(t, s.private+"/metrics"); !strings.Contains(metrics, `sayso_reloads_total{result="refused"} 1`) {
		t.Error("the refusal is not counted")
	}
}

// A change that came while the first state was read is loaded, and so is whatever came while the folder could not be looked at.
func TestReloadMissesNothing(t *testing.T) {
	c := &counting{loaded: "before", print: "after"}
	s := start(t, server.Options{Reloader: c, PollInterval: 10 * time.Millisecond})
	readyz := func() string { _, body := fetch(t, s.private+"/readyz"); return body }
	eventually(t, "the change is loaded", func() bool { return c.count() == 1 })
	c.look(errors.New("the folder is away"))
	eventually(t, "the trouble is shown", func() bool { return strings.Contains(readyz(), "the folder is away") })
	c.look(nil)
	eventually(t, "the folder is loaded again", func() bool { return c.count() == 2 && strings.Contains(readyz(), "the newest state is served") })
	time.Sleep(60 * time.Millisecond)
	if n := c.count(); n != 2 {
		t.Errorf("%d reloads, want 2", n)
	}
}

// A fault in the loader refuses the change and leaves the server as it was.
func TestReloadSurvivesAPanic(t *testing.T) {
	c := &counting{loaded: "a", print: "b", panics: true}
	s := start(t, server.Options{Reloader: c, PollInterval: 10 * time.Millisecond})
	eventually(t, "the fault is shown", func() bool {
		_, body := fetch(t, s.private+"/readyz")
		return strings.Contains(body, "a fault of the program") && strings.Contains(body, `"ready":true`) && !strings.Contains(body, "in the loader")
	})
	if _, metrics := fetch(t, s.private+"/metrics"); !strings.Contains(metrics, `sayso_reloads_total{result="refused"} 1`) || !strings.Contains(metrics, "sayso_panics_total 1") {
		t.Error("the fault is not counted")
	}
}

func TestMetricsHaveClosedLabels(t *testing.T) {
	s := start(t, server.Options{Classify: func(string) (string, bool) { return "/f/{key}", false }})
	fetch(t, s.public+"/f/uk/secret-key?q=private")
	_, body := fetch(t, s.private+"/metrics")
	if !strings.Contains(body, `sayso_requests_total{class="4xx",route="/f/{key}"} 1`) || strings.Contains(body, "secret-key") || strings.Contains(body, "private") {
		t.Error(body)
	}
}

func TestLogRedactsByType(t *testing.T) {
	var out bytes.Buffer
	log := server.NewLogger(&out, slog.LevelInfo, true)
	u, _ := url.Parse("https://user:word@figures.example/path?token=hidden#part")
	log.Info("line", "url", u, "header", http.Header{"Authorization": {"hidden"}}, "body", []byte("hidden"), "query", url.Values{"q": {"hidden"}}, "n", 1)
	line := out.String()
	if strings.Contains(line, "hidden") || strings.Contains(line, "word") || !strings.Contains(line, "https://figures.example/path") {
		t.Error(line)
	}
}

// safeBuffer is written by the server and read by the test.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
