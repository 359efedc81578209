CREATE TABLE heads (
	slug     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
	revision BIGINT NOT NULL CHECK (revision >= 0)
);

INSERT INTO heads (slug, revision) VALUES ('', 0);

CREATE TABLE operations (
	id  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
	at  BIGINT NOT NULL,
	own BOOLEAN NOT NULL
);

CREATE TABLE publishers (
	slug          TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES heads (slug),
	created_at    BIGINT,
	region        TEXT COLLATE "C" NOT NULL,
	lifecycle     TEXT COLLATE "C" NOT NULL,
	suspended     BOOLEAN NOT NULL,
	reason        TEXT COLLATE "C" NOT NULL,
	profile       BYTEA,
	schema        BYTEA,
	calendar      BYTEA,
	account       BYTEA,
	delegated     BOOLEAN NOT NULL,
	incomplete    BOOLEAN NOT NULL,
	quota_records BIGINT NOT NULL,
	quota_tokens  BIGINT NOT NULL,
	generation    BIGINT NOT NULL CHECK (generation >= 0),
	content_hash  TEXT COLLATE "C" NOT NULL,
	changed_at    BIGINT,
	data_updated  BIGINT
);

CREATE TABLE records (
	publisher  TEXT COLLATE "C" NOT NULL REFERENCES publishers (slug),
	type       TEXT COLLATE "C" NOT NULL,
	id         TEXT COLLATE "C" NOT NULL,
	leaf       BYTEA NOT NULL CHECK (length(leaf) = 32),
	updated_at BIGINT,
	body       BYTEA NOT NULL,
	PRIMARY KEY (publisher, type, id)
);

CREATE TABLE publisher_keys (
	publisher  TEXT COLLATE "C" NOT NULL REFERENCES publishers (slug),
	kid        TEXT COLLATE "C" NOT NULL,
	entry      BYTEA NOT NULL,
	created_at BIGINT,
	retired_at BIGINT,
	revoked_at BIGINT,
	PRIMARY KEY (publisher, kid)
);

CREATE TABLE registry_keys (
	kid          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
	entry        BYTEA NOT NULL,
	installed_at BIGINT,
	revoked_at   BIGINT
);

CREATE TABLE revocations (
	publisher TEXT COLLATE "C" NOT NULL REFERENCES heads (slug),
	position  BIGINT NOT NULL CHECK (position >= 1),
	entry     BYTEA NOT NULL,
	PRIMARY KEY (publisher, position)
);

CREATE TABLE proofs (
	id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
	publisher    TEXT COLLATE "C" NOT NULL REFERENCES publishers (slug),
	host         TEXT COLLATE "C" NOT NULL,
	method       TEXT COLLATE "C" NOT NULL,
	nonce        BYTEA NOT NULL CHECK (length(nonce) = 16),
	created_at   BIGINT,
	expires_at   BIGINT,
	state        TEXT COLLATE "C" NOT NULL,
	verified_at  BIGINT,
	valid_until  BIGINT,
	next_check   BIGINT,
	failed_days  BIGINT NOT NULL,
	last_failure BIGINT,
	evidence     BYTEA
);

CREATE INDEX proofs_by_publisher ON proofs (publisher);
CREATE INDEX proofs_by_host ON proofs (host);
CREATE INDEX proofs_by_next_check ON proofs (next_check, id);

CREATE TABLE verifications (
	publisher    TEXT COLLATE "C" NOT NULL REFERENCES publishers (slug),
	decision     TEXT COLLATE "C" NOT NULL,
	recorded_by  TEXT COLLATE "C" NOT NULL,
	recorded_at  BIGINT,
	confirmed_by TEXT COLLATE "C" NOT NULL,
	confirmed_at BIGINT,
	withdrawn_at BIGINT,
	PRIMARY KEY (publisher, decision)
);

CREATE TABLE hosts (
	host      TEXT COLLATE "C" NOT NULL PRIMARY KEY,
	publisher TEXT COLLATE "C" NOT NULL REFERENCES publishers (slug)
);

CREATE INDEX hosts_by_publisher ON hosts (publisher);

CREATE TABLE tokens (
	hash       BYTEA NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
	id         TEXT COLLATE "C" NOT NULL,
	publisher  TEXT COLLATE "C" NOT NULL REFERENCES heads (slug),
	name       TEXT COLLATE "C" NOT NULL,
	scopes     BYTEA NOT NULL,
	parent     TEXT COLLATE "C" NOT NULL,
	created_at BIGINT,
	revoked_at BIGINT
);

CREATE INDEX tokens_by_publisher ON tokens (publisher);

CREATE TABLE audit (
	sequence  BIGINT NOT NULL PRIMARY KEY,
	at        BIGINT,
	actor     TEXT COLLATE "C" NOT NULL,
	action    TEXT COLLATE "C" NOT NULL,
	publisher TEXT COLLATE "C" NOT NULL,
	target    TEXT COLLATE "C" NOT NULL,
	old_hash  TEXT COLLATE "C" NOT NULL,
	new_hash  TEXT COLLATE "C" NOT NULL,
	reason    TEXT COLLATE "C" NOT NULL
);

CREATE INDEX audit_by_publisher ON audit (publisher, sequence);

-- Numbers rise, with gaps where a transaction was rolled back.
CREATE SEQUENCE audit_sequence;
