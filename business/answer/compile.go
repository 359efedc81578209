package answer

import (
	"slices"
	"strings"

	"sayso/business"
	"sayso/business/answer/language"
	"sayso/jcs"
)

// Compiled is a snapshot compiled for answering: lexicon, trie, values. It is immutable and safe for concurrent use.
type Compiled struct {
	*index
	lexicon   *lexicon
	languages []*language.Language // published languages with a pack, the primary one first; at least one
	foreign   []*language.Language // packs of languages that are not published, by name
	terms     []term
	values    []values           // by record
	profile   map[string]jcs.Raw // profile_attributes
	byType    map[string][]int   // records of a type
	fields    map[string][]attribute
}

// Compile builds it. An error means that the snapshot must not be served.
func Compile(s Snapshot) (*Compiled, error) {
	shipped, err := language.Packs()
	if err != nil {
		return nil, err
	}
	x, err := newIndex(s)
	if err != nil {
		return nil, err
	}
	c := &Compiled{index: x, lexicon: newLexicon(len(x.records)), profile: map[string]jcs.Raw{}, byType: map[string][]int{}, fields: fieldsOfSchema(x.schema)}
	for _, tag := range x.publication.Profile.ContentLanguages {
		if l := shipped[primarySubtag(tag)]; l != nil && !slices.Contains(c.languages, l) {
			c.languages = append(c.languages, l)
		}
	}
	for _, name := range sortedKeys(shipped) {
		if !c.publishes(name) {
			c.foreign = append(c.foreign, shipped[name])
		}
	}
	if len(c.languages) == 0 {
		c.languages = []*language.Language{wordless}
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
	c.lexicon.trim()
	for _, l := range c.languages {
		c.lexicon.index(l)
		c.lexicon.content[l.Pack.Language] = c.titleWords(l)
	}
	return c, nil
}

// wordless stands for the language of a publisher that publishes in none with a pack: titles and names are found, no other word is understood.
var wordless = language.New(&language.Pack{Language: "und", Head: "last"})

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
			read := make([][]language.Token, len(c.languages))
			for k, l := range c.languages {
				read[k] = l.Tokens(text)
				c.addElided(i, l, read[k], own[r.Type][l])
			}
			c.lexicon.addTokens(c.languages, read, entry{kind: language.KindRecord, target: int32(i)})
		}
	}
	return nil
}

// typeWords are the words of each type, cut into tokens, by language.
func (c *Compiled) typeWords() map[string]map[*language.Language][][]language.Token {
	out := map[string]map[*language.Language][][]language.Token{}
	for typ, t := range c.schema.Types {
		out[typ] = map[*language.Language][][]language.Token{}
		wordLists(t.Words, func(lang, word string) {
			for _, l := range c.languages {
				if tokens := l.Tokens(word); l.Pack.Language == lang && len(tokens) > 0 {
					out[typ][l] = append(out[typ][l], tokens)
				}
			}
		})
	}
	return out
}

// addElided enters a title without the word of its own type: "Air conditioning service" as "air conditioning". It is evidence for nothing whole.
func (c *Compiled) addElided(record int, l *language.Language, title []language.Token, words [][]language.Token) {
	for _, own := range words {
		if len(title) <= len(own) {
			continue
		}
		at, rest := len(title)-len(own), title[:len(title)-len(own)]
		if l.Pack.Head == "first" {
			at, rest = 0, title[len(own):]
		}
		stands := true
		for k := range own {
			stands = stands && l.SameWord(own[k].Word, title[at+k].Word)
		}
		if stands {
			c.lexicon.addTokens([]*language.Language{l}, [][]language.Token{rest}, entry{kind: language.KindRecord, target: int32(record), elided: true, lang: l.Pack.Language})
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
	for _, key := range sortedKeys(c.schema.Types) {
		enter(c.schema.Types[key].Words, entry{kind: language.KindType, target: -1, value: key})
	}
	for _, key := range sortedKeys(c.schema.Attributes) {
		switch a := c.schema.Attributes[key]; {
		case a.Kind == "bool" && a.Field == "" && a.ScopedBy == "":
			enter(a.Words, entry{kind: language.KindBool, target: -1, value: key})
		case a.Field != "":
			enter(a.Words, entry{kind: language.KindField, target: -1, value: a.Field})
		default:
			enter(a.Words, entry{kind: language.KindField, target: -1, value: key})
		}
	}
	for _, key := range sortedKeys(c.schema.Profile) {
		if a := c.schema.Profile[key]; a.Kind == "bool" {
			enter(a.Words, entry{kind: language.KindProfile, target: -1, value: key})
		}
	}
	for _, key := range sortedKeys(c.schema.Lists) {
		list := c.schema.Lists[key]
		enter(list.Nouns, entry{kind: language.KindListNoun, target: -1, value: key})
		enter(list.Verbs, entry{kind: language.KindVerb, target: -1, value: key, role: language.RoleOwn})
		terms(&list, c.languages, func(t business.SchemaTerm, listed bool) {
			e := entry{kind: language.KindTerm, target: int32(len(c.terms)), value: key}
			c.terms = append(c.terms, term{list: key, id: t.ID, listed: listed})
			if t.Words == nil {
				c.lexicon.add(c.languages, t.ID, e)
			} else {
				enter(t.Words, e)
			}
		})
	}
	if c.schema.Category != nil {
		enter(c.schema.Category.Words, entry{kind: language.KindCategory, target: -1})
	}
}

// addPublisher enters the names of the business: they refer to it and are evidence for nothing.
func (c *Compiled) addPublisher() {
	p := &c.publication.Profile
	self := entry{kind: language.KindSelf, target: -1}
	names := []string{p.DisplayName, p.LegalName, hostLabel(p.Website)}
	for _, l := range c.languages {
		names = append(names, l.WithoutLegalForm(p.LegalName))
	}
	slices.Sort(names)
	for _, n := range slices.Compact(names) {
		if n != "" {
			c.lexicon.add(c.languages, n, self)
		}
	}
	if p.BusinessCategory != "" {
		c.lexicon.add(c.languages, p.BusinessCategory, entry{kind: language.KindCategory, target: -1})
	}
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
				c.lexicon.add(c.languages, n, entry{kind: language.KindPlace, target: int32(i)})
			}
		}
	}
}

// titleWords are the function words of a language that this publisher's titles use as words of their own ("Take away box").
func (c *Compiled) titleWords(l *language.Language) map[string]bool {
	out := map[string]bool{}
	for _, e := range c.lexicon.entries {
		if e.kind != language.KindRecord {
			continue
		}
		for _, w := range e.words {
			if word := c.lexicon.vocab[w]; l.Function[l.Fold(word)] && !l.Core[l.Fold(word)] {
				out[l.Fold(word)] = true
			}
		}
	}
	return out
}
