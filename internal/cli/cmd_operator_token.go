package cli

import (
	"github.com/spf13/cobra"

	"sayso/internal/app"
)

func init() {
	register("operator", newOperatorToken)
	register("operator", newOperatorList)
	register("operator", newOperatorRevoke)
}

func newOperatorToken(e *env) *cobra.Command {
	var who acting
	c := &cobra.Command{
		Use:   "token NAME",
		Short: "Make a token for an operator",
		Long: "Token makes a bearer token of the admin API for one operator. It is shown this once and kept as a hash. An operator may do everything but what only a business itself can: publish, " +
			"pause and prove need the business's own token, or this machine's command line. One who was given its token by another cannot confirm that one's decisions; on this command line the " +
			"owner of the machine gives it, and the two are two.",
		Example: "  sayso operator token second",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error {
				token, err := r.CreateOperatorToken(e.ctx, as, args[0], "")
				if err != nil {
					return err
				}
				return e.answerToken(token)
			})
		},
	}
	who.add(c.Flags())
	return c
}

func newOperatorList(e *env) *cobra.Command {
	var who acting
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the operators' tokens",
		Long:    "List prints the tokens of operators without their secrets, revoked ones too.",
		Example: "  sayso operator list",
		RunE: func(*cobra.Command, []string) error {
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error {
				list, err := r.OperatorTokens(e.ctx, as)
				if err != nil {
					return err
				}
				return e.answerTokens(list)
			})
		},
	}
	who.add(c.Flags())
	return c
}

func newOperatorRevoke(e *env) *cobra.Command {
	var who acting
	c := &cobra.Command{
		Use:     "revoke ID",
		Short:   "End a token of an operator",
		Long:    "Revoke ends a token and all that were made with it, at once. ID is what sayso operator list prints. What the operator did stays. Exit 3 when there is no such token.",
		Example: "  sayso operator revoke t-0123456789abcdef",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error {
				receipt, err := r.RevokeOperatorToken(e.ctx, as, args[0], "")
				return e.doneNext(receipt, err, "", "revoked %s", args[0])
			})
		},
	}
	who.add(c.Flags())
	return c
}
