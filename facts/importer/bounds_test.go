package importer_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"sayso/facts/importer"
)

// What is beyond the bounds is refused by name, and the rest of the tree is read.
func TestForeignFilesAreBounded(t *testing.T) {
	for name, c := range map[string]struct{ data, says string }{
		"duplicate":      {"a: 1\na: 2\n", `"a" stands twice`},
		"duplicate deep": {"a:\n  b: {c: 1, d: 2, c: 3}\n", `"c" stands twice`},
		"alias":          {"a: &x 1\nb: *x\n", "anchor or alias"},
		"billion laughs": {"a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n", "anchor or alias"},
		"merge key":      {"a: {<<: {b: 1}}\n", "no plain text"},
		"tag":            {"a: !!python/object:os.system ls\n", "a tag is refused"},
		"two documents":  {"a: 1\n---\nb: 2\n", "second document"},
		"deep":           {strings.Repeat("[", 40) + strings.Repeat("]", 40), "nested deeper"},
		"deeper":         {strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), "well-formed"},
		"not UTF-8":      {"a: \xff\n", "not UTF-8"},
		"not YAML":       {"a: [\n", "not well-formed"},
		"too large":      {"a: 1\n#" + strings.Repeat("x", 4<<20), "more than 4 MiB"},
		"list as name":   {"? [a]\n: 1\n", "no plain text"},
	} {
		r := importing(t, importer.OpenFisca, one, map[string]string{"a.yaml": goodLeaf, "bad.yaml": c.data})
		if len(r.Report.Refused) != 1 || r.Report.Refused[0].Rule != "VF-I-21" || r.Report.Refused[0].File != "bad.yaml" || !strings.Contains(r.Report.Refused[0].Message, c.says) {
			t.Errorf("%s: %+v", name, r.Report.Refused)
		}
		if r.Report.Taken != 1 {
			t.Errorf("%s: the good file was not read", name)
		}
	}
	for name, data := range map[string]string{"empty": "", "comment": "# nothing\n", "scalar": "5\n"} {
		if r := importing(t, importer.OpenFisca, one, map[string]string{"a.yaml": goodLeaf, "other.yaml": data}); len(r.Report.Refused) != 0 || r.Report.Taken != 1 {
			t.Errorf("%s: %+v", name, r.Report)
		}
	}
}

