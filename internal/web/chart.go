package web

import (
	"fmt"
	"strconv"
	"strings"

	"sayso/facts"
)

// chart is a step line of the numeric values of a fact, drawn on the server as SVG.
type chart struct {
	Width, Height int
	Path          string // SVG path data of the step line
	Dots          []dot
	First, Last   string // the days at both ends
	Low, High     string // the extremes
	Summary       string // what a screen reader says
}

type dot struct {
	X, Y  string
	Title string
}

const (
	chartWidth, chartHeight            = 640, 120
	chartLeft, chartRight              = 8, 8
	chartTop, chartBottom              = 12, 12
	maxDots, chartMinPoints            = 60, 2
	innerWidth                         = chartWidth - chartLeft - chartRight
	innerHeight                        = chartHeight - chartTop - chartBottom
	daysAfterLastChange     facts.Date = 90 // room to see the newest step when it began today
)

// newChart draws the history of a fact to today at least, nil when there are fewer than two dated numbers.
func newChart(f *facts.Fact, today facts.Date) *chart {
	type point struct {
		from  facts.Date
		to    facts.Date
		value float64
		text  string
	}
	var points []point
	for i := len(f.Values) - 1; i >= 0; i-- { // oldest first
		v := &f.Values[i]
		if v.From.IsZero() || v.Value.Kind() != "number" {
			continue
		}
		n, err := strconv.ParseFloat(string(v.Value), 64)
		if err != nil {
			continue
		}
		points = append(points, point{v.From, v.To, n, v.Value.Text()})
	}
	if len(points) < chartMinPoints {
		return nil
	}
	first, last := points[0], points[len(points)-1]
	end := max(today, last.from+daysAfterLastChange)
	if !last.to.IsZero() {
		end = max(last.to, last.from+1)
	}
	low, high := first, first
	for _, p := range points {
		if p.value < low.value {
			low = p
		}
		if p.value > high.value {
			high = p
		}
	}
	x := func(d facts.Date) float64 {
		return chartLeft + innerWidth*float64(d-first.from)/float64(end-first.from)
	}
	y := func(v float64) float64 {
		if high.value == low.value {
			return chartTop + innerHeight/2
		}
		return chartTop + innerHeight*(high.value-v)/(high.value-low.value)
	}
	var path strings.Builder
	c := &chart{Width: chartWidth, Height: chartHeight}
	for i, p := range points {
		stop := end
		if i+1 < len(points) {
			stop = points[i+1].from
			if !p.to.IsZero() && p.to+1 < stop {
				stop = p.to + 1 // a gap stays a gap
			}
		}
		verb := "L"
		if i == 0 || (!points[i-1].to.IsZero() && points[i-1].to+1 < p.from) {
			verb = "M"
		}
		fmt.Fprintf(&path, "%s%s %sH%s", verb, coordinate(x(p.from)), coordinate(y(p.value)), coordinate(x(stop)))
		if len(points) <= maxDots {
			c.Dots = append(c.Dots, dot{coordinate(x(p.from)), coordinate(y(p.value)), p.text + " from " + p.from.String()})
		}
	}
	c.Path = path.String()
	c.First, c.Last = first.from.String(), end.String()
	c.Low, c.High = low.text, high.text
	c.Summary = fmt.Sprintf("%d values from %s (%s) to %s (%s); lowest %s, highest %s",
		len(points), first.from, first.text, last.from, last.text, low.text, high.text)
	return c
}

func coordinate(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }
