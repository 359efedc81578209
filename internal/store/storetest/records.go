package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sayso/business"
	"sayso/internal/app"
)

func records(t *testing.T, s app.Store) {
	With(t, s, "shop", "other")
	ids := []string{"10", "9", "B", "a", "ab", "a b", "é", "😀", "\uFB33", "%41", "a/b", "1"}
	update(t, s, func(ctx context.Context, w app.Writer) {
		for _, typ := range []string{"service", "a-type", "a_type"} {
			var rows []app.RecordRow
			for _, id := range ids {
				rows = append(rows, record(typ, id, `{"id":1}`))
			}
			same(t, must(w.PutRecords(ctx, "shop", each(rows...)))(t), len(ids))
		}
		same(t, must(w.PutRecords(ctx, "other", each(record("service", "1", `{"other":true}`))))(t), 1)
		// Two rows with one key: the later one stands, both are counted.
		same(t, must(w.PutRecords(ctx, "shop", each(record("service", "1", `{"n":1}`), record("service", "1", `{"n":2}`))))(t), 2)
	})
	slices.Sort(ids)
	view(t, s, func(ctx context.Context, r app.Reader) {
		var want []app.RecordKey
		for _, typ := range []string{"a-type", "a_type", "service"} {
			for _, id := range ids {
				want = append(want, app.RecordKey{Type: typ, ID: id})
			}
		}
		all := collect(t, r.Records(ctx, "shop", "", "", ""))
		same(t, keysOf(all), want)
		same(t, keysOf(collect(t, r.Leaves(ctx, "shop"))), want)
		for i, k := range want {
			same(t, keysOf(collect(t, r.Records(ctx, "shop", "", k.Type, k.ID))), nilIfEmpty(want[i+1:]))
		}
		same(t, keysOf(collect(t, r.Records(ctx, "shop", "a_type", "", ""))), want[len(ids):2*len(ids)])
		same(t, keysOf(collect(t, r.Records(ctx, "shop", "a_type", "a_type", ids[3]))), want[len(ids)+4:2*len(ids)])
		same(t, len(collect(t, r.Records(ctx, "shop", "a_type", "service", ""))), 0)
		same(t, len(collect(t, r.Records(ctx, "nobody", "", "", ""))), 0)
		same(t, must(r.RecordCounts(ctx, "shop"))(t), []business.TypeCount{{Type: "a-type", Count: 12}, {Type: "a_type", Count: 12}, {Type: "service", Count: 12}})
		row := must(r.Record(ctx, "shop", "service", "1"))(t)
		want1 := record("service", "1", `{"n":2}`)
		same(t, *row, want1)
		for row := range r.Leaves(ctx, "shop") {
			if row.Body != nil || row.Leaf != record(row.Type, row.ID, "").Leaf || !row.UpdatedAt.Equal(want1.UpdatedAt) {
				t.Errorf("leaf %+v", row)
			}
		}
	})
	update(t, s, func(ctx context.Context, w app.Writer) {
		ok(t, w.DeleteRecords(ctx, "shop", slices.Values([]app.RecordKey{{Type: "service", ID: "1"}, {Type: "service", ID: "not there"}, {Type: "a_type", ID: "😀"}})))
		_, err := w.Record(ctx, "shop", "service", "1")
		is(t, err, app.ErrNotFound)
	})
	view(t, s, func(ctx context.Context, r app.Reader) {
		same(t, len(collect(t, r.Records(ctx, "shop", "", "", ""))), 34)
		same(t, len(collect(t, r.Records(ctx, "other", "", "", ""))), 1)
	})
}

func keysOf(rows []app.RecordRow) []app.RecordKey {
	var out []app.RecordKey
	for _, row := range rows {
		out = append(out, row.RecordKey)
	}
	return out
}

func nilIfEmpty[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return s
}

