package facts_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sayso/facts"
	"sayso/facts/factstest"
	"sayso/jcs"
)

func get(t testing.TB, s *facts.Snapshot, key string, sel facts.Selection, today facts.Date) facts.Answer {
	t.Helper()
	a, err := s.Get(key, sel, today)
	if err != nil {
		t.Fatalf("Get(%q): %v", key, err)
	}
	return a
}

func answerJSON(t testing.TB, s *facts.Snapshot, key string) string {
	t.Helper()
	a := get(t, s, key, current, factstest.Today)
	return string(a.AppendJSON(nil))
}

var current = facts.Selection{MaxAge: facts.NoMaxAge}

func asOf(day string) facts.Selection {
	return facts.Selection{MaxAge: facts.NoMaxAge, AsOf: factstest.Day(day)}
}

func period(label string) facts.Selection {
	return facts.Selection{MaxAge: facts.NoMaxAge, Period: label}
}

// TestRecordMembers fixes the bytes of whole records: order, nulls and absence (F§3.1, T9).
func TestRecordMembers(t *testing.T) {
	s := factstest.Snapshot(factstest.Sample())
	rows := []struct {
		key  string
		sel  facts.Selection
		want string
	}{
		{allowance, facts.Selection{MaxAge: 60}, `{"protocol":"verified-facts/0.2","key":"uk/income-tax/personal-allowance",` +
			`"aliases":["uk/pa","uk/personal-allowance"],"label":"Personal Allowance","value":12570,"unit":"GBP/year","period":"2026-27",` +
			`"effectiveFrom":"2026-04-06","effectiveTo":"2027-04-05","source":"https://www.gov.uk/income-tax-rates",` +
			`"quote":"The standard Personal Allowance is £12,570.","verifiedDate":"2026-10-04","nextScheduledRefresh":"2026-11-18",` +
			`"status":"fresh","ageDays":56,"maxAgeDays":60,"previous":{"value":12570,"period":"2025-26","effectiveFrom":"2025-04-06",` +
			`"source":"https://www.gov.uk/income-tax-rates/previous"},"scope":"Income up to the taper threshold","hash":"HASH","signature":SIGNATURE,` +
			`"publisher":{"name":"Example Figures (sample)","url":"https://figures.example/"},` +
			`"cite":{"url":"https://figures.example/f/uk/income-tax/personal-allowance",` +
			`"text":"figures.example, verified 2026-10-04 against https://www.gov.uk/income-tax-rates"}}`},
		{"GB/income-tax/personal-allowance", period("2025/26"), `{"protocol":"verified-facts/0.2","key":"uk/income-tax/personal-allowance",` +
			`"requestedKey":"GB/income-tax/personal-allowance","aliases":["uk/pa","uk/personal-allowance"],"label":"Personal Allowance","value":12570,` +
			`"unit":"GBP/year","period":"2025-26","effectiveFrom":"2025-04-06","effectiveTo":"2026-04-05",` +
			`"source":"https://www.gov.uk/income-tax-rates/previous","verifiedDate":"2026-03-02","nextScheduledRefresh":"2026-04-16",` +
			`"status":"stale","ageDays":272,"maxAgeDays":null,"scope":"Income up to the taper threshold","hash":"HASH","signature":SIGNATURE,` +
			`"publisher":{"name":"Example Figures (sample)","url":"https://figures.example/"},` +
			`"cite":{"url":"https://figures.example/f/uk/income-tax/personal-allowance",` +
			`"text":"figures.example, verified 2026-03-02 against https://www.gov.uk/income-tax-rates/previous"}}`},
		{"uk/passport/fee", asOf("2030-01-01"), `{"protocol":"verified-facts/0.2","key":"uk/passport/fee","label":"Adult passport",` +
			`"value":"£102\n(online)","unit":null,"period":null,"effectiveFrom":null,"effectiveTo":null,"source":"https://www.gov.uk/passport-fees",` +
			`"sourceFile":"https://www.gov.uk/passport-fees.csv","verifiedDate":"2026-01-15","nextScheduledRefresh":null,` +
			`"status":"fresh","ageDays":318,"maxAgeDays":null,"notice":"as_of is after today; no later value is known","hash":"HASH","signature":SIGNATURE,` +
			`"publisher":{"name":"Example Figures (sample)","url":"https://figures.example/"},"cite":{"url":"https://figures.example/f/uk/passport/fee",` +
			`"text":"figures.example, verified 2026-01-15 against https://www.gov.uk/passport-fees"}}`},
		{"eu/ecb/deposit-rate", current, `{"protocol":"verified-facts/0.2","key":"eu/ecb/deposit-rate","label":"Deposit facility rate","value":2,"unit":"%",` +
			`"period":null,"effectiveFrom":"2025-06-11","effectiveTo":null,"source":"https://www.ecb.europa.eu/rates","verifiedDate":"2026-11-20",` +
			`"nextScheduledRefresh":"2027-01-04","status":"fresh","ageDays":9,"maxAgeDays":null,"previous":{"value":2.25,"period":null,` +
			`"effectiveFrom":"2025-04-23","source":"https://www.ecb.europa.eu/press/2025-04-17"},"hash":"HASH","signature":SIGNATURE,` +
			`"publisher":{"name":"Example Figures (sample)","url":"https://figures.example/"},` +
			`"cite":{"url":"https://figures.example/f/eu/ecb/deposit-rate","text":"figures.example, verified 2026-11-20 against https://www.ecb.europa.eu/rates"}}`},
		{"zz-smp/withdrawn/undated", current, `{"protocol":"verified-facts/0.2","key":"zz-smp/withdrawn/undated","label":"Withdrawn figure without a day",` +
			`"value":null,"unit":"EUR","period":"2025","effectiveFrom":null,"effectiveTo":null,"source":"https://authority.example/figures",` +
			`"verifiedDate":"2026-06-03","nextScheduledRefresh":"2027-06-03","status":"fresh","ageDays":179,"maxAgeDays":null,` +
			`"withdrawn":"2026-06-03","withdrawnReason":"no longer stated","supersededBy":"zz-smp/ended/figure","hash":"HASH","signature":SIGNATURE,` +
			`"publisher":{"name":"Example Figures (sample)","url":"https://figures.example/"},"cite":{"url":"https://figures.example/f/zz-smp/withdrawn/undated",` +
			`"text":"figures.example, verified 2026-06-03 against https://authority.example/figures"}}`},
		{"zz-smp/version/18.19", current, `{"protocol":"verified-facts/0.2","key":"zz-smp/version/18.19","label":"Version supported","value":true,"unit":null,` +
			`"period":null,"effectiveFrom":null,"effectiveTo":null,"source":"https://authority.example/figures","sourceType":"derived",` +
			`"method":"Converted from the published table","verifiedDate":"2026-11-01","nextScheduledRefresh":"2027-11-01","status":"fresh","ageDays":28,` +
			`"maxAgeDays":null,"hash":"HASH","signature":SIGNATURE,"publisher":{"name":"Example Figures (sample)","url":"https://figures.example/"},` +
			`"cite":{"url":"https://figures.example/f/zz-smp/version/18.19","text":"figures.example, verified 2026-11-01 against https://authority.example/figures"}}`},
	}
	for _, row := range rows {
		a := get(t, s, row.key, row.sel, factstest.Today)
		got := string(a.AppendJSON(nil))
		if err := jcs.Check([]byte(got)); err != nil {
			t.Errorf("%s: %v", row.key, err)
		}
		_, v := a.Value()
		signature := `{"alg":"EdDSA","kid":"zz-2026-01","jws":"` + v.Signature.JWS + `","keys":"https://figures.example/.well-known/jwks.json"}`
		want := strings.NewReplacer("HASH", a.Hash, "SIGNATURE", signature).Replace(row.want)
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", row.key, got, want)
		}
	}
}

