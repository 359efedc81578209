package answer

import (
	"cmp"
	"slices"
	"strings"

	"sayso/business"
	"sayso/business/answer/language"
)

// priority orders the kinds where nothing else decides between two readings of the same words; lower wins.
var priority = map[language.Kind]int{
	language.KindSelf: 0, language.KindRecord: 1, language.KindTerm: 2, language.KindProfile: 3, language.KindBool: 3, language.KindPlace: 4, language.KindField: 5, language.KindComparison: 2, language.KindLiteral: 5, language.KindWeekday: 5,
	language.KindDate: 5, language.KindTime: 5, language.KindRelative: 5, language.KindHoliday: 5, language.KindState: 6, language.KindType: 6, language.KindListNoun: 7, language.KindCategory: 8, language.KindNearest: 9, language.KindFree: 9,
	language.KindVerb: 9, language.KindNegation: 9, language.KindConjunction: 9, language.KindAnaphor: 9, language.KindSelector: 9, language.KindPlaceNoun: 9, language.KindCourtesy: 9, language.KindContent: 3, language.KindQuestion: 10,
}

// match says how a published text agrees with the words asked, best first.
type match uint8

const (
	matchExact match = iota
	matchInflection
	matchSameSet
	matchNarrower
	matchElided
)

var matchNames = [...]string{"exact", "inflection", "same_set", "narrower", "type_elided"}

func (m match) String() string { return matchNames[m] }

// full reports whether the published text is asked whole: evidence for existence and values.
func (m match) full() bool { return m <= matchSameSet }

// entry is one published text under which something is found.
type entry struct {
	kind   language.Kind
	target int32   // record, place or term index; -1 for none
	value  string  // field, type, list or attribute key
	lang   string  // "" for every language
	words  []int32 // vocabulary
	breaks uint32  // bit i: punctuation before word i
	elided bool    // without the word of its type
	role   language.Role
	set    []int32 // content words in order; records, terms and attributes only
	head   int32   // content word that the others narrow, -1 for none
}

// lexicon finds entries by the words of a question.
type lexicon struct {
	entries []entry
	vocab   []string
	number  map[string]int32
	trie    map[edgeKey]int32   // node and word -> node
	ends    map[int32][]int32   // node -> entries
	sets    map[string][]int32  // same set of content words
	heads   map[int32][]int32   // head word -> entries
	owners  map[int32][]int32   // content word -> entries that have a head
	keys    map[string]wordKeys // by language: stem -> words
	nodes   int32
	content map[string]map[string]bool // by language: function words that titles of this publisher use
}

type wordKeys map[string][]int32

type edgeKey struct{ node, word int32 }

// newLexicon makes room for about as many texts; what is short is added.
func newLexicon(texts int) *lexicon {
	return &lexicon{
		entries: make([]entry, 0, texts), vocab: make([]string, 0, texts), number: make(map[string]int32, texts), trie: make(map[edgeKey]int32, 2*texts),
		ends: make(map[int32][]int32, texts), sets: make(map[string][]int32, texts), heads: map[int32][]int32{}, owners: make(map[int32][]int32, texts),
		keys: map[string]wordKeys{}, nodes: 1, content: map[string]map[string]bool{},
	}
}

// word numbers a word.
func (x *lexicon) word(w string) int32 {
	n, ok := x.number[w]
	if !ok {
		n = int32(len(x.vocab))
		x.number[w], x.vocab = n, append(x.vocab, w)
	}
	return n
}

// add enters a published text in the ways the languages write it. e says what it is; words, breaks, set and head are filled here. What all languages read in
// the same way is one entry.
func (x *lexicon) add(languages []*language.Language, text string, e entry) {
	read := make([][]language.Token, len(languages))
	for i, l := range languages {
		if e.lang == "" || e.lang == l.Pack.Language {
			read[i] = l.Tokens(text)
		}
	}
	x.addTokens(languages, read, e)
}

