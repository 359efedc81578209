package gidpa2a

import (
	"crypto/ed25519"
	"io"
	"net/netip"
	"slices"
	"strings"
	"time"

	"sayso/jwk"
	"sayso/jws"
)

// ExtensionURI names the extension where nothing else is configured (sec. 2).
const ExtensionURI = "https://gidp.dev/extensions/gidp/0.1"

const (
	a2aVersion       = "1.0"
	versionHeader    = "A2a-Version" // canonical MIME keys
	extensionsHeader = "A2a-Extensions"
	partText         = "gidp" // of every message and artifact

	maxObject     = 64 << 10  // bytes of one object, and of the evidence beside it
	maxRequest    = 256 << 10 // bytes of a request
	maxName       = 512       // bytes of a messageId
	maxID         = 128       // bytes of a taskId or contextId
	maxExtensions = 32        // URIs in one request
	maxField      = 8 << 10   // bytes of the A2A-Extensions field, its lines joined
	padTo         = 1 << 10   // bytes that the size of an artifact is a multiple of

	window = 300 * time.Second // how far the time of a signature may lie off
)

// names are the metadata keys of one extension URI.
type names struct{ uri, object, key, signature, evidence, hint, pad string }

func namesOf(uri string) names {
	if uri == "" {
		uri = ExtensionURI
	}
	return names{uri, uri + "/object", uri + "/key", uri + "/sig", uri + "/evidence", uri + "/hint", uri + "/pad"}
}

// ValidRef reports whether text is an agent_ref as sayso makes them: 128 bits as 32 lower-case hex digits.
func ValidRef(text string) bool {
	return len(text) == 32 && strings.Trim(text, "0123456789abcdef") == ""
}

// NewKey makes a key for one session from 32 bytes of random. Its id is its RFC 7638 thumbprint.
func NewKey(random io.Reader) (*jwk.PrivateKey, error) {
	key, err := jwk.Generate("session", random)
	if err != nil {
		return nil, err
	}
	return key.Rename(jwk.Thumbprint(key.Public().Public))
}

// SignObject makes the detached JWS that travels beside an object which outlives its session: Opportunity, Handoff, a terminal ConsentResponse (sec. 6.1). object is
// canonical and key comes from [NewKey].
func SignObject(object []byte, key *jwk.PrivateKey) string { return jws.SignDetached(key, object) }

// VerifyObject checks what [SignObject] made. Errors are *jws.Error.
func VerifyObject(signature string, object []byte, pub ed25519.PublicKey) error {
	return jws.VerifyDetached(signature, object, jwk.Thumbprint(pub), pub)
}

// network is the prefix by which an address is counted, "" for the own machine. Whoever has no address is counted together with all the others that have none.
func network(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	switch {
	case a.IsLoopback():
		return ""
	case a.Is4():
		return netip.PrefixFrom(a, 24).Masked().String()
	}
	return netip.PrefixFrom(a, 48).Masked().String()
}

// extensions reads the lines of an A2A-Extensions field: URIs with commas between them, in any number of lines, each once and in the order of their first mention.
// ok is false when there are more of them than anybody needs, or one is not visible ASCII.
func extensions(lines []string) (uris []string, ok bool) {
	size := 0
	for _, line := range lines {
		if size += len(line); size > maxField {
			return nil, false
		}
		for uri := range strings.SplitSeq(line, ",") {
			uri = strings.Trim(uri, " \t")
			if uri == "" || slices.Contains(uris, uri) {
				continue
			}
			if len(uris) == maxExtensions || !visible(uri) {
				return nil, false
			}
			uris = append(uris, uri)
		}
	}
	return uris, true
}

// visible reports ASCII without space and control characters.
func visible(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// identifier reports what a taskId or contextId may be.
func identifier(s string) bool { return s != "" && len(s) <= maxID && visible(s) }
