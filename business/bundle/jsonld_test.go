package bundle_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sayso/business"
	"sayso/business/bundle"
	"sayso/jcs"
)

func offers(list string) string {
	return `{"@context":"https://schema.org","@type":"LocalBusiness","name":"Shop","hasOfferCatalog":{"@type":"OfferCatalog","itemListElement":[` + list + `]}}`
}

const item = `"itemOffered":{"@type":"Service","identifier":"a","name":"A"}`

func TestJSONLDRules(t *testing.T) {
	for _, c := range []struct{ name, file, want, attributes string }{
		{"no price is not stated", offers(`{"@type":"Offer",` + item + `}`), "", ``},
		{"price 0 is 0", offers(`{"@type":"Offer","price":0,` + item + `}`), "", `{"price":0}`},
		{"literal kept", offers(`{"@type":"Offer","price":"50.0","priceCurrency":"GBP",` + item + `}`), "", `{"price":50.0}`},
		{"from and to", offers(`{"@type":"Offer","priceSpecification":{"@type":"PriceSpecification","minPrice":60,"maxPrice":90.0},` + item + `}`), "", `{"price_from":60,"price_to":90.0}`},
		{"German price", offers(`{"@type":"Offer","price":"1.234,50",` + item + `}`), "XB-12 price", ``},
		{"price on request as text", offers(`{"@type":"Offer","price":"on request",` + item + `}`), "XB-12 price", ``},
		{"other currency", offers(`{"@type":"Offer","price":1,"priceCurrency":"EUR",` + item + `}`), "XB-16 attributes.currency", ``},
		{"two currencies", offers(`{"@type":"Offer","price":1,"priceCurrency":"GBP","priceSpecification":{"minPrice":1,"priceCurrency":"EUR"},` + item + `}`), "XB-16 priceCurrency, XB-16 attributes.currency", ``},
		{"price per hour", offers(`{"@type":"Offer","priceSpecification":{"@type":"UnitPriceSpecification","price":5,"unitCode":"HUR"},` + item + `}`), "XB-29 priceSpecification", ``},
		{"two specifications", offers(`{"@type":"Offer","priceSpecification":[{"minPrice":1},{"minPrice":2}],` + item + `}`), "XB-29 priceSpecification", ``},
		{"price in two places", offers(`{"@type":"Offer","price":1,"priceSpecification":{"price":2},` + item + `}`), "XB-12 priceSpecification.price", ``},
		{"property as object", offers(`{"@type":"Offer","itemOffered":{"@type":"Service","identifier":"a","name":"A","additionalProperty":{"@type":"PropertyValue","name":"note","value":{"@value":1}}}}`), "XB-30 note w", ``},
		{"property without name", offers(`{"@type":"Offer","itemOffered":{"@type":"Service","identifier":"a","name":"A","additionalProperty":{"@type":"PropertyValue","value":1}}}`), "XB-29 additionalProperty", ``},
		{"the same property twice", offers(`{"@type":"Offer","itemOffered":{"@type":"Service","identifier":"a","name":"A","additionalProperty":[{"@type":"PropertyValue","name":"note","value":"a"},{"@type":"PropertyValue","name":"note","value":"b"}]}}`), "XB-29 additionalProperty", ``},
		{"unit nobody declared", offers(`{"@type":"Offer","itemOffered":{"@type":"Service","identifier":"a","name":"A","additionalProperty":{"@type":"PropertyValue","name":"note","value":"a","unitCode":"HUR"}}}`), "XB-30 unitCode w", `{"note":"a"}`},
		{"number as id", offers(`{"@type":"Offer","itemOffered":{"@type":"Service","identifier":12,"name":"A"}}`), "", ``},
		{"other url", offers(`{"@type":"Offer","itemOffered":{"@type":"Service","identifier":"a","name":"A","url":"https://shop.example/a"}}`), "XB-30 url w", ``},
		{"own url", offers(`{"@type":"Offer","itemOffered":{"@type":"Service","identifier":"a","name":"A","url":"https://registry.example/b/shop/service/a"}}`), "", ``},
		{"price range", offers(`{"@type":"Offer","priceRange":"$$",` + item + `}`), "XB-30 priceRange w", ``},
		{"rating", offers(`{"@type":"Offer","itemOffered":{"@type":"Service","identifier":"a","name":"A","aggregateRating":{"ratingValue":5},"review":[]}}`), "XB-30 aggregateRating w, XB-30 review w", ``},
		{"sku", offers(`{"@type":"Offer","itemOffered":{"@type":"Product","sku":"s1","name":"A"}}`), "", ``},
		{"fragment", offers(`{"@type":"Offer","itemOffered":{"@type":"Product","@id":"https://shop.example/#x","name":"A"}}`), "", ``},
		{"no id", offers(`{"@type":"Offer","itemOffered":{"@type":"Product","@id":"https://shop.example/x","name":"A"}}`), "XB-29 identifier, XB-05 id", ``},
		{"reference", offers(`{"@type":"Offer","itemOffered":{"@id":"#a"}}`), "XB-29 itemOffered", ``},
		{"other thing", offers(`{"@type":"Offer","itemOffered":{"@type":"Event","identifier":"a","name":"A"}}`), "XB-29 itemOffered", ``},
		{"catalogue in a catalogue", offers(`{"@type":"OfferCatalog","itemListElement":{"@type":"ListItem","item":{"@type":"Offer",` + item + `}}}`), "", ``},
		{"neither offer nor catalogue", offers(`{"@type":"Thing"}`), "XB-29 itemListElement", ``},
		{"property", offers(`{"@type":"Offer","itemOffered":{"@type":"Service","identifier":"a","name":"A","additionalProperty":[{"@type":"PropertyValue","name":"balcony","value":false},{"@type":"PropertyValue","name":"duration","value":30.0,"unitText":"min"},{"@type":"PropertyValue","name":"note"}]}}`), "", `{"balcony":false,"duration":30.0}`},
		{"property in another unit", offers(`{"@type":"Offer","itemOffered":{"@type":"Service","identifier":"a","name":"A","additionalProperty":{"@type":"PropertyValue","name":"duration","value":1,"unitText":"h"}}}`), "XB-14 additionalProperty", ``},
		{"property twice", offers(`{"@type":"Offer","price":1,"itemOffered":{"@type":"Service","identifier":"a","name":"A","additionalProperty":{"@type":"PropertyValue","name":"price","value":2}}}`), "XB-29 additionalProperty", ``},
		{"boolean as text", offers(`{"@type":"Offer","itemOffered":{"@type":"Service","identifier":"a","name":"A","additionalProperty":{"@type":"PropertyValue","name":"balcony","value":"False"}}}`), "XB-13 attributes.balcony", ``},
		{"IRIs", strings.ReplaceAll(offers(`{"@type":"https://schema.org/Offer","schema:price":5,`+item+`}`), `"https://schema.org"`, `["http://schema.org/"]`), "", `{"price":5}`},
		{"prefix and none", offers(`{"@type":"Offer","price":1,"schema:price":2,` + item + `}`), "XB-29 price, XB-12 price", ``},
		{"too many properties", offers(`{"@type":"Offer","itemOffered":{"@type":"Service","identifier":"a","name":"A","additionalProperty":[` + strings.Repeat("1,", 1000) + `1]}}`), "XB-02 additionalProperty", ``},
		{"graph", `{"@context":{"@vocab":"https://schema.org/"},"@graph":[{"@type":"WebSite"},` + strings.Replace(offers(`{"@type":"Offer",`+item+`}`), `"@context":"https://schema.org",`, "", 1) + `]}`, "", ``},
		{"foreign context", strings.ReplaceAll(offers(""), "https://schema.org", "https://evil.example/context.jsonld"), "XB-28 @context", ``},
		{"context that renames", strings.ReplaceAll(offers(""), `"https://schema.org"`, `{"price":"https://schema.org/name"}`), "XB-28 @context", ``},
		{"no context", `{"@type":"LocalBusiness"}`, "XB-28 @context", ``},
		{"no offers", offers(""), "XB-29", ``},
		{"not JSON", `{`, "XB-01", ``},
		{"text", `"x"`, "XB-29", ``},
		{"duplicate", offers(`{"@type":"Offer",` + item + `},{"@type":"Offer",` + item + `}`), "XB-08 id", ``},
		{"duplicate member", offers(`{"@type":"Offer","price":1,"price":2,` + item + `}`), "XB-01 /hasOfferCatalog/itemListElement/0/price", ``},
	} {
		records, problems := read(strings.NewReader(c.file), "r.jsonld", options(t))
		if got := rulesOf(problems); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if c.attributes != "" && (len(records) != 1 || string(records[0].Attributes) != c.attributes) {
			t.Errorf("%s: %v", c.name, records)
		}
	}
}

