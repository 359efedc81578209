package gidp

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"sayso/gidp/wire"
	"sayso/jcs"
)

func ask(key string, op wire.Operator, value string) wire.Claim {
	return wire.Claim{ID: "c", Key: key, Operator: op, Value: jcs.Raw(value)}
}

// answer evaluates one claim on one holding.
func answer(h Holding, op wire.Operator, value string) wire.Result {
	v := View{Authority: Authority{Probe: Yes}, Attributes: map[string]Attribute{"k": {Holding: h, Held: true}}}
	out, _ := Evaluate(v, nil, Query{Claims: []wire.Claim{ask("k", op, value)}, Allowed: wire.AllResults()})
	return out[0].Result
}

// even is a partition of 0 to n-1 in cells of width w.
func even(n, w int64) *Partition {
	p := &Partition{ID: fmt.Sprintf("%d/%d", n, w), Min: 0, Max: n - 1}
	for e := w; e < n; e += w {
		p.Edges = append(p.Edges, e)
	}
	return p
}

// questions are all claims on a domain of n values, aligned or not, reaching outside, of all operators and of odd shapes.
func questions(n int64) (out []wire.Claim) {
	for lo := int64(-1); lo <= n; lo++ {
		// Integer ends decide everything an integer can be told apart by; the fractions beside them are for the arithmetic.
		out = append(out, ask("k", wire.OpOverlaps, fmt.Sprintf(`{"min":%d}`, lo)), ask("k", wire.OpOverlaps, fmt.Sprintf(`{"max":%d}`, lo)), ask("k", wire.OpEquals, fmt.Sprint(lo)),
			ask("k", wire.OpEquals, fmt.Sprintf("%d.5", lo)), ask("k", wire.OpOverlaps, fmt.Sprintf(`{"min":%d.25,"max":%d.75}`, max(lo, 0), max(lo, 0))))
		for hi := lo; hi <= n; hi++ {
			out = append(out, ask("k", wire.OpOverlaps, fmt.Sprintf(`{"min":%d,"max":%d}`, lo, hi)))
		}
	}
	for _, odd := range []string{`{}`, `{"min":9,"max":1}`, `"low"`, `[1,2]`, `true`, `{"min":"1"}`, `{"min":1,"mid":2}`} {
		for _, op := range []wire.Operator{wire.OpEquals, wire.OpIntersects, wire.OpOverlaps, wire.OpCompatibleWith} {
			out = append(out, ask("k", op, odd))
		}
	}
	return out
}

// secret makes the holding and the value of a secret.
type secret struct {
	holding Holding
	value   string
}

// replies counts the distinct transcripts of all secrets under all claims, and the replies that are not true.
func replies(secrets []secret, claims []wire.Claim) (distinct, untruthful int) {
	seen := map[string]bool{}
	for _, s := range secrets {
		value, err := ParseValue(jcs.Raw(s.value))
		if err != nil {
			panic(err)
		}
		held := Open{Value: value}
		v := View{Attributes: map[string]Attribute{"k": {Holding: s.holding, Held: true}}}
		var transcript strings.Builder
		out, _ := Evaluate(v, nil, Query{Claims: claims, Allowed: wire.AllResults()})
		for i, c := range claims {
			got := out[i].Result
			transcript.WriteString(string(got[0:2]))
			real := held.answer(c) // what a holder of the value itself would say
			if got == wire.Compatible && real != wire.Compatible || got == wire.Incompatible && real != wire.Incompatible || got == wire.Conditionally && real != wire.Compatible {
				untruthful++
			}
		}
		seen[transcript.String()] = true
	}
	return len(seen), untruthful
}

