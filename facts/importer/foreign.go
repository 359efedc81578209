package importer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Bounds of what is read from elsewhere.
const (
	maxFileBytes = 4 << 20
	maxTreeBytes = 512 << 20
	maxFiles     = 200_000
	maxDepth     = 32
)

// foreignError is a refusal of a whole upstream file.
type foreignError struct {
	line          int
	message, next string
}

// tree yields the files of an upstream tree with one of the extensions, in order of their names. What cannot be read is reported and left out.
func (t *taker) tree(src fs.FS, extensions []string, yield func(name string, data []byte)) error {
	files, total := 0, 0
	return fs.WalkDir(src, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return fmt.Errorf("the upstream tree cannot be read: %w", err)
		case err != nil:
			t.unreadable(name, 0, "it cannot be opened", "check its permissions")
			return nil
		case name != "." && strings.HasPrefix(e.Name(), "."):
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case e.IsDir() || !slices.Contains(extensions, path.Ext(name)):
			return nil
		case !e.Type().IsRegular():
			t.unreadable(name, 0, "it is no regular file", "links are not followed; copy the file")
			return nil
		}
		if files++; files > maxFiles {
			return fmt.Errorf("the upstream tree has more than %d files: name a smaller folder", maxFiles)
		}
		data, err := readBounded(src, name)
		if err != nil {
			t.unreadable(name, 0, err.Error(), "split the file or check its permissions")
			return nil
		}
		if total += len(data); total > maxTreeBytes {
			return fmt.Errorf("the upstream tree holds more than %d MiB: name a smaller folder", maxTreeBytes>>20)
		}
		yield(name, data)
		return nil
	})
}

func readBounded(src fs.FS, name string) ([]byte, error) {
	f, err := src.Open(name)
	if err != nil {
		return nil, errors.New("it cannot be opened")
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	switch {
	case err != nil:
		return nil, errors.New("it cannot be read")
	case len(data) > maxFileBytes:
		return nil, fmt.Errorf("it has more than %d MiB", maxFileBytes>>20)
	}
	return data, nil
}

// unreadable reports an upstream file that was left out.
func (t *taker) unreadable(file string, line int, message, next string) {
	t.report.Refused = append(t.report.Refused, Finding{Rule: ruleUnreadable, File: file, Line: line, Message: message, Next: next})
}

// parseForeign reads one YAML document of an upstream file. Its scalars stay text: every reader types them by the rules of F§11.1, not by those of a
// YAML library. Aliases, anchors, tags, merge keys and duplicate members are refused, since each makes a figure mean something else elsewhere.
func parseForeign(data []byte) (*yaml.Node, *foreignError) {
	if !utf8.Valid(data) {
		return nil, &foreignError{0, "it is not UTF-8", "save it as UTF-8"}
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return &yaml.Node{Kind: yaml.MappingNode}, nil
	case err != nil:
		return nil, &foreignError{0, "not well-formed YAML: " + strings.TrimPrefix(err.Error(), "yaml: "), "mend it upstream"}
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, &foreignError{second.Line, "a second document begins here", "only files of one document are read"}
	}
	if len(doc.Content) == 0 {
		return &yaml.Node{Kind: yaml.MappingNode}, nil
	}
	root := doc.Content[0]
	return root, checkForeign(root, 1)
}

func checkForeign(n *yaml.Node, depth int) *foreignError {
	refuse := func(format string, args ...any) *foreignError {
		return &foreignError{n.Line, fmt.Sprintf(format, args...), "write the value out upstream"}
	}
	switch {
	case depth > maxDepth:
		return refuse("nested deeper than %d", maxDepth)
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return refuse("an anchor or alias is refused")
	case n.Style&yaml.TaggedStyle != 0:
		return refuse("a tag is refused")
	}
	if n.Kind == yaml.MappingNode {
		seen := make(map[string]int, len(n.Content)/2)
		for i := 0; i < len(n.Content); i += 2 {
			k := n.Content[i]
			switch line, dup := seen[k.Value]; {
			case k.Kind != yaml.ScalarNode || k.Tag == "!!merge":
				return &foreignError{k.Line, "a member name is no plain text", "write the members out upstream"}
			case dup:
				return &foreignError{k.Line, fmt.Sprintf("member %q stands twice, first on line %d", clip(k.Value), line), "nobody can say which of the two counts: mend it upstream"}
			}
			seen[k.Value] = k.Line
		}
	}
	for _, c := range n.Content {
		if err := checkForeign(c, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// get is the member of a mapping, nil when there is none.
func get(n *yaml.Node, names ...string) *yaml.Node {
	for name, v := range members(n) {
		for _, want := range names {
			if name == want {
				return v
			}
		}
	}
	return nil
}

// members yields the members of a mapping in order; other nodes have none.
func members(n *yaml.Node) func(func(string, *yaml.Node) bool) {
	return func(yield func(string, *yaml.Node) bool) {
		if n == nil || n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i].Value, n.Content[i+1]) {
				return
			}
		}
	}
}

// word is the text of a scalar, "" for anything else.
func word(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return ""
	}
	return n.Value
}

var (
	infiniteText = regexp.MustCompile(`^(?i:[-+]?\.?(inf|infinity|nan))$`)
	// What YAML 1.1 takes for a number in another notation: hexadecimal, octal, binary, base 60, a leading zero.
	otherNotation = regexp.MustCompile(`^[-+]?(0[xob][0-9a-fA-F_]+|0[0-9_]+(\.[0-9_]*)?|[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?)$`)
)

// literalOf types a value: plain scalars by YAML 1.1 as upstream tools read them, quoted ones as text.
func literalOf(n *yaml.Node) (literal, *problem) {
	switch n.Kind {
	case yaml.SequenceNode:
		out := literal{kind: list}
		for _, c := range n.Content {
			item, p := literalOf(c)
			if p != nil {
				return out, p
			}
			out.items = append(out.items, item)
		}
		return out, nil
	case yaml.MappingNode:
		return literal{}, shapeProblem("the value is a mapping")
	}
	s := n.Value
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return literal{kind: text, text: s}, nil
	}
	switch s {
	case "", "~", "null", "Null", "NULL":
		return literal{kind: null}, nil
	case "true", "True", "TRUE":
		return literal{kind: boolean, text: "true"}, nil
	case "false", "False", "FALSE":
		return literal{kind: boolean, text: "false"}, nil
	}
	if infiniteText.MatchString(s) {
		return literal{kind: infinite, text: s}, nil
	}
	if d, ok := parseDecimal(s); ok {
		return literal{kind: number, number: d, text: s}, nil
	}
	switch {
	case otherNotation.MatchString(s):
		return literal{}, shapeProblem("%q is a number in a notation on which readers disagree", clip(s))
	case strings.EqualFold(s, "yes") || strings.EqualFold(s, "no") || strings.EqualFold(s, "on") || strings.EqualFold(s, "off"):
		return literal{}, shapeProblem("%q is true or false to some readers and text to others", s)
	}
	return literal{kind: text, text: s}, nil
}