// bulk crosses the bounds of chunks and pages, by number of rows and by size.
func bulk(t *testing.T, s app.Store) {
	With(t, s, "shop")
	const n = 3000
	big := `{"x":"` + strings.Repeat("x", 200<<10) + `"}`
	buffer := make([]byte, 0, len(big))
	rows := func(yield func(app.RecordRow, error) bool) {
		for i := range n {
			row := record("service", fmt.Sprintf("%05d", (i*7919)%n), "")
			body := fmt.Sprintf(`{"n":%d}`, (i*7919)%n)
			if i%300 == 0 {
				body = big
			}
			row.Body = append(buffer[:0], body...) // one buffer for all rows
			if !yield(row, nil) {
				return
			}
		}
	}
	update(t, s, func(ctx context.Context, w app.Writer) { same(t, must(w.PutRecords(ctx, "shop", rows))(t), n) })
	view(t, s, func(ctx context.Context, r app.Reader) {
		large := 0
		for i, row := range collect(t, r.Records(ctx, "shop", "", "", "")) {
			if row.ID != fmt.Sprintf("%05d", i) || len(row.Body) < 1<<10 && string(row.Body) != fmt.Sprintf(`{"n":%d}`, i) {
				t.Fatalf("row %d is %s with %.40s", i, row.ID, row.Body)
			}
			if len(row.Body) == len(big) {
				large++
			}
		}
		same(t, large, n/300)
		same(t, len(collect(t, r.Leaves(ctx, "shop"))), n)
	})
	update(t, s, func(ctx context.Context, w app.Writer) {
		ok(t, w.DeleteRecords(ctx, "shop", func(yield func(app.RecordKey) bool) {
			for i := 0; i < n; i += 2 {
				if !yield(app.RecordKey{Type: "service", ID: fmt.Sprintf("%05d", i)}) {
					return
				}
			}
		}))
		same(t, must(w.RecordCounts(ctx, "shop"))(t), []business.TypeCount{{Type: "service", Count: n / 2}})
	})
}

// streams are read while the same transaction is used for something else, and may end early.
func streams(t *testing.T, s app.Store) {
	With(t, s, "shop", "copy")
	update(t, s, func(ctx context.Context, w app.Writer) {
		var rows []app.RecordRow
		for i := range 100 {
			rows = append(rows, record("service", fmt.Sprintf("%03d", i), `{}`))
		}
		must(w.PutRecords(ctx, "shop", each(rows...)))(t)
	})
	update(t, s, func(ctx context.Context, w app.Writer) {
		same(t, must(w.PutRecords(ctx, "copy", w.Records(ctx, "shop", "", "", "")))(t), 100)
		seen := 0
		for row, err := range w.Records(ctx, "shop", "", "", "") {
			ok(t, err)
			same(t, must(w.Record(ctx, "copy", row.Type, row.ID))(t).Body, row.Body)
			ok(t, w.DeleteRecords(ctx, "copy", slices.Values([]app.RecordKey{row.RecordKey})))
			if seen++; seen == 40 {
				break
			}
		}
		must(w.Advance(ctx, "shop"))(t)
		same(t, must(w.RecordCounts(ctx, "copy"))(t), []business.TypeCount{{Type: "service", Count: 60}})
	})
}

var errEarly = errors.New("line 3 is no record")

func rowsEndEarly(t *testing.T, s app.Store) {
	With(t, s, "shop")
	ctx := context.Background()
	rows := func(yield func(app.RecordRow, error) bool) {
		_ = yield(record("service", "1", `{}`), nil) && yield(app.RecordRow{}, errEarly)
	}
	is(t, s.Update(ctx, "", func(w app.Writer) error { _, err := w.PutRecords(ctx, "shop", rows); return err }), errEarly)
	// Half an import is not committed even where its error is swallowed.
	if err := s.Update(ctx, "", func(w app.Writer) error { w.PutRecords(ctx, "shop", rows); return nil }); err == nil {
		t.Error("half an import was committed")
	}
	for _, row := range []app.RecordRow{record("", "1", `{}`), record("service", "", `{}`), record("service", "1", "")} {
		if err := s.Update(ctx, "", func(w app.Writer) error { _, err := w.PutRecords(ctx, "shop", each(row)); return err }); err == nil {
			t.Errorf("%+v was stored", row)
		}
	}
	view(t, s, func(ctx context.Context, r app.Reader) {
		same(t, len(collect(t, r.Records(ctx, "shop", "", "", ""))), 0)
	})
}
