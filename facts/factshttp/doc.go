// Package factshttp speaks Verified Facts 0.2 over HTTP, in both roles: [Handler] serves one publisher's catalogue, [Client] reads any publisher's.
//
// # The surface
//
// Routes lists it. A record stands at /f/{key}, the index at /f, a batch at /f?keys=…, ranked keys for a question at /f/resolve?q=…, the changelog at
// /changes.json; /.well-known/facts.json says where each of them is, so a reader needs the origin only. A static publisher (L1) serves files:
// /f/{key}.json and /f/index.json, without batch and resolve.
//
// A record is 200 with the value, also when it is stale or withdrawn. A period that is not held is 200 with covered false and the periods that are held.
// An unknown key is 404 with candidates. A parameter that is unknown, repeated, empty or malformed is 400 and named. Answers that carry status or ageDays
// are never 304 and never outlive the UTC day in a cache, because their ETag names the claim and a claim is the same on every day.
//
// # Reading
//
// The client starts at facts.json and keeps it for an hour, the key set for a day. URL templates are expanded with the slashes of a key kept and
// everything else percent-encoded, commas between keys kept too. No conditional request is sent for a record, and the status in an answer is computed anew
// on the reader's own clock.
//
// Every record is verified in four parts that are never folded into one: the hash over its six claim members; the signature over its eleven attested
// members; whether the key may be used; whether the claim is current. Keys come from the set that facts.json at the origin of publisher.url names, and from
// nowhere else: a record whose signature points elsewhere has no acceptable key, and a set that redirects to another origin, cannot be read or lists one kid
// twice is refused whole. A set that cannot be fetched makes key and signature not tested, never valid. A kid that the cached set does not list is looked up once more before it is unknown. A record whose key is not the one asked for, and that does not
// repeat the one asked for as requestedKey, is refused.
//
// Against a static publisher the client does what a server would: it ranks keys over the published index and word lists, computes status, filters the
// changelog. A static publisher offers the value in force and nothing else, so another day or period is "period not held" with the one span that is
// offered, never the current value under another label.
//
// Changelogs are linked: a chain of claim hashes is a warning, because it does not protect history, and a whole document whose links do not fit a failure
// ([RuleChain]).
//
// # Pins
//
// A reader may remember a publisher by the thumbprints of its keys (RFC 7638) and by a chain head. A key set that is no longer the pinned one, and a
// changelog that no longer contains the pinned head as the link of one of its entries, are findings with outcome fail ([RulePinnedKeys],
// [RulePinnedChain]). Whether to go on is the caller's decision.
package factshttp
