package cli

import (
	"github.com/spf13/cobra"

	"sayso/internal/app"
)

func init() { register("business", newBusinessVerify) }

func newBusinessVerify(e *env) *cobra.Command {
	var who acting
	var in app.ActInput
	var decision string
	var confirm, withdraw bool
	c := &cobra.Command{
		Use:   "verify SLUG --decision ID --operator NAME",
		Short: "Record that operators have verified a business",
		Long: "Verify is for a business that has no host to prove. One operator looks at its papers and records the decision under an id of the registry's own files; a second one confirms it " +
			"with --confirm, and from then on its authority is current. The manifest says operator_verification with the id and the time, and no host. --withdraw takes a decision back.\n\n" +
			"On this command line an operator is a name, which the owner of the machine vouches for; over the admin API it is a token. Exit 4 when the same operator confirms.",
		Example: "  sayso business verify brightwater-opticians --decision 2026-17 --operator first\n" +
			"  sayso business verify brightwater-opticians --decision 2026-17 --operator second --confirm\n" +
			"  sayso business verify brightwater-opticians --decision 2026-17 --withdraw --reason \"the lease has ended\"",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case decision == "":
				return usageError("--decision is missing: the id under which the decision is filed").withRun(cmd.CommandPath() + " --help")
			case confirm && withdraw:
				return usageError("--confirm and --withdraw exclude each other")
			}
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error {
				slug := args[0]
				switch {
				case confirm:
					receipt, err := r.ConfirmVerification(e.ctx, as, slug, decision, in)
					return e.doneNext(receipt, err, e.command("business publish %s", slug), "confirmed decision %s on %s", decision, slug)
				case withdraw:
					receipt, err := r.WithdrawVerification(e.ctx, as, slug, decision, in)
					return e.doneNext(receipt, err, "", "withdrew decision %s on %s", decision, slug)
				}
				receipt, err := r.RecordVerification(e.ctx, as, slug, decision, in)
				return e.doneNext(receipt, err, "a second operator runs "+e.command("business verify %s --decision %s --operator NAME --confirm", slug, shellWord(decision)),
					"recorded decision %s on %s", decision, slug)
			})
		},
	}
	flags := c.Flags()
	flags.StringVar(&decision, "decision", "", "id of the decision, as the manifest will name it")
	flags.BoolVar(&confirm, "confirm", false, "confirm what another operator recorded")
	flags.BoolVar(&withdraw, "withdraw", false, "take a decision back")
	flags.StringVar(&in.Reason, "reason", "", "for the audit trail, never published")
	who.add(flags)
	return c
}

// doneNext answers an act that may have been refused, and says how to go on.
func (e *env) doneNext(receipt *app.Receipt, err error, next, format string, args ...any) error {
	if err != nil {
		return err
	}
	if err := e.done(receipt, format, args...); err != nil {
		return err
	}
	if next != "" {
		e.note("next: %s", next)
	}
	return nil
}
