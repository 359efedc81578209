package bizcheck

import (
	"bytes"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"sayso/safefetch"
	"strings"
)

// checkRegistry looks at the documents of one registry, once in a run.
func (c *checker) checkRegistry(origin string) {
	if origin == "" || c.registries[origin] {
		return
	}
	c.registries[origin] = true
	keys := c.document(origin + wellKnown + "registry-keys.json")
	switch {
	case keys.ok():
		c.checkWire("XP-MANIFEST-001", keys, typeJSON)
		c.checkRegistryKeys(keys.at, keys.body)
		c.checkForeignHost(keys.at)
	case keys.unread():
		c.untested("XP-INTEGRITY-006", keys.at, "the registry's keys could not be read", keys.problem())
	default:
		c.fail("XP-INTEGRITY-006", keys.at, "the registry's keys are not there: "+keys.problem(), "serve registry-keys.json at this path: every chain of keys passes through it")
	}
	c.checkListAt(origin+wellKnown+"revocations.json", "", keys)
	c.checkDiscovery(origin)
	c.checkUnknown(origin)
}

// checkDiscovery looks at discovery.json.
func (c *checker) checkDiscovery(origin string) {
	a := c.document(origin + wellKnown + "discovery.json")
	if !a.ok() {
		c.untested("XP-DISCOVERY-003", a.at, "discovery.json could not be read", a.problem())
		return
	}
	d, err := objectOf(a.body)
	if err != nil {
		c.fail("XP-VERSION-001", a.at, "not strict JSON: "+err.Error(), "repair the document; readers refuse it as a whole")
		return
	}
	c.checkWire("XP-MANIFEST-001", a, typeJSON)
	c.checkVersion(a.at, d)
	c.checkAbsence(a.at, a.body)
	c.checkClaims(a.at, a.body)
	for _, name := range []string{"query_endpoint", "registry_keys_url", "revocation_url"} {
		if d.has(name) {
			c.checkLocator(a.at, name, d.text(name))
		}
	}
}

// unknownSlug is a publisher that nobody has.
const unknownSlug = "no-such-publisher-4f1c9b"

// checkUnknown asks for a publisher that does not exist: the answer must be told from one that could not be read.
func (c *checker) checkUnknown(origin string) {
	a := c.get(http.MethodGet, origin+"/t/"+unknownSlug+wellKnown+"manifest.json", accepting(typeJSON))
	if a.unread() {
		c.untested("XP-DISCOVERY-004", a.at, "a publisher that does not exist could not be asked for", a.problem())
		return
	}
	if code := codeOf(a.body); c.expect(a.status == http.StatusNotFound && code == "unknown_publisher", "XP-DISCOVERY-004", a.at,
		fmt.Sprintf("for a publisher that does not exist the answer is %d with the code %q", a.status, code), "answer 404 with unknown_publisher; readers rely on the code") {
		c.checkWire("XP-DISCOVERY-004", a, typeJSON)
	}
}

// foreignHost is a name that belongs to nobody (RFC 2606).
const foreignHost = "foreign-host.invalid"

// checkForeignHost is XP-DISCOVERY-003: the document is asked for under another spelling of the host, where there is one, and with the headers by which a
// proxy passes a host on. The parameter keeps whatever comes of it out of shared caches of the ordinary address.
func (c *checker) checkForeignHost(at string) {
	u, err := url.Parse(at)
	if err != nil {
		return
	}
	asked := 0
	look := func(a *answer, needle string) {
		if a.err != nil {
			return
		}
		asked++
		text := append([]byte(a.header.Get("Location")+"\n"), bytes.ReplaceAll(a.body, []byte(`\/`), []byte("/"))...)
		c.expect(!bytes.Contains(bytes.ToLower(text), []byte(needle)), "XP-DISCOVERY-003", at, "a URL in the answer follows the host that the request named",
			"build every URL from the configured origin: a reader would take its keys from whoever sent it here")
	}
	const apart = "?bizcheck=foreign-host"
	look(c.get(http.MethodGet, at+apart, http.Header{"Accept": {typeJSON}, "X-Forwarded-Host": {foreignHost}, "X-Original-Host": {foreignHost}, "Forwarded": {"host=" + foreignHost}}), foreignHost)
	if _, err := netip.ParseAddr(u.Hostname()); err != nil && u.Scheme == "https" && !strings.HasSuffix(u.Hostname(), ".") {
		u.Host = u.Hostname() + "."
		look(c.get(http.MethodGet, u.String()+apart, accepting(typeJSON)), "://"+strings.ToLower(u.Host))
	}
	if asked == 0 {
		c.untested("XP-DISCOVERY-003", at, "the document could not be asked for under another host", "no such request was answered")
	}
}

// discover asks /discovery/query for publishers. The manifests it names are returned, and whether there are more.
func (c *checker) discover(origin string) (manifests []string, more bool) {
	a := c.document(fmt.Sprintf("%s/discovery/query?limit=%d", origin, c.MaxPublishers))
	if !a.ok() {
		c.left = append(c.left, "publishers: /discovery/query could not be read ("+a.problem()+")")
		return nil, false
	}
	q, err := objectOf(a.body)
	if err != nil {
		c.fail("XP-VERSION-001", a.at, "not strict JSON: "+err.Error(), "repair the answer; readers refuse it as a whole")
		return nil, false
	}
	c.checkWire("XP-MANIFEST-001", a, typeJSON)
	c.checkVersion(a.at, q)
	c.checkClaims(a.at, a.body)
	results := q.objects("results")
	for _, one := range results {
		at := one.text("manifest")
		if !c.checkLocator(a.at, "results[].manifest", at) {
			continue
		}
		if len(manifests) < c.MaxPublishers {
			manifests = append(manifests, at)
			c.checkFound(at)
		}
	}
	return manifests, q.has("next_cursor") || len(results) > len(manifests)
}

// checkFound is XP-FRESHNESS-007 for what discovery shows.
func (c *checker) checkFound(at string) {
	a := c.document(at)
	if !a.ok() {
		return
	}
	m, _ := objectOf(a.body)
	if p := m.object("publication"); p.has("published") {
		c.expect(p.is("published", "true"), "XP-FRESHNESS-007", at, "discovery names a publisher whose manifest says that it is not published", "leave it out of /discovery/query from the same moment on")
	}
}

// checkLocator is XP-DISCOVERY-004 for one locator: absolute, and https unless the checked registry itself is on the own machine.
func (c *checker) checkLocator(place, name, at string) bool {
	u, err := url.Parse(at)
	ok := err == nil && u.Host != "" && u.User == nil && u.Fragment == "" && (u.Scheme == "https" || u.Scheme == "http" && strings.HasPrefix(place, "http://"))
	return c.expect(ok, "XP-DISCOVERY-004", place, fmt.Sprintf("%s is no absolute https URL: %.200q", name, safefetch.WithoutQuery(at)),
		"write scheme, host and path; without a public origin refuse with 503 no_anchor")
}
