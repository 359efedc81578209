package storetest

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"sayso/business"
	"sayso/internal/app"
)

// Memory is a store in memory. Writers are one after the other; a reader keeps the state it began with.
type Memory struct {
	mu         sync.Mutex // of writers
	now        sync.RWMutex
	state      *state
	operations map[string]bool
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{state: &state{
		heads: map[string]uint64{"": 0}, publishers: map[string]app.PublisherRow{}, records: map[string]map[app.RecordKey]app.RecordRow{},
		keys: map[[2]string]app.KeyRow{}, registry: map[string]app.RegistryKeyRow{}, revocations: map[string][]business.RevocationEntry{},
		proofs: map[string]app.ProofRow{}, verifications: map[[2]string]app.VerificationRow{}, hosts: map[string]string{}, tokens: map[[32]byte]app.TokenRow{},
		readings: map[readingKey]app.ReadingRow{},
	}, operations: map[string]bool{}}
}

// state is one committed state. Rows are never changed once they are in it, so a copy of the maps is a copy of the state.
type state struct {
	heads         map[string]uint64
	publishers    map[string]app.PublisherRow
	records       map[string]map[app.RecordKey]app.RecordRow
	keys          map[[2]string]app.KeyRow
	registry      map[string]app.RegistryKeyRow
	revocations   map[string][]business.RevocationEntry
	proofs        map[string]app.ProofRow
	verifications map[[2]string]app.VerificationRow
	hosts         map[string]string
	tokens        map[[32]byte]app.TokenRow
	readings      map[readingKey]app.ReadingRow
	audit         []app.AuditRow
}

func (s *state) clone() *state {
	c := &state{heads: maps.Clone(s.heads), publishers: maps.Clone(s.publishers), records: maps.Clone(s.records), keys: maps.Clone(s.keys),
		registry: maps.Clone(s.registry), revocations: maps.Clone(s.revocations), proofs: maps.Clone(s.proofs), verifications: maps.Clone(s.verifications),
		hosts: maps.Clone(s.hosts), tokens: maps.Clone(s.tokens), readings: maps.Clone(s.readings),
		audit: slices.Clip(s.audit)}
	for slug, list := range c.revocations {
		c.revocations[slug] = slices.Clip(list)
	}
	return c
}

func (m *Memory) current() *state {
	m.now.RLock()
	defer m.now.RUnlock()
	return m.state
}

// View implements app.Store.
func (m *Memory) View(ctx context.Context, f func(app.Reader) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return f(&transaction{state: m.current()})
}

// Update implements app.Store.
func (m *Memory) Update(ctx context.Context, operation string, f func(app.Writer) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if operation != "" {
		if err := key(operation, 255); err != nil {
			return err
		}
	}
	if m.operations[operation] {
		return nil
	}
	t := &transaction{state: m.current().clone(), own: map[string]bool{}}
	if err := f(t); err != nil {
		return err
	}
	for slug := range t.heads {
		if _, ok := t.publishers[slug]; !ok && slug != "" && t.failed == nil {
			t.failed = app.ErrNotFound
		}
	}
	if err := cmp.Or(t.failed, ctx.Err()); err != nil {
		return err
	}
	m.now.Lock()
	defer m.now.Unlock()
	m.state = t.state
	if operation != "" {
		m.operations[operation] = true
	}
	return nil
}

// Heads implements app.Store.
func (m *Memory) Heads(context.Context) (map[string]uint64, error) {
	return maps.Clone(m.current().heads), nil
}

// Check implements app.Store; memory is not damaged.
func (m *Memory) Check(context.Context) error { return nil }

// Describe implements app.Store.
func (m *Memory) Describe(context.Context) (string, int, error) { return "memory", 1, nil }

// Close implements app.Store.
func (m *Memory) Close() error { return nil }

// transaction is app.Writer over a state of its own.
type transaction struct {
	*state
	own    map[string]bool // publishers whose records were copied for this transaction
	failed error
}

func (t *transaction) Publisher(_ context.Context, slug string) (*app.PublisherRow, error) {
	row, ok := t.publishers[slug]
	if !ok {
		return nil, app.ErrNotFound
	}
	row.Revision = t.heads[slug]
	return &row, nil
}

func (t *transaction) Generation(ctx context.Context, slug string) (uint64, error) {
	row, err := t.Publisher(ctx, slug)
	if err != nil {
		return 0, err
	}
	return row.Generation, nil
}

func (t *transaction) Publishers(ctx context.Context, after string, limit int) ([]app.PublisherRow, error) {
	var out []app.PublisherRow
	if !storable(after) {
		return nil, nil
	}
	for _, slug := range slices.Sorted(maps.Keys(t.publishers)) {
		if slug > after && len(out) < limit {
			row, _ := t.Publisher(ctx, slug)
			out = append(out, *row)
		}
	}
	return out, nil
}

func (t *transaction) Record(_ context.Context, slug, typ, id string) (*app.RecordRow, error) {
	row, ok := t.records[slug][app.RecordKey{Type: typ, ID: id}]
	if !ok {
		return nil, app.ErrNotFound
	}
	return &row, nil
}

