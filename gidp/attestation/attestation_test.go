package attestation

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sayso/jcs"
	"sayso/jwk"
)

var noon = time.Date(2031, 1, 2, 12, 0, 0, 0, time.UTC) // a Thursday

func key(t testing.TB, name string) *jwk.PrivateKey {
	t.Helper()
	var seed [32]byte
	copy(seed[:], name)
	k, err := jwk.Generate("k", bytes.NewReader(seed[:]))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func thumb(k *jwk.PrivateKey) string { return jwk.Thumbprint(k.Public().Public) }

// member is an attestation of the guild for a holder, and where it is shown.
func member(t testing.TB) (credential string, issuer, holder *jwk.PrivateKey, to Binding) {
	t.Helper()
	issuer, holder = key(t, "issuer"), key(t, "holder")
	credential, err := Issue(Claims{Property: "member:guild.example", Confirm: holder.Public().Public, Expires: Expiry(noon, 4)}, issuer, noon)
	if err != nil {
		t.Fatal(err)
	}
	return credential, issuer, holder, Binding{Session: "s-1", Key: thumb(key(t, "session")), Peer: thumb(key(t, "initiator"))}
}

func present(t testing.TB, credential string, holder *jwk.PrivateKey, to Binding) string {
	t.Helper()
	text, err := Present(credential, holder, to, noon)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// The bytes of an attestation are fixed by its inputs: another implementation has to write the same.
func TestKnownAnswer(t *testing.T) {
	credential, issuer, holder, to := member(t)
	text := present(t, credential, holder, to)
	var parts []string
	for _, p := range strings.FieldsFunc(text, func(r rune) bool { return r == '.' || r == '~' }) {
		raw, err := jwk.DecodeBase64URL(p)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, string(raw))
	}
	for i, want := range map[int]string{
		0: `{"alg":"EdDSA","kid":"` + thumb(issuer) + `","typ":"gidp-attestation+sd-jwt"}`,
		1: `{"cnf":{"jwk":{"crv":"Ed25519","kty":"OKP","x":"` + jwk.EncodeBase64URL(holder.Public().Public) + `"}},"exp":1927238400,"gidp_property":"member:guild.example"}`,
		3: `{"alg":"EdDSA","typ":"kb+jwt"}`,
		4: `{"aud":"session:s-1","iat":1925121600,"nonce":"` + to.Key + "." + to.Peer + `","sd_hash":"` + sdHash(credential) + `"}`,
	} {
		if parts[i] != want {
			t.Errorf("part %d\ngot  %s\nwant %s", i, parts[i], want)
		}
	}
	if len(parts) != 6 || !Is(text) || Is("x"+text) || !strings.HasPrefix(text, credential) {
		t.Errorf("%d parts", len(parts))
	}
	c, err := Verify(text, issuer.Public().Public, to, noon)
	if err != nil || c.Property != "member:guild.example" || !c.Expires.Equal(time.Date(2031, 1, 27, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v %v", c, err)
	}
}

func sdHash(credential string) string {
	var b struct {
		Hash string `json:"sd_hash"`
	}
	if jcs.Decode(bindingOf(Binding{}, 0, credential), &b) != nil {
		return ""
	}
	return b.Hash
}

// remade is an attestation whose parts were put together by hand, signed by whom one likes.
func remade(header, payload string, issuer *jwk.PrivateKey, kbHead, kbBody string, holder *jwk.PrivateKey) string {
	return sign([]byte(header), []byte(payload), issuer) + "~" + sign([]byte(kbHead), []byte(kbBody), holder)
}

func TestVerifyRefuses(t *testing.T) {
	credential, issuer, holder, to := member(t)
	other := key(t, "other")
	text := present(t, credential, holder, to)
	head, body := string(headerOf(thumb(issuer))), string(payloadOf(Claims{"member:guild.example", holder.Public().Public, Expiry(noon, 4)}))
	kb := string(bindingOf(to, noon.Unix(), credential))
	with := func(head, body, kbHead, kb string) string {
		made := sign([]byte(head), []byte(body), issuer) + "~"
		return remade(head, body, issuer, kbHead, strings.Replace(kb, sdHash(credential), sdHash(made), 1), holder)
	}
	if _, err := Verify(with(head, body, kbHeader, kb), issuer.Public().Public, to, noon); err != nil {
		t.Fatalf("the form itself: %v", err)
	}
	swap := func(s, a, b string) string {
		if !strings.Contains(s, a) {
			t.Fatalf("%q is not in %s", a, s)
		}
		return strings.Replace(s, a, b, 1)
	}
	selfText, err := Issue(Claims{Property: "verified_agent", Confirm: other.Public().Public, Expires: Expiry(noon, 1)}, issuer, noon)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text string
		key  ed25519.PublicKey
		to   Binding
		now  time.Time
		code Code
	}{
		"unbound":                       {credential, issuer.Public().Public, to, noon, CodeBinding},
		"another issuer":                {text, other.Public().Public, to, noon, CodeKey},
		"no issuer":                     {text, nil, to, noon, CodeKey},
		"another session":               {text, issuer.Public().Public, Binding{Session: "s-2", Key: to.Key, Peer: to.Peer}, noon, CodeBinding},
		"another session key":           {text, issuer.Public().Public, Binding{Session: "s-1", Key: thumb(other), Peer: to.Peer}, noon, CodeBinding},
		"another peer":                  {text, issuer.Public().Public, Binding{Session: "s-1", Key: to.Key, Peer: thumb(other)}, noon, CodeBinding},
		"no peer":                       {text, issuer.Public().Public, Binding{Session: "s-1", Key: to.Key}, noon, CodeBinding},
		"a provider of that name":       {text, issuer.Public().Public, Binding{Provider: "s-1", Key: to.Key}, noon, CodeBinding},
		"no expectation":                {text, issuer.Public().Public, Binding{}, noon, CodeBinding},
		"to a provider":                 {present(t, credential, holder, Binding{Provider: "https://provider.example", Key: to.Key}), issuer.Public().Public, Binding{Provider: "https://provider.example", Key: to.Key}, noon, ""},
		"by an initiator":               {present(t, credential, holder, Binding{Session: "s-1", Key: to.Key}), issuer.Public().Public, Binding{Session: "s-1", Key: to.Key}, noon, ""},
		"on its last day":               {text, issuer.Public().Public, to, Expiry(noon, 4).Add(-time.Second), ""},
		"over":                          {text, issuer.Public().Public, to, Expiry(noon, 4), CodeTime},
		"long before":                   {text, issuer.Public().Public, to, noon.AddDate(-1, 0, 0), CodeTime},
		"shown in the future":           {text, issuer.Public().Public, to, noon.Add(-Skew - time.Second), CodeTime},
		"another attestation's binding": {selfText + strings.SplitN(text, "~", 2)[1], issuer.Public().Public, to, noon, CodeSignature},
		"own binding, other hash":       {remade(head, body, issuer, kbHeader, swap(kb, sdHash(credential), sdHash(selfText)), holder), issuer.Public().Public, to, noon, CodeBinding},
		"bound by somebody else":        {remade(head, body, issuer, kbHeader, kb, other), issuer.Public().Public, to, noon, CodeSignature},
		"forged":                        {remade(head, body, other, kbHeader, kb, holder), issuer.Public().Public, to, noon, CodeSignature},
		"two tildes":                    {swap(text, "~", "~~"), issuer.Public().Public, to, noon, CodeMalformed},
		"a disclosure":                  {swap(text, "~", "~WyJhIiwiYiIsImMiXQ~"), issuer.Public().Public, to, noon, CodeMalformed},
		"padding":                       {text + "=", issuer.Public().Public, to, noon, CodeMalformed},
		"too long":                      {text + strings.Repeat("A", MaxBytes), issuer.Public().Public, to, noon, CodeMalformed},
		"nothing":                       {"", issuer.Public().Public, to, noon, CodeMalformed},
		"alg none":                      {with(swap(head, "EdDSA", "none"), body, kbHeader, kb), issuer.Public().Public, to, noon, CodeMalformed},
		"another typ":                   {with(swap(head, "gidp-attestation", "gidp-mandate"), body, kbHeader, kb), issuer.Public().Public, to, noon, CodeMalformed},
		"a white space":                 {with(swap(head, `,"kid"`, `, "kid"`), body, kbHeader, kb), issuer.Public().Public, to, noon, CodeMalformed},
		"a member more":                 {with(head, swap(body, `{"cnf"`, `{"aaa":1,"cnf"`), kbHeader, kb), issuer.Public().Public, to, noon, CodeMalformed},
		"a mark in the key":             {with(head, swap(body, `"kty"`, `"kid":"who","kty"`), kbHeader, kb), issuer.Public().Public, to, noon, CodeMalformed},
		"a mark in the expiry":          {with(head, swap(body, `"exp":1927238400`, `"exp":1927238401`), kbHeader, kb), issuer.Public().Public, to, noon, CodeTime},
		"an exponent":                   {with(head, swap(body, `1927238400`, `19272384e2`), kbHeader, kb), issuer.Public().Public, to, noon, CodeMalformed},
		"unknown_agent":                 {with(head, swap(body, "member:guild.example", "unknown_agent"), kbHeader, kb), issuer.Public().Public, to, noon, CodeProperty},
		"a property of nobody":          {with(head, swap(body, "member:guild.example", "member:"), kbHeader, kb), issuer.Public().Public, to, noon, CodeProperty},
		"another kb header":             {with(head, body, swap(kbHeader, "kb+jwt", "jwt"), kb), issuer.Public().Public, to, noon, CodeMalformed},
		"a member more in kb":           {with(head, body, kbHeader, swap(kb, `{"aud"`, `{"a":1,"aud"`)), issuer.Public().Public, to, noon, CodeMalformed},
		"kb in another order":           {with(head, body, kbHeader, swap(swap(kb, `"aud":"session:s-1",`, ""), `{"iat"`, `{"iat":1925121600,"aud":"session:s-1","x"`)), issuer.Public().Public, to, noon, CodeMalformed},
		"no session prefix":             {with(head, body, kbHeader, swap(kb, "session:s-1", "s-1")), issuer.Public().Public, to, noon, CodeBinding},
	} {
		_, err := Verify(c.text, c.key, c.to, c.now)
		var e *Error
		switch {
		case c.code == "":
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case !errors.As(err, &e) || e.Code != c.code:
			t.Errorf("%s: %v, want %s", name, err, c.code)
		case strings.Contains(err.Error(), "guild"):
			t.Errorf("%s: the error repeats what was sent", name)
		}
	}
}

func TestIssueAndPresentRefuse(t *testing.T) {
	credential, issuer, holder, to := member(t)
	pub := holder.Public().Public
	for name, c := range map[string]struct {
		claims Claims
		code   Code
	}{
		"everybody":      {Claims{"", pub, Expiry(noon, 1)}, CodeProperty},
		"unknown":        {Claims{"unknown_agent", pub, Expiry(noon, 1)}, CodeProperty},
		"a space":        {Claims{"member:a b", pub, Expiry(noon, 1)}, CodeProperty},
		"long":           {Claims{"attested:" + strings.Repeat("x", MaxName+1), pub, Expiry(noon, 1)}, CodeProperty},
		"a Tuesday":      {Claims{"verified_agent", pub, Expiry(noon, 1).AddDate(0, 0, 1)}, CodeTime},
		"over":           {Claims{"verified_agent", pub, Expiry(noon, 1).AddDate(0, 0, -7)}, CodeTime},
		"a year":         {Claims{"verified_agent", pub, Expiry(noon, 1).AddDate(0, 0, 7*52)}, CodeTime},
		"no key":         {Claims{"verified_agent", nil, Expiry(noon, 1)}, CodeKey},
		"the issuer's":   {Claims{"verified_agent", issuer.Public().Public, Expiry(noon, 1)}, CodeKey},
		"of small order": {Claims{"verified_agent", make([]byte, 32), Expiry(noon, 1)}, CodeKey},
	} {
		_, err := Issue(c.claims, issuer, noon)
		var e *Error
		if !errors.As(err, &e) || e.Code != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, f := range map[string]func() (string, error){
		"twice":          func() (string, error) { return Present(present(t, credential, holder, to), holder, to, noon) },
		"another key":    func() (string, error) { return Present(credential, issuer, to, noon) },
		"no session":     func() (string, error) { return Present(credential, holder, Binding{Key: to.Key}, noon) },
		"no session key": func() (string, error) { return Present(credential, holder, Binding{Session: "s"}, noon) },
		"no attestation": func() (string, error) { return Present("x", holder, to, noon) },
		"a long session": func() (string, error) {
			return Present(credential, holder, Binding{Session: strings.Repeat("s", 257), Key: to.Key}, noon)
		},
		"both": func() (string, error) {
			return Present(credential, holder, Binding{Session: "s", Provider: "https://p.example", Key: to.Key}, noon)
		},
		"a peer of a provider": func() (string, error) {
			return Present(credential, holder, Binding{Provider: "https://p.example", Key: to.Key, Peer: to.Peer}, noon)
		},
		"an empty prefix": func() (string, error) { return Present(credential, holder, Binding{Session: "s s", Key: to.Key}, noon) },
	} {
		if text, err := f(); err == nil {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// The longest that can be made is read, and fits a string of an object.
func TestTheLongestFits(t *testing.T) {
	issuer, holder := key(t, "issuer"), key(t, "holder")
	credential, err := Issue(Claims{"attested:" + strings.Repeat("x", MaxName), holder.Public().Public, Expiry(noon, 1)}, issuer, noon)
	if err != nil {
		t.Fatal(err)
	}
	to := Binding{Session: strings.Repeat("s", 256), Key: thumb(key(t, "session")), Peer: thumb(key(t, "peer"))}
	text := present(t, credential, holder, to)
	if _, err := Verify(text, issuer.Public().Public, to, noon); err != nil || len(text) > MaxBytes {
		t.Errorf("%d bytes: %v", len(text), err)
	}
}

func TestExpiry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := noon.Add(time.Duration(rapid.Int64Range(0, int64(400*24*time.Hour)).Draw(t, "later")))
		n := rapid.IntRange(-1, MaxWeeks+2).Draw(t, "weeks")
		got := Expiry(now, n)
		least := time.Duration(min(max(n, 1), MaxWeeks)-1) * week
		if checkExpiry(got) != nil || inTime(got, now) != nil || got.Sub(now) <= least || got.Sub(now) > least+week {
			t.Fatalf("%v after %v for %d", got, now, n)
		}
	})
}

// Two attestations of one batch, shown in two sessions, share the issuer, the property and the week, and nothing else that is as long as a guess.
func TestTwoSessionsShareNothing(t *testing.T) {
	issuer := key(t, "issuer")
	slots := []Slot{{"a", key(t, "one").Public().Public}, {"b", key(t, "two").Public().Public}}
	data, err := IssueBatch(slots, "member:guild.example", Expiry(noon, 2), issuer, noon)
	if err != nil {
		t.Fatal(err)
	}
	b, err := ReadBatch(data, noon)
	if err != nil {
		t.Fatal(err)
	}
	var shown [2]string
	for i, name := range []string{"one", "two"} {
		to := Binding{Session: fmt.Sprintf("session-%d-%s", i, name), Key: thumb(key(t, name+" session")), Peer: thumb(key(t, name+" peer"))}
		shown[i] = opened(t, present(t, b.Attestations[i].Attestation, key(t, name), to))
	}
	common := opened(t, string(headerOf(thumb(issuer)))+string(payloadOf(Claims{"member:guild.example", nil, b.Expires}))+kbHeader)
	for _, token := range tokens(shown[0]) {
		if len(token) > 3 && slices.Contains(tokens(shown[1]), token) && !strings.Contains(common, token) && token != "session" && token != "nonce" && token != "sd_hash" && token != "1925121600" {
			t.Errorf("both show %q", token)
		}
	}
}

// opened is a text with every part of a JWT decoded that says something; signatures stay as they are.
func opened(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	for _, p := range strings.FieldsFunc(text, func(r rune) bool { return r == '.' || r == '~' }) {
		if raw, err := jwk.DecodeBase64URL(p); err == nil && jcs.Check(raw) == nil {
			out.Write(raw)
			continue
		}
		out.WriteString(p + " ")
	}
	return out.String()
}

func tokens(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(`{}[]":, .`, r) })
}

