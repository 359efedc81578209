package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"sayso/facts"
	"sayso/facts/dataset"
	"sayso/jwk"
	"sayso/report"
)

// pages is a Fetcher over fixed answers.
type pages map[string]dataset.Page

func (p pages) Fetch(_ context.Context, url string, v dataset.Validators) (dataset.Page, error) {
	page, ok := p[url]
	if !ok {
		return page, errors.New("no route to host")
	}
	if page.FinalURL == "" {
		page.FinalURL = url
	}
	if page.Status == 0 {
		page.Status = 200
	}
	if page.ETag != "" && page.ETag == v.ETag {
		return dataset.Page{Status: 304, FinalURL: page.FinalURL, ETag: page.ETag}, nil
	}
	return page, nil
}

// diff lists the lines that differ between two versions of a file, as a person reads them in version control.
func diff(before, after string) string {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	var out strings.Builder
	for _, l := range a {
		out.WriteString("-" + l + "\n")
	}
	for _, l := range b {
		out.WriteString("+" + l + "\n")
	}
	return out.String()
}

func wantKind(t *testing.T, err error, kind dataset.ErrorKind, text string) {
	t.Helper()
	var e *dataset.Error
	if !errors.As(err, &e) || e.Kind != kind || !strings.Contains(e.Message, text) || e.Next == "" {
		t.Errorf("got %v, want %s: …%s…, with a next step", err, kind, text)
	}
}

const bankFile = "topics/zz/bank-rate.yaml"

func setBank(t *testing.T, dir string) {
	t.Helper()
	o := dataset.SetOptions{Key: "zz/bank-rate", Value: "3.5", From: day(t, "2026-11-26"), Source: "https://bank.example/rate-new", Quote: "The rate is 3.50% now: a cut."}
	if _, err := dataset.Set(dir, o); err != nil {
		t.Fatal(err)
	}
}

func bankRead(t *testing.T) dataset.ConfirmOptions {
	return dataset.ConfirmOptions{Key: "zz/bank-rate", Value: "3.50", By: "test", Today: day(t, today), Fetcher: pages{
		"https://bank.example/rate-new": {Body: []byte("<p>The rate is <b>3.50</b>%&nbsp;now: a\n cut.</p>"), ETag: `"1"`},
	}}
}

// A new figure goes the whole way: set, confirm, sign; each step's diff holds that step alone.
func TestNewFigure(t *testing.T) {
	dir := sampleCopy(t)
	before := contents(t, dir)
	setBank(t, dir)
	draft := contents(t, dir)
	want := `+      - value: 3.5
+        effectiveFrom: 2026-11-26
+        source: https://bank.example/rate-new
+        quote: "The rate is 3.50% now: a cut."
`
	if got := diff(before[bankFile], draft[bankFile]); got != want {
		t.Errorf("set changes\n%s\nwant\n%s", got, want)
	}
	if r := lintDir(t, dir); r.Failed() || !strings.Contains(list(r, "warning"), "a value of zz/bank-rate is a draft") {
		t.Errorf("lint after set: %s", list(r, "fail", "warning"))
	}
	setBank(t, dir)
	if !maps.Equal(draft, contents(t, dir)) {
		t.Error("setting the same value again changed the folder")
	}

	c, err := dataset.Confirm(context.Background(), dir, bankRead(t))
	if err != nil {
		t.Fatal(err)
	}
	if !c.Changed || c.Correct || len(c.Warnings) > 0 || c.Fetched == nil || !c.Fetched.QuoteFound || c.Fetched.ETag != `"1"` {
		t.Errorf("confirmed %+v", c)
	}
	done := contents(t, dir)
	if got := diff(draft[bankFile], done[bankFile]); got != "+        verifiedDate: 2026-11-30\n" {
		t.Errorf("confirm changes\n%s", got)
	}
	for _, name := range []string{"confirmations.jsonl", "changelog.jsonl"} {
		if !strings.HasPrefix(done[name], before[name]) || strings.Count(done[name], "\n") != strings.Count(before[name], "\n")+1 {
			t.Errorf("%s did not grow by one line", name)
		}
	}
	if !strings.Contains(done["changelog.jsonl"], `"from":3.75,"hash"`) {
		t.Error("the changelog entry does not start from the old value")
	}
	if _, err := dataset.Confirm(context.Background(), dir, bankRead(t)); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(done, contents(t, dir)) {
		t.Error("confirming again on the same day changed the folder")
	}

	// Two statements lack a signature now: the new value, and the old one, whose signed end moved.
	if got := strings.Count(list(lintDir(t, dir), "fail"), "VF-D-012"); got != 2 {
		t.Errorf("%d missing signatures, want 2", got)
	}
	r, err := dataset.Sign(dir, dataset.SignOptions{Key: testKey(t), Today: day(t, today)})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.New) != 2 || r.Dropped != 1 || r.New[0].To != day(t, "2026-11-25") || r.New[1].Value != "3.5" {
		t.Errorf("signed %+v", r)
	}
	wantClean(t, lintDir(t, dir))
}

