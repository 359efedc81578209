package business

import (
	"errors"
	"slices"
	"time"
	"unicode/utf8"

	"sayso/jcs"
)

// AppendStated appends a record as its business states it, without url and publisher, which follow from where it stands. The text is what [jcs.Encode]
// would write. Errors are those of texts that are not UTF-8, of attributes that are no JSON, and of instants that RFC 3339 cannot write.
func AppendStated(dst []byte, r *Record) ([]byte, error) {
	return appendRecord(dst, r, "", "")
}

// appendRecord appends a record with its times as documents carry them. A publisher or url that is "" is left out. Imports and exports are as fast as this is,
// so members are written one by one, as [jcs.Encode] would write them. On an error it returns dst as it was.
func appendRecord(dst []byte, r *Record, publisher, url string) ([]byte, error) {
	if err := r.writable(); err != nil {
		return dst, err
	}
	var attributes []byte
	if r.Attributes != nil {
		var err error
		if attributes, err = jcs.Encode(r.Attributes); err != nil {
			return dst, err
		}
	}
	const names = 160 // bytes of the names of members, and of two instants
	dst = slices.Grow(dst, names+len(r.ID)+len(r.Type)+len(r.Title)+len(url)+len(publisher)+len(r.Summary)+len(attributes)+len(r.Content))
	dst = appendMember(append(dst, '{'), "id", r.ID)
	dst = appendMember(append(dst, ','), "type", r.Type)
	dst = appendMember(append(dst, ','), "title", r.Title)
	dst = appendOptional(dst, "url", url)
	dst = appendOptional(dst, "publisher", publisher)
	dst = appendOptional(dst, "summary", r.Summary)
	if attributes != nil && !emptyJSON(attributes) {
		dst = append(append(dst, `,"attributes":`...), attributes...)
	}
	if len(r.Aliases) > 0 {
		dst = append(dst, `,"aliases":[`...)
		for i, alias := range r.Aliases {
			dst = jcs.AppendString(appendComma(dst, i), alias)
		}
		dst = append(dst, ']')
	}
	dst = appendInstant(dst, `,"updated_at":"`, r.UpdatedAt)
	dst = appendInstant(dst, `,"verified_at":"`, r.VerifiedAt)
	dst = appendOptional(dst, "content", r.Content)
	if len(r.Links) > 0 {
		dst = append(dst, `,"links":[`...)
		for i, link := range r.Links {
			dst = appendMember(append(appendComma(dst, i), '{'), "rel", link.Rel)
			dst = appendMember(append(dst, ','), "type", link.Type)
			dst = append(appendMember(append(dst, ','), "id", link.ID), '}')
		}
		dst = append(dst, ']')
	}
	return append(dst, '}'), nil
}

// writable refuses what JSON cannot hold.
func (r *Record) writable() error {
	valid := utf8.ValidString(r.ID) && utf8.ValidString(r.Type) && utf8.ValidString(r.Title) && utf8.ValidString(r.Summary) && utf8.ValidString(r.Content) &&
		!slices.ContainsFunc(r.Aliases, invalidText)
	for _, l := range r.Links {
		valid = valid && utf8.ValidString(l.Rel) && utf8.ValidString(l.Type) && utf8.ValidString(l.ID)
	}
	if !valid {
		return errors.New("a text is not UTF-8")
	}
	for _, t := range []time.Time{r.UpdatedAt, r.VerifiedAt} {
		if year := t.UTC().Year(); year < 0 || year > 9999 {
			return errors.New("an instant lies outside of the years 0 to 9999")
		}
	}
	return nil
}

func invalidText(s string) bool { return !utf8.ValidString(s) }

// appendMember appends a member whose name needs no escape.
func appendMember(dst []byte, name, value string) []byte {
	dst = append(append(append(dst, '"'), name...), `":`...)
	return jcs.AppendString(dst, value)
}

// appendOptional appends a member behind another one unless it states nothing.
func appendOptional(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	return appendMember(append(dst, ','), name, value)
}

func appendComma(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return dst
}

// appendInstant appends a member that holds an instant, or nothing for none.
func appendInstant(dst []byte, member string, t time.Time) []byte {
	if t = utc(t); t.IsZero() {
		return dst
	}
	return append(t.AppendFormat(append(dst, member...), time.RFC3339Nano), '"')
}

// emptyJSON reports whether a compact text is what omitempty leaves out.
func emptyJSON(text []byte) bool {
	switch string(text) {
	case "{}", "[]", `""`, "null":
		return true
	}
	return false
}
