package answertest

import (
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Worlds are the planted samples by short name.
type Worlds map[string]*World

// LoadAll reads all samples and plants values in them.
func LoadAll() (Worlds, error) {
	all := Worlds{}
	for _, name := range sorted(Samples) {
		w, err := Load(name)
		if err != nil {
			return nil, err
		}
		all[name] = w.Planted()
	}
	return all, nil
}

func (ws Worlds) list() []*World {
	var out []*World
	for _, name := range append(slices.Clone(Small), "stores", "markets") {
		out = append(out, ws[name])
	}
	return out
}

// Fixed makes the questions that no seed changes.
func (ws Worlds) Fixed() []*Question {
	var out []*Question
	for _, w := range ws.list() {
		out = append(out, Names(w)...)
		out = append(out, Strangers(w, ws.list())...)
		out = append(out, Strange(w, 100)...)
	}
	for _, name := range Small {
		out = append(out, own(ws[name])...)
	}
	return out
}

// own are the questions that one small publisher's own statements give.
func own(w *World) []*Question {
	return slices.Concat(Parts(w), Traps(w), Fields(w), Bounds(w), Terms(w), Booleans(w), Places(w))
}

// Draw is how many questions are drawn from a seed, by generator; mutations are made of at most Bases questions.
type Draw struct {
	Pairs, Stores, Markets, Conjunctions, Bases, Disguised int
}

// Drawn makes the questions of one seed; fixed are the ones of Fixed.
func (ws Worlds) Drawn(fixed []*Question, seed uint64, d Draw) []*Question {
	rng := rand.New(rand.NewPCG(seed, 17))
	var out []*Question
	for _, name := range Small {
		out = append(out, Pairs(ws[name], rng, d.Pairs/len(Small))...)
		out = append(out, Coordinated(ws[name], rng, d.Conjunctions/len(Small))...)
	}
	stores, markets := Stores(ws["stores"], rng, d.Stores), Markets(ws["markets"], rng, d.Markets)
	rng.Shuffle(len(markets), func(i, k int) { markets[i], markets[k] = markets[k], markets[i] })
	markets = markets[:min(len(markets), 2*d.Markets)]
	out = slices.Concat(out, stores, markets, CoordinatedStores(ws["stores"], rng, d.Stores/4))
	var pool, bases []*Question
	for _, q := range fixed {
		if slices.Contains(Small, q.World.Name) && q.Shape != "" {
			pool = append(pool, q)
		}
	}
	out = append(out, Conjunctions(pool, rng, d.Conjunctions)...)
	bases = slices.Concat(pool, stores[:min(len(stores), d.Bases/10)])
	bases = slices.DeleteFunc(bases, func(q *Question) bool { return q.Want.Rule != Resolve })
	rng.Shuffle(len(bases), func(i, k int) { bases[i], bases[k] = bases[k], bases[i] })
	for _, q := range bases[:min(len(bases), d.Bases)] {
		out = append(out, Mutate(q, rng)...)
	}
	return append(out, ws.disguised(rng, d.Disguised)...)
}

// disguised makes n questions about disguised copies of the small samples.
func (ws Worlds) disguised(rng *rand.Rand, n int) []*Question {
	var out []*Question
	for _, name := range Small {
		w := ws[name].Disguised(rng)
		list := append(Names(w), own(w)...)
		list = append(list, Conjunctions(list, rng, n/20)...)
		list = append(list, Pairs(w, rng, n/len(Small))...)
		rng.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
		out = append(out, list[:min(len(list), n/len(Small))]...)
	}
	for _, q := range out[:len(out)/20] {
		out = append(out, Mutate(q, rng)...)
	}
	for _, q := range out {
		q.Kind += ", disguised"
	}
	return out
}

// Result is one judged question.
type Result struct {
	Question *Question
	Verdict  Verdict
}

// Run judges all questions on all processors.
func Run(questions []*Question) []Result {
	out := make([]Result, len(questions))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(questions); i = int(next.Add(1)) - 1 {
				out[i] = Result{questions[i], Judge(questions[i])}
			}
		})
	}
	wg.Wait()
	return out
}

// Table writes one line per generator and language: asked, resolvable, under-claims, and what is wrong.
func Table(to io.Writer, results []Result) {
	type row struct{ asked, resolvable, under, label, wrong, leak, broken, open int }
	rows := map[string]*row{}
	for _, r := range results {
		for _, key := range []string{r.Question.Gen + " " + r.Question.Lang, "~ all"} {
			if rows[key] == nil {
				rows[key] = &row{}
			}
			n := rows[key]
			n.asked++
			switch r.Question.Want.Rule {
			case Resolve:
				n.resolvable++
			case Open:
				n.open++
			}
			switch r.Verdict.Class {
			case UnderClaim:
				n.under++
			case WrongLabel:
				n.label++
			case FalseResolved:
				n.wrong++
			case Leak:
				n.leak++
			case Broken, Failed:
				n.broken++
			}
		}
	}
	keys := sorted(rows)
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(order(a), order(b)) })
	fmt.Fprintf(to, "%-8s %7s %10s %6s %11s %6s %6s %8s %5s %7s\n", "set", "asked", "resolvable", "open", "under-claim", "rate", "label", "false", "leak", "broken")
	for _, key := range keys {
		n := rows[key]
		rate := "-"
		if n.resolvable > 0 {
			rate = fmt.Sprintf("%.1f%%", 100*float64(n.under)/float64(n.resolvable))
		}
		fmt.Fprintf(to, "%-8s %7d %10d %6d %11d %6s %6d %8d %5d %7d\n", key, n.asked, n.resolvable, n.open, n.under, rate, n.label, n.wrong, n.leak, n.broken)
	}
}

// order sorts G2 before G10.
func order(key string) int {
	var n int
	fmt.Sscanf(key[1:], "%d", &n)
	return int(key[0])*100 + n
}

// Kinds writes every kind of one class with its size and up to three examples.
func Kinds(to io.Writer, results []Result, class Class) {
	groups := map[string][]Result{}
	for _, r := range results {
		if r.Verdict.Class == class {
			key := r.Question.Gen + " " + r.Question.Lang + " " + r.Question.Kind
			if strings.Contains(key, " AND ") {
				key = "G10 " + r.Question.Lang
			}
			groups[key] = append(groups[key], r)
		}
	}
	keys := sorted(groups)
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(len(groups[b]), len(groups[a])) })
	for _, key := range keys {
		list := groups[key]
		fmt.Fprintf(to, "%s: %d of %s\n", class, len(list), key)
		for i := 0; i < len(list); i += max(1, (len(list)+2)/3) {
			fmt.Fprintf(to, "    %s: %s   -> %s\n", list[i].Question.World.Name, list[i].Question.Text(), strings.TrimSpace(list[i].Verdict.Reason))
		}
	}
}

// Fails reports whether a class fails the gate.
func (c Class) Fails() bool { return c == FalseResolved || c == Leak || c == Broken || c == Failed }
