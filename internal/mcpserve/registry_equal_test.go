package mcpserve_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"sayso/internal/mcpserve"
)

// message is one request of the corpus.
type message struct {
	name, body string
	edit       func(*http.Request)
}

// corpus is what a client may send to an endpoint whose tool is named tool: every id, argument, revision and kind of damage that could part the two writers.
func corpus(tool string) []message {
	ids := []string{`1`, `0`, `-1`, `9007199254740991`, `-9007199254740991`, `"a"`, `""`, `"1"`, `"\u0041\n\"\\"`, `"\ud83d\ude00"`, "\"\U0001F600\"", `"<&>"`, `"\u2028"`}
	args := []string{
		`{"query":"eye exam"}`, `{}`, `null`, ` { "query" : "x" } `, `{"n":50.0}`, `{"n":1E2}`, `{"n":-0}`, `{"n":43.85630}`, `{"n":12345678901234567890123}`, `{"n":1e400}`,
		`{"query":"\u00e9\u0000<&>"}`, "{\"query\":\"\u2028\U0001F600\"}", `{"asOf":"2026-01-01"}`, `{"deep":[[[{"a":[]}]]]}`,
		`[]`, `7`, `"x"`, `true`, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"a":"` + strings.Repeat("x", 40_000) + `"}`, `{"a":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}`,
		"{\"a\":\"\xff\"}", `{"a":"\ud800"}`,
	}
	var out []message
	add := func(name, body string, edit func(*http.Request)) { out = append(out, message{name, body, edit}) }
	for _, revision := range revisions {
		for _, id := range ids {
			body, edit := at(revision, id, tool, `{"query":"x"}`)
			add(revision+" id "+id, body, edit)
		}
		for i, arguments := range args {
			body, edit := at(revision, "7", tool, arguments)
			add(fmt.Sprintf("%s arguments %d", revision, i), body, edit)
		}
		for _, name := range []string{"nope", "get_fact", "", "a\u0000b", "<&>", strings.Repeat("n", 300)} {
			body, edit := at(revision, "7", name, `{}`)
			add(revision+" tool "+name[:min(9, len(name))], body, edit)
		}
		for i, edit := range []func(*http.Request){
			header("Accept", "application/json"), header("Accept", ""), header("Accept", "text/html"), header("Content-Type", "application/json; charset=utf-8"),
			header("Content-Type", "text/plain"), header("Mcp-Session-Id", "s"), header("Last-Event-ID", "3"), header("Mcp-Method", "tools/list"), header("Mcp-Name", "other"),
			header("Mcp-Method", ""), header("Mcp-Name", ""), header("Mcp-Param-Query", "x"), header("Mcp-Protocol-Version", ""), header("Mcp-Protocol-Version", "2025-03-26"),
			func(r *http.Request) { r.Header.Add("Mcp-Protocol-Version", "2025-06-18") },
			func(r *http.Request) { r.Header.Add("Mcp-Name", "other") },
			header("Origin", "https://elsewhere.example"), header("Accept-Encoding", "gzip"),
		} {
			body, revised := at(revision, "7", tool, `{"query":"x"}`)
			add(fmt.Sprintf("%s header %d", revision, i), body, func(r *http.Request) { revised(r); edit(r) })
		}
		for i, params := range []string{
			`{}`, `[]`, `null`, `{"name":7}`, `{"name":null,"arguments":{}}`, `{"name":%q}`, `{"name":%q,"arguments":{},"task":{}}`, `{"Name":%q}`, `{"name":%q,"Arguments":{"query":"x"}}`,
			`{"arguments":{},"name":%q}`, `{"name":%q,"arguments":{},"_meta":{"progressToken":1}}`, `{"name":%q,"arguments":{},"_meta":{"progressToken":"p"}}`,
			`{"name":%q,"arguments":{},"_meta":{"progressToken":1.5}}`, `{"name":%q,"arguments":{},"_meta":{"progressToken":{}}}`, `{"name":%q,"arguments":{},"_meta":{"x/y":1}}`,
			`{"name":%q,"arguments":{},"_meta":{}}`, `{"name":%q,"arguments":{},"_meta":null}`, `{"name":%q,"arguments":{},"_meta":7}`, `{"name":%q,"inputResponses":{},"requestState":"s"}`,
		} {
			text := strings.Replace(params, "%q", `"`+tool+`"`, 1)
			_, edit := at(revision, "7", tool, `{}`)
			add(fmt.Sprintf("%s params %d", revision, i), `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":`+text+`}`, edit)
		}
	}
	const version, capabilities, info, level = `"io.modelcontextprotocol/protocolVersion":`, `"io.modelcontextprotocol/clientCapabilities":`, `"io.modelcontextprotocol/clientInfo":`, `"io.modelcontextprotocol/logLevel":`
	for i, meta := range []string{
		version + `"2026-07-28"`, capabilities + `{}`, version + `"2025-11-25",` + capabilities + `{}`, version + `"2027-01-01",` + capabilities + `{}`, version + `7,` + capabilities + `{}`,
		version + `"2026-07-28",` + capabilities + `null`, version + `"2026-07-28",` + capabilities + `[]`, version + `"2026-07-28",` + capabilities + `{"roots":{}}`,
		version + `"2026-07-28",` + capabilities + `{"roots":{"listChanged":true}}`, version + `"2026-07-28",` + capabilities + `{"roots":7}`,
		version + `"2026-07-28",` + capabilities + `{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"extensions":{},"experimental":{}}`,
		version + `"2026-07-28",` + capabilities + `{"elicitation":{"form":7}}`, version + `"2026-07-28",` + capabilities + `{"unheard":{}}`,
		version + `"2026-07-28",` + capabilities + `{},` + info + `{"name":"c","version":"1"}`, version + `"2026-07-28",` + capabilities + `{},` + info + `{"name":7}`,
		version + `"2026-07-28",` + capabilities + `{},` + info + `{}`, version + `"2026-07-28",` + capabilities + `{},` + info + `null`,
		version + `"2026-07-28",` + capabilities + `{},` + info + `{"name":"c","version":"1","websiteUrl":7}`,
		version + `"2026-07-28",` + capabilities + `{},` + level + `"debug"`, version + `"2026-07-28",` + capabilities + `{},"progressToken":3`, version + `"2026-07-28",` + capabilities + `{},"traceparent":"00-1"`,
	} {
		for _, revision := range revisions {
			_, edit := at(revision, "7", tool, `{}`)
			add(fmt.Sprintf("%s meta %d", revision, i), `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":{`+meta+`},"name":"`+tool+`","arguments":{"query":"x"}}}`, edit)
		}
	}
	for i, body := range []string{
		``, `{`, `[]`, `[` + call("1", tool, `{}`) + `]`, call("1", tool, `{}`) + ` x`, call("1.5", tool, `{}`), call("1e3", tool, `{}`), call("9007199254740993", tool, `{}`), call("null", tool, `{}`),
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"` + tool + `"}}`, `{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":"` + tool + `"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `"},"result":{}}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `"},"extra":1}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","name":"b"}}`, `{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","params":{"name":"` + tool + `"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"Tools/call","params":{"name":"` + tool + `"}}`, "\ufeff" + call("1", tool, `{}`), ` ` + call("1", tool, `{}`) + "\n\t",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, `{"params":{"arguments":{"query":"x"},"name":"` + tool + `"},"method":"tools/call","id":"z","jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		"\x00", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":{"query":"` + "\xc3\x28" + `"}}}`,
	} {
		add(fmt.Sprintf("body %d", i), body, nil)
	}
	return out
}

