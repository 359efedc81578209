package apptest

import (
	"context"
	"sync"
	"testing"
	"time"

	"sayso/business"
	"sayso/internal/app"
	"sayso/internal/proof"
)

// Clock is a clock that tests move. It is safe for concurrent use.
type Clock struct {
	mu sync.Mutex
	at time.Time
}

// Now is the time it was set to.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Move puts the clock forward, or back with a negative duration.
func (c *Clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// Prover answers checks from a table: what is not in it fails with nxdomain.
type Prover struct {
	mu     sync.Mutex
	tokens map[string]bool
	fault  *proof.Failure
	asked  int
}

// Publish lets the next checks of this token succeed, Withdraw ends that.
func (p *Prover) Publish(token string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tokens == nil {
		p.tokens = map[string]bool{}
	}
	p.tokens[token] = true
}

// Withdraw takes every token away.
func (p *Prover) Withdraw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tokens = nil
}

// Fault makes every check fail in this way; nil ends that.
func (p *Prover) Fault(f *proof.Failure) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = f
}

// Asked is how many checks were made.
func (p *Prover) Asked() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

// Check looks into the table.
func (p *Prover) Check(_ context.Context, c proof.Challenge) (proof.Evidence, *proof.Failure) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	ev := proof.Evidence{Host: c.Host, Method: c.Method, Points: []proof.Point{}, SuffixList: proof.SuffixListVersion()}
	switch {
	case p.fault != nil:
		return ev, p.fault
	case p.tokens[c.Token]:
		return ev, nil
	}
	return ev, &proof.Failure{Code: proof.CodeNXDomain, Message: "the challenge name does not exist", Next: "add the record", Counts: true}
}

// World is a registry that was initialised in a temporary folder.
type World struct {
	Data     string
	Store    *Store
	Keys     *app.KeyFiles
	Clock    *Clock
	Prover   *Prover
	Init     *app.InitResult
	Registry *app.Registry
	Root     business.Root
}

// Origin is the public origin of a World.
const Origin = "https://registry.example"

// NewWorld initialises a registry without passphrases and refreshes what it serves.
func NewWorld(t testing.TB) *World {
	t.Helper()
	w := &World{Data: t.TempDir(), Store: &Store{}, Clock: &Clock{at: time.Now().UTC()}, Prover: &Prover{}}
	var err error
	if w.Init, err = app.Init(t.Context(), w.Store, app.InitInput{Data: w.Data, Operator: "first", Now: w.Clock.Now()}); err != nil {
		t.Fatal(err)
	}
	if w.Keys, err = app.OpenKeys(w.Data, nil); err != nil {
		t.Fatal(err)
	}
	w.Root = w.Keys.Root()
	w.Registry = w.Replica(t)
	return w
}

// Replica is another registry over the same store and keys, as another process would be.
func (w *World) Replica(t testing.TB) *app.Registry {
	t.Helper()
	r := app.New(w.Options())
	if err := r.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// Options are those of the world's registry.
func (w *World) Options() app.Options {
	return app.Options{
		Store: w.Store, Keys: w.Keys, Prover: w.Prover, RefusedTLDs: []string{"localhost"}, Now: w.Clock.Now, Data: w.Data,
		Site: business.Site{Origin: Origin, ServerVersion: "test"},
	}
}

// Operator is the machine's owner under a label.
func Operator(t testing.TB, name string) app.Actor {
	t.Helper()
	a, err := app.Machine(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Owner makes a token with these scopes and returns its actor and the token.
func (w *World) Owner(t testing.TB, slug string, scopes ...string) (app.Actor, string) {
	t.Helper()
	token, err := w.Registry.CreateToken(t.Context(), Operator(t, "ops"), slug, "test", scopes, "")
	if err != nil {
		t.Fatal(err)
	}
	actor, err := w.Registry.Authenticate(t.Context(), token.Token)
	if err != nil {
		t.Fatal(err)
	}
	return actor, token.Token
}

// Publisher makes a publisher with authority and publishes it.
func (w *World) Publisher(t testing.TB, slug string) {
	t.Helper()
	ctx, ops, second := t.Context(), Operator(t, "ops"), Operator(t, "second")
	if _, err := w.Registry.CreatePublisher(ctx, ops, app.CreateInput{Slug: slug, Name: "Business " + slug, Delegated: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Registry.RecordVerification(ctx, ops, slug, "decision-1", app.ActInput{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Registry.ConfirmVerification(ctx, second, slug, "decision-1", app.ActInput{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Registry.Publish(ctx, ops, slug, app.ActInput{}); err != nil {
		t.Fatal(err)
	}
}

// Move moves the clock and lets the world's registry read the heads, as it does all the time.
func (w *World) Move(t testing.TB, d time.Duration) {
	t.Helper()
	w.Clock.Move(d)
	if err := w.Registry.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
}