// A file that is too large is not read to its end.
func TestJSONLDIsBounded(t *testing.T) {
	line := strings.Repeat(" ", 1<<16)
	n := 0
	endless := &generator{line: func() string { n++; return line }}
	if _, problems := read(endless, "r.jsonld", bundle.Options{}); rulesOf(problems) != "XB-02" || n > bundle.MaxJSONLD>>16+1 {
		t.Errorf("%v after %d MiB", problems, n>>4)
	}
	values := "[" + strings.Repeat("1,", bundle.MaxValues) + "1]"
	if _, problems := read(strings.NewReader(values), "r.jsonld", bundle.Options{}); rulesOf(problems) != "XB-02" {
		t.Error(problems)
	}
	for _, members := range []string{
		`"department":[` + strings.Repeat("{},", bundle.MaxLocations) + `{}]`,
		`"openingHours":[` + strings.Repeat(`"Mo 09:00-17:00",`, 1000) + `"Tu 09:00-17:00"]`,
	} {
		if _, _, problems := bundle.ReadProfileJSONLD(local(members), "p"); len(problems) == 0 || problems[0].Rule != "XB-02" {
			t.Errorf("%d problems", len(problems))
		}
	}
}

func local(members string) []byte {
	return []byte(`{"@context":"https://schema.org","@type":"Dentist","name":"Shop",` + members + `}`)
}

