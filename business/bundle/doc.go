// Package bundle reads and writes the files in which a business hands over what it states about itself, and lints them.
//
// The package is pure: readers and values in, values and problems out. Nothing is guessed or repaired but the spelling of opening hours, and that is said. What
// is not understood is a [Problem] with file, row, field, the id of a rule ([Rules]), what was seen and what to do; a warning leaves the record standing, any
// other problem takes it out. Whether one such problem refuses the whole file or only its row is the caller's decision.
//
// # Bundle
//
//	publisher.json   the profile                              [Profile]
//	schema.json      the publisher's vocabulary               [Schema]
//	calendar.json    holidays, optional                       [Calendar]
//	records.*        one of records.jsonl, .csv and .jsonld   [Records]
//
// All texts are UTF-8; JSON is read strictly: no duplicate member, no lone surrogate, no byte order mark, at most 64 levels. Number literals are kept as they
// are written: 50.0 stays 50.0.
//
// A member that is absent or empty ("", [], {} or an empty cell) is not stated. It never becomes 0, false or none, and null is an error. Names (ids, types,
// titles, aliases, and all short texts of a profile) hold no control character, no U+2028 or U+2029, and none of the characters that turn the direction of
// the text after them (U+202A to U+202E, U+2066 to U+2069). Every other text is data, markup and instructions included: it is kept as it is, and escaped by those
// who show it.
//
// Instants are RFC 3339 with an offset and at most microseconds; they are kept in UTC. Numbers have a decimal point, booleans are true or false. Numbers of
// a declared kind have at most 64 characters before the exponent and two digits in it.
//
// # publisher.json
//
//	display_name                 required
//	legal_name, website, business_category
//	content_languages            BCP 47 tags, the primary one first
//	profile_attributes           an object; compared with the schema's profile by [CheckProfile]
//	locations                    [{id, primary, name, address, street_address, locality, postal_code, country_code, country, phone, email, opening_hours, latitude,
//	                             longitude, time_zone}]
//	tools                        [{name, handler, description}]; without it [DefaultTools]
//	freshness_contract           {sla_seconds, policy}
//
// A location without id gets the slug of its name; ids are unique. Exactly one location is primary; the only location is, when it does not say. Latitude and
// longitude are numbers and stand together. time_zone is a name of the IANA database, country_code two upper-case letters. opening_hours is read by package hours
// and kept as its canonical text; a repair is a warning (XB-19), a value that is not understood an error that names the token (XB-18). What a location does not state is
// never filled in from another one (XP-IDENTITY-007). An unknown member is dropped with a warning (XB-04). Limit: 4 MiB.
//
// # JSONL
//
// One record of X§4.1 per line, and beside its members links, [{rel, type, id}], where rel is part_of, has_part, variant_of, requires, accessory_for,
// alternative_to, same_as, or x- and an own name. id, type and title are required. publisher must be the publisher's slug and url the record's own address, or
// be absent; url is made by the registry and not kept. An unknown member is dropped with a warning, once for a file, but inside attributes, where all
// are kept. The first line may be the _meta line of an export; its publisher is compared, and another one ends the import. Empty lines are skipped.
//
// With a schema, attributes have the kinds it declares: money, money_from and money_to a number of at least 0; quantity a number; count a whole number of at
// least 0; bool true or false; text and mode a string; list an array of strings. An attribute that holds per location is an object whose keys are location ids.
// A record's own currency must be the one the schema gives to its prices. An undeclared attribute is kept with a warning (XB-14).
//
// # CSV
//
// RFC 4180 with a header row; a byte order mark is tolerated. The columns are [Columns], attr.<key>, stock.<location id> and available.<location id>, in
// any order; an unknown column, and two that say the same, are errors. price, price_from, price_to, price_mode, currency and duration become attributes
// of that name; stock and available become objects of location id to value. Aliases, and the terms of a list, are separated by |. A cell has the kind of its
// attribute in the schema. Without one, price, price_from, price_to and duration are numbers, stock counts, available booleans, price_mode and currency texts; the
// cell of another attribute is a number or a boolean when it is exactly one in JSON, and text otherwise. 1.234,50 is an error in a number, and so are
// signs, units and spaces; a text that looks like a formula is text. After a row that breaks the quoting nothing is read: where the next one begins is not
// certain.
//
// # JSON-LD
//
// Nodes with the context of schema.org, named as https://schema.org or http://schema.org, with or without a final slash, also as @vocab; no context is ever
// fetched, and another one is refused (XB-28). The text is one node, an array of nodes, or @graph. References to other nodes are not followed. Member and
// type names may have the prefix schema: or the IRI. The file is held in memory.
//
//	LocalBusiness   name, legalName, url -> display_name, legal_name, website; amenityFeature -> boolean profile attributes; additionalProperty -> other
//	                profile attributes, and business_category; paymentAccepted, knowsLanguage -> the lists payment_methods and languages_spoken of a schema,
//	                never closed; location, department -> locations; hasOfferCatalog -> records
//	place           identifier -> id; name, telephone -> phone, email; address as text -> address, as PostalAddress -> street_address, locality, postal_code,
//	                country_code (two capitals) or country (or a Country with identifier and name); geo; openingHours or openingHoursSpecification ->
//	                opening_hours; the property time_zone. The first place is primary. A business with an address, a number or hours of its own is the first
//	                place itself, and nothing of it is copied down to the others.
//	OfferCatalog    itemListElement: Offer, ListItem with item, or another OfferCatalog
//	Offer           itemOffered: a Service or a Product -> a record of type service or product; price, priceSpecification.price -> price; minPrice, maxPrice ->
//	                price_from, price_to; priceCurrency -> currency, unless the schema declares the same for the price. A PriceSpecification with any other member
//	                is refused: it could say what the price is for
//	item            identifier, else sku, else the fragment of @id -> id; name -> title; description -> summary; alternateName -> aliases;
//	                additionalProperty -> attributes, unitText and unitCode compared with the unit of the schema. A url other than the record's own is dropped
//
// No price is not stated, never on request and never 0. Members without a mapping, aggregateRating, review and priceRange among them, are dropped with a warning
// (XB-30). Several openingHours texts add to each other, so each must be a single rule. Specifications of the same dates add to each other; validFrom and
// validThrough become dates and replace what holds always; no opens, and 00:00 to 00:00, mean closed; 00:00 to 23:59 is 00:00-24:00; closes before opens
// spans midnight; a day both open and closed is refused. [ReadProfileJSONLD] reads the profile, [Records] the offers, whose rows are numbered from 1.
//
// [ProfileJSONLD], [RecordJSONLD] and [WriteJSONLD] are the inverse, with the same bytes for the same input. A price that is on request (or a mode that the schema
// calls deferred) leaves out price, price_from and price_to; a false stays value: false. Reading what they wrote gives the same values, except for what is lost:
//
//   - of a profile: content_languages, tools, freshness_contract; the order of locations before the primary one; attributes that are objects; of a
//     list, closed, domain, words and every other list; terms that hold a comma;
//   - of a record: content, updated_at, verified_at, links; types other than service and product (pages write a Product, WriteJSONLD refuses); attributes that are
//     objects, such as stock per location; a price beside price_mode on_request; a currency that the schema declares too; the order of attributes.
//
// contactPoint repeats the primary location and is not read. What the protocol has beyond schema.org (X§12) is not exported.
//
// # Limits
//
// [MaxLine], [MaxRecords], [MaxContent], [MaxProfile], [MaxJSONLD]. Type and id stand once in a file; a hash of 16 bytes is kept for each record to know. A record says at most
// 50 problems.
//
// # Lint
//
// [Lint] warns of what is allowed and will be answered badly: XB-41 to XB-49.
package bundle
