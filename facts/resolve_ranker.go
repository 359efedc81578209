package facts

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// MaxQuery is the most characters of a question or a requested key.
const MaxQuery = 400

// Scores of F§6.4 to F§6.7, in thousandths.
const (
	scoreKey     = 1000
	scoreAlias   = 950
	scoreResolve = 800 // the least that auto-resolves
	scoreLead    = 200 // how far the runner-up stays behind
	scorePart    = 790 // the most for a subdivision of the country that was named

	fullOwn, partOwn     = 900, 700
	fullTopic, partTopic = 450, 350
	partTypo             = 400
)

// Ranked is one entry with its score in thousandths; Entry is its position in RankerInput.Entries.
type Ranked struct {
	Entry   int32
	Score   int
	Matched []string // per unit that hit, in query order (F§6.8)
}

// Ranking is the outcome of one question.
type Ranking struct {
	Hits []Ranked // score descending, then key ascending; at most limit
	Best bool     // Hits[0] resolves (F§6.7)
	Hint string   // one sentence or ""
}

// Ranker ranks the entries of one publisher (F§6): tokens, units, scores, order and the rule of auto-resolution. It is immutable and safe for concurrent
// use. The server and the reading client of a static publisher run the same one over the same input, so they answer alike.
type Ranker struct {
	index
	*lexicon
	catalogue *catalogue // nil in a snapshot, which has its own look-up
	scratch   sync.Pool  // of *search
}

// maxEntryText bounds the key and the label of an entry of somebody else's index, in bytes; a label has at most 120 characters.
const maxEntryText = 4096

// NewRanker builds a ranker. The entries must be sorted by key bytes without repetition, with texts of at most 4 KiB; the error names the first that is not.
func NewRanker(in RankerInput) (*Ranker, error) {
	for i := range in.Entries {
		e := &in.Entries[i]
		if i > 0 && in.Entries[i-1].Key >= e.Key {
			return nil, fmt.Errorf("ranker: key %s follows %s; sort the entries by key bytes, each key once", quote(e.Key), quote(in.Entries[i-1].Key))
		}
		if len(e.Key) > maxEntryText || len(e.Label) > maxEntryText {
			return nil, fmt.Errorf("ranker: key or label of %s is longer than %d bytes", quote(e.Key), maxEntryText)
		}
	}
	r := buildRanker(&in)
	r.catalogue = newCatalogue(&in)
	return r, nil
}

func buildRanker(in *RankerInput) *Ranker {
	r := &Ranker{lexicon: newLexicon(in)}
	r.index.build(in, r.lexicon)
	r.scratch.New = func() any { return new(search) }
	return r
}

// Rank ranks the entries for a question or a loose key; a limit below 1 is read as 1. A namespace other than "" leaves only its entries and those of its
// subdivisions. Nothing is found for an empty q and for one of more than MaxQuery characters.
func (r *Ranker) Rank(q, namespace string, limit int) Ranking {
	return r.rank(q, namespace, limit, r.catalogue.find)
}

// rank is Rank with a look-up for keys and aliases.
func (r *Ranker) rank(q, namespace string, limit int, find func(string) (entry int32, alias, ok bool)) Ranking {
	if namespace != "" && !r.known(namespace) {
		return Ranking{Hint: "unknown namespace " + quote(namespace) + "; declared: " + strings.Join(r.namespaces, ", ")}
	}
	if utf8.RuneCountInString(q) > MaxQuery {
		return Ranking{}
	}
	s := r.scratch.Get().(*search)
	defer r.scratch.Put(s)
	s.exact, s.exactScore = -1, 0
	key, _ := NormalizeKey(q, func(k string) bool { _, _, ok := find(k); return ok })
	if entry, alias, ok := find(key); ok && r.holds(namespace, entry) {
		s.exact, s.exactScore = entry, scoreKey
		if alias {
			s.exactScore = scoreAlias
		}
	}
	s.query.read(r.lexicon, q)
	s.run(r, namespace, max(limit, 2)) // the rule of F§6.7 looks at two
	return s.ranking(r, q, max(limit, 1))
}

// known reports whether a namespace is declared or in use, itself or in a subdivision.
func (r *Ranker) known(namespace string) bool {
	if _, declared := slices.BinarySearch(r.lexicon.namespaces, namespace); declared {
		return true
	}
	return len(r.within(nil, namespace)) > 0
}

// holds reports whether an entry passes the namespace filter.
func (r *Ranker) holds(namespace string, entry int32) bool {
	return namespace == "" || slices.ContainsFunc(r.within(nil, namespace), func(n namespaceRun) bool { return n.lo <= entry && entry < n.hi })
}

