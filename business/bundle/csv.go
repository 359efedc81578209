package bundle

import (
	"bufio"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"sayso/business"
	"sayso/jcs"
)

// Columns are the fixed columns of a CSV file. Beside them stand attr.<key>, stock.<location id> and available.<location id>. type, id and title must
// be there.
var Columns = []string{"type", "id", "title", "summary", "aliases", "price", "price_from", "price_to", "price_mode", "currency", "duration", "updated_at", "verified_at", "content"}

// attributeColumns are the fixed columns that become attributes, with the kind they have when the schema declares none.
var attributeColumns = map[string]string{
	"price": "money", "price_from": "money_from", "price_to": "money_to", "price_mode": "mode", "currency": "text", "duration": "quantity",
}

// scopedColumns are the prefixes of columns that hold one value per location.
var scopedColumns = map[string]string{"stock": "count", "available": "bool"}

// aliasSeparator stands between the aliases of a cell, and between the terms of a list.
const aliasSeparator = "|"

// column is one column of the header, by what its cells become.
type column struct {
	name      string
	member    string // of the record, "" when the cell becomes an attribute
	attribute string
	location  string // id, for a value per location
	kind      string // "": what the cell looks like
}

// csv reads one record per row.
func (s *source) csv(in io.Reader) {
	bound := &bounded{in: in}
	buffered := bufio.NewReader(bound)
	bound.left = rowBytes
	if mark, _ := buffered.Peek(3); string(mark) == "\ufeff" {
		buffered.Discard(3)
	}
	reader := csv.NewReader(buffered)
	reader.ReuseRecord = true
	header, ok := s.row(reader, 1)
	if !ok {
		return
	}
	columns, ok := s.header(header)
	if !ok {
		return
	}
	for n := 2; ; n++ {
		bound.left = rowBytes
		cells, ok := s.row(reader, n)
		if !ok || s.full(n) {
			return
		}
		r := &row{file: s.name, n: n}
		var rec *business.Record
		if len(cells) != len(columns) {
			r.fail(ruleFile, "", "write a cell for each column, and quotes around one that holds a comma", "the row has %d cells and the header %d", len(cells), len(columns))
		} else {
			rec = s.recordOfCells(r, columns, cells)
		}
		if !s.emit(r, rec) {
			return
		}
	}
}

// rowBytes is what one row may take in: its own bytes, and what the buffer reads ahead.
const rowBytes = MaxLine + 4096

// bounded stops a reader that would take in more than one row may have: a quote that is never closed would otherwise swallow the file.
type bounded struct {
	in   io.Reader
	left int
}

var errWide = errors.New("bundle: row too long")

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errWide
	}
	n, err := b.in.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// row reads one row of cells. ok is false at the end of the file and when no row after this one can be trusted.
func (s *source) row(reader *csv.Reader, n int) (cells []string, ok bool) {
	cells, err := reader.Read()
	var syntax *csv.ParseError
	switch {
	case err == nil, errors.Is(err, csv.ErrFieldCount):
		return cells, true
	case errors.Is(err, io.EOF):
		if n == 1 {
			s.refuse(1, ruleHeader, "write the names of the columns into the first row", "the file has no header row")
		}
	case errors.Is(err, errWide):
		s.refuse(n, ruleLimit, "look for a quote that is not closed, or shorten the record", "the row has more than %d bytes", MaxLine)
	case errors.As(err, &syntax):
		s.refuse(n, ruleFile, "put the cell into quotes and double the quotes in it", "line %d is not RFC 4180, and where the next row begins is not certain", syntax.Line)
	default:
		s.refuse(n, ruleFile, "try again with a file that can be read", "the file cannot be read to its end")
	}
	return nil, false
}

// header reads the first row. Its cells are the only names that decide what a column is.
func (s *source) header(cells []string) (columns []column, ok bool) {
	r := &row{file: s.name, n: 1}
	taken := map[string]bool{}
	if len(cells) == 1 && strings.ContainsAny(cells[0], ";\t") {
		s.refuse(1, ruleHeader, "save the file with commas between its cells", "the columns are not separated by commas")
		return nil, false
	}
	for _, name := range cells {
		if !utf8.ValidString(name) {
			r.fail(ruleFile, "", "save the file as UTF-8", "the header cell %q is not UTF-8", clip(name))
			continue
		}
		c, known := s.column(r, name)
		if !known {
			r.fail(ruleHeader, name, "use "+strings.Join(Columns, ", ")+", attr.KEY, stock.LOCATION or available.LOCATION", "the column %q is unknown", clip(name))
		}
		key := c.member
		if c.attribute != "" {
			key = "attributes." + c.attribute
		}
		if taken[name] || c.location == "" && taken[key] {
			r.fail(ruleHeader, name, "keep one of them", "the column %q stands twice, or another says the same", clip(name))
		}
		taken[name], taken[key] = true, true
		columns = append(columns, c)
	}
	for _, name := range []string{"type", "id", "title"} {
		if !slices.Contains(cells, name) {
			r.fail(ruleHeader, name, "add the column", "there is no column %s", name)
		}
	}
	return columns, s.emit(r, nil) && !r.failed
}

