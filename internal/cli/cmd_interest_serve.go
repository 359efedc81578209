package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"sayso/gidp/gidpa2a"
	"sayso/gidp/profile"
	"sayso/internal/agent"
	"sayso/internal/buildinfo"
	"sayso/internal/server"
	"sayso/internal/vault"
	"sayso/internal/web"
)

func init() { register("interest", newInterestServe) }

func newInterestServe(e *env) *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "Answer for the interests of the data folder",
		Long: "Serve answers counterparties over A2A below /a2a/ on the public listener, and does the work of the interests: projections are published and withdrawn, sessions that they opened are driven, " +
			"and what waits for a person is kept until its time is over. The JSON Schemas of what is exchanged are below /schema/gidp/. Acts of other commands on the same data folder are taken up within a second.\n\n" +
			"Decisions wait at /inbox on the private listener and under sayso interest inbox. Each is a line in the log and counts in /metrics. The setting inbox_hook names a program that is run for each, with " +
			"the id of the entry as its one argument; what is asked, and by whom, it has to look up. Whoever reaches the private listener can read the inbox and decide, so keep it on a machine that is yours alone, or " +
			"behind something that knows you.\n\n" +
			"Real providers and counterparties reach the agent under an https origin only: put a proxy in front and name it with --origin. Without one the agent is for this machine. --provider is where activate and " +
			"explore go when they name no other; one on this machine lets agents on this machine be reached.\n\n" +
			"The passphrase comes from the file that SAYSO_PASSPHRASE_FILE names or is typed at the start, unless the interests were sealed without one. SIGTERM or an interrupt finishes what is in flight and " +
			"ends with exit 0 within five seconds. It does not start, with exit 3, when the data folder holds no interest, 4 when others may read its keys, 5 when an address is taken or the database cannot be reached.",
		Example: "  sayso interest serve\n  sayso interest serve --listen 0.0.0.0:8470 --origin https://agents.example --provider https://provider.example --trusted-proxy 10.0.0.0/8",
		RunE:    func(*cobra.Command, []string) error { return e.serveInterests() },
	}
	siteFlags(c, "what endpoints begin with")
	c.Flags().String("provider", "", "provider of discovery for commands that name none: its origin")
	multiPartyFlag(c)
	return c
}

// startedInterests is the answer of interest serve.
type startedInterests struct {
	Version  string       `json:"version"`
	Data     string       `json:"data"`
	Gauges   agent.Gauges `json:"gauges"`
	Origin   string       `json:"origin"`
	Public   string       `json:"listen"`
	Private  string       `json:"admin"`
	Inbox    string       `json:"inbox"`
	Provider string       `json:"provider,omitempty"`
}

func (e *env) serveInterests() error {
	at, err := e.openSite()
	if err != nil {
		return err
	}
	defer at.close()
	if err := reachable(at.origin); err != nil {
		return err
	}
	log := e.logger()
	program := newHook(e.config.InboxHook, e.environ, log)
	i, err := e.openInterests(interestOptions{origin: at.origin, network: true, notify: func(entry string) {
		log.Info("a decision waits", "entry", entry)
		if program != nil {
			program.tell(entry)
		}
	}})
	if err != nil {
		return err
	}
	defer i.close()
	watch := &interestWatch{agent: i.Agent, now: time.Now}
	if err := watch.look(e.ctx); err != nil {
		return interestFailure(err)
	}
	if err := e.warnElsewhere(i, at.origin); err != nil {
		return err
	}
	s, err := e.interestServer(i, watch, program, at)
	if err != nil {
		return err
	}
	withdraw, err := at.announce(e.config.Data, instance{Interests: true, Provider: e.config.Provider})
	if err != nil {
		return err
	}
	defer withdraw()
	start := startedInterests{
		Version: buildinfo.Get().Version, Data: e.config.Data, Gauges: watch.gauges(), Origin: at.origin, Public: at.public.Addr().String(), Private: at.private.Addr().String(),
		Inbox: "http://" + at.private.Addr().String() + "/inbox", Provider: e.config.Provider,
	}
	if err := e.answer(start, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "sayso %s answers for %s (%d active) from %s at %s, listening on %s; %s at %s\n", start.Version, plural(start.Gauges.Interests, "interest"), start.Gauges.Active,
			start.Data, start.Origin, start.Public, waitingText(start.Gauges.WaitingDecisions), start.Inbox)
		return err
	}); err != nil {
		return err
	}
	return e.runServer(s)
}