func TestJSONLDProfile(t *testing.T) {
	for _, c := range []struct{ name, members, want string }{
		{"one place", `"address":"Main St 1","telephone":"1"`, ""},
		{"rating", `"address":"x","aggregateRating":{},"priceRange":"$"`, "XB-30 aggregateRating w, XB-30 priceRange w"},
		{"amenity as text", `"address":"x","amenityFeature":{"@type":"LocationFeatureSpecification","name":"parking","value":"true"}`, "XB-13 amenityFeature"},
		{"hours", `"openingHours":"Mo-Fr 9-5"`, "XB-18 openingHours"},
		{"hours twice", `"openingHours":"Mo 09:00-17:00","openingHoursSpecification":{"dayOfWeek":"Monday","opens":"09:00","closes":"17:00"}`, "XB-18 openingHours"},
		{"half a position", `"geo":{"latitude":1}`, "XB-21 geo"},
		{"no business", `"founder":"x"`, "XB-29"},
	} {
		_, _, problems := bundle.ReadProfileJSONLD(local(c.members), "p.jsonld")
		if got := rulesOf(problems); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	p, s, problems := bundle.ReadProfileJSONLD(local(`"url":"https://shop.example","telephone":"0800 1","email":"a@shop.example","address":{"@type":"PostalAddress","streetAddress":"Main St 1","addressLocality":"Leeds","addressCountry":"GB"},
	"department":[{"@type":"LocalBusiness","name":"Branch","address":"Side St 2"}],"paymentAccepted":"Cash, Visa","knowsLanguage":["en",{"@type":"Language","name":"Polish"}],
	"amenityFeature":[{"@type":"LocationFeatureSpecification","name":"parking","value":false},{"@type":"LocationFeatureSpecification","name":"pool"}]`), "p.jsonld")
	if p == nil {
		t.Fatal(problems)
	}
	branch := p.Locations[1]
	if branch.Phone != "" || branch.Email != "" || branch.ID != "branch" || branch.Primary || !p.Locations[0].Primary || p.Locations[0].Locality != "Leeds" {
		t.Errorf("XP-IDENTITY-007: %+v", p.Locations)
	}
	if string(p.ProfileAttributes) != `{"parking":false}` {
		t.Errorf("a feature without a value is not stated: %s", p.ProfileAttributes)
	}
	if l := s.Lists["payment_methods"]; len(l.Values) != 2 || l.Values[1].ID != "Visa" || l.Closed || len(s.Lists["languages_spoken"].Values) != 2 {
		t.Errorf("%+v", s.Lists)
	}
}

func TestOpeningHoursSpecification(t *testing.T) {
	for _, c := range []struct{ spec, want string }{
		{`{"dayOfWeek":["Monday","https://schema.org/Tuesday"],"opens":"09:00","closes":"17:30:00"}`, "Mo,Tu 09:00-17:30"},
		{`{"dayOfWeek":"Friday","opens":"20:00","closes":"02:00"}`, "Fr 20:00-02:00"},
		{`{"dayOfWeek":"Monday","opens":"00:00","closes":"00:00"}`, "Mo off"},
		{`{"dayOfWeek":"Monday"}`, "Mo off"},
		{`{"dayOfWeek":"Monday","opens":"00:00","closes":"23:59"}`, "Mo 00:00-24:00"},
		{`{"dayOfWeek":"Monday","opens":"09:00","closes":"12:00"},{"dayOfWeek":"Monday","opens":"13:00","closes":"17:00"}`, "Mo 09:00-12:00, Mo 13:00-17:00"},
		{`{"opens":"09:00","closes":"12:00"},{"dayOfWeek":"Sunday"}`, "09:00-12:00; Su off"},
		{`{"dayOfWeek":"Sunday"},{"dayOfWeek":"Saturday","opens":"20:00","closes":"02:00"}`, "Su off; Sa 20:00-02:00"},
		{`{"validFrom":"2026-12-24","validThrough":"2026-12-26"},{"dayOfWeek":"PublicHolidays","opens":"10:00","closes":"12:00"}`, "PH 10:00-12:00; 2026 Dec 24-2026 Dec 26 off"},
		{`{"validFrom":"2026-12-24","validThrough":"2026-12-24","opens":"10:00","closes":"12:00"}`, "2026 Dec 24 10:00-12:00"},
		{`{"dayOfWeek":"Monday","opens":"9","closes":"17:00"}`, ""},
		{`{"dayOfWeek":"Monday","opens":"09:00"}`, ""},
		{`{"dayOfWeek":"Monday","opens":"09:00","closes":"09:00"}`, ""},
		{`{"dayOfWeek":"Mon","opens":"09:00","closes":"12:00"}`, ""},
		{`{"dayOfWeek":"Monday","opens":"09:00","closes":"12:00"},{"dayOfWeek":"Monday"}`, ""},
		{`{"validFrom":"2026-12-24","opens":"09:00","closes":"12:00"}`, ""},
		{`{"validFrom":"2026-12-24","validThrough":"2026-12-23","opens":"09:00","closes":"12:00"}`, ""},
	} {
		p, _, problems := bundle.ReadProfileJSONLD(local(`"openingHoursSpecification":[`+c.spec+`]`), "p.jsonld")
		if c.want == "" {
			if len(problems) != 1 || problems[0].Rule != "XB-18" {
				t.Errorf("%s: %v", c.spec, problems)
			}
			continue
		}
		if p == nil || p.Locations[0].OpeningHours != c.want {
			t.Errorf("%s: %v %v", c.spec, p, problems)
		}
	}
	if p, _, _ := bundle.ReadProfileJSONLD(local(`"openingHours":["Mo 09:00-12:00","Mo 13:00-17:00"]`), "p"); p == nil || p.Locations[0].OpeningHours != "Mo 09:00-12:00, Mo 13:00-17:00" {
		t.Error("several texts add to each other")
	}
	if p, _, _ := bundle.ReadProfileJSONLD(local(`"openingHours":["Mo 09:00-12:00; Tu off","Mo 13:00-17:00"]`), "p"); p != nil {
		t.Error("texts of several rules beside others are ambiguous")
	}
}

// on_request omits the price, never 0; a published false is false; from is minPrice; and the text may stand in a script element.
func TestRecordJSONLD(t *testing.T) {
	p := &business.Profile{DisplayName: "</script>", BusinessCategory: "Optician"}
	rec := func(attributes string) string {
		out := bundle.RecordJSONLD(p, schema(t), "https://r.example/b/shop", &business.Record{ID: "a b", Type: "service", Title: "<i>\u2028", Attributes: jcs.Raw(attributes)})
		if !json.Valid(out) || bytes.ContainsAny(out, "<\u2028") {
			t.Errorf("%s", out)
		}
		return string(out)
	}
	for _, c := range []struct{ attributes, has, hasNot string }{
		{`{"price_mode":"on_request"}`, `"name":"price_mode","value":"on_request"`, `"price"`},
		{`{"price_mode":"on_request","price":0}`, `"on_request"`, `"price"`},
		{`{"balcony":false}`, `"name":"balcony","value":false`, `"price"`},
		{`{"price_from":60}`, `"priceSpecification":{"@type":"PriceSpecification","minPrice":60,"priceCurrency":"GBP"}`, `"price":`},
		{`{"price":50.0}`, `"price":50.0,"priceCurrency":"GBP"`, `minPrice`},
		{`{"duration":30}`, `"name":"duration","value":30,"unitText":"min"`, `price`},
		{`{"stock":{"harbour":4}}`, `"@type":"Service"`, `harbour`},
	} {
		out := rec(c.attributes)
		if !strings.Contains(out, c.has) || strings.Contains(out, c.hasNot) {
			t.Errorf("%s: %s", c.attributes, out)
		}
		if out != rec(c.attributes) {
			t.Error("not deterministic")
		}
	}
	if out := rec(`{}`); !strings.Contains(out, `"@type":"Optician"`) || !strings.Contains(out, "https://r.example/b/shop/service/"+business.Segment("a b")) {
		t.Error(out)
	}
}

// What the package comment lists as lost is lost, and a file of records refuses what it cannot name.
func TestJSONLDLosses(t *testing.T) {
	o := options(t)
	in := []*business.Record{{ID: "a", Type: "service", Title: "A", Publisher: "shop", Content: "long", Links: []business.Link{{Rel: "requires", Type: "service", ID: "b"}},
		Attributes: jcs.Raw(`{"price":1,"currency":"GBP","stock":{"harbour":4},"note":"n"}`)}}
	var file bytes.Buffer
	if err := bundle.WriteJSONLD(&file, &business.Profile{DisplayName: "Shop"}, o.Schema, "", slices.Values(in)); err != nil {
		t.Fatal(err)
	}
	back, problems := read(&file, "r.jsonld", o)
	if problems != nil || back[0].Content != "" || back[0].Links != nil || string(back[0].Attributes) != `{"note":"n","price":1}` {
		t.Errorf("%+v %v", back, problems)
	}
	in[0].Type = "room"
	if err := bundle.WriteJSONLD(&file, &business.Profile{}, nil, "", slices.Values(in)); err == nil {
		t.Error("a room was written as something else")
	}
	// Without a schema the currency is the record's own.
	in[0].Type = "service"
	file.Reset()
	if err := bundle.WriteJSONLD(&file, &business.Profile{}, nil, "", slices.Values(in)); err != nil {
		t.Fatal(err)
	}
	if back, _ := read(&file, "r.jsonld", bundle.Options{}); string(back[0].Attributes) != `{"note":"n","price":1,"currency":"GBP"}` {
		t.Errorf("%s", back[0].Attributes)
	}
}

// names have hostile and many-lettered characters, and none that a reader refuses in names.
var names = rapid.StringMatching(`[a-zA-Zäß日"\\<>&/.,'=-][a-zA-Z0-9äß日"\\<>&/.,'= -]{0,12}`)

func optional(g *rapid.Generator[string]) *rapid.Generator[string] {
	return rapid.OneOf(rapid.Just(""), g)
}

var literals = rapid.StringMatching(`(0|[1-9][0-9]{0,6})(\.[0-9]{1,4})?([eE][+-]?[0-9])?`)

func drawRecord(t *rapid.T, i int) *business.Record {
	rec := &business.Record{Publisher: "shop", ID: "r" + strconv.Itoa(i), Type: rapid.SampledFrom([]string{"service", "product"}).Draw(t, "type"),
		Title: names.Draw(t, "title"), Summary: optional(names).Draw(t, "summary")}
	if list := rapid.SliceOfN(names, 0, 3).Draw(t, "aliases"); len(list) > 0 {
		rec.Aliases = list
	}
	attributes := map[string]string{}
	for _, name := range []string{"price", "price_from", "price_to", "duration"} {
		if rapid.Bool().Draw(t, name) {
			attributes[name] = literals.Draw(t, name)
		}
	}
	if len(attributes) == 0 || attributes["duration"] != "" && len(attributes) == 1 {
		attributes["price_mode"] = `"on_request"`
	}
	if rapid.Bool().Draw(t, "balcony") {
		attributes["balcony"] = rapid.SampledFrom([]string{"true", "false"}).Draw(t, "balcony")
	}
	if s := optional(names).Draw(t, "note"); s != "" {
		attributes["note"] = string(jcs.AppendString(nil, s))
	}
	var members []string
	for _, name := range []string{"balcony", "duration", "note", "price", "price_from", "price_mode", "price_to"} {
		if v := attributes[name]; v != "" {
			members = append(members, `"`+name+`":`+v)
		}
	}
	rec.Attributes = jcs.Raw("{" + strings.Join(members, ",") + "}")
	return rec
}

func TestRecordsSurviveJSONLD(t *testing.T) {
	o := options(t)
	rapid.Check(t, func(t *rapid.T) {
		var in []*business.Record
		for i := range rapid.IntRange(1, 4).Draw(t, "records") {
			in = append(in, drawRecord(t, i))
		}
		var file bytes.Buffer
		if err := bundle.WriteJSONLD(&file, &business.Profile{DisplayName: "Shop"}, o.Schema, o.BaseURL, slices.Values(in)); err != nil {
			t.Fatal(err)
		}
		back, problems := read(bytes.NewReader(file.Bytes()), "r.jsonld", o)
		if problems != nil || len(back) != len(in) {
			t.Fatalf("%v\n%s", problems, file.String())
		}
		for i := range in {
			if a, b := canonicalOf(t, in[i]), canonicalOf(t, back[i]); a != b {
				t.Fatalf("%s\nwas %s", b, a)
			}
		}
	})
}

func canonicalOf(t *rapid.T, rec *business.Record) string {
	line, err := jcs.Encode(rec)
	if err != nil {
		t.Fatal(err)
	}
	out, err := business.Canon(line)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestProfilesSurviveJSONLD(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &business.Profile{DisplayName: names.Draw(t, "name"), LegalName: optional(names).Draw(t, "legal"), BusinessCategory: optional(names).Draw(t, "category"),
			Website: optional(rapid.Just("https://shop.example/a?b=<c>")).Draw(t, "website"), ProfileAttributes: jcs.Raw(`{"parking":false,"rooms":12.0}`), Tools: bundle.DefaultTools}
		for i := range rapid.IntRange(1, 3).Draw(t, "places") {
			p.Locations = append(p.Locations, business.Location{ID: "l" + strconv.Itoa(i), Primary: i == 0, Name: optional(names).Draw(t, "place"), Address: optional(names).Draw(t, "address"),
				StreetAddress: optional(names).Draw(t, "street"), Locality: optional(names).Draw(t, "locality"), PostalCode: optional(names).Draw(t, "code"), CountryCode: optional(rapid.Just("DE")).Draw(t, "cc"),
				Country: optional(rapid.Just("Germany")).Draw(t, "country"), Phone: optional(names).Draw(t, "phone"), Email: optional(names).Draw(t, "email"), OpeningHours: optional(rapid.Just("Mo-Fr 09:00-17:00; Sa off")).Draw(t, "hours"),
				TimeZone: optional(rapid.Just("Europe/Berlin")).Draw(t, "zone")})
			if rapid.Bool().Draw(t, "position") {
				p.Locations[i].Latitude, p.Locations[i].Longitude = jcs.Raw("43.85630"), jcs.Raw("-1e1")
			}
		}
		s := &business.Schema{Lists: map[string]business.SchemaList{"payment_methods": {Values: []business.SchemaTerm{{ID: "cash"}, {ID: "visa"}}}}}
		out := bundle.ProfileJSONLD(p, s, "https://r.example/b/shop")
		back, lists, problems := bundle.ReadProfileJSONLD(out, "p.jsonld")
		if back == nil {
			t.Fatalf("%v\n%s", problems, out)
		}
		if !reflect.DeepEqual(p, back) || !reflect.DeepEqual(s, lists) {
			t.Fatalf("%+v\nwas %+v\n%s", back, p, out)
		}
	})
}
