package cli

import (
	"io"

	"github.com/spf13/cobra"

	"sayso/facts"
	"sayso/facts/dataset"
)

func init() { register("facts", newFactsDue) }

func newFactsDue(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "due [DIR]",
		Short: "List the figures whose next check has come",
		Long: "Due lists the figures that have to be read again, the longest overdue first: due from the promised day on, overdue when the days of grace have passed too. " +
			"Readers see an overdue figure as stale. Nothing is fetched.",
		Example: "  sayso facts due figures\n  sayso facts due figures --json",
		Args:    cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			dir, err := folderAlone(args)
			if err != nil {
				return err
			}
			folder, err := loadFolder(dir)
			if err != nil {
				return err
			}
			result := dueResult{dir, today(), dataset.Due(folder, today())}
			return e.answer(result, result.write)
		},
	}
}

type dueResult struct {
	Folder string            `json:"folder"`
	Day    facts.Date        `json:"day"`
	Due    []dataset.DueItem `json:"due"`
}

func (d dueResult) write(w io.Writer) error {
	p := &printer{w: w}
	if len(d.Due) == 0 {
		p.line("nothing is due on %s", d.Day)
		return p.err
	}
	var list table
	for _, i := range d.Due {
		list.add(i.Staleness, "since "+i.Scheduled.String(), periodOrDay(i.Period, i.From), i.Key)
		list.add("", "", "", i.Source)
	}
	p.table(&list, "")
	return p.err
}
