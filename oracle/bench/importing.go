package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"sayso/internal/app"
	"sayso/internal/store/pgtest"
)

// measureImport compares an import in one generation with a loop that inserts the same rows with one prepared statement in one transaction.
func measureImport(r *report, p *plan) error {
	ctx := context.Background()
	temp, err := os.MkdirTemp("", "sayso-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	r.title("Import of records.jsonl in one generation: read, judged, hashed, written, content hash, audit; baseline: prepared inserts of the same rows in one transaction of the same engine, keys and durability")
	var rows []string
	var lines []line
	var times []time.Duration
	for _, n := range p.records {
		file, err := recordFile(temp, n)
		if err != nil {
			return err
		}
		both, err := importAt(ctx, file, n, p)
		if err != nil {
			return err
		}
		grown, err := grownBy("import", file, n)
		if err != nil {
			return err
		}
		ours := median(both.ours)
		times = append(times, ours)
		rows = append(rows, fmt.Sprintf("%d|%s|%s|%.0f|%.3f|%.1f", n, ms(ours), ms(median(both.theirs)), float64(n)/ours.Seconds(), both.ratio(), float64(grown)/(1<<20)))
		lines = append(lines, line{name: fmt.Sprintf("xp-import/%d", n), ratio: both.ratio(), bound: 4},
			line{name: fmt.Sprintf("xp-import-rss/%d", n), ratio: float64(grown), bound: 200 << 20, bytes: true})
	}
	r.table("records|ours ms|bare ms|records/s|ratio|memory grows by MB", rows...)
	r.growth("the time of an import", p.records, times)
	for _, l := range lines {
		r.bound(l)
	}
	return measurePostgresImport(ctx, r, p, temp)
}

func importAt(ctx context.Context, file string, n int, p *plan) (pair, error) {
	var stored []app.RecordRow
	ours := func() (took time.Duration, err error) {
		err = withRegistry(ctx, "", func(r *registryOf) error {
			if err := r.establish(ctx, shop); err != nil {
				return err
			}
			begin := time.Now()
			if err := r.load(ctx, file, n); err != nil {
				return err
			}
			took = time.Since(begin)
			if stored == nil {
				stored, err = r.storedRows(ctx)
			}
			return err
		})
		return took, err
	}
	if _, err := ours(); err != nil {
		return pair{}, err
	}
	return alternate(p.rounds, ours, func() (time.Duration, error) { return bareInserts(ctx, stored) })
}

// bareSchema is the table of records of both engines, with what it refers to; the types are those of SQLite and PostgreSQL.
const bareSchema = `CREATE TABLE publishers (slug TEXT NOT NULL PRIMARY KEY); INSERT INTO publishers VALUES ('` + shop + `');
	CREATE TABLE records (publisher TEXT NOT NULL REFERENCES publishers (slug), type TEXT NOT NULL, id TEXT NOT NULL, leaf %[1]s NOT NULL CHECK (length(leaf) = 32),
	updated_at %[2]s, body %[1]s NOT NULL, PRIMARY KEY (publisher, type, id))`

// bareInserts is the baseline over SQLite: its file has the settings of ours.
func bareInserts(ctx context.Context, rows []app.RecordRow) (took time.Duration, err error) {
	dir, err := os.MkdirTemp("", "sayso-bench-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "bare.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)")
	if err != nil {
		return 0, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, fmt.Sprintf(bareSchema, "BLOB", "INTEGER")+" STRICT"); err != nil {
		return 0, err
	}
	begin := time.Now()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	insert, err := tx.PrepareContext(ctx, "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)")
	if err != nil {
		return 0, err
	}
	for i := range rows {
		row := &rows[i]
		if _, err := insert.ExecContext(ctx, shop, row.Type, row.ID, row.Leaf[:], row.UpdatedAt.UnixMicro(), row.Body); err != nil {
			return 0, err
		}
	}
	if err := tx.Commit(); err != nil {
		return 0, err
	}
	took = time.Since(begin)
	return took, sameRows(ctx, db, rows)
}

// sameRows compares what the baseline wrote with what the import stored.
func sameRows(ctx context.Context, db *sql.DB, rows []app.RecordRow) error {
	found, err := db.QueryContext(ctx, "SELECT id, leaf, body FROM records ORDER BY type, id")
	if err != nil {
		return err
	}
	defer found.Close()
	for i := 0; found.Next(); i++ {
		var id string
		var leaf, body sql.RawBytes
		if err := found.Scan(&id, &leaf, &body); err != nil {
			return err
		}
		if i >= len(rows) || id != rows[i].ID || !bytes.Equal(leaf, rows[i].Leaf[:]) || !bytes.Equal(body, rows[i].Body) {
			return errors.New("the baseline wrote other rows")
		}
	}
	return found.Err()
}

// measurePostgresImport is the same over PostgreSQL, for orientation.
func measurePostgresImport(ctx context.Context, r *report, p *plan, temp string) error {
	server, err := pgtest.Start()
	if err != nil {
		r.note("not measured over PostgreSQL: %v", err)
		return nil
	}
	defer server.Stop()
	n := p.records[len(p.records)-1]
	var stored []app.RecordRow
	ours := func() (took time.Duration, err error) {
		database, err := server.Database(ctx)
		if err != nil {
			return 0, err
		}
		err = withRegistry(ctx, database, func(r *registryOf) error {
			if err := r.establish(ctx, shop); err != nil {
				return err
			}
			begin := time.Now()
			if err := r.load(ctx, filepath.Join(temp, fmt.Sprintf("records-%d.jsonl", n)), n); err != nil {
				return err
			}
			took = time.Since(begin)
			stored, err = r.storedRows(ctx)
			return err
		})
		return took, err
	}
	if _, err := ours(); err != nil {
		return err
	}
	both, err := alternate(max(1, p.rounds/3), ours, func() (time.Duration, error) {
		database, err := server.Database(ctx)
		if err != nil {
			return 0, err
		}
		return barePostgres(ctx, database, stored)
	})
	if err != nil {
		return err
	}
	r.note("PostgreSQL on this machine, %d records: ours %s ms, prepared inserts one by one %s ms, ratio %.3f", n, ms(median(both.ours)), ms(median(both.theirs)), both.ratio())
	return nil
}

func barePostgres(ctx context.Context, database string, rows []app.RecordRow) (time.Duration, error) {
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, fmt.Sprintf(bareSchema, "BYTEA", "BIGINT"), pgx.QueryExecModeSimpleProtocol); err != nil {
		return 0, err
	}
	begin := time.Now()
	tx, err := conn.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback(ctx)
	if _, err := tx.Prepare(ctx, "bare", "INSERT INTO records VALUES ($1, $2, $3, $4, $5, $6)"); err != nil {
		return 0, err
	}
	for i := range rows {
		row := &rows[i]
		if _, err := tx.Exec(ctx, "bare", shop, row.Type, row.ID, row.Leaf[:], row.UpdatedAt.UnixMicro(), row.Body); err != nil {
			return 0, err
		}
	}
	err = tx.Commit(ctx)
	return time.Since(begin), err
}
