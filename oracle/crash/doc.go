// Package crash kills a registry while it writes, opens what is left, and judges it.
//
// The child is a process with the store and the key folder of the real program. It imports, publishes, pauses, rotates keys and revokes, one act after the
// other, without a pause. Into a journal beside the data folder it writes what it begins and, synchronised to the disk, what was acknowledged. The parent
// kills it with SIGKILL at a random moment, opens the same data folder and compares it with a model that is built from the journal alone:
//
//   - every acknowledged act is there, at the revision that was acknowledged, and at most the one act under way beside them;
//   - records, profile, life cycle, keys and revocations are those of the acts in the audit trail: an import is there whole or not at all, a revoked key and
//     its successor came in one commit;
//   - generation and content hash follow from the stored records, computed anew from their bodies;
//   - every listed key is attested, and its private half can be opened;
//   - manifest and lists verify against the pin, and doctor finds no failure in the whole database;
//   - the act under way can be asked for again under its operation id: it is done once, and the registry says which of the two it was.
//
// SIGKILL leaves what the process handed to the kernel, so this says nothing about a power loss; that settings for it are in force is what the stores check
// when they open.
//
//	go test ./crash                              200 rounds over SQLite, 40 over PostgreSQL
//	SAYSO_CRASH_ROUNDS=5000 go test -timeout 2h ./crash
package crash
