package answertest

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"sayso/business/coverage"
)

// Names makes G1: each title and alias is asked for.
func Names(w *World) []*Question {
	var out []*Question
	for _, it := range items(w) {
		for i, frame := range languages[it.lang].exist {
			name := it.name
			if i == 1 {
				name = strings.ToLower(name)
			}
			before, after := split(frame)
			out = append(out, &Question{
				World: w, Gen: "G1", Kind: "record", Shape: "S1", Lang: it.lang, Before: before, Entity: name, After: after, record: it.record, truth: Yes,
				Want: Want{Rule: Resolve, Polarity: "positive"}, tell: i == 2,
			})
		}
	}
	return out
}

// Strangers makes G2: names that other publishers published and this one has not, in this one's languages.
func Strangers(w *World, others []*World) []*Question {
	vocabulary := w.Vocabulary()
	var names []string
	for _, o := range others {
		if o.Name == w.Name {
			continue
		}
		for _, it := range items(o) {
			names = append(names, it.name)
		}
		if len(o.Snapshot.Records) == 0 {
			for _, l := range o.Snapshot.Publication.Profile.Locations {
				names = append(names, l.Name)
			}
		}
	}
	var out []*Question
	for i, name := range names {
		unknown := foreign(vocabulary, name)
		if len(unknown) == 0 {
			continue
		}
		for _, lang := range w.Snapshot.Publication.Profile.ContentLanguages {
			l := languages[lang]
			frames := append(append([]string{}, l.exist...), l.price...)
			before, after := split(frames[i%len(frames)])
			out = append(out, &Question{World: w, Gen: "G2", Kind: "stranger", Lang: lang, Before: before, Entity: name, After: after, Want: Want{Rule: Never}, tell: true})
		}
	}
	return out
}

// Parts makes the rest of G2: runs of words out of this publisher's own titles and aliases. A part that keeps the head of two records may name a category of
// theirs, which is not judged; every other part names nothing that was published.
func Parts(w *World) []*Question {
	var out []*Question
	seen := map[string]bool{}
	for _, it := range items(w) {
		list := strings.Fields(it.name)
		for from := range list {
			for to := from + 1; to <= len(list); to++ {
				part := strings.Join(list[from:to], " ")
				if key := phraseKey(part); to-from == len(list) || seen[it.lang+key] || len(contentWords(part)) == 0 || named(w, part) {
					continue
				}
				seen[it.lang+phraseKey(part)] = true
				out = append(out, partly(w, it.lang, part)...)
			}
		}
	}
	return out
}

// named reports that a text has words of something that is no record, or is a whole name.
func named(w *World, text string) bool {
	for _, it := range items(w) {
		if phraseKey(it.name) == phraseKey(text) {
			return true
		}
	}
	for _, t := range w.Schema.Types {
		for _, words := range t.Words {
			if slices.ContainsFunc(words, func(word string) bool { return overlapping(word, text) }) {
				return true
			}
		}
	}
	others := append(profileWords(w), recordWords(w)...)
	return slices.ContainsFunc(others, func(a worded) bool { return overlapping(a.name, text) })
}

func partly(w *World, lang, part string) []*Question {
	l := languages[lang]
	sharing := map[string]bool{}
	content := strings.Fields(phraseKey(strings.Join(contentWords(part), " ")))
	for _, it := range items(w) {
		words := strings.Fields(phraseKey(it.name))
		if !slices.ContainsFunc(content, func(word string) bool { return !slices.Contains(words, word) }) {
			sharing[it.record.ID] = true
		}
	}
	var out []*Question
	for _, frame := range []string{l.exist[0], l.price[0]} {
		before, after := split(frame)
		q := &Question{World: w, Gen: "G2", Kind: "part of a name", Lang: lang, Before: before, Entity: part, After: after, Want: Want{Rule: Never}}
		if len(sharing) > 1 {
			q.Kind, q.Want = "part of several names", Want{Rule: Open}
		}
		out = append(out, q)
	}
	return out
}

// Fields makes G3: the price and the duration of each record.
func Fields(w *World) []*Question {
	var out []*Question
	for _, it := range items(w) {
		l := languages[it.lang]
		_, price, deferred := priceOf(w, it.record)
		_, length := durationOf(it.record)
		for _, f := range []struct {
			field  string
			frames []string
			values []string
			known  bool
		}{{"price", l.price, price, deferred || price != nil}, {"duration", l.duration, length, length != nil}} {
			for i, frame := range f.frames {
				before, after := split(frame)
				q := &Question{
					World: w, Gen: "G3", Kind: "record x " + f.field, Shape: "S4", Lang: it.lang, Before: before, Entity: it.name, After: after, record: it.record, field: f.field,
					Want: Want{Rule: Resolve, Values: f.values}, tell: i%2 == 1,
				}
				if !f.known {
					q.Want = Want{Rule: Never, Status: coverage.Partial, Unknown: []string{"field:" + f.field}}
				}
				out = append(out, q)
			}
		}
	}
	return out
}

