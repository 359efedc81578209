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

func mustDate(t failer, s string) facts.Date {
	t.Helper()
	d, err := facts.ParseDate(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// pinned are the two entries of F§8.5, without hash and prevHash.
func pinned(t *testing.T) []facts.Entry {
	e := facts.Entry{Area: "uk-rates", Key: "income-tax/personal-allowance", FactKey: "uk/income-tax/personal-allowance", Label: "Personal Allowance",
		From: facts.Null, To: "12570", Unit: "GBP/year", Period: "2025-26", EffectiveFrom: mustDate(t, "2025-04-06"),
		Source: "https://www.gov.uk/income-tax-rates", VerifiedDate: mustDate(t, "2026-03-02")}
	f := e
	f.From, f.Period, f.EffectiveFrom, f.VerifiedDate = "12570", "2026-27", mustDate(t, "2026-04-06"), mustDate(t, "2026-10-04")
	return []facts.Entry{e, f}
}

const (
	pinnedLink1 = "sha256:1f59dd947fafd73418839d9a139e75a6231c8f9f4044a4eca3a9aee09ec1736b"
	pinnedLink2 = "sha256:d1e05a5060bf78c30121334fb27485b6fc67f92566ef7fb6440d1af8f8798b1c"
)

// F§8.5: the pinned bytes.
func TestPinnedEntries(t *testing.T) {
	chain, err := facts.AppendEntries(nil, pinned(t))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ hash, prev, link string }{
		{"sha256:47c25f79d311849dd480385ac173143784cebf5a4d9cd1cce83a593e4ad87534", "", pinnedLink1},
		{"sha256:cab2eae595ba1c5f8059d6002585514a4b6b612cac8809f83457b722320a2576", pinnedLink1, pinnedLink2},
	} {
		e := &chain[i]
		if e.Hash != want.hash || e.PrevHash != want.prev || e.Link() != want.link {
			t.Errorf("entry %d: hash %s, prevHash %s, link %s, want %v", i, e.Hash, e.PrevHash, e.Link(), want)
		}
		if link, err := facts.EntryLink(e.AppendJSON(nil)); err != nil || link != want.link {
			t.Errorf("entry %d as served: link %s, %v", i, link, err)
		}
	}
	if head, err := facts.CheckChain(chain); err != nil || head != pinnedLink2 {
		t.Errorf("chain head %s, %v", head, err)
	}
	const first = `{"area":"uk-rates","effectiveFrom":"2025-04-06","factKey":"uk/income-tax/personal-allowance","from":null,` +
		`"hash":"sha256:47c25f79d311849dd480385ac173143784cebf5a4d9cd1cce83a593e4ad87534","key":"income-tax/personal-allowance","label":"Personal Allowance",` +
		`"period":"2025-26","prevHash":null,"source":"https://www.gov.uk/income-tax-rates","to":12570,"unit":"GBP/year","verifiedDate":"2026-03-02"}`
	if got := string(chain[0].AppendCanonical(nil)); got != first {
		t.Errorf("canonical\n%s\nwant\n%s", got, first)
	}
	if chain[0].ClaimHash() == chain[1].ClaimHash() || pinned(t)[0].To != pinned(t)[1].To {
		t.Error("the two entries shall have one value and two claims")
	}
}

// sampleChain is a valid chain of n entries in two areas over days that repeat.
func sampleChain(t failer, n int) []facts.Entry {
	t.Helper()
	start := mustDate(t, "2026-01-01")
	var batch []facts.Entry
	for i := range n {
		area, key := []string{"uk-rates", "uk-fees"}[i%2], fmt.Sprintf("topic/figure-%d", i%6)
		batch = append(batch, facts.Entry{Area: area, Key: key, FactKey: "uk/" + key, Label: "Figure", From: facts.Null, To: facts.Value(fmt.Sprint(i)),
			Unit: "GBP", Source: "https://www.gov.uk/figures", VerifiedDate: start + facts.Date(i/7), Seq: i})
	}
	chain, err := facts.AppendEntries(nil, batch)
	if err != nil {
		t.Fatal(err)
	}
	return chain
}

// F§8.5: every way to change history is noticed, and by the rule that says why.
func TestCheckChainNoticesTampering(t *testing.T) {
	for name, c := range map[string]struct {
		rule   string
		tamper func(chain []facts.Entry) []facts.Entry
	}{
		"edit an old label":      {facts.ChainLink, func(c []facts.Entry) []facts.Entry { c[2].Label = "Other"; return c }},
		"edit an old value":      {facts.ChainHash, func(c []facts.Entry) []facts.Entry { c[2].To = "99"; return c }},
		"edit value and hash":    {facts.ChainLink, func(c []facts.Entry) []facts.Entry { c[2].To = "99"; c[2].Hash = c[2].ClaimHash(); return c }},
		"swap two of one day":    {facts.ChainLink, func(c []facts.Entry) []facts.Entry { c[3], c[4] = c[4], c[3]; return c }},
		"drop the oldest":        {facts.ChainLink, func(c []facts.Entry) []facts.Entry { return c[1:] }},
		"drop one in the middle": {facts.ChainLink, func(c []facts.Entry) []facts.Entry { return append(c[:5:5], c[6:]...) }},
		"an older day": {facts.ChainOrder, func(c []facts.Entry) []facts.Entry {
			e := c[0]
			e.Seq, e.PrevHash = 77, c[len(c)-1].Link()
			return append(c, e)
		}},
		"the same identity": {facts.ChainIdentity, func(c []facts.Entry) []facts.Entry {
			e := c[len(c)-1]
			e.PrevHash = e.Link()
			return append(c, e)
		}},
		"another fact for a changelog key": {facts.ChainMapping, func(c []facts.Entry) []facts.Entry {
			e := c[len(c)-1]
			e.PrevHash, e.Seq, e.FactKey = e.Link(), 77, "uk/topic/other"
			e.Hash = e.ClaimHash()
			return append(c, e)
		}},
		"another changelog key for a fact": {facts.ChainMapping, func(c []facts.Entry) []facts.Entry {
			e := c[len(c)-1]
			e.PrevHash, e.Key = e.Link(), "other"
			return append(c, e)
		}},
		"linked by claim hash": {facts.ChainClaimLink, func(c []facts.Entry) []facts.Entry { c[1].PrevHash = c[0].Hash; return c }},
		"no source":            {facts.ChainMember, func(c []facts.Entry) []facts.Entry { c[1].Source = ""; return c }},
		"a value beside a withdrawal": {facts.ChainMember, func(c []facts.Entry) []facts.Entry {
			c[1].Withdrawn = c[1].VerifiedDate
			return c
		}},
	} {
		t.Run(name, func(t *testing.T) {
			chain := sampleChain(t, 12)
			if _, err := facts.CheckChain(chain); err != nil {
				t.Fatal(err)
			}
			_, err := facts.CheckChain(c.tamper(chain))
			var broken *facts.ChainError
			if !errors.As(err, &broken) || broken.Rule != c.rule {
				t.Errorf("%v, want a breach of %q", err, c.rule)
			}
		})
	}
}

// F§8.5: a head that was kept is the link of an ancestor, however much is appended.
func TestOldHeadIsAnAncestor(t *testing.T) {
	chain := sampleChain(t, 12)
	kept, err := facts.CheckChain(chain)
	if err != nil {
		t.Fatal(err)
	}
	later := chain[0]
	later.VerifiedDate, later.From, later.To, later.Hash, later.PrevHash = chain[11].VerifiedDate+1, "0", "1", "", ""
	longer, err := facts.AppendEntries(chain, []facts.Entry{later})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(longer, func(e facts.Entry) bool { return e.PrevHash == kept }) {
		t.Error("the kept head links no entry")
	}
	if len(chain) != 12 || later.Hash != "" {
		t.Error("an argument was changed")
	}
}

func TestAppendEntriesRefuses(t *testing.T) {
	chain := sampleChain(t, 12)
	base := chain[11]
	base.Hash, base.PrevHash = "", ""
	for name, c := range map[string]struct {
		change func(e *facts.Entry)
		want   string
	}{
		"older than the newest": {func(e *facts.Entry) { e.VerifiedDate-- }, "older than the newest"},
		"the same identity":     {func(*facts.Entry) {}, "twice"},
		"a wrong hash":          {func(e *facts.Entry) { e.Seq, e.Hash = 99, chain[0].Hash }, "hash is not that of its claim"},
		"no day":                {func(e *facts.Entry) { e.VerifiedDate = 0 }, "verifiedDate"},
		"no area":               {func(e *facts.Entry) { e.Area = "" }, "area"},
		"an http source":        {func(e *facts.Entry) { e.Source = "http://www.gov.uk/" }, "https"},
	} {
		t.Run(name, func(t *testing.T) {
			e := base
			c.change(&e)
			if _, err := facts.AppendEntries(chain, []facts.Entry{e}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want one about %q", err, c.want)
			}
		})
	}
}

// A batch is sorted by (verifiedDate, area, key, seq) whatever its order, and equal batches make equal chains.
func TestAppendEntriesSorts(t *testing.T) {
	want := sampleChain(t, 20)
	rapid.Check(t, func(t *rapid.T) {
		batch := rapid.Permutation(want).Draw(t, "batch")
		for i := range batch {
			batch[i].Hash, batch[i].PrevHash = "", ""
		}
		got, err := facts.AppendEntries(nil, batch)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Fatal("the order of the batch shows in the chain")
		}
	})
}

