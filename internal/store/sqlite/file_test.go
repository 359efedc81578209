package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sayso/internal/app"
	"sayso/internal/store"
	"sayso/internal/store/sqlite"
	"sayso/internal/store/storetest"
)

// The driver is only right with the libc it was translated against: the version that its own go.mod names.
func TestLibcIsTheOneTheDriverPins(t *testing.T) {
	version := func(module string) (selected, mod string) {
		out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}{{with .Replace}} replaced{{end}}\n{{.GoMod}}", module).Output()
		if err != nil {
			t.Fatal(err)
		}
		selected, mod, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
		return selected, mod
	}
	_, mod := version("modernc.org/sqlite")
	text, err := os.ReadFile(mod)
	if err != nil {
		t.Fatal(err)
	}
	pinned := regexp.MustCompile(`modernc\.org/libc (v\S+)`).FindSubmatch(text)
	if pinned == nil {
		t.Fatalf("%s names no libc", mod)
	}
	if selected, _ := version("modernc.org/libc"); selected != string(pinned[1]) {
		t.Errorf("built with libc %s, the driver pins %s: another requirement has raised it", selected, pinned[1])
	}
}

func TestFilesAreTheirOwnersOnly(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "sayso.db"))
	storetest.Fill(t, s)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) < 2 {
		t.Fatalf("%v, %v", entries, err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s has mode %v, %v", e.Name(), info.Mode(), err)
		}
	}
}

func TestPathsOfEveryKind(t *testing.T) {
	for _, name := range []string{"a b.db", "50%.db", "what?.db", "#1.db", "a&b=c.db", "ä😀.db", "%41.db"} {
		path := filepath.Join(t.TempDir(), name)
		s := open(t, path)
		storetest.Fill(t, s)
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	foreign := filepath.Join(dir, "foreign.db")
	db, err := sql.Open("sqlite", foreign)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE films (title TEXT)"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	for path, want := range map[string]string{
		write("text.db", []byte(strings.Repeat("no database ", 100))): "damaged",
		foreign:                               "another program",
		dir:                                   "regular file",
		filepath.Join(dir, "no", "folder.db"): "no such file",
	} {
		before, _ := os.ReadFile(path)
		s, err := sqlite.Open(t.Context(), path)
		if err == nil {
			s.Close()
			t.Errorf("%s was opened", path)
			continue
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Errorf("%s was changed", path)
		}
	}
}

// next is what a later release would bring.
func next(t *testing.T, sql string) []store.Migration {
	t.Helper()
	return append(slices.Clip(sqlite.Migrations()), store.Migration{Number: len(sqlite.Migrations()) + 1, Name: "more_to_come", SQL: sql, Sum: "sum"})
}

func TestMigration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sayso.db")
	s := open(t, path)
	storetest.Fill(t, s)
	s.Close()
	before := folder(t, filepath.Dir(path))

	// A migration that fails leaves the database as it was, with the copy beside it.
	if _, err := sqlite.OpenWith(t.Context(), path, next(t, "CREATE TABLE more (a TEXT); CREATE TABLE heads (a TEXT)")); err == nil {
		t.Fatal("a migration that fails was taken")
	}
	if steps, err := sqlite.Plan(t.Context(), path); err != nil || len(steps) != 0 {
		t.Fatalf("%v, %v", steps, err)
	}
	if got := folder(t, filepath.Dir(path)); !bytes.Equal(got["sayso.db"], before["sayso.db"]) {
		t.Error("the file was changed by a migration that failed")
	}

	newer, err := sqlite.OpenWith(t.Context(), path, next(t, "CREATE TABLE more (a TEXT) STRICT"))
	if err != nil {
		t.Fatal(err)
	}
	storetest.Filled(t, newer)
	if _, schema, err := newer.Describe(t.Context()); err != nil || schema != len(sqlite.Migrations())+1 {
		t.Errorf("schema %d, %v", schema, err)
	}
	newer.Close()
	for _, name := range []string{fmt.Sprintf(".schema-%d.bak", len(sqlite.Migrations())), fmt.Sprintf(".schema-%d-2.bak", len(sqlite.Migrations()))} {
		copied := open(t, path+name)
		storetest.Filled(t, copied)
		copied.Close()
		if info, err := os.Stat(path + name); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}

	// The older program refuses it and leaves every byte where it is.
	before = folder(t, filepath.Dir(path))
	if _, err := sqlite.Open(t.Context(), path); !errors.Is(err, app.ErrNewerSchema) {
		t.Fatalf("the older program says %v", err)
	}
	if _, err := sqlite.Plan(t.Context(), path); !errors.Is(err, app.ErrNewerSchema) {
		t.Errorf("plan: %v", err)
	}
	for name, data := range folder(t, filepath.Dir(path)) {
		if old, ok := before[name]; (!ok && len(data) > 0 && !strings.HasSuffix(name, "-shm")) || ok && !bytes.Equal(old, data) {
			t.Errorf("%s was changed by a program that refused it", name)
		}
	}
}

