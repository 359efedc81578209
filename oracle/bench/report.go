package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// line is one bounded number.
type line struct {
	name         string
	ratio, bound float64
	atLeast      bool // the bound is a floor
	bytes        bool // both are sizes
}

// text writes the ratio as it is judged: what is printed decides, not a digit behind it.
func (l line) text() string {
	if l.bytes {
		return strconv.FormatFloat(math.Ceil(l.ratio), 'f', 0, 64)
	}
	return strconv.FormatFloat(l.ratio, 'f', 3, 64)
}

func (l line) holds() bool {
	ratio, _ := strconv.ParseFloat(l.text(), 64)
	if l.atLeast {
		return ratio >= l.bound
	}
	return ratio <= l.bound
}

func (l line) String() string {
	word := "short"
	if l.holds() {
		word = "ok"
	}
	return fmt.Sprintf("bench: %s ratio=%s bound=%s %s", l.name, l.text(), strconv.FormatFloat(l.bound, 'f', -1, 64), word)
}

// report writes tables and bench lines.
type report struct {
	w     io.Writer
	lines []line
}

func (r *report) title(format string, args ...any) {
	fmt.Fprintf(r.w, "\n"+format+"\n", args...)
}

func (r *report) note(format string, args ...any) {
	fmt.Fprintf(r.w, "  "+format+"\n", args...)
}

// table writes rows of cells under a heading; cells are separated by |.
func (r *report) table(heading string, rows ...string) {
	t := tabwriter.NewWriter(r.w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range append([]string{heading}, rows...) {
		fmt.Fprintln(t, strings.ReplaceAll(row, "|", "\t")+"\t")
	}
	t.Flush()
}

func (r *report) bound(l line) {
	r.lines = append(r.lines, l)
	fmt.Fprintln(r.w, l)
}

// ms writes a time in milliseconds with three significant digits.
func ms(d time.Duration) string {
	v := float64(d) / float64(time.Millisecond)
	digits := 2
	if v > 0 {
		digits = max(0, 2-int(math.Floor(math.Log10(v))))
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// growth says how a cost grows: 0 not at all, 1 in proportion to the size.
func (r *report) growth(what string, sizes []int, costs []time.Duration) {
	if len(sizes) > 1 {
		r.note("%s grows as size^%.2f", what, exponent(sizes, costs))
	}
}

// exponent is the slope of the least-squares line through the logarithms.
func exponent(sizes []int, costs []time.Duration) float64 {
	var mx, my float64
	n := float64(len(sizes))
	for i := range sizes {
		mx += math.Log(float64(sizes[i])) / n
		my += math.Log(float64(costs[i])) / n
	}
	var xy, xx float64
	for i := range sizes {
		x := math.Log(float64(sizes[i])) - mx
		xy += x * (math.Log(float64(costs[i])) - my)
		xx += x * x
	}
	return xy / xx
}
