package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"sayso/examples"
	"sayso/gidp/gidpa2a"
	"sayso/gidp/providerhttp"
	"sayso/internal/demo"
	"sayso/internal/server"
	"sayso/internal/vault"
	"sayso/safefetch"
)

// demoGIDP is where the provider and the two agents of the demo stand.
type demoGIDP struct {
	Provider string     `json:"provider"`
	Seller   demo.Party `json:"seller"`
	Buyer    demo.Party `json:"buyer"`
}

// gidpFolder is where the demo keeps the provider and the agents below a data folder, each in a folder of its own.
const gidpFolder = "gidp"

// gidpParts are a provider and two agents that serve on addresses of their own.
type gidpParts struct {
	demoGIDP
	wire    *demo.Wire
	run     demo.Command
	closing []func() // in the order in which it was opened
}

// part is one server of them while it is put together.
type part struct {
	site
	env *env // whose data folder is that of the part
}

// close ends the servers and what they stand on, the newest first.
func (p *gidpParts) close() {
	for _, end := range slices.Backward(p.closing) {
		end()
	}
	p.closing = nil
}

// startGIDP makes or reuses the folders of the parts below the data folder of the demo, and serves them until close. Settings of the user that name another database or another
// provider have no part in it.
func (e *env) startGIDP(ctx context.Context, data string) (_ *gidpParts, err error) {
	p := &gidpParts{wire: &demo.Wire{}, run: e.alone(ctx)}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	ctx, stop := context.WithCancel(ctx)
	p.closing = append(p.closing, stop)
	base := filepath.Join(data, gidpFolder)
	// What a provider held led to addresses that ended with the demo that had them.
	if err := os.RemoveAll(filepath.Join(base, "provider")); err != nil {
		return nil, err
	}
	if p.Provider, err = e.startProvider(ctx, p, filepath.Join(base, "provider")); err != nil {
		return nil, err
	}
	if p.Seller, err = e.startAgent(ctx, p, "seller", filepath.Join(base, "seller")); err != nil {
		return nil, err
	}
	if p.Buyer, err = e.startAgent(ctx, p, "buyer", filepath.Join(base, "buyer")); err != nil {
		return nil, err
	}
	return p, nil
}

// at makes a folder of its own and two listeners on free ports of this machine.
func (e *env) at(ctx context.Context, p *gidpParts, name, folder string) (*part, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	inner, settings := *e, *e.config
	settings.Data, settings.Database, settings.Provider, settings.InboxHook = folder, "", p.Provider, ""
	inner.ctx, inner.config = ctx, &settings
	out := &part{env: &inner}
	for _, l := range []*net.Listener{&out.public, &out.private} {
		bound, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, unavailableError("cannot listen on this machine: %v", bindCause(err))
		}
		p.closing = append(p.closing, func() { bound.Close() })
		*l = bound
	}
	out.origin = "http://" + out.public.Addr().String()
	out.public = p.wire.Listen(name, out.public)
	return out, nil
}

// serve announces a part to the commands on its folder and runs its server.
func (p *gidpParts) serve(of *part, s *server.Server, as instance) error {
	withdraw, err := of.announce(of.env.config.Data, as)
	if err != nil {
		return err
	}
	p.closing = append(p.closing, withdraw)
	ctx, stop := context.WithCancel(of.env.ctx)
	var running sync.WaitGroup
	running.Go(func() {
		if err := s.Run(ctx); err != nil && ctx.Err() == nil {
			of.env.logger().Error("a part of the demo has ended", "cause", err.Error())
		}
	})
	p.closing = append(p.closing, func() {
		stop()
		running.Wait()
	})
	return nil
}

func (e *env) startProvider(ctx context.Context, p *gidpParts, folder string) (origin string, err error) {
	at, err := e.at(ctx, p, "provider", folder)
	if err != nil {
		return "", err
	}
	rows, store, err := at.env.openProvider()
	if err != nil {
		return "", err
	}
	p.closing = append(p.closing, func() { store.Close() })
	service, err := providerhttp.New(ctx, providerhttp.Options{
		Rows: rows, Origin: at.origin, Now: time.Now, Random: rand.Reader, Lookup: lookup, Address: server.ClientAddress, Log: at.env.logger(),
	})
	if err != nil {
		return "", unavailableError("the provider cannot start: %v", err)
	}
	return at.origin, p.serve(at, at.env.providerServer(service, &at.site), instance{})
}

