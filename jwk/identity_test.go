package jwk_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"sayso/jwk"
)

func identity(t *testing.T) *jwk.Identity {
	t.Helper()
	id, err := jwk.GenerateIdentity()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestIdentityRoundTrip(t *testing.T) {
	id := identity(t)
	again, err := jwk.ParseIdentity(id.Export())
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := id.Seal([]byte("key"))
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := again.Open(sealed); err != nil || string(plain) != "key" || !jwk.Sealed(sealed) {
		t.Errorf("%q, %v", plain, err)
	}
	if second, err := id.Seal([]byte("key")); err != nil || bytes.Equal(second, sealed) {
		t.Errorf("sealed twice alike: %v", err)
	}
}

func TestIdentityRefuses(t *testing.T) {
	id := identity(t)
	sealed, err := id.Seal([]byte("key"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := identity(t).Open(sealed); reason(t, err) != jwk.BadSeal {
		t.Errorf("another identity: %v", err)
	}
	for name, data := range map[string][]byte{
		"empty": nil, "plain": []byte("key"), "cut": sealed[:len(sealed)-1], "large": append(bytes.Clone(sealed), make([]byte, 64<<10)...),
		"passphrase": passphraseSealed(t),
	} {
		if _, err := id.Open(data); reason(t, err) != jwk.BadSeal {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i := range sealed {
		bad := bytes.Clone(sealed)
		bad[i] ^= 1
		if _, err := id.Open(bad); err == nil {
			t.Errorf("byte %d changed: opened", i)
		}
	}
	text := string(id.Export())
	for _, bad := range []string{"", "\n", text[:40], strings.ToLower(text), text + text, " " + text} {
		if _, err := jwk.ParseIdentity([]byte(bad)); reason(t, err) != jwk.BadSeal || strings.Contains(err.Error(), "KEY-1") {
			t.Errorf("%d bytes: %v", len(bad), err)
		}
	}
}

func passphraseSealed(t *testing.T) []byte {
	t.Helper()
	defer jwk.SetWorkFactor(jwk.SetWorkFactor(10))
	sealed, err := jwk.Seal([]byte("key"), []byte("correct horse"))
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func TestIdentityNeverPrints(t *testing.T) {
	id := identity(t)
	secret := strings.TrimSpace(string(id.Export()))
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "id", id, "value", *id)
	js, err := json.Marshal(map[string]any{"p": id, "v": *id})
	if err != nil {
		t.Fatal(err)
	}
	all := log.String() + string(js) + fmt.Sprintf("%v %+v %#v %s %q %x %d", id, id, id, id, id, id, id) + fmt.Sprintf("%v %+v %#v", struct{ i *jwk.Identity }{id}, *id, []any{*id})
	if strings.Contains(strings.ToUpper(all), secret) || strings.Contains(all, "41474") {
		t.Errorf("the identity shows: %s", all)
	}
}
