package web

import (
	"fmt"
	"io"
	"net/url"
	"strings"

	"sayso/business"
	"sayso/business/bizhttp"
)

type profilePage struct {
	publisherFrame
	LegalName, Category, Website, Region string
	Where                                string // the primary place in short
	Languages                            []string
	Statements                           []statement // profile attributes and lists
	Places                               places
	Groups                               []recordGroup
	Shown, Total                         int    // records
	FirstRecords, NextRecords            string // pages of records, "" where there is none
	Evidence                             evidence
	WebsiteHost                          string // host of the stated website, "" when none can be told
	WebsiteProven                        bool   // it is the proven host
	Updated, Made                        moment
	Generation                           uint64
	ContentHash                          string
	Changed                              moment
	LongData                             bool // the JSON-LD is too long for the page
	Asking                               asking
}

// asking is what a program needs to ask the business; without an AskPath in the frame it is not shown.
type asking struct {
	Address  string // of the profile, absolute: what sayso ask is given
	Endpoint string // MCP, absolute
	Tools    []business.Tool
}

// recordGroup is the records of one type that this page shows.
type recordGroup struct {
	Type    string
	Label   label
	Total   int
	Priced  bool // prices mean something here: one is stated, or the schema knows the field
	Records []recordRow
}

type recordRow struct {
	Title, URL, Summary string
	Price               price
	Facts               []statement
}

func renderProfile(w io.Writer, p bizhttp.Page, records []business.Record, more bool) error {
	v := newVocabulary(p.Publication, &p.Info)
	info := &p.Info
	page := profilePage{
		publisherFrame: newFrame(&p, info.DisplayName),
		LegalName:      info.LegalName,
		Category:       categoryOf(p.Publication, info),
		Website:        info.Website,
		Region:         info.Region,
		Languages:      info.ContentLanguages,
		Statements:     append(v.profile(info.ProfileAttributes), v.lists()...),
		Places:         newPlaces(&p),
		Groups:         v.groups(p.Publication.Types, records),
		Shown:          len(records),
		Evidence:       evidenceOf(p.Publication, info, p.Site, p.Now),
		Updated:        minuteOf(p.Publication.DataLastUpdated),
		Made:           minuteOf(p.Now),
		Generation:     p.Publication.State.Generation,
		ContentHash:    p.Publication.State.ContentHash,
		Changed:        minuteOf(p.Publication.State.ChangedAt),
		LongData:       len(p.JSONLD) > maxJSONLD,
	}
	for _, t := range p.Publication.Types {
		page.Total += t.Count
	}
	if p.RecordsAfter.Type != "" {
		page.FirstRecords = p.Publication.Base() + "#records"
	}
	if n := len(records); more && n > 0 {
		after := url.Values{"after": {records[n-1].Type + "/" + records[n-1].ID}}
		page.NextRecords = p.Publication.Base() + "?" + after.Encode() + "#records"
	}
	if u, err := url.Parse(info.Website); err == nil {
		page.WebsiteHost = strings.ToLower(u.Hostname())
	}
	page.WebsiteProven = page.WebsiteHost != "" && page.WebsiteHost == info.ProvenDomain
	for i := range info.Locations {
		if l := &info.Locations[i]; l.Primary {
			page.Where = joined(", ", l.Locality, countryOf(l))
		}
	}
	page.Wide = true
	at := p.Site.Locators(p.Publication)
	page.Asking = asking{Address: at.PublicProfile, Endpoint: at.MCP, Tools: p.Publication.Profile.Tools}
	page.Canonical = at.PublicProfile
	page.Description = joined(", ", info.DisplayName, page.Category, page.Where) + ": what the business states, and what the registry found."
	page.Alternates = []alternate{
		{"application/json", "Manifest", page.At.Manifest},
		{"application/x-ndjson", "All records", page.At.Export},
		{"text/plain", "Summary in plain text", page.At.LLMs},
	}
	return renderRegistry(w, "profile", &page)
}

// groups sorts records by type, in the order they come, which is that of types.
func (v *vocabulary) groups(types []business.TypeCount, records []business.Record) []recordGroup {
	totals := make(map[string]int, len(types))
	for _, t := range types {
		totals[t.Type] = t.Count
	}
	var out []recordGroup
	for i := range records {
		r := &records[i]
		if len(out) == 0 || out[len(out)-1].Type != r.Type {
			out = append(out, recordGroup{Type: r.Type, Label: v.typeName(r.Type), Total: totals[r.Type], Priced: v.knowsPrices()})
		}
		g := &out[len(out)-1]
		row := recordRow{Title: r.Title, URL: pathOf(r.URL), Summary: r.Summary}
		row.Price, row.Facts = v.recordFacts(r.Attributes)
		row.Facts = brieflyOf(row.Facts)
		g.Priced = g.Priced || row.Price.Stated
		g.Records = append(g.Records, row)
	}
	return out
}

// brieflyOf keeps what fits a line below a title.
func brieflyOf(all []statement) []statement {
	const most, longest = 4, 60
	var out []statement
	for _, s := range all {
		if len(out) < most && len(s.Items) == 0 && s.JSON == "" && len(s.Value) <= longest {
			out = append(out, s)
		}
	}
	return out
}

type recordPage struct {
	publisherFrame
	TypeLabel        label
	Heading, Summary string
	Aliases          []string
	Price            price
	Priced           bool
	Facts            []statement
	Paragraphs       []string
	Links            []recordLink
	Updated          moment
	Confirmed        moment
	Evidence         evidence
	Made             moment
	ID               string
}

// recordLink is a relation to another record of the same business.
type recordLink struct{ Relation, URL, Name string }

func renderRecord(w io.Writer, p bizhttp.Page, r *business.Record) error {
	v := newVocabulary(p.Publication, &p.Info)
	page := recordPage{
		publisherFrame: newFrame(&p, r.Title+" · "+p.Info.DisplayName),
		TypeLabel:      v.typeName(r.Type),
		Heading:        r.Title,
		Summary:        r.Summary,
		Aliases:        r.Aliases,
		Updated:        minuteOf(r.UpdatedAt),
		Confirmed:      minuteOf(r.VerifiedAt),
		Evidence:       evidenceOf(p.Publication, &p.Info, p.Site, p.Now),
		Made:           minuteOf(p.Now),
		ID:             r.ID,
	}
	page.Price, page.Facts = v.recordFacts(r.Attributes)
	page.Priced = page.Price.Stated || v.knowsPrices()
	for _, text := range strings.Split(r.Content, "\n\n") {
		if text = strings.TrimSpace(text); text != "" {
			page.Paragraphs = append(page.Paragraphs, text)
		}
	}
	for _, l := range r.Links {
		page.Links = append(page.Links, recordLink{
			Relation: strings.ReplaceAll(strings.TrimPrefix(l.Rel, "x-"), "_", " "), Name: l.Type + "/" + l.ID,
			URL: p.Publication.Base() + "/" + business.EntityKey(l.Type, l.ID),
		})
	}
	page.Wide = true
	page.Canonical = p.Site.RecordURL(p.Publication, r.Type, r.ID)
	page.Description = joined(": ", fmt.Sprintf("%s, as %s states it", r.Title, p.Info.DisplayName), r.Summary)
	page.Alternates = []alternate{{"application/json", "Manifest", page.At.Manifest}, {"application/x-ndjson", "All records", page.At.Export}}
	return renderRegistry(w, "record", &page)
}
