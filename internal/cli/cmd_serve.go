package cli

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sayso/business/bizhttp"
	"sayso/facts"
	"sayso/facts/dataset"
	"sayso/facts/factshttp"
	"sayso/internal/app"
	"sayso/internal/buildinfo"
	"sayso/internal/mcpserve"
	"sayso/internal/server"
	"sayso/internal/web"
)

func init() { register("", newServe) }

func newServe(e *env) *cobra.Command {
	c := &cobra.Command{
		Use:   "serve [--facts DIR]",
		Short: "Serve a folder of figures, the registry of the data folder, or both",
		Long: "Serve answers over HTTP, and over MCP too. What it serves are the figures of a folder, when --facts names one or a demo kept one below --data, and the " +
			"registry of the data folder, when sayso init has made one there. Both share one origin; under a host that a business has for itself only the business answers.\n\n" +
			"Figures are read, checked and held in memory; they need no database and no data folder. A change of their folder is noticed within two seconds, or at once on SIGHUP, and " +
			"loaded whole; when one figure is wrong the change is refused, the reason is shown by /readyz on the private listener, and what was served before is served on.\n\n" +
			"A registry needs its passphrase, from the file that SAYSO_PASSPHRASE_FILE names or typed at the start, unless its keys were sealed without one. The admin API for operators and " +
			"businesses is on the private listener below /api/v1. Acts of other commands on the same data folder are served within a second.\n\n" +
			"Several servers can serve one registry: the setting database names their PostgreSQL, and each has a data folder of its own with the same root.pub.json and the same keys " +
			"folder in it, mounted and not linked, because a key that one of them makes is used by all. root.key belongs on none of them.\n\n" +
			"SIGTERM or an interrupt finishes what is in flight and ends with exit 0 within five seconds; a second one ends at once.\n\n" +
			"It does not start, with exit 1, when one figure is wrong, 2 on a wrong setting or when there is nothing to serve, 3 when the folder is missing or holds no figures, 4 when a " +
			"private key lies in it, or others may read the registry's keys, 5 when an address is taken or the database cannot be reached.",
		Example: "  sayso serve --facts figures\n  SAYSO_PASSPHRASE_FILE=/run/secrets/sayso sayso serve --data /var/lib/sayso\n" +
			"  sayso serve --facts figures --listen 0.0.0.0:8470 --origin https://figures.example --trusted-proxy 10.0.0.0/8",
		RunE: func(*cobra.Command, []string) error { return e.serve() },
	}
	c.Flags().String("facts", "", "folder of figures")
	siteFlags(c, "what absolute URLs begin with")
	return c
}

// serving is what one server serves and where. Catalogue or registry is nil when there is none of it.
type serving struct {
	site
	catalogue *server.Catalogue
	registry  *app.Registry
}

// serve opens listeners, figures and registry, announces itself and runs until it is told to stop.
func (e *env) serve() error {
	if e.config.Facts == "" {
		e.config.Facts = e.keptFigures()
	}
	if e.config.Facts == "" && !e.holdsRegistry() {
		return usageError("serve needs a folder of figures or a registry, and %s holds neither", e.config.Data).
			withHint("name a folder of figures with --facts, or make a registry with sayso init").withRun("sayso serve --facts DIR")
	}
	at, err := e.openSite()
	if err != nil {
		return err
	}
	defer at.close()
	s := serving{site: *at}
	if e.config.Facts != "" {
		if s.catalogue, err = e.openFigures(s.origin); err != nil {
			return err
		}
	}
	if e.holdsRegistry() {
		r, closing, err := e.serveRegistry(s.origin)
		if err != nil {
			return err
		}
		defer closing()
		s.registry = r
	}
	withdraw, err := s.announce(e.config.Data, instance{})
	if err != nil {
		return err
	}
	defer withdraw()
	if err := e.announceStart(&s); err != nil {
		return err
	}
	return e.runServer(e.newServer(&s))
}

