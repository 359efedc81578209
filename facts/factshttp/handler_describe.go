package factshttp

import (
	"fmt"
	"io"
	"mime"
	"path"
	"slices"
	"strings"

	"sayso/facts"
	"sayso/facts/describe"
)

// description is a document of package describe under a fixed path.
type description struct {
	contentType []string
	cache       []string // nil: right until midnight
	daily       bool     // depends on the day
	bytes       func(h *handler, x *exchange) []byte
}

var descriptions = map[routeID]description{
	routeFactsDoc: {typeJSON, cacheHour, false, func(h *handler, x *exchange) []byte { return describe.FactsJSON(x.snapshot) }},
	routeChangesDoc: {typeJSON, nil, true, func(h *handler, x *exchange) []byte {
		return describe.ChangesDiscovery(x.snapshot, x.today)
	}},
	routeJWKS:    {typeJSON, cacheDay, false, func(h *handler, x *exchange) []byte { return describe.JWKS(x.snapshot) }},
	routeOpenAPI: {typeJSON, cacheHour, false, func(h *handler, x *exchange) []byte { return describe.OpenAPI(x.snapshot) }},
	routeCatalog: {[]string{"application/ai-catalog+json"}, cacheHour, false, func(h *handler, x *exchange) []byte {
		if h.MCP == nil {
			return nil
		}
		return describe.AICatalog(x.snapshot)
	}},
	routeCard: {[]string{"application/mcp-server-card+json"}, cacheHour, false, func(h *handler, x *exchange) []byte {
		return describe.ServerCard(x.snapshot, h.ServerCardVersion)
	}},
	routeLLMs: {typeText, cacheHour, false, func(h *handler, x *exchange) []byte { return describe.LLMs(x.snapshot) }},
	routeAtom: {[]string{"application/atom+xml; charset=utf-8"}, nil, false, func(h *handler, x *exchange) []byte {
		return describe.Atom(x.snapshot)
	}},
	routeSchema: {[]string{"application/schema+json; charset=utf-8"}, cacheHour, false, func(h *handler, x *exchange) []byte {
		schema, _ := describe.Schema(x.rest, x.origin)
		return schema
	}},
}

// serveDescription answers the documents that describe the catalogue, and its sitemaps.
func (h *handler) serveDescription(x *exchange) error {
	if x.id == routeSitemap {
		return h.serveSitemap(x)
	}
	kind := descriptions[x.id]
	if x.id == routeSchema {
		if names := describe.SchemaNames(); !slices.Contains(names, x.rest) {
			return &problem{kind: kindNotFound, message: "no schema of that name; there are " + strings.Join(names, ", ")}
		}
	}
	write := func(w io.Writer) error {
		_, err := w.Write(kind.bytes(h, x))
		return err
	}
	key := documentKey{id: x.id, name: x.rest}
	var d *document
	var err error
	if kind.daily {
		d, err = x.dailyDocument(x.today, key, write)
	} else {
		d, err = x.fixedDocument(key, write)
	}
	if err != nil {
		return err
	}
	if d.size == 0 {
		return &problem{kind: kindNotFound, message: "this publisher has no such document"}
	}
	return x.send(d, delivery{contentType: kind.contentType, cache: kind.cache})
}

// serveSitemap answers sitemap.xml, and sitemap-N.xml where the catalogue needs several.
func (h *handler) serveSitemap(x *exchange) error {
	var write func(io.Writer) error
	describe.Sitemaps(x.snapshot, func(name string, w func(io.Writer) error) bool {
		if name == x.rest {
			write = w
		}
		return write == nil
	})
	if write == nil {
		return &problem{kind: kindNotFound, message: "no sitemap of that name; begin at /sitemap.xml"}
	}
	d, err := x.fixedDocument(documentKey{id: routeSitemap, name: x.rest}, write)
	if err != nil {
		return err
	}
	return x.send(d, delivery{contentType: []string{"application/xml; charset=utf-8"}, cache: cacheHour})
}

// serveProtocol answers a page about the protocol and this publisher, as text where no page is offered or wanted.
func (h *handler) serveProtocol(x *exchange) error {
	chosen := h.negotiate(x, h.Pages.Protocol != nil)
	write := func(w io.Writer) error { return writeProtocolText(w, x.snapshot.Info()) }
	if chosen == formHTML {
		write = func(w io.Writer) error { return h.Pages.Protocol(w, x.snapshot, x.today) }
		h.setPolicy(x.w.Header())
	} else {
		chosen = formText
	}
	d, err := x.dailyDocument(x.today, documentKey{id: routeProtocol, form: chosen}, write)
	if err != nil {
		return err
	}
	return x.send(d, delivery{contentType: formTypes[chosen], link: x.canonical("/protocol/facts")})
}

// writeProtocolText says in plain text who publishes, what the protocol promises and which addresses answer.
func writeProtocolText(w io.Writer, info *facts.Info) error {
	signed := "Records are not signed; each carries the hash of its claim."
	if info.Signed {
		signed = "Every record is signed; the public keys are at " + info.Origin + "/.well-known/jwks.json."
	}
	_, err := fmt.Fprintf(w, `%s <%s>
speaks %s and %s at level %s: %d facts, the newest verified on %s.

A fact is one official figure under a stable key, with its unit, its period, the page it was read from and the day it was last checked.
An answer always says how old that check is. A figure older than you ask for is marked stale, a period that is not held is refused, and nothing is guessed.
%s

one figure        %[7]s/f/{key}?max_age=30d
on a day          %[7]s/f/{key}?as_of=2026-04-05
several           %[7]s/f?keys={key},{key}
a question        %[7]s/f/resolve?q={words}
every key         %[7]s/f
what changed      %[7]s/changes.json?since=2026-01-01
for programs      %[7]s/.well-known/facts.json
for code          %[7]s/openapi.json
`, facts.StringValue(info.Publisher.Name).Text(), info.Publisher.URL, facts.Protocol, facts.ChangesProtocol, info.Conformance, info.Count, info.Newest, signed, info.Origin)
	return err
}

// assetDocuments tags the static files once.
func assetDocuments(files map[string][]byte) map[string]*document {
	documents := make(map[string]*document, len(files))
	for name, content := range files {
		// Writing to memory cannot fail.
		documents[name], _ = makeDocument(func(w io.Writer) error {
			_, err := w.Write(content)
			return err
		})
	}
	return documents
}

// serveAsset answers a static file of the pages.
func (h *handler) serveAsset(x *exchange) error {
	d, ok := h.assets[x.rest]
	if !ok {
		return &problem{kind: kindNotFound, message: "no file of that name"}
	}
	return x.send(d, delivery{contentType: []string{assetType(x.rest)}, cache: cacheHour})
}

// assetType does not ask the operating system for anything but rare types: the answer must not depend on the machine.
func assetType(name string) string {
	switch path.Ext(name) {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	case ".ico":
		return "image/x-icon"
	case ".woff2":
		return "font/woff2"
	case ".json", ".webmanifest":
		return "application/json; charset=utf-8"
	}
	if t := mime.TypeByExtension(path.Ext(name)); t != "" {
		return t
	}
	return "application/octet-stream"
}
