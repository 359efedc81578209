package yamlx

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Path names a node: member names (string) and item numbers (int) from the root.
type Path []any

// ErrForm is the root of every refusal to edit a file that is valid but written in a form whose text cannot be changed safely.
var ErrForm = errors.New("written in a form that cannot be edited safely")

// SetMember gives a member of the mapping at path a new value, or adds the member behind the last one. text is the value as YAML on one line
// ([Quote], [FromJSON]).
func SetMember(src []byte, path Path, name, text string) ([]byte, error) {
	value, err := Parse([]byte(text))
	if err != nil {
		return nil, err
	}
	return edit(src, path, Map, func(d *doc, m *Node) ([]byte, error) {
		old := m.Get(name)
		if old == nil {
			out, err := d.addMember(m, name, text)
			m.Members = append(m.Members, Member{Name: name, Value: value})
			return out, err
		}
		start := d.offset(old.Line, old.Col)
		end, err := d.tokenEnd(old, start)
		*old = *value
		return d.splice(start, end, text), err
	})
}

// RemoveMember removes a member with its lines from the mapping at path. Comments around it stay. Removing an absent member changes nothing.
func RemoveMember(src []byte, path Path, name string) ([]byte, error) {
	return edit(src, path, Map, func(d *doc, m *Node) ([]byte, error) {
		i := slices.IndexFunc(m.Members, func(x Member) bool { return x.Name == name })
		if i < 0 {
			return src, nil
		}
		member := m.Members[i]
		m.Members = slices.Delete(m.Members, i, i+1)
		if m.flow || len(m.Members) == 0 || !d.blankBefore(member.Line, member.Col) {
			return nil, fmt.Errorf("%w: member %q does not stand on lines of its own", ErrForm, name)
		}
		return d.splice(d.lines[member.Line-1], d.after(d.lastLine(member.Value, member.Col)), ""), nil
	})
}

// InsertItem puts a new item in front of item i of the list at path (behind the last one when i is the length). block holds the item's lines as
// [Block] writes them, without indentation.
func InsertItem(src []byte, path Path, i int, block string) ([]byte, error) {
	item, err := Parse([]byte(block))
	if err != nil {
		return nil, err
	}
	return edit(src, path, Seq, func(d *doc, s *Node) ([]byte, error) {
		defer func() { s.Items = slices.Insert(s.Items, i, item) }()
		if len(s.Items) == 0 {
			return d.fillEmpty(s, path, block)
		}
		first := s.Items[0]
		lineStart := d.lines[first.Line-1]
		lead := string(d.src[lineStart:d.offset(first.Line, first.Col)])
		indent, _, dash := strings.Cut(lead, "-")
		if s.flow || !dash || strings.TrimLeft(lead, " ") != "- " {
			return nil, fmt.Errorf("%w: the list does not have one dash and one blank before each item", ErrForm)
		}
		at := 0
		if i > 0 {
			at = d.after(d.lastLine(s.Items[i-1], 0))
		} else {
			at = d.after(d.lineBefore(first))
		}
		return d.insertLines(at, Item(indent, block)), nil
	})
}

// RemoveItem removes item i of the list at path with its lines. The last item of a list cannot be removed.
func RemoveItem(src []byte, path Path, i int) ([]byte, error) {
	return edit(src, path, Seq, func(d *doc, s *Node) ([]byte, error) {
		item := s.Items[i]
		lineStart := d.lines[item.Line-1]
		lead := string(d.src[lineStart:d.offset(item.Line, item.Col)])
		if s.flow || len(s.Items) == 1 || strings.Trim(lead, " ") != "-" {
			return nil, fmt.Errorf("%w: the item does not stand on lines of its own", ErrForm)
		}
		end := d.after(d.lastLine(item, 0))
		s.Items = slices.Delete(s.Items, i, i+1)
		return d.splice(lineStart, end, ""), nil
	})
}

