package bizhttp

import (
	"strings"

	"sayso/business"
)

// Route is one entry of the public surface. The set is closed: patterns are safe as metric labels.
type Route struct {
	Pattern string   // as documented, for example "/t/{p}/mcp"
	Methods []string // what Allow names, OPTIONS included
	// Dynamic routes are computed for each request; a server's rate limit counts these.
	Dynamic bool
}

// routeID indexes the route table.
type routeID uint8

const (
	routeNone routeID = iota

	routeRegistryKeys
	routeRegistryRevocations
	routeDiscoveryDoc
	routeQuery

	routeManifest
	routeManifestAlias
	routeRegistryDoc
	routeRegistryDocAlias
	routeKeys
	routeKeysAlias
	routeMCP

	routeTenantManifest
	routeTenantRegistryDoc
	routeTenantKeys
	routeTenantRevocations
	routeTenantMCP

	// The public pages, once below the canonical base and once below /b/{p}, in the same order.
	routeProfile
	routeDump
	routeLLMs
	routeSitemap
	routeVerify
	routeRecord
	routeShortProfile
	routeShortDump
	routeShortLLMs
	routeShortSitemap
	routeShortVerify
	routeShortRecord

	routeDirectory
	routeFront
	routeRootLLMs
	routeRootSitemap
	routeAsset

	routeCount
)

// short is the distance from a page below the canonical base to the same page below /b/{p}.
const short = routeShortProfile - routeProfile

var (
	readMethods = []string{"GET", "HEAD", "OPTIONS"}
	callMethods = []string{"POST", "OPTIONS"}
)

const (
	wellKnown = "/.well-known/x-protocol/"
	aliases   = "/.well-known/knowledge-core/"
	base      = "/{country}/{city}/business/{p}"
)

var routes = [routeCount]Route{
	routeNone: {Pattern: "unknown", Methods: readMethods},

	routeRegistryKeys:        {Pattern: wellKnown + "registry-keys.json", Methods: readMethods},
	routeRegistryRevocations: {Pattern: wellKnown + "revocations.json", Methods: readMethods},
	routeDiscoveryDoc:        {Pattern: wellKnown + "discovery.json", Methods: readMethods, Dynamic: true},
	routeQuery:               {Pattern: "/discovery/query", Methods: readMethods, Dynamic: true},

	routeManifest:         {Pattern: wellKnown + "manifest.json", Methods: readMethods},
	routeManifestAlias:    {Pattern: "/.well-known/protocol-x-manifest.json", Methods: readMethods},
	routeRegistryDoc:      {Pattern: wellKnown + "registry.json", Methods: readMethods, Dynamic: true},
	routeRegistryDocAlias: {Pattern: aliases + "registry.json", Methods: readMethods, Dynamic: true},
	routeKeys:             {Pattern: wellKnown + "jwks.json", Methods: readMethods},
	routeKeysAlias:        {Pattern: aliases + "jwks.json", Methods: readMethods},
	routeMCP:              {Pattern: "/mcp", Methods: callMethods, Dynamic: true},

	routeTenantManifest:    {Pattern: "/t/{p}" + wellKnown + "manifest.json", Methods: readMethods},
	routeTenantRegistryDoc: {Pattern: "/t/{p}" + wellKnown + "registry.json", Methods: readMethods, Dynamic: true},
	routeTenantKeys:        {Pattern: "/t/{p}" + wellKnown + "jwks.json", Methods: readMethods},
	routeTenantRevocations: {Pattern: "/t/{p}" + wellKnown + "revocations.json", Methods: readMethods},
	routeTenantMCP:         {Pattern: "/t/{p}/mcp", Methods: callMethods, Dynamic: true},

	routeProfile:      {Pattern: base, Methods: readMethods, Dynamic: true},
	routeDump:         {Pattern: base + "/dump.jsonl", Methods: readMethods, Dynamic: true},
	routeLLMs:         {Pattern: base + "/llms.txt", Methods: readMethods, Dynamic: true},
	routeSitemap:      {Pattern: base + "/sitemap.xml", Methods: readMethods, Dynamic: true},
	routeVerify:       {Pattern: base + "/verify", Methods: readMethods, Dynamic: true},
	routeRecord:       {Pattern: base + "/{type}/{id}", Methods: readMethods, Dynamic: true},
	routeShortProfile: {Pattern: "/b/{p}", Methods: readMethods, Dynamic: true},
	routeShortDump:    {Pattern: "/b/{p}/dump.jsonl", Methods: readMethods, Dynamic: true},
	routeShortLLMs:    {Pattern: "/b/{p}/llms.txt", Methods: readMethods, Dynamic: true},
	routeShortSitemap: {Pattern: "/b/{p}/sitemap.xml", Methods: readMethods, Dynamic: true},
	routeShortVerify:  {Pattern: "/b/{p}/verify", Methods: readMethods, Dynamic: true},
	routeShortRecord:  {Pattern: "/b/{p}/{type}/{id}", Methods: readMethods, Dynamic: true},

	routeDirectory:   {Pattern: "/b", Methods: readMethods, Dynamic: true},
	routeFront:       {Pattern: "/", Methods: readMethods, Dynamic: true},
	routeRootLLMs:    {Pattern: "/llms.txt", Methods: readMethods, Dynamic: true},
	routeRootSitemap: {Pattern: "/sitemap.xml", Methods: readMethods, Dynamic: true},
	routeAsset:       {Pattern: "/assets/{file}", Methods: readMethods},
}

