package storetest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"sayso/internal/agent/durable"
)

// cow is a map that a transaction copies before it first writes to it.
type cow[K comparable, V any] struct {
	rows map[K]V
	own  bool
}

func (c *cow[K, V]) mine() map[K]V {
	if !c.own {
		c.rows, c.own = maps.Clone(c.rows), true
		if c.rows == nil {
			c.rows = map[K]V{}
		}
	}
	return c.rows
}

type (
	receivedKey struct{ session, key string }
	partKey     struct {
		session string
		part    int
	}
	workKey struct {
		kind durable.WorkKind
		id   string
	}
)

// dueRow is free to be claimed from an instant on.
type dueRow struct{ due, free time.Time }

// agentState is one committed state. Rows are never changed once they are in it.
type agentState struct {
	interests    cow[string, durable.InterestRow]
	projections  cow[string, durable.ProjectionRow]
	sessions     cow[string, durable.SessionRow]
	received     cow[receivedKey, [32]byte]
	parts        cow[partKey, []byte]
	sent         cow[string, []durable.SentRow] // by number
	explorations cow[string, durable.ExplorationRow]
	coalitions   cow[string, durable.CoalitionRow]
	ledger       cow[string, map[string][]byte] // by lineage and quantity
	entries      cow[string, durable.EntryRow]
	trails       cow[string, []durable.AuditRow] // by sequence
	work         cow[workKey, dueRow]
	mark         int64
}

// fork is a state that a transaction may write to.
func (s agentState) fork() *agentState {
	s.interests.own, s.projections.own, s.sessions.own, s.received.own, s.parts.own, s.sent.own = false, false, false, false, false, false
	s.explorations.own, s.coalitions.own, s.ledger.own, s.entries.own, s.trails.own, s.work.own = false, false, false, false, false, false
	return &s
}

// Agents is a durable.Store in memory. Writers are one after the other; a reader keeps the state it began with.
type Agents struct {
	writing sync.Mutex // of writers
	now     sync.RWMutex
	state   *agentState // guarded by now; what it points at is never changed
}

// NewAgents returns an empty store for agents.
func NewAgents() *Agents { return &Agents{state: &agentState{}} }

// Copy is a backup: another store that holds what is committed by now.
func (a *Agents) Copy() *Agents { return &Agents{state: a.current()} }

func (a *Agents) current() *agentState {
	a.now.RLock()
	defer a.now.RUnlock()
	return a.state
}

// View implements durable.Store.
func (a *Agents) View(ctx context.Context, f func(durable.Reader) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return f(&agentTx{agentState: a.current()})
}

// Update implements durable.Store.
func (a *Agents) Update(ctx context.Context, f func(durable.Writer) error) error {
	a.writing.Lock()
	defer a.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	t := &agentTx{agentState: a.current().fork()}
	if err := cmp.Or(f(t), ctx.Err()); err != nil {
		return err
	}
	a.now.Lock()
	defer a.now.Unlock()
	a.state = t.agentState
	return nil
}

// agentTx is durable.Writer over a state of its own.
type agentTx struct{ *agentState }

// found is one row of a map.
func found[K comparable, V any](c cow[K, V], k K) (V, error) {
	row, ok := c.rows[k]
	if !ok {
		return row, durable.ErrNotFound
	}
	return row, nil
}

// body is what a store keeps of one: a copy. A row without one is refused.
func body(b []byte) ([]byte, error) {
	if len(b) == 0 {
		return nil, errors.New("a row has no body")
	}
	return bytes.Clone(b), nil
}

func (t *agentTx) Interest(_ context.Context, id string) (durable.InterestRow, error) {
	row, err := found(t.interests, id)
	row.Body = bytes.Clone(row.Body)
	return row, err
}

