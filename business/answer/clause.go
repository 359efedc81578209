package answer

import (
	"slices"
	"strings"

	"sayso/business/answer/language"
	"sayso/business/coverage"
)

// part is a piece in a clause: its own, or taken from a clause beside it.
type part struct {
	piece
	inherited bool
	negated   bool   // a negation stands directly before it, function words and existence verbs apart
	verbal    bool   // of a negation: it negates the verb
	opposite  bool   // of what is negated: the noun is, and the question asks for its opposite ("without parking")
	moment    bool   // of a state: with a time of day it may ask when the place opens or closes
	behind    string // the preposition directly before it, articles apart
	aside     bool   // of a noun: a preposition makes it where or what for
	off       bool   // of a place or time: a preposition before it does not say where or when
	article   bool   // an article stands directly before it
	acted     bool   // directly after the caller: it is what the caller does
	trade     bool   // of a verb: it speaks of goods
}

// clause is one coordinated clause of a question.
type clause struct {
	index    int
	from, to int // tokens
	parts    []part
	loose    []int // content tokens that no piece covers
	joined   bool  // by a conjunction to the clause before, not by punctuation
	breaks   rune  // the punctuation before it, 0 for none
	verbal   bool  // function words other than articles stand before its first piece: it is a question of its own
	attached bool  // it starts with a preposition or a negation: it belongs to what stands beside it
	self     []piece
	pronoun  bool   // it has the pronoun of a question: it is more than a noun
	caller   bool   // its subject is the caller
	business bool   // its subject is the business
	modal    bool   // it asks what may be, not what is
	equates  bool   // it has a copula
	helped   bool   // it has an auxiliary that makes a verb of a state
	bare     bool   // it has no function words but those that titles have too
	reason   string // why a referring word in it has no antecedent: "" means that a record is missing
}

// clauses splits the cover at punctuation and conjunctions outside the pieces.
func (r *reader) clauses(o *cover) []clause {
	inside := make([]*piece, len(r.tokens))
	for i := range o.pieces {
		for k := o.pieces[i].from; k < o.pieces[i].to; k++ {
			inside[k] = &o.pieces[i]
		}
	}
	var out []clause
	current := clause{bare: true}
	flush := func(to int) {
		if current.to = to; current.from < to {
			out = append(out, current)
		}
	}
	for i := 0; i < len(r.tokens); {
		p := inside[i]
		if r.tokens[i].Breaks != 0 && i > 0 {
			flush(i)
			current = clause{from: i, breaks: r.tokens[i].Breaks, bare: true}
		}
		if i == current.from {
			current.attached = p == nil && r.l.Prepositions[r.tokens[i].Plain] && r.filler(i) || p != nil && p.kind == language.KindNegation
		}
		switch {
		case p == nil:
			current.take(r, i)
			if wish := i+1 < len(r.tokens) && inside[i+1] != nil && inside[i+1].kind == language.KindCourtesy; r.l.Callers[r.tokens[i].Plain] && r.filler(i) && !wish {
				current.caller = true
			}
			i++
			continue
		case p.kind == language.KindConjunction:
			flush(i)
			current = clause{from: p.to, joined: true, bare: true}
		case p.kind == language.KindSelf:
			current.self = append(current.self, *p)
		case p.kind != language.KindCourtesy:
			current.parts = append(current.parts, r.part(p, inside))
		}
		i = p.to
	}
	flush(len(r.tokens))
	return r.settle(attach(out))
}

// attach joins the parts that are no clauses of their own with what stands beside them: "with sauna, do you have rooms", "do you have rooms, with sauna". What
// is coordinated stays apart where it says another time, place or term of a list.
func attach(all []clause) []clause {
	var out []clause
	for i := 0; i < len(all); i++ {
		c := all[i]
		switch {
		case !c.attached || len(all) == 1, c.joined && c.all((*part).listed) && len(c.loose) == 0:
			out = append(out, c)
		case i+1 < len(all) && !all[i+1].joined && !c.joined && (len(out) == 0 || c.breaks != ',' && all[i+1].breaks == ','):
			next := &all[i+1]
			next.from, next.breaks, next.attached = c.from, c.breaks, false
			next.absorb(&c, true)
		case len(out) > 0:
			out[len(out)-1].to = c.to
			out[len(out)-1].absorb(&c, false)
		default:
			out = append(out, c)
		}
	}
	return out
}

