package store

import (
	"context"
	"errors"
	"iter"
	"time"

	"sayso/business"
	"sayso/internal/app"
)

// Reader reads inside one transaction; it is app.Reader over a session. It serves one goroutine, and no longer than its transaction.
type Reader struct {
	s      Session
	failed *Failure // the first failure: after it nothing may be committed
}

// NewReader returns a reader over an open transaction.
func NewReader(s Session) *Reader { return &Reader{s: s} }

func (r *Reader) fail(ctx context.Context, what string, err error) error {
	f := Fail(ctx, what, err, r.s.Classify)
	if errors.As(err, new(*damage)) {
		f.Class = Damaged
	}
	if r.failed == nil {
		r.failed = f
	}
	return f
}

// Failed returns the first failure of a statement, nil while there is none.
func (r *Reader) Failed() error {
	if r.failed == nil {
		return nil
	}
	return r.failed
}

// list reads all rows of a query.
func list[T any](ctx context.Context, r *Reader, what string, scan func(scanner) (T, error), sql string, args ...any) ([]T, error) {
	if r.failed != nil { // the engine may have ended the transaction: nothing more belongs to it
		return nil, r.failed
	}
	rows, err := r.s.Query(ctx, sql, args...)
	if err != nil {
		return nil, r.fail(ctx, what, err)
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		row, err := scan(rows.Scan)
		if err != nil {
			return nil, r.fail(ctx, what, err)
		}
		out = append(out, row)
	}
	if err := rows.Err(); err != nil {
		return nil, r.fail(ctx, what, err)
	}
	return out, nil
}

// one reads the only row of a query, or app.ErrNotFound.
func (r *Reader) one(ctx context.Context, what, sql string, args []any, scan func(scanner) error) error {
	rows, err := list(ctx, r, what, func(s scanner) (struct{}, error) { return struct{}{}, scan(s) }, sql, args...)
	if err == nil && len(rows) == 0 {
		return app.ErrNotFound
	}
	return err
}

// find is one for a row with a codec.
func find[T any](ctx context.Context, r *Reader, what string, scan func(scanner) (T, error), sql string, args ...any) (*T, error) {
	rows, err := list(ctx, r, what, scan, sql, args...)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, app.ErrNotFound
	}
	return &rows[0], nil
}

const selectPublisher = "SELECT " + publisherColumns + ", (SELECT revision FROM heads WHERE heads.slug = publishers.slug) FROM publishers "

// Publisher implements app.Reader.
func (r *Reader) Publisher(ctx context.Context, slug string) (*app.PublisherRow, error) {
	if !storable(slug) {
		return nil, app.ErrNotFound
	}
	return find(ctx, r, "read a publisher", scanPublisher, selectPublisher+"WHERE slug = $1", slug)
}

// Generation implements app.Reader.
func (r *Reader) Generation(ctx context.Context, slug string) (generation uint64, err error) {
	if !storable(slug) {
		return 0, app.ErrNotFound
	}
	err = r.one(ctx, "read a generation", "SELECT generation FROM publishers WHERE slug = $1", []any{slug}, func(scan scanner) error { return scan(&generation) })
	return generation, err
}

// Publishers implements app.Reader.
func (r *Reader) Publishers(ctx context.Context, after string, limit int) ([]app.PublisherRow, error) {
	if !storable(after) || limit <= 0 {
		return nil, nil
	}
	return list(ctx, r, "list publishers", scanPublisher, selectPublisher+"WHERE slug > $1 ORDER BY slug LIMIT $2", after, int64(limit))
}

// Record implements app.Reader.
func (r *Reader) Record(ctx context.Context, slug, typ, id string) (*app.RecordRow, error) {
	if !storable(slug, typ, id) {
		return nil, app.ErrNotFound
	}
	return find(ctx, r, "read a record", scanRecord, "SELECT "+leafColumns+", body FROM records WHERE publisher = $1 AND type = $2 AND id = $3", slug, typ, id)
}

// A page of a stream holds between minPage and maxPage rows, about pageBytes of bodies.
const (
	minPage   = 16
	maxPage   = 1024
	pageBytes = 1 << 20
)

// Records implements app.Reader. Rows are read by pages behind the last key, so that memory is bounded, no cursor stays open while the caller works, and
// the caller may use the transaction between two rows.
func (r *Reader) Records(ctx context.Context, slug, typ, afterType, afterID string) iter.Seq2[app.RecordRow, error] {
	return func(yield func(app.RecordRow, error) bool) {
		if storable(slug, typ, afterType, afterID) {
			p := pager{r: r, slug: slug, columns: leafColumns + ", body", scan: scanRecord, limit: minPage}
			p.types(ctx, typ, app.RecordKey{Type: afterType, ID: afterID}, yield)
		}
	}
}

