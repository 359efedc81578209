package importer_test

import (
	"errors"
	"strings"
	"testing"

	"sayso/facts/importer"
)

// Every mistake in a mapping file is refused with its place, all of them at once.
func TestMappingFileIsStrict(t *testing.T) {
	head := "format: sayso-mapping/1\nkind: openfisca\n"
	for name, c := range map[string]struct{ file, place, says string }{
		"empty":                     {"", "map.yaml:1:1", "empty"},
		"not YAML":                  {"a: [", "map.yaml:1:1", "not well-formed"},
		"alias":                     {head + "parameters: &a {}\n", "map.yaml:3:13", "anchor"},
		"list":                      {"- a\n", "map.yaml:1:1", "the mapping file is a list"},
		"no parameters":             {head, "map.yaml:1:1", "has no parameters"},
		"kind":                      {"format: sayso-mapping/1\nkind: excel\nparameters: {}\n", "map.yaml:2:7", "none of"},
		"format":                    {"format: sayso-mapping/9\nkind: csv\n", "map.yaml:1:9", "none of"},
		"unknown member":            {head + "paramters: {}\nparameters: {}\n", "map.yaml:3:1", `unknown member "paramters"`},
		"unknown parameter member":  {head + "parameters:\n  a: {key: uk/a/b, label: B, units: GBP}\n", "map.yaml:4:30", `unknown member "units"`},
		"source in openfisca":       {head + "parameters:\n  a: {key: uk/a/b, label: B, source: \"https://www.gov.uk/b\"}\n", "map.yaml:4:30", `unknown member "source"`},
		"no label":                  {head + "parameters:\n  a: {key: uk/a/b}\n", "map.yaml:4:6", "has no label"},
		"label is a number":         {head + "parameters:\n  a: {key: uk/a/b, label: 5}\n", "map.yaml:4:27", "not text"},
		"label too long":            {head + "parameters:\n  a: {key: uk/a/b, label: " + strings.Repeat("x", 121) + "}\n", "map.yaml:4:27", "longer than 120"},
		"control character":         {head + "parameters:\n  a: {key: uk/a/b, label: \"a\\u202eb\"}\n", "map.yaml:4:27", "control character"},
		"path twice":                {head + "parameters:\n  a: {key: uk/a/b, label: B}\n  a: {key: uk/a/c, label: C}\n", "map.yaml:5:3", "stands twice"},
		"derived without method":    {head + "parameters:\n  a: {key: uk/a/b, label: B, sourceType: derived}\n", "map.yaml:4:6", "has no method"},
		"derived default":           {head + "defaults: {sourceType: derived}\nparameters: {}\n", "map.yaml:3:11", "has no method"},
		"aliases are no list":       {head + "parameters:\n  a: {key: uk/a/b, label: B, aliases: x}\n", "map.yaml:4:39", "not a list"},
		"alias twice":               {head + "parameters:\n  a: {key: uk/a/b, label: B, aliases: [uk/b/c, uk/b/c]}\n", "map.yaml:4:48", "stands twice"},
		"synonyms are no mapping":   {head + "parameters:\n  a: {key: uk/a/b, label: B, synonyms: [x]}\n", "map.yaml:4:40", "synonyms is a list"},
		"blank synonym":             {head + "parameters:\n  a: {key: uk/a/b, label: B, synonyms: {\" \": x}}\n", "map.yaml:4:41", "a synonym is empty"},
		"parameters are a list":     {head + "parameters: [a]\n", "map.yaml:3:13", "parameters is a list"},
		"path with control":         {head + "parameters:\n  \"a\\u0007\": {key: uk/a/b, label: B}\n", "map.yaml:4:3", "control characters"},
		"parameter is text":         {head + "parameters:\n  a: uk/a/b\n", "map.yaml:4:6", "a parameter is text"},
		"alias outside the grammar": {head + "parameters:\n  a: {key: uk/a/b, label: B, aliases: [Nope]}\n", "map.yaml:4:40", "is none"},
		"decimals":                  {head + "parameters:\n  a: {key: uk/a/b, label: B, decimals: -1}\n", "map.yaml:4:40", "no whole number"},
		"yearStarts":                {head + "parameters:\n  a: {key: uk/a/b, label: B, yearStarts: 31-12}\n", "map.yaml:4:42", "no day of a year"},
		"number format":             {head + "parameters:\n  a: {key: uk/a/b, label: B, format: \"#,##0\"}\n", "map.yaml:4:38", "none of"},
		"floor":                     {head + "floors: [2015-02-30]\nparameters: {}\n", "map.yaml:3:10", "no date"},
		"refused folder":            {head + "refuse: [{path: a}]\nparameters: {}\n", "map.yaml:3:10", "has no reason"},
		"topic prefix":              {head + "topics: [{prefix: ../x, title: X, area: a}]\nparameters: {}\n", "map.yaml:3:19", "cannot begin a key"},
		"topic twice":               {head + "topics: [{prefix: uk/a, title: X, area: a}, {prefix: uk/a, title: X, area: a}]\nparameters: {}\n", "map.yaml:3:54", "stands twice"},
		"parameters in csv":         {"format: sayso-mapping/1\nkind: csv\nparameters: {}\n", "map.yaml:3:1", `unknown member "parameters"`},
		"http source":               {"format: sayso-mapping/1\nkind: smart-answers\nparameters:\n  a: {key: uk/a/b, label: B, source: \"http://www.gov.uk/b\"}\n", "map.yaml:4:38", "no https URL"},
		"source not in normal form": {"format: sayso-mapping/1\nkind: smart-answers\nparameters:\n  a: {key: uk/a/b, label: B, source: \"https://www.gov.uk/b/\"}\n", "map.yaml:4:38", "normal form"},
		"pattern without release":   {"format: sayso-mapping/1\nkind: endoflife\nparameters:\n  a/*/eol: {key: eol/a/b, label: B}\n", "map.yaml:4:18", "belong together"},
		"release without pattern":   {"format: sayso-mapping/1\nkind: endoflife\nparameters:\n  a/1/eol: {key: \"eol/a/{release}\", label: B}\n", "map.yaml:4:18", "belong together"},
		"split of two dates":        {"format: sayso-mapping/1\nkind: endoflife\nparameters:\n  a/1/eol: {key: eol/a/b, label: B, unit: date, split: {key: eol/a/c, label: C, unit: date}}\n", "map.yaml:4:56", "separates dates"},
	} {
		m, err := importer.ParseMapping("map.yaml", []byte(c.file))
		var refused *importer.MappingError
		if !errors.As(err, &refused) || m != nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		f := refused.Findings[0]
		if f.Place != c.place || !strings.Contains(f.Message, c.says) || f.Next == "" || f.Rule != "VF-I-20" {
			t.Errorf("%s: %+v, want %s %s", name, f, c.place, c.says)
		}
	}
	_, err := importer.ParseMapping("map.yaml", []byte(head+"x: 1\ny: 2\nparameters: {}\n"))
	var refused *importer.MappingError
	if errors.As(err, &refused); len(refused.Findings) != 2 || !strings.HasPrefix(err.Error(), "map.yaml:3:1: ") {
		t.Errorf("%v %+v", err, refused)
	}
}

