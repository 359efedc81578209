package httpsig

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"sayso/jwk"
)

// Code classifies why a request was refused.
type Code string

// The closed list of refusals.
const (
	CodeAbsent     Code = "absent"     // there is no signature
	CodeMalformed  Code = "malformed"  // the signature fields do not have the strict form
	CodeMessage    Code = "message"    // a part of the request cannot be signed
	CodeComponents Code = "components" // the signature covers less or more than the profile asks for
	CodeTime       Code = "time"       // created lies outside the window
	CodeDigest     Code = "digest"     // Content-Digest is absent where there is a body, present where there is none, or of another body
	CodeKey        Code = "key"        // keyid is not the thumbprint of the key, or the key is not acceptable
	CodeWrong      Code = "wrong"      // well-formed, but does not verify
)

// Error is every failure of this package. Its text is constant and repeats nothing of the request.
type Error struct {
	Code   Code
	Detail string // one sentence fragment
	cause  error
}

// Error reads "digest: the body is not the one that Content-Digest names".
func (e *Error) Error() string { return string(e.Code) + ": " + e.Detail }

// Unwrap returns what a lower layer said, if there is one.
func (e *Error) Unwrap() error { return e.cause }

// ErrAbsent says that a request carries neither Signature-Input nor Signature.
var ErrAbsent = &Error{Code: CodeAbsent, Detail: "the request is not signed; sign it as RFC 9421 says"}

func refuse(code Code, detail string) *Error { return &Error{Code: code, Detail: detail} }

// Message is the part of an HTTP request that is signed. The package comment says which values each component has.
type Message struct {
	Method, Authority, Path string
	Header                  map[string][]string // canonical MIME keys, as net/http makes them
	Body                    []byte              // the exact bytes; empty means that there is no body
}

// Profile says which components a signature covers.
type Profile struct {
	Components []string // every component, in the order in which Sign writes them
	Optional   []string // those of Components, names of header fields, that are covered only when the request has the field
	Nonce      bool     // a nonce is required
}

// Session is the profile of requests to an agent (binding section 6.1). A caller sets Nonce for the request that opens a session.
var Session = Profile{
	Components: []string{"@method", "@authority", "@path", digestName, "a2a-extensions", "a2a-version"},
	Optional:   []string{"a2a-extensions"},
}

// Provider is the profile of requests to a discovery provider (P-2).
var Provider = Profile{Components: []string{"@method", "@authority", "@path", digestName}}

const (
	digestName   = "content-digest"
	digestField  = "Content-Digest"
	inputField   = "Signature-Input"
	sigField     = "Signature"
	label        = "sig"
	algorithm    = "ed25519"
	tag          = "gidp"
	maxAuthority = 261   // 255 for a host, a colon and a port
	maxPath      = 4096  // bytes
	maxField     = 16384 // bytes of one field, its lines joined
)

// Params are the parameters of a signature that are not constant.
type Params struct {
	Created time.Time // whole seconds
	Nonce   string    // "" when there is none
	KeyID   string    // RFC 7638 thumbprint
}

// Signature is a signature as it was read, not yet verified. Its zero value verifies for no key.
type Signature struct {
	Params  Params
	Covered []string // components, in the order of the signature
	profile Profile
	params  string // the value of @signature-params, as received
	value   []byte
}

// Authority is the value of @authority for a Host and a scheme, "http" or "https": lower case, without the scheme's default port (RFC 9421 section 2.2.3).
func Authority(scheme, host string) string {
	host = strings.ToLower(host)
	switch scheme {
	case "https":
		return strings.TrimSuffix(host, ":443")
	case "http":
		return strings.TrimSuffix(host, ":80")
	}
	return host
}

