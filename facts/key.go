package facts

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Limits of a key (F§2.1).
const (
	MaxKeyBytes    = 200
	MinKeySegments = 2
	MaxKeySegments = 6
)

// CheckKey applies the grammar and our own limits of F§2.1: what a publisher may use as a canonical key. The error names the rule that is broken.
func CheckKey(key string) error {
	if len(key) > MaxKeyBytes {
		return fmt.Errorf("key %s has %d bytes: at most %d are allowed", quote(key), len(key), MaxKeyBytes)
	}
	if err := CheckKeyGrammar(key); err != nil {
		return err
	}
	for segment := range strings.SplitSeq(key, "/") {
		if last := segment[len(segment)-1]; last == '-' || last == '.' {
			return fmt.Errorf("key %s: segment %q ends in %q; segments end in a letter or digit", quote(key), segment, last)
		}
		for _, double := range []string{"--", ".."} {
			if strings.Contains(segment, double) {
				return fmt.Errorf("key %s: segment %q contains %q; write one", quote(key), segment, double)
			}
		}
	}
	for _, extension := range []string{".json", ".html", ".txt", ".md"} {
		if strings.HasSuffix(key, extension) {
			return fmt.Errorf("key %s ends in %s, which is read as a file type; choose another last segment", quote(key), extension)
		}
	}
	if err := CheckNamespace(KeyNamespace(key)); err != nil {
		return fmt.Errorf("key %s: %w", quote(key), err)
	}
	return nil
}

// CheckKeyGrammar applies the grammar alone, ^[a-z][a-z0-9-]*(/[a-z0-9][a-z0-9.-]*){1,5}$: what a reader accepts and what an alias must match.
func CheckKeyGrammar(key string) error {
	segments := strings.Count(key, "/") + 1
	switch {
	case key == "":
		return errors.New("key is empty")
	case segments < MinKeySegments:
		return fmt.Errorf("key %s has one segment: a key has %d to %d, separated by \"/\"", quote(key), MinKeySegments, MaxKeySegments)
	case segments > MaxKeySegments:
		return fmt.Errorf("key %s has %d segments: a key has %d to %d", quote(key), segments, MinKeySegments, MaxKeySegments)
	}
	first := true
	for segment := range strings.SplitSeq(key, "/") {
		if err := checkSegment(segment, first); err != nil {
			return fmt.Errorf("key %s: %w", quote(key), err)
		}
		first = false
	}
	return nil
}

