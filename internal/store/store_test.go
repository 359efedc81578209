package store_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"sayso/internal/app"
	"sayso/internal/store"
)

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

func TestLoad(t *testing.T) {
	got, err := store.Load(fstest.MapFS{"0002_second_step.sql": file("b"), "0001_first.sql": file("a"), "README": file("")})
	if err != nil || len(got) != 2 || got[1].Number != 2 || got[1].Name != "second_step" || got[1].SQL != "b" || len(got[1].Sum) != 64 {
		t.Errorf("%+v, %v", got, err)
	}
	if text := store.PlanText(got); !strings.Contains(text, "migration 2: second step (") || store.PlanText(nil) == "" {
		t.Errorf("plan %q", text)
	}
	for _, names := range [][]string{{"0002_x.sql"}, {"0001_x.sql", "0003_y.sql"}, {"0001_x.sql", "0001_y.sql"}, {"0001.sql"}, {"x_1.sql"}} {
		files := fstest.MapFS{}
		for _, name := range names {
			files[name] = file("")
		}
		if _, err := store.Load(files); err == nil {
			t.Errorf("%v was taken", names)
		}
	}
}

func TestPending(t *testing.T) {
	known := []store.Migration{{Number: 1, Sum: "a"}, {Number: 2, Sum: "b"}}
	for _, c := range []struct {
		applied []store.Applied
		left    int
		newer   bool
		refused bool
	}{
		{nil, 2, false, false},
		{[]store.Applied{{1, "a"}}, 1, false, false},
		{[]store.Applied{{1, "a"}, {2, "b"}}, 0, false, false},
		{[]store.Applied{{1, "a"}, {2, "b"}, {3, "c"}}, 0, true, true},
		{[]store.Applied{{1, "x"}}, 0, false, true},
		{[]store.Applied{{2, "b"}}, 0, false, true},
	} {
		left, err := store.Pending(known, c.applied)
		if len(left) != c.left || (err != nil) != c.refused || errors.Is(err, app.ErrNewerSchema) != c.newer {
			t.Errorf("%v: %v, %v", c.applied, left, err)
		}
	}
}

func TestRetry(t *testing.T) {
	failure := func(class store.Class) error {
		return &store.Failure{What: "commit", Class: class, Cause: errors.New("engine: SELECT secret")}
	}
	for _, c := range []struct {
		name         string
		fromDatabase bool
		errs         []error
		runs         int
		failed       bool
	}{
		{"at once", true, []error{nil}, 1, false},
		{"after two conflicts", true, []error{failure(store.Conflict), failure(store.Lost), nil}, 3, false},
		{"for good", true, []error{failure(store.Full), nil}, 1, true},
		{"bounded", true, []error{failure(store.Busy), failure(store.Busy), failure(store.Busy), failure(store.Busy), nil}, 4, true},
		{"the caller's own", false, []error{failure(store.Conflict), nil}, 1, true},
		{"plain", true, []error{errors.New("x"), nil}, 1, true},
	} {
		runs := 0
		err := store.Retry(context.Background(), 4, func() (bool, error) { runs++; return c.fromDatabase, c.errs[runs-1] })
		if runs != c.runs || (err != nil) != c.failed {
			t.Errorf("%s: %d runs, %v", c.name, runs, err)
		}
		if err != nil && strings.Contains(err.Error(), "SELECT") {
			t.Errorf("%s: the text shows the engine's words: %v", c.name, err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	err := store.Retry(ctx, 1<<30, func() (bool, error) { return true, failure(store.Conflict) })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

func TestFailure(t *testing.T) {
	cause := errors.New("constraint failed")
	f := store.Fail(context.Background(), "write a key", cause, func(error) store.Class { return store.Missing })
	if !errors.Is(f, app.ErrNotFound) || !errors.Is(f, cause) || strings.Contains(f.Error(), "constraint") || f.Detail() != "write a key: constraint failed" {
		t.Errorf("%v", f)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if f := store.Fail(ctx, "commit", cause, func(error) store.Class { return store.Conflict }); f.Class != store.Stopped || !errors.Is(f, context.Canceled) || !errors.Is(f, cause) {
		t.Errorf("%v %v", f, f.Class)
	}
	for class := store.Other; class <= store.Stopped; class++ {
		if text := (&store.Failure{What: "x", Class: class}).Error(); len(text) < 10 {
			t.Errorf("class %d says %q", class, text)
		}
	}
}
