package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"sayso/internal/app"
)

func init() { register("business", newBusinessList) }

func newBusinessList(e *env) *cobra.Command {
	var who acting
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the businesses",
		Long:    "List prints every business of the registry in the order of names, with its state and whether its content is served now.",
		Example: "  sayso business list\n  sayso business list --json",
		RunE: func(*cobra.Command, []string) error {
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error {
				list, err := allPublishers(e.ctx, r, as)
				if err != nil {
					return err
				}
				return e.answer(struct {
					Publishers []app.PublisherSummary `json:"publishers"`
				}{list}, func(w io.Writer) error { return writePublishers(w, list) })
			})
		},
	}
	who.add(c.Flags())
	return c
}

// allPublishers asks for one page after the other.
func allPublishers(ctx context.Context, r *app.Registry, as app.Actor) ([]app.PublisherSummary, error) {
	const page = 500
	all := []app.PublisherSummary{}
	for after := ""; ; {
		list, err := r.ListPublishers(ctx, as, after, page)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
		if len(list) < page {
			return all, nil
		}
		after = list[len(list)-1].Slug
	}
}

func writePublishers(w io.Writer, list []app.PublisherSummary) error {
	p := &printer{w: w}
	if len(list) == 0 {
		p.line("no business; sayso business create SLUG --name NAME makes one")
	}
	var t table
	for _, b := range list {
		state := string(b.Lifecycle)
		if b.Suspended {
			state += ", suspended"
		}
		served := "not served"
		if b.Published {
			served = "served"
		}
		t.add(b.Slug, state, served, fmt.Sprintf("generation %d", b.Generation), b.Region)
	}
	p.table(&t, "")
	return p.err
}
