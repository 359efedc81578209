package gidp

import (
	"slices"
	"strconv"

	"sayso/gidp/wire"
	"sayso/jcs"
)

// Query is a CompatibilityRequest with what the session knows that bears on it.
type Query struct {
	Claims    []wire.Claim
	Allowed   []wire.Result
	Features  []wire.Feature
	Revealed  []string // identity keys that a reveal_identity grant of ours covers, where INTRODUCE permits it now
	Disclosed []string // keys that the asker has disclosed in this session
	// Remember returns what an identical proposition of the asker was answered in this session, if it was evaluated.
	Remember func(wire.Claim) (wire.Result, bool)
}

// Answer is the answer to one claim.
type Answer struct {
	Result wire.Result
	Row    string   // the row of the decision order that answered, V1 to V8
	Needs  []string // keys whose disclosure would resolve it
	Veto   bool     // the own evaluation is incompatible though the result does not say so; this side does not qualify
}

// Evaluate answers the claims of one request in their order (§15; sec. 7.1), and returns the ledger with what was charged. The rows of the ledger and the
// answers belong into one transaction: what was answered was charged. Evaluate changes none of its arguments.
func Evaluate(v View, ledger Ledger, q Query) ([]Answer, Ledger) {
	out := make([]Answer, len(q.Claims))
	e := evaluation{view: &v, ledger: ledger, query: &q}
	for i, c := range q.Claims {
		a := e.claim(c)
		if !slices.Contains(q.Allowed, a.Result) {
			a = Answer{Result: wire.Declined, Row: "V8", Veto: a.Veto || a.Result == wire.Incompatible}
		}
		out[i] = a
	}
	return out, e.ledger
}

type evaluation struct {
	view   *View
	ledger Ledger
	query  *Query
}

func (e *evaluation) claim(c wire.Claim) Answer {
	attribute, known := e.view.Attributes[c.Key]
	reserved, feature := Reserved(c.Key)
	switch {
	case e.view.Identifying(c.Key) && (!slices.Contains(e.query.Revealed, c.Key) || e.view.Authority.At(Introduce) == No):
		return Answer{Result: wire.Declined, Row: "V1"}
	case known && attribute.Holding == Holding(Barred{}), known && attribute.Class.Never:
		return Answer{Result: wire.Declined, Row: "V2"}
	case reserved && feature && !slices.Contains(e.query.Features, wire.FeatureDependencies):
		return Answer{Result: wire.Unknown, Row: "V3"}
	}
	predicate, joint := e.predicate(c)
	switch {
	case !known && !joint:
		if e.view.Profile != nil && e.view.Profile.Keys[c.Key].AbsentDeclined {
			return Answer{Result: wire.Declined, Row: "V4"}
		}
		return Answer{Result: wire.Unknown, Row: "V4"}
	case known && (attribute.Holding == nil || attribute.Holding == Holding(Closed{}) || attribute.Holding == Holding(Identity{})):
		return Answer{Result: wire.Declined, Row: "V5"}
	}
	if e.query.Remember != nil {
		if r, ok := e.query.Remember(c); ok {
			return Answer{Result: r, Row: "V6"}
		}
	}
	if joint {
		return e.joint(predicate, c.Value)
	}
	r, vetoed := e.holding(attribute.Holding, c)
	return Answer{Result: r, Row: "V7", Veto: vetoed}
}

// holding evaluates a claim against what is held.
func (e *evaluation) holding(h Holding, c wire.Claim) (r wire.Result, veto bool) {
	switch h := h.(type) {
	case Open:
		return h.answer(c), false
	case Cells:
		return h.answer(c), false
	case Labels:
		return h.answer(c), false
	case Audited:
		return e.audited(h, c), false
	}
	return wire.Declined, false
}

// answer compares a claim with a value.
func (h Open) answer(c wire.Claim) wire.Result {
	switch c.Operator {
	case wire.OpEquals:
		asked, ok := parseScalar(c.Value)
		if !ok || h.Value.span != nil {
			return wire.Unknown
		}
		return h.best([]scalar{asked}, h.equals)
	case wire.OpIntersects:
		asked, ok := parseScalars(c.Value)
		if !ok || h.Value.span != nil {
			return wire.Unknown
		}
		return h.best(asked, h.contains)
	case wire.OpOverlaps:
		asked, ok := parseInterval(c.Value)
		if !ok {
			return wire.Unknown
		}
		return h.overlaps(asked)
	}
	return wire.Unknown
}

