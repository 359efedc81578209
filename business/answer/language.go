package answer

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"sayso/business/coverage"
)

// language is a pack made ready for reading questions.
type language struct {
	pack     *Pack
	folder   *strings.Replacer // nil when no mark may be left out
	function map[string]bool
	core     map[string]bool
	links    map[string]bool
	subjects map[string]bool
	attach   map[string]bool // prepositions
	cues     map[string]bool
	and      map[string]bool
	phrases  map[string][]phrase // by their first word, longest first
	numbers  map[string]string   // number word -> literal
	most     int                 // words of the longest phrase
}

// phrase is a fixed run of words with what it means.
type phrase struct {
	words []string // without marks
	tail  []string // of a field pattern: the words after the gap, else nil
	mark  mark
}

// mark is one meaning of a phrase: a kind of piece and its value.
type mark struct {
	kind  kind
	value string // field, operator, code, weekday, reason, …
	field string // of a comparator: the field it implies
	role  role   // of a verb
}

func newLanguage(p *Pack) *language {
	l := &language{pack: p, phrases: map[string][]phrase{}, numbers: map[string]string{}}
	if len(p.Inflection.Fold) > 0 {
		var pairs []string
		for _, k := range keysOf(p.Inflection.Fold) {
			pairs = append(pairs, k, p.Inflection.Fold[k])
		}
		l.folder = strings.NewReplacer(pairs...)
	}
	l.function, l.core, l.links = l.set(p.FunctionWords), l.set(p.CoreFunctionWords), l.set(p.Links)
	l.subjects, l.cues, l.and = l.set(p.Subjects), l.set(p.NameCues), l.set(p.Conjunctions.And)
	l.attach = l.set(p.Prepositions)
	for _, literal := range keysOf(p.Numbers) {
		for _, w := range p.Numbers[literal] {
			l.numbers[l.fold(w)] = literal
		}
	}
	l.addPhrases()
	for _, list := range l.phrases {
		slices.SortStableFunc(list, func(a, b phrase) int { return len(b.words) - len(a.words) })
		l.most = max(l.most, len(list[0].words))
	}
	return l
}

// addPhrases enters every phrase of the pack under its first word.
func (l *language) addPhrases() {
	p := l.pack
	add := func(m mark, words ...string) {
		for _, w := range words {
			l.addPhrase(w, m)
		}
	}
	each := func(m map[string][]string, f func(key string) mark) {
		for _, k := range keysOf(m) {
			add(f(k), m[k]...)
		}
	}
	each(p.Fields, func(k string) mark { return mark{kind: kindField, value: k} })
	each(p.FieldVerbs, func(k string) mark { return mark{kind: kindVerb, role: roleField, value: k} })
	add(mark{kind: kindVerb, role: roleExist}, p.ExistVerbs...)
	add(mark{kind: kindVerb, role: roleList}, p.ListVerbs...)
	add(mark{kind: kindState, value: "open"}, p.States.Open...)
	add(mark{kind: kindState, value: "closed"}, p.States.Closed...)
	add(mark{kind: kindNearest}, p.Nearest...)
	for _, op := range keysOf(p.Comparators) {
		each(p.Comparators[op], func(field string) mark { return mark{kind: kindComparator, value: op, field: field} })
	}
	add(mark{kind: kindFree}, p.FreeWords...)
	add(mark{kind: kindNegation}, p.Negations...)
	add(mark{kind: kindConjunction}, p.Conjunctions.And...)
	add(mark{kind: kindConjunction}, "&")
	add(mark{kind: kindConjunction}, p.Conjunctions.Or...)
	add(mark{kind: kindAnaphor}, p.Anaphora...)
	add(mark{kind: kindSelector}, p.Selectors...)
	add(mark{kind: kindPlaceNoun}, p.LocationNouns...)
	add(mark{kind: kindCourtesy}, p.Courtesies...)
	each(p.Weekdays, func(k string) mark { return mark{kind: kindWeekday, value: k} })
	each(p.RelativeDates, func(k string) mark { return mark{kind: kindRelative, value: k} })
	add(mark{kind: kindHoliday}, p.Holidays...)
	for i, names := range p.Months {
		add(mark{kind: kindMonth, value: string(rune('a' + i))}, names...)
	}
	each(p.Units, func(k string) mark { return mark{kind: kindUnit, value: k} })
	each(p.Currencies, func(k string) mark { return mark{kind: kindCurrency, value: k} })
	add(mark{kind: kindMorning}, p.Clock.Morning...)
	add(mark{kind: kindAfternoon}, p.Clock.Afternoon...)
	add(mark{kind: kindHour}, p.Clock.Hour...)
	each(p.ContentAlways, func(k string) mark { return mark{kind: kindContent, value: k} })
	add(mark{kind: kindQuestion, value: coverage.ReasonUnsupportedForm}, p.WhUnsupported...)
}

