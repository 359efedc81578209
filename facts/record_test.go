package facts_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"sayso/facts"
	"sayso/jcs"
)

// members are the members of a valid signed record, as JSON text, that tests change one by one.
func members() map[string]string {
	return map[string]string{
		"protocol": `"verified-facts/0.2"`, "key": `"uk/income-tax/personal-allowance"`, "label": `"Personal Allowance"`, "value": `12570`, "unit": `"GBP/year"`,
		"period": `"2026-27"`, "effectiveFrom": `"2026-04-06"`, "effectiveTo": `null`, "source": `"https://www.gov.uk/income-tax-rates"`, "quote": `"12,570"`,
		"verifiedDate": `"2026-10-04"`, "nextScheduledRefresh": `"2026-11-18"`, "status": `"fresh"`, "ageDays": `10`, "maxAgeDays": `null`,
		"hash":      `"sha256:cab2eae595ba1c5f8059d6002585514a4b6b612cac8809f83457b722320a2576"`,
		"signature": `{"alg":"EdDSA","kid":"db-2026-10","jws":"a..b","keys":"https://databutler.dev/.well-known/jwks.json"}`,
		"publisher": `{"name":"Data Butler","url":"https://databutler.dev/"}`,
		"cite":      `{"url":"https://databutler.dev/f/uk/income-tax/personal-allowance","text":"databutler.dev"}`,
	}
}

// with is members with some of them replaced, "" taking one away.
func with(changes map[string]string) []byte {
	all := members()
	maps.Copy(all, changes)
	raw := map[string]json.RawMessage{}
	for name, value := range all {
		if value != "" {
			raw[name] = json.RawMessage(value)
		}
	}
	return encode(raw)
}

// encode keeps the given text of every member.
func encode(raw map[string]json.RawMessage) []byte {
	var b strings.Builder
	separator := "{"
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		quoted, _ := json.Marshal(name)
		b.WriteString(separator + string(quoted) + ":" + string(raw[name]))
		separator = ","
	}
	return []byte(b.String() + "}")
}

func parse(t testing.TB, data []byte) *facts.Record {
	t.Helper()
	r, err := facts.ParseRecord(data)
	if err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return r
}

func TestParseRecord(t *testing.T) {
	data := with(map[string]string{"aliases": `["gb/x"]`, "maxAgeDays": `30`, "ageDays": `-1`, "later": `{"deep":[1]}`, "requestedKey": `"gb/x"`,
		"label": `"a\u0022b"`, "scope": `"UK"`, "notice": `"n"`, "method": `"m"`, "sourceType": `"derived"`, "sourceFile": `"https://a.example/x.csv"`, "attribution": `""`})
	r := parse(t, data)
	if r.Key != "uk/income-tax/personal-allowance" || r.Label != `a"b` || r.Value != "12570" || r.Unit != "GBP/year" || r.Period != "2026-27" ||
		r.EffectiveFrom.String() != "2026-04-06" || !r.EffectiveTo.IsZero() || r.VerifiedDate.String() != "2026-10-04" || r.NextScheduledRefresh.String() != "2026-11-18" ||
		r.Status != "fresh" || r.AgeDays != -1 || r.MaxAgeDays != 30 || r.Signature.Kid != "db-2026-10" || r.Publisher.URL != "https://databutler.dev/" ||
		len(r.Aliases) != 1 || r.RequestedKey != "gb/x" || r.Scope != "UK" || r.Notice != "n" || r.Method != "m" || r.SourceType != "derived" || r.SourceFile == "" {
		t.Errorf("%+v", r)
	}
	if r.ComputeHash() != r.Hash {
		t.Errorf("hash %s", r.ComputeHash())
	}
	if string(r.JSON()) != string(data) {
		t.Error("the record is not kept as received")
	}
	if later, ok := r.Member("later"); !ok || string(later) != `{"deep":[1]}` {
		t.Errorf("the unknown member is %s, %v", later, ok)
	}
	if _, ok := r.Member("earlier"); ok {
		t.Error("a member that is not there is found")
	}
	data[0] = 'x'
	if r.JSON()[0] != '{' {
		t.Error("the record shares the caller's memory")
	}
}

