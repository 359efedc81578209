package bizhttp

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sayso/business"
)

// Refusal is an error of HandlerOptions.Call with a status of its own. Its body is that of every refusal.
type Refusal struct {
	Status  int
	Code    string // the member "error": one word
	Message string // one sentence for a person, without internals
}

func (r *Refusal) Error() string { return r.Message }

// serveCall hands a POST over to the endpoint of a publisher or of the registry. The Host is judged before the credential: a page that rebound a name to this
// server learns nothing of what a browser sent along.
func (h *handler) serveCall(x *exchange) error {
	own := isOwnHost(x.site, HostOf(x.r))
	p, err := h.publication(x)
	switch {
	case err == nil:
	case own && x.slug == "" && errors.Is(err, ErrUnknown) && h.Call != nil:
		if err := h.credential(x, ""); err != nil {
			return err
		}
		return h.Call(x.w, x.r, nil)
	default:
		return err
	}
	if !own && !reaches(x.site, p, HostOf(x.r)) {
		return &Refusal{http.StatusForbidden, "host_not_allowed",
			"tools answer under the host of the configured origin and under the publisher's own; let the proxy keep the Host header, or set the origin to the name that clients use"}
	}
	if err := h.admit(x, p); err != nil {
		return err
	}
	switch {
	case h.Call == nil:
		return &problem{kind: kindNotFound, message: "this publisher serves no tools; its records are in the pages and the export that its manifest names"}
	case x.preview:
		return &problem{kind: kindUnknownPublisher, message: "this publisher is not published, so nothing it says is signed and its tools answer nobody; publish it first"}
	}
	return h.Call(x.w, x.r, p)
}

// isOwnHost reports whether a Host is the registry's: that of its origin and, when that is a loopback address, every spelling of one.
func isOwnHost(s business.Site, host string) bool {
	origin, err := url.Parse(s.Origin)
	if err != nil || origin.Host == "" {
		return false
	}
	name := strings.ToLower(origin.Hostname())
	return host == name || isLoopback(name) && isLoopback(host)
}

func isLoopback(host string) bool {
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// reaches reports whether a Host is one of a publisher's own, or that of the origin under which it is reached.
func reaches(s business.Site, p *business.Publication, host string) bool {
	if slices.Contains(p.Hosts, host) {
		return true
	}
	at, err := url.Parse(s.Locators(p).Manifest)
	return err == nil && host == strings.ToLower(at.Hostname())
}
