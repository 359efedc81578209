package business

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"sayso/jcs"
	"sayso/jwk"
)

// Signer signs 32-byte digests with one Ed25519 key. An external signer (HSM, KMS, another process) implements it as well as a key file does.
type Signer interface {
	Kid() string
	Public() ed25519.PublicKey
	Sign(digest [32]byte) ([]byte, error) // 64 bytes
}

// KeySigner is the Signer of a private key that this process holds. Its public half follows from the private one and crypto/ed25519 signs, so [SignDocument]
// and the others that sign take its signature as it is. A Signer that wraps it is verified like any other.
func KeySigner(key *jwk.PrivateKey) Signer { return keySigner{key} }

type keySigner struct{ key *jwk.PrivateKey }

func (s keySigner) Kid() string                          { return s.key.Kid() }
func (s keySigner) Public() ed25519.PublicKey            { return s.key.Public().Public }
func (s keySigner) Sign(digest [32]byte) ([]byte, error) { return s.key.Sign(digest[:]), nil }

// The roles of an entry of registry-keys.json.
const (
	RoleRoot    = "root"
	RoleSigning = "signing"
)

// RegistryKey is one entry of registry-keys.json.
type RegistryKey struct {
	Kid           string         `json:"kid"`
	Role          string         `json:"role"` // root | signing
	Kty           string         `json:"kty"`
	Crv           string         `json:"crv"`
	Alg           string         `json:"alg"`
	Use           string         `json:"use"`
	X             string         `json:"x"`
	CreatedAt     string         `json:"created_at"` // RFC 3339, verbatim: it is signed as text
	NotAfter      string         `json:"not_after"`
	RootSignature *RootSignature `json:"root_signature,omitempty"` // absent on a root
}

// RootSignature is the root's signature over exactly seven members of an entry: kid, public_key, alg, role, registry, created_at, not_after.
type RootSignature struct {
	RootKid   string   `json:"root_kid"`
	Alg       string   `json:"alg"`
	Digest    string   `json:"digest"`
	Signature string   `json:"signature"`
	SignedAt  string   `json:"signed_at"`
	Covers    []string `json:"covers"`
}

// RegistryKeys is registry-keys.json.
type RegistryKeys struct {
	Registry      string        `json:"registry"`
	IssuedAt      time.Time     `json:"issued_at"`
	MaxAgeSeconds int           `json:"max_age_seconds"`
	Keys          []RegistryKey `json:"keys"`
}

// KeyAttestation binds a publisher key to a publisher (X§8.4): x_protocol_attestation. Signed are exactly kid, public_key, alg, publisher, created_at.
type KeyAttestation struct {
	Publisher       string   `json:"publisher"`
	KeyCreatedAt    string   `json:"key_created_at"`
	RegistryKid     string   `json:"registry_kid"`
	RegistryKeysURL string   `json:"registry_keys_url"`
	Alg             string   `json:"alg"`
	Digest          string   `json:"digest"`
	Signature       string   `json:"signature"`
	SignedAt        string   `json:"signed_at"`
	Covers          []string `json:"covers"`
}

// PublisherKey is one entry of a publisher's jwks.json.
type PublisherKey struct {
	Kty         string          `json:"kty"`
	Crv         string          `json:"crv"`
	Alg         string          `json:"alg"`
	Use         string          `json:"use"`
	Kid         string          `json:"kid"`
	X           string          `json:"x"`
	Attestation *KeyAttestation `json:"x_protocol_attestation,omitempty"`
}

// PublisherKeys is a publisher's jwks.json.
type PublisherKeys struct {
	Keys []PublisherKey `json:"keys"`
}

// PublisherKid is <publisher>-<8 hex>, the id of a publisher key; the digits begin the SHA-256 of the key's text x in base64url. To a reader it is opaque.
func PublisherKid(publisher string, key ed25519.PublicKey) string {
	sum := sha256.Sum256([]byte(jwk.EncodeBase64URL(key)))
	return publisher + "-" + hex.EncodeToString(sum[:4])
}

