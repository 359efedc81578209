package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sayso/internal/agent/durable"
	"sayso/internal/store"
	"sayso/internal/store/sqlite"
	"sayso/internal/store/storetest"
)

func BenchmarkGIDPStep(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "sayso.db"))
	db := s.Writer()
	if _, err := db.Exec("CREATE TABLE bare (id INTEGER PRIMARY KEY, body BLOB NOT NULL)"); err != nil {
		b.Fatal(err)
	}
	const insert = "INSERT INTO bare (body) VALUES (?)"
	body := make([]byte, 1024)
	storetest.BenchStep(b, s.Agents(), func() error {
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if _, err := tx.Exec(insert, body); err != nil {
			return err
		}
		return tx.Commit()
	})
}

func gidp(s *sqlite.Store) storetest.GIDP {
	return storetest.GIDP{Agents: s.Agents(), Provider: s.Provider(), Check: s.Check}
}

func TestGIDP(t *testing.T) {
	ran := map[string]bool{}
	storetest.RunGIDP(t, func(t testing.TB) storetest.GIDP {
		s := open(t, filepath.Join(t.TempDir(), "sayso.db"))
		t.Cleanup(func() {
			for _, statement := range s.Statements() {
				ran[statement] = true
			}
		})
		return gidp(s)
	})
	indexed(t, ran)
}

// indexed fails for statements that look through a table for what they want. Lists of everything look through one by intent.
func indexed(t *testing.T, statements map[string]bool) {
	db := open(t, filepath.Join(t.TempDir(), "sayso.db")).Writer()
	explained := 0
	for statement := range statements {
		if !strings.Contains(statement, "WHERE") || strings.Contains(statement, "gidp_bans") {
			continue
		}
		var args []any
		for strings.Contains(statement, fmt.Sprint("$", len(args)+1)) {
			args = append(args, 1)
		}
		rows, err := db.Query("EXPLAIN QUERY PLAN "+strings.ReplaceAll(statement, "$", "?"), args...)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var id, parent, unused int
			var step string
			if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
				t.Fatal(err)
			}
			explained++
			if strings.HasPrefix(step, "SCAN") && !strings.Contains(step, "USING") && step != "SCAN CONSTANT ROW" || strings.Contains(step, "TEMP B-TREE") {
				t.Errorf("%s\n\t%s", statement, step)
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Error(err)
		}
	}
	if explained < 20 {
		t.Errorf("only %d steps were explained", explained)
	}
}

func TestGIDPTogether(t *testing.T) {
	storetest.RunGIDPTogether(t, func(t testing.TB) [2]storetest.GIDP {
		path := filepath.Join(t.TempDir(), "sayso.db")
		return [2]storetest.GIDP{gidp(open(t, path)), gidp(open(t, path))}
	})
}

func TestGIDPKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sayso.db")
	storetest.GIDPKill(t, path, 12, func(t testing.TB) (storetest.GIDP, func() error) {
		s := open(t, path)
		return gidp(s), s.Close
	})
}

// What the registry keeps is there after the tables of GIDP were added, and a copy of the file as it was before.
func TestGIDPMigration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sayso.db")
	before, err := sqlite.OpenWith(t.Context(), path, sqlite.Migrations()[:2])
	if err != nil {
		t.Fatal(err)
	}
	storetest.Fill(t, before)
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	storetest.Filled(t, s)
	if _, err := s.Provider().Secret(t.Context(), [32]byte{1}); err != nil {
		t.Error(err)
	}
	storetest.Filled(t, s)
	if _, err := os.Stat(path + ".schema-2.bak"); err != nil {
		t.Errorf("no copy of the older schema: %v", err)
	}
}

// An act for which there is no room takes nothing of those with it that share its transaction, whatever SQLite makes of the transaction.
func TestGIDPFull(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "sayso.db"))
	if err := s.Batch("PRAGMA max_page_count = 600"); err != nil {
		t.Fatal(err)
	}
	agents := s.Agents()
	add := func(id string, size int) error {
		return agents.Update(t.Context(), func(w durable.Writer) error {
			return w.PutExploration(t.Context(), durable.ExplorationRow{ID: id, Interest: "i", Body: make([]byte, size)})
		})
	}
	var group sync.WaitGroup
	for i := range 60 {
		group.Go(func() {
			if i%6 != 0 {
				if err := add(fmt.Sprint(i), 100); err != nil {
					t.Error(err)
				}
				return
			}
			err := add(fmt.Sprint(i), 3<<20)
			var failure *store.Failure
			if !errors.As(err, &failure) || failure.Class != store.Full {
				t.Errorf("an act without room: %v", err)
			}
		})
	}
	group.Wait()
	err := agents.View(t.Context(), func(r durable.Reader) error {
		rows, err := r.Explorations(t.Context(), "")
		if len(rows) != 50 {
			t.Errorf("%d rows are there", len(rows))
		}
		return err
	})
	if err := errors.Join(err, s.Batch("PRAGMA max_page_count = 1000000"), add("more", 3<<20), s.Check(t.Context())); err != nil {
		t.Error(err)
	}
}

// A store that is closed while acts come keeps what it acknowledged and refuses the rest.
func TestGIDPClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sayso.db")
	s := open(t, path)
	agents := s.Agents()
	var acknowledged atomic.Int64
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			for n := 0; ; n++ {
				if agents.Update(context.Background(), func(w durable.Writer) error {
					return w.PutExploration(context.Background(), durable.ExplorationRow{ID: fmt.Sprint(i, ".", n), Interest: "i", Body: []byte("x")})
				}) != nil {
					return
				}
				acknowledged.Add(1)
			}
		})
	}
	for acknowledged.Load() < 50 {
		time.Sleep(time.Millisecond)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	group.Wait()
	err := open(t, path).Agents().View(t.Context(), func(r durable.Reader) error {
		rows, err := r.Explorations(t.Context(), "")
		if int64(len(rows)) != acknowledged.Load() {
			t.Errorf("%d rows are there, %d were acknowledged", len(rows), acknowledged.Load())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path + "-wal"); err != nil {
		t.Error("the second store is open: ", err)
	}
}
