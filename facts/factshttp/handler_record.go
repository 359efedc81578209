package factshttp

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sayso/facts"
)

// Schema file names of the documents that say what describes them (F§8.6).
const (
	schemaFact    = "fact.v0.json"
	schemaBatch   = "facts-batch.v0.json"
	schemaIndex   = "facts-index.v0.json"
	schemaChanges = "changes.v0.json"
)

// serveRecord answers GET /f/{key}, one key or a comma list.
func (h *handler) serveRecord(x *exchange) error {
	sel := facts.Selection{MaxAge: facts.NoMaxAge}
	if batch := strings.IndexByte(x.rest, ',') >= 0; x.r.URL.RawQuery != "" || batch {
		p, err := h.query(x, facts.RouteGet)
		if err != nil {
			return err
		}
		if batch {
			return h.serveBatch(x, x.rest, p)
		}
		if _, err := h.chooseForm(x, p, h.Pages.Fact != nil); err != nil {
			return err
		}
		if sel, err = p.Selection(); err != nil {
			return err
		}
	} else {
		h.negotiate(x, h.Pages.Fact != nil)
	}
	a, err := x.snapshot.Get(x.rest, sel, x.today)
	if err != nil {
		return err
	}
	if a.Resolved != nil && !strings.Contains(strings.Trim(x.rest, "/"), "/") {
		if err := unresolve(x, &a); err != nil {
			return err
		}
	}
	if a.Outcome != facts.OutcomeRecord {
		return h.sendMiss(x, &a)
	}
	return h.sendRecord(x, &a)
}

// unresolve turns an auto-resolved answer into the miss with its candidates: single segments under /f/ are reserved, and one that is neither a route nor an
// alias names no fact (F§2.1).
func unresolve(x *exchange, a *facts.Answer) error {
	found, err := x.snapshot.Resolve(a.RequestedKey, "", 5, x.today)
	if err != nil {
		return err
	}
	a.Outcome, a.Key, a.Resolved = facts.OutcomeUnknown, "", nil
	a.Candidates, a.Hint = found.Candidates, found.Hint
	return nil
}

// query reads and checks the query string. The form is chosen first, so that a refusal has the form the client reads.
func (h *handler) query(x *exchange, route facts.Route) (facts.Params, error) {
	h.negotiate(x, h.Pages.Problem != nil)
	values, err := url.ParseQuery(x.r.URL.RawQuery)
	if err != nil {
		return nil, &facts.ParameterError{Parameter: "query", Message: "the query string is not well-formed: write name=value pairs joined by & and percent-encode the rest"}
	}
	if slices.Contains(route.Parameters(), "format") {
		h.refusalForm(x, values.Get("format"))
	}
	return facts.CheckQuery(route, values)
}

// refusalForm lets a format that is asked for win over Accept (F§4.1) while the parameters beside it are not checked yet.
func (h *handler) refusalForm(x *exchange, format string) {
	switch format {
	case "json":
		x.form = formJSON
	case "txt":
		x.form = formText
	case "html":
		if h.Pages.Problem != nil {
			x.form = formHTML
		}
	}
}

// sendRecord is the hot path. Records are never 304 and never content-encoded (F§4.6 rules 2 and 3): the tag names the claim, the body names the day.
func (h *handler) sendRecord(x *exchange, a *facts.Answer) error {
	header := x.w.Header()
	values := [...]string{
		`"` + a.Hash + formSuffix[x.form],
		"<" + x.origin + "/schema/" + schemaFact + `>; rel="describedby", <` + x.origin + "/f/" + a.Key + `>; rel="canonical"`,
	}
	header["Etag"] = values[0:1:1]
	header["Link"] = values[1:2:2]
	header["Last-Modified"] = x.modified.header(a.Verified)
	header["Cache-Control"] = x.cache
	header["X-Facts-Status"] = statusHeader(a.Status)
	if x.form == formHTML {
		return h.sendPage(x, http.StatusOK, func(w io.Writer) error { return h.Pages.Fact(w, x.snapshot, a, x.today) })
	}
	buffer := getBuffer()
	if x.form == formText {
		*buffer = a.AppendText(*buffer)
	} else {
		*buffer = a.AppendJSON(*buffer)
	}
	x.write(http.StatusOK, *buffer)
	putBuffer(buffer)
	return nil
}

// sendMiss answers an unknown key (404) or a period that is not held (200). Neither may be stored (F§4.5).
func (h *handler) sendMiss(x *exchange, a *facts.Answer) error {
	header := x.w.Header()
	header["Cache-Control"] = noStore
	status := http.StatusOK
	if a.Outcome == facts.OutcomeUnknown {
		status = http.StatusNotFound
	} else {
		header["Link"] = []string{x.canonical("/f/" + a.Key)}
	}
	if x.form == formHTML && h.Pages.Miss != nil {
		return h.sendPage(x, status, func(w io.Writer) error { return h.Pages.Miss(w, x.snapshot, a, x.today) })
	}
	if x.form == formText {
		x.write(status, a.AppendText(nil))
		return nil
	}
	x.form = formJSON
	x.write(status, a.AppendJSON(nil))
	return nil
}

// sendPage renders a page completely before the first byte leaves, so that a fault in it is a 500 and not half a page.
func (h *handler) sendPage(x *exchange, status int, render func(io.Writer) error) error {
	var page bytes.Buffer
	if err := render(&page); err != nil {
		return &problem{message: "this page could not be rendered; ask for format=json", cause: err}
	}
	h.setPolicy(x.w.Header())
	x.write(status, page.Bytes())
	return nil
}

// write sends a body in the chosen form. net/http counts short bodies itself; longer ones get their length here.
func (x *exchange) write(status int, body []byte) {
	header := x.w.Header()
	header["Content-Type"] = formTypes[x.form]
	if len(body) >= 2048 {
		header["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	if status != http.StatusOK {
		x.w.WriteHeader(status)
	}
	x.w.Write(body)
}

func statusHeader(status string) []string {
	if status == facts.StatusStale {
		return statusStale
	}
	return statusFresh
}

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

func getBuffer() *[]byte { return buffers.Get().(*[]byte) }

// putBuffer keeps buffers of ordinary size only: one huge batch must not stay in memory.
func putBuffer(b *[]byte) {
	if cap(*b) <= 64<<10 {
		*b = (*b)[:0]
		buffers.Put(b)
	}
}
