package bizcheck

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sayso/business"
	"sayso/safefetch"
)

// wellKnown is the folder of the protocol's documents (X§2.1).
const wellKnown = "/.well-known/x-protocol/"

const typeJSON = "application/json"

// answer is what came of one request.
type answer struct {
	at     string // without query
	final  string // after redirects, without query
	status int
	header http.Header
	body   []byte
	err    error
	read   time.Time
}

// ok reports whether the document is there: 200 as JSON, from the origin that was asked.
func (a *answer) ok() bool {
	return a.err == nil && a.status == http.StatusOK && isJSON(a.header) && originOf(a.final) == originOf(a.at)
}

// problem says why a document is not there.
func (a *answer) problem() string {
	switch {
	case a.err != nil:
		return safefetch.Reason(a.err)
	case a.status != http.StatusOK:
		return strings.TrimSpace(fmt.Sprintf("the answer is %d %s", a.status, codeOf(a.body)))
	case originOf(a.final) != originOf(a.at):
		return "it redirects to " + originOf(a.final) + ", which is a different source"
	}
	return fmt.Sprintf("the content type is %.100q, not JSON", mediaType(a.header))
}

// unread reports whether the failure says nothing about the document: no answer, or one that asks to come back.
func (a *answer) unread() bool {
	return a.err != nil || a.status == http.StatusServiceUnavailable || a.status == http.StatusTooManyRequests
}

// fetched is the answer as evidence of a verification.
func (a *answer) fetched() *business.Fetched {
	switch {
	case a == nil:
		return nil
	case a.ok():
		return &business.Fetched{Body: a.body, At: a.read}
	case errors.Is(a.err, safefetch.ErrRefused):
		return &business.Fetched{Err: business.ErrNetRefused}
	}
	return &business.Fetched{Err: errors.New(a.problem())}
}

func mediaType(h http.Header) string {
	t, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return t
}

func isJSON(h http.Header) bool {
	t := mediaType(h)
	return t == typeJSON || strings.HasSuffix(t, "+json")
}

// codeOf is the machine code of a refusal, "" when it has none.
func codeOf(body []byte) string {
	o, err := objectOf(body)
	code := o.text("error")
	if err != nil || len(code) > 40 || strings.Trim(code, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return ""
	}
	return code
}

// get sends one request without a body.
func (c *checker) get(method, at string, header http.Header) *answer {
	return c.send(safefetch.Request{Method: method, URL: at, Header: header})
}

// post sends one JSON-RPC request.
func (c *checker) post(at string, body []byte) *answer {
	return c.send(safefetch.Request{Method: http.MethodPost, URL: at, Body: bytes.NewReader(body),
		Header: http.Header{"Accept": {typeJSON + ", text/event-stream"}, "Content-Type": {typeJSON}}})
}

// send looks at what every answer must keep.
func (c *checker) send(r safefetch.Request) *answer {
	a := &answer{at: safefetch.WithoutQuery(r.URL), read: c.Clock()}
	resp, err := c.Fetch.Do(c.ctx, r)
	if err != nil {
		a.err = err
		return a
	}
	a.final, a.status, a.header, a.body = safefetch.WithoutQuery(resp.FinalURL), resp.Status, resp.Header, resp.Body
	c.checkRefusal(a, r.Method)
	return a
}

func accepting(media string) http.Header { return http.Header{"Accept": {media}} }

// document fetches a JSON document, once in a run.
func (c *checker) document(at string) *answer {
	if a := c.answers[at]; a != nil {
		return a
	}
	a := c.get(http.MethodGet, at, accepting(typeJSON))
	c.answers[at] = a
	if a.ok() {
		c.looked = append(c.looked, a.at)
	}
	return a
}

// codes are those of a 503 (X§2.3); all but no_anchor come with Retry-After. The last is for lists that cannot be signed (X§8.8).
var codes = map[string]bool{"no_anchor": false, "publisher_unavailable": true, "key_set_unavailable": true, "revocation_list_unavailable": true}

// checkRefusal is XP-TRANSPORT-004 for a 429 and XP-DISCOVERY-004 for a 503, wherever they come up.
func (c *checker) checkRefusal(a *answer, method string) {
	if method == http.MethodHead && a.status == http.StatusServiceUnavailable {
		return // the code stands in the body
	}
	later := a.header.Get("Retry-After")
	c.checkPause(a.at, a.status, codeOf(a.body), later, isPause(later))
	if a.status == http.StatusTooManyRequests {
		o, _ := objectOf(payload(a.body))
		c.expect(!o.has("result") && !o.has("coverage"), "XP-TRANSPORT-004", a.at, "a 429 carries an answer", "send the refusal alone: a limit says nothing about the business")
	}
}

// checkPause is checkRefusal for what is known of an answer.
func (c *recorder) checkPause(at string, status int, code, later string, pause bool) {
	switch status {
	case http.StatusTooManyRequests:
		c.expect(pause, "XP-TRANSPORT-004", at, fmt.Sprintf("a 429 has Retry-After %.50q", later), "say in whole seconds, or as an HTTP date, when to come back")
	case http.StatusServiceUnavailable:
		retry, known := codes[code]
		c.expect(known && (!retry || pause), "XP-DISCOVERY-004", at, fmt.Sprintf("a 503 has the code %q and Retry-After %.50q", code, later),
			"answer with the code for what could not be read, and with Retry-After, so that nobody takes it for a statement about the publisher")
	}
}

// isPause reports whether a Retry-After can be read.
func isPause(s string) bool {
	if _, err := strconv.ParseUint(s, 10, 31); err == nil {
		return true
	}
	_, err := http.ParseTime(s)
	return err == nil
}

// checkWire looks at what the protocol asks of the answer around a document. No rule has it alone, so it is a warning of the rule of its section.
func (c *checker) checkWire(rule string, a *answer, media string) {
	if got := a.header.Get("Access-Control-Allow-Origin"); got != "*" {
		c.warn(rule, a.at, fmt.Sprintf("Access-Control-Allow-Origin is %.100q", got), "send *: a page in a browser is a reader too")
	}
	if got := mediaType(a.header); media != "" && got != media {
		c.warn(rule, a.at, fmt.Sprintf("the content type is %.100q", got), "serve it as "+media)
	}
}
