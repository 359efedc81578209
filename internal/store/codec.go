package store

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"sayso/business"
	"sayso/internal/app"
	"sayso/jcs"
)

// Bounds of texts that are part of a key, in bytes: what every engine can index.
const (
	maxName   = 255
	maxID     = 1024
	maxStream = 64 // a reading's key holds two ids, and PostgreSQL indexes at most 2704 bytes
)

// storable reports whether both engines can hold a text. What they cannot hold is not there either.
func storable(texts ...string) bool {
	for _, s := range texts {
		if !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0 {
			return false
		}
	}
	return true
}

// encoder turns values into columns and keeps the first refusal.
type encoder struct{ err error }

func (e *encoder) refuse(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf(format, args...)
	}
}

func (e *encoder) text(what, s string) string {
	if !storable(s) {
		e.refuse("%s holds U+0000 or is not UTF-8: it cannot be stored", what)
	}
	return s
}

func (e *encoder) key(what, s string, most int) string {
	if s == "" || len(s) > most {
		e.refuse("%s has %d bytes, it needs 1 to %d", what, len(s), most)
	}
	return e.text(what, s)
}

func (e *encoder) number(what string, n uint64) int64 {
	if n > math.MaxInt64 {
		e.refuse("%s %d is beyond 2^63-1", what, n)
	}
	return int64(n)
}

func (e *encoder) document(what string, v any) []byte {
	data, err := jcs.Encode(v)
	if err != nil {
		e.refuse("%s cannot be written as JSON: %v", what, err)
	}
	return data
}

// Micros is a time as it is stored: microseconds since 1970 in UTC, NULL for the zero time.
func Micros(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	n := t.UnixMicro()
	return &n
}

// raw stores an absent document as NULL.
func raw(doc jcs.Raw) []byte {
	if len(doc) == 0 {
		return nil
	}
	return doc
}

// moment is the scan target of a time.
type moment struct{ n *int64 }

func (m moment) time() time.Time {
	if m.n == nil {
		return time.Time{}
	}
	return time.UnixMicro(*m.n).UTC()
}

// damage is a row that no program of ours would have written.
type damage struct{ what string }

func (d *damage) Error() string { return d.what }

func damaged(format string, args ...any) error { return &damage{fmt.Sprintf(format, args...)} }

func decode(what string, data []byte, v any) error {
	if err := jcs.DecodeKnown(data, v); err != nil {
		return damaged("%s cannot be read: %v", what, err)
	}
	return nil
}

func fixed(dst []byte, what string, src []byte) error {
	if len(src) != len(dst) {
		return damaged("%s has %d bytes, not %d", what, len(src), len(dst))
	}
	copy(dst, src)
	return nil
}

// scanner reads the columns of one row into its arguments.
type scanner func(dst ...any) error

// Columns are written once, so that what is inserted and what is scanned cannot drift apart.
const publisherColumns = "slug, created_at, region, lifecycle, suspended, reason, profile, schema, calendar, account, delegated, incomplete, " +
	"quota_records, quota_tokens, generation, content_hash, changed_at, data_updated"

func publisherValues(row *app.PublisherRow) ([]any, error) {
	var e encoder
	out := []any{
		e.key("the slug", row.Slug, maxName), Micros(row.CreatedAt), e.text("the region", row.Region), e.text("the lifecycle", string(row.Lifecycle)),
		row.Suspended, e.text("the reason", row.Reason), raw(row.Profile), raw(row.Schema), raw(row.Calendar), raw(row.Account), row.Delegated,
		row.Incomplete, int64(row.Quota.Records), int64(row.Quota.Tokens), e.number("generation", row.Generation),
		e.text("the content hash", row.ContentHash), Micros(row.ChangedAt), Micros(row.DataUpdated),
	}
	return out, e.err
}

