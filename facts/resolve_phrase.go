package facts

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// phraseKind orders the meanings of one phrase: at equal length a synonym wins over a jurisdiction, that over a stop phrase (F§6.3 rule 2).
type phraseKind uint8

const (
	phraseSynonym phraseKind = iota
	phraseJurisdiction
	phraseStop
)

// phrase is a run of stemmed tokens with a meaning.
type phrase struct {
	kind      phraseKind
	tokens    []string
	text      string   // a synonym as published: what matched repeats
	namespace string   // of a jurisdiction
	postings  []uint32 // of a synonym: the facts it hits
}

// lexicon is everything a query is read with besides the vocabulary.
type lexicon struct {
	stopWords  map[string]bool     // single words in lower case
	stopStems  map[string]bool     // the same, stemmed
	phrases    map[string][]phrase // by first token; longest first, then by kind
	namespaces []string            // declared ones, sorted
}

func newLexicon(in *RankerInput) *lexicon {
	lex := &lexicon{
		stopWords:  make(map[string]bool),
		stopStems:  make(map[string]bool),
		phrases:    make(map[string][]phrase),
		namespaces: slices.Compact(slices.Sorted(slices.Values(in.Namespaces))),
	}
	for _, text := range in.StopWords {
		if words := appendWords(nil, foldText(text)); len(words) == 1 {
			lex.stopWords[words[0].lower], lex.stopStems[words[0].stem] = true, true
		} else {
			lex.add(phrase{kind: phraseStop, tokens: stems(text)})
		}
	}
	for _, text := range slices.Sorted(maps.Keys(in.JurisdictionWords)) {
		lex.add(phrase{kind: phraseJurisdiction, tokens: stems(text), namespace: in.JurisdictionWords[text]})
	}
	for _, name := range lex.namespaces {
		if len(name) > 2 {
			lex.add(phrase{kind: phraseJurisdiction, tokens: stems(name), namespace: name})
		}
	}
	for i := range in.Topics {
		for _, text := range slices.Sorted(maps.Keys(in.Topics[i].Synonyms)) {
			lex.add(phrase{kind: phraseSynonym, tokens: stems(text), text: text})
		}
	}
	for _, same := range lex.phrases {
		slices.SortStableFunc(same, func(a, b phrase) int {
			return cmp.Or(len(b.tokens)-len(a.tokens), cmp.Compare(a.kind, b.kind))
		})
	}
	return lex
}

// add keeps the first phrase of one kind and one run of tokens; of two spellings of a synonym the smaller names it, whatever the order of topics.
func (lex *lexicon) add(p phrase) {
	if len(p.tokens) == 0 {
		return
	}
	same := lex.phrases[p.tokens[0]]
	for i := range same {
		if same[i].kind == p.kind && slices.Equal(same[i].tokens, p.tokens) {
			same[i].text = min(same[i].text, p.text)
			return
		}
	}
	lex.phrases[p.tokens[0]] = append(same, p)
}

// match is the longest phrase at the start of words, nil when there is none.
func (lex *lexicon) match(words []word) *phrase {
	same := lex.phrases[words[0].stem]
next:
	for i := range same {
		p := &same[i]
		if len(p.tokens) > len(words) {
			continue
		}
		for j, token := range p.tokens[1:] {
			if words[j+1].stem != token {
				continue next
			}
		}
		return p
	}
	return nil
}

// unit is one thing a query asks for: a synonym or a token (F§6.3). Equal units of one query stand for several.
type unit struct {
	token   string  // of a synonym, its phrase as published
	synonym *phrase // nil for a token
	count   int     // how often the query names it
	word    int32   // the token in the vocabulary, -1 when it is not there

	first, end int32  // its terms in search.terms, best credit first
	typos      []typo // vocabulary words that token may be a misspelling of, nearest first
	size       int    // how many entries its terms name
	credit            // the most it can earn, times count
	reach      credit // the same while bounds are computed, from the terms seen so far
	said       [sayings]string
}