// TestStaticRecord: L1 records omit the members of the day and name the JSON file (S12).
func TestStaticRecord(t *testing.T) {
	s, err := facts.NewSnapshot(factstest.Sample(), facts.Options{Origin: factstest.Origin, Conformance: "L1", Static: true})
	if err != nil {
		t.Fatal(err)
	}
	got := answerJSON(t, s, "uk/pa")
	for _, member := range []string{`"status"`, `"ageDays"`, `"maxAgeDays"`, `"notice"`} {
		if strings.Contains(got, member) {
			t.Errorf("%s in a static record", member)
		}
	}
	for _, part := range []string{`"requestedKey":"uk/pa"`, `"cite":{"url":"https://figures.example/f/` + allowance + `.json"`} {
		if !strings.Contains(got, part) {
			t.Errorf("no %s in %s", part, got)
		}
	}
	for e := range s.Index("", factstest.Today) { // VF-L1-003d: also for the keys without a value in force
		if a := get(t, s, e.Key, current, factstest.Today); a.Outcome != facts.OutcomeRecord || a.Hash != e.Hash {
			t.Errorf("%s: %s, the index lists %s", e.Key, a.AppendJSON(nil), e.Hash)
		}
	}
	miss := get(t, s, "zz-smp/x/y", current, factstest.Today)
	if got := string(miss.AppendJSON(nil)); !strings.Contains(got, `"index":"https://figures.example/f/index.json"`) {
		t.Errorf("the miss does not name the index file: %s", got)
	}
}

