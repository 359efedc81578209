package lab

import (
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

func adaptiveExperiments() []Experiment {
	return []Experiment{{
		ID: "leakage", About: "the default responder against every adaptive querent, over whole sessions",
		Assumes: "32 values, 136 ranges over 16 values or 27 labels, uniform, held in cells. Every claim of every operator is a move; replies are those of " +
			"the production evaluator for every secret. The sessions are production sessions over bytes: one for as long as it lasts, a fresh one for each " +
			"claim and each twice with the state written and read in between, many identities, superseding and asking again, reusing claim ids, and " +
			"answering while asking itself. A full run also asks everything about every key of the shipped profiles.",
		Formula: "Planning: a dynamic programme over the sets of secrets that are still possible maximises the expected final leak over all adaptive " +
			"strategies. Sessions: entropy of all that the responder sent, over secrets. Both against the entropy of the cells, which is at most log2 of " +
			"their number.",
		Shows:   "No querent learns more than the cell; the planning one learns the cell exactly.",
		Refuses: "That approvals, disclosed values, timing, crossings or the Principal's own exact questions are covered.",
		run:     adaptive,
	}}
}

// subject is a family of secrets with all questions on them.
type subject struct {
	name    string
	rules   *gidp.Profile
	secrets []map[string]held // by key; each secret is as likely as any other
	keys    []string
	asked   map[string][]asked
	outputs int // classes that answers may tell apart
	bits    float64
}

// whole is an experiment of leakage over all of n values: every value is held and every end is asked.
func whole(n int, shape string) experiment {
	for _, e := range numbers(even(n, 1)) {
		if e.shape == shape {
			return e
		}
	}
	return experiment{}
}

// on is a subject of one key with a partition.
func on(name, shape string, part *gidp.Partition) subject {
	e := whole(int(part.Max)+1, shape)
	s := subject{name: name, rules: &gidp.Profile{ID: "lab", Keys: map[string]gidp.Key{"k": {Partition: part}}}, keys: []string{"k"},
		asked: map[string][]asked{"k": e.asked}}
	for _, h := range e.held {
		s.secrets = append(s.secrets, map[string]held{"k": h})
	}
	s.bound(func(h map[string]held) string { return cellsOf(part, h["k"]) })
	return s
}

// bound counts the classes of secrets and their entropy.
func (s *subject) bound(class func(map[string]held) string) {
	count := map[string]float64{}
	for _, h := range s.secrets {
		count[class(h)]++
	}
	s.outputs, s.bits = len(count), entropy(slices.Sorted(maps.Values(count))) // sorted: a sum depends on its order
}

// cellsOf names the cells of the finite ends of a value.
func cellsOf(part *gidp.Partition, h held) string {
	out := ""
	for _, end := range []float64{h.low, h.high} {
		if !math.IsInf(end, 0) {
			cell, _ := part.Cell(int64(end))
			out += strconv.Itoa(cell) + " "
		}
	}
	return out
}

// correlated is one number held under two keys, each with its own partition.
func correlated(name string, first, second *gidp.Partition) subject {
	point, floor := whole(domain, "point"), whole(domain, "floor")
	s := subject{name: name, keys: []string{"k", "l"}, asked: map[string][]asked{"k": point.asked, "l": floor.asked},
		rules: &gidp.Profile{ID: "lab", Keys: map[string]gidp.Key{"k": {Partition: first}, "l": {Partition: second}}}}
	for i := range point.held {
		s.secrets = append(s.secrets, map[string]held{"k": point.held[i], "l": floor.held[i]})
	}
	s.bound(func(h map[string]held) string { return cellsOf(first, h["k"]) + cellsOf(second, h["l"]) })
	return s
}

func subjects() []subject {
	uneven := &gidp.Partition{ID: "uneven", Max: domain - 1, Edges: []int64{3, 7, 15, 22}}
	out := []subject{
		on("point, 8 cells", "point", even(domain, 4)), on("floor, 8 cells", "floor", even(domain, 4)), on("ceiling, 8 cells", "ceiling", even(domain, 4)),
		on("point, 5 uneven cells", "point", uneven), on("range, 4 cells", "range", even(domain/2, 4)),
		correlated("two keys, one partition", even(domain, 4), even(domain, 4)), correlated("two keys, two partitions", even(domain, 8), uneven),
	}
	container, cut, names := ternary()
	tree, _ := gidp.NewTree(container)
	e := labels(names, tree, cut)
	s := subject{name: "label, 9 nodes", rules: &gidp.Profile{ID: "lab", Keys: map[string]gidp.Key{"k": {Tree: tree, Cut: cut}}}, keys: []string{"k"},
		asked: map[string][]asked{"k": e.asked}}
	for _, h := range e.held[:27] {
		s.secrets = append(s.secrets, map[string]held{"k": h})
	}
	s.bound(func(h map[string]held) string { return container[h["k"].labels[0]] })
	return append(out, s)
}

// interest is what holds one secret.
func (s *subject) interest(secret int) *interest.Interest {
	values := map[string]jcs.Raw{}
	for _, key := range s.keys {
		values[key] = jcs.Raw(s.secrets[secret][key].raw)
	}
	return &interest.Interest{Profile: s.rules.ID, Attributes: values, Authority: map[gidp.Level]gidp.Permission{gidp.Probe: gidp.Yes}}
}

// move is a claim with the replies of all secrets to it.
type move struct {
	claim   wire.Claim
	replies []wire.Result
}

// moves are the claims that secrets answer differently, one for each way of telling them apart, and the number of replies that are not true.
func (s *subject) moves() (out []move, untruthful int) {
	q := gidp.Query{Allowed: wire.AllResults()}
	var questions []asked
	for _, key := range s.keys {
		for _, a := range s.asked[key] {
			q.Claims = append(q.Claims, wire.Claim{Key: key, Operator: a.op, Value: jcs.Raw(a.raw)})
			questions = append(questions, a)
		}
	}
	all := make([][]wire.Result, len(q.Claims))
	evaluated := map[string][]gidp.Answer{} // an evaluation is a function of the view
	for secret := range s.secrets {
		v := s.interest(secret).View(s.rules, interest.Towards{Active: true, Depth: wire.DepthSession})
		holds := fmt.Sprintf("%+v", v.Attributes)
		got, ok := evaluated[holds]
		if !ok {
			got, _ = gidp.Evaluate(v, nil, q)
			evaluated[holds] = got
		}
		for i, a := range got {
			all[i] = append(all[i], a.Result)
			if definite(a.Result) && questions[i].truth(s.secrets[secret][q.Claims[i].Key]) != (a.Result != wire.Incompatible) {
				untruthful++
			}
		}
	}
	seen := map[string]bool{}
	for i, replies := range all {
		way := fmt.Sprint(replies)
		if distinct := slices.Compact(slices.Sorted(slices.Values(replies))); len(distinct) > 1 && !seen[way] {
			seen[way] = true
			out = append(out, move{q.Claims[i], replies})
		}
	}
	return out, untruthful
}

// game is the choice of the next move by the set of secrets that are still possible. Secrets that no move tells apart are one class, a bit of a set.
type game struct {
	moves  []move
	class  []int     // of each secret
	weight []float64 // of each class
	reply  [][]int   // by move and class: a small number for each reply
	best   map[uint64]int
	value  map[uint64]float64
	greedy bool
}

func newGame(moves []move, secrets int, greedy bool) *game {
	g := &game{moves: moves, class: make([]int, secrets), best: map[uint64]int{}, value: map[uint64]float64{}, greedy: greedy}
	number := map[string]int{}
	for secret := range secrets {
		way := ""
		for _, m := range moves {
			way += string(m.replies[secret]) + " "
		}
		c, ok := number[way]
		if !ok {
			c = len(number)
			number[way] = c
			g.weight = append(g.weight, 0)
		}
		g.class[secret] = c
		g.weight[c]++
	}
	all := wire.AllResults()
	for _, m := range moves {
		of := make([]int, len(g.weight))
		for secret, r := range m.replies {
			of[g.class[secret]] = slices.Index(all, r)
		}
		g.reply = append(g.reply, of)
	}
	return g
}

func (g *game) everything() uint64 { return 1<<len(g.weight) - 1 }

func (g *game) mass(set uint64) (sum float64) {
	for c, w := range g.weight {
		if set>>c&1 == 1 {
			sum += w
		}
	}
	return sum
}

// split divides a set by the replies to a move.
func (g *game) split(set uint64, m int) (parts [6]uint64) {
	for c, r := range g.reply[m] {
		parts[r] |= set & (1 << c)
	}
	return parts
}

// leak is the most that is expected to be learned from a set on, in bits; the greedy querent counts the next reply alone when it chooses.
func (g *game) leak(set uint64) float64 {
	if v, ok := g.value[set]; ok {
		return v
	}
	best, most, soonest, value, total := -1, 0.0, 0.0, 0.0, g.mass(set)
	for m := range g.moves {
		now, then := 0.0, 0.0
		for _, part := range g.split(set, m) {
			if part == set {
				now, then = 0, 0
				break
			}
			if part != 0 {
				p := g.mass(part) / total
				now -= p * math.Log2(p)
				if !g.greedy {
					then += p * g.leak(part)
				}
			}
		}
		// Of the moves that tell the same in the end, the one that tells most at once.
		if now > 0 && (now+then > most+1e-12 || now+then > most-1e-12 && now > soonest+1e-12) {
			best, most, soonest = m, now+then, now
		}
	}
	if best >= 0 {
		value = most
	}
	if g.greedy && best >= 0 {
		for _, part := range g.split(set, best) {
			if part != 0 {
				value += g.mass(part) / total * g.leak(part)
			}
		}
	}
	g.best[set], g.value[set] = best, value
	return value
}

// next is the move of the querent in a set; false when it has nothing to gain.
func (g *game) next(set uint64) (int, bool) {
	g.leak(set)
	return g.best[set], g.best[set] >= 0
}

func adaptive(b *bench) {
	b.columns("secret", "querent", "sessions", "different transcripts", "bits", "bound bits")
	untrue := 0
	for _, s := range subjects() {
		moves, wrong := s.moves()
		untrue += wrong
		least := math.Inf(1)
		most, transcripts := 0.0, 0
		for _, greedy := range []bool{false, true} {
			g := newGame(moves, len(s.secrets), greedy)
			name := "planning"
			if greedy {
				name = "greedy"
			}
			leak := g.leak(g.everything())
			b.row(s.name, name, "none: all strategies", len(g.weight), leak, s.bits)
			if !greedy {
				b.judge("leakage", s.name+": planning querent, bits", leak, s.bits, 1e-9, Exact)
				b.judge("leakage", s.name+": classes", float64(len(g.weight)), float64(s.outputs), 0, Exact)
			}
			for _, t := range tactics {
				distinct, bits, err := s.play(g, t)
				if err != nil {
					bits = math.Inf(1)
				}
				b.row(s.name, name, t.name, distinct, bits, s.bits)
				least, most, transcripts = min(least, bits), max(most, bits), max(transcripts, distinct)
			}
		}
		b.judge("leakage", s.name+": most bits of any session", most, s.bits, 1e-9, Exact)
		b.judge("leakage", s.name+": most transcripts", float64(transcripts), float64(s.outputs), 0, Exact)
		b.judge("leakage", s.name+": bits no more than log2 of the cells", max(most-math.Log2(float64(s.outputs)), 0), 0, 1e-9, Exact)
	}
	b.accept("leakage", "untruthful replies", float64(untrue), "0", Exact)
	if b.Quick {
		return
	}
	set := profile.Shipped()
	shapes, wide, failed := 0, 0, 0
	for _, id := range set.IDs() {
		p, _ := set.Profile(id)
		rows, err := Leakage(set, p)
		if err != nil {
			failed++
		}
		for _, r := range rows {
			shapes++
			if !r.OK {
				wide++
			}
		}
	}
	b.row("shipped profiles", "all claims", "evaluator", shapes, "", "")
	b.accept("leakage", "shipped profiles: figures beyond what partition or cut allows", float64(wide+failed), "0", Exact)
}
