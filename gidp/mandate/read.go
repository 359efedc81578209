package mandate

import (
	"crypto/ed25519"
	"crypto/sha256"
	"slices"
	"strconv"
	"strings"
	"time"

	"sayso/gidp"
	"sayso/jcs"
	"sayso/jwk"
)

// Code classifies why a mandate was refused.
type Code string

// The closed list of refusals.
const (
	CodeMalformed    Code = "malformed"    // not <jwt>~ with disclosures, or longer than MaxBytes
	CodeKeyBinding   Code = "key binding"  // something follows the last tilde
	CodeHeader       Code = "header"       // not exactly alg, typ and jwk with their values
	CodeKey          Code = "key"          // the signing key is not acceptable, or is the session key
	CodeSignature    Code = "signature"    // it does not hold
	CodePayload      Code = "payload"      // a member is absent, unknown or of another form
	CodeAudience     Code = "audience"     // for another session
	CodeConfirmation Code = "confirmation" // for another session key, or that key is not acceptable
	CodeTime         Code = "time"         // expired, outlasts the session, not yet issued
	CodeAuthority    Code = "authority"    // a level that may not stand there
	CodeCommit       Code = "commit"       // commit is not false
	CodeDigest       Code = "digest"       // _sd_alg or _sd
	CodeDisclosure   Code = "disclosure"   // one that matches no digest or says what it may not
)

// Error is every failure of this package. Its text is constant and repeats nothing of the mandate.
type Error struct {
	Code   Code
	Detail string // one sentence fragment
	cause  error
}

// Error reads "audience: the mandate is for another session".
func (e *Error) Error() string { return string(e.Code) + ": " + e.Detail }

// Unwrap returns what a lower layer said, if there is one.
func (e *Error) Unwrap() error { return e.cause }

func refuse(code Code, detail string) *Error { return &Error{Code: code, Detail: detail} }

const (
	noID       = "iss, jti or the session of aud is not 1 to 128 visible ASCII characters"
	selfSigned = "the mandate is signed by the session key: an agent cannot delegate to itself"
	badTimes   = "iat and exp are not two times after 1970 in seconds, exp the later one"
	badLevel   = "a level that does not exist, that stands twice, or COMMIT"
)

// read takes a mandate apart and checks everything that needs no expectation. Nothing of the payload is looked at before the signature holds.
func read(compact string) (content, *Error) {
	if len(compact) > MaxBytes {
		return content{}, refuse(CodeMalformed, "longer than any mandate")
	}
	jwt, tail, ok := strings.Cut(compact, "~")
	if !ok {
		return content{}, refuse(CodeMalformed, "a mandate is a JWT, a tilde, and disclosures that each end in a tilde")
	}
	var disclosures []string
	if tail != "" {
		tail, ok = strings.CutSuffix(tail, "~")
		if !ok {
			return content{}, refuse(CodeKeyBinding, "a key-binding JWT is not used; the requests of the session are signed")
		}
		disclosures = strings.Split(tail, "~")
	}
	part := strings.Split(jwt, ".")
	if len(part) != 3 {
		return content{}, refuse(CodeMalformed, "the JWT does not have three parts")
	}
	var raw [3][]byte
	for i, text := range part {
		var err error
		if raw[i], err = jwk.DecodeBase64URL(text); err != nil {
			return content{}, &Error{Code: CodeMalformed, Detail: "a part of the JWT is not canonical base64url", cause: err}
		}
	}
	c := content{jwt: jwt}
	var refused *Error
	if c.key, refused = readHeader(raw[0]); refused != nil {
		return content{}, refused
	}
	if len(raw[2]) != ed25519.SignatureSize || !ed25519.Verify(c.key, []byte(part[0]+"."+part[1]), raw[2]) {
		return content{}, refuse(CodeSignature, "the signature does not fit the mandate and the key in its header")
	}
	var sums []string
	if c.claims, sums, refused = readPayload(raw[1]); refused != nil {
		return content{}, refused
	}
	if c.key.Equal(c.claims.Confirm) {
		return content{}, refuse(CodeKey, selfSigned)
	}
	if c.shown, refused = readDisclosures(disclosures, sums); refused != nil {
		return content{}, refused
	}
	return c, nil
}

// members reads an object that holds exactly the names of required and perhaps those of optional.
func members(code Code, data []byte, required, optional []string) (map[string]jcs.Raw, *Error) {
	list, err := jcs.Members(data)
	if err != nil {
		return nil, &Error{Code: code, Detail: "not one strict JSON object", cause: err}
	}
	out := make(map[string]jcs.Raw, len(list))
	for _, m := range list {
		if !slices.Contains(required, m.Name) && !slices.Contains(optional, m.Name) {
			return nil, refuse(code, "a member that is not of the form, and could limit the mandate")
		}
		out[m.Name] = m.Value
	}
	for _, name := range required {
		if out[name] == nil {
			return nil, refuse(code, "a member of the form is absent")
		}
	}
	return out, nil
}

