package factshttp

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"sayso/facts"
)

// HandlerOptions are what the surface needs besides the catalogue.
type HandlerOptions struct {
	// Snapshot returns the catalogue to serve. It is called once per request, so a swap is seen whole or not at all. Nil means that there is none yet:
	// every route answers 503 with Retry-After.
	Snapshot func() *facts.Snapshot
	// Clock is the instant that decides "today" (UTC). Nil is time.Now.
	Clock func() time.Time
	// Pages renders HTML. Nil, or a nil function in it, means that this form is not offered.
	Pages *facts.Pages
	// MCP answers /api/mcp/facts, its preflight included. Nil: that path and its server card answer 404.
	MCP http.Handler
	// ServerCardVersion is the version member of the server card.
	ServerCardVersion string
	// Report receives the cause of every 500 answer. The client sees none of it. Nil drops it.
	Report func(r *http.Request, cause error)
}

// Handler serves the public surface of one facts publisher: every route of Routes, over whatever snapshot the options return. It never redirects, never
// reads the Host header and writes nothing.
func Handler(o HandlerOptions) http.Handler {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Pages == nil {
		o.Pages = &facts.Pages{}
	}
	if o.Report == nil {
		o.Report = func(*http.Request, error) {}
	}
	return &handler{HandlerOptions: o, assets: assetDocuments(o.Pages.Assets)}
}

type handler struct {
	HandlerOptions
	assets map[string]*document

	mu      sync.Mutex // held while a view of a new snapshot is made
	current atomic.Pointer[view]
	second  atomic.Pointer[moment]
}

// exchange is one request on its way to an answer.
type exchange struct {
	w    http.ResponseWriter
	r    *http.Request
	id   routeID
	rest string // variable part of the path, decoded
	form form
	*view
	*moment
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, rest := match(r.URL.Path)
	if id == routeMCP && h.MCP != nil {
		h.MCP.ServeHTTP(w, r)
		return
	}
	header := w.Header()
	header["Access-Control-Allow-Origin"] = anyOrigin
	header["Access-Control-Expose-Headers"] = exposed
	header["X-Content-Type-Options"] = noSniff
	if r.Method == http.MethodOptions {
		preflight(w)
		return
	}
	x := exchange{w: w, r: r, id: id, rest: rest, moment: h.now()}
	if err := h.serve(&x); err != nil {
		h.refuse(&x, err)
	}
}

// serve writes an answer or returns why there is none; nothing has been written when it returns an error.
func (h *handler) serve(x *exchange) error {
	if id := x.id; id == routeNone || id == routeMCP || id == routeCard && h.MCP == nil {
		x.view = h.view()
		h.negotiate(x, h.Pages.Problem != nil)
		return &problem{kind: kindNotFound, message: "nothing is served at this path; the index of facts is at /f"}
	}
	if m := x.r.Method; m != http.MethodGet && m != http.MethodHead && (m != http.MethodPost || x.id != routeIndex) {
		return &problem{kind: kindMethod, message: "method " + quoteMethod(m) + " is not offered here"}
	}
	if x.id == routeAsset {
		return h.serveAsset(x)
	}
	if x.view = h.view(); x.view == nil {
		return &problem{kind: kindUnavailable, message: "no catalogue is loaded yet; try again in a few seconds"}
	}
	switch x.id {
	case routeRecord:
		return h.serveRecord(x)
	case routeIndex, routeIndexFile:
		return h.serveFacts(x)
	case routeFront:
		return h.serveIndex(x, "", h.negotiate(x, h.Pages.Index != nil))
	case routeResolve:
		return h.serveResolve(x)
	case routeChanges:
		return h.serveChanges(x)
	case routeChangesPage:
		return h.serveChangesPage(x)
	case routeProtocol:
		return h.serveProtocol(x)
	default:
		return h.serveDescription(x)
	}
}

// view returns what is derived from the present snapshot, made once for each.
func (h *handler) view() *view {
	s := h.Snapshot()
	if s == nil {
		return nil
	}
	if v := h.current.Load(); v != nil && v.snapshot == s {
		return v
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if v := h.current.Load(); v != nil && v.snapshot == s {
		return v
	}
	v := newView(s)
	h.current.Store(v)
	return v
}

// quoteMethod keeps a hostile method name from filling the message.
func quoteMethod(m string) string {
	if len(m) > 20 {
		return "of that name"
	}
	return m
}

func preflight(w http.ResponseWriter) {
	header := w.Header()
	header["Access-Control-Allow-Methods"] = allowMethods
	header["Access-Control-Allow-Headers"] = allowHeaders
	header["Access-Control-Max-Age"] = oneDay
	w.WriteHeader(http.StatusNoContent)
}

// Header values that never change. They are assigned as slices, under canonical names, so that an answer allocates nothing for them; nobody appends to them
// in place because their capacity is their length.
var (
	anyOrigin    = []string{"*"}
	exposed      = []string{"ETag, Last-Modified, X-Facts-Status, Link, Retry-After"}
	noSniff      = []string{"nosniff"}
	allowMethods = []string{"GET, HEAD, POST, OPTIONS"}
	allowHeaders = []string{"Content-Type, Accept"}
	oneDay       = []string{"86400"}
	noStore      = []string{"no-store"}
	cacheHour    = []string{"public, max-age=3600"}
	cacheDay     = []string{"public, max-age=86400"}
	varyAccept   = []string{"Accept"}
	varyCoding   = []string{"Accept, Accept-Encoding"}
	gzipCoding   = []string{"gzip"}
	statusFresh  = []string{facts.StatusFresh}
	statusStale  = []string{facts.StatusStale}

	typeJSON = []string{"application/json; charset=utf-8"}
	typeText = []string{"text/plain; charset=utf-8"}
	typeHTML = []string{"text/html; charset=utf-8"}
)
