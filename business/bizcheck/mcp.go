package bizcheck

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"sayso/business"
	"sayso/jcs"
	"sayso/safefetch"
)

// unknownRevision is one that no server speaks.
const unknownRevision = "1999-01-01"

// checkMCP looks at the publisher's tools. It begins with XP-TRANSPORT-002: initialize with the newest revision, an older one and one that nobody speaks.
func (c *checker) checkMCP(p *publisher) {
	at := p.endpoints.text("mcp")
	if at == "" {
		return
	}
	c.mcp = true
	newest := p.manifest.text("api_version")
	spoken := []string{newest}
	if a := c.document(strings.TrimSuffix(p.at, "manifest.json") + "registry.json"); a.ok() {
		d, _ := objectOf(a.body)
		spoken = append(spoken, d.texts("mcp_versions")...)
	}
	for _, asked := range []string{newest, business.MCPVersions[len(business.MCPVersions)-1], unknownRevision} {
		got, a := c.initialize(at, asked)
		if a.unread() || a.status == http.StatusUnauthorized || a.status == http.StatusForbidden {
			c.untested("XP-TRANSPORT-002", a.at, "initialize was not answered", a.problem())
			c.unasked = "initialize was not answered"
			return
		}
		want := newest
		if slices.Contains(spoken, asked) || !p.listed && got == asked && asked != unknownRevision { // unread, registry.json speaks in neither direction
			want = asked
		}
		c.expect(got == want, "XP-TRANSPORT-002", a.at, fmt.Sprintf("asked for revision %s, the answer (%d) names %.50q", asked, a.status, got), "echo a revision that is spoken, and otherwise name the newest one: here "+clip(want, 50))
	}
	c.looked = append(c.looked, safefetch.WithoutQuery(at)+" (initialize)")
	c.checkUnknownEndpoint(p, at)
	c.interview(p, at)
}

// checkUnknownEndpoint is XP-DISCOVERY-004 for tools: at the endpoint of a publisher that does not exist the answer is the refusal of every other address.
func (c *checker) checkUnknownEndpoint(p *publisher, at string) {
	base, ok := strings.CutSuffix(at, "/t/"+p.slug+"/mcp")
	if !ok {
		return // nothing says where the endpoint of another publisher would be
	}
	_, a := c.initialize(base+"/t/"+unknownSlug+"/mcp", business.APIVersion)
	if a.unread() {
		c.untested("XP-DISCOVERY-004", a.at, "the endpoint of a publisher that does not exist could not be asked", a.problem())
		return
	}
	code := codeOf(a.body)
	c.expect(a.status == http.StatusNotFound && code == "unknown_publisher", "XP-DISCOVERY-004", a.at,
		fmt.Sprintf("at the endpoint of a publisher that does not exist the answer is %d with the code %q", a.status, code), "answer 404 with unknown_publisher before anything of JSON-RPC")
}

// initialize sends one handshake and returns the revision that the server names.
func (c *checker) initialize(at, revision string) (string, *answer) {
	body := append([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},"clientInfo":{"name":"sayso","version":"1"},"protocolVersion":`), jcs.AppendString(nil, revision)...)
	a := c.post(at, append(body, "}}"...))
	reply, _ := objectOf(payload(a.body))
	return reply.object("result").text("protocolVersion"), a
}

// payload is the JSON of an answer, which may come as the first event of a stream.
func payload(body []byte) []byte {
	for l := range bytes.Lines(body) {
		if data, ok := bytes.CutPrefix(l, []byte("data:")); ok {
			return bytes.TrimSpace(data)
		}
	}
	return body
}
