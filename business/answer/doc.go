// Package answer answers questions about one publisher from what it published, and says how far the answer goes (X§5). It is pure: a snapshot, a call, its
// time and the latest readings go in, an outcome comes out; the only other input are the language packs that are part of the program.
//
// # What it is
//
// An accountant, not a ranker. An answer is resolved when two things are shown: every content word of the question was used by an evaluated proposition, and
// what was understood in each clause is one of a closed list of shapes. There is no score and no threshold. Where something is left over the answer is
// partial and unresolved names it; where nothing is established it is not_covered, which says nothing about the business; where one value of the caller's
// would settle it, it is needs_context, and everything found is withheld. The statuses and the form of an answer are package coverage.
//
// # From words to pieces
//
// A question is cut into tokens, and its phrases and typed values are found, by package language; spans are code points, half-open, and slice back. check-up
// is also found as checkup. What language understands as nothing is an obligation like any other word.
//
// The lexicon of a publisher holds, in one trie, its name, the titles and aliases of its records, the terms of its lists, its yes/no attributes, its places,
// the words of its fields, types, lists and category. The pack of the language adds field phrases, comparators, units, days and the words of grammar. Typed
// values (amount, quantity, date, time) are read exactly; a comparator and its value are one piece. A title is found
//
//	exact, inflection    word by word
//	same_set             with the same content words in another order
//	narrower             by fewer words that keep its head: the last content word, or the first in a language that puts it there
//	type_elided          without the word of its own type
//
// The first three are evidence. narrower is evidence for existence when two or more records agree, and for a value when all state the same; one narrower record
// and an elided type make the answer partial. Words that a title merely shares are evidence for nothing.
//
// The cover is chosen by dynamic programming over intervals: least content words left over, then the better kind of match, then the kind of piece, then fewer
// and longer pieces. What stays equal is ambiguous and is kept: several targets of the same words become candidates, and words that two covers read differently
// are understood as neither. Caps: 512 code points, 64 tokens, windows of 8, 256 pieces, 5000 steps through the trie; beyond them query_too_complex.
//
// # From pieces to clauses
//
// A question is split at punctuation and conjunctions outside the pieces. A part that starts with a preposition belongs to what stands beside it. A noun alone
// takes the predicate of the clause before; fields alone take its record; a time or place alone takes all but its time or place. What stands behind the last of
// several coordinated nouns ("a drill and a hammer at Northgate") is said of all of them: where they are a question without it, both readings must come to the
// same. The complete name of the publisher refers to it and is put aside (publisher_reference).
//
// # The shapes
//
//	S1   record or type, with or without a verb of existence            is there one
//	S2   yes/no attribute of the business                               as published; "without" asks for the opposite
//	S3   term of a list, with the list's noun or a verb of its own      in the list; excluded when the list is closed over its domain; else unknown
//	S4   fields of a record, or of a type whose records agree           published, stated_in_text, deferred, not_published
//	S5   fields of a location; open or closed, on a day, at a time      the value, or true, false, unknown by its own clock (package hours)
//	S6   yes/no attribute of a record                                   three-valued
//	S7   comparison with a field of a record                            true when all points of the published interval satisfy it, false when none does
//	S8   in stock, or available at a location                           only where the schema says that it holds per location (XP-IDENTITY-008)
//	S9   nearest location, or those within a distance                   needs caller_location
//	S10  noun of a list                                                 its values; whole only when the list is closed
//	S11  which records of a type, with filters                          each candidate must be known
//
// A clause that is none of these is answered by the shape that uses most of it, and the rest is unresolved. The table is data (shapes); a test goes through
// all pairs and triples of kinds.
//
// # Values
//
// Numbers are exact. A price is an interval: [30, 30], from 60 is [60, ∞), to 90 is [0, 90]. Units convert inside one dimension by exact factors, currencies
// never; a number without a unit is unit_missing. An hours question for a weekday or date assumes no public holiday and says so; now, today and tomorrow need
// the zone of the place.
//
// # Asking back
//
// When candidates differ, one dimension is missing: record, variant, location, date, caller_location, in this order. location, date and caller_location hold
// for every clause; record and variant belong to one, the first has the bare name, another is record.N with the index of its clause. coverage.Clarification.Resume is
// the next call: the arguments as received, literals untouched, with [AddTo][name] set to the value of an option. Each step leaves fewer dimensions open.
//
// # Languages
//
// The question is read in the language asked, else in the published one whose pack knows most of its words; a language that is not published makes the answer
// partial at best (XP-IDENTITY-005).
//
// # The other handlers
//
// knowledge.get, knowledge.neighbors, live.query, live.nearest and branches.nearest read keys, links, readings and positions instead of words and come to the
// same statuses. hybrid.resolve is knowledge.search with readings: a field that the schema binds to a stream is answered by its latest reading, and a stale one
// makes the answer partial. InputSchema is the JSON Schema of each handler's arguments. A fault of the caller's is a *coverage.CallError; any other error is a fault of
// this side, and never a status (XP-COVERAGE-009).
package answer
