package facts

import (
	"slices"
	"sort"
	"strings"
)

// index is the inverted index of a catalogue. Everything that grows with the catalogue is a flat array: a posting is four bytes, a vocabulary word its text
// and eight bytes, and nothing is kept per fact.
//
// A posting is entry<<1, plus 1 when the token stands in the key and not only in the label. Postings of one token ascend.
type index struct {
	entries  int32
	text     string   // all vocabulary words, in byte order
	offsets  []uint32 // word i is text[offsets[i]:offsets[i+1]]
	postings []uint32
	starts   []uint32 // the postings of word i are postings[starts[i]:starts[i+1]]
	typos    trie

	titles map[int32][]span // word -> the entries whose topic title holds it
	spaces []namespaceRun   // the namespaces in use, by name
}

// span is a half-open range of entries.
type span struct{ lo, hi int32 }

// namespaceRun is a namespace with its entries: keys are sorted, so they are contiguous.
type namespaceRun struct {
	name string
	span
}

// posting flags.
const inKey = 1

// word is vocabulary word i.
func (x *index) word(i int32) string { return x.text[x.offsets[i]:x.offsets[i+1]] }

// find is the vocabulary word equal to a token, -1 when there is none.
func (x *index) find(token string) int32 {
	n := len(x.offsets) - 1
	i := sort.Search(n, func(i int) bool { return x.word(int32(i)) >= token })
	if i == n || x.word(int32(i)) != token {
		return -1
	}
	return int32(i)
}

// own is the postings of a word: the entries with it in key or label.
func (x *index) own(i int32) []uint32 { return x.postings[x.starts[i]:x.starts[i+1]] }

// within appends the runs of a namespace and of its subdivisions.
func (x *index) within(dst []namespaceRun, namespace string) []namespaceRun {
	from := sort.Search(len(x.spaces), func(i int) bool { return x.spaces[i].name >= namespace })
	for _, s := range x.spaces[from:] {
		if !strings.HasPrefix(s.name, namespace) {
			break
		}
		if s.name == namespace || isSubdivision(s.name, namespace) {
			dst = append(dst, s)
		}
	}
	return dst
}

// build indexes the entries, then the synonyms of the lexicon.
func (x *index) build(in *RankerInput, lex *lexicon) {
	b := indexBuilder{ids: make(map[string]int32), lex: lex}
	x.entries = int32(len(in.Entries))
	for i := range in.Entries {
		b.addEntry(&in.Entries[i])
	}
	for i := range in.Topics {
		b.addWords(in.Topics[i].Title)
	}
	for _, same := range lex.phrases {
		for i := range same {
			for _, token := range same[i].tokens {
				b.id(token)
			}
		}
	}
	b.fill(x)
	x.typos = newTrie(x)
	x.fillSpaces(in.Entries)
	x.fillTitles(in, lex)
	x.fillSynonyms(in, lex)
}

// indexBuilder numbers tokens in order of appearance and notes the tokens of each entry.
type indexBuilder struct {
	ids    map[string]int32
	tokens []string
	lex    *lexicon

	found []uint32 // token<<1|inKey of all entries, entry by entry
	ends  []int    // where the tokens of each entry end in found
	words []word
}

func (b *indexBuilder) id(token string) int32 {
	id, ok := b.ids[token]
	if !ok {
		id = int32(len(b.tokens))
		b.ids[token] = id
		b.tokens = append(b.tokens, token)
	}
	return id
}

// addWords numbers the tokens of a text without its stop words and returns them.
func (b *indexBuilder) addWords(text string) []word {
	b.words = slices.DeleteFunc(appendWords(b.words[:0], foldText(text)), func(w word) bool { return b.lex.stopWords[w.lower] })
	for i := range b.words {
		b.id(b.words[i].stem)
	}
	return b.words
}

func (b *indexBuilder) addEntry(e *RankerEntry) {
	start := len(b.found)
	for _, w := range b.addWords(e.Key) {
		b.note(start, uint32(b.id(w.stem))<<1|inKey)
	}
	for _, w := range b.addWords(e.Label) {
		b.note(start, uint32(b.id(w.stem))<<1)
	}
	b.ends = append(b.ends, len(b.found))
}

