package cli

import (
	"io"

	"github.com/spf13/cobra"

	"sayso/facts"
	"sayso/facts/dataset"
)

func init() { register("facts", newFactsAudit) }

func newFactsAudit(e *env) *cobra.Command {
	var keys []string
	c := &cobra.Command{
		Use:   "audit [DIR]",
		Short: "Ask every figure for itself",
		Long: "Audit asks the folder for each published figure as a reader would: by its label, by namespace and label, by each alias, by the last words of its key and " +
			"by its key without one segment. A question may find its own figure, fit several (ambiguous), or fit none (miss); nothing is answered then, and that is safe. " +
			"A question that another figure answers is an error: exit 1.\n\n" +
			"Listed is every question that does not find its own figure.",
		Example: "  sayso facts audit figures\n  sayso facts audit figures --key uk/income-tax/personal-allowance --json",
		Args:    cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			dir, err := folderAlone(args)
			if err != nil {
				return err
			}
			return e.audit(dir, keys)
		},
	}
	c.Flags().StringArrayVar(&keys, "key", nil, "audit this key alone; may be repeated")
	return c
}

type auditRow struct {
	Key     string   `json:"key"`
	Form    string   `json:"form"`
	Query   string   `json:"query"`
	Outcome string   `json:"outcome"`
	Rivals  []string `json:"rivals,omitempty"`
}

type auditResult struct {
	Folder    string     `json:"folder"`
	Keys      int        `json:"keys"`
	Questions int        `json:"questions"`
	Own       int        `json:"own"`
	Ambiguous int        `json:"ambiguous"`
	Miss      int        `json:"miss"`
	Other     int        `json:"other"`
	Rows      []auditRow `json:"rows"` // every question that does not find its own figure
}

func (e *env) audit(dir string, keys []string) error {
	folder, err := loadFolder(dir)
	if err != nil {
		return err
	}
	total := len(keys)
	if total == 0 {
		total = countFacts(folder.Topics)
	}
	bar := e.progress("auditing", int64(total))
	result := auditResult{Folder: dir}
	last := ""
	err = dataset.Audit(folder, keys, today(), func(r facts.AuditRow) bool {
		if r.Key != last {
			last = r.Key
			result.Keys++
			bar.add(1)
		}
		result.count(r)
		return e.ctx.Err() == nil
	})
	bar.end()
	if err == nil {
		err = e.ctx.Err()
	}
	if err != nil {
		return actFailure(dir, err)
	}
	if err := e.answer(&result, result.write); err != nil {
		return err
	}
	if result.Other > 0 {
		return answered(exitFailed)
	}
	return nil
}

func (a *auditResult) count(r facts.AuditRow) {
	a.Questions++
	switch r.Outcome {
	case facts.AuditOwn:
		a.Own++
		return
	case facts.AuditAmbiguous:
		a.Ambiguous++
	case facts.AuditMiss:
		a.Miss++
	case facts.AuditOther:
		a.Other++
	}
	a.Rows = append(a.Rows, auditRow{r.Key, r.Form, r.Query, r.Outcome, r.Rivals})
}

func (a *auditResult) write(w io.Writer) error {
	p := &printer{w: w}
	p.line("%s, %s asked: %d find their own figure, %d ambiguous, %d miss, %d answered by another",
		plural(a.Keys, "figure"), plural(a.Questions, "question"), a.Own, a.Ambiguous, a.Miss, a.Other)
	for _, outcome := range []string{facts.AuditOther, facts.AuditAmbiguous, facts.AuditMiss} {
		a.writeOutcome(p, outcome)
	}
	return p.err
}

// shownRivals is how many of the figures that a question fits are named; the JSON names all.
const shownRivals = 3

// writeOutcome prints the questions of one outcome, key by key.
func (a *auditResult) writeOutcome(p *printer, outcome string) {
	key := ""
	var list table
	flush := func() {
		p.table(&list, "    ")
		list = table{}
	}
	for _, r := range a.Rows {
		if r.Outcome != outcome {
			continue
		}
		if key == "" {
			p.line("\n%s", outcome)
		}
		if r.Key != key {
			flush()
			key = r.Key
			p.line("  %s", key)
		}
		rivals := ""
		if len(r.Rivals) > 0 {
			rivals = "fits " + firstOf(r.Rivals, shownRivals)
		}
		list.add(r.Form, `"`+shorten(r.Query, 48)+`"`, rivals)
	}
	flush()
}

func countFacts(topics []dataset.Topic) int {
	n := 0
	for i := range topics {
		n += len(topics[i].Facts)
	}
	return n
}
