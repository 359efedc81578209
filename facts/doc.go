// Package facts is Verified Facts 0.2 and Verified Changes 0.1 without any surface: keys, records, claims, hashes, attestations, freshness, periods, the
// resolver and the chain of changes. It is pure. Values go in and values come out; the day is always a parameter, and nothing here reads a clock, a file
// or a socket. Sections written F§n are those of the project's reading of the protocol, docs/facts.md.
//
// What follows is the manual of the formats. It is enough to write another implementation.
//
// # Keys
//
// A key names one figure for good. It matches
//
//	^[a-z][a-z0-9-]*(/[a-z0-9][a-z0-9.-]*){1,5}$
//
// which is what every reader accepts ([CheckKeyGrammar]). A publisher's canonical key ([CheckKey]) also has at most 200 bytes; no segment that ends in "-"
// or "." or holds "--" or ".."; no last segment that ends in .json, .html, .txt or .md; and neither "resolve" nor "index" in front. The first segment is
// the namespace: a country code of ISO 3166-1 in lower case, or "uk" or "eu" (never "gb"); such a code with "-" and one to three letters or digits for a
// part of the country; or a word with three letters or more. The time a value belongs to is never part of the key.
//
// An alias is another text for a key: one listed with the fact ([CheckAlias]), gb/… for uk/…, or <area>:<changelog key>.
// A text is looked up as a key, then among the listed aliases, then by these two classes, which must lead to a key ([Snapshot.Lookup]). In the path of
// a URL a single segment that is neither a route nor an alias names nothing; elsewhere a single word is a question like any other.
//
// What people type is put into the form of a key in six steps ([NormalizeKey]):
//
//  1. percent-decode once (only what arrived in a path), compose to NFC, trim white space
//  2. of an http or https URL keep what follows the host, without a leading /f or /facts segment
//  3. cut at the first "?" or "#"
//  4. write "-" for U+2010 to U+2015, U+2212, U+FE58, U+FE63, U+FF0D, "_" and white space; lower the case
//  5. collapse "//", strip "/" at both ends
//  6. strip one final .json unless the text with it is a key or an alias
//
// Steps 1, 2, 6 and one trailing slash undo URL spelling. When 3, 4 or 5 changed anything else, or an alias was followed, the answer repeats the text after
// step 1 as requestedKey ([RequestedForm]).
//
// # Values, dates, units
//
// A [Value] is any JSON value in its RFC 8785 form, so that equal values are equal texts. A number is published only when its decimal text, read as
// binary64 and written in ECMAScript form, still denotes the same decimal; negative zero is refused. Authored values have at most 4,096 bytes and four
// levels of nesting ([ParseValue]). A [Date] is a day YYYY-MM-DD of the years 0001 to 9999 in the proleptic Gregorian calendar; today is the UTC day. A unit
// is "%", a currency of ISO 4217, a currency per hour, day, week, month or year, one of these five words, "date" or "rule"; others are allowed and warned
// of ([CheckUnit]). [NormalizeSource] has the advised spelling of a source URL.
//
// # The record
//
// A record is one JSON object, the answer for one key. These members are always there; those marked * may be null:
//
//	protocol                  "verified-facts/0.2"; readers take every verified-facts/0.x
//	key, label                the canonical key and a name for people
//	value*                    null if and only if withdrawn is there
//	unit*, period*            period is the publisher's label of the time, "2026-27", null for a standing figure
//	effectiveFrom*            first day
//	effectiveTo*              last day, inclusive; null while open
//	source                    https URL of the page the value was read from
//	verifiedDate              the day somebody read it there
//	nextScheduledRefresh*     the day the next reading is promised for
//	hash                      see below
//	publisher                 {"name", "url"}
//
// Served records also have status ("fresh" or "stale"), ageDays and maxAgeDays*, which depend on the day of the answer; static files leave them out.
// Optional members without a value are absent, never null: requestedKey, resolved, aliases, sourceFile, sourceType ("authority", which is the default,
// "methodology", "derived"), method, quote, previous, scope, withdrawn, withdrawnReason, supersededBy, notice, signature, cite, freshness, attribution.
// Readers ignore members they do not know and keep them when they pass a record on. [ParseRecord] reads one record strictly.
//
// # Claim and hash
//
// The claim is what is said, whoever says it:
//
//	{"effectiveFrom":…,"key":…,"period":…,"source":…,"unit":…,"value":…}
//
// with all six members, null where there is nothing, in the form of RFC 8785 (members in this order, strings not normalised). The hash is "sha256:" and the
// lower-case hexadecimal SHA-256 of these bytes. Two publishers who read the same page state the same hash. A verifier builds the claim from the members as
// it received them: "" is not null, and a number is hashed in its ECMAScript form however it was spelled.
//
// # Attestation and signature
//
// The attestation is who says it and when it was checked:
//
//	{"effectiveFrom":…,"effectiveTo":…,"hash":…,"key":…,"period":…,"protocol":…,"publisher":…,"source":…,"unit":…,"value":…,"verifiedDate":…}
//
// publisher is the text of publisher.url, character by character. The member signature of a record is {"alg":"EdDSA","kid":…,"jws":…,"keys":…}: jws is a
// detached JWS (RFC 7515 appendix F) whose payload is the attestation in RFC 8785 form and whose header is {"alg":"EdDSA","kid":"<kid>"}; keys is the URL of
// the JWK Set, and counts only when the publisher's own facts.json names the same. Since effectiveTo is signed, a value that a successor ends is signed anew;
// its verifiedDate stays.
//
// # Verification
//
// [Verify] gives four results that are never folded into one: the hash fits the members; the signature fits the attestation; the key may be used; the claim
// holds today. A key is refused when it was revoked before verifiedDate; the same day still counts. validFrom and retired bind signers, not readers. A valid
// signature means that this publisher said so. It does not mean that the figure is true.
//
// The claim is judged in this order, and the first that applies is its state: dated in the future (verifiedDate after today), withdrawn, superseded (the publisher
// serves another hash now), not yet in force, ended, stale, current. Without max_age it is stale more than seven days after nextScheduledRefresh. A kid that the set
// does not list leaves the signature not tested and the key refused; a key revoked before verifiedDate is refused while its signature is still told to be valid.
//
// # Choosing a value
//
// A fact has one value for each span of days. The value in force on a day D is the one with the latest effectiveFrom that is not after D (null is before
// every day) and whose effectiveTo is null or not before D. as_of asks for a day; period asks for a label, compared after "/" and the hyphens of step 4
// became "-"; the two exclude each other; neither means today. Where no value is in force, or two carry the label, the answer is covered: false with the
// periods that are held. A gap is never bridged and a value never relabelled.
//
// # Freshness
//
// ageDays is today minus verifiedDate, whatever day was asked for. With max_age a record is fresh when ageDays is not above it. Without, it is stale when
// the promised check is overdue: later than graceDays (7 unless the area says otherwise) after nextScheduledRefresh. max_age is a number of one to five
// digits with d, w, m or y, or P with Y, M and D parts or one W part, at 1, 7, 30 and 365 days; at most 36,500 days ([ParseDuration]). A stale value is
// still an answer. [CheckQuery] refuses every parameter a route does not take, by name.
//
// # Index and batch
//
// The index ([Snapshot.WriteIndex]) is {protocol, publisher, count, generated, namespace?, facts[]}, sorted by key bytes. An entry has key, label, unit, period,
// verifiedDate and hash of the value in force on the day, then aliases when there are listed ones, withdrawn when the fact is, and inForce: false when no value is in
// force: it then shows the last that was, else the first that will be. generated is the newest verifiedDate among the entries; a namespace includes its parts.
//
// A batch ([Snapshot.Batch]) is {protocol, publisher, count, results[], status, misses?} for 1 to 50 keys: one record or miss for each, in the order asked, a repeated
// key twice. status is "stale" when one record is; misses counts what is no record and is absent for none.
//
// # Misses and withdrawal
//
// Nobody gets another figure than the one asked for. An answer that is no record is one of two objects:
//
//	{"protocol", "covered": false, "error": "unknown key", "requestedKey", "candidates", "index", "hint"?}
//	{"protocol", "key", "requestedKey"?, "label", "covered": false, "reason", "requested", "periodsHeld", "publisher"}
//
// candidates are at most five of resolve. reason is "period not held" or "several values in this period"; requested is {"as_of": day} or {"period": label};
// periodsHeld has every held value, newest first, as {"period", "effectiveFrom", "effectiveTo"}.
//
// A fact that its source no longer states is still a record: value null, withdrawn the day, withdrawnReason and supersededBy when known, unit and period of the last
// value, effectiveFrom the first day without it (null: the day of withdrawal), source the page that shows so. Only the newest value can be a withdrawal.
//
// The member previous has value, period, effectiveFrom? and source of the next older held value when its unit and JSON type are the same. The oldest held value
// takes the author's block instead. A withdrawal has none.
//
// # Text form
//
// One line with LF ([Answer.AppendText]):
//
//	<value>[ <unit>][ (<period>, from <day> to <day>)] verified <day>[ <status>][ (converted, not re-read)] <source>
//	unknown key <requested>; try: <key>, <key>
//	not held <key>; held: <label or from..to>, <label or from..to>
//	miss <requested>: <reason>                                       in a batch
//
// What is null is left out, the parenthesis with it. Values are printed as in JSON, strings bare, every run of control characters and line ends as one space. A withdrawn
// fact begins "withdrawn <day>". Where one label covers several values the spans are listed.
//
// # Resolve
//
// A ranking follows from what a publisher publishes: the keys, labels and aliases of the index, and from facts.json the namespaces, the topics with their
// titles and synonyms, the stop words, the jurisdiction words and the alias classes. [Ranker] computes it for the server and for the reading client.
// All scores are whole thousandths.
//
// Text to tokens. NFC; apostrophes (U+0027, U+2018, U+2019, U+02BC, U+FF07) are deleted; the hyphen look-alikes become "-". A token is a longest run of
// letters, numbers, marks and ".", without "." at its ends, in lower case. Tokens of more than three characters without a digit lose their plural by the
// first rule that fits: "ies" after at least two more characters becomes "y"; sses, xes, zes, ches and shes lose "es"; "s" goes unless the token ends in ss,
// us or is. Stop words are compared before this, everything else behind it. Keys, labels and titles lose their stop words, but not stop phrases. The
// vocabulary is every token of keys, labels and titles, and of all synonyms, jurisdiction phrases and stop phrases.
//
// Question to units. A pasted URL is read by its path. Text without white space whose first segment, with gb read as uk, is a declared namespace or looks
// like a country or a part of one names that jurisdiction and loses the segment. Then, from left to right, the longest phrase at each place decides, a synonym
// before a jurisdiction before a stop phrase: a synonym is one unit; a jurisdiction, among them every declared namespace of more than two letters, is noted
// and is no unit; stop phrases and stop words are skipped; "us", not spelled "US", behind tell, show, give, let, remind or help is a pronoun and is skipped.
// Every other token is a unit, years included. A country that is named together with a part of it is dropped.
//
// Score of a fact for n units:
//
//	unit     is hit by                                                        full  otherwise
//	synonym  a key segment under its topic that holds the expansion as a run
//	         of whole words, or all its words in key and label                 900   700
//	token    key or label                                                      900   700
//	token    else the title of the fact's topic                                450   350
//	token    else, when it is not in the vocabulary, a token of key or label
//	         within two edits (one when the unit has four characters), both
//	         of at least four characters and without digits                      -   400
//	any      nothing                                                             -     0
//
// The score is the sum of the first column over n when every unit has an entry there, else the sum of the second over n, rounded down. Then, when jurisdictions were
// named: unchanged in one of them; at most 790 in a part of a country among them; halved, rounded down, elsewhere. The question as a normalised key scores
// 1000, as an alias 950. Order: score descending, then key bytes; 0 is left out. A question resolves when it is a key or an alias, or when the best score is
// at least 800, no other is, and the next is at least 200 lower; [Snapshot.Get] then answers with that key, [Snapshot.Resolve] shows it as best.
//
// matched of a candidate says what hit, unit by unit: synonym:<phrase>, key:<token>, label:<token> when the key lacks it, topic:<token>, typo:<as typed>~<as held>; for
// an exact hit it is "key" or "alias". Scores are printed as n/1000 without trailing zeros. The document is {protocol, query, candidates[], best?, hint?}; a candidate has
// key, label, unit, period, verifiedDate, score and matched; best is the whole record in force today; hint is one sentence, such as to pass period when the question holds
// something like 2025 or 2026-27. A namespace filter leaves out what is outside it and its parts; one that nobody declared gives no candidates and a hint. [Snapshot.Audit]
// asks each fact for itself, by label, aliases and shortened keys; where another key answers, the dataset is wrong. The lists that every publisher starts from are
// [DefaultStopWords] and [DefaultJurisdictionWords].
//
// # Changes
//
// A changelog is a chain of entries, oldest first; documents show it newest first. The link of an entry is "sha256:" and the hexadecimal SHA-256 of its RFC 8785
// form as served, with hash (that of the claim it leads to, value null for a withdrawal) and prevHash (the link of the entry before, null for the first). The link
// of the newest entry is the chain head. verifiedDate never decreases along the chain; area, key, verifiedDate and seq (0 when absent) identify an entry; area
// and key belong to one factKey and it to them. Entries are only appended, several at once in the order of verifiedDate, area, key and seq.
//
// Required members: area, key, factKey, from, to, unit, period, effectiveFrom, source, verifiedDate, hash, prevHash; nullable ones are present as null. Optional ones
// without a value are absent: label, sourceType, method, sourceFile, seq, dateBasis (verified, commit, source), quote, withdrawn, supersededBy, correction (true).
//
// Two entries fix the bytes. They have the members area "uk-rates", key "income-tax/personal-allowance", factKey "uk/income-tax/personal-allowance", label "Personal
// Allowance", unit "GBP/year", source "https://www.gov.uk/income-tax-rates", hash, prevHash and
//
//	   from   to     period    effectiveFrom  verifiedDate
//	1  null   12570  2025-26   2025-04-06     2026-03-02
//	2  12570  12570  2026-27   2026-04-06     2026-10-04
//
// The hash of the first is sha256:47c25f79d311849dd480385ac173143784cebf5a4d9cd1cce83a593e4ad87534 and its prevHash null; its link, which is the prevHash of the second,
// is sha256:1f59dd947fafd73418839d9a139e75a6231c8f9f4044a4eca3a9aee09ec1736b. The hash of the second is
// sha256:cab2eae595ba1c5f8059d6002585514a4b6b612cac8809f83457b722320a2576, and its link, the chain head,
// sha256:d1e05a5060bf78c30121334fb27485b6fc67f92566ef7fb6440d1af8f8798b1c.
//
// A chain that links claim hashes instead ([ChainClaimLink]) is noticed, because it protects nothing but its newest claim. A reader who kept a head finds it among the
// links of every later chain.
//
// A query asks for what was verified strictly after since, of one area or all, at most limit entries; the answer adds the freshness and the coverage it speaks
// for, and next when there is more. The cursor in next names the last entry served by its chain position and link, so that entries appended meanwhile do not
// move the pages. Without a query the document is whole and does not depend on the day.
package facts