func TestConfirmRefusals(t *testing.T) {
	tests := []struct {
		name   string
		change func(*dataset.ConfirmOptions)
		kind   dataset.ErrorKind
		text   string
	}{
		{"other value", func(o *dataset.ConfirmOptions) { o.Value = "3.51" }, dataset.Differs, "3.5 in the file and 3.51 as read"},
		{"grouped value", func(o *dataset.ConfirmOptions) { o.Value = "3,5" }, dataset.Differs, "as read"},
		{"no value", func(o *dataset.ConfirmOptions) { o.Value = "" }, dataset.Usage, "missing"},
		{"unknown key", func(o *dataset.ConfirmOptions) { o.Key = "zz/bank-rat" }, dataset.NotFound, "no fact or candidate"},
		{"unknown period", func(o *dataset.ConfirmOptions) { o.Period = "2031-32" }, dataset.NotFound, "no value for 2031-32"},
		{"tomorrow", func(o *dataset.ConfirmOptions) { o.Date = o.Today + 1 }, dataset.Refused, "after today"},
		{"eight days ago", func(o *dataset.ConfirmOptions) { o.Date = o.Today - 8 }, dataset.Refused, "more than 7 days"},
		{"before the last confirmation", func(o *dataset.ConfirmOptions) { o.Period, o.Value, o.Date = "2026-02-05", "3.75", o.Today-7 }, dataset.Refused, "already"},
		{"as conversion", func(o *dataset.ConfirmOptions) { o.By = "conversion" }, dataset.Usage, "name of a reader"},
		{"nothing to fetch with", func(o *dataset.ConfirmOptions) { o.Fetcher = nil }, dataset.Usage, "nothing to fetch with"},
		{"not reachable", func(o *dataset.ConfirmOptions) { o.Fetcher = pages{} }, dataset.Unavailable, "could not be fetched"},
		{"gone", func(o *dataset.ConfirmOptions) { o.Fetcher = pages{"https://bank.example/rate-new": {Status: 404}} }, dataset.Refused, "status 404"},
		{"redirected away", func(o *dataset.ConfirmOptions) {
			o.Fetcher = pages{"https://bank.example/rate-new": {FinalURL: "https://parked.example/"}}
		}, dataset.Refused, "parked.example is not an authority"},
		{"redirected to http", func(o *dataset.ConfirmOptions) {
			o.Fetcher = pages{"https://bank.example/rate-new": {FinalURL: "http://bank.example/rate-new"}}
		}, dataset.Refused, "no https page"},
	}
	dir := sampleCopy(t)
	setBank(t, dir)
	before := contents(t, dir)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := bankRead(t)
			tt.change(&o)
			_, err := dataset.Confirm(context.Background(), dir, o)
			wantKind(t, err, tt.kind, tt.text)
			if !maps.Equal(before, contents(t, dir)) {
				t.Error("the refusal changed the folder")
			}
		})
	}
}

func TestConfirmWarnsWithoutVeto(t *testing.T) {
	dir := sampleCopy(t)
	setBank(t, dir)
	o := bankRead(t)
	o.Fetcher = pages{"https://bank.example/rate-new": {Body: []byte("The rate stands at 13.50%")}}
	c, err := dataset.Confirm(context.Background(), dir, o)
	if err != nil || len(c.Warnings) != 2 {
		t.Errorf("got %+v, %v, want two warnings", c, err)
	}
}

