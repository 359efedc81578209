// Package vault keeps what a Principal said to its own agent: the keys of one data folder, what is sealed with them, and interests with their private values
// behind methods.
//
// # Keys
//
// DATA/keys is a folder of package keyfile: one identity, sealed with a passphrase or plain. DATA/keys/gidp/data.key is a secret of 32 bytes sealed to that
// identity. Two keys are derived from it with HKDF-SHA-256 (RFC 5869): one seals, one authenticates and derives. The secret never leaves this package.
//
// # The mark
//
// DATA/keys/gidp/mark-N says that a database of this folder has had the mark N: a number that grows with it, so that an older copy of the database is found out
// ([Vault.Mark], [Vault.RaiseMark]). The number is in the name, and a higher one is made before lower ones are removed: whatever several processes do at once, and
// wherever one of them ends, the highest that was made is there. What a file holds does not matter.
//
// # Attestations and trust
//
// DATA/keys/gidp/trust holds one sealed file for each issuer that is believed about a property, and for each provider inside a trust domain, DATA/keys/gidp/credentials one for each attestation
// that was not shown. Their names are keyed hashes and the day on which an attestation ends. Taking one puts a file of its mark in place first, which only one process can, so that none is shown twice
// ([Vault.TakeCredential]). Keys of holders follow from the secret of the folder.
//
// # What is sealed
//
// A sealed text is one version byte (1), 24 random bytes of nonce, and the ciphertext of XAES-256-GCM (C2SP), which is AES-256-GCM under a key that the first
// half of the nonce selects, so that random nonces do not collide however many texts are sealed. The place it is kept at, for example interest/ID, is the
// associated data: a text that was moved to another place, or that another folder sealed, does not open.
//
// # Interests
//
// A [Holding] is one version of a Standing Interest together with its profile. It prints as "[interest ID]" whatever the verb is. What a session may know
// leaves it as a gidp.View; a value leaves it by [Holding.Value] alone, for an attribute that the session has decided to release. [Holding.Document] is for
// the Principal's own eyes.
//
// The document that is sealed is JSON with the members of an interest file; a class is written as gidp.ParseClass reads it, an instant as RFC 3339. It is
// read strictly: a member that this version does not know is refused, so that an older program does not drop a rule that a newer one wrote.
package vault
