package answer

import (
	"cmp"
	"slices"

	"sayso/business/answer/language"
	"sayso/business/coverage"
	"sayso/business/hours"
)

// piece is a run of tokens that was understood as one thing; it may have several targets, and then it is ambiguous.
type piece struct {
	kind     language.Kind
	from, to int // tokens, half-open
	match    match
	targets  []int32  // records, places or terms
	values   []string // fields, types, attributes, lists, codes
	bools    []string // of language.KindProfile: attributes of records that the same words name
	role     language.Role
	compare  language.Comparison
	minute   int
	date     hours.Date
	pair     int    // of a field pattern: the token at which its other part starts, -1 without one
	raw      string // of a criterion: its value as it was written
	address  bool   // directly after the pronoun of a question to the business: a type word there is a verb
	equated  bool   // directly after a copula: the question says that something is it
}

// The caps of one question. Beyond them it is refused, never answered in part.
const (
	maxQuery      = 512     // code points
	maxTokens     = 64      // of a question
	maxWindow     = 8       // tokens that are matched as a set
	maxSpans      = 256     // pieces that may be meant
	maxStates     = 5000    // steps through the trie
	maxLooked     = 1 << 20 // tokens that are looked for in published texts
	maxCandidates = 51      // records of one piece: one more than options show
)

var errTooComplex = &coverage.CallError{Code: "query_too_complex", Path: "/query", Message: "/query: the question has too many words or readings; ask in shorter questions"}

// reader finds the pieces of one question.
type reader struct {
	c       *Compiled
	l       *language.Language
	tokens  []language.Token
	found   [][]known // published words of each token, by position
	pieces  []piece
	at      map[pieceKey]int
	states  int
	looked  int             // published texts that were compared with a run of tokens
	content map[string]bool // function words that titles use
	leading []piece         // references to the publisher before the first clause
}

type pieceKey struct {
	from, to int
	kind     language.Kind
	match    match
}

// add keeps a piece; readings of the same words that differ only in what they are about become one piece.
func (r *reader) add(p piece) {
	key := pieceKey{p.from, p.to, p.kind, p.match}
	if i, ok := r.at[key]; ok && p.kind != language.KindComparison && p.kind != language.KindLiteral {
		have := &r.pieces[i]
		have.role |= p.role
		have.targets = merge(have.targets, p.targets)
		have.values = merge(have.values, p.values)
		return
	}
	p.address, p.equated = r.addressed(p.from) && !r.l.Callers[r.tokens[p.from-1].Plain], r.equated(p.from)
	r.at[key] = len(r.pieces)
	r.pieces = append(r.pieces, p)
}

// merge appends the values that are not there yet.
func merge[T comparable](a, b []T) []T {
	for _, v := range b {
		a = with(a, v)
	}
	return a
}

// with appends a value that is not there yet.
func with[T comparable](a []T, v T) []T {
	if len(a) < maxCandidates && !slices.Contains(a, v) {
		return append(a, v)
	}
	return a
}

// filler reports whether a token is a function word here.
func (r *reader) filler(i int) bool {
	t := &r.tokens[i]
	return r.l.Function[t.Plain] && !r.content[t.Plain] && !t.Opaque
}

// read finds all pieces and chooses the cover.
func (r *reader) read() (*cover, error) {
	r.at = map[pieceKey]int{}
	r.content = r.c.lexicon.content[r.l.Pack.Language]
	r.found = make([][]known, len(r.tokens))
	for i, t := range r.tokens {
		if !t.Opaque {
			r.found[i] = r.c.lexicon.find(r.l, t.Word)
		}
	}
	for i := range r.tokens {
		r.walk(i, i, 0, matchExact, 0)
		r.phrases(i)
		r.literals(i)
	}
	r.windows()
	r.joinBools()
	r.joinVerbs()
	r.reference()
	if len(r.pieces) > maxSpans || r.states > maxStates || r.looked > maxLooked {
		return nil, errTooComplex
	}
	return r.cover(), nil
}

