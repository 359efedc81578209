package cli

import (
	"io"

	"github.com/spf13/cobra"

	"sayso/gidp/lab"
	"sayso/gidp/profile"
)

func init() { register("lab", newLabPartitions) }

func newLabPartitions(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "partitions [PROFILE]",
		Short: "Recompute the cells of the shipped profiles",
		Long: "Partitions recomputes, from the stated prior of each quantity, where the edges of its cells lie, their masses, the worst case in bits and the number of outputs, " +
			"for all shipped profiles or the one that is named. What differs from the profile's file is drift: exit 1.",
		Example: "  sayso lab partitions\n  sayso lab partitions co-investment",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			set := profile.Shipped()
			ids := set.IDs()
			if len(args) == 1 {
				id, near, ok := namedProfile(ids, args[0])
				if !ok {
					f := notFoundError("no shipped profile is called %q", shorten(args[0], 40))
					if near != "" {
						f.withHint("did you mean %s?", near)
					}
					return f
				}
				ids = []string{id}
			}
			answer := labPartitions{OK: true, Profiles: []labProfile{}}
			for _, id := range ids {
				p, _ := set.Profile(id)
				rows := lab.Partitions(p)
				if rows == nil {
					rows = []lab.Row{}
				}
				for _, r := range rows {
					answer.OK = answer.OK && r.OK
				}
				answer.Profiles = append(answer.Profiles, labProfile{id, rows})
			}
			if err := e.answer(&answer, answer.write); err != nil {
				return err
			}
			if !answer.OK {
				return answered(exitFailed)
			}
			return nil
		},
	}
}

type labProfile struct {
	ID   string    `json:"id"`
	Rows []lab.Row `json:"rows"`
}

type labPartitions struct {
	OK       bool         `json:"ok"`
	Profiles []labProfile `json:"profiles"`
}

func (a *labPartitions) write(w io.Writer) error {
	p := &printer{w: w}
	for _, x := range a.Profiles {
		if len(x.Rows) == 0 {
			p.line("%s: no partitions", x.ID)
			continue
		}
		p.line("%s", x.ID)
		var list table
		for _, r := range x.Rows {
			list.add(okOrOff(r.OK), r.Claim, lab.Cell(r.Value))
		}
		p.table(&list, "  ")
	}
	return p.err
}
