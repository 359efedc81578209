package jws_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"sayso/jwk"
	"sayso/jws"
	"sayso/vectors"
)

// The private test key printed in RFC 8037 appendix A.1.
const rfc8037Key = `{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"db-2026-10"}`

func testKey(t testing.TB) *jwk.PrivateKey {
	t.Helper()
	key, err := jwk.ParsePrivate([]byte(rfc8037Key))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// class is the reason of err as the vectors spell it.
func class(t testing.TB, err error) string {
	t.Helper()
	if err == nil {
		return vectors.Valid
	}
	var e *jws.Error
	if !errors.As(err, &e) || e.Detail == "" {
		t.Fatalf("error %v is not a *jws.Error", err)
	}
	return string(e.Reason)
}

// TestVerifyVectors: every row of the table of lax verifiers, and more, is refused with its class.
func TestVerifyVectors(t *testing.T) {
	for _, v := range vectors.JWS() {
		t.Run(v.Name, func(t *testing.T) {
			pub, err := base64.RawURLEncoding.DecodeString(v.X)
			if err != nil {
				t.Fatal(err)
			}
			err = jws.VerifyDetached(v.JWS, []byte(v.Payload), v.Kid, pub)
			if got := class(t, err); got != v.Class {
				t.Errorf("%v, want %s", err, v.Class)
			}
		})
	}
}

func TestAttestationVectors(t *testing.T) {
	for _, v := range vectors.Attestations() {
		set, err := jwk.ParseSet([]byte(`{"keys":[` + string(v.JWK) + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		key := set.Keys[0]
		if err := jws.VerifyDetached(v.JWS, []byte(v.Payload), key.Kid, key.Public); class(t, err) != v.Class {
			t.Errorf("%s: %v, want %s", v.Name, err, v.Class)
		}
		if err := jws.VerifyDetached(v.JWS, []byte(v.Canonical), key.Kid, key.Public); err != nil {
			t.Errorf("%s over its own reading: %v", v.Name, err)
		}
		if got := jws.SignDetached(testKey(t), []byte(v.Canonical)); got != v.JWS {
			t.Errorf("%s: signed %s, want %s", v.Name, got, v.JWS)
		}
	}
}

// TestRFC8037A4 makes the signature printed in the RFC. Its header has no kid, so the detached form is refused.
func TestRFC8037A4(t *testing.T) {
	const input = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc"
	const want = "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
	key := testKey(t)
	if got := jwk.EncodeBase64URL(key.Sign([]byte(input))); got != want {
		t.Errorf("signature %s, want %s", got, want)
	}
	head, _, _ := strings.Cut(input, ".")
	err := jws.VerifyDetached(head+".."+want, []byte("Example of Ed25519 signing"), key.Kid(), key.Public().Public)
	if class(t, err) != string(jws.Malformed) {
		t.Errorf("without kid: %v", err)
	}
}

// TestWycheproof: the suite has no EdDSA, so everything in it is refused, in its own form and as a detached one, and
// none of it as a wrong signature.
func TestWycheproof(t *testing.T) {
	data, err := os.ReadFile("testdata/wycheproof/json_web_signature_test.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		TestGroups []struct {
			Tests []struct {
				TcID int `json:"tcId"`
				JWS  json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	pub := testKey(t).Public().Public
	n := 0
	for _, g := range file.TestGroups {
		for _, tt := range g.Tests {
			n++
			text := string(tt.JWS)
			if text[0] == '"' {
				if err := json.Unmarshal(tt.JWS, &text); err != nil {
					t.Fatal(err)
				}
			}
			detached, payload := text, ""
			if parts := strings.Split(text, "."); len(parts) == 3 {
				detached, payload = parts[0]+".."+parts[2], parts[1]
			}
			for _, form := range []string{text, detached} {
				if err := jws.VerifyDetached(form, []byte(payload), "kid-aes-sign", pub); class(t, err) != string(jws.Malformed) {
					t.Errorf("tcId %d: %v", tt.TcID, err)
				}
			}
		}
	}
	if n != 401 {
		t.Errorf("%d tests, want 401", n)
	}
}

func TestSignDetached(t *testing.T) {
	key := testKey(t)
	payload := []byte(`{"a":1}`)
	text := jws.SignDetached(key, payload)
	head, _, _ := strings.Cut(text, "..")
	header, err := base64.RawURLEncoding.DecodeString(head)
	if err != nil || string(header) != `{"alg":"EdDSA","kid":"db-2026-10"}` {
		t.Errorf("header %s, %v", header, err)
	}
	if err := jws.VerifyDetached(text, payload, key.Kid(), key.Public().Public); err != nil {
		t.Error(err)
	}
}

// TestEveryByteCounts changes each byte of the text in turn; no change may go through, whatever it becomes.
func TestEveryByteCounts(t *testing.T) {
	key := testKey(t)
	payload := []byte(`{"a":1}`)
	text := jws.SignDetached(key, payload)
	for i := range text {
		for _, c := range []byte{text[i] ^ 1, 'A', '.', '=', '\n', ' ', 0, 0xff} {
			if c == text[i] {
				continue
			}
			changed := text[:i] + string([]byte{c}) + text[i+1:]
			if jws.VerifyDetached(changed, payload, key.Kid(), key.Public().Public) == nil {
				t.Fatalf("byte %d changed to %q and accepted", i, c)
			}
		}
		if jws.VerifyDetached(text[:i]+text[i+1:], payload, key.Kid(), key.Public().Public) == nil {
			t.Fatalf("byte %d removed and accepted", i)
		}
	}
}

// TestErrorsAreQuiet: no failure repeats what the other side sent.
func TestErrorsAreQuiet(t *testing.T) {
	for _, v := range vectors.JWS() {
		pub, _ := base64.RawURLEncoding.DecodeString(v.X)
		if err := jws.VerifyDetached(v.JWS, []byte(v.Payload), v.Kid, pub); err != nil {
			if msg := err.Error(); len(msg) > 200 || strings.ContainsAny(msg, "\n\x00\x1b") || strings.Contains(msg, "passwd") {
				t.Errorf("%s: %q", v.Name, msg)
			}
		}
	}
}

func FuzzVerify(f *testing.F) {
	key := testKey(f)
	payload := []byte(`{"a":1}`)
	good := jws.SignDetached(key, payload)
	f.Add(good)
	for _, v := range vectors.JWS() {
		f.Add(v.JWS)
	}
	f.Fuzz(func(t *testing.T, text string) {
		err := jws.VerifyDetached(text, payload, key.Kid(), key.Public().Public)
		if err == nil && text != good {
			t.Fatalf("%q verifies too", text)
		}
		class(t, err)
	})
}

// FuzzHeader signs any header: what verifies must be what an independent look at the header allows.
func FuzzHeader(f *testing.F) {
	key := testKey(f)
	payload := []byte(`{"a":1}`)
	for _, v := range vectors.JWS() {
		head, _, _ := strings.Cut(v.JWS, "..")
		if header, err := base64.RawURLEncoding.DecodeString(head); err == nil {
			f.Add(header)
		}
	}
	f.Fuzz(func(t *testing.T, header []byte) {
		head := base64.RawURLEncoding.EncodeToString(header)
		signature := key.Sign([]byte(head + "." + base64.RawURLEncoding.EncodeToString(payload)))
		text := head + ".." + base64.RawURLEncoding.EncodeToString(signature)
		err := jws.VerifyDetached(text, payload, key.Kid(), key.Public().Public)
		if c := class(t, err); c == string(jws.Wrong) || c == string(jws.BadKey) {
			t.Fatalf("%s: %v, but the signature is right", header, err)
		}
		if err != nil {
			return
		}
		var h map[string]any
		if err := json.Unmarshal(header, &h); err != nil {
			t.Fatalf("%q verifies, but is not JSON: %v", header, err)
		}
		if h["alg"] != "EdDSA" || h["kid"] != key.Kid() {
			t.Fatalf("%s verifies", header)
		}
		for _, name := range []string{"crit", "b64", "jwk", "jku", "x5u", "x5c"} {
			if _, ok := h[name]; ok {
				t.Fatalf("%s verifies", header)
			}
		}
	})
}

func BenchmarkVerifyDetached(b *testing.B) {
	key := testKey(b)
	v := vectors.Attestations()[0]
	payload := []byte(v.Payload)
	pub := key.Public().Public
	head, tail, _ := strings.Cut(v.JWS, "..")
	signature, err := base64.RawURLEncoding.DecodeString(tail)
	if err != nil {
		b.Fatal(err)
	}
	input := []byte(head + "." + base64.RawURLEncoding.EncodeToString(payload))
	b.Run("ed25519", func(b *testing.B) {
		for b.Loop() {
			if !ed25519.Verify(pub, input, signature) {
				b.Fatal("does not verify")
			}
		}
	})
	b.Run("detached", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := jws.VerifyDetached(v.JWS, payload, key.Kid(), pub); err != nil {
				b.Fatal(err)
			}
		}
	})
}
