-- The latest live reading of each stream, subject and location; '' where a stream has no subject or is not scoped.
CREATE TABLE readings (
	publisher   TEXT    NOT NULL REFERENCES publishers (slug),
	stream      TEXT    NOT NULL,
	type        TEXT    NOT NULL,
	id          TEXT    NOT NULL,
	location    TEXT    NOT NULL,
	value       BLOB    NOT NULL,
	observed_at INTEGER NOT NULL,
	received_at INTEGER NOT NULL,
	PRIMARY KEY (publisher, stream, type, id, location)
) STRICT, WITHOUT ROWID;
