package store

import (
	"context"
	"strconv"
	"strings"

	"sayso/internal/app"
)

const readingColumns = "stream, type, id, location, value, observed_at, received_at"

func readingValues(slug string, row *app.ReadingRow) ([]any, error) {
	var e encoder
	if (row.Type == "") != (row.ID == "") {
		e.refuse("a reading is about a record by type and id, or about none")
	}
	if row.Type != "" {
		e.key("the record's type", row.Type, maxName)
		e.key("the record's id", row.ID, maxID)
	}
	if row.Location != "" {
		e.key("the location", row.Location, maxID)
	}
	if len(row.Value) == 0 || row.ObservedAt.IsZero() || row.ReceivedAt.IsZero() {
		e.refuse("a reading has a value and both times")
	}
	out := []any{e.key("the publisher", slug, maxName), e.key("the stream", row.Stream, maxStream), row.Type, row.ID, row.Location,
		[]byte(row.Value), row.ObservedAt.UnixMicro(), row.ReceivedAt.UnixMicro()}
	return out, e.err
}

func scanReading(scan scanner) (app.ReadingRow, error) {
	var row app.ReadingRow
	var observed, received int64
	err := scan(&row.Stream, &row.Type, &row.ID, &row.Location, (*[]byte)(&row.Value), &observed, &received)
	row.ObservedAt, row.ReceivedAt = moment{&observed}.time(), moment{&received}.time()
	return row, err
}

// where is the condition on the given columns of a table; a value that is "" takes every row.
func where(pairs ...string) (string, []any) {
	var terms []string
	var args []any
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			args = append(args, pairs[i+1])
			terms = append(terms, pairs[i]+" = $"+strconv.Itoa(len(args)))
		}
	}
	return strings.Join(terms, " AND "), args
}

// Readings implements app.Reader.
func (r *Reader) Readings(ctx context.Context, slug, stream, typ, id, location string) ([]app.ReadingRow, error) {
	if slug == "" || !storable(slug, stream, typ, id, location) {
		return nil, nil
	}
	if typ == "" {
		id = ""
	}
	condition, args := where("publisher", slug, "stream", stream, "type", typ, "id", id, "location", location)
	return list(ctx, r, "list readings", scanReading,
		"SELECT "+readingColumns+" FROM readings WHERE "+condition+" ORDER BY stream, type, id, location", args...)
}

// ReadingsFrom implements app.Reader.
func (r *Reader) ReadingsFrom(ctx context.Context, slug, stream, typ, id string, limit int) ([]app.ReadingRow, error) {
	if !storable(slug, stream, typ, id) || limit <= 0 {
		return nil, nil
	}
	return list(ctx, r, "list readings", scanReading, "SELECT "+readingColumns+" FROM readings WHERE publisher = $1 AND stream = $2 AND (type, id) >= ($3, $4) "+
		"ORDER BY stream, type, id, location LIMIT $5", slug, stream, typ, id, int64(limit))
}

// CountReadings implements app.Reader.
func (r *Reader) CountReadings(ctx context.Context, slug string) (n int, err error) {
	if !storable(slug) {
		return 0, nil
	}
	err = r.one(ctx, "count readings", "SELECT count(*) FROM readings WHERE publisher = $1", []any{slug}, func(scan scanner) error { return scan(&n) })
	return n, err
}

// PutReading implements app.Writer.
func (w *Writer) PutReading(ctx context.Context, slug string, row *app.ReadingRow) (bool, error) {
	values, err := readingValues(slug, row)
	if err != nil {
		return false, err
	}
	n, err := w.exec(ctx, "write a reading", "INSERT INTO readings (publisher, "+readingColumns+") VALUES ($1, $2, $3, $4, $5, $6, $7, $8) "+
		"ON CONFLICT (publisher, stream, type, id, location) DO UPDATE SET value = excluded.value, observed_at = excluded.observed_at, "+
		"received_at = excluded.received_at WHERE readings.observed_at < excluded.observed_at", values...)
	return n > 0, err
}

// DeleteReadings implements app.Writer.
func (w *Writer) DeleteReadings(ctx context.Context, slug, stream, location string) error {
	if slug == "" || !storable(slug, stream, location) {
		return nil
	}
	condition, args := where("publisher", slug, "stream", stream, "location", location)
	_, err := w.exec(ctx, "delete readings", "DELETE FROM readings WHERE "+condition, args...)
	return err
}

// PruneReadings implements app.Writer.
func (w *Writer) PruneReadings(ctx context.Context, slug string) error {
	if !storable(slug) {
		return nil
	}
	_, err := w.exec(ctx, "delete readings", "DELETE FROM readings WHERE publisher = $1 AND type <> '' AND NOT EXISTS (SELECT 1 FROM records "+
		"WHERE records.publisher = readings.publisher AND records.type = readings.type AND records.id = readings.id)", slug)
	return err
}
