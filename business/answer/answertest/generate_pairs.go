package answertest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sayso/business/coverage"
)

// piece is a part of a question of one kind: record, attribute (of the business), trait (boolean of a record), term, day, place, money.
type piece struct {
	kind, text, key string
}

// piecesOf are the pieces that one publisher offers in one language.
func piecesOf(w *World, lang string) map[string][]piece {
	out := map[string][]piece{}
	add := func(kind, text, key string) { out[kind] = append(out[kind], piece{kind, text, key}) }
	for _, it := range items(w) {
		if it.lang == lang {
			add("record", it.name, it.record.Type+"/"+it.record.ID)
		}
	}
	for _, a := range profileWords(w) {
		if a.lang == lang {
			add("attribute", a.name, a.key)
		}
	}
	for _, t := range listTerms(w) {
		add("term", t.name, t.id)
	}
	for _, l := range w.Snapshot.Publication.Profile.Locations {
		if !ownName(w, l.Name) {
			add("place", l.Name, l.ID)
		}
	}
	for _, day := range languages[lang].days {
		add("day", day, day)
	}
	for _, n := range []string{"50", "120"} {
		add("money", n+" "+languages[lang].currency[w.Schema.Attributes["price"].Currency], n)
	}
	return out
}

// base is a frame of a shape to which a piece is attached.
type base struct {
	kind    string
	frames  func(*phrases) []string
	subject string   // kind of the piece that fills {}
	attach  []string // kinds that the shape does not license beside it
}

// bases are the shapes and what none of them licenses beside their own pieces.
var bases = []base{
	{"record", func(l *phrases) []string { return l.exist[:2] }, "record", []string{"day", "place", "term", "attribute", "record"}},
	{"attribute", func(l *phrases) []string { return l.exist[:2] }, "attribute", []string{"day", "place", "term", "attribute", "record", "money"}},
	{"price", func(l *phrases) []string { return l.price[:2] }, "record", []string{"day", "place", "term", "attribute", "record"}},
	{"duration", func(l *phrases) []string { return l.duration[:1] }, "record", []string{"day", "place", "term", "attribute", "record"}},
	{"comparison", func(l *phrases) []string { return l.compare["lt"][:1] }, "record", []string{"day", "place", "term", "attribute", "record"}},
	{"opening", func(l *phrases) []string { return l.openOn[:1] }, "day", []string{"term", "attribute", "record", "money"}},
}

// Pairs makes G8: n pairs of understood pieces joined by a relation that nobody published. Pieces of the same thing are left out.
func Pairs(w *World, rng *rand.Rand, n int) []*Question {
	var all []*Question
	for _, lang := range w.Snapshot.Publication.Profile.ContentLanguages {
		pieces := piecesOf(w, lang)
		for _, b := range bases {
			for _, a := range pieces[b.subject] {
				for _, kind := range b.attach {
					all = append(all, attachedTo(w, lang, b, a, pieces[kind], rng)...)
				}
			}
		}
	}
	rng.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	return all[:min(n, len(all))]
}

// attachedTo joins a subject with each of the pieces, in each frame of the base.
func attachedTo(w *World, lang string, b base, a piece, pieces []piece, rng *rand.Rand) []*Question {
	var out []*Question
	for _, c := range pieces {
		if c.kind == a.kind && c.key == a.key || overlapping(a.text, c.text) {
			continue
		}
		for _, frame := range b.frames(languages[lang]) {
			out = append(out, attached(w, lang, b, frame, a, c, rng))
		}
	}
	return out
}

// overlapping reports that two texts share a word, so that together they may be a name.
func overlapping(a, b string) bool {
	words := strings.Fields(phraseKey(a))
	return slices.ContainsFunc(strings.Fields(phraseKey(b)), func(x string) bool { return slices.Contains(words, x) })
}

// connectors are other words that put two things into a relation.
var connectors = map[string][]string{
	"en": {"without", "near", "before", "after", "during", "like", "instead of", "not", "including", "via", "of", "from", "to", "as", "per", "than", "by", "about", "against", "among"},
	"de": {"ohne", "bei", "vor", "nach", "während", "wie", "statt", "nicht", "von", "zu", "pro", "als", "über", "gegen", "seit", "bis"},
	"es": {"sin", "cerca de", "antes de", "después de", "durante", "como", "en vez de", "no", "de", "a", "por", "que", "sobre", "desde", "hasta"},
}

// separators set a fragment off from the rest of a question.
var separators = []string{", %s", ", %s", "; %s", " (%s)", " - %s", " – %s", ": %s", "? %s"}

