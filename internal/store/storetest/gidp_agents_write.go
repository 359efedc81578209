package storetest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"sayso/gidp"
	"sayso/internal/agent/durable"
)

// texts are the bounds of the texts of a row: keys come first.
func texts(keys []string, more ...string) error {
	for _, k := range keys {
		if err := key(k, 255); err != nil {
			return err
		}
	}
	for _, s := range more {
		if len(s) > 255 {
			return errors.New("a text is too long")
		}
	}
	return text(more...)
}

func (t *agentTx) PutInterest(_ context.Context, row durable.InterestRow) (err error) {
	if err := texts([]string{row.ID, row.Lineage}, row.Principal, row.Profile, row.State); err != nil {
		return err
	}
	if row.Version < 1 {
		return errors.New("a version counts from 1")
	}
	if row.Body, err = body(row.Body); err != nil {
		return err
	}
	micros(&row.ChangedAt)
	if old, ok := t.interests.rows[row.ID]; ok {
		old.State, old.ChangedAt, old.Body = row.State, row.ChangedAt, row.Body
		row = old
	}
	t.interests.mine()[row.ID] = row
	return nil
}

func (t *agentTx) PutProjection(_ context.Context, row durable.ProjectionRow) (err error) {
	if err := texts([]string{row.Ref, row.Interest}, string(row.State)); err != nil {
		return err
	}
	if row.Body, err = body(row.Body); err != nil {
		return err
	}
	micros(&row.ExpiresAt, &row.ForgetAt)
	t.projections.mine()[row.Ref] = row
	return nil
}

func session(row durable.SessionRow) (durable.SessionRow, error) {
	if err := texts([]string{row.ID, row.Interest}, row.Ref, row.Peer, row.Phase); err != nil {
		return row, err
	}
	b, err := body(row.Body)
	if err != nil {
		return row, err
	}
	row.Body, row.PeerKey = b, bytes.Clone(row.PeerKey)
	if len(row.PeerKey) == 0 {
		row.PeerKey = nil
	}
	micros(&row.OpenedAt, &row.EndsAt, &row.ForgetAt)
	return row, nil
}

func (t *agentTx) AddSession(_ context.Context, row durable.SessionRow) error {
	row, err := session(row)
	if err != nil {
		return err
	}
	if _, ok := t.sessions.rows[row.ID]; ok {
		return durable.ErrExists
	}
	row.Version = 1
	t.sessions.mine()[row.ID] = row
	return nil
}

func (t *agentTx) PutSession(_ context.Context, row durable.SessionRow) error {
	row, err := session(row)
	if err != nil {
		return err
	}
	old, ok := t.sessions.rows[row.ID]
	if !ok {
		return durable.ErrNotFound
	}
	row.Version = old.Version + 1
	t.sessions.mine()[row.ID] = row
	return nil
}

func (t *agentTx) PutPart(_ context.Context, row durable.PartRow) (err error) {
	if err := texts([]string{row.Session}); err != nil {
		return err
	}
	if row.Part < 0 {
		return errors.New("parts count from 0")
	}
	if row.Body, err = body(row.Body); err != nil {
		return err
	}
	t.parts.mine()[partKey{row.Session, row.Part}] = row.Body
	return nil
}

func (t *agentTx) AddReceived(_ context.Context, session, key string, sum [32]byte) error {
	if err := texts([]string{session, key}); err != nil {
		return err
	}
	k := receivedKey{session, key}
	if _, ok := t.received.rows[k]; ok {
		return durable.ErrExists
	}
	t.received.mine()[k] = sum
	return nil
}

func (t *agentTx) AddSent(_ context.Context, row durable.SentRow) (err error) {
	if err := texts([]string{row.Session}); err != nil {
		return err
	}
	if row.Body, err = body(row.Body); err != nil {
		return err
	}
	rows := t.sent.rows[row.Session]
	if row.Number != len(rows)+1 {
		return durable.ErrExists
	}
	micros(&row.At)
	t.sent.mine()[row.Session] = append(slices.Clip(rows), row)
	return nil
}

