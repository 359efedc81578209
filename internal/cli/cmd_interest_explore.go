package cli

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"sayso/internal/agent"
)

func init() { register("interest", newInterestExplore) }

const (
	exploreLimit = 15 * time.Second
	exploreTries = 5 * time.Second // at a provider that does not answer
	explorePoll  = 100 * time.Millisecond
)

func newInterestExplore(e *env) *cobra.Command {
	c := &cobra.Command{
		Use:   "explore ID --provider URL",
		Short: "Look for counterparties at a provider",
		Long: "Explore asks a provider for projections that fit an active interest, and opens a session to at most ten of them, in the order in which they came. Your agent asks each of them once about every key " +
			"that the profile and your policy let it ask, by coarse classes, and once more where the answer was unknown. The provider learns what a projection of yours would show, under a key that is used for " +
			"nothing else.\n\n" +
			"It returns when each session is qualified, closed or waiting for a person, at the latest after 15 seconds, and prints them. What is not over then goes on while a server runs. A qualified " +
			"session is a lead: sayso interest opportunities.\n\n" +
			"Exit 4 when the interest is not active or its authority does not permit it, 5 when the provider could not be asked.",
		Example: "  sayso interest explore i-6d0f8a1c33b94e20a7f1 --provider https://provider.example",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.working(func(i *interests) error {
				provider, err := e.searchedAt(i, "explore")
				if err != nil {
					return err
				}
				found, err := e.explore(i, args[0], provider)
				if err != nil {
					return err
				}
				return e.answerExploration(i, &found)
			})
		},
	}
	c.Flags().String("provider", "", "provider of discovery to ask: its origin")
	multiPartyFlag(c)
	return c
}

// searchedAt is the provider that a command asks; a search without one is a mistake.
func (e *env) searchedAt(i *interests, command string) (string, error) {
	provider, err := e.providerFor(i)
	if err == nil && provider == "" {
		err = usageError("--provider is missing: who is asked").withHint("name the origin of a provider, or set provider once and for all").withRun("sayso interest " + command + " --help")
	}
	return provider, err
}

// explore begins a search and follows it until it is over, or the time for that is.
func (e *env) explore(i *interests, id, provider string) (agent.ExplorationView, error) {
	v, err := i.Explore(e.ctx, id, provider)
	if err != nil {
		return v, err
	}
	return e.follow(i, v)
}

// follow waits for the end of a search, as long as a command does.
func (e *env) follow(i *interests, v agent.ExplorationView) (agent.ExplorationView, error) {
	defer e.patience("asking " + v.Provider + " and whom it finds")()
	ctx, cancel := context.WithTimeout(e.ctx, exploreLimit)
	defer cancel()
	tick := time.NewTicker(explorePoll)
	defer tick.Stop()
	for begin := time.Now(); v.State == "searching" && (v.Problem == "" || time.Since(begin) < exploreTries) || v.State == "probing"; {
		select {
		case <-ctx.Done():
			return v, e.ctx.Err()
		case <-tick.C:
		}
		now, err := i.Exploration(ctx, v.ID)
		if ctx.Err() != nil {
			return v, e.ctx.Err()
		}
		if err != nil {
			return v, err
		}
		v = now
	}
	return v, nil
}

func (e *env) answerExploration(i *interests, v *agent.ExplorationView) error {
	if err := e.answer(v, func(w io.Writer) error { return writeExploration(w, v, time.Now()) }); err != nil {
		return err
	}
	switch {
	case v.State == "done", v.State == "failed":
	case i.beside == nil:
		e.leftOver()
	default:
		e.note("the server goes on; ask again with %s", e.command("interest sessions %s", v.Interest))
	}
	if v.State == "failed" || v.State == "searching" && v.Problem != "" {
		e.nextAt(v.Provider, v.Problem)
		return answered(exitUnavailable)
	}
	return nil
}

func writeExploration(w io.Writer, v *agent.ExplorationView, now time.Time) error {
	p := &printer{w: w}
	switch {
	case v.State == "failed", v.Problem != "":
		p.line("%s could not be asked: %s", v.Provider, providerProblem(v.Problem))
	case v.State == "searching":
		p.line("%s has not answered yet", v.Provider)
	case len(v.Sessions) == 0:
		p.line("%s knows nobody who fits", v.Provider)
	default:
		p.line("%s at %s", plural(len(v.Sessions), "session"), v.Provider)
	}
	p.table(sessionTable(v.Sessions, false, now), "  ")
	return p.err
}
