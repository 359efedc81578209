package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"sayso/gidp"
	"sayso/internal/agent/durable"
)

// agentWriter is durable.Writer over a writer of the store.
type agentWriter struct {
	agentReader
	w     *Writer
	heads map[string]*head // of the trails that were looked at
}

// fresh runs an insert that leaves what is there, and says durable.ErrExists where it was.
func (a *agentWriter) fresh(ctx context.Context, what, sql string, values []any, err error) error {
	if err != nil {
		return err
	}
	n, err := a.w.exec(ctx, what, sql, values...)
	if err == nil && n == 0 {
		return durable.ErrExists
	}
	return err
}

func (a *agentWriter) PutInterest(ctx context.Context, row durable.InterestRow) error {
	values, err := interestValues(&row)
	return a.w.put(ctx, "write an interest", "INSERT INTO gidp_interests ("+interestColumns+") VALUES ($1, $2, $3, $4, $5, $6, $7, $8) "+
		"ON CONFLICT (id) DO UPDATE SET state = excluded.state, changed_at = excluded.changed_at, body = excluded.body", values, err)
}

func (a *agentWriter) PutProjection(ctx context.Context, row durable.ProjectionRow) error {
	values, err := projectionValues(&row)
	return a.w.put(ctx, "write a projection", "INSERT INTO gidp_projections ("+projectionColumns+") VALUES ($1, $2, $3, $4, $5, $6) "+
		"ON CONFLICT (ref) DO UPDATE SET interest = excluded.interest, state = excluded.state, expires_at = excluded.expires_at, forget_at = excluded.forget_at, body = excluded.body", values, err)
}

// AddSession implements durable.Writer. Its version is 1.
func (a *agentWriter) AddSession(ctx context.Context, row durable.SessionRow) error {
	values, err := sessionValues(&row)
	if err == nil {
		err = a.claim(ctx, "session", row.ID)
	}
	return a.fresh(ctx, "open a session", "INSERT INTO gidp_sessions ("+sessionColumns+", version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 1) "+
		"ON CONFLICT (id) DO NOTHING", values, err)
}

// PutSession implements durable.Writer. What is open and stays so is written without a touch of any index.
func (a *agentWriter) PutSession(ctx context.Context, row durable.SessionRow) error {
	const what = "write a session"
	values, err := sessionValues(&row)
	if err == nil {
		err = a.claim(ctx, "session", row.ID)
	}
	if err != nil {
		return err
	}
	if !row.Closed && row.ForgetAt.IsZero() {
		step := append(values[:5:5], values[6], values[7], values[8], values[9], values[11])
		n, err := a.w.exec(ctx, what, "UPDATE gidp_sessions SET peer_key = $6, phase = $7, opened_at = $8, ends_at = $9, body = $10, version = version + 1 "+
			"WHERE id = $1 AND initiator = $2 AND interest = $3 AND ref = $4 AND peer = $5 AND NOT closed AND forget_at IS NULL", step...)
		if err != nil || n > 0 {
			return err
		}
	}
	n, err := a.w.exec(ctx, what, "UPDATE gidp_sessions SET initiator = $2, interest = $3, ref = $4, peer = $5, closed = $6, peer_key = $7, phase = $8, opened_at = $9, "+
		"ends_at = $10, forget_at = $11, body = $12, version = version + 1 WHERE id = $1", values...)
	if err == nil && n == 0 {
		return durable.ErrNotFound
	}
	return err
}

// PutPart implements durable.Writer.
func (a *agentWriter) PutPart(ctx context.Context, row durable.PartRow) error {
	values, err := partValues(&row)
	return a.w.put(ctx, "write a part of a session", "INSERT INTO gidp_parts ("+partColumns+") VALUES ($1, $2, $3) "+
		"ON CONFLICT (session, part) DO UPDATE SET body = excluded.body", values, err)
}

