package gidpa2a

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/jcs"
)

func FuzzExtensions(f *testing.F) {
	for _, seed := range []string{ExtensionURI, ExtensionURI + ", https://a.example/x", ",,", " \t,", ExtensionURI + "\n" + ExtensionURI, "a b", "\x00", strings.Repeat("a,", 40)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, field string) {
		uris, ok := extensions(strings.Split(field, "\n"))
		if !ok {
			return
		}
		if len(uris) > maxExtensions {
			t.Fatalf("%d URIs", len(uris))
		}
		for i, u := range uris {
			if u == "" || strings.Contains(u, ",") || !visible(u) || slices.Contains(uris[:i], u) {
				t.Fatalf("%q in %q", u, uris)
			}
		}
		again, ok := extensions([]string{strings.Join(uris, ",")})
		if !ok || !slices.Equal(again, uris) {
			t.Fatalf("%q read again is %q", uris, again)
		}
	})
}

// nobody is a host that no message may reach: nothing a fuzzer makes is signed.
type nobody struct{ t *testing.T }

func (n nobody) Receive(context.Context, Message) (Task, error) {
	n.t.Fatal("a message without a signature came through")
	return Task{}, nil
}

func (n nobody) Task(context.Context, string, string, string) (Task, error) {
	n.t.Fatal("a task was asked for without a signature")
	return Task{}, nil
}
func (nobody) Wait(context.Context, string, uint64) error { return nil }
func (nobody) Key(context.Context, string) (ed25519.PublicKey, bool, error) {
	return nil, false, nil
}

func FuzzRequest(f *testing.F) {
	ref := strings.Repeat("0", 32)
	for _, seed := range []struct {
		method, path, version, extensions, input, body string
	}{
		{"POST", "/a2a/" + ref + "/rpc", "1.0", ExtensionURI, "", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","contextId":"s","metadata":{"` + ExtensionURI + `/object":{"type":"SessionOpen","session_id":"s"},"` + ExtensionURI + `/key":{"kty":"OKP"}}}}}`},
		{"POST", "/a2a/" + ref + "/rpc", "1.0", ExtensionURI, `sig=("@method");created=1`, `{"jsonrpc":"2.0","id":"x","method":"GetTask","params":{"id":"t"}}`},
		{"POST", "/a2a/" + ref + "/v1/message:stream", "1.0", "", "", `{"message":{"messageId":"m"}}`},
		{"GET", "/a2a/" + ref + "/v1/tasks/t", "1.0", ExtensionURI, "", ""},
		{"POST", "/a2a/" + ref + "/v1/tasks/t:subscribe", "0.3", ExtensionURI, "", "{}"},
		{"GET", "/a2a/" + ref + "/.well-known/agent-card.json", "", "", "", ""},
		{"POST", "/a2a/x/rpc", "", "", "", "["},
	} {
		f.Add(seed.method, seed.path, seed.version, seed.extensions, seed.input, []byte(seed.body))
	}
	f.Fuzz(func(t *testing.T, method, path, version, field, input string, body []byte) {
		r, err := http.NewRequest(method, "http://127.0.0.1:1"+path, bytes.NewReader(body))
		if err != nil {
			return
		}
		r.RemoteAddr = "192.0.2.1:1"
		r.Header[versionHeader], r.Header[extensionsHeader] = []string{version}, strings.Split(field, "\n")
		if input != "" {
			r.Header["Signature-Input"], r.Header["Signature"] = []string{input}, []string{"sig=:" + strings.Repeat("A", 86) + "==:"}
		}
		h, err := NewHandler(Options{Host: nobody{t}, Origin: "http://127.0.0.1:1", Report: func(category string, cause error) { t.Errorf("%s: %v", category, cause) }})
		if err != nil {
			t.Fatal(err)
		}
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		if rec.Code >= 500 && rec.Code != 501 {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
		if rec.Header().Get("Content-Type") == "application/json" && jcs.Check(rec.Body.Bytes()) != nil {
			t.Fatalf("no JSON: %q", rec.Body)
		}
	})
}

func FuzzAnswer(f *testing.F) {
	object := `{"type":"SessionClose","session_id":"s","version":"gidp/0.1","reason":"declined"}`
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":"1","result":{"id":"t","contextId":"s","status":{"state":"TASK_STATE_WORKING"},"artifacts":[{"artifactId":"000001","metadata":{"` + ExtensionURI + `/object":` + object + `}}]}}`,
		`{"jsonrpc":"2.0","id":"1","error":{"code":-32001}}`, `{"jsonrpc":"2.0","id":"1","result":{"message":{}}}`, `{`, ``,
	} {
		f.Add(200, seed)
		f.Add(503, seed)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		result, err := readResult(status, http.Header{"Retry-After": {body}}, []byte(body), time.Unix(0, 0))
		if (result == nil) == (err == nil) {
			t.Fatalf("%s and %v", result, err)
		}
		if err != nil {
			if len(err.Error()) > 100 {
				t.Fatalf("an error that repeats the peer: %v", err)
			}
			return
		}
		r, session, err := readTask(result, namesOf(""))
		if err != nil {
			return
		}
		for i, a := range r.Artifacts {
			if a.Number != i+1 || a.Object == nil && a.Evidence == nil {
				t.Fatalf("artifact %+v", a)
			}
			for _, raw := range [][]byte{a.Object, a.Evidence, a.Hint, a.Key} {
				if again, err := jcs.Canonical(raw); raw != nil && (err != nil || !bytes.Equal(again, raw) || len(raw) > maxObject) {
					t.Fatalf("not canonical: %s", raw)
				}
			}
			if a.Object != nil {
				if _, of, ok := about(a.Object); !ok || of != session {
					t.Fatalf("of session %q: %s", session, a.Object)
				}
			}
		}
	})
}

// What a guard remembers ends: opens by the minute, nonces after the time in which their signatures are taken.
func TestGuards(t *testing.T) {
	at := time.Date(2026, 8, 20, 10, 0, 0, 0, time.UTC)
	var n nonces
	for _, c := range []struct {
		after time.Duration
		nonce string
		fresh bool
	}{{0, "a", true}, {0, "a", false}, {period - 1, "a", false}, {period - 1, "b", true}, {period, "a", false}, {2*period - 2, "b", false}, {4 * period, "a", true}, {9 * period, "b", true}} {
		if fresh, room := n.use("key", c.nonce, at.Add(c.after)); fresh != c.fresh || !room {
			t.Errorf("%s after %v: fresh %v, room %v", c.nonce, c.after, fresh, room)
		}
	}
	for i := range maxCounted {
		n.use("key", string(rune('A'+i%26))+time.Duration(i).String(), at.Add(9*period))
	}
	if _, room := n.use("key", "one more", at.Add(9*period)); room {
		t.Error("nonces have no bound")
	}
	l := rate{allowance: 1}
	for i := range maxCounted {
		l.take(time.Duration(i).String(), at)
	}
	if _, ok := l.take("a", at); !ok {
		t.Error("the first of the others")
	}
	if _, ok := l.take("b", at); ok {
		t.Error("networks beyond the bound share one allowance")
	}
	if wait, ok := l.take("b", at.Add(59*time.Second)); ok || wait != time.Second {
		t.Errorf("at the end of the minute: %v %v", wait, ok)
	}
	if _, ok := l.take("b", at.Add(time.Minute)); !ok {
		t.Error("the next minute")
	}
}