// addTokens is add for a text that each language has cut into tokens.
func (x *lexicon) addTokens(languages []*language.Language, read [][]language.Token, e entry) {
	var readings []entry
	same, first := true, -1 // first: how many readings the first language has
	for i, l := range languages {
		if e.lang != "" && e.lang != l.Pack.Language {
			continue
		}
		variants := [][]language.Token{read[i]}
		if joined := joinHyphens(read[i]); len(joined) < len(read[i]) {
			variants = append(variants, joined)
		}
		n := 0
		for _, variant := range variants {
			own := e
			own.words, own.breaks = x.wordsOf(variant)
			if len(own.words) == 0 || len(own.words) > maxEntryWords {
				continue
			}
			own.set, own.head = x.contentOf(l, variant, own.words)
			own.lang = l.Pack.Language
			same = same && (first < 0 || n < first && readings[n].alike(&own))
			readings = append(readings, own)
			n++
		}
		if first < 0 {
			first = n
		}
		same = same && n == first
	}
	if same && first >= 0 {
		readings = readings[:first] // entered once, for all
	}
	for _, own := range readings {
		if same {
			own.lang = e.lang
		}
		x.enter(own)
	}
}

// alike reports whether two languages read a text in the same way.
func (e *entry) alike(o *entry) bool {
	return slices.Equal(e.words, o.words) && slices.Equal(e.set, o.set) && e.head == o.head && e.breaks == o.breaks
}

// maxEntryWords is the longest published text that is found as a whole.
const maxEntryWords = 24

func (x *lexicon) wordsOf(tokens []language.Token) (words []int32, breaks uint32) {
	for i, t := range tokens {
		words = append(words, x.word(t.Word))
		if i > 0 && t.Breaks != 0 {
			breaks |= 1 << i
		}
	}
	return words, breaks
}

// joinHyphens writes hyphenated words as one: check-up, checkup.
func joinHyphens(tokens []language.Token) []language.Token {
	if !slices.ContainsFunc(tokens, func(t language.Token) bool { return t.Hyphen }) {
		return tokens
	}
	var out []language.Token
	for _, t := range tokens {
		if t.Hyphen && len(out) > 0 {
			last := &out[len(out)-1]
			last.Word, last.Plain, last.End, last.To = last.Word+t.Word, last.Plain+t.Plain, t.End, t.To
			continue
		}
		out = append(out, t)
	}
	return out
}

// enter puts an entry into the trie, and what may be found by its content words into the other indexes.
func (x *lexicon) enter(e entry) {
	id := int32(len(x.entries))
	if e.kind == language.KindRecord || e.kind == language.KindTerm || e.kind == language.KindBool || e.kind == language.KindProfile {
		if len(e.words) > 1 && len(e.set) > 0 {
			key := setKey(e.set)
			x.sets[key] = append(x.sets[key], id)
		}
		if e.kind == language.KindRecord && e.head >= 0 && !e.elided {
			x.heads[e.head] = append(x.heads[e.head], id)
			for _, w := range e.set {
				x.owners[w] = append(x.owners[w], id)
			}
		}
	} else {
		e.set = nil
	}
	x.entries = append(x.entries, e)
	node := int32(0)
	for _, w := range e.words {
		next, ok := x.trie[edgeKey{node, w}]
		if !ok {
			next = x.nodes
			x.nodes++
			x.trie[edgeKey{node, w}] = next
		}
		node = next
	}
	x.ends[node] = append(x.ends[node], id)
}

// trim leaves out the entries that no question needs: of those that stand for any question at the same words, one more than options show.
func (x *lexicon) trim() {
	for node, ids := range x.ends {
		if len(ids) > maxCandidates {
			x.ends[node] = x.enough(ids)
		}
	}
	for key, ids := range x.sets {
		if len(ids) > maxCandidates {
			x.sets[key] = x.enough(ids)
		}
	}
}

func (x *lexicon) enough(ids []int32) []int32 {
	type group struct {
		kind        language.Kind
		value, lang string
		breaks      uint32
		elided      bool
		words       string
	}
	type member struct {
		group
		target int32
	}
	many, seen := map[group]int{}, map[member]bool{}
	return slices.DeleteFunc(ids, func(id int32) bool {
		e := &x.entries[id]
		if e.target < 0 {
			return false
		}
		g := group{e.kind, e.value, e.lang, e.breaks, e.elided, setKey(e.words)}
		if many[g] == maxCandidates || seen[member{g, e.target}] {
			return true
		}
		many[g]++
		seen[member{g, e.target}] = true
		return false
	})
}

