package facts_test

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sayso/facts"
	"sayso/facts/factstest"
)

var served = facts.Options{Origin: factstest.Origin, Conformance: "L3"}

// fact finds a fact of a dataset for a test to damage.
func fact(t *testing.T, ds *facts.Dataset, key string) *facts.Fact {
	t.Helper()
	for i := range ds.Facts {
		if ds.Facts[i].Key == key {
			return &ds.Facts[i]
		}
	}
	t.Fatalf("the dataset has no key %s", key)
	return nil
}

const allowance = "uk/income-tax/personal-allowance"

// TestNewSnapshotRefuses damages the sample in one way at a time. Unless a row says otherwise the values are signed again afterwards, so that it is the
// damage that is refused and not the signature.
func TestNewSnapshotRefuses(t *testing.T) {
	value := func(ds *facts.Dataset, key string, i int) *facts.DatedValue { return &fact(t, ds, key).Values[i] }
	rows := []struct {
		name   string
		keep   bool // keep the signatures as they were
		damage func(ds *facts.Dataset)
		want   string
	}{
		{"F§2.1 duplicate key", false, func(ds *facts.Dataset) { ds.Facts = slices.Insert(ds.Facts, 1, ds.Facts[0]) }, "stands twice"},
		{"F§2.1 unsorted", false, func(ds *facts.Dataset) { slices.Reverse(ds.Facts) }, "not sorted"},
		{"F§2.1 grammar", false, func(ds *facts.Dataset) { ds.Facts[0].Key = "eu/ECB" }, "eu/ECB"},
		{"F§2.1 namespace undeclared", false, func(ds *facts.Dataset) { ds.Namespaces = ds.Namespaces[1:] }, `namespace "eu" is not declared`},
		{"F§2.1 subdivision undeclared", false, func(ds *facts.Dataset) { ds.Namespaces = slices.Delete(ds.Namespaces, 2, 3) }, `"uk-sct" is not declared`},
		{"area undeclared", false, func(ds *facts.Dataset) { ds.Areas = ds.Areas[1:] }, `area "policy-rates" is not declared`},
		{"topic out of range", false, func(ds *facts.Dataset) { ds.Facts[0].Topic = 99 }, "topic index"},
		{"F§2.2 alias is a key", false, func(ds *facts.Dataset) { fact(t, ds, allowance).Aliases = []string{"uk/bank-rate"} }, "is itself a key"},
		{"F§2.2 alias with two targets", false, func(ds *facts.Dataset) { fact(t, ds, "uk/bank-rate").Aliases = []string{"uk/pa"} }, "given twice"},
		{"F§2.2 alias against gb class", false, func(ds *facts.Dataset) { fact(t, ds, allowance).Aliases = []string{"gb/bank-rate"} }, "alias class"},
		{"F§2.2 alias against changelog class", false, func(ds *facts.Dataset) {
			fact(t, ds, allowance).Aliases = []string{"policy-rates:bank-rate"}
		}, "alias class"},
		{"F§2.2 alias grammar", false, func(ds *facts.Dataset) { fact(t, ds, allowance).Aliases = []string{"UK/PA"} }, "UK/PA"},
		{"F§2.2 one changelog name for two facts", false, func(ds *facts.Dataset) {
			f := *fact(t, ds, "uk-sct/income-tax/starter-rate")
			f.Key, f.Values, f.Topic = "uk/income-tax/starter-rate", slices.Clone(f.Values), fact(t, ds, allowance).Topic
			ds.Facts = append(ds.Facts, f)
			slices.SortFunc(ds.Facts, func(a, b facts.Fact) int { return strings.Compare(a.Key, b.Key) })
		}, "uk-rates:income-tax/starter-rate"},
		{"F§3.1 no value", false, func(ds *facts.Dataset) { ds.Facts[0].Values = nil }, "no value"},
		{"F§3.1 label", false, func(ds *facts.Dataset) { ds.Facts[0].Label = strings.Repeat("é", 121) }, "label is over 120"},
		{"F§3.1 label with a line end", false, func(ds *facts.Dataset) { ds.Facts[0].Label = "a\nb" }, "line end"},
		{"F§3.1 no verifiedDate", false, func(ds *facts.Dataset) { value(ds, allowance, 0).Verified = 0 }, "verifiedDate"},
		{"F§3.1 source http", false, func(ds *facts.Dataset) { value(ds, allowance, 0).Source = "http://www.gov.uk/" }, "https"},
		{"F§3.1 sourceType", false, func(ds *facts.Dataset) { value(ds, allowance, 0).SourceType = "hearsay" }, "hearsay"},
		{"F§3.1 quote", false, func(ds *facts.Dataset) { value(ds, allowance, 0).Quote = strings.Repeat("q", 501) }, "quote is over 500"},
		{"F§3.1 scope", false, func(ds *facts.Dataset) { fact(t, ds, allowance).Scope = strings.Repeat("s", 201) }, "scope is over 200"},
		{"F§3.1 scope not UTF-8", false, func(ds *facts.Dataset) { fact(t, ds, allowance).Scope = "\xff" }, "scope is not UTF-8"},
		{"F§3.1 no label", false, func(ds *facts.Dataset) { ds.Facts[0].Label = "" }, "label is empty"},
		{"F§3.1 unit with a line end", false, func(ds *facts.Dataset) { value(ds, allowance, 0).Unit = "GBP\u2028" }, "unit contains"},
		{"F§3.1 source over 2,048 bytes", false, func(ds *facts.Dataset) {
			value(ds, allowance, 0).Source = "https://" + strings.Repeat("s", 2048)
		}, "source is over 2048"},
		{"F§3.1 source with a space", false, func(ds *facts.Dataset) { value(ds, allowance, 0).Source = "https://x/a b" }, "space"},
		{"F§3.1 quote not UTF-8", false, func(ds *facts.Dataset) { value(ds, allowance, 0).Quote = "\xff" }, "quote is not UTF-8"},
		{"F§3.4 previous without source", false, func(ds *facts.Dataset) { fact(t, ds, "eu/ecb/deposit-rate").Previous.Source = "" }, "previous: source"},
		{"F§3.4 previous not canonical", false, func(ds *facts.Dataset) { fact(t, ds, "eu/ecb/deposit-rate").Previous.Value = "2.0" }, "previous: value"},
		{"F§3.4 previous period", false, func(ds *facts.Dataset) { fact(t, ds, "eu/ecb/deposit-rate").Previous.Period = "\n" }, "previous: period"},
		{"F§5.4 reason without withdrawal", false, func(ds *facts.Dataset) { value(ds, allowance, 0).WithdrawnReason = "x" }, "withdrawn fact"},
		{"F§7.4 revoked is no date", true, func(ds *facts.Dataset) { ds.Keys.Keys[0].Revoked = "soon" }, "revoked"},
		{"F§8.1 nine examples", true, func(ds *facts.Dataset) { ds.Examples = slices.Repeat([]string{"uk/bank-rate"}, 9) }, "9 examples"},
		{"namespace declared twice", true, func(ds *facts.Dataset) { ds.Namespaces = append(ds.Namespaces, ds.Namespaces[0]) }, "declared twice"},
		{"area declared twice", true, func(ds *facts.Dataset) { ds.Areas = append(ds.Areas, ds.Areas[0]) }, "declared twice"},
		{"area with a colon", true, func(ds *facts.Dataset) { ds.Areas = append(ds.Areas, facts.Area{Name: "a:b"}) }, "colon"},
		{"F§3.1 supersededBy unknown", false, func(ds *facts.Dataset) {
			value(ds, "zz-smp/withdrawn/undated", 0).SupersededBy = "zz-smp/nothing/here"
		}, "zz-smp/nothing/here"},
		{"F§3.2 value not canonical", true, func(ds *facts.Dataset) { value(ds, allowance, 0).Value = "1.0" }, "canonical"},
		{"F§3.2 value not JSON", true, func(ds *facts.Dataset) { value(ds, allowance, 0).Value = `12570,"key":"x"` }, "value"},
		{"F§3.2 two JSON types", false, func(ds *facts.Dataset) { value(ds, allowance, 1).Value = `"12570"` }, "one JSON type"},
		{"F§3.2 record over 8 KiB", false, func(ds *facts.Dataset) {
			value(ds, "uk/passport/fee", 0).Value = facts.StringValue(strings.Repeat("v", 4000))
			value(ds, "uk/passport/fee", 0).SourceFile = "https://" + strings.Repeat("f", 2000)
			value(ds, "uk/passport/fee", 0).Source = "https://" + strings.Repeat("s", 2000)
		}, "8192"},
		{"F§4.3 same first day", false, func(ds *facts.Dataset) { value(ds, "uk/bank-rate", 1).From = value(ds, "uk/bank-rate", 0).From }, "same day"},
		{"F§4.3 not newest first", false, func(ds *facts.Dataset) { slices.Reverse(fact(t, ds, "uk/bank-rate").Values) }, "newest first"},
		{"F§4.3 explicit end overlaps", false, func(ds *facts.Dataset) {
			v := value(ds, "uk/bank-rate", 1)
			v.To, v.ToExplicit = factstest.Day("2025-12-18"), true
		}, "overlaps"},
		{"F§4.3 end before start", false, func(ds *facts.Dataset) { value(ds, allowance, 0).To = factstest.Day("2026-04-05") }, "lies before"},
		{"F§4.3 derived end that bridges nothing", false, func(ds *facts.Dataset) { value(ds, "uk/bank-rate", 1).To = factstest.Day("2025-12-01") }, "neither the author's"},
		{"F§5.4 null without withdrawal", false, func(ds *facts.Dataset) { value(ds, allowance, 0).Value = facts.Null }, "exactly when"},
		{"F§5.4 withdrawal with a value", false, func(ds *facts.Dataset) { value(ds, "zz-smp/withdrawn/dated", 0).Value = "7" }, "exactly when"},
		{"F§5.4 withdrawal in the past", false, func(ds *facts.Dataset) {
			v := value(ds, allowance, 1)
			v.Value, v.Withdrawn = facts.Null, v.From
		}, "newest value"},
		{"F§7.3 no signature", true, func(ds *facts.Dataset) { value(ds, allowance, 1).Signature = nil }, "no signature"},
		{"F§7.3 figure changed", true, func(ds *facts.Dataset) { value(ds, allowance, 1).Value = "12571" }, "signature"},
		{"F§7.3 effectiveTo is signed", true, func(ds *facts.Dataset) { value(ds, "uk/bank-rate", 0).To = factstest.Day("2026-12-31") }, "signature"},
		{"F§7.3 publisher is signed", true, func(ds *facts.Dataset) { ds.Publisher.URL += "x" }, "signature"},
		{"F§7.4 unknown kid", true, func(ds *facts.Dataset) { value(ds, allowance, 0).Signature = &facts.Signature{Kid: "zz-2025-01"} }, "zz-2025-01"},
		{"F§7.4 key revoked before", true, func(ds *facts.Dataset) { ds.Keys.Keys[0].Revoked = "2026-10-03" }, "revoked on 2026-10-03"},
		{"F§7.4 no key set", true, func(ds *facts.Dataset) { ds.Keys = nil }, "key set"},
		{"F§8.3 entry of an unknown fact", true, func(ds *facts.Dataset) {
			ds.Changes = []facts.Entry{{Area: "uk-rates", Key: "gone/away", FactKey: "uk/gone/away"}}
		}, `the fact "uk/gone/away"`},
		{"F§8.3 changelog name with two facts", true, func(ds *facts.Dataset) {
			ds.Changes = []facts.Entry{{Area: "policy-rates", Key: "bank-rate", FactKey: allowance}}
		}, "already names uk/bank-rate"},
		{"F§8.1 example is no key", false, func(ds *facts.Dataset) { ds.Examples[0] = "uk/pa" }, `example "uk/pa"`},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			ds := factstest.Sample()
			row.damage(ds)
			if !row.keep {
				factstest.Sign(ds)
			}
			_, err := facts.NewSnapshot(ds, served)
			if err == nil {
				t.Fatal("the damaged dataset was accepted")
			}
			if !strings.Contains(err.Error(), row.want) {
				t.Errorf("the error does not mention %q:\n%v", row.want, err)
			}
		})
	}
}

