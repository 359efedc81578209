package gidpa2a_test

import (
	"crypto/ed25519"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/gidp/gidpa2a"
	"sayso/jcs"
	"sayso/jwk"
	"sayso/jws"
)

func (w *world) card(ref string, header http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, origin+"/a2a/"+ref+"/.well-known/agent-card.json", nil)
	for name, values := range header {
		r.Header[name] = values
	}
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, r)
	return rec
}

// CARD-DISC, CARD-PROTO, CARD-STRUCT, CARD-SIGN-001 to 003, CARD-CACHE-001 and -002.
func TestCard(t *testing.T) {
	var signer *jwk.PrivateKey
	w := newWorld(t, func(o *gidpa2a.Options) {
		key, err := jwk.Generate("cards-2026", strings.NewReader(strings.Repeat("c", 32)))
		if err != nil {
			t.Fatal(err)
		}
		signer, o.Signer, o.Profiles = key, key, []string{"core", "partnership"}
	})
	rec := w.card(live, nil)
	if rec.Code != 200 || rec.Header().Get("Content-Type") != "application/json" || rec.Header().Get("Cache-Control") != "max-age=3600" || rec.Header().Get("ETag") == "" {
		t.Fatalf("%d %v", rec.Code, rec.Header())
	}
	members, err := jcs.Members(rec.Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var signatures []struct{ Protected, Signature string }
	unsigned := map[string]jcs.Raw{}
	for _, m := range members {
		if m.Name != "signatures" {
			unsigned[m.Name] = m.Value
			continue
		}
		var list []struct {
			Protected string `json:"protected"`
			Signature string `json:"signature"`
		}
		if err := jcs.Decode(m.Value, &list); err != nil || len(list) != 1 {
			t.Fatalf("signatures %s: %v", m.Value, err)
		}
		signatures = append(signatures, struct{ Protected, Signature string }(list[0]))
	}
	payload, err := jcs.Canonical(mustEncode(t, unsigned))
	if err != nil {
		t.Fatal(err)
	}
	if err := jws.VerifyDetached(signatures[0].Protected+".."+signatures[0].Signature, payload, "cards-2026", signer.Public().Public); err != nil {
		t.Errorf("signature: %v", err)
	}
	const want = `{"capabilities":{"extensions":[{"description":"Private conditional interests, GIDP 0.1: objects travel in the metadata of messages and artifacts.","params":{"profiles":["core","partnership"]},"uri":"https://gidp.dev/extensions/gidp/0.1"}],"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"description":"Answers for a principal over the GIDP extension. It speaks no other language.","name":"GIDP agent","skills":[{"description":"Answers for a principal over the GIDP extension. It speaks no other language.","id":"gidp","name":"GIDP agent","tags":["gidp"]}],"supportedInterfaces":[{"protocolBinding":"JSONRPC","protocolVersion":"1.0","url":"http://127.0.0.1:8470/a2a/0123456789abcdef0123456789abcdef/rpc"},{"protocolBinding":"HTTP+JSON","protocolVersion":"1.0","url":"http://127.0.0.1:8470/a2a/0123456789abcdef0123456789abcdef/v1"}],"version":"0.1"}`
	if string(payload) != want {
		t.Errorf("card\n%s\nwant\n%s", payload, want)
	}
	if again := w.card(live, http.Header{"If-None-Match": {`"x", W/` + rec.Header().Get("ETag")}}); again.Code != 304 || again.Body.Len() != 0 {
		t.Errorf("known: %d %s", again.Code, again.Body)
	}
	if dead := w.card(unknown, nil); dead.Code != 200 || strings.ReplaceAll(blank(dead.Body.String()), unknown, live) != blank(rec.Body.String()) || dead.Header().Get("ETag") == rec.Header().Get("ETag") {
		t.Errorf("the card of a reference that is not live: %d %s", dead.Code, dead.Body)
	}
	for _, ref := range []string{"", "0123", strings.ToUpper(live), live + "0", "..", live[:31] + "g"} {
		if rec := w.card(ref, nil); rec.Code != 404 || strings.Contains(rec.Body.String(), "0123") {
			t.Errorf("%q: %d %s", ref, rec.Code, rec.Body)
		}
	}
}

// blank takes the value of the signature out of a card.
func blank(card string) string {
	at := strings.Index(card, `"signature":"`)
	return card[:at+13] + card[at+13+86:]
}

// CORE-SEND, CORE-GET, CORE-CANCEL, CORE-CAP, CORE-MULTI, CORE-HIST, CORE-EXECUTION-MODE, AUTH-SCOPE and JSONRPC-ERR: who is told what, the same in both bindings
// (BIND-EQUIV).
func TestVerdicts(t *testing.T) {
	both(t, func(t *testing.T, b string) {
		w := newWorld(t)
		key, stranger, second := w.key(), w.key(), w.key()
		id := w.open(b, live, "s-1", key)
		theirs := w.open(b, live, "s-2", second)
		send := func(m map[string]any) sent { return sent{ref: live, method: "SendMessage", key: key, message: m} }
		with := func(m map[string]any, name string, value any) map[string]any { m[name] = value; return m }
		off := http.Header{"A2A-Extensions": nil}
		var reached string
		w.host.saw = func(m gidpa2a.Message) { reached = string(m.Object) }
		for _, c := range []struct {
			id, verdict string
			s           sent
		}{
			{"CORE-SEND-001", "ok", send(w.message("s-1", id, w.ask("s-1", "r-2"), nil))},
			{"CORE-SEND-002 no message", "INVALID_PARAMS", send(nil)},
			{"CORE-SEND-002 no messageId", "INVALID_PARAMS", send(with(w.message("s-1", id, w.ask("s-1", "r-3"), nil), "messageId", ""))},
			{"CORE-GET-001", "ok", sent{ref: live, method: "GetTask", task: id, key: key}},
			{"CORE-GET-002", "TASK_NOT_FOUND", sent{ref: live, method: "GetTask", task: "none", key: key}},
			{"CORE-CANCEL-002", "TASK_NOT_FOUND", sent{ref: live, method: "CancelTask", task: "none", key: key}},
			{"CORE-CANCEL-003", "TASK_NOT_CANCELABLE", sent{ref: live, method: "CancelTask", task: id, key: key}},
			{"CORE-CAP-001 push", "PUSH_NOTIFICATION_NOT_SUPPORTED", sent{ref: live, method: "CreateTaskPushNotificationConfig", task: id, key: key}},
			{"CORE-CAP-002 list", "UNSUPPORTED_OPERATION", sent{ref: live, method: "ListTasks", key: key}},
			{"CORE-CAP-003 card", "UNSUPPORTED_OPERATION", sent{ref: live, method: "GetExtendedAgentCard", key: key}},
			{"CORE-MULTI-003 no context", "ok", send(w.message("", id, w.ask("s-1", "r-4"), nil))},
			{"CORE-MULTI-004 other context", "INVALID_PARAMS", send(w.message("s-9", id, w.ask("s-1", "r-5"), nil))},
			{"CORE-MULTI-005 object of another session", "TASK_NOT_FOUND", send(w.message("s-9", id, w.ask("s-9", "r-6"), nil))},
			{"CORE-MULTI-006 unknown task", "TASK_NOT_FOUND", send(w.message("s-1", "none", w.ask("s-1", "r-7"), nil))},
			{"AUTH-SCOPE-001", "TASK_NOT_FOUND", sent{ref: live, method: "GetTask", task: theirs, key: key}},
			{"AUTH-SCOPE-002", "TASK_NOT_FOUND", sent{ref: live, method: "SubscribeToTask", task: theirs, key: key}},
			{"AUTH-SCOPE-003", "TASK_NOT_FOUND", send(w.message("s-2", theirs, w.ask("s-2", "r-8"), nil))},
			{"AUTH-SCOPE other reference", "TASK_NOT_FOUND", sent{ref: other, method: "GetTask", task: id, key: key}},
			{"key of no session", "UNAUTHENTICATED", sent{ref: live, method: "GetTask", task: id, key: stranger}},
			{"session_id of another key", "TASK_NOT_FOUND", w.opens(live, "s-1", second)},
			{"no signature", "UNAUTHENTICATED", sent{ref: live, method: "GetTask", task: id}},
			{"no signature", "UNAUTHENTICATED", sent{ref: live, method: "SendMessage", message: w.message("s-1", id, w.ask("s-1", "r-9"), nil)}},
			{"without the extension", "TASK_NOT_FOUND", sent{ref: live, method: "GetTask", task: id, key: key, header: off}},
			{"without the extension", "TASK_NOT_FOUND", sent{ref: live, method: "SubscribeToTask", task: id, key: key, header: off}},
			{"without the extension", "TASK_NOT_FOUND", sent{ref: live, method: "SendMessage", key: key, message: w.message("s-1", id, w.ask("s-1", "r-9"), nil), header: off}},
			{"open with a task", "INVALID_PARAMS", send(w.message("s-1", id, w.opening("s-1"), map[string]any{uri + "/key": jcs.Raw(jwk.EncodePublic(key.Public().Public))}))},
			{"open without a key", "INVALID_PARAMS", send(w.message("s-1", "", w.opening("s-1"), nil))},
			{"key that is none", "UNAUTHENTICATED", send(w.message("s-1", "", w.opening("s-1"), map[string]any{uri + "/key": map[string]any{"kty": "RSA"}}))},
			{"key beside an ask", "INVALID_PARAMS", send(w.message("s-1", id, w.ask("s-1", "r-10"), map[string]any{uri + "/key": map[string]any{}}))},
			{"ask without a task", "INVALID_PARAMS", send(w.message("s-1", "", w.ask("s-1", "r-10"), nil))},
			{"task and nothing", "INVALID_PARAMS", send(map[string]any{"messageId": "m", "taskId": id})},
			{"unknown type", "INVALID_PARAMS", send(w.message("s-1", id, []byte(`{"type":"Offer","session_id":"s-1"}`), nil))},
			{"projection", "INVALID_PARAMS", send(w.message("s-1", id, []byte(`{"type":"DiscoveryProjection","session_id":"s-1"}`), nil))},
			{"no session", "INVALID_PARAMS", send(w.message("", id, []byte(`{"type":"SessionClose"}`), nil))},
			{"object null", "INVALID_PARAMS", send(w.message("s-1", id, []byte(`null`), nil))},
			{"object of an unknown member", "INVALID_PARAMS", send(w.message("s-1", id, []byte(`{"type":"SessionClose","session_id":"s-1","version":"gidp/0.1","expires_at":"2026-08-27T10:00:00Z","reason":"declined","x":1}`), nil))},
			{"object beyond 64 KiB", "INVALID_PARAMS", send(w.message("s-1", id, []byte(`{"type":"SessionClose","session_id":"s-1","x":"`+strings.Repeat("x", 64<<10)+`"}`), nil))},
			{"signature that is no text", "INVALID_PARAMS", send(w.message("s-1", id, w.ask("s-1", "r-11"), map[string]any{uri + "/sig": 1}))},
			{"evidence alone", "ok", send(map[string]any{"messageId": "m", "taskId": id, "metadata": map[string]any{uri + "/evidence": map[string]any{"request": []string{"PROBE"}}}})},
		} {
			r := w.do(b, c.s)
			if r.verdict != c.verdict {
				t.Errorf("%s: %s (%d), want %s", c.id, r.verdict, r.status, c.verdict)
			}
			if reached != "" && (c.id == "projection" || c.id == "unknown type" || c.id == "no session") {
				t.Errorf("%s: the host got %s", c.id, reached)
			}
			reached = ""
			if b == "JSONRPC" && r.status != 200 && r.verdict != "UNAUTHENTICATED" {
				t.Errorf("%s: status %d", c.id, r.status)
			}
			if r.header.Get("Cache-Control") != "no-store" || r.header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: header %v", c.id, r.header)
			}
		}
		v := taskOf(t, w.do(b, sent{ref: live, method: "GetTask", task: id, key: key}))
		if v.History != nil || v.Status.Message != nil || v.Context != "s-1" || len(v.Artifacts[0].Parts) != 1 || v.Artifacts[0].Parts[0]["text"] != "gidp" || !slices.Equal(v.Artifacts[0].Extensions, []string{uri}) {
			t.Errorf("CORE-HIST-001: %+v", v)
		}
	})
}

