package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"sayso/business"
	"sayso/business/bizhttp"
	"sayso/internal/app"
)

// Limits of the public listener.
const (
	maxHeader         = 16 << 10
	maxBody           = 1 << 20
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 20 * time.Second
	writeTimeout      = 60 * time.Second
	idleTimeout       = 90 * time.Second
	// drainTimeout is how long requests in flight may take after the stop signal; what is left is cut, so that the process ends within five seconds.
	drainTimeout = 4 * time.Second
)

// Options configure a server. Listeners are required, and at least one surface: Public with Classify, Registry, Agents, Provider.
type Options struct {
	PublicListener  net.Listener
	PrivateListener net.Listener
	// Public is the facts surface, nil when no facts are served.
	Public http.Handler
	// Classify names the route of a decoded path of Public for metrics and says whether the rate limit counts it. Patterns must be a closed set.
	Classify func(path string) (pattern string, dynamic bool)
	// Registry is served by the business surface on the public listener and by the admin API on the private one, and runs while the server does; nil = none.
	Registry *app.Registry
	// Pages renders the HTML of the business surface; nil leaves it with JSON.
	Pages *bizhttp.Pages
	// Call answers the MCP endpoints of the business surface (bizhttp.HandlerOptions.Call); nil serves no tools.
	Call func(w http.ResponseWriter, r *http.Request, p *business.Publication) error
	// Agents answers below /a2a/ on the public listener; nil: nobody does. Its event streams may last.
	Agents http.Handler
	// Provider answers below /gidp/v1/ on the public listener; nil: nobody does.
	Provider http.Handler
	// Inbox answers /inbox and below on the private listener; nil: nobody does.
	Inbox http.Handler
	// Background runs as long as the server does. The first error ends the server.
	Background []func(ctx context.Context) error
	// Gauges are shown by /metrics beside those of the server.
	Gauges []Gauge
	// Checks are run by /readyz, in order.
	Checks []Check
	// Reloader is nil when nothing can be reloaded.
	Reloader Reloader
	// Log receives every line; nil drops them.
	Log *slog.Logger
	// RateLimit is the number of dynamic requests a minute and address, and likewise a minute and credential on /mcp and /discovery/query; 0 = off. LimitLoopback applies it to loopback clients too.
	RateLimit     int
	LimitLoopback bool
	// PrivateHosts are the host names, without a port, under which the private listener is reached besides localhost and its addresses.
	PrivateHosts []string
	// TrustedProxies may name the client address in X-Forwarded-For.
	TrustedProxies []netip.Prefix
	// PollInterval is how often the Reloader is looked at; 0 = 2 s.
	PollInterval time.Duration
}

// Server is a pair of listeners and what runs behind them.
type Server struct {
	options Options
	metrics *metrics
	limits  *limits // nil when nothing is limited
	watcher *watcher
	public  *http.Server
	private *http.Server

	business http.Handler // nil without a registry
	schemas  http.Handler // of GIDP; nil without agents and provider
	patience time.Duration
}

// New assembles a server. It does not serve yet.
func New(o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.PollInterval == 0 {
		o.PollInterval = 2 * time.Second
	}
	s := &Server{options: o, metrics: newMetrics(), patience: bodyPatience}
	if o.RateLimit > 0 {
		s.limits = newLimits(o.RateLimit)
	}
	if o.Reloader != nil {
		s.watcher = &watcher{reloader: o.Reloader, log: o.Log, metrics: s.metrics, interval: o.PollInterval, now: make(chan struct{}, 1)}
	}
	if o.Registry != nil {
		s.business = s.businessSurface()
		s.metrics.registry.MustRegister(registryGauges{o.Registry})
	}
	if o.Agents != nil || o.Provider != nil {
		s.schemas = schemaHandler(o.Agents != nil, o.Provider != nil)
	}
	s.addGauges()
	errorLog := slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug)
	s.public = &http.Server{
		Handler: s.front(), ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader, ErrorLog: errorLog,
	}
	s.private = &http.Server{
		Handler: s.care(), ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader, ErrorLog: errorLog,
	}
	return s
}

// Reload asks for a reload now, as SIGHUP does. It returns at once.
func (s *Server) Reload() {
	if s.watcher != nil {
		s.watcher.kick()
	}
}

// Run serves until ctx ends, then stops accepting, finishes what is in flight and returns nil; what has not finished after four seconds is cut. A listener
// that fails ends both and is the error.
func (s *Server) Run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var serving sync.WaitGroup
	for name, l := range map[string]struct {
		server   *http.Server
		listener net.Listener
	}{"public": {s.public, s.options.PublicListener}, "private": {s.private, s.options.PrivateListener}} {
		serving.Go(func() {
			if err := l.server.Serve(l.listener); !errors.Is(err, http.ErrServerClosed) {
				stop(fmt.Errorf("the %s listener failed: %w", name, err))
			}
		})
	}
	if s.watcher != nil {
		serving.Go(func() { s.watcher.run(ctx) })
	}
	if s.options.Registry != nil {
		serving.Go(func() {
			if err := s.options.Registry.Run(ctx); err != nil {
				stop(fmt.Errorf("the registry's background work failed: %w", err))
			}
		})
	}
	for _, work := range s.options.Background {
		serving.Go(func() {
			if err := work(ctx); err != nil && ctx.Err() == nil {
				stop(err)
			}
		})
	}
	<-ctx.Done()
	s.drain()
	serving.Wait()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// drain stops both listeners at the same time under one deadline.
func (s *Server) drain() {
	deadline, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	var draining sync.WaitGroup
	for _, server := range []*http.Server{s.public, s.private} {
		draining.Go(func() {
			if server.Shutdown(deadline) != nil {
				s.options.Log.Warn("requests were cut off after the drain time", "seconds", drainTimeout.Seconds())
				server.Close()
			}
		})
	}
	draining.Wait()
}
