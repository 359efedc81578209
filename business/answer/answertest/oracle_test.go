package answertest

import (
	"math/big"
	"strings"
	"testing"
)

// The oracle itself, on values whose truth is plain.
func TestOracleCompares(t *testing.T) {
	n := func(v int64) *big.Rat { return big.NewRat(v, 1) }
	exact, from, to, wide := &span{n(30), n(30)}, &span{n(60), nil}, &span{n(0), n(90)}, &span{n(60), n(80)}
	for _, c := range []struct {
		set  *span
		op   string
		a, b int64
		want Truth
	}{
		{exact, "lt", 30, 0, No}, {exact, "le", 30, 0, Yes}, {exact, "gt", 29, 0, Yes}, {exact, "ge", 31, 0, No}, {exact, "between", 30, 40, Yes},
		{from, "lt", 60, 0, No}, {from, "le", 60, 0, Unknown}, {from, "lt", 80, 0, Unknown}, {from, "gt", 50, 0, Yes}, {from, "gt", 60, 0, Unknown}, {from, "ge", 60, 0, Yes},
		{to, "lt", 91, 0, Yes}, {to, "lt", 90, 0, Unknown}, {to, "gt", 90, 0, No}, {wide, "between", 60, 80, Yes}, {wide, "between", 61, 80, Unknown}, {wide, "between", 10, 20, No},
		{nil, "lt", 1, 0, Unknown},
	} {
		var b *big.Rat
		if c.op == "between" {
			b = n(c.b)
		}
		if got := c.set.Compare(c.op, n(c.a), b); got != c.want {
			t.Errorf("%v %s %d %d: %d, want %d", c.set, c.op, c.a, c.b, got, c.want)
		}
	}
}

func TestOracleReadsPlainWeeks(t *testing.T) {
	w, ok := plainWeek("Mo-Th 09:00-14:00,16:00-20:00; Fr 09:00-14:00")
	if !ok || !w.open(1, 9*60) || w.open(1, 14*60) || !w.open(4, 19*60) || w.open(5, 16*60) || w.open(0, -1) || !w.open(5, -1) {
		t.Errorf("%v %v", w, ok)
	}
	for _, text := range []string{"Apr-Oct Th 07:30-13:00", "Mo 22:00-02:00", "We[2,4] 07:30-19:00", "PH off", "Mo 09:00-12:00, Tu 10:00-11:00", ""} {
		if _, ok := plainWeek(text); ok {
			t.Errorf("%q is not a plain week", text)
		}
	}
	if w, ok := plainWeek("24/7"); !ok || !w.open(0, 0) || !w.open(6, 1439) {
		t.Error("24/7")
	}
}

// A planted world keeps every value, and each planted number is its own.
func TestPlantedKeepsValues(t *testing.T) {
	for _, name := range Small {
		plain, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		w := plain.Planted()
		seen := map[string]bool{}
		for i := range w.Snapshot.Records {
			for _, m := range members(w.Snapshot.Records[i].Attributes) {
				before := value(plain.Snapshot.Records[i].Attributes, m.Name)
				if !strings.HasSuffix(string(m.Value), "000000000") {
					continue
				}
				if rat(string(before)).Cmp(rat(string(m.Value))) != 0 || seen[string(m.Value)] {
					t.Errorf("%s: %s became %s", m.Name, before, m.Value)
				}
				seen[string(m.Value)] = true
			}
		}
		if len(seen) < 4 {
			t.Errorf("%s: %d planted numbers", name, len(seen))
		}
	}
}

// Every mutation and generator makes questions, and no two rules stand for one text of a world.
func TestGeneratorsAgreeWithEachOther(t *testing.T) {
	all, err := LoadAll()
	if err != nil {
		t.Fatal(err)
	}
	fixed := all.Fixed()
	questions := append(fixed, all.Drawn(fixed, 7, Draw{Pairs: 3000, Stores: 300, Markets: 100, Conjunctions: 300, Bases: 400})...)
	rules, count := map[string]*Question{}, map[string]int{}
	for _, q := range questions {
		count[q.Gen]++
		if strings.Contains(q.Text(), "{}") || strings.Contains(q.Text(), "PLACE") || strings.Contains(q.Text(), "DAY") || strings.Contains(q.Text(), "ATTR") {
			t.Errorf("%s %s: %q has a place that was not filled", q.Gen, q.Kind, q.Text())
		}
		if q.Gen == "G5" || q.Gen == "M10" || q.Want.Rule == Open || strings.Contains(q.Kind, "negated") || strings.HasPrefix(q.Kind, "S3") {
			continue
		}
		key := q.World.Name + " " + strings.ToLower(q.Text())
		if o := rules[key]; o != nil && ((o.Want.Rule == Resolve) != (q.Want.Rule == Resolve) || o.Want.Polarity != q.Want.Polarity) {
			t.Errorf("%q: %s %s says %d %q, %s %s says %d %q", q.Text(), o.Gen, o.Kind, o.Want.Rule, o.Want.Polarity, q.Gen, q.Kind, q.Want.Rule, q.Want.Polarity)
		}
		rules[key] = q
	}
	for _, gen := range strings.Fields("G1 G2 G3 G4 G5 G6 G7 G8 G9 G10 G11 G12 M1 M2 M3 M4 M5 M6 M7 M8 M9 M10 M11 M12") {
		if count[gen] == 0 {
			t.Errorf("no question of %s", gen)
		}
	}
}
