package facts

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sort"
)

// search finds the best entries for one query without scoring the others. It walks the postings of all units in entry order, a window at a time, and keeps
// the best so far. A term, one list of entries that earn one unit some credit, stops driving the walk as soon as all terms from it on cannot lift an entry
// into the result by themselves; the terms are ordered by length, so the long lists of common words stop first and are only probed from then on. Every bound
// is a score computed by the same arithmetic as the real one, so the result is that of scoring every entry.
type search struct {
	query
	terms  []term
	order  []int32  // terms, shortest first: the first ones drive the walk
	bound  []int32  // bound[i] is the most the terms from order[i] on can score together
	others []others // the same as sums
	tally  tally
	units  []int32 // positions in query.units, fewest postings first
	rest   []credit
	total  int32 // how many units the query has, repetitions included
	typos  []typo
	merged []uint32 // postings made for this query

	exact      int32 // the entry found by key or alias, -1 when there is none; it is not scored
	exactScore int
	regions    []region
	spaces     []namespaceRun
	top        []hit
	keep       int
}

// term is one list of entries and what they earn its unit.
type term struct {
	postings []uint32 // either postings
	spans    []span   // or ranges
	size     int
	unit     int32
	credit

	at      int   // position in the list
	current int32 // the entry there
}

// credit is what a unit earns: in a full score, zero when it is not full, and in any other.
type credit struct{ full, part int32 }

// others is what the terms from one place of the order on can add: the sum of their parts, and how many units they can fill.
type others struct{ part, units int32 }

// hit is a scored entry.
type hit struct{ entry, score int32 }

// region is a range of entries that the query's jurisdictions treat alike.
type region struct {
	span
	rule jurisdictionRule
}

// jurisdictionRule is what F§6.4 does to the score of an entry.
type jurisdictionRule uint8

const (
	sameJurisdiction  jurisdictionRule = iota // unchanged
	partJurisdiction                          // a subdivision of a country that was named: at most 790
	otherJurisdiction                         // halved
)

func (r jurisdictionRule) apply(score int32) int32 {
	switch r {
	case partJurisdiction:
		return min(score, scorePart)
	case otherJurisdiction:
		return score / 2
	}
	return score
}

// before is the least score that apply turns into at least score.
func (r jurisdictionRule) before(score int32) int32 {
	switch {
	case r == partJurisdiction && score > scorePart:
		return scoreKey + 1 // none does
	case r == otherJurisdiction:
		return 2 * score
	}
	return score
}

// exhausted is the current entry of a term at its end.
const exhausted = math.MaxInt32

// run fills top with the best keep entries for the query that was read.
func (s *search) run(r *Ranker, namespace string, keep int) {
	s.top, s.keep, s.total = s.top[:0], keep, int32(len(s.sequence))
	if s.total == 0 {
		return
	}
	s.plan(r)
	s.layRegions(r, namespace)
	for _, region := range s.regions {
		s.walk(region)
	}
}

// plan makes the terms of every unit, their order and their bounds.
func (s *search) plan(r *Ranker) {
	s.terms, s.typos, s.merged, s.units = s.terms[:0], s.typos[:0], s.merged[:0], s.units[:0]
	for i := range s.query.units {
		u := &s.query.units[i]
		u.first = int32(len(s.terms))
		s.addTerms(&r.index, int32(i), u)
		u.end = int32(len(s.terms))
		u.size, u.credit = 0, credit{}
		for _, t := range s.terms[u.first:u.end] {
			u.size += t.size
			u.full, u.part = max(u.full, t.full), max(u.part, t.part)
		}
		s.units = append(s.units, int32(i))
	}
	slices.SortStableFunc(s.units, func(a, b int32) int { return s.query.units[a].size - s.query.units[b].size })
	s.rest = append(s.rest[:0], make([]credit, len(s.units)+1)...)
	for i := len(s.units) - 1; i >= 0; i-- {
		u := &s.query.units[s.units[i]]
		s.rest[i] = credit{s.rest[i+1].full + u.full, s.rest[i+1].part + u.part}
	}
	s.boundTerms()
}