func TestEveryKindHasAMapping(t *testing.T) {
	for _, kind := range importer.Kinds() {
		body := "parameters: {}\n"
		if kind == importer.CSV {
			body = ""
		}
		if m := mapping(t, kind, body); m.Kind != kind {
			t.Errorf("%s was read as %s", kind, m.Kind)
		}
	}
}

func TestDefaultsAreOverridden(t *testing.T) {
	r := importing(t, importer.OpenFisca, "defaults: {checked: required, history: full, sourceType: derived, method: Converted}\nparameters:\n  a.b: {key: uk/a/b, label: B, unit: GBP, checked: optional, history: previous, sourceType: authority}\n",
		map[string]string{"a.yaml": goodLeaf})
	if f := fact(t, r, "uk/a/b"); f.Values[0].SourceType != "" {
		t.Errorf("%+v", f.Values[0])
	}
}

func TestSuggestProposesAndNamesCollisions(t *testing.T) {
	src := tree(map[string]string{
		"gov/tax/a_b.yaml":                               "metadata: {unit: currency-GBP, period: year}\nvalues: {2020-01-01: 1}\n",
		"gov/tax/mapped.yaml":                            "values: {2020-01-01: 1}\n",
		"gov/x/one/two/three/four/deep/leaf/rate.yaml":   "metadata: {unit: /1}\nvalues: {2020-01-01: 1}\n",
		"gov/x/other/two/three/four/deep/leaf/rate.yaml": "metadata: {unit: /1}\nvalues: {2020-01-01: 1}\n",
		"gov/y/one/two/three/four/deep/leaf/rate.yaml":   "metadata: {unit: smic}\nvalues: {2020-01-01: 1}\n",
		"contrib/z.yaml":                                 "values: {2020-01-01: 1}\n",
	})
	m := mapping(t, importer.OpenFisca, "refuse: [{path: contrib, reason: reforms}]\nparameters:\n  gov.tax.mapped: {key: uk/gov/tax/mapped, label: M}\n")
	s, err := importer.Suggest(src, m, "uk", options(t))
	if err != nil {
		t.Fatal(err)
	}
	want := `# Suggested: check every key, label and unit before use. A key never changes its meaning.
format: sayso-mapping/1
kind: openfisca
parameters:
  gov.tax.a_b:
    key: uk/gov/tax/a-b
    label: A b (gov, tax)
    unit: GBP/year
  # the unit "smic" is relative: the figure means nothing without another one
  gov.y.one.two.three.four.deep.leaf.rate:
    key: uk/gov/y/deep/leaf/rate
    label: Rate (gov, y, deep, leaf)
# not proposed, uk/gov/x/deep/leaf/rate would be the key of 2 paths:
#   gov.x.one.two.three.four.deep.leaf.rate
#   gov.x.other.two.three.four.deep.leaf.rate
`
	got := strings.ReplaceAll(string(s.Data), `"`, "")
	if got != strings.ReplaceAll(want, `"`, "") {
		t.Errorf("got\n%s\nwant\n%s", s.Data, want)
	}
	if s.Proposed != 2 || s.Shortened != 1 || len(s.Collisions) != 1 || len(s.Collisions[0].Paths) != 2 {
		t.Errorf("%+v", s)
	}
	if _, err := importer.ParseMapping("suggested.yaml", s.Data); err != nil {
		t.Errorf("the suggestion is no mapping: %v", err)
	}
	if _, err := importer.Suggest(src, m, "gb", options(t)); err == nil {
		t.Error("namespace gb was accepted")
	}
}

