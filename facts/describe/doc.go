// Package describe makes every document that tells a reader what a facts publisher offers: discovery, schemas, the
// OpenAPI description, the MCP tools and cards, llms.txt, the feed and the sitemaps. It is pure: a snapshot and, where
// a document depends on it, the day go in; the exact bytes to serve come out.
//
// # Operations
//
// One table (F§9.1, F§9.2) defines the three read operations; the MCP tools and the OpenAPI operations are both made
// from it and cannot drift apart.
//
//	tool                 operationId        HTTP                  arguments
//	get_fact             getFact, getFacts  GET /f/{key}, GET /f  key, max_age?, as_of?, period?
//	resolve_fact         resolveFact        GET /f/resolve        q, namespace?, limit?
//	what_changed_since   whatChangedSince   GET /changes.json     since, area?, limit?, cursor?
//
// Titles and descriptions name what the dataset holds (example keys, namespaces, areas), each within a fixed number of
// bytes whatever the dataset says, so that the tool list stays within 2,662 bytes (F§15). Text from the publisher
// enters with control characters removed.
//
// # Calls
//
// [Call] runs one tool. The arguments are one JSON object under the strict profile of package jcs: duplicate members,
// unknown members and values of another JSON type are refused with [Result].IsError and a sentence that names the
// argument; it is the sentence the HTTP surface puts into the message of its 400. Otherwise Result.JSON is what HTTP
// serves for the same question, byte for byte; only what_changed_since adds cite and attribution (F§8.4). A miss is an
// answer, not an error (F§5.3).
//
// # Documents
//
//	FactsJSON         /.well-known/facts.json        application/json
//	ChangesDiscovery  /.well-known/changes.json      application/json; depends on the day when served
//	JWKS              /.well-known/jwks.json         application/json
//	OpenAPI           /openapi.json                  application/json, served only
//	ServerCard        /api/mcp/facts/server-card     application/mcp-server-card+json, served only
//	AICatalog         /.well-known/ai-catalog.json   application/ai-catalog+json, served only
//	LLMs              /llms.txt                      text/plain, exactly two lines
//	Atom              /changes.atom                  application/atom+xml (RFC 4287)
//	Sitemaps          /sitemap.xml, /sitemap-N.xml   application/xml
//	Schema            /schema/NAME                   application/schema+json, JSON Schema draft 2020-12
//
// A snapshot built with Options.Static describes a folder of files: templates end in .json, filtering is "client", and
// nothing that needs a server or depends on the day is named. Every URL starts with Options.Origin. JSON documents are
// compact, their members in the order of F§8 and F§9; equal snapshots give equal bytes.
package describe
