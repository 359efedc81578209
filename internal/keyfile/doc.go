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
//
// # A folder of many keys
//
// A program with many keys seals them to one identity (jwk.Identity), so that one passphrase opens all. The identity lies in the folder as seal.age, an age
// file under the passphrase, or as seal.key, plain, when there is no passphrase; a folder that holds both is refused, because nobody could say which of them
// is the one that counts. Folders of keys are private ([Folder]): mode 0700, of the user who runs the program, and not a symbolic link.
package keyfile
