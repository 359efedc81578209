package bizcheck

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"sayso/business"
	"sayso/safefetch"
)

// export is what the lines of a dump.jsonl showed.
type export struct {
	meta    object
	records []line
	samples []object // the first records, whole
	cut     string   // why not all lines were read, "" when they were
}

// line is one record of an export.
type line struct{ typ, id, url, publisher, title string }

// checkDump fetches the export, or its first part, and looks at it.
func (c *checker) checkDump(p *publisher) {
	at := p.endpoints.text("bulk_export")
	if at == "" {
		c.untested("XP-EXPORT-001", p.at, "no export was looked at", "the manifest names no bulk_export")
		return
	}
	a := c.get(http.MethodGet, at, http.Header{"Accept": {"application/x-ndjson"}, "Range": {fmt.Sprintf("bytes=0-%d", MaxBytes-1)}})
	var fetch *safefetch.FetchError
	switch {
	case errors.As(a.err, &fetch) && fetch.Kind == safefetch.KindTooLarge:
		c.untested("XP-EXPORT-001", a.at, "the export was not looked at", fmt.Sprintf("it has more than %d MiB and is not served in parts", MaxBytes>>20))
		return
	case a.unread():
		c.untested("XP-EXPORT-001", a.at, "the export could not be read", a.problem())
		return
	case a.status != http.StatusOK && a.status != http.StatusPartialContent:
		c.fail("XP-EXPORT-001", a.at, "the export is not there: "+a.problem(), "serve it at the address that the manifest names")
		return
	}
	c.looked = append(c.looked, a.at)
	c.checkWire("XP-EXPORT-001", a, "application/x-ndjson")
	if head := c.get(http.MethodHead, at, accepting("application/x-ndjson")); head.err == nil && head.status != http.StatusOK {
		c.warn("XP-EXPORT-001", a.at, fmt.Sprintf("HEAD answers %d", head.status), "answer HEAD with 200 and no body")
	}
	e := c.checkExport(a.at, a.body, a.status == http.StatusPartialContent, p.slug)
	if e.cut != "" {
		c.left = append(c.left, "lines of "+a.at+" beyond "+e.cut)
	}
	if source := e.meta.text("source"); e.meta != nil && originOf(p.profile) != "" {
		c.expect(source == p.profile, "XP-EXPORT-002", a.at, fmt.Sprintf("source is %.200q, the manifest names %.200q", safefetch.WithoutQuery(source), safefetch.WithoutQuery(p.profile)), "name the canonical profile, where the file can be had anew")
	}
	c.checkRecords(a.at, e.records)
	p.samples, p.records, p.cut = e.samples, e.records, e.cut != ""
}

// checkExport looks at the bytes of an export. partial says that they are the beginning of a longer one. slug is "" where nobody was asked for.
func (c *recorder) checkExport(place string, body []byte, partial bool, slug string) export {
	first, rest, whole := bytes.Cut(body, []byte("\n"))
	top, err := objectOf(first)
	meta := top.object("_meta")
	if !c.expect(err == nil && len(top) == 1 && meta != nil && whole, "XP-EXPORT-001", place, "the first line is not one object whose only member is _meta", "begin with {\"_meta\": {…}} on a line of its own") {
		return export{}
	}
	e := export{meta: meta}
	c.checkMeta(place, first, meta, slug)
	if slug == "" {
		slug = meta.text("publisher")
	}
	seen := map[[2]string]bool{}
	urls := map[string]bool{}
	at, confirmed, equal := 1, 0, 0
	for len(rest) > 0 {
		raw, next, ended := bytes.Cut(rest, []byte("\n"))
		if !ended && partial {
			e.cut = fmt.Sprintf("the first %d MiB", MaxBytes>>20)
			break
		}
		if at > maxLines {
			e.cut = fmt.Sprintf("the first %d", maxLines)
			break
		}
		at++
		rest = next
		where := fmt.Sprintf("%s line %d", place, at)
		o, one, ok := c.checkLine(where, raw, slug)
		if !ok {
			continue
		}
		key := [2]string{one.typ, one.id}
		c.expect(!seen[key], "XP-IDENTITY-001", where, fmt.Sprintf("%.100q of type %.64q stands twice", one.id, one.typ), "publish each (type, id) once")
		c.expect(seen[key] || !urls[one.url], "XP-IDENTITY-002", where, "two records have one url", "give each record an address of its own")
		seen[key], urls[one.url] = true, true
		if o.has("verified_at") && o.has("updated_at") {
			confirmed++
			if o.text("verified_at") == o.text("updated_at") {
				equal++
			}
		}
		e.records = append(e.records, one)
		if len(e.samples) < maxSamples {
			e.samples = append(e.samples, o)
		}
	}
	if confirmed > 2 {
		c.prefer(equal < confirmed, "XP-IDENTITY-003", place, fmt.Sprintf("verified_at equals updated_at in all %d records that state both", confirmed), "state verified_at only where somebody confirmed the record")
	}
	return e
}

