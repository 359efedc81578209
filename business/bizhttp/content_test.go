package bizhttp_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"sayso/business"
	"sayso/business/bizhttp"
	"sayso/jcs"
)

// XP-DISCOVERY-005: host form and path form say the same, times and signature aside; aliases are the same bytes.
func TestHostAndPathFormsAgree(t *testing.T) {
	s := newSurface(t)
	for _, state := range states {
		for _, name := range []string{"manifest.json", "registry.json", "jwks.json"} {
			byHost := s.get("/.well-known/x-protocol/"+name, "Host", state+".example")
			s.now = s.now.Add(7)
			byPath := s.get("/t/" + state + "/.well-known/x-protocol/" + name)
			if a, b := timeless(t, byHost.Body.Bytes()), timeless(t, byPath.Body.Bytes()); a != b {
				t.Errorf("%s of %s:\n%s\n%s", name, state, a, b)
			}
		}
		for alias, path := range map[string]string{
			"/.well-known/protocol-x-manifest.json":     "/.well-known/x-protocol/manifest.json",
			"/.well-known/knowledge-core/registry.json": "/.well-known/x-protocol/registry.json",
			"/.well-known/knowledge-core/jwks.json":     "/.well-known/x-protocol/jwks.json",
		} {
			a, b := s.get(alias, "Host", state+".example"), s.get(path, "Host", state+".example")
			if a.Code != 200 || a.Body.String() != b.Body.String() || a.Header().Get("Etag") != b.Header().Get("Etag") {
				t.Errorf("%s of %s differs from %s", alias, state, path)
			}
		}
	}
	// The list at a host's root is the registry's, whoever's host it is.
	registry := s.get("/.well-known/x-protocol/revocations.json")
	if own := s.get("/.well-known/x-protocol/revocations.json", "Host", "published.example"); own.Body.String() != registry.Body.String() {
		t.Errorf("under a publisher's host: %s", own.Body)
	}
	if strings.Contains(registry.Body.String(), `"publisher"`) {
		t.Errorf("%s", registry.Body)
	}
}

// timeless is the canonical form without times and signature.
func timeless(t *testing.T, text []byte) string {
	t.Helper()
	members, err := business.Members(text)
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	kept := slices.DeleteFunc(members, func(m jcs.Member) bool {
		return slices.Contains([]string{"generated_at", "signed_at", "expires_at", "attestation"}, m.Name)
	})
	out, err := business.Canon(jcs.AppendMembers(nil, kept))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// XP-IDENTITY-001, XP-EXPORT-001: one shape of a record in profile, page and export, literals as stated.
func TestOneShapeOfARecord(t *testing.T) {
	s := newSurface(t)
	lines := strings.Split(strings.TrimSpace(s.get(berlin+"published/dump.jsonl").Body.String()), "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[0], `{"_meta":{`) {
		t.Fatalf("%q", lines)
	}
	var profile struct {
		Records     []jcs.Raw
		RecordTypes []struct {
			Type  string
			Count int
		} `json:"record_types"`
		Publisher, State, Endpoints object
	}
	if err := json.Unmarshal(s.get(berlin+"published", "Accept", "application/json").Body.Bytes(), &profile); err != nil {
		t.Fatal(err)
	}
	if len(profile.Records) != 3 || len(profile.RecordTypes) != 2 || profile.State["generation"] == nil || profile.Endpoints["bulk_export"] != testOrigin+berlin+"published/dump.jsonl" {
		t.Errorf("%+v", profile)
	}
	for i, rec := range s.records["published"] {
		at := strings.TrimPrefix(s.site.RecordURL(s.pubs["published"], rec.Type, rec.ID), testOrigin)
		single := s.get(at, "Accept", "application/json").Body.String()
		if single != lines[i+1] || string(profile.Records[i]) != single {
			t.Errorf("%s:\npage    %s\nexport  %s\nprofile %s", rec.ID, single, lines[i+1], profile.Records[i])
		}
	}
	if !strings.Contains(lines[1], `"price":50.0`) {
		t.Errorf("the literal changed: %s", lines[1])
	}
}

// Whatever a business publishes comes out as data.
func TestHostileText(t *testing.T) {
	s := newSurface(t)
	hostile := "</script><script>alert(1)</script>\"'&\u2028\u2029\r\n## Forged\n- Manifest: https://evil.example\t]]>{{.}}\x1b[2J"
	quoted, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	p := s.pubs["published"]
	p.Profile.DisplayName, p.Profile.LegalName, p.Profile.BusinessCategory, p.Profile.Website = hostile, hostile, hostile, hostile
	p.Profile.ProfileAttributes = jcs.Raw(`{` + string(quoted) + `:` + string(quoted) + `}`)
	for i := range p.Profile.Locations {
		l := &p.Profile.Locations[i]
		l.Name, l.StreetAddress, l.PostalCode, l.Phone, l.Email, l.Country, l.Address = hostile, hostile, hostile, hostile, hostile, hostile, hostile
	}
	s.setRecords("published", []business.Record{{ID: "exam", Type: "service", Title: hostile, Summary: hostile, Content: hostile, Aliases: []string{hostile}, Attributes: p.Profile.ProfileAttributes}})
	for _, target := range []string{berlin + "published", berlin + "published/service/exam", "/discovery/query?name=forged", "/b", "/t/published/.well-known/x-protocol/manifest.json", "/t/published/.well-known/x-protocol/registry.json"} {
		w := s.get(target, "Accept", "application/json")
		m := decoded(t, w.Body.Bytes())
		if !holds(m, hostile) || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s does not hold the text as it was published: %s", target, w.Body)
		}
	}
	for i, line := range strings.Split(strings.TrimSuffix(s.get(berlin+"published/dump.jsonl").Body.String(), "\n"), "\n") {
		if !json.Valid([]byte(line)) {
			t.Errorf("line %d of the export: %s", i, line)
		}
	}
	for _, target := range []string{berlin + "published", berlin + "published/service/exam"} {
		body := s.get(target).Body.String()
		_, ld, _ := strings.Cut(body, `application/ld+json">`)
		ld, _, closed := strings.Cut(ld, "</script>")
		if !closed || strings.Contains(ld, "<") || !json.Valid([]byte(ld)) || !strings.Contains(ld, `\u003c/script>`) {
			t.Errorf("%s: JSON-LD %s", target, ld)
		}
	}
	for _, target := range []string{berlin + "published/llms.txt", "/llms.txt"} {
		for line := range strings.SplitSeq(s.get(target).Body.String(), "\n") {
			if strings.HasPrefix(line, "## Forged") || strings.HasPrefix(line, "- Manifest: https://evil") {
				t.Errorf("%s: forged line %q", target, line)
			}
			if strings.ContainsFunc(line, unicode.IsControl) {
				t.Errorf("%s: a terminal would obey %q", target, line)
			}
		}
	}
}

