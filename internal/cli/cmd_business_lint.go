package cli

import (
	"io"

	"github.com/spf13/cobra"

	"sayso/business/bundle"
	"sayso/internal/app"
)

func init() { register("business", newBusinessLint) }

func newBusinessLint(e *env) *cobra.Command {
	var who acting
	c := &cobra.Command{
		Use:   "lint SLUG",
		Short: "Warn of what a business states and will be answered badly",
		Long: "Lint reads the content of a business as it is stored and warns of what is allowed and will be answered badly: one telephone number at every branch, a location without a time zone, an alias " +
			"that is another record's title. Warnings keep nothing from being published; exit 0 with them, 1 when there is an error.",
		Example: "  sayso business lint brightwater-opticians",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error {
				list, err := r.Lint(e.ctx, as, args[0])
				if err != nil {
					return err
				}
				return e.answerLint(args[0], noNull(list))
			})
		},
	}
	who.add(c.Flags())
	return c
}

func (e *env) answerLint(slug string, list []bundle.Problem) error {
	errors := 0
	for _, p := range list {
		if !p.Warning {
			errors++
		}
	}
	if err := e.answer(struct {
		Publisher string           `json:"publisher"`
		Problems  []bundle.Problem `json:"problems"`
	}{slug, list}, func(w io.Writer) error {
		p := &printer{w: w, err: writeProblems(w, list, 0)}
		p.line("%s: %s, %s", slug, plural(errors, "error"), plural(len(list)-errors, "warning"))
		return p.err
	}); err != nil {
		return err
	}
	if errors > 0 {
		return answered(exitFailed)
	}
	return nil
}
