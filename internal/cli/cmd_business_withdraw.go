package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sayso/business"
	"sayso/internal/app"
)

func init() { register("business", newBusinessWithdraw) }

func newBusinessWithdraw(e *env) *cobra.Command {
	var who acting
	var reason string
	var yes bool
	c := &cobra.Command{
		Use:   "withdraw SLUG --reason REASON --yes",
		Short: "End a business for good",
		Long: "Withdraw ends a business: nothing of it is served any more, everything it ever signed is revoked on its own list and on the registry's, and its name is never used again. Keys and " +
			"lists stay, so that readers learn of it. There is no way back, so --yes has to be given.\n\n" +
			"REASON is kept for operators. When it is one of " + strings.Join(business.Reasons, ", ") + " the lists say it too, otherwise they say withdrawn. " +
			"With a token of the business it is a request: the business is paused, and an operator completes it with the same command. Exit 4 when it is withdrawn already.",
		Example: "  sayso business withdraw brightwater-opticians --reason \"closed for good\" --yes\n  sayso business withdraw brightwater-opticians --reason request --yes --token-file owner.token",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := sure(yes, "withdraws %s for good", args[0]); err != nil {
				return err
			}
			code := ""
			if slices.Contains(business.Reasons, reason) {
				code = reason
			}
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error {
				receipt, err := r.Withdraw(e.ctx, as, args[0], code, app.ActInput{Reason: reason})
				if err == nil && receipt.Withdrawal == "requested" {
					return e.doneNext(receipt, nil, "an operator completes it with "+e.command("business withdraw %s --yes", args[0]), "asked for the withdrawal of %s; it is paused", args[0])
				}
				return e.doneNext(receipt, err, "", "withdrew %s", args[0])
			})
		},
	}
	flags := c.Flags()
	flags.StringVar(&reason, "reason", "", "why; needed unless the business has asked for it")
	flags.BoolVar(&yes, "yes", false, "do what cannot be undone")
	who.add(flags)
	return c
}

// sure refuses what cannot be undone until it is said twice.
func sure(yes bool, format string, args ...any) error {
	if yes {
		return nil
	}
	return usageError("this "+format+" and cannot be undone", args...).withHint("give --yes when you mean it")
}