func folder(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out[name], err = os.ReadFile(filepath.Join(dir, name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPlanChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sayso.db")
	steps, err := sqlite.Plan(t.Context(), path)
	if err != nil || !strings.Contains(store.PlanText(steps), "migration 1: registry") {
		t.Errorf("%v, %v", steps, err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a plan made a file: %v", err)
	}
}

// Many programs that start at once agree on one schema.
func TestOpenAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sayso.db")
	errs := make(chan error)
	for range 8 {
		go func() {
			s, err := sqlite.Open(context.Background(), path)
			if err == nil {
				err = errors.Join(s.Check(context.Background()), s.Close())
			}
			errs <- err
		}()
	}
	for range 8 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func TestBesideAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sayso.db")
	storetest.Beside(t, path, open(t, path))
}

// A full disk refuses the act as a whole; reading goes on, and so does writing once there is room.
func TestDiskFull(t *testing.T) {
	ctx := context.Background()
	s := open(t, filepath.Join(t.TempDir(), "sayso.db"))
	storetest.Fill(t, s)
	if _, err := s.Writer().Exec("PRAGMA max_page_count = 60"); err != nil {
		t.Fatal(err)
	}
	rows := func(yield func(app.RecordRow, error) bool) {
		for i := range 200 {
			if !yield(app.RecordRow{RecordKey: app.RecordKey{Type: "service", ID: fmt.Sprint(i)}, Body: make([]byte, 10000)}, nil) {
				return
			}
		}
	}
	err := s.Update(ctx, "op", func(w app.Writer) error { _, err := w.PutRecords(ctx, "full", rows); return err })
	var failure *store.Failure
	if !errors.As(err, &failure) || failure.Class != store.Full || strings.Contains(err.Error(), "INSERT") || strings.Contains(err.Error(), "records (") {
		t.Fatalf("error %v", err)
	}
	storetest.Filled(t, s)
	if _, err := s.Writer().Exec("PRAGMA max_page_count = 100000"); err != nil {
		t.Fatal(err)
	}
	if err := s.Update(ctx, "op", func(w app.Writer) error { return w.DeleteHost(ctx, "none.example") }); err != nil {
		t.Error(err)
	}
	storetest.Filled(t, s)
}

func TestImportsFoldTheWriteAheadFileBack(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "sayso.db")
	s := open(t, path)
	storetest.Fill(t, s)
	rows := func(yield func(app.RecordRow, error) bool) {
		for i := range 10_000 {
			if !yield(app.RecordRow{RecordKey: app.RecordKey{Type: "service", ID: fmt.Sprint(i)}, Body: []byte(`{}`)}, nil) {
				return
			}
		}
	}
	if err := s.Update(ctx, "", func(w app.Writer) error { _, err := w.PutRecords(ctx, "full", rows); return err }); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() != 0 {
		t.Errorf("the write-ahead file has %d bytes after an import, %v", info.Size(), err)
	}
	var timeout int
	if err := s.Writer().QueryRow("PRAGMA busy_timeout").Scan(&timeout); err != nil || timeout != 5000 {
		t.Errorf("busy_timeout %d, %v", timeout, err)
	}
}

// What no program of ours would write is found by the check.
func TestCheckFindsDamage(t *testing.T) {
	for statement, want := range map[string]string{
		"UPDATE publishers SET generation = 99 WHERE slug = 'full'":                               "ahead of their head",
		"INSERT INTO heads VALUES ('ghost', 3)":                                                   "heads have no publisher",
		"DELETE FROM publishers WHERE slug = 'full'":                                              "records have no publisher",
		"DELETE FROM revocations WHERE publisher = 'full' AND position = 1":                       "a gap",
		"UPDATE records SET body = x'00' WHERE id = 'b'":                                          "no JSON object",
		"UPDATE publisher_keys SET entry = CAST('{\"kid\":\"other\"}' AS BLOB)":                   "another kid",
		"DELETE FROM publishers WHERE slug = 'full' -- ":                                          "readings have no publisher",
		"UPDATE readings SET value = x'00' WHERE stream = 'queue'":                                "no JSON",
		"UPDATE registry_keys SET entry = CAST('{\"kid\":\"x\",\"kid\":\"registry-1\"}' AS BLOB)": "damaged",
	} {
		s := open(t, filepath.Join(t.TempDir(), "sayso.db"))
		storetest.Fill(t, s)
		if _, err := s.Writer().Exec("PRAGMA foreign_keys = 0; " + statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		if err := s.Check(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", statement, err, want)
		}
	}
}

// A page that was overwritten is found, and reading says so instead of guessing.
func TestCheckFindsOverwrittenPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sayso.db")
	s := open(t, path)
	storetest.Fill(t, s)
	s.Close()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(data, []byte(`{"id":"b","price":1.50}`))
	page := at / 4096 * 4096
	copy(data[page:page+4096], bytes.Repeat([]byte{0xA5}, 4096))
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := open(t, path).Check(t.Context()); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("overwritten page: %v", err)
	}
}

// The fixture was written by the first release; later ones must read it. It is made anew only when schema 1 is not released yet:
// SAYSO_WRITE_FIXTURE=1 go test -run TestFixture ./internal/store/...
func TestFixtureOfSchema1(t *testing.T) {
	const fixture = "testdata/schema-1.db"
	path := filepath.Join(t.TempDir(), "sayso.db")
	if os.Getenv("SAYSO_WRITE_FIXTURE") != "" {
		s, err := sqlite.OpenWith(t.Context(), path, sqlite.Migrations()[:1])
		if err != nil {
			t.Fatal(err)
		}
		storetest.Fill1(t, s)
		s.Close()
		data, err := os.ReadFile(path)
		if err := errors.Join(err, os.MkdirAll("testdata", 0o755), os.WriteFile(fixture, data, 0o644), os.Remove(path)); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	storetest.Filled1(t, s)
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path + ".schema-1.bak"); err != nil {
		t.Errorf("no copy of the older schema: %v", err)
	}
	storetest.FillReadings(t, s)
	storetest.Filled(t, s)
}
