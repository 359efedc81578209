// Package browser looks at the pages in a real Chromium, under the production Content-Security-Policy: accessibility with
// axe-core in light and dark, narrow and wide; scripts that verify and search; what a reader without scripts sees; that no
// request leaves the origin; that civil dates do not move with the time zone.
package browser
