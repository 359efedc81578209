package store

import (
	"context"
	"errors"
	"iter"
	"time"

	"sayso/gidp/provider"
	"sayso/gidp/providerhttp"
	"sayso/internal/app"
)

// NewProvider returns what a discovery provider keeps in an engine.
func NewProvider(e Engine) providerhttp.Rows { return published{e} }

type published struct{ engine Engine }

// placed is a row with its place in the feed.
type placed struct {
	provider.Row
	position int64
}

const selectPublished = "SELECT " + publishedColumns + ", position FROM gidp_published "

// rows reads one list in a transaction of its own.
func rows[T any](ctx context.Context, e Engine, what string, scan func(scanner) (T, error), sql string, args ...any) (out []T, err error) {
	err = e.Read(ctx, func(r *Reader) (err error) { out, err = list(ctx, r, what, scan, sql, args...); return err })
	return out, err
}

// All implements providerhttp.Rows. The rows are read by pages, each of one committed state: what was committed after the position may or may not be in them.
func (p published) All(ctx context.Context) (iter.Seq2[provider.Row, error], int64, error) {
	const what = "list projections"
	position, err := rows(ctx, p.engine, what, func(scan scanner) (n int64, err error) { err = scan(&n); return n, err }, "SELECT position FROM gidp_feed WHERE id = 1")
	if err != nil {
		return nil, 0, err
	}
	if len(position) != 1 {
		return nil, 0, &Failure{What: what, Class: Damaged, Cause: damaged("the feed of projections has no position")}
	}
	return func(yield func(provider.Row, error) bool) {
		for after := []byte{}; ; {
			page, err := rows(ctx, p.engine, what, scanPublished, selectPublished+"WHERE NOT withdrawn AND ref > $1 ORDER BY ref LIMIT $2", after, int64(maxPage))
			if err != nil {
				yield(provider.Row{}, err)
				return
			}
			for _, row := range page {
				if !yield(row.Row, nil) {
					return
				}
			}
			if len(page) < maxPage {
				return
			}
			after = page[len(page)-1].Ref[:]
		}
	}, position[0], nil
}

// Commit implements providerhttp.Rows. The position is taken in the same transaction, so that positions are in the order of commits and have no gap.
func (p published) Commit(ctx context.Context, row provider.Row) error {
	const what = "keep a projection"
	values, err := publishedValues(&row)
	if err != nil {
		return err
	}
	return p.engine.Write(ctx, func(w *Writer) error {
		if err := w.s.Claim("gidp:feed"); err != nil {
			return w.fail(ctx, what, err)
		}
		var position int64
		err := w.one(ctx, what, "UPDATE gidp_feed SET position = position + 1 WHERE id = 1 RETURNING position", nil, func(scan scanner) error { return scan(&position) })
		if err != nil {
			return err
		}
		// A reference that is taken, an owner or an endpoint of another projection: the unique indices know.
		sql := "INSERT INTO gidp_published (" + publishedColumns + ", position) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING"
		if row.Revision > 1 {
			sql = "UPDATE gidp_published SET revision = $3, withdrawn = $4, expires_at = $5, endpoint = $6, labels = $7, position = $8 " +
				"WHERE ref = $1 AND owner = $2 AND revision = $3 - 1 AND NOT withdrawn AND NOT EXISTS (SELECT 1 FROM gidp_published other " +
				"WHERE other.endpoint = $6 AND NOT other.withdrawn AND other.ref <> $1)"
		}
		n, err := w.exec(ctx, what, sql, append(values[:len(values):len(values)], position)...)
		if err == nil && n == 0 {
			err = providerhttp.ErrStale
		}
		return err
	})
}

// single is the first of rows, if there is one.
func single(rows []placed, err error) (provider.Row, bool, error) {
	if err != nil || len(rows) == 0 {
		return provider.Row{}, false, err
	}
	return rows[0].Row, true, nil
}

// Projection implements providerhttp.Rows.
func (p published) Projection(ctx context.Context, ref provider.Ref) (provider.Row, bool, error) {
	return single(rows(ctx, p.engine, "read a projection", scanPublished, selectPublished+"WHERE ref = $1", ref[:]))
}

// OfKey implements providerhttp.Rows: the row that is not withdrawn, else the one that was withdrawn last.
func (p published) OfKey(ctx context.Context, key provider.Thumbprint) (provider.Row, bool, error) {
	return single(rows(ctx, p.engine, "read a projection", scanPublished, selectPublished+"WHERE owner = $1 ORDER BY withdrawn, position DESC LIMIT 1", key[:]))
}

