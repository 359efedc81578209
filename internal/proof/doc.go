// Package proof finds out whether somebody controls a host: over its DNS or over its web root. It proves control, never identity.
//
// # The challenge
//
// The registry keeps a secret. For each attempt it draws a nonce of 128 bits and derives a [Token], bound to publisher, host, method and nonce. The business
// publishes the token in one of two places, [Challenge.Instructions] names it exactly, and [Checker.Check] looks:
//
//	dns_txt     a TXT record at _sayso-challenge.HOST with the value token=TOKEN, optionally followed by one space and expiry=TIME (RFC 3339)
//	well_known  https://HOST/.well-known/sayso-challenge, status 200, Content-Type text/plain, the body TOKEN
//
// Both are names of this program; neither is registered anywhere. A token lives for [TokenLife]. A proof is of exactly one host: not of its parent, not of
// its subdomains. [NormalizeHost] gives the one spelling of a host (UTS 46, non-transitional: A-labels, lower case, no final dot) and refuses what can never
// be proven; the version of the public suffix list that decided is part of the evidence. [Display] turns it back for people and keeps the A-labels where a
// label mixes scripts.
//
// Two publishers may prove one host. Each proof is true for itself; who acts on the conflict is decided by the caller, who sees both.
//
// # dns_txt
//
// Every resolver of the checker is asked with the DO and AD bits, over UDP and again over TCP when the answer was truncated. At most 8 aliases (CNAME and
// DNAME) are followed. The strings of a record are joined; any one record of the set may hold the token; other records do not disturb. An expiry in the
// record that has passed makes the value worthless. Comparison takes constant time and tells upper from lower case.
//
// The AD flag is believed from a resolver on loopback or over TLS and from no other. A validated answer decides alone, and so do broken signatures that
// such a resolver reports (RFC 8914). Every other answer needs three vantage points or more, of which one may see something else: it is recorded as
// dissent. Two that differ are vantage_disagreement; more than one that sees nothing at all is servfail or timeout. With fewer than three resolvers an
// unsigned zone is refused as resolver_setting, and without a trusted one among them nothing is asked at all.
//
// When the answer is that there is no record, the name servers of the zone are asked too. If they hold the token, resolvers remember a time when there was
// none, and the failure says for how long they may (the minimum of the SOA record); it does not count. This is no proof: one vantage point on unsigned
// data saw it. Addresses of name servers come from the zone, so only public ones are asked. If the token stands at the host itself, the failure is
// no_record and names the right place.
//
// # well_known
//
// Package safefetch fetches within 10 seconds, 4 KiB of body and 16 KiB of header, undecoded. A leading byte order mark and line ends behind the token are
// tolerated. A redirect may lead to the same path of the same host over https, at most 3 times; every other one is refused before anything is sent there,
// also one to another path, which on a shared host may be somebody else's. The host is resolved by the checker's resolvers, one address of each family, and
// the address that was judged is the one that is dialled.
//
// A path with a random end is fetched as well: when it holds the token, the host says yes to everything (soft_404). Then the page is fetched under a user
// agent that does not name this program: when it differs, it was made for us (cloaking).
//
// # What counts
//
// [State.After] is the whole schedule: proven for [Validity], checked again at half of it, then daily; the third day with a failure that counts is the
// lapse, as is valid_until. Failures that count are answers which show that the token is gone: nxdomain, nodata, no_record, wrong_value, a record past its
// own expiry, wrong_body, and status 404 or 410. Outages never count. A lapsed proof stays lapsed: [State.Until] closes its token, because the domain may
// have another owner, and the next attempt has a new nonce.
//
// # Evidence
//
// [Evidence] is stored with the proof: place, time, what each vantage point said, a hash of the answer, where aliases ended, the AD flag, dissent. It holds
// no token. The hash of a TXT set is SHA-256 over its values sorted as bytes, each behind its length as four bytes, big-endian; the hash of a page is
// SHA-256 over its body as received.
//
// # Tests and the demonstration
//
// Nothing here reaches the own machine unless the caller says so in [Loopback] (XP-NET-006). Package loopdns serves the DNS for both.
package proof
