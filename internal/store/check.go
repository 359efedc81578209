package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"sayso/business"
	"sayso/internal/app"
	"sayso/jcs"
)

// invariants hold in every committed state; each query counts the rows that break one.
var invariants = []struct{ broken, sql string }{
	{"publishers have no head", "SELECT count(*) FROM publishers p LEFT JOIN heads h ON h.slug = p.slug WHERE h.slug IS NULL"},
	{"heads have no publisher", "SELECT count(*) FROM heads h LEFT JOIN publishers p ON p.slug = h.slug WHERE p.slug IS NULL AND h.slug <> ''"},
	{"registry heads are missing", "SELECT 1 - count(*) FROM heads WHERE slug = ''"},
	{"generations are ahead of their head", "SELECT count(*) FROM publishers p JOIN heads h ON h.slug = p.slug WHERE p.generation > h.revision"},
	{"records have no publisher", "SELECT count(*) FROM records r LEFT JOIN publishers p ON p.slug = r.publisher WHERE p.slug IS NULL"},
	{"records have a leaf that is not 32 bytes long", "SELECT count(*) FROM records WHERE length(leaf) <> 32"},
	{"keys have no publisher", "SELECT count(*) FROM publisher_keys k LEFT JOIN publishers p ON p.slug = k.publisher WHERE p.slug IS NULL"},
	{"proofs have no publisher", "SELECT count(*) FROM proofs x LEFT JOIN publishers p ON p.slug = x.publisher WHERE p.slug IS NULL"},
	{"verifications have no publisher", "SELECT count(*) FROM verifications v LEFT JOIN publishers p ON p.slug = v.publisher WHERE p.slug IS NULL"},
	{"hosts have no publisher", "SELECT count(*) FROM hosts x LEFT JOIN publishers p ON p.slug = x.publisher WHERE p.slug IS NULL"},
	{"readings have no publisher", "SELECT count(*) FROM readings x LEFT JOIN publishers p ON p.slug = x.publisher WHERE p.slug IS NULL"},
	{"revocation lists have a gap", "SELECT count(*) FROM (SELECT publisher FROM revocations GROUP BY publisher HAVING max(position) <> count(*) OR min(position) <> 1) gaps"},
	{"revocation lists have no head", "SELECT count(*) FROM revocations r LEFT JOIN heads h ON h.slug = r.publisher WHERE h.slug IS NULL"},
	{"tokens have no owner", "SELECT count(*) FROM tokens t LEFT JOIN heads h ON h.slug = t.publisher WHERE h.slug IS NULL"},
	{"sessions sent messages with a gap", "SELECT count(*) FROM (SELECT session FROM gidp_sent GROUP BY session HAVING max(number) <> count(*)) gaps"},
	{"audit trails of interests have a gap", "SELECT count(*) FROM (SELECT lineage FROM gidp_audit GROUP BY lineage HAVING max(sequence) <> count(*)) gaps"},
	{"audit trails of interests end elsewhere than their head", "SELECT count(*) FROM gidp_trails t LEFT JOIN gidp_audit a ON a.lineage = t.lineage AND a.sequence = t.sequence " +
		"WHERE a.hash IS NULL OR a.hash <> t.hash OR EXISTS (SELECT 1 FROM gidp_audit b WHERE b.lineage = t.lineage AND b.sequence > t.sequence)"},
	{"audit trails of interests have no head", "SELECT count(*) FROM (SELECT DISTINCT lineage FROM gidp_audit) a LEFT JOIN gidp_trails t ON t.lineage = a.lineage WHERE t.lineage IS NULL"},
	{"feeds of projections are missing", "SELECT 1 - count(*) FROM gidp_feed"},
	{"projections are ahead of their feed", "SELECT count(*) FROM gidp_published p JOIN gidp_feed f ON p.position > f.position"},
	{"projections share a place in their feed", "SELECT count(*) FROM (SELECT position FROM gidp_published GROUP BY position HAVING count(*) > 1) shared"},
	{"published projections have no endpoint", "SELECT count(*) FROM gidp_published WHERE NOT withdrawn AND endpoint IS NULL"},
}

