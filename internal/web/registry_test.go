package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"sayso/business"
	"sayso/business/bizhttp"
	"sayso/business/bundle"
	"sayso/internal/web"
	"sayso/jcs"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

const origin = "https://registry.example"

const sampleSchema = `{"attributes":{"price":{"field":"price","kind":"money","currency":"GBP"},"price_from":{"field":"price","kind":"money_from","currency":"GBP"},
 "price_to":{"field":"price","kind":"money_to","currency":"GBP"},"price_mode":{"field":"price","kind":"mode","deferred":["on_request"]},"price_text":{"field":"price","kind":"text"},
 "duration":{"field":"duration","kind":"quantity","unit":"min"},"stock":{"field":"stock","kind":"count","scoped_by":"location"},"balcony":{"kind":"bool","words":{"en":["balcony"]}}},
 "profile":{"parking":{"kind":"bool","words":{"en":["car park"]}},"walk_ins":{"kind":"bool","words":{"en":["walk ins"]}},"lift":{"kind":"bool","words":{"en":["lift"]}}},
 "lists":{"payment_methods":{"nouns":{"en":["payment methods"]},"values":["cash","visa"],"closed":true,"domain":{"terms":["cash","visa","amex"]}},
  "languages":{"nouns":{"en":["spoken languages"]},"values":["polish"]}},
 "types":{"service":{"words":{"en":["treatment"]}}}}`

func sample() *business.Publication {
	return &business.Publication{
		Slug: "optician", Revision: 7,
		Profile: business.Profile{
			DisplayName: "Brightwater Opticians", LegalName: "Brightwater Opticians Ltd", ContentLanguages: []string{"en", "pl"},
			Website: "https://www.brightwater.example/", BusinessCategory: "optician",
			ProfileAttributes: jcs.Raw(`{ "parking" : false,"walk_ins":true, "since": 1987.0, "brands": [ "A" , 2.50, true ], "none": [ ], "more": { "a" : [ 1 ] } }`),
			Locations: []business.Location{
				{ID: "leeds", Primary: true, Name: "Leeds", StreetAddress: "12 Canal St", Locality: "Leeds", CountryCode: "GB", Phone: "+44 113 555 0100", OpeningHours: "Mo-Fr 09:00-17:30; Sa 09:00-13:00", TimeZone: "Europe/London"},
				{ID: "york", Name: "York", Address: "1 Gate, York", CountryCode: "GB"},
			},
		},
		Schema:          jcs.Raw(sampleSchema),
		Standing:        business.Standing{Region: "eu", Lifecycle: business.Published, Proof: &business.DomainProof{Host: "brightwater.example", Method: business.MethodDNS, VerifiedAt: noon.Add(-72 * time.Hour), ValidUntil: noon.Add(240 * time.Hour)}},
		State:           business.State{Generation: 9, ContentHash: "sha256:" + strings.Repeat("ab", 32), ChangedAt: noon.Add(-30 * time.Hour)},
		Types:           []business.TypeCount{{Type: "product", Count: 1}, {Type: "service", Count: 2}},
		DataLastUpdated: noon.Add(-100 * time.Hour),
	}
}

func sampleRecords() []business.Record {
	return []business.Record{
		{ID: "frame", Type: "product", Title: "Frame", URL: origin + "/gb/leeds/business/optician/product/frame", Attributes: jcs.Raw(`{"price":50.0,"stock":{"leeds":0}}`)},
		{ID: "exam", Type: "service", Title: "Eye exam", URL: origin + "/gb/leeds/business/optician/service/exam", Summary: "Takes half an hour.", Aliases: []string{"sight test"},
			Attributes: jcs.Raw(`{"price":30,"duration":30,"balcony":false}`), UpdatedAt: noon.Add(-100 * time.Hour), Content: "One.\n\nTwo."},
		{ID: "repair", Type: "service", Title: "Repair", URL: origin + "/gb/leeds/business/optician/service/repair", Attributes: jcs.Raw(`{"price_mode":"on_request"}`), VerifiedAt: noon.Add(-50 * time.Hour),
			Links: []business.Link{{Rel: "alternative_to", Type: "service", ID: "exam"}}},
	}
}

