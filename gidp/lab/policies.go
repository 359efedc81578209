package lab

import (
	"math"

	"sayso/gidp"
	"sayso/gidp/wire"
)

// domain is the number of values of the five-bit threshold.
const domain = 32

func policyExperiments() []Experiment {
	return []Experiment{{
		ID: "policies", Claims: []string{"A1a", "A1b", "A1c", "A1d"},
		About: "plain, coarsened, randomised and declined answers against bisection",
		Assumes: "A threshold t in 0..31, uniform; claims t ≥ m. The querent asks what best splits its hypotheses, and asks again when an answer was " +
			"uninformative. A fresh coin falls for each claim. The randomised figures are those of 20 runs for each of the 32 secrets, 2,000 runs one-sided.",
		Formula: "Leak after k claims: 5 − log2 of what remains. With every answer hidden with probability p: E min(5, B(k, 1−p)), and 5/(1−p) claims to " +
			"the end. The exact figures for p=.5 are .500, 1.500, 2.500, 4.385, 4.990 bits and 10 claims; those quoted are of a sample of this size.",
		Shows: "A truthful oracle is bisected. Relabelling answers without merging them leaks the same; coins buy time, not a bound; declining leaks " +
			"nothing and qualifies nobody.",
		Refuses: "That coarse words protect a value, or that a slow leak is a bounded one.",
		run:     policies,
	}}
}

// truthful holds the production answers of the open value {max: t} to every claim t ≥ m.
func truthful() (out [domain][domain]wire.Result) {
	for t := range domain {
		h := openValue(atMost(t))
		for m := range domain {
			out[t][m] = evaluate(h, wire.OpOverlaps, atLeast(m))
		}
	}
	return out
}

// relabel is a policy that decides from the truthful answer alone.
type relabel func(wire.Result) wire.Result

// bisected lets a querent that knows the policy split its hypotheses as evenly as it can, for one secret.
func bisected(truth *[domain][domain]wire.Result, policy relabel, secret int) (claims int, bits float64) {
	left := make([]int, domain)
	for t := range left {
		left[t] = t
	}
	for {
		best, most := -1, 0.0
		for m := 1; m < domain; m++ {
			parts := map[wire.Result]float64{}
			for _, t := range left {
				parts[policy(truth[t][m])]++
			}
			var sizes []float64
			for _, r := range wire.AllResults() {
				sizes = append(sizes, parts[r])
			}
			if h := entropy(sizes); h > most+1e-12 {
				best, most = m, h
			}
		}
		if best < 0 {
			return claims, math.Log2(domain / float64(len(left)))
		}
		claims++
		got, kept := policy(truth[secret][best]), left[:0:0]
		for _, t := range left {
			if policy(truth[t][best]) == got {
				kept = append(kept, t)
			}
		}
		left = kept
	}
}

