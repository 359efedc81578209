package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"sayso/gidp/gidpa2a"
	"sayso/gidp/providerhttp"
	"sayso/internal/agent"
	"sayso/internal/agent/durable"
	"sayso/internal/buildinfo"
	"sayso/internal/keyfile"
	"sayso/internal/vault"
	"sayso/jwk"
	"sayso/safefetch"
)

// serverOf returns what runs on the data folder and does the work of its interests; nil when nothing does.
func (e *env) serverOf() *instance {
	found, ok := readInstance(e.config.Data, interestsFile)
	if !ok {
		return nil
	}
	if _, err := fetchReadiness(e.ctx, found.Admin); err != nil {
		return nil // it left without a word
	}
	return &found
}

// openVault opens the keys of the interests in the data folder; the first add makes them.
func (e *env) openVault(create bool) (*vault.Vault, error) {
	v, err := vault.Open(e.config.Data, func() ([]byte, error) { return e.passphrase(false) })
	switch {
	case err == nil:
		return v, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, keyFailure(err)
	case !create:
		return nil, notFoundError("%s holds no interest", e.config.Data).withHint("add one, or name its folder with --data").withRun("sayso interest add FILE")
	}
	return e.createVault()
}

// reachable refuses an origin under which nobody could reach an agent: providers and counterparties take https, and http on this machine alone.
func reachable(origin string) error {
	if strings.HasPrefix(origin, "http://") && safefetch.LoopbackOf(origin) == "" {
		return usageError("an agent at %s is reached by nobody", origin).withHint("put a proxy with TLS in front, and name its https origin with --origin; http is for an agent on this machine")
	}
	return nil
}

// createVault seals under what is there already: the identity of a registry in the same folder. A new one is sealed with the passphrase of the file that is
// named, or with one that is typed; where there is neither, with a secret beside the keys.
func (e *env) createVault() (*vault.Vault, error) {
	keys := filepath.Join(e.config.Data, "keys")
	held := func(name string) bool {
		_, err := os.Lstat(filepath.Join(keys, name))
		return err == nil
	}
	var passphrase []byte
	var err error
	switch {
	case held(keyfile.PlainIdentity):
	case held(keyfile.SealedIdentity):
		passphrase, err = e.passphrase(false)
	case e.config.PassphraseFile != "" || e.canAsk():
		passphrase, err = e.passphrase(true)
	default:
		e.note("warning: nobody typed a passphrase and SAYSO_PASSPHRASE_FILE names none: your interests are sealed with a secret that lies beside them in %s, which keeps them from being "+
			"copied by accident and from nothing else", filepath.Join(keys, keyfile.PlainIdentity))
	}
	if err != nil {
		return nil, err
	}
	v, err := vault.Create(e.config.Data, passphrase, rand.Reader)
	if err != nil {
		return nil, keyFailure(err)
	}
	return v, nil
}

// interests is an agent of the data folder in this process.
type interests struct {
	*agent.Agent
	vault  *vault.Vault
	beside *instance // the server that does the work; nil: this process has to
	store  durable.Store
	close  func() error
}

// interestOptions say what a command needs of an agent.
type interestOptions struct {
	create  bool   // make what is missing
	origin  string // of endpoints; "" as far as a command knows it
	network bool   // reach providers and peers
	notify  func(entry string)
}

// openInterests opens the interests of the data folder.
func (e *env) openInterests(o interestOptions) (*interests, error) {
	v, err := e.openVault(o.create)
	if err != nil {
		return nil, err
	}
	if !o.create {
		if err := e.holdsDatabase(); err != nil {
			return nil, err
		}
	}
	store, err := e.openStore(e.ctx)
	if err != nil {
		return nil, err
	}
	rows, ok := store.(interface{ Agents() durable.Store })
	if !ok {
		return nil, errors.Join(failedError("this database keeps no interests"), store.Close())
	}
	i := &interests{vault: v, store: rows.Agents(), close: store.Close}
	origin := o.origin
	if origin == "" {
		origin = e.servedOrigin(interestsFile)
	}
	settings := agent.Options{Store: i.store, Vault: v, Origin: origin, Now: time.Now, Random: rand.Reader, Log: e.logger(), Notify: o.notify,
		MultiParty: e.config.MultiParty}
	if o.network {
		settings.Peers, settings.Providers = newReach(origin, e.config.Provider)
	}
	if i.Agent, err = agent.New(settings); err != nil {
		return nil, errors.Join(interestFailure(err), store.Close())
	}
	return i, nil
}