func (t *agentTx) Acknowledge(_ context.Context, session string, number int) error {
	rows := slices.Clone(t.sent.rows[session])
	for i := range rows {
		rows[i].Acknowledged = rows[i].Acknowledged || rows[i].Number <= number
	}
	if len(rows) > 0 {
		t.sent.mine()[session] = rows
	}
	return nil
}

func (t *agentTx) PutExploration(_ context.Context, row durable.ExplorationRow) (err error) {
	if err := texts([]string{row.ID, row.Interest}, row.State); err != nil {
		return err
	}
	if row.Body, err = body(row.Body); err != nil {
		return err
	}
	micros(&row.At, &row.ForgetAt)
	t.explorations.mine()[row.ID] = row
	return nil
}

func (t *agentTx) PutCoalition(_ context.Context, row durable.CoalitionRow) (err error) {
	if err := texts([]string{row.ID, row.Interest}); err != nil {
		return err
	}
	if row.Body, err = body(row.Body); err != nil {
		return err
	}
	micros(&row.At, &row.ForgetAt)
	t.coalitions.mine()[row.ID] = row
	return nil
}

func (t *agentTx) PutLedger(_ context.Context, row durable.LedgerRow) error {
	if err := cmp.Or(key(row.Key.Lineage, 255), key(row.Key.Quantity, 1024)); err != nil {
		return err
	}
	b, err := body(row.Body)
	if err != nil {
		return err
	}
	rows := maps.Clone(t.ledger.rows[row.Key.Lineage])
	if rows == nil {
		rows = map[string][]byte{}
	}
	rows[row.Key.Quantity] = b
	t.ledger.mine()[row.Key.Lineage] = rows
	return nil
}

func (t *agentTx) DeleteLedger(_ context.Context, key gidp.LedgerKey) error {
	rows := maps.Clone(t.ledger.rows[key.Lineage])
	delete(rows, key.Quantity)
	t.ledger.mine()[key.Lineage] = rows
	return nil
}

func (t *agentTx) AddEntry(_ context.Context, row durable.EntryRow) (err error) {
	if err := texts([]string{row.ID, row.Interest, string(row.State)}, row.Session); err != nil {
		return err
	}
	if row.Body, err = body(row.Body); err != nil {
		return err
	}
	if _, ok := t.entries.rows[row.ID]; ok {
		return durable.ErrExists
	}
	micros(&row.At, &row.Deadline, &row.DecidedAt)
	t.entries.mine()[row.ID] = row
	return nil
}

func (t *agentTx) Decide(_ context.Context, id string, state durable.EntryState, at time.Time) error {
	if state == durable.Waiting {
		return errors.New("a decision does not leave an entry waiting")
	}
	if err := texts([]string{string(state)}); err != nil {
		return err
	}
	row, err := found(t.entries, id)
	if err != nil {
		return err
	}
	if row.State != durable.Waiting {
		return durable.ErrExists
	}
	micros(&at)
	row.State, row.DecidedAt = state, at
	t.entries.mine()[id] = row
	return nil
}

func (t *agentTx) AddAudit(_ context.Context, row durable.AuditRow) (err error) {
	if err := texts([]string{row.Lineage, row.Kind}); err != nil {
		return err
	}
	if row.Body, err = body(row.Body); err != nil {
		return err
	}
	rows := t.trails.rows[row.Lineage]
	if row.Sequence != int64(len(rows))+1 {
		return durable.ErrExists
	}
	micros(&row.At)
	t.trails.mine()[row.Lineage] = append(slices.Clip(rows), row)
	return nil
}

func (t *agentTx) Schedule(_ context.Context, kind durable.WorkKind, id string, due time.Time) error {
	if err := texts([]string{string(kind), id}); err != nil {
		return err
	}
	if due.IsZero() {
		delete(t.work.mine(), workKey{kind, id})
		return nil
	}
	micros(&due)
	t.work.mine()[workKey{kind, id}] = dueRow{due, due}
	return nil
}

