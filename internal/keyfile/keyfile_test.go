//go:build unix

package keyfile_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sayso/internal/keyfile"
	"sayso/jwk"
)

func write(t *testing.T, path, data string, mode fs.FileMode) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestF7Modes(t *testing.T) {
	dir := t.TempDir()
	for mode, ok := range map[fs.FileMode]bool{
		0o600: true, 0o400: true, 0o644: false, 0o640: false, 0o604: false, 0o620: false, 0o602: false, 0o610: false, 0o601: false, 0o666: false, 0o777: false,
	} {
		path := write(t, filepath.Join(dir, mode.String()), "key", mode)
		data, err := keyfile.Read(path)
		if ok != (err == nil) || ok && string(data) != "key" {
			t.Errorf("%04o: %v", mode, err)
		}
		if !ok && (!errors.Is(err, keyfile.ErrRefused) || !strings.Contains(err.Error(), "run chmod 600 "+path)) {
			t.Errorf("%04o: %v, want a refusal with the command", mode, err)
		}
	}
}

func TestF7KindsOfFile(t *testing.T) {
	dir := t.TempDir()
	real := write(t, filepath.Join(dir, "real"), "key", 0o600)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	large := write(t, filepath.Join(dir, "large"), strings.Repeat("x", 64<<10+1), 0o600)
	for _, path := range []string{link, fifo, dir, large} {
		if _, err := keyfile.Read(path); !errors.Is(err, keyfile.ErrRefused) {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
	if _, err := keyfile.Read(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}

func TestF7Owner(t *testing.T) {
	if os.Geteuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("another owner can be set by root only; CI runs as root")
		}
		t.Skip("another owner can be set by root only")
	}
	path := write(t, filepath.Join(t.TempDir(), "key"), "key", 0o600)
	if err := os.Chown(path, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if _, err := keyfile.Read(path); !errors.Is(err, keyfile.ErrRefused) || !strings.Contains(err.Error(), "another user") {
		t.Errorf("%v", err)
	}
}

func TestF7Folders(t *testing.T) {
	base := t.TempDir()
	inner := filepath.Join(base, "it's here", "keys")
	if err := os.MkdirAll(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	path := write(t, filepath.Join(inner, "key"), "key", 0o600)
	for _, c := range []struct {
		dir  string
		mode fs.FileMode
		ok   bool
	}{
		{inner, 0o700, true}, {inner, 0o755, true}, {inner, 0o777, false}, {inner, 0o777 | fs.ModeSticky, false}, {inner, 0o702, false},
		{filepath.Dir(inner), 0o777, false}, {filepath.Dir(inner), 0o777 | fs.ModeSticky, true},
	} {
		if err := os.Chmod(c.dir, c.mode); err != nil {
			t.Fatal(err)
		}
		_, err := keyfile.Read(path)
		werr := keyfile.Write(filepath.Join(inner, "new"), nil)
		os.Remove(filepath.Join(inner, "new"))
		if c.ok != (err == nil) || c.ok != (werr == nil) {
			t.Errorf("%s %v: read %v, write %v", c.dir, c.mode, err, werr)
		}
		if !c.ok && (!errors.Is(err, keyfile.ErrRefused) || !strings.Contains(err.Error(), `chmod o-w '`+base+`/it'\''s here`)) {
			t.Errorf("%s %v: %v", c.dir, c.mode, err)
		}
		if err := os.Chmod(c.dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWriteNeverReplaces(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "key")
	old := syscall.Umask(0)
	err := keyfile.Write(path, []byte("one"))
	syscall.Umask(old)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if err := keyfile.Write(path, []byte("two")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("second write: %v", err)
	}
	if data, _ := keyfile.Read(path); string(data) != "one" {
		t.Errorf("content %q", data)
	}
	if names, _ := os.ReadDir(dir); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}

func TestStoreAndLoad(t *testing.T) {
	dir := t.TempDir()
	key, err := jwk.Generate("test-2026-01", rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	secret := func(s string) func() ([]byte, error) { return func() ([]byte, error) { return []byte(s), nil } }
	plain, sealed := filepath.Join(dir, "plain"), filepath.Join(dir, "sealed")
	if err := errors.Join(keyfile.Store(plain, key, nil), keyfile.Store(sealed, key, []byte("correct horse"))); err != nil {
		t.Fatal(err)
	}
	for path, pass := range map[string]func() ([]byte, error){plain: nil, sealed: secret("correct horse")} {
		got, err := keyfile.Load(path, pass)
		if err != nil || !bytes.Equal(got.Export(), key.Export()) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if raw, _ := os.ReadFile(sealed); bytes.Contains(raw, []byte(`"d"`)) {
		t.Error("the sealed file shows the key")
	}
	for name, pass := range map[string]func() ([]byte, error){"no passphrase": nil, "wrong passphrase": secret("wrong")} {
		if _, err := keyfile.Load(sealed, pass); err == nil || strings.Contains(err.Error(), "horse") {
			t.Errorf("%s: %v", name, err)
		}
	}
	other, err := jwk.Generate("test-2026-01", rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{
		"empty": "", "truncated": string(key.Export())[:40], "not a key": `{"kty":"oct","k":"AA"}`, "swapped pair": swap(t, key, other),
	} {
		path := write(t, filepath.Join(dir, name), data, 0o600)
		if _, err := keyfile.Load(path, nil); err == nil {
			t.Errorf("%s: loaded", name)
		}
	}
}

// swap puts the public half of another key into a private JWK.
func swap(t *testing.T, a, b *jwk.PrivateKey) string {
	t.Helper()
	x := func(k *jwk.PrivateKey) string {
		_, rest, ok := strings.Cut(string(k.Export()), `"x":"`)
		if !ok {
			t.Fatal("no x in the exported key")
		}
		value, _, _ := strings.Cut(rest, `"`)
		return value
	}
	return strings.Replace(string(a.Export()), x(a), x(b), 1)
}
