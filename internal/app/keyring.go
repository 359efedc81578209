package app

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"sayso/business"
	"sayso/internal/keyfile"
	"sayso/jcs"
	"sayso/jwk"
)

// Keyring holds the private halves. A key file folder does ([OpenKeys]), and so may a signer outside of this process. A key that is not held matches
// fs.ErrNotExist.
type Keyring interface {
	// Root is the pinned root: public only, the private half is not here.
	Root() business.Root
	RegistrySigner(kid string) (business.Signer, error)
	PublisherSigner(slug, kid string) (business.Signer, error)
	// NewRegistryKey and NewPublisherKey make a key that is durable when they return. A key that no row of the store names is harmless.
	NewRegistryKey() (business.Signer, error)
	NewPublisherKey(slug string) (business.Signer, error)
	// ProofSecret is the secret that proof tokens are derived from.
	ProofSecret() ([]byte, error)
}

// Files in a data folder.
const (
	RootKeyFile = "root.key"      // the root's private half; meant to be taken off the machine
	PinFile     = "root.pub.json" // the root's public half, which readers pin
	KeysFolder  = "keys"
	proofFile   = "proof.key"
	secretSize  = 32
)

// KeyFiles is a keyring of sealed files below DATA/keys.
type KeyFiles struct {
	dir      string
	root     business.Root
	identity *jwk.Identity

	mu     sync.Mutex
	opened map[string]business.Signer // by path; opening a file costs a key agreement
}

// OpenKeys opens the keys of a data folder. passphrase is called when the sealing identity needs one; nil means that there is none.
func OpenKeys(data string, passphrase func() ([]byte, error)) (*KeyFiles, error) {
	root, err := ReadPin(filepath.Join(data, PinFile))
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(data, KeysFolder)
	identity, err := keyfile.LoadIdentity(dir, passphrase)
	if err != nil {
		return nil, err
	}
	return newKeyFiles(dir, root, identity), nil
}

func newKeyFiles(dir string, root business.Root, identity *jwk.Identity) *KeyFiles {
	return &KeyFiles{dir: dir, root: root, identity: identity, opened: map[string]business.Signer{}}
}

