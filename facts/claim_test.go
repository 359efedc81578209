package facts_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"sayso/facts"
	"sayso/jcs"
	"sayso/vectors"
)

type claimJSON struct {
	Key           string
	Value         json.RawMessage
	Unit, Period  *string
	EffectiveFrom *string
	Source        string
}

func text(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// The 23 claims of F§16, as an author states them and as a reader receives them.
func TestClaimVectors(t *testing.T) {
	all := vectors.Claims()
	if len(all) != 23 {
		t.Fatalf("%d vectors", len(all))
	}
	for _, v := range all {
		var c claimJSON
		if err := json.Unmarshal([]byte(v.Claim), &c); err != nil {
			t.Fatal(err)
		}
		changes := map[string]string{"key": string(must(json.Marshal(c.Key))), "value": string(c.Value), "unit": string(must(json.Marshal(c.Unit))),
			"period": string(must(json.Marshal(c.Period))), "effectiveFrom": string(must(json.Marshal(c.EffectiveFrom))), "source": string(must(json.Marshal(c.Source)))}
		if string(c.Value) == "null" {
			changes["withdrawn"] = `"2026-01-01"`
		}
		value, err := facts.ParseValue(c.Value)
		record, recordErr := facts.ParseRecord(with(changes))
		if v.Class != vectors.Valid {
			if err == nil || recordErr == nil {
				t.Errorf("%s: %s is accepted as %s", v.Name, c.Value, value)
			}
			continue
		}
		if err != nil || recordErr != nil {
			t.Errorf("%s: %v, %v", v.Name, err, recordErr)
			continue
		}
		claim := facts.Claim{Key: c.Key, Value: value, Unit: text(c.Unit), Period: text(c.Period), EffectiveFrom: date(t, text(c.EffectiveFrom)), Source: c.Source}
		if got := string(claim.AppendCanonical(nil)); got != v.Canonical {
			t.Errorf("%s: canonical form\n%s, want\n%s", v.Name, got, v.Canonical)
		}
		if claim.Hash() != v.Hash || record.ComputeHash() != v.Hash {
			t.Errorf("%s: hash %s, received %s, want %s", v.Name, claim.Hash(), record.ComputeHash(), v.Hash)
		}
	}
}

// The three attestations of F§16: whatever publisher member the signer had, ours is publisher.url and its bytes are the payload to rebuild.
func TestAttestationVectors(t *testing.T) {
	all := vectors.Attestations()
	if len(all) != 3 {
		t.Fatalf("%d vectors", len(all))
	}
	for _, v := range all {
		var a struct {
			claimJSON
			EffectiveTo        *string
			Hash, VerifiedDate string
		}
		if err := json.Unmarshal([]byte(v.Attestation), &a); err != nil {
			t.Fatal(err)
		}
		dated := facts.DatedValue{Value: facts.Value(a.Value), Unit: text(a.Unit), Period: text(a.Period), From: date(t, text(a.EffectiveFrom)),
			To: date(t, text(a.EffectiveTo)), Source: a.Source, Verified: date(t, a.VerifiedDate)}
		got := facts.Attest(facts.Publisher{Name: "any", URL: "https://databutler.dev/"}, a.Key, &dated)
		if payload := string(got.AppendCanonical(nil)); got.Hash != a.Hash || payload != v.Payload || (payload == v.Canonical) != (v.Class == vectors.Valid) {
			t.Errorf("%s: %s", v.Name, payload)
		}
	}
}

func drawDate(t *rapid.T, label string) facts.Date {
	return facts.Date(rapid.OneOf(rapid.Just(int32(0)), rapid.Int32Range(1, int32(facts.MaxDate))).Draw(t, label))
}

var values = rapid.SampledFrom([]facts.Value{`12570`, `-1e-7`, `"a\nb"`, `true`, `null`, `{"":[1,"x"]}`, `[]`, `"ü"`})

func drawClaim(t *rapid.T) facts.Claim {
	return facts.Claim{Key: rapid.String().Draw(t, "key"), Value: values.Draw(t, "value"), Unit: rapid.String().Draw(t, "unit"), Period: rapid.String().Draw(t, "period"),
		EffectiveFrom: drawDate(t, "from"), Source: rapid.String().Draw(t, "source")}
}

func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// The direct writers agree with the general one for every text.
func TestCanonicalIsJCS(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawClaim(t)
		a := facts.Attestation{Publisher: rapid.String().Draw(t, "publisher"), Claim: c, Hash: c.Hash(), EffectiveTo: drawDate(t, "to"), VerifiedDate: drawDate(t, "verified")}
		members := map[string]any{"key": c.Key, "value": json.RawMessage(c.Value), "unit": nullable(c.Unit), "period": nullable(c.Period),
			"effectiveFrom": c.EffectiveFrom, "source": c.Source}
		same(t, c.AppendCanonical([]byte("before")), members)
		members["protocol"], members["publisher"], members["hash"] = facts.Protocol, a.Publisher, a.Hash
		members["effectiveTo"], members["verifiedDate"] = a.EffectiveTo, a.VerifiedDate
		same(t, a.AppendCanonical([]byte("before")), members)
	})
}

func same(t *rapid.T, got []byte, members map[string]any) {
	generic, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	want, err := jcs.AppendCanonical([]byte("before"), generic)
	if err != nil || string(got) != string(want) {
		t.Fatalf("%s, want %s (%v)", got, want, err)
	}
}

func TestCanonicalDoesNotAllocate(t *testing.T) {
	a := facts.Attestation{Publisher: "https://figures.example/", Claim: facts.Claim{Key: "uk/bank-rate", Value: "4", Unit: "%", EffectiveFrom: date(t, "2026-04-06"), Source: "https://a.example/"}}
	buf := make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() { a.AppendCanonical(buf); a.Claim.AppendCanonical(buf) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
