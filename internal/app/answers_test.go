package app_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"sayso/business"
	"sayso/business/bizhttp"
	"sayso/business/coverage"
	"sayso/internal/app"
	"sayso/internal/app/apptest"
	"sayso/jcs"
)

const (
	shopProfile = `{"display_name":"Shop","content_languages":["en"],
		"locations":[{"id":"north","name":"North","primary":true,"latitude":51.5,"longitude":-0.1,"time_zone":"Europe/London"},{"id":"south","name":"South"}],
		"tools":[{"name":"ask","handler":"knowledge.search"},{"name":"get","handler":"knowledge.get"},{"name":"links","handler":"knowledge.neighbors"},
			{"name":"stock","handler":"live.query"},{"name":"near","handler":"branches.nearest"},{"name":"open","handler":"live.nearest"},{"name":"both","handler":"hybrid.resolve"}]}`
	shopSchema = `{"attributes":{"price":{"field":"price","kind":"money","currency":"GBP"},"waiting":{"kind":"quantity","unit":"min","source":"stream:waiting","words":{"en":["waiting time"]}}},
		"streams":[{"key":"queue","kind":"count","sla_seconds":60,"max_age_seconds":600},
			{"key":"desk","scoped_by":"location","kind":"bool","sla_seconds":60,"max_age_seconds":600},
			{"key":"waiting","subject":"service","kind":"quantity","unit":"min","sla_seconds":60,"max_age_seconds":600}]}`
)

// asked are one for each handler.
var asked = []struct{ tool, arguments string }{
	{"ask", `{"query":"Do you offer eye exams?"}`},
	{"get", `{"records":[{"type":"service","id":"a"}]}`},
	{"links", `{"type":"service","id":"a"}`},
	{"stock", `{"stream":"queue"}`},
	{"near", `{"caller_location":{"latitude":51.4,"longitude":-0.1}}`},
	{"open", `{"stream":"desk","caller_location":{"latitude":51.4,"longitude":-0.1}}`},
	{"both", `{"query":"What is the waiting time for eye exams?"}`},
}

