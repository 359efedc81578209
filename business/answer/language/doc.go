// Package language reads text: it cuts a question or a published text into words, knows which words are forms of one word, and finds what a language says by
// fixed phrases and typed values. Every word that is no publisher's stands in a [Pack]; the code has no word of any language. It is pure: the packs are part
// of the program.
//
// # Tokens
//
// [Scan] cuts a text in NFKC into runs of letters and digits, with a map back to the text as received: code points and bytes, half-open. A sign of currency or
// mathematics is a token, a minus belongs to its number, a decimal is one token. Hyphens and apostrophes part words. A character that stands for several words,
// such as ½, is opaque: understood as nothing. [Language.Tokens] then writes out contractions and drops possessive endings.
//
// # Inflection
//
// One rule is applied once; nothing is derived, so box and boxing are two words. [Language.SameWord] holds when one form is a form of the other, not when two
// share a stem. [Language.Keys] are under what a form is looked up.
//
// # Phrases and values
//
// [Language.PhrasesAt] finds fixed phrases, each with a [Mark]: its kind and value. [Language.LiteralAt], ComparisonAt, TimeAt and DateAt read typed values
// exactly; what a language could mean in two ways is no value.
//
// # Packs
//
// [ParsePack] reads and lints a pack, [Packs] are the embedded ones. Function words are of closed classes only: each generic noun or content verb among them
// would let a question be answered that was not understood.
package language
