package examples_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"sayso/business"
	"sayso/business/bundle"
	"sayso/jcs"
)

// notated is a publisher in the compact notation of source/pubs.json.
type notated struct {
	Slug        string
	DisplayName string `json:"display_name"`
	LegalName   string `json:"legal_name"`
	Languages   []string
	Currency    string
	Category    []string
	Types       map[string][]string
	Profile     json.RawMessage
	Labels      map[string][]string
	Lists       map[string]struct {
		Labels, Values, Domain []string
		Closed                 bool
	}
	Locations []struct{ Name, Phone, Email, Address, Hours string }
	Records   []struct {
		ID, Type, Title string
		Aliases         []string
		Price           json.RawMessage
		PriceFrom       json.RawMessage `json:"price_from"`
		PriceMode       json.RawMessage `json:"price_mode"`
		Duration        json.RawMessage
		Stock           map[string]json.RawMessage
		Bools           json.RawMessage
	}
}

// sample is what the notation does not say: the form of the records, the tools, and what a bundle can state besides.
type sample struct {
	slug    string
	form    string
	website string
	tools   []business.Tool
	// places adds to locations by id. Only one sample has zones and coordinates; the others show what cannot be answered without.
	places    map[string]business.Location
	links     map[string][]business.Link
	streams   []business.SchemaStream
	freshness *business.FreshnessContract
}

var samples = map[string]sample{
	"optician": {slug: "brightwater-opticians", form: "records.csv", website: "https://brightwater.example", tools: tools("knowledge.search", "knowledge.get"),
		places: map[string]business.Location{"leeds": {Locality: "Leeds", CountryCode: "GB"}}},
	"dentist": {slug: "marina-dental", form: "records.jsonl", tools: tools("knowledge.search", "knowledge.get", "knowledge.neighbors"),
		places: map[string]business.Location{"marina": {Locality: "Málaga", CountryCode: "ES"}},
		links:  map[string][]business.Link{"wh-chair": {{Rel: "alternative_to", Type: "service", ID: "wh-home"}}}},
	"hotel": {slug: "hotel-alpenblick", form: "records.jsonl", tools: tools("knowledge.search", "knowledge.get")},
	"hardware": {slug: "hammer-and-nail", form: "records.csv", tools: tools("knowledge.search", "knowledge.get", "live.query", "live.nearest", "hybrid.resolve"),
		places: map[string]business.Location{
			"northgate": {Latitude: jcs.Raw("52.5480"), Longitude: jcs.Raw("13.3880"), TimeZone: "Europe/Berlin"},
			"harbour":   {Latitude: jcs.Raw("52.5320"), Longitude: jcs.Raw("13.3400"), TimeZone: "Europe/Berlin"},
			"old-town":  {Latitude: jcs.Raw("52.5170"), Longitude: jcs.Raw("13.4060"), TimeZone: "Europe/Berlin"},
		},
		streams:   []business.SchemaStream{{Key: "shelf_count", Subject: "product", ScopedBy: "location", Kind: "count", SLASeconds: 300, MaxAgeSeconds: 86400}},
		freshness: &business.FreshnessContract{SLASeconds: 86400, Policy: "Prices and stock are looked through once a day."}},
	"garage": {slug: "kessler-garage", form: "records.jsonld", tools: tools("knowledge.search", "knowledge.get")},
}

// The words of the notation that are not English, and those that are in both languages of the hotel.
var (
	spanish = []string{"tratamiento", "servicio", "dentista", "clínica dental", "urgencias", "sedación", "seguro", "seguros"}
	german  = []string{"zimmer", "wlan", "schwimmbad", "haustiere", "parkplatz", "parkplätze", "balkon", "frühstück"}
	shared  = []string{"hotel", "wifi", "internet", "pool", "sauna", "service"}
	verbs   = []string{"pay", "accept", "take", "speak"}
)

// byLanguage sorts words into the languages of the publisher.
func (n notated) byLanguage(words []string) map[string][]string {
	out := map[string][]string{}
	for _, w := range words {
		switch {
		case slices.Contains(spanish, w):
			out["es"] = append(out["es"], w)
		case slices.Contains(german, w):
			out["de"] = append(out["de"], w)
		default:
			out["en"] = append(out["en"], w)
			if slices.Contains(n.Languages, "de") && slices.Contains(shared, w) {
				out["de"] = append(out["de"], w)
			}
		}
	}
	return out
}

// notation converts the five publishers of source/pubs.json.
func notation(t *testing.T) map[string]map[string][]byte {
	var list []notated
	if err := json.Unmarshal(source(t, "pubs.json"), &list); err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string][]byte{}
	for _, n := range list {
		s := samples[n.Slug]
		p, records := n.profile(s), n.records(s)
		vocabulary := layout(t, n.schema(s))
		parsed, err := business.ParseSchema(vocabulary)
		if err != nil {
			t.Fatal(n.Slug, err)
		}
		out[s.slug] = map[string][]byte{"publisher.json": layout(t, p), "schema.json": vocabulary, s.form: write(t, s, p, parsed, records)}
	}
	return out
}