// NewRegistryKey makes an entry without its root signature. The key must satisfy jwk.Accept.
func NewRegistryKey(kid, role string, key ed25519.PublicKey, createdAt, notAfter time.Time) (RegistryKey, error) {
	accepted, err := jwk.Accept(key)
	if err != nil {
		return RegistryKey{}, fmt.Errorf("registry key %s: %w", shown(kid), err)
	}
	entry := RegistryKey{
		Kid: kid, Role: role, Kty: "OKP", Crv: Algorithm, Alg: "EdDSA", Use: "sig", X: jwk.EncodeBase64URL(accepted),
		CreatedAt: stamp(createdAt), NotAfter: stamp(notAfter),
	}
	return entry, entry.check()
}

// check refuses an entry that no reader would take.
func (k *RegistryKey) check() error {
	switch {
	case !jwk.ValidKid(k.Kid):
		return errors.New("registry key: the kid is not a key id of 1 to 128 plain characters")
	case k.Role != RoleRoot && k.Role != RoleSigning:
		return fmt.Errorf("registry key %s: role is neither root nor signing", k.Kid)
	case k.Kty != "OKP" || k.Crv != Algorithm || k.Alg != "EdDSA" || k.Use != "sig":
		return fmt.Errorf("registry key %s: kty, crv, alg and use must be OKP, Ed25519, EdDSA and sig", k.Kid)
	}
	created, ok := parseTime(k.CreatedAt)
	until, okUntil := parseTime(k.NotAfter)
	if !ok || !okUntil || !created.Before(until) {
		return fmt.Errorf("registry key %s: created_at and not_after must be RFC 3339 times in this order", k.Kid)
	}
	raw, err := jwk.DecodeBase64URL(k.X)
	if err == nil {
		_, err = jwk.Accept(raw)
	}
	if err != nil {
		return fmt.Errorf("registry key %s: %w", k.Kid, err)
	}
	return nil
}

// The members a root signature and a key attestation cover, as they are listed for the reader's convenience.
var (
	rootCovers = []string{"kid", "public_key", "alg", "role", "registry", "created_at", "not_after"}
	keyCovers  = []string{"kid", "public_key", "alg", "publisher", "created_at"}
)

// rootDigest is the digest of the seven members the root signs. alg is the key's crv, never its JWS alg.
func rootDigest(kid, x, crv, role, registry, createdAt, notAfter string) [32]byte {
	return stringsDigest("alg", crv, "created_at", createdAt, "kid", kid, "not_after", notAfter, "public_key", x, "registry", registry, "role", role)
}

// keyDigest is the digest of the five members a registry key signs to attest a publisher key (X§8.4).
func keyDigest(kid, x, crv, publisher, createdAt string) [32]byte {
	return stringsDigest("alg", crv, "created_at", createdAt, "kid", kid, "public_key", x, "publisher", publisher)
}

// stringsDigest hashes the canonical form of an object of strings, given as name and value in the order of names.
func stringsDigest(pairs ...string) [32]byte {
	var buf [512]byte
	out := append(buf[:0], '{')
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			out = append(out, ',')
		}
		out = jcs.AppendString(out, pairs[i])
		out = append(out, ':')
		out = jcs.AppendString(out, pairs[i+1])
	}
	digest, err := Digest(append(out, '}'))
	if err != nil {
		// The values come from canonical text or were checked, so this is an object of strings in UTF-8.
		panic(err)
	}
	return digest
}

// SignEntry signs a registry key entry with the root: it returns the entry with root_signature. Only signing keys are signed: a root is one because a
// reader pinned it (XP-INTEGRITY-015).
func SignEntry(entry RegistryKey, registry string, root Signer, at time.Time) (RegistryKey, error) {
	digest, err := entry.digest(registry)
	if err != nil {
		return RegistryKey{}, err
	}
	signature, err := rootSign(digest, root, at, rootCovers)
	if err != nil {
		return RegistryKey{}, fmt.Errorf("registry key %s: %w", entry.Kid, err)
	}
	entry.RootSignature = signature
	return entry, nil
}

