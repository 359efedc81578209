package jwsoracle

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"sayso/jwk"
	"sayso/jws"
	"sayso/vectors"
)

var eddsa = []jose.SignatureAlgorithm{jose.EdDSA}

// theirs verifies a detached JWS with the oracle.
func theirs(text string, payload []byte, pub ed25519.PublicKey) error {
	object, err := jose.ParseDetached(text, payload, eddsa)
	if err != nil {
		return err
	}
	return object.DetachedVerify(payload, pub)
}

func newKey(t *testing.T) *jwk.PrivateKey {
	t.Helper()
	key, err := jwk.Generate("ex-2026-10", rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestOursVerifiesThere(t *testing.T) {
	for _, payload := range []string{`{"a":1}`, "", "\x00\xff", vectors.Attestations()[0].Payload} {
		key := newKey(t)
		text := jws.SignDetached(key, []byte(payload))
		if err := theirs(text, []byte(payload), key.Public().Public); err != nil {
			t.Errorf("payload %q: %v", payload, err)
		}
		if theirs(text, []byte(payload+" "), key.Public().Public) == nil {
			t.Errorf("payload %q: the oracle does not look at the payload", payload)
		}
	}
}

func TestTheirsVerifiesHere(t *testing.T) {
	pub, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: jose.JSONWebKey{Key: priv, KeyID: "ex-2026-10"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, payload := range []string{`{"a":1}`, "", "\x00\xff", vectors.Attestations()[0].Payload} {
		object, err := signer.Sign([]byte(payload))
		if err != nil {
			t.Fatal(err)
		}
		text, err := object.DetachedCompactSerialize()
		if err != nil {
			t.Fatal(err)
		}
		if err := jws.VerifyDetached(text, []byte(payload), "ex-2026-10", pub); err != nil {
			t.Errorf("payload %q: %v", payload, err)
		}
	}
}

// TestVectors: what we accept the oracle accepts, and no wrong signature is right there. Texts that only we refuse are
// the reason for a verifier of our own; how many there are is printed.
func TestVectors(t *testing.T) {
	lax := 0
	for _, v := range vectors.JWS() {
		pub, err := base64.RawURLEncoding.DecodeString(v.X)
		if err != nil {
			t.Fatal(err)
		}
		if len(pub) != ed25519.PublicKeySize {
			continue // the library below the oracle panics
		}
		err = theirs(v.JWS, []byte(v.Payload), pub)
		switch {
		case v.Class == vectors.Valid && err != nil:
			t.Errorf("%s: only we accept it: %v", v.Name, err)
		case v.Class == string(jws.Wrong) && err == nil:
			t.Errorf("%s: only we call it wrong", v.Name)
		case v.Class != vectors.Valid && err == nil:
			lax++
		}
	}
	if lax == 0 {
		t.Error("the oracle is as strict as we are; the vectors have lost their teeth")
	}
	t.Logf("%d vectors are refused here and accepted there", lax)
}

func TestKeys(t *testing.T) {
	key := newKey(t)
	var private jose.JSONWebKey
	if err := json.Unmarshal(key.Export(), &private); err != nil {
		t.Fatal(err)
	}
	if !private.Valid() || private.KeyID != key.Kid() || !private.Public().Key.(ed25519.PublicKey).Equal(key.Public().Public) {
		t.Errorf("our private key is read as %+v", private.Public())
	}
	text, err := json.Marshal(private)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := jwk.ParsePrivate(text); err != nil || !again.Public().Public.Equal(key.Public().Public) {
		t.Errorf("their private key: %v", err)
	}

	ours, err := json.Marshal(&jwk.Set{Keys: []jwk.Key{key.Public()}})
	if err != nil {
		t.Fatal(err)
	}
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(ours, &set); err != nil || len(set.Key(key.Kid())) != 1 {
		t.Fatalf("our set %s is read as %+v, %v", ours, set, err)
	}
	text, err = json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	back, err := jwk.ParseSet(text)
	if err != nil {
		t.Fatalf("their set %s: %v", text, err)
	}
	if found, ok := back.Find(key.Kid()); !ok || !found.Public.Equal(key.Public().Public) {
		t.Errorf("their set %s is read as %+v", text, back)
	}
	sum, err := set.Keys[0].Thumbprint(crypto.SHA256)
	if err != nil || jwk.EncodeBase64URL(sum) != jwk.Thumbprint(key.Public().Public) {
		t.Errorf("thumbprints differ (%v)", err)
	}
}
