package facts_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sayso/facts"
	"sayso/jcs"
)

// catalogueDataset gives the 35 keys of the catalogue a value each. Explicit aliases that a class gives anyway are left out.
func catalogueDataset(t *testing.T) *facts.Dataset {
	in := catalogue(t)
	ds := &facts.Dataset{
		Publisher:         facts.Publisher{Name: "Sample", URL: "https://facts.example/"},
		Areas:             []facts.Area{{Name: "uk-rates", Namespace: "uk"}, {Name: "us-rates", Namespace: "us"}},
		JurisdictionWords: map[string]string{"californian": "us-ca"},
	}
	for _, n := range in.Namespaces {
		ds.Namespaces = append(ds.Namespaces, facts.Namespace{Name: n})
	}
	for _, topic := range in.Topics {
		area := ""
		if namespace := facts.KeyNamespace(topic.Prefix); namespace == "uk" || namespace == "us" {
			area = namespace + "-rates"
		}
		ds.Topics = append(ds.Topics, facts.Topic{Prefix: topic.Prefix, Title: topic.Title, Area: area, Synonyms: topic.Synonyms})
	}
	for _, e := range in.Entries {
		f := facts.Fact{Key: e.Key, Label: e.Label, Topic: -1, Values: []facts.DatedValue{{Value: "1", Unit: "GBP/year", Period: "2026-27",
			From: mustDate(t, "2026-04-06"), Source: "https://www.gov.uk/figures", Verified: mustDate(t, "2026-10-01")}}}
		for _, alias := range e.Aliases {
			if !strings.HasPrefix(alias, "gb/") && !strings.Contains(alias, ":") {
				f.Aliases = append(f.Aliases, alias)
			}
		}
		for i, topic := range in.Topics {
			if (f.Key == topic.Prefix || strings.HasPrefix(f.Key, topic.Prefix+"/")) && (f.Topic < 0 || len(topic.Prefix) > len(in.Topics[f.Topic].Prefix)) {
				f.Topic = i
			}
		}
		ds.Facts = append(ds.Facts, f)
	}
	return ds
}

