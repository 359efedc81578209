CREATE TABLE heads (
	slug     TEXT    NOT NULL PRIMARY KEY,
	revision INTEGER NOT NULL CHECK (revision >= 0)
) STRICT, WITHOUT ROWID;

INSERT INTO heads (slug, revision) VALUES ('', 0);

CREATE TABLE operations (
	id  TEXT    NOT NULL PRIMARY KEY,
	at  INTEGER NOT NULL,
	own INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE publishers (
	slug          TEXT    NOT NULL PRIMARY KEY REFERENCES heads (slug),
	created_at    INTEGER,
	region        TEXT    NOT NULL,
	lifecycle     TEXT    NOT NULL,
	suspended     INTEGER NOT NULL,
	reason        TEXT    NOT NULL,
	profile       BLOB,
	schema        BLOB,
	calendar      BLOB,
	account       BLOB,
	delegated     INTEGER NOT NULL,
	incomplete    INTEGER NOT NULL,
	quota_records INTEGER NOT NULL,
	quota_tokens  INTEGER NOT NULL,
	generation    INTEGER NOT NULL CHECK (generation >= 0),
	content_hash  TEXT    NOT NULL,
	changed_at    INTEGER,
	data_updated  INTEGER
) STRICT;

CREATE TABLE records (
	publisher  TEXT NOT NULL REFERENCES publishers (slug),
	type       TEXT NOT NULL,
	id         TEXT NOT NULL,
	leaf       BLOB NOT NULL CHECK (length(leaf) = 32),
	updated_at INTEGER,
	body       BLOB NOT NULL,
	PRIMARY KEY (publisher, type, id)
) STRICT;

CREATE TABLE publisher_keys (
	publisher  TEXT NOT NULL REFERENCES publishers (slug),
	kid        TEXT NOT NULL,
	entry      BLOB NOT NULL,
	created_at INTEGER,
	retired_at INTEGER,
	revoked_at INTEGER,
	PRIMARY KEY (publisher, kid)
) STRICT;

CREATE TABLE registry_keys (
	kid          TEXT NOT NULL PRIMARY KEY,
	entry        BLOB NOT NULL,
	installed_at INTEGER,
	revoked_at   INTEGER
) STRICT;

CREATE TABLE revocations (
	publisher TEXT    NOT NULL REFERENCES heads (slug),
	position  INTEGER NOT NULL CHECK (position >= 1),
	entry     BLOB    NOT NULL,
	PRIMARY KEY (publisher, position)
) STRICT;

CREATE TABLE proofs (
	id           TEXT    NOT NULL PRIMARY KEY,
	publisher    TEXT    NOT NULL REFERENCES publishers (slug),
	host         TEXT    NOT NULL,
	method       TEXT    NOT NULL,
	nonce        BLOB    NOT NULL CHECK (length(nonce) = 16),
	created_at   INTEGER,
	expires_at   INTEGER,
	state        TEXT    NOT NULL,
	verified_at  INTEGER,
	valid_until  INTEGER,
	next_check   INTEGER,
	failed_days  INTEGER NOT NULL,
	last_failure INTEGER,
	evidence     BLOB
) STRICT;

CREATE INDEX proofs_by_publisher ON proofs (publisher);
CREATE INDEX proofs_by_host ON proofs (host);
CREATE INDEX proofs_by_next_check ON proofs (next_check, id);

CREATE TABLE verifications (
	publisher    TEXT NOT NULL REFERENCES publishers (slug),
	decision     TEXT NOT NULL,
	recorded_by  TEXT NOT NULL,
	recorded_at  INTEGER,
	confirmed_by TEXT NOT NULL,
	confirmed_at INTEGER,
	withdrawn_at INTEGER,
	PRIMARY KEY (publisher, decision)
) STRICT;

CREATE TABLE hosts (
	host      TEXT NOT NULL PRIMARY KEY,
	publisher TEXT NOT NULL REFERENCES publishers (slug)
) STRICT, WITHOUT ROWID;

CREATE INDEX hosts_by_publisher ON hosts (publisher);

CREATE TABLE tokens (
	hash       BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
	id         TEXT NOT NULL,
	publisher  TEXT NOT NULL REFERENCES heads (slug),
	name       TEXT NOT NULL,
	scopes     BLOB NOT NULL,
	parent     TEXT NOT NULL,
	created_at INTEGER,
	revoked_at INTEGER
) STRICT;

CREATE INDEX tokens_by_publisher ON tokens (publisher);

CREATE TABLE audit (
	sequence  INTEGER NOT NULL PRIMARY KEY,
	at        INTEGER,
	actor     TEXT NOT NULL,
	action    TEXT NOT NULL,
	publisher TEXT NOT NULL,
	target    TEXT NOT NULL,
	old_hash  TEXT NOT NULL,
	new_hash  TEXT NOT NULL,
	reason    TEXT NOT NULL
) STRICT;

CREATE INDEX audit_by_publisher ON audit (publisher, sequence);