// Re-verification without a change writes a confirmation and no changelog entry (F§8.3).
func TestReverification(t *testing.T) {
	dir := sampleCopy(t)
	before := contents(t, dir)
	o := dataset.ConfirmOptions{Key: "zz/income-tax/basic-rate", Value: "20.0", Today: day(t, today), Offline: true}
	c, err := dataset.Confirm(context.Background(), dir, o)
	if err != nil || c.Changed {
		t.Fatalf("got %+v, %v", c, err)
	}
	after := contents(t, dir)
	if got := diff(before["topics/zz/income-tax.yaml"], after["topics/zz/income-tax.yaml"]); got != "-        verifiedDate: 2026-10-04\n+        verifiedDate: 2026-11-30\n" {
		t.Errorf("the topic file changes by\n%s", got)
	}
	if before["changelog.jsonl"] != after["changelog.jsonl"] {
		t.Error("a changelog entry was written")
	}
	if !strings.HasSuffix(after["confirmations.jsonl"], `"verifiedDate":"2026-11-30","by":"Sample Figures (fictional)","value":20,"fetched":null}`+"\n") {
		t.Error("no confirmation line was written")
	}
}

func TestCorrection(t *testing.T) {
	dir := sampleCopy(t)
	o := dataset.SetOptions{Key: "zz/other/passport-fee", Value: "95.5", From: day(t, "2025-04-10"), Source: "https://tax.example/passport", Quote: "The fee is £95.50."}
	_, err := dataset.Set(dir, o)
	wantKind(t, err, dataset.Refused, "already holds a confirmed value")
	o.Correction = true
	if _, err := dataset.Set(dir, o); err != nil {
		t.Fatal(err)
	}
	if got := list(lintDir(t, dir), "fail"); !strings.Contains(got, "VF-D-011") {
		t.Errorf("a figure known to be wrong would still be published: %s", got)
	}
	c, err := dataset.Confirm(context.Background(), dir, dataset.ConfirmOptions{Key: o.Key, Value: "95.5", Today: day(t, today), Offline: true})
	if err != nil || !c.Correct {
		t.Fatalf("got %+v, %v, want a correction", c, err)
	}
	if log := read(t, dir, "changelog.jsonl"); !strings.Contains(log, `"correction":true`) || !strings.Contains(log, `"from":94.5`) {
		t.Errorf("the changelog ends with %s", log[strings.LastIndex(strings.TrimSpace(log), "\n"):])
	}
	if _, err := dataset.Sign(dir, dataset.SignOptions{Key: testKey(t), Today: day(t, today)}); err != nil {
		t.Fatal(err)
	}
	wantClean(t, lintDir(t, dir))
}

func TestSetRefusals(t *testing.T) {
	good := dataset.SetOptions{Key: "zz/income-tax/basic-rate", Value: "21", Period: "2027-28", From: day(t, "2027-04-06"), To: day(t, "2028-04-05"), Source: "https://tax.example/rates", Quote: "21%"}
	tests := []struct {
		name   string
		change func(*dataset.SetOptions)
		want   string
	}{
		{"unknown key", func(o *dataset.SetOptions) { o.Key = "zz/income-tax/basic" }, "no fact or candidate"},
		{"no source", func(o *dataset.SetOptions) { o.Source = "" }, "no source"},
		{"not an authority", func(o *dataset.SetOptions) { o.Source = "https://wiki.example/x" }, "VF-D-007"},
		{"http", func(o *dataset.SetOptions) { o.Source = "http://tax.example/rates" }, "VF-D-007"},
		{"other type", func(o *dataset.SetOptions) { o.Value = `"21"` }, "has always been a number"},
		{"not a number", func(o *dataset.SetOptions) { o.Value = "1e400" }, "is no number"},
		{"too long for a number", func(o *dataset.SetOptions) { o.Value = "9007199254740993" }, "is no number"},
		{"ends before it begins", func(o *dataset.SetOptions) { o.To = day(t, "2027-01-01") }, "VF-D-006"},
		{"overlap", func(o *dataset.SetOptions) { o.From = day(t, "2027-04-01") }, "VF-D-006"},
		{"line end in a unit", func(o *dataset.SetOptions) { o.Unit = "a\nb" }, "VF-D-001"},
	}
	dir := sampleCopy(t)
	before := contents(t, dir)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := good
			tt.change(&o)
			if _, err := dataset.Set(dir, o); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if !maps.Equal(before, contents(t, dir)) {
				t.Error("the refusal changed the folder")
			}
		})
	}
	if _, err := dataset.Set(dir, good); err != nil {
		t.Error(err)
	}
}

