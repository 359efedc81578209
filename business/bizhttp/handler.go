package bizhttp

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"sayso/business"
)

// HandlerOptions are what the surface needs.
type HandlerOptions struct {
	// Source is asked once or twice per request and decides what is served.
	Source Source
	// Pages renders HTML. Nil, or a nil function in it, means that this form is not offered.
	Pages *Pages
	// Call answers a POST to an MCP endpoint: of p, which is published at this moment, or, with p nil, of the registry's own /mcp. Host, credential and standing
	// are judged already and the CORS headers are set. An error means that nothing was written yet; it is refused as one of Source's is, a [*Refusal] with the
	// status it names. Nil means that no tools are served: Site.ToolsServed must say the same.
	Call func(w http.ResponseWriter, r *http.Request, p *business.Publication) error
	// Report receives the cause of every 500 answer, of every 503 that the records of a publisher caused in the middle, and of every streamed answer that
	// broke off. The client sees none of it. Nil drops it.
	Report func(r *http.Request, cause error)
}

// Handler serves the registry's public surface: every route of Routes. It writes nothing, and nothing of the request's Host reaches an answer: the Host
// selects a publisher through Source.ByHost, locators come from Source.Site.
func Handler(o HandlerOptions) http.Handler {
	if o.Pages == nil {
		o.Pages = &Pages{}
	}
	if o.Report == nil {
		o.Report = func(*http.Request, error) {}
	}
	return &handler{HandlerOptions: o, assets: assetDocuments(o.Pages.Assets)}
}

type handler struct {
	HandlerOptions
	assets map[string]asset
}

// exchange is one request on its way to an answer.
type exchange struct {
	w http.ResponseWriter
	r *http.Request
	matched
	site    business.Site
	now     time.Time
	owner   bool // a credential of the publisher came with the request
	preview bool // shown to the owner alone
	started bool // the answer's first byte has left
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header["Access-Control-Allow-Origin"] = anyOrigin
	header["Access-Control-Expose-Headers"] = exposed
	header["X-Content-Type-Options"] = noSniff
	if r.Method == http.MethodOptions {
		preflight(w)
		return
	}
	x := exchange{w: w, r: r, matched: match(r.URL.EscapedPath())}
	err := h.serve(&x)
	switch {
	case err == nil:
	case x.started:
		// Half an answer may not look like a whole one: net/http closes the connection without a word.
		if r.Context().Err() == nil && !errors.Is(err, errClientGone) {
			h.Report(r, err)
		}
		panic(http.ErrAbortHandler)
	default:
		h.refuse(&x, err)
	}
}

// serve writes an answer or returns why there is none. Only a streamed answer may have begun when it returns an error.
func (h *handler) serve(x *exchange) error {
	if x.id == routeNone {
		return &problem{kind: kindNotFound, message: "nothing is served at this path; the list of publishers is at /b"}
	}
	call := x.id == routeMCP || x.id == routeTenantMCP
	if m := x.r.Method; call != (m == http.MethodPost) || !call && m != http.MethodGet && m != http.MethodHead {
		return &problem{kind: kindMethod}
	}
	if x.id == routeAsset {
		return h.serveAsset(x)
	}
	if x.site = h.Source.Site(); x.site.Origin == "" {
		return &problem{kind: kindNoAnchor}
	}
	x.now = h.Source.Now()
	switch x.id {
	case routeRegistryKeys, routeRegistryRevocations:
		return h.serveRegistry(x)
	case routeManifest, routeManifestAlias, routeTenantManifest, routeKeys, routeKeysAlias, routeTenantKeys, routeTenantRevocations:
		return h.serveDocument(x)
	case routeRegistryDoc, routeRegistryDocAlias, routeTenantRegistryDoc:
		return h.serveRegistryDocument(x)
	case routeDiscoveryDoc:
		return h.serveDiscovery(x)
	case routeQuery:
		return h.serveQuery(x)
	case routeMCP, routeTenantMCP:
		return h.serveCall(x)
	case routeDirectory, routeFront, routeRootLLMs, routeRootSitemap:
		return h.serveRoot(x)
	default:
		return h.servePage(x)
	}
}