// JSONRPC-FMT and JSONRPC-ERR.
func TestJSONRPCEnvelope(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		body, want string
		status     int
	}{
		{`{"jsonrpc":"2.0","id":"a","method":"Nothing"}`, `"code":-32601`, 200},
		{`{"jsonrpc":"2.0","id":"a"}`, `"code":-32600`, 200},
		{`{"jsonrpc":"1.0","id":"a","method":"GetTask"}`, `"code":-32600`, 200},
		{`{"jsonrpc":"2.0","id":[1],"method":"GetTask"}`, `"code":-32600`, 200},
		{`{"jsonrpc":"2.0","id":1.5,"method":"GetTask"}`, `"code":-32600`, 200},
		{`[]`, `"code":-32600`, 200},
		{``, `"code":-32700`, 200},
		{`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{}}`, `"code":-32602`, 200},
		{`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":[1]}`, `"code":-32602`, 200},
		{`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"},"METHOD":"ListTasks"}`, `"code":-31401`, 401},
		{`{"jsonrpc":"2.0","id":"ü","method":"SendMessage","params":{"message":{"messageId":"m"}}}`, `"id":"ü"`, 200},
		{`{"jsonrpc":"2.0","method":"SendMessage","params":{"message":{"messageId":"m"}}}`, `"id":null`, 200},
	} {
		r := httptest.NewRequest(http.MethodPost, origin+"/a2a/"+live+"/rpc", strings.NewReader(c.body))
		r.Header.Set("A2A-Version", "1.0")
		r.Header.Set("A2A-Extensions", uri)
		rec := httptest.NewRecorder()
		w.handler.ServeHTTP(rec, r)
		if rec.Code != c.status || !strings.Contains(rec.Body.String(), c.want) {
			t.Errorf("%s: %d %s", c.body, rec.Code, rec.Body)
		}
	}
	for _, c := range []struct {
		method, path string
		status       int
	}{{"GET", "/rpc", 405}, {"PUT", "/v1/message:send", 404}, {"GET", "/v1/", 404}, {"GET", "", 404}, {"GET", "/v2/tasks", 404}, {"DELETE", "/v1/tasks/x", 404}, {"POST", "/v1/tasks/x:run", 404}, {"POST", "/.well-known/agent-card.json", 405}} {
		rec := httptest.NewRecorder()
		w.handler.ServeHTTP(rec, httptest.NewRequest(c.method, origin+"/a2a/"+live+c.path, nil))
		if rec.Code != c.status {
			t.Errorf("%s %s: %d", c.method, c.path, rec.Code)
		}
	}
}

