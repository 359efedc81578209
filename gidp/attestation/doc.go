// Package attestation makes and verifies what an issuer vouches for about the agent on the other side of a GIDP session: the counterparty properties
// verified_agent, member:DOMAIN and attested:CLASS (§9.1, sec. 4). An attestation is an SD-JWT with key binding (RFC 9901) that is used for one session and
// says nothing but one property.
//
// # Form
//
//	<jwt>~             as the issuer gives it to a holder
//	<jwt>~<kb-jwt>     as the holder shows it in one session
//
//	header      {"alg":"EdDSA","kid":"<thumbprint of the issuer's key>","typ":"gidp-attestation+sd-jwt"}
//	payload     {"cnf":{"jwk":{"crv":"Ed25519","kty":"OKP","x":"…"}},"exp":1927238400,"gidp_property":"member:guild.example"}
//	kb header   {"alg":"EdDSA","typ":"kb+jwt"}
//	kb payload  {"aud":"session:<session_id>","iat":1925121600,"nonce":"<thumbprint>[.<thumbprint>]","sd_hash":"…"}
//
// All four are RFC 8785 text, byte for byte, with exactly these members, and every part is canonical base64url: an attestation has one spelling, and no room
// for a byte that would tell two holders apart. cnf is a key of the holder that is used for nothing else. exp is a Monday, 00:00 UTC, at most [MaxWeeks] weeks
// ahead ([Expiry]), so that it is shared with everybody who got an attestation for that week. There is no iat, no jti, no name and no status list.
//
// nonce is the RFC 7638 thumbprint of the key by which the holder signs in the session. A responder adds a dot and the thumbprint of the initiator's key
// ([Binding.Peer]): its answers are not signed, and without this somebody between two honest agents could hand the one's attestation to the other. An initiator
// need not: its every request is signed for the address that it goes to.
//
// A membership can also be shown to a discovery provider inside a trust domain (P-2): aud is then "provider:<origin>", and nonce the thumbprint of the key that
// signs the requests to it, which is another one for each projection and each search. One attestation is used up by each.
//
// # What it proves, and what it does not
//
//   - The issuer said that the holder of cnf has the property, and the holder of cnf is in this session, at this end of it. Not who the holder is, and not that it is
//     the Principal.
//   - It cannot be shown in another session, under another session key or to another peer: the key binding names them ([CodeBinding]).
//   - Two sessions of one holder share no byte of their attestations but the issuer's key, the property and the week, as long as each attestation is used once. A holder asks
//     for a batch ([EncodeRequest]) and gets one for each of its keys ([Batch]).
//
// The issuer knows which keys it signed for whom. If a counterparty gives it what it was shown, the issuer can tell whose it is, and which sessions of one
// holder belong together; it learns nothing of a session by itself, because nobody asks it anything. There is no revocation: what was issued holds until its
// week ends, so weeks are few.
//
// # What is read
//
// The form above, at most [MaxBytes] bytes. [Read] looks at an attestation without a key, [Verify] checks everything. The first failure is the answer, in the
// order: form, key, signature, time, key binding.
package attestation
