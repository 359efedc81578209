package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sayso/business"
	"sayso/business/answer"
	"sayso/business/bizhttp"
)

const (
	// compileTimeout bounds how long one publisher's records are read for a compile. Callers wait as long as their own context lets them.
	compileTimeout = 30 * time.Second
	// warmTimeout bounds how long a new state waits for the snapshots of what changed. What is not compiled by then is compiled at the next question: a pause
	// or a revocation must not wait for a lexicon.
	warmTimeout = 2 * time.Second
)

// stored says which content the store holds of a publisher.
type stored struct {
	hash       string
	generation uint64
	incomplete bool // no part of the hash, and a denial depends on it
}

func storedIn(row *PublisherRow) stored {
	return stored{row.ContentHash, row.Generation, row.Incomplete}
}

// content is one content state of a publisher and what questions about it are answered from. Entries share it while the state stays.
type content struct {
	stored stored
	hosts  []string // sorted: the locators of records follow from them

	compiled atomic.Pointer[answer.Compiled] // nil while it is not resident
	used     atomic.Uint64                   // tick of its newest question
	// wanted says that questions are asked: the content after this one is compiled before it is served. It ends when the snapshot has to make room.
	wanted atomic.Bool
	gone   bool // guarded by resident.mu: another content is served

	mu      sync.Mutex // guards flight and refused
	flight  *flight
	refused refusedCompile
}

// contentOf is the content of a row: the one that is served already while it stays.
func contentOf(row *PublisherRow, hosts []string, known *entry) *content {
	c := &content{stored: storedIn(row), hosts: hosts}
	if known != nil && known.content != nil {
		if known.content.stored == c.stored && slices.Equal(known.content.hosts, hosts) {
			return known.content
		}
		c.wanted.Store(known.content.wanted.Load())
	}
	return c
}

// compiled is the resident snapshot of a publisher's stored content, nil without one.
func (s *served) compiled(slug string, of stored) *answer.Compiled {
	current := s.state.Load()
	if current == nil || current.bySlug[slug] == nil {
		return nil
	}
	if c := current.bySlug[slug].content; c != nil && c.stored == of {
		return c.compiled.Load()
	}
	return nil
}

// flight is one compile that everybody waits for who asks meanwhile. Its results are written before done is closed.
type flight struct {
	content  *content
	done     chan struct{}
	compiled *answer.Compiled
	err      error
}

// refusedCompile keeps for retryAge that stored rows cannot be compiled: whoever asks must not make this process read them all the time.
type refusedCompile struct {
	err       error
	at, until time.Time
}

// errMoved says that the store holds another content of the publisher than the entry that was looked at.
var errMoved = errors.New("the content is another one by now")

// errRows says that stored rows cannot be compiled; reading them again does not help.
var errRows = errors.New("stored content cannot be compiled")

// await waits for the compiled snapshot of an entry and starts the compile when nobody has. Without a result and without an error the content is another one
// by now.
func (r *Registry) await(ctx context.Context, e *entry) (*flight, error) {
	c, now := e.content, r.Now()
	c.wanted.Store(true)
	c.mu.Lock()
	if c.refused.err != nil && !now.Before(c.refused.at) && now.Before(c.refused.until) {
		c.mu.Unlock()
		return nil, bizhttp.ErrUnavailable
	}
	f := c.flight
	if f == nil {
		f = &flight{content: c, done: make(chan struct{})}
		c.flight = f
		go r.fly(context.WithoutCancel(ctx), e, f)
	}
	c.mu.Unlock()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-f.done:
	}
	if f.err != nil && !errors.Is(f.err, errMoved) {
		return nil, bizhttp.ErrUnavailable
	}
	return f, nil
}

