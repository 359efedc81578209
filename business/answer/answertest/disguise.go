package answertest

import (
	"math/rand/v2"
	"strings"
	"unicode"

	"sayso/business"
)

// Disguised returns a copy in which every word that the publisher chose is a made-up one, the same for the same word: what was learnt about the samples'
// own words does not help there. Words of a language, words with digits and a final s stay.
func (w *World) Disguised(rng *rand.Rand) *World {
	d := disguise{rng, map[string]string{}}
	return w.Change(func(c *World) {
		p := &c.Snapshot.Publication.Profile
		p.DisplayName, p.LegalName = d.text(p.DisplayName), d.text(p.LegalName)
		for i := range p.Locations {
			l := &p.Locations[i]
			l.Name, l.Locality = d.text(l.Name), d.text(l.Locality)
		}
		names := map[string]string{}
		for i := range c.Snapshot.Records {
			r := &c.Snapshot.Records[i]
			r.Title = d.text(r.Title)
			for k, alias := range r.Aliases {
				r.Aliases[k] = d.text(alias)
				names[r.Aliases[k]] = c.names[alias]
			}
		}
		c.names = names
		d.schema(c.Schema)
	})
}

type disguise struct {
	rng   *rand.Rand
	words map[string]string
}

func (d disguise) schema(s *business.Schema) {
	for key, t := range s.Types {
		d.surfaces(t.Words)
		s.Types[key] = t
	}
	for _, attributes := range []map[string]business.SchemaAttribute{s.Attributes, s.Profile} {
		for _, key := range sorted(attributes) {
			d.surfaces(attributes[key].Words)
		}
	}
	for _, key := range sorted(s.Lists) {
		l := s.Lists[key]
		d.surfaces(l.Nouns)
		d.surfaces(l.Verbs)
		d.terms(l.Values)
		if l.Domain != nil {
			d.terms(l.Domain.Terms)
		}
		s.Lists[key] = l
	}
	if s.Category != nil {
		d.surfaces(s.Category.Words)
	}
}

func (d disguise) surfaces(words map[string][]string) {
	for _, lang := range sorted(words) {
		for i, text := range words[lang] {
			words[lang][i] = d.text(text)
		}
	}
}

func (d disguise) terms(list []business.SchemaTerm) {
	for i := range list {
		list[i].ID = d.text(list[i].ID)
		d.surfaces(list[i].Words)
	}
}

// text replaces the words of a text and keeps what stands between them.
func (d disguise) text(text string) string {
	var out, word strings.Builder
	flush := func() {
		out.WriteString(d.word(word.String()))
		word.Reset()
	}
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			word.WriteRune(r)
			continue
		}
		flush()
		out.WriteRune(r)
	}
	flush()
	return out.String()
}

func (d disguise) word(word string) string {
	lower := strings.ToLower(word)
	if len(word) < 2 || strings.ContainsFunc(word, unicode.IsDigit) || common[fold(lower)] {
		return word
	}
	base, plural := strings.CutSuffix(lower, "s")
	if d.words[base] == "" {
		var b strings.Builder
		for range 3 {
			b.WriteByte("bdfgklmptvz"[d.rng.IntN(11)])
			b.WriteByte("aou"[d.rng.IntN(3)])
		}
		d.words[base] = b.String() + "k"
	}
	made := d.words[base]
	if plural {
		made += "s"
	}
	if r := []rune(word)[0]; unicode.IsUpper(r) {
		made = capital(made, unicode.ToUpper)
	}
	return made
}
