package gidpa2a_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sayso/gidp/gidpa2a"
	"sayso/jcs"
)

// listener is one open stream.
type listener struct {
	t       *testing.T
	binding string
	resp    *http.Response
	lines   *bufio.Scanner
	cancel  context.CancelFunc
}

// listen opens a stream on a real connection. status is that of the answer, which may be an error instead.
func (w *world) listen(t *testing.T, b string, server *httptest.Server, s sent) *listener {
	t.Helper()
	r := w.request(b, s)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	out, err := http.NewRequestWithContext(ctx, r.Method, server.URL+r.URL.Path, r.Body)
	if err != nil {
		t.Fatal(err)
	}
	out.Header = r.Header
	resp, err := server.Client().Do(out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); resp.Body.Close() })
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	return &listener{t, b, resp, lines, cancel}
}

// next is the next event in short: "task STATE n", "artifact ID", "status STATE", "message", "error", or "end".
func (l *listener) next() string {
	l.t.Helper()
	for l.lines.Scan() {
		data, ok := strings.CutPrefix(l.lines.Text(), "data: ")
		if !ok {
			continue
		}
		event := []byte(data)
		if l.binding == "JSONRPC" {
			var in struct {
				Result jcs.Raw `json:"result"`
			}
			if err := jcs.Decode(event, &in); err != nil {
				l.t.Fatal(err)
			}
			if event = in.Result; event == nil {
				return "error"
			}
		}
		var in struct {
			Task           *view   `json:"task"`
			Message        jcs.Raw `json:"message"`
			ArtifactUpdate *struct {
				Artifact struct {
					ID string `json:"artifactId"`
				} `json:"artifact"`
			} `json:"artifactUpdate"`
			StatusUpdate *view `json:"statusUpdate"`
		}
		if err := jcs.Decode(event, &in); err != nil {
			l.t.Fatal(err)
		}
		switch {
		case in.Task != nil:
			return fmt.Sprintf("task %s %d", strings.TrimPrefix(in.Task.Status.State, "TASK_STATE_"), len(in.Task.Artifacts))
		case in.ArtifactUpdate != nil:
			return "artifact " + in.ArtifactUpdate.Artifact.ID
		case in.StatusUpdate != nil:
			return "status " + strings.TrimPrefix(in.StatusUpdate.Status.State, "TASK_STATE_")
		case in.Message != nil:
			return "message"
		}
		return "error"
	}
	return "end"
}

func (l *listener) expect(events ...string) {
	l.t.Helper()
	for _, want := range events {
		if got := l.next(); got != want {
			l.t.Fatalf("the stream shows %q, want %q", got, want)
		}
	}
}

func (w *world) serve(t *testing.T) *httptest.Server {
	server := httptest.NewServer(w.handler)
	t.Cleanup(server.Close)
	return server
}

// JSONRPC-SSE, EXT-ECHO-ON-SSE, STREAM-ORDER-001 to 004, STREAM-SUB-001 to 004: a snapshot, each artifact once and in order, each change of state, and the end.
func TestStream(t *testing.T) {
	both(t, func(t *testing.T, b string) {
		w := newWorld(t)
		server := w.serve(t)
		key := w.key()
		open := w.opens(live, "s-1", key)
		open.method = "SendStreamingMessage"
		l := w.listen(t, b, server, open)
		if l.resp.Header.Get("Content-Type") != "text/event-stream" || l.resp.Header.Get("A2A-Extensions") != uri {
			t.Errorf("header %v", l.resp.Header)
		}
		l.expect("task WORKING 1")
		var id string
		w.host.mu.Lock()
		for name := range w.host.tasks {
			id = name
		}
		w.host.mu.Unlock()
		second := w.listen(t, b, server, sent{ref: live, method: "SubscribeToTask", task: id, key: key})
		second.expect("task WORKING 1")
		if r := w.do(b, sent{ref: live, method: "SendMessage", key: key, message: w.message("s-1", id, w.ask("s-1", "r-2"), nil)}); r.verdict != "ok" {
			t.Fatal(r.raw)
		}
		l.expect("artifact 000002")
		w.host.add(id, true, w.every("s-1")[2])
		l.expect("artifact 000003", "status INPUT_REQUIRED")
		for _, n := range []int{6, 9} {
			if r := w.do(b, sent{ref: live, method: "SendMessage", key: key, message: w.message("s-1", id, encode(t, w.every("s-1")[n]), nil)}); r.verdict != "ok" {
				t.Fatal(r.raw)
			}
			l.expect("status " + map[int]string{6: "WORKING", 9: "COMPLETED"}[n])
		}
		l.expect("end")
		second.expect("artifact 000002", "artifact 000003")
		if r := w.do(b, sent{ref: live, method: "SubscribeToTask", task: id, key: key}); r.verdict != "UNSUPPORTED_OPERATION" || r.header.Get("Content-Type") != "application/json" {
			t.Errorf("STREAM-SUB-003: %s", r.raw)
		}
		if r := w.do(b, sent{ref: live, method: "SubscribeToTask", task: "none", key: key}); r.verdict != "TASK_NOT_FOUND" {
			t.Errorf("STREAM-SUB-004: %s", r.raw)
		}
		hello := w.listen(t, b, server, sent{ref: live, method: "SendStreamingMessage", message: map[string]any{"messageId": "m"}})
		hello.expect("message", "end")
	})
}