// The bound, by exhaustion: whatever is asked, the replies tell one of so many classes, and none of them is untrue.
func TestRepliesFactorThroughCells(t *testing.T) {
	const n = 32
	claims := questions(n)
	for _, c := range []struct {
		width        int64
		point, spans int
	}{{4, 8, 36}, {6, 6, 21}, {8, 4, 10}} {
		for _, definite := range []bool{false, true} {
			p := even(n, c.width)
			var points, floors, ceilings, spans []secret
			for a := range int64(n) {
				cell, _ := p.Cell(a)
				points = append(points, secret{Cells{p, Point, cell, cell, definite}, fmt.Sprint(a)})
				floors = append(floors, secret{Cells{p, Floor, cell, 0, definite}, fmt.Sprintf(`{"min":%d}`, a)})
				ceilings = append(ceilings, secret{Cells{p, Ceiling, 0, cell, definite}, fmt.Sprintf(`{"max":%d}`, a)})
				for b := a; b < n && !definite; b++ {
					high, _ := p.Cell(b)
					spans = append(spans, secret{Cells{p, Range, cell, high, definite}, fmt.Sprintf(`{"min":%d,"max":%d}`, a, b)})
				}
			}
			for name, s := range map[string]struct {
				secrets []secret
				want    int
			}{"point": {points, c.point}, "floor": {floors, c.point}, "ceiling": {ceilings, c.point}, "range": {spans, c.spans}} {
				if len(s.secrets) == 0 {
					continue
				}
				distinct, untruthful := replies(s.secrets, claims)
				if distinct != s.want || untruthful > 0 {
					t.Errorf("width %d, %s, definite %v: %d classes and %d untruthful replies, want %d and 0", c.width, name, definite, distinct, untruthful, s.want)
				}
			}
			if bits := p.Bits(); math.Abs(bits-math.Log2(float64(c.point))) > 1e-12 {
				t.Errorf("width %d: %v bits", c.width, bits)
			}
		}
	}
}

// 27 leaves in three levels of three, cut at the nine nodes of the second.
func TestRepliesFactorThroughTheCut(t *testing.T) {
	in := map[string]string{}
	var leaves, nodes, all []string
	for a := range 3 {
		top := fmt.Sprintf("t%d", a)
		in[top] = "root"
		for b := range 3 {
			node := fmt.Sprintf("%s.%d", top, b)
			in[node] = top
			nodes = append(nodes, node)
			for c := range 3 {
				leaf := fmt.Sprintf("%s.%d", node, c)
				in[leaf] = node
				leaves = append(leaves, leaf)
			}
		}
	}
	tree, err := NewTree(in)
	if err != nil {
		t.Fatal(err)
	}
	for label := range in {
		all = append(all, label)
	}
	all = append(all, "root", "elsewhere")
	slices.Sort(all)
	var claims []wire.Claim
	for _, label := range all {
		claims = append(claims, ask("k", wire.OpIntersects, `"`+label+`"`), ask("k", wire.OpEquals, `"`+label+`"`), ask("k", wire.OpIntersects, `["`+label+`","elsewhere"]`))
	}
	held := func(labels ...string) secret {
		var at []string
		for _, l := range labels {
			node, ok := tree.Generalise(l, nodes)
			if !ok {
				t.Fatalf("%s is not generalised", l)
			}
			at = append(at, node)
		}
		slices.Sort(at)
		text, err := jcs.Encode(labels)
		if err != nil {
			t.Fatal(err)
		}
		return secret{Labels{Tree: tree, Nodes: slices.Compact(at)}, string(text)}
	}
	var one, two []secret
	for i, a := range leaves {
		one = append(one, held(a))
		for _, b := range leaves[i:] {
			two = append(two, held(a, b))
		}
	}
	// A label that the public tree does not place may be one that the owner placed under the node: no answer about it is safe.
	for _, op := range []wire.Operator{wire.OpIntersects, wire.OpEquals} {
		if got := answer(Labels{Tree: tree, Nodes: nodes[:1]}, op, `"elsewhere"`); got != wire.Unknown {
			t.Errorf("%s: %s about a label without a place", op, got)
		}
	}
	for _, s := range [][]secret{one, two} {
		want := map[int]int{len(one): 9, len(two): 45}[len(s)]
		seen := map[string]bool{}
		for _, x := range s {
			var transcript strings.Builder
			for _, c := range claims {
				got := x.holding.(Labels).answer(c)
				transcript.WriteString(string(got[:2]))
				v, _ := ParseValue(jcs.Raw(x.value))
				real := Open{Value: v, Tree: tree}.answer(c)
				if got == wire.Compatible && real != wire.Compatible || got == wire.Incompatible && real != wire.Incompatible {
					t.Fatalf("%s, %s %s: %s, and in truth %s", x.value, c.Operator, c.Value, got, real)
				}
			}
			seen[transcript.String()] = true
		}
		if len(seen) != want {
			t.Errorf("%d held: %d classes, want %d", len(s), len(seen), want)
		}
	}
}

