package facts

import (
	"maps"
	"slices"
	"strings"
)

// The alias classes of F§2.2, as facts.aliasClasses names them.
const (
	AliasClassGB        = "gb"        // gb/x -> uk/x and gb-sct/x -> uk-sct/x
	AliasClassChangelog = "changelog" // <area>:<key without its namespace>
)

// DefaultAliasClasses are the classes every publisher of this package answers.
func DefaultAliasClasses() []string { return []string{AliasClassGB, AliasClassChangelog} }

// RankerEntry is one line of the index as the ranker sees it.
type RankerEntry struct {
	Key, Label string
	Aliases    []string
}

// RankerTopic is one entry of facts.topics. Area feeds the changelog alias class and may be empty.
type RankerTopic struct {
	Prefix, Title, Area string
	Synonyms            map[string]string // phrase -> key segment
}

// RankerInput is what a publisher publishes for ranking (F§6.10): the index, and from facts.json the namespaces, topics, stop words, jurisdiction words
// and alias classes. Whoever holds it computes the same ranking as the publisher's server.
type RankerInput struct {
	Entries           []RankerEntry // sorted by key bytes, each key once
	Namespaces        []string
	Topics            []RankerTopic
	StopWords         []string          // words and phrases, the full list
	JurisdictionWords map[string]string // phrase -> namespace, the full map
	AliasClasses      []string
}

// RankerInputOf is the ranking input of a dataset: the default lists with the publisher's additions. Its facts must be sorted by key.
func RankerInputOf(ds *Dataset) RankerInput {
	in := RankerInput{
		Entries:           make([]RankerEntry, len(ds.Facts)),
		Namespaces:        make([]string, len(ds.Namespaces)),
		Topics:            make([]RankerTopic, len(ds.Topics)),
		StopWords:         DefaultStopWords(),
		JurisdictionWords: DefaultJurisdictionWords(),
		AliasClasses:      DefaultAliasClasses(),
	}
	for i := range ds.Facts {
		f := &ds.Facts[i]
		in.Entries[i] = RankerEntry{f.Key, f.Label, f.Aliases}
	}
	for i := range ds.Namespaces {
		in.Namespaces[i] = ds.Namespaces[i].Name
	}
	for i := range ds.Topics {
		t := &ds.Topics[i]
		in.Topics[i] = RankerTopic{t.Prefix, t.Title, t.Area, t.Synonyms}
	}
	for _, s := range ds.StopWords {
		if !slices.Contains(in.StopWords, s) {
			in.StopWords = append(in.StopWords, s)
		}
	}
	maps.Copy(in.JurisdictionWords, ds.JurisdictionWords)
	return in
}

const defaultStopWords = `a about an and any are as at be by can could current currently do does for find from get give has have how i if in is it its
	know latest let me much my need now of on or our please should show tell that the their there these this to today value want was we were what whats
	when which who will with would you your`

// DefaultStopWords is the list of F§6.1, single words first, then phrases. The slice is the caller's.
func DefaultStopWords() []string {
	return append(strings.Fields(defaultStopWords),
		"at the moment", "right now", "these days", "this financial year", "this tax year", "this year")
}

// DefaultJurisdictionWords is the map of F§6.1 from a word or phrase to the namespace it names. The map is the caller's.
func DefaultJurisdictionWords() map[string]string {
	m := make(map[string]string)
	for namespace, phrases := range map[string][]string{
		"uk":     {"uk", "u.k", "gb", "british", "britain", "hmrc", "gov.uk", "boe", "bank of england"},
		"us":     {"us", "u.s", "usa", "american", "irs", "federal", "fed", "ssa"},
		"de":     {"german", "germany", "bund"},
		"fr":     {"french", "france"},
		"eu":     {"eu", "european", "ecb"},
		"uk-sct": {"scottish", "scotland"},
		"uk-wls": {"welsh", "wales"},
		"uk-nir": {"northern ireland"},
		"us-ca":  {"californian", "california"},
	} {
		for _, phrase := range phrases {
			m[phrase] = namespace
		}
	}
	return m
}
