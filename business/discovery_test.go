package business_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sayso/business"
	"sayso/jcs"
)

func ask(t interface {
	Helper()
	Fatal(...any)
}, parameters map[string][]string) *business.Query {
	t.Helper()
	q, err := business.ParseQuery(parameters)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// shop is a published publisher with one location.
func shop(slug, name, category, country, city string, languages ...string) *business.Publication {
	return &business.Publication{
		Slug: slug, Standing: business.Standing{Lifecycle: business.Published, Proof: proof()},
		Profile: business.Profile{
			DisplayName: name, BusinessCategory: category, ContentLanguages: languages,
			Locations: []business.Location{{ID: "main", Primary: true, CountryCode: country, Locality: city}},
		},
	}
}

func at(p *business.Publication, latitude, longitude string) *business.Publication {
	p.Profile.Locations[0].Latitude, p.Profile.Locations[0].Longitude = jcs.Raw(latitude), jcs.Raw(longitude)
	return p
}

// market is a registry of some publishers.
func market() []*business.Publication {
	optician := at(shop("brightwater", "Brightwater Opticians", "optician", "GB", "Leeds", "en"), "53.80", "-1.55")
	optician.Schema = jcs.Raw(`{"category":{"words":{"de":["Augenoptiker"],"en":["eye clinic"]}}}`)
	optician.Profile.Locations = append(optician.Profile.Locations, business.Location{ID: "munich", CountryCode: "DE", Country: "Germany", Locality: "München", Latitude: jcs.Raw("48.137"), Longitude: jcs.Raw("11.575")})
	dentist := at(shop("marina", "Marina Dental", "dentists", "ES", "Málaga", "es", "en"), "36.72", "-4.42")
	dentist.Profile.LegalName = "Clínica Marina S.L."
	garage := shop("kessler", "Kessler Garage", "garage", "DE", "München", "de-AT")
	garage.Profile.Tools = []business.Tool{{Name: "search", Handler: "knowledge.search"}}
	silent := shop("silent", "äußerst still", "", "", "")
	silent.Profile.Locations = nil
	hidden := shop("hidden", "Hidden Opticians", "optician", "GB", "Leeds", "en")
	hidden.Standing.Lifecycle = business.Paused
	return []*business.Publication{silent, garage, optician, hidden, dentist}
}

func slugs(a *business.QueryAnswer) string {
	var out []string
	for _, r := range a.Results {
		out = append(out, r.Publisher)
	}
	return strings.Join(out, " ")
}

func TestQueryFilters(t *testing.T) {
	for query, want := range map[string]string{ // results; how many do not state; how the first matched
		"":                                       "silent brightwater kessler marina; 0;",
		"category=optician":                      "brightwater; 1; category exact",
		"category=OPTICIAN":                      "brightwater; 1; category exact",
		"category=opticians":                     "brightwater; 1; category inflection",
		"category=dentist":                       "marina; 1; category inflection",
		"category=Augenoptiker":                  "brightwater; 1; category exact",
		"category=eye":                           "; 1;",
		"category=eye+clinics":                   "brightwater; 1; category inflection",
		"country=gb":                             "brightwater; 1; country exact",
		"country=germany":                        "brightwater; 1; country exact",
		"country=DE":                             "brightwater kessler; 1; country exact",
		"city=munchen":                           "brightwater kessler; 1; city inflection",
		"city=muenchen":                          "brightwater kessler; 1; city inflection",
		"city=M%C3%BCnchen":                      "brightwater kessler; 1; city exact",
		"city=Leeds&country=DE":                  "; 1;",
		"city=M%C3%BCnchen&country=DE":           "brightwater kessler; 1; city exact, country exact",
		"language=en":                            "brightwater marina; 1; language exact",
		"language=EN":                            "brightwater marina; 1; language exact",
		"language=de":                            "kessler; 1; language range",
		"language=de-at":                         "kessler; 1; language exact",
		"language=de-CH":                         "; 1;",
		"name=brightwater":                       "brightwater; 0; name exact",
		"name=optician":                          "brightwater; 0; name inflection",
		"name=opticians+brightwater":             "brightwater; 0; name exact",
		"name=clinica":                           "marina; 0; name inflection",
		"name=hidden":                            "; 0;",
		"name=ausserst":                          "silent; 0; name inflection",
		"name=bright":                            "; 0;",
		"handler=knowledge.search":               "kessler; 3; handler exact",
		"handler=knowledge.get":                  "; 3;",
		"category=garage&language=de":            "kessler; 1; category exact, language range",
		"category=garage&language=en":            "; 1;",
		"category=optician&name=hidden":          "; 0;",
		"latitude=53.8&longitude=-1.5":           "brightwater marina; 2;",
		"latitude=36&longitude=-4":               "marina brightwater; 2;",
		"latitude=48&longitude=11&radius_km=100": "brightwater; 2; radius_km within",
		"latitude=48&longitude=11&radius_km=100&country=GB": "; 1;",
		"latitude=48&longitude=11&country=GB":               "brightwater; 1; country exact",
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		a := ask(t, values).Answer(serving(), market(), now)
		var matched []string
		if len(a.Results) > 0 {
			for _, m := range a.Results[0].Matched {
				matched = append(matched, m.Parameter+" "+m.Kind)
			}
		}
		got := strings.TrimSuffix(fmt.Sprintf("%s; %d; %s", slugs(a), a.NotStatedCount, strings.Join(matched, ", ")), " ")
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", query, got, want)
		}
		if a.EvidenceComplete != (a.NotStatedCount == 0) || len(a.Request) != len(values) {
			t.Errorf("%s: evidence_complete %v, request %v", query, a.EvidenceComplete, a.Request)
		}
	}
}

