// Package loopdns is a DNS server on loopback whose answers are written by its owner: for tests, and for a demonstration that needs no network.
//
// [Start] listens on a free port of 127.0.0.1, UDP and TCP alike; [StartTLS] serves DNS over TLS. Records are lines of a zone file:
//
//	s.Put(`shop.example. 60 IN SOA ns.shop.example. host.shop.example. 1 2 3 4 300`, `_sayso-challenge.shop.example. 60 IN TXT "token=…"`)
//
// The server answers like a resolver and an authority in one: it follows CNAME and DNAME through everything it holds, knows wildcards (the closest
// encloser decides, RFC 4592), tells a name without data of the type from a name that does not exist, and adds the SOA record of the closest enclosing zone
// to both. An answer larger than the client takes over UDP is truncated. A [Fault] makes one name misbehave. Sending AD is a switch, no signature is ever
// made. Close ends every goroutine.
package loopdns
