package postgres_test

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/internal/app"
	"sayso/internal/store"
	"sayso/internal/store/pgtest"
	"sayso/internal/store/postgres"
	"sayso/internal/store/storetest"
)

func TestBesideAnotherProcess(t *testing.T) {
	url := pgtest.Database(t)
	storetest.Beside(t, url, open(t, url))
}

// A trigger makes the n-th writing statement of the database fail with 40001, for every n there is: each time the act takes place once and whole.
func TestSerialisationFailureAtEveryStatement(t *testing.T) {
	ctx := t.Context()
	s := open(t, pgtest.Database(t))
	tables := []string{"operations", "heads", "publishers", "records", "publisher_keys", "registry_keys", "revocations", "proofs", "verifications", "hosts", "tokens", "readings", "audit"}
	run := func(statement string, args ...any) {
		t.Helper()
		if _, err := s.Pool().Exec(ctx, statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE SEQUENCE statements")
	run("CREATE TABLE fail_at (n BIGINT)")
	run(`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF nextval('statements') = (SELECT n FROM fail_at) THEN RAISE EXCEPTION 'injected' USING ERRCODE = '40001'; END IF; RETURN NULL; END $$`)
	for _, table := range tables {
		run("CREATE TRIGGER fail BEFORE INSERT OR UPDATE OR DELETE ON " + table + " FOR EACH STATEMENT EXECUTE FUNCTION fail()")
	}
	for n := 1; ; n++ {
		run("SELECT setval('statements', 1, false)")
		run("INSERT INTO fail_at VALUES ($1)", n)
		storetest.Fill(t, s)
		storetest.Filled(t, s)
		var taken int64
		if err := s.Pool().QueryRow(ctx, "SELECT nextval('statements')").Scan(&taken); err != nil {
			t.Fatal(err)
		}
		if int(taken) <= n { // the act has fewer statements
			if n < 20 {
				t.Errorf("only %d statements were made to fail", n)
			}
			return
		}
		run("DELETE FROM fail_at")
		for _, table := range slices.Backward(tables) {
			run("DELETE FROM " + table)
		}
		run("INSERT INTO heads VALUES ('', 0)")
	}
}

// A connection that is killed in the middle of an act, or while it is idle, is replaced.
func TestLostConnections(t *testing.T) {
	ctx := t.Context()
	address := pgtest.Database(t)
	s, admin := open(t, address), open(t, address)
	kill := func() {
		if _, err := admin.Pool().Exec(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"); err != nil {
			t.Error(err)
		}
	}
	runs := 0
	err := s.Update(ctx, "", func(w app.Writer) error {
		runs++
		_, err := w.Advance(ctx, "")
		if runs <= 2 {
			kill()
		}
		if err == nil {
			_, err = w.Advance(ctx, "")
		}
		return err
	})
	if err != nil || runs != 3 {
		t.Fatalf("%d runs, %v", runs, err)
	}
	for n := range 5 {
		kill()
		heads, err := s.Heads(ctx)
		if err != nil || heads[""] != uint64(2+n) {
			t.Fatalf("heads %v, %v", heads, err)
		}
		kill()
		if err := s.Update(ctx, "", func(w app.Writer) error { _, err := w.Advance(ctx, ""); return err }); err != nil {
			t.Fatal(err)
		}
	}
}

// The connection breaks after the server committed and before it says so: the act is not run twice.
func TestCommitWhoseAnswerIsLost(t *testing.T) {
	ctx := t.Context()
	address := pgtest.Database(t)
	proxy := newProxy(t, address)
	s := open(t, proxy.address)
	for n := range uint64(5) {
		runs := 0
		err := s.Update(ctx, "", func(w app.Writer) error {
			runs++
			_, err := w.Advance(ctx, "")
			proxy.cutNextCommit.Store(true)
			return err
		})
		if err != nil || runs != 1 {
			t.Fatalf("%d runs, %v", runs, err)
		}
		if proxy.cutNextCommit.Load() {
			t.Fatal("no commit was cut")
		}
		if heads, err := s.Heads(ctx); err != nil || heads[""] != n+1 {
			t.Fatalf("heads %v after %d acts, %v", heads, n+1, err)
		}
	}
}

func TestUnreachable(t *testing.T) {
	address := pgtest.Database(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	nowhere := "postgres://somebody:secret@/none?host=" + url.QueryEscape(t.TempDir())
	_, err := postgres.Open(ctx, nowhere)
	var failure *store.Failure
	if !errors.As(err, &failure) || failure.Class != store.Lost {
		t.Errorf("error %v", err)
	}
	missing := strings.Replace(address, "/test", "/missing", 1)
	_, err2 := postgres.Open(ctx, missing)
	_, err3 := postgres.Open(ctx, "postgres://%zz:secret@")
	for _, err := range []error{err, err2, err3} {
		if err == nil || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "host") && strings.Contains(err.Error(), "somebody") {
			t.Errorf("error %v", err)
		}
	}
}

func TestOpenRefusesWhatIsNotDurable(t *testing.T) {
	address := pgtest.Database(t)
	s := open(t, address)
	var name string
	if err := s.Pool().QueryRow(t.Context(), "SELECT current_database()").Scan(&name); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Pool().Exec(t.Context(), "ALTER DATABASE "+name+" SET synchronous_commit = off"); err != nil {
		t.Fatal(err)
	}
	if other, err := postgres.Open(t.Context(), address); err == nil || !strings.Contains(err.Error(), "synchronous_commit = off") {
		t.Errorf("error %v", err)
		if err == nil {
			other.Close()
		}
	}
}

// Who waits for a head of this process waits no longer than its context, and leaves nothing behind.
func TestWaitingForAHeadEnds(t *testing.T) {
	s := open(t, pgtest.Database(t))
	advance := func(ctx context.Context, during func()) error {
		return s.Update(ctx, "", func(w app.Writer) error {
			_, err := w.Advance(ctx, "")
			if err == nil {
				during()
			}
			return err
		})
	}
	err := advance(t.Context(), func() {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if err := advance(ctx, func() { t.Error("two transactions hold one head") }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
	if heads, err2 := s.Heads(t.Context()); err != nil || err2 != nil || heads[""] != 1 {
		t.Errorf("%v, %v, heads %v", err, err2, heads)
	}
	if n := s.Queued(); n != 0 {
		t.Errorf("%d heads are still queued for", n)
	}
}

// Operations that a caller named are kept, the store's own are forgotten once no attempt of theirs can be under way.
func TestOwnOperationsAreForgotten(t *testing.T) {
	ctx := t.Context()
	s := open(t, pgtest.Database(t))
	run := func(app.Writer) error { return nil }
	for _, operation := range []string{"", "", "named"} {
		if err := s.Update(ctx, operation, run); err != nil {
			t.Fatal(err)
		}
	}
	count := func() (n int) {
		if err := s.Pool().QueryRow(ctx, "SELECT count(*) FROM operations").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if s.Sweep(ctx); count() != 3 {
		t.Errorf("%d operations after a sweep of young ones", count())
	}
	if _, err := s.Pool().Exec(ctx, "UPDATE operations SET at = at - 3700000000"); err != nil {
		t.Fatal(err)
	}
	if s.Sweep(ctx); count() != 1 {
		t.Errorf("%d operations after a sweep of old ones", count())
	}
}
