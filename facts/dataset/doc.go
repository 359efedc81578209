// Package dataset is the publisher's folder: reading it, checking it, changing it, signing it and building a static site from it (F§10).
//
// # The folder
//
//	publisher.yaml          who, namespaces, areas, defaults
//	topics/**/*.yaml        one file per topic: facts with their dated values, synonyms, aliases
//	confirmations.jsonl     append-only: every act of reading a source      (written by Confirm, ConfirmConverted, Withdraw)
//	changelog.jsonl         append-only: one canonical JSON line per change (written by the same)
//	signatures.json         signatures of the dated values                  (written by Sign)
//	jwks.json               public keys                                     (written by Sign, AddKey, RetireKey, RevokeKey)
//	candidates/**/*.yaml    imported values that nobody has confirmed; never part of the Dataset
//
// Names that begin with a dot are not read. Symbolic links are refused. The YAML profile is that of package yamlx.
//
// # Publisher file
//
//	format: sayso-dataset/1
//	publisher: {name: NAME, url: URL}         the URL is part of every signature
//	kidPrefix, licence, contact, keyPolicy, history      optional texts; the last three are https URLs
//	selfCheck: {schedule, last, report}       optional
//	examples: [KEY, …]                        at most 8
//	namespaces: [{name, description, periods: uk-tax-year|calendar-year|none, authorities: [HOST, …]}]
//	areas: [{name, namespace, description, cadence, cadenceType: scheduled|on-change|best-effort, everyDays, graceDays}]
//	resolve: {stopWords: [TEXT, …], jurisdictionWords: {PHRASE: NAMESPACE}}
//
// # Topic file
//
//	topic: {prefix, title, area}
//	synonyms: {PHRASE: SEGMENT}
//	facts:
//	  - key: REST                     full key = prefix/REST; "." = the prefix itself
//	    label, unit, scope            unit null or absent: no unit
//	    aliases: [ALIAS, …]
//	    previous: {value, period, effectiveFrom, source}      an earlier value that is not held in full
//	    values:                       newest first
//	      - period, value, unit, effectiveFrom, effectiveTo, source, sourceFile, sourceType, method, quote, verifiedDate, nextCheck,
//	        withdrawn, withdrawnReason, supersededBy, checked, upstream
//
// A value without verifiedDate is a draft: in the folder, in no build. value is null exactly when withdrawn is set. checked is the day on which the
// upstream of an import last checked the figure, upstream its name there; neither is published. A number that does not survive as binary64, or that
// stands for "no limit" (9e99 and beyond), is refused.
//
// # Candidate file
//
// A candidate file has the form of a topic file, without verifiedDate. topic may be left out; keys are then full keys. Confirming a candidate moves
// its value into the topic file whose prefix is the longest that covers the key; when there is none, topics/PREFIX.yaml is made from the candidate
// file's own topic and synonyms.
//
// # Line files
//
// confirmations.jsonl: {key, period, effectiveFrom, hash, verifiedDate, by, value, fetched}, fetched null or {status, finalUrl, sha256, quoteFound,
// etag?, lastModified?}. A value's verifiedDate holds only with a line of the same key, hash and date. by "conversion" marks a figure that was
// converted and not re-read; it is accepted for sourceType derived and methodology alone.
//
// changelog.jsonl: one entry of the changes document (F§8.3) a line, in RFC 8785 form, oldest first, hash and prevHash included.
//
// signatures.json: {format: "sayso-signatures/1", signatures: [{key, period, effectiveFrom, verifiedDate, attestation, kid, jws}]}, sorted by key and
// effectiveFrom; attestation is the SHA-256 of the canonical attestation and says which exact statement was signed.
//
// # Changing the folder
//
// Every act holds an exclusive lock on the folder and writes whole files (temporary file, fsync, rename). An act over several files writes in an order
// such that a crash between two of them leaves a folder that Lint refuses with the command that completes the act, and that running the act again
// completes it: confirmations.jsonl, then changelog.jsonl, then topic files, then candidate files; jwks.json before signatures.json.
//
//	after confirmations.jsonl   a confirmation without its value: harmless, the value is still a draft
//	after changelog.jsonl       VF-D-011: the newest entry of the key and the held value differ
//	after a topic file          the candidate is still there although its value is held: VF-D-001 names it
//	after jwks.json             VF-D-012: values without signature (at L3), or nothing
//
// No function of this package prints, prompts, reads the clock or opens a connection: the day and the Fetcher are parameters.
package dataset