// withInterests runs one act on the interests of the data folder, beside a running server or without one. What the act leaves to be done with others, the
// server does within a second, or whichever runs next.
func (e *env) withInterests(act func(i *interests) error) error {
	i, err := e.openInterests(interestOptions{})
	if err != nil {
		return err
	}
	return errors.Join(interestFailure(act(i)), i.close())
}

// workLimit is how long a command without a server beside it does what its act has left to be done with others.
const workLimit = 10 * time.Second

// working is [env.withInterests] for acts that reach others. While no server does the work of the folder, this process does it until the act returns.
func (e *env) working(act func(i *interests) error) error {
	beside := e.serverOf()
	i, err := e.openInterests(interestOptions{network: beside == nil})
	if err != nil {
		return err
	}
	i.beside = beside
	var group sync.WaitGroup
	ctx, stop := context.WithCancel(e.ctx)
	if beside == nil {
		group.Go(func() { i.Run(ctx) })
	}
	err = act(i)
	stop()
	group.Wait()
	return errors.Join(interestFailure(err), i.close())
}

// settle waits until others have acknowledged what an act has for them, and reports whether they have. With a server beside it does not wait: the server sees to it.
func (e *env) settle(i *interests, what string, done func(durable.Reader) (bool, error)) (bool, error) {
	if i.beside != nil {
		return true, nil
	}
	ctx, cancel := context.WithTimeout(e.ctx, workLimit)
	defer cancel()
	defer e.patience(what)()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		settled := false
		if err := i.store.View(ctx, func(r durable.Reader) (err error) {
			settled, err = done(r)
			return err
		}); settled || err != nil && ctx.Err() == nil {
			return settled, err
		}
		select {
		case <-ctx.Done():
			return false, e.ctx.Err() // nil when only the time is over
		case <-tick.C:
		}
	}
}

// withdrawn reports whether no projection of an interest waits for its provider any more, and every session that is closed has told its peer.
func (e *env) withdrawn(interest string) func(durable.Reader) (bool, error) {
	return func(r durable.Reader) (bool, error) {
		list, err := r.Projections(e.ctx, interest)
		if err != nil {
			return false, err
		}
		for _, p := range list {
			if p.State == durable.Withdrawing {
				return false, nil
			}
		}
		const page = 200
		for after := ""; ; {
			sessions, err := r.Sessions(e.ctx, interest, false, after, page)
			if err != nil {
				return false, err
			}
			for _, s := range sessions {
				if told, err := e.told(s.ID)(r); !told {
					return false, err
				}
				after = s.ID
			}
			if len(sessions) < page {
				return true, nil
			}
		}
	}
}

// told reports whether the peer of a session has what was sent to it. A responder sends nothing: its peer fetches.
func (e *env) told(session string) func(durable.Reader) (bool, error) {
	return func(r durable.Reader) (bool, error) {
		s, err := r.Session(e.ctx, session)
		if err != nil || !s.Initiator {
			return err == nil, err
		}
		sent, err := r.Sent(e.ctx, session, 0)
		if err != nil {
			return false, err
		}
		for _, row := range sent {
			if !row.Acknowledged && s.EndsAt.After(time.Now()) {
				return false, nil
			}
		}
		return true, nil
	}
}

// leftOver says who does what could not be done now.
func (e *env) leftOver() {
	e.note("not everybody was reached yet; what is left is done while a server runs: %s", e.command("interest serve"))
}

// interestFailure maps the refusals of an agent to exit codes: their kinds are those of the registry.
func interestFailure(err error) error {
	var f *failure
	if err = registryFailure(err); errors.As(err, &f) && f.reason == "unknown_interest" {
		f.hint, f.run = "", "sayso interest list"
	}
	return err
}

// reach makes clients over safefetch. Loopback is reached only where the user typed it: a provider that was named as such, and, from an agent that can itself be
// reached on this machine alone or that such a provider found, agents on this machine. Every other address has to be a public one with TLS.
type reach struct {
	local     bool // agents on this machine may be reached
	peers     clients[agent.Peers]
	providers clients[*providerhttp.Client]
}

