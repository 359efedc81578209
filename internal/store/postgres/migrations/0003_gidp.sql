CREATE TABLE gidp_interests (
	id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
	lineage    TEXT COLLATE "C" NOT NULL,
	version    BIGINT NOT NULL CHECK (version >= 1),
	principal  TEXT COLLATE "C" NOT NULL,
	profile    TEXT COLLATE "C" NOT NULL,
	state      TEXT COLLATE "C" NOT NULL,
	changed_at BIGINT,
	body       BYTEA NOT NULL
);

CREATE TABLE gidp_projections (
	ref        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
	interest   TEXT COLLATE "C" NOT NULL,
	state      TEXT COLLATE "C" NOT NULL,
	expires_at BIGINT,
	forget_at  BIGINT,
	body       BYTEA NOT NULL
);

CREATE INDEX gidp_projections_by_interest ON gidp_projections (interest, ref);
CREATE INDEX gidp_projections_by_forget_at ON gidp_projections (forget_at, ref) WHERE forget_at IS NOT NULL;

CREATE TABLE gidp_sessions (
	id        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
	initiator BOOLEAN NOT NULL,
	interest  TEXT COLLATE "C" NOT NULL,
	ref       TEXT COLLATE "C" NOT NULL,
	peer      TEXT COLLATE "C" NOT NULL,
	peer_key  BYTEA,
	phase     TEXT COLLATE "C" NOT NULL,
	closed    BOOLEAN NOT NULL,
	version   BIGINT NOT NULL CHECK (version >= 1),
	opened_at BIGINT,
	ends_at   BIGINT,
	forget_at BIGINT,
	body      BYTEA NOT NULL
);

-- What is open is found without a look at what is closed, and a step of an open session changes none of these.
CREATE INDEX gidp_sessions_by_interest ON gidp_sessions (interest, id);
CREATE INDEX gidp_sessions_by_peer ON gidp_sessions (peer) WHERE peer <> '';
CREATE INDEX gidp_sessions_open ON gidp_sessions (id) WHERE NOT closed;
CREATE INDEX gidp_sessions_open_by_interest ON gidp_sessions (interest, id) WHERE NOT closed;
CREATE INDEX gidp_sessions_open_by_ref ON gidp_sessions (ref) WHERE NOT closed AND NOT initiator;
CREATE INDEX gidp_sessions_open_by_peer ON gidp_sessions (peer) WHERE NOT closed AND NOT initiator;
CREATE INDEX gidp_sessions_by_forget_at ON gidp_sessions (forget_at, id) WHERE closed;

CREATE TABLE gidp_received (
	session TEXT COLLATE "C" NOT NULL,
	key     TEXT COLLATE "C" NOT NULL,
	sum     BYTEA NOT NULL CHECK (length(sum) = 32),
	until   BIGINT NOT NULL,
	PRIMARY KEY (session, key)
);

CREATE INDEX gidp_received_by_until ON gidp_received (until, session, key);

CREATE TABLE gidp_sent (
	session      TEXT COLLATE "C" NOT NULL,
	number       BIGINT NOT NULL CHECK (number >= 1),
	at           BIGINT,
	acknowledged BOOLEAN NOT NULL,
	body         BYTEA NOT NULL,
	PRIMARY KEY (session, number)
);

CREATE TABLE gidp_explorations (
	id        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
	interest  TEXT COLLATE "C" NOT NULL,
	state     TEXT COLLATE "C" NOT NULL,
	at        BIGINT,
	forget_at BIGINT,
	body      BYTEA NOT NULL
);

CREATE INDEX gidp_explorations_by_interest ON gidp_explorations (interest, at, id);
CREATE INDEX gidp_explorations_by_forget_at ON gidp_explorations (forget_at, id) WHERE forget_at IS NOT NULL;

CREATE TABLE gidp_coalitions (
	id        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
	interest  TEXT COLLATE "C" NOT NULL,
	at        BIGINT,
	forget_at BIGINT,
	body      BYTEA NOT NULL
);

