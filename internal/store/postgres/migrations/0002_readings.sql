-- The latest live reading of each stream, subject and location; '' where a stream has no subject or is not scoped.
CREATE TABLE readings (
	publisher   TEXT COLLATE "C" NOT NULL REFERENCES publishers (slug),
	stream      TEXT COLLATE "C" NOT NULL,
	type        TEXT COLLATE "C" NOT NULL,
	id          TEXT COLLATE "C" NOT NULL,
	location    TEXT COLLATE "C" NOT NULL,
	value       BYTEA NOT NULL,
	observed_at BIGINT NOT NULL,
	received_at BIGINT NOT NULL,
	PRIMARY KEY (publisher, stream, type, id, location)
);