func (t *agentTx) Claim(_ context.Context, now, until time.Time, limit int) ([]durable.Work, error) {
	micros(&now, &until)
	if !until.After(now) {
		return nil, errors.New("a claim ends after it begins")
	}
	var keys []workKey
	for k, w := range t.work.rows {
		if !w.free.After(now) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b workKey) int {
		return cmp.Or(t.work.rows[a].free.Compare(t.work.rows[b].free), cmp.Compare(a.kind, b.kind), strings.Compare(a.id, b.id))
	})
	var out []durable.Work
	for _, k := range keys[:max(0, min(limit, len(keys)))] {
		due := t.work.rows[k].due
		t.work.mine()[k] = dueRow{due, until}
		out = append(out, durable.Work{Kind: k.kind, ID: k.id, Due: due})
	}
	return out, nil
}

func (t *agentTx) RaiseMark(_ context.Context, n int64) error {
	t.mark = max(t.mark, n)
	return nil
}

func (t *agentTx) Forget(_ context.Context, before time.Time, limit int) error {
	micros(&before)
	first := func(n int) int { return max(0, min(limit, n)) }
	past := func(at time.Time) bool { return !at.IsZero() && !at.After(before) }

	sessions := chosen(t.sessions.rows, func(s durable.SessionRow) bool { return s.Closed && past(s.ForgetAt) },
		func(a, b durable.SessionRow) int {
			return cmp.Or(a.ForgetAt.Compare(b.ForgetAt), strings.Compare(a.ID, b.ID))
		})
	for _, s := range sessions[:first(len(sessions))] {
		delete(t.sessions.mine(), s.ID)
		delete(t.sent.mine(), s.ID)
		maps.DeleteFunc(t.received.mine(), func(k receivedKey, _ [32]byte) bool { return k.session == s.ID })
		maps.DeleteFunc(t.parts.mine(), func(k partKey, _ []byte) bool { return k.session == s.ID })
		maps.DeleteFunc(t.entries.mine(), func(_ string, e durable.EntryRow) bool { return e.Session == s.ID })
	}

	entries := chosen(t.entries.rows, func(e durable.EntryRow) bool {
		_, there := t.sessions.rows[e.Session]
		return e.State != durable.Waiting && past(e.DecidedAt) && !there
	}, func(a, b durable.EntryRow) int {
		return cmp.Or(a.DecidedAt.Compare(b.DecidedAt), strings.Compare(a.ID, b.ID))
	})
	for _, e := range entries[:first(len(entries))] {
		delete(t.entries.mine(), e.ID)
	}

	projections := chosen(t.projections.rows, func(p durable.ProjectionRow) bool { return past(p.ForgetAt) },
		func(a, b durable.ProjectionRow) int {
			return cmp.Or(a.ForgetAt.Compare(b.ForgetAt), strings.Compare(a.Ref, b.Ref))
		})
	for _, p := range projections[:first(len(projections))] {
		delete(t.projections.mine(), p.Ref)
	}

	explorations := chosen(t.explorations.rows, func(x durable.ExplorationRow) bool { return past(x.ForgetAt) },
		func(a, b durable.ExplorationRow) int {
			return cmp.Or(a.ForgetAt.Compare(b.ForgetAt), strings.Compare(a.ID, b.ID))
		})
	for _, x := range explorations[:first(len(explorations))] {
		delete(t.explorations.mine(), x.ID)
	}

	coalitions := chosen(t.coalitions.rows, func(c durable.CoalitionRow) bool { return past(c.ForgetAt) },
		func(a, b durable.CoalitionRow) int {
			return cmp.Or(a.ForgetAt.Compare(b.ForgetAt), strings.Compare(a.ID, b.ID))
		})
	for _, c := range coalitions[:first(len(coalitions))] {
		delete(t.coalitions.mine(), c.ID)
	}
	return nil
}