func policies(b *bench) {
	b.columns("policy", "claims", "bits")
	truth := truthful()
	for _, p := range []struct {
		claim, name string
		to          relabel
		bits, asked string
	}{
		{"A1a", "plain", func(r wire.Result) wire.Result { return r }, "5.000", "5"},
		{"A1b", "compatible becomes conditionally_compatible", func(r wire.Result) wire.Result {
			if r == wire.Compatible {
				return wire.Conditionally
			}
			return r
		}, "5.000", "5"},
		{"A1b", "incompatible becomes unknown", func(r wire.Result) wire.Result {
			if r == wire.Incompatible {
				return wire.Unknown
			}
			return r
		}, "5.000", "5"},
	} {
		least, most := math.Inf(1), 0
		for t := range domain {
			claims, bits := bisected(&truth, p.to, t)
			least, most = min(least, bits), max(most, claims)
		}
		b.row(p.name, most, least)
		b.accept(p.claim, p.name+": bits", least, p.bits, Exact)
		b.accept(p.claim, p.name+": claims", float64(most), p.asked, Exact)
	}

	r := b.Seeds(1, 2)
	const shown = 20
	bits, claims := randomised(r, &truth, .5, b.samples(20*domain), shown)
	for _, at := range []struct {
		k    int
		want string
	}{{1, ".51"}, {3, "1.54"}, {5, "2.55"}, {10, "4.39"}, {shown, "5.00"}} {
		b.row("hidden with p=.5", at.k, bits[at.k])
		b.row("hidden with p=.5, exact", at.k, expectedBits(at.k, .5))
		b.accept("A1c", "p=.5: bits at k="+Cell(at.k), bits[at.k], at.want, MonteCarlo)
	}
	b.row("hidden with p=.5, until 4.99 bits", claims, 4.99)
	b.accept("A1c", "p=.5: claims to 4.99 bits", claims, "9.93", Claims)
	_, claims = randomised(r, &truth, .8, b.samples(20*domain), shown)
	b.row("hidden with p=.8, until 4.99 bits", claims, 4.99)
	b.accept("A1c", "p=.8: claims to 4.99 bits", claims, "24.96", Claims)
	claims = oneSided(b.Seeds(1, 2), .5, b.samples(2000))
	b.row("compatible hidden with p=.5, until 4.99 bits", claims, 4.99)
	b.accept("A1c", "only compatible hidden: claims to 4.99 bits", claims, "22.2", Claims)

	told := math.Inf(-1)
	for m := range domain {
		if evaluate(gidp.Closed{}, wire.OpOverlaps, atLeast(m)) == wire.Declined {
			told = max(told, 0)
		} else {
			told = 5
		}
	}
	b.row("declined", domain, told)
	b.accept("A1d", "closed: bits", told, "0", Exact)
}

// expectedBits is the leak after k claims when each answer is hidden with probability p.
func expectedBits(k int, p float64) float64 {
	sum, term := 0.0, math.Pow(p, float64(k)) // of no answer shown
	for shown := range k + 1 {
		sum += term * float64(min(shown, 5))
		term *= float64(k-shown) / float64(shown+1) * (1 - p) / p
	}
	return sum
}

// randomised hides every answer with probability p. It returns the mean leak after each of the first claims, and the mean number of claims to 4.99 bits. Every secret
// has the same number of runs.
func randomised(r Random, truth *[domain][domain]wire.Result, p float64, runs, shown int) (bits []float64, claims float64) {
	bits = make([]float64, shown+1)
	runs /= domain
	for range runs {
		for secret := range domain {
			lo, hi := 0, domain
			for k := 1; ; k++ {
				hidden := r.Float64() < p
				if m := (lo + hi) / 2; hi-lo > 1 && !hidden {
					if truth[secret][m] == wire.Compatible {
						lo = m
					} else {
						hi = m
					}
					if hi-lo == 1 {
						claims += float64(k)
					}
				}
				if k <= shown {
					bits[k] += math.Log2(domain / float64(hi-lo))
				}
				if hi-lo == 1 && k >= shown {
					break
				}
			}
		}
	}
	for k := range bits {
		bits[k] /= float64(runs * domain)
	}
	return bits, claims / float64(runs*domain)
}

// oneSided hides compatible alone with probability p: the querent weighs its hypotheses by Bayes and asks what is expected to tell it most.
func oneSided(r Random, p float64, runs int) float64 {
	claims := 0
	for range runs {
		secret := r.IntN(domain)
		var weight [domain]float64
		for t := range weight {
			weight[t] = 1. / domain
		}
		for entropy(weight[:]) > 5-4.99 {
			best, most, below := 0, -1.0, 0.0
			for m := 1; m < domain; m++ {
				below += weight[m-1]
				above := 1 - below
				if told := binary(above*(1-p)) - above*binary(p); told > most+1e-12 {
					best, most = m, told
				}
			}
			claims++
			if secret >= best && r.Float64() >= p {
				clear(weight[:best])
			} else {
				for t := best; t < domain; t++ {
					weight[t] *= p
				}
			}
			normalised(weight[:])
		}
	}
	return float64(claims) / float64(runs)
}

// binary is the entropy of a coin.
func binary(p float64) float64 { return entropy([]float64{max(p, 0), max(1-p, 0)}) }
