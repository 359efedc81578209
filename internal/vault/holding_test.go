package vault

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/gidp/mandate"
	"sayso/gidp/profile"
	"sayso/gidp/wire"
	"sayso/jcs"
	"sayso/jwk"
)

var noon = time.Date(2031, 1, 2, 12, 0, 0, 0, time.UTC)

const canary = "canary-person-55d1"

func class(t testing.TB, s string) gidp.Entry {
	t.Helper()
	c, err := gidp.ParseClass(s)
	if err != nil {
		t.Fatal(err)
	}
	return gidp.Entry{"": c}
}

// sample fills every member of a document.
func sample(t testing.TB) *interest.Interest {
	t.Helper()
	return &interest.Interest{
		ID: "i-1", Version: 2, Lineage: "l-1", PrincipalRef: "principal-of-the-test", Profile: "sayso/corporate-transaction/1",
		Wants: interest.Wants{Action: "strategic_transaction", Object: "company", Structures: []string{"acquisition"}},
		Attributes: map[string]jcs.Raw{"enterprise_value_eur": jcs.Raw(`{"min":21234567}`), "sector": jcs.Raw(`"crm_software"`), "geography": jcs.Raw(`"munich"`),
			gidp.PrincipalIdentity: jcs.Raw(`"` + canary + `"`), "organisation_name": jcs.Raw(`"` + canary + `-ag"`), "depth": jcs.Raw(`7`)},
		Provides: []string{"capital"}, Requires: []string{"licence"}, ConditionalOn: []string{"other-deal"}, Excludes: []string{"weapons"},
		Placements: map[string]map[string]string{"sector": {"quiet_software": "crm_software"}},
		Budgets:    map[string]interest.Budget{"depth": {Bits: 1.5, Domain: gidp.Domain{Min: 0, Max: 31, Step: 1}}},
		Policy: interest.Policy{Entries: map[string]gidp.Entry{"sector": class(t, "discovery"), gidp.PrincipalIdentity: class(t, "session/principal_approval"),
			"organisation_name": class(t, "session/consent"), "market_access": {"verified_agent": gidp.Class{Surface: gidp.InSession}, "unknown_agent": gidp.Never}},
			Networks: []string{"guild"}, Decoys: []string{"arr_eur"},
			Derivatives: map[string]interest.Derivative{"domains": {From: "sector", Cut: []string{"software"}, Class: gidp.Class{Surface: gidp.Discovery}}},
			Conditions:  map[string]interest.Condition{"organisation_name": {Reciprocal: true, Verify: []string{"register"}}}},
		Authority: map[gidp.Level]gidp.Permission{gidp.Observe: gidp.Yes, gidp.Search: gidp.Yes, gidp.PublishProjection: gidp.Approval, gidp.Probe: gidp.Yes, gidp.Disclose: gidp.Yes,
			gidp.Introduce: gidp.Approval, gidp.NegotiateNonbinding: gidp.No, gidp.Commit: gidp.No},
		NotBefore: noon, ExpiresAt: noon.AddDate(0, 3, 0), Origin: interest.Inferred, Confirmed: true,
	}
}

