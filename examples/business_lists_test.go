package examples_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sayso/business"
	"sayso/business/bundle"
	"sayso/business/hours"
	"sayso/jcs"
)

// stateZones are the states that lie in one time zone and keep it everywhere. A store in another state has no zone: its town would decide.
var stateZones = map[string]string{
	"CT": "America/New_York", "DC": "America/New_York", "DE": "America/New_York", "GA": "America/New_York", "MA": "America/New_York", "MD": "America/New_York",
	"ME": "America/New_York", "NC": "America/New_York", "NH": "America/New_York", "NJ": "America/New_York", "NY": "America/New_York", "OH": "America/New_York",
	"PA": "America/New_York", "RI": "America/New_York", "SC": "America/New_York", "VA": "America/New_York", "VT": "America/New_York", "WV": "America/New_York",
	"AR": "America/Chicago", "IA": "America/Chicago", "IL": "America/Chicago", "LA": "America/Chicago", "MN": "America/Chicago", "MO": "America/Chicago",
	"MS": "America/Chicago", "WI": "America/Chicago",
	"CO": "America/Denver", "MT": "America/Denver", "NM": "America/Denver", "UT": "America/Denver", "WY": "America/Denver",
	"CA": "America/Los_Angeles", "WA": "America/Los_Angeles",
	"HI": "Pacific/Honolulu", "PR": "America/Puerto_Rico",
}

type store struct {
	ID                                        json.Number
	Name, Address, Address2, City, State, Zip string
	Hours                                     string
	Location                                  struct{ Lat, Lon json.RawMessage }
	Services                                  []string
}

// stores converts the store list: the stores are locations, the services are records that are available at locations. It also returns the distinct hours.
func stores(t *testing.T) (map[string][]byte, []string) {
	p := &business.Profile{DisplayName: "Open Stores", ContentLanguages: []string{"en"}, BusinessCategory: "electronics store",
		Tools: tools("knowledge.search", "knowledge.get", "branches.nearest")}
	services := map[string][]string{}
	values := map[string]bool{}
	for i, s := range lines[store](t, "stores.jsonl") {
		street := strings.TrimSpace(s.Address)
		if unit := strings.TrimSpace(s.Address2); unit != "" {
			street += ", " + unit
		}
		l := business.Location{ID: s.ID.String(), Primary: i == 0, Name: s.Name, StreetAddress: street, Locality: strings.TrimSpace(s.City), PostalCode: s.Zip, CountryCode: "US",
			Address:  street + ", " + strings.TrimSpace(s.City) + ", " + s.State + " " + s.Zip,
			Latitude: jcs.Raw(s.Location.Lat), Longitude: jcs.Raw(s.Location.Lon), TimeZone: stateZones[s.State]}
		if s.State == "PR" {
			l.CountryCode = "" // PR and US are both codes of ISO 3166-1 for it; the source names neither
		}
		p.Locations = append(p.Locations, l)
		values[s.Hours] = true
		for _, name := range s.Services {
			services[strings.TrimSpace(name)] = append(services[strings.TrimSpace(name)], l.ID)
		}
	}
	var records bytes.Buffer
	for _, title := range slices.Sorted(maps.Keys(services)) {
		available := `{"available":{`
		for i, id := range services[title] {
			available += []string{"", ","}[min(i, 1)] + strconv.Quote(id) + ":true"
		}
		rec := &business.Record{ID: business.City(title), Type: "service", Title: title, Publisher: "open-stores", Attributes: jcs.Raw(available + "}}")}
		if err := bundle.WriteJSONL(&records, slices.Values([]*business.Record{rec})); err != nil {
			t.Fatal(err)
		}
	}
	schema := map[string]any{
		"category":   map[string]any{"words": map[string]any{"en": []string{"electronics store", "electronics shop"}}},
		"types":      map[string]any{"service": map[string]any{"words": map[string]any{"en": []string{"service"}}}},
		"attributes": map[string]any{"available": map[string]any{"field": "available", "kind": "bool", "scoped_by": "location"}},
	}
	return map[string][]byte{"publisher.json": layout(t, p), "schema.json": layout(t, schema), "records.jsonl": records.Bytes()}, slices.Sorted(maps.Keys(values))
}

