package importer

import (
	"io/fs"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"sayso/facts"
)

// smartAnswers reads rate tables: rows of fields with a first and an inclusive last day (F§11.1). A parameter is file/field, or file/name/field when rows
// stand under a name.
func (t *taker) smartAnswers(src fs.FS) ([]series, error) {
	r := &rowReader{taker: t}
	err := t.tree(src, []string{".yml", ".yaml"}, func(name string, data []byte) {
		root, bad := parseForeign(data)
		if bad != nil {
			t.unreadable(name, bad.line, bad.message, bad.next)
			return
		}
		r.file, r.index = name, map[string]int{}
		r.rows(root, name)
	})
	return r.out, err
}

type rowReader struct {
	*taker
	file  string
	index map[string]int // path -> position in out, for the file being read
	out   []series
}

// symbol drops the colon that a Ruby symbol begins with.
func symbol(name string) string { return strings.TrimPrefix(name, ":") }

func (r *rowReader) rows(n *yaml.Node, at string) {
	switch n.Kind {
	case yaml.SequenceNode:
		for _, row := range n.Content {
			r.rows(row, at)
		}
	case yaml.MappingNode:
		if get(n, "start_date", ":start_date", "end_date", ":end_date") != nil {
			r.row(n, at)
			return
		}
		for name, v := range members(n) {
			r.rows(v, at+"/"+symbol(name))
		}
	}
}

// row reads one row: every member beside the two dates is a field.
func (r *rowReader) row(n *yaml.Node, at string) {
	span := dated{line: n.Line}
	first, last := get(n, "start_date", ":start_date"), get(n, "end_date", ":end_date")
	var err error
	if span.from, err = facts.ParseDate(word(first)); err != nil {
		span.problem = dateProblem("start_date", word(first))
	}
	if end := word(last); end != "" {
		if span.to, err = facts.ParseDate(end); err != nil {
			span.problem = dateProblem("end_date", end)
		}
		span.ended = true
	}
	r.fields(n, at, span)
}

func (r *rowReader) fields(n *yaml.Node, at string, span dated) {
	for name, v := range members(n) {
		name = symbol(name)
		if name == "start_date" || name == "end_date" {
			continue
		}
		if v.Kind == yaml.MappingNode {
			r.fields(v, at+"/"+name, span)
			continue
		}
		d := span
		d.line = v.Line
		if value, p := literalOf(v); d.problem == nil {
			d.value, d.problem = value, p
		}
		path := at + "/" + name
		i, ok := r.index[path]
		if !ok {
			i = len(r.out)
			r.index[path] = i
			r.out = append(r.out, series{path: path, file: r.file, line: v.Line, ranges: true})
		}
		r.out[i].values = append(r.out[i].values, d)
	}
}

// sortValues puts values in order of their first days.
func sortValues(values []dated) {
	slices.SortStableFunc(values, func(a, b dated) int { return int(a.from) - int(b.from) })
}