// fly runs a compile to its end, whoever of those who wait goes away.
func (r *Registry) fly(ctx context.Context, e *entry, f *flight) {
	ctx, cancel := context.WithTimeout(ctx, compileTimeout)
	defer cancel()
	if f.err = r.resident.slot(ctx); f.err == nil {
		f.compiled, f.err = r.compile(ctx, e)
		r.resident.leave()
		r.resident.shrink()
	}
	if errors.Is(f.err, errMoved) {
		if err := r.catchUp(ctx, e); err != nil {
			f.err = err
		}
	}
	c := e.content
	c.mu.Lock()
	c.flight = nil
	if errors.Is(f.err, errRows) {
		now := r.Now()
		c.refused = refusedCompile{f.err, now, now.Add(retryAge)}
	}
	c.mu.Unlock()
	if f.err != nil && !errors.Is(f.err, errMoved) {
		r.log.Error("no question can be answered", "publisher", e.slug, "cause", f.err.Error())
	}
	close(f.done)
}

// catchUp serves what the store holds by now, unless somebody else has already.
func (r *Registry) catchUp(ctx context.Context, e *entry) error {
	r.served.mu.Lock()
	defer r.served.mu.Unlock()
	old := r.served.state.Load()
	if old.bySlug[e.slug] != e {
		return nil
	}
	return r.reload(ctx, old.revision, []string{e.slug})
}

// compile makes the compiled snapshot of an entry, all of one reading of the store, and makes it resident.
func (r *Registry) compile(ctx context.Context, e *entry) (*answer.Compiled, error) {
	snapshot, err := r.readSnapshot(ctx, e)
	if err != nil {
		return nil, err
	}
	compiled, err := compileSnapshot(snapshot)
	if err != nil {
		return nil, err
	}
	r.resident.add(e.content, compiled)
	return compiled, nil
}

func (r *Registry) readSnapshot(ctx context.Context, e *entry) (answer.Snapshot, error) {
	s := answer.Snapshot{Publication: e.publication, Site: r.site}
	err := r.store.View(ctx, func(rd Reader) error {
		row, err := rd.Publisher(ctx, e.slug)
		if err != nil {
			return err
		}
		if storedIn(row) != e.content.stored {
			return errMoved
		}
		s.Records, err = allRecords(ctx, rd, e.slug)
		return err
	})
	return s, err
}

func allRecords(ctx context.Context, rd Reader, slug string) ([]business.Record, error) {
	var records []business.Record
	for row, err := range rd.Records(ctx, slug, "", "", "") {
		if err != nil {
			return nil, err
		}
		record, err := decodeRecord(row)
		if err != nil {
			return nil, fmt.Errorf("%w: record %s: %w", errRows, business.EntityKey(row.Type, row.ID), err)
		}
		records = append(records, *record)
	}
	return records, nil
}

// compileSnapshot compiles. What a publisher published must not end the process for the others, so a fault of the engine is an error of this publisher's.
func compileSnapshot(s answer.Snapshot) (compiled *answer.Compiled, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			compiled, err = nil, fmt.Errorf("%w: %v", errRows, fault)
		}
	}()
	if compiled, err = answer.Compile(s); err != nil {
		return nil, fmt.Errorf("%w: %w", errRows, err)
	}
	return compiled, nil
}

// leave lets go of the snapshots that a new state does not serve any more.
func (r *Registry) leave(old, next *state, changed []string) {
	for _, slug := range changed {
		if old == nil || old.bySlug[slug] == nil {
			continue
		}
		if c := old.bySlug[slug].content; c != nil && next.bySlug[slug].content != c {
			r.resident.drop(c)
		}
	}
	r.resident.shrink()
}

// warm compiles what changed for the publishers that are asked about, before the new state is served: nobody waits, and a call sees one content only.
func (r *Registry) warm(ctx context.Context, old, next *state, changed []string) {
	ctx, cancel := context.WithTimeout(ctx, warmTimeout)
	defer cancel()
	for _, slug := range changed {
		e := next.bySlug[slug]
		if e == nil || e.publication == nil || !e.content.wanted.Load() || old != nil && old.bySlug[slug] != nil && old.bySlug[slug].content == e.content {
			continue
		}
		if _, err := r.compile(ctx, e); err != nil && !errors.Is(err, errMoved) {
			r.log.Warn("content is served before it is compiled", "publisher", slug, "cause", err.Error())
		}
	}
}