// boundTerms orders the terms and computes what the terms from each place on can score.
func (s *search) boundTerms() {
	s.order = s.order[:0]
	for i := range s.terms {
		s.order = append(s.order, int32(i))
	}
	slices.SortStableFunc(s.order, func(a, b int32) int { return s.terms[a].size - s.terms[b].size })
	s.bound = append(s.bound[:0], make([]int32, len(s.order)+1)...)
	s.others = append(s.others[:0], make([]others, len(s.order)+1)...)
	for i := range s.query.units {
		s.query.units[i].reach = credit{}
	}
	var sum credit
	missing := len(s.query.units) // units without a full credit yet
	for i := len(s.order) - 1; i >= 0; i-- {
		t := &s.terms[s.order[i]]
		u := &s.query.units[t.unit]
		if u.reach.full == 0 && t.full > 0 {
			missing--
		}
		reach := credit{max(u.reach.full, t.full), max(u.reach.part, t.part)}
		sum.full += reach.full - u.reach.full
		sum.part += reach.part - u.reach.part
		u.reach = reach
		s.others[i] = others{sum.part, int32(len(s.query.units) - missing)}
		s.bound[i] = sum.part / s.total
		if missing == 0 {
			s.bound[i] = sum.full / s.total
		}
	}
}

// addTerms appends the terms of one unit, the best credit first.
func (s *search) addTerms(x *index, at int32, u *unit) {
	count := int32(u.count)
	if u.synonym != nil {
		s.addPostings(u.synonym.postings, at, credit{count * fullOwn, count * partOwn})
		return
	}
	if u.word = x.find(u.token); u.word >= 0 {
		s.addPostings(x.own(u.word), at, credit{count * fullOwn, count * partOwn})
		if spans := x.titles[u.word]; len(spans) > 0 {
			t := term{spans: spans, unit: at, credit: credit{count * fullTopic, count * partTopic}}
			for _, sp := range spans {
				t.size += int(sp.hi - sp.lo)
			}
			s.terms = append(s.terms, t)
		}
		return
	}
	if !mayBeTypo(u.token) {
		return
	}
	from := len(s.typos)
	s.typos = x.near(s.typos, u.token)
	u.typos = s.typos[from:len(s.typos):len(s.typos)]
	s.addTypos(x, at, u.typos, credit{0, count * partTypo})
}

func (s *search) addPostings(postings []uint32, unit int32, c credit) {
	if len(postings) > 0 {
		s.terms = append(s.terms, term{postings: postings, size: len(postings), unit: unit, credit: c})
	}
}

// shortPostings is the length up to which the lists of several misspellings are merged into one.
const shortPostings = 256

// addTypos adds the entries of near words: rare words together in one merged list, so that a token with many neighbours does not make many terms.
func (s *search) addTypos(x *index, unit int32, typos []typo, c credit) {
	from := len(s.merged)
	for _, t := range typos {
		own := x.own(t.word)
		if len(own) > shortPostings {
			s.addPostings(own, unit, c)
			continue
		}
		for _, p := range own {
			s.merged = append(s.merged, p&^inKey)
		}
	}
	slices.Sort(s.merged[from:])
	s.addPostings(slices.Compact(s.merged[from:len(s.merged):len(s.merged)]), unit, c)
}

// layRegions splits the entries by jurisdiction. Those that keep their score come first: they raise the bar for the others.
func (s *search) layRegions(r *Ranker, namespace string) {
	s.regions = s.regions[:0]
	for _, j := range s.jurisdictions {
		s.spaces = r.within(s.spaces[:0], j)
		for _, n := range s.spaces {
			rule := partJurisdiction
			if slices.Contains(s.jurisdictions, n.name) {
				rule = sameJurisdiction
			}
			s.regions = append(s.regions, region{n.span, rule})
		}
	}
	slices.SortFunc(s.regions, func(a, b region) int { return cmp.Compare(a.lo, b.lo) })
	rule := otherJurisdiction
	if len(s.jurisdictions) == 0 {
		rule = sameJurisdiction
	}
	at := int32(0)
	for _, g := range s.regions { // the gaps go behind the ranges this loop is over
		if at < g.lo {
			s.regions = append(s.regions, region{span{at, g.lo}, rule})
		}
		at = g.hi
	}
	if at < r.entries {
		s.regions = append(s.regions, region{span{at, r.entries}, rule})
	}
	slices.SortStableFunc(s.regions, func(a, b region) int { return cmp.Compare(a.rule, b.rule) })
	if namespace != "" {
		s.filter(r.within(s.spaces[:0], namespace))
	}
}

