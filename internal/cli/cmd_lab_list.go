package cli

import (
	"io"

	"github.com/spf13/cobra"

	"sayso/gidp/lab"
)

func init() {
	register("lab", newLabList)
	register("lab", newLabExplain)
}

func newLabList(e *env) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the experiments",
		Long:    "List prints the experiments, one a line: the id, the statements it decides, and what is measured.",
		Example: "  sayso lab list",
		RunE: func(_ *cobra.Command, _ []string) error {
			answer := labList{Experiments: []labListed{}}
			for _, x := range lab.Experiments() {
				answer.Experiments = append(answer.Experiments, labListed{x.ID, decides(&x), x.About})
			}
			return e.answer(&answer, answer.write)
		},
	}
}

type labListed struct {
	ID     string   `json:"id"`
	Claims []string `json:"claims"`
	About  string   `json:"about"`
}

type labList struct {
	Experiments []labListed `json:"experiments"`
}

// decides lists the ids that the verdicts of an experiment carry.
func decides(x *lab.Experiment) []string {
	if len(x.Claims) == 0 {
		return []string{x.ID}
	}
	return x.Claims
}

func (a *labList) write(w io.Writer) error {
	p := &printer{w: w}
	var list table
	for _, x := range lab.Experiments() {
		list.add(x.ID, labWords(&x), x.About)
	}
	p.table(&list, "")
	return p.err
}

func newLabExplain(e *env) *cobra.Command {
	return &cobra.Command{
		Use:     "explain ID",
		Short:   "Say what an experiment assumes and shows",
		Long:    "Explain prints what an experiment assumes, how its figures are computed, what may be concluded from them, and what may not.",
		Example: "  sayso lab explain curves\n  sayso lab explain A7b",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			found := lab.Find(args[0])
			if len(found) == 0 {
				return unknownExperiment(args[0])
			}
			answer := labExplanations{Experiments: []labExplained{}}
			for _, x := range found {
				answer.Experiments = append(answer.Experiments, labExplained{x.ID, decides(&x), x.About, x.Assumes, x.Formula, x.Shows, x.Refuses})
			}
			return e.answer(&answer, func(w io.Writer) error { return answer.write(e, w) })
		},
	}
}

type labExplained struct {
	ID      string   `json:"id"`
	Claims  []string `json:"claims"`
	About   string   `json:"about"`
	Assumes string   `json:"assumes"`
	Formula string   `json:"formula"`
	Shows   string   `json:"shows"`
	Refuses string   `json:"does_not_show"`
}

type labExplanations struct {
	Experiments []labExplained `json:"experiments"`
}

func (a *labExplanations) write(e *env, w io.Writer) error {
	p := &printer{w: w}
	for i, x := range a.Experiments {
		if i > 0 {
			p.line("")
		}
		p.line("%s: %s", x.ID, x.About)
		for _, part := range []struct{ head, text string }{{"assumes", x.Assumes}, {"formula", x.Formula}, {"shows", x.Shows}, {"does not show", x.Refuses}} {
			p.line("\n%s", part.head)
			p.line("%s", e.prose(part.text, 0))
		}
	}
	return p.err
}
