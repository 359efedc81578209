package demo_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"sayso/examples"
	"sayso/facts"
	"sayso/facts/dataset"
	"sayso/internal/demo"
	"sayso/internal/keyfile"
	"sayso/safefetch"
)

var samples = []string{"facts/uk", "facts/fr", "facts/eol"}

func today() facts.Date { return facts.DateOf(time.Now()) }

func signingKey(t *testing.T, folder string) *demo.Key {
	t.Helper()
	key, err := demo.SigningKey(folder, demo.Prefix, nil, today())
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func prepare(t *testing.T, folder, origin string, key *demo.Key) *dataset.SignResult {
	t.Helper()
	result, err := demo.Prepare(examples.Facts, samples, folder, origin, key, today())
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// One publisher, every sample figure, signed for its origin; again only when the origin changed.
func TestPrepare(t *testing.T) {
	dir := t.TempDir()
	folder, key := filepath.Join(dir, "facts"), signingKey(t, filepath.Join(dir, "keys"))
	first := prepare(t, folder, "http://127.0.0.1:8470", key)
	ds, report, err := dataset.Open(os.DirFS(folder), today(), dataset.DatasetOptions{})
	if err != nil {
		t.Fatal(err, report)
	}
	if len(ds.Facts) < 600 || !ds.Signed || ds.Publisher != (facts.Publisher{Name: demo.Name, URL: "http://127.0.0.1:8470"}) {
		t.Errorf("%d facts, signed %v, publisher %+v", len(ds.Facts), ds.Signed, ds.Publisher)
	}
	values := 0
	for _, f := range ds.Facts {
		for _, v := range f.Values {
			values++
			if v.SourceType != dataset.SourceDerived || v.Method == "" || !v.Converted {
				t.Fatalf("%s claims to have been read: %+v", f.Key, v)
			}
		}
	}
	if len(first.New) != values || first.Kept != 0 {
		t.Errorf("%d new and %d kept signatures for %d values", len(first.New), first.Kept, values)
	}
	if head, err := facts.CheckChain(ds.Changes); err != nil || head == "" {
		t.Errorf("changelog: head %q, %v", head, err)
	}
	if again := prepare(t, folder, "http://127.0.0.1:8470", key); len(again.New) != 0 || again.Kept != values {
		t.Errorf("the same origin: %d new, %d kept", len(again.New), again.Kept)
	}
	if moved := prepare(t, folder, "http://127.0.0.1:9999", key); len(moved.New) != values || moved.Dropped != values {
		t.Errorf("another origin: %d new, %d dropped", len(moved.New), moved.Dropped)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".facts-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// What the user changed in a kept folder stays; what cannot be moved to another origin is said, not overwritten.
func TestPrepareKeepsTheUsersFolder(t *testing.T) {
	dir := t.TempDir()
	folder, key := filepath.Join(dir, "facts"), signingKey(t, filepath.Join(dir, "keys"))
	prepare(t, folder, "http://127.0.0.1:1", key)
	name := filepath.Join(folder, "publisher.yaml")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	edited := bytes.Replace(text, []byte("UK tax allowances"), []byte("My allowances"), 1)
	if err := os.WriteFile(name, edited, 0o644); err != nil {
		t.Fatal(err)
	}
	prepare(t, folder, "http://127.0.0.1:2", key)
	if text, _ = os.ReadFile(name); !bytes.Contains(text, []byte("My allowances")) || !bytes.Contains(text, []byte(`url: "http://127.0.0.1:2"}`)) {
		t.Error("the edit or the new origin is missing")
	}
	reshaped := bytes.Replace(text, []byte(`url: "http://127.0.0.1:2"}`), []byte("url: http://127.0.0.1:2}"), 1)
	if err := os.WriteFile(name, reshaped, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := demo.Prepare(examples.Facts, samples, folder, "http://127.0.0.1:3", key, today()); err == nil || !strings.Contains(err.Error(), "by hand") {
		t.Errorf("error %v", err)
	}
	if text, _ = os.ReadFile(name); !bytes.Equal(text, reshaped) {
		t.Error("the file was changed")
	}
}

func passphrase(text string) func() ([]byte, error) {
	return func() ([]byte, error) { return []byte(text), nil }
}

func TestSigningKey(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "keys")
	first := signingKey(t, folder)
	if !first.New || first.SealedBy != filepath.Join(folder, "seal.key") || !strings.HasPrefix(first.Kid(), demo.Prefix+"-") {
		t.Errorf("%+v", first)
	}
	for path, want := range map[string]os.FileMode{folder: 0o700, first.File: 0o600, first.SealedBy: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if text, err := os.ReadFile(first.File); err != nil || bytes.Contains(text, []byte(`"d"`)) {
		t.Errorf("the key is not sealed: %v", err)
	}
	if second := signingKey(t, folder); second.New || !second.Public().Public.Equal(first.Public().Public) {
		t.Error("the second call gave another key")
	}
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := demo.SigningKey(folder, demo.Prefix, nil, today()); !errors.Is(err, keyfile.ErrRefused) {
		t.Errorf("a folder that others may enter: %v", err)
	}
	sealed := filepath.Join(t.TempDir(), "keys")
	key, err := demo.SigningKey(sealed, demo.Prefix, passphrase("correct horse"), today())
	if err != nil || key.SealedBy != "" {
		t.Errorf("with a passphrase: %+v, %v", key, err)
	}
	if _, err := os.Stat(filepath.Join(sealed, "seal.key")); !os.IsNotExist(err) {
		t.Errorf("seal.key beside a passphrase: %v", err)
	}
	for what, wrong := range map[string]func() ([]byte, error){"none": nil, "another": passphrase("another horse")} {
		if _, err := demo.SigningKey(sealed, demo.Prefix, wrong, today()); err == nil {
			t.Errorf("%s passphrase opened the key", what)
		}
	}
}

// A walk against a server that answers wrongly has a problem in every step: no step passes by itself.
func TestWalkTellsWhatIsNotAsTold(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"nothing there": http.NotFound,
		"no JSON":       func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "\x1b[31mhello") },
		"empty object":  func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") },
		"endless line":  func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("é", 5000)) },
		"wrong value": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"value":1,"status":"fresh","covered":true}`)
		},
		"other statuses": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(handler)
			defer server.Close()
			steps := 0
			err := demo.Walk(t.Context(), demo.Options{
				Origin: server.URL,
				Fetch:  safefetch.New(safefetch.Policy{Loopback: []string{safefetch.LoopbackOf(server.URL)}}),
				Run:    func([]string, []byte) (string, int) { return "nothing\n", 0 },
			}, func(s demo.Step) {
				steps++
				if s.Problem == "" {
					t.Errorf("%s: no problem", s.Title)
				}
				for _, line := range append(s.Answer, s.Problem, s.Request) {
					if utf8.RuneCountInString(line) > 200 || strings.ContainsAny(line, "\x1b\n") {
						t.Errorf("%s: line %.60q…", s.Title, line)
					}
				}
				if _, err := json.Marshal(s); err != nil {
					t.Error(err)
				}
			})
			if err != nil || steps != 12 {
				t.Errorf("%d steps, %v", steps, err)
			}
		})
	}
}
