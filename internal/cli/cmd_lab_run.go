package cli

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"sayso/facts"
	"sayso/gidp/lab"
	"sayso/internal/labout"
)

func init() {
	register("lab", newLabRun)
	register("lab", newLabCheck)
}

func newLabRun(e *env) *cobra.Command {
	var out string
	var quick bool
	c := &cobra.Command{
		Use:   "run [ID…] [--out DIR]",
		Short: "Measure, and compare with the quoted figures",
		Long: "Run makes the experiments that are named, by their id or by that of a statement such as A2b, or all of them. It prints the table of each and a verdict for every quoted " +
			"figure: what was measured, what is quoted, and whether they agree within the tolerance of its class.\n\n" +
			"With --out it writes DIR/<id>.csv, the pictures DIR/<id>*.png and DIR/results.json, an array with an object for each quoted figure. Without it nothing is written.\n\n" +
			"Every run gives the same numbers: the seeds are fixed. --quick makes a tenth of the draws and widens tolerances by 3.2. A figure out of its tolerance, or a table of a full run that is not the committed one: exit 1.",
		Example: "  sayso lab run --out lab\n  sayso lab run curves A8 --quick --json",
		Args:    cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			chosen, err := chosenExperiments(args)
			if err != nil {
				return err
			}
			return e.labRun(chosen, quick, out, true)
		},
	}
	c.Flags().StringVar(&out, "out", "", "folder for tables, pictures and results.json; made when it is missing")
	c.Flags().BoolVar(&quick, "quick", false, "a tenth of the draws, tolerances 3.2 times as wide")
	return c
}

func newLabCheck(e *env) *cobra.Command {
	var quick bool
	c := &cobra.Command{
		Use:   "check",
		Short: "Check every quoted figure",
		Long: "Check makes all experiments, writes no files, and lists the figures that are out of their tolerance and the tables that are not the committed ones: exit 1 when there is one. Every GIDP figure in the documentation is " +
			"one of those that are checked.",
		Example: "  sayso lab check\n  sayso lab check --quick --json",
		RunE: func(_ *cobra.Command, _ []string) error {
			return e.labRun(lab.Experiments(), quick, "", false)
		},
	}
	c.Flags().BoolVar(&quick, "quick", false, "a tenth of the draws, tolerances 3.2 times as wide")
	return c
}

// chosenExperiments are those that are named, each once and in the order in which they are documented; all when none is.
func chosenExperiments(names []string) ([]lab.Experiment, error) {
	if len(names) == 0 {
		return lab.Experiments(), nil
	}
	wanted := map[string]bool{}
	for _, name := range names {
		found := lab.Find(name)
		if len(found) == 0 {
			return nil, unknownExperiment(name)
		}
		for _, x := range found {
			wanted[x.ID] = true
		}
	}
	var out []lab.Experiment
	for _, x := range lab.Experiments() {
		if wanted[x.ID] {
			out = append(out, x)
		}
	}
	return out, nil
}

func unknownExperiment(name string) error {
	var names []string
	for _, x := range lab.Experiments() {
		names = append(append(names, x.ID), x.Claims...)
	}
	f := notFoundError("no experiment and no statement is called %q", shorten(name, 40)).withRun("sayso lab list")
	if near := facts.NearestName(name, names); near != "" {
		f.withHint("did you mean %s?", near)
	}
	return f
}

// labRun measures, two experiments at a time where the machine allows it, and answers in the order of the list.
func (e *env) labRun(chosen []lab.Experiment, quick bool, out string, tables bool) error {
	bar := e.progress("measuring", int64(len(chosen)))
	results, err := measure(e.ctx, chosen, lab.Options{Quick: quick, Seeds: func(a, b uint64) lab.Random { return rand.New(rand.NewPCG(a, b)) }}, func() { bar.add(1) })
	bar.end()
	if err != nil {
		return err
	}
	answer := labResult{OK: true, Quick: quick, Folder: out, chosen: chosen, results: results, tables: tables}
	var all []lab.Acceptance
	for i := range results {
		r := &results[i]
		x := labExperiment{ID: r.ID, OK: r.OK(), Table: tableQuick, Rows: r.Rows, Files: []string{}}
		if !quick {
			x.Table = tableSame
			if !r.AsCommitted() {
				x.OK, x.Table = false, tableOther
			}
		}
		if out != "" {
			if x.Files, err = labout.Write(out, r); err != nil {
				return err
			}
		}
		all = append(all, r.Rows...)
		answer.OK = answer.OK && x.OK
		answer.Experiments = append(answer.Experiments, x)
	}
	if out != "" {
		if err := labout.WriteResults(out, all); err != nil {
			return err
		}
	}
	if err := e.answer(&answer, answer.write); err != nil {
		return err
	}
	if !answer.OK {
		return answered(exitFailed)
	}
	return nil
}