// absorb takes the content of another clause, in front of its own or behind.
func (c *clause) absorb(o *clause, front bool) {
	if front {
		c.parts, c.loose, c.self = slices.Concat(o.parts, c.parts), slices.Concat(o.loose, c.loose), slices.Concat(o.self, c.self)
	} else {
		c.parts, c.loose, c.self = slices.Concat(c.parts, o.parts), slices.Concat(c.loose, o.loose), slices.Concat(c.self, o.self)
	}
	c.pronoun, c.caller, c.helped, c.bare = c.pronoun || o.pronoun, c.caller || o.caller, c.helped || o.helped, c.bare && o.bare
	c.business, c.modal, c.equates = c.business || o.business, c.modal || o.modal, c.equates || o.equates
}

// listed reports whether a piece may be coordinated with another of its kind behind a preposition of its own.
func (p *part) listed() bool {
	return p.temporal() || p.kind == language.KindPlace || p.kind == language.KindPlaceNoun || p.kind == language.KindTerm || p.kind == language.KindVerb
}

// take notes a token that no piece covers.
func (c *clause) take(r *reader, i int) {
	t := &r.tokens[i]
	if !r.filler(i) {
		c.loose = append(c.loose, i)
		return
	}
	c.pronoun = c.pronoun || r.l.Subjects[t.Plain]
	c.helped = c.helped || r.l.Auxiliaries[t.Plain]
	c.business = c.business || r.l.Subjects[t.Plain] && !r.l.Callers[t.Plain]
	c.modal = c.modal || r.l.Modals[t.Plain]
	c.equates = c.equates || r.l.Copulas[t.Plain]
	c.bare = c.bare && r.l.Links[t.Plain]
	c.verbal = c.verbal || len(c.parts) == 0 && !r.l.Links[t.Plain]
}

// settle drops clauses that ask nothing, numbers the others and lets them take what they leave unsaid.
func (r *reader) settle(all []clause) []clause {
	var out []clause
	joined := false
	for _, c := range all {
		joined = joined || c.joined
		if len(c.parts) == 0 && len(c.loose) == 0 && len(all) > 1 {
			if len(out) > 0 {
				out[len(out)-1].self = append(out[len(out)-1].self, c.self...)
				out[len(out)-1].to = c.to
			} else {
				r.leading = append(r.leading, c.self...)
			}
			continue
		}
		c.joined, joined = joined, false
		c.index = len(out)
		c.negations(r)
		c.verbs(r)
		out = append(out, c)
	}
	for i := range out {
		shareTime(out, i)
		inherit(out, i)
	}
	return out
}

// shareTime gives two coordinated states one place and one time where only one of the clauses names it: "is Northgate open or closed on Sunday" asks nothing
// about now, and nothing about other branches.
func shareTime(all []clause, i int) {
	state := func(p *part) bool { return p.kind == language.KindState }
	if i == 0 || !all[i].joined || !all[i].has(state) || !all[i-1].has(state) {
		return
	}
	before, c := &all[i-1], &all[i]
	take := func(to, from *clause, which func(*part) bool) {
		if to.has(which) {
			return
		}
		for _, p := range from.parts {
			if which(&p) {
				p.inherited = true
				to.parts = append(to.parts, p)
			}
		}
	}
	take(before, c, (*part).temporal)
	take(c, before, (*part).temporal)
	if !c.pronoun {
		take(c, before, func(p *part) bool { return p.kind == language.KindPlace || p.kind == language.KindPlaceNoun })
	}
}

