package language

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// stems are the words that a form may belong to under the rules of a language, without the form itself. Nothing is derived: a rule is applied once.
func (l *Language) stems(form string) []string {
	if words, exception := l.Pack.Inflection.Exceptions[form]; exception {
		return words
	}
	for _, k := range l.Pack.Inflection.Keep {
		if strings.HasSuffix(form, k) {
			return nil
		}
	}
	var out []string
	letters := utf8.RuneCountInString(form)
	for _, r := range l.Pack.Inflection.Rules {
		if stem, ok := strings.CutSuffix(form, r.Suffix); ok && letters >= r.Min && stem != "" && !strings.ContainsAny(form, "0123456789") {
			if word := stem + r.Replace; !slices.Contains(out, word) {
				out = append(out, word)
			}
		}
	}
	return out
}

// Fold writes a form without the marks that may be left out in typing.
func (l *Language) Fold(form string) string {
	if l.folder == nil || ascii(form) {
		return form
	}
	return l.folder.Replace(form)
}

// SameWord reports whether two forms are forms of one word: equal, or one is a form of the other. Two forms that only share a stem are not.
func (l *Language) SameWord(a, b string) bool {
	if a == b {
		return true
	}
	plainA, plainB := l.Fold(a), l.Fold(b)
	if plainA == plainB || l.formOf(a, plainB) || l.formOf(b, plainA) {
		return true
	}
	return plainA != a && l.formOf(plainA, plainB) || plainB != b && l.formOf(plainB, plainA)
}

// formOf reports whether form is an inflected form of word.
func (l *Language) formOf(form, word string) bool {
	for _, s := range l.stems(form) {
		if l.Fold(s) == word {
			return true
		}
	}
	return false
}

// Keys are under what a form is found: its own spelling and its stems, without marks.
func (l *Language) Keys(form string) []string {
	out := []string{l.Fold(form)}
	for _, s := range l.stems(form) {
		if s = l.Fold(s); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	// A form that carries a mark loses it before the rules of the plain form can apply: Parkplätze, parkplatze, parkplatz.
	if plain := out[0]; plain != form {
		for _, s := range l.stems(plain) {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}
