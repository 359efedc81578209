package describe

import (
	"bytes"
	"embed"
)

//go:embed schema/*.json
var schemaFiles embed.FS

// schemaNames are the published schemas of F§8.6; their URLs never change.
var schemaNames = []string{
	"fact.v0.json",
	"facts-index.v0.json",
	"facts-batch.v0.json",
	"well-known-facts.v0.json",
	"changes.v0.json",
	"well-known-changes.v0.json",
}

// SchemaNames lists the file names under /schema/.
func SchemaNames() []string { return append([]string(nil), schemaNames...) }

// Schema returns one schema with its $id under origin (scheme://host[:port]); ok is false for an unknown name.
// Schemas refer to each other by file name, so they resolve wherever they are served together.
func Schema(name, origin string) (doc []byte, ok bool) {
	for _, known := range schemaNames {
		if known == name {
			doc, err := schemaFiles.ReadFile("schema/" + name)
			return bytes.ReplaceAll(doc, []byte("{origin}"), []byte(origin)), err == nil
		}
	}
	return nil, false
}