// stock imports the shop's documents with these records.
func stock(t testing.TB, r *app.Registry, slug string, lines ...string) {
	t.Helper()
	b, err := app.OpenBundle(fstest.MapFS{
		"publisher.json": {Data: []byte(shopProfile)}, "schema.json": {Data: []byte(shopSchema)}, "records.jsonl": {Data: []byte(strings.Join(lines, "\n"))},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Import(t.Context(), apptest.Operator(t, "ops"), slug, app.ImportInput{Bundle: b}); err != nil {
		t.Fatal(err)
	}
}

// shopWorld is a registry with a published shop, and its store with hooks.
func shopWorld(t testing.TB) (*apptest.World, *observed) {
	w := apptest.NewWorld(t)
	w.Publisher(t, "shop")
	stock(t, w.Registry, "shop", line("a", "Eye exam"))
	return w, &observed{Store: w.Store}
}

// over is a registry of the world's over the hooked store.
func (h *observed) over(t testing.TB, w *apptest.World, change func(*app.Options)) *app.Registry {
	t.Helper()
	o := w.Options()
	o.Store = h
	if change != nil {
		change(&o)
	}
	r := app.New(o)
	if err := r.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// observed is a store that asks before every read, by name; an error is what the read answers.
type observed struct {
	app.Store
	hook atomic.Pointer[func(read string) error]
}

func (h *observed) on(f func(read string) error) {
	if f == nil {
		h.hook.Store(nil)
		return
	}
	h.hook.Store(&f)
}

func (h *observed) ask(read string) error {
	if f := h.hook.Load(); f != nil {
		return (*f)(read)
	}
	return nil
}

func (h *observed) View(ctx context.Context, f func(app.Reader) error) error {
	if err := h.ask("View"); err != nil {
		return err
	}
	return h.Store.View(ctx, func(rd app.Reader) error { return f(observedReader{rd, h}) })
}

func (h *observed) Heads(ctx context.Context) (map[string]uint64, error) {
	if err := h.ask("Heads"); err != nil {
		return nil, err
	}
	return h.Store.Heads(ctx)
}

type observedReader struct {
	app.Reader
	h *observed
}

func read[T any](h *observed, name string, f func() (T, error)) (T, error) {
	if err := h.ask(name); err != nil {
		var zero T
		return zero, err
	}
	return f()
}

func (r observedReader) Publisher(ctx context.Context, slug string) (*app.PublisherRow, error) {
	return read(r.h, "Publisher", func() (*app.PublisherRow, error) { return r.Reader.Publisher(ctx, slug) })
}

// Records fails behind the first row: what was read until then is no answer.
func (r observedReader) Records(ctx context.Context, slug, typ, afterType, afterID string) iter.Seq2[app.RecordRow, error] {
	return func(yield func(app.RecordRow, error) bool) {
		err := r.h.ask("Records")
		for row, failed := range r.Reader.Records(ctx, slug, typ, afterType, afterID) {
			if !yield(row, failed) {
				return
			}
			if err != nil {
				yield(app.RecordRow{}, err)
				return
			}
		}
	}
}

func (r observedReader) RecordCounts(ctx context.Context, slug string) ([]business.TypeCount, error) {
	return read(r.h, "RecordCounts", func() ([]business.TypeCount, error) { return r.Reader.RecordCounts(ctx, slug) })
}

func (r observedReader) Keys(ctx context.Context, slug string) ([]app.KeyRow, error) {
	return read(r.h, "Keys", func() ([]app.KeyRow, error) { return r.Reader.Keys(ctx, slug) })
}

func (r observedReader) RegistryKeys(ctx context.Context) ([]app.RegistryKeyRow, error) {
	return read(r.h, "RegistryKeys", func() ([]app.RegistryKeyRow, error) { return r.Reader.RegistryKeys(ctx) })
}

func (r observedReader) Revocations(ctx context.Context, slug string) ([]business.RevocationEntry, error) {
	return read(r.h, "Revocations", func() ([]business.RevocationEntry, error) { return r.Reader.Revocations(ctx, slug) })
}

func (r observedReader) Proofs(ctx context.Context, slug string) ([]app.ProofRow, error) {
	return read(r.h, "Proofs", func() ([]app.ProofRow, error) { return r.Reader.Proofs(ctx, slug) })
}

func (r observedReader) Verifications(ctx context.Context, slug string) ([]app.VerificationRow, error) {
	return read(r.h, "Verifications", func() ([]app.VerificationRow, error) { return r.Reader.Verifications(ctx, slug) })
}

func (r observedReader) Hosts(ctx context.Context) (map[string]string, error) {
	return read(r.h, "Hosts", func() (map[string]string, error) { return r.Reader.Hosts(ctx) })
}

func (r observedReader) Readings(ctx context.Context, slug, stream, typ, id, location string) ([]app.ReadingRow, error) {
	return read(r.h, "Readings", func() ([]app.ReadingRow, error) { return r.Reader.Readings(ctx, slug, stream, typ, id, location) })
}

func (r observedReader) ReadingsFrom(ctx context.Context, slug, stream, typ, id string, limit int) ([]app.ReadingRow, error) {
	return read(r.h, "ReadingsFrom", func() ([]app.ReadingRow, error) { return r.Reader.ReadingsFrom(ctx, slug, stream, typ, id, limit) })
}

func (r observedReader) Generation(ctx context.Context, slug string) (uint64, error) {
	return read(r.h, "Generation", func() (uint64, error) { return r.Reader.Generation(ctx, slug) })
}

// fails is a hook that fails one read.
func fails(name string) func(string) error {
	return func(read string) error {
		if read == name {
			return errors.New("the database is gone")
		}
		return nil
	}
}

// counts is a hook that counts one read.
func counts(name string, n *atomic.Int64) func(string) error {
	return func(read string) error {
		if read == name {
			n.Add(1)
		}
		return nil
	}
}

func envelope(t testing.TB, text []byte, err error) *coverage.Envelope {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var e coverage.Envelope
	if err := business.Decode(text, &e); err != nil {
		t.Fatal(err)
	}
	return &e
}

func ask(t testing.TB, r *app.Registry, tool, arguments string) *coverage.Envelope {
	t.Helper()
	text, err := r.Ask(t.Context(), "shop", tool, jcs.Raw(arguments))
	return envelope(t, text, err)
}

// judged verifies an answer as a reader does who pinned the root.
func judged(t *testing.T, w *apptest.World, r *app.Registry, text []byte) *business.Verdict {
	t.Helper()
	ctx, now := t.Context(), w.Clock.Now()
	fetch := func(d *bizhttp.Document, err error) *business.Fetched {
		must(t, err)
		return &business.Fetched{Body: d.Body, At: now}
	}
	e := business.Evidence{Root: &w.Root, Publisher: "shop", At: now}
	e.RegistryKeys, e.PublisherKeys = fetch(r.RegistryKeys(ctx)), fetch(r.PublisherKeys(ctx, "shop"))
	e.Revocations, e.PublisherList = fetch(r.RegistryRevocations(ctx)), fetch(r.PublisherRevocations(ctx, "shop"))
	v, err := business.Verify(text, e)
	must(t, err)
	return v
}

func TestEveryHandlerAnswersSigned(t *testing.T) {
	w, _ := shopWorld(t)
	for _, c := range asked {
		text, err := w.Registry.Ask(t.Context(), "shop", c.tool, jcs.Raw(c.arguments))
		must(t, err)
		if v := judged(t, w, w.Registry, text); v.Usable.Value != "yes" {
			t.Errorf("%s: %+v", c.tool, v)
		}
		if e := envelope(t, text, nil); e.State.Generation != 2 || e.State.RecordsGeneration != 2 {
			t.Errorf("%s: state %+v", c.tool, e.State)
		}
	}
	if e := ask(t, w.Registry, "ask", asked[0].arguments); e.Coverage.Status != coverage.Resolved || !strings.Contains(string(e.Result), apptest.Origin+"/b/shop/service/a") {
		t.Errorf("%+v %s", e.Coverage, e.Result)
	}
}

// TestAskRefuses holds the order of refusals: read, exists, published, tool, arguments.
func TestAskRefuses(t *testing.T) {
	w, _ := shopWorld(t)
	ctx, r, ops := t.Context(), w.Registry, apptest.Operator(t, "ops")
	_, err := r.CreatePublisher(ctx, ops, app.CreateInput{Slug: "draft", Name: "Draft"})
	must(t, err)
	refused := func(what, slug, tool, arguments string, want error) {
		t.Helper()
		if text, err := r.Ask(ctx, slug, tool, jcs.Raw(arguments)); !errors.Is(err, want) || text != nil {
			t.Errorf("%s: %s, %v, want %v", what, text, err, want)
		}
	}
	refused("nobody", "nobody", "ask", "{}", bizhttp.ErrUnknown)
	refused("a draft", "draft", "ask", "{}", bizhttp.ErrUnknown)
	refused("no such tool", "shop", "Ask", "{}", app.ErrNoTool)
	refused("a handler is no tool", "shop", "knowledge.search", "{}", app.ErrNoTool)
	for _, arguments := range []string{`{"query":1}`, `{"query":"x","more":1}`, `[]`, `{`, ``, `{"query":"` + strings.Repeat("x", 600) + `"}`} {
		var fault *coverage.CallError
		if text, err := r.Ask(ctx, "shop", "ask", jcs.Raw(arguments)); !errors.As(err, &fault) || text != nil {
			t.Errorf("arguments %s: %s, %v", arguments, text, err)
		}
	}
	for name, do := range map[string]func() error{
		"paused":    func() error { _, err := r.Pause(ctx, ops, "shop", app.ActInput{}); return err },
		"suspended": func() error { _, err := r.Suspend(ctx, ops, "shop", app.ActInput{Reason: "x"}); return err },
	} {
		must(t, do())
		refused(name, "shop", "ask", asked[0].arguments, bizhttp.ErrUnknown)
		refused(name+", no such tool", "shop", "nothing", "{}", bizhttp.ErrUnknown)
	}
	o := w.Options()
	o.Site.Origin = ""
	nowhere := app.New(o)
	must(t, nowhere.Refresh(ctx))
	if _, err := nowhere.Ask(ctx, "shop", "ask", nil); !errors.Is(err, bizhttp.ErrUnavailable) {
		t.Errorf("without an origin: %v", err)
	}
}

// From the first question on, content is compiled before it is served: no question reads the store, whatever happens to it, and what is answered is new.
func TestAskReadsNothingWhereContentIsCompiled(t *testing.T) {
	w, h := shopWorld(t)
	r := h.over(t, w, nil)
	ask(t, r, "ask", asked[0].arguments)
	var reads atomic.Int64
	h.on(counts("Records", &reads))
	_, err := r.Pause(t.Context(), apptest.Operator(t, "ops"), "shop", app.ActInput{})
	must(t, err)
	_, err = r.Resume(t.Context(), apptest.Operator(t, "ops"), "shop", app.ActInput{})
	must(t, err)
	if reads.Load() != 0 {
		t.Error("the records were read again for content that is what it was")
	}
	stock(t, r, "shop", line("a", "Hearing test"))
	if reads.Load() != 1 {
		t.Errorf("the records were read %d times for new content, want once", reads.Load())
	}
	h.on(func(string) error { return errors.New("the database is gone") })
	if e := ask(t, r, "ask", `{"query":"Do you offer hearing tests?"}`); e.Coverage.Status != coverage.Resolved || e.State.Generation != 3 {
		t.Errorf("%s of generation %d", e.Coverage.Status, e.State.Generation)
	}
	if e := ask(t, r, "ask", asked[0].arguments); e.Coverage.Status != coverage.NotCovered {
		t.Errorf("old content is %s", e.Coverage.Status)
	}
}

// The store holds newer content than this process has seen: the first question is answered from the newer one, at once.
func TestAskCatchesUp(t *testing.T) {
	w, h := shopWorld(t)
	r := h.over(t, w, nil)
	stock(t, w.Registry, "shop", line("a", "Hearing test"))
	if e := ask(t, r, "ask", `{"query":"Do you offer hearing tests?"}`); e.Coverage.Status != coverage.Resolved || e.State.Generation != 3 {
		t.Errorf("%s of generation %d", e.Coverage.Status, e.State.Generation)
	}
	r = h.over(t, w, nil)
	stock(t, w.Registry, "shop", line("a", "Eye exam"))
	_, err := w.Registry.Pause(t.Context(), apptest.Operator(t, "ops"), "shop", app.ActInput{})
	must(t, err)
	if _, err := r.Ask(t.Context(), "shop", "ask", jcs.Raw(asked[0].arguments)); !errors.Is(err, bizhttp.ErrUnknown) {
		t.Errorf("paused elsewhere together with new content: %v", err)
	}
}

// Many ask at once, one reads. Whoever gives up leaves; the others get the answer.
func TestOneCompileForAll(t *testing.T) {
	w, h := shopWorld(t)
	r := h.over(t, w, nil)
	var reads atomic.Int64
	reading, release := make(chan struct{}), make(chan struct{})
	h.on(func(name string) error {
		if name == "Records" && reads.Add(1) == 1 {
			close(reading)
			<-release
		}
		return nil
	})
	impatient, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() { _, err := r.Ask(impatient, "shop", "ask", jcs.Raw(asked[0].arguments)); left <- err }()
	<-reading
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := r.Ask(t.Context(), "shop", "ask", jcs.Raw(asked[0].arguments)); err != nil {
				t.Error(err)
			}
		})
	}
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("who gave up got %v", err)
	}
	close(release)
	all.Wait()
	if reads.Load() != 1 {
		t.Errorf("the records were read %d times", reads.Load())
	}
}