func (t *agentTx) Interests(context.Context) ([]durable.InterestRow, error) {
	return copied(chosen(t.interests.rows, func(durable.InterestRow) bool { return true }, func(a, b durable.InterestRow) int {
		return cmp.Or(strings.Compare(a.Lineage, b.Lineage), cmp.Compare(a.Version, b.Version), strings.Compare(a.ID, b.ID))
	}), func(r *durable.InterestRow) *[]byte { return &r.Body }), nil
}

// copied gives every row a body of its own.
func copied[T any](rows []T, body func(*T) *[]byte) []T {
	for i := range rows {
		b := body(&rows[i])
		*b = bytes.Clone(*b)
	}
	return rows
}

func (t *agentTx) Projection(_ context.Context, ref string) (durable.ProjectionRow, error) {
	row, err := found(t.projections, ref)
	row.Body = bytes.Clone(row.Body)
	return row, err
}

func (t *agentTx) Projections(_ context.Context, interest string) ([]durable.ProjectionRow, error) {
	return copied(chosen(t.projections.rows, func(p durable.ProjectionRow) bool { return interest == "" || p.Interest == interest },
		func(a, b durable.ProjectionRow) int { return strings.Compare(a.Ref, b.Ref) }), func(r *durable.ProjectionRow) *[]byte { return &r.Body }), nil
}

func ownSession(row durable.SessionRow) durable.SessionRow {
	row.Body, row.PeerKey = bytes.Clone(row.Body), bytes.Clone(row.PeerKey)
	return row
}

func (t *agentTx) Session(_ context.Context, id string) (durable.SessionRow, error) {
	row, err := found(t.sessions, id)
	return ownSession(row), err
}

func (t *agentTx) SessionAndInterest(ctx context.Context, id string) (durable.SessionRow, durable.InterestRow, error) {
	session, err := t.Session(ctx, id)
	if err != nil {
		return session, durable.InterestRow{}, err
	}
	interest, err := t.Interest(ctx, session.Interest)
	return session, interest, err
}

func (t *agentTx) Sessions(_ context.Context, interest string, open bool, after string, limit int) ([]durable.SessionRow, error) {
	if !storable(after) {
		return nil, nil
	}
	rows := chosen(t.sessions.rows, func(s durable.SessionRow) bool {
		return (interest == "" || s.Interest == interest) && !(open && s.Closed) && s.ID > after
	}, func(a, b durable.SessionRow) int { return strings.Compare(a.ID, b.ID) })
	rows = rows[:max(0, min(limit, len(rows)))]
	for i := range rows {
		rows[i] = ownSession(rows[i])
	}
	return rows, nil
}

func (t *agentTx) CountOpen(_ context.Context, ref, peer string) (n int, err error) {
	for _, s := range t.sessions.rows {
		if !s.Initiator && !s.Closed && (ref == "" || s.Ref == ref) && (peer == "" || s.Peer == peer) {
			n++
		}
	}
	return n, nil
}

func (t *agentTx) PeerKey(_ context.Context, thumbprint string) ([]byte, error) {
	if thumbprint == "" {
		return nil, durable.ErrNotFound
	}
	// Sessions of one thumbprint have one key: which of them answers does not matter.
	for _, s := range t.sessions.rows {
		if s.Peer == thumbprint && len(s.PeerKey) > 0 {
			return bytes.Clone(s.PeerKey), nil
		}
	}
	return nil, durable.ErrNotFound
}

func (t *agentTx) Received(_ context.Context, session, key string) ([32]byte, error) {
	return found(t.received, receivedKey{session, key})
}

func (t *agentTx) Parts(_ context.Context, session string) ([]durable.PartRow, error) {
	var out []durable.PartRow
	for k, sealed := range t.parts.rows {
		if k.session == session {
			out = append(out, durable.PartRow{Session: session, Part: k.part, Body: bytes.Clone(sealed)})
		}
	}
	slices.SortFunc(out, func(a, b durable.PartRow) int { return cmp.Compare(a.Part, b.Part) })
	return out, nil
}

