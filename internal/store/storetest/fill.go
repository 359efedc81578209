package storetest

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"sayso/business"
	"sayso/internal/app"
	"sayso/jcs"
)

// day is the moment from which the times of sample rows are counted.
var day = time.Date(2026, 3, 1, 9, 30, 0, 123456000, time.UTC)

func publisher(slug string) *app.PublisherRow {
	return &app.PublisherRow{Slug: slug, CreatedAt: day, Region: "GB", Lifecycle: business.Draft, Profile: jcs.Raw(`{"display_name":"` + slug + `"}`)}
}

func record(typ, id, body string) app.RecordRow {
	row := app.RecordRow{RecordKey: app.RecordKey{Type: typ, ID: id}, UpdatedAt: day.Add(time.Hour), Body: []byte(body)}
	copy(row.Leaf[:], fmt.Sprintf("%-32.32s", typ+"/"+id))
	return row
}

func each[T any](rows ...T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// contents is everything a store holds, with audit numbers counted from 1, since stores may leave gaps.
type contents struct {
	Heads         map[string]uint64
	Publishers    []app.PublisherRow
	Records       map[string][]app.RecordRow
	Leaves        map[string][]app.RecordRow
	Counts        map[string][]business.TypeCount
	Keys          map[string][]app.KeyRow
	RegistryKeys  []app.RegistryKeyRow
	Revocations   map[string][]business.RevocationEntry
	Proofs        map[string][]app.ProofRow
	ByHost        map[string][]app.ProofRow
	Due           []app.ProofRow
	Verifications map[string][]app.VerificationRow
	Hosts         map[string]string
	Tokens        map[string][]app.TokenRow
	Readings      map[string][]app.ReadingRow
	Audit         []app.AuditRow
}

// dump reads a whole store.
func dump(t testing.TB, s app.Store) contents {
	t.Helper()
	ctx := context.Background()
	c := contents{Records: map[string][]app.RecordRow{}, Leaves: map[string][]app.RecordRow{}, Counts: map[string][]business.TypeCount{},
		Keys: map[string][]app.KeyRow{}, Revocations: map[string][]business.RevocationEntry{}, Proofs: map[string][]app.ProofRow{},
		ByHost: map[string][]app.ProofRow{}, Verifications: map[string][]app.VerificationRow{}, Tokens: map[string][]app.TokenRow{},
		Readings: map[string][]app.ReadingRow{}}
	var err error
	c.Heads, err = s.Heads(ctx)
	ok(t, err)
	ok(t, s.View(ctx, func(r app.Reader) error {
		c.Publishers = must(r.Publishers(ctx, "", 1000))(t)
		for slug := range c.Heads {
			c.Records[slug] = collect(t, r.Records(ctx, slug, "", "", ""))
			c.Leaves[slug] = collect(t, r.Leaves(ctx, slug))
			c.Counts[slug] = must(r.RecordCounts(ctx, slug))(t)
			c.Keys[slug] = must(r.Keys(ctx, slug))(t)
			c.Revocations[slug] = must(r.Revocations(ctx, slug))(t)
			c.Proofs[slug] = must(r.Proofs(ctx, slug))(t)
			for _, p := range c.Proofs[slug] {
				c.ByHost[p.Host] = must(r.ProofsByHost(ctx, p.Host))(t)
			}
			c.Verifications[slug] = must(r.Verifications(ctx, slug))(t)
			c.Tokens[slug] = must(r.Tokens(ctx, slug))(t)
			c.Readings[slug] = must(r.Readings(ctx, slug, "", "", "", ""))(t)
			same(t, must(r.CountReadings(ctx, slug))(t), len(c.Readings[slug]))
		}
		c.RegistryKeys = must(r.RegistryKeys(ctx))(t)
		c.Due = must(r.ProofsDue(ctx, day.Add(24*time.Hour), 100))(t)
		c.Hosts = must(r.Hosts(ctx))(t)
		c.Audit = must(r.Audit(ctx, "", 0, 100000))(t)
		return nil
	}))
	for i := range c.Audit {
		c.Audit[i].Sequence = int64(i) + 1
	}
	return c
}

func collect(t testing.TB, rows iter.Seq2[app.RecordRow, error]) []app.RecordRow {
	t.Helper()
	var out []app.RecordRow
	for row, err := range rows {
		ok(t, err)
		out = append(out, row)
	}
	return out
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		ok(t, err)
		return v
	}
}

// Fill writes rows of every kind, with every column set and with every column empty that may be.
func Fill(t testing.TB, s app.Store) {
	t.Helper()
	Fill1(t, s)
	FillReadings(t, s)
}

// FillReadings writes what Fill writes and Fill1 does not.
func FillReadings(t testing.TB, s app.Store) {
	t.Helper()
	ctx := context.Background()
	ok(t, s.Update(ctx, "fill readings", func(w app.Writer) error { return fillReadings(ctx, w) }))
}

// Fill1 writes what schema 1 can hold: everything but readings.
func Fill1(t testing.TB, s app.Store) {
	t.Helper()
	ctx := context.Background()
	ok(t, s.Update(ctx, "fill", func(w app.Writer) error { return fill(ctx, w) }))
}

