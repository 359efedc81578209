package business

import "sayso/jcs"

// Site is what the deployment answers for. Origin is scheme://host[:port] without a final slash; "" means that none is configured, and every
// publisher-scoped document is refused with no_anchor (XP-DISCOVERY-004).
type Site struct {
	Origin        string
	ServerVersion string
	// HostOrigins gives the origin under which a publisher's own host is reached, by host; hosts without one use Origin.
	HostOrigins map[string]string
	// ToolsServed says that the deployment answers MCP calls (bizhttp.HandlerOptions.Call). While it is false manifests name no mcp endpoint and no capability.
	ToolsServed bool
	// InputSchema makes the JSON Schema of a tool's input from its handler and the publisher's schema; registry.json shows it beside each tool, as the
	// endpoint's tools/list does. Nil shows none.
	InputSchema func(handler string, schema *Schema) jcs.Raw
}

// wellKnown is the folder of the protocol's documents. Below a publisher's path it is no well-known URI in the sense of RFC 8615 (XP-DISCOVERY-007).
const wellKnown = "/.well-known/x-protocol/"

// origin is where a publisher is reached: the configured origin of the first of its own hosts that has one, else the registry's.
func (s Site) origin(p *Publication) string {
	for _, host := range p.Hosts {
		if o := s.HostOrigins[host]; o != "" {
			return o
		}
	}
	return s.Origin
}

// under is origin + path, "" without an origin: a relative locator would be completed by the reader with whatever host it asked.
func under(origin, path string) string {
	if origin == "" {
		return ""
	}
	return origin + path
}

// Locators builds every absolute URL of a publisher from the site's origin, never from a request (XP-DISCOVERY-003). They have the path form /t/{slug}/…,
// which names the publisher on every host, so that both routings give the same document (XP-DISCOVERY-005). All are empty when no origin is configured.
// MCP is filled when tools are served and the publisher has one. What an unpublished publisher may show is [Publication.Manifest]'s to decide.
func (s Site) Locators(p *Publication) Endpoints {
	origin := s.origin(p)
	tenant, pages := "/t/"+p.Slug, p.Base()
	e := Endpoints{
		Manifest:      under(origin, tenant+wellKnown+"manifest.json"),
		JWKS:          under(origin, tenant+wellKnown+"jwks.json"),
		Revocations:   under(origin, tenant+wellKnown+"revocations.json"),
		PublicProfile: under(origin, pages),
		BulkExport:    under(origin, pages+"/dump.jsonl"),
		Sitemap:       under(origin, pages+"/sitemap.xml"),
		LLMsTxt:       under(origin, pages+"/llms.txt"),
	}
	if s.ToolsServed && len(p.Profile.Tools) > 0 {
		e.MCP = under(origin, tenant+"/mcp")
	}
	return e
}

// RegistryKeysURL is the registry's own key document, under the registry's origin.
func (s Site) RegistryKeysURL() string { return under(s.Origin, wellKnown+"registry-keys.json") }

// RegistryRevocationsURL is the registry-wide revocation list.
func (s Site) RegistryRevocationsURL() string { return under(s.Origin, wellKnown+"revocations.json") }

// QueryURL is the discovery query endpoint.
func (s Site) QueryURL() string { return under(s.Origin, "/discovery/query") }

// RecordURL is the absolute address of one record below the canonical base.
func (s Site) RecordURL(p *Publication, typ, id string) string {
	return under(s.origin(p), p.Base()+"/"+EntityKey(typ, id))
}