func hold(t testing.TB, v *Vault, doc *interest.Interest) *Holding {
	t.Helper()
	sealed, err := v.Hold(doc)
	if err != nil {
		t.Fatal(err)
	}
	h, err := v.Held(doc.ID, sealed, profile.Shipped())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestADocumentComesBackAsItWas(t *testing.T) {
	doc := sample(t)
	h := hold(t, create(t), doc)
	if got := h.Document(); !reflect.DeepEqual(got, doc) {
		t.Errorf("got  %+v\nwant %+v", got, doc)
	}
	copied := h.Document()
	copied.Attributes["sector"] = jcs.Raw(`"mining"`)
	if got, _ := h.Value("sector"); string(got) != `"crm_software"` {
		t.Error("a copy of the document reaches into the holding")
	}
	if h.ID() != "i-1" || h.Lineage() != "l-1" || h.Version() != 2 || h.ProfileID() != doc.Profile || h.Profile().ID != doc.Profile || !h.NotBefore().Equal(doc.NotBefore) ||
		!h.Expires().Equal(doc.ExpiresAt) || h.Authority().At(gidp.Introduce) != gidp.Approval || h.Purpose() != "strategic_transaction" {
		t.Error("an accessor differs from the document")
	}
	if at, budget, ok := h.Row("depth"); !ok || at != (gidp.LedgerKey{Lineage: "l-1", Quantity: "depth"}) || budget.Bits != 1.5 || len(h.Budgeted()) != 1 {
		t.Errorf("%v %v %v", at, budget, ok)
	}
	if _, _, ok := h.Row("sector"); ok {
		t.Error("a row without a budget")
	}
	wants, origin, confirmed := h.Stated()
	if wants.Object != "company" || origin != interest.Inferred || !confirmed || len(h.Text()) == 0 {
		t.Error("Stated")
	}
}

func TestAnEmptyDocumentComesBack(t *testing.T) {
	doc := &interest.Interest{ID: "i-2", Profile: "core", Authority: map[gidp.Level]gidp.Permission{}, Policy: interest.Policy{Entries: map[string]gidp.Entry{}}}
	got := hold(t, create(t), doc).Document()
	doc.Attributes = map[string]jcs.Raw{}
	if !reflect.DeepEqual(got, doc) {
		t.Errorf("%+v", got)
	}
}

// Whatever a policy says is the same after it was sealed: no class, gate or level is lost on the way.
func TestPoliciesComeBack(t *testing.T) {
	v := create(t)
	rapid.Check(t, func(t *rapid.T) {
		doc := &interest.Interest{ID: "i", Profile: "core", Authority: map[gidp.Level]gidp.Permission{}, Attributes: map[string]jcs.Raw{}, Policy: interest.Policy{Entries: map[string]gidp.Entry{}}}
		for range rapid.IntRange(0, 4).Draw(t, "entries") {
			text := rapid.SampledFrom([]string{"public", "discovery", "discovery/consent", "network", "network/principal_approval", "session", "session/consent", "session/principal_approval",
				"evaluation_only", "never"}).Draw(t, "class")
			c, err := gidp.ParseClass(text)
			if err != nil {
				t.Fatal(err)
			}
			doc.Policy.Entries[rapid.StringMatching(`[a-z_]{1,8}`).Draw(t, "key")] = gidp.Entry{rapid.SampledFrom([]string{"", "unknown_agent", "member:guild"}).Draw(t, "property"): c}
		}
		for l := gidp.Observe; l <= gidp.Commit; l++ {
			doc.Authority[l] = rapid.SampledFrom([]gidp.Permission{gidp.No, gidp.Yes, gidp.Approval}).Draw(t, "permission")
		}
		sealed, err := v.Hold(doc)
		if err != nil {
			t.Fatal(err)
		}
		h, err := v.Held("i", sealed, profile.Shipped())
		if err != nil {
			t.Fatal(err)
		}
		if got := h.Document(); !reflect.DeepEqual(got, doc) {
			t.Fatalf("got  %+v\nwant %+v", got, doc)
		}
	})
}

func TestHeldRefuses(t *testing.T) {
	v := create(t)
	doc := sample(t)
	sealed, err := v.Hold(doc)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(sealed, []byte(canary)) || bytes.Contains(sealed, []byte("21234567")) {
		t.Error("the sealed document shows a value")
	}
	if _, err := v.Held("i-2", sealed, profile.Shipped()); !errors.Is(err, ErrSeal) {
		t.Errorf("under another id: %v", err)
	}
	if _, err := create(t).Held("i-1", sealed, profile.Shipped()); !errors.Is(err, ErrSeal) {
		t.Errorf("in another folder: %v", err)
	}
	other := *doc
	other.Profile = "nobody/has/this"
	if sealed, err = v.Hold(&other); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Held("i-1", sealed, profile.Shipped()); !errors.Is(err, ErrProfile) {
		t.Errorf("an unknown profile: %v", err)
	}
	for name, text := range map[string]string{
		"another id":         `{"id":"i-2"}`,
		"an unknown member":  `{"id":"i-1","profile":"core","tomorrow":true}`,
		"an unknown class":   `{"id":"i-1","profile":"core","policy":{"entries":{"k":{"":"secret"}}}}`,
		"an unknown level":   `{"id":"i-1","profile":"core","authority":{"RULE":"true"}}`,
		"another permission": `{"id":"i-1","profile":"core","authority":{"PROBE":"maybe"}}`,
		"a class to derive":  `{"id":"i-1","profile":"core","policy":{"entries":{},"derivatives":{"domains":{"from":"a","generalise_to":[],"class":"x"}}}}`,
		"no JSON":            `` + canary,
	} {
		sealed, err := v.Seal("interest/i-1", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		_, err = v.Held("i-1", sealed, profile.Shipped())
		if !errors.Is(err, ErrSeal) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), canary) {
			t.Errorf("%s: the error repeats the text", name)
		}
	}
}