// same reports how two answers differ in what a client can tell: status, headers that say something, and the body as a JSON value with numbers as written.
func same(a, b answer) error {
	if a.status != b.status {
		return fmt.Errorf("status %d and %d", a.status, b.status)
	}
	for _, name := range []string{"Content-Type", "Cache-Control", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Mcp-Session-Id", "Retry-After", "Vary", "Etag", "Allow"} {
		if !reflect.DeepEqual(a.header.Values(name), b.header.Values(name)) {
			return fmt.Errorf("%s: %q and %q", name, a.header.Values(name), b.header.Values(name))
		}
	}
	if value(a.body) != nil || value(b.body) != nil {
		if !reflect.DeepEqual(value(a.body), value(b.body)) {
			return fmt.Errorf("bodies\n%.600s\nand\n%.600s", a.body, b.body)
		}
		return nil
	}
	if !bytes.Equal(a.body, b.body) {
		return fmt.Errorf("texts %.200s and %.200s", a.body, b.body)
	}
	return nil
}

func value(text []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// TestFastPathEqualsSDK: an answer that is framed here is the one that the SDK would give.
func TestFastPathEqualsSDK(t *testing.T) {
	f := newFakeRegistry()
	tools := f.tools()
	framed := 0
	for _, endpoint := range []struct{ slug, tool string }{{"north", "north.search"}, {"", "get_fact"}, {"", "find_publishers"}, {"", "ask_business"}} {
		p := f.pubs[endpoint.slug]
		fast, sdk := direct(tools.ServeCounted(&framed), p), direct(tools.ServeSDK, p)
		messages := corpus(endpoint.tool)
		if endpoint.slug == "" {
			for _, args := range []string{`{"key":"uk/bank-rate"}`, `{"name":"north"}`, `{"latitude":1.50,"longitude":-2}`, `{"publisher":"north","query":"a","limit":5.0}`, `{"publisher":"shut","query":"a"}`} {
				for _, revision := range revisions {
					body, edit := at(revision, "7", endpoint.tool, args)
					messages = append(messages, message{revision + args, body, edit})
				}
			}
		}
		before := framed
		for _, m := range messages {
			if err := same(send(t, fast, m.body, m.edit), send(t, sdk, m.body, m.edit)); err != nil {
				t.Errorf("%s/%s: %s: here and SDK: %v", endpoint.slug, endpoint.tool, m.name, err)
			}
		}
		t.Logf("%s/%s: %d of %d framed here", endpoint.slug, endpoint.tool, framed-before, len(messages))
		if framed-before < 80 {
			t.Errorf("only %d of %d messages took the fast path", framed-before, len(messages))
		}
	}
}

// FuzzFastPath holds any params of a call at any revision to the SDK's answer.
func FuzzFastPath(f *testing.F) {
	for _, m := range []string{
		`"name":"north.search","arguments":{"query":"x"}`, `"name":"north.search","arguments":null,"_meta":{"progressToken":"a"}`, `"name":"nope"`, `"name":"north.search","arguments":[]`,
		`"name":"north.search","arguments":{"a":1E2,"b":-0},` + statelessMeta,
	} {
		for revision := range revisions {
			f.Add(uint8(revision), `"a"`, m)
		}
	}
	registry := newFakeRegistry()
	tools := registry.tools()
	p := registry.pubs["north"]
	fast, sdk := direct(tools.ServeCall, p), direct(tools.ServeSDK, p)
	f.Fuzz(func(t *testing.T, revision uint8, id, params string) {
		body := `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{` + params + `}}`
		_, edit := at(revisions[int(revision)%len(revisions)], "1", "north.search", "{}")
		if err := same(send(t, fast, body, edit), send(t, sdk, body, edit)); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
	})
}

// FuzzSplitAsk: the inner call has the members of the outer one but for publisher, in their order, with their literals.
func FuzzSplitAsk(f *testing.F) {
	for _, args := range []string{`{"publisher":"north","query":"a","limit":5.0}`, ` { "query" : "\u00e9" , "publisher" : "n" } `, `{"publisher":7}`, `{}`, `{"publisher":"a","asOf":1}`, `{"bound":{"x":[1E2, -0]},"publisher":"a"}`} {
		f.Add([]byte(args))
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		if len(args) == 0 || json.Unmarshal(args, new(map[string]any)) != nil {
			return
		}
		slug, inner, ok := mcpserve.SplitAsk(args)
		if !ok {
			return
		}
		want, _ := value(args).(map[string]any)
		if want == nil || want["publisher"] != slug {
			t.Fatalf("%s: publisher %q", args, slug)
		}
		delete(want, "publisher")
		if got := value(inner); !reflect.DeepEqual(got, any(want)) {
			t.Fatalf("%s: inner %s", args, inner)
		}
		if bytes.ContainsAny(bytes.Trim(inner, "{}"), "\n\t\r") {
			t.Fatalf("%s: not compact: %q", args, inner)
		}
	})
}
