package business

import (
	"time"

	"sayso/jcs"
)

// MCPVersions are the MCP revisions that a handshake negotiates on the endpoint, newest first (X§1).
var MCPVersions = []string{APIVersion, "2025-06-18"}

type registryDocument struct {
	ProtocolXVersion string           `json:"protocol_x_version"`
	APIVersion       string           `json:"api_version"`
	ServerVersion    string           `json:"server_version"`
	Registry         string           `json:"registry"`
	GeneratedAt      time.Time        `json:"generated_at"`
	Publication      PublicationBlock `json:"publication"`
	Publisher        Info             `json:"publisher"`
	MCPEndpoint      string           `json:"mcp_endpoint,omitempty"`
	MCPVersions      []string         `json:"mcp_versions"`
	Tools            []toolEntry      `json:"tools"`
	RecordTypes      []typeEntry      `json:"record_types"`
	LiveStreams      []streamEntry    `json:"live_streams"`
	JWKSURL          string           `json:"jwks_url"`
	RevocationURL    string           `json:"revocation_url"`
	RegistryKeysURL  string           `json:"registry_keys_url"`
}

type toolEntry struct {
	Name        string  `json:"name"`
	Handler     string  `json:"handler"`
	Description string  `json:"description,omitempty"`
	InputSchema jcs.Raw `json:"input_schema,omitempty"`
}

type typeEntry struct {
	Type  string              `json:"type"`
	Words map[string][]string `json:"words,omitempty"`
	Count int                 `json:"count"`
}

type streamEntry struct {
	Key        string `json:"key"`
	Unit       string `json:"unit,omitempty"`
	ScopedBy   string `json:"scoped_by,omitempty"`
	SLASeconds int64  `json:"sla_seconds"`
}

// RegistryDocument is registry.json, the unsigned MCP-oriented discovery document of a publisher (X§2.1). mcp_versions, tools and live_streams, which is
// what the endpoint answers about, are empty while the document names no mcp_endpoint; record_types too while the publisher is not published.
func (p *Publication) RegistryDocument(s Site, now time.Time) []byte {
	locators := s.Locators(p)
	doc := registryDocument{
		ProtocolXVersion: Version, APIVersion: APIVersion, ServerVersion: s.ServerVersion, Registry: Family, GeneratedAt: utc(now),
		Publication: PublicationBlock{Published: p.Standing.IsPublished(now)},
		Publisher:   p.Info(now),
		JWKSURL:     locators.JWKS, RevocationURL: locators.Revocations, RegistryKeysURL: s.RegistryKeysURL(),
	}
	if !doc.Publication.Published {
		return encode(doc)
	}
	schema := p.Vocabulary()
	for _, t := range p.Types {
		doc.RecordTypes = append(doc.RecordTypes, typeEntry{Type: t.Type, Words: schema.Types[t.Type].Words, Count: t.Count})
	}
	if locators.MCP == "" {
		return encode(doc)
	}
	doc.MCPEndpoint, doc.MCPVersions = locators.MCP, MCPVersions
	for _, t := range s.tools(p) {
		entry := toolEntry{Name: t.Name, Handler: t.Handler, Description: t.Description}
		if s.InputSchema != nil {
			entry.InputSchema = s.InputSchema(t.Handler, schema)
		}
		doc.Tools = append(doc.Tools, entry)
	}
	for _, stream := range schema.Streams {
		doc.LiveStreams = append(doc.LiveStreams, streamEntry{Key: stream.Key, Unit: stream.Unit, ScopedBy: stream.ScopedBy, SLASeconds: stream.SLASeconds})
	}
	return encode(doc)
}

// Vocabulary is the publisher's schema, empty without one; holders share it. A stored schema that this version no longer accepts states nothing: one publisher's old text must not
// take the documents of all down.
func (p *Publication) Vocabulary() *Schema {
	if p.vocabulary != nil {
		return p.vocabulary
	}
	if schema, err := ParseSchema(p.Schema); err == nil {
		return schema
	}
	return &Schema{}
}
