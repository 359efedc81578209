package language

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"

	"sayso/business/coverage"
)

// Language is a pack made ready for reading questions. It is immutable; its sets are words as [Language.Fold] writes them.
type Language struct {
	Pack         *Pack
	Function     map[string]bool
	Core         map[string]bool // of the function words and conjunctions
	Links        map[string]bool
	Subjects     map[string]bool
	Prepositions map[string]bool
	NameCues     map[string]bool
	And          map[string]bool
	Callers      map[string]bool
	Obtain       map[string]bool // verbs of existence that the caller may have
	Copulas      map[string]bool
	Definites    map[string]bool
	StateVerbs   map[string]bool // states that are verbs
	Auxiliaries  map[string]bool // make verbs of states
	Comitatives  map[string]bool
	Manner       map[string]bool // prepositions of a term
	Where        map[string]bool // prepositions of a place
	When         map[string]bool // prepositions of a time
	Modals       map[string]bool
	Exist        map[string]bool // verbs of existence, whoever is their subject
	Trade        map[string]bool // those that speak of goods
	Finished     map[string]bool // those that are over behind a copula
	Lists        map[string]bool // list verbs
	Customer     map[string]bool // list verbs of the caller
	NounNegation map[string]bool
	Vacant       map[string]bool // words for free that may mean vacant

	folder  *strings.Replacer   // nil when no mark may be left out
	phrases map[string][]Phrase // by their first word, longest first
	numbers map[string]string   // number word -> literal
}

// Phrase is a fixed run of words with what it means.
type Phrase struct {
	Words []string // without marks
	Tail  []string // of a field pattern: the words after the gap, else nil
	Mark  Mark
}

// Mark is one meaning of a phrase: a kind of piece and its value.
type Mark struct {
	Kind  Kind
	Value string // field, operator, code, weekday, reason, …
	Field string // of a comparator: the field it implies
	Role  Role   // of a verb
}

// New makes a pack ready. The pack is not to be changed afterwards.
func New(p *Pack) *Language {
	l := &Language{Pack: p, phrases: map[string][]Phrase{}, numbers: map[string]string{}}
	if len(p.Inflection.Fold) > 0 {
		var pairs []string
		for _, k := range keysOf(p.Inflection.Fold) {
			pairs = append(pairs, k, p.Inflection.Fold[k])
		}
		l.folder = strings.NewReplacer(pairs...)
	}
	l.Function, l.Core, l.Links = l.set(p.FunctionWords), l.set(p.CoreFunctionWords), l.set(p.Links)
	l.Subjects, l.NameCues, l.And = l.set(p.Subjects), l.set(p.NameCues), l.set(p.Conjunctions.And)
	l.Prepositions, l.Callers, l.Obtain = l.set(p.Prepositions), l.set(p.Callers), l.set(p.ObtainVerbs)
	l.Copulas, l.Definites, l.StateVerbs, l.Auxiliaries = l.set(p.Copulas), l.set(p.Definites), l.set(p.States.Verbs), l.set(p.States.Auxiliaries)
	l.Comitatives, l.Where, l.When, l.Modals = l.set(p.Comitatives), l.set(p.PlacePrepositions), l.set(p.Clock.At), l.set(p.Modals)
	l.Exist, l.Trade, l.Finished = l.set(p.ExistVerbs), l.set(p.TradeVerbs), l.set(p.FinishedVerbs)
	l.Vacant, l.Manner = l.set(p.VacantWords), l.set(p.MannerPrepositions)
	l.Lists, l.Customer, l.NounNegation = l.set(p.ListVerbs), l.set(p.CustomerVerbs), l.set(p.NounNegations)
	for _, literal := range keysOf(p.Numbers) {
		for _, w := range p.Numbers[literal] {
			l.numbers[l.Fold(w)] = literal
		}
	}
	l.addPhrases()
	for _, list := range l.phrases {
		slices.SortStableFunc(list, func(a, b Phrase) int { return len(b.Words) - len(a.Words) })
	}
	return l
}

