package proof

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"
)

// The two methods, as they stand in verification_method.
const (
	DNSTXT    = "dns_txt"
	WellKnown = "well_known"
)

const (
	// TokenLife is how long a token may be used for a first proof.
	TokenLife = 7 * 24 * time.Hour
	// Label is put before the host to make the name of the TXT record.
	Label = "_sayso-challenge"
	// Path is where the host serves the token. It is a path of this program; nobody has registered it.
	Path = "/.well-known/sayso-challenge"
	// nonceSize in bytes.
	nonceSize = 16
	tokenSize = 20
)

var tokenText = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// NewNonce returns 128 random bits. Each attempt to prove a host has its own, so that a token of an earlier attempt is worth nothing.
func NewNonce() []byte {
	nonce := make([]byte, nonceSize)
	rand.Read(nonce) // never fails
	return nonce
}

// Token derives what the business publishes: 32 characters of lower-case base32, the first 160 bits of
//
//	HMAC-SHA-256(secret, "xp-proof-v1" 0x00 publisher 0x00 host 0x00 method 0x00 nonce)
//
// It is bound to one publisher, one normalised host and one method, none of which can hold a zero byte.
func Token(secret []byte, publisher, host, method string, nonce []byte) string {
	mac := hmac.New(sha256.New, secret)
	for _, part := range []string{"xp-proof-v1", publisher, host, method} {
		mac.Write([]byte(part))
		mac.Write([]byte{0})
	}
	mac.Write(nonce)
	return tokenText.EncodeToString(mac.Sum(nil)[:tokenSize])
}

// Challenge is one attempt to prove one host.
type Challenge struct {
	Host   string // as NormalizeHost returns it
	Method string // dns_txt | well_known
	Token  string
	// Until is when the token stops being accepted: State.Until. The zero time is always past.
	Until time.Time
}

// Instructions say what a business must publish.
type Instructions struct {
	Place string // the name of the TXT record, or the URL
	Value string // the whole value of the record, or the whole body
	Text  string // both in sentences, for people
}

// Instructions returns the exact place and value.
func (c Challenge) Instructions() Instructions {
	if c.Method == WellKnown {
		in := Instructions{Place: "https://" + c.Host + Path, Value: c.Token}
		in.Text = "Serve " + in.Place + " with status 200 and Content-Type text/plain. The body is these " +
			"32 characters and nothing else:\n\n    " + in.Value + "\n\nThe page must stay for as long as the proof is to hold."
		return in
	}
	in := Instructions{Place: recordName(c.Host), Value: "token=" + c.Token}
	in.Text = "Add a TXT record to your DNS.\n\n    name   " + in.Place + "\n    value  " + in.Value + "\n"
	// Many panels append the registered domain themselves; the full name typed there ends up below itself.
	if zone, err := publicsuffix.EffectiveTLDPlusOne(c.Host); err == nil {
		in.Text += "\nIf your panel adds ." + zone + " by itself, enter " + strings.TrimSuffix(in.Place, "."+zone) + " as the name."
	}
	in.Text += "\nOther TXT records may stand beside it. The record must stay for as long as the proof is to hold."
	return in
}

func recordName(host string) string { return Label + "." + host }