// Changes implements providerhttp.Rows.
func (p published) Changes(ctx context.Context, position int64, limit int) ([]provider.Row, int64, error) {
	if limit <= 0 {
		return nil, position, nil
	}
	page, err := rows(ctx, p.engine, "read the feed of projections", scanPublished, selectPublished+"WHERE position > $1 ORDER BY position LIMIT $2", position, int64(limit))
	if err != nil {
		return nil, position, err
	}
	var out []provider.Row
	for _, row := range page {
		out, position = append(out, row.Row), row.position
	}
	return out, position, nil
}

// Expire implements providerhttp.Rows. A withdrawn row goes when it would have expired: until then its key and reference are known as used. Reports go with it.
func (p published) Expire(ctx context.Context, before time.Time, limit int) error {
	if limit <= 0 {
		return nil
	}
	return p.engine.Write(ctx, func(w *Writer) error {
		_, err := w.exec(ctx, "delete expired projections", "DELETE FROM gidp_published WHERE ref IN (SELECT ref FROM gidp_published "+
			"WHERE expires_at < $1 ORDER BY expires_at, ref LIMIT $2)", before.UnixMicro(), int64(limit))
		if err != nil {
			return err
		}
		_, err = w.exec(ctx, "delete reports of what is gone", "DELETE FROM gidp_reports WHERE NOT EXISTS (SELECT 1 FROM gidp_published WHERE gidp_published.ref = gidp_reports.ref)")
		return err
	})
}

// AddReport implements providerhttp.Rows.
func (p published) AddReport(ctx context.Context, r providerhttp.Report) error {
	values, err := reportValues(&r)
	return p.engine.Write(ctx, func(w *Writer) error {
		return w.put(ctx, "keep a report", "INSERT INTO gidp_reports ("+reportColumns+") VALUES ($1, $2, $3, $4, $5) ON CONFLICT (ref, reporter) DO UPDATE SET "+
			"owner = excluded.owner, reason = excluded.reason, at = excluded.at", values, err)
	})
}

// Reports implements providerhttp.Rows.
func (p published) Reports(ctx context.Context, limit int) ([]providerhttp.Report, error) {
	if limit <= 0 {
		return nil, nil
	}
	return rows(ctx, p.engine, "list reports", scanReport, "SELECT "+reportColumns+" FROM gidp_reports ORDER BY at DESC NULLS LAST, ref, reporter LIMIT $1", int64(limit))
}

// PutBan implements providerhttp.Rows. Its own time is the present; bans that are over by then are deleted.
func (p published) PutBan(ctx context.Context, b providerhttp.Ban) error {
	const what = "write a ban"
	values, err := banValues(&b)
	if err != nil {
		return err
	}
	return p.engine.Write(ctx, func(w *Writer) error {
		_, err := w.exec(ctx, what, "DELETE FROM gidp_bans WHERE until <= $1 OR key = $2 AND network = $3", b.At.UnixMicro(), b.Key[:], b.Network)
		if err != nil || !b.Until.After(b.At) {
			return err
		}
		return w.put(ctx, what, "INSERT INTO gidp_bans ("+banColumns+") VALUES ($1, $2, $3, $4, $5)", values, nil)
	})
}

// Bans implements providerhttp.Rows: keys, then networks.
func (p published) Bans(ctx context.Context) ([]providerhttp.Ban, error) {
	return rows(ctx, p.engine, "list bans", scanBan, "SELECT "+banColumns+" FROM gidp_bans ORDER BY network, key")
}

// Secret implements providerhttp.Rows.
func (p published) Secret(ctx context.Context, fresh [32]byte) (secret [32]byte, err error) {
	const what = "read the secret of the provider"
	err = p.engine.Write(ctx, func(w *Writer) error {
		if _, err := w.exec(ctx, what, "UPDATE gidp_feed SET secret = $1 WHERE id = 1 AND secret IS NULL", fresh[:]); err != nil {
			return err
		}
		kept, err := list(ctx, &w.Reader, what, scanHash, "SELECT secret FROM gidp_feed WHERE id = 1")
		if err == nil && len(kept) == 0 {
			err = errors.Join(app.ErrNotFound, damaged("the feed of projections is missing"))
		}
		if err == nil {
			secret = kept[0]
		}
		return err
	})
	return secret, err
}

var _ providerhttp.Rows = published{}
