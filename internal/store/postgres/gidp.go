package postgres

import (
	"context"

	"sayso/gidp/providerhttp"
	"sayso/internal/agent/durable"
	"sayso/internal/store"
)

// Agents returns what agents of GIDP keep in this database.
func (s *Store) Agents() durable.Store { return store.NewAgents(engine{s}) }

// Provider returns what a discovery provider of GIDP keeps in this database.
func (s *Store) Provider() providerhttp.Rows { return store.NewProvider(engine{s}) }

// engine is store.Engine.
type engine struct{ s *Store }

func (e engine) Read(ctx context.Context, f func(*store.Reader) error) error { return e.s.view(ctx, f) }

func (e engine) Write(ctx context.Context, f func(*store.Writer) error) error {
	return e.s.act(ctx, "", f)
}