func TestWithdraw(t *testing.T) {
	dir := sampleCopy(t)
	o := dataset.WithdrawOptions{Key: "zz/other/receipts-on-paper", From: day(t, "2026-12-01"), Source: "https://tax.example/receipts", Reason: "repealed", Today: day(t, today), Offline: true}
	bad := o
	bad.SupersededBy = "zz/nowhere/x"
	_, err := dataset.Withdraw(context.Background(), dir, bad)
	wantKind(t, err, dataset.NotFound, "no other key")
	bad = o
	bad.Reason = ""
	_, err = dataset.Withdraw(context.Background(), dir, bad)
	wantKind(t, err, dataset.Usage, "reason")
	if _, err := dataset.Withdraw(context.Background(), dir, o); err != nil {
		t.Fatal(err)
	}
	after := contents(t, dir)
	if _, err := dataset.Withdraw(context.Background(), dir, o); err != nil || !maps.Equal(after, contents(t, dir)) {
		t.Errorf("withdrawing again: %v", err)
	}
	if !strings.Contains(after["changelog.jsonl"], `"to":null,"unit":"rule"`) {
		t.Error("the changelog does not end the figure")
	}
	if _, err := dataset.Sign(dir, dataset.SignOptions{Key: testKey(t), Today: day(t, today)}); err != nil {
		t.Fatal(err)
	}
	wantClean(t, lintDir(t, dir))
}

// A figure that is withdrawn within its period ends there; the line says so.
func TestWithdrawWithinPeriod(t *testing.T) {
	dir := sampleCopy(t)
	before := read(t, dir, "topics/zz/income-tax.yaml")
	o := dataset.WithdrawOptions{Key: "zz/income-tax/basic-rate", From: day(t, "2026-12-25"), Source: "https://tax.example/rates", Reason: "repealed", Today: day(t, today), Offline: true}
	bad := o
	bad.Source = "https://wiki.example/rates"
	_, err := dataset.Withdraw(context.Background(), dir, bad)
	wantKind(t, err, dataset.Refused, "not an authority")
	if _, err := dataset.Withdraw(context.Background(), dir, o); err != nil {
		t.Fatal(err)
	}
	if got := diff(before, read(t, dir, "topics/zz/income-tax.yaml")); !strings.Contains(got, "-        effectiveTo: 2027-04-05\n") || !strings.Contains(got, "+        effectiveTo: 2026-12-24\n") {
		t.Errorf("the diff is\n%s", got)
	}
	if _, err := dataset.Sign(dir, dataset.SignOptions{Key: testKey(t), Today: day(t, today)}); err != nil {
		t.Fatal(err)
	}
	wantClean(t, lintDir(t, dir))
}

const candidateFile = `# imported, keep this comment
topic: {prefix: zz/levies, title: Levies, area: zz-rates}
synonyms: {sugar tax: sugar-levy}
facts:
  - key: sugar-levy
    label: Sugar levy
    unit: GBP
    values:
      - value: 0.24
        effectiveFrom: 2024-04-01
        source: https://tax.example/levies
        sourceType: derived
        method: taken from a public parameter tree
        checked: 2026-11-26
        upstream: levies.sugar
      - value: 0.18
        effectiveFrom: 2018-04-06
        source: https://tax.example/levies-2018
        sourceType: derived
        method: taken from a public parameter tree
        checked: 2026-11-26
  - key: plastic-levy
    label: Plastic levy
    unit: GBP
    values:
      - value: 0.22
        effectiveFrom: 2024-04-01
        source: https://tax.example/levies
        quote: 22p for each
`