// TestServedRecordsVerify: every record of every value, on every transport form, is what the verifier accepts.
func TestServedRecordsVerify(t *testing.T) {
	for _, ds := range []*facts.Dataset{factstest.Sample(), factstest.Generate(factstest.Options{Facts: 60, Seed: 2, Values: 3})} {
		s := factstest.Snapshot(ds)
		for i := range ds.Facts {
			for _, v := range ds.Facts[i].Values {
				day := max(v.From, v.Withdrawn, 1)
				a := get(t, s, ds.Facts[i].Key, facts.Selection{MaxAge: facts.NoMaxAge, AsOf: day}, factstest.Today)
				r, err := facts.ParseRecord(a.AppendJSON(nil))
				if err != nil {
					t.Fatalf("%s: %v", ds.Facts[i].Key, err)
				}
				got := facts.Verify(r, facts.VerifyOptions{Today: factstest.Today, MaxAge: facts.NoMaxAge, AsOf: day, Keys: testKeys{}})
				if got.Hash.Value != "valid" || got.Signature.Value != "valid" || got.KeyAcceptable.Value != "yes" {
					t.Errorf("%s as of %s: %+v", ds.Facts[i].Key, day, got)
				}
			}
		}
	}
}

// testKeys finds the test key.
type testKeys struct{}

func (testKeys) FindKey(kid string) (facts.PublicKey, error) {
	k, ok := factstest.KeySet().Find(kid)
	if !ok {
		return facts.PublicKey{}, errors.New("unknown key")
	}
	return facts.PublicKey{Kid: kid, Key: k.Public, ValidFrom: factstest.Day(k.ValidFrom)}, nil
}

// TestRequestedKey covers URL spellings and everything else (F§2.3, T11).
func TestRequestedKey(t *testing.T) {
	s := factstest.Snapshot(factstest.Sample())
	const version = "zz-smp/version/18.19"
	for requested, want := range map[string]struct{ key, requestedKey string }{
		allowance:                            {allowance, ""},
		allowance + "/":                      {allowance, ""},
		allowance + ".json":                  {allowance, ""},
		"/" + allowance:                      {allowance, "/" + allowance},
		"uk//income-tax/personal-allowance":  {allowance, "uk//income-tax/personal-allowance"},
		factstest.Origin + "/f/" + allowance: {allowance, ""},
		version:                              {version, ""},
		version + ".json":                    {version, ""},
		"UK/Income-Tax/Personal-Allowance":   {allowance, "UK/Income-Tax/Personal-Allowance"},
		" uk/income_tax/personal allowance ": {allowance, "uk/income_tax/personal allowance"},
		"uk/income‑tax/personal‑allowance":   {allowance, "uk/income‑tax/personal‑allowance"},
		"uk/pa":                              {allowance, "uk/pa"},
		"uk/pa.json":                         {allowance, "uk/pa.json"},
		"policy-rates:bank-rate":             {"uk/bank-rate", "policy-rates:bank-rate"},
		"gb-sct/income-tax/starter-rate":     {"uk-sct/income-tax/starter-rate", "gb-sct/income-tax/starter-rate"},
	} {
		a := get(t, s, requested, current, factstest.Today)
		if a.Outcome != facts.OutcomeRecord || a.Key != want.key || a.RequestedKey != want.requestedKey || a.Resolved != nil {
			t.Errorf("%q: outcome %d, key %q, requestedKey %q, resolved %v", requested, a.Outcome, a.Key, a.RequestedKey, a.Resolved)
		}
	}
}

