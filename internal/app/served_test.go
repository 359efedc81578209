package app_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"sayso/business"
	"sayso/business/bizhttp"
	"sayso/internal/app"
	"sayso/internal/app/apptest"
)

// run starts the background work; the result stops it and waits for its end.
func run(t *testing.T, r *app.Registry) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	return func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(10 * time.Second):
			t.Error("background work does not end")
		}
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("not within the deadline: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestReplicasSeeEachOthersCommits(t *testing.T) {
	w := apptest.NewWorld(t)
	w.Publisher(t, "shop")
	o := w.Options()
	o.Poll = 5 * time.Millisecond
	other := app.New(o)
	stop := run(t, other)
	defer stop()
	published := func(want bool) func() bool {
		return func() bool {
			p, err := other.Publication(t.Context(), "shop")
			return err == nil && p.Standing.IsPublished(w.Clock.Now()) == want
		}
	}
	eventually(t, "published", published(true))
	ops := apptest.Operator(t, "ops")
	_, err := w.Registry.Pause(t.Context(), ops, "shop", app.ActInput{})
	must(t, err)
	if publication(t, w.Registry, "shop").Standing.IsPublished(w.Clock.Now()) {
		t.Error("a commit is not served at once where it was made")
	}
	eventually(t, "paused", published(false))
	_, err = other.Resume(t.Context(), ops, "shop", app.ActInput{})
	must(t, err)
	must(t, w.Registry.Refresh(t.Context()))
	if !publication(t, w.Registry, "shop").Standing.IsPublished(w.Clock.Now()) {
		t.Error("not seen in the other direction")
	}
}

func TestHeadsThatCannotBeReadEndTheServing(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, r := t.Context(), w.Registry
	w.Publisher(t, "shop")
	broken := func() error { return errors.New("no database") }
	w.Store.Fail.Store(&broken)
	w.Clock.Move(9 * time.Second)
	if r.Refresh(ctx) == nil {
		t.Fatal("refreshed without a database")
	}
	if _, err := r.Publication(ctx, "shop"); err != nil {
		t.Errorf("after 9 s: %v", err)
	}
	w.Clock.Move(2 * time.Second)
	for name, f := range map[string]func() error{
		"publication":  func() error { _, err := r.Publication(ctx, "shop"); return err },
		"unknown":      func() error { _, err := r.Publication(ctx, "nobody"); return err },
		"host":         func() error { _, err := r.ByHost(ctx, "nobody.example"); return err },
		"publications": func() error { _, err := r.Publications(ctx); return err },
		"manifest":     func() error { _, err := r.Manifest(ctx, "shop"); return err },
		"jwks":         func() error { _, err := r.PublisherKeys(ctx, "shop"); return err },
		"list":         func() error { _, err := r.PublisherRevocations(ctx, "shop"); return err },
		"registry":     func() error { _, err := r.RegistryRevocations(ctx); return err },
		"keys":         func() error { _, err := r.RegistryKeys(ctx); return err },
		"record":       func() error { _, err := r.Record(ctx, "shop", "service", "a"); return err },
		"page":         func() error { _, err := r.RecordPage(ctx, "shop", "", "", "", 1); return err },
		"dump":         func() error { return r.Dump(ctx, "shop", nil) },
	} {
		if err := f(); !errors.Is(err, bizhttp.ErrUnavailable) {
			t.Errorf("XP-DISCOVERY-004 %s: %v, want unavailable", name, err)
		}
	}
	w.Clock.Move(-time.Hour)
	if _, err := r.Publication(ctx, "shop"); !errors.Is(err, bizhttp.ErrUnavailable) {
		t.Errorf("a clock that went back makes old heads fresh: %v", err)
	}
	w.Store.Fail.Store(nil)
	must(t, r.Refresh(ctx))
	if _, err := r.Publication(ctx, "shop"); err != nil {
		t.Errorf("after the database is back: %v", err)
	}
	if _, err := r.Publication(ctx, "nobody"); !errors.Is(err, bizhttp.ErrUnknown) {
		t.Errorf("unknown: %v", err)
	}
}

