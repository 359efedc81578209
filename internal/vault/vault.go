package vault

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"sayso/internal/keyfile"
	"sayso/jwk"
)

// Files below the data folder.
const (
	keysFolder = "keys"
	ownFolder  = "gidp"
	dataKey    = "data.key"
	trustDir   = "trust"
	credsDir   = "credentials"
	secretSize = 32
)

// Errors of a vault.
var (
	ErrExists = errors.New("this data folder has a vault already")
	ErrSeal   = errors.New("what is kept here was not sealed at this place by this data folder, or it is damaged: restore it from a backup")
)

// Vault seals with the key of one data folder. It is safe for concurrent use, and prints as "[vault]".
type Vault struct {
	dir  string                   // the folder of data.key and the mark
	mark *atomic.Int64            // in place of a folder
	seen *atomic.Pointer[listing] // what the folder held when it had last changed
	seal xaes
	macs *sync.Pool // of hash.Hash under the key of MAC: making one anew takes longer than most of what it is asked for
	// Beside interests: which issuers are believed, and what an issuer attests of this side.
	trust, creds drawer
}

// newIdentity is replaced in a test, which does not wait a second for a passphrase to be stretched.
var newIdentity = keyfile.NewIdentity

// Create makes the vault of a data folder, and the folder and its sealing identity when there are none yet. The identity is sealed with the passphrase, or
// plain when that is empty; an identity that is there already is opened with it. random is cryptographic. [ErrExists] when there is a vault.
func Create(data string, passphrase []byte, random io.Reader) (*Vault, error) {
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	dir := filepath.Join(data, keysFolder)
	if err := keyfile.Folder(dir); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(filepath.Join(dir, ownFolder, dataKey)); err == nil { // the write decides; this spares the work of a passphrase
		return nil, ErrExists
	}
	identity, err := keyfile.LoadIdentity(dir, func() ([]byte, error) { return passphrase, nil })
	if errors.Is(err, fs.ErrNotExist) {
		identity, err = newIdentity(dir, passphrase)
	}
	if err != nil {
		return nil, err
	}
	own := filepath.Join(dir, ownFolder)
	if err := keyfile.Folder(own); err != nil {
		return nil, err
	}
	secret := make([]byte, secretSize)
	if _, err := io.ReadFull(random, secret); err != nil {
		return nil, fmt.Errorf("draw the key of the vault: %w", err)
	}
	switch err := keyfile.StoreSealed(filepath.Join(own, dataKey), secret, identity); {
	case errors.Is(err, fs.ErrExist):
		return nil, ErrExists
	case err != nil:
		return nil, err
	}
	return newVault(own, secret)
}

// Open opens the vault of a data folder. passphrase is called when the identity is sealed; nil means that there is none. A folder without a vault matches
// fs.ErrNotExist, one that is not safe to use keyfile.ErrRefused.
func Open(data string, passphrase func() ([]byte, error)) (*Vault, error) {
	dir := filepath.Join(data, keysFolder)
	path := filepath.Join(dir, ownFolder, dataKey)
	if _, err := os.Lstat(path); err != nil { // before a passphrase is asked for in vain
		return nil, fmt.Errorf("open the vault: %w", err)
	}
	identity, err := keyfile.LoadIdentity(dir, passphrase)
	if err != nil {
		return nil, err
	}
	if err := keyfile.CheckFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	secret, err := keyfile.LoadSealed(path, identity)
	if err != nil {
		return nil, err
	}
	if len(secret) != secretSize {
		return nil, fmt.Errorf("key file %s does not hold the key of a vault: restore it from a copy", path)
	}
	return newVault(filepath.Dir(path), secret)
}

// Ephemeral makes a vault of no folder, for demonstrations and tests: its keys and its mark end with the process.
func Ephemeral(random io.Reader) (*Vault, error) {
	secret := make([]byte, secretSize)
	if _, err := io.ReadFull(random, secret); err != nil {
		return nil, fmt.Errorf("draw the key of the vault: %w", err)
	}
	v, err := newVault("", secret)
	if err == nil {
		v.mark, v.trust, v.creds = new(atomic.Int64), new(memory), new(memory)
	}
	return v, err
}