func (n notated) profile(s sample) *business.Profile {
	p := &business.Profile{DisplayName: n.DisplayName, LegalName: n.LegalName, ContentLanguages: n.Languages, Website: s.website, BusinessCategory: n.Category[0],
		ProfileAttributes: jcs.Raw(n.Profile), Tools: s.tools, Freshness: s.freshness}
	for i, l := range n.Locations {
		place := s.places[business.City(l.Name)]
		place.ID, place.Primary, place.Name = business.City(l.Name), i == 0, l.Name
		place.Address, place.Phone, place.Email, place.OpeningHours = l.Address, l.Phone, l.Email, l.Hours
		p.Locations = append(p.Locations, place)
	}
	return p
}

// schema is written from maps, whose members are in order of their names.
func (n notated) schema(s sample) map[string]any {
	types := map[string]any{}
	for name, words := range n.Types {
		types[name] = map[string]any{"words": n.byLanguage(words)}
	}
	var profile map[string]bool
	if err := json.Unmarshal(n.Profile, &profile); err != nil {
		panic(err)
	}
	features := map[string]any{}
	for name := range profile {
		features[name] = map[string]any{"kind": "bool", "words": n.byLanguage(n.Labels[name])}
	}
	out := map[string]any{"category": map[string]any{"words": n.byLanguage(n.Category)}, "types": types, "attributes": n.attributes(), "profile": features}
	if len(n.Lists) > 0 {
		out["lists"] = n.lists()
	}
	if s.streams != nil {
		out["streams"] = s.streams
	}
	return out
}

func (n notated) attributes() map[string]any {
	out := map[string]any{}
	for _, r := range n.Records {
		if r.Price != nil {
			out["price"] = map[string]any{"field": "price", "kind": "money", "currency": n.Currency}
		}
		if r.PriceFrom != nil {
			out["price_from"] = map[string]any{"field": "price", "kind": "money_from", "currency": n.Currency}
		}
		if r.PriceMode != nil {
			out["price_mode"] = map[string]any{"field": "price", "kind": "mode", "deferred": []string{"on_request"}}
		}
		if r.Duration != nil {
			out["duration"] = map[string]any{"field": "duration", "kind": "quantity", "unit": "min"}
		}
		if r.Stock != nil {
			out["stock"] = map[string]any{"field": "stock", "kind": "count", "scoped_by": "location"}
		}
		var bools map[string]bool
		if r.Bools != nil && json.Unmarshal(r.Bools, &bools) == nil {
			for name := range bools {
				out[name] = map[string]any{"kind": "bool", "words": n.byLanguage(n.Labels[name])}
			}
		}
	}
	return out
}

func (n notated) lists() map[string]any {
	out := map[string]any{}
	for name, l := range n.Lists {
		var nouns, does []string
		for _, word := range l.Labels {
			if slices.Contains(verbs, word) {
				does = append(does, word)
			} else {
				nouns = append(nouns, word)
			}
		}
		list := map[string]any{"nouns": n.byLanguage(nouns), "values": l.Values, "domain": map[string]any{"terms": l.Domain}}
		if len(does) > 0 {
			list["verbs"] = n.byLanguage(does)
		}
		if l.Closed {
			list["closed"] = true
		}
		out[name] = list
	}
	return out
}

func (n notated) records(s sample) (out []*business.Record) {
	for _, r := range n.Records {
		var attributes []string
		add := func(name string, v json.RawMessage) {
			if v != nil {
				attributes = append(attributes, `"`+name+`":`+string(v))
			}
		}
		add("price", r.Price)
		add("price_from", r.PriceFrom)
		add("price_mode", r.PriceMode)
		add("duration", r.Duration)
		if r.Stock != nil {
			stock := map[string]json.RawMessage{}
			for place, count := range r.Stock {
				stock[business.City(place)] = count
			}
			text, err := json.Marshal(stock)
			if err != nil {
				panic(err)
			}
			add("stock", text)
		}
		object := "{" + string(bytes.Join(bytesOf(attributes), []byte(","))) + "}"
		if r.Bools != nil {
			object = object[:len(object)-1] + "," + string(r.Bools[1:])
		}
		out = append(out, &business.Record{ID: r.ID, Type: r.Type, Title: r.Title, Publisher: s.slug, Aliases: r.Aliases, Attributes: jcs.Raw(object), Links: s.links[r.ID]})
	}
	return out
}

func bytesOf(list []string) (out [][]byte) {
	for _, s := range list {
		out = append(out, []byte(s))
	}
	return out
}

// write puts records into the form of the sample.
func write(t *testing.T, s sample, p *business.Profile, schema *business.Schema, records []*business.Record) []byte {
	t.Helper()
	var out bytes.Buffer
	var err error
	switch form, _ := bundle.FormatOf(s.form); form {
	case bundle.CSV:
		o := bundle.Options{Publisher: s.slug, Schema: schema}
		err = bundle.WriteCSV(&out, slices.Values(records), o)
	case bundle.JSONLD:
		err = bundle.WriteJSONLD(&out, p, schema, "", slices.Values(records))
	default:
		err = bundle.WriteJSONL(&out, slices.Values(records))
	}
	if err != nil {
		t.Fatal(s.slug, err)
	}
	return out.Bytes()
}
