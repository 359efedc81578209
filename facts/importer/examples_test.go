package importer_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sayso/facts"
	"sayso/facts/dataset"
	"sayso/facts/importer"
)

const examples = "../../examples/facts"

// exampleMapping reads a committed mapping; every one of them is used by a test below.
func exampleMapping(t testing.TB, name string) *importer.Mapping {
	t.Helper()
	m, err := importer.ParseMapping(name, fixture(t, filepath.Join(examples, "mappings", name)))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// exampleFolder is a committed sample folder without its candidates and topics: its namespaces, authorities and areas.
func exampleFolder(t testing.TB, name string) *dataset.Folder {
	t.Helper()
	f, r := dataset.Load(tree(map[string]string{"publisher.yaml": string(fixture(t, filepath.Join(examples, name, "publisher.yaml")))}))
	if r.Failed() {
		t.Fatal(failures(r))
	}
	return f
}

// sample is the sample folder with all its facts, confirmed or still candidates.
func sample(t testing.TB, name string) map[string]dataset.Fact {
	t.Helper()
	f, r := dataset.Load(os.DirFS(filepath.Join(examples, name)))
	if r.Failed() {
		t.Fatal(failures(r))
	}
	out := map[string]dataset.Fact{}
	for _, topics := range [][]dataset.Topic{f.Topics, f.Candidates} {
		for _, topic := range topics {
			for _, fact := range topic.Facts {
				out[fact.Key] = fact
			}
		}
	}
	return out
}

func exampleImport(t testing.TB, mapping, folder, src string) *importer.Result {
	t.Helper()
	r, err := importer.Import(os.DirFS(filepath.Join("testdata", src)), exampleMapping(t, mapping), importer.Options{Today: date(t, "2026-11-30"), Folder: exampleFolder(t, folder)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func decoded(t testing.TB, r *importer.Result, folder string) map[string]dataset.Fact {
	t.Helper()
	files := map[string]string{"publisher.yaml": string(fixture(t, filepath.Join(examples, folder, "publisher.yaml")))}
	for _, f := range r.Files {
		files[f.Path] = string(f.Data)
	}
	f, load := dataset.Load(tree(files))
	if load.Failed() {
		t.Fatal(failures(load))
	}
	out := map[string]dataset.Fact{}
	for _, topic := range f.Candidates {
		if topic.Prefix == "" {
			t.Errorf("%s has no topic", topic.File)
		}
		for _, fact := range topic.Facts {
			out[fact.Key] = fact
		}
	}
	return out
}

// statement is what a publisher will state with a dated value. Labels are the folder's own wording.
func statement(f *dataset.Fact, v *dataset.Value) string {
	c := facts.ClaimOf(f.Key, &v.DatedValue)
	return strings.Join([]string{c.Hash(), v.Value.Text(), v.Unit, v.Period, v.From.String(), v.To.String(), v.Source, v.SourceType, v.Upstream}, " | ")
}

// The sample figures of examples/facts/uk and the import of the same table say the same, claim hashes included.
func TestSmartAnswersGiveTheSample(t *testing.T) {
	r := exampleImport(t, "smart-answers.yaml", "uk", "smart-answers")
	got, want := decoded(t, r, "uk"), sample(t, "uk")
	if len(got) != 6 {
		t.Fatalf("%d facts: %v", len(got), r.Report.Refused)
	}
	for key, f := range got {
		w, ok := want[key]
		if !ok || len(w.Values) != len(f.Values) {
			t.Errorf("%s: %d values, the sample has %d", key, len(f.Values), len(w.Values))
			continue
		}
		for i := range f.Values {
			if a, b := statement(&f, &f.Values[i]), statement(&w, &w.Values[i]); a != b {
				t.Errorf("%s\n got %s\nwant %s", key, a, b)
			}
		}
	}
}

// F§11.3: the overlapping ranges of statutory_sick_pay.yml are refused, both of them for both fields, and the years they leave open are reported.
func TestTheRealOverlapIsRefused(t *testing.T) {
	r := exampleImport(t, "smart-answers.yaml", "uk", "smart-answers").Report
	if len(r.Refused) != 4 {
		t.Fatalf("refused %+v", r.Refused)
	}
	for _, f := range r.Refused {
		if f.Rule != "VF-I-15" || f.From != date(t, "2014-04-06") || f.File != "statutory_sick_pay.yml" || f.Line == 0 {
			t.Errorf("%+v", f)
		}
	}
	if len(r.Notes) != 2 {
		t.Fatalf("notes %+v", r.Notes)
	}
	for _, f := range r.Notes {
		if f.Rule != "VF-I-08" || !strings.Contains(f.Message, "no value from 2014-04-06 to 2017-04-05 between 2013-14 and 2017-18") {
			t.Errorf("%+v", f)
		}
	}
	if want := "taken 6 of 6 mapped parameters with 87 values"; r.Verdict() != want {
		t.Errorf("%q, want %q", r.Verdict(), want)
	}
}

func TestOpenFiscaMappingGivesTheSample(t *testing.T) {
	r := exampleImport(t, "openfisca.yaml", "fr", "openfisca")
	if len(r.Report.Refused) != 0 || r.Report.Taken != 3 || r.Report.Unmapped != 1 {
		t.Fatalf("%+v", r.Report)
	}
	got, want := decoded(t, r, "fr"), sample(t, "fr")
	for key, f := range got {
		w, ok := want[key]
		if !ok || len(w.Values) == 0 {
			t.Errorf("%s is not in the sample", key)
			continue
		}
		a, b := statement(&f, &f.Values[0]), statement(&w, &w.Values[0])
		if a != b || f.Values[0].Checked != w.Values[0].Checked {
			t.Errorf("%s\n got %s\nwant %s", key, a, b)
		}
		if fmt.Sprint(f.Previous != nil) != fmt.Sprint(w.Previous != nil) || f.Previous != nil && *f.Previous != *w.Previous {
			t.Errorf("%s: previous %+v, want %+v", key, f.Previous, w.Previous)
		}
	}
}

func TestEndOfLifeMappingGivesTheSample(t *testing.T) {
	r := exampleImport(t, "endoflife.yaml", "eol", "endoflife")
	got, want := decoded(t, r, "eol"), sample(t, "eol")
	for _, key := range []string{"eol/python/3.9", "eol/python/3.14"} {
		f, w := got[key], want[key]
		if len(f.Values) != 1 || f.Values[0].Value != w.Values[0].Value || f.Unit != w.Unit || f.Values[0].Source != w.Values[0].Source {
			t.Errorf("%s: %+v", key, f)
		}
	}
	if f := got["eol/python/3.16/ended"]; len(f.Values) != 1 || f.Values[0].Value != "false" {
		t.Errorf("split: %+v", f)
	}
	if len(r.Report.Refused) != 1 || r.Report.Refused[0].Rule != "VF-I-18" || !strings.Contains(r.Report.Refused[0].Next, "eol/python/2.7-plus") {
		t.Errorf("refused %+v", r.Report.Refused)
	}
}

// CSV to candidates to dataset and back to the same statements.
func TestCSVRoundTrip(t *testing.T) {
	m, data := exampleMapping(t, "csv.yaml"), fixture(t, "testdata/figures.csv")
	r, err := importer.ImportCSV(bytes.NewReader(data), "figures.csv", m, options(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Report.Refused) != 0 || len(r.Files) != 2 {
		t.Fatalf("%+v", r.Report)
	}
	if got, want := lines(fact(t, r, "uk/bank-rate")), "3.75|%||2025-12-18..\n4|%||2025-08-07..2025-12-17\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	f := fact(t, r, "uk/passport/adult-online")
	if f.Label != "Passport, adult, applied for online" || f.Values[0].Quote != `Apply online "Adult" £94.50` || f.Values[0].Value != "94.5" {
		t.Errorf("%+v", f)
	}
	if f := fact(t, r, "uk/passport/expedited"); f.Values[0].Value != "true" || f.Unit != "rule" {
		t.Errorf("%+v", f)
	}
}

func TestSameInputSameBytes(t *testing.T) {
	for name, c := range map[string][2]string{"smart-answers": {"smart-answers.yaml", "uk"}, "openfisca": {"openfisca.yaml", "fr"}, "endoflife": {"endoflife.yaml", "eol"}} {
		first := exampleImport(t, c[0], c[1], name)
		for range 5 {
			again := exampleImport(t, c[0], c[1], name)
			if fmt.Sprint(first.Files) != fmt.Sprint(again.Files) || fmt.Sprintf("%+v", first.Report) != fmt.Sprintf("%+v", again.Report) {
				t.Fatalf("%s: two imports differ", name)
			}
		}
	}
}

// A candidate file is for people too.
func TestCandidateFileReadsWell(t *testing.T) {
	r := exampleImport(t, "openfisca.yaml", "fr", "openfisca")
	want := `topic: {prefix: fr/taxation-societes/impot-societe, title: "Taxation societes, impot societe", area: fr-taxation-societes}
facts:
  - key: taux-normal
    label: "Taux normal (taxation societes, impot societe)"
    unit: "%"
    values:
      - value: 25
        effectiveFrom: 2022-01-01
        source: https://www.legifrance.gouv.fr/codes/article_lc/LEGIARTI000042908577
        sourceType: derived
        method: "Converted from a public parameter tree, last checked upstream on verifiedDate; the source was not re-read"
        checked: 2025-01-31
        upstream: taxation_societes.impot_societe.taux_normal
`
	last := r.Files[len(r.Files)-1]
	if last.Path != "candidates/openfisca/fr/taxation-societes/impot-societe.yaml" || string(last.Data) != want {
		t.Errorf("%s:\n%s", last.Path, last.Data)
	}
}

// An import, written to a folder and confirmed as converted, is a folder that lints clean.
func TestImportToConfirmed(t *testing.T) {
	dir := t.TempDir()
	publisher := publisherYAML + "  - {name: uk-benefits, namespace: uk}\n"
	if err := os.WriteFile(filepath.Join(dir, "publisher.yaml"), []byte(publisher), 0o644); err != nil {
		t.Fatal(err)
	}
	r := exampleImport(t, "smart-answers.yaml", "uk", "smart-answers")
	if err := importer.Write(dir, r.Files); err != nil {
		t.Fatal(err)
	}
	day := date(t, "2026-11-30")
	done, err := dataset.ConfirmConverted(dir, dataset.ConvertOptions{All: true, Date: date(t, "2026-08-21"), Today: day})
	if err != nil || len(done) != 87 {
		t.Fatalf("%d values: %v", len(done), err)
	}
	f, load := dataset.Load(os.DirFS(dir))
	if lint := dataset.Lint(f, day); load.Failed() || lint.Failed() || len(f.Candidates) != 0 {
		t.Fatalf("%d candidate files are left: %s%s", len(f.Candidates), failures(load), failures(lint))
	}
	// Importing again finds everything held.
	again, err := importer.Import(os.DirFS("testdata/smart-answers"), exampleMapping(t, "smart-answers.yaml"), importer.Options{Today: day, Folder: f})
	if err != nil || len(again.Files) != 0 || again.Report.Held != 6 {
		t.Errorf("%v %+v", err, again.Report)
	}
}
