package gidpa2a_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/gidp/gidpa2a"
	"sayso/gidp/wire"
	"sayso/jcs"
	"sayso/safefetch"
)

const endpoint = origin + "/a2a/" + live

func (w *world) peer(session string) gidpa2a.Peer {
	return gidpa2a.Peer{Endpoint: endpoint, Session: session, Key: w.key()}
}

// A whole session by our own client: hello, open, ask, watch, answer a request of the responder, close.
func TestClientSession(t *testing.T) {
	w := newWorld(t)
	c, to := w.client(), w.peer("s-1")
	open := gidpa2a.Outgoing{Object: w.opening("s-1"), Open: true}
	r, err := c.Send(t.Context(), to, open)
	if err != nil || r.State != gidpa2a.Working || len(r.Artifacts) != 1 || string(r.Artifacts[0].Hint) != `{"poll_after_s":1}` {
		t.Fatalf("%+v %v", r, err)
	}
	to.Task = r.Task
	if r, err := c.Send(t.Context(), gidpa2a.Peer{Endpoint: to.Endpoint, Session: to.Session, Key: to.Key}, open); err != nil || r.Task != to.Task || w.host.effects != 1 {
		t.Errorf("the open again: %+v %v", r, err)
	}
	signature := gidpa2a.SignObject(w.ask("s-1", "r-2"), to.Key)
	var got gidpa2a.Message
	w.host.saw = func(m gidpa2a.Message) { got = m }
	r, err = c.Send(t.Context(), to, gidpa2a.Outgoing{Object: w.ask("s-1", "r-2"), Signature: signature, Evidence: jcs.Raw(`{"credentials":["x"]}`)})
	if err != nil || len(r.Artifacts) != 1 || got.Signature != signature || string(got.Evidence) != `{"credentials":["x"]}` || got.Key != nil || got.Context != "s-1" {
		t.Fatalf("%+v %v, the host got %+v", r, err, got)
	}
	var shown []string
	err = c.Watch(t.Context(), to, 1, func(r gidpa2a.Received) error {
		for _, a := range r.Artifacts[1:] {
			o, err := wire.Decode(a.Object)
			if err != nil {
				return err
			}
			shown = append(shown, fmt.Sprint(r.State, " ", o.Type()))
		}
		switch len(r.Artifacts) {
		case 2:
			w.host.add(to.Task, true, w.every("s-1")[2])
			return nil
		case 3:
			if r.State == gidpa2a.Completed {
				return nil
			}
			_, err := c.Send(t.Context(), to, gidpa2a.Outgoing{Object: encode(t, w.every("s-1")[9])})
			return err
		}
		return errors.New("more than was sent")
	})
	want := []string{"TASK_STATE_WORKING CompatibilityResponse", "TASK_STATE_INPUT_REQUIRED CompatibilityResponse", "TASK_STATE_INPUT_REQUIRED ConsentRequest",
		"TASK_STATE_COMPLETED CompatibilityResponse", "TASK_STATE_COMPLETED ConsentRequest"}
	if err != nil || !slices.Equal(shown, want) {
		t.Errorf("watched %q: %v", shown, err)
	}
	var refusal *gidpa2a.Refusal
	if _, err := c.Send(t.Context(), to, gidpa2a.Outgoing{Object: w.ask("s-1", "r-3")}); !errors.As(err, &refusal) || refusal.Code != gidpa2a.Closed || !gidpa2a.Final(err) {
		t.Errorf("after the end: %v", err)
	}
}

