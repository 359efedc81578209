package cli

import (
	"github.com/spf13/cobra"

	"sayso/facts/dataset"
)

func init() { register("facts", newFactsWithdraw) }

func newFactsWithdraw(e *env) *cobra.Command {
	var o dataset.WithdrawOptions
	var from, date string
	c := &cobra.Command{
		Use:   "withdraw [DIR] KEY --from D --source URL --reason R",
		Short: "Say that a source no longer states a figure",
		Long: "Withdraw ends a figure: readers keep getting an answer, which says withdrawn, why, and what replaces it. Like a confirmation it is an act of reading: the " +
			"page that shows the withdrawal is fetched unless --offline, and the day of reading is at most seven days back. The history stays.",
		Example: "  sayso facts withdraw figures uk/income-tax/personal-allowance --from 2027-04-06 --source https://www.gov.uk/income-tax-rates --reason 'abolished' --by 'rates desk'\n" +
			"  sayso facts withdraw figures uk/old --from 2027-04-06 --source https://www.gov.uk/new --reason renamed --superseded-by uk/new/rate",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, key, err := folderAndKey(args, false)
			if err != nil {
				return err
			}
			o.Key = key
			if err := needFlags(cmd, "from", "source", "reason"); err != nil {
				return err
			}
			if o.From, err = dateFlag("from", from); err != nil {
				return err
			}
			if o.Date, err = dateFlag("date", date); err != nil {
				return err
			}
			return e.withdraw(dir, o)
		},
	}
	flags := c.Flags()
	flags.StringVar(&from, "from", "", "first day on which the source no longer states the figure")
	flags.StringVar(&o.Source, "source", "", "https page that shows it")
	flags.StringVar(&o.Reason, "reason", "", "why, in one sentence")
	flags.StringVar(&o.SupersededBy, "superseded-by", "", "key that replaces this one")
	flags.StringVar(&o.SourceType, "source-type", "", "authority (default), methodology or derived")
	flags.StringVar(&o.Method, "method", "", "how that was concluded; needed with methodology and derived")
	flags.StringVar(&o.By, "by", "", "who read the page (default: the publisher)")
	flags.StringVar(&date, "date", "", "day of reading (default: today, UTC)")
	flags.BoolVar(&o.Offline, "offline", false, "do not fetch the page")
	return c
}

func (e *env) withdraw(dir string, o dataset.WithdrawOptions) error {
	folder, err := loadFolder(dir)
	if err != nil {
		return err
	}
	fetcher := newSourceFetcher(folder.Publisher.URL)
	defer fetcher.client.Close()
	o.Today, o.Fetcher = today(), fetcher
	c, err := dataset.Withdraw(e.ctx, dir, o)
	if err != nil {
		return actFailure(dir, err)
	}
	return e.answerConfirmed(dir, []dataset.Confirmed{*c})
}
