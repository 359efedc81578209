package dataset

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"sayso/facts"
	"sayso/facts/dataset/yamlx"
)

// editor collects the new content of files, topic files first.
type editor struct {
	*work
	files []fileEdit
	data  map[string][]byte
	steps *steps
}

// current is the content of a file after the edits so far.
func (e *editor) current(name string) ([]byte, error) {
	if data, ok := e.data[name]; ok {
		return data, nil
	}
	return e.read(name)
}

func (e *editor) put(name string, data []byte) {
	e.data[name] = data
	for i := range e.files {
		if e.files[i].name == name {
			e.files[i].data = data
			return
		}
	}
	e.files = append(e.files, fileEdit{name, data})
}

func (e *editor) change(name string, edit func([]byte) ([]byte, error)) error {
	data, err := e.current(name)
	if err != nil {
		return err
	}
	if data, err = edit(data); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	e.put(name, data)
	return nil
}

// topicNow is the topic as the edits so far leave it.
func (e *editor) topicNow(name string) (*Topic, error) {
	data, err := e.current(name)
	if err != nil {
		return nil, err
	}
	root, err := yamlx.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	d := &decoder{findings: &findings{}, file: name}
	t := d.topic(root)
	return &t, nil
}

// insertValue puts a dated value into a fact's history, newest first.
func (e *editor) insertValue(file, key string, v *Value) error {
	t, err := e.topicNow(file)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(t.Facts, func(f Fact) bool { return f.Key == key })
	if i < 0 {
		return fmt.Errorf("%s: no fact %s", file, key)
	}
	f := &t.Facts[i]
	at := 0
	for at < len(f.Values) && f.Values[at].start() > v.start() {
		at++
	}
	if at < len(f.Values) && f.Values[at].start() == v.start() {
		if held := facts.ClaimOf(key, &f.Values[at].DatedValue); held == facts.ClaimOf(key, &v.DatedValue) && f.Values[at].Verified == v.Verified {
			return nil // an interrupted act had come this far
		}
		return &Error{Kind: Refused, Message: fmt.Sprintf("%s already holds a value from %s", key, spanText(v)),
			Next: "correct that one with facts set --correction"}
	}
	list := yamlx.Path{"facts", f.index, "values"}
	return e.change(file, func(b []byte) ([]byte, error) { return yamlx.InsertItem(b, list, at, valueBlock(v, f.Unit)) })
}

// withdrawFact ends the value that would have run on and puts the withdrawal above it.
func (e *editor) withdrawFact(r *reading) error {
	for i := range r.fact.Values {
		v := &r.fact.Values[i]
		if v.To < r.value.From {
			continue
		}
		path := yamlx.Path{"facts", r.fact.index, "values", v.index}
		end := (r.value.From - 1).String()
		if err := e.change(r.topic.File, func(b []byte) ([]byte, error) { return yamlx.SetMember(b, path, "effectiveTo", end) }); err != nil {
			return err
		}
	}
	return e.insertValue(r.topic.File, r.fact.Key, r.value)
}

// home is the topic that covers a key: the one with the longest prefix, or the candidate file's own as a new file.
func (w *work) home(candidate *Topic, key string) (*Topic, error) {
	var best *Topic
	for i := range w.folder.Topics {
		t := &w.folder.Topics[i]
		if covers(t.Prefix, key) && (best == nil || len(t.Prefix) > len(best.Prefix)) {
			best = t
		}
	}
	if best != nil && (candidate.Prefix == "" || len(best.Prefix) >= len(candidate.Prefix)) {
		return best, nil
	}
	made := &Topic{Prefix: candidate.Prefix, Title: candidate.Title, Area: candidate.Area, Synonyms: candidate.Synonyms}
	if made.Prefix == "" {
		if best != nil {
			return best, nil
		}
		var err error
		if made, err = w.newTopic(key); err != nil {
			return nil, err
		}
	}
	made.File = path.Join(topicsDir, made.Prefix+".yaml")
	return made, nil
}

func covers(prefix, key string) bool {
	return prefix != "" && (key == prefix || strings.HasPrefix(key, prefix+"/"))
}

