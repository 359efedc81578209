package importer

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"sayso/facts"
)

// Columns are the columns of a CSV file (F§11.1). The first row names them, in any order; key, label, value and source must be there.
var Columns = []string{"key", "label", "value", "unit", "period", "effectiveFrom", "effectiveTo", "source", "quote"}

// Bounds of a CSV file.
const (
	maxCSVBytes = 64 << 20
	maxCSVRows  = 1_000_000
)

// ImportCSV reads a CSV file (RFC 4180, UTF-8 without byte order mark) by a mapping of kind CSV; name is the file's name for places. Each row is one
// dated value of the key it names. The error says that the file as a whole is refused; rows that are not taken stand in the report.
func ImportCSV(r io.Reader, name string, m *Mapping, o Options) (*Result, error) {
	if m.Kind != CSV {
		return nil, fmt.Errorf("the mapping is for %s, not for %s", m.Kind, CSV)
	}
	t, err := newTaker(m, o)
	if err != nil {
		return nil, err
	}
	pairs, err := t.rows(r, name)
	if err != nil {
		return nil, err
	}
	t.report.Mapped = len(pairs)
	for i := range pairs {
		t.parameter(&pairs[i].entry, pairs[i].series)
	}
	return t.result(), nil
}

// rows reads the file into one parameter for each key, in order of first appearance.
func (t *taker) rows(r io.Reader, name string) ([]pair, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxCSVBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read: %w", name, err)
	case len(data) > maxCSVBytes:
		return nil, fmt.Errorf("%s has more than %d MiB: split it", name, maxCSVBytes>>20)
	case bytes.HasPrefix(data, []byte("\ufeff")):
		return nil, fmt.Errorf("%s begins with a byte order mark: save it as UTF-8 without one", name)
	case !utf8.Valid(data):
		return nil, fmt.Errorf("%s is not UTF-8: save it as UTF-8", name)
	}
	reader := csv.NewReader(bytes.NewReader(data))
	column, err := header(reader, name)
	if err != nil {
		return nil, err
	}
	var out []pair
	index := map[string]int{}
	for count := 0; ; count++ {
		row, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if errors.Is(err, csv.ErrFieldCount) {
			line, _ := reader.FieldPos(0)
			return nil, fmt.Errorf("%s:%d: the row has %d cells and the header %d: write a cell for each column, and quotes around one that holds a comma", name, line, len(row), len(column))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if count == maxCSVRows {
			return nil, fmt.Errorf("%s has more than %d rows: split it", name, maxCSVRows)
		}
		line, _ := reader.FieldPos(0)
		cell := func(name string) string {
			if i, ok := column[name]; ok {
				return row[i]
			}
			return ""
		}
		i, ok := index[cell("key")]
		if !ok {
			i = len(out)
			index[cell("key")] = i
			out = append(out, t.rowParameter(cell, name, line))
		}
		p := &out[i]
		if p.entry.label != cell("label") && p.series.problem == nil {
			p.series.problem = &problem{ruleShape, fmt.Sprintf("the label on line %d is another one than on line %d", line, p.series.line), "give a key one label in every row"}
		}
		p.series.values = append(p.series.values, rowValue(cell, line))
	}
	return out, nil
}

func header(reader *csv.Reader, name string) (map[string]int, error) {
	row, err := reader.Read()
	if err != nil {
		return nil, fmt.Errorf("%s has no header row: the columns are %s", name, strings.Join(Columns, ","))
	}
	column := map[string]int{}
	for i, c := range row {
		if _, dup := column[c]; dup || !slices.Contains(Columns, c) {
			return nil, fmt.Errorf("%s: column %d %q is unknown or stands twice: the columns are %s", name, i+1, clip(c), strings.Join(Columns, ","))
		}
		column[c] = i
	}
	for _, c := range []string{"key", "label", "value", "source"} {
		if _, ok := column[c]; !ok {
			return nil, fmt.Errorf("%s has no column %s: the columns are %s", name, c, strings.Join(Columns, ","))
		}
	}
	return column, nil
}

// rowParameter begins the parameter of a key with what its first row says.
func (t *taker) rowParameter(cell func(string) string, name string, line int) pair {
	e := t.m.defaults
	e.path, e.line, e.key, e.label, e.unit, e.hasUnit = cell("key"), line, cell("key"), cell("label"), cell("unit"), true
	s := &series{path: clip(e.key), file: name, line: line, ranges: true}
	if n := utf8.RuneCountInString(e.label); strings.TrimSpace(e.label) == "" || n > 120 || !plainText(e.label) {
		s.problem = &problem{ruleShape, "the label is empty, longer than 120 characters or holds control characters", "write 1 to 120 characters"}
	}
	return pair{e, s}
}

// rowValue reads one row. Only JSON numbers and true and false have a type of their own; everything else is text.
func rowValue(cell func(string) string, line int) dated {
	d := dated{line: line, period: cell("period"), unit: cell("unit"), quote: cell("quote"), value: cellLiteral(cell("value"))}
	if source := cell("source"); source != "" {
		d.refs = []reference{{"", source}}
	}
	for _, c := range []struct {
		name, value string
		limit       int
	}{{"period", d.period, 40}, {"unit", d.unit, 40}, {"quote", d.quote, 500}} {
		if c.value != "" && (strings.TrimSpace(c.value) == "" || utf8.RuneCountInString(c.value) > c.limit || !plainText(c.value)) {
			d.problem = &problem{ruleShape, fmt.Sprintf("%s is blank, longer than %d characters or holds control characters", c.name, c.limit), "correct the cell"}
		}
	}
	var err error
	if from := cell("effectiveFrom"); from != "" {
		if d.from, err = facts.ParseDate(from); err != nil {
			d.problem = dateProblem("effectiveFrom", from)
		}
	}
	if to := cell("effectiveTo"); to != "" {
		if d.to, err = facts.ParseDate(to); err != nil {
			d.problem = dateProblem("effectiveTo", to)
		}
		d.ended = true
	}
	return d
}

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]{1,9})?$`)

func cellLiteral(s string) literal {
	if s == "true" || s == "false" {
		return literal{kind: boolean, text: s}
	}
	if jsonNumber.MatchString(s) {
		d, _ := parseDecimal(s)
		return literal{kind: number, number: d, text: s}
	}
	return literal{kind: text, text: s}
}
