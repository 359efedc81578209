CREATE TABLE gidp_interests (
	id         TEXT    NOT NULL PRIMARY KEY,
	lineage    TEXT    NOT NULL,
	version    INTEGER NOT NULL CHECK (version >= 1),
	principal  TEXT    NOT NULL,
	profile    TEXT    NOT NULL,
	state      TEXT    NOT NULL,
	changed_at INTEGER,
	body       BLOB    NOT NULL
) STRICT;

CREATE TABLE gidp_projections (
	ref        TEXT NOT NULL PRIMARY KEY,
	interest   TEXT NOT NULL,
	state      TEXT NOT NULL,
	expires_at INTEGER,
	forget_at  INTEGER,
	body       BLOB NOT NULL
) STRICT;

CREATE INDEX gidp_projections_by_interest ON gidp_projections (interest, ref);
CREATE INDEX gidp_projections_by_forget_at ON gidp_projections (forget_at, ref) WHERE forget_at IS NOT NULL;

CREATE TABLE gidp_sessions (
	id        TEXT    NOT NULL PRIMARY KEY,
	initiator INTEGER NOT NULL,
	interest  TEXT    NOT NULL,
	ref       TEXT    NOT NULL,
	peer      TEXT    NOT NULL,
	peer_key  BLOB,
	phase     TEXT    NOT NULL,
	closed    INTEGER NOT NULL,
	version   INTEGER NOT NULL CHECK (version >= 1),
	opened_at INTEGER,
	ends_at   INTEGER,
	forget_at INTEGER,
	body      BLOB    NOT NULL
) STRICT;

-- What is open is found without a look at what is closed, and a step of an open session changes none of these.
CREATE INDEX gidp_sessions_by_interest ON gidp_sessions (interest, id);
CREATE INDEX gidp_sessions_by_peer ON gidp_sessions (peer) WHERE peer <> '';
CREATE INDEX gidp_sessions_open ON gidp_sessions (id) WHERE NOT closed;
CREATE INDEX gidp_sessions_open_by_interest ON gidp_sessions (interest, id) WHERE NOT closed;
CREATE INDEX gidp_sessions_open_by_ref ON gidp_sessions (ref) WHERE NOT closed AND NOT initiator;
CREATE INDEX gidp_sessions_open_by_peer ON gidp_sessions (peer) WHERE NOT closed AND NOT initiator;
CREATE INDEX gidp_sessions_by_forget_at ON gidp_sessions (forget_at, id) WHERE closed;

