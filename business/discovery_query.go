package business

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"sayso/jcs"
)

// ParameterError refuses one parameter of a query: 400 invalid_request.
type ParameterError struct {
	Parameter string // as received
	Message   string // lower case, says what is expected
}

func (e *ParameterError) Error() string { return "parameter " + shown(e.Parameter) + ": " + e.Message }

// Query is a discovery query, made by [ParseQuery]. The zero value of a text is "not asked".
type Query struct {
	Category, Country, City, Language, Name, Handler string

	Near     *Position // nil without coordinates
	RadiusKM float64   // 0 without a bound
	Limit    int       // 1 to MaxResults

	category, country, city, name []word // of the texts above
	cityPath                      string // [City] of the city asked

	received map[string]string
	after    *place // from the cursor
}

// Position is a point on the Earth in degrees, latitude within ±90 and longitude within ±180.
type Position struct{ Latitude, Longitude float64 }

// ParseQuery reads the parameters of GET /discovery/query, values already percent-decoded. A parameter that is unknown, stands twice, is empty or has a value
// it cannot have is refused with a *ParameterError; of several, the first by name.
func ParseQuery(parameters map[string][]string) (*Query, error) {
	q := &Query{Limit: defaultResults, received: map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		values := parameters[name]
		if _, known := discoveryParameters[name]; !known {
			return nil, &ParameterError{name, "not known here; known are " + strings.Join(slices.Sorted(maps.Keys(discoveryParameters)), ", ")}
		}
		if len(values) != 1 {
			return nil, &ParameterError{name, "one value is expected, " + strconv.Itoa(len(values)) + " were sent"}
		}
		if message := q.set(name, values[0]); message != "" {
			return nil, &ParameterError{name, message}
		}
		q.received[name] = values[0]
	}
	return q, q.complete()
}

// set takes one value, or says what is expected instead.
func (q *Query) set(name, value string) string {
	limit := maxParameter
	if name == "cursor" {
		limit = maxCursor
	}
	if !plainText(value, limit) {
		return "1 to " + strconv.Itoa(limit) + " characters without control characters are expected; leave the parameter out where nothing is asked"
	}
	switch name {
	case "latitude", "longitude":
		return q.coordinate(name, value)
	case "radius_km":
		var ok bool
		if q.RadiusKM, ok = decimal(value); !ok || q.RadiusKM <= 0 || q.RadiusKM > maxRadius {
			return "a number of kilometres above 0 and at most " + strconv.Itoa(maxRadius) + " is expected"
		}
	case "limit":
		n, err := strconv.Atoi(value)
		if q.Limit = n; err != nil || n < 1 || n > MaxResults || strconv.Itoa(n) != value {
			return "a whole number from 1 to " + strconv.Itoa(MaxResults) + " is expected"
		}
	case "cursor":
		if q.after = parsePlace(value); q.after == nil {
			return "it is not a next_cursor of this endpoint; start again without it"
		}
	case "handler":
		if q.Handler = value; !slices.Contains(Handlers, value) {
			return "one of " + strings.Join(Handlers, ", ") + " is expected"
		}
	case "language":
		if q.Language = value; !ValidLanguage(value) {
			return "a language tag such as en or de-AT is expected"
		}
	case "category":
		return phrase(&q.Category, &q.category, value)
	case "country":
		return phrase(&q.Country, &q.country, value)
	case "city":
		q.cityPath = City(value)
		return phrase(&q.City, &q.city, value)
	case "name":
		return phrase(&q.Name, &q.name, value)
	}
	return ""
}

func phrase(text *string, words *[]word, value string) string {
	*text, *words = value, wordsOf(value)
	if len(*words) == 0 {
		return "at least one letter or digit is expected"
	}
	return ""
}

func (q *Query) coordinate(name, value string) string {
	limit := 90.0
	if name == "longitude" {
		limit = 180
	}
	f, ok := decimal(value)
	if !ok || math.Abs(f) > limit {
		return "a number of degrees from -" + strconv.Itoa(int(limit)) + " to " + strconv.Itoa(int(limit)) + " is expected"
	}
	if q.Near == nil {
		q.Near = &Position{}
	}
	if name == "longitude" {
		q.Near.Longitude = f
	} else {
		q.Near.Latitude = f
	}
	return ""
}

// complete refuses what is only wrong together.
func (q *Query) complete() error {
	_, latitude := q.received["latitude"]
	_, longitude := q.received["longitude"]
	switch {
	case latitude && !longitude:
		return &ParameterError{"longitude", "latitude and longitude are sent together"}
	case longitude && !latitude:
		return &ParameterError{"latitude", "latitude and longitude are sent together"}
	case q.RadiusKM > 0 && q.Near == nil:
		return &ParameterError{"radius_km", "a radius needs latitude and longitude"}
	case q.after != nil && q.after.Query != q.fingerprint():
		return &ParameterError{"cursor", "it belongs to other parameters; send the same ones, or start again without it"}
	}
	return nil
}

// decimal reads a JSON number; "+5", ".5", "0x1", "Inf" and white space are none.
func decimal(s string) (float64, bool) {
	if s == "" || s[0] != '-' && (s[0] < '0' || s[0] > '9') || form.Check([]byte(s)) != nil {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}

// fingerprint tells queries apart that differ in more than their page. It is no secret and hides nothing: it keeps the caller's position out of cursors.
func (q *Query) fingerprint() string {
	filters := maps.Clone(q.received)
	delete(filters, "cursor")
	delete(filters, "limit")
	sum := sha256.Sum256(encode(filters))
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}

// place is where a publisher stands in the order of results: by distance in metres when a position was asked, then by folded display name (of which the
// first characters decide), then by slug, which is unique. A cursor is the place of the last result, so that publishers who come and go between two pages
// move nobody else.
type place struct {
	Query    string `json:"q"`
	Distance int64  `json:"d"`
	Name     string `json:"n"`
	Slug     string `json:"s"`
}

func (a *place) compare(b *place) int {
	return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Slug, b.Slug))
}

func (a *place) cursor(query string) string {
	c := *a
	c.Query = query
	return base64.RawURLEncoding.EncodeToString(encode(c))
}

// parsePlace reads a cursor, nil when it is none.
func parsePlace(cursor string) *place {
	text, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil {
		return nil
	}
	var p place
	if jcs.DecodeKnown(text, &p) != nil || !ValidSlug(p.Slug) || string(encode(p)) != string(text) {
		return nil
	}
	return &p
}

// orderName is the part of a display name that decides the order.
func orderName(displayName string) string {
	const significant = 64
	name := []rune(fold(displayName))
	return string(name[:min(len(name), significant)])
}
