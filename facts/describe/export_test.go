package describe

// SitemapsOf is Sitemaps with another number of pages per file.
var SitemapsOf = sitemaps