func TestCandidates(t *testing.T) {
	dir := sampleCopy(t)
	write(t, dir, map[string]string{"candidates/zz/levies.yaml": candidateFile})
	ds, err := load(t, dir).Dataset(dataset.DatasetOptions{})
	if err != nil || len(ds.Facts) != 9 {
		t.Fatalf("a candidate is part of the dataset: %d facts, %v", len(ds.Facts), err)
	}
	wantClean(t, lintDir(t, dir))
	_, err = dataset.ConfirmConverted(dir, dataset.ConvertOptions{Key: "zz/levies/plastic-levy", Date: day(t, today), Today: day(t, today)})
	wantKind(t, err, dataset.Refused, "not of sourceType derived")
	list, err := dataset.ConfirmConverted(dir, dataset.ConvertOptions{Key: "zz/levies/sugar-levy", Date: day(t, "2026-11-01"), Today: day(t, today)})
	if err != nil || len(list) != 2 || list[0].Date != day(t, "2026-11-26") || !list[0].Moved {
		t.Fatalf("got %+v, %v", list, err)
	}
	left := read(t, dir, "candidates/zz/levies.yaml")
	if strings.Contains(left, "sugar-levy\n") || !strings.Contains(left, "plastic-levy") || !strings.Contains(left, "keep this comment") {
		t.Errorf("the candidate file is now\n%s", left)
	}
	topic := read(t, dir, "topics/zz/levies.yaml")
	for _, want := range []string{"topic: {prefix: zz/levies, title: Levies, area: zz-rates}", "sugar tax: sugar-levy", "verifiedDate: 2026-11-26", "upstream: levies.sugar"} {
		if !strings.Contains(topic, want) {
			t.Errorf("the topic file lacks %q:\n%s", want, topic)
		}
	}
	// The other candidate was read by a person and joins the topic; nothing is left of the file.
	c, err := dataset.Confirm(context.Background(), dir, dataset.ConfirmOptions{Key: "zz/levies/plastic-levy", Value: "0.22", Today: day(t, today), Offline: true})
	if err != nil || !c.Moved {
		t.Fatalf("got %+v, %v", c, err)
	}
	if _, err := os.Stat(dir + "/candidates/zz/levies.yaml"); err == nil {
		t.Error("the empty candidate file is left")
	}
	if _, err := dataset.Sign(dir, dataset.SignOptions{Key: testKey(t), Today: day(t, today)}); err != nil {
		t.Fatal(err)
	}
	if r := lintDir(t, dir); r.Failed() {
		t.Error(r.Findings)
	}
	shown, err := dataset.Show(load(t, dir), "zz/levies/sugar-levy")
	if err != nil || len(shown.Values) != 2 || shown.Values[0].State != "converted" || !shown.Values[0].Signed || shown.Values[1].To != day(t, "2024-03-31") || len(shown.Changes) != 2 {
		t.Errorf("got %+v, %v", shown, err)
	}
}

// Candidates without a topic of their own go where a topic covers them, or found one in the only area of their namespace.
func TestConvertAll(t *testing.T) {
	dir := initialised(t)
	var text strings.Builder
	text.WriteString("facts:\n")
	for i := range 40 {
		fmt.Fprintf(&text, "  - key: uk/%s/rate-%d\n    label: Rate number %d of %s\n    unit: \"%%\"\n    values:\n      - value: %d\n        effectiveFrom: 2024-04-06\n        source: https://www.gov.uk/rates\n        sourceType: derived\n        method: converted\n", []string{"income-tax", "vat"}[i%2], i, i, []string{"income", "value"}[i%2], i)
	}
	write(t, dir, map[string]string{"candidates/bulk.yaml": text.String()})
	done := 0
	list, err := dataset.ConfirmConverted(dir, dataset.ConvertOptions{All: true, Date: day(t, today), Today: day(t, today), Progress: func(n, _ int) { done = n }})
	if err != nil || len(list) != 40 || done != 40 {
		t.Fatalf("got %d, %v", len(list), err)
	}
	if r := lintDir(t, dir); r.Failed() {
		t.Error(r.Verdict, r.Findings)
	}
	if topic := read(t, dir, "topics/uk/vat.yaml"); !strings.Contains(topic, "prefix: uk/vat, title: Vat, area: uk-rates") {
		t.Errorf("got %.200s", topic)
	}
	again, err := dataset.ConfirmConverted(dir, dataset.ConvertOptions{All: true, Date: day(t, today), Today: day(t, today)})
	if err != nil || len(again) != 0 {
		t.Errorf("converting again: %v, %v", again, err)
	}
}

