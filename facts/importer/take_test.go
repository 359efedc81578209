package importer_test

import (
	"strings"
	"testing"

	"sayso/facts"
	"sayso/facts/importer"
	"sayso/report"
)

// F§3.2, F§11.2: the decimal point moves in the text. Multiplying 0.28 or 0.0525 as binary floats would give other figures.
func TestRatesAreShiftedInTheText(t *testing.T) {
	for from, want := range map[string]string{"0.28": "28", "0.0525": "5.25", "0.1": "10", "0.07": "7", "0.29": "29", "0.145": "14.5", "0.0175": "1.75", "1.27": "127", "0": "0", "1": "100",
		".5": "50", "1_0.5": "1050", "-0.01": "-1", "2.5e-1": "25", "0.41100": "41.1", "5.": "500"} {
		r := importing(t, importer.OpenFisca, "parameters:\n  a.b: {key: uk/a/b, label: B}\n", leaf("  metadata: {unit: /1}\n  values:\n    2020-01-01:\n      value: "+from+gov))
		f := fact(t, r, "uk/a/b")
		if got := f.Values[0].Value.Text(); got != want || f.Unit != "%" {
			t.Errorf("%s -> %s %s, want %s %%", from, got, f.Unit, want)
		}
	}
}

func TestUnitsFollowUpstream(t *testing.T) {
	for _, c := range []struct{ upstream, value, mapping, want string }{
		{"{unit: currency-GBP, period: year}", "12570", "", "12570 GBP/year"},
		{"{unit: currency-GBP, period: week}", "1_234.50", "unit: GBP/week", "1234.5 GBP/week"},
		{"{unit: currency-GBP}", "5", "unit: GBP/month", "5 GBP/month"},
		{"{unit: currency}", "5", "unit: USD/year", "5 USD/year"},
		{"{unit: bool}", "true", "", "true rule"},
		{"{unit: years}", "18", "", "18 year"},
		{"{}", "0.2", `unit: "%", upstreamUnit: /1`, "20 %"},
		{"{unit: /1}", "1.27", "unit: null", "1.27 "},
		{"{unit: barrel}", "3", "unit: barrel, upstreamUnit: barrel", "3 barrel"},
		{"{}", "2026-01-01", "unit: date", "2026-01-01 date"},
		{"{}", "[1, 2.50]", "unit: null", "[1,2.5] "},
	} {
		m := strings.TrimSuffix("parameters:\n  a.b: {key: uk/a/b, label: B, "+c.mapping, ", ") + "}\n"
		r := importing(t, importer.OpenFisca, m, leaf("  metadata: "+c.upstream+"\n  values:\n    2020-01-01:\n      value: "+c.value+gov))
		f := fact(t, r, "uk/a/b")
		if got := f.Values[0].Value.Text() + " " + f.Unit; got != c.want {
			t.Errorf("%s %s: %s, want %s", c.upstream, c.value, got, c.want)
		}
	}
}

// F§11.2: French "currency" is euro from 2002-01-01 on, and from no day before.
func TestFrenchCurrencyIsEuroFrom2002(t *testing.T) {
	r := importing(t, importer.OpenFisca, "defaults: {history: full}\nparameters:\n  a.b: {key: fr/a/b, label: B}\n", leaf(`  metadata: {unit: currency}
  values:
    2001-12-31: {value: 100, reference: "https://www.legifrance.gouv.fr/a"}
    2002-01-01: {value: 15, reference: "https://www.legifrance.gouv.fr/b"}
`))
	if got := lines(fact(t, r, "fr/a/b")); got != "15|EUR||2002-01-01..\n" {
		t.Errorf("got %s", got)
	}
	if len(r.Report.Refused) != 1 || r.Report.Refused[0].Rule != "VF-I-12" || r.Report.Refused[0].From != date(t, "2001-12-31") {
		t.Errorf("refused %+v", r.Report.Refused)
	}
}

