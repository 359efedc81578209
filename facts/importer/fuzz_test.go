package importer_test

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sayso/facts/importer"
)

// Whatever a source holds, an import ends without a panic, refuses or takes, and what it took loads and lints.
func checkImport(t *testing.T, r *importer.Result) {
	loadable(t, r)
	if rep := r.Report; rep.Taken+rep.Held > rep.Mapped {
		t.Fatalf("%d taken and %d held of %d mapped", rep.Taken, rep.Held, rep.Mapped)
	}
	for _, f := range append(r.Report.Refused, r.Report.Notes...) {
		if f.Message == "" || f.Next == "" {
			t.Fatalf("a finding without text: %+v", f)
		}
	}
	r.Report.Report("source").AppendJSON(nil)
}

func FuzzCSV(f *testing.F) {
	f.Add(string(fixture(f, "testdata/figures.csv")))
	for _, c := range refusals {
		if c.kind == importer.CSV {
			f.Add(c.files["figures.csv"])
		}
	}
	f.Fuzz(func(t *testing.T, data string) {
		m := mapping(t, importer.CSV, "defaults: {sourceType: derived, method: Converted}\ntopics: [{prefix: uk/a, title: A, area: uk-rates}]\n")
		r, err := importer.ImportCSV(strings.NewReader(data), "figures.csv", m, options(t))
		if err != nil {
			return
		}
		checkImport(t, r)
	})
}

func FuzzOpenFisca(f *testing.F) {
	for _, c := range refusals {
		if c.kind == importer.OpenFisca {
			f.Add(c.files["a.yaml"])
		}
	}
	f.Add(string(fixture(f, "testdata/openfisca/geopolitique.yaml")))
	f.Fuzz(func(t *testing.T, data string) {
		m := mapping(t, importer.OpenFisca, "defaults: {history: full, sourceType: derived, method: Converted}\nparameters:\n  a.b: {key: uk/a/b, label: B}\n  a: {key: fr/a/a, label: A}\n  \"a.b[0].rate\": {key: uk/a/c, label: C}\n")
		src := tree(map[string]string{"a.yaml": data})
		r, err := importer.Import(src, m, options(t))
		if err != nil {
			t.Fatal(err)
		}
		checkImport(t, r)
		s, err := importer.Suggest(src, m, "uk", options(t))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := importer.ParseMapping("suggested.yaml", s.Data); err != nil {
			t.Fatalf("a suggestion is no mapping: %v\n%s", err, s.Data)
		}
	})
}

func FuzzSmartAnswers(f *testing.F) {
	for _, c := range refusals {
		if c.kind == importer.SmartAnswers {
			f.Add(c.files["t.yml"])
		}
	}
	f.Add("adult:\n- :start_date: 2026-04-06\n  :end_date: 2999-01-01\n  :rate: {fee: 8.06}\n")
	f.Fuzz(func(t *testing.T, data string) {
		m := mapping(t, importer.SmartAnswers, fee+", format: \"1,234.56\"}\n  t.yml/adult/rate/fee: {key: uk/fee/other, label: Other, unit: null, source: \"https://www.gov.uk/fee\"}\n")
		r, err := importer.Import(tree(map[string]string{"t.yml": data}), m, options(t))
		if err != nil {
			t.Fatal(err)
		}
		checkImport(t, r)
	})
}

func FuzzEndOfLife(f *testing.F) {
	f.Add(string(fixture(f, "testdata/endoflife/python.md")))
	f.Add("---\nreleases:\n- {releaseCycle: 8+LTS, eol: true}\n---\n")
	f.Fuzz(func(t *testing.T, data string) {
		m := mapping(t, importer.EndOfLife, "defaults: {sourceType: derived, method: Converted}\nparameters:\n  p/*/eol: {key: \"eol/p/{release}\", label: \"P {release}\", unit: date, source: \"https://devguide.python.org/versions\", split: {key: \"eol/p/{release}/ended\", label: \"P {release} ended\", unit: rule}}\n  p/*/latest: {key: \"eol/p/{release}/latest\", label: \"P {release} latest\"}\n")
		r, err := importer.Import(tree(map[string]string{"p.md": data}), m, options(t))
		if err != nil {
			t.Fatal(err)
		}
		checkImport(t, r)
	})
}

func FuzzMapping(f *testing.F) {
	for _, name := range []string{"smart-answers.yaml", "openfisca.yaml", "endoflife.yaml", "csv.yaml"} {
		f.Add(string(fixture(f, examples+"/mappings/"+name)))
	}
	f.Add("format: sayso-mapping/1\nkind: endoflife\nparameters:\n  p/*/eol: {key: \"eol/p/{release}\", label: \"{release}\", source: \"https://devguide.python.org/versions\"}\n")
	src := map[string]string{
		"child_benefit_rates.yml": "- {start_date: 2026-04-06, end_date: 2027-04-05, only_child: 27.05}\n",
		"geopolitique.yaml":       "age_majorite:\n  metadata: {unit: year, last_value_still_valid_on: 2025-11-21}\n  values:\n    1974-07-05: {value: 18, reference: \"https://www.legifrance.gouv.fr/b\"}\n",
		"p.md":                    "---\nreleases:\n- {releaseCycle: \"1\", eol: 2030-01-01}\n- {releaseCycle: \"2\", eol: true}\n---\n",
	}
	f.Fuzz(func(t *testing.T, data string) {
		m, err := importer.ParseMapping("map.yaml", []byte(data))
		if err != nil {
			return
		}
		if m.Kind == importer.CSV {
			return
		}
		r, err := importer.Import(tree(src), m, options(t))
		if err != nil {
			t.Fatal(err)
		}
		checkImport(t, r)
	})
}

// A rate is shifted exactly: the published number is 100 times the upstream one as a decimal, for every decimal.
func TestShiftIsExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		digits := rapid.StringMatching(`[0-9]{1,3}\.[0-9]{1,6}`).Draw(rt, "rate")
		if digits[0] == '0' && digits[1] != '.' {
			digits = "1" + digits
		}
		r := importing(t, importer.OpenFisca, "parameters:\n  a.b: {key: uk/a/b, label: B, decimals: 15}\n", leaf("  metadata: {unit: /1}\n  values:\n    2020-01-01:\n      value: "+digits+gov))
		got, ok := new(big.Rat).SetString(fact(t, r, "uk/a/b").Values[0].Value.Text())
		want, _ := new(big.Rat).SetString(digits)
		if !ok || got.Cmp(want.Mul(want, big.NewRat(100, 1))) != 0 {
			rt.Fatalf("%s became %v", digits, got)
		}
	})
}
