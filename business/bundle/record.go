package bundle

import (
	"crypto/sha256"
	"regexp"
	"slices"
	"strings"

	"sayso/business"
	"sayso/jcs"
)

// source is one file of records while it is read.
type source struct {
	name      string
	o         Options
	yield     func(*business.Record, *Problem) bool
	locations map[string]bool // nil when unknown
	seen      map[[16]byte]int32
	records   int
	told      map[string]bool // warnings that are given once for a file
}

func newSource(name string, o Options, yield func(*business.Record, *Problem) bool) *source {
	s := &source{name: name, o: o, yield: yield, seen: map[[16]byte]int32{}, told: map[string]bool{}}
	if o.Locations != nil {
		s.locations = map[string]bool{}
		for _, id := range o.Locations {
			s.locations[id] = true
		}
	}
	return s
}

// refuse reports what makes reading on pointless.
func (s *source) refuse(n int, rule, next, format string, args ...any) {
	r := row{file: s.name, n: n}
	r.fail(rule, "", next, format, args...)
	s.emit(&r, nil)
}

// emit hands out one row, and reports whether more is wanted.
func (s *source) emit(r *row, rec *business.Record) bool {
	if r.failed {
		rec = nil
	}
	if len(r.problems) == 0 {
		return rec == nil || s.yield(rec, nil)
	}
	last := len(r.problems) - 1
	for i := range r.problems[:last] {
		if !s.yield(nil, &r.problems[i]) {
			return false
		}
	}
	return s.yield(rec, &r.problems[last])
}

// full refuses the rest of a file that has too many records.
func (s *source) full(n int) bool {
	if s.records < MaxRecords {
		s.records++
		return false
	}
	s.refuse(n, ruleLimit, "split the business into several publishers, or leave records out", "the file has more than %d records", MaxRecords)
	return true
}

// maxTold bounds the memory of warnings that are given once.
const maxTold = 1000

// once warns of a name the first time it is met in the file.
func (s *source) once(r *row, rule, field, next, format string, args ...any) {
	key := rule + clip(field)
	if s.told[key] || len(s.told) >= maxTold {
		return
	}
	s.told[key] = true
	r.warn(rule, field, next, format, args...)
}

// recordOf reads the members of a record in JSON (X§4.1).
func (s *source) recordOf(r *row, list []jcs.Member) *business.Record {
	rec := &business.Record{Publisher: s.o.Publisher}
	var url string
	for _, m := range list {
		if isNull(m.Value) {
			r.fail(ruleForm, m.Name, "leave the member out: that says not stated", "%s is null", clip(m.Name))
			continue
		}
		switch m.Name {
		case "id":
			rec.ID = r.word(m.Name, m.Value)
		case "type":
			rec.Type = r.word(m.Name, m.Value)
		case "title":
			rec.Title = r.name(m.Name, m.Value)
		case "url":
			url = r.word(m.Name, m.Value)
		case "publisher":
			s.publisher(r, rec, r.word(m.Name, m.Value))
		case "summary":
			rec.Summary = r.word(m.Name, m.Value)
		case "content":
			rec.Content = r.word(m.Name, m.Value)
		case "aliases":
			rec.Aliases = r.names(m.Name, m.Value)
		case "updated_at":
			rec.UpdatedAt = r.instant(m.Name, r.word(m.Name, m.Value))
		case "verified_at":
			rec.VerifiedAt = r.instant(m.Name, r.word(m.Name, m.Value))
		case "attributes":
			rec.Attributes = s.attributes(r, m.Name, m.Value)
		case "links":
			rec.Links = r.links(m.Value)
		default:
			s.once(r, ruleUnknown, m.Name, "put the publisher's own members into attributes", "the member %q is not known and was dropped", clip(m.Name))
		}
	}
	s.finish(r, rec)
	if url != "" {
		s.url(r, rec, url)
	}
	return rec
}

func (s *source) publisher(r *row, rec *business.Record, stated string) {
	switch {
	case stated == "" || stated == s.o.Publisher:
	case s.o.Publisher != "":
		r.fail(rulePublisher, "publisher", "import the file for that publisher, or leave the member out", "the record is of %q, not of %q", clip(stated), s.o.Publisher)
	case !business.ValidSlug(stated):
		r.fail(rulePublisher, "publisher", "write the publisher's slug, or leave the member out", "publisher %q is no slug", clip(stated))
	default:
		rec.Publisher = stated
	}
}

