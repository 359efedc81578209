package storetest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sayso/business"
	"sayso/internal/app"
)

func storable(texts ...string) bool {
	return !slices.ContainsFunc(texts, func(s string) bool { return !utf8.ValidString(s) || strings.Contains(s, "\x00") })
}

func text(texts ...string) error {
	if !storable(texts...) {
		return errors.New("a text holds U+0000 or is not UTF-8: it cannot be stored")
	}
	return nil
}

func key(s string, most int) error {
	if s == "" || len(s) > most {
		return fmt.Errorf("a key has %d bytes, it needs 1 to %d", len(s), most)
	}
	return text(s)
}

// micros is what is left of a time in a store.
func micros(times ...*time.Time) {
	for _, t := range times {
		if !t.IsZero() {
			*t = time.UnixMicro(t.UnixMicro()).UTC()
		}
	}
}

// refer makes the transaction fail when a row would belong to a publisher that does not exist.
func (t *transaction) refer(slug string) error {
	if _, ok := t.publishers[slug]; !ok {
		t.failed = cmp.Or(t.failed, app.ErrNotFound)
		return app.ErrNotFound
	}
	return nil
}

func (t *transaction) referHead(slug string) error {
	if _, ok := t.heads[slug]; !ok {
		t.failed = cmp.Or(t.failed, app.ErrNotFound)
		return app.ErrNotFound
	}
	return nil
}

func (t *transaction) Advance(_ context.Context, slug string) (uint64, error) {
	if !storable(slug) || len(slug) > 255 {
		return 0, app.ErrNotFound
	}
	t.heads[slug]++
	return t.heads[slug], nil
}

func (t *transaction) Hold(_ context.Context, slug string) (uint64, error) {
	revision, ok := t.heads[slug]
	if !ok {
		return 0, app.ErrNotFound
	}
	return revision, nil
}

// accept is what a store keeps of a row.
func accept(row *app.PublisherRow) (app.PublisherRow, error) {
	r := *row
	if err := cmp.Or(key(r.Slug, 255), text(r.Region, string(r.Lifecycle), r.Reason, r.ContentHash)); err != nil {
		return r, err
	}
	if r.Generation > math.MaxInt64 {
		return r, errors.New("generation is beyond 2^63-1")
	}
	r.Revision = 0
	r.Profile, r.Schema, r.Calendar, r.Account = document(r.Profile), document(r.Schema), document(r.Calendar), document(r.Account)
	micros(&r.CreatedAt, &r.ChangedAt, &r.DataUpdated)
	return r, nil
}

func document(doc []byte) []byte {
	if len(doc) == 0 {
		return nil
	}
	return bytes.Clone(doc)
}

func (t *transaction) InsertPublisher(_ context.Context, row *app.PublisherRow) error {
	r, err := accept(row)
	if err != nil {
		return err
	}
	if _, ok := t.publishers[r.Slug]; ok {
		return app.ErrExists
	}
	t.publishers[r.Slug] = r
	t.heads[r.Slug] += 0
	return nil
}

func (t *transaction) UpdatePublisher(_ context.Context, row *app.PublisherRow) error {
	r, err := accept(row)
	if err != nil {
		return err
	}
	if _, ok := t.publishers[r.Slug]; !ok {
		return app.ErrNotFound
	}
	t.publishers[r.Slug] = r
	return nil
}

// writable is the records of a publisher, copied once for this transaction.
func (t *transaction) writable(slug string) map[app.RecordKey]app.RecordRow {
	if !t.own[slug] {
		t.own[slug] = true
		if t.records[slug] = maps.Clone(t.records[slug]); t.records[slug] == nil {
			t.records[slug] = map[app.RecordKey]app.RecordRow{}
		}
	}
	return t.records[slug]
}

func (t *transaction) PutRecords(_ context.Context, slug string, rows iter.Seq2[app.RecordRow, error]) (int, error) {
	count := 0
	for row, err := range rows {
		if err == nil {
			err = cmp.Or(key(row.Type, 255), key(row.ID, 1024))
		}
		if err == nil && len(row.Body) == 0 {
			err = errors.New("a record has no body")
		}
		if err != nil {
			t.failed = cmp.Or(t.failed, err)
			return count, err
		}
		count++
		row.Body = bytes.Clone(row.Body)
		micros(&row.UpdatedAt)
		t.writable(slug)[row.RecordKey] = row
	}
	if count == 0 {
		return 0, nil
	}
	return count, t.refer(slug)
}