// newTopic is the topic of a key that no file covers: the key without its last segment, in the only area of its namespace.
func (w *work) newTopic(key string) (*Topic, error) {
	t := &Topic{Prefix: key}
	if i := strings.LastIndexByte(key, '/'); strings.Count(key, "/") > 1 {
		t.Prefix = key[:i]
	}
	words := strings.ReplaceAll(path.Base(t.Prefix), "-", " ")
	t.Title = strings.ToUpper(words[:1]) + words[1:]
	for _, a := range w.folder.Publisher.Areas {
		if a.Namespace != facts.KeyNamespace(key) {
			continue
		}
		if t.Area != "" {
			t.Area = ""
			break
		}
		t.Area = a.Name
	}
	if t.Area == "" {
		return nil, &Error{Kind: Refused, Message: fmt.Sprintf("no topic covers %s, and its namespace does not have exactly one area", key),
			Next: "write the topic (prefix, title, area) into the candidate file"}
	}
	return t, nil
}

// move takes confirmed candidates out of their file and puts them into the topics that cover them.
func (e *editor) move(source *Topic, list []*reading) error {
	made := map[string]*Topic{}
	var order []string
	for _, r := range list {
		home, err := e.home(source, r.fact.Key)
		if err != nil {
			return err
		}
		v := *r.value
		v.Verified = r.on
		if data, err := e.current(home.File); err != nil {
			return err
		} else if data != nil {
			if err := e.moveInto(home.File, r.fact, &v); err != nil {
				return err
			}
			e.steps.add()
			continue
		}
		t := made[home.File]
		if t == nil {
			t = &Topic{Prefix: home.Prefix, Title: home.Title, Area: home.Area, Synonyms: home.Synonyms}
			made[home.File] = t
			order = append(order, home.File)
		}
		t.add(r.fact, &v)
		e.steps.add()
	}
	for _, file := range order {
		e.put(file, AppendTopic(nil, made[file]))
	}
	return e.takeOut(source, list)
}

// add puts a value into a topic that is being made.
func (t *Topic) add(f *Fact, v *Value) {
	i := slices.IndexFunc(t.Facts, func(o Fact) bool { return o.Key == f.Key })
	if i < 0 {
		i = len(t.Facts)
		fact := *f
		fact.Values = nil
		t.Facts = append(t.Facts, fact)
	}
	at := 0
	for at < len(t.Facts[i].Values) && t.Facts[i].Values[at].start() > v.start() {
		at++
	}
	t.Facts[i].Values = slices.Insert(t.Facts[i].Values, at, *v)
}

// moveInto puts a value into an existing topic file, with its fact when the file does not have it.
func (e *editor) moveInto(file string, f *Fact, v *Value) error {
	t, err := e.topicNow(file)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(t.Facts, func(o Fact) bool { return o.Key == f.Key }) {
		return e.insertValue(file, f.Key, v)
	}
	fact := *f
	fact.Values = []Value{*v}
	return e.change(file, func(b []byte) ([]byte, error) {
		return yamlx.InsertItem(b, yamlx.Path{"facts"}, len(t.Facts), factBlock(&fact, t.Prefix))
	})
}

// takeOut removes values from their candidate file, facts without value with them, and the file when nothing is left.
func (e *editor) takeOut(source *Topic, list []*reading) error {
	gone := map[*Value]bool{}
	for _, r := range list {
		gone[r.value] = true
	}
	left := 0
	for i := range source.Facts {
		for j := range source.Facts[i].Values {
			if !gone[&source.Facts[i].Values[j]] {
				left++
			}
		}
	}
	if left == 0 {
		e.put(source.File, nil)
		return nil
	}
	for i := len(source.Facts) - 1; i >= 0; i-- {
		f := &source.Facts[i]
		removed := 0
		for j := range f.Values {
			if gone[&f.Values[j]] {
				removed++
			}
		}
		if removed > 0 && removed == len(f.Values) {
			if err := e.removeItem(source.File, yamlx.Path{"facts"}, f.index); err != nil {
				return err
			}
			continue
		}
		for j := len(f.Values) - 1; j >= 0 && removed > 0; j-- {
			if gone[&f.Values[j]] {
				if err := e.removeItem(source.File, yamlx.Path{"facts", f.index, "values"}, f.Values[j].index); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (e *editor) removeItem(file string, list yamlx.Path, i int) error {
	return e.change(file, func(b []byte) ([]byte, error) { return yamlx.RemoveItem(b, list, i) })
}
