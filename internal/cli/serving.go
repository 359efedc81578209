package cli

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"sayso/internal/server"
)

// site is where a server listens, and what its absolute URLs begin with.
type site struct {
	origin          string
	public, private net.Listener
}

func (s *site) close() {
	s.public.Close()
	s.private.Close()
}

// siteFlags are the settings of every command that serves; origin says what its URLs are.
func siteFlags(c *cobra.Command, origin string) {
	flags := c.Flags()
	flags.String("listen", "", "public address, HOST:PORT (default 127.0.0.1:8470)")
	flags.String("admin", "", "private address, HOST:PORT (default 127.0.0.1:8471)")
	flags.String("origin", "", origin+"; needed when the public address is not loopback")
	flags.StringSlice("trusted-proxy", nil, "network whose X-Forwarded-For names the client, CIDR; may be repeated")
}

// openSite binds both addresses before anything is read, so that a taken port is known at once.
func (e *env) openSite() (*site, error) {
	public, err := net.Listen("tcp", e.config.Listen)
	if err != nil {
		return nil, unavailableError("cannot listen on %s: %v", e.config.Listen, bindCause(err)).withHint("choose another address with --listen")
	}
	private, err := net.Listen("tcp", e.config.Admin)
	if err != nil {
		public.Close()
		return nil, unavailableError("cannot listen on %s: %v", e.config.Admin, bindCause(err)).withHint("choose another private address with --admin")
	}
	s := &site{public: public, private: private}
	if s.origin, err = e.config.PublicOrigin(public.Addr()); err != nil {
		s.close()
		return nil, usageError("%v", err)
	}
	return s, nil
}

func bindCause(err error) error {
	if inner := errors.Unwrap(errors.Unwrap(err)); inner != nil {
		return inner
	}
	return err
}

// announce leaves the instance file of a server in a data folder; as says what it serves besides where.
func (s *site) announce(folder string, as instance) (withdraw func(), err error) {
	as.Listen, as.Admin, as.Origin, as.PID = s.public.Addr().String(), s.private.Addr().String(), s.origin, os.Getpid()
	return announce(folder, as)
}

// serverOptions are the listeners and limits of a server under the settings. It serves nothing yet.
func (e *env) serverOptions(s *site) server.Options {
	return server.Options{
		PublicListener: s.public, PrivateListener: s.private, PrivateHosts: e.config.AdminHosts(), Log: e.logger(),
		RateLimit: e.config.RateLimit, LimitLoopback: e.config.Set("rate_limit"), TrustedProxies: e.config.TrustedProxies(),
	}
}

// runServer runs a server until a signal ends the command; SIGHUP reloads it.
func (e *env) runServer(s *server.Server) error {
	ctx, end := context.WithCancel(e.ctx)
	defer end()
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