// walk follows the trie from token k on; the entry began at token i.
func (r *reader) walk(i, k int, node int32, m match, breaks uint32) {
	if r.states++; r.states > maxStates {
		return
	}
	x := r.c.lexicon
	if k > i {
		for _, id := range x.ends[node] {
			r.entry(id, i, k, m, breaks)
		}
	}
	if k >= len(r.tokens) || k-i >= maxEntryWords || k > i && r.tokens[k].Breaks == ';' {
		return
	}
	if k > i && r.tokens[k].Breaks != 0 {
		breaks |= 1 << (k - i)
	}
	step := func(found []known, next int) {
		for _, w := range found {
			if to, ok := x.trie[edgeKey{node, w.word}]; ok {
				worse := m
				if !w.exact {
					worse = max(m, matchInflection)
				}
				r.walk(i, next, to, worse, breaks)
			}
		}
	}
	step(r.found[k], k+1)
	if k+1 < len(r.tokens) && r.tokens[k+1].Hyphen {
		step(x.find(r.l, r.tokens[k].Word+r.tokens[k+1].Word), k+2)
	}
}

// entry adds the piece of an entry that stands at tokens i to k.
func (r *reader) entry(id int32, i, k int, m match, breaks uint32) {
	e := &r.c.lexicon.entries[id]
	if r.looked++; r.looked > maxLooked || e.lang != "" && e.lang != r.l.Pack.Language || breaks&^e.breaks != 0 {
		return
	}
	if e.elided {
		m = matchElided
	}
	if e.kind == language.KindVerb {
		m = matchExact // roles of one word are one piece
	}
	r.mean(e, i, k, m)
}

// mean adds what an entry stands for to the piece at tokens i to k. It reports whether the piece has as many targets as any needs.
func (r *reader) mean(e *entry, i, k int, m match) (full bool) {
	at, ok := r.at[pieceKey{i, k, e.kind, m}]
	if !ok {
		at = len(r.pieces)
		r.add(piece{kind: e.kind, from: i, to: k, match: m, pair: -1})
	}
	p := &r.pieces[at]
	p.role |= e.role
	if e.target >= 0 {
		p.targets = with(p.targets, e.target)
	}
	if e.value != "" {
		p.values = with(p.values, e.value)
	}
	return len(p.targets) == maxCandidates
}

// phrases adds the phrases of the language at position i. The two parts of a field pattern are two pieces that stand or fall together.
func (r *reader) phrases(i int) {
	for p := range r.l.PhrasesAt(r.tokens, i) {
		to := i + len(p.Words)
		if p.Mark.Kind > language.KindQuestion {
			continue
		}
		found := piece{kind: p.Mark.Kind, from: i, to: to, role: p.Mark.Role, pair: -1}
		switch {
		case p.Mark.Value != "" && p.Mark.Role != language.RoleField:
			found.values = []string{p.Mark.Value}
		case p.Mark.Role == language.RoleField:
			found.values = []string{"field:" + p.Mark.Value}
		}
		if p.Mark.Kind == language.KindFree {
			found.compare = language.Comparison{Op: "le", Field: "price", Free: true}
		}
		if p.Tail == nil {
			r.add(found)
			continue
		}
		for k := to; k < len(r.tokens) && r.tokens[k].Breaks == 0; k++ {
			if r.l.StandsAt(r.tokens, k, p.Tail) {
				other := found
				other.from, other.to, other.pair = k, k+len(p.Tail), i
				found.pair = k
				r.add(found)
				r.add(other)
				break
			}
		}
	}
}

// literals adds the typed values at position i.
func (r *reader) literals(i int) {
	if c, next := r.l.ComparisonAt(r.tokens, i); next > 0 {
		r.add(piece{kind: language.KindComparison, from: i, to: next, compare: c, pair: -1})
	}
	r.dates(i)
	if m, next := r.l.TimeAt(r.tokens, i); next > 0 {
		r.add(piece{kind: language.KindTime, from: i, to: next, minute: m, pair: -1})
		return
	}
	if v, ok := r.l.LiteralAt(r.tokens, i); ok {
		r.add(piece{kind: language.KindLiteral, from: i, to: v.Next, compare: language.Comparison{Literal: v}, pair: -1})
	}
}

