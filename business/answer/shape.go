package answer

import (
	"slices"

	"sayso/business/answer/language"
)

// slot is a place in a clause shape that a piece can fill.
type slot uint8

const (
	slotRecord slot = iota
	slotType
	slotAnaphor
	slotExist
	slotTypeVerb // a type word in the place of a verb
	slotProfile
	slotBool
	slotTerm
	slotListNoun
	slotOwnVerb
	slotListVerb
	slotField      // record field without scope
	slotScoped     // record field per location
	slotPresence   // stock or availability
	slotPlaceField // hours, phone, email, address
	slotHoursField // hours
	slotFieldVerb  // names a field beside its phrase
	slotComparison // with an amount or quantity
	slotDistance   // with a length
	slotPlace
	slotPlaceNoun
	slotDay
	slotTime
	slotHoliday
	slotState
	slotNearest
	slotSelector
	slotNegation
)

// maxGroups is the most members a shape has.
const maxGroups = 8

// group is a member of a shape: pieces that fill one of the slots, at least min and at most max of them.
type group struct {
	slots    []slot
	min, max int
}

// shape is one licensed combination of pieces. Nothing outside this table can be resolved.
type shape struct {
	name   string
	groups []group
	fits   func(c *Compiled, a *assignment) bool // what the kinds alone do not say; nil for nothing
}

func one(s ...slot) group           { return group{s, 1, 1} }
func optional(s ...slot) group      { return group{s, 0, 1} }
func upTo(n int, s ...slot) group   { return group{s, 0, n} }
func someOf(n int, s ...slot) group { return group{s, 1, n} }

// shapes is the closed list, as data. The order decides between shapes that use equally much of a clause.
var shapes = []shape{
	{"S8", []group{one(slotPresence), one(slotRecord, slotAnaphor), optional(slotPlace), optional(slotPlaceNoun), optional(slotExist)}, (*Compiled).fitsPresence},
	{"S8", []group{one(slotRecord), one(slotPlace), optional(slotPlaceNoun), optional(slotExist)}, (*Compiled).fitsAvailable},
	{"S7", []group{one(slotRecord, slotType, slotAnaphor), one(slotComparison), optional(slotExist), optional(slotField), optional(slotFieldVerb)}, (*Compiled).fitsComparison},
	{"S6", []group{one(slotRecord, slotType, slotAnaphor), one(slotBool), optional(slotExist, slotTypeVerb), optional(slotNegation)}, fitsAttribute},
	{"S4", []group{someOf(4, slotField), optional(slotRecord, slotType, slotAnaphor), upTo(2, slotFieldVerb), optional(slotSelector)}, fitsFieldVerb},
	{"S4", []group{someOf(4, slotScoped), one(slotRecord, slotAnaphor), optional(slotPlace), optional(slotPlaceNoun), optional(slotSelector)}, nil},
	{"S5", []group{someOf(4, slotPlaceField), upTo(2, slotPlace), upTo(2, slotPlaceNoun), optional(slotSelector), optional(slotFieldVerb)}, fitsFieldVerb},
	{"S5", []group{someOf(3, slotHoursField), upTo(2, slotPlace), upTo(2, slotPlaceNoun), optional(slotSelector), optional(slotDay), optional(slotTime), optional(slotHoliday)}, nil},
	{"S5", []group{one(slotState), upTo(2, slotPlace), upTo(2, slotPlaceNoun), optional(slotDay), optional(slotTime), optional(slotHoliday), optional(slotExist)}, fitsState},
	{"S3", []group{one(slotTerm), optional(slotListNoun), optional(slotOwnVerb, slotListVerb, slotTypeVerb), optional(slotNegation)}, (*Compiled).fitsList},
	{"S11", []group{one(slotSelector), one(slotType), optional(slotExist), optional(slotBool), optional(slotComparison), optional(slotField), optional(slotFieldVerb), optional(slotNegation)}, (*Compiled).fitsComparison},
	{"S9", []group{one(slotNearest, slotDistance), someOf(2, slotPlaceNoun), optional(slotSelector), optional(slotExist)}, nil},
	{"S1", []group{one(slotRecord, slotType), optional(slotExist, slotTypeVerb), optional(slotNegation)}, (*Compiled).fitsExistence},
	{"S2", []group{one(slotProfile), optional(slotExist, slotTypeVerb), optional(slotNegation)}, (*Compiled).fitsProfile},
	{"S10", []group{one(slotListNoun), optional(slotSelector), optional(slotOwnVerb, slotListVerb)}, fitsNoun},
}

