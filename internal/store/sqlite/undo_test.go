package sqlite_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"sayso/internal/store/sqlite"
	"sayso/internal/store/storetest"
)

// A process that was killed while it put a new file into WAL mode leaves a rollback journal, which a connection that only reads cannot undo.
func TestOpenAfterAWriteThatWasCutOff(t *testing.T) {
	dir := t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(dir, "cut.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	// Without synchronisation the journal says from its first byte on that it is whole, so that a copy of both files is what a kill leaves.
	if _, err := db.Exec("PRAGMA synchronous = OFF; CREATE TABLE a (b); DROP TABLE a; BEGIN; CREATE TABLE c (d)"); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "sayso.db")
	for _, suffix := range []string{"", "-journal"} {
		data, err := os.ReadFile(filepath.Join(dir, "cut.db"+suffix))
		if err != nil || len(data) == 0 {
			t.Fatalf("%d bytes, %v", len(data), err)
		}
		if err := os.WriteFile(path+suffix, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if steps, err := sqlite.Plan(t.Context(), path); err != nil || len(steps) != len(sqlite.Migrations()) {
		t.Fatalf("%d migrations, %v", len(steps), err)
	}
	storetest.Fill(t, open(t, path))
}
