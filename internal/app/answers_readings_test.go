package app_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sayso/business/answer"
	"sayso/business/coverage"
	"sayso/internal/app"
	"sayso/internal/app/apptest"
	"sayso/jcs"
)

// A value that was pushed under a new schema is never shown under the unit of the old one, by no process and by none of the live handlers.
func TestReadingsOfAnotherContentAreNotShown(t *testing.T) {
	w, h := shopWorld(t)
	owner, _ := w.Owner(t, "shop", app.ScopeLive)
	for unit, value := range map[string]string{"h": "2", "s": "7200"} {
		r := h.over(t, w, nil)
		ask(t, r, "ask", asked[0].arguments)
		before := publication(t, r, "shop").State.Generation
		schema := strings.ReplaceAll(shopSchema, `"unit":"min"`, fmt.Sprintf(`"unit":%q`, unit))
		_, err := w.Registry.SetSchema(t.Context(), apptest.Operator(t, "ops"), "shop", []byte(schema), "")
		must(t, err)
		w.Clock.Move(time.Second)
		if out := push(t, w, owner, body(w, `"stream":"waiting","subject":{"type":"service","id":"a"},"value":`+value, 0)); out.Accepted != 1 {
			t.Fatalf("%+v", out)
		}
		// r has heard of neither.
		if p := publication(t, r, "shop"); p.State.Generation != before {
			t.Fatalf("generation %d is served already", p.State.Generation)
		}
		for _, c := range []struct{ tool, arguments string }{{"stock", `{"stream":"waiting","subject":{"type":"service","id":"a"}}`}, asked[6]} {
			e := ask(t, r, c.tool, c.arguments)
			if e.State.Generation != before+1 || !bytes.Contains(e.Result, []byte(`"value":`+value+`,"unit":"`+unit+`"`)) {
				t.Errorf("%s, generation %d: %s", c.tool, e.State.Generation, e.Result)
			}
		}
	}
}

// A store that cannot say what the new content is makes the publisher unavailable; it does not make the old content answer.
func TestContentThatMovedAndCannotBeRead(t *testing.T) {
	w, h := shopWorld(t)
	r := h.over(t, w, nil)
	ask(t, r, "ask", asked[0].arguments)
	stock(t, w.Registry, "shop", line("a", "Eye exam"), line("b", "Hearing test"))
	h.on(fails("Hosts"))
	if text, err := r.Ask(t.Context(), "shop", "stock", jcs.Raw(asked[3].arguments)); err == nil || text != nil {
		t.Errorf("%s, %v", text, err)
	}
	h.on(nil)
	if e := ask(t, r, "stock", asked[3].arguments); e.State.Generation != publication(t, w.Registry, "shop").State.Generation {
		t.Errorf("generation %d", e.State.Generation)
	}
}

// The report is about one content: questions that came too late for it are not answered from half of each.
func TestCoverageOfContentThatChanges(t *testing.T) {
	w, h := shopWorld(t)
	r := h.over(t, w, nil)
	var views atomic.Int64
	h.on(func(read string) error {
		if read == "View" && views.Add(1) == 2 { // behind the one that reads the content
			stock(t, w.Registry, "shop", line("a", "Eye exam"), line("b", "Hearing test"))
		}
		return nil
	})
	list := questions("What is the waiting time for eye exams?")
	_, err := r.Coverage(t.Context(), apptest.Operator(t, "ops"), "shop", list)
	wantCode(t, "changed meanwhile", err, "content_changed")
	_, err = r.Coverage(t.Context(), apptest.Operator(t, "ops"), "shop", list)
	must(t, err)
}