// assignment is a shape with the pieces that fill it.
type assignment struct {
	shape  *shape
	clause *clause
	used   []bool   // parts of the clause
	placed []placed // those that are used, the longest first
	tokens int      // how many tokens it uses
}

// placed is a part of the clause, by its index, in the slot it fills.
type placed struct {
	slot slot
	part int
}

// part is the first piece in the first of the slots that has one, nil when none has.
func (a *assignment) part(slots ...slot) *part {
	for _, s := range slots {
		for _, f := range a.placed {
			if f.slot == s {
				return &a.clause.parts[f.part]
			}
		}
	}
	return nil
}

// parts are the pieces in a slot, the longest first.
func (a *assignment) parts(s slot) []*part {
	var out []*part
	for _, f := range a.placed {
		if f.slot == s {
			out = append(out, &a.clause.parts[f.part])
		}
	}
	return out
}

// whole reports whether the clause is exactly the shape.
func (a *assignment) whole() bool { return len(a.clause.loose) == 0 && !slices.Contains(a.used, false) }

// onlyWords reports whether nothing is left over but words that are always an obligation: no noun that the publisher may not have.
func (a *assignment) onlyWords() bool {
	for i, p := range a.clause.parts {
		if !a.used[i] && p.kind != language.KindContent {
			return false
		}
	}
	return len(a.clause.loose) == 0
}

// appendSlots appends the slots that a piece can fill.
func (c *Compiled) appendSlots(dst []slot, p *part) []slot {
	switch p.kind {
	case language.KindType:
		if p.address {
			return append(dst, slotTypeVerb, slotType)
		}
		return append(dst, slotType)
	case language.KindProfile:
		if len(p.bools) > 0 {
			return append(dst, slotBool, slotProfile)
		}
		return append(dst, slotProfile)
	case language.KindVerb:
		return appendVerbSlots(dst, p)
	case language.KindField:
		return c.appendFieldSlots(dst, p)
	case language.KindComparison:
		if !p.compare.Literal.Money && units[p.compare.Literal.Unit].dimension == "length" {
			return append(dst, slotComparison, slotDistance)
		}
		return append(dst, slotComparison)
	}
	if s, ok := plainSlots[p.kind]; ok {
		return append(dst, s)
	}
	return dst
}

// plainSlots are the kinds that fill one slot only. The others fill none: they are always left over.
var plainSlots = map[language.Kind]slot{
	language.KindRecord: slotRecord, language.KindAnaphor: slotAnaphor, language.KindBool: slotBool, language.KindTerm: slotTerm, language.KindListNoun: slotListNoun,
	language.KindFree: slotComparison, language.KindPlace: slotPlace, language.KindPlaceNoun: slotPlaceNoun, language.KindWeekday: slotDay, language.KindDate: slotDay, language.KindRelative: slotDay, language.KindTime: slotTime,
	language.KindHoliday: slotHoliday, language.KindState: slotState, language.KindNearest: slotNearest, language.KindSelector: slotSelector, language.KindNegation: slotNegation,
}

func appendVerbSlots(dst []slot, p *part) []slot {
	if p.role&language.RoleOwn != 0 {
		dst = append(dst, slotOwnVerb)
	}
	if p.role&language.RoleList != 0 {
		dst = append(dst, slotListVerb)
	}
	if p.role&language.RoleField != 0 {
		dst = append(dst, slotFieldVerb)
	}
	if p.role&language.RoleExist != 0 {
		dst = append(dst, slotExist)
	}
	return dst
}

// appendFieldSlots appends those of a field phrase. A phrase that names two fields is understood as neither.
func (c *Compiled) appendFieldSlots(dst []slot, p *part) []slot {
	if len(p.values) != 1 {
		return dst
	}
	switch f := p.values[0]; {
	case f == "hours":
		return append(dst, slotPlaceField, slotHoursField)
	case placeField(f):
		return append(dst, slotPlaceField)
	case f == "stock", f == "available":
		return append(dst, slotPresence)
	case c.scopedField(f):
		return append(dst, slotScoped)
	}
	return append(dst, slotField)
}

