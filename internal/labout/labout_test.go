package labout

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sayso/gidp/lab"
	"sayso/jcs"
)

// sample is a result with every kind of cell and two pictures.
func sample() *lab.Result {
	series := func(name string, y float64) lab.Series {
		return lab.Series{Name: name, X: []float64{1, 2, 3}, Y: []float64{y, y + .1, y + .2}}
	}
	figure := lab.Figure{Title: "Sample prior; sample questions", X: lab.Axis{Label: "leakage, bits", Max: 5.2}, Y: lab.Axis{Label: "share", Max: 1}}
	for i, name := range []string{"one", "two", "three", "four", "five"} {
		figure.Series = append(figure.Series, series(name, .1+.12*float64(i)))
	}
	other := figure
	figure.Name, other.Name = "first", "second"
	other.X.Max, other.Y.Max, other.Series = 51, 10, figure.Series[:1]
	return &lab.Result{ID: "sample", Table: lab.Table{Columns: []string{"a", "b"}, Rows: [][]any{{"x, y", 1}, {"z", .5}}}, Figures: []lab.Figure{figure, other},
		Rows: []lab.Acceptance{{Claim: "A1a", What: "bits", Value: 5, Want: 5, Within: .001, Class: lab.Exact, OK: true}}}
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "here")
	r := sample()
	names, err := Write(dir, r)
	if err != nil || !slices.Equal(names, []string{"sample.csv", "sample-first.png", "sample-second.png"}) {
		t.Fatalf("%v, %v", names, err)
	}
	if err := WriteResults(dir, r.Rows); err != nil {
		t.Fatal(err)
	}
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	if got := string(read("sample.csv")); got != "a,b\n\"x, y\",1\nz,0.5\n" {
		t.Errorf("%q", got)
	}
	const want = `[{"claim":"A1a","what":"bits","value":5,"want":5,"within":0.001,"class":"X","ok":true}]` + "\n"
	if got := string(read(ResultsFile)); got != want {
		t.Errorf("%s", got)
	}
	if err := jcs.Check(bytes.TrimSpace(read(ResultsFile))); err != nil {
		t.Error(err)
	}
	first := read("sample-first.png")
	if _, err := Write(dir, r); err != nil || !bytes.Equal(first, read("sample-first.png")) {
		t.Errorf("a second run draws another picture, %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 4 {
		t.Errorf("%v, %v: nothing but the files is left behind", entries, err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("%s: %v, %v", e.Name(), info.Mode(), err)
		}
	}
	if err := WriteResults(dir, nil); err != nil || string(read(ResultsFile)) != "[]\n" {
		t.Errorf("%q, %v", read(ResultsFile), err)
	}
}

func TestPictures(t *testing.T) {
	r := sample()
	for i := range r.Figures {
		data, err := encode(&r.Figures[i])
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		// 17 × 12 cm at 144 dots to an inch.
		if b := img.Bounds(); b.Dx() != 964 || b.Dy() != 680 {
			t.Errorf("%d × %d", b.Dx(), b.Dy())
		}
		for k := range r.Figures[i].Series {
			if n := dotsOf(img, inks[k]); n < 300 {
				t.Errorf("figure %d: series %d has %d dots of its colour", i, k, n)
			}
		}
		for k := len(r.Figures[i].Series); k < len(inks)-1; k++ {
			if n := dotsOf(img, inks[k]); n != 0 {
				t.Errorf("figure %d: %d dots of a colour that no series has", i, n)
			}
		}
		if dark := dotsOf(img, color.RGBA{A: 255}); dark < 500 {
			t.Errorf("figure %d: %d black dots: there is hardly any text", i, dark)
		}
	}
}

func dotsOf(img image.Image, want color.RGBA) (n int) {
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if color.RGBAModel.Convert(img.At(x, y)) == want {
				n++
			}
		}
	}
	return n
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		axis   lab.Axis
		ticks  int
		labels string
	}{{lab.Axis{Max: 1}, 11, "0.0 0.2 0.4 0.6 0.8 1.0"}, {lab.Axis{Max: 5.2}, 6, "0 1 2 3 4 5"}, {lab.Axis{Max: 51}, 11, "0 5 10 15 20 25 30 35 40 45 50"}} {
		var labels []string
		got := ticks(c.axis).Ticks(c.axis.Min, c.axis.Max)
		for _, tick := range got {
			if tick.Label != "" {
				labels = append(labels, tick.Label)
			}
		}
		if len(got) != c.ticks || strings.Join(labels, " ") != c.labels {
			t.Errorf("%+v: %d ticks, %v", c.axis, len(got), labels)
		}
	}
}

// What cannot be drawn or written is an error that names it, and no half file stays.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	crowded, torn := sample(), sample()
	crowded.Figures[0].Series = append(crowded.Figures[0].Series, crowded.Figures[0].Series[0])
	torn.Figures[1].Series = []lab.Series{{Name: "torn", X: []float64{1, 2}, Y: []float64{1}}}
	for name, r := range map[string]*lab.Result{"sample-first": crowded, "sample-second": torn} {
		if _, err := Write(dir, r); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(file, sample()); err == nil {
		t.Error("a file was taken for a folder")
	}
	if err := WriteResults(filepath.Join(file, "x"), nil); err == nil {
		t.Error("a file was taken for a folder")
	}
	if err := os.Mkdir(filepath.Join(dir, ResultsFile), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := WriteResults(dir, nil); err == nil {
		t.Error("a folder was replaced by a file")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
