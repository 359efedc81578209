package cli

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"sayso/facts/dataset"
	"sayso/report"
)

func init() { register("facts", newFactsLint) }

func newFactsLint(e *env) *cobra.Command {
	var verbose bool
	c := &cobra.Command{
		Use:   "lint [DIR]",
		Short: "Check a folder of figures",
		Long: "Lint applies the rules VF-D-001 to VF-D-017 to a folder and prints each finding with its place, the reason and the next step. Errors keep a folder from " +
			"being signed, built or served; warnings do not. Exit 1 when there is an error.",
		Example: "  sayso facts lint figures\n  sayso facts lint figures --verbose\n  sayso facts lint figures --json",
		Args:    cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			dir, err := folderAlone(args)
			if err != nil {
				return err
			}
			end := e.patience("checking")
			folder, _ := dataset.Load(os.DirFS(dir)) // what could not be read is part of lint's own report
			r := dataset.Lint(folder, today())
			end()
			r.Subject = dir
			return e.answerReport(r, verbose)
		},
	}
	c.Flags().BoolVar(&verbose, "verbose", false, "list the rules that pass, too")
	return c
}

// answerReport prints a report as the answer; one with a failure ends the command with exit 1.
func (e *env) answerReport(r *report.Report, verbose bool) error {
	if err := e.answer(r, func(w io.Writer) error {
		return r.WriteText(w, report.TextOptions{Color: e.wantsColor(w), Verbose: verbose, Width: e.textWidth()})
	}); err != nil {
		return err
	}
	if r.Failed() {
		return answered(exitFailed)
	}
	return nil
}
