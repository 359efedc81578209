package bizhttp

import (
	"bytes"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sayso/business"
	"sayso/jcs"
)

const (
	// maxFirst is how many records a profile shows, maxFirstSize after how many bytes of published text it stops before that.
	maxFirst     = 100
	maxFirstSize = 1 << 20
)

// servePage answers for one of a publisher's public pages. The redirect to the canonical base comes after admission, because it tells where a business is.
func (h *handler) servePage(x *exchange) error {
	p, err := h.publication(x)
	if err != nil {
		return err
	}
	if err := h.admit(x, p); err != nil {
		return err
	}
	if x.base != p.Base() || x.tail == "/" {
		return x.redirect(x.canonical(p))
	}
	return h.page(x, p)
}

// page answers for the page at x.page() of a publisher that this caller may see.
func (h *handler) page(x *exchange, p *business.Publication) error {
	switch x.page() {
	case routeDump:
		return h.serveDump(x, p.Slug)
	case routeLLMs:
		return h.serveText(x, p)
	case routeSitemap:
		return h.serveSitemap(x, p)
	}
	x.w.Header()["Link"] = []string{"<" + x.site.Locators(p).Manifest + `>; rel="describedby"; type="application/json"`}
	switch x.page() {
	case routeVerify:
		return h.serveVerify(x, p)
	case routeRecord:
		return h.serveRecord(x, p)
	default:
		return h.serveProfile(x, p)
	}
}

// profileDocument is the JSON form of a profile.
type profileDocument struct {
	ProtocolXVersion string                    `json:"protocol_x_version"`
	Registry         string                    `json:"registry"`
	Publisher        business.Info             `json:"publisher"`
	Publication      business.PublicationBlock `json:"publication"`
	DataLastUpdated  time.Time                 `json:"data_last_updated,omitzero"`
	Endpoints        business.Endpoints        `json:"endpoints"`
	State            *business.State           `json:"state,omitempty"`
	RecordTypes      []recordType              `json:"record_types"`
	Records          []jcs.Raw                 `json:"records"`
	MoreRecords      bool                      `json:"more_records"`
}

type recordType struct {
	Type  string `json:"type"`
	Count int    `json:"count"`
}

func (h *handler) serveProfile(x *exchange, p *business.Publication) error {
	if x.choose(h.Pages.Profile != nil) == formHTML {
		page := x.pageOf(p, x.profileLD(p))
		var err error
		if page.PlacesPage, err = x.placesPage(); err != nil {
			return err
		}
		if page.RecordsAfter, err = x.recordsAfter(); err != nil {
			return err
		}
		records, more, err := h.someRecords(x, p, page.RecordsAfter)
		if err != nil {
			return err
		}
		return h.sendPage(x, func(w io.Writer) error { return h.Pages.Profile(w, page, x.located(p, records), more) })
	}
	records, more, err := h.someRecords(x, p, RecordKey{})
	if err != nil {
		return err
	}
	m := p.Manifest(x.site, x.now)
	d := profileDocument{
		ProtocolXVersion: m.ProtocolXVersion, Registry: m.Registry, Publisher: x.info(p), Publication: m.Publication, DataLastUpdated: m.DataLastUpdated,
		Endpoints: m.Endpoints, State: m.State, RecordTypes: []recordType{}, Records: []jcs.Raw{}, MoreRecords: more,
	}
	for _, t := range p.Types {
		d.RecordTypes = append(d.RecordTypes, recordType(t))
	}
	for i := range records {
		d.Records = append(d.Records, x.recordLine(p, &records[i]))
	}
	return x.sendJSON(d, cacheShort)
}

// placesPage is the page of locations that the query asks for, 1 when it asks for none. Pages behind the last one show the last one.
func (x *exchange) placesPage() (int, error) {
	values := x.r.URL.Query()["places"]
	if len(values) == 0 {
		return 1, nil
	}
	n, err := strconv.Atoi(values[0])
	if err != nil || n < 1 || len(values) > 1 {
		return 0, &problem{kind: kindRequest, message: "places is the number of a page of locations, from 1"}
	}
	return n, nil
}

// recordsAfter is the record that the query asks to go on after, zero when it asks for none. It need not be there any more: its name is a place in the order.
func (x *exchange) recordsAfter() (after RecordKey, err error) {
	values := x.r.URL.Query()["after"]
	if len(values) == 0 {
		return after, nil
	}
	after.Type, after.ID, _ = strings.Cut(values[0], "/")
	if !business.ValidType(after.Type) || !business.ValidID(after.ID) || len(values) > 1 {
		return after, &problem{kind: kindRequest, message: "after is type/id of the record before the first one to show"}
	}
	return after, nil
}

// someRecords are the records a profile shows; more says that others follow.
func (h *handler) someRecords(x *exchange, p *business.Publication, after RecordKey) (records []business.Record, more bool, err error) {
	size := 0
	for r, err := range h.records(x.r.Context(), p.Slug, after) {
		if err != nil {
			return nil, false, err
		}
		if len(records) == maxFirst || size > maxFirstSize {
			return records, true, nil
		}
		size += sizeOf(r)
		records = append(records, *r)
	}
	return records, false, nil
}

// sizeOf is about what a record takes in an answer. Every member counts: a publisher may fill any of them.
func sizeOf(r *business.Record) int {
	n := len(r.Title) + len(r.Summary) + len(r.Content) + len(r.Attributes)
	for _, alias := range r.Aliases {
		n += len(alias) + len(`"",`)
	}
	for _, l := range r.Links {
		n += len(l.Rel) + len(l.Type) + len(l.ID) + len(`{"rel":"","type":"","id":""},`)
	}
	return n
}

