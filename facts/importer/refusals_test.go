package importer_test

import (
	"slices"
	"strings"
	"testing"

	"sayso/facts/importer"
	"sayso/report"
)

// refusal is one small upstream source in which one rule is broken.
type refusal struct {
	rule, name string
	kind       importer.Kind
	mapping    string            // body behind format and kind
	files      map[string]string // upstream
	path       string            // named by the finding
	says       string            // part of the message
	note       bool              // the value is taken and the case noted
	taken      int               // parameters taken all the same
}

const (
	one      = "parameters:\n  a.b: {key: uk/a/b, label: B, unit: GBP}\n"
	gov      = "\n      reference: https://www.gov.uk/b\n"
	goodLeaf = "b:\n  values:\n    2020-01-01:\n      value: 1" + gov
)

func leaf(body string) map[string]string { return map[string]string{"a.yaml": "b:\n" + body} }

// table is a rate table of one field, one row for each "from to value".
func rates(rows ...string) map[string]string {
	var b strings.Builder
	for _, row := range rows {
		f := strings.Fields(row)
		b.WriteString("- start_date: " + f[0] + "\n  end_date: " + f[1] + "\n  fee: " + f[2] + "\n")
	}
	return map[string]string{"t.yml": b.String()}
}

const fee = "parameters:\n  t.yml/fee: {key: uk/fee/adult, label: Fee, unit: GBP, source: \"https://www.gov.uk/fee\""

func csvRows(rows ...string) map[string]string {
	return map[string]string{"figures.csv": strings.Join(append([]string{strings.Join(importer.Columns, ",")}, rows...), "\n") + "\n"}
}

