CREATE TABLE gidp_parts (
	session TEXT    NOT NULL,
	part    INTEGER NOT NULL CHECK (part >= 0),
	body    BLOB    NOT NULL,
	PRIMARY KEY (session, part)
) STRICT;

-- A key of deduplication is forgotten with its session.
DELETE FROM gidp_received WHERE session NOT IN (SELECT id FROM gidp_sessions);
DROP INDEX gidp_received_by_until;
ALTER TABLE gidp_received DROP COLUMN until;
