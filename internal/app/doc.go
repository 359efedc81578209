// Package app holds the registry's use cases: who may do what, the acts, the keys at rest, what is served, and the work in the background. The admin API and
// the command line call exactly this, and package bizhttp serves a [Registry] as its Source.
//
// # Acts
//
// An act is one method of [Registry] with a context, an [Actor] and input. It commits everything it does in one transaction, or nothing: the head of the
// publisher is taken first ([Writer.Advance]), so that acts on one publisher are one after the other; the actor's token is read again, so that a revocation
// that was committed first wins; rows change; the content's state is computed; one audit row with actor, time, target, old and new content hash and reason is
// written. An operation id that the caller gives makes an act repeatable: it is bound to actor, act and publisher, and a repeated one does nothing and says
// so. Secrets that are shown once (tokens, values of a domain proof, entries of registry keys) cannot be had by repeating. Every refusal is an [*Error];
// [Kind] maps to HTTP statuses and exit codes in one table.
//
// # Authority
//
// [Rules] is all of it: for each [Operation] when an operator may, and the scope an owner's token needs. An operator is staff of the registry, by token or as
// the owner of the machine on its command line ([Machine]); the latter may also publish, pause and prove for a publisher that has delegated this, which no
// token of an operator can. An owner's token belongs to one publisher and never touches another: the answer is unauthorized, whether that publisher exists or
// not. An operator verification is recorded by one operator and confirmed by a second. Tokens under one name, and tokens that lead back to one token, are
// one operator: only the machine's command line makes a second one. Whoever owns the machine can speak under any name; the trail names each. The withdrawal
// of a publisher is asked for by its owner, which pauses it, and completed by an operator; an operator who was not asked gives a reason.
//
// A token is sayso-operator- or sayso-owner- and 32 random bytes in base64url. The store keeps its SHA-256 and an id t- with 16 hex digits, which lists and
// the audit trail show. Revoking a token revokes those made with it. Tokens that an operator's token made for publishers stay, because they are the
// businesses' own; they name it as their parent, and after a theft each is looked at and revoked.
//
// # Content
//
// A publisher's generation begins at 1 and grows by one in each commit whose content_hash is another one. Leaves of records are stored; a commit hashes only
// what it changes, and folds. An import reads its bundle outside of the transaction into a temporary file without a name, compares leaves inside it and
// writes only rows that differ. It is refused as a whole when a row has an error; with SkipInvalid the other rows are committed and the publisher's evidence
// counts as incomplete until the next complete replace. A file that may not have been read to its end is refused in any case.
//
// # Live readings
//
// A publisher's schema declares streams; [Registry.PushReadings] keeps the latest reading of each stream, record and location. It takes the head without
// adding to it ([Writer.Hold]): documents are not made of readings, so nothing gets a new generation and no replica reloads, yet the audit rows of all acts
// stay in the order of commits. Each reading is judged alone by what stands in the transaction; a batch keeps the good ones and names the others. One that was
// observed at the instant of the standing one, or before, is refused, and so is one more than a minute ahead of the clock. Readings go in the commit that
// removes their record, location or stream, or changes the stream's subject, scope, kind or unit: a value is never shown under another meaning.
//
// # Keys at rest
//
//	DATA/root.pub.json                        public root, one JWK: what readers pin
//	DATA/root.key                             private root under its own passphrase; to be taken off the machine
//	DATA/keys/                                0700, as are the folders in it; files 0600
//	DATA/keys/seal.age | seal.key             the sealing identity, under the passphrase or plain
//	DATA/keys/proof.key                       32 bytes, from which tokens of domain proofs are derived
//	DATA/keys/registry/registry-HASH.key      registry keys
//	DATA/keys/publishers/SLUG/SLUG-HASH.key
//
// Every .key file but seal.key and root.key is an age file for the sealing identity; private keys are JWKs. The eight digits begin the SHA-256 of the public
// half in base64url. A key file is written before the row that names it: what a crash leaves is a file without a row, which is harmless. Another [Keyring] can
// take the place of the folder, and another business.Signer that of a file.
//
// The root signs entries offline ([SignRegistryKey], [SignRegistryRevocation]); the registry verifies them against the pin before it installs or lists them.
// A new registry key attests the keys of all publishers anew, one commit each; what a crash leaves undone is done when the registry runs again.
//
// Key sets and revocation lists keep what they ever held. A token of an owner adds at most 10 keys a day, and no entry to a list that is half as long as
// readers take; an operator is not limited.
//
// # What is served
//
// One immutable state behind an atomic pointer. A poll reads the heads every 250 ms and loads what changed; a commit made here is in it before the act
// returns, and what it concerns is withheld when it cannot be read back. When the heads could not be read for 10 s nothing is served: unavailable, never
// unknown and never old without bound. Renderers get business.Publication, which has no field for accounts, reasons, operators and tokens.
//
// Signed documents are kept per state and handed out for at most 300 s; a new one is made from 240 s on by one caller while the others get the old one.
// A manifest also ends when the proof it states does. Past the registry key's not_after, or without its private half, manifests are unsigned with the reason
// registry_key_unavailable (XP-MANIFEST-008) and lists are withheld (XP-INTEGRITY-011). A key set is served whole or not at all (XP-DISCOVERY-004).
//
// # Answers
//
// [Registry.Ask] answers a tool call from a compiled snapshot of the publisher's content (package answer), which stands beside what is served and is shared by
// all revisions of one content. It is compiled at the first question, once for all who wait, from publication and records of one reading of the store; when
// that is newer than what is served, the newer is served first. From then on new content is compiled before it is served, for at most 2 s, so that a question
// waits for nothing, sees one generation, and a pause never waits for a lexicon. Rows that cannot be compiled are unavailable and looked at again after 5 s;
// the acts refuse what would lead there. A question whose snapshot is compiled takes no lock and reads nothing, but for the readings of live handlers, which
// are read at the call: a reading counts in every process as soon as it is durable.
//
// All compiled snapshots together take at most Options.Answers bytes, 512 MiB when it is 0; the one that was not asked for the longest time leaves, and comes
// back when it is asked. Measured: 1 to 2 KB of a record in one language and up to twice that in four, and its text; 0.2 MB for a publisher of 100 records,
// 19 MB for one of 10,000. So 1,000 publishers of 100 records stay within 0.3 GB.
//
// An answer is signed by the newest key of the publisher that is neither retired nor revoked, and only while the key set that names it is served; else there is
// none. [Registry.Coverage] asks the same engine questions of a draft, unsigned, and lists what nothing covers.
//
// # Domain proofs
//
// [Registry.StartProof] makes a nonce and shows the value derived from it; [Registry.CheckProof] looks for it. After five failed checks of one publisher and
// host within an hour no more are made, whatever the method or attempt and however a check ends; a publisher starts at most 100 proofs a day. The schedule
// of package proof decides about the rest: looked at again at half-life, then daily; three days of counted failures are the lapse. A check looks outside of
// the transaction and is committed only when the attempt is still the one it saw. The first proof of a host lets it route to the publisher. Two publishers
// that prove one host are both proven, and the registry's audit trail says host_conflict.
package app
