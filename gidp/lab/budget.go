package lab

import (
	"fmt"
	"math"
)

func budgetExperiments() []Experiment {
	ledger := "A refusal is decided from the claims and the earlier answers alone: a claim is admitted when each answer that some remaining value could " +
		"give keeps the total within the budget (sec. 7.6), by gidp.Row.Reserve."
	return []Experiment{{
		ID: "budget", Claims: []string{"A2a"}, About: "the worst case of a two-bit budget against a planning querent",
		Assumes: "A threshold in n values, uniform. " + ledger,
		Formula: "log2(n / what remains), the most over all secrets, for the greedy and the planning querent.",
		Shows:   "A budget of 2 bits is 2 bits in the worst case.",
		Refuses: "That 2 bits are what an honest party costs, or that the budget serves others afterwards.",
		run:     budgetCap,
	}, {
		ID: "budget-sizes", Claims: []string{"A2b"}, About: "what a two-bit budget leaks in domains that halve and that do not",
		Assumes: "As budget. The greedy querent takes the best split now; the planning one maximises the expected final leak.",
		Formula: "Dynamic programme over the size of what remains. The last line is no expectation: the best two admissible claims at the floor 45M of the " +
			"domain 41.",
		Shows:   "Less than one bit is an artefact of a size that does not halve and of a querent that does not plan.",
		Refuses: "Under one bit, of a two-bit budget.",
		run:     budgetSizes,
	}, {
		ID: "budget-first", Claims: []string{"A2c", "A4"}, About: "how often a two-bit budget refuses the first honest claim",
		Assumes: "32 values. T: claims t ≥ m; P: bands of a width anywhere in the domain. Normal edges are rounded and drawn again outside 1..31. " + ledger,
		Formula: "Share of 40,000 first claims that are refused.",
		Shows:   "How many are refused is a property of the distribution of the questions: 0 to .46 on the same rule.",
		Refuses: "That a budget refuses one in eight, or narrow bands, without the distribution.",
		run:     budgetFirst,
	}, {
		ID: "budget-stream", Claims: []string{"A2d"}, About: "how a shared two-bit budget serves the n-th honest asker",
		Assumes: "32 values, one claim for each asker, all on one ledger; or after a bisecting adversary. " + ledger,
		Formula: "Share of 20,000 streams whose n-th asker is answered.",
		Shows:   "The first asker decides what the others are told.",
		Refuses: "That a budget serves most honest counterparties: that is a first-asker figure.",
		run:     budgetStream,
	}}
}

func budgetCap(b *bench) {
	b.columns("values", "querent", "worst bits", "claims")
	for _, n := range []int{32, 64, 128, 1000} {
		least, worst := smallest(n, 2), 0.0
		plan, _ := planning(n, least)
		for _, q := range []struct {
			name string
			ask  querent
		}{{"greedy", greedy}, {"planning", plan}} {
			most, claims := 0.0, 0
			for secret := range n {
				row := newRow(n, 2)
				claims = max(claims, drain(&row, secret, least, q.ask))
				most = max(most, row.Spent())
			}
			b.row(n, q.name, most, claims)
			worst = max(worst, most)
		}
		b.accept("A2a", fmt.Sprintf("%d values: bits", n), worst, "2.000", Exact)
	}
}

// greedyLeak is the expected final leak of the greedy querent in bits.
func greedyLeak(n, least int) float64 {
	part := greedy(n, least)
	if part == 0 {
		return 0
	}
	a, c := float64(part)/float64(n), float64(n-part)/float64(n)
	return a*(greedyLeak(part, least)-math.Log2(a)) + c*(greedyLeak(n-part, least)-math.Log2(c))
}

func budgetSizes(b *bench) {
	b.columns("values", "greedy bits", "planning bits", "larger part of the first cut")
	for _, c := range []struct {
		n                int
		greedy, planning string
	}{
		{31, "1.515", "1.583"}, {32, "2.000", "2.000"}, {33, ".999", "1.585"}, {41, "1.000", "1.584"}, {64, "2.000", "2.000"}, {128, "2.000", "2.000"},
		{1000, "2.000", "2.000"},
	} {
		least := smallest(c.n, 2)
		g := greedyLeak(c.n, least)
		plan, leak := planning(c.n, least)
		b.row(c.n, g, leak, c.n-plan(c.n, least))
		b.accept("A2b", fmt.Sprintf("%d values: greedy bits", c.n), g, c.greedy, Exact)
		b.accept("A2b", fmt.Sprintf("%d values: planning bits", c.n), leak, c.planning, Exact)
	}
	// Of the pairs of claims that tell most at the floor, the one whose first cut is the most even.
	best, cut := 0.0, 41
	for first := range 41 {
		for second := range 41 {
			row := newRow(41, 2)
			put(&row, floor45, func(v int64) bool { return v <= int64(first) })
			put(&row, floor45, func(v int64) bool { return v <= int64(second) })
			if larger := max(first+1, 40-first); row.Spent() > best || row.Spent() == best && larger < cut {
				best, cut = row.Spent(), larger
			}
		}
	}
	b.row(41, "", best, cut)
	b.accept("A2b", "best two admissible claims at the floor 45M: bits", best, "1.90", Exact)
	b.accept("A2b", "their first cut of 41: the larger part", float64(cut), "22", Exact)
}

