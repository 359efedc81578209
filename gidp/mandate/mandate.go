package mandate

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sayso/gidp"
	"sayso/jcs"
	"sayso/jwk"
)

// The names that a mandate can disclose.
const (
	PrincipalName  = "principal_name"
	OrganisationID = "organisation_id"
)

const (
	// MaxBytes is the longest mandate that is read or made, in bytes, disclosures included. It fits a string of a GIDP object.
	MaxBytes = 4096
	// Skew is how far iat may lie in the future, for clocks that differ.
	Skew = 300 * time.Second

	typ        = "gidp-mandate+sd-jwt"
	sdAlg      = "sha-256"
	digests    = 2 // that Issue writes: one for each name
	maxDigests = 16
	maxID      = 128
	maxName    = 256
	maxSalt    = 128
	minSalt    = 16              // bytes of randomness (RFC 9901 section 9.3)
	maxSeconds = 999_999_999_999 // 12 digits
)

const audiencePrefix = "session:"

// Audience is the aud of a mandate for a session.
func Audience(sessionID string) string { return audiencePrefix + sessionID }

// Claims are what a mandate says in the open.
type Claims struct {
	Issuer    string            // opaque, fresh for each session
	Audience  string            // [Audience] of the session
	Confirm   ed25519.PublicKey // the session key
	Authority []gidp.Level      // 1 to 7 levels, each once, never COMMIT
	IssuedAt  time.Time         // whole seconds
	Expires   time.Time         // whole seconds, not after the end of the session
	ID        string            // opaque, fresh
}

// Disclosure is a name that a mandate holds back, or with an empty Name a decoy, whose salt is all there is to it. It prints as "[disclosure]".
type Disclosure struct {
	Salt  string // canonical base64url of at least 16 random bytes, drawn for this disclosure alone
	Name  string // [PrincipalName], [OrganisationID], or "" for a decoy
	Value string // 1 to 256 bytes of UTF-8 without control characters
}

// Format prints "[disclosure]" whatever the verb is.
func (Disclosure) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("[disclosure]")) }

// MarshalText returns "[disclosure]", for logs and JSON.
func (Disclosure) MarshalText() ([]byte, error) { return []byte("[disclosure]"), nil }

// Mandate is a signed mandate with everything it can disclose. It prints as "[mandate]". The zero value presents "".
type Mandate struct {
	// A function, because fmt follows values in unexported fields and prints a function as its address.
	open func() content
}

// Format prints "[mandate]" whatever the verb is.
func (Mandate) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("[mandate]")) }

// MarshalText returns "[mandate]", for logs and JSON. What is stored is Present(PrincipalName, OrganisationID), sealed.
func (Mandate) MarshalText() ([]byte, error) { return []byte("[mandate]"), nil }

// content is a mandate that was made or read.
type content struct {
	jwt    string // header.payload.signature
	key    ed25519.PublicKey
	claims Claims
	shown  []shown
}

// shown is a disclosure as text and what it says.
type shown struct{ text, name, value string }