func TestSign(t *testing.T) {
	dir := sampleCopy(t)
	before := contents(t, dir)
	r, err := dataset.Sign(dir, dataset.SignOptions{Key: testKey(t), Today: day(t, today)})
	if err != nil || len(r.New) != 0 || r.EnterKey || !maps.Equal(before, contents(t, dir)) {
		t.Errorf("signing again: %+v, %v", r, err)
	}
	if r, err = dataset.Sign(dir, dataset.SignOptions{Key: testKey(t), Today: day(t, today), All: true}); err != nil || !maps.Equal(before, contents(t, dir)) {
		t.Errorf("signing all again: %+v, %v", r, err)
	}
	other := newKey(t, "ex-2026-11")
	_, err = dataset.Sign(dir, dataset.SignOptions{Key: other, Today: day(t, today)})
	wantKind(t, err, dataset.Refused, "is not listed")
	_, err = dataset.Sign(dir, dataset.SignOptions{Key: newKey(t, "ex-2026-10"), Today: day(t, today)})
	wantKind(t, err, dataset.Refused, "is another key")

	if k, err := dataset.AddKey(dir, other.Public(), 0, day(t, today)); err != nil || k.ValidFrom != "2026-12-07" {
		t.Fatalf("got %+v, %v, want seven days ahead", k, err)
	}
	_, err = dataset.AddKey(dir, newKey(t, "ex-2026-12").Public(), day(t, "2026-12-01"), day(t, today))
	wantKind(t, err, dataset.Refused, "less than 7 days")
	_, err = dataset.Sign(dir, dataset.SignOptions{Key: other, Today: day(t, "2026-12-06")})
	wantKind(t, err, dataset.Refused, "valid from 2026-12-07 only")
	if r, err = dataset.Sign(dir, dataset.SignOptions{Key: other, Today: day(t, "2026-12-07")}); err != nil || len(r.New) != 0 {
		t.Errorf("a new key signs what is signed already: %+v, %v", r, err)
	}
	if r, err = dataset.Sign(dir, dataset.SignOptions{Key: other, Today: day(t, "2026-12-07"), All: true}); err != nil || len(r.New) != 12 {
		t.Errorf("got %d new, %v, want all 12", len(r.New), err)
	}
	if _, err := dataset.RetireKey(dir, "ex-2026-11", 0, day(t, "2026-12-08")); err != nil {
		t.Fatal(err)
	}
	_, err = dataset.RetireKey(dir, "ex-2026-10", 0, day(t, "2026-12-08"))
	wantKind(t, err, dataset.Refused, "the only key in force")
	_, err = dataset.Sign(dir, dataset.SignOptions{Key: other, Today: day(t, "2026-12-08")})
	wantKind(t, err, dataset.Refused, "was retired")
	if lint := dataset.Lint(load(t, dir), day(t, "2026-12-08")); lint.Failed() {
		t.Errorf("a retired key no longer verifies: %s", list(lint, "fail"))
	}
	_, err = dataset.RevokeKey(dir, "ex-1999-01", 0, day(t, today))
	wantKind(t, err, dataset.NotFound, "no key")
	if _, err := dataset.RevokeKey(dir, "ex-2026-11", day(t, "2026-11-20"), day(t, "2026-12-08")); err != nil {
		t.Fatal(err)
	}
	_, err = dataset.RevokeKey(dir, "ex-2026-11", day(t, "2026-12-01"), day(t, "2026-12-08"))
	wantKind(t, err, dataset.Refused, "cannot be revoked")
	// The same day is still valid (S5): the three values verified on 2026-11-24 and 25 are not.
	if got := strings.Count(list(dataset.Lint(load(t, dir), day(t, "2026-12-08")), "fail"), "was revoked on 2026-11-20"); got != 3 {
		t.Errorf("%d signatures are refused, want 3", got)
	}
	if r, err = dataset.Sign(dir, dataset.SignOptions{Key: testKey(t), Today: day(t, "2026-12-08")}); err != nil || len(r.New) != 3 {
		t.Errorf("got %+v, %v, want the three signed again", r, err)
	}
}