type market struct {
	City, Title, Location string
	OpeningHours          string `json:"opening_hours"`
	Unclassified          string `json:"opening_hours_unclassified"`
	Coordinates           [2]json.RawMessage
}

// left is what the conversion of the markets changed or left out.
type left struct {
	refused      []string // hours that are not understood
	repaired     int      // markets whose hours were spelt canonically
	unclassified int      // markets whose hours the source itself could not read
	texts        int      // coordinates that the source writes as text
}

// literal is a coordinate as a number. The source writes some as text; their digits stay.
func literal(l *left, raw json.RawMessage) jcs.Raw {
	if raw[0] == '"' {
		l.texts++
		return jcs.Raw(raw[1 : len(raw)-1])
	}
	return jcs.Raw(raw)
}

// cities are the names of cities where the key of the source is not the name in small letters with - for a space.
var cities = map[string]string{
	"frankfurtmain": "Frankfurt am Main", "freiburg": "Freiburg im Breisgau", "hofheimamtaunus": "Hofheim am Taunus", "langenfeld_rhld": "Langenfeld (Rheinland)", "luebeck": "Lübeck",
	"mülheim-an-der-ruhr": "Mülheim an der Ruhr", "neu-anspach": "Neu-Anspach", "neu-ulm": "Neu-Ulm", "baden-baden": "Baden-Baden", "rothenburgobdertauber": "Rothenburg ob der Tauber",
}

func cityName(key string) string {
	if name, ok := cities[key]; ok {
		return name
	}
	words := strings.Split(key, "-")
	for i, w := range words {
		r := []rune(w)
		words[i] = strings.ToUpper(string(r[:1])) + string(r[1:])
	}
	return strings.Join(words, " ")
}

// markets converts the list of weekly markets: each market is a location.
func markets(t *testing.T) (map[string][]byte, left) {
	p := &business.Profile{DisplayName: "Weekly Markets", ContentLanguages: []string{"de"}, BusinessCategory: "weekly market",
		Tools: tools("knowledge.search", "knowledge.get", "branches.nearest")}
	var l left
	taken := map[string]int{}
	for i, m := range lines[market](t, "markets.jsonl") {
		id := business.City(m.City) + "-" + business.City(m.Title)
		if taken[id]++; taken[id] > 1 {
			id += "-" + strconv.Itoa(taken[id])
		}
		place := business.Location{ID: id, Primary: i == 0, Name: m.Title, Address: strings.TrimSpace(m.Location), Locality: cityName(m.City), CountryCode: "DE",
			Latitude: literal(&l, m.Coordinates[1]), Longitude: literal(&l, m.Coordinates[0]), TimeZone: "Europe/Berlin"}
		switch m.City {
		case "basel":
			place.CountryCode, place.TimeZone = "CH", "Europe/Zurich"
		case "mallorca":
			place.CountryCode, place.TimeZone = "ES", "Europe/Madrid"
		}
		switch h, _, err := hours.Parse(m.OpeningHours); {
		case m.OpeningHours == "":
			l.unclassified++
		case err != nil:
			l.refused = append(l.refused, m.OpeningHours)
		default:
			place.OpeningHours = h.String()
			if h.String() != m.OpeningHours {
				l.repaired++
			}
		}
		p.Locations = append(p.Locations, place)
	}
	schema := map[string]any{"category": map[string]any{"words": map[string]any{"de": []string{"Wochenmarkt", "Markt"}}}}
	return map[string][]byte{"publisher.json": layout(t, p), "schema.json": layout(t, schema)}, l
}