func checkSegment(segment string, namespace bool) error {
	if segment == "" {
		return errors.New("a segment is empty")
	}
	switch c := segment[0]; {
	case namespace && !isLower(c):
		return fmt.Errorf("the first segment starts with a letter a to z, not with %s", firstRune(segment))
	case !isLower(c) && !isDigit(c):
		return fmt.Errorf("a segment starts with a to z or a digit, not with %s", firstRune(segment))
	}
	for i := 1; i < len(segment); i++ {
		c := segment[i]
		if isLower(c) || isDigit(c) || c == '-' || c == '.' && !namespace {
			continue
		}
		allowed := `a to z, digits, "-" and "."`
		if namespace {
			allowed = `a to z, digits and "-"`
		}
		return fmt.Errorf("%s is not allowed in %s; a segment of this place has %s", firstRune(segment[i:]), quote(segment), allowed)
	}
	return nil
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func firstRune(s string) string {
	_, size := utf8.DecodeRuneInString(s)
	return quote(s[:size])
}

// KeyNamespace is the first segment.
func KeyNamespace(key string) string {
	namespace, _, _ := strings.Cut(key, "/")
	return namespace
}

// CheckNamespace applies the rules of a first segment (F§2.1): two letters are a country of ISO 3166-1 or "uk" or "eu", never "gb"; with one to three
// more letters or digits behind a hyphen they are a part of that country; anything else is a slug with at least three letters.
func CheckNamespace(namespace string) error {
	if err := checkSegment(namespace, true); err != nil {
		return fmt.Errorf("namespace %s: %w", quote(namespace), err)
	}
	if namespace == "resolve" || namespace == "index" {
		return fmt.Errorf("namespace %q is the name of a route", namespace)
	}
	country, part, divided := strings.Cut(namespace, "-")
	if len(country) == 2 && (!divided || len(part) >= 1 && len(part) <= 3 && !strings.Contains(part, "-")) {
		switch {
		case country == "gb":
			return fmt.Errorf("namespace %q: write uk for the United Kingdom; gb is only an alias", namespace)
		case !isCountry(country):
			return fmt.Errorf("namespace %q: %q is not a country code of ISO 3166-1", namespace, country)
		}
		return nil
	}
	letters := 0
	for i := range len(namespace) {
		if isLower(namespace[i]) {
			letters++
		}
	}
	if letters < 3 {
		return fmt.Errorf("namespace %q: a namespace that is no country has at least three letters", namespace)
	}
	return nil
}

// countries are the codes of ISO 3166-1 alpha-2, with eu and uk, which ISO reserves. The ranges that ISO leaves to users stand in isCountry.
const countries = "ad ae af ag ai al am ao aq ar as at au aw ax az " +
	"ba bb bd be bf bg bh bi bj bl bm bn bo bq br bs bt bv bw by bz " +
	"ca cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz " +
	"de dj dk dm do dz ec ee eg eh er es et eu fi fj fk fm fo fr " +
	"ga gb gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu " +
	"id ie il im in io iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw ky kz " +
	"la lb lc li lk lr ls lt lu lv ly ma mc md me mf mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz " +
	"na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py " +
	"qa re ro rs ru rw sa sb sc sd se sg sh si sj sk sl sm sn so sr ss st sv sx sy sz " +
	"tc td tf tg th tj tk tl tm tn to tr tt tv tw tz ua ug uk um us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw"

// isCountry reports whether two letters are a country code. aa, qm to qz, xa to xz and zz are user-assigned in ISO 3166-1 and left to publishers.
func isCountry(code string) bool {
	switch {
	case code == "aa", code == "zz", code[0] == 'x', code[0] == 'q' && code[1] >= 'm':
		return true
	}
	for i := 0; i+2 <= len(countries); i += 3 {
		if countries[i:i+2] == code {
			return true
		}
	}
	return false
}

// CheckAlias reports whether a text may be an explicit alias (F§2.2): the key grammar, or "<area>:<changelog key>" joined by the first colon.
func CheckAlias(alias string) error {
	if len(alias) > MaxKeyBytes {
		return fmt.Errorf("alias %s has %d bytes: at most %d are allowed", quote(alias), len(alias), MaxKeyBytes)
	}
	area, key, changelog := strings.Cut(alias, ":")
	if !changelog {
		return CheckKeyGrammar(alias)
	}
	if err := checkSegment(area, true); err != nil {
		return fmt.Errorf("alias %s: area: %w", quote(alias), err)
	}
	for segment := range strings.SplitSeq(key, "/") {
		if err := checkSegment(segment, false); err != nil {
			return fmt.Errorf("alias %s: %w", quote(alias), err)
		}
	}
	return nil
}

// NormalizeKey applies F§2.3 steps 1 (without percent-decoding) to 6; has reports whether a string is a key or an alias.
// It returns the normalised string and whether anything but URL spelling changed: a trailing slash, .json and the URL in front of the key leave no trace; a
// doubled or leading slash, a dropped query, another case or another hyphen do. The string after step 1 is what an answer repeats as requestedKey, see RequestedForm.
func NormalizeKey(requested string, has func(string) bool) (key string, changed bool) {
	if isNormal(requested) {
		return requested, false
	}
	key = RequestedForm(requested)
	if rest, isURL := cutScheme(key); isURL {
		key = strings.TrimPrefix(urlPath(rest), "/")
	}
	if i := strings.IndexAny(key, "?#"); i >= 0 {
		key, changed = strings.TrimSpace(key[:i]), true
	}
	folded := norm.NFC.String(strings.Map(foldKeyRune, key))
	changed = changed || folded != key
	key = trimSlashes(folded)
	changed = changed || key != strings.TrimSuffix(folded, "/")
	if name, ok := strings.CutSuffix(key, ".json"); ok && name != "" && name[len(name)-1] != '/' && !has(key) {
		key = name
	}
	return key, changed
}

// RequestedForm is a requested key after F§2.3 step 1: NFC, without surrounding white space.
func RequestedForm(requested string) string {
	return strings.TrimSpace(norm.NFC.String(requested))
}

// isNormal reports that no step would change s, so that the common request costs one pass and no allocation.
func isNormal(s string) bool {
	if s == "" || s[0] == '/' || s[len(s)-1] == '/' || strings.HasSuffix(s, ".json") {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case isLower(c), isDigit(c), c == '-', c == '.', c == ':':
		case c == '/' && s[i-1] != '/':
		default:
			return false
		}
	}
	return true
}

func cutScheme(s string) (rest string, ok bool) {
	for _, scheme := range []string{"https://", "http://"} {
		if len(s) >= len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) {
			return s[len(scheme):], true
		}
	}
	return s, false
}

// urlPath is what follows the host in the rest of a URL, without a leading /f or /facts segment; the query stays for the next step.
func urlPath(rest string) string {
	i := strings.IndexAny(rest, "/?#")
	if i < 0 {
		return ""
	}
	path := rest[i:]
	for _, prefix := range []string{"/facts", "/f"} {
		if after, ok := strings.CutPrefix(path, prefix); ok && (after == "" || strings.IndexByte("/?#", after[0]) >= 0) {
			return after
		}
	}
	return path
}

// foldKeyRune writes what people type for a hyphen as a hyphen and lowers the case.
func foldKeyRune(r rune) rune {
	if isHyphen(r) || r == '_' || unicode.IsSpace(r) {
		return '-'
	}
	return unicode.ToLower(r)
}

// isHyphen reports the hyphen look-alikes of F§2.3.
func isHyphen(r rune) bool {
	switch {
	case r >= '\u2010' && r <= '\u2015', r == '\u2212', r == '\ufe58', r == '\ufe63', r == '\uff0d':
		return true
	}
	return false
}

// trimSlashes collapses repeated slashes and drops leading and trailing ones.
func trimSlashes(s string) string {
	s = strings.Trim(s, "/")
	if !strings.Contains(s, "//") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		if s[i] != '/' || s[i-1] != '/' {
			b = append(b, s[i])
		}
	}
	return string(b)
}