func TestFiles(t *testing.T) {
	issuer := key(t, "issuer")
	slots := []Slot{{"a", key(t, "one").Public().Public}, {"b", key(t, "two").Public().Public}}
	request, err := EncodeRequest(slots)
	if err != nil {
		t.Fatal(err)
	}
	back, err := ReadRequest(request)
	if err != nil || len(back) != 2 || back[1].ID != "b" || !back[1].Key.Equal(slots[1].Key) {
		t.Errorf("%+v %v", back, err)
	}
	batch, err := IssueBatch(back, "verified_agent", Expiry(noon, 2), issuer, noon)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := ReadBatch(batch, noon); err != nil || b.Property != "verified_agent" || len(b.Attestations) != 2 || !b.Issuer.Equal(issuer.Public().Public) {
		t.Errorf("%+v %v", b, err)
	}
	one := func(a, b string) []byte { return bytes.Replace(batch, []byte(a), []byte(b), 1) }
	other, err := IssueBatch([]Slot{{"c", key(t, "three").Public().Public}}, "attested:bank", Expiry(noon, 2), issuer, noon)
	if err != nil {
		t.Fatal(err)
	}
	foreign := string(other[bytes.Index(other, []byte(`"attestations":[`))+len(`"attestations":[`) : len(other)-2])
	for name, data := range map[string][]byte{
		"empty":           {},
		"another format":  one("batch/1", "batch/2"),
		"another issuer":  bytes.Replace(batch, jwk.EncodePublic(issuer.Public().Public), jwk.EncodePublic(slots[0].Key), 1),
		"one mark":        one(`"id":"b"`, `"id":"a"`),
		"a member":        one(`"format"`, `"x":1,"format"`),
		"trailing":        append(slices.Clone(batch), '1'),
		"two properties":  one(`"attestations":[`, `"attestations":[`+foreign+`,`),
		"none":            []byte(`{"format":"gidp-attestation-batch/1","issuer":` + string(jwk.EncodePublic(issuer.Public().Public)) + `,"attestations":[]}`),
		"not of its form": []byte(`{"format":"gidp-attestation-batch/1","issuer":null,"attestations":null}`),
	} {
		if _, err := ReadBatch(data, noon); err == nil {
			t.Errorf("batch, %s: accepted", name)
		}
	}
	if _, err := ReadBatch(batch, Expiry(noon, 2)); err == nil {
		t.Error("a batch that is over")
	}
	for name, list := range map[string][]Slot{
		"empty": nil, "no mark": {{"", slots[0].Key}}, "one mark": {slots[0], {"a", slots[1].Key}}, "one key": {slots[0], {"b", slots[0].Key}}, "no key": {{"a", nil}},
		"too many": make([]Slot, MaxBatch+1),
	} {
		if data, err := EncodeRequest(list); err == nil {
			t.Errorf("request, %s: %s", name, data)
		}
	}
}

