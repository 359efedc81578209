package jwk_test

import (
	"bytes"
	"crypto/ed25519"
	"strconv"
	"strings"
	"testing"

	"sayso/jcs"
	"sayso/jwk"
	"sayso/vectors"
)

func TestBase64URL(t *testing.T) {
	for _, text := range []string{"QR", "QQ\n", "Q\nQ", "QQ\r\n", "QQ==", "QQ=", "Q Q", "+_", "/_", "Q", " QQ", "Q\u00e4"} {
		if b, err := jwk.DecodeBase64URL(text); reason(t, err) != jwk.BadText {
			t.Errorf("%q = %x, %v", text, b, err)
		}
	}
	for text, want := range map[string]string{"QQ": "A", "": "", "_-8": "\xff\xef"} {
		b, err := jwk.DecodeBase64URL(text)
		if err != nil || string(b) != want || jwk.EncodeBase64URL(b) != text {
			t.Errorf("%q = %x, %v", text, b, err)
		}
	}
}

func TestParseSetVectors(t *testing.T) {
	for _, v := range vectors.Keys() {
		t.Run(v.Name, func(t *testing.T) {
			set, err := jwk.ParseSet([]byte(v.Set))
			got := string(reason(t, err))
			if err == nil {
				got = vectors.Valid
			}
			if got != v.Class || (set == nil) != (err != nil) {
				t.Fatalf("class %q (%v), want %q", got, err, v.Class)
			}
			if err != nil {
				return
			}
			text, err := set.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			again, err := jwk.ParseSet(text)
			if err != nil || len(again.Keys) != len(set.Keys) {
				t.Fatalf("%s does not read back: %v", text, err)
			}
			for _, key := range set.Keys {
				found, ok := again.Find(key.Kid)
				if !ok || !bytes.Equal(found.Public, key.Public) || found.Use != key.Use || found.Alg != key.Alg ||
					found.ValidFrom != key.ValidFrom || found.Retired != key.Retired || found.Revoked != key.Revoked {
					t.Errorf("%+v reads back as %+v", key, found)
				}
			}
		})
	}
}

func TestSetJSON(t *testing.T) {
	const x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
	pub, err := jwk.DecodeBase64URL(x)
	if err != nil {
		t.Fatal(err)
	}
	set := &jwk.Set{Keys: []jwk.Key{
		{Kid: "ex-2026-10", Public: pub, Use: "sig", Alg: "EdDSA", ValidFrom: "2026-10-01"},
		{Kid: "ex-2025-10", Public: pub, Use: "sig", Alg: "EdDSA", ValidFrom: "2025-10-01", Retired: "2026-10-08", Revoked: "2026-11-01"},
	}}
	want := `{"keys":[{"kty":"OKP","crv":"Ed25519","x":"` + x + `","kid":"ex-2026-10","use":"sig","alg":"EdDSA","validFrom":"2026-10-01","retired":null},` +
		`{"kty":"OKP","crv":"Ed25519","x":"` + x + `","kid":"ex-2025-10","use":"sig","alg":"EdDSA","validFrom":"2025-10-01","retired":"2026-10-08","revoked":"2026-11-01"}]}`
	for _, v := range []any{set, map[string]any{"set": set}} {
		got, err := jcs.Encode(v)
		if err != nil || !strings.Contains(string(got), want) {
			t.Errorf("got %s %v\nwant %s", got, err, want)
		}
	}
	if got, err := jcs.Encode(&jwk.Set{}); err != nil || string(got) != `{"keys":[]}` {
		t.Errorf("empty set: %s %v", got, err)
	}
	if _, ok := set.Find("EX-2026-10"); ok {
		t.Error("a kid is found in another case")
	}
}

func TestParseSetTooMany(t *testing.T) {
	set := func(n int) []byte {
		var b strings.Builder
		b.WriteString(`{"keys":[`)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(`{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"k` + strconv.Itoa(i) + `"}`)
		}
		return []byte(b.String() + `]}`)
	}
	if _, err := jwk.ParseSet(set(jwk.MaxKeys)); err != nil {
		t.Error(err)
	}
	if _, err := jwk.ParseSet(set(jwk.MaxKeys + 1)); reason(t, err) != jwk.TooMany {
		t.Errorf("one key too many: %v", err)
	}
}

// TestThumbprint is the example of RFC 8037 appendix A.3.
func TestThumbprint(t *testing.T) {
	pub, err := jwk.DecodeBase64URL("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")
	if err != nil {
		t.Fatal(err)
	}
	if got := jwk.Thumbprint(ed25519.PublicKey(pub)); got != "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k" {
		t.Errorf("thumbprint %s", got)
	}
}

func TestKidRules(t *testing.T) {
	for kid, want := range map[string]struct{ valid, own bool }{
		"ex-2026-10":                          {true, true},
		"a-0000-01":                           {true, true},
		"abcdefghijklmnop-2026-12":            {true, true},
		"abcdefghijklmnopq-2026-12":           {true, false},
		"-2026-12":                            {true, false},
		"ex-2026-00":                          {true, false},
		"ex-2026-13":                          {true, false},
		"ex-2026-1":                           {true, false},
		"ex-2026-1:":                          {true, false},
		"ex_2026_10":                          {true, false},
		"Ex-2026-10":                          {true, false},
		"ex-x-2026-10":                        {true, false},
		"ex-20a6-10":                          {true, false},
		"ex-2026-10\n":                        {false, false},
		"../../etc/passwd":                    {true, false},
		"did:key:z6Mk#z6Mk":                   {true, false},
		"":                                    {false, false},
		"a b":                                 {false, false},
		"a\x00":                               {false, false},
		"a@b":                                 {false, false},
		"a[b":                                 {false, false},
		"\u00e9":                              {false, false},
		strings.Repeat("k", 128):              {true, false},
		strings.Repeat("k", 129):              {false, false},
		strings.Repeat("k", 120) + "-2026-10": {true, false},
	} {
		if jwk.ValidKid(kid) != want.valid || jwk.OwnKid(kid) != want.own {
			t.Errorf("%q: valid %v, own %v", kid, jwk.ValidKid(kid), jwk.OwnKid(kid))
		}
	}
}

func FuzzParseSet(f *testing.F) {
	for _, v := range vectors.Keys() {
		f.Add([]byte(v.Set))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		set, err := jwk.ParseSet(data)
		if err != nil {
			if reason(t, err) == "" || err.Error() == "" {
				t.Fatalf("error without a class: %v", err)
			}
			return
		}
		seen := map[string]bool{}
		for _, key := range set.Keys {
			if _, err := jwk.Accept(key.Public); err != nil || seen[key.Kid] || !jwk.ValidKid(key.Kid) {
				t.Fatalf("%s gives %+v (%v)", data, key, err)
			}
			seen[key.Kid] = true
		}
	})
}
