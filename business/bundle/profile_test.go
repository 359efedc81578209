package bundle_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sayso/business"
	"sayso/business/bundle"
	"sayso/jcs"
)

func TestProfileRules(t *testing.T) {
	for _, c := range []struct{ name, members, want string }{
		{"minimal", `"display_name":"Shop"`, ""},
		{"no name", `"legal_name":"Shop Ltd"`, "XB-05 display_name"},
		{"null", `"display_name":"Shop","website":null`, "XB-06 website"},
		{"override in the name", `"display_name":"\u202eShop"`, "XB-07 display_name"},
		{"account data", `"display_name":"Shop","billing_email":"x@y.example"`, "XB-04 billing_email w"},
		{"website", `"display_name":"Shop","website":"shop.example"`, "XB-27 website"},
		{"website with credentials", `"display_name":"Shop","website":"https://a:b@shop.example"`, "XB-27 website"},
		{"script as website", `"display_name":"Shop","website":"javascript:alert(1)"`, "XB-27 website"},
		{"language", `"display_name":"Shop","content_languages":["English"]`, ""},
		{"language with underscore", `"display_name":"Shop","content_languages":["en_GB"]`, "XB-26 content_languages"},
		{"language twice", `"display_name":"Shop","content_languages":["en","EN"]`, "XB-26 content_languages"},
		{"tool without handler", `"display_name":"Shop","tools":[{"name":"x","handler":"shell.run"}]`, "XB-24 tools.0.handler"},
		{"tool twice", `"display_name":"Shop","tools":[{"name":"x","handler":"live.query"},{"name":"x","handler":"live.query"}]`, "XB-24 tools.1.name"},
		{"freshness", `"display_name":"Shop","freshness_contract":{"sla_seconds":0,"policy":"p"}`, "XB-25 freshness_contract"},
		{"freshness with fraction", `"display_name":"Shop","freshness_contract":{"sla_seconds":1.5,"policy":"p"}`, "XB-25 freshness_contract"},
		{"freshness as text", `"display_name":"Shop","freshness_contract":"daily"`, "XB-06 freshness_contract"},
		{"freshness with more", `"display_name":"Shop","freshness_contract":{"sla_seconds":60,"policy":"p","note":1}`, "XB-04 freshness_contract w"},
		{"tool with more", `"display_name":"Shop","tools":[{"name":"x","handler":"live.query","input":1}]`, "XB-04 tools.0 w"},
		{"tools as text", `"display_name":"Shop","tools":["search"]`, "XB-06 tools"},
		{"attribute null", `"display_name":"Shop","profile_attributes":{"parking":null}`, "XB-06 profile_attributes.parking"},
		{"locations are an object", `"display_name":"Shop","locations":{}`, "XB-06 locations"},
	} {
		p, problems := bundle.Profile([]byte("{"+c.members+"}"), "publisher.json")
		if got := rulesOf(problems); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if failed := slices.ContainsFunc(problems, func(p bundle.Problem) bool { return !p.Warning }); failed != (p == nil) {
			t.Errorf("%s: profile %v with %v", c.name, p, problems)
		}
	}
	many := strings.Repeat("{},", bundle.MaxLocations) + "{}"
	if _, problems := bundle.Profile([]byte(`{"display_name":"a","locations":[`+many+`]}`), "p"); rulesOf(problems) != "XB-02 locations" {
		t.Errorf("%d problems", len(problems))
	}
	if _, problems := bundle.Profile([]byte(`{"display_name":"a","display_name":"b"}`), "p"); rulesOf(problems) != "XB-01 /display_name" {
		t.Error(problems)
	}
}

