package bundle

import (
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"sayso/business"
	"sayso/jcs"
)

// WriteJSONL writes one record per line, members in the order of X§4.1, without header. [Records] reads the same records back; url is written when a
// record has one. Errors are those of w, and of a record whose attributes are no JSON.
func WriteJSONL(w io.Writer, records iter.Seq[*business.Record]) error {
	for rec := range records {
		line, err := jcs.Encode(rec)
		if err != nil {
			return fmt.Errorf("%s %q cannot be written: its texts or attributes are not JSON in UTF-8", rec.Type, clip(rec.ID))
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// WriteCSV writes records as a table that [Records] reads back as the same records, under the same options. It runs through records twice: once for the
// columns, once for the rows. A record that a table cannot hold exactly is an error that names it: one with links, with nested attributes, with a | in an
// alias, or with a text that would be read back as a number. publisher and url are not in the table.
func WriteCSV(w io.Writer, records iter.Seq[*business.Record], o Options) error {
	s := newSource("", o, func(*business.Record, *Problem) bool { return true })
	columns := s.columnsOf(records)
	out := csv.NewWriter(w)
	cells := make([]string, len(columns))
	for i, c := range columns {
		cells[i] = c.name
	}
	if err := out.Write(cells); err != nil {
		return err
	}
	for rec := range records {
		fill(cells, columns, rec)
		if !s.exact(rec, columns, cells) {
			return fmt.Errorf("%s %q cannot be written as CSV without loss: write JSONL", rec.Type, clip(rec.ID))
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// columnsOf collects the columns that records need: the fixed ones in their order, then the others sorted.
func (s *source) columnsOf(records iter.Seq[*business.Record]) (columns []column) {
	used := map[string]bool{"type": true, "id": true, "title": true}
	for rec := range records {
		for name, stated := range map[string]bool{
			"summary": rec.Summary != "", "aliases": len(rec.Aliases) > 0, "content": rec.Content != "",
			"updated_at": !rec.UpdatedAt.IsZero(), "verified_at": !rec.VerifiedAt.IsZero(),
		} {
			used[name] = used[name] || stated
		}
		list, _ := members(rec.Attributes)
		for _, m := range list {
			_, fixed := attributeColumns[m.Name]
			scoped := scopedColumns[m.Name] != ""
			values, object := members(m.Value)
			switch {
			case fixed:
				used[m.Name] = true
			case scoped && object:
				for _, v := range values {
					used[m.Name+"."+v.Name] = true
				}
			default:
				used["attr."+m.Name] = true
			}
		}
	}
	names := slices.Sorted(maps.Keys(used))
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	var r row
	for _, name := range names {
		c, _ := s.column(&r, name)
		columns = append(columns, c)
	}
	return columns
}

func rank(name string) int {
	if i := slices.Index(Columns, name); i >= 0 {
		return i
	}
	return len(Columns)
}

// fill writes a record into cells.
func fill(cells []string, columns []column, rec *business.Record) {
	list, _ := members(rec.Attributes)
	stated := map[string]jcs.Raw{}
	for _, m := range list {
		stated[m.Name] = m.Value
		if values, ok := members(m.Value); ok {
			for _, v := range values {
				stated[m.Name+"."+v.Name] = v.Value
			}
		}
	}
	fixed := map[string]string{
		"type": rec.Type, "id": rec.ID, "title": rec.Title, "summary": rec.Summary, "content": rec.Content,
		"aliases": strings.Join(rec.Aliases, aliasSeparator), "updated_at": stamp(rec.UpdatedAt), "verified_at": stamp(rec.VerifiedAt),
	}
	for i, c := range columns {
		switch {
		case c.member != "":
			cells[i] = fixed[c.member]
		case c.location != "":
			cells[i] = cellOf(stated[c.attribute+"."+c.location])
		default:
			cells[i] = cellOf(stated[c.attribute])
		}
	}
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339Nano)
}

// cellOf is a value as a cell. What it cannot say is found when the cell is read back.
func cellOf(v jcs.Raw) string {
	if s, ok := text(v); ok {
		return s
	}
	if terms, ok := elements(v); ok {
		list := make([]string, len(terms))
		for i, t := range terms {
			list[i], _ = text(t)
		}
		return strings.Join(list, aliasSeparator)
	}
	return string(v)
}

// exact reports whether reading the cells gives the record.
func (s *source) exact(rec *business.Record, columns []column, cells []string) bool {
	// encoding/csv reads a carriage return before a line feed as the end of a line, also in quotes.
	size := 0
	for _, c := range cells {
		if strings.Contains(c, "\r") {
			return false
		}
		size += len(c) + strings.Count(c, `"`) + len(`"",`)
	}
	if size > MaxLine {
		return false
	}
	var r row
	clear(s.seen)
	back := s.recordOfCells(&r, columns, slices.Clone(cells))
	if r.failed {
		return false
	}
	want := *rec
	want.URL, want.Publisher = "", back.Publisher
	a, errA := canonical(want.Attributes)
	b, errB := canonical(back.Attributes)
	want.Attributes, back.Attributes = nil, nil
	want.UpdatedAt, want.VerifiedAt = want.UpdatedAt.UTC(), want.VerifiedAt.UTC()
	return errA == nil && errB == nil && a == b && reflect.DeepEqual(&want, back)
}

func canonical(raw jcs.Raw) (string, error) {
	if raw == nil {
		return "", nil
	}
	out, err := business.Canon(raw)
	return string(out), err
}