// addPhrases enters every phrase of the pack under its first word.
func (l *Language) addPhrases() {
	p := l.Pack
	add := func(m Mark, words ...string) {
		for _, w := range words {
			l.addPhrase(w, m)
		}
	}
	each := func(m map[string][]string, f func(key string) Mark) {
		for _, k := range keysOf(m) {
			add(f(k), m[k]...)
		}
	}
	each(p.Fields, func(k string) Mark { return Mark{Kind: KindField, Value: k} })
	each(p.FieldVerbs, func(k string) Mark { return Mark{Kind: KindVerb, Role: RoleField, Value: k} })
	add(Mark{Kind: KindVerb, Role: RoleExist}, p.ExistVerbs...)
	for _, w := range p.ObtainVerbs {
		if !slices.Contains(p.ExistVerbs, w) {
			add(Mark{Kind: KindVerb, Role: RoleExist}, w)
		}
	}
	add(Mark{Kind: KindVerb, Role: RoleList}, p.ListVerbs...)
	add(Mark{Kind: KindState, Value: "open"}, p.States.Open...)
	add(Mark{Kind: KindState, Value: "closed"}, p.States.Closed...)
	add(Mark{Kind: KindNearest}, p.Nearest...)
	for _, op := range keysOf(p.Comparators) {
		each(p.Comparators[op], func(field string) Mark { return Mark{Kind: KindComparator, Value: op, Field: field} })
	}
	add(Mark{Kind: KindFree}, p.FreeWords...)
	add(Mark{Kind: KindNegation}, p.Negations...)
	add(Mark{Kind: KindConjunction}, p.Conjunctions.And...)
	add(Mark{Kind: KindConjunction}, "&")
	add(Mark{Kind: KindConjunction}, p.Conjunctions.Or...)
	add(Mark{Kind: KindAnaphor}, p.Anaphora...)
	add(Mark{Kind: KindSelector}, p.Selectors...)
	add(Mark{Kind: KindPlaceNoun}, p.LocationNouns...)
	add(Mark{Kind: KindCourtesy}, p.Courtesies...)
	each(p.Weekdays, func(k string) Mark { return Mark{Kind: KindWeekday, Value: k} })
	each(p.RelativeDates, func(k string) Mark { return Mark{Kind: KindRelative, Value: k} })
	add(Mark{Kind: KindHoliday}, p.Holidays...)
	for i, names := range p.Months {
		add(Mark{Kind: KindMonth, Value: string(rune('a' + i))}, names...)
	}
	each(p.Units, func(k string) Mark { return Mark{Kind: KindUnit, Value: k} })
	each(p.Currencies, func(k string) Mark { return Mark{Kind: KindCurrency, Value: k} })
	add(Mark{Kind: KindMorning}, p.Clock.Morning...)
	add(Mark{Kind: KindAfternoon}, p.Clock.Afternoon...)
	add(Mark{Kind: KindHour}, p.Clock.Hour...)
	each(p.ContentAlways, func(k string) Mark { return Mark{Kind: KindContent, Value: k} })
	add(Mark{Kind: KindQuestion, Value: coverage.ReasonUnsupportedForm}, p.WhUnsupported...)
}

func (l *Language) addPhrase(text string, m Mark) {
	before, after, gap := strings.Cut(text, "*")
	p := Phrase{Words: l.words(before), Mark: m}
	if gap {
		p.Tail = l.words(after)
	}
	if len(p.Words) > 0 {
		l.phrases[p.Words[0]] = append(l.phrases[p.Words[0]], p)
	}
}

// words are the words of a phrase of the pack, without marks.
func (l *Language) words(text string) []string {
	var out []string
	for _, t := range l.Tokens(text) {
		out = append(out, l.Fold(t.Word))
	}
	return out
}

// Tokens cuts a text as this language writes: contractions become their words, possessive endings vanish.
func (l *Language) Tokens(text string) []Token { return l.TokensOf(text, Scan(text)) }

// TokensOf is [Language.Tokens] of a text that was scanned; raw is what [Scan] made of it and is spent.
func (l *Language) TokensOf(text string, raw []Token) []Token {
	out := make([]Token, 0, len(raw))
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
		t.Text, t.Plain = text[t.From:t.To], l.Fold(t.Word)
	}
	return out
}

