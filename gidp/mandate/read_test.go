package mandate

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"sayso/gidp"
	"sayso/jwk"
)

// forge signs any header and payload.
func forge(key *jwk.PrivateKey, header, payload string) string {
	signed := jwk.EncodeBase64URL([]byte(header)) + "." + jwk.EncodeBase64URL([]byte(payload))
	return signed + "." + jwk.EncodeBase64URL(key.Sign([]byte(signed)))
}

// parts are the header and payload of a mandate that is in order.
func parts(t testing.TB) (header, payload string) {
	t.Helper()
	part := strings.Split(issue(t).Present(), ".")
	h, errHeader := jwk.DecodeBase64URL(part[0])
	p, errPayload := jwk.DecodeBase64URL(part[1])
	if errHeader != nil || errPayload != nil {
		t.Fatal(errHeader, errPayload)
	}
	return string(h), string(p)
}

// Case by case what a text signed by its own key is answered with: a signature proves no form.
func TestVerifyRefuses(t *testing.T) {
	key, header, payload := newKey(t, 1), "", ""
	header, payload = parts(t)
	own, session := string(jwk.EncodePublic(key.Public().Public)), string(jwk.EncodePublic(newKey(t, 2).Public().Public))
	sd := payload[strings.Index(payload, `"_sd":`):]
	for _, c := range []struct {
		name           string
		inHeader       bool
		old, new, tail string
		want           Code
	}{
		{"as it is", false, "", "", "", ""},
		{"no digests", false, "," + sd, "}", "", ""},
		{"alg none", true, `"EdDSA"`, `"none"`, "", CodeHeader},
		{"alg of another name", true, `"EdDSA"`, `"Ed25519"`, "", CodeHeader},
		{"alg null", true, `"EdDSA"`, `null`, "", CodeHeader},
		{"alg twice", true, `{"alg":"EdDSA"`, `{"alg":"none","\u0061lg":"EdDSA"`, "", CodeHeader},
		{"typ", true, typ, "sd-jwt", "", CodeHeader},
		{"crit", true, `{`, `{"crit":["x"],"x":1,`, "", CodeHeader},
		{"kid", true, `{`, `{"kid":"a",`, "", CodeHeader},
		{"no jwk", true, `,"jwk":` + own, ``, "", CodeHeader},
		{"jwk of another", true, own, session, "", CodeSignature},
		{"jwk of small order", true, own, `{"crv":"Ed25519","kty":"OKP","x":"AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}`, "", CodeKey},
		{"jwk private", true, `"crv"`, `"d":"AA","crv"`, "", CodeKey},
		{"jwk a string", true, own, `"x"`, "", CodeKey},
		{"delegates to itself", false, session, own, "", CodeKey},
		{"unknown member", false, `{`, `{"nbf":1,`, "", CodePayload},
		{"member twice", false, `"commit":false`, `"commit":true,"commit":false`, "", CodePayload},
		{"commit true", false, `"commit":false`, `"commit":true`, "", CodeCommit},
		{"commit a string", false, `"commit":false`, `"commit":"false"`, "", CodeCommit},
		{"commit null", false, `"commit":false`, `"commit":null`, "", CodeCommit},
		{"commit absent", false, `"commit":false,`, ``, "", CodePayload},
		{"iss a number", false, `"i-81"`, `81`, "", CodePayload},
		{"iss with a space", false, `"i-81"`, `"i 81"`, "", CodePayload},
		{"aud of another session", false, `session:s-4f`, `session:s-4e`, "", CodeAudience},
		{"aud of no session", false, `session:s-4f`, `s-4f`, "", CodePayload},
		{"aud a list", false, `"session:s-4f"`, `["session:s-4f"]`, "", CodePayload},
		{"cnf of another", false, session, string(jwk.EncodePublic(newKey(t, 3).Public().Public)), "", CodeConfirmation},
		{"cnf by name", false, `"jwk":` + session, `"kid":"a"`, "", CodeConfirmation},
		{"cnf with digests", false, `"cnf":{`, `"cnf":{"_sd":[],`, "", CodeConfirmation},
		{"cnf of another type", false, `"cnf":{"jwk":{"crv":"Ed25519"`, `"cnf":{"jwk":{"crv":"X25519"`, "", CodeConfirmation},
		{"no level", false, `["PROBE","DISCLOSE","INTRODUCE"]`, `[]`, "", CodeAuthority},
		{"levels null", false, `["PROBE","DISCLOSE","INTRODUCE"]`, `null`, "", CodeAuthority},
		{"COMMIT", false, `"PROBE"`, `"COMMIT"`, "", CodeAuthority},
		{"unknown level", false, `"PROBE"`, `"probe"`, "", CodeAuthority},
		{"level twice", false, `"PROBE"`, `"DISCLOSE"`, "", CodeAuthority},
		{"level concealed", false, `"PROBE"`, `{"...":"AA"}`, "", CodeAuthority},
		{"too many levels", false, `"PROBE"`, `"PROBE"` + strings.Repeat(`,"SEARCH"`, 8), "", CodeAuthority},
		{"exp a fraction", false, `"exp":1793700000`, `"exp":1793700000.5`, "", CodeTime},
		{"exp with exponent", false, `"exp":1793700000`, `"exp":17937e5`, "", CodeTime},
		{"exp a string", false, `"exp":1793700000`, `"exp":"1793700000"`, "", CodeTime},
		{"exp negative", false, `"exp":1793700000`, `"exp":-1`, "", CodeTime},
		{"exp later than the session", false, `"exp":1793700000`, `"exp":1793700001`, "", CodeTime},
		{"exp past", false, `"iat":1793696340,"exp":1793700000`, `"iat":1,"exp":2`, "", CodeTime},
		{"iat after exp", false, `"iat":1793696340,"exp":1793700000`, `"iat":1793696450,"exp":1793696449`, "", CodeTime},
		{"iat in the future", false, `"iat":1793696340`, `"iat":1793696701`, "", CodeTime},
		{"other hash", false, `"_sd_alg":"sha-256"`, `"_sd_alg":"sha-512"`, "", CodeDigest},
		{"hash absent", false, `"_sd_alg":"sha-256",`, ``, "", CodePayload},
		{"digest twice", false, sd, `"_sd":["` + digest("a") + `","` + digest("a") + `"]}`, "", CodeDigest},
		{"digest with stray bits", false, sd, `"_sd":["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB"]}`, "", CodeDigest},
		{"digest a number", false, sd, `"_sd":[1]}`, "", CodeDigest},
		{"too many digests", false, sd, `"_sd":["` + strings.Repeat(digest("a")+`","`, maxDigests) + `"]}`, "", CodeDigest},
		{"two values", false, sd, sd + "{}", "", CodePayload},
		{"key binding", false, "", "", "eyJhbGciOiJFZERTQSJ9.e30.AA", CodeKeyBinding},
		{"empty disclosure", false, "", "", "~", CodeDisclosure},
		{"disclosure of nothing", false, "", "", jwk.EncodeBase64URL([]byte(`["`+saltA+`","principal_name","Other"]`)) + "~", CodeDisclosure},
	} {
		h, p := header, payload
		part := &p
		if c.inHeader {
			part = &h
		}
		changed := strings.Replace(*part, c.old, c.new, 1)
		if changed == *part && c.old != "" {
			t.Fatalf("%s: %q is not in %q", c.name, c.old, *part)
		}
		*part = changed
		text := forge(key, h, p) + "~" + c.tail
		if _, err := Verify(text, expect(t)); code(err) != c.want {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// A Principal's console that is hostile itself can sign the digest of any disclosure.
func TestDisclosuresRefused(t *testing.T) {
	header, payload := parts(t)
	sd := payload[strings.Index(payload, `"_sd":`):]
	for text, want := range map[string]Code{
		`["s","principal_name","A"]`:           "",
		` ["s", "organisation_id", "A"] `:      "",
		`["s","commit",true]`:                  CodeDisclosure,
		`["s","commit","true"]`:                CodeDisclosure,
		`["s","aud","session:x"]`:              CodeDisclosure,
		`["s","_sd","A"]`:                      CodeDisclosure,
		`["s","...","A"]`:                      CodeDisclosure,
		`["s","principal_title","A"]`:          CodeDisclosure,
		`["s","principal_name"]`:               CodeDisclosure,
		`["s","A"]`:                            CodeDisclosure,
		`["s","principal_name","A","B"]`:       CodeDisclosure,
		`["","principal_name","A"]`:            CodeDisclosure,
		`[1,"principal_name","A"]`:             CodeDisclosure,
		`["s","principal_name",""]`:            CodeDisclosure,
		`["s","principal_name",null]`:          CodeDisclosure,
		`["s","principal_name",{"_sd":["x"]}]`: CodeDisclosure,
		`["s","principal_name","A\u0000"]`:     CodeDisclosure,
		`["s","principal_name","A\u2066B"]`:    CodeDisclosure,
		`["s","principal_name","\ud800"]`:      CodeDisclosure,
		`["s","principal_name","` + strings.Repeat("A", maxName+1) + `"]`: CodeDisclosure,
		`["` + strings.Repeat("s", maxSalt+1) + `","principal_name","A"]`: CodeDisclosure,
		`{"0":"s","1":"principal_name","2":"A"}`:                          CodeDisclosure,
		`["s","principal_name","A"]]`:                                     CodeDisclosure,
		`null`:                                                            CodeDisclosure,
		``:                                                                CodeDisclosure,
	} {
		d := jwk.EncodeBase64URL([]byte(text))
		jwt := forge(newKey(t, 1), header, strings.Replace(payload, sd, `"_sd":["`+digest(d)+`"]}`, 1))
		if _, err := Verify(jwt+"~"+d+"~", expect(t)); code(err) != want {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
		if _, err := Verify(jwt+"~"+d+"~"+d+"~", expect(t)); code(err) != CodeDisclosure {
			t.Errorf("%s twice: %v", text, err)
		}
	}
	// One name under two digests.
	a, b := jwk.EncodeBase64URL([]byte(`["s","principal_name","A"]`)), jwk.EncodeBase64URL([]byte(`["t","principal_name","B"]`))
	jwt := forge(newKey(t, 1), header, strings.Replace(payload, sd, `"_sd":["`+digest(a)+`","`+digest(b)+`"]}`, 1))
	if _, err := Verify(jwt+"~"+a+"~"+b+"~", expect(t)); code(err) != CodeDisclosure {
		t.Errorf("a name under two digests: %v", err)
	}
	// A digest over text that is not base64url at all.
	jwt = forge(newKey(t, 1), header, strings.Replace(payload, sd, `"_sd":["`+digest("[=]")+`"]}`, 1))
	if _, err := Verify(jwt+"~[=]~", expect(t)); code(err) != CodeDisclosure {
		t.Errorf("a disclosure that is no base64url: %v", err)
	}
}

func TestShape(t *testing.T) {
	text := issue(t).Present(PrincipalName)
	jwt, _, _ := strings.Cut(text, "~")
	for name, c := range map[string]struct {
		text string
		want Code
	}{
		"empty": {"", CodeMalformed}, "tilde": {"~", CodeMalformed}, "JWT alone": {jwt, CodeMalformed}, "two parts": {jwt[:strings.LastIndex(jwt, ".")] + "~", CodeMalformed},
		"four parts": {jwt + ".AA~", CodeMalformed}, "padding": {jwt + "=~", CodeMalformed}, "line end": {text + "\n", CodeKeyBinding}, "no last tilde": {strings.TrimSuffix(text, "~"), CodeKeyBinding},
		"JSON": {`{"payload":"","signature":""}`, CodeMalformed}, "short signature": {jwt[:len(jwt)-6] + "~", CodeSignature}, "too long": {text + strings.Repeat("A", MaxBytes), CodeMalformed},
		"only dots": {"..~", CodeHeader},
	} {
		if _, err := Verify(c.text, expect(t)); code(err) != c.want {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// What is accepted is one of the presentations of the one mandate whose key the fuzzer does not have.
func FuzzVerify(f *testing.F) {
	m := issue(f)
	jwt := strings.TrimSuffix(m.Present(), "~")
	a, b := strings.TrimPrefix(m.Present(PrincipalName), jwt+"~"), strings.TrimPrefix(m.Present(OrganisationID), jwt+"~")
	known := []string{jwt + "~", jwt + "~" + a, jwt + "~" + b, jwt + "~" + a + b, jwt + "~" + b + a}
	for _, text := range known {
		f.Add(text)
	}
	f.Add(jwt + "~" + a + a)
	f.Add(jwt + "~" + a + "eyJhbGciOiJFZERTQSJ9.e30.AA")
	header, payload := parts(f)
	f.Add(forge(newKey(f, 3), strings.Replace(header, string(jwk.EncodePublic(newKey(f, 1).Public().Public)), string(jwk.EncodePublic(newKey(f, 3).Public().Public)), 1), payload) + "~")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := Verify(text, expect(t))
		if err == nil && v.KeyThumbprint == jwk.Thumbprint(newKey(t, 1).Public().Public) && !slices.Contains(known, text) {
			t.Fatalf("accepted %s", text)
		}
	})
}

// A signer that may write any payload and disclosure gets nothing accepted that encoding/json reads otherwise.
func FuzzPayload(f *testing.F) {
	header, payload := parts(f)
	f.Add(payload, `["`+saltA+`","principal_name","A"]`)
	f.Add(strings.Replace(payload, "PROBE", "COMMIT", 1), `["s","organisation_id","A"]`)
	f.Add(strings.Replace(payload, "1793700000", "17937e5", 1), `[]`)
	f.Fuzz(func(t *testing.T, payload, disclosure string) {
		key := newKey(t, 1)
		d := jwk.EncodeBase64URL([]byte(disclosure))
		payload = strings.Replace(payload, `"_sd":["`, `"_sd":["`+digest(d)+`","`, 1)
		c, err := read(forge(key, header, payload) + "~" + d + "~")
		if err != nil {
			if code(err) == CodeSignature || code(err) == CodeHeader || code(err) == "foreign error" {
				t.Fatal(err)
			}
			return
		}
		var p struct {
			Iss    string   `json:"iss"`
			Aud    string   `json:"aud"`
			Levels []string `json:"gidp_authority"`
			Commit *bool    `json:"commit"`
			Iat    int64    `json:"iat"`
			Exp    int64    `json:"exp"`
			Cnf    struct {
				JWK json.RawMessage `json:"jwk"`
			} `json:"cnf"`
		}
		if err := json.Unmarshal([]byte(payload), &p); err != nil {
			t.Fatal(err)
		}
		pub, keyErr := jwk.ParsePublic(p.Cnf.JWK)
		if p.Iss != c.claims.Issuer || p.Aud != c.claims.Audience || p.Commit == nil || *p.Commit || p.Iat != c.claims.IssuedAt.Unix() || p.Exp != c.claims.Expires.Unix() || p.Exp <= p.Iat ||
			keyErr != nil || !pub.Equal(c.claims.Confirm) || len(p.Levels) != len(c.claims.Authority) {
			t.Fatalf("%s was read as %+v", payload, c.claims)
		}
		for i, l := range c.claims.Authority {
			if l >= gidp.Commit || l.String() != p.Levels[i] {
				t.Fatalf("%s was read as %v", payload, c.claims.Authority)
			}
		}
		var triple []string
		if err := json.Unmarshal([]byte(disclosure), &triple); err != nil || len(triple) != 3 || len(c.shown) != 1 || triple[1] != c.shown[0].name || triple[2] != c.shown[0].value {
			t.Fatalf("%s was read as %v, %v", disclosure, c.shown, err)
		}
	})
}
