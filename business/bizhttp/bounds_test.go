package bizhttp_test

import (
	"fmt"
	"strings"
	"testing"

	"sayso/business"
)

// An answer to a stranger is bounded whichever member of a record a business fills: a record may be as large as a line of an import.
func TestAnswersAreBoundedByEveryMember(t *testing.T) {
	const each, records = 400 << 10, 60
	for name, fill := range map[string]func(*business.Record){
		"aliases": func(r *business.Record) {
			for range each / 20 {
				r.Aliases = append(r.Aliases, strings.Repeat("a", 20))
			}
		},
		"links": func(r *business.Record) {
			for range each / 20 {
				r.Links = append(r.Links, business.Link{Rel: "has_part", Type: "item", ID: "12345678"})
			}
		},
		"empty aliases": func(r *business.Record) { r.Aliases = make([]string, each/3) },
		"content":       func(r *business.Record) { r.Content = strings.Repeat("c", each) },
		"summary":       func(r *business.Record) { r.Summary = strings.Repeat("s", each) },
		"attributes":    func(r *business.Record) { r.Attributes = []byte(`{"a":"` + strings.Repeat("v", each) + `"}`) },
		"title":         func(r *business.Record) { r.Title = strings.Repeat("t", each) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSurface(t)
			list := make([]business.Record, records)
			for i := range list {
				list[i] = business.Record{Type: "item", ID: fmt.Sprintf("%02d", i), Title: "x"}
				fill(&list[i])
			}
			s.setRecords("published", list)
			w := s.get(berlin+"published", "Accept", "application/json")
			if n := w.Body.Len(); w.Code != 200 || n > 4<<20 {
				t.Errorf("the profile has %d bytes, status %d", n, w.Code)
			}
			if m := decoded(t, w.Body.Bytes()); m["more_records"] != true {
				t.Error("the profile does not say that there are more records")
			}
			text := s.get(berlin + "published/llms.txt").Body.String()
			if told := strings.Count(text, "/item/"); told == 0 || told > records/2 || !strings.Contains(text, "There are more records") {
				t.Errorf("llms.txt read %d of %d large records", told, records)
			}
		})
	}
}
