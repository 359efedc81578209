package facts

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// word is one token of a text: as spelled, in lower case (what stop words are compared with) and stemmed (what everything else is compared with).
type word struct {
	spelled, lower, stem string
}

// foldText applies rules 1 and 2 of F§6.2: NFC, apostrophes deleted, hyphen look-alikes written as hyphens.
func foldText(s string) string {
	if isASCII(s) {
		return strings.ReplaceAll(s, "'", "")
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\'', r == '\u2018', r == '\u2019', r == '\u02bc', r == '\uff07':
			return -1
		case isHyphen(r):
			return '-'
		}
		return r
	}, norm.NFC.String(s))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// appendWords applies rules 3 to 5 of F§6.2 to folded text.
func appendWords(dst []word, folded string) []word {
	for rest := folded; ; {
		start := strings.IndexFunc(rest, inWord)
		if start < 0 {
			return dst
		}
		rest = rest[start:]
		end := strings.IndexFunc(rest, notInWord)
		if end < 0 {
			end = len(rest)
		}
		if spelled := strings.Trim(rest[:end], "."); spelled != "" {
			lower := strings.ToLower(spelled)
			dst = append(dst, word{spelled, lower, stem(lower)})
		}
		rest = rest[end:]
	}
}

func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '.'
	}
	return unicode.In(r, unicode.L, unicode.N, unicode.M)
}

func notInWord(r rune) bool { return !inWord(r) }

// stems is the stemmed tokens of a text, stop words included: how phrases, expansions and key segments are compared.
func stems(text string) []string {
	words := appendWords(nil, foldText(text))
	s := make([]string, len(words))
	for i := range words {
		s[i] = words[i].stem
	}
	return s
}

// isSubdivision reports whether a namespace is a part of a country's (F§2.1): uk-sct of uk.
func isSubdivision(namespace, country string) bool {
	part, ok := strings.CutPrefix(namespace, country)
	if !ok || len(country) != 2 || len(part) < 2 || len(part) > 4 || part[0] != '-' {
		return false
	}
	for i := 1; i < len(part); i++ {
		if c := part[i]; !isLower(c) && !isDigit(c) {
			return false
		}
	}
	return true
}

// looksJurisdictional reports the shape ^[a-z]{2}(-[a-z0-9]{1,3})?$ of F§6.3 rule 1.
func looksJurisdictional(segment string) bool {
	if len(segment) < 2 || !isLower(segment[0]) || !isLower(segment[1]) {
		return false
	}
	return len(segment) == 2 || isSubdivision(segment, segment[:2])
}
