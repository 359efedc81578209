// Package examples holds the sample content that comes with the program: folders of figures under facts/, as a publisher keeps them (package facts/dataset).
//
// The figures are real and come from public rate tables and vendors' pages; nobody has re-read the sources, and every value says so. The publisher they
// name is a sample, not an authority.
package examples

import "embed"

// Facts holds the folders uk, fr and eol below facts/.
//
//go:embed facts
var Facts embed.FS
