package bizhttp

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"iter"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"sayso/business"
)

const (
	// maxURLs is how many addresses one sitemap, or one index of sitemaps, may hold (sitemaps.org).
	maxURLs = 50_000
	// maxTextRecords is how many records llms.txt tells; the export has all.
	maxTextRecords = 500
	// maxTextRead is after how many bytes of records llms.txt stops before that: what it tells of them is short, reading them is not.
	maxTextRead = 4 << 20
	// maxProse is how much of one published text llms.txt tells, in code points.
	maxProse = 400
)

// serveText answers with llms.txt: the same records as prose, for programs that read only text.
func (h *handler) serveText(x *exchange, p *business.Publication) error {
	var b bytes.Buffer
	info := x.info(p)
	fmt.Fprintf(&b, "# %s\n\n", prose(info.DisplayName))
	if info.BusinessCategory != "" {
		fmt.Fprintf(&b, "> %s\n\n", prose(info.BusinessCategory))
	}
	writeStated(&b, "Legal name", info.LegalName)
	writeStated(&b, "Website as stated by the business", info.Website)
	writeStated(&b, "Languages", strings.Join(info.ContentLanguages, ", "))
	b.WriteString("- What is not stated here is not stated; it is not a no.\n")
	at := x.site.Locators(p)
	writeStated(&b, "Manifest", at.Manifest)
	writeStated(&b, "Export", at.BulkExport)
	writeStated(&b, "Questions (MCP)", at.MCP)
	if len(info.Locations) > 0 {
		b.WriteString("\n## Locations\n\n")
	}
	for _, l := range info.Locations {
		writeLocation(&b, l)
	}
	told, size := 0, 0
	for r, err := range h.records(x.r.Context(), p.Slug, RecordKey{}) {
		if err != nil {
			return err
		}
		if told == 0 {
			b.WriteString("\n## Records\n\n")
		}
		if told == maxTextRecords || size > maxTextRead {
			b.WriteString("\nThere are more records than are told here; the export holds all of them.\n")
			break
		}
		told++
		size += sizeOf(r)
		fmt.Fprintf(&b, "- %s (%s), %s", prose(r.Title), r.Type, x.site.RecordURL(p, r.Type, r.ID))
		if r.Summary != "" {
			fmt.Fprintf(&b, ": %s", prose(r.Summary))
		}
		b.WriteByte('\n')
	}
	return x.sendHashed(b.Bytes(), typeText, cacheShort)
}

func writeStated(b *bytes.Buffer, name, value string) {
	if value != "" {
		fmt.Fprintf(b, "- %s: %s\n", name, prose(value))
	}
}

func writeLocation(b *bytes.Buffer, l business.Location) {
	parts := []string{}
	for _, part := range []string{l.Name, l.Address, l.StreetAddress, strings.TrimSpace(l.PostalCode + " " + l.Locality), l.Country, l.Phone, l.Email, l.OpeningHours} {
		if part != "" {
			parts = append(parts, prose(part))
		}
	}
	fmt.Fprintf(b, "- %s\n", strings.Join(parts, "; "))
}

// registryText is llms.txt of the registry's own host.
func registryText(s business.Site, published []*business.Publication) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Business registry\n\n- Query: %s\n- Registry keys: %s\n\n## Publishers\n\n", s.QueryURL(), s.RegistryKeysURL())
	for _, p := range published {
		fmt.Fprintf(&b, "- %s: %s\n", prose(p.Profile.DisplayName), s.Locators(p).PublicProfile)
	}
	return b.Bytes()
}

// prose makes published text one line, so that it cannot forge the lines around it.
func prose(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	n := 0
	for i := range s {
		if n++; n > maxProse {
			return s[:i] + "…"
		}
	}
	return s
}

