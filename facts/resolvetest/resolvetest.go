// Package resolvetest generates catalogues and questions for measuring resolve (F§6.12, F§15).
//
// A catalogue has a few words that stand in a large part of all labels (rate, allowance, threshold), more that stand in some, and many that stand in a
// handful: the postings of common words are long, as in real ones. Questions mix labels as people type them with common words alone, rare words, misspellings
// and words that nothing holds. Everything follows from the seed.
package resolvetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"sayso/facts"
)

// common words head the frequency list of every catalogue.
var common = strings.Fields(`rate allowance threshold limit fee income tax standard higher basic annual minimum maximum weekly national insurance benefit
	pension wage duty licence renewal adult child couple single relief credit charge band first second main reduced additional employer employee`)

// syllables build the remaining words.
var syllables = strings.Fields(`ba be bi bo bra bre ca ce cla cor da de di dor dra el en fa fe fin fla for ga ge gra hal har hen in ka ken la le lin lo ma me
	min mor na ne nor ol pa per pla por ra re rin ro sa se sil sta sten ta te tin tor tra ul va ve vin vor wa wen wil yor zan zel`)

// Catalogue makes n entries in the topics of four namespaces: as many words as labels of a real catalogue of that size have, with a Zipf distribution.
func Catalogue(seed uint64, n int) facts.RankerInput {
	r := rand.New(rand.NewPCG(seed, 1))
	words := vocabulary(r, len(common)+n/4+50)
	zipf := rand.NewZipf(r, 1.1, 2, uint64(len(words)-1))
	in := facts.RankerInput{
		Namespaces:        []string{"zz-aa", "zz-bb", "zz", "zy"},
		StopWords:         facts.DefaultStopWords(),
		JurisdictionWords: facts.DefaultJurisdictionWords(),
		AliasClasses:      facts.DefaultAliasClasses(),
	}
	topics := max(4, n/200)
	prefixes := make([]string, topics)
	for i := range prefixes {
		title := words[zipf.Uint64()] + " " + words[r.IntN(len(words))]
		prefixes[i] = in.Namespaces[i%len(in.Namespaces)] + "/" + slug(title) + fmt.Sprintf("-%d", i)
		topic := facts.RankerTopic{Prefix: prefixes[i], Title: title, Synonyms: map[string]string{fmt.Sprintf("sy%d", i%50): strings.Fields(title)[1]}}
		in.Topics = append(in.Topics, topic)
	}
	for i := range n {
		label := make([]string, 2+r.IntN(5))
		for j := range label {
			label[j] = words[zipf.Uint64()]
		}
		text := strings.Join(label, " ")
		key := fmt.Sprintf("%s/%s-%d", prefixes[r.IntN(topics)], slug(strings.Join(label[:2], " ")), i)
		in.Entries = append(in.Entries, facts.RankerEntry{Key: key, Label: strings.ToUpper(text[:1]) + text[1:]})
	}
	slices.SortFunc(in.Entries, func(a, b facts.RankerEntry) int { return strings.Compare(a.Key, b.Key) })
	return in
}

func vocabulary(r *rand.Rand, n int) []string {
	words := slices.Clone(common)
	seen := make(map[string]bool, n)
	for len(words) < n {
		var b strings.Builder
		for range 2 + r.IntN(3) {
			b.WriteString(syllables[r.IntN(len(syllables))])
		}
		if w := b.String(); !seen[w] {
			seen[w] = true
			words = append(words, w)
		}
	}
	return words
}

func slug(text string) string { return strings.ReplaceAll(text, " ", "-") }

// Labels are the labels of a catalogue, in key order.
func Labels(in facts.RankerInput) []string {
	labels := make([]string, len(in.Entries))
	for i := range in.Entries {
		labels[i] = in.Entries[i].Label
	}
	return labels
}

// Queries makes n questions over the labels of a catalogue. Of twenty, five are a label in words of a question, four two words of a label, three one rare
// word beside a common one, three common words only, three hold a misspelling and two ask for words nothing holds.
func Queries(seed uint64, labels []string, n int) []string {
	r := rand.New(rand.NewPCG(seed, 2))
	queries := make([]string, n)
	for i := range queries {
		label := strings.ToLower(labels[r.IntN(len(labels))])
		words := strings.Fields(label)
		switch kind := r.IntN(20); {
		case kind < 5:
			queries[i] = "what is the " + label + "?"
		case kind < 9:
			queries[i] = words[r.IntN(len(words))] + " " + words[r.IntN(len(words))]
		case kind < 12:
			queries[i] = slices.MaxFunc(words, func(a, b string) int { return len(a) - len(b) }) + " " + common[r.IntN(5)]
		case kind < 15:
			queries[i] = common[r.IntN(10)] + " " + common[r.IntN(10)] + " " + common[r.IntN(len(common))]
		case kind < 18:
			at := r.IntN(len(words))
			words[at] = misspell(r, words[at])
			queries[i] = strings.Join(words, " ")
		default:
			queries[i] = "qu" + words[0] + "x " + "xq" + words[len(words)-1] + "w"
		}
	}
	return queries
}

// misspell drops, doubles or changes one letter.
func misspell(r *rand.Rand, word string) string {
	at := r.IntN(len(word))
	switch r.IntN(3) {
	case 0:
		return word[:at] + word[at+1:]
	case 1:
		return word[:at+1] + word[at:]
	}
	return word[:at] + "q" + word[at+1:]
}
