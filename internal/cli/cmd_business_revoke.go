package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sayso/business"
	"sayso/internal/app"
)

func init() { register("business", newBusinessRevoke) }

// revoking holds the flags of a revocation.
type revoking struct {
	reason, note, from, until string
}

func (v *revoking) add(flags *pflag.FlagSet) {
	v.addWindow(flags)
	flags.StringVar(&v.note, "note", "", "for the audit trail, never published")
}

// addWindow adds what stands on the list itself.
func (v *revoking) addWindow(flags *pflag.FlagSet) {
	flags.StringVar(&v.reason, "reason", "", "published on the list: "+strings.Join(business.Reasons, ", "))
	flags.StringVar(&v.from, "from", "", "only what was signed at or after this instant, RFC 3339 (default: unbounded)")
	flags.StringVar(&v.until, "until", "", "only what was signed at or before this instant (default: unbounded)")
}

func (v *revoking) input() (in app.RevokeInput, err error) {
	if v.reason == "" {
		return in, usageError("--reason is missing: one of %s", strings.Join(business.Reasons, ", "))
	}
	if !slices.Contains(business.Reasons, v.reason) {
		return in, usageError("--reason %q is not one of %s", v.reason, strings.Join(business.Reasons, ", ")).withHint("the list names one of these; say more with --note, which stays here")
	}
	in.Code, in.Note = v.reason, v.note
	if in.From, err = instantFlag("from", v.from); err != nil {
		return in, err
	}
	in.Until, err = instantFlag("until", v.until)
	return in, err
}

func newBusinessRevoke(e *env) *cobra.Command {
	var who acting
	var v revoking
	var entity, digest string
	c := &cobra.Command{
		Use:   "revoke SLUG --entity TYPE/ID | --digest D --reason REASON",
		Short: "Withdraw what a business signed about a record, or one document",
		Long: "Revoke puts an entry on the signed list of a business: with --entity for everything it signed that has this record in it, with --digest for the one document whose attestation has this digest. " +
			"Readers refuse what an entry matches. It does not delete the record, and a list keeps every entry it ever had: what was revoked stays revoked.\n\n" +
			"A key is revoked with sayso keys revoke, a whole business with sayso business withdraw. Exit 1 when the reason or the digest is not one.",
		Example: "  sayso business revoke brightwater-opticians --entity service/eye-test --reason error\n" +
			"  sayso business revoke brightwater-opticians --digest 47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU --reason superseded",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (entity == "") == (digest == "") {
				return usageError("give either --entity TYPE/ID or --digest").withRun(cmd.CommandPath() + " --help")
			}
			typ, id, ok := strings.Cut(entity, "/")
			if entity != "" && !ok {
				return usageError("--entity %q is not TYPE/ID", entity).withHint("an example is service/eye-test")
			}
			in, err := v.input()
			if err != nil {
				return err
			}
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error {
				if digest != "" {
					receipt, err := r.RevokeDigest(e.ctx, as, args[0], digest, in)
					return e.doneNext(receipt, err, "", "revoked the document %s of %s", digest, args[0])
				}
				receipt, err := r.RevokeEntity(e.ctx, as, args[0], typ, id, in)
				return e.doneNext(receipt, err, "", "revoked what %s signed about %s", args[0], entity)
			})
		},
	}
	flags := c.Flags()
	flags.StringVar(&entity, "entity", "", "record, TYPE/ID")
	flags.StringVar(&digest, "digest", "", "attestation.digest of the document")
	v.add(flags)
	who.add(flags)
	return c
}
