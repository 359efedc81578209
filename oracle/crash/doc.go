// Package crash kills a registry, or an agent of GIDP, while it writes, opens what is left, and judges it.
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
// Agents of GIDP die the same way, at a random moment or at one of six points: before and after the ledger is written, before and after the commit, before and after
// the first byte of an answer or the message to a peer. Initiators with signed messages ask a responder until it dies. What is left is held against them:
//
//   - whatever a peer was shown is there, byte for byte, and artifacts have no gap;
//   - what was acknowledged has one answer; all of it sent again, twice, changes nothing but for what had not been committed, which is done once;
//   - the ledger says exactly the bits that all answers of all sessions tell, never less than before and never more than the limit;
//   - decisions that wait can be made, once; those that were acknowledged are in the answers;
//   - the audit trail is whole, and every emission in it follows from its inputs.
//
// An initiator dies until its sessions have come to their hand-over: each counterparty has one session with the effects of one, and what was written to be sent stays as
// it was. Two agents on one database answer at once: their answers are those of one order, which is the trail's, and a session has one sequence at both.
//
//	go test ./crash                              200 rounds over SQLite, 40 over PostgreSQL; of agents 20, 8 and 20
//	SAYSO_CRASH_ROUNDS=5000 go test -timeout 2h ./crash
package crash
