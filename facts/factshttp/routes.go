package factshttp

import "strings"

// Route is one entry of the public surface. The set is closed: patterns are safe as metric labels.
type Route struct {
	Pattern string   // as documented, for example "/f/{key}"
	Methods []string // what Allow names, OPTIONS included
	// Dynamic routes are computed for each request; a server's rate limit counts these.
	Dynamic bool
}

// routeID indexes the route table.
type routeID uint8

const (
	routeNone routeID = iota
	routeRecord
	routeIndex
	routeIndexFile
	routeResolve
	routeChanges
	routeAtom
	routeChangesPage
	routeFactsDoc
	routeChangesDoc
	routeJWKS
	routeCatalog
	routeOpenAPI
	routeSchema
	routeProtocol
	routeLLMs
	routeSitemap
	routeMCP
	routeCard
	routeAsset
	routeFront
	routeCount
)

var (
	readMethods = []string{"GET", "HEAD", "OPTIONS"}
	bodyMethods = []string{"GET", "HEAD", "OPTIONS", "POST"}
)

var routes = [routeCount]Route{
	routeNone:        {Pattern: "unknown", Methods: readMethods},
	routeRecord:      {Pattern: "/f/{key}", Methods: readMethods, Dynamic: true},
	routeIndex:       {Pattern: "/f", Methods: bodyMethods, Dynamic: true},
	routeIndexFile:   {Pattern: "/f/index", Methods: readMethods, Dynamic: true},
	routeResolve:     {Pattern: "/f/resolve", Methods: readMethods, Dynamic: true},
	routeChanges:     {Pattern: "/changes.json", Methods: readMethods, Dynamic: true},
	routeAtom:        {Pattern: "/changes.atom", Methods: readMethods},
	routeChangesPage: {Pattern: "/changes", Methods: readMethods},
	routeFactsDoc:    {Pattern: "/.well-known/facts.json", Methods: readMethods},
	routeChangesDoc:  {Pattern: "/.well-known/changes.json", Methods: readMethods},
	routeJWKS:        {Pattern: "/.well-known/jwks.json", Methods: readMethods},
	routeCatalog:     {Pattern: "/.well-known/ai-catalog.json", Methods: readMethods},
	routeOpenAPI:     {Pattern: "/openapi.json", Methods: readMethods},
	routeSchema:      {Pattern: "/schema/{name}", Methods: readMethods},
	routeProtocol:    {Pattern: "/protocol/facts", Methods: readMethods},
	routeLLMs:        {Pattern: "/llms.txt", Methods: readMethods},
	routeSitemap:     {Pattern: "/sitemap.xml", Methods: readMethods},
	routeMCP:         {Pattern: "/api/mcp/facts", Methods: []string{"POST", "OPTIONS"}, Dynamic: true},
	routeCard:        {Pattern: "/api/mcp/facts/server-card", Methods: readMethods},
	routeAsset:       {Pattern: "/assets/{file}", Methods: readMethods},
	routeFront:       {Pattern: "/", Methods: readMethods, Dynamic: true},
}

// Routes lists the public surface. A path outside it answers 404.
func Routes() []Route {
	return append([]Route(nil), routes[routeNone+1:]...)
}

// Match finds the route of a decoded request path (url.URL.Path). ok is false for a path that answers 404.
func Match(path string) (r Route, ok bool) {
	id, _ := match(path)
	return routes[id], id != routeNone
}

// fixed holds the paths without a variable part.
var fixed = map[string]routeID{
	"/":                            routeFront,
	"/changes":                     routeChangesPage,
	"/changes.json":                routeChanges,
	"/changes.atom":                routeAtom,
	"/openapi.json":                routeOpenAPI,
	"/protocol/facts":              routeProtocol,
	"/llms.txt":                    routeLLMs,
	"/api/mcp/facts":               routeMCP,
	"/api/mcp/facts/server-card":   routeCard,
	"/.well-known/facts.json":      routeFactsDoc,
	"/.well-known/changes.json":    routeChangesDoc,
	"/.well-known/jwks.json":       routeJWKS,
	"/.well-known/ai-catalog.json": routeCatalog,
}

// match routes a path without redirects: http.ServeMux would answer a path with "//" with a 307 (F§2.3). The path is percent-decoded once, so an escaped
// slash counts as one; leading and trailing slashes are spelling. rest is the variable part: the requested key, the schema or file name.
func match(path string) (id routeID, rest string) {
	for strings.HasPrefix(path, "//") {
		path = path[1:]
	}
	if key, ok := cutFacts(path); ok {
		return matchFacts(key)
	}
	if len(path) > 1 {
		path = strings.TrimRight(path, "/")
	}
	if id, ok := fixed[path]; ok {
		return id, ""
	}
	if name, ok := strings.CutPrefix(path, "/schema/"); ok {
		return routeSchema, name
	}
	if name, ok := strings.CutPrefix(path, "/assets/"); ok {
		return routeAsset, name
	}
	if name, ok := strings.CutPrefix(path, "/sitemap"); ok && strings.HasSuffix(name, ".xml") && !strings.Contains(name, "/") {
		return routeSitemap, path[1:]
	}
	return routeNone, ""
}

// cutFacts returns what follows /f or /facts.
func cutFacts(path string) (key string, ok bool) {
	if !strings.HasPrefix(path, "/f") {
		return "", false
	}
	rest := strings.TrimPrefix(path[2:], "acts")
	if rest == "" || rest[0] == '/' {
		return rest, true
	}
	return "", false
}

// matchFacts separates the reserved single segments from keys; a static site's index is f/index.json, so that name is one of them.
func matchFacts(key string) (routeID, string) {
	if len(key) > 0 && key[0] == '/' {
		key = key[1:]
	}
	switch strings.Trim(key, "/") {
	case "":
		return routeIndex, ""
	case "index", "index.json":
		return routeIndexFile, ""
	case "resolve":
		return routeResolve, ""
	}
	return routeRecord, key
}
