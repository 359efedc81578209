package importer_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"sayso/facts"
	"sayso/facts/dataset"
	"sayso/facts/importer"
	"sayso/report"
)

const publisherYAML = `format: sayso-dataset/1
publisher: {name: Example Figures, url: "https://figures.example/"}
namespaces:
  - name: uk
    description: UK figures
    periods: uk-tax-year
    authorities: [www.gov.uk, www.bankofengland.co.uk]
  - name: fr
    description: French figures
    periods: calendar-year
    authorities: [www.legifrance.gouv.fr]
  - name: us
    description: US figures
    periods: calendar-year
    authorities: [www.irs.gov]
  - name: eol
    description: Ends of support
    periods: none
    authorities: [devguide.python.org]
areas:
  - {name: uk-rates, namespace: uk}
  - {name: uk-fees, namespace: uk}
`

func date(t testing.TB, s string) facts.Date {
	t.Helper()
	d, err := facts.ParseDate(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// folder loads a publisher's folder of publisherYAML and the given files.
func folder(t testing.TB, files map[string]string) *dataset.Folder {
	t.Helper()
	f, r := dataset.Load(tree(withPublisher(files)))
	if r.Failed() {
		t.Fatal(failures(r))
	}
	return f
}

func withPublisher(files map[string]string) map[string]string {
	all := map[string]string{"publisher.yaml": publisherYAML}
	for name, data := range files {
		all[name] = data
	}
	return all
}

func tree(files map[string]string) fs.FS {
	out := fstest.MapFS{}
	for name, data := range files {
		out[name] = &fstest.MapFile{Data: []byte(data)}
	}
	return out
}

func failures(r *report.Report) string {
	var b strings.Builder
	for _, f := range r.Findings {
		if f.Outcome == report.Fail {
			b.WriteString(f.Rule + " " + f.Place + ": " + f.Message + "\n")
		}
	}
	return b.String()
}

func options(t testing.TB) importer.Options {
	return importer.Options{Today: date(t, "2026-11-30"), Folder: folder(t, nil)}
}

func mapping(t testing.TB, kind importer.Kind, body string) *importer.Mapping {
	t.Helper()
	m, err := importer.ParseMapping("map.yaml", []byte("format: sayso-mapping/1\nkind: "+string(kind)+"\n"+body))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// importing runs an import of any kind; a CSV import reads figures.csv.
func importing(t testing.TB, kind importer.Kind, body string, files map[string]string) *importer.Result {
	t.Helper()
	m := mapping(t, kind, body)
	var r *importer.Result
	var err error
	if kind == importer.CSV {
		r, err = importer.ImportCSV(strings.NewReader(files["figures.csv"]), "figures.csv", m, options(t))
	} else {
		r, err = importer.Import(tree(files), m, options(t))
	}
	if err != nil {
		t.Fatal(err)
	}
	loadable(t, r)
	return r
}

// loadable checks that the dataset reads every candidate file and that lint finds no error in it.
func loadable(t testing.TB, r *importer.Result) []dataset.Topic {
	t.Helper()
	files := map[string]string{}
	for _, f := range r.Files {
		files[f.Path] = string(f.Data)
	}
	f, load := dataset.Load(tree(withPublisher(files)))
	if load.Failed() {
		t.Fatalf("candidates do not load:\n%s%v", failures(load), files)
	}
	if lint := dataset.Lint(f, date(t, "2026-11-30")); lint.Failed() {
		t.Fatalf("candidates do not lint:\n%s%v", failures(lint), files)
	}
	return f.Candidates
}

// fact is one candidate of a result by its key.
func fact(t testing.TB, r *importer.Result, key string) dataset.Fact {
	t.Helper()
	for _, topic := range loadable(t, r) {
		for _, f := range topic.Facts {
			if f.Key == key {
				return f
			}
		}
	}
	t.Fatalf("%s was not taken: %v", key, r.Report.Refused)
	return dataset.Fact{}
}

// lines writes the dated values of a fact, newest first, as "value unit period from..to source".
func lines(f dataset.Fact) string {
	var b strings.Builder
	for _, v := range f.Values {
		b.WriteString(strings.Join([]string{v.Value.Text(), v.Unit, v.Period, v.From.String() + ".." + v.To.String()}, "|") + "\n")
	}
	return b.String()
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
