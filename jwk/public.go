package jwk

import (
	"crypto/ed25519"

	"sayso/jcs"
)

// maxPublic is the longest JWK that [ParsePublic] reads, in bytes.
const maxPublic = 1024

// EncodePublic is a public key as a JWK in the form its thumbprint is taken of (RFC 7638): {"crv":"Ed25519","kty":"OKP","x":"…"}.
func EncodePublic(pub ed25519.PublicKey) []byte {
	return append(append([]byte(`{"crv":"Ed25519","kty":"OKP","x":"`), EncodeBase64URL(pub)...), `"}`...)
}

// ParsePublic reads one public JWK that stands alone and needs no key id (RFC 7517, RFC 8037): kty, crv and x, alg and use where present. A private member d refuses
// it, other members are ignored, as in a set. The key is accepted ([Accept]). Errors are *Error.
func ParsePublic(data []byte) (ed25519.PublicKey, error) {
	if len(data) > maxPublic {
		return nil, refuse(Malformed, "a JWK longer than any key")
	}
	var w wireKey
	if err := jcs.Decode(data, &w); err != nil {
		return nil, refuse(Malformed, "the key is not one strict JSON object")
	}
	if w.D != nil {
		return nil, refuse(HasPrivate, "the key holds its private half; make a new one")
	}
	var key Key
	if err := w.readType(&key); err != nil {
		return nil, err
	}
	if err := w.readPoint(&key); err != nil {
		return nil, err
	}
	return key.Public, nil
}