// A joint predicate over 4×4 cells tells one of 16 classes, and nothing untrue.
func TestJointPredicate(t *testing.T) {
	p := even(16, 4)
	profile := &Profile{Predicates: map[string]Predicate{"fit": {Args: []string{"x", "y"}, Test: func(args []int64, asked jcs.Raw) (bool, bool) {
		v, err := ParseValue(asked)
		_, low, _, ok := v.Integers()
		return ok && args[0]+2*args[1] <= low, err == nil && ok
	}}}}
	seen := map[string]bool{}
	for x := range int64(16) {
		for y := range int64(16) {
			cx, _ := p.Cell(x)
			cy, _ := p.Cell(y)
			v := View{Profile: profile, Attributes: map[string]Attribute{"x": {Holding: Cells{Partition: p, Low: cx, High: cx}, Held: true}, "y": {Holding: Cells{Partition: p, Low: cy, High: cy}, Held: true}}}
			var transcript strings.Builder
			for limit := int64(-1); limit < 50; limit++ {
				out, _ := Evaluate(v, nil, Query{Claims: []wire.Claim{ask("fit", wire.OpCompatibleWith, fmt.Sprint(limit))}, Allowed: wire.AllResults()})
				got := out[0].Result
				transcript.WriteString(string(got[:2]))
				if real := x+2*y <= limit; got == wire.Compatible && !real || got == wire.Incompatible && real {
					t.Fatalf("x=%d y=%d limit=%d: %s", x, y, limit, got)
				}
			}
			seen[transcript.String()] = true
		}
	}
	if len(seen) > 16 || len(seen) < 8 {
		t.Errorf("%d classes, want at most 16", len(seen))
	}
	needs := *profile
	needs.Predicates = map[string]Predicate{"fit": {Needs: []string{"z"}, Test: func([]int64, jcs.Raw) (bool, bool) { return true, true }}}
	q := Query{Claims: []wire.Claim{ask("fit", wire.OpCompatibleWith, `1`)}, Allowed: wire.AllResults()}
	out, _ := Evaluate(View{Profile: &needs}, nil, q)
	if out[0].Result != wire.NeedsMore || !slices.Equal(out[0].Needs, []string{"z"}) {
		t.Errorf("%+v, want what is missing", out[0])
	}
	q.Disclosed = []string{"z"}
	if out, _ = Evaluate(View{Profile: &needs}, nil, q); out[0].Result != wire.Compatible {
		t.Errorf("%+v once it is there", out[0])
	}
}

// Own aligned claims are a function of the cells, and never meet unknown. Both directions qualify exactly when the cells do.
func TestAlignedClaims(t *testing.T) {
	p := even(64, 8)
	for floor := range int64(64) {
		for ceiling := range int64(64) {
			f, _ := p.Cell(floor)
			c, _ := p.Cell(ceiling)
			seller, buyer := Cells{Partition: p, Shape: Floor, Low: f}, Cells{Partition: p, Shape: Ceiling, High: c}
			if !p.Aligned(seller.Asks()) || !p.Aligned(buyer.Asks()) {
				t.Fatalf("%s or %s is not aligned", seller.Asks(), buyer.Asks())
			}
			toSeller, toBuyer := answer(seller, wire.OpOverlaps, string(buyer.Asks())), answer(buyer, wire.OpOverlaps, string(seller.Asks()))
			for _, r := range []wire.Result{toSeller, toBuyer} {
				qualifies := r == wire.Compatible || r == wire.Conditionally
				if r == wire.Unknown || qualifies != (f <= c) || (r == wire.Conditionally) != (f == c) {
					t.Fatalf("floor %d, ceiling %d: %s", floor, ceiling, r)
				}
			}
		}
	}
	for text, want := range map[string]bool{`{"min":8}`: true, `{"min":9}`: false, `{"max":7}`: true, `{"max":8}`: false, `{"min":0,"max":63}`: true, `8`: false, `{}`: false} {
		if p.Aligned(jcs.Raw(text)) != want {
			t.Errorf("%s: aligned %v", text, !want)
		}
	}
}

