package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"sayso/internal/server"
	"sayso/jcs"
)

func init() { register("", newHealth) }

func newHealth(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "health",
		Short: "Ask the running server whether it is ready",
		Long: "Health needs no flag: it finds the server through the data folder, else at the configured private address, and prints what /readyz says. " +
			"Exit 0 when it is ready, 1 when it is not, 5 when there is no answer within three seconds. It serves as the health check of a container.",
		Example: "  sayso health\n  sayso health --json",
		RunE: func(*cobra.Command, []string) error {
			ready, err := fetchReadiness(e.ctx, e.findInstance())
			if err != nil {
				return err
			}
			if err := e.answer(ready, func(w io.Writer) error { return writeReadiness(w, ready) }); err != nil {
				return err
			}
			if !ready.Ready {
				return answered(exitFailed)
			}
			return nil
		},
	}
}

// fetchReadiness asks the private listener of one address, which the user's own settings name: this is no foreign URL.
func fetchReadiness(ctx context.Context, address string) (*server.Readiness, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, usageError("the private address %q is not HOST:PORT", address)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1" // listening everywhere includes here
	}
	address = net.JoinHostPort(host, port)
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz", nil)
	if err != nil {
		return nil, err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return nil, unavailableError("no server answers at %s", address).withHint("start one with sayso serve, or name its private address in SAYSO_ADMIN")
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	var ready server.Readiness
	if err != nil || jcs.Decode(body, &ready) != nil || ready.Checks == nil {
		return nil, unavailableError("what answers at %s is not a sayso server", address)
	}
	return &ready, nil
}

func writeReadiness(w io.Writer, ready *server.Readiness) error {
	word := "ready"
	if !ready.Ready {
		word = "not ready"
	}
	if _, err := fmt.Fprintln(w, word); err != nil {
		return err
	}
	for _, c := range ready.Checks {
		if _, err := fmt.Fprintf(w, "%-8s %s: %s\n", c.Level, c.ID, printable(c.Message)); err != nil {
			return err
		}
	}
	return nil
}
