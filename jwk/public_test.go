package jwk_test

import (
	"crypto/ed25519"
	"slices"
	"strings"
	"testing"

	"sayso/jcs"
	"sayso/jwk"
)

// rfc8037 is the key of RFC 8037 appendix A.2.
const rfc8037 = `{"crv":"Ed25519","kty":"OKP","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`

func TestPublic(t *testing.T) {
	pub, err := jwk.ParsePublic([]byte(rfc8037))
	if err != nil {
		t.Fatal(err)
	}
	text := string(jwk.EncodePublic(pub))
	if canonical, err := jcs.Canonical([]byte(text)); err != nil || string(canonical) != text || text != rfc8037 {
		t.Errorf("%s is not its own canonical form: %v", text, err)
	}
	if got := jwk.Thumbprint(pub); got != "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k" { // RFC 8037 appendix A.3
		t.Errorf("thumbprint %s", got)
	}
	with := func(members string) string { return strings.TrimSuffix(text, "}") + "," + members + "}" }
	for name, good := range map[string]string{
		"as exported by browsers": with(`"ext":true,"key_ops":["verify"]`), "complete": with(`"alg":"EdDSA","use":"sig","kid":"a"`),
		"members of a set": with(`"kid":"no kid!","validFrom":7,"revoked":"2000-01-01"`),
	} {
		if got, err := jwk.ParsePublic([]byte(good)); err != nil || !slices.Equal(got, pub) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, bad := range map[string]struct {
		text string
		want jwk.Reason
	}{
		"empty": {"", jwk.Malformed}, "list": {"[]", jwk.Malformed}, "null": {"null", jwk.BadType}, "x twice": {with(`"x":"a"`), jwk.Malformed}, "trailing": {text + "{}", jwk.Malformed},
		"too long": {with(`"kid":"` + strings.Repeat("k", 1024) + `"`), jwk.Malformed}, "no x": {`{"kty":"OKP","crv":"Ed25519"}`, jwk.Malformed},
		"private": {with(`"d":"x"`), jwk.HasPrivate}, "private null": {with(`"d":null`), jwk.HasPrivate},
		"alg": {with(`"alg":"ES256"`), jwk.BadUse}, "use": {with(`"use":"enc"`), jwk.BadUse}, "null alg": {with(`"alg":null`), jwk.BadUse},
		"curve": {strings.Replace(text, "Ed25519", "X25519", 1), jwk.BadType}, "type": {strings.Replace(text, "OKP", "EC", 1), jwk.BadType},
		"padding": {strings.Replace(text, `"}`, `="}`, 1), jwk.BadText}, "small order": {string(jwk.EncodePublic(append(ed25519.PublicKey{1}, make([]byte, 31)...))), jwk.SmallOrder},
	} {
		if got, err := jwk.ParsePublic([]byte(bad.text)); reason(t, err) != bad.want || got != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is read has one canonical text, and its thumbprint is the hash of that.
func FuzzParsePublic(f *testing.F) {
	f.Add([]byte(rfc8037))
	f.Add([]byte(`{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","use":"sig","alg":"EdDSA","d":null}`))
	f.Add([]byte(`{"kty":"OKP","crv":"Ed25519","x":"AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		pub, err := jwk.ParsePublic(data)
		if err != nil {
			return
		}
		again, err := jwk.ParsePublic(jwk.EncodePublic(pub))
		if err != nil || !slices.Equal(again, pub) {
			t.Fatalf("%x is not read back: %v", pub, err)
		}
	})
}
