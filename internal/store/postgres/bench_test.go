package postgres_test

import (
	"testing"

	"sayso/internal/app"
	"sayso/internal/store/pgtest"
	"sayso/internal/store/postgres"
	"sayso/internal/store/storetest"
)

func BenchmarkImport(b *testing.B) {
	storetest.BenchImport(b, func(t testing.TB) app.Store { return open(t, pgtest.Database(t)) }, func(t testing.TB, s app.Store) {
		ctx := t.Context()
		tx, err := s.(*postgres.Store).Pool().Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback(ctx)
		const insert = "INSERT INTO records (publisher, type, id, leaf, updated_at, body) VALUES ($1, $2, $3, $4, $5, $6)" // pgx prepares it once
		for row := range storetest.Rows() {
			if _, err := tx.Exec(ctx, insert, "shop", row.Type, row.ID, row.Leaf[:], row.UpdatedAt.UnixMicro(), row.Body); err != nil {
				t.Fatal(err)
			}
		}
		if err := tx.Commit(ctx); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkRead(b *testing.B) { storetest.BenchRead(b, open(b, pgtest.Database(b))) }