func (a *agentWriter) AddReceived(ctx context.Context, session, key string, sum [32]byte) error {
	var e encoder
	values := []any{e.key("the session", session, maxName), e.key("the key of deduplication", key, maxName), sum[:]}
	return a.fresh(ctx, "note a message", "INSERT INTO gidp_received (session, key, sum) VALUES ($1, $2, $3) ON CONFLICT (session, key) DO NOTHING", values, e.err)
}

// AddSent implements durable.Writer. The number before is looked for apart: an insertion that reads its own table goes through a temporary one.
func (a *agentWriter) AddSent(ctx context.Context, row durable.SentRow) error {
	const what = "note what is sent"
	values, err := sentValues(&row)
	if err == nil && row.Number != 1 {
		_, err = sole(ctx, a.r, what, scanNumber, "SELECT number FROM gidp_sent WHERE session = $1 AND number = $2", row.Session, int64(row.Number)-1)
		if errors.Is(err, durable.ErrNotFound) {
			return durable.ErrExists // a gap
		}
	}
	return a.fresh(ctx, what, "INSERT INTO gidp_sent ("+sentColumns+") VALUES ($1, $2, $3, $4, $5) ON CONFLICT (session, number) DO NOTHING", values, err)
}

func (a *agentWriter) Acknowledge(ctx context.Context, session string, number int) error {
	if !storable(session) {
		return nil
	}
	_, err := a.w.exec(ctx, "note what arrived", "UPDATE gidp_sent SET acknowledged = TRUE WHERE session = $1 AND number <= $2 AND NOT acknowledged", session, int64(number))
	return err
}

func (a *agentWriter) PutExploration(ctx context.Context, row durable.ExplorationRow) error {
	values, err := explorationValues(&row)
	return a.w.put(ctx, "write an exploration", "INSERT INTO gidp_explorations ("+explorationColumns+") VALUES ($1, $2, $3, $4, $5, $6) "+
		"ON CONFLICT (id) DO UPDATE SET interest = excluded.interest, state = excluded.state, at = excluded.at, forget_at = excluded.forget_at, body = excluded.body", values, err)
}

func (a *agentWriter) PutCoalition(ctx context.Context, row durable.CoalitionRow) error {
	values, err := coalitionValues(&row)
	return a.w.put(ctx, "write a coalition", "INSERT INTO gidp_coalitions ("+coalitionColumns+") VALUES ($1, $2, $3, $4, $5) "+
		"ON CONFLICT (id) DO UPDATE SET interest = excluded.interest, at = excluded.at, forget_at = excluded.forget_at, body = excluded.body", values, err)
}

func (a *agentWriter) PutLedger(ctx context.Context, row durable.LedgerRow) error {
	values, err := ledgerValues(&row)
	if err == nil {
		err = a.claim(ctx, "lineage", row.Key.Lineage)
	}
	return a.w.put(ctx, "write the ledger", "INSERT INTO gidp_ledger (lineage, quantity, body) VALUES ($1, $2, $3) "+
		"ON CONFLICT (lineage, quantity) DO UPDATE SET body = excluded.body", values, err)
}

// DeleteLedger implements durable.Writer.
func (a *agentWriter) DeleteLedger(ctx context.Context, key gidp.LedgerKey) error {
	if !storable(key.Lineage, key.Quantity) {
		return nil
	}
	if err := a.claim(ctx, "lineage", key.Lineage); err != nil {
		return err
	}
	_, err := a.w.exec(ctx, "write the ledger", "DELETE FROM gidp_ledger WHERE lineage = $1 AND quantity = $2", key.Lineage, key.Quantity)
	return err
}

func (a *agentWriter) AddEntry(ctx context.Context, row durable.EntryRow) error {
	values, err := entryValues(&row)
	return a.fresh(ctx, "write to the inbox", "INSERT INTO gidp_entries ("+entryColumns+") VALUES ($1, $2, $3, $4, $5, $6, $7, $8) "+
		"ON CONFLICT (id) DO NOTHING", values, err)
}

