package agent

import (
	"bytes"
	"container/list"
	"slices"
	"strings"
	"sync"

	"sayso/gidp"
	"sayso/gidp/gidpa2a"
	"sayso/gidp/interest"
	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
	"sayso/internal/vault"
)

// What a step of a session left open is there for the next one. It counts only for the very bytes that the row holds when it is read in a transaction: each sealing draws a
// nonce, so a row that another process, a restore or anybody else wrote is opened anew, and what was never committed is never served.

// Bounds of what is kept open: bytes of sessions as they are sealed and sent, and rows of the ledger.
const (
	maxOpened     = 32 << 20
	maxOpenedRows = 4096
	maxViews      = 1024
)

// openCache is what is kept open. The zero value is ready.
type openCache struct {
	mu       sync.Mutex
	sessions map[string]*list.Element   // guarded by mu; of openSession, by session
	recent   list.List                  // guarded by mu; the same, the last used first
	size     int                        // guarded by mu; of all sessions
	rows     map[gidp.LedgerKey]openRow // guarded by mu; by where they lie
	views    map[outlook]gidp.View      // guarded by mu
}

// outlook is all that a view depends on.
type outlook struct {
	of       *vault.Holding
	active   bool
	depth    wire.Depth
	revealed string // keys, which hold no zero byte
	verified bool
	member   string // domains and classes, which hold none either
	attested string
}

// openSession is an open responder with all that it sent.
type openSession struct {
	id     string
	sealed []byte
	body   *sessionBody // nil while a turn has it, or when that did not commit
	kept   parts
	digest string       // of its state; "": not known
	task   gidpa2a.Task // its list is never written to, only behind its end, by the turn that has the body
	size   int
}

// openRow is a row of the ledger, which nobody writes to.
type openRow struct {
	sealed []byte
	key    gidp.LedgerKey // of its quantity
	row    gidp.Row
}

func (o *openCache) find(row durable.SessionRow) (*openSession, bool) {
	at := o.sessions[row.ID]
	if at == nil {
		return nil, false
	}
	s := at.Value.(*openSession)
	if s.task.Version != row.Version || !bytes.Equal(s.sealed, row.Body) {
		return nil, false
	}
	o.recent.MoveToFront(at)
	return s, true
}

// task is a session as its peer's transport sees it.
func (o *openCache) task(row durable.SessionRow) (gidpa2a.Task, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s, ok := o.find(row)
	if !ok {
		return gidpa2a.Task{}, false
	}
	return capped(s.task), true
}

// take hands a session to one turn, which may change it. If that does not commit, the next one opens the row.
func (o *openCache) take(row durable.SessionRow) (openSession, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s, ok := o.find(row)
	if !ok || s.body == nil {
		return openSession{}, false
	}
	taken := *s
	s.body = nil
	return taken, true
}

// keep puts a session as it was committed in place of what was known of it. A closed one has no next step.
func (o *openCache) keep(t *turn, task gidpa2a.Task) {
	row, body := t.row, t.body // and nothing else of the turn
	s := &openSession{id: row.ID, sealed: row.Body, body: &body, kept: t.kept, digest: t.saved, task: task, size: 3 * len(row.Body)}
	for _, a := range task.Artifacts {
		s.size += len(a.Object) + len(a.Signature) + len(a.Evidence) + len(a.Hint) + len(a.Key)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if at := o.sessions[row.ID]; at != nil {
		o.drop(at)
	}
	if task.Closed || s.size > maxOpened {
		return
	}
	if o.sessions == nil {
		o.sessions = map[string]*list.Element{}
	}
	o.sessions[row.ID] = o.recent.PushFront(s)
	o.size += s.size
	for o.size > maxOpened {
		o.drop(o.recent.Back())
	}
}

func (o *openCache) drop(at *list.Element) {
	s := o.recent.Remove(at).(*openSession)
	delete(o.sessions, s.id)
	o.size -= s.size
}

// capped is a task whose list grows by a copy.
func capped(task gidpa2a.Task) gidpa2a.Task {
	task.Artifacts = slices.Clip(task.Artifacts)
	return task
}

// view is what a session may know of an interest. Nobody writes to it.
func (o *openCache) view(h *vault.Holding, to interest.Towards) gidp.View {
	list := func(names []string) string { return strings.Join(names, "\x00") }
	key := outlook{h, to.Active, to.Depth, list(to.Revealed), to.Peer.Verified, list(to.Peer.Member), list(to.Peer.Attested)}
	o.mu.Lock()
	found, ok := o.views[key]
	o.mu.Unlock()
	if ok {
		return found
	}
	found = h.View(to)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.views == nil || len(o.views) >= maxViews {
		o.views = map[outlook]gidp.View{}
	}
	o.views[key] = found
	return found
}

// row is a row of the ledger as these bytes say it.
func (o *openCache) row(at gidp.LedgerKey, sealed []byte) (openRow, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	found, ok := o.rows[at]
	return found, ok && bytes.Equal(found.sealed, sealed)
}

// keepRow keeps a row of the ledger beside the bytes that say it.
func (o *openCache) keepRow(at gidp.LedgerKey, row openRow) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.rows == nil || len(o.rows) >= maxOpenedRows {
		o.rows = map[gidp.LedgerKey]openRow{}
	}
	o.rows[at] = row
}
