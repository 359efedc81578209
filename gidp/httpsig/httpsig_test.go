package httpsig

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sayso/jwk"
)

// RFC 9421 appendix B.2.6 with the request of B.2 and the key of B.1.4: the one published vector for ed25519.
func TestBaseIsThatOfTheRFC(t *testing.T) {
	m := Message{Method: "POST", Authority: "example.com", Path: "/foo", Header: map[string][]string{
		"Date": {"Tue, 20 Apr 2021 02:07:55 GMT"}, "Content-Type": {"application/json"}, "Content-Length": {"18"},
	}}
	const params = `("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"`
	base, err := m.base([]string{"date", "@method", "@path", "@authority", "content-type", "content-length"}, params)
	if err != nil {
		t.Fatal(err)
	}
	const want = "\"date\": Tue, 20 Apr 2021 02:07:55 GMT\n\"@method\": POST\n\"@path\": /foo\n\"@authority\": example.com\n" +
		"\"content-type\": application/json\n\"content-length\": 18\n\"@signature-params\": " + params
	if string(base) != want {
		t.Fatalf("base\n%s\nwant\n%s", base, want)
	}
	pub, decodeErr := jwk.DecodeBase64URL("JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs")
	if decodeErr != nil {
		t.Fatal(decodeErr)
	}
	sig, refused := parseSignature("sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:", "sig-b26")
	if refused != nil {
		t.Fatal(refused)
	}
	if !ed25519.Verify(pub, base, sig) {
		t.Fatal("the published signature does not verify over this base")
	}
}

