package bizhttp

import (
	"errors"
	"net/url"
	"strings"

	"sayso/business"
	"sayso/safefetch"
)

// place is where a reader begins.
type place struct {
	at        string // address to fetch
	publisher string // slug that the address names, "" when it names none
	manifest  bool   // at is the address of a manifest
}

// ErrAddress says that what was given is no address to read from.
var ErrAddress = errors.New("this is no URL and no host name: give for example https://registry.example/b/name")

// locate turns what a person gives (a host, or the address of a profile, record, manifest, MCP endpoint or document) into the address to fetch. Only the
// entry points that X§2.1 fixes are ever put together; everything behind them comes from the manifest (XP-DISCOVERY-002, XP-MANIFEST-006).
func locate(given string) (place, error) {
	given = strings.TrimSpace(given)
	if !strings.Contains(given, "://") {
		host, _, _ := strings.Cut(given, "/")
		if safefetch.LoopbackOf("http://"+host) != "" {
			given = "http://" + given
		} else {
			given = "https://" + given
		}
	}
	u, err := url.Parse(given)
	if err != nil || u.Host == "" || u.User != nil {
		return place{}, ErrAddress
	}
	origin := u.Scheme + "://" + u.Host
	path := u.EscapedPath()
	if slug := tenantOf(path); slug != "" {
		return place{at: origin + "/t/" + slug + wellKnown + "manifest.json", publisher: slug, manifest: true}, nil
	}
	switch m := match(path); {
	case path == "" || m.id == routeFront || m.id == routeMCP:
		return place{at: origin + wellKnown + "manifest.json", manifest: true}, nil
	case m.id == routeManifest || m.id == routeManifestAlias:
		return place{at: given, manifest: true}, nil
	case m.page() == routeDump || m.page() == routeLLMs || m.page() == routeSitemap:
		return place{}, &business.FormatError{Code: business.CodeUnsupported, Rule: "XP-EXPORT-003",
			Message: "exports, texts and page lists carry no signature; verify the manifest, or the envelope of an answer"}
	}
	return place{at: given}, nil
}

// tenantOf is the slug in the address of a publisher's profile, record, verify page, MCP endpoint or path-routed manifest, "" for every other address. A
// registry may write countries longer than ours does.
func tenantOf(path string) string {
	s := strings.Split(strings.TrimSuffix(path, "/"), "/") // s[0] is "" before the first slash
	slug, tail := "", []string{}
	switch {
	case len(s) >= 3 && s[1] == "t":
		slug = s[2]
		if tail := strings.Join(s[3:], "/"); tail != "" && tail != "mcp" && "/"+tail != wellKnown+"manifest.json" {
			return ""
		}
	case len(s) >= 3 && s[1] == "b":
		slug, tail = s[2], s[3:]
	case len(s) >= 5 && s[3] == "business":
		slug, tail = s[4], s[5:]
	}
	if len(tail) == 1 && tail[0] != "verify" || len(tail) > 2 || !business.ValidSlug(slug) {
		return ""
	}
	return slug
}

// originOf is scheme://host[:port] in lower case.
func originOf(at string) string {
	u, err := url.Parse(at)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}
