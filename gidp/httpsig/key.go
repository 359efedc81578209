package httpsig

import (
	"crypto/ed25519"

	"sayso/jcs"
	"sayso/jwk"
)

// maxKey is the longest JWK that is read, in bytes.
const maxKey = 1024

// EncodeKey is a public key as a JWK in the form its thumbprint is taken of (RFC 7638): {"crv":"Ed25519","kty":"OKP","x":"…"}.
func EncodeKey(pub ed25519.PublicKey) []byte {
	return append(append([]byte(`{"crv":"Ed25519","kty":"OKP","x":"`), jwk.EncodeBase64URL(pub)...), `"}`...)
}

// DecodeKey reads one public JWK without a key id (RFC 7517, RFC 8037): kty "OKP", crv "Ed25519" and x; alg and use, when present, "EdDSA" and "sig". A private member
// d refuses it, other members are ignored, as in a set (package jwk). The key is accepted ([jwk.Accept]). Errors are *Error with [CodeKey].
func DecodeKey(data []byte) (ed25519.PublicKey, error) {
	if len(data) > maxKey {
		return nil, refuse(CodeKey, "a JWK longer than any key")
	}
	members, err := jcs.Members(data)
	if err != nil {
		return nil, &Error{Code: CodeKey, Detail: "the key is not one strict JSON object", cause: err}
	}
	text := map[string]string{"alg": "EdDSA", "use": "sig"} // what their absence means
	for _, m := range members {
		switch m.Name {
		case "kty", "crv", "x", "alg", "use":
			text[m.Name], _ = jcs.Text(m.Value) // "" for what is not a string, and refused as such below
		case "d":
			return nil, refuse(CodeKey, "the key holds its private half; make a new one")
		}
	}
	if text["kty"] != "OKP" || text["crv"] != "Ed25519" || text["alg"] != "EdDSA" || text["use"] != "sig" {
		return nil, refuse(CodeKey, "the key is not an Ed25519 signing key: kty OKP, crv Ed25519, alg EdDSA, use sig")
	}
	raw, err := jwk.DecodeBase64URL(text["x"])
	if err != nil {
		return nil, &Error{Code: CodeKey, Detail: "x is not canonical base64url without padding", cause: err}
	}
	pub, err := jwk.Accept(raw)
	if err != nil {
		return nil, &Error{Code: CodeKey, Detail: "x is not an acceptable Ed25519 key", cause: err}
	}
	return pub, nil
}
