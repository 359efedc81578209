package jwk_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"testing"

	"sayso/jwk"
)

// reason is the class of err, "" for nil.
func reason(t *testing.T, err error) jwk.Reason {
	t.Helper()
	if err == nil {
		return ""
	}
	var e *jwk.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v is not a *jwk.Error", err)
	}
	return e.Reason
}

func load(t *testing.T, file string, v any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestAcceptCCTV counts what each step of key acceptance refuses among the edge cases of C2SP/CCTV.
func TestAcceptCCTV(t *testing.T) {
	var tests []struct {
		Number        int
		Key, Sig, Msg string
		Flags         []string
	}
	load(t, "testdata/cctv-ed25519/ed25519vectors.json", &tests)
	counts := map[string]int{}
	for _, tt := range tests {
		key := unhex(t, tt.Key)
		has := func(flag string) bool { return slices.Contains(tt.Flags, flag) }
		pub, err := jwk.Accept(key)
		class := reason(t, err)
		cheap := reason(t, jwk.CheckEncoding(key))
		verifies := ed25519.Verify(key, []byte(tt.Msg), unhex(t, tt.Sig))
		if has("low_order_A") {
			counts["low order"]++
			if class != jwk.SmallOrder && class != jwk.BadEncoding {
				t.Errorf("%d: low order key: %v", tt.Number, err)
			}
			if verifies {
				counts["low order, verifies without a key check"]++
			}
		}
		if has("non_canonical_A") {
			counts["non-canonical"]++
			if class != jwk.BadEncoding {
				t.Errorf("%d: non-canonical key: %v", tt.Number, err)
			}
		}
		if has("low_order_component_A") && !has("low_order_A") {
			counts["mixed order"]++
			if class != jwk.MixedOrder {
				t.Errorf("%d: mixed order key: %v", tt.Number, err)
			}
		}
		if weak := has("low_order_A") || has("non_canonical_A"); weak != (cheap != "") {
			t.Errorf("%d: CheckEncoding says %q for flags %v", tt.Number, cheap, tt.Flags)
		}
		if cheap == "" && verifies {
			counts["verifies after CheckEncoding alone"]++
		}
		if class == "" && ed25519.Verify(pub, []byte(tt.Msg), unhex(t, tt.Sig)) {
			counts["verifies after all checks"]++
		}
	}
	want := map[string]int{
		"low order": 526, "low order, verifies without a key check": 122, "non-canonical": 226, "mixed order": 360,
		"verifies after CheckEncoding alone": 86, "verifies after all checks": 2,
	}
	for name, n := range want {
		if counts[name] != n {
			t.Errorf("%s: %d, want %d", name, counts[name], n)
		}
	}
	if len(tests) != 914 {
		t.Errorf("%d vectors, want 914", len(tests))
	}
}

// TestAcceptIdentity: under the identity as key, R = identity and S = 0 sign every message.
func TestAcceptIdentity(t *testing.T) {
	identity := append([]byte{1}, make([]byte, 31)...)
	forged := append(bytes.Clone(identity), make([]byte, 32)...)
	if !ed25519.Verify(identity, []byte("any message"), forged) {
		t.Error("the forgery this check exists for does not work any more; look at the library's notes")
	}
	if _, err := jwk.Accept(identity); reason(t, err) != jwk.SmallOrder {
		t.Errorf("Accept = %v", err)
	}
	if err := jwk.CheckEncoding(identity); reason(t, err) != jwk.SmallOrder {
		t.Errorf("CheckEncoding = %v", err)
	}
}

func TestAcceptHonestKeys(t *testing.T) {
	for range 200 {
		pub, _, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		got, err := jwk.Accept(pub)
		if err != nil || !bytes.Equal(got, pub) || jwk.CheckEncoding(pub) != nil {
			t.Fatalf("honest key %x refused: %v", pub, err)
		}
		if &got[0] == &pub[0] {
			t.Fatal("the accepted key shares memory with its input")
		}
	}
}

func TestAcceptLength(t *testing.T) {
	for _, n := range []int{0, 1, 31, 33, 64} {
		if _, err := jwk.Accept(make([]byte, n)); reason(t, err) != jwk.BadLength {
			t.Errorf("%d bytes: %v", n, err)
		}
		if err := jwk.CheckEncoding(make([]byte, n)); reason(t, err) != jwk.BadLength {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// TestWycheproofEd25519 reads the key of each group from its JWK and verifies under it.
func TestWycheproofEd25519(t *testing.T) {
	var file struct {
		TestGroups []struct {
			PublicKey    struct{ Pk string }
			PublicKeyJwk json.RawMessage
			Tests        []struct {
				TcID             int `json:"tcId"`
				Msg, Sig, Result string
			}
		}
	}
	load(t, "testdata/wycheproof/ed25519_test.json", &file)
	n := 0
	for _, g := range file.TestGroups {
		set, err := jwk.ParseSet([]byte(`{"keys":[` + string(g.PublicKeyJwk) + `]}`))
		if err != nil {
			t.Fatalf("%s: %v", g.PublicKeyJwk, err)
		}
		key, ok := set.Find("none")
		if !ok || hex.EncodeToString(key.Public) != g.PublicKey.Pk {
			t.Fatalf("%s: read as %x", g.PublicKeyJwk, key.Public)
		}
		for _, tt := range g.Tests {
			n++
			if got := ed25519.Verify(key.Public, unhex(t, tt.Msg), unhex(t, tt.Sig)); got != (tt.Result == "valid") {
				t.Errorf("tcId %d: %v, want %s", tt.TcID, got, tt.Result)
			}
		}
	}
	if n != 151 {
		t.Errorf("%d tests, want 151", n)
	}
}

// TestWycheproofKeys: every key and key set of the suite is of a foreign type or mixed and is refused.
func TestWycheproofKeys(t *testing.T) {
	var file struct {
		TestGroups []struct {
			Comment         string
			Public, Private json.RawMessage
			Tests           []struct{ JWS, JWE string }
		}
	}
	load(t, "testdata/wycheproof/json_web_key_test.json", &file)
	n := 0
	for _, g := range file.TestGroups {
		n += len(g.Tests)
		for _, text := range []json.RawMessage{g.Public, g.Private} {
			if text == nil {
				continue
			}
			for _, data := range []string{string(text), `{"keys":[` + string(text) + `]}`} {
				if _, err := jwk.ParseSet([]byte(data)); err == nil {
					t.Errorf("%s: set accepted: %s", g.Comment, data)
				}
				if _, err := jwk.ParsePrivate([]byte(data)); err == nil {
					t.Errorf("%s: private key accepted: %s", g.Comment, data)
				}
			}
		}
		for _, tt := range g.Tests {
			if _, err := jwk.ParseSet([]byte(tt.JWS + tt.JWE)); err == nil {
				t.Errorf("%s: token accepted as a set", g.Comment)
			}
		}
	}
	if n != 26 {
		t.Errorf("%d tests, want 26", n)
	}
}
