package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

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

// Plan returns the migrations that Open would take, and changes nothing.
func Plan(ctx context.Context, url string) ([]store.Migration, error) {
	pool, err := connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	return plan(ctx, pool, migrations())
}

func plan(ctx context.Context, pool *pgxpool.Pool, known []store.Migration) ([]store.Migration, error) {
	var tables, own int
	err := pool.QueryRow(ctx, "SELECT count(*), COALESCE(sum(CASE WHEN table_name = 'schema_migrations' THEN 1 ELSE 0 END), 0) "+
		"FROM information_schema.tables WHERE table_schema = current_schema()").Scan(&tables, &own)
	if err != nil {
		return nil, store.Fail(ctx, "read the schema", err, classify)
	}
	if tables > 0 && own == 0 {
		return nil, fmt.Errorf("the database holds %d tables of another program: name an empty database or schema", tables)
	}
	if own == 0 {
		return known, nil
	}
	applied, err := history(ctx, pool)
	if err != nil {
		return nil, store.Fail(ctx, "read the schema", err, classify)
	}
	return store.Pending(known, applied)
}

// history leaves out row 0, which is there to be locked.
func history(ctx context.Context, db interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}) ([]store.Applied, error) {
	rows, err := db.Query(ctx, "SELECT number, sum FROM schema_migrations WHERE number > 0 ORDER BY number")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[store.Applied])
}

// lockRow makes the table of migrations with the row that is locked while one is taken. Two programs that start at once may both try: the loser tries again.
func (s *Store) lockRow(ctx context.Context) error {
	return store.Retry(ctx, attempts, func() (bool, error) {
		_, err := s.pool.Exec(ctx, `CREATE TABLE IF NOT EXISTS schema_migrations (number BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, sum TEXT NOT NULL, at BIGINT NOT NULL)`)
		if err == nil {
			_, err = s.pool.Exec(ctx, "INSERT INTO schema_migrations (number, name, sum, at) VALUES (0, 'lock', '', 0) ON CONFLICT (number) DO NOTHING")
		}
		if err != nil {
			return true, store.Fail(ctx, "prepare the schema", err, classifyCreate)
		}
		return true, nil
	})
}

// classifyCreate knows that IF NOT EXISTS does not hold against another session that makes the same table at the same moment.
func classifyCreate(err error) store.Class {
	var e *pgconn.PgError
	if errors.As(err, &e) && (e.Code == "42P07" || e.Code == "42710") { // the table, or the type of its rows, is there
		return store.Conflict
	}
	return classify(err)
}

// apply takes one step; who holds row 0 is alone, and who waited for it reads what the other committed.
func (s *Store) apply(ctx context.Context, m store.Migration) error {
	return store.Retry(ctx, attempts, func() (bool, error) {
		tx, err := s.begin(ctx, "begin a migration", pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
		if err != nil {
			return true, err
		}
		defer rollback(ctx, tx)
		if _, err := tx.Exec(ctx, "SELECT number FROM schema_migrations WHERE number = 0 FOR UPDATE"); err != nil {
			return true, store.Fail(ctx, "take the lock of the schema", err, classify)
		}
		applied, err := history(ctx, tx)
		if err != nil {
			return true, store.Fail(ctx, "read the schema", err, classify)
		}
		if len(applied) >= m.Number {
			return true, nil
		}
		// The simple protocol takes several statements at once.
		if _, err := tx.Conn().PgConn().Exec(ctx, m.SQL).ReadAll(); err != nil {
			return true, store.Fail(ctx, "change the schema", err, classify)
		}
		if _, err := tx.Exec(ctx, "INSERT INTO schema_migrations (number, name, sum, at) VALUES ($1, $2, $3, $4)", m.Number, m.Name, m.Sum, time.Now().UnixMicro()); err != nil {
			return true, store.Fail(ctx, "record the migration", err, classify)
		}
		if err := tx.Commit(ctx); err != nil {
			return true, store.Fail(ctx, "commit the migration", err, classify)
		}
		return true, nil
	})
}
