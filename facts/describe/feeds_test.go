package describe_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/facts"
	"sayso/facts/describe"
	"sayso/facts/factstest"
)

func TestLLMs_F9_4(t *testing.T) {
	line := regexp.MustCompile("^- `GET https://figures\\.example/[^` ]+` [^`\n]+\\.$")
	for _, v := range variants() {
		text := string(describe.LLMs(v.snapshot))
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if len(lines) != 2 || !line.MatchString(lines[0]) || !line.MatchString(lines[1]) {
			t.Errorf("%s: %s", v.name, text)
		}
		static := v.snapshot.Info().Static
		if strings.Contains(text, "resolve") == static || strings.Contains(text, ".json` returns") != static || strings.Contains(text, "<figure>.json") != static {
			t.Errorf("%s: %s", v.name, text)
		}
	}
}

type atomFeed struct {
	XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string   `xml:"id"`
	Title   string   `xml:"title"`
	Updated string   `xml:"updated"`
	Author  []struct {
		Name string `xml:"name"`
	} `xml:"author"`
	Links   []atomLink `xml:"link"`
	Entries []struct {
		ID      string     `xml:"id"`
		Title   string     `xml:"title"`
		Updated string     `xml:"updated"`
		Summary string     `xml:"summary"`
		Links   []atomLink `xml:"link"`
	} `xml:"entry"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr"`
	Href string `xml:"href,attr"`
}

// TestAtom_RFC4287 checks what the format requires of a feed and its entries, and that ids name the chain links.
func TestAtom_RFC4287(t *testing.T) {
	for _, v := range variants() {
		var feed atomFeed
		doc := describe.Atom(v.snapshot)
		if err := xml.Unmarshal(doc, &feed); err != nil {
			t.Fatalf("%s: %v\n%s", v.name, err, doc)
		}
		if feed.ID == "" || feed.Title == "" || len(feed.Author) != 1 || feed.Author[0].Name == "" {
			t.Errorf("%s: %s", v.name, doc)
		}
		if _, err := time.Parse(time.RFC3339, feed.Updated); err != nil {
			t.Errorf("%s: updated: %v", v.name, err)
		}
		if !slices.ContainsFunc(feed.Links, func(l atomLink) bool { return l.Rel == "self" }) {
			t.Errorf("%s: no self link", v.name)
		}
		entries := v.snapshot.Entries()
		if len(feed.Entries) != len(entries) {
			t.Fatalf("%s: %d entries, want %d", v.name, len(feed.Entries), len(entries))
		}
		seen := map[string]bool{}
		for i, e := range feed.Entries {
			from := entries[len(entries)-1-i]
			digest, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(e.ID, "ni:///sha-256;"))
			if err != nil || "sha256:"+hex.EncodeToString(digest) != from.Link() || seen[e.ID] {
				t.Errorf("%s: id %s of link %s", v.name, e.ID, from.Link())
			}
			seen[e.ID] = true
			if e.Updated != from.VerifiedDate.String()+"T00:00:00Z" || e.Title == "" || e.Summary == "" || len(e.Links) == 0 {
				t.Errorf("%s: entry %+v", v.name, e)
			}
		}
	}
}

func TestAtomWords(t *testing.T) {
	doc := string(describe.Atom(variants()[0].snapshot))
	for _, title := range []string{"Personal Allowance: 12500 GBP/year<", "Personal Allowance: 12500 to 12570 GBP/year<", "Personal Allowance: 12570 GBP/year, unchanged<", "zz-smp/withdrawn/dated: withdrawn<"} {
		if !strings.Contains(doc, "<title>"+title) {
			t.Errorf("no title %q in %s", title, doc)
		}
	}
	if static := string(describe.Atom(variants()[1].snapshot)); !strings.Contains(static, "/f/uk/income-tax/personal-allowance.html") {
		t.Error("the static feed does not lead to the page's file")
	}
}