// The text is fixed, so that a change of form is seen: other implementations read it.
func TestFormIsFixed(t *testing.T) {
	fields, err := Sign(Session, request(), newKey(t, 1), Params{Created: signed, Nonce: "6f0c"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"Content-Digest": "sha-256=:BJq6WaUDXOPrt4Hh+RdvqlIwLS9csjuaaSZzZU8zT+Y=:",
		"Signature-Input": `sig=("@method" "@authority" "@path" "content-digest" "a2a-extensions" "a2a-version");created=1793696400;nonce="6f0c";` +
			`keyid="` + jwk.Thumbprint(newKey(t, 1).Public().Public) + `";alg="ed25519";tag="gidp"`,
	}
	for name, text := range want {
		if fields[name] != text {
			t.Errorf("%s: %s\nwant %s", name, fields[name], text)
		}
	}
	if len(fields) != 3 || !strings.HasPrefix(fields["Signature"], "sig=:") || len(fields["Signature"]) != 94 {
		t.Errorf("fields %v", fields)
	}
	// RFC 9421 section 2.5, of the same request.
	in := `"@method": POST` + "\n" + `"@authority": agent.example:8443` + "\n" + `"@path": /a2a/q1/rpc` + "\n" + `"content-digest": ` + want["Content-Digest"] + "\n" +
		`"a2a-extensions": https://gidp.dev/extensions/gidp/0.1` + "\n" + `"a2a-version": 1.0` + "\n" + `"@signature-params": ` + strings.TrimPrefix(want["Signature-Input"], "sig=")
	sig, decodeErr := base64.StdEncoding.DecodeString(strings.Trim(strings.TrimPrefix(fields["Signature"], "sig="), ":"))
	if decodeErr != nil || !ed25519.Verify(newKey(t, 1).Public().Public, []byte(in), sig) {
		t.Error("the signature is not over the base written out here")
	}
}

func TestRoundTrip(t *testing.T) {
	key := newKey(t, 1)
	for name, change := range map[string]func(*Message){
		"with everything":  func(*Message) {},
		"no body":          func(m *Message) { m.Method, m.Body = "GET", nil },
		"empty body":       func(m *Message) { m.Body = []byte{} },
		"no extension":     func(m *Message) { delete(m.Header, "A2a-Extensions") },
		"two lines":        func(m *Message) { m.Header["A2a-Extensions"] = []string{" a ", "b,c\t"} },
		"empty line":       func(m *Message) { m.Header["A2a-Extensions"] = []string{""} },
		"empty path":       func(m *Message) { m.Path = "" },
		"encoded path":     func(m *Message) { m.Path = "/a%20b/%3F" },
		"address":          func(m *Message) { m.Authority = "[2001:db8::1]:8470" },
		"stale own digest": func(m *Message) { m.Header["Content-Digest"] = []string{"of another body"} },
	} {
		for profileName, p := range map[string]Profile{"session": Session, "provider": Provider} {
			m := request()
			change(&m)
			if len(m.Body) == 0 {
				delete(m.Header, "Content-Digest")
			}
			m = send(t, p, m, key, Params{Created: signed.Add(700 * time.Millisecond)})
			if err := receive(p, m, key, signed); err != nil {
				t.Errorf("%s, %s: %v", name, profileName, err)
			}
		}
	}
	m := send(t, Session, request(), key, Params{Created: signed, Nonce: "n"})
	s, err := Read(Session, m)
	if err != nil {
		t.Fatal(err)
	}
	if want := (Params{Created: signed, Nonce: "n", KeyID: jwk.Thumbprint(key.Public().Public)}); s.Params != want {
		t.Errorf("params %v, want %v", s.Params, want)
	}
}

// Two header lines and one line with a comma are the same field (RFC 9110 section 5.3), so a proxy may join them.
func TestLinesAreJoined(t *testing.T) {
	key, m := newKey(t, 1), request()
	m.Header["A2a-Extensions"] = []string{"a ", "\tb"}
	m = send(t, Session, m, key, Params{Created: signed})
	for value, want := range map[string]Code{"a, b": "", "a,b": CodeWrong, "b, a": CodeWrong, "a": CodeWrong} {
		m.Header["A2a-Extensions"] = []string{value}
		if got := code(receive(Session, m, key, signed)); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

// Case by case what a changed request is answered with.
func TestVerifyRefuses(t *testing.T) {
	key := newKey(t, 1)
	input := func(m *Message, old, new string) {
		text := strings.Replace(m.Header["Signature-Input"][0], old, new, 1)
		if text == m.Header["Signature-Input"][0] {
			t.Fatalf("%q is not in %q", old, text)
		}
		m.Header["Signature-Input"] = []string{text}
	}
	for _, c := range []struct {
		name   string
		change func(*Message)
		want   Code
	}{
		{"no signature", func(m *Message) { delete(m.Header, "Signature-Input"); delete(m.Header, "Signature") }, CodeAbsent},
		{"one field only", func(m *Message) { delete(m.Header, "Signature") }, CodeMalformed},
		{"two lines", func(m *Message) { m.Header["Signature"] = append(m.Header["Signature"], "b=:AA==:") }, CodeMalformed},
		{"method", func(m *Message) { m.Method = "PUT" }, CodeWrong},
		{"method in lower case", func(m *Message) { m.Method = "post" }, CodeMessage},
		{"authority", func(m *Message) { m.Authority = "agent.example:8444" }, CodeWrong},
		{"authority in upper case", func(m *Message) { m.Authority = "Agent.example:8443" }, CodeMessage},
		{"path", func(m *Message) { m.Path = "/a2a/q2/rpc" }, CodeWrong},
		{"path with query", func(m *Message) { m.Path = "/a2a/q1/rpc?x" }, CodeMessage},
		{"path with a line end", func(m *Message) { m.Path = "/a2a/q1/rpc\n\"x\": y" }, CodeMessage},
		{"relative path", func(m *Message) { m.Path = "a2a" }, CodeMessage},
		{"version", func(m *Message) { m.Header["A2a-Version"] = []string{"1.1"} }, CodeWrong},
		{"version absent", func(m *Message) { delete(m.Header, "A2a-Version") }, CodeComponents},
		{"extension absent", func(m *Message) { delete(m.Header, "A2a-Extensions") }, CodeComponents},
		{"extension twice", func(m *Message) { m.Header["A2a-Extensions"] = append(m.Header["A2a-Extensions"], "x") }, CodeWrong},
		{"extension folded", func(m *Message) { m.Header["A2a-Extensions"] = []string{"a\r\n b"} }, CodeMessage},
		{"extension beyond ASCII", func(m *Message) { m.Header["A2a-Extensions"] = []string{"\u00e9"} }, CodeMessage},
		{"extension too long", func(m *Message) { m.Header["A2a-Extensions"] = []string{strings.Repeat("x", maxField)} }, CodeMessage},
		{"body", func(m *Message) { m.Body = []byte(`{"jsonrpc":"2.1"}`) }, CodeDigest},
		{"body gone", func(m *Message) { m.Body = nil }, CodeComponents},
		{"body and digest", func(m *Message) {
			m.Body = []byte("{}")
			m.Header["Content-Digest"] = []string{contentDigest(m.Body)}
		}, CodeWrong},
		{"digest gone", func(m *Message) { delete(m.Header, "Content-Digest") }, CodeDigest},
		{"digest twice", func(m *Message) {
			m.Header["Content-Digest"] = append(m.Header["Content-Digest"], m.Header["Content-Digest"][0])
		}, CodeDigest},
		{"digest with another", func(m *Message) { m.Header["Content-Digest"][0] += ", md5=:AA==:" }, CodeDigest},
		{"digest of another hash", func(m *Message) {
			m.Header["Content-Digest"][0] = strings.Replace(m.Header["Content-Digest"][0], "256", "512", 1)
		}, CodeDigest},
		{"component missing", func(m *Message) { input(m, ` "@path"`, ``) }, CodeComponents},
		{"component repeated", func(m *Message) { input(m, `"@path"`, `"@path" "@path"`) }, CodeComponents},
		{"component in place of another", func(m *Message) { input(m, `"@path"`, `"@method"`) }, CodeComponents},
		{"component of no profile", func(m *Message) { input(m, `"@path"`, `"@path" "@query"`) }, CodeComponents},
		{"component order", func(m *Message) { input(m, `"@method" "@authority"`, `"@authority" "@method"`) }, CodeWrong},
		{"component parameter", func(m *Message) { input(m, `"@path"`, `"@path";req`) }, CodeMalformed},
		{"component in capitals", func(m *Message) { input(m, `"@path"`, `"@Path"`) }, CodeComponents},
		{"no component", func(m *Message) { input(m, m.Header["Signature-Input"][0], `sig=();created=1`) }, CodeMalformed},
		{"created", func(m *Message) { input(m, "created=1793696400", "created=1793696401") }, CodeWrong},
		{"nonce", func(m *Message) { input(m, `nonce="6f0c"`, `nonce="6f0d"`) }, CodeWrong},
		{"nonce gone", func(m *Message) { input(m, `;nonce="6f0c"`, ``) }, CodeMalformed},
		{"nonce with an escape", func(m *Message) { input(m, `6f0c`, `6f\"0c`) }, CodeMalformed},
		{"nonce too long", func(m *Message) { input(m, `6f0c`, strings.Repeat("n", maxNonce+1)) }, CodeMalformed},
		{"keyid", func(m *Message) {
			input(m, jwk.Thumbprint(key.Public().Public), jwk.Thumbprint(newKey(t, 2).Public().Public))
		}, CodeKey},
		{"alg", func(m *Message) { input(m, `alg="ed25519"`, `alg="hmac-sha256"`) }, CodeMalformed},
		{"alg gone", func(m *Message) { input(m, `;alg="ed25519"`, ``) }, CodeMalformed},
		{"tag", func(m *Message) { input(m, `tag="gidp"`, `tag="other"`) }, CodeMalformed},
		{"parameter order", func(m *Message) { input(m, `;alg="ed25519";tag="gidp"`, `;tag="gidp";alg="ed25519"`) }, CodeWrong},
		{"unknown parameter", func(m *Message) { input(m, `;tag=`, `;expires=1893456000;tag=`) }, CodeMalformed},
		{"parameter twice", func(m *Message) { input(m, `;tag=`, `;tag="gidp";tag=`) }, CodeMalformed},
		{"other label", func(m *Message) { input(m, `sig=`, `sig2=`) }, CodeMalformed},
		{"two labels", func(m *Message) { input(m, `;tag="gidp"`, `;tag="gidp", b=("@path");created=1`) }, CodeMalformed},
		{"signature of another request", func(m *Message) {
			other := request()
			other.Path = "/other"
			m.Header["Signature"] = send(t, Session, other, key, Params{Created: signed}).Header["Signature"]
		}, CodeWrong},
		{"signature cut", func(m *Message) { m.Header["Signature"][0] = m.Header["Signature"][0][:60] + ":" }, CodeMalformed},
		{"two signatures", func(m *Message) { m.Header["Signature"][0] += ", b=:AA==:" }, CodeMalformed},
		{"signature with stray bits", func(m *Message) {
			m.Header["Signature"][0] = m.Header["Signature"][0][:90] + next(m.Header["Signature"][0][90]) + "==:"
		}, CodeMalformed},
	} {
		p := Session
		p.Nonce = true
		m := send(t, p, request(), key, Params{Created: signed, Nonce: "6f0c"})
		c.change(&m)
		err := receive(p, m, key, signed)
		if got := code(err); got != c.want {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if c.want == CodeAbsent && !errors.Is(err, ErrAbsent) {
			t.Errorf("%s: %v is not ErrAbsent", c.name, err)
		}
	}
}

// next is the following character of the base64 alphabet: the last of 64 bytes has four unused bits, so that it decodes to the same bytes.
func next(c byte) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	return alphabet[strings.IndexByte(alphabet, c)+1:][:1]
}

func TestWindow(t *testing.T) {
	key := newKey(t, 1)
	m := send(t, Provider, request(), key, Params{Created: signed})
	for age, want := range map[time.Duration]Code{
		0: "", window: "", -window: "", window + 1: CodeTime, -window - 1: CodeTime, 400 * 24 * time.Hour: CodeTime, 290 * 365 * 24 * time.Hour: CodeTime, -290 * 365 * 24 * time.Hour: CodeTime,
	} {
		if got := code(receive(Provider, m, key, signed.Add(age))); got != want {
			t.Errorf("%v after: %q, want %q", age, got, want)
		}
	}
	if got := code(receive(Provider, m, key, time.Time{})); got != CodeTime {
		t.Errorf("at the zero time: %q", got)
	}
}

func TestKeys(t *testing.T) {
	key := newKey(t, 1)
	m := send(t, Provider, request(), key, Params{Created: signed})
	s, err := Read(Provider, m)
	if err != nil {
		t.Fatal(err)
	}
	// Under the point of order one, R = identity and S = 0 hold for every message.
	identity := append([]byte{1}, make([]byte, 31)...)
	forged := s
	forged.Params.KeyID, forged.value = jwk.Thumbprint(identity), append(slices.Clone(identity), make([]byte, 32)...)
	for name, c := range map[string]struct {
		s   Signature
		pub ed25519.PublicKey
	}{"another key": {s, newKey(t, 2).Public().Public}, "no key": {s, nil}, "short key": {s, identity[:31]}, "small order": {forged, identity}} {
		if got := code(c.s.Verify(m, c.pub, signed, window)); got != CodeKey {
			t.Errorf("%s: %q, want %q", name, got, CodeKey)
		}
	}
	// An attacker who names its own key gets no further than the signature of its own key: the look-up decides whose it is.
	if err := (Signature{}).Verify(Message{}, key.Public().Public, time.Time{}, window); err == nil {
		t.Error("the zero signature verifies")
	}
}

func TestSignRefuses(t *testing.T) {
	key := newKey(t, 1)
	nonce := Session
	nonce.Nonce = true
	query := Profile{Components: []string{"@query"}}
	for name, c := range map[string]struct {
		p      Profile
		change func(*Message)
		params Params
		want   Code
	}{
		"no time":           {Session, nil, Params{}, CodeMalformed},
		"far time":          {Session, nil, Params{Created: time.Unix(maxCreated+1, 0)}, CodeMalformed},
		"no nonce":          {nonce, nil, Params{Created: signed}, CodeMalformed},
		"nonce with quote":  {Session, nil, Params{Created: signed, Nonce: `a"b`}, CodeMalformed},
		"nonce with line":   {Session, nil, Params{Created: signed, Nonce: "a\nb"}, CodeMalformed},
		"nonce not ASCII":   {Session, nil, Params{Created: signed, Nonce: "\u0161"}, CodeMalformed},
		"another key":       {Session, nil, Params{Created: signed, KeyID: "x"}, CodeKey},
		"no version":        {Session, func(m *Message) { delete(m.Header, "A2a-Version") }, Params{Created: signed}, CodeComponents},
		"no authority":      {Provider, func(m *Message) { m.Authority = "" }, Params{Created: signed}, CodeMessage},
		"derived component": {query, nil, Params{Created: signed}, CodeComponents},
	} {
		m := request()
		if c.change != nil {
			c.change(&m)
		}
		if fields, err := Sign(c.p, m, key, c.params); code(err) != c.want || fields != nil {
			t.Errorf("%s: %v %v, want %q", name, fields, err, c.want)
		}
	}
}

func TestSignLeavesItsInput(t *testing.T) {
	m := request()
	before := clone(m.Header)
	if _, err := Sign(Session, m, newKey(t, 1), Params{Created: signed}); err != nil {
		t.Fatal(err)
	}
	if !maps.EqualFunc(before, m.Header, slices.Equal) {
		t.Errorf("the header of the caller changed: %v", m.Header)
	}
}

func TestAuthority(t *testing.T) {
	for _, c := range [][3]string{
		{"https", "Example.COM", "example.com"}, {"https", "example.com:443", "example.com"}, {"https", "example.com:80", "example.com:80"}, {"http", "example.com:80", "example.com"},
		{"http", "[::1]:80", "[::1]"}, {"http", "127.0.0.1:8470", "127.0.0.1:8470"}, {"", "a:80", "a:80"},
	} {
		if got := Authority(c[0], c[1]); got != c[2] {
			t.Errorf("%s %s: %s, want %s", c[0], c[1], got, c[2])
		}
	}
}

// Whatever is changed about a covered part, the request is refused; what is not covered may change.
func TestAnyChangeIsRefused(t *testing.T) {
	keys := []*jwk.PrivateKey{newKey(t, 1), newKey(t, 2)}
	rapid.Check(t, func(t *rapid.T) {
		p := Session
		if rapid.Bool().Draw(t, "provider") {
			p = Provider
		}
		token := rapid.StringMatching(`[a-z0-9]{1,8}`)
		draw := func(name string) Message {
			m := Message{
				Method:    rapid.SampledFrom([]string{"GET", "POST", "PUT", "DELETE"}).Draw(t, name+" method"),
				Authority: token.Draw(t, name+" host"),
				Path:      rapid.StringMatching(`/[!-"$->@-~]{0,12}`).Draw(t, name+" path"),
				Header:    map[string][]string{"A2a-Version": {token.Draw(t, name+" version")}},
				Body:      []byte(rapid.String().Draw(t, name+" body")),
			}
			if lines := rapid.SliceOfN(token, 0, 3).Draw(t, name+" extensions"); len(lines) > 0 {
				m.Header["A2a-Extensions"] = lines
			}
			return m
		}
		params := Params{Created: time.Unix(rapid.Int64Range(1, 4_000_000_000).Draw(t, "created"), 0), Nonce: rapid.StringMatching(`([!#-\[\]-~]{1,12})?`).Draw(t, "nonce")}
		plain := draw("first")
		fields, err := Sign(p, plain, keys[0], params)
		if err != nil {
			t.Fatal(err)
		}
		// travel is a message under the first one's signature.
		travel := func(m Message) Message {
			m.Header = clone(m.Header)
			for name, value := range fields {
				m.Header[name] = []string{value}
			}
			return m
		}
		m := travel(plain)
		if err := receive(p, m, keys[0], params.Created); err != nil {
			t.Fatalf("%v: %v", m, err)
		}
		if receive(p, m, keys[1], params.Created) == nil {
			t.Fatal("another key verifies")
		}
		other := draw("second")
		field := func(m Message, name string) string { return strings.Join(m.Header[name], ", ") }
		same := other.Method == plain.Method && other.Authority == plain.Authority && other.Path == plain.Path && string(other.Body) == string(plain.Body) &&
			(len(p.Optional) == 0 || field(other, "A2a-Extensions") == field(plain, "A2a-Extensions") && field(other, "A2a-Version") == field(plain, "A2a-Version"))
		if got := receive(p, travel(other), keys[0], params.Created) == nil; got != same {
			t.Fatalf("the signature of\n%v\nholds %v for\n%v", plain, got, other)
		}
		// One byte of any of the three fields: the label may change in both at once and is not covered.
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(fields))).Draw(t, "field")
		at := rapid.IntRange(0, len(fields[name])-1).Draw(t, "at")
		b := []byte(fields[name])
		b[at] ^= byte(1 + rapid.IntRange(0, 254).Draw(t, "flip"))
		m.Header[name] = []string{string(b)}
		if receive(p, m, keys[0], params.Created) == nil {
			t.Fatalf("%s holds as %q", name, b)
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	key := newKey(b, 1)
	m := send(b, Session, request(), key, Params{Created: signed, Nonce: "6f0c"})
	pub := key.Public().Public
	b.Run("ed25519", func(b *testing.B) {
		s, _ := Read(Session, m)
		base, _ := m.base(s.Covered, s.params)
		for b.Loop() {
			if !ed25519.Verify(pub, base, s.value) {
				b.Fatal("wrong")
			}
		}
	})
	b.Run("request", func(b *testing.B) {
		for b.Loop() {
			if err := receive(Session, m, key, signed); err != nil {
				b.Fatal(err)
			}
		}
	})
}