// edit finds the node, lets change make the new text while it changes the tree the same way, and accepts the text only when it parses to that tree.
func edit(src []byte, path Path, kind Kind, change func(*doc, *Node) ([]byte, error)) ([]byte, error) {
	root, err := Parse(src)
	if err != nil {
		return nil, err
	}
	n := root
	for _, step := range path {
		switch s := step.(type) {
		case string:
			n = n.Get(s)
		case int:
			if s >= len(n.Items) {
				n = nil
			} else {
				n = n.Items[s]
			}
		}
		if n == nil {
			return nil, fmt.Errorf("%w: nothing stands at %v", ErrForm, path)
		}
	}
	if n.Kind != kind {
		return nil, fmt.Errorf("%w: %s stands at %v", ErrForm, n.Kind, path)
	}
	out, err := change(newDoc(src, root), n)
	if err != nil {
		return nil, err
	}
	got, err := Parse(out)
	if err != nil || !equal(got, root) {
		return nil, fmt.Errorf("%w: change %v by hand", ErrForm, path)
	}
	return out, nil
}

func equal(a, b *Node) bool {
	if a.Kind != b.Kind || a.Text != b.Text || len(a.Members) != len(b.Members) || len(a.Items) != len(b.Items) {
		return false
	}
	for i := range a.Members {
		if a.Members[i].Name != b.Members[i].Name || !equal(a.Members[i].Value, b.Members[i].Value) {
			return false
		}
	}
	for i := range a.Items {
		if !equal(a.Items[i], b.Items[i]) {
			return false
		}
	}
	return true
}

// doc is the text of a file with the offset of each line and the lines on which something begins.
type doc struct {
	src    []byte
	lines  []int
	starts []int // lines of all nodes and member names, in document order
	eol    string
}

func newDoc(src []byte, root *Node) *doc {
	d := &doc{src: src, lines: []int{0}, eol: "\n"}
	for i, b := range src {
		if b == '\n' {
			d.lines = append(d.lines, i+1)
		}
	}
	if bytes.Contains(src, []byte("\r\n")) {
		d.eol = "\r\n"
	}
	var walk func(n *Node)
	walk = func(n *Node) {
		d.starts = append(d.starts, n.Line)
		for _, m := range n.Members {
			d.starts = append(d.starts, m.Line)
			walk(m.Value)
		}
		for _, item := range n.Items {
			walk(item)
		}
	}
	walk(root)
	return d
}

// offset is the byte at which a position stands.
func (d *doc) offset(line, col int) int {
	at := d.lines[line-1]
	for ; col > 1 && at < len(d.src); col-- {
		_, size := utf8.DecodeRune(d.src[at:])
		at += size
	}
	return at
}

// after is the offset of the line behind the given one.
func (d *doc) after(line int) int {
	if line < len(d.lines) {
		return d.lines[line]
	}
	return len(d.src)
}

func (d *doc) text(line int) string { return string(d.src[d.lines[line-1]:d.after(line)]) }

func (d *doc) blankBefore(line, col int) bool {
	return len(bytes.TrimLeft(d.src[d.lines[line-1]:d.offset(line, col)], " ")) == 0
}

// lastLine is the last line with content of a node: the line before whatever begins next, less blank lines and comments between the two.
// col is the column of the member name that holds n, 0 when no name does: a line that looks like a comment belongs to a literal scalar when it is
// indented deeper than the name.
func (d *doc) lastLine(n *Node, col int) int {
	last := n
	for {
		if k := len(last.Members); k > 0 {
			last, col = last.Members[k-1].Value, last.Members[k-1].Col
		} else if k := len(last.Items); k > 0 {
			last = last.Items[k-1]
		} else {
			break
		}
	}
	end := len(d.lines)
	for _, s := range d.starts {
		if s > last.Line && s-1 < end {
			end = s - 1
		}
	}
	for end > last.Line {
		line := d.text(end)
		t := strings.TrimLeft(line, " ")
		indent := len(line) - len(t)
		if strings.TrimSpace(t) != "" && (!strings.HasPrefix(t, "#") || last.block && indent >= col) {
			break
		}
		end--
	}
	return end
}