// negations attaches each negation to what it negates.
func (c *clause) negations(r *reader) {
	for i := range c.parts {
		if c.parts[i].kind != language.KindNegation {
			continue
		}
		at := c.parts[i].to
		for k := i + 1; k < len(c.parts); k++ {
			p := &c.parts[k]
			for ; at < p.from && r.filler(at); at++ {
			}
			if at != p.from {
				break
			}
			if p.kind == language.KindVerb && p.role&(language.RoleExist|language.RoleList|language.RoleOwn) != 0 || p.kind == language.KindType && p.address || p.kind == language.KindListNoun {
				c.parts[i].verbal = c.parts[i].verbal || p.kind != language.KindListNoun
				at = p.to
				continue
			}
			p.negated = true
			next := &r.tokens[c.parts[i].to]
			p.opposite = r.l.NounNegation[r.tokens[c.parts[i].from].Plain] || r.l.Prepositions[next.Plain] && r.filler(c.parts[i].to)
			break
		}
	}
}

// verbs takes from verbs what they do not say with this subject, and marks the states that are verbs.
func (c *clause) verbs(r *reader) {
	for i := range c.parts {
		switch p := &c.parts[i]; {
		case p.kind == language.KindVerb:
			w := r.tokens[p.from].Plain
			if !c.offers(r.l, w) {
				p.role &^= language.RoleExist
			}
			if c.caller && r.l.Lists[w] && !r.l.Customer[w] || c.business && r.l.Customer[w] {
				p.role &^= language.RoleList | language.RoleOwn // "can I accept Visa", "do you pay by Visa"
			}
		case p.kind == language.KindState:
			p.moment = c.helped || r.l.StateVerbs[r.tokens[p.from].Plain]
		}
	}
}

// offers reports whether a verb of existence says here what the business has: the caller may only obtain ("can I sell you"), nobody but the caller does ("do you
// get"), what might be had is a wish ("could you have"), and what is sold may be gone.
func (c *clause) offers(l *language.Language, verb string) bool {
	switch {
	case c.caller:
		return l.Obtain[verb]
	case l.Obtain[verb]:
		return l.Exist[verb] && !c.modal
	}
	return !c.equates || !l.Finished[verb]
}

// part is a piece with what the words directly before it say about it.
func (r *reader) part(p *piece, inside []*piece) part {
	out := part{piece: *p, behind: r.behind(inside, p.from)}
	w := out.behind
	out.aside = w != "" && !r.l.Links[w] && !r.l.Comitatives[w]
	switch out.kind {
	case language.KindPlace:
		out.off = w != "" && !r.l.Where[w]
	case language.KindTerm:
		out.aside = out.aside && !r.l.Manner[w]
	case language.KindTime:
		out.off = w != "" && !r.l.When[w]
	default:
		out.off = out.aside && !r.l.When[w]
	}
	if i := p.from - 1; i >= 0 && r.tokens[p.from].Breaks == 0 && inside[i] == nil && r.filler(i) {
		before := r.tokens[i].Plain
		out.article, out.acted = r.l.Links[before] && !r.l.Prepositions[before], r.l.Callers[before]
	}
	out.trade = p.kind == language.KindVerb && r.l.Trade[r.tokens[p.from].Plain]
	return out
}

// behind is the preposition before token i, articles apart; "" when another piece or word stands there.
func (r *reader) behind(inside []*piece, i int) string {
	for ; i > 0 && r.tokens[i].Breaks == 0 && inside[i-1] == nil && r.filler(i-1); i-- {
		w := r.tokens[i-1].Plain
		if r.l.Prepositions[w] {
			return w
		}
		if !r.l.Links[w] && !r.l.Definites[w] {
			break
		}
	}
	return ""
}

// noun reports whether a piece names a thing that can be a subject or be offered.
func (p *part) noun() bool {
	switch p.kind {
	case language.KindRecord, language.KindTerm, language.KindProfile, language.KindBool, language.KindPlace:
		return true
	case language.KindType:
		return !p.address
	}
	return false
}

// nounOrVerbOfField reports whether a piece can stand in a clause that is only a noun: "(how long do A and) B take".
func (p *part) nounOrVerbOfField() bool {
	return p.noun() || p.kind == language.KindPlaceNoun || p.kind == language.KindVerb && p.role&language.RoleField != 0
}