// note records a token once per entry; the key comes first, so its flag stays.
func (b *indexBuilder) note(start int, token uint32) {
	for _, have := range b.found[start:] {
		if have>>1 == token>>1 {
			return
		}
	}
	b.found = append(b.found, token)
}

// fill sorts the vocabulary and lays the postings out by word.
func (b *indexBuilder) fill(x *index) {
	order := make([]int32, len(b.tokens))
	size := 0
	for i, token := range b.tokens {
		order[i] = int32(i)
		size += len(token)
	}
	slices.SortFunc(order, func(a, c int32) int { return strings.Compare(b.tokens[a], b.tokens[c]) })
	rank := make([]int32, len(order))
	var text strings.Builder
	text.Grow(size)
	x.offsets = make([]uint32, 1, len(order)+1)
	for i, id := range order {
		rank[id] = int32(i)
		text.WriteString(b.tokens[id])
		x.offsets = append(x.offsets, uint32(text.Len()))
	}
	x.text = text.String()

	x.starts = make([]uint32, len(order)+1)
	for _, token := range b.found {
		x.starts[rank[token>>1]+1]++
	}
	for i := range order {
		x.starts[i+1] += x.starts[i]
	}
	x.postings = make([]uint32, len(b.found))
	next := slices.Clone(x.starts)
	at := 0
	for entry, end := range b.ends {
		for _, token := range b.found[at:end] {
			word := rank[token>>1]
			x.postings[next[word]] = uint32(entry)<<1 | token&inKey
			next[word]++
		}
		at = end
	}
}

func (x *index) fillSpaces(entries []RankerEntry) {
	for i := range entries {
		name := KeyNamespace(entries[i].Key)
		if last := len(x.spaces) - 1; last >= 0 && x.spaces[last].name == name {
			x.spaces[last].hi++
			continue
		}
		x.spaces = append(x.spaces, namespaceRun{name, span{int32(i), int32(i) + 1}})
	}
	slices.SortFunc(x.spaces, func(a, b namespaceRun) int { return strings.Compare(a.name, b.name) }) // uk-sct/… stands before uk/…
}

// fillTitles gives each word of a title the entries of its topics, as ranges.
func (x *index) fillTitles(in *RankerInput, lex *lexicon) {
	b := indexBuilder{ids: make(map[string]int32), lex: lex}
	words := make([][]int32, len(in.Topics))
	for i := range in.Topics {
		for _, w := range b.addWords(in.Topics[i].Title) {
			if id := x.find(w.stem); !slices.Contains(words[i], id) {
				words[i] = append(words[i], id)
			}
		}
	}
	x.titles = make(map[int32][]span)
	byPrefix := topicsByPrefix(in.Topics)
	for i := range in.Entries {
		topic := topicOf(byPrefix, in.Entries[i].Key)
		if topic < 0 {
			continue
		}
		for _, word := range words[topic] {
			x.titles[word] = extend(x.titles[word], int32(i))
		}
	}
}

// extend adds the next entry to ascending spans.
func extend(spans []span, entry int32) []span {
	if last := len(spans) - 1; last >= 0 && spans[last].hi == entry {
		spans[last].hi++
		return spans
	}
	return append(spans, span{entry, entry + 1})
}

// fillSynonyms finds what each synonym hits (F§6.4): entries under its topic with a key segment that holds the expansion, and entries with all its words.
func (x *index) fillSynonyms(in *RankerInput, lex *lexicon) {
	type target struct{ prefix, expansion string }
	expanded := make(map[target][]uint32)
	for i := range in.Topics {
		for text, expansion := range in.Topics[i].Synonyms {
			p := lex.synonym(stems(text))
			if p == nil {
				continue
			}
			t := target{in.Topics[i].Prefix, expansion}
			hits, ok := expanded[t]
			if !ok {
				hits = x.expand(in.Entries, t.prefix, stems(expansion), lex)
				expanded[t] = hits
			}
			p.postings = append(p.postings, hits...)
		}
	}
	for _, same := range lex.phrases {
		for i := range same {
			if p := &same[i]; p.kind == phraseSynonym {
				p.postings = append(p.postings, x.holdingAll(p.tokens)...)
				slices.Sort(p.postings)
				p.postings = slices.Clip(slices.Compact(p.postings))
			}
		}
	}
}

