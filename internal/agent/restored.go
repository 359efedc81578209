package agent

import (
	"cmp"
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"sayso/internal/agent/durable"
	"sayso/internal/app"
)

// A database that is older than this data folder has seen was put back from a backup. What was told since is not in it, so every row of the ledger is frozen before
// anything else is answered (L-7, P5).
//
// The database has a mark, a number that only grows; the keys folder holds the highest that was seen here (vault.Mark). A process moves the mark before it first writes
// the ledger, and again when it writes it a minute later: in the database, by a transaction of its own; then in the folder, synced; then what is charged may commit. So
//
//   - the folder never holds a mark that the database has not had: wherever a process ends, nothing looks like a restore that is none;
//   - what is charged lies under a mark that the folder holds, and a copy of the database with a lower one is found out: when an agent is first used, each minute while
//     it runs, and in each transaction that reads the ledger;
//   - replicas never freeze for each other's sake. A folder that lags knows less and accuses nobody, and a freeze moves the mark further than charges ever could, so that
//     no folder that was ahead freezes again what has been approved since.
//
// What is not noticed: a copy that is put back hides charges under the mark that it holds itself, made within a minute after that mark, when nothing was charged later.
// The keys folder put back with the database, or without its mark, knows of nothing; so does one that no process used after the copy was made, and when the first to use
// the older database has such a folder, another one notices only until the mark has come as far again, by one each minute with a charge.

const (
	markEvery = time.Minute // how long charges of one process go under one mark
	markLeap  = 1 << 32     // of a freeze: thousands of years of minutes
	markTries = 8           // of a transaction whose mark has to be seen to
)

// marked is the store of an agent, watched for being older than it was.
type marked struct {
	durable.Store // as it was given
	agent         *Agent

	turn sync.Mutex // held by one comparison, move or freeze at a time

	mu    sync.Mutex
	used  bool      // guarded by mu; the database has been compared once
	seen  int64     // guarded by mu; a mark that the folder holds
	moved time.Time // guarded by mu; when this process moved the mark; zero: not yet
}

var (
	errPutBack = errors.New("the database seems older than it was")
	errUnmoved = errors.New("the mark has to move first")
)

// View implements durable.Store.
func (m *marked) View(ctx context.Context, f func(durable.Reader) error) error {
	if err := m.first(ctx); err != nil {
		return err
	}
	return m.Store.View(ctx, f)
}

// Update implements durable.Store. A transaction that reads a ledger which was put back, or writes one under a mark that is too old, is undone and runs again.
func (m *marked) Update(ctx context.Context, f func(durable.Writer) error) error {
	if err := m.first(ctx); err != nil {
		return err
	}
	for range markTries {
		var stop error
		err := m.Store.Update(ctx, func(w durable.Writer) error {
			mw := &markedWriter{Writer: w, m: m}
			err := f(mw)
			stop = mw.stop
			return cmp.Or(stop, err)
		})
		switch {
		case stop == nil:
			return err
		case errors.Is(stop, errPutBack):
			err = m.look(ctx)
		default:
			err = m.move(ctx)
		}
		if err != nil {
			return err
		}
	}
	return errors.New("the mark of the database does not hold still")
}

// markedWriter is one transaction.
type markedWriter struct {
	durable.Writer
	m       *marked
	current bool  // the mark is not below what the folder has seen
	stop    error // why it has to be undone
}

// Ledger implements durable.Reader. Nothing is evaluated on rows of an older copy.
func (w *markedWriter) Ledger(ctx context.Context, lineage string) ([]durable.LedgerRow, error) {
	rows, err := w.Writer.Ledger(ctx, lineage)
	if err == nil && len(rows) > 0 {
		err = w.compare(ctx)
	}
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// PutLedger implements durable.Writer.
func (w *markedWriter) PutLedger(ctx context.Context, row durable.LedgerRow) error {
	if err := w.compare(ctx); err != nil {
		return err
	}
	if !w.m.covered() {
		w.stop = errUnmoved
		return w.stop
	}
	return w.Writer.PutLedger(ctx, row)
}

// compare stops a transaction over an older copy. One that began before another process moved the mark looks like that too; whoever looks closer finds nothing.
func (w *markedWriter) compare(ctx context.Context) error {
	if w.current || w.stop != nil {
		return w.stop
	}
	seen, err := w.m.folder()
	if err != nil {
		return err
	}
	mark, err := w.Mark(ctx)
	if err != nil {
		return err
	}
	if mark < seen {
		w.stop = errPutBack
	}
	w.current = w.stop == nil
	return w.stop
}

// covered reports whether what is charged now lies under a mark that is new enough.
func (m *marked) covered() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	age := m.agent.Now().Sub(m.moved)
	return !m.moved.IsZero() && age >= 0 && age < markEvery
}

func (m *marked) highest() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.seen
}

// first compares the database before it is first used.
func (m *marked) first(ctx context.Context) error {
	m.mu.Lock()
	used := m.used
	m.mu.Unlock()
	if used {
		return nil
	}
	return m.look(ctx)
}

