package importer

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"sayso/facts"
	"sayso/facts/dataset"
)

const candidatesDir = "candidates"

// result groups what was taken into candidate files: candidates/KIND/PREFIX.yaml for a topic of the mapping,
// candidates/KIND/NAMESPACE/without-topic.yaml for keys that no topic covers.
func (t *taker) result() *Result {
	files := map[string]*dataset.Topic{}
	slices.SortFunc(t.taken, func(a, b taken) int { return strings.Compare(a.fact.Key, b.fact.Key) })
	for i := range t.taken {
		f := &t.taken[i]
		out, file := &dataset.Topic{}, facts.KeyNamespace(f.fact.Key)+"/without-topic"
		if topic := t.m.topicOf(f.fact.Key); topic != nil {
			out, file = &dataset.Topic{Prefix: topic.prefix, Title: topic.title, Area: topic.area}, topic.prefix
		}
		name := path.Join(candidatesDir, string(t.m.Kind), file+".yaml")
		if files[name] == nil {
			files[name] = out
		}
		files[name].Facts = append(files[name].Facts, f.fact)
		t.addSynonyms(files[name], f)
	}
	r := &Result{Report: t.report}
	for name, topic := range files {
		slices.SortFunc(topic.Synonyms, func(a, b dataset.Synonym) int { return strings.Compare(a.Phrase, b.Phrase) })
		r.Files = append(r.Files, File{name, dataset.AppendTopic(nil, topic)})
	}
	slices.SortFunc(r.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	for _, list := range [][]Finding{t.report.Refused, t.report.Notes} {
		slices.SortStableFunc(list, func(a, b Finding) int {
			return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Rule, b.Rule), int(a.From)-int(b.From))
		})
	}
	return r
}

// addSynonyms puts the synonyms of a parameter into its topic. One phrase with two segments is ambiguous: the first, by key, stands and the other is noted.
func (t *taker) addSynonyms(topic *dataset.Topic, f *taken) {
	for _, s := range f.synonyms {
		i := slices.IndexFunc(topic.Synonyms, func(o dataset.Synonym) bool { return o.Phrase == s.Phrase })
		switch {
		case i < 0:
			topic.Synonyms = append(topic.Synonyms, dataset.Synonym{Phrase: s.Phrase, Segment: s.Segment})
		case topic.Synonyms[i].Segment != s.Segment:
			t.report.Notes = append(t.report.Notes, Finding{Rule: ruleMapping, Key: f.fact.Key, File: t.m.file,
				Message: fmt.Sprintf("synonym %q leads to %q and to %q under one topic", clip(s.Phrase), topic.Synonyms[i].Segment, s.Segment), Next: "keep one of them"})
		}
	}
}

// tempPrefix is that of the dataset's own writes, which sweep away what a crash has left.
const tempPrefix = ".sayso-tmp-"

// Write puts candidate files into a publisher's folder, each whole or not at all: a temporary file beside it is written and synced, then renamed over
// it. Files whose bytes are there already are left alone. Nothing outside candidates/ is ever written, through links neither.
func Write(dir string, files []File) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range files {
		if !fs.ValidPath(f.Path) || !strings.HasPrefix(f.Path, candidatesDir+"/") {
			return fmt.Errorf("%q is no file below %s/", f.Path, candidatesDir)
		}
		if held, err := root.ReadFile(f.Path); err == nil && string(held) == string(f.Data) {
			continue
		}
		if err := writeFile(root, f); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(root *os.Root, f File) (err error) {
	parent := path.Dir(f.Path)
	if err := root.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	temp := path.Join(parent, tempPrefix+path.Base(f.Path))
	if err := root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	w, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, root.Remove(temp))
		}
	}()
	if _, err = w.Write(f.Data); err == nil {
		err = w.Sync()
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	if err = root.Rename(temp, f.Path); err != nil {
		return err
	}
	return syncFolder(root, parent)
}

// syncFolder makes a rename durable.
func syncFolder(root *os.Root, name string) error {
	d, err := root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