// Issue signs a mandate with the key of the Principal's console. disclosures are exactly two: a name at most once, a decoy for each name that the Principal does not have.
// Errors are *Error: [CodePayload], [CodeAuthority], [CodeTime], [CodeConfirmation], [CodeDisclosure], [CodeKey] when key is the session key.
func Issue(c Claims, disclosures []Disclosure, key *jwk.PrivateKey) (Mandate, error) {
	pub := key.Public().Public
	switch _, err := jwk.Accept(c.Confirm); {
	case !validID(c.Issuer) || !validID(c.ID) || !validAudience(c.Audience):
		return Mandate{}, refuse(CodePayload, noID)
	case err != nil:
		return Mandate{}, &Error{Code: CodeConfirmation, Detail: "the session key is not acceptable", cause: err}
	case pub.Equal(c.Confirm):
		return Mandate{}, refuse(CodeKey, selfSigned)
	}
	if refused := checkLevels(c.Authority); refused != nil {
		return Mandate{}, refused
	}
	iat, exp := c.IssuedAt.Unix(), c.Expires.Unix()
	if iat < 1 || exp > maxSeconds || exp <= iat {
		return Mandate{}, refuse(CodeTime, badTimes)
	}
	list, sums, refused := conceal(disclosures)
	if refused != nil {
		return Mandate{}, refused
	}

	header := `{"alg":"EdDSA","typ":"` + typ + `","jwk":` + string(jwk.EncodePublic(pub)) + `}`
	payload := jcs.AppendString([]byte(`{"iss":`), c.Issuer)
	payload = jcs.AppendString(append(payload, `,"aud":`...), c.Audience)
	payload = append(payload, `,"cnf":{"jwk":`+string(jwk.EncodePublic(c.Confirm))+`},"gidp_authority":[`...)
	for i, l := range c.Authority {
		if i > 0 {
			payload = append(payload, ',')
		}
		payload = jcs.AppendString(payload, l.String())
	}
	payload = append(payload, `],"commit":false,"iat":`...)
	payload = strconv.AppendInt(payload, iat, 10)
	payload = strconv.AppendInt(append(payload, `,"exp":`...), exp, 10)
	payload = jcs.AppendString(append(payload, `,"jti":`...), c.ID)
	payload = append(payload, `,"_sd_alg":"`+sdAlg+`","_sd":["`+strings.Join(sums, `","`)+`"]}`...)

	signed := jwk.EncodeBase64URL([]byte(header)) + "." + jwk.EncodeBase64URL(payload)
	jwt := signed + "." + jwk.EncodeBase64URL(key.Sign([]byte(signed)))
	return holding(content{jwt: jwt, shown: list}), nil
}

// conceal makes the disclosures and the sorted digests, so that their order tells nothing.
func conceal(disclosures []Disclosure) (list []shown, sums []string, refused *Error) {
	if len(disclosures) != digests {
		return nil, nil, refuse(CodeDisclosure, "a mandate has exactly two disclosures; put a decoy, which has no name, in the place of each name that is not there")
	}
	for i, d := range disclosures {
		raw, err := jwk.DecodeBase64URL(d.Salt)
		if err != nil || len(raw) < minSalt || len(d.Salt) > maxSalt {
			return nil, nil, refuse(CodeDisclosure, "a salt is canonical base64url of at least 16 random bytes and at most 128 characters")
		}
		if slices.ContainsFunc(disclosures[:i], func(o Disclosure) bool { return o.Salt == d.Salt || o.Name == d.Name && d.Name != "" }) {
			return nil, nil, refuse(CodeDisclosure, "a salt or a name stands twice")
		}
		if d.Name == "" {
			if d.Value != "" {
				return nil, nil, refuse(CodeDisclosure, "a decoy has no value")
			}
			sums = append(sums, digest(d.Salt))
			continue
		}
		if refused := checkName(d.Name, d.Value); refused != nil {
			return nil, nil, refused
		}
		text := jcs.AppendString([]byte{'['}, d.Salt)
		text = jcs.AppendString(append(text, ','), d.Name)
		text = jcs.AppendString(append(text, ','), d.Value)
		encoded := jwk.EncodeBase64URL(append(text, ']'))
		list = append(list, shown{encoded, d.Name, d.Value})
		sums = append(sums, digest(encoded))
	}
	slices.Sort(sums)
	return list, sums, nil
}

// Parse reads a mandate that Present wrote, for its holder: everything but the expectations of a session is checked, and it can disclose what the text discloses.
// Errors are *Error.
func Parse(compact string) (Mandate, error) {
	c, refused := read(compact)
	if refused != nil {
		return Mandate{}, refused
	}
	return holding(c), nil
}

func holding(c content) Mandate { return Mandate{open: func() content { return c }} }

// Present is the mandate with the disclosures of these names. A name that the mandate does not hold, or any other word, adds nothing.
func (m Mandate) Present(names ...string) string {
	if m.open == nil {
		return ""
	}
	c := m.open()
	text := c.jwt + "~"
	for _, d := range c.shown {
		if slices.Contains(names, d.name) {
			text += d.text + "~"
		}
	}
	return text
}

// Expect is what a mandate must fit. The zero value fits none.
type Expect struct {
	Audience   string    // [Audience] of the session
	SessionKey string    // RFC 7638 thumbprint of the key that signs the session's requests
	Now        time.Time // by the clock here
	MaxExpires time.Time // the end of the session
}