// ReadPin reads a public root key: one JWK with a kid and no private member.
func ReadPin(path string) (business.Root, error) {
	f, err := os.Open(path)
	if err != nil {
		return business.Root{}, fmt.Errorf("read the pinned root: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err != nil {
		return business.Root{}, fmt.Errorf("read the pinned root: %w", err)
	}
	root, err := ParsePin(data)
	if err != nil {
		return business.Root{}, fmt.Errorf("%s %w: restore it from a copy", path, err)
	}
	return root, nil
}

var errNoPin = errors.New("holds no public key that can be pinned")

// ParsePin reads the text of a pinned root: one public JWK of an acceptable Ed25519 key with a kid.
func ParsePin(data []byte) (business.Root, error) {
	if jcs.Check(data) != nil { // one value, before it is put into a set
		return business.Root{}, errNoPin
	}
	set, err := jwk.ParseSet(slices.Concat([]byte(`{"keys":[`), data, []byte(`]}`)))
	if err != nil || len(set.Keys) != 1 {
		return business.Root{}, errNoPin
	}
	return business.Root{Kid: set.Keys[0].Kid, Public: set.Keys[0].Public}, nil
}

func pinText(root business.Root) []byte {
	return fmt.Appendf(nil, `{"kty":"OKP","crv":"Ed25519","alg":"EdDSA","use":"sig","kid":%q,"x":%q}`+"\n", root.Kid, jwk.EncodeBase64URL(root.Public))
}

// LoadRoot opens the private half of the root, for the functions that run where it is kept.
func LoadRoot(path string, passphrase func() ([]byte, error)) (business.Signer, error) {
	key, err := keyfile.Load(path, passphrase)
	if err != nil {
		return nil, err
	}
	return business.KeySigner(key), nil
}

// Root is the pinned root.
func (k *KeyFiles) Root() business.Root { return k.root }

// RegistrySigner opens keys/registry/KID.key.
func (k *KeyFiles) RegistrySigner(kid string) (business.Signer, error) {
	return k.open(kid, "registry")
}

// PublisherSigner opens keys/publishers/SLUG/KID.key.
func (k *KeyFiles) PublisherSigner(slug, kid string) (business.Signer, error) {
	if !business.ValidSlug(slug) {
		return nil, fmt.Errorf("no key folder belongs to that name: %w", fs.ErrNotExist)
	}
	return k.open(kid, "publishers", slug)
}

// NewRegistryKey makes a key under keys/registry. Its kid is registry- and 8 hex digits of its public half.
func (k *KeyFiles) NewRegistryKey() (business.Signer, error) {
	return k.create(func(x string) string { return keyID("registry", x) }, "registry")
}

// NewPublisherKey makes a key under keys/publishers/SLUG.
func (k *KeyFiles) NewPublisherKey(slug string) (business.Signer, error) {
	if !business.ValidSlug(slug) {
		return nil, errors.New("no key folder can have that name")
	}
	return k.create(func(x string) string { return keyID(slug, x) }, "publishers", slug)
}

// ProofSecret reads keys/proof.key.
func (k *KeyFiles) ProofSecret() ([]byte, error) {
	secret, err := keyfile.LoadSealed(filepath.Join(k.dir, proofFile), k.identity)
	if err == nil && len(secret) != secretSize {
		err = fmt.Errorf("%s does not hold %d bytes: restore it from a copy", proofFile, secretSize)
	}
	return secret, err
}

// keyID is PREFIX-HASH, HASH being 8 hex digits of SHA-256(x): the form of business.PublisherKid.
func keyID(prefix, x string) string {
	sum := sha256.Sum256([]byte(x))
	return prefix + "-" + hex.EncodeToString(sum[:4])
}

// plainKid keeps what a store or a document says from being a path: kids of these folders have a-z 0-9 - only.
func plainKid(kid string) bool {
	for i := range len(kid) {
		if c := kid[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return kid != ""
}

func (k *KeyFiles) open(kid string, folders ...string) (business.Signer, error) {
	if !plainKid(kid) {
		return nil, fmt.Errorf("no key file can have that id: %w", fs.ErrNotExist)
	}
	path := filepath.Join(append(append([]string{k.dir}, folders...), kid+".key")...)
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.opened[path]; s != nil {
		return s, nil
	}
	plain, err := keyfile.LoadSealed(path, k.identity)
	if err != nil {
		return nil, err
	}
	key, err := jwk.ParsePrivate(plain)
	if err != nil {
		return nil, fmt.Errorf("key file %s holds no usable private key: %w", path, err)
	}
	if key.Kid() != kid {
		return nil, fmt.Errorf("key file %s holds the key of another id: restore it from a copy", path)
	}
	k.opened[path] = business.KeySigner(key)
	return k.opened[path], nil
}

func (k *KeyFiles) create(name func(x string) string, folders ...string) (business.Signer, error) {
	dir := k.dir
	for _, folder := range folders {
		dir = filepath.Join(dir, folder)
		if err := keyfile.Folder(dir); err != nil {
			return nil, err
		}
	}
	key, err := newKey(name)
	if err != nil {
		return nil, err
	}
	if err := keyfile.StoreSealed(filepath.Join(dir, key.Kid()+".key"), key.Export(), k.identity); err != nil {
		return nil, err
	}
	return business.KeySigner(key), nil
}

// newKey makes a key whose id follows from its public half.
func newKey(name func(x string) string) (*jwk.PrivateKey, error) {
	seed, err := jwk.Generate("new", rand.Reader)
	if err != nil {
		return nil, err
	}
	return seed.Rename(name(jwk.EncodeBase64URL(seed.Public().Public)))
}