// TestAutoResolution: a resolved record says how; the member order of F§3.1 holds.
func TestAutoResolution(t *testing.T) {
	s := factstest.Snapshot(factstest.Sample())
	a := get(t, s, "uk/base-rate", current, factstest.Today)
	if a.Key != "uk/bank-rate" || a.Resolved == nil || a.Resolved.Score < 800 {
		t.Fatalf("%+v", a)
	}
	got := string(a.AppendJSON(nil))
	want := `{"protocol":"verified-facts/0.2","key":"uk/bank-rate","requestedKey":"uk/base-rate","resolved":{"score":0.9,"matched":["synonym:base rate"]},"label":`
	if !strings.HasPrefix(got, want) {
		t.Errorf("got %s\nwant the start %s", got, want)
	}
}

// TestGetRefuses: bounds of the request.
func TestGetRefuses(t *testing.T) {
	s := factstest.Snapshot(factstest.Sample())
	both := asOf("2026-01-01")
	both.Period = "2026"
	for _, row := range []struct {
		key       string
		sel       facts.Selection
		parameter string
	}{
		{"", current, "key"},
		{" \t", current, "key"},
		{strings.Repeat("é", 401), current, "key"},
		{"uk/\xff", current, "key"},
		{allowance, both, "period"},
		{allowance, period("\xff"), "period"},
	} {
		_, err := s.Get(row.key, row.sel, factstest.Today)
		var refused *facts.ParameterError
		if !errors.As(err, &refused) || refused.Parameter != row.parameter {
			t.Errorf("%q %+v: %v", row.key, row.sel, err)
		}
	}
	if _, err := s.Get(strings.Repeat("é", 400), current, factstest.Today); err != nil {
		t.Errorf("400 characters: %v", err)
	}
}

// TestUnknownKey fixes the miss (F§5.3).
func TestUnknownKey(t *testing.T) {
	s := factstest.Snapshot(factstest.Sample())
	a := get(t, s, `us/"wage"/base`, current, factstest.Today)
	if got, want := string(a.AppendJSON(nil)), `{"protocol":"verified-facts/0.2","covered":false,"error":"unknown key","requestedKey":"us/\"wage\"/base",`+
		`"candidates":[],"index":"https://figures.example/f"}`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	a = get(t, s, "personal allowance 2024", current, factstest.Today)
	if a.Outcome != facts.OutcomeUnknown || len(a.Candidates) == 0 || a.Candidates[0].Key != allowance || !strings.Contains(a.Hint, "pass period=2024") {
		t.Errorf("%+v", a)
	}
	var miss struct {
		Covered    bool
		Error      string
		Candidates []map[string]any
		Index      string
		Hint       string
	}
	if err := json.Unmarshal(a.AppendJSON(nil), &miss); err != nil {
		t.Fatal(err)
	}
	if miss.Hint != a.Hint || len(miss.Candidates) != len(a.Candidates) || miss.Candidates[0]["score"] != float64(a.Candidates[0].Score)/1000 ||
		miss.Candidates[0]["verifiedDate"] != "2026-10-04" || miss.Candidates[0]["period"] != "2026-27" {
		t.Errorf("%+v", miss)
	}
	if len(a.Candidates) > 5 {
		t.Errorf("%d candidates", len(a.Candidates))
	}
}