func (e *env) startAgent(ctx context.Context, p *gidpParts, name, folder string) (demo.Party, error) {
	at, err := e.at(ctx, p, name, folder)
	if err != nil {
		return demo.Party{}, err
	}
	if err := at.env.demoVault(); err != nil {
		return demo.Party{}, err
	}
	i, err := at.env.openInterests(interestOptions{create: true, origin: at.origin, network: true})
	if err != nil {
		return demo.Party{}, err
	}
	p.closing = append(p.closing, func() { i.close() })
	watch := &interestWatch{agent: i.Agent, now: time.Now}
	if err := watch.look(ctx); err != nil {
		return demo.Party{}, interestFailure(err)
	}
	s, err := at.env.interestServer(i, watch, nil, &at.site)
	if err != nil {
		return demo.Party{}, err
	}
	err = p.serve(at, s, instance{Interests: true, Provider: p.Provider})
	return demo.Party{Name: name, Data: folder, Origin: at.origin, Inbox: "http://" + at.private.Addr().String() + "/inbox"}, err
}

// demoVault makes the keys of an agent of the demo, sealed as the rest of the demo is: nobody is asked for a passphrase.
func (e *env) demoVault() error {
	var passphrase []byte
	if e.config.PassphraseFile != "" {
		var err error
		if passphrase, err = e.passphrase(false); err != nil {
			return err
		}
	}
	if _, err := os.Stat(filepath.Join(e.config.Data, databaseFile)); !errors.Is(err, fs.ErrNotExist) {
		return err // it was made before, and is opened with its keys
	}
	if _, err := vault.Create(e.config.Data, passphrase, rand.Reader); err != nil && !errors.Is(err, vault.ErrExists) {
		return keyFailure(err)
	}
	return nil
}

// alone runs commands on folders that they are told, as [env.inProcess] does, but under no settings of the user that name other places.
func (e *env) alone(ctx context.Context) demo.Command {
	environ := slices.DeleteFunc(slices.Clone(e.environ), func(entry string) bool { return strings.HasPrefix(entry, "SAYSO_") })
	if e.config.PassphraseFile != "" {
		environ = append(environ, "SAYSO_PASSPHRASE_FILE="+e.config.PassphraseFile)
	}
	return func(args []string, in []byte) (string, int) {
		var out bytes.Buffer
		code := run(ctx, append([]string{"--color", "never", "--config", os.DevNull}, args...), bytes.NewReader(in), &out, io.Discard, environ) // a failure is told in JSON, on standard output
		return out.String(), code
	}
}

// walkGIDP takes the provider and the agents through the walk. heading prints a line between the steps.
func (e *env) walkGIDP(ctx context.Context, p *gidpParts, show func(demo.Step), heading func(string)) error {
	samples, err := fs.Sub(examples.Interests, "interests")
	if err != nil {
		return err
	}
	policy := safefetch.Policy{Timeout: 10 * time.Second, MaxBytes: gidpa2a.MaxAnswer}
	defer p.wire.Stop()
	return demo.WalkGIDP(ctx, demo.GIDPWalk{
		Run: p.run, Fetch: safefetch.New(policy.WithLoopback(p.Provider, p.Seller.Origin)), Provider: p.Provider, Seller: p.Seller, Buyer: p.Buyer,
		Interests: samples, Wire: p.wire, Now: time.Now,
	}, show, func() {
		heading("\nPROBING: somebody who has no interest asks for the seller's least price, under as many keys as it likes")
	})
}

// gidpRows are the lines of the closing list.
func (d *demoGIDP) rows() [][2]string {
	return [][2]string{
		{"provider", d.Provider + providerhttp.Base + " (discovery; sayso provider info " + d.Provider + ")"},
		{"seller", d.Seller.Inbox + "?all=1 (decisions, in a browser)"},
		{"buyer", d.Buyer.Inbox + "?all=1"},
		{"command", fmt.Sprintf("sayso interest list --data %s", shellWord(d.Seller.Data))},
	}
}
