package provider

import (
	"net/netip"
	"net/url"
	"strings"

	"sayso/gidp/wire"
	"sayso/jcs"
)

// Bounds of a request.
const (
	MaxBody   = 80 << 10 // bytes of a request: one object and what stands beside it
	MaxLimit  = 50       // candidates of a page
	MaxLabels = 16       // labels of one dimension
	maxTotal  = 32       // labels of one projection or query
	maxLabel  = 64       // bytes of a label
	maxDigits = 5        // digits of a label; more could be a telephone or register number
	maxCursor = 128
	maxURL    = 512
)

// Publication is the body of publish and update. Key is the JWK whose signature the carrier of the request has verified (P-2).
type Publication struct {
	Key         jcs.Raw                   `json:"key"`
	Projection  *wire.DiscoveryProjection `json:"-"`
	Attributes  map[string][]string       `json:"attributes"`  // retrieval attributes of a profile, beside the projection (W-3)
	Hierarchies map[string]string         `json:"hierarchies"` // by dimension: id of the hierarchy the labels were generalised by
}

// Query is the body of a candidate query. Of the projection only the four lists are read: a querent fills in an id and an endpoint that lead nowhere.
type Query struct {
	Key        jcs.Raw
	Projection *wire.DiscoveryProjection
	Attributes map[string][]string
	Limit      int // 1 to MaxLimit
	Cursor     string
}

// ReadPublication reads a body strictly. Errors are *Error with CodeMalformed.
func ReadPublication(body []byte) (*Publication, error) {
	var in struct {
		Publication
		Object jcs.Raw `json:"projection"`
	}
	o, err := readBody(body, &in, &in.Key, &in.Object)
	if err != nil {
		return nil, err
	}
	in.Projection = o
	return &in.Publication, nil
}

// ReadQuery reads a body strictly. A limit above MaxLimit is cut, an absent one is MaxLimit. Errors are *Error with CodeMalformed.
func ReadQuery(body []byte) (*Query, error) {
	var in struct {
		Key        jcs.Raw             `json:"key"`
		Object     jcs.Raw             `json:"projection"`
		Attributes map[string][]string `json:"attributes"`
		Limit      *int                `json:"limit"`
		Cursor     string              `json:"cursor"`
	}
	o, err := readBody(body, &in, &in.Key, &in.Object)
	if err != nil {
		return nil, err
	}
	limit := MaxLimit
	if in.Limit != nil {
		limit = min(*in.Limit, MaxLimit)
	}
	if limit < 1 {
		return nil, refuse(CodeMalformed, "limit", "a page holds at least one candidate")
	}
	if len(in.Cursor) > maxCursor {
		return nil, refuse(CodeMalformed, "cursor", "longer than any cursor of this provider")
	}
	return &Query{Key: in.Key, Projection: o, Attributes: in.Attributes, Limit: limit, Cursor: in.Cursor}, nil
}

func readBody(body []byte, into any, key, object *jcs.Raw) (*wire.DiscoveryProjection, error) {
	if len(body) > MaxBody {
		return nil, refuse(CodeMalformed, "", "the request is too large")
	}
	if err := jcs.DecodeKnown(body, into); err != nil {
		return nil, &Error{Code: CodeMalformed, Detail: "not a JSON object of this operation", cause: err}
	}
	if len(*key) == 0 || (*key)[0] != '{' {
		return nil, refuse(CodeMalformed, "key", "the public key of the request is required, a JWK")
	}
	if len(*object) == 0 {
		return nil, refuse(CodeMalformed, "projection", "a required member is missing")
	}
	o, err := wire.Decode(*object)
	if err != nil {
		return nil, &Error{Code: CodeMalformed, Place: "projection", Detail: "not a DiscoveryProjection of gidp/0.1", cause: err}
	}
	p, ok := o.(*wire.DiscoveryProjection)
	if !ok {
		return nil, refuse(CodeMalformed, "projection", "not a DiscoveryProjection")
	}
	return p, nil
}

