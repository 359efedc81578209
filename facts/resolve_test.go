package facts_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"sayso/facts"
)

// catalogue reads testdata/resolve-catalogue.json.
func catalogue(t failer) facts.RankerInput {
	t.Helper()
	data, err := os.ReadFile("testdata/resolve-catalogue.json")
	if err != nil {
		t.Fatal(err)
	}
	var in struct {
		Namespaces        []string
		Topics            []facts.RankerTopic
		StopWords         []string
		JurisdictionWords map[string]string
		Facts             []facts.RankerEntry
	}
	if err := json.Unmarshal(data, &in); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(in.Facts, func(a, b facts.RankerEntry) int { return strings.Compare(a.Key, b.Key) })
	return facts.RankerInput{
		Entries: in.Facts, Namespaces: in.Namespaces, Topics: in.Topics,
		StopWords: in.StopWords, JurisdictionWords: in.JurisdictionWords, AliasClasses: facts.DefaultAliasClasses(),
	}
}

// failer is what a helper needs of *testing.T and *rapid.T.
type failer interface {
	Helper()
	Fatal(...any)
}

func newRanker(t failer, in facts.RankerInput) *facts.Ranker {
	t.Helper()
	r, err := facts.NewRanker(in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// F§6: the 54 labelled questions, their top lists and what auto-resolves.
func TestResolveCases(t *testing.T) {
	in := catalogue(t)
	r := newRanker(t, in)
	data, err := os.ReadFile("testdata/resolve-cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	cases := 0
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); cases++ {
		var c struct {
			Q    string
			Auto *string
			Want *string
			Top  [][2]any
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		t.Run(c.Q, func(t *testing.T) {
			got := r.Rank(c.Q, "", 20)
			auto := ""
			if got.Best {
				auto = in.Entries[got.Hits[0].Entry].Key
			}
			want := ""
			if c.Auto != nil {
				want = *c.Auto
			}
			if auto != want {
				t.Errorf("auto-resolves to %q, want %q", auto, want)
			}
			var top, wantTop []string
			for _, h := range got.Hits[:min(3, len(got.Hits))] {
				top = append(top, fmt.Sprint(h.Score, " ", in.Entries[h.Entry].Key))
			}
			for _, h := range c.Top {
				wantTop = append(wantTop, fmt.Sprint(h[0], " ", h[1]))
			}
			if !slices.Equal(top, wantTop) {
				t.Errorf("top\n%s\nwant\n%s", strings.Join(top, "\n"), strings.Join(wantTop, "\n"))
			}
		})
	}
	if cases != 54 {
		t.Errorf("%d cases, want 54", cases)
	}
}

// F§6.7: the visible examples, with what matched.
func TestResolveVisibleTable(t *testing.T) {
	in := catalogue(t)
	r := newRanker(t, in)
	for _, c := range []struct {
		q    string
		best bool
		top  []string // score key matched...
		hint string
	}{
		{"federal wage base", true, []string{"900 us/social-security/wage-base key:wage key:base"}, ""},
		{"US minimum wage", false, []string{"790 us-ca/minimum-wage/hourly key:minimum key:wage"}, ""},
		{"us/minimum-wage/hourly", false, []string{"790 us-ca/minimum-wage/hourly key:minimum key:wage key:hourly"}, ""},
		{"us-ca/minimum-wage", true, []string{"900 us-ca/minimum-wage/hourly key:minimum key:wage"}, ""},
		{"primary threshhold", false, []string{"550 uk/national-insurance/primary-threshold key:primary typo:threshhold~threshold"}, ""},
		{"wage base 2025", false, []string{"466 us/social-security/wage-base key:wage key:base"}, "pass period=2025"},
		{"tell us the base rate", true, []string{"900 uk/bank-rate synonym:base rate"}, ""},
		{"bank rate", true, []string{"900 uk/bank-rate key:bank key:rate", "675 eu/ecb/deposit-facility topic:bank label:rate",
			"675 eu/ecb/main-refinancing topic:bank label:rate"}, ""},
		{"child passport", true, []string{"900 uk/gov/passport-renewal-child/fee-online-uk key:child key:passport",
			"350 uk/gov/passport-renewal-adult/fee-online-uk key:passport"}, ""},
		{"french minimum wage", false, []string{"450 de/minimum-wage/mindestlohn key:minimum key:wage"}, ""},
		{"NI threshold", false, []string{"900 uk/national-insurance/primary-threshold synonym:ni key:threshold",
			"900 uk/national-insurance/secondary-threshold synonym:ni key:threshold"}, "several keys fit"},
	} {
		t.Run(c.q, func(t *testing.T) {
			got := r.Rank(c.q, "", 5)
			if got.Best != c.best {
				t.Errorf("resolves: %v, want %v", got.Best, c.best)
			}
			for i, want := range c.top {
				if i >= len(got.Hits) {
					t.Fatalf("only %d hits, want %s", len(got.Hits), want)
				}
				h := got.Hits[i]
				if line := fmt.Sprint(h.Score, " ", in.Entries[h.Entry].Key, " ", strings.Join(h.Matched, " ")); line != want {
					t.Errorf("hit %d: %s, want %s", i, line, want)
				}
			}
			if !strings.HasPrefix(got.Hint, c.hint) || c.best && got.Hint != "" {
				t.Errorf("hint %q, want %q", got.Hint, c.hint)
			}
		})
	}
}

// F§6.3: what a query is read as, seen through what it finds.
func TestResolveReading(t *testing.T) {
	in := catalogue(t)
	r := newRanker(t, in)
	for _, c := range []struct{ name, q, key string }{
		{"pronoun after let", "let us know the base rate", "uk/bank-rate"},
		{"country in capitals after tell", "tell US the base rate", ""},
		{"country after another word", "for us wage base", "us/social-security/wage-base"},
		{"possessive", "the UK's personal allowance", ""}, // uks is no jurisdiction word but a unit
		{"no-break hyphen", "uk/income\u2011tax/personal\u2011allowance", "uk/income-tax/personal-allowance"},
		{"decomposed", "Grundfreibetra\u0067", "de/income-tax/grundfreibetrag"},
		{"upper case", "PERSONAL ALLOWANCE", "uk/income-tax/personal-allowance"},
		{"leading slash", "/uk/tax/personal-allowance", "uk/income-tax/personal-allowance"},
		{"gb path", "gb/tax/personal-allowance", "uk/income-tax/personal-allowance"},
		{"gb part", "gb-sct/income-tax/higher-rate", "uk-sct/income-tax/higher-rate"},
		{"class alias", "uk-rates:income-tax/personal-allowance", "uk/income-tax/personal-allowance"},
		{"subdivision drops its country", "us california minimum wage", "us-ca/minimum-wage/hourly"},
		{"stop phrase", "personal allowance this tax year", "uk/income-tax/personal-allowance"},
		{"facts prefix", "https://example.org/facts/uk/tax/personal-allowance#x", "uk/income-tax/personal-allowance"},
		{"repeated unit", "wage wage base", "us/social-security/wage-base"},
		{"two-letter ISO codes are no words", "is it no personal allowance", ""}, // "no" is an unmatched unit
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			if ranking := r.Rank(c.q, "", 5); ranking.Best {
				got = in.Entries[ranking.Hits[0].Entry].Key
			}
			if got != c.key {
				t.Errorf("%q resolves to %q, want %q", c.q, got, c.key)
			}
		})
	}
}

// F§6.4: the namespace filter.
func TestResolveNamespace(t *testing.T) {
	in := catalogue(t)
	r := newRanker(t, in)
	keys := func(q, namespace string) (keys []string) {
		for _, h := range r.Rank(q, namespace, 20).Hits {
			keys = append(keys, in.Entries[h.Entry].Key)
		}
		return keys
	}
	if got := keys("minimum wage", "us"); !slices.Equal(got, []string{"us-ca/minimum-wage/hourly", "us/social-security/wage-base"}) {
		t.Errorf("us: %v", got)
	}
	if got := keys("higher rate", "uk-sct"); !slices.Equal(got, []string{"uk-sct/income-tax/higher-rate", "uk-sct/income-tax/starter-rate"}) {
		t.Errorf("uk-sct: %v", got)
	}
	if got := keys("uk/bank-rate", "us"); slices.Contains(got, "uk/bank-rate") {
		t.Errorf("an exact key outside the namespace is listed: %v", got)
	}
	ranking := r.Rank("wage", "zz", 5)
	if len(ranking.Hits) > 0 || ranking.Best || !strings.Contains(ranking.Hint, "uk-sct") {
		t.Errorf("unknown namespace: %+v", ranking)
	}
}

// F§6.2 rule 5, seen through the vocabulary: singular and plural meet.
func TestResolveStemmer(t *testing.T) {
	for _, c := range []struct{ held, asked string }{
		{"allowance", "allowances"}, {"penalty", "penalties"}, {"class", "classes"}, {"tax", "taxes"}, {"waltz", "waltzes"},
		{"match", "matches"}, {"wish", "wishes"}, {"bonus", "bonus"}, {"basis", "basis"}, {"tie", "ties"}, {"gas", "gas"}, {"co2s1", "co2s1"},
	} {
		r := newRanker(t, facts.RankerInput{Entries: []facts.RankerEntry{{Key: "aa/bb", Label: c.held}}})
		if got := r.Rank(c.asked, "", 1); len(got.Hits) != 1 || got.Hits[0].Score != 900 {
			t.Errorf("%q does not find %q: %+v", c.asked, c.held, got)
		}
	}
}

// F§6.4: which words may be misspelt, and how far.
func TestResolveTypos(t *testing.T) {
	for _, c := range []struct {
		held, asked string
		score       int
	}{
		{"threshold", "threshhold", 400},
		{"threshold", "treshhold", 400},
		{"threshold", "treshholt", 0}, // three edits
		{"rate", "rato", 400},
		{"rate", "raot", 0},     // four letters: one edit, and a transposition is two
		{"vat", "vax", 0},       // three letters
		{"rates", "rat", 0},     // the asked word is too short
		{"1995ab", "1995ac", 0}, // digits
		{"façade", "facade", 400},
		{"über", "uber", 400},
	} {
		r := newRanker(t, facts.RankerInput{Entries: []facts.RankerEntry{{Key: "q1/q2", Label: c.held}}})
		got := 0
		if ranking := r.Rank(c.asked, "", 1); len(ranking.Hits) > 0 {
			got = ranking.Hits[0].Score
		}
		if got != c.score {
			t.Errorf("%q for %q: %d, want %d", c.asked, c.held, got, c.score)
		}
	}
}

func TestNewRankerRefuses(t *testing.T) {
	for _, keys := range [][]string{{"b/b", "a/a"}, {"a/a", "a/a"}} {
		in := facts.RankerInput{Entries: []facts.RankerEntry{{Key: keys[0]}, {Key: keys[1]}}}
		if _, err := facts.NewRanker(in); err == nil || !strings.Contains(err.Error(), keys[1]) {
			t.Errorf("%v: %v", keys, err)
		}
	}
	long := facts.RankerInput{Entries: []facts.RankerEntry{{Key: "a/a", Label: strings.Repeat("a ", 4000)}}}
	if _, err := facts.NewRanker(long); err == nil {
		t.Error("a label of 8,000 bytes is indexed")
	}
	r := newRanker(t, facts.RankerInput{})
	if got := r.Rank("anything at all here", "", 5); len(got.Hits) > 0 || got.Best {
		t.Errorf("an empty catalogue answers %+v", got)
	}
	if got := r.Rank(strings.Repeat("a", 401), "", 5); len(got.Hits) > 0 {
		t.Errorf("a question of 401 characters answers %+v", got)
	}
}

// What is published must be the caller's own copy: changing it may not change the defaults.
func TestDefaultListsAreCopies(t *testing.T) {
	facts.DefaultStopWords()[0] = "changed"
	facts.DefaultJurisdictionWords()["uk"] = "changed"
	if facts.DefaultStopWords()[0] != "a" || facts.DefaultJurisdictionWords()["uk"] != "uk" {
		t.Error("the default lists are shared")
	}
	in := catalogue(t)
	if words := facts.DefaultStopWords(); !slices.Equal(slices.Sorted(slices.Values(words)), slices.Sorted(slices.Values(in.StopWords))) {
		t.Errorf("stop words differ from the catalogue's: %q", words)
	}
	for phrase, namespace := range in.JurisdictionWords {
		if facts.DefaultJurisdictionWords()[phrase] != namespace {
			t.Errorf("jurisdiction word %q is not %q", phrase, namespace)
		}
	}
}
