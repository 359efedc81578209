package agent

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/gidpa2a"
	"sayso/gidp/interest"
	"sayso/gidp/providerhttp"
	"sayso/internal/agent/durable"
	"sayso/internal/store/storetest"
	"sayso/internal/vault"
)

// ring is several principals with an agent each, one provider that returns everybody to everybody, and wires whose bytes are kept apart.
type ring struct {
	t        *testing.T
	clock    *worldClock
	provider *fakeProvider
	parties  map[string]*party
	wires    map[string]*wires // by "from to"
	breaks   bool              // a store fails now and then, and the work is done again
}

// ringPeers are the wires of one agent.
type ringPeers struct {
	*ring
	from string
}

func (p ringPeers) to(endpoint string) *wires {
	u, _ := url.Parse(endpoint)
	to, _, _ := strings.Cut(u.Host, ".")
	key := p.from + " " + to
	if p.wires[key] == nil {
		p.wires[key] = &wires{clock: p.clock, host: hostOf{p.parties[to]}}
	}
	return p.wires[key]
}

func (p ringPeers) Hello(context.Context, string) error { return nil }

func (p ringPeers) Send(ctx context.Context, to gidpa2a.Peer, out gidpa2a.Outgoing) (gidpa2a.Received, error) {
	return p.to(to.Endpoint).Send(ctx, to, out)
}

func (p ringPeers) Get(ctx context.Context, to gidpa2a.Peer) (gidpa2a.Received, error) {
	return p.to(to.Endpoint).Get(ctx, to)
}

func newRing(t *testing.T) *ring {
	return &ring{t: t, clock: &worldClock{now: worldStart}, provider: &fakeProvider{kept: map[string]*fakeProjection{}, endpoints: map[string]string{}}, parties: map[string]*party{},
		wires: map[string]*wires{}}
}

// join adds a party that the provider returns from now on.
func (r *ring) join(name string, doc *interest.Interest, change ...func(*Options)) *party {
	r.t.Helper()
	v, err := vault.Ephemeral(rand.Reader)
	if err != nil {
		r.t.Fatal(err)
	}
	p := &party{t: r.t, logged: &bytes.Buffer{}}
	p.options = Options{Store: storetest.NewAgents(), Vault: v, Origin: "https://" + name + ".example", Peers: ringPeers{r, name}, Providers: r.provider, Now: r.clock.read, Random: rand.Reader,
		Log: slog.New(slog.NewTextHandler(p.logged, nil)), MultiParty: true}
	for _, c := range change {
		c(&p.options)
	}
	p.restart()
	added, err := p.agent.Add(r.t.Context(), doc)
	if err != nil {
		r.t.Fatal(err)
	}
	p.interest = added.ID
	p.agent.patience = time.Millisecond
	a, err := p.agent.Activate(r.t.Context(), p.interest, officeProvider)
	if err != nil {
		r.t.Fatal(err)
	}
	r.tend(p)
	r.parties[name] = p
	n := len(r.parties)
	r.provider.candidates = append(r.provider.candidates, providerhttp.Candidate{Ref: fmt.Sprint("cand-", n), ProjectionRef: fmt.Sprint("pref-", n)})
	r.provider.endpoints[fmt.Sprint("cand-", n)] = a.Projections[0].Endpoint
	return p
}

// only lets the provider return these alone, numbered from 1 in the order in which they joined.
func (r *ring) only(names ...int) {
	var out []providerhttp.Candidate
	for _, n := range names {
		out = append(out, providerhttp.Candidate{Ref: fmt.Sprint("cand-", n), ProjectionRef: fmt.Sprint("pref-", n)})
	}
	r.provider.candidates = out
}

// pump lets everybody do what is due.
func (r *ring) pump() {
	r.t.Helper()
	for range 14 {
		r.clock.advance(400 * time.Millisecond)
		for _, p := range r.parties {
			r.tend(p)
		}
	}
}

// tend does what is due of one party.
func (r *ring) tend(p *party) {
	r.t.Helper()
	var due []durable.Work
	now := r.clock.read()
	if err := p.agent.Store.Update(r.t.Context(), func(w durable.Writer) (err error) {
		due, err = w.Claim(r.t.Context(), now, now.Add(time.Millisecond), 100)
		return err
	}); err != nil && !r.breaks {
		r.t.Fatal(err)
	}
	for _, w := range due {
		if err := p.agent.work(r.t.Context(), w); err != nil && !r.breaks {
			r.t.Fatal(err)
		}
	}
}

// lead explores for a party and returns the lead it comes to.
func (r *ring) lead(p *party) string {
	r.t.Helper()
	if _, err := p.agent.Explore(r.t.Context(), p.interest, officeProvider); err != nil {
		r.t.Fatal(err)
	}
	r.pump()
	leads, err := p.agent.Leads(r.t.Context())
	if err != nil || len(leads) != 1 {
		r.t.Fatalf("%d leads, %v; %+v", len(leads), err, p.sessions())
	}
	return leads[0].ID
}

func (r *ring) expand(p *party, lead, name string) ExpansionView {
	r.t.Helper()
	v, _, err := p.agent.Expand(r.t.Context(), lead, ExpandRequest{Dependency: name, Provider: officeProvider})
	if err != nil {
		r.t.Fatal(err)
	}
	r.pump()
	if v, err = p.agent.Expansion(r.t.Context(), v.ID); err != nil {
		r.t.Fatal(err)
	}
	return v
}

// crossed is what went between two parties, in the direction of the one who opened.
func (r *ring) crossed(from, to string) string {
	w := r.wires[from+" "+to]
	if w == nil {
		return ""
	}
	return string(bytes.Join(w.log, []byte("\n")))
}

// investor is a co-investor whose ticket fits everybody's. The lists are open to the other side of a session.
func investor(t *testing.T, conditional, provides, requires []string) *interest.Interest {
	doc := worldDocument(t, map[string]string{"sector": `"ai_infrastructure"`, "geography": `"germany"`, "ticket_eur": `{"min":100000,"max":300000}`, gidp.PrincipalIdentity: `"canary-investor"`},
		map[string]string{"sector": "discovery", "geography": "discovery", "ticket_eur": "evaluation_only", gidp.PrincipalIdentity: "session/principal_approval"})
	doc.Profile, doc.Wants = "sayso/co-investment/1", interest.Wants{Action: "co_investment", Object: "round"}
	doc.ConditionalOn, doc.Provides, doc.Requires = conditional, provides, requires
	for _, list := range []string{gidp.ConditionalOn, gidp.Provides, gidp.Requires} {
		doc.Policy.Entries[list] = worldClass(t, "session")
	}
	return doc
}

func wantState(t *testing.T, v ExpansionView, name, state string) {
	t.Helper()
	for _, d := range v.Dependencies {
		if d.Name == name {
			if d.State != state {
				t.Errorf("%s is %s, want %s: %+v", name, d.State, state, v)
			}
			return
		}
	}
	t.Errorf("%s is not recorded: %+v", name, v)
}