// Sign returns the header fields to set: Content-Digest when there is a body, Signature-Input and Signature. What stands under these names in m.Header is not looked at.
// Params.Created is cut to whole seconds; Params.KeyID may be left "". Errors are *Error: [CodeMessage], [CodeMalformed] for a parameter, [CodeKey] when KeyID names
// another key, [CodeComponents] when a header that the profile requires is absent.
func Sign(p Profile, m Message, key *jwk.PrivateKey, params Params) (map[string]string, error) {
	keyid := jwk.Thumbprint(key.Public().Public)
	if params.KeyID != "" && params.KeyID != keyid {
		return nil, refuse(CodeKey, "keyid is not the thumbprint of the key that signs")
	}
	created := params.Created.Unix()
	if created < 1 || created > maxCreated {
		return nil, refuse(CodeMalformed, "created is not a time after 1970 in seconds of at most 12 digits")
	}
	if params.Nonce != "" && !validNonce(params.Nonce) || params.Nonce == "" && p.Nonce {
		return nil, refuse(CodeMalformed, noNonce)
	}
	out := map[string]string{}
	header := maps.Clone(m.Header)
	delete(header, digestField)
	if len(m.Body) > 0 {
		out[digestField] = contentDigest(m.Body)
		if header == nil {
			header = map[string][]string{}
		}
		header[digestField] = []string{out[digestField]}
	}
	m.Header = header
	components, refused := p.required(m)
	if refused != nil {
		return nil, refused
	}
	text := `("` + strings.Join(components, `" "`) + `");created=` + strconv.FormatInt(created, 10)
	if params.Nonce != "" {
		text += `;nonce="` + params.Nonce + `"`
	}
	text += `;keyid="` + keyid + `";alg="` + algorithm + `";tag="` + tag + `"`
	base, refused := m.base(components, text)
	if refused != nil {
		return nil, refused
	}
	out[inputField] = label + "=" + text
	out[sigField] = label + "=:" + base64.StdEncoding.EncodeToString(key.Sign(base)) + ":"
	return out, nil
}

// Read parses the signature fields without verifying anything, so that the key can be looked up by Params.KeyID. Errors are *Error: [ErrAbsent] when there is no
// signature, [CodeMalformed], [CodeComponents] for a component that the profile does not have.
func Read(p Profile, m Message) (Signature, error) {
	input, value := m.Header[inputField], m.Header[sigField]
	if len(input) == 0 && len(value) == 0 {
		return Signature{}, ErrAbsent
	}
	if len(input) != 1 || len(value) != 1 {
		return Signature{}, refuse(CodeMalformed, "Signature-Input and Signature stand once each, on one line")
	}
	name, s, refused := parseInput(input[0])
	if refused != nil {
		return Signature{}, refused
	}
	if slices.ContainsFunc(s.Covered, func(c string) bool { return !slices.Contains(p.Components, c) }) {
		return Signature{}, refuse(CodeComponents, "a component that is not of this profile")
	}
	if p.Nonce && s.Params.Nonce == "" {
		return Signature{}, refuse(CodeMalformed, noNonce)
	}
	if s.value, refused = parseSignature(value[0], name); refused != nil {
		return Signature{}, refused
	}
	s.profile = p
	return s, nil
}

// Verify checks, in this order, that exactly the components are covered that the profile requires for m, that created is at most window before or after now, that the
// digest is that of the body, that pub has the thumbprint keyid and is acceptable, and that the signature holds. m is the message that s was read from; pub was accepted
// when it entered ([jwk.Accept]). Errors are *Error.
func (s Signature) Verify(m Message, pub ed25519.PublicKey, now time.Time, window time.Duration) error {
	required, refused := s.profile.required(m)
	if refused != nil {
		return refused
	}
	// Required components are distinct, so that a list of equal length that contains them all repeats none.
	if len(required) != len(s.Covered) || slices.ContainsFunc(required, func(c string) bool { return !slices.Contains(s.Covered, c) }) {
		return refuse(CodeComponents, "the signature does not cover exactly the parts that this request must have covered")
	}
	if age := now.Sub(s.Params.Created); age > window || age < -window {
		return refuse(CodeTime, "created is too far from the time here; set the clock and sign again")
	}
	if refused := checkDigest(m); refused != nil {
		return refused
	}
	if err := jwk.CheckEncoding(pub); err != nil {
		return &Error{Code: CodeKey, Detail: "the key is not an acceptable Ed25519 key", cause: err}
	}
	if jwk.Thumbprint(pub) != s.Params.KeyID {
		return refuse(CodeKey, "keyid is not the thumbprint of the key")
	}
	base, refused := m.base(s.Covered, s.params)
	if refused != nil {
		return refused
	}
	if !ed25519.Verify(pub, base, s.value) {
		return refuse(CodeWrong, "the signature does not fit the request and the key")
	}
	return nil
}