// T10: a withdrawal leads to null, and its hash is that of the claim with null.
func TestWithdrawnEntry(t *testing.T) {
	e := pinned(t)[1]
	e.To, e.Withdrawn, e.SupersededBy = facts.Null, mustDate(t, "2026-11-01"), "uk/income-tax/allowance"
	claim := facts.Claim{Key: e.FactKey, Value: facts.Null, Unit: e.Unit, Period: e.Period, EffectiveFrom: e.EffectiveFrom, Source: e.Source}
	if e.ClaimHash() != claim.Hash() {
		t.Error("the hash is not that of the claim with null")
	}
	chain, err := facts.AppendEntries(nil, []facts.Entry{e})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(chain[0].AppendJSON(nil)); !strings.Contains(got, `"to":null,`) || !strings.Contains(got, `"withdrawn":"2026-11-01","supersededBy":"uk/income-tax/allowance"`) {
		t.Error(got)
	}
	e.To = ""
	again, err := facts.AppendEntries(nil, []facts.Entry{e})
	if err != nil || again[0].Link() != chain[0].Link() {
		t.Errorf("the zero value is not null: %v", err)
	}
}

// fullEntry has every member.
func fullEntry(t *testing.T) facts.Entry {
	e := pinned(t)[1]
	e.To, e.Withdrawn, e.SupersededBy = facts.Null, mustDate(t, "2026-11-01"), "uk/income-tax/allowance"
	e.SourceType, e.Method, e.SourceFile = "derived", "one line", "https://www.gov.uk/file.csv"
	e.Seq, e.DateBasis, e.Quote, e.Correction = 3, "source", "“£12,570” <&> \u2028", true
	e.Snapshot, e.Bundle, e.HeldCount, e.SourceCount = mustDate(t, "2026-10-01"), true, 26, 176
	e.Hash, e.PrevHash = e.ClaimHash(), pinnedLink1
	return e
}

