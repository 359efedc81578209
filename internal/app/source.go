package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"iter"
	"strings"

	"sayso/business"
	"sayso/business/bizhttp"
)

// A registry is what the HTTP surface serves.
var _ bizhttp.Source = (*Registry)(nil)

// Publication returns what is served about a publisher, whatever its lifecycle.
func (r *Registry) Publication(_ context.Context, slug string) (*business.Publication, error) {
	_, e, err := r.entry(slug)
	if err != nil {
		return nil, err
	}
	return e.publication, nil
}

// ByHost finds the publisher that a host routes to.
func (r *Registry) ByHost(ctx context.Context, host string) (*business.Publication, error) {
	s, err := r.current()
	if err != nil {
		return nil, err
	}
	slug, ok := s.hosts[host]
	if !ok {
		return nil, bizhttp.ErrUnknown
	}
	return r.Publication(ctx, slug)
}

// Publications lists every publisher in the order of slugs. One that cannot be read makes the list unavailable: a list without it would say that it is not there.
func (r *Registry) Publications(context.Context) ([]*business.Publication, error) {
	s, err := r.current()
	if err != nil {
		return nil, err
	}
	out := make([]*business.Publication, len(s.order))
	for i, e := range s.order {
		if out[i] = e.publication; out[i] == nil {
			return nil, bizhttp.ErrUnavailable
		}
	}
	return out, nil
}

// Record returns one record as it is stored: without url and publisher.
func (r *Registry) Record(ctx context.Context, slug, typ, id string) (*business.Record, error) {
	if !business.ValidType(typ) || !business.ValidID(id) { // names come from URLs; a store may not even be able to look for them
		_, _, err := r.entry(slug)
		return nil, cmp.Or(err, bizhttp.ErrNoRecord)
	}
	var record *business.Record
	err := r.read(ctx, slug, func(rd Reader) error {
		row, err := rd.Record(ctx, slug, typ, id)
		if errors.Is(err, ErrNotFound) {
			return bizhttp.ErrNoRecord
		}
		if err != nil {
			return err
		}
		record, err = decodeRecord(*row)
		return err
	})
	return record, err
}

// RecordPage returns at most limit records of a type ("" = all) behind (afterType, afterID), in the order of (type, id).
func (r *Registry) RecordPage(ctx context.Context, slug, typ string, afterType, afterID string, limit int) ([]business.Record, error) {
	var page []business.Record
	err := r.read(ctx, slug, func(rd Reader) error {
		page = []business.Record{}
		named := (typ == "" || business.ValidType(typ)) && (afterType == "" || business.ValidType(afterType)) && (afterID == "" || business.ValidID(afterID))
		if limit <= 0 || !named {
			return nil
		}
		for row, err := range rd.Records(ctx, slug, typ, afterType, afterID) {
			if err != nil {
				return err
			}
			record, err := decodeRecord(row)
			if err != nil {
				return err
			}
			if page = append(page, *record); len(page) == limit {
				break
			}
		}
		return nil
	})
	return page, err
}

// read runs a read of a publisher's records. What the store could not do is unavailable.
func (r *Registry) read(ctx context.Context, slug string, f func(Reader) error) error {
	if _, _, err := r.entry(slug); err != nil {
		return err
	}
	return r.readable(slug, r.store.View(ctx, f))
}

func (r *Registry) readable(slug string, err error) error {
	if err == nil || errors.Is(err, bizhttp.ErrNoRecord) || errors.Is(err, context.Canceled) {
		return err
	}
	r.log.Error("records not read", "publisher", slug, "cause", err.Error())
	return bizhttp.ErrUnavailable
}

// Dump calls f with a publication and all its records in the order of (type, id), both of one snapshot. An error of the store reaches f in the sequence.
func (r *Registry) Dump(ctx context.Context, slug string, f func(*business.Publication, iter.Seq2[*business.Record, error]) error) error {
	_, e, err := r.entry(slug)
	if err != nil {
		return err
	}
	var answered error
	began := false
	err = r.store.View(ctx, func(rd Reader) error {
		if began {
			return errors.New("the snapshot was lost while it was sent")
		}
		row, err := rd.Publisher(ctx, slug)
		if err != nil {
			return err
		}
		publication, _, err := readPublication(ctx, rd, row, e.hosts, nil)
		if err != nil {
			return err
		}
		began = true
		answered = f(publication, decoded(rd.Records(ctx, slug, "", "", "")))
		return nil
	})
	if err != nil {
		return r.readable(slug, err)
	}
	return answered
}

func decoded(rows iter.Seq2[RecordRow, error]) iter.Seq2[*business.Record, error] {
	return func(yield func(*business.Record, error) bool) {
		for row, err := range rows {
			var record *business.Record
			if err == nil {
				record, err = decodeRecord(row)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(record, nil) {
				return
			}
		}
	}
}

// Owner checks a bearer credential: nil when it is a live token of that publisher, else ErrCredential.
func (r *Registry) Owner(ctx context.Context, bearer, slug string) error {
	if !strings.HasPrefix(bearer, ownerPrefix) {
		return bizhttp.ErrCredential
	}
	var row *TokenRow
	err := r.store.View(ctx, func(rd Reader) (err error) {
		row, err = rd.Token(ctx, sha256.Sum256([]byte(bearer)))
		return err
	})
	switch {
	case errors.Is(err, ErrNotFound):
		return bizhttp.ErrCredential
	case err != nil:
		return r.readable(slug, err)
	case row.Publisher == "" || row.Publisher != slug || !row.RevokedAt.IsZero():
		return bizhttp.ErrCredential
	}
	return nil
}
