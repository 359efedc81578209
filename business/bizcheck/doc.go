// Package bizcheck tells from outside whether a registry and its publishers keep X-Protocols Business Data 1.0.
//
// Check goes to a registry's origin, or to one publisher, and sees what every reader sees. CheckDocument looks at one file and fetches nothing. CheckEnvelope
// looks at one answer. All three report by the protocol's own 92 rules, XP-…, of which [Rules] is the table.
//
// # Outcomes
//
// Every rule comes up in every report: pass, fail, warning, or not_tested with the reason. A rule that held everywhere is one finding with the number of places;
// what was broken is listed place by place, at most twenty for a rule and outcome. A failure makes [report.Report.Failed] true; a warning does not. The rules
// whose check is a guess only warn: texts are scanned for words, equal telephone numbers and equal times may be so by chance. A request that got no answer,
// or 429 or 503, says nothing about what it asked for: not_tested.
//
// There is no score, and neither llms.txt nor markup for search engines is looked at. The verdict is one sentence: which rules are broken, how many hold where
// they were looked at, and how many were not looked at. It says nothing about the business. XP-SCOPE-001 lists the documents and requests that were looked at, and
// what was not.
//
// # What is never looked at
//
// Rules that bind readers (XP-COVERAGE-004, XP-NET-001 and their kind) cannot be seen at a registry. XP-MANIFEST-005, and what other rules say of a publisher
// that is paused, of a key that is taken away or of an answer that is provoked, would need a change at the registry; nothing is ever changed or provoked, and no
// tool is called. Rules about answers show in signed answers only, so that a registry whose manifests name no mcp endpoint has them not tested.
//
// # What is looked at
//
//	registry-keys.json    each entry once and usable; signed by the pinned root (XP-INTEGRITY-006); an entry called root is the pinned one (-015)
//	both lists            signed at all (-011), by a registry key, fresh, for this publisher (-010), entries with target and bounds (-016)
//	discovery.json        version, absolute locators, texts
//	/discovery/query      the same; every publisher that is found says it is published (XP-FRESHNESS-007)
//	manifest              members, locators, signed or reasoned, state, authority, contacts, locations; nothing of an unpublished publisher (XP-MANIFEST-009)
//	                      verified by business.Verify with the key documents and lists that it names
//	jwks.json             each key attested by a registry key over the five members, for this publisher (XP-INTEGRITY-014)
//	registry.json         its tools against the manifest's capabilities (XP-MANIFEST-004)
//	profile               canonical address, the short form leads to it, HEAD, JSON; name, legalName and url of its JSON-LD (XP-SCHEMA-001)
//	dump.jsonl            first line, every line a record, (type, id) once, licence, evidence; up to five urls give their record (XP-IDENTITY-002)
//	/mcp                  initialize with the newest, an older and an unknown revision (XP-TRANSPORT-002)
//	answers               the invariant, what is withheld, clarification, evidence_complete, published negatives, the four values, the echo, the copies
//
// A publisher block that an answer with needs_context does not shorten is a warning of XP-COVERAGE-002 (ours): it may repeat the candidates. A digest that fits the
// text with <, > and & escaped breaks XP-INTEGRITY-005, any other wrong digest XP-INTEGRITY-001. XP-INTEGRITY-005 passes only where a signed document held one
// of the three characters.
//
// XP-DISCOVERY-003 asks for registry-keys.json and the manifest with X-Forwarded-Host, X-Original-Host and Forwarded naming a host of nobody, and, where the
// origin has a name and https, under that name with a final dot, which is another Host of the same server. No URL in the answer may follow. The requests carry a
// parameter, so that no shared cache keeps what comes of them for others. XP-DISCOVERY-004 asks for a publisher that does not exist; a 503 met on the way must
// have its code and Retry-After, a 429 its Retry-After (XP-TRANSPORT-004). XP-DISCOVERY-005 compares the canonical forms of the manifest under a host and under
// its path without generated_at, signed_at, expires_at and attestation. For a publisher that is not published /b/{publisher} and what stands below must be closed.
//
// Media types, Access-Control-Allow-Origin and HEAD have no rule of their own. What departs there is a warning of the first rule of its section: XP-MANIFEST-001
// for documents, XP-DISCOVERY-001 for pages, XP-DISCOVERY-004 for refusals, XP-EXPORT-001 for the export.
//
// # Bounds
//
// One request at a time; at most [MaxRequests], [MaxTime] and [MaxBytes] for one answer; up to three publishers of a registry, or Options.MaxPublishers. Of an
// export its first 16 MiB are asked for and its first 5,000 lines read. Everything goes through safefetch: a hostile registry can produce findings and nothing
// else. No finding holds a query string, a control character or more than 600 bytes in one text, the list of XP-SCOPE-001 4,000; what a manifest of another version
// names is not followed. A document on another origin than it was asked from is not used as this registry's.
package bizcheck
