package cli

import (
	"io"

	"github.com/spf13/cobra"

	"sayso/internal/app"
)

func init() {
	register("keys", newKeysRotate)
	register("keys", newKeysRevoke)
}

// rekeyed is the answer of an act on the keys of a business.
type rekeyed struct {
	app.Receipt
	Keys []app.KeyView `json:"keys"` // all, in the order of creation
}

func newKeysRotate(e *env) *cobra.Command {
	var who acting
	var in app.ActInput
	c := &cobra.Command{
		Use:   "rotate SLUG",
		Short: "Give a business a new signing key",
		Long: "Rotate makes a new key for a business, attested by the registry key, and retires the one in use: it signs no more and stays listed, so that what it signed still verifies. " +
			"For a key that somebody else may have, revoke it instead.",
		Example: "  sayso keys rotate brightwater-opticians",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error {
				receipt, err := r.RotateKey(e.ctx, as, args[0], in)
				if err != nil {
					return err
				}
				return e.answerKeys(r, as, args[0], receipt, "rotated the key of "+args[0])
			})
		},
	}
	c.Flags().StringVar(&in.Reason, "reason", "", "for the audit trail, never published")
	who.add(c.Flags())
	return c
}

func newKeysRevoke(e *env) *cobra.Command {
	var who acting
	var v revoking
	var yes bool
	c := &cobra.Command{
		Use:   "revoke SLUG [KID] --reason REASON --yes",
		Short: "Withdraw a signing key of a business",
		Long: "Revoke puts a key on the signed list of a business: readers refuse what it signed, all of it or with --from and --until what it signed in that time. Without KID it is the key in use, " +
			"and its successor is made and attested in the same commit. A revocation is never undone, so --yes has to be given. Exit 3 when the business has no such key.",
		Example: "  sayso keys revoke brightwater-opticians --reason key_compromise --from 2026-10-02T00:00:00Z --yes\n" +
			"  sayso keys revoke brightwater-opticians brightwater-opticians-0123abcd --reason superseded --yes",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			slug, kid := args[0], ""
			if len(args) > 1 {
				kid = args[1]
			}
			in, err := v.input()
			if err != nil {
				return err
			}
			if err := sure(yes, "revokes a key of %s", slug); err != nil {
				return err
			}
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error {
				receipt, err := r.RevokeKey(e.ctx, as, slug, kid, in)
				if err != nil {
					return err
				}
				return e.answerKeys(r, as, slug, receipt, "revoked a key of "+slug)
			})
		},
	}
	v.add(c.Flags())
	c.Flags().BoolVar(&yes, "yes", false, "do what cannot be undone")
	who.add(c.Flags())
	return c
}

// answerKeys prints the keys as they are after an act.
func (e *env) answerKeys(r *app.Registry, as app.Actor, slug string, receipt *app.Receipt, said string) error {
	keys, err := r.Keys(e.ctx, as, slug)
	if err != nil {
		return err
	}
	return e.answer(rekeyed{*receipt, keys}, func(w io.Writer) error {
		p := &printer{w: w, err: writeDone(w, receipt, "%s", said)}
		var t table
		for _, k := range keys {
			t.add(k.Kid, businessKeyState(k), "attested by "+k.AttestedBy)
		}
		p.table(&t, "")
		return p.err
	})
}
