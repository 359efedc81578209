package lab

import (
	"fmt"
	"math"

	"sayso/gidp"
	"sayso/gidp/wire"
)

func identityExperiments() []Experiment {
	return []Experiment{{
		ID: "sybil", Claims: []string{"A6a"}, About: "an allowance of claims for each counterparty, split over identities",
		Assumes: "1,024 values, a truthful oracle, identities cost nothing and pool what they learn.",
		Formula: "Bits after identities × allowance claims of one bisection.",
		Shows:   "Allowances for each counterparty sum over identities.",
		Refuses: "That a limit for each peer limits anything where peers are not known.",
		run:     sybil,
	}, {
		ID: "cap", Claims: []string{"A6b", "A6c"}, About: "a cap on answered claims that lets an honest session through and stops a bisection",
		Assumes: "An honest session costs 5 claims. Extraction is the shortest bisection by the lower median, against the production evaluator.",
		Formula: "A cap c separates when 5 ≤ c < floor(log2 n). Over the life of an interest, floor(c/5) sessions fit below it.",
		Shows:   "The window opens with the size of the domain: none at 32 and 41 values, wide at 1,000.",
		Refuses: "That a separating cap is usable as a cap for life: one honest session fits.",
		run:     caps,
	}, {
		ID: "recall", Claims: []string{"A7", "A7b"}, About: "what a provider finds that resolves one hierarchy, and one that compares words",
		Assumes: "1,500 publishers and querents each. A7: all name a city; sector of 8, 20 cities in 5 countries, 6 sizes, 2 directions; relevant is the " +
			"same sector and country, a size at most 1 away, the other direction; sessions are those of 300 querents. A7b: places alone; 80 cities in 16 " +
			"countries in 4 regions; publishers name a city; 26 % of the queries do, the others a country or a region, one as often as the other; relevant " +
			"lies in what the query names.",
		Formula: "Recall is found over relevant, for all pairs together or as the mean over queries. Places are resolved by gidp.Tree.",
		Shows:   "One hierarchy at the provider finds everything; comparing words finds a quarter here by construction, since a country has four cities.",
		Refuses: "26 % to 100 % without: for each pair, all at city level, four cities to a country.",
		run:     recall,
	}}
}

func sybil(b *bench) {
	b.columns("identities", "claims each", "bits")
	for _, c := range [][2]int{{8, 1}, {4, 2}, {2, 4}, {1, 8}} {
		worst := math.Inf(1)
		for _, secret := range []int{0, 511, 512, 1023} {
			h := openValue(atLeast(secret))
			lo, hi := 0, 1024
			for range c[0] { // a new identity finds a new allowance
				for range c[1] {
					m := (lo + hi) / 2
					if evaluate(h, wire.OpOverlaps, atMost(m-1)) == wire.Compatible {
						hi = m
					} else {
						lo = m
					}
				}
			}
			worst = min(worst, math.Log2(1024/float64(hi-lo)))
		}
		b.row(c[0], c[1], worst)
		b.accept("A6a", fmt.Sprintf("%d×%d: bits", c[0], c[1]), worst, "8.000", Exact)
	}
}

// extraction is the least number of claims, over all secrets, in which the lower median finds the value.
func extraction(n int) int {
	least := n
	for secret := range n {
		h := openValue(atLeast(secret))
		lo, hi, claims := 0, n, 0
		for ; hi-lo > 1; claims++ {
			median := lo + (hi-lo-1)/2
			if evaluate(h, wire.OpOverlaps, fmt.Sprintf(`{"max":%d,"min":%d}`, median, median)) == wire.Compatible {
				hi = median + 1
			} else {
				lo = median + 1
			}
		}
		least = min(least, claims)
	}
	return least
}

func caps(b *bench) {
	b.columns("values", "extraction", "lowest cap", "highest cap", "honest sessions for life")
	const session = 5
	sized := map[int]int{}
	for _, c := range []struct {
		n    int
		want string
	}{{16, "4"}, {41, "5"}, {128, "7"}, {512, "9"}, {2048, "11"}} {
		sized[c.n] = extraction(c.n)
		b.accept("A6b", fmt.Sprintf("%d values: claims of an extraction", c.n), float64(sized[c.n]), c.want, Exact)
	}
	for _, c := range []struct {
		n, lowest, highest int
		sessions           string
	}{{32, 0, 0, ""}, {41, 0, 0, "0"}, {64, 5, 5, ""}, {128, 5, 6, "1"}, {1000, 5, 8, "1"}} {
		if sized[c.n] == 0 {
			sized[c.n] = extraction(c.n)
		}
		lowest, highest := session, sized[c.n]-1
		if highest < lowest {
			lowest, highest = 0, 0
		}
		b.accept("A6b", fmt.Sprintf("%d values: lowest separating cap", c.n), float64(lowest), fmt.Sprint(c.lowest), Exact)
		b.accept("A6b", fmt.Sprintf("%d values: highest separating cap", c.n), float64(highest), fmt.Sprint(c.highest), Exact)
		if c.sessions != "" {
			b.accept("A6c", fmt.Sprintf("%d values: honest sessions below the cap", c.n), float64(highest/session), c.sessions, Exact)
		}
		b.row(c.n, sized[c.n], lowest, highest, highest/session)
	}
	for _, n := range []int{16, 512, 2048} {
		b.row(n, sized[n], "", "", "")
	}
}

