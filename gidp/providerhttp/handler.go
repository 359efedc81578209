package providerhttp

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"sayso/gidp/httpsig"
	"sayso/gidp/provider"
	"sayso/jcs"
	"sayso/jwk"
)

// route is one operation.
type route int

const (
	routeNone route = iota
	routeInfo
	routePublish
	routeProjection // update and withdraw
	routeCandidates
	routeResolve
	routeReports
	routes
)

var patterns = [routes]string{"unknown", Base, Base + "projections", Base + "projections/{ref}", Base + "candidates", Base + "candidates/{ref}/resolve", Base + "reports"}

// String is the pattern of a route.
func (r route) String() string { return patterns[r] }

var methods = [routes][]string{
	routeInfo: {http.MethodGet, http.MethodHead}, routePublish: {http.MethodPost}, routeProjection: {http.MethodPut, http.MethodDelete}, routeCandidates: {http.MethodPost},
	routeResolve: {http.MethodPost}, routeReports: {http.MethodPost},
}

// Match names the route of a request path as it was sent (url.URL.EscapedPath) for metrics: a pattern of a closed set, "unknown" for what answers 404.
func Match(path string) string {
	r, _ := match(path)
	return r.String()
}

func match(path string) (route, string) {
	if path+"/" == Base {
		return routeInfo, ""
	}
	rest, ok := strings.CutPrefix(path, Base)
	if !ok {
		return routeNone, ""
	}
	switch parts := strings.Split(rest, "/"); {
	case rest == "":
		return routeInfo, ""
	case rest == "projections":
		return routePublish, ""
	case rest == "candidates":
		return routeCandidates, ""
	case rest == "reports":
		return routeReports, ""
	case len(parts) == 2 && parts[0] == "projections" && parts[1] != "":
		return routeProjection, parts[1]
	case len(parts) == 3 && parts[0] == "candidates" && parts[1] != "" && parts[2] == "resolve":
		return routeResolve, parts[1]
	}
	return routeNone, ""
}

// window is how far the clock of a caller may be off; a signature is remembered for twice that.
const window = 5 * time.Minute

// exchange is one signed request.
type exchange struct {
	context.Context
	r      *http.Request
	ref    string // segment of the path
	body   []byte
	now    time.Time
	caller provider.Caller
}

// Handler serves Base and what is below it.
func (s *Service) Handler() http.Handler { return http.HandlerFunc(s.serve) }

func (s *Service) serve(w http.ResponseWriter, r *http.Request) {
	status, out, err := s.answer(w, r)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	write(w, status, out)
}

// answer returns what is to be written; nothing has been written when it returns an error.
func (s *Service) answer(w http.ResponseWriter, r *http.Request) (status int, out any, err error) {
	to, ref := match(r.URL.EscapedPath())
	switch {
	case to == routeNone:
		return 0, nil, refuse(CodeNotFound, "nothing is served at this path; the information document is at "+Base)
	case !slices.Contains(methods[to], r.Method):
		w.Header().Set("Allow", strings.Join(methods[to], ", "))
		return 0, nil, refuse(CodeMethod, "this path has other methods; Allow names them")
	case r.URL.RawQuery != "" || r.URL.ForceQuery:
		return 0, nil, refuse(provider.CodeMalformed, "no operation has a query; everything stands in the body, which is signed")
	case to == routeInfo:
		w.Header().Set("Cache-Control", "public, max-age=300")
		return http.StatusOK, s.info, nil
	}
	s.counts[to].Add(1)
	x := &exchange{Context: r.Context(), r: r, ref: ref, now: s.o.Now()}
	if x.body, err = readBody(w, r); err != nil {
		return 0, nil, err
	}
	switch {
	case to == routePublish:
		return s.publish(x)
	case to == routeProjection && r.Method == http.MethodPut:
		return s.update(x)
	case to == routeProjection:
		return s.withdraw(x)
	case to == routeCandidates:
		return s.candidates(x)
	case to == routeResolve:
		return s.resolve(x)
	}
	return s.report(x)
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	kind, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	charset := parameters["charset"]
	if err != nil || kind != "application/json" || charset != "" && !strings.EqualFold(charset, "utf-8") || r.Header.Get("Content-Encoding") != "" {
		return nil, refuse(CodeMediaType, "a body is application/json in UTF-8 without a content coding")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, provider.MaxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, refuse(CodeTooLarge, "a body has at most "+strconv.Itoa(provider.MaxBody)+" bytes")
	case err != nil:
		return nil, refuse(provider.CodeMalformed, "the body did not arrive whole")
	}
	return body, nil
}