func TestAHoldingCannotBePrinted(t *testing.T) {
	h := hold(t, create(t), sample(t))
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "h", h, "v", *h)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "h", h, "v", *h)
	text, err := json.Marshal(map[string]any{"h": h})
	if err != nil {
		t.Fatal(err)
	}
	log.Write(text)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&log, verb, h)
		fmt.Fprintf(&log, verb, *h)
		fmt.Fprintf(&log, verb, []*Holding{h})
	}
	fmt.Fprint(&log, Holding{})
	for _, secret := range []string{canary, "21234567", "munich", "weapons"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("%q was printed", secret)
		}
	}
	if h.String() != "[interest i-1]" || h.GoString() != "[interest i-1]" {
		t.Error(h.String())
	}
}

func TestAHoldingActsAsItsInterest(t *testing.T) {
	doc := sample(t)
	h := hold(t, create(t), doc)
	to := interest.Towards{Active: true, Depth: wire.DepthSession}
	if !reflect.DeepEqual(h.Asks(to), doc.Asks(h.Profile().Rules(), to)) || len(h.Asks(to)) == 0 {
		t.Errorf("asks %v", h.Asks(to))
	}
	if err := h.Vet(to, []wire.Claim{{Key: "enterprise_value_eur", Operator: wire.OpOverlaps, Value: jcs.Raw(`{"min":21234567}`)}}); err == nil || strings.Contains(err.Error(), "21234567") {
		t.Errorf("vet: %v", err)
	}
	if v := h.View(to); v.Attributes["arr_eur"].Holding != (gidp.Barred{}) || !v.Active {
		t.Error("view")
	}
	if o, err := h.Project(interest.Projection{ProjectionID: "p", Endpoint: "https://a.example/a2a/x", ExpiresAt: noon}, true); err != nil || len(o.Domains) != 1 || o.Domains[0] != "software" {
		t.Errorf("%+v %v", o, err)
	}
	if _, err := h.Project(interest.Projection{}, false); !errors.Is(err, interest.ErrNotAllowed) {
		t.Errorf("without approval: %v", err)
	}
	if q, err := h.Query(noon); err != nil || q.Domains[0] != "software" || h.Authority().At(gidp.PublishProjection) != gidp.Approval {
		t.Errorf("%+v %v", q, err)
	}
	if state, _, err := h.Next(interest.Draft, interest.Activate, noon); state != interest.Active || err != nil {
		t.Errorf("%v %v", state, err)
	}
	other := sample(t)
	other.Attributes["depth"] = jcs.Raw(`8`)
	if next := hold(t, h.vault, other); !h.Same(next, "sector") || h.Same(next, "depth") || h.Same(next, "nothing") {
		t.Error("Same")
	}
	other.Wants.Action = "whatever"
	if got := hold(t, h.vault, other).Purpose(); got != "strategic_transaction" {
		t.Errorf("purpose %q", got)
	}
}