// VER-SERVER-001 to 003.
func TestVersion(t *testing.T) {
	both(t, func(t *testing.T, b string) {
		w := newWorld(t)
		for _, versions := range [][]string{nil, {""}, {"0.3"}, {"9.9"}, {"1.0", "1.0"}, {"1.0, 9.9"}, {"1"}} {
			r := w.do(b, sent{ref: live, method: "SendMessage", message: map[string]any{"messageId": "m"}, header: http.Header{"A2A-Version": versions}})
			if r.verdict != "VERSION_NOT_SUPPORTED" || b == "JSONRPC" && !strings.Contains(r.raw, "-32009") {
				t.Errorf("%q: %s", versions, r.raw)
			}
		}
	})
}

// EXT-ECHO-SUBSET, EXT-COMMA-LIST, EXT-MULTI-LINE, EXT-UNKNOWN-IGNORED, EXT-HELLO, EXT-OFF-RETURNS-NOTHING, EXT-VERSION-NOT-DOWNGRADED, CORE-CAP-004,
// CORE-EXECUTION-MODE-001.
func TestExtensions(t *testing.T) {
	both(t, func(t *testing.T, b string) {
		w := newWorld(t)
		for _, c := range []struct {
			name   string
			lines  []string
			active bool
		}{
			{"EXT-HELLO", []string{uri}, true},
			{"EXT-COMMA-LIST", []string{"https://a.example/x , " + uri + ",\t"}, true},
			{"EXT-MULTI-LINE", []string{"https://a.example/x", uri, uri}, true},
			{"EXT-UNKNOWN-IGNORED", []string{"https://a.example/x"}, false},
			{"EXT-OFF", nil, false},
			{"EXT-VERSION-NOT-DOWNGRADED", []string{"https://gidp.dev/extensions/gidp/0.2"}, false},
			{"EXT case", []string{strings.ToUpper(uri)}, false},
		} {
			r := w.do(b, sent{ref: live, method: "SendMessage", message: map[string]any{"messageId": "m"}, header: http.Header{"A2A-Extensions": c.lines}})
			want := []string(nil)
			if c.active {
				want = []string{uri} // EXT-ECHO-SUBSET
			}
			if r.kind != "message" || !slices.Equal(r.header.Values("A2A-Extensions"), want) || strings.Contains(r.result, "/object") || strings.Contains(r.result, uri) != c.active {
				t.Errorf("%s: %s, echo %q", c.name, r.raw, r.header.Values("A2A-Extensions"))
			}
		}
		// EXT-OFF-RETURNS-NOTHING: an open without the header opens nothing.
		open := w.opens(live, "s-1", w.key())
		open.header = http.Header{"A2A-Extensions": {"https://a.example/x"}}
		if r := w.do(b, open); r.kind != "message" || len(w.host.tasks) != 0 {
			t.Errorf("an open without the extension: %s", r.raw)
		}
		for _, lines := range [][]string{{strings.Repeat("x", 9<<10)}, {"https://a.example/\x01"}, {strings.Join(slices.Collect(func(yield func(string) bool) {
			for i := range 33 {
				if !yield(fmt.Sprintf("https://a.example/%d", i)) {
					return
				}
			}
		}), ",")}} {
			if r := w.do(b, sent{ref: live, method: "SendMessage", message: map[string]any{"messageId": "m"}, header: http.Header{"A2A-Extensions": lines}}); r.verdict != "INVALID_REQUEST" {
				t.Errorf("%.40q: %s", lines, r.verdict)
			}
		}
	})
}

