// Package httpsig signs and verifies HTTP requests with RFC 9421 in one strict profile: one signature, Ed25519, a key that lives as long as one session or one
// projection.
//
// # Form
//
//	Content-Digest: sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:
//	Signature-Input: sig=("@method" "@authority" "@path" "content-digest" "a2a-extensions" "a2a-version");created=1790000000;nonce="6f0c";
//	    keyid="kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k";alg="ed25519";tag="gidp"
//	Signature: sig=:...88 characters of base64...:
//
// Each of the three is one field line with one member. The label is any key of RFC 8941 and the same in both fields; components and parameters stand in any order;
// the text is the one RFC 8941 section 4.1 writes, with no other white space. What a verifier would have to write anew is refused instead, so that the text
// received is the text that was signed.
//
//   - created: whole seconds since 1970, no sign, no leading zero
//   - nonce: 1 to 128 visible ASCII characters without quotation mark and reverse solidus; required where [Profile] says so
//   - keyid: the RFC 7638 thumbprint of the key as a JWK
//   - alg and tag: always "ed25519" and "gidp"
//
// Refused: any other parameter (also expires), a repeated parameter or component, a component with parameters, a component that the profile does not have, a second
// label or a second line, base64 that is not canonical, another digest than one sha-256.
//
// # What is covered
//
// A profile lists its components and all of them are covered, with two exceptions that follow from the request: content-digest is covered exactly when there is a
// body of at least one byte, and a component of Profile.Optional exactly when the request has that header. A verifier derives the list from the request it received, so that
// nobody can take a part out of the signature.
//
//	@method     the method as sent, A to Z
//	@authority  host[:port] in lower case without the scheme's default port: [Authority]
//	@path       the absolute path, percent-encoded as sent, without query; "/" when it is empty
//	content-digest, a2a-extensions, a2a-version
//	            the lines of the field, each without white space around it, joined with ", " (RFC 9421 section 2.1)
//
// The query is not covered by any profile here: a receiver that acts on one must refuse it.
//
// # Order of work
//
// [Read] parses and looks at nothing but the text, so that the caller can look the key up by Params.KeyID. [Signature.Verify] then checks the components, the time, the
// digest over the exact bytes of the body, that the key has the thumbprint, and the signature. It checks no replay: a caller that needs that remembers (keyid, nonce)
// for twice the window. Whose key it is and what it may do are the caller's questions too; a valid signature says that one holder of this key sent these parts to
// this authority.
//
// # The key
//
// A key that nobody knows yet travels beside the request as a JWK ([jwk.EncodePublic], [jwk.ParsePublic]). It names nobody.
package httpsig
