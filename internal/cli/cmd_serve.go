package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"sayso/facts"
	"sayso/facts/dataset"
	"sayso/facts/factshttp"
	"sayso/internal/buildinfo"
	"sayso/internal/mcpserve"
	"sayso/internal/server"
	"sayso/internal/web"
)

func init() { register("", newServe) }

func newServe(e *env) *cobra.Command {
	c := &cobra.Command{
		Use:   "serve --facts DIR",
		Short: "Serve a folder of figures",
		Long: "Serve answers for a folder of figures over HTTP and MCP. The folder is read, checked and held in memory; it needs no database and no data folder; without --facts the folder that a demo kept below --data is served. " +
			"A change of the folder is noticed within two seconds, or at once on SIGHUP, and loaded whole; when one figure is wrong the change is refused, the reason " +
			"is shown by /readyz on the private listener, and what was served before is served on.\n\n" +
			"SIGTERM or an interrupt finishes what is in flight and ends with exit 0 within five seconds; a second one ends at once.\n\n" +
			"It does not start, with exit 1, when one figure is wrong, 2 on a wrong setting, 3 when the folder is missing or holds no figures, 4 when a private key lies in it, 5 when an " +
			"address is taken.",
		Example: "  sayso serve --facts figures\n  sayso serve --facts figures --listen 0.0.0.0:8470 --origin https://figures.example --trusted-proxy 10.0.0.0/8",
		RunE:    func(*cobra.Command, []string) error { return e.serve() },
	}
	flags := c.Flags()
	flags.String("facts", "", "folder of figures")
	flags.String("listen", "", "public address, HOST:PORT (default 127.0.0.1:8470)")
	flags.String("admin", "", "private address, HOST:PORT (default 127.0.0.1:8471)")
	flags.String("origin", "", "what absolute URLs begin with; needed when the public address is not loopback")
	flags.StringSlice("trusted-proxy", nil, "network whose X-Forwarded-For names the client, CIDR; may be repeated")
	return c
}

// serve opens listeners and catalogue, announces itself and runs until it is told to stop.
func (e *env) serve() error {
	if e.config.Facts == "" {
		e.config.Facts = e.keptFigures()
	}
	if e.config.Facts == "" {
		return usageError("serve needs a folder of figures").withRun("sayso serve --facts DIR")
	}
	public, private, err := e.listen()
	if err != nil {
		return err
	}
	defer public.Close()
	defer private.Close()
	origin, err := e.config.PublicOrigin(public.Addr())
	if err != nil {
		return usageError("%v", err)
	}
	if !holdsFigures(e.config.Facts) {
		return notFoundError("%s holds no publisher.yaml", e.config.Facts).withHint("name a folder of figures with --facts, or make one").withRun("sayso facts init figures")
	}
	begin := time.Now()
	catalogue, err := server.OpenCatalogue(e.config.Facts, origin, time.Now)
	if err != nil {
		return folderFailure(e.config.Facts, err)
	}
	e.note("read %s in %s", plural(catalogue.Snapshot().Len(), "fact"), time.Since(begin).Round(time.Millisecond))
	withdraw, err := announce(e.config.Data, instance{Listen: public.Addr().String(), Admin: private.Addr().String(), Origin: origin, PID: os.Getpid()})
	if err != nil {
		return err
	}
	defer withdraw()
	s := e.newServer(catalogue, origin, public, private)
	if err := e.announceStart(catalogue, origin, public, private); err != nil {
		return err
	}
	return e.runServer(s)
}

// newServer serves a catalogue on two listeners under the settings.
func (e *env) newServer(catalogue *server.Catalogue, origin string, public, private net.Listener) *server.Server {
	return server.New(server.Options{
		PublicListener: public, PrivateListener: private, PrivateHosts: e.config.AdminHosts(),
		Public: e.factsHandler(catalogue, origin), Classify: classify,
		Checks: []server.Check{catalogue.Check}, Reloader: catalogue, Log: e.logger(),
		RateLimit: e.config.RateLimit, LimitLoopback: e.config.Set("rate_limit"), TrustedProxies: e.config.TrustedProxies(),
	})
}

