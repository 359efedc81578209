// Package vectors holds the language-neutral test vectors of sayso's formats. The files of [FS] are JSON Lines: UTF-8,
// one JSON object per line, no empty line, members in any order. Every object has a name that is unique in its file
// and a class: "valid", or the class of the failure that a strict implementation must report. note, where it stands,
// says in words what the vector is about. An implementation in another language reads the files from the folder data.
//
// # data/claims.jsonl
//
// name, class, claim (the text of an object with the six members a fact's hash covers, as a string, so that the
// spelling of its numbers is kept), canonical (its RFC 8785 text), hash ("sha256:" and the lower-case hex SHA-256 of
// canonical), note. Class "number" is a claim whose value does not survive binary64: it must be refused, and canonical
// and hash are what a reader that rounds would make of it. Some values and dates are synthetic.
//
// # data/attestations.jsonl
//
// name, class, attestation (the eleven signed members as the signer had them), canonical (their RFC 8785 text), payload
// (the bytes a verifier rebuilds, in which publisher is the URL of the publisher), header (the JWS header as text), jws
// (header..signature), jwk (the public key), note. A jws of class "signature wrong" holds over canonical but must be
// refused over payload: it was made under another reading of the member publisher.
//
// # data/jws.jsonl
//
// name, class, jws, payload (text whose UTF-8 bytes are the payload), kid (the key id that is expected), x (the public
// key, base64url), note. Classes:
//
//	valid            the signature holds
//	malformed        parts, base64url, header, alg, crit, b64, a header member that brings a key
//	wrong kid        the header is in order but names another key id
//	key              the public key must not be used at all
//	signature wrong  in order, but it does not verify
//
// Where several classes fit, the first of this order is the one to report.
//
// # data/keys.jsonl
//
// name, class, set (the text of a JWK Set), note. The classes are the reasons of package jwk: malformed, base64url,
// length, encoding, small order, mixed order, key type, use, kid, duplicate kid, private key, date.
//
// # data/numbers.jsonl
//
// name, class, bits (the binary64 value as 16 hex digits), text (its ECMAScript text, null when there is none). Class
// "not finite" is NaN or an infinity, which JSON cannot express. The rows are those of RFC 8785 appendix B; a few of
// their texts are integers that the strict reader of package jcs does not take back.
//
// # data/xp-canon.jsonl
//
// name, class, text (a JSON text) or hex (its bytes, where they are not UTF-8), canonical (its canonical form in
// X-Protocols, which is not RFC 8785), digest (base64url of the SHA-256 of canonical), note. The classes other than
// valid are those of package jcs: syntax, trailing data, duplicate name, invalid UTF-8, depth.
//
// # data/xp-tamper.jsonl
//
// name, class (valid, or the finding that changes; format when the text is refused), note, document (its text), root
// (the pinned root's public key in base64url, null when none is pinned), registry_keys, publisher_keys, revocations and
// publisher_list (names of lines of data/xp-tamper-evidence.jsonl, "" for what the reader did not look for), publisher
// (the slug that was asked for, or ""), call ({tool, arguments as text, "" for none}, or null), at (the reader's
// clock), want. want is {error: {code, rule}}, or kind and the findings signature, identity, authority, revocation,
// call, mirror and usable, each {value, reason, count}. The reader allows 60 seconds for signed_at in the future and
// its policy excuses nothing. Values are the protocol's; reasons are those of package business. T01 to T55 are the rows
// of the list of tampered documents, those with a suffix further cases of a row; A and L are more about authority and
// lists.
//
// # data/xp-tamper-evidence.jsonl
//
// name, class (registry-keys, publisher-keys, revocations, none), document (its text), error ("", or why there is none:
// unavailable stands for an answer that is no 200, a timeout or a failure of TLS, net_refused for an address that the
// reader's network policy refuses).
//
// # data/gidp-attestations.jsonl
//
// name, class, attestation (the text that was shown: <jwt>~<kb-jwt>), issuer (the public key of the issuer that is
// believed, a JWK), session, provider, key and peer (where it has to be shown: session_id or the origin of a provider,
// the thumbprint of the key of the side that shows it, and when that is the responder of a session the thumbprint of the
// initiator's key; "" for none), at (the reader's clock). The classes other than valid are the codes of package
// gidp/attestation: malformed, property, key, signature, time, binding. Where several fit, the first in the order of that
// package is the one to report.
//
// # Keys
//
// Private keys: the test key of RFC 8037 appendix A, whose private half is printed there, and keys made from one
// repeated byte. None of them may ever be trusted.
package vectors
