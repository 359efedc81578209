package agent

import (
	"context"
	"fmt"
	"sync"
	"time"

	"sayso/gidp/session"
	"sayso/internal/agent/durable"
)

const (
	workers   = 4
	pollEvery = 250 * time.Millisecond
	workLimit = 90 * time.Second // of one handler
	lease     = 2 * time.Minute  // longer than workLimit, so that no other process takes what is still being done

	releaseLimit = 2 * time.Second // of giving back what the end of the loop cut short
	forgetWait   = time.Hour
	forgetMost   = 1000
	minBackoff   = time.Second
	maxBackoff   = time.Minute

	maxFailures = 4096 // that are counted at once

	// keepEnded is how long a search and a projection are kept after their end, the longest life of a session they may have led to included.
	keepEnded = session.MaxLife + keepClosed
)

// Run does the work that is due until ctx ends, and then waits for what it began. Several processes may run on one store: each piece of work is claimed by one, and by
// another when that one dies. It never returns for a fault of a handler; the work is tried again.
func (a *Agent) Run(ctx context.Context) error {
	l := &loop{agent: a, active: map[workKey]*job{}, freed: make(chan struct{}, workers)}
	defer l.wait.Wait()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	var forgotten, looked time.Time
	for {
		if now := a.Now(); now.Sub(looked) >= markEvery || now.Before(looked) {
			looked = now
			l.complain(ctx, a.marked.look(ctx))
		}
		if now := a.Now(); now.Sub(forgotten) >= forgetWait || now.Before(forgotten) {
			forgotten = now
			a.forget(ctx, now)
		}
		l.claim(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-a.kicked:
		case <-l.freed:
		case <-poll.C:
		}
	}
}

// forget deletes what may be forgotten by now, so much each time.
func (a *Agent) forget(ctx context.Context, now time.Time) {
	if err := a.Store.Update(ctx, func(w durable.Writer) error { return w.Forget(ctx, now, forgetMost) }); err != nil && ctx.Err() == nil {
		a.Log.Warn("gidp: could not forget old rows", "cause", err)
	}
}

type workKey struct {
	kind durable.WorkKind
	id   string
}

// job is one handler that runs. again is set when its work came due meanwhile.
type job struct{ again bool }

// loop is one run of Run.
type loop struct {
	agent *Agent
	wait  sync.WaitGroup
	freed chan struct{} // a handler ended

	mu       sync.Mutex
	active   map[workKey]*job // guarded by mu
	failures map[workKey]int  // guarded by mu; in a row
}

// claim takes as much due work as there are free workers. It reads first, so that an idle agent writes nothing.
func (l *loop) claim(ctx context.Context) {
	a := l.agent
	l.mu.Lock()
	free := workers - len(l.active)
	l.mu.Unlock()
	if free <= 0 {
		return
	}
	now := a.Now()
	var due time.Time
	err := a.Store.View(ctx, func(r durable.Reader) (err error) {
		due, err = r.NextDue(ctx)
		return err
	})
	if err != nil || due.IsZero() || due.After(now) {
		l.complain(ctx, err)
		return
	}
	var claimed []durable.Work
	err = a.Store.Update(ctx, func(w durable.Writer) (err error) {
		claimed, err = w.Claim(ctx, now, now.Add(lease), free)
		return err
	})
	if err != nil {
		l.complain(ctx, err)
		return
	}
	for _, w := range claimed {
		l.start(ctx, w)
	}
}

func (l *loop) complain(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		l.agent.Log.Warn("gidp: could not look for work", "cause", err)
	}
}

// start runs a handler. Two handlers of one piece of work never run at once in a process: the second one waits for the end of the first.
func (l *loop) start(ctx context.Context, w durable.Work) {
	key := workKey{w.Kind, w.ID}
	l.mu.Lock()
	defer l.mu.Unlock()
	if running, ok := l.active[key]; ok {
		running.again = true
		return
	}
	this := &job{}
	l.active[key] = this
	l.wait.Go(func() {
		for l.once(ctx, w) && l.more(key, this) {
		}
		select {
		case l.freed <- struct{}{}:
		default:
		}
	})
}

// more ends a job unless its work came due while it ran.
func (l *loop) more(key workKey, this *job) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if this.again {
		this.again = false
		return true
	}
	delete(l.active, key)
	return false
}

// once runs a handler and, when it fails, schedules another try. It reports false when the loop is to end.
func (l *loop) once(ctx context.Context, w durable.Work) bool {
	a, key := l.agent, workKey{w.Kind, w.ID}
	limited, cancel := context.WithTimeout(ctx, workLimit)
	err := guarded(func() error { return a.work(limited, w) })
	cancel()
	l.mu.Lock()
	if err == nil {
		delete(l.failures, key)
	} else {
		if l.failures == nil || len(l.failures) > maxFailures {
			l.failures = map[workKey]int{}
		}
		l.failures[key]++
	}
	failures := l.failures[key]
	l.mu.Unlock()
	if err == nil {
		return l.ended(ctx, key)
	}
	if ctx.Err() != nil {
		l.release(ctx, w)
		return l.ended(ctx, key)
	}
	a.Log.Warn("gidp: work failed and is tried again", "kind", string(w.Kind), "cause", err)
	due := a.Now().Add(backoff(failures))
	if err := a.Store.Update(ctx, func(tx durable.Writer) error { return tx.Schedule(ctx, w.Kind, w.ID, due) }); err != nil {
		l.complain(ctx, err) // the lease ends
	}
	return l.ended(ctx, key)
}

// release gives back work that the end of the loop cut short, so that who comes next does not wait for the lease.
func (l *loop) release(ctx context.Context, w durable.Work) {
	a := l.agent
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseLimit)
	defer cancel()
	if err := a.Store.Update(ctx, func(tx durable.Writer) error { return tx.Schedule(ctx, w.Kind, w.ID, a.Now()) }); err != nil {
		a.Log.Warn("gidp: work that was cut short waits for its lease", "kind", string(w.Kind), "cause", err)
	}
}

// ended reports whether the loop goes on; a job of a loop that ends is over.
func (l *loop) ended(ctx context.Context, key workKey) bool {
	if ctx.Err() == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.active, key)
	return false
}

// guarded turns a panic of a handler, which would be a fault of the program, into an error: one broken session must not stop the others. What was panicked with is not kept.
func guarded(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("a handler panicked (%T)", r)
		}
	}()
	return f()
}

// backoff doubles from a second to a minute.
func backoff(failures int) time.Duration {
	return min(minBackoff<<min(max(failures-1, 0), 6), maxBackoff)
}

// work runs the handler of one piece of work. A handler that returns nil has scheduled its work anew or taken it away.
func (a *Agent) work(ctx context.Context, w durable.Work) error {
	switch w.Kind {
	case durable.WorkInterest:
		return a.tendInterest(ctx, w.ID)
	case durable.WorkProjection:
		return a.tendProjection(ctx, w.ID)
	case durable.WorkExploration:
		return a.tendExploration(ctx, w.ID)
	case durable.WorkSession:
		return a.driveSession(ctx, w.ID)
	}
	return a.Store.Update(ctx, func(tx durable.Writer) error { return tx.Schedule(ctx, w.Kind, w.ID, time.Time{}) })
}