func TestNewSnapshotRefusesOptions(t *testing.T) {
	for _, o := range []facts.Options{
		{Origin: "https://figures.example/", Conformance: "L2"},
		{Origin: "figures.example", Conformance: "L2"},
		{Origin: "https://user@figures.example", Conformance: "L2"},
		{Origin: "https://figures.example?x", Conformance: "L2"},
		{Origin: "https://figures.example", Conformance: "L4"},
	} {
		if _, err := facts.NewSnapshot(factstest.Sample(), o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
	for _, p := range []facts.Publisher{{}, {Name: "x"}, {Name: "\xff", URL: "https://x/"}, {Name: "x", URL: "https://x/\n"}} {
		ds := factstest.Generate(factstest.Options{Facts: 3, Unsigned: true})
		ds.Publisher = p
		if _, err := facts.NewSnapshot(ds, facts.Options{Origin: factstest.Origin, Conformance: "L2"}); err == nil {
			t.Errorf("publisher %q was accepted", p)
		}
	}
	if _, err := facts.NewSnapshot(factstest.Generate(factstest.Options{Facts: 3, Unsigned: true}), served); err == nil {
		t.Error("L3 was accepted without signatures")
	}
}

// TestRevokedOnTheDay: a value verified on the day of revocation is still valid (S5).
func TestRevokedOnTheDay(t *testing.T) {
	ds := factstest.Sample()
	newest := facts.Date(0)
	for _, f := range ds.Facts {
		for _, v := range f.Values {
			newest = max(newest, v.Verified)
		}
	}
	ds.Keys.Keys[0].Revoked = newest.String()
	if _, err := facts.NewSnapshot(ds, served); err != nil {
		t.Error(err)
	}
}

// TestErrorsCarryPlaces: problems come in dataset order with their places, at most twenty, whatever the number of workers.
func TestErrorsCarryPlaces(t *testing.T) {
	var first string
	for _, workers := range []int{1, 2, 7} {
		ds := factstest.Generate(factstest.Options{Facts: 1000, Seed: 4, Unsigned: true})
		for i := range ds.Facts {
			ds.Facts[i].Values[0].Place = fmt.Sprintf("topics/a.yaml:%d:3", i+1)
			if i%3 == 0 {
				ds.Facts[i].Values[0].Source = "ftp://x"
			}
		}
		_, err := facts.NewSnapshot(ds, facts.Options{Origin: factstest.Origin, Conformance: "L2", Workers: workers})
		if err == nil {
			t.Fatal("accepted")
		}
		lines := strings.Split(err.Error(), "\n")
		if len(lines) != 20 || !strings.HasPrefix(lines[0], "topics/a.yaml:1:3: "+ds.Facts[0].Key+": source") || !strings.HasPrefix(lines[19], "topics/a.yaml:58:3: ") {
			t.Errorf("workers %d: %d lines, first %q, last %q", workers, len(lines), lines[0], lines[len(lines)-1])
		}
		var problem *facts.DatasetError
		if !errors.As(err, &problem) || problem.Place != "topics/a.yaml:1:3" || problem.Key != ds.Facts[0].Key {
			t.Errorf("workers %d: no *DatasetError of the first fact: %+v", workers, problem)
		}
		if first == "" {
			first = err.Error()
		}
		if err.Error() != first {
			t.Errorf("workers %d: another error text than with one worker", workers)
		}
	}
}

// TestNewSnapshotLeavesTheDatasetAlone: the dataset is unchanged, no goroutine stays, and nothing of it is needed afterwards.
func TestNewSnapshotLeavesTheDatasetAlone(t *testing.T) {
	ds, again := factstest.Sample(), factstest.Sample()
	before := runtime.NumGoroutine()
	s := factstest.Snapshot(ds)
	for tries := 0; runtime.NumGoroutine() > before; tries++ { // one that has said it is done may still be leaving
		if tries == 200 {
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
		time.Sleep(5 * time.Millisecond)
	}
	if !reflect.DeepEqual(ds, again) {
		t.Error("NewSnapshot changed the dataset")
	}
	want := answerJSON(t, s, allowance)
	for i := range ds.Facts {
		clear(ds.Facts[i].Values)
		ds.Facts[i] = facts.Fact{}
	}
	clear(ds.Topics)
	clear(ds.Areas)
	clear(ds.Namespaces)
	ds.Examples[0] = "x"
	if got := answerJSON(t, s, allowance); got != want {
		t.Errorf("the answer changed with the dataset: %s", got)
	}
	if s.Info().Examples[0] != allowance || s.Info().Namespaces[0].Name != "eu" || s.Info().Topics[0].Prefix != "eu/ecb" {
		t.Error("Info changed with the dataset")
	}
}

// TestHistoryRestoresTheDataset: what a snapshot decodes is what it was compiled from, but for places.
func TestHistoryRestoresTheDataset(t *testing.T) {
	for _, ds := range []*facts.Dataset{factstest.Sample(), factstest.Generate(factstest.Options{Facts: 300, Seed: 9, Values: 5})} {
		s := factstest.Snapshot(ds)
		for i := range ds.Facts {
			want := &ds.Facts[i]
			got, topic, ok := s.History(want.Key)
			if !ok {
				t.Fatalf("no history of %s", want.Key)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s:\n got %+v\nwant %+v", want.Key, got, want)
			}
			if topic == nil || !reflect.DeepEqual(*topic, ds.Topics[want.Topic]) {
				t.Errorf("%s: topic %+v", want.Key, topic)
			}
		}
		if _, _, ok := s.History("uk/pa"); ok {
			t.Error("an alias has a history")
		}
	}
}

// TestEscapedText: text that JSON has to escape comes back unescaped, and a fact needs neither topic nor area.
func TestEscapedText(t *testing.T) {
	ds := factstest.Sample()
	f := fact(t, ds, allowance)
	f.Label, f.Topic, f.Aliases = `The "Personal" \ Allowance`, -1, []string{"uk/z", "uk/a"}
	v := &f.Values[0]
	v.Unit, v.Period, v.Source, v.NextCheck = `GBP "net"`, `2026\27`, `https://www.gov.uk/?q="pa"`, factstest.Day("2027-01-05")
	ds.SelfCheck = &facts.SelfCheck{Schedule: "weekly"}
	factstest.Sign(ds)
	s := factstest.Snapshot(ds)
	got, topic, _ := s.History(allowance)
	slices.Sort(f.Aliases)
	if !reflect.DeepEqual(got, f) || topic != nil {
		t.Errorf("\n got %+v\nwant %+v", got, f)
	}
	a := get(t, s, allowance, current, factstest.Today)
	if a.Staleness(factstest.Today) != "current" {
		t.Error("NextCheck does not count")
	}
	want := `12570 GBP "net" (2026\27, from 2026-04-06 to 2027-04-05) verified 2026-10-04 fresh https://www.gov.uk/?q="pa"` + "\n"
	if text := string(a.AppendText(nil)); text != want {
		t.Errorf("\n got %s\nwant %s", text, want)
	}
	for e := range s.Index("uk", factstest.Today) {
		if e.Key == allowance && (e.Label != f.Label || e.Unit != v.Unit || e.Period != v.Period || !slices.Equal(e.Aliases, f.Aliases)) {
			t.Errorf("%+v", e)
		}
	}
	if s.Info().SelfCheck == ds.SelfCheck || *s.Info().SelfCheck != *ds.SelfCheck {
		t.Error("selfCheck is shared or lost")
	}
	unknown := get(t, s, "us/wage/base", current, factstest.Today)
	if f, v := unknown.Value(); f.Key != "" || v.Source != "" || unknown.Staleness(1) != "" {
		t.Error("an unknown key has a value")
	}
}

// TestWorkersDoNotShowThrough: the served bytes do not depend on the number of workers.
func TestWorkersDoNotShowThrough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ds := factstest.Generate(factstest.Options{Facts: rapid.IntRange(1, 300).Draw(t, "facts"), Seed: rapid.Uint64().Draw(t, "seed"), Values: 3, Unsigned: true})
		var texts []string
		for _, workers := range []int{1, rapid.IntRange(2, 9).Draw(t, "workers")} {
			s, err := facts.NewSnapshot(ds, facts.Options{Origin: factstest.Origin, Conformance: "L2", Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			var all []byte
			for key := range s.Keys() {
				a, err := s.Get(key, facts.Selection{MaxAge: facts.NoMaxAge}, factstest.Today)
				if err != nil {
					t.Fatal(err)
				}
				all = a.AppendJSON(all)
			}
			texts = append(texts, string(all))
		}
		if texts[0] != texts[1] {
			t.Error("the answers differ")
		}
	})
}

func TestLookup(t *testing.T) {
	ds := factstest.Sample()
	s := factstest.Snapshot(ds)
	for name, want := range map[string]struct {
		key   string
		alias bool
	}{
		allowance:                                 {allowance, false},
		"uk/pa":                                   {allowance, true},
		"gb/income-tax/personal-allowance":        {allowance, true},
		"gb-sct/income-tax/starter-rate":          {"uk-sct/income-tax/starter-rate", true},
		"uk-rates:income-tax/personal-allowance":  {allowance, true},
		"uk-rates:income-tax/starter-rate":        {"uk-sct/income-tax/starter-rate", true},
		"policy-rates:ecb/deposit-rate":           {"eu/ecb/deposit-rate", true},
		"policy-rates:bank-rate":                  {"uk/bank-rate", true},
		"uk-fees:income-tax/personal-allowance":   {},
		"uk-rates:uk/income-tax/personal":         {},
		"gb/pa":                                   {}, // no alias of an alias
		"gbx/income-tax/personal-allowance":       {},
		"UK/pa":                                   {}, // Lookup does not normalise
		":income-tax/personal-allowance":          {},
		"zz-smp/version/18.19":                    {"zz-smp/version/18.19", false},
		"":                                        {},
		"samples:version/18.19":                   {"zz-smp/version/18.19", true},
		"uk-rates:income-tax/personal-allowance:": {},
	} {
		if key, alias := s.Lookup(name); key != want.key || alias != want.alias {
			t.Errorf("Lookup(%q) = %q, %v, want %q, %v", name, key, alias, want.key, want.alias)
		}
	}
	if keys := slices.Collect(s.Keys()); len(keys) != s.Len() || !slices.IsSorted(keys) || s.Len() != len(ds.Facts) {
		t.Errorf("Keys: %v", keys)
	}
}

// TestChangelogNames: the name an entry was published under finds its fact, also when it does not follow the class rule (F§2.2).
func TestChangelogNames(t *testing.T) {
	ds := factstest.Sample()
	ds.Changes = factstest.Changelog(ds)
	for i := range ds.Changes {
		e := &ds.Changes[i]
		if e.Hash, e.PrevHash = "", ""; e.FactKey == "uk/bank-rate" {
			e.Key = "boe/official-rate"
		}
	}
	chain, err := facts.AppendEntries(nil, ds.Changes)
	if err != nil {
		t.Fatal(err)
	}
	ds.Changes = chain
	s := factstest.Snapshot(ds)
	for _, name := range []string{"policy-rates:boe/official-rate", "policy-rates:bank-rate"} {
		if key, alias := s.Lookup(name); key != "uk/bank-rate" || !alias {
			t.Errorf("Lookup(%q) = %q, %v", name, key, alias)
		}
	}
	a := get(t, s, "policy-rates:boe/official-rate", current, factstest.Today)
	if strings.Contains(string(a.AppendJSON(nil)), `"aliases"`) {
		t.Error("a changelog name is listed as an explicit alias")
	}
}

func TestInfo(t *testing.T) {
	info := factstest.Snapshot(factstest.Sample()).Info()
	if info.Count != 10 || info.NamespaceCounts["uk"] != 3 || info.NamespaceCounts["zz-smp"] != 5 || info.NamespaceCounts["uk-sct"] != 1 {
		t.Errorf("counts: %d, %v", info.Count, info.NamespaceCounts)
	}
	if info.Newest.String() != "2026-11-20" || info.Oldest.String() != "2023-11-01" {
		t.Errorf("newest %s, oldest %s", info.Newest, info.Oldest)
	}
	if !slices.IsSorted(info.Sources) || !slices.Contains(info.Sources, "https://www.gov.uk/income-tax-rates/previous") || len(info.Sources) != 7 {
		t.Errorf("sources: %v", info.Sources)
	}
	want := facts.AreaStat{Count: 2, LastVerified: factstest.Day("2026-11-20"), EarliestScheduled: factstest.Day("2026-12-04")}
	if got := info.AreaStats["policy-rates"]; got != want {
		t.Errorf("policy-rates: %+v, want %+v", got, want)
	}
	if got := info.AreaStats["uk-fees"]; got.Count != 1 || !got.EarliestScheduled.IsZero() {
		t.Errorf("uk-fees: %+v", got)
	}
	if info.Keys == nil || !info.Signed || info.Conformance != "L3" {
		t.Error("keys, signed or conformance missing")
	}
}

// TestNextBoundary compares with a search day by day.
func TestNextBoundary(t *testing.T) {
	ds := factstest.Sample()
	s := factstest.Snapshot(ds)
	state := func(day facts.Date) (text string) {
		for e := range s.Index("", day) {
			text += fmt.Sprint(e.Hash, e.InForce)
		}
		return text
	}
	for day := factstest.Day("2025-04-01"); day < factstest.Day("2027-06-01"); day++ {
		next := s.NextBoundary(day)
		if changed := state(day) != state(day+1); changed && next != day+1 {
			t.Errorf("%s: the answers change on the next day, NextBoundary says %s", day, next)
		}
		if !next.IsZero() && next <= day {
			t.Errorf("%s: NextBoundary %s is not after it", day, next)
		}
	}
	if next := s.NextBoundary(factstest.Day("2027-04-06")); !next.IsZero() {
		t.Errorf("after the last boundary: %s", next)
	}
}

// The option leaves out arithmetic only: a missing signature, an unknown key and a revoked key still refuse the dataset.
func TestSignaturesVerifiedStillLooks(t *testing.T) {
	options := facts.Options{Origin: factstest.Origin, Conformance: "L3", SignaturesVerified: true}
	for name, spoil := range map[string]func(*facts.Dataset){
		"missing": func(ds *facts.Dataset) { ds.Facts[0].Values[0].Signature = nil },
		"unknown key": func(ds *facts.Dataset) {
			ds.Facts[0].Values[0].Signature = &facts.Signature{Kid: "zz-1999-01", JWS: "x"}
		},
		"revoked key": func(ds *facts.Dataset) { ds.Keys.Keys[0].Revoked = "2000-01-01" },
	} {
		ds := factstest.Sample()
		spoil(ds)
		if _, err := facts.NewSnapshot(ds, options); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := facts.NewSnapshot(factstest.Sample(), options); err != nil {
		t.Error(err)
	}
}