// able is a part of a clause with the slots it can fill, in the order in which they are tried.
type able struct {
	part   int
	tokens int
	slots  []slot
}

// ables are the parts of a clause, the longest first.
func (c *Compiled) ables(cl *clause) []able {
	out := make([]able, len(cl.parts))
	slots := make([]slot, 0, 2*len(cl.parts))
	for i := range cl.parts {
		p, n := &cl.parts[i], len(slots)
		slots = c.appendSlots(slots, p)
		out[i] = able{i, p.to - p.from, slots[n:len(slots):len(slots)]}
	}
	slices.SortStableFunc(out, func(x, y able) int { return y.tokens - x.tokens })
	return out
}

// takes reports whether the group has one of the slots.
func (g *group) takes(slots []slot) bool {
	return slices.ContainsFunc(slots, func(s slot) bool { return slices.Contains(g.slots, s) })
}

// most is how many tokens the shape can use at best, and false when a member that it needs has no piece at all.
func (s *shape) most(parts []able) (tokens int, possible bool) {
	for g := range s.groups {
		if s.groups[g].min > 0 && !slices.ContainsFunc(parts, func(p able) bool { return s.groups[g].takes(p.slots) }) {
			return 0, false
		}
	}
	for _, p := range parts {
		if slices.ContainsFunc(s.groups, func(g group) bool { return g.takes(p.slots) }) {
			tokens += p.tokens
		}
	}
	return tokens, true
}

// assign finds the shape that uses most of a clause; nil when none applies. A type word after the pronoun of a question is tried as a verb and as a noun.
func (c *Compiled) assign(cl *clause) *assignment {
	parts := c.ables(cl)
	either := slices.ContainsFunc(parts, func(p able) bool { return len(p.slots) > 1 })
	var best *assignment
	try := func(s *shape) {
		if most, possible := s.most(parts); !possible || best != nil && most <= best.tokens {
			return
		}
		if a := c.fill(s, cl, parts); a != nil && (best == nil || a.tokens > best.tokens) {
			best = a
		}
	}
	if !either {
		for i := range shapes {
			try(&shapes[i])
		}
		return best
	}
	for i := range shapes {
		for range 2 {
			try(&shapes[i])
			for _, p := range parts {
				slices.Reverse(p.slots) // and back after the second time
			}
		}
	}
	return best
}

// fill gives the pieces of a clause to the groups of a shape, the longest first.
func (c *Compiled) fill(s *shape, cl *clause, parts []able) *assignment {
	a := &assignment{shape: s, clause: cl, used: make([]bool, len(cl.parts)), placed: make([]placed, 0, len(cl.parts))}
	var counts [maxGroups]int
	for _, p := range parts {
		if g, filled, ok := s.place(p.slots, &counts); ok {
			counts[g]++
			a.used[p.part] = true
			a.placed = append(a.placed, placed{filled, p.part})
			a.tokens += p.tokens
		}
	}
	for g := range s.groups {
		if counts[g] < s.groups[g].min {
			return nil
		}
	}
	if s.fits != nil && !s.fits(c, a) {
		return nil
	}
	return a
}

// place finds the first group with room for one of the slots.
func (s *shape) place(slots []slot, counts *[maxGroups]int) (group int, filled slot, ok bool) {
	for _, want := range slots {
		for g := range s.groups {
			if counts[g] < s.groups[g].max && slices.Contains(s.groups[g].slots, want) {
				return g, want, true
			}
		}
	}
	return 0, 0, false
}

// alone is the assignment of one piece that no word of a question stands for.
func alone(s slot, p piece) *assignment {
	return &assignment{clause: &clause{parts: []part{{piece: p}}}, used: []bool{true}, placed: []placed{{s, 0}}}
}

// release gives the pieces in a slot back: they are left over.
func (a *assignment) release(s slot) {
	a.placed = slices.DeleteFunc(a.placed, func(f placed) bool {
		if f.slot != s {
			return false
		}
		a.used[f.part] = false
		a.tokens -= a.clause.parts[f.part].to - a.clause.parts[f.part].from
		return true
	})
}

