package a2a

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/gidpa2a"
	"sayso/gidp/mandate"
	"sayso/gidp/wire"
	"sayso/jcs"
	"sayso/jwk"
	"sayso/oracle/tools"
)

const ref = "0123456789abcdef0123456789abcdef"

// run gives a script its lines and returns what it writes.
func run(t *testing.T, script string, in []byte, args ...string) []byte {
	t.Helper()
	for _, name := range []string{"@a2a-js/sdk", "http-message-signatures", "@sd-jwt/core"} {
		tools.Package(t, name)
	}
	path, err := filepath.Abs(script)
	if err != nil {
		t.Fatal(err)
	}
	cmd := tools.Command(t, tools.Node(t), append([]string{path}, args...)...)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return out
}

func encode(t *testing.T, o wire.Object) jcs.Raw {
	t.Helper()
	data, err := wire.Encode(o)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The official JavaScript SDK reads and verifies the card, and goes through a whole session in each binding: hello, open twice, ask, poll, stream, the agent's own
// request, close. Its signatures are made by another implementation of RFC 9421.
func TestSession(t *testing.T) {
	for _, binding := range []string{"JSONRPC", "REST"} {
		t.Run(binding, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			signer, err := jwk.Generate("cards-2026", rand.Reader)
			if err != nil {
				t.Fatal(err)
			}
			origin := "http://" + listener.Addr().String()
			handler, err := gidpa2a.NewHandler(gidpa2a.Options{Host: newHost(t), Origin: origin, Profiles: []string{"core"}, Signer: signer, Report: func(category string, cause error) { t.Errorf("%s: %v", category, cause) }})
			if err != nil {
				t.Fatal(err)
			}
			server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: handler}}
			server.Start()
			defer server.Close()
			head := wire.Head{SessionID: "s-1", ExpiresAt: time.Now().Add(time.Hour)}
			in, err := json.Marshal(map[string]any{
				"endpoint": origin + "/a2a/" + ref, "binding": binding, "uri": gidpa2a.ExtensionURI, "session": "s-1",
				"card": map[string]string{"kty": "OKP", "crv": "Ed25519", "x": jwk.EncodeBase64URL(signer.Public().Public)},
				"objects": []json.RawMessage{
					json.RawMessage(encode(t, &wire.SessionOpen{Head: head, RequestID: "r-1", Initiator: "initiator-1", Purpose: "partnership", MaxDepth: wire.DepthSession, Profile: "core", Features: []wire.Feature{}})),
					json.RawMessage(encode(t, &wire.CompatibilityRequest{Head: head, RequestID: "r-2", AllowedResults: wire.AllResults(),
						Claims: []wire.Claim{{ID: "r-2.1", Key: "contract_value", Operator: wire.OpOverlaps, Value: jcs.Raw(`{"max":0.1,"min":-5,"note":"ü<&>"}`)}}})),
					json.RawMessage(encode(t, &wire.ConsentResponse{Head: head, RequestRef: "r-1", Status: wire.Refused, GrantedScope: []string{}})),
					json.RawMessage(encode(t, &wire.SessionClose{Head: head, Reason: wire.ReasonUnspecified})),
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Card, Changed, Hello, End string
				Again                     bool
				Polled, Stream, Errors    []string
				Echoes                    []*string
			}
			if err := json.Unmarshal(run(t, "session.mjs", nil, string(in)), &got); err != nil {
				t.Fatal(err)
			}
			for _, echo := range got.Echoes {
				if echo == nil || *echo != gidpa2a.ExtensionURI {
					t.Error("an answer without the echo")
				}
			}
			for what, pair := range map[string][2]any{
				"card": {got.Card, "GIDP agent"}, "changed card": {got.Changed, "refused"}, "hello": {got.Hello, "gidp"}, "open again": {got.Again, true},
				"polled":     {got.Polled, []string{"000001 SessionAccept", "000002 CompatibilityResponse"}},
				"stream":     {got.Stream, []string{"task 2", "artifact 000003", "status TASK_STATE_INPUT_REQUIRED", "status TASK_STATE_WORKING", "status TASK_STATE_COMPLETED"}},
				"end":        {got.End, "TASK_STATE_COMPLETED"},
				"errors":     {got.Errors, []string{"after the end: UnsupportedOperationError", "foreign task: TaskNotFoundError"}},
				"with echos": {len(got.Echoes) > 8, true},
			} {
				if !reflect.DeepEqual(pair[0], pair[1]) {
					t.Errorf("%s: %v, want %v", what, pair[0], pair[1])
				}
			}
		})
	}
}