// authenticate holds a request to the signature of the key that its body names, and to who may call here at all.
func (s *Service) authenticate(x *exchange, key jcs.Raw) error {
	unsigned := func(err error) error {
		detail := "the request is not signed as this protocol asks"
		var signature *httpsig.Error
		var key *jwk.Error
		switch {
		case errors.As(err, &signature):
			detail = signature.Error()
		case errors.As(err, &key):
			detail = "key: " + key.Detail
		}
		return &provider.Error{Code: CodeUnsigned, Detail: detail + "; sign it for the authority of the origin that the information document names"}
	}
	m := httpsig.Message{Method: x.r.Method, Authority: s.authority, Path: x.r.URL.EscapedPath(), Header: x.r.Header, Body: x.body}
	signature, err := httpsig.Read(httpsig.Provider, m)
	if err != nil {
		return unsigned(err)
	}
	pub, err := jwk.ParsePublic(key)
	if err != nil {
		return unsigned(err)
	}
	if err := signature.Verify(m, pub, x.now, window); err != nil {
		return unsigned(err)
	}
	name := jwk.Thumbprint(pub)
	thumb, err := jwk.DecodeBase64URL(name)
	if err != nil {
		return err
	}
	x.caller = provider.Caller{Key: provider.Thumbprint(thumb), Addr: s.o.Address(x.r)}
	if s.shut(x.caller.Addr, x.now) {
		return refuse(provider.CodeBanned, "shut out for abuse")
	}
	tier, ok := s.tier(x, name)
	if !ok {
		return refuse(CodeMembers, "this provider serves the members of its trust domain")
	}
	x.caller.Tier = tier
	return nil
}

// readKey reads a body that holds a key and nothing else.
func readKey(body []byte) (jcs.Raw, error) {
	var in keyBody
	if err := jcs.DecodeKnown(body, &in); err != nil || len(in.Key) == 0 || in.Key[0] != '{' {
		return nil, refuse(provider.CodeMalformed, "the body is one JSON object with the member key, the public key of the request as a JWK")
	}
	return in.Key, nil
}

func (s *Service) candidates(x *exchange) (int, any, error) {
	q, err := provider.ReadQuery(x.body)
	if err != nil {
		return 0, nil, err
	}
	if err := s.authenticate(x, q.Key); err != nil {
		return 0, nil, err
	}
	found, err := s.index.Candidates(x.now, x.caller, q)
	if err != nil {
		return 0, nil, err
	}
	page := Page{Candidates: make([]Candidate, len(found.Candidates)), Cursor: found.Cursor}
	for i, c := range found.Candidates {
		page.Candidates[i] = Candidate{c.CandidateRef, c.Ref.String()}
	}
	return http.StatusOK, page, nil
}

func (s *Service) resolve(x *exchange) (int, any, error) {
	key, err := readKey(x.body)
	if err != nil {
		return 0, nil, err
	}
	if err := s.authenticate(x, key); err != nil {
		return 0, nil, err
	}
	at, err := s.index.Resolve(x.now, x.caller, x.ref)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, resolution{at.URL, at.Ref.String()}, nil
}

// refuse writes why a request had no effect. What is no refusal is a fault, which the log gets and the caller does not.
func (s *Service) refuse(w http.ResponseWriter, r *http.Request, err error) {
	var e *provider.Error
	if !errors.As(err, &e) {
		if !errors.Is(err, context.Canceled) {
			s.o.Log.Error("a request to the provider could not be answered", "route", Match(r.URL.EscapedPath()), "cause", err.Error())
		}
		e = &provider.Error{Code: CodeUnavailable, Detail: "this could not be done now; send it again", RetryAfter: retryAfter}
	}
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(seconds(e.RetryAfter)))
	}
	message := e.Detail
	if e.Place != "" {
		message = e.Place + ": " + message
	}
	write(w, statuses[e.Code], problem{e.Code, message})
}

const retryAfter = 2 * time.Second

func write(w http.ResponseWriter, status int, out any) {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("X-Content-Type-Options", "nosniff")
	if header.Get("Cache-Control") == "" {
		header.Set("Cache-Control", "no-store")
	}
	body, err := jcs.Encode(out)
	if err != nil { // only text that is not UTF-8 could be the reason, and rows hold none
		status, body = http.StatusInternalServerError, []byte(`{"error":"internal","message":"the answer could not be written"}`)
	}
	w.WriteHeader(status)
	w.Write(body)
}

func refuse(code provider.Code, detail string) *provider.Error {
	return &provider.Error{Code: code, Detail: detail}
}