func about(p *business.Publication) bizhttp.Page {
	site := business.Site{Origin: origin, ServerVersion: "test"}
	schema, _ := business.ParseSchema(p.Schema)
	return bizhttp.Page{Site: site, Publication: p, Info: p.Info(noon), Now: noon, JSONLD: bundle.ProfileJSONLD(&p.Profile, schema, site.Locators(p).PublicProfile)}
}

func profileOf(t *testing.T, p *business.Publication, records []business.Record) *html.Node {
	t.Helper()
	return page(t, func(w io.Writer) error { return web.BusinessPages().Profile(w, about(p), records, false) })
}

// answering is the page of a registry that answers questions about p.
func answering(p *business.Publication) bizhttp.Page {
	a := about(p)
	a.Site.ToolsServed = true
	return a
}

func recordOf(t *testing.T, p *business.Publication, r business.Record) *html.Node {
	t.Helper()
	return page(t, func(w io.Writer) error { return web.BusinessPages().Record(w, about(p), &r) })
}

// everyPage renders all pages about a publisher and the directory it stands in.
func everyPage(t *testing.T, p *business.Publication, records []business.Record) map[string]*html.Node {
	t.Helper()
	site := business.Site{Origin: origin}
	out := map[string]*html.Node{
		"profile": profileOf(t, p, records),
		"verify":  page(t, func(w io.Writer) error { return web.BusinessPages().Verify(w, about(p)) }),
		"directory": page(t, func(w io.Writer) error {
			return web.BusinessPages().Directory(w, site, []*business.Publication{p}, noon)
		}),
	}
	for _, r := range records {
		out["record "+r.ID] = recordOf(t, p, r)
	}
	return out
}

// says collects a definition list: the text of dd by the text of dt.
func says(n *html.Node) map[string]string {
	out := map[string]string{}
	for _, dt := range all(n, "dt") {
		dd := dt.NextSibling
		for dd != nil && dd.Data != "dd" {
			dd = dd.NextSibling
		}
		if _, twice := out[squeeze(dt)]; !twice && dd != nil {
			out[squeeze(dt)] = squeeze(dd)
		}
	}
	return out
}

func squeeze(n *html.Node) string { return strings.Join(strings.Fields(text(n)), " ") }

func byClass(n *html.Node, class string) []*html.Node {
	var out []*html.Node
	for c := range n.Descendants() {
		if c.Type == html.ElementNode && slices.Contains(strings.Fields(attr(c, "class")), class) {
			out = append(out, c)
		}
	}
	return out
}

// Absent reads "not stated" and a published no reads "no" (XP-VERSION-004, XP-COVERAGE-006, XP-COVERAGE-007).
func TestProfileSaysWhatIsStatedAndWhatIsNot(t *testing.T) {
	doc := profileOf(t, sample(), sampleRecords())
	got := says(doc)
	for label, want := range map[string]string{
		"Legal name": "Brightwater Opticians Ltd", "car park": "no", "walk ins": "yes", "lift": "not stated", "since": "1987.0", "brands": "A2.50yes", "none": "not stated", "more": "{ \"a\": [ 1 ] }",
		"payment methods":  "cashvisa no: amex The list is complete: what it leaves out is a no.",
		"spoken languages": "polish The list is not called complete: of anything else nothing is stated.",
		"Email":            "not stated", "Phone": "+44 113 555 0100",
		"Hours": "Opening hours of Leeds Monday to Friday09:00–17:30 Saturday09:00–13:00 Local time of Europe/London.",
	} {
		if strings.ReplaceAll(got[label], " ", "") != strings.ReplaceAll(want, " ", "") {
			t.Errorf("%s: %q, want %q", label, got[label], want)
		}
	}
	// XP-IDENTITY-007: the second place states neither phone nor hours, and gets none.
	york := says(byClass(doc, "card")[1])
	if york["Phone"] != "not stated" || york["Hours"] != "not stated" || york["Address"] != "1 Gate, YorkGB" {
		t.Errorf("York says %q", york)
	}
}

