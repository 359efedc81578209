package jwk

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"

	"sayso/jcs"
)

// PrivateKey is a signing key. It prints as "[private key KID]" in every format verb, in JSON and in logs.
type PrivateKey struct {
	kid string
	// A function, because fmt calls no method on a value that stands in an unexported field of something else and
	// follows pointers there for some verbs. It prints a function as its address, always.
	secret func() ed25519.PrivateKey
}

func newPrivateKey(kid string, seed []byte) *PrivateKey {
	priv := ed25519.NewKeyFromSeed(seed)
	return &PrivateKey{kid: kid, secret: func() ed25519.PrivateKey { return priv }}
}

// Generate makes a key from 32 bytes of random (crypto/rand.Reader in production). kid must satisfy [ValidKid].
func Generate(kid string, random interface{ Read([]byte) (int, error) }) (*PrivateKey, error) {
	if !ValidKid(kid) {
		return nil, refuse(BadKid, "a key id has 1 to 128 characters of A-Z a-z 0-9 . _ : # / -")
	}
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(random, seed); err != nil {
		return nil, fmt.Errorf("no random bytes for a new key: %w", err)
	}
	return newPrivateKey(kid, seed), nil
}

// ParsePrivate reads a private JWK (kty crv x d kid …); x must belong to d. Errors are *Error; none shows what stands
// in the file.
func ParsePrivate(data []byte) (*PrivateKey, error) {
	var w wireKey
	if err := jcs.Decode(data, &w); err != nil {
		place := ""
		if e := (*jcs.Error)(nil); errors.As(err, &e) && e.Offset >= 0 {
			place = fmt.Sprintf(" (%s at byte %d)", e.Kind, e.Offset)
		}
		return nil, refuse(Malformed, "the file is not a private JWK%s", place)
	}
	key, refused := w.public()
	if refused != nil {
		return nil, refused
	}
	text, ok := jcs.Text(w.D)
	if !ok {
		return nil, refuse(Malformed, "d must be a string; a public key cannot sign")
	}
	seed, err := DecodeBase64URL(text)
	if err != nil {
		return nil, refuse(BadText, "d is %v", err)
	}
	if len(seed) != ed25519.SeedSize {
		return nil, refuse(BadLength, "d must hold 32 bytes")
	}
	private := newPrivateKey(key.Kid, seed)
	if !key.Public.Equal(private.Public().Public) {
		return nil, refuse(BadPair, "x is not the public key of d; restore the file from a copy")
	}
	return private, nil
}

// Kid names the key.
func (k *PrivateKey) Kid() string { return k.kid }

// Rename returns the same key under another id, for ids that follow from the key itself. kid must satisfy [ValidKid].
func (k *PrivateKey) Rename(kid string) (*PrivateKey, error) {
	if !ValidKid(kid) {
		return nil, refuse(BadKid, "a key id has 1 to 128 characters of A-Z a-z 0-9 . _ : # / -")
	}
	return &PrivateKey{kid: kid, secret: k.secret}, nil
}

// Public is the public half as a set entry with use "sig", alg "EdDSA" and no dates.
func (k *PrivateKey) Public() Key {
	return Key{Kid: k.kid, Public: k.secret().Public().(ed25519.PublicKey), Use: "sig", Alg: "EdDSA"}
}

// Sign signs message with Ed25519.
func (k *PrivateKey) Sign(message []byte) []byte { return ed25519.Sign(k.secret(), message) }

// Export returns the private JWK as text with a line end. The caller stores it with mode 0600 or seals it.
func (k *PrivateKey) Export() []byte {
	pub := k.Public()
	var out []byte
	out = append(out, `{"kty":"OKP","crv":"Ed25519","x":"`+EncodeBase64URL(pub.Public)+`","d":"`+EncodeBase64URL(k.secret().Seed())+`","kid":`...)
	out = jcs.AppendString(out, k.kid)
	return append(out, `,"use":"sig","alg":"EdDSA"}`+"\n"...)
}

// String returns "[private key KID]".
func (k PrivateKey) String() string { return "[private key " + k.kid + "]" }

// GoString is [PrivateKey.String].
func (k PrivateKey) GoString() string { return k.String() }

// Format prints [PrivateKey.String] whatever the verb is.
func (k PrivateKey) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, k.String()) }

// MarshalText returns [PrivateKey.String], for logs.
func (k PrivateKey) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// MarshalJSON returns [PrivateKey.String] as a JSON string.
func (k PrivateKey) MarshalJSON() ([]byte, error) { return jcs.AppendString(nil, k.String()), nil }

// maxSealed bounds what is decrypted: a key file has about 200 bytes.
const maxSealed = 64 << 10

// workFactor is the base-2 logarithm of scrypt's cost. At 18, the default of the format's own tool, opening a key takes
// about a second and 256 MiB.
var workFactor = 18

const ageHeader = "age-encryption.org/v1\n"

// Seal encrypts an exported key under a passphrase as an age file.
func Seal(plain, passphrase []byte) ([]byte, error) {
	recipient, err := age.NewScryptRecipient(string(passphrase))
	if err != nil {
		return nil, refuse(BadSeal, "an empty passphrase does not seal a key")
	}
	recipient.SetWorkFactor(workFactor)
	var out bytes.Buffer
	w, err := age.Encrypt(&out, recipient)
	if err != nil {
		return nil, fmt.Errorf("the key cannot be sealed: %w", err)
	}
	if _, err = w.Write(plain); err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("the key cannot be sealed: %w", err)
	}
	return out.Bytes(), nil
}

// Open decrypts what [Seal] wrote; errors are *Error with [BadSeal]. A file that asks for more work than Seal does, or
// is larger than any key file, is refused before the work is done.
func Open(sealed, passphrase []byte) ([]byte, error) {
	if !Sealed(sealed) || len(sealed) > maxSealed {
		return nil, refuse(BadSeal, "the file is not a sealed key")
	}
	identity, err := age.NewScryptIdentity(string(passphrase))
	if err != nil {
		return nil, refuse(BadSeal, "an empty passphrase does not open a key")
	}
	identity.SetMaxWorkFactor(workFactor)
	r, err := age.Decrypt(bytes.NewReader(sealed), identity)
	if err != nil {
		return nil, refuse(BadSeal, "the passphrase is wrong, or the sealed key is damaged")
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		return nil, refuse(BadSeal, "the sealed key is damaged; restore it from a copy")
	}
	return plain, nil
}

// Sealed reports whether data is an age file.
func Sealed(data []byte) bool { return bytes.HasPrefix(data, []byte(ageHeader)) }