// dates adds a date at position i, and together with a weekday before or behind it: the two are one day, or none.
func (r *reader) dates(i int) {
	if d, next := r.l.DateAt(r.tokens, i); next > 0 {
		r.add(piece{kind: language.KindDate, from: i, to: next, date: d, pair: -1})
		if m, after := r.l.MarkAt(r.tokens, next, language.KindWeekday); after > 0 && r.tokens[next].Breaks != ';' {
			r.add(piece{kind: language.KindDate, from: i, to: after, date: d, values: []string{m.Value}, pair: -1})
		}
	}
	m, at := r.l.MarkAt(r.tokens, i, language.KindWeekday)
	if at == 0 {
		return
	}
	for at < len(r.tokens) && r.filler(at) && r.tokens[at].Breaks != ';' {
		at++
	}
	if at >= len(r.tokens) || r.tokens[at].Breaks == ';' {
		return
	}
	if d, next := r.l.DateAt(r.tokens, at); next > 0 {
		r.add(piece{kind: language.KindDate, from: i, to: next, date: d, values: []string{m.Value}, pair: -1})
	}
}

// windows adds what has the same content words as a run of at most maxWindow tokens, and the records whose titles a run narrows to.
func (r *reader) windows() {
	for i := range r.tokens {
		if r.filler(i) {
			continue
		}
		r.narrowing(i)
		for j := i; j < len(r.tokens) && j < i+maxWindow; j++ {
			if j > i && r.tokens[j].Breaks != 0 {
				break
			}
			if r.filler(j) {
				if !r.l.Links[r.tokens[j].Plain] {
					break
				}
				continue
			}
			if len(r.found[j]) == 0 {
				break
			}
			r.sameSet(i, j+1)
		}
	}
}

// narrowing grows a run of content words away from its head as long as a title has them all.
func (r *reader) narrowing(head int) {
	for i, j := head, head+1; j-i <= maxWindow && len(r.found[head]) > 0 && r.narrower(head, i, j); {
		next := i - 1
		if r.l.Pack.Head == "first" {
			next, j = j, j+1
		} else {
			i--
		}
		if next < 0 || next == len(r.tokens) || r.tokens[max(next, i+1)].Breaks != 0 || r.filler(next) || len(r.found[next]) == 0 {
			return
		}
	}
}

// sameSet adds the entries whose content words are exactly those of the window.
func (r *reader) sameSet(i, j int) {
	sets := [][]int32{nil}
	for k := i; k < j; k++ {
		if r.filler(k) {
			continue
		}
		var next [][]int32
		for _, s := range sets {
			for _, w := range r.found[k] {
				if !slices.Contains(s, w.word) && len(next) < 16 {
					next = append(next, append(slices.Clone(s), w.word))
				}
			}
		}
		sets = next
	}
	for _, s := range sets {
		slices.Sort(s)
		for _, id := range r.c.lexicon.sets[setKey(s)] {
			if e := &r.c.lexicon.entries[id]; !e.elided && r.oneNoun(e, i, j) {
				r.entry(id, i, j, matchSameSet, 0)
			}
		}
	}
}

// narrower adds the records whose title has the window's words and more, with the same head, and reports whether there are any. Of its words the rarest has the
// fewest titles to look at.
func (r *reader) narrower(head, i, j int) (found bool) {
	x := r.c.lexicon
	rarest, titles := head, x.heads
	least := r.owned(head, titles)
	for k := i; k < j; k++ {
		if n := r.owned(k, x.owners); k != head && n < least {
			rarest, titles, least = k, x.owners, n
		}
	}
	for _, w := range r.found[rarest] {
		for _, id := range titles[w.word] {
			if r.looked += j - i; r.looked > maxLooked {
				return false
			}
			e := &x.entries[id]
			if e.lang != "" && e.lang != r.l.Pack.Language || len(e.set) <= j-i || !slices.ContainsFunc(r.found[head], func(h known) bool { return h.word == e.head }) || !r.within(e.set, i, j) {
				continue
			}
			found = true
			if r.mean(e, i, j, matchNarrower) {
				return true
			}
		}
	}
	return found
}

