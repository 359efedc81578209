package factscheck

import (
	"fmt"
	"net/http"
	"strings"

	"sayso/facts/factshttp"
	"sayso/jcs"
)

// checkDiscovery is item 1. It reports whether the rest can be looked at.
func (c *checker) checkDiscovery() bool {
	resp, err := c.get(c.factsURL, "")
	if err != nil {
		c.unanswered("VF-L1-001a", c.factsURL, "the document could not be fetched", err)
		return false
	}
	if resp.Status != http.StatusOK {
		return c.expect(false, "VF-L1-001a", c.factsURL, "the answer is "+status(resp), "serve facts.json there; every reader starts with it")
	}
	if t := mediaType(resp.Header); t != "application/json" {
		c.fail("VF-L1-001a", c.factsURL, fmt.Sprintf("the content type is %q", t), "serve it as application/json")
	}
	if err := jcs.Check(resp.Body); err != nil {
		return c.expect(false, "VF-L1-001a", c.factsURL, "not strict JSON: "+err.Error(), "repair the document; readers refuse it as a whole")
	}
	c.pass("VF-L1-001a")
	problem := c.schemas.check(schemaFacts, resp.Body)
	c.expect(problem == "", "VF-L1-001b", c.factsURL, problem, "compare with /schema/"+schemaFacts)
	d := &factshttp.Discovery{JSON: resp.Body}
	if err := jcs.Decode(resp.Body, d); err != nil {
		if problem == "" {
			c.fail("VF-L1-001b", c.factsURL, err.Error(), "")
		}
		return false
	}
	if !strings.HasPrefix(d.Protocol, "verified-facts/0.") {
		return c.expect(false, "VF-L1-001c", c.factsURL, fmt.Sprintf("protocol is %q", d.Protocol), "this checker knows verified-facts/0.x")
	}
	c.pass("VF-L1-001c")
	c.discovery = d
	if d.Conformance == "L1" {
		c.expect(d.Static(), "VF-L1-001d", c.factsURL, fmt.Sprintf("conformance is L1 and filtering is %q", d.Facts.Filtering), "say client, or claim L2")
	} else {
		c.untested("VF-L1-001d", c.factsURL, "the origin claims more than L1", "the rule is for a publisher that claims only L1")
	}
	sum := 0
	for _, n := range d.Namespaces {
		sum += n.Count
	}
	c.expect(sum == d.Facts.Count, "VF-L1-001e", c.factsURL, fmt.Sprintf("facts.count is %d, the namespaces count %d", d.Facts.Count, sum), "count every canonical key once, withdrawn ones included")
	c.checkURLs(d)
	return true
}

// checkURLs is 001f. An origin on the own machine may be http, as it was typed.
func (c *checker) checkURLs(d *factshttp.Discovery) {
	urls := map[string]string{"facts.get": d.Facts.Get, "facts.index": d.Facts.Index, "facts.batch": d.Facts.Batch, "facts.resolve": d.Facts.Resolve,
		"keys": d.Keys, "changes": d.Changes, "openapi": d.OpenAPI}
	if d.MCP != nil {
		urls["mcp.url"], urls["mcp.serverCard"] = d.MCP.URL, d.MCP.ServerCard
	}
	for member, at := range urls {
		switch origin := factshttp.OriginOf(at); {
		case at == "":
		case origin == factshttp.OriginOf(c.Origin):
			c.pass("VF-L1-001f")
		case !strings.HasPrefix(origin, "https://"):
			c.warn("VF-L1-001f", c.factsURL, fmt.Sprintf("%s is no absolute https URL: %.200q", member, at), "write the URL with scheme and host")
		default:
			c.warn("VF-L1-001f", c.factsURL, member+" is on another origin: "+origin, "serve it on "+c.Origin+" so that readers know whose it is")
		}
	}
}
