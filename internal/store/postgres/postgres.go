package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"sayso/internal/app"
	"sayso/internal/store"
)

const (
	// attempts at a transaction that other replicas or a broken connection make fail: some seconds in all, which outlasts a restart of the server and
	// a replica that writes to the same publisher without a pause.
	attempts = 256
	// readAttempts are for connections that broke while they were idle; a reader is told soon that the server is away.
	readAttempts = 8
	// Operations that the store named itself are forgotten after ownLife: no attempt of theirs is under way any more. Every sweepEvery-th commit does it.
	ownLife    = time.Hour
	sweepEvery = 1024
	// cleanUp bounds what is done after the end of a caller's context.
	cleanUp = 5 * time.Second
)

// Store is a registry in a PostgreSQL database, shared by any number of processes.
type Store struct {
	pool    *pgxpool.Pool
	queue   *queue
	schema  int
	commits atomic.Int64
}

// Open connects to the database at url (postgres://…, with the pool's own settings such as pool_max_conns) and takes the migrations that are left.
// A database written by a newer program is refused with app.ErrNewerSchema and left as it is.
func Open(ctx context.Context, url string) (*Store, error) { return open(ctx, url, migrations()) }

func open(ctx context.Context, url string, known []store.Migration) (*Store, error) {
	pool, err := connect(ctx, url)
	if err != nil {
		return nil, err
	}
	s := &Store{pool: pool, queue: newQueue(), schema: len(known)}
	if err := s.prepare(ctx, known); err != nil {
		pool.Close()
		return nil, err
	}
	return s, nil
}

func connect(ctx context.Context, url string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("the setting database is no usable PostgreSQL address: postgres://USER@HOST:PORT/NAME is expected")
	}
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "sayso"
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, store.Fail(ctx, "connect to the database", err, classify)
	}
	return pool, nil
}

// prepare refuses a server that cannot keep what it acknowledged, then brings the schema up to date.
func (s *Store) prepare(ctx context.Context, known []store.Migration) error {
	if err := settings(ctx, s.pool); err != nil {
		return err
	}
	steps, err := plan(ctx, s.pool, known)
	if err != nil || len(steps) == 0 {
		return err
	}
	if err := s.lockRow(ctx); err != nil {
		return err
	}
	return store.Migrate(ctx, steps, s.apply)
}

func settings(ctx context.Context, pool *pgxpool.Pool) error {
	for _, setting := range []struct{ name, refused, why string }{
		{"synchronous_commit", "off", "an acknowledged commit could be lost when the server stops"},
		{"fsync", "off", "an acknowledged commit could be lost on a power loss"},
	} {
		var value *string // NULL where an engine has no such setting
		if err := pool.QueryRow(ctx, "SELECT current_setting($1, true)", setting.name).Scan(&value); err != nil {
			return store.Fail(ctx, "connect to the database", err, classify)
		}
		if value != nil && *value == setting.refused {
			return fmt.Errorf("the database has %s = %s: %s; set it to on", setting.name, *value, setting.why)
		}
	}
	var encoding string
	if err := pool.QueryRow(ctx, "SHOW server_encoding").Scan(&encoding); err != nil {
		return store.Fail(ctx, "connect to the database", err, classify)
	}
	if encoding != "UTF8" {
		return fmt.Errorf("the database has encoding %s: create one with encoding UTF8", encoding)
	}
	return nil
}

// View implements app.Store. A connection that broke while it was idle is replaced before f runs.
func (s *Store) View(ctx context.Context, f func(app.Reader) error) error {
	return s.view(ctx, func(r *store.Reader) error { return f(r) })
}

func (s *Store) view(ctx context.Context, f func(*store.Reader) error) error {
	var tx pgx.Tx
	err := store.Retry(ctx, readAttempts, func() (_ bool, err error) {
		tx, err = s.begin(ctx, "begin to read", pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
		return true, err
	})
	if err != nil {
		return err
	}
	defer rollback(ctx, tx)
	return f(store.NewReader(&session{tx: tx}))
}

func (s *Store) begin(ctx context.Context, what string, options pgx.TxOptions) (pgx.Tx, error) {
	tx, err := s.pool.BeginTx(ctx, options)
	if err != nil {
		return nil, store.Fail(ctx, what, err, classify)
	}
	return tx, nil
}

// rollback gives the connection back; after a commit it does nothing.
func rollback(ctx context.Context, tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
	defer cancel()
	tx.Rollback(ctx)
}

// Update implements app.Store. The operation is recorded in the same transaction: when the connection breaks before a commit is acknowledged, the next
// attempt sees whether it took place.
func (s *Store) Update(ctx context.Context, operation string, f func(app.Writer) error) error {
	return s.act(ctx, operation, func(w *store.Writer) error { return f(w) })
}

func (s *Store) act(ctx context.Context, operation string, f func(*store.Writer) error) error {
	act := store.Act{Operation: operation, Run: f}
	if operation == "" {
		act.Operation, act.Own = store.NewOperation(), true
	}
	var want []string
	err := store.Retry(ctx, attempts, func() (fromDatabase bool, err error) {
		claim, err := s.queue.take(ctx, want)
		if err != nil {
			return true, store.Fail(ctx, "wait for other writers", err, classify)
		}
		defer claim.release()
		fromDatabase, err = s.attempt(ctx, &act, claim)
		want = claim.wanted()
		return fromDatabase, err
	})
	if err == nil && s.commits.Add(1)%sweepEvery == 0 {
		s.sweep(ctx)
	}
	return err
}

func (s *Store) attempt(ctx context.Context, act *store.Act, claim *claim) (fromDatabase bool, err error) {
	tx, err := s.begin(ctx, "begin to write", pgx.TxOptions{IsoLevel: pgx.Serializable})
	if err != nil {
		return true, err
	}
	defer rollback(ctx, tx)
	done, fromDatabase, err := act.Do(ctx, &session{tx: tx, claim: claim})
	if done || err != nil {
		return fromDatabase, err
	}
	if err := tx.Commit(ctx); err != nil {
		return true, store.Fail(ctx, "commit", err, classify)
	}
	return true, nil
}

// sweep forgets old operations that have no name of a caller's. It may fail: the next one does it.
func (s *Store) sweep(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
	defer cancel()
	s.pool.Exec(ctx, "DELETE FROM operations WHERE own AND at < $1", time.Now().Add(-ownLife).UnixMicro())
}

// Heads implements app.Store.
func (s *Store) Heads(ctx context.Context) (heads map[string]uint64, err error) {
	err = s.view(ctx, func(r *store.Reader) (err error) { heads, err = r.Heads(ctx); return err })
	return heads, err
}

// Check implements app.Store: it reads every row, so that a damaged page is met.
func (s *Store) Check(ctx context.Context) error {
	return s.view(ctx, func(r *store.Reader) error { return r.Check(ctx) })
}

// Describe implements app.Store.
func (s *Store) Describe(ctx context.Context) (string, int, error) {
	var version string
	if err := s.pool.QueryRow(ctx, "SELECT version()").Scan(&version); err != nil {
		return "", 0, store.Fail(ctx, "ask for the version", err, classify)
	}
	words := strings.Fields(version)
	return strings.Join(words[:min(2, len(words))], " "), s.schema, nil
}

// Close implements app.Store. It waits for transactions under way.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}

var _ app.Store = (*Store)(nil)
