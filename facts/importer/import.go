package importer

import (
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"sayso/facts"
	"sayso/facts/dataset"
)

// Result is what an import gives: files to write, and what a person should read first.
type Result struct {
	Files  []File // by path; empty when nothing was taken
	Report *Report
}

// File is one candidate file, its path relative to the publisher's folder.
type File struct {
	Path string
	Data []byte
}

// Import reads an upstream tree by a mapping of kind OpenFisca, SmartAnswers or EndOfLife. The error says that nothing could be imported at all (a tree
// that cannot be read or is beyond the bounds, options that do not fit); everything else, every refusal included, stands in the report.
func Import(src fs.FS, m *Mapping, o Options) (*Result, error) {
	t, err := newTaker(m, o)
	if err != nil {
		return nil, err
	}
	all, err := t.read(src)
	if err != nil {
		return nil, err
	}
	t.parameters(all)
	return t.result(), nil
}

// taker applies the mapping and the rules to what a reader found.
type taker struct {
	m      *Mapping
	o      Options
	report *Report
	taken  []taken

	heldFacts  map[string]*dataset.Fact // of the folder's topic files, by key
	candidates map[string]string        // keys that wait in candidate files of others -> file
}

// taken is a fact that became a candidate.
type taken struct {
	fact     dataset.Fact
	synonyms []dataset.Synonym
}

func newTaker(m *Mapping, o Options) (*taker, error) {
	if o.Today.IsZero() || o.Folder == nil {
		return nil, fmt.Errorf("the day and the publisher's folder are needed: the rules ask both")
	}
	t := &taker{m: m, o: o, report: &Report{Kind: m.Kind}, heldFacts: map[string]*dataset.Fact{}, candidates: map[string]string{}}
	for i := range o.Folder.Topics {
		topic := &o.Folder.Topics[i]
		for j := range topic.Facts {
			t.heldFacts[topic.Facts[j].Key] = &topic.Facts[j]
		}
	}
	own := candidatesDir + "/" + string(m.Kind) + "/"
	for i := range o.Folder.Candidates {
		topic := &o.Folder.Candidates[i]
		if strings.HasPrefix(topic.File, own) {
			continue // this import's own files, written anew
		}
		for j := range topic.Facts {
			t.candidates[topic.Facts[j].Key] = topic.File
		}
	}
	return t, nil
}

func (t *taker) read(src fs.FS) ([]series, error) {
	switch t.m.Kind {
	case OpenFisca:
		return t.openFisca(src)
	case SmartAnswers:
		return t.smartAnswers(src)
	case EndOfLife:
		return t.endOfLife(src)
	}
	return nil, fmt.Errorf("kind %s is no tree: give the file itself", t.m.Kind)
}

// pair is a mapped parameter: what the mapping says and what upstream holds.
type pair struct {
	entry  entry
	series *series
}

// parameters matches the mapping with the upstream parameters and takes what the rules allow.
func (t *taker) parameters(all []series) {
	index := make(map[string]*series, len(all))
	for i := range all {
		s := &all[i]
		if other := index[s.path]; other != nil {
			other.problem = shapeProblem("the path stands in %s and in %s", other.file, s.file)
			continue
		}
		index[s.path] = s
	}
	pairs := t.match(all, index)
	t.report.Mapped += len(pairs)
	keys := make(map[string]*entry, len(pairs))
	for i := range pairs {
		e := &pairs[i].entry
		if other := keys[e.key]; other != nil {
			e.collidesWith, other.collidesWith = other.path, e.path
			continue
		}
		keys[e.key] = e
	}
	for i := range pairs {
		t.parameter(&pairs[i].entry, pairs[i].series)
	}
}

// match finds the upstream parameter of every entry, and of a pattern those of every release. It counts what the mapping leaves out.
func (t *taker) match(all []series, index map[string]*series) []pair {
	var out []pair
	exact := map[string]bool{}
	for i := range t.m.entries {
		exact[t.m.entries[i].path] = true
	}
	mapped := map[string]bool{}
	for i := range t.m.entries {
		e := &t.m.entries[i]
		found := false
		if product, field, ok := e.pattern(); ok && t.m.Kind == EndOfLife {
			for j := range all {
				if name, ok := releaseOf(all[j].path, product, field); ok && !exact[all[j].path] {
					found, mapped[all[j].path] = true, true
					out = append(out, pair{e.release(all[j].path, name), &all[j]})
				}
			}
		} else if s := index[e.path]; s != nil {
			found, mapped[e.path] = true, true
			out = append(out, pair{*e, s})
		}
		if !found {
			t.report.Mapped++
			t.absent(e, index)
		}
	}
	for path := range index {
		switch {
		case mapped[path]:
		case t.m.refused(path) != nil:
			t.report.Excluded++
		default:
			t.report.Unmapped++
		}
	}
	if t.m.Kind == EndOfLife {
		t.splitTypes(out, all)
	}
	return out
}