func TestPricesInWords(t *testing.T) {
	p := sample()
	bare := sample()
	bare.Schema = nil
	for _, c := range []struct {
		attributes, want, bare string
	}{
		{`{"price":30}`, "30 GBP", "30"},
		{`{"price":30,"currency":"EUR"}`, "30 EUR", "30 EUR"},
		{`{"price":0}`, "0 GBP", "0"},
		{`{"price":50.0}`, "50.0 GBP", "50.0"},
		{`{"price_from":60}`, "from 60 GBP", "from 60"},
		{`{"price_to":90}`, "up to 90 GBP", "up to 90"},
		{`{"price_from":60,"price_to":90}`, "60 to 90 GBP", "60 to 90"},
		{`{"price_mode":"on_request"}`, "on request", "on request"},
		{`{"price_mode":"on_request","price":0}`, "on request", "on request"},
		{`{"price_mode":"per_hour","price":40}`, "40 GBP, per_hour", "40, per_hour"},
		{`{"price_text":"ask at the counter"}`, "ask at the counter", "ask at the counter"},
		{`{"duration":30}`, "not stated", ""},
		{`{"price":null}`, "not stated", ""},
		{``, "not stated", ""},
	} {
		r := business.Record{ID: "x", Type: "service", Title: "X", URL: origin + "/x", Attributes: jcs.Raw(c.attributes)}
		for _, v := range []struct {
			p    *business.Publication
			want string
		}{{p, c.want}, {bare, c.bare}} {
			got := ""
			if n := byClass(recordOf(t, v.p, r), "amount"); len(n) == 1 {
				got = strings.TrimPrefix(squeeze(n[0]), "Price ")
			}
			if got != v.want {
				t.Errorf("%s: the record page says %q, want %q", c.attributes, got, v.want)
			}
			if n := byClass(profileOf(t, v.p, []business.Record{r}), "price"); len(n) == 2 && squeeze(n[1]) != v.want {
				t.Errorf("%s: the profile says %q, want %q", c.attributes, squeeze(n[1]), v.want)
			}
		}
	}
}

// XP-IDENTITY-003: the two dates of a record stay two.
func TestRecordPage(t *testing.T) {
	records := sampleRecords()
	exam := says(recordOf(t, sample(), records[1]))
	for label, want := range map[string]string{
		"duration": "30 min", "balcony": "no", "Also called": "sight test", "Text last changed": "25 November 2026, 08:00 UTC", "Confirmed as still true": "not stated",
	} {
		if exam[label] != want {
			t.Errorf("%s: %q, want %q", label, exam[label], want)
		}
	}
	repair := says(recordOf(t, sample(), records[2]))
	if repair["Text last changed"] != "not stated" || repair["Confirmed as still true"] != "27 November 2026, 10:00 UTC" || repair["alternative to"] != "service/exam" {
		t.Errorf("repair says %q", repair)
	}
	// A count of 0 at one place is stated; the other place is not.
	if got := says(recordOf(t, sample(), records[0]))["stock"]; got != "Leeds: 0York: not stated" {
		t.Errorf("stock: %q", got)
	}
}