// owned is how many titles the published words of a token have.
func (r *reader) owned(token int, titles map[int32][]int32) (n int) {
	for _, w := range r.found[token] {
		n += len(titles[w.word])
	}
	return n
}

// within reports whether each token of the window is a different word of the set.
func (r *reader) within(set []int32, i, j int) bool {
	var used [maxWindow]int32
	n := 0
	for k := i; k < j; k++ {
		ok := false
		for _, w := range r.found[k] {
			if slices.Contains(set, w.word) && !slices.Contains(used[:n], w.word) {
				used[n], ok = w.word, true
				n++
				break
			}
		}
		if !ok {
			return false
		}
	}
	return true
}

// reference settles what may refer to the publisher: its whole name where no record or attribute is named by the same words, and behind a word such as "at" the
// beginning of its name that means nothing else.
func (r *reader) reference() {
	all := slices.Clone(r.pieces)
	r.pieces = slices.DeleteFunc(r.pieces, func(p piece) bool {
		return p.kind == language.KindSelf && slices.ContainsFunc(all, func(q piece) bool {
			return q.from <= p.from && q.to >= p.to && q.match.full() && (q.kind == language.KindRecord || q.kind == language.KindTerm || q.kind == language.KindProfile || q.kind == language.KindBool)
		})
	})
	r.premises()
	name := r.l.Tokens(r.c.publication.Profile.DisplayName)
	for i := 1; i < len(r.tokens); i++ {
		if !r.l.NameCues[r.tokens[i-1].Plain] || r.tokens[i].Breaks != 0 {
			continue
		}
		n := 0
		for n < len(name)-1 && i+n < len(r.tokens) && r.tokens[i+n].Word == name[n].Word && (n == 0 || r.tokens[i+n].Breaks == 0) {
			n++
		}
		overlaps := func(p piece) bool { return p.from < i+n && p.to > i }
		if n > 0 && !r.filler(i) && !slices.ContainsFunc(r.pieces, overlaps) {
			r.pieces = append(r.pieces, piece{kind: language.KindSelf, from: i, to: i + n, pair: -1})
		}
	}
}

// joinBools makes one piece of words that name an attribute of the business and one of records: which is meant depends on the rest of the clause.
func (r *reader) joinBools() {
	for i := range r.pieces {
		p := &r.pieces[i]
		if p.kind != language.KindProfile {
			continue
		}
		if k, ok := r.at[pieceKey{p.from, p.to, language.KindBool, p.match}]; ok {
			p.bools = r.pieces[k].values
		}
	}
	all := slices.Clone(r.pieces)
	r.pieces = slices.DeleteFunc(r.pieces, func(p piece) bool {
		return p.kind == language.KindBool && slices.ContainsFunc(all, func(q piece) bool {
			return q.kind == language.KindProfile && q.from == p.from && q.to == p.to && q.match == p.match
		})
	})
}

// joinVerbs gives a phrase of the language the role of a verb of the publisher's inside it: "pay with" where a list has the verb "pay".
func (r *reader) joinVerbs() {
	for i := range r.pieces {
		p := &r.pieces[i]
		if p.kind != language.KindVerb || p.role&language.RoleList == 0 {
			continue
		}
		for _, q := range r.pieces {
			if q.kind == language.KindVerb && q.role&language.RoleOwn != 0 && q.from >= p.from && q.to <= p.to {
				p.role |= language.RoleOwn
				p.values = merge(slices.Clone(p.values), (&part{piece: q}).ownLists())
			}
		}
	}
}

// cost orders covers, the first difference decides: content words left over (twice, so that a word that is always an obligation is less than one), words matched in worse ways, priority of the kinds, number of pieces, function
// words left over.
type cost [8]int

func (a cost) plus(b cost) cost {
	for i := range a {
		a[i] += b[i]
	}
	return a
}

func (a cost) compare(b cost) int { return slices.Compare(a[:], b[:]) }