// Requests of our client are verified by another implementation of RFC 9421, and not when a part is another one.
func TestSignature(t *testing.T) {
	key, err := gidpa2a.NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	type question struct {
		Method  string            `json:"method"`
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"`
		X       string            `json:"x"`
	}
	var sent question
	var body []byte
	stop := errors.New("not sent")
	client := gidpa2a.NewClient(gidpa2a.ClientOptions{Do: func(r *http.Request) (*http.Response, error) {
		body, _ = io.ReadAll(r.Body)
		sent = question{r.Method, r.URL.String(), map[string]string{}, jwk.EncodeBase64URL(key.Public().Public)}
		for name, values := range r.Header {
			sent.Headers[strings.ToLower(name)] = strings.Join(values, ", ")
		}
		return nil, stop
	}})
	if _, err := client.Get(t.Context(), gidpa2a.Peer{Endpoint: "https://agents.example:8443/a2a/" + ref, Task: "t-1", Session: "s-1", Key: key}); !errors.Is(err, stop) || len(body) == 0 {
		t.Fatal(err)
	}
	var in bytes.Buffer
	want := []string{"true"}
	add := func(q question) {
		line, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	add(sent)
	for _, change := range []func(*question){
		func(q *question) { q.Method = "PUT" },
		func(q *question) { q.URL = "https://agents.example/a2a/" + ref + "/rpc" },
		func(q *question) { q.URL += "x" },
		func(q *question) { q.Headers["a2a-version"] = "0.3" },
		func(q *question) { q.Headers["a2a-extensions"] += "x" },
		func(q *question) {
			q.Headers["content-digest"] = "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"
		},
	} {
		q := sent
		q.Headers = map[string]string{}
		for name, value := range sent.Headers {
			q.Headers[name] = value
		}
		change(&q)
		add(q)
		want = append(want, "false")
	}
	if got := strings.Fields(string(run(t, "signature.mjs", in.Bytes()))); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Another implementation of SD-JWT reads our mandates: levels without a name, and the one name that was disclosed. It takes a disclosure that matches no digest, which
// package mandate refuses.
func TestMandate(t *testing.T) {
	console, err := gidpa2a.NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	session, err := gidpa2a.NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	salt := func(c string) string { return jwk.EncodeBase64URL([]byte(strings.Repeat(c, 16))) }
	now := time.Now().Truncate(time.Second)
	m, err := mandate.Issue(mandate.Claims{
		Issuer: "i-1", Audience: mandate.Audience("s-1"), Confirm: session.Public().Public, Authority: []gidp.Level{gidp.Probe, gidp.Disclose}, IssuedAt: now, Expires: now.Add(time.Hour), ID: "j-1",
	}, []mandate.Disclosure{{Salt: salt("a"), Name: mandate.PrincipalName, Value: "Ada"}, {Salt: salt("b"), Name: mandate.OrganisationID, Value: "DE-1"}}, console)
	if err != nil {
		t.Fatal(err)
	}
	stray := jwk.EncodeBase64URL([]byte(`["` + salt("c") + `","principal_name","Eve"]`))
	texts := []string{m.Present(), m.Present(mandate.PrincipalName), m.Present() + stray + "~", "x" + m.Present()}
	var in bytes.Buffer
	for _, text := range texts {
		line, err := json.Marshal(map[string]string{"mandate": text})
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	lines := strings.Split(strings.TrimSpace(string(run(t, "mandate.mjs", in.Bytes()))), "\n")
	if len(lines) != len(texts) {
		t.Fatalf("%d answers to %d mandates", len(lines), len(texts))
	}
	for i, name := range []any{nil, "Ada", nil} {
		var got struct {
			Header, Payload map[string]any
		}
		if err := json.Unmarshal([]byte(lines[i]), &got); err != nil || got.Payload == nil {
			t.Fatalf("mandate %d: %s", i, lines[i])
		}
		if got.Header["typ"] != "gidp-mandate+sd-jwt" || got.Payload["aud"] != "session:s-1" || got.Payload["commit"] != false || got.Payload["principal_name"] != name || got.Payload["organisation_id"] != nil ||
			!reflect.DeepEqual(got.Payload["gidp_authority"], []any{"PROBE", "DISCLOSE"}) {
			t.Errorf("mandate %d: %s", i, lines[i])
		}
	}
	if !strings.Contains(lines[3], "error") {
		t.Errorf("a broken mandate: %s", lines[3])
	}
	expect := mandate.Expect{Audience: mandate.Audience("s-1"), SessionKey: jwk.Thumbprint(session.Public().Public), Now: now, MaxExpires: now.Add(time.Hour)}
	for i, ok := range []bool{true, true, false, false} {
		if _, err := mandate.Verify(texts[i], expect); (err == nil) != ok {
			t.Errorf("package mandate on %d: %v", i, err)
		}
	}
}
