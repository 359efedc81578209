package facts_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sayso/facts"
	"sayso/facts/factstest"
	"sayso/jcs"
)

func index(t testing.TB, s *facts.Snapshot, namespace string, today facts.Date) string {
	t.Helper()
	var b bytes.Buffer
	if err := s.WriteIndex(&b, namespace, today); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestIndexDocument fixes the bytes of F§5.1.
func TestIndexDocument(t *testing.T) {
	s := factstest.Snapshot(factstest.Sample())
	hash := func(key string, sel facts.Selection) string { a := get(t, s, key, sel, factstest.Today); return a.Hash }
	const head = `{"protocol":"verified-facts/0.2","publisher":{"name":"Example Figures (sample)","url":"https://figures.example/"}`
	bank := `{"key":"uk/bank-rate","label":"Bank Rate","unit":"%","period":null,"verifiedDate":"2026-10-20","hash":"` + hash("uk/bank-rate", current) + `"}`
	pa := `{"key":"uk/income-tax/personal-allowance","label":"Personal Allowance","unit":"GBP/year","period":"2026-27","verifiedDate":"2026-10-04","hash":"` +
		hash(allowance, current) + `","aliases":["uk/pa","uk/personal-allowance"]}`
	fee := `{"key":"uk/passport/fee","label":"Adult passport","unit":null,"period":null,"verifiedDate":"2026-01-15","hash":"` + hash("uk/passport/fee", current) + `"}`
	starter := `{"key":"uk-sct/income-tax/starter-rate","label":"Starter rate of income tax","unit":"%","period":"2026-27","verifiedDate":"2026-10-20","hash":"` +
		hash("uk-sct/income-tax/starter-rate", current) + `"}`
	for _, row := range []struct{ namespace, want string }{
		{"uk", head + `,"count":4,"generated":"2026-10-20","namespace":"uk","facts":[` + starter + `,` + bank + `,` + pa + `,` + fee + `]}`},
		{"uk-sct", head + `,"count":1,"generated":"2026-10-20","namespace":"uk-sct","facts":[` + starter + `]}`},
		{"fr", head + `,"count":0,"generated":"2026-11-20","namespace":"fr","facts":[]}`},
	} {
		if got := index(t, s, row.namespace, factstest.Today); got != row.want {
			t.Errorf("%s:\n got %s\nwant %s", row.namespace, got, row.want)
		}
	}
	whole := index(t, s, "", factstest.Today)
	for _, part := range []string{
		`"key":"zz-smp/ended/figure","label":"Figure with a gap","unit":"EUR","period":"2025","verifiedDate":"2026-11-01","hash":"` +
			hash("zz-smp/ended/figure", asOf("2025-06-01")) + `","inForce":false}`,
		`"hash":"` + hash("zz-smp/withdrawn/undated", current) + `","withdrawn":"2026-06-03"}`,
	} {
		if !strings.Contains(whole, part) {
			t.Errorf("no %s in\n%s", part, whole)
		}
	}
	var refused *facts.ParameterError
	if err := s.WriteIndex(&bytes.Buffer{}, "\xff", factstest.Today); !errors.As(err, &refused) {
		t.Errorf("a namespace that is not UTF-8: %v", err)
	}
}

// TestIndexForms: the document, the iterator and the answers agree on every day.
func TestIndexForms(t *testing.T) {
	ds := factstest.Generate(factstest.Options{Facts: 400, Seed: 3, Values: 4, Unsigned: true})
	s := factstest.Snapshot(ds)
	for _, day := range []facts.Date{factstest.Day("2020-06-01"), factstest.Day("2025-04-05"), factstest.Today, factstest.Day("2030-01-01")} {
		var document struct {
			Count     int
			Generated facts.Date
			Facts     []struct {
				Key, Label    string
				Unit, Period  *string
				VerifiedDate  facts.Date
				Hash          string
				Aliases       []string
				Withdrawn     facts.Date
				InForce       *bool
				Value, Source any
			}
		}
		body := index(t, s, "", day)
		if err := jcs.Check([]byte(body)); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(body), &document); err != nil {
			t.Fatal(err)
		}
		entries := slices.Collect(s.Index("", day))
		if document.Count != len(ds.Facts) || len(document.Facts) != document.Count || len(entries) != document.Count {
			t.Fatalf("%s: count %d, %d entries, %d yielded", day, document.Count, len(document.Facts), len(entries))
		}
		newest := facts.Date(0)
		for i, e := range entries {
			d := document.Facts[i]
			text := func(s *string) string {
				if s == nil {
					return ""
				}
				return *s
			}
			got := facts.IndexEntry{Key: d.Key, Label: d.Label, Unit: text(d.Unit), Period: text(d.Period), Hash: d.Hash, Verified: d.VerifiedDate,
				Aliases: d.Aliases, Withdrawn: d.Withdrawn, InForce: d.InForce == nil, Value: e.Value}
			if !reflect.DeepEqual(got, e) {
				t.Errorf("%s: document %+v, iterator %+v", day, got, e)
			}
			newest = max(newest, e.Verified)
			a := get(t, s, e.Key, current, day)
			if held := a.Outcome == facts.OutcomeRecord; held != e.InForce || held && (a.Hash != e.Hash || a.Verified != e.Verified) {
				t.Errorf("%s on %s: the index and get disagree", e.Key, day)
			}
		}
		if document.Generated != newest {
			t.Errorf("%s: generated %s, newest %s", day, document.Generated, newest)
		}
	}
}

