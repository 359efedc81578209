package lab

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Random is where an experiment draws from: *rand.Rand of math/rand/v2 over a PCG.
type Random interface {
	IntN(n int) int
	Float64() float64
	NormFloat64() float64
	Perm(n int) []int
}

// Seeds makes the generator of two seeds. Experiments fix their seeds, so that a run can be repeated to the bit.
type Seeds func(a, b uint64) Random

// Options are how an experiment is run.
type Options struct {
	Seeds Seeds
	Quick bool // a tenth of the draws, wider tolerances
}

// Class says how closely a number has to be met.
type Class string

// The classes; see the package comment for their meaning.
const (
	Exact      Class = "X"
	MonteCarlo Class = "M" // ±.02
	Drained    Class = "D" // ±.04
	First      Class = "F" // ±.01
	Claims     Class = "C" // ±.5 claims
	Tenth      Class = "P" // ±10 %
	Redrawn    Class = "R" // ±.05 bits
	Extreme    Class = "E" // ±7 of 40: the least or the most of a sample
)

// Acceptance is one quoted number: Claim is the id of the statement it belongs to, What says which number of it. It is OK when Value is Want, give or take Within.
type Acceptance struct {
	Claim  string  `json:"claim"`
	What   string  `json:"what"`
	Value  float64 `json:"value"`
	Want   float64 `json:"want"`
	Within float64 `json:"within"`
	Class  Class   `json:"class"`
	OK     bool    `json:"ok"`
}

// Result is what one experiment found.
type Result struct {
	ID      string
	Table   Table
	Rows    []Acceptance
	Figures []Figure
}

// OK reports whether every number is within its tolerance.
func (r *Result) OK() bool {
	return !slices.ContainsFunc(r.Rows, func(a Acceptance) bool { return !a.OK })
}

// Table is rows of texts, integers and floats under named columns.
type Table struct {
	Columns []string
	Rows    [][]any
}

// Cell is a value as tables print it: floats with four significant digits, everywhere the same.
func Cell(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int:
		return strconv.Itoa(v)
	case float64:
		if v == 0 {
			v = 0 // no negative zero
		}
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	return ""
}

// AppendCSV writes the table with a line of column names (RFC 4180, but lines end in \n).
func (t *Table) AppendCSV(dst []byte) []byte {
	field := func(i int, s string) {
		if i > 0 {
			dst = append(dst, ',')
		}
		if strings.ContainsAny(s, ",\"\n") {
			s = `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
		}
		dst = append(dst, s...)
	}
	for i, c := range t.Columns {
		field(i, c)
	}
	dst = append(dst, '\n')
	for _, row := range t.Rows {
		for i, v := range row {
			field(i, Cell(v))
		}
		dst = append(dst, '\n')
	}
	return dst
}

// Figure is a picture as values: lines over one axis.
type Figure struct {
	Name   string // "" for the only figure of its experiment, else what distinguishes its file
	Title  string
	X, Y   Axis
	Series []Series
}

// Axis is a label and the span that is shown.
type Axis struct {
	Label    string
	Min, Max float64
}

// Series is one line with its name in the legend.
type Series struct {
	Name string
	X, Y []float64
}

// Experiment is one measurement with what it assumes and what may be concluded.
type Experiment struct {
	ID      string
	About   string   // one line
	Claims  []string // ids of the statements it decides, beside its own
	Assumes string
	Formula string
	Shows   string
	Refuses string // what may not be concluded

	run func(*bench)
}

// Experiments returns all of them in the order in which they are documented.
func Experiments() []Experiment {
	return slices.Concat(policyExperiments(), budgetExperiments(), driftExperiments(), identityExperiments(), referenceExperiments(), curveExperiments(),
		partitionExperiments(), cellExperiments(), adaptiveExperiments())
}

// Find returns the experiment with an id, or the ones that decide a statement such as A2b.
func Find(id string) []Experiment {
	var out []Experiment
	for _, e := range Experiments() {
		if e.ID == id || slices.Contains(e.Claims, id) {
			out = append(out, e)
		}
	}
	return out
}

// Run makes the measurement.
func (e *Experiment) Run(o Options) Result {
	b := bench{Options: o, result: Result{ID: e.ID}}
	e.run(&b)
	return b.result
}

// bench collects what an experiment finds.
type bench struct {
	Options
	result Result
}

// samples is how many draws a run makes in place of n. A small sample is not made smaller: it would decide nothing.
func (b *bench) samples(n int) int {
	if b.Quick {
		return max(n/10, min(n, 1000))
	}
	return n
}

func (b *bench) columns(names ...string) { b.result.Table.Columns = names }
func (b *bench) row(cells ...any)        { b.result.Table.Rows = append(b.result.Table.Rows, cells) }

// tolerance is how far a value may lie from a quoted figure.
func (b *bench) tolerance(c Class, want float64, text string) float64 {
	within := 0.0
	switch c {
	case Exact:
		within = 1e-3
		if _, decimals, ok := strings.Cut(text, "."); ok {
			within = max(within, .5*math.Pow10(-len(decimals)))
		}
		return within + 1e-9
	case MonteCarlo:
		within = .02
	case Drained:
		within = .04
	case First:
		within = .01
	case Claims:
		within = .5
	case Redrawn:
		within = .05
	case Extreme:
		return 7
	case Tenth:
		within = math.Abs(want) / 10
	}
	if b.Quick {
		within *= 3.2
	}
	return within
}

// accept compares a number with the figure that is quoted, as it is written there.
func (b *bench) accept(claim, what string, value float64, want string, c Class) {
	w, _ := strconv.ParseFloat(want, 64)
	b.judge(claim, what, value, w, b.tolerance(c, w, want), c)
}

// between compares a number with a range that is quoted.
func (b *bench) between(claim, what string, value, lo, hi float64, c Class) {
	b.judge(claim, what, value, (lo+hi)/2, (hi-lo)/2+b.tolerance(c, 0, ""), c)
}

func (b *bench) judge(claim, what string, value, want, within float64, c Class) {
	ok := math.Abs(value-want) <= within
	b.result.Rows = append(b.result.Rows, Acceptance{claim, what, rounded(value), rounded(want), rounded(within), c, ok})
}

// rounded keeps six significant digits, so that what is written does not depend on how a machine orders its additions.
func rounded(v float64) float64 {
	out, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	if out == 0 {
		return 0
	}
	return out
}

// entropy is in bits; the weights need not sum to 1.
func entropy(weights []float64) float64 {
	sum, h := 0.0, 0.0
	for _, w := range weights {
		sum += w
	}
	for _, w := range weights {
		if w > 0 {
			h -= w / sum * math.Log2(w/sum)
		}
	}
	return h
}