// fitsNegation keeps a negation only where it negates the attribute. A negated verb says of one of several records that it is not so, or of none that it is.
func fitsNegation(_ *Compiled, a *assignment) bool {
	p := a.part(slotBool, slotProfile)
	if a.part(slotNegation) != nil && (p == nil || !p.negated || !p.opposite && a.part(slotSelector) == nil && (a.part(slotType) != nil || !a.negatesVerb())) {
		a.release(slotNegation)
	}
	return true
}

// negatesVerb reports whether a negation is that of the verb of its own clause: "don't you have", "avez-vous pas". Behind a noun it may say something of that
// noun ("a menu not vegetarian"), and in a clause without a verb of its own it turns against the one before ("cash but not Visa").
func (a *assignment) negatesVerb() bool {
	n, verb := a.part(slotNegation), a.clause.equates
	for i := range a.clause.parts {
		switch p := &a.clause.parts[i]; {
		case p.inherited || p.from >= n.from:
		case p.noun() || p.kind == language.KindListNoun:
			return n.verbal
		case p.kind == language.KindVerb || p.kind == language.KindType:
			verb = true
		}
	}
	return n.verbal || verb && !a.clause.helped // "do you take not cash but Visa"
}

// fitsAttribute needs the attribute to be what something has: "a room for breakfast" is no room with breakfast.
func fitsAttribute(c *Compiled, a *assignment) bool {
	return !a.part(slotBool).aside && fitsNegation(c, a)
}

// fitsProfile leaves out a verb of trade: what a business has itself is no goods.
func (c *Compiled) fitsProfile(a *assignment) bool {
	if v := a.part(slotExist); v != nil && v.trade {
		a.release(slotExist)
	}
	return fitsNegation(c, a)
}

// fitsExistence keeps a negation of the verb: it does not change whether something exists. A type word as a verb is said of records of that type: a drill is no
// service, and "do you service drills" does not ask whether there are any.
func (c *Compiled) fitsExistence(a *assignment) bool {
	p, v := a.part(slotRecord, slotType), a.part(slotTypeVerb)
	if v != nil && a.part(slotRecord) != nil && slices.ContainsFunc(p.targets, func(t int32) bool { return !slices.Contains(v.values, c.records[t].Type) }) {
		a.release(slotTypeVerb)
	}
	if n := a.part(slotNegation); n != nil && !n.verbal {
		a.release(slotNegation)
	}
	return true
}

// fitsPresence needs a location only where presence is stated per location.
func (c *Compiled) fitsPresence(a *assignment) bool {
	if p := a.part(slotPlace); p != nil && p.off {
		a.release(slotPlace)
	}
	if !c.scopedField(a.part(slotPresence).values[0]) {
		a.release(slotPlace)
		a.release(slotPlaceNoun)
	}
	return true
}

// fitsState keeps a day and a time only where they say when ("open to 8:00" says until when), and a verb only where it is one ("open to offers").
func fitsState(_ *Compiled, a *assignment) bool {
	for _, s := range []slot{slotDay, slotTime} {
		if p := a.part(s); p != nil && p.off {
			a.release(s)
		}
	}
	if v := a.part(slotExist); v != nil && v.aside {
		a.release(slotExist)
	}
	return true
}

// fitsAvailable licenses a record at a location only where the schema says so (XP-IDENTITY-008).
func (c *Compiled) fitsAvailable(a *assignment) bool {
	return c.scopedField("available") && !a.part(slotPlace).off
}

// fitsFieldVerb keeps a verb of a field only beside that field.
func fitsFieldVerb(_ *Compiled, a *assignment) bool {
	for _, v := range a.parts(slotFieldVerb) {
		if !slices.ContainsFunc(v.fieldVerb(), func(f string) bool {
			named := func(p *part) bool { return p.values[0] == f }
			return slices.ContainsFunc(a.parts(slotField), named) || slices.ContainsFunc(a.parts(slotPlaceField), named)
		}) {
			a.release(slotFieldVerb)
			break
		}
	}
	return true
}