// lineBefore is the line of the last thing that begins before the first item of a list: the line of the list's own name.
func (d *doc) lineBefore(first *Node) int {
	line := 0
	for _, s := range d.starts {
		if s < first.Line && s > line {
			line = s
		}
	}
	return line
}

func (d *doc) splice(start, end int, text string) []byte {
	return slices.Concat(d.src[:start], []byte(text), d.src[end:])
}

// insertLines puts whole lines at the start of a line, in the file's own line ends.
func (d *doc) insertLines(at int, lines string) []byte {
	lines = strings.ReplaceAll(lines, "\n", d.eol)
	if at == len(d.src) && at > 0 && d.src[at-1] != '\n' {
		lines = d.eol + strings.TrimSuffix(lines, d.eol)
	}
	return d.splice(at, at, lines)
}

func (d *doc) addMember(m *Node, name, text string) ([]byte, error) {
	if len(m.Members) == 0 {
		return nil, fmt.Errorf("%w: the mapping is empty", ErrForm)
	}
	last := m.Members[len(m.Members)-1].Value
	if m.flow {
		end, err := d.tokenEnd(last, d.offset(last.Line, last.Col))
		return d.splice(end, end, ", "+name+": "+text), err
	}
	line := strings.Repeat(" ", m.Col-1) + name + ": " + text + "\n"
	return d.insertLines(d.after(d.lastLine(last, m.Col)), line), nil
}

// fillEmpty replaces the "[]" of an empty list by its first item.
func (d *doc) fillEmpty(s *Node, path Path, block string) ([]byte, error) {
	start := d.offset(s.Line, s.Col)
	if !bytes.HasPrefix(d.src[start:], []byte("[]")) || len(path) == 0 {
		return nil, fmt.Errorf("%w: the list is empty", ErrForm)
	}
	line := d.text(s.Line)
	indent := line[:len(line)-len(strings.TrimLeft(line, " -"))]
	item := Item(strings.Repeat(" ", len(indent)+2), block)
	item = strings.ReplaceAll(item, "\n", d.eol)
	text := d.eol + strings.TrimSuffix(item, d.eol)
	if d.src[start-1] == ' ' {
		start--
		return d.splice(start, start+3, text), nil
	}
	return d.splice(start, start+2, text), nil
}

// tokenEnd is the end of a value written on one line, or of a quoted or flow value.
func (d *doc) tokenEnd(n *Node, start int) (int, error) {
	rest := d.src[start:]
	switch {
	case n.flow:
		if end := flowEnd(rest); end > 0 {
			return start + end, nil
		}
	case n.block || n.Kind == Map || n.Kind == Seq || len(rest) == 0:
	case rest[0] == '"' || rest[0] == '\'':
		if end := quotedEnd(rest); end > 0 {
			return start + end, nil
		}
	case bytes.HasPrefix(rest, []byte(n.Text)):
		return start + len(n.Text), nil
	}
	return 0, fmt.Errorf("%w: the value on line %d spans several lines", ErrForm, n.Line)
}

// quotedEnd is the length of the quoted scalar at the start of s, 0 when it does not end.
func quotedEnd(s []byte) int {
	q := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case q == '"' && s[i] == '\\':
			i++
		case s[i] == q && q == '\'' && i+1 < len(s) && s[i+1] == q:
			i++
		case s[i] == q:
			return i + 1
		}
	}
	return 0
}

// flowEnd is the length of the bracketed value at the start of s, 0 when it does not end.
func flowEnd(s []byte) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"', '\'':
			n := quotedEnd(s[i:])
			if n == 0 {
				return 0
			}
			i += n - 1
		case '#':
			for i < len(s) && s[i] != '\n' {
				i++
			}
		}
	}
	return 0
}
