package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"sayso/facts"
	"sayso/report"
)

// maxTextWidth is the widest that prose is set.
const maxTextWidth = 100

// textWidth is how wide prose is set: the terminal's width, at most 100 columns. Elsewhere lines are not broken, so that tools see whole ones.
func (e *env) textWidth() int {
	f, ok := e.out.(*os.File)
	if !ok || !e.isTerminal(e.out) {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width < 40 {
		return 80
	}
	return min(width, maxTextWidth)
}

// prose sets a text that stands indented by so many columns as wide as lines may be here.
func (e *env) prose(text string, indent int) string {
	width := e.textWidth()
	if width == 0 {
		return text
	}
	return wrap(text, width-indent)
}

// table is lines of cells set in columns two blanks apart. Publisher text is cleaned of what could draw on a terminal.
type table struct {
	rows  [][]string
	right map[int]bool // columns set to the right, as figures are
	// paint colours a cell without changing how wide it looks; nil colours none.
	paint func(cell string) string
}

func (t *table) add(cells ...string) {
	for i := range cells {
		cells[i] = report.Clean(cells[i])
	}
	t.rows = append(t.rows, cells)
}

// write prints the rows, each line beginning with indent; no line ends in blanks.
func (t *table) write(w io.Writer, indent string) error {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			// The last cell of a row needs no column.
			if i < len(row)-1 || t.right[i] {
				widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			}
		}
	}
	var b strings.Builder
	for _, row := range t.rows {
		line := indent
		for i, cell := range row {
			pad := strings.Repeat(" ", max(widths[i]-utf8.RuneCountInString(cell), 0))
			if t.paint != nil {
				cell = t.paint(cell)
			}
			if t.right[i] {
				line += pad + cell
			} else {
				line += cell + pad
			}
			line += "  "
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// figure is a value with its unit; the digits are the publisher's.
func figure(v facts.Value, unit string) string {
	text := v.Text()
	if v == facts.Null {
		text = "withdrawn"
	}
	if unit == "" || v.Kind() != "number" {
		return text
	}
	return text + " " + unit
}

// listedFigure is figure for a column, where long texts and scales are cut.
func listedFigure(v facts.Value, unit string) string { return shorten(figure(v, unit), 32) }

// span names the time of a value: its label, else its days.
func span(period string, from, to facts.Date) string {
	switch {
	case period != "":
		return period
	case from.IsZero() && to.IsZero():
		return "standing"
	case to.IsZero():
		return "from " + from.String()
	case from.IsZero():
		return "until " + to.String()
	}
	return from.String() + " to " + to.String()
}

// periodOrDay names a value in a list: its label, else the day on which it begins.
func periodOrDay(period string, from facts.Date) string {
	if period == "" && !from.IsZero() {
		return "from " + from.String()
	}
	return period
}

// shorten cuts a text to n characters with an ellipsis.
func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// wrap breaks each line of a text between words where it would be wider than width; a longer word stays whole.
func wrap(s string, width int) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		var b strings.Builder
		column := 0
		for j, word := range strings.Split(line, " ") {
			n := utf8.RuneCountInString(word)
			switch {
			case j == 0:
			case column+1+n > width:
				b.WriteByte('\n')
				column = 0
			default:
				b.WriteByte(' ')
				column++
			}
			b.WriteString(word)
			column += n
		}
		lines[i] = b.String()
	}
	return strings.Join(lines, "\n")
}

// firstOf joins the first n words of a list and counts the rest.
func firstOf(words []string, n int) string {
	if len(words) <= n {
		return strings.Join(words, " ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:n], " "), len(words)-n)
}

// printer collects the first write error, so that a text of many lines reads as one.
type printer struct {
	w   io.Writer
	err error
}

// line prints one line of the answer; foreign text in it cannot draw on a terminal.
func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, printable(fmt.Sprintf(format, args...)))
	}
}

func (p *printer) table(t *table, indent string) {
	if p.err == nil {
		p.err = t.write(p.w, indent)
	}
}
