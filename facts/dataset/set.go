package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sayso/facts"
	"sayso/facts/dataset/yamlx"
)

// SetOptions are a new dated value.
type SetOptions struct {
	Key, Period, Value, Unit  string // Value as typed; Unit "" is the fact's
	From, To                  facts.Date
	Source, SourceFile, Quote string
	SourceType, Method        string
	Correction                bool // replace the value of the same period and first day, which was wrong
}

// SetResult says what Set did.
type SetResult struct {
	Key       string      `json:"key"`
	Period    string      `json:"period,omitempty"`
	Value     facts.Value `json:"value"`
	File      string      `json:"file"`
	Unchanged bool        `json:"unchanged,omitzero"` // the same value was there already
}

// Set adds a dated value to a fact as a draft, without verifiedDate (F§10.3). A draft of the same period and first day is replaced; a confirmed one only
// with Correction, after which it is a draft and the folder does not lint until it is confirmed.
func Set(dir string, o SetOptions) (*SetResult, error) {
	w, done, err := begin(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	return w.set(o)
}

func (w *work) set(o SetOptions) (*SetResult, error) {
	topic, fact := w.folder.Find(o.Key)
	if fact == nil {
		_, err := w.choose(o.Key, "")
		if err == nil {
			return nil, &Error{Kind: Refused, Message: o.Key + " is a candidate", Next: "confirm it first, or edit the candidate file"}
		}
		return nil, newFigure(err)
	}
	v := Value{DatedValue: facts.DatedValue{Unit: fact.Unit, Period: o.Period, From: o.From, To: o.To, Source: o.Source, SourceFile: o.SourceFile, Quote: o.Quote,
		SourceType: o.SourceType, Method: o.Method}}
	if o.Unit != "" {
		v.Unit = o.Unit
	}
	var err error
	if v.Value, err = typedValue(o.Value, fact); err != nil {
		return nil, err
	}
	if o.Source == "" {
		return nil, &Error{Kind: Usage, Message: "no source is named", Next: "name the page that states the figure with --source"}
	}
	result := &SetResult{Key: o.Key, Period: o.Period, Value: v.Value, File: topic.File}
	e := &editor{work: w, data: map[string][]byte{}}
	old := slices.IndexFunc(fact.Values, func(x Value) bool { return x.Period == v.Period && x.start() == v.start() })
	switch {
	case old < 0:
		err = e.insertValue(topic.File, o.Key, &v)
	case valueBlock(&fact.Values[old], fact.Unit) == valueBlock(&v, fact.Unit),
		!fact.Values[old].Draft() && facts.ClaimOf(o.Key, &fact.Values[old].DatedValue) == facts.ClaimOf(o.Key, &v.DatedValue):
		result.Unchanged = true
		return result, nil
	case !fact.Values[old].Draft() && !o.Correction:
		err = &Error{Kind: Refused, Message: fmt.Sprintf("%s already holds a confirmed value for %s", o.Key, spanText(&v)),
			Next: "if that value was wrong, set it with --correction"}
	default:
		err = e.replaceValue(topic.File, fact, old, &v)
	}
	if err != nil {
		return nil, err
	}
	return result, w.writeDraft(topic.File, e.data[topic.File], o.Key)
}

// newFigure says how a figure that no topic file holds gets there: set adds values, a person writes the figure.
func newFigure(err error) error {
	var missing *Error
	if !errors.As(err, &missing) || missing.Kind != NotFound {
		return err
	}
	out := *missing
	out.Next = "a new figure is written by hand into a topic file below topics/, with key, label, unit and values: []; then set adds its value"
	if strings.HasPrefix(missing.Next, "did you mean ") {
		out.Next = missing.Next + " " + out.Next
	}
	return &out
}

// writeDraft writes a topic file unless the changed fact would break a rule about values.
func (w *work) writeDraft(file string, data []byte, key string) error {
	if err := w.checkFile(file, data); err != nil {
		return err
	}
	root, err := yamlx.Parse(data)
	if err != nil {
		return err
	}
	changed := *w.folder
	d := &decoder{findings: &findings{}, file: file}
	t := d.topic(root)
	i := slices.IndexFunc(t.Facts, func(f Fact) bool { return f.Key == key })
	l := &linter{folder: &changed, today: facts.MaxDate}
	v := &valueLinter{linter: l, findings: &findings{}, topic: &t, fact: &t.Facts[i]}
	for j := range changed.Publisher.Namespaces {
		if changed.Publisher.Namespaces[j].Name == facts.KeyNamespace(key) {
			v.namespace = &changed.Publisher.Namespaces[j]
		}
	}
	v.check()
	if r := newReport(v.findings.list, false); r.Failed() {
		return &FolderError{r}
	}
	return w.write(file, data)
}

// typedValue reads a typed value in the JSON type of the fact's history.
func typedValue(typed string, f *Fact) (facts.Value, error) {
	kind := ""
	for i := range f.Values {
		if k := f.Values[i].Value.Kind(); f.Values[i].Value != facts.Null {
			kind = k
			break
		}
	}
	v, err := facts.ParseValue([]byte(typed))
	switch {
	case err == nil && (kind == "" || v.Kind() == kind) && v != facts.Null:
		return v, nil
	case kind == "string" || kind == "" && err != nil && typed != "":
		return facts.StringValue(typed), nil
	case err != nil:
		return "", &Error{Kind: Usage, Message: fmt.Sprintf("%q is no %s", clip(typed), kind),
			Next: "write it as JSON; numbers have digits and one point, no grouping"}
	}
	return "", &Error{Kind: Refused, Message: fmt.Sprintf("%s is a %s, and %s has always been a %s", clip(typed), v.Kind(), f.Key, kind),
		Next: "give the other definition a key of its own"}
}

// replaceValue rewrites the members of a value that differ and takes its verifiedDate away.
func (e *editor) replaceValue(file string, f *Fact, i int, v *Value) error {
	path := yamlx.Path{"facts", f.index, "values", f.Values[i].index}
	old := &f.Values[i]
	set := func(name, before, after string) error {
		switch {
		case before == after:
			return nil
		case after == "":
			return e.change(file, func(b []byte) ([]byte, error) { return yamlx.RemoveMember(b, path, name) })
		}
		return e.change(file, func(b []byte) ([]byte, error) { return yamlx.SetMember(b, path, name, after) })
	}
	for _, m := range []struct{ name, before, after string }{
		{"value", yamlx.FromJSON(string(old.Value)), yamlx.FromJSON(string(v.Value))},
		{"effectiveTo", old.To.String(), v.To.String()},
		{"source", text(old.Source), text(v.Source)},
		{"sourceFile", text(old.SourceFile), text(v.SourceFile)},
		{"sourceType", text(old.SourceType), text(v.SourceType)},
		{"method", text(old.Method), text(v.Method)},
		{"quote", text(old.Quote), text(v.Quote)},
		{"verifiedDate", old.Verified.String(), ""},
	} {
		if err := set(m.name, m.before, m.after); err != nil {
			return err
		}
	}
	if old.Unit != v.Unit {
		return set("unit", "", text(v.Unit))
	}
	return nil
}
