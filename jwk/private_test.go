package jwk_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"sayso/jcs"
	"sayso/jwk"
)

const (
	testD = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A" // printed in RFC 8037 appendix A.1
	testX = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
)

func TestPrivateRoundTrip(t *testing.T) {
	key, err := jwk.Generate("ex-2026-10", rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	again, err := jwk.ParsePrivate(key.Export())
	if err != nil {
		t.Fatal(err)
	}
	if again.Kid() != "ex-2026-10" || !bytes.Equal(again.Export(), key.Export()) {
		t.Error("the key changes on its way through a file")
	}
	pub := key.Public()
	if pub.Kid != key.Kid() || pub.Use != "sig" || pub.Alg != "EdDSA" || pub.ValidFrom+pub.Retired+pub.Revoked != "" {
		t.Errorf("public half %+v", pub)
	}
	if !ed25519.Verify(pub.Public, []byte("m"), again.Sign([]byte("m"))) {
		t.Error("the signature does not verify")
	}
	if _, err := jwk.ParseSet([]byte(`{"keys":[` + string(key.Export()) + `]}`)); reason(t, err) != jwk.HasPrivate {
		t.Errorf("an exported key in a public set: %v", err)
	}
}

func TestRename(t *testing.T) {
	key, err := jwk.Generate("new", rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	named, err := key.Rename("ex-1234")
	if err != nil || named.Kid() != "ex-1234" || key.Kid() != "new" || !named.Public().Public.Equal(key.Public().Public) {
		t.Errorf("%v, %v", named, err)
	}
	if _, err := key.Rename("a b"); reason(t, err) != jwk.BadKid {
		t.Errorf("kid: %v", err)
	}
}

func TestGenerateRefuses(t *testing.T) {
	if _, err := jwk.Generate("a b", rand.Reader); reason(t, err) != jwk.BadKid {
		t.Errorf("kid: %v", err)
	}
	if _, err := jwk.Generate("a", strings.NewReader("31 bytes are one too few for it")); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("short random: %v", err)
	}
}

func TestParsePrivateRefuses(t *testing.T) {
	otherX := base64.RawURLEncoding.EncodeToString(ed25519.NewKeyFromSeed(make([]byte, 32)).Public().(ed25519.PublicKey))
	file := func(x, d, rest string) string {
		return `{"kty":"OKP","crv":"Ed25519","x":"` + x + `","d":"` + d + `"` + rest + `}`
	}
	const kid = `,"kid":"a"`
	good := file(testX, testD, kid)
	if _, err := jwk.ParsePrivate([]byte(good)); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, text string
		want       jwk.Reason
	}{
		{"swapped pair", file(otherX, testD, kid), jwk.BadPair},
		{"x and d exchanged", file(testD, testX, kid), jwk.BadEncoding},
		{"truncated", good[:60], jwk.Malformed},
		{"empty", "", jwk.Malformed},
		{"PEM", "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v", jwk.Malformed},
		{"d of 31 bytes", file(testX, testD[:42], kid), jwk.BadText},
		{"d of 33 bytes", file(testX, testD[:42]+"gAA", kid), jwk.BadText},
		{"d of 64 bytes", file(testX, base64.RawURLEncoding.EncodeToString(make([]byte, 64)), kid), jwk.BadLength},
		{"d with padding", file(testX, testD+"=", kid), jwk.BadText},
		{"no d", `{"kty":"OKP","crv":"Ed25519","x":"` + testX + `","kid":"a"}`, jwk.Malformed},
		{"d null", `{"kty":"OKP","crv":"Ed25519","x":"` + testX + `","d":null,"kid":"a"}`, jwk.Malformed},
		{"d a number", `{"kty":"OKP","crv":"Ed25519","x":"` + testX + `","d":9007199254740993,"kid":"a"}`, jwk.Malformed},
		{"d twice", file(testX, testD, `,"d":"`+testD+`"`+kid), jwk.Malformed},
		{"small-order x", file("AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", testD, kid), jwk.SmallOrder},
		{"no kid", file(testX, testD, ""), jwk.BadKid},
		{"alg ES256", file(testX, testD, kid+`,"alg":"ES256"`), jwk.BadUse},
		{"kty EC", strings.Replace(good, "OKP", "EC", 1), jwk.BadType},
		{"a set", `{"keys":[` + good + `]}`, jwk.BadType},
	}
	for _, tt := range tests {
		key, err := jwk.ParsePrivate([]byte(tt.text))
		if reason(t, err) != tt.want || key != nil {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		if err != nil && (strings.Contains(err.Error(), testD[:8]) || strings.Contains(err.Error(), "90071992")) {
			t.Errorf("%s: the error shows the file: %v", tt.name, err)
		}
	}
}

// TestPrivateKeyIsUnprintable prints a key in every way a log, an error or a dump might.
func TestPrivateKeyIsUnprintable(t *testing.T) {
	key, err := jwk.ParsePrivate([]byte(`{"kty":"OKP","crv":"Ed25519","x":"` + testX + `","d":"` + testD + `","kid":"ex-2026-10"}`))
	if err != nil {
		t.Fatal(err)
	}
	const want = "[private key ex-2026-10]"
	type unexported struct {
		pointer *jwk.PrivateKey
		value   jwk.PrivateKey
	}
	verbs := []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T %v", "% x", "%c", "%U", "%08b"}
	for _, verb := range verbs {
		for _, v := range []any{key, *key} {
			args := []any{v}
			if verb == "%T %v" {
				args = []any{v, v}
			}
			if got := fmt.Sprintf(verb, args...); !strings.HasSuffix(got, want) {
				t.Errorf("%s of %T: %s", verb, v, got)
			}
		}
		for _, v := range []any{&unexported{key, *key}, unexported{key, *key}, []*jwk.PrivateKey{key}, map[string]jwk.PrivateKey{"k": *key}, &key} {
			noSecret(t, verb, fmt.Sprintf(strings.TrimPrefix(verb, "%T "), v))
		}
	}
	if key.String() != want || key.GoString() != want {
		t.Errorf("String %s, GoString %s", key, key.GoString())
	}
	if text, err := key.MarshalText(); err != nil || string(text) != want {
		t.Errorf("MarshalText %s %v", text, err)
	}
	for _, v := range []any{key, *key, map[string]any{"key": key}, struct{ Key jwk.PrivateKey }{*key}} {
		for name, encode := range map[string]func(any) ([]byte, error){"encoding/json": json.Marshal, "jcs": jcs.Encode} {
			got, err := encode(v)
			if err != nil || !strings.Contains(string(got), `"`+want+`"`) {
				t.Errorf("%s of %T: %s %v", name, v, got, err)
			}
			noSecret(t, name, string(got))
		}
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("signing", "key", key, "value", *key)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("signing", "key", key, "value", *key)
	if strings.Count(log.String(), want) != 4 {
		t.Errorf("log: %s", log.String())
	}
	noSecret(t, "slog", log.String())
	noSecret(t, "error", fmt.Errorf("cannot sign with %v: %w", key, io.EOF).Error())
}

// noSecret fails when out holds the seed in base64url, hexadecimal or as decimal bytes.
func noSecret(t *testing.T, how, out string) {
	t.Helper()
	seed, err := base64.RawURLEncoding.DecodeString(testD)
	if err != nil {
		t.Fatal(err)
	}
	decimal := strings.Trim(fmt.Sprint(seed[:4]), "[]")
	for _, secret := range []string{testD, hex.EncodeToString(seed[:4]), strings.ToUpper(hex.EncodeToString(seed[:4])), decimal, strings.ReplaceAll(decimal, " ", ","), string(seed[:4])} {
		if strings.Contains(out, secret) {
			t.Errorf("%s shows the key: %s", how, out)
		}
	}
}

func TestSeal(t *testing.T) {
	defer jwk.SetWorkFactor(jwk.SetWorkFactor(10))
	plain := []byte(`{"kty":"OKP"}`)
	sealed, err := jwk.Seal(plain, []byte("correct horse"))
	if err != nil {
		t.Fatal(err)
	}
	if !jwk.Sealed(sealed) || jwk.Sealed(plain) || bytes.Contains(sealed, plain) {
		t.Error("the file does not look sealed")
	}
	got, err := jwk.Open(sealed, []byte("correct horse"))
	if err != nil || !bytes.Equal(got, plain) {
		t.Fatalf("opened %s, %v", got, err)
	}
	damaged := bytes.Clone(sealed)
	damaged[len(damaged)-1] ^= 1
	for name, tt := range map[string]struct{ file, passphrase []byte }{
		"wrong passphrase": {sealed, []byte("Correct horse")},
		"no passphrase":    {sealed, nil},
		"last byte":        {damaged, []byte("correct horse")},
		"truncated":        {sealed[:len(sealed)-5], []byte("correct horse")},
		"header only":      {[]byte("age-encryption.org/v1\n"), []byte("correct horse")},
		"not sealed":       {plain, []byte("correct horse")},
		"too large":        {append(bytes.Clone(sealed), make([]byte, 64<<10)...), []byte("correct horse")},
	} {
		if got, err := jwk.Open(tt.file, tt.passphrase); reason(t, err) != jwk.BadSeal || got != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := jwk.Seal(plain, nil); reason(t, err) != jwk.BadSeal {
		t.Errorf("sealed without a passphrase: %v", err)
	}
}

// TestOpenRefusesMoreWork: a file may not choose how much memory opening it takes.
func TestOpenRefusesMoreWork(t *testing.T) {
	before := jwk.SetWorkFactor(11)
	sealed, err := jwk.Seal([]byte("x"), []byte("p"))
	jwk.SetWorkFactor(10)
	defer jwk.SetWorkFactor(before)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := jwk.Open(sealed, []byte("p")); reason(t, err) != jwk.BadSeal {
		t.Errorf("opened with %v", err)
	}
}
