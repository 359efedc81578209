package lab

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/gidp/profile"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// Leakage asks everything about every key of a profile that is answered from cells or from a cut, for every value that could be told apart, and counts the
// different transcripts. For each key and shape there are two rows: "outputs", the number of different transcripts, which is at most what the partition or the
// cut allows, and "untruthful", the definite answers that are not true of the value, which is 0.
//
// Nothing is left out by not asking every number. An answer depends on the comparison of the asked ends with ends of cells, so an end, its neighbours and a
// value between them stand for all; the values held are the first, the second, a middle and the last of each cell.
func Leakage(s *profile.Set, p *profile.Profile) ([]Row, error) {
	var out []Row
	rules := p.Rules()
	for _, key := range slices.Sorted(maps.Keys(rules.Keys)) {
		k := rules.Keys[key]
		var experiments []experiment
		switch {
		case k.Partition != nil:
			experiments = numbers(k.Partition)
		case k.Tree != nil:
			h, ok := s.Hierarchy(p.Keys[key].Hierarchy)
			if !ok {
				return nil, fmt.Errorf("key %q: its hierarchy is not in the set", key)
			}
			experiments = []experiment{labels(h.Labels(), h.Tree, k.Cut)}
		}
		for _, e := range experiments {
			distinct, untruthful, err := e.run(rules, key)
			if err != nil {
				return nil, fmt.Errorf("key %q, %s: %w", key, e.shape, err)
			}
			name := p.ID + " " + key + " " + e.shape
			out = append(out, Row{name + " outputs", float64(distinct), distinct <= e.allowed},
				Row{name + " bits", math.Log2(float64(distinct)), distinct <= e.allowed}, Row{name + " untruthful", float64(untruthful), untruthful == 0})
		}
	}
	return out, nil
}

// experiment is all values of one shape, all claims on them, and how many different transcripts there may be.
type experiment struct {
	shape   string
	held    []held
	asked   []asked
	allowed int
}

// held is a value as an interest holds it, and what it is: labels, or numbers from low to high.
type held struct {
	raw       string
	low, high float64
	labels    []string
}

// asked is a claim and the truth about it.
type asked struct {
	op    wire.Operator
	raw   string
	truth func(held) bool
}

var errNotCells = errors.New("a protected value is neither in cells nor on a cut")

// run plays every value against every claim on the production path: interest, view, evaluation. An evaluation is a function of the view, so values whose views
// hold the same are evaluated once; the truth is compared for each.
func (e experiment) run(rules *gidp.Profile, key string) (distinct, untruthful int, err error) {
	q := gidp.Query{Allowed: wire.AllResults()}
	for _, a := range e.asked {
		q.Claims = append(q.Claims, wire.Claim{Key: key, Operator: a.op, Value: jcs.Raw(a.raw)})
	}
	evaluated, seen := map[string][]gidp.Answer{}, map[string]bool{}
	for _, h := range e.held {
		i := interest.Interest{Profile: rules.ID, Attributes: map[string]jcs.Raw{key: jcs.Raw(h.raw)}, Authority: map[gidp.Level]gidp.Permission{gidp.Probe: gidp.Yes}}
		v := i.View(rules, interest.Towards{Active: true, Depth: wire.DepthSession})
		switch v.Attributes[key].Holding.(type) {
		case gidp.Cells, gidp.Labels:
		default:
			return 0, 0, errNotCells
		}
		holds := fmt.Sprintf("%+v", v.Attributes[key])
		answers, ok := evaluated[holds]
		if !ok {
			answers, _ = gidp.Evaluate(v, nil, q)
			evaluated[holds] = answers
			transcript := make([]byte, 0, 16*len(answers))
			for _, a := range answers {
				transcript = append(append(transcript, a.Result...), ' ')
			}
			seen[string(transcript)] = true
		}
		for n, a := range answers {
			switch a.Result {
			case wire.Compatible, wire.Conditionally, wire.Incompatible:
				if e.asked[n].truth(h) != (a.Result != wire.Incompatible) {
					untruthful++
				}
			}
		}
	}
	return len(seen), untruthful, nil
}

// numbers are the shapes of a partitioned attribute (sec. 7.3).
func numbers(part *gidp.Partition) []experiment {
	var values []int64
	for cell := range part.Cells() {
		lo, hi := part.Bounds(cell)
		values = append(values, lo, min(lo+1, hi), lo+(hi-lo)/2, hi)
	}
	slices.Sort(values)
	values = slices.Compact(values)
	claims := intervals(values)
	point, floor, ceiling, span := experiment{shape: "point"}, experiment{shape: "floor"}, experiment{shape: "ceiling"}, experiment{shape: "range"}
	for i, v := range values {
		text := strconv.FormatInt(v, 10)
		point.held = append(point.held, held{raw: text, low: float64(v), high: float64(v)})
		floor.held = append(floor.held, held{raw: `{"min":` + text + `}`, low: float64(v), high: math.Inf(1)})
		ceiling.held = append(ceiling.held, held{raw: `{"max":` + text + `}`, low: math.Inf(-1), high: float64(v)})
		for _, top := range values[i:] {
			span.held = append(span.held, held{raw: fmt.Sprintf(`{"max":%d,"min":%d}`, top, v), low: float64(v), high: float64(top)})
		}
	}
	k := part.Cells()
	for _, e := range []*experiment{&point, &floor, &ceiling} {
		e.asked, e.allowed = claims, k
	}
	span.asked, span.allowed = claims, k*(k+1)/2
	return []experiment{point, floor, ceiling, span}
}

// intervals are the claims on numbers: both ends at every value that decides, one of them, and equality.
func intervals(values []int64) (out []asked) {
	add := func(op wire.Operator, raw string, lo, hi float64) {
		out = append(out, asked{op, raw, func(h held) bool { return h.low <= hi && h.high >= lo }})
	}
	ends := slices.Concat([]int64{values[0] - 1}, values, []int64{values[len(values)-1] + 1})
	for i, lo := range ends {
		at := float64(lo)
		add(wire.OpOverlaps, fmt.Sprintf(`{"min":%d}`, lo), at, math.Inf(1))
		add(wire.OpOverlaps, fmt.Sprintf(`{"max":%d}`, lo), math.Inf(-1), at)
		add(wire.OpEquals, strconv.FormatInt(lo, 10), at, at)
		for _, hi := range ends[i:] {
			add(wire.OpOverlaps, fmt.Sprintf(`{"max":%d,"min":%d}`, hi, lo), at, float64(hi))
		}
	}
	return out
}

// labels is one label of a hierarchy. Different transcripts are allowed for the labels of the cut and for those above it.
func labels(names []string, tree *gidp.Tree, cut []string) experiment {
	e := experiment{shape: "label"}
	for _, label := range names {
		raw := strconv.Quote(label)
		e.held = append(e.held, held{raw: raw, labels: []string{label}})
		e.asked = append(e.asked,
			asked{wire.OpIntersects, raw, func(v held) bool {
				return slices.ContainsFunc(v.labels, func(l string) bool { return tree.Within(l, label) })
			}},
			asked{wire.OpEquals, raw, func(v held) bool { return slices.Contains(v.labels, label) }})
		above := func(node string) bool { return node != label && tree.Within(node, label) }
		if slices.Contains(cut, label) || slices.ContainsFunc(cut, above) {
			e.allowed++
		}
	}
	return e
}