// Bounds makes G4: comparisons at, below and above each bound, with the published unit and with others.
func Bounds(w *World) []*Question {
	var out []*Question
	for _, it := range items(w) {
		set, values, deferred := priceOf(w, it.record)
		currency := w.Schema.Attributes["price"].Currency
		if set != nil {
			for _, unit := range []string{currency, otherCurrency(currency)} {
				out = append(out, compared(w, it, "price", set, values, unit)...)
			}
			out = append(out, free(w, it, set, values)...)
		}
		if deferred {
			for _, q := range compared(w, it, "price", &span{big.NewRat(50, 1), big.NewRat(50, 1)}, nil, currency) {
				q.Want = Want{Rule: Never, Status: coverage.Partial}
				out = append(out, q)
			}
		}
		if length, literals := durationOf(it.record); length != nil {
			out = append(out, compared(w, it, "duration", length, literals, "min")...)
			out = append(out, compared(w, it, "duration", length, literals, "h")...)
		}
	}
	return out
}

func otherCurrency(c string) string {
	if c == "EUR" {
		return "USD"
	}
	return "EUR"
}

// compared makes the comparisons of one value with one unit.
func compared(w *World, it item, field string, set *span, values []string, unit string) []*Question {
	l := languages[it.lang]
	frames := l.compare
	if field == "duration" {
		frames = l.length
	}
	numbers := []*big.Rat{new(big.Rat).Sub(set.low, big.NewRat(1, 1)), set.low, new(big.Rat).Add(set.low, big.NewRat(1, 1))}
	if unit == "h" {
		numbers = []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 1), big.NewRat(2, 1)}
	}
	var out []*Question
	for _, op := range sorted(frames) {
		for i, n := range numbers {
			if n.Sign() < 0 {
				continue
			}
			frame := frames[op][i%len(frames[op])]
			c := &Comparison{Op: op, A: n, Unit: unit, Currency: field == "price"}
			if op == "between" {
				c.B = new(big.Rat).Add(n, big.NewRat(5, 1))
			}
			out = append(out, comparison(w, it, field, frame, c, set, values))
		}
	}
	return out
}

// comparison makes one question and asks the oracle.
func comparison(w *World, it item, field, frame string, c *Comparison, set *span, values []string) *Question {
	before, after := split(c.write(frame, languages[it.lang]))
	q := &Question{
		World: w, Gen: "G4", Kind: "record x " + c.Op + " " + field, Shape: "S7", Lang: it.lang, Before: before, Entity: it.name, After: after, record: it.record, field: field, cmp: c,
		word: frame,
	}
	if q.truth = c.judge(set, w.Schema.Attributes["price"].Currency); q.truth == Unknown {
		q.Want = Want{Rule: Never, Status: coverage.Partial}
	} else {
		q.Want = Want{Rule: Resolve, Polarity: q.truth.polarity(), Values: values}
	}
	return q
}

// judge compares in the published unit; another currency is unknown.
func (c *Comparison) judge(set *span, currency string) Truth {
	if c.Currency && c.Unit != currency {
		return Unknown
	}
	a, b := c.A, c.B
	if c.Unit == "h" {
		a = new(big.Rat).Mul(a, big.NewRat(60, 1))
		if b != nil {
			b = new(big.Rat).Mul(b, big.NewRat(60, 1))
		}
	}
	return set.Compare(c.Op, a, b)
}

// write fills the numbers and the unit of a frame.
func (c *Comparison) write(frame string, l *phrases) string {
	unit := l.currency[c.Unit]
	switch c.Unit {
	case "min":
		unit = l.minutes
	case "h":
		unit = l.hoursUnit
	}
	frame = strings.Replace(frame, "N", number(c.A, l), 1)
	if c.B != nil {
		frame = strings.Replace(frame, "M", number(c.B, l), 1)
	}
	return strings.Replace(frame, " U", " "+unit, 1)
}

// number writes a number with the decimal sign of the language.
func number(n *big.Rat, l *phrases) string {
	text := n.RatString()
	if !n.IsInt() {
		text = strings.TrimRight(n.FloatString(4), "0")
	}
	if l != english {
		text = strings.Replace(text, ".", ",", 1)
	}
	return text
}

