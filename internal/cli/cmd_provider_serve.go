package cli

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"sayso/gidp/providerhttp"
	"sayso/internal/buildinfo"
	"sayso/internal/server"
)

func init() { register("provider", newProviderServe) }

// providerServing are the flags of provider serve beside the settings.
type providerServing struct {
	domain  string
	issuers []string
	logDays int
}

func newProviderServe(e *env) *cobra.Command {
	var p providerServing
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve a discovery provider",
		Long: "Serve answers publishers of projections and those who look for a counterparty, below /gidp/v1/. It keeps reference, labels, endpoint, expiry and a key thumbprint of each projection in the data " +
			"folder, which it makes when there is none, and nothing of any query. It needs no keys and no passphrase.\n\n" +
			"What was withdrawn is returned by no server of this provider a minute after the acknowledgement; one that cannot read its database answers no query. Several servers are one provider: the setting " +
			"database names their PostgreSQL. Bans are taken over within two seconds.\n\n" +
			"On a loopback origin agents on this machine are taken, for trials. Elsewhere the name of every endpoint must lead to public addresses alone, which the DNS is asked for.\n\n" +
			"--trust-domain says that this provider serves the members of a domain, who may publish what their policies keep for its network. With --member-issuer, a file with the public key of who attests " +
			"memberships (sayso interest credentials), it takes nothing from anybody who shows none; without it, whom the server can be reached by is up to you. --log-days is " +
			"published as how long you keep the log, which has rounded counts of requests alone.\n\n" +
			"SIGTERM or an interrupt finishes what is in flight and ends with exit 0 within five seconds.\n\n" +
			"It does not start, with exit 2 on a wrong setting, 4 when the database belongs to a newer version, 5 when an address is taken or the database cannot be reached.",
		Example: "  sayso provider serve --data provider\n  sayso provider serve --listen 0.0.0.0:8470 --origin https://provider.example --trusted-proxy 10.0.0.0/8\n" +
			"  sayso provider serve --data provider --trust-domain guild.example --member-issuer guild.pub.json",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return e.serveProvider(p) },
	}
	siteFlags(c, "what its URLs begin with")
	flags := c.Flags()
	flags.StringVar(&p.domain, "trust-domain", "", "domain whose members alone it serves")
	flags.StringSliceVar(&p.issuers, "member-issuer", nil, "file with the public key of an issuer of memberships, a JWK or a JWK Set of one; may be repeated")
	flags.IntVar(&p.logDays, "log-days", 7, "days for which you keep the log, as published")
	return c
}

func (e *env) serveProvider(p providerServing) error {
	if p.logDays < 1 || p.logDays > 3650 {
		return usageError("--log-days %d is not a number of days from 1 to 3650", p.logDays)
	}
	if len(p.issuers) > 0 && p.domain == "" {
		return usageError("--member-issuer says who is a member, and --trust-domain of what")
	}
	var members []ed25519.PublicKey
	for _, name := range p.issuers {
		issuer, err := e.readIssuerKey(name)
		if err != nil {
			return err
		}
		members = append(members, issuer)
	}
	at, err := e.openSite()
	if err != nil {
		return err
	}
	defer at.close()
	if err := os.MkdirAll(e.config.Data, 0o700); err != nil {
		return err
	}
	rows, closing, err := e.openProvider()
	if err != nil {
		return err
	}
	defer closing.Close()
	service, err := providerhttp.New(e.ctx, providerhttp.Options{
		Rows: rows, Origin: at.origin, Now: time.Now, Random: rand.Reader, Lookup: lookup, Address: server.ClientAddress, TrustDomain: p.domain, MemberIssuers: members,
		LogRetention: time.Duration(p.logDays) * 24 * time.Hour, Log: e.logger(),
	})
	if err != nil {
		return unavailableError("the provider cannot start: %v", err)
	}
	withdraw, err := at.announce(e.config.Data, instance{})
	if err != nil {
		return err
	}
	defer withdraw()
	if err := e.announceProvider(service, at); err != nil {
		return err
	}
	return e.runServer(e.providerServer(service, at))
}

// providerServer assembles the two listeners and what runs behind them.
func (e *env) providerServer(s *providerhttp.Service, at *site) *server.Server {
	o := e.serverOptions(at)
	o.Provider, o.Background, o.Checks = s.Handler(), []func(context.Context) error{s.Run}, []server.Check{providerCheck(s)}
	o.Gauges = []server.Gauge{
		{Name: "provider_feed_age_seconds", Help: "Age of the newest complete reading of the projections.", Value: func() float64 { return s.Health().Age.Seconds() }},
		{Name: "provider_left_out", Help: "Projections that the index could not take.", Value: func() float64 { return float64(s.Health().LeftOut) }},
	}
	return server.New(o)
}

// lookup asks the resolver of this machine.
func lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// providerCheck is the readiness of a provider.
func providerCheck(s *providerhttp.Service) server.Check {
	return func(context.Context) server.Status {
		h := s.Health()
		status := server.Status{ID: "provider", Level: server.LevelOK, Message: "projections are read as they change"}
		switch {
		case h.Behind:
			status.Level, status.Message = server.LevelFailed, "the database could not be read for longer than the withdrawal latency, so no query is answered"
		case h.LeftOut > 0:
			status.Level, status.Message = server.LevelWarning, fmt.Sprintf("projections that are not found because the index is full: %d", h.LeftOut)
		}
		return status
	}
}

// providerStarted is the answer of provider serve.
type providerStarted struct {
	Version         string `json:"version"`
	Origin          string `json:"origin"`
	Public          string `json:"listen"`
	Private         string `json:"admin"`
	WithdrawLatency int    `json:"withdraw_latency_s"`
	TrustDomain     string `json:"trust_domain,omitempty"`
}

func (e *env) announceProvider(s *providerhttp.Service, at *site) error {
	start := providerStarted{buildinfo.Get().Version, at.origin, at.public.Addr().String(), at.private.Addr().String(), s.Info().WithdrawLatency, s.Info().TrustDomain}
	return e.answer(start, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "sayso %s serves a discovery provider at %s, listening on %s, private on %s\n", start.Version, start.Origin, start.Public, start.Private)
		return err
	})
}

// openProvider opens the rows of a provider.
func (e *env) openProvider() (rows providerhttp.Rows, closing io.Closer, err error) {
	store, err := e.openStore(e.ctx)
	if err != nil {
		return nil, nil, err
	}
	held, ok := store.(interface{ Provider() providerhttp.Rows })
	if !ok {
		return nil, nil, errors.Join(errors.New("this database keeps no projections"), store.Close())
	}
	return held.Provider(), store, nil
}

// onProvider runs one act of the operator beside a running server or without one.
func (e *env) onProvider(do func(rows providerhttp.Rows) error) (err error) {
	path := filepath.Join(e.config.Data, databaseFile)
	if _, missing := os.Stat(path); e.config.Database == "" && errors.Is(missing, fs.ErrNotExist) {
		return notFoundError("%s holds no provider", e.config.Data).withHint("name its folder with --data, or start one").withRun("sayso provider serve")
	}
	rows, closing, err := e.openProvider()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing.Close()) }()
	return registryFailure(do(rows))
}
