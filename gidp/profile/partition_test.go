package profile

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sayso/gidp"
)

// The table of sec. 13, recomputed from the priors alone.
func TestShippedPartitionsFollowFromTheirPriors(t *testing.T) {
	const k, m = 1_000, 1_000_000
	table := map[string]struct {
		edges         []int64
		median, sigma float64
		max           int64
		worst         float64
	}{
		"enterprise_value_eur/1":       {[]int64{5 * m, 8 * m, 15 * m, 20 * m, 30 * m, 50 * m, 80 * m}, 20 * m, 1.2, 1e12, 3.40},
		"arr_eur/1":                    {[]int64{1200 * k, 2 * m, 3 * m, 4 * m, 6 * m, 8 * m, 15 * m}, 4 * m, 1.1, 1e12, 3.44},
		"cash_compensation_eur_year/1": {[]int64{100 * k, 120 * k, 150 * k, 180 * k, 200 * k, 250 * k, 300 * k}, 180 * k, .45, 1e8, 3.51},
		"ticket_eur/1":                 {[]int64{70 * k, 120 * k, 180 * k, 250 * k, 400 * k, 500 * k, 800 * k}, 250 * k, 1.1, 1e12, 3.83},
		"contract_value_eur_year/1":    {[]int64{40 * k, 60 * k, 80 * k, 120 * k, 180 * k, 250 * k, 400 * k}, 120 * k, 1.0, 1e12, 3.34},
	}
	seen := map[string]bool{}
	for _, id := range Shipped().IDs() {
		p, _ := Shipped().Profile(id)
		for id, got := range p.Partitions {
			want, ok := table[id]
			if !ok {
				t.Errorf("%s is not in the table", id)
				continue
			}
			seen[id] = true
			prior := Prior{Kind: LogNormal, Median: want.median, Sigma: want.sigma}
			if edges := prior.Edges(gidp.Partition{Max: want.max}, 8); !slices.Equal(edges, want.edges) {
				t.Errorf("%s: the prior gives %d, the table %d", id, edges, want.edges)
			}
			worst := WorstBits(prior.Masses(gidp.Partition{Max: want.max, Edges: want.edges}))
			if math.Abs(worst-want.worst) > .005 {
				t.Errorf("%s: %.3f worst bits, the table says %.2f", id, worst, want.worst)
			}
			if !slices.Equal(got.Edges, want.edges) || got.Min != 0 || got.Max != want.max || got.WorstBits != worst || got.Outputs != (Outputs{8, 36}) || got.Bits() != 3 {
				t.Errorf("%s as loaded: %+v", id, got)
			}
		}
	}
	if len(seen) != len(table) {
		t.Errorf("%d of the %d partitions of the table are shipped", len(seen), len(table))
	}
}

// An independent sum over the density agrees with the masses, so that a slip in the distribution function would show.
func TestMassesAreThoseOfTheDensity(t *testing.T) {
	for _, id := range Shipped().IDs() {
		p, _ := Shipped().Profile(id)
		for _, part := range p.Partitions {
			ends := slices.Concat([]int64{1}, part.Edges, []int64{part.Max})
			for i := range part.Masses {
				from, to := math.Log(float64(ends[i])), math.Log(float64(ends[i+1]))
				sum, steps := 0.0, 40_000
				for n := range steps {
					z := (from + (to-from)*(float64(n)+.5)/float64(steps) - math.Log(part.Prior.Median)) / part.Prior.Sigma
					sum += math.Exp(-z*z/2) / part.Prior.Sigma / math.Sqrt(2*math.Pi) * (to - from) / float64(steps)
				}
				if math.Abs(sum-part.Masses[i]) > 1e-6 {
					t.Errorf("%s cell %d: %.7f by the density, %.7f loaded", part.ID, i, sum, part.Masses[i])
				}
			}
		}
	}
}