// serveSitemap streams the publisher's page list, or an index when there are more than maxURLs pages: ?page=n is then one of them.
func (h *handler) serveSitemap(x *exchange, p *business.Publication) error {
	return h.snapshot(x, p.Slug, func(p *business.Publication, records iter.Seq2[*business.Record, error]) error {
		total := 2 // profile and verify page
		for _, t := range p.Types {
			total += t.Count
		}
		first, indexed, err := x.sitemapRange(total)
		if err != nil {
			return err
		}
		if x.beginStream(x.stateTag(p, p.State.ChangedAt, first, indexed), typeXML, cacheShort) {
			return nil
		}
		out := x.outflow()
		m := sitemap{b: &out.Buffer}
		if indexed {
			m.index(x.site.Locators(p).Sitemap, total)
		} else if err := m.pages(out, p, first, records); err != nil {
			return err
		}
		m.end()
		return out.flush()
	})
}

// serveSitemaps answers with the registry's list of its publishers' lists.
func (x *exchange) serveSitemaps(published []*business.Publication) error {
	first, indexed, err := x.sitemapRange(len(published))
	if err != nil {
		return err
	}
	var b bytes.Buffer
	m := sitemap{b: &b}
	if indexed {
		m.index(x.site.Origin+"/sitemap.xml", len(published))
	} else {
		m.begin("sitemapindex", "sitemap")
		for _, p := range published[first:min(first+maxURLs, len(published))] {
			m.add(x.site.Locators(p).Sitemap, p.State.ChangedAt)
		}
	}
	m.end()
	return x.sendHashed(b.Bytes(), typeXML, cacheShort)
}

// sitemapRange reads ?page. indexed says that a list of pages is asked for; else first is the number of the first address of the page.
func (x *exchange) sitemapRange(total int) (first int, indexed bool, err error) {
	given, ok := x.r.URL.Query()["page"]
	if !ok {
		return 0, total > maxURLs, nil
	}
	n, err := strconv.Atoi(given[0])
	if err != nil || len(given) > 1 || n < 1 || n > (total+maxURLs-1)/maxURLs || total <= maxURLs {
		return 0, false, &problem{kind: kindNotFound, message: "there is no such page of the sitemap; sitemap.xml without page lists what there is"}
	}
	return (n - 1) * maxURLs, false, nil
}

// sitemap is a document of sitemaps.org in the making.
type sitemap struct {
	b           *bytes.Buffer
	root, entry string
}

func (m *sitemap) begin(root, entry string) {
	m.root, m.entry = root, entry
	m.b.WriteString(xml.Header + "<" + root + ` xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n")
}

func (m *sitemap) add(at string, changed time.Time) {
	m.b.WriteString("<" + m.entry + "><loc>")
	xml.EscapeText(m.b, []byte(at)) // a bytes.Buffer takes everything
	m.b.WriteString("</loc>")
	if !changed.IsZero() {
		m.b.WriteString("<lastmod>" + changed.UTC().Format(time.RFC3339) + "</lastmod>")
	}
	m.b.WriteString("</" + m.entry + ">\n")
}

func (m *sitemap) end() { m.b.WriteString("</" + m.root + ">\n") }

func (m *sitemap) index(at string, total int) {
	m.begin("sitemapindex", "sitemap")
	for n := 1; (n-1)*maxURLs < total; n++ {
		m.add(at+"?"+url.Values{"page": {strconv.Itoa(n)}}.Encode(), time.Time{})
	}
}

// pages lists the addresses from number first on.
func (m *sitemap) pages(out *outflow, p *business.Publication, first int, records iter.Seq2[*business.Record, error]) error {
	m.begin("urlset", "url")
	number, site := 0, out.x.site
	add := func(at string, changed time.Time) {
		if number >= first && number < first+maxURLs {
			m.add(at, changed)
		}
		number++
	}
	profile := site.Locators(p).PublicProfile
	add(profile, p.State.ChangedAt)
	add(profile+"/verify", time.Time{})
	for r, err := range records {
		if err != nil {
			return unread(err)
		}
		if number >= first+maxURLs {
			break
		}
		add(site.RecordURL(p, r.Type, r.ID), r.UpdatedAt)
		if err := out.ease(); err != nil {
			return err
		}
	}
	return nil
}