// Verified is what a mandate says after every check.
type Verified struct {
	Issuer        string
	KeyThumbprint string       // RFC 7638, of the key that signed: the party that delegates
	Levels        []gidp.Level // as they stand in the mandate
	IssuedAt      time.Time
	Expires       time.Time
	ID            string
	Names         map[string]string // what was disclosed; the key's holder says so, nothing more. nil when nothing was
	Digest        [32]byte          // SHA-256 of the compact text as presented
	Mandate       [32]byte          // SHA-256 of the compact text without disclosures: equal for every presentation
}

// Finding is what a reader may show about a level.
type Finding string

// The two findings.
const (
	Evidenced   Finding = "evidenced by pairwise key"
	Unevidenced Finding = "unevidenced" // treated as absent unless the Principal says otherwise
)

// Finding says what the mandate is worth for a level. The zero Verified evidences nothing.
func (v Verified) Finding(l gidp.Level) Finding {
	if slices.Contains(v.Levels, l) {
		return Evidenced
	}
	return Unevidenced
}

// Verify reads and checks a mandate. Errors are *Error; the package comment lists what is refused.
func Verify(compact string, want Expect) (Verified, error) {
	c, refused := read(compact)
	if refused != nil {
		return Verified{}, refused
	}
	switch {
	case c.claims.Audience != want.Audience:
		return Verified{}, refuse(CodeAudience, "the mandate is for another session")
	case jwk.Thumbprint(c.claims.Confirm) != want.SessionKey:
		return Verified{}, refuse(CodeConfirmation, "the mandate is for another session key")
	case !want.Now.Before(c.claims.Expires):
		return Verified{}, refuse(CodeTime, "the mandate has expired")
	case c.claims.Expires.After(want.MaxExpires):
		return Verified{}, refuse(CodeTime, "the mandate outlasts the session")
	case c.claims.IssuedAt.Sub(want.Now) > Skew:
		return Verified{}, refuse(CodeTime, "the mandate was issued in the future; set the clock")
	}
	v := Verified{
		Issuer: c.claims.Issuer, KeyThumbprint: jwk.Thumbprint(c.key), Levels: c.claims.Authority, IssuedAt: c.claims.IssuedAt, Expires: c.claims.Expires, ID: c.claims.ID,
		Digest: sha256.Sum256([]byte(compact)), Mandate: sha256.Sum256([]byte(c.jwt + "~")),
	}
	for _, d := range c.shown {
		if v.Names == nil {
			v.Names = map[string]string{}
		}
		v.Names[d.name] = d.value
	}
	return v, nil
}

// digest of a disclosure's text (RFC 9901 section 4.2.3).
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return jwk.EncodeBase64URL(sum[:])
}

func validID(s string) bool {
	return s != "" && len(s) <= maxID && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

func validAudience(s string) bool {
	id, ok := strings.CutPrefix(s, audiencePrefix)
	return ok && validID(id)
}

// checkLevels holds a list of levels to §16.1.
func checkLevels(list []gidp.Level) *Error {
	if len(list) == 0 {
		return refuse(CodeAuthority, "a mandate names at least one level")
	}
	for i, l := range list {
		if l >= gidp.Commit || slices.Contains(list[:i], l) {
			return refuse(CodeAuthority, badLevel)
		}
	}
	return nil
}

// reserved are the claims of the payload and of RFC 7519 and RFC 9901, which a disclosure may not bring in.
var reserved = []string{"iss", "sub", "aud", "exp", "nbf", "iat", "jti", "cnf", "gidp_authority", "commit", "vct", "status", "_sd_alg", "_sd", "..."}

// checkName judges a name and its value. Values are shown to people, so they hold nothing that could change how the text beside them looks.
func checkName(name, value string) *Error {
	switch {
	case slices.Contains(reserved, name):
		return refuse(CodeDisclosure, "a disclosure brings in a claim that is never disclosed")
	case name != PrincipalName && name != OrganisationID:
		return refuse(CodeDisclosure, "a disclosure of another name than principal_name and organisation_id")
	case value == "" || len(value) > maxName || !utf8.ValidString(value) || strings.ContainsFunc(value, func(r rune) bool {
		return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
	}):
		return refuse(CodeDisclosure, "a disclosed name is not 1 to 256 bytes of UTF-8 without control characters")
	}
	return nil
}
