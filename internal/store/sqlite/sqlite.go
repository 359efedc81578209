package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"sayso/internal/app"
	"sayso/internal/store"
)

const (
	busyTimeout = 5 * time.Second
	// attempts at a write lock that another process holds, each of busyTimeout.
	attempts = 4
	// importRows is from how many written records on the write-ahead file is folded back and truncated. After fewer SQLite folds it back by itself, and
	// two more waits for the disk would be most of what a small import takes.
	importRows = 10_000
	walLimit   = 64 << 20
)

// Store is a registry in one SQLite file.
type Store struct {
	path   string
	writer *sql.DB // one connection, whose transactions are immediate
	reader *sql.DB
	batch  *batch // of the short acts of GIDP
	schema int
}

// Open opens the database at path, makes it when there is none, and takes the migrations that are left; a copy of an older database is kept beside it.
// A database written by a newer program is refused with app.ErrNewerSchema and left as it is.
func Open(ctx context.Context, path string) (*Store, error) { return open(ctx, path, migrations()) }

func open(ctx context.Context, path string, known []store.Migration) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	steps, err := plan(ctx, path, known)
	if err != nil {
		return nil, err
	}
	if len(steps) > 0 && len(steps) < len(known) {
		if err := keepCopy(ctx, path, len(known)-len(steps)); err != nil {
			return nil, err
		}
	}
	if err := create(path); err != nil {
		return nil, err
	}
	s := &Store{path: path, batch: &batch{path: path}, schema: len(known)}
	if err := s.connect(ctx, steps); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// create makes an empty file that only its owner may read. The write-ahead file takes the same mode from it.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("create the database: %w", err)
	}
	return f.Close()
}

func (s *Store) connect(ctx context.Context, steps []store.Migration) (err error) {
	if s.writer, err = database(s.path, 1, "_txlock=immediate", "_pragma=journal_mode(WAL)", fmt.Sprintf("_pragma=journal_size_limit(%d)", walLimit)); err != nil {
		return err
	}
	if err := settings(ctx, pragmas(ctx, s.writer)); err != nil {
		return err
	}
	if err := store.Migrate(ctx, steps, s.apply); err != nil {
		return err
	}
	if s.reader, err = database(s.path, max(2, runtime.NumCPU()), "_pragma=cache_size(-8192)", "_pragma=query_only(1)"); err != nil {
		return err
	}
	return settings(ctx, pragmas(ctx, s.reader))
}

// database opens a pool of connections to path, each with the settings that durability rests on.
func database(path string, connections int, options ...string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", dataSource(path, options...))
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// dataSource names a file with the settings of a connection.
func dataSource(path string, options ...string) string {
	return location(path, append(options, fmt.Sprintf("_pragma=busy_timeout(%d)", busyTimeout.Milliseconds()), "_pragma=synchronous(FULL)", "_pragma=foreign_keys(1)")...)
}

// location is the URI of a file, whatever characters its path holds.
func location(path string, options ...string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // a drive letter
		path = "/" + path
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: strings.Join(options, "&")}
	return u.String()
}

// settings reads back what was asked for: a database that cannot promise that an acknowledged commit survives a power loss is not used.
func settings(ctx context.Context, read func(pragma string) (string, error)) error {
	for _, want := range []struct{ pragma, value, why string }{
		{"journal_mode", "wal", "readers would block writers: its file system may not support shared memory"},
		{"synchronous", "2", "an acknowledged commit could be lost on a power loss"},
		{"foreign_keys", "1", "rows could point at nothing"},
		{"busy_timeout", fmt.Sprint(busyTimeout.Milliseconds()), "another process would make writes fail at once"},
	} {
		got, err := read("PRAGMA " + want.pragma)
		if err != nil {
			return store.Fail(ctx, "open the database", err, classify)
		}
		if got != want.value {
			return fmt.Errorf("open the database: %s is %s instead of %s: %s", want.pragma, got, want.value, want.why)
		}
	}
	return nil
}