// Leaves implements app.Reader, by pages as Records does.
func (r *Reader) Leaves(ctx context.Context, slug string) iter.Seq2[app.RecordRow, error] {
	return func(yield func(app.RecordRow, error) bool) {
		if storable(slug) {
			p := pager{r: r, slug: slug, columns: leafColumns, scan: func(s scanner) (app.RecordRow, error) { return scanLeaf(s) }, limit: maxPage}
			p.types(ctx, "", app.RecordKey{}, yield)
		}
	}
}

// pager reads the records of one publisher, one type after the other: pages of (type, id) > (…) over all types would be one range of the index too, but
// PostgreSQL without fresh statistics sorts the whole rest for each of them.
type pager struct {
	r       *Reader
	slug    string
	columns string
	scan    func(scanner) (app.RecordRow, error)
	limit   int // rows of the next page
}

// types yields what lies behind after, of one type or of all.
func (p *pager) types(ctx context.Context, only string, after app.RecordKey, yield func(app.RecordRow, error) bool) {
	if only != "" {
		if only > after.Type {
			after = app.RecordKey{Type: only}
		}
		if only == after.Type {
			p.rows(ctx, after, yield)
		}
		return
	}
	for after.Type == "" || p.rows(ctx, after, yield) {
		var next *string
		err := p.r.one(ctx, "read records", "SELECT MIN(type) FROM records WHERE publisher = $1 AND type > $2", []any{p.slug, after.Type},
			func(scan scanner) error { return scan(&next) })
		if err != nil {
			yield(app.RecordRow{}, err)
			return
		}
		if next == nil {
			return
		}
		after = app.RecordKey{Type: *next}
	}
}

// rows yields the rows of one type behind an id and reports whether to go on. The size of a page follows the bodies of the one before it.
func (p *pager) rows(ctx context.Context, after app.RecordKey, yield func(app.RecordRow, error) bool) bool {
	for {
		rows, err := list(ctx, p.r, "read records", p.scan, "SELECT "+p.columns+" FROM records WHERE publisher = $1 AND type = $2 AND id > $3 ORDER BY id LIMIT $4",
			p.slug, after.Type, after.ID, int64(p.limit))
		if err != nil {
			yield(app.RecordRow{}, err)
			return false
		}
		size := 1
		for _, row := range rows {
			size += len(row.Body)
			if !yield(row, nil) {
				return false
			}
		}
		if len(rows) < p.limit {
			return true
		}
		after = rows[len(rows)-1].RecordKey
		p.limit = max(minPage, min(maxPage, pageBytes/(size/len(rows)+1)))
	}
}

// RecordCounts implements app.Reader; types are sorted as bytes.
func (r *Reader) RecordCounts(ctx context.Context, slug string) ([]business.TypeCount, error) {
	if !storable(slug) {
		return nil, nil
	}
	return list(ctx, r, "count records", func(scan scanner) (business.TypeCount, error) {
		var c business.TypeCount
		err := scan(&c.Type, &c.Count)
		return c, err
	}, "SELECT type, count(*) FROM records WHERE publisher = $1 GROUP BY type ORDER BY type", slug)
}

// Keys implements app.Reader; keys of one moment are sorted by kid.
func (r *Reader) Keys(ctx context.Context, slug string) ([]app.KeyRow, error) {
	if !storable(slug) {
		return nil, nil
	}
	return list(ctx, r, "list keys", scanKey, "SELECT "+keyColumns+" FROM publisher_keys WHERE publisher = $1 ORDER BY created_at NULLS FIRST, kid", slug)
}

// RegistryKeys implements app.Reader, in the order of installation, then of kids.
func (r *Reader) RegistryKeys(ctx context.Context) ([]app.RegistryKeyRow, error) {
	return list(ctx, r, "list registry keys", scanRegistryKey, "SELECT "+registryKeyColumns+" FROM registry_keys ORDER BY installed_at NULLS FIRST, kid")
}

// Revocations implements app.Reader.
func (r *Reader) Revocations(ctx context.Context, slug string) ([]business.RevocationEntry, error) {
	if !storable(slug) {
		return nil, nil
	}
	return list(ctx, r, "list revocations", scanRevocation, "SELECT entry FROM revocations WHERE publisher = $1 ORDER BY position", slug)
}

