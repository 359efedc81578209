package dataset_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sayso/facts"
	"sayso/facts/dataset"
	"sayso/jcs"
)

func load(t testing.TB, dir string) *dataset.Folder {
	t.Helper()
	folder, r := dataset.Load(os.DirFS(dir))
	if r.Failed() {
		t.Fatal(list(r, "fail"))
	}
	return folder
}

func buildOptions(t testing.TB, out string) dataset.BuildOptions {
	return dataset.BuildOptions{Origin: "https://figures.example", Out: out, Today: day(t, today)}
}

func build(t testing.TB, dir string, o dataset.BuildOptions) *dataset.BuildResult {
	t.Helper()
	r, err := dataset.Build(context.Background(), load(t, dir), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestBuildSample(t *testing.T) {
	out := filepath.Join(t.TempDir(), "site")
	r := build(t, "testdata/sample", buildOptions(t, out))
	if r.Level != "L3" || r.Keys != 9 || r.Until != day(t, "2027-04-05") {
		t.Errorf("got %+v, want L3, 9 keys, until 2027-04-05", r)
	}
	site := contents(t, out)
	for _, name := range []string{".well-known/facts.json", ".well-known/changes.json", ".well-known/jwks.json", "changes.json", "changes.atom", "f/index.json",
		"schema/fact.v0.json", "llms.txt", "sitemap.xml", "_headers", "f/zz/bank-rate.json", "f/zz/personal-allowance.json"} {
		if site[name] == "" {
			t.Errorf("%s is missing", name)
		}
	}
	if len(site) != r.Files {
		t.Errorf("%d files, the result says %d", len(site), r.Files)
	}
	for name, text := range site {
		if strings.HasSuffix(name, ".json") && jcs.Check([]byte(text)) != nil {
			t.Errorf("%s is not strict JSON", name)
		}
	}
	record, err := facts.ParseRecord([]byte(site["f/zz/personal-allowance.json"]))
	if err != nil {
		t.Fatal(err)
	}
	if record.Key != "zz/income-tax/personal-allowance" || record.RequestedKey != "zz/personal-allowance" || record.Status != "" || record.Signature == nil {
		t.Errorf("the alias copy is %s", record.JSON())
	}
	if withdrawn := site["f/zz/other/vat-notch.json"]; !strings.Contains(withdrawn, `"value":null`) || !strings.Contains(withdrawn, `"supersededBy":"zz/other/vat-threshold"`) {
		t.Errorf("the withdrawn record is %s", withdrawn)
	}
	if differing, err := dataset.Verify(context.Background(), load(t, "testdata/sample"), buildOptions(t, out)); err != nil || len(differing) > 0 {
		t.Errorf("verify: %v, %v", differing, err)
	}
	write(t, out, map[string]string{"f/index.json": "{}", "extra.txt": "x"})
	differing, err := dataset.Verify(context.Background(), load(t, "testdata/sample"), buildOptions(t, out))
	if want := []string{"extra.txt", "f/index.json"}; err != nil || !slices.Equal(differing, want) {
		t.Errorf("verify finds %v, %v, want %v", differing, err, want)
	}
}

// shuffledFS lists its folders in reverse.
type shuffledFS struct{ fs.FS }

func (s shuffledFS) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(s.FS, name)
	slices.Reverse(entries)
	return entries, err
}

// The bytes depend on folder, origin, level and as-of alone (F§10.8).
func TestBuildIsDeterministic(t *testing.T) {
	first := filepath.Join(t.TempDir(), "a")
	build(t, "testdata/sample", buildOptions(t, first))
	t.Setenv("TZ", "Pacific/Auckland")
	t.Setenv("LC_ALL", "tr_TR.UTF-8")
	folder, r := dataset.Load(shuffledFS{os.DirFS("testdata/sample")})
	if r.Failed() {
		t.Fatal(list(r, "fail"))
	}
	second := filepath.Join(t.TempDir(), "b")
	o := buildOptions(t, second)
	o.Today, o.AsOf = o.Today+20, day(t, "2026-12-24") // between the same boundaries
	if _, err := dataset.Build(context.Background(), folder, o); err != nil {
		t.Fatal(err)
	}
	a, b := contents(t, first), contents(t, second)
	for name := range a {
		if a[name] != b[name] {
			t.Errorf("%s differs:\n%s\n%s", name, a[name], b[name])
		}
	}
	if len(a) != len(b) {
		t.Errorf("%d files and %d", len(a), len(b))
	}
	err := fs.WalkDir(os.DirFS(second), ".", func(name string, d fs.DirEntry, err error) error {
		info, _ := d.Info()
		if want := map[bool]fs.FileMode{true: 0o755, false: 0o644}[d.IsDir()]; info.Mode().Perm() != want {
			t.Errorf("%s has mode %o", name, info.Mode().Perm())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestBuildLevels(t *testing.T) {
	o := buildOptions(t, filepath.Join(t.TempDir(), "site"))
	o.Level = "L1"
	build(t, "testdata/sample", o)
	site := contents(t, o.Out)
	if strings.Contains(site["f/zz/bank-rate.json"], "signature") || site[".well-known/jwks.json"] != "" {
		t.Error("an L1 build carries signatures")
	}
	dir := initialised(t)
	for level, kind := range map[string]string{"L3": "FolderError", "L2": "usage", "L9": "usage"} {
		o.Level = level
		_, err := dataset.Build(context.Background(), load(t, dir), o)
		var lint *dataset.FolderError
		var e *dataset.Error
		if got := errors.As(err, &lint); got != (kind == "FolderError") || !got && (!errors.As(err, &e) || e.Kind != dataset.Usage) {
			t.Errorf("%s: got %v, want %s", level, err, kind)
		}
	}
}

// VF-L1-003: the file of a key without a value in force holds the record that the index lists as not in force; its own dates say so.
func TestBuildAsOf(t *testing.T) {
	o := buildOptions(t, filepath.Join(t.TempDir(), "site"))
	for asOf, want := range map[string]string{"2026-02-04": `"value":4,`, "2026-02-05": `"value":3.75,`, "2020-01-01": `"value":4,`} {
		o.AsOf = day(t, asOf)
		build(t, "testdata/sample", o)
		if got := read(t, o.Out, "f/zz/bank-rate.json"); !strings.Contains(got, want) {
			t.Errorf("as of %s: got %s, want %s", asOf, got, want)
		}
	}
}

// A key can be a file where the segment of another has to be a folder: such a site is refused by their names, and the output stays.
func TestBuildRefusesKeysThatAreOneFile(t *testing.T) {
	dir := sampleCopy(t)
	const topic = `topic: {prefix: zz/PREFIX, title: Clash, area: zz-rates}
facts:
  - key: one
    label: The clash of PREFIX
    values:
      - {value: 1, effectiveFrom: 2026-01-01, source: "https://tax.example/x", sourceType: derived, method: made up}
`
	write(t, dir, map[string]string{
		"candidates/a.yaml": strings.Replace(strings.ReplaceAll(topic, "PREFIX", "clash"), "key: one", `key: "."`, 1),
		"candidates/b.yaml": strings.ReplaceAll(topic, "PREFIX", "clash.json"),
	})
	if _, err := dataset.ConfirmConverted(dir, dataset.ConvertOptions{All: true, Date: day(t, today), Today: day(t, today)}); err != nil {
		t.Fatal(err)
	}
	o := buildOptions(t, filepath.Join(t.TempDir(), "site"))
	o.Level = "L1"
	_, err := dataset.Build(context.Background(), load(t, dir), o)
	wantKind(t, err, dataset.Refused, "zz/clash and the folder of zz/clash.json/one")
	if _, err := os.Stat(o.Out); err == nil {
		t.Error("something was written")
	}
}

func TestBuildRefusals(t *testing.T) {
	sample := load(t, "testdata/sample")
	for _, origin := range []string{"", "figures.example", "http://figures.example", "https://figures.example/", "https://figures.example/x", "ftp://localhost", "https://u@figures.example"} {
		o := buildOptions(t, filepath.Join(t.TempDir(), "site"))
		o.Origin = origin
		if _, err := dataset.Build(context.Background(), sample, o); err == nil {
			t.Errorf("origin %q is accepted", origin)
		}
	}
	for _, origin := range []string{"http://localhost:8470", "http://127.0.0.1", "http://[::1]:80", "https://figures.example:8443"} {
		o := buildOptions(t, filepath.Join(t.TempDir(), "site"))
		o.Origin = origin
		build(t, "testdata/sample", o)
	}
	other := t.TempDir()
	write(t, other, map[string]string{"thesis.txt": "years of work"})
	for _, out := range []string{other, sampleCopy(t), ""} {
		if _, err := dataset.Build(context.Background(), sample, buildOptions(t, out)); err == nil {
			t.Errorf("a folder that no build made is replaced")
		}
	}
	o := buildOptions(t, filepath.Join(t.TempDir(), "site"))
	o.Today = day(t, "2026-11-01")
	if _, err := dataset.Build(context.Background(), sample, o); err == nil {
		t.Error("a verifiedDate after the real today is built")
	}
}

// The output folder may be named relative to the current folder, in it too.
func TestBuildRelativeOut(t *testing.T) {
	folder := load(t, "testdata/sample")
	t.Chdir(t.TempDir())
	for _, out := range []string{"site", "./other", "below/site"} {
		if _, err := dataset.Build(context.Background(), folder, buildOptions(t, out)); err != nil {
			t.Errorf("%s: %v", out, err)
		}
	}
}

// A failed or cancelled build leaves the old output and nothing else.
func TestBuildKeepsOldOutput(t *testing.T) {
	o := buildOptions(t, filepath.Join(t.TempDir(), "site"))
	build(t, "testdata/sample", o)
	before := contents(t, o.Out)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := dataset.Build(ctx, load(t, "testdata/sample"), o); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want cancelled", err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(o.Out)); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
	if !maps.Equal(before, contents(t, o.Out)) {
		t.Error("the old output changed")
	}
	dir := sampleCopy(t)
	if err := os.Remove(filepath.Join(dir, "signatures.json")); err != nil {
		t.Fatal(err)
	}
	o.Level = "L1"
	build(t, dir, o)
	if _, err := os.Stat(filepath.Join(o.Out, ".well-known", "jwks.json")); err == nil {
		t.Error("a file of the old build is left")
	}
}

func TestJoin(t *testing.T) {
	a, err := load(t, "testdata/sample").Dataset(dataset.DatasetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := load(t, initialised(t)).Dataset(dataset.DatasetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	joined, err := dataset.Join(facts.Publisher{Name: "Joined", URL: "http://127.0.0.1:8470"}, a, b)
	if err != nil {
		t.Fatal(err)
	}
	if len(joined.Facts) != 10 || len(joined.Namespaces) != 2 || len(joined.Changes) != len(a.Changes)+1 || joined.Signed {
		t.Errorf("got %d facts, %d namespaces, %d changes", len(joined.Facts), len(joined.Namespaces), len(joined.Changes))
	}
	if _, err := facts.CheckChain(joined.Changes); err != nil {
		t.Error(err)
	}
	dataset.SignDataset(joined, testKey(t), day(t, today))
	s, err := facts.NewSnapshot(joined, facts.Options{Origin: "http://127.0.0.1:8470", Conformance: "L3"})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := s.Get("uk/personal-allowance", facts.Selection{MaxAge: facts.NoMaxAge}, day(t, today))
	if err != nil || !bytes.Contains(answer.AppendJSON(nil), []byte(`"jws":`)) {
		t.Errorf("got %s, %v", answer.AppendJSON(nil), err)
	}
	if _, err := dataset.Join(joined.Publisher, a, a); err == nil {
		t.Error("a dataset is joined with itself")
	}
	if a.Facts[0].Values[0].Signature == nil {
		t.Error("joining changed a part")
	}
}

// HTML is written for records, alias copies, the index and the changes when pages are given, with their assets and policy.
func TestBuildPages(t *testing.T) {
	o := buildOptions(t, filepath.Join(t.TempDir(), "site"))
	o.Pages = &facts.Pages{
		Fact: func(w io.Writer, _ *facts.Snapshot, a *facts.Answer, _ facts.Date) error {
			_, err := io.WriteString(w, "fact "+a.Key+" "+a.RequestedKey)
			return err
		},
		Index: func(w io.Writer, _ *facts.Snapshot, _ string, _ facts.Date) error {
			_, err := io.WriteString(w, "index")
			return err
		},
		Changes: func(w io.Writer, _ *facts.Snapshot, _ facts.Date) error {
			_, err := io.WriteString(w, "changes")
			return err
		},
		Assets: map[string][]byte{"style.css": []byte("body{}")},
		CSP:    "default-src 'none'",
	}
	var last, total int
	o.Progress = func(done, of int) { last, total = done, of }
	build(t, "testdata/sample", o)
	for name, want := range map[string]string{
		"f/zz/bank-rate.html": "fact zz/bank-rate ", "f/zz/personal-allowance.html": "fact zz/income-tax/personal-allowance zz/personal-allowance",
		"f/index.html": "index", "index.html": "index", "changes.html": "changes", "assets/style.css": "body{}",
	} {
		if got := read(t, o.Out, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	headers := read(t, o.Out, "_headers")
	for _, want := range []string{"Access-Control-Allow-Origin: *", "X-Content-Type-Options: nosniff", "Content-Security-Policy: default-src 'none'", "/.well-known/jwks.json\n"} {
		if !strings.Contains(headers, want) {
			t.Errorf("_headers lacks %q", want)
		}
	}
	if last != 9 || total != 9 {
		t.Errorf("progress ends at %d of %d", last, total)
	}
	o.Pages.Fact = func(io.Writer, *facts.Snapshot, *facts.Answer, facts.Date) error {
		return errors.New("template broken")
	}
	if _, err := dataset.Build(context.Background(), load(t, "testdata/sample"), o); err == nil || !strings.Contains(err.Error(), "template broken") {
		t.Errorf("got %v", err)
	}
}