func (a *agentWriter) Decide(ctx context.Context, id string, state durable.EntryState, at time.Time) error {
	var e encoder
	if e.key("the state", string(state), maxName); state == durable.Waiting {
		e.refuse("a decision does not leave an entry waiting")
	}
	if e.err != nil {
		return e.err
	}
	if !storable(id) {
		return durable.ErrNotFound
	}
	n, err := a.w.exec(ctx, "decide an entry of the inbox", "UPDATE gidp_entries SET state = $2, decided_at = $3 WHERE id = $1 AND state = 'waiting'",
		id, string(state), Micros(at))
	if err != nil || n > 0 {
		return err
	}
	if _, err := a.Entry(ctx, id); err != nil {
		return err
	}
	return durable.ErrExists
}

// head is the end of a trail as a transaction knows it.
type head struct {
	sequence int64
	hash     [32]byte
	moved    bool
}

// SessionAndInterest implements durable.Reader. The head of the trail that the step will write to comes with them.
func (a *agentWriter) SessionAndInterest(ctx context.Context, id string) (durable.SessionRow, durable.InterestRow, error) {
	out, err := a.step(ctx, id)
	if err != nil {
		return out.session, out.interest, err
	}
	if err := a.claim(ctx, "lineage", out.interest.Lineage); err != nil {
		return out.session, out.interest, err
	}
	if a.heads[out.interest.Lineage] == nil {
		a.know(out.interest.Lineage, &out.head)
	}
	return out.session, out.interest, nil
}

func (a *agentWriter) know(lineage string, h *head) {
	if a.heads == nil {
		a.heads = map[string]*head{}
	}
	a.heads[lineage] = h
}

// head reads the end of a trail once in a transaction.
func (a *agentWriter) head(ctx context.Context, lineage string) (*head, error) {
	if h := a.heads[lineage]; h != nil {
		return h, nil
	}
	var h head
	var err error
	if h.sequence, h.hash, err = a.agentReader.TrailHead(ctx, lineage); err != nil {
		return nil, err
	}
	a.know(lineage, &h)
	return &h, nil
}

// TrailHead implements durable.Reader.
func (a *agentWriter) TrailHead(ctx context.Context, lineage string) (sequence int64, hash [32]byte, err error) {
	h, err := a.head(ctx, lineage)
	if err != nil {
		return 0, hash, err
	}
	return h.sequence, h.hash, nil
}

// AddAudit implements durable.Writer. The head is written once, by finish.
func (a *agentWriter) AddAudit(ctx context.Context, row durable.AuditRow) error {
	values, err := trailValues(&row)
	if err != nil {
		return err
	}
	h, err := a.head(ctx, row.Lineage)
	if err != nil {
		return err
	}
	if row.Sequence != h.sequence+1 {
		return durable.ErrExists
	}
	*h = head{row.Sequence, row.Hash, true}
	_, err = a.w.exec(ctx, "write the audit trail", "INSERT INTO gidp_audit ("+trailColumns+") VALUES ($1, $2, $3, $4, $5, $6)", values...)
	return err
}

// finish writes what the transaction held back.
func (a *agentWriter) finish(ctx context.Context) error {
	for _, lineage := range slices.Sorted(maps.Keys(a.heads)) {
		h := a.heads[lineage]
		if !h.moved {
			continue
		}
		if _, err := a.w.exec(ctx, "write the audit trail", "INSERT INTO gidp_trails (lineage, sequence, hash) VALUES ($1, $2, $3) "+
			"ON CONFLICT (lineage) DO UPDATE SET sequence = excluded.sequence, hash = excluded.hash", lineage, h.sequence, h.hash[:]); err != nil {
			return err
		}
	}
	return nil
}

func (a *agentWriter) Schedule(ctx context.Context, kind durable.WorkKind, id string, due time.Time) error {
	const what = "schedule work"
	var e encoder
	values := []any{e.key("the kind of work", string(kind), maxName), e.key("the work", id, maxName)}
	if due.IsZero() {
		return a.w.put(ctx, what, "DELETE FROM gidp_work WHERE kind = $1 AND id = $2", values, e.err)
	}
	return a.w.put(ctx, what, "INSERT INTO gidp_work (kind, id, due, free_at) VALUES ($1, $2, $3, $3) ON CONFLICT (kind, id) DO UPDATE SET due = excluded.due, "+
		"free_at = excluded.free_at", append(values, due.UnixMicro()), e.err)
}

