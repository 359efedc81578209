CREATE TABLE gidp_parts (
	session TEXT COLLATE "C" NOT NULL,
	part    BIGINT NOT NULL CHECK (part >= 0),
	body    BYTEA NOT NULL,
	PRIMARY KEY (session, part)
);

-- A key of deduplication is forgotten with its session.
DELETE FROM gidp_received WHERE session NOT IN (SELECT id FROM gidp_sessions);
DROP INDEX gidp_received_by_until;
ALTER TABLE gidp_received DROP COLUMN until;