// measure runs experiments on as many goroutines as there are processors; all have ended when it returns. done is called for each, from the caller's goroutine.
func measure(ctx context.Context, chosen []lab.Experiment, o lab.Options, done func()) ([]lab.Result, error) {
	results := make([]lab.Result, len(chosen))
	next, finished := make(chan int), make(chan struct{})
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(chosen)) {
		workers.Go(func() {
			for i := range next {
				results[i] = chosen[i].Run(o)
				finished <- struct{}{}
			}
		})
	}
	handed, ended := 0, 0
	for ended < len(chosen) {
		give := next
		if handed == len(chosen) || ctx.Err() != nil {
			give = nil
		}
		if give == nil && ended == handed {
			break
		}
		select {
		case give <- handed:
			handed++
		case <-finished:
			ended++
			done()
		}
	}
	close(next)
	workers.Wait()
	return results, ctx.Err()
}

// How the table of an experiment compares with the committed one.
const (
	tableSame  = "as_committed"
	tableOther = "differs"
	tableQuick = "not_compared" // a quick run has other tables
)

type labExperiment struct {
	ID    string           `json:"id"`
	OK    bool             `json:"ok"`
	Table string           `json:"table"`
	Files []string         `json:"files"`
	Rows  []lab.Acceptance `json:"rows"`
}

type labResult struct {
	OK          bool            `json:"ok"`
	Quick       bool            `json:"quick"`
	Folder      string          `json:"folder,omitempty"`
	Experiments []labExperiment `json:"experiments"`

	chosen  []lab.Experiment
	results []lab.Result
	tables  bool // print the tables and every verdict, not only what is out of tolerance
}

func (a *labResult) write(w io.Writer) error {
	p := &printer{w: w}
	figures, off, other := 0, 0, 0
	for i, x := range a.Experiments {
		figures += len(x.Rows)
		if a.tables {
			p.line("%s: %s", x.ID, a.chosen[i].About)
			writeLabTable(p, &a.results[i].Table)
			for _, name := range x.Files {
				p.line("  %s", filepath.Join(a.Folder, name))
			}
		}
		var verdicts table
		if x.Table == tableOther {
			other++
			verdicts.add(okOrOff(false), x.ID, "the table is not the committed one")
		}
		for _, r := range x.Rows {
			if !r.OK {
				off++
			}
			if a.tables || !r.OK {
				verdicts.add(okOrOff(r.OK), r.Claim, r.What, lab.Cell(r.Value), fmt.Sprintf("quoted %s ±%s", lab.Cell(r.Want), lab.Cell(r.Within)), string(r.Class))
			}
		}
		p.table(&verdicts, "  ")
		if a.tables {
			p.line("  shows: %s", a.chosen[i].Shows)
			p.line("  does not show: %s", a.chosen[i].Refuses)
			p.line("")
		}
	}
	p.line("%s, %s, %d out of tolerance, %s", plural(len(a.Experiments), "experiment"), plural(figures, "quoted figure"), off, plural(other, "changed table"))
	if a.Folder != "" {
		p.line("%s", filepath.Join(a.Folder, labout.ResultsFile))
	}
	return p.err
}

func okOrOff(ok bool) string {
	if ok {
		return "ok"
	}
	return "OFF"
}

func writeLabTable(p *printer, t *lab.Table) {
	list := table{right: map[int]bool{}}
	list.add(t.Columns...)
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = lab.Cell(v)
			if _, text := v.(string); !text {
				list.right[i] = true
			}
		}
		list.add(cells...)
	}
	p.table(&list, "  ")
}

// labWords lists what an experiment decides.
func labWords(x *lab.Experiment) string { return strings.Join(x.Claims, " ") }
