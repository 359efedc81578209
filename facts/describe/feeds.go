package describe

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"

	"sayso/facts"
)

// LLMs is /llms.txt: exactly two lines (F§9.4).
func LLMs(s *facts.Snapshot) []byte {
	info := s.Info()
	example := "{key}"
	if examples := CatalogueOf(s).Examples; len(examples) > 0 {
		example = examples[0]
	}
	get, rest := info.Origin+"/f/"+example+"?max_age=30d", "<figure>, index at /f; /f/resolve?q= finds a key"
	if info.Static {
		get, rest = info.Origin+"/f/"+example+".json", "<figure>.json, index at /f/index.json"
	}
	return fmt.Appendf(nil, "- `GET %s` returns one official figure with its unit, period, source and the day it was verified; "+
		"the pattern is /f/<namespace>/<topic>/%s.\n"+
		"- `GET %s` says in one document what %s publishes, how often each part is checked and where every form of it is.\n",
		get, rest, info.Origin+pathFactsDoc, plain(info.Publisher.Name))
}

// maxFeedEntries bounds the Atom feed; the changes document has the rest.
const maxFeedEntries = 200

type feed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated string      `xml:"updated"`
	Author  feedAuthor  `xml:"author"`
	Links   []feedLink  `xml:"link"`
	Rights  string      `xml:"rights,omitempty"`
	Entries []feedEntry `xml:"entry"`
}

type feedAuthor struct {
	Name string `xml:"name"`
	URI  string `xml:"uri,omitempty"`
}

type feedLink struct {
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr,omitempty"`
	Href string `xml:"href,attr"`
}

type feedEntry struct {
	ID       string        `xml:"id"`
	Title    string        `xml:"title"`
	Updated  string        `xml:"updated"`
	Links    []feedLink    `xml:"link"`
	Category *feedCategory `xml:"category,omitempty"`
	Summary  string        `xml:"summary"`
}

type feedCategory struct {
	Term string `xml:"term,attr"`
}

// Atom is the feed of changes, newest first (RFC 4287). An entry's id is its chain link as an RFC 6920 name, so it is
// the same wherever and whenever the feed is made; updated is the entry's verifiedDate.
func Atom(s *facts.Snapshot) []byte {
	info := s.Info()
	doc := feed{
		ID:      info.Origin + pathAtom,
		Title:   plain(info.Publisher.Name) + ": changed figures",
		Updated: instant(info.Newest),
		Author:  feedAuthor{Name: plain(info.Publisher.Name), URI: info.Publisher.URL},
		Links: []feedLink{
			{Rel: "self", Type: "application/atom+xml", Href: info.Origin + pathAtom},
			{Rel: "alternate", Type: "application/json", Href: info.Origin + pathChanges},
		},
		Rights: plain(info.Licence),
	}
	entries := s.Entries()
	if len(entries) > 0 {
		doc.Updated = instant(entries[len(entries)-1].VerifiedDate)
	}
	for i := len(entries) - 1; i >= 0 && len(doc.Entries) < maxFeedEntries; i-- {
		doc.Entries = append(doc.Entries, feedEntryOf(info, &entries[i]))
	}
	out, err := xml.Marshal(doc)
	if err != nil {
		panic("describe: " + err.Error())
	}
	return append(append([]byte(xml.Header), out...), '\n')
}

func feedEntryOf(info *facts.Info, e *facts.Entry) feedEntry {
	label := e.Label
	if label == "" {
		label = e.FactKey
	}
	page := info.Origin + "/f/" + e.FactKey
	if info.Static {
		page += ".html"
	}
	out := feedEntry{
		ID:      linkName(e.Link()),
		Title:   plain(label) + ": " + changeText(e),
		Updated: instant(e.VerifiedDate),
		Links:   []feedLink{{Rel: "alternate", Type: "text/html", Href: page}, {Rel: "via", Href: e.Source}},
		Summary: changeSummary(e),
	}
	if e.Area != "" {
		out.Category = &feedCategory{Term: e.Area}
	}
	return out
}

// changeText says what moved, the digits as everywhere else.
func changeText(e *facts.Entry) string {
	unit := ""
	if e.Unit != "" {
		unit = " " + plain(e.Unit)
	}
	switch {
	case isNull(e.To):
		return "withdrawn"
	case isNull(e.From):
		return plain(e.To.Text()) + unit
	case e.From == e.To:
		return plain(e.To.Text()) + unit + ", unchanged"
	}
	return plain(e.From.Text()) + " to " + plain(e.To.Text()) + unit
}