// appendRun appends one run of words with apostrophes between them. The words of a contraction share its place in the text.
func (l *Language) appendRun(out []Token, run []Token) []Token {
	if len(run) == 1 && len(l.Pack.Contractions) == 0 {
		return append(out, run...)
	}
	joined := run[0].Word
	for _, t := range run[1:] {
		joined += "'" + t.Word
	}
	if expansion, ok := l.Pack.Contractions[joined]; ok {
		return appendContraction(out, run, expansion)
	}
	if len(run) > 1 && slices.Contains(l.Pack.Possessives, "'"+run[len(run)-1].Word) {
		last := run[len(run)-1]
		run = run[:len(run)-1]
		run[len(run)-1].End, run[len(run)-1].To = last.End, last.To
	}
	return append(out, run...)
}

func appendContraction(out []Token, run []Token, expansion string) []Token {
	first, last := run[0], run[len(run)-1]
	for i, word := range strings.Fields(expansion) {
		t := Token{Word: word, Start: first.Start, End: last.End, From: first.From, To: last.To}
		if i == 0 {
			t.Breaks, t.Hyphen = first.Breaks, first.Hyphen
		}
		out = append(out, t)
	}
	return out
}

// PhrasesAt yields the phrases that stand at position i, longest first. A phrase is never interrupted by punctuation.
func (l *Language) PhrasesAt(tokens []Token, i int) iter.Seq[Phrase] {
	return func(yield func(Phrase) bool) {
		for _, p := range l.phrases[tokens[i].Plain] {
			if l.StandsAt(tokens, i, p.Words) && !yield(p) {
				return
			}
		}
	}
}

// StandsAt reports whether the words stand at position i.
func (l *Language) StandsAt(tokens []Token, i int, words []string) bool {
	if i+len(words) > len(tokens) {
		return false
	}
	for k, w := range words {
		if tokens[i+k].Plain != w || k > 0 && tokens[i+k].Breaks != 0 {
			return false
		}
	}
	return true
}

// Measure reports whether a trailing word of a title is a size and not a noun: it has a digit or is a unit.
func (l *Language) Measure(t Token) bool {
	if strings.ContainsFunc(t.Word, unicode.IsDigit) {
		return true
	}
	return slices.ContainsFunc(l.phrases[t.Plain], func(p Phrase) bool { return p.Mark.Kind == KindUnit && len(p.Words) == 1 })
}

// WithoutLegalForm cuts Ltd, GmbH and the like from the end of a name.
func (l *Language) WithoutLegalForm(name string) string {
	tokens := l.Tokens(name)
	n := len(tokens)
	for n > 1 && slices.Contains(l.Pack.LegalSuffixes, tokens[n-1].Plain) {
		n--
	}
	if n == len(tokens) || n == 0 {
		return ""
	}
	return name[:tokens[n-1].To]
}

// Understood counts the tokens that are a word of a language: a function word, or part of a phrase of its pack. A word that is always content, such as double,
// also stands in the titles of other languages and counts for none.
func (l *Language) Understood(tokens []Token) (n int) {
	var room [32]Token // of a question: it stays on the stack
	words := append(room[:0], tokens...)
	for i := range words {
		words[i].Plain = l.Fold(words[i].Word)
	}
	for i, end := 0, 0; i < len(words); i++ {
		for p := range l.PhrasesAt(words, i) {
			if p.Mark.Kind != KindContent {
				end = max(end, i+len(p.Words))
			}
		}
		if i < end || l.Function[words[i].Plain] {
			n++
		}
	}
	return n
}

// set is a set of words without marks.
func (l *Language) set(words []string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[l.Fold(w)] = true
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
		p.Clock.Morning, p.Clock.Afternoon, p.Clock.Hour, p.LegalSuffixes, p.Callers, p.ObtainVerbs, p.Copulas, p.Definites, p.States.Verbs, p.States.Auxiliaries,
		p.Comitatives, p.PlacePrepositions, p.Clock.At, p.Modals, p.TradeVerbs, p.FinishedVerbs, p.CustomerVerbs, p.NounNegations, p.VacantWords, p.MannerPrepositions,
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
