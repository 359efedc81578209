// Package browser looks at the pages in a real Chromium, under the production Content-Security-Policy: accessibility with
// axe-core in light and dark, narrow and wide; scripts that verify and search; what a reader without scripts sees; that no
// request leaves the origin; that civil dates do not move with the time zone. The facts pages show a sample dataset, the
// registry's pages the sample businesses of examples/, signed for real; what the verify page finds is compared when documents
// are changed on their way.
package browser
