package importer

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"sayso/facts"
)

// Members of a node that are mappings without being children of it.
var reserved = []string{"metadata", "documentation", "reference", "references", "breakdown", "uprating"}

// openFisca reads a parameter tree: folders and members are nodes, leaves and scales are parameters (F§11.1).
func (t *taker) openFisca(src fs.FS) ([]series, error) {
	r := &parameterReader{taker: t}
	err := t.tree(src, []string{".yaml", ".yml"}, func(name string, data []byte) {
		root, bad := parseForeign(data)
		if bad != nil {
			t.unreadable(name, bad.line, bad.message, bad.next)
			return
		}
		stem := strings.TrimSuffix(name, path.Ext(name))
		if path.Base(stem) == "index" {
			return // metadata of its folder; read only to find what makes it unreadable
		}
		r.file = name
		r.node(root, strings.ReplaceAll(stem, "/", "."), root.Line)
	})
	return r.out, err
}

type parameterReader struct {
	*taker
	file string
	out  []series
}

func (r *parameterReader) node(n *yaml.Node, at string, line int) {
	switch {
	case n.Kind != yaml.MappingNode:
	case get(n, "brackets") != nil:
		r.out = append(r.out, r.scale(n, at, line))
	case isLeaf(n):
		r.out = append(r.out, r.leaf(n, at, line))
	default:
		for name, child := range members(n) {
			if !slices.Contains(reserved, name) && child.Kind == yaml.MappingNode {
				r.node(child, at+"."+name, child.Line)
			}
		}
	}
}

func isLeaf(n *yaml.Node) bool {
	if get(n, "values") != nil {
		return true
	}
	for name := range members(n) {
		if datePattern.MatchString(name) {
			return true
		}
	}
	return false
}

// describe reads what a leaf or scale says of all its values. unitName is the metadata member that holds the unit.
func (r *parameterReader) describe(n *yaml.Node, at string, line int, unitNames ...string) series {
	meta := get(n, "metadata")
	s := series{path: at, file: r.file, line: line}
	for _, holder := range []*yaml.Node{meta, n} {
		if s.unit == "" {
			s.unit = word(get(holder, unitNames...))
		}
		if s.thresholdUnit == "" {
			s.thresholdUnit = word(get(holder, "threshold_unit"))
		}
		if s.period == "" {
			s.period = word(get(holder, "period"))
		}
		if s.checked == "" {
			s.checked = word(get(holder, "last_value_still_valid_on"))
		}
		s.uprated = s.uprated || get(holder, "uprating") != nil
	}
	return s
}

func (r *parameterReader) leaf(n *yaml.Node, at string, line int) series {
	s := r.describe(n, at, line, "unit")
	s.values, s.problem = r.history(n, s.unit)
	return s
}

// history reads the dated values of a leaf or of one component of a bracket, oldest first. A value may repeat the unit of its parameter, not change it.
// The problem is one of the whole: a day that does not exist leaves the order of the values unknown.
func (r *parameterReader) history(n *yaml.Node, unit string) ([]dated, *problem) {
	source := n
	if v := get(n, "values"); v != nil {
		source = v
	}
	byDate := []*yaml.Node{get(n, "reference", "references"), get(get(n, "metadata"), "reference", "references")}
	var out []dated
	for day, v := range members(source) {
		if !datePattern.MatchString(day) || get(v, "expected") != nil {
			continue
		}
		d := datedValue(v)
		d.from, _ = facts.ParseDate(day)
		d.floor = r.m.isFloor(day)
		if d.from.IsZero() && !d.floor {
			return nil, shapeProblem("%q is no day of the calendar", day)
		}
		if d.unit != "" && d.unit != unit && d.problem == nil {
			d.problem = unitProblem("the value has the unit %q and its parameter %q", clip(d.unit), clip(unit))
		}
		for _, refs := range byDate {
			d.refs = append(d.refs, references(get(refs, day))...)
		}
		out = append(out, d)
	}
	slices.SortStableFunc(out, func(a, b dated) int { return int(a.from) - int(b.from) })
	first := true // only the first value of a series can be "held since"
	for i := range out {
		out[i].floor = out[i].floor && first
		first = first && out[i].problem == nil && out[i].value.kind == null
	}
	return out, nil
}

// datedValue reads what stands under one date: the value itself, or a mapping around it.
func datedValue(n *yaml.Node) dated {
	d := dated{line: n.Line}
	v := n
	if n.Kind == yaml.MappingNode {
		d.refs = slices.Concat(references(get(n, "reference", "references")), references(get(get(n, "metadata"), "reference", "references")))
		v = get(n, "value")
		switch unit := word(get(n, "unit")) + word(get(get(n, "metadata"), "unit")); {
		case get(n, "updates_previous") != nil:
			d.problem = shapeProblem("the value updates the previous one instead of standing by itself")
		case v == nil:
			d.problem = shapeProblem("the dated mapping has no value")
		case unit != "":
			d.unit = unit
		}
		if d.problem != nil {
			return d
		}
	}
	d.value, d.problem = literalOf(v)
	return d
}

