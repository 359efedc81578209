package sqlite

import (
	"context"

	"sayso/gidp/providerhttp"
	"sayso/internal/agent/durable"
	"sayso/internal/store"
)

// Agents returns what agents of GIDP keep in this file. A person without a registry opens the file for nothing else.
func (s *Store) Agents() durable.Store { return store.NewAgents(engine{s}) }

// Provider returns what a discovery provider of GIDP keeps in this file.
func (s *Store) Provider() providerhttp.Rows { return store.NewProvider(engine{s}) }

// engine is store.Engine.
type engine struct{ s *Store }

func (e engine) Read(ctx context.Context, f func(*store.Reader) error) error { return e.s.view(ctx, f) }

func (e engine) Write(ctx context.Context, f func(*store.Writer) error) error {
	act := store.Act{Run: f}
	return store.Retry(ctx, attempts, func() (bool, error) {
		return e.s.batch.run(ctx, func(s *session) (bool, error) {
			_, fromDatabase, err := act.Do(ctx, s)
			return fromDatabase, err
		})
	})
}
