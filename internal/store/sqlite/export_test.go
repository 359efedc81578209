package sqlite

import (
	"database/sql"
	"maps"
	"slices"
)

var OpenWith, Migrations = open, migrations

// Writer is the connection that writes, for tests that take its room away.
func (s *Store) Writer() *sql.DB { return s.writer }

// Batch runs one statement on the connection of the short acts, for tests that take its room away.
func (s *Store) Batch(query string) error {
	s.batch.running.Lock()
	defer s.batch.running.Unlock()
	if err := s.batch.connect(); err != nil {
		return err
	}
	return s.batch.exec(query)
}

// Statements are the texts of those that ran on the connection of the short acts.
func (s *Store) Statements() []string {
	s.batch.running.Lock()
	defer s.batch.running.Unlock()
	if s.batch.conn == nil {
		return nil
	}
	return slices.Collect(maps.Keys(s.batch.conn.statements))
}
