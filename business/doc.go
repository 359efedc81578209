// Package business is X-Protocols Business Data 1.0 without any surface: the canonical form, the documents of a publisher, the state they follow from,
// publication, discovery, and the chain of keys with its verification. It is pure. Values go in and values come out; the time is always a parameter, and
// nothing here reads a clock, a file or a socket. Sections written X§n are those of the protocol, rules are XP-….
//
// What follows is the manual of the formats. Where it says "ours", the protocol leaves the point open and this is the definition.
//
// # Texts
//
// Every text is one JSON value in UTF-8, read strictly: a member name stands once in an object (also by escape), no surrogate escape stands alone, nesting has
// at most 64 levels, a text at most 4 MiB. A text that breaks one of these is refused, never repaired: two readers would hash two things (ours; the protocol is
// silent). Numbers are not bound to binary64 and keep their literal. Members a reader does not know are ignored (XP-VERSION-002) in what the registry writes,
// and refused by name in what a business states about itself ([DecodeKnown]). A member that is absent is not stated; it never means false, zero or none
// (XP-VERSION-004), and no document holds a null or a zero time. Times are RFC 3339 in UTC with Z and at most microseconds.
//
// # Canonical form
//
// [Canon] writes the form that is hashed and signed (X§8.3). It is not RFC 8785:
//
//	                      this form                             RFC 8785
//	numbers               the literal received: 50.0 1e3 -0     50 1000 0
//	order of members      code points (= UTF-8 bytes)           UTF-16 code units
//	U+2028, U+2029        \u2028 \u2029                         raw
//
// The rest is common: no white space; " and \ escaped with \; \b \t \n \f \r in short form, other characters below U+0020 as \u00xx with lower-case digits;
// everything else raw, also / < > & and U+007F; nothing is Unicode-normalised. Canonical text is a fixed point. [Digest] is its SHA-256. The vectors are
// data/xp-canon.jsonl of package vectors.
//
// # Names
//
//	publisher slug     1 to 63 of a-z 0-9 -, a letter or digit at both ends; never used again    [ValidSlug]
//	record type        a-z, then at most 63 of a-z 0-9 _ -                                       [ValidType]
//	record id          1 to 256 code points, no control characters, not "." or ".."              [ValidID]
//
// (publisher, type, id) identifies a record (XP-IDENTITY-001). In a path and in an entity_key the id is one segment: every byte but A-Z a-z 0-9 - . _ ~ is
// percent-encoded in upper case ([Segment]).
//
// # Addresses
//
// All locators are absolute and built from a configured origin, never from a request ([Site], XP-DISCOVERY-003); without an origin there are none. Documents of
// a publisher stand at /t/{slug}/.well-known/x-protocol/{manifest,registry,jwks,revocations}.json, its endpoint at /t/{slug}/mcp; the registry's own at
// /.well-known/x-protocol/{registry-keys,revocations,discovery}.json. Neither path is a registered well-known URI. Public pages stand below
// /{country}/{city}/business/{slug} when the primary location states country_code and locality, else below /b/{slug} ([Publication.Base]); a record at
// {type}/{id} below that. {country} is the code in lower case, {city} is [City] of the locality.
//
// # Publication
//
// A publisher is draft, published, paused or withdrawn, and may be suspended besides. It is served to strangers when it is published, not suspended, and its
// authority is current: a domain proof before its valid_until, or an operator verification ([Standing.IsPublished]). At the instant of valid_until
// it is gone from every document. trust_tier is domain_verified with a proof, else identity_verified with an operator verification, else unverified;
// contracted is never written. domain_verified and website_verified are true with a proof that recorded host and method, and only then.
//
// Manifest, registry.json, key set and revocation list of a publisher that is not published stay served. They then state tenant, display_name, region and the
// findings about authority, three endpoints, and nothing else about the business (XP-MANIFEST-009); the reason is not told. data_formats is empty, and
// freshness_contract is the registry's own (ours).
//
// # Manifest and registry.json
//
// [Publication.Manifest] has the members of X§3.1. capabilities are the handlers behind a served tool, sorted, and empty while no tool is served;
// data_last_updated is the newest updated_at of the records and absent without any. badge_text states what was observed and when, nothing beyond. A manifest
// carries an attestation, or unsigned_reason: registry_key_unavailable or signing_disabled.
//
// registry.json ([Publication.RegistryDocument]) is unsigned (ours beyond publication and publisher):
//
//	protocol_x_version, api_version, server_version, registry, generated_at, publication, publisher, mcp_endpoint?, mcp_versions[],
//	tools[] {name, handler, description?, input_schema?}, record_types[] {type, words?, count}, live_streams[] {key, unit?, scoped_by?, sla_seconds},
//	jwks_url, revocation_url, registry_keys_url
//
// # Publisher block, locations, records
//
// [Info] is the publisher block of X§6.3. content_language repeats the first of content_languages. contacts are the phone and the email of the primary
// location, {channel, value, audience: "public_business", source: "location:<id>"}; support_email and support_phone repeat them. [Location] adds id, latitude,
// longitude and time_zone to X§6.5; what a place does not state is never taken from another. [Record] adds links[] {rel, type, id} to X§4.1; rel is one of
// [ValidRel].
//
// # dump.jsonl
//
// UTF-8, LF after each line. The first line is {"_meta": …} (XP-EXPORT-001), legal_name and website "" when none is stated; each other line is one record with
// publisher and url, sorted by type, then id, as bytes. _meta.authority lists current evidence, {method, host?, verified_at, valid_until?}, method dns_txt,
// well_known or operator_verification (ours), and is absent without any. U+0085, U+2028 and U+2029 are escaped, so that every reader finds the same lines. The
// export is not signed, and nothing in it may be called verified (XP-EXPORT-003).
//
// # State
//
// A generation is one committed public state of a publisher, counted from 1. Its content_hash (ours) is
//
//	leaf         = SHA-256(tag || 0x00 || canonical form of the object)
//	content_hash = "sha256:" + hex(SHA-256("xp-state-v1" || 0x00 || n as 8 bytes, big-endian || leaf_1 || … || leaf_n))
//
// with the n leaves sorted as bytes:
//
//	publisher    the publisher block without locations, website_verified, proven_domain, verification_method, authority_verified_at, trust_tier
//	location     one location
//	schema       schema.json
//	calendar     calendar.json, if there is one
//	record       one record without url
//
// So neither the order of an import nor the registry's origin changes it, each published statement does, and equal content of two publishers differs by
// tenant and publisher. Tools, the freshness contract, readings, proofs and keys are no part of it. changed_at is when the state came into being. An
// unpublished publisher has no state.
//
// # schema.json
//
// The publisher's own vocabulary (ours), an object of optional members:
//
//	types         {type: {words?}}
//	attributes    {name of an attribute of a record: {field?, kind, currency?, unit?, deferred?, scoped_by?, source?, words?}}
//	profile       the same for profile_attributes
//	lists         {key: {nouns?, verbs?, values, closed?, domain?}}
//	streams       [{key, subject?, scoped_by?, kind, unit?, sla_seconds, max_age_seconds}]
//	category      {words?}
//	links_closed  [relation]
//
// words, nouns and verbs are {language: [surface form]}. kind is money, money_from, money_to, mode, quantity, count, bool, text or list; field is price,
// duration, stock, available, hours, phone, email or address; stock is a count, available a bool. currency (three capitals) goes with money, unit with quantity
// and count, deferred with mode. scoped_by is "location" or absent: only with it a value holds for one place, and is then an object of values by location id.
// source is "stream:" and a key of streams. A value or a term of a domain is a string or {id, words?}. domain is {terms} or {taxonomy}, one of [Taxonomies];
// closed, which makes every other term of the domain a published no, needs one, and its values must be terms of it. A stream's kind is bool, count, quantity,
// money or text, subject a type or null, and 1 <= sla_seconds <= max_age_seconds. Unknown members and null elsewhere are refused ([ParseSchema]).
//
// # Discovery
//
// GET /discovery/query (ours; the protocol names the path) takes category, country, city, language, name, handler, latitude, longitude, radius_km, limit and
// cursor, each at most once; anything else is refused by name ([ParseQuery]). Published publishers are compared with all filters given:
//
//	category    the words of business_category, or of a phrase of the schema's category, one by one in order
//	country     country_code or country of a location
//	city        locality of a location, also by [City]
//	language    a content language: equal, or longer by subtags
//	name        each word is a word of display_name or legal_name
//	handler     a capability
//	radius_km   a location that near to the position
//
// country, city and radius must hold at one location. A word is a run of letters and digits. Words agree exactly when they are equal but for case; by inflection
// when they are equal without diacritics too, or when one, of at least three letters, becomes the other by one of the endings s, es, n, en, e, er, x or by y ->
// ies. Nothing is ranked: results stand by distance (haversine, radius 6371.0088 km, whole metres, nearest location) when a position was sent, else by display
// name (the first 64 characters, without case and diacritics), then by slug. A publisher that does not state a member that was asked does not match and is
// counted in not_stated_count; evidence_complete says that there is none. The answer is not signed and says so in note; it
// holds locators and no coverage status.
//
// # Keys, signatures and revocation
//
// A root key, kept off the server, signs registry keys; a registry key attests publisher keys and signs manifests and revocation lists; a publisher key signs
// envelopes (X§8.4). All are Ed25519. A signature is over the 32 bytes of a SHA-256, never over the text itself (XP-INTEGRITY-001); digests, signatures and
// keys are base64url without padding in their one spelling. A key has 32 bytes in canonical encoding and is not of small order; one that is made or attested
// here also lies in the prime-order group. Exports, pages and JSON-LD are signed by nobody.
//
// registry-keys.json is {registry, issued_at, max_age_seconds, keys[]} with entries {kid, role: root|signing, kty: OKP, crv: Ed25519, alg: EdDSA, use: sig, x,
// created_at, not_after, root_signature?}. root_signature (ours, the protocol does not spell it out) is {root_kid, alg: Ed25519, digest, signature, signed_at,
// covers[]}; the digest is that of an object with exactly these seven strings, verbatim as they stand:
//
//	kid, role, created_at, not_after      the entry's
//	public_key                            the entry's x
//	alg                                   the entry's crv, not its alg
//	registry                              the document's
//
// jwks.json is {keys[]} of {kty, crv, alg: EdDSA, use, kid, x, x_protocol_attestation?}. The attestation is {publisher, key_created_at, registry_kid,
// registry_keys_url, alg, digest, signature, signed_at, covers[]} over exactly kid, public_key (x), alg (crv), publisher and created_at (key_created_at). In both
// blocks covers and signed_at stand outside the signature: a verifier builds the members named here whatever covers says. The kid of a publisher key is
// [PublisherKid]; to a reader it is opaque. Keys that ever signed stay listed.
//
// A signed document has attestation {alg, kid, digest, signature, signed_at, expires_at?, jwks_url}; the digest is that of the document without attestation.
// Because no signature covers its own block, the payload repeats it: signing_kid = kid, signed_at, expires_at, and jwks_url under its own name in an envelope,
// as registry_keys_url in what a registry key signs ([SignDocument]). Lists have no expires_at. A manifest lives 15 minutes ([ManifestLife]).
//
// A revocation list is {registry, publisher?, issued_at, max_age_seconds: 900, entries[]} and the signed members; publisher (ours) is on a publisher's list only.
// Entries are {scope, target, reason, revoked_from?, revoked_until?, created_at, root_signature?}, reason one of [Reasons], and the target stands
//
//	in subject       scope registry_key (a kid) and publisher (a slug): on the registry's list
//	in kid           scope key                                         on a publisher's, as all that follow
//	in entity_key    scope entity: type/id, the id percent-encoded
//	in digest        scope digest: attestation.digest of one document
//	nowhere          scope tenant: everything the publisher signed
//
// The root_signature of an entry (ours) covers the canonical form of the entry without it; the registry always gives one to a registry_key entry. A list that
// cannot be signed is not served (XP-INTEGRITY-011), so [RevocationList] makes none that its reader could not verify. Who takes over what a root signed checks it
// with [VerifyEntry] and [VerifyRevocationEntry].
//
// # Verification
//
// [Verify] judges a manifest, an envelope or a list against documents its caller fetched, and never joins its findings into one. Every part is judged whatever
// the others say. A text that is no document of this protocol is a [FormatError] instead: not strict JSON (malformed); protocol_x_version other than 1.0, or
// absent where neither an envelope nor a list stands, and an unknown coverage.status (unsupported_format); coverage.status resolved without covered,
// answers_request and an empty unresolved, or the reverse (coverage_invariant, XP-COVERAGE-001). An envelope need not state protocol_x_version.
//
//	signature    valid; invalid: wrong digest even beside a right signature, encoding, unknown or unusable key, arithmetic; unsupported: another alg, or the
//	             key set could not be read; absent
//	identity     confirmed: kid leads to the pinned root, and the attestation's publisher is publisher.tenant; unconfirmed: no root is pinned,
//	             a key set was not looked for, or nothing is signed; mismatch: another publisher than expected or attested; broken_chain
//	authority    expired: expires_at or valid_until has come; current: authority_verified_at is stated, or a domain proof with host, method and valid_until;
//	             not_proven: website_verified or domain_verified is false; not_stated. trust_tier is not read
//	revocation   revoked; not_checked; incomplete with a count; clean as of the older list's issued_at. The first that applies, in this order
//	mirror       ok; mismatch: a pair differs as text or lacks a side; only the attestation's expires_at may be missing; not_applicable: nothing is signed
//	call         match; mismatch: tool or arguments differ in canonical form, absent and null arguments being {}; not_applicable: no call was sent
//	usable       yes; no, with every reason: all of the above, and signed_at more than [Evidence].FutureSkew ahead of the reader. A reader's policy may excuse
//	             an unconfirmed identity and an unchecked revocation, nothing else. not_proven and not_stated stay visible and forbid nothing
//
// An entry calling itself root is a root only if its key is the pinned one, by its bytes, and a root signs entries only (XP-INTEGRITY-015). A registry key does
// not count for a document whose signed_at is later than its not_after, nor for an attestation made later. When the registry's list withdraws the key that attested a
// publisher key, at the document's signed_at or at the attestation's, the envelope's chain is broken (registry_key_revoked, ours). A key set that names a kid
// twice is no key set.
//
// A list counts when it names its publisher (the registry's names none), its mirrored members agree, a registry key signed it, that key leads to the root, no
// entry carries a wrong root_signature, and its signer is withdrawn neither by itself nor, for a publisher's list, by the registry's. Otherwise it is no evidence
// in either direction. Its age counts from issued_at; a list older than max_age_seconds, or dated ahead of the reader by more than the skew, still withdraws what it
// names and vouches for nothing else. An entry withdraws a document it names whose payload signed_at lies within its bounds, both inclusive, compared as instants;
// a signed_at that cannot be read lies within all bounds, and a bound that cannot be read is open. kid and digest match where they stand in the payload or were
// computed, and where the attestation claims them.
//
// An entity entry is compared, percent-decoded, with type and id in result.records[], result.neighbours[].record, result.subject and
// result.readings[].subject. It cannot be matched, and is counted, when result is no object, has a member other than these and locations, lists, profile and
// branches, or holds a record without type and id. So is an entry whose scope does not belong on its list, or whose target is no string. A document without
// result carries no records.
//
// The tampered documents with what a reader must find in each are data/xp-tamper.jsonl of package vectors.
package business
