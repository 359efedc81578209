package store

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"time"

	"sayso/business"
	"sayso/internal/app"
)

// Writer changes the registry inside one transaction; it is app.Writer over a session.
type Writer struct {
	Reader
	created []string // heads that this transaction made: each needs a publisher by the end
}

// NewWriter returns a writer over an open transaction.
func NewWriter(s Session) *Writer { return &Writer{Reader: Reader{s: s}} }

// Begin records the operation and reports whether it was committed before; then there is nothing left to do. own marks an identity that the store drew by
// itself and may forget.
func (w *Writer) Begin(ctx context.Context, operation string, own bool, at time.Time) (done bool, err error) {
	var e encoder
	if e.key("the operation", operation, maxName); e.err != nil {
		return false, e.err
	}
	n, err := w.exec(ctx, "begin an operation", "INSERT INTO operations (id, at, own) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING", operation, at.UnixMicro(), own)
	return n == 0, err
}

// Finish reports whether the transaction may be committed: no statement failed, and every head has a publisher.
func (w *Writer) Finish(ctx context.Context) error {
	for _, slug := range w.created {
		if w.failed != nil {
			break
		}
		if _, err := w.Publisher(ctx, slug); err != nil {
			return fmt.Errorf("publisher %s: %w", slug, err)
		}
	}
	return w.Failed()
}

func (w *Writer) exec(ctx context.Context, what, sql string, args ...any) (int64, error) {
	if w.failed != nil {
		return 0, w.failed
	}
	n, err := w.s.Exec(ctx, sql, args...)
	if err != nil {
		return 0, w.fail(ctx, what, err)
	}
	return n, nil
}

// put runs one statement over values that an encoder accepted.
func (w *Writer) put(ctx context.Context, what, sql string, values []any, err error) error {
	if err == nil {
		_, err = w.exec(ctx, what, sql, values...)
	}
	return err
}

// Advance implements app.Writer. The head of a publisher that is inserted later in the same transaction may be taken before; a head that has no publisher
// in the end makes Update fail with app.ErrNotFound.
func (w *Writer) Advance(ctx context.Context, slug string) (uint64, error) {
	revision, err := w.take(ctx, slug, 1)
	if err != app.ErrNotFound || !isName(slug) {
		return revision, err
	}
	w.created = append(w.created, slug)
	_, err = w.exec(ctx, takeHead, "INSERT INTO heads (slug, revision) VALUES ($1, 1)", slug)
	return 1, err
}

// Hold implements app.Writer. The row is written, so that the engine treats it as any other act on the head.
func (w *Writer) Hold(ctx context.Context, slug string) (uint64, error) { return w.take(ctx, slug, 0) }

const takeHead = "take the head of a publisher"

// isName reports whether a text may be a slug; "" is the registry's.
func isName(slug string) bool { return storable(slug) && len(slug) <= maxName }

// take takes a head, adds to its revision and returns it.
func (w *Writer) take(ctx context.Context, slug string, more int64) (revision uint64, err error) {
	if !isName(slug) {
		return 0, app.ErrNotFound
	}
	if err := w.s.Claim(slug); err != nil {
		return 0, w.fail(ctx, takeHead, err)
	}
	err = w.one(ctx, takeHead, "UPDATE heads SET revision = revision + $2 WHERE slug = $1 RETURNING revision", []any{slug, more},
		func(scan scanner) error { return scan(&revision) })
	return revision, err
}

// InsertPublisher implements app.Writer.
func (w *Writer) InsertPublisher(ctx context.Context, row *app.PublisherRow) error {
	const what = "create a publisher"
	values, err := publisherValues(row)
	if err != nil {
		return err
	}
	if _, err := w.exec(ctx, what, "INSERT INTO heads (slug, revision) VALUES ($1, 0) ON CONFLICT (slug) DO NOTHING", row.Slug); err != nil {
		return err
	}
	n, err := w.exec(ctx, what, "INSERT INTO publishers ("+publisherColumns+") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) "+
		"ON CONFLICT (slug) DO NOTHING", values...)
	if err == nil && n == 0 {
		return app.ErrExists
	}
	return err
}

