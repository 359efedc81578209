package describe

import (
	"net/url"
	"strings"

	"sayso/facts"
)

// ProtocolVersions are the MCP revisions the endpoint speaks, newest first.
var ProtocolVersions = []string{"2026-07-28", "2025-11-25", "2025-06-18"}

// catalogEntryType is the name of the member that says what an AI Catalog entry is. Older snapshots of the catalogue
// format call it mediaType; readers accept both (F§9.3).
const catalogEntryType = "type"

type serverCard struct {
	Schema      string   `json:"$schema"`
	Name        string   `json:"name"`
	Version     string   `json:"version"`
	Description string   `json:"description"`
	Title       string   `json:"title"`
	WebsiteURL  string   `json:"websiteUrl,omitempty"`
	Remotes     []remote `json:"remotes"`
}

type remote struct {
	Type                      string   `json:"type"`
	URL                       string   `json:"url"`
	SupportedProtocolVersions []string `json:"supportedProtocolVersions"`
}

// ServerName is the MCP server's name: the origin's host and "facts", in the alphabet of the Server Card.
func ServerName(s *facts.Snapshot) string {
	host := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '-'
	}, originHost(s))
	return host + "/facts"
}

// ServerTitle is the MCP server's name for people.
func ServerTitle(s *facts.Snapshot) string {
	return clip(s.Info().Publisher.Name, maxNameBytes) + " facts"
}

// ServerCard is /api/mcp/facts/server-card (F§9.3); version is the running program's. nil for a static snapshot.
func ServerCard(s *facts.Snapshot, version string) []byte {
	info := s.Info()
	if info.Static {
		return nil
	}
	return encode(serverCard{
		Schema:      "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
		Name:        ServerName(s),
		Version:     version,
		Description: about(CatalogueOf(s)),
		Title:       ServerTitle(s),
		WebsiteURL:  info.Publisher.URL,
		Remotes:     []remote{{Type: "streamable-http", URL: info.Origin + pathMCP, SupportedProtocolVersions: ProtocolVersions}},
	})
}

// AICatalog is /.well-known/ai-catalog.json (F§9.3); nil for a static snapshot.
func AICatalog(s *facts.Snapshot) []byte {
	info := s.Info()
	if info.Static {
		return nil
	}
	entry := ordered{
		{"identifier", "urn:air:" + originHost(s) + ":mcp:facts"},
		{catalogEntryType, "application/mcp-server-card+json"},
		{"url", info.Origin + pathCard},
	}
	return encode(ordered{{"specVersion", "1.0"}, {"entries", []ordered{entry}}})
}

// originHost is the host name of the origin, without the port.
func originHost(s *facts.Snapshot) string {
	origin, err := url.Parse(s.Info().Origin)
	if err != nil {
		return ""
	}
	return origin.Hostname()
}