func changeSummary(e *facts.Entry) string {
	var parts []string
	if e.Period != "" {
		parts = append(parts, "period "+plain(e.Period))
	}
	if !e.EffectiveFrom.IsZero() {
		parts = append(parts, "from "+e.EffectiveFrom.String())
	}
	if e.SupersededBy != "" {
		parts = append(parts, "superseded by "+e.SupersededBy)
	}
	if e.Correction {
		parts = append(parts, "corrects an earlier entry")
	}
	parts = append(parts, "verified "+e.VerifiedDate.String()+" against "+e.Source)
	return e.FactKey + ": " + strings.Join(parts, ", ")
}

func isNull(v facts.Value) bool { return v == "" || v == facts.Null }

// instant is the start of a day in UTC; a publisher without any date gets the epoch, because the feed must have one.
func instant(d facts.Date) string {
	if d.IsZero() {
		return "1970-01-01T00:00:00Z"
	}
	return d.String() + "T00:00:00Z"
}

// linkName turns "sha256:<hex>" into the RFC 6920 name of the same digest.
func linkName(link string) string {
	digest, err := hex.DecodeString(strings.TrimPrefix(link, "sha256:"))
	if err != nil {
		return "urn:" + link
	}
	return "ni:///sha-256;" + base64.RawURLEncoding.EncodeToString(digest)
}

// maxSitemapPages is the most pages one sitemap file may list.
const maxSitemapPages = 50_000

// Sitemaps yields file name -> content: sitemap.xml, which is an index of sitemap-1.xml, sitemap-2.xml, … when there
// are more than 50,000 fact pages (F§9.5). lastmod is the newest verifiedDate among the values a page shows.
func Sitemaps(s *facts.Snapshot, yield func(name string, write func(io.Writer) error) bool) {
	sitemaps(s, maxSitemapPages, yield)
}

func sitemaps(s *facts.Snapshot, perFile int, yield func(name string, write func(io.Writer) error) bool) {
	files := (s.Len() + perFile - 1) / perFile
	if files <= 1 {
		yield("sitemap.xml", func(w io.Writer) error { return writePages(w, s, 0, perFile) })
		return
	}
	if !yield("sitemap.xml", func(w io.Writer) error { return writeSitemapIndex(w, s, files) }) {
		return
	}
	for i := range files {
		name := "sitemap-" + strconv.Itoa(i+1) + ".xml"
		if !yield(name, func(w io.Writer) error { return writePages(w, s, i*perFile, perFile) }) {
			return
		}
	}
}

const (
	sitemapNamespace = ` xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n"
	urlSetHead       = xml.Header + "<urlset" + sitemapNamespace
	indexHead        = xml.Header + "<sitemapindex" + sitemapNamespace
)

func writeSitemapIndex(w io.Writer, s *facts.Snapshot, files int) error {
	info := s.Info()
	out := []byte(indexHead)
	for i := range files {
		out = append(out, "<sitemap><loc>"...)
		out = appendXML(out, info.Origin+"/sitemap-"+strconv.Itoa(i+1)+".xml")
		out = append(out, "</loc></sitemap>\n"...)
	}
	_, err := w.Write(append(out, "</sitemapindex>\n"...))
	return err
}

// writePages streams the pages of one sitemap file: count keys behind the first skip.
func writePages(w io.Writer, s *facts.Snapshot, skip, count int) error {
	info := s.Info()
	suffix := ""
	if info.Static {
		suffix = ".html"
	}
	out := []byte(urlSetHead)
	n := 0
	for key := range s.Keys() {
		if n++; n <= skip {
			continue
		}
		if n > skip+count {
			break
		}
		out = append(out, "<url><loc>"...)
		out = appendXML(out, info.Origin+"/f/"+key+suffix)
		out = append(out, "</loc>"...)
		if day := lastVerified(s, key); !day.IsZero() {
			out = append(append(append(out, "<lastmod>"...), day.String()...), "</lastmod>"...)
		}
		out = append(out, "</url>\n"...)
		if len(out) > 32<<10 {
			if _, err := w.Write(out); err != nil {
				return err
			}
			out = out[:0]
		}
	}
	_, err := w.Write(append(out, "</urlset>\n"...))
	return err
}

func lastVerified(s *facts.Snapshot, key string) facts.Date {
	fact, _, ok := s.History(key)
	if !ok {
		return 0
	}
	var newest facts.Date
	for i := range fact.Values {
		newest = max(newest, fact.Values[i].Verified)
	}
	return newest
}

// appendXML appends text with the five markup characters escaped.
func appendXML(dst []byte, text string) []byte {
	return append(dst, xmlEscaper.Replace(text)...)
}

var xmlEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;")
