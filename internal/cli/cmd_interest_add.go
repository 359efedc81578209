package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"sayso/gidp/interest"
	"sayso/gidp/profile"
	"sayso/internal/agent"
)

func init() {
	register("interest", newInterestAdd)
	register("interest", newInterestSupersede)
}

func newInterestAdd(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "add FILE",
		Short: "Take an interest in, as a draft",
		Long: "Add reads an interest file, checks it and keeps it sealed in the data folder as a draft under an id of its own. Nobody learns of it before activate.\n\n" +
			"The first interest makes the data folder. It is sealed with the passphrase in the file that SAYSO_PASSPHRASE_FILE names, or one typed here. Without either it is sealed with a secret that " +
			"lies beside it, which keeps it from being copied by accident and from nothing else; a registry in the same folder shares its seal. Once added, the file is no longer needed: " +
			"keep it where nobody else can read it, or delete it.\n\n" +
			"Exit 1 when the interest cannot be used as it is; sayso interest check says why.",
		Example: "  sayso interest add interest.yaml\n  SAYSO_PASSPHRASE_FILE=/run/secrets/sayso sayso interest add interest.yaml --data /var/lib/sayso",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			doc, err := e.readInterest(args[0])
			if err != nil {
				return err
			}
			if err := e.usableInterest(doc, args[0]); err != nil {
				return err
			}
			i, err := e.openInterests(interestOptions{create: true})
			if err != nil {
				return err
			}
			defer i.close()
			made, err := i.Add(e.ctx, doc)
			if err != nil {
				return interestFailure(err)
			}
			return e.answerInterest(made, e.nextFor(&made), "added %s, a draft of %s", made.ID, made.Profile)
		},
	}
}

// usableInterest refuses a file before a data folder is made for it.
func (e *env) usableInterest(doc *interest.Interest, name string) error {
	outlook, err := agent.Check(profile.Shipped(), doc)
	if err != nil {
		return interestFailure(err)
	}
	for _, f := range outlook.Report.Findings {
		if f.Outcome == "fail" {
			failure := failedError("%s: %s: %s", inputName(name), f.Place, f.Message).withHint("%s", f.Next).withRun(e.command("interest check %s", shellWord(name)))
			failure.reason = f.Rule
			return failure
		}
	}
	return nil
}

func newInterestSupersede(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "supersede ID FILE",
		Short: "Replace an interest by a new version",
		Long: "Supersede puts a new version in the place of an interest: the same lineage, another id. Projections of the old version are withdrawn and its sessions are closed. When the old version was " +
			"active the new one is, with new projections at the same providers; else it is a draft. What was told of a value stays told: a budget is never refunded by a new version.\n\n" +
			"Exit 1 when the new version cannot be used as it is, 4 when the old one has ended.",
		Example: "  sayso interest supersede i-6d0f8a1c33b94e20a7f1 interest.yaml",
		Args:    cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			doc, err := e.readInterest(args[1])
			if err != nil {
				return err
			}
			if err := e.usableInterest(doc, args[1]); err != nil {
				return err
			}
			return e.working(func(i *interests) error {
				made, err := i.Supersede(e.ctx, args[0], doc)
				if err != nil {
					return err
				}
				reached, err := e.settle(i, "telling providers and counterparties", e.withdrawn(args[0]))
				if err != nil {
					return err
				}
				if err := e.answerInterest(made, e.nextFor(&made), "%s takes the place of %s: version %d, %s", made.ID, args[0], made.Version, stateWord(made.State)); err != nil {
					return err
				}
				if !reached {
					e.leftOver()
				}
				return nil
			})
		},
	}
}

// answerInterest answers an act on an interest with what it is now; next is the command to go on with, "" for none.
func (e *env) answerInterest(v agent.InterestView, next, format string, args ...any) error {
	if err := e.answer(v, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, printable(fmt.Sprintf(format, args...)))
		return err
	}); err != nil {
		return err
	}
	if next != "" {
		e.note("next: %s", next)
	}
	return nil
}

// nextFor is what an interest waits for.
func (e *env) nextFor(v *agent.InterestView) string {
	switch {
	case v.State != string(interest.Draft):
		return ""
	case v.Origin != string(interest.Stated) && !v.Confirmed:
		return e.command("interest confirm %s", v.ID)
	}
	return e.command("interest activate %s", v.ID)
}