// countingWriter notes the largest single write.
type countingWriter struct{ total, largest int }

func (w *countingWriter) Write(p []byte) (int, error) {
	w.total += len(p)
	w.largest = max(w.largest, len(p))
	return len(p), nil
}

// TestIndexStreams: memory does not grow with the index, and a failing writer ends it.
func TestIndexStreams(t *testing.T) {
	s := factstest.Snapshot(factstest.Generate(factstest.Options{Facts: 5000, Seed: 1, Unsigned: true}))
	var w countingWriter
	allocations := testing.AllocsPerRun(1, func() {
		w = countingWriter{}
		if err := s.WriteIndex(&w, "", factstest.Today); err != nil {
			t.Fatal(err)
		}
	})
	if w.largest > 64<<10 || allocations > 20 {
		t.Errorf("largest write %d bytes of %d, %v allocations", w.largest, w.total, allocations)
	}
	if err := s.WriteIndex(failingWriter{}, "", factstest.Today); !errors.Is(err, errWrite) {
		t.Errorf("error %v", err)
	}
}

var errWrite = errors.New("no room")

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errWrite }

// TestBatch covers F§5.2: order, duplicates, misses, status.
func TestBatch(t *testing.T) {
	s := factstest.Snapshot(factstest.Sample())
	keys := []string{"uk/bank-rate", allowance, "zz-smp/none/here", "uk/bank-rate", "zz-smp/ended/figure"}
	b, err := s.Batch(keys, facts.Selection{MaxAge: 45}, factstest.Today)
	if err != nil {
		t.Fatal(err)
	}
	if b.Status != "stale" || b.Misses != 2 || len(b.Answers) != 5 {
		t.Errorf("status %s, %d misses, %d answers", b.Status, b.Misses, len(b.Answers))
	}
	want := `{"protocol":"verified-facts/0.2","publisher":{"name":"Example Figures (sample)","url":"https://figures.example/"},"count":5,"results":[`
	for i, key := range keys {
		if i > 0 {
			want += ","
		}
		a := get(t, s, key, facts.Selection{MaxAge: 45}, factstest.Today)
		want += string(a.AppendJSON(nil))
	}
	want += `],"status":"stale","misses":2}`
	if got := string(b.AppendJSON(nil)); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	fresh, err := s.Batch([]string{"zz-smp/none/here"}, facts.Selection{MaxAge: 0}, factstest.Today)
	if err != nil || fresh.Status != "fresh" { // S21
		t.Errorf("a batch without a record: %v, %v", fresh.Status, err)
	}
	one, err := s.Batch([]string{"uk/bank-rate"}, current, factstest.Today)
	if err != nil || strings.Contains(string(one.AppendJSON(nil)), "misses") {
		t.Errorf("misses in a batch without one: %v", err)
	}
}

