package facts

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// ParameterError is a refused parameter: HTTP 400 and MCP isError with the same Message (F§4.1).
type ParameterError struct {
	Parameter string
	Message   string
}

func (e *ParameterError) Error() string { return e.Message }

func refuse(parameter, format string, args ...any) error {
	return &ParameterError{Parameter: parameter, Message: fmt.Sprintf(format, args...)}
}

// Selection chooses a value and a freshness bar (F§4.2-4.4). Selection{MaxAge: NoMaxAge} is "in force today, publisher's cadence".
type Selection struct {
	MaxAge int // days; NoMaxAge when not given; 0 asks for a value verified today
	AsOf   Date
	Period string
}

// NoMaxAge is Selection.MaxAge when the caller gave none.
const NoMaxAge = -1

// Params is a checked set of parameters, whatever the transport: each name at most once.
type Params map[string]string

// Route names the parameter tables of F§4.1.
type Route string

// The routes that take parameters.
const (
	RouteGet     Route = "get"     // GET /f/{key}: max_age as_of period format
	RouteFacts   Route = "facts"   // GET /f: keys max_age as_of period namespace format
	RouteBatch   Route = "batch"   // POST /f, members of the body: keys max_age as_of period
	RouteResolve Route = "resolve" // GET /f/resolve: q namespace limit
	RouteChanges Route = "changes" // GET /changes.json: since area limit cursor
)

// Parameters are the names a route takes, in the order of F§4.1, nil for a route that takes none. The HTTP surface, the OpenAPI document and the messages
// of this package all read this table.
func (r Route) Parameters() []string {
	switch r {
	case RouteGet:
		return []string{"max_age", "as_of", "period", "format"}
	case RouteFacts:
		return []string{"keys", "max_age", "as_of", "period", "namespace", "format"}
	case RouteBatch:
		return []string{"keys", "max_age", "as_of", "period"}
	case RouteResolve:
		return []string{"q", "namespace", "limit"}
	case RouteChanges:
		return []string{"since", "area", "limit", "cursor"}
	}
	return nil
}

// CheckQuery turns a query string into Params for a route: unknown, repeated and empty parameters are *ParameterError; tracking names of S20 are dropped.
// On RouteFacts namespace excludes keys, and max_age, as_of and period need keys. Of several faults the first by name is reported.
func CheckQuery(route Route, q url.Values) (Params, error) {
	allowed := route.Parameters()
	params := make(Params, len(q))
	for _, name := range slices.Sorted(maps.Keys(q)) {
		if isTracking(name) {
			continue
		}
		if !slices.Contains(allowed, name) {
			return nil, unknownParameter(allowed, name)
		}
		switch values := q[name]; {
		case len(values) > 1:
			return nil, refuse(name, "parameter %q is given %d times; give it once", name, len(values))
		case len(values) == 0 || strings.TrimSpace(values[0]) == "":
			return nil, emptyParameter(name)
		default:
			params[name] = values[0]
		}
	}
	if route == RouteFacts {
		if err := checkFactsQuery(params); err != nil {
			return nil, err
		}
	}
	return params, nil
}

// checkFactsQuery tells the index (namespace) from a batch (keys).
func checkFactsQuery(p Params) error {
	_, batch := p["keys"]
	if _, ok := p["namespace"]; ok && batch {
		return refuse("namespace", "parameter \"namespace\" selects from the index and cannot stand beside \"keys\"; leave one out")
	}
	for _, name := range []string{"max_age", "as_of", "period"} {
		if _, ok := p[name]; ok && !batch {
			return refuse(name, "parameter %q needs \"keys\"; the index shows the values in force today", name)
		}
	}
	return nil
}

// CheckNames does the same for names that arrive from JSON (MCP arguments, POST bodies).
func CheckNames(allowed []string, names []string) error {
	for i, name := range names {
		if !slices.Contains(allowed, name) {
			return unknownParameter(allowed, name)
		}
		if slices.Contains(names[:i], name) {
			return refuse(name, "parameter %q is given twice; give it once", name)
		}
	}
	return nil
}

// isTracking reports the names that link decorators add to a URL (S20).
func isTracking(name string) bool {
	switch name {
	case "gclid", "fbclid", "msclkid":
		return true
	}
	return strings.HasPrefix(name, "utm_")
}

// unknownParameter suggests the nearest allowed name, or lists the allowed ones.
func unknownParameter(allowed []string, name string) error {
	parameter := clip(strings.ToValidUTF8(name, "\uFFFD"))
	if nearest := NearestName(name, allowed); nearest != "" {
		return refuse(parameter, "unknown parameter %s; did you mean %q?", quote(name), nearest)
	}
	if len(allowed) == 0 {
		return refuse(parameter, "unknown parameter %s; none are taken here", quote(name))
	}
	return refuse(parameter, "unknown parameter %s; allowed: %s", quote(name), strings.Join(allowed, ", "))
}

func emptyParameter(name string) error {
	return refuse(name, "parameter %q is empty; give a value or leave it out", name)
}

// Selection reads max_age, as_of and period.
func (p Params) Selection() (Selection, error) {
	sel := Selection{MaxAge: NoMaxAge, Period: p["period"]}
	for _, name := range []string{"max_age", "as_of", "period"} {
		if value, ok := p[name]; ok && strings.TrimSpace(value) == "" {
			return sel, emptyParameter(name)
		}
	}
	var err error
	if text, ok := p["max_age"]; ok {
		if sel.MaxAge, err = ParseDuration(text); err != nil {
			return sel, refuse("max_age", "max_age: %v", err)
		}
	}
	if text, ok := p["as_of"]; ok {
		if sel.Period != "" {
			return sel, refuse("as_of", "parameters \"as_of\" and \"period\" exclude each other; give one of them")
		}
		if sel.AsOf, err = ParseDate(text); err != nil {
			return sel, refuse("as_of", "as_of: %v", err)
		}
	}
	return sel, nil
}

// Limit reads limit within 1..max, def when absent.
func (p Params) Limit(def, max int) (int, error) {
	text, ok := p["limit"]
	if !ok {
		return def, nil
	}
	n, rest, digits := scanDigits(text)
	if !digits || rest != "" || n < 1 || n > max {
		return 0, refuse("limit", "limit is a whole number from 1 to %d, not %s", max, quote(text))
	}
	return n, nil
}