// White space and escapes are the sender's business.
func TestParseRecordAnySpelling(t *testing.T) {
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, with(map[string]string{"value": `{"b":[1,{"}":"]\\\""}],"a":{}}`}), "\r\n", "\t"); err != nil {
		t.Fatal(err)
	}
	spelled := strings.Replace("\n "+pretty.String()+"\n", `"key"`, `"\u006bey" `, 1)
	r := parse(t, []byte(spelled))
	if r.Key != "uk/income-tax/personal-allowance" || r.Value != `{"a":{},"b":[1,{"}":"]\\\""}]}` || r.MaxAgeDays != facts.NoMaxAge || r.AgeDays != 10 {
		t.Errorf("%+v", r)
	}
	if key, ok := r.Member("key"); !ok || string(key) != `"uk/income-tax/personal-allowance"` {
		t.Errorf("%s, %v", key, ok)
	}
}

// S12: records of a static publisher have no day-dependent members.
func TestParseRecordL1(t *testing.T) {
	r := parse(t, with(map[string]string{"status": "", "ageDays": "", "maxAgeDays": "", "signature": "", "cite": "", "quote": ""}))
	if r.Status != "" || r.MaxAgeDays != facts.NoMaxAge || r.Signature != nil {
		t.Errorf("%+v", r)
	}
	for _, protocol := range []string{`"verified-facts/0.3"`, `"verified-facts/0.17"`, `"verified-facts/0.0"`} {
		parse(t, with(map[string]string{"protocol": protocol}))
	}
}

func TestParseRecordWithdrawn(t *testing.T) {
	r := parse(t, with(map[string]string{"value": "null", "withdrawn": `"in spring"`, "withdrawnReason": `"gone"`, "supersededBy": `"uk/other/x"`}))
	if r.Value != facts.Null || r.Withdrawn != "in spring" || r.SupersededBy != "uk/other/x" || r.WithdrawnReason != "gone" {
		t.Errorf("%+v", r)
	}
}

func TestParseRecordNamesTheMember(t *testing.T) {
	for _, name := range []string{"protocol", "key", "label", "value", "unit", "period", "effectiveFrom", "effectiveTo", "source", "verifiedDate", "nextScheduledRefresh", "hash", "publisher"} {
		_, err := facts.ParseRecord(with(map[string]string{name: ""}))
		if err == nil || !strings.Contains(err.Error(), `"`+name+`" is missing`) {
			t.Errorf("without %s: %v", name, err)
		}
	}
	for _, c := range []struct{ name, value, want string }{
		{"protocol", `"verified-facts/1.0"`, "every verified-facts/0.x"}, {"protocol", `"verified-facts/0."`, "verified-facts"}, {"protocol", `"verified-facts/0.2x"`, "verified-facts"},
		{"protocol", `"verified-changes/0.1"`, "verified-facts"}, {"protocol", `2`, "number where a string"},
		{"key", `"UK/x"`, "starts with"}, {"key", `null`, "null where a string"}, {"label", `""`, "empty"}, {"label", `["x"]`, "array where a string"},
		{"value", `null`, "only for a withdrawn fact"}, {"value", `1e400`, "number"}, {"value", `9007199254740993`, "number"},
		{"unit", `5`, "number where a string or null"}, {"period", `2026`, "number where a string or null"}, {"effectiveFrom", `"2026-02-30"`, "calendar day"},
		{"effectiveTo", `"soon"`, "write YYYY-MM-DD"}, {"effectiveTo", `20260101`, "number where a date or null"}, {"verifiedDate", `null`, "null where a string"}, {"verifiedDate", `"2026-1-1"`, "write YYYY-MM-DD"},
		{"nextScheduledRefresh", `""`, "write YYYY-MM-DD"}, {"source", `"http://a.example/"`, "https URL"}, {"source", `"https://"`, "https URL"}, {"sourceType", `"guess"`, "none of"},
		{"status", `"old"`, "neither fresh nor stale"}, {"status", `null`, "null where a string"}, {"ageDays", `1.5`, "whole number"}, {"ageDays", `"1"`, "string where a whole number"}, {"ageDays", `3000000000`, "whole number"},
		{"maxAgeDays", `-1`, "negative"}, {"hash", `"sha256:CAB2EAE595BA1C5F8059D6002585514A4B6B612CAC8809F83457B722320A2576"`, "hexadecimal"}, {"hash", `"9f2c"`, "hexadecimal"},
		{"signature", `null`, "null where an object"}, {"signature", `{}`, "alg is missing"}, {"signature", `{"alg":"EdDSA","kid":"a b","jws":"x","keys":"y"}`, "kid "},
		{"signature", `{"alg":"EdDSA","kid":"` + strings.Repeat("k", 129) + `","jws":"x","keys":"y"}`, "kid "}, {"signature", `{"alg":"EdDSA","kid":"k","jws":"","keys":"y"}`, "jws is empty"},
		{"publisher", `"Data Butler"`, "string where an object"}, {"publisher", `{"name":"x"}`, "url is missing"}, {"publisher", `{"name":"x","url":7}`, "url: number where a string"},
		{"aliases", `"x"`, "string where an array"}, {"aliases", `[1]`, "array of strings"}, {"cite", `"x"`, "string where an object"}, {"previous", `null`, "null where an object"},
		{"quote", `null`, "null where a string"}, {"supersededBy", `"x"`, "one segment"}, {"withdrawn", `""`, "empty"},
	} {
		_, err := facts.ParseRecord(with(map[string]string{c.name: c.value}))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %.40s: %v, want an error with %q", c.name, c.value, err, c.want)
			continue
		}
		var notJSON *jcs.Error
		if !strings.Contains(err.Error(), c.name) && !errors.As(err, &notJSON) {
			t.Errorf("%s %.40s: the member is not named: %v", c.name, c.value, err)
		}
	}
	if _, err := facts.ParseRecord(with(map[string]string{"withdrawn": `"2026-01-01"`})); err == nil || !strings.Contains(err.Error(), `"value"`) {
		t.Errorf("a withdrawn record with a value: %v", err)
	}
	for _, data := range []string{`null`, `[]`, ` 7 `} {
		if _, err := facts.ParseRecord([]byte(data)); err == nil || !strings.Contains(err.Error(), "an object") {
			t.Errorf("%s: %v", data, err)
		}
	}
	for _, data := range []string{``, `{`, `{"key":1,"key":2}`, string(with(nil)) + `{}`, string(with(nil)[:100]), "\ufeff" + string(with(nil)), string(with(map[string]string{"label": `"\ud800"`}))} {
		var refused *jcs.Error
		if _, err := facts.ParseRecord([]byte(data)); !errors.As(err, &refused) {
			t.Errorf("%.30s: %v", data, err)
		}
	}
}

