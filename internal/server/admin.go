package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"sayso/business/bizhttp"
	"sayso/business/bundle"
	"sayso/internal/app"
	"sayso/jcs"
)

const (
	adminBase     = "/api/v1"
	answerTimeout = 30 * time.Second // for writing an answer, however long the act took
)

// api is the admin API: it reads requests, calls the registry's use cases and writes what they say. It decides nothing about who may do what.
type api struct {
	server   *Server
	registry *app.Registry
	routes   []adminRoute
	imports  imports
}

// call is one request on its way to a use case.
type call struct {
	*api
	ctx       context.Context
	w         http.ResponseWriter
	r         *http.Request
	route     *adminRoute
	actor     app.Actor
	path      map[string]string // decoded segments by the pattern's names
	query     url.Values        // only names that the route has, one value each
	operation string
}

func (c *call) slug() string { return c.path["slug"] }

// problem is a refusal of the API itself; those of the use cases are *app.Error.
type problem struct {
	status              int
	code, message, next string
	problems            []bundle.Problem // of a document or bundle
	moreProblems        int
	retryAfter          time.Duration
	allow               string
}

func (p *problem) Error() string { return p.message }

func refused(status int, code, format string, args ...any) *problem {
	return &problem{status: status, code: code, message: fmt.Sprintf(format, args...)}
}

func (p *problem) hint(format string, args ...any) *problem {
	p.next = fmt.Sprintf(format, args...)
	return p
}

// asProblem finds out what a refusal says to the client. What has no refusal in it is a fault, which the log gets and the client does not.
func (a *api) asProblem(requestID string, err error) *problem {
	var p *problem
	switch {
	case errors.As(err, &p):
		return p
	case errors.Is(err, bizhttp.ErrUnavailable), errors.Is(err, bizhttp.ErrKeysUnavailable):
		p = refused(http.StatusServiceUnavailable, "store_unavailable", "the registry could not be read; nothing was changed")
		p.retryAfter = 5 * time.Second
		return p
	}
	e := app.AsError(err)
	if e.Code == "internal" {
		a.server.options.Log.Error("an admin request failed", "request_id", requestID, "cause", err.Error())
	}
	return &problem{status: e.Kind.Status(), code: e.Code, message: e.Message, next: e.Next, retryAfter: e.RetryAfter}
}

// withProblems adds what a document or bundle was found to break to the refusal that follows from it.
func withProblems(err error, problems []bundle.Problem, more int) error {
	if e := app.AsError(err); len(problems) > 0 && e.Kind == app.KindInvalid {
		return &problem{status: e.Kind.Status(), code: e.Code, message: e.Message, next: e.Next, problems: problems, moreProblems: more}
	}
	return err
}

// admin serves the API.
func (s *Server) admin() http.Handler {
	a := &api{server: s, registry: s.options.Registry, routes: adminRoutes()}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		route, path, refusal := a.match(r)
		pattern := "unknown"
		if route != nil {
			pattern = adminBase + route.pattern
		}
		s.watched(w, r, pattern, refuseAdmin, func(w *answer) {
			if refusal != nil {
				a.refuse(w, refusal)
				return
			}
			a.answer(&call{api: a, ctx: r.Context(), w: w, r: r, route: route, path: path}, w)
		})
	})
}

// match finds the route of a request as it was sent: nothing is cleaned and nothing redirected, and an escaped slash stays inside its segment.
func (a *api) match(r *http.Request) (*adminRoute, map[string]string, *problem) {
	segments := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), adminBase+"/"), "/")
	var allowed []string
	for i := range a.routes {
		route := &a.routes[i]
		path, ok := fits(route.pattern, segments)
		switch {
		case ok && route.method == r.Method:
			return route, path, nil
		case ok:
			allowed = append(allowed, route.method)
		}
	}
	if allowed == nil {
		return nil, nil, refused(http.StatusNotFound, "not_found", "the admin API has no such path").hint("%s/openapi.json lists them", adminBase)
	}
	slices.Sort(allowed)
	p := refused(http.StatusMethodNotAllowed, "method_not_allowed", "this method is not offered here")
	p.allow = strings.Join(allowed, ", ")
	return nil, nil, p
}

// fits compares a pattern with escaped segments and decodes those that have a name.
func fits(pattern string, segments []string) (map[string]string, bool) {
	parts := strings.Split(pattern[1:], "/")
	if len(parts) != len(segments) {
		return nil, false
	}
	path := map[string]string{}
	for i, part := range parts {
		name, variable := strings.CutPrefix(part, "{")
		text, err := url.PathUnescape(segments[i])
		switch {
		case !variable && part != segments[i], err != nil, text == "":
			return nil, false
		case variable:
			path[strings.TrimSuffix(name, "}")] = text
		}
	}
	return path, true
}

// answer takes a request through the checks in their order and writes what came of it.
func (a *api) answer(c *call, w *answer) {
	value, err := c.do()
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTimeout))
	if err != nil {
		a.refuse(w, a.asProblem(w.id, err))
		return
	}
	if doc, ok := value.(document); ok {
		writeAdmin(w, http.StatusOK, doc)
		return
	}
	body, err := jcs.Encode(value)
	if err != nil {
		a.refuse(w, a.asProblem(w.id, err))
		return
	}
	writeAdmin(w, c.route.answerStatus(), body)
}

func (c *call) do() (any, error) {
	if err := crossSite(c.r); err != nil {
		return nil, err
	}
	if c.route.operations != nil {
		if err := c.authenticate(); err != nil {
			return nil, err
		}
	}
	if err := c.parameters(); err != nil {
		return nil, err
	}
	return c.route.serve(c)
}

