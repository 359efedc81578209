package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sayso/gidp/interest"
	"sayso/internal/agent"
	"sayso/internal/agent/durable"
	"sayso/safefetch"
)

func init() { register("interest", newInterestActivate) }

func newInterestActivate(e *env) *cobra.Command {
	c := &cobra.Command{
		Use:   "activate ID [--provider URL]",
		Short: "Make an interest active, and give it a projection",
		Long: "Activate makes an interest active and prepares a projection of it: an endpoint that belongs to it alone, and what your policy lets appear. It prints the endpoint, which you may give to somebody.\n\n" +
			"With --provider, or the setting provider, the projection is published there. The command returns when the provider has acknowledged it, at the latest after ten seconds; then it says pending, " +
			"and a running server goes on. An active interest may be activated at further providers; each gets a projection of its own.\n\n" +
			"Counterparties reach the endpoint while sayso interest serve runs. Exit 4 when the interest is suspended, ended or not confirmed, or the provider refuses the projection.",
		Example: "  sayso interest activate i-6d0f8a1c33b94e20a7f1\n  sayso interest activate i-6d0f8a1c33b94e20a7f1 --provider https://provider.example",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := reachable(e.servedOrigin(interestsFile)); err != nil {
				return err
			}
			return e.working(func(i *interests) error {
				provider, err := e.providerFor(i)
				if err != nil {
					return err
				}
				end := func() {}
				if provider != "" {
					end = e.patience("waiting for " + provider)
				}
				made, err := i.Activate(e.ctx, args[0], provider)
				end()
				if err != nil {
					return err
				}
				if err := e.answer(made, func(w io.Writer) error { return writeActivation(w, &made) }); err != nil {
					return err
				}
				for _, warning := range made.Warnings {
					e.note("warning: %s", warning)
				}
				if n := slices.IndexFunc(made.Projections, refusedProjection); n >= 0 {
					e.nextAt(made.Projections[n].Provider, made.Projections[n].Problem)
					return answered(exitRefused)
				}
				if i.beside == nil {
					e.note("next: %s", e.command("interest serve"))
				}
				return nil
			})
		},
	}
	c.Flags().String("provider", "", "provider of discovery to publish at: its origin")
	return c
}

// providerFor is the provider that the user named, in the command, in the settings or for the server that runs; "" when none is named.
func (e *env) providerFor(i *interests) (string, error) {
	provider := e.config.Provider
	if provider == "" && i.beside != nil {
		provider = i.beside.Provider
	}
	if strings.HasPrefix(provider, "http://") && safefetch.LoopbackOf(provider) == "" {
		return "", usageError("the provider %s is not reached with TLS", provider).withHint("name its https origin; http is for a provider on this machine")
	}
	return provider, nil
}

func writeActivation(w io.Writer, made *agent.Activation) error {
	p := &printer{w: w}
	p.line("%s is %s", made.Interest.ID, stateWord(made.Interest.State))
	var t table
	for _, v := range made.Projections {
		if refusedProjection(v) {
			p.line("%s does not take its projection: %s", v.Provider, providerProblem(v.Problem))
		}
		if v.State != string(durable.Withdrawn) && v.State != string(durable.Withdrawing) {
			t.add(v.Endpoint, projectionText(&v))
		}
	}
	p.table(&t, "")
	return p.err
}

// refusedProjection reports whether the provider has refused a projection. Activate lists no other withdrawn one.
func refusedProjection(v agent.ProjectionView) bool {
	return v.State == string(durable.Withdrawn) && v.Problem != ""
}

// projectionText says where a projection is published.
func projectionText(v *agent.ProjectionView) string {
	text := map[string]string{
		string(durable.Prepared): "at no provider", string(durable.Publishing): "pending at " + v.Provider, string(durable.Published): "published at " + v.Provider,
		string(durable.Withdrawing): "being withdrawn from " + v.Provider, string(durable.Withdrawn): "withdrawn",
	}[v.State]
	if v.Problem != "" {
		text += " (" + v.Problem + ")"
	}
	return text + ", until " + stamp(v.Expires)
}

// stateWord is the state of an interest for people.
func stateWord(state string) string {
	word := map[string]string{
		string(interest.Draft): "draft", string(interest.Active): "active", string(interest.Suspended): "suspended",
		string(interest.Expired): "expired", string(interest.Revoked): "revoked", string(interest.Superseded): "superseded",
	}[state]
	if word == "" {
		return state
	}
	return word
}