// costOf is what choosing a piece costs: its content words in each worse kind of match.
func (r *reader) costOf(p *piece) cost {
	words := 0
	for i := p.from; i < p.to; i++ {
		if !r.filler(i) {
			words++
		}
	}
	var c cost
	switch p.match {
	case matchElided:
		c[1] = words
	case matchNarrower:
		c[2] = words
	case matchSameSet:
		c[3] = words
	case matchInflection:
		c[4] = words
	}
	if p.kind == language.KindContent && p.to-p.from == 1 {
		c[0] = words // a single such word gives way to a title that has it; "no longer" does not give way to "no"
	}
	c[5], c[6] = words*priority[p.kind], 1
	if words == 0 && (p.kind == language.KindVerb || p.kind == language.KindCourtesy || p.kind == language.KindField) {
		c[6] = -1 // "there is": function words that mean something together
	}
	return c
}

// cover is the chosen pieces of a question in order. Disputed tokens have two covers of the same cost that differ: they are understood in neither way.
type cover struct {
	pieces   []piece
	disputed []bool // by token
}

// step is one way to reach a position at least cost.
type step struct {
	piece int // -1 for a token that no piece covers
	from  int
}

// cover chooses by dynamic programming over positions.
func (r *reader) cover() *cover {
	n := len(r.tokens)
	ending, next := make([]int, n+1), make([]int, len(r.pieces)) // the first piece that ends before a position, and the one after each; from 1, 0 for none
	for i := len(r.pieces) - 1; i >= 0; i-- {
		next[i] = ending[r.pieces[i].to]
		ending[r.pieces[i].to] = i + 1
	}
	best := make([]cost, n+1)
	firsts, lasts := make([]step, n+1), make([]step, n+1) // of the least expensive ways to a position
	for i := 1; i <= n; i++ {
		alone := cost{}
		if !r.filler(i - 1) {
			alone[0] = 2
		} else {
			alone[7] = 1
		}
		best[i], firsts[i] = best[i-1].plus(alone), step{-1, i - 1}
		lasts[i] = firsts[i]
		for p := ending[i] - 1; p >= 0; p = next[p] - 1 {
			total := best[r.pieces[p].from].plus(r.costOf(&r.pieces[p]))
			switch c := total.compare(best[i]); {
			case c < 0:
				best[i], firsts[i] = total, step{p, r.pieces[p].from}
				fallthrough
			case c == 0:
				lasts[i] = step{p, r.pieces[p].from}
			}
		}
	}
	out := &cover{disputed: make([]bool, n)}
	first, last := r.path(firsts), r.path(lasts)
	for i := range n {
		out.disputed[i] = first[i] != last[i]
	}
	for i := 0; i < n; {
		if first[i] < 0 {
			i++
			continue
		}
		p := r.pieces[first[i]]
		if i = p.to; !slices.Contains(out.disputed[p.from:p.to], true) {
			out.pieces = append(out.pieces, p)
		}
	}
	out.drop(r)
	return out
}

// path is the piece of each token on the way that ends with these steps, -1 for none.
func (r *reader) path(ways []step) []int {
	out := make([]int, len(r.tokens))
	for i := len(r.tokens); i > 0; {
		s := ways[i]
		for k := s.from; k < i; k++ {
			out[k] = s.piece
		}
		i = s.from
	}
	return out
}

// drop takes out pieces that cannot stand: half of a field pattern, and a narrower title whose head is only a modifier of an unknown word ("drill bits").
func (o *cover) drop(r *reader) {
	covered := make([]bool, len(r.tokens))
	starts := map[int]bool{}
	for _, p := range o.pieces {
		starts[p.from] = true
		for i := p.from; i < p.to; i++ {
			covered[i] = true
		}
	}
	unknown := func(i, boundary int) bool {
		return i >= 0 && i < len(r.tokens) && !covered[i] && !r.filler(i) && r.tokens[boundary].Breaks == 0
	}
	o.pieces = slices.DeleteFunc(o.pieces, func(p piece) bool {
		if p.pair >= 0 && !starts[p.pair] {
			return true
		}
		if p.kind != language.KindRecord || p.match != matchNarrower {
			return false
		}
		if r.l.Pack.Head == "first" {
			return unknown(p.from-1, p.from)
		}
		return p.to < len(r.tokens) && unknown(p.to, p.to)
	})
	slices.SortFunc(o.pieces, func(a, b piece) int { return cmp.Compare(a.from, b.from) })
}
