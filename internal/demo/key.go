package demo

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sayso/facts"
	"sayso/internal/keyfile"
	"sayso/jwk"
)

const (
	keyFile  = "facts.age" // the signing key, sealed
	sealFile = "seal.key"  // the secret that seals it when the user has no passphrase
)

// Key is the signing key with how it is kept.
type Key struct {
	*jwk.PrivateKey
	File string
	// SealedBy is the file with the secret that stands in for a passphrase; "" when the user's own seals the key.
	SealedBy string
	New      bool
}

// SigningKey returns the key of a keys folder and makes both when they are missing. passphrase is the user's; empty means that there is none.
func SigningKey(folder, prefix string, passphrase []byte, today facts.Date) (*Key, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	if info, err := os.Stat(folder); err != nil {
		return nil, err
	} else if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%w: the folder %s may be entered by others (mode %04o): run chmod 700 on it", keyfile.ErrRefused, folder, info.Mode().Perm())
	}
	key := &Key{File: filepath.Join(folder, keyFile)}
	if len(passphrase) == 0 {
		key.SealedBy = filepath.Join(folder, sealFile)
		var err error
		if passphrase, err = sealSecret(key.SealedBy); err != nil {
			return nil, err
		}
	}
	var err error
	key.PrivateKey, err = keyfile.Load(key.File, func() ([]byte, error) { return passphrase, nil })
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	year, month, _ := today.Civil()
	if key.PrivateKey, err = jwk.Generate(fmt.Sprintf("%s-%04d-%02d", prefix, year, int(month)), rand.Reader); err != nil {
		return nil, err
	}
	key.New = true
	return key, keyfile.Store(key.File, key.PrivateKey, passphrase)
}

// sealSecret reads the secret of a folder, or makes it.
func sealSecret(path string) ([]byte, error) {
	secret, err := keyfile.Read(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return secret, err
	}
	text := rand.Text() // 128 bits or more
	return []byte(text), keyfile.Write(path, []byte(text))
}