// Claim implements durable.Writer, in the order in which work became free.
func (a *agentWriter) Claim(ctx context.Context, now, until time.Time, limit int) ([]durable.Work, error) {
	const what = "take work"
	var e encoder
	if e.instant("the time of a claim", now) >= e.instant("the end of a claim", until) {
		e.refuse("a claim ends after it begins")
	}
	if e.err != nil || limit <= 0 {
		return nil, e.err
	}
	if err := a.claim(ctx, "work", ""); err != nil {
		return nil, err
	}
	out, err := list(ctx, a.r, what, func(scan scanner) (w durable.Work, err error) {
		var due int64
		err = scan(&w.Kind, &w.ID, &due)
		w.Due = moment{&due}.time()
		return w, err
	}, "SELECT kind, id, due FROM gidp_work WHERE free_at <= $1 ORDER BY free_at, kind, id LIMIT $2", now.UnixMicro(), int64(limit))
	for _, w := range out {
		if err == nil {
			_, err = a.w.exec(ctx, what, "UPDATE gidp_work SET free_at = $3 WHERE kind = $1 AND id = $2", string(w.Kind), w.ID, until.UnixMicro())
		}
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// RaiseMark implements durable.Writer.
func (a *agentWriter) RaiseMark(ctx context.Context, n int64) error {
	if n <= 0 {
		return nil
	}
	_, err := a.w.exec(ctx, "raise the mark", "INSERT INTO gidp_mark (id, mark) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET mark = excluded.mark WHERE excluded.mark > gidp_mark.mark", n)
	return err
}

// Forget implements durable.Writer. Entries of a session go with it; a decided one of no session that is there goes when its decision is that old.
func (a *agentWriter) Forget(ctx context.Context, before time.Time, limit int) error {
	const what = "forget what is over"
	if limit <= 0 || before.IsZero() {
		return nil
	}
	by, most := before.UnixMicro(), int64(limit)
	sessions, err := list(ctx, a.r, what, func(scan scanner) (id string, err error) {
		err = scan(&id)
		return id, err
	}, "SELECT id FROM gidp_sessions WHERE closed AND forget_at <= $1 ORDER BY forget_at, id LIMIT $2", by, most)
	if err != nil {
		return err
	}
	for _, id := range sessions {
		for _, sql := range []string{"DELETE FROM gidp_received WHERE session = $1", "DELETE FROM gidp_sent WHERE session = $1", "DELETE FROM gidp_parts WHERE session = $1",
			"DELETE FROM gidp_entries WHERE session = $1", "DELETE FROM gidp_sessions WHERE id = $1"} {
			if _, err := a.w.exec(ctx, what, sql, id); err != nil {
				return err
			}
		}
	}
	_, err = a.w.exec(ctx, what, "DELETE FROM gidp_entries WHERE id IN (SELECT id FROM gidp_entries WHERE state <> 'waiting' AND decided_at <= $1 "+
		"AND NOT EXISTS (SELECT 1 FROM gidp_sessions WHERE gidp_sessions.id = gidp_entries.session) ORDER BY decided_at, id LIMIT $2)", by, most)
	for _, sql := range []string{
		"DELETE FROM gidp_projections WHERE ref IN (SELECT ref FROM gidp_projections WHERE forget_at <= $1 ORDER BY forget_at, ref LIMIT $2)",
		"DELETE FROM gidp_explorations WHERE id IN (SELECT id FROM gidp_explorations WHERE forget_at <= $1 ORDER BY forget_at, id LIMIT $2)",
		"DELETE FROM gidp_coalitions WHERE id IN (SELECT id FROM gidp_coalitions WHERE forget_at <= $1 ORDER BY forget_at, id LIMIT $2)",
	} {
		if err == nil {
			_, err = a.w.exec(ctx, what, sql, by, most)
		}
	}
	return err
}

var _ durable.Writer = (*agentWriter)(nil)
