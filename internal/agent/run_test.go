package agent

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sayso/gidp/providerhttp"
	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
	"sayso/jwk"
)

// run starts the loop of an agent and returns what stops it.
func run(t *testing.T, a *Agent) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			select {
			case err := <-ended:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(5 * time.Second):
				t.Error("Run does not end")
			}
		})
	}
	t.Cleanup(stop)
	return stop
}

func TestActivateWaitsForTheAcknowledgement(t *testing.T) {
	o := newOffice(t)
	stop := run(t, o.Agent)
	o.patience = 5 * time.Second
	id := o.add(officeInterest())
	v, err := o.Activate(context.Background(), id, officeProvider)
	if err != nil || len(v.Projections) != 1 || v.Projections[0].State != "published" {
		t.Errorf("%+v %v", v, err)
	}
	stop()
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	o.restart(nil)
	_, err = o.Activate(stopped, o.add(officeInterest()), officeProvider)
	wantKind(t, err, "unavailable", "interrupted")
}

// Another process on the same store does the work of an act.
func TestAnotherProcessWorks(t *testing.T) {
	o := newOffice(t)
	server := o.Agent
	run(t, server)
	o.restart(func(options *Options) { options.Providers = nil })
	o.patience = 5 * time.Second
	v, err := o.Activate(context.Background(), o.add(officeInterest()), officeProvider)
	if err != nil || v.Projections[0].State != "published" {
		t.Errorf("%+v %v", v, err)
	}
}

// slowProvider lets the calls of one provider wait, panic or fail, and counts how many run at once.
type slowProvider struct {
	*fakeProvider
	running, most, calls atomic.Int32
	do                   func(ctx context.Context, at string) error
}

func (s *slowProvider) Publish(ctx context.Context, at string, key *jwk.PrivateKey, p providerhttp.Publication) (string, time.Duration, error) {
	s.calls.Add(1)
	n := s.running.Add(1)
	defer s.running.Add(-1)
	for most := s.most.Load(); n > most && !s.most.CompareAndSwap(most, n); most = s.most.Load() {
	}
	if err := s.do(ctx, at); err != nil {
		return "", 0, err
	}
	return s.fakeProvider.Publish(ctx, at, key, p)
}

func TestWorkRunsInFourAtMost(t *testing.T) {
	o := newOffice(t)
	slow := &slowProvider{fakeProvider: o.provider, do: func(context.Context, string) error { time.Sleep(20 * time.Millisecond); return nil }}
	o.restart(func(options *Options) { options.Providers = slow })
	id := o.add(officeInterest())
	for n := range 10 {
		if _, err := o.Activate(context.Background(), id, fmt.Sprintf("https://p%d.example", n)); err != nil {
			t.Fatal(err)
		}
	}
	run(t, o.Agent)
	eventually(t, func() bool { return len(o.provider.standing()) == 10 })
	if got := slow.most.Load(); got < 2 || got > workers {
		t.Errorf("%d handlers at once", got)
	}
}

// One handler that panics or fails stops neither the loop nor the others, and is tried again.
func TestAFaultOnlyDelays(t *testing.T) {
	o := newOffice(t)
	var broke atomic.Int32
	slow := &slowProvider{fakeProvider: o.provider, do: func(_ context.Context, at string) error {
		if at == officeProvider && broke.Add(1) == 1 {
			panic("canary-hint")
		}
		return nil
	}}
	o.restart(func(options *Options) { options.Providers = slow })
	id := o.active(officeProvider)
	other := o.active("https://q.example")
	stop := run(t, o.Agent)
	eventually(t, func() bool { return o.detail(other).Projections[0].State == "published" && broke.Load() > 0 })
	eventually(t, func() bool { o.clock.move(time.Second); return o.detail(id).Projections[0].State == "published" })
	stop()
	noSecrets(t, o.log.String())
}

// Work that comes due while its handler runs is done once more after it, and never twice at once.
func TestOneHandlerOfAKind(t *testing.T) {
	o := newOffice(t)
	release := make(chan struct{})
	slow := &slowProvider{fakeProvider: o.provider, do: func(context.Context, string) error { <-release; return nil }}
	o.restart(func(options *Options) { options.Providers = slow })
	id := o.active(officeProvider)
	ref := o.projections(id)[0].Ref
	run(t, o.Agent)
	eventually(t, func() bool { return slow.running.Load() == 1 })
	for range 3 {
		if err := o.store.Update(context.Background(), func(w durable.Writer) error {
			return w.Schedule(context.Background(), durable.WorkProjection, ref, o.clock.now())
		}); err != nil {
			t.Fatal(err)
		}
		o.kick()
		time.Sleep(10 * time.Millisecond)
	}
	if got := slow.most.Load(); got != 1 {
		t.Errorf("%d handlers of one projection at once", got)
	}
	close(release)
	eventually(t, func() bool { return o.detail(id).Projections[0].State == "published" })
}

