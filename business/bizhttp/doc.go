// Package bizhttp speaks X-Protocols Business Data 1.0 over HTTP, in both roles: [Handler] serves a registry, [VerifyURL] and its kin read any registry.
//
// # The surface
//
// [Routes] lists it. Documents of the registry stand on every host: its keys, its own revocation list, discovery.json and /discovery/query. Documents of a
// publisher have two addresses: /t/{p}/.well-known/x-protocol/… on every host, and /.well-known/x-protocol/… on a host that was recorded for the publisher,
// with /.well-known/protocol-x-manifest.json and /.well-known/knowledge-core/… as further names of the same bytes. revocations.json at the root of a host is
// always the registry's list; a publisher's own has the path form only. Neither form is a registered well-known URI.
//
// The public pages stand below the publisher's base: /{country}/{city}/business/{p} when its primary location states a country code and a locality,
// /b/{p} otherwise. The other form, a wrong country or city, and a final slash answer 301 with tail and query kept. Below the base are the profile itself,
// /{type}/{id} for one record (the id percent-encoded as one segment), dump.jsonl, llms.txt, sitemap.xml and /verify. /b lists the publishers. On the
// registry's own host / is that list, /llms.txt and /sitemap.xml tell of all publishers; on a publisher's own host the three redirect to its pages.
// [Belongs] says how the surface shares an origin with a facts publisher.
//
// The Host of a request selects a publisher and is never part of an answer: every locator is built from the configured origin.
//
// # Who sees what
//
// Manifest, registry.json, jwks.json and revocation list are served to everybody for every publisher that ever existed. Pages, export and MCP endpoint are
// content: a stranger gets them while the publisher is published, else 404 as if there were none. A bearer credential of the publisher opens a preview of
// what is not published, marked "Cache-Control: private, no-store", but not while the publisher is suspended. The MCP endpoint has no preview: what it answers is
// signed, and nothing that a publisher says is signed before it is published, so its owner gets the 404 of everybody with a sentence that says why. A credential that is not good is 401
// everywhere, also where none is needed; an Authorization header of another scheme is one. On what speaks of the registry as a whole no publisher's
// credential is good.
//
// Refusals are decided in one order: path and method, configured origin, read, exists, Host of an MCP endpoint, credential, suspended, published, then what the
// route itself asks. The redirect to the base comes after all of them, because it tells where a business is.
//
// # MCP endpoints
//
// A POST to /t/{p}/mcp, or to /mcp under a host of the publisher's, is handed to HandlerOptions.Call with the publication; /mcp under the registry's own host is
// the front door, which has none. The path form answers under the registry's own host, every loopback spelling of it when it is one, and the hosts of that
// publisher; under another Host it is refused, because a page that rebound its name to this server could ask it. What is asked and answered there is Call's.
//
// # Refusals
//
//	{"error":"<code>","message":"<one sentence>","request_id":"<id>"}
//
// with Cache-Control: no-store. A client whose Accept names text/html, and prefers it, gets a page instead. The codes:
//
//	400 invalid_request               a parameter of /discovery/query, or one for a page of a profile, is unknown, repeated, empty or malformed
//	401 unauthorized                  with WWW-Authenticate: Bearer; the reason is never said
//	403 publisher_suspended           to the publisher's own credential only
//	403 host_not_allowed              an MCP endpoint under a Host that is neither the registry's nor the publisher's
//	404 unknown_publisher             no such publisher, or none that this caller may see
//	404 not_found                     no such path, record, page of a sitemap or asset; or a publisher without tools
//	405 method_not_allowed            with Allow
//	406, 413, 415 and others          of an MCP endpoint ([Refusal])
//	500 internal_error
//	503 no_anchor                     no origin is configured
//	503 publisher_unavailable         with Retry-After: the publisher could not be read, which says nothing about it
//	503 key_set_unavailable           with Retry-After: a key set is served whole or not at all
//	503 revocation_list_unavailable   with Retry-After: a list is served signed or not at all
//
// # Forms and caches
//
// Profile, record, verify page and /b negotiate between HTML and application/json by quality, then by how specifically a form is named; HTML is the default,
// also when nothing offered is acceptable. They carry Vary: Accept and, apart from /b, a Link with rel="describedby" that names the manifest. The JSON of a
// record is the line of the export. The JSON of a profile is
//
//	{protocol_x_version, registry, publisher, publication, data_last_updated?, endpoints, state?, record_types:[{type, count}], records:[…], more_records}
//
// with the publisher block and the endpoints of the manifest and at most 100 records, fewer when they hold more than 1 MiB of text; the export has all of
// them. In HTML the profile has pages of as many: ?after=type/id goes on behind that record, whether it is still there or not, and ?places=n shows the
// n-th page of locations. llms.txt tells 500 records, fewer when they hold more than 4 MiB, each published text as one line of at most 400 characters.
//
// Documents and pages have a strong ETag over their bytes and are kept for 300 s, assets for 3600 s. The export is kept for 900 s and has a weak ETag over
// content_hash, authority and addresses, because its first line carries the time it was made. The strong ETag of sitemap.xml is likewise over what its bytes
// follow from. Answers of /discovery/query are not stored: a request may carry a position. If-None-Match is honoured everywhere. HEAD is GET without a body,
// OPTIONS is 204, and every answer, refusals included, allows every origin.
//
// dump.jsonl and sitemap.xml are streamed in chunks of 32 KiB, each of which has 30 s to leave in place of the server's own write timeout. Whether the
// publisher is published is judged again on the snapshot that is sent. An answer that breaks off closes the connection, so that a half is never taken for the
// whole.
//
// sitemap.xml lists profile, verify page and records. Above 50,000 addresses it is an index of sitemap.xml?page=1 and so on. On the registry's own host it is
// an index of the publishers' lists.
//
// # Discovery
//
// /discovery/query finds published publishers by category, country, city, language, name, handler, latitude with longitude, and radius_km. Every filter
// given must match, exactly or, for words, up to a regular ending. A publisher that does not state a filtered member does not match and is counted in
// not_stated_count; evidence_complete says that this count is zero. Results stand in the order of distance when coordinates were given, else of display name,
// then slug; next_cursor names a place in that order, so that publishers that come and go neither repeat nor hide others. The answer is unsigned and holds
// locators only.
//
// # Reading
//
// [Discover] goes from a host or an address to the manifest. Only the entry points that the protocol fixes are put together from parts: the manifest at a
// host, or below /t/{p} for the slug in the address of a profile, record or MCP endpoint. Everything behind comes from the document: registry_keys_url,
// endpoints.revocations, and of an envelope jwks_url, revocation_url and the registry_keys_url in the attestation of the key that signed. The registry's own
// list is the one document no other names; it stands beside the registry's keys.
//
// [Gather] fetches this evidence and [VerifyURL] and [VerifyDocument] hand it to business.Verify. The slug in an address is what the document is held to.
// All requests of one verification share [Bounds]: 12 requests with redirects counted, 10 s, 4 MiB for one document, 5 redirects in a row. A destination that
// policy refuses is not connected to and comes back as Fetched.Err. A key set or list that redirects to another origin is a different source and is not
// used; for a manifest [Found.Moved] tells it.
//
// # Asking
//
// [Ask] goes from an address to a verified answer: manifest, handshake, tools/list, one call, and business.Verify of the text of the result as the answer to
// exactly this call by the publisher of the manifest. Keys and lists are read once for both documents. One question shares [AskBounds] and [AskTime]: 32
// requests, 30 s. The endpoint is endpoints.mcp of the manifest; the name of the tool comes from tools/list, and registry.json, unsigned, says which of them
// searches. A manifest that is expired, withdrawn, forged or another publisher's ends it before the call; what a policy could excuse does not, because the
// answer is judged by itself.
//
// An answer that is not usable has findings, and neither envelope nor conclusion. A result that is not one text, isError, and a text that is no envelope are
// errors. structuredContent is compared with the text and never read. [coverage.Conclude] makes what may be said, for people.
//
// When the answer waits for a value that Question.Follow holds, the call is made again with [add_to][name] set in the arguments that were sent; a resume that
// continues another call is noted and not followed, and neither is a publisher that asks for what it was given, or more than [MaxSteps] times.
//
// [Connect] is the client below it: MCP over Streamable HTTP, revision 2025-11-25 or 2025-06-18, for tools of any server. An answer is one JSON body or the
// one event of a stream that answers, of at most 4 MiB, read strictly, with the id of the request; a POST is never redirected (XP-TRANSPORT-003). Arguments
// are sent token by token as they are given.
//
// What is no address at all is [ErrAddress]. What goes wrong on the way is a [TransportError] with the status, the machine code and the Retry-After of the
// answer: never a statement about the business.
// No query string is ever part of an error or a report.
package bizhttp