func (l *language) addPhrase(text string, m mark) {
	before, after, gap := strings.Cut(text, "*")
	p := phrase{words: l.words(before), mark: m}
	if gap {
		p.tail = l.words(after)
	}
	if len(p.words) > 0 {
		l.phrases[p.words[0]] = append(l.phrases[p.words[0]], p)
	}
}

// words are the words of a phrase of the pack, without marks.
func (l *language) words(text string) []string {
	var out []string
	for _, t := range l.tokens(text) {
		out = append(out, l.fold(t.word))
	}
	return out
}

// tokens cuts a text as this language writes: contractions become their words, possessive endings vanish.
func (l *language) tokens(text string) []token {
	raw := scan(text)
	out := make([]token, 0, len(raw))
	for i := 0; i < len(raw); {
		j := i + 1
		for j < len(raw) && raw[j].apostrophe {
			j++
		}
		out = l.appendRun(out, raw[i:j])
		i = j
	}
	for i := range out {
		t := &out[i]
		t.text, t.plain = text[t.from:t.to], l.fold(t.word)
	}
	return out
}

// appendRun appends one run of words with apostrophes between them. The words of a contraction share its place in the text.
func (l *language) appendRun(out []token, run []token) []token {
	if len(run) == 1 && len(l.pack.Contractions) == 0 {
		return append(out, run...)
	}
	joined := run[0].word
	for _, t := range run[1:] {
		joined += "'" + t.word
	}
	if expansion, ok := l.pack.Contractions[joined]; ok {
		return appendContraction(out, run, expansion)
	}
	if len(run) > 1 && slices.Contains(l.pack.Possessives, "'"+run[len(run)-1].word) {
		last := run[len(run)-1]
		run = run[:len(run)-1]
		run[len(run)-1].end, run[len(run)-1].to = last.end, last.to
	}
	return append(out, run...)
}

func appendContraction(out []token, run []token, expansion string) []token {
	first, last := run[0], run[len(run)-1]
	for i, word := range strings.Fields(expansion) {
		t := token{word: word, start: first.start, end: last.end, from: first.from, to: last.to}
		if i == 0 {
			t.breaks, t.hyphen = first.breaks, first.hyphen
		}
		out = append(out, t)
	}
	return out
}

// phrasesAt yields the phrases that stand at position i, longest first. A phrase is never interrupted by punctuation.
func (l *language) phrasesAt(tokens []token, i int) iter.Seq[phrase] {
	return func(yield func(phrase) bool) {
		for _, p := range l.phrases[tokens[i].plain] {
			if l.standsAt(tokens, i, p.words) && !yield(p) {
				return
			}
		}
	}
}

// standsAt reports whether the words stand at position i.
func (l *language) standsAt(tokens []token, i int, words []string) bool {
	if i+len(words) > len(tokens) {
		return false
	}
	for k, w := range words {
		if tokens[i+k].plain != w || k > 0 && tokens[i+k].breaks != 0 {
			return false
		}
	}
	return true
}

// set is a set of words without marks.
func (l *language) set(words []string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[l.fold(w)] = true
	}
	return m
}

// keysOf are the keys of a map in order.
func keysOf[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// phrases yields every word and phrase of a pack, for the lint.
func (p *Pack) phrases() iter.Seq[string] {
	lists := [][]string{
		p.FunctionWords, p.Prepositions, p.ForbiddenFunctionWords, p.Courtesies, p.Links, p.Subjects, p.Selectors, p.LocationNouns, p.ExistVerbs, p.ListVerbs, p.States.Open,
		p.States.Closed, p.Nearest, p.FreeWords, p.Negations, p.Conjunctions.And, p.Conjunctions.Or, p.Anaphora, p.Holidays, p.WhUnsupported, p.NameCues,
		p.Clock.Morning, p.Clock.Afternoon, p.Clock.Hour, p.LegalSuffixes,
	}
	lists = append(lists, p.Months...)
	maps := []map[string][]string{p.Fields, p.FieldVerbs, p.Weekdays, p.RelativeDates, p.Numbers, p.Units, p.Currencies, p.ContentAlways, p.Taxonomies}
	for _, op := range keysOf(p.Comparators) {
		maps = append(maps, p.Comparators[op])
	}
	for _, m := range maps {
		for _, k := range keysOf(m) {
			lists = append(lists, m[k])
		}
	}
	return func(yield func(string) bool) {
		for _, list := range lists {
			for _, w := range list {
				if !yield(w) {
					return
				}
			}
		}
	}
}