CREATE INDEX gidp_coalitions_by_interest ON gidp_coalitions (interest, at, id);
CREATE INDEX gidp_coalitions_by_forget_at ON gidp_coalitions (forget_at, id) WHERE forget_at IS NOT NULL;

CREATE TABLE gidp_ledger (
	lineage  TEXT COLLATE "C" NOT NULL,
	quantity TEXT COLLATE "C" NOT NULL,
	body     BYTEA NOT NULL,
	PRIMARY KEY (lineage, quantity)
);

CREATE TABLE gidp_mark (
	id   BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
	mark BIGINT NOT NULL
);

CREATE TABLE gidp_entries (
	id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
	interest   TEXT COLLATE "C" NOT NULL,
	session    TEXT COLLATE "C" NOT NULL,
	state      TEXT COLLATE "C" NOT NULL,
	at         BIGINT,
	deadline   BIGINT,
	decided_at BIGINT,
	body       BYTEA NOT NULL
);

CREATE INDEX gidp_entries_by_session ON gidp_entries (session, id);
CREATE INDEX gidp_entries_waiting ON gidp_entries (id) WHERE state = 'waiting';
CREATE INDEX gidp_entries_by_decided_at ON gidp_entries (decided_at, id) WHERE state <> 'waiting';

CREATE TABLE gidp_trails (
	lineage  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
	sequence BIGINT NOT NULL,
	hash     BYTEA NOT NULL CHECK (length(hash) = 32)
);

CREATE TABLE gidp_audit (
	lineage  TEXT COLLATE "C" NOT NULL,
	sequence BIGINT NOT NULL CHECK (sequence >= 1),
	at       BIGINT,
	kind     TEXT COLLATE "C" NOT NULL,
	body     BYTEA NOT NULL,
	hash     BYTEA NOT NULL CHECK (length(hash) = 32),
	PRIMARY KEY (lineage, sequence)
);

CREATE TABLE gidp_work (
	kind    TEXT COLLATE "C" NOT NULL,
	id      TEXT COLLATE "C" NOT NULL,
	due     BIGINT NOT NULL,
	free_at BIGINT NOT NULL,
	PRIMARY KEY (kind, id)
);

CREATE INDEX gidp_work_by_free_at ON gidp_work (free_at, kind, id);

CREATE TABLE gidp_feed (
	id       BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
	position BIGINT NOT NULL,
	secret   BYTEA CHECK (length(secret) = 32)
);

INSERT INTO gidp_feed (id, position) VALUES (1, 0);

CREATE TABLE gidp_published (
	ref        BYTEA NOT NULL PRIMARY KEY CHECK (length(ref) = 16),
	owner      BYTEA NOT NULL CHECK (length(owner) = 32),
	revision   BIGINT NOT NULL CHECK (revision >= 1),
	withdrawn  BOOLEAN NOT NULL,
	expires_at BIGINT NOT NULL,
	endpoint   TEXT COLLATE "C",
	labels     BYTEA,
	position   BIGINT NOT NULL
);

CREATE INDEX gidp_published_by_position ON gidp_published (position);
CREATE INDEX gidp_published_by_owner ON gidp_published (owner, position);
CREATE UNIQUE INDEX gidp_published_live_owner ON gidp_published (owner) WHERE NOT withdrawn;
CREATE UNIQUE INDEX gidp_published_live_endpoint ON gidp_published (endpoint) WHERE NOT withdrawn;
CREATE INDEX gidp_published_by_expires_at ON gidp_published (expires_at, ref);

CREATE TABLE gidp_reports (
	ref      BYTEA NOT NULL,
	reporter BYTEA NOT NULL,
	owner    BYTEA NOT NULL,
	reason   TEXT COLLATE "C" NOT NULL,
	at       BIGINT,
	PRIMARY KEY (ref, reporter)
);

CREATE INDEX gidp_reports_by_at ON gidp_reports (at);

CREATE TABLE gidp_bans (
	key     BYTEA NOT NULL,
	network TEXT COLLATE "C" NOT NULL,
	until   BIGINT NOT NULL,
	reason  TEXT COLLATE "C" NOT NULL,
	at      BIGINT NOT NULL,
	PRIMARY KEY (network, key)
);