func (h *handler) serveRecord(x *exchange, p *business.Publication) error {
	id, err := url.PathUnescape(x.rest)
	if err != nil || !business.ValidID(id) || !business.ValidType(x.typ) {
		return &problem{kind: kindNotFound, message: "no such record; the profile lists what there is"}
	}
	r, err := h.Source.Record(x.r.Context(), p.Slug, x.typ, id)
	if err != nil {
		return err
	}
	if x.choose(h.Pages.Record != nil) == formJSON {
		return x.sendHashed(x.recordLine(p, r), typeJSON, cacheShort)
	}
	shown := x.located(p, []business.Record{*r})
	return h.sendPage(x, func(w io.Writer) error { return h.Pages.Record(w, x.pageOf(p, x.recordLD(p, &shown[0])), &shown[0]) })
}

// verifyDocument is the JSON form of the verify page: what a program needs to do the same.
type verifyDocument struct {
	Publisher             string                `json:"publisher"`
	Endpoints             business.Endpoints    `json:"endpoints"`
	RegistryKeysURL       string                `json:"registry_keys_url"`
	RegistryRevocationURL string                `json:"registry_revocation_url"`
	Authenticity          business.Authenticity `json:"authenticity"`
}

func (h *handler) serveVerify(x *exchange, p *business.Publication) error {
	if x.choose(h.Pages.Verify != nil) == formHTML {
		return h.sendPage(x, func(w io.Writer) error { return h.Pages.Verify(w, x.pageOf(p, nil)) })
	}
	m := p.Manifest(x.site, x.now)
	return x.sendJSON(verifyDocument{p.Slug, m.Endpoints, x.site.RegistryKeysURL(), x.site.RegistryRevocationsURL(), m.Authenticity}, cacheShort)
}

// serveRoot answers for the root of a host: the registry's own front page, or the way to the publisher whose host it is.
func (h *handler) serveRoot(x *exchange) error {
	if x.id != routeDirectory {
		p, err := h.Source.ByHost(x.r.Context(), HostOf(x.r))
		switch {
		case err == nil:
			if err := h.admit(x, p); err != nil {
				return err
			}
			return x.redirect(p.Base() + rootTails[x.id])
		case asProblem(err).kind != kindUnknownPublisher:
			return err
		}
	}
	published, err := h.publications(x.r.Context(), x.now)
	if err != nil {
		return err
	}
	if err := h.credential(x, ""); err != nil {
		return err
	}
	switch x.id {
	case routeRootLLMs:
		return x.sendHashed(registryText(x.site, published), typeText, cacheShort)
	case routeRootSitemap:
		return x.serveSitemaps(published)
	}
	return h.serveDirectory(x, published)
}

// rootTails says which page of a publisher stands at the root of its own host.
var rootTails = map[routeID]string{routeFront: "", routeRootLLMs: "/llms.txt", routeRootSitemap: "/sitemap.xml"}

// directoryDocument is the JSON form of /b.
type directoryDocument struct {
	ProtocolXVersion string           `json:"protocol_x_version"`
	Registry         string           `json:"registry"`
	QueryEndpoint    string           `json:"query_endpoint"`
	Publishers       []directoryEntry `json:"publishers"`
}

type directoryEntry struct {
	Publisher     string `json:"publisher"`
	DisplayName   string `json:"display_name"`
	Manifest      string `json:"manifest"`
	PublicProfile string `json:"public_profile"`
}

func (h *handler) serveDirectory(x *exchange, published []*business.Publication) error {
	if x.choose(h.Pages.Directory != nil) == formHTML {
		return h.sendPage(x, func(w io.Writer) error { return h.Pages.Directory(w, x.site, published, x.now) })
	}
	d := directoryDocument{ProtocolXVersion: business.Version, Registry: business.Family, QueryEndpoint: x.site.QueryURL(), Publishers: []directoryEntry{}}
	for _, p := range published {
		at := x.site.Locators(p)
		d.Publishers = append(d.Publishers, directoryEntry{p.Slug, p.Profile.DisplayName, at.Manifest, at.PublicProfile})
	}
	return x.sendJSON(d, cacheShort)
}

// sendPage renders whole before anything leaves, so that a page that cannot be rendered is a clean refusal.
func (h *handler) sendPage(x *exchange, render func(io.Writer) error) error {
	var page bytes.Buffer
	if err := render(&page); err != nil {
		return err
	}
	h.setPolicy(x.w.Header())
	return x.sendHashed(page.Bytes(), typeHTML, cacheShort)
}

func (x *exchange) pageOf(p *business.Publication, ld []byte) Page {
	return Page{Site: x.site, Publication: p, Info: x.info(p), Now: x.now, Preview: x.preview, JSONLD: ld}
}

// recordLine is the one JSON shape of a record, without the line end.
func (x *exchange) recordLine(p *business.Publication, r *business.Record) []byte {
	return bytes.TrimSuffix(business.AppendRecordLine(nil, x.site, p, r), []byte("\n"))
}

// located fills in the members that are generated.
func (x *exchange) located(p *business.Publication, records []business.Record) []business.Record {
	out := make([]business.Record, len(records))
	for i, r := range records {
		r.Publisher, r.URL = p.Slug, x.site.RecordURL(p, r.Type, r.ID)
		out[i] = r
	}
	return out
}