func fill(ctx context.Context, w app.Writer) error {
	var errs []error
	do := func(err error) { errs = append(errs, err) }
	advance := func(slug string) { _, err := w.Advance(ctx, slug); do(err) }
	put := func(slug string, rows ...app.RecordRow) { _, err := w.PutRecords(ctx, slug, each(rows...)); do(err) }
	advance("")
	do(w.InsertPublisher(ctx, publisher("bare")))
	do(w.InsertPublisher(ctx, publisher("full")))
	advance("full")
	advance("full")
	do(w.UpdatePublisher(ctx, &app.PublisherRow{Slug: "full", CreatedAt: day, Region: "DE", Lifecycle: business.Withdrawn, Suspended: true, Reason: "a complaint, “quoted”",
		Profile: jcs.Raw(`{"latitude":1.50}`), Schema: jcs.Raw(`{"types":{}}`), Calendar: jcs.Raw(`{"days":[]}`), Account: jcs.Raw(`{"email":"owner@example.com"}`),
		Delegated: true, Incomplete: true, Quota: app.Quota{Records: 7, Tokens: 8}, Generation: 2, ContentHash: "sha256:00", ChangedAt: day.Add(1), DataUpdated: time.UnixMicro(0).UTC()}))
	bare := record("service", "ünïcode/ id 😀", `{"id":"x"}`)
	bare.UpdatedAt = time.Time{}
	put("full", record("service", "b", `{"id":"b","price":1.50}`), bare, record("product", "Z", `{"id":"Z"}`))
	key := business.PublisherKey{Kty: "OKP", Crv: "Ed25519", Alg: "EdDSA", Use: "sig", Kid: "full-01234567", X: "AAAA", Attestation: &business.KeyAttestation{Publisher: "full",
		Alg: "EdDSA", Covers: []string{"kid", "publisher"}}}
	do(w.PutKey(ctx, &app.KeyRow{Publisher: "full", Entry: key, CreatedAt: day, RetiredAt: day.Add(time.Hour), RevokedAt: day.Add(2 * time.Hour)}))
	key.Kid, key.Attestation = "full-00000000", nil
	do(w.PutKey(ctx, &app.KeyRow{Publisher: "full", Entry: key}))
	entry := business.RegistryKey{Kid: "registry-1", Role: "signing", Kty: "OKP", Crv: "Ed25519", Alg: "EdDSA", Use: "sig", X: "BBBB", CreatedAt: "2026-03-01T00:00:00Z",
		NotAfter: "2027-03-01T00:00:00Z", RootSignature: &business.RootSignature{RootKid: "root", Alg: "EdDSA", Covers: []string{"kid"}}}
	do(w.PutRegistryKey(ctx, &app.RegistryKeyRow{Entry: entry, InstalledAt: day, RevokedAt: day.Add(time.Hour)}))
	do(w.AppendRevocation(ctx, "", &business.RevocationEntry{Scope: "publisher", Subject: "full", Reason: "fraud", CreatedAt: "2026-03-01T00:00:00Z"}))
	do(w.AppendRevocation(ctx, "full", &business.RevocationEntry{Scope: "entity", EntityKey: "service/b", Reason: "wrong", RevokedFrom: "2026-01-01T00:00:00Z"}))
	do(w.AppendRevocation(ctx, "full", &business.RevocationEntry{Scope: "digest", Digest: "sha256:11", Reason: "a\x00b"}))
	nonce := []byte("0123456789abcdef")
	do(w.PutProof(ctx, &app.ProofRow{ID: "p1", Publisher: "full", Host: "full.example", Method: "dns_txt", Nonce: nonce, CreatedAt: day, ExpiresAt: day.Add(7 * 24 * time.Hour),
		State: "proven", VerifiedAt: day.Add(1), ValidUntil: day.Add(time.Hour), NextCheck: day, FailedDays: 2, LastFailure: day, Evidence: jcs.Raw(`{"resolvers":2}`)}))
	do(w.PutProof(ctx, &app.ProofRow{ID: "p2", Publisher: "full", Host: "full.example", Nonce: nonce, State: "lapsed"}))
	do(w.PutVerification(ctx, &app.VerificationRow{Publisher: "full", Decision: "d1", RecordedBy: "operator a", RecordedAt: day, ConfirmedBy: "operator b", ConfirmedAt: day, WithdrawnAt: day}))
	do(w.PutVerification(ctx, &app.VerificationRow{Publisher: "full", Decision: "d0"}))
	do(w.PutHost(ctx, "full.example", "full"))
	do(w.PutToken(ctx, &app.TokenRow{Hash: [32]byte{1}, ID: "t1", Publisher: "full", Name: "import", Scopes: []string{"import", "live"}, Parent: "t0", CreatedAt: day, RevokedAt: day}))
	do(w.PutToken(ctx, &app.TokenRow{Hash: [32]byte{2}, ID: "t2"}))
	do(w.AppendAudit(ctx, &app.AuditRow{At: day, Actor: "registry", Action: "publish", Publisher: "full", Target: "service/b", OldHash: "a", NewHash: "b", Reason: "c"}))
	do(w.AppendAudit(ctx, &app.AuditRow{}))
	for _, err := range slices.DeleteFunc(errs, func(err error) bool { return err == nil }) {
		return err
	}
	return nil
}

// Filled reports every difference between a store and what Fill wrote.
func Filled(t testing.TB, s app.Store) {
	t.Helper()
	filled(t, s, Fill)
}

// Filled1 reports every difference between a store and what Fill1 wrote.
func Filled1(t testing.TB, s app.Store) {
	t.Helper()
	filled(t, s, Fill1)
}

func filled(t testing.TB, s app.Store, fill func(testing.TB, app.Store)) {
	t.Helper()
	memory := NewMemory()
	fill(t, memory)
	same(t, dump(t, s), dump(t, memory))
}