// What is written is canonical, complete and read again as the same entry.
func TestEntryForms(t *testing.T) {
	for name, e := range map[string]facts.Entry{"full": fullEntry(t), "least": sampleChain(t, 1)[0]} {
		t.Run(name, func(t *testing.T) {
			canonical := e.AppendCanonical([]byte("x"))[1:]
			served := e.AppendJSON(nil)
			if again, err := jcs.Canonical(served); err != nil || string(again) != string(canonical) {
				t.Errorf("the served form is canonically\n%s, %v, not\n%s", again, err, canonical)
			}
			for _, text := range [][]byte{canonical, served} {
				got, err := facts.ParseEntry(text)
				if err != nil || got != e {
					t.Errorf("%s reads as %+v, %v", text, got, err)
				}
			}
		})
	}
}

func TestParseEntryRefuses(t *testing.T) {
	full := fullEntry(t)
	text := string(full.AppendJSON(nil))
	if _, err := facts.ParseEntry([]byte(text)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{`{"area"`, `{"extra":1,"area"`, "extra"},
		{`"area":"uk-rates",`, ``, "area"},
		{`"from":12570,`, ``, "from"},
		{`"hash":"sha256:`, `"hash":"sha1:`, "hash"},
		{`"prevHash":"sha256:1f`, `"prevHash":"sha256:1F`, "prevHash"},
		{`"verifiedDate":"2026-10-04"`, `"verifiedDate":"2026-02-30"`, "verifiedDate"},
		{`"verifiedDate":"2026-10-04"`, `"verifiedDate":null`, "verifiedDate"},
		{`"seq":3`, `"seq":0`, "seq"},
		{`"seq":3`, `"seq":1.5`, "seq"},
		{`"correction":true`, `"correction":false`, "correction"},
		{`"dateBasis":"source"`, `"dateBasis":"guess"`, "dateBasis"},
		{`"sourceType":"derived"`, `"sourceType":"other"`, "sourceType"},
		{`"source":"https:`, `"source":"http:`, "source"},
		{`"to":null`, `"to":1`, "withdrawal"},
		{`"unit":"GBP/year"`, `"unit":""`, "unit"},
		{`"label":"Personal Allowance"`, `"label":null`, "label"},
		{`"factKey":"uk/`, `"factKey":"UK/`, "factKey"},
		{`"area":"uk-rates"`, `"area":"uk-rates","area":"uk-rates"`, "duplicate"},
		{`"from":12570`, `"from":9007199254740993`, ""},
	} {
		changed := strings.Replace(text, c.old, c.new, 1)
		if changed == text {
			t.Fatalf("%s does not stand in %s", c.old, text)
		}
		if _, err := facts.ParseEntry([]byte(changed)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s: %v", c.new, c.old, err)
		}
	}
	for _, text := range []string{"", "null", "[]", text + "x", "{}"} {
		if _, err := facts.ParseEntry([]byte(text)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

// F§8.3: reading what is accepted and writing it again loses nothing.
func FuzzParseEntry(f *testing.F) {
	f.Add([]byte(`{"area":"a","effectiveFrom":null,"factKey":"uk/a","from":null,"hash":"` + pinnedLink1 + `","key":"a","period":null,"prevHash":null,"source":"https://a.example/","to":1,"unit":null,"verifiedDate":"2026-01-01"}`))
	f.Add([]byte(`{"area":"a","seq":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := facts.ParseEntry(data)
		if err != nil {
			return
		}
		canonical, err := jcs.Canonical(data)
		if err != nil {
			t.Fatalf("%q is read but not canonicalised: %v", data, err)
		}
		if got := e.AppendCanonical(nil); string(got) != string(canonical) {
			t.Fatalf("%s is written again as %s", canonical, got)
		}
	})
}

// changesDataset has the six figures of sampleChain.
func changesDataset(t failer, chain []facts.Entry) *facts.Dataset {
	t.Helper()
	ds := &facts.Dataset{
		Publisher:  facts.Publisher{Name: "Sample", URL: "https://facts.example/"},
		Namespaces: []facts.Namespace{{Name: "uk"}},
		Areas: []facts.Area{
			{Name: "uk-rates", Namespace: "uk", Cadence: "yearly", EveryDays: 365, GraceDays: 7},
			{Name: "uk-fees", Namespace: "uk", Cadence: "monthly", EveryDays: 30, GraceDays: 3},
			{Name: "uk-other", Namespace: "uk"},
		},
		Topics:  []facts.Topic{{Prefix: "uk/topic", Title: "Topic", Area: "uk-rates"}, {Prefix: "uk/topic/figure-1", Title: "Fee", Area: "uk-fees"}},
		Changes: chain,
	}
	for i := range 6 {
		f := facts.Fact{Key: fmt.Sprintf("uk/topic/figure-%d", i), Label: "Figure"}
		if i == 1 {
			f.Topic = 1
		}
		f.Values = []facts.DatedValue{{Value: "1", Unit: "GBP", Source: "https://www.gov.uk/figures", Verified: mustDate(t, "2026-03-01")}}
		ds.Facts = append(ds.Facts, f)
	}
	return ds
}

func changesSnapshot(t failer, chain []facts.Entry) *facts.Snapshot {
	t.Helper()
	s, err := facts.NewSnapshot(changesDataset(t, chain), facts.Options{Origin: "https://facts.example", Conformance: "L2"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

type changesDoc struct {
	Protocol, Generated, CoverageStart, Status, Note, Since, Area, Next string
	Count                                                               int
	ChainHead                                                           *string
	Freshness                                                           *struct {
		AsOf, Staleness      string
		NextScheduledRefresh *string
		Cadence              *string
	}
	Coverage *struct {
		Start *string
		Areas []string
		Note  string
	}
	Cite        *struct{ URL, Text string }
	Attribution string
	Entries     []struct {
		Area, Key, Hash, VerifiedDate string
		Seq                           int
	}
}

func (d *changesDoc) seqs() (seqs []int) {
	for _, e := range d.Entries {
		seqs = append(seqs, e.Seq)
	}
	return seqs
}

func changes(t failer, s *facts.Snapshot, p facts.Params, mcp bool) changesDoc {
	t.Helper()
	q, err := facts.ParseChangesQuery(p, mcp)
	if err != nil {
		t.Fatal(err)
	}
	data, err := s.AppendChanges([]byte("x"), q, mustDate(t, "2026-04-02"))
	if err != nil {
		t.Fatal(err)
	}
	if err := jcs.Check(data[1:]); err != nil {
		t.Fatal(err, string(data))
	}
	var d changesDoc
	if err := json.Unmarshal(data[1:], &d); err != nil {
		t.Fatal(err)
	}
	if d.Count != len(d.Entries) {
		t.Fatal("count is not the number of entries")
	}
	return d
}

// F§8.3: the whole document, newest first, without members that depend on the day.
func TestChangesWhole(t *testing.T) {
	chain := sampleChain(t, 120)
	d := changes(t, changesSnapshot(t, chain), nil, false)
	if d.Count != 120 || d.Next != "" || d.Freshness != nil || d.Coverage != nil || d.Cite != nil {
		t.Errorf("count %d, next %q, freshness %v, coverage %v", d.Count, d.Next, d.Freshness, d.Coverage)
	}
	last := &chain[119]
	if d.Protocol != "verified-changes/0.1" || d.Generated != last.VerifiedDate.String() || d.CoverageStart != "2026-01-01" || *d.ChainHead != last.Link() {
		t.Errorf("%+v", d)
	}
	for i, e := range d.Entries {
		if want := &chain[119-i]; e.Hash != want.Hash || e.Seq != want.Seq {
			t.Fatalf("entry %d is %+v, want %+v", i, e, want)
		}
	}
}

// F§8.3: a changelog that has not begun says so instead of looking like one without changes.
func TestChangesEmpty(t *testing.T) {
	s := changesSnapshot(t, nil)
	d := changes(t, s, nil, false)
	if d.Status == "" || d.Note == "" || d.ChainHead != nil || d.Generated != "2026-03-01" || d.Entries == nil || s.ChainHead() != "" {
		t.Errorf("%+v", d)
	}
	if d := changes(t, s, facts.Params{"since": "2026-01-01"}, false); d.Coverage.Note == "" || d.Coverage.Start != nil {
		t.Errorf("%+v", d.Coverage)
	}
}

// T12: since is strictly after, entries of one day stay together, coverage and freshness say how far the answer goes.
func TestChangesSince(t *testing.T) {
	s := changesSnapshot(t, sampleChain(t, 28)) // seven a day, from 2026-01-01
	d := changes(t, s, facts.Params{"since": "2026-01-03"}, false)
	if d.Count != 7 || d.Since != "2026-01-03" || d.Entries[0].VerifiedDate != "2026-01-04" || d.Coverage.Note != "" {
		t.Errorf("%+v", d)
	}
	if d.Freshness.AsOf != "2026-04-02" || d.Freshness.Staleness != "due" || *d.Freshness.NextScheduledRefresh != "2026-03-31" || *d.Freshness.Cadence != "uk-rates: yearly uk-fees: monthly" {
		t.Errorf("freshness %+v", d.Freshness)
	}
	if !slices.Equal(d.Coverage.Areas, []string{"uk-rates", "uk-fees", "uk-other"}) {
		t.Errorf("coverage %+v", d.Coverage)
	}
	d = changes(t, s, facts.Params{"since": "2025-06-01", "area": "uk-rates"}, true)
	if d.Count != 14 || d.Area != "uk-rates" || !strings.Contains(d.Coverage.Note, "2026-01-01") || !slices.Equal(d.Coverage.Areas, []string{"uk-rates"}) {
		t.Errorf("%+v", d)
	}
	if d.Freshness.Staleness != "current" || *d.Freshness.Cadence != "yearly" || d.Cite == nil || d.Attribution == "" {
		t.Errorf("%+v", d)
	}
	d = changes(t, s, facts.Params{"since": "2026-01-04"}, false)
	if d.Count != 0 || d.Note == "" || d.Status != "" || *d.ChainHead != s.ChainHead() {
		t.Errorf("nothing after the newest entry: %+v", d)
	}
	if d := changes(t, s, facts.Params{"area": "uk-other"}, false); d.Count != 0 || d.Freshness.Cadence != nil || d.Freshness.NextScheduledRefresh != nil {
		t.Errorf("%+v", d)
	}
}

func TestChangesRefuses(t *testing.T) {
	chain := sampleChain(t, 28)
	s := changesSnapshot(t, chain)
	for _, c := range []struct {
		p         facts.Params
		mcp       bool
		parameter string
	}{
		{facts.Params{"since": "2026-02-30"}, false, "since"},
		{facts.Params{"since": "2026-04-03"}, false, "since"}, // tomorrow
		{facts.Params{"area": "uk-rates"}, true, "since"},
		{facts.Params{"since": ""}, false, "since"},
		{facts.Params{"area": "other"}, false, "area"},
		{facts.Params{"limit": "0"}, false, "limit"},
		{facts.Params{"limit": "201"}, false, "limit"},
		{facts.Params{"cursor": "3"}, false, "cursor"},
		{facts.Params{"cursor": "-1-0123456789abcdef"}, false, "cursor"},
		{facts.Params{"cursor": "99999999999999999999-00"}, false, "cursor"},
		{facts.Params{"cursor": "3-0123456789abcdef"}, false, "cursor"},
	} {
		q, err := facts.ParseChangesQuery(c.p, c.mcp)
		if err == nil {
			_, err = s.AppendChanges(nil, q, mustDate(t, "2026-04-02"))
		}
		var refused *facts.ParameterError
		if !errors.As(err, &refused) || refused.Parameter != c.parameter {
			t.Errorf("%v: %v, want a refusal of %s", c.p, err, c.parameter)
		}
	}
	_, err := facts.ParseChangesQuery(facts.Params{"area": "other", "since": "2026-01-01"}, true)
	if err != nil {
		t.Error(err)
	}
}

// T12: pages joined are the whole, whatever the limit and the filter; entries appended between two pages neither repeat nor drop any.
func TestChangesPaging(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := sampleChain(t, rapid.IntRange(1, 90).Draw(t, "entries"))
		grown := rapid.IntRange(1, len(all)).Draw(t, "first")
		p := facts.Params{"limit": fmt.Sprint(rapid.IntRange(1, 20).Draw(t, "limit"))}
		if rapid.Bool().Draw(t, "area") {
			p["area"] = "uk-fees"
		}
		if rapid.Bool().Draw(t, "since") {
			p["since"] = (all[0].VerifiedDate + facts.Date(rapid.IntRange(0, 8).Draw(t, "day"))).String()
		}
		var want []int
		since := facts.Date(0)
		if p["since"] != "" {
			since = mustDate(t, p["since"])
		}
		for i := grown - 1; i >= 0; i-- {
			if (p["area"] == "" || all[i].Area == p["area"]) && all[i].VerifiedDate > since {
				want = append(want, all[i].Seq)
			}
		}
		var got []int
		for {
			d := changes(t, changesSnapshot(t, all[:grown]), p, false)
			got = append(got, d.seqs()...)
			if d.Next == "" {
				break
			}
			if p["limit"] != fmt.Sprint(d.Count) {
				t.Fatalf("a page of %d with more to come", d.Count)
			}
			p["cursor"] = d.Next
			grown = min(len(all), grown+rapid.IntRange(0, 5).Draw(t, "appended"))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("paged %v, want %v", got, want)
		}
	})
}

func TestSnapshotRefusesBrokenChangelog(t *testing.T) {
	for name, tamper := range map[string]func(ds *facts.Dataset){
		"a broken link":   func(ds *facts.Dataset) { ds.Changes[3].Label = "Other" },
		"an unknown area": func(ds *facts.Dataset) { ds.Areas = ds.Areas[:1]; ds.Topics[1].Area = "uk-rates" },
	} {
		ds := changesDataset(t, sampleChain(t, 12))
		tamper(ds)
		var broken *facts.ChainError
		if _, err := facts.NewSnapshot(ds, facts.Options{Origin: "https://facts.example", Conformance: "L2"}); !errors.As(err, &broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
