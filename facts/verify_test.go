package facts_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sayso/facts"
	"sayso/jcs"
	"sayso/jwk"
	"sayso/vectors"
)

// testKey is the published private key of RFC 8037 Appendix A.1: never trust it.
var testKey = ed25519.NewKeyFromSeed(must(base64.RawURLEncoding.DecodeString("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A")))

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// sign builds a detached JWS by hand, so that the tests do not verify with the code that signed.
func sign(kid string, payload []byte) string {
	header := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"EdDSA","kid":"` + kid + `"}`))
	input := header + "." + base64.RawURLEncoding.EncodeToString(payload)
	return header + ".." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(testKey, []byte(input)))
}

// oneKey is a KeySource of one key.
type oneKey facts.PublicKey

func (k oneKey) FindKey(kid string) (facts.PublicKey, error) {
	if kid != k.Kid {
		return facts.PublicKey{}, errors.New("unknown key " + kid)
	}
	return facts.PublicKey(k), nil
}

func trusted() oneKey {
	return oneKey{Kid: "db-2026-10", Key: testKey.Public().(ed25519.PublicKey)}
}

// signed is a record whose hash and signature fit its members, made with encoding/json and package jcs alone.
func signed(t testing.TB, changes map[string]string) map[string]json.RawMessage {
	t.Helper()
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(with(changes), &raw); err != nil {
		t.Fatal(err)
	}
	claim := map[string]json.RawMessage{}
	for _, name := range claimMembers {
		claim[name] = raw[name]
	}
	r := parse(t, encode(raw))
	raw["hash"] = json.RawMessage(`"` + r.ComputeHash() + `"`)
	attestation := map[string]json.RawMessage{}
	for _, name := range attestedMembers {
		attestation[name] = raw[name]
	}
	attestation["publisher"] = must(json.Marshal(r.Publisher.URL))
	payload := must(jcs.Canonical(encode(attestation)))
	raw["signature"] = json.RawMessage(`{"alg":"EdDSA","kid":"db-2026-10","jws":"` + sign("db-2026-10", payload) + `","keys":"https://databutler.dev/.well-known/jwks.json"}`)
	return raw
}

var (
	claimMembers    = []string{"key", "value", "unit", "period", "effectiveFrom", "source"}
	attestedMembers = []string{"protocol", "publisher", "key", "hash", "value", "unit", "period", "effectiveFrom", "effectiveTo", "source", "verifiedDate"}
)

func options(t testing.TB) facts.VerifyOptions {
	return facts.VerifyOptions{Today: date(t, "2026-10-14"), MaxAge: facts.NoMaxAge, Keys: trusted()}
}

func TestVerifyGoodRecord(t *testing.T) {
	v := facts.Verify(parse(t, encode(signed(t, nil))), options(t))
	want := facts.Verification{Hash: facts.Part{Value: "valid"}, Signature: facts.Part{Value: "valid", Reason: "this publisher said so"},
		KeyAcceptable: facts.Part{Value: "yes"}, ClaimCurrent: facts.Part{Value: "current"}}
	if fmt.Sprint(v) != fmt.Sprint(want) || !v.OK(true) || !v.OK(false) {
		t.Errorf("%+v", v)
	}
}

// F§16: the vector made over publisher.url verifies, the two other readings are refused with a note.
func TestVerifyAttestationVectors(t *testing.T) {
	all := vectors.Attestations()
	if len(all) != 3 {
		t.Fatalf("%d vectors", len(all))
	}
	for _, vector := range all {
		r := parse(t, with(map[string]string{"signature": `{"alg":"EdDSA","kid":"db-2026-10","jws":"` + vector.JWS + `","keys":"https://databutler.dev/.well-known/jwks.json"}`}))
		set, err := jwk.ParseSet([]byte(`{"keys":[` + string(vector.JWK) + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		o := options(t)
		o.Keys = facts.KeysOf(set)
		v := facts.Verify(r, o)
		switch vector.Name {
		case "publisher-url":
			if !v.OK(true) || len(v.Warnings) != 0 {
				t.Errorf("%s: %+v", vector.Name, v)
			}
		case "publisher-name", "publisher-object":
			if v.Signature.Value != "invalid" || v.OK(false) || v.Hash.Value != "valid" || v.KeyAcceptable.Value != "yes" ||
				len(v.Warnings) != 1 || !strings.Contains(v.Warnings[0], "signature fits another reading of publisher") {
				t.Errorf("%s: %+v", vector.Name, v)
			}
		default:
			t.Errorf("unknown vector %s", vector.Name)
		}
	}
}

// changed gives every member another value of its own type.
var changed = map[string][]string{
	"protocol":      {`"verified-facts/0.3"`},
	"publisher":     {`{"name":"Data Butler","url":"https://databutler.dev"}`, `{"name":"Data Butler","url":"https://other.example/"}`},
	"key":           {`"uk/income-tax/personal-allowanc"`, `"uk/income-tax/basic-rate"`},
	"hash":          {`"sha256:0ab2eae595ba1c5f8059d6002585514a4b6b612cac8809f83457b722320a2576"`},
	"value":         {`12571`, `12570.01`, `"12570"`, `true`, `[12570]`, `{"v":12570}`, `-12570`},
	"unit":          {`null`, `""`, `"GBP/month"`},
	"period":        {`null`, `""`, `"2025-26"`},
	"effectiveFrom": {`null`, `"2026-04-07"`, `"2025-04-06"`},
	"effectiveTo":   {`"2027-04-05"`},
	"source":        {`"https://www.gov.uk/income-tax-rates/"`, `"https://www.gov.uk/Income-tax-rates"`},
	"verifiedDate":  {`"2026-10-05"`, `"2025-10-04"`},
	"label":         {`"Other"`},
	"quote":         {`"12,571"`, ``},
	"status":        {`"stale"`, ``},
	"cite":          {`{"url":"https://x.example/"}`, ``},
}

// F§13, last paragraph.
func TestVerifyEveryMemberChange(t *testing.T) {
	for name, values := range changed {
		for _, value := range values {
			raw := signed(t, nil)
			if value == "" {
				delete(raw, name)
			} else {
				raw[name] = json.RawMessage(value)
			}
			v := facts.Verify(parse(t, encode(raw)), options(t))
			breaksHash := slices.Contains(claimMembers, name) || name == "hash"
			if got := v.Hash.Value == "invalid"; got != breaksHash {
				t.Errorf("%s = %s: hash %s", name, value, v.Hash.Value)
			}
			if got := v.Signature.Value == "invalid"; got != slices.Contains(attestedMembers, name) {
				t.Errorf("%s = %s: signature %s", name, value, v.Signature.Value)
			}
		}
	}
	for _, name := range attestedMembers {
		if len(changed[name]) == 0 {
			t.Errorf("no change of %s is tried", name)
		}
	}
}

// The same for values drawn at random: text that differs after RFC 8785 breaks both, text that does not breaks neither.
func TestVerifyRandomMemberChange(t *testing.T) {
	raw := signed(t, nil)
	o := options(t)
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom(attestedMembers).Draw(rt, "member")
		var value string
		switch name {
		case "protocol":
			value = fmt.Sprintf(`"verified-facts/0.%d"`, rapid.IntRange(0, 99).Draw(rt, "minor"))
		case "publisher":
			value = `{"name":"Data Butler","url":` + string(must(json.Marshal("u"+rapid.String().Draw(rt, "url")))) + `}`
		case "hash":
			value = fmt.Sprintf(`"sha256:%064x"`, rapid.Uint64().Draw(rt, "hash"))
		case "key":
			value = `"uk/` + rapid.StringMatching(`[a-z0-9][a-z0-9.-]{0,8}(/[a-z]{1,5}){0,4}`).Draw(rt, "key") + `"`
		case "value":
			value = string(must(json.Marshal(rapid.OneOf(rapid.Float64Range(-1e15, 1e15).AsAny(), rapid.String().AsAny(), rapid.Bool().AsAny()).Draw(rt, "value"))))
		case "unit", "period":
			value = string(must(json.Marshal(rapid.String().Draw(rt, "text"))))
		case "source":
			value = string(must(json.Marshal("https://a" + rapid.String().Draw(rt, "source"))))
		default:
			value = `"` + facts.Date(rapid.Int32Range(1, int32(facts.MaxDate)).Draw(rt, "date")).String() + `"`
		}
		tampered := map[string]json.RawMessage{}
		for k, v := range raw {
			tampered[k] = v
		}
		tampered[name] = json.RawMessage(value)
		r, err := facts.ParseRecord(encode(tampered))
		if err != nil {
			return // refused before anything is verified
		}
		before, after := must(jcs.Canonical(raw[name])), must(jcs.Canonical(tampered[name]))
		v := facts.Verify(r, o)
		if same := string(before) == string(after); same != (v.Signature.Value == "valid") {
			rt.Fatalf("%s %s -> %s: signature %s", name, before, after, v.Signature.Value)
		} else if slices.Contains(claimMembers, name) && same != (v.Hash.Value == "valid") {
			rt.Fatalf("%s %s -> %s: hash %s", name, before, after, v.Hash.Value)
		}
	})
}

// Records of other publishers may hold "" where ours hold null: the signature over it is good.
func TestVerifyEmptyStringIsNotNull(t *testing.T) {
	raw := signed(t, map[string]string{"unit": `""`, "period": `""`})
	if v := facts.Verify(parse(t, encode(raw)), options(t)); !v.OK(true) {
		t.Errorf("%+v", v)
	}
	raw["unit"] = json.RawMessage("null")
	if v := facts.Verify(parse(t, encode(raw)), options(t)); v.Hash.Value != "invalid" || v.Signature.Value != "invalid" {
		t.Errorf("%+v", v)
	}
}

func TestVerifySignatureAndKey(t *testing.T) {
	good := trusted()
	dated := func(change func(*oneKey)) facts.KeySource {
		k := good
		change(&k)
		return k
	}
	small := make(ed25519.PublicKey, ed25519.PublicKeySize)
	small[0] = 1
	for _, c := range []struct {
		name           string
		signature      string // "" keeps the good one
		keys           facts.KeySource
		sig, key, note string
	}{
		{"good", "", good, "valid", "yes", ""},
		{"no keys", "", nil, "not_tested", "not_tested", "offline"},
		{"unknown key", "", dated(func(k *oneKey) { k.Kid = "other" }), "not_tested", "no", "unknown key db-2026-10"},
		{"revoked before", "", dated(func(k *oneKey) { k.Revoked = date(t, "2026-10-03") }), "valid", "no", "revoked on 2026-10-03, before verifiedDate 2026-10-04"},
		{"revoked the same day", "", dated(func(k *oneKey) { k.Revoked = date(t, "2026-10-04") }), "valid", "yes", "can back-date"},
		{"revoked after", "", dated(func(k *oneKey) { k.Revoked = date(t, "2026-10-05") }), "valid", "yes", "can back-date"},
		{"retired", "", dated(func(k *oneKey) { k.Retired = date(t, "2020-01-01") }), "valid", "yes", "retired on 2020-01-01"},
		{"S5: not yet valid", "", dated(func(k *oneKey) { k.ValidFrom = date(t, "2027-01-01") }), "valid", "yes", ""},
		{"another key", "", dated(func(k *oneKey) { k.Key = ed25519.NewKeyFromSeed(make([]byte, 32)).Public().(ed25519.PublicKey) }), "invalid", "yes", "signature wrong"},
		{"small-order key", "", dated(func(k *oneKey) { k.Key = small }), "not_tested", "no", "key"},
		{"short key", "", dated(func(k *oneKey) { k.Key = k.Key[:31] }), "not_tested", "no", "key"},
		{"alg", `{"alg":"Ed25519","kid":"db-2026-10","jws":"a..b","keys":"x"}`, good, "invalid", "yes", "only EdDSA"},
		{"malformed", `{"alg":"EdDSA","kid":"db-2026-10","jws":"a..b","keys":"x"}`, good, "invalid", "yes", "malformed"},
		{"kid of the header", `{"alg":"EdDSA","kid":"db-2026-10","jws":"` + sign("db-2026-11", []byte("{}")) + `","keys":"x"}`, good, "invalid", "yes", "kid"},
	} {
		raw := signed(t, nil)
		if c.signature != "" {
			raw["signature"] = json.RawMessage(c.signature)
		}
		o := options(t)
		o.Keys, o.KeysNote = c.keys, "offline"
		v := facts.Verify(parse(t, encode(raw)), o)
		if v.Signature.Value != c.sig || v.KeyAcceptable.Value != c.key || !strings.Contains(fmt.Sprint(v), c.note) {
			t.Errorf("%s: %+v", c.name, v)
		}
		if v.OK(false) != (c.sig == "valid" && c.key == "yes") {
			t.Errorf("%s: OK is %v", c.name, v.OK(false))
		}
	}
}

func TestVerifyUnsigned(t *testing.T) {
	v := facts.Verify(parse(t, with(map[string]string{"signature": ""})), options(t))
	if v.Signature.Value != "absent" || v.KeyAcceptable.Value != "not_tested" || !v.OK(false) || v.OK(true) {
		t.Errorf("%+v", v)
	}
}

func TestVerifyClaimCurrent(t *testing.T) {
	for _, c := range []struct {
		name    string
		changes map[string]string
		set     func(*facts.VerifyOptions)
		want    string
	}{
		{"within the cadence", nil, nil, "current"},
		{"due", nil, func(o *facts.VerifyOptions) { o.Today = date(t, "2026-11-25") }, "current"},
		{"overdue", nil, func(o *facts.VerifyOptions) { o.Today = date(t, "2026-11-26") }, "stale"},
		{"no cadence", map[string]string{"nextScheduledRefresh": "null"}, func(o *facts.VerifyOptions) { o.Today = date(t, "2036-11-26") }, "current"},
		{"max age met", nil, func(o *facts.VerifyOptions) { o.MaxAge = 10 }, "current"},
		{"max age passed", nil, func(o *facts.VerifyOptions) { o.MaxAge = 9 }, "stale"},
		{"max age over the cadence", nil, func(o *facts.VerifyOptions) { o.MaxAge, o.Today = 100, date(t, "2026-12-26") }, "current"},
		{"verified today", nil, func(o *facts.VerifyOptions) { o.MaxAge, o.Today = 0, date(t, "2026-10-04") }, "current"},
		{"future", nil, func(o *facts.VerifyOptions) { o.Today = date(t, "2026-10-03") }, "dated in the future"},
		{"no day", nil, func(o *facts.VerifyOptions) { o.Today = 0 }, "not_tested"},
		{"first day", nil, func(o *facts.VerifyOptions) { o.AsOf = date(t, "2026-04-06") }, "current"},
		{"day before", nil, func(o *facts.VerifyOptions) { o.AsOf = date(t, "2026-04-05") }, "not yet in force"},
		{"announced ahead", map[string]string{"effectiveFrom": `"2027-04-06"`}, nil, "not yet in force"},
		{"S1: last day", map[string]string{"effectiveTo": `"2026-10-14"`}, nil, "current"},
		{"day after the last", map[string]string{"effectiveTo": `"2026-10-13"`}, nil, "ended"},
		{"ended, asked for a day inside", map[string]string{"effectiveTo": `"2026-10-13"`}, func(o *facts.VerifyOptions) { o.AsOf = date(t, "2026-10-13") }, "current"},
		{"always", map[string]string{"effectiveFrom": "null"}, func(o *facts.VerifyOptions) { o.AsOf = 1 }, "current"},
		{"withdrawn", map[string]string{"value": "null", "withdrawn": `"2026-10-01"`, "supersededBy": `"uk/other/x"`}, nil, "withdrawn"},
		{"live", nil, func(o *facts.VerifyOptions) { o.LiveHash = "sha256:0" }, "superseded"},
		{"live, the same", nil, func(o *facts.VerifyOptions) {
			o.LiveHash = "sha256:cab2eae595ba1c5f8059d6002585514a4b6b612cac8809f83457b722320a2576"
		}, "current"},
	} {
		o := options(t)
		if c.set != nil {
			c.set(&o)
		}
		v := facts.Verify(parse(t, encode(signed(t, c.changes))), o)
		if v.ClaimCurrent.Value != c.want || v.OK(true) != (c.want == "current") {
			t.Errorf("%s: %+v", c.name, v)
		}
	}
}

func TestVerifyWarnings(t *testing.T) {
	for _, c := range []struct {
		changes map[string]string
		set     func(*facts.VerifyOptions)
		want    string // "" = none
	}{
		{nil, func(o *facts.VerifyOptions) { o.Authorities = []string{"www.gov.uk"} }, ""},
		{nil, func(o *facts.VerifyOptions) { o.Authorities = []string{"gov.uk"} }, `source host "www.gov.uk" is not on the publisher's authorities`},
		{nil, func(o *facts.VerifyOptions) { o.Authorities = []string{} }, "authorities"},
		{map[string]string{"sourceType": `"derived"`}, func(o *facts.VerifyOptions) { o.Authorities = []string{} }, ""},
		{map[string]string{"status": `"stale"`}, nil, "the record says status stale, recomputed for 2026-10-14 it is fresh"},
		{map[string]string{"maxAgeDays": "9"}, nil, "the record says status fresh, recomputed for 2026-10-14 it is stale"},
		{map[string]string{"maxAgeDays": "10"}, nil, ""},
		{map[string]string{"status": ""}, func(o *facts.VerifyOptions) { o.Today = date(t, "2030-01-01") }, ""},
		{nil, func(o *facts.VerifyOptions) { o.Today = date(t, "2026-10-03") }, "verifiedDate 2026-10-04 is after today, 2026-10-03 (UTC)"},
	} {
		o := options(t)
		if c.set != nil {
			c.set(&o)
		}
		v := facts.Verify(parse(t, encode(signed(t, c.changes))), o)
		if got := strings.Join(v.Warnings, "|"); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%v: %q, want %q", c.changes, got, c.want)
		}
	}
}