// url compares a stated url with the one that will be generated. It is never kept.
func (s *source) url(r *row, rec *business.Record, stated string) {
	if want := s.ownURL(rec); want != "" && !r.failed && stated != want {
		r.fail(ruleURL, "url", "leave the member out: the registry makes it", "url %q is not the record's own, %q", clip(stated), want)
	}
}

// ownURL is the address the registry gives the record, "" while the base is unknown.
func (s *source) ownURL(rec *business.Record) string {
	if s.o.BaseURL == "" {
		return ""
	}
	return recordURL(s.o.BaseURL, rec)
}

func recordURL(base string, rec *business.Record) string {
	return strings.TrimSuffix(base, "/") + "/" + rec.Type + "/" + business.Segment(rec.ID)
}

// finish checks what all forms have in common.
func (s *source) finish(r *row, rec *business.Record) {
	for _, m := range []struct{ name, value string }{{"type", rec.Type}, {"id", rec.ID}, {"title", rec.Title}} {
		if strings.TrimSpace(m.value) == "" {
			r.fail(ruleRequired, m.name, "state it", "the record has no %s", m.name)
		}
	}
	if rec.Type != "" && !business.ValidType(rec.Type) {
		r.fail(ruleName, "type", "use a lower-case letter and then up to 63 of a-z 0-9 _ -", "type %q is no record type", clip(rec.Type))
	}
	if rec.ID != "" && (!business.ValidID(rec.ID) || !plain(rec.ID)) {
		r.fail(ruleName, "id", "use 1 to 256 characters without control characters", "id %q is no record id", clip(rec.ID))
	}
	if len(rec.Content) > MaxContent {
		r.fail(ruleLimit, "content", "shorten it, or split the record", "content has %d bytes, more than %d", len(rec.Content), MaxContent)
	}
	if r.failed {
		return
	}
	key := entity(rec)
	if first, dup := s.seen[key]; dup {
		r.fail(ruleUnique, "id", "give each record of a type its own id", "%s %q stands in row %d already", rec.Type, clip(rec.ID), first)
		return
	}
	s.seen[key] = int32(r.n)
}

// entity stands for (type, id) in 16 bytes, so that memory does not depend on the length of ids. A type holds no slash.
func entity(rec *business.Record) [16]byte {
	sum := sha256.Sum256([]byte(rec.Type + "/" + rec.ID))
	return [16]byte(sum[:16])
}

// relations are the relations of links that are not the publisher's own.
var relations = []string{"accessory_for", "alternative_to", "has_part", "part_of", "requires", "same_as", "variant_of"}

var ownRelation = regexp.MustCompile(`^x-[a-z0-9][a-z0-9_-]{0,61}$`)

func (r *row) links(raw jcs.Raw) (out []business.Link) {
	list, ok := elements(raw)
	if !ok {
		r.fail(ruleForm, "links", "write an array of {rel, type, id}, or leave the member out", "links is %s where an array is expected", kindOf(raw))
	}
	for _, e := range list {
		object, ok := members(e)
		if !ok {
			r.fail(ruleForm, "links", "write {rel, type, id}", "a link is %s where an object is expected", kindOf(e))
			continue
		}
		var l business.Link
		for _, m := range object {
			switch m.Name {
			case "rel":
				l.Rel = r.word("links.rel", m.Value)
			case "type":
				l.Type = r.word("links.type", m.Value)
			case "id":
				l.ID = r.name("links.id", m.Value)
			default:
				r.fail(ruleLink, "links", "write {rel, type, id} only", "the member %q of a link is not known", clip(m.Name))
			}
		}
		if !slices.Contains(relations, l.Rel) && !ownRelation.MatchString(l.Rel) {
			r.fail(ruleLink, "links.rel", "use "+strings.Join(relations, ", ")+" or x- and a name of your own", "the relation %q is not known", clip(l.Rel))
		}
		if !business.ValidType(l.Type) || !business.ValidID(l.ID) {
			r.fail(ruleLink, "links", "name the other record by its type and id", "the link to %q %q names no record", clip(l.Type), clip(l.ID))
		}
		out = append(out, l)
	}
	return out
}