func TestSuggestOfOtherKinds(t *testing.T) {
	for _, c := range []struct {
		kind  importer.Kind
		files map[string]string
		want  []string
	}{
		{importer.SmartAnswers, map[string]string{"child_benefit.yml": "- {start_date: 2020-01-01, end_date: 2020-12-31, only_child: 5}\n"}, []string{"uk/child-benefit/only-child", "child_benefit.yml/only_child"}},
		{importer.EndOfLife, map[string]string{"p.md": "---\nreleases:\n- {releaseCycle: \"1\", eol: 2030-01-01, lts: true, latest: 1.2}\n- {releaseCycle: \"2\", eol: false}\n---\n"},
			[]string{`"p/*/eol"`, `"uk/p/{release}"`, `"uk/p/{release}/lts"`, "unit: rule", "add split", `"uk/p/{release}/latest"`}},
	} {
		s, err := importer.Suggest(tree(c.files), importer.NewMapping(c.kind), "uk", options(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(string(s.Data), want) {
				t.Errorf("%s: no %s in\n%s", c.kind, want, s.Data)
			}
		}
		if _, err := importer.ParseMapping("suggested.yaml", s.Data); err != nil {
			t.Errorf("%s: %v\n%s", c.kind, err, s.Data)
		}
	}
}
