package lab

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"sayso/gidp"
	"sayso/gidp/wire"
	"sayso/jcs"
)

func cellExperiments() []Experiment {
	return []Experiment{{
		ID: "exhaustive", About: "different replies to all questions, counted for every secret of small domains",
		Assumes: "32 values in cells of 4, 6 and 8, as a point and as a range; 27 labels in 9 nodes of a cut, one and two held; a joint condition over two " +
			"attributes of 16 values in 4 cells each. Every claim of every operator, aligned or not, on the production path from the interest to the answer.",
		Formula: "Different reply vectors; definite replies that are not true of the secret.",
		Shows:   "K for a point, K(K+1)/2 for a range, C(k+n−1, n) for n labels, the product for a joint condition. No reply is untrue.",
		Refuses: "That the bound covers what people approve, disclose or time.",
		run:     exhaustive,
	}, {
		ID: "compose", About: "a ledger behind the quantiser",
		Assumes: "K=5 cells under a production ledger of log2 K bits; 20,000 streams of 30 random aligned claims.",
		Formula: "Refusals.",
		Shows:   "It never refuses: a worst-case budget of log2 K over K cells has nothing left to forbid.",
		Refuses: "That a cell attribute needs a ledger.",
		run:     compose,
	}, {
		ID: "maximality", About: "random truthful policies without memory, against the quantiser on their own classes",
		Assumes: "200,000 policies over 12 values and 12 claims f ≤ m, each giving the truth or nothing by value and claim; half of them with classes drawn " +
			"at random, a quarter with intervals.",
		Formula: "Entries where the policy answers and the quantiser on the classes of equal replies does not.",
		Shows:   "None: no truthful policy without memory that leaks the same answers more.",
		Refuses: "Anything about policies with memory: a drained budget is a quantiser whose cells the first asker chose.",
		run:     maximality,
	}}
}

func exhaustive(b *bench) {
	b.columns("shape", "cells", "different replies", "untruthful")
	wrong := 0
	count := func(name string, cells int, want string, e experiment, rules *gidp.Profile) {
		distinct, untruthful, err := e.run(rules, "k")
		if err != nil {
			distinct, untruthful = -1, untruthful+1
		}
		wrong += untruthful
		b.row(name, cells, distinct, untruthful)
		b.accept("exhaustive", name+": different replies", float64(distinct), want, Exact)
	}
	for _, c := range []struct {
		w           int
		point, span string
	}{{4, "8", "36"}, {6, "6", "21"}, {8, "4", "10"}} {
		part := even(domain, c.w)
		rules := &gidp.Profile{ID: "lab", Keys: map[string]gidp.Key{"k": {Partition: part}}}
		every := numbers(even(domain, 1)) // a cell for each value: every value is held, every end is asked
		count(fmt.Sprintf("point, w=%d", c.w), part.Cells(), c.point, every[0], rules)
		count(fmt.Sprintf("range, w=%d", c.w), part.Cells(), c.span, every[3], rules)
	}

	container, cut, names := ternary()
	leaves := names[:27]
	tree, _ := gidp.NewTree(container)
	rules := &gidp.Profile{ID: "lab", Keys: map[string]gidp.Key{"k": {Tree: tree, Cut: cut}}}
	one := labels(names, tree, cut)
	one.held = one.held[:len(leaves)]
	two := one
	two.held = nil
	for i, first := range leaves {
		for _, second := range leaves[i:] {
			two.held = append(two.held, held{raw: fmt.Sprintf("[%q,%q]", first, second), labels: []string{first, second}})
		}
	}
	count("hierarchy, one held", 9, "9", one, rules)
	count("hierarchy, two held", 9, "45", two, rules)

	distinct, untruthful := joint(16, 4)
	wrong += untruthful
	b.row("joint, 4×4", 16, distinct, untruthful)
	b.accept("exhaustive", "joint, 4×4: different replies", float64(distinct), "16", Exact)
	b.accept("exhaustive", "untruthful replies", float64(wrong), "0", Exact)
}

// ternary is a tree of three levels: 27 leaves under 9 nodes under 3 branches. The nodes are the cut; names begins with the leaves.
func ternary() (container map[string]string, cut, names []string) {
	container = map[string]string{}
	for i := range 9 {
		node := "node_" + strconv.Itoa(i)
		cut = append(cut, node)
		container[node] = "branch_" + strconv.Itoa(i/3)
		for j := range 3 {
			leaf := fmt.Sprintf("leaf_%d_%d", i, j)
			names = append(names, leaf)
			container[leaf] = node
		}
	}
	return container, cut, slices.Concat(names, cut, []string{"branch_0", "branch_1", "branch_2"})
}

