package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sayso/facts"
	"sayso/facts/dataset"
)

func init() { register("facts", newFactsRecheck) }

func newFactsRecheck(e *env) *cobra.Command {
	var key string
	var due bool
	c := &cobra.Command{
		Use:   "recheck [DIR]",
		Short: "Fetch the sources and report what no longer fits",
		Long: "Recheck fetches each distinct source once, at most two requests a second to one host, and says of each figure whether the page still answers, still holds " +
			"quote and value, and has changed since it was confirmed; which figures are due or overdue; and where a value has ended or is about to begin. It changes " +
			"nothing: a figure counts as read again when a person confirms it.\n\n" +
			"Exit 1 when a figure is overdue, a source is gone or a quote is missing; exit 5 when no source could be fetched at all.",
		Example: "  sayso facts recheck figures --due\n  sayso facts recheck figures --key uk/income-tax/personal-allowance\n  sayso facts recheck figures --json",
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
			fetcher := newSourceFetcher(folder.Publisher.URL)
			defer fetcher.client.Close()
			return e.recheck(dir, folder, dataset.RecheckOptions{Key: key, Due: due, Today: today(), Fetcher: fetcher, Clock: wallClock{}})
		},
	}
	c.Flags().StringVar(&key, "key", "", "look at this figure alone")
	c.Flags().BoolVar(&due, "due", false, "look at figures that are due or overdue alone")
	return c
}

type recheckResult struct {
	Folder  string                `json:"folder"`
	Day     facts.Date            `json:"day"`
	Failed  bool                  `json:"failed"`
	Sources int                   `json:"sources"`
	Items   []dataset.RecheckItem `json:"items"`
}

func (e *env) recheck(dir string, folder *dataset.Folder, o dataset.RecheckOptions) error {
	steps := &stages{e: e}
	o.Progress = func(done, total int) { steps.show(done, total, "fetching") }
	found, err := dataset.Recheck(e.ctx, folder, o)
	steps.end()
	if err != nil {
		return actFailure(dir, err)
	}
	result := recheckResult{dir, o.Today, found.Failed(), found.Sources, found.Items}
	if err := e.answer(result, result.write); err != nil {
		return err
	}
	switch {
	case result.Failed:
		return answered(exitFailed)
	case nothingFetched(found.Items):
		return answered(exitUnavailable)
	}
	return nil
}

// nothingFetched reports that every source failed: then the network is more likely at fault than the pages.
func nothingFetched(items []dataset.RecheckItem) bool {
	return len(items) > 0 && !slices.ContainsFunc(items, func(i dataset.RecheckItem) bool {
		return !slices.ContainsFunc(i.Findings, func(f dataset.RecheckFinding) bool { return f.Kind == dataset.CheckSourceError })
	})
}

// unreached are the distinct pages that gave no answer to look at.
func (r recheckResult) unreached() map[string]bool {
	out := map[string]bool{}
	for _, i := range r.Items {
		if slices.ContainsFunc(i.Findings, func(f dataset.RecheckFinding) bool { return f.Kind == dataset.CheckSourceError }) {
			out[i.Source] = true
		}
	}
	return out
}

func (r recheckResult) write(w io.Writer) error {
	p := &printer{w: w}
	clean := 0
	for _, i := range r.Items {
		if len(i.Findings) == 0 {
			clean++
		}
	}
	silent := len(r.unreached())
	fetched := plural(r.Sources-silent, "page") + " fetched"
	if silent > 0 {
		fetched += fmt.Sprintf(", %d not reached", silent)
	}
	p.line("%s, %s: %d as they were, %d to look at", plural(len(r.Items), "value"), fetched, clean, len(r.Items)-clean)
	for _, i := range r.Items {
		if len(i.Findings) == 0 {
			continue
		}
		p.line("\n%s\n  %s", strings.TrimSpace(i.Key+"  "+periodOrDay(i.Period, i.From)), i.Source)
		var list table
		for _, f := range i.Findings {
			list.add(f.Kind, f.Detail)
		}
		p.table(&list, "  ")
	}
	return p.err
}
