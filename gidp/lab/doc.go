// Package lab measures what GIDP's answers tell and what they are worth (§12.4, §15.4, §24.3, §24.4). An experiment takes its randomness as a parameter and
// returns values: a table, figures to be drawn, and one [Acceptance] for each number that the documentation quotes. It writes nothing.
//
// # What is measured
//
// The production code. Answers come from [gidp.Evaluate], refusals from [gidp.Row.Reserve], cells from [gidp.Partition] and hierarchies from [gidp.Tree].
// Where an experiment asks millions of questions it asks the production function once for every case that can occur and looks the answers up afterwards; the
// one piece of arithmetic that stands for it ([gidp.Row.Reserve] for thresholds on a weighted domain) is held to it by a differential test.
//
// # Models
//
// A leak is H(prior) − H(posterior) in bits; the querent knows the policy. In the threshold model the secret is one bound and a claim tests one edge; in the
// point model the secret is a point and a band has two live edges. Domain 32 is t in 0..31, uniform, with claims t ≥ m for m in 1..31. Domain 41 is 0 to
// 200M in steps of 5M. Domain 1000 is f in 0..999 with claims f ≤ m, under a uniform, a price or a salary prior.
//
// # Tolerances
//
// X is exact: an integer, an enumeration or a closed formula, equal to 1e-3 or to the last digit of the quoted figure. M is a Monte Carlo figure, D the column
// of drained budgets, F a share of first claims, C a count of claims, R the bits of redrawn partitions, P a figure that
// holds to a tenth, E the least or the most of a sample. A quick run has a tenth of the draws, but not
// less than a thousand, and tolerances 3.2 times as wide; X stays.
package lab

// Row is one number that was measured, and whether it is what the profile says or the bound allows.
type Row struct {
	Claim string  `json:"claim"`
	Value float64 `json:"value"`
	OK    bool    `json:"ok"`
}
