package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"sayso/facts"
	"sayso/facts/factstest"
	"sayso/internal/web"
)

var today = factstest.Day("2026-11-30")

// page renders, parses and applies the rules that hold on every page.
func page(t *testing.T, render func(io.Writer) error) *html.Node {
	t.Helper()
	var b bytes.Buffer
	if err := render(&b); err != nil {
		t.Fatal(err)
	}
	doc, err := html.Parse(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	ids := make(map[string]bool)
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		for _, a := range n.Attr {
			if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
				t.Errorf("<%s> has an inline %s, which the policy drops", n.Data, a.Key)
			}
			if (a.Key == "href" || a.Key == "src") && !regexp.MustCompile(`^(https://|http://127\.0\.0\.1|/[^/]|/$|#)`).MatchString(a.Val) {
				t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
			}
			if a.Key == "id" {
				if ids[a.Val] {
					t.Errorf("two elements with id %q", a.Val)
				}
				ids[a.Val] = true
			}
		}
		if n.Data == "script" && attr(n, "src") == "" && attr(n, "type") != "application/ld+json" {
			t.Error("an inline script")
		}
		if n.Data == "style" {
			t.Error("an inline style sheet")
		}
	}
	if got := len(all(doc, "h1")); got != 1 {
		t.Errorf("%d h1 elements", got)
	}
	if title := text(first(doc, "title")); title == "" {
		t.Error("no title")
	}
	return doc
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func all(n *html.Node, element string) []*html.Node {
	var out []*html.Node
	for c := range n.Descendants() {
		if c.Type == html.ElementNode && c.Data == element {
			out = append(out, c)
		}
	}
	return out
}

func first(n *html.Node, element string) *html.Node {
	if found := all(n, element); len(found) > 0 {
		return found[0]
	}
	return &html.Node{}
}

func text(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return strings.TrimSpace(b.String())
}

func factPage(t *testing.T, s *facts.Snapshot, key string, sel facts.Selection) *html.Node {
	t.Helper()
	a, err := s.Get(key, sel, today)
	if err != nil {
		t.Fatal(err)
	}
	return page(t, func(w io.Writer) error { return web.Pages().Fact(w, s, &a, today) })
}

var anySelection = facts.Selection{MaxAge: facts.NoMaxAge}

func TestFactPageOfEveryKey(t *testing.T) {
	s := factstest.Snapshot(factstest.Sample())
	for key := range s.Keys() {
		a, err := s.Get(key, anySelection, today)
		if err != nil {
			t.Fatal(err)
		}
		if a.Outcome != facts.OutcomeRecord {
			page(t, func(w io.Writer) error { return web.Pages().Miss(w, s, &a, today) })
			continue
		}
		doc := factPage(t, s, key, anySelection)
		_, v := a.Value()
		if figure := text(doc); v.Withdrawn.IsZero() && !strings.Contains(figure, v.Value.Text()) {
			t.Errorf("%s: the value %s is not on the page", key, v.Value.Text())
		}
		var claim struct {
			Type, Text, DatePublished string
			Appearance                struct{ URL string }
		}
		block := first(first(doc, "head"), "script")
		for _, n := range all(doc, "script") {
			if attr(n, "type") == "application/ld+json" {
				block = n
			}
		}
		if err := json.Unmarshal([]byte(text(block)), &claim); err != nil {
			t.Errorf("%s: JSON-LD: %v", key, err)
		}
		if claim.DatePublished != v.Verified.String() || claim.Appearance.URL != v.Source {
			t.Errorf("%s: JSON-LD says %+v", key, claim)
		}
	}
}

// T16: the same digits everywhere.
func TestT16DigitsAreThePublishers(t *testing.T) {
	s := factstest.Snapshot(factstest.Sample())
	for key, want := range map[string]string{"uk/bank-rate": "3.75", "uk/income-tax/personal-allowance": "12570", "eu/ecb/deposit-rate": "2"} {
		doc := factPage(t, s, key, anySelection)
		if got := text(first(doc, "data")); got != want {
			t.Errorf("%s: the page shows %q, want %q", key, got, want)
		}
	}
}

func TestConvertedSaysSo(t *testing.T) {
	s := factstest.Snapshot(factstest.Sample())
	doc := factPage(t, s, "zz-smp/version/18.19", anySelection)
	if !strings.Contains(text(first(doc, "article")), "Converted, not re-read") {
		t.Error("the page does not say that nobody re-read the source")
	}
	for _, n := range all(doc, "script") {
		if attr(n, "type") == "application/ld+json" && !strings.Contains(text(n), "converted, not re-read") {
			t.Error("the JSON-LD does not say so")
		}
	}
}

func TestStaleSaysWhy(t *testing.T) {
	s := factstest.Snapshot(factstest.Sample())
	doc := factPage(t, s, "uk/income-tax/personal-allowance", facts.Selection{MaxAge: 30})
	if got := text(first(doc, "article")); !strings.Contains(got, "stale checked 57 days ago, older than the 30 days you asked for") {
		t.Errorf("the page says %q", got)
	}
}

