package cli

import (
	"context"

	"github.com/spf13/cobra"

	"sayso/internal/app"
)

func init() {
	for _, s := range transitions {
		register("business", func(e *env) *cobra.Command { return newBusinessState(e, s) })
	}
}

// transition is an act that changes what is served of a business and takes nothing but a reason.
type transition struct {
	verb, past  string
	short, long string
	needsReason bool
	next        string // the verb to go on with, "" for none
	note        string // behind it
	run         func(*app.Registry, context.Context, app.Actor, string, app.ActInput) (*app.Receipt, error)
}

var transitions = []transition{
	{"publish", "published", "Make a business public",
		"Publish makes the content of a business public: pages, export, discovery. It needs current authority, a proven host or an operator verification that a second operator confirmed, " +
			"and makes the first signing key. Exit 4 with authority_missing when there is none; nothing is changed then.", false, "show", "", (*app.Registry).Publish},
	{"pause", "paused", "Close every channel of a business",
		"Pause closes pages, export and discovery at once. Manifest, keys and revocation list stay, so that what was signed can still be verified. Exit 4 when it is not published.",
		false, "resume", " opens them again", (*app.Registry).Pause},
	{"resume", "resumed", "Publish a paused business again",
		"Resume publishes a paused business again, under the conditions of publish. Exit 4 when it is not paused or its authority has lapsed.", false, "", "", (*app.Registry).Resume},
	{"suspend", "suspended", "Close every channel by decision of an operator",
		"Suspend closes pages, export and discovery whatever the state, and the business cannot open them itself. The reason is for operators and is never published. Exit 1 without a reason, 4 when it is " +
			"suspended already.", true, "unsuspend", " takes it back", (*app.Registry).Suspend},
	{"unsuspend", "unsuspended", "Take a suspension back",
		"Unsuspend takes a suspension back; the business is then in the state it was in. Exit 4 when it is not suspended.", false, "", "", (*app.Registry).Unsuspend},
}

func newBusinessState(e *env, s transition) *cobra.Command {
	var who acting
	var in app.ActInput
	use, example := s.verb+" SLUG", "  sayso business "+s.verb+" brightwater-opticians"
	if s.needsReason {
		use, example = use+" --reason REASON", example+" --reason \"complaint 2026-31\""
	}
	c := &cobra.Command{
		Use: use, Short: s.short, Long: s.long, Example: example,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if s.needsReason && in.Reason == "" {
				return usageError("--reason is missing: why, for the operators").withRun(cmd.CommandPath() + " --help")
			}
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error {
				receipt, err := s.run(r, e.ctx, as, args[0], in)
				next := ""
				if s.next != "" {
					next = e.command("business %s %s", s.next, args[0]) + s.note
				}
				return e.doneNext(receipt, err, next, "%s %s", s.past, args[0])
			})
		},
	}
	c.Flags().StringVar(&in.Reason, "reason", "", "for the audit trail, never published")
	who.add(c.Flags())
	return c
}
