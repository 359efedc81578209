package jwk

import (
	"crypto/ed25519"
	"time"

	"sayso/jcs"
)

// MaxKeys is the largest number of keys a set may hold. Accepting a key costs curve arithmetic.
const MaxKeys = 256

// Key is one public key of a JWK Set. Dates are YYYY-MM-DD, "" when absent or null.
type Key struct {
	Kid       string
	Public    ed25519.PublicKey // accepted
	Use, Alg  string            // "sig", "EdDSA"; "" when absent
	ValidFrom string
	Retired   string
	Revoked   string
}

// Set is a JWK Set with unique key ids.
type Set struct {
	Keys []Key
}

// wireKey has the members of a JWK that are looked at. Raw members tell absence, null and a wrong type apart.
type wireKey struct {
	Kty       jcs.Raw `json:"kty"`
	Crv       jcs.Raw `json:"crv"`
	X         jcs.Raw `json:"x"`
	D         jcs.Raw `json:"d"`
	Kid       jcs.Raw `json:"kid"`
	Use       jcs.Raw `json:"use"`
	Alg       jcs.Raw `json:"alg"`
	ValidFrom jcs.Raw `json:"validFrom"`
	Retired   jcs.Raw `json:"retired"`
	Revoked   jcs.Raw `json:"revoked"`
}

// ParseSet reads a JWK Set of Ed25519 keys strictly; two entries with one kid, a private member or a foreign key type
// refuse the set. Errors are *Error and name the entry.
func ParseSet(data []byte) (*Set, error) {
	var wire struct {
		Keys *[]wireKey `json:"keys"`
	}
	if err := jcs.Decode(data, &wire); err != nil {
		return nil, refuse(Malformed, "the key set cannot be read: %v", err)
	}
	if wire.Keys == nil {
		return nil, refuse(Malformed, "the key set has no member keys with an array")
	}
	if len(*wire.Keys) > MaxKeys {
		return nil, refuse(TooMany, "the key set holds %d keys, at most %d are read", len(*wire.Keys), MaxKeys)
	}
	set := &Set{Keys: make([]Key, 0, len(*wire.Keys))}
	seen := make(map[string]bool, len(*wire.Keys))
	for i := range *wire.Keys {
		w := &(*wire.Keys)[i]
		if w.D != nil {
			return nil, refuse(HasPrivate, "key %d holds a private member d: replace this key at once and publish the public half only", i+1)
		}
		key, err := w.public()
		if err != nil {
			return nil, refuse(err.Reason, "key %d: %s", i+1, err.Detail)
		}
		if seen[key.Kid] {
			return nil, refuse(DuplicateKid, "key %d: the key id %q stands twice; no entry can be trusted", i+1, key.Kid)
		}
		seen[key.Kid] = true
		set.Keys = append(set.Keys, key)
	}
	return set, nil
}

// readType reads kty, crv, use and alg.
func (w *wireKey) readType(key *Key) *Error {
	for _, m := range []struct {
		name, want string
		raw        jcs.Raw
		optional   bool
		reason     Reason
		into       *string
	}{
		{"kty", "OKP", w.Kty, false, BadType, nil},
		{"crv", "Ed25519", w.Crv, false, BadType, nil},
		{"use", "sig", w.Use, true, BadUse, &key.Use},
		{"alg", "EdDSA", w.Alg, true, BadUse, &key.Alg},
	} {
		if m.raw == nil && m.optional {
			continue
		}
		text, ok := jcs.Text(m.raw)
		if !ok || text != m.want {
			return refuse(m.reason, "%s must be %q", m.name, m.want)
		}
		if m.into != nil {
			*m.into = text
		}
	}
	return nil
}

// readPoint reads and accepts x.
func (w *wireKey) readPoint(key *Key) *Error {
	text, ok := jcs.Text(w.X)
	if !ok {
		return refuse(Malformed, "x must be a string")
	}
	raw, err := DecodeBase64URL(text)
	if err != nil {
		return refuse(BadText, "x is %v", err)
	}
	if key.Public, err = Accept(raw); err != nil {
		return err.(*Error)
	}
	return nil
}

// public reads and accepts everything but d.
func (w *wireKey) public() (Key, *Error) {
	var key Key
	if err := w.readType(&key); err != nil {
		return key, err
	}
	kid, ok := jcs.Text(w.Kid)
	if !ok || !ValidKid(kid) {
		return key, refuse(BadKid, "kid must be a string of 1 to 128 characters of A-Z a-z 0-9 . _ : # / -")
	}
	key.Kid = kid
	for _, m := range []struct {
		name string
		raw  jcs.Raw
		into *string
	}{{"validFrom", w.ValidFrom, &key.ValidFrom}, {"retired", w.Retired, &key.Retired}, {"revoked", w.Revoked, &key.Revoked}} {
		if m.raw == nil || string(m.raw) == "null" {
			continue
		}
		if *m.into, ok = jcs.Text(m.raw); !ok || !isDay(*m.into) {
			return key, refuse(BadDate, "%s must be a calendar day YYYY-MM-DD", m.name)
		}
	}
	return key, w.readPoint(&key)
}

// isDay reports whether s is a day of the calendar, 0001-01-01 to 9999-12-31.
func isDay(s string) bool {
	day, err := time.Parse(time.DateOnly, s)
	return err == nil && day.Year() >= 1 && len(s) == len(time.DateOnly)
}

// Find returns the key with exactly that kid.
func (s *Set) Find(kid string) (Key, bool) {
	for i := range s.Keys {
		if s.Keys[i].Kid == kid {
			return s.Keys[i], true
		}
	}
	return Key{}, false
}

// MarshalJSON writes the set, members kty crv x kid use alg validFrom retired revoked; use, alg, validFrom and revoked
// are left out when empty, retired is null when empty.
func (s *Set) MarshalJSON() ([]byte, error) {
	out := []byte(`{"keys":[`)
	for i := range s.Keys {
		if i > 0 {
			out = append(out, ',')
		}
		out = s.Keys[i].append(out)
	}
	return append(out, "]}"...), nil
}

func (k *Key) append(out []byte) []byte {
	member := func(name, value string) {
		if value != "" {
			out = append(out, `,"`+name+`":`...)
			out = jcs.AppendString(out, value)
		}
	}
	out = append(out, `{"kty":"OKP","crv":"Ed25519","x":"`+EncodeBase64URL(k.Public)+`"`...)
	member("kid", k.Kid)
	member("use", k.Use)
	member("alg", k.Alg)
	member("validFrom", k.ValidFrom)
	if k.Retired == "" {
		out = append(out, `,"retired":null`...)
	}
	member("retired", k.Retired)
	member("revoked", k.Revoked)
	return append(out, '}')
}