func TestEvidenceIsWhatWasProven(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*business.Publication)
		want   []string
		not    []string
	}{
		{"dns, another host than the website", func(*business.Publication) {}, []string{"Controls brightwater.example", "a record in its DNS", "26 November 2026", "9 December 2026", "is not on this host"}, nil},
		{"web server, the website's host", func(p *business.Publication) {
			p.Standing.Proof.Method, p.Profile.Website = business.MethodWellKnown, "https://BRIGHTWATER.example/shop"
		}, []string{"a file on its web server", "the business states is on this host"}, nil},
		{"operators", func(p *business.Publication) {
			p.Standing.Proof, p.Standing.Verification = nil, &business.OperatorVerification{Decision: "DECISION-CANARY", ConfirmedAt: noon.Add(-time.Hour)}
		}, []string{"Recorded by two operators", "none was proven"}, []string{"Controls", "host"}},
		{"lapsed", func(p *business.Publication) { p.Standing.Proof.ValidUntil = noon.Add(-time.Second) }, []string{"Authority not proven"}, []string{"Controls brightwater", "9 December"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := sample()
			c.change(p)
			pages := everyPage(t, p, sampleRecords())
			found := squeeze(byClass(pages["profile"], "found")[0])
			for _, want := range c.want {
				if !strings.Contains(found, want) {
					t.Errorf("%q is not said: %q", want, found)
				}
			}
			for _, not := range c.not {
				if strings.Contains(found, not) {
					t.Errorf("%q is said: %q", not, found)
				}
			}
			for name, doc := range pages {
				said := strings.ToLower(squeeze(doc))
				for _, never := range []string{"verified business", "business is verified", "trusted", "decision-canary", "trust_tier"} {
					if strings.Contains(said, never) {
						t.Errorf("the %s page says %q", name, never)
					}
				}
			}
		})
	}
}

// XP-FRESHNESS-005: four ages, each in a row of its own.
func TestFourAgesStayApart(t *testing.T) {
	rows := map[string]string{}
	for _, tr := range all(byClass(profileOf(t, sample(), nil), "ages")[0], "tr") {
		rows[squeeze(first(tr, "th"))] = squeeze(first(tr, "td"))
	}
	want := map[string]string{
		"Data last updated": "25 November 2026, 08:00 UTC", "Authority proven": "26 November 2026", "This page made": "29 November 2026, 12:00 UTC",
		"Signature expires": "as the manifest says; this page is not signed",
	}
	if !reflect.DeepEqual(rows, want) {
		t.Errorf("the ages are %q", rows)
	}
	p := sample()
	p.DataLastUpdated = time.Time{}
	if got := squeeze(first(byClass(profileOf(t, p, nil), "ages")[0], "td")); got != "not stated" {
		t.Errorf("without records the data is dated %q", got)
	}
}

const evil = "E\u202e</script><script>alert(1)</script>\"><img src=x onerror=alert(1)>{{.}}\u05d0" // with a bidi override

// hostile puts a text into every string a publisher can state, below v.
func hostile(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && v.Field(i).Type() != reflect.TypeFor[time.Time]() {
				hostile(v.Field(i), text)
			}
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[jcs.Raw]() {
			return
		}
		for i := range v.Len() {
			hostile(v.Index(i), text)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			hostile(v.Elem(), text)
		}
	}
}

// Publisher text is text wherever it stands: no markup, no link but https, and nothing of it turns the text around it (X§5.5).
func TestHostileTextInEveryField(t *testing.T) {
	p := sample()
	hostile(reflect.ValueOf(&p.Profile).Elem(), evil)
	quoted := string(jcs.AppendString(nil, evil))
	p.Profile.ProfileAttributes = jcs.Raw(fmt.Sprintf(`{%s:%s,"a":[%s],"b":{"c":%s}}`, quoted, quoted, quoted, quoted))
	p.Schema = jcs.Raw(strings.NewReplacer(`["car park"]`, "["+quoted+"]", `["treatment"]`, "["+quoted+"]", `"polish"`, quoted).Replace(sampleSchema))
	if _, err := business.ParseSchema(p.Schema); err != nil {
		t.Fatal(err)
	}
	records := sampleRecords()
	for i := range records {
		typ, url := records[i].Type, records[i].URL
		hostile(reflect.ValueOf(&records[i]).Elem(), evil)
		records[i].Type, records[i].URL, records[i].ID = typ, url, fmt.Sprint(i)
		records[i].Attributes = jcs.Raw(fmt.Sprintf(`{%s:%s,"price_text":%s,"stock":{%s:%s}}`, quoted, quoted, quoted, quoted, quoted))
	}
	for name, doc := range everyPage(t, p, records) {
		if !strings.Contains(text(doc), evil) {
			t.Errorf("the %s page does not show the text", name)
		}
		if len(all(doc, "img")) > 0 {
			t.Errorf("on the %s page publisher text became markup", name)
		}
		for n := range first(doc, "main").Descendants() {
			if n.Type == html.TextNode && strings.Contains(n.Data, evil) && !isolated(n) {
				t.Errorf("on the %s page the text in <%s class=%q> is not isolated", name, n.Parent.Data, attr(n.Parent, "class"))
			}
		}
		for _, s := range all(doc, "script") {
			if attr(s, "type") == "application/ld+json" && !json.Valid([]byte(text(s))) {
				t.Errorf("on the %s page the JSON-LD is broken", name)
			}
		}
	}
}

