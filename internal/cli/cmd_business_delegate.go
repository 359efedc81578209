package cli

import (
	"github.com/spf13/cobra"

	"sayso/internal/app"
)

func init() {
	register("business", newBusinessDelegate)
	register("business", newBusinessQuota)
}

func newBusinessDelegate(e *env) *cobra.Command {
	var who acting
	var end bool
	c := &cobra.Command{
		Use:   "delegate SLUG --token-file FILE",
		Short: "Let operators edit for a business, or end that",
		Long: "Delegate records that a business lets the registry's operators edit for it, and with --end that it does so no more. Only the business itself can say so, with a token of scope import; " +
			"an operator who tries is refused with exit 4.",
		Example: "  sayso business delegate brightwater-opticians --token-file owner.token\n  sayso business delegate brightwater-opticians --token-file owner.token --end",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			said := "%s lets operators edit"
			if end {
				said = "%s lets operators edit no more"
			}
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error {
				receipt, err := r.Delegate(e.ctx, as, args[0], !end, "")
				return e.doneNext(receipt, err, "", said, args[0])
			})
		},
	}
	c.Flags().BoolVar(&end, "end", false, "operators may edit no more")
	who.add(c.Flags())
	return c
}

func newBusinessQuota(e *env) *cobra.Command {
	var who acting
	var records, tokens int
	c := &cobra.Command{
		Use:   "quota SLUG [--records N] [--tokens N]",
		Short: "Bound what a business may hold",
		Long: "Quota bounds how many records and live tokens a business may have from now on; what it holds already stays. A bound that is not given stays as it is; 0 is the default, " +
			"200000 records and 50 tokens.",
		Example: "  sayso business quota brightwater-opticians --records 5000\n  sayso business quota brightwater-opticians --records 0 --tokens 0",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			given := cmd.Flags().Changed
			if !given("records") && !given("tokens") {
				return usageError("give --records, --tokens or both").withHint("sayso business show %s prints what holds now", args[0])
			}
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error {
				details, err := r.Publisher(e.ctx, as, args[0])
				if err != nil {
					return err
				}
				quota := details.Quota
				if given("records") {
					quota.Records = records
				}
				if given("tokens") {
					quota.Tokens = tokens
				}
				receipt, err := r.SetQuota(e.ctx, as, args[0], quota, "")
				return e.doneNext(receipt, err, e.command("business show %s", args[0]), "changed the quota of %s", args[0])
			})
		},
	}
	flags := c.Flags()
	flags.IntVar(&records, "records", 0, "most records; 0 for the default")
	flags.IntVar(&tokens, "tokens", 0, "most live tokens; 0 for the default")
	who.add(flags)
	return c
}
