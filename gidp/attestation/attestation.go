package attestation

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"strconv"
	"strings"
	"time"

	"sayso/gidp"
	"sayso/jcs"
	"sayso/jwk"
)

// Bounds of an attestation.
const (
	// MaxBytes is the longest attestation that is read, in bytes, key binding included. It fits a string of a GIDP object.
	MaxBytes = 2048
	// MaxName is the longest domain or class of a property, in bytes.
	MaxName = 128
	// MaxWeeks is how many weeks an attestation may hold beyond the one in which it is issued.
	MaxWeeks = 13
	// Skew is how far the clocks of two agents may differ.
	Skew = 300 * time.Second

	kind     = "gidp-attestation+sd-jwt"
	kbHeader = `{"alg":"EdDSA","typ":"kb+jwt"}`
	week     = 7 * 24 * time.Hour
	maxPlace = 256
)

// Code classifies why an attestation was refused.
type Code string

// The closed list of refusals.
const (
	CodeMalformed Code = "malformed" // not of the form, or longer than MaxBytes
	CodeProperty  Code = "property"  // none that can be attested
	CodeKey       Code = "key"       // of another issuer or holder, not acceptable, or both the same
	CodeSignature Code = "signature" // of the issuer or the holder: it does not hold
	CodeTime      Code = "time"      // expired, or no Monday within MaxWeeks
	CodeBinding   Code = "binding"   // bound to another session, key or peer, or to none
)

// Error is every failure of this package. Its text is constant and repeats nothing of the attestation.
type Error struct {
	Code   Code
	Detail string // one sentence fragment
	cause  error
}

// Error reads "binding: the attestation was shown for another session".
func (e *Error) Error() string { return string(e.Code) + ": " + e.Detail }

// Unwrap returns what a lower layer said, if there is one.
func (e *Error) Unwrap() error { return e.cause }

func refuse(code Code, detail string) *Error { return &Error{Code: code, Detail: detail} }

// CheckProperty refuses what cannot be attested: anything but verified_agent, member:DOMAIN and attested:CLASS, with a DOMAIN or CLASS of 1 to [MaxName] visible ASCII
// characters. Errors are *Error with [CodeProperty].
func CheckProperty(property string) error {
	_, name, _ := strings.Cut(property, ":")
	if gidp.CheckProperty(property) != nil || property == "" || property == "unknown_agent" || len(name) > MaxName || !visible(property) {
		return refuse(CodeProperty, "it is verified_agent, member:DOMAIN or attested:CLASS, of at most 128 visible ASCII characters")
	}
	return nil
}

