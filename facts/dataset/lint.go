package dataset

import (
	"fmt"
	"slices"
	"strings"

	"sayso/facts"
	"sayso/report"
)

// Lint applies every rule of F§10.6 to a folder on a day and returns the findings of Load with its own: errors as fail, warnings as warning, a rule
// without finding as pass. A folder with a signatures.json is held to L3.
func Lint(folder *Folder, today facts.Date) *report.Report { return lint(folder, today, "") }

func lint(folder *Folder, today facts.Date, level string) *report.Report {
	l := &linter{folder: folder, today: today, keys: map[string]*Fact{}, namespaces: map[string]*Namespace{}, areas: map[string]*Area{}}
	l.level, _ = folder.level(level)
	l.findings.list = slices.Clone(folder.loaded)
	l.publisher()
	l.catalogue()
	l.topics(folder.Topics, false)
	l.topics(folder.Candidates, true)
	l.aliases()
	l.confirmations()
	l.changelog()
	l.signing()
	l.resolving()
	return newReport(l.findings.list, true)
}

type linter struct {
	folder *Folder
	today  facts.Date
	level  string
	findings
	keys       map[string]*Fact // of the topic files
	files      map[*Fact]string
	namespaces map[string]*Namespace
	areas      map[string]*Area
}

func (l *linter) publisher() {
	p := &l.folder.Publisher
	for i := range p.Namespaces {
		n := &p.Namespaces[i]
		at := place(publisherFile, n.At)
		if l.namespaces[n.Name] != nil {
			l.fail(ruleKey, at, fmt.Sprintf("namespace %q is declared twice", n.Name), "its authorities would be ambiguous", "keep one declaration")
			continue
		}
		l.namespaces[n.Name] = n
		if problem, next := checkNamespace(n.Name); problem != "" {
			l.fail(ruleKey, at, problem, "readers recognise a jurisdiction by its namespace", next)
		}
	}
	for i := range p.Areas {
		a := &p.Areas[i]
		at := place(publisherFile, a.At)
		switch {
		case a.Name == "" || strings.Contains(a.Name, ":"):
			l.fail(ruleShape, at, fmt.Sprintf("area name %q is empty or holds a colon", a.Name), "<area>:<key> names a changelog entry", "rename it")
		case l.areas[a.Name] != nil:
			l.fail(ruleShape, at, fmt.Sprintf("area %q is declared twice", a.Name), "its cadence would be ambiguous", "keep one declaration")
		case l.namespaces[a.Namespace] == nil:
			l.fail(ruleShape, at, fmt.Sprintf("area %q: namespace %q is not declared", a.Name, a.Namespace), "an area belongs to a namespace",
				"declare it under namespaces")
		}
		l.areas[a.Name] = a
	}
}

// catalogue checks keys, topics and areas over all topic files.
func (l *linter) catalogue() {
	l.files = map[*Fact]string{}
	prefixes := map[string]string{}
	for i := range l.folder.Topics {
		t := &l.folder.Topics[i]
		at := place(t.File, t.At)
		if other := prefixes[t.Prefix]; other != "" && t.Prefix != "" {
			l.fail(ruleKey, at, fmt.Sprintf("topic prefix %q is also that of %s", t.Prefix, other), "a key belongs to one topic", "join the two files")
		}
		prefixes[t.Prefix] = t.File
		if t.Area != "" && l.areas[t.Area] == nil {
			l.fail(ruleShape, at, fmt.Sprintf("area %q is not declared", t.Area), "cadence and changelog depend on it", l.suggest(t.Area, l.areaNames(),
				"declare it in publisher.yaml"))
		}
		for j := range t.Facts {
			f := &t.Facts[j]
			l.files[f] = t.File
			at := place(t.File, f.At)
			if first := l.keys[f.Key]; first != nil {
				l.fail(ruleKey, at, fmt.Sprintf("key %s stands twice, first at %s", f.Key, place(l.files[first], first.At)), "a key has one meaning",
					"remove one or rename it")
				continue
			}
			l.keys[f.Key] = f
			l.checkKey(f.Key, at)
		}
	}
	for _, key := range l.folder.Publisher.Examples {
		if f := l.keys[key]; !l.incomplete() && (f == nil || len(confirmedValues(f)) == 0) {
			l.fail(ruleKey, place(publisherFile, l.folder.Publisher.examplesAt), fmt.Sprintf("example %q is no published key", key),
				"examples are the first thing readers try", "correct it or remove it")
		}
	}
	if n := len(l.folder.Publisher.Examples); n > 8 {
		l.fail(ruleShape, place(publisherFile, l.folder.Publisher.examplesAt), fmt.Sprintf("%d examples are listed, more than 8", n),
			"the protocol allows 8", "keep the telling ones")
	}
}

