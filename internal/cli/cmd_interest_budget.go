package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"sayso/internal/agent"
)

func init() { register("interest", newInterestBudget) }

func newInterestBudget(e *env) *cobra.Command {
	var bits float64
	var approve, restored bool
	c := &cobra.Command{
		Use:   "budget [ID KEY] [--bits B | --approve | --restored]",
		Short: "Show or change how much may be told of an attribute",
		Long: "Budget shows how many bits may be told of an attribute that has no cells, by all counterparties together and over all versions of the interest, and how many have been told. What has been told is " +
			"never refunded.\n\n" +
			"--bits sets the limit; a higher one is your act, and is kept in the trail. --approve ends the freeze after a restore from a backup, when nobody knows how much was told since: all of it counts as " +
			"told, and the limit grows by the budget that the interest states, or is what --bits says.\n\n" +
			"--restored says that the whole data folder was put back from a copy, which the program cannot see by itself: it freezes every budget. A database that alone is older than its folder is noticed.\n\n" +
			"Exit 3 when the interest has no budget for this key, 4 when it is frozen.",
		Example: "  sayso interest budget i-6d0f8a1c33b94e20a7f1 headcount\n  sayso interest budget i-6d0f8a1c33b94e20a7f1 headcount --bits 3\n  sayso interest budget --restored",
		Args:    cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if restored && len(args) == 0 {
				return e.freezeBudgets()
			}
			if restored || len(args) != 2 {
				return usageError("budget takes ID and KEY, or --restored alone")
			}
			given := cmd.Flags().Changed("bits")
			if given && !(bits >= 0) {
				return usageError("--bits %v is below 0", bits)
			}
			if !given {
				bits = -1
			}
			return e.withInterests(func(i *interests) error {
				v, err := i.Budget(e.ctx, args[0], args[1], bits, approve)
				if err != nil {
					return err
				}
				if err := e.answer(v, func(w io.Writer) error { return writeBudget(w, &v) }); err != nil {
					return err
				}
				if v.Added > 0 {
					e.note("%s more can be told now than before", bitsText(v.Added))
				}
				return nil
			})
		},
	}
	c.Flags().Float64Var(&bits, "bits", 0, "the new limit")
	c.Flags().BoolVar(&approve, "approve", false, "end the freeze after a restore")
	c.Flags().BoolVar(&restored, "restored", false, "freeze every budget, because the data folder was put back from a copy")
	return c
}

// freezeBudgets closes every budget until its owner approves it.
func (e *env) freezeBudgets() error {
	return e.withInterests(func(i *interests) error {
		if err := i.FreezeLedger(e.ctx); err != nil {
			return err
		}
		return e.answer(struct {
			Frozen bool `json:"frozen"`
		}{true}, func(w io.Writer) error {
			_, err := fmt.Fprintln(w, "every budget is frozen: sayso interest budget ID KEY --approve ends it for one")
			return err
		})
	})
}

func writeBudget(w io.Writer, v *agent.BudgetView) error {
	p := &printer{w: w}
	p.line("%s", budgetText(v))
	p.line("  %s", v.Note)
	return p.err
}

func budgetText(v *agent.BudgetView) string {
	if v.Frozen {
		return fmt.Sprintf("%s: frozen since a restore, everything is declined; %s were told or may have been", v.Key, bitsText(v.Spent))
	}
	return fmt.Sprintf("%s: %s told of %s, %s left, over %d values", v.Key, bitsText(v.Spent), bitsText(v.Limit), bitsText(v.Left), v.Values)
}