func newReach(origin, provider string) (agent.Peers, agent.Providers) {
	r := &reach{local: safefetch.LoopbackOf(origin) != "" || safefetch.LoopbackOf(provider) != ""}
	r.peers.make = func(f *safefetch.Client) agent.Peers {
		return gidpa2a.NewSafeClient(f, gidpa2a.ClientOptions{})
	}
	r.providers.make = func(f *safefetch.Client) *providerhttp.Client {
		return providerhttp.NewClient(providerhttp.ClientOptions{Fetch: f, Now: time.Now, Random: rand.Reader})
	}
	return peers{r}, providers{r}
}

// maxLocal bounds the clients for addresses on this machine.
const maxLocal = 256

// clients holds a client for public addresses and one for each address on this machine that is reached.
type clients[C any] struct {
	make func(*safefetch.Client) C

	mu     sync.Mutex
	public *C            // guarded by mu
	local  map[string]*C // guarded by mu; by host:port
}

func (c *clients[C]) at(address string) C {
	c.mu.Lock()
	defer c.mu.Unlock()
	if address == "" {
		if c.public == nil {
			c.public = c.client(safefetch.Policy{})
		}
		return *c.public
	}
	if c.local[address] == nil {
		if c.local == nil || len(c.local) >= maxLocal {
			c.local = map[string]*C{}
		}
		c.local[address] = c.client(safefetch.Policy{Loopback: []string{address}})
	}
	return *c.local[address]
}

func (c *clients[C]) client(p safefetch.Policy) *C {
	p.UserAgent, p.Timeout, p.MaxBytes = "sayso/"+buildinfo.Get().Version, 30*time.Second, gidpa2a.MaxAnswer
	made := c.make(safefetch.New(p))
	return &made
}

// localAddress is the host:port of a URL on this machine, "" of any other.
func localAddress(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return safefetch.LoopbackOf(u.Scheme + "://" + u.Host)
}

type peers struct{ *reach }

func (p peers) at(endpoint string) agent.Peers {
	if !p.local {
		return p.peers.at("") // which refuses what is not public
	}
	return p.peers.at(localAddress(endpoint))
}

func (p peers) Hello(ctx context.Context, endpoint string) error {
	return p.at(endpoint).Hello(ctx, endpoint)
}

func (p peers) Send(ctx context.Context, to gidpa2a.Peer, out gidpa2a.Outgoing) (gidpa2a.Received, error) {
	return p.at(to.Endpoint).Send(ctx, to, out)
}

func (p peers) Get(ctx context.Context, to gidpa2a.Peer) (gidpa2a.Received, error) {
	return p.at(to.Endpoint).Get(ctx, to)
}

type providers struct{ *reach }

// at is the client for a provider. The user named it, in a command or in a setting.
func (p providers) at(provider string) *providerhttp.Client {
	return p.providers.at(localAddress(provider))
}

func (p providers) Publish(ctx context.Context, provider string, key *jwk.PrivateKey, what providerhttp.Publication) (string, time.Duration, error) {
	return p.at(provider).Publish(ctx, provider, key, what)
}

func (p providers) Update(ctx context.Context, provider string, key *jwk.PrivateKey, ref string, what providerhttp.Publication) (string, time.Duration, error) {
	return p.at(provider).Update(ctx, provider, key, ref, what)
}

func (p providers) Withdraw(ctx context.Context, provider string, key *jwk.PrivateKey, ref string) (time.Time, error) {
	return p.at(provider).Withdraw(ctx, provider, key, ref)
}

func (p providers) Candidates(ctx context.Context, provider string, key *jwk.PrivateKey, q providerhttp.Query) (providerhttp.Page, error) {
	return p.at(provider).Candidates(ctx, provider, key, q)
}

// Resolve refuses an agent on this machine that a provider elsewhere names: it would let the provider choose what is called behind the firewall.
func (p providers) Resolve(ctx context.Context, provider string, key *jwk.PrivateKey, candidate string) (endpoint, ref string, err error) {
	endpoint, ref, err = p.at(provider).Resolve(ctx, provider, key, candidate)
	if err == nil && localAddress(endpoint) != "" && localAddress(provider) == "" {
		return "", "", fmt.Errorf("a provider elsewhere names an agent on this machine: %w", safefetch.ErrRefused)
	}
	return endpoint, ref, err
}

func (p providers) Info(ctx context.Context, provider string) (providerhttp.Info, error) {
	return p.at(provider).Info(ctx, provider)
}
