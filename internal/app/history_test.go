package app_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"sayso/business"
	"sayso/internal/app"
	"sayso/internal/app/apptest"
	"sayso/internal/store/sqlite"
)

const (
	historyClients = 32
	historyTime    = 3 * time.Second  // and longer while there are fewer than
	historyActs    = 300              // acts, but not beyond
	historyMost    = 10 * time.Second // on a machine that has no time
)

var historySlugs = []string{"anchor", "beacon", "cove", "dock"}

// historyAct is one act that somebody asked for, with what the registry answered.
type historyAct struct {
	op      app.Operation
	slug    string
	variant int // of what an import holds
	receipt *app.Receipt
}

// bundle is one of a few contents, so that acts meet what is there already.
func (a *historyAct) bundle() app.ImportInput {
	var lines strings.Builder
	for id, title := range a.records() {
		fmt.Fprintf(&lines, `{"id":%q,"type":"service","title":%q}`+"\n", id, title)
	}
	b, err := app.OpenBundle(fstest.MapFS{
		"publisher.json": {Data: fmt.Appendf(nil, `{"display_name":"Variant %d"}`, a.variant)},
		"records.jsonl":  {Data: []byte(lines.String())},
	})
	if err != nil {
		panic(err)
	}
	return app.ImportInput{Bundle: b, Mode: a.mode()}
}

func (a *historyAct) mode() string {
	return map[bool]string{true: app.ModeMerge, false: app.ModeReplace}[a.variant == 0]
}

func (a *historyAct) records() map[string]string {
	out := map[string]string{}
	for i := range 3 + 2*a.variant {
		out[fmt.Sprint(i)] = fmt.Sprintf("Title %d", a.variant/2)
	}
	return out
}

// perform asks a registry for the act.
func (a *historyAct) perform(ctx context.Context, r *app.Registry, who app.Actor, operation string) (*app.Receipt, error) {
	in, revoke := app.ActInput{Operation: operation, Reason: "history"}, app.RevokeInput{Code: "other", Operation: operation}
	switch a.op {
	case app.OpImport:
		load := a.bundle()
		load.Operation = operation
		result, err := r.Import(ctx, who, a.slug, load)
		if err != nil {
			return nil, err
		}
		return &result.Receipt, nil
	case app.OpPublish:
		return r.Publish(ctx, who, a.slug, in)
	case app.OpPause:
		return r.Pause(ctx, who, a.slug, in)
	case app.OpResume:
		return r.Resume(ctx, who, a.slug, in)
	case app.OpSuspend:
		return r.Suspend(ctx, who, a.slug, in)
	case app.OpUnsuspend:
		return r.Unsuspend(ctx, who, a.slug, in)
	case app.OpRotateKey:
		return r.RotateKey(ctx, who, a.slug, in)
	case app.OpRevokeKey:
		return r.RevokeKey(ctx, who, a.slug, "", revoke)
	case app.OpRevokeEntity:
		return r.RevokeEntity(ctx, who, a.slug, "service", fmt.Sprint(a.variant), revoke)
	case app.OpSetQuota:
		return r.SetQuota(ctx, who, a.slug, app.Quota{Records: 100 + a.variant}, operation)
	}
	panic("no such act")
}

var historyOps = []app.Operation{
	app.OpImport, app.OpImport, app.OpImport, app.OpPublish, app.OpPause, app.OpResume, app.OpSuspend, app.OpUnsuspend, app.OpRotateKey, app.OpRevokeKey, app.OpRevokeEntity, app.OpSetQuota,
}

// historyModel is the sequential registry: one publisher, one act after the other.
type historyModel struct {
	lifecycle  business.Lifecycle
	suspended  bool
	name       string
	records    map[string]string
	generation uint64
	keys       int
	signing    bool
	revoked    []string // scopes of the list
	quota      int
}

var lifecycleSteps = map[app.Operation]struct {
	from []business.Lifecycle
	to   business.Lifecycle
}{
	app.OpPublish: {[]business.Lifecycle{business.Draft, business.Paused}, business.Published},
	app.OpResume:  {[]business.Lifecycle{business.Paused}, business.Published},
	app.OpPause:   {[]business.Lifecycle{business.Published}, business.Paused},
}

// take runs one act that the registry says it committed, and reports whether that was allowed and whether the content is another one.
func (m *historyModel) take(a *historyAct) (allowed, changed bool) {
	if step, ok := lifecycleSteps[a.op]; ok {
		if !slices.Contains(step.from, m.lifecycle) {
			return false, false
		}
		m.lifecycle = step.to
		if step.to == business.Published && !m.signing {
			m.keys, m.signing = m.keys+1, true
		}
		return true, false
	}
	switch a.op {
	case app.OpSuspend, app.OpUnsuspend:
		allowed = m.suspended != (a.op == app.OpSuspend)
		m.suspended = a.op == app.OpSuspend
		return allowed, false
	case app.OpRotateKey:
		m.keys, m.signing = m.keys+1, true
	case app.OpRevokeKey:
		allowed = m.signing
		m.keys, m.revoked = m.keys+1, append(m.revoked, business.ScopeKey)
		return allowed, false
	case app.OpRevokeEntity:
		m.revoked = append(m.revoked, business.ScopeEntity)
	case app.OpSetQuota:
		m.quota = 100 + a.variant
	case app.OpImport:
		records := a.records()
		if a.mode() == app.ModeMerge {
			records = maps.Clone(m.records)
			maps.Copy(records, a.records())
		}
		name := fmt.Sprintf("Variant %d", a.variant)
		changed = name != m.name || !maps.Equal(records, m.records)
		m.name, m.records = name, records
		if changed {
			m.generation++
		}
	}
	return true, changed
}

