package cli

import (
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"sayso/facts/dataset"
)

func init() { register("facts", newFactsSet) }

func newFactsSet(e *env) *cobra.Command {
	var o dataset.SetOptions
	var from, to string
	c := &cobra.Command{
		Use:   "set [DIR] KEY --value V --source URL",
		Short: "Add a value to a figure as a draft",
		Long: "Set writes a new dated value into the topic file of a figure. It is a draft: in no build and no answer until somebody has read the source and confirmed it. " +
			"A draft of the same period and first day is replaced; a confirmed value only with --correction. Comments and order of the file stay as they are.\n\n" +
			"The figure itself, its key, label and unit, stands in a topic file already. A new one is written there by hand, in lines of its own, with values: [].\n\n" +
			"V is a number with digits and one point, a text, true, false, or JSON.",
		Example: "  sayso facts set figures uk/income-tax/personal-allowance --period 2027-28 --value 12570 --from 2027-04-06 --source https://www.gov.uk/income-tax-rates\n" +
			"  sayso facts set figures uk/income-tax/personal-allowance --period 2026-27 --value 12571 --from 2026-04-06 --source https://www.gov.uk/income-tax-rates --correction",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, key, err := folderAndKey(args, false)
			if err != nil {
				return err
			}
			o.Key = key
			if err := needFlags(cmd, "value", "source"); err != nil {
				return err
			}
			if o.From, err = dateFlag("from", from); err != nil {
				return err
			}
			if o.To, err = dateFlag("to", to); err != nil {
				return err
			}
			return e.set(dir, o)
		},
	}
	flags := c.Flags()
	flags.StringVar(&o.Period, "period", "", "the publisher's label of the time, as 2026-27; none for a standing figure")
	flags.StringVar(&o.Value, "value", "", "the figure")
	flags.StringVar(&o.Unit, "unit", "", "unit, when it is another than the figure's")
	flags.StringVar(&from, "from", "", "first day")
	flags.StringVar(&to, "to", "", "last day; open when absent")
	flags.StringVar(&o.Source, "source", "", "https page that states the figure")
	flags.StringVar(&o.SourceFile, "source-file", "", "https address of the file behind that page")
	flags.StringVar(&o.Quote, "quote", "", "the sentence of the page that holds the figure")
	flags.StringVar(&o.SourceType, "source-type", "", "authority (default), methodology or derived")
	flags.StringVar(&o.Method, "method", "", "how the figure came about; needed with methodology and derived")
	flags.BoolVar(&o.Correction, "correction", false, "replace a confirmed value that was wrong")
	return c
}

func (e *env) set(dir string, o dataset.SetOptions) error {
	set, err := dataset.Set(dir, o)
	if err != nil {
		return actFailure(dir, err)
	}
	result := struct {
		Folder string `json:"folder"`
		*dataset.SetResult
	}{dir, set}
	if err := e.answer(result, func(w io.Writer) error {
		p := &printer{w: w}
		state := "draft"
		if set.Unchanged {
			state = "held already"
		}
		p.line("%s  %s  %s  %s", set.Key, span(set.Period, o.From, o.To), figure(set.Value, o.Unit), state)
		p.line("in %s", filepath.Join(dir, filepath.FromSlash(set.File)))
		return p.err
	}); err != nil {
		return err
	}
	if !set.Unchanged {
		e.note("next: read %s, then run sayso facts confirm %s %s --value V", o.Source, shellWord(dir), set.Key)
	}
	return nil
}