// What leaves first is what was not asked for the longest time, and it comes back when it is asked.
func TestSnapshotsMakeRoom(t *testing.T) {
	w, h := shopWorld(t)
	for _, slug := range []string{"b", "c"} {
		w.Publisher(t, slug)
		stock(t, w.Registry, slug, line("a", "Eye exam"))
	}
	compiled := func(r *app.Registry, slug string) bool {
		t.Helper()
		var reads atomic.Int64
		h.on(counts("Records", &reads))
		defer h.on(nil)
		_, err := r.Ask(t.Context(), slug, "ask", jcs.Raw(asked[0].arguments))
		must(t, err)
		return reads.Load() == 0
	}
	r := h.over(t, w, func(o *app.Options) { o.Answers = 2*app.SnapshotSize(w.Registry, t.Context(), "shop") + 1000 })
	for _, slug := range []string{"shop", "b", "shop", "c"} {
		compiled(r, slug)
	}
	if !compiled(r, "shop") || compiled(r, "b") || !compiled(r, "shop") || compiled(r, "c") {
		t.Error("another snapshot left than the one that was not asked for")
	}
	alone := h.over(t, w, func(o *app.Options) { o.Answers = 1 })
	if compiled(alone, "shop") || !compiled(alone, "shop") || compiled(alone, "b") || compiled(alone, "shop") {
		t.Error("with room for none, the last one stays and no other")
	}
	for range 3 { // content that left the served state leaves the memory with it
		stock(t, r, "shop", line("a", fmt.Sprint("Eye exam ", time.Now().Nanosecond())))
		ask(t, r, "get", asked[1].arguments)
	}
	if n := app.ResidentSnapshots(r); n > 2 {
		t.Errorf("%d snapshots are resident", n)
	}
}
