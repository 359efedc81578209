package mandate

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sayso/gidp"
	"sayso/jwk"
)

var now = time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)

// Two salts of 16 bytes each.
const (
	saltA = "AAECAwQFBgcICQoLDA0ODw"
	saltB = "EBESExQVFhcYGRobHB0eHw"
)

// newKey makes a key whose 32 bytes of seed are all n.
func newKey(t testing.TB, n byte) *jwk.PrivateKey {
	t.Helper()
	key, err := jwk.Generate("test", bytes.NewReader(bytes.Repeat([]byte{n}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func claims(t testing.TB) Claims {
	return Claims{
		Issuer: "i-81", Audience: Audience("s-4f"), Confirm: newKey(t, 2).Public().Public, Authority: []gidp.Level{gidp.Probe, gidp.Disclose, gidp.Introduce},
		IssuedAt: now.Add(-time.Minute), Expires: now.Add(time.Hour), ID: "m-1",
	}
}

func names() []Disclosure {
	return []Disclosure{{Salt: saltA, Name: PrincipalName, Value: `Kessler "Garage" \ Zürich`}, {Salt: saltB, Name: OrganisationID, Value: "CHE-123.456.789"}}
}

func expect(t testing.TB) Expect {
	return Expect{Audience: "session:s-4f", SessionKey: jwk.Thumbprint(newKey(t, 2).Public().Public), Now: now, MaxExpires: now.Add(time.Hour)}
}

func issue(t testing.TB) Mandate {
	t.Helper()
	m, err := Issue(claims(t), names(), newKey(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func code(err error) Code {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Code
	}
	if err != nil {
		return "foreign error"
	}
	return ""
}

func TestRoundTrip(t *testing.T) {
	m := issue(t)
	value := names()[0].Value
	for _, c := range []struct {
		show []string
		want map[string]string
	}{
		{nil, nil},
		{[]string{"iss", "no_such_name"}, nil},
		{[]string{PrincipalName}, map[string]string{PrincipalName: value}},
		{[]string{OrganisationID, OrganisationID}, map[string]string{OrganisationID: "CHE-123.456.789"}},
		{[]string{OrganisationID, PrincipalName}, map[string]string{PrincipalName: value, OrganisationID: "CHE-123.456.789"}},
	} {
		text := m.Present(c.show...)
		v, err := Verify(text, expect(t))
		if err != nil {
			t.Fatalf("%v: %v", c.show, err)
		}
		if !maps.Equal(v.Names, c.want) || (v.Names == nil) != (c.want == nil) {
			t.Errorf("%v discloses %v, want %v", c.show, v.Names, c.want)
		}
		if v.Issuer != "i-81" || v.ID != "m-1" || v.KeyThumbprint != jwk.Thumbprint(newKey(t, 1).Public().Public) || !v.IssuedAt.Equal(claims(t).IssuedAt) || !v.Expires.Equal(claims(t).Expires) {
			t.Errorf("verified %+v", v)
		}
		if v.Digest != sha256.Sum256([]byte(text)) || v.Mandate != sha256.Sum256([]byte(m.Present())) {
			t.Error("the digests are not those of the texts")
		}
		for l := gidp.Observe; l <= gidp.Commit; l++ {
			want := Unevidenced
			if slices.Contains(claims(t).Authority, l) {
				want = Evidenced
			}
			if got := v.Finding(l); got != want {
				t.Errorf("%v: %s, want %s", l, got, want)
			}
		}
		// The holder reads back what was stored, and can show no more than that.
		held, err := Parse(text)
		if err != nil || held.Present(PrincipalName, OrganisationID) != text || held.Present() != m.Present() {
			t.Errorf("%v: read back as %q, %v", c.show, held.Present(PrincipalName, OrganisationID), err)
		}
	}
	if (Verified{}).Finding(gidp.Observe) != Unevidenced || (Mandate{}).Present(PrincipalName) != "" {
		t.Error("a zero value says something")
	}
}

// Nothing that is withheld, nor how much that is, can be read off the mandate that is sent first.
func TestWithheldNamesLeaveNoTrace(t *testing.T) {
	withheld := func(list []Disclosure) (Mandate, string) {
		m, err := Issue(claims(t), list, newKey(t, 1))
		if err != nil {
			t.Fatal(err)
		}
		payload, err := jwk.DecodeBase64URL(strings.Split(m.Present(), ".")[1])
		if err != nil {
			t.Fatal(err)
		}
		return m, string(payload)
	}
	_, full := withheld(names())
	one, decoyed := withheld([]Disclosure{names()[0], {Salt: saltB}})
	_, empty := withheld([]Disclosure{{Salt: saltA}, {Salt: saltB}})
	for _, payload := range []string{decoyed, empty} {
		if len(payload) != len(full) {
			t.Errorf("%s\nshows that names are missing in\n%s", full, payload)
		}
	}
	for _, secret := range []string{"Kessler", "CHE", saltA, saltB, PrincipalName, OrganisationID} {
		if strings.Contains(full, secret) {
			t.Errorf("%q stands in %s", secret, full)
		}
	}
	// The digests stand in an order that follows from themselves.
	_, swapped := withheld([]Disclosure{names()[1], names()[0]})
	if swapped != full {
		t.Error("the order of the digests shows the order of the names")
	}
	// A decoy cannot be presented.
	if v, err := Verify(one.Present(PrincipalName, OrganisationID, ""), expect(t)); err != nil || len(v.Names) != 1 {
		t.Errorf("%v, %v", v.Names, err)
	}
}

func TestNothingPrints(t *testing.T) {
	m := issue(t)
	out := new(bytes.Buffer)
	wrapped := struct {
		M     Mandate
		D     []Disclosure
		inner any
		p     *Mandate
	}{m, names(), m, &m}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(out, verb, m)
		fmt.Fprintf(out, verb, names())
		fmt.Fprintf(out, verb, wrapped)
	}
	slog.New(slog.NewTextHandler(out, nil)).Info("x", "m", m, "d", names()[0])
	slog.New(slog.NewJSONHandler(out, nil)).Info("x", "m", m, "d", names())
	text, err := json.Marshal(map[string]any{"m": m, "d": names()})
	if err != nil {
		t.Fatal(err)
	}
	out.Write(text)
	for _, secret := range []string{"Kessler", "4b6573736c6572", "CHE", saltA, "eyJ"} {
		if strings.Contains(out.String(), secret) {
			t.Errorf("%q is printed", secret)
		}
	}
}

func TestIssueRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		claims func(*Claims)
		list   func([]Disclosure) []Disclosure
		want   Code
	}{
		"no issuer":         {func(c *Claims) { c.Issuer = "" }, nil, CodePayload},
		"issuer with space": {func(c *Claims) { c.Issuer = "a b" }, nil, CodePayload},
		"long id":           {func(c *Claims) { c.ID = strings.Repeat("x", maxID+1) }, nil, CodePayload},
		"audience":          {func(c *Claims) { c.Audience = "s-4f" }, nil, CodePayload},
		"empty session":     {func(c *Claims) { c.Audience = Audience("") }, nil, CodePayload},
		"no session key":    {func(c *Claims) { c.Confirm = nil }, nil, CodeConfirmation},
		"small-order key":   {func(c *Claims) { c.Confirm = append(ed25519.PublicKey{1}, make([]byte, 31)...) }, nil, CodeConfirmation},
		"own key":           {func(c *Claims) { c.Confirm = newKey(t, 1).Public().Public }, nil, CodeKey},
		"no level":          {func(c *Claims) { c.Authority = nil }, nil, CodeAuthority},
		"commit":            {func(c *Claims) { c.Authority = []gidp.Level{gidp.Commit} }, nil, CodeAuthority},
		"level of nothing":  {func(c *Claims) { c.Authority = []gidp.Level{200} }, nil, CodeAuthority},
		"level twice":       {func(c *Claims) { c.Authority = []gidp.Level{gidp.Probe, gidp.Probe} }, nil, CodeAuthority},
		"no times":          {func(c *Claims) { c.IssuedAt, c.Expires = time.Time{}, time.Time{} }, nil, CodeTime},
		"times swapped":     {func(c *Claims) { c.IssuedAt, c.Expires = c.Expires, c.IssuedAt }, nil, CodeTime},
		"no disclosure":     {nil, func([]Disclosure) []Disclosure { return nil }, CodeDisclosure},
		"one disclosure":    {nil, func(d []Disclosure) []Disclosure { return d[:1] }, CodeDisclosure},
		"name twice":        {nil, func(d []Disclosure) []Disclosure { d[1].Name = d[0].Name; return d }, CodeDisclosure},
		"salt twice":        {nil, func(d []Disclosure) []Disclosure { d[1].Salt = d[0].Salt; return d }, CodeDisclosure},
		"short salt":        {nil, func(d []Disclosure) []Disclosure { d[1].Salt = "AAECAwQFBgcICQoLDA0O"; return d }, CodeDisclosure},
		"salt not base64":   {nil, func(d []Disclosure) []Disclosure { d[1].Salt += "="; return d }, CodeDisclosure},
		"reserved":          {nil, func(d []Disclosure) []Disclosure { d[1].Name = "aud"; return d }, CodeDisclosure},
		"other name":        {nil, func(d []Disclosure) []Disclosure { d[1].Name = "address"; return d }, CodeDisclosure},
		"decoy with value":  {nil, func(d []Disclosure) []Disclosure { d[1].Name = ""; return d }, CodeDisclosure},
		"no value":          {nil, func(d []Disclosure) []Disclosure { d[1].Value = ""; return d }, CodeDisclosure},
		"long value":        {nil, func(d []Disclosure) []Disclosure { d[1].Value = strings.Repeat("x", maxName+1); return d }, CodeDisclosure},
		"line end":          {nil, func(d []Disclosure) []Disclosure { d[1].Value = "a\nb"; return d }, CodeDisclosure},
		"direction":         {nil, func(d []Disclosure) []Disclosure { d[1].Value = "a\u202eb"; return d }, CodeDisclosure},
		"not UTF-8":         {nil, func(d []Disclosure) []Disclosure { d[1].Value = "a\xff"; return d }, CodeDisclosure},
	} {
		cl, list := claims(t), names()
		if c.claims != nil {
			c.claims(&cl)
		}
		if c.list != nil {
			list = c.list(list)
		}
		if _, err := Issue(cl, list, newKey(t, 1)); code(err) != c.want {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestExpectations(t *testing.T) {
	text := issue(t).Present()
	for name, c := range map[string]struct {
		change func(*Expect)
		want   Code
	}{
		"as issued":        {func(*Expect) {}, ""},
		"last second":      {func(e *Expect) { e.Now = now.Add(time.Hour - 1) }, ""},
		"expired":          {func(e *Expect) { e.Now = now.Add(time.Hour) }, CodeTime},
		"shorter session":  {func(e *Expect) { e.MaxExpires = now.Add(time.Hour - 1) }, CodeTime},
		"no session end":   {func(e *Expect) { e.MaxExpires = time.Time{} }, CodeTime},
		"clock behind":     {func(e *Expect) { e.Now = now.Add(-time.Minute - Skew) }, ""},
		"clock far behind": {func(e *Expect) { e.Now = now.Add(-time.Minute - Skew - 1) }, CodeTime},
		"no clock":         {func(e *Expect) { e.Now = time.Time{} }, CodeTime},
		"other session":    {func(e *Expect) { e.Audience = "session:s-4e" }, CodeAudience},
		"no session":       {func(e *Expect) { e.Audience = "" }, CodeAudience},
		"other key":        {func(e *Expect) { e.SessionKey = jwk.Thumbprint(newKey(t, 1).Public().Public) }, CodeConfirmation},
		"no key":           {func(e *Expect) { e.SessionKey = "" }, CodeConfirmation},
		"zero":             {func(e *Expect) { *e = Expect{} }, CodeAudience},
	} {
		want := expect(t)
		c.change(&want)
		if _, err := Verify(text, want); code(err) != c.want {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// The longest mandate that can be made is one that is read.
func TestLongestFits(t *testing.T) {
	c := claims(t)
	c.Issuer, c.ID, c.Audience = strings.Repeat(`"`, maxID), strings.Repeat(`\`, maxID), Audience(strings.Repeat(`"`, maxID))
	c.Authority = []gidp.Level{gidp.Observe, gidp.Search, gidp.PublishProjection, gidp.Probe, gidp.Disclose, gidp.Introduce, gidp.NegotiateNonbinding}
	c.IssuedAt, c.Expires = time.Unix(maxSeconds-1, 0), time.Unix(maxSeconds, 0)
	list := []Disclosure{
		{Salt: strings.Repeat("A", maxSalt), Name: PrincipalName, Value: strings.Repeat(`"`, maxName)},
		{Salt: strings.Repeat("B", maxSalt-1) + "A", Name: OrganisationID, Value: strings.Repeat(`\`, maxName)},
	}
	m, err := Issue(c, list, newKey(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	text := m.Present(PrincipalName, OrganisationID)
	if _, err := Parse(text); err != nil {
		t.Errorf("%d bytes: %v", len(text), err)
	}
}

// Any other byte anywhere makes it another mandate, or none.
func TestAnyChangeIsRefused(t *testing.T) {
	m := issue(t)
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(m.Present(rapid.SliceOfN(rapid.SampledFrom([]string{PrincipalName, OrganisationID}), 0, 2).Draw(t, "names")...))
		at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
		text[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "flip"))
		if _, err := Parse(string(text)); err == nil {
			t.Fatalf("byte %d changed: %s", at, text)
		}
	})
}

func TestKeyTextIsShared(t *testing.T) {
	header, err := jwk.DecodeBase64URL(strings.Split(issue(t).Present(), ".")[0])
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"alg":"EdDSA","typ":"gidp-mandate+sd-jwt","jwk":` + string(jwk.EncodePublic(newKey(t, 1).Public().Public)) + `}`; string(header) != want {
		t.Errorf("header %s, want %s", header, want)
	}
}