CREATE TABLE gidp_received (
	session TEXT    NOT NULL,
	key     TEXT    NOT NULL,
	sum     BLOB    NOT NULL CHECK (length(sum) = 32),
	until   INTEGER NOT NULL,
	PRIMARY KEY (session, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX gidp_received_by_until ON gidp_received (until, session, key);

CREATE TABLE gidp_sent (
	session      TEXT    NOT NULL,
	number       INTEGER NOT NULL CHECK (number >= 1),
	at           INTEGER,
	acknowledged INTEGER NOT NULL,
	body         BLOB    NOT NULL,
	PRIMARY KEY (session, number)
) STRICT;

CREATE TABLE gidp_explorations (
	id        TEXT NOT NULL PRIMARY KEY,
	interest  TEXT NOT NULL,
	state     TEXT NOT NULL,
	at        INTEGER,
	forget_at INTEGER,
	body      BLOB NOT NULL
) STRICT;

CREATE INDEX gidp_explorations_by_interest ON gidp_explorations (interest, at, id);
CREATE INDEX gidp_explorations_by_forget_at ON gidp_explorations (forget_at, id) WHERE forget_at IS NOT NULL;

CREATE TABLE gidp_coalitions (
	id        TEXT NOT NULL PRIMARY KEY,
	interest  TEXT NOT NULL,
	at        INTEGER,
	forget_at INTEGER,
	body      BLOB NOT NULL
) STRICT;

CREATE INDEX gidp_coalitions_by_interest ON gidp_coalitions (interest, at, id);
CREATE INDEX gidp_coalitions_by_forget_at ON gidp_coalitions (forget_at, id) WHERE forget_at IS NOT NULL;

CREATE TABLE gidp_ledger (
	lineage  TEXT NOT NULL,
	quantity TEXT NOT NULL,
	body     BLOB NOT NULL,
	PRIMARY KEY (lineage, quantity)
) STRICT;

CREATE TABLE gidp_mark (
	id   INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
	mark INTEGER NOT NULL
) STRICT;

CREATE TABLE gidp_entries (
	id         TEXT NOT NULL PRIMARY KEY,
	interest   TEXT NOT NULL,
	session    TEXT NOT NULL,
	state      TEXT NOT NULL,
	at         INTEGER,
	deadline   INTEGER,
	decided_at INTEGER,
	body       BLOB NOT NULL
) STRICT;

CREATE INDEX gidp_entries_by_session ON gidp_entries (session, id);
CREATE INDEX gidp_entries_waiting ON gidp_entries (id) WHERE state = 'waiting';
CREATE INDEX gidp_entries_by_decided_at ON gidp_entries (decided_at, id) WHERE state <> 'waiting';

CREATE TABLE gidp_trails (
	lineage  TEXT    NOT NULL PRIMARY KEY,
	sequence INTEGER NOT NULL,
	hash     BLOB    NOT NULL CHECK (length(hash) = 32)
) STRICT, WITHOUT ROWID;

CREATE TABLE gidp_audit (
	lineage  TEXT    NOT NULL,
	sequence INTEGER NOT NULL CHECK (sequence >= 1),
	at       INTEGER,
	kind     TEXT    NOT NULL,
	body     BLOB    NOT NULL,
	hash     BLOB    NOT NULL CHECK (length(hash) = 32),
	PRIMARY KEY (lineage, sequence)
) STRICT;

CREATE TABLE gidp_work (
	kind    TEXT    NOT NULL,
	id      TEXT    NOT NULL,
	due     INTEGER NOT NULL,
	free_at INTEGER NOT NULL,
	PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX gidp_work_by_free_at ON gidp_work (free_at, kind, id);

CREATE TABLE gidp_feed (
	id       INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
	position INTEGER NOT NULL,
	secret   BLOB CHECK (length(secret) = 32)
) STRICT;

INSERT INTO gidp_feed (id, position) VALUES (1, 0);

CREATE TABLE gidp_published (
	ref        BLOB    NOT NULL PRIMARY KEY CHECK (length(ref) = 16),
	owner      BLOB    NOT NULL CHECK (length(owner) = 32),
	revision   INTEGER NOT NULL CHECK (revision >= 1),
	withdrawn  INTEGER NOT NULL,
	expires_at INTEGER NOT NULL,
	endpoint   TEXT,
	labels     BLOB,
	position   INTEGER NOT NULL
) STRICT;

CREATE INDEX gidp_published_by_position ON gidp_published (position);
CREATE INDEX gidp_published_by_owner ON gidp_published (owner, position);
CREATE UNIQUE INDEX gidp_published_live_owner ON gidp_published (owner) WHERE NOT withdrawn;
CREATE UNIQUE INDEX gidp_published_live_endpoint ON gidp_published (endpoint) WHERE NOT withdrawn;
CREATE INDEX gidp_published_by_expires_at ON gidp_published (expires_at, ref);

CREATE TABLE gidp_reports (
	ref      BLOB NOT NULL,
	reporter BLOB NOT NULL,
	owner    BLOB NOT NULL,
	reason   TEXT NOT NULL,
	at       INTEGER,
	PRIMARY KEY (ref, reporter)
) STRICT, WITHOUT ROWID;

CREATE INDEX gidp_reports_by_at ON gidp_reports (at);

CREATE TABLE gidp_bans (
	key     BLOB    NOT NULL,
	network TEXT    NOT NULL,
	until   INTEGER NOT NULL,
	reason  TEXT    NOT NULL,
	at      INTEGER NOT NULL,
	PRIMARY KEY (network, key)
) STRICT, WITHOUT ROWID;
