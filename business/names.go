package business

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// ValidSlug reports whether s is a publisher slug: 1 to 63 of a-z 0-9 and -, beginning and ending with a letter or digit.
func ValidSlug(s string) bool {
	if len(s) < 1 || len(s) > 63 || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	return only(s, func(c byte) bool { return lowerOrDigit(c) || c == '-' })
}

// ValidType reports whether s is a record type key: ^[a-z][a-z0-9_-]{0,63}$. Stream keys and list keys have the same grammar.
func ValidType(s string) bool {
	if len(s) < 1 || len(s) > 64 || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	return only(s, func(c byte) bool { return lowerOrDigit(c) || c == '-' || c == '_' })
}

// ValidID reports whether s is a record id: 1 to 256 code points of UTF-8 without control characters. "." and ".." are none: every client removes such a
// path segment, also when it is percent-encoded, so that the url of the record would name something else (XP-IDENTITY-002).
func ValidID(s string) bool {
	return plainText(s, 256) && s != "." && s != ".."
}

// relations are the names a link may have besides those that begin with x- .
var relations = []string{"accessory_for", "alternative_to", "has_part", "part_of", "requires", "same_as", "variant_of"}

// ValidRel reports whether s names a relation between two records: one of part_of, has_part, variant_of, requires, accessory_for, alternative_to, same_as,
// or the publisher's own name behind x-, 1 to 62 of a-z 0-9 _ and -.
func ValidRel(s string) bool {
	if own, ok := strings.CutPrefix(s, "x-"); ok {
		return own != "" && len(s) <= 64 && only(own, func(c byte) bool { return lowerOrDigit(c) || c == '-' || c == '_' })
	}
	return slices.Contains(relations, s)
}

// ValidLanguage reports whether s has the form of a BCP 47 language tag: 2 to 8 letters, then subtags of 1 to 8 letters and digits, 35 characters at most.
func ValidLanguage(s string) bool {
	if len(s) > 35 {
		return false
	}
	for i, subtag := range strings.Split(s, "-") {
		letters := only(subtag, func(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' })
		alphanumeric := only(subtag, func(c byte) bool { return lowerOrDigit(c) || 'A' <= c && c <= 'Z' })
		if len(subtag) < 1 || len(subtag) > 8 || !alphanumeric || i == 0 && (len(subtag) < 2 || !letters) {
			return false
		}
	}
	return true
}

// plainText reports whether s is 1 to limit code points of valid UTF-8 without control characters.
func plainText(s string, limit int) bool {
	return s != "" && len(s) <= limit*utf8.UTFMax && utf8.ValidString(s) && utf8.RuneCountInString(s) <= limit && !strings.ContainsFunc(s, unicode.IsControl)
}

func only(s string, allowed func(byte) bool) bool {
	for i := range len(s) {
		if !allowed(s[i]) {
			return false
		}
	}
	return true
}

func lowerOrDigit(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

// spelled holds letters that no decomposition takes apart, in the spelling that readers of a URL expect.
var spelled = map[rune]string{'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th", 'ħ': "h", 'ŧ': "t", 'ı': "i"}

// City is the path segment of a locality (XP-DISCOVERY-001): lower case; ae, oe, ue, ss for ä, ö, ü, ß; other diacritics stripped (a stroke too, æ and œ as
// two letters, þ as th); every run of other characters becomes one "-", none at the ends. "" means that nothing is left: no city.
func City(locality string) string {
	var out []byte
	text := []rune(norm.NFD.String(strings.ToLower(locality)))
	for i, r := range text {
		switch {
		case r < utf8.RuneSelf && lowerOrDigit(byte(r)):
			out = append(out, byte(r))
			if strings.ContainsRune("aou", r) && i+1 < len(text) && text[i+1] == '\u0308' {
				out = append(out, 'e')
			}
		case spelled[r] != "":
			out = append(out, spelled[r]...)
		case unicode.Is(unicode.Mn, r):
		case len(out) > 0 && out[len(out)-1] != '-':
			out = append(out, '-')
		}
	}
	return strings.Trim(string(out), "-")
}

// Segment percent-encodes a record id as one path segment: every byte but A-Z a-z 0-9 - . _ ~ as % and two upper-case hex digits. It is the only spelling
// in this protocol, so that segments can be compared as text.
func Segment(id string) string {
	const hex = "0123456789ABCDEF"
	var out []byte
	for i := range len(id) {
		c := id[i]
		if lowerOrDigit(c) || 'A' <= c && c <= 'Z' || strings.IndexByte("-._~", c) >= 0 {
			out = append(out, c)
			continue
		}
		out = append(out, '%', hex[c>>4], hex[c&15])
	}
	return string(out)
}

// EntityKey is type/id with the id as [Segment] spells it: the target of an entity revocation.
func EntityKey(typ, id string) string { return typ + "/" + Segment(id) }