// checkMeta is the first line: XP-EXPORT-002 and 004, XP-RIGHTS-001, and what it must not claim.
func (c *recorder) checkMeta(place string, first []byte, meta object, slug string) {
	var lacks []string
	for _, name := range []string{"publisher", "display_name", "trust_tier", "source"} {
		if meta.text(name) == "" {
			lacks = append(lacks, name)
		}
	}
	for _, name := range []string{"legal_name", "website"} { // stated, and empty where the business states none
		if _, ok := textOf(meta[name]); !ok {
			lacks = append(lacks, name)
		}
	}
	if !meta.isBool("website_verified") {
		lacks = append(lacks, "website_verified")
	}
	if _, ok := meta.time("generated_at"); !ok {
		lacks = append(lacks, "generated_at")
	}
	if meta.text("format") != business.DumpFormat {
		lacks = append(lacks, "the sentence of format")
	}
	if slug != "" && meta.text("publisher") != slug {
		lacks = append(lacks, "the publisher that was asked for")
	}
	if originOf(meta.text("source")) == "" {
		lacks = append(lacks, "an absolute source")
	}
	c.expect(len(lacks) == 0, "XP-EXPORT-002", place, "the first line lacks "+strings.Join(lacks, ", "), "a reader of the first line alone must learn what this is, whose, and where to get it again")
	c.expect(meta.text("license") == business.License, "XP-RIGHTS-001", place, fmt.Sprintf("license is %.200q", meta.text("license")), "write: "+business.License)
	c.checkEvidence(place, meta)
	c.checkAbsence(place, first)
	c.prefer(!meta.has("attestation") && !meta.has("signature"), "XP-INTEGRITY-003", place, "the first line carries a signature, and nothing of the export is signed", "leave it out: it would be read as covering the records")
}

// checkEvidence is XP-EXPORT-004.
func (c *recorder) checkEvidence(place string, meta object) {
	if !meta.has("authority") {
		c.pass("XP-EXPORT-004", place)
		return
	}
	list, ok := meta.list("authority")
	entries := meta.objects("authority")
	if one := meta.object("authority"); one != nil {
		list, entries, ok = append(list, meta["authority"]), []object{one}, len(one) > 0
	}
	ok = ok && len(list) > 0 && len(entries) == len(list)
	for _, e := range entries {
		if _, isTime := e.time("verified_at"); isTime {
			ok = ok && !isZeroTime(e.text("verified_at"))
		}
		ok = ok && len(e) > 0
	}
	c.expect(ok, "XP-EXPORT-004", place, fmt.Sprintf("authority is %.100s", meta["authority"]), "list the proofs that were accepted, or leave the member out")
}

// checkLine looks at one record of the export.
func (c *recorder) checkLine(place string, raw []byte, slug string) (object, line, bool) {
	o, err := objectOf(raw)
	one := line{typ: o.text("type"), id: o.text("id"), url: o.text("url"), publisher: o.text("publisher"), title: o.text("title")}
	problem := ""
	switch {
	case err != nil:
		problem = "the line is no object of strict JSON: " + err.Error()
	case one.typ == "" || one.id == "" || one.title == "" || one.publisher == "":
		problem = "the record lacks one of id, type, title and publisher"
	case originOf(one.url) == "":
		problem = "the record has no absolute url"
	case one.publisher != slug:
		problem = fmt.Sprintf("the record names the publisher %.100q", one.publisher)
	}
	if !c.expect(problem == "", "XP-EXPORT-001", place, problem, "write one whole record on each line") {
		return nil, one, false
	}
	c.checkAbsence(place, raw)
	for _, name := range []string{"updated_at", "verified_at"} {
		if _, ok := o.time(name); o.has(name) && !ok {
			c.fail("XP-IDENTITY-003", place, fmt.Sprintf("%s is %.60s", name, o[name]), "write a time in RFC 3339, or leave the member out")
		}
	}
	return o, one, true
}

// checkRecords is XP-IDENTITY-002 for some records, spread over those that were read.
func (c *checker) checkRecords(place string, records []line) {
	n := min(maxRecords, len(records))
	for i := range n {
		c.checkRecord(records[i*(len(records)-1)/max(n-1, 1)])
	}
	if n < len(records) {
		c.left = append(c.left, fmt.Sprintf("the url of %d of %d records of %s", len(records)-n, len(records), place))
	}
}

func (c *checker) checkRecord(one line) {
	a := c.get(http.MethodGet, one.url, accepting(typeJSON))
	switch {
	case a.unread():
		c.untested("XP-IDENTITY-002", a.at, "the record could not be read", a.problem())
		return
	case a.status == http.StatusOK && !isJSON(a.header):
		c.untested("XP-IDENTITY-002", a.at, "which record this is was not seen", "the address serves no JSON")
		return
	}
	c.checkWire("XP-DISCOVERY-001", a, "")
	o, err := objectOf(a.body)
	c.expect(a.status == http.StatusOK && err == nil && o.text("type") == one.typ && o.text("id") == one.id && o.text("publisher") == one.publisher, "XP-IDENTITY-002", a.at,
		fmt.Sprintf("the url of %.100q of type %.64q answers %d with %.100q of type %.64q", one.id, one.typ, a.status, o.text("id"), o.text("type")), "serve that record and no other at its url")
}
