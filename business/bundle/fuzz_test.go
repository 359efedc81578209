package bundle_test

import (
	"bytes"
	"slices"
	"testing"

	"sayso/business"
	"sayso/business/bundle"
	"sayso/jcs"
)

// Whatever a file holds, reading it ends, says what is wrong, and gives only records that are written and read back as they are.
func checkRecords(t *testing.T, data []byte, name string) {
	o := options(t)
	records, problems := read(bytes.NewReader(data), name, o)
	for _, p := range problems {
		if p.Rule == "" || p.Message == "" || p.Next == "" || p.File != name {
			t.Fatalf("a problem without rule, place or text: %+v", p)
		}
		if _, err := jcs.Encode(p); err != nil {
			t.Fatalf("a problem that cannot be reported: %+v: %v", p, err)
		}
	}
	var file bytes.Buffer
	if err := bundle.WriteJSONL(&file, slices.Values(records)); err != nil {
		t.Fatal(err)
	}
	back, problems := read(&file, "r.jsonl", o)
	if len(back) != len(records) {
		t.Fatalf("%d of %d records are read back: %v", len(back), len(records), problems)
	}
	for i := range records {
		if a, b := canonicalRecord(t, records[i]), canonicalRecord(t, back[i]); a != b {
			t.Fatalf("%s\nwas %s", b, a)
		}
	}
	bundle.Lint(&business.Profile{}, o.Schema, slices.Values(records))
	for _, r := range records {
		if out := bundle.RecordJSONLD(&business.Profile{DisplayName: "Shop"}, o.Schema, o.BaseURL, r); bytes.ContainsRune(out, '<') {
			t.Fatalf("%s", out)
		}
	}
}

func FuzzJSONL(f *testing.F) {
	f.Add([]byte(`{"_meta":{"publisher":"shop"}}` + "\n{" + minimal + `,"attributes":{"price":50.0,"stock":{"harbour":0}},"links":[{"rel":"requires","type":"service","id":"b"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) { checkRecords(t, data, "r.jsonl") })
}

func FuzzCSV(f *testing.F) {
	f.Add([]byte("type,id,title,aliases,price,attr.note,stock.harbour\nservice,a,A,b|c,50.0,\"n\"\"\n\",0\n"))
	f.Fuzz(func(t *testing.T, data []byte) { checkRecords(t, data, "r.csv") })
}

func FuzzJSONLD(f *testing.F) {
	f.Add([]byte(offers(`{"@type":"Offer","price":50.0,"priceCurrency":"GBP",` + item + `}`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		checkRecords(t, data, "r.jsonld")
		checkProfile(t, func() (*business.Profile, []bundle.Problem) {
			p, _, problems := bundle.ReadProfileJSONLD(data, "p")
			return p, problems
		})
	})
}

func FuzzProfile(f *testing.F) {
	f.Add([]byte(`{"display_name":"Shop","profile_attributes":{"parking":false},"locations":[{"name":"Old Town","opening_hours":"Mo-Fr 8:00-17:00","latitude":1.0,"longitude":-0}],"tools":[{"name":"x","handler":"live.query"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		checkProfile(t, func() (*business.Profile, []bundle.Problem) { return bundle.Profile(data, "p") })
	})
}

// A profile that is read can be shown, and its hours are read again as they are.
func checkProfile(t *testing.T, read func() (*business.Profile, []bundle.Problem)) {
	p, problems := read()
	if p == nil {
		if len(problems) == 0 {
			t.Fatal("refused without a reason")
		}
		return
	}
	out := bundle.ProfileJSONLD(p, nil, "https://r.example/b/shop")
	if bytes.ContainsRune(out, '<') {
		t.Fatalf("%s", out)
	}
	back, _, problems := bundle.ReadProfileJSONLD(out, "back")
	if len(p.Locations) > 0 && (back == nil || len(back.Locations) != len(p.Locations)) {
		t.Fatalf("%v\n%s", problems, out)
	}
	bundle.Lint(p, nil, slices.Values([]*business.Record(nil)))
}
