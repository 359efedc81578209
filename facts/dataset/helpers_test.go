package dataset_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"sayso/facts"
	"sayso/facts/dataset"
	"sayso/jwk"
	"sayso/report"
)

// The private test key that RFC 8037 Appendix A prints. It proves nothing about anybody.
const rfc8037Key = `{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"ex-2026-10"}`

func testKey(t testing.TB) *jwk.PrivateKey {
	t.Helper()
	key, err := jwk.ParsePrivate([]byte(rfc8037Key))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func day(t testing.TB, s string) facts.Date {
	t.Helper()
	d, err := facts.ParseDate(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

const today = "2026-11-30"

// write lays out a folder from a txtar-like map.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		target := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(target, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t testing.TB, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// contents is every file of a folder by name.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		out[name] = read(t, dir, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// memory is a folder in memory.
func memory(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

func lintDir(t testing.TB, dir string) *report.Report {
	t.Helper()
	folder, _ := dataset.Load(os.DirFS(dir))
	return dataset.Lint(folder, day(t, today))
}

func list(r *report.Report, outcomes ...report.Outcome) string {
	var b strings.Builder
	for _, f := range r.Findings {
		for _, o := range outcomes {
			if f.Outcome == o {
				fmt.Fprintf(&b, "%s %s %s: %s (%s; %s)\n", f.Rule, f.Outcome, f.Place, f.Message, f.Reason, f.Next)
			}
		}
	}
	return b.String()
}

func wantClean(t testing.TB, r *report.Report) {
	t.Helper()
	if s := list(r, report.Fail, report.Warning, report.NotTested); s != "" {
		t.Errorf("the folder does not lint clean:\n%s", s)
	}
}

// initialised makes the example folder.
func initialised(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if _, err := dataset.Init(dir, day(t, today)); err != nil {
		t.Fatal(err)
	}
	return dir
}