// Records are read from the store: when it fails while the heads are fresh, the answer is unavailable as well.
func TestRecordsThatCannotBeRead(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, r := t.Context(), w.Registry
	w.Publisher(t, "shop")
	_, err := r.Import(ctx, apptest.Operator(t, "ops"), "shop", app.ImportInput{Bundle: records(line("a", "A"), line("b", "B"), line("c", "C"))})
	must(t, err)
	rec, err := r.Record(ctx, "shop", "service", "a")
	if err != nil || rec.Title != "A" || rec.URL != "" || rec.Publisher != "" {
		t.Errorf("%+v, %v", rec, err)
	}
	if _, err := r.Record(ctx, "shop", "service", "z"); !errors.Is(err, bizhttp.ErrNoRecord) {
		t.Errorf("missing record: %v", err)
	}
	for _, name := range [][2]string{{"service", "a\x00"}, {"Service", "a"}, {"service", "\xff"}, {"", ""}, {"service", strings.Repeat("x", 300)}} {
		if _, err := r.Record(ctx, "shop", name[0], name[1]); !errors.Is(err, bizhttp.ErrNoRecord) {
			t.Errorf("record %q: %v", name, err)
		}
		if page, err := r.RecordPage(ctx, "shop", name[0]+"\x00", name[0], name[1], 5); err != nil || len(page) != 0 {
			t.Errorf("page %q: %v, %v", name, page, err)
		}
	}
	page, err := r.RecordPage(ctx, "shop", "", "service", "a", 1)
	if err != nil || len(page) != 1 || page[0].ID != "b" {
		t.Errorf("%+v, %v", page, err)
	}
	var ids string
	must(t, r.Dump(ctx, "shop", func(p *business.Publication, seq iter.Seq2[*business.Record, error]) error {
		for rec, err := range seq {
			must(t, err)
			ids += rec.ID
		}
		return nil
	}))
	if ids != "abc" {
		t.Errorf("dump %q", ids)
	}
	if err := r.Dump(ctx, "shop", func(*business.Publication, iter.Seq2[*business.Record, error]) error { return io.ErrClosedPipe }); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("the error of the one who writes: %v", err)
	}
	broken := func() error { return errors.New("no database") }
	w.Store.Fail.Store(&broken)
	if _, err := r.Record(ctx, "shop", "service", "a"); !errors.Is(err, bizhttp.ErrUnavailable) {
		t.Errorf("record: %v", err)
	}
}

func TestManifestIsSignedAgainInTime(t *testing.T) {
	w := apptest.NewWorld(t)
	r := w.Registry
	w.Publisher(t, "shop")
	first, err := r.Manifest(t.Context(), "shop")
	must(t, err)
	again, err := r.Manifest(t.Context(), "shop")
	must(t, err)
	if first != again {
		t.Error("a fresh manifest is made twice")
	}
	for range 100 {
		w.Move(t, 17*time.Second)
		m, err := r.Manifest(t.Context(), "shop")
		must(t, err)
		var doc struct {
			ExpiresAt time.Time `json:"expires_at"`
		}
		must(t, business.Decode(m.Body, &doc))
		if left := doc.ExpiresAt.Sub(w.Clock.Now()); left < 600*time.Second || left > business.ManifestLife {
			t.Fatalf("%s left when served", left)
		}
		l, err := r.PublisherRevocations(t.Context(), "shop")
		must(t, err)
		var list struct {
			IssuedAt time.Time `json:"issued_at"`
		}
		must(t, business.Decode(l.Body, &list))
		if age := w.Clock.Now().Sub(list.IssuedAt); age > 300*time.Second {
			t.Fatalf("a list issued %s ago is served", age)
		}
	}
	_, err = r.RevokeEntity(t.Context(), apptest.Operator(t, "ops"), "shop", "service", "x", app.RevokeInput{Code: "error"})
	must(t, err)
	if !strings.Contains(list(t, r, "shop"), "service/x") {
		t.Error("a new entry waits for the old list to end")
	}
	w.Move(t, -time.Hour)
	m, err := r.Manifest(t.Context(), "shop")
	must(t, err)
	var doc struct {
		SignedAt time.Time `json:"signed_at"`
	}
	must(t, business.Decode(m.Body, &doc))
	if doc.SignedAt.After(w.Clock.Now()) {
		t.Error("a clock that went back serves a manifest of the future")
	}
}

func TestKeySetIsWholeOrNotServed(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx := t.Context()
	w.Publisher(t, "shop")
	w.Publisher(t, "other")
	must(t, w.Store.Update(ctx, "", func(tx app.Writer) error {
		keys, err := tx.Keys(ctx, "shop")
		if err != nil {
			return err
		}
		row := keys[0]
		row.Entry.Attestation, row.Entry.Kid = nil, "shop-00000001"
		if _, err := tx.Advance(ctx, "shop"); err != nil {
			return err
		}
		return tx.PutKey(ctx, &row)
	}))
	must(t, w.Registry.Refresh(ctx))
	if _, err := w.Registry.PublisherKeys(ctx, "shop"); !errors.Is(err, bizhttp.ErrKeysUnavailable) {
		t.Errorf("a set with a key that is not attested: %v", err)
	}
	if _, err := w.Registry.PublisherKeys(ctx, "other"); err != nil {
		t.Errorf("another publisher: %v", err)
	}
}

