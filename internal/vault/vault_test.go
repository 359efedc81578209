package vault

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sayso/internal/keyfile"
	"sayso/jwk"
)

func create(t testing.TB) *Vault {
	t.Helper()
	v, err := Create(filepath.Join(t.TempDir(), "data"), nil, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// reopened creates a vault, where there may be an identity already, and opens it again.
func reopened(t *testing.T, data string, passphrase []byte) {
	t.Helper()
	secret := func() ([]byte, error) { return passphrase, nil }
	if _, err := Open(data, secret); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("open before create: %v", err)
	}
	v, err := Create(data, passphrase, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := v.Seal("interest/a", []byte("quiet"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Create(data, passphrase, rand.Reader); !errors.Is(err, ErrExists) {
		t.Fatalf("create again: %v", err)
	}
	again, err := Open(data, secret)
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := again.Unseal("interest/a", sealed); err != nil || string(plain) != "quiet" {
		t.Fatalf("%q %v", plain, err)
	}
	if v.MAC("p", "x") != again.MAC("p", "x") {
		t.Error("the reopened vault authenticates differently")
	}
	if len(passphrase) > 0 {
		for name, secret := range map[string]func() ([]byte, error){"none": nil, "another": func() ([]byte, error) { return []byte("sesame"), nil }} {
			if _, err := Open(data, secret); err == nil {
				t.Errorf("opened with the passphrase: %s", name)
			}
		}
	}
}

func TestCreateAndOpen(t *testing.T) { reopened(t, filepath.Join(t.TempDir(), "data"), nil) }

// cheapIdentity is an identity that age sealed with a work factor of 2^4 for "open sesame", where this program takes 2^18: a second of work each time.
const cheapIdentity = "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0-IHNjcnlwdCBhV2ZEeUZHMExrdWQ2VlZoUnVrY1dBIDQKc2RxY282NE90YytEWmRieGE4T04vaWFQeGtxaWRseUd1SHErdFJFUWhnNAotLS0gNlF4cTdCVj" +
	"YrOElvQXRlWWFVOEt5b0NXSU5wM05pUFcxL1NrdGhRbmJPQQoRrnXn7yGWE_xGjfPt90U9Q7TfnKcmp3ljwkziymEiAuDcq6i2d__BA3otUpxpXv9Q4XiWtfNHT5IJLx7qe4TfGEr2lneX3JZ0R8fV" +
	"xWW6Exb7tT0Wz5V2hRkQvt29JWFBqk1Uc996qei6og"

func TestOpenWithAPassphrase(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	for _, dir := range []string{data, filepath.Join(data, "keys")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	sealed, err := jwk.DecodeBase64URL(cheapIdentity)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "keys", keyfile.SealedIdentity), sealed, 0o600); err != nil {
		t.Fatal(err)
	}
	reopened(t, data, []byte("open sesame"))
}

// A new identity is sealed with the passphrase: what that means is tested in package keyfile.
func TestCreateSealsWithThePassphrase(t *testing.T) {
	defer func() { newIdentity = keyfile.NewIdentity }()
	given := ""
	newIdentity = func(dir string, passphrase []byte) (*jwk.Identity, error) {
		given = string(passphrase)
		return keyfile.NewIdentity(dir, nil)
	}
	if _, err := Create(t.TempDir(), []byte("open sesame"), rand.Reader); err != nil || given != "open sesame" {
		t.Errorf("%q %v", given, err)
	}
}

// A registry may live in the same folder: its identity seals this key too.
func TestCreateTakesTheIdentityThatIsThere(t *testing.T) {
	data := t.TempDir()
	keys := filepath.Join(data, "keys")
	if err := keyfile.Folder(keys); err != nil {
		t.Fatal(err)
	}
	if _, err := keyfile.NewIdentity(keys, nil); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(keys, keyfile.PlainIdentity))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Create(data, nil, rand.Reader); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(filepath.Join(keys, keyfile.PlainIdentity))
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the identity changed: %v", err)
	}
}

func TestFilesArePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("this system has no such modes")
		return
	}
	data := filepath.Join(t.TempDir(), "data")
	if _, err := Create(data, nil, rand.Reader); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(data, "keys", "gidp", "data.key")
	for at, want := range map[string]fs.FileMode{filepath.Dir(filepath.Dir(path)): 0o700, filepath.Dir(path): 0o700, path: 0o600} {
		if info, err := os.Stat(at); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", at, info.Mode(), err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil || !jwk.Sealed(text) {
		t.Errorf("the key is not sealed: %v", err)
	}
	for _, at := range []string{path, filepath.Dir(path), filepath.Dir(filepath.Dir(path))} {
		info, err := os.Stat(at)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(data, nil); !errors.Is(err, keyfile.ErrRefused) {
			t.Errorf("%s for everybody: %v", at, err)
		}
		if err := os.Chmod(at, info.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(data, nil); err != nil {
		t.Error(err)
	}
}

func TestCreateFailsWithoutRandomness(t *testing.T) {
	data := t.TempDir()
	if _, err := Create(data, nil, strings.NewReader("short")); err == nil {
		t.Fatal("made a key of five bytes")
	}
	if _, err := Create(data, nil, rand.Reader); err != nil {
		t.Errorf("and left something in the way: %v", err)
	}
}

func TestSealedBytesShowNothing(t *testing.T) {
	v := create(t)
	canary := []byte("canary-7f3a91-value")
	one, err := v.Seal("interest/a", canary)
	if err != nil {
		t.Fatal(err)
	}
	two, err := v.Seal("interest/a", canary)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(one, canary) || bytes.Contains(one, []byte("interest")) || bytes.Equal(one, two) {
		t.Error("the sealed text shows what it holds")
	}
	if one[0] != 1 || len(one) != 1+24+len(canary)+16 {
		t.Errorf("the form: version %d, %d bytes", one[0], len(one))
	}
}

func TestASealHoldsForOnePlaceAndOneFolder(t *testing.T) {
	v, other := create(t), create(t)
	sealed, err := v.Seal("interest/a", []byte("quiet"))
	if err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func() ([]byte, error){
		"another place":  func() ([]byte, error) { return v.Unseal("interest/b", sealed) },
		"another kind":   func() ([]byte, error) { return v.Unseal("session/a", sealed) },
		"another folder": func() ([]byte, error) { return other.Unseal("interest/a", sealed) },
		"another version": func() ([]byte, error) {
			return v.Unseal("interest/a", append([]byte{2}, sealed[1:]...))
		},
		"nothing": func() ([]byte, error) { return v.Unseal("interest/a", nil) },
	} {
		if _, err := open(); !errors.Is(err, ErrSeal) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i := range sealed {
		damaged := bytes.Clone(sealed)
		damaged[i] ^= 1
		if _, err := v.Unseal("interest/a", damaged); !errors.Is(err, ErrSeal) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
		if _, err := v.Unseal("interest/a", sealed[:i]); !errors.Is(err, ErrSeal) {
			t.Fatalf("cut to %d bytes: %v", i, err)
		}
	}
}

func TestSealRoundTrip(t *testing.T) {
	v := create(t)
	rapid.Check(t, func(t *rapid.T) {
		place, plain := rapid.String().Draw(t, "place"), rapid.SliceOf(rapid.Byte()).Draw(t, "plain")
		sealed, err := v.Seal(place, plain)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := v.Unseal(place, sealed); err != nil || !bytes.Equal(got, plain) {
			t.Fatalf("%x %v", got, err)
		}
	})
}

// The vectors of c2sp.org/XAES-256-GCM.
func TestXAES(t *testing.T) {
	for _, c := range []struct{ key, place, want string }{
		{"\x01", "", "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271"},
		{"\x03", "c2sp.org/XAES-256-GCM", "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d"},
	} {
		x, err := newXAES(bytes.Repeat([]byte(c.key), 32))
		if err != nil {
			t.Fatal(err)
		}
		nonce := []byte("ABCDEFGHIJKLMNOPQRSTUVWX")
		got, err := x.seal(nil, nonce, []byte("XAES-256-GCM"), []byte(c.place))
		if err != nil || hex.EncodeToString(got) != c.want {
			t.Errorf("%x %v, want %s", got, err, c.want)
		}
		if plain, err := x.open(nonce, got, []byte(c.place)); err != nil || string(plain) != "XAES-256-GCM" {
			t.Errorf("%q %v", plain, err)
		}
	}
}

func TestMACSeparatesPurposesAndParts(t *testing.T) {
	v := create(t)
	seen := map[[32]byte]string{}
	for _, parts := range [][]string{{"a"}, {"a", ""}, {"", "a"}, {"a", "b"}, {"ab"}, {"a", "b", ""}, {"b", "a"}} {
		sum := v.MAC(parts[0], parts[1:]...)
		if was, ok := seen[sum]; ok {
			t.Errorf("%q and %s have one MAC", parts, was)
		}
		seen[sum] = fmt.Sprintf("%q", parts)
	}
}

func TestAVaultCannotBePrinted(t *testing.T) {
	v := create(t)
	text, err := json.Marshal(v)
	if err != nil || string(text) != `"[vault]"` {
		t.Errorf("%s %v", text, err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, of := range []any{v, *v} {
			if got := fmt.Sprintf(verb, of); got != "[vault]" {
				t.Errorf("%s: %s", verb, got)
			}
		}
	}
	if v.String() != "[vault]" || v.GoString() != "[vault]" {
		t.Error("String")
	}
}

func TestNewKeyIsNamedByItsThumbprint(t *testing.T) {
	key, err := NewKey(rand.Reader)
	if err != nil || key.Kid() != jwk.Thumbprint(key.Public().Public) {
		t.Errorf("%v %v", key, err)
	}
	if _, err := NewKey(strings.NewReader("")); !errors.Is(err, io.EOF) && err == nil {
		t.Error("made a key of nothing")
	}
}
