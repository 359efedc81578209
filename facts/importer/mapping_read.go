package importer

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sayso/facts"
	"sayso/facts/dataset"
	"sayso/facts/dataset/yamlx"
	"sayso/report"
)

// The members that a parameter, and the defaults, may have in a mapping of each kind.
var (
	sharedMembers  = []string{"sourceType", "method"}
	parameterOwn   = []string{"unit", "scope", "aliases", "synonyms"}
	kindParameters = map[Kind][]string{
		OpenFisca:    slices.Concat(parameterOwn, sharedMembers, []string{"upstreamUnit", "checked", "history", "period", "yearStarts", "format", "decimals"}),
		SmartAnswers: slices.Concat(parameterOwn, sharedMembers, []string{"upstreamUnit", "source", "period", "yearStarts", "format", "decimals"}),
		EndOfLife:    slices.Concat(parameterOwn, sharedMembers, []string{"source", "split"}),
	}
	kindDefaults = map[Kind][]string{
		OpenFisca:    slices.Concat(sharedMembers, []string{"checked", "history", "period", "yearStarts", "format", "decimals"}),
		SmartAnswers: slices.Concat(sharedMembers, []string{"period", "yearStarts", "format", "decimals"}),
		EndOfLife:    sharedMembers,
		CSV:          slices.Concat(sharedMembers, []string{"format", "decimals"}),
	}
)

// ParseMapping reads a mapping file strictly; file is the name for its places. Every error is a *MappingError with all that is wrong.
func ParseMapping(file string, data []byte) (*Mapping, error) {
	r := &mappingReader{file: file}
	root, err := yamlx.Parse(data)
	if err != nil {
		var at *yamlx.Error
		errors.As(err, &at)
		r.add(at.Line, at.Col, at.Message, at.Next)
		return nil, &MappingError{r.findings}
	}
	m := r.mapping(root)
	if len(r.findings) > 0 {
		return nil, &MappingError{r.findings}
	}
	return m, nil
}

type mappingReader struct {
	file     string
	findings []report.Finding
}

func (r *mappingReader) add(line, col int, message, next string) {
	r.findings = append(r.findings, report.Finding{Rule: ruleMapping, Outcome: report.Fail, Place: fmt.Sprintf("%s:%d:%d", r.file, line, col), Message: message, Next: next})
}

func (r *mappingReader) refuse(n *yamlx.Node, message, next string) {
	r.add(n.Line, n.Col, message, next)
}

// known checks that n is a mapping with the required members and no unknown ones.
func (r *mappingReader) known(n *yamlx.Node, what string, required, optional []string) bool {
	if n.Kind != yamlx.Map {
		r.refuse(n, what+" is "+n.Kind.String(), "write its members as a mapping")
		return false
	}
	all := slices.Concat(required, optional)
	for _, m := range n.Members {
		if !slices.Contains(all, m.Name) {
			r.add(m.Line, m.Col, fmt.Sprintf("unknown member %q of %s", clip(m.Name), what), "the known members are "+strings.Join(all, ", "))
		}
	}
	for _, name := range required {
		if n.Get(name) == nil {
			r.refuse(n, fmt.Sprintf("%s has no %s", what, name), "add the member "+name)
		}
	}
	return true
}

// text reads a member as one line of text, "" when it is absent or wrong.
func (r *mappingReader) text(n *yamlx.Node, name string, limit int) string {
	v := n.Get(name)
	if v == nil {
		return ""
	}
	return r.scalar(v, name, limit)
}

func (r *mappingReader) scalar(v *yamlx.Node, name string, limit int) string {
	switch {
	case v.Kind != yamlx.String:
		r.refuse(v, fmt.Sprintf("%s is %s, not text", name, v.Kind), "write text, in quotes when it looks like a number")
	case strings.TrimSpace(v.Text) == "" || utf8.RuneCountInString(v.Text) > limit:
		r.refuse(v, fmt.Sprintf("%s is empty or longer than %d characters", name, limit), "write 1 to "+strconv.Itoa(limit)+" characters")
	case !plainText(v.Text):
		r.refuse(v, name+" holds a control character", "remove it")
	default:
		return v.Text
	}
	return ""
}

func (r *mappingReader) choice(n *yamlx.Node, name string, values ...string) string {
	s := r.text(n, name, 40)
	if s != "" && !slices.Contains(values, s) {
		r.refuse(n.Get(name), fmt.Sprintf("%s: %q is none of %s", name, clip(s), strings.Join(values, ", ")), "choose one of them")
		return ""
	}
	return s
}