// incomplete reports a topic file that was not read whole: a key that nobody holds may stand in it.
func (l *linter) incomplete() bool {
	return slices.ContainsFunc(l.folder.Topics, func(t Topic) bool { return t.broken })
}

func (l *linter) areaNames() []string {
	var names []string
	for name := range l.areas {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// suggest names the nearest known word, or says what else to do.
func (l *linter) suggest(name string, known []string, otherwise string) string {
	if near := facts.NearestName(name, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return otherwise
}

func (l *linter) checkKey(key, at string) {
	if err := facts.CheckKey(key); err != nil {
		l.fail(ruleKey, at, err.Error(), "the key grammar keeps keys guessable and URLs stable", "rename the key")
		return
	}
	if ns := facts.KeyNamespace(key); l.namespaces[ns] == nil {
		l.fail(ruleKey, at, fmt.Sprintf("namespace %q of key %s is not declared", ns, key), "authorities hang on the namespace",
			"declare it under namespaces in publisher.yaml")
	}
}

// topics checks the values of every fact; candidates are held to fewer rules, since nothing of them is published.
func (l *linter) topics(topics []Topic, candidates bool) {
	collected := make([]findings, len(topics))
	parallel(len(topics), func(i int) {
		t := &topics[i]
		for j := range t.Facts {
			v := &valueLinter{linter: l, findings: &collected[i], topic: t, fact: &t.Facts[j], namespace: l.namespaces[facts.KeyNamespace(t.Facts[j].Key)]}
			if candidates {
				v.candidate()
			} else {
				v.check()
			}
		}
	})
	for i := range collected {
		l.findings.list = append(l.findings.list, collected[i].list...)
	}
}

// aliases checks VF-D-003.
func (l *linter) aliases() {
	targets := map[string]string{}
	for i := range l.folder.Topics {
		t := &l.folder.Topics[i]
		for j := range t.Facts {
			f := &t.Facts[j]
			at := place(t.File, f.At)
			for _, alias := range f.Aliases {
				if err := facts.CheckAlias(alias); err != nil {
					l.fail(ruleAlias, at, fmt.Sprintf("alias of %s: %v", f.Key, err), "an alias has the form of a key or of <area>:<key>", "correct or remove it")
				}
				switch other := targets[alias]; {
				case l.keys[alias] != nil:
					l.fail(ruleAlias, at, fmt.Sprintf("alias %s of %s is itself a key", alias, f.Key), "a name has one meaning", "remove the alias")
				case other != "" && other != f.Key:
					l.fail(ruleAlias, at, fmt.Sprintf("alias %s leads to %s and to %s", alias, other, f.Key), "an alias has one target", "keep one of them")
				case len(confirmedValues(f)) == 0 && !t.broken:
					l.fail(ruleAlias, at, fmt.Sprintf("alias %s leads to %s, which is not published", alias, f.Key), "an alias needs a target",
						"confirm a value of the key, or remove the alias")
				}
				targets[alias] = f.Key
			}
			for k := range f.Values {
				v := &f.Values[k]
				if v.SupersededBy == "" {
					continue
				}
				if target := l.keys[v.SupersededBy]; target == f || target == nil && !l.incomplete() {
					l.fail(ruleAlias, v.Place, fmt.Sprintf("supersededBy %s is no other key of this folder", v.SupersededBy), "readers follow it",
						"name the key that replaces this one")
				}
			}
		}
	}
}

// checkNamespace applies what F§2.1 says beyond the key grammar.
func checkNamespace(name string) (problem, next string) {
	if name == "gb" || strings.HasPrefix(name, "gb-") {
		return fmt.Sprintf("namespace %q is never canonical", name), fmt.Sprintf("write %q; readers may still ask for gb", "uk"+name[2:])
	}
	if err := facts.CheckNamespace(name); err != nil {
		return err.Error(), "rename the namespace"
	}
	return "", ""
}
