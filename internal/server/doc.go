// Package server runs the two listeners of a sayso server: the public one around the surfaces it is given, the private one for care and administration.
//
// # The public listener
//
// It serves the facts surface (Options.Public), the business surface of a registry (Options.Registry), or both. Where both are there a path has one owner,
// as bizhttp.Belongs says, and under a host that a publisher was recorded for everything is the business surface's; while the registry cannot say which
// hosts these are, any name but the registry's own may be one. A server with one surface gives it every path. An unknown path is 404 in the shape of the
// surface that owns it.
//
// GIDP adds agents below /a2a/ (Options.Agents) and a discovery provider below /gidp/v1/ (Options.Provider), with the JSON Schemas of what they exchange below
// /schema/gidp/. Their handlers get the client's address ([ClientAddress]); nothing of them may be read by pages of another origin but the schemas. An event
// stream of an agent lasts as long as its reader takes each part within a minute.
//
// Limits stand around all: a request line and header of at most 16 KiB (431), five seconds for the header, bodies of at most 1 MiB unless the route says
// less, a rate limit on the routes that are computed (429 with Retry-After), and a recovery that turns a panic into a 500 body, or closes the connection when
// an answer had begun. Every answer carries an X-Request-Id that the log repeats. /livez, /readyz, /metrics and the admin API do not exist there.
//
// Requests are counted by client address in the running minute. On /mcp, /t/{p}/mcp and /discovery/query a request with a credential is counted by the
// credential instead and leaves the address's allowance alone. Credentials that were answered 401 are counted by address in a third count, which refuses
// further credentials from there when it is used up.
//
// # The private listener
//
// It serves /livez (the process answers), /readyz (every check with its level; 503 when one failed), /metrics and, with a registry, the admin API; 404
// otherwise. It answers for localhost, IP addresses and Options.PrivateHosts only, 403 otherwise: another page's name that is made to lead here must not read it.
//
// A registry is ready when its heads were read within ten seconds; without a key that can sign, or with one that ends within 30 days, it is ready with a warning. Its
// gauges are sayso_registry_publishers, _publishers_published, _proofs_expiring, _proofs_lapsed, _key_seconds and _heads_age_seconds. Its background work
// runs as long as the server does.
//
// Options.Inbox serves the page of decisions at /inbox and below, behind the same rule of names; its own forms are its to guard. Options.Background runs as
// long as the server does.
//
// # The admin API
//
// Everything below /api/v1 is in one table, which dispatches, makes the OpenAPI 3.1 document at /api/v1/openapi.json and is what the test of authorisation
// walks. A row names the operations of app.Rules that it stands for; who may do them is decided by package app alone. Callers hold a bearer token; there are no
// cookies and no CORS, and requests that a browser made for a page of another origin are 403 cross_site. The order of the checks is: path and method (404, 405), origin
// (403), token (401, whose reason is never said), query (400), content type (415), body (400, 408, 413), then the use case.
//
// A JSON body is one object in UTF-8 of at most 1 MiB without unknown, repeated, null or missing members. Documents of the protocol (profile, schema,
// locations, calendar) go to their own readers; GET answers what PUT takes. An import takes application/x-ndjson, text/csv or application/ld+json as one file of records,
// or application/x-tar as a bundle (tar -C FOLDER .): regular files with the names of a bundle (publisher.json, schema.json, calendar.json, one of records.jsonl, records.csv, records.jsonld), each
// once, without any path, in an archive that is whole and ends where it says. It has at most 256 MiB, four run at the same time and one for each publisher (429
// import_running). Each MiB of a body has 30 seconds to arrive (408 slow_body); a body that breaks off changes nothing.
//
// Idempotency-Key, 1 to 128 visible ASCII characters, makes an act repeatable: the same key, token, method and path is the same act, which is done once
// and then answered with "repeated": true. Lists are read in pages of limit rows behind after; next is the after of the following page. Every answer is
// "Cache-Control: no-store"; a refusal is
//
//	{"error": CODE, "message": SENTENCE, "next"?: WHAT TO DO, "request_id": ID, "problems"?: [...], "more_problems"?: N}
//
// with the status of the table in package app.
//
// # Reloading and metrics
//
// A Reloader is polled every two seconds and asked at once on Reload: a change is loaded when it has been still for one interval. A refused reload changes
// nothing but /readyz, which shows the reason as a warning while the old state keeps serving.
//
// Metric labels are closed sets: route pattern, status class. No key, address or publisher text is ever a label.
package server
