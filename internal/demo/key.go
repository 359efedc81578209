package demo

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sayso/facts"
	"sayso/internal/app"
	"sayso/internal/keyfile"
	"sayso/jwk"
)

const (
	keyFile = "facts.key" // the signing key of the figures, sealed to the identity of its folder
	// oldKeyFile is where demonstrations kept it before there were registries: under the user's passphrase, or under the text of seal.key beside it.
	oldKeyFile = "facts.age"
	// asideFolder is what becomes of such a keys folder, until its key is taken over.
	asideFolder = "keys-of-earlier-demo"
)

// Key is the signing key with how it is kept.
type Key struct {
	*jwk.PrivateKey
	File string
	// SealedBy is the file with the sealing identity that lies in the open beside the key; "" when a passphrase seals that one.
	SealedBy string
	New      bool
}

// SigningKey returns the key of a keys folder, which is private and has one sealing identity for all its keys, and makes what is missing of all three.
// passphrase opens or seals the identity; nil means that there is none.
func SigningKey(folder, prefix string, passphrase func() ([]byte, error), today facts.Date) (*Key, error) {
	identity, err := folderIdentity(folder, passphrase)
	if err != nil {
		return nil, err
	}
	key := &Key{File: filepath.Join(folder, keyFile)}
	if plain := filepath.Join(folder, keyfile.PlainIdentity); exists(plain) {
		key.SealedBy = plain
	}
	text, err := keyfile.LoadSealed(key.File, identity)
	if err == nil {
		if key.PrivateKey, err = jwk.ParsePrivate(text); err != nil {
			return nil, fmt.Errorf("key file %s holds no usable private key: %w", key.File, err)
		}
		return key, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	aside := filepath.Join(filepath.Dir(folder), asideFolder)
	if key.PrivateKey, err = openEarlier(aside, passphrase); errors.Is(err, fs.ErrNotExist) {
		year, month, _ := today.Civil()
		key.New = true
		key.PrivateKey, err = jwk.Generate(fmt.Sprintf("%s-%04d-%02d", prefix, year, int(month)), rand.Reader)
	}
	if err != nil {
		return nil, err
	}
	if err := keyfile.StoreSealed(key.File, key.Export(), identity); err != nil {
		return nil, err
	}
	return key, os.RemoveAll(aside)
}

// folderIdentity opens the sealing identity of a folder, or makes both.
func folderIdentity(folder string, passphrase func() ([]byte, error)) (*jwk.Identity, error) {
	if err := keyfile.Folder(folder); err != nil {
		return nil, err
	}
	identity, err := keyfile.LoadIdentity(folder, passphrase)
	if !errors.Is(err, fs.ErrNotExist) {
		return identity, err
	}
	var secret []byte
	if passphrase != nil {
		if secret, err = passphrase(); err != nil {
			return nil, err
		}
	}
	return keyfile.NewIdentity(folder, secret)
}

// setAside makes room for the keys of a registry in the data folder of a demonstration that had none: its keys folder gets another name, from where SigningKey
// takes the key over. A key that cannot be opened stays where it is.
func setAside(data string, passphrase func() ([]byte, error)) error {
	keys := filepath.Join(data, app.KeysFolder)
	if exists(filepath.Join(data, app.PinFile)) || !exists(filepath.Join(keys, oldKeyFile)) {
		return nil
	}
	if _, err := openEarlier(keys, passphrase); err != nil {
		return err
	}
	return os.Rename(keys, filepath.Join(data, asideFolder))
}

// openEarlier opens the signing key of an earlier demonstration. A missing one matches fs.ErrNotExist.
func openEarlier(folder string, passphrase func() ([]byte, error)) (*jwk.PrivateKey, error) {
	if err := keyfile.CheckFolder(folder); err != nil {
		return nil, err
	}
	if secret := filepath.Join(folder, keyfile.PlainIdentity); exists(secret) {
		passphrase = func() ([]byte, error) { return keyfile.Read(secret) }
	}
	return keyfile.Load(filepath.Join(folder, oldKeyFile), passphrase)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