// A handler that goes through the records of a type reads about as many readings as it needs, however many there are.
func TestReadingsOfManySubjects(t *testing.T) {
	const records = 4 * app.FirstAhead
	w, h := shopWorld(t)
	var lines []string
	for i := range records {
		lines = append(lines, line(fmt.Sprintf("r%03d", i), fmt.Sprintf("Service number %d", i)))
	}
	stock(t, w.Registry, "shop", lines...)
	for i := range records {
		observe(t, w, app.ReadingRow{Stream: "waiting", Type: "service", ID: fmt.Sprintf("r%03d", i), Value: jcs.Raw(fmt.Sprint(i))})
	}
	r := h.over(t, w, nil)
	ask(t, r, "get", asked[1].arguments)
	var alone, pages atomic.Int64
	h.on(func(read string) error {
		return errors.Join(counts("Readings", &alone)(read), counts("ReadingsFrom", &pages)(read))
	})
	e := ask(t, r, "stock", `{"stream":"waiting"}`)
	if missing := e.Clarification.Missing[0]; e.Coverage.Status != coverage.NeedsContext || len(missing.Options) != 50 || !missing.Truncated {
		t.Errorf("%s %+v", e.Coverage.Status, e.Clarification)
	}
	if alone.Load() != 1 || pages.Load() != 1 {
		t.Errorf("%d subjects and %d pages were read", alone.Load(), pages.Load())
	}
}

// In whatever order a handler asks, it gets what the store holds; and what was pushed behind its back does not change what it was told.
func TestReadingsInAnyOrder(t *testing.T) {
	w, _ := shopWorld(t)
	generation := publication(t, w.Registry, "shop").State.Generation
	const subjects = app.FirstAhead
	key := func(i int) *coverage.Key {
		return &coverage.Key{Type: []string{"item", "service"}[i%2], ID: fmt.Sprintf("r%03d", i)}
	}
	value := func(n int) jcs.Raw { return jcs.Raw(fmt.Sprint(n)) }
	rapid.Check(t, func(rt *rapid.T) {
		ctx := context.Background()
		put := func(i int, values ...int) {
			w.Clock.Move(time.Second)
			now, k := w.Clock.Now(), key(i)
			must(t, w.Store.Update(ctx, "", func(wr app.Writer) error {
				for _, n := range values {
					row := &app.ReadingRow{Stream: "waiting", Type: k.Type, ID: k.ID, Location: fmt.Sprint(n), Value: value(n), ObservedAt: now, ReceivedAt: now}
					if _, err := wr.PutReading(ctx, "shop", row); err != nil {
						return err
					}
				}
				return nil
			}))
		}
		must(t, w.Store.Update(ctx, "", func(wr app.Writer) error { return wr.DeleteReadings(ctx, "shop", "waiting", "") }))
		want := map[int]int{}
		for i := range subjects {
			if n := rapid.SampledFrom([]int{0, 1, 2, 3, 3, 3, 3, app.FirstAhead + 1}).Draw(rt, "locations"); n > 0 {
				want[i] = n
				values := make([]int, n)
				for v := range values {
					values[v] = v
				}
				put(i, values...)
			}
		}
		readings := app.StoredReadings(ctx, w.Store, "shop", generation)
		order := rapid.SliceOfN(rapid.IntRange(0, subjects-1), 1, subjects).Draw(rt, "asked")
		if rapid.Bool().Draw(rt, "in order") {
			slices.SortFunc(order, func(a, b int) int { return strings.Compare(key(a).String(), key(b).String()) })
		}
		told := map[int][]answer.Reading{}
		for _, i := range order {
			got, err := readings.Latest("waiting", key(i), "")
			must(t, err)
			if before, ok := told[i]; ok {
				if !reflect.DeepEqual(got, before) {
					rt.Fatalf("%v first, then %v", before, got)
				}
				continue
			}
			told[i] = got
			if len(got) != want[i] {
				rt.Fatalf("%s has %d readings, not %d", key(i), len(got), want[i])
			}
			for _, r := range got {
				if *r.Subject != *key(i) || !bytes.Equal(r.Value, value(0)) && want[i] == 1 {
					rt.Fatalf("%s: %+v", key(i), r)
				}
			}
			put(i, 999) // one more at once
		}
	})
}
