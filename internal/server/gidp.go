package server

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sayso/gidp/providerhttp"
	"sayso/gidp/wire"
	"sayso/jcs"
)

const (
	agentsBase  = "/a2a/"
	schemasBase = "/schema/gidp/"
	inboxBase   = "/inbox"
)

// Gauge is one number for /metrics, read when it is scraped. Its name is a constant of the program; there are no labels.
type Gauge struct {
	Name, Help string // the name without "sayso_"
	Value      func() float64
}

func (s *Server) addGauges() {
	for _, g := range s.options.Gauges {
		s.metrics.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "sayso_" + g.Name, Help: g.Help}, g.Value))
	}
}

// gidpTarget is where a path of the GIDP surfaces goes; false for any other path.
func (s *Server) gidpTarget(path string) (target, bool) {
	switch {
	case s.options.Agents != nil && strings.HasPrefix(path, agentsBase):
		return target{handler: s.options.Agents, pattern: agentsPattern(path), dynamic: true, refuse: refusePlain, client: true, streams: true}, true
	case s.options.Provider != nil && (strings.HasPrefix(path, providerhttp.Base) || path+"/" == providerhttp.Base):
		return target{handler: s.options.Provider, pattern: providerhttp.Match(path), dynamic: true, refuse: refuseProvider, client: true}, true
	case s.schemas != nil && strings.HasPrefix(path, schemasBase):
		return target{handler: s.schemas, pattern: schemasBase + "{name}", refuse: refusePlain}, true
	}
	return target{}, false
}

// agentsPattern names the route of an agent's path. No reference is ever part of it.
func agentsPattern(path string) string {
	_, tail, _ := strings.Cut(strings.TrimPrefix(path, agentsBase), "/")
	switch {
	case tail == "":
		return agentsBase + "{ref}"
	case tail == "rpc", tail == ".well-known/agent-card.json":
		return agentsBase + "{ref}/" + tail
	case strings.HasPrefix(tail, "v1/"):
		return agentsBase + "{ref}/v1"
	}
	return "unknown"
}

// refusePlain writes a refusal that other pages cannot read: no page calls an agent or a provider.
func refusePlain(a *answer, status int, code, message string) {
	forget(a.Header())
	writeJSON(a, status, refusal{code, message})
}

// refuseProvider uses the codes of the provider protocol for what the server refuses in its place.
func refuseProvider(a *answer, status int, code, message string) {
	switch status {
	case http.StatusTooManyRequests:
		code = "quota"
	case http.StatusInternalServerError:
		code = "internal"
	}
	refusePlain(a, status, code, message)
}

// nothing answers where no surface owns the path.
func nothing(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusNotFound, refusal{"not found", "nothing is served at this path"})
}

// schemaHandler serves the JSON Schemas of GIDP by their names, and their list.
func schemaHandler(agents, provider bool) http.Handler {
	documents := map[string][]byte{}
	for _, t := range wire.Types() {
		if agents || t == wire.TypeDiscoveryProjection {
			documents[string(t)+".json"] = wire.Schema(t)
		}
	}
	if provider {
		for name, text := range providerhttp.Schemas() {
			documents[name+".json"] = text
		}
	}
	names := []string{}
	for name := range documents {
		names = append(names, name)
	}
	slices.Sort(names)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			writeJSON(w, http.StatusMethodNotAllowed, refusal{"method not allowed", "a schema is read with GET"})
			return
		}
		name := strings.TrimPrefix(r.URL.EscapedPath(), schemasBase)
		text, ok := documents[name]
		kind := "application/schema+json"
		if name == "" {
			kind, ok = "application/json", true
			text, _ = jcs.Encode(struct {
				Schemas []string `json:"schemas"`
			}{names})
		}
		if !ok {
			writeJSON(w, http.StatusNotFound, refusal{"not found", "no schema of that name; " + schemasBase + " lists them"})
			return
		}
		header := w.Header()
		header.Set("Access-Control-Allow-Origin", "*")
		header.Set("Content-Type", kind)
		header.Set("Cache-Control", "public, max-age=3600")
		header.Set("X-Content-Type-Options", "nosniff")
		w.Write(text)
	})
}

// inbox puts the limits around the page of decisions. Its own handler guards the forms.
func (s *Server) inbox(w http.ResponseWriter, r *http.Request) {
	s.watched(w, r, inboxBase, refusePlain, func(a *answer) {
		r.Body = http.MaxBytesReader(a, r.Body, maxBody)
		s.options.Inbox.ServeHTTP(a, r)
	})
}

func inboxPath(path string) bool { return path == inboxBase || strings.HasPrefix(path, inboxBase+"/") }

// clientKey is where the address of the client stands in the context of a request.
type clientKey struct{}

// ClientAddress is the address of the client of a request to Options.Agents or Options.Provider: the peer, or what trusted proxies say of it. For any other
// request it is the zero Addr.
func ClientAddress(r *http.Request) netip.Addr {
	a, _ := r.Context().Value(clientKey{}).(netip.Addr)
	return a
}

// withClient hands the client's address on.
func (s *Server) withClient(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), clientKey{}, clientAddress(r, s.options.TrustedProxies)))
}

// keepStreaming lets an event stream outlive the limits of an ordinary exchange: each part of it has its own time to leave. A reader that takes nothing for
// that long is cut off.
func (a *answer) keepStreaming() {
	if !a.streams || a.status != http.StatusOK || !strings.HasPrefix(a.Header().Get("Content-Type"), "text/event-stream") {
		return
	}
	http.NewResponseController(a.ResponseWriter).SetWriteDeadline(time.Now().Add(writeTimeout))
}