// Clients of two replicas act at random, some of them twice under one operation id, while others read. Whatever order the registry chose, it is one: told in
// the order of revisions the history is that of a registry with one client.
func TestAnyHistoryIsASequentialOne(t *testing.T) {
	dir := t.TempDir()
	replicas := historyReplicas(t, dir)
	ops := apptest.Operator(t, "ops")
	var history []*historyAct
	for _, slug := range historySlugs {
		history = append(history, historyBegin(t, replicas[0].registry, ops, slug)...)
	}
	for _, r := range replicas {
		must(t, r.registry.Refresh(t.Context()))
		t.Cleanup(historyRun(r.registry))
	}
	lists := make([][]*historyAct, historyClients)
	var clients sync.WaitGroup
	begin := time.Now()
	var committed atomic.Int64
	going := func() bool {
		took := time.Since(begin)
		return !t.Failed() && (took < historyTime || took < historyMost && committed.Load() < historyActs)
	}
	for i := range historyClients {
		r := replicas[i%len(replicas)].registry
		random := rand.New(rand.NewPCG(uint64(i), 9))
		clients.Go(func() {
			for n := 0; going(); n++ {
				if slug := historySlugs[random.IntN(len(historySlugs))]; i < 4 {
					historyRead(t, r, slug)
					time.Sleep(10 * time.Millisecond) // readers that never rest would leave the writers no processor
				} else {
					done := historyStep(t, r, ops, random, slug, fmt.Sprintf("client-%d-%d", i, n))
					lists[i] = append(lists[i], done...)
					committed.Add(int64(len(done)))
				}
			}
		})
	}
	clients.Wait()
	history = append(history, slices.Concat(lists...)...)
	for _, slug := range historySlugs {
		historyJudge(t, replicas[0].store, slug, history)
	}
	t.Logf("%d acts of %d clients on %d publishers", len(history), historyClients, len(historySlugs))
	for _, check := range replicas[0].registry.Doctor(t.Context(), true) {
		if check.Level == app.LevelFailed {
			t.Errorf("doctor: %s: %s", check.ID, check.Message)
		}
	}
}

type historyReplica struct {
	registry *app.Registry
	store    app.Store
}

// historyReplicas are two registries that share a data folder, as two processes would.
func historyReplicas(t *testing.T, dir string) (out [2]historyReplica) {
	for i := range out {
		store, err := sqlite.Open(t.Context(), filepath.Join(dir, "sayso.db"))
		must(t, err)
		t.Cleanup(func() { store.Close() })
		if i == 0 {
			_, err = app.Init(t.Context(), store, app.InitInput{Data: dir, Operator: "first", Now: time.Now()})
			must(t, err)
		}
		keys, err := app.OpenKeys(dir, nil)
		must(t, err)
		out[i] = historyReplica{app.New(app.Options{Store: store, Keys: keys, Data: dir, Site: business.Site{Origin: apptest.Origin}}), store}
	}
	return out
}

// historyRun lets a registry run and returns what ends it.
func historyRun(r *app.Registry) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); r.Run(ctx) }()
	return func() { cancel(); <-done }
}

// historyBegin makes a publisher with authority.
func historyBegin(t *testing.T, r *app.Registry, ops app.Actor, slug string) (out []*historyAct) {
	t.Helper()
	step := func(op app.Operation) func(*app.Receipt, error) {
		return func(receipt *app.Receipt, err error) {
			t.Helper()
			must(t, err)
			out = append(out, &historyAct{op: op, slug: slug, receipt: receipt})
		}
	}
	ctx := t.Context()
	step(app.OpCreatePublisher)(r.CreatePublisher(ctx, ops, app.CreateInput{Slug: slug, Name: slug, Delegated: true}))
	step(app.OpRecordVerification)(r.RecordVerification(ctx, ops, slug, "decision", app.ActInput{}))
	step(app.OpConfirmVerification)(r.ConfirmVerification(ctx, apptest.Operator(t, "second"), slug, "decision", app.ActInput{}))
	return out
}

