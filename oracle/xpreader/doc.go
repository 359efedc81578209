// Package xpreader judges the vectors of tampered X-Protocols documents with a reader of its own: reader.mjs, written in JavaScript from the text of the
// protocol and of the package comment of business, with Node's crypto for Ed25519 and SHA-256 and no other code. Two implementations that agree on every
// finding read the protocol the same way.
package xpreader
