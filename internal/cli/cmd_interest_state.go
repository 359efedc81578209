package cli

import (
	"context"

	"github.com/spf13/cobra"

	"sayso/internal/agent"
)

func init() {
	for _, c := range interestChanges {
		register("interest", func(e *env) *cobra.Command { return newInterestChange(e, c) })
	}
}

// interestChange is an act on the state of an interest that takes nothing but its id.
type interestChange struct {
	verb, past  string
	short, long string
	leaves      bool // projections are withdrawn and sessions closed
	run         func(*agent.Agent, context.Context, string) (agent.InterestView, error)
}

var interestChanges = []interestChange{
	{"confirm", "confirmed", "Confirm an interest that was inferred",
		"Confirm says that an interest with origin: inferred is yours. Without it such an interest is never used. One that you stated yourself needs none. Exit 4 when it is no draft any more.",
		false, (*agent.Agent).Confirm},
	{"suspend", "suspended", "Take an interest back for a while",
		"Suspend withdraws every projection of an interest and closes its sessions, without a reason to anybody. Decisions that wait are settled. resume takes it up again. Exit 4 when it is not active.",
		true, (*agent.Agent).Suspend},
	{"resume", "resumed", "Take a suspended interest up again",
		"Resume makes a suspended interest active, with new projections where it had some: under other ids and endpoints, so that nobody can tell that they are of the same interest. " +
			"Exit 4 when it is not suspended.", true, (*agent.Agent).Resume},
	{"revoke", "revoked", "End an interest for good",
		"Revoke withdraws every projection of an interest, closes its sessions and ends it for good. What was told stays told. Exit 4 when it has ended already.",
		true, (*agent.Agent).Revoke},
}

func newInterestChange(e *env, c interestChange) *cobra.Command {
	return &cobra.Command{
		Use: c.verb + " ID", Short: c.short, Long: c.long, Example: "  sayso interest " + c.verb + " i-6d0f8a1c33b94e20a7f1",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			act := func(i *interests) error {
				v, err := c.run(i.Agent, e.ctx, args[0])
				if err != nil {
					return err
				}
				reached := true
				if c.leaves {
					if reached, err = e.settle(i, "telling providers and counterparties", e.withdrawn(args[0])); err != nil {
						return err
					}
				}
				if err := e.answerInterest(v, e.nextFor(&v), "%s %s", c.past, v.ID); err != nil {
					return err
				}
				switch {
				case !reached:
					e.leftOver()
				case c.verb == "resume":
					e.note("it has new endpoints: %s", e.command("interest show %s", v.ID))
				}
				return nil
			}
			if c.leaves {
				return e.working(act)
			}
			return e.withInterests(act)
		},
	}
}