func (r *mappingReader) items(n *yamlx.Node, name string) []*yamlx.Node {
	v := n.Get(name)
	if v == nil {
		return nil
	}
	if v.Kind != yamlx.Seq {
		r.refuse(v, fmt.Sprintf("%s is %s, not a list", name, v.Kind), "write a list")
		return nil
	}
	return v.Items
}

func (r *mappingReader) mapping(root *yamlx.Node) *Mapping {
	m := NewMapping("")
	m.file = r.file
	if root.Kind == yamlx.Map {
		m.Kind = Kind(r.choice(root, "kind", "openfisca", "smart-answers", "endoflife", "csv"))
	}
	required, optional := []string{"format", "kind", "parameters"}, []string{"defaults", "refuse", "floors", "topics"}
	switch m.Kind {
	case CSV:
		required, optional = []string{"format", "kind"}, []string{"defaults", "topics"}
	case SmartAnswers, EndOfLife:
		optional = []string{"defaults", "refuse", "topics"}
	}
	if !r.known(root, "the mapping file", required, optional) {
		return nil
	}
	r.choice(root, "format", MappingFormat)
	if n := root.Get("defaults"); n != nil && r.known(n, "defaults", nil, kindDefaults[m.Kind]) {
		r.shared(n, &m.defaults)
	}
	for _, n := range r.items(root, "refuse") {
		if r.known(n, "a refused folder", []string{"path", "reason"}, nil) {
			m.refuse = append(m.refuse, refusedFolder{r.text(n, "path", 500), r.text(n, "reason", 200)})
		}
	}
	for _, n := range r.items(root, "floors") {
		day := r.scalar(n, "a floor", 10)
		if _, err := facts.ParseDate(day); day != "" && err != nil {
			r.refuse(n, fmt.Sprintf("floor %q is no date", day), "write a day as YYYY-MM-DD")
		}
		m.floors = append(m.floors, day)
	}
	r.topics(root, m)
	if n := root.Get("parameters"); n != nil && m.Kind != CSV {
		r.parameters(n, m)
	}
	return m
}

func (r *mappingReader) topics(root *yamlx.Node, m *Mapping) {
	for _, n := range r.items(root, "topics") {
		if !r.known(n, "a topic", []string{"prefix", "title", "area"}, nil) {
			continue
		}
		t := topic{r.text(n, "prefix", facts.MaxKeyBytes), r.text(n, "title", 120), r.text(n, "area", 80)}
		if p := n.Get("prefix"); p != nil {
			// A prefix has the form of the keys below it, so that it is a file name too.
			if err := facts.CheckKey(t.prefix + "/x"); t.prefix != "" && err != nil {
				r.refuse(p, fmt.Sprintf("prefix %q cannot begin a key", clip(t.prefix)), err.Error())
			}
			if slices.ContainsFunc(m.topics, func(o topic) bool { return o.prefix == t.prefix }) {
				r.refuse(p, fmt.Sprintf("prefix %q stands twice", clip(t.prefix)), "keep one of the topics")
			}
		}
		m.topics = append(m.topics, t)
	}
}

func (r *mappingReader) parameters(n *yamlx.Node, m *Mapping) {
	if n.Kind != yamlx.Map {
		r.refuse(n, "parameters is "+n.Kind.String(), "write one member for each upstream path")
		return
	}
	for _, member := range n.Members {
		e := m.defaults
		e.path, e.line = member.Name, member.Line
		if member.Name == "" || !plainText(member.Name) || utf8.RuneCountInString(member.Name) > 500 {
			r.add(member.Line, member.Col, "an upstream path is empty, longer than 500 characters or holds control characters", "copy it from the upstream tree")
			continue
		}
		if r.parameter(member.Value, m.Kind, &e) {
			m.entries = append(m.entries, e)
		}
	}
}

func (r *mappingReader) parameter(n *yamlx.Node, kind Kind, e *entry) bool {
	if !r.known(n, "a parameter", []string{"key", "label"}, kindParameters[kind]) {
		return false
	}
	r.shared(n, e)
	e.key, e.label, e.scope = r.text(n, "key", 400), r.text(n, "label", 120), r.text(n, "scope", 200)
	if u := n.Get("unit"); u != nil {
		e.hasUnit = true
		if u.Kind != yamlx.Null {
			e.unit = r.text(n, "unit", 40)
		}
	}
	e.upstreamUnit = r.text(n, "upstreamUnit", 80)
	for _, a := range r.items(n, "aliases") {
		alias := r.scalar(a, "an alias", facts.MaxKeyBytes)
		if err := facts.CheckAlias(alias); alias != "" && err != nil {
			r.refuse(a, fmt.Sprintf("alias %q is none", clip(alias)), err.Error())
		}
		if slices.Contains(e.aliases, alias) {
			r.refuse(a, fmt.Sprintf("alias %q stands twice", clip(alias)), "keep one")
		}
		e.aliases = append(e.aliases, alias)
	}
	r.synonyms(n, e)
	if s := n.Get("source"); s != nil {
		e.source = r.text(n, "source", facts.MaxSourceBytes)
		if normal, ok := facts.NormalizeSource(e.source); e.source != "" && !ok {
			next := "write the https address of the page that states the figure"
			if normal != "" {
				next = "write " + normal
			}
			r.refuse(s, "source is no https URL in normal form", next)
		}
	}
	if kind == EndOfLife {
		r.releases(n, e)
	}
	return true
}