// TestBatchBounds: nothing is truncated (T17).
func TestBatchBounds(t *testing.T) {
	s := factstest.Snapshot(factstest.Sample())
	many := slices.Repeat([]string{"uk/bank-rate"}, 51)
	for _, keys := range [][]string{nil, {}, {""}, {"uk/bank-rate", " "}, many, {strings.Repeat("k", 401)}, {"\xff"}} {
		_, err := s.Batch(keys, current, factstest.Today)
		var refused *facts.ParameterError
		if !errors.As(err, &refused) || refused.Parameter != "keys" {
			t.Errorf("Batch(%.60q): %v", keys, err)
		}
		list := strings.Join(keys, ",")
		if _, err := facts.SplitKeys(list, "key"); !errors.As(err, &refused) || refused.Parameter != "key" {
			t.Errorf("SplitKeys(%.60q): %v", list, err)
		}
	}
	if b, err := s.Batch(many[:50], current, factstest.Today); err != nil || len(b.Answers) != 50 {
		t.Errorf("50 keys: %v", err)
	}
	if keys, err := facts.SplitKeys("a/b,c/d", "keys"); err != nil || !slices.Equal(keys, []string{"a/b", "c/d"}) {
		t.Errorf("SplitKeys: %v, %v", keys, err)
	}
}

// TestText fixes the lines of F§3.3; the digits are those of the JSON form (T16).
func TestText(t *testing.T) {
	s := factstest.Snapshot(factstest.Sample())
	for _, row := range []struct {
		key  string
		sel  facts.Selection
		want string
	}{
		{allowance, current, "12570 GBP/year (2026-27, from 2026-04-06 to 2027-04-05) verified 2026-10-04 stale https://www.gov.uk/income-tax-rates\n"},
		{allowance, facts.Selection{MaxAge: 60}, "12570 GBP/year (2026-27, from 2026-04-06 to 2027-04-05) verified 2026-10-04 fresh https://www.gov.uk/income-tax-rates\n"},
		{"uk/bank-rate", facts.Selection{MaxAge: 60}, "3.75 % (from 2025-12-18) verified 2026-10-20 fresh " + bankPage + "\n"},
		{"uk/bank-rate", facts.Selection{MaxAge: 1, AsOf: factstest.Day("2025-06-01")}, "4.25 % (from 2025-05-08 to 2025-08-06) verified 2025-06-30 stale " + bankPage + "\n"},
		{"zz-smp/ended/figure", period("2025"), "8.145 EUR (2025, from 2025-01-01 to 2025-12-31) verified 2026-11-01 fresh https://authority.example/figures\n"},
		{"uk/passport/fee", current, "£102 (online) verified 2026-01-15 fresh https://www.gov.uk/passport-fees\n"},
		{"zz-smp/version/18.19", current, "true verified 2026-11-01 fresh (converted, not re-read) https://authority.example/figures\n"},
		{"zz-smp/withdrawn/undated", current, "withdrawn 2026-06-03 EUR (2025) verified 2026-06-03 fresh https://authority.example/figures\n"},
		{"zz-smp/ended/figure", current, "not held zz-smp/ended/figure; held: 2027, 2025, 2023\n"},
		{"uk/bank-rate", asOf("2020-01-01"), "not held uk/bank-rate; held: 2025-12-18.., 2025-08-07..2025-12-17, 2025-05-08..2025-08-06\n"},
		{"zz-smp/split/duty", period("2026"), "not held zz-smp/split/duty; held: 2026-07-01.., 2026-01-01..2026-06-30\n"},
		{"us/wage\nbase", current, "unknown key us/wage base\n"},
	} {
		a := get(t, s, row.key, row.sel, factstest.Today)
		if got := string(a.AppendText(nil)); got != row.want {
			t.Errorf("%s %+v:\n got %q\nwant %q", row.key, row.sel, got, row.want)
		}
	}
	a := get(t, s, "personal allowance 2024", current, factstest.Today)
	if got := string(a.AppendText(nil)); !strings.HasPrefix(got, "unknown key personal allowance 2024; try: "+allowance) {
		t.Errorf("got %q", got)
	}
	b, err := s.Batch([]string{allowance, "us/wage\nbase", "gb/bank-rate", "zz-smp/ended/figure"}, period("2026-27"), factstest.Today)
	if err != nil {
		t.Fatal(err)
	}
	want := "12570 GBP/year (2026-27, from 2026-04-06 to 2027-04-05) verified 2026-10-04 stale https://www.gov.uk/income-tax-rates\n" +
		"miss us/wage base: unknown key\nmiss gb/bank-rate: period not held\nmiss zz-smp/ended/figure: period not held\n"
	if got := string(b.AppendText(nil)); got != want {
		t.Errorf("batch:\n got %q\nwant %q", got, want)
	}
	static, err := facts.NewSnapshot(factstest.Sample(), facts.Options{Origin: factstest.Origin, Conformance: "L1", Static: true})
	if err != nil {
		t.Fatal(err)
	}
	a = get(t, static, "uk/passport/fee", current, factstest.Today)
	if got := string(a.AppendText(nil)); got != "£102 (online) verified 2026-01-15 https://www.gov.uk/passport-fees\n" {
		t.Errorf("static: %q", got)
	}
}