// One publisher whose row cannot be understood is unavailable; the others are served.
func TestDamagedPublisherIsUnavailable(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, r := t.Context(), w.Registry
	w.Publisher(t, "shop")
	w.Publisher(t, "other")
	_, err := r.SetHost(ctx, apptest.Operator(t, "ops"), "shop", "shop.example.com", "")
	must(t, err)
	must(t, w.Store.Update(ctx, "", func(tx app.Writer) error {
		row, err := tx.Publisher(ctx, "shop")
		if err != nil {
			return err
		}
		row.Profile = []byte(`{"display_name":`)
		if _, err := tx.Advance(ctx, "shop"); err != nil {
			return err
		}
		return tx.UpdatePublisher(ctx, row)
	}))
	must(t, r.Refresh(ctx))
	if _, err := r.Publication(ctx, "shop"); !errors.Is(err, bizhttp.ErrUnavailable) {
		t.Errorf("damaged: %v", err)
	}
	if _, err := r.ByHost(ctx, "shop.example.com"); !errors.Is(err, bizhttp.ErrUnavailable) {
		t.Errorf("damaged, by host: %v", err)
	}
	if _, err := r.Publications(ctx); !errors.Is(err, bizhttp.ErrUnavailable) {
		t.Errorf("a list without it would say that it is not there: %v", err)
	}
	if _, err := r.Publication(ctx, "other"); err != nil {
		t.Errorf("other: %v", err)
	}
}

func TestHosts(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, ops, r := t.Context(), apptest.Operator(t, "ops"), w.Registry
	w.Publisher(t, "a")
	w.Publisher(t, "b")
	set := func(slug, host string) error { _, err := r.SetHost(ctx, ops, slug, host, ""); return err }
	wantCode(t, "set", set("a", "A.Localhost."), "")
	wantCode(t, "set again", set("a", "a.localhost"), "")
	wantCode(t, "taken", set("b", "a.localhost"), "host_taken")
	for _, host := range []string{"", "127.0.0.1", "com", "a b.example.com", "x/../y", "evil.com:80"} {
		wantCode(t, host, set("a", host), "invalid_host")
	}
	if p, err := r.ByHost(ctx, "a.localhost"); err != nil || p.Slug != "a" {
		t.Errorf("%v", err)
	}
	if _, err := r.ByHost(ctx, "b.localhost"); !errors.Is(err, bizhttp.ErrUnknown) {
		t.Errorf("unknown host: %v", err)
	}
	_, err := r.RemoveHost(ctx, ops, "b", "a.localhost", "")
	wantCode(t, "remove another's", err, "unknown_host")
	_, err = r.RemoveHost(ctx, ops, "a", "a.localhost", "")
	must(t, err)
	wantCode(t, "free again", set("b", "a.localhost"), "")
	if p, err := r.ByHost(ctx, "a.localhost"); err != nil || p.Slug != "b" {
		t.Errorf("moved host: %v", err)
	}
}

// Writers, readers, the poll and the background work at the same time: every answer is of one committed state.
func TestConcurrentUse(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, ops, r := t.Context(), apptest.Operator(t, "ops"), w.Registry
	w.Publisher(t, "shop")
	o := w.Options()
	o.Poll = time.Millisecond
	other := app.New(o)
	must(t, other.Refresh(ctx))
	stop := run(t, other)
	defer stop()
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	for n := range 3 {
		writers.Go(func() {
			for i := range 15 {
				id := fmt.Sprintf("%d-%d", n, i)
				if _, err := r.Import(ctx, ops, "shop", app.ImportInput{Bundle: records(line(id, id)), Mode: app.ModeMerge}); err != nil {
					t.Error(err)
				}
				if _, err := other.RotateKey(ctx, ops, "shop", app.ActInput{}); err != nil {
					t.Error(err)
				}
				w.Clock.Move(time.Second)
			}
		})
	}
	for _, reader := range []*app.Registry{r, other} {
		readers.Go(func() {
			last := uint64(0)
			for {
				select {
				case <-done:
					return
				default:
				}
				p, err := reader.Publication(ctx, "shop")
				if err != nil {
					continue // the clock runs ahead of the poll
				}
				if p.Revision < last {
					t.Errorf("revision %d after %d", p.Revision, last)
				}
				last = p.Revision
				if total := p.Types; p.State.Generation > 1 && (len(total) != 1 || uint64(total[0].Count) != p.State.Generation-1) {
					t.Errorf("half a state: generation %d with %v", p.State.Generation, total)
				}
				_, _ = reader.Manifest(ctx, "shop")
				_, _ = reader.PublisherKeys(ctx, "shop")
				reader.Gauges()
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	must(t, other.Refresh(ctx))
	if p := publication(t, other, "shop"); p.State.Generation != 46 {
		t.Errorf("generation %d after 45 imports", p.State.Generation)
	}
}
