package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sayso/gidp/provider"
	"sayso/gidp/providerhttp"
	"sayso/safefetch"
)

func init() { register("provider", newProviderInfo) }

func newProviderInfo(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "info ORIGIN",
		Short: "Show what a provider promises",
		Long: "Info reads the information document of a provider: how long a withdrawal takes, which hierarchies it resolves, how much it serves one key, and how long it keeps its log. It says nothing of what it holds.\n\n" +
			"Exit 1 when what answers is no provider, 5 when nothing does.",
		Example: "  sayso provider info https://provider.example\n  sayso provider info http://127.0.0.1:8470 --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			origin, err := typedOrigin(strings.TrimSuffix(strings.TrimSuffix(args[0], "/"), strings.TrimSuffix(providerhttp.Base, "/")))
			if err != nil {
				return err
			}
			client := providerhttp.NewClient(providerhttp.ClientOptions{Fetch: newFetch(origin), Now: time.Now, Random: rand.Reader})
			info, err := client.Info(e.ctx, origin)
			if err != nil {
				return providerFailure(origin, err)
			}
			return e.answer(info, func(w io.Writer) error { return writeProviderInfo(w, info) })
		},
	}
}

// providerFailure says why a provider gave no answer.
func providerFailure(origin string, err error) error {
	var refused *providerhttp.Refusal
	var fetch *safefetch.FetchError
	switch {
	case errors.As(err, &refused) && refused.Code == provider.CodeInternal && !refused.Temporary(), errors.Is(err, providerhttp.ErrAnswer):
		return failedError("what answers at %s is no provider", origin)
	case errors.As(err, &refused) && !refused.Temporary():
		return refusedError("%s: %v", origin, refused)
	case errors.As(err, &refused), errors.As(err, &fetch):
		return unavailableError("%s: %v", origin, err)
	case errors.Is(err, safefetch.ErrRefused):
		return usageError("%s may not be asked: %v", origin, err)
	}
	return err
}

func writeProviderInfo(w io.Writer, info providerhttp.Info) error {
	p := &printer{w: w}
	var t table
	t.add("protocol", info.Protocol)
	t.add("origin", info.Origin)
	t.add("withdrawal", fmt.Sprintf("effective within %d seconds", info.WithdrawLatency))
	for _, dim := range slices.Sorted(slices.Values(info.Dimensions)) {
		text := dim
		if tree := info.Hierarchies[dim]; tree != "" {
			text += ", in the hierarchy " + tree
		}
		t.add("finds by", text)
	}
	for _, tier := range slices.Sorted(maps.Keys(info.Quotas.PerKey)) {
		q := info.Quotas.PerKey[tier]
		t.add("quota", fmt.Sprintf("%s, a key in %s: %d changes, %d queries, %d resolved, %d candidates", tier, time.Duration(info.Quotas.Window)*time.Second, q.Write, q.Search, q.Resolving, q.Candidates))
	}
	t.add("lifetime", fmt.Sprintf("at most %d days", info.MaxLife))
	t.add("log", fmt.Sprintf("%s, kept %d days", info.LogRetention.Holds, info.LogRetention.Days))
	open := "all"
	if info.TrustDomain != "" {
		open = "members of " + info.TrustDomain
	}
	t.add("open to", open)
	p.table(&t, "")
	return p.err
}
