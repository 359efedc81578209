package factshttp

import (
	"context"
	"slices"
	"strings"

	"sayso/facts"
)

// Discovery is /.well-known/facts.json (F§8.1) as a reader uses it. Optional members are empty when absent.
type Discovery struct {
	Protocol    string           `json:"protocol"`
	Publisher   facts.Publisher  `json:"publisher"`
	Conformance string           `json:"conformance"` // as claimed
	Updated     facts.Date       `json:"updated"`
	Facts       DiscoveryFacts   `json:"facts"`
	Namespaces  []NamespaceOffer `json:"namespaces"`
	Signature   string           `json:"signature"`
	Keys        string           `json:"keys"`    // URL of the key set
	Changes     string           `json:"changes"` // URL of changes.json
	OpenAPI     string           `json:"openapi"`
	MCP         *DiscoveryMCP    `json:"mcp"`
	Licence     string           `json:"licence"`
	Contact     string           `json:"contact"`
	KeyPolicy   string           `json:"keyPolicy"`
	History     string           `json:"history"`
	SelfCheck   *facts.SelfCheck `json:"selfCheck"`
	JSON        []byte           `json:"-"` // as received
}

// DiscoveryFacts is the facts member: where records are and what a reader needs to rank keys itself.
type DiscoveryFacts struct {
	Count             int               `json:"count"`
	Get               string            `json:"get"` // URL templates
	Batch             string            `json:"batch"`
	Resolve           string            `json:"resolve"`
	Index             string            `json:"index"`
	Filtering         string            `json:"filtering"` // client | server
	Examples          []string          `json:"examples"`
	Topics            []TopicOffer      `json:"topics"`
	StopWords         []string          `json:"stopWords"`
	JurisdictionWords map[string]string `json:"jurisdictionWords"`
	AliasClasses      []AliasClassOffer `json:"aliasClasses"`
}

// TopicOffer is one entry of facts.topics.
type TopicOffer struct {
	Prefix   string            `json:"prefix"`
	Title    string            `json:"title"`
	Area     string            `json:"area"`
	Synonyms map[string]string `json:"synonyms"`
}

// AliasClassOffer is one entry of facts.aliasClasses.
type AliasClassOffer struct {
	Name string `json:"name"`
	From string `json:"from"`
	To   string `json:"to"`
}

// NamespaceOffer is one entry of namespaces.
type NamespaceOffer struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Count       int      `json:"count"`
	Cadence     string   `json:"cadence"`
	Authorities []string `json:"authorities"`
}

// DiscoveryMCP is the mcp member.
type DiscoveryMCP struct {
	URL        string   `json:"url"`
	Tools      []string `json:"tools"`
	ServerCard string   `json:"serverCard"`
}

// Static reports a publisher whose readers filter themselves (L1).
func (d *Discovery) Static() bool { return d.Facts.Filtering == "client" }

// Declares reports whether the publisher declares the namespace of a key.
func (d *Discovery) Declares(key string) bool {
	return slices.ContainsFunc(d.Namespaces, func(n NamespaceOffer) bool { return n.Name == facts.KeyNamespace(key) })
}

// authorities are the hosts declared for the namespace of a key, nil when the publisher does not declare the namespace.
func (d *Discovery) authorities(key string) []string {
	for _, n := range d.Namespaces {
		if n.Name == facts.KeyNamespace(key) {
			return append([]string{}, n.Authorities...)
		}
	}
	return nil
}

// Discovery is the publisher's facts.json, from the cache when it was read within the hour.
func (c *Client) Discovery(ctx context.Context) (*Discovery, error) {
	return c.discovery(ctx, c.origin)
}

// maxOrigins bounds how many publishers' documents one client remembers; records name the origin, so somebody else chooses it.
const maxOrigins = 16

func (c *Client) discovery(ctx context.Context, origin string) (*Discovery, error) {
	now := c.clock()
	c.mu.Lock()
	cached, ok := c.discovered[origin]
	c.mu.Unlock()
	if ok && now.Sub(cached.at) < discoveryLife {
		return cached.value, nil
	}
	at := origin + "/.well-known/facts.json"
	data, err := c.get(ctx, at)
	if err != nil {
		return nil, err
	}
	d, err := parseDiscovery(at, data)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.discovered) >= maxOrigins {
		clear(c.discovered)
	}
	c.discovered[origin] = dated[*Discovery]{d, now}
	return d, nil
}

func parseDiscovery(at string, data []byte) (*Discovery, error) {
	d := &Discovery{JSON: data}
	if err := decodeAnswer(at, data, d); err != nil {
		return nil, err
	}
	switch {
	case !supported(d.Protocol):
		return nil, answerError(at, "protocol %.40q cannot be read, this client reads verified-facts/0.x", d.Protocol)
	case d.Publisher.URL == "":
		return nil, answerError(at, "publisher.url is missing")
	case Expand(d.Facts.Get, "key", "") == d.Facts.Get:
		return nil, answerError(at, "facts.get is no URL template with {key}")
	case d.Facts.Index == "":
		return nil, answerError(at, "facts.index is missing")
	case d.Facts.Filtering != "client" && d.Facts.Filtering != "server":
		return nil, answerError(at, "facts.filtering is neither client nor server")
	}
	return d, nil
}

// supported reports any minor version of major 0.
func supported(protocol string) bool {
	minor, ok := strings.CutPrefix(protocol, "verified-facts/0.")
	return ok && minor != "" && strings.Trim(minor, "0123456789") == ""
}
