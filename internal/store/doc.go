// Package store is what the databases of the registry and of GIDP have in common: the format, the statements, migrations and retries. Packages sqlite and
// postgres open a database and run its transactions; storetest is the contract that both pass.
//
// # Engines
//
// One registry, the agents of one data folder and one discovery provider live in one database, either an SQLite file or a PostgreSQL database (or schema) of
// its own; what none of them uses stays empty. Tables and columns are the same; types differ as this list says:
//
//	meaning    SQLite (STRICT)   PostgreSQL
//	text       TEXT (BINARY)     TEXT COLLATE "C"
//	number     INTEGER           BIGINT
//	flag       INTEGER 0 or 1    BOOLEAN
//	time       INTEGER           BIGINT
//	bytes      BLOB              BYTEA
//
// Texts are ordered by their bytes, which for UTF-8 is the order of code points. A text never holds U+0000 and is always UTF-8: PostgreSQL refuses anything
// else, so both stores refuse it on writing with the same error, and on reading nothing of that name is there. Texts of a key have 1 to 255 bytes,
// a record's id 1 to 1024. A time is the microseconds since 1970-01-01T00:00:00Z; finer parts are cut off, and NULL is "never" (Go's zero time), which comes
// first in every order. Documents are bytes of JSON, NULL where there is none. A revision or generation is below 2^63.
//
// # Tables
//
//	heads(slug, revision)
//	    One row for each publisher, and one with slug '' for the registry itself, which is there from the start. revision counts the
//	    acts on it from 0. Every act adds one inside its own transaction, so numbers have no gap and are in the order of commits, and
//	    two acts on one publisher are one after the other. Replicas poll this table.
//
//	operations(id, at, own)
//	    Acts that were committed, by the identity that the caller gave them. An act whose id is here is not run again. own marks ids
//	    that the store drew itself; they only matter while their transaction is under way and are forgotten after an hour.
//
//	publishers(slug, created_at, region, lifecycle, suspended, reason, profile, schema, calendar, account, delegated, incomplete,
//	           quota_records, quota_tokens, generation, content_hash, changed_at, data_updated)
//	    slug is never used twice, so no row is ever deleted. lifecycle is draft, published, paused or withdrawn; suspended is a flag
//	    beside it. profile, schema, calendar and account are JSON objects. A quota of 0 stands for the default. generation counts
//	    changes of published content and is never ahead of revision; content_hash, changed_at belong to it. data_updated is the newest
//	    updated_at of the publisher's records.
//
//	records(publisher, type, id, leaf, updated_at, body)
//	    One published record: its JSON object without url and publisher, and the 32 bytes of its leaf hash. Ordered by (type, id).
//
//	publisher_keys(publisher, kid, entry, created_at, retired_at, revoked_at)
//	registry_keys(kid, entry, installed_at, revoked_at)
//	    Public keys; entry is the JSON object that is published for them, whose kid is the column's. Private keys are in no table.
//
//	revocations(publisher, position, entry)
//	    Both kinds of list, the registry's under ''. position counts from 1 without a gap, in the order of commits; rows are never
//	    changed or deleted.
//
//	proofs(id, publisher, host, method, nonce, created_at, expires_at, state, verified_at, valid_until, next_check, failed_days,
//	       last_failure, evidence)
//	    Attempts to prove a host. nonce has 16 bytes, evidence is JSON, state is pending, proven, lapsed or replaced.
//
//	verifications(publisher, decision, recorded_by, recorded_at, confirmed_by, confirmed_at, withdrawn_at)
//	    Verifications by operators, named by the id of the decision.
//
//	hosts(host, publisher)
//	    Where requests for a host go. A host belongs to one publisher at a time.
//
//	tokens(hash, id, publisher, name, scopes, parent, created_at, revoked_at)
//	    Bearer tokens by the SHA-256 of the token; publisher '' is an operator's. scopes is a JSON array of strings.
//
//	audit(sequence, at, actor, action, publisher, target, old_hash, new_hash, reason)
//	    One row for each act; publisher '' is the registry. Rows are never changed or deleted. sequence rises within a publisher in the
//	    order of commits. Over all publishers it does so in SQLite; in PostgreSQL, where it is drawn from audit_sequence, it has gaps,
//	    and of two acts that overlap the one with the lower number may become visible later. Who must not miss a row of any
//	    publisher follows the heads and reads each publisher's trail.
//
//	readings(publisher, stream, type, id, location, value, observed_at, received_at)
//	    The latest live reading of each stream, subject and location.
//
//	schema_migrations(number, name, sum, at)
//	    Steps of the schema that were taken, from 1 without a gap, with the SHA-256 of their file. In PostgreSQL row 0 is there to be
//	    locked while a step is taken.
//
// Every publisher column but audit's refers to publishers, those that may be empty refer to heads; every publisher has a head and every head but the registry's has a
// publisher. A write that refers to nothing fails with app.ErrNotFound and takes its transaction with it.
//
// # Tables of GIDP
//
// An agent (durable.Store) and a discovery provider (providerhttp.Rows) keep their rows in the same database, in tables of their own. A body was sealed by the
// agent's vault before it comes here. Keys have 1 to 255 bytes, a quantity 1 to 1024, an endpoint 1 to 2048, a body 1 to 4 MiB.
//
//	gidp_interests(id, lineage, version, principal, profile, state, changed_at, body)
//	gidp_projections(ref, interest, state, expires_at, forget_at, body)
//	gidp_explorations(id, interest, state, at, forget_at, body)
//	gidp_coalitions(id, interest, at, forget_at, body)
//	gidp_ledger(lineage, quantity, body)
//	    One row each; what is put replaces what is there. Of an interest only state, changed_at and body change; it is never deleted. A row
//	    of the ledger is deleted where it is written under another key, the others after their forget_at. quantity is a digest under a key of the agent's vault.
//
//	gidp_mark(id, mark)
//	    One row, which is only ever raised: how far the ledger has come. A database with a lower one than its data folder has seen was put back.
//
//	gidp_sessions(id, initiator, interest, ref, peer, peer_key, phase, closed, version, opened_at, ends_at, forget_at, body)
//	    version is 1 when a session is added and grows with each write. Indices of what is open hold no closed session, and a step of an open one touches none.
//
//	gidp_parts(session, part, body)
//	    What of a session is not in its row, so that a step does not write what it leaves as it is. Deleted with the session.
//
//	gidp_received(session, key, sum)
//	    Keys of deduplication and digests of what came, both under a key of the agent's vault. Deleted with the session.
//
//	gidp_sent(session, number, at, acknowledged, body)
//	    number counts from 1 without a gap.
//
//	gidp_entries(id, interest, session, state, at, deadline, decided_at, body)
//	    The inbox. An entry waits until it is decided once. It is deleted with its session; one without, when its decision is old.
//
//	gidp_audit(lineage, sequence, at, kind, body, hash)
//	gidp_trails(lineage, sequence, hash)
//	    sequence counts from 1 without a gap; gidp_trails has the number and the hash of the last entry. Rows of gidp_audit are never changed or deleted.
//
//	gidp_work(kind, id, due, free_at)
//	    What is to be done and when. free_at is due, or the end of the claim of whoever took it.
//
//	gidp_published(ref, owner, revision, withdrawn, expires_at, endpoint, labels, position)
//	gidp_feed(id, position, secret)
//	    Projections of a provider, and one row with the position of the last change and the secret of all replicas. A change takes the next position inside its
//	    own transaction, so positions have no gap and are in the order of commits; a row moves to the end with each change. labels is a JSON object. endpoint
//	    and labels of a withdrawn row are NULL; it stays until expires_at. Of those that are not withdrawn no two have one owner or one endpoint.
//
//	gidp_reports(ref, reporter, owner, reason, at)
//	gidp_bans(key, network, until, reason, at)
//	    key is 32 zero bytes for a network, network is '' for a key. A ban that was over when another one was written is deleted.
//
// Acts of GIDP are short. In SQLite those that wait for each other share a transaction and its wait for the disk, on a connection of their own; each is told
// of its own success, and one that fails takes nothing of the others with it. In PostgreSQL those of one process that meet at a session, a lineage or the feed
// are one after the other, as acts on a head are.
//
// # Transactions
//
// A reader sees one committed state for as long as its transaction lasts. Writers are serialisable: SQLite runs them one after the other, PostgreSQL at
// isolation SERIALIZABLE, where a loser begins again. After a statement that failed nothing of its transaction is committed, whatever the caller made of the
// error; app.ErrExists and app.ErrNotFound for a row that is not there are answers, not failures. Rows of a stream are read by pages: what the same
// transaction writes meanwhile is seen where it lies beyond the page being read. A Reader or Writer serves one goroutine. Do not open a transaction inside
// another one: it takes a second connection, and a pool of them can run dry.
//
// # Migrations
//
// Files NNNN_name.sql of each engine are taken in order, one transaction each. A database that has been through more steps than the program knows is
// refused with app.ErrNewerSchema before anything is changed; one whose steps have other sums is refused too. A released file is never changed.
//
// # Errors
//
// What a database cannot do comes out as *Failure: its text says what could not be done and why, without SQL, names of tables or addresses; its cause is
// what the engine said.
package store