// edges draws the edge of a claim t ≥ m.
type edges func(Random) int

func uniformEdges(lo, hi int) edges { return func(r Random) int { return lo + r.IntN(hi-lo+1) } }

func normalEdges(r Random) int {
	for {
		if m := int(math.Round(16 + 5.5*r.NormFloat64())); m >= 1 && m < domain {
			return m
		}
	}
}

func budgetFirst(b *bench) {
	b.columns("model", "questions", "refused")
	r := b.Seeds(7, 7)
	n := b.samples(40_000)
	share := func(claim, model, name, want string, test func() func(int64) bool) {
		refused := 0
		for range n {
			row := newRow(domain, 2)
			if _, admitted := put(&row, 0, test()); !admitted {
				refused++
			}
		}
		got := float64(refused) / float64(n)
		b.row(model, name, got)
		b.accept(claim, model+" "+name+": refused", got, want, First)
	}
	for _, c := range []struct {
		claim, name, want string
		edge              edges
	}{
		{"A2c", "U{1..31}", ".453", uniformEdges(1, 31)}, {"A2c", "U{4..28}", ".317", uniformEdges(4, 28)}, {"A2c", "U{7..25}", ".103", uniformEdges(7, 25)},
		{"A2c", "N(16,5.5)", ".117", normalEdges}, {"A2c", "multiples of 4", ".283", func(r Random) int { return 4 + 4*r.IntN(7) }}, {"A4", "N(16,5.5)", ".117", normalEdges},
	} {
		share(c.claim, "T edge", c.name, c.want, func() func(int64) bool {
			m := int64(c.edge(r))
			return func(v int64) bool { return v >= m }
		})
	}
	for _, c := range []struct {
		claim, want string
		lo, hi      int
	}{{"A2c", "0", 8, 24}, {"A2c", ".126", 6, 21}, {"A2c", ".456", 1, 31}, {"A2c", ".281", 8, 32}, {"A2c", ".446", 4, 12}, {"A4", ".126", 6, 21}} {
		width := uniformEdges(c.lo, c.hi)
		share(c.claim, "P width", fmt.Sprintf("U{%d..%d}", c.lo, c.hi), c.want, func() func(int64) bool {
			w := width(r)
			lo := r.IntN(domain - w + 1)
			return func(v int64) bool { return v >= int64(lo) && v < int64(lo+w) }
		})
	}
}

func budgetStream(b *bench) {
	b.columns("questions", "asker", "answered")
	r := b.Seeds(9, 7)
	n := b.samples(20_000)
	least := smallest(domain, 2)
	for _, q := range []struct {
		name string
		edge edges
		want [5]string
	}{
		{"U{1..31}", uniformEdges(1, 31), [5]string{".551", ".564", ".643", ".687", ".776"}},
		{"N(16,5.5)", normalEdges, [5]string{".879", ".625", ".654", ".696", ".782"}},
	} {
		var served [51]int
		drained := 0
		for range n {
			secret := r.IntN(domain)
			row := newRow(domain, 2)
			for i := 1; i < len(served); i++ {
				m := int64(q.edge(r))
				if _, admitted := put(&row, secret, func(v int64) bool { return v >= m }); admitted {
					served[i]++
				}
			}
			row = newRow(domain, 2)
			drain(&row, secret, least, greedy)
			m := int64(q.edge(r))
			if _, admitted := put(&row, secret, func(v int64) bool { return v >= m }); admitted {
				drained++
			}
		}
		for i, at := range []int{1, 2, 10, 50} {
			got := float64(served[at]) / float64(n)
			b.row(q.name, at, got)
			b.accept("A2d", fmt.Sprintf("%s, asker %d: answered", q.name, at), got, q.want[i], MonteCarlo)
		}
		got := float64(drained) / float64(n)
		b.row(q.name, "after an adversary", got)
		b.accept("A2d", q.name+", after an adversary: answered", got, q.want[4], MonteCarlo)
	}
}
