// Package jwk holds Ed25519 keys: which public keys are acceptable, JWK Sets of them (RFC 7517, RFC 8037), thumbprints
// (RFC 7638) and private keys in files, sealed or not.
//
// # Text of bytes
//
// Key material is unpadded base64url (RFC 4648 section 5) in its one canonical spelling: [DecodeBase64URL] refuses
// padding, other alphabets, white space and stray bits in the last character, so that one value has one text.
//
// # Which public keys are acceptable
//
// [Accept] takes a key when it
//
//  1. is exactly 32 bytes long,
//  2. decodes to a point of the curve whose encoding is the same bytes,
//  3. is not of small order (times the cofactor it is not the identity), and
//  4. lies in the prime-order group (times the group order it is the identity).
//
// Plain Ed25519 verification asks for none of 2 to 4. With a key of small order a signature can hold for every message;
// with one of mixed order two verifiers can disagree.
//
// # Key ids
//
// A kid that is read has 1 to 128 characters of A-Z a-z 0-9 . _ : # / - and is compared byte for byte; it is a map key
// and nothing else, never a path or a URL ([ValidKid]). The ids that a facts publisher gives its own keys are narrower,
// <publisher>-<yyyy>-<mm> ([OwnKid]).
//
// # Sets
//
//	{"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "<base64url, 32 bytes>", "kid": "ex-2026-10",
//	           "use": "sig", "alg": "EdDSA", "validFrom": "2026-10-01", "retired": null, "revoked": "2027-02-03"}]}
//
// kty, crv, x and kid are required. use and alg may be absent; present, they are exactly "sig" and "EdDSA". The three
// dates are real calendar days YYYY-MM-DD, absent or null. Other members are ignored, except that a private member d
// refuses the set. One entry that breaks a rule refuses the whole set, as do two entries with one kid and more than
// [MaxKeys] entries: a reader that skipped what it does not understand could be led to another key.
//
// A key that nobody knows yet travels alone, beside what it signs, as {"crv":"Ed25519","kty":"OKP","x":"…"} ([EncodePublic], [ParsePublic]). It needs no kid:
// its thumbprint names it.
//
// The package stores dates and does not judge them; whether a key may sign or verify on a day is decided where the
// statement is.
//
// # Private keys
//
// A private key file is a JWK with the additional member d, the 32-byte seed, whose public key must be x. It is stored
// as it is, readable by its owner alone, or sealed: an age file (age-encryption.org/v1, binary) with one scrypt
// recipient, or to an [Identity], with one X25519 recipient. The identity itself is kept like a key: one line of text in
// a file of its owner alone, or sealed with a passphrase. A [PrivateKey] never shows its seed in any print verb, in JSON
// or in text; only [PrivateKey.Export] does, and the same holds for an [Identity].
package jwk