// filter leaves what the regions share with some namespaces.
func (s *search) filter(spaces []namespaceRun) {
	all := slices.Clone(s.regions)
	s.regions = s.regions[:0]
	for _, g := range all {
		for _, n := range spaces {
			if lo, hi := max(g.lo, n.lo), min(g.hi, n.hi); lo < hi {
				s.regions = append(s.regions, region{span{lo, hi}, g.rule})
			}
		}
	}
}

// Windows of a walk: the first is small, because few entries raise the bar a lot, and each is twice as long as the one before.
const (
	firstWindow = 64
	lastWindow  = 4096
)

// tally is what the counted terms give the entries of a window, an upper bound for each: a unit may count in several terms.
type tally struct {
	part  [lastWindow]int32
	terms [lastWindow]int32
	seen  [lastWindow / 64]uint64
}

// walk scores what may enter the result in one region, window by window.
func (s *search) walk(g region) {
	for i := range s.terms {
		s.terms[i].rewind(g.lo)
	}
	drivers := len(s.order)
	length := int32(firstWindow)
	for lo := g.lo; ; length = min(2*length, lastWindow) {
		need := s.need(lo)
		for drivers > 0 && g.rule.apply(s.bound[drivers-1]) < need {
			drivers--
		}
		next := int32(exhausted)
		for _, t := range s.order[:drivers] {
			s.terms[t].seek(lo)
			next = min(next, s.terms[t].current)
		}
		if next >= g.hi {
			return
		}
		lo = min(next+length, g.hi)
		counted := s.worthCounting(drivers)
		for _, t := range s.order[:counted] {
			s.terms[t].seek(next)
			s.terms[t].count(&s.tally, next, lo)
		}
		s.gather(g.rule, s.others[counted], next)
	}
}

// countFactor is how much longer than all shorter ones together a term may be to be counted rather than probed.
const countFactor = 4

// worthCounting is how many terms to count in a window, at least those that drive: counting a list that is not much longer than the others is cheaper than
// probing it for every entry they name.
func (s *search) worthCounting(drivers int) int {
	sum := 0
	for i, t := range s.order {
		size := s.terms[t].size
		if i >= drivers && size > countFactor*sum {
			return i
		}
		sum += size
	}
	return len(s.order)
}

// gather scores the entries of a window, from lo on, whose tally can still enter the result together with the terms that were not counted, and empties the tally.
func (s *search) gather(rule jurisdictionRule, rest others, lo int32) {
	c := &s.tally
	for w := range c.seen {
		for c.seen[w] != 0 {
			at := w*64 + bits.TrailingZeros64(c.seen[w])
			c.seen[w] &= c.seen[w] - 1
			reach, units := c.part[at]+rest.part, c.terms[at]+rest.units
			c.part[at], c.terms[at] = 0, 0
			if units >= int32(len(s.units)) { // a full score is possible
				reach = reach * fullOwn / partOwn
			}
			entry := lo + int32(at)
			need := s.need(entry)
			if entry == s.exact || reach < rule.before(need)*s.total {
				continue
			}
			if score := s.score(entry, rule, need); score > 0 {
				s.offer(hit{entry, score})
			}
		}
	}
}

// need is the least score with which an entry at or behind entry enters the result.
func (s *search) need(entry int32) int32 {
	if len(s.top) < s.keep {
		return 1
	}
	last := s.top[len(s.top)-1]
	if entry < last.entry {
		return last.score // the smaller key wins a tie
	}
	return last.score + 1
}