// query is a question read with a lexicon.
type query struct {
	words         []word
	units         []unit  // distinct, in order of first appearance
	sequence      []int32 // every unit of the question in order, as positions in units
	jurisdictions []string
}

// read applies F§6.3 to a question.
func (q *query) read(lex *lexicon, text string) {
	q.words, q.units, q.sequence, q.jurisdictions = q.words[:0], q.units[:0], q.sequence[:0], q.jurisdictions[:0]
	text = foldText(questionText(text))
	if namespace, rest, ok := lex.pathForm(text); ok {
		q.addJurisdiction(namespace)
		text = rest
	}
	q.words = appendWords(q.words, text)
	for i := 0; i < len(q.words); {
		i += q.step(lex, i)
	}
	q.dropCountries()
}

// step reads what stands at word i and returns how many words that was.
func (q *query) step(lex *lexicon, i int) int {
	w := &q.words[i]
	p := lex.match(q.words[i:])
	if p != nil && p.kind == phraseSynonym {
		q.addUnit(p.text, p)
		return len(p.tokens)
	}
	if w.lower == "us" && (p == nil || len(p.tokens) == 1) && w.spelled != "US" && i > 0 && beforePronoun(q.words[i-1].lower) {
		return 1
	}
	switch {
	case p != nil && p.kind == phraseJurisdiction:
		q.addJurisdiction(p.namespace)
		return len(p.tokens)
	case p != nil:
		return len(p.tokens)
	case !lex.stopWords[w.lower]:
		q.addUnit(w.stem, nil)
	}
	return 1
}

// beforePronoun lists the words after which "us" is a pronoun.
func beforePronoun(word string) bool {
	switch word {
	case "tell", "show", "give", "let", "remind", "help":
		return true
	}
	return false
}

func (q *query) addUnit(token string, synonym *phrase) {
	at := slices.IndexFunc(q.units, func(u unit) bool { return u.token == token && u.synonym == synonym })
	if at < 0 {
		at = len(q.units)
		q.units = append(q.units, unit{token: token, synonym: synonym})
	}
	q.units[at].count++
	q.sequence = append(q.sequence, int32(at))
}

func (q *query) addJurisdiction(namespace string) {
	if !slices.Contains(q.jurisdictions, namespace) {
		q.jurisdictions = append(q.jurisdictions, namespace)
	}
}

// dropCountries applies F§6.3 rule 3: who names a subdivision means it, not the country around it.
func (q *query) dropCountries() {
	if len(q.jurisdictions) < 2 {
		return
	}
	all := slices.Clone(q.jurisdictions)
	q.jurisdictions = slices.DeleteFunc(q.jurisdictions, func(country string) bool {
		return slices.ContainsFunc(all, func(part string) bool { return isSubdivision(part, country) })
	})
}

// questionText takes the path of a pasted URL, without /f or /facts in front.
func questionText(q string) string {
	q = strings.TrimSpace(q)
	rest, isURL := cutScheme(q)
	if !isURL {
		return q
	}
	path := urlPath(rest)
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		path = path[:i]
	}
	return path
}

// pathForm recognises a loose key (F§6.3 rule 1): its namespace is a jurisdiction and rest holds the remaining tokens.
func (lex *lexicon) pathForm(text string) (namespace, rest string, ok bool) {
	text = strings.TrimLeft(text, "/")
	first, rest, found := strings.Cut(text, "/")
	if !found || first == "" || strings.ContainsFunc(text, unicode.IsSpace) {
		return "", "", false
	}
	namespace = strings.ToLower(first)
	if namespace == "gb" || strings.HasPrefix(namespace, "gb-") {
		namespace = "uk" + namespace[len("gb"):]
	}
	if _, declared := slices.BinarySearch(lex.namespaces, namespace); !declared && !looksJurisdictional(namespace) {
		return "", "", false
	}
	return namespace, rest, true
}