// readHeader returns the key that the header brings.
func readHeader(data []byte) (ed25519.PublicKey, *Error) {
	m, refused := members(CodeHeader, data, []string{"alg", "typ", "jwk"}, nil)
	if refused != nil {
		return nil, refused
	}
	alg, _ := jcs.Text(m["alg"]) // "" for what is not a string, and refused as such
	kind, _ := jcs.Text(m["typ"])
	if alg != "EdDSA" || kind != typ {
		return nil, refuse(CodeHeader, `alg must be "EdDSA" and typ must be "`+typ+`"`)
	}
	return readKey(CodeKey, m["jwk"])
}

// readKey reads the JWK of the signer or of the session.
func readKey(code Code, data []byte) (ed25519.PublicKey, *Error) {
	pub, err := jwk.ParsePublic(data)
	if err != nil {
		return nil, &Error{Code: code, Detail: "not an acceptable Ed25519 public key as a JWK", cause: err}
	}
	return pub, nil
}

// readPayload returns the claims and the digests.
func readPayload(data []byte) (c Claims, sums []string, refused *Error) {
	m, refused := members(CodePayload, data, []string{"iss", "aud", "cnf", "gidp_authority", "commit", "iat", "exp", "jti", "_sd_alg"}, []string{"_sd"})
	if refused != nil {
		return c, nil, refused
	}
	if string(m["commit"]) != "false" {
		return c, nil, refuse(CodeCommit, "commit must be false: a mandate of this protocol never binds")
	}
	c.Issuer, _ = jcs.Text(m["iss"]) // "" for what is not a string, and refused as such
	c.Audience, _ = jcs.Text(m["aud"])
	c.ID, _ = jcs.Text(m["jti"])
	if !validID(c.Issuer) || !validID(c.ID) || !validAudience(c.Audience) {
		return c, nil, refuse(CodePayload, noID)
	}
	cnf, refused := members(CodeConfirmation, m["cnf"], []string{"jwk"}, nil)
	if refused != nil {
		return c, nil, refused
	}
	if c.Confirm, refused = readKey(CodeConfirmation, cnf["jwk"]); refused != nil {
		return c, nil, refused
	}
	levels, ok := texts(m["gidp_authority"], int(gidp.Commit))
	if !ok {
		return c, nil, refuse(CodeAuthority, "gidp_authority is not a list of at most seven levels")
	}
	for _, name := range levels {
		l, known := gidp.ParseLevel(name)
		if !known {
			return c, nil, refuse(CodeAuthority, badLevel)
		}
		c.Authority = append(c.Authority, l)
	}
	if refused := checkLevels(c.Authority); refused != nil {
		return c, nil, refused
	}
	iat, okIat := seconds(m["iat"])
	exp, okExp := seconds(m["exp"])
	if !okIat || !okExp || exp <= iat {
		return c, nil, refuse(CodeTime, badTimes)
	}
	c.IssuedAt, c.Expires = time.Unix(iat, 0).UTC(), time.Unix(exp, 0).UTC()
	if alg, _ := jcs.Text(m["_sd_alg"]); alg != sdAlg {
		return c, nil, refuse(CodeDigest, `_sd_alg must be "sha-256"`)
	}
	if m["_sd"] != nil {
		if sums, ok = texts(m["_sd"], maxDigests); !ok {
			return c, nil, refuse(CodeDigest, "_sd is not a list of at most sixteen digests")
		}
	}
	for i, sum := range sums {
		if raw, err := jwk.DecodeBase64URL(sum); err != nil || len(raw) != sha256.Size || slices.Contains(sums[:i], sum) {
			return c, nil, refuse(CodeDigest, "a digest stands twice, or is not SHA-256 in canonical base64url")
		}
	}
	return c, sums, nil
}

// readDisclosures holds each disclosure to a digest of its own. Its JSON is parsed only after that.
func readDisclosures(list, sums []string) ([]shown, *Error) {
	var out []shown
	for _, text := range list {
		if !slices.Contains(sums, digest(text)) {
			return nil, refuse(CodeDisclosure, "a disclosure that the mandate holds no digest of")
		}
		raw, err := jwk.DecodeBase64URL(text)
		if err != nil {
			return nil, &Error{Code: CodeDisclosure, Detail: "a disclosure is not canonical base64url", cause: err}
		}
		triple, ok := texts(raw, 3)
		if !ok || len(triple) != 3 || triple[0] == "" || len(triple[0]) > maxSalt {
			return nil, refuse(CodeDisclosure, "a disclosure is not a list of salt, name and value, all of them strings")
		}
		name, value := triple[1], triple[2]
		if refused := checkName(name, value); refused != nil {
			return nil, refused
		}
		if slices.ContainsFunc(out, func(o shown) bool { return o.name == name }) {
			return nil, refuse(CodeDisclosure, "a name is disclosed twice")
		}
		out = append(out, shown{text, name, value})
	}
	return out, nil
}

// texts reads a list of at most most strings.
func texts(data []byte, most int) ([]string, bool) {
	var list []jcs.Raw
	if err := jcs.Decode(data, &list); err != nil || list == nil || len(list) > most {
		return nil, false
	}
	out := make([]string, len(list))
	for i, raw := range list {
		var ok bool
		if out[i], ok = jcs.Text(raw); !ok {
			return nil, false
		}
	}
	return out, true
}

// seconds reads a positive integer of at most 12 digits, written as such.
func seconds(raw jcs.Raw) (int64, bool) {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return n, err == nil && n > 0 && n <= maxSeconds
}