// A process that dies leaves a claim behind; when it ends, another process goes on.
func TestAClaimEnds(t *testing.T) {
	ctx := context.Background()
	o := newOffice(t)
	id := o.active(officeProvider)
	if err := o.store.Update(ctx, func(w durable.Writer) error {
		_, err := w.Claim(ctx, o.clock.now(), o.clock.now().Add(lease), 10)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	o.restart(nil)
	run(t, o.Agent)
	time.Sleep(20 * time.Millisecond)
	if o.detail(id).Projections[0].State != "publishing" {
		t.Error("took what another process has claimed")
	}
	o.clock.move(lease)
	eventually(t, func() bool { return o.detail(id).Projections[0].State == "published" })
}

// A command that drives its own work beside a server on the same database: every candidate is approached once, by one of them, and told so once.
func TestExploreBesideAServer(t *testing.T) {
	const candidates = 8
	w := newWorld(t)
	offers := &fakeProvider{kept: map[string]*fakeProjection{}, endpoints: map[string]string{}}
	w.seller.options.Providers = offers
	w.seller.restart()
	stops := []func(){run(t, w.seller.agent)}
	for n := range candidates {
		if _, err := w.seller.agent.Activate(t.Context(), w.seller.interest, fmt.Sprintf("https://p%d.example", n)); err != nil {
			t.Fatal(err)
		}
	}
	for _, one := range offers.standing() {
		found := strings.Replace(one.ref, "pref", "cand", 1)
		offers.candidates = append(offers.candidates, providerhttp.Candidate{Ref: found, ProjectionRef: one.ref})
		offers.endpoints[found] = one.pub.Projection.Endpoint
	}
	w.buyer.options.Providers = offers
	w.buyer.restart()
	server := w.buyer.agent
	w.buyer.restart()
	command := w.buyer.agent
	stops = append(stops, run(t, server), run(t, command))
	v, err := command.Explore(t.Context(), w.buyer.interest, officeProvider)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool {
		w.clock.advance(200 * time.Millisecond)
		server.kick()
		got, err := command.Exploration(t.Context(), v.ID)
		if err != nil {
			t.Fatal(err)
		}
		return got.State == done
	})
	for _, stop := range stops {
		stop()
	}
	for _, p := range []*party{w.buyer, w.seller} {
		if n := len(p.sessions()); n != candidates {
			t.Errorf("%s has %d sessions with %d candidates", p.options.Origin, n, candidates)
		}
	}
	opens := map[string]int{}
	w.wires.mu.Lock()
	defer w.wires.mu.Unlock()
	for _, data := range w.wires.log {
		if o, ok := decoded(data).(*wire.SessionOpen); ok {
			opens[o.SessionID]++
		}
	}
	if len(opens) != candidates {
		t.Errorf("%d sessions were asked for", len(opens))
	}
	for id, n := range opens {
		if n != 1 {
			t.Errorf("%s was opened %d times", id, n)
		}
	}
}

func TestRunEndsWhileWorking(t *testing.T) {
	o := newOffice(t)
	slow := &slowProvider{fakeProvider: o.provider, do: func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() }}
	o.restart(func(options *Options) { options.Providers = slow })
	id := o.active(officeProvider)
	stop := run(t, o.Agent)
	eventually(t, func() bool { return slow.running.Load() == 1 })
	stop()
	if got := o.detail(id).Projections[0]; slow.running.Load() != 0 || got.State != "publishing" || got.Problem != "" {
		t.Errorf("%+v", got)
	}
	// What was cut short is taken by the next process at once: the clock stands, so that no lease ends.
	o.restart(func(options *Options) { options.Providers = o.provider })
	run(t, o.Agent)
	eventually(t, func() bool { return o.detail(id).Projections[0].State == "published" })
}

func TestNoHandlerForUnknownWork(t *testing.T) {
	ctx := context.Background()
	o := newOffice(t)
	for _, kind := range []durable.WorkKind{durable.WorkProjection, durable.WorkExploration, durable.WorkInterest} {
		if err := o.Agent.work(ctx, durable.Work{Kind: kind, ID: "none"}); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestBackoff(t *testing.T) {
	for n, want := range map[int]time.Duration{-1: time.Second, 0: time.Second, 1: time.Second, 2: 2 * time.Second, 6: 32 * time.Second, 7: time.Minute, 1000: time.Minute} {
		if got := backoff(n); got != want {
			t.Errorf("backoff(%d) = %s", n, got)
		}
	}
}

func TestNewNeedsItsParts(t *testing.T) {
	o := newOffice(t)
	for name, edit := range map[string]func(*Options){"store": func(o *Options) { o.Store = nil }, "vault": func(o *Options) { o.Vault = nil }, "randomness": func(o *Options) { o.Random = nil }} {
		options := o.Options
		edit(&options)
		if _, err := New(options); err == nil {
			t.Errorf("an agent without %s", name)
		}
	}
	a, err := New(Options{Store: o.store, Vault: o.vault, Random: o.Random})
	if err != nil || a.Profiles == nil || a.Session == nil || a.Now == nil || a.Log == nil || a.Tick != defaultTick {
		t.Errorf("the defaults: %v", err)
	}
}

func eventually(t *testing.T, f func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if f() {
			return
		}
	}
	t.Fatal("it never happens")
}
