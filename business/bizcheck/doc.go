// Package bizcheck tells from outside whether a registry and its publishers keep X-Protocols Business Data 1.0.
//
// Check goes to a registry's origin, or to one publisher, sees what every reader sees, and asks the publishers' tools. CheckDocument looks at one file and
// fetches nothing. CheckEnvelope looks at one answer. All three report by the protocol's own 92 rules, XP-…, of which [Rules] is the table.
//
// # Outcomes
//
// Every rule comes up in every report: pass, fail, warning, or not_tested with the reason. A rule that held everywhere is one finding with the number of places;
// what was broken is listed place by place, at most twenty for a rule and outcome, and a cause that all answers of a publisher share is listed once. A failure
// makes [report.Report.Failed] true; a warning does not. The rules whose check is a guess only warn: texts are scanned for words, equal telephone numbers and
// equal times may be so by chance. A request that got no answer, or 429 or 503, says nothing about what it asked for: not_tested.
//
// There is no score, and neither llms.txt nor markup for search engines is looked at. The verdict is one sentence: which rules are broken, how many hold where
// they were looked at, and how many were not looked at. It says nothing about the business. XP-SCOPE-001 lists the documents, requests and calls that were looked
// at, and what was not.
//
// # What is never looked at
//
// Rules that bind readers only (XP-VERSION-002, XP-NET-001 and their kind) cannot be seen at a registry. XP-MANIFEST-005, and what other rules say of a
// publisher that is paused or of a key that is taken away, would need a change at the registry: nothing is ever changed, and no limit is provoked. Nothing is
// written: only tools are called that tools/list has, that state readOnlyHint there, and to which registry.json gives one of the seven handlers of the protocol.
// Any other tool is never called, whatever a clarification says.
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
//	                      the endpoint of a publisher that does not exist: 404 unknown_publisher, before anything of JSON-RPC (XP-DISCOVERY-004)
//	tools/list            the tools of registry.json, each once, under names that every client takes (XP-MANIFEST-004)
//	answers               members, version, echo, status and its invariant, clarification, evidence_complete, verdicts, state, life, any_stale, locators
//	                      verified by business.Verify with the call that was sent and the documents of the manifest
//	                      the text and structuredContent hold one envelope; what is an answer is no failure of the tool (XP-COVERAGE-009)
//
// A publisher block that an answer with needs_context does not shorten is a warning of XP-COVERAGE-002 (ours): it may repeat the candidates. A digest that fits the
// text with <, > and & escaped breaks XP-INTEGRITY-005, any other wrong digest XP-INTEGRITY-001. XP-INTEGRITY-005 passes only where a signed document held one
// of the three characters.
//
// XP-DISCOVERY-003 asks for registry-keys.json and the manifest with X-Forwarded-Host, X-Original-Host and Forwarded naming a host of nobody, and, where the
// origin has a name and https, under that name with a final dot, which is another Host of the same server. No URL in the answer may follow. The requests carry a
// parameter, so that no shared cache keeps what comes of them for others. XP-DISCOVERY-004 asks for a publisher that does not exist; a 503 met on the way must
// have its code and Retry-After, a 429 its Retry-After and no answer (XP-TRANSPORT-004). XP-DISCOVERY-005 compares the canonical forms of the manifest under a
// host and under its path without generated_at, signed_at, expires_at and attestation. For a publisher that is not published /b/{publisher}, what stands below
// and its MCP endpoint must be closed.
//
// Media types, Access-Control-Allow-Origin and HEAD have no rule of their own. What departs there is a warning of the first rule of its section: XP-MANIFEST-001
// for documents, XP-DISCOVERY-001 for pages, XP-DISCOVERY-004 for refusals, XP-EXPORT-001 for the export. structuredContent beside a text that says something
// else is a warning of XP-INTEGRITY-001: nobody signed it.
//
// # What is asked
//
// Nobody tells this check what a business does. Its questions are made of the publisher's own manifest and export and of one word of twelve letters that stands in
// neither and differs from run to run. An argument is sent only where the input schema of the tool names it. The arguments are those of this program's handlers;
// the protocol leaves them open, so that a registry with others has what follows not tested.
//
//	the word, alone and behind a title; as a record,       never resolved (XP-COVERAGE-001) and never denied (-007)
//	  a field, an attribute
//	the title of a record                                  not_covered on complete evidence contradicts the export (-005); no title resolved is told
//	a record by its key                                    the same; the record that was asked for, and, as in every answer, the name of its publisher (XP-IDENTITY-001)
//	a field that a record states                           a warning where it is not_covered (-005)
//	an attribute that the manifest states as false         resolved or partial, negative, asserted_false (-006)
//	terms of a list, where there is one by a known name    affirmed when listed; outside the domain, or absent from an open list, neither affirmed nor denied (-007)
//	the hours of branches whose hours differ, the          a clarification is followed with the first option, or a date or position of its type: each step leaves
//	  nearest branch, live readings                          fewer values open, the next call is accepted, and it ends within five (-003)
//	arguments null and absent, 5.0e0, 50.0, 1e2, -0,       the echo has the same canonical form (XP-INTEGRITY-013)
//	  an escaped letter
//	an argument that the input schema excludes,            a JSON-RPC error, -32602 for the argument, and no status (-009)
//	  a tool that does not exist
//
// The word must stand in no member in which the publisher speaks (-008). What the manifest and the export state as telephone, address, hours, attribute, summary or
// content, and no name or title repeats, must not stand in an answer with needs_context or not_covered (-002). A published state whose generation moved between
// manifest and answer is not compared.
//
// # Altered answers
//
// One answer that verifies, a resolved one if there is any, is then altered in each way that needs no key: members, digest, encodings, copies in the attestation,
// the publisher it is said to speak for, the attestation of its key, the root's signature, the lists, the call, the clock. [business.Verify] must notice each. It
// shows one thing: the answer, its keys and its lists have the form in which such tampering shows to a reader that verifies them. It says nothing about readers
// that do not, nor about a forger who holds a key. A way for which the answer has nothing to alter, or that was noticed before it was altered, is left out; the
// findings of the rules name those that were tried.
//
// # Bounds
//
// One request at a time; at most [MaxRequests], [MaxTime] and [MaxBytes] for one answer; up to three publishers of a registry, or Options.MaxPublishers. At most
// 40 calls of tools for one publisher and 160 in one check; a 429, a 5xx or no answer ends the questions to that publisher. Of an export its first 16 MiB are
// asked for and its first 5,000 lines read; questions are made of the first 200. Everything goes through safefetch: a hostile registry can produce findings and
// nothing else. No finding holds a query string, a control character or more than 600 bytes in one text, the list of XP-SCOPE-001 4,000; what a manifest of another
// version names is not followed. A document on another origin than it was asked from is not used as this registry's.
package bizcheck
