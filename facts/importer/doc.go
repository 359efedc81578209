// Package importer turns public trees and tables of figures into candidates of a publisher's folder, and refuses honestly (F§11).
//
// A candidate is an imported value that nobody has confirmed: it has no verifiedDate and is part of no build. Nothing upstream counts as a reading.
// Only values, dates and addresses are taken; keys, labels and units come from the mapping, never from a path. Nothing is guessed: what does not fit is
// refused with the id of a rule, the upstream path, the reason and what to do. The package reads no clock, opens no connection and writes nothing but
// through [Write].
//
// # Mapping file
//
// YAML in the profile of package yamlx; unknown members are errors.
//
//	format: sayso-mapping/1
//	kind: openfisca | smart-answers | endoflife | csv
//	defaults: {…}                               members of a parameter for all of them (see the table)
//	refuse: [{path, reason}, …]                 upstream folders that hold reforms or model inputs (VF-I-13); not in csv
//	floors: [DATE, …]                           openfisca: first days of the model beside 0000-01-01, 0001-01-01 and 2015-04-01 (VF-I-07)
//	topics: [{prefix, title, area}, …]          a key goes to the topic with the longest prefix that covers it
//	parameters: {UPSTREAM PATH: {…}, …}         not in csv, where the rows name the keys
//
// Members of a parameter; key and label are required:
//
//	key, label, scope, aliases, synonyms        as in a topic file; synonyms: {PHRASE: SEGMENT} go to the topic
//	unit                                        unit as published, null for a number without; required where upstream has none (but in endoflife), else it
//	                                            must agree
//	upstreamUnit                                unit that the upstream leaves out ("/1", currency-GBP), or an unknown one that the author knows to be absolute
//	sourceType, method (d)                      derived or methodology with a method may cite a host that is no authority
//	source                                      page for every value of the parameter: smart-answers and endoflife, whose files cite none
//	checked: required | optional (d)            openfisca: whether an upstream check date must be there; default optional
//	history: full | previous (d)                openfisca: every value, or (default) the one in force with the one before as previous
//	period: calendar | none (d)                 label values by the calendar of the namespace (default), or never
//	yearStarts: MM-DD (d)                       first day of the year under a uk-tax-year calendar; default 04-06, and 04-01 for keys of wages and
//	                                            National Insurance
//	format (d)                                  how numbers are written as text: "1,234.56", "1.234,56", "1 234,56", "1'234.56", "1234.56", "1234,56"
//	decimals (d)                                most decimals the source prints; default by unit: money 3 (2 when uprated), % and times 4, else 10
//	split: {key, label, unit}                   endoflife: the key for the other type of a field that is both a date and true or false (VF-I-19)
//
// (d) may stand in defaults: in openfisca all of these, in smart-answers all but checked and history, in csv sourceType, method, format and decimals, in
// endoflife sourceType and method.
//
// # Upstream: openfisca
//
// A path is the folders, the file without its extension and the members down to the parameter, joined by dots. index.yaml describes its folder. A
// parameter is a leaf (a member values, or members that are dates) or a scale (a member brackets). Under a date stands the value itself, or a mapping
// with value and its references; null abolishes the parameter on that day; {expected: …} is skipped. A value ends the day before the next one begins,
// be it null. Numbers may be grouped by underscores. metadata (or the node itself) has unit, period, threshold_unit, rate_unit, amount_unit, uprating and
// last_value_still_valid_on, the upstream check date.
//
// The references of a value are those under its date: reference or references, also inside metadata, and what metadata.reference of the parameter holds
// for exactly this date. Each is a URL, a text, a mapping of title or name and href or url, or a list of these. What is said of the parameter as a whole
// or of another date does not count. The source is the first https URL on an authority of the namespace, else the first https URL.
//
// A scale is one value: an array of objects with threshold and rate, average_rate or amount. It has a value for every day on which a component changes,
// and its source is a page that all its components cite.
//
// # Upstream: smart-answers
//
// Rows {start_date, end_date, FIELD: VALUE, …}, end_date inclusive, in a list or under names, which may be Ruby symbols. A path is FILE/FIELD, or
// FILE/NAME/FIELD. Ends from 2100 on and 2099-12-31 are open ends. All values are taken, each with its own end.
//
// # Upstream: endoflife
//
// Markdown files whose front matter has releases: [{releaseCycle, releaseDate, eol, …, link}]. A path is PRODUCT/RELEASE/FIELD. PRODUCT/*/FIELD maps the
// field of all releases, with {release} in key and label; a path written out wins over it. The values have no first day.
//
// # Upstream: csv
//
// RFC 4180, UTF-8 without byte order mark, a header row with the names of [Columns]. Each row is one dated value. A cell is a number when it is a JSON
// number, true and false are booleans, everything else is text. An open value ends before the next one begins, a labelled one with its year at the latest.
//
// # Conversion
//
// The point of a decimal text is moved in the text (/1 becomes %, 0.28 becomes 28; with unit: null in the mapping it stays a factor); no figure is ever
// a binary number. currency-GBP with period year
// becomes GBP/year. currency alone is EUR in namespace fr, else the unit of the mapping, and as EUR it counts from 2002-01-01 only. bool has the unit rule.
// A source is written in normal form (F§7.2), letters beyond ASCII in percent escapes.
//
// A value has the label of the year it begins in when it ends in that year, or is open and the year is not over; other values are standing ones, without
// label. A parameter without a value in force is refused whole, and so is one whose value in force breaks a rule; an older or later value is refused by
// itself.
//
// # Result
//
// Candidate files candidates/KIND/PREFIX.yaml, facts by key, values newest first, the same bytes for the same input. Values whose first day the folder
// holds already are left out; a differing figure is noted. The [Report] counts what was taken, refused, held, not mapped and in refused folders.
//
// # Bounds
//
// Upstream files have at most 4 MiB, trees 200,000 files and 512 MiB, YAML 32 levels, CSV files 64 MiB and a million rows. A YAML file with duplicate
// members, anchors, aliases, tags or a second document is refused; the rest of the tree is read.
package importer
