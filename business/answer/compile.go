package answer

import (
	"slices"
	"strings"

	"sayso/business"
	"sayso/jcs"
)

// Compiled is a snapshot compiled for answering: lexicon, trie, values. It is immutable and safe for concurrent use.
type Compiled struct {
	*index
	lexicon   *lexicon
	languages []*language // published languages with a pack, the primary one first; at least one
	packs     map[string]*language
	terms     []term
	values    []values           // by record
	profile   map[string]jcs.Raw // profile_attributes
	byType    map[string][]int   // records of a type
}

// Compile builds it. An error means that the snapshot must not be served.
func Compile(s Snapshot) (*Compiled, error) {
	shipped, err := packs()
	if err != nil {
		return nil, err
	}
	x, err := newIndex(s)
	if err != nil {
		return nil, err
	}
	c := &Compiled{index: x, lexicon: newLexicon(), packs: shipped, profile: map[string]jcs.Raw{}, byType: map[string][]int{}}
	for _, tag := range x.publication.Profile.ContentLanguages {
		if l := shipped[primarySubtag(tag)]; l != nil && !slices.Contains(c.languages, l) {
			c.languages = append(c.languages, l)
		}
	}
	if len(c.languages) == 0 {
		c.languages = []*language{wordless}
	}
	if raw := x.publication.Profile.ProfileAttributes; raw != nil {
		members, err := business.Members(raw)
		if err != nil {
			return nil, err
		}
		for _, m := range members {
			c.profile[m.Name] = m.Value
		}
	}
	if err := c.addTitles(); err != nil {
		return nil, err
	}
	c.addSchema()
	c.addPublisher()
	c.addPlaceNames()
	for _, l := range c.languages {
		c.lexicon.index(l)
		c.lexicon.content[l.pack.Language] = c.titleWords(l)
	}
	return c, nil
}

// wordless stands for the language of a publisher that publishes in none with a pack: titles and names are found, no other word is understood.
var wordless = newLanguage(&Pack{Language: "und", Head: "last"})

// primarySubtag is the language of a BCP 47 tag.
func primarySubtag(tag string) string {
	primary, _, _ := strings.Cut(strings.ToLower(tag), "-")
	return primary
}

// publishes reports whether content is published in a language.
func (c *Compiled) publishes(lang string) bool {
	return slices.ContainsFunc(c.publication.Profile.ContentLanguages, func(tag string) bool { return primarySubtag(tag) == lang })
}

// addTitles enters titles and aliases, and reads the values of the records.
func (c *Compiled) addTitles() error {
	c.values = make([]values, len(c.records))
	own := c.typeWords()
	for i := range c.records {
		r := &c.records[i]
		v, err := readValues(c.schema, r)
		if err != nil {
			return err
		}
		c.values[i] = v
		c.byType[r.Type] = append(c.byType[r.Type], i)
		for _, text := range append([]string{r.Title}, r.Aliases...) {
			read := make([][]token, len(c.languages))
			for k, l := range c.languages {
				read[k] = l.tokens(text)
				c.addElided(i, l, read[k], own[r.Type][l])
			}
			c.lexicon.addTokens(c.languages, read, entry{kind: kindRecord, target: int32(i)})
		}
	}
	return nil
}

// typeWords are the words of each type, cut into tokens, by language.
func (c *Compiled) typeWords() map[string]map[*language][][]token {
	out := map[string]map[*language][][]token{}
	for typ, t := range c.schema.Types {
		out[typ] = map[*language][][]token{}
		wordLists(t.Words, func(lang, word string) {
			for _, l := range c.languages {
				if tokens := l.tokens(word); l.pack.Language == lang && len(tokens) > 0 {
					out[typ][l] = append(out[typ][l], tokens)
				}
			}
		})
	}
	return out
}

// addElided enters a title without the word of its own type: "Air conditioning service" as "air conditioning". It is evidence for nothing whole.
func (c *Compiled) addElided(record int, l *language, title []token, words [][]token) {
	for _, own := range words {
		if len(title) <= len(own) {
			continue
		}
		at, rest := len(title)-len(own), title[:len(title)-len(own)]
		if l.pack.Head == "first" {
			at, rest = 0, title[len(own):]
		}
		stands := true
		for k := range own {
			stands = stands && l.sameWord(own[k].word, title[at+k].word)
		}
		if stands {
			c.lexicon.addTokens([]*language{l}, [][]token{rest}, entry{kind: kindRecord, target: int32(record), elided: true, lang: l.pack.Language})
		}
	}
}