// fitsComparison needs the field that is compared to be a field of its own, and no other field beside it.
func (c *Compiled) fitsComparison(a *assignment) bool {
	p := a.part(slotComparison)
	if p == nil {
		a.release(slotField)
		a.release(slotFieldVerb)
		return fitsNegation(c, a)
	}
	field := c.comparedField(a)
	if a.clause.modal && !a.clause.caller {
		return false // "can you do the room for under 100 euros" is an offer
	}
	if field == "duration" && p.behind != "" && a.part(slotExist) != nil {
		return false // "can I get a massage in under an hour" may ask when it starts
	}
	if field == "" || p.compare.Free && a.part(slotExist, slotType, slotSelector) != nil {
		return false // "do you have a free room", "which rooms are free" may ask whether one is vacant
	}
	if f := a.part(slotField); f != nil && f.values[0] != field {
		a.release(slotField)
	}
	if v := a.part(slotFieldVerb); v != nil && !slices.Contains(v.fieldVerb(), field) {
		a.release(slotFieldVerb)
	}
	return fitsNegation(c, a)
}

// comparedField is the field that a comparison is about: the one named, the one implied, or the only one of its dimension. "" when there is none.
func (c *Compiled) comparedField(a *assignment) string {
	p := a.part(slotComparison)
	if f := a.part(slotField); f != nil && p.compare.Field == "" && !p.compare.Free {
		return f.values[0]
	}
	if p.compare.Field != "" {
		return p.compare.Field
	}
	if v := a.part(slotFieldVerb); v != nil && len(v.fieldVerb()) == 1 {
		return v.fieldVerb()[0]
	}
	return c.fieldOfUnit(p.compare.Literal)
}

// fieldOfUnit is the one field of records that is measured in the dimension of a literal.
func (c *Compiled) fieldOfUnit(v language.Literal) string {
	switch {
	case v.Money:
		return "price"
	case units[v.Unit].dimension == "time":
		return "duration"
	case v.Unit == "":
		return ""
	}
	found := ""
	for name, attributes := range c.fields {
		if !slices.ContainsFunc(attributes, func(a attribute) bool {
			_, ok := unitFactor(v.Unit, a.Unit)
			return ok && a.Kind == "quantity" && a.ScopedBy == ""
		}) {
			continue
		}
		if found != "" && found != name {
			return ""
		}
		found = name
	}
	return found
}

// fitsList needs one list. See named for what a whole question about it needs besides.
func (c *Compiled) fitsList(a *assignment) bool {
	if p := a.part(slotTerm); a.part(slotNegation) != nil && (!p.negated || p.opposite || !a.negatesVerb()) {
		a.release(slotNegation) // "can I pay without cash" asks for something else
	}
	if a.part(slotListNoun) == nil {
		a.release(slotListVerb)
	}
	return len(c.listsOf(a)) == 1
}

// named reports whether a word says which list a term is asked of: the list's noun, a verb of its own, or a type word as a verb. A clause of nothing but the
// term needs none. Without it the term is in the list, and the question may be about something else ("Do you sell Audi?").
func (a *assignment) named() bool {
	if a.part(slotListNoun, slotOwnVerb, slotTypeVerb) != nil {
		return true
	}
	own := 0
	for _, p := range a.clause.parts {
		if !p.inherited {
			own++
		}
	}
	return a.clause.bare && own == 1 && len(a.clause.loose) == 0
}

// listsOf are the lists that a term is asked about.
func (c *Compiled) listsOf(a *assignment) []string {
	var lists []string
	for _, t := range a.part(slotTerm).targets {
		list := c.terms[t].list
		noun, verb := a.part(slotListNoun), a.part(slotOwnVerb)
		if noun != nil && !slices.Contains(noun.values, list) || verb != nil && !slices.Contains(verb.ownLists(), list) {
			continue
		}
		if !slices.Contains(lists, list) {
			lists = append(lists, list)
		}
	}
	return lists
}

// fitsNoun needs one list, and its own verb.
func fitsNoun(_ *Compiled, a *assignment) bool {
	noun := a.part(slotListNoun)
	if len(noun.values) != 1 {
		return false
	}
	if v := a.part(slotOwnVerb); v != nil && !slices.Contains(v.ownLists(), noun.values[0]) {
		a.release(slotOwnVerb)
	}
	return true
}