// isolated reports whether the direction of a text ends with an element around it.
func isolated(n *html.Node) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if p.Data == "bdi" || p.Data == "pre" || attr(p, "dir") == "auto" {
			return true
		}
	}
	return false
}

func TestOnlyHTTPSBecomesALink(t *testing.T) {
	for _, website := range []string{"javascript:alert(1)", "//evil.example/", "http://shop.example/", "data:text/html,x", "https:evil.example", "https://shop.example/?a=1&b=2"} {
		p := sample()
		p.Profile.Website = website
		doc := profileOf(t, p, nil)
		linked := false
		for _, a := range all(doc, "a") {
			if strings.Contains(attr(a, "href"), ":") {
				linked = true
				if rel := strings.Fields(attr(a, "rel")); !slices.Contains(rel, "nofollow") || !slices.Contains(rel, "noopener") {
					t.Errorf("the link to %s has rel %q", website, rel)
				}
			}
		}
		if want := strings.HasPrefix(website, "https://"); linked != want {
			t.Errorf("%s: a link %t, want %t", website, linked, want)
		}
		if says(doc)["Website"] != website {
			t.Errorf("%s is shown as %q", website, says(doc)["Website"])
		}
	}
}

// A chain stays usable: pages of a hundred places, bounded bytes, the primary one open.
func TestManyPlaces(t *testing.T) {
	p := sample()
	for i := range 1563 {
		p.Profile.Locations = append(p.Profile.Locations, business.Location{ID: fmt.Sprint(i), Name: fmt.Sprintf("Branch %d", i), Address: strings.Repeat("Long Street ", 8), OpeningHours: "Mo-Fr 09:00-17:30; Sa 09:00-13:00; PH off", TimeZone: "Europe/London"})
	}
	for number, want := range map[int]string{0: "Places 1 to 100 of 1,565. The others are in the JSON form of this page and in its manifest.", 1: "Places 1 to 100 of 1,565.", 7: "Places 601 to 700 of 1,565.", 16: "Places 1,501 to 1,565 of 1,565.", 99: "Places 1,501 to 1,565 of 1,565."} {
		var b bytes.Buffer
		about := about(p)
		about.PlacesPage = number
		if err := web.BusinessPages().Profile(&b, about, nil, false); err != nil {
			t.Fatal(err)
		}
		if b.Len() > 200<<10 {
			t.Errorf("page %d has %d bytes", number, b.Len())
		}
		doc := page(t, func(w io.Writer) error { _, err := w.Write(b.Bytes()); return err })
		if !strings.Contains(squeeze(doc), want) {
			t.Errorf("page %d does not say %q", number, want)
		}
		var links []string
		for _, a := range all(doc, "a") {
			if rel := attr(a, "rel"); rel == "next" || rel == "prev" {
				links = append(links, attr(a, "href"))
			}
		}
		wantLinks := map[int][]string{1: {"?places=2"}, 7: {"?places=6", "?places=8"}, 16: {"?places=15"}, 99: {"?places=15"}}[number]
		for i := range wantLinks {
			wantLinks[i] = "/gb/leeds/business/optician" + wantLinks[i] + "#places"
		}
		if !slices.Equal(links, wantLinks) {
			t.Errorf("page %d links %q", number, links)
		}
	}
}

