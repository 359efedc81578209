package answertest

import (
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"sayso/business"
)

// The oracle. It shares no code with the engine: it knows what a question was made of, and works on the sample's own values by trying them out.

// Truth is the verdict of the oracle on a yes/no.
type Truth int

// The three verdicts.
const (
	Unknown Truth = iota
	Yes
	No
)

func truth(b bool) Truth {
	if b {
		return Yes
	}
	return No
}

func (t Truth) not() Truth {
	return [...]Truth{Unknown: Unknown, Yes: No, No: Yes}[t]
}

// polarity is the word for a verdict that is known.
func (t Truth) polarity() string {
	return [...]string{Unknown: "", Yes: "positive", No: "negative"}[t]
}

// span is a set of numbers that a published value may stand for: low to high, without end when high is nil.
type span struct{ low, high *big.Rat }

// priceOf is what a record says of its price: a set of numbers, the literals it is read from, and whether the answer is put off.
func priceOf(w *World, r *business.Record) (s *span, literals []string, deferred bool) {
	set := func(name string) *big.Rat {
		v := value(r.Attributes, name)
		if v == nil {
			return nil
		}
		literals = append(literals, string(v))
		return rat(string(v))
	}
	exact, from, to := set("price"), set("price_from"), set("price_to")
	switch {
	case exact != nil:
		return &span{exact, exact}, literals, false
	case from != nil:
		return &span{from, to}, literals, false
	case to != nil:
		return &span{new(big.Rat), to}, literals, false
	}
	mode := strings.Trim(string(value(r.Attributes, "price_mode")), `"`)
	return nil, nil, slices.Contains(w.Schema.Attributes["price_mode"].Deferred, mode)
}

// durationOf is the published duration in minutes.
func durationOf(r *business.Record) (s *span, literals []string) {
	v := value(r.Attributes, "duration")
	if v == nil {
		return nil, nil
	}
	return &span{rat(string(v)), rat(string(v))}, []string{string(v)}
}

func rat(literal string) *big.Rat {
	r, ok := new(big.Rat).SetString(literal)
	if !ok {
		panic("answertest: no number: " + literal)
	}
	return r
}

// Compare tries a comparison on points of a set: the ends, both sides of the bounds and far away. It is true when all points satisfy it, false when none does.
func (s *span) Compare(op string, a, b *big.Rat) Truth {
	if s == nil {
		return Unknown
	}
	tiny := big.NewRat(1, 1000)
	points := []*big.Rat{s.low}
	if s.high != nil {
		points = append(points, s.high)
	}
	far := new(big.Rat).Add(s.low, big.NewRat(1_000_000_000, 1))
	candidates := []*big.Rat{far}
	for _, n := range []*big.Rat{a, b} {
		if n != nil {
			candidates = append(candidates, n, new(big.Rat).Sub(n, tiny), new(big.Rat).Add(n, tiny))
		}
	}
	for _, p := range candidates {
		if p.Cmp(s.low) >= 0 && (s.high == nil || p.Cmp(s.high) <= 0) {
			points = append(points, p)
		}
	}
	all, none := true, true
	for _, p := range points {
		if holds(p, op, a, b) {
			none = false
		} else {
			all = false
		}
	}
	switch {
	case all:
		return Yes
	case none:
		return No
	}
	return Unknown
}

func holds(p *big.Rat, op string, a, b *big.Rat) bool {
	c := p.Cmp(a)
	switch op {
	case "lt":
		return c < 0
	case "le":
		return c <= 0
	case "gt":
		return c > 0
	case "ge":
		return c >= 0
	}
	return c >= 0 && p.Cmp(b) <= 0 // between
}

// boolOf is a boolean attribute of a record.
func boolOf(r *business.Record, name string) Truth {
	switch string(value(r.Attributes, name)) {
	case "true":
		return Yes
	case "false":
		return No
	}
	return Unknown
}

// scoped is a value that a record states for one place.
func scoped(r *business.Record, attribute, location string) string {
	v := value(r.Attributes, attribute)
	if v == nil {
		return ""
	}
	return string(value(v, location))
}

// week is an opening week without seasons, holidays, comments and spans over midnight: spans of minutes by weekday, Sunday first.
type week [7][][2]int

var (
	weekRule = regexp.MustCompile(`^([A-Z][a-z](?:-[A-Z][a-z])?(?:,[A-Z][a-z](?:-[A-Z][a-z])?)*) (\d\d:\d\d-\d\d:\d\d(?:,\d\d:\d\d-\d\d:\d\d)*)$`)
	dayNames = []string{"Su", "Mo", "Tu", "We", "Th", "Fr", "Sa"}
)

