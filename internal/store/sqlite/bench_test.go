package sqlite_test

import (
	"path/filepath"
	"testing"

	"sayso/internal/app"
	"sayso/internal/store/sqlite"
	"sayso/internal/store/storetest"
)

func BenchmarkImport(b *testing.B) {
	storetest.BenchImport(b, func(t testing.TB) app.Store { return open(t, filepath.Join(t.TempDir(), "sayso.db")) }, func(t testing.TB, s app.Store) {
		tx, err := s.(*sqlite.Store).Writer().Begin()
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		insert, err := tx.Prepare("INSERT INTO records (publisher, type, id, leaf, updated_at, body) VALUES (?, ?, ?, ?, ?, ?)")
		if err != nil {
			t.Fatal(err)
		}
		for row := range storetest.Rows() {
			if _, err := insert.Exec("shop", row.Type, row.ID, row.Leaf[:], row.UpdatedAt.UnixMicro(), row.Body); err != nil {
				t.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	storetest.BenchRead(b, open(b, filepath.Join(b.TempDir(), "sayso.db")))
}
