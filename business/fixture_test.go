package business_test

import (
	"time"

	"sayso/business"
	"sayso/jcs"
)

var (
	now  = time.Date(2026, 10, 9, 10, 0, 0, 123456789, time.FixedZone("+02", 7200)) // 08:00:00.123456 UTC
	site = business.Site{Origin: "https://registry.example", ServerVersion: "1.2.3"}
)

func proof() *business.DomainProof {
	return &business.DomainProof{Host: "proven.example", Method: business.MethodDNS, VerifiedAt: now.AddDate(0, 0, -8), ValidUntil: now.AddDate(0, 0, 82)}
}

// full is a publisher that states everything there is to state. Each text of its own holds CANARY.
func full() *business.Publication {
	return &business.Publication{
		Slug: "north-clinic", Revision: 7, Hosts: []string{"clinic.example"},
		Profile: business.Profile{
			DisplayName: "North Clinic", LegalName: "CANARY legal", ContentLanguages: []string{"en-x-CANARY", "de"}, Website: "https://canary.example/CANARY",
			BusinessCategory: "CANARY category", ProfileAttributes: jcs.Raw(`{"CANARY":"CANARY","size":50.0}`),
			Locations: []business.Location{
				{ID: "branch"},
				{
					ID: "CANARY-main", Primary: true, Name: "CANARY name", Address: "CANARY address", StreetAddress: "CANARY street", Locality: "Königs CANARY",
					PostalCode: "CANARY", CountryCode: "GB", Country: "CANARY country", Phone: "CANARY phone", Email: "CANARY@example", OpeningHours: "CANARY hours",
					Latitude: jcs.Raw("53.80"), Longitude: jcs.Raw("-1.550"), TimeZone: "CANARY/Zone",
				},
			},
			Tools:     []business.Tool{{Name: "CANARY-search", Handler: "knowledge.search", Description: "CANARY"}, {Name: "find", Handler: "knowledge.search"}, {Name: "get", Handler: "knowledge.get"}},
			Freshness: &business.FreshnessContract{SLASeconds: 86_400, Policy: "CANARY policy"},
		},
		Schema: jcs.Raw(`{"category":{"words":{"en":["CANARY words"]}},"streams":[{"key":"canary_stream","kind":"count","max_age_seconds":60,"scoped_by":"location","sla_seconds":30,"unit":"CANARY"},{"key":"other","kind":"bool","max_age_seconds":9,"sla_seconds":9}],` +
			`"types":{"canary_type":{"words":{"en":["CANARY type"]}}}}`),
		Calendar: jcs.Raw(`{"public_holidays":["2026-12-25"]}`),
		Standing: business.Standing{
			Region: "eu", Lifecycle: business.Published, Proof: proof(), Verification: &business.OperatorVerification{Decision: "CANARY decision", ConfirmedAt: now.AddDate(0, 0, -3)},
		},
		State:           business.State{Generation: 4, ContentHash: "sha256:CANARY", ChangedAt: now.Add(-time.Hour)},
		Types:           []business.TypeCount{{Type: "canary_type", Count: 31}, {Type: "product", Count: 2}},
		DataLastUpdated: now.Add(-2 * time.Hour),
	}
}

// bare is a publisher that was created and nothing else.
func bare() *business.Publication {
	return &business.Publication{Slug: "bare", Profile: business.Profile{DisplayName: "Bare"}, Standing: business.Standing{Lifecycle: business.Draft}}
}

func fullRecord() *business.Record {
	return &business.Record{
		ID: "svc/114", Type: "service", Title: "Full blood count", Summary: "Result within two days.", Attributes: jcs.Raw(`{"price":43.50}`),
		Aliases: []string{"FBC", "blood"}, UpdatedAt: now.Add(-time.Hour), VerifiedAt: now.Add(-time.Minute), Content: "Line\nLine\u2028Line\u0085Line",
		Links: []business.Link{{Rel: "requires", Type: "service", ID: "consent"}},
	}
}

// serving is the site with tools.
func serving() business.Site {
	s := site
	s.ToolsServed = true
	s.InputSchema = func(handler string, _ *business.Schema) jcs.Raw {
		if handler != "knowledge.search" {
			return nil
		}
		return jcs.Raw(`{"type":"object"}`)
	}
	return s
}