func newVault(dir string, secret []byte) (*Vault, error) {
	derive := func(info string) ([]byte, error) {
		return hkdf.Key(sha256.New, secret, nil, "sayso vault 1 "+info, secretSize)
	}
	seal, err := derive("seal")
	if err != nil {
		return nil, err
	}
	mac, err := derive("mac")
	if err != nil {
		return nil, err
	}
	v := &Vault{dir: dir, seen: new(atomic.Pointer[listing]), macs: &sync.Pool{New: func() any { return hmac.New(sha256.New, mac) }}, trust: folder(filepath.Join(dir, trustDir)), creds: folder(filepath.Join(dir, credsDir))}
	v.seal, err = newXAES(seal)
	return v, err
}

const sealVersion = 1

// Seal encrypts a text for one place.
func (v *Vault) Seal(place string, plain []byte) ([]byte, error) {
	out := make([]byte, 1+nonceSize, 1+nonceSize+len(plain)+tagSize)
	out[0] = sealVersion
	if _, err := rand.Read(out[1:]); err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return v.seal.seal(out, out[1:], plain, []byte(place))
}

// Unseal returns what [Vault.Seal] sealed for the same place, or [ErrSeal].
func (v *Vault) Unseal(place string, sealed []byte) ([]byte, error) {
	if len(sealed) < 1+nonceSize+tagSize || sealed[0] != sealVersion {
		return nil, ErrSeal
	}
	plain, err := v.seal.open(sealed[1:1+nonceSize], sealed[1+nonceSize:], []byte(place))
	if err != nil {
		return nil, ErrSeal
	}
	return plain, nil
}

// MAC is HMAC-SHA-256 over a purpose and parts, each with its length before it, under a key of this folder. Nobody without the folder can compute or test it.
func (v *Vault) MAC(purpose string, parts ...string) [32]byte {
	h := v.macs.Get().(hash.Hash)
	defer v.macs.Put(h)
	h.Reset()
	var length [8]byte
	write := func(s string) {
		binary.BigEndian.PutUint64(length[:], uint64(len(s)))
		h.Write(length[:])
		io.WriteString(h, s)
	}
	write(purpose)
	for _, part := range parts {
		write(part)
	}
	return [32]byte(h.Sum(nil))
}

// derivedKey is an Ed25519 key that follows from the folder's secret, named by its thumbprint.
func (v *Vault) derivedKey(purpose string, parts ...string) (*jwk.PrivateKey, error) {
	seed := v.MAC(purpose, parts...)
	return newKey(fixed(seed[:]))
}

// NewKey makes a fresh Ed25519 key named by its thumbprint.
func NewKey(random io.Reader) (*jwk.PrivateKey, error) { return newKey(random) }

func newKey(random io.Reader) (*jwk.PrivateKey, error) {
	key, err := jwk.Generate("k", random)
	if err != nil {
		return nil, err
	}
	return key.Rename(jwk.Thumbprint(key.Public().Public))
}

// fixed reads the same bytes once.
type fixed []byte

func (f fixed) Read(p []byte) (int, error) {
	if len(p) > len(f) {
		return 0, io.ErrUnexpectedEOF
	}
	return copy(p, f), nil
}

const vaultName = "[vault]"

// String returns "[vault]".
func (v Vault) String() string { return vaultName }

// GoString is [Vault.String].
func (v Vault) GoString() string { return vaultName }

// Format prints [Vault.String] whatever the verb is.
func (v Vault) Format(f fmt.State, _ rune) { io.WriteString(f, vaultName) }

// MarshalText returns [Vault.String], for logs.
func (v Vault) MarshalText() ([]byte, error) { return []byte(vaultName), nil }