// B-08. Who listens slowly, or comes again, misses nothing; and a stream costs no memory that grows.
func TestB08SlowListener(t *testing.T) {
	both(t, func(t *testing.T, b string) {
		w := newWorld(t)
		server := w.serve(t)
		key := w.key()
		id := w.open(b, live, "s-1", key)
		subscribe := sent{ref: live, method: "SubscribeToTask", task: id, key: key}
		l := w.listen(t, b, server, subscribe)
		for range 200 {
			w.host.add(id, false, w.every("s-1")[4])
		}
		l.expect("task WORKING 1")
		for n := 2; n <= 100; n++ {
			l.expect(fmt.Sprintf("artifact %06d", n))
		}
		l.cancel()
		w.clock.advance(tick)
		again := w.listen(t, b, server, subscribe)
		again.expect("task WORKING 201")
		w.host.add(id, false, w.every("s-1")[4])
		again.expect("artifact 000202")
	})
}

// So many streams of one task and no more; and none outlives the server.
func TestStreamsAreBounded(t *testing.T) {
	both(t, func(t *testing.T, b string) {
		until, stop := context.WithCancel(t.Context())
		w := newWorld(t, func(o *gidpa2a.Options) { o.StreamsPerTask, o.Until = 2, until })
		server := w.serve(t)
		key := w.key()
		id := w.open(b, live, "s-1", key)
		subscribe := sent{ref: live, method: "SubscribeToTask", task: id, key: key}
		first, second := w.listen(t, b, server, subscribe), w.listen(t, b, server, subscribe)
		first.expect("task WORKING 1")
		second.expect("task WORKING 1")
		if r := w.do(b, subscribe); r.status != 429 {
			t.Errorf("a third stream: %d", r.status)
		}
		first.cancel()
		deadline := time.Now().Add(10 * time.Second)
		for third := "429"; third != "200"; {
			if time.Now().After(deadline) {
				t.Fatal("the place of a stream that ended is not free")
			}
			l := w.listen(t, b, server, subscribe)
			if third = fmt.Sprint(l.resp.StatusCode); third == "200" {
				l.expect("task WORKING 1")
				defer l.expect("end")
			}
		}
		stop()
		second.expect("end")
	})
}

// What fails in the middle of a stream is an error without a payload, and no silence.
func TestStreamFails(t *testing.T) {
	both(t, func(t *testing.T, b string) {
		w := newWorld(t)
		server := w.serve(t)
		key := w.key()
		id := w.open(b, live, "s-1", key)
		l := w.listen(t, b, server, sent{ref: live, method: "SubscribeToTask", task: id, key: key})
		l.expect("task WORKING 1")
		w.host.mu.Lock()
		k := w.host.tasks[id]
		delete(w.host.tasks, id) // forgotten
		w.host.commit(k)
		w.host.mu.Unlock()
		l.expect("error", "end")
	})
}

// A comment is sent while nothing happens, and held replies end with the server.
func TestHeldReplyEndsWithServer(t *testing.T) {
	until, stop := context.WithCancel(t.Context())
	started := make(chan struct{})
	w := newWorld(t, func(o *gidpa2a.Options) {
		o.Until = until
		o.Wait = func(ctx context.Context, _ time.Time) error {
			close(started)
			<-ctx.Done()
			return ctx.Err()
		}
	})
	go func() { <-started; stop() }()
	if r := w.do("REST", w.opens(live, "s-1", w.key())); r.status != 503 || r.header.Get("Retry-After") == "" {
		t.Errorf("%d %s", r.status, r.raw)
	}
}