// column says what the cells of a column become.
func (s *source) column(r *row, name string) (c column, ok bool) {
	if prefix, rest, dotted := strings.Cut(name, "."); dotted && rest != "" {
		switch kind := scopedColumns[prefix]; {
		case kind != "":
			if s.locations != nil && !s.locations[rest] {
				r.fail(ruleScope, name, "use an id that publisher.json gives a location", "%q is no location of this publisher", clip(rest))
			}
			return column{name: name, attribute: prefix, location: rest, kind: kind}, true
		case prefix == "attr":
			return s.attributeColumn(r, name, rest, ""), true
		}
	}
	if !slices.Contains(Columns, name) {
		return column{name: name}, false
	}
	if kind, attribute := attributeColumns[name]; attribute {
		return s.attributeColumn(r, name, name, kind), true
	}
	return column{name: name, member: name}, true
}

// attributeColumn gives an attribute the kind that the schema declares, else the one given.
func (s *source) attributeColumn(r *row, name, key, kind string) column {
	if s.o.Schema != nil {
		if declared, ok := s.o.Schema.Attributes[key]; ok {
			kind = declared.Kind
			if declared.ScopedBy != "" {
				r.fail(ruleScope, name, "use columns stock.LOCATION or available.LOCATION, or JSONL", "%q holds per location, and one cell cannot say that", clip(key))
			}
		}
	}
	return column{name: name, attribute: key, kind: kind}
}

// recordOfCells reads one row. An empty cell is not stated.
func (s *source) recordOfCells(r *row, columns []column, cells []string) *business.Record {
	rec := &business.Record{Publisher: s.o.Publisher}
	var attributes []jcs.Member
	scoped := map[string]int{} // where in attributes the object of stock and of available stands
	for i, c := range columns {
		cell := cells[i]
		if cell == "" {
			continue
		}
		if !utf8.ValidString(cell) {
			r.fail(ruleFile, c.name, "save the file as UTF-8", "the cell %s is not UTF-8", clip(c.name))
			continue
		}
		if c.attribute == "" {
			r.member(rec, c.member, cell)
			continue
		}
		v, ok := r.value(c, cell)
		if !ok {
			continue
		}
		if c.location != "" {
			at, open := scoped[c.attribute]
			if !open {
				at = len(attributes)
				scoped[c.attribute] = at
				attributes = append(attributes, jcs.Member{Name: c.attribute, Value: jcs.Raw{'{'}})
			}
			attributes[at].Value = appendMember(attributes[at].Value, c.location, v)
			continue
		}
		attributes = append(attributes, jcs.Member{Name: c.attribute, Value: v})
	}
	if len(attributes) > 0 {
		for _, at := range scoped {
			attributes[at].Value = append(attributes[at].Value, '}')
		}
		rec.Attributes = s.attributes(r, "attributes", objectOf(attributes))
	}
	s.finish(r, rec)
	return rec
}

// member puts a cell into the record.
func (r *row) member(rec *business.Record, name, cell string) {
	switch name {
	case "type":
		rec.Type = cell
	case "id":
		rec.ID = cell
	case "title":
		r.checkName(name, cell)
		rec.Title = cell
	case "summary":
		rec.Summary = cell
	case "content":
		rec.Content = cell
	case "aliases":
		for alias := range strings.SplitSeq(cell, aliasSeparator) {
			if alias != "" {
				r.checkName(name, alias)
				rec.Aliases = append(rec.Aliases, alias)
			}
		}
	case "updated_at":
		rec.UpdatedAt = r.instant(name, cell)
	case "verified_at":
		rec.VerifiedAt = r.instant(name, cell)
	}
}

// value is a cell as JSON, by the kind of its column. Without a kind, a JSON number and true and false are what they look like, and all else is text.
func (r *row) value(c column, cell string) (jcs.Raw, bool) {
	switch c.kind {
	case "money", "money_from", "money_to", "quantity", "count":
		if !isLiteral(cell) || cell[0] == '-' && c.kind != "quantity" || c.kind == "count" && strings.ContainsAny(cell, ".eE") {
			r.fail(ruleNumber, c.name, "write digits with at most one decimal point and nothing else, such as 1234.50", "%s %q is no number of the kind %s", clip(c.name), clip(cell), c.kind)
			return nil, false
		}
		return jcs.Raw(cell), true
	case "bool":
		if cell != "true" && cell != "false" {
			r.fail(ruleBool, c.name, "write true or false, or leave the cell empty for not stated", "%s %q is neither true nor false", clip(c.name), clip(cell))
			return nil, false
		}
		return jcs.Raw(cell), true
	case "list":
		list := jcs.Raw{'['}
		for term := range strings.SplitSeq(cell, aliasSeparator) {
			if term == "" {
				continue
			}
			if len(list) > 1 {
				list = append(list, ',')
			}
			list = jcs.AppendString(list, term)
		}
		return append(list, ']'), true
	case "":
		if isLiteral(cell) || cell == "true" || cell == "false" {
			return jcs.Raw(cell), true
		}
	}
	return jcs.AppendString(nil, cell), true
}