// UpdatePublisher implements app.Writer: every column but the revision.
func (w *Writer) UpdatePublisher(ctx context.Context, row *app.PublisherRow) error {
	values, err := publisherValues(row)
	if err != nil {
		return err
	}
	n, err := w.exec(ctx, "change a publisher", "UPDATE publishers SET created_at = $2, region = $3, lifecycle = $4, suspended = $5, reason = $6, profile = $7, schema = $8, "+
		"calendar = $9, account = $10, delegated = $11, incomplete = $12, quota_records = $13, quota_tokens = $14, generation = $15, content_hash = $16, "+
		"changed_at = $17, data_updated = $18 WHERE slug = $1", values...)
	if err == nil && n == 0 {
		return app.ErrNotFound
	}
	return err
}

// A chunk of a bulk statement holds at most this many rows and about this many bytes of bodies.
const (
	chunkRows  = 512
	chunkBytes = 1 << 20
)

// PutRecords implements app.Writer. Rows go to the engine in bounded chunks; of two rows with one key the later one stands, and both are counted. An error
// that rows yields is returned as it is, and nothing of the transaction is committed then.
func (w *Writer) PutRecords(ctx context.Context, slug string, rows iter.Seq2[app.RecordRow, error]) (int, error) {
	const what = "write records"
	if !storable(slug) {
		return 0, app.ErrNotFound
	}
	var chunk []app.RecordRow
	at := map[app.RecordKey]int{}
	size, count := 0, 0
	flush := func() error {
		if err := w.s.PutRecords(ctx, slug, chunk); err != nil {
			return w.fail(ctx, what, err)
		}
		clear(chunk)
		chunk, size = chunk[:0], 0
		clear(at)
		return nil
	}
	for row, err := range rows {
		if err == nil {
			err = checkRecord(&row)
		}
		if err != nil {
			if w.failed == nil {
				w.failed = &Failure{What: what, Class: Other, Cause: fmt.Errorf("the rows ended early: %w", err)}
			}
			return count, err
		}
		row.Body = bytes.Clone(row.Body) // the caller may reuse its buffer for the next row
		size += len(row.Body)
		count++
		if i, ok := at[row.RecordKey]; ok {
			chunk[i] = row
		} else {
			at[row.RecordKey] = len(chunk)
			chunk = append(chunk, row)
		}
		if len(chunk) == chunkRows || size >= chunkBytes {
			if err := flush(); err != nil {
				return count, err
			}
		}
	}
	if len(chunk) == 0 {
		return count, nil
	}
	return count, flush()
}