// temporal reports whether a piece is a time.
func (p *part) temporal() bool {
	switch p.kind {
	case language.KindWeekday, language.KindDate, language.KindTime, language.KindRelative, language.KindHoliday:
		return true
	}
	return false
}

// exists reports whether a piece is nothing but an existence verb.
func (p *part) exists() bool { return p.kind == language.KindVerb && p.role == language.RoleExist }

func (c *clause) all(f func(*part) bool) bool {
	for i := range c.parts {
		if !f(&c.parts[i]) {
			return false
		}
	}
	return len(c.parts) > 0
}

func (c *clause) has(f func(*part) bool) bool {
	return slices.ContainsFunc(c.parts, func(p part) bool { return f(&p) })
}

// predicate is what a clause says about its nouns, for a clause beside it that is only a noun.
func (c *clause) predicate() []part {
	subject := c.has(func(p *part) bool {
		return p.kind == language.KindRecord || p.kind == language.KindType && !p.address || p.kind == language.KindAnaphor
	})
	var out []part
	for _, p := range c.parts {
		switch {
		case p.kind == language.KindBool && subject, p.kind == language.KindNegation && subject && c.has(func(q *part) bool { return q.kind == language.KindBool }):
		case p.noun(), p.exists(), p.kind == language.KindAnaphor, p.kind == language.KindPlaceNoun, p.kind == language.KindNegation, p.kind == language.KindContent, p.kind == language.KindQuestion,
			p.kind == language.KindSelector, p.kind == language.KindCategory:
			continue
		}
		p.inherited = true
		out = append(out, p)
	}
	return out
}

// trailing is what stands behind the last of several coordinated nouns and may be said of all of them: "a drill and a hammer at Northgate". It is empty for a
// clause that is a question of its own.
func (c *clause) trailing() []part {
	if c.verbal || c.pronoun || len(c.parts) == 0 || !c.parts[0].noun() && c.parts[0].kind != language.KindState {
		return nil
	}
	own := clause{}
	for _, p := range c.parts {
		if !p.inherited {
			own.parts = append(own.parts, p)
		}
	}
	place := func(p *part) bool { return p.kind == language.KindPlace || p.kind == language.KindPlaceNoun }
	if !own.has(func(p *part) bool { return p.noun() && !place(p) }) {
		place = func(*part) bool { return false } // a place is the noun itself
		if !own.has((*part).noun) && !own.has((*part).temporal) {
			return nil
		}
	}
	out := own.predicate()
	for _, p := range own.parts {
		if place(&p) {
			p.inherited = true
			out = append(out, p)
		}
	}
	return out
}

// distributed is clause i with what stands behind the last noun coordinated with it; nil when nothing does, or when it has a predicate of its own.
func distributed(all []clause, i int) *clause {
	c := &all[i]
	plain := func(p *part) bool {
		return p.noun() && p.kind != language.KindBool || p.kind == language.KindVerb || p.kind == language.KindSelector || p.kind == language.KindType
	}
	if !c.has((*part).noun) || !c.all(plain) {
		return nil
	}
	for k := i + 1; k < len(all) && (all[k].joined || all[k].breaks == ','); k++ {
		if trailing := all[k].trailing(); len(trailing) > 0 {
			out := *c
			out.parts = slices.Concat(c.parts, trailing)
			return &out
		}
		if !all[k].all(plain) || all[k].verbal || all[k].pronoun {
			return nil
		}
	}
	return nil
}

// subjects are the records or types of a clause.
func (c *clause) subjects() []part {
	var out []part
	for _, p := range c.parts {
		if p.kind == language.KindRecord || p.kind == language.KindType && !p.address {
			p.inherited = true
			out = append(out, p)
		}
	}
	return out
}