func byKey(a, b app.RecordKey) int {
	return cmp.Or(strings.Compare(a.Type, b.Type), strings.Compare(a.ID, b.ID))
}

func (t *transaction) Records(ctx context.Context, slug, typ, afterType, afterID string) iter.Seq2[app.RecordRow, error] {
	after := app.RecordKey{Type: afterType, ID: afterID}
	return func(yield func(app.RecordRow, error) bool) {
		if !storable(typ, afterType, afterID) {
			return
		}
		if err := ctx.Err(); err != nil {
			yield(app.RecordRow{}, err)
			return
		}
		rows := t.records[slug]
		for _, k := range slices.SortedFunc(maps.Keys(rows), byKey) {
			if byKey(k, after) > 0 && (typ == "" || k.Type == typ) && !yield(rows[k], nil) {
				return
			}
		}
	}
}

func (t *transaction) Leaves(ctx context.Context, slug string) iter.Seq2[app.RecordRow, error] {
	return func(yield func(app.RecordRow, error) bool) {
		for row, err := range t.Records(ctx, slug, "", "", "") {
			if row.Body = nil; !yield(row, err) {
				return
			}
		}
	}
}

func (t *transaction) RecordCounts(_ context.Context, slug string) ([]business.TypeCount, error) {
	counts := map[string]int{}
	for k := range t.records[slug] {
		counts[k.Type]++
	}
	var out []business.TypeCount
	for _, typ := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, business.TypeCount{Type: typ, Count: counts[typ]})
	}
	return out, nil
}

// chosen returns the values of a map that are wanted, in order.
func chosen[K comparable, V any](rows map[K]V, want func(V) bool, order func(a, b V) int) []V {
	var out []V
	for _, v := range rows {
		if want(v) {
			out = append(out, v)
		}
	}
	slices.SortFunc(out, order)
	return out
}

func (t *transaction) Keys(_ context.Context, slug string) ([]app.KeyRow, error) {
	return chosen(t.keys, func(k app.KeyRow) bool { return k.Publisher == slug }, func(a, b app.KeyRow) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.Entry.Kid, b.Entry.Kid))
	}), nil
}

func (t *transaction) RegistryKeys(context.Context) ([]app.RegistryKeyRow, error) {
	return chosen(t.registry, func(app.RegistryKeyRow) bool { return true }, func(a, b app.RegistryKeyRow) int {
		return cmp.Or(a.InstalledAt.Compare(b.InstalledAt), strings.Compare(a.Entry.Kid, b.Entry.Kid))
	}), nil
}

func (t *transaction) Revocations(_ context.Context, slug string) ([]business.RevocationEntry, error) {
	return slices.Clone(t.revocations[slug]), nil
}

func olderProof(a, b app.ProofRow) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
}

func (t *transaction) Proofs(_ context.Context, slug string) ([]app.ProofRow, error) {
	return chosen(t.proofs, func(p app.ProofRow) bool { return p.Publisher == slug }, olderProof), nil
}

func (t *transaction) ProofsByHost(_ context.Context, host string) ([]app.ProofRow, error) {
	return chosen(t.proofs, func(p app.ProofRow) bool { return p.Host == host && (p.State == "pending" || p.State == "proven") }, olderProof), nil
}

func (t *transaction) ProofsDue(_ context.Context, now time.Time, limit int) ([]app.ProofRow, error) {
	rows := chosen(t.proofs, func(p app.ProofRow) bool { return !p.NextCheck.IsZero() && !p.NextCheck.After(now) }, func(a, b app.ProofRow) int {
		return cmp.Or(a.NextCheck.Compare(b.NextCheck), strings.Compare(a.ID, b.ID))
	})
	return rows[:max(0, min(limit, len(rows)))], nil
}

func (t *transaction) Verifications(_ context.Context, slug string) ([]app.VerificationRow, error) {
	return chosen(t.verifications, func(v app.VerificationRow) bool { return v.Publisher == slug }, func(a, b app.VerificationRow) int {
		return cmp.Or(a.RecordedAt.Compare(b.RecordedAt), strings.Compare(a.Decision, b.Decision))
	}), nil
}

func (t *transaction) Hosts(context.Context) (map[string]string, error) {
	return maps.Clone(t.hosts), nil
}

func (t *transaction) Token(_ context.Context, hash [32]byte) (*app.TokenRow, error) {
	row, ok := t.tokens[hash]
	if !ok {
		return nil, app.ErrNotFound
	}
	return &row, nil
}

func (t *transaction) Tokens(_ context.Context, slug string) ([]app.TokenRow, error) {
	return chosen(t.tokens, func(k app.TokenRow) bool { return k.Publisher == slug }, func(a, b app.TokenRow) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID), bytes.Compare(a.Hash[:], b.Hash[:]))
	}), nil
}

func (t *transaction) Audit(_ context.Context, slug string, after int64, limit int) ([]app.AuditRow, error) {
	var out []app.AuditRow
	for _, row := range t.audit {
		if row.Sequence > after && (slug == "" || row.Publisher == slug) && len(out) < limit {
			out = append(out, row)
		}
	}
	return out, nil
}

var (
	_ app.Store  = (*Memory)(nil)
	_ app.Writer = (*transaction)(nil)
)