// contentOf are the distinct content words in the order of their numbers, and the head: the last or first content word, trailing words with a digit or a
// unit left out.
func (x *lexicon) contentOf(l *language.Language, tokens []language.Token, words []int32) (content []int32, head int32) {
	head = -1
	var order []int
	for i, t := range tokens {
		if !l.Core[t.Plain] && !l.And[t.Plain] && t.Word != "&" {
			order = append(order, i)
			content = append(content, words[i])
		}
	}
	slices.Sort(content)
	content = slices.Compact(content)
	for len(order) > 0 && l.Measure(tokens[order[len(order)-1]]) {
		order = order[:len(order)-1]
	}
	switch {
	case len(order) == 0:
	case l.Pack.Head == "first":
		head = words[order[0]]
	default:
		head = words[order[len(order)-1]]
	}
	return content, head
}

// setKey is a sorted set of words as a map key.
func setKey(set []int32) string {
	var b strings.Builder
	for _, w := range set {
		b.Write([]byte{byte(w), byte(w >> 8), byte(w >> 16), byte(w >> 24)})
	}
	return b.String()
}

// index makes the words of the lexicon findable by their forms in a language.
func (x *lexicon) index(l *language.Language) {
	keys := wordKeys{}
	for i, w := range x.vocab {
		for _, k := range l.Keys(w) {
			keys[k] = append(keys[k], int32(i))
		}
	}
	x.keys[l.Pack.Language] = keys
}

// known is one published word that a word of the question is a form of.
type known struct {
	word  int32
	exact bool
}

// find are the published words that a word is a form of, the equal one first.
func (x *lexicon) find(l *language.Language, word string) []known {
	var out []known
	add := func(n int32) {
		if !slices.ContainsFunc(out, func(k known) bool { return k.word == n }) {
			out = append(out, known{n, x.vocab[n] == word})
		}
	}
	if n, ok := x.number[word]; ok {
		add(n)
	}
	if l.And[l.Fold(word)] || word == "&" {
		for _, other := range append(sortedKeys(l.And), "&") {
			if n, ok := x.number[other]; ok {
				add(n)
			}
		}
		return out
	}
	keys := x.keys[l.Pack.Language]
	for _, k := range l.Keys(word) {
		for _, n := range keys[k] {
			if l.SameWord(word, x.vocab[n]) {
				add(n)
			}
		}
	}
	return out
}

// wordLists yields the surfaces of a words map in order.
func wordLists(words map[string][]string, yield func(lang, surface string)) {
	for _, lang := range sortedKeys(words) {
		primary, _, _ := strings.Cut(strings.ToLower(lang), "-")
		for _, s := range words[lang] {
			yield(primary, s)
		}
	}
}

// term is one term of a list: published, or only of its domain.
type term struct {
	list   string
	id     string
	listed bool
}

// terms are the distinct terms of a list: its values, then the rest of its domain.
func terms(l *business.SchemaList, languages []*language.Language, enter func(t business.SchemaTerm, listed bool)) {
	seen := map[string]bool{}
	values := map[string]bool{}
	for _, t := range l.Values {
		values[t.ID] = true
	}
	once := func(t business.SchemaTerm) {
		if !seen[t.ID] {
			seen[t.ID] = true
			enter(t, values[t.ID])
		}
	}
	if d := l.Domain; d != nil {
		for _, t := range d.Terms {
			once(t)
		}
		if d.Taxonomy != "" {
			for _, t := range taxonomy(d.Taxonomy, languages) {
				once(t)
			}
		}
	}
	for _, t := range l.Values {
		once(t)
	}
}

// taxonomy are the terms of a shipped taxonomy with their words in the languages.
func taxonomy(name string, languages []*language.Language) []business.SchemaTerm {
	words := map[string]map[string][]string{}
	for _, l := range languages {
		for key, list := range l.Pack.Taxonomies {
			if id, ok := strings.CutPrefix(key, name+"/"); ok {
				if words[id] == nil {
					words[id] = map[string][]string{}
				}
				words[id][l.Pack.Language] = list
			}
		}
	}
	var out []business.SchemaTerm
	for _, id := range sortedKeys(words) {
		out = append(out, business.SchemaTerm{ID: id, Words: words[id]})
	}
	slices.SortFunc(out, func(a, b business.SchemaTerm) int { return cmp.Compare(a.ID, b.ID) })
	return out
}
