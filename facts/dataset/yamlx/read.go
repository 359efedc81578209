package yamlx

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"sayso/jcs"
)

// Limits of one file.
const (
	MaxSize  = 4 << 20
	MaxDepth = 24
)

// Kind says what a node is.
type Kind uint8

// The kinds of nodes; all but Map and Seq are scalars.
const (
	Map Kind = iota
	Seq
	String
	Number
	Bool
	Null
)

// String names the kind as a message would.
func (k Kind) String() string {
	return [...]string{"a mapping", "a list", "text", "a number", "true or false", "null"}[k]
}

// Node is one value of a file.
type Node struct {
	Kind      Kind
	Text      string // decoded text of a scalar; for a number its source text
	Line, Col int
	Members   []Member // of a Map, in source order
	Items     []*Node  // of a Seq

	flow  bool // written with braces or brackets
	block bool // a literal or folded scalar
}

// Member is one member of a mapping with the position of its name.
type Member struct {
	Name      string
	Line, Col int
	Value     *Node
}

// Get returns the value of a member, nil when there is none.
func (n *Node) Get(name string) *Node {
	for i := range n.Members {
		if n.Members[i].Name == name {
			return n.Members[i].Value
		}
	}
	return nil
}

// AppendJSON appends the node as JSON text. Numbers keep their source text.
func (n *Node) AppendJSON(dst []byte) []byte {
	switch n.Kind {
	case Map:
		dst = append(dst, '{')
		for i, m := range n.Members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(jcs.AppendString(dst, m.Name), ':')
			dst = m.Value.AppendJSON(dst)
		}
		return append(dst, '}')
	case Seq:
		dst = append(dst, '[')
		for i, item := range n.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.AppendJSON(dst)
		}
		return append(dst, ']')
	case String:
		return jcs.AppendString(dst, n.Text)
	}
	return append(dst, n.Text...)
}

// Error is a refusal with its position.
type Error struct {
	Line, Col int
	Message   string
	Next      string // what to do about it
}

func (e *Error) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Col, e.Message) }

// Parse reads one file under the profile. Every error is an *Error.
func Parse(data []byte) (*Node, error) {
	if err := checkText(data); err != nil {
		return nil, err
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, &Error{1, 1, "the file is empty", "write its members or remove it"}
		}
		return nil, syntaxError(err, data)
	}
	var second yaml.Node
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		if err != nil {
			return nil, syntaxError(err, data)
		}
		return nil, &Error{second.Line, max(second.Column, 1), "a second document begins here", "keep one document in a file"}
	}
	return convert(doc.Content[0], 1)
}