// TestNotHeld fixes the miss of a known key (F§5.3, S17, T2, T4).
func TestNotHeld(t *testing.T) {
	s := factstest.Snapshot(factstest.Sample())
	const publisher = `,"publisher":{"name":"Example Figures (sample)","url":"https://figures.example/"}}`
	const ended = `"periodsHeld":[{"period":"2027","effectiveFrom":"2027-01-01","effectiveTo":null},` +
		`{"period":"2025","effectiveFrom":"2025-01-01","effectiveTo":"2025-12-31"},{"period":"2023","effectiveFrom":"2023-01-01","effectiveTo":"2023-12-31"}]`
	const endedHead = `{"protocol":"verified-facts/0.2","key":"zz-smp/ended/figure","label":"Figure with a gap","covered":false,"reason":"period not held",`
	for _, row := range []struct {
		key  string
		sel  facts.Selection
		want string
	}{
		{"zz-smp/ended/figure", current, endedHead + `"requested":{"as_of":"2026-11-29"},` + ended + publisher},
		{"zz-smp/ended/figure", asOf("2024-06-01"), endedHead + `"requested":{"as_of":"2024-06-01"},` + ended + publisher},
		{"zz-smp/ended/figure", asOf("1999-01-01"), endedHead + `"requested":{"as_of":"1999-01-01"},` + ended + publisher},
		{"zz-smp/ended/figure", period("2024"), endedHead + `"requested":{"period":"2024"},` + ended + publisher},
		{"gb/bank-rate", period("2026"), `{"protocol":"verified-facts/0.2","key":"uk/bank-rate","requestedKey":"gb/bank-rate","label":"Bank Rate","covered":false,` +
			`"reason":"period not held","requested":{"period":"2026"},"periodsHeld":[{"period":null,"effectiveFrom":"2025-12-18","effectiveTo":null},` +
			`{"period":null,"effectiveFrom":"2025-08-07","effectiveTo":"2025-12-17"},{"period":null,"effectiveFrom":"2025-05-08","effectiveTo":"2025-08-06"}]` + publisher},
		{"zz-smp/split/duty", period("2026"), `{"protocol":"verified-facts/0.2","key":"zz-smp/split/duty","label":"Duty changed within the year","covered":false,` +
			`"reason":"several values in this period","requested":{"period":"2026"},"periodsHeld":[{"period":"2026","effectiveFrom":"2026-07-01","effectiveTo":null},` +
			`{"period":"2026","effectiveFrom":"2026-01-01","effectiveTo":"2026-06-30"}]` + publisher},
	} {
		a := get(t, s, row.key, row.sel, factstest.Today)
		if got := string(a.AppendJSON(nil)); a.Outcome != facts.OutcomeNotHeld || got != row.want {
			t.Errorf("%s %+v:\n got %s\nwant %s", row.key, row.sel, got, row.want)
		}
		if a.Hash != "" || a.Status != "" || !a.Verified.IsZero() {
			t.Errorf("%s: a miss carries members of a record: %+v", row.key, a)
		}
	}
}

// TestPeriodLabels: labels are compared after folding, never computed with (F§4.3).
func TestPeriodLabels(t *testing.T) {
	s := factstest.Snapshot(factstest.Sample())
	for label, want := range map[string]string{
		"2025-26": "2025-26", "2025/26": "2025-26", " 2025–26 ": "2025-26", "2025−26": "2025-26", "2026-27": "2026-27",
		"2025": "", "2025-2026": "", "26": "", "2024-25": "", "2025-26x": "",
	} {
		a := get(t, s, allowance, period(label), factstest.Today)
		_, v := a.Value()
		if v.Period != want || (want == "") != (a.Outcome == facts.OutcomeNotHeld) {
			t.Errorf("period %q: outcome %d, value of %q", label, a.Outcome, v.Period)
		}
	}
}

