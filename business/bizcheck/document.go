package bizcheck

import (
	"bytes"
	"context"
	"net/http"

	"sayso/business"
	"sayso/report"
)

// CheckDocument looks at one file as it stands: a manifest, an answer, a revocation list, either key document, discovery.json, registry.json or a dump.jsonl,
// told apart by its members. Nothing is fetched (XP-NET-005); a signature is judged by what Options brings, and what needs a live server is not tested. name is
// what the report calls the file.
func CheckDocument(name string, document []byte, o Options) *report.Report {
	c := newChecker(context.Background(), o)
	c.file = true
	kind := c.checkFile(name, document)
	c.left = append(c.left, "the server behind the document")
	if kind != "" {
		c.looked = append(c.looked, name+" as "+kind)
	}
	return c.report(name)
}

// checkFile finds out what a document is and looks at it. It returns a word for the kind, "" when it is none of this protocol.
func (c *checker) checkFile(name string, document []byte) string {
	if first, _, _ := bytes.Cut(document, []byte("\n")); isHeader(first) {
		if e := c.checkExport(name, document, false, ""); e.cut != "" {
			c.left = append(c.left, "lines beyond "+e.cut)
		}
		return "an export"
	}
	o, err := objectOf(document)
	if err != nil {
		c.fail("XP-VERSION-001", name, "not strict JSON: "+err.Error(), "give a document of this protocol; readers refuse this text as a whole")
		return "a text"
	}
	_, keys := o.list("keys")
	switch {
	case o.has("coverage"), o.has("tool"):
		c.checkEnvelope(name, document, c.evidence())
		return "an answer"
	case o.has("entries"):
		c.checkList(name, document, o.text("publisher"), c.evidence())
		return "a revocation list"
	case keys && o.has("registry"):
		c.checkRegistryKeys(name, document)
		return "the keys of a registry"
	case keys:
		c.checkPublisherKeys(name, document, "", c.given(c.RegistryKeys))
		return "the keys of a publisher"
	case o.has("authenticity"), o.has("endpoints"):
		c.checkManifestFile(name, document)
		return "a manifest"
	}
	if !c.checkVersion(name, o) {
		return "a text"
	}
	c.checkAbsence(name, document)
	c.checkClaims(name, document)
	return "an unsigned document of this protocol"
}

func isHeader(first []byte) bool {
	o, err := objectOf(first)
	return err == nil && o.has("_meta")
}

// given is a document that a person gave, in the place of one that was fetched.
func (c *checker) given(body []byte) *answer {
	if body == nil {
		return nil
	}
	return &answer{status: http.StatusOK, header: http.Header{"Content-Type": {typeJSON}}, body: body, read: c.Clock()}
}

func (c *checker) checkManifestFile(name string, document []byte) {
	m, known := c.checkManifest(name, document, c.Clock())
	if !known {
		return
	}
	c.checkLocators(&publisher{at: name, manifest: m, endpoints: m.object("endpoints")})
	c.checkLife(name, m, c.Clock())
	v, err := business.Verify(document, c.evidence())
	if err != nil {
		c.fail("XP-VERSION-001", name, err.Error(), "give a manifest of protocol_x_version "+business.Version)
		return
	}
	c.checkVerdict(name, document, v, "XP-INTEGRITY-004")
	c.checkRevoked(name, v)
}