// pragmas reads settings of a pool, whose connections are alike.
func pragmas(ctx context.Context, db *sql.DB) func(string) (string, error) {
	return func(pragma string) (value string, err error) {
		err = db.QueryRowContext(ctx, pragma).Scan(&value)
		return value, err
	}
}

// View implements app.Store.
func (s *Store) View(ctx context.Context, f func(app.Reader) error) error {
	return s.view(ctx, func(r *store.Reader) error { return f(r) })
}

func (s *Store) view(ctx context.Context, f func(*store.Reader) error) error {
	tx, err := s.reader.BeginTx(ctx, nil)
	if err != nil {
		return store.Fail(ctx, "begin to read", err, classify)
	}
	defer tx.Rollback()
	return f(store.NewReader(&session{tx: tx}))
}

// Update implements app.Store. Writers of this process queue for the one connection, those of other processes for the lock of the file.
func (s *Store) Update(ctx context.Context, operation string, f func(app.Writer) error) error {
	act := store.Act{Operation: operation, Run: func(w *store.Writer) error { return f(w) }}
	written := 0
	err := store.Retry(ctx, attempts, func() (bool, error) {
		tx, err := s.writer.BeginTx(ctx, nil)
		if err != nil {
			return true, store.Fail(ctx, "begin to write", err, classify)
		}
		defer tx.Rollback()
		session := &session{tx: tx}
		done, fromDatabase, err := act.Do(ctx, session)
		if done || err != nil {
			return fromDatabase, err
		}
		if err := tx.Commit(); err != nil {
			return true, store.Fail(ctx, "commit", err, classify)
		}
		written = session.written
		return true, nil
	})
	if err == nil && written >= importRows {
		s.checkpoint(ctx)
	}
	return err
}

// checkpoint folds the write-ahead file back and truncates it. It waits for no reader; what it cannot do now, the next one does, so errors do not matter.
func (s *Store) checkpoint(ctx context.Context) {
	c, err := s.writer.Conn(ctx)
	if err != nil {
		return
	}
	defer c.Close()
	for _, statement := range []string{"PRAGMA busy_timeout = 0", "PRAGMA wal_checkpoint(TRUNCATE)", fmt.Sprintf("PRAGMA busy_timeout = %d", busyTimeout.Milliseconds())} {
		c.ExecContext(context.WithoutCancel(ctx), statement)
	}
}

// Heads implements app.Store.
func (s *Store) Heads(ctx context.Context) (heads map[string]uint64, err error) {
	err = s.view(ctx, func(r *store.Reader) (err error) { heads, err = r.Heads(ctx); return err })
	return heads, err
}

// Check implements app.Store: SQLite's own check of pages and indices, then a reading of every row.
func (s *Store) Check(ctx context.Context) error {
	rows, err := s.reader.QueryContext(ctx, "PRAGMA integrity_check(10)")
	if err != nil {
		return store.Fail(ctx, "check the database", err, classify)
	}
	defer rows.Close()
	var found []error
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return store.Fail(ctx, "check the database", err, classify)
		}
		if line != "ok" {
			found = append(found, errors.New(line))
		}
	}
	if err := rows.Err(); err != nil {
		return store.Fail(ctx, "check the database", err, classify)
	}
	if len(found) > 0 {
		return fmt.Errorf("the database is damaged: %w", errors.Join(found...))
	}
	return s.view(ctx, func(r *store.Reader) error { return r.Check(ctx) })
}

// Describe implements app.Store.
func (s *Store) Describe(ctx context.Context) (string, int, error) {
	var version string
	if err := s.reader.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version); err != nil {
		return "", 0, store.Fail(ctx, "ask for the version", err, classify)
	}
	return "SQLite " + version, s.schema, nil
}

// Close implements app.Store. The last process that closes the file folds its write-ahead file back.
func (s *Store) Close() error {
	errs := []error{s.batch.close()}
	for _, db := range []*sql.DB{s.reader, s.writer} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

var _ app.Store = (*Store)(nil)