func catalogueSnapshot(t *testing.T) *facts.Snapshot {
	t.Helper()
	s, err := facts.NewSnapshot(catalogueDataset(t), facts.Options{Origin: "https://facts.example", Conformance: "L2"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// F§6.8: the document, and best only where it resolves.
func TestResolutionDocument(t *testing.T) {
	s, today := catalogueSnapshot(t), mustDate(t, "2026-10-10")
	for _, c := range []struct{ q, want string }{
		{"what is the NI primary threshold", `{"protocol":"verified-facts/0.2","query":"what is the NI primary threshold","candidates":[` +
			`{"key":"uk/national-insurance/primary-threshold","label":"Primary Threshold (employee pays above this)","unit":"GBP/year","period":"2026-27",` +
			`"verifiedDate":"2026-10-01","score":0.9,"matched":["synonym:ni","key:primary","key:threshold"]},` +
			`{"key":"uk/national-insurance/secondary-threshold","label":"Secondary Threshold (employer pays above this)","unit":"GBP/year","period":"2026-27",` +
			`"verifiedDate":"2026-10-01","score":0.466,"matched":["synonym:ni","key:threshold"]}],"best":{"protocol":"verified-facts/0.2",` +
			`"key":"uk/national-insurance/primary-threshold","label"`},
		{"the of is", `{"protocol":"verified-facts/0.2","query":"the of is","candidates":[]}`},
		{"uk/bank-rate", `"score":1,"matched":["key"]},`},
		{"gb/bank-rate", `"score":0.95,"matched":["alias"]},`},
		{"uk-rates:bank-rate", `"score":0.95,"matched":["alias"]},`},
		{"wage base 2026/27", `],"hint":"pass period=2026-27 `},
	} {
		r, err := s.Resolve(c.q, "", 2, today)
		if err != nil {
			t.Fatal(err)
		}
		got := r.AppendJSON(nil)
		if err := jcs.Check(got); err != nil || !strings.Contains(string(got), c.want) {
			t.Errorf("%q: %v\n%s\nwant\n%s", c.q, err, got, c.want)
		}
		var doc struct {
			Best *struct{ Status, RequestedKey string }
		}
		if err := json.Unmarshal(got, &doc); err != nil {
			t.Fatal(err)
		}
		if doc.Best != nil && (doc.Best.Status != "fresh" || doc.Best.RequestedKey != "") {
			t.Errorf("%q: best is no plain record: %+v", c.q, doc.Best)
		}
	}
}

func TestResolveRefuses(t *testing.T) {
	s := catalogueSnapshot(t)
	for _, c := range []struct {
		q         string
		limit     int
		parameter string
	}{
		{"", 5, "q"}, {" \t", 5, "q"}, {strings.Repeat("a", 401), 5, "q"}, {"\xff rate", 5, "q"}, {"rate", 0, "limit"}, {"rate", 21, "limit"},
	} {
		_, err := s.Resolve(c.q, "", c.limit, mustDate(t, "2026-10-10"))
		var refused *facts.ParameterError
		if !errors.As(err, &refused) || refused.Parameter != c.parameter {
			t.Errorf("%.20q, limit %d: %v, want a refusal of %s", c.q, c.limit, err, c.parameter)
		}
	}
	if _, err := s.Resolve(strings.Repeat("é", 400), "", 5, mustDate(t, "2026-10-10")); err != nil {
		t.Errorf("400 characters: %v", err)
	}
}

// F§6.7: get and resolve follow one rule; get says how it came to its answer.
func TestGetAutoResolves(t *testing.T) {
	s, today := catalogueSnapshot(t), mustDate(t, "2026-10-10")
	for q, key := range map[string]string{
		"base rate": "uk/bank-rate", "uk/tax/personal-allowance": "uk/income-tax/personal-allowance", "primary threshhold": "", "us/minimum-wage/hourly": "", "ecb rate": "",
	} {
		a, err := s.Get(q, facts.Selection{MaxAge: facts.NoMaxAge}, today)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Resolve(q, "", 5, today)
		if err != nil {
			t.Fatal(err)
		}
		if a.Key != key || (r.Best != nil) != (key != "") {
			t.Errorf("%q: get answers %q, best %v, want %q", q, a.Key, r.Best != nil, key)
		}
		if key != "" && (a.Resolved == nil || a.Resolved.Score != 900 || a.RequestedKey != q) {
			t.Errorf("%q: %+v", q, a)
		}
		if key == "" && (len(a.Candidates) == 0 || a.Candidates[0].Key != r.Candidates[0].Key) {
			t.Errorf("%q: candidates %v, want those of resolve", q, a.Candidates)
		}
	}
}

// A key whose only value has not begun is found, but there is no record to show as best.
func TestResolveWithoutValueInForce(t *testing.T) {
	s := catalogueSnapshot(t)
	r, err := s.Resolve("base rate", "", 5, mustDate(t, "2026-01-01"))
	if err != nil {
		t.Fatal(err)
	}
	if r.Best != nil || !strings.Contains(r.Hint, "uk/bank-rate") || len(r.Candidates) != 1 || r.Candidates[0].Score != 900 {
		t.Errorf("%+v", r)
	}
}

// F§6.10: whoever holds the published inputs computes the server's ranking.
func TestServerRankingIsClientRanking(t *testing.T) {
	ds := catalogueDataset(t)
	s, today := catalogueSnapshot(t), mustDate(t, "2026-10-10")
	in := facts.RankerInputOf(ds)
	client := newRanker(t, in)
	words := strings.Fields("what is the uk us US british california bank rate minimum wage NI base threshhold income tax 2025 uk/bank-rate gb/bank-rate uk-rates:bank-rate us-rates:bank-rate personal allowance's PA ecb")
	rapid.Check(t, func(t *rapid.T) {
		q := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 6).Draw(t, "words"), rapid.SampledFrom([]string{" ", "/", "-"}).Draw(t, "joint"))
		namespace := rapid.SampledFrom([]string{"", "uk", "us", "zz"}).Draw(t, "namespace")
		limit := rapid.IntRange(1, 20).Draw(t, "limit")
		server, err := s.Resolve(q, namespace, limit, today)
		if err != nil {
			t.Fatal(err)
		}
		ranking := client.Rank(q, namespace, limit)
		var got, want []string
		for _, h := range ranking.Hits {
			got = append(got, fmt.Sprint(in.Entries[h.Entry].Key, h.Score, h.Matched))
		}
		for _, c := range server.Candidates {
			want = append(want, fmt.Sprint(c.Key, c.Score, c.Matched))
		}
		if !slices.Equal(got, want) || ranking.Best != (server.Best != nil) || ranking.Hint != server.Hint {
			t.Fatalf("%q: client %v %q, server %v %q", q, got, ranking.Hint, want, server.Hint)
		}
	})
}

// F§6.11: over the 35 keys nothing answers for another, 33 labels are their own, the two "Higher rate" are ambiguous, every alias is its own.
func TestAudit(t *testing.T) {
	s := catalogueSnapshot(t)
	count := map[string]int{}
	var rivals []string
	s.Audit(nil, mustDate(t, "2026-10-10"), func(row facts.AuditRow) bool {
		count[row.Form+" "+row.Outcome]++
		if row.Outcome == facts.AuditOther {
			t.Errorf("%+v", row)
		}
		if row.Form == facts.FormLabel && row.Outcome == facts.AuditAmbiguous {
			rivals = append(rivals, row.Key+" < "+strings.Join(row.Rivals, " "))
		}
		return true
	})
	if count["label own"] != 33 || count["label ambiguous"] != 2 || count["alias own"] != 2 || count["alias miss"]+count["alias ambiguous"] != 0 {
		t.Errorf("%v", count)
	}
	want := []string{"uk-sct/income-tax/higher-rate < uk/income-tax/higher-rate uk/income-tax/higher-rate-threshold",
		"uk/income-tax/higher-rate < uk-sct/income-tax/higher-rate uk/income-tax/higher-rate-threshold"}
	if !slices.Equal(rivals, want) {
		t.Errorf("rivals %q", rivals)
	}
	rows := 0
	s.Audit([]string{"uk/none", "uk/bank-rate", "us/social-security/wage-base"}, mustDate(t, "2026-10-10"), func(facts.AuditRow) bool { rows++; return rows < 3 })
	if rows != 3 {
		t.Errorf("%d rows after asking for three", rows)
	}
}

// F§6.11: the forms of one key.
func TestAuditForms(t *testing.T) {
	got := facts.AuditForms("uk/gov/passport-renewal-adult/fee-online-uk", "Adult passport renewal", []string{"uk/passport"})
	want := []facts.AuditForm{
		{Form: "label", Query: "Adult passport renewal"},
		{Form: "namespace label", Query: "uk Adult passport renewal"},
		{Form: "alias", Query: "uk/passport"},
		{Form: "last segments", Query: "passport renewal adult fee online uk"},
		{Form: "without a segment", Query: "uk/passport-renewal-adult/fee-online-uk"},
		{Form: "without a segment", Query: "uk/gov/fee-online-uk"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// F§6.11: a label that resolves to another key is a wrong figure and is reported as such.
func TestAuditFindsOther(t *testing.T) {
	ds := catalogueDataset(t)
	at := slices.IndexFunc(ds.Facts, func(f facts.Fact) bool { return f.Key == "uk/mot/test-fee-car" })
	ds.Facts[at].Label = "ECB marginal facility"
	s, err := facts.NewSnapshot(ds, facts.Options{Origin: "https://facts.example", Conformance: "L2"})
	if err != nil {
		t.Fatal(err)
	}
	s.Audit([]string{ds.Facts[at].Key}, mustDate(t, "2026-10-10"), func(row facts.AuditRow) bool {
		if row.Outcome != facts.AuditOther || !slices.Equal(row.Rivals, []string{"eu/ecb/marginal-lending"}) {
			t.Errorf("%+v", row)
		}
		return false
	})
}
