package postgres_test

import (
	"context"
	"testing"

	"sayso/internal/app"
	"sayso/internal/store/pgtest"
	"sayso/internal/store/postgres"
	"sayso/internal/store/storetest"
)

func TestMain(m *testing.M) {
	storetest.Child(func(ctx context.Context, url string) (app.Store, error) { return postgres.Open(ctx, url) })
	storetest.GIDPChild(func(ctx context.Context, url string) (storetest.GIDP, error) {
		s, err := postgres.Open(ctx, url)
		if err != nil {
			return storetest.GIDP{}, err
		}
		return gidp(s), nil
	})
	pgtest.Main(m)
}

func open(t testing.TB, url string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestContract(t *testing.T) {
	storetest.Run(t, func(t testing.TB) app.Store { return open(t, pgtest.Database(t)) })
}

func TestKill(t *testing.T) {
	url := pgtest.Database(t)
	storetest.Kill(t, url, 25, func(t testing.TB) app.Store { return open(t, url) })
}