// inherit completes clause i from the clauses beside it.
func inherit(all []clause, i int) {
	c := &all[i]
	var before, after *clause
	if i > 0 {
		before = &all[i-1]
	}
	if i+1 < len(all) {
		after = &all[i+1]
	}
	switch {
	case before != nil && c.all(func(p *part) bool { return p.kind == language.KindPlace || p.kind == language.KindPlaceNoun }) && len(c.loose) == 0 && !c.pronoun:
		c.takeAll(before, func(p *part) bool { return p.kind == language.KindPlace || p.kind == language.KindPlaceNoun })
	case c.has((*part).noun) && c.all((*part).nounOrVerbOfField) && !c.pronoun:
		if before != nil {
			c.parts = append(c.parts, before.predicate()...)
		}
	case c.all((*part).temporal) && len(c.loose) == 0:
		if before != nil && (c.joined || !c.otherDay(before)) {
			c.takeAll(before, (*part).temporal)
		}
	case c.all((*part).aboutRecord) && len(c.loose) == 0 && c.has(func(p *part) bool { return p.kind != language.KindAnaphor && p.kind != language.KindSelector }):
		c.takeSubject(before, after)
	}
}

// otherDay reports whether two clauses name a day in different ways: "tomorrow, Sunday" is one day said twice, or none.
func (c *clause) otherDay(before *clause) bool {
	day := func(c *clause) language.Kind {
		for _, p := range c.parts {
			if p.kind == language.KindWeekday || p.kind == language.KindDate || p.kind == language.KindRelative || p.kind == language.KindHoliday {
				return p.kind
			}
		}
		return language.KindSelf
	}
	a, b := day(c), day(before)
	return a != b && a != language.KindSelf && b != language.KindSelf
}

// takeAll takes everything from another clause but what this one says itself: another place, another time.
func (c *clause) takeAll(from *clause, own func(*part) bool) {
	for _, p := range from.parts {
		if !own(&p) {
			p.inherited = true
			c.parts = append(c.parts, p)
		}
	}
}

// aboutRecord reports whether a piece asks about a record without naming one.
func (p *part) aboutRecord() bool {
	switch p.kind {
	case language.KindField:
		return !slices.ContainsFunc(p.values, placeField)
	case language.KindComparison, language.KindFree, language.KindAnaphor, language.KindSelector:
		return true
	case language.KindVerb:
		return p.role&language.RoleField != 0
	}
	return false
}

// takeSubject gives a clause of fields and comparisons the record of the clause before, else of the one after. A referring word only looks back.
func (c *clause) takeSubject(before, after *clause) {
	anaphor := c.has(func(p *part) bool { return p.kind == language.KindAnaphor })
	if before != nil {
		if s := before.subjects(); len(s) == 1 {
			c.refer(s[0])
			return
		}
		if len(before.loose) > 0 || len(before.subjects()) > 1 {
			c.reason = coverage.ReasonUnknownWord // what is referred to is something this publisher does not name
			return
		}
	}
	if !anaphor && after != nil {
		if s := after.subjects(); len(s) == 1 {
			c.parts = append(c.parts, s...)
		} else if len(after.loose) > 0 {
			c.reason = coverage.ReasonUnknownWord
		}
	}
}

// refer takes a subject: in the place of the word that refers to it, where there is one.
func (c *clause) refer(subject part) {
	for i := range c.parts {
		if p := &c.parts[i]; p.kind == language.KindAnaphor {
			subject.from, subject.to, subject.inherited = p.from, p.to, false
			*p = subject
			return
		}
	}
	c.parts = append(c.parts, subject)
}

// placeField reports whether a field is one of a location.
func placeField(field string) bool {
	return field == "hours" || field == "phone" || field == "email" || field == "address"
}

// fieldVerb are the fields a verb can name.
func (p *part) fieldVerb() []string {
	var out []string
	for _, v := range p.values {
		if f, ok := strings.CutPrefix(v, "field:"); ok {
			out = append(out, f)
		}
	}
	return out
}

// ownLists are the lists of which a verb is the publisher's own.
func (p *part) ownLists() []string {
	var out []string
	for _, v := range p.values {
		if !strings.HasPrefix(v, "field:") {
			out = append(out, v)
		}
	}
	return out
}
