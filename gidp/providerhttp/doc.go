// Package providerhttp serves a discovery provider of GIDP 0.1 (§12) over HTTP, keeps its rows through an interface, and has the client that publishers and
// querents call it with. What a provider takes, finds and refuses is package provider's to say.
//
// # Operations
//
// Everything is below /gidp/v1/ of the provider's origin. A body is one strict JSON object of at most 80 KiB; an answer is one JSON object.
//
//	GET    /gidp/v1/                                                                     information document (Info)
//	POST   /gidp/v1/projections               {key, projection, attributes?, hierarchies?}   201 {projection_ref, withdraw_latency_s}
//	PUT    /gidp/v1/projections/REF           {key, projection, attributes?, hierarchies?}   200 {projection_ref, withdraw_latency_s}
//	DELETE /gidp/v1/projections/REF           {key}                                          202 {acknowledged, effective_by}
//	POST   /gidp/v1/candidates                {key, projection, attributes?, limit?, cursor?} 200 {candidates: [{candidate_ref, projection_ref}], cursor?}
//	POST   /gidp/v1/candidates/REF/resolve    {key}                                          200 {endpoint, projection_ref}
//	POST   /gidp/v1/reports                   {key, projection_ref, reason}                  202 {received}
//
// projection is a DiscoveryProjection. Of that of a query only the four lists count; a querent fills in an id and an endpoint that lead nowhere. effective_by
// is RFC 3339 in whole seconds, UTC. Withdrawing twice, and withdrawing what is not there, is acknowledged. A page holds no total and no score; a larger limit
// than 50 is cut.
//
// # Who calls
//
// Every call but GET is signed as package httpsig says, with its profile Provider: @method, @authority, @path and content-digest. key is the public key as a
// JWK, and all there is to know of the caller: no account, no name. A publisher has one key for each projection, a querent one for each exploration (P-2). The
// authority is that of the origin in the information document, so that a request to one provider is of no use at another. created may be five minutes off. A
// publication or update whose very signature was seen in the last ten minutes is refused; it is this process that remembers, so an old copy could be played to
// another replica by whoever saw the request inside TLS.
//
// # Refusals
//
//	{"error": CODE, "message": SENTENCE}
//
// with the codes of package provider and of this one, and their statuses: malformed 400, unsigned 401, banned and members 403, not_found and unknown 404,
// method 405, stale 410, too_large 413, media_type 415, refused and too_broad 422, quota 429, internal 500, behind and unavailable 503. 429 and 503 carry
// Retry-After. No text repeats anything of the request.
//
// # Truth, replicas, withdrawal
//
// The rows of the database are the truth, the index of a process is derived from them. A change is judged by the index, committed over exactly the revision it
// was judged by, applied, and then answered. Every process reads the feed of rows four times a second, and one that has not read it to its end within the
// withdrawal latency answers no query (behind). So effective_by, which is the latency after the commit, holds for all of them, whatever happened to any of
// them.
//
// # Abuse
//
// Quotas count keys, and the /24 or /48 of the client's address, by the hour of the clock and by process. A report names a projection and one reason of a
// closed list. A ban shuts out the key of a projection, which takes the projection out of every answer, or a network; every process takes it over within two
// seconds.
//
// # What is kept
//
// A row has the endpoint, the labels, the expiry and a thumbprint. It leaves the database a day after its expiry; a withdrawn one keeps reference, thumbprint
// and expiry alone until then. Nothing of a query is kept. The log has counts of operations in an hour, rounded to tens (P-11).
package providerhttp