// F§13: what is hashed is what was received. An empty string is not null, and a number is its RFC 8785 text.
func TestComputeHashAsReceived(t *testing.T) {
	hash := func(changes map[string]string) string { return parse(t, with(changes)).ComputeHash() }
	base := hash(nil)
	for _, name := range []string{"unit", "period"} {
		empty, null := hash(map[string]string{name: `""`}), hash(map[string]string{name: `null`})
		if empty == null || empty == base || null == base {
			t.Errorf("%s: \"\" gives %s, null gives %s", name, empty, null)
		}
		claim := parse(t, with(map[string]string{name: `null`})).Claim()
		if claim.Hash() != null {
			t.Errorf("%s null: the claim of the record has another hash", name)
		}
	}
	for _, same := range []map[string]string{{"value": `12570.0`}, {"value": `1.257e4`}, {"key": `"uk\/income-tax\/personal-allowance"`}, {"unit": `"GBP\u002fyear"`}, {"effectiveFrom": `"2026\u002d04-06"`}} {
		if got := hash(same); got != base {
			t.Errorf("%v gives another hash", same)
		}
	}
	if hash(map[string]string{"value": `-0`}) != hash(map[string]string{"value": `0`}) {
		t.Error("negative zero is hashed differently")
	}
}

func FuzzParseRecord(f *testing.F) {
	f.Add(with(nil))
	f.Add(with(map[string]string{"value": `{"a":[1,"\u2028"]}`, "unit": `""`, "signature": ""}))
	f.Add(with(map[string]string{"value": "null", "withdrawn": `"2026-01-01"`, "effectiveFrom": "null"}))
	f.Add([]byte(`{"protocol":"verified-facts/0.2"}`))
	f.Add([]byte(`[]`))
	f.Add([]byte("\n" + strings.ReplaceAll(string(with(map[string]string{"later": `[{"}":"\\\""}, -1e-7 ]`})), ":", " : ") + " "))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := facts.ParseRecord(data)
		if err != nil {
			if len(err.Error()) > 1000 || strings.ContainsAny(err.Error(), "\x00\n\x1b") {
				t.Fatalf("the message repeats the input: %q", err)
			}
			return
		}
		// A verifier that reads the canonical form of the same record comes to the same result.
		canonical, err := jcs.Canonical(data)
		if err != nil {
			t.Fatalf("a record that is not JSON was read: %v", err)
		}
		again, err := facts.ParseRecord(canonical)
		if err != nil || again.ComputeHash() != r.ComputeHash() {
			t.Fatalf("%s: hash %s, canonical form: %v", data, r.ComputeHash(), err)
		}
		facts.Verify(r, facts.VerifyOptions{Today: 740_000, MaxAge: facts.NoMaxAge, KeysNote: "none"})
	})
}
