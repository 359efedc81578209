package factshttp

import (
	"bytes"
	"errors"
	"net/http"
	"strings"

	"sayso/facts"
	"sayso/jcs"
)

// kind classifies a refusal. problemTable is the only place that knows its status and its machine code.
type kind uint8

const (
	kindInternal kind = iota
	kindParameter
	kindBody
	kindNotFound
	kindMethod
	kindTooLarge
	kindMediaType
	kindUnavailable
)

var problemTable = [...]struct {
	status int
	code   string // the member "error"
	title  string
}{
	kindInternal:    {http.StatusInternalServerError, "internal error", "Internal error"},
	kindParameter:   {http.StatusBadRequest, "invalid parameter", "Invalid parameter"},
	kindBody:        {http.StatusBadRequest, "invalid body", "Invalid body"},
	kindNotFound:    {http.StatusNotFound, "not found", "Not found"},
	kindMethod:      {http.StatusMethodNotAllowed, "method not allowed", "Method not allowed"},
	kindTooLarge:    {http.StatusRequestEntityTooLarge, "body too large", "Body too large"},
	kindMediaType:   {http.StatusUnsupportedMediaType, "unsupported media type", "Unsupported media type"},
	kindUnavailable: {http.StatusServiceUnavailable, "unavailable", "Unavailable"},
}

// problem is a refusal on its way to the client.
type problem struct {
	kind      kind
	message   string // one sentence for a person
	parameter string // only kindParameter
	cause     error  // only kindInternal; never shown
}

func (p *problem) Error() string { return p.message }

// Unwrap returns the cause of an internal error.
func (p *problem) Unwrap() error { return p.cause }

// asProblem maps what the packages below return.
func asProblem(err error) *problem {
	var p *problem
	if errors.As(err, &p) {
		return p
	}
	var parameter *facts.ParameterError
	if errors.As(err, &parameter) {
		return &problem{kind: kindParameter, message: parameter.Message, parameter: parameter.Parameter}
	}
	return &problem{message: "this answer could not be made; the fault is on the side of the server", cause: err}
}

// refuse renders an error in the form the client asked for: JSON unless a page or text was negotiated.
func (h *handler) refuse(x *exchange, err error) {
	p := asProblem(err)
	if p.kind == kindInternal {
		h.Report(x.r, err)
	}
	row := problemTable[p.kind]
	header := x.w.Header()
	for _, name := range []string{"Etag", "Last-Modified", "X-Facts-Status", "Link", "Content-Encoding", "Content-Length"} {
		delete(header, name)
	}
	header["Cache-Control"] = noStore
	switch p.kind {
	case kindMethod:
		header.Set("Allow", strings.Join(routes[x.id].Methods, ", "))
	case kindUnavailable:
		header.Set("Retry-After", "5")
	}
	body := h.problemBody(x, p, row.status, row.title, row.code)
	header["Content-Type"] = formTypes[x.form]
	x.w.WriteHeader(row.status)
	x.w.Write(body)
}

// problemBody falls back to JSON when the page cannot be rendered, and says so in x.form.
func (h *handler) problemBody(x *exchange, p *problem, status int, title, code string) []byte {
	if x.form == formHTML && h.Pages.Problem != nil && x.view != nil {
		var page bytes.Buffer
		if err := h.Pages.Problem(&page, x.snapshot, status, title, p.message); err == nil {
			h.setPolicy(x.w.Header())
			return page.Bytes()
		}
	}
	if x.form == formText {
		return append([]byte(p.message), '\n')
	}
	x.form = formJSON
	body := append([]byte(nil), `{"protocol":"`+facts.Protocol+`","error":"`+code+`"`...)
	if p.kind == kindParameter {
		body = append(body, `,"parameter":`...)
		body = jcs.AppendString(body, strings.ToValidUTF8(p.parameter, "\uFFFD"))
	}
	body = append(body, `,"message":`...)
	body = jcs.AppendString(body, strings.ToValidUTF8(p.message, "\uFFFD"))
	return append(body, '}')
}

// setPolicy adds what every page carries.
func (h *handler) setPolicy(header http.Header) {
	if h.Pages.CSP != "" {
		header["Content-Security-Policy"] = []string{h.Pages.CSP}
	}
}
