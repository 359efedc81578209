// Package mcpserve serves tools to assistants over the Model Context Protocol: Streamable HTTP without sessions
// ([NewFacts]) and stdio ([ServeStdio]). Both are the official SDK behind a strict reader of our own; no SDK type
// leaves this package.
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
// credentials, so any page may ask it, and the Host list is what keeps a rebound name out.
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
