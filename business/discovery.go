package business

import (
	"time"

	"sayso/jcs"
)

// discoveryParameter describes one parameter of the query in discovery.json.
type discoveryParameter struct {
	Type        string `json:"type"`
	Description string `json:"description"`
}

// discoveryParameters are all the parameters there are; any other is refused by name.
var discoveryParameters = map[string]discoveryParameter{
	"category":  {"string", "What the business is, as a whole phrase of its business category or of its own words for it."},
	"country":   {"string", "ISO 3166-1 alpha-2 code or name of the country of a location."},
	"city":      {"string", "Locality of a location, also in the spelling of the public address."},
	"language":  {"string", "Language tag; de also finds de-AT."},
	"name":      {"string", "Words of the display name or legal name, in any order."},
	"handler":   {"string", "A capability the publisher's manifest states, such as knowledge.search."},
	"latitude":  {"number", "Degrees north, -90 to 90, together with longitude: sorts by distance to the nearest location that states a position."},
	"longitude": {"number", "Degrees east, -180 to 180, together with latitude."},
	"radius_km": {"number", "Greatest distance, above 0 and at most 20100; needs latitude and longitude."},
	"limit":     {"integer", "Results on one page, 1 to 50; 20 when absent."},
	"cursor":    {"string", "next_cursor of the page before, with the other parameters unchanged."},
}

// QueryParameterType is the JSON type of a parameter of the discovery query: string, number or integer, "" when it has none of that name.
func QueryParameterType(name string) string { return discoveryParameters[name].Type }

// QuerySchema is the JSON Schema (draft 2020-12) of an object with the parameters of the discovery query.
func QuerySchema() jcs.Raw {
	return encode(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": discoveryParameters, "additionalProperties": false,
	})
}

// Limits of a discovery query.
const (
	MaxResults     = 50 // limit
	defaultResults = 20
	maxRadius      = 20_100 // km, a little more than half of the Earth's circumference
	maxParameter   = 200    // code points of a text
	maxCursor      = 2048   // bytes
)

type discoveryDocument struct {
	ProtocolXVersion string                        `json:"protocol_x_version"`
	Registry         string                        `json:"registry"`
	GeneratedAt      time.Time                     `json:"generated_at"`
	QueryEndpoint    string                        `json:"query_endpoint"`
	Methods          []string                      `json:"methods"`
	Parameters       map[string]discoveryParameter `json:"parameters"`
	Limits           struct {
		MaxLimit int `json:"max_limit"`
	} `json:"limits"`
	PublishedCount  int    `json:"published_count"`
	RegistryKeysURL string `json:"registry_keys_url"`
	RevocationURL   string `json:"revocation_url"`
}

// DiscoveryDocument is discovery.json over all publishers of the registry: where and how to ask, and how many publishers would be looked through. It is not
// signed.
func DiscoveryDocument(s Site, list []*Publication, now time.Time) []byte {
	doc := discoveryDocument{
		ProtocolXVersion: Version, Registry: Family, GeneratedAt: utc(now), QueryEndpoint: s.QueryURL(), Methods: []string{"GET"},
		Parameters: discoveryParameters, RegistryKeysURL: s.RegistryKeysURL(), RevocationURL: s.RegistryRevocationsURL(),
	}
	doc.Limits.MaxLimit = MaxResults
	for _, p := range list {
		if p.Standing.IsPublished(now) {
			doc.PublishedCount++
		}
	}
	return encode(doc)
}