func newKey(t *testing.T, kid string) *jwk.PrivateKey {
	t.Helper()
	key, err := jwk.Generate(kid, strings.NewReader(strings.Repeat(kid, 8)))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestTwoCommandsAtOnce(t *testing.T) {
	dir := sampleCopy(t)
	keys := []string{"zz/income-tax/basic-rate", "zz/other/passport-fee", "zz/other/vat-threshold", "zz/other/receipts-on-paper"}
	values := []string{"20", "94.5", "90000", "true"}
	errs := make(chan error)
	for i, key := range keys {
		go func() {
			_, err := dataset.Confirm(context.Background(), dir, dataset.ConfirmOptions{Key: key, Value: values[i], By: "test", Today: day(t, today), Offline: true})
			errs <- err
		}()
	}
	for range keys {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if got := strings.Count(read(t, dir, "confirmations.jsonl"), `"by":"test"`); got != len(keys) {
		t.Errorf("%d confirmations are kept, want %d", got, len(keys))
	}
}

func TestDue(t *testing.T) {
	folder := load(t, "testdata/sample")
	due := func(on string) (keys []string) {
		for _, d := range dataset.Due(folder, day(t, on)) {
			keys = append(keys, d.Key+" "+d.Staleness)
		}
		return keys
	}
	if got := due("2026-11-17"); len(got) != 0 {
		t.Errorf("due early: %v", got)
	}
	want := []string{"zz/income-tax/basic-rate overdue", "zz/income-tax/personal-allowance overdue", "zz/other/passport-fee due"}
	if got := due("2026-11-26"); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestCompare(t *testing.T) {
	day := day(t, today)
	a := slices.Collect(dataset.StatedBy(load(t, "testdata/sample"), day))
	b := slices.Clone(a)
	b[0].Value, b[0].Hash = "4", "x"
	b[1].Source, b[1].Hash = "https://other.example/", "y"
	b = slices.Delete(b, 2, 3)
	b = append(b, dataset.Stated{Claim: facts.Claim{Key: "zz/zzz/new"}, Hash: "z"})
	counts := map[dataset.Relation]int{}
	for c := range dataset.Compare(slices.Values(a), slices.Values(b)) {
		counts[c.Relation]++
		if c.Relation == dataset.DifferentHash && !slices.Equal(c.Members, []string{"source"}) {
			t.Errorf("%s differs in %v", c.Key, c.Members)
		}
	}
	want := map[dataset.Relation]int{dataset.SameHash: len(a) - 3, dataset.DifferentValue: 1, dataset.DifferentHash: 1, dataset.OnlyFirst: 1, dataset.OnlySecond: 1}
	if !maps.Equal(counts, want) {
		t.Errorf("got %v, want %v", counts, want)
	}
}

// What upstream checked before the newest entry is still taken: the value keeps that day, the entry has the newest one's (F§10.4 rule 8, F§8.5).
func TestConvertBeforeTheNewestEntry(t *testing.T) {
	dir := sampleCopy(t)
	write(t, dir, map[string]string{"candidates/levies.yaml": strings.ReplaceAll(candidateFile, "checked: 2026-11-26", "checked: 2025-02-03")})
	if _, err := dataset.ConfirmConverted(dir, dataset.ConvertOptions{Key: "zz/levies/sugar-levy", Date: day(t, "2026-11-26"), Today: day(t, today)}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir, "topics/zz/levies.yaml"); !strings.Contains(got, "verifiedDate: 2025-02-03") {
		t.Errorf("the value does not keep its day:\n%s", got)
	}
	if got := read(t, dir, "changelog.jsonl"); !strings.Contains(got, `"dateBasis":"commit"`) || strings.Contains(got, `"verifiedDate":"2025-02-03"`) {
		t.Errorf("the entry does not have the day of the newest one:\n%s", got)
	}
	for _, f := range lintDir(t, dir).Findings {
		if f.Outcome == report.Fail && f.Rule != "VF-D-012" {
			t.Errorf("%+v", f)
		}
	}
}

// The changelog is append-only, so an area that nothing declares never gets into it.
func TestConfirmRefusesAnUndeclaredArea(t *testing.T) {
	dir := sampleCopy(t)
	write(t, dir, map[string]string{"candidates/levies.yaml": strings.ReplaceAll(candidateFile, "area: zz-rates", "area: zz-rats")})
	before := read(t, dir, "changelog.jsonl") + read(t, dir, "confirmations.jsonl")
	_, err := dataset.ConfirmConverted(dir, dataset.ConvertOptions{Key: "zz/levies/sugar-levy", Date: day(t, today), Today: day(t, today)})
	wantKind(t, err, dataset.Refused, `area "zz-rats"`)
	if read(t, dir, "changelog.jsonl")+read(t, dir, "confirmations.jsonl") != before {
		t.Error("something was written")
	}
}