// synonym is the phrase of a synonym's tokens, nil when it has none.
func (lex *lexicon) synonym(tokens []string) *phrase {
	if len(tokens) == 0 {
		return nil
	}
	same := lex.phrases[tokens[0]]
	return &same[slices.IndexFunc(same, func(p phrase) bool { return p.kind == phraseSynonym && slices.Equal(p.tokens, tokens) })]
}

// expand is the entries under a prefix with a key segment that holds words as a contiguous run. The rarest word says where to look; a word that stems like
// a stop word does not count for that, because its postings lack the entries that hold the stop word.
func (x *index) expand(entries []RankerEntry, prefix string, words []string, lex *lexicon) (hits []uint32) {
	if len(words) == 0 {
		return nil
	}
	var rarest []uint32
	for _, w := range words {
		if id := x.find(w); id >= 0 && !lex.stopStems[w] && (rarest == nil || len(x.own(id)) < len(rarest)) {
			rarest = x.own(id)
		}
	}
	for _, s := range spansUnder(entries, prefix) {
		for i := s.lo; i < s.hi; i++ {
			if rarest != nil {
				at := sort.Search(len(rarest), func(at int) bool { return rarest[at] >= uint32(i)<<1 })
				if rarest = rarest[at:]; len(rarest) == 0 {
					break
				}
				i = max(i, int32(rarest[0]>>1))
			}
			if i < s.hi && keyHolds(entries[i].Key, words) {
				hits = append(hits, uint32(i)<<1)
			}
		}
	}
	return hits
}

// spansUnder is the entries whose key is the prefix or has it as whole leading segments, ascending.
func spansUnder(entries []RankerEntry, prefix string) []span {
	from := func(key string) int32 {
		return int32(sort.Search(len(entries), func(i int) bool { return entries[i].Key >= key }))
	}
	at := from(prefix)
	spans := []span{{at, at}, {from(prefix + "/"), from(prefix + "0")}} // "0" follows "/"
	if int(at) < len(entries) && entries[at].Key == prefix {
		spans[0].hi++
	}
	return spans
}

// keyHolds reports whether a key segment holds words as a contiguous run.
func keyHolds(key string, words []string) bool {
	for segment := range strings.SplitSeq(key, "/") {
		if holdsRun(stems(segment), words) {
			return true
		}
	}
	return false
}

func holdsRun(words, run []string) bool {
	for i := 0; i+len(run) <= len(words); i++ {
		if slices.Equal(words[i:i+len(run)], run) {
			return true
		}
	}
	return false
}

// holdingAll is the entries that hold every token in key or label.
func (x *index) holdingAll(tokens []string) (hits []uint32) {
	for i, token := range tokens {
		own := x.own(x.find(token)) // every token of a phrase is in the vocabulary
		if i == 0 {
			for _, p := range own {
				hits = append(hits, p&^inKey)
			}
			continue
		}
		hits = slices.DeleteFunc(hits, func(p uint32) bool { return !holds(own, int32(p>>1)) })
	}
	return hits
}

// holds reports whether postings name an entry.
func holds(postings []uint32, entry int32) bool {
	_, ok := posting(postings, entry)
	return ok
}

// posting finds the posting of an entry.
func posting(postings []uint32, entry int32) (p uint32, ok bool) {
	i := sort.Search(len(postings), func(i int) bool { return postings[i] >= uint32(entry)<<1 })
	if i == len(postings) || postings[i]>>1 != uint32(entry) {
		return 0, false
	}
	return postings[i], true
}
