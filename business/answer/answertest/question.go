package answertest

import (
	"math/big"
	"slices"

	"sayso/business"
	"sayso/business/coverage"
)

// Rule is what the oracle knows about the status.
type Rule int

// The rules.
const (
	// Resolve: the publisher stated it, so resolved is right; every other status is an under-claim.
	Resolve Rule = iota
	// Never: something asked was not stated, so resolved is false.
	Never
	// Absent: nothing asked was stated: not resolved, and no content at all.
	Absent
	// Open: the oracle cannot judge the status; a polarity, if Want has one, is judged all the same.
	Open
)

// Want is what the oracle knows about an answer.
type Want struct {
	Rule     Rule
	Status   coverage.Status // the exact status when the oracle knows it; another one is a wrong label, not a false resolved
	Polarity string          // of a resolved answer; "" is not judged
	Missing  string          // the missing dimension of a needs_context
	Values   []string        // literals that a resolved answer states, and beside which it states no other number
	Text     string          // text that a resolved answer states
	Unknown  []string        // words that unresolved names unless the answer is resolved
}

// Comparison is an asked comparison of one published value.
type Comparison struct {
	Op       string // lt, le, gt, ge, between
	A, B     *big.Rat
	Unit     string // currency, min or h
	Currency bool
}

// Question is a query made of pieces: Before + Entity + After.
type Question struct {
	World                 *World
	Gen                   string // G1 … G12, M1 … M12
	Kind                  string // the pieces, such as "record x weekday": failures are grouped by it
	Shape                 string // the licensed shape it was made as, "" for none
	Lang                  string
	Before, Entity, After string
	Want                  Want

	record *business.Record // of S1, S4, S6 and S7
	field  string           // price or duration, of S4
	cmp    *Comparison      // of S7
	bool   string           // attribute of S6
	truth  Truth            // of a yes/no
	word   string           // the words of the attribute of S6
	tell   bool             // the language argument is sent
}

// Text is the query.
func (q *Question) Text() string { return q.Before + q.Entity + q.After }

// Language is the language argument, "" when none is sent.
func (q *Question) Language() string {
	if q.tell {
		return q.Lang
	}
	return ""
}

// item is a record as a generator uses it.
type item struct {
	record *business.Record
	name   string // title or alias
	lang   string
}

// nameLanguages says in which language an alias of the samples is, where it is not the publisher's primary one.
var nameLanguages = map[string]string{
	"einzelzimmer": "de", "doppelzimmer": "de", "familiensuite": "de",
	"limpieza dental": "es", "limpieza": "es", "empaste": "es", "endodoncia": "es", "blanqueamiento en clínica": "es", "blanqueamiento en casa": "es",
	"revisión infantil": "es",
}

// everywhere are names that a second language of their publisher uses as they are.
var everywhere = map[string][]string{"Massage": {"de"}}

// items lists the names of all records.
func items(w *World) []item {
	primary := w.Snapshot.Publication.Profile.ContentLanguages[0]
	var out []item
	for i := range w.Snapshot.Records {
		r := &w.Snapshot.Records[i]
		for _, name := range append([]string{r.Title}, r.Aliases...) {
			lang := w.names[name]
			if lang == "" {
				lang = primary
			}
			out = append(out, item{r, name, lang})
			for _, l := range everywhere[name] {
				out = append(out, item{r, name, l})
			}
		}
	}
	return out
}

// worded is a boolean or a list term with one of its names.
type worded struct {
	key, name, lang string
}

func wordedOf(key string, words map[string][]string) []worded {
	var out []worded
	for _, lang := range sorted(words) {
		for _, w := range words[lang] {
			out = append(out, worded{key, w, lang})
		}
	}
	return out
}

// sorted returns the keys of a map in order.
func sorted[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// profileWords are the words of the booleans of a business.
func profileWords(w *World) []worded {
	var out []worded
	for _, key := range sorted(w.Schema.Profile) {
		out = append(out, wordedOf(key, w.Schema.Profile[key].Words)...)
	}
	return out
}

// recordWords are the words of the booleans of records.
func recordWords(w *World) []worded {
	var out []worded
	for _, key := range sorted(w.Schema.Attributes) {
		if a := w.Schema.Attributes[key]; a.Kind == "bool" && a.Field == "" {
			out = append(out, wordedOf(key, a.Words)...)
		}
	}
	return out
}

// term is a term of a list with one of its names.
type term struct {
	list, id, name string
	in             bool
}

func listTerms(w *World) []term {
	var out []term
	for _, key := range sorted(w.Schema.Lists) {
		l := w.Schema.Lists[key]
		for _, t := range termsOf(l) {
			in := slices.ContainsFunc(l.Values, func(v business.SchemaTerm) bool { return v.ID == t.ID })
			for _, name := range surfaces(t) {
				out = append(out, term{key, t.ID, name, in})
			}
		}
	}
	return out
}
