// Package examples holds the sample content that comes with the program: folders of figures under facts/, as a publisher keeps them (package facts/dataset),
// bundles of businesses under business/, as they are imported (package business/bundle), and private interests under interests/, as their principals state them
// (package internal/agent/interestfile).
//
// The figures are real and come from public rate tables and vendors' pages; nobody has re-read the sources, and every value says so. The publisher they
// name is a sample, not an authority. Five of the businesses are made up; open-stores and weekly-markets are real lists, converted, and say what was left out.
// The interests are made up.
package examples

import "embed"

// Facts holds the folders uk, fr and eol below facts/.
//
//go:embed facts
var Facts embed.FS

// Business holds the bundles below business/, one folder for each publisher, named by its slug. Their source is not part of it.
//
//go:embed business/brightwater-opticians business/hammer-and-nail business/hotel-alpenblick business/kessler-garage business/marina-dental
//go:embed business/open-stores business/weekly-markets
var Business embed.FS

// Interests holds one YAML file for each interest below interests/.
//
//go:embed interests/*.yaml
var Interests embed.FS
