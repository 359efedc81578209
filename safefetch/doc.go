// Package safefetch is the only way sayso fetches a URL that somebody else chose.
//
// A URL in a document, a key set or a record is hostile input: it may name a service inside the reader's own network, a cloud metadata address, a name
// that resolves differently the second time, or an endless body. A [Client] therefore fetches under a [Policy] and refuses rather than repairs.
//
// # What is refused before anything is sent
//
//   - every scheme but https; http is allowed for exactly the host:port pairs of Policy.Loopback and for nothing else
//   - user information, a fragment (also an empty one), an opaque URL, an IPv6 zone, a missing host, a URL over 8 KiB
//   - a port other than 443, again except for Policy.Loopback
//   - headers that carry credentials or steer the connection (Authorization, Cookie, Referer, Host, Accept-Encoding and their kind)
//
// # What is refused when the name is known
//
// The name is resolved once, every address of the answer is judged, and one forbidden address refuses the whole name: an answer that mixes a public and a
// private address never reaches either. The connection goes to an address that was judged, so that a second, different DNS answer has no effect; the socket
// is judged again just before it connects. Forbidden are all ranges of the IANA special purpose registries, the Azure platform address 168.63.129.16, IPv4
// addresses written as IPv6 (mapped, compatible, translated, 6to4, NAT64, Teredo) and every IPv6 address outside 2000::/3.
//
// # Bounds
//
// One deadline covers the whole fetch, redirects included. The body is bounded after decompression, the header by 64 KiB or Policy.MaxHeader.
// Identity encoding is asked for; gzip is read within the bound unless Policy.Undecoded forbids it, any other encoding is an error. At most Policy.PerHost connections to one host are open at a time, and at most
// Policy.MaxRequests requests are sent in the life of the client, each redirect counted.
//
// No proxy is used whatever the environment says, no cookie is kept, no Referer or Authorization is sent, TLS is verified and cannot be switched off.
// Redirects are off unless Policy.MaxRedirects allows them, for GET and HEAD only, within the scheme, each hop through all checks.
//
// # The loopback exception
//
// An origin that the user typed may stand on the own machine. The caller puts its host:port into Policy.Loopback ([Policy.WithLoopback]); the host must be localhost, an address of
// 127.0.0.0/8 or ::1, anything else grants nothing. Such a pair is dialled over plain http at that host and port only; localhost is not looked up but means
// 127.0.0.1 and then ::1. A server never sets it.
//
// Policy.StandIns lets a test or a demonstration play the public internet on one machine: the public address is judged, a loopback address is dialled in its
// place. It opens nothing to a name that resolves to loopback itself.
//
// # Errors
//
// A refusal matches [ErrRefused]. Where the reason lies in the URL alone the error says so. Where it lies in what the name resolves to, the error is a
// [*FetchError] with the text of an unreachable host after a pause like that of a failed connection, so that whoever may choose URLs and read error texts
// cannot map a network. No error holds a query, a fragment or anything the peer sent.
package safefetch