// EXT-HELLO, by the client: nothing of GIDP goes to a peer that does not name the extension.
func TestClientHello(t *testing.T) {
	w := newWorld(t)
	var sent []string
	silence := func(echo bool) func(*gidpa2a.ClientOptions) {
		return func(o *gidpa2a.ClientOptions) {
			do := o.Do
			o.Do = func(r *http.Request) (*http.Response, error) {
				body, _ := io.ReadAll(r.Body)
				r.Body = io.NopCloser(bytes.NewReader(body))
				sent = append(sent, string(body))
				resp, err := do(r)
				if err == nil && !echo {
					resp.Header.Del("A2A-Extensions")
				}
				return resp, err
			}
		}
	}
	to := w.peer("s-1")
	open := gidpa2a.Outgoing{Object: w.opening("s-1"), Open: true}
	var inactive *gidpa2a.NotActive
	if _, err := w.client(silence(false)).Send(t.Context(), to, open); !errors.As(err, &inactive) || !gidpa2a.Final(err) {
		t.Errorf("no echo: %v", err)
	}
	if len(sent) != 1 || strings.Contains(sent[0], "/object") || strings.Contains(sent[0], "s-1") || strings.Contains(sent[0], "metadata") {
		t.Errorf("sent %q", sent)
	}
	if _, err := w.client(silence(false), func(o *gidpa2a.ClientOptions) { o.SilentPeers = true }).Send(t.Context(), to, open); err != nil {
		t.Errorf("a peer that may be silent: %v", err)
	}
	sent = nil
	c := w.client(silence(true))
	for range 3 {
		if err := c.Hello(t.Context(), endpoint); err != nil {
			t.Error(err)
		}
	}
	w.clock.advance(24*time.Hour - 1)
	_ = c.Hello(t.Context(), endpoint)
	if len(sent) != 1 {
		t.Errorf("a yes holds for a day: %d hellos", len(sent))
	}
	w.clock.advance(1)
	if _ = c.Hello(t.Context(), endpoint); len(sent) != 2 {
		t.Errorf("after a day: %d hellos", len(sent))
	}
}

func TestClientEndpoints(t *testing.T) {
	c := gidpa2a.NewClient(gidpa2a.ClientOptions{Do: func(r *http.Request) (*http.Response, error) {
		if !strings.HasSuffix(r.URL.Path, "/rpc") {
			t.Errorf("sent to %s", r.URL)
		}
		return nil, io.EOF
	}})
	for at, want := range map[string]bool{
		"https://a.example/a2a/x": true, "https://a.example:444/a2a/x": true, "http://127.0.0.1:1/a2a/x": true, "http://localhost:1/a2a/x": true,
		"http://a.example/a2a/x": false, "https://a.example": false, "https://a.example/": false, "https://a.example/a2a/x/": false, "https://a.example/a2a/x?y": false,
		"https://a.example/a2a/x#": false, "https://a.example/a2a/x?": false, "https://u@a.example/a2a/x": false, "https://a.example/a2a/../x": false, "//a.example/x": false,
		"ftp://127.0.0.1/x": false, "": false, "x": false, "https://a.example/" + strings.Repeat("x", 2048): false,
	} {
		if err := c.Hello(t.Context(), at); errors.Is(err, io.EOF) != want {
			t.Errorf("%s: %v", at, err)
		} else if !want && !gidpa2a.Final(err) {
			t.Errorf("%s: an error that sending again would mend", at)
		}
	}
}