func TestMandate(t *testing.T) {
	h := hold(t, create(t), sample(t))
	issue := func(session string) (string, string, mandate.Verified, *jwk.PrivateKey) {
		key, err := NewKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		m, err := h.Mandate(session, key.Public().Public, noon.Add(time.Hour), noon.Add(300*time.Millisecond), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		read, err := mandate.Verify(m.Present(), mandate.Expect{Audience: mandate.Audience(session), SessionKey: key.Kid(), Now: noon.Add(time.Second), MaxExpires: noon.Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		return m.Present(), m.Present(h.MandateNames([]string{gidp.PrincipalIdentity, "organisation_name"})...), read, key
	}
	one, named, first, key := issue("s-1")
	two, _, second, _ := issue("s-2")
	if first.Finding(gidp.Probe) != mandate.Evidenced || first.Finding(gidp.Introduce) != mandate.Unevidenced || first.Finding(gidp.Commit) != mandate.Unevidenced {
		t.Errorf("levels %v", first.Levels)
	}
	if first.KeyThumbprint == second.KeyThumbprint || first.Issuer == second.Issuer || first.ID == second.ID {
		t.Error("two sessions share a key, an issuer or an id")
	}
	if shared := longestShared(signed(one), signed(two)); shared > 24 {
		t.Errorf("the signed parts of two sessions share %d characters beyond the form", shared)
	}
	for _, text := range []string{one, two} {
		if strings.Contains(text, jwk.EncodeBase64URL([]byte(canary))) {
			t.Error("a name stands in the mandate before a grant")
		}
	}
	read, err := mandate.Verify(named, mandate.Expect{Audience: mandate.Audience("s-1"), SessionKey: key.Kid(), Now: noon.Add(time.Second), MaxExpires: noon.Add(time.Hour)})
	if err != nil || read.Names[mandate.PrincipalName] != canary || read.Names[mandate.OrganisationID] != canary+"-ag" || read.Mandate != first.Mandate {
		t.Errorf("%+v %v", read, err)
	}
	if got := h.MandateNames([]string{"organisation_name"}); !reflect.DeepEqual(got, []string{mandate.OrganisationID}) {
		t.Errorf("a grant of one name gives %v", got)
	}
	if got := h.MandateNames(nil); got != nil {
		t.Errorf("no grant gives %v", got)
	}
}

// signed is the payload of a compact JWT, without what every mandate has.
func signed(compact string) string {
	raw, _ := jwk.DecodeBase64URL(strings.Split(compact, ".")[1])
	var out strings.Builder
	members, _ := jcs.Members(raw)
	for _, m := range members {
		switch m.Name {
		case "iss", "jti", "_sd", "cnf":
			out.Write(m.Value)
		}
	}
	return out.String()
}

// longestShared is the length of the longest text of letters and digits that both hold.
func longestShared(a, b string) int {
	longest := 0
	for i := range a {
		for n := longest + 1; i+n <= len(a) && !strings.ContainsAny(a[i+n-1:i+n], `"{}[]:,`); n++ {
			if strings.Contains(b, a[i:i+n]) {
				longest = n
			}
		}
	}
	return longest
}

func TestMandateOfAnAgentWithoutLevels(t *testing.T) {
	doc := sample(t)
	for l := range doc.Authority {
		doc.Authority[l] = gidp.No
	}
	doc.Attributes[gidp.PrincipalIdentity] = jcs.Raw(`["several","names"]`)
	doc.Policy.Entries["organisation_name"] = gidp.Entry{"": gidp.Never}
	h := hold(t, create(t), doc)
	key, err := NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	m, err := h.Mandate("s", key.Public().Public, noon.Add(time.Hour), noon, rand.Reader)
	if err != nil || m.Present() != "" {
		t.Errorf("%q %v", m.Present(), err)
	}
	if got := h.MandateNames([]string{gidp.PrincipalIdentity, "organisation_name"}); got != nil {
		t.Errorf("names that are none, or barred: %v", got)
	}
	doc.Authority[gidp.Probe] = gidp.Yes
	h = hold(t, create(t), doc)
	if _, err := h.Mandate("s", key.Public().Public, noon.Add(time.Hour), noon, strings.NewReader("")); err == nil {
		t.Error("a mandate without randomness")
	}
}

func FuzzDocument(f *testing.F) {
	text, err := encodeDocument(sample(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"id":"i","profile":"core","authority":{"PROBE":"true"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := decodeDocument(text)
		if err != nil {
			return
		}
		again, err := encodeDocument(doc)
		if err != nil {
			t.Fatal(err)
		}
		back, err := decodeDocument(again)
		if err != nil {
			t.Fatal(err)
		}
		third, err := encodeDocument(back)
		if err != nil || !bytes.Equal(again, third) {
			t.Errorf("%s\n%s", again, third)
		}
	})
}