// Routes lists the public surface. A path outside it answers 404.
func Routes() []Route {
	return append([]Route(nil), routes[routeNone+1:]...)
}

// Match finds the route of a request path as it was sent (url.URL.EscapedPath): in a decoded path a record id with an escaped slash would be two segments.
// ok is false for a path that answers 404.
func Match(path string) (r Route, ok bool) {
	m := match(path)
	return routes[m.id], m.id != routeNone
}

// Belongs reports whether a request path (as for [Match]) is this surface's when one origin also serves a facts publisher. own says that the Host of the
// request is one that a publisher was recorded for (Source.ByHost of [HostOf]): there everything is this surface's, because a facts document under a business's own
// name would speak for the business. On the registry's own host the front page, /llms.txt, /sitemap.xml, /assets/ and every path that Match does not know
// are the facts publisher's. A server without facts needs no answer: every path is this surface's.
func Belongs(path string, own bool) bool {
	if own {
		return true
	}
	switch match(path).id {
	case routeNone, routeFront, routeRootLLMs, routeRootSitemap, routeAsset:
		return false
	}
	return true
}

// matched is a path taken apart. Nothing in it is decoded.
type matched struct {
	id   routeID
	slug string // "" when the Host names the publisher
	base string // of a public page: what stands before tail
	tail string // of a public page: "", "/dump.jsonl", "/{type}/{id}", …
	typ  string // of a record
	rest string // record id or asset name
}

// fixed holds the paths without a variable part, tenant what may follow /t/{p}, pages what may follow the base of the public pages, records aside.
var fixed, tenant, pages = func() (f, t, p map[string]routeID) {
	f, t, p = map[string]routeID{"/b/": routeDirectory}, map[string]routeID{}, map[string]routeID{"/": routeProfile}
	for id := routeNone + 1; id < routeCount; id++ {
		pattern := routes[id].Pattern
		tail, below := strings.CutPrefix(pattern, "/t/{p}")
		page, public := strings.CutPrefix(pattern, base)
		switch {
		case below:
			t[tail] = id
		case public && id != routeRecord:
			p[page] = id
		case !strings.Contains(pattern, "{"):
			f[pattern] = id
		}
	}
	return f, t, p
}()

// match routes a path without redirects and without cleaning: http.ServeMux would answer "//" with a 307.
func match(path string) matched {
	if id, ok := fixed[path]; ok {
		return matched{id: id}
	}
	first, rest := cutSegment(path)
	switch {
	case first == "t":
		slug, tail := cutSegment(rest)
		if id, ok := tenant[tail]; ok && slug != "" {
			return matched{id: id, slug: slug}
		}
	case first == "b":
		slug, tail := cutSegment(rest)
		if m := matchPage(tail); m.id != routeNone && slug != "" {
			m.id += short
			m.slug, m.base = slug, path[:len(path)-len(tail)]
			return m
		}
	case first == "assets":
		if len(rest) > 1 {
			return matched{id: routeAsset, rest: rest[1:]}
		}
	case len(first) == 2: // a country; what does not look like one is somebody else's path
		city, after := cutSegment(rest)
		word, after := cutSegment(after)
		slug, tail := cutSegment(after)
		if m := matchPage(tail); m.id != routeNone && city != "" && word == "business" && slug != "" {
			m.slug, m.base = slug, path[:len(path)-len(tail)]
			return m
		}
	}
	return matched{}
}

// matchPage routes what follows the base of the public pages.
func matchPage(tail string) matched {
	if id, ok := pages[tail]; ok {
		return matched{id: id, tail: tail}
	}
	typ, after := cutSegment(tail)
	id, end := cutSegment(after)
	if typ == "" || id == "" || end != "" {
		return matched{}
	}
	return matched{id: routeRecord, tail: tail, typ: typ, rest: id}
}

// cutSegment takes the first segment off a path that begins with a slash; rest begins with the next one or is "".
func cutSegment(path string) (segment, rest string) {
	if path == "" || path[0] != '/' {
		return "", path
	}
	if end := strings.IndexByte(path[1:], '/'); end >= 0 {
		return path[1 : 1+end], path[1+end:]
	}
	return path[1:], ""
}

// page is the route below the canonical base for either form of a public page.
func (m matched) page() routeID {
	if m.id >= routeShortProfile && m.id <= routeShortRecord {
		return m.id - short
	}
	return m.id
}

// canonical is the path of the same page below the publisher's base, in the spelling the client used behind it.
func (m matched) canonical(p *business.Publication) string {
	if m.tail == "/" {
		return p.Base()
	}
	return p.Base() + m.tail
}