func TestStatusSaysWhenTheNextCheckIs(t *testing.T) {
	s := factstest.Snapshot(factstest.Sample())
	doc := factPage(t, s, "uk/bank-rate", anySelection)
	if got := text(first(doc, "article")); !strings.Contains(got, "fresh checked 41 days ago; next check by 2026-12-04") {
		t.Errorf("the page says %q", got)
	}
}

func TestStaticPagesNameNoDay(t *testing.T) {
	ds := factstest.Sample()
	s, err := facts.NewSnapshot(ds, facts.Options{Origin: factstest.Origin, Static: true, Conformance: "L3"})
	if err != nil {
		t.Fatal(err)
	}
	doc := factPage(t, s, "uk/bank-rate", anySelection)
	for _, n := range all(doc, "span") {
		if strings.Contains(attr(n, "class"), "status") {
			t.Error("a static page carries a status")
		}
	}
	rendered := func(key string, on facts.Date) string {
		var b bytes.Buffer
		a, err := s.Get(key, anySelection, on)
		if err != nil {
			t.Fatal(err)
		}
		if err := web.Pages().Fact(&b, s, &a, on); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	next := s.NextBoundary(today)
	for key := range s.Keys() {
		if rendered(key, today) != rendered(key, next-1) {
			t.Errorf("%s: two days without a boundary between them give two pages", key)
		}
	}
	if a := first(first(doc, "nav"), "a"); !strings.HasSuffix(attr(a, "href"), ".html") {
		t.Errorf("a static page links to %q", attr(a, "href"))
	}
}

// Publisher text is text: no markup, no script link, no protocol-relative link comes out of it.
// A file shows the last value of a key that has none in force, and says so.
func TestStaticPageOfAnEndedValue(t *testing.T) {
	s, err := facts.NewSnapshot(factstest.Sample(), facts.Options{Origin: factstest.Origin, Static: true, Conformance: "L3"})
	if err != nil {
		t.Fatal(err)
	}
	for e := range s.Index("", today) {
		got := text(factPage(t, s, e.Key, anySelection))
		if strings.Contains(got, "Not in force") == e.InForce {
			t.Errorf("%s, in force %t: the page says %q", e.Key, e.InForce, got)
		}
	}
}

func TestHostilePublisherText(t *testing.T) {
	ds := factstest.Sample()
	const evil = `</script><script>alert(1)</script>"><img src=x onerror=alert(1)>`
	ds.Publisher.Name = "Example " + evil
	ds.Licence = evil
	ds.Contact = "javascript:alert(1)"
	ds.History = "//evil.example/"
	for i := range ds.Namespaces {
		ds.Namespaces[i].Description = evil
	}
	for i := range ds.Facts {
		ds.Facts[i].Label = "L" + evil
		ds.Facts[i].Scope = evil
		for j := range ds.Facts[i].Values {
			ds.Facts[i].Values[j].Quote = evil
		}
	}
	factstest.Sign(ds)
	s := factstest.Snapshot(ds)
	doc := factPage(t, s, "uk/bank-rate", anySelection)
	if len(all(doc, "img")) > 0 {
		t.Error("publisher text became markup")
	}
	index := page(t, func(w io.Writer) error { return web.Pages().Index(w, s, "", today) })
	protocol := page(t, func(w io.Writer) error { return web.Pages().Protocol(w, s, today) })
	for _, doc := range []*html.Node{index, protocol} {
		if len(all(doc, "img")) > 0 {
			t.Error("publisher text became markup")
		}
	}
}

func TestIndexIsBounded(t *testing.T) {
	ds := factstest.Generate(factstest.Options{Facts: 1200, Seed: 1})
	s := factstest.Snapshot(ds)
	doc := page(t, func(w io.Writer) error { return web.Pages().Index(w, s, "", today) })
	rows := 0
	for _, n := range all(doc, "tr") {
		if len(all(n, "td")) > 0 {
			rows++
		}
	}
	if rows != 500 {
		t.Errorf("%d rows on the index page", rows)
	}
	if !strings.Contains(text(doc), "This page shows 500 of them") {
		t.Error("the page does not say that it is cut")
	}
}

func TestEveryOtherPage(t *testing.T) {
	s := factstest.Snapshot(factstest.Sample())
	p := web.Pages()
	page(t, func(w io.Writer) error { return p.Index(w, s, "uk", today) })
	page(t, func(w io.Writer) error { return p.Changes(w, s, today) })
	page(t, func(w io.Writer) error {
		return p.Problem(w, s, 400, "Not a day", `"2026-02-30" is not a calendar day`)
	})
	page(t, func(w io.Writer) error { return p.Problem(w, nil, 503, "Not ready", "no dataset is loaded") })
	r, err := s.Resolve("base rate", "", 5, today)
	if err != nil {
		t.Fatal(err)
	}
	doc := page(t, func(w io.Writer) error { return p.Resolve(w, s, &r, today) })
	if got := text(first(doc, "data")); got != "3.75" {
		t.Errorf("the best answer shows %q", got)
	}
	b, err := s.Batch([]string{"uk/bank-rate", "no/such/key", "zz-smp/ended/figure"}, anySelection, today)
	if err != nil {
		t.Fatal(err)
	}
	page(t, func(w io.Writer) error { return p.Batch(w, s, &b, today) })
	a, err := s.Get("uk/no-such-figure", anySelection, today)
	if err != nil {
		t.Fatal(err)
	}
	page(t, func(w io.Writer) error { return p.Miss(w, s, &a, today) })
}

// Templates stay free of inline styles and of links that leave the origin by themselves.
func TestAssetsAreSelfContained(t *testing.T) {
	err := fs.WalkDir(os.DirFS("."), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".go") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, bad := range []string{" style=", "javascript:", "@import", "url(http"} {
			if bytes.Contains(data, []byte(bad)) {
				t.Errorf("%s contains %q", path, bad)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestArrayOfLikeObjectsIsATable(t *testing.T) {
	ds := factstest.Sample()
	for i := range ds.Facts {
		if ds.Facts[i].Key == "zz-smp/version/18.19" {
			ds.Facts[i].Values[0].Value = `[{"from":0,"rate":8},{"from":18,"rate":null}]`
		}
	}
	factstest.Sign(ds)
	s := factstest.Snapshot(ds)
	table := first(factPage(t, s, "zz-smp/version/18.19", anySelection), "table")
	if got := strings.Fields(text(table)); strings.Join(got, " ") != "fromrate 08 18–" {
		t.Errorf("the table reads %q", got)
	}
	for _, other := range []facts.Value{`[]`, `[1,2]`, `[{"a":1},{"b":1}]`, `[{"a":[1]}]`, `[{"a":1},{"a":1,"b":2}]`, `{"a":1}`} {
		for i := range ds.Facts {
			if ds.Facts[i].Key == "zz-smp/version/18.19" {
				ds.Facts[i].Values[0].Value = other
			}
		}
		factstest.Sign(ds)
		doc := factPage(t, factstest.Snapshot(ds), "zz-smp/version/18.19", anySelection)
		if len(all(doc, "pre")) != 1 {
			t.Errorf("%s is not shown as JSON", other)
		}
	}
}

// A large namespace does not push the others off the page.
func TestIndexShowsEveryNamespace(t *testing.T) {
	ds := factstest.Sample()
	for i := range 900 {
		v := facts.DatedValue{Value: "1", Unit: "EUR", Source: "https://www.ecb.europa.eu/rates", Verified: today}
		ds.Facts = append(ds.Facts, facts.Fact{Key: fmt.Sprintf("eu/generated/figure-%03d", i), Label: "Generated", Topic: -1, Values: []facts.DatedValue{v}})
	}
	slices.SortFunc(ds.Facts, func(a, b facts.Fact) int { return strings.Compare(a.Key, b.Key) })
	factstest.Sign(ds)
	s := factstest.Snapshot(ds)
	doc := page(t, func(w io.Writer) error { return web.Pages().Index(w, s, "", today) })
	shown := text(first(doc, "main"))
	for _, key := range []string{"uk/bank-rate", "uk-sct/income-tax/starter-rate", "zz-smp/version/18.19", "eu/generated/figure-000"} {
		if !strings.Contains(shown, key) {
			t.Errorf("%s is not on the page", key)
		}
	}
	if got := len(all(doc, "tr")) - len(all(doc, "thead")); got > 500 {
		t.Errorf("%d rows", got)
	}
}

// Lists show what fits a line; the fact page shows the whole.
func TestListsAreBrief(t *testing.T) {
	for value, want := range map[facts.Value]string{
		`[{"from":0,"rate":8},{"from":18,"rate":10}]`: "table of 2 rows",
		`[1,2,3]`: "list of 3 items",
		`{"a":1}`: "record of 1 member",
		facts.StringValue(strings.Repeat("é", 61)): strings.Repeat("é", 60) + "…",
		facts.StringValue("2030-10-31"):            "2030-10-31",
		`12570.123456789`:                          "12570.123456789",
	} {
		ds := factstest.Sample()
		for i := range ds.Facts {
			if ds.Facts[i].Key == "zz-smp/version/18.19" {
				ds.Facts[i].Values[0].Value = value
			}
		}
		factstest.Sign(ds)
		s := factstest.Snapshot(ds)
		doc := page(t, func(w io.Writer) error { return web.Pages().Index(w, s, "zz-smp", today) })
		found := false
		for _, cell := range all(doc, "td") {
			found = found || text(cell) == want
		}
		if !found {
			t.Errorf("the index does not show %s as %q", value, want)
		}
	}
}
