package keyfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sayso/jwk"
)

// The two names of the sealing identity of a folder.
const (
	SealedIdentity = "seal.age" // under a passphrase
	PlainIdentity  = "seal.key" // readable by whoever reads the folder
)

// Folder makes a private folder (mode 0700) when there is none, its parents not, and checks it: a folder that others may enter, of another user, or behind
// a symbolic link matches ErrRefused.
func Folder(path string) error {
	switch err := os.Mkdir(path, 0o700); {
	case err == nil:
		return syncFolder(filepath.Dir(path))
	case !errors.Is(err, fs.ErrExist):
		return fmt.Errorf("make key folder: %w", err)
	}
	return CheckFolder(path)
}

// CheckFolder is the check of [Folder] alone. A missing folder matches fs.ErrNotExist.
func CheckFolder(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("look at key folder: %w", err)
	}
	if !info.IsDir() {
		return refuse("%s is not a folder", path)
	}
	if !ownedByUs(info) {
		return refuse("the folder %s belongs to another user: run chown \"$(id -un)\" %s", path, shellQuote(path))
	}
	if perm := info.Mode().Perm(); perm&0o077 != 0 {
		return refuse("the folder %s may be used by others (mode %04o): run chmod 700 %s", path, perm, shellQuote(path))
	}
	return nil
}

// NewIdentity makes the sealing identity of a folder that has none: sealed with the passphrase, or plain when it is empty.
func NewIdentity(dir string, passphrase []byte) (*jwk.Identity, error) {
	if err := CheckFolder(dir); err != nil {
		return nil, err
	}
	for _, name := range []string{SealedIdentity, PlainIdentity} {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return nil, refuse("%s holds a sealing identity already: %s", dir, name)
		}
	}
	id, err := jwk.GenerateIdentity()
	if err != nil {
		return nil, err
	}
	if len(passphrase) == 0 {
		return id, Write(filepath.Join(dir, PlainIdentity), id.Export())
	}
	sealed, err := jwk.Seal(id.Export(), passphrase)
	if err != nil {
		return nil, fmt.Errorf("seal the identity of %s: %w", dir, err)
	}
	return id, Write(filepath.Join(dir, SealedIdentity), sealed)
}

// LoadIdentity reads the sealing identity of a folder. passphrase is called only when it is sealed; nil means that there is none. A folder without an
// identity matches fs.ErrNotExist.
func LoadIdentity(dir string, passphrase func() ([]byte, error)) (*jwk.Identity, error) {
	if err := CheckFolder(dir); err != nil {
		return nil, err
	}
	sealed, err := Read(filepath.Join(dir, SealedIdentity))
	plain, plainErr := Read(filepath.Join(dir, PlainIdentity))
	switch {
	case err == nil && !errors.Is(plainErr, fs.ErrNotExist):
		return nil, refuse("%s holds both %s and %s: move away the one that does not open its keys", dir, SealedIdentity, PlainIdentity)
	case errors.Is(err, fs.ErrNotExist):
		if plainErr != nil {
			return nil, plainErr
		}
		return parseIdentity(filepath.Join(dir, PlainIdentity), plain)
	case err != nil:
		return nil, err
	case passphrase == nil:
		return nil, fmt.Errorf("the keys in %s are sealed: a passphrase is needed", dir)
	}
	secret, err := passphrase()
	if err != nil {
		return nil, err
	}
	if plain, err = jwk.Open(sealed, secret); err != nil {
		return nil, fmt.Errorf("the keys in %s cannot be opened: wrong passphrase or damaged file %s", dir, SealedIdentity)
	}
	return parseIdentity(filepath.Join(dir, SealedIdentity), plain)
}

func parseIdentity(path string, data []byte) (*jwk.Identity, error) {
	id, err := jwk.ParseIdentity(data)
	if err != nil {
		return nil, fmt.Errorf("%s holds no usable sealing identity: restore it from a copy", path)
	}
	return id, nil
}

// StoreSealed writes a secret into a new file, sealed to the identity.
func StoreSealed(path string, secret []byte, id *jwk.Identity) error {
	sealed, err := id.Seal(secret)
	if err != nil {
		return fmt.Errorf("seal key file %s: %w", path, err)
	}
	return Write(path, sealed)
}

// LoadSealed reads what [StoreSealed] wrote, after all checks.
func LoadSealed(path string, id *jwk.Identity) ([]byte, error) {
	data, err := Read(path)
	if err != nil {
		return nil, err
	}
	plain, err := id.Open(data)
	if err != nil {
		return nil, fmt.Errorf("key file %s cannot be opened: %w", path, err)
	}
	return plain, nil
}
