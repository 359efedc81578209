package mcpserve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"sayso/facts/describe"
	"sayso/facts/factstest"
	"sayso/internal/mcpserve"
)

var stdioIdentity = mcpserve.Identity{Name: "sayso/facts", Title: "Facts", Version: "1.2.3"}

const handshake = `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// slowTools answers after a while, so that the end of input comes first.
type slowTools struct {
	recorder
	delay time.Duration
}

func (s *slowTools) Call(ctx context.Context, name string, args []byte) (describe.Result, bool) {
	select {
	case <-time.After(s.delay):
	case <-ctx.Done():
	}
	return s.recorder.Call(ctx, name, args)
}

// pipe serves one input to its end and returns the answers by id, an answer without id under "null".
func pipe(t *testing.T, input string, tools mcpserve.Tools) map[string][]json.RawMessage {
	t.Helper()
	var out bytes.Buffer
	if err := mcpserve.ServeStdio(t.Context(), strings.NewReader(input), &out, tools, stdioIdentity); err != nil {
		t.Fatalf("%v; output %s", err, out.Bytes())
	}
	answers := map[string][]json.RawMessage{}
	for line := range strings.Lines(out.String()) {
		var m struct {
			JSONRPC string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.JSONRPC != "2.0" || !strings.HasSuffix(line, "\n") {
			t.Fatalf("not a message on a line: %q", line)
		}
		answers[string(m.ID)] = append(answers[string(m.ID)], json.RawMessage(strings.TrimSpace(line)))
	}
	return answers
}

func code(t *testing.T, line json.RawMessage) int {
	t.Helper()
	return answer{body: line}.rpcCode(t)
}

func (a answer) rpcCode(t *testing.T) int {
	t.Helper()
	r := a.rpc(t)
	if r.Error == nil {
		return 0
	}
	return r.Error.Code
}

// TestStdioAnswersBeforeTheEnd: three requests piped in one go give three answers though the input has long ended.
func TestStdioAnswersBeforeTheEnd(t *testing.T) {
	tools := &slowTools{delay: 50 * time.Millisecond}
	answers := pipe(t, handshake+`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`+"\n"+call("2", "record", `{"a":50.0}`)+"\n", tools)
	for _, id := range []string{`"i"`, "1", "2"} {
		if len(answers[id]) != 1 || code(t, answers[id][0]) != 0 {
			t.Errorf("id %s: %s", id, answers[id])
		}
	}
	if len(tools.args) != 1 || string(tools.args[0]) != `{"a":50.0}` {
		t.Errorf("arguments %q", tools.args)
	}
}

func TestStdioNewestRevisionNeedsNoHandshake(t *testing.T) {
	answers := pipe(t, `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{`+statelessMeta+`}}`+"\n", new(recorder))
	if len(answers["1"]) != 1 || !strings.Contains(string(answers["1"][0]), `"2026-07-28"`) {
		t.Errorf("%s", answers)
	}
}

// TestStdioBadLines: a line that is refused gets its error, and the lines around it their answers.
func TestStdioBadLines(t *testing.T) {
	tests := []struct {
		name, line, id string
		code           int
	}{
		{"malformed", `{"jsonrpc":`, "null", -32700},
		{"text", `hello`, "null", -32700},
		{"two values", `{"jsonrpc":"2.0","id":7,"method":"ping"} {}`, "null", -32700},
		{"duplicate member", `{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}`, "null", -32700},
		{"invalid UTF-8", "\"\xff\"", "null", -32700},
		{"batch", `[{"jsonrpc":"2.0","id":7,"method":"ping"}]`, "null", -32600},
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, "null", -32600},
		{"unknown method", `{"jsonrpc":"2.0","id":7,"method":"guess"}`, "7", -32601},
		{"params missing", `{"jsonrpc":"2.0","id":7,"method":"tools/call"}`, "7", -32602},
		{"unknown tool", call("7", "guess", `{}`), "7", -32602},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			input := handshake + call("1", "record", `{}`) + "\n" + test.line + "\n\n  \r\n" + call("2", "record", `{}`) + "\r\n"
			answers := pipe(t, input, new(recorder))
			if got := answers[test.id]; len(got) != 1 || code(t, got[0]) != test.code {
				t.Errorf("answers to %s: %s", test.line, answers)
			}
			for _, id := range []string{"1", "2"} {
				if len(answers[id]) != 1 || code(t, answers[id][0]) != 0 {
					t.Errorf("id %s: %s", id, answers[id])
				}
			}
		})
	}
}

func TestStdioLongLine(t *testing.T) {
	tools := new(recorder)
	long := `{"a":"` + strings.Repeat("x", 3<<20) + `"}`
	answers := pipe(t, handshake+call("1", "record", long)+"\n", tools)
	if len(answers["1"]) != 1 || code(t, answers["1"][0]) != 0 || len(tools.args) != 1 || string(tools.args[0]) != long {
		t.Errorf("a line of 3 MB was not served: %d calls", len(tools.args))
	}
	answers = pipe(t, handshake+strings.Repeat("y", 17<<20)+"\n"+call("1", "record", `{}`)+"\n", tools)
	if got := answers["null"]; len(got) != 1 || code(t, got[0]) != -32700 || len(answers["1"]) != 1 {
		t.Errorf("after a line over the limit: %s", answers)
	}
}

// TestStdioEndInsideALine: a last line without its line end is served when it is whole and refused when it is not.
func TestStdioEndInsideALine(t *testing.T) {
	whole := call("1", "record", `{}`)
	if answers := pipe(t, handshake+whole, new(recorder)); len(answers["1"]) != 1 || code(t, answers["1"][0]) != 0 {
		t.Errorf("whole line: %s", answers)
	}
	if answers := pipe(t, handshake+whole[:len(whole)-3], new(recorder)); len(answers["null"]) != 1 || code(t, answers["null"][0]) != -32700 {
		t.Errorf("cut line: %s", answers)
	}
	if answers := pipe(t, "", new(recorder)); len(answers) != 0 {
		t.Errorf("no input: %s", answers)
	}
}

// TestStdioFacts serves a snapshot's tools, which a client program of the command line does with others.
func TestStdioFacts(t *testing.T) {
	args := `{"key":"uk/bank-rate"}`
	answers := pipe(t, handshake+call("1", describe.ToolGet, args)+"\n", &callTools{})
	want, _ := describe.Call(sample(), describe.ToolGet, []byte(args), factstest.Today)
	got := result(t, answer{body: answers["1"][0]})
	if got.Content[0].Text != string(want.JSON) {
		t.Errorf("%s\nwant\n%s", got.Content[0].Text, want.JSON)
	}
}

type callTools struct{}

func (callTools) Definitions() []describe.Operation { return describe.Operations(sample()) }
func (callTools) Instructions() string              { return describe.Instructions(sample()) }
func (callTools) Call(_ context.Context, name string, args []byte) (describe.Result, bool) {
	return describe.Call(sample(), name, args, factstest.Today)
}

// TestStdioStops: the end of the context and a broken output end the session, and nothing keeps running.
func TestStdioStops(t *testing.T) {
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(t.Context())
	in, feed := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- mcpserve.ServeStdio(ctx, in, io.Discard, new(recorder), stdioIdentity) }()
	fmt.Fprint(feed, handshake)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("after cancel: %v", err)
	}
	feed.Close()

	in, feed = io.Pipe()
	go func() { done <- mcpserve.ServeStdio(t.Context(), in, brokenWriter{}, new(recorder), stdioIdentity) }()
	go fmt.Fprint(feed, handshake)
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Error("a broken output does not end the session")
	}
	feed.Close()
	in.Close()
	settled(t, before)
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("closed") }

func FuzzMessage(f *testing.F) {
	for _, seed := range []string{
		list, handshake, call("1", "get_fact", `{"key":"a/b","max_age":1e400}`), `[]`, `{"jsonrpc":"2.0","id":-0,"method":"x"}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"a":"\\","b":[{"c":-1.5e+7,"d":01}]}`, `{"id":"\ud800"}`, "{\"\\\"",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		ok, refusal := mcpserve.ParseMessage(data)
		if ok && !json.Valid(data) {
			t.Errorf("admitted what is not JSON: %q", data)
		}
		if !ok {
			answer{body: refusal}.rpc(t)
		}
	})
}