// Check reads every row through the codecs and counts what breaks an invariant. It reports all it finds, at most a few of a kind.
func (r *Reader) Check(ctx context.Context) error {
	var found []string
	for _, i := range invariants {
		var n int64
		if err := r.one(ctx, "count what breaks an invariant", i.sql, nil, func(scan scanner) error { return scan(&n) }); err != nil {
			return err
		}
		if n > 0 {
			found = append(found, fmt.Sprintf("%d %s", n, i.broken))
		}
	}
	slugs, err := list(ctx, r, "list publishers", func(scan scanner) (string, error) {
		var slug string
		err := scan(&slug)
		return slug, err
	}, "SELECT slug FROM heads ORDER BY slug")
	if err != nil {
		return err
	}
	for _, slug := range slugs {
		if err := r.readThrough(ctx, slug); err != nil {
			found = append(found, detail(err))
		}
		if len(found) > 20 {
			break
		}
	}
	if len(found) > 0 {
		return fmt.Errorf("the database is damaged: %s", strings.Join(found, "; "))
	}
	return nil
}

// detail says what is wrong with a row, where our own codecs found it.
func detail(err error) string {
	if d := (*damage)(nil); errors.As(err, &d) {
		return d.what
	}
	return err.Error()
}

// readThrough reads all rows of one publisher, or of the registry.
func (r *Reader) readThrough(ctx context.Context, slug string) error {
	var errs []error
	keep := func(_ any, err error) { errs = append(errs, err) }
	keep(r.Revocations(ctx, slug))
	keep(r.Tokens(ctx, slug))
	if slug == "" {
		keep(r.RegistryKeys(ctx))
		keep(r.Hosts(ctx))
		errs = append(errs, r.readGIDP(ctx))
		for after, limit := int64(0), 1000; ; {
			rows, err := r.Audit(ctx, "", after, limit)
			errs = append(errs, err)
			if len(rows) < limit {
				break
			}
			after = rows[len(rows)-1].Sequence
		}
		return errors.Join(errs...)
	}
	p, err := r.Publisher(ctx, slug)
	errs = append(errs, err)
	if err == nil {
		for _, doc := range []jcs.Raw{p.Profile, p.Schema, p.Calendar, p.Account} {
			if doc != nil && !bytes.HasPrefix(doc, []byte("{")) {
				errs = append(errs, damaged("a document of %s is no JSON object", slug))
			}
		}
	}
	keep(r.Keys(ctx, slug))
	keep(r.Proofs(ctx, slug))
	keep(r.Verifications(ctx, slug))
	readings, err := r.Readings(ctx, slug, "", "", "", "")
	errs = append(errs, err)
	for _, row := range readings {
		if _, err := business.Canon(row.Value); err != nil {
			errs = append(errs, damaged("the value of a reading of %s, stream %q, is no JSON", slug, row.Stream))
			break
		}
	}
	errs = append(errs, drain(r.Records(ctx, slug, "", "", "")))
	return errors.Join(errs...)
}

// readGIDP reads the rows of agents and of a provider, those of which there may be many by pages.
func (r *Reader) readGIDP(ctx context.Context) error {
	var errs []error
	keep := func(_ any, err error) { errs = append(errs, err) }
	a := &agentReader{r: r}
	keep(a.Interests(ctx))
	keep(a.Projections(ctx, ""))
	keep(a.Explorations(ctx, ""))
	keep(a.Coalitions(ctx, ""))
	keep(a.Entries(ctx, "", false))
	for after := ""; ; {
		page, err := a.Sessions(ctx, "", false, after, maxPage)
		errs = append(errs, err)
		for _, s := range page {
			keep(a.Sent(ctx, s.ID, 0))
		}
		if len(page) < maxPage {
			break
		}
		after = page[len(page)-1].ID
	}
	for position := int64(0); ; {
		page, err := list(ctx, r, "read the feed of projections", scanPublished, selectPublished+"WHERE position > $1 ORDER BY position LIMIT $2", position, int64(maxPage))
		errs = append(errs, err)
		if len(page) < maxPage {
			break
		}
		position = page[len(page)-1].position
	}
	return errors.Join(errs...)
}

func drain(rows iter.Seq2[app.RecordRow, error]) error {
	for row, err := range rows {
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(row.Body, []byte("{")) {
			return damaged("record %s/%q is no JSON object", row.Type, row.ID)
		}
	}
	return nil
}
