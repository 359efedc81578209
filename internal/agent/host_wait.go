package agent

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"sayso/gidp/gidpa2a"
	"sayso/internal/agent/durable"
)

// Streams wait for sessions. A commit of this process wakes them; for those of other processes one of those who wait looks at the store for all of them, so that
// a thousand streams read no more than a few.

const (
	waitLook = time.Second // between two looks at the store
	waitFew  = 8           // sessions that are read one by one; of more, all that are open are listed
)

// Wait implements [gidpa2a.Host]. A commit of this process is seen at once, one of another within a second or two.
func (a *Agent) Wait(ctx context.Context, id string, seen uint64) error {
	changed, leave := a.watchers.watch(id, seen)
	defer leave()
	look := time.NewTicker(a.watchers.every())
	defer look.Stop()
	for {
		var version uint64
		err := a.Store.View(ctx, func(r durable.Reader) error {
			row, err := r.Session(ctx, id)
			version = row.Version
			return absent(err, refusal(gidpa2a.NotFound, nil))
		})
		if err != nil || version != seen {
			return operational(err)
		}
		for woken := false; !woken; {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-changed:
				woken = true
			case <-look.C:
				if err := a.lookForAll(ctx); err != nil {
					return operational(err)
				}
			}
		}
	}
}

// lookForAll wakes those whose session another process has changed, unless somebody has looked a moment ago.
func (a *Agent) lookForAll(ctx context.Context) error {
	watched := a.watchers.claim(time.Now())
	if len(watched) == 0 {
		return nil
	}
	versions := map[string]uint64{} // a session that is not found, or closed, has another version than anybody saw: 0
	err := a.Store.View(ctx, func(r durable.Reader) error {
		clear(versions)
		if len(watched) > waitFew {
			return sessions(ctx, r, "", true, func(row durable.SessionRow) error {
				versions[row.ID] = row.Version
				return nil
			})
		}
		for _, id := range watched {
			row, err := r.Session(ctx, id)
			if err != nil && !errors.Is(err, durable.ErrNotFound) {
				return err
			}
			versions[id] = row.Version
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range watched {
		a.watchers.wake(id, func(w *waiter) bool { return w.seen != versions[id] })
	}
	return nil
}

// watchers wake those who wait for a session. The zero value is ready.
type watchers struct {
	between time.Duration // two looks; 0: waitLook

	mu     sync.Mutex
	list   map[string][]*waiter // guarded by mu; by session
	looked time.Time            // guarded by mu; when somebody last looked for all
}

type waiter struct {
	changed chan struct{} // holds at most one
	seen    uint64
}

func (w *watchers) every() time.Duration {
	if w.between > 0 {
		return w.between
	}
	return waitLook
}

// watch returns a channel that gets a value after each commit, and what ends that. seen is the version that the caller knows.
func (w *watchers) watch(id string, seen uint64) (<-chan struct{}, func()) {
	own := &waiter{changed: make(chan struct{}, 1), seen: seen}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.list == nil {
		w.list = map[string][]*waiter{}
	}
	w.list[id] = append(w.list[id], own)
	return own.changed, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		rest := slices.DeleteFunc(w.list[id], func(other *waiter) bool { return other == own })
		if w.list[id] = rest; len(rest) == 0 {
			delete(w.list, id)
		}
	}
}

// claim returns the sessions that are waited for to one caller in each interval, and nothing to the others.
func (w *watchers) claim(now time.Time) (ids []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Sub(w.looked) < w.every()*7/8 { // one who waits alone looks each time, though no two ticks are exactly so far apart
		return nil
	}
	w.looked = now
	for id := range w.list {
		ids = append(ids, id)
	}
	return ids
}

func (w *watchers) notify(id string) { w.wake(id, func(*waiter) bool { return true }) }

func (w *watchers) wake(id string, which func(*waiter) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, own := range w.list[id] {
		if !which(own) {
			continue
		}
		select {
		case own.changed <- struct{}{}:
		default:
		}
	}
}
