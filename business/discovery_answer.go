package business

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// QueryAnswer is the answer of the discovery query. It holds locators, no business facts and no coverage status, and it is not signed.
type QueryAnswer struct {
	ProtocolXVersion string            `json:"protocol_x_version"`
	Registry         string            `json:"registry"`
	ServedAt         time.Time         `json:"served_at"`
	Request          map[string]string `json:"request"` // the parameters as received
	Results          []Discovered      `json:"results"`
	NextCursor       string            `json:"next_cursor,omitempty"`
	NotStatedCount   int               `json:"not_stated_count"`  // published publishers left out because they do not state a member that was asked for
	EvidenceComplete bool              `json:"evidence_complete"` // nobody was left out for that reason: the pages together are all there are
	Note             string            `json:"note"`              // says that the answer is unsigned
}

const queryNote = "Not signed. These are places to look; that a business is missing says nothing about it."

// Discovered is one publisher that was found. Country and locality are those of the location that matched.
type Discovered struct {
	Publisher        string    `json:"publisher"`
	DisplayName      string    `json:"display_name"`
	BusinessCategory string    `json:"business_category,omitempty"`
	CountryCode      string    `json:"country_code,omitempty"`
	Locality         string    `json:"locality,omitempty"`
	ContentLanguages []string  `json:"content_languages"`
	DistanceM        *int64    `json:"distance_m,omitempty"` // only when a position was asked
	Manifest         string    `json:"manifest"`
	PublicProfile    string    `json:"public_profile"`
	MCP              string    `json:"mcp,omitempty"`
	Matched          []Matched `json:"matched"`
}

// Matched says how a publisher agrees with one parameter. Kind is exact (equal but for case), inflection (equal but for diacritics, the spelling of public
// addresses or the ending of a number), range (a longer language tag) or within (a radius).
type Matched struct {
	Parameter string `json:"parameter"`
	Kind      string `json:"kind"`
}

// candidate is one publisher under comparison.
type candidate struct {
	site      Site
	p         *Publication
	notStated bool
	failed    bool
	matched   []Matched
	location  *Location
	distance  int64
}

// Answer compares every published publisher of list with the query. All given filters must match, those about a place at one and the same location. There is
// no ranking: results stand by distance when a position was asked, else by display name, then by slug.
func (q *Query) Answer(s Site, list []*Publication, now time.Time) *QueryAnswer {
	type found struct {
		place
		c *candidate
	}
	var all []found
	answer := &QueryAnswer{ProtocolXVersion: Version, Registry: Family, ServedAt: utc(now), Request: q.received, Results: []Discovered{}, Note: queryNote}
	for _, p := range list {
		if !p.Standing.IsPublished(now) {
			continue
		}
		c := q.compare(s, p)
		switch {
		case c.failed:
		case c.notStated:
			answer.NotStatedCount++
		default:
			all = append(all, found{place{Distance: c.distance, Name: orderName(p.Profile.DisplayName), Slug: p.Slug}, c})
		}
	}
	answer.EvidenceComplete = answer.NotStatedCount == 0
	slices.SortFunc(all, func(a, b found) int { return a.compare(&b.place) })
	if q.after != nil {
		from, _ := slices.BinarySearchFunc(all, q.after, func(f found, after *place) int {
			if f.compare(after) <= 0 {
				return -1
			}
			return 1
		})
		all = all[from:]
	}
	if len(all) > q.Limit {
		all = all[:q.Limit]
		answer.NextCursor = all[q.Limit-1].cursor(q.fingerprint())
	}
	for _, f := range all {
		answer.Results = append(answer.Results, f.c.result(q.Near != nil))
	}
	return answer
}

func (q *Query) compare(s Site, p *Publication) *candidate {
	c := &candidate{site: s, p: p, location: p.Profile.primary()}
	if q.Category != "" {
		published := categoryWords(p)
		c.add("category", len(published) > 0, best(published, func(text string) agreement { return samePhrase(q.category, text) }))
	}
	if q.Language != "" {
		c.language(q.Language)
	}
	if q.Name != "" {
		c.add("name", true, best([]string{p.Profile.DisplayName, p.Profile.LegalName}, func(text string) agreement { return namedBy(q.name, text) }))
	}
	if q.Handler != "" {
		capabilities := s.capabilities(p)
		c.add("handler", len(capabilities) > 0, best(capabilities, func(name string) agreement {
			if name == q.Handler {
				return exact
			}
			return different
		}))
	}
	if q.Country != "" || q.City != "" || q.Near != nil {
		c.place(q)
	}
	return c
}

// add notes the outcome of one filter.
func (c *candidate) add(parameter string, stated bool, a agreement) {
	switch {
	case !stated:
		c.notStated = true
	case a == different:
		c.failed = true
	default:
		c.matched = append(c.matched, Matched{parameter, a.String()})
	}
}