// TestWithdrawn covers F§5.4 and T10 around the boundary.
func TestWithdrawn(t *testing.T) {
	s := factstest.Snapshot(factstest.Sample())
	for _, row := range []struct{ key, day, value string }{
		{"zz-smp/withdrawn/dated", "2026-04-30", "7"},
		{"zz-smp/withdrawn/dated", "2026-05-01", "null"},
		{"zz-smp/withdrawn/undated", "2026-06-02", "9"},
		{"zz-smp/withdrawn/undated", "2026-06-03", "null"},
	} {
		a := get(t, s, row.key, asOf(row.day), factstest.Today)
		_, v := a.Value()
		if a.Outcome != facts.OutcomeRecord || string(v.Value) != row.value || (row.value == "null") == v.Withdrawn.IsZero() {
			t.Errorf("%s on %s: %s", row.key, row.day, a.AppendJSON(nil))
		}
	}
}

// TestFreshness covers F§4.4: ages around max_age, staleness around the schedule.
func TestFreshness(t *testing.T) {
	s := factstest.Snapshot(factstest.Sample())
	verified, refresh := factstest.Day("2026-10-04"), factstest.Day("2026-11-18") // of the allowance, 45 days apart, 7 days of grace
	for _, row := range []struct {
		maxAge            int
		today             facts.Date
		status, staleness string
	}{
		{8, verified + 8, "fresh", "current"},
		{8, verified + 9, "stale", "current"},
		{0, verified, "fresh", "current"},
		{0, verified + 1, "stale", "current"},
		{8, verified - 3, "fresh", "current"}, // dated after today: the age is reported as it is
		{36500, verified + 36500, "fresh", "overdue"},
		{facts.NoMaxAge, refresh - 1, "fresh", "current"},
		{facts.NoMaxAge, refresh, "fresh", "due"},
		{facts.NoMaxAge, refresh + 7, "fresh", "due"},
		{facts.NoMaxAge, refresh + 8, "stale", "overdue"},
	} {
		a := get(t, s, allowance, facts.Selection{MaxAge: row.maxAge, AsOf: factstest.Day("2026-10-01")}, row.today)
		if a.Status != row.status || a.Staleness(row.today) != row.staleness || a.AgeDays != int(row.today-verified) || a.MaxAgeDays != row.maxAge {
			t.Errorf("max_age %d on %s: %s %s, age %d", row.maxAge, row.today, a.Status, a.Staleness(row.today), a.AgeDays)
		}
	}
	a := get(t, s, "uk/passport/fee", current, factstest.Today+10_000)
	if a.Status != "fresh" || a.Staleness(factstest.Today+10_000) != "current" {
		t.Error("a value without a schedule is never overdue")
	}
}

// TestNotice: an open value speaks for the future only with the notice (S16).
func TestNotice(t *testing.T) {
	s := factstest.Snapshot(factstest.Sample())
	for _, row := range []struct {
		key, day string
		notice   bool
		outcome  facts.Outcome
	}{
		{"uk/bank-rate", "2026-11-29", false, facts.OutcomeRecord},
		{"uk/bank-rate", "2026-11-30", true, facts.OutcomeRecord},
		{allowance, "2027-04-05", false, facts.OutcomeRecord}, // effectiveTo is known
		{allowance, "2027-04-06", false, facts.OutcomeNotHeld},
		{"zz-smp/ended/figure", "2027-01-01", true, facts.OutcomeRecord},
	} {
		a := get(t, s, row.key, asOf(row.day), factstest.Today)
		if a.Outcome != row.outcome || (a.Notice != "") != row.notice {
			t.Errorf("%s as of %s: outcome %d, notice %q", row.key, row.day, a.Outcome, a.Notice)
		}
	}
}

