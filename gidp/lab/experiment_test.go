package lab

import (
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the committed tables anew, from full runs of all experiments")

func pcg(a, b uint64) Random { return rand.New(rand.NewPCG(a, b)) }

// slow are the experiments that the tests of this package run quickly; sayso lab check runs them in full and compares their tables.
var slow = []string{"curves", "pairs", "recall", "demand", "maximality", "leakage"}

// Every quoted figure is what is measured, and every table is the committed one.
func TestQuotedFigures(t *testing.T) {
	for _, e := range Experiments() {
		t.Run(e.ID, func(t *testing.T) {
			t.Parallel()
			quick := slices.Contains(slow, e.ID) && !*update
			r := e.Run(Options{Seeds: pcg, Quick: quick})
			if len(r.Rows) == 0 || len(r.Table.Rows) == 0 {
				t.Fatal("nothing was measured")
			}
			for _, a := range r.Rows {
				if !a.OK {
					t.Errorf("%s, %s: %g, quoted %g ±%g", a.Claim, a.What, a.Value, a.Want, a.Within)
				}
				if a.Claim != e.ID && !slices.Contains(e.Claims, a.Claim) {
					t.Errorf("%s decides %s and does not say so", e.ID, a.Claim)
				}
			}
			for _, row := range r.Table.Rows {
				if len(row) != len(r.Table.Columns) {
					t.Errorf("a row of %d cells under %d columns", len(row), len(r.Table.Columns))
				}
			}
			if *update {
				if err := os.WriteFile(filepath.Join("testdata", e.ID+".csv"), r.Table.AppendCSV(nil), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if !quick && !r.AsCommitted() {
				t.Error("the table is not the committed one; -update writes it")
			}
		})
	}
}

// A run says the same again, to the byte.
func TestRunsRepeat(t *testing.T) {
	for _, id := range []string{"policies", "drift", "reference41", "redrawn"} {
		e := Find(id)[0]
		one, two := e.Run(Options{Seeds: pcg}), e.Run(Options{Seeds: pcg})
		if string(one.Table.AppendCSV(nil)) != string(two.Table.AppendCSV(nil)) || !slices.Equal(one.Rows, two.Rows) {
			t.Errorf("%s: two runs differ", id)
		}
	}
}

// The seeds matter where something is drawn: other draws give another table.
func TestDrawsAreDrawn(t *testing.T) {
	other := func(a, b uint64) Random { return pcg(a+100, b) }
	for _, id := range []string{"budget-first", "drift", "reference41", "redrawn", "offset", "crossings"} {
		e := Find(id)[0]
		if r := e.Run(Options{Seeds: other}); r.AsCommitted() {
			t.Errorf("%s is not measured with what is drawn", id)
		}
	}
}

func TestEveryStatementIsDecided(t *testing.T) {
	decided, ids := map[string]bool{}, map[string]bool{}
	for _, e := range Experiments() {
		if ids[e.ID] {
			t.Errorf("two experiments are called %s", e.ID)
		}
		ids[e.ID] = true
		for _, text := range []string{e.About, e.Assumes, e.Formula, e.Shows, e.Refuses} {
			if text == "" || strings.Contains(text, "\n") {
				t.Errorf("%s: %q explains nothing, or more than a paragraph", e.ID, text)
			}
		}
		for _, c := range e.Claims {
			decided[c] = true
		}
		if found := Find(e.ID); len(found) != 1 || found[0].ID != e.ID {
			t.Errorf("%s finds %v", e.ID, found)
		}
	}
	for _, c := range strings.Fields("A1a A1b A1c A1d A2a A2b A2c A2d A3a A3b A3c A4 A5 A5b A6a A6b A6c A7 A7b A8") {
		if !decided[c] || len(Find(c)) != 1 {
			t.Errorf("no experiment decides %s", c)
		}
	}
	for _, id := range strings.Fields("policies budget budget-sizes budget-first budget-stream lattice drift sybil cap recall reference41 " +
		"curves pairs redrawn offset crossings exact exhaustive compose maximality snapped demand leakage") {
		if !ids[id] {
			t.Errorf("no experiment is called %s", id)
		}
	}
	if Find("nothing") != nil {
		t.Error("nothing was found")
	}
}

// A verdict is able to fail, at the tolerance of its class and not before.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		class     Class
		want      string
		value     float64
		ok, quick bool
	}{
		{Exact, "5.000", 5.0009, true, true}, {Exact, "5.000", 5.0011, false, false}, {Exact, "5", 5.4, false, false}, {Exact, "5.36", 5.3576, true, true},
		{Exact, "5.36", 5.354, false, false}, {Exact, ".999", .9979, false, false}, {MonteCarlo, ".50", .519, true, true}, {MonteCarlo, ".50", .53, false, true},
		{MonteCarlo, ".50", .57, false, false}, {Drained, ".50", .539, true, true}, {Drained, ".50", .541, false, true}, {First, ".50", .511, false, true},
		{Claims, "10", 10.6, false, true}, {Redrawn, "3", 3.06, false, true}, {Tenth, "180", 190, true, true}, {Tenth, "180", 199, false, true}, {Extreme, "31", 38.5, false, false},
		{Exact, "5", math.NaN(), false, false}, {MonteCarlo, "5", math.Inf(1), false, false},
	} {
		for _, quick := range []bool{false, true} {
			b := bench{Options: Options{Quick: quick}}
			b.accept("x", "y", c.value, c.want, c.class)
			want := c.ok
			if quick {
				want = c.quick
			}
			if got := b.result.Rows[0]; got.OK != want || b.result.OK() != want {
				t.Errorf("%s %s: %g quick %v is %v", c.class, c.want, c.value, quick, got.OK)
			}
		}
	}
	b := bench{}
	b.between("x", "inside", .52, .51, .64, Exact)
	b.between("x", "below", .508, .51, .64, Exact)
	b.between("x", "above", .642, .51, .64, Exact)
	if r := b.result.Rows; !r[0].OK || r[1].OK || r[2].OK {
		t.Errorf("%+v", r)
	}
	if b.samples(40_000) != 40_000 || (&bench{Options: Options{Quick: true}}).samples(40_000) != 4000 || (&bench{Options: Options{Quick: true}}).samples(640) != 640 {
		t.Error("a quick run draws a tenth, and no fewer than a thousand")
	}
}

func TestCSV(t *testing.T) {
	table := Table{Columns: []string{"a", "b, c"}, Rows: [][]any{{1, 0.123456}, {"say \"no\"", 0.0}, {"two\nlines", 1e-7}, {"", 123456.0}, {math.Copysign(0, -1), nil}}}
	const want = "a,\"b, c\"\n1,0.1235\n\"say \"\"no\"\"\",0\n\"two\nlines\",1e-07\n,1.235e+05\n0,\n"
	if got := string(table.AppendCSV(nil)); got != want {
		t.Errorf("%q", got)
	}
}
