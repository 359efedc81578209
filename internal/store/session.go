package store

import (
	"context"

	"sayso/internal/app"
)

// Session is one open transaction of an engine. Statements are written in the SQL that all engines share, with parameters $1, $2, …
type Session interface {
	// Exec returns how many rows were changed.
	Exec(ctx context.Context, sql string, args ...any) (int64, error)
	Query(ctx context.Context, sql string, args ...any) (Rows, error)
	// PutRecords inserts or replaces a bounded number of rows, no two with the same key.
	PutRecords(ctx context.Context, slug string, rows []app.RecordRow) error
	// DeleteRecords deletes what is there of a bounded number of keys.
	DeleteRecords(ctx context.Context, slug string, keys []app.RecordKey) error
	// Claim is told of the head that the transaction is about to take, before it is taken.
	Claim(slug string) error
	// NextAudit is the SQL expression of the next sequence number of the audit trail.
	NextAudit() string
	Classify(err error) Class
}

// Rows is the answer to a query, read to its end before the next statement is sent.
type Rows interface {
	Next() bool
	Scan(dst ...any) error
	Err() error
	Close() error
}
