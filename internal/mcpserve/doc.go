// Package mcpserve serves tools to assistants over the Model Context Protocol: Streamable HTTP without sessions, for
// facts ([NewFacts]) and for a registry ([NewRegistry]), and stdio ([ServeStdio]). All are the official SDK behind a
// strict reader of our own; no SDK type leaves this package.
//
// # Revisions
//
// 2026-07-28 (no handshake, server/discover), 2025-11-25 and 2025-06-18. A handshake that asks for another revision is
// answered with 2025-11-25; an HTTP request that names another one in Mcp-Protocol-Version gets -32022 with the list.
//
// # HTTP
//
// Every request is judged in this order, and only what passes reaches the SDK, its bytes unchanged.
//
//	check                                         refused with
//	Host is the origin's or an allowed one        403 JSON {error, message}
//	OPTIONS                                       204 with the CORS headers
//	method is POST                                405, Allow
//	a snapshot is loaded                          503, Retry-After
//	Content-Type is application/json              415
//	Accept is absent or admits application/json   406
//	body within the limit                         413
//	strict JSON: one value, UTF-8, no duplicate
//	  member anywhere, depth at most 64           400 JSON-RPC -32700, id null
//	one object, no batch                          400 JSON-RPC -32600
//	jsonrpc 2.0, a method, an id that survives    400 JSON-RPC -32600
//	params is an object                           400 JSON-RPC -32602
//	revision in the header is known               400 JSON-RPC -32022
//	method known (handshake revisions)            200 JSON-RPC -32601
//	arguments is an object, null or absent        200 JSON-RPC -32602
//
// An id is a string or an integer within ±(2^53-1); a call has one, a notification has none. Numbers inside params are
// not judged here: they belong to the tool. Answers are single JSON bodies. Every answer, refusals included, carries
// Access-Control-Allow-Origin: * and X-Content-Type-Options: nosniff; the endpoint reads public data and takes no
// credentials, so any page may ask it, and the Host list is what keeps a rebound name out. No answer may be stored.
//
// # A registry's endpoints
//
// Package bizhttp judges Host, method, publisher and credential and hands the rest to [RegistryTools.ServeCall]; the
// order below "a snapshot is loaded" is the same, and a refusal without a JSON-RPC message has the body of that package.
// One SDK server serves all publishers. What it answers follows from the publication that came with the request:
// tools/list has the tools that the profile configures, with the schema that registry.json shows, and handshake and
// discovery name the business.
//
// A call is answered before anything is framed, so that what is no answer can be a status (X§5.4):
//
//	envelope                                 result; both channels hold it, isError is never set, whatever its coverage
//	*answer.CallError                        JSON-RPC -32602, data {code, path}
//	app.ErrNoTool                            JSON-RPC -32602, data {code: unknown_tool}
//	bizhttp.ErrUnknown                       HTTP 404 unknown_publisher
//	bizhttp.ErrUnavailable, ErrKeysUnavailable  HTTP 503 with Retry-After
//	too late                                 JSON-RPC -32603, data {code: timeout}
//	anything else                            JSON-RPC -32603, data {code: internal_error}; the cause is reported, not told
//
// The front door is the endpoint of the registry itself. It offers find_publishers, whose arguments and answer are those
// of /discovery/query, ask_business, which asks the publisher's first tool of knowledge.search and answers with {publisher,
// call, envelope} (answers §14.8), and the three facts tools while facts are served beside the registry. There, a
// publisher that cannot be read is -32603, because the endpoint that was asked is there; a registry that cannot be read,
// and an envelope that nobody can sign, are 503. A server of facts alone has no front door: its tools are at /api/mcp/facts.
//
// The answer of an ordinary call is written here, not by the SDK, which takes twenty times as long and puts escapes into
// structuredContent. Ordinary is: one of the known revisions in the header, no member beside the usual ones, no metadata
// that could change the answer, and at 2026-07-28 a result and numbers of binary64. A differential test and a fuzz test
// hold both to the same status, headers and JSON value.
//
// # Results
//
// content[0].text is the tool's JSON document byte for byte; structuredContent is the same value. A miss is a result.
// Refused arguments are a result with isError and the sentence of [describe.Result]. A call that takes longer than 25 s
// is given up with -32603.
//
// # Stdio
//
// One message a line. A line that fails the checks above is answered with its error and the session goes on. At the
// end of input the answers that are still due are written before the session ends. Only messages are written to out.
package mcpserve