const bankPage = "https://www.bankofengland.co.uk/monetary-policy/the-interest-rate-bank-rate"

// TestTextShowsTheDigitsOfJSON: for every generated value, text and JSON say the same (T16), on one line.
func TestTextShowsTheDigitsOfJSON(t *testing.T) {
	s := factstest.Snapshot(factstest.Generate(factstest.Options{Facts: 500, Seed: 8, Unsigned: true}))
	for key := range s.Keys() {
		a := get(t, s, key, facts.Selection{MaxAge: facts.NoMaxAge, AsOf: factstest.Day("2026-03-01")}, factstest.Today)
		if a.Outcome != facts.OutcomeRecord {
			continue
		}
		_, v := a.Value()
		text := string(a.AppendText(nil))
		digits := strings.Trim(string(v.Value), `"`)
		if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") || v.Withdrawn.IsZero() && !strings.HasPrefix(text, digits+" ") {
			t.Errorf("%s: value %s, text %q", key, v.Value, text)
		}
	}
}

// seedExample is the record at the head of the protocol, with a signature of its length.
func seedExample() *facts.Dataset {
	ds := &facts.Dataset{
		Publisher:  facts.Publisher{Name: "Data Butler", URL: "https://databutler.dev/"},
		Namespaces: []facts.Namespace{{Name: "uk", Description: "United Kingdom"}},
		Areas:      []facts.Area{{Name: "uk-rates", Namespace: "uk", EveryDays: 45, GraceDays: 7}},
		Topics:     []facts.Topic{{Prefix: "uk/income-tax", Title: "Income Tax", Area: "uk-rates"}},
		Facts: []facts.Fact{{Key: allowance, Label: "Personal Allowance", Values: []facts.DatedValue{
			{Value: "12570", Unit: "GBP/year", Period: "2026-27", From: factstest.Day("2026-04-06"), Source: "https://www.gov.uk/income-tax-rates",
				Quote:    "The standard Personal Allowance is £12,570, which is the amount of income you do not have to pay tax on.",
				Verified: factstest.Day("2026-10-04")},
		}}},
	}
	factstest.Sign(ds)
	return ds
}

// TestSizes holds the budgets of F§15.
func TestSizes(t *testing.T) {
	s, err := facts.NewSnapshot(seedExample(), facts.Options{Origin: "https://databutler.dev", Conformance: "L3"})
	if err != nil {
		t.Fatal(err)
	}
	a := get(t, s, allowance, facts.Selection{MaxAge: 30}, factstest.Day("2026-10-12"))
	if n := len(a.AppendJSON(nil)); n > 1126 {
		t.Errorf("the protocol's example takes %d bytes, over 1126", n)
	} else {
		t.Logf("record: %d bytes", n)
	}
	generated := factstest.Snapshot(factstest.Generate(factstest.Options{Facts: 1000, Seed: 5, Values: 2}))
	size, aliases := len(index(t, generated, "", factstest.Today)), 0
	for e := range generated.Index("", factstest.Today) {
		if len(e.Aliases) > 0 {
			aliases += len(fmt.Sprintf(`,"aliases":["%s"]`, strings.Join(e.Aliases, `","`)))
		}
	}
	if average := (size - aliases) / generated.Len(); average > 230 {
		t.Errorf("an index entry takes %d bytes on average, over 230", average)
	} else {
		t.Logf("index entry: %d bytes", average)
	}
	var keys []string
	for key := range generated.Keys() {
		if keys = append(keys, key); len(keys) == facts.MaxBatch {
			break
		}
	}
	b, err := generated.Batch(keys, current, factstest.Today)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(b.AppendJSON(nil)); n > 60<<10 {
		t.Errorf("a batch of 50 takes %d bytes, over 60 KiB", n)
	} else {
		t.Logf("batch of 50: %d bytes", n)
	}
}
