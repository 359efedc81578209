package factscheck

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"sayso/facts/factshttp"
	"sayso/jcs"
	"sayso/safefetch"
)

// openAPI is what the routes rule needs of the document.
type openAPI struct {
	OpenAPI string `json:"openapi"`
	Servers []struct {
		URL string `json:"url"`
	} `json:"servers"`
	Paths map[string]map[string]jcs.Raw `json:"paths"`
}

type operation struct {
	OperationID string `json:"operationId"`
	Parameters  []struct {
		Name     string `json:"name"`
		In       string `json:"in"`
		Required bool   `json:"required"`
	} `json:"parameters"`
}

var operationIDs = []string{"getFact", "getFacts", "resolveFact", "whatChangedSince"}

// checkOpenAPI is item 13.
func (c *checker) checkOpenAPI() {
	at := c.discovery.OpenAPI
	if at == "" {
		return
	}
	data, ok := c.document("VF-L2-013a", at)
	if !ok {
		return
	}
	var doc openAPI
	if err := jcs.Decode(data, &doc); err != nil {
		c.fail("VF-L2-013a", at, "the document cannot be read: "+err.Error(), "serve an OpenAPI 3.1 document")
		return
	}
	c.expect(strings.HasPrefix(doc.OpenAPI, "3."), "VF-L2-013a", at, fmt.Sprintf("openapi is %.40q", doc.OpenAPI), "serve an OpenAPI 3.1 document")
	base := c.Origin
	if len(doc.Servers) > 0 && doc.Servers[0].URL != "" {
		base = strings.TrimRight(doc.Servers[0].URL, "/")
	}
	var ids []string
	for path, methods := range doc.Paths {
		for method, raw := range methods {
			var op operation
			if !slices.Contains([]string{"get", "post", "head", "options"}, method) || jcs.Decode(raw, &op) != nil {
				continue // parameters shared by the path, or an operation no reader sends
			}
			ids = append(ids, op.OperationID)
			c.checkOperation(base, path, method, op)
		}
	}
	for _, id := range operationIDs {
		c.expect(slices.Contains(ids, id), "VF-L2-013b", at, "there is no operation "+id, "describe get, batch, resolve and changes under these names")
	}
}

// examples are values under which every operation of the protocol answers.
func (c *checker) examples() map[string]string {
	r := c.records[0].record
	return map[string]string{"key": r.Key, "keys": r.Key, "q": r.Label, "since": r.VerifiedDate.AddDays(-1).String()}
}

// checkOperation is 013c for one operation: sent with example values it must reach its handler.
func (c *checker) checkOperation(base, path, method string, op operation) {
	values := c.examples()
	at := base + path
	for name, value := range values {
		at = factshttp.Expand(at, name, value)
	}
	for _, p := range op.Parameters {
		if value, known := values[p.Name]; p.In == "query" && known && (p.Required || p.Name == "keys" || p.Name == "since") {
			at = query(at, p.Name, value)
		}
	}
	place := strings.ToUpper(method) + " " + base + path
	if strings.Contains(at, "{") {
		c.untested("VF-L2-013c", place, "the operation could not be tried", "it has a path parameter that the protocol does not know")
		return
	}
	r := safefetch.Request{Method: strings.ToUpper(method), URL: at, Header: http.Header{"Accept": {"application/json"}}}
	if method == "post" {
		body, err := jcs.Encode(map[string][]string{"keys": {values["key"]}})
		if err != nil {
			return
		}
		r.Body = bytes.NewReader(body)
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.do(c.fetch, r)
	if err != nil {
		c.unanswered("VF-L2-013c", place, "the operation could not be tried", err)
		return
	}
	c.expect(resp.Status < 300, "VF-L2-013c", place, "the answer is "+status(resp), "describe what is served, and serve what is described")
}