// historyStep asks for one act, in one of four cases twice at the same time, and returns what was committed.
func historyStep(t *testing.T, r *app.Registry, ops app.Actor, random *rand.Rand, slug, operation string) (out []*historyAct) {
	act := historyAct{op: historyOps[random.IntN(len(historyOps))], slug: slug, variant: random.IntN(5)}
	times := 1
	if random.IntN(4) == 0 {
		times = 2
	}
	receipts := make([]*app.Receipt, times)
	var asking sync.WaitGroup
	for i := range receipts {
		asking.Go(func() {
			var err error
			if receipts[i], err = act.perform(context.Background(), r, ops, operation); err != nil && !historyRefusal(err) {
				t.Errorf("%s of %s: %v (%v)", act.op, slug, err, errors.Unwrap(err))
			}
		})
	}
	asking.Wait()
	repeated := 0
	for _, receipt := range receipts {
		switch {
		case receipt == nil:
		case receipt.Repeated:
			repeated++
		default:
			done := act
			done.receipt = receipt
			out = append(out, &done)
		}
	}
	if len(out) > 1 || repeated > 0 && len(out) == 0 {
		t.Errorf("%s: operation %s was committed %d times and repeated %d times", act.op, operation, len(out), repeated)
	}
	return out
}

// historyRefusal reports whether an act was refused for the state that the publisher was in.
func historyRefusal(err error) bool {
	var e *app.Error
	return errors.As(err, &e) && slices.Contains([]string{
		"already_published", "not_published", "not_paused", "already_suspended", "not_suspended", "unknown_key",
	}, e.Code)
}

// historyRead reads an export: whatever is committed meanwhile, its records are those of the content hash that it states.
func historyRead(t *testing.T, r *app.Registry, slug string) {
	err := r.Dump(context.Background(), slug, func(p *business.Publication, records iter.Seq2[*business.Record, error]) error {
		leaves, err := business.ProfileLeaves(slug, p.Standing.Region, &p.Profile)
		if err != nil {
			return err
		}
		for record, err := range records {
			if err != nil {
				return err
			}
			leaf, err := business.RecordLeaf(slug, record)
			if err != nil {
				return err
			}
			leaves = append(leaves, leaf)
		}
		if hash := business.ContentHash(leaves); hash != p.State.ContentHash {
			return fmt.Errorf("an export of generation %d states %s and holds %s", p.State.Generation, p.State.ContentHash, hash)
		}
		return nil
	})
	if err != nil {
		t.Errorf("%s: %v", slug, err)
	}
}

// historyJudge tells the history of one publisher in the order of revisions.
func historyJudge(t *testing.T, store app.Store, slug string, all []*historyAct) {
	t.Helper()
	acts := slices.DeleteFunc(slices.Clone(all), func(a *historyAct) bool { return a.slug != slug })
	slices.SortFunc(acts, func(a, b *historyAct) int { return int(a.receipt.Revision) - int(b.receipt.Revision) })
	ctx := t.Context()
	must(t, store.View(ctx, func(rd app.Reader) error {
		row, err := rd.Publisher(ctx, slug)
		must(t, err)
		trail, err := rd.Audit(ctx, slug, 0, len(acts)+1)
		must(t, err)
		if len(trail) != len(acts) || row.Revision != uint64(len(acts)) {
			t.Fatalf("%s: %d acts were acknowledged, the audit trail has %d rows, the revision is %d", slug, len(acts), len(trail), row.Revision)
		}
		m := &historyModel{lifecycle: business.Draft, name: slug, records: map[string]string{}, generation: 1}
		hash := ""
		for i, a := range acts {
			allowed, changed := m.take(a)
			if first := i == 0; !allowed || a.receipt.Revision != uint64(i+1) || a.receipt.Generation != m.generation ||
				a.op == app.OpImport && a.receipt.Unchanged == changed || trail[i].Action != string(a.op) || trail[i].OldHash != hash ||
				(trail[i].NewHash != hash) != (changed || first) {
				t.Fatalf("%s: act %d, %s, is none that a sequential registry does: allowed %v, changed %v, generation %d, receipt %+v, audit %+v",
					slug, i+1, a.op, allowed, changed, m.generation, a.receipt, trail[i])
			}
			hash = trail[i].NewHash
		}
		historyCompare(t, rd, row, m)
		return nil
	}))
}

// historyCompare holds the end of a history against the model.
func historyCompare(t *testing.T, rd app.Reader, row *app.PublisherRow, m *historyModel) {
	t.Helper()
	ctx := t.Context()
	titles := map[string]string{}
	for stored, err := range rd.Records(ctx, row.Slug, "", "", "") {
		must(t, err)
		var record business.Record
		must(t, business.Decode(stored.Body, &record))
		titles[record.ID] = record.Title
	}
	keys, err := rd.Keys(ctx, row.Slug)
	must(t, err)
	signing := 0
	for _, k := range keys {
		if k.RetiredAt.IsZero() && k.RevokedAt.IsZero() {
			signing++
		}
	}
	list, err := rd.Revocations(ctx, row.Slug)
	must(t, err)
	var scopes []string
	for _, entry := range list {
		scopes = append(scopes, entry.Scope)
	}
	if row.Generation != m.generation || row.Lifecycle != m.lifecycle || row.Suspended != m.suspended || row.Quota.Records != m.quota || !maps.Equal(titles, m.records) ||
		len(keys) != m.keys || (signing == 1) != m.signing || signing > 1 || !slices.Equal(scopes, m.revoked) {
		t.Errorf("%s ends as %+v with %d records, %d keys and the list %v; the model as %+v", row.Slug, row, len(titles), len(keys), scopes, m)
	}
}
