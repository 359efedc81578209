package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"sayso/internal/app"
	"sayso/internal/store"
)

// session is one transaction.
type session struct {
	tx *sql.Tx
	// statements are those that ran, by their text: nil after the first run, prepared from the second one on. They are closed with the transaction. An act on
	// many rows runs the same few, and reading a statement takes longer than running it.
	statements map[string]*sql.Stmt
	written    int
	// lasting is the connection when the transaction is not this session's alone; tx is nil then.
	lasting *lasting
}

// numbered turns $1 into ?1: in SQLite $1 would be a parameter with a name.
func numbered(query string) string { return strings.ReplaceAll(query, "$", "?") }

// prepared is a statement that ran before, nil for one that did not.
func (s *session) prepared(ctx context.Context, query string) (statement *sql.Stmt, err error) {
	statement, ran := s.statements[query]
	if statement != nil {
		return statement, nil
	}
	if s.statements == nil {
		s.statements = map[string]*sql.Stmt{}
	}
	if ran {
		statement, err = s.tx.PrepareContext(ctx, numbered(query))
	}
	if err == nil {
		s.statements[query] = statement
	}
	return statement, err
}

// Exec implements store.Session. On a lasting connection a context ends nothing that runs: SQLite ends a whole transaction with a statement that it interrupts, and other
// acts may be in it.
func (s *session) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	if s.lasting != nil {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return s.lasting.exec(query, args...)
	}
	statement, err := s.prepared(ctx, query)
	if err != nil {
		return 0, err
	}
	var result sql.Result
	if statement != nil {
		result, err = statement.ExecContext(ctx, args...)
	} else {
		result, err = s.tx.ExecContext(ctx, numbered(query), args...)
	}
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (s *session) Query(ctx context.Context, query string, args ...any) (store.Rows, error) {
	if s.lasting != nil {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rows, err := s.lasting.query(query, args...)
		if err != nil {
			return nil, err
		}
		return rows, nil
	}
	statement, err := s.prepared(ctx, query)
	if err != nil {
		return nil, err
	}
	if statement != nil {
		return statement.QueryContext(ctx, args...)
	}
	return s.tx.QueryContext(ctx, numbered(query), args...)
}

func (s *session) PutRecords(ctx context.Context, slug string, rows []app.RecordRow) error {
	for i := range rows {
		row := &rows[i]
		if _, err := s.Exec(ctx, "INSERT INTO records (publisher, type, id, leaf, updated_at, body) VALUES ($1, $2, $3, $4, $5, $6) "+
			"ON CONFLICT (publisher, type, id) DO UPDATE SET leaf = excluded.leaf, updated_at = excluded.updated_at, body = excluded.body",
			slug, row.Type, row.ID, row.Leaf[:], store.Micros(row.UpdatedAt), row.Body); err != nil {
			return err
		}
	}
	s.written += len(rows)
	return nil
}

func (s *session) DeleteRecords(ctx context.Context, slug string, keys []app.RecordKey) error {
	for _, key := range keys {
		if _, err := s.Exec(ctx, "DELETE FROM records WHERE publisher = $1 AND type = $2 AND id = $3", slug, key.Type, key.ID); err != nil {
			return err
		}
	}
	s.written += len(keys)
	return nil
}

// Claim has nothing to do: an immediate transaction is alone.
func (s *session) Claim(string) error { return nil }

// NextAudit leaves no gap, because writers are one after the other.
func (s *session) NextAudit() string { return "(SELECT COALESCE(MAX(sequence), 0) + 1 FROM audit)" }

func (s *session) Classify(err error) store.Class { return classify(err) }

func classify(err error) store.Class {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return store.Other
	}
	if e.Code() == lib.SQLITE_CONSTRAINT_FOREIGNKEY {
		return store.Missing
	}
	switch e.Code() & 0xff { // the low byte is the primary code
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return store.Busy
	case lib.SQLITE_FULL:
		return store.Full
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return store.Damaged
	case lib.SQLITE_IOERR, lib.SQLITE_CANTOPEN, lib.SQLITE_READONLY:
		return store.IO
	}
	return store.Other
}
