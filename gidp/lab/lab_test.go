package lab

import (
	"strings"
	"testing"

	"sayso/gidp"
	"sayso/gidp/profile"
)

func TestShippedPartitions(t *testing.T) {
	rows := 0
	for _, id := range profile.Shipped().IDs() {
		p, _ := profile.Shipped().Profile(id)
		for _, r := range Partitions(p) {
			rows++
			if !r.OK {
				t.Errorf("%s: %+v", id, r)
			}
		}
	}
	if rows != 6*5 {
		t.Errorf("%d rows: each of the six uses of a partition has five", rows)
	}
}

// A profile whose figures are not those of its edges is found out, whatever the loader thinks.
func TestDriftIsSeen(t *testing.T) {
	p, _ := profile.Shipped().Profile("sayso/co-investment/1")
	shipped := p.Partitions["ticket_eur/1"]
	for name, change := range map[string]struct {
		edit func(*profile.Partition)
		row  string
	}{
		"an edge": {func(d *profile.Partition) {
			d.Edges = []int64{70_000, 120_000, 180_000, 250_000, 300_000, 500_000, 800_000}
		}, "edges"},
		"the masses": {func(d *profile.Partition) { d.Masses = []float64{.125, .125, .125, .125, .125, .125, .125, .125} }, "mass"},
		"the bits":   {func(d *profile.Partition) { d.WorstBits = 3 }, "worst_bits"},
		"the prior":  {func(d *profile.Partition) { d.Prior.Median *= 2 }, "edges"},
		"outputs":    {func(d *profile.Partition) { d.Outputs.Range = 35 }, "outputs range"},
	} {
		drifted := *shipped
		change.edit(&drifted)
		found := false
		for _, r := range Partitions(&profile.Profile{Partitions: map[string]*profile.Partition{"ticket_eur/1": &drifted}}) {
			found = found || !r.OK && strings.HasSuffix(r.Claim, change.row)
		}
		if !found {
			t.Errorf("%s drifted and nothing was said", name)
		}
	}
}

// Every protected number tells 8 outputs as a point or a bound and 36 as a range; a label tells the node of its cut. No definite answer is untrue.
func TestLeakageByExhaustion(t *testing.T) {
	want := map[string]float64{"point": 8, "floor": 8, "ceiling": 8, "range": 36}
	cuts := map[string]float64{"domain": 18, "sector": 18, "geography": 7, "market_access": 7}
	s := profile.Shipped()
	for _, id := range s.IDs() {
		p, _ := s.Profile(id)
		rows, err := Leakage(s, p)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) == 0 {
			t.Errorf("%s: nothing was measured", id)
		}
		for _, r := range rows {
			name := strings.Fields(r.Claim)
			key, shape, what := name[1], name[2], name[3]
			outputs := want[shape]
			if shape == "label" {
				outputs = cuts[key]
			}
			if !r.OK || what == "outputs" && r.Value != outputs || what == "untruthful" && r.Value != 0 {
				t.Errorf("%+v, want %g outputs", r, outputs)
			}
		}
	}
}

// The measurement is able to fail: finer cells tell more than coarse ones allow, and a claim whose truth is turned round is untrue.
func TestLeakageIsSeen(t *testing.T) {
	fine := &gidp.Partition{ID: "f/1", Max: 99, Edges: []int64{10, 20, 30, 40, 50}}
	rules := &gidp.Profile{ID: "t", Keys: map[string]gidp.Key{"k": {Partition: fine}}}
	for _, e := range numbers(fine) {
		distinct, untruthful, err := e.run(rules, "k")
		if err != nil || distinct != e.allowed || untruthful != 0 {
			t.Errorf("%s: %d of %d, %d untruthful, %v", e.shape, distinct, e.allowed, untruthful, err)
		}
		truth := e.asked[0].truth
		e.asked[0].truth = func(h held) bool { return !truth(h) }
		if _, untruthful, _ = e.run(rules, "k"); untruthful == 0 {
			t.Errorf("%s: an untrue answer goes unseen", e.shape)
		}
		e.asked[0].truth = truth
	}
	coarse := numbers(&gidp.Partition{ID: "c/1", Max: 99, Edges: []int64{50}})[0]
	coarse.held, coarse.asked = numbers(fine)[0].held, numbers(fine)[0].asked
	if distinct, _, _ := coarse.run(rules, "k"); distinct <= coarse.allowed {
		t.Errorf("six cells pass for two: %d", distinct)
	}
	if _, _, err := coarse.run(&gidp.Profile{ID: "t", Keys: map[string]gidp.Key{"k": {}}}, "k"); err == nil {
		t.Error("a closed attribute was measured")
	}
}

// By every value and every claim of a small domain, beside the representatives: they stand for all.
func TestRepresentativesStandForAll(t *testing.T) {
	part := &gidp.Partition{ID: "s/1", Max: 29, Edges: []int64{4, 9, 11, 12, 20}}
	rules := &gidp.Profile{ID: "t", Keys: map[string]gidp.Key{"k": {Partition: part}}}
	every := &gidp.Partition{ID: "e/1", Max: 29}
	for v := int64(1); v <= 29; v++ {
		every.Edges = append(every.Edges, v)
	}
	few, all := numbers(part), numbers(every)
	for i := range few {
		one, _, err := few[i].run(rules, "k")
		if err != nil {
			t.Fatal(err)
		}
		two, untruthful, err := all[i].run(rules, "k")
		if err != nil || one != two || untruthful != 0 || one != few[i].allowed {
			t.Errorf("%s: %d outputs by representatives, %d by all values, %d untruthful, %v", few[i].shape, one, two, untruthful, err)
		}
	}
}
