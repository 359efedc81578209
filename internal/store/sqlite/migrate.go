package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"sayso/internal/store"
)

//go:embed migrations/*.sql
var files embed.FS

// migrations are part of the program; a test reads them, so that a build with bad ones does not pass.
func migrations() []store.Migration {
	sub, err := fs.Sub(files, "migrations")
	if err != nil {
		panic(err)
	}
	known, err := store.Load(sub)
	if err != nil {
		panic(err)
	}
	return known
}

// Plan returns the migrations that Open would take, and changes nothing but a write that was cut off, which it undoes. A file that does not exist yet needs
// all of them.
func Plan(ctx context.Context, path string) ([]store.Migration, error) {
	return plan(ctx, path, migrations())
}

func plan(ctx context.Context, path string, known []store.Migration) ([]store.Migration, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("open the database: %s is not a regular file", path)
	}
	if err := undo(ctx, path); err != nil {
		return nil, err
	}
	db, err := readOnly(path)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	var tables, own int
	if err := db.QueryRowContext(ctx, "SELECT count(*), COALESCE(sum(name = 'schema_migrations'), 0) FROM sqlite_master").Scan(&tables, &own); err != nil {
		return nil, store.Fail(ctx, "read the schema", err, classify)
	}
	if tables == 0 {
		return known, nil
	}
	if own == 0 {
		return nil, fmt.Errorf("%s is an SQLite database of another program: name another file", path)
	}
	applied, err := history(ctx, db)
	if err != nil {
		return nil, store.Fail(ctx, "read the schema", err, classify)
	}
	return store.Pending(known, applied)
}

// undo takes back what a process left in a rollback journal. There is one at one moment only, while a new file is put into WAL mode, and a connection that
// only reads can neither undo it nor read past it.
func undo(ctx context.Context, path string) error {
	if _, err := os.Lstat(path + "-journal"); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	db, err := database(path, 1, "mode=rw")
	if err != nil {
		return err
	}
	defer db.Close()
	var tables int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master").Scan(&tables); err != nil {
		return store.Fail(ctx, "undo a write that was cut off", err, classify)
	}
	return nil
}

// readOnly opens a database without changing how it is kept.
func readOnly(path string) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	db, err := sql.Open("sqlite", location(path, "mode=ro", fmt.Sprintf("_pragma=busy_timeout(%d)", busyTimeout.Milliseconds())))
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

func history(ctx context.Context, db interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}) ([]store.Applied, error) {
	rows, err := db.QueryContext(ctx, "SELECT number, sum FROM schema_migrations ORDER BY number")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []store.Applied
	for rows.Next() {
		var a store.Applied
		if err := rows.Scan(&a.Number, &a.Sum); err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, rows.Err()
}

// apply takes one step under the write lock of the file.
func (s *Store) apply(ctx context.Context, m store.Migration) error {
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return store.Fail(ctx, "take the write lock", err, classify)
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS schema_migrations (number INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, sum TEXT NOT NULL, at INTEGER NOT NULL) STRICT"); err != nil {
		return store.Fail(ctx, "prepare the schema", err, classify)
	}
	applied, err := history(ctx, tx)
	if err != nil {
		return store.Fail(ctx, "read the schema", err, classify)
	}
	if len(applied) >= m.Number {
		return nil
	}
	if _, err := tx.ExecContext(ctx, m.SQL); err != nil {
		return store.Fail(ctx, "change the schema", err, classify)
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO schema_migrations (number, name, sum, at) VALUES (?1, ?2, ?3, ?4)", m.Number, m.Name, m.Sum, time.Now().UnixMicro()); err != nil {
		return store.Fail(ctx, "record the migration", err, classify)
	}
	if err := tx.Commit(); err != nil {
		return store.Fail(ctx, "commit the migration", err, classify)
	}
	return nil
}

// keepCopy writes a consistent copy of a database of an older schema beside it, under a name that is not taken yet.
func keepCopy(ctx context.Context, path string, schema int) error {
	for n := 1; ; n++ {
		target := fmt.Sprintf("%s.schema-%d.bak", path, schema)
		if n > 1 {
			target = fmt.Sprintf("%s.schema-%d-%d.bak", path, schema, n)
		}
		f, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("keep a copy of the database: %w", err)
		}
		defer f.Close()
		db, err := readOnly(path)
		if err != nil {
			return err
		}
		defer db.Close()
		if _, err := db.ExecContext(ctx, "VACUUM INTO ?1", target); err != nil {
			os.Remove(target)
			return store.Fail(ctx, "keep a copy of the database", err, classify)
		}
		return f.Sync()
	}
}