// The dimensions of the members of a projection (§11.1).
const (
	Category  = "category"
	Domain    = "domain"
	Geography = "geography"
	Relation  = "relation"
)

// labels gathers what a projection and its attributes say, by dimension, and holds every label to the rules of P-4 and P-8.
func (p *Provider) labels(o *wire.DiscoveryProjection, attributes map[string][]string) (map[string][]string, error) {
	out := map[string][]string{}
	total := 0
	put := func(place, dim string, list []string) error {
		if total += len(list); len(list) > MaxLabels || total > maxTotal {
			return refuse(CodeRefused, place, "more labels than a coarse projection needs")
		}
		if len(list) == 0 {
			return nil
		}
		if _, ok := p.index.byName[dim]; !ok {
			return refuse(CodeRefused, place, "not a retrieval attribute of this provider; its information lists them")
		}
		for _, label := range list {
			if problem := labelProblem(label); problem != "" {
				return refuse(CodeRefused, place, problem)
			}
		}
		out[dim] = list
		return nil
	}
	for _, m := range []struct {
		dim, place string
		list       []string
	}{{Category, "projection/categories", o.Categories}, {Domain, "projection/domains", o.Domains}, {Geography, "projection/geographies", o.Geographies}} {
		if err := put(m.place, m.dim, m.list); err != nil {
			return nil, err
		}
	}
	for dim, list := range attributes {
		if dim == Category || dim == Domain || dim == Geography || dim == Relation {
			return nil, refuse(CodeRefused, "attributes", "a member of the projection is not repeated beside it")
		}
		if err := put("attributes", dim, list); err != nil {
			return nil, err
		}
	}
	if len(out) == 0 {
		return nil, refuse(CodeRefused, "projection", "no retrieval attribute; a relation alone is none")
	}
	for _, r := range o.Relation {
		if !p.relations[r] {
			return nil, refuse(CodeRefused, "projection/relation", "a relation that no profile of this provider has")
		}
	}
	return out, put("projection/relation", Relation, o.Relation)
}

// labelProblem says why a label is not one: lower-case ASCII letters, digits, _ and -. Addresses, names with spaces, wildcards and numbers fall out (P-4, P-8).
func labelProblem(label string) string {
	if label == "" || len(label) > maxLabel {
		return "a label has 1 to 64 bytes"
	}
	digits := 0
	for i := range len(label) {
		switch c := label[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'z', i > 0 && (c == '_' || c == '-'):
		default:
			return "a label is written in a-z, 0-9, _ and -; anything else could identify somebody"
		}
	}
	if digits > maxDigits {
		return "a label with that many digits could identify somebody"
	}
	return ""
}

// localNames end the names that lead nowhere, or somewhere private.
var localNames = []string{".localhost", ".local", ".internal", ".home.arpa", ".lan", ".invalid", ".test", ".onion"}

// endpointProblem says why an endpoint is not one: an absolute https URL on a public name (P-4). An address instead of a name is refused: no certificate that
// others trust speaks for it, and it identifies a machine. What a name resolves to is for who may ask the DNS.
func endpointProblem(endpoint string, private bool) string {
	u, err := url.Parse(endpoint)
	if err != nil || len(endpoint) > maxURL || u.Host == "" || u.Opaque != "" {
		return "not an absolute URL"
	}
	if u.User != nil || u.RawQuery != "" || u.ForceQuery || strings.Contains(endpoint, "#") {
		return "an endpoint has no user, query or fragment"
	}
	if private {
		return ""
	}
	if u.Scheme != "https" {
		return "not an https URL"
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if _, err := netip.ParseAddr(host); err == nil {
		return "an address instead of a name"
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == host || strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return "not a public name"
	}
	for _, end := range localNames {
		if strings.HasSuffix(host, end) {
			return "not a public name"
		}
	}
	return ""
}