var refusals = []refusal{
	{rule: "VF-I-01", name: "no reference", kind: importer.OpenFisca, mapping: one, files: leaf("  values:\n    2020-01-01: 1\n"), path: "a.b", says: "no URL of its own"},
	{rule: "VF-I-01", name: "reference of the parameter is inherited", kind: importer.OpenFisca, mapping: one,
		files: leaf("  metadata:\n    reference: https://www.gov.uk/b\n  values:\n    2020-01-01: 1\n"), path: "a.b", says: "no URL of its own"},
	{rule: "VF-I-01", name: "reference of another date", kind: importer.OpenFisca, mapping: one,
		files: leaf("  metadata:\n    reference:\n      2019-01-01: https://www.gov.uk/b\n  values:\n    2020-01-01: 1\n"), path: "a.b", says: "no URL of its own"},
	{rule: "VF-I-01", name: "text alone", kind: importer.OpenFisca, mapping: one, files: leaf("  values:\n    2020-01-01:\n      value: 1\n      reference: The Order of 2019, article 2\n"), path: "a.b", says: "no URL"},
	{rule: "VF-I-01", name: "gettsim: citation and updates_previous", kind: importer.OpenFisca, mapping: one,
		files: leaf("  name: {de: Betrag, en: Amount}\n  unit: currency-GBP\n  2020-01-01:\n    updates_previous: true\n    value: 3\n    reference: Artikel 1\n"), path: "a.b", says: "no URL of its own"},
	{rule: "VF-I-01", name: "no address", kind: importer.CSV, files: csvRows("uk/a/b,B,1,GBP,,,,see the leaflet,"), path: "uk/a/b", says: "no absolute https URL"},
	{rule: "VF-I-01", name: "link is a template", kind: importer.EndOfLife, mapping: "parameters:\n  p/1/eol: {key: eol/p/1, label: P, unit: date}\n",
		files: map[string]string{"p.md": "---\nreleases:\n- releaseCycle: \"1\"\n  eol: 2030-01-01\n  link: https://devguide.python.org/__RELEASE_CYCLE__\n---\n"}, path: "p/1/eol", says: "no URL of its own"},

	{rule: "VF-I-02", name: "missing", kind: importer.OpenFisca, mapping: "defaults: {checked: required}\n" + one, files: map[string]string{"a.yaml": goodLeaf}, path: "a.b", says: "no upstream check date"},
	{rule: "VF-I-02", name: "before the value began", kind: importer.OpenFisca, mapping: one, files: leaf("  metadata: {last_value_still_valid_on: 2019-12-31}\n" + goodLeaf[3:]), path: "a.b", says: "before the value began"},
	{rule: "VF-I-02", name: "in the future", kind: importer.OpenFisca, mapping: one, files: leaf("  metadata: {last_value_still_valid_on: 2026-12-01}\n" + goodLeaf[3:]), path: "a.b", says: "after today"},
	{rule: "VF-I-02", name: "no date", kind: importer.OpenFisca, mapping: one, files: leaf("  metadata: {last_value_still_valid_on: lately}\n" + goodLeaf[3:]), path: "a.b", says: "is no date"},

	{rule: "VF-I-03", name: "http", kind: importer.OpenFisca, mapping: one, files: leaf("  values:\n    2020-01-01:\n      value: 1\n      reference: [{title: Page, href: \"http://www.gov.uk/b\"}]\n"), path: "a.b", says: "not https"},
	{rule: "VF-I-04", name: "encyclopaedia", kind: importer.OpenFisca, mapping: one, files: leaf("  values:\n    2020-01-01:\n      value: 1\n      reference: https://en.wikipedia.org/wiki/B\n"), path: "a.b", says: "en.wikipedia.org is not an authority"},
	{rule: "VF-I-04", name: "look-alike host", kind: importer.CSV, files: csvRows("uk/a/b,B,1,GBP,,,,https://www.gov.uk.example/b,"), path: "uk/a/b", says: "not an authority"},

	{rule: "VF-I-05", name: "market-implied path", kind: importer.OpenFisca, mapping: "parameters:\n  a.b: {key: uk/bank-rate/now, label: Bank Rate, unit: \"%\"}\n",
		files: leaf("  metadata: {unit: /1}\n  values:\n    2026-10-01:\n      value: 0.0375\n      reference: {title: Market-implied policy rate, href: \"https://www.bankofengland.co.uk/report\"}\n"), path: "a.b", says: "market implied"},
	{rule: "VF-I-05", name: "future value without source", kind: importer.OpenFisca, mapping: one, files: map[string]string{"a.yaml": goodLeaf + "    2027-04-06: 2\n"}, path: "a.b", says: "after today", taken: 1},
	{rule: "VF-I-05", name: "future row", kind: importer.SmartAnswers, mapping: fee + "}\n", files: rates("2026-04-06 2027-04-05 1", "2027-04-06 2028-04-05 2"), path: "t.yml/fee", says: "after today", taken: 1},

	{rule: "VF-I-06", name: "uprated to four decimals", kind: importer.OpenFisca, mapping: one, files: leaf("  metadata: {unit: currency-GBP, uprating: gov.index}\n  values:\n    2026-04-06:\n      value: 26.9357" + gov), path: "a.b", says: "computed"},
	{rule: "VF-I-06", name: "three decimals of an uprated amount", kind: importer.OpenFisca, mapping: one, files: leaf("  metadata: {unit: currency-GBP, uprating: {parameter: gov.index, rounding: 0.01}}\n  values:\n    2026-04-06:\n      value: 26.936" + gov), path: "a.b", says: "computed"},
	{rule: "VF-I-06", name: "float noise", kind: importer.CSV, files: csvRows("uk/a/b,B,28.000000000000004,,,,,https://www.gov.uk/b,"), path: "uk/a/b", says: "computed"},
	{rule: "VF-I-06", name: "5e-400", kind: importer.CSV, files: csvRows("uk/a/b,B,5e-400,,,,,https://www.gov.uk/b,"), path: "uk/a/b", says: "computed"},

	{rule: "VF-I-07", name: "2015-04-01", kind: importer.OpenFisca, mapping: one, files: leaf("  values:\n    2015-04-01:\n      value: 1" + gov), path: "a.b", says: "floor"},
	{rule: "VF-I-07", name: "0000-01-01", kind: importer.OpenFisca, mapping: one, files: leaf("  values:\n    0000-01-01:\n      value: 1" + gov), path: "a.b", says: "floor"},
	{rule: "VF-I-07", name: "0001-01-01", kind: importer.OpenFisca, mapping: one, files: leaf("  values:\n    0001-01-01:\n      value: 1" + gov), path: "a.b", says: "floor"},
	{rule: "VF-I-07", name: "first figure behind a null", kind: importer.OpenFisca, mapping: one, files: leaf("  values:\n    0000-01-01: null\n    2015-04-01:\n      value: 1" + gov), path: "a.b", says: "floor"},
	{rule: "VF-I-07", name: "floor of the mapping", kind: importer.OpenFisca, mapping: "floors: [2012-01-01]\n" + one, files: leaf("  values:\n    2012-01-01:\n      value: 1" + gov), path: "a.b", says: "floor"},

	{rule: "VF-I-08", name: "missing tax year", kind: importer.SmartAnswers, mapping: fee + "}\n", files: rates("2015-04-06 2016-04-05 1", "2017-04-06 2018-04-05 2"), path: "t.yml/fee", says: "no value from 2016-04-06 to 2017-04-05 between 2015-16 and 2017-18", note: true, taken: 1},

	{rule: "VF-I-09", name: "one bracket", kind: importer.OpenFisca, mapping: "parameters:\n  \"a.b[0].rate\": {key: uk/a/b, label: B, unit: \"%\"}\n",
		files: leaf("  brackets:\n  - threshold: {2020-01-01: 0}\n    rate: {2020-01-01: 0.2}\n"), path: "a.b[0].rate", says: "one bracket of a scale"},
	{rule: "VF-I-09", name: "another spelling of it", kind: importer.OpenFisca, mapping: "parameters:\n  a.b.brackets.0.threshold: {key: uk/a/b, label: B, unit: GBP}\n",
		files: leaf("  brackets:\n  - threshold: {2020-01-01: 0}\n    rate: {2020-01-01: 0.2}\n"), path: "a.b.brackets.0.threshold", says: "one bracket of a scale"},
	{rule: "VF-I-09", name: "half a bracket", kind: importer.OpenFisca, mapping: one, files: leaf("  brackets:\n  - threshold:\n      2020-01-01: {value: 0, reference: \"https://www.gov.uk/b\"}\n"), path: "a.b", says: "threshold without a rate"},
	{rule: "VF-I-09", name: "components cite different pages", kind: importer.OpenFisca, mapping: one,
		files: leaf("  brackets:\n  - threshold:\n      2020-01-01: {value: 0, reference: \"https://www.gov.uk/b\"}\n    amount:\n      2020-01-01: {value: 5, reference: \"https://www.gov.uk/c\"}\n"), path: "a.b", says: "no one page"},

	{rule: "VF-I-10", name: ".inf", kind: importer.OpenFisca, mapping: one, files: leaf("  values:\n    2020-01-01:\n      value: .inf" + gov), path: "a.b", says: "without limit"},
	{rule: "VF-I-10", name: "-.Inf", kind: importer.OpenFisca, mapping: one, files: leaf("  values:\n    2020-01-01:\n      value: -.Inf" + gov), path: "a.b", says: "without limit"},
	{rule: "VF-I-10", name: ".nan", kind: importer.OpenFisca, mapping: one, files: leaf("  values:\n    2020-01-01:\n      value: .NaN" + gov), path: "a.b", says: "without limit"},
	{rule: "VF-I-10", name: "9e99", kind: importer.OpenFisca, mapping: one, files: leaf("  values:\n    2020-01-01:\n      value: 9e99" + gov), path: "a.b", says: "without limit"},
	{rule: "VF-I-10", name: "1e400", kind: importer.CSV, files: csvRows("uk/a/b,B,1e400,GBP,,,,https://www.gov.uk/b,"), path: "uk/a/b", says: "without limit"},
	{rule: "VF-I-10", name: "nines", kind: importer.SmartAnswers, mapping: fee + "}\n", files: rates("2026-04-06 2027-04-05 999999999"), path: "t.yml/fee", says: "without limit"},
	{rule: "VF-I-10", name: "threshold of a scale", kind: importer.OpenFisca, mapping: one,
		files: leaf("  brackets:\n  - threshold:\n      2020-01-01: {value: .inf, reference: \"https://www.gov.uk/b\"}\n    amount:\n      2020-01-01: {value: 5, reference: \"https://www.gov.uk/b\"}\n"), path: "a.b", says: "without limit"},

	{rule: "VF-I-11", name: "BMAF", kind: importer.OpenFisca, mapping: "parameters:\n  a.b: {key: fr/a/b, label: B}\n", files: leaf("  metadata: {unit: bmaf}\n" + goodLeaf[3:]), path: "a.b", says: "relative"},
	{rule: "VF-I-11", name: "smic", kind: importer.OpenFisca, mapping: "parameters:\n  a.b: {key: fr/a/b, label: B}\n", files: leaf("  metadata: {unit: smic}\n" + goodLeaf[3:]), path: "a.b", says: "relative"},
	{rule: "VF-I-11", name: "PSS, though the mapping insists", kind: importer.OpenFisca, mapping: "parameters:\n  a.b: {key: fr/a/b, label: B, unit: \"%\", upstreamUnit: PSS}\n", files: leaf("  metadata: {unit: PSS}\n" + goodLeaf[3:]), path: "a.b", says: "relative"},
	{rule: "VF-I-11", name: "unknown", kind: importer.OpenFisca, mapping: one, files: leaf("  metadata: {unit: barrel}\n" + goodLeaf[3:]), path: "a.b", says: "not known to be absolute"},

	{rule: "VF-I-12", name: "francs", kind: importer.OpenFisca, mapping: "parameters:\n  a.b: {key: fr/a/b, label: B}\n",
		files: leaf("  metadata: {unit: currency}\n  values:\n    1998-01-01:\n      value: 200_000\n      reference: https://www.legifrance.gouv.fr/b\n"), path: "a.b", says: "franc"},
	{rule: "VF-I-12", name: "last day of the franc", kind: importer.OpenFisca, mapping: "parameters:\n  a.b: {key: fr/a/b, label: B, unit: EUR/month}\n",
		files: leaf("  metadata: {unit: currency}\n  values:\n    2001-12-31:\n      value: 5\n      reference: https://www.legifrance.gouv.fr/b\n"), path: "a.b", says: "franc"},
	{rule: "VF-I-12", name: "no currency at all", kind: importer.OpenFisca, mapping: "parameters:\n  a.b: {key: uk/a/b, label: B}\n", files: leaf("  metadata: {unit: currency}\n" + goodLeaf[3:]), path: "a.b", says: "names no currency"},

	{rule: "VF-I-13", name: "contributed reform", kind: importer.OpenFisca, mapping: "refuse: [{path: contrib, reason: reforms that nobody enacted}]\nparameters:\n  contrib.b: {key: uk/a/b, label: B}\n",
		files: map[string]string{"contrib.yaml": goodLeaf, "contribution.yaml": goodLeaf}, path: "contrib.b", says: "reforms that nobody enacted"},

	{rule: "VF-I-14", name: "list of variables", kind: importer.OpenFisca, mapping: "parameters:\n  a.b: {key: uk/a/b, label: B, unit: null}\n", files: leaf("  values:\n    2020-01-01:\n      value: [employment_income, pension]" + gov), path: "a.b", says: "name of a variable"},
	{rule: "VF-I-14", name: "one variable", kind: importer.CSV, files: csvRows("uk/a/b,B,employment_income,,,,,https://www.gov.uk/b,"), path: "uk/a/b", says: "name of a variable"},

	{rule: "VF-I-15", name: "the real case", kind: importer.SmartAnswers, mapping: fee + "}\n", files: rates("2014-04-06 2015-04-05 87.55", "2014-04-06 2017-04-05 88.45", "2017-04-06 2018-04-05 89.35"),
		path: "t.yml/fee", says: "2014-04-06..2015-04-05 overlaps 2014-04-06..2017-04-05", taken: 1},
	{rule: "VF-I-15", name: "one day", kind: importer.CSV, files: csvRows("uk/a/b,B,1,GBP,,2020-01-01,2020-12-31,https://www.gov.uk/b,", "uk/a/b,B,2,GBP,,2020-12-31,,https://www.gov.uk/b,"), path: "uk/a/b", says: "overlaps"},
	{rule: "VF-I-15", name: "two open values from one day", kind: importer.CSV, files: csvRows("uk/a/b,B,1,GBP,,2020-01-01,,https://www.gov.uk/b,", "uk/a/b,B,2,GBP,,2020-01-01,,https://www.gov.uk/b,"), path: "uk/a/b", says: "overlaps"},

	{rule: "VF-I-16", name: "no format", kind: importer.SmartAnswers, mapping: fee + "}\n", files: rates(`2026-04-06 2027-04-05 "15,750"`), path: "t.yml/fee", says: `the text "15,750"`},
	{rule: "VF-I-16", name: "another format", kind: importer.SmartAnswers, mapping: fee + ", format: \"1.234,56\"}\n", files: rates(`2026-04-06 2027-04-05 "15,750.5"`), path: "t.yml/fee", says: "no number of the format"},
	{rule: "VF-I-16", name: "format named", kind: importer.SmartAnswers, mapping: fee + ", format: \"1,234.56\"}\n", files: rates(`2026-04-06 2027-04-05 "15,750"`), path: "t.yml/fee", says: "was read as 15750", note: true, taken: 1},

	{rule: "VF-I-17", name: "2999", kind: importer.SmartAnswers, mapping: fee + "}\n", files: rates("2026-04-06 2999-01-01 1"), path: "t.yml/fee", says: "2999-01-01 is read as an open end", note: true, taken: 1},
	{rule: "VF-I-17", name: "3000", kind: importer.SmartAnswers, mapping: fee + "}\n", files: rates("2026-04-06 3000-01-01 1"), path: "t.yml/fee", says: "3000-01-01", note: true, taken: 1},
	{rule: "VF-I-17", name: "2100", kind: importer.SmartAnswers, mapping: fee + "}\n", files: rates("2026-04-06 2100-04-05 1"), path: "t.yml/fee", says: "2100-04-05", note: true, taken: 1},

	{rule: "VF-I-18", name: "seven segments", kind: importer.OpenFisca, mapping: "parameters:\n  a.b: {key: uk/a/b/c/d/e/f, label: B}\n", files: map[string]string{"a.yaml": goodLeaf}, path: "a.b", says: "is no key"},
	{rule: "VF-I-18", name: "undeclared namespace", kind: importer.OpenFisca, mapping: "parameters:\n  a.b: {key: de/a/b, label: B}\n", files: map[string]string{"a.yaml": goodLeaf}, path: "a.b", says: "not declared"},
	{rule: "VF-I-18", name: "two paths, one key", kind: importer.OpenFisca, mapping: "parameters:\n  a.b: {key: uk/a/b, label: B}\n  c.b: {key: uk/a/b, label: B}\n", files: map[string]string{"a.yaml": goodLeaf, "c.yaml": goodLeaf}, path: "a.b", says: "also that of c.b"},
	{rule: "VF-I-18", name: "release outside the grammar", kind: importer.EndOfLife, mapping: "parameters:\n  p/*/eol: {key: \"eol/p/{release}\", label: \"P {release}\", unit: date, source: \"https://devguide.python.org/versions\"}\n",
		files: map[string]string{"p.md": "---\nreleases:\n- releaseCycle: 8+LTS\n  eol: 2030-01-01\n---\n"}, path: "p/8+LTS/eol", says: `"eol/p/8+LTS" is no key`},

	{rule: "VF-I-19", name: "true among dates", kind: importer.EndOfLife, mapping: "parameters:\n  p/*/eol: {key: \"eol/p/{release}\", label: \"P {release}\", unit: date, source: \"https://devguide.python.org/versions\"}\n",
		files: map[string]string{"p.md": "---\nreleases:\n- releaseCycle: \"1\"\n  eol: 2030-01-01\n- releaseCycle: \"2\"\n  eol: false\n---\n"}, path: "p/2/eol", says: "true or false here", taken: 1},
	{rule: "VF-I-19", name: "number and text", kind: importer.CSV, files: csvRows("uk/a/b,B,1,,,2020-01-01,,https://www.gov.uk/b,", "uk/a/b,B,many,,,2021-01-01,,https://www.gov.uk/b,"), path: "uk/a/b", says: "a number from 2020-01-01 and a string from 2021-01-01"},

	{rule: "VF-I-20", name: "synonym with two segments", kind: importer.OpenFisca, mapping: "topics: [{prefix: uk/a, title: A, area: uk-rates}]\nparameters:\n  a.b: {key: uk/a/b, label: B, unit: GBP, synonyms: {bee: b}}\n  c.b: {key: uk/a/c, label: C, unit: GBP, synonyms: {bee: c}}\n",
		files: map[string]string{"a.yaml": goodLeaf, "c.yaml": goodLeaf}, says: `synonym "bee"`, note: true, taken: 2},
	{rule: "VF-I-21", name: "duplicate member", kind: importer.OpenFisca, mapping: "parameters: {}\n", files: leaf("  values:\n    2020-01-01: 1\n    2020-01-01: 2\n"), says: "stands twice"},
	{rule: "VF-I-22", name: "misspelt path", kind: importer.OpenFisca, mapping: one, files: map[string]string{"a.yaml": "c:\n  values: {2020-01-01: 1}\n"}, path: "a.b", says: "no upstream parameter"},
	{rule: "VF-I-23", name: "mapping as value", kind: importer.OpenFisca, mapping: one, files: leaf("  values:\n    2020-01-01:\n      value: {x: 1}" + gov), path: "a.b", says: "is a mapping"},
	{rule: "VF-I-23", name: "octal", kind: importer.OpenFisca, mapping: one, files: leaf("  values:\n    2020-01-01:\n      value: 017" + gov), path: "a.b", says: "readers disagree"},
	{rule: "VF-I-23", name: "rows with a day that is none", kind: importer.SmartAnswers, mapping: fee + "}\n", files: rates("2026-04-31 2027-04-05 1"), path: "t.yml/fee", says: "start_date"},
	{rule: "VF-I-23", name: "end that is none", kind: importer.SmartAnswers, mapping: fee + "}\n", files: rates("2026-04-06 never 1"), path: "t.yml/fee", says: "end_date"},
	{rule: "VF-I-23", name: "bracket with another member", kind: importer.OpenFisca, mapping: one, files: leaf("  brackets:\n  - threshold: {2020-01-01: 0}\n    base: {2020-01-01: 5}\n"), path: "a.b", says: `the member "base"`},
	{rule: "VF-I-23", name: "brackets are no list", kind: importer.OpenFisca, mapping: one, files: leaf("  brackets: {a: 1}\n"), path: "a.b", says: "no list of 1 to 100"},
	{rule: "VF-I-23", name: "threshold on no day", kind: importer.OpenFisca, mapping: one, files: leaf("  brackets:\n  - threshold: {2020-02-30: 0}\n"), path: "a.b", says: "no day of the calendar"},
	{rule: "VF-I-23", name: "yes", kind: importer.OpenFisca, mapping: one, files: leaf("  values:\n    2020-01-01:\n      value: yes" + gov), path: "a.b", says: "true or false to some"},
	{rule: "VF-I-19", name: "true under money", kind: importer.OpenFisca, mapping: one, files: leaf("  values:\n    2020-01-01:\n      value: true" + gov), path: "a.b", says: "a boolean and its unit"},
	{rule: "VF-I-19", name: "number under date", kind: importer.CSV, files: csvRows("uk/a/b,B,5,date,,,,https://www.gov.uk/b,"), path: "uk/a/b", says: "is no date"},
	{rule: "VF-I-23", name: "minus zero", kind: importer.CSV, files: csvRows("uk/a/b,B,-0,GBP,,,,https://www.gov.uk/b,"), path: "uk/a/b", says: "minus zero"},
	{rule: "VF-I-23", name: "another unit upstream", kind: importer.OpenFisca, mapping: one, files: leaf("  metadata: {unit: /1}\n" + goodLeaf[3:]), path: "a.b", says: `the mapping says "GBP"`},
	{rule: "VF-I-23", name: "unit of one value", kind: importer.OpenFisca, mapping: one, files: leaf("  metadata: {unit: currency-GBP}\n  values:\n    2020-01-01:\n      value: 1\n      unit: currency-FRF" + gov), path: "a.b", says: "currency-FRF"},
	{rule: "VF-I-23", name: "no unit anywhere", kind: importer.OpenFisca, mapping: "parameters:\n  a.b: {key: uk/a/b, label: B}\n", files: map[string]string{"a.yaml": goodLeaf}, path: "a.b", says: "neither the upstream nor the mapping names a unit"},
	{rule: "VF-I-23", name: "impossible day", kind: importer.OpenFisca, mapping: one, files: map[string]string{"a.yaml": goodLeaf + "    2021-02-30: 2\n"}, path: "a.b", says: "no day of the calendar"},
	{rule: "VF-I-24", name: "abolished", kind: importer.OpenFisca, mapping: one, files: map[string]string{"a.yaml": goodLeaf + "    2024-04-06: null\n"}, path: "a.b", says: "abolished on 2024-04-06"},
	{rule: "VF-I-24", name: "not yet", kind: importer.OpenFisca, mapping: one, files: leaf("  values:\n    2027-01-01:\n      value: 1" + gov), path: "a.b", says: "no value is in force"},
}