// score is the score of an entry, or 0 as soon as it cannot reach need. Units with few postings come first: they decide soonest.
func (s *search) score(entry int32, rule jurisdictionRule, need int32) int32 {
	var sum credit
	full, least := true, rule.before(need)*s.total
	for i, at := range s.units {
		u := &s.query.units[at]
		got := credit{}
		for t := u.first; t < u.end; t++ {
			if s.terms[t].seek(entry); s.terms[t].current == entry {
				got = s.terms[t].credit
				break
			}
		}
		sum.full += got.full
		sum.part += got.part
		full = full && got.full > 0
		reach := sum.part + s.rest[i+1].part
		if full {
			reach = sum.full + s.rest[i+1].full
		}
		if reach < least {
			return 0
		}
	}
	if full {
		return rule.apply(sum.full / s.total)
	}
	return rule.apply(sum.part / s.total)
}

// offer puts a hit into the ordered result.
func (s *search) offer(h hit) {
	if len(s.top) == s.keep {
		s.top = s.top[:s.keep-1]
	}
	at, _ := slices.BinarySearchFunc(s.top, h, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.entry, b.entry))
	})
	s.top = slices.Insert(s.top, at, h)
}

// rewind puts a term at its first entry from lo on.
func (t *term) rewind(lo int32) {
	t.at, t.current = 0, -1
	t.seek(lo)
}

// seek moves a term forward to its first entry from entry on.
func (t *term) seek(entry int32) {
	if t.current >= entry {
		return
	}
	if t.spans != nil {
		for t.at < len(t.spans) && t.spans[t.at].hi <= entry {
			t.at++
		}
		t.current = exhausted
		if t.at < len(t.spans) {
			t.current = max(entry, t.spans[t.at].lo)
		}
		return
	}
	least := uint32(entry) << 1
	lo, step := t.at, 1
	for lo+step < len(t.postings) && t.postings[lo+step] < least { // gallop, then halve
		lo += step
		step *= 2
	}
	hi := min(lo+step, len(t.postings))
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); t.postings[mid] < least {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	t.at, t.current = lo, exhausted
	if lo < len(t.postings) {
		t.current = int32(t.postings[lo] >> 1)
	}
}

// count adds what a term gives to the entries of [lo,hi), at most a window, without moving it; it stands at lo or behind.
func (t *term) count(c *tally, lo, hi int32) {
	add := func(at int32) {
		c.part[at] += t.part
		c.terms[at]++
		c.seen[at/64] |= 1 << (at % 64)
	}
	for _, sp := range t.spans[min(t.at, len(t.spans)):] {
		if sp.lo >= hi {
			break
		}
		for entry := max(sp.lo, lo); entry < min(sp.hi, hi); entry++ {
			add(entry - lo)
		}
	}
	for _, p := range t.postings[min(t.at, len(t.postings)):] {
		entry := int32(p >> 1)
		if entry >= hi {
			break
		}
		add(entry - lo)
	}
}

// appendMatched says, per unit in query order, what hit an entry (F§6.8).
func (s *search) appendMatched(dst []string, x *index, entry int32) []string {
	for _, at := range s.sequence {
		if text := s.query.units[at].matched(x, entry); text != "" {
			dst = append(dst, text)
		}
	}
	return dst
}

func (u *unit) matched(x *index, entry int32) string {
	if u.synonym != nil {
		if holds(u.synonym.postings, entry) {
			return u.say(saySynonym)
		}
		return ""
	}
	if u.word < 0 {
		for _, t := range u.typos {
			if holds(x.own(t.word), entry) {
				return "typo:" + u.token + "~" + x.word(t.word)
			}
		}
		return ""
	}
	if p, ok := posting(x.own(u.word), entry); ok {
		if p&inKey != 0 {
			return u.say(sayKey)
		}
		return u.say(sayLabel)
	}
	spans := x.titles[u.word]
	i := sort.Search(len(spans), func(i int) bool { return spans[i].hi > entry })
	if i < len(spans) && spans[i].lo <= entry {
		return u.say(sayTopic)
	}
	return ""
}

// What a unit is matched by, as the text before the colon.
const (
	sayKey = iota
	sayLabel
	sayTopic
	saySynonym
	sayings
)

var sayingPrefix = [sayings]string{"key:", "label:", "topic:", "synonym:"}

// say is one text for all entries of an answer.
func (u *unit) say(what int) string {
	if u.said[what] == "" {
		u.said[what] = sayingPrefix[what] + u.token
	}
	return u.said[what]
}