// More records than one page holds are on other pages, and no page says of what it does not hold that it is not stated.
func TestPagesOfRecords(t *testing.T) {
	records := sampleRecords()
	for name, c := range map[string]struct {
		after   bizhttp.RecordKey
		records []business.Record
		more    bool
		links   []string
		says    string
		not     string
	}{
		"only":    {records: records, not: "This page shows"},
		"first":   {records: records, more: true, links: []string{"?after=service%2Frepair#records"}, says: "This page shows the first 3."},
		"between": {after: bizhttp.RecordKey{Type: "a", ID: "b"}, records: records[:2], more: true, links: []string{"#records", "?after=service%2Fexam#records"}, says: "This page shows 2.", not: "the first"},
		"last":    {after: bizhttp.RecordKey{Type: "a", ID: "b"}, records: records[2:], links: []string{"#records"}, says: "This page shows 1."},
		"behind":  {after: bizhttp.RecordKey{Type: "z", ID: "z"}, links: []string{"#records"}, says: "No record follows.", not: "No record is stated."},
		"none":    {says: "No record is stated.", not: "No record follows."},
	} {
		about := about(sample())
		about.RecordsAfter = c.after
		doc := page(t, func(w io.Writer) error { return web.BusinessPages().Profile(w, about, c.records, c.more) })
		var links []string
		for _, a := range all(doc, "a") {
			if rel := attr(a, "rel"); rel == "next" || rel == "first" {
				links = append(links, strings.TrimPrefix(attr(a, "href"), "/gb/leeds/business/optician"))
			}
		}
		if text := squeeze(doc); !slices.Equal(links, c.links) || !strings.Contains(text, c.says) || c.not != "" && strings.Contains(text, c.not) {
			t.Errorf("%s: links %q in %s", name, links, text)
		}
	}
}

func TestHoursInWords(t *testing.T) {
	for hours, want := range map[string]string{
		"24/7":                            "Every day: open all day",
		"Mo-Su 10:00-18:00":               "Every day: 10:00–18:00",
		"Fr-Mo 18:00-02:00":               "Friday to Monday: 18:00–02:00 (next day)",
		"Sa,Su off":                       "Saturday, Sunday: closed",
		"Mo-Th 09:00-14:00,16:00-20:00":   "Monday to Thursday: 09:00–14:00, 16:00–20:00",
		"We[1,-1] 09:00-12:00":            "first and last Wednesday of the month: 09:00–12:00",
		"Oct-Mar Mo-Fr 09:00-16:00":       "October to March: Monday to Friday: 09:00–16:00",
		"2026 Dec 24-2027 Jan 06 off":     "24 December 2026 to 6 January 2027: closed",
		"PH off":                          "public holidays: closed",
		`Mo 09:00-12:00 "by appointment"`: "Monday: 09:00–12:00 “by appointment”",
		`"by appointment"`:                "Every day: “by appointment”",
		`Mo 09:00-12:00 || "ask"`:         "Monday: 09:00–12:00; Otherwise: “ask”",
		"Mo 09:00-12:00, Mo 14:00-16:00":  "Monday: 09:00–12:00; Also Monday: 14:00–16:00",
		"Mo unknown":                      "Monday: not certain",
	} {
		p := sample()
		p.Profile.Locations = p.Profile.Locations[:1]
		p.Profile.Locations[0].OpeningHours = hours
		var rows []string
		for _, tr := range all(byClass(profileOf(t, p, nil), "hours")[0], "tr") {
			rows = append(rows, squeeze(first(tr, "th"))+": "+squeeze(first(tr, "td")))
		}
		if got := strings.Join(rows, "; "); got != want {
			t.Errorf("%s reads %q, want %q", hours, got, want)
		}
	}
	p := sample()
	p.Profile.Locations[0].OpeningHours = "whenever we like"
	if got := says(profileOf(t, p, nil))["Hours"]; !strings.HasPrefix(got, "whenever we like") {
		t.Errorf("hours in no notation read %q", got)
	}
}