func (r *mappingReader) synonyms(n *yamlx.Node, e *entry) {
	v := n.Get("synonyms")
	if v == nil {
		return
	}
	if v.Kind != yamlx.Map {
		r.refuse(v, "synonyms is "+v.Kind.String(), "write phrase: segment for each")
		return
	}
	for _, s := range v.Members {
		if strings.TrimSpace(s.Name) == "" || !plainText(s.Name) {
			r.add(s.Line, s.Col, "a synonym is empty or holds control characters", "write the words people use")
			continue
		}
		e.synonyms = append(e.synonyms, dataset.Synonym{Phrase: s.Name, Segment: r.scalar(s.Value, "the segment of a synonym", 200)})
	}
}

// releases checks the members of an endoflife entry: a pattern and its templates belong together, and so do two types of one field.
func (r *mappingReader) releases(n *yamlx.Node, e *entry) {
	_, _, pattern := e.pattern()
	if key := n.Get("key"); key != nil && pattern != strings.Contains(e.key, releaseMark) {
		r.refuse(key, "a path with /*/ and a key with "+releaseMark+" belong together", "write both or neither: each release needs a key of its own")
	}
	s := n.Get("split")
	if s == nil || !r.known(s, "split", []string{"key", "label", "unit"}, nil) {
		return
	}
	other := *e
	other.split, other.synonyms, other.aliases = nil, nil, nil
	other.key, other.label, other.unit, other.hasUnit = r.text(s, "key", 400), r.text(s, "label", 120), r.text(s, "unit", 40), true
	if pattern != strings.Contains(other.key, releaseMark) {
		r.refuse(s, "the key of split and the path do not fit", "a path with /*/ needs "+releaseMark+" in both keys")
	}
	if units := []string{e.unit, other.unit}; !slices.Contains(units, "date") || !slices.Contains(units, "rule") {
		r.refuse(s, "split separates dates from true and false", "give one of the two keys unit: date and the other unit: rule")
	}
	e.split = &other
}

var monthDay = regexp.MustCompile(`^(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])$`)

// shared reads the members that defaults and parameters have in common; what is absent keeps its default.
func (r *mappingReader) shared(n *yamlx.Node, e *entry) {
	set := func(target *string, s string) {
		if s != "" {
			*target = s
		}
	}
	set(&e.sourceType, r.choice(n, "sourceType", dataset.SourceAuthority, dataset.SourceMethodology, dataset.SourceDerived))
	set(&e.method, r.text(n, "method", 500))
	if (e.sourceType == dataset.SourceDerived || e.sourceType == dataset.SourceMethodology) && e.method == "" {
		r.refuse(n, "sourceType "+e.sourceType+" has no method", "add method: one line or a URL that says how the figure came about")
	}
	if s := r.choice(n, "checked", "required", "optional"); s != "" {
		e.checked = s == "required"
	}
	if s := r.choice(n, "history", "full", "previous"); s != "" {
		e.history = s == "full"
	}
	if s := r.choice(n, "period", "calendar", "none"); s != "" {
		e.standing = s == "none"
	}
	if s := r.text(n, "yearStarts", 5); s != "" {
		if e.yearStarts = s; !monthDay.MatchString(s) {
			r.refuse(n.Get("yearStarts"), fmt.Sprintf("yearStarts %q is no day of a year", s), "write MM-DD, such as 04-01")
		}
	}
	if s := r.choice(n, "format", slices.Sorted(maps.Keys(groupings))...); s != "" {
		e.format = s
	}
	if v := n.Get("decimals"); v != nil {
		places, err := strconv.Atoi(v.Text)
		if v.Kind != yamlx.Number || err != nil || places < 0 || places > 15 {
			r.refuse(v, "decimals is no whole number from 0 to 15", "write how many the source prints at most")
		}
		e.decimals = places
	}
}
