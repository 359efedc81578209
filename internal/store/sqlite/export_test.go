package sqlite

import "database/sql"

var OpenWith, Migrations = open, migrations

// Writer is the connection that writes, for tests that take its room away.
func (s *Store) Writer() *sql.DB { return s.writer }