// best is the strongest answer that any pair of an asked and a held scalar gives: compatible, then unknown, then incompatible (C-39).
func (h Open) best(asked []scalar, compare func(asked, held scalar) wire.Result) wire.Result {
	if len(asked) == 0 {
		return wire.Unknown
	}
	best := wire.Incompatible
	for _, a := range asked {
		for _, held := range h.Value.scalars {
			r := wire.Unknown
			if a.kind() == held.kind() {
				r = compare(a, held)
			}
			best = stronger(best, r)
		}
	}
	return best
}

func stronger(a, b wire.Result) wire.Result {
	switch {
	case a == wire.Compatible || b == wire.Compatible:
		return wire.Compatible
	case a == wire.Unknown || b == wire.Unknown:
		return wire.Unknown
	}
	return wire.Incompatible
}

// contains is the rule of §14.2: true of what a held value is part of, unknown below it unless any part is accepted.
func (h Open) contains(asked, held scalar) wire.Result {
	switch {
	case asked.text == held.text:
		return wire.Compatible
	case asked.kind() != 's':
		return wire.Incompatible
	case h.Tree.Within(held.label, asked.label):
		return wire.Compatible
	case !h.Tree.Within(asked.label, held.label):
		return wire.Incompatible
	case h.Meaning == SetAccepted:
		return wire.Compatible
	}
	return wire.Unknown
}

// equals differs from contains: what is only part of the asked label is not it.
func (h Open) equals(asked, held scalar) wire.Result {
	switch {
	case asked.text == held.text:
		return wire.Compatible
	case asked.kind() == 's' && h.Tree.Within(asked.label, held.label):
		return wire.Unknown
	}
	return wire.Incompatible
}

func (h Open) overlaps(asked Interval) wire.Result {
	if span := h.Value.span; span != nil {
		if (span.Min == nil || asked.upTo(span.Min)) && (span.Max == nil || asked.from(span.Max)) {
			return wire.Compatible
		}
		return wire.Incompatible
	}
	best := wire.Incompatible
	for _, held := range h.Value.scalars {
		r := wire.Unknown
		switch {
		case held.num == nil:
		case asked.from(held.num) && asked.upTo(held.num):
			r = wire.Compatible
		default:
			r = wire.Incompatible
		}
		best = stronger(best, r)
	}
	return best
}

// answer compares a claim with cells: definite only where it is true of every value of the cells (sec. 7.2, 7.3).
func (h Cells) answer(c wire.Claim) wire.Result {
	switch {
	case c.Operator == wire.OpEquals && h.Shape == Point:
		asked, ok := parseScalar(c.Value)
		if !ok || asked.num == nil {
			return wire.Unknown
		}
		lo, hi := h.Partition.Bounds(h.Low)
		switch {
		case asked.num.Cmp(rat(lo)) < 0 || asked.num.Cmp(rat(hi)) > 0:
			return wire.Incompatible
		case lo == hi:
			return wire.Compatible
		}
		return wire.Unknown
	case c.Operator == wire.OpOverlaps:
		if asked, ok := parseInterval(c.Value); ok {
			return h.overlaps(asked)
		}
	}
	return wire.Unknown
}

// overlaps decides by the edges that decide: the asked maximum against what is held at least, the asked minimum against what is held at most.
func (h Cells) overlaps(asked Interval) wire.Result {
	always, never, edge := true, false, false
	if h.Shape != Ceiling { // held from somewhere in this cell upwards
		lo, hi := h.Partition.Bounds(h.Low)
		always = always && asked.upTo(rat(hi))
		never = never || !asked.upTo(rat(lo))
		edge = edge || asked.Max != nil && asked.Max.Cmp(rat(hi)) == 0
	}
	if h.Shape != Floor { // held up to somewhere in this cell
		cell := h.High
		if h.Shape == Point {
			cell = h.Low
		}
		lo, hi := h.Partition.Bounds(cell)
		always = always && asked.from(rat(lo))
		never = never || !asked.from(rat(hi))
		edge = edge || asked.Min != nil && asked.Min.Cmp(rat(lo)) == 0
	}
	switch {
	case never:
		return wire.Incompatible
	case !always:
		return wire.Unknown
	case edge && !h.Definite:
		return wire.Conditionally
	}
	return wire.Compatible
}

