package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"sayso/internal/app"
)

func init() {
	register("business", newBusinessToken)
	register("business", newBusinessTokens)
}

func newBusinessToken(e *env) *cobra.Command {
	var who acting
	var name string
	var scopes []string
	c := &cobra.Command{
		Use:   "token SLUG --scope " + strings.Join(app.Scopes, "|"),
		Short: "Make a token for a business",
		Long: "Token makes a bearer token with which a business acts for itself, over the admin API or here with --token-file, and opens the preview of what it has not published. It is shown this " +
			"once and kept as a hash.\n\n" +
			"Scopes: import edits profile, schema and records; publish proves hosts, publishes and pauses; keys rotates and revokes keys; live sends readings. The holder of a token may make others with at " +
			"most its own scopes, and revoking a token revokes those. Exit 4 when the quota of tokens is used up.",
		Example: "  sayso business token brightwater-opticians --scope import,publish --name \"till 2\"\n  sayso business token revoke brightwater-opticians t-0123456789abcdef",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(scopes) == 0 {
				return usageError("--scope is missing: one or more of %s", strings.Join(app.Scopes, ", ")).withRun(cmd.CommandPath() + " --help")
			}
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error {
				token, err := r.CreateToken(e.ctx, as, args[0], name, scopes, "")
				if err != nil {
					return err
				}
				return e.answerToken(token)
			})
		},
	}
	flags := c.Flags()
	flags.StringSliceVar(&scopes, "scope", nil, "what it may do; may be repeated, or a list with commas")
	flags.StringVar(&name, "name", "", "what it is for, as lists show it")
	who.add(flags)
	addChildren(c, newBusinessTokenRevoke(e))
	return c
}

// answerToken prints a secret alone on standard output, so that it can go into a file.
func (e *env) answerToken(token *app.NewToken) error {
	if err := e.answer(token, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, token.Token)
		return err
	}); err != nil {
		return err
	}
	e.note("the token is shown this once; lists and the audit trail call it %s", token.ID)
	return nil
}

func newBusinessTokenRevoke(e *env) *cobra.Command {
	var who acting
	c := &cobra.Command{
		Use:     "revoke SLUG ID",
		Short:   "End a token of a business",
		Long:    "Revoke ends a token and all that were made with it, at once. ID is what sayso business tokens lists, never the token itself. Exit 3 when there is no such token.",
		Example: "  sayso business token revoke brightwater-opticians t-0123456789abcdef",
		Args:    cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error {
				receipt, err := r.RevokeToken(e.ctx, as, args[0], args[1], "")
				return e.doneNext(receipt, err, "", "revoked %s of %s", args[1], args[0])
			})
		},
	}
	who.add(c.Flags())
	return c
}

func newBusinessTokens(e *env) *cobra.Command {
	var who acting
	c := &cobra.Command{
		Use:     "tokens SLUG",
		Short:   "List the tokens of a business",
		Long:    "Tokens lists the tokens of a business without their secrets, revoked ones too. The holder of a token sees its own and those made with it.",
		Example: "  sayso business tokens brightwater-opticians",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error {
				list, err := r.Tokens(e.ctx, as, args[0])
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

func (e *env) answerTokens(list []app.TokenView) error {
	return e.answer(struct {
		Tokens []app.TokenView `json:"tokens"`
	}{noNull(list)}, func(w io.Writer) error {
		p := &printer{w: w}
		if len(list) == 0 {
			p.line("no token")
		}
		var t table
		for _, v := range list {
			state := "since " + stamp(v.CreatedAt)
			if !v.RevokedAt.IsZero() {
				state = "revoked " + stamp(v.RevokedAt)
			}
			made := ""
			if v.Parent != "" {
				made = "made with " + v.Parent
			}
			t.add(v.ID, state, cmp.Or(strings.Join(v.Scopes, ","), "operator"), v.Name, made)
		}
		p.table(&t, "")
		return p.err
	})
}
