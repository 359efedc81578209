package bizhttp

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"

	"sayso/jcs"
)

// kind classifies a refusal. problemTable is the only place that knows its status, its machine code and whether trying again helps.
type kind uint8

const (
	kindInternal kind = iota
	kindUnknownPublisher
	kindUnauthorized
	kindSuspended
	kindPublisherUnavailable
	kindKeysUnavailable
	kindListUnavailable
	kindNoAnchor
	kindRequest
	kindNotFound
	kindMethod
)

var problemTable = [...]struct {
	status  int
	code    string // the member "error"
	message string // used when the refusal brings none of its own
	retry   bool
}{
	kindInternal:             {http.StatusInternalServerError, "internal_error", "this answer could not be made; the fault is on the side of the server", false},
	kindUnknownPublisher:     {http.StatusNotFound, "unknown_publisher", "no publisher is served at this address", false},
	kindUnauthorized:         {http.StatusUnauthorized, "unauthorized", "the credential is not good here; send none to read what is public", false},
	kindSuspended:            {http.StatusForbidden, "publisher_suspended", "the registry suspended this publisher; ask its operator", false},
	kindPublisherUnavailable: {http.StatusServiceUnavailable, "publisher_unavailable", "the publisher could not be read; this says nothing about it, try again", true},
	kindKeysUnavailable:      {http.StatusServiceUnavailable, "key_set_unavailable", "the key set could not be read in full; try again", true},
	kindListUnavailable:      {http.StatusServiceUnavailable, "revocation_list_unavailable", "no signed revocation list can be had now; try again", true},
	kindNoAnchor:             {http.StatusServiceUnavailable, "no_anchor", "this deployment does not know its own public origin", false},
	kindRequest:              {http.StatusBadRequest, "invalid_request", "the request cannot be answered as it stands", false},
	kindNotFound:             {http.StatusNotFound, "not_found", "nothing is served at this path", false},
	kindMethod:               {http.StatusMethodNotAllowed, "method_not_allowed", "this method is not offered here", false},
}

// retryAfter is the Retry-After of everything that another attempt may cure, in seconds.
const retryAfter = "5"

// problem is a refusal on its way to the client.
type problem struct {
	kind    kind
	message string // one sentence for a person; "" = that of the table
	cause   error  // reported, never shown
}

func (p *problem) Error() string {
	if p.cause != nil {
		return p.cause.Error()
	}
	return problemTable[p.kind].code
}

// sourceProblems maps what a Source says.
var sourceProblems = []struct {
	err  error
	kind kind
}{
	{ErrUnknown, kindUnknownPublisher},
	{ErrNoRecord, kindNotFound},
	{ErrCredential, kindUnauthorized},
	{ErrUnavailable, kindPublisherUnavailable},
	{ErrKeysUnavailable, kindKeysUnavailable},
	{ErrListUnavailable, kindListUnavailable},
	{context.Canceled, kindPublisherUnavailable},
	{context.DeadlineExceeded, kindPublisherUnavailable},
}

func asProblem(err error) *problem {
	var p *problem
	if errors.As(err, &p) {
		return p
	}
	for _, row := range sourceProblems {
		if errors.Is(err, row.err) {
			return &problem{kind: row.kind}
		}
	}
	return &problem{cause: err}
}

// unread is what an error in the middle of a publisher's records means: a read that did not finish says nothing about the publisher.
func unread(err error) error {
	if p := asProblem(err); p.kind == kindInternal {
		return &problem{kind: kindPublisherUnavailable, cause: err}
	}
	return err
}

// refuse renders an error: as a page for a browser, as JSON for everybody else.
func (h *handler) refuse(x *exchange, err error) {
	p := asProblem(err)
	row := problemTable[p.kind]
	if own := (*Refusal)(nil); errors.As(err, &own) {
		row.status, row.code, p = own.Status, own.Code, &problem{kind: kindRequest, message: own.Message}
	}
	if p.cause != nil {
		h.Report(x.r, p.cause)
	}
	if p.message == "" {
		p.message = row.message
	}
	header := x.w.Header()
	for _, name := range []string{"Etag", "Link", "Content-Length", "Location"} {
		delete(header, name)
	}
	header["Cache-Control"] = noStore
	header["Vary"] = varyAccept
	if row.retry {
		header.Set("Retry-After", retryAfter)
	}
	switch p.kind {
	case kindMethod:
		header.Set("Allow", strings.Join(routes[x.id].Methods, ", "))
	case kindUnauthorized:
		header.Set("Www-Authenticate", "Bearer")
	}
	body := h.problemBody(x, row.status, row.code, p.message)
	x.w.WriteHeader(row.status)
	if x.r.Method != http.MethodHead {
		x.w.Write(body)
	}
}

// problemBody falls back to JSON when the page cannot be rendered.
func (h *handler) problemBody(x *exchange, status int, code, message string) []byte {
	header := x.w.Header()
	id := requestID(header)
	if _, browser := acceptedForm(x.r.Header["Accept"]); browser && h.Pages.Problem != nil {
		var page bytes.Buffer
		if err := h.Pages.Problem(&page, status, code, message, id); err == nil {
			h.setPolicy(header)
			header["Content-Type"] = typeHTML
			return page.Bytes()
		}
	}
	header["Content-Type"] = typeJSON
	body := jcs.AppendString([]byte(`{"error":`), code)
	body = jcs.AppendString(append(body, `,"message":`...), strings.ToValidUTF8(message, "\uFFFD"))
	body = jcs.AppendString(append(body, `,"request_id":`...), id)
	return append(body, '}')
}

// requestID is the one a server in front has set already, else a new one. It needs to be distinct, not secret.
func requestID(header http.Header) string {
	const name = "X-Request-Id"
	if set := header[name]; len(set) == 1 && set[0] != "" {
		return set[0]
	}
	id := strconv.FormatUint(rand.Uint64()|1<<63, 16)
	header[name] = []string{id}
	return id
}

// setPolicy adds what every page carries.
func (h *handler) setPolicy(header http.Header) {
	if h.Pages.CSP != "" {
		header["Content-Security-Policy"] = []string{h.Pages.CSP}
	}
}
