//go:build unix

package keyfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sayso/internal/keyfile"
)

func private(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "keys")
	if err := keyfile.Folder(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestF7PrivateFolder(t *testing.T) {
	dir := private(t)
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("%v, %v", info, err)
	}
	for _, mode := range []fs.FileMode{0o750, 0o705, 0o710, 0o701, 0o777} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if err := keyfile.Folder(dir); !errors.Is(err, keyfile.ErrRefused) || !strings.Contains(err.Error(), "run chmod 700 "+dir) {
			t.Errorf("%04o: %v", mode, err)
		}
		if _, err := keyfile.LoadIdentity(dir, nil); !errors.Is(err, keyfile.ErrRefused) {
			t.Errorf("%04o: identity: %v", mode, err)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := errors.Join(os.Chmod(dir, 0o700), os.Symlink(dir, link)); err != nil {
		t.Fatal(err)
	}
	if err := keyfile.Folder(link); !errors.Is(err, keyfile.ErrRefused) {
		t.Errorf("link: %v", err)
	}
	if err := keyfile.CheckFolder(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}

func TestIdentityOfAFolder(t *testing.T) {
	secret := func(s string) func() ([]byte, error) { return func() ([]byte, error) { return []byte(s), nil } }
	for name, passphrase := range map[string]string{keyfile.PlainIdentity: "", keyfile.SealedIdentity: "correct horse"} {
		dir := private(t)
		if _, err := keyfile.LoadIdentity(dir, nil); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: none yet: %v", name, err)
		}
		id, err := keyfile.NewIdentity(dir, []byte(passphrase))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := keyfile.NewIdentity(dir, []byte(passphrase)); !errors.Is(err, keyfile.ErrRefused) {
			t.Errorf("%s: a second identity: %v", name, err)
		}
		path := filepath.Join(dir, "a.key")
		if err := keyfile.StoreSealed(path, []byte("secret"), id); err != nil {
			t.Fatal(err)
		}
		again, err := keyfile.LoadIdentity(dir, secret(passphrase))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := keyfile.LoadSealed(path, again); err != nil || string(got) != "secret" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if raw, err := os.ReadFile(filepath.Join(dir, name)); err != nil || strings.Contains(string(raw), "SECRET-KEY") != (passphrase == "") {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := keyfile.LoadSealed(path, again); !errors.Is(err, keyfile.ErrRefused) {
			t.Errorf("%s: mode: %v", name, err)
		}
		if passphrase == "" {
			continue
		}
		for what, pass := range map[string]func() ([]byte, error){"none": nil, "wrong": secret("wrong")} {
			if _, err := keyfile.LoadIdentity(dir, pass); err == nil || strings.Contains(err.Error(), "horse") {
				t.Errorf("%s passphrase: %v", what, err)
			}
		}
		write(t, filepath.Join(dir, keyfile.PlainIdentity), "x", 0o600)
		if _, err := keyfile.LoadIdentity(dir, secret(passphrase)); !errors.Is(err, keyfile.ErrRefused) {
			t.Errorf("two identities: %v", err)
		}
	}
}

func TestIdentityDamaged(t *testing.T) {
	dir := private(t)
	write(t, filepath.Join(dir, keyfile.PlainIdentity), "AGE-SECRET-KEY-1damaged", 0o600)
	if _, err := keyfile.LoadIdentity(dir, nil); err == nil || strings.Contains(err.Error(), "KEY-1") {
		t.Errorf("%v", err)
	}
	write(t, filepath.Join(dir, keyfile.PlainIdentity), "AGE-SECRET-KEY-1damaged", 0o640)
	if _, err := keyfile.LoadIdentity(dir, nil); !errors.Is(err, keyfile.ErrRefused) {
		t.Errorf("%v", err)
	}
}
