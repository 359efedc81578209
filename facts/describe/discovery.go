package describe

import (
	"strings"

	"sayso/facts"
	"sayso/jwk"
)

// The fixed paths under the origin.
const (
	pathFactsDoc   = "/.well-known/facts.json"
	pathChangesDoc = "/.well-known/changes.json"
	pathJWKS       = "/.well-known/jwks.json"
	pathChanges    = "/changes.json"
	pathAtom       = "/changes.atom"
	pathOpenAPI    = "/openapi.json"
	pathMCP        = "/api/mcp/facts"
	pathCard       = pathMCP + "/server-card"
	pathProtocol   = "/protocol/facts"
	pathSchema     = "/schema/"
)

// largeIndex is the number of keys from which readers are told to ask for one namespace (F§15).
const largeIndex = 5000

type factsDocument struct {
	Protocol      string           `json:"protocol"`
	Publisher     facts.Publisher  `json:"publisher"`
	Conformance   string           `json:"conformance"`
	Updated       facts.Date       `json:"updated"`
	Facts         factsSection     `json:"facts"`
	Namespaces    []namespaceEntry `json:"namespaces"`
	Hash          string           `json:"hash"`
	Signature     string           `json:"signature,omitempty"`
	Keys          string           `json:"keys,omitempty"`
	Changes       string           `json:"changes"`
	OpenAPI       string           `json:"openapi,omitempty"`
	MCP           *mcpSection      `json:"mcp,omitempty"`
	Schema        string           `json:"schema"`
	Specification string           `json:"specification,omitempty"`
	Licence       string           `json:"licence,omitempty"`
	Contact       string           `json:"contact,omitempty"`
	KeyPolicy     string           `json:"keyPolicy,omitempty"`
	History       string           `json:"history,omitempty"`
	SelfCheck     *facts.SelfCheck `json:"selfCheck,omitempty"`
}

type factsSection struct {
	Count             int               `json:"count"`
	Get               string            `json:"get"`
	Batch             string            `json:"batch,omitempty"`
	Resolve           string            `json:"resolve,omitempty"`
	Index             string            `json:"index"`
	Filtering         string            `json:"filtering"`
	Note              string            `json:"note,omitempty"`
	Examples          []string          `json:"examples,omitempty"`
	Topics            []topicEntry      `json:"topics,omitempty"`
	StopWords         []string          `json:"stopWords,omitempty"`
	JurisdictionWords map[string]string `json:"jurisdictionWords,omitempty"`
	AliasClasses      []aliasClass      `json:"aliasClasses,omitempty"`
}

type namespaceEntry struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Count       int      `json:"count"`
	Cadence     string   `json:"cadence"`
	Authorities []string `json:"authorities"`
}

type topicEntry struct {
	Prefix   string            `json:"prefix"`
	Title    string            `json:"title"`
	Area     string            `json:"area,omitempty"`
	Synonyms map[string]string `json:"synonyms,omitempty"`
}

type aliasClass struct {
	Name string `json:"name"`
	From string `json:"from"`
	To   string `json:"to"`
}

type mcpSection struct {
	URL        string   `json:"url"`
	Tools      []string `json:"tools"`
	ServerCard string   `json:"serverCard,omitempty"`
}

// aliasClasses are the families of F§2.2 that are recognised by rule.
var aliasClasses = []aliasClass{
	{Name: "gb", From: "gb/{rest}", To: "uk/{rest}"},
	{Name: "gb", From: "gb-{subdivision}/{rest}", To: "uk-{subdivision}/{rest}"},
	{Name: "changelog", From: "{area}:{key}", To: "{namespace}/{key}"},
}

// FactsJSON is /.well-known/facts.json (F§8.1).
func FactsJSON(s *facts.Snapshot) []byte {
	info := s.Info()
	doc := factsDocument{
		Protocol:    facts.Protocol,
		Publisher:   info.Publisher,
		Conformance: info.Conformance,
		Updated:     info.Newest,
		Facts:       factsSectionOf(info),
		Namespaces:  namespaceEntries(info),
		Hash:        "sha256/jcs",
		Changes:     info.Origin + pathChangesDoc,
		Schema:      info.Origin + pathSchema + "fact.v0.json",
		Licence:     info.Licence,
		Contact:     info.Contact,
		KeyPolicy:   info.KeyPolicy,
		History:     info.History,
		SelfCheck:   info.SelfCheck,
	}
	if info.Signed {
		doc.Signature = "EdDSA/jws-detached"
		doc.Keys = info.Origin + pathJWKS
	}
	if !info.Static {
		doc.OpenAPI = info.Origin + pathOpenAPI
		doc.MCP = mcpSectionOf(info, true)
		doc.Specification = info.Origin + pathProtocol
	}
	return encode(doc)
}

func factsSectionOf(info *facts.Info) factsSection {
	section := factsSection{
		Count:             info.Count,
		Get:               info.Origin + "/f/{key}",
		Index:             info.Origin + "/f",
		Filtering:         "server",
		Examples:          info.Examples,
		StopWords:         info.StopWords,
		JurisdictionWords: info.JurisdictionWords,
		AliasClasses:      aliasClasses,
	}
	if info.Static {
		section.Get += ".json"
		section.Index += "/index.json"
		section.Filtering = "client"
	} else {
		section.Batch = info.Origin + "/f?keys={keys}"
		section.Resolve = info.Origin + "/f/resolve?q={q}"
		if info.Count > largeIndex {
			section.Note = "the index is long; add ?namespace= and the name of a namespace to read a part of it"
		}
	}
	for _, t := range info.Topics {
		section.Topics = append(section.Topics, topicEntry{Prefix: t.Prefix, Title: t.Title, Area: t.Area, Synonyms: t.Synonyms})
	}
	return section
}

