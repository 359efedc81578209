package bizhttp

import (
	"io"
	"time"

	"sayso/business"
)

// Page is what every page about one publisher gets.
type Page struct {
	Site        business.Site
	Publication *business.Publication
	Info        business.Info // as the manifest states it at Now
	Now         time.Time
	Preview     bool   // shown to the owner of a publisher that is not published
	JSONLD      []byte // schema.org JSON-LD of the page, "<" already escaped; nil when there is none
	PlacesPage  int    // which page of locations the profile shows, from 1 (query parameter places); 0 when there are no such pages

	// RecordsAfter is the record behind which the records of the profile begin, zero at the beginning. The query parameter after=type/id asks for it.
	RecordsAfter RecordKey
}

// RecordKey names a record of one publisher, and a place in the order of (type, id).
type RecordKey struct{ Type, ID string }

// Pages renders HTML. internal/web provides it; a nil field means that no HTML form is offered and JSON is answered instead.
type Pages struct {
	// Profile renders the public profile with a page of records; more says that others follow the last one.
	Profile func(w io.Writer, p Page, records []business.Record, more bool) error
	// Record renders one record.
	Record func(w io.Writer, p Page, r *business.Record) error
	// Verify renders the page that verifies the manifest in the reader's own browser.
	Verify func(w io.Writer, p Page) error
	// Directory renders the list of published publishers, the registry's own front page.
	Directory func(w io.Writer, s business.Site, list []*business.Publication, now time.Time) error
	// Problem renders a refusal.
	Problem func(w io.Writer, status int, code, message, requestID string) error
	// Assets are the static files under /assets/: path below it -> bytes. CSP is the Content-Security-Policy of every page.
	Assets map[string][]byte
	CSP    string
}