// joint asks whether a ≤ x and b ≤ y, for all x and y, of two quantised attributes.
func joint(n, w int) (distinct, untruthful int) {
	part := even(n, w)
	holds := func(args []int64, asked jcs.Raw) (bool, bool) {
		var at []int64
		if jcs.Decode(asked, &at) != nil || len(at) != 2 {
			return false, false
		}
		return args[0] <= at[0] && args[1] <= at[1], true
	}
	rules := &gidp.Profile{ID: "lab", Predicates: map[string]gidp.Predicate{"both": {Args: []string{"a", "b"}, Test: holds}}}
	q := gidp.Query{Allowed: wire.AllResults()}
	for x := range n {
		for y := range n {
			q.Claims = append(q.Claims, wire.Claim{Key: "both", Operator: wire.OpCompatibleWith, Value: jcs.Raw(fmt.Sprintf("[%d,%d]", x, y))})
		}
	}
	seen, evaluated := map[string]bool{}, map[[2]int][]gidp.Answer{} // an evaluation is a function of the cells
	for a := range n {
		for c := range n {
			cellA, _ := part.Cell(int64(a))
			cellC, _ := part.Cell(int64(c))
			got, ok := evaluated[[2]int{cellA, cellC}]
			if !ok {
				v := gidp.View{Authority: gidp.Authority{gidp.Probe: gidp.Yes}, Profile: rules, Attributes: map[string]gidp.Attribute{
					"a": {Holding: gidp.Cells{Partition: part, Low: cellA}, Held: true}, "b": {Holding: gidp.Cells{Partition: part, Low: cellC}, Held: true}}}
				got, _ = gidp.Evaluate(v, nil, q)
				evaluated[[2]int{cellA, cellC}] = got
			}
			transcript := ""
			for i, answer := range got {
				transcript += string(answer.Result) + " "
				if definite(answer.Result) && (answer.Result != wire.Incompatible) != (a <= i/n && c <= i%n) {
					untruthful++
				}
			}
			seen[transcript] = true
		}
	}
	return len(seen), untruthful
}

func compose(b *bench) {
	b.columns("streams", "claims each", "refusals")
	const k, claims = 5, 30
	r, refused, streams := b.Seeds(4, 4), 0, b.samples(20_000)
	for range streams {
		row, cell := newRow(k, math.Log2(k)), r.IntN(k)
		for range claims {
			last := int64(r.IntN(k)) // an aligned claim is a question about cells
			if _, admitted := put(&row, cell, func(c int64) bool { return c <= last }); !admitted {
				refused++
			}
		}
	}
	b.row(streams, claims, refused)
	b.accept("compose", "refusals", float64(refused), "0", Exact)
}

// few is the number of values, and of claims, of a policy of maximality.
const few = 12

// constant is the quantiser's rule on any class of values: a claim is decided when it is true of all of them or of none. On intervals it is the production rule,
// which a test compares.
func constant(class, truth uint16) (decided bool) { return class&truth == 0 || class&truth == class }

func maximality(b *bench) {
	b.columns("policies", "entries", "answered by the policy", "answered by the quantiser", "answered by the policy alone")
	r, policies := b.Seeds(8, 8), b.samples(200_000)
	var truth [few]uint16 // by claim: the values f ≤ m
	for m := range truth {
		truth[m] = 1<<(m+1) - 1
	}
	entries, byPolicy, byCells, alone := 0, 0, 0, 0
	for n := range policies {
		var group [few]int
		for f := range group {
			switch n % 4 {
			case 0, 1:
				group[f] = r.IntN(4)
			case 2:
				group[f] = f / 3
			default:
				group[f] = f
			}
		}
		var class [few]uint16 // by group
		for f, g := range group {
			class[g] |= 1 << f
		}
		generous := r.Float64()
		var says [few]uint16 // by value: claims that are answered
		for m := range few {
			var open [few]bool
			for g := range open {
				open[g] = r.Float64() < generous && constant(class[g], truth[m])
			}
			for f, g := range group {
				if open[g] {
					says[f] |= 1 << m
				}
			}
		}
		for f := range few {
			var same uint16 // values with equal replies
			for other := range few {
				// A reply is the truth or nothing, so equal replies are the same answered claims with the same truth.
				if equal := says[f] == says[other]; equal && agree(f, other, says[f], &truth) {
					same |= 1 << other
				}
			}
			for m := range few {
				entries++
				policy, cells := says[f]>>m&1 == 1, constant(same, truth[m])
				if policy {
					byPolicy++
				}
				if cells {
					byCells++
				}
				if policy && !cells {
					alone++
				}
			}
		}
	}
	b.row(policies, entries, byPolicy, byCells, alone)
	b.judge("maximality", "entries", float64(entries), float64(policies*few*few), 0, Exact)
	b.accept("maximality", "entries that the policy answers and the quantiser does not", float64(alone), "0", Exact)
}

// agree reports whether the answered claims are true of both values or of neither.
func agree(f, other int, answered uint16, truth *[few]uint16) bool {
	for m, t := range truth {
		if answered>>m&1 == 1 && t>>f&1 != t>>other&1 {
			return false
		}
	}
	return true
}
