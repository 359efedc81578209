// Package keyfile reads and writes files that hold a private key.
//
// A key that somebody else may have read or put in place is worth nothing, so a file is used only when all of this holds, and there is no switch that
// turns a check off:
//
//   - it is a regular file, not a symbolic link, of at most 64 KiB
//   - it belongs to the user who runs the program, and nobody else may read, write or execute it (mode 0600 or 0400)
//   - its folder is not writable by everybody, and no folder above it is, unless that one has the sticky bit (as /tmp has)
//
// The content is a private JWK, plain or sealed with a passphrase as an age file (package jwk); the pair must fit together and the public half must be an
// acceptable key. Errors are one sentence and name the command that repairs what can be repaired.
//
// A new file appears whole or not at all, with mode 0600, and never replaces an existing one.
package keyfile