// TestTodayIsUTC: one instant gives one answer, whatever the zone of the clock that read it (T2, S10).
func TestTodayIsUTC(t *testing.T) {
	s := factstest.Snapshot(factstest.Sample())
	instant := time.Date(2026, 11, 29, 4, 30, 0, 0, time.UTC)
	var answers []string
	for _, zone := range []*time.Location{time.UTC, time.FixedZone("west", -5*3600), time.FixedZone("east", 13*3600)} {
		a := get(t, s, allowance, current, facts.DateOf(instant.In(zone)))
		answers = append(answers, string(a.AppendJSON(nil)))
	}
	if len(slices.Compact(answers)) != 1 {
		t.Errorf("%q", answers)
	}
}

// TestPrevious covers F§3.4.
func TestPrevious(t *testing.T) {
	ds := factstest.Sample()
	bank := fact(t, ds, "uk/bank-rate")
	bank.Values[2].Unit = "basis points"
	bank.Previous = &facts.Previous{Value: "4.5", From: factstest.Day("2025-02-06"), Source: "https://www.bankofengland.co.uk/2025-02"}
	fact(t, ds, "uk/passport/fee").Previous = &facts.Previous{Value: "95", Source: "https://www.gov.uk/old"}
	factstest.Sign(ds)
	s := factstest.Snapshot(ds)
	for _, row := range []struct{ key, day, want string }{
		{"uk/bank-rate", "2026-01-01", "4"},          // the next older one held
		{"uk/bank-rate", "2025-09-01", ""},           // another unit
		{"uk/bank-rate", "2025-06-01", "4.5"},        // the authored block stands before the oldest held value
		{"uk/passport/fee", "2026-01-01", ""},        // another JSON type
		{"zz-smp/withdrawn/dated", "2026-06-01", ""}, // nothing to compare with
		{"uk-sct/income-tax/starter-rate", "2026-06-01", ""},
	} {
		a := get(t, s, row.key, asOf(row.day), factstest.Today)
		f, _ := a.Value()
		got := ""
		if f.Previous != nil {
			got = string(f.Previous.Value)
		}
		if got != row.want {
			t.Errorf("%s on %s: previous %q, want %q", row.key, row.day, got, row.want)
		}
	}
}

// inForce is rule S1 as the specification words it: of all values that have begun and not ended, the one that began last.
func inForce(f *facts.Fact, day facts.Date) *facts.DatedValue {
	var best *facts.DatedValue
	start := func(v *facts.DatedValue) facts.Date {
		if v.From.IsZero() {
			return v.Withdrawn
		}
		return v.From
	}
	for i := range f.Values {
		v := &f.Values[i]
		to := v.To
		if to.IsZero() && i > 0 {
			to = start(&f.Values[i-1]) - 1
		}
		if start(v) <= day && (to.IsZero() || day <= to) && (best == nil || start(v) > start(best)) {
			best = v
		}
	}
	return best
}

// TestAroundEveryBoundary asks for D-1, D and D+1 of every change of every key (T3) and for labels of every period (S1, F§4.3).
func TestAroundEveryBoundary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ds := factstest.Generate(factstest.Options{Facts: rapid.IntRange(1, 40).Draw(t, "facts"), Seed: rapid.Uint64().Draw(t, "seed"), Values: 6, Unsigned: true})
		s := factstest.Snapshot(ds)
		for i := range ds.Facts {
			f := &ds.Facts[i]
			for _, v := range f.Values {
				for _, boundary := range []facts.Date{v.From, v.To, v.Withdrawn} {
					for day := max(boundary-1, 1); day <= boundary+1; day++ {
						checkDay(t, s, f, day)
					}
				}
			}
		}
	})
}