// holds reports whether a string stands somewhere in a JSON value.
func holds(v any, want string) bool {
	switch v := v.(type) {
	case string:
		return v == want
	case []any:
		for _, e := range v {
			if holds(e, want) {
				return true
			}
		}
	case object:
		for _, e := range v {
			if holds(e, want) {
				return true
			}
		}
	}
	return false
}

type urlset struct {
	XMLName xml.Name
	URLs    []struct {
		Loc     string `xml:"loc"`
		Lastmod string `xml:"lastmod"`
	} `xml:",any"`
}

func sitemapOf(t *testing.T, body []byte) (root string, locations []string) {
	t.Helper()
	var set urlset
	if err := xml.Unmarshal(body, &set); err != nil {
		t.Fatalf("%v: %.300s", err, body)
	}
	for _, u := range set.URLs {
		locations = append(locations, u.Loc)
	}
	return set.XMLName.Local, locations
}

func TestSitemap(t *testing.T) {
	s := newSurface(t)
	root, got := sitemapOf(t, s.get(berlin+"published/sitemap.xml").Body.Bytes())
	home := testOrigin + berlin + "published"
	if want := []string{home, home + "/verify", home + "/product/frame", home + "/service/a%2Fb%20c", home + "/service/exam"}; root != "urlset" || !reflect.DeepEqual(got, want) {
		t.Errorf("%s %q", root, got)
	}
	root, got = sitemapOf(t, s.get("/sitemap.xml").Body.Bytes())
	if root != "sitemapindex" || !reflect.DeepEqual(got, []string{home + "/sitemap.xml"}) {
		t.Errorf("%s %q", root, got)
	}
	if w := s.get(berlin + "published/sitemap.xml?page=1"); w.Code != 404 {
		t.Errorf("a page of an unpaged sitemap: %d", w.Code)
	}
}

// More than 50,000 addresses are paged; the pages together hold every address once.
func TestSitemapPages(t *testing.T) {
	s := newSurface(t)
	records := make([]business.Record, 50_001)
	for i := range records {
		records[i] = business.Record{Type: "item", ID: fmt.Sprintf("%06d", i), Title: "x"}
	}
	s.setRecords("published", records)
	root, index := sitemapOf(t, s.get(berlin+"published/sitemap.xml").Body.Bytes())
	if root != "sitemapindex" || len(index) != 2 {
		t.Fatalf("%s %q", root, index)
	}
	seen := map[string]bool{}
	for i, at := range index {
		root, locations := sitemapOf(t, s.get(strings.TrimPrefix(at, testOrigin)).Body.Bytes())
		if root != "urlset" || len(locations) > 50_000 || i == 0 && len(locations) != 50_000 {
			t.Errorf("%s: %s of %d", at, root, len(locations))
		}
		for _, l := range locations {
			seen[l] = true
		}
	}
	if len(seen) != len(records)+2 {
		t.Errorf("%d addresses, want %d", len(seen), len(records)+2)
	}
	for _, page := range []string{"0", "3", "-1", "x", "", "1&page=2", "99999999999999999999"} {
		if w := s.get(berlin + "published/sitemap.xml?page=" + page); w.Code != 404 || codeOf(w) != "not_found" {
			t.Errorf("page %q: %d", page, w.Code)
		}
	}
	if body := s.get(berlin + "published/llms.txt").Body.String(); strings.Count(body, "/item/") != 500 || !strings.Contains(body, "There are more records") {
		t.Errorf("llms.txt tells %d records", strings.Count(body, "/item/"))
	}
	if body := s.get(berlin + "published").Body.String(); !strings.Contains(body, "more=true") {
		t.Errorf("%s", body)
	}
}