// warnElsewhere logs which projections nobody reaches at the origin that is served, and what renews them.
func (e *env) warnElsewhere(i *interests, origin string) error {
	elsewhere, err := i.Elsewhere(e.ctx)
	if err != nil {
		return interestFailure(err)
	}
	for _, id := range slices.Sorted(maps.Keys(elsewhere)) {
		e.logger().Warn("projections name another origin, and nobody who follows them comes here", "interest", id, "projections", elsewhere[id], "origin", origin, "renew", e.renewal(id))
	}
	return nil
}

// renewal is what makes new projections of an interest in place of its old ones.
func (e *env) renewal(id string) string {
	return e.command("interest suspend %s", id) + ", and then " + e.command("interest resume %s", id)
}

func waitingText(n int) string {
	switch n {
	case 0:
		return "no decision waits"
	case 1:
		return "1 decision waits"
	}
	return fmt.Sprintf("%d decisions wait", n)
}

// interestServer assembles the two listeners and what runs behind them.
func (e *env) interestServer(i *interests, watch *interestWatch, program *hook, at *site) (*server.Server, error) {
	log := e.logger()
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		return nil, err
	}
	until, cut := context.WithCancel(context.Background())
	agents, err := e.agentsHandler(i, at.origin, until)
	if err != nil {
		cut()
		return nil, err
	}
	o := e.serverOptions(at)
	o.Agents = agents
	o.Inbox = web.InboxHandler(web.InboxOptions{
		Agent: i.Agent, Secret: secret, Now: time.Now,
		Report: func(cause error) { log.Error("a page of the inbox could not be made", "cause", cause.Error()) },
	})
	o.Background = []func(context.Context) error{i.Run, watch.run, func(ctx context.Context) error {
		<-ctx.Done() // streams end first, so that the rest is not cut with them
		cut()
		return nil
	}}
	o.Checks = []server.Check{watch.check}
	o.Gauges = []server.Gauge{
		{Name: "gidp_interests", Help: "Interests of the data folder, every version counted.", Value: func() float64 { return float64(watch.gauges().Interests) }},
		{Name: "gidp_interests_active", Help: "Active interests.", Value: func() float64 { return float64(watch.gauges().Active) }},
		{Name: "gidp_sessions_open", Help: "Open sessions, of both sides.", Value: func() float64 { return float64(watch.gauges().OpenSessions) }},
		{Name: "gidp_decisions_waiting", Help: "Decisions that wait for a person.", Value: func() float64 { return float64(watch.gauges().WaitingDecisions) }},
	}
	if program != nil {
		o.Background = append(o.Background, program.run)
	}
	return server.New(o), nil
}

// opensPerMinute is how many sessions one network may open; a rate limit of 0 lifts it.
const opensPerMinute = 60

// agentsHandler answers counterparties. Cards are signed by a key of the data folder.
func (e *env) agentsHandler(i *interests, origin string, until context.Context) (http.Handler, error) {
	seed := i.vault.MAC("agent card")
	signer, err := vault.NewKey(bytes.NewReader(seed[:]))
	if err != nil {
		return nil, err
	}
	opens := opensPerMinute
	if e.config.RateLimit == 0 {
		opens = 0
	}
	log := e.logger()
	return gidpa2a.NewHandler(gidpa2a.Options{
		Host: i.Agent, Origin: origin, Profiles: profile.Shipped().IDs(), Signer: signer, RateLimit: opens, Tick: i.Agent.Tick, Until: until, Client: server.ClientAddress,
		Report: func(category string, cause error) {
			log.Error("an agent could not answer", "category", category, "cause", cause.Error())
		},
	})
}

const (
	watchEvery = 2 * time.Second
	watchStale = 10 * time.Second
)

// interestWatch counts every two seconds, so that /metrics and /readyz answer from memory.
type interestWatch struct {
	agent *agent.Agent
	now   func() time.Time

	mu   sync.Mutex
	last agent.Gauges // guarded by mu
	at   time.Time    // guarded by mu; when it was counted
}

func (w *interestWatch) look(ctx context.Context) error {
	g, err := w.agent.Gauges(ctx)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last, w.at = g, w.now()
	return nil
}

func (w *interestWatch) run(ctx context.Context) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			w.look(ctx) // an error shows in the age
		}
	}
}

func (w *interestWatch) gauges() agent.Gauges {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

func (w *interestWatch) check(context.Context) server.Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	if age := w.now().Sub(w.at); age > watchStale {
		return server.Status{ID: "interests", Level: server.LevelFailed, Message: fmt.Sprintf("the database of the interests was last read %s ago", age.Round(time.Second))}
	}
	return server.Status{ID: "interests", Level: server.LevelOK, Message: fmt.Sprintf("%s, %d active, %s", plural(w.last.Interests, "interest"), w.last.Active, waitingText(w.last.WaitingDecisions))}
}
