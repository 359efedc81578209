package answer

import (
	"math/rand/v2"
	"slices"
	"testing"

	"sayso/business/answer/language"
)

// brute finds the least cost of all covers of the tokens by trying each.
func brute(r *reader, at int, total cost, best *cost, found *bool) {
	if at == len(r.tokens) {
		if !*found || total.compare(*best) < 0 {
			*best, *found = total, true
		}
		return
	}
	alone := cost{}
	if r.filler(at) {
		alone[7] = 1
	} else {
		alone[0] = 2
	}
	brute(r, at+1, total.plus(alone), best, found)
	for i := range r.pieces {
		if p := &r.pieces[i]; p.from == at {
			brute(r, p.to, total.plus(r.costOf(p)), best, found)
		}
	}
}

// costOfCover is what a chosen cover costs.
func costOfCover(r *reader, o *cover) cost {
	var total cost
	covered := make([]bool, len(r.tokens))
	for i := range o.pieces {
		total = total.plus(r.costOf(&o.pieces[i]))
		for k := o.pieces[i].from; k < o.pieces[i].to; k++ {
			covered[k] = true
		}
	}
	for i := range r.tokens {
		switch {
		case covered[i]:
		case r.filler(i):
			total[7]++
		default:
			total[0] += 2
		}
	}
	return total
}

// randomReader has up to eight tokens, some of them function words, and pieces at random.
func randomReader(c *Compiled, l *language.Language, seed uint64) *reader {
	rng := rand.New(rand.NewPCG(seed, 1))
	words := []string{"the", "tyre", "change", "in", "unknown", "price", "of"}
	r := &reader{c: c, l: l}
	for i := range 1 + rng.IntN(8) {
		w := words[rng.IntN(len(words))]
		r.tokens = append(r.tokens, language.Token{Word: w, Plain: w, Text: w, Start: i, End: i + 1})
	}
	kinds := []language.Kind{language.KindRecord, language.KindTerm, language.KindProfile, language.KindPlace, language.KindField, language.KindType, language.KindVerb, language.KindContent, language.KindComparison}
	for range rng.IntN(10) {
		from := rng.IntN(len(r.tokens))
		r.pieces = append(r.pieces, piece{kind: kinds[rng.IntN(len(kinds))], from: from, to: from + 1 + rng.IntN(len(r.tokens)-from), match: match(rng.IntN(3)), pair: -1})
	}
	return r
}

// FuzzCover holds the dynamic programme to brute force on at most eight tokens: never dearer, and what is disputed has two covers of that cost.
func FuzzCover(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	c, l := shop(f), shipped(f, "en")
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := randomReader(c, l, seed)
		var best cost
		found := false
		brute(r, 0, cost{}, &best, &found)
		o := r.cover()
		for i := 1; i < len(o.pieces); i++ {
			if o.pieces[i].from < o.pieces[i-1].to {
				t.Fatalf("pieces overlap: %+v", o.pieces)
			}
		}
		if slices.Contains(o.disputed, true) {
			return // no one cover is chosen
		}
		if got := costOfCover(r, o); got.compare(best) != 0 {
			t.Fatalf("seed %d: cost %v, the least is %v", seed, got, best)
		}
	})
}

func TestAmbiguityIsKept(t *testing.T) {
	c, l := shop(t), shipped(t, "en")
	read := func(q string) *cover {
		r := &reader{c: c, l: l, tokens: l.Tokens(q)}
		o, err := r.read()
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	// "change" is the head of two titles: both stay.
	for _, p := range read("change").pieces {
		if p.kind != language.KindRecord || len(p.targets) != 2 || p.match != matchNarrower {
			t.Errorf("change: %+v", p)
		}
	}
	// A title wins over what its words mean one by one.
	if o := read("oil and filter"); len(o.pieces) != 1 || o.pieces[0].match != matchExact {
		t.Errorf("oil and filter: %+v", o.pieces)
	}
	// A head that only modifies an unknown word is evidence for nothing.
	if o := read("wash basins"); len(o.pieces) != 0 {
		t.Errorf("wash basins: %+v", o.pieces)
	}
}

// shipped is the language of an embedded pack.
func shipped(t testing.TB, name string) *language.Language {
	t.Helper()
	all, err := language.Packs()
	if err != nil {
		t.Fatal(err)
	}
	return all[name]
}
