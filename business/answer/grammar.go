package answer

import (
	"slices"

	"sayso/business/answer/language"
)

// Grammar reports whether a word carries meaning of its own in a language of the publisher's: it sells, a branch, which. Such a word is named among the
// unresolved when nothing stands behind what it is said of; publishing the word would not help, and a report of what is missing leaves it out.
func (c *Compiled) Grammar(word string) bool {
	return slices.ContainsFunc(c.languages, func(l *language.Language) bool {
		tokens := l.Tokens(word)
		if len(tokens) != 1 {
			return false
		}
		for p := range l.PhrasesAt(tokens, 0) {
			if len(p.Words) == 1 && p.Tail == nil && p.Mark.Kind != language.KindContent {
				return true
			}
		}
		return false
	})
}