// The place shown is the one that matched, with its own distance.
func TestQueryShowsTheMatchedLocation(t *testing.T) {
	a := ask(t, map[string][]string{"latitude": {"48.137"}, "longitude": {"11.575"}}).Answer(site, market(), now)
	r := a.Results[0]
	if r.Publisher != "brightwater" || r.Locality != "München" || r.CountryCode != "DE" || r.DistanceM == nil || *r.DistanceM != 0 {
		t.Errorf("%+v", r)
	}
	if a = ask(t, nil).Answer(site, market(), now); a.Results[1].Locality != "Leeds" || a.Results[1].DistanceM != nil || strings.Contains(encoded(t, a), "distance_m") {
		t.Errorf("%+v", a.Results[1])
	}
	if r.Manifest != "https://registry.example/t/brightwater/.well-known/x-protocol/manifest.json" || r.PublicProfile != "https://registry.example/gb/leeds/business/brightwater" || r.MCP != "" {
		t.Errorf("%+v", r)
	}
	if a = ask(t, map[string][]string{"handler": {"knowledge.search"}}).Answer(site, market(), now); len(a.Results) != 0 {
		t.Error("a handler is found that the site does not serve")
	}
}

// Of several locations the nearest gives the distance, wherever it stands in the list.
func TestQueryTakesTheNearestLocation(t *testing.T) {
	p := at(shop("a", "A", "", "GB", "Leeds"), "53.80", "-1.55")
	p.Profile.Locations = append(p.Profile.Locations, business.Location{ID: "far", CountryCode: "DE", Locality: "Munich", Latitude: jcs.Raw("48.137"), Longitude: jcs.Raw("11.575")})
	q := ask(t, map[string][]string{"latitude": {"53.80"}, "longitude": {"-1.55"}})
	if a := q.Answer(site, []*business.Publication{p}, now); len(a.Results) != 1 || *a.Results[0].DistanceM != 0 || a.Results[0].Locality != "Leeds" {
		t.Errorf("%+v", a.Results)
	}
}

// Two names of which no letter reaches a public address are two cities.
func TestQueryCityWithoutPath(t *testing.T) {
	list := []*business.Publication{shop("kyoto", "K", "", "JP", "京都"), shop("tokyo", "T", "", "JP", "東京")}
	if a := ask(t, map[string][]string{"city": {"京都"}}).Answer(site, list, now); slugs(a) != slugs(ask(t, nil).Answer(site, list[:1], now)) {
		t.Error(slugs(a))
	}
}

