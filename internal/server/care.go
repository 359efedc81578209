package server

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"sayso/jcs"
)

// Level is the outcome of a readiness check.
type Level string

// The levels. A warning is shown and does not make the server unready: an old state that keeps serving is better than none.
const (
	LevelOK      Level = "ok"
	LevelWarning Level = "warning"
	LevelFailed  Level = "failed"
)

// Status is what a check found.
type Status struct {
	ID      string `json:"id"`
	Level   Level  `json:"level"`
	Message string `json:"message"`
}

// Check is one readiness check. It must answer quickly and from memory.
type Check func(ctx context.Context) Status

// Readiness is the body of /readyz.
type Readiness struct {
	Ready  bool     `json:"ready"`
	Checks []Status `json:"checks"`
}

// care serves the private listener.
func (s *Server) care() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.metrics.handler())
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, r *http.Request) {
		writeJSON(w, http.StatusOK, struct {
			Live bool `json:"live"`
		}{true})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		body, status := s.readiness(r.Context()), http.StatusOK
		if !body.Ready {
			status = http.StatusServiceUnavailable
			w.Header().Set("Retry-After", "5")
		}
		writeJSON(w, status, body)
	})
	served := "the private listener serves /livez, /readyz and /metrics"
	if s.options.Registry != nil {
		served += ", and the admin API below " + adminBase
	}
	if s.options.Inbox != nil {
		served += ", and the decisions at " + inboxBase
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeJSON(w, http.StatusNotFound, refusal{"not found", served})
	})
	var admin http.Handler
	if s.options.Registry != nil {
		admin = s.admin()
	}
	return s.namedHosts(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The mux would redirect paths that it can clean; an act is at the path that was sent, or nowhere.
		switch path := r.URL.EscapedPath(); {
		case admin != nil && strings.HasPrefix(path, adminBase+"/"):
			admin.ServeHTTP(w, r)
		case s.options.Inbox != nil && inboxPath(path):
			s.inbox(w, r)
		default:
			mux.ServeHTTP(w, r)
		}
	}))
}

// refusal is the body of every refusal here. Unlike those of the public listener it may not be read by other pages.
type refusal struct {
	Error   string `json:"error"`
	Message string `json:"message"`
}

// namedHosts refuses requests for other hosts than those of the private listener: a page somewhere else can make its own name lead here (DNS rebinding), and
// its visitor's browser would read the answer to it. No page can do that with an address, so every address is a good name.
func (s *Server) namedHosts(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.privateName(r.Host) {
			writeJSON(w, http.StatusForbidden, refusal{"host not allowed", "the private listener answers for its address, localhost and the configured admin host only"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// privateName reports whether a Host header names the private listener: an IP address, localhost, or one of Options.PrivateHosts.
func (s *Server) privateName(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), "."))
	if _, err := netip.ParseAddr(host); err == nil || host == "localhost" {
		return true
	}
	return slices.ContainsFunc(s.options.PrivateHosts, func(h string) bool { return strings.EqualFold(h, host) })
}

func (s *Server) readiness(ctx context.Context) Readiness {
	r := Readiness{Ready: true, Checks: []Status{}}
	for _, check := range s.options.Checks {
		r.Checks = append(r.Checks, check(ctx))
	}
	if s.watcher != nil {
		r.Checks = append(r.Checks, s.watcher.status())
	}
	if s.options.Registry != nil {
		r.Checks = append(r.Checks, registryStatus(s.options.Registry.Gauges()))
	}
	for _, c := range r.Checks {
		r.Ready = r.Ready && c.Level != LevelFailed
	}
	return r
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := jcs.Encode(v)
	if err != nil {
		writeProblem(w, http.StatusInternalServerError, "internal error", "the answer could not be written")
		return
	}
	header := w.Header()
	header.Set("Content-Type", "application/json; charset=utf-8")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	w.Write(append(body, '\n'))
}