// Proofs implements app.Reader; proofs of one moment are sorted by id.
func (r *Reader) Proofs(ctx context.Context, slug string) ([]app.ProofRow, error) {
	if !storable(slug) {
		return nil, nil
	}
	return list(ctx, r, "list proofs", scanProof, "SELECT "+proofColumns+" FROM proofs WHERE publisher = $1 ORDER BY created_at NULLS FIRST, id", slug)
}

// ProofsByHost implements app.Reader: pending and proven ones, in the order of creation, then of ids.
func (r *Reader) ProofsByHost(ctx context.Context, host string) ([]app.ProofRow, error) {
	if !storable(host) {
		return nil, nil
	}
	return list(ctx, r, "list proofs of a host", scanProof,
		"SELECT "+proofColumns+" FROM proofs WHERE host = $1 AND state IN ('pending', 'proven') ORDER BY created_at NULLS FIRST, id", host)
}

// ProofsDue implements app.Reader: the longest overdue first, then by id.
func (r *Reader) ProofsDue(ctx context.Context, now time.Time, limit int) ([]app.ProofRow, error) {
	if limit <= 0 {
		return nil, nil
	}
	return list(ctx, r, "list proofs that are due", scanProof,
		"SELECT "+proofColumns+" FROM proofs WHERE next_check <= $1 ORDER BY next_check, id LIMIT $2", now.UnixMicro(), int64(limit))
}

// Verifications implements app.Reader, in the order of recording, then of decision ids.
func (r *Reader) Verifications(ctx context.Context, slug string) ([]app.VerificationRow, error) {
	if !storable(slug) {
		return nil, nil
	}
	return list(ctx, r, "list verifications", scanVerification,
		"SELECT "+verificationColumns+" FROM verifications WHERE publisher = $1 ORDER BY recorded_at NULLS FIRST, decision", slug)
}

// Hosts implements app.Reader.
func (r *Reader) Hosts(ctx context.Context) (map[string]string, error) {
	type entry struct{ host, slug string }
	rows, err := list(ctx, r, "list hosts", func(scan scanner) (entry, error) {
		var e entry
		err := scan(&e.host, &e.slug)
		return e, err
	}, "SELECT host, publisher FROM hosts")
	if err != nil {
		return nil, err
	}
	out := make(map[string]string, len(rows))
	for _, e := range rows {
		out[e.host] = e.slug
	}
	return out, nil
}

// Token implements app.Reader.
func (r *Reader) Token(ctx context.Context, hash [32]byte) (*app.TokenRow, error) {
	return find(ctx, r, "read a token", scanToken, "SELECT "+tokenColumns+" FROM tokens WHERE hash = $1", hash[:])
}

// Tokens implements app.Reader, in the order of creation, then of ids and hashes.
func (r *Reader) Tokens(ctx context.Context, slug string) ([]app.TokenRow, error) {
	if !storable(slug) {
		return nil, nil
	}
	return list(ctx, r, "list tokens", scanToken, "SELECT "+tokenColumns+" FROM tokens WHERE publisher = $1 ORDER BY created_at NULLS FIRST, id, hash", slug)
}

// Audit implements app.Reader.
func (r *Reader) Audit(ctx context.Context, slug string, after int64, limit int) ([]app.AuditRow, error) {
	if !storable(slug) || limit <= 0 {
		return nil, nil
	}
	const columns = "SELECT sequence, " + auditColumns + " FROM audit "
	if slug == "" {
		return list(ctx, r, "read the audit trail", scanAudit, columns+"WHERE sequence > $1 ORDER BY sequence LIMIT $2", after, int64(limit))
	}
	return list(ctx, r, "read the audit trail", scanAudit,
		columns+"WHERE publisher = $3 AND sequence > $1 ORDER BY sequence LIMIT $2", after, int64(limit), slug)
}

// Heads returns the revision of every publisher and of the registry.
func (r *Reader) Heads(ctx context.Context) (map[string]uint64, error) {
	type entry struct {
		slug     string
		revision uint64
	}
	rows, err := list(ctx, r, "read the heads", func(scan scanner) (entry, error) {
		var e entry
		err := scan(&e.slug, &e.revision)
		return e, err
	}, "SELECT slug, revision FROM heads")
	if err != nil {
		return nil, err
	}
	out := make(map[string]uint64, len(rows))
	for _, e := range rows {
		out[e.slug] = e.revision
	}
	return out, nil
}
