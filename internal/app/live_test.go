package app_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"sayso/internal/app"
	"sayso/internal/app/apptest"
)

const liveSchema = `{"streams":[
	{"key":"open","subject":null,"kind":"bool","sla_seconds":60,"max_age_seconds":600},
	{"key":"queue","scoped_by":"location","kind":"quantity","unit":"min","sla_seconds":60,"max_age_seconds":600},
	{"key":"stock","subject":"service","scoped_by":"location","kind":"count","sla_seconds":60,"max_age_seconds":600},
	{"key":"price","subject":"service","kind":"money","unit":"GBP","sla_seconds":60,"max_age_seconds":600},
	{"key":"notice","kind":"text","sla_seconds":60,"max_age_seconds":600}]}`

// shop is a world with one publisher that declares streams, and its owner's token for readings.
func shop(t testing.TB) (*apptest.World, app.Actor) {
	t.Helper()
	w := apptest.NewWorld(t)
	w.Publisher(t, "shop")
	furnish(t, w.Registry)
	owner, _ := w.Owner(t, "shop", app.ScopeLive)
	return w, owner
}

// furnish gives the publisher shop records, locations and streams.
func furnish(t testing.TB, r *app.Registry) {
	t.Helper()
	ctx, ops := t.Context(), apptest.Operator(t, "ops")
	_, err := r.SetSchema(ctx, ops, "shop", []byte(liveSchema), "")
	if err == nil {
		_, _, err = r.SetLocations(ctx, ops, "shop", []byte(`[{"id":"one","primary":true,"locality":"Leeds"},{"id":"two","locality":"York"}]`), "")
	}
	if err == nil {
		_, err = r.Import(ctx, ops, "shop", app.ImportInput{Bundle: records(line("a", "A"), line("b", "B"))})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// body writes a reading; at is how long before now it was observed.
func body(w *apptest.World, members string, ago time.Duration) string {
	return fmt.Sprintf(`{%s,"observed_at":%q}`, members, w.Clock.Now().Add(-ago).Format(time.RFC3339Nano))
}

func push(t testing.TB, w *apptest.World, actor app.Actor, lines ...string) *app.LiveReceipt {
	t.Helper()
	in, err := app.ReadReadings([]byte(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.Registry.PushReadings(t.Context(), actor, "shop", in, "")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func pushOne(t *testing.T, w *apptest.World, actor app.Actor, text string) string {
	t.Helper()
	in, err := app.ReadReading([]byte(text))
	if err == nil {
		_, err = w.Registry.PushReading(t.Context(), actor, "shop", in, "")
	}
	return code(t, err)
}

func standing(t *testing.T, w *apptest.World) string {
	t.Helper()
	list, more, err := w.Registry.Readings(t.Context(), apptest.Operator(t, "ops"), "shop", "")
	if err != nil || more != 0 {
		t.Fatal(more, err)
	}
	var out []string
	for _, r := range list {
		subject := ""
		if r.Subject != nil {
			subject = ":" + r.Subject.ID
		}
		out = append(out, r.Stream+subject+"@"+r.Location+"="+string(r.Value))
	}
	return strings.Join(out, " ")
}

func TestPushJudgesEachReading(t *testing.T) {
	w, owner := shop(t)
	const stockA = `"stream":"stock","subject":{"type":"service","id":"a"},"location":"one"`
	for _, c := range []struct {
		members string
		ago     time.Duration
		want    string
	}{
		{`"stream":"open","value":true`, 0, ""},
		{`"stream":"notice","value":"closed \u00e9\n\u0000"`, 0, ""},
		{`"stream":"queue","location":"two","value":-1.50`, 0, ""},
		{stockA + `,"value":1e2`, 0, ""},
		{`"value":12.50,"stream":"price","subject":{"id":"b","type":"service"}`, -time.Minute, ""},
		{`"stream":"none","value":1`, 0, "unknown_stream"},
		{`"stream":"","value":1`, 0, "unknown_stream"},
		{`"stream":"open","value":true,"subject":{"type":"service","id":"a"}`, 0, "unexpected_subject"},
		{`"stream":"open","value":true,"location":"one"`, 0, "unexpected_location"},
		{`"stream":"stock","location":"one","value":1`, 0, "invalid_subject"},
		{`"stream":"stock","location":"one","subject":{"type":"product","id":"a"},"value":1`, 0, "invalid_subject"},
		{`"stream":"stock","location":"one","subject":{"type":"service","id":"z"},"value":1`, 0, "unknown_record"},
		{`"stream":"stock","location":"one","subject":{"type":"service","id":"\u0000"},"value":1`, 0, "unknown_record"},
		{`"stream":"stock","location":"one","subject":{"type":"service"},"value":1`, 0, "invalid_reading"},
		{`"stream":"stock","location":"one","subject":{"type":"service","id":"a","x":1},"value":1`, 0, "invalid_reading"},
		{`"stream":"stock","location":"one","subject":"service/a","value":1`, 0, "invalid_reading"},
		{`"stream":"queue","value":1`, 0, "missing_location"},
		{`"stream":"queue","value":1,"location":""`, 0, "invalid_reading"},
		{`"stream":"queue","value":1,"location":null`, 0, "invalid_reading"},
		{`"stream":"queue","value":1,"location":"three"`, 0, "unknown_location"},
		{`"stream":"queue","value":1,"unit":"min","location":"one"`, 0, "invalid_reading"},
		{`"stream":"open","value":1`, 0, "invalid_value"},
		{`"stream":"open","value":null`, 0, "invalid_value"},
		{`"stream":"notice","value":""`, 0, "invalid_value"},
		{`"stream":"notice","value":"` + strings.Repeat("x", 255) + `"`, 0, "invalid_value"},
		{`"stream":"queue","location":"one","value":"1"`, 0, "invalid_value"},
		{`"stream":"queue","location":"one","value":[1]`, 0, "invalid_value"},
		{`"stream":"price","subject":{"type":"service","id":"a"},"value":-0.01`, 0, "invalid_value"},
		{stockA + `,"value":1.5`, 0, "invalid_value"},
		{stockA + `,"value":-1`, 0, "invalid_value"},
		{`"stream":"open"`, 0, "invalid_reading"},
		{`"value":true`, 0, "invalid_reading"},
		{`"stream":"open","value":false`, -time.Minute - time.Microsecond, "in_the_future"},
	} {
		if got := pushOne(t, w, owner, body(w, c.members, c.ago)); got != c.want {
			t.Errorf("%s: %q, want %q", c.members, got, c.want)
		}
	}
	for text, want := range map[string]string{
		`{"stream":"open","value":true}`:                                      "invalid_reading",
		`{"stream":"open","value":true,"observed_at":1}`:                      "invalid_reading",
		`{"stream":"open","value":true,"observed_at":"now"}`:                  "invalid_instant",
		`{"stream":"open","value":true,"observed_at":"2026-01-02T03:04:05"}`:  "invalid_instant",
		`{"stream":"open","value":true,"observed_at":"0001-01-01T00:00:00Z"}`: "invalid_instant",
		`{"stream":"open","value":NaN,"observed_at":"2026-01-02T03:04:05Z"}`:  "invalid_body",
		`{"stream":"open","stream":"open","value":1}`:                         "invalid_body",
		`[]`:                                  "invalid_body",
		``:                                    "invalid_body",
		`{"stream":"open"} {"stream":"open"}`: "invalid_body",
		`{"stream":"` + strings.Repeat("x", 16<<10) + `"}`: "too_large",
	} {
		if got := pushOne(t, w, owner, text); got != want {
			t.Errorf("%.60s: %q, want %q", text, got, want)
		}
	}
	if got, want := standing(t, w), `notice@="closed é\n\u0000" open@=true price:b@=12.50 queue@two=-1.50 stock:a@one=1e2`; got != want {
		t.Errorf("standing\n%s\nwant\n%s", got, want)
	}
}

func TestOnlyNewerReadingsAreKept(t *testing.T) {
	w, owner := shop(t)
	w.Store.Twice.Store(true)
	before := publication(t, w.Registry, "shop")
	out := push(t, w, owner,
		body(w, `"stream":"open","value":true`, time.Hour), "",
		body(w, `"stream":"open","value":false`, time.Hour), // the same instant
		body(w, `"stream":"open","value":false`, time.Hour+time.Microsecond),
		body(w, `"stream":"none","value":1`, 0), "  ",
		body(w, `"stream":"open","value":false`, time.Minute))
	if out.Accepted != 2 || len(out.Refused) != 3 || out.Refused[0].Line != 3 || out.Refused[1].Line != 4 || out.Refused[2].Line != 5 ||
		out.Refused[1].Code != "not_newer" || out.Refused[2].Code != "unknown_stream" || !out.At.Equal(w.Registry.Now()) {
		t.Errorf("%+v", out)
	}
	if got := standing(t, w); got != "open@=false" {
		t.Error(got)
	}
	if got := pushOne(t, w, owner, body(w, `"stream":"open","value":true`, 2*time.Minute)); got != "not_newer" {
		t.Error(got)
	}
	if out := push(t, w, owner, body(w, `"stream":"open","value":true`, 2*time.Minute)); out.Accepted != 0 || len(out.Refused) != 1 {
		t.Errorf("%+v", out)
	}
	// One act, nothing published anew; pushes that kept nothing left no trace.
	if now := publication(t, w.Registry, "shop"); now.Revision != before.Revision || now.State != before.State {
		t.Errorf("a push made %+v of %+v", now.State, before.State)
	}
	trail, err := w.Registry.Audit(t.Context(), owner, "shop", 0, 1000)
	must(t, err)
	last := trail[len(trail)-1]
	if last.Action != string(app.OpPushReadings) || last.Target != "open" || last.Reason != "2 accepted, 3 refused" || trail[len(trail)-2].Action == last.Action {
		t.Errorf("%+v", trail[len(trail)-2:])
	}
}

func TestWhoMayPush(t *testing.T) {
	w, owner := shop(t)
	ops := apptest.Operator(t, "ops")
	reading := func() string { w.Clock.Move(time.Second); return body(w, `"stream":"open","value":true`, 0) }
	wantPush := func(what string, actor app.Actor, want string) {
		t.Helper()
		if got := pushOne(t, w, actor, reading()); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	wantPush("delegated operator", ops, "")
	importer, _ := w.Owner(t, "shop", app.ScopeImport)
	wantPush("another scope", importer, "scope_missing")
	_, err := w.Registry.Delegate(t.Context(), importer, "shop", false, "")
	must(t, err)
	wantPush("operator without delegation", ops, "not_delegated")
	_, err = w.Registry.Suspend(t.Context(), ops, "shop", app.ActInput{Reason: "why"})
	must(t, err)
	wantPush("suspended", owner, "")
	_, err = w.Registry.Withdraw(t.Context(), ops, "shop", "", app.ActInput{Reason: "why"})
	must(t, err)
	wantPush("withdrawn", owner, "withdrawn")
	in, err := app.ReadReading([]byte(reading()))
	must(t, err)
	_, err = w.Registry.PushReading(t.Context(), ops, "nobody", in, "")
	wantCode(t, "nobody", err, "unknown_publisher")
}

func TestARepeatedPushIsOnePush(t *testing.T) {
	w, owner := shop(t)
	in, err := app.ReadReadings([]byte(body(w, `"stream":"open","value":true`, 0)))
	must(t, err)
	first, err := w.Registry.PushReadings(t.Context(), owner, "shop", in, "op")
	must(t, err)
	again, err := w.Registry.PushReadings(t.Context(), owner, "shop", in, "op")
	must(t, err)
	if first.Repeated || first.Accepted != 1 || !again.Repeated || again.Accepted != 0 || len(again.Refused) != 0 {
		t.Errorf("%+v, %+v", first, again)
	}
}

func TestReadingsGoWithWhatTheyBelongTo(t *testing.T) {
	w, owner := shop(t)
	ctx, ops := t.Context(), apptest.Operator(t, "ops")
	push(t, w, owner, body(w, `"stream":"open","value":true`, 0), body(w, `"stream":"notice","value":"x"`, 0),
		body(w, `"stream":"queue","location":"one","value":1`, 0), body(w, `"stream":"queue","location":"two","value":2`, 0),
		body(w, `"stream":"stock","subject":{"type":"service","id":"a"},"location":"two","value":3`, 0),
		body(w, `"stream":"stock","subject":{"type":"service","id":"b"},"location":"one","value":4`, 0),
		body(w, `"stream":"price","subject":{"type":"service","id":"b"},"value":5`, 0))
	left := func(what, want string) {
		t.Helper()
		if got := standing(t, w); got != want {
			t.Errorf("%s: %s\nwant %s", what, got, want)
		}
	}
	_, err := w.Registry.Import(ctx, ops, "shop", app.ImportInput{Bundle: records(line("b", "Another title"))})
	must(t, err)
	left("record a is gone", `notice@="x" open@=true price:b@=5 queue@one=1 queue@two=2 stock:b@one=4`)
	_, _, err = w.Registry.SetLocations(ctx, ops, "shop", []byte(`[{"id":"three","locality":"Hull"},{"id":"one","primary":true,"locality":"Ripon"}]`), "")
	must(t, err)
	left("location two is gone", `notice@="x" open@=true price:b@=5 queue@one=1 stock:b@one=4`)
	change := func(old, now string) {
		t.Helper()
		if !strings.Contains(liveSchema, old) {
			t.Fatal(old)
		}
		_, err := w.Registry.SetSchema(ctx, ops, "shop", []byte(strings.ReplaceAll(liveSchema, old, now)), "")
		must(t, err)
	}
	change(`"sla_seconds":60`, `"sla_seconds":61`)
	left("another budget", `notice@="x" open@=true price:b@=5 queue@one=1 stock:b@one=4`)
	change(`"unit":"min"`, `"unit":"h"`)
	left("another unit", `notice@="x" open@=true price:b@=5 stock:b@one=4`)
	change(`"kind":"text"`, `"kind":"bool"`)
	left("another kind", `open@=true price:b@=5 stock:b@one=4`)
	change(`"key":"price","subject":"service"`, `"key":"price"`)
	left("another subject", `open@=true stock:b@one=4`)
	change(`"key":"stock","subject":"service","scoped_by":"location"`, `"key":"stock","subject":"service"`)
	left("another scope", `open@=true`)
	_, err = w.Registry.SetSchema(ctx, ops, "shop", nil, "")
	must(t, err)
	left("no schema", ``)
	if got := pushOne(t, w, owner, body(w, `"stream":"open","value":true`, 0)); got != "unknown_stream" {
		t.Error(got)
	}
}

func TestReadReadingsIsBounded(t *testing.T) {
	one := `{"stream":"open","value":true,"observed_at":"2026-01-02T03:04:05Z"}` + "\n"
	read := func(text string) string { _, err := app.ReadReadings([]byte(text)); return code(t, err) }
	for text, want := range map[string]string{
		strings.Repeat(one, app.MaxReadings):         "",
		strings.Repeat(one, app.MaxReadings+1):       "too_many_readings",
		strings.Repeat("\n", app.MaxLive) + "\n":     "too_large",
		"\n \n":                                      "invalid_body",
		one + `{"stream":`:                           "invalid_body",
		one + "null":                                 "invalid_body",
		one + strings.Repeat(" ", 17<<10) + one:      "",
		one + `{"x":"` + strings.Repeat("x", 17<<10): "too_large",
	} {
		if got := read(text); got != want {
			t.Errorf("%.90s: %q, want %q", text, got, want)
		}
	}
	w, owner := shop(t)
	for _, n := range []int{0, app.MaxReadings + 1} {
		_, err := w.Registry.PushReadings(t.Context(), owner, "shop", make([]app.ReadingInput, n), "")
		wantCode(t, fmt.Sprint(n), err, "invalid_body")
	}
}

// Clients that push one stream at once end with the newest reading, and the counts say how many were kept.
func TestClientsPushAtOnce(t *testing.T) {
	w, owner := shop(t)
	var clients sync.WaitGroup
	for i := range 8 {
		var lines []string
		for n := range 20 {
			lines = append(lines, body(w, fmt.Sprintf(`"stream":"queue","location":"one","value":%d`, n*8+i), time.Hour-time.Duration(n*8+i)*time.Second))
		}
		clients.Go(func() {
			for _, text := range lines {
				in, err := app.ReadReadings([]byte(text))
				if err == nil {
					_, err = w.Registry.PushReadings(t.Context(), owner, "shop", in, "")
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	clients.Wait()
	if got := standing(t, w); got != "queue@one=159" {
		t.Error(got)
	}
}

// FuzzReadReadings: whatever is read is refused or judged, never both, and a line is where it says.
func FuzzReadReadings(f *testing.F) {
	f.Add([]byte(`{"stream":"open","value":true,"observed_at":"2026-01-02T03:04:05Z"}` + "\n\n" + `{"stream":"q","subject":{"type":"a","id":"b"},"location":"l","value":-1.50,"observed_at":"2026-01-02T03:04:05.5+01:00"}`))
	f.Add([]byte("{}\r\n{\"value\":\"\\u0000\"}"))
	f.Add([]byte(`{"observed_at":"9999-12-31T23:59:60Z","value":{},"stream":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := app.ReadReadings(data)
		if err != nil {
			if code(t, err) == "" || in != nil {
				t.Errorf("%v with %d readings", err, len(in))
			}
			return
		}
		lines := strings.Split(string(data), "\n")
		for _, r := range in {
			one, err := app.ReadReading([]byte(lines[r.Line-1]))
			if err != nil || one.Stream != r.Stream || string(one.Value) != string(r.Value) || !one.ObservedAt.Equal(r.ObservedAt) || (one.Err == nil) != (r.Err == nil) {
				t.Errorf("line %d alone is %+v, %v; in the body %+v", r.Line, one, err, r)
			}
			if r.Err == nil && (len(r.Value) == 0 || len(r.Value) > 256 || r.ObservedAt.IsZero()) {
				t.Errorf("%+v was taken", r)
			}
		}
	})
}