func free(w *World, it item, set *span, values []string) []*Question {
	var out []*Question
	for _, frame := range languages[it.lang].free {
		before, after := split(frame)
		t := set.Compare("le", new(big.Rat), nil)
		q := &Question{
			World: w, Gen: "G4", Kind: "record x free", Shape: "S7", Lang: it.lang, Before: before, Entity: it.name, After: after, record: it.record, truth: t,
			Want: Want{Rule: Resolve, Polarity: t.polarity(), Values: values},
		}
		if t == Unknown {
			q.Want = Want{Rule: Never}
		}
		out = append(out, q)
	}
	return out
}

// Booleans makes G6: what the business says of itself, and what records say, with and without.
func Booleans(w *World) []*Question {
	var out []*Question
	for _, a := range profileWords(w) {
		v := truth(string(value(w.Snapshot.Publication.Profile.ProfileAttributes, a.key)) == "true")
		l := languages[a.lang]
		for i, frame := range append(append([]string{}, l.exist...), l.negation) {
			before, after := split(frame)
			q := &Question{
				World: w, Gen: "G6", Kind: "attribute", Shape: "S2", Lang: a.lang, Before: before, Entity: a.name, After: after, truth: v, word: a.name,
				Want: Want{Rule: Resolve, Polarity: v.polarity()},
			}
			if i == len(l.exist) {
				q.Kind, q.Shape, q.Want = "attribute, negated verb", "", Want{Rule: Open}
			}
			out = append(out, q)
		}
	}
	for _, it := range items(w) {
		for _, a := range recordWords(w) {
			if a.lang != it.lang {
				continue
			}
			for _, frame := range languages[it.lang].attribute {
				out = append(out, attributed(w, it, a, frame, false))
			}
			for _, frame := range languages[it.lang].without {
				out = append(out, attributed(w, it, a, frame, true))
			}
		}
	}
	return out
}

func attributed(w *World, it item, a worded, frame string, negated bool) *Question {
	before, after := split(strings.Replace(frame, "ATTR", a.name, 1))
	t := boolOf(it.record, a.key)
	kind := "record x attribute"
	if negated {
		t, kind = t.not(), "record x no attribute"
	}
	q := &Question{
		World: w, Gen: "G6", Kind: kind, Shape: "S6", Lang: it.lang, Before: before, Entity: it.name, After: after, record: it.record, bool: a.key, truth: t, word: a.name,
		Want: Want{Rule: Resolve, Polarity: t.polarity()},
	}
	if t == Unknown {
		q.Want = Want{Rule: Never, Status: coverage.Partial}
	}
	return q
}

// Terms makes G5 for a world and for its copies with every list opened and, where a list has a domain, closed.
func Terms(w *World) []*Question {
	var out []*Question
	for _, state := range []string{"closed", "open"} {
		v := w.Change(func(c *World) {
			for key, l := range c.Schema.Lists {
				l.Closed = state == "closed" && l.Domain != nil
				c.Schema.Lists[key] = l
			}
		})
		for _, t := range listTerms(v) {
			for _, lang := range v.Snapshot.Publication.Profile.ContentLanguages {
				for _, frame := range termFrames(v, t.list, lang) {
					before, after := split(frame)
					q := &Question{World: v, Gen: "G5", Kind: "term, list " + state, Shape: "S3", Lang: lang, Before: before, Entity: t.name, After: after, truth: truth(t.in), word: t.list}
					switch {
					case t.in:
						q.Want = Want{Rule: Resolve, Polarity: "positive"}
					case state == "closed":
						q.Want = Want{Rule: Resolve, Polarity: "negative"}
					default:
						q.Want = Want{Rule: Never, Unknown: []string{t.name}}
					}
					out = append(out, q)
				}
			}
		}
	}
	return out
}

// termFrames are the ways to ask for a term: with a verb of the list, with its noun beside a general verb of acceptance, or with a word of a type as the verb.
func termFrames(w *World, list, lang string) []string {
	var out []string
	l := w.Schema.Lists[list]
	if verbs := l.Verbs[lang]; lang == "en" {
		for i, verb := range verbs {
			if list == "payment_methods" && i == 0 { // the samples begin with "pay"
				out = append(out, fmt.Sprintf("Can I %s with {}?", verb))
			} else {
				out = append(out, fmt.Sprintf("Do you %s {}?", verb))
			}
		}
	}
	if nouns := l.Nouns[lang]; list == "insurers" && len(nouns) > 0 {
		out = append(out, strings.Replace(map[string]string{"en": "Do you accept {} NOUN?", "es": "¿Aceptan el NOUN {}?"}[lang], "NOUN", nouns[0], 1))
	}
	if list == "makes_serviced" {
		out = append(out, fmt.Sprintf("Do you %s {}?", w.Schema.Types["service"].Words[lang][0]))
	}
	return out
}