func TestParseQueryRefuses(t *testing.T) {
	for _, c := range []struct{ query, parameter, says string }{
		{"colour=red", "colour", "known are category, city"},
		{"Category=x", "Category", "not known"},
		{"category=a&category=b", "category", "2 were sent"},
		{"category=", "category", "leave the parameter out"},
		{"category=%FF", "category", "control characters"},
		{"category=a%0Ab", "category", "control characters"},
		{"name=" + strings.Repeat("a", 201), "name", "1 to 200"},
		{"name=---", "name", "letter or digit"},
		{"handler=search", "handler", "knowledge.search"},
		{"language=en_GB", "language", "language tag"},
		{"latitude=1", "longitude", "together"},
		{"longitude=1", "latitude", "together"},
		{"radius_km=1", "radius_km", "needs latitude"},
		{"latitude=90.0001&longitude=0", "latitude", "-90 to 90"},
		{"latitude=0&longitude=-180.5", "longitude", "-180 to 180"},
		{"latitude=NaN&longitude=0", "latitude", "-90 to 90"},
		{"latitude=Inf&longitude=0", "latitude", "-90 to 90"},
		{"latitude=0x1p3&longitude=0", "latitude", "-90 to 90"},
		{"latitude=1_0&longitude=0", "latitude", "-90 to 90"},
		{"latitude=%2B5&longitude=0", "latitude", "-90 to 90"},
		{"latitude=5+&longitude=0", "latitude", "-90 to 90"},
		{"latitude=1e400&longitude=0", "latitude", "-90 to 90"},
		{"latitude=0&longitude=0&radius_km=0", "radius_km", "above 0"},
		{"latitude=0&longitude=0&radius_km=-1", "radius_km", "above 0"},
		{"latitude=0&longitude=0&radius_km=20101", "radius_km", "at most 20100"},
		{"limit=0", "limit", "1 to 50"},
		{"limit=51", "limit", "1 to 50"},
		{"limit=1.0", "limit", "1 to 50"},
		{"limit=%2B1", "limit", "1 to 50"},
		{"limit=01", "limit", "1 to 50"},
		{"cursor=x", "cursor", "next_cursor"},
		{"cursor=e30", "cursor", "next_cursor"},
		{"cursor=" + base64.RawURLEncoding.EncodeToString([]byte(`{"q":"","d":0,"n":"","s":"a"}`)), "cursor", "other parameters"},
		{"b=1&a=1", "a", "not known"},
		{"%0Ax=1", "\nx", "not known"},
	} {
		values, err := url.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		_, err = business.ParseQuery(values)
		var e *business.ParameterError
		if !errors.As(err, &e) || e.Parameter != c.parameter || !strings.Contains(e.Message, c.says) || strings.Contains(e.Error(), "\n") {
			t.Errorf("%s: %v", c.query, err)
		}
	}
}

// Pages joined are the whole answer, whatever the page size, also when publishers come and go between two pages.
func TestQueryPages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"Alpha", "alpha", "Älpha", "Beta", "beta beta", strings.Repeat("long ", 40), strings.Repeat("long ", 40) + "x"}
		var list []*business.Publication
		for i := range rapid.IntRange(0, 25).Draw(t, "publishers") {
			p := shop("p"+strconv.Itoa(i), rapid.SampledFrom(names).Draw(t, "name"), "x", "GB", "Leeds", "en")
			list = append(list, at(p, strconv.Itoa(rapid.IntRange(0, 3).Draw(t, "latitude")), "0"))
		}
		parameters := map[string][]string{"limit": {"50"}}
		if rapid.Bool().Draw(t, "near") {
			parameters["latitude"], parameters["longitude"] = []string{"1.0"}, []string{"0"}
		}
		whole := ask(t, parameters).Answer(site, list, now)
		if len(whole.Results) != len(list) || whole.NextCursor != "" {
			t.Fatalf("%d of %d, next %q", len(whole.Results), len(list), whole.NextCursor)
		}
		pages := maps.Clone(parameters)
		pages["limit"] = []string{strconv.Itoa(rapid.IntRange(1, 7).Draw(t, "limit"))}
		shuffled := rapid.Permutation(list).Draw(t, "shuffled")
		var got []string
		for {
			a := ask(t, pages).Answer(site, shuffled, now)
			for _, r := range a.Results {
				got = append(got, r.Publisher)
			}
			if a.NextCursor == "" {
				break
			}
			pages["cursor"] = []string{a.NextCursor}
			if len(got) > 0 { // the last one shown leaves; nobody is shown twice or skipped
				shuffled = slices.DeleteFunc(slices.Clone(shuffled), func(p *business.Publication) bool { return p.Slug == got[len(got)-1] })
			}
		}
		if joined := strings.Join(got, " "); joined != slugs(whole) {
			t.Fatalf("pages %s\nwhole %s", joined, slugs(whole))
		}
	})
}

// A cursor holds no position of the caller, and belongs to its query.
func TestCursorIsBoundToItsQuery(t *testing.T) {
	parameters := map[string][]string{"latitude": {"53.123456"}, "longitude": {"-1.654321"}, "limit": {"1"}}
	a := ask(t, parameters).Answer(site, market(), now)
	text, err := base64.RawURLEncoding.DecodeString(a.NextCursor)
	if err != nil || a.NextCursor == "" || strings.Contains(string(text), "53.1") || strings.Contains(string(text), "654321") {
		t.Errorf("%q %s %v", a.NextCursor, text, err)
	}
	parameters["cursor"], parameters["limit"] = []string{a.NextCursor}, []string{"5"}
	if next := ask(t, parameters).Answer(site, market(), now); slugs(next) != "marina" {
		t.Errorf("another limit: %s", slugs(next))
	}
	parameters["latitude"] = []string{"53.2"}
	if _, err := business.ParseQuery(parameters); err == nil {
		t.Error("a cursor of another query is accepted")
	}
}