// B-12. A signature covers what it says, by the right key, for this time and place, once.
func TestB12Signatures(t *testing.T) {
	both(t, func(t *testing.T, b string) {
		w := newWorld(t)
		key := w.key()
		id := w.open(b, live, "s-1", key)
		n := 1
		tampered := func(f func(*http.Request, []byte) []byte) sent {
			n++
			return sent{ref: live, method: "SendMessage", key: key, message: w.message("s-1", id, w.ask("s-1", fmt.Sprintf("r-%d", n)), nil), tamper: f}
		}
		drop := func(component string) sent {
			return tampered(func(r *http.Request, body []byte) []byte {
				r.Header.Set("Signature-Input", strings.Replace(r.Header.Get("Signature-Input"), ` "`+component+`"`, "", 1))
				return body
			})
		}
		change := func(name, value string) sent {
			return tampered(func(r *http.Request, body []byte) []byte { r.Header.Set(name, value); return body })
		}
		for name, s := range map[string]sent{
			"body": tampered(func(_ *http.Request, body []byte) []byte { return append(body, ' ') }),
			"path": tampered(func(r *http.Request, body []byte) []byte {
				r.URL.Path = strings.Replace(r.URL.Path, live, other, 1)
				return body
			}),
			"method":            {ref: live, method: "GetTask", key: key, task: id, tamper: func(r *http.Request, body []byte) []byte { r.Header.Set("Signature-Input", "x"); return body }},
			"extensions":        change("A2A-Extensions", uri+", https://a.example/x"),
			"digest":            change("Content-Digest", "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"),
			"no @path":          drop("@path"),
			"no @authority":     drop("@authority"),
			"no content-digest": drop("content-digest"),
			"no a2a-version":    drop("a2a-version"),
			"repeated component": tampered(func(r *http.Request, body []byte) []byte {
				r.Header.Set("Signature-Input", strings.Replace(r.Header.Get("Signature-Input"), `"@path"`, `"@path" "@path"`, 1))
				return body
			}),
			"two signatures": tampered(func(r *http.Request, body []byte) []byte {
				r.Header.Add("Signature", r.Header.Get("Signature"))
				return body
			}),
			"signature of nothing": change("Signature", "sig=:AAAA:"),
		} {
			if r := w.do(b, s); r.verdict != "UNAUTHENTICATED" || r.status != 401 {
				t.Errorf("%s: %d %s", name, r.status, r.verdict)
			}
		}
		for name, shift := range map[string]time.Duration{"stale": 301 * time.Second, "future": -301 * time.Second, "just in time": 299 * time.Second} {
			r := w.request(b, sent{ref: live, method: "GetTask", key: key, task: id})
			w.clock.advance(shift)
			rec := httptest.NewRecorder()
			w.handler.ServeHTTP(rec, r)
			if want := 401; (name == "just in time") == (rec.Code == want) {
				t.Errorf("%s: %d", name, rec.Code)
			}
		}
		// A nonce opens once; the same object with a fresh one is a duplicate like any other.
		open := w.opens(live, "s-7", key)
		open.nonce = "once"
		if r := w.do(b, open); r.verdict != "ok" {
			t.Fatalf("open: %s", r.raw)
		}
		if r := w.do(b, open); r.verdict != "UNAUTHENTICATED" {
			t.Errorf("replayed nonce: %s", r.verdict)
		}
		open.nonce = "twice"
		if r := w.do(b, open); r.verdict != "ok" || w.host.effects != 2 {
			t.Errorf("fresh nonce: %s, %d effects", r.verdict, w.host.effects)
		}
		// Another key than the one that stands beside the open.
		foreign := w.opens(live, "s-8", key)
		foreign.key = w.key()
		if r := w.do(b, foreign); r.verdict != "UNAUTHENTICATED" {
			t.Errorf("key of somebody else: %s", r.verdict)
		}
	})
}