// openFigures reads the folder of figures.
func (e *env) openFigures(origin string) (*server.Catalogue, error) {
	if !holdsFigures(e.config.Facts) {
		return nil, notFoundError("%s holds no publisher.yaml", e.config.Facts).withHint("name a folder of figures with --facts, or make one").withRun("sayso facts init figures")
	}
	begin := time.Now()
	catalogue, err := server.OpenCatalogue(e.config.Facts, origin, time.Now)
	if err != nil {
		return nil, folderFailure(e.config.Facts, err)
	}
	e.note("read %s in %s", plural(catalogue.Snapshot().Len(), "fact"), time.Since(begin).Round(time.Millisecond))
	return catalogue, nil
}

// serveRegistry opens the registry and reads it once, so that a server that announces itself has something to say.
func (e *env) serveRegistry(origin string) (r *app.Registry, closing func() error, err error) {
	prover, err := e.prover()
	if err != nil {
		return nil, nil, err
	}
	if r, closing, err = e.openRegistry(e.ctx, origin, prover); err != nil {
		return nil, nil, err
	}
	if err = r.Refresh(e.ctx); err != nil {
		return nil, nil, errors.Join(registryFailure(err), closing())
	}
	return r, closing, nil
}

// newServer serves on two listeners under the settings.
func (e *env) newServer(s *serving) *server.Server {
	o := e.serverOptions(&s.site)
	if s.catalogue != nil {
		o.Public, o.Classify = e.factsHandler(s.catalogue, s.origin), classify
		o.Checks, o.Reloader = []server.Check{s.catalogue.Check}, s.catalogue
	}
	if s.registry != nil {
		o.Registry, o.Pages, o.Call = s.registry, web.BusinessPages(), e.registryTools(s).ServeCall
	}
	return server.New(o)
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

// registryTools answers MCP calls to the publishers and, with the figures that are served beside them, at the front door.
func (e *env) registryTools(s *serving) *mcpserve.RegistryTools {
	log := e.logger()
	o := mcpserve.RegistryOptions{
		Registry: s.registry, Today: today, Version: buildinfo.Get().Version,
		Report: func(r *http.Request, cause error) {
			route, _ := bizhttp.Match(r.URL.EscapedPath())
			log.Error("a call could not be answered", "route", route.Pattern, "cause", cause.Error())
		},
	}
	if s.catalogue != nil {
		o.Facts = s.catalogue.Snapshot
	}
	return mcpserve.NewRegistry(o)
}

func classify(path string) (pattern string, dynamic bool) {
	route, _ := factshttp.Match(path)
	return route.Pattern, route.Dynamic
}

// started is the answer of serve.
type started struct {
	Version   string        `json:"version"`
	Facts     string        `json:"facts,omitempty"`
	Count     *int          `json:"count,omitempty"`
	Level     string        `json:"conformance,omitempty"`
	Publisher string        `json:"publisher,omitempty"`
	Registry  *registryFact `json:"registry,omitempty"`
	Origin    string        `json:"origin"`
	Public    string        `json:"listen"`
	Private   string        `json:"admin"`
}

// registryFact is what a server says about its registry.
type registryFact struct {
	Data       string `json:"data"`
	Publishers int    `json:"publishers"`
	Published  int    `json:"published"`
}

// announceStart prints the one line that says what is served where.
func (e *env) announceStart(s *serving) error {
	start := started{Version: buildinfo.Get().Version, Origin: s.origin, Public: s.public.Addr().String(), Private: s.private.Addr().String()}
	var served []string
	if s.catalogue != nil {
		info := s.catalogue.Snapshot().Info()
		start.Facts, start.Count, start.Level, start.Publisher = e.config.Facts, &info.Count, info.Conformance, info.Publisher.URL
		served = append(served, fmt.Sprintf("%s (%s) from %s", plural(info.Count, "fact"), info.Conformance, e.config.Facts))
	}
	if s.registry != nil {
		g := s.registry.Gauges()
		start.Registry = &registryFact{e.config.Data, g.Publishers, g.Published}
		served = append(served, fmt.Sprintf("a registry of %s (%d published) from %s", plural(g.Publishers, "publisher"), g.Published, e.config.Data))
	}
	return e.answer(start, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "sayso %s serves %s at %s, listening on %s, private on %s\n", start.Version, strings.Join(served, " and "), s.origin, start.Public, start.Private)
		return err
	})
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
