package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"sayso/internal/app"
)

// Migration is one step of a schema, read from a file NNNN_name.sql.
type Migration struct {
	Number int
	Name   string
	SQL    string
	Sum    string // SHA-256 of the file in hex
}

// Applied is a step that a database has been through.
type Applied struct {
	Number int
	Sum    string
}

// Load reads the migrations of one engine. They are numbered from 1 without a gap.
func Load(files fs.FS) ([]Migration, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, err
	}
	var out []Migration
	for i, name := range names {
		number, title, ok := strings.Cut(strings.TrimSuffix(path.Base(name), ".sql"), "_")
		n, err := strconv.Atoi(number)
		if !ok || err != nil || n != i+1 {
			return nil, fmt.Errorf("migration %s is out of order: %04d_name.sql is expected there", name, i+1)
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(text)
		out = append(out, Migration{Number: n, Name: title, SQL: string(text), Sum: hex.EncodeToString(sum[:])})
	}
	return out, nil
}

// Pending compares what a database went through with what the program knows and returns the steps that are left. A database that is ahead is refused with
// app.ErrNewerSchema, one that went another way with an error of its own.
func Pending(known []Migration, applied []Applied) ([]Migration, error) {
	if len(applied) > len(known) {
		return nil, fmt.Errorf("schema %d where this program knows %d: %w", len(applied), len(known), app.ErrNewerSchema)
	}
	for i, a := range applied {
		if a.Number != known[i].Number || a.Sum != known[i].Sum {
			return nil, fmt.Errorf("migration %d of the database is not the one of this program: it was written by a build that was never released", known[i].Number)
		}
	}
	return known[len(applied):], nil
}

// PlanText is what a dry run prints: one line for each step that is left.
func PlanText(steps []Migration) string {
	if len(steps) == 0 {
		return "the schema is current, nothing to do\n"
	}
	var b strings.Builder
	for _, m := range steps {
		fmt.Fprintf(&b, "migration %d: %s (%.12s)\n", m.Number, strings.ReplaceAll(m.Name, "_", " "), m.Sum)
	}
	return b.String()
}

// Migrate takes the steps that are left, one transaction each. apply runs one step unless the database has been through it meanwhile: it takes the engine's
// write lock first and asks again under it, so that any number of processes may start at once.
func Migrate(ctx context.Context, steps []Migration, apply func(context.Context, Migration) error) error {
	for _, m := range steps {
		if err := apply(ctx, m); err != nil {
			return fmt.Errorf("migration %d (%s): %w", m.Number, m.Name, err)
		}
	}
	return nil
}
