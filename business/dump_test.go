package business_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sayso/business"
	"sayso/jcs"
)

// encodedRecord is a record as the general encoder writes it, "" when it cannot.
func encodedRecord(r business.Record) string {
	instant := func(t time.Time) time.Time {
		if t.IsZero() {
			return time.Time{}
		}
		return t.UTC().Truncate(time.Microsecond)
	}
	r.UpdatedAt, r.VerifiedAt = instant(r.UpdatedAt), instant(r.VerifiedAt)
	text, err := jcs.Encode(&r)
	if err != nil {
		return ""
	}
	return string(text)
}

// encodedLine is a line of an export in the same way.
func encodedLine(s business.Site, p *business.Publication, r business.Record) string {
	r.Publisher, r.URL = p.Slug, s.RecordURL(p, r.Type, r.ID)
	return strings.NewReplacer("\u0085", `\u0085`, "\u2028", `\u2028`, "\u2029", `\u2029`).Replace(encodedRecord(r)) + "\n"
}

// The hand-written line and the general encoder agree on every byte, and on what neither can write.
func TestRecordLineIsWhatTheEncoderWrites(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a\u2028b\u0085", "\x00\x08\t\n\f\r\x1f\x7f", "\"\\/<>&", "\xff", "\ud7ff\ue000\U0010ffff"}))
	attributes := rapid.SampledFrom([]string{"", "null", "{}", "{ }", "[]", `""`, `{"price": 43.50 , "note":"a\u0041\/ ` + "\u2029" + `"}`, `{"a":1e400,"a b":[ ]}`, `{"a":1`, "\xff", `{"a":1,"a":2}`})
	instant := rapid.Custom(func(t *rapid.T) time.Time {
		return rapid.SampledFrom([]time.Time{
			{}, time.Unix(0, 0), time.Date(2026, 1, 2, 3, 4, 5, 6789, time.UTC), time.Date(2026, 7, 1, 0, 0, 0, 120_000_000, time.FixedZone("east", 3600)),
			time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC),
		}).Draw(t, "instant")
	})
	link := rapid.Custom(func(t *rapid.T) business.Link {
		return business.Link{Rel: text.Draw(t, "rel"), Type: text.Draw(t, "type"), ID: text.Draw(t, "id")}
	})
	rapid.Check(t, func(t *rapid.T) {
		r := business.Record{
			ID: text.Draw(t, "id"), Type: text.Draw(t, "type"), Title: text.Draw(t, "title"), Summary: text.Draw(t, "summary"), Content: text.Draw(t, "content"),
			Aliases: rapid.SliceOfN(text, 0, 3).Draw(t, "aliases"), Links: rapid.SliceOfN(link, 0, 2).Draw(t, "links"),
			UpdatedAt: instant.Draw(t, "updated"), VerifiedAt: instant.Draw(t, "verified"),
		}
		if a := attributes.Draw(t, "attributes"); a != "" || rapid.Bool().Draw(t, "empty") {
			r.Attributes = jcs.Raw(a)
		}
		s := rapid.SampledFrom([]business.Site{site, {}}).Draw(t, "site")
		want := encodedLine(s, full(), r)
		encoded := want != "\n"
		got, written := attempt(func() string { return string(business.AppendRecordLine([]byte("before\u2028\n"), s, full(), &r)) })
		if written != encoded {
			t.Fatalf("the encoder writes it: %v, the line: %v: %+v", encoded, written, r)
		}
		if written && got != "before\u2028\n"+want {
			t.Fatalf("\n got %s\nwant %s", got, want)
		}
		stated, err := business.AppendStated(nil, &r)
		if (err == nil) != encoded {
			t.Fatalf("the encoder writes it: %v, as stated: %v", encoded, err)
		}
		// As stated it is the same text without two members.
		r.Publisher, r.URL = "-", "-"
		without := strings.Replace(encodedRecord(r), `,"url":"-","publisher":"-"`, "", 1)
		if encoded && string(stated) != without {
			t.Fatalf("\n got %s\nwant %s", stated, without)
		}
	})
}

// attempt reports whether f came to an end.
func attempt(f func() string) (text string, ok bool) {
	defer func() { ok = recover() == nil }()
	return f(), true
}
