package bizcheck

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"sayso/business"
)

// publisher is what the manifest says that the live checks go by.
type publisher struct {
	at        string // address of the manifest
	slug      string
	manifest  object
	endpoints object
	origin    string // of the manifest
	profile   string // endpoints.public_profile

	evidence business.Evidence // what answers are judged by; without call and time
	listed   bool              // registry.json was read
	served   []served          // its tools
	streams  []string          // its live streams
	samples  []object          // the first records of the export, whole
	records  []line            // those of the export that were read
	cut      bool              // it has more
}

// served is one tool as registry.json lists it.
type served struct{ name, handler string }

// checkPublisher looks at one publisher: its manifest, what the manifest names, and the pages.
func (c *checker) checkPublisher(at string) {
	a := c.document(at)
	switch {
	case a.unread():
		c.untested("XP-MANIFEST-001", a.at, "the manifest could not be read", a.problem())
		return
	case !a.ok():
		c.fail("XP-MANIFEST-001", a.at, "the manifest is not there: "+a.problem(), "serve it at the address that discovery or the host names")
		return
	}
	c.checkWire("XP-MANIFEST-001", a, typeJSON)
	m, known := c.checkManifest(a.at, a.body, c.Clock())
	if !known {
		return // nothing behind a document of another version may be guessed
	}
	p := &publisher{at: a.at, manifest: m, endpoints: m.object("endpoints"), origin: originOf(a.at), slug: m.object("publisher").text("tenant")}
	p.profile = p.endpoints.text("public_profile")
	c.note("XP-DISCOVERY-007", a.at, "the manifest stands at "+pathForm(a.at))
	c.checkLocators(p)
	registry := c.checkTrust(p, a)
	c.checkLife(a.at, m, c.Clock())
	c.checkForeignHost(a.at)
	c.checkRoutings(p, a)
	c.checkRegistryDocument(p)
	if registry != nil {
		c.checkRegistry(originOf(registry.at))
	}
	if m.object("publication").is("published", "false") {
		c.checkNotServed(p)
		return
	}
	c.checkPages(p)
	c.checkMCP(p)
}

// pathForm says which kind of path a manifest was found at (XP-DISCOVERY-007).
func pathForm(at string) string {
	if strings.HasPrefix(strings.TrimPrefix(at, originOf(at)), "/.well-known/") {
		return "a path in the shape of RFC 8615 at the root of the origin, under a suffix that is not registered"
	}
	return "a path below one that the platform owns, which RFC 8615 does not define"
}

// checkLocators is XP-DISCOVERY-004 for the locators of a manifest.
func (c *checker) checkLocators(p *publisher) {
	for _, name := range hiddenEndpoints {
		c.checkLocator(p.at, "endpoints."+name, p.endpoints.text(name))
	}
	for name := range p.endpoints {
		if !slices.Contains(hiddenEndpoints, name) {
			c.checkLocator(p.at, "endpoints."+name, p.endpoints.text(name))
		}
	}
	if p.manifest.has("registry_keys_url") {
		c.checkLocator(p.at, "registry_keys_url", p.manifest.text("registry_keys_url"))
	}
}

// checkTrust verifies the manifest, the publisher's keys and the publisher's list. It returns the registry's key document, nil when the manifest names none.
func (c *checker) checkTrust(p *publisher, a *answer) *answer {
	at := p.manifest.text("registry_keys_url")
	if at == "" { // not signed: only the place beside the manifest can be tried
		at = p.origin + wellKnown + "registry-keys.json"
	}
	registry := c.document(at)
	own := c.checkListAt(originOf(at)+wellKnown+"revocations.json", "", registry)
	keys := c.document(p.endpoints.text("jwks"))
	switch {
	case keys.ok():
		c.checkWire("XP-MANIFEST-001", keys, "")
		c.checkPublisherKeys(keys.at, keys.body, p.slug, registry)
	case keys.unread():
		c.untested("XP-INTEGRITY-014", keys.at, "the publisher's keys could not be read", keys.problem())
	default:
		c.fail("XP-INTEGRITY-006", keys.at, "the publisher's keys are not there: "+keys.problem(), "serve the key set for every publisher that ever existed")
	}
	list := c.checkListAt(p.endpoints.text("revocations"), p.slug, registry)
	p.evidence = business.Evidence{
		Root: c.Root, RegistryKeys: registry.fetched(), PublisherKeys: keys.fetched(), Revocations: own.fetched(), PublisherList: list.fetched(),
		Publisher: p.slug, FutureSkew: business.ReaderSkew,
	}
	e := p.evidence
	e.Publisher, e.At = slugOf(a.at), c.Clock()
	v, err := business.Verify(a.body, e)
	if err != nil {
		c.fail("XP-VERSION-001", a.at, err.Error(), "serve a manifest of protocol_x_version "+business.Version)
		return registry
	}
	c.checkVerdict(a.at, a.body, v, "XP-INTEGRITY-004")
	c.checkRevoked(a.at, v)
	return registry
}