// VerifyEntry verifies that an entry is one a reader takes, and that the root signed its seven members for this registry family, as [Verify] does.
func VerifyEntry(entry RegistryKey, registry string, root ed25519.PublicKey) error {
	digest, err := entry.digest(registry)
	if err != nil {
		return err
	}
	if !entry.RootSignature.holds(digest, root) {
		return fmt.Errorf("registry key %s: %w", entry.Kid, ErrNotRootSigned)
	}
	return nil
}

// digest is what the root signs of an entry that a reader would take.
func (k *RegistryKey) digest(registry string) ([32]byte, error) {
	if err := k.check(); err != nil {
		return [32]byte{}, err
	}
	if k.Role != RoleSigning {
		return [32]byte{}, fmt.Errorf("registry key %s: the root signs entries with role signing only", k.Kid)
	}
	if registry == "" || !utf8.ValidString(registry) {
		return [32]byte{}, errors.New("registry key: name the registry family the entry is signed for")
	}
	return rootDigest(k.Kid, k.X, k.Crv, k.Role, registry, k.CreatedAt, k.NotAfter), nil
}

// ErrNotRootSigned says that an entry is well formed and the root has not signed it as it stands.
var ErrNotRootSigned = errors.New("the root has not signed this entry; sign exactly this entry with the root")

// holds verifies the block a root added to an entry, with the root's own bytes: root_kid decides nothing.
func (s *RootSignature) holds(digest [32]byte, root ed25519.PublicKey) bool {
	return s != nil && seal{s.Alg, s.Digest, s.Signature, true, true}.holds(digest, root)
}

// rootSign makes the block a root adds to an entry of either document.
func rootSign(digest [32]byte, root Signer, at time.Time, covers []string) (*RootSignature, error) {
	signature, err := sign(digest, root)
	if err != nil {
		return nil, err
	}
	return &RootSignature{
		RootKid: root.Kid(), Alg: Algorithm, Digest: jwk.EncodeBase64URL(digest[:]), Signature: signature, SignedAt: stamp(at), Covers: covers,
	}, nil
}

// Attest makes the jwks entry of a publisher key, attested by a registry key. createdAt is RFC 3339 and is signed as text; registryKeysURL says where the
// registry key is published.
func Attest(key ed25519.PublicKey, kid, publisher, createdAt string, registry Signer, registryKeysURL string, at time.Time) (PublisherKey, error) {
	accepted, err := jwk.Accept(key)
	if err != nil {
		return PublisherKey{}, fmt.Errorf("publisher key: %w", err)
	}
	_, dated := parseTime(createdAt)
	switch {
	case !jwk.ValidKid(kid):
		return PublisherKey{}, errors.New("publisher key: the kid is not a key id of 1 to 128 plain characters")
	case !ValidSlug(publisher):
		return PublisherKey{}, fmt.Errorf("publisher key %s: the publisher is not a slug", kid)
	case !dated:
		return PublisherKey{}, fmt.Errorf("publisher key %s: created_at is no RFC 3339 time", kid)
	case registryKeysURL == "":
		return PublisherKey{}, fmt.Errorf("publisher key %s: say where the registry keys are published", kid)
	}
	x := jwk.EncodeBase64URL(accepted)
	digest := keyDigest(kid, x, Algorithm, publisher, createdAt)
	signature, err := sign(digest, registry)
	if err != nil {
		return PublisherKey{}, fmt.Errorf("publisher key %s: %w", kid, err)
	}
	return PublisherKey{
		Kty: "OKP", Crv: Algorithm, Alg: "EdDSA", Use: "sig", Kid: kid, X: x,
		Attestation: &KeyAttestation{
			Publisher: publisher, KeyCreatedAt: createdAt, RegistryKid: registry.Kid(), RegistryKeysURL: registryKeysURL, Alg: Algorithm,
			Digest: jwk.EncodeBase64URL(digest[:]), Signature: signature, SignedAt: stamp(at), Covers: keyCovers,
		},
	}, nil
}