func checkDay(t *rapid.T, s *facts.Snapshot, f *facts.Fact, day facts.Date) {
	want := inForce(f, day)
	for name, ask := range map[string]func() (facts.Answer, error){
		"as_of": func() (facts.Answer, error) {
			return s.Get(f.Key, facts.Selection{MaxAge: facts.NoMaxAge, AsOf: day}, factstest.Today)
		},
		"today": func() (facts.Answer, error) { return s.Get(f.Key, facts.Selection{MaxAge: facts.NoMaxAge}, day) },
	} {
		a, err := ask()
		if err != nil {
			t.Fatal(err)
		}
		_, got := a.Value()
		switch {
		case want == nil && a.Outcome != facts.OutcomeNotHeld:
			t.Errorf("%s %s %s: answered with the value from %s, none is in force", f.Key, name, day, got.From)
		case want != nil && (a.Outcome != facts.OutcomeRecord || got.Value != want.Value || got.From != want.From || got.Period != want.Period):
			t.Errorf("%s %s %s: outcome %d, value from %s, want %s", f.Key, name, day, a.Outcome, got.From, want.From)
		case want != nil && !got.To.IsZero() && got.To < day:
			t.Errorf("%s %s %s: the value ended on %s", f.Key, name, day, got.To)
		}
	}
}

// TestGetAllocatesNothing: a plain get costs no allocation when the buffer has room (F§15).
func TestGetAllocatesNothing(t *testing.T) {
	s := factstest.Snapshot(factstest.Sample())
	buf := make([]byte, 0, 16<<10)
	for _, sel := range []facts.Selection{current, {MaxAge: 30}, asOf("2026-06-01"), period("2025-26")} {
		allocations := testing.AllocsPerRun(200, func() {
			a, err := s.Get(allowance, sel, factstest.Today)
			if err != nil || a.Outcome != facts.OutcomeRecord {
				t.Fatal("no record")
			}
			buf = a.AppendJSON(buf[:0])
		})
		if allocations != 0 {
			t.Errorf("%+v: %v allocations", sel, allocations)
		}
	}
}

// FuzzGet asks for anything: an answer is strict JSON and one line of text, a refusal is a *ParameterError, and only what was asked for is repeated.
func FuzzGet(f *testing.F) {
	s := factstest.Snapshot(factstest.Sample())
	for _, seed := range []struct{ key, period string }{
		{allowance, "2025/26"}, {"GB/bank-rate/", ""}, {"https://figures.example/f/uk/pa?max_age=30d", ""}, {"policy-rates:bank-rate", ""},
		{"tell us the base rate", ""}, {"wage \"base\" 2025\n", "2025"}, {"zz-smp/ended/figure.json", " "}, {"\u2028/\x00", "\xff"},
	} {
		f.Add(seed.key, seed.period, int32(factstest.Today))
	}
	f.Fuzz(func(t *testing.T, key, period string, day int32) {
		today := facts.Date(max(1, day%int32(facts.MaxDate)))
		a, err := s.Get(key, facts.Selection{MaxAge: facts.NoMaxAge, Period: period}, today)
		if err != nil {
			var refused *facts.ParameterError
			if !errors.As(err, &refused) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if body := a.AppendJSON(nil); jcs.Check(body) != nil {
			t.Fatalf("not strict JSON: %s", body)
		}
		if text := string(a.AppendText(nil)); strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
			t.Fatalf("not one line: %q", text)
		}
		if a.Outcome == facts.OutcomeUnknown != (a.Key == "") || a.Outcome == facts.OutcomeUnknown && a.RequestedKey == "" {
			t.Fatalf("outcome %d, key %q, requestedKey %q", a.Outcome, a.Key, a.RequestedKey)
		}
	})
}

// TestConcurrentUse: one snapshot answers many readers at once, each with its own day (run with -race).
func TestConcurrentUse(t *testing.T) {
	s := factstest.Snapshot(factstest.Sample())
	questions := []string{allowance, "gb/bank-rate", "tell us the base rate", "personal allowance 2024", "zz-smp/ended/figure"}
	ask := func(day facts.Date) (all []byte) {
		b, err := s.Batch(questions, current, day)
		if err != nil {
			t.Error(err)
		}
		all = b.AppendText(b.AppendJSON(all))
		return append(all, index(t, s, "uk", day)...)
	}
	var group sync.WaitGroup
	for i := range facts.Date(8) {
		want := string(ask(factstest.Today + i))
		group.Go(func() {
			for range 50 {
				if got := string(ask(factstest.Today + i)); got != want {
					t.Errorf("another answer than alone: %s", got)
				}
			}
		})
	}
	group.Wait()
}