// checkText refuses what would make positions or meaning depend on the reader, before any YAML is parsed.
func checkText(data []byte) error {
	if len(data) > MaxSize {
		return &Error{1, 1, fmt.Sprintf("the file has %d bytes, more than %d", len(data), MaxSize), "split it"}
	}
	if bytes.HasPrefix(data, []byte("\ufeff")) {
		return &Error{1, 1, "the file begins with a byte order mark", "save it as UTF-8 without one"}
	}
	line, start := 1, 0
	for i := 0; i < len(data); {
		r, size := rune(data[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(data[i:])
		}
		at := func(msg, next string) error {
			return &Error{line, utf8.RuneCount(data[start:i]) + 1, msg, next}
		}
		switch {
		case r == utf8.RuneError && size == 1:
			return at("the bytes are not UTF-8", "save the file as UTF-8")
		case r == '\r' && (i+1 == len(data) || data[i+1] != '\n'):
			return at("a carriage return stands alone", "end lines with a line feed")
		case r == 0x85 || r == 0x2028 || r == 0x2029:
			return at(fmt.Sprintf("the line separator U+%04X stands in the text", r), `write it as an escape in double quotes`)
		case r == '%' && i == start:
			return at("a directive or a line that begins with % is refused", "quote the text or remove the directive")
		case r == '\n':
			line, start = line+1, i+1
		}
		i += size
	}
	return nil
}

var (
	linePrefix = regexp.MustCompile(`line (\d+): `)
	// What the parser's grammar says, as against its scanner: the line in front of such a text is counted from 0.
	grammarText = regexp.MustCompile(`^did not find expected (',' or|'-' indicator|key|node content|<)`)
)

// syntaxError turns the parser's text into a position and a message.
func syntaxError(err error, data []byte) *Error {
	msg := strings.TrimPrefix(err.Error(), "yaml: ")
	line, col := 1, 1
	if m := linePrefix.FindStringSubmatchIndex(msg); m != nil {
		if n, err := strconv.Atoi(msg[m[2]:m[3]]); err == nil {
			line = max(n, 1)
		}
		msg = msg[:m[0]] + msg[m[1]:]
		if grammarText.MatchString(msg) && line < 1+bytes.Count(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) { // the end of a file is on its last line
			line++
		}
	}
	if strings.Contains(msg, "tab character") { // the parser names the line on which the text before it begins
		line, col = indentTab(data, line)
	}
	return &Error{line, col, "not well-formed YAML: " + msg, "mend the line; an editor with YAML support shows the place"}
}

// indentTab finds the first tab in an indentation from a line on; without one it returns the line.
func indentTab(data []byte, from int) (line, col int) {
	line = 0
	for text := range bytes.Lines(data) {
		line++
		indent := text[:len(text)-len(bytes.TrimLeft(text, " \t"))]
		if i := bytes.IndexByte(indent, '\t'); i >= 0 && line >= from {
			return line, i + 1
		}
	}
	return from, 1
}

func convert(y *yaml.Node, depth int) (*Node, error) {
	refuse := func(msg, next string) (*Node, error) { return nil, &Error{y.Line, max(y.Column, 1), msg, next} }
	switch {
	case depth > MaxDepth:
		return refuse(fmt.Sprintf("nested deeper than %d", MaxDepth), "flatten the value")
	case y.Kind == yaml.AliasNode:
		return refuse("an alias (*name) is refused", "write the value out")
	case y.Anchor != "":
		return refuse("an anchor (&name) is refused", "write the value out where it is needed")
	case y.Style&yaml.TaggedStyle != 0:
		return refuse("a tag (!name) is refused", "remove it; quotes make a text")
	}
	n := &Node{Line: y.Line, Col: max(y.Column, 1), flow: y.Style&yaml.FlowStyle != 0}
	switch y.Kind {
	case yaml.MappingNode:
		n.Kind = Map
		return n, convertMembers(n, y, depth)
	case yaml.SequenceNode:
		n.Kind = Seq
		n.Items = make([]*Node, len(y.Content))
		for i, c := range y.Content {
			item, err := convert(c, depth+1)
			if err != nil {
				return nil, err
			}
			n.Items[i] = item
		}
		return n, nil
	}
	n.Text = y.Value
	n.block = y.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	if n.block || y.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
		n.Kind = String
		return n, nil
	}
	kind, next := plainKind(y.Value)
	if next != "" {
		return refuse(fmt.Sprintf("%q is ambiguous: readers of YAML disagree on what it is", y.Value), next)
	}
	n.Kind = kind
	return n, nil
}

func convertMembers(n *Node, y *yaml.Node, depth int) error {
	n.Members = make([]Member, 0, len(y.Content)/2)
	seen := make(map[string]int, len(y.Content)/2)
	for i := 0; i < len(y.Content); i += 2 {
		k := y.Content[i]
		at := func(msg, next string) error { return &Error{k.Line, max(k.Column, 1), msg, next} }
		switch {
		case k.Kind == yaml.AliasNode || k.Anchor != "" || k.Style&yaml.TaggedStyle != 0:
			return at("a member name carries an anchor, alias or tag", "write the name plainly")
		case k.Kind != yaml.ScalarNode:
			return at("a member name is not text", "write the name plainly")
		case k.Tag == "!!merge":
			return at("a merge key (<<) is refused", "write the members out")
		}
		if line, dup := seen[k.Value]; dup {
			return at(fmt.Sprintf("member %q stands twice in one mapping, first on line %d", k.Value, line), "keep one of them")
		}
		seen[k.Value] = k.Line
		v, err := convert(y.Content[i+1], depth+1)
		if err != nil {
			return err
		}
		n.Members = append(n.Members, Member{k.Value, k.Line, max(k.Column, 1), v})
	}
	return nil
}

var (
	jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
	// What YAML 1.1, YAML 1.2 or a person may take for a number though JSON does not.
	numberLike = regexp.MustCompile(`^(?i:[-+]?(0x[0-9a-f_]+|0o[0-7_]+|0b[01_]+|\.inf|\.?nan|inf|infinity|[0-9][0-9_]*(\.[0-9_]*)?(e[-+]?[0-9_]*)?|\.[0-9][0-9_]*(e[-+]?[0-9_]*)?))$`)
	wordLike   = regexp.MustCompile(`^(True|TRUE|False|FALSE|Null|NULL|~|)$`)
)

// plainKind types a plain scalar by the JSON grammar; next is set when the text must be written differently.
func plainKind(s string) (kind Kind, next string) {
	switch s {
	case "true", "false":
		return Bool, ""
	case "null":
		return Null, ""
	}
	switch {
	case jsonNumber.MatchString(s):
		return Number, ""
	case numberLike.MatchString(s):
		return String, "write a JSON number (digits, one point, no grouping), or quote it to make it text"
	case s == "":
		return String, `write a value, null, or "" for empty text`
	case wordLike.MatchString(s):
		return String, "write true, false or null in lower case, or quote it to make it text"
	}
	return String, ""
}