// B-13. Bodies that two readers could understand differently, or that have no end.
func TestB13HostileBodies(t *testing.T) {
	both(t, func(t *testing.T, b string) {
		w := newWorld(t)
		key := w.key()
		id := w.open(b, live, "s-1", key)
		replace := func(old, new string) sent {
			return sent{ref: live, method: "SendMessage", key: key, message: w.message("s-1", id, w.ask("s-1", "r-2"), nil), tamper: func(_ *http.Request, body []byte) []byte {
				return []byte(strings.Replace(string(body), old, new, 1))
			}}
		}
		for name, c := range map[string]struct {
			s       sent
			verdict string
		}{
			"256 KiB + 1":    {replace(`"gidp"`, `"`+strings.Repeat("x", 256<<10)+`"`), "413"},
			"duplicate name": {replace(`"messageId"`, `"messageId":"a","messageId"`), "PARSE_ERROR"},
			"escaped twin":   {replace(`"messageId"`, `"message\u0049d":"a","messageId"`), "PARSE_ERROR"},
			"trailing bytes": {sent{ref: live, method: "SendMessage", key: key, message: map[string]any{"messageId": "m"}, tamper: func(_ *http.Request, body []byte) []byte { return append(body, "{}"...) }}, "PARSE_ERROR"},
			"depth 65":       {replace(`"gidp"`, strings.Repeat("[", 65)+strings.Repeat("]", 65)), "PARSE_ERROR"},
			"2^53+1":         {replace(`"gidp"`, `9007199254740993`), "PARSE_ERROR"},
			"UTF-8":          {replace(`"gidp"`, "\"\xff\""), "PARSE_ERROR"},
		} {
			if r := w.do(b, c.s); r.verdict != c.verdict {
				t.Errorf("%s: %s, want %s", name, r.verdict, c.verdict)
			}
		}
		if w.host.effects != 1 {
			t.Errorf("%d effects", w.host.effects)
		}
	})
}

