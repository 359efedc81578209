package importer

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"sayso/facts"
	"sayso/facts/dataset/yamlx"
)

// Suggestion is a mapping proposed for the upstream parameters that the given one does not name. It is for review: nothing applies it.
type Suggestion struct {
	Data       []byte // a mapping file; labels, units and sources are to be checked by a person, and topics added
	Proposed   int
	Shortened  int // proposed keys that leave out segments of their path, since a key has at most six
	Collisions []Collision
	Omitted    int // parameters beyond the size of a mapping file; suggest for one folder after the other
}

// Collision is a key that more than one upstream path would get, or that is outside the grammar. None of its paths is proposed.
type Collision struct {
	Key   string
	Paths []string
}

// Suggest reads a tree and proposes a key, a label and a unit for every parameter that m does not name and that lies in no folder it refuses. The keys
// begin with namespace.
func Suggest(src fs.FS, m *Mapping, namespace string, o Options) (*Suggestion, error) {
	if err := facts.CheckNamespace(namespace); err != nil {
		return nil, err
	}
	t, err := newTaker(m, o)
	if err != nil {
		return nil, err
	}
	all, err := t.read(src)
	if err != nil {
		return nil, err
	}
	s := &suggester{m: m, namespace: namespace, byKey: map[string][]proposal{}}
	for i := range m.entries {
		s.byKey[m.entries[i].key] = []proposal{{path: m.entries[i].path, mapped: true}}
	}
	s.propose(all)
	return s.suggestion(), nil
}

// proposal is one entry of the suggested mapping.
type proposal struct {
	path, key, label, unit, note string
	shortened, mapped            bool
}

type suggester struct {
	m         *Mapping
	namespace string
	byKey     map[string][]proposal
}

func (s *suggester) propose(all []series) {
	mapped := map[string]bool{}
	for i := range s.m.entries {
		mapped[s.m.entries[i].path] = true
	}
	kinds := map[string]map[kind]bool{}
	if s.m.Kind == EndOfLife {
		for i := range all {
			at := fieldOf(all[i].path)
			if kinds[at] == nil {
				kinds[at] = map[kind]bool{}
			}
			kinds[at][all[i].values[0].value.kind] = true
		}
	}
	for i := range all {
		var p proposal
		if s.m.Kind == EndOfLife {
			p = s.field(all[i].path, kinds[fieldOf(all[i].path)])
		} else {
			p = s.parameter(&all[i])
		}
		if mapped[p.path] || mapped[all[i].path] || s.m.refused(all[i].path) != nil {
			continue
		}
		mapped[p.path] = true
		s.byKey[p.key] = append(s.byKey[p.key], p)
	}
}

// parameter proposes for one parameter of a tree. A path with too many segments keeps its first two and its last three.
func (s *suggester) parameter(from *series) proposal {
	p := proposal{path: from.path}
	separator := "."
	if s.m.Kind == SmartAnswers {
		separator = "/"
	}
	var words []string
	for part := range strings.SplitSeq(from.path, separator) {
		if seg := slug(strings.TrimSuffix(strings.TrimSuffix(part, ".yml"), ".yaml")); seg != "" {
			words = append(words, seg)
		}
	}
	if len(words) > 0 && words[0] == s.namespace {
		words = words[1:]
	}
	if keep := facts.MaxKeySegments - 1; len(words) > keep {
		words, p.shortened = slices.Concat(words[:2], words[len(words)-3:]), true
	}
	p.key = s.namespace + "/" + strings.Join(words, "/")
	p.label = labelOf(words)
	var m measure
	if unit, problem := published(from.unit, &entry{key: p.key}, from, &m); problem == nil {
		p.unit = unit
	} else {
		p.note = problem.message
	}
	return p
}