// crossSite refuses what a page of another origin made a browser send. Such a page holds no token; it shall not learn either what stands here.
func crossSite(r *http.Request) error {
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "same-origin", "none":
	default:
		return refused(http.StatusForbidden, "cross_site", "the admin API does not answer pages of other sites")
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		if u, err := url.Parse(origin); err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) {
			return refused(http.StatusForbidden, "cross_site", "the admin API does not answer pages of other sites")
		}
	}
	return nil
}

// errCredential is one answer for every reason.
var errCredential = refused(http.StatusUnauthorized, "unauthorized", "the credential is not good here")

// authenticate finds out who asks. An owner's token that names another publisher, or the registry, is refused before anything of the request is read: the
// use case would say the same, after a body of any size.
func (c *call) authenticate() error {
	lines := c.r.Header["Authorization"]
	if len(lines) != 1 {
		return errCredential
	}
	scheme, bearer, _ := strings.Cut(lines[0], " ")
	if bearer = strings.TrimSpace(bearer); !strings.EqualFold(scheme, "Bearer") || bearer == "" {
		return errCredential
	}
	actor, err := c.registry.Authenticate(c.ctx, bearer)
	if err != nil {
		return err
	}
	if !actor.Operator() && actor.Publisher() != c.slug() {
		return errCredential
	}
	c.actor = actor
	return nil
}

// parameters reads the query and the key that makes an act repeatable.
func (c *call) parameters() error {
	query, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return refused(http.StatusBadRequest, "invalid_parameter", "the query is malformed")
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if !slices.ContainsFunc(c.route.query, func(p parameter) bool { return p.name == name }) {
			return refused(http.StatusBadRequest, "unknown_parameter", "there is no parameter %q here", name)
		}
		if len(query[name]) != 1 {
			return refused(http.StatusBadRequest, "invalid_parameter", "the parameter %q stands %d times", name, len(query[name]))
		}
	}
	c.query = query
	keys := c.r.Header["Idempotency-Key"]
	if len(keys) == 0 || c.r.Method == http.MethodGet {
		return nil
	}
	if len(keys) != 1 || len(keys[0]) < 1 || len(keys[0]) > 128 || strings.ContainsFunc(keys[0], func(r rune) bool { return r <= ' ' || r > '~' }) {
		return refused(http.StatusBadRequest, "invalid_idempotency_key", "an Idempotency-Key has 1 to 128 visible ASCII characters")
	}
	// The registry binds an operation to actor, act and publisher; here it is bound to the whole path, so that one key never stands for two tokens or hosts.
	sum := sha256.Sum256([]byte(c.r.Method + " " + c.r.URL.EscapedPath() + "\n" + keys[0]))
	c.operation = hex.EncodeToString(sum[:])
	return nil
}

// number reads a parameter that counts; absent is the given value.
func (c *call) number(name string, absent, least, most int64) (int64, error) {
	text, ok := c.query[name]
	if !ok {
		return absent, nil
	}
	n, err := strconv.ParseInt(text[0], 10, 64)
	if err != nil || n < least || n > most {
		return 0, refused(http.StatusBadRequest, "invalid_parameter", "the parameter %s is no number from %d to %d", name, least, most)
	}
	return n, nil
}

func (c *call) flag(name string) (bool, error) {
	switch text := c.query.Get(name); {
	case text == "true":
		return true, nil
	case text == "false", !c.query.Has(name):
		return false, nil
	}
	return false, refused(http.StatusBadRequest, "invalid_parameter", "the parameter %s is neither true nor false", name)
}

// refusalBody is the body of every refusal of the API.
type refusalBody struct {
	Error        string           `json:"error" desc:"code for machines"`
	Message      string           `json:"message" desc:"one sentence for people"`
	Next         string           `json:"next,omitempty" desc:"what to do"`
	RequestID    string           `json:"request_id" desc:"as the log and X-Request-Id have it"`
	Problems     []bundle.Problem `json:"problems,omitempty" desc:"what a document or bundle breaks"`
	MoreProblems int              `json:"more_problems,omitzero" desc:"problems that are not listed"`
}

func (a *api) refuse(w *answer, p *problem) {
	header := w.Header()
	if p.retryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(int((p.retryAfter+time.Second-1)/time.Second)))
	}
	switch p.status {
	case http.StatusUnauthorized:
		header.Set("Www-Authenticate", "Bearer")
	case http.StatusMethodNotAllowed:
		header.Set("Allow", p.allow)
	case http.StatusRequestTimeout, http.StatusRequestEntityTooLarge:
		header.Set("Connection", "close")
	}
	body, err := jcs.Encode(refusalBody{p.code, strings.ToValidUTF8(p.message, "\uFFFD"), p.next, w.id, p.problems, p.moreProblems})
	if err != nil {
		refuseAdmin(w, p.status, p.code, p.message)
		return
	}
	writeAdmin(w, p.status, body)
}

// refuseAdmin is the refusal after a panic.
func refuseAdmin(w *answer, status int, code, message string) {
	forget(w.Header())
	body := jcs.AppendString([]byte(`{"error":`), strings.ReplaceAll(code, " ", "_"))
	body = jcs.AppendString(append(body, `,"message":`...), strings.ToValidUTF8(message, "\uFFFD"))
	body = jcs.AppendString(append(body, `,"request_id":`...), w.id)
	writeAdmin(w, status, append(body, '}'))
}

func writeAdmin(w http.ResponseWriter, status int, body []byte) {
	header := w.Header()
	header.Set("Content-Type", "application/json; charset=utf-8")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	w.Write(append(body, '\n'))
}