// A network opens so many sessions in a minute, and the own machine as many as it likes.
func TestRateLimit(t *testing.T) {
	both(t, func(t *testing.T, b string) {
		at := netip.MustParseAddr("192.0.2.1")
		var remote string
		w := newWorld(t, func(o *gidpa2a.Options) {
			o.RateLimit, o.Client = 2, func(*http.Request) netip.Addr { return at }
		})
		w.host.saw = func(m gidpa2a.Message) { remote = m.Remote }
		open := func(session string) reply { return w.do(b, w.opens(live, session, w.key())) }
		for _, c := range []struct {
			address, session, verdict, remote string
		}{
			{"192.0.2.1", "s-1", "ok", "192.0.2.0/24"}, {"192.0.2.2", "s-2", "ok", "192.0.2.0/24"}, {"192.0.2.3", "s-3", "429", ""},
			{"::ffff:192.0.2.9", "s-3", "429", ""}, {"2001:db8:1:2::1", "s-4", "ok", "2001:db8:1::/48"}, {"127.0.0.1", "s-5", "ok", ""}, {"127.0.0.1", "s-6", "ok", ""}, {"::1", "s-7", "ok", ""},
		} {
			at, remote = netip.MustParseAddr(c.address), ""
			if r := open(c.session); r.verdict != c.verdict || remote != c.remote || c.verdict == "429" && (r.status != 429 || r.header.Get("Retry-After") == "") {
				t.Errorf("%s: %s %d, remote %q", c.address, r.verdict, r.status, remote)
			} else if c.verdict == "429" && b == "REST" && !strings.Contains(r.raw, `{"code":429,"status":"RESOURCE_EXHAUSTED"`) {
				t.Errorf("%s: %s", c.address, r.raw)
			}
		}
		at = netip.MustParseAddr("192.0.2.1")
		w.clock.advance(time.Minute)
		if r := open("s-9"); r.verdict != "ok" {
			t.Errorf("after a minute: %s", r.verdict)
		}
		at = netip.Addr{}
		if open("s-10"); remote == "" {
			t.Error("who has no address is not the own machine")
		}
	})
}

func TestObjectSignature(t *testing.T) {
	w := newWorld(t)
	key, object := w.key(), w.opening("s-1")
	signature := gidpa2a.SignObject(object, key)
	if err := gidpa2a.VerifyObject(signature, object, key.Public().Public); err != nil {
		t.Error(err)
	}
	for name, pub := range map[string]ed25519.PublicKey{"object": key.Public().Public, "key": w.key().Public().Public} {
		if name == "object" {
			object = w.opening("s-2")
		}
		if gidpa2a.VerifyObject(signature, object, pub) == nil {
			t.Errorf("another %s", name)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []string{"", "127.0.0.1:1", "ftp://a.example", "https://a.example/", "https://u@a.example", "https://a.example?x", "https://"} {
		if _, err := gidpa2a.NewHandler(gidpa2a.Options{Host: newMemory(newClock()), Origin: o}); err == nil {
			t.Errorf("%q was taken", o)
		}
	}
	if _, err := gidpa2a.NewHandler(gidpa2a.Options{Origin: origin}); err == nil {
		t.Error("no host was taken")
	}
}