// look compares the database with what the folder has seen: it freezes the ledger of an older one, and keeps the mark of a newer one.
func (m *marked) look(ctx context.Context) error {
	m.turn.Lock()
	defer m.turn.Unlock()
	seen, err := m.folder() // before the database is read, which has had whatever it says
	if err != nil {
		return err
	}
	var mark int64
	if err := m.Store.View(ctx, func(r durable.Reader) (err error) {
		mark, err = r.Mark(ctx)
		return err
	}); err != nil {
		return inside("read mark", err)
	}
	if mark < seen {
		return m.freeze(ctx, seen, true)
	}
	return m.keep(mark)
}

// move raises the mark, unless another caller has. Then the ledger may be written.
func (m *marked) move(ctx context.Context) error {
	m.turn.Lock()
	defer m.turn.Unlock()
	if m.covered() {
		return nil
	}
	seen, err := m.folder()
	if err != nil {
		return err
	}
	var mark int64
	now, older := m.agent.Now(), false
	if err := m.Store.Update(ctx, func(w durable.Writer) (err error) {
		if mark, err = w.Mark(ctx); err != nil {
			return err
		}
		if older = mark < seen; older {
			return nil
		}
		mark = raised(mark, 1)
		return w.RaiseMark(ctx, mark)
	}); err != nil {
		return inside("raise mark", err)
	}
	if older {
		return m.freeze(ctx, seen, true)
	}
	if err := m.keep(mark); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.moved = now
	return nil
}

// freeze freezes all rows and moves the mark out of reach of every folder. noticed says that it was found out here. The caller holds turn.
func (m *marked) freeze(ctx context.Context, seen int64, noticed bool) error {
	var mark int64
	rows := 0
	if err := m.Store.Update(ctx, func(w durable.Writer) (err error) {
		if mark, err = w.Mark(ctx); err != nil {
			return err
		}
		if rows, err = m.agent.freezeRows(ctx, w, noticed); err != nil {
			return err
		}
		mark = raised(max(mark, seen), markLeap)
		return w.RaiseMark(ctx, mark)
	}); err != nil {
		return inside("freeze ledger", err)
	}
	if noticed {
		m.agent.Log.Warn("gidp: the database is older than its keys folder has seen: every budget is frozen until its principal approves it", "rows", rows)
	}
	return m.keep(mark)
}

func raised(mark, by int64) int64 { return min(mark, math.MaxInt64-by) + by }

// folder is the highest mark that was seen here.
func (m *marked) folder() (int64, error) {
	kept, err := m.agent.Vault.Mark()
	if err != nil {
		return 0, notKept(err)
	}
	return max(kept, m.highest()), nil
}

// keep notes a mark of the database in the folder.
func (m *marked) keep(mark int64) error {
	if mark > m.highest() {
		if err := m.agent.Vault.RaiseMark(mark); err != nil {
			return notKept(err)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen, m.used = max(m.seen, mark), true
	return nil
}

func notKept(cause error) error {
	return because(refuse(app.KindUnavailable, "mark_not_kept", "the keys folder does not say or keep how far the database has come, and without that a budget could be spent twice",
		"let this program read and write keys/gidp in the data folder, which is its own and has mode 0700"), cause)
}

// freezeAudit is what the trail holds of a restore.
type freezeAudit struct {
	Rows    int  `json:"rows"`
	Noticed bool `json:"noticed,omitzero"` // by the agent; else its operator said so
}

// FreezeLedger is for a restore of the whole data folder from a backup (L-7), which nothing in it can tell: what was told since the backup is not known, so every row counts
// as spent and declines everything until its Principal approves it. Doing it again changes nothing. That the database alone is older an agent notices by itself.
func (a *Agent) FreezeLedger(ctx context.Context) error {
	m := a.marked
	if err := m.first(ctx); err != nil {
		return outward(err)
	}
	m.turn.Lock()
	defer m.turn.Unlock()
	return outward(m.freeze(ctx, m.highest(), false))
}

// freezeRows freezes what is not frozen yet, and counts it. It needs no interest to be opened: one whose profile is not loaded is frozen too.
func (a *Agent) freezeRows(ctx context.Context, w durable.Writer, noticed bool) (total int, err error) {
	interests, err := w.Interests(ctx)
	if err != nil {
		return 0, err
	}
	done := map[string]bool{}
	for _, of := range interests {
		if done[of.Lineage] {
			continue
		}
		done[of.Lineage] = true
		rows, err := w.Ledger(ctx, of.Lineage)
		if err != nil {
			return 0, err
		}
		frozen := 0
		for _, row := range rows {
			var f ledgerRow
			if err := a.unseal(ledgerPlace(row.Key), row.Body, &f); err != nil {
				return 0, err
			}
			if f.Frozen {
				continue
			}
			f.Frozen = true
			if row.Body, err = a.seal(ledgerPlace(row.Key), f); err != nil {
				return 0, err
			}
			if err := w.PutLedger(ctx, row); err != nil {
				return 0, err
			}
			frozen++
		}
		if frozen == 0 {
			continue
		}
		total += frozen
		if err := a.audit(ctx, w, of.Lineage, "ledger_restore", freezeAudit{frozen, noticed}); err != nil {
			return 0, err
		}
	}
	return total, nil
}
