package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"sayso/internal/app"
	"sayso/internal/store/sqlite"
	"sayso/internal/store/storetest"
)

func TestMain(m *testing.M) {
	storetest.Child(func(ctx context.Context, path string) (app.Store, error) { return sqlite.Open(ctx, path) })
	storetest.GIDPChild(func(ctx context.Context, path string) (storetest.GIDP, error) {
		s, err := sqlite.Open(ctx, path)
		if err != nil {
			return storetest.GIDP{}, err
		}
		return gidp(s), nil
	})
	os.Exit(m.Run())
}

func open(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestContract(t *testing.T) {
	storetest.Run(t, func(t testing.TB) app.Store { return open(t, filepath.Join(t.TempDir(), "sayso.db")) })
}

func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sayso.db")
	storetest.Kill(t, path, 25, func(t testing.TB) app.Store { return open(t, path) })
}