// scanPublisher reads publisherColumns and the revision behind them.
func scanPublisher(scan scanner) (app.PublisherRow, error) {
	var row app.PublisherRow
	var created, changed, updated moment
	err := scan(&row.Slug, &created.n, &row.Region, &row.Lifecycle, &row.Suspended, &row.Reason, (*[]byte)(&row.Profile), (*[]byte)(&row.Schema),
		(*[]byte)(&row.Calendar), (*[]byte)(&row.Account), &row.Delegated, &row.Incomplete, &row.Quota.Records, &row.Quota.Tokens, &row.Generation,
		&row.ContentHash, &changed.n, &updated.n, &row.Revision)
	row.CreatedAt, row.ChangedAt, row.DataUpdated = created.time(), changed.time(), updated.time()
	return row, err
}

const leafColumns = "type, id, leaf, updated_at"

func scanLeaf(scan scanner, more ...any) (app.RecordRow, error) {
	var row app.RecordRow
	var leaf []byte
	var updated moment
	err := scan(append([]any{&row.Type, &row.ID, &leaf, &updated.n}, more...)...)
	if err == nil {
		err = fixed(row.Leaf[:], "a leaf", leaf)
	}
	row.UpdatedAt = updated.time()
	return row, err
}

func scanRecord(scan scanner) (app.RecordRow, error) {
	var body []byte
	row, err := scanLeaf(scan, &body)
	row.Body = body
	return row, err
}

func checkRecord(row *app.RecordRow) error {
	var e encoder
	e.key("the record's type", row.Type, maxName)
	e.key("the record's id", row.ID, maxID)
	if len(row.Body) == 0 {
		e.refuse("record %q has no body", row.ID)
	}
	return e.err
}

const keyColumns = "publisher, kid, entry, created_at, retired_at, revoked_at"

func keyValues(row *app.KeyRow) ([]any, error) {
	var e encoder
	out := []any{e.key("the publisher", row.Publisher, maxName), e.key("the kid", row.Entry.Kid, maxName), e.document("the key", row.Entry),
		Micros(row.CreatedAt), Micros(row.RetiredAt), Micros(row.RevokedAt)}
	return out, e.err
}

func scanKey(scan scanner) (app.KeyRow, error) {
	var row app.KeyRow
	var kid string
	var entry []byte
	var created, retired, revoked moment
	err := scan(&row.Publisher, &kid, &entry, &created.n, &retired.n, &revoked.n)
	if err == nil {
		err = decode("a key", entry, &row.Entry)
	}
	if err == nil && row.Entry.Kid != kid {
		err = damaged("the key %q is stored under another kid than its own", kid)
	}
	row.CreatedAt, row.RetiredAt, row.RevokedAt = created.time(), retired.time(), revoked.time()
	return row, err
}

const registryKeyColumns = "kid, entry, installed_at, revoked_at"

func registryKeyValues(row *app.RegistryKeyRow) ([]any, error) {
	var e encoder
	out := []any{e.key("the kid", row.Entry.Kid, maxName), e.document("the key", row.Entry), Micros(row.InstalledAt), Micros(row.RevokedAt)}
	return out, e.err
}

func scanRegistryKey(scan scanner) (app.RegistryKeyRow, error) {
	var row app.RegistryKeyRow
	var kid string
	var entry []byte
	var installed, revoked moment
	err := scan(&kid, &entry, &installed.n, &revoked.n)
	if err == nil {
		err = decode("a registry key", entry, &row.Entry)
	}
	if err == nil && row.Entry.Kid != kid {
		err = damaged("the registry key %q is stored under another kid than its own", kid)
	}
	row.InstalledAt, row.RevokedAt = installed.time(), revoked.time()
	return row, err
}

func scanRevocation(scan scanner) (business.RevocationEntry, error) {
	var entry business.RevocationEntry
	var data []byte
	err := scan(&data)
	if err == nil {
		err = decode("a revocation", data, &entry)
	}
	return entry, err
}

const proofColumns = "id, publisher, host, method, nonce, created_at, expires_at, state, verified_at, valid_until, next_check, failed_days, last_failure, evidence"