// listen binds both addresses before anything is read, so that a taken port is known at once.
func (e *env) listen() (public, private net.Listener, err error) {
	if public, err = net.Listen("tcp", e.config.Listen); err != nil {
		return nil, nil, unavailableError("cannot listen on %s: %v", e.config.Listen, bindCause(err)).withHint("choose another address with --listen")
	}
	if private, err = net.Listen("tcp", e.config.Admin); err != nil {
		public.Close()
		return nil, nil, unavailableError("cannot listen on %s: %v", e.config.Admin, bindCause(err)).withHint("choose another private address with --admin")
	}
	return public, private, nil
}

func bindCause(err error) error {
	if inner := errors.Unwrap(errors.Unwrap(err)); inner != nil {
		return inner
	}
	return err
}

func (e *env) factsHandler(catalogue *server.Catalogue, origin string) http.Handler {
	log := e.logger()
	return factshttp.Handler(factshttp.HandlerOptions{
		Snapshot: catalogue.Snapshot, Pages: web.Pages(), ServerCardVersion: buildinfo.Get().Version,
		MCP: mcpserve.NewFacts(mcpserve.FactsOptions{
			Snapshot: catalogue.Snapshot, Today: func() facts.Date { return facts.DateOf(time.Now()) },
			Version: buildinfo.Get().Version, PublicOrigin: origin,
		}),
		Report: func(r *http.Request, cause error) {
			route, _ := factshttp.Match(r.URL.Path)
			log.Error("an answer could not be made", "route", route.Pattern, "cause", cause.Error())
		},
	})
}

func classify(path string) (pattern string, dynamic bool) {
	route, _ := factshttp.Match(path)
	return route.Pattern, route.Dynamic
}

// announceStart prints the one line that says what is served where.
func (e *env) announceStart(catalogue *server.Catalogue, origin string, public, private net.Listener) error {
	info := catalogue.Snapshot().Info()
	start := struct {
		Version   string `json:"version"`
		Facts     string `json:"facts"`
		Count     int    `json:"count"`
		Level     string `json:"conformance"`
		Origin    string `json:"origin"`
		Public    string `json:"listen"`
		Private   string `json:"admin"`
		Publisher string `json:"publisher"`
	}{buildinfo.Get().Version, e.config.Facts, info.Count, info.Conformance, origin, public.Addr().String(), private.Addr().String(), info.Publisher.URL}
	return e.answer(start, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "sayso %s serves %s (%s) from %s at %s, listening on %s, private on %s\n",
			start.Version, plural(start.Count, "fact"), start.Level, start.Facts, origin, start.Public, start.Private)
		return err
	})
}

// runServer lets SIGTERM and an interrupt stop the server, and SIGHUP reload it. After the first stop signal the defaults are restored: a second one kills.
func (e *env) runServer(s *server.Server) error {
	ctx, stop := signal.NotifyContext(e.ctx, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	go func() {
		for {
			select {
			case <-hangup:
				s.Reload()
			case <-ctx.Done():
				return
			}
		}
	}()
	return s.Run(ctx)
}

func (e *env) logger() *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(e.config.LogLevel)); err != nil {
		level = slog.LevelInfo
	}
	json := e.config.LogFormat == "json" || e.config.LogFormat == "auto" && !e.isTerminal(e.err)
	return server.NewLogger(e.err, level, json)
}

// folderFailure says why a folder is not served. Private key material is a refusal of its own.
func folderFailure(folder string, err error) error {
	var refused *dataset.FolderError
	if !errors.As(err, &refused) {
		return failedError("%s: %v", folder, err)
	}
	if f, held := keyMaterial(refused); held {
		return refusedError("%s: %s: %s [%s]", folder, f.Place, f.Message, f.Rule).withHint("move the key out of the folder, then retire and replace it if the folder was published")
	}
	return failedError("%s: %v", folder, refused).withHint("nothing is served while one figure is wrong: %s", refused.Cause().Next).withRun("sayso facts lint " + shellWord(folder))
}
