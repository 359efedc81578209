package server

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"sayso/business/bizhttp"
	"sayso/jcs"
)

// target is where a request to the public listener goes.
type target struct {
	handler http.Handler
	pattern string // of the surface's route table, or "unknown": a closed set
	dynamic bool   // the rate limit counts it
	byKey   bool   // it is counted by credential when there is one
	refuse  refuser
	client  bool // the handler asks for ClientAddress
	streams bool // the handler may answer with an event stream
}

// byKey are the routes whose callers hold keys of their own.
var byKey = map[string]bool{"/mcp": true, "/t/{p}/mcp": true, "/discovery/query": true}

// target decides which surface answers. GIDP has its own paths but under a publisher's own host; of the others bizhttp.Belongs says whose a path is where both
// are there, and a server with one of them gives it every path.
func (s *Server) target(r *http.Request) target {
	path := r.URL.EscapedPath()
	if to, ok := s.gidpTarget(path); ok && (s.business == nil || !s.ownHost(r)) {
		return to
	}
	if s.business != nil && (s.options.Public == nil || bizhttp.Belongs(path, false) || s.ownHost(r)) {
		route, _ := bizhttp.Match(path)
		return target{handler: s.business, pattern: route.Pattern, dynamic: route.Dynamic, byKey: byKey[route.Pattern], refuse: refuseBusiness}
	}
	if s.options.Public == nil {
		return target{handler: http.HandlerFunc(nothing), pattern: "unknown", refuse: refusePlain}
	}
	pattern, dynamic := s.options.Classify(r.URL.Path)
	return target{handler: s.options.Public, pattern: pattern, dynamic: dynamic, refuse: refuseFacts}
}

// ownHost reports whether the Host of a request is one that a publisher was recorded for. While the registry cannot say it, every name but the registry's own
// may be one: a facts document under a business's own name would speak for the business.
func (s *Server) ownHost(r *http.Request) bool {
	host := bizhttp.HostOf(r)
	_, err := s.options.Registry.ByHost(r.Context(), host)
	if errors.Is(err, bizhttp.ErrUnavailable) {
		origin, parsed := url.Parse(s.options.Registry.Site().Origin)
		return parsed != nil || host != strings.ToLower(origin.Hostname()) && !s.privateName(host)
	}
	return err == nil
}

// businessSurface serves the registry's documents and pages.
func (s *Server) businessSurface() http.Handler {
	return bizhttp.Handler(bizhttp.HandlerOptions{
		Source: s.options.Registry, Pages: s.options.Pages, Call: s.options.Call,
		Report: func(r *http.Request, cause error) {
			route, _ := bizhttp.Match(r.URL.EscapedPath())
			s.options.Log.Error("an answer could not be made", "route", route.Pattern, "cause", cause.Error())
		},
	})
}

func refuseFacts(a *answer, status int, code, message string) { writeProblem(a, status, code, message) }

// refuseBusiness writes the body of package bizhttp's refusals: codes are one word, and the request id is a member.
func refuseBusiness(a *answer, status int, code, message string) {
	header := a.Header()
	forget(header)
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Access-Control-Expose-Headers", "ETag, Link, Location, Retry-After, X-Request-Id")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Type", "application/json")
	a.WriteHeader(status)
	body := jcs.AppendString([]byte(`{"error":`), strings.ReplaceAll(code, " ", "_"))
	body = jcs.AppendString(append(body, `,"message":`...), message)
	body = jcs.AppendString(append(body, `,"request_id":`...), a.id)
	a.Write(append(body, '}'))
}
