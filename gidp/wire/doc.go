// Package wire holds the twelve objects that GIDP 0.1 transmits, and the strict codec that reads and writes them (§14, §11, §26).
//
// # Reading
//
// [Decode] takes one JSON object of at most [MaxBytes] bytes under the strict profile of package jcs, and refuses it as a whole for any of these: a member it
// does not know, at any level but inside trust_context; a missing required member; a null where the protocol has no absent value; a wrong JSON type; a value
// outside a closed vocabulary; an identifier, text or list beyond its bound; a time without an offset; a claim without a value. What is refused has no effect:
// nothing is repaired and nothing is guessed. An expired object is read; whether it still counts is the session's to say.
//
// # Writing
//
// [Encode] holds an object to the same rules and writes it canonically (RFC 8785), so that one object is always the same bytes. Required members are written
// even when they are empty, optional ones are left out when they are, and null is never written. Times are UTC in whole seconds.
//
// One description of each object serves reading, writing and the published JSON Schema ([Schema]), so the three cannot drift apart.
package wire