func attached(w *World, lang string, b base, frame string, a, c piece, rng *rand.Rand) *Question {
	frame = strings.NewReplacer("N", "500", "U", languages[lang].currency[w.Schema.Attributes["price"].Currency]).Replace(frame)
	frame = strings.Replace(frame, "DAY", "{}", 1)
	before, after := split(frame)
	q := &Question{World: w, Gen: "G8", Kind: b.kind + " x " + c.kind, Lang: lang, Before: before, Entity: a.text, After: after, Want: Want{Rule: Never}, tell: rng.IntN(2) == 0}
	words := languages[lang].preposition[c.kind] + " " + c.text
	switch rng.IntN(6) {
	case 0: // in front: "On Saturday, do you …"
		opening := strings.TrimPrefix(before, "¿")
		q.Before = before[:len(before)-len(opening)] + capital(words, unicode.ToUpper) + ", " + capital(opening, unicode.ToLower)
		q.Kind += " in front"
	case 1:
		frame := separators[rng.IntN(len(separators))]
		q.After = attach(after, fmt.Sprintf(frame, words))
		q.Kind += " behind a mark"
	case 2:
		word := connectors[lang][rng.IntN(len(connectors[lang]))]
		q.After = attach(after, word+" "+c.text)
		q.Kind += " by " + word
	case 3:
		q.After = attach(after, strings.TrimSpace(languages[lang].and)+" "+words)
		q.Kind += " behind a conjunction"
	default:
		q.After = attach(after, words)
	}
	return q
}

// capital changes the case of the first letter.
func capital(text string, to func(rune) rune) string {
	r, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return text
	}
	return string(to(r)) + text[size:]
}

// attach puts words before the final question mark.
func attach(after, words string) string {
	body, mark := after, ""
	if strings.HasSuffix(after, "?") {
		body, mark = after[:len(after)-1], "?"
	}
	if !strings.ContainsAny(words[:1], ",;:? ") {
		words = " " + words
	}
	return strings.TrimRight(body, " ") + words + mark
}

// Conjunctions makes G10: two questions of the same publisher and language in one.
func Conjunctions(pool []*Question, rng *rand.Rand, n int) []*Question {
	groups := map[string][]*Question{}
	var keys []string
	for _, q := range pool {
		if q.Want.Rule == Open {
			continue
		}
		key := q.World.Name + " " + q.Lang
		if groups[key] == nil {
			keys = append(keys, key)
		}
		groups[key] = append(groups[key], q)
	}
	var out []*Question
	for range n {
		group := groups[keys[rng.IntN(len(keys))]]
		a, b := group[rng.IntN(len(group))], group[rng.IntN(len(group))]
		if a.World == b.World {
			out = append(out, Joined(a, b))
		}
	}
	return out
}

// Joined asks two questions in one sentence: resolved exactly when both are.
func Joined(a, b *Question) *Question {
	first := strings.TrimSuffix(a.Text(), "?")
	second := strings.TrimPrefix(b.Text(), "¿")
	if b.Before != "" {
		second = capital(second, unicode.ToLower)
	}
	q := &Question{World: a.World, Gen: "G10", Kind: a.Gen + " " + a.Kind + " AND " + b.Gen + " " + b.Kind, Lang: a.Lang, Before: first + languages[a.Lang].and + second, tell: a.tell}
	if a.Want.Rule != Resolve || b.Want.Rule != Resolve {
		q.Want = Want{Rule: Never}
		return q
	}
	q.Want = Want{Rule: Resolve, Polarity: a.Want.Polarity, Values: append(slices.Clone(a.Want.Values), b.Want.Values...)}
	if p := b.Want.Polarity; p != "" && q.Want.Polarity != "" && p != q.Want.Polarity {
		q.Want.Polarity = "mixed"
	} else if p != "" {
		q.Want.Polarity = p
	}
	return q
}

// Strange makes G11: n questions about things that are nowhere in the samples.
func Strange(w *World, n int) []*Question {
	vocabulary := w.Vocabulary()
	var out []*Question
	for i := 0; len(out) < n; i++ {
		lang := w.Snapshot.Publication.Profile.ContentLanguages[i%len(w.Snapshot.Publication.Profile.ContentLanguages)]
		l := languages[lang]
		name := l.absent[i/2%len(l.absent)]
		unknown := foreign(vocabulary, name)
		if len(unknown) < len(contentWords(name)) {
			continue
		}
		frames := slices.Concat(l.exist, l.price, l.duration, l.otherField[:2])
		before, after := split(frames[i%len(frames)])
		out = append(out, &Question{
			World: w, Gen: "G11", Kind: "absent subject", Lang: lang, Before: before, Entity: name, After: after, Want: Want{Rule: Absent, Status: coverage.NotCovered, Unknown: unknown},
			tell: i%3 == 0,
		})
	}
	return out
}

// contentWords are the words of a text without those of a language.
func contentWords(text string) []string {
	return slices.DeleteFunc(wordsOf(text), func(w string) bool { return common[fold(w)] })
}