// place is a tree of places: cities in countries, in regions where there are any.
type place struct {
	tree                       *gidp.Tree
	cities, countries, regions []string
}

func places(regions, countries, cities int) place {
	container := map[string]string{}
	var out place
	for r := range regions {
		region := fmt.Sprintf("region_%d", r)
		out.regions = append(out.regions, region)
		for c := range countries {
			country := fmt.Sprintf("country_%d_%d", r, c)
			out.countries = append(out.countries, country)
			container[country] = region
			for t := range cities {
				city := fmt.Sprintf("city_%d_%d_%d", r, c, t)
				out.cities = append(out.cities, city)
				container[city] = country
			}
		}
	}
	out.tree, _ = gidp.NewTree(container)
	return out
}

// party is one that publishes or asks.
type party struct {
	sector, size, direction int
	place                   string
}

func parties(r Random, n int, where func() string) []party {
	out := make([]party, n)
	for i := range out {
		out[i] = party{r.IntN(8), r.IntN(6), r.IntN(2), where()}
	}
	return out
}

func recall(b *bench) {
	b.columns("population", "provider", "recall of pairs", "recall of queries", "sessions for each publisher")
	r := b.Seeds(5, 5)
	europe := places(1, 5, 4)
	city := func() string { return europe.cities[r.IntN(len(europe.cities))] }
	n := b.samples(1500)
	publishers, querents := parties(r, n, city), parties(r, n, city)
	country := func(p party) string {
		node, _ := europe.tree.Generalise(p.place, europe.countries)
		return node
	}
	basic := func(p, q party) bool {
		return p.sector == q.sector && max(p.size-q.size, q.size-p.size) <= 1 && p.direction != q.direction
	}
	relevant := func(p, q party) bool { return basic(p, q) && country(p) == country(q) }
	for _, c := range []struct {
		name, recall, sessions string
		finds                  func(p, q party) bool
	}{
		{"city", ".26", ".4", func(p, q party) bool { return basic(p, q) && p.place == q.place }},
		{"country", "1.00", "1.6", func(p, q party) bool { return basic(p, q) && europe.tree.Within(p.place, country(q)) }},
		{"country, size//3", "", "1.9", func(p, q party) bool {
			return p.sector == q.sector && country(p) == country(q) && p.size/3 == q.size/3 && p.direction != q.direction
		}},
		{"country, size//3, symmetric", "", "3.7", func(p, q party) bool { return p.sector == q.sector && country(p) == country(q) && p.size/3 == q.size/3 }},
		{"sector", "", "37.5", func(p, q party) bool { return p.sector == q.sector }},
	} {
		pairs, queries, retrieved := found(publishers, querents, relevant, c.finds)
		sessions := float64(retrieved) / float64(len(publishers)) * 300 / float64(len(querents))
		b.row("all at city level", c.name, pairs, queries, sessions)
		if c.recall != "" {
			b.accept("A7", c.name+": recall of pairs", pairs, c.recall, MonteCarlo)
		}
		b.accept("A7", c.name+": sessions for each publisher", sessions, c.sessions, Tenth)
	}

	wide := places(4, 4, 5)
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	publishers = parties(r, n, func() string { return pick(wide.cities) })
	querents = parties(r, n, func() string {
		switch u := r.Float64(); {
		case u < .26:
			return pick(wide.cities)
		case u < .63:
			return pick(wide.countries)
		}
		return pick(wide.regions)
	})
	within := func(p, q party) bool { return wide.tree.Within(p.place, q.place) }
	for _, c := range []struct {
		name, pairs, queries string
		finds                func(p, q party) bool
	}{
		{"words", ".029", ".268", func(p, q party) bool { return p.place == q.place }},
		{"resolving", "1.000", "1.000", within},
	} {
		pairs, queries, retrieved := found(publishers, querents, within, c.finds)
		b.row("26 % at city level", c.name, pairs, queries, float64(retrieved)/float64(n))
		b.accept("A7b", c.name+": recall of pairs", pairs, c.pairs, MonteCarlo)
		b.accept("A7b", c.name+": recall of queries", queries, c.queries, MonteCarlo)
	}
}

// found is the recall over all pairs, the mean recall of the queries that have something to find, and how many candidates were returned.
func found(publishers, querents []party, relevant, finds func(p, q party) bool) (pairs, queries float64, retrieved int) {
	hits, wanted, asked := 0, 0, 0
	for _, q := range querents {
		h, w := 0, 0
		for _, p := range publishers {
			ok := finds(p, q)
			if ok {
				retrieved++
			}
			if relevant(p, q) {
				w++
				if ok {
					h++
				}
			}
		}
		hits, wanted = hits+h, wanted+w
		if w > 0 {
			asked++
			queries += float64(h) / float64(w)
		}
	}
	return float64(hits) / float64(wanted), queries / float64(asked), retrieved
}