func TestDistance(t *testing.T) {
	pos := func(latitude, longitude float64) business.Position {
		return business.Position{Latitude: latitude, Longitude: longitude}
	}
	for _, c := range []struct {
		a, b business.Position
		want int64
	}{
		{pos(0, 0), pos(0, 0), 0},
		{pos(0, 0), pos(0, 1), 111_195},
		{pos(0, 179.5), pos(0, -179.5), 111_195}, // across the antimeridian
		{pos(0, 180), pos(0, -180), 0},
		{pos(90, 0), pos(90, 123), 0}, // the pole is one place
		{pos(90, 0), pos(-90, 77), 20_015_114},
		{pos(0, 0), pos(0, 180), 20_015_114},
		{pos(51.5007, -0.1246), pos(40.6892, -74.0445), 5_574_848},
	} {
		if got := c.a.Distance(c.b); got != c.want || c.b.Distance(c.a) != c.want {
			t.Errorf("%v to %v: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestDistanceProperties(t *testing.T) {
	pos := func(latitude, longitude float64) business.Position {
		return business.Position{Latitude: latitude, Longitude: longitude}
	}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) business.Position {
			return pos(rapid.Float64Range(-90, 90).Draw(t, name+" latitude"), rapid.Float64Range(-180, 180).Draw(t, name+" longitude"))
		}
		a, b, c := draw("a"), draw("b"), draw("c")
		ab, bc, ac := a.Distance(b), b.Distance(c), a.Distance(c)
		if ab < 0 || ab > 20_015_114 || ab != b.Distance(a) || ac > ab+bc+2 || a.Distance(a) != 0 {
			t.Fatalf("%d %d %d", ab, bc, ac)
		}
		// The chord, another way to the same length.
		v := func(p business.Position) [3]float64 {
			la, lo := p.Latitude*math.Pi/180, p.Longitude*math.Pi/180
			return [3]float64{math.Cos(la) * math.Cos(lo), math.Cos(la) * math.Sin(lo), math.Sin(la)}
		}
		x, y := v(a), v(b)
		chord := math.Sqrt((x[0]-y[0])*(x[0]-y[0]) + (x[1]-y[1])*(x[1]-y[1]) + (x[2]-y[2])*(x[2]-y[2]))
		if want := 2 * 6_371_008.8 * math.Asin(min(1, chord/2)); math.Abs(want-float64(ab)) > 2 {
			t.Fatalf("%d, by the chord %f", ab, want)
		}
	})
}

func TestDiscoveryDocument(t *testing.T) {
	doc := string(business.DiscoveryDocument(site, market(), now))
	for _, want := range []string{`"published_count":4`, `"methods":["GET"]`, `"limits":{"max_limit":50}`, `"query_endpoint":"https://registry.example/discovery/query"`} {
		if !strings.Contains(doc, want) {
			t.Errorf("no %s in %s", want, doc)
		}
	}
	// Every parameter that is described is taken, and the description of none promises another.
	for _, m := range innerMembers(t, doc, "parameters") {
		if _, err := business.ParseQuery(map[string][]string{m.Name: {"\x00"}}); err == nil || strings.Contains(err.Error(), "not known") {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
}

func FuzzParseQuery(f *testing.F) {
	f.Add("category=optician&country=GB&city=Leeds&limit=2")
	f.Add("latitude=53.8&longitude=-1.5&radius_km=10")
	f.Add("cursor=" + ask(f, map[string][]string{"limit": {"1"}}).Answer(site, market(), now).NextCursor)
	f.Fuzz(func(t *testing.T, query string) {
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		q, err := business.ParseQuery(values)
		if err != nil {
			if e := (*business.ParameterError)(nil); !errors.As(err, &e) || e.Message == "" || strings.Contains(e.Error(), "\n") {
				t.Fatalf("%v", err)
			}
			return
		}
		a := q.Answer(site, market(), now)
		if len(a.Results) > q.Limit {
			t.Fatalf("%d results", len(a.Results))
		}
		if _, err := business.Canon([]byte(encoded(t, a))); err != nil {
			t.Fatal(err)
		}
		if a.NextCursor != "" {
			values["cursor"] = []string{a.NextCursor}
			if _, err := business.ParseQuery(values); err != nil {
				t.Fatalf("own cursor: %v", err)
			}
		}
	})
}

func BenchmarkQuery(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		list := make([]*business.Publication, n)
		for i := range list {
			list[i] = at(shop("p"+strconv.Itoa(i), "Shop number "+strconv.Itoa(i), "optician", "GB", "Leeds", "en"), strconv.Itoa(i%90), "1.5")
		}
		q := ask(b, map[string][]string{"category": {"opticians"}, "city": {"leeds"}, "latitude": {"53"}, "longitude": {"1"}})
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				q.Answer(site, list, now)
			}
		})
	}
}
