package httpsig

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"sayso/jwk"
)

// maxInput is the longest Signature-Input that is read, in bytes; one with every component and the longest nonce has about 360.
const maxInput = 1024

const (
	maxLabel     = 64
	maxNonce     = 128
	maxCreated   = 999_999_999_999 // 12 digits; no arithmetic on it can overflow
	digestPrefix = "sha-256=:"
	noNonce      = "nonce is required here, or is not 1 to 128 visible ASCII characters without quotation mark and reverse solidus"
)

// scanner reads the canonical text of RFC 8941 section 4.1 from the left.
type scanner struct{ rest string }

// take drops prefix and reports whether it was there.
func (s *scanner) take(prefix string) bool {
	rest, ok := strings.CutPrefix(s.rest, prefix)
	s.rest = rest
	return ok
}

// while returns the longest prefix whose bytes all satisfy ok.
func (s *scanner) while(ok func(c byte) bool) string {
	n := 0
	for n < len(s.rest) && ok(s.rest[n]) {
		n++
	}
	text := s.rest[:n]
	s.rest = s.rest[n:]
	return text
}

// key reads a key of a dictionary or of a parameter; "" when there is none.
func (s *scanner) key() string {
	if s.rest == "" || !(s.rest[0] >= 'a' && s.rest[0] <= 'z' || s.rest[0] == '*') {
		return ""
	}
	return s.while(func(c byte) bool {
		return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' || c == '*'
	})
}

// quoted reads a string without escapes.
func (s *scanner) quoted() (string, bool) {
	if !s.take(`"`) {
		return "", false
	}
	text := s.while(plain)
	return text, s.take(`"`)
}

// plain are the characters of a string that need no escape.
func plain(c byte) bool { return c >= ' ' && c <= '~' && c != '"' && c != '\\' }

// integer reads a positive integer of at most 12 digits without leading zero.
func (s *scanner) integer() (int64, bool) {
	digits := s.while(func(c byte) bool { return c >= '0' && c <= '9' })
	if digits == "" || digits[0] == '0' || len(digits) > 12 {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil
}

func validNonce(nonce string) bool {
	return nonce != "" && len(nonce) <= maxNonce && !strings.ContainsFunc(nonce, func(r rune) bool { return r == ' ' || r > '~' || !plain(byte(r)) })
}

// parseInput reads Signature-Input: its one label, the covered components, the parameters.
func parseInput(text string) (name string, s Signature, refused *Error) {
	bad := func(detail string) (string, Signature, *Error) { return "", Signature{}, refuse(CodeMalformed, detail) }
	if len(text) > maxInput {
		return bad("Signature-Input is longer than any signature needs")
	}
	in := &scanner{rest: text}
	name = in.key()
	if name == "" || len(name) > maxLabel || !in.take("=(") {
		return bad("Signature-Input is not one label and a list of components")
	}
	s.params = text[len(name)+1:]
	for {
		component, ok := in.quoted()
		if !ok || component == "" {
			return bad("the components are not quoted names with one space between them")
		}
		s.Covered = append(s.Covered, component)
		if in.take(")") {
			break
		}
		if !in.take(" ") {
			return bad("a component has parameters, or the list of components does not end")
		}
	}
	values := map[string]string{}
	for in.take(";") {
		key := in.key()
		if _, twice := values[key]; twice || !in.take("=") {
			return bad("a parameter stands twice or has no value")
		}
		var ok bool
		switch key {
		case "created":
			var n int64
			n, ok = in.integer()
			s.Params.Created = time.Unix(n, 0).UTC()
			values[key] = "read"
		case "nonce", "keyid", "alg", "tag":
			values[key], ok = in.quoted()
		default:
			return bad("a parameter other than created, nonce, keyid, alg and tag")
		}
		if !ok {
			return bad("a parameter has a value of another form")
		}
	}
	if in.rest != "" {
		return bad("something follows the parameters; one signature is read, in its canonical text")
	}
	nonce, has := values["nonce"]
	switch {
	case values["created"] == "":
		return bad("created is absent")
	case values["alg"] != algorithm || values["tag"] != tag:
		return bad(`alg must be "ed25519" and tag must be "gidp"`)
	case has && !validNonce(nonce):
		return bad(noNonce)
	}
	if raw, err := jwk.DecodeBase64URL(values["keyid"]); err != nil || len(raw) != sha256.Size {
		return bad("keyid is not an RFC 7638 thumbprint")
	}
	s.Params.Nonce, s.Params.KeyID = nonce, values["keyid"]
	return name, s, nil
}

// parseSignature reads Signature, whose one label must be name.
func parseSignature(text, name string) ([]byte, *Error) {
	encoded, ok := strings.CutPrefix(text, name+"=:")
	if !ok {
		return nil, refuse(CodeMalformed, "Signature does not start with the label of Signature-Input")
	}
	value, ok := bytesOf(encoded, ed25519.SignatureSize)
	if !ok {
		return nil, refuse(CodeMalformed, "Signature is not one Ed25519 signature in canonical base64 between colons")
	}
	return value, nil
}

// parseDigest reads a Content-Digest that holds one sha-256.
func parseDigest(text string) (sum [sha256.Size]byte, refused *Error) {
	encoded, ok := strings.CutPrefix(text, digestPrefix)
	raw, right := bytesOf(encoded, len(sum))
	if !ok || !right {
		return sum, refuse(CodeDigest, "Content-Digest is not one sha-256 in canonical base64 between colons")
	}
	return [sha256.Size]byte(raw), nil
}

// bytesOf reads exactly size bytes in canonical padded base64 and the colon after them.
func bytesOf(text string, size int) ([]byte, bool) {
	encoded, ok := strings.CutSuffix(text, ":")
	if !ok || len(encoded) != base64.StdEncoding.EncodedLen(size) {
		return nil, false
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(encoded)
	// The decoder skips line ends, which would shorten the result, and Strict refuses stray bits.
	return raw, err == nil && len(raw) == size
}
