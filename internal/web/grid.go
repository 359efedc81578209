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