// field proposes one pattern for a field of all releases of a product.
func (s *suggester) field(path string, kinds map[kind]bool) proposal {
	product, _, _ := strings.Cut(path, "/")
	name := path[strings.LastIndexByte(path, '/')+1:]
	p := proposal{path: product + "/*/" + name, key: s.namespace + "/" + slug(product) + "/" + releaseMark, label: labelOf([]string{slug(product)}) + " " + releaseMark + " " + name}
	if name != "eol" {
		p.key += "/" + slug(name)
	}
	switch {
	case kinds[boolean] && len(kinds) > 1:
		p.unit, p.note = "date", "a date for some releases and true or false for others: add split, or the latter are refused"
	case kinds[boolean]:
		p.unit = "rule"
	case strings.HasPrefix(name, "latest") && name != "latestReleaseDate":
	default:
		p.unit = "date"
	}
	return p
}

// labelOf makes a label of the words of a key: the last segment, then where it stands.
func labelOf(words []string) string {
	if len(words) == 0 {
		return "?"
	}
	spaced := make([]string, len(words))
	for i, w := range words {
		spaced[i] = strings.ReplaceAll(w, "-", " ")
	}
	label := spaced[len(spaced)-1]
	if rest := spaced[:len(spaced)-1]; len(rest) > 0 {
		label += " (" + strings.Join(rest, ", ") + ")"
	}
	label = strings.ToUpper(label[:1]) + label[1:]
	if r := []rune(label); len(r) > 100 {
		label = string(r[:99]) + "…"
	}
	return label
}

// suggestion writes what is proposed as a mapping file, with what is not as comments behind it.
func (s *suggester) suggestion() *Suggestion {
	list, collisions := s.sorted()
	out := &Suggestion{Collisions: collisions}
	var b strings.Builder
	b.WriteString("# Suggested: check every key, label and unit before use. A key never changes its meaning.\n")
	fmt.Fprintf(&b, "format: %s\nkind: %s\nparameters:", MappingFormat, s.m.Kind)
	if len(list) == 0 {
		b.WriteString(" {}")
	}
	b.WriteString("\n")
	for i, p := range list {
		if b.Len() > yamlx.MaxSize*3/4 {
			out.Omitted = len(list) - i
			fmt.Fprintf(&b, "# %d more are left out: suggest for one folder after the other\n", out.Omitted)
			break
		}
		out.Proposed++
		if p.shortened {
			out.Shortened++
		}
		if p.note != "" {
			b.WriteString("  # " + p.note + "\n")
		}
		b.WriteString("  " + yamlx.Quote(p.path) + ":\n    key: " + yamlx.Quote(p.key) + "\n    label: " + yamlx.Quote(p.label) + "\n")
		if p.unit != "" {
			b.WriteString("    unit: " + yamlx.Quote(p.unit) + "\n")
		}
	}
	for _, c := range collisions {
		if b.Len() > yamlx.MaxSize*7/8 {
			b.WriteString("# further collisions are left out\n")
			break
		}
		reason := fmt.Sprintf("would be the key of %d paths", len(c.Paths))
		if len(c.Paths) == 1 {
			reason = "is outside the grammar of keys"
		}
		fmt.Fprintf(&b, "# not proposed, %s %s:\n", yamlx.Quote(c.Key), reason)
		for _, p := range c.Paths {
			b.WriteString("#   " + yamlx.Quote(p) + "\n")
		}
	}
	out.Data = []byte(b.String())
	return out
}

// sorted tells the keys that one path alone would get from those that several would, or that are outside the grammar.
func (s *suggester) sorted() (list []proposal, collisions []Collision) {
	for key, ps := range s.byKey {
		switch {
		case len(ps) == 1 && !ps[0].mapped && facts.CheckKey(strings.ReplaceAll(key, releaseMark, "1")) == nil:
			list = append(list, ps[0])
		case len(ps) > 1 || !ps[0].mapped:
			c := Collision{Key: key}
			for _, p := range ps {
				c.Paths = append(c.Paths, p.path)
			}
			slices.Sort(c.Paths)
			collisions = append(collisions, c)
		}
	}
	slices.SortFunc(list, func(a, b proposal) int { return strings.Compare(a.path, b.path) })
	slices.SortFunc(collisions, func(a, b Collision) int { return strings.Compare(a.Key, b.Key) })
	return list, collisions
}
