package answer

import (
	"slices"

	"sayso/business/answer/language"
)

// addressed reports whether token i stands directly after the pronoun of a question.
func (r *reader) addressed(i int) bool {
	return i > 0 && r.l.Subjects[r.tokens[i-1].Plain] && r.tokens[i].Breaks == 0
}

// equated reports whether token i stands behind a copula, articles and the pronoun of a question apart.
func (r *reader) equated(i int) bool {
	for ; i > 0 && r.tokens[i].Breaks == 0 && r.filler(i-1); i-- {
		if r.l.Copulas[r.tokens[i-1].Plain] {
			return true
		}
		if w := r.tokens[i-1].Plain; !r.l.Links[w] && !r.l.Subjects[w] {
			return false
		}
	}
	return false
}

// oneNoun reports whether the words of a title are one noun here too. With a preposition between them what it narrows stands before it: "the exam of the eye",
// and not "the eye of the exam". Without one, words in another order may say something of one another behind a copula ("is the room double") or in the place of
// a verb ("do you screw wood").
func (r *reader) oneNoun(e *entry, i, j int) bool {
	for k := i; k < j; k++ {
		if w := r.tokens[k].Plain; r.filler(k) && (r.l.Prepositions[w] || r.l.NameCues[w]) {
			return slices.ContainsFunc(r.found[i:k], func(f []known) bool { return slices.ContainsFunc(f, func(w known) bool { return w.word == e.head }) })
		}
	}
	return r.inOrder(e, i, j) || r.doing(e, i, j) || !r.addressed(i) && !r.equated(i)
}

// doing reports whether token i stands in the place of a verb and is the head of a title as it is written: "do you repair glasses" asks for a glasses repair. The
// other words are as written too: "do you paint walls" asks for no wall paint.
func (r *reader) doing(e *entry, i, j int) bool {
	if !r.addressed(i) || !slices.ContainsFunc(r.found[i], func(f known) bool { return f.exact && f.word == e.head }) {
		return false
	}
	for k := i; k < j; k++ {
		if !r.filler(k) && !slices.ContainsFunc(r.found[k], func(f known) bool { return f.exact && slices.Contains(e.set, f.word) }) {
			return false
		}
	}
	return true
}

// inOrder reports whether the content words of a window stand in the order in which the entry has them.
func (r *reader) inOrder(e *entry, i, j int) bool {
	for _, w := range e.words {
		if !slices.Contains(e.set, w) {
			continue
		}
		for i < j && r.filler(i) {
			i++
		}
		if i == j || !slices.ContainsFunc(r.found[i], func(f known) bool { return f.word == w }) {
			return false
		}
		i++
	}
	return true
}

// premises makes a reference of the publisher's category behind a definite word, where it is the subject ("does the hotel have a pool") or where something is
// ("at the hotel"). The object of a verb ("do you have the hotel") and what something is near, for or about stay words that are not established.
func (r *reader) premises() {
	all := slices.Clone(r.pieces)
	for _, p := range all {
		if p.kind != language.KindCategory || p.match != matchExact || p.from == 0 || r.tokens[p.from].Breaks != 0 {
			continue
		}
		other := func(q piece) bool { return q.kind != language.KindCategory && q.from <= p.from && q.to >= p.to }
		if d := r.tokens[p.from-1].Plain; r.l.Definites[d] && r.filler(p.from-1) && !slices.ContainsFunc(all, other) && (r.l.NameCues[d] || r.subject(p.from-1)) {
			r.pieces = append(r.pieces, piece{kind: language.KindSelf, from: p.from, to: p.to, pair: -1})
		}
	}
}

// subject reports whether what starts at token i is what its clause is about, or where: nothing else is its subject and no preposition but one that says where
// stands before it.
func (r *reader) subject(i int) bool {
	if i == 0 || r.tokens[i].Breaks != 0 {
		return true
	}
	if before := r.tokens[i-1].Plain; r.l.NameCues[before] && r.l.Prepositions[before] {
		return true
	} else if r.l.Prepositions[before] {
		return false
	}
	for k := i - 1; k >= 0; k-- {
		if r.l.Subjects[r.tokens[k].Plain] {
			return false
		}
		if r.tokens[k].Breaks != 0 {
			break
		}
	}
	return true
}