// addSchema enters the publisher's vocabulary.
func (c *Compiled) addSchema() {
	enter := func(words map[string][]string, e entry) {
		wordLists(words, func(lang, surface string) {
			own := e
			own.lang = lang
			c.lexicon.add(c.languages, surface, own)
		})
	}
	for _, key := range keysOf(c.schema.Types) {
		enter(c.schema.Types[key].Words, entry{kind: kindType, target: -1, value: key})
	}
	for _, key := range keysOf(c.schema.Attributes) {
		switch a := c.schema.Attributes[key]; {
		case a.Kind == "bool" && a.Field == "" && a.ScopedBy == "":
			enter(a.Words, entry{kind: kindBool, target: -1, value: key})
		case a.Field != "":
			enter(a.Words, entry{kind: kindField, target: -1, value: a.Field})
		default:
			enter(a.Words, entry{kind: kindField, target: -1, value: key})
		}
	}
	for _, key := range keysOf(c.schema.Profile) {
		if a := c.schema.Profile[key]; a.Kind == "bool" {
			enter(a.Words, entry{kind: kindProfile, target: -1, value: key})
		}
	}
	for _, key := range keysOf(c.schema.Lists) {
		list := c.schema.Lists[key]
		enter(list.Nouns, entry{kind: kindListNoun, target: -1, value: key})
		enter(list.Verbs, entry{kind: kindVerb, target: -1, value: key, role: roleOwn})
		terms(&list, c.languages, func(t business.SchemaTerm, listed bool) {
			e := entry{kind: kindTerm, target: int32(len(c.terms)), value: key}
			c.terms = append(c.terms, term{list: key, id: t.ID, listed: listed})
			if t.Words == nil {
				c.lexicon.add(c.languages, t.ID, e)
			} else {
				enter(t.Words, e)
			}
		})
	}
	if c.schema.Category != nil {
		enter(c.schema.Category.Words, entry{kind: kindCategory, target: -1})
	}
}

// addPublisher enters the names of the business: they refer to it and are evidence for nothing.
func (c *Compiled) addPublisher() {
	p := &c.publication.Profile
	self := entry{kind: kindSelf, target: -1}
	names := []string{p.DisplayName, p.LegalName, hostLabel(p.Website)}
	for _, l := range c.languages {
		names = append(names, l.withoutLegalForm(p.LegalName))
	}
	slices.Sort(names)
	for _, n := range slices.Compact(names) {
		if n != "" {
			c.lexicon.add(c.languages, n, self)
		}
	}
	if p.BusinessCategory != "" {
		c.lexicon.add(c.languages, p.BusinessCategory, entry{kind: kindCategory, target: -1})
	}
}

// withoutLegalForm cuts Ltd, GmbH and the like from the end of a name.
func (l *language) withoutLegalForm(name string) string {
	tokens := l.tokens(name)
	n := len(tokens)
	for n > 1 && slices.Contains(l.pack.LegalSuffixes, tokens[n-1].plain) {
		n--
	}
	if n == len(tokens) || n == 0 {
		return ""
	}
	return name[:tokens[n-1].to]
}

// hostLabel is the first label of the host of an address that is not www.
func hostLabel(website string) string {
	_, rest, ok := strings.Cut(website, "://")
	if !ok {
		return ""
	}
	host, _, _ := strings.Cut(rest, "/")
	label, _, _ := strings.Cut(strings.TrimPrefix(strings.ToLower(host), "www."), ".")
	return label
}

// addPlaceNames enters what names a location.
func (c *Compiled) addPlaceNames() {
	for i := range c.places {
		p := &c.places[i]
		names := []string{p.Name, p.Locality, p.PostalCode}
		slices.Sort(names)
		for _, n := range slices.Compact(names) {
			if n != "" {
				c.lexicon.add(c.languages, n, entry{kind: kindPlace, target: int32(i)})
			}
		}
	}
}

// titleWords are the function words of a language that this publisher's titles use as words of their own ("Take away box").
func (c *Compiled) titleWords(l *language) map[string]bool {
	out := map[string]bool{}
	for _, e := range c.lexicon.entries {
		if e.kind != kindRecord {
			continue
		}
		for _, w := range e.words {
			if word := c.lexicon.vocab[w]; l.function[l.fold(word)] && !l.core[l.fold(word)] {
				out[l.fold(word)] = true
			}
		}
	}
	return out
}