// releaseOf is the release in a path product/release/field.
func releaseOf(path, product, field string) (string, bool) {
	rest, ok := strings.CutPrefix(path, product+"/")
	if !ok {
		return "", false
	}
	name, ok := strings.CutSuffix(rest, "/"+field)
	return name, ok && name != ""
}

// absent reports a mapped path that is no parameter upstream; a component of a scale has a rule of its own.
func (t *taker) absent(e *entry, index map[string]*series) {
	p := &problem{ruleAbsent, "no upstream parameter has this path", "copy it from the tree, or let a mapping be suggested; a file that cannot be read is named under " + ruleUnreadable}
	if m := bracketPath.FindStringSubmatch(e.path); m != nil && t.m.Kind == OpenFisca && index[m[1]] != nil {
		p = &problem{ruleBracket, "the path is one bracket of a scale, which says nothing without the others", "map the whole scale: " + m[1]}
	}
	t.refuse(e, &series{path: e.path, file: t.m.file, line: e.line}, nil, p)
}

// splitTypes gives every release the key of its type. A field that is a date for some releases and true or false for others is two figures (VF-I-19).
func (t *taker) splitTypes(pairs []pair, all []series) {
	kinds := map[string]kind{} // product and field -> the one kind; list when there are several
	for i := range all {
		id := fieldOf(all[i].path)
		k := all[i].values[0].value.kind
		if other, seen := kinds[id]; seen && other != k {
			k = list
		}
		kinds[id] = k
	}
	for i := range pairs {
		e, s := &pairs[i].entry, pairs[i].series
		isBool := s.values[0].value.kind == boolean
		wrong := isBool && e.unit == "date" || !isBool && e.unit == "rule"
		switch {
		case wrong && e.split != nil:
			*e = *e.split
		case wrong || e.unit != "date" && e.unit != "rule" && kinds[fieldOf(s.path)] == list:
			s.problem = &problem{ruleType, fmt.Sprintf("the field is %s here and something else for other releases, or than its unit says", s.values[0].value.kind),
				"give each type a key of its own with split, or leave the release out"}
		}
	}
}

// fieldOf is a path product/release/field without the release.
func fieldOf(path string) string {
	product, rest, _ := strings.Cut(path, "/")
	return product + rest[strings.LastIndexByte(rest, '/'):]
}

func (t *taker) refuse(e *entry, s *series, d *dated, p *problem) {
	t.report.Refused = append(t.report.Refused, finding(e, s, d, p))
}

func (t *taker) note(e *entry, s *series, d *dated, p *problem) {
	t.report.Notes = append(t.report.Notes, finding(e, s, d, p))
}

func finding(e *entry, s *series, d *dated, p *problem) Finding {
	f := Finding{Rule: p.rule, Path: s.path, Key: e.key, File: s.file, Line: s.line, Message: p.message, Next: p.next}
	if d != nil {
		f.From = d.from
		if d.line > 0 {
			f.Line = d.line
		}
	}
	return f
}

// key checks VF-I-18.
func (t *taker) key(e *entry) (*facts.Namespace, *problem) {
	if err := facts.CheckKey(e.key); err != nil {
		next := "write a key of two to six segments"
		if e.marker != "" {
			next = fmt.Sprintf("map the path by itself with a key such as %s", strings.ReplaceAll(e.key, e.marker, slug(e.marker)))
		}
		return nil, &problem{ruleKey, fmt.Sprintf("%q is no key: %v", clip(e.key), err), next}
	}
	ns := t.o.namespace(e.key)
	switch {
	case utf8.RuneCountInString(e.label) > 120:
		return nil, &problem{ruleShape, "the label with the name of the release has more than 120 characters", "shorten the label in the mapping"}
	case ns == nil:
		return nil, &problem{ruleKey, fmt.Sprintf("namespace %q is not declared", facts.KeyNamespace(e.key)), "declare it in publisher.yaml with its authorities and its calendar"}
	case e.collidesWith != "":
		return nil, &problem{ruleKey, fmt.Sprintf("key %s is also that of %s", e.key, clip(e.collidesWith)), "give each parameter a key of its own"}
	}
	if file := t.candidates[e.key]; file != "" {
		return nil, &problem{ruleKey, fmt.Sprintf("%s is a candidate already in %s", e.key, file), "confirm that candidate or remove it, then import again"}
	}
	return ns, nil
}