// HostOf is the host of a request as Source.ByHost takes it: lower case, without port and final dot.
func HostOf(r *http.Request) string {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// publication reads the publisher that a path or the Host names.
func (h *handler) publication(x *exchange) (*business.Publication, error) {
	if x.slug == "" {
		return h.Source.ByHost(x.r.Context(), HostOf(x.r))
	}
	if !business.ValidSlug(x.slug) {
		return nil, ErrUnknown
	}
	return h.Source.Publication(x.r.Context(), x.slug)
}

// credential judges what the request presents: nothing is fine everywhere, and what is presented must be good on every surface.
func (h *handler) credential(x *exchange, slug string) error {
	lines := x.r.Header["Authorization"]
	if len(lines) == 0 {
		return nil
	}
	scheme, bearer, _ := strings.Cut(lines[0], " ")
	if bearer = strings.TrimSpace(bearer); len(lines) > 1 || !strings.EqualFold(scheme, "Bearer") || bearer == "" {
		return ErrCredential
	}
	if err := h.Source.Owner(x.r.Context(), bearer, slug); err != nil {
		return err
	}
	x.owner = true
	return nil
}

// admit decides whether a content surface shows the publisher to this caller. The order is fixed: read, exists, credential, suspended, published.
func (h *handler) admit(x *exchange, p *business.Publication) error {
	if err := h.credential(x, p.Slug); err != nil {
		return err
	}
	return x.standing(p)
}

// standing is the part of admit that an export repeats on its own snapshot.
func (x *exchange) standing(p *business.Publication) error {
	x.preview = false
	switch {
	case p.Standing.Suspended && x.owner:
		return &problem{kind: kindSuspended}
	case p.Standing.IsPublished(x.now):
		return nil
	case !x.owner:
		return ErrUnknown
	}
	x.preview = true
	return nil
}

// redirect sends the client to a path of the same origin. path begins with one slash and a publisher's base, so that no tail can name another host.
func (x *exchange) redirect(path string) error {
	if query := x.r.URL.RawQuery; query != "" {
		path += "?" + query
	}
	header := x.w.Header()
	header["Cache-Control"] = x.cache(cacheShort)
	header["Location"] = []string{asciiOnly(path)}
	x.w.WriteHeader(http.StatusMovedPermanently)
	return nil
}

// asciiOnly percent-encodes what a header field should not hold.
func asciiOnly(s string) string {
	const hex = "0123456789ABCDEF"
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f {
			out = append(out, '%', hex[c>>4], hex[c&15])
		} else {
			out = append(out, c)
		}
	}
	return string(out)
}

func preflight(w http.ResponseWriter) {
	header := w.Header()
	header["Access-Control-Allow-Methods"] = allowMethods
	header["Access-Control-Allow-Headers"] = allowHeaders
	header["Access-Control-Max-Age"] = oneDay
	w.WriteHeader(http.StatusNoContent)
}

// publications are the published ones, in the order of slugs.
func (h *handler) publications(ctx context.Context, now time.Time) ([]*business.Publication, error) {
	all, err := h.Source.Publications(ctx)
	if err != nil {
		return nil, err
	}
	published := make([]*business.Publication, 0, len(all))
	for _, p := range all {
		if p.Standing.IsPublished(now) {
			published = append(published, p)
		}
	}
	return published, nil
}

// Header values that never change. They are assigned as slices, under canonical names, so that an answer allocates nothing for them; nobody appends to them
// in place because their capacity is their length.
var (
	anyOrigin    = []string{"*"}
	exposed      = []string{"ETag, Link, Location, Retry-After, X-Request-Id"}
	noSniff      = []string{"nosniff"}
	allowMethods = []string{"GET, HEAD, POST, OPTIONS"}
	allowHeaders = []string{"Accept, Authorization, Content-Type, If-None-Match, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id"}
	oneDay       = []string{"86400"}
	noStore      = []string{"no-store"}
	ownerOnly    = []string{"private, no-store"}
	cacheShort   = []string{"public, max-age=300"}
	cacheExport  = []string{"public, max-age=900"}
	cacheAsset   = []string{"public, max-age=3600"}
	varyAccept   = []string{"Accept"}

	typeJSON   = []string{"application/json"}
	typeHTML   = []string{"text/html; charset=utf-8"}
	typeText   = []string{"text/plain; charset=utf-8"}
	typeXML    = []string{"application/xml; charset=utf-8"}
	typeExport = []string{"application/x-ndjson; charset=utf-8"}
)
