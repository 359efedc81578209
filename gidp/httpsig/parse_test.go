package httpsig

import (
	"encoding/base64"
	"strconv"
	"strings"
	"testing"
)

const thumb = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k" // RFC 8037 appendix A.3

func TestParseInput(t *testing.T) {
	const rest = `;keyid="` + thumb + `";alg="ed25519";tag="gidp"`
	for text, ok := range map[string]bool{
		`sig=("@method");created=1` + rest:                                                    true,
		`*=("@method");created=999999999999` + rest:                                           true,
		`a_-.*9=("@method" "@path");keyid="` + thumb + `";tag="gidp";alg="ed25519";created=7`: true,
		``:                                             false,
		`sig`:                                          false,
		`Sig=("@method");created=1` + rest:             false,
		`=("@method");created=1` + rest:                false,
		` sig=("@method");created=1` + rest:            false,
		`sig=("@method");created=1` + rest + ` `:       false,
		`sig=("@method");created=1` + rest + `,`:       false,
		`sig=( "@method");created=1` + rest:            false,
		`sig=("@method" );created=1` + rest:            false,
		`sig=("@method"  "@path");created=1` + rest:    false,
		`sig=("@method"	"@path");created=1` + rest:     false,
		`sig=("@method""@path");created=1` + rest:      false,
		`sig=(@method);created=1` + rest:               false,
		`sig=("");created=1` + rest:                    false,
		`sig=();created=1` + rest:                      false,
		`sig="@method";created=1` + rest:               false,
		`sig=("@method"); created=1` + rest:            false,
		`sig=("@method");created=01` + rest:            false,
		`sig=("@method");created=0` + rest:             false,
		`sig=("@method");created=-1` + rest:            false,
		`sig=("@method");created=1.0` + rest:           false,
		`sig=("@method");created=1000000000000` + rest: false,
		`sig=("@method");created="1"` + rest:           false,
		`sig=("@method");created` + rest:               false,
		`sig=("@method");created=?1` + rest:            false,
		`sig=("@method")` + rest:                       false,
		`sig=("@method");created=1;created=1` + rest:   false,
		`sig=("@method");created=1;nonce=""` + rest:    false,
		`sig=("@method");created=1;nonce="a b"` + rest: false,
		`sig=("@method");created=1;nonce=a` + rest:     false,
		`sig=("@method");created=1;nonce="` + rest:     false,
		`sig=("@method");created=1;Nonce="a"` + rest:   false,
		`sig=("@method");created=1;` + rest:            false,
		`sig=("@method");created=1;=` + rest:           false,
		`sig=("@method");created=1;keyid="` + thumb[:42] + `";alg="ed25519";tag="gidp"`:  false,
		`sig=("@method");created=1;keyid="` + thumb[:42] + `l";alg="ed25519";tag="gidp"`: false, // stray bits
		`sig=("@method");created=1;keyid="` + thumb[:40] + `";alg="ed25519";tag="gidp"`:  false,
		`sig=("@method");created=1;alg="ed25519";tag="gidp"`:                             false,
		strings.Repeat("s", maxLabel+1) + `=("@method");created=1` + rest:                false,
		`sig=("` + strings.Repeat("x", maxInput) + `");created=1` + rest:                 false,
	} {
		if name, s, err := parseInput(text); (err == nil) != ok {
			t.Errorf("%s: %q %v %v, want read %v", text, name, s, err, ok)
		}
	}
}

func TestParseDigest(t *testing.T) {
	good := contentDigest(nil)
	if good != "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:" {
		t.Fatal(good)
	}
	for _, bad := range []string{
		"", "sha-256=", "sha-256=::", good + " ", " " + good, good + ";q=1", good + "," + good, strings.ToUpper(good), strings.Replace(good, "=:", ":", 1), strings.TrimSuffix(good, ":"),
		strings.Replace(good, "FU=", "FV=", 1), strings.Replace(good, "+/", "-_", 1), strings.Replace(good, "47DE", "47D\n", 1), strings.Replace(good, "FU=:", "FUAA:", 1),
	} {
		if _, err := parseDigest(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

// What is read has one text: nothing but the order of components and parameters is the sender's choice.
func FuzzSignatureInput(f *testing.F) {
	fields, err := Sign(Session, request(), newKey(f, 1), Params{Created: signed, Nonce: "6f0c"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(fields["Signature-Input"], fields["Signature"])
	f.Add(`sig=("@method");created=1;keyid="`+thumb+`";alg="ed25519";tag="gidp"`, "sig=::")
	f.Add(`sig1=("@method";req "date");created=1618884473;keyid="test-key-ed25519", b=()`, "sig1=:AA==:, b=:AA==:")
	f.Fuzz(func(t *testing.T, input, value string) {
		m := request()
		m.Header["Signature-Input"], m.Header["Signature"] = []string{input}, []string{value}
		s, err := Read(Session, m)
		if err != nil {
			if code(err) != CodeMalformed && code(err) != CodeComponents {
				t.Fatal(err)
			}
			return
		}
		name, params, _ := strings.Cut(input, "=")
		if params != s.params || value != name+"=:"+base64.StdEncoding.EncodeToString(s.value)+":" {
			t.Fatalf("%q %q were not read as they stand", input, value)
		}
		list := `("` + strings.Join(s.Covered, `" "`) + `")`
		tail, ok := strings.CutPrefix(params, list)
		if !ok {
			t.Fatalf("%q has another list of components than %s", input, list)
		}
		// Every parameter in its one text, each once.
		want := []string{"created=" + strconv.FormatInt(s.Params.Created.Unix(), 10), `keyid="` + s.Params.KeyID + `"`, `alg="ed25519"`, `tag="gidp"`}
		if s.Params.Nonce != "" {
			want = append(want, `nonce="`+s.Params.Nonce+`"`)
		}
		length := 0
		for _, w := range want {
			length += 1 + len(w)
			if strings.Count(tail, w) < 1 {
				t.Fatalf("%q lacks %s", input, w)
			}
		}
		if length != len(tail) {
			t.Fatalf("%q holds more than %q", tail, want)
		}
	})
}

func FuzzContentDigest(f *testing.F) {
	f.Add(contentDigest([]byte("{}")), []byte("{}"))
	f.Add("sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:, sha-512=:AA==:", []byte{})
	f.Fuzz(func(t *testing.T, text string, body []byte) {
		sum, err := parseDigest(text)
		if err == nil && text != "sha-256=:"+base64.StdEncoding.EncodeToString(sum[:])+":" {
			t.Fatalf("%q is a second text of %x", text, sum)
		}
		m := Message{Header: map[string][]string{"Content-Digest": {text}}, Body: body}
		if holds := checkDigest(m) == nil; holds != (len(body) > 0 && text == contentDigest(body)) {
			t.Fatalf("%q for %q: %v", text, body, holds)
		}
	})
}
