package postgres

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"sayso/internal/app"
	"sayso/internal/store"
)

// session is one transaction; claim is nil when it only reads.
type session struct {
	tx    pgx.Tx
	claim *claim
}

func (s *session) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	tag, err := s.tx.Exec(ctx, query, args...)
	return tag.RowsAffected(), err
}

// rows gives pgx.Rows the Close of store.Rows.
type rows struct{ pgx.Rows }

func (r rows) Close() error {
	r.Rows.Close()
	return nil
}

func (s *session) Query(ctx context.Context, query string, args ...any) (store.Rows, error) {
	answer, err := s.tx.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return rows{answer}, nil
}

// PutRecords sends a chunk as one statement over arrays of columns.
func (s *session) PutRecords(ctx context.Context, slug string, chunk []app.RecordRow) error {
	types, ids := make([]string, len(chunk)), make([]string, len(chunk))
	leaves, bodies := make([][]byte, len(chunk)), make([][]byte, len(chunk))
	updated := make([]*int64, len(chunk))
	for i := range chunk {
		row := &chunk[i]
		types[i], ids[i], leaves[i], bodies[i], updated[i] = row.Type, row.ID, row.Leaf[:], row.Body, store.Micros(row.UpdatedAt)
	}
	_, err := s.tx.Exec(ctx, "INSERT INTO records (publisher, type, id, leaf, updated_at, body) "+
		"SELECT $1, t.type, t.id, t.leaf, t.updated_at, t.body "+
		"FROM unnest($2::text[], $3::text[], $4::bytea[], $5::bigint[], $6::bytea[]) AS t (type, id, leaf, updated_at, body) "+
		"ON CONFLICT (publisher, type, id) DO UPDATE SET leaf = excluded.leaf, updated_at = excluded.updated_at, body = excluded.body",
		slug, types, ids, leaves, updated, bodies)
	return err
}

// DeleteRecords asks by type, because a key set of one column is what every engine answers from an index.
func (s *session) DeleteRecords(ctx context.Context, slug string, keys []app.RecordKey) error {
	ids := map[string][]string{}
	for _, key := range keys {
		ids[key.Type] = append(ids[key.Type], key.ID)
	}
	for typ, ids := range ids {
		if _, err := s.tx.Exec(ctx, "DELETE FROM records WHERE publisher = $1 AND type = $2 AND id = ANY($3)", slug, typ, ids); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) Claim(slug string) error {
	if s.claim == nil {
		return nil
	}
	return s.claim.add(slug)
}

// NextAudit is drawn after the head, so within a publisher it rises in the order of commits. A number taken from a row would make all acts of the
// registry wait for each other, and a long import begin again with each of them.
func (s *session) NextAudit() string { return "nextval('audit_sequence')" }

func (s *session) Classify(err error) store.Class { return classify(err) }

func classify(err error) store.Class {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return classifyCode(e.Code)
	}
	var connect *pgconn.ConnectError
	var network net.Error
	switch {
	case errors.Is(err, errTurn):
		return store.Conflict
	case errors.As(err, &connect), errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		errors.Is(err, pgconn.ErrConnClosed), pgconn.SafeToRetry(err):
		return store.Lost
	}
	return store.Other
}

// classifyCode sorts SQLSTATE codes. A connection that breaks is told with a code when the server is being stopped, else without one.
func classifyCode(code string) store.Class {
	switch code {
	case "40001", "40P01", // serialisation failure, deadlock
		"40003", // statement completion unknown: the operation tells
		"23505": // unique: a position that another transaction took first
		return store.Conflict
	case "57P01", "57P02", "57P03", "53300", "53400": // shutting down, crashed, starting up, too many connections
		return store.Lost
	case "55P03":
		return store.Busy
	case "23503":
		return store.Missing
	case "53100":
		return store.Full
	case "XX001", "XX002":
		return store.Damaged
	}
	switch code[:min(2, len(code))] {
	case "08":
		return store.Lost
	case "58":
		return store.IO
	}
	return store.Other
}
