package dataset

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"testing"

	"sayso/facts"
	"sayso/jwk"
	"sayso/report"
)

var errCrash = errors.New("the power is gone")

// crashingStore writes like the disk until its writes are used up.
type crashingStore struct {
	diskStore
	left int
}

func (c *crashingStore) write(name string, data []byte) error {
	if c.left == 0 {
		return errCrash
	}
	c.left--
	return c.diskStore.write(name, data)
}

func (c *crashingStore) remove(name string) error {
	if c.left == 0 {
		return errCrash
	}
	c.left--
	return c.diskStore.remove(name)
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			data, err := fs.ReadFile(os.DirFS(dir), name)
			out[name] = string(data)
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Whatever write of an act is the last one before a crash, lint explains the folder or finds it whole, and the same act completes it: the folder is then
// the one that an uninterrupted act leaves.
func TestCrashOrder(t *testing.T) {
	today, err := facts.ParseDate("2026-11-30")
	if err != nil {
		t.Fatal(err)
	}
	key, err := jwk.ParsePrivate([]byte(`{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"ex-2026-10"}`))
	if err != nil {
		t.Fatal(err)
	}
	candidate := "topic: {prefix: zz/levies, title: Levies, area: zz-rates}\nfacts:\n  - key: sugar-levy\n    label: Sugar levy\n    unit: GBP\n    values:\n      - value: 0.24\n" +
		"        effectiveFrom: 2024-04-01\n        source: https://tax.example/levies\n        sourceType: derived\n        method: converted\n"
	acts := []struct {
		name    string
		prepare map[string]string
		without []string
		run     func(*work) error
	}{
		{"re-verify", nil, nil, func(w *work) error {
			_, err := w.confirm(context.Background(), ConfirmOptions{Key: "zz/bank-rate", Value: "3.75", Today: today, Offline: true})
			return err
		}},
		{"withdraw", nil, nil, func(w *work) error {
			_, err := w.withdraw(context.Background(), WithdrawOptions{Key: "zz/other/passport-fee", From: today, Source: "https://tax.example/passport", Reason: "free now", Today: today, Offline: true})
			return err
		}},
		{"confirm a candidate", map[string]string{"candidates/levies.yaml": candidate}, nil, func(w *work) error {
			_, err := w.confirm(context.Background(), ConfirmOptions{Key: "zz/levies/sugar-levy", Value: "0.24", Today: today, Offline: true})
			return err
		}},
		{"convert", map[string]string{"candidates/levies.yaml": candidate}, nil, func(w *work) error {
			_, err := w.convert(ConvertOptions{All: true, Date: today, Today: today})
			return err
		}},
		{"sign with a new key set", nil, []string{"jwks.json", "signatures.json"}, func(w *work) error {
			_, err := w.sign(SignOptions{Key: key, Today: today})
			return err
		}},
	}
	for _, act := range acts {
		t.Run(act.name, func(t *testing.T) {
			fresh := func() string {
				dir := t.TempDir()
				if err := os.CopyFS(dir, os.DirFS("testdata/sample")); err != nil {
					t.Fatal(err)
				}
				for name, text := range act.prepare {
					if err := (diskStore{dir}).write(name, []byte(text)); err != nil {
						t.Fatal(err)
					}
				}
				for _, name := range act.without {
					if err := (diskStore{dir}).remove(name); err != nil {
						t.Fatal(err)
					}
				}
				return dir
			}
			run := func(dir string, writes int) error {
				folder, r := Load(os.DirFS(dir))
				if r.Failed() {
					t.Fatalf("the folder does not load: %s", r.Verdict)
				}
				return act.run(&work{&crashingStore{diskStore{dir}, writes}, os.DirFS(dir), folder})
			}
			whole := fresh()
			if err := run(whole, 1000); err != nil {
				t.Fatal(err)
			}
			want := files(t, whole)
			for writes := 0; ; writes++ {
				dir := fresh()
				before := files(t, dir)
				err := run(dir, writes)
				if err == nil {
					if writes < 2 {
						t.Errorf("the act made %d writes", writes)
					}
					break
				}
				if !errors.Is(err, errCrash) {
					t.Fatal(err)
				}
				explained := false
				for _, f := range Lint(mustLoad(t, dir), today).Findings {
					explained = explained || f.Outcome == report.Fail && f.Next != ""
				}
				ready := Lint(mustLoad(t, dir), today)
				if !explained && ready.Failed() {
					t.Errorf("after %d writes lint fails and does not say what to do", writes)
				}
				if writes == 0 && !maps.Equal(before, files(t, dir)) {
					t.Error("something was written")
				}
				if err := run(dir, 1000); err != nil {
					t.Fatalf("after %d writes the act cannot be completed: %v", writes, err)
				}
				for name, text := range files(t, dir) {
					if want[name] != text {
						t.Errorf("after %d writes and completion %s is\n%s\nwant\n%s", writes, name, text, want[name])
					}
				}
				if got := files(t, dir); len(got) != len(want) {
					t.Errorf("after %d writes and completion there are %d files, want %d", writes, len(got), len(want))
				}
			}
		})
	}
}

func mustLoad(t *testing.T, dir string) *Folder {
	t.Helper()
	folder, r := Load(os.DirFS(dir))
	if r.Failed() {
		t.Fatalf("the folder does not load: %s", r.Verdict)
	}
	return folder
}

// An interrupted write leaves a temporary file, which no reader sees and the next act removes.
func TestTemporaryFilesAreSwept(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/sample")); err != nil {
		t.Fatal(err)
	}
	left := dir + "/topics/zz/" + tempPrefix + "1"
	if err := os.WriteFile(left, []byte("half a fi"), 0o600); err != nil {
		t.Fatal(err)
	}
	mustLoad(t, dir)
	_, done, err := begin(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
	if _, err := tryLock(dir); !errors.Is(err, errLocked) {
		t.Errorf("a second act gets the lock: %v", err)
	}
}