// required is the list of components that a signature over m covers.
func (p Profile) required(m Message) ([]string, *Error) {
	var out []string
	for _, c := range p.Components {
		present := len(m.Header[fieldName(c)]) > 0
		switch {
		case c == digestName:
			if len(m.Body) == 0 {
				continue
			}
		case strings.HasPrefix(c, "@") || present:
		case slices.Contains(p.Optional, c):
			continue
		default:
			return nil, refuse(CodeComponents, "a header that must be signed is absent")
		}
		out = append(out, c)
	}
	return out, nil
}

// checkDigest holds the body to its digest.
func checkDigest(m Message) *Error {
	lines := m.Header[digestField]
	switch {
	case len(m.Body) == 0 && len(lines) > 0:
		return refuse(CodeDigest, "Content-Digest stands on a request without a body")
	case len(m.Body) == 0:
		return nil
	case len(lines) != 1:
		return refuse(CodeDigest, "a request with a body has one Content-Digest")
	}
	sum, refused := parseDigest(lines[0])
	if refused != nil {
		return refused
	}
	if sum != sha256.Sum256(m.Body) {
		return refuse(CodeDigest, "the body is not the one that Content-Digest names")
	}
	return nil
}

// contentDigest is the Content-Digest of a body (RFC 9530) with SHA-256.
func contentDigest(body []byte) string {
	sum := sha256.Sum256(body)
	return digestPrefix + base64.StdEncoding.EncodeToString(sum[:]) + ":"
}

// base is the signature base of RFC 9421 section 2.5.
func (m Message) base(components []string, params string) ([]byte, *Error) {
	var b []byte
	for _, c := range components {
		value, refused := m.value(c)
		if refused != nil {
			return nil, refused
		}
		b = append(b, '"')
		b = append(b, c...)
		b = append(b, `": `...)
		b = append(b, value...)
		b = append(b, '\n')
	}
	b = append(b, `"@signature-params": `...)
	return append(b, params...), nil
}

// value is the value of one component. No value holds a line end, so that none can look like another line of the base.
func (m Message) value(component string) (string, *Error) {
	switch component {
	case "@method":
		if m.Method == "" || len(m.Method) > 16 || strings.Trim(m.Method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
			return "", refuse(CodeMessage, "the method is not one of 1 to 16 letters A to Z")
		}
		return m.Method, nil
	case "@authority":
		if m.Authority == "" || len(m.Authority) > maxAuthority || strings.Trim(m.Authority, "abcdefghijklmnopqrstuvwxyz0123456789.-_:[]") != "" {
			return "", refuse(CodeMessage, "the authority is not a host and port in lower case")
		}
		return m.Authority, nil
	case "@path":
		path := m.Path
		if path == "" {
			path = "/"
		}
		if path[0] != '/' || len(path) > maxPath || strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r > '~' || r == '?' || r == '#' }) {
			return "", refuse(CodeMessage, "the path is not an absolute path in visible ASCII without query")
		}
		return path, nil
	}
	if strings.HasPrefix(component, "@") {
		return "", refuse(CodeComponents, "the profile asks for a derived component other than @method, @authority and @path")
	}
	return fieldValue(m.Header[fieldName(component)])
}

// fieldValue joins the lines of a field as RFC 9421 section 2.1 does. Folded lines, other control characters and bytes beyond ASCII are refused.
func fieldValue(lines []string) (string, *Error) {
	trimmed := make([]string, len(lines))
	size := 0
	for i, line := range lines {
		trimmed[i] = strings.Trim(line, " \t")
		size += len(line) + 2
		if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' || r > '~' }) {
			return "", refuse(CodeMessage, "a signed header holds a character that is not printable ASCII")
		}
	}
	if size > maxField {
		return "", refuse(CodeMessage, "a signed header is too long")
	}
	return strings.Join(trimmed, ", "), nil
}

// fieldName is the canonical MIME key of a component's field, "A2a-Version" for a2a-version.
func fieldName(component string) string {
	b := []byte(component)
	for i, c := range b {
		if c >= 'a' && c <= 'z' && (i == 0 || b[i-1] == '-') {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}