func TestRefusals(t *testing.T) {
	for _, c := range refusals {
		t.Run(c.rule+" "+c.name, func(t *testing.T) {
			r := importing(t, c.kind, c.mapping, c.files).Report
			list := r.Refused
			if c.note {
				list = r.Notes
			}
			i := slices.IndexFunc(list, func(f importer.Finding) bool {
				return f.Rule == c.rule && f.Path == c.path && strings.Contains(f.Message, c.says)
			})
			if i < 0 {
				t.Fatalf("no %s at %q saying %q\nrefused %v\nnotes %v", c.rule, c.path, c.says, r.Refused, r.Notes)
			}
			if f := list[i]; f.Next == "" || f.File == "" {
				t.Errorf("the finding names no file or no next step: %+v", f)
			}
			if r.Taken != c.taken {
				t.Errorf("taken %d, want %d: %v", r.Taken, c.taken, r.Refused)
			}
			converted := r.Report("upstream")
			want := report.Fail
			if c.note {
				want = report.Warning
			}
			if !slices.ContainsFunc(converted.Findings, func(f report.Finding) bool {
				return f.Rule == c.rule && f.Outcome == want && strings.Contains(f.Message, c.says)
			}) {
				t.Errorf("the report has no %s %s", want, c.rule)
			}
		})
	}
}

// Every rule has an id in order, a title, and a case above that breaks it; VF-I-25 needs a folder that holds values, see TestHeldValuesAreLeftOut.
func TestRulesAreAllTested(t *testing.T) {
	tested := map[string]bool{"VF-I-25": true}
	for _, c := range refusals {
		tested[c.rule] = true
	}
	rules := importer.Rules()
	if len(rules) != 25 {
		t.Errorf("%d rules", len(rules))
	}
	for i, r := range rules {
		want := "VF-I-" + string(rune('0'+(i+1)/10)) + string(rune('0'+(i+1)%10))
		if r.ID != want || r.Title == "" || r.Section == "" {
			t.Errorf("rule %d is %+v, want id %s", i, r, want)
		}
		if !tested[r.ID] {
			t.Errorf("%s has no case", r.ID)
		}
		delete(tested, r.ID)
	}
	for id := range tested {
		t.Errorf("%s is tested and is no rule", id)
	}
}
