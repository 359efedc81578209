package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"sayso/internal/agent"
	"sayso/internal/web"
	"sayso/jcs"
)

func init() { register("interest", newInterestAudit) }

func newInterestAudit(e *env) *cobra.Command {
	var refs *[]string
	c := &cobra.Command{
		Use:   "audit [ID] [--principal REF]",
		Short: "Show what your agent did, and why it was allowed to",
		Long: "Audit prints the trail of one interest and its other versions, or of all: versions, projections, sessions, every answer with the rule that decided it, your decisions, and whatever was refused. It holds no value, and " +
			"what was asked only as a keyed hash. Every message that left is derived again from what was recorded of its inputs: holds says that it follows from them, differs that it does not.\n\n" +
			"Exit 1 when something differs, 3 when there is no such interest. audit verify looks for entries that were changed or taken away." + principalHelp,
		Example: "  sayso interest audit i-6d0f8a1c33b94e20a7f1\n  sayso interest audit --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.withInterests(func(i *interests) error {
				list, err := i.Audit(e.ctx, strings.Join(args, ""), *refs...)
				if err != nil {
					return err
				}
				several, err := e.several(i, *refs)
				if err != nil {
					return err
				}
				if err := e.answer(struct {
					Entries []agent.AuditView `json:"entries"`
				}{noNull(list)}, func(w io.Writer) error { return writeTrail(w, list, several) }); err != nil {
					return err
				}
				for _, v := range list {
					if v.Derived == "differs" {
						return answered(exitFailed)
					}
				}
				return nil
			})
		},
	}
	verify := &cobra.Command{
		Use:   "verify",
		Short: "Look for entries of the trail that were changed or taken away",
		Long: "Verify follows the chain of every trail: each entry has to follow the one before it, open at its place, and the last one has to be the one that is kept as such. A copy of the whole data folder from before passes, because " +
			"everything in it fits: keep a backup to tell that.\n\nExit 1 when something does not fit.",
		Example: "  sayso interest audit verify",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return e.withInterests(func(i *interests) error {
				check, err := i.VerifyAudit(e.ctx)
				if err != nil {
					return err
				}
				if err := e.answer(check, func(w io.Writer) error { return writeAuditCheck(w, &check) }); err != nil {
					return err
				}
				if !check.OK {
					return answered(exitFailed)
				}
				return nil
			})
		},
	}
	refs = principalFlag(c)
	c.AddCommand(verify)
	return c
}

func writeTrail(w io.Writer, list []agent.AuditView, several bool) error {
	p := &printer{w: w}
	if len(list) == 0 {
		p.line("no entry so far")
	}
	lineage := ""
	var t table
	for _, v := range list {
		if v.Lineage != lineage {
			p.table(&t, "")
			lineage, t = v.Lineage, table{}
			p.line("%s", strings.TrimSpace(lineage+"  "+whose(several, v.Principal)))
		}
		t.add(fmt.Sprint(v.Sequence), stamp(v.At), spaced(v.Kind), v.Derived, bodyText(v.Body))
	}
	p.table(&t, "")
	return p.err
}

// bodyText is an entry in one line: its members but empty ones.
func bodyText(body jcs.Raw) string {
	members, err := jcs.Members(body)
	if err != nil {
		return "cannot be read: see sayso interest audit verify"
	}
	var words []string
	for _, m := range members {
		words = append(words, m.Name+"="+web.Shown(m.Value))
	}
	return shorten(strings.Join(words, " "), 120)
}

func writeAuditCheck(w io.Writer, check *agent.AuditCheck) error {
	p := &printer{w: w}
	p.line("%s: entries %d, lineages %d", map[bool]string{true: "the trail fits", false: "the trail does not fit"}[check.OK], check.Entries, check.Lineages)
	var t table
	for _, problem := range check.Problems {
		t.add("failed", problem.Lineage, fmt.Sprintf("entry %d", problem.Sequence), problem.Problem)
	}
	p.table(&t, "")
	return p.err
}
