package server

import (
	"encoding/hex"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"sayso/jcs"
)

// front puts the limits around the public surfaces.
func (s *Server) front() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := s.target(r)
		s.watched(w, r, to.pattern, to.refuse, func(a *answer) {
			if s.limits != nil && to.dynamic && !s.allow(a, r, to) {
				return
			}
			if r.ContentLength != 0 {
				r.Body = http.MaxBytesReader(a, r.Body, maxBody)
			}
			if a.streams = to.streams; to.client {
				r = s.withClient(r)
			}
			to.handler.ServeHTTP(a, r)
			if s.limits != nil && to.byKey && a.status == http.StatusUnauthorized {
				s.limits.failed(clientAddress(r, s.options.TrustedProxies), time.Now())
			}
		})
	})
}

// watched puts the request id, the recovery, the metrics and the log around one exchange.
func (s *Server) watched(w http.ResponseWriter, r *http.Request, pattern string, refuse refuser, serve func(*answer)) {
	begin := time.Now()
	a := answers.Get().(*answer)
	*a = answer{ResponseWriter: w, id: requestID()}
	w.Header()["X-Request-Id"] = []string{a.id}
	s.metrics.inFlight.Inc()
	defer func() {
		s.metrics.inFlight.Dec()
		cut := false
		if fault := recover(); fault != nil {
			cut = s.recovered(a, r, pattern, refuse, fault)
		}
		s.metrics.observe(pattern, a.status, time.Since(begin))
		s.logRequest(a, r, pattern, begin)
		*a = answer{}
		answers.Put(a)
		if cut {
			panic(http.ErrAbortHandler) // net/http closes the connection without a word
		}
	}()
	serve(a)
}

// allow applies the rate limit and answers 429 when it is used up.
func (s *Server) allow(a *answer, r *http.Request, to target) bool {
	client, now := clientAddress(r, s.options.TrustedProxies), time.Now()
	if client.IsLoopback() && !s.options.LimitLoopback {
		return true
	}
	who, wait, ok := s.limits.take(r, client, to.byKey, now)
	if ok {
		return true
	}
	s.metrics.limited.Inc()
	a.Header().Set("Retry-After", strconv.Itoa(wait))
	to.refuse(a, http.StatusTooManyRequests, "rate limited", fmt.Sprintf("more than %d requests in this minute %s; try again in %d seconds", s.options.RateLimit, who, wait))
	return false
}

// refuser writes the body that a surface's refusals have.
type refuser func(a *answer, status int, code, message string)

// recovered answers a panic. cut says that the connection must be closed instead: an answer had begun, and its reader may not take a half for the whole.
// http.ErrAbortHandler is the one panic that means what it says.
func (s *Server) recovered(a *answer, r *http.Request, pattern string, refuse refuser, fault any) (cut bool) {
	if fault == http.ErrAbortHandler {
		return true
	}
	s.metrics.panics.Inc()
	s.options.Log.Error("a request failed", "request_id", a.id, "route", pattern, "method", r.Method, "panic", fmt.Sprint(fault), "stack", string(debug.Stack()))
	if a.status != 0 {
		return true
	}
	refuse(a, http.StatusInternalServerError, "internal error", "this answer could not be made; the fault is on the side of the server, request "+a.id)
	return false
}

func (s *Server) logRequest(a *answer, r *http.Request, pattern string, begin time.Time) {
	if log := s.options.Log; log.Enabled(r.Context(), slog.LevelDebug) {
		log.Debug("request", "request_id", a.id, "method", r.Method, "route", pattern, "status", a.status, "bytes", a.bytes, "duration", time.Since(begin))
	}
}

// forget takes headers away that a panic has left behind from another answer.
func forget(header http.Header) {
	for _, name := range []string{"Etag", "Last-Modified", "X-Facts-Status", "Link", "Location", "Content-Encoding", "Content-Length"} {
		header.Del(name)
	}
}

// writeProblem answers with the body of the facts surface's refusals.
func writeProblem(w http.ResponseWriter, status int, code, message string) {
	header := w.Header()
	forget(header)
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Access-Control-Expose-Headers", "ETag, Last-Modified, X-Facts-Status, Link, Retry-After")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	body := jcs.AppendString([]byte(`{"error":`), code)
	body = jcs.AppendString(append(body, `,"message":`...), message)
	w.Write(append(body, '}'))
}

// requestID needs to be distinct, not secret.
func requestID() string {
	var raw [8]byte
	n := rand.Uint64()
	for i := range raw {
		raw[i] = byte(n >> (8 * i))
	}
	var text [16]byte
	hex.Encode(text[:], raw[:])
	return string(text[:])
}

// answer observes what a handler writes.
type answer struct {
	http.ResponseWriter
	id     string
	status int
	bytes  int64
	// streams lets an event stream outlive the write timeout.
	streams bool
}

var answers = sync.Pool{New: func() any { return new(answer) }}

func (a *answer) WriteHeader(status int) {
	if a.status == 0 || a.status < 200 {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(b []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	a.keepStreaming()
	n, err := a.ResponseWriter.Write(b)
	a.bytes += int64(n)
	return n, err
}

// Flush serves event streams.
func (a *answer) Flush() { http.NewResponseController(a.ResponseWriter).Flush() }

// Unwrap serves http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// clientAddress is the peer, or, behind trusted proxies, the last address in X-Forwarded-For that is not one of them.
func clientAddress(r *http.Request, trusted []netip.Prefix) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	client := peer.Addr().Unmap().WithZone("")
	if !contains(trusted, client) {
		return client
	}
	hops := strings.Split(strings.Join(r.Header["X-Forwarded-For"], ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			return client
		}
		client = hop.Unmap().WithZone("")
		if !contains(trusted, client) {
			return client
		}
	}
	return client
}

func contains(prefixes []netip.Prefix, a netip.Addr) bool {
	for _, p := range prefixes {
		if p.Contains(a) {
			return true
		}
	}
	return false
}
