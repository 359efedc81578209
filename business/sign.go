package business

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sayso/jcs"
	"sayso/jwk"
)

// ManifestLife is how long a manifest's attestation may be relied on (X§8.6).
const ManifestLife = 15 * time.Minute

// Signing says how a document is signed: the mirrored members of X§8.5.
type Signing struct {
	Signer    Signer
	SignedAt  time.Time
	ExpiresAt time.Time // zero: the document has none (revocation lists)
	KeysURL   string    // jwks_url of the attestation
	KeysName  string    // member that repeats KeysURL in the payload: "registry_keys_url" or "jwks_url"
}

// The members of a payload that repeat KeysURL.
const (
	registryKeysName  = "registry_keys_url" // documents signed by a registry key
	publisherKeysName = "jwks_url"          // envelopes
)

// SignDocument adds signed_at, expires_at, signing_kid and the keys URL to a JSON object, signs its canonical form (X§8.3) and returns the object with its
// attestation, members in received order and the added ones last. An object that has one of these members already is refused. What the signer returned is
// verified before anything is returned, so that a broken signer publishes nothing; only a [KeySigner] needs none. A signer that fails matches [ErrSigner].
func SignDocument(object []byte, s Signing) ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	members, err := Members(object)
	if err != nil {
		return nil, fmt.Errorf("document to sign: %w", err)
	}
	added := []string{"signed_at", "expires_at", "signing_kid", s.KeysName, "attestation", "unsigned_reason"}
	for _, m := range members {
		if slices.Contains(added, m.Name) {
			return nil, fmt.Errorf("document to sign: it carries %s already; sign the unsigned document", m.Name)
		}
	}
	body := bytes.TrimRight(object, " \t\r\n")
	payload := slices.Clip(bytes.TrimRight(body[:len(body)-1], " \t\r\n"))
	if len(members) > 0 {
		payload = append(payload, ',')
	}
	payload = s.appendMirrored(payload)

	digest, err := Digest(append(payload, '}'))
	if err != nil {
		return nil, fmt.Errorf("document to sign: %w", err)
	}
	signature, err := sign(digest, s.Signer)
	if err != nil {
		return nil, fmt.Errorf("document to sign: %w", err)
	}
	out := append(payload, `,"attestation":{"alg":"`+Algorithm+`","kid":`...)
	out = jcs.AppendString(out, s.Signer.Kid())
	out = append(out, `,"digest":"`+jwk.EncodeBase64URL(digest[:])+`","signature":"`+signature+`","signed_at":"`+stamp(s.SignedAt)+`"`...)
	if !s.ExpiresAt.IsZero() {
		out = append(out, `,"expires_at":"`+stamp(s.ExpiresAt)+`"`...)
	}
	out = append(out, `,"jwks_url":`...)
	out = append(jcs.AppendString(out, s.KeysURL), "}}"...)
	if len(out) > MaxDocument {
		return nil, fmt.Errorf("document to sign: with its attestation it is longer than the %d bytes a reader takes", MaxDocument)
	}
	return out, nil
}

func (s *Signing) check() error {
	switch {
	case s.Signer == nil:
		return errors.New("document to sign: there is no signer")
	case s.KeysName != registryKeysName && s.KeysName != publisherKeysName:
		return errors.New("document to sign: the keys URL is mirrored as registry_keys_url or jwks_url, nothing else")
	case s.KeysURL == "":
		return errors.New("document to sign: say where the signing key is published")
	case s.SignedAt.IsZero() || !representable(s.SignedAt) || !representable(s.ExpiresAt):
		return errors.New("document to sign: signed_at is not set, or a time lies outside the years 0 to 9999")
	case !s.ExpiresAt.IsZero() && !s.ExpiresAt.After(s.SignedAt):
		return errors.New("document to sign: expires_at must be later than signed_at")
	}
	return nil
}

// appendMirrored appends the members that stand in the payload and again in the attestation, which its own signature cannot cover (X§8.5).
func (s *Signing) appendMirrored(dst []byte) []byte {
	dst = append(dst, `"signed_at":"`+stamp(s.SignedAt)+`"`...)
	if !s.ExpiresAt.IsZero() {
		dst = append(dst, `,"expires_at":"`+stamp(s.ExpiresAt)+`"`...)
	}
	dst = append(dst, `,"signing_kid":`...)
	dst = jcs.AppendString(dst, s.Signer.Kid())
	dst = append(dst, `,"`+s.KeysName+`":`...)
	return jcs.AppendString(dst, s.KeysURL)
}

// ErrSigner says that the signer was asked and gave no signature that verifies under its own public key.
var ErrSigner = errors.New("the signer failed; nothing was published")

// sign returns the base64url signature over the 32 bytes of a digest (XP-INTEGRITY-001, 002). What did not come from a key of this process is verified under
// the signer's own public key.
func sign(digest [32]byte, signer Signer) (string, error) {
	if signer == nil {
		return "", errors.New("there is no signer")
	}
	kid := signer.Kid()
	if !jwk.ValidKid(kid) {
		return "", errors.New("the signer's kid is not a key id of 1 to 128 plain characters")
	}
	if held, ok := signer.(keySigner); ok {
		return jwk.EncodeBase64URL(held.key.Sign(digest[:])), nil
	}
	public := signer.Public()
	if err := jwk.CheckEncoding(public); err != nil {
		return "", fmt.Errorf("signer %s: %w", kid, err)
	}
	signature, err := signer.Sign(digest)
	if err != nil {
		return "", fmt.Errorf("signer %s: %w: %w", kid, ErrSigner, err)
	}
	if len(signature) != ed25519.SignatureSize {
		return "", fmt.Errorf("signer %s: a signature has 64 bytes, it returned %d: %w", kid, len(signature), ErrSigner)
	}
	if !ed25519.Verify(public, digest[:], signature) {
		return "", fmt.Errorf("signer %s: its signature does not verify under its own public key: %w", kid, ErrSigner)
	}
	return jwk.EncodeBase64URL(signature), nil
}

// stamp is the text of an instant on the wire: RFC 3339, UTC, microseconds at most.
func stamp(t time.Time) string {
	return t.UTC().Truncate(time.Microsecond).Format(time.RFC3339Nano)
}

func representable(t time.Time) bool {
	_, ok := parseTime(stamp(t))
	return ok
}

// parseTime reads RFC 3339 strictly: capital T and Z, two digits everywhere, a full stop before the fraction.
func parseTime(s string) (time.Time, bool) {
	var t time.Time
	if len(s) > 64 || strings.Contains(s, ",") || t.UnmarshalText([]byte(s)) != nil { // the standard library takes a comma, RFC 3339 does not
		return time.Time{}, false
	}
	return t.UTC(), true
}
