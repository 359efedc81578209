package bizhttp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"

	"sayso/jcs"
)

// serveDocument answers with a document the source holds ready. These are served for every publisher that ever existed, whatever its standing.
func (h *handler) serveDocument(x *exchange) error {
	p, err := h.publication(x)
	if err != nil {
		return err
	}
	d, err := h.document(x.r.Context(), x.id, p.Slug)
	if err != nil {
		return err
	}
	if err := h.credential(x, p.Slug); err != nil {
		return err
	}
	return x.send(d.Body, d.ETag, typeJSON, cacheShort)
}

func (h *handler) document(ctx context.Context, id routeID, slug string) (*Document, error) {
	switch id {
	case routeKeys, routeKeysAlias, routeTenantKeys:
		return h.Source.PublisherKeys(ctx, slug)
	case routeTenantRevocations:
		return h.Source.PublisherRevocations(ctx, slug)
	default:
		return h.Source.Manifest(ctx, slug)
	}
}

// serveRegistry answers with one of the registry's own two documents, the same on every host.
func (h *handler) serveRegistry(x *exchange) error {
	read := h.Source.RegistryKeys
	if x.id == routeRegistryRevocations {
		read = h.Source.RegistryRevocations
	}
	d, err := read(x.r.Context())
	if err != nil {
		return err
	}
	if err := h.credential(x, ""); err != nil {
		return err
	}
	return x.send(d.Body, d.ETag, typeJSON, cacheShort)
}

// serveRegistryDocument answers with registry.json, also for a publisher that is not published.
func (h *handler) serveRegistryDocument(x *exchange) error {
	p, err := h.publication(x)
	if err != nil {
		return err
	}
	if err := h.credential(x, p.Slug); err != nil {
		return err
	}
	return x.sendHashed(p.RegistryDocument(x.site, x.now), typeJSON, cacheShort)
}

// cache is the Cache-Control of an answer that may be a preview.
func (x *exchange) cache(public []string) []string {
	if x.preview {
		return ownerOnly
	}
	return public
}

// send writes a document or 304. tag is strong, in quotation marks.
func (x *exchange) send(body []byte, tag string, contentType, cache []string) error {
	header := x.w.Header()
	header["Cache-Control"] = x.cache(cache)
	if !x.preview {
		header["Etag"] = []string{tag}
		if tagListed(x.r.Header["If-None-Match"], tag) {
			x.w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	header["Content-Type"] = contentType
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	if x.r.Method != http.MethodHead {
		x.w.Write(body) // a failed write means that the client went away: there is nobody left to tell
	}
	return nil
}

// sendHashed is send with the tag over the bytes.
func (x *exchange) sendHashed(body []byte, contentType, cache []string) error {
	return x.send(body, tagOf(body), contentType, cache)
}

func (x *exchange) sendJSON(v any, cache []string) error {
	body, err := jcs.Encode(v)
	if err != nil {
		return err
	}
	return x.sendHashed(body, typeJSON, cache)
}

// tagOf is the strong entity tag of a text.
func tagOf(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}

// tagListed reports whether If-None-Match holds the tag, compared weakly as RFC 9110 section 13.1.2 asks, or "*".
func tagListed(lines []string, tag string) bool {
	for _, line := range lines {
		for element := range strings.SplitSeq(line, ",") {
			element = strings.TrimSpace(element)
			if element == "*" || strings.TrimPrefix(element, "W/") == strings.TrimPrefix(tag, "W/") {
				return true
			}
		}
	}
	return false
}

// asset is a static file with its headers.
type asset struct {
	body        []byte
	tag         string
	contentType []string
}

func assetDocuments(files map[string][]byte) map[string]asset {
	out := make(map[string]asset, len(files))
	for name, body := range files {
		contentType := mime.TypeByExtension(path.Ext(name))
		if contentType == "" {
			contentType = "application/octet-stream"
		}
		out[name] = asset{body: body, tag: tagOf(body), contentType: []string{contentType}}
	}
	return out
}

func (h *handler) serveAsset(x *exchange) error {
	a, ok := h.assets[x.rest]
	if !ok {
		return &problem{kind: kindNotFound}
	}
	return x.send(a.body, a.tag, a.contentType, cacheAsset)
}