// DeleteRecords implements app.Writer. A key that is not there is no error.
func (w *Writer) DeleteRecords(ctx context.Context, slug string, keys iter.Seq[app.RecordKey]) error {
	if !storable(slug) {
		return nil
	}
	var chunk []app.RecordKey
	flush := func() error {
		if err := w.s.DeleteRecords(ctx, slug, chunk); err != nil {
			return w.fail(ctx, "delete records", err)
		}
		chunk = chunk[:0]
		return nil
	}
	for key := range keys {
		if !storable(key.Type, key.ID) {
			continue
		}
		if chunk = append(chunk, key); len(chunk) == chunkRows {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if len(chunk) == 0 {
		return nil
	}
	return flush()
}

// PutKey implements app.Writer.
func (w *Writer) PutKey(ctx context.Context, row *app.KeyRow) error {
	values, err := keyValues(row)
	return w.put(ctx, "write a key", "INSERT INTO publisher_keys ("+keyColumns+") VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (publisher, kid) DO UPDATE SET "+
		"entry = excluded.entry, created_at = excluded.created_at, retired_at = excluded.retired_at, revoked_at = excluded.revoked_at", values, err)
}

// PutRegistryKey implements app.Writer.
func (w *Writer) PutRegistryKey(ctx context.Context, row *app.RegistryKeyRow) error {
	values, err := registryKeyValues(row)
	return w.put(ctx, "write a registry key", "INSERT INTO registry_keys ("+registryKeyColumns+") VALUES ($1, $2, $3, $4) ON CONFLICT (kid) DO UPDATE SET "+
		"entry = excluded.entry, installed_at = excluded.installed_at, revoked_at = excluded.revoked_at", values, err)
}

// AppendRevocation implements app.Writer.
func (w *Writer) AppendRevocation(ctx context.Context, slug string, entry *business.RevocationEntry) error {
	var e encoder
	values := []any{e.text("the slug", slug), e.document("the revocation", entry)}
	return w.put(ctx, "append a revocation", "INSERT INTO revocations (publisher, position, entry) VALUES ($1, "+
		"(SELECT COALESCE(MAX(position), 0) + 1 FROM revocations WHERE publisher = $1), $2)", values, e.err)
}

// PutProof implements app.Writer.
func (w *Writer) PutProof(ctx context.Context, row *app.ProofRow) error {
	values, err := proofValues(row)
	return w.put(ctx, "write a proof", "INSERT INTO proofs ("+proofColumns+") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) "+
		"ON CONFLICT (id) DO UPDATE SET publisher = excluded.publisher, host = excluded.host, method = excluded.method, nonce = excluded.nonce, "+
		"created_at = excluded.created_at, expires_at = excluded.expires_at, state = excluded.state, verified_at = excluded.verified_at, "+
		"valid_until = excluded.valid_until, next_check = excluded.next_check, failed_days = excluded.failed_days, last_failure = excluded.last_failure, "+
		"evidence = excluded.evidence", values, err)
}

// PutVerification implements app.Writer.
func (w *Writer) PutVerification(ctx context.Context, row *app.VerificationRow) error {
	values, err := verificationValues(row)
	return w.put(ctx, "write a verification", "INSERT INTO verifications ("+verificationColumns+") VALUES ($1, $2, $3, $4, $5, $6, $7) "+
		"ON CONFLICT (publisher, decision) DO UPDATE SET recorded_by = excluded.recorded_by, recorded_at = excluded.recorded_at, "+
		"confirmed_by = excluded.confirmed_by, confirmed_at = excluded.confirmed_at, withdrawn_at = excluded.withdrawn_at", values, err)
}

// PutHost implements app.Writer.
func (w *Writer) PutHost(ctx context.Context, host, slug string) error {
	var e encoder
	host, slug = e.key("the host", host, maxName), e.key("the slug", slug, maxName)
	if e.err != nil {
		return e.err
	}
	n, err := w.exec(ctx, "route a host", "INSERT INTO hosts (host, publisher) VALUES ($1, $2) ON CONFLICT (host) DO UPDATE SET publisher = excluded.publisher "+
		"WHERE hosts.publisher = excluded.publisher", host, slug)
	if err == nil && n == 0 {
		return app.ErrExists
	}
	return err
}

// DeleteHost implements app.Writer. A host that is not there is no error.
func (w *Writer) DeleteHost(ctx context.Context, host string) error {
	if !storable(host) {
		return nil
	}
	_, err := w.exec(ctx, "remove a host", "DELETE FROM hosts WHERE host = $1", host)
	return err
}

// PutToken implements app.Writer.
func (w *Writer) PutToken(ctx context.Context, row *app.TokenRow) error {
	values, err := tokenValues(row)
	return w.put(ctx, "write a token", "INSERT INTO tokens ("+tokenColumns+") VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (hash) DO UPDATE SET id = excluded.id, "+
		"publisher = excluded.publisher, name = excluded.name, scopes = excluded.scopes, parent = excluded.parent, created_at = excluded.created_at, "+
		"revoked_at = excluded.revoked_at", values, err)
}

// AppendAudit implements app.Writer.
func (w *Writer) AppendAudit(ctx context.Context, row *app.AuditRow) error {
	values, err := auditValues(row)
	return w.put(ctx, "write the audit trail", "INSERT INTO audit (sequence, "+auditColumns+") VALUES ("+w.s.NextAudit()+", $1, $2, $3, $4, $5, $6, $7, $8)", values, err)
}

var (
	_ app.Reader = (*Reader)(nil)
	_ app.Writer = (*Writer)(nil)
)