func namespaceEntries(info *facts.Info) []namespaceEntry {
	entries := make([]namespaceEntry, 0, len(info.Namespaces))
	for _, n := range info.Namespaces {
		entries = append(entries, namespaceEntry{
			Name:        n.Name,
			Description: n.Description,
			Count:       info.NamespaceCounts[n.Name],
			Cadence:     cadence(info, n.Name),
			Authorities: list(n.Authorities),
		})
	}
	return entries
}

// cadence joins the cadences of the areas that belong to a namespace or hold a topic of it.
func cadence(info *facts.Info, namespace string) string {
	held := map[string]bool{}
	for _, t := range info.Topics {
		if facts.KeyNamespace(t.Prefix) == namespace {
			held[t.Area] = true
		}
	}
	var parts []string
	for _, a := range info.Areas {
		if a.Cadence != "" && (a.Namespace == namespace || held[a.Name]) {
			parts = append(parts, a.Name+": "+a.Cadence)
		}
	}
	return strings.Join(parts, " ")
}

func mcpSectionOf(info *facts.Info, withCard bool) *mcpSection {
	section := &mcpSection{URL: info.Origin + pathMCP}
	for i := range tools {
		section.Tools = append(section.Tools, tools[i].Tool)
	}
	if withCard {
		section.ServerCard = info.Origin + pathCard
	}
	return section
}

// list is items, never null in JSON.
func list(items []string) []string {
	if items == nil {
		return []string{}
	}
	return items
}

type changesDiscovery struct {
	Protocol      string          `json:"protocol"`
	Publisher     facts.Publisher `json:"publisher"`
	Updated       facts.Date      `json:"updated"`
	CoverageStart facts.Date      `json:"coverageStart,omitzero"`
	SinceHint     facts.Date      `json:"sinceHint,omitzero"`
	Filtering     string          `json:"filtering"`
	Status        string          `json:"status,omitempty"`
	Areas         []areaEntry     `json:"areas"`
	Endpoints     endpoints       `json:"endpoints"`
	Facts         string          `json:"facts"`
	MCP           *mcpSection     `json:"mcp,omitempty"`
	Schema        string          `json:"schema"`
	Specification string          `json:"specification,omitempty"`
	Licence       string          `json:"licence,omitempty"`
	Contact       string          `json:"contact,omitempty"`
	History       string          `json:"history,omitempty"`
}

type areaEntry struct {
	Name                 string     `json:"name"`
	Namespace            string     `json:"namespace,omitempty"`
	Description          string     `json:"description,omitempty"`
	Cadence              string     `json:"cadence,omitempty"`
	CadenceType          string     `json:"cadenceType,omitempty"`
	Count                int        `json:"count"`
	LastVerified         facts.Date `json:"lastVerified"`
	NextScheduledRefresh facts.Date `json:"nextScheduledRefresh"`
	Staleness            string     `json:"staleness,omitempty"`
	Authorities          []string   `json:"authorities,omitempty"`
}

type endpoints struct {
	JSON string `json:"json"`
}

// ChangesDiscovery is /.well-known/changes.json (F§8.2). A static document says nothing that depends on the day: today
// is read only when the snapshot is served.
func ChangesDiscovery(s *facts.Snapshot, today facts.Date) []byte {
	info := s.Info()
	doc := changesDiscovery{
		Protocol:  facts.ChangesProtocol,
		Publisher: info.Publisher,
		Updated:   info.Newest,
		Filtering: "server",
		Areas:     areaEntries(info, today),
		Endpoints: endpoints{JSON: info.Origin + pathChanges},
		Facts:     info.Origin + pathFactsDoc,
		Schema:    info.Origin + pathSchema + "well-known-changes.v0.json",
		Licence:   info.Licence,
		Contact:   info.Contact,
		History:   info.History,
	}
	if entries := s.Entries(); len(entries) > 0 {
		doc.Updated = entries[len(entries)-1].VerifiedDate
		doc.CoverageStart = entries[0].VerifiedDate
		doc.SinceHint = max(doc.CoverageStart-1, 1)
	} else {
		doc.Status = "no changes recorded yet"
	}
	if info.Static {
		doc.Filtering = "client"
	} else {
		doc.MCP = mcpSectionOf(info, false)
		doc.Specification = info.Origin + pathProtocol
	}
	return encode(doc)
}

func areaEntries(info *facts.Info, today facts.Date) []areaEntry {
	authorities := map[string][]string{}
	for _, n := range info.Namespaces {
		authorities[n.Name] = n.Authorities
	}
	entries := make([]areaEntry, 0, len(info.Areas))
	for _, a := range info.Areas {
		stat := info.AreaStats[a.Name]
		entry := areaEntry{
			Name: a.Name, Namespace: a.Namespace, Description: a.Description,
			Cadence: a.Cadence, CadenceType: a.CadenceType,
			Count: stat.Count, LastVerified: stat.LastVerified, NextScheduledRefresh: stat.EarliestScheduled,
			Authorities: authorities[a.Namespace],
		}
		if !info.Static {
			entry.Staleness = facts.Staleness(stat.EarliestScheduled, a.GraceDays, today)
		}
		entries = append(entries, entry)
	}
	return entries
}

// JWKS is /.well-known/jwks.json (F§7.4), a set without keys when the publisher has none.
func JWKS(s *facts.Snapshot) []byte {
	if set := s.Info().Keys; set != nil {
		return encode(set)
	}
	return encode(&jwk.Set{})
}