func TestLinksAndHiddenFilesAreNotRead(t *testing.T) {
	src := fstest.MapFS{
		"a.yaml":          {Data: []byte(goodLeaf)},
		"link.yaml":       {Data: []byte("a.yaml"), Mode: fs.ModeSymlink | 0o777},
		".git/a.yaml":     {Data: []byte("a: [")},
		".hidden.yaml":    {Data: []byte("a: [")},
		"notes/README.md": {Data: []byte("a: [")},
	}
	r, err := importer.Import(src, mapping(t, importer.OpenFisca, one), options(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Report.Refused) != 1 || r.Report.Refused[0].File != "link.yaml" || r.Report.Taken != 1 {
		t.Errorf("%+v", r.Report)
	}
}

func TestImportErrors(t *testing.T) {
	m := mapping(t, importer.OpenFisca, "parameters: {}\n")
	if _, err := importer.Import(os.DirFS(filepath.Join(t.TempDir(), "absent")), m, options(t)); err == nil {
		t.Error("an absent tree was imported")
	}
	if _, err := importer.Import(tree(nil), m, importer.Options{}); err == nil {
		t.Error("an import without day and folder was made")
	}
	if _, err := importer.Import(tree(nil), mapping(t, importer.CSV, ""), options(t)); err == nil {
		t.Error("a CSV mapping was applied to a tree")
	}
	if _, err := importer.ImportCSV(strings.NewReader(""), "f.csv", m, options(t)); err == nil {
		t.Error("a tree mapping was applied to a CSV file")
	}
}

func TestCSVIsStrict(t *testing.T) {
	head := "key,label,value,source\n"
	for name, c := range map[string]struct{ data, says string }{
		"empty":          {"", "no header row"},
		"byte mark":      {"\ufeff" + head, "byte order mark"},
		"not UTF-8":      {head + "uk/a/b,\xff,1,https://www.gov.uk/b\n", "not UTF-8"},
		"unknown column": {"key,label,value,source,verifiedDate\n", `"verifiedDate" is unknown`},
		"column twice":   {"key,label,value,source,key\n", "stands twice"},
		"no source":      {"key,label,value\n", "no column source"},
		"short row":      {head + "uk/a/b,B,1\n", ":2: the row has 3 cells and the header 4"},
		"bare quote":     {head + "uk/a/b,B \"x\",1,https://www.gov.uk/b\n", `bare "`},
		"open quote":     {head + "uk/a/b,\"B,1,https://www.gov.uk/b\n", `"`},
		"spaces":         {"key, label,value,source\n", "is unknown"},
	} {
		_, err := importer.ImportCSV(strings.NewReader(c.data), "figures.csv", mapping(t, importer.CSV, ""), options(t))
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "figures.csv") {
			t.Errorf("%s: %v, want %s", name, err, c.says)
		}
	}
	for name, row := range map[string]string{
		"no label":         "uk/a/b,,1,,,,,https://www.gov.uk/b,",
		"long quote":       "uk/a/b,B,1,,,,,https://www.gov.uk/b," + strings.Repeat("x", 501),
		"direction":        "uk/a/b,B,1,,\u202e2026,,,https://www.gov.uk/b,",
		"impossible date":  "uk/a/b,B,1,,,2026-02-30,,https://www.gov.uk/b,",
		"end before start": "uk/a/b,B,1,,,2026-02-03,2026-02-02,https://www.gov.uk/b,",
		"no value":         "uk/a/b,B,,,,,,https://www.gov.uk/b,",
		"text with money":  "uk/a/b,B,much,GBP,,,,https://www.gov.uk/b,",
		"two lines":        "uk/a/b,B,\"a\nb\",,,,,https://www.gov.uk/b,",
	} {
		if r := importing(t, importer.CSV, "", csvRows(row)).Report; r.Taken != 0 || len(r.Refused) != 1 || r.Refused[0].Rule != "VF-I-23" {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// F§11.1: no type guessing beyond JSON numbers and booleans.
func TestCSVTypes(t *testing.T) {
	for value, want := range map[string]string{"12.50": "12.5", "true": "true", "True": `"True"`, "null": `"null"`, "1e3": "1000", "2026-01-01": `"2026-01-01"`, "x": `"x"`, "1.2.3": `"1.2.3"`, "yes": `"yes"`} {
		unit := ""
		if value == "true" {
			unit = "rule"
		}
		f := fact(t, importing(t, importer.CSV, "", csvRows("uk/a/b,B,"+value+","+unit+",,,,https://www.gov.uk/b,")), "uk/a/b")
		if string(f.Values[0].Value) != want {
			t.Errorf("%s: %s, want %s", value, f.Values[0].Value, want)
		}
	}
	for _, value := range []string{"015", "+1", "1_000", "12 500", "£12", ".5", "5."} {
		if r := importing(t, importer.CSV, "", csvRows("uk/a/b,B,"+value+",,,,,https://www.gov.uk/b,")).Report; r.Taken != 0 {
			t.Errorf("%s was taken", value)
		}
	}
}

// VF-I-08: an open value of a labelled year ends with its year when the next label is not the next year.
func TestCSVGapIsNotBridged(t *testing.T) {
	r := importing(t, importer.CSV, "", csvRows("uk/a/b,B,1,GBP,2015-16,2015-04-06,,https://www.gov.uk/b,", "uk/a/b,B,2,GBP,2017-18,2017-04-06,,https://www.gov.uk/b,"))
	if got := lines(fact(t, r, "uk/a/b")); got != "2|GBP|2017-18|2017-04-06..\n1|GBP|2015-16|2015-04-06..2016-04-05\n" {
		t.Error(got)
	}
	if len(r.Report.Notes) != 1 || r.Report.Notes[0].Rule != "VF-I-08" {
		t.Errorf("%+v", r.Report.Notes)
	}
}

func TestWrite(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	file := importer.File{Path: "candidates/csv/uk/a.yaml", Data: []byte("facts: []\n")}
	name := filepath.Join(dir, "candidates", "csv", "uk", "a.yaml")
	if err := importer.Write(dir, []importer.File{file}); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := importer.Write(dir, []importer.File{file}); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.Stat(name); !os.SameFile(before, after) {
		t.Error("a file with the same bytes was written again")
	}
	// What a crash left is replaced, and nothing of it stays.
	if err := os.WriteFile(filepath.Join(filepath.Dir(name), ".sayso-tmp-a.yaml"), []byte("half"), 0o644); err != nil {
		t.Fatal(err)
	}
	file.Data = []byte("facts: [] # new\n")
	if err := importer.Write(dir, []importer.File{file}); err != nil {
		t.Fatal(err)
	}
	entries, _ := os.ReadDir(filepath.Dir(name))
	if data, _ := os.ReadFile(name); string(data) != string(file.Data) || len(entries) != 1 {
		t.Errorf("%q, %d files", data, len(entries))
	}
	for _, bad := range []string{"publisher.yaml", "../a.yaml", "candidates/../topics/a.yaml", "/etc/a.yaml", "candidates", ""} {
		if err := importer.Write(dir, []importer.File{{Path: bad, Data: []byte("x")}}); err == nil {
			t.Errorf("%q was written", bad)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "candidates", "link")); err != nil {
		t.Fatal(err)
	}
	if err := importer.Write(dir, []importer.File{{Path: "candidates/link/a.yaml", Data: []byte("x")}}); err == nil {
		t.Error("a file was written through a link out of the folder")
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 0 {
		t.Error("something lies outside the folder")
	}
}