// A profile shows what fits: records may be large, an answer may not.
func TestProfileIsBounded(t *testing.T) {
	s := newSurface(t)
	records := []business.Record{}
	for i := range 40 {
		records = append(records, business.Record{Type: "item", ID: fmt.Sprintf("%02d", i), Title: "x", Content: strings.Repeat("long ", 20<<10)})
	}
	s.setRecords("published", records)
	m := decoded(t, s.get(berlin+"published", "Accept", "application/json").Body.Bytes())
	if n := len(m["records"].([]any)); n != 11 || m["more_records"] != true {
		t.Errorf("%d records, more %v", n, m["more_records"])
	}
	for _, n := range []int{0, 24, 25, 26, 40} {
		s.setRecords("published", records[:n])
		if got := strings.Count(s.get(berlin+"published/llms.txt").Body.String(), "/item/"); got != n {
			t.Errorf("llms.txt tells %d records of %d", got, n)
		}
	}
}

// Every record is on one page of the profile for people, and only there.
func TestProfilePagesOfRecords(t *testing.T) {
	s := newSurface(t)
	records := []business.Record{}
	for i := range 250 {
		records = append(records, business.Record{Type: []string{"item", "product"}[i/125], ID: fmt.Sprintf("%03d / ü&", i), Title: "x"})
	}
	s.setRecords("published", records)
	var shown []business.Record
	var asked bizhttp.RecordKey
	more, pages := true, *testPages()
	pages.Profile = func(_ io.Writer, p bizhttp.Page, records []business.Record, others bool) error {
		asked, shown, more = p.RecordsAfter, append(shown, records...), others
		return nil
	}
	s.handler = bizhttp.Handler(bizhttp.HandlerOptions{Source: s.registry, Pages: &pages})
	for n, query := 0, ""; more; n++ {
		if w := s.get(berlin+"published"+query, "Accept", "text/html"); w.Code != 200 || n > 3 {
			t.Fatalf("page %d, %q: %d", n, query, w.Code)
		}
		last := shown[len(shown)-1]
		query = "?" + url.Values{"after": {last.Type + "/" + last.ID}}.Encode()
	}
	for i := range shown {
		if i >= len(records) || shown[i].ID != records[i].ID {
			t.Fatalf("record %d of the pages is %q", i, shown[i].ID)
		}
	}
	if len(shown) != len(records) || asked != (bizhttp.RecordKey{Type: "product", ID: "199 / ü&"}) {
		t.Errorf("%d of %d records are shown, the last page behind %v", len(shown), len(records), asked)
	}
	for query, want := range map[string]int{"?after=gone/x": 200, "?after=zzz/z": 200, "?after=": 400, "?after=item": 400, "?after=item/": 400, "?after=Item/1": 400, "?after=item/%00": 400, "?after=item/1&after=item/2": 400} {
		if w := s.get(berlin+"published"+query, "Accept", "text/html"); w.Code != want {
			t.Errorf("%q: %d", query, w.Code)
		}
	}
	if w := s.get("/b/published?after=item/1"); w.Code != 301 || w.Header().Get("Location") != berlin+"published?after=item/1" {
		t.Errorf("%d %s", w.Code, w.Header().Get("Location"))
	}
}

func TestProfileTellsWhichPlacesWereAsked(t *testing.T) {
	s := newSurface(t)
	asked, pages := 0, *testPages()
	pages.Profile = func(_ io.Writer, p bizhttp.Page, _ []business.Record, _ bool) error {
		asked = p.PlacesPage
		return nil
	}
	s.handler = bizhttp.Handler(bizhttp.HandlerOptions{Source: s.registry, Pages: &pages})
	for query, want := range map[string]int{"": 1, "?places=7": 7, "?places=0": 0, "?places=x": 0, "?places=1&places=2": 0} {
		asked = 0
		w := s.get(s.pubs["published"].Base()+query, "Accept", "text/html")
		if asked != want || (want == 0) != (w.Code == 400) {
			t.Errorf("%q: page %d, status %d", query, asked, w.Code)
		}
	}
}
