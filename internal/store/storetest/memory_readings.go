package storetest

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"sayso/internal/app"
	"sayso/jcs"
)

// readingKey is what there is one reading of.
type readingKey struct{ slug, stream, typ, id, location string }

func (t *transaction) Readings(_ context.Context, slug, stream, typ, id, location string) ([]app.ReadingRow, error) {
	if !storable(slug, stream, typ, id, location) {
		return nil, nil
	}
	var out []app.ReadingRow
	for k, row := range t.readings {
		if k.slug == slug && (stream == "" || k.stream == stream) && (typ == "" || k.typ == typ && (id == "" || k.id == id)) && (location == "" || k.location == location) {
			out = append(out, row)
		}
	}
	slices.SortFunc(out, func(a, b app.ReadingRow) int {
		return cmp.Or(strings.Compare(a.Stream, b.Stream), strings.Compare(a.Type, b.Type), strings.Compare(a.ID, b.ID), strings.Compare(a.Location, b.Location))
	})
	return out, nil
}

func (t *transaction) ReadingsFrom(ctx context.Context, slug, stream, typ, id string, limit int) ([]app.ReadingRow, error) {
	if !storable(typ, id) {
		return nil, nil
	}
	rows, err := t.Readings(ctx, slug, stream, "", "", "")
	rows = slices.DeleteFunc(rows, func(r app.ReadingRow) bool {
		return r.Stream != stream || cmp.Or(strings.Compare(r.Type, typ), strings.Compare(r.ID, id)) < 0
	})
	return rows[:min(len(rows), max(0, limit))], err
}

func (t *transaction) CountReadings(ctx context.Context, slug string) (int, error) {
	rows, err := t.Readings(ctx, slug, "", "", "", "")
	return len(rows), err
}

func (t *transaction) PutReading(_ context.Context, slug string, row *app.ReadingRow) (bool, error) {
	if err := cmp.Or(key(slug, 255), key(row.Stream, 64), text(row.Type, row.ID, row.Location)); err != nil {
		return false, err
	}
	if (row.Type == "") != (row.ID == "") || len(row.Type) > 255 || len(row.ID) > 1024 || len(row.Location) > 1024 ||
		len(row.Value) == 0 || row.ObservedAt.IsZero() || row.ReceivedAt.IsZero() {
		return false, errors.New("a reading is not whole")
	}
	r := *row
	r.Value = jcs.Raw(document(r.Value))
	micros(&r.ObservedAt, &r.ReceivedAt)
	k := readingKey{slug, r.Stream, r.Type, r.ID, r.Location}
	if old, ok := t.readings[k]; ok && !old.ObservedAt.Before(r.ObservedAt) {
		return false, nil
	}
	t.readings[k] = r
	return true, t.refer(slug)
}

func (t *transaction) DeleteReadings(_ context.Context, slug, stream, location string) error {
	maps.DeleteFunc(t.readings, func(k readingKey, _ app.ReadingRow) bool {
		return k.slug == slug && (stream == "" || k.stream == stream) && (location == "" || k.location == location)
	})
	return nil
}

func (t *transaction) PruneReadings(_ context.Context, slug string) error {
	maps.DeleteFunc(t.readings, func(k readingKey, _ app.ReadingRow) bool {
		_, there := t.records[slug][app.RecordKey{Type: k.typ, ID: k.id}]
		return k.slug == slug && k.typ != "" && !there
	})
	return nil
}