// plainWeek reads such a week; false when the value says anything else.
func plainWeek(text string) (w week, ok bool) {
	if text == "24/7" {
		for d := range w {
			w[d] = [][2]int{{0, 1440}}
		}
		return w, true
	}
	for rule := range strings.SplitSeq(text, "; ") {
		m := weekRule.FindStringSubmatch(rule)
		if m == nil {
			return w, false
		}
		var spans [][2]int
		for s := range strings.SplitSeq(m[2], ",") {
			from, to := minutes(s[:5]), minutes(s[6:])
			if to <= from || to > 1440 {
				return w, false
			}
			spans = append(spans, [2]int{from, to})
		}
		for d := range strings.SplitSeq(m[1], ",") {
			first, last, ranged := strings.Cut(d, "-")
			a, b := slices.Index(dayNames, first), slices.Index(dayNames, last)
			if !ranged {
				b = a
			}
			if a < 0 || b < 0 {
				return w, false
			}
			for i := a; ; i = (i + 1) % 7 {
				w[i] = spans
				if i == b {
					break
				}
			}
		}
	}
	return w, true
}

func minutes(clock string) int {
	h, _ := strconv.Atoi(clock[:2])
	m, _ := strconv.Atoi(clock[3:])
	return h*60 + m
}

// open tells whether a minute of a weekday lies in a span; minute -1 asks for any.
func (w week) open(day, minute int) bool {
	if minute < 0 {
		return len(w[day]) > 0
	}
	return slices.ContainsFunc(w[day], func(s [2]int) bool { return s[0] <= minute && minute < s[1] })
}

// fold brings a word into a form in which it equals its other numbers: it forgets more than any inflection does, so that unequal forms are unequal words.
func fold(word string) string {
	word = strings.ToLower(word)
	if word == "children" {
		return "child"
	}
	for len(word) > 3 && strings.IndexByte("seniryx", word[len(word)-1]) >= 0 {
		word = word[:len(word)-1]
	}
	return word
}

// wordsOf are the runs of letters and digits of a text, lower case.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
}

// phraseKey is a text as its folded words, sorted: equal for any order, number and possessive.
func phraseKey(text string) string {
	list := wordsOf(strings.ReplaceAll(text, "'s ", " "))
	for i := range list {
		list[i] = fold(list[i])
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// Vocabulary is every word a publisher published, folded.
func (w *World) Vocabulary() map[string]bool {
	w.words.Do(func() { w.vocabulary = vocabularyOf(w) })
	return w.vocabulary
}

func vocabularyOf(w *World) map[string]bool {
	out := map[string]bool{}
	add := func(texts ...string) {
		for _, t := range texts {
			list := wordsOf(t)
			for i, word := range list {
				out[fold(word)] = true
				if i > 0 {
					out[fold(list[i-1]+word)] = true
				}
			}
		}
	}
	words := func(m map[string][]string) {
		for _, list := range m {
			add(list...)
		}
	}
	p := &w.Snapshot.Publication.Profile
	add(w.Snapshot.Publication.Slug, p.DisplayName, p.LegalName, p.BusinessCategory)
	for _, l := range p.Locations {
		add(l.Name, l.Locality, l.PostalCode)
	}
	for _, r := range w.Snapshot.Records {
		add(r.Title)
		add(r.Aliases...)
	}
	for _, t := range w.Schema.Types {
		words(t.Words)
	}
	for _, attributes := range []map[string]business.SchemaAttribute{w.Schema.Attributes, w.Schema.Profile} {
		for _, a := range attributes {
			words(a.Words)
		}
	}
	for _, l := range w.Schema.Lists {
		words(l.Nouns)
		words(l.Verbs)
		for _, t := range termsOf(l) {
			add(surfaces(t)...)
		}
	}
	if w.Schema.Category != nil {
		words(w.Schema.Category.Words)
	}
	return out
}

// termsOf are the values and the domain terms of a list, each once.
func termsOf(l business.SchemaList) []business.SchemaTerm {
	out := slices.Clone(l.Values)
	if l.Domain != nil {
		for _, t := range l.Domain.Terms {
			if !slices.ContainsFunc(out, func(o business.SchemaTerm) bool { return o.ID == t.ID }) {
				out = append(out, t)
			}
		}
	}
	return out
}

func surfaces(t business.SchemaTerm) []string {
	if len(t.Words) == 0 {
		return []string{t.ID}
	}
	var out []string
	for _, list := range t.Words {
		out = append(out, list...)
	}
	slices.Sort(out)
	return out
}

// common are words that a language, not a publisher, may know: a name of which nothing else is unknown proves nothing.
var common = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(`and or of for by at in on the a an with without to from is are do does und oder von für bei an in auf am im der die das den dem des ein eine mit
 ohne zu zum zur ist y o de del la el los las un una con sin en a store shop branch outlet center centre markt market platz filiale tienda open hours phone stock price free new
 time day night week monday tuesday wednesday thursday friday saturday sunday hablamos best`) {
		out[fold(w)] = true
	}
	return out
}()

// foreign returns the words of a text that neither the publisher nor a language knows.
func foreign(vocabulary map[string]bool, text string) []string {
	var out []string
	for _, word := range wordsOf(text) {
		if letters := strings.IndexFunc(word, unicode.IsDigit) < 0; letters && len(word) >= 3 && !vocabulary[fold(word)] && !common[fold(word)] {
			out = append(out, word)
		}
	}
	return out
}
