package cli

import (
	"cmp"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"sayso/facts"
	"sayso/facts/dataset"
	"sayso/report"
)

func init() { register("facts", newFactsConfirm) }

func newFactsConfirm(e *env) *cobra.Command {
	var o dataset.ConfirmOptions
	var date string
	var all, converted bool
	c := &cobra.Command{
		Use:   "confirm [DIR] KEY --value V | confirm [DIR] KEY|--all --converted",
		Short: "Record that you have read a figure in its source",
		Long: "Confirm is the only act that moves a verified date. Open the source, read the figure and pass what you read with --value; on a terminal the command shows the " +
			"passage of the page and asks. When what you read differs from the file, nothing is written and the command ends with exit 1. The page is fetched unless " +
			"--offline: it must answer over https from a declared authority, and a quote or value that it lacks is a warning.\n\n" +
			"With --converted nobody has read the source, and the answer says so to every reader: it is for figures of sourceType derived or methodology that carry their " +
			"method. They are dated with the upstream's own check date, else with --date, the day of the upstream snapshot. --all takes every candidate at once.",
		Example: "  sayso facts confirm figures uk/income-tax/personal-allowance --value 12570 --by 'rates desk'\n" +
			"  sayso facts confirm figures uk/income-tax/personal-allowance --period 2026-27 --value 12570 --offline\n" +
			"  sayso facts confirm figures --all --converted --date 2026-08-21",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, key, err := folderAndKey(args, all)
			if err != nil {
				return err
			}
			if o.Date, err = dateFlag("date", date); err != nil {
				return err
			}
			o.Key, o.Today = key, today()
			if converted {
				if cmd.Flags().Changed("value") || o.Period != "" || o.By != "" || all && key != "" {
					return usageError("--converted takes one key or --all, and --date; nobody read a value").withRun(cmd.CommandPath() + " --help")
				}
				return e.convert(dir, dataset.ConvertOptions{Key: key, All: all, Date: o.Date, Today: o.Today})
			}
			if all {
				return usageError("--all goes with --converted: each figure that was read is confirmed by itself")
			}
			return e.confirm(dir, o)
		},
	}
	flags := c.Flags()
	flags.StringVar(&o.Value, "value", "", "the value you read")
	flags.StringVar(&o.Period, "period", "", "which value: its label or first day (default: the only unconfirmed one, else the newest)")
	flags.StringVar(&o.By, "by", "", "who read it (default: the publisher)")
	flags.StringVar(&date, "date", "", "day of reading, at most seven days back (default: today, UTC); with --converted the day of the upstream snapshot")
	flags.BoolVar(&o.Offline, "offline", false, "do not fetch the source")
	flags.BoolVar(&converted, "converted", false, "confirm as converted and not re-read")
	flags.BoolVar(&all, "all", false, "with --converted: every candidate and every unconfirmed derived value")
	return c
}

func (e *env) confirm(dir string, o dataset.ConfirmOptions) error {
	folder, err := loadFolder(dir)
	if err != nil {
		return err
	}
	fetcher := newSourceFetcher(folder.Publisher.URL)
	defer fetcher.client.Close()
	o.Fetcher = fetcher
	// Without a terminal Confirm itself refuses a missing value and names the page to read.
	if o.Value == "" && e.canAsk() {
		if o.Value, err = e.askReading(folder, o); err != nil {
			return err
		}
	}
	c, err := dataset.Confirm(e.ctx, dir, o)
	if err != nil {
		return actFailure(dir, err)
	}
	return e.answerConfirmed(dir, []dataset.Confirmed{*c})
}

// askReading shows what the source says around the quote and asks for the value that stands there. The value of the file is not shown: whoever copies it
// from the screen has not read the source. It asks nothing, and Confirm says why, when it is not clear which value is meant.
func (e *env) askReading(folder *dataset.Folder, o dataset.ConfirmOptions) (string, error) {
	shown, err := dataset.Show(folder, o.Key)
	if err != nil {
		return "", actFailure(o.Key, err)
	}
	v, ok := chosenValue(shown.Values, o.Period)
	if !ok {
		return "", nil
	}
	e.note("%s, %s\n%s", shown.Label, span(v.Period, v.From, v.To), v.Source)
	if !o.Offline {
		page, err := o.Fetcher.Fetch(e.ctx, v.Source, dataset.Validators{})
		if err != nil {
			return "", unavailableError("the source could not be fetched: %v", err).withHint("read it in a browser and confirm with --offline")
		}
		if text := dataset.Excerpt(page.Body, v.Quote, v.Value, 400); text != "" {
			e.note("\n  %s\n", report.Clean(text))
		}
	}
	return e.ask("value in the source: ")
}

// chosenValue is the value that Confirm would take: the only unconfirmed one, else the newest.
func chosenValue(list []dataset.ShownValue, period string) (v dataset.ShownValue, ok bool) {
	list = slices.Clone(list)
	if period != "" {
		list = slices.DeleteFunc(list, func(v dataset.ShownValue) bool { return v.Period != period && v.From.String() != period })
	}
	open := slices.DeleteFunc(slices.Clone(list), func(v dataset.ShownValue) bool { return !v.Verified.IsZero() })
	switch {
	case len(open) == 1:
		return open[0], true
	case len(open) > 1 || len(list) == 0:
		return v, false
	}
	return slices.MaxFunc(list, func(a, b dataset.ShownValue) int { return cmp.Compare(a.From, b.From) }), true
}

func (e *env) convert(dir string, o dataset.ConvertOptions) error {
	act := e.act("reading", "confirming")
	o.Progress = act.step
	list, err := dataset.ConfirmConverted(dir, o)
	act.end()
	if err != nil {
		return actFailure(dir, err)
	}
	return e.answerConfirmed(dir, list)
}

type confirmedResult struct {
	Folder    string              `json:"folder"`
	Confirmed []dataset.Confirmed `json:"confirmed"`
}

func (e *env) answerConfirmed(dir string, list []dataset.Confirmed) error {
	result := confirmedResult{dir, list}
	if err := e.answer(result, result.write); err != nil {
		return err
	}
	for _, c := range list {
		for _, warning := range c.Warnings {
			e.note("warning: %s: %s", c.Key, warning)
		}
	}
	if len(list) == 0 {
		e.note("no candidate and no unconfirmed derived value waits in %s; sayso facts import makes candidates, sayso facts show %s lists what is there", dir, shellWord(dir))
		return nil
	}
	e.note("next: sayso facts lint %s, then sign and build", shellWord(dir))
	return nil
}

func (r confirmedResult) write(w io.Writer) error {
	p := &printer{w: w}
	list := table{right: map[int]bool{1: true}}
	for _, c := range r.Confirmed {
		list.add(c.Date.String(), listedFigure(c.Value, ""), periodOrDay(c.Period, c.From), actWord(c), c.Key)
	}
	p.table(&list, "")
	switch len(r.Confirmed) {
	case 0:
		p.line("nothing to confirm")
	case 1:
	default:
		p.line("%s confirmed", plural(len(r.Confirmed), "value"))
	}
	return p.err
}

// actWord says what a confirmation was.
func actWord(c dataset.Confirmed) string {
	switch {
	case c.Value == facts.Null:
		return "withdrawn"
	case c.Converted:
		return "converted, not re-read"
	case c.Correct:
		return "corrected"
	case c.Changed:
		return "read, new"
	}
	return "read"
}