func TestKeysOf(t *testing.T) {
	set, err := jwk.ParseSet([]byte(`{"keys":[
		{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"db-2026-10","use":"sig","alg":"EdDSA","validFrom":"2026-10-15","retired":null,"revoked":"2026-12-01"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	keys := facts.KeysOf(set)
	key, err := keys.FindKey("db-2026-10")
	if err != nil || key.ValidFrom.String() != "2026-10-15" || !key.Retired.IsZero() || key.Revoked.String() != "2026-12-01" || !key.Key.Equal(testKey.Public()) {
		t.Errorf("%+v, %v", key, err)
	}
	if _, err := keys.FindKey("db-2026-11"); err == nil || !strings.Contains(err.Error(), "unknown key") {
		t.Errorf("%v", err)
	}
	o := options(t)
	o.Keys = keys
	if v := facts.Verify(parse(t, encode(signed(t, nil))), o); !v.OK(true) {
		t.Errorf("%+v", v)
	}
}

func TestVerificationJSON(t *testing.T) {
	v := facts.Verify(parse(t, encode(signed(t, nil))), options(t))
	out := must(json.Marshal(v))
	want := `{"hash":{"value":"valid"},"signature":{"value":"valid","reason":"this publisher said so"},"keyAcceptable":{"value":"yes"},"claimCurrent":{"value":"current"}}`
	if string(out) != want {
		t.Errorf("%s", out)
	}
}

// Verifying a record (parse, hash, rebuild, signature) beside the bare signature check over as many bytes: F§15 bounds the ratio by 1.5.
func BenchmarkVerify(b *testing.B) {
	data := encode(signed(b, nil))
	o := options(b)
	r := parse(b, data)
	claim := r.Claim()
	attestation := facts.Attestation{Publisher: r.Publisher.URL, Claim: claim, Hash: r.Hash, EffectiveTo: r.EffectiveTo, VerifiedDate: r.VerifiedDate}
	header, _, _ := strings.Cut(r.Signature.JWS, ".")
	input := []byte(header + "." + base64.RawURLEncoding.EncodeToString(attestation.AppendCanonical(nil)))
	signature := ed25519.Sign(testKey, input)
	public := trusted().Key
	verify := func() {
		r, err := facts.ParseRecord(data)
		if err != nil {
			b.Fatal(err)
		}
		if v := facts.Verify(r, o); !v.OK(true) {
			b.Fatal(v)
		}
	}
	raw := func() {
		if !ed25519.Verify(public, input, signature) {
			b.Fatal("refused")
		}
	}
	b.Run("record", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			verify()
		}
	})
	b.Run("raw", func(b *testing.B) {
		for b.Loop() {
			raw()
		}
	})
	b.Run("ratio", func(b *testing.B) { // both in turn, so that the load of the machine meets both
		var whole, bare time.Duration
		for b.Loop() {
			start := time.Now()
			verify()
			middle := time.Now()
			raw()
			whole, bare = whole+middle.Sub(start), bare+time.Since(middle)
		}
		b.ReportMetric(float64(whole)/float64(bare), "ratio")
		b.ReportMetric(0, "ns/op")
	})
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := facts.ParseRecord(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}