func proofValues(row *app.ProofRow) ([]any, error) {
	var e encoder
	if len(row.Nonce) != 16 {
		e.refuse("the proof's nonce has %d bytes, not 16", len(row.Nonce))
	}
	out := []any{e.key("the proof's id", row.ID, maxName), e.key("the publisher", row.Publisher, maxName), e.key("the host", row.Host, maxName),
		e.text("the method", row.Method), row.Nonce, Micros(row.CreatedAt), Micros(row.ExpiresAt), e.key("the proof's state", row.State, maxName),
		Micros(row.VerifiedAt), Micros(row.ValidUntil), Micros(row.NextCheck), int64(row.FailedDays), Micros(row.LastFailure), raw(row.Evidence)}
	return out, e.err
}

func scanProof(scan scanner) (app.ProofRow, error) {
	var row app.ProofRow
	var created, expires, verified, valid, next, failure moment
	err := scan(&row.ID, &row.Publisher, &row.Host, &row.Method, &row.Nonce, &created.n, &expires.n, &row.State, &verified.n, &valid.n, &next.n,
		&row.FailedDays, &failure.n, (*[]byte)(&row.Evidence))
	row.CreatedAt, row.ExpiresAt, row.VerifiedAt = created.time(), expires.time(), verified.time()
	row.ValidUntil, row.NextCheck, row.LastFailure = valid.time(), next.time(), failure.time()
	return row, err
}

const verificationColumns = "publisher, decision, recorded_by, recorded_at, confirmed_by, confirmed_at, withdrawn_at"

func verificationValues(row *app.VerificationRow) ([]any, error) {
	var e encoder
	out := []any{e.key("the publisher", row.Publisher, maxName), e.key("the decision", row.Decision, maxName), e.text("the recorder", row.RecordedBy),
		Micros(row.RecordedAt), e.text("the confirmer", row.ConfirmedBy), Micros(row.ConfirmedAt), Micros(row.WithdrawnAt)}
	return out, e.err
}

func scanVerification(scan scanner) (app.VerificationRow, error) {
	var row app.VerificationRow
	var recorded, confirmed, withdrawn moment
	err := scan(&row.Publisher, &row.Decision, &row.RecordedBy, &recorded.n, &row.ConfirmedBy, &confirmed.n, &withdrawn.n)
	row.RecordedAt, row.ConfirmedAt, row.WithdrawnAt = recorded.time(), confirmed.time(), withdrawn.time()
	return row, err
}

const tokenColumns = "hash, id, publisher, name, scopes, parent, created_at, revoked_at"

func tokenValues(row *app.TokenRow) ([]any, error) {
	var e encoder
	for _, scope := range row.Scopes {
		e.text("a scope", scope)
	}
	out := []any{row.Hash[:], e.key("the token's id", row.ID, maxName), e.text("the publisher", row.Publisher), e.text("the name", row.Name),
		e.document("the scopes", row.Scopes), e.text("the parent", row.Parent), Micros(row.CreatedAt), Micros(row.RevokedAt)}
	return out, e.err
}

func scanToken(scan scanner) (app.TokenRow, error) {
	var row app.TokenRow
	var hash, scopes []byte
	var created, revoked moment
	err := scan(&hash, &row.ID, &row.Publisher, &row.Name, &scopes, &row.Parent, &created.n, &revoked.n)
	if err == nil {
		err = fixed(row.Hash[:], "a token's hash", hash)
	}
	if err == nil {
		err = decode("the scopes of a token", scopes, &row.Scopes)
	}
	row.CreatedAt, row.RevokedAt = created.time(), revoked.time()
	return row, err
}

const auditColumns = "at, actor, action, publisher, target, old_hash, new_hash, reason"

func auditValues(row *app.AuditRow) ([]any, error) {
	var e encoder
	out := []any{Micros(row.At), e.text("the actor", row.Actor), e.text("the action", row.Action), e.text("the publisher", row.Publisher),
		e.text("the target", row.Target), e.text("the old hash", row.OldHash), e.text("the new hash", row.NewHash), e.text("the reason", row.Reason)}
	return out, e.err
}

func scanAudit(scan scanner) (app.AuditRow, error) {
	var row app.AuditRow
	var at moment
	err := scan(&row.Sequence, &at.n, &row.Actor, &row.Action, &row.Publisher, &row.Target, &row.OldHash, &row.NewHash, &row.Reason)
	row.At = at.time()
	return row, err
}
