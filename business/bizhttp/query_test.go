package bizhttp_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"sayso/business"
	"sayso/jcs"
)

// city makes a published publisher somewhere.
func (s *surface) city(slug, name, category, country, locality string, lat, lon string, languages ...string) {
	p := s.add(slug)
	p.Profile.DisplayName, p.Profile.BusinessCategory, p.Profile.ContentLanguages = name, category, languages
	p.Profile.Locations = []business.Location{{ID: "main", Primary: true, CountryCode: country, Locality: locality, Latitude: jcs.Raw(lat), Longitude: jcs.Raw(lon)}}
}

func newTown(t *testing.T) *surface {
	s := newSurface(t)
	clear(s.pubs)
	s.city("alpha", "Alpha Opticians", "opticians", "GB", "Leeds", "53.80", "-1.55", "en")
	s.city("beta", "Beta Bakery", "bakery", "DE", "München", "48.14", "11.58", "de-CH")
	s.city("gamma", "Gamma", "", "DE", "Berlin", "", "")
	s.city("delta", "Alpha Opticians", "optician", "DE", "Potsdam", "52.40", "13.06", "de", "en")
	s.pubs["beta"].Schema = jcs.Raw(`{"category":{"words":{"de":["Bäckerei","Konditorei"]}}}`)
	s.city("closed", "Closed Optician", "optician", "GB", "Leeds", "53.80", "-1.55", "en")
	s.pubs["closed"].Standing.Lifecycle = business.Paused
	return s
}

// What matches is the core's (business.Query); here an answer reaches the wire and names what was asked.
func TestQuery(t *testing.T) {
	s := newTown(t)
	for query, slugs := range map[string]string{
		"":                        "alpha delta beta gamma",
		"category=opticians":      "alpha delta",
		"category=b%C3%A4ckerei":  "beta",
		"country=de&city=Potsdam": "delta",
		"name=nobody":             "",
		"latitude=52.52&longitude=13.4&radius_km=600": "delta beta",
	} {
		w := s.get("/discovery/query?" + query)
		m := decoded(t, w.Body.Bytes())
		found := []string{}
		for _, r := range m["results"].([]any) {
			found = append(found, r.(object)["publisher"].(string))
		}
		if strings.Join(found, " ") != slugs || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%q: %d %v %s", query, w.Code, w.Header(), w.Body)
		}
		given, _ := url.ParseQuery(query)
		for name := range given {
			if m["request"].(object)[name] != given.Get(name) {
				t.Errorf("%q: request %v", query, m["request"])
			}
		}
	}
}

func TestQueryResult(t *testing.T) {
	s := newTown(t)
	m := decoded(t, s.get("/discovery/query?name=beta&latitude=48.14&longitude=11.58").Body.Bytes())
	got := m["results"].([]any)[0].(object)
	if got["distance_m"] != 0.0 || got["country_code"] != "DE" || got["locality"] != "München" || got["manifest"] != testOrigin+"/t/beta/.well-known/x-protocol/manifest.json" ||
		got["public_profile"] != testOrigin+"/de/muenchen/business/beta" || got["mcp"] != nil || m["registry"] != "x-protocol/v1" {
		t.Errorf("%v", m)
	}
	s.site.ToolsServed = true
	m = decoded(t, s.get("/discovery/query?handler=knowledge.search&limit=1").Body.Bytes())
	if got := m["results"].([]any)[0].(object); got["mcp"] != testOrigin+"/t/alpha/mcp" {
		t.Errorf("%v", got)
	}
	m = decoded(t, s.get("/.well-known/x-protocol/discovery.json").Body.Bytes())
	if m["query_endpoint"] != testOrigin+"/discovery/query" || m["published_count"] != 4.0 || m["limits"].(object)["max_limit"] != 50.0 || len(m["parameters"].(object)) != 11 {
		t.Errorf("%v", m)
	}
}

func TestQueryRefusals(t *testing.T) {
	s := newTown(t)
	for _, query := range []string{
		"categroy=x", "category=", "category=%20", "category=a&category=b", "country=..", "handler=search", "limit=0", "limit=51", "limit=x", "limit=1.5",
		"latitude=1", "longitude=1", "latitude=91&longitude=0", "latitude=NaN&longitude=0", "latitude=0&longitude=Inf", "latitude=0&longitude=181", "radius_km=5",
		"latitude=0&longitude=0&radius_km=0", "latitude=0&longitude=0&radius_km=-1", "latitude=0&longitude=0&radius_km=1e9", "cursor=x", "cursor=e30x", "cursor=eyJ6IjoxfQ", "name=%ff", "a;b", "%zz",
		"name=" + strings.Repeat("a", 1025),
	} {
		w := s.get("/discovery/query?" + strings.ReplaceAll(query, "%zz", "%25zz=1"))
		if w.Code != 400 || codeOf(w) != "invalid_request" {
			t.Errorf("%q: %d %s", query, w.Code, w.Body)
		}
	}
	// credential comes before what the route itself asks
	if w := s.get("/discovery/query?limit=0", "Authorization", "Bearer bad"); codeOf(w) != "unauthorized" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// The pages of an answer hold every result once, in one order, also while publishers come and go.
func TestQueryCursor(t *testing.T) {
	s := newSurface(t)
	clear(s.pubs)
	for i := range 23 {
		s.city(fmt.Sprintf("p%02d", i), fmt.Sprintf("Shop %d", i%5), "shop", "DE", "Berlin", fmt.Sprintf("52.%02d", i%7), "13.4", "de")
	}
	for _, filter := range []string{"category=shop", "latitude=52.0&longitude=13.4"} {
		seen, cursor := []string{}, ""
		for range 20 {
			at := "/discovery/query?limit=4&" + filter
			if cursor != "" {
				at += "&cursor=" + cursor
			}
			m := decoded(t, s.get(at).Body.Bytes())
			for _, r := range m["results"].([]any) {
				seen = append(seen, r.(object)["publisher"].(string))
			}
			next, more := m["next_cursor"].(string)
			if !more {
				break
			}
			if cursor = next; len(seen) == 8 {
				s.pubs[seen[0]].Standing.Lifecycle = business.Paused // one that was told already, and the one the cursor names
				s.pubs[seen[7]].Standing.Lifecycle = business.Paused
			}
		}
		for _, p := range s.pubs {
			p.Standing.Lifecycle = business.Published
		}
		if slices.Sort(seen); len(seen) != 23 || len(slices.Compact(seen)) != 23 {
			t.Errorf("%s: %d results %v", filter, len(seen), seen)
		}
	}
}
