package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
)

var OpenWith, Migrations = open, migrations

// Pool is where tests reach the database beside the store.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// Sweep forgets old operations.
func (s *Store) Sweep(ctx context.Context) { s.sweep(ctx) }

// Queued is how many heads are held or waited for.
func (s *Store) Queued() int {
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	return len(s.queue.heads)
}