func TestSnap(t *testing.T) {
	for v, want := range map[float64]int64{0: 1, .3: 1, 1: 1, 1.4: 1, 1.5: 2, 9: 10, 8.9: 8, 10.9: 10, 11: 12, 13.6: 15, 1.1e6: 1_200_000, 8.93e6: 8_000_000, 9.2e6: 10_000_000, 1e12: 1_000_000_000_000} {
		if got := Snap(v); got != want {
			t.Errorf("%g snaps to %d, want %d", v, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(10, 1e14).Draw(t, "v")
		s := Snap(v)
		if ratio := float64(s) / v; ratio > math.Sqrt(1.34) || ratio < 1/math.Sqrt(1.34) {
			t.Fatalf("%g snaps to %d", v, s)
		}
		if Snap(float64(s)) != s {
			t.Fatalf("%d is not a round figure", s)
		}
	})
}

// Equal width under a prior that is not uniform isolates the rare values, and is refused (Q-1).
func TestEqualWidthIsForUniformPriorsOnly(t *testing.T) {
	logNormal := Prior{Kind: LogNormal, Median: 150, Sigma: .7, Statement: "a price"}
	even := Prior{Kind: Uniform, Statement: "every value alike"}
	width := gidp.Partition{ID: "x/1", Min: 0, Max: 999, Edges: []int64{200, 400, 600, 800}}
	p := &Partition{Partition: width, Prior: logNormal}
	if err := p.check(); err == nil || !strings.Contains(err.Error(), "Q-1") {
		t.Errorf("equal width under a log-normal prior: %v", err)
	}
	if worst := WorstBits(logNormal.Masses(width)); worst < 7 {
		t.Errorf("it would tell %.2f bits: the refusal has no reason", worst)
	}
	p.Prior = even
	if err := p.check(); err != nil {
		t.Errorf("equal width under a uniform prior: %v", err)
	}
}

// Whatever prior and domain: its own edges pass, moving one of them beyond rounding does not, and the masses are a distribution.
func TestEdgesOfAPriorPass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prior := Prior{Kind: Uniform, Statement: "s"}
		domain := gidp.Partition{ID: "q/1", Max: rapid.Int64Range(100_000, 1e12).Draw(t, "max")}
		if rapid.Bool().Draw(t, "log-normal") {
			prior = Prior{Kind: LogNormal, Median: float64(rapid.Int64Range(1_000, domain.Max/10).Draw(t, "median")), Sigma: rapid.Float64Range(.3, 2).Draw(t, "sigma"), Statement: "s"}
		}
		domain.Edges = prior.Edges(domain, rapid.IntRange(2, 8).Draw(t, "cells"))
		p := &Partition{Partition: domain, Prior: prior}
		if domain.Check() != nil {
			t.Skip("round figures fall together")
		}
		if err := p.check(); err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, m := range prior.Masses(domain) {
			sum += m
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Fatalf("the masses sum to %g", sum)
		}
		i := rapid.IntRange(0, len(domain.Edges)-1).Draw(t, "edge")
		p.Edges = slices.Clone(p.Edges)
		p.Edges[i] += p.Edges[i]/3 + 3
		if err := p.check(); err == nil {
			t.Fatalf("%d was %d and passes", p.Edges, domain.Edges)
		}
	})
}

func TestNested(t *testing.T) {
	part := func(unit string, top int64, edges ...int64) *Partition {
		return &Partition{Partition: gidp.Partition{Max: top, Edges: edges}, Unit: unit}
	}
	base := part("eur", 99, 20, 40, 60)
	for name, c := range map[string]struct {
		other *Partition
		want  bool
	}{
		"itself":         {base, true},
		"a coarsening":   {part("eur", 99, 40), true},
		"a refinement":   {part("eur", 99, 10, 20, 40, 50, 60), true},
		"moved edges":    {part("eur", 99, 20, 41, 60), false},
		"crossed":        {part("eur", 99, 10, 20, 40, 50, 61), false},
		"another domain": {part("eur", 100, 20, 40, 60), false},
		"another unit":   {part("usd", 99, 20, 40, 60), false},
	} {
		if got := Nested(base, c.other); got != c.want || Nested(c.other, base) != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func ExamplePrior_Edges() {
	prior := Prior{Kind: LogNormal, Median: 250_000, Sigma: 1.1}
	domain := gidp.Partition{Max: 1_000_000_000_000}
	domain.Edges = prior.Edges(domain, 8)
	fmt.Println(domain.Edges)
	fmt.Printf("%.2f bits at most\n", WorstBits(prior.Masses(domain)))
	// Output:
	// [70000 120000 180000 250000 400000 500000 800000]
	// 3.83 bits at most
}
