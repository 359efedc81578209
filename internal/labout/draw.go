package labout

import (
	"bytes"
	"errors"
	"image/color"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"sayso/gidp/lab"
)

// The size of a picture, and how many dots of it make an inch.
const (
	width  = 17 * vg.Centimeter
	height = 12 * vg.Centimeter
	dpi    = 144
)

// inks are the colours of Okabe and Ito, which people with any common colour vision tell apart; shapes tell the lines apart in print.
var (
	inks = []color.RGBA{{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}, {80, 80, 80, 255}}
	dots = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.CrossGlyph{}}
	line = color.RGBA{60, 60, 60, 255}
)

var errSeries = errors.New("a series has as many x as y values, and a figure at most five series")

// picture is a figure as the library draws it.
func picture(f *lab.Figure) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = f.Title
	set(&p.Title.TextStyle, 13)
	p.Title.Padding = 8
	axis := func(a *plot.Axis, from lab.Axis) {
		a.Min, a.Max = from.Min, from.Max
		a.Label.Text = from.Label
		set(&a.Label.TextStyle, 11)
		a.Label.Padding = 6
		set(&a.Tick.Label, 10)
		a.LineStyle.Color, a.Tick.LineStyle.Color = line, line
		a.Tick.Marker = ticks(from)
		a.Padding = 0
	}
	axis(&p.X, f.X)
	axis(&p.Y, f.Y)
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = color.Gray{225}, color.Gray{225}
	p.Add(grid)
	if len(f.Series) > len(inks) {
		return nil, errSeries
	}
	for i, s := range f.Series {
		if len(s.X) != len(s.Y) {
			return nil, errSeries
		}
		at := make(plotter.XYs, len(s.X))
		for k := range at {
			at[k] = plotter.XY{X: s.X[k], Y: s.Y[k]}
		}
		l, g, err := plotter.NewLinePoints(at)
		if err != nil {
			return nil, err
		}
		l.Width, l.Color = 1.6, inks[i]
		g.Shape, g.Color, g.Radius = dots[i], inks[i], 3
		p.Add(l, g)
		p.Legend.Add(s.Name, l, g)
	}
	set(&p.Legend.TextStyle, 10)
	p.Legend.Padding = 3
	p.Legend.ThumbnailWidth = 24
	place(&p.Legend, f)
	return p, nil
}

// set chooses a face without serifs.
func set(t *text.Style, size vg.Length) { t.Font.Variant, t.Font.Size = "Sans", size }

// encode draws a figure as PNG.
func encode(f *lab.Figure) ([]byte, error) {
	p, err := picture(f)
	if err != nil {
		return nil, err
	}
	canvas := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))
	// The title and the last tick need room to the edge.
	p.Draw(draw.Crop(draw.New(canvas), 8, -14, 8, -8))
	var out bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: canvas}).WriteTo(&out); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// ticks are ten steps of a share, and whole numbers of anything else, labelled where they do not crowd.
func ticks(a lab.Axis) plot.Ticker {
	step, every, decimals := .1, 2, 1
	if a.Max > 1 {
		step, every, decimals = 1, 1, 0
	}
	for (a.Max-a.Min)/step > 12 {
		step *= 5
	}
	var out []plot.Tick
	for i := 0; a.Min+float64(i)*step <= a.Max+1e-9; i++ {
		t := plot.Tick{Value: a.Min + float64(i)*step}
		if i%every == 0 {
			t.Label = strconv.FormatFloat(t.Value, 'f', decimals, 64)
		}
		out = append(out, t)
	}
	return plot.ConstantTicks(out)
}

// place puts the legend inside, where it hides least of the lines.
func place(l *plot.Legend, f *lab.Figure) {
	const wide, gap = .44, .03
	tall := .055*float64(len(f.Series)) + .02
	fewest, at, right := -1, 0., false
	for _, onRight := range []bool{true, false} {
		for bottom := gap; bottom+tall <= 1-gap/2; bottom += .03 {
			left := gap / 2
			if onRight {
				left = 1 - wide - gap/2
			}
			if n := hidden(f, left-gap, bottom-2*gap, left+wide, bottom+tall+gap); fewest < 0 || n < fewest {
				fewest, at, right = n, bottom, onRight
			}
		}
	}
	// What title and axes leave of the picture.
	const across, up = .88 * width, .8 * height
	l.Top, l.Left = false, true
	l.XOffs, l.YOffs = 8, vg.Length(at)*up
	if right {
		l.XOffs = (1 - wide) * across
	}
}

// hidden counts points of the lines inside a box, in parts of the axes.
func hidden(f *lab.Figure, left, bottom, right, top float64) (n int) {
	for _, s := range f.Series {
		for i := 1; i < len(s.X); i++ {
			const steps = 40
			for k := range steps + 1 {
				t := float64(k) / steps
				x := (s.X[i-1] + t*(s.X[i]-s.X[i-1]) - f.X.Min) / (f.X.Max - f.X.Min)
				y := (s.Y[i-1] + t*(s.Y[i]-s.Y[i-1]) - f.Y.Min) / (f.Y.Max - f.Y.Min)
				if x > left && x < right && y > bottom && y < top {
					n++
				}
			}
		}
	}
	return n
}