func visible(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// Claims are what an attestation says.
type Claims struct {
	Property string
	Confirm  ed25519.PublicKey // of the holder, for this attestation alone
	Expires  time.Time         // a Monday, 00:00 UTC
}

// Expiry is the end of the week that begins after n more Mondays, n from 1 to [MaxWeeks]; numbers outside are brought to the nearer bound.
func Expiry(now time.Time, n int) time.Time {
	day := now.UTC().Truncate(24 * time.Hour)
	monday := day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
	return monday.AddDate(0, 0, 7*min(max(n, 1), MaxWeeks))
}

func checkExpiry(at time.Time) *Error {
	if at.Unix() <= 0 || at.Weekday() != time.Monday || !at.Equal(at.Truncate(24*time.Hour)) {
		return refuse(CodeTime, "it does not end on a Monday, 00:00 UTC")
	}
	return nil
}

// inTime holds an expiry against the clock.
func inTime(at, now time.Time) *Error {
	switch {
	case !now.Before(at):
		return refuse(CodeTime, "it has expired")
	case at.Sub(now) > (MaxWeeks+1)*week:
		return refuse(CodeTime, "it holds for longer than an attestation without revocation may")
	}
	return nil
}

// Issue signs an attestation: <jwt>~. Errors are *Error: [CodeProperty], [CodeTime], [CodeKey] when a key is not acceptable or is both the issuer's and the holder's.
func Issue(c Claims, issuer *jwk.PrivateKey, now time.Time) (string, error) {
	if err := CheckProperty(c.Property); err != nil {
		return "", err
	}
	c.Expires = c.Expires.UTC()
	if refused := checkExpiry(c.Expires); refused != nil {
		return "", refused
	}
	if refused := inTime(c.Expires, now); refused != nil {
		return "", refused
	}
	pub := issuer.Public().Public
	if _, err := jwk.Accept(c.Confirm); err != nil || pub.Equal(c.Confirm) {
		return "", &Error{Code: CodeKey, Detail: "the holder's key is not acceptable, or is the issuer's", cause: err}
	}
	return sign(headerOf(jwk.Thumbprint(pub)), payloadOf(c), issuer) + "~", nil
}

func sign(header, payload []byte, key *jwk.PrivateKey) string {
	signed := jwk.EncodeBase64URL(header) + "." + jwk.EncodeBase64URL(payload)
	return signed + "." + jwk.EncodeBase64URL(key.Sign([]byte(signed)))
}

func headerOf(kid string) []byte {
	return append(jcs.AppendString([]byte(`{"alg":"EdDSA","kid":`), kid), `,"typ":"`+kind+`"}`...)
}

func payloadOf(c Claims) []byte {
	out := append([]byte(`{"cnf":{"jwk":`), jwk.EncodePublic(c.Confirm)...)
	out = strconv.AppendInt(append(out, `},"exp":`...), c.Expires.Unix(), 10)
	return append(jcs.AppendString(append(out, `,"gidp_property":`...), c.Property), '}')
}

// Binding says where an attestation is shown: in a session, or to a provider.
type Binding struct {
	Session  string // session_id; "" to a provider
	Provider string // origin; "" in a session
	Key      string // thumbprint of the key by which the holder signs in the session, or its requests to the provider
	Peer     string // thumbprint of the initiator's key, when the holder is the responder of a session; else ""
}

func (b Binding) nonce() string {
	if b.Peer == "" {
		return b.Key
	}
	return b.Key + "." + b.Peer
}

func (b Binding) valid() bool {
	place := b.Session + b.Provider
	return (b.Session == "") != (b.Provider == "") && len(place) <= maxPlace && visible(place) && jwk.ValidKid(b.Key) && (b.Peer == "" || jwk.ValidKid(b.Peer) && b.Session != "")
}

func (b Binding) audience() string {
	if b.Provider != "" {
		return "provider:" + b.Provider
	}
	return "session:" + b.Session
}

func bindingOf(b Binding, iat int64, credential string) []byte {
	sum := sha256.Sum256([]byte(credential))
	out := jcs.AppendString([]byte(`{"aud":`), b.audience())
	out = strconv.AppendInt(append(out, `,"iat":`...), iat, 10)
	out = jcs.AppendString(append(out, `,"nonce":`...), b.nonce())
	return append(jcs.AppendString(append(out, `,"sd_hash":`...), jwk.EncodeBase64URL(sum[:])), '}')
}

// Present binds an attestation as it was issued to one session, or to one provider. It is done once for each attestation: a second use would be linked to the first. Errors are
// *Error: those of [Read], [CodeKey] when holder is not the key of cnf, [CodeBinding] when the binding is incomplete.
func Present(credential string, holder *jwk.PrivateKey, to Binding, now time.Time) (string, error) {
	c, refused := read(credential)
	switch {
	case refused != nil:
		return "", refused
	case c.binding != "":
		return "", refuse(CodeBinding, "it is bound to a session already")
	case !c.claims.Confirm.Equal(holder.Public().Public):
		return "", refuse(CodeKey, "the key is not that of the attestation")
	case !to.valid():
		return "", refuse(CodeBinding, "a session or a provider, and the key of its requests are needed")
	}
	return credential + sign([]byte(kbHeader), bindingOf(to, now.Unix(), credential), holder), nil
}

// Unverified is what an attestation says before anything is checked but its form.
type Unverified struct {
	Claims
	Issuer string // thumbprint of the issuer's key, as the header names it
	Bound  bool   // it has a key binding
}

// Read looks at an attestation, so that the key of its issuer can be found. Errors are *Error with [CodeMalformed], [CodeProperty], [CodeKey] or [CodeTime].
func Read(text string) (Unverified, error) {
	c, refused := read(text)
	if refused != nil {
		return Unverified{}, refused
	}
	return Unverified{Claims: c.claims, Issuer: c.issuer, Bound: c.binding != ""}, nil
}

// CheckIssued verifies an attestation as it was issued, for its holder: the signature of the issuer, and that it is in time. Errors are *Error.
func CheckIssued(text string, issuer ed25519.PublicKey, now time.Time) (Claims, error) {
	c, refused := read(text)
	if refused == nil && c.binding != "" {
		refused = refuse(CodeBinding, "it is bound to a session already")
	}
	if refused == nil {
		refused = c.check(issuer, now)
	}
	if refused != nil {
		return Claims{}, refused
	}
	return c.claims, nil
}

// Verify checks an attestation that was shown in a session, or to a provider, against the key of an issuer that is believed. want says where it has to be shown. Errors are *Error.
func Verify(text string, issuer ed25519.PublicKey, want Binding, now time.Time) (Claims, error) {
	c, refused := read(text)
	if refused == nil {
		refused = c.check(issuer, now)
	}
	if refused == nil {
		refused = c.bound(want, now)
	}
	if refused != nil {
		return Claims{}, refused
	}
	return c.claims, nil
}

// content is an attestation taken apart.
type content struct {
	credential string // <jwt>~
	signed     string // header.payload
	signature  []byte
	issuer     string
	claims     Claims
	binding    string // the key-binding JWT, "" without one
}

// read takes an attestation apart. Header and payload are written again from what they say, and have to be the same bytes.
func read(text string) (content, *Error) {
	if len(text) > MaxBytes {
		return content{}, refuse(CodeMalformed, "longer than any attestation")
	}
	jwt, binding, ok := strings.Cut(text, "~")
	if !ok || strings.Contains(binding, "~") {
		return content{}, refuse(CodeMalformed, "it is a JWT, a tilde, and perhaps a key binding; there are no disclosures")
	}
	c := content{credential: jwt + "~", binding: binding}
	raw, signed, refused := split(jwt)
	if refused != nil {
		return content{}, refused
	}
	c.signed, c.signature = signed, raw[2]
	var header struct {
		Alg string `json:"alg"`
		Kid string `json:"kid"`
		Typ string `json:"typ"`
	}
	if jcs.DecodeKnown(raw[0], &header) != nil || !jwk.ValidKid(header.Kid) || !bytes.Equal(headerOf(header.Kid), raw[0]) {
		return content{}, refuse(CodeMalformed, "the header is not that of an attestation")
	}
	c.issuer = header.Kid
	var payload struct {
		Confirm struct {
			Key jcs.Raw `json:"jwk"`
		} `json:"cnf"`
		Expires  int64  `json:"exp"`
		Property string `json:"gidp_property"`
	}
	if err := jcs.DecodeKnown(raw[1], &payload); err != nil {
		return content{}, refuse(CodeMalformed, "the payload is not that of an attestation")
	}
	pub, err := jwk.ParsePublic(payload.Confirm.Key)
	if err != nil {
		return content{}, &Error{Code: CodeKey, Detail: "the holder's key is not acceptable", cause: err}
	}
	c.claims = Claims{Property: payload.Property, Confirm: pub, Expires: time.Unix(payload.Expires, 0).UTC()}
	if err := CheckProperty(c.claims.Property); err != nil {
		return content{}, refuse(CodeProperty, "it attests something that is no counterparty property")
	}
	if refused := checkExpiry(c.claims.Expires); refused != nil {
		return content{}, refused
	}
	if !bytes.Equal(payloadOf(c.claims), raw[1]) {
		return content{}, refuse(CodeMalformed, "the payload is not in its one spelling")
	}
	return c, nil
}

// split decodes the three parts of a JWT.
func split(jwt string) (raw [3][]byte, signed string, refused *Error) {
	part := strings.Split(jwt, ".")
	if len(part) != 3 {
		return raw, "", refuse(CodeMalformed, "a JWT has three parts")
	}
	for i, text := range part {
		var err error
		if raw[i], err = jwk.DecodeBase64URL(text); err != nil {
			return raw, "", &Error{Code: CodeMalformed, Detail: "a part of a JWT is not canonical base64url", cause: err}
		}
	}
	return raw, part[0] + "." + part[1], nil
}

func holds(pub ed25519.PublicKey, signed string, signature []byte) bool {
	return jwk.CheckEncoding(pub) == nil && len(signature) == ed25519.SignatureSize && ed25519.Verify(pub, []byte(signed), signature)
}

// check is what the issuer has to do with.
func (c *content) check(issuer ed25519.PublicKey, now time.Time) *Error {
	switch {
	case len(issuer) != ed25519.PublicKeySize || jwk.Thumbprint(issuer) != c.issuer:
		return refuse(CodeKey, "it is of another issuer")
	case issuer.Equal(c.claims.Confirm):
		return refuse(CodeKey, "the issuer attests its own key")
	case !holds(issuer, c.signed, c.signature):
		return refuse(CodeSignature, "the issuer has not signed it")
	}
	return inTime(c.claims.Expires, now)
}

var errUnbound = errors.New("no key binding")

// bound is what the holder has to do with.
func (c *content) bound(want Binding, now time.Time) *Error {
	if c.binding == "" {
		return &Error{Code: CodeBinding, Detail: "it is bound to no session", cause: errUnbound}
	}
	raw, signed, refused := split(c.binding)
	if refused != nil {
		return refused
	}
	if string(raw[0]) != kbHeader {
		return refuse(CodeMalformed, "the header of the key binding is not of the form")
	}
	if !holds(c.claims.Confirm, signed, raw[2]) {
		return refuse(CodeSignature, "its holder has not signed the key binding")
	}
	var b struct {
		Audience string `json:"aud"`
		IssuedAt int64  `json:"iat"`
		Nonce    string `json:"nonce"`
		Hash     string `json:"sd_hash"`
	}
	if jcs.DecodeKnown(raw[1], &b) != nil {
		return refuse(CodeMalformed, "the key binding is not of the form")
	}
	switch {
	case !want.valid():
		return refuse(CodeBinding, "a session or a provider, and the key of its requests are needed")
	case b.Audience != want.audience():
		return refuse(CodeBinding, "it was shown for another session or provider")
	case b.Nonce != want.nonce():
		return refuse(CodeBinding, "it was shown under another key, or to somebody else")
	case time.Unix(b.IssuedAt, 0).After(now.Add(Skew)):
		return refuse(CodeTime, "it was shown in the future; set the clock")
	case !bytes.Equal(bindingOf(want, b.IssuedAt, c.credential), raw[1]): // sd_hash, and the one spelling
		return refuse(CodeBinding, "the key binding is for another attestation")
	}
	return nil
}

// Is reports whether a text says of itself that it is an attestation, whatever else it is, so that a reader of several kinds of credentials knows which to try.
func Is(text string) bool {
	first, _, _ := strings.Cut(text, ".")
	raw, err := jwk.DecodeBase64URL(first)
	return err == nil && len(text) <= MaxBytes && bytes.HasSuffix(raw, []byte(`,"typ":"`+kind+`"}`))
}