func (t *transaction) DeleteRecords(_ context.Context, slug string, keys iter.Seq[app.RecordKey]) error {
	for k := range keys {
		delete(t.writable(slug), k)
	}
	return nil
}

func (t *transaction) PutKey(_ context.Context, row *app.KeyRow) error {
	if err := cmp.Or(key(row.Publisher, 255), key(row.Entry.Kid, 255)); err != nil {
		return err
	}
	r := *row
	micros(&r.CreatedAt, &r.RetiredAt, &r.RevokedAt)
	t.keys[[2]string{r.Publisher, r.Entry.Kid}] = r
	return t.refer(r.Publisher)
}

func (t *transaction) PutRegistryKey(_ context.Context, row *app.RegistryKeyRow) error {
	if err := key(row.Entry.Kid, 255); err != nil {
		return err
	}
	r := *row
	micros(&r.InstalledAt, &r.RevokedAt)
	t.registry[r.Entry.Kid] = r
	return nil
}

func (t *transaction) AppendRevocation(_ context.Context, slug string, entry *business.RevocationEntry) error {
	if err := text(slug); err != nil {
		return err
	}
	t.revocations[slug] = append(t.revocations[slug], *entry)
	return t.referHead(slug)
}

func (t *transaction) PutProof(_ context.Context, row *app.ProofRow) error {
	if err := cmp.Or(key(row.ID, 255), key(row.Publisher, 255), key(row.Host, 255), text(row.Method), key(row.State, 255)); err != nil {
		return err
	}
	if len(row.Nonce) != 16 {
		return errors.New("a proof's nonce is not 16 bytes long")
	}
	r := *row
	r.Nonce, r.Evidence = bytes.Clone(r.Nonce), document(r.Evidence)
	micros(&r.CreatedAt, &r.ExpiresAt, &r.VerifiedAt, &r.ValidUntil, &r.NextCheck, &r.LastFailure)
	t.proofs[r.ID] = r
	return t.refer(r.Publisher)
}

func (t *transaction) PutVerification(_ context.Context, row *app.VerificationRow) error {
	if err := cmp.Or(key(row.Publisher, 255), key(row.Decision, 255), text(row.RecordedBy, row.ConfirmedBy)); err != nil {
		return err
	}
	r := *row
	micros(&r.RecordedAt, &r.ConfirmedAt, &r.WithdrawnAt)
	t.verifications[[2]string{r.Publisher, r.Decision}] = r
	return t.refer(r.Publisher)
}

func (t *transaction) PutHost(_ context.Context, host, slug string) error {
	if err := cmp.Or(key(host, 255), key(slug, 255)); err != nil {
		return err
	}
	if owner, ok := t.hosts[host]; ok && owner != slug {
		return app.ErrExists
	}
	t.hosts[host] = slug
	return t.refer(slug)
}

func (t *transaction) DeleteHost(_ context.Context, host string) error {
	delete(t.hosts, host)
	return nil
}

func (t *transaction) PutToken(_ context.Context, row *app.TokenRow) error {
	if err := cmp.Or(key(row.ID, 255), text(row.Publisher, row.Name, row.Parent), text(row.Scopes...)); err != nil {
		return err
	}
	r := *row
	r.Scopes = append([]string{}, r.Scopes...)
	micros(&r.CreatedAt, &r.RevokedAt)
	t.tokens[r.Hash] = r
	return t.referHead(r.Publisher)
}

func (t *transaction) AppendAudit(_ context.Context, row *app.AuditRow) error {
	if err := text(row.Actor, row.Action, row.Publisher, row.Target, row.OldHash, row.NewHash, row.Reason); err != nil {
		return err
	}
	r := *row
	r.Sequence = int64(len(t.audit)) + 1
	micros(&r.At)
	t.audit = append(t.audit, r)
	return nil
}