func TestTablesAndLandmarks(t *testing.T) {
	for name, doc := range everyPage(t, sample(), sampleRecords()) {
		for _, table := range all(doc, "table") {
			if len(all(table, "caption")) != 1 {
				t.Errorf("on the %s page a table has no caption", name)
			}
			for _, th := range all(table, "th") {
				if attr(th, "scope") == "" {
					t.Errorf("on the %s page a header cell has no scope", name)
				}
			}
		}
		level := 1
		for n := range first(doc, "main").Descendants() {
			if regexp.MustCompile(`^h[1-6]$`).MatchString(n.Data) && n.Type == html.ElementNode {
				if now := int(n.Data[1] - '0'); now > level+1 {
					t.Errorf("on the %s page a heading jumps from %d to %d", name, level, now)
				} else {
					level = now
				}
			}
		}
		if len(all(doc, "main")) != 1 || len(all(doc, "nav")) == 0 {
			t.Errorf("the %s page lacks a landmark", name)
		}
	}
}

func TestVerifyPage(t *testing.T) {
	doc := everyPage(t, sample(), nil)["verify"]
	form := first(doc, "form")
	for name, want := range map[string]string{
		"publisher": "optician", "manifest": "/t/optician/.well-known/x-protocol/manifest.json", "publisher-keys": "/t/optician/.well-known/x-protocol/jwks.json",
		"publisher-list": "/t/optician/.well-known/x-protocol/revocations.json", "registry-keys": "/.well-known/x-protocol/registry-keys.json", "registry-list": "/.well-known/x-protocol/revocations.json",
	} {
		if got := attr(form, "data-"+name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if !strings.Contains(squeeze(doc), "sayso verify https://registry.example/t/optician/.well-known/x-protocol/manifest.json --root root.pub.json") {
		t.Error("without a script the page does not say how to verify")
	}
	for _, s := range all(doc, "script") {
		if src := attr(s, "src"); src != "" {
			if web.BusinessPages().Assets[strings.TrimPrefix(src, "/assets/")] == nil {
				t.Errorf("%s is no asset", src)
			}
		}
	}
	for _, n := range all(doc, "tr") {
		if strings.Contains(squeeze(n), "✓") {
			t.Error("a tick")
		}
	}
}

func TestDirectoryIsBounded(t *testing.T) {
	var list []*business.Publication
	for range 600 {
		list = append(list, sample())
	}
	doc := page(t, func(w io.Writer) error {
		return web.BusinessPages().Directory(w, business.Site{Origin: origin}, list, noon)
	})
	if got := len(byClass(doc, "by-registry")); got != 500 {
		t.Errorf("%d entries", got)
	}
	if said := squeeze(doc); !strings.Contains(said, "600 businesses publish") || !strings.Contains(said, "This page shows the first 500") {
		t.Error("the page does not say that it is cut")
	}
	empty := page(t, func(w io.Writer) error { return web.BusinessPages().Directory(w, business.Site{}, nil, noon) })
	if !strings.Contains(squeeze(empty), "No business is published") {
		t.Error("an empty directory does not say so")
	}
}

func TestRegistryProblem(t *testing.T) {
	doc := page(t, func(w io.Writer) error {
		return web.BusinessPages().Problem(w, 503, "publisher_unavailable", "the publisher could not be read; try again <b>", "7f3a")
	})
	if got := squeeze(first(doc, "main")); got != "Service Unavailable the publisher could not be read; try again <b> 503 Service Unavailable · publisher_unavailable · request 7f3a" {
		t.Errorf("the page says %q", got)
	}
	page(t, func(w io.Writer) error {
		return web.BusinessPages().Problem(w, 599, "internal_error", "no such status", "")
	})
}

// Whoever reads the page of a business that answers learns how to ask it, from every page of it; where nobody answers, nothing is promised.
func TestHowToAsk(t *testing.T) {
	p := sample()
	p.Profile.Tools = []business.Tool{{Name: "ask_optician", Handler: "knowledge.search"}, {Name: "get", Handler: "knowledge.get"}}
	render := func(a bizhttp.Page) map[string]*html.Node {
		return map[string]*html.Node{
			"profile": page(t, func(w io.Writer) error { return web.BusinessPages().Profile(w, a, sampleRecords(), false) }),
			"record":  page(t, func(w io.Writer) error { return web.BusinessPages().Record(w, a, &sampleRecords()[1]) }),
			"verify":  page(t, func(w io.Writer) error { return web.BusinessPages().Verify(w, a) }),
		}
	}
	linked := func(doc *html.Node) bool {
		return slices.ContainsFunc(all(first(doc, "header"), "a"), func(n *html.Node) bool {
			return squeeze(n) == "Ask" && attr(n, "href") == "/gb/leeds/business/optician#ask"
		})
	}
	pages := render(answering(p))
	for name, doc := range pages {
		if !linked(doc) {
			t.Errorf("the %s page does not lead to how to ask", name)
		}
	}
	got := says(pages["profile"])
	if got["MCP endpoint"] != origin+"/t/optician/mcpFor an assistant: HTTP, without a login." || got["Tools"] != "ask_opticianget" {
		t.Errorf("the endpoint is %q, the tools %q", got["MCP endpoint"], got["Tools"])
	}
	if command := squeeze(byClass(pages["profile"], "command")[0]); command != `sayso ask `+origin+`/gb/leeds/business/optician "Are you open on Saturday?" --root root.pub.json` {
		t.Errorf("the command is %q", command)
	}
	for _, c := range []struct {
		name   string
		change func(*bizhttp.Page, *business.Publication)
	}{
		{"no tools are served", func(a *bizhttp.Page, _ *business.Publication) { a.Site.ToolsServed = false }},
		{"no tool is configured", func(_ *bizhttp.Page, p *business.Publication) { p.Profile.Tools = nil }},
		{"a draft", func(_ *bizhttp.Page, p *business.Publication) { p.Standing.Lifecycle = business.Draft }},
		{"authority has lapsed", func(_ *bizhttp.Page, p *business.Publication) { p.Standing.Proof.ValidUntil = noon }},
	} {
		q := sample()
		q.Profile.Tools = p.Profile.Tools
		a := answering(q)
		c.change(&a, q)
		for name, doc := range render(a) {
			if linked(doc) || strings.Contains(squeeze(doc), "Ask this business") || strings.Contains(squeeze(doc), "/mcp") {
				t.Errorf("%s: the %s page says how to ask", c.name, name)
			}
		}
	}
}

// The owner's preview says that it is one and is not for search engines.
func TestPreview(t *testing.T) {
	p := sample()
	a := about(p)
	a.Preview = true
	for name, render := range map[string]func(io.Writer) error{
		"profile": func(w io.Writer) error { return web.BusinessPages().Profile(w, a, nil, false) },
		"verify":  func(w io.Writer) error { return web.BusinessPages().Verify(w, a) },
		"record":  func(w io.Writer) error { return web.BusinessPages().Record(w, a, &sampleRecords()[0]) },
	} {
		doc := page(t, render)
		noindex := false
		for _, m := range all(doc, "meta") {
			noindex = noindex || attr(m, "name") == "robots" && attr(m, "content") == "noindex"
		}
		if !noindex || !strings.Contains(squeeze(doc), "Preview. Only the owner") {
			t.Errorf("the %s page does not say that it is a preview", name)
		}
	}
}

// A JSON-LD block can end nothing, and one that is too long is left out and said to be.
func TestJSONLDIsADataBlock(t *testing.T) {
	a := about(sample())
	for _, c := range []struct {
		data  string
		shown bool
	}{{`{"name":"</script><!--<script>"}`, true}, {`{"name":"` + strings.Repeat("x", 200<<10) + `"}`, false}, {"", false}} {
		a.JSONLD = []byte(c.data)
		doc := page(t, func(w io.Writer) error { return web.BusinessPages().Profile(w, a, nil, false) })
		shown := false
		for _, s := range all(doc, "script") {
			var block struct{ Name string }
			if attr(s, "type") == "application/ld+json" {
				shown = json.Unmarshal([]byte(text(s)), &block) == nil && block.Name == "</script><!--<script>"
			}
		}
		if shown != c.shown {
			t.Errorf("%.40s: shown %t", c.data, shown)
		}
		if strings.Contains(squeeze(doc), "too long for a page") != (len(c.data) > 128<<10) {
			t.Errorf("%.40s: the page is wrong about its length", c.data)
		}
	}
}
