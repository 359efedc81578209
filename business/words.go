package business

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// caseless removes case: ß becomes ss.
func caseless(s string) string {
	if plainASCII(s) {
		return strings.ToLower(s)
	}
	return cases.Fold().String(s)
}

// fold removes what spelling leaves free: case, compatibility forms and diacritics.
func fold(s string) string {
	if s = caseless(s); plainASCII(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(s))
}

func plainASCII(s string) bool { return only(s, func(c byte) bool { return c < utf8.RuneSelf }) }

// word is one word in the two spellings in which words are compared.
type word struct{ lower, bare string } // without case; without case and diacritics

// wordsOf are the runs of letters and digits of s; marks belong to the letter before them.
func wordsOf(s string) []word {
	var out []word
	for _, w := range strings.FieldsFunc(norm.NFC.String(s), func(r rune) bool { return !unicode.In(r, unicode.Letter, unicode.Digit, unicode.Mark) }) {
		out = append(out, word{caseless(w), fold(w)})
	}
	return out
}

// How a word of a question agrees with a published one.
type agreement int

const (
	different agreement = iota
	inflected           // equal but for diacritics or the ending of a number
	exact               // equal but for case
)

func (a agreement) String() string {
	if a == exact {
		return "exact"
	}
	return "inflection"
}

// endings make a plural of a word in the languages this program ships words for. The rule is blunt on purpose: it is the same for every language and
// publisher, and it only finds candidates.
var endings = []string{"s", "es", "n", "en", "e", "er", "x"}

// agree compares two words.
func agree(x, y word) agreement {
	if x.lower == y.lower {
		return exact
	}
	a, b := x.bare, y.bare
	if len(a) > len(b) {
		a, b = b, a
	}
	if a == b {
		return inflected
	}
	if utf8.RuneCountInString(a) < 3 {
		return different
	}
	if stem, ok := strings.CutSuffix(a, "y"); ok && stem+"ies" == b {
		return inflected
	}
	if ending, ok := strings.CutPrefix(b, a); ok && slices.Contains(endings, ending) {
		return inflected
	}
	return different
}

// samePhrase compares a published text with the words asked, one by one.
func samePhrase(asked []word, published string) agreement {
	words := wordsOf(published)
	if len(asked) != len(words) || len(asked) == 0 {
		return different
	}
	worst := exact
	for i := range asked {
		worst = min(worst, agree(asked[i], words[i]))
	}
	return worst
}

// namedBy reports whether every word asked is one of the words of a published name.
func namedBy(asked []word, published string) agreement {
	words := wordsOf(published)
	worst := exact
	for _, a := range asked {
		best := different
		for _, w := range words {
			best = max(best, agree(a, w))
		}
		worst = min(worst, best)
	}
	return worst
}
