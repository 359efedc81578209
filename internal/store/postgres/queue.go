package postgres

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// errTurn makes a transaction begin again once it is the only one of this process at the heads it needs.
var errTurn = errors.New("another transaction of this process has taken the head")

// queue lets the writers of one process take a head one after the other. A serialisable transaction that waited for a row fails when it gets it, so writers
// that meet at a head would mostly repeat each other's work; here they wait before they begin. Writers of other processes are met by repeating.
type queue struct {
	mu    sync.Mutex
	heads map[string]*head
}

// head is one slot; waiting counts who holds it or waits for it, so that it can be dropped.
type head struct {
	slot    chan struct{}
	waiting int
}

func newQueue() *queue { return &queue{heads: map[string]*head{}} }

func (q *queue) join(slug string) *head {
	q.mu.Lock()
	defer q.mu.Unlock()
	h := q.heads[slug]
	if h == nil {
		h = &head{slot: make(chan struct{}, 1)}
		q.heads[slug] = h
	}
	h.waiting++
	return h
}

func (q *queue) leave(slug string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.heads[slug].waiting--; q.heads[slug].waiting == 0 {
		delete(q.heads, slug)
	}
}

// claim is what one attempt holds and what it would have needed.
type claim struct {
	queue  *queue
	held   []string
	missed []string
}

// take waits for the named heads. All wait in the same order and hold nothing else meanwhile, so they cannot wait for each other in a circle.
func (q *queue) take(ctx context.Context, slugs []string) (*claim, error) {
	c := &claim{queue: q}
	slices.Sort(slugs)
	for _, slug := range slugs {
		h := q.join(slug)
		select {
		case h.slot <- struct{}{}:
			c.held = append(c.held, slug)
		case <-ctx.Done():
			q.leave(slug)
			c.release()
			return nil, ctx.Err()
		}
	}
	return c, nil
}

// add takes one more head if it is free; a transaction is open, so it must not wait.
func (c *claim) add(slug string) error {
	if slices.Contains(c.held, slug) {
		return nil
	}
	h := c.queue.join(slug)
	select {
	case h.slot <- struct{}{}:
		c.held = append(c.held, slug)
		return nil
	default:
		c.queue.leave(slug)
		c.missed = append(c.missed, slug)
		return errTurn
	}
}

// wanted is what the next attempt takes beforehand.
func (c *claim) wanted() []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.held, c.missed))))
}

func (c *claim) release() {
	for _, slug := range c.held {
		c.queue.mu.Lock()
		h := c.queue.heads[slug]
		c.queue.mu.Unlock()
		<-h.slot
		c.queue.leave(slug)
	}
	c.held = nil
}