func TestLocationRules(t *testing.T) {
	for _, c := range []struct{ name, locations, want string }{
		{"only one", `{"name":"Old Town"}`, ""},
		{"none primary", `{"name":"A"},{"name":"B"}`, "XB-20 locations"},
		{"two primary", `{"name":"A","primary":true},{"name":"B","primary":true}`, "XB-20 locations"},
		{"the only one is not primary", `{"name":"A","primary":false}`, "XB-20 locations"},
		{"same slug", `{"name":"A b","primary":true},{"name":"a-B"}`, "XB-20 locations.1.id"},
		{"no name", `{"address":"x"}`, "XB-05 locations.0.id"},
		{"primary as text", `{"name":"A","primary":"true"}`, "XB-13 locations.0.primary, XB-20 locations"},
		{"half a position", `{"name":"A","latitude":1}`, "XB-21 locations.0"},
		{"off the globe", `{"name":"A","latitude":91,"longitude":0}`, "XB-21 locations.0"},
		{"position as text", `{"name":"A","latitude":"50.1","longitude":"8.2"}`, "XB-21 locations.0"},
		{"position", `{"name":"A","latitude":43.85630,"longitude":-180.0}`, ""},
		{"zone", `{"name":"A","time_zone":"Europe/Berlin"}`, ""},
		{"zone by offset", `{"name":"A","time_zone":"+01:00"}`, "XB-22 locations.0.time_zone"},
		{"zone of the machine", `{"name":"A","time_zone":"Local"}`, "XB-22 locations.0.time_zone"},
		{"zone as path", `{"name":"A","time_zone":"../../etc/passwd"}`, "XB-22 locations.0.time_zone"},
		{"country", `{"name":"A","country_code":"de"}`, "XB-23 locations.0.country_code"},
		{"service at a place", `{"name":"A","services":["x"]}`, "XB-04 locations.0 w"},
		{"null", `{"name":"A","phone":null}`, "XB-06 locations.0.phone"},
		{"hours repaired", `{"name":"A","opening_hours":"Mo-Fr 8:00-17:00"}`, "XB-19 locations.0.opening_hours w"},
		{"hours of a shop system", `{"name":"A","opening_hours":"Mon: 10-9"}`, "XB-18 locations.0.opening_hours"},
		{"midnight to midnight as text", `{"name":"A","opening_hours":"Mo 00:00-00:00"}`, "XB-18 locations.0.opening_hours"},
		{"twelve o'clock", `{"name":"A","opening_hours":"Mo 12 AM-12 AM"}`, "XB-18 locations.0.opening_hours"},
	} {
		_, problems := bundle.Profile([]byte(`{"display_name":"Shop","locations":[`+c.locations+`]}`), "publisher.json")
		if got := rulesOf(problems); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestProfileIsReadAsStated(t *testing.T) {
	p, problems := bundle.Profile([]byte(`{"display_name":"Shop","profile_attributes":{"parking":false,"note":""},
	"locations":[{"name":"Old Town","primary":true,"phone":"+1","opening_hours":"mo-fr 8:00-17:00","latitude":43.85630,"longitude":1.0},{"name":"Straße 5","address":"x"}]}`), "p")
	if p == nil {
		t.Fatal(problems)
	}
	a, b := p.Locations[0], p.Locations[1]
	if a.ID != "old-town" || a.OpeningHours != "Mo-Fr 08:00-17:00" || string(a.Latitude) != "43.85630" || string(a.Longitude) != "1.0" || !a.Primary {
		t.Errorf("%+v", a)
	}
	// A branch without a number has none: the primary one's is not filled in (XP-IDENTITY-007).
	if b.ID != "strasse-5" || b.Phone != "" || b.OpeningHours != "" || b.TimeZone != "" || b.Primary {
		t.Errorf("%+v", b)
	}
	if string(p.ProfileAttributes) != `{"parking":false}` || !slices.Equal(p.Tools, bundle.DefaultTools) || p.Freshness != nil {
		t.Errorf("%+v", p)
	}
}

func TestRefusedHoursNameTheToken(t *testing.T) {
	_, problems := bundle.Profile([]byte(`{"display_name":"Markets","locations":[{"name":"A","opening_hours":"Tu 07:00-016:00"}]}`), "p")
	if len(problems) != 1 || !strings.Contains(problems[0].Message, "016:00") {
		t.Errorf("%+v", problems)
	}
}

func TestCheckProfile(t *testing.T) {
	p, _ := bundle.Profile([]byte(`{"display_name":"Shop","profile_attributes":{"parking":"yes","pool":true}}`), "p")
	if got := rulesOf(bundle.CheckProfile(p, schema(t), "p")); got != "XB-13 profile_attributes.parking, XB-14 profile_attributes.pool w" {
		t.Error(got)
	}
	if _, problems := bundle.Schema([]byte(`{"nope":1}`), "schema.json"); len(problems) != 1 || problems[0].Rule != "XB-01" {
		t.Error(problems)
	}
	if _, problems := bundle.Calendar([]byte(`{"public_holidays":["2026-12-25"]}`), "calendar.json"); problems != nil {
		t.Error(problems)
	}
	if _, problems := bundle.Calendar([]byte(`{"public_holidays":["25.12.2026"]}`), "calendar.json"); len(problems) != 1 {
		t.Error(problems)
	}
}

func TestLint(t *testing.T) {
	const at = `"latitude":1,"longitude":2,"time_zone":"Europe/Berlin"`
	for _, c := range []struct{ name, profile, records, want string }{
		{"nothing", `"content_languages":["en"],"locations":[{"name":"A","phone":"1",` + at + `}]`, "", ""},
		{"one hotline", `"content_languages":["en"],"locations":[{"name":"A","primary":true,"phone":"+1 800 1",` + at + `},{"name":"B","phone":"+1-800-1",` + at + `}]`, "", "XB-41 locations w"},
		{"a branch of its own", `"content_languages":["en"],"locations":[{"name":"A","primary":true,"phone":"1",` + at + `},{"name":"B",` + at + `}]`, "", ""},
		{"one address", `"content_languages":["en"],"locations":[{"name":"A","primary":true,"address":"Main St 1",` + at + `},{"name":"B","address":"main  st 1",` + at + `}]`, "", "XB-42 locations.1 w"},
		{"no zone, no position", `"content_languages":["en"],"locations":[{"name":"A"}]`, "", "XB-43 locations w, XB-44 locations w"},
		{"a season that is lost", `"content_languages":["en"],"locations":[{"name":"A","opening_hours":"Jan 02-Mar 30 Tu-Fr 09:00-16:00, Sa 09:00-13:00",` + at + `}]`, "", "XB-47 locations.0.opening_hours w"},
		{"a holiday on a Friday", `"content_languages":["en"],"locations":[{"name":"A","opening_hours":"Tu-Th,Su,PH 12:00-23:00, Fr,Sa 12:00-24:00",` + at + `}]`, "", "XB-47 locations.0.opening_hours w"},
		{"no language", ``, "", "XB-48 content_languages w"},
		{"words in another language", `"content_languages":["de"]`, "", "XB-48 en w"},
		{"alias of another", `"content_languages":["en"]`, `{"id":"a","type":"service","title":"Eye test"}
{"id":"b","type":"service","title":"B","aliases":["eye  TEST","B"]}`, "XB-45 service/b w"},
		{"price in the title", `"content_languages":["en"]`, `{"id":"a","type":"service","title":"Cleaning from £ 30"}
{"id":"b","type":"service","title":"Drill 18V"}
{"id":"c","type":"service","title":"Haircut 25 EUR"}`, "XB-46 service/a w, XB-46 service/c w"},
	} {
		members := `"display_name":"Shop"`
		if c.profile != "" {
			members += "," + c.profile
		}
		p, problems := bundle.Profile([]byte("{"+members+"}"), "publisher.json")
		if p == nil {
			t.Fatalf("%s: %v", c.name, problems)
		}
		records, problems := read(strings.NewReader(c.records), "r.jsonl", bundle.Options{})
		if problems != nil {
			t.Fatalf("%s: %v", c.name, problems)
		}
		if got := rulesOf(bundle.Lint(p, schema(t), slices.Values(records))); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestLintOfSchemaWords(t *testing.T) {
	s, problems := bundle.Schema([]byte(`{"category":{"words":{"fr":["garage"]}},"lists":{"makes":{"nouns":{"de":["Marken"]},"verbs":{"es":["reparan"]},"values":["vw"]}}}`), "schema.json")
	if s == nil {
		t.Fatal(problems)
	}
	p := &business.Profile{DisplayName: "Shop", ContentLanguages: []string{"de"}}
	if got := rulesOf(bundle.Lint(p, s, slices.Values([]*business.Record(nil)))); got != "XB-48 es w, XB-48 fr w" {
		t.Error(got)
	}
}

// A hostile catalogue of one title and one alias must not take quadratic time.
func TestLintIsBounded(t *testing.T) {
	p := &business.Profile{DisplayName: "Shop"}
	records := func(yield func(*business.Record) bool) {
		for i := range 100_000 {
			if !yield(&business.Record{ID: fmt.Sprint(i), Type: "service", Title: "Same", Aliases: []string{"same"}}) {
				return
			}
		}
	}
	if n := len(bundle.Lint(p, nil, records)); n > 20_001 {
		t.Errorf("%d problems", n)
	}
}

// A column that the schema does not declare is data that no question finds, and the business is told so.
func TestLintOfUndeclaredAttributes(t *testing.T) {
	p := &business.Profile{ContentLanguages: []string{"en"}}
	records := slices.Values([]*business.Record{
		{Type: "item", ID: "1", Title: "One", Attributes: jcs.Raw(`{"price":4.20,"currency":"GBP","colour":"red"}`)},
		{Type: "item", ID: "2", Title: "Two", Attributes: jcs.Raw(`{"price":2}`)},
	})
	if got := rulesOf(bundle.Lint(p, nil, records)); got != "XB-49 colour w, XB-49 price w" {
		t.Errorf("without a schema: %s", got)
	}
	declared := &business.Schema{Attributes: map[string]business.SchemaAttribute{"price": {Field: "price", Kind: "money"}}}
	if got := rulesOf(bundle.Lint(p, declared, records)); got != "XB-49 colour w" {
		t.Errorf("with a schema: %s", got)
	}
}
