package factshttp

import (
	"io"
	"net/http"
	"strconv"

	"sayso/facts"
)

// serveFacts answers /f: a batch when keys are given, the index otherwise.
func (h *handler) serveFacts(x *exchange) error {
	if x.r.Method == http.MethodPost {
		return h.servePost(x)
	}
	p, err := h.query(x, facts.RouteFacts)
	if err != nil {
		return err
	}
	if keys, ok := p["keys"]; ok {
		return h.serveBatch(x, keys, p)
	}
	chosen, err := h.chooseForm(x, p, h.Pages.Index != nil)
	if err != nil {
		return err
	}
	return h.serveIndex(x, p["namespace"], chosen)
}

// serveBatch answers a comma list of keys under one selection. Refusals name keys, also where the list stands in the path (F§5.2).
func (h *handler) serveBatch(x *exchange, list string, p facts.Params) error {
	if _, err := h.chooseForm(x, p, h.Pages.Batch != nil); err != nil {
		return err
	}
	sel, err := p.Selection()
	if err != nil {
		return err
	}
	keys, err := facts.SplitKeys(list, "keys")
	if err != nil {
		return err
	}
	return h.sendBatch(x, keys, sel)
}

func (h *handler) sendBatch(x *exchange, keys []string, sel facts.Selection) error {
	b, err := x.snapshot.Batch(keys, sel, x.today)
	if err != nil {
		return err
	}
	header := x.w.Header()
	header["Cache-Control"] = x.cache
	if b.Misses > 0 || x.r.Method == http.MethodPost {
		header["Cache-Control"] = noStore
	}
	header["X-Facts-Status"] = statusHeader(b.Status)
	header["Link"] = []string{x.describedBy(schemaBatch)}
	if x.form == formHTML {
		return h.sendPage(x, http.StatusOK, func(w io.Writer) error { return h.Pages.Batch(w, x.snapshot, &b, x.today) })
	}
	buffer := getBuffer()
	if x.form == formText {
		*buffer = b.AppendText(*buffer)
	} else {
		*buffer = b.AppendJSON(*buffer)
	}
	x.write(http.StatusOK, *buffer)
	putBuffer(buffer)
	return nil
}

// serveIndex answers the catalogue of a namespace, "" for all.
func (h *handler) serveIndex(x *exchange, namespace string, chosen form) error {
	write := func(w io.Writer) error { return x.snapshot.WriteIndex(w, namespace, x.today) }
	how := delivery{contentType: formTypes[chosen], link: x.describedBy(schemaIndex), compress: true}
	switch chosen {
	case formHTML:
		write = func(w io.Writer) error { return h.Pages.Index(w, x.snapshot, namespace, x.today) }
		how.link = x.canonical("/f")
		h.setPolicy(x.w.Header())
	case formText:
		write = func(w io.Writer) error { return writeIndexText(w, x.snapshot, namespace, x.today) }
	}
	var d *document
	var err error
	if _, declared := x.snapshot.Info().NamespaceCounts[namespace]; declared || namespace == "" {
		d, err = x.dailyDocument(x.today, documentKey{id: routeIndex, form: chosen, name: namespace}, write)
	} else {
		d, err = makeDocument(write)
	}
	if err != nil {
		return err
	}
	return x.send(d, how)
}

// writeIndexText lists one key and its label per line, for grep.
func writeIndexText(w io.Writer, s *facts.Snapshot, namespace string, today facts.Date) error {
	var line []byte
	for e := range s.Index(namespace, today) {
		line = append(append(line[:0], e.Key...), '\t')
		line = append(append(line, facts.StringValue(e.Label).Text()...), '\n')
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// serveResolve ranks keys for a question. The answer holds a record, and so is never 304.
func (h *handler) serveResolve(x *exchange) error {
	p, err := h.query(x, facts.RouteResolve)
	if err != nil {
		return err
	}
	h.negotiate(x, h.Pages.Resolve != nil)
	limit, err := p.Limit(5, 20)
	if err != nil {
		return err
	}
	found, err := x.snapshot.Resolve(p["q"], p["namespace"], limit, x.today)
	if err != nil {
		return err
	}
	x.w.Header()["Cache-Control"] = x.cache
	switch x.form {
	case formHTML:
		return h.sendPage(x, http.StatusOK, func(w io.Writer) error { return h.Pages.Resolve(w, x.snapshot, &found, x.today) })
	case formText:
		x.write(http.StatusOK, appendResolutionText(nil, &found))
	default:
		x.write(http.StatusOK, found.AppendJSON(nil))
	}
	return nil
}

// appendResolutionText lists one candidate per line: score in thousandths, key, label.
func appendResolutionText(dst []byte, found *facts.Resolution) []byte {
	for _, c := range found.Candidates {
		dst = append(strconv.AppendInt(dst, int64(c.Score), 10), '\t')
		dst = append(append(dst, c.Key...), '\t')
		dst = append(append(dst, facts.StringValue(c.Label).Text()...), '\n')
	}
	if len(found.Candidates) == 0 {
		dst = append(dst, "no candidates\n"...)
	}
	return dst
}

// serveChanges answers the changes document, whole without parameters, filtered and paged with any (F§8.4).
func (h *handler) serveChanges(x *exchange) error {
	p := facts.Params{}
	if x.r.URL.RawQuery != "" {
		var err error
		if p, err = h.query(x, facts.RouteChanges); err != nil {
			return err
		}
		// The document has one form; only refusals are negotiated.
		x.form = formJSON
		delete(x.w.Header(), "Vary")
	}
	q, err := facts.ParseChangesQuery(p, false)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error {
		body, err := x.snapshot.AppendChanges(nil, q, x.today)
		if err != nil {
			return err
		}
		_, err = w.Write(body)
		return err
	}
	var d *document
	if q.Given {
		d, err = makeDocument(write)
	} else {
		d, err = x.dailyDocument(x.today, documentKey{id: routeChanges}, write)
	}
	if err != nil {
		return err
	}
	return x.send(d, delivery{contentType: typeJSON, link: x.describedBy(schemaChanges)})
}

// serveChangesPage answers the changelog as a page.
func (h *handler) serveChangesPage(x *exchange) error {
	if h.Pages.Changes == nil {
		return &problem{kind: kindNotFound, message: "no page is offered here; the changes document is at /changes.json"}
	}
	x.form = formHTML
	d, err := x.dailyDocument(x.today, documentKey{id: routeChangesPage}, func(w io.Writer) error {
		return h.Pages.Changes(w, x.snapshot, x.today)
	})
	if err != nil {
		return err
	}
	h.setPolicy(x.w.Header())
	return x.send(d, delivery{contentType: typeHTML, link: x.canonical("/changes")})
}
