package proof

import (
	"net/netip"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// specialTLDs are names that never stand in the public DNS. Which of them are refused is the caller's list: a test may allow .example.
var specialTLDs = []string{"local", "internal", "onion", "test", "example", "invalid", "localhost"}

// SpecialTLDs is what a server refuses: a fresh copy of the special top level domains.
func SpecialTLDs() []string { return slices.Clone(specialTLDs) }

// maxHost is the longest name of RFC 1035 in text form without its final dot.
const maxHost = 253

// lookup maps as UTS 46 non-transitional processing does: ß stays ß. Names that no host can have (RFC 1123) are refused.
var lookup = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.BidiRule(), idna.CheckJoiners(true), idna.VerifyDNSLength(true))

// SuffixListVersion names the public suffix list in use. It is kept with each proof, because the list decides which hosts can be proven.
func SuffixListVersion() string { return publicsuffix.List.String() }

const nextHost = "name one host of a domain that you registered, such as www.your-domain.com"

// NormalizeHost returns the one spelling of a host under which proofs are made: A-labels, lower case, no final dot. Everything that cannot be proven is
// CodeHostNotAllowed: what is no host name, an IP address in any notation, a single label, a public suffix (of ICANN or private, such as github.io), a top
// level domain that the suffix list does not know, and those of refusedTLDs.
func NormalizeHost(raw string, refusedTLDs []string) (string, *Failure) {
	refuse := func(why string) (string, *Failure) {
		return "", fail(CodeHostNotAllowed, nextHost, "this host cannot be proven: %s", why)
	}
	if len(raw) > 4*maxHost || !utf8.ValidString(raw) {
		return refuse("the name is longer than 253 characters or not UTF-8")
	}
	name := strings.TrimSuffix(raw, ".")
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return refuse("it is an IP address")
	}
	host, err := lookup.ToASCII(name)
	if err != nil || host == "" || len(host) > maxHost {
		return refuse("it is not a host name of labels up to 63 and at most 253 characters in all")
	}
	dot := strings.LastIndexByte(host, '.')
	tld := host[dot+1:]
	switch suffix, icann := publicsuffix.PublicSuffix(host); {
	case numeric(tld):
		return refuse("it is an IP address")
	case slices.Contains(refusedTLDs, tld):
		return refuse("names under ." + tld + " do not stand in the public DNS")
	case dot < 0:
		return refuse("it is a single label")
	case !icann && suffix == tld && !slices.Contains(specialTLDs, tld):
		return refuse("the top level domain ." + tld + " is not known")
	case suffix == host:
		return refuse("it is a public suffix, under which others register their names")
	}
	return host, nil
}

// numeric reports a last label that URL parsers read as the end of an IPv4 address, in decimal, octal or hexadecimal.
func numeric(label string) bool {
	hex, isHex := strings.CutPrefix(label, "0x")
	if isHex {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// Display returns a normalised host as people read it: in Unicode, or unchanged when a label mixes scripts and could pass for another one.
func Display(host string) string {
	shown, err := idna.Display.ToUnicode(host)
	if err != nil {
		return host
	}
	for label := range strings.SplitSeq(shown, ".") {
		if mixed(label) {
			return host
		}
	}
	return shown
}

// together lists the scripts that one language writes side by side (UTS 39, highly restrictive).
var together = [][]string{{"Latin", "Han", "Hiragana", "Katakana"}, {"Latin", "Han", "Bopomofo"}, {"Latin", "Han", "Hangul"}}

func mixed(label string) bool {
	var scripts []string
	for _, r := range label {
		if s := script(r); s != "Common" && s != "Inherited" && !slices.Contains(scripts, s) {
			scripts = append(scripts, s)
		}
	}
	if len(scripts) < 2 {
		return false
	}
	return !slices.ContainsFunc(together, func(set []string) bool {
		return !slices.ContainsFunc(scripts, func(s string) bool { return !slices.Contains(set, s) })
	})
}

// script is the one Unicode script of a character, "" for a character without one.
func script(r rune) string {
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			return name
		}
	}
	return ""
}