// §14.2: true above, unknown below unless any part is accepted, incompatible beside.
func TestHierarchyRule(t *testing.T) {
	tree, err := NewTree(map[string]string{"munich": "germany", "berlin": "germany", "germany": "europe", "madrid": "spain", "spain": "europe"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		held, asked string
		meaning     Meaning
		op          wire.Operator
		want        wire.Result
	}{
		{`"munich"`, `["germany"]`, FactHeld, wire.OpIntersects, wire.Compatible}, {`"munich"`, `"europe"`, FactHeld, wire.OpIntersects, wire.Compatible},
		{`"germany"`, `["munich"]`, FactHeld, wire.OpIntersects, wire.Unknown}, {`"germany"`, `["munich"]`, SetAccepted, wire.OpIntersects, wire.Compatible},
		{`"germany"`, `["munich"]`, Requirement, wire.OpIntersects, wire.Unknown}, {`"munich"`, `["madrid","berlin"]`, FactHeld, wire.OpIntersects, wire.Incompatible},
		{`"munich"`, `["atlantis"]`, FactHeld, wire.OpIntersects, wire.Incompatible}, {`"atlantis"`, `["atlantis"]`, FactHeld, wire.OpIntersects, wire.Compatible},
		{`["munich","spain"]`, `["madrid"]`, FactHeld, wire.OpIntersects, wire.Unknown}, {`["munich","spain"]`, `["madrid","germany"]`, FactHeld, wire.OpIntersects, wire.Compatible},
		{`"munich"`, `"munich"`, FactHeld, wire.OpEquals, wire.Compatible}, {`"munich"`, `"germany"`, FactHeld, wire.OpEquals, wire.Incompatible},
		{`"germany"`, `"munich"`, FactHeld, wire.OpEquals, wire.Unknown}, {`true`, `true`, FactHeld, wire.OpEquals, wire.Compatible}, {`true`, `false`, FactHeld, wire.OpEquals, wire.Incompatible},
		{`"munich"`, `[]`, FactHeld, wire.OpIntersects, wire.Unknown}, {`7`, `7.0`, FactHeld, wire.OpEquals, wire.Compatible}, {`0.1`, `{"min":0.1,"max":0.1}`, FactHeld, wire.OpOverlaps, wire.Compatible},
		{`{"min":10}`, `{"max":10}`, FactHeld, wire.OpOverlaps, wire.Compatible}, {`{"min":10}`, `{"max":9.99}`, FactHeld, wire.OpOverlaps, wire.Incompatible},
	} {
		v, err := ParseValue(jcs.Raw(c.held))
		if err != nil {
			t.Fatal(err)
		}
		if got := answer(Open{Value: v, Tree: tree, Meaning: c.meaning}, c.op, c.asked); got != c.want {
			t.Errorf("holding %s, asked %s %s: %s, want %s", c.held, c.op, c.asked, got, c.want)
		}
	}
}

// The order of sec. 7.1: of two rows that apply, the earlier answers.
func TestEvaluationOrder(t *testing.T) {
	value, _ := ParseValue(jcs.Raw(`"x"`))
	profile := &Profile{Keys: map[string]Key{"name": {Identifying: true}, "gone": {AbsentDeclined: true}}}
	v := View{Profile: profile, Authority: Authority{Introduce: Yes}, Attributes: map[string]Attribute{
		"open": {Holding: Open{Value: value}, Held: true}, "name": {Holding: Open{Value: value}, Held: true}, "shut": {Holding: Closed{}, Held: true},
		"barred": {Holding: Open{Value: value}, Held: true, Class: Never}, "decoy": {Holding: Barred{}, Class: Never}, Requires: {Holding: Open{Value: value}, Held: true}, ConditionalOn: {Holding: Barred{}, Held: true, Class: Never},
	}}
	remember := func(c wire.Claim) (wire.Result, bool) { return wire.Conditionally, c.Key != "absent" }
	for _, c := range []struct {
		key, row string
		result   wire.Result
		edit     func(*View, *Query)
	}{
		{"name", "V1", wire.Declined, nil},
		{"name", "V6", wire.Conditionally, func(_ *View, q *Query) { q.Revealed = []string{"name"} }},
		{"name", "V1", wire.Declined, func(v *View, q *Query) { q.Revealed, v.Authority = []string{"name"}, Authority{} }},
		{PrincipalIdentity, "V1", wire.Declined, nil},
		{"barred", "V2", wire.Declined, nil}, {"decoy", "V2", wire.Declined, nil}, {ConditionalOn, "V2", wire.Declined, nil},
		{Requires, "V3", wire.Unknown, nil}, {Provides, "V3", wire.Unknown, nil}, {Excludes, "V4", wire.Unknown, nil},
		{Requires, "V6", wire.Conditionally, func(_ *View, q *Query) { q.Features = []wire.Feature{wire.FeatureDependencies} }},
		{"absent", "V4", wire.Unknown, nil}, {"gone", "V4", wire.Declined, nil}, {"shut", "V5", wire.Declined, nil}, {"open", "V6", wire.Conditionally, nil},
		{"open", "V7", wire.Compatible, func(_ *View, q *Query) { q.Remember = nil }},
		{"open", "V8", wire.Declined, func(_ *View, q *Query) { q.Remember, q.Allowed = nil, []wire.Result{wire.Declined} }},
	} {
		view, q := v, Query{Claims: []wire.Claim{ask(c.key, wire.OpEquals, `"x"`)}, Allowed: wire.AllResults(), Remember: remember}
		if c.edit != nil {
			c.edit(&view, &q)
		}
		out, _ := Evaluate(view, nil, q)
		if out[0].Row != c.row || out[0].Result != c.result {
			t.Errorf("%s: %s by %s, want %s by %s", c.key, out[0].Result, out[0].Row, c.result, c.row)
		}
	}
	q := Query{Claims: []wire.Claim{ask("open", wire.OpEquals, `"y"`)}, Allowed: []wire.Result{wire.Declined, wire.Compatible}}
	if out, _ := Evaluate(v, nil, q); !out[0].Veto || out[0].Result != wire.Declined {
		t.Errorf("%+v: an incompatible that may not be said still vetoes", out[0])
	}
}

func TestTreeRefusesCycles(t *testing.T) {
	if _, err := NewTree(map[string]string{"a": "b", "b": "c", "c": "a"}); err == nil {
		t.Error("a cycle was accepted")
	}
	deep := map[string]string{}
	for i := range maxTreeDepth + 1 {
		deep[fmt.Sprint(i)] = fmt.Sprint(i + 1)
	}
	if _, err := NewTree(deep); err == nil {
		t.Error("a depth without bound was accepted")
	}
	tree, err := NewTree(map[string]string{"munich": "germany"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.With(map[string]string{"munich": "austria"}); err == nil {
		t.Error("an own placement moved a label of the profile")
	}
	for label, want := range map[string]string{"munich": "germany", "germany": "", "madrid": ""} {
		if got := tree.Container(label); got != want {
			t.Errorf("%s lies in %q, want %q", label, got, want)
		}
	}
	if got := (*Tree)(nil).Container("munich"); got != "" {
		t.Errorf("without a tree munich lies in %q", got)
	}
	if own, err := tree.With(map[string]string{"giesing": "munich"}); err != nil || !own.Within("giesing", "germany") || tree.Has("giesing") {
		t.Errorf("%v: an own placement extends a copy", err)
	}
}

func TestPartitionCheck(t *testing.T) {
	for _, p := range []Partition{{Min: 5, Max: 4}, {Min: 0, Max: 9, Edges: []int64{0}}, {Min: 0, Max: 9, Edges: []int64{5, 5}}, {Min: 0, Max: 9, Edges: []int64{10}}, {Min: 0, Max: 1 << 60}} {
		if p.Check() == nil {
			t.Errorf("%+v was accepted", p)
		}
	}
	p := &Partition{Min: 0, Max: 9, Edges: []int64{3, 9}}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	for v, want := range map[int64]int{0: 0, 2: 0, 3: 1, 8: 1, 9: 2} {
		if got, ok := p.Cell(v); !ok || got != want {
			t.Errorf("%d lies in %d, want %d", v, got, want)
		}
		lo, hi := p.Bounds(want)
		if v < lo || v > hi {
			t.Errorf("%d lies outside of its cell %d to %d", v, lo, hi)
		}
	}
	for _, v := range []int64{-1, 10} {
		if _, ok := p.Cell(v); ok {
			t.Errorf("%d has a cell", v)
		}
	}
}