// ranking turns the best entries of a search into the answer.
func (s *search) ranking(r *Ranker, q string, limit int) Ranking {
	var out Ranking
	if s.exact >= 0 {
		matched := "key"
		if s.exactScore == scoreAlias {
			matched = "alias"
		}
		out.Best = true
		out.Hits = append(out.Hits, Ranked{s.exact, s.exactScore, []string{matched}})
	} else if len(s.top) > 0 && s.top[0].score >= scoreResolve {
		out.Best = len(s.top) == 1 || s.top[1].score < scoreResolve && s.top[0].score-s.top[1].score >= scoreLead
	}
	top := s.top[:min(len(s.top), limit-len(out.Hits))]
	out.Hits = slices.Grow(out.Hits, len(top))
	texts := make([]string, 0, len(top)*len(s.sequence)) // one array for all entries
	for _, h := range top {
		from := len(texts)
		texts = s.appendMatched(texts, &r.index, h.entry)
		out.Hits = append(out.Hits, Ranked{h.entry, int(h.score), texts[from:len(texts):len(texts)]})
	}
	if !out.Best {
		out.Hint = s.hint(q)
	}
	return out
}

// hint says what to do next when nothing resolves.
func (s *search) hint(q string) string {
	if hint := periodHint(q); hint != "" {
		return hint
	}
	if len(s.top) > 1 && s.top[0].score >= scoreResolve {
		return "several keys fit: pick one and call get with it"
	}
	return ""
}

// catalogue finds keys and aliases for a ranker that stands alone.
type catalogue struct {
	entries []RankerEntry
	aliases map[string]int32
	gb      bool
	areas   map[string][]int32 // area -> its topics, nil without the changelog class
	topics  []RankerTopic
	byTopic map[string]int32 // prefix -> topic
}

func newCatalogue(in *RankerInput) *catalogue {
	c := &catalogue{entries: in.Entries, aliases: make(map[string]int32), topics: in.Topics, byTopic: topicsByPrefix(in.Topics)}
	for i := range in.Entries {
		for _, alias := range in.Entries[i].Aliases {
			if _, taken := c.aliases[alias]; !taken {
				c.aliases[alias] = int32(i)
			}
		}
	}
	c.gb = slices.Contains(in.AliasClasses, AliasClassGB)
	if slices.Contains(in.AliasClasses, AliasClassChangelog) {
		c.areas = make(map[string][]int32)
		for i, t := range in.Topics {
			c.areas[t.Area] = append(c.areas[t.Area], int32(i))
		}
	}
	return c
}

// find looks a normalised string up as a key, an explicit alias, then as an alias by class (F§2.2).
func (c *catalogue) find(key string) (entry int32, alias, ok bool) {
	if i, ok := c.key(key); ok {
		return i, false, true
	}
	if i, ok := c.aliases[key]; ok {
		return i, true, true
	}
	if area, rest, changelog := strings.Cut(key, ":"); changelog {
		return c.changelogAlias(area, rest)
	}
	if c.gb && (strings.HasPrefix(key, "gb/") || strings.HasPrefix(key, "gb-")) {
		i, ok := c.key("uk" + key[len("gb"):])
		return i, ok, ok
	}
	return 0, false, false
}

func (c *catalogue) key(key string) (int32, bool) {
	i, ok := slices.BinarySearchFunc(c.entries, key, func(e RankerEntry, key string) int { return strings.Compare(e.Key, key) })
	return int32(i), ok
}

// changelogAlias finds the entry of an area whose key without the namespace is rest.
func (c *catalogue) changelogAlias(area, rest string) (entry int32, alias, ok bool) {
	if area == "" {
		return 0, false, false
	}
	for _, t := range c.areas[area] {
		i, ok := c.key(KeyNamespace(c.topics[t].Prefix) + "/" + rest)
		if !ok {
			continue
		}
		if topic := topicOf(c.byTopic, c.entries[i].Key); topic >= 0 && c.topics[topic].Area == area {
			return i, true, true
		}
	}
	return 0, false, false
}

// topicsByPrefix keeps the first topic of each prefix.
func topicsByPrefix(topics []RankerTopic) map[string]int32 {
	m := make(map[string]int32, len(topics))
	for i := range topics {
		if _, taken := m[topics[i].Prefix]; !taken {
			m[topics[i].Prefix] = int32(i)
		}
	}
	return m
}

// topicOf is the topic with the longest prefix that is the key or whole leading segments of it, -1 when there is none.
func topicOf(byPrefix map[string]int32, key string) int32 {
	for end := len(key); end > 0; end = strings.LastIndexByte(key[:end], '/') {
		if t, ok := byPrefix[key[:end]]; ok {
			return t
		}
	}
	return -1
}