// references reads the spellings of F§11.1: a URL or text, a list of these, and mappings with href or url beside title or name.
func references(n *yaml.Node) []reference {
	if n == nil {
		return nil
	}
	switch n.Kind {
	case yaml.SequenceNode:
		var out []reference
		for _, c := range n.Content {
			out = append(out, references(c)...)
		}
		return out
	case yaml.MappingNode:
		title, url := get(n, "title", "name"), get(n, "href", "url")
		if title == nil && url == nil {
			return nil
		}
		return []reference{{word(title), word(url)}}
	}
	if s := word(n); strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") {
		return []reference{{"", s}}
	} else if s != "" {
		return []reference{{s, ""}}
	}
	return nil
}

// The members of a bracket in the order in which a scale is written.
var bracketParts = []string{"threshold", "rate", "average_rate", "amount"}

// bracketPath is the path of one component of a scale, in the spellings in use.
var bracketPath = regexp.MustCompile(`^(.+?)(?:\.brackets)?(?:\[[0-9]+\]|\.[0-9]+)(?:\.(threshold|rate|average_rate|amount))?$`)

// component is one member of one bracket with its own history.
type component struct {
	bracket int
	name    string
	history []dated
}

// scale reads brackets as one parameter whose values are whole scales: one for each day on which any component changes (VF-I-09).
func (r *parameterReader) scale(n *yaml.Node, at string, line int) series {
	s := r.describe(n, at, line, "rate_unit", "amount_unit", "unit")
	brackets := get(n, "brackets")
	if brackets.Kind != yaml.SequenceNode || len(brackets.Content) == 0 || len(brackets.Content) > 100 {
		s.problem = shapeProblem("brackets is no list of 1 to 100 brackets")
		return s
	}
	var parts []component
	days := map[facts.Date]bool{}
	for i, b := range brackets.Content {
		for name, v := range members(b) {
			if !slices.Contains(bracketParts, name) {
				s.problem = shapeProblem("a bracket has the member %q", clip(name))
				return s
			}
			unit := s.unit
			if name == "threshold" {
				unit = s.thresholdUnit
			}
			history, p := r.history(v, unit)
			if p != nil {
				s.problem = p
				return s
			}
			for _, d := range history {
				days[d.from] = true
			}
			parts = append(parts, component{i, name, history})
		}
	}
	if len(days) > 1000 {
		s.problem = shapeProblem("the scale changes on more than 1,000 days")
		return s
	}
	for day := range days {
		s.values = append(s.values, scaleOn(parts, day, line))
	}
	slices.SortFunc(s.values, func(a, b dated) int { return int(a.from) - int(b.from) })
	return s
}

// scaleOn is the whole scale in force on a day. Its source is a page that every component cites for its own value.
func scaleOn(parts []component, day facts.Date, line int) dated {
	out := dated{line: line, from: day, value: literal{kind: list}}
	last, first := -1, true
	var bracket *literal
	for _, c := range parts {
		i := len(c.history) - 1
		for i >= 0 && c.history[i].from > day {
			i--
		}
		if i < 0 || c.history[i].value.kind == null && c.history[i].problem == nil {
			continue
		}
		d := c.history[i]
		out.floor = out.floor || d.floor && d.from == day
		if out.problem = d.problem; out.problem != nil {
			return out
		}
		if c.bracket != last {
			out.value.items = append(out.value.items, literal{kind: object})
			bracket, last = &out.value.items[len(out.value.items)-1], c.bracket
		}
		bracket.names, bracket.items = append(bracket.names, c.name), append(bracket.items, d.value)
		withURL := slices.DeleteFunc(slices.Clone(d.refs), func(r reference) bool { return r.url == "" })
		if len(withURL) == 0 {
			out.problem = &problem{ruleURL, "a component of the scale has no URL of its own", "cite the page at every component upstream"}
			return out
		}
		if first {
			out.refs, first = withURL, false
			continue
		}
		out.refs = slices.DeleteFunc(out.refs, func(r reference) bool {
			return !slices.ContainsFunc(withURL, func(o reference) bool { return o.url == r.url })
		})
	}
	switch incomplete := slices.ContainsFunc(out.value.items, func(b literal) bool { return len(b.names) < 2 || !slices.Contains(b.names, "threshold") }); {
	case len(out.value.items) == 0:
		out.value = literal{kind: null}
	case incomplete:
		out.problem = &problem{ruleBracket, "a bracket of the scale has a threshold without a rate, or a rate without a threshold", "take the scale whole or not at all: leave it out of the mapping"}
	case len(out.refs) == 0:
		out.problem = &problem{ruleBracket, "no one page is cited for the whole scale", "take the scale whole or not at all: leave it out of the mapping"}
	}
	return out
}
