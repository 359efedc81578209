// Package demo makes the sample publisher and walks a newcomer through it.
//
// # The sample publisher
//
// Prepare joins sample folders of figures into one publisher's folder whose publisher.url is the origin it is served at: namespaces and areas one after the
// other, topics as they are, confirmations with their dates, the changelog in order of days and linked anew. It then signs every value, as a publisher
// would. A folder that exists is kept as it is; only the origin is brought up to date, and the values are signed again when it changed, because the origin
// is part of every signature.
//
// # The key
//
// SigningKey keeps the signing key in a folder of mode 0700, sealed as an age file of mode 0600: with the user's passphrase, or, when there is none, with a
// random one in the file seal.key beside it. The latter keeps the key from being copied by accident and from nothing else.
//
// # The walk
//
// Walk runs every step against a running server over HTTP, and runs commands of the program itself; nothing is acted. A step shows the request, the telling
// part of the answer as it was received, and one sentence on why it matters. It has a problem when the answer is not what the sentence says.
package demo
