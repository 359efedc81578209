package business

import (
	"crypto/sha256"

	"sayso/jcs"
)

// MaxDocument is the longest JSON text of this protocol that is read, in bytes.
const MaxDocument = 4 << 20

// form is the canonical form of X§8.3. It is the only departure from RFC 8785 in the program and is declared nowhere else.
var form = jcs.Form{LiteralNumbers: true, CodePointOrder: true, EscapeSeparators: true, MaxBytes: MaxDocument}

// Canon returns the canonical form of X§8.3: members by code point, literals as received, U+2028 and U+2029 escaped. It is not RFC 8785. Duplicate
// members, lone surrogates, invalid UTF-8, more than 64 levels and more than [MaxDocument] bytes are refused (*jcs.Error).
func Canon(data []byte) ([]byte, error) { return form.Append(nil, data) }

// AppendCanon appends the canonical form to dst, whose spare capacity must not overlap data. On an error it returns dst as it was.
func AppendCanon(dst, data []byte) ([]byte, error) { return form.Append(dst, data) }

// Digest is the SHA-256 of the canonical form: what is signed (X§8.1).
func Digest(data []byte) ([32]byte, error) {
	text, err := Canon(data)
	if err != nil {
		return [32]byte{}, err
	}
	return sha256.Sum256(text), nil
}

// Decode reads a JSON text of this protocol into a Go value by its json tags: as jcs.Decode, but numbers are not bound to binary64. Unknown members are
// ignored (XP-VERSION-002).
func Decode(data []byte, v any) error { return form.Decode(data, v) }

// DecodeKnown is [Decode] for texts of which every member must be understood: what a business states about itself.
func DecodeKnown(data []byte, v any) error { return form.DecodeKnown(data, v) }

// Members checks a JSON object of this protocol and returns its members in received order; values share the memory of data.
func Members(data []byte) ([]jcs.Member, error) { return form.Members(data) }