// TestAtomStaysWellFormed feeds it markup where a publisher may write text.
func TestAtomStaysWellFormed(t *testing.T) {
	ds := withChanges(unsigned())
	ds.Publisher.Name, ds.Licence = "]]><script>&", `<b>&"'`
	ds.Changes[0].Label = `</title><&>"`
	chain, err := facts.AppendEntries(nil, relinked(ds.Changes))
	if err != nil {
		t.Fatal(err)
	}
	ds.Changes = chain
	var feed atomFeed
	if err := xml.Unmarshal(describe.Atom(snapshot(ds, "L2", false)), &feed); err != nil {
		t.Fatal(err)
	}
	if last := feed.Entries[len(feed.Entries)-1]; !strings.HasPrefix(last.Title, `</title><&>"`) || feed.Author[0].Name != "]]><script>&" {
		t.Errorf("%+v by %+v", last, feed.Author)
	}
}

// relinked takes the links off, so that the entries can be appended again.
func relinked(entries []facts.Entry) []facts.Entry {
	out := slices.Clone(entries)
	for i := range out {
		out[i].Hash, out[i].PrevHash = "", ""
	}
	return out
}

type siteMap struct {
	URLs []struct {
		Loc     string `xml:"loc"`
		LastMod string `xml:"lastmod"`
	} `xml:"url"`
	Files []struct {
		Loc string `xml:"loc"`
	} `xml:"sitemap"`
}

func sitemaps(t *testing.T, s *facts.Snapshot, perFile int) map[string]siteMap {
	t.Helper()
	out := map[string]siteMap{}
	for name, write := range func(yield func(string, func(io.Writer) error) bool) {
		if perFile == 0 {
			describe.Sitemaps(s, yield)
		} else {
			describe.SitemapsOf(s, perFile, yield)
		}
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		var m siteMap
		if err := xml.Unmarshal(b.Bytes(), &m); err != nil {
			t.Fatalf("%s: %v\n%.300s", name, err, b.Bytes())
		}
		out[name] = m
	}
	return out
}

func TestSitemap_F9_5(t *testing.T) {
	for _, v := range variants() {
		maps := sitemaps(t, v.snapshot, 0)
		if len(maps) != 1 || len(maps["sitemap.xml"].URLs) != v.snapshot.Len() {
			t.Fatalf("%s: %d files", v.name, len(maps))
		}
		suffix := ""
		if v.snapshot.Info().Static {
			suffix = ".html"
		}
		for i, key := range slices.Collect(v.snapshot.Keys()) {
			page := maps["sitemap.xml"].URLs[i]
			if page.Loc != factstest.Origin+"/f/"+key+suffix {
				t.Errorf("%s: page %s for %s", v.name, page.Loc, key)
			}
			fact, _, _ := v.snapshot.History(key)
			newest := slices.MaxFunc(fact.Values, func(a, b facts.DatedValue) int { return int(a.Verified - b.Verified) })
			if page.LastMod != newest.Verified.String() {
				t.Errorf("%s: %s lastmod %s", v.name, key, page.LastMod)
			}
		}
	}
}

func TestSitemapOverTheLimit_F9_5(t *testing.T) {
	s := factstest.Snapshot(factstest.Generate(factstest.Options{Facts: 43, Seed: 1, Unsigned: true}))
	for perFile, wantFiles := range map[int]int{20: 3, 43: 0, 42: 2, 44: 0, 1: 43} {
		maps := sitemaps(t, s, perFile)
		if len(maps["sitemap.xml"].Files) != wantFiles || len(maps) != wantFiles+1 {
			t.Fatalf("%d a file: %d files, %d in the index", perFile, len(maps), len(maps["sitemap.xml"].Files))
		}
		pages := maps["sitemap.xml"].URLs
		for i, file := range maps["sitemap.xml"].Files {
			name := fmt.Sprintf("sitemap-%d.xml", i+1)
			if file.Loc != factstest.Origin+"/"+name || len(maps[name].URLs) > perFile {
				t.Errorf("%d a file: %s has %d pages", perFile, file.Loc, len(maps[name].URLs))
			}
			pages = append(pages, maps[name].URLs...)
		}
		for i, key := range slices.Collect(s.Keys()) {
			if pages[i].Loc != factstest.Origin+"/f/"+key {
				t.Fatalf("%d a file: page %d is %s, want %s", perFile, i, pages[i].Loc, key)
			}
		}
	}
}
