package jwk

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"fmt"

	"filippo.io/edwards25519"
)

// Reason classifies why a key, a set or a key file was refused.
type Reason string

// The closed list of refusals.
const (
	Malformed    Reason = "malformed"     // not the JSON of the format, or a value of the wrong type
	BadText      Reason = "base64url"     // not canonical unpadded base64url
	BadLength    Reason = "length"        // not 32 bytes
	BadEncoding  Reason = "encoding"      // not a point, or not the canonical encoding of one
	SmallOrder   Reason = "small order"   // the key is one of the eight points of small order
	MixedOrder   Reason = "mixed order"   // the key has a component of small order
	BadType      Reason = "key type"      // kty is not OKP or crv is not Ed25519
	BadUse       Reason = "use"           // use is not sig or alg is not EdDSA
	BadKid       Reason = "kid"           // no key id, or not one that may be read
	DuplicateKid Reason = "duplicate kid" // two entries of a set have one key id
	HasPrivate   Reason = "private key"   // a public set holds a private member
	BadDate      Reason = "date"          // not a calendar day YYYY-MM-DD
	TooMany      Reason = "too many keys" // more than MaxKeys
	BadPair      Reason = "key pair"      // the public half does not belong to the private half
	BadSeal      Reason = "seal"          // not an age file under this passphrase
)

// Error is every refusal of this package. Detail never holds private key material.
type Error struct {
	Reason Reason
	Detail string
}

func (e *Error) Error() string { return e.Detail }

func refuse(reason Reason, format string, args ...any) *Error {
	return &Error{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

var strict = base64.RawURLEncoding.Strict()

// EncodeBase64URL returns the unpadded base64url text of b.
func EncodeBase64URL(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// DecodeBase64URL reads unpadded base64url in its canonical spelling; everything else is an *Error with [BadText].
func DecodeBase64URL(text string) ([]byte, error) {
	// Strict refuses stray bits in the last character but skips line ends, so the text is made again and compared.
	b, err := strict.DecodeString(text)
	var again [128]byte // more than a key or a signature takes
	if err != nil || string(strict.AppendEncode(again[:0], b)) != text {
		return nil, refuse(BadText, "not canonical base64url without padding")
	}
	return b, nil
}

// Accept checks a raw 32-byte Ed25519 public key: length, canonical encoding, not of small order, in the prime-order
// group. Errors are *Error with [BadLength], [BadEncoding], [SmallOrder] or [MixedOrder]. The result is a copy.
func Accept(raw []byte) (ed25519.PublicKey, error) {
	if len(raw) != ed25519.PublicKeySize {
		return nil, refuse(BadLength, "an Ed25519 public key has 32 bytes, this one has %d", len(raw))
	}
	p, err := new(edwards25519.Point).SetBytes(raw)
	if err != nil || !bytes.Equal(p.Bytes(), raw) {
		return nil, refuse(BadEncoding, "the key is not the canonical encoding of a point of the curve")
	}
	identity := edwards25519.NewIdentityPoint()
	if new(edwards25519.Point).MultByCofactor(p).Equal(identity) == 1 {
		return nil, refuse(SmallOrder, "the key has small order: signatures under it prove nothing; make a new key")
	}
	// The group order L is not a canonical scalar; L-1 is, and (L-1)P + P = LP.
	lp := new(edwards25519.Point).VarTimeDoubleScalarBaseMult(minusOne, p, edwards25519.NewScalar())
	if lp.Add(lp, p).Equal(identity) != 1 {
		return nil, refuse(MixedOrder, "the key is not in the prime-order group; make a new key")
	}
	return bytes.Clone(raw), nil
}

// minusOne is L-1 modulo the group order L.
var minusOne = func() *edwards25519.Scalar {
	one, err := edwards25519.NewScalar().SetCanonicalBytes(append([]byte{1}, make([]byte, 31)...))
	if err != nil {
		panic(err)
	}
	return edwards25519.NewScalar().Negate(one)
}()

// CheckEncoding is the part of [Accept] that needs no curve arithmetic: length, canonical y coordinate, not of small
// order. A verifier whose keys were accepted when they entered repeats it for every signature, at no cost, so that a
// mistake on the way to it cannot make a signature hold for every message. Whether the bytes are a point of the
// prime-order group is left open.
func CheckEncoding(pub ed25519.PublicKey) error {
	if len(pub) != ed25519.PublicKeySize {
		return refuse(BadLength, "an Ed25519 public key has 32 bytes, this one has %d", len(pub))
	}
	y := [32]byte(pub)
	y[31] &= 0x7f // the top bit is the sign of x; both signs of a y of small order are refused
	if y[0] >= 0xed && y[31] == 0x7f && bytes.Equal(y[1:31], allOnes[:]) {
		return refuse(BadEncoding, "the key is not the canonical encoding of a point of the curve")
	}
	for i := range smallOrderY {
		if y == smallOrderY[i] {
			return refuse(SmallOrder, "the key has small order: signatures under it prove nothing; make a new key")
		}
	}
	return nil
}

var allOnes = [30]byte(bytes.Repeat([]byte{0xff}, 30))

// smallOrderY are the y coordinates of the points of order 1, 2, 4 and 8.
var smallOrderY = func() (ys [5][32]byte) {
	ys[0][0] = 1
	ys[1] = [32]byte(bytes.Repeat([]byte{0xff}, 32)) // -1, that is 2^255-20
	ys[1][0], ys[1][31] = 0xec, 0x7f
	// ys[2] is 0. The last two, of order 8, are each other's negative.
	ys[3] = [32]byte{0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0,
		0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05}
	ys[4] = [32]byte{0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f,
		0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a}
	return ys
}()

// Thumbprint is the RFC 7638 SHA-256 thumbprint, base64url.
func Thumbprint(pub ed25519.PublicKey) string {
	sum := sha256.Sum256(EncodePublic(pub))
	return EncodeBase64URL(sum[:])
}

// ValidKid reports whether kid may be read: 1 to 128 characters of A-Z a-z 0-9 . _ : # / -.
func ValidKid(kid string) bool {
	if len(kid) == 0 || len(kid) > 128 {
		return false
	}
	for i := range len(kid) {
		if c := kid[i]; !isDigit(c) && !('a' <= c|0x20 && c|0x20 <= 'z') &&
			c != '.' && c != '_' && c != ':' && c != '#' && c != '/' && c != '-' {
			return false
		}
	}
	return true
}

// OwnKid reports whether kid has the form a facts publisher gives its own keys: <publisher>-<yyyy>-<mm>, the publisher
// being 1 to 16 of a-z 0-9 and mm 01 to 12.
func OwnKid(kid string) bool {
	cut := len(kid) - len("-yyyy-mm")
	if cut < 1 || cut > 16 {
		return false
	}
	for i := range cut {
		if c := kid[i]; !isDigit(c) && (c < 'a' || c > 'z') {
			return false
		}
	}
	tail := kid[cut:]
	if tail[0] != '-' || tail[5] != '-' || !allDigits(tail[1:5]) || !allDigits(tail[6:]) {
		return false
	}
	return "01" <= tail[6:] && tail[6:] <= "12"
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}
