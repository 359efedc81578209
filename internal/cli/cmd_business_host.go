package cli

import (
	"github.com/spf13/cobra"

	"sayso/internal/app"
)

func init() { register("business", newBusinessHost) }

func newBusinessHost(e *env) *cobra.Command {
	return subgroup(&cobra.Command{
		Use:     "host",
		Short:   "Say which hosts lead to a business",
		Long:    "Commands for the hosts under which a business is served. A host that is proven leads there by itself; these set others, such as names below localhost, and prove nothing.",
		Example: "  sayso business host add brightwater-opticians opticians.example\n  sayso business host remove brightwater-opticians opticians.example",
	},
		newBusinessHostAct(e, "add", "Let a host lead to a business",
			"Add lets requests for a host be answered for a business. It proves nothing: the manifest does not state the host. Exit 4 when the host leads to another business.", "%s leads to %s",
			func(r *app.Registry, as app.Actor, slug, host string) (*app.Receipt, error) {
				return r.SetHost(e.ctx, as, slug, host, "")
			}),
		newBusinessHostAct(e, "remove", "Let a host lead nowhere",
			"Remove ends the routing of a host. A proof of it goes on holding until it lapses. Exit 3 when the host does not lead to this business.", "%s leads to %s no more",
			func(r *app.Registry, as app.Actor, slug, host string) (*app.Receipt, error) {
				return r.RemoveHost(e.ctx, as, slug, host, "")
			}))
}

func newBusinessHostAct(e *env, verb, short, long, said string, run func(r *app.Registry, as app.Actor, slug, host string) (*app.Receipt, error)) *cobra.Command {
	var who acting
	c := &cobra.Command{
		Use: verb + " SLUG HOST", Short: short, Long: long,
		Example: "  sayso business host " + verb + " brightwater-opticians opticians.example",
		Args:    cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error {
				receipt, err := run(r, as, args[0], args[1])
				return e.doneNext(receipt, err, "", said, args[1], args[0])
			})
		},
	}
	who.add(c.Flags())
	return c
}