// F§11.1: a value ends the day before the next one, be it null; expected values do not exist.
func TestValuesEndBeforeTheNextBegins(t *testing.T) {
	body := `  values:
    2018-04-06: {value: 1, reference: "https://www.gov.uk/a"}
    2019-04-06: null
    2021-04-06: {value: 2, metadata: {reference: [{title: B, href: "https://www.gov.uk/b"}]}}
    2026-04-06: {value: 3, references: [{title: C, url: "https://www.gov.uk/c"}]}
    2027-04-06: {expected: 4}
`
	full := "defaults: {history: full}\nparameters:\n  a.b: {key: uk/a/b, label: B, unit: GBP}\n"
	r := importing(t, importer.OpenFisca, full, leaf(body))
	want := "3|GBP|2026-27|2026-04-06..\n2|GBP||2021-04-06..2026-04-05\n1|GBP|2018-19|2018-04-06..2019-04-05\n"
	if got := lines(fact(t, r, "uk/a/b")); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	// 2019-04-06..2021-04-05 has no value: reported, not bridged.
	if len(r.Report.Notes) != 1 || r.Report.Notes[0].Rule != "VF-I-08" {
		t.Errorf("notes %+v", r.Report.Notes)
	}
	// An announced value is taken with its own source, and ends the one in force.
	r = importing(t, importer.OpenFisca, one, leaf(body+"    2028-04-06: {value: 5, reference: \"https://www.gov.uk/d\"}\n"))
	want = "5|GBP|2028-29|2028-04-06..\n3|GBP||2026-04-06..2028-04-05\n"
	if got := lines(fact(t, r, "uk/a/b")); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// F§3.4: the value before is told only where it cites a page of its own.
func TestPreviousNeedsItsOwnURL(t *testing.T) {
	now := "    2026-04-06: {value: 3, reference: \"https://www.gov.uk/c\"}\n"
	f := fact(t, importing(t, importer.OpenFisca, one, leaf("  values:\n    2025-04-06: {value: 2, reference: \"https://www.gov.uk/b\"}\n"+now)), "uk/a/b")
	if p := f.Previous; p == nil || p.Value != "2" || p.Period != "2025-26" || p.Source != "https://www.gov.uk/b" || p.From != date(t, "2025-04-06") {
		t.Errorf("previous %+v", f.Previous)
	}
	for _, before := range []string{"2", "null", "{value: 2, reference: \"http://www.gov.uk/b\"}", "{value: many, reference: \"https://www.gov.uk/b\"}", "{value: 2, reference: \"https://example.org/b\"}"} {
		r := importing(t, importer.OpenFisca, one, leaf("  values:\n    2025-04-06: "+before+"\n"+now))
		if f := fact(t, r, "uk/a/b"); f.Previous != nil || len(f.Values) != 1 {
			t.Errorf("%s: previous %+v, %d values", before, f.Previous, len(f.Values))
		}
	}
}

// F§11.1: every spelling of a reference that public trees use.
func TestReferenceSpellings(t *testing.T) {
	for name, refs := range map[string]string{
		"URL":                 "reference: https://www.gov.uk/b",
		"list of maps":        "reference: [{title: B, href: https://www.gov.uk/b}]",
		"list of strings":     "reference: [The Order, \"https://www.gov.uk/b\"]",
		"map":                 "reference: {title: B, href: https://www.gov.uk/b}",
		"name and href":       "reference: {name: B, href: https://www.gov.uk/b}",
		"misspelt url":        "reference: [{title: B, url: https://www.gov.uk/b}]",
		"misspelt references": "references: https://www.gov.uk/b",
		"metadata":            "metadata: {reference: {title: B, href: https://www.gov.uk/b}}",
		"authority preferred": "reference: [\"https://example.org/b\", \"https://www.gov.uk/b\"]",
		"letters":             "reference: [\"https://www.gov.uk.é/b\", \"https://wwẃ.gov.uk/b\", \"https://www.gov.uk/b#é\"]",
		"normal form":         "reference: https://WWW.gov.uk:443/x/../b/?utm_source=a#top",
	} {
		r := importing(t, importer.OpenFisca, one, leaf("  values:\n    2020-01-01:\n      value: 1\n      "+refs+"\n"))
		if f := fact(t, r, "uk/a/b"); f.Values[0].Source != "https://www.gov.uk/b" {
			t.Errorf("%s: source %s", name, f.Values[0].Source)
		}
	}
	for name, meta := range map[string]string{
		"URL by date":  "2020-01-01: https://www.gov.uk/b",
		"map by date":  "2020-01-01: {title: B, href: https://www.gov.uk/b}",
		"list by date": "2020-01-01: [{title: B, href: https://www.gov.uk/b}]",
	} {
		r := importing(t, importer.OpenFisca, one, leaf("  metadata:\n    reference:\n      "+meta+"\n  values: {2020-01-01: 1}\n"))
		if f := fact(t, r, "uk/a/b"); f.Values[0].Source != "https://www.gov.uk/b" {
			t.Errorf("%s: source %s", name, f.Values[0].Source)
		}
	}
}

// F§11.1, VF-I-09: a scale is one value for each day on which any of its parts changes.
func TestSourceLettersAreEscaped(t *testing.T) {
	m := "defaults: {sourceType: derived, method: Converted}\n" + one
	for url, want := range map[string]string{
		"https://fr.wikipedia.org/wiki/Majorité_civile#Histoire": "https://fr.wikipedia.org/wiki/Majorit%C3%A9_civile",
		"https://example.org/a b":                                "",
		"https://exámple.org/a":                                  "",
		"https://user@example.org/a":                             "",
		"HTTP://example.org/a":                                   "",
	} {
		r := importing(t, importer.OpenFisca, m, leaf("  values:\n    2020-01-01:\n      value: 1\n      reference: {href: \""+url+"\"}\n"))
		if want == "" {
			if r.Report.Taken != 0 {
				t.Errorf("%s was taken", url)
			}
			continue
		}
		if got := fact(t, r, "uk/a/b").Values[0].Source; got != want {
			t.Errorf("%s: %s", url, got)
		}
	}
}

// A number that upstream calls a rate and that is none shows itself by its size.
func TestHugeRatesAreNoted(t *testing.T) {
	r := importing(t, importer.OpenFisca, "parameters:\n  a.b: {key: uk/a/b, label: B}\n", leaf("  metadata: {unit: /1}\n  values:\n    2020-01-01:\n      value: 1556.2"+gov))
	if len(r.Report.Notes) != 1 || !strings.Contains(r.Report.Notes[0].Message, "1556.2 became 155620 %") {
		t.Errorf("%+v", r.Report)
	}
}

func TestReportCounts(t *testing.T) {
	files := map[string]string{"a.yaml": goodLeaf + "c:\n  values: {2020-01-01: 1}\nd:\n  values: {2020-01-01: 1}\n", "contrib/x.yaml": goodLeaf}
	r := importing(t, importer.OpenFisca, "refuse: [{path: contrib, reason: reforms}]\n"+one+"  a.c: {key: uk/a/c, label: C, unit: GBP}\n", files).Report
	if want := "taken 1 of 2 mapped parameters with 1 value, 1 refused; not mapped: 1 upstream parameter; in refused folders: 1"; r.Verdict() != want {
		t.Errorf("%q, want %q", r.Verdict(), want)
	}
	converted := r.Report("a tree")
	counts := converted.Counts()
	if converted.Subject != "a tree" || converted.Verdict != r.Verdict() || counts[report.Fail] != 1 || counts[report.Warning] != 0 || counts[report.Pass] != len(importer.Rules())-1 {
		t.Errorf("%+v", converted)
	}
	f := converted.Findings[0]
	if f.Rule != "VF-I-01" || f.Place != "a.yaml:7" || f.Message != "a.c from 2020-01-01: the value has no URL of its own" || f.Next == "" {
		t.Errorf("%+v", f)
	}
}

func TestScaleIsOneValue(t *testing.T) {
	page := ", reference: \"https://www.gov.uk/rates\"}"
	r := importing(t, importer.OpenFisca, "defaults: {history: full}\nparameters:\n  a.b: {key: uk/a/bands, label: Bands, unit: \"%\"}\n", leaf(`  metadata: {type: marginal_rate, rate_unit: /1, threshold_unit: currency-GBP}
  brackets:
  - threshold: {2024-04-06: {value: 0`+page+`}
    rate: {2024-04-06: {value: 0.19`+page+`, 2026-04-06: {value: 0.2`+page+`}
  - threshold: {2024-04-06: {value: 37_700`+page+`}
    rate: {values: {2024-04-06: {value: 0.4`+page+`}}
`))
	want := `[{"rate":20,"threshold":0},{"rate":40,"threshold":37700}]|%|2026-27|2026-04-06..
[{"rate":19,"threshold":0},{"rate":40,"threshold":37700}]|%||2024-04-06..2026-04-05
`
	if got := lines(fact(t, r, "uk/a/bands")); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// F§11.1: breakdown nodes are folders of their children.
func TestBreakdownNodes(t *testing.T) {
	r := importing(t, importer.OpenFisca, "parameters:\n  a.b.ENGLAND: {key: uk/a/england, label: B, unit: GBP}\n", map[string]string{
		"a/index.yaml": "metadata: {description: A}\n",
		"a/b.yaml":     "metadata: {breakdown: [country]}\nENGLAND:\n  2020-01-01: {value: 1, reference: \"https://www.gov.uk/b\"}\nWALES:\n  2020-01-01: {value: 2}\n",
	})
	if f := fact(t, r, "uk/a/england"); f.Values[0].Value != "1" || f.Values[0].Upstream != "a.b.ENGLAND" {
		t.Errorf("%+v", f.Values[0])
	}
	if r.Report.Unmapped != 1 {
		t.Errorf("unmapped %d", r.Report.Unmapped)
	}
}

func TestPeriodLabels(t *testing.T) {
	for _, c := range []struct{ key, from, to, extra, want string }{
		{"uk/fee/adult", "2026-04-06", "2027-04-05", "", "2026-27"},
		{"uk/fee/adult", "1999-04-06", "2000-04-05", "", "1999-00"},
		{"uk/fee/adult", "2026-07-01", "2027-04-05", "", "2026-27"}, // changed within the year
		{"uk/fee/adult", "2026-04-06", "2999-01-01", "", "2026-27"}, // open, the year is not over
		{"uk/fee/adult", "2025-04-06", "2999-01-01", "", ""},        // open and standing
		{"uk/fee/adult", "2024-04-06", "2026-04-05", "", ""},        // two years
		{"uk/fee/adult", "2026-04-01", "2027-03-31", "", ""},        // no year of this calendar
		{"uk/fee/adult", "2026-04-01", "2027-03-31", ", yearStarts: 04-01", "2026-27"},
		{"uk/minimum-wage/adult", "2026-04-01", "2027-03-31", "", "2026-27"}, // wages begin on 1 April
		{"uk/minimum-wage/adult", "2026-04-01", "2999-01-01", "", "2026-27"},
		{"uk/fee/adult", "2026-04-06", "2027-04-05", ", period: none", ""},
		{"us/fee/adult", "2026-01-01", "2026-12-31", ", sourceType: derived, method: Converted", "2026"},
		{"us/fee/adult", "2026-01-01", "2027-01-01", ", sourceType: derived, method: Converted", ""},
		{"eol/fee/adult", "2026-01-01", "2026-12-31", ", sourceType: derived, method: Converted", ""},
	} {
		m := "parameters:\n  t.yml/fee: {key: " + c.key + ", label: Fee, unit: GBP, source: \"https://www.gov.uk/fee\"" + c.extra + "}\n"
		f := fact(t, importing(t, importer.SmartAnswers, m, rates(c.from+" "+c.to+" 1")), c.key)
		if f.Values[0].Period != c.want {
			t.Errorf("%s %s..%s%s: %q, want %q", c.key, c.from, c.to, c.extra, f.Values[0].Period, c.want)
		}
	}
}

// F§11.1: Ruby symbols, rows under names, single rows, nested fields.
func TestRateTableShapes(t *testing.T) {
	for name, c := range map[string]struct{ path, file string }{
		"symbols":       {"t.yml/rate", "- :start_date: 2026-04-06\n  :end_date: 2027-04-05\n  :rate: 8.06\n"},
		"name, rows":    {"t.yml/adult/rate", "adult:\n- {start_date: 2026-04-06, end_date: 2027-04-05, rate: 8.06}\n"},
		"name, one row": {"t.yml/adult/rate", ":adult: {start_date: 2026-04-06, end_date: 2027-04-05, rate: 8.06}\n"},
		"nested field":  {"t.yml/adult/rate", "- start_date: 2026-04-06\n  end_date: 2027-04-05\n  adult: {rate: 8.06}\n"},
	} {
		m := "parameters:\n  " + c.path + ": {key: uk/fee/adult, label: Fee, unit: GBP, source: \"https://www.gov.uk/fee\"}\n"
		f := fact(t, importing(t, importer.SmartAnswers, m, map[string]string{"t.yml": c.file}), "uk/fee/adult")
		if got := lines(f); got != "8.06|GBP|2026-27|2026-04-06..2027-04-05\n" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// VF-I-19: split gives each type of a field its own key.
func TestReleasesSplit(t *testing.T) {
	m := `parameters:
  "p/*/eol":
    key: eol/p/{release}
    label: P {release}
    unit: date
    source: https://devguide.python.org/versions
    split: {key: "eol/p/{release}/ended", label: "P {release} ended", unit: rule}
  p/2+/eol: {key: eol/p/2-plus, label: P 2 plus, unit: date, source: "https://devguide.python.org/versions"}
`
	r := importing(t, importer.EndOfLife, m, map[string]string{"products/p.md": "---\nreleases:\n- {releaseCycle: \"1\", eol: 2030-01-01}\n- {releaseCycle: \"3\", eol: true, latest: 3.10}\n- {releaseCycle: \"2+\", eol: 2020-01-01}\n---\n", "README.md": "no front matter\n"})
	for key, want := range map[string]string{"eol/p/1": "2030-01-01|date||..\n", "eol/p/3/ended": "true|rule||..\n", "eol/p/2-plus": "2020-01-01|date||..\n"} {
		if got := lines(fact(t, r, key)); got != want {
			t.Errorf("%s: %s", key, got)
		}
	}
	if len(r.Report.Refused) != 0 || r.Report.Taken != 3 || r.Report.Mapped != 3 || r.Report.Unmapped != 1 {
		t.Errorf("%+v", r.Report)
	}
}

// VF-I-25, F§10.3: what the folder holds is not imported again, and never changed.
func TestHeldValuesAreLeftOut(t *testing.T) {
	held := `topic: {prefix: uk/fee, title: Fees, area: uk-fees}
facts:
  - key: adult
    label: Fee
    unit: GBP
    values:
      - {value: 2, effectiveFrom: 2026-04-06, source: "https://www.gov.uk/fee"}
      - {value: 9, effectiveFrom: 2025-04-06, effectiveTo: 2026-04-05, source: "https://www.gov.uk/fee"}
`
	o := importer.Options{Today: date(t, "2026-11-30"), Folder: folder(t, map[string]string{"topics/uk/fee.yaml": held})}
	m := mapping(t, importer.SmartAnswers, fee+"}\n")
	r, err := importer.Import(tree(rates("2026-04-06 2027-04-05 2", "2025-04-06 2026-04-05 1")), m, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Files) != 0 || r.Report.Held != 1 || len(r.Report.Notes) != 1 || r.Report.Notes[0].Rule != "VF-I-25" {
		t.Errorf("files %d, %+v", len(r.Files), r.Report)
	}
	if !strings.Contains(r.Report.Verdict(), "1 held already") {
		t.Error(r.Report.Verdict())
	}
	// A key that waits as a candidate elsewhere is not imported beside it; the import's own file is replaced.
	for file, taken := range map[string]int{"candidates/fee.yaml": 0, "candidates/smart-answers/uk/fee.yaml": 1} {
		o.Folder = folder(t, map[string]string{file: held})
		r, err := importer.Import(tree(rates("2026-04-06 2027-04-05 2")), m, o)
		if err != nil || r.Report.Taken != taken {
			t.Errorf("%s: %v %+v", file, err, r.Report)
		}
	}
}

func TestCheckedGoesToTheValueInForce(t *testing.T) {
	r := importing(t, importer.OpenFisca, "defaults: {history: full, checked: required, sourceType: derived, method: Converted}\n"+one, leaf(`  metadata: {last_value_still_valid_on: 2026-06-01}
  values:
    2020-01-01: {value: 1, reference: "https://example.org/b"}
    2021-01-01: {value: 2, reference: "https://example.org/b"}
`))
	f := fact(t, r, "uk/a/b")
	if f.Values[0].Checked != date(t, "2026-06-01") || f.Values[1].Checked != facts.Date(0) || f.Values[0].SourceType != "derived" || f.Values[0].Method != "Converted" {
		t.Errorf("%+v", f.Values)
	}
}