// categoryWords are the business category and the words the schema has for it.
func categoryWords(p *Publication) []string {
	var out []string
	if p.Profile.BusinessCategory != "" {
		out = append(out, p.Profile.BusinessCategory)
	}
	if category := p.Vocabulary().Category; category != nil {
		for _, words := range category.Words {
			out = append(out, words...)
		}
	}
	return out
}

func best(texts []string, compare func(string) agreement) agreement {
	out := different
	for _, text := range texts {
		out = max(out, compare(text))
	}
	return out
}

// language matches a tag by basic filtering (RFC 4647 section 3.3.1): equal, or a prefix that ends before a subtag.
func (c *candidate) language(asked string) {
	languages, kind := c.p.Profile.ContentLanguages, ""
	for _, tag := range languages {
		switch {
		case strings.EqualFold(tag, asked):
			kind = "exact"
		case kind == "" && len(tag) > len(asked) && tag[len(asked)] == '-' && strings.EqualFold(tag[:len(asked)], asked):
			kind = "range"
		}
	}
	switch {
	case len(languages) == 0:
		c.notStated = true
	case kind == "":
		c.failed = true
	default:
		c.matched = append(c.matched, Matched{"language", kind})
	}
}

// place looks for the location that meets everything asked about a place: the nearest when a position was asked, else the first stated. When none does, a
// location that leaves out what was asked and contradicts nothing makes the publisher one that does not state it.
func (c *candidate) place(q *Query) {
	var found []Matched
	open := len(c.p.Profile.Locations) == 0
	nearest := int64(math.MaxInt64)
	for i := range c.p.Profile.Locations {
		l := &c.p.Profile.Locations[i]
		matched, distance, stated, ok := q.at(l)
		if ok && !stated {
			open = true
		}
		if ok && stated && distance < nearest {
			found, nearest, c.location = matched, distance, l
		}
	}
	switch {
	case nearest < math.MaxInt64:
		c.distance = nearest
		c.matched = append(c.matched, found...)
	case open:
		c.notStated = true
	default:
		c.failed = true
	}
}

// at compares one location: ok means that nothing it states contradicts the query, stated that it states all that was asked. Without a position distance is 0.
func (q *Query) at(l *Location) (matched []Matched, distance int64, stated, ok bool) {
	stated = true
	filter := func(parameter string, asked []word, texts ...string) agreement {
		texts = slices.DeleteFunc(texts, func(s string) bool { return s == "" })
		if len(asked) == 0 {
			return exact
		}
		if len(texts) == 0 {
			stated = false
			return exact
		}
		a := best(texts, func(text string) agreement { return samePhrase(asked, text) })
		if a == different && parameter == "city" && q.cityPath != "" && q.cityPath == City(texts[0]) {
			a = inflected
		}
		if a != different {
			matched = append(matched, Matched{parameter, a.String()})
		}
		return a
	}
	if filter("city", q.city, l.Locality) == different || filter("country", q.country, l.CountryCode, l.Country) == different {
		return nil, 0, true, false
	}
	if q.Near == nil {
		return matched, 0, stated, true
	}
	at, known := l.position()
	if !known {
		return matched, 0, false, true
	}
	distance = q.Near.Distance(at)
	if q.RadiusKM > 0 {
		if float64(distance) > q.RadiusKM*1000 {
			return nil, 0, true, false
		}
		matched = append(matched, Matched{"radius_km", "within"})
	}
	return matched, distance, stated, true
}

// position reads the coordinates of a location, which count only together.
func (l *Location) position() (Position, bool) {
	latitude, err1 := strconv.ParseFloat(string(l.Latitude), 64)
	longitude, err2 := strconv.ParseFloat(string(l.Longitude), 64)
	ok := err1 == nil && err2 == nil && math.Abs(latitude) <= 90 && math.Abs(longitude) <= 180
	return Position{latitude, longitude}, ok
}

// Distance is the great-circle distance to b in whole metres, by the haversine formula on a sphere of radius 6371.0088 km.
func (a Position) Distance(b Position) int64 {
	const radius, degree = 6_371_008.8, math.Pi / 180
	sinLat := math.Sin((b.Latitude - a.Latitude) * degree / 2)
	sinLon := math.Sin((b.Longitude - a.Longitude) * degree / 2)
	h := sinLat*sinLat + math.Cos(a.Latitude*degree)*math.Cos(b.Latitude*degree)*sinLon*sinLon
	return int64(math.Round(2 * radius * math.Asin(math.Sqrt(min(1, h)))))
}

func (c *candidate) result(near bool) Discovered {
	locators := c.site.Locators(c.p)
	d := Discovered{
		Publisher: c.p.Slug, DisplayName: c.p.Profile.DisplayName, BusinessCategory: c.p.Profile.BusinessCategory,
		ContentLanguages: c.p.Profile.ContentLanguages, Manifest: locators.Manifest, PublicProfile: locators.PublicProfile, MCP: locators.MCP,
		Matched: c.matched,
	}
	if c.location != nil {
		d.CountryCode, d.Locality = c.location.CountryCode, c.location.Locality
	}
	if near {
		d.DistanceM = &c.distance
	}
	return d
}