func (t *agentTx) Sent(_ context.Context, session string, after int) ([]durable.SentRow, error) {
	var out []durable.SentRow
	for _, row := range t.sent.rows[session] {
		if row.Number > after {
			out = append(out, row)
		}
	}
	return copied(out, func(r *durable.SentRow) *[]byte { return &r.Body }), nil
}

func (t *agentTx) Exploration(_ context.Context, id string) (durable.ExplorationRow, error) {
	row, err := found(t.explorations, id)
	row.Body = bytes.Clone(row.Body)
	return row, err
}

func (t *agentTx) Explorations(_ context.Context, interest string) ([]durable.ExplorationRow, error) {
	return copied(chosen(t.explorations.rows, func(e durable.ExplorationRow) bool { return interest == "" || e.Interest == interest },
		func(a, b durable.ExplorationRow) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.ID, b.ID)) }),
		func(r *durable.ExplorationRow) *[]byte { return &r.Body }), nil
}

func (t *agentTx) Coalition(_ context.Context, id string) (durable.CoalitionRow, error) {
	row, err := found(t.coalitions, id)
	row.Body = bytes.Clone(row.Body)
	return row, err
}

func (t *agentTx) Coalitions(_ context.Context, interest string) ([]durable.CoalitionRow, error) {
	return copied(chosen(t.coalitions.rows, func(c durable.CoalitionRow) bool { return interest == "" || c.Interest == interest },
		func(a, b durable.CoalitionRow) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.ID, b.ID)) }),
		func(r *durable.CoalitionRow) *[]byte { return &r.Body }), nil
}

func (t *agentTx) Ledger(_ context.Context, lineage string) ([]durable.LedgerRow, error) {
	var out []durable.LedgerRow
	rows := t.ledger.rows[lineage]
	for _, quantity := range slices.Sorted(maps.Keys(rows)) {
		row := durable.LedgerRow{Body: bytes.Clone(rows[quantity])}
		row.Key.Lineage, row.Key.Quantity = lineage, quantity
		out = append(out, row)
	}
	return out, nil
}

func (t *agentTx) Entry(_ context.Context, id string) (durable.EntryRow, error) {
	row, err := found(t.entries, id)
	row.Body = bytes.Clone(row.Body)
	return row, err
}

func (t *agentTx) Entries(_ context.Context, session string, waiting bool) ([]durable.EntryRow, error) {
	return copied(chosen(t.entries.rows, func(e durable.EntryRow) bool {
		return (session == "" || e.Session == session) && !(waiting && e.State != durable.Waiting)
	}, func(a, b durable.EntryRow) int { return strings.Compare(a.ID, b.ID) }), func(r *durable.EntryRow) *[]byte { return &r.Body }), nil
}

func (t *agentTx) Trail(_ context.Context, lineage string, after int64, limit int) ([]durable.AuditRow, error) {
	var out []durable.AuditRow
	for _, row := range t.trails.rows[lineage] {
		if row.Sequence > after && len(out) < limit {
			out = append(out, row)
		}
	}
	return copied(out, func(r *durable.AuditRow) *[]byte { return &r.Body }), nil
}

func (t *agentTx) TrailHead(_ context.Context, lineage string) (sequence int64, hash [32]byte, err error) {
	if rows := t.trails.rows[lineage]; len(rows) > 0 {
		last := rows[len(rows)-1]
		return last.Sequence, last.Hash, nil
	}
	return 0, hash, nil
}

func (t *agentTx) NextDue(context.Context) (next time.Time, err error) {
	for _, w := range t.work.rows {
		if next.IsZero() || w.free.Before(next) {
			next = w.free
		}
	}
	return next, nil
}

func (t *agentTx) Mark(context.Context) (int64, error) { return t.mark, nil }

var (
	_ durable.Store  = (*Agents)(nil)
	_ durable.Writer = (*agentTx)(nil)
)
