package cli

import (
	"github.com/spf13/cobra"

	"sayso/internal/app"
)

func init() { register("business", newBusinessCreate) }

func newBusinessCreate(e *env) *cobra.Command {
	var who acting
	var in app.CreateInput
	c := &cobra.Command{
		Use:   "create SLUG --name NAME",
		Short: "Make a business",
		Long: "Create makes a business in state draft: nothing of it is public before somebody has proven the authority over it and published it. SLUG is its name in addresses and in " +
			"every signature, 1 to 63 of a-z, 0-9 and -; it is never used again, not even after a withdrawal.\n\n" +
			"A business made here delegates editing to the operators of this machine, which is recorded: import, profile set, prove, publish and pause then work without a token. " +
			"With --delegated=false only the holder of the business's own token can do these, and business delegate lets it change its mind.\n\n" +
			"Exit 4 when the name was used before, 1 when it is not one.",
		Example: "  sayso business create brightwater-opticians --name \"Brightwater Opticians\" --region GB\n  sayso business create marina-dental --name \"Marina Dental\" --delegated=false",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if in.Name == "" {
				return usageError("--name is missing: what people call the business").withRun(cmd.CommandPath() + " --help")
			}
			in.Slug = args[0]
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error {
				receipt, err := r.CreatePublisher(e.ctx, as, in)
				if err != nil {
					return err
				}
				if err := e.done(receipt, "created %s, a draft", in.Slug); err != nil {
					return err
				}
				if in.Delegated {
					e.note("next: %s", e.command("business import %s FOLDER", in.Slug))
				} else {
					e.note("next: %s, for its owner", e.command("business token %s --scope import,publish", in.Slug))
				}
				return nil
			})
		},
	}
	flags := c.Flags()
	flags.StringVar(&in.Name, "name", "", "what people call it")
	flags.StringVar(&in.Region, "region", "", "where it trades, as its manifest says it")
	flags.BoolVar(&in.Delegated, "delegated", true, "record that it lets operators edit")
	who.add(flags)
	return c
}
