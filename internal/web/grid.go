package web

import (
	"sayso/facts"
	"sayso/jcs"
)

// grid is an array of flat objects with the same members, shown as a table.
type grid struct {
	Columns []string
	Rows    [][]string
}

// newGrid lays a value out as a table, nil when it is of another shape.
func newGrid(v facts.Value) *grid {
	if v.Kind() != "array" {
		return nil
	}
	var rows []jcs.Raw
	if err := jcs.Decode([]byte(v), &rows); err != nil || len(rows) == 0 {
		return nil
	}
	var g grid
	for i, row := range rows {
		members, err := jcs.Members(row)
		if err != nil || len(members) == 0 || i > 0 && len(members) != len(g.Columns) {
			return nil
		}
		cells := make([]string, len(members))
		for j, m := range members {
			cell := facts.Value(m.Value)
			if k := cell.Kind(); k == "object" || k == "array" {
				return nil
			}
			if i == 0 {
				g.Columns = append(g.Columns, m.Name)
			} else if m.Name != g.Columns[j] {
				return nil
			}
			cells[j] = "–"
			if cell != facts.Null {
				cells[j] = cell.Text()
			}
		}
		g.Rows = append(g.Rows, cells)
	}
	return &g
}

// brief is a value in a list: a scalar as it is, long text cut short, an array or object by its size. The fact page shows the whole.
func brief(v facts.Value) string {
	switch v.Kind() {
	case "array":
		var items []jcs.Raw
		if err := jcs.Decode([]byte(v), &items); err == nil {
			if newGrid(v) != nil {
				return "table of " + plural(len(items), "row")
			}
			return "list of " + plural(len(items), "item")
		}
	case "object":
		if members, err := jcs.Members([]byte(v)); err == nil {
			return "record of " + plural(len(members), "member")
		}
	}
	const most = 60
	text := []rune(v.Text())
	if v.Kind() == "string" && len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(text)
}