// Asks returns the value of an own claim that tells the cells and nothing else: edges on cell boundaries, rounded outward (sec. 7.5). Such a claim is
// answered without unknown by whoever holds cells of the same partition.
func (h Cells) Asks() jcs.Raw {
	high := h.High
	if h.Shape == Point {
		high = h.Low
	}
	dst := []byte{'{'}
	if h.Shape != Floor {
		_, hi := h.Partition.Bounds(high)
		dst = strconv.AppendInt(append(dst, `"max":`...), hi, 10)
	}
	if h.Shape != Ceiling {
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		lo, _ := h.Partition.Bounds(h.Low)
		dst = strconv.AppendInt(append(dst, `"min":`...), lo, 10)
	}
	return append(dst, '}')
}

// Aligned reports whether a claim's value is an interval whose ends lie on cell boundaries.
func (p *Partition) Aligned(asked jcs.Raw) bool {
	span, ok := parseInterval(asked)
	if !ok {
		return false
	}
	begins, ends := span.Min == nil, span.Max == nil
	for cell := range p.Cells() {
		lo, hi := p.Bounds(cell)
		begins = begins || span.Min.Cmp(rat(lo)) == 0
		ends = ends || span.Max.Cmp(rat(hi)) == 0
	}
	return begins && ends
}

// answer compares a claim with generalised labels. A label that the public tree does not place may be one that the owner placed, so it stays unknown.
func (h Labels) answer(c wire.Claim) wire.Result {
	var asked []scalar
	switch c.Operator {
	case wire.OpEquals:
		one, ok := parseScalar(c.Value)
		if !ok {
			return wire.Unknown
		}
		asked = []scalar{one}
	case wire.OpIntersects:
		several, ok := parseScalars(c.Value)
		if !ok || len(several) == 0 {
			return wire.Unknown
		}
		asked = several
	default:
		return wire.Unknown
	}
	best := wire.Incompatible
	for _, a := range asked {
		for _, node := range h.Nodes {
			r := wire.Incompatible
			switch {
			case a.kind() != 's' || !h.Tree.Has(a.label):
				r = wire.Unknown
			case a.label != node && h.Tree.Within(a.label, node):
				r = wire.Unknown
			case !h.Tree.Within(node, a.label):
			case c.Operator == wire.OpIntersects:
				r = wire.Compatible
			case a.label == node:
				r = wire.Unknown
			}
			best = stronger(best, r)
		}
	}
	return best
}

func (e *evaluation) predicate(c wire.Claim) (Predicate, bool) {
	if c.Operator != wire.OpCompatibleWith || e.view.Profile == nil {
		return Predicate{}, false
	}
	p, ok := e.view.Profile.Predicates[c.Key]
	return p, ok
}

// joint replies where the predicate is constant over the product of the cells of its arguments. What it needs of the asker is a property of the claim and of
// the session, never of a value.
func (e *evaluation) joint(p Predicate, asked jcs.Raw) Answer {
	var needs []string
	for _, key := range p.Needs {
		if !slices.Contains(e.query.Disclosed, key) {
			needs = append(needs, key)
		}
	}
	if len(needs) > 0 {
		return Answer{Result: wire.NeedsMore, Row: "V7", Needs: needs}
	}
	r := wire.Unknown
	if corners, ok := e.corners(p.Args); ok {
		r = constant(corners, func(at []int64) (bool, bool) { return p.Test(at, asked) })
	}
	return Answer{Result: r, Row: "V7"}
}

// corners returns the least and the greatest value of the cell of each argument.
func (e *evaluation) corners(args []string) ([][2]int64, bool) {
	if len(args) > maxArgs {
		return nil, false
	}
	out := make([][2]int64, len(args))
	for i, key := range args {
		switch h := e.view.Attributes[key].Holding.(type) {
		case Cells:
			if h.Shape == Range {
				return nil, false
			}
			cell := h.Low
			if h.Shape == Ceiling {
				cell = h.High
			}
			out[i][0], out[i][1] = h.Partition.Bounds(cell)
		case Open:
			shape, low, high, ok := h.Value.Integers()
			if !ok || shape == Range {
				return nil, false
			}
			if shape == Ceiling {
				low = high
			}
			out[i] = [2]int64{low, low}
		default:
			return nil, false
		}
	}
	return out, true
}

func constant(corners [][2]int64, test func([]int64) (bool, bool)) wire.Result {
	at := make([]int64, len(corners))
	first := false
	for mask := range 1 << len(corners) {
		for i, c := range corners {
			at[i] = c[mask>>i&1]
		}
		holds, fits := test(slices.Clone(at))
		if !fits || mask > 0 && holds != first {
			return wire.Unknown
		}
		first = holds
	}
	if first {
		return wire.Compatible
	}
	return wire.Incompatible
}