// slugOf is the publisher that a path-routed address names.
func slugOf(at string) string {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(at, originOf(at)), "/t/")
	slug, _, _ := strings.Cut(rest, "/")
	if !ok || !business.ValidSlug(slug) {
		return ""
	}
	return slug
}

// checkRevoked is XP-INTEGRITY-009.
func (c *recorder) checkRevoked(place string, v *business.Verdict) {
	if v.Signature.Value == "absent" {
		return
	}
	switch f := v.Revocation; f.Value {
	case "clean":
		c.pass("XP-INTEGRITY-009", place)
	case "not_checked":
		c.untested("XP-INTEGRITY-009", place, "whether the manifest is withdrawn was not checked", f.Message)
	default:
		c.warn("XP-INTEGRITY-009", place, f.Message, "sign the manifest with a key that is not withdrawn; readers do not rely on this one")
	}
}

// changing are the members that differ between two renderings of one manifest.
var changing = []string{"generated_at", "signed_at", "expires_at", "attestation"}

// checkRoutings is XP-DISCOVERY-005: the manifest under the publisher's own host against the one under its path.
func (c *checker) checkRoutings(p *publisher, a *answer) {
	hosts := []string{}
	// A registry on the own machine plays its publishers; their real hosts are left alone.
	if host := p.manifest.object("verification").text("verified_host"); host != "" && strings.HasPrefix(p.origin, "https://") {
		hosts = append(hosts, "https://"+host)
	}
	if !slices.Contains(hosts, p.origin) {
		hosts = append(hosts, p.origin)
	}
	path := c.document(p.origin + "/t/" + p.slug + wellKnown + "manifest.json")
	compared := false
	for _, host := range hosts {
		b := c.document(host + wellKnown + "manifest.json")
		if !b.ok() || !path.ok() {
			continue
		}
		if m, err := objectOf(b.body); err != nil || m.object("publisher").text("tenant") != p.slug {
			continue
		}
		compared = true
		c.expect(bytes.Equal(settled(b.body), settled(path.body)), "XP-DISCOVERY-005", b.at, "the manifest under the host and the one under the path say different things", "render both from one state; only times and signature may differ")
	}
	if !compared {
		c.untested("XP-DISCOVERY-005", a.at, "only one routing of the manifest was found", "no host that is known here routes to this publisher, or its path form is not served")
	}
}

// settled is the canonical form of a manifest without what changes from one rendering to the next.
func settled(body []byte) []byte {
	for _, name := range changing {
		body = withoutMember(body, name)
	}
	canon, _ := business.Canon(body)
	return canon
}

// checkRegistryDocument is XP-MANIFEST-004: what the manifest claims against the tools that registry.json lists.
func (c *checker) checkRegistryDocument(p *publisher) {
	var claimed []string
	for _, name := range p.manifest.texts("capabilities") {
		switch {
		case strings.HasPrefix(name, "syndication."):
		case !slices.Contains(business.Handlers, name):
			c.fail("XP-MANIFEST-004", p.at, fmt.Sprintf("%.80q is no capability of this protocol", name), "list handler names; tool names belong to tools/list")
		default:
			claimed = append(claimed, name)
		}
	}
	a := c.document(strings.TrimSuffix(p.at, "manifest.json") + "registry.json")
	if !a.ok() {
		c.untested("XP-MANIFEST-004", a.at, "registry.json could not be read", a.problem())
		return
	}
	c.checkWire("XP-MANIFEST-001", a, typeJSON)
	d, err := objectOf(a.body)
	if err != nil {
		c.fail("XP-VERSION-001", a.at, "not strict JSON: "+err.Error(), "repair the document; readers refuse it as a whole")
		return
	}
	c.checkVersion(a.at, d)
	c.checkAbsence(a.at, a.body)
	c.checkClaims(a.at, a.body)
	p.listed = true
	var handlers []string
	for _, t := range d.objects("tools") {
		p.served = append(p.served, served{t.text("name"), t.text("handler")})
		handlers = append(handlers, t.text("handler"))
	}
	for _, one := range d.objects("live_streams") {
		p.streams = append(p.streams, one.text("key"))
	}
	for _, name := range claimed {
		c.expect(slices.Contains(handlers, name), "XP-MANIFEST-004", p.at, "the capability "+name+" has no tool in registry.json", "derive capabilities from the tools that are served")
	}
	for _, name := range handlers {
		c.prefer(slices.Contains(claimed, name), "XP-MANIFEST-004", p.at, fmt.Sprintf("registry.json lists a tool of %.80q, which is no capability of the manifest", name), "derive both from one state")
	}
	if len(claimed)+len(handlers) == 0 {
		c.pass("XP-MANIFEST-004", p.at)
	}
}