// answering is a peer that says whatever it likes.
func answering(status int, header http.Header, body string) func(*http.Request) (*http.Response, error) {
	return func(*http.Request) (*http.Response, error) {
		if header == nil {
			header = http.Header{"A2a-Extensions": {uri}}
		}
		return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

func TestClientHostileAnswers(t *testing.T) {
	w := newWorld(t)
	ok := func(task string) string { return `{"jsonrpc":"2.0","id":"1","result":` + task + `}` }
	artifact := func(id, session string) string {
		return `{"artifactId":"` + id + `","metadata":{"` + uri + `/object":` + string(encode(t, &wire.SessionClose{Head: w.head(session), Reason: wire.ReasonDeclined})) + `}}`
	}
	task := func(artifacts ...string) string {
		return `{"id":"t-1","contextId":"s-1","status":{"state":"TASK_STATE_WORKING"},"artifacts":[` + strings.Join(artifacts, ",") + `]}`
	}
	for name, c := range map[string]struct {
		body string
		code string // "bad" or ""
	}{
		"fine":                 {ok(task(artifact("000001", "s-1"))), ""},
		"nothing yet":          {ok(task()), ""},
		"gap":                  {ok(task(artifact("000001", "s-1"), artifact("000003", "s-1"))), "bad"},
		"from 2":               {ok(task(artifact("000002", "s-1"))), "bad"},
		"twice":                {ok(task(artifact("000001", "s-1"), artifact("000001", "s-1"))), "bad"},
		"another session":      {ok(task(artifact("000001", "s-2"))), "bad"},
		"no object":            {ok(task(`{"artifactId":"000001","metadata":{}}`)), "bad"},
		"object that is none":  {ok(task(`{"artifactId":"000001","metadata":{"` + uri + `/object":"x"}}`)), "bad"},
		"signature of numbers": {ok(task(`{"artifactId":"000001","metadata":{"` + uri + `/evidence":{},"` + uri + `/sig":1}}`)), "bad"},
		"evidence alone":       {ok(task(`{"artifactId":"000001","metadata":{"` + uri + `/evidence":{},"` + uri + `/pad":[1]}}`)), ""},
		"another context":      {ok(strings.Replace(task(), "s-1", "s-2", 1)), "bad"},
		"another task":         {ok(strings.Replace(task(), "t-1", "t-2", 1)), "bad"},
		"foreign state":        {ok(strings.Replace(task(), "WORKING", "AUTH_REQUIRED", 1)), "bad"},
		"257 artifacts":        {ok(task(slices.Repeat([]string{artifact("000001", "s-1")}, 257)...)), "bad"},
		"duplicate names":      {ok(strings.Replace(task(), `"id"`, `"id":"x","id"`, 1)), "bad"},
		"trailing":             {ok(task()) + "{}", "bad"},
		"no JSON":              {"<html>", "bad"},
		"other id":             {strings.Replace(ok(task()), `"1"`, `"2"`, 1), "bad"},
		"result and error":     {strings.Replace(ok(task()), `"result"`, `"error":{"code":1},"result"`, 1), "bad"},
		"neither":              {`{"jsonrpc":"2.0","id":"1"}`, "bad"},
		"error of no code":     {`{"jsonrpc":"2.0","id":"1","error":{"code":"x"}}`, "bad"},
		"too long":             {ok(`"` + strings.Repeat("x", gidpa2a.MaxAnswer) + `"`), "bad"},
	} {
		client := gidpa2a.NewClient(gidpa2a.ClientOptions{Do: answering(200, nil, c.body)})
		to := w.peer("s-1")
		to.Task = "t-1"
		_, err := client.Get(t.Context(), to)
		var bad *gidpa2a.BadAnswer
		if name == "too long" && (err == nil || !strings.Contains(err.Error(), "longer")) {
			t.Errorf("%s: %v", name, err)
		}
		if errors.As(err, &bad) != (c.code == "bad") || c.code == "" && err != nil || err != nil && !gidpa2a.Final(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, c := range []struct {
		status int
		body   string
		header http.Header
		code   gidpa2a.RefusalCode
		retry  time.Duration
		final  bool
	}{
		{401, "x", nil, gidpa2a.Denied, 0, true}, {403, "x", nil, gidpa2a.Denied, 0, true}, {404, "x", nil, gidpa2a.NotFound, 0, true}, {413, "x", nil, gidpa2a.Invalid, 0, true},
		{429, "x", http.Header{"Retry-After": {"7"}}, gidpa2a.Limited, 7 * time.Second, false},
		{503, "x", http.Header{"Retry-After": {"99999999"}}, gidpa2a.Unavailable, 24 * time.Hour, false},
		{503, "x", http.Header{"Retry-After": {"Thu, 20 Aug 2026 10:01:00 GMT"}}, gidpa2a.Unavailable, time.Minute, false},
		{500, "x", http.Header{"Retry-After": {"-1"}}, gidpa2a.Unavailable, 0, false},
		{200, `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"secret"}}`, nil, gidpa2a.NotFound, 0, true},
		{400, `{"jsonrpc":"2.0","id":"1","error":{"code":-32602,"message":"secret"}}`, nil, gidpa2a.Invalid, 0, true},
		{200, `{"jsonrpc":"2.0","id":"1","error":{"code":-32004}}`, nil, gidpa2a.Closed, 0, true},
		{200, `{"jsonrpc":"2.0","id":"1","error":{"code":-32603}}`, nil, gidpa2a.Unavailable, 0, false},
		{200, `{"jsonrpc":"2.0","id":"1","error":{"code":-31401}}`, nil, gidpa2a.Denied, 0, true},
	} {
		client := gidpa2a.NewClient(gidpa2a.ClientOptions{Do: answering(c.status, c.header, c.body), Now: w.clock.Now})
		_, err := client.Get(t.Context(), w.peer("s-1"))
		var refusal *gidpa2a.Refusal
		if !errors.As(err, &refusal) || refusal.Code != c.code || refusal.RetryAfter != c.retry || gidpa2a.Final(err) != c.final || strings.Contains(err.Error(), "secret") {
			t.Errorf("%d %s: %v", c.status, c.body, err)
		}
	}
	var inactive *gidpa2a.NotActive
	for _, body := range []string{`{"jsonrpc":"2.0","id":"1","error":{"code":-32009}}`, `{"jsonrpc":"2.0","id":"1","result":{"message":{}}}`} {
		client := gidpa2a.NewClient(gidpa2a.ClientOptions{Do: answering(200, nil, body)})
		if _, err := client.Send(t.Context(), w.peer("s-1"), gidpa2a.Outgoing{Object: w.ask("s-1", "r-2")}); !errors.As(err, &inactive) {
			t.Errorf("%s: %v", body, err)
		}
	}
	var bad *gidpa2a.BadAnswer
	if err := gidpa2a.NewClient(gidpa2a.ClientOptions{Do: answering(307, nil, "")}).Hello(t.Context(), endpoint); !errors.As(err, &bad) {
		t.Errorf("a redirect: %v", err)
	}
}

// An artifact that was shown does not change.
func TestClientHoldsArtifactsAgainstEarlierOnes(t *testing.T) {
	w := newWorld(t)
	c := w.client()
	to := w.peer("s-1")
	r, err := c.Send(t.Context(), to, gidpa2a.Outgoing{Object: w.opening("s-1"), Open: true})
	if err != nil {
		t.Fatal(err)
	}
	to.Task = r.Task
	w.host.add(to.Task, false, w.every("s-1")[4])
	w.clock.advance(tick)
	if r, err = c.Get(t.Context(), to); err != nil || len(r.Artifacts) != 2 {
		t.Fatal(err)
	}
	w.host.mu.Lock()
	k := w.host.tasks[to.Task]
	k.Artifacts[0].Evidence = jcs.Raw(`{}`)
	w.host.mu.Unlock()
	var bad *gidpa2a.BadAnswer
	if _, err = c.Get(t.Context(), to); !errors.As(err, &bad) {
		t.Errorf("a changed artifact: %v", err)
	}
}

// Watching asks every second for a minute and then every half minute, spread by a fifth; what passes is waited out, what stays ends it.
func TestClientPace(t *testing.T) {
	w := newWorld(t)
	var pauses []time.Duration
	fail, asked := error(nil), 0
	c := w.client(func(o *gidpa2a.ClientOptions) {
		do := o.Do
		o.Do = func(r *http.Request) (*http.Response, error) {
			if asked++; fail != nil {
				return nil, fail
			}
			return do(r)
		}
		o.Pause = func(ctx context.Context, d time.Duration) error {
			pauses = append(pauses, d)
			if len(pauses) == 100 {
				return context.Canceled
			}
			return w.clock.Pause(ctx, d)
		}
	})
	to := w.peer("s-1")
	r, err := c.Send(t.Context(), to, gidpa2a.Outgoing{Object: w.opening("s-1"), Open: true})
	if err != nil {
		t.Fatal(err)
	}
	to.Task = r.Task
	never := func(gidpa2a.Received) error { return errors.New("nothing happened") }
	if err := c.Watch(t.Context(), to, 1, never); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	quick, within, distinct := 0, true, map[time.Duration]bool{}
	for _, d := range pauses {
		distinct[d] = true
		if d <= 1200*time.Millisecond {
			quick++
			within = within && d >= 800*time.Millisecond
		} else {
			within = within && d >= 24*time.Second && d <= 36*time.Second
		}
	}
	if quick < 48 || quick > 77 || !within || len(distinct) < 50 {
		t.Errorf("%d quick pauses, all within the spread: %v, %d different ones", quick, within, len(distinct))
	}
	pauses, fail = nil, &safefetch.FetchError{Kind: safefetch.KindTimeout}
	if err := c.Watch(t.Context(), to, 1, never); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		if d := pauses[i]; d < want*800*time.Millisecond || d > want*1200*time.Millisecond {
			t.Errorf("pause %d after a failure: %v", i, d)
		}
	}
	limited := gidpa2a.NewClient(gidpa2a.ClientOptions{Do: answering(429, http.Header{"Retry-After": {"100"}}, ""), Now: w.clock.Now, Random: w.random, Pause: func(_ context.Context, d time.Duration) error {
		if d < 80*time.Second || d > 120*time.Second {
			t.Errorf("a pause of %v where 100 s were asked for", d)
		}
		return context.Canceled
	}})
	if err := limited.Watch(t.Context(), to, 1, never); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	pauses, fail = nil, safefetch.ErrRefused
	if err := c.Watch(t.Context(), to, 1, never); !errors.Is(err, safefetch.ErrRefused) || len(pauses) != 0 {
		t.Errorf("a forbidden endpoint: %v after %d pauses", err, len(pauses))
	}
}

// The whole way over a real connection and package safefetch, which a signature has to survive.
func TestSafeClient(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := "http://" + listener.Addr().String()
	host := newMemory(&clock{now: time.Now()})
	handler, err := gidpa2a.NewHandler(gidpa2a.Options{Host: host, Origin: at})
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: handler}}
	server.Start()
	defer server.Close()
	fetch := safefetch.New(safefetch.Policy{MaxBytes: gidpa2a.MaxAnswer, Loopback: []string{listener.Addr().String()}})
	defer fetch.Close()
	c := gidpa2a.NewSafeClient(fetch, gidpa2a.ClientOptions{})
	w := newWorld(t)
	to := w.peer("s-1")
	to.Endpoint = at + "/a2a/" + live
	r, err := c.Send(t.Context(), to, gidpa2a.Outgoing{Object: w.opening("s-1"), Open: true})
	if err != nil || len(r.Artifacts) != 1 {
		t.Fatalf("%+v %v", r, err)
	}
	to.Task = r.Task
	if r, err = c.Send(t.Context(), to, gidpa2a.Outgoing{Object: w.ask("s-1", "r-2")}); err != nil || r.State != gidpa2a.Working {
		t.Errorf("%+v %v", r, err)
	}
	to.Endpoint = "http://127.0.0.1:1/a2a/" + live
	if _, err := c.Get(t.Context(), to); !errors.Is(err, safefetch.ErrRefused) {
		t.Errorf("another port of the own machine: %v", err)
	}
}

// Evidence may come without an object: it has none then, rather than an empty one.
func TestEvidenceAlone(t *testing.T) {
	w := newWorld(t)
	c := w.client()
	to := w.peer("s-1")
	r, err := c.Send(t.Context(), to, gidpa2a.Outgoing{Object: w.opening("s-1"), Open: true})
	if err != nil {
		t.Fatal(err)
	}
	to.Task = r.Task
	w.host.mu.Lock()
	k := w.host.tasks[to.Task]
	k.Artifacts = append(k.Artifacts, gidpa2a.Artifact{Number: 2, Release: w.clock.Now(), Evidence: jcs.Raw(`{"levels":{}}`)})
	w.host.mu.Unlock()
	r, err = c.Get(t.Context(), to)
	if err != nil || len(r.Artifacts) != 2 || r.Artifacts[1].Object != nil || string(r.Artifacts[1].Evidence) != `{"levels":{}}` {
		t.Fatalf("%v %+v", err, r.Artifacts)
	}
}
