package postgres_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"sayso/internal/app"
	"sayso/internal/store"
	"sayso/internal/store/pgtest"
	"sayso/internal/store/postgres"
	"sayso/internal/store/storetest"
)

// next is what a later release would bring.
func next(sql string) []store.Migration {
	return append(slices.Clip(postgres.Migrations()), store.Migration{Number: len(postgres.Migrations()) + 1, Name: "more_to_come", SQL: sql, Sum: "sum"})
}

func TestMigration(t *testing.T) {
	ctx := t.Context()
	address := pgtest.Database(t)
	if steps, err := postgres.Plan(ctx, address); err != nil || len(steps) != len(postgres.Migrations()) {
		t.Errorf("%v, %v", steps, err)
	}
	s := open(t, address)
	storetest.Fill(t, s)
	if steps, err := postgres.Plan(ctx, address); err != nil || len(steps) != 0 {
		t.Errorf("%v, %v", steps, err)
	}
	// A migration that fails leaves nothing behind.
	if _, err := postgres.OpenWith(ctx, address, next("CREATE TABLE more (a TEXT); CREATE TABLE heads (a TEXT)")); err == nil {
		t.Fatal("a migration that fails was taken")
	}
	storetest.Filled(t, open(t, address))
	newer, err := postgres.OpenWith(ctx, address, next("CREATE TABLE more (a TEXT)"))
	if err != nil {
		t.Fatal(err)
	}
	defer newer.Close()
	storetest.Filled(t, newer)
	if _, schema, err := newer.Describe(ctx); err != nil || schema != len(postgres.Migrations())+1 {
		t.Errorf("schema %d, %v", schema, err)
	}
	if _, err := postgres.Open(ctx, address); !errors.Is(err, app.ErrNewerSchema) {
		t.Errorf("the older program says %v", err)
	}
	if _, err := postgres.Plan(ctx, address); !errors.Is(err, app.ErrNewerSchema) {
		t.Errorf("plan: %v", err)
	}
	storetest.Filled(t, newer)
}

func TestOpenRefusesAnotherProgramsDatabase(t *testing.T) {
	address := pgtest.Database(t)
	s, err := postgres.OpenWith(t.Context(), address, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Pool().Exec(t.Context(), "CREATE TABLE films (title TEXT)"); err != nil {
		t.Fatal(err)
	}
	if _, err := postgres.Open(t.Context(), address); err == nil || !strings.Contains(err.Error(), "another program") {
		t.Errorf("error %v", err)
	}
}

// Many replicas that start at once agree on one schema.
func TestOpenAtOnce(t *testing.T) {
	address := pgtest.Database(t)
	errs := make(chan error)
	for range 8 {
		go func() {
			s, err := postgres.Open(context.Background(), address)
			if err == nil {
				err = errors.Join(s.Check(context.Background()), s.Close())
			}
			errs <- err
		}()
	}
	for range 8 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// The fixture was written by the first release; later ones must read it. It is made anew only when schema 1 is not released yet:
// SAYSO_WRITE_FIXTURE=1 go test -run TestFixture ./internal/store/...
func TestFixtureOfSchema1(t *testing.T) {
	const fixture = "testdata/schema-1.sql"
	ctx := t.Context()
	if os.Getenv("SAYSO_WRITE_FIXTURE") != "" {
		address := pgtest.Database(t)
		s, err := postgres.OpenWith(ctx, address, postgres.Migrations()[:1])
		if err != nil {
			t.Fatal(err)
		}
		storetest.Fill1(t, s)
		s.Close()
		out, err := exec.Command("pg_dump", "--inserts", "--no-owner", "--no-privileges", address).Output()
		if err != nil {
			t.Fatal(err)
		}
		var lines []string // without comments, and without commands and settings that only psql or only one version knows
		for line := range strings.Lines(string(out)) {
			if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "--") && !strings.HasPrefix(line, `\`) && !strings.HasPrefix(line, "SET ") {
				lines = append(lines, line)
			}
		}
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(fixture, []byte(strings.Join(lines, "")), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	address := pgtest.Database(t)
	empty, err := postgres.OpenWith(ctx, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer empty.Close()
	conn, err := empty.Pool().Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Conn().PgConn().Exec(ctx, string(text)).ReadAll(); err != nil {
		t.Fatal(err)
	}
	conn.Conn().Close(ctx) // the dump changes settings of its session
	conn.Release()
	s := open(t, address)
	storetest.Filled1(t, s)
	if err := s.Check(ctx); err != nil {
		t.Error(err)
	}
	storetest.FillReadings(t, s)
	storetest.Filled(t, s)
}
