package postgres_test

import (
	"testing"

	"sayso/internal/store/pgtest"
	"sayso/internal/store/postgres"
	"sayso/internal/store/storetest"
)

func gidp(s *postgres.Store) storetest.GIDP {
	return storetest.GIDP{Agents: s.Agents(), Provider: s.Provider(), Check: s.Check}
}

func TestGIDP(t *testing.T) {
	storetest.RunGIDP(t, func(t testing.TB) storetest.GIDP { return gidp(open(t, pgtest.Database(t))) })
}

func TestGIDPTogether(t *testing.T) {
	storetest.RunGIDPTogether(t, func(t testing.TB) [2]storetest.GIDP {
		url := pgtest.Database(t)
		return [2]storetest.GIDP{gidp(open(t, url)), gidp(open(t, url))}
	})
}

func TestGIDPKill(t *testing.T) {
	url := pgtest.Database(t)
	storetest.GIDPKill(t, url, 12, func(t testing.TB) (storetest.GIDP, func() error) {
		s := open(t, url)
		return gidp(s), s.Close
	})
}

// What the registry keeps is there after the tables of GIDP were added.
func TestGIDPMigration(t *testing.T) {
	url := pgtest.Database(t)
	before, err := postgres.OpenWith(t.Context(), url, postgres.Migrations()[:2])
	if err != nil {
		t.Fatal(err)
	}
	storetest.Fill(t, before)
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, url)
	storetest.Filled(t, s)
	if _, err := s.Provider().Secret(t.Context(), [32]byte{1}); err != nil {
		t.Error(err)
	}
	storetest.Filled(t, s)
}
