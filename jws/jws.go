package jws

import (
	"crypto/ed25519"
	"encoding/base64"
	"strings"

	"sayso/jcs"
	"sayso/jwk"
)

// Reason classifies why a signature was refused; readers keep the classes apart.
type Reason string

// The closed list of refusals.
const (
	Malformed Reason = "malformed"       // parts, base64url, header JSON, alg, crit, b64, key-bearing members
	WrongKid  Reason = "wrong kid"       // header kid differs from the expected one
	BadKey    Reason = "key"             // the public key is not acceptable
	Wrong     Reason = "signature wrong" // well-formed, but does not verify
)

// MaxLength is the longest text that is read as a detached JWS, in bytes. One with a two-member header has about 130.
const MaxLength = 4096

// Error is every failure of this package.
type Error struct {
	Reason Reason
	Detail string
}

func (e *Error) Error() string { return e.Detail }

func malformed(detail string) *Error { return &Error{Reason: Malformed, Detail: detail} }

// SignDetached returns header..signature over payload with header {"alg":"EdDSA","kid":"…"}.
func SignDetached(key *jwk.PrivateKey, payload []byte) string {
	header := jcs.AppendString([]byte(`{"alg":"EdDSA","kid":`), key.Kid())
	head := jwk.EncodeBase64URL(append(header, '}'))
	return head + ".." + jwk.EncodeBase64URL(key.Sign(signingInput(head, payload)))
}

// VerifyDetached verifies a detached JWS over payload: strict parts, header kid equal to kid, Ed25519 by pub (accepted
// by jwk.Accept). Every failure is an *Error.
func VerifyDetached(jws string, payload []byte, kid string, pub ed25519.PublicKey) error {
	head, signature, err := parse(jws)
	if err != nil {
		return err
	}
	got, err := headerKid(head)
	if err != nil {
		return err
	}
	if got != kid {
		return &Error{Reason: WrongKid, Detail: "the signature names another key id than the document does"}
	}
	if err := jwk.CheckEncoding(pub); err != nil {
		return &Error{Reason: BadKey, Detail: err.Error()}
	}
	if !ed25519.Verify(pub, signingInput(head, payload), signature) {
		return &Error{Reason: Wrong, Detail: "the signature does not fit the content and this key"}
	}
	return nil
}

// signingInput is RFC 7515 section 5.1 step 8. head is the header as it travels.
func signingInput(head string, payload []byte) []byte {
	in := make([]byte, 0, len(head)+1+base64.RawURLEncoding.EncodedLen(len(payload)))
	in = append(append(in, head...), '.')
	return base64.RawURLEncoding.AppendEncode(in, payload)
}

// parse takes the parts of a detached JWS: the header as it travels and the 64 bytes of the signature.
func parse(jws string) (head string, signature []byte, err error) {
	if len(jws) > MaxLength {
		return "", nil, malformed("the signature text is longer than any signature")
	}
	head, tail, ok := strings.Cut(jws, "..")
	if !ok || strings.Contains(head, ".") || strings.Contains(tail, ".") {
		return "", nil, malformed("a detached signature has three parts, of which the middle one is empty")
	}
	signature, err = jwk.DecodeBase64URL(tail)
	if err != nil {
		return "", nil, malformed("the signature is " + err.Error())
	}
	if len(signature) != ed25519.SignatureSize {
		return "", nil, malformed("an Ed25519 signature has 64 bytes")
	}
	return head, signature, nil
}

// headerKid checks the header and returns its key id.
func headerKid(head string) (string, error) {
	text, err := jwk.DecodeBase64URL(head)
	if err != nil {
		return "", malformed("the header is " + err.Error())
	}
	members, err := jcs.Members(text)
	if err != nil {
		return "", malformed("the header is not one strict JSON object: " + err.Error())
	}
	var alg, kid string
	for _, m := range members {
		switch m.Name {
		case "alg":
			alg, _ = jcs.Text(m.Value) // "" for what is not a string, and refused as such below
		case "kid":
			kid, _ = jcs.Text(m.Value)
		case "crit", "b64":
			return "", malformed("the header uses the extension member " + m.Name + ", which is not allowed here")
		case "jwk", "jku", "x5u", "x5c":
			return "", malformed("the header brings a key of its own in " + m.Name + ", which is not allowed here")
		}
	}
	if alg != "EdDSA" {
		return "", malformed(`the header must say "alg":"EdDSA"`)
	}
	if !jwk.ValidKid(kid) {
		return "", malformed("the header must name a key id, kid, of 1 to 128 characters of A-Z a-z 0-9 . _ : # / -")
	}
	return kid, nil
}
