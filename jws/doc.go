// Package jws makes and verifies detached JSON Web Signatures with EdDSA over Ed25519 (RFC 7515 appendix F, RFC 8037),
// in one strict form.
//
// # Form
//
//	BASE64URL(header) ".." BASE64URL(signature)
//
// The signature covers the ASCII bytes BASE64URL(header) "." BASE64URL(payload). The payload does not travel: whoever
// verifies rebuilds it from the document that is being verified. A signer writes the header {"alg":"EdDSA","kid":"…"},
// these two members in this order and nothing else.
//
// # Verification
//
// In this order, the first failure being the answer:
//
//  1. The text has at most [MaxLength] bytes, exactly two dots and nothing between them. Header and signature are
//     canonical unpadded base64url ([jwk.DecodeBase64URL]), the signature of 64 bytes ([Malformed]).
//  2. The header is a JSON object under the strict profile of package jcs. alg is the string "EdDSA"
//     and kid a string a key id may be ([jwk.ValidKid]). crit and b64 are refused, because they change what the other
//     parts mean, and so are jwk, jku, x5u and x5c, because a key is never taken from the statement it is to prove.
//     Other members are allowed; the signature covers them, since the header is used as received ([Malformed]).
//  3. kid is the expected one ([WrongKid]).
//  4. The key is not of small order and canonically encoded ([BadKey]). That it lies in the prime-order group is checked
//     where keys enter ([jwk.Accept]); checking it again would double the cost of every verification.
//  5. The signature holds ([Wrong]): S is reduced, and R is compared by its bytes as RFC 8032 section 5.1.7 does without
//     the cofactor. A small-order R is not refused.
//
// Which key belongs to a kid, and whether it may speak for a day, is decided by the caller.
package jws
