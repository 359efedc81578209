// Package mandate makes and verifies the delegation mandate of a GIDP session (§16.2): an SD-JWT (RFC 9901) by which a Principal's console says which levels of
// authority the holder of one session key has, and under which name, if that is to be told.
//
// # Form
//
//	<jwt>~                                  as it is first sent: levels, no name
//	<jwt>~<disclosure>~[<disclosure>~]      when revealing the identity was granted, with the granted names only
//
//	header   {"alg":"EdDSA","typ":"gidp-mandate+sd-jwt","jwk":{"crv":"Ed25519","kty":"OKP","x":"…"}}
//	payload  {"iss":"…","aud":"session:…","cnf":{"jwk":{…}},"gidp_authority":["PROBE","DISCLOSE"],"commit":false,
//	          "iat":1793696400,"exp":1793782800,"jti":"…","_sd_alg":"sha-256","_sd":["…","…"]}
//	disclosure  BASE64URL(["<salt>","principal_name","…"])
//
// iss, jti and what follows "session:" are opaque, 1 to 128 visible ASCII characters, made anew for each session. cnf.jwk is the key that signs the session's requests.
// gidp_authority holds 1 to 7 of the levels of §16.1, each once, never COMMIT; commit is always false. iat and exp are whole seconds. A digest is BASE64URL(SHA-256 of the
// disclosure's text). The two names that can be disclosed are [PrincipalName] and [OrganisationID], strings of 1 to 256 bytes.
//
// [Issue] always writes two digests. A Principal without one of the names gives a decoy in its place (RFC 9901 section 4.2.5), because the number of digests would
// otherwise tell, before anything is granted, that there is an organisation.
//
// # What it proves, and what it does not
//
// The mandate is signed by a key that the Principal's console holds and the agent does not. Its public half travels in the header, and is fresh for each interest, so that
// two interests of one Principal cannot be linked by it. Therefore:
//
//   - It proves that one party that holds that key delegated these levels to the holder of the session key, for this session, until exp; and that two mandates under one
//     key were issued by one party.
//   - It does not prove who that party is, that it is a Principal at all, that it is another party than the agent's operator, or that a disclosed name is true. Anybody can
//     make a key and sign any name with it.
//
// A reader shows exactly that: [Evidenced] or [Unevidenced], and the thumbprint of the key. What binds the key to a person, a register entry or an earlier acquaintance is
// other evidence, outside this package. [Verify] refuses a mandate under the session key itself, which would be an agent speaking for itself.
//
// # What is read
//
// The form above and nothing else, in canonical base64url and strict JSON (package jcs), at most [MaxBytes] bytes. The first failure is the answer. Refused are, with the
// [Code] in parentheses:
//
//   - other members of the header (CodeHeader) or payload (CodePayload): one that is not understood could limit the mandate
//   - a key that is not acceptable ([jwk.Accept]), or that is the session key (CodeKey); a signature that does not hold (CodeSignature)
//   - _sd_alg other than "sha-256", a digest that stands twice (CodeDigest)
//   - a disclosure that matches no digest, stands twice, names a claim of the payload or of RFC 7519, or anything but the two names (CodeDisclosure)
//   - text after the last tilde: a key-binding JWT is not used, because every request of the session is signed by the key that cnf names (CodeKeyBinding)
//   - a level that does not exist, that stands twice, or COMMIT (CodeAuthority); commit other than false (CodeCommit)
//   - another aud, another session key, exp not after now or later than the session may last, iat in the future (CodeAudience, CodeConfirmation, CodeTime)
//
// A presentation without a disclosure and one with it are the same mandate: Verified.Mandate is equal, Verified.Digest is not. A reader that got names later compares the
// former with what it saw first.
package mandate