func FuzzVerify(f *testing.F) {
	credential, issuer, holder, to := member(f)
	bound := present(f, credential, holder, to)
	f.Add(credential)
	f.Add(bound)
	f.Add("a.b.c~d.e.f")
	f.Add(strings.Replace(bound, "~", "~~", 1))
	f.Fuzz(func(t *testing.T, text string) {
		read, err := Read(text)
		c, failed := Verify(text, issuer.Public().Public, to, noon)
		if failed == nil && (text != bound && c.Confirm.Equal(holder.Public().Public) || err != nil || !read.Bound || !Is(text)) {
			t.Errorf("%q is accepted: %v", text, err)
		}
		if err == nil && !strings.HasPrefix(text, jwk.EncodeBase64URL(headerOf(read.Issuer))+"."+jwk.EncodeBase64URL(payloadOf(read.Claims))+".") {
			t.Errorf("%q has another spelling", text)
		}
	})
}

func FuzzFiles(f *testing.F) {
	issuer := key(f, "issuer")
	slots := []Slot{{"a", key(f, "one").Public().Public}}
	request, err := EncodeRequest(slots)
	if err != nil {
		f.Fatal(err)
	}
	batch, err := IssueBatch(slots, "verified_agent", Expiry(noon, 2), issuer, noon)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(request)
	f.Add(batch)
	f.Fuzz(func(t *testing.T, data []byte) {
		if list, err := ReadRequest(data); err == nil {
			if again, err := EncodeRequest(list); err != nil {
				t.Errorf("%s: %v", again, err)
			}
		}
		if b, err := ReadBatch(data, noon); err == nil && (CheckProperty(b.Property) != nil || len(b.Attestations) == 0) {
			t.Errorf("%+v", b)
		}
	})
}
